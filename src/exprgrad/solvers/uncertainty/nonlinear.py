"""Whether linearization is enough: second-order terms, kinks and jumps within reach, and draws.

With the Hessian H, the covariance matrix Σ of normal inputs and the gradient g, to the next order

    mean − f(x)  =  ½·tr(HΣ)
    variance     =  gᵀΣg + ½·tr(HΣHΣ) + (Σg)·∇tr(HΣ)

For independent inputs this is the note to 5.1.2 of JCGM 100:2008 (GUM), with third derivatives.

Let z be the coordinate, in standard deviations, towards the likeliest kink or jump, at z = k.  Along
it the value is its linear part L, and beyond k also a·(z − k) + J: its slope changes by a, and it jumps
by J.  With z standard normal, φ and P the density at k and the probability beyond it,
ψ = φ − kP, and c the covariance of L and z,

    the mean moves by        aψ + JP
    the variance grows by    2c(aP + Jφ) + a²((1 + k²)P − kφ) + 2aJψ + J²P − (aψ + JP)²

The direction is that of the most probable point of failure: A. M. Hasofer and N. C. Lind, Exact and
invariant second-moment code format, J. Eng. Mech. Div. 100 (1974), 111-121; the moments are those of a
truncated normal.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from math import copysign, erfc, exp, inf, isfinite, nan, pi, sqrt
from typing import Any, NamedTuple

import numpy as np

from exprgrad.derive.build import GraphBuilder
from exprgrad.derive.error_rules import UNIT
from exprgrad.derive.rules import Rule, computed, exact_rule
from exprgrad.derive.sweeps import gradient as derive
from exprgrad.derive.switches import SwitchFunction, find_nonsmooth_nodes, switch_functions
from exprgrad.errors import command_or_python
from exprgrad.explain.diagnostics import DiagnosedRun
from exprgrad.explain.digits.judgements import round_outputs
from exprgrad.explain.places import element_places, live_nodes, to_scalar_run
from exprgrad.graph.graph import (
    MOST_ELEMENTS,
    Graph,
    Program,
    dependent_flags,
    shape_size,
    with_output,
)
from exprgrad.graph.ops import BY_NAME
from exprgrad.run import matrices
from exprgrad.run.arrays.arrays import forward_arrays
from exprgrad.run.arrays.bounds import array_data_errors
from exprgrad.run.balls.balls import has_balls
from exprgrad.run.evaluation import Diagnostic, Evaluator, evaluator_for, remember
from exprgrad.run.matrices import Point
from exprgrad.run.numbers.bounds import number_data_errors
from exprgrad.run.numbers.sweeps import forward_numbers
from exprgrad.run.values.uncertain import (
    UncertainNumbers,
    number_names,
    to_two_digits,
    two_digits,
)
from exprgrad.solvers.uncertainty.covariance import correlation_matrix, draw_moves

__all__ = ["Second", "half_unit", "nonlinear_warning", "numbers_in", "second_order_terms"]

MOST_UNCERTAIN = 128
"""The most uncertain numbers for which second derivatives are examined."""
MOST_PRODUCTS = 4_000_000
"""The most nodes times the square of the uncertain numbers' count for it."""
MOST_IN_BALLS = 20_000
"""The most of that product in balls, which take a thousand times as long."""
MOST_KEPT = 8
"""The formulas whose derivative programs are kept."""
EVALUATORS: dict[object, Evaluator] = {}
HERE = 1e-6
"""Switches nearer than this many standard uncertainties count as met."""

MOST_DRAWS = 65_536
"""The most draws of the uncertain numbers."""
LEAST_DRAWS = 256
"""The fewest draws, however many numbers they take."""
MOST_AT_ONCE = 2**22
"""The most numbers in memory, over all nodes and draws, beyond the fewest draws."""
SURE = 5.0
"""The standard errors beyond which a mean of draws is not chance."""

