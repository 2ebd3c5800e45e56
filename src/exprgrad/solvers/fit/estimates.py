"""What is known of estimates: standard errors, correlations, what the data leave open, right digits."""

from __future__ import annotations

from math import inf, nan
from typing import Any, NamedTuple

import numpy as np

from exprgrad.run.arrays import arrays
from exprgrad.run.arrays.bounds import data_errors
from exprgrad.run.numbers.bounds import UNIT
from exprgrad.solvers.fit.least_squares import by_lengths, without_scipy
from exprgrad.solvers.fit.losses import LOSSES
from exprgrad.solvers.fit.problem import Linearized, Problem, stacked

__all__ = [
    "Spread",
    "Variation",
    "in_units",
    "quantile",
    "rounding",
    "spread_of",
    "variation_of",
]

DEGENERATE = 1e-14
"""A direction whose singular value is below this share of the largest is lost in rounding."""
NO_EFFECT = 1e-30
"""A parameter that, doubled, moves residuals by less than this share of them does not move them."""
INVOLVED = 1e-3
"""A parameter is open if a direction that is lost has such a share in it."""
OUTER = 8 * np.finfo(float).eps
"""What the triangle itself may be off by, relative to the rows that it stands for."""


class Spread(NamedTuple):
    """How far estimates may be off, for residuals of standard deviation 1, by parameter.

    ``basis``        the directions in which q has to do with them
    ``inverse``      of J'J
    ``covariance``   the same, but for losses, whose residuals are weighted
    ``condition``    of the Jacobian with columns of length 1
    ``open``         the directions that the data do not determine: how parameters move there, together
    """

    basis: Any
    inverse: Any
    covariance: Any
    rank: int
    condition: float
    open: list[Any]

    @property
    def errors(self) -> Any:
        """The standard errors; nan for parameters that the data do not determine."""
        found = np.sqrt(np.diag(self.covariance))
        for direction in self.open:
            found[direction != 0] = nan
        return found


def spread_of(problem: Problem, point: Any, here: Linearized, chosen: Any) -> Spread:
    """The spread of the estimates that are ``chosen``, by position, the others being held.

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
        covariance = sandwich(problem, point, inverse, chosen)
    directions = [*map(in_units, mixed), *idle]
    return Spread(u[:, :rank], inverse, covariance, rank, condition, directions)


def in_units(way: Any) -> Any:
    """A direction whose greatest number is 1 or -1, and whose first is positive."""
    first = way[np.flatnonzero(way)[0]]
    return way * (np.sign(first) / np.max(np.abs(way)))


def sandwich(problem: Problem, point: Any, inverse: Any, chosen: Any) -> Any:
    """The covariance of estimates by a loss: the rows' gradients about the inverse Hessian.

    Source: P. J. Huber, Robust Statistics (1981), section 7.6.
    """
    size = len(problem.parameters)
    triangle = np.zeros((len(chosen), len(chosen)))
    for block, (residual, *slopes, _) in problem.results(problem.first, size + 2, point):
        scale = 1.0 if block.scale is None else block.scale
        pull = (
            scale**2
            * residual
            * LOSSES[problem.loss].first((scale * residual / problem.width) ** 2)
        )
        rows = np.column_stack(slopes)[:, chosen] * pull[:, None]
        triangle = stacked(triangle, rows)
    half = inverse @ triangle.T
    return half @ half.T * (problem.rows / max(problem.rows - len(chosen), 1))


def quantile(level: float, dof: float) -> float:
    """The standard errors from an estimate to its interval's ends: Student's t, or normal for dof inf.

    Raises ``MissingExtraError`` without SciPy.
    """
    try:
        from scipy.special import ndtri, stdtrit
    except ImportError:
        raise without_scipy() from None
    half = 0.5 + level / 2
    return float(ndtri(half) if dof == inf else stdtrit(dof, half))


class Variation(NamedTuple):
    """The rows' responses: their sum of squares about their mean, the sum of the scales' logarithms, and
    the responses' sum of squares itself.
    """

    total: float
    logarithms: float
    whole: float


def variation_of(problem: Problem, point: Any) -> Variation:
    """How the responses vary about their mean, weighted as the residuals are."""
    triangle, logarithms = np.zeros((2, 2)), 0.0
    count = len(problem.parameters) + 2
    for block, (*_, response) in problem.results(problem.first, count, point):
        scale = np.ones(len(response)) if block.scale is None else block.scale
        rows = np.column_stack([scale, scale * response])
        triangle = stacked(triangle, rows)
        logarithms += float(np.sum(np.log(scale)))
    about_mean, mean = float(triangle[1, 1]) ** 2, float(triangle[0, 1]) ** 2
    return Variation(about_mean, logarithms, about_mean + mean)


def rounding(problem: Problem, point: Any, here: Linearized, spread: Spread, chosen: Any) -> Any:
    """By parameter that is ``chosen``, what rounding may have moved its estimate by, to first order.

    Errors of the residuals reach the estimates through the inverse of J, those of its entries through that
    of J'J.  Both are bounded row by row, as the guard does (``run/arrays/bounds.py``); responses are taken
    to be decimals that were rounded to doubles.  Source: Björck (1996), section 1.4.
    """
    graph, outputs = problem.program
    size, count = len(problem.parameters), len(chosen)
    direct, slanted = np.zeros(count), np.zeros(count)
    for block, (residual, *slopes, response) in problem.results(problem.first, size + 2, point):
        given = dict(zip(problem.columns, block.columns, strict=True))
        given |= dict(zip(problem.parameters, map(float, point), strict=True))
        bounds = data_errors(graph, arrays.forward(graph, given), outputs)
        errors = [np.broadcast_to(bounds[output], residual.shape) for output in outputs]
        scale = 1.0 if block.scale is None else block.scale
        off = scale * (errors[0] + UNIT * np.abs(response))
        jacobian = np.column_stack(slopes)[:, chosen] * np.reshape(scale, (-1, 1))
        direct += np.abs(jacobian @ spread.inverse).T @ off
        slanted += np.array([np.sum(scale**2 * errors[1 + at] * np.abs(residual)) for at in chosen])
    lengths = np.sqrt(np.sum(here.factor[:, chosen] ** 2, axis=0))
    whole = np.hypot(here.rest, np.linalg.norm(here.q))
    found = direct + np.abs(spread.inverse) @ (slanted + OUTER * lengths * whole)
    return np.where(np.isfinite(found), found, inf)
