"""A fit from beginning to end: starts, the search, the polish, and a verdict on its end.

It minimizes the sum of squares, or the sum of a formula over rows, such as a negative
log-likelihood.  There the search, its end in the last digits, and the verdict are those of
``solvers/minima``; the value, its gradient and its Hessian are sums over rows, each exact.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import fsum, inf, isfinite, log, nan, pi, sqrt
from typing import Any, NamedTuple

import numpy as np

from exprgrad.derive.error_rules import UNIT
from exprgrad.derive.rules import computed
from exprgrad.errors import InputError
from exprgrad.explain.limits import COUNTED
from exprgrad.graph.graph import dependent_flags
from exprgrad.run.balls.balls import has_balls
from exprgrad.run.evaluation import right_digits
from exprgrad.solvers.fit.estimates import (
    EstimateSpread,
    correlation_of,
    interval_quantile,
    normalize_direction,
    profile_bounds,
    rounding_of_estimates,
    spread_by_hessian,
    spread_of,
    variation_of,
)  # fmt: skip
from exprgrad.solvers.fit.least_squares import (
    FINE,
    LARGEST_POWER,
    POINTS,
    SAFE_POWER,
    Columns,
    LeastSquaresEnd,
    LeastSquaresProblem,
    Linearized,
    Ready,
    Scales,
    descend_residuals,
    polish_fit,
    rescale_problem,
    scales_at,
    strictly_inside,
)
from exprgrad.solvers.minima.search import (
    Box,
    Objective,
    PointLayout,
    SearchCourse,
    Vector,
    trust_region_search,
)
from exprgrad.solvers.minima.verdicts import Judged, judge_smooth

__all__ = ["Bounds", "Estimate", "Fit", "FitOptions", "fit_curve", "fit_likelihood", "fit_problem"]

OFFSET = 1e-3
"""The relative offset below which a fit has converged: Bates and Watts, Technometrics 23 (1981), 179."""
CERTAIN = 1e-9
"""An offset below this is rounding alone, and is not reported as a number."""
SAME = 1e-6
"""Costs with a smaller relative difference belong to one minimum."""
EXACT_FIT = 1e-16
"""The share of the responses' sum of squares below which that of the residuals may be rounding."""
ROUNDED = 1e-28
"""The share below which it is rounding alone: residuals of 1e-14 of the responses."""
DECADES = 1.0
"""The powers of ten around the given start from which further starts are drawn."""
DRAWS = 16
"""The points from which every second further start is chosen."""
COARSE = 1e-8, 100
"""The tolerance and points of the search from each; only the best end is searched further."""
MOST_DOTS = 4000
"""The most rows that a picture shows; of more, evenly spread ones."""
OTHER_SCALES = 40
"""A search that ends this many powers of 2 from its scales begins again in others."""
MOST_SCALED = 100
"""The most times that a search begins again so."""
MOST_OF_A_FIT_IN_BALLS = 30_000
"""The most rows times nodes times starts of a fit in balls."""
GRID = 801
"""The points of a model's curve in a picture."""

Bounds = Mapping[str, tuple[float, float]]
"""The least and the greatest value allowed, by parameter."""


class FitOptions(NamedTuple):
    """Options of a fit.

    ``bounds``        of parameters
    ``level``         of the intervals
    ``absolute``      whether rows' scales are their true standard deviations
    ``starts``        the number of starts, of which ``seed`` draws all but the first
    ``profile``       whether intervals are found from the profile of the sum of squares, too
    """

    bounds: Bounds
    level: float = 0.95
    absolute: bool = False
    starts: int = 1
    seed: int = 0
    profile: bool = False


class Estimate(NamedTuple):
    """An estimated parameter.

    ``error``     its standard error; None where the data do not determine it, or it is held
    ``interval``  at the requested level, by Student's t, or by the normal distribution
    ``profile``   the interval from the profile of the sum of squares, if requested
    ``digits``    the digits of the value that survive rounding
    ``held``      ``fixed`` or ``bound``; empty for an estimated one
    """

    value: float
    error: float | None = None
    interval: tuple[float, float] | None = None
    profile: tuple[float, float] | None = None
    digits: int | None = None
    held: str = ""


class Starts(NamedTuple):
    """The number of starts tried, of those that led to the best minimum, and of those without a value."""

    tried: int
    led_here: int
    failed: int