REACH = 5.0
"""The reach in standard deviations: a kink or a jump that far is met once in three million draws."""
LOOKS = 20
"""The places on the way at which a step of stairs is sought."""
NARROWINGS = 40
BESIDE = 1e-6
"""The standard deviations before and after a kink at which its effect is measured."""


class Second(NamedTuple):
    """The effect of second-order terms, for normally distributed inputs.

    ``shift``   their contribution to the value
    ``value``   the standard uncertainty with them; nan where its square would be negative
    ``enough``  whether the value and its uncertainty change, within two digits of the uncertainty,
                by no more than half a unit in its second digit (JCGM 101:2008, 7.9.2)
    """

    shift: float
    value: float
    enough: bool


def second_order_terms(
    run: DiagnosedRun,
    numbers: UncertainNumbers,
    uncertainties: Sequence[float],
    sensitivities: Mapping[str, Any],
) -> tuple[list[Second | None], tuple[Diagnostic, ...]]:
    """Return the second-order terms for each number of a run's value, with warnings where they matter.

    ``uncertainties`` are those of first order, and ``sensitivities`` the value's derivatives, by input.
    Where second-order terms change nothing, draws may, and take their place.
    Entries are None where second derivatives are not finite; the list is empty for too many numbers.
    """
    graph, many = run.graph, len(numbers.deviations)
    if not many or not all(map(isfinite, uncertainties)):
        return [], ()
    work = len(uncertainties) * max(len(graph), sum(map(shape_size, graph.shapes)))
    if work > MOST_ELEMENTS or many > MOST_UNCERTAIN or work * many**2 > MOST_PRODUCTS:
        message = "whether linearising is enough is not known: the formula is too large to tell"
        return [], (nonlinear_warning(message, run, graph.output)._replace(severity="note"),)
    found: list[Second | None] = []
    told: list[Diagnostic] = []
    over, draws = to_scalar_run(run), None
    for at, (place, u) in enumerate(zip(element_places(run.value), uncertainties, strict=True)):
        view, before = over.run, len(told)
        if len(uncertainties) > 1:
            seen = with_output(view.graph, over.node(graph.output, place))
            view = DiagnosedRun(view.text, seen, view.inputs, view.values, spelled=view.spelled)
        terms = second_terms(view, numbers, u)
        told += second_warnings(run, terms, u)
        kinks = kink_warnings(view, numbers, u)
        told += [one._replace(node=over.origin(one.node)) for one in kinks]
        if len(told) == before and not isfinite(view.values[view.graph.output]):
            message = (
                "effects beyond second order are not known: in doubles the value is not finite"
            )
            told.append(nonlinear_warning(message, run, graph.output)._replace(severity="note"))
        elif len(told) == before:
            draws = draws or draw_values(over.run, numbers)
            slopes = slopes_of_value(run, sensitivities, at)
            drawn, without = drawn_terms(view, draws, slopes, u)
            count = f"{len(draws[1]):,} draws"
            if without:
                message = f"linearising is not enough: {without:,} of {count} have no finite value"
                told.append(nonlinear_warning(message, run, graph.output))
            told += second_warnings(run, drawn, u, count)
            terms = terms if drawn.enough else drawn
        found.append(terms)
    once = {one.message: one for one in told}
    return found, tuple(once.values())


def slopes_of_value(
    run: DiagnosedRun, sensitivities: Mapping[str, Any], at: int
) -> dict[str, float]:
    """Return the derivatives of one number of a run's value, by the names of its inputs' numbers."""
    found: dict[str, float] = {}
    for name, slope in sensitivities.items():
        names = number_names(name, run.inputs[name])
        found.update(zip(names, numbers_in(slope)[at * len(names) :], strict=False))
    return found


def numbers_in(value: Any) -> list[float]:
    """Return the numbers of a tensor, in row-major order, or the number itself."""
    return [value] if isinstance(value, float) else value.ravel().tolist()


# Terms of second order.


