"""Where something happens to a curve: places between two points, halved down to adjacent doubles.

What happens is that the value or a derivative changes sign, that the curve ends, or that it is not what
its derivative says: at a jump, a pole, a kink, or where it is only steep.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from exprgrad.solvers.curves.jets import ORDERS, Jets
from exprgrad.solvers.curves.sampling import Samples, merged

__all__ = ["BREAKS", "ENDS", "Brackets", "assembled", "beside_turns", "changes", "halved", "unlike"]

ENDS = ORDERS
"""The sort of a bracket in which a curve ends; those below are the order whose sign changes in it."""
BREAKS = ENDS + 1
"""The sort of a bracket in which the value is not what the slope says; one more, the slope itself."""
HALVINGS = 66
"""So many halvings end every bracket of doubles."""


class Brackets(NamedTuple):
    """Places between ``low`` and ``high``, of some ``sort`` each; ``first`` is where they were at first.

    ``least`` and ``most`` are the jets at both ends.
    """

    low: Any
    high: Any
    least: Any
    most: Any
    sort: Any
    first: Any


def changes(samples: Samples, sort: int, places: Any) -> Brackets:
    """Brackets of a sort behind some of the samples' points."""
    x, jets = samples
    low, high = x[places], x[places + 1]
    kind = np.full(len(places), sort)
    return Brackets(low, high, jets[:, places], jets[:, places + 1], kind, np.stack([low, high]))


def beside_turns(jets: Jets, samples: Samples, order: int, turns: list[float]) -> Brackets:
    """Brackets beside points where the curve turns between two samples, and where the sign changes there.

    ``order`` is that of the derivative, 0 for the value, whose sign is meant.
    """
    x, found = merged(jets, samples, np.array(turns))
    is_turn = np.isin(x, np.setdiff1d(turns, samples.x))
    sides, finite = found[order] >= 0, np.isfinite(found[order])
    crossed = (sides[:-1] != sides[1:]) & finite[:-1] & finite[1:] & (is_turn[:-1] | is_turn[1:])
    return changes(Samples(x, found), order, np.nonzero(crossed)[0])


def assembled(several: list[Brackets]) -> Brackets:
    """Several brackets as one."""
    return Brackets(*(np.concatenate(parts, axis=-1) for parts in zip(*several, strict=True)))


def ordinal(x: Any) -> Any:
    """Doubles as whole numbers in the same order, without gaps."""
    bits = np.ascontiguousarray(x, dtype=float).view(np.int64)
    return np.where(bits < 0, np.int64(-(2**63)) - bits, bits)


def halfway(low: Any, high: Any) -> Any:
    """The double in the middle, counted in doubles, so that 64 halvings are enough for every bracket."""
    first, last = ordinal(low), ordinal(high)
    middle = (first >> 1) + (last >> 1) + (first & last & 1)
    return np.where(middle < 0, np.int64(-(2**63)) - middle, middle).view(float)


def unlike(x0: Any, x1: Any, jets0: Any, jets1: Any, order: Any) -> Any:
    """How far a curve's rise is from what its slopes say; infinite where it cannot be told."""
    at = np.arange(len(x0))
    with np.errstate(all="ignore"):
        rise = jets1[order, at] - jets0[order, at]
        said = (x1 - x0) * (jets0[order + 1, at] / 2 + jets1[order + 1, at] / 2)
        found = np.abs(rise - said)
    return np.where(np.isnan(found), np.inf, found)


def halved(jets: Jets, brackets: Brackets) -> Brackets:
    """The brackets narrowed to two adjacent doubles, or to one where a pole or a hole is met."""
    low, high, least, most, sort, first = (part.copy() for part in brackets)
    going = np.arange(len(low))
    for _ in range(HALVINGS):
        middle = halfway(low[going], high[going])
        going, middle = (
            part[(middle > low[going]) & (middle < high[going])] for part in (going, middle)
        )
        if not len(going):
            break
        found = jets(middle)
        kind, count = sort[going], np.arange(len(going))
        order = np.where(kind >= BREAKS, kind - BREAKS, np.minimum(kind, ORDERS - 1))
        here, before = found[order, count], least[order, going]
        ends = kind == ENDS
        value = np.where(ends, found[0], here)
        same = np.where(
            ends,
            np.isfinite(found[0]) == np.isfinite(least[0, going]),
            (here >= 0) == (before >= 0),
        )
        breaks = kind >= BREAKS
        if breaks.any():
            level = np.where(breaks, order, 0)
            left = unlike(low[going], middle, least[:, going], found, level)
            right = unlike(middle, high[going], found, most[:, going], level)
            same = np.where(breaks, right > left, same)
        hit = ~ends & ~np.isfinite(value)
        up, down = going[same & ~hit], going[~same & ~hit]
        low[up], least[:, up] = middle[same & ~hit], found[:, same & ~hit]
        high[down], most[:, down] = middle[~same & ~hit], found[:, ~same & ~hit]
        low[going[hit]] = high[going[hit]] = middle[hit]
        least[:, going[hit]] = most[:, going[hit]] = found[:, hit]
    return Brackets(low, high, least, most, sort, first)
