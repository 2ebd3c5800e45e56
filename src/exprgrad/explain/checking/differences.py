"""Derivatives by differences of values: quotients as a graph, and their limits in doubles and balls.

The graph has the formula on both sides of a node's data, and the differences.  Whatever evaluates a graph
finds the quotients: doubles, or balls at a step far below any double.  No quotient uses a rule of the op
table; only the rounding bound of quotients in doubles does, which is the sweeps'.

In doubles steps are halved and quotients extrapolated.  Source: Ridders, Accurate computation of F'(x) and
F'(x)F''(x) (1982); Press et al., Numerical Recipes, section 5.7.  Here the error is twofold: what
extrapolation leaves, as Ridders estimates it, and what rounding can do to the values, which grows as the
step shrinks.  For numbers it is bounded node by node.  For tensors, where a bound would have to follow
every sum, it is measured.  Source: Moré and Wild, Estimating computational noise, SIAM J. Sci. Comput. 33
(2011): values at points so near to each other that a smooth function's high differences vanish have those
that rounding leaves.

In balls a step far below any double is taken, at a precision that resolves it.  Two steps, one 2^32 times
the other, tell a derivative from a kink, a jump or an infinite slope, and how far the quotient at the
smaller step can be from its limit.  From far away a steep slope looks like a jump and a narrow bend like a
kink, so these count only where much smaller steps find the same.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from exprgrad.derive.error_rules import TINY
from exprgrad.derive.rules import template
from exprgrad.explain.digits.judgements import find_rounded_decimals
from exprgrad.explain.sides.one_sided import SURE
from exprgrad.graph.graph import (
    CONST,
    INPUT,
    Graph,
    copy_nodes,
    dependency_flags,
    dependent_flags,
    splice_graph,
    transform_graph,
)
from exprgrad.graph.ops import COMMON, PRODUCTS, SUMS
from exprgrad.run.balls.balls import (
    Ball,
    decimal_ball,
    enclose_nodes,
    evaluate_in_balls,
    exact_ball,
    has_balls,
    working_precision,
)
from exprgrad.run.evaluation import SweptRun
from exprgrad.run.numbers.bounds import number_data_errors
from exprgrad.run.numbers.sweeps import forward_numbers

__all__ = [
    "APART", "CLOSE", "SCALE", "SETTLED", "STEP", "BoundedEstimate", "QuotientGraph", "QuotientLimit",
    "SidedEstimates", "TrueDerivative", "difference_estimates", "difference_table", "extrapolate",
    "guess_both_sides", "is_below_doubles", "least_work", "measure_derivatives", "measure_rounding",
    "quotient_graph", "step_inputs", "true_differences", "two_step_limit",
]  # fmt: skip

STEP = "the step"
SCALE = "the step's scale"
"""The names of the step's two factors in the graph; no input's name has a blank."""


LEVELS = 36
"""The steps tried, each half of the one before: down to 2^-38, where a quotient has 14 bits."""
LAST = 8
"""The pairs of smallest steps compared: 1 in 1000 random sequences would pass."""
SLACK = 2.0**-20
"""The relative error allowed to quotients that double, or stay, besides noise."""
DEPTH = 8
"""The steps that an extrapolation uses: each removes a term of the series, and rounding hides the rest."""
START = -3
"""The exponent of the first step for data that are about 1 or less."""
SETTLED = 10
"""An estimate with an error below 1/SETTLED of it has a digit."""
MEASURED_LEVELS = 24
"""The steps tried, each half of the one before: from 2^-3 to 2^-26, half of a double's digits."""
NEAR = (-30, -24, -18, -12)
"""The distances, in bits, of points at which noise is measured: their fourth differences are noise.

They lie farther apart where most values are equal, on one step of the rounding's staircase.
"""
ORDER = 2.0**-20
"""Noise above this part of the values is not rounding: the values vary wildly at that distance."""
SAFE = 8
"""The factor by which noise may exceed the measured one, a standard deviation of few values."""


class QuotientGraph(NamedTuple):
    """A graph with the difference quotients of another's output with respect to one of its nodes.

    It has all nodes of the other, with the same numbers, and then the quotients from the
    ``left``, from the ``right`` and between the two (``center``); and ``bend``, how much right and left
    differ.  ``moved`` are the nodes that the step moves, without the node's own two data: their rounding
    makes quotients in doubles uncertain.
    """

    graph: Graph
    left: int
    right: int
    center: int
    bend: int
    moved: tuple[int, ...]