def second_terms(run: DiagnosedRun, numbers: UncertainNumbers, u: float) -> Second | None:
    """Return the effect of second-order terms; None where derivatives are not finite.

    An effect that matters is confirmed in balls, since rounding may have caused it.
    """
    evaluator = remember(EVALUATORS, run.graph, lambda: evaluator_for(run.graph), MOST_KEPT)
    found = terms_at(DerivativeAnswers(evaluator), run.inputs, numbers, u)
    work = len(run.graph) * len(numbers.deviations) ** 2
    if found is None or work > MOST_IN_BALLS or not has_balls():
        return found
    if found.enough and second_noise(evaluator, run.inputs, numbers) <= half_unit(u):
        return found
    return terms_at(DerivativeAnswers(evaluator, exact_rule), run.inputs, numbers, u) or found


def second_noise(
    evaluator: Evaluator, inputs: Mapping[str, Any], numbers: UncertainNumbers
) -> float:
    """Bound the rounding of all second-order terms together."""
    names = [name for name in evaluator.graph.inputs if name in numbers.deviations]
    (graph, outputs), places = matrices.hessian_program(evaluator, names)
    errors, u = number_data_errors(graph, forward_numbers(graph, inputs)), numbers.deviations
    return sum(
        errors[outputs[at]] * u[names[row]] * u[names[column]]
        for (row, column), at in places.items()
    )


class DerivativeAnswers(NamedTuple):
    """An evaluator of a formula's derivatives: by the rule ``real`` in balls, else in doubles."""

    evaluator: Evaluator
    rule: Rule = computed

    def answers(self, program: Program, inputs: Mapping[str, float]) -> list[float]:
        """Compute a program's outputs: in doubles, or from balls, nan for those not known precisely."""
        if self.rule is computed:
            return self.evaluator.answers(program, inputs)
        return [nan if off else x for x, off in zip(*round_outputs(program, inputs), strict=True)]


def terms_at(
    derivatives: DerivativeAnswers, inputs: Mapping[str, Any], numbers: UncertainNumbers, u: float
) -> Second | None:
    """Return the effect of second-order terms, by given derivatives; None where those are not finite."""
    evaluator, rule = derivatives
    names = tuple([name for name in evaluator.graph.inputs if name in numbers.deviations])
    if not names:
        return Second(0.0, 0.0, True)
    (graph, nodes), places = matrices.hessian_program(evaluator, names, rule=rule)
    answers = derivatives.answers(Program(graph, nodes), inputs)
    deviations = np.array([numbers.deviations[name] for name in names])
    r, bent = correlation_matrix(names, numbers), np.zeros((len(names), len(names)))
    for place, at in places.items():
        bent[place] = answers[at]
    with np.errstate(all="ignore"):
        bent *= deviations * deviations[:, None]
        unit = u or float(np.max(np.abs(bent))) or 1.0  # so that squares stay doubles
        mixed = bent / unit @ r
        total = r @ (np.array(answers[1 : 1 + len(names)]) * deviations / unit)
        shift = unit * float(np.trace(mixed)) / 2
        square = float(np.sum(mixed * mixed.T)) / 2
        steps = dict(zip(names, (deviations * total).tolist(), strict=True))
        third = third_term(derivatives, inputs, names, steps, deviations.tolist(), r) / unit
    variance = (u / unit) ** 2 + square + third
    if not (isfinite(shift) and isfinite(variance)):
        return None
    value = unit * sqrt(variance) if variance >= 0 else float("nan")
    tolerance = half_unit(u)
    return Second(shift, value, abs(shift) <= tolerance and abs(value - u) <= tolerance)


def third_term(
    derivatives: DerivativeAnswers,
    inputs: Mapping[str, Any],
    names: tuple[str, ...],
    steps: Mapping[str, float],
    deviations: Sequence[float],
    r: Any,
) -> float:
    """Return the derivative of tr(HΣ) along the steps Σg."""
    evaluator, rule = derivatives
    (graph, outputs), entries = matrices.hessian_program(evaluator, names, rule=rule)
    asked = [(i, j) for i, j in entries if i <= j and r[i, j]]
    if not asked or not any(steps.values()):
        return 0.0
    nodes = tuple([outputs[entries[place]] for place in asked])
    moving = tuple([name for name in names if steps[name]])
    masked = len(moving) < len(names)
    program = matrices.derive_once(evaluator, derive.jvp, graph, moving, nodes, rule, masked=masked)
    given = {**inputs, **{derive.tangent_name(name): steps[name] for name in moving}}
    slopes = derivatives.answers(program, given)
    total: float = sum(
        (1 if i == j else 2) * float(r[i, j]) * deviations[i] * deviations[j] * slope
        for (i, j), slope in zip(asked, slopes, strict=True)
    )
    return total


