"""Newton's method from a start, in numbers of many digits, so that nothing overflows or cancels.

A step is taken as far as it makes the residuals smaller, as that step's own Jacobian weighs them (P.
Deuflhard, Newton Methods for Nonlinear Problems (2004), section 3.3).  Where steps shrink in a steady
ratio, as they do towards a root of higher multiplicity, they are made longer by the sum of what is left.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from exprgrad.run.balls.balls import Ball, ball
from exprgrad.solvers.roots.boxes import greatest, inverse, product_of
from exprgrad.solvers.roots.enclosures import exactly
from exprgrad.solvers.roots.system import Sight, Vector

__all__ = ["Arrival", "newton"]

MOST_TURNS = 200
LEAST_PART = 2.0**-40
"""The least part of a step that is tried."""
NEARLY = 2.0**-30
"""How short the last step has to be, compared with the point, for it to be close to a root."""


class Arrival(NamedTuple):
    """Where Newton's method ended: the point, and how long the last step was."""

    point: Vector
    step: Ball

    @property
    def is_close(self) -> bool:
        """Whether steps had become short."""
        return bool(self.step <= NEARLY * greatest(self.point))


def newton(sight: Sight, start: Vector) -> Arrival | None:
    """Newton's method; None where it leads out of the domain, or nowhere."""
    point, step, ratios = start, ball(1), list[float]()
    seen = sight.at(point)
    for turn in range(MOST_TURNS):
        if seen is None:
            return None
        residuals, slopes = seen
        y = inverse(slopes)
        if all(f.is_zero() for f in residuals):
            return Arrival(point, ball(0))
        if y is None:
            return None
        move = product_of(y, residuals)
        length, before = greatest(move), step
        if turn and before > 0:
            ratios.append(float(length / before))
        if is_steady(ratios):
            move = [x / (1 - ratios[-1]) for x in move]
            ratios = []
        step = length
        after = advanced(sight, point, move, y)
        if after is None:
            return Arrival(point, step)
        point, part = after
        ratios = ratios if part == 1 else []
        if step <= 2.0 ** -(sight.bits // 2) * greatest(point):
            return Arrival(point, step)
        seen = sight.at(point)
    return Arrival(point, step)


def is_steady(ratios: Sequence[float]) -> bool:
    """Whether the last steps shrank in one ratio, as they do towards a multiple root."""
    least, most = min(ratios[-3:], default=0), max(ratios[-3:], default=0)
    return len(ratios) > 2 and 0.3 < least and most < min(0.99, 1.02 * least)  # noqa: SIM300


def advanced(
    sight: Sight, point: Vector, move: Vector, y: Sequence[Sequence[Ball]]
) -> tuple[Vector, float] | None:
    """The next point, and the part of the step that leads there; None where no part of it helps."""
    part, length = 1.0, greatest(move)
    while part > LEAST_PART:
        there = [(x - part * dx).mid() for x, dx in zip(point, move, strict=True)]
        residuals = sight.residuals([exactly(x) for x in there])
        if all(f.is_finite for f in residuals):
            left = greatest(product_of(y, [f.ball.mid() for f in residuals]))
            if left <= (1 - part / 4) * length:
                return there, part
        part /= 2
    return None