ENDS = "step = h*k; minus = x - step; plus = x + step; plus"
QUOTIENTS = (
    "left = (out - low)/(x - minus); right = (high - out)/(plus - x); "
    "center = (high - low)/(plus - minus); bend = right - left; bend"
)
"""The data on both sides of a node x, and the quotients of the output there and at x itself."""


@lru_cache(1)
def quotient_graph(graph: Graph, node: int) -> QuotientGraph:
    """Build the graph of the output's difference quotients by a node."""
    made, _ = transform_graph(graph)
    active, needed = dependent_flags(graph, [node]), dependency_flags(graph, graph.output)
    for name in (STEP, SCALE):
        made.inputs[name] = made.append(INPUT, (), name, graph.span(node))

    def put(text: str, **known: int) -> dict[str, int]:
        """The statements of a text as nodes."""
        images = splice_graph(made, template(text), known)
        return {name: images[at] for name, at, _ in template(text).bindings}

    def beside(side: int) -> int:
        """The output where another node stands in the node's place."""

        def rule(at: int, _: Sequence[int]) -> int | None:
            if at == node:
                return side
            return None if active[at] else at

        return copy_nodes(made, graph, rule, wanted=needed)[graph.output]

    ends = put(ENDS, x=node, h=made.inputs[STEP], k=made.inputs[SCALE])
    low, high = beside(ends["minus"]), beside(ends["plus"])
    out = graph.output
    found = put(QUOTIENTS, x=node, out=out, low=low, high=high, **ends)
    made.output = found["bend"]
    moved = [user for user in range(node + 1, len(graph)) if active[user]]
    return QuotientGraph(made, **found, moved=(*moved, *range(ends["plus"] + 1, len(made))))


def step_inputs(exponent: int) -> dict[str, float]:
    """Return the step 2^exponent as the graph's inputs: two doubles, since one may under- or overflow."""
    half = exponent // 2
    return {STEP: math.ldexp(1.0, half), SCALE: math.ldexp(1.0, exponent - half)}


# In doubles.


class BoundedEstimate(NamedTuple):
    """A number and its error bound.

    For a difference quotient at one step that is its rounding; for a limit, what
    neighbouring extrapolations and rounding tell.
    """

    value: float
    error: float

    def settled(self, beside: float) -> bool:
        """Tell whether it has a right digit, also relative to another number, if there is a limit."""
        size = abs(self.value)
        return self.error <= max(size, abs(beside) if math.isfinite(beside) else size) / SETTLED


class SidedEstimates(NamedTuple):
    """A derivative by differences, between the sides and from each; None where no values are finite.

    Also the quotients at one step.
    """

    center: BoundedEstimate | None
    left: BoundedEstimate | None
    right: BoundedEstimate | None


def difference_estimates(
    graph: Graph, inputs: Mapping[str, float], node: int, at: float
) -> SidedEstimates:
    """Estimate the output's derivative with respect to a node whose data is ``at``, and from each side.

    Steps begin at an eighth of the node's data, and of 1 where that is larger, or where steps in
    proportion to the data never come near 1.  Steps that do not follow the function are left out.
    """
    found, tried = quotient_graph(graph, node), []
    near = math.frexp(at)[1] - 1 + START if at else START
    starts = [near] if START <= near <= LEVELS + START else [max(near, START), min(near, START)]
    for start in starts:
        steps = [step_inputs(start - level) for level in range(LEVELS)]
        levels = [evaluate_quotients(found, inputs, step) for step in steps]
        if not any(map(significant_pairs, zip(*levels, strict=True))):
            # Whether large steps follow the function is unknown, and small ones count.
            levels = levels[max(start, 0) :]
        tried.append(estimate_limits(levels))
    return SidedEstimates(*map(better_estimate, zip(*tried, strict=True)))


def estimate_limits(levels: Sequence[SidedEstimates]) -> SidedEstimates:
    """Estimate the limits of quotients at halved steps; none where these do not follow the function."""
    levels = levels if levels and quotients_follow(levels) else ()
    sides = ((0, 2), (1, 1), (2, 1))
    return SidedEstimates(
        *(extrapolate([level[at] for level in levels], order) for at, order in sides)
    )