def half_unit(u: float) -> float:
    """Return half a unit in the second digit of an uncertainty (JCGM 101:2008, 7.9.2); 0 without any."""
    decimal = to_two_digits(0.0, u)
    if decimal is None:
        return 0.0
    _, deviation, power = decimal
    exponent = deviation.as_tuple().exponent
    assert isinstance(exponent, int)
    return float(f"0.5e{exponent + power}")


def second_warnings(
    run: DiagnosedRun, terms: Second | None, u: float, what: str = "terms of second order"
) -> Iterator[Diagnostic]:
    """Yield warnings about second-order terms, or about draws."""
    if terms is None or terms.enough:
        return
    parts = []
    if abs(terms.shift) > half_unit(u):
        parts.append(f"shift the value by {two_digits(terms.shift)}")
    if abs(terms.value - u) > half_unit(u):
        parts.append(f"make its uncertainty {two_digits(terms.value)}, not {two_digits(u)}")
    change = " and ".join(parts) or "are too rare among the draws to tell"
    if terms.value != terms.value:
        change = f"are larger than those of first order, {two_digits(u)}"
    message = f"linearising is not enough: {what} {change}"
    yield nonlinear_warning(message, run, run.graph.output)


def kink_warnings(view: DiagnosedRun, numbers: UncertainNumbers, u: float) -> Iterator[Diagnostic]:
    """Yield warnings about kinks and jumps within reach."""
    unit = u or 1.0
    allowed, before = half_unit(u) / unit, u / unit
    for node, line, k in crossed_switches(view, numbers):
        shift, variance = crossing_effect(line, k, unit)
        change = sqrt(max(before * before + variance, 0.0)) - before
        if not (abs(shift) <= allowed and abs(change) <= allowed):
            count = f"{abs(k):.2g}"
            many = "uncertainty" if count == "1" else "uncertainties"
            far = f"{count} standard {many} away" if abs(k) > HERE else "here"
            code = BY_NAME[view.graph.kinds[node]].special[0].code
            message = f"linearising is not enough: {view.label(node)} has a {code} {far}"
            yield nonlinear_warning(message, view, node)


def nonlinear_warning(
    message: str, run: DiagnosedRun, node: int, help: str | None = None
) -> Diagnostic:
    """Return a warning about a node, by default with help on Monte Carlo."""
    help = help or command_or_python(
        "--mc 1000000 samples it", "run.propagate(mc=1_000_000) samples it"
    )
    return Diagnostic("nonlinear", "warning", message, node, run.graph.span(node), help, None)


# Draws.

Draws = tuple[dict[str, Any], Any, list[Any]]
"""Draws: each uncertain number's deviations, the inputs, and every node's data."""


