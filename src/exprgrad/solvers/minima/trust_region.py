"""A search for a minimum by Newton's method within a trust region, with bounds.

Sources: A. R. Conn, N. I. M. Gould and P. L. Toint, Trust-Region Methods (2000), chapters 6 and 7; J.
Nocedal and S. J. Wright, Numerical Optimization (2006), chapters 4 and 16.  Ours are the end, where values
are too coarse to be compared and gradients are not, and the strides where steps do not shrink as Newton's
do.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from exprgrad.solvers.minima.objective import Flags, Objective, Vector
from exprgrad.solvers.minima.steps import (
    Proposal,
    conjugate_step,
    dense_step,
    norm,
    spectrum,
)

__all__ = ["EPSILON", "MOST_DENSE", "Box", "Course", "Turn", "search"]

EPSILON = 2.0**-52
MOST_DENSE = 200
"""Up to so many numbers the Hessian is formed, and its eigenvalues found; beyond, only products."""
ACCEPTED = 1e-4
"""The part of the gain that the model promises that a step has to make."""
POOR, GOOD = 0.25, 0.75
"""Which parts of it shrink the radius, and let it grow."""
GROWTH = 2.0
"""How much the radius grows."""
EXACT, EXACT_GROWTH = 1e-6, 32.0
"""A formula that comes so near to what the model promises is that model, and the radius grows more."""
COARSE = 16.0
"""A gain of so many roundings of the value is too small to be seen in values."""
SHRINKING = 600
"""How often the radius shrinks for one step: from 1e300 down to 0."""
WIDEST = 1e300
"""The greatest radius."""
DEEP = 1e150
"""A value so far below 0, in sizes of the first, is said to fall to -inf."""
SLOW = 0.45
"""The ratio of a step to the one before from which on they are said not to shrink as Newton's do."""
ALIGNED = 0.95
"""The cosine of two steps from which on they go the same way."""
ENDLESS = 0.9
"""The ratio from which on steps are not said to shrink at all."""
POLISHING = 100
"""The most Newton steps at the end."""
LAST_DIGITS = 1e-12
"""A step that is so short a part of the point is at the end of what doubles tell."""


class Box(NamedTuple):
    """The least and the greatest that each number may be."""

    low: Vector
    high: Vector

    def clipped(self, at: Vector) -> Vector:
        """The nearest point inside."""
        return np.clip(at, self.low, self.high)

    def held(self, at: Vector, slope: Vector) -> Flags:
        """The numbers at a bound beyond which the value would go down."""
        return ((at <= self.low) & (slope > 0)) | ((at >= self.high) & (slope < 0))


class Turn(NamedTuple):
    """A point on the way, the radius of the trust region, and whether a whole Newton step led there."""

    at: Vector
    value: float
    slope: Vector
    radius: float = 0.0
    by_newton: bool = False


@dataclass
class Course:
    """The way of a search, and how it ended.

    ``reason`` is ``still`` (no step is left that would change anything), ``stuck`` (no step goes down,
    though the model says that some do), ``unbounded`` (along ``way``), ``undefined`` (the start has no
    value or no gradient) or ``limit``.  ``blocked`` are the points tried last that have a greater value, or
    none.
    """

    turns: list[Turn]
    reason: str = ""
    blocked: list[Vector] = field(default_factory=list)
    way: Vector | None = None

    @property
    def depth(self) -> float:
        """A value below which it is said to fall to -inf."""
        return -DEEP * max(abs(self.turns[0].value), 1.0)

    @property
    def last(self) -> Turn:
        """Where it is."""
        return self.turns[-1]


class Local(NamedTuple):
    """A quadratic model at a point: which numbers are free to move, and the Hessian, where it was formed.

    ``product`` multiplies by it.
    """

    free: Flags
    matrix: Vector | None
    product: Callable[[Vector], Vector]


def search(objective: Objective, start: Vector, box: Box, most: int) -> Course:
    """Go down from a start, by so many steps at most."""
    at = box.clipped(start)
    value, slope = objective.slope(at)
    course = Course([Turn(at, value, slope)])
    if not (math.isfinite(value) and np.all(np.isfinite(slope))):
        course.reason = "unbounded" if value == -math.inf else "undefined"
    radius = max(norm(at), 1.0)
    while not course.reason:
        if len(course.turns) > most or radius >= WIDEST:
            course.reason = "limit"
            break
        local = model_at(objective, course.last, box)
        radius = advance(objective, course, box, local, radius)
    return course


# Steps.


def model_at(objective: Objective, here: Turn, box: Box) -> Local:
    """The quadratic model at a point."""
    at, free = here.at, ~box.held(here.at, here.slope)
    if len(at) > MOST_DENSE:
        return Local(free, None, lambda way: objective.product(at, way))
    matrix = objective.curvature(at)
    matrix = np.where(np.isfinite(matrix), matrix, 0.0)
    return Local(free, matrix, lambda way: matrix @ way)