def quotients_follow(levels: Sequence[SidedEstimates]) -> bool:
    """Whether difference quotients at halved steps follow the function down to the smallest steps.

    Steps that span many of its periods, or a pole, do not: the values at them are unrelated,
    so that the quotients grow as the step shrinks, with either sign.  The quotients of a function
    that is followed differ less and less; at a jump they double, and keep their sign, but not on both
    sides: that is a peak, narrower than any of the steps.
    """
    center, left, right = (significant_pairs(side) for side in zip(*levels, strict=True))
    jumps_twice = (
        left
        and right
        and all(
            abs(near.value - 2 * far.value)
            <= comparison_slack(far, near)  # it doubles with half the step
            for far, near in (*left, *right)
        )
    )
    grows = any(
        abs(near.value) > abs(far.value)
        and abs(near.value - far.value) > abs(near.value) / 2 + comparison_slack(far, near)
        for far, near in (*center, *left, *right)
    )
    return not (jumps_twice or grows)


def significant_pairs(
    samples: Sequence[BoundedEstimate | None],
) -> list[tuple[BoundedEstimate, BoundedEstimate]]:
    """Pair the quotients at the smallest steps with those at twice the steps, where both exceed noise."""
    known = [s if s is not None and abs(s.value) > 2 * s.error else None for s in samples]
    return [(far, near) for far, near in pairwise(known) if far and near][-LAST:]


def comparison_slack(far: BoundedEstimate, near: BoundedEstimate) -> float:
    """Return the slack that rounding requires in comparing two quotients."""
    return 2 * (far.error + near.error) + abs(near.value) * SLACK


def evaluate_quotients(
    found: QuotientGraph, inputs: Mapping[str, float], step: Mapping[str, float]
) -> SidedEstimates:
    """Evaluate the quotients at one step: between the sides, from the left and from the right.

    Where the data minus or plus the step is rounded, one side is farther away than the other.  Then the
    slope between them is off by as much as the slope changes on the way.
    """
    values = forward_numbers(found.graph, {**inputs, **step})
    errors = number_data_errors(found.graph, values, moved=found.moved)
    across = found.graph.operands[found.center][1]
    plus, minus = (values[end] for end in found.graph.operands[across])
    if minus < plus:
        shift = max(math.ulp(minus), math.ulp(plus)) / 2
        errors[found.center] += abs(values[found.bend]) * (shift / ((plus - minus) / 2))
    center, left, right = (
        finite_estimate(values[at], errors[at]) for at in (found.center, found.left, found.right)
    )
    return SidedEstimates(center if left or right else None, left, right)


def finite_estimate(value: float, error: float) -> BoundedEstimate | None:
    """Return a quotient with its error bound, if both are finite."""
    return BoundedEstimate(value, error) if math.isfinite(value) and math.isfinite(error) else None


def better_estimate(estimates: Sequence[BoundedEstimate | None]) -> BoundedEstimate | None:
    """Choose between estimates from large and small steps: the surer, if they agree, else the latter."""
    found = [estimate for estimate in estimates if estimate is not None]
    if len(found) == 2 and abs(found[0].value - found[1].value) > found[0].error + found[1].error:
        return found[1]
    return min(found, key=lambda estimate: estimate.error, default=None)


def extrapolate(samples: Sequence[BoundedEstimate | None], order: int) -> BoundedEstimate | None:
    """Extrapolate quotients at halved steps to their limit; their error is a series in ``step^order``.

    It is the best of the whole tableau, by its neighbours' differences plus the noise.  Smaller
    steps must not lead away from it: they reveal a bump that large steps leap over.
    """
    best: BoundedEstimate | None = None
    row: list[BoundedEstimate] = []
    for level, sample in enumerate(samples):
        if sample is None:
            row = []
            continue
        before, row = row[:DEPTH], [sample]
        for depth, above in enumerate(before):
            factor = 2.0 ** (order * (depth + 1))
            near = row[depth]
            value = near.value + (near.value - above.value) / (factor - 1)
            noise = (factor * near.error + above.error) / (factor - 1)
            row.append(BoundedEstimate(value, noise))
            left = max(abs(value - near.value), abs(value - above.value))
            error = left + noise + math.ulp(value)
            near_enough = abs(sample.value - value) + error
            if (best is None or error < best.error) and all(
                smaller is None or abs(smaller.value - value) <= near_enough + smaller.error
                for smaller in samples[level + 1 :]
            ):
                best = BoundedEstimate(value, error)
    return best


# With noise that is measured.


