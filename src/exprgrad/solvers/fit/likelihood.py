"""The least sum of a formula over rows, such as a negative log-likelihood.

The search, its end in the last digits, and what is said of that are those of ``solvers/minima``; the value,
its gradient and its Hessian are sums over rows, each exact.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import frexp, fsum, inf, isfinite, ldexp, sqrt
from typing import Any

import numpy as np

from exprgrad.derive.sweeps.gradient import gradient
from exprgrad.run.arrays import arrays
from exprgrad.run.arrays.bounds import data_errors
from exprgrad.run.numbers.bounds import UNIT, right_digits
from exprgrad.solvers.fit.estimates import in_units, quantile
from exprgrad.solvers.fit.fit import Estimate, Fit, Manner, Starts, drawn, limits_of
from exprgrad.solvers.fit.problem import Problem
from exprgrad.solvers.minima.objective import Layout, Objective, Vector
from exprgrad.solvers.minima.trust_region import Box, Course, search
from exprgrad.solvers.minima.verdicts import Judged, judged

__all__ = ["likely"]

MOST_POINTS = 1000
"""How many points a search takes at most."""
DEGENERATE = 1e-12
"""A direction of the scaled Hessian whose eigenvalue is below this share of the largest is open."""
INVOLVED = 1e-4
"""A parameter is open if a direction that is open has such a share in it."""
REASONS = {
    "minimum": "the gradient is 0, and the Hessian positive definite",
    "saddle": "it stopped at a saddle: there is a way down from there",
    "flat": "the Hessian is singular there: the data do not determine all parameters",
    "unbounded": "the sum falls for ever, and has no minimum",
    "not converged": "the search was still going down, or found no way to",
}
"""What a verdict says."""


class Total(Objective):
    """A formula summed over rows, as a function of its parameters, each in a ``unit`` of its own.

    A unit is a power of 2, so that nothing is rounded.
    """

    def __init__(self, problem: Problem, unit: Vector) -> None:
        super().__init__(problem.graph, Layout({}, dict.fromkeys(problem.parameters, ())))
        self.problem, self.unit = problem, unit

    def sums(self, kernel: Any, count: int, at: Vector) -> Vector:
        """The first few results of a kernel, each summed over all rows."""
        parts: list[list[float]] = [[] for _ in range(count)]
        for _, results in self.problem.results(kernel, count, at * self.unit):
            for part, result in zip(parts, results, strict=True):
                part.append(float(np.sum(result)))
        return np.array([fsum(part) if np.isfinite(part).all() else sum(part) for part in parts])

    def value(self, at: Vector) -> float:
        """The sum."""
        return self.slope(at)[0]

    def slope(self, at: Vector) -> tuple[float, Vector]:
        """The sum and its gradient."""
        self.counts.gradient += 1
        value, *slopes = self.sums(self.problem.first, len(at) + 2, at)[:-1]
        return float(value), np.array(slopes) * self.unit

    def curvature(self, at: Vector) -> Vector:
        """The sum's Hessian."""
        key = at.tobytes()
        if key not in self.formed:
            self.counts.hessian += 1
            kernel, entries, count = self.problem.second
            found = self.sums(kernel, count, at)
            matrix = np.zeros((len(at), len(at)))
            for place, output in entries.items():
                matrix[place] = found[output]
            self.formed = {key: matrix * np.outer(self.unit, self.unit)}
        return self.formed[key]

    def product(self, at: Vector, direction: Vector) -> Vector:
        """The Hessian times a direction."""
        return self.curvature(at) @ direction

    def noise(self, at: Vector) -> tuple[float, Vector]:
        """What rounding may have done to the sum and to its gradient: to each row, and in adding up."""
        problem = self.problem
        graph, outputs = gradient(problem.graph, problem.parameters)
        point = at * self.unit
        found = np.zeros(1 + len(at))
        for block, results in problem.results(problem.first, len(at) + 2, point):
            given = dict(zip(problem.columns, block.columns, strict=True))
            given |= dict(zip(problem.parameters, map(float, point), strict=True))
            bounds = data_errors(graph, arrays.forward(graph, given), outputs)
            for place, output in enumerate(outputs):
                error = np.broadcast_to(bounds[output], results[place].shape)
                found[place] += np.sum(error) + 4 * UNIT * np.sum(np.abs(results[place]))
        return float(found[0]), found[1:] * self.unit