def draw_values(run: DiagnosedRun, numbers: UncertainNumbers) -> Draws:
    """Draw the inputs, the first draw being their means: the larger the graph, the fewer draws."""
    graph, inputs = run.graph, run.inputs
    names = [name for name in graph.inputs if name in numbers.deviations]
    count = max(min(MOST_DRAWS, MOST_AT_ONCE // len(graph)), LEAST_DRAWS)
    moves = draw_moves(names, numbers, np.random.default_rng(0), count)
    moves[:, 0] = 0.0
    drawn = {name: inputs[name] + move for name, move in zip(names, moves, strict=True)}
    moved = {name: x - inputs[name] for name, x in drawn.items()}
    return moved, np.zeros(count), forward_arrays(graph, {**inputs, **drawn})


def drawn_terms(
    run: DiagnosedRun, draws: Draws, slopes: Mapping[str, float], u: float
) -> tuple[Second, int]:
    """Return the effects of all orders, by draws, and the number of draws without a finite value.

    A draw's value is f(x) + L + D, with L its linear part, of mean 0 and standard deviation u.  Only D, and
    its product with L, are averaged: the less there is beyond first order, the less draws vary.

        mean − f(x)  =  E(D)
        variance     =  u² + E(2·L·D + D²) − E(D)²

    Rounding may have caused D, so its error bound is subtracted.  Source: R. Y. Rubinstein and D. P.
    Kroese, Simulation and the Monte Carlo Method (2017), section 5.2 (control variates).
    """
    moves, zero, values = draws
    with np.errstate(all="ignore"):
        y = values[run.graph.output] + zero
        parts = [slopes[name] * move for name, move in moves.items()]
        line = sum(parts) + zero
        error = array_data_errors(run.graph, values, [run.graph.output])[run.graph.output] + zero
        error = np.nan_to_num(error + error[0] + 4 * UNIT * sum(map(np.abs, parts)), nan=inf)
        off = y - y[0] - line
        off = np.sign(off) * np.maximum(np.abs(off) - error, 0.0)
        good = np.isfinite(y)
        off, line = off[good], line[good]
        unit = max(u, float(np.max(np.abs(off), initial=0.0))) or 1.0
        off, line, before, tolerance = off / unit, line / unit, u / unit, half_unit(u) / unit
        shift, chance = mean_of(off)
        added, spread = mean_of(2 * line * off + off * off - shift * shift)
    value = sqrt(max(before * before + added, 0.0))
    spread /= (value + before) or 1.0
    enough = max(abs(shift) - SURE * chance, abs(value - before) - SURE * spread) <= tolerance
    enough = enough and SURE * max(chance, spread) <= tolerance
    shift = shift if abs(shift) > SURE * chance else 0.0
    return Second(unit * shift, unit * value, enough), len(zero) - len(off)


def mean_of(values: Any) -> tuple[float, float]:
    """Return the mean of some draws, and its standard error."""
    return float(values.mean()), float(values.std()) / sqrt(len(values))


# Kinks and jumps within reach.


class DirectionOfDeviation(NamedTuple):
    """A line through the inputs, on which a step of 1 is a standard deviation."""

    evaluator: Evaluator
    inputs: Mapping[str, float]
    step: Mapping[str, float]

    def at(self, z: float) -> dict[str, float]:
        """Return the inputs at a place on the line."""
        return {**self.inputs, **{name: self.inputs[name] + z * d for name, d in self.step.items()}}

    def slope(self, z: float) -> tuple[float, float]:
        """Return the value there, and its derivative along the line."""
        names = tuple(self.step)
        values, adjoints = self.evaluator.gradient(self.at(z), names)
        nodes, slope = self.evaluator.graph.inputs, 0.0
        for name in names:
            grad = adjoints.grads[nodes[name]]
            slope += self.step[name] * grad if grad else 0.0
        return values[self.evaluator.graph.output], slope


Moves = Mapping[str, float]
"""By uncertain number, its effect on a node: deviation times derivative."""


def crossed_switches(
    run: DiagnosedRun, numbers: UncertainNumbers
) -> Iterator[tuple[int, DirectionOfDeviation, float]]:
    """Yield the kinks and jumps within reach: the node, the line, and the place on it."""
    names = tuple([name for name in run.graph.inputs if name in numbers.deviations])
    found, graph = compared_in_run(run, names)
    if not found:
        return
    evaluator, compared = evaluator_for(run.graph), evaluator_for(graph)
    here = compared.forward(run.inputs)
    outputs = {str(at): gap for at, (_, (gap, _)) in enumerate(found)}
    slopes = matrices.jacobian_at(Point(compared, run.inputs, outputs, names))
    for at, (node, gap) in enumerate(found):
        moves = {name: slope * numbers.deviations[name] for name, slope in slopes.row(at).items()}
        line = direction_of(run, evaluator, moves, numbers)
        if line is not None:
            yield from ((node, line, k) for k in line_crossings(compared, gap, here, line))


def compared_in_run(
    run: DiagnosedRun, names: Sequence[str]
) -> tuple[list[tuple[int, SwitchFunction]], Graph]:
    """Find nodes that may have kinks or jumps, with their switch functions, and the graph of those."""
    graph, values, builder = run.graph, run.values, GraphBuilder(run.graph.empty())
    moved = dependent_flags(graph, [graph.inputs[name] for name in names])
    image = builder.include(graph)
    found: list[tuple[int, SwitchFunction]] = []
    for node in find_nonsmooth_nodes(graph, moved, live_nodes(run)):
        row, mine = BY_NAME[graph.kinds[node]], graph.operands[node]
        winner = next((image[n] for n in mine if values[n] == values[node]), None)
        gaps = switch_functions(builder, row, [image[n] for n in mine], image[node], winner)
        found += [(node, gap) for gap in gaps]
    builder.graph.output = image[graph.output]
    return found, builder.graph


def line_crossings(
    compared: Evaluator, gap: SwitchFunction, here: Sequence[float], line: DirectionOfDeviation
) -> Iterator[float]:
    """Yield the places on a line beyond which a gap changes sign, or stairs change their step."""
    node, step = gap
    if step is None and not here[node]:
        yield 0.0
        return

    def is_across(z: float) -> bool:
        data = compared.forward(line.at(z))
        return not data[node] * here[node] > 0 if step is None else data[step] != here[step]

    ways = (-copysign(1.0, here[node]),) if step is None else (1.0, -1.0)
    yield from (k for way in ways if (k := first_crossing(is_across, way)) is not None)


def direction_of(
    run: DiagnosedRun, evaluator: Evaluator, moves: Moves, numbers: UncertainNumbers
) -> DirectionOfDeviation | None:
    """Return the line on which a quantity most probably rises, given its moves; None if none moves it."""
    total = {
        name: sum(numbers.correlation(name, other) * move for other, move in moves.items() if move)
        for name in moves
    }
    variance = sum(moves[name] * t for name, t in total.items())
    if not 0 < variance < inf:
        return None
    scale = sqrt(variance)
    return DirectionOfDeviation(
        evaluator,
        run.inputs,
        {name: numbers.deviations[name] * t / scale for name, t in total.items() if t},
    )


def first_crossing(crosses: Callable[[float], bool], side: float) -> float | None:
    """Return the first place on one side of a line at which a condition holds; None if none is in reach."""
    for look in range(1, LOOKS + 1):
        low, high = side * REACH * (look - 1) / LOOKS, side * REACH * look / LOOKS
        if crosses(high):
            for _ in range(NARROWINGS):
                middle = (low + high) / 2
                low, high = (low, middle) if crosses(middle) else (middle, high)
            return high
    return None


def crossing_effect(line: DirectionOfDeviation, k: float, unit: float) -> tuple[float, float]:
    """Return a kink's or a jump's effect on the mean and on the variance."""
    side = copysign(1.0, k)
    near, far = k - side * BESIDE, k + side * BESIDE
    (before, inner), (behind, outer) = line.slope(near), line.slope(far)
    if not isfinite(behind) or not isfinite(outer):
        return inf, inf
    jump = (behind - before - side * BESIDE * (inner + outer)) / unit
    bend = side * (outer - inner) / unit
    c = side * line.slope(0.0 if k else near)[1] / unit
    z = abs(k)
    density, beyond = exp(-z * z / 2) / sqrt(2 * pi), erfc(z / sqrt(2)) / 2
    over = density - z * beyond
    shift = bend * over + jump * beyond
    square = bend**2 * ((1 + z * z) * beyond - z * density) + 2 * bend * jump * over
    variance = 2 * c * (bend * beyond + jump * density) + square + jump**2 * beyond - shift**2
    return shift, variance
