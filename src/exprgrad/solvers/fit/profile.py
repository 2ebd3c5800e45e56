"""Intervals from the profile of the sum of squares: a parameter is held off its estimate, others fitted."""

from __future__ import annotations

from collections.abc import Callable
from math import inf, sqrt
from typing import Any, NamedTuple

from exprgrad.solvers.fit.least_squares import Minimum, descended, polished
from exprgrad.solvers.fit.problem import Problem

__all__ = ["Profile", "profile"]

WIDENINGS = 30
"""How often an interval is doubled before it is said to have no end."""
TRIALS = 40
"""The most points on the way to an end."""
REFITTING = 30
"""The most points at which the others are fitted again, for each of them."""
MET = 1e-9
"""An end is found where the profile is so near its height, relatively."""
LOWER = 1e-9
"""By so much, relatively, a sum of squares has to be less to be of another minimum."""


class Profile(NamedTuple):
    """A parameter's interval; ``lower`` is where the sum of squares is less than at the estimates."""

    interval: tuple[float, float]
    lower: float | None = None


def profile(
    problem: Problem,
    minimum: Minimum,
    position: int,
    free: Any,
    height: float,
    width: float,
    limits: tuple[Any, Any],
) -> Profile:
    """Where the root of what the cost rises by, twice, meets ``height``: to both sides of a parameter.

    ``width`` is how far that would be if the model were linear; ``free`` are the parameters that are not
    held already; ``limits`` are their bounds.  An end is infinite where the profile never rises so high.
    Source: D. M. Bates and D. G. Watts, Nonlinear Regression Analysis (1988), section 6.1.
    """
    others = free.copy()
    others[position] = False
    lower: list[float] = []
    center = float(minimum.point[position])

    def side(sign: float) -> float:
        here = minimum

        def rise(off: float) -> float:
            """How high the profile is, so far off the estimate."""
            nonlocal here
            point = here.point.copy()
            point[position] = center + sign * off
            found = refitted(problem, point, others, limits)
            if found is None:
                return inf
            here = found
            gain = 2 * (found.linearized.cost - minimum.linearized.cost)
            if gain < -LOWER * minimum.linearized.cost:
                lower.append(float(point[position]))
            return sqrt(max(gain, 0.0))

        bound = float(limits[sign > 0][position])
        return center + sign * end(rise, height, width, abs(bound - center))

    interval = side(-1.0), side(1.0)
    return Profile(interval, lower[0] if lower else None)


def refitted(problem: Problem, point: Any, free: Any, limits: tuple[Any, Any]) -> Minimum | None:
    """The minimum over the parameters that are free, from a point; None where that has no value."""
    here = problem.linearized(point)
    if here is None:
        return None
    minimum = Minimum(point, here, 1)
    if not free.any():
        return minimum
    return polished(
        problem, descended(problem, point, *limits, free=free, tolerance=1e-8, most=REFITTING), free
    )


def end(rise: Callable[[float], float], height: float, width: float, most: float) -> float:
    """How far off a function that rises from 0 at 0 meets a height; ``most`` at most, or infinity.

    The interval is doubled, and then narrowed by the Illinois rule: G. Dahlquist and Å. Björck, Numerical
    Methods (1974), section 6.4.
    """
    low, below, high, above = 0.0, -height, min(width, most), 0.0
    for _ in range(WIDENINGS):
        above = rise(high) - height
        if above >= 0:
            break
        if high >= most:
            return most
        low, below, high = high, above, min(2 * high, most)
    else:
        return inf
    last = 0.0
    for _ in range(TRIALS):
        place = (low + high) / 2
        if above < inf:
            place = (low * above - high * below) / (above - below)
        off = rise(place) - height
        if abs(off) <= MET * height or not low < place < high:
            return place
        if off > 0:
            high, above = place, off
            below = below / 2 if last > 0 else below
        else:
            low, below = place, off
            above = above / 2 if last < 0 else above
        last = off
    return high
