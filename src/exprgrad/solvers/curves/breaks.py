"""Breaks and crossings of a curve: where they are, and the curve beside them.

The value or a derivative may change sign there, the curve may end, or differ from what
its derivative says: at a jump, a pole, a kink, or where it is only steep.  Brackets are halved down to
adjacent doubles.  The limits on both sides are then found by steps towards the point, in balls, so
that nothing cancels.  A curve whose slope grows as fast as the steps shrink has a pole.  A curve that
is only too steep for doubles differs from a jump in balls: over the whole bracket every operation has a
value, and none of them can jump.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from exprgrad.graph.graph import dependency_flags, dependent_flags
from exprgrad.run.balls.balls import is_known, may_jump
from exprgrad.solvers.curves.sampling import ORDERS, Jets, Samples

__all__ = [
    "BREAKS", "ENDS", "Brackets", "Break", "brackets_of_changes", "break_of_curve",
    "halve_brackets", "is_continuous", "simplest_number",
]  # fmt: skip

ENDS = ORDERS
"""The sort of a bracket in which a curve ends.  A lower sort is the order whose sign changes in it."""
BREAKS = ENDS + 1
"""The sort of a bracket in which the value does not follow the slope; in the next sort the slope does not
follow the second derivative."""
LEAST_BITS = np.int64(-(2**63))
HALVINGS = 66
"""The halvings that reduce any bracket to adjacent doubles."""


SHORT_DIGITS = 12
"""A double within a few ulps of a number with at most these digits counts as that number."""
NEAR_ULP = 4
"""The ulps that count as few."""
NEXT_TO_NOTHING = 1e-60
"""Points nearer to 0 than this part of the range count as 0: there quotients and derivatives overflow."""
OVERFLOWING = 1e300
"""A value above this on one side and infinite on the other is no pole: the doubles end there."""
APPROACH = (1e-2, 1e-5, 1e-8, 1e-11, 1e-14)
"""The steps towards a point, as parts of the free distance around it."""
LEAST_STEP = 2.0**10
"""The least step towards a point, in its ulps."""
STEADY = 0.9
"""A slope times its step that keeps this part of itself from step to step does not shrink."""
EQUAL = 1e-7
"""The relative distance below which two limits are equal."""
NEAR_ZERO = 1e-9
"""The least size to which that distance is relative."""
GONE = 1e-9
"""The part of a step's rise that remains where the limit is 0."""
PROOFS = 40
"""The most parts that a bracket is divided into to prove that a curve is continuous there."""


class Brackets(NamedTuple):
    """Brackets between ``low`` and ``high``, each of a ``sort``; ``first`` are the original brackets.

    ``least`` and ``most`` are the jets at both ends.
    """

    low: Any
    high: Any
    least: Any
    most: Any
    sort: Any
    first: Any


def brackets_of_changes(samples: Samples, sort: int, places: Any) -> Brackets:
    """Return brackets of a sort after some of the samples' points."""
    x, jets = samples
    low, high = x[places], x[places + 1]
    kind = np.full(len(places), sort)
    return Brackets(low, high, jets[:, places], jets[:, places + 1], kind, np.stack([low, high]))


def middle_double(low: Any, high: Any) -> Any:
    """Return the middle double, counted in doubles, so that 64 halvings are enough for any bracket.

    Their bits count negative doubles backwards, and are turned around for it.
    """
    bits = np.array([low, high], dtype=float).view(np.int64)
    first, last = np.where(bits < 0, LEAST_BITS - bits, bits)
    middle = (first >> 1) + (last >> 1) + (first & last & 1)
    return np.where(middle < 0, LEAST_BITS - middle, middle).view(float)


def slope_mismatch(x0: Any, x1: Any, jets0: Any, jets1: Any, order: Any) -> Any:
    """Return how far a curve's rise is from that of its slopes; infinite where unknown."""
    at = np.arange(len(x0))
    rise = jets1[order, at] - jets0[order, at]
    said = (x1 - x0) * (jets0[order + 1, at] / 2 + jets1[order + 1, at] / 2)
    found = np.abs(rise - said)
    return np.where(np.isnan(found), np.inf, found)


