"""Derivatives by differences in doubles, with step control and an account of what rounding does to them.

Source of the extrapolation: Ridders, Accurate computation of F'(x) and F'(x)F''(x) (1982); Press et al.,
Numerical Recipes, section 5.7.  Here the error is twofold: what extrapolation leaves, as Ridders estimates
it, and what rounding can do to the values, which grows as the step shrinks and is followed node by node.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from exprgrad.explain.checking.quotients import Quotients, quotients, steps
from exprgrad.graph.graph import CONST, INPUT, Graph
from exprgrad.graph.ops import BY_NAME
from exprgrad.run.primitives import functions
from exprgrad.run.sweeps import forward

__all__ = [
    "Estimate",
    "Sample",
    "Sides",
    "differences",
    "extrapolated",
    "moved_errors",
    "quotient_at",
]

LEVELS = 36
"""How many steps are tried, each half of the one before."""
DEPTH = 8
"""How many steps an extrapolation draws on."""


class Estimate(NamedTuple):
    """A number and what it may be off by, as far as neighbouring extrapolations and rounding tell."""

    value: float
    error: float

    def settled(self, beside: float) -> bool:
        """Whether it has a digit to go by, beside another number: quotients without a limit have none."""
        size = abs(self.value)
        return self.error <= max(size, abs(beside) if math.isfinite(beside) else size) / 10


class Sides(NamedTuple):
    """A derivative by differences: between the sides and from each; None where no values are finite."""

    center: Estimate | None
    left: Estimate | None
    right: Estimate | None


class Sample(NamedTuple):
    """A difference quotient at one step, and what rounding may have done to it."""

    value: float
    noise: float


def differences(graph: Graph, inputs: Mapping[str, float], node: int, at: float) -> Sides:
    """The output's derivative by a node whose data is ``at``, and its derivatives from the sides.

    Steps begin at an eighth of the node's data, and of 1 where that is larger.
    """
    found = quotients(graph, node)
    near = math.frexp(at)[1] - 4 if at else -3
    starts = [near] if near >= -3 else [-3, near]
    tried = [sampled(found, inputs, start) for start in starts]
    sides = []
    for side, order in ((0, 2), (1, 1), (2, 1)):
        estimates = [extrapolated([level[side] for level in levels], order) for levels in tried]
        sides.append(better(estimates))
    return Sides(*sides)


def sampled(
    found: Quotients, inputs: Mapping[str, float], start: int
) -> list[tuple[Sample | None, ...]]:
    """The three quotients at each step from 2^start down."""
    return [tuple(quotient_at(found, inputs, steps(start - level))) for level in range(LEVELS)]


def quotient_at(
    found: Quotients, inputs: Mapping[str, float], step: Mapping[str, float]
) -> list[Sample | None]:
    """The quotients between the sides, from the left and from the right, at one step."""
    values = forward(found.graph, {**inputs, **step})
    errors = moved_errors(found.graph, values, found.moved)
    return [
        Sample(values[node], errors[node])
        if math.isfinite(values[node]) and math.isfinite(errors[node])
        else None
        for node in (found.center, found.left, found.right)
    ]


def better(estimates: Sequence[Estimate | None]) -> Estimate | None:
    """Of estimates from large steps and from small ones: the surer, if the two agree; else the latter."""
    found = [estimate for estimate in estimates if estimate is not None]
    if len(found) < 2:
        return found[0] if found else None
    large, small = found
    if abs(large.value - small.value) > large.error + small.error:
        return small
    return min(found, key=lambda estimate: estimate.error)


def extrapolated(samples: Sequence[Sample | None], order: int) -> Estimate | None:
    """The limit of quotients at halved steps, whose error is a series in powers of ``step^order``.

    The best of the whole tableau, by the sum of what its neighbours differ by and of the noise.  Smaller
    steps must not lead away from it: they know of a bump that large steps leap over.
    """
    best: Estimate | None = None
    row: list[Sample] = []
    for level, sample in enumerate(samples):
        if sample is None:
            row = []
            continue
        before, row = row[:DEPTH], [sample]
        for depth, above in enumerate(before):
            factor = 2.0 ** (order * (depth + 1))
            near = row[depth]
            value = near.value + (near.value - above.value) / (factor - 1)
            noise = (factor * near.noise + above.noise) / (factor - 1)
            row.append(Sample(value, noise))
            left = max(abs(value - near.value), abs(value - above.value))
            error = left + noise + math.ulp(value)
            if (best is None or error < best.error) and not led_away(
                samples[level + 1 :], value, abs(sample.value - value) + error
            ):
                best = Estimate(value, error)
    return best


def led_away(smaller: Sequence[Sample | None], value: float, error: float) -> bool:
    """Whether quotients at smaller steps are farther from a value than their noise explains."""
    return any(s is not None and abs(s.value - value) > error + s.noise for s in smaller)


def moved_errors(graph: Graph, values: Sequence[float], moved: Sequence[int]) -> list[float]:
    """What rounding may have done to each node's data, if it is only the nodes ``moved`` that are rounded.

    A node's own error is its row's; those of its operands are passed on by moving each operand as far as it
    may be off (or a little farther, so that the answer moves at all) and looking at the result.
    """
    errors = [0.0] * len(graph)
    for node in moved:
        kind, operands = graph.kinds[node], graph.operands[node]
        if kind in (INPUT, CONST):
            continue
        op, value = BY_NAME[kind], values[node]
        if not math.isfinite(value):
            errors[node] = math.inf
            continue
        error = max(op.value_ulp * math.ulp(value), op.value_abs)
        given = [values[operand] for operand in operands]
        for operand in set(operands):
            if errors[operand]:
                places = [place for place, other in enumerate(operands) if other == operand]
                error += passed_on(functions[kind], given, places, value, errors[operand])
        errors[node] = error
    return errors


def passed_on(
    function: Callable[..., float],
    given: Sequence[float],
    places: Sequence[int],
    value: float,
    error: float,
) -> float:
    """How far a result may move if an operand, at some places, is off by as much as ``error``."""
    x = given[places[0]]
    if not math.isfinite(error):
        tried = [math.nan if place in places else other for place, other in enumerate(given)]
        return 0.0 if function(*tried) == value else math.inf
    by = max(error, abs(x) * 2.0**-26)
    farthest = 0.0
    for moved in (x - by, x + by):
        tried = list(given)
        for place in places:
            tried[place] = moved
        change = abs(function(*tried) - value)
        if math.isfinite(change):
            farthest = max(farthest, change)
    return farthest * (error / by)
