"""A search for a minimum by Newton's method within a trust region, with bounds.

Sources: A. R. Conn, N. I. M. Gould and P. L. Toint, Trust-Region Methods (2000), chapters 6 and 7; J.
Nocedal and S. J. Wright, Numerical Optimization (2006), chapters 4 and 16.  Ours are the end, where values
are too coarse to be compared and gradients are not, and the strides where steps do not shrink as Newton's
do.

A step leads to where a quadratic model is least, not farther off than a radius: J. J. Moré and D. C.
Sorensen, Computing a trust region step (1983), by eigenvalues here; T. Steihaug, The conjugate gradient
method and trust regions in large scale optimization (1983), where there are many inputs.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from exprgrad.solvers.minima.objective import Flags, Objective, Vector

__all__ = [
    "EPSILON", "MOST_DENSE", "Box", "Course", "Spectrum", "Turn", "lanczos", "norm", "restricted", "search",
    "spectrum", "turn_at",
]  # fmt: skip

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
TIGHT = 1e-3
"""How near to the radius, as a part of it, the length of a step has to come."""
TURNS = 60
"""The most turns of the search for a shift: it halves an interval where Newton's step leaves it."""


class Box(NamedTuple):
    """The least and the greatest that each number may be."""

    low: Vector
    high: Vector

    def clipped(self, at: Vector) -> Vector:
        """The nearest point inside."""
        return np.clip(at, self.low, self.high)

    def holds(self, at: Vector) -> bool:
        """Whether a point is inside."""
        return np.array_equal(self.clipped(at), at)

    def held(self, at: Vector, slope: Vector) -> Flags:
        """The numbers at a bound beyond which the value would go down."""
        return ((at <= self.low) & (slope > 0)) | ((at >= self.high) & (slope < 0))


class Turn(NamedTuple):
    """A point on the way, and whether a whole Newton step led there."""

    at: Vector
    value: float
    slope: Vector
    by_newton: bool = False

    @property
    def is_finite(self) -> bool:
        """Whether the value and the gradient are."""
        return math.isfinite(self.value) and bool(np.all(np.isfinite(self.slope)))


def turn_at(objective: Objective, at: Vector, *, by_newton: bool = False) -> Turn:
    """A point with its value and gradient."""
    return Turn(at, *objective.slope(at), by_newton)


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

    here: Turn
    free: Flags
    matrix: Vector | None
    product: Callable[[Vector], Vector]

    def change(self, step: Vector) -> float:
        """By how much a step changes the value, as the model says."""
        return float(self.here.slope @ step) + 0.5 * float(step @ self.product(step))


def search(objective: Objective, start: Vector, box: Box, most: int) -> Course:
    """Go down from a start, by so many steps at most."""
    first = turn_at(objective, box.clipped(start))
    course = Course([first])
    if not first.is_finite:
        course.reason = "undefined"
    radius = max(norm(first.at), 1.0)
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
        return Local(here, free, None, lambda way: objective.product(at, way))
    matrix = objective.curvature(at)
    matrix = np.where(np.isfinite(matrix), matrix, 0.0)
    return Local(here, free, matrix, lambda way: matrix @ way)


def advance(objective: Objective, course: Course, box: Box, local: Local, radius: float) -> float:
    """Take a step, or say why there is none; the radius for the next."""
    here = course.last
    course.blocked.clear()
    for _ in range(SHRINKING):
        step, is_newton = step_inside(box, local, radius)
        gain = -local.change(step)
        if not gain > COARSE * EPSILON * abs(here.value):
            if np.any(step) and not (is_newton or course.blocked) and radius < WIDEST / 16:
                radius *= 16
                continue
            course.reason = "stuck" if course.blocked and not is_newton else "still"
            if is_newton:
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
            there = turn_at(objective, trial, by_newton=is_newton)
            if np.all(np.isfinite(there.slope)):
                course.turns.append(there)
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


def restricted(product: Callable[[Vector], Vector], free: Flags) -> Callable[[Vector], Vector]:
    """Multiplication by the part of a matrix that belongs to the numbers that are free."""

    def inner(way: Vector) -> Vector:
        whole = np.zeros(len(free))
        whole[free] = way
        return product(whole)[free]

    return inner