def halve_brackets(jets: Jets, brackets: Brackets) -> Brackets:
    """Halve the brackets to two adjacent doubles, or to one at a pole or a hole.

    Near 0 they end where points count as 0: searches for roots take ever more turns there.
    """
    low, high, least, most, sort, first = (part.copy() for part in brackets)
    nothing = NEXT_TO_NOTHING * (high - low)
    going = np.arange(len(low))
    for _ in range(HALVINGS):
        middle = middle_double(low[going], high[going])
        is_between = (middle > low[going]) & (middle < high[going])
        is_between &= high[going] - low[going] > nothing[going]
        going, middle = going[is_between], middle[is_between]
        if not len(going):
            break
        found = jets(middle)
        kind, count = sort[going], np.arange(len(going))
        order = np.where(kind >= BREAKS, kind - BREAKS, np.minimum(kind, ORDERS - 1))
        here, before = found[order, count], least[order, going]
        ends = kind == ENDS
        same = np.where(
            ends,
            np.isfinite(found[0]) == np.isfinite(least[0, going]),
            (here >= 0) == (before >= 0),
        )
        breaks = kind >= BREAKS
        if breaks.any():
            level = np.where(breaks, order, 0)
            left = slope_mismatch(low[going], middle, least[:, going], found, level)
            right = slope_mismatch(middle, high[going], found, most[:, going], level)
            same = np.where(breaks, right > left, same)
        hit = ~ends & ~np.isfinite(here)
        up, down = going[same & ~hit], going[~same & ~hit]
        low[up], least[:, up] = middle[same & ~hit], found[:, same & ~hit]
        high[down], most[:, down] = middle[~same & ~hit], found[:, ~same & ~hit]
        low[going[hit]] = high[going[hit]] = middle[hit]
        least[:, going[hit]] = most[:, going[hit]] = found[:, hit]
    return Brackets(low, high, least, most, sort, first)


# What a curve is like at a point.


class Break(NamedTuple):
    """A point where a curve is not smooth, and the limits of its jets.

    ``left``, ``right``  the limits on the two sides: infinite at a pole, nan where the curve is not defined
    ``value``            the formula's value at the point itself
    ``joined``           by order, whether it continues across the point
    """

    x: float
    left: tuple[float, ...]
    right: tuple[float, ...]
    value: float
    joined: tuple[bool, ...]

    @property
    def kind(self) -> str:
        """Its kind: ``pole``, ``edge``, ``jump``, ``hole``, ``kink``, ``cusp``, or empty for another.

        An edge is where the formula is defined on one side alone.
        """
        ends = self.left[0], self.right[0]
        if all(map(math.isnan, ends)) or OVERFLOWING < abs(self.value) < math.inf:
            return ""
        if math.inf in map(abs, ends):
            return "pole"
        if any(map(math.isnan, ends)):
            return "edge"
        if not self.joined[0]:
            return "jump"
        if math.isnan(self.value):
            return "hole"
        if self.joined[1]:
            return ""
        slopes = self.left[1], self.right[1]
        return (
            "kink" if all(map(math.isfinite, slopes)) else "cusp" if slopes[0] != slopes[1] else ""
        )


def simplest_number(x: float, span: float) -> float:
    """Return the number with few digits that a double probably means, if there is one next to it.

    ``span`` is the width of the range.
    """
    if abs(x) < NEXT_TO_NOTHING * span:
        return 0.0
    short = float(f"{x:.{SHORT_DIGITS}g}")
    return short if abs(short - x) <= NEAR_ULP * math.ulp(x) else x