def measure_derivatives(value: Callable[[float], float], at: float) -> SidedEstimates:
    """Estimate the derivatives of a function of one number, between the sides and from each."""
    scale = math.frexp(at)[1] if at else 0
    noise = SAFE * measure_rounding(value, at, scale)
    levels = [
        measure_quotients(value, at, noise, scale - 3 - level) for level in range(MEASURED_LEVELS)
    ]
    step = math.ldexp(1.0, scale - 3)
    size = max(abs(value(x)) for x in (at - step, at, at + step))
    return estimate_limits([] if noise > size * ORDER > 0 else levels)


def measure_quotients(
    value: Callable[[float], float], at: float, noise: float, exponent: int
) -> SidedEstimates:
    """Evaluate the three quotients at a step of 2^exponent."""
    step = math.ldexp(1.0, exponent)
    minus, plus = at - step, at + step
    low, here, high = value(minus), value(at), value(plus)
    rises = ((high - low, plus - minus), (here - low, at - minus), (high - here, plus - at))
    return SidedEstimates(
        *(finite_estimate(rise / run, 2 * noise / run) if run else None for rise, run in rises)
    )


def measure_rounding(value: Callable[[float], float], at: float, scale: int) -> float:
    """Measure the standard deviation of a function's rounding by high differences of near values."""
    for near in NEAR:
        gap = math.ldexp(0.7, scale + near)  # no power of 2, whose sums are exact too often
        values = [value(at + step * gap) for step in range(-4, 5)]
        if not all(map(math.isfinite, values)):
            return math.ulp(value(at))
        if len(set(values)) > len(values) // 2:
            break
    found = math.ulp(values[4])
    for order, row in enumerate(difference_table(values), 1):
        if 4 <= order <= 6:
            share = math.factorial(order) ** 2 / math.factorial(2 * order)
            found = max(found, math.sqrt(share * math.fsum(x * x for x in row) / len(row)))
    return found


def difference_table(values: list[float]) -> Iterator[list[float]]:
    """Yield the differences of values, their differences, and so on."""
    row = values
    while len(row) > 1:
        row = [after - before for before, after in pairwise(row)]
        yield row


# In balls.

PRECISIONS = ((512, 128), (4096, 1400), (16384, 6000))
"""Precisions in bits, and by how many bits the step is smaller than the node's data (or than 1).

The first is for formulas as smooth as most.  The second step is 2^-300 of the least double and
less, also beside 0.  The bits are more than twice the step's, and as many are left in a quotient.
"""
STEP_FUNCTIONS = frozenset(op.name for op in COMMON if op.gate == "blocker")
"""The functions that are flat between jumps."""
STEADY = 2.0**-24
"""The relative change of a quotient from step to step that still allows a limit."""
AGREEING = 2.0**-40
"""How near the checked number must be to the limit at the first step for that to count."""
APART = 32
"""The steps' ratio, in bits: a quantity that changes with the step changes by 2^32, far beyond noise."""
CHANGED = 2.0**8
"""A greater change from step to step means a limit of 0 or infinity, like the step's fourth root or faster.

A logarithm changes by no more than 4/3.
"""
CLOSE = 2.0**-60
"""The relative error at which a limit counts as found: 128 times less than that of a rounded double."""


class TrueDerivative(NamedTuple):
    """The true derivative, as far as balls tell.

    ``kind`` is ``smooth``, ``kink``, ``jump``, ``vertical`` (the slope is infinite), ``edge`` (there are
    no values on one side) or ``unclear``.  ``center``, ``left`` and ``right`` are balls, None where there
    is no limit, and infinite where the slope is; ``value`` is the output's.
    """

    kind: str
    value: Ball
    center: Ball | None
    left: Ball | None
    right: Ball | None


class QuotientLimit(NamedTuple):
    """The limit of quotients at two steps: ``found``, ``grows``, ``none`` (no values) or ``unclear``."""

    kind: str
    ball: Ball | None = None


def least_work(nodes: int) -> int:
    """Return the work of the first precision, in bits times nodes: two steps, and both sides of each."""
    return 2 * 3 * nodes * PRECISIONS[0][0]


