"""Newton's last steps, to the last digit: one loop for minima, constraints, fits and roots.

Near a solution values are too coarse to be compared, and Newton's steps are not: each is shorter than the
one before until rounding is all that is left of it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf
from typing import Any, NamedTuple

__all__ = ["NewtonStage", "is_shorter", "polish_point"]


class NewtonStage(NamedTuple):
    """A point on the way, Newton's step from there, and the step's length; None where there is no step."""

    point: Any
    step: Any = None
    length: Any = inf


def is_shorter(before: NewtonStage, after: NewtonStage) -> bool:
    """Whether the step from a point is shorter than the one that led there."""
    return bool(after.length < before.length)


def polish_point(
    first: NewtonStage,
    follow: Callable[[Sequence[NewtonStage]], NewtonStage | None],
    most: int,
    is_kept: Callable[[NewtonStage, NewtonStage], bool] = is_shorter,
    goes_on: Callable[[NewtonStage, NewtonStage], bool] = is_shorter,
) -> list[NewtonStage]:
    """Take Newton's steps until they stop shrinking, at most ``most``; return the points on the way.

    ``follow`` takes the step from the last stage; None where there is none.  The next stage is
    compared with the last: ``is_kept`` says whether to keep it, ``goes_on`` whether to go on.
    """
    stages = [first]
    for _ in range(most):
        after = None if stages[-1].step is None else follow(stages)
        if after is None or not is_kept(stages[-1], after):
            break
        stages.append(after)
        if not goes_on(*stages[-2:]):
            break
    return stages
