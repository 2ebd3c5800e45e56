"""The verdict on the end of a search for a minimum, and its words.

A gradient counts as 0 where it is no larger than its rounding: its own error bound, and the effect of half
an ulp of the point.  A Hessian counts as singular where, within the distance to which the point
is known, its least eigenvalue may vanish (L. V. Kantorovich's condition for Newton's method, tested at two
points).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple

import numpy as np

from exprgrad.language.write.infix import number_text
from exprgrad.solvers.minima.search import (
    EPSILON,
    MOST_DENSE,
    SINGULAR,
    Box,
    Flags,
    Objective,
    PointLayout,
    SearchCourse,
    Spectrum,
    Turn,
    Vector,
    eigen_spectrum,
    lanczos_spectrum,
    restrict_product,
    vector_norm,
)

__all__ = [
    "NEARBY", "REACHES", "Active", "Judged", "gradient_noise", "judge_smooth", "run_off", "six_digits",
    "trend_of", "verdict_text",
]  # fmt: skip

LENIENCE = 8.0
"""The multiple of the rounding that still counts as 0: bounds are of first order."""
LANCZOS = 40
"""The products with a large Hessian that give its outermost eigenvalues."""
NEGLIGIBLE = 1e-30
"""A value below this part of the first is negligible."""
HALF = 0.5
"""The relative change allowed to the least eigenvalue within the accuracy of the point."""
REACHES = [2.0**k for k in range(-40, 5, 2)]
"""The relative distances at which values are compared where slopes and the Hessian tell nothing."""
NEARBY = 1e50
"""A value infinite nearer than this is infinite at a point, not because numbers overflow."""
OUTWARD = [2.0**k for k in range(0, 1020, 20)]
"""The distances tried where the value may fall for ever."""
FURTHER = 1024.0
"""The distance for balls: doubles cancel along a level line, too."""
FARTHEST = 1e308
"""The greatest number tried."""
MOST_TERMS = 4
"""The most terms of a direction's text."""
MENTIONED = 1e-3
"""The least part of a direction that its text mentions."""
WORDS: Mapping[str, Mapping[str, str]] = {
    "minimum": {
        "vertex": "no direction within the active constraints leads {down} or is level",
        "bounds": "every input is at a bound, beyond which the value would go {down}",
        "curvature": "the gradient is 0 and the Hessian is {definite}: {least} is {bend}",
        "products": "the gradient is 0 and the Hessian is {definite}: {least} is about {bend}",
        "constraints": "active constraints balance the gradient and the Hessian is {definite} along them: "
        "{least} is {bend}",
    },
    "saddle": {"falls": "the gradient is 0, but the value goes {down} along {way}"},
    "flat": {
        "": "the Hessian of the Lagrangian is singular along {way}",
        "rises": "{level} {rises} on both sides",
        "falls": "{level} {falls} on one side",
        "stays": "{level} stays the same",
    },
    "unbounded": {
        "pole": "the value {falls} to {infinity} near {place}",
        "infinite": "the value {falls} to {infinity} along {way}",
        "level": "the value {falls} for ever along {way}, towards {limit}",
        "far": "the value {falls} for ever along {way}, as far as doubles go: to {limit}",
    },
    "not converged": {
        "infeasible": "no point was found where {broken} holds",
        "undefined": "{what} is not finite at the start: the search needs finite inputs at which value "
        "and gradient are finite, too",
        "limit": "{steps} not enough: the gradient's norm is {slope}",
        "stuck": "no step goes {down}, though the gradient's norm is {slope}",
        "vanishing": "the gradient of {broken} is 0 there, so that no multiplier can show a minimum",
        "still": "rounding hides what steps gain, and the gradient's norm is {slope}",
        "large": "the gradient is 0, but the Hessian is not finite",
    },
    "switch": {
        "sharp": "{where}: every direction from there leads {up}",
        "falls": "{where}, but the value goes {down} along {way}",
        "axes": "{where}: the value goes {up} both ways along each input",
        "jump": "{jumps}: just beside, the value goes {down} along {way}",
        "ledge": "{jumps}: just beside, the value goes {down} along no input",
        "rises": "{where}: some directions are level by their slopes, but the value goes {up} along them",
        "level": "{where}: no direction leads {down}, but some are level by their slopes",
        "stuck": "{where}, and no step goes {down}",
    },
}
"""Messages by kind and reason, and by trend where the Hessian shows no minimum.

A ``switch`` is a kink, or an edge of the formula's domain, whatever the kind.
"""
SAWTOOTH = 1e-8
"""The relative change of a value from which on it should follow its slope."""