def true_differences(
    graph: Graph,
    inputs: Mapping[str, float],
    node: int,
    at: float,
    work: float = math.inf,
    expected: float | None = None,
    *,
    typed: bool = False,
) -> TrueDerivative:
    """Find the output's true derivative with respect to a node with data near ``at``, from exact inputs.

    Inputs and literals are the doubles read, or with ``typed`` the decimals.

    Higher precisions are used while the ``work`` lasts, in bits times nodes: where the
    first finds no derivative, or another than ``expected``, and at 0, which has no scale.

    Raises ``MissingExtraError`` without python-flint.
    """
    found = quotient_graph(graph, node)
    near = min(math.frexp(at)[1], 0)
    truth, before = None, "unclear"
    for bits, below in PRECISIONS:
        is_first = truth is None
        work -= 2 * bits * len(found.graph)
        if not is_first and work < 0:
            break
        with working_precision(bits):
            number = decimal_ball if typed else exact_ball
            given = {name: number(value) for name, value in inputs.items()} | {SCALE: exact_ball(1)}
            far, close = (
                evaluate_in_balls(
                    found.graph, given | {STEP: exact_ball(2) ** exponent}, typed=typed
                )
                for exponent in (near - below + APART, near - below)
            )
        truth = classify_truth(found, far, close, graph.output)
        if close[graph.output].is_nan():
            return truth
        limit = truth.center
        if truth.kind == "smooth" and limit is not None:
            is_zero = expected == 0 and is_below_doubles(limit)
            is_near = expected is None or abs(limit - expected) <= abs(limit) * AGREEING
            if not is_first or (at != 0 and (is_zero or bool(is_near))):
                return truth
        elif truth.kind == before != "unclear":
            return truth
        before = truth.kind if truth.kind != "unclear" else before
    assert truth is not None
    return truth if truth.kind == "smooth" else truth._replace(kind="unclear")


def classify_truth(
    found: QuotientGraph, far: list[Ball], close: list[Ball], output: int
) -> TrueDerivative:
    """Classify a derivative from the quotients at two steps."""
    value = close[output]
    center, left, right, bend = (
        two_step_limit(far[node], close[node], order)
        for node, order in ((found.center, 2), (found.left, 1), (found.right, 1), (found.bend, 1))
    )

    def truth(kind: str) -> TrueDerivative:
        return TrueDerivative(kind, value, center.ball, left.ball, right.ball)

    flat = [at for at in found.moved if found.graph.kinds[at] in STEP_FUNCTIONS]
    for one, other in ((far[at], close[at]) for at in flat):  # there may be a jump between
        is_same = one.is_exact() and other.is_exact() and one == other
        if not (is_same or (one.is_nan() and other.is_nan())):
            return truth("unclear")
    sides = {left.kind, right.kind}
    if "none" in sides:
        return truth("edge" if sides & {"found", "grows"} else "unclear")
    if "grows" in sides:
        leap = 2.0 ** (APART - 1)
        leaps = any(abs(close[at]) > abs(far[at]) * leap for at in (found.left, found.right))
        return truth("jump" if leaps else "vertical")
    if center.kind != "found" or sides != {"found"}:
        return truth("unclear")
    assert center.ball is not None
    if is_below_doubles(bend.ball) or close[found.bend].abs_upper() < abs(center.ball) * CLOSE:
        return truth("smooth")
    return truth("kink" if bend.kind == "found" else "unclear")


def two_step_limit(far: Ball, close: Ball, order: int) -> QuotientLimit:
    """Find the limit of a quotient, with an error of an order in the step, from two steps."""
    if far.is_nan() or close.is_nan():
        return QuotientLimit("none")
    if not (far.is_finite() and close.is_finite()):
        return QuotientLimit("unclear")
    if close.is_zero() or is_below_doubles(close):
        return QuotientLimit("found", close)
    if close.contains(0):
        return QuotientLimit("unclear")
    if abs(close) * CHANGED < abs(far):
        return QuotientLimit("found", close * 0)
    if abs(close) > abs(far) * CHANGED:
        infinity = close.pos_inf()
        return QuotientLimit("grows", infinity if close > 0 else -infinity)
    change, size = (close - far).abs_upper(), abs(close).abs_lower()
    off = change * 2.0 ** (1 - order * APART)
    if change > size * STEADY or off + close.rad() > size * CLOSE:
        return QuotientLimit("unclear")
    return QuotientLimit("found", close)


def is_below_doubles(ball: Ball | None) -> bool:
    """Whether a number is surely below the least double, and so 0 in doubles."""
    return ball is not None and bool(ball.abs_upper() < TINY)


# On one side, where terms of higher order decide.  A difference at a step far below doubles, at a precision
# that resolves it, has all the digits of a double.  It is an estimate still: no two steps prove a limit.