class Fit(NamedTuple):
    """The result of a fit.

    ``text``          the formula
    ``problem``       the model and its rows
    ``cost``          half the least sum of squares, or of losses
    ``residual_sd``   the residuals' standard deviation; None without degrees of freedom
    ``r_squared``     1 less the share of the responses' variation about their mean that is left
    ``aic``           Akaike's criterion, of normal residuals; None for losses
    ``covariance``    of the estimates, by the names of ``estimated``
    ``correlation``   of the estimates; nan where one is not determined, or is exact
    ``open``          the directions that the data do not determine, by parameter
    ``offset``        the relative offset; None where there are no residuals to compare with
    ``passes``        the number of passes over the rows
    ``linear``        whether the model is linear in its parameters
    ``objective``     whether a formula's sum was minimized; ``cost`` is then that sum
    ``exact``         whether the residuals are rounding alone
    ``absolute``      whether the rows' standard deviations were given
    ``error_digits``  the digits of standard errors that survive rounding; None for losses
    """

    text: str
    problem: LeastSquaresProblem
    parameters: dict[str, Estimate]
    rows: int
    dof: int
    cost: float
    covariance: Any
    correlation: Any
    estimated: tuple[str, ...]
    rank: int
    condition: float
    open: list[dict[str, float]]
    converged: bool
    reason: str
    passes: int
    starts: Starts
    level: float
    absolute: bool
    residual_sd: float | None = None
    r_squared: float | None = None
    aic: float | None = None
    offset: float | None = None
    loss: str = ""
    linear: bool = False
    profiled: bool = False
    objective: bool = False
    exact: bool = False
    error_digits: int | None = None
    left_out: int = 0
    converted: Mapping[str, int] = {}


def fit_problem(
    text: str,
    problem: LeastSquaresProblem,
    start: Mapping[str, float],
    manner: FitOptions,
) -> Fit:
    """Fit a problem from a start, by parameter.

    Raises ``InputError`` where the model has no value at any start.
    """
    tried, low, high = fit_starts(problem, start, manner, DRAWS)
    scales, ends, passes = scales_at(problem, tried[0][0], SAFE_POWER), None, 0
    for _ in range(MOST_SCALED):
        units, inside = scales.units, rescale_problem(problem, scales)
        limits = low / units, high / units
        best, led = best_of(inside, [points / units for points in tried], *limits)
        minimum, free = polish_within_bounds(inside, best, *limits)
        ends, passes = ends or led, passes + minimum.passes
        tried = [minimum.point[None] * units]
        before, scales = scales, scales_at(problem, tried[0][0])
        if np.max(np.abs(scales.powers - before.powers)) <= OTHER_SCALES:
            break
    assert ends is not None
    minimum = drop_vanished(inside, minimum, units, *limits)
    minimum, chosen = minimum._replace(passes=passes), np.flatnonzero(free)
    found = account_for_fit(text, inside, minimum, chosen, manner, ends, before)
    if needs_balls(found, problem, manner.starts):
        return fit_problem(text, problem.in_balls, start, manner)
    if manner.profile:
        found = with_profiles(found, minimum, free, limits, before)
    return restore_units(found, problem, before)


def needs_balls(found: Fit, problem: LeastSquaresProblem, starts: int) -> bool:
    """Whether rounding leaves too few digits of an estimate, or of standard errors, and balls can help.

    They can if the problem is not in balls yet, and small enough to be solved in them in some seconds.
    """
    of_errors = None if found.exact else found.error_digits
    counts = [of_errors, *(one.digits for one in found.parameters.values())]
    is_lossy = any(count is not None and count < COUNTED for count in counts)
    work = problem.rows * len(problem.program.graph) * starts
    return is_lossy and problem.rule is computed and work <= MOST_OF_A_FIT_IN_BALLS and has_balls()


def restore_units(found: Fit, problem: LeastSquaresProblem, scales: Scales) -> Fit:
    """Convert a fit to the problem's own scales."""
    units = dict(zip(problem.parameters, scales.units.tolist(), strict=True))
    chosen = np.array([units[name] for name in found.estimated])
    parameters = {
        name: one._replace(
            value=one.value * units[name],
            error=None if one.error is None else one.error * units[name],
            interval=scale_interval(one.interval, units[name]),
            profile=scale_interval(one.profile, units[name]),
        )
        for name, one in found.parameters.items()
    }
    ways = [normalize_direction(np.array([*way.values()]) * chosen) for way in found.open]
    size = scales.size
    return found._replace(
        problem=problem,
        parameters=parameters,
        cost=found.cost * size * size,
        residual_sd=None if found.residual_sd is None else found.residual_sd * size,
        covariance=found.covariance * chosen * chosen[:, None],
        open=[dict(zip(found.estimated, map(float, way), strict=True)) for way in ways],
    )