class Active(NamedTuple):
    """A constraint that is met with equality and presses on the point, and its Lagrange multiplier.

    The multiplier is the value's change for each unit by which the constraint is moved.
    """

    constraint: str
    multiplier: float


class Judged(NamedTuple):
    """A verdict, its reason, and its evidence.

    ``kind``       ``minimum``, ``saddle``, ``flat``, ``unbounded`` or ``not converged``
    ``direction``  along which the value goes down, or the Hessian is singular, or the value falls for ever
    ``values``     the least and the greatest eigenvalue of the Hessian over the numbers that are free
    ``trend``      the values along the direction: ``rises``, ``falls`` or ``stays``; empty if not examined
    ``lower``      a point with a lower value, from which the search can go on
    ``limit``      the limit of a value that falls for ever
    ``active``     the constraints and bounds that press on the point
    ``residual``   the norm of what their pressure leaves of the gradient; None without constraints
    ``broken``     a constraint that does not hold, or whose gradient vanishes
    ``kinks``      the operations that have a kink at the point
    ``edges``      the operations whose domain ends there
    """

    kind: str
    reason: str = ""
    direction: Vector | None = None
    values: tuple[float, float] | None = None
    trend: str = ""
    lower: Vector | None = None
    limit: float = math.nan
    active: tuple[Active, ...] = ()
    residual: float | None = None
    broken: str = ""
    kinks: tuple[str, ...] = ()
    edges: tuple[str, ...] = ()


def judge_smooth(objective: Objective, course: SearchCourse, box: Box) -> Judged:
    """Judge the end of a search and find the bounds that press on it, without regard to kinks and edges."""
    here = course.last
    held = np.flatnonzero(box.held(here.at, here.slope)).tolist()
    names = objective.layout.names() if held else []
    active = tuple(
        Active(
            f"{names[at]} {'>=' if slope > 0 else '<='} {number_text(float(here.at[at]))}",
            abs(slope),
        )
        for at, slope in ((at, float(here.slope[at])) for at in held)
    )
    return judged_inside(objective, course, box)._replace(active=active)


def judged_inside(objective: Objective, course: SearchCourse, box: Box) -> Judged:
    """Judge by the free numbers."""
    here = course.last
    if course.reason == "undefined":
        return Judged("not converged", "undefined")
    if course.reason == "unbounded":
        assert course.way is not None
        way = course.way / vector_norm(course.way)
        there, beyond = (objective.value(here.at + times * course.way) for times in (1, 1024))
        if not there < course.depth:
            return Judged("unbounded", "far", way, limit=here.value)
        is_pole = vector_norm(here.at + course.way) < NEARBY and not beyond <= there
        return Judged(
            "unbounded", "pole" if is_pole else "infinite", way, lower=here.at + course.way
        )
    free = ~box.held(here.at, here.slope)
    left = gradient_noise(objective, here)
    known = hessian_spectrum(objective, here, free)
    still = bool(np.all(np.abs(here.slope[free]) <= left[free]))
    direction = np.zeros_like(here.at)
    if known is not None:
        direction[free] = known.vectors[:, 0]
    is_level = known is None or abs(known.values[0]) <= known.tiny
    if known is None or is_level or not still or not np.any(known.values > 0):
        # Doubles cancel along a level line; balls tell, but not of tensors.
        level = [] if objective.graph.shapes else [direction, -direction]
        endless = run_off(objective, course, box.holds, level)
        if endless is not None:
            return endless
    if known is not None and known.values[0] > 0 and not still and course.reason == "still":
        along = known.vectors.T @ here.slope[free]  # no step gains anything visible in doubles
        still = bool(np.sum(along**2 / known.values) <= 16 * EPSILON * abs(here.value))
    if not still:
        return Judged("not converged", course.reason)
    if not np.any(free):
        return Judged("minimum", "bounds")
    if known is None:
        return Judged("not converged", "large")
    return by_curvature(objective, course, free, left, known, direction, box)


