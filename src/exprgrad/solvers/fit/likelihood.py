"""The least sum of a formula over rows, such as a negative log-likelihood.

The search, its end in the last digits, and what is said of that are those of ``solvers/minima``; the value,
its gradient and its Hessian are sums over rows, each exact.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import frexp, fsum, inf, isfinite, ldexp

import numpy as np

from exprgrad.run.numbers.bounds import UNIT
from exprgrad.solvers.fit.estimates import in_units, quantile, spread_by_hessian
from exprgrad.solvers.fit.fit import Fit, Manner, Starts, drawn, estimates, limits_of
from exprgrad.solvers.fit.problem import Problem, Ready
from exprgrad.solvers.minima.objective import Layout, Objective, Vector
from exprgrad.solvers.minima.trust_region import Box, Course, search
from exprgrad.solvers.minima.verdicts import Judged, judged

__all__ = ["likely"]

MOST_POINTS = 1000
"""How many points a search takes at most."""
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

    def sums(self, ready: Ready, at: Vector) -> Vector:
        """The results of a program, each summed over all rows."""
        parts: list[list[float]] = [[] for _ in range(ready.outputs)]
        for _, results in self.problem.results(at * self.unit, ready):
            for part, result in zip(parts, results, strict=True):
                part.append(float(np.sum(result)))
        return np.array([fsum(part) if np.isfinite(part).all() else sum(part) for part in parts])

    def value(self, at: Vector) -> float:
        """The sum."""
        return self.slope(at)[0]

    def slope(self, at: Vector) -> tuple[float, Vector]:
        """The sum and its gradient."""
        self.counts.gradient += 1
        value, *slopes = self.sums(self.problem.first, at)[:-1]
        return float(value), np.array(slopes) * self.unit

    def hessian(self, at: Vector) -> Vector:
        """The sum's Hessian."""
        ready, entries = self.problem.second
        found = self.sums(ready, at)
        matrix = np.zeros((len(at), len(at)))
        for place, output in entries.items():
            matrix[place] = found[output]
        return matrix * np.outer(self.unit, self.unit)

    def product(self, at: Vector, direction: Vector) -> Vector:
        """The Hessian times a direction."""
        return self.curvature(at) @ direction

    def noise(self, at: Vector) -> tuple[float, Vector]:
        """What rounding may have done to the sum and to its gradient: to each row, and in adding up."""
        found = np.zeros(2 + len(at))
        for _, results, errors in self.problem.erring(at * self.unit):
            pairs = zip(results, errors, strict=True)
            found += [np.sum(error) + 4 * UNIT * np.sum(np.abs(one)) for one, error in pairs]
        return float(found[0]), found[1:-1] * self.unit


def likely(
    text: str,
    problem: Problem,
    start: Mapping[str, float],
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
    return outcome(text, total, best, found, box, manner, ends, reach)


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
    unit = total.unit[chosen]
    spread = spread_by_hessian(hessian)
    spread = spread._replace(
        covariance=spread.inverse * np.outer(unit, unit),
        open=[in_units(way * unit) for way in spread.open],
    )
    ways = [dict(zip(names, map(float, way), strict=True)) for way in spread.open]
    _, noise = total.noise(here.at)
    moved = np.abs(spread.inverse) @ noise[chosen] * unit
    converged = found.kind == "minimum" and not ways
    return Fit(
        text=text,
        problem=problem,
        parameters=estimates(problem, here.at * total.unit, names, spread.errors, moved, reach),
        rows=problem.rows,
        dof=max(problem.rows - len(chosen), 0),
        cost=here.value,
        aic=2 * here.value + 2 * len(chosen) if converged else None,
        covariance=spread.covariance,
        estimated=names,
        rank=spread.rank,
        condition=spread.condition,
        open=ways,
        converged=converged,
        reason=REASONS["flat" if ways and found.kind == "minimum" else found.kind],
        passes=total.counts.gradient + total.counts.hessian,
        starts=starts,
        level=manner.level,
        absolute=True,
        objective=True,
    )