def scale_interval(interval: tuple[float, float] | None, unit: float) -> tuple[float, float] | None:
    """Multiply an interval by a number."""
    return None if interval is None else (interval[0] * unit, interval[1] * unit)


def fit_starts(
    problem: LeastSquaresProblem, start: Mapping[str, float], manner: FitOptions, draws: int = 1
) -> tuple[list[Any], Any, Any]:
    """Return the given start and further ones, and the least and the greatest of each parameter.

    Each start is an array of points to choose from, a row each: of the further ones, every second has
    ``draws``, and the rest one, since a promising point may mislead.
    """
    low, high = np.array([manner.bounds.get(name, (-inf, inf)) for name in problem.parameters]).T
    first = np.array([start[name] for name in problem.parameters])
    points = draw_points(first, low, high, (manner.starts - 1) * draws, manner.seed)
    groups = enumerate(points.reshape(manner.starts - 1, draws, len(first)))
    return [first[None], *(group[: 1 if at % 2 else draws] for at, group in groups)], low, high


def draw_points(start: Any, low: Any, high: Any, count: int, seed: int) -> Any:
    """Draw points within bounds, or some powers of ten around a start, a row each.

    Each of as many equal shares of a parameter's range has one of them.  Source: M. D. McKay, R. J. Beckman
    and W. J. Conover, Technometrics 21 (1979), 239.
    """
    random = np.random.default_rng(seed)
    shares = random.permuted(np.tile(np.arange(count), (len(start), 1)), axis=1).T
    parts = (shares + random.random((count, len(start)))) / max(count, 1)
    around = start * 10 ** (DECADES * (2 * parts - 1))
    near = np.where(start == 0, np.tan(pi * (parts - 0.5)), around)
    both = np.isfinite(low) & np.isfinite(high)
    least, most = np.where(both, low, 0.0), np.where(both, high, 1.0)
    return np.clip(np.where(both, least + parts * (most - least), near), low, high)


def best_of(
    problem: LeastSquaresProblem, starts: Sequence[Any], low: Any, high: Any
) -> tuple[LeastSquaresEnd, Starts]:
    """Return the least of the minima that some starts lead to, with the outcome of each start.

    Of a start's points the search begins at the one from which a linear model would leave the least: so
    the start of a parameter in which the model is linear need not be near.
    """
    ends, passes, is_one = [], 0, len(starts) == 1
    tolerance, most = (FINE, POINTS) if is_one else COARSE
    for points in starts:
        inside = [strictly_inside(point, low, high) for point in points]
        here = [problem.linearized(point) for point in inside]
        rests = [inf if one is None else one.rest for one in here]
        passes += len(points)
        if min(rests) < inf:
            start = inside[int(np.argmin(rests))]
            ends.append(
                descend_residuals(problem, start, low, high, tolerance=tolerance, most=most)
            )
    if not ends:
        raise InputError("no-start", "the model has no value at the start")
    best = min(ends, key=lambda end: end.linearized.cost)
    cost = best.linearized.cost
    led = sum(end.linearized.cost <= cost * (1 + SAME) for end in ends)
    passes += sum(end.passes for end in ends)
    if not is_one:
        best = descend_residuals(problem, best.point, low, high)
        passes += best.passes
    return best._replace(passes=passes), Starts(len(starts), led, len(starts) - len(ends))


def polish_within_bounds(
    problem: LeastSquaresProblem, minimum: LeastSquaresEnd, low: Any, high: Any
) -> tuple[LeastSquaresEnd, Any]:
    """Polish the minimum to the last digit; also return which parameters are free, not at a bound.

    Where the polish would take parameters beyond their bounds, the first to get there are held at theirs,
    and the polish begins again.
    """
    free = np.ones(len(low), dtype=bool)
    while True:
        end = polish_fit(problem, minimum, free)
        beyond = free & ((end.point < low) | (end.point > high))
        if not beyond.any():
            return end, free
        step = np.where(beyond, end.point - minimum.point, 1.0)
        part = np.where(beyond, (np.clip(end.point, low, high) - minimum.point) / step, inf)
        beyond &= part <= part.min() + SAME  # the others may stay within, once these are held
        free &= ~beyond
        point = np.where(beyond, np.clip(end.point, low, high), minimum.point)
        here = problem.linearized(point)
        if here is None:
            return minimum, free
        minimum = LeastSquaresEnd(point, here, end.passes)