def gradient_noise(objective: Objective, here: Turn) -> Vector:
    """Bound, for each number, how large rounding may make a gradient of 0."""
    _, noise = objective.noise(here.at)
    noise = np.where(np.isfinite(noise), noise, 0.0)
    size = np.abs(here.at) * EPSILON
    if len(here.at) <= MOST_DENSE:
        moved = np.abs(objective.curvature(here.at)) @ size
    else:
        moved = np.abs(objective.product(here.at, size))
    return LENIENCE * (noise + np.where(np.isfinite(moved), moved, 0.0))


def hessian_spectrum(objective: Objective, here: Turn, free: Flags) -> Spectrum | None:
    """Return the Hessian's spectrum over the free numbers; of a large one approximate ends."""
    if not np.any(free):
        return None
    if len(here.at) > MOST_DENSE:
        product = restrict_product(lambda way: objective.product(here.at, way), free)
        start = np.random.default_rng(0).standard_normal(int(np.sum(free)))  # always the same
        found = lanczos_spectrum(product, start, LANCZOS)
        return found if np.all(np.isfinite(found.vectors)) else None
    matrix = objective.curvature(here.at)[np.ix_(free, free)]
    return eigen_spectrum(matrix) if np.all(np.isfinite(matrix)) else None


def by_curvature(
    objective: Objective,
    course: SearchCourse,
    free: Flags,
    left: Vector,
    known: Spectrum,
    direction: Vector,
    box: Box,
) -> Judged:
    """Judge where the gradient is 0, by the Hessian, whose curvature is least along ``direction``."""
    here = course.last
    extremes = float(known.values[0]), float(known.values[-1])
    level, way, least = weakest_eigenvalue(objective, here, free, known)
    if level > SINGULAR * len(known.values) * EPSILON and eigenvalue_holds(
        objective, here, way, left, level
    ):
        reason = "curvature" if len(here.at) <= MOST_DENSE else "products"
        return Judged("minimum", reason, None, (max(extremes[0], least), extremes[1]))
    is_bent = extremes[0] < -known.tiny
    if is_bent and eigenvalue_holds(objective, here, direction, left, extremes[0]):
        return Judged("saddle", "", direction, extremes, "falls")
    trend, lower = probe_direction(objective, here, direction, box, course.turns[0].value)
    if is_bent:
        return Judged("not converged", "still", lower=lower)
    return Judged("flat", "", direction, extremes, trend, lower)


def weakest_eigenvalue(
    objective: Objective, here: Turn, free: Flags, known: Spectrum
) -> tuple[float, Vector, float]:
    """Return the least eigenvalue of the Hessian in units that make its diagonal 1, and its vector.

    So a Hessian is not singular only because of its inputs' units.  Last comes a lower bound of the
    least eigenvalue without these units; a large Hessian gets no units.
    """
    way = np.zeros_like(here.at)
    most = float(np.max(np.abs(known.values)))
    if len(here.at) > MOST_DENSE:
        way[free] = known.vectors[:, 0] / math.sqrt(most)
        return float(known.values[0]) / most, way, -math.inf
    matrix = objective.curvature(here.at)[np.ix_(free, free)]
    bends = np.diag(matrix)
    if not np.all(bends > 0):
        return -1.0, way, -math.inf
    units = 1 / np.sqrt(bends)
    scaled = eigen_spectrum(matrix * units * units[:, None])
    way[free] = units * scaled.vectors[:, 0]
    least = float(scaled.values[0])
    return least, way, least * float(np.min(bends))


