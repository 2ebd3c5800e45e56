"""The least sum of squares from a start: SciPy's trust region, then steps of our own to the last digit.

The trust region (SciPy's ``least_squares``, method ``trf``: M. A. Branch, T. F. Coleman and Y. Li, 1999) is
given the triangle of the exact Jacobian, which is the same problem to it.  Where it stops, exact Newton
steps, or those of Gauss and Newton, go on until they stop shrinking: the estimates are then as good as
the residuals can be computed.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from exprgrad.errors import extra
from exprgrad.solvers.fit.problem import Linearized, Problem

__all__ = ["NEED", "Minimum", "by_lengths", "descended", "polished", "strictly_inside"]

NEED = "fits need SciPy"
FINE = 1e-15
"""To what relative changes the trust region goes on."""
POINTS = 1000
"""The most points that it tries, for each parameter."""
MOST_POLISHING = 100
"""The most steps of the polish."""
SHRINKS = 0.5
"""A step of the polish is to be shorter than so many of the one before it, or it is one of the last."""
AS_GOOD_AS_0 = 1e-6
"""A parameter is as good as 0 below this share of what would explain all residuals."""
SLACK = 1e-9
"""By so much, relatively, a cost may rise in a step of the polish, for all that rounding does."""
SECOND_ORDER = 24
"""Up to so many parameters second derivatives are formed."""


class Minimum(NamedTuple):
    """Where the search ended: the point, the residuals about it, and how many points it took.

    ``step`` is the next step from there.  ``curvature`` are the eigenvalues of what the Hessian has beyond
    J'J, in units of J'J; None where it is not known.  ``exhausted`` says that no more points were tried.
    """

    point: Any
    linearized: Linearized
    passes: int
    step: Any = None
    curvature: Any = None
    exhausted: bool = False


def descended(
    problem: Problem,
    start: Any,
    low: Any,
    high: Any,
    *,
    free: Any = None,
    tolerance: float = FINE,
    most: int = POINTS,
) -> Minimum:
    """Where the trust region stops, from a start within the bounds at which all is finite.

    Only the parameters that are ``free`` move, all by default; ``most`` points are tried for each.  Raises
    ``MissingExtraError`` without SciPy.
    """
    free = np.ones(len(start), dtype=bool) if free is None else free
    optimize = extra("scipy.optimize", NEED)

    def whole(part: Any) -> Any:
        """All parameters, given those that are free."""
        found = start.copy()
        found[free] = part
        return found

    @lru_cache(maxsize=1)  # residuals and Jacobian are asked for one after the other
    def about(part: bytes) -> Linearized | None:
        return problem.linearized(whole(np.frombuffer(part)))

    def residuals(part: Any) -> Any:
        """q and the rest; nan where something is not finite, which a trust region turns back from."""
        found = about(part.tobytes())
        return np.full(len(start) + 1, np.nan) if found is None else np.append(found.q, found.rest)

    def jacobian(part: Any) -> Any:
        """R above a row of zeros."""
        found = about(part.tobytes())
        assert found is not None
        return np.vstack([found.factor[:, free], np.zeros(np.count_nonzero(free))])

    first = strictly_inside(start[free], low[free], high[free])
    with np.errstate(all="ignore"):
        end = optimize.least_squares(
            residuals, first, jacobian, (low[free], high[free]), "trf",
            ftol=tolerance, xtol=tolerance, gtol=tolerance, x_scale="jac", max_nfev=most * len(first),
        )  # fmt: skip
        here = about(end.x.tobytes())
    assert here is not None
    passes = about.cache_info().misses
    return Minimum(whole(end.x), here, passes, exhausted=end.status == 0)


def strictly_inside(start: Any, low: Any, high: Any) -> Any:
    """A start strictly within its bounds, which a trust region wants."""
    room = np.minimum(high - low, np.maximum(np.abs(start), 1.0)) * 1e-8
    return np.clip(start, low + room, high - room)


def polished(problem: Problem, minimum: Minimum, free: Any) -> Minimum:
    """The minimum to the last digit; only the parameters that are ``free`` move."""
    point, here, passes = minimum.point, minimum.linearized, minimum.passes
    best, shortest, last = minimum, np.inf, np.inf
    for _ in range(MOST_POLISHING):
        step, curvature = next_step(problem, point, here, free)
        length = relative(step, point, here)
        if length < shortest or best.step is None:
            best, shortest = Minimum(point, here, passes, step, curvature), length
        if length == 0 or not length < SHRINKS * last:
            break
        ahead = problem.linearized(point + step)
        passes += 1
        if ahead is None or ahead.cost > here.cost * (1 + SLACK):
            break
        point, here, last = point + step, ahead, length
    return best._replace(passes=passes, exhausted=minimum.exhausted)


def relative(step: Any, point: Any, here: Linearized) -> float:
    """The length of a step, by the parameter that it changes most, relative to each.

    A parameter may be 0, or as good as that beside what the residuals leave open: that is its size then.
    """
    columns = np.sqrt(np.sum(here.factor**2, axis=0))
    with np.errstate(all="ignore"):
        open = np.where(columns > 0, AS_GOOD_AS_0 * here.rest / columns, 0.0)
    size = np.maximum(np.maximum(np.abs(point), open), np.finfo(float).tiny)
    return float(np.max(np.abs(step) / size, initial=0.0))


def by_lengths(factor: Any) -> tuple[Any, Any, Any, Any]:
    """A triangle with columns of length 1 by singular values, and the lengths that the columns had.

    The product of the first three, by the lengths, is the triangle.
    """
    lengths = np.sqrt(np.sum(factor**2, axis=0))
    lengths[lengths == 0] = 1.0
    return *np.linalg.svd(factor / lengths), lengths


def next_step(problem: Problem, point: Any, here: Linearized, free: Any) -> tuple[Any, Any]:
    """Newton's step, or that of Gauss and Newton where the Hessian is not to be had or not positive.

    With it come the eigenvalues of the curvature, in units of J'J.
    """
    chosen = np.flatnonzero(free)
    u, s, vt, lengths = by_lengths(here.factor[:, chosen])
    rank = int(np.count_nonzero(s > s[0] * len(s) * np.finfo(float).eps)) if len(s) else 0
    back = vt[:rank].T / s[:rank]  # from the singular directions to the parameters
    ahead = -(u[:, :rank].T @ here.q)
    eigenvalues = None
    if 0 < rank == len(chosen) <= SECOND_ORDER:
        bent = problem.curvature(point)[np.ix_(chosen, chosen)] / np.outer(lengths, lengths)
        bent = back.T @ bent @ back
        if np.isfinite(bent).all():
            eigenvalues, basis = np.linalg.eigh((bent + bent.T) / 2)
            if eigenvalues[0] > -1:
                ahead = basis @ ((basis.T @ ahead) / (1 + eigenvalues))
    step = np.zeros(len(point))
    step[chosen] = (back @ ahead) / lengths
    return step, eigenvalues