def drop_vanished(
    problem: LeastSquaresProblem, minimum: LeastSquaresEnd, units: Any, low: Any, high: Any
) -> LeastSquaresEnd:
    """Set parameters below the least unit of scales to 0, if that is no worse."""
    vanishes = (minimum.point != 0) & (
        np.abs(minimum.point * units) < np.ldexp(1.0, -LARGEST_POWER)
    )
    if not vanishes.any():
        return minimum
    point = np.where(vanishes, np.clip(0.0, low, high), minimum.point)
    here = problem.linearized(point)
    if here is None or here.cost > minimum.linearized.cost:
        return minimum
    return minimum._replace(point=point, linearized=here, passes=minimum.passes + 1)


def account_for_fit(
    text: str,
    problem: LeastSquaresProblem,
    minimum: LeastSquaresEnd,
    chosen: Any,
    manner: FitOptions,
    starts: Starts,
    scales: Scales,
) -> Fit:
    """Make the fit of a minimum; ``chosen`` are the positions of the parameters not at a bound.

    It includes the outcome of the starts, and the scales of the last search.
    """
    here, point = minimum.linearized, minimum.point
    names = tuple(problem.parameters[at] for at in chosen)
    spread = spread_of(problem, point, here, chosen)
    dof = problem.rows - len(chosen)
    sd = sqrt(2 * here.cost / dof) if dof > 0 else None
    moved, blurred = rounding_of_estimates(problem, point, here, spread, chosen)
    offset = relative_offset(here, spread, dof)
    total, logarithms, whole = variation_of(problem, point)
    share = 2 * here.cost / whole if whole else 0.0
    converged, reason = fit_verdict(minimum, names, spread, offset, moved, chosen, share)
    is_plain = not problem.loss
    is_known = manner.absolute or not is_plain
    unit = nan if sd is None else sd
    if is_known:
        unit = 1 / scales.size if is_plain else 1.0
    aic = akaike_criterion(problem.rows, here.cost, len(chosen), logarithms, scales, manner)
    reach = interval_quantile(manner.level, inf if is_known else dof)
    return Fit(
        text=text, problem=problem, rows=problem.rows, dof=dof, cost=here.cost,
        parameters=estimate_parameters(problem, point, names, unit * spread.errors, moved, reach),
        residual_sd=sd if is_plain else None,
        r_squared=1 - 2 * here.cost / total if total > 0 and is_plain else None,
        aic=aic if is_plain else None, covariance=unit * spread.covariance * unit,
        correlation=correlation_of(spread), estimated=names, rank=spread.rank,
        condition=spread.condition,
        open=[dict(zip(names, map(float, way), strict=True)) for way in spread.open],
        converged=converged, reason=reason, offset=offset, passes=minimum.passes, starts=starts,
        level=manner.level, absolute=manner.absolute, loss=problem.loss,
        linear=minimum.curvature is not None and not np.any(minimum.curvature),
        exact=share <= ROUNDED, error_digits=right_digits(1.0, blurred),
    )  # fmt: skip


def estimate_parameters(
    problem: LeastSquaresProblem,
    point: Any,
    names: Sequence[str],
    errors: Any,
    moved: Any,
    reach: float,
) -> dict[str, Estimate]:
    """Return the estimate of each parameter; ``names`` are those that are not at a bound.

    For these there are standard ``errors``, nan for undetermined ones, and how far rounding may
    have ``moved`` each; ``reach`` is half an interval's width in standard errors.
    """
    values = dict(zip(problem.parameters, map(float, point), strict=True))
    found = {name: Estimate(value, held="bound") for name, value in values.items()}
    for name, error, off in zip(names, map(float, errors), map(float, moved), strict=True):
        value = values[name]
        found[name] = Estimate(value, digits=right_digits(value, off))
        if isfinite(error):
            interval = value - reach * error, value + reach * error
            found[name] = found[name]._replace(error=error, interval=interval)
    return found


