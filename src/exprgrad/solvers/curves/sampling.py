"""Where to look at a curve: closely where it bends, and nowhere more closely than a picture shows.

Between two points a curve with these values and slopes is the cubic of Hermite, which is apart from the
chord by at most 4/27 of what the slopes say more than the chord.  Where that would be seen, there is
another point.  The first points are uneven, so that a curve with a period does not look flat.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from exprgrad.solvers.curves.jets import Jets

__all__ = [
    "FINEST",
    "Samples",
    "gaps",
    "merged",
    "odd",
    "overlapping",
    "rough",
    "sampled",
    "spread",
    "window",
]

FIRST_POINTS = 512
"""How many points are looked at first."""
FINEST = 2.0**-13
"""The least distance of two points, where nothing is searched for: a part of the range."""
ROUNDS = 64
"""How often parts are halved at most."""
MOST = 20_000
"""The most points of a curve."""
SEEN = 1 / 1500
"""What is seen of a deviation: a part of the picture's height."""
RUNAWAY, RARE = 5.0, 0.05
"""What runs off so many times as far as the curve goes but for this part at each end is left out."""
OUTER, REACH = 0.2, 1.6
"""The part at each end that does not count where a curve runs off, and how far the rest is exceeded."""
UNSEEN_RISE = 1e-7
"""A rise by less than this part of the picture's height does not matter."""
GOLDEN = (math.sqrt(5) - 1) / 2


class Samples(NamedTuple):
    """Points of a curve from left to right: ``x``, and their ``jets``, an array of shape (3, points)."""

    x: Any
    jets: Any


def spread(low: float, high: float) -> Any:
    """The first points: the ends, and one at an uneven place in each of as many parts of equal width."""
    part = (
        np.arange(FIRST_POINTS) + 0.25 + 0.5 * ((np.arange(FIRST_POINTS) * GOLDEN) % 1.0)
    ) / FIRST_POINTS
    inner = low * (1 - part) + high * part
    return np.unique(np.concatenate([[low], inner[(inner > low) & (inner < high)], [high]]))


def merged(jets: Jets, samples: Samples, more: Any) -> Samples:
    """The samples with some more points, in order."""
    new = np.setdiff1d(more, samples.x)
    x, found = np.concatenate([samples.x, new]), np.hstack([samples.jets, jets(new)])
    order = np.argsort(x, kind="stable")
    return Samples(x[order], found[:, order])


def window(
    values: Any, kept: Sequence[float] = (), *, runs_off: bool = True
) -> tuple[float, float]:
    """The values that a picture shows, of a curve looked at evenly, and those in ``kept`` if it can.

    Where a few run off, as to a pole, they would squash all others: then it is what most values are, and
    some more on both sides.  ``runs_off`` says whether what is ``kept`` may run off, too.
    """
    finite = values[np.isfinite(values)]
    if not len(finite):
        return -1.0, 1.0
    low, high = min([float(finite.min()), *kept]), max([float(finite.max()), *kept])
    first, last, least, most = np.quantile(finite, [OUTER, 1 - OUTER, RARE, 1 - RARE]).tolist()
    if not high - low > RUNAWAY * (most - least):
        return low, high
    reach = REACH * (last - first)
    if runs_off:
        kept = [x for x in kept if first - 3 * reach < x < last + 3 * reach]
    return max(low, min([first - reach, *kept])), min(high, max([last + reach, *kept]))


def gaps(samples: Samples) -> Any:
    """The distance of each point to the next."""
    return np.diff(samples.x)


def rough(samples: Samples, order: int, bounds: tuple[float, float]) -> Any:
    """Which parts between two points are seen to be no chord, of the value or a derivative, by ``order``.

    That a curve ends inside of a part counts, and what is out of the window's ``bounds`` does not.
    """
    low, high = bounds
    value, slope = samples.jets[order], samples.jets[order + 1]
    width = gaps(samples)
    with np.errstate(all="ignore"):
        rise = np.diff(value)
        apart = np.abs(slope[:-1] * width - rise) + np.abs(slope[1:] * width - rise)
        bent = ~(apart * (4 / 27) <= SEEN * (high - low) + 4e-16 * (abs(low) + abs(high)))
    is_finite = np.isfinite(value)
    ends = is_finite[:-1] != is_finite[1:]
    above, below = value > high, value < low
    beyond = (above[:-1] & above[1:]) | (below[:-1] & below[1:])
    return ends | (bent & is_finite[:-1] & is_finite[1:] & ~beyond)


def odd(samples: Samples, order: int, height: float) -> Any:
    """Which parts rise by more or less than any slope between those at their ends would make them.

    Where the slope is monotone the mean value theorem forbids that, though it may be too little to be seen.
    """
    value, slope = samples.jets[order], samples.jets[order + 1]
    with np.errstate(all="ignore"):
        rise, width = np.diff(value), gaps(samples)
        sides = width * slope[:-1], width * slope[1:]
        beyond = np.maximum(rise - np.maximum(*sides), np.minimum(*sides) - rise)
        return beyond > UNSEEN_RISE * height + 1e-12 * np.abs(value[:-1])


def sampled(
    jets: Jets,
    samples: Samples,
    bounds: Sequence[tuple[float, float]],
    steep: Sequence[tuple[float, float]] = (),
) -> Samples:
    """The samples with as many more as the curve needs, and its slope if there are bounds for two.

    In the parts that are known to be ``steep`` there is no least distance of two points.
    """
    finest = FINEST * (samples.x[-1] - samples.x[0])
    for _ in range(ROUNDS):
        bent = rough(samples, 0, bounds[0])
        for order, bound in enumerate(bounds[1:], 1):
            bent |= rough(samples, order, bound) & (gaps(samples) > finest)
        left, right = samples.x[:-1], samples.x[1:]
        bent &= (gaps(samples) > finest) | overlapping(left, right, steep)
        middle = (left + (right - left) / 2)[bent]
        middle = middle[(middle > left[bent]) & (middle < right[bent])]
        if not len(middle) or len(samples.x) + len(middle) > MOST:
            break
        samples = merged(jets, samples, middle)
    return samples


def overlapping(low: Any, high: Any, parts: Sequence[tuple[float, float]]) -> Any:
    """Which of some intervals overlap with one of the parts."""
    found = np.zeros(len(low), dtype=bool)
    for start, stop in parts:
        found |= (high > start) & (low < stop)
    return found