def likely(
    text: str,
    problem: Problem,
    start: Mapping[str, float],
    fixed: Mapping[str, float],
    manner: Manner,
) -> Fit:
    """The parameters at which a formula, summed over rows, is least, from a start, by parameter.

    Standard errors are those of a negative log-likelihood: by the inverse of its Hessian.  Source: van der
    Vaart, Asymptotic Statistics (1998), section 5.5.
    """
    reach = quantile(manner.level, inf)  # first of all, for it needs SciPy
    low, high = limits_of(problem, manner)
    first = np.array([start[name] for name in problem.parameters])
    unit = np.array([ldexp(1.0, frexp(x)[1]) if x else 1.0 for x in map(float, first)])
    total, box = Total(problem, unit), Box(low / unit, high / unit)
    tried = drawn(first, low, high, manner.starts, manner.seed)
    with np.errstate(all="ignore"):
        courses = [search(total, point / unit, box, MOST_POINTS) for point in tried]
        best = min(courses, key=lambda course: (not isfinite(course.last.value), course.last.value))
        found = judged(total, best, box)
    least = best.last.value
    led = sum(course.last.value <= least + 1e-6 * max(abs(least), 1.0) for course in courses)
    failed = sum(course.reason == "undefined" for course in courses)
    ends = Starts(len(tried), led, failed)
    fit = outcome(text, total, best, found, box, manner, ends, reach)
    held = {name: Estimate(value, held="fixed") for name, value in fixed.items()}
    return fit._replace(parameters={**fit.parameters, **held})


def outcome(
    text: str,
    total: Total,
    course: Course,
    found: Judged,
    box: Box,
    manner: Manner,
    starts: Starts,
    reach: float,
) -> Fit:
    """What can be said of where a search ended; ``reach`` is that of ``quantile``."""
    problem, here = total.problem, course.last
    chosen = np.flatnonzero(~box.held(here.at, here.slope))
    names = tuple(problem.parameters[at] for at in chosen)
    hessian = total.curvature(here.at)[np.ix_(chosen, chosen)]
    inverse, condition, rank, open = inverted(hessian)
    unit = total.unit[chosen]
    covariance = inverse * np.outer(unit, unit)
    ways = [dict(zip(names, map(float, in_units(way * unit)), strict=True)) for way in open]
    _, noise = total.noise(here.at)
    moved = np.abs(inverse) @ noise[chosen] * unit
    values = zip(problem.parameters, map(float, here.at * total.unit), strict=True)
    parameters = {name: Estimate(value, held="bound") for name, value in values}
    for name, variance, off in zip(names, np.diag(covariance), moved, strict=True):
        is_open = any(way[name] for way in ways)
        known = (float(variance), float(off), reach)
        parameters[name] = estimate(parameters[name].value, *known, is_open=is_open)
    converged = found.kind == "minimum" and not ways
    return Fit(
        text=text,
        problem=problem,
        parameters=parameters,
        rows=problem.rows,
        dof=max(problem.rows - len(chosen), 0),
        cost=here.value,
        aic=2 * here.value + 2 * len(chosen) if converged else None,
        covariance=covariance,
        estimated=names,
        rank=rank,
        condition=condition,
        open=ways,
        converged=converged,
        reason=REASONS["flat" if ways and found.kind == "minimum" else found.kind],
        passes=total.counts.gradient + total.counts.hessian,
        starts=starts,
        level=manner.level,
        absolute=True,
        objective=True,
    )


def estimate(value: float, variance: float, off: float, reach: float, *, is_open: bool) -> Estimate:
    """A parameter by its variance, and by what rounding may have moved it by."""
    one = Estimate(value, digits=right_digits(value, off))
    if is_open or not variance > 0:
        return one
    error = sqrt(variance)
    return one._replace(error=error, interval=(value - reach * error, value + reach * error))


def inverted(hessian: Vector) -> tuple[Vector, float, int, Sequence[Vector]]:
    """A Hessian's inverse, its condition and rank, and the directions in which it is singular.

    Its diagonal is made 1 first, and it is inverted by its eigenvalues: where it is singular or negative it
    counts as open.
    """
    lengths = np.sqrt(np.abs(np.diag(hessian)))
    lengths[~(lengths > 0)] = 1.0
    if not len(lengths) or not np.isfinite(hessian).all():
        return np.zeros_like(hessian), inf, 0, []
    values, basis = np.linalg.eigh(hessian / np.outer(lengths, lengths))
    good = values > DEGENERATE * max(float(values[-1]), 0.0)
    half = basis[:, good] / np.sqrt(values[good]) / lengths[:, None]
    open = []
    for way in basis[:, ~good].T:
        open.append(np.where(np.abs(way) > INVOLVED, way, 0.0) / lengths)
    rank = int(np.count_nonzero(good))
    condition = float(values[-1] / values[0]) if rank == len(values) else inf
    return half @ half.T, condition, rank, open