def break_of_curve(
    jets: Jets,
    x: float,
    low: float,
    high: float,
    ends: Sequence[Sequence[float]],
    reach: float,
) -> Break:
    """Find the curve's break at a point between two adjacent doubles with the jets ``ends``.

    ``reach`` is the distance on both sides that is free of other events.
    """
    left, right = (
        one_sided_limits(jets, x, sign, reach, end) for sign, end in zip((-1, 1), ends, strict=True)
    )
    at = float(jets([x])[0, 0])
    true = jets.truly(x)[0]
    if math.isinf(at) and true.is_finite() and abs(float(true.mid())) == math.inf:
        at = math.copysign(sys.float_info.max, at)
    around = max(high - x, x - low, NEAR_ULP * math.ulp(x))
    joined = tuple(
        math.isfinite(one)
        and math.isfinite(other)
        and (
            abs(one - other) <= EQUAL * max(abs(one), abs(other), NEAR_ZERO)
            or is_continuous(jets, order, x, around)
        )
        for order, (one, other) in enumerate(zip(left, right, strict=True))
    )
    return Break(x, left, right, at, joined)


def one_sided_limits(
    jets: Jets, x: float, sign: int, reach: float, end: Sequence[float]
) -> tuple[float, ...]:
    """Return the limits of the jets on one side of a point; ``end`` are the jets in doubles there."""
    least = LEAST_STEP * math.ulp(x)
    steps = sorted({max(reach * part, least) for part in APPROACH}, reverse=True)
    moves = [sign * step for step in steps]
    orders = [*zip(*(jets.beside(x, move) for move in moves), strict=True)]
    answers = [
        extrapolate_limit(values, slopes, moves, last)
        for values, slopes, last in zip(orders, [*orders[1:], None], end, strict=True)
    ]
    if math.isnan(answers[0]):
        answers = [math.nan] * ORDERS
    return tuple(answers)


def extrapolate_limit(
    values: Sequence[float], slopes: Sequence[float] | None, steps: Sequence[float], end: float
) -> float:
    """Extrapolate values to their limit; ``end`` is the value in doubles."""
    *_, before, last = [values[0], *values]
    if not math.isfinite(last):
        return last
    if len(values) < 2:
        return end if math.isfinite(end) else last
    sizes = [*map(abs, values)][-3:]
    grows = len(sizes) == 3 and sizes[0] < sizes[1] < sizes[2]
    if slopes is None:
        grows &= all(2 * old < new for old, new in pairwise(sizes))
    else:
        moves = [abs(slope * step) for slope, step in zip(slopes, steps, strict=True)][-3:]
        grows &= all(0 < STEADY * old <= new for old, new in pairwise(moves))
        grows &= len({slope < 0 for slope in slopes[-3:]}) == 1
    if grows:
        return math.copysign(math.inf, last)
    if slopes is not None and abs(slopes[-1] - slopes[-2]) <= 0.01 * abs(slopes[-1]):
        rise = slopes[-1] * steps[-1]
        return 0.0 if abs(last - rise) <= GONE * abs(rise) else last - rise
    return end if abs(end - last) <= abs(last - before) else last


def is_continuous(jets: Jets, order: int, x: float, around: float, most: int = PROOFS) -> bool:
    """Whether the value or a derivative is provably continuous around a point, in ``most`` parts."""
    graph, output = jets.program.graph, jets.outputs[order]
    if output is None:
        return True
    needed = dependency_flags(graph, output)
    varying = dependent_flags(graph, [graph.inputs[jets.names[0]]])
    nodes = [n for n in range(len(graph)) if needed[n] and varying[n] and graph.operands[n]]
    parts, looked = [(0.0, around)], 0
    while parts:
        beside, half = parts.pop()
        if looked == most or half / 2 == 0:
            return False
        looked += 1
        values = jets.enclosed(x, half, beside)
        is_smooth = all(is_known(values[node]) for node in nodes)
        if not is_smooth or may_jump(graph, values, nodes, varying):
            parts += [(beside + half / 2, half / 2), (beside - half / 2, half / 2)]
    return True