def step_inside(box: Box, local: Local, radius: float) -> tuple[Vector, bool]:
    """A step that stays inside of the box: numbers that would leave it from a bound stay there.

    With a step comes whether it is a whole Newton step: to where the model has its least point.
    """
    here, free = local.here, local.free.copy()
    step = np.zeros_like(here.at)
    while np.any(free):
        step[:] = 0.0
        step[free], is_newton = free_step(local, free, radius)
        out = free & (((here.at <= box.low) & (step < 0)) | ((here.at >= box.high) & (step > 0)))
        if not np.any(out):
            return kept_in(local, step, box), is_newton
        free &= ~out
    return np.zeros_like(here.at), True


def free_step(local: Local, free: Flags, radius: float) -> tuple[Vector, bool]:
    """The step of the numbers that are free."""
    here = local.here
    slope = here.slope[free]
    if local.matrix is not None:
        return dense_step(spectrum(local.matrix[np.ix_(free, free)]), slope, radius)
    part = min(0.1, math.sqrt(norm(slope) / (1 + abs(here.value))))
    product = restricted(local.product, free)
    return conjugate_step(product, slope, radius, part, 2 * len(slope))


def kept_in(local: Local, step: Vector, box: Box) -> Vector:
    """A step that stays in the box: clipped, or cut off where it leaves it, as promises more."""
    here = local.here
    end = here.at + step
    if np.all((box.low <= end) & (end <= box.high)):
        return step
    room = np.where(step > 0, box.high - here.at, box.low - here.at) / step
    cut = box.clipped(here.at + step * float(np.min(room[step != 0])))
    steps = [box.clipped(end) - here.at, cut - here.at]
    return min(steps, key=local.change)


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
        there = turn_at(objective, found)
        if np.all(np.isfinite(there.slope)):
            course.turns.append(there)


def polish(objective: Objective, course: Course, box: Box) -> None:
    """Newton's steps until they stop shrinking: the last digits, which values cannot tell."""
    local = model_at(objective, course.last, box)
    step = newton(local)
    for _ in range(POLISHING):
        here = course.last
        if step is None:
            return
        trial = box.clipped(here.at + step)
        if np.array_equal(trial, here.at):
            return
        there = turn_at(objective, trial, by_newton=True)
        is_lower = there.value <= here.value + 1e-9 * abs(here.value)
        if not (np.all(np.isfinite(there.slope)) and is_lower):
            return
        local = model_at(objective, there, box)
        following = newton(local)
        if following is None or not norm(following) < norm(step):
            return
        course.turns.append(there)
        if norm(following) > SLOW * norm(step) > 0 and norm(step) > LAST_DIGITS * norm(trial):
            return
        step = following


def newton(local: Local) -> Vector | None:
    """Newton's step of the numbers that are free; None where the Hessian is not positive definite."""
    free = local.free
    if not np.any(free):
        return None
    step = np.zeros(len(free))
    step[free], is_newton = free_step(local, free, math.inf)
    return step if is_newton and np.all(np.isfinite(step)) else None


# Steps of a quadratic model, and its eigenvalues.


class Spectrum(NamedTuple):
    """The eigenvalues of a symmetric matrix, ascending, and its eigenvectors as columns."""

    values: Vector
    vectors: Vector


def norm(vector: Vector) -> float:
    """The root of the sum of squares, which neither overflows nor underflows on the way."""
    largest = float(np.max(np.abs(vector), initial=0.0))
    if largest == 0 or not math.isfinite(largest):
        return largest
    return largest * float(np.sqrt(np.sum((vector / largest) ** 2)))


def spectrum(matrix: Vector) -> Spectrum:
    """The eigenvalues and eigenvectors of a symmetric matrix of finite numbers, at any scale."""
    largest = float(np.max(np.abs(matrix), initial=0.0))
    if largest == 0:
        return Spectrum(np.zeros(len(matrix)), np.eye(len(matrix)))
    values, vectors = np.linalg.eigh(matrix / largest)
    return Spectrum(values * largest, vectors)


