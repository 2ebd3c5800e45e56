"""Where to look at a curve: closely where it bends, and nowhere more closely than a picture shows.

Between two points a curve with these values and slopes is the cubic of Hermite, which is apart from the
chord by at most 4/27 of what the slopes say more than the chord.  Where that would be seen, there is
another point.  The first points are uneven, so that a curve with a period does not look flat.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from exprgrad.solvers.curves.jets import Jets

__all__ = ["FIRST", "Samples", "gaps", "merged", "rough", "sampled", "window"]

FIRST = 512
"""How many points are looked at first."""
FINEST = 2.0**-13
"""The least distance of two points, where nothing is searched for: a part of the range."""
ROUNDS = 12
MOST = 20_000
"""The most points of a curve."""
SEEN = 1 / 1500
"""What is seen of a deviation: a part of the picture's height."""
FAR = 30.0
"""Where the highest is so many times as far off as most of the curve, the picture leaves it out."""
OUTER, REACH = 0.2, 1.6
"""The part of a curve at each end that does not count where it runs off, and how far beyond the rest is shown."""
GOLDEN = (math.sqrt(5) - 1) / 2


class Samples(NamedTuple):
    """Points of a curve from left to right: ``x``, and their ``jets``, an array of shape (3, points)."""

    x: Any
    jets: Any


def spread(low: float, high: float) -> Any:
    """The first points: the ends, and one at an uneven place in each of as many parts of equal width."""
    part = (np.arange(FIRST) + 0.25 + 0.5 * ((np.arange(FIRST) * GOLDEN) % 1.0)) / FIRST
    inner = low * (1 - part) + high * part
    return np.unique(np.concatenate([[low], inner[(inner > low) & (inner < high)], [high]]))


def merged(jets: Jets, samples: Samples, more: Any) -> Samples:
    """The samples with some more points, in order."""
    new = np.setdiff1d(more, samples.x)
    x, found = np.concatenate([samples.x, new]), np.hstack([samples.jets, jets(new)])
    order = np.argsort(x, kind="stable")
    return Samples(x[order], found[:, order])


def window(values: Any, kept: Any = ()) -> tuple[float, float]:
    """The values that a picture shows, of a curve looked at evenly; those in ``kept`` are shown if they can be.

    Where a few run off to a pole they would squash all others: then it is what most values are, and some
    more on both sides.
    """
    finite = values[np.isfinite(values)]
    kept = np.array([value for value in kept if math.isfinite(value)])
    if not len(finite):
        return -1.0, 1.0
    low, high = float(finite.min()), float(finite.max())
    first, last = np.quantile(finite, [OUTER, 1 - OUTER])
    reach = REACH * (last - first)
    most = np.quantile(finite, [0.05, 0.95])
    far = FAR * max(float(most[1] - most[0]), float(last - first))
    if math.isfinite(far) and (high - low > far / 6):
        inner = kept[(kept > first - 3 * reach) & (kept < last + 3 * reach)]
        low = max(low, min([first - reach, *inner.tolist()]))
        high = min(high, max([last + reach, *inner.tolist()]))
    else:
        inner = kept
        low, high = float(min([low, *inner])), float(max([high, *inner]))
    return low, high


def gaps(samples: Samples) -> Any:
    """The distance of each point to the next."""
    return np.diff(samples.x)


def rough(samples: Samples, order: int, bounds: tuple[float, float]) -> Any:
    """Which parts between two points are seen to be no chord; ``order`` is 0 for the value, 1 for the slope.

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


def sampled(jets: Jets, samples: Samples, bounds: list[tuple[float, float]]) -> Samples:
    """The samples with as many more as the curve needs, and its slope if there are bounds for two."""
    finest = FINEST * (samples.x[-1] - samples.x[0])
    for _ in range(ROUNDS):
        wanted = gaps(samples) > finest
        bent = np.zeros(len(wanted), dtype=bool)
        for order, bound in enumerate(bounds):
            bent |= rough(samples, order, bound)
        places = np.nonzero(wanted & bent)[0]
        if not len(places) or len(samples.x) + len(places) > MOST:
            break
        left, right = samples.x[places], samples.x[places + 1]
        samples = merged(jets, samples, left + (right - left) / 2)
    return samples