def with_profiles(
    found: Fit, minimum: LeastSquaresEnd, free: Any, limits: tuple[Any, Any], scales: Scales
) -> Fit:
    """Add intervals from profiles to a fit; one that meets a lower minimum has not converged.

    Residuals of rounding alone have no profile: there the intervals stand for it.
    """
    unit = 1 / scales.size if found.absolute else found.residual_sd
    if unit is None:
        return found
    height = interval_quantile(found.level, inf if found.absolute else found.dof) * unit
    parameters = {
        name: one._replace(profile=one.interval) for name, one in found.parameters.items()
    }
    is_rounding = found.exact and not found.absolute
    for at, name in enumerate(() if is_rounding else found.problem.parameters):
        one = parameters[name]
        if one.interval is None:
            continue
        width = one.interval[1] - one.value
        interval, lower = profile_bounds(found.problem, minimum, at, free, height, width, limits)
        parameters[name] = one._replace(profile=interval)
        if lower is not None and found.converged:
            near = f"{name}={lower * scales.units[at]:.6g}"
            reason = f"the sum of squares is lower elsewhere: start nearer to {near}"
            found = found._replace(converged=False, reason=reason)
    return found._replace(parameters=parameters, profiled=True)


def relative_offset(here: Linearized, spread: EstimateSpread, dof: int) -> float | None:
    """Return how far the residuals are from orthogonal to the model's surface, as they are at a minimum.

    It is the tangent of the angle, by degrees of freedom; None for residuals of 0.
    """
    along = float(np.linalg.norm(spread.basis.T @ here.q))
    across = sqrt(max(2 * here.cost - along * along, 0.0))
    if dof <= 0 or not across or not spread.rank:
        return None
    return (along / sqrt(spread.rank)) / (across / sqrt(dof))


def akaike_criterion(
    rows: int, cost: float, count: int, logarithms: float, scales: Scales, manner: FitOptions
) -> float | None:
    """Return Akaike's criterion for normal residuals: 2·(number of parameters) − 2·log-likelihood.

    An unknown standard deviation counts as one more parameter.  None if all residuals are 0.
    """
    if not cost:
        return None
    residual, weight = (float(power) * log(2) for power in scales.powers[:2])
    logarithms += rows * weight
    if manner.absolute:
        return 2 * cost * scales.size**2 + rows * log(2 * pi) - 2 * logarithms + 2 * count
    spread = log(2 * pi * 2 * cost / rows) + 2 * (residual + weight)
    return rows * (spread + 1) - 2 * logarithms + 2 * (count + 1)


def fit_verdict(
    minimum: LeastSquaresEnd,
    names: Sequence[str],
    spread: EstimateSpread,
    offset: float | None,
    moved: Any,
    chosen: Any,
    share: float,
) -> tuple[bool, str]:
    """Tell whether a fit has converged to a minimum that the data determine, and why, or why not.

    ``share`` is the sum of squares relative to that of the responses.
    """
    if spread.rank < len(names):
        met = [name for at, name in enumerate(names) if any(way[at] for way in spread.open)]
        apart = met[0] if len(met) == 1 else f"{', '.join(met[:-1])} and {met[-1]}"
        why = "together they move without any effect"
        if all(np.count_nonzero(way) == 1 for way in spread.open):
            why = f"near this point {'it has' if len(met) == 1 else 'they have'} no effect"
        return False, f"the data do not determine {apart}: {why}"
    if not names:
        return True, "every parameter is at a bound, beyond which the sum of squares would be less"
    curvature = minimum.curvature
    if curvature is not None and len(curvature) and curvature[0] <= -1:
        return False, "it stopped at a saddle of the sum of squares, not at a minimum"
    if offset is not None and offset < OFFSET:
        shown = f"is {offset:.1e}" if offset > CERTAIN else "is below 1e-9"
        return True, f"the relative offset {shown}, and {OFFSET:g} would do"
    is_small = minimum.step is not None and (np.abs(minimum.step[chosen]) <= moved).all()
    if is_small and share <= EXACT_FIT:
        return True, "the residuals are down to rounding, and so is the last step"
    if minimum.exhausted:
        return False, f"after {minimum.passes:,} points the sum of squares was still falling"
    if offset is None:
        return False, "it stopped while its steps were still larger than rounding"
    return False, f"the relative offset is {offset:.1e}, and has to be below {OFFSET:g}"


