"""Whether linearising is enough: terms of second order, and kinks and jumps within reach.

With the Hessian H, the covariance matrix Σ of normal inputs and the gradient g, to the next order

    mean − f(x)  =  ½·tr(HΣ)
    variance     =  gᵀΣg + ½·tr(HΣHΣ) + (Σg)·∇tr(HΣ)

For independent inputs this is the note to JCGM 100:2008 (GUM), 5.1.2, third derivatives included.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import isfinite, nan, sqrt
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from exprgrad.derive.rules import Rule, computed, real
from exprgrad.derive.sweeps import gradient as derive
from exprgrad.errors import advice
from exprgrad.explain.diagnostics import Run
from exprgrad.graph.graph import MOST_ELEMENTS, Program, seen_from, size
from exprgrad.graph.ops import BY_NAME
from exprgrad.run import matrices
from exprgrad.run.evaluation import Diagnostic, Evaluator, evaluator_for, kept
from exprgrad.run.values.uncertain import UncertainNumbers, to_two_digits, two_digits

if TYPE_CHECKING:
    from exprgrad.run.arrays.elements import Origin

__all__ = ["Second", "nonlinear", "written_out"]

MOST_UNCERTAIN = 128
"""Up to so many uncertain numbers second derivatives are looked at."""
MOST_PRODUCTS = 4_000_000
"""Nor where nodes times uncertain numbers, squared, are more."""
MOST_IN_BALLS = 20_000
"""The same in balls, which take a thousand times as long."""
MOST_KEPT = 8
"""For so many formulas the programs of their derivatives are kept."""
EVALUATORS: dict[object, Evaluator] = {}
HERE = 1e-6
"""What is so few standard uncertainties away counts as met."""


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
    over, outputs, origins = written_out(run)
    for output, u in zip(outputs, uncertainties, strict=True):
        view = over if len(outputs) == 1 else seen_from_output(over, output)
        terms = second_terms(view, numbers, u)
        found.append(terms)
        told += second_warnings(run, terms, u)
        for one in kink_warnings(view, numbers, u):
            told.append(one._replace(node=origins[one.node].node) if origins else one)
    once = {one.message: one for one in told}
    return found, tuple(once.values())


def written_out(run: Run) -> tuple[Run, list[int], Sequence[Origin]]:
    """A run over numbers, those of its nodes that are the run's value, and where its nodes come from.

    Raises ``RequestError`` for tensors of more than 4,096 numbers over all nodes.
    """
    if not run.graph.shapes:
        return run, [run.graph.output], ()
    from exprgrad.run.arrays.elements import elements

    over, origins, nodes = elements(run)
    return cast(Run, over), nodes[run.graph.output].ravel().tolist(), origins


def seen_from_output(run: Run, output: int) -> Run:
    """A run of which another node is the output."""
    view = seen_from(run.graph, output)
    return Run(run.text, view, run.inputs, run.values, spelled=run.spelled)


def sampling_help() -> str:
    """How to ask for Monte Carlo."""
    return advice("--mc 1000000 samples it", "run.propagate(mc=1_000_000) samples it")


# Terms of second order.


def second_terms(run: Run, numbers: UncertainNumbers, u: float) -> Second | None:
    """What terms of second order change; None where derivatives are not finite.

    What seems to matter is worked out in balls, too: rounding may have made it up.
    """
    evaluator = kept(EVALUATORS, run.graph, lambda: evaluator_for(run.graph), MOST_KEPT)
    found = terms_at(Derivatives(evaluator), run.inputs, numbers, u)
    work = len(run.graph) * len(numbers.deviations) ** 2
    if found is None or found.enough or work > MOST_IN_BALLS:
        return found
    from exprgrad.run.balls.balls import has_balls

    true = terms_at(Derivatives(evaluator, real), run.inputs, numbers, u) if has_balls() else None
    return found if true is None else true


class Derivatives(NamedTuple):
    """What answers with derivatives of a formula: by the rule ``real`` in balls, else in doubles."""

    evaluator: Evaluator
    rule: Rule = computed

    def answers(self, program: Program, inputs: Mapping[str, float]) -> list[float]:
        """The outputs of a derived program."""
        if self.rule is computed:
            return self.evaluator.answers(program, inputs)
        from exprgrad.explain.digits.guard import nearest_double
        from exprgrad.explain.digits.trusted import enclosed, is_tight

        graph, outputs = program
        found = enclosed(graph, inputs, None, outputs=outputs)
        true = [found.values[node] for node in outputs]
        return [nearest_double(one) if is_tight(one, found.bits) else nan for one in true]


def terms_at(
    derivatives: Derivatives, inputs: Mapping[str, Any], numbers: UncertainNumbers, u: float
) -> Second | None:
    """What terms of second order change, by some derivatives; None where those are not finite."""
    evaluator, rule = derivatives
    names = tuple([name for name in evaluator.graph.inputs if name in numbers.deviations])
    if not names:
        return Second(0.0, 0.0, True)
    deviations = [numbers.deviations[name] for name in names]
    (graph, nodes), places = matrices.second(evaluator, names, rule=rule)
    answers = derivatives.answers(Program(graph, nodes), inputs)
    slopes = dict(zip(names, answers[1:], strict=False))
    entries = {place: answers[at] for place, at in places.items()}
    count = range(len(names))
    r = [[numbers.correlation(one, other) for other in names] for one in names]
    bent = [
        [entries.get((i, j), 0.0) * deviations[i] * deviations[j] for j in count] for i in count
    ]
    unit = (
        u or max(abs(term) for row in bent for term in row) or 1.0
    )  # so that squares stay doubles
    bent = [[term / unit for term in row] for row in bent]
    parts = [slopes[name] * d / unit for name, d in zip(names, deviations, strict=True)]
    total = [sum(r[i][j] * parts[j] for j in count) for i in count]
    mixed = bent
    if numbers.correlations:
        mixed = [[sum(bent[i][k] * r[k][j] for k in count) for j in count] for i in count]
    shift = unit * sum(mixed[i][i] for i in count) / 2
    square = sum(mixed[i][j] * mixed[j][i] for i in count for j in count) / 2
    steps = {name: d * t for name, d, t in zip(names, deviations, total, strict=True)}
    third = third_term(derivatives, inputs, names, steps, deviations, r) / unit
    variance = (u / unit) ** 2 + square + third
    if not (isfinite(shift) and isfinite(variance)):
        return None
    value = unit * sqrt(variance) if variance >= 0 else float("nan")
    tolerance = half_unit(u)
    return Second(shift, value, abs(shift) <= tolerance and abs(value - u) <= tolerance)


def third_term(
    derivatives: Derivatives,
    inputs: Mapping[str, Any],
    names: tuple[str, ...],
    steps: Mapping[str, float],
    deviations: Sequence[float],
    r: Sequence[Sequence[float]],
) -> float:
    """The derivative of tr(HΣ) along the steps Σg."""
    evaluator, rule = derivatives
    (graph, outputs), entries = matrices.second(evaluator, names, rule=rule)
    asked = [(i, j) for i, j in entries if i <= j and r[i][j]]
    if not asked or not any(steps.values()):
        return 0.0
    nodes = tuple([outputs[entries[place]] for place in asked])
    moving = tuple([name for name in names if steps[name]])
    masked = len(moving) < len(names)
    program = matrices.derived(evaluator, derive.jvp, graph, moving, nodes, rule, masked=masked)
    given = {**inputs, **{derive.tangent(name): steps[name] for name in moving}}
    slopes = derivatives.answers(program, given)
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


def second_warnings(run: Run, terms: Second | None, u: float) -> Iterator[Diagnostic]:
    """What is to be said of terms of second order."""
    output = run.graph.output
    if terms is None:
        message = "whether linearising is enough is not known: second derivatives are not finite"
        yield warning_at(message, run, output)
    elif not terms.enough:
        message = f"linearising is not enough: terms of second order {changed(terms, u)}"
        yield warning_at(message, run, output)


def kink_warnings(view: Run, numbers: UncertainNumbers, u: float) -> Iterator[Diagnostic]:
    """What is to be said of kinks and jumps within reach."""
    if not any(BY_NAME[kind].special for kind in BY_NAME.keys() & {*view.graph.kinds}):
        return
    from exprgrad.solvers.uncertainty.reach import crossings

    unit = u or 1.0
    allowed, before = half_unit(u) / unit, u / unit
    for node, code, distance, shift, variance in crossings(view, numbers, unit):
        change = sqrt(max(before * before + variance, 0.0)) - before
        if not (abs(shift) <= allowed and abs(change) <= allowed):
            count = f"{distance:.2g}"
            many = "uncertainty" if count == "1" else "uncertainties"
            far = f"{count} standard {many} away" if distance > HERE else "here"
            message = f"linearising is not enough: {view.label(node)} has a {code} {far}"
            yield warning_at(message, view, node)


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