def eigenvalue_holds(
    objective: Objective, here: Turn, way: Vector, left: Vector, bend: float
) -> bool:
    """Whether an eigenvalue, of the vector ``way``, persists as far as the gradient may be 0."""
    off = float(np.abs(way) @ (left + np.abs(here.slope))) / abs(bend)
    for sign in (-2.0, 2.0):
        bent = objective.product(here.at + sign * off * way, way)
        if not HALF < float(way @ bent) / bend < 1 / HALF:
            return False
    return True


def probe_direction(
    objective: Objective, here: Turn, direction: Vector, box: Box, first: float
) -> tuple[str, Vector | None]:
    """Probe values along a direction, both ways; also return a lower point, if there is one."""
    trends = set()
    for way in (-direction, direction):
        points = ((box.clipped(here.beside(reach, way)), 0.0) for reach in REACHES)
        trend, lower = trend_of(objective, here, points, first)
        if lower is not None:
            return trend, lower
        trends.add(trend)
    return ("stays" if "stays" in trends else "rises"), None


def trend_of(
    objective: Objective, here: Turn, points: Iterable[tuple[Vector, float]], first: float = 0.0
) -> tuple[str, Vector | None]:
    """Find the first trend that exceeds rounding, at ever farther points; also return a lower point.

    Each point has its value's error besides rounding.  The trend is empty where there are
    no values.  ``first`` is a value to which others may be negligible.
    """
    known, best = objective.noise(here.at)[0] + NEGLIGIBLE * abs(first), here.value
    trend, lower = "", None
    for trial, off in points:
        value = objective.value(trial)
        if lower is not None and not value < best:
            break
        if math.isfinite(value):
            trend = trend or "stays"
        apart = abs(value - here.value)
        if apart > 2 * known and apart > known + off + objective.noise(trial)[0]:
            if value > here.value:
                return "rises", None
            trend, best, lower = "falls", value, trial
    return trend, lower