# The least sum of a formula.

MOST_POINTS = 1000
"""The most points of a search."""
REASONS = {
    "minimum": "the gradient is 0, and the Hessian positive definite",
    "saddle": "it stopped at a saddle: there is a way down from there",
    "flat": "the Hessian is singular there: the data do not determine all parameters",
    "unbounded": "the sum falls for ever, and has no minimum",
    "not converged": "the search was still going down, or found no way to",
}
"""The messages of verdicts."""


class Total(Objective):
    """A formula summed over rows, as a function of its parameters."""

    def __init__(self, problem: LeastSquaresProblem) -> None:
        super().__init__(problem.graph, PointLayout({}, dict.fromkeys(problem.parameters, ())))
        self.problem = problem

    def sums(self, ready: Ready, at: Vector) -> Vector:
        """Return the results of a program, each summed over all rows."""
        parts: list[list[float]] = [[] for _ in range(ready.outputs)]
        for _, results in self.problem.results(at, ready):
            for part, result in zip(parts, results, strict=True):
                part.append(float(np.sum(result)))
        return np.array([fsum(part) if np.isfinite(part).all() else sum(part) for part in parts])

    def value(self, at: Vector) -> float:
        """Return the sum."""
        return self.slope(at)[0]

    def slope(self, at: Vector) -> tuple[float, Vector]:
        """Return the sum and its gradient."""
        self.counts.gradient += 1
        value, *slopes = self.sums(self.problem.first, at)[:-1]
        return float(value), np.array(slopes)

    def hessian(self, at: Vector) -> Vector:
        """Return the sum's Hessian."""
        ready, entries = self.problem.second
        found = self.sums(ready, at)
        matrix = np.zeros((len(at), len(at)))
        for place, output in entries.items():
            matrix[place] = found[output]
        return matrix

    def product(self, at: Vector, direction: Vector) -> Vector:
        """Return the Hessian times a direction."""
        return self.curvature(at) @ direction

    def noise(self, at: Vector) -> tuple[float, Vector]:
        """Bound the rounding of the sum and of its gradient: in each row, and in adding up."""
        found = np.zeros(2 + len(at))
        for _, results, errors in self.problem.erring(at):
            pairs = zip(results, errors, strict=True)
            found += [np.sum(error) + 4 * UNIT * np.sum(np.abs(one)) for one, error in pairs]
        return float(found[0]), found[1:-1]


def fit_likelihood(
    text: str,
    problem: LeastSquaresProblem,
    start: Mapping[str, float],
    manner: FitOptions,
) -> Fit:
    """Fit the parameters at which a formula, summed over rows, is least, from a start.

    Standard errors are those of a negative log-likelihood: by the inverse of its Hessian.  Source: van der
    Vaart, Asymptotic Statistics (1998), section 5.5.
    """
    reach = interval_quantile(manner.level, inf)  # first of all, for it needs SciPy
    tried, low, high = fit_starts(problem, start, manner)
    powers = np.clip(np.frexp(tried[0][0])[1], -LARGEST_POWER, LARGEST_POWER)
    scales = Scales(np.append([0, 0], powers))
    units = scales.units
    total, box = Total(rescale_problem(problem, scales)), Box(low / units, high / units)
    courses = [trust_region_search(total, point / units, box, MOST_POINTS) for (point,) in tried]
    best = min(courses, key=lambda course: (not isfinite(course.last.value), course.last.value))
    found = judge_smooth(total, best, box)
    least = best.last.value
    led = sum(course.last.value <= least + 1e-6 * max(abs(least), 1.0) for course in courses)
    failed = sum(course.reason == "undefined" for course in courses)
    ends = Starts(len(tried), led, failed)
    fit = likelihood_outcome(text, total, best, found, box, manner, ends, reach)
    if needs_balls(fit, problem, manner.starts):
        return fit_likelihood(text, problem.in_balls, start, manner)
    return restore_units(fit, problem, scales)