def advance(objective: Objective, course: Course, box: Box, local: Local, radius: float) -> float:
    """Take a step, or say why there is none; the radius for the next."""
    here = course.last
    course.blocked.clear()
    for _ in range(SHRINKING):
        step, is_newton = step_inside(here, box, local, radius)
        gain = -(float(here.slope @ step) + 0.5 * float(step @ local.product(step)))
        if not np.any(step) or not gain > COARSE * EPSILON * abs(here.value):
            if np.any(step) and not (is_newton or course.blocked) and radius < WIDEST / 16:
                radius *= 16
                continue
            course.reason = "stuck" if course.blocked else "still"
            if is_newton:
                course.reason = "still"
                polish(objective, course, box)
            return radius
        trial = here.at + step
        if np.array_equal(trial, here.at):
            break
        value = objective.value(trial)
        if value < course.depth:
            course.reason, course.way = "unbounded", step
            return radius
        size = norm(step)
        part = (here.value - value) / gain
        if part >= ACCEPTED:
            found, slope = objective.slope(trial)
            if np.all(np.isfinite(slope)):
                course.turns.append(Turn(trial, found, slope, radius, is_newton))
                if part < POOR:
                    radius = 0.5 * size
                elif part > GOOD:
                    growth = EXACT_GROWTH if abs(part - 1) < EXACT else GROWTH
                    radius = max(radius, min(growth * size, WIDEST))
                stride(objective, course, box)
                return radius
        if is_newton and gain <= 2 * objective.noise(here.at)[0]:
            course.reason = "still"
            polish(objective, course, box)
            return radius
        course.blocked.append(trial)
        radius = POOR * min(size, radius)
        if not radius > 0:
            break
    course.reason = "stuck"
    return radius


def step_inside(here: Turn, box: Box, local: Local, radius: float) -> Proposal:
    """A step that stays inside of the box: numbers that would leave it from a bound stay there."""
    free = local.free.copy()
    step = np.zeros_like(here.at)
    while np.any(free):
        step[:] = 0.0
        step[free], is_newton = free_step(here, local, free, radius)
        out = free & (((here.at <= box.low) & (step < 0)) | ((here.at >= box.high) & (step > 0)))
        if not np.any(out):
            return Proposal(kept_in(here, local, step, box), is_newton)
        free &= ~out
    return Proposal(np.zeros_like(here.at), True)


def free_step(here: Turn, local: Local, free: Flags, radius: float) -> Proposal:
    """The step of the numbers that are free."""
    slope = here.slope[free]
    if local.matrix is not None:
        return dense_step(spectrum(local.matrix[np.ix_(free, free)]), slope, radius)

    def product(way: Vector) -> Vector:
        whole = np.zeros_like(here.at)
        whole[free] = way
        return local.product(whole)[free]

    part = min(0.1, math.sqrt(norm(slope) / (1 + abs(here.value))))
    return conjugate_step(product, slope, radius, part, 2 * len(slope))


def kept_in(here: Turn, local: Local, step: Vector, box: Box) -> Vector:
    """A step that stays in the box: clipped, or cut off where it leaves it, as promises more."""
    end = here.at + step
    if np.all((box.low <= end) & (end <= box.high)):
        return step
    with np.errstate(all="ignore"):
        room = np.where(step > 0, box.high - here.at, box.low - here.at) / step
    cut = box.clipped(here.at + step * float(np.min(room[step != 0])))
    steps = [box.clipped(end) - here.at, cut - here.at]
    return min(steps, key=lambda s: float(here.slope @ s) + 0.5 * float(s @ local.product(s)))


# Where steps shrink slowly, and where values say nothing any more.


def stride(objective: Objective, course: Course, box: Box) -> None:
    """Go further along the last step, if it and the one before go the same way and hardly shrink.

    Newton's steps do so where the Hessian is singular, by a constant ratio: there their sum is known (J. W.
    Schmidt and others call that extrapolation).  Where they do not shrink at all they are doubled.
    """
    if len(course.turns) < 3 or not all(turn.by_newton for turn in course.turns[-2:]):
        return
    one, two, here = course.turns[-3:]
    before, step = two.at - one.at, here.at - two.at
    sizes = norm(before), norm(step)
    if not (0 < sizes[0] < math.inf and 0 < sizes[1] < math.inf):
        return
    ratio = sizes[1] / sizes[0]
    if ratio < SLOW or float((before / sizes[0]) @ (step / sizes[1])) < ALIGNED:
        return
    ends = [ratio / (1 - ratio)] if ratio < ENDLESS else [2.0**k for k in range(1023)]
    best = here.value
    found: Vector | None = None
    for end in ends:
        with np.errstate(over="ignore"):
            trial = box.clipped(here.at + end * step)
        if not np.all(np.isfinite(trial)):
            course.reason, course.way = "unbounded", step
            break
        value = objective.value(trial)
        if value < course.depth:
            course.reason, course.way = "unbounded", trial - here.at
            return
        if not value < best:
            break
        best, found = value, trial
    if found is not None:
        value, slope = objective.slope(found)
        if np.all(np.isfinite(slope)):
            course.turns.append(Turn(found, value, slope, here.radius))


def polish(objective: Objective, course: Course, box: Box) -> None:
    """Newton's steps until they stop shrinking: the last digits, which values cannot tell."""
    local = model_at(objective, course.last, box)
    step = newton(course.last, local)
    for _ in range(POLISHING):
        here = course.last
        if step is None:
            return
        trial = box.clipped(here.at + step)
        if np.array_equal(trial, here.at):
            return
        value, slope = objective.slope(trial)
        there = Turn(trial, value, slope, here.radius, by_newton=True)
        if not (np.all(np.isfinite(slope)) and value <= here.value + 1e-9 * abs(here.value)):
            return
        local = model_at(objective, there, box)
        following = newton(there, local)
        if following is None or not norm(following) < norm(step):
            return
        course.turns.append(there)
        if norm(following) > SLOW * norm(step) > 0 and norm(step) > LAST_DIGITS * norm(trial):
            return
        step = following


def newton(here: Turn, local: Local) -> Vector | None:
    """Newton's step of the numbers that are free; None where the Hessian is not positive definite."""
    free = local.free
    if not np.any(free):
        return None
    step = np.zeros_like(here.at)
    step[free], is_newton = free_step(here, local, free, math.inf)
    return step if is_newton and np.all(np.isfinite(step)) else None
