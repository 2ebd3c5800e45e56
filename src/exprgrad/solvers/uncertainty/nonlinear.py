"""Whether linearising is enough: terms of second order, and kinks and jumps within reach.

With the Hessian H, the covariance matrix Σ of normal inputs and the gradient g, to the next order

    mean − f(x)  =  ½·tr(HΣ)
    variance     =  gᵀΣg + ½·tr(HΣHΣ) + (Σg)·∇tr(HΣ)

For independent inputs this is the note to JCGM 100:2008 (GUM), 5.1.2, third derivatives included.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import inf, isfinite, sqrt
from typing import Any, NamedTuple, cast

from exprgrad.derive.rules import slots
from exprgrad.derive.sweeps import gradient as derive
from exprgrad.errors import advice
from exprgrad.explain.diagnostics import Run
from exprgrad.explain.places import live
from exprgrad.graph.graph import MOST_ELEMENTS, dependents, seen_from, size
from exprgrad.graph.op import Op
from exprgrad.graph.ops import BY_NAME
from exprgrad.run import matrices
from exprgrad.run.evaluation import Diagnostic, Evaluator, evaluator_for
from exprgrad.run.matrices import Point
from exprgrad.run.numbers.kink_screen import equal_numbers, movable
from exprgrad.run.numbers.primitives import functions, holds
from exprgrad.run.values.uncertain import UncertainNumbers, to_two_digits, two_digits

__all__ = ["Second", "nonlinear", "written_out"]

MOST_UNCERTAIN = 64
"""Up to so many uncertain numbers second derivatives are looked at."""
MOST_PRODUCTS = 200_000
"""Nor where nodes times uncertain numbers, squared, are more."""
KINK_REACH = 2.0
"""So many standard uncertainties away a kink shifts the mean by up to 1 % of them."""
JUMP_REACH = 4.0
"""A jump may be of any size, so it counts further away."""
LINEAR = 1e-9
"""What a step of an operation is off by, relatively, where it is linear."""


class Second(NamedTuple):
    """What terms of second order change, for normally distributed inputs.

    ``shift``   what they add to the value
    ``value``   the standard uncertainty with them; nan where its square would be negative
    ``enough``  whether the value and its uncertainty stay what they are to two digits of the uncertainty:
                by no more than half a unit in its second digit (JCGM 101:2008, 7.9.2)
    """

    shift: float
    value: float
    enough: bool


def nonlinear(
    run: Run, numbers: UncertainNumbers, uncertainties: Sequence[float]
) -> tuple[list[Second | None], tuple[Diagnostic, ...]]:
    """The terms of second order for each number of a run's value, and warnings where those matter.

    ``uncertainties`` are those of first order.  None stands where second derivatives are not finite; the
    list is empty where there are too many numbers.
    """
    graph, many = run.graph, len(numbers.deviations)
    if not many or not all(map(isfinite, uncertainties)):
        return [], ()
    work = len(uncertainties) * max(len(graph), sum(map(size, graph.shapes)))
    if work > MOST_ELEMENTS or many > MOST_UNCERTAIN or work * many**2 > MOST_PRODUCTS:
        message = "whether linearising is enough is not known: there is too much to look at"
        return [], (warning_at(message, run, graph.output)._replace(severity="note"),)
    found: list[Second | None] = []
    told: list[Diagnostic] = []
    over, outputs = written_out(run)
    for output, u in zip(outputs, uncertainties, strict=True):
        view = over if len(outputs) == 1 else seen_from_output(over, output)
        terms = second_terms(view, numbers, u)
        found.append(terms)
        told += warnings(run, view, numbers, terms, u)
    once = {one.message: one for one in told}
    return found, tuple(once.values())


def written_out(run: Run) -> tuple[Run, list[int]]:
    """A run over numbers, and those of its nodes that are the run's value.

    Raises ``RequestError`` for tensors of more than 4,096 numbers over all nodes.
    """
    if not run.graph.shapes:
        return run, [run.graph.output]
    from exprgrad.run.arrays.elements import elements

    over, _, nodes = elements(run)
    return cast(Run, over), nodes[run.graph.output].ravel().tolist()


def seen_from_output(run: Run, output: int) -> Run:
    """A run of which another node is the output."""
    view = seen_from(run.graph, output)
    return Run(run.text, view, run.inputs, run.values, spelled=run.spelled)


def sampling_help() -> str:
    """How to ask for Monte Carlo."""
    return advice("--mc 1000000 samples it", "run.propagate(mc=1_000_000) samples it")


# Terms of second order.


def second_terms(run: Run, numbers: UncertainNumbers, u: float) -> Second | None:
    """What terms of second order change; None where derivatives are not finite."""
    names = tuple([name for name in run.graph.inputs if name in numbers.deviations])
    evaluator = evaluator_for(run.graph)
    if not names:
        return Second(0.0, 0.0, True)
    point = Point(evaluator, run.inputs, {}, names)
    deviations = [numbers.deviations[name] for name in names]
    slopes = matrices.gradient(point)
    parts = [slopes[name] * d for name, d in zip(names, deviations, strict=True)]
    count = range(len(names))
    r = [[numbers.correlation(one, other) for other in names] for one in names]
    entries = matrices.hessian(point).entries
    bent = [
        [entries.get((i, j), 0.0) * deviations[i] * deviations[j] for j in count] for i in count
    ]
    total = [sum(r[i][j] * parts[j] for j in count) for i in count]
    mixed = [[sum(bent[i][k] * r[k][j] for k in count) for j in count] for i in count]
    shift = sum(mixed[i][i] for i in count) / 2
    square = sum(mixed[i][j] * mixed[j][i] for i in count for j in count) / 2
    steps = {name: d * t for name, d, t in zip(names, deviations, total, strict=True)}
    third = third_term(evaluator, run.inputs, names, steps, deviations, r)
    variance = u * u + square + third
    if not (isfinite(shift) and isfinite(variance)):
        return None
    value = sqrt(variance) if variance >= 0 else float("nan")
    tolerance = half_unit(u)
    return Second(shift, value, abs(shift) <= tolerance and abs(value - u) <= tolerance)


def third_term(
    evaluator: Evaluator,
    inputs: Mapping[str, Any],
    names: tuple[str, ...],
    steps: Mapping[str, float],
    deviations: Sequence[float],
    r: Sequence[Sequence[float]],
) -> float:
    """The derivative of tr(HΣ) along the steps Σg."""
    (graph, outputs), entries = matrices.second(evaluator, names)
    asked = [(i, j) for i, j in entries if i <= j and r[i][j]]
    if not asked or not any(steps.values()):
        return 0.0
    nodes = tuple([outputs[entries[place]] for place in asked])
    moving = tuple([name for name in names if steps[name]])
    program = matrices.along(evaluator, moving, nodes, graph, masked=len(moving) < len(names))
    given = {**inputs, **{derive.tangent(name): steps[name] for name in moving}}
    slopes = evaluator.answers(program, given)
    total: float = sum(
        (1 if i == j else 2) * r[i][j] * deviations[i] * deviations[j] * slope
        for (i, j), slope in zip(asked, slopes, strict=True)
    )
    return total


def half_unit(u: float) -> float:
    """Half a unit in the second digit of an uncertainty (JCGM 101:2008, 7.9.2); 0 of none."""
    decimal = to_two_digits(0.0, u)
    if decimal is None:
        return 0.0
    _, deviation, power = decimal
    exponent = deviation.as_tuple().exponent
    assert isinstance(exponent, int)
    return float(f"0.5e{exponent + power}")


def warnings(
    run: Run, view: Run, numbers: UncertainNumbers, terms: Second | None, u: float
) -> Iterator[Diagnostic]:
    """What is to be said of one number of the value."""
    output = run.graph.output
    if terms is None:
        message = "whether linearising is enough is not known: second derivatives are not finite"
        yield warning_at(message, run, output)
    elif not terms.enough:
        yield warning_at(
            f"linearising is not enough: terms of second order {changed(terms, u)}", run, output
        )
    for node, message in within_reach(view, numbers):
        yield warning_at(f"linearising is not enough: {message}", view, node)


def changed(terms: Second, u: float) -> str:
    """What terms of second order change, in words."""
    if terms.value != terms.value:
        return f"are larger than those of first order, {two_digits(u)}"
    parts = []
    if abs(terms.shift) > half_unit(u):
        parts.append(f"shift the value by {two_digits(terms.shift)}")
    if abs(terms.value - u) > half_unit(u):
        parts.append(f"make its uncertainty {two_digits(terms.value)}, not {two_digits(u)}")
    return " and ".join(parts)


def warning_at(message: str, run: Run, node: int) -> Diagnostic:
    """A warning about a node."""
    return Diagnostic(
        "nonlinear", "warning", message, node, run.graph.span(node), sampling_help(), None
    )


# Kinks and jumps within reach.


def within_reach(run: Run, numbers: UncertainNumbers) -> Iterator[tuple[int, str]]:
    """The nodes with a kink or a jump within reach of the uncertainties, and what is to be said of them."""
    graph, used = run.graph, live(run)
    names = tuple([name for name in graph.inputs if name in numbers.deviations])
    moved = dependents(graph, [graph.inputs[name] for name in names])
    suspects = [
        node
        for node, kind in enumerate(graph.kinds)
        if used[node] and moved[node] and kind in BY_NAME and BY_NAME[kind].special
    ]
    if not suspects:
        return
    moving = movable(graph)
    beside = sorted(
        {*suspects, *(operand for node in suspects for operand in graph.operands[node])}
    )
    rows = moves_of(run, beside, names, numbers)
    for node in suspects:
        op = BY_NAME[graph.kinds[node]]
        code = op.special[0].code
        reach = JUMP_REACH if code == "jump" else KINK_REACH
        pairs = thresholds(run, node, op, moving)
        if pairs is None:
            if jumps_beside(run, node, rows, numbers, reach):
                yield node, f"{run.label(node)} has a {code} within reach of the uncertainty"
            continue
        for one, other in pairs:
            distance = away(run, one, other, rows, numbers)
            if distance <= reach and is_special(run, node, op, one, other, moving):
                count = f"{distance:.2g}"
                many = "uncertainty" if count == "1" else "uncertainties"
                far = f"{count} standard {many} away" if distance else "here"
                yield node, f"{run.label(node)} has a {code} {far}"
                break


Moves = Mapping[int, Mapping[str, float]]
"""By node: how far each uncertain number moves it, deviation times derivative."""


def moves_of(
    run: Run, nodes: Sequence[int], names: tuple[str, ...], numbers: UncertainNumbers
) -> Moves:
    """How far the uncertain numbers move some nodes."""
    outputs = {str(node): node for node in nodes}
    found = matrices.jacobian(Point(evaluator_for(run.graph), run.inputs, outputs, names))
    return {
        node: {name: slope * numbers.deviations[name] for name, slope in found.row(at).items()}
        for at, node in enumerate(nodes)
    }


def away(run: Run, one: int, other: float | int, rows: Moves, numbers: UncertainNumbers) -> float:
    """How many standard uncertainties a node is away from another, or from a number."""
    second = rows[other] if isinstance(other, int) else {}
    value = run.values[other] if isinstance(other, int) else other
    gap = abs(run.values[one] - value)
    difference = {name: move - second.get(name, 0.0) for name, move in rows[one].items()}
    deviation = sqrt(max(covariance(difference, difference, numbers), 0.0))
    return gap / deviation if deviation else inf


def thresholds(
    run: Run, node: int, op: Op, moving: Sequence[int]
) -> list[tuple[int, float | int]] | None:
    """Of which nodes, or node and number, two have to be equal for the node to meet its kink or jump.

    None where that does not tell, as of stairs, whose next step may be on either side.
    """
    graph = run.graph
    if op.variadic:
        operands, out = graph.operands[node], run.values[node]
        winner = next((n for n in operands if run.values[n] == out), operands[0])
        return [(winner, other) for other in operands if other != winner]
    pairs = equal_numbers(graph, node, op, moving)
    if pairs is None or (op.special[0].code == "jump" and any(node in pair for pair in pairs)):
        return None
    return [*pairs]


def is_special(
    run: Run, node: int, op: Op, one: int, other: float | int, moving: Sequence[int]
) -> bool:
    """Whether a node meets its kink or jump where a node is equal to another, or to a number."""
    if op.variadic:
        return True
    graph = run.graph
    value = run.values[other] if isinstance(other, int) else other
    operands = graph.operands[node]
    seen = [value if n == one else run.values[n] for n in operands]
    out = value if one == node else run.values[node]
    view = [*seen, out, *[float(moving[n]) for n in operands]]
    return any(holds(special.where, slots(op), view) for special in op.special)


def jumps_beside(run: Run, node: int, rows: Moves, numbers: UncertainNumbers, reach: float) -> bool:
    """Whether an operation that is linear between its kinks and jumps meets one within reach.

    Its operands go as far as the uncertainties take them, and it should follow by its derivatives.
    """
    operands, out = run.graph.operands[node], run.values[node]
    function = functions[run.graph.kinds[node]]
    along = [rows[operand] for operand in operands] if len(operands) == 1 else [rows[node]]
    for moves in along:
        deviation = sqrt(max(covariance(moves, moves, numbers), 0.0))
        if not deviation:
            continue
        for side in (-reach / deviation, reach / deviation):
            steps = [side * covariance(rows[n], moves, numbers) for n in (*operands, node)]
            there = [run.values[n] + step for n, step in zip(operands, steps, strict=False)]
            expected = out + steps[-1]
            off = abs(function(*there) - expected)
            if not off <= LINEAR * (abs(out) + abs(steps[-1])):
                return True
    return False


def covariance(
    one: Mapping[str, float], other: Mapping[str, float], numbers: UncertainNumbers
) -> float:
    """The covariance of two nodes, given how far each number moves them."""
    ones = [(name, move) for name, move in one.items() if move]
    others = [(name, move) for name, move in other.items() if move]
    return sum(a * b * numbers.correlation(n, m) for n, a in ones for m, b in others)