def likelihood_outcome(
    text: str,
    total: Total,
    course: SearchCourse,
    found: Judged,
    box: Box,
    manner: FitOptions,
    starts: Starts,
    reach: float,
) -> Fit:
    """Judge the end of a search; ``reach`` comes from ``interval_quantile``."""
    problem, here = total.problem, course.last
    chosen = np.flatnonzero(~box.held(here.at, here.slope))
    names = tuple(problem.parameters[at] for at in chosen)
    hessian = total.curvature(here.at)[np.ix_(chosen, chosen)]
    spread = spread_by_hessian(hessian)
    ways = [dict(zip(names, map(float, way), strict=True)) for way in spread.open]
    _, noise = total.noise(here.at)
    moved = np.abs(spread.inverse) @ noise[chosen]
    converged = found.kind == "minimum" and not ways
    return Fit(
        text=text,
        problem=problem,
        parameters=estimate_parameters(problem, here.at, names, spread.errors, moved, reach),
        rows=problem.rows,
        dof=max(problem.rows - len(chosen), 0),
        cost=here.value,
        aic=2 * here.value + 2 * len(chosen) if converged else None,
        covariance=spread.covariance,
        correlation=correlation_of(spread),
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


# As a picture shows it.


class FitCurve(NamedTuple):
    """A drawing: rows and residuals over a column, or over the model's values if there are several columns.

    ``column``     the horizontal axis; empty for the model's values
    ``x`` ``y``    the rows' places and responses, with their standard ``deviations`` if they are known
    ``residuals``  response less model
    ``places``     the curve's places, with its ``values``, and the ends of its confidence band
    """

    column: str
    x: list[float]
    y: list[float]
    residuals: list[float]
    deviations: list[float] | None
    places: list[float]
    values: list[float]
    low: list[float] | None
    high: list[float] | None


def fit_curve(found: Fit) -> FitCurve:
    """Return the contents of a fit's picture."""
    problem = found.problem
    point = np.array([found.parameters[name].value for name in problem.parameters])
    graph, model = problem.graph, problem.graph.operands[problem.graph.output][-1]
    across = [  # the columns that the model reads, and the response doesn't alone
        at
        for at, name in enumerate(problem.columns)
        if dependent_flags(graph, [graph.inputs[name]])[model]
    ]
    column = across[0] if len(across) == 1 else None
    stride = -(-problem.rows // MOST_DOTS)
    x, y, residuals, deviations, first = [], [], [], [], None
    for block, (residual, *_, response) in problem.results(point):
        first = [float(column[0]) for column in block.columns] if first is None else first
        place = response - residual if column is None else block.columns[column]
        x += place[::stride].tolist()
        y += response[::stride].tolist()
        residuals += residual[::stride].tolist()
        if found.absolute and not found.objective:
            deviations += (1 / block.scale[::stride]).tolist()
    assert first is not None
    if column is None:
        ends = [min(x), max(x)]
        return FitCurve("", x, y, residuals, deviations or None, ends, ends, None, None)
    rows = problem.columns[column], x, y, residuals, deviations or None
    return FitCurve(*rows, *model_curve(found, point, column, first, x))


def model_curve(
    found: Fit, point: Any, column: int, first: list[float], x: list[float]
) -> tuple[list[float], list[float], list[float] | None, list[float] | None]:
    """Return the model over a column, and its band by the estimates' covariance.

    Source: Bates and Watts, Nonlinear Regression Analysis (1988), section 2.3.2.
    """
    problem = found.problem
    places = np.linspace(min(x), max(x), GRID)
    columns = [np.full(GRID, value) for value in first]
    columns[column] = places
    names = problem.columns, problem.parameters
    rows = iter([Columns(columns)])
    grid = LeastSquaresProblem(problem.graph, problem.response, *names, lambda: rows, GRID)
    chosen = [problem.parameters.index(name) for name in found.estimated]
    ((_, (residual, *slopes, response)),) = grid.results(point)
    model = response - residual
    errors = np.array([found.parameters[name].error or nan for name in found.estimated])
    if not np.isfinite(errors).all():
        return places.tolist(), model.tolist(), None, None
    reach = interval_quantile(
        found.level, inf if found.absolute or found.loss else max(found.dof, 1)
    )
    jacobian = np.column_stack([slopes[at] for at in chosen]) * errors
    size = np.max(np.abs(jacobian), initial=0.0) or 1.0
    jacobian /= size
    width = reach * size * np.sqrt(np.sum(jacobian @ found.correlation * jacobian, axis=1))
    return places.tolist(), model.tolist(), (model - width).tolist(), (model + width).tolist()
