"""The uncertainty of estimates: standard errors, undetermined directions, right digits, and intervals.

Intervals follow from standard errors, or from the profile of the sum of squares: a parameter is held
off its estimate, and the others are fitted.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from math import inf, isfinite, nan, sqrt
from typing import Any, NamedTuple

import numpy as np

from exprgrad.derive.error_rules import UNIT
from exprgrad.errors import import_extra
from exprgrad.solvers.fit.least_squares import (
    LOSSES,
    NEED,
    LeastSquaresEnd,
    LeastSquaresProblem,
    Linearized,
    by_lengths,
    descend_residuals,
    polish_fit,
    stack_triangle,
)

__all__ = [
    "EstimateSpread", "correlation_of", "interval_quantile", "normalize_direction", "profile_bounds",
    "rounding_of_estimates", "spread_by_hessian", "spread_of", "variation_of",
]  # fmt: skip

DEGENERATE = 1e-14
"""A direction is lost in rounding if its singular value is below this share of the largest."""
INVOLVED = 1e-3
"""A parameter is undetermined if it has at least this share in a lost direction."""
NO_EFFECT = 1e-30
"""A parameter whose doubling moves residuals by less than this share of them has no effect."""
SINGULAR = 1e-12
"""``DEGENERATE`` for the eigenvalues of a Hessian whose diagonal is 1."""
MIXED = 1e-4
"""``INVOLVED`` for the eigenvectors of such a Hessian."""
OUTER = 8 * np.finfo(float).eps
"""The error of the triangle itself, relative to its rows."""
WIDENINGS = 30
"""The doublings of an interval before it counts as endless."""
REFITTING = 30
"""The most points of each refit of the other parameters."""
MET = 1e-9
"""The relative tolerance of the profile's height at an interval's end."""
LOWER = 1e-9
"""How much lower, relatively, a sum of squares must be to belong to another minimum."""


class EstimateSpread(NamedTuple):
    """The spread of estimates, for residuals of standard deviation 1, by parameter.

    ``inverse``      of J'J, or of a Hessian
    ``covariance``   likewise; for losses, residuals are weighted
    ``condition``    of the Jacobian with columns of length 1, or of the Hessian with a diagonal of 1
    ``open``         the directions that the data do not determine
    ``basis``        of a Jacobian, the directions in which q affects them
    """

    inverse: Any
    covariance: Any
    rank: int
    condition: float
    open: list[Any]
    basis: Any = None

    @property
    def errors(self) -> Any:
        """The standard errors; nan for undetermined parameters."""
        variances = np.diag(self.covariance)
        found = np.sqrt(np.where(variances > 0, variances, nan))
        for direction in self.open:
            found[direction != 0] = nan
        return found


def spread_of(
    problem: LeastSquaresProblem, point: Any, here: Linearized, chosen: Any
) -> EstimateSpread:
    """Return the spread of the ``chosen`` estimates, by position, the others being held.

    It is found from singular values of the triangle with columns of length 1, and never from J'J, in which
    half of the digits are lost.  Source: G. H. Golub and C. F. Van Loan, Matrix Computations (2013), 5.3.
    """
    factor = here.factor[:, chosen]
    count = len(chosen)
    sizes = np.where(point[chosen] == 0, 1.0, np.abs(point[chosen]))
    felt = np.abs(factor).max(axis=0, initial=0.0) * sizes
    acts = np.flatnonzero(felt > NO_EFFECT * np.hypot(here.rest, np.linalg.norm(here.q)))
    u, s, vt, lengths = by_lengths(factor[:, acts])
    rank = int(np.count_nonzero(s > DEGENERATE * s[0])) if len(s) else 0
    idle = np.delete(np.eye(count), acts, axis=0)
    mixed = np.zeros((len(acts) - rank, count))
    mixed[:, acts] = np.where(np.abs(vt[rank:]) > INVOLVED, vt[rank:], 0.0) / lengths
    condition = float(s[0] / s[-1]) if rank == count > 0 else inf
    half = np.zeros((count, rank))
    half[acts] = (vt[:rank].T / s[:rank]) / lengths[:, None]
    inverse = covariance = half @ half.T
    if problem.loss:
        bent = half.T @ problem.curvature(point)[np.ix_(chosen, chosen)] @ half
        inverse = half @ np.linalg.pinv(np.eye(rank) + bent) @ half.T
        covariance = sandwich_covariance(problem, point, inverse, chosen)
    directions = [*map(normalize_direction, mixed), *idle]
    return EstimateSpread(inverse, covariance, rank, condition, directions, u[:, :rank])


def spread_by_hessian(hessian: Any) -> EstimateSpread:
    """Return the spread of estimates by the Hessian of a negative log-likelihood.

    Its diagonal is made 1 first, and it is inverted by its eigenvalues: where it is singular or negative it
    counts as open.
    """
    lengths = np.sqrt(np.abs(np.diag(hessian)))
    lengths[~(lengths > 0)] = 1.0
    if not len(lengths) or not np.isfinite(hessian).all():
        nothing = np.zeros_like(hessian)
        return EstimateSpread(nothing, nothing, 0, inf, [])
    values, basis = np.linalg.eigh(hessian / np.outer(lengths, lengths))
    good = values > SINGULAR * max(float(values[-1]), 0.0)
    half = basis[:, good] / np.sqrt(values[good]) / lengths[:, None]
    open = [np.where(np.abs(way) > MIXED, way, 0.0) / lengths for way in basis[:, ~good].T]
    rank = int(np.count_nonzero(good))
    condition = float(values[-1] / values[0]) if rank == len(values) else inf
    return EstimateSpread(half @ half.T, half @ half.T, rank, condition, open)


def correlation_of(spread: EstimateSpread) -> Any:
    """Return the correlation of the estimates; nan where one is undetermined."""
    errors = spread.errors
    found = np.clip(spread.covariance / np.outer(errors, errors), -1.0, 1.0)
    np.fill_diagonal(found, np.where(errors == errors, 1.0, nan))
    return found


def normalize_direction(way: Any) -> Any:
    """Scale a direction so that its greatest number is 1 or -1 and its first is positive."""
    first = way[np.flatnonzero(way)[0]]
    return way * (np.sign(first) / np.max(np.abs(way)))


def sandwich_covariance(problem: LeastSquaresProblem, point: Any, inverse: Any, chosen: Any) -> Any:
    """Return the covariance of estimates by a loss: the rows' gradients about the inverse Hessian.

    Source: P. J. Huber, Robust Statistics (1981), section 7.6.
    """
    triangle = np.zeros((len(chosen), len(chosen)))
    for block, (residual, *slopes, _) in problem.results(point):
        z = (block.scale * residual / problem.width) ** 2
        pull = block.scale**2 * residual * LOSSES[problem.loss].first(z)
        rows = np.column_stack(slopes)[:, chosen] * pull[:, None]
        triangle = stack_triangle(triangle, rows)
    half = inverse @ triangle.T
    return half @ half.T * (problem.rows / max(problem.rows - len(chosen), 1))


def interval_quantile(level: float, dof: float) -> float:
    """Return the standard errors from an estimate to its interval's ends: Student's t, normal for dof inf.

    Raises ``MissingExtraError`` without SciPy.
    """
    special = import_extra("scipy.special", NEED)
    half = 0.5 + level / 2
    return float(special.ndtri(half) if dof == inf else special.stdtrit(dof, half))


def variation_of(problem: LeastSquaresProblem, point: Any) -> tuple[float, float, float]:
    """Return the responses' sums of squares, weighted like residuals, about their mean and about 0.

    Also the sum of the logarithms of the rows' scales.
    """
    triangle, logarithms = np.zeros((2, 2)), 0.0
    for block, (*_, response) in problem.results(point):
        rows = np.column_stack([block.scale, block.scale * response])
        triangle = stack_triangle(triangle, rows)
        logarithms += float(np.sum(np.log(block.scale)))
    about_mean, mean = float(triangle[1, 1]) ** 2, float(triangle[0, 1]) ** 2
    return about_mean, logarithms, about_mean + mean


def rounding_of_estimates(
    problem: LeastSquaresProblem, point: Any, here: Linearized, spread: EstimateSpread, chosen: Any
) -> tuple[Any, float]:
    """Bound, for each ``chosen`` parameter, how far rounding moved its estimate, to first order.

    Also bound the relative error of standard errors.  Errors of the residuals reach the
    estimates through the inverse of J, those of its entries through that of J'J; responses are taken to be
    decimals that were rounded to doubles.  Source: Björck (1996), section 1.4.
    """
    direct, slanted, squares = (np.zeros(len(chosen)) for _ in range(3))
    rest = 0.0
    for block, (residual, *slopes, response), errors in problem.erring(point):
        scale = block.scale
        off = scale * (errors[0] + UNIT * np.abs(response))
        jacobian = np.column_stack(slopes)[:, chosen] * scale[:, None]
        direct += np.abs(jacobian @ spread.inverse).T @ off
        tilted = np.column_stack(errors[1:-1])[:, chosen] * scale[:, None]
        slanted += tilted.T @ np.abs(scale * residual)
        squares += np.sum(tilted**2, axis=0)
        rest += float(np.sum((scale * errors[0]) ** 2))
    lengths = np.sqrt(np.sum(here.factor[:, chosen] ** 2, axis=0))
    whole = np.hypot(here.rest, np.linalg.norm(here.q))
    found = direct + np.abs(spread.inverse) @ (slanted + OUTER * lengths * whole)
    part = float(np.sum(np.sqrt(squares * np.diag(spread.inverse))))
    part += sqrt(rest) / float(whole) if whole else 0.0
    return np.where(np.isfinite(found), found, inf), part if isfinite(part) else inf


# Profiles.


def profile_bounds(
    problem: LeastSquaresProblem,
    minimum: LeastSquaresEnd,
    position: int,
    free: Any,
    height: float,
    width: float,
    limits: tuple[Any, Any],
) -> tuple[tuple[float, float], float | None]:
    """Find where the square root of twice the cost's rise meets ``height``, on both sides of an estimate.

    ``width`` is the distance for a linear model; ``free`` are the parameters that are not
    held already; ``limits`` are their bounds.  An end is infinite where the profile never rises that high.
    With the interval comes a place where the sum of squares is less than at the estimates, if there is one.
    Source: D. M. Bates and D. G. Watts, Nonlinear Regression Analysis (1988), section 6.1.
    """
    others = free.copy()
    others[position] = False
    lower: list[float] = []
    center = float(minimum.point[position])

    def side(sign: float) -> float:
        here = minimum

        def rise(off: float) -> float:
            """How high the profile is at this distance from the estimate."""
            nonlocal here
            point = here.point.copy()
            point[position] = center + sign * off
            found = refit_others(problem, point, others, limits)
            if found is None:
                return inf
            here = found
            gain = 2 * (found.linearized.cost - minimum.linearized.cost)
            if gain < -LOWER * minimum.linearized.cost:
                lower.append(float(point[position]))
            return sqrt(max(gain, 0.0))

        bound = float(limits[sign > 0][position])
        return center + sign * rise_crossing(rise, height, width, abs(bound - center))

    interval = side(-1.0), side(1.0)
    return interval, lower[0] if lower else None


def refit_others(
    problem: LeastSquaresProblem, point: Any, free: Any, limits: tuple[Any, Any]
) -> LeastSquaresEnd | None:
    """Minimize over the free parameters, from a point; None where that has no value."""
    here = problem.linearized(point)
    if here is None:
        return None
    if not free.any():
        return LeastSquaresEnd(point, here, 1)
    return polish_fit(
        problem,
        descend_residuals(problem, point, *limits, free=free, tolerance=1e-8, most=REFITTING),
        free,
    )


def rise_crossing(
    rise: Callable[[float], float], height: float, width: float, most: float
) -> float:
    """Find where a function that rises from 0 meets a height; ``most`` at most, or infinity.

    The interval is doubled, and then narrowed by SciPy's ``brentq``; twice the height stands for infinity.
    """
    rise = cache(rise)  # asked anew at an end, from elsewhere, it may round to the other side
    low, high = 0.0, min(width, most)
    for _ in range(WIDENINGS):
        if rise(high) >= height:
            break
        if high >= most:
            return most
        low, high = high, min(2 * high, most)
    else:
        return inf
    optimize, close = import_extra("scipy.optimize", NEED), MET / 100
    return float(
        optimize.brentq(
            lambda x: min(rise(x) - height, height), low, high, xtol=close * high, rtol=close
        )
    )