def run_off(
    objective: Objective,
    course: SearchCourse,
    allowed: Callable[[Vector], bool],
    more: Iterable[Vector] = (),
) -> Judged | None:
    """Judge whether the value falls for ever, as far as doubles go: onwards, or along ``more``.

    All points on the way must be ``allowed``.
    """
    here = course.last
    vectors = here.at - course.turns[0].at, -here.slope
    ways = [one / vector_norm(one) for one in vectors if 0 < vector_norm(one) < math.inf]
    for way in filter(np.any, [*ways, *more]):
        ahead = list(ahead_values(objective, here, way, allowed))
        if len(ahead) < len(OUTWARD):
            continue
        noise, noises = objective.noise(here.at)
        # The product's own rounding (Higham's gamma_n) counts where an objective states no noise.
        blur = noises + (len(way) + 1) * EPSILON * np.abs(here.slope)
        falls = float(here.slope @ way) < -float(blur @ np.abs(way))
        if not falls and (ahead[-1] < here.value - noise or (noise > 0 and noises.any())):
            true = [objective.true_value(here.at, to * way) for to in (FURTHER * here.size, 0.0)]
            known = [value for value in true if value is not None and value.is_finite()]
            falls = len(known) < 2 or bool(known[0] < known[1])  # where balls can't tell, it counts
        if falls:
            is_level = vector_norm(here.at) < NEARBY and abs(
                ahead[-1] - ahead[len(ahead) // 2]
            ) <= 1e-6 * abs(ahead[-1])
            reason = "level" if is_level else "far"
            if not math.isfinite(ahead[-1]):
                reason = "infinite"
            return Judged("unbounded", reason, way, limit=ahead[-1])
    return None


def ahead_values(
    objective: Objective, here: Turn, way: Vector, allowed: Callable[[Vector], bool]
) -> Iterator[float]:
    """Yield values ever farther along a direction, while they do not rise and slopes do not turn."""
    before, last = here.value, here.at
    for reach in OUTWARD:
        trial = np.clip(np.nan_to_num(here.beside(reach, way)), -FARTHEST, FARTHEST)
        if not allowed(trial):
            return
        value, slope = objective.slope(trial)
        if math.isnan(value) and (true := objective.true_value(trial)) is not None:
            value = float(true)  # doubles overflow on the way
        if not value <= before or float(slope @ way) > 0:
            return
        if value == before:
            hidden = objective.noise(trial)[0] + SAWTOOTH * abs(value)
            if float(slope @ (last - trial)) > hidden:
                return  # a slope that values do not follow is that of a sawtooth
        before, last = value, trial
        yield value


# In words.


def verdict_text(found: Judged, course: SearchCourse, layout: PointLayout, sign: float) -> str:
    """Write a verdict; ``sign`` is -1 for a maximum."""
    here = course.last
    down, up, falls, rises = "down", "up", "falls", "rises"
    definite, least = "positive definite", "its least eigenvalue"
    if sign < 0:
        down, up, falls, rises = up, down, rises, falls
        definite, least = "negative definite", "its greatest eigenvalue"
    if not np.all(np.isfinite(here.at)):
        return WORDS["not converged"]["undefined"].format(what="an input")
    kind = "switch" if found.kinks or found.edges else found.kind
    switches = [f"{text} has a kink" for text in found.kinks]
    switches += [f"{text} ends its domain" for text in found.edges]
    way = "" if found.direction is None else direction_text(found.direction, layout)
    return WORDS[kind][found.trend if kind in ("flat", "saddle") else found.reason].format(
        down=down, up=up, falls=falls, rises=rises, definite=definite, least=least, way=way,
        bend=six_digits(sign * found.values[0]) if found.values else "",
        level=f"the gradient is 0 and the Hessian singular along {way}; there the value",
        infinity=number_text(-sign * math.inf), limit=six_digits(sign * found.limit),
        place="" if found.lower is None else place_in_words(found.lower, layout),
        where=" and ".join(switches), jumps=" and ".join(f"{text} jumps" for text in found.kinks),
        broken=found.broken,
        what="the gradient" if math.isfinite(here.value) else "the value",
        steps="1 step was" if len(course.turns) == 2 else f"{len(course.turns) - 1} steps were",
        slope=six_digits(vector_norm(here.slope)),
    )  # fmt: skip


def place_in_words(at: Vector, layout: PointLayout) -> str:
    """Write a short point: ``x = 0, y = 1``."""
    if len(at) > MOST_TERMS:
        return "this point"
    pairs = zip(layout.names(), at, strict=True)
    return ", ".join(f"{name} = {six_digits(float(x))}" for name, x in pairs)


def six_digits(value: float) -> str:
    """Write a number in six digits."""
    return number_text(float(f"{value:.6g}"))


def direction_text(direction: Vector, layout: PointLayout) -> str:
    """A direction as a sum of names: ``0.8*x - 0.6*y``, or ``-x``."""
    most = float(np.max(np.abs(direction)))
    order = [int(at) for at in np.argsort(-np.abs(direction), kind="stable")[:MOST_TERMS]]
    kept = sorted(at for at in order if abs(direction[at]) >= MENTIONED * most)
    names = layout.names() if len(direction) <= 10_000 else []
    terms = ""
    for at in kept:
        part = float(direction[at]) / (most if len(kept) == 1 else 1.0)
        called = names[at] if names else f"number {at}"
        factor = "" if abs(part) == 1 else f"{abs(part):.3g}*"
        sign = (" - " if terms else "-") if part < 0 else (" + " if terms else "")
        terms += f"{sign}{factor}{called}"
    more = int(np.sum(np.abs(direction) >= MENTIONED * most)) - len(kept)
    return terms + (" + …" if more > 0 else "")