PRECISE = (4096, 16384)
"""Precisions in bits: the second is for cases like 1 + x^8 where the first tells nothing."""
MOST_WORK = 2**28
"""The most bits times nodes, of all inputs together, on both sides: about half a second."""
DIGIT_BY_DIGIT, OTHERWISE = {CONST, INPUT, *SUMS, *PRODUCTS}, 32
"""Operations whose work grows with the digits alone, and how many of them any other counts for."""
BELOW = 1400
"""The bits by which the step is smaller than the input, or than 1 if that is less."""
ODD = 1_000_000_007
"""The step is no power of 2, where ``1/x % 1`` and the like are always 0."""
NEARER = 600
"""The bits by which a second step is smaller, where the value at the point itself is not known."""


class SideGuess(NamedTuple):
    """A guess for one side: a derivative, or a limit that is not the value; None if it cannot tell."""

    slope: float | None = None
    limit: float | None = None


Pair = tuple[Ball, Ball]
Typed = Mapping[str, str] | None
"""The texts of inputs where numbers are decimals as typed; None where they are doubles."""
Guesses = tuple[SideGuess, SideGuess]
NO_GUESSES: Guesses = (SideGuess(), SideGuess())


def guess_both_sides(run: SweptRun, name: str) -> Guesses:
    """Guess both sides of an input's value; only limits where the value is nan.

    Where the doubles and the decimals as typed lead to different places, the one that has a kink or a jump
    counts, for the sweep met it.
    """
    if not has_balls():
        return NO_GUESSES
    decimals = find_rounded_decimals(run.graph, run.inputs, run.spelled)
    readings = (None, run.spelled) if decimals else (None,)
    found: list[Guesses] = [
        (guess_side(run, name, -1, typed=typed), guess_side(run, name, 1, typed=typed))
        for typed in readings
    ]
    told = [sides for sides in found if sides != NO_GUESSES]
    return next((sides for sides in told if sides[0] != sides[1]), told[0] if told else NO_GUESSES)


def guess_side(run: SweptRun, name: str, sign: int, *, typed: Typed) -> SideGuess:
    """Guess one side; first whether there is a jump, for then differences mean nothing."""
    start = min(math.frexp(run.inputs[name])[1], 0) - BELOW
    work = MOST_WORK // max(len(run.wrt or ()), 1)
    size = sum(1 if kind in DIGIT_BY_DIGIT else OTHERWISE for kind in run.graph.kinds)
    for bits in PRECISE:
        if 4 * bits * size > work:
            break
        with working_precision(bits):
            unit = sign * ODD * exact_ball(2) ** start
            steps = unit * 2**APART, unit
            far, close = (true_value_beside(run, name, step, bits, typed=typed) for step in steps)
            if math.isnan(run.value):
                told = SideGuess(limit=round_limit(two_step_limit(far, close, 1)))
            else:
                here = true_value_beside(run, name, exact_ball(0), bits, typed=typed)
                if not here.is_finite():
                    here = true_value_beside(run, name, unit / 2**NEARER, bits, typed=typed)
                told = guess_against_truth(run.value, here, (far, close), steps)
        if told != SideGuess():
            return told
    return SideGuess()


def true_value_beside(run: SweptRun, name: str, step: Ball, bits: int, *, typed: Typed) -> Ball:
    """Return the output's true value with one input a step away."""
    return enclose_nodes(run.graph, run.inputs, bits, typed=typed, aside={name: step})[
        run.graph.output
    ]


def guess_against_truth(value: float, here: Ball, there: Pair, steps: Pair) -> SideGuess:
    """Guess a side from values at two steps and the true value, which must match the computed one."""
    off = abs(here - value)
    if not here.is_finite() or bool(off > SURE * abs(here) and off > TINY):
        return SideGuess()
    far, close = (one - here for one in there)
    rise = two_step_limit(far, close, 1)
    if rise.kind != "found" or rise.ball is None:
        return SideGuess()
    if bool(rise.ball != 0) and not bool(abs(close) * 2 < abs(far)):
        return SideGuess(limit=round_limit(two_step_limit(there[0], there[1], 1)))
    return SideGuess(round_limit(two_step_limit(far / steps[0], close / steps[1], 1), steep=True))


def round_limit(found: QuotientLimit, *, steep: bool = False) -> float | None:
    """Round a limit to a double; None without a limit, or for an infinite one that is not ``steep``."""
    is_number = found.kind == "found" or steep
    return float(found.ball.mid()) + 0.0 if found.ball is not None and is_number else None