def dense_step(known: Spectrum, slope: Vector, radius: float) -> tuple[Vector, bool]:
    """Where ``slope·p + p·H·p/2`` is least for steps ``p`` within the radius, given H's spectrum."""
    values, vectors = known
    along = vectors.T @ slope
    least = float(values[0])
    if least > 0:
        step = along / values
        if np.all(np.isfinite(step)) and norm(step) <= radius:
            return -(vectors @ step), True
    if radius == math.inf:
        return np.zeros_like(slope), False
    shift = shift_for(values, along, radius)
    parts = np.where((along == 0) | (values + shift <= 0), 0.0, along / (values + shift))
    short = 1 - min(norm(parts) / radius, 1.0) ** 2
    if least <= 0 and short > 2 * TIGHT:  # along what bends down, to the radius
        parts[0] += math.copysign(radius * math.sqrt(short), along[0] if along[0] else 1.0)
    return -(vectors @ parts), False


def shift_for(values: Vector, along: Vector, radius: float) -> float:
    """What added to the eigenvalues makes the step ``along/(values + shift)`` as long as the radius."""
    low = max(0.0, -float(values[0]))
    high = shift = low + norm(along) / radius
    for _ in range(TURNS):
        parts = np.where(along == 0, 0.0, along / (values + shift))
        size = norm(parts)
        if abs(size - radius) <= TIGHT * radius or not low < high:
            break
        low, high = (shift, high) if size > radius else (low, shift)
        weights = np.where(parts == 0, 0.0, (parts / size) ** 2 / (values + shift))
        shift += np.float64(size / radius - 1) / np.sum(weights)
        if not low < shift < high:
            shift = low + (high - low) / 2
    return float(shift)


def conjugate_step(
    product: Callable[[Vector], Vector], slope: Vector, radius: float, part: float, most: int
) -> tuple[Vector, bool]:
    """The same by conjugate gradients, from products with H alone, until that part of the slope is left."""
    step = np.zeros_like(slope)
    rest = slope.copy()
    enough = part * norm(rest)
    way = -rest
    for _ in range(most if np.any(rest) else 0):
        bent = product(way)
        curvature = float(way @ bent)
        square = float(rest @ rest)
        further = step + (square / curvature) * way if curvature > 0 else None
        if further is None or not norm(further) <= radius:
            ahead = 0.0 if radius == math.inf else to_radius(step, way, radius)
            return step + ahead * way, False
        step, rest = further, rest + (square / curvature) * bent
        if norm(rest) <= enough:
            break
        way = -rest + (float(rest @ rest) / square) * way
    return step, True


def lanczos(product: Callable[[Vector], Vector], start: Vector, most: int) -> Spectrum:
    """Some eigenvalues of a symmetric matrix, the outermost nearly, and vectors, from products with it.

    Every vector is made orthogonal to all before it: C. C. Paige, Computational variants of the Lanczos
    method for the eigenproblem (1972).
    """
    basis = np.zeros((min(most, len(start)), len(start)))
    basis[0] = start / norm(start)
    main: list[float] = []
    beside: list[float] = []
    for k in range(len(basis)):
        image = product(basis[k])
        main.append(float(basis[k] @ image))
        for _ in range(2):  # once leaves what is rounded
            image = image - (basis[: k + 1] @ image) @ basis[: k + 1]
        size = norm(image)
        if k + 1 == len(basis) or not size > 1e-12 * max(map(abs, main)):
            break
        beside.append(size)
        basis[k + 1] = image / size
    values, vectors = np.linalg.eigh(np.diag(main) + np.diag(beside, 1) + np.diag(beside, -1))
    return Spectrum(values, basis[: len(main)].T @ vectors)


def to_radius(step: Vector, way: Vector, radius: float) -> float:
    """How far to go along a way from a step until the length is the radius."""
    size = norm(way)
    step, way = step / radius, way / size
    b, c = float(step @ way), float(step @ step) - 1
    root = math.sqrt(max(b * b - c, 0.0))
    return (radius / size) * (root - b if b < 0 else -c / (b + root))
