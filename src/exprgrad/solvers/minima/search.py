"""A formula as a function of one vector, with exact derivatives, and the search for its minimum.

That is Newton's method within a trust region, with bounds.  Sources: A. R. Conn, N. I. M. Gould and P. L.
Toint, Trust-Region Methods (2000), chapters 6 and 7; J. Nocedal and S. J. Wright, Numerical Optimization
(2006), chapters 4 and 16.  Ours are the end, where values are too coarse to be compared and gradients are
not, and the strides where steps do not shrink as Newton's do.

A step leads to where a quadratic model is least, not farther off than a radius: J. J. Moré and D. C.
Sorensen, Computing a trust region step (1983), by eigenvalues here; T. Steihaug, The conjugate gradient
method and trust regions in large scale optimization (1983), where there are many inputs.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from exprgrad.derive.rules import Rule, computed, exact_rule
from exprgrad.derive.sweeps.gradient import jvp, tangent_name
from exprgrad.explain.digits.judgements import round_outputs
from exprgrad.explain.digits.truths import name_literals
from exprgrad.graph.graph import Graph, Program, Shape, element_name, shape_size, unravel_position
from exprgrad.run import matrices
from exprgrad.run.arrays.arrays import float_or_array
from exprgrad.run.balls.balls import Ball, evaluate_in_balls, exact_ball, working_precision
from exprgrad.run.evaluation import Evaluator, evaluator_for
from exprgrad.run.numbers.bounds import number_data_errors
from exprgrad.run.numbers.sweeps import forward_numbers
from exprgrad.solvers.polish import NewtonStage, polish_point

__all__ = [
    "ALIGNED", "EPSILON", "MOST_DENSE", "SINGULAR", "SLOW", "Box", "Counts", "Flags", "Objective",
    "PointLayout", "SearchCourse", "Spectrum", "Turn", "Vector", "eigen_spectrum", "lanczos_spectrum",
    "restrict_product", "trust_region_search", "turn_at", "vector_norm",
]  # fmt: skip

TRUE_BITS = 256
"""The precision of values in balls, in which sums of doubles of like sizes are exact."""
Vector = NDArray[np.float64]
Flags = NDArray[np.bool_]


@dataclass
class Counts:
    """The evaluations of a formula: its value, its gradient, its Hessian, and products with that."""

    value: int = 0
    gradient: int = 0
    hessian: int = 0
    product: int = 0


class PointLayout(NamedTuple):
    """The numbers of the moving inputs, one after the other; the others stay as given."""

    fixed: Mapping[str, Any]
    shapes: Mapping[str, Shape]

    @property
    def size(self) -> int:
        """The count of moving numbers."""
        return sum(map(shape_size, self.shapes.values()))

    def vector(self, values: Mapping[str, Any]) -> Vector:
        """Return values by name, such as inputs or a gradient, as one vector."""
        parts = [np.ravel(values[name]) for name in self.shapes]
        return np.concatenate([np.zeros(0), *parts]).astype(np.float64)

    def named(self, vector: Vector) -> dict[str, Any]:
        """Return a vector's numbers by name: floats, and arrays in their shapes."""
        found: dict[str, Any] = {}
        start = 0
        for name, shape in self.shapes.items():
            end = start + shape_size(shape)
            found[name] = float_or_array(vector[start:end].reshape(shape).copy())
            start = end
        return found

    def names(self) -> list[str]:
        """The name of each number: ``x``, or ``w[1, 0]``."""
        return [
            element_name(name, unravel_position(at, shape))
            for name, shape in self.shapes.items()
            for at in range(shape_size(shape))
        ]


@dataclass
class Objective:
    """A number that depends on a vector, with its derivatives; ``sign`` is -1 to maximize.

    Derivatives by inputs that the formula does not read are 0.  With the rule ``real`` each number is
    the double nearest to the true one, found in balls, with literals as the decimals typed.
    """

    graph: Graph
    layout: PointLayout
    sign: float = 1.0
    counts: Counts = field(default_factory=Counts)
    rule: Rule = computed
    formed: dict[bytes, NDArray[np.float64]] = field(default_factory=dict)
    """The last Hessian, by its point."""

    @property
    def in_balls(self) -> Objective:
        """Return the same objective in balls, for a formula of numbers."""
        return Objective(name_literals(self.graph), self.layout, self.sign, self.counts, exact_rule)

    @cached_property
    def evaluator(self) -> Evaluator:
        """The formula's evaluator."""
        return evaluator_for(self.graph)

    @cached_property
    def wrt(self) -> tuple[str, ...]:
        """The moving inputs that the formula reads."""
        return tuple([name for name in self.layout.shapes if name in self.graph.inputs])

    @cached_property
    def places(self) -> list[slice]:
        """The slices of these inputs in the vector."""
        ends = np.cumsum([0, *map(shape_size, self.layout.shapes.values())]).tolist()
        places = dict(zip(self.layout.shapes, map(slice, ends, ends[1:]), strict=False))
        return [places[name] for name in self.wrt]

    @cached_property
    def first(self) -> tuple[Program, Evaluator]:
        """The derived program of value and gradient, and its evaluator."""
        program = matrices.gradient_program(self.evaluator, self.wrt, self.rule)
        return program, evaluator_for(program.graph)

    @cached_property
    def along(self) -> tuple[Program, Evaluator]:
        """The derived program of the Hessian's product with a direction, and its evaluator."""
        graph, outputs = self.first[0]
        program = jvp(graph, self.wrt, outputs[1:], self.rule)
        return program, evaluator_for(program.graph)

    def inputs(self, at: Vector) -> dict[str, Any]:
        """Return every input that the formula reads."""
        given = {**self.layout.fixed, **self.layout.named(at)}
        return {name: given[name] for name in self.graph.inputs}

    def value(self, at: Vector) -> float:
        """The value."""
        self.counts.value += 1
        program = Program(self.graph, (self.graph.output,))
        return self.sign * float(self.answers(program, self.evaluator, self.inputs(at))[0])

    def answers(
        self, program: Program, evaluator: Evaluator, given: Mapping[str, Any]
    ) -> list[Any]:
        """Compute a program's outputs by an evaluator that keeps its plan, or in balls."""
        if self.rule is exact_rule:
            return round_outputs(program, given, dict.fromkeys(given, ""))[0]
        values = evaluator.forward(given)
        return [values[output] for output in program.outputs]

    def true_value(self, at: Vector, step: Vector | float = 0.0) -> Ball | None:
        """Return the value in balls, which neither overflow nor underflow; None for a formula of tensors.

        It is the value at exactly ``at + step``.
        """
        inputs = self.inputs(at)
        if self.graph.shapes or not all(isinstance(value, float) for value in inputs.values()):
            return None
        with working_precision(TRUE_BITS):
            given = {name: exact_ball(value) for name, value in inputs.items()}
            for name, part in self.layout.named(step + np.zeros_like(at)).items():
                if name in given:
                    given[name] += exact_ball(part)
            return evaluate_in_balls(self.graph, given, typed=True)[self.graph.output] * self.sign

    def slope(self, at: Vector) -> tuple[float, Vector]:
        """Return the value and the gradient."""
        self.counts.gradient += 1
        value, *slopes = self.answers(*self.first, self.inputs(at))
        return self.sign * float(value), self.spread(slopes)

    def spread(self, parts: Sequence[Any]) -> Vector:
        """Return numbers by input as a vector of all moving numbers."""
        found = np.zeros(self.layout.size)
        for place, part in zip(self.places, parts, strict=True):
            found[place] = np.ravel(part)
        return self.sign * found + 0.0

    def curvature(self, at: Vector) -> NDArray[np.float64]:
        """Return the Hessian; it is remembered for the same point."""
        if at.tobytes() not in self.formed:
            self.counts.hessian += 1
            self.formed = {at.tobytes(): self.hessian(at)}
        return self.formed[at.tobytes()]

    def hessian(self, at: Vector) -> NDArray[np.float64]:
        """Compute the Hessian."""
        given = self.inputs(at)
        if self.rule is exact_rule:
            program, entries = matrices.hessian_program(self.evaluator, self.wrt, rule=self.rule)
            found = self.answers(program, self.evaluator, given)
            blocks = {place: found[output] for place, output in entries.items()}
        else:
            point = matrices.Point(self.evaluator, given, {}, self.wrt)
            blocks = matrices.hessian_at(point).entries
        return self.sign * self.spread_matrix(blocks) + 0.0

    def spread_matrix(self, blocks: Mapping[tuple[int, int], Any]) -> NDArray[np.float64]:
        """Return numbers by pairs of inputs as a matrix over all moving numbers."""
        found = np.zeros((self.layout.size, self.layout.size))
        for (row, column), block in blocks.items():
            rows, columns = self.places[row], self.places[column]
            shape = rows.stop - rows.start, columns.stop - columns.start
            found[rows, columns] = np.reshape(block, shape)
        return found

    def product(self, at: Vector, direction: Vector) -> Vector:
        """Return the Hessian times a direction, by forward over reverse: no Hessian is formed."""
        self.counts.product += 1
        moving = {
            tangent_name(name): part
            for name, part in self.layout.named(direction).items()
            if name in self.wrt
        }
        given = {**self.inputs(at), **moving}
        return self.spread(self.answers(*self.along, given))

    def noise(self, at: Vector) -> tuple[float, Vector]:
        """Bound the rounding of the value and of the gradient, by bounds or balls."""
        given = self.inputs(at)
        if self.rule is exact_rule:
            open = round_outputs(self.first[0], given, dict.fromkeys(given, ""))[1]
            return open[0], abs(self.spread(open[1:]))
        values, adjoints = self.evaluator.gradient(given, self.wrt)
        data, grads = self.evaluator.errors(values, adjoints)
        nodes = [self.graph.inputs[name] for name in self.wrt]
        shapes = [self.layout.shapes[name] for name in self.wrt]
        parts = [np.broadcast_to(grads[n], s) for n, s in zip(nodes, shapes, strict=True)]
        return float(np.max(data[self.graph.output])), abs(self.spread(parts))

    def hessian_noise(self, at: Vector) -> NDArray[np.float64]:
        """Bound the rounding of the Hessian, for a formula of numbers in doubles."""
        (graph, outputs), entries = matrices.hessian_program(self.evaluator, self.wrt)
        errors = number_data_errors(graph, forward_numbers(graph, self.inputs(at)))
        return self.spread_matrix({place: errors[outputs[one]] for place, one in entries.items()})


# The search.

EPSILON = 2.0**-52
MOST_DENSE = 200
"""The most numbers for which the Hessian is formed, and its eigenvalues found; beyond, only products."""
ACCEPTED = 1e-4
"""The part of the model's promised gain that a step must make."""
POOR = 0.25
"""The part of that gain below which the radius shrinks."""
GOOD = 0.75
"""The part of that gain above which the radius grows."""
GROWTH = 2.0
"""The growth of the radius."""
NEARLY_EXACT = 1e-6
"""A formula whose gain is the model's up to this part of it equals its model."""
EXACT_GROWTH = 32.0
"""The growth of the radius for such a formula."""
COARSE = 16.0
"""A gain of fewer roundings of the value than this is invisible in values."""
SHRINKING = 600
"""The most shrinkings of the radius for one step: from 1e300 down to 0."""
WIDEST = 1e300
"""The greatest radius."""
DEEP = 1e150
"""A value this far below 0, relative to the first, counts as falling to -inf."""
SLOW = 0.45
"""The ratio of successive steps above which they do not shrink as Newton's do."""
ENDLESS = 0.9
"""The ratio above which they do not shrink at all."""
ALIGNED = 0.95
"""The cosine above which two steps go the same way."""
POLISHING = 100
"""The most Newton steps at the end."""
LAST_DIGITS = 1e-12
"""A step below this part of the point is at the limit of doubles."""
TIGHT = 1e-3
"""The relative tolerance of a step's length at the radius."""
TURNS = 60
"""The most iterations in the search for a shift: it halves an interval where Newton's step leaves it."""


class Box(NamedTuple):
    """The least and the greatest value of each number."""

    low: Vector
    high: Vector

    def clipped(self, at: Vector) -> Vector:
        """Return the nearest point inside."""
        return np.clip(at, self.low, self.high)

    def holds(self, at: Vector) -> bool:
        """Whether a point is inside."""
        return np.array_equal(self.clipped(at), at)

    def held(self, at: Vector, slope: Vector) -> Flags:
        """Flag the numbers at a bound beyond which the value would go down."""
        return ((at <= self.low) & (slope > 0)) | ((at >= self.high) & (slope < 0))


class Turn(NamedTuple):
    """A point on the way, and whether a whole Newton step led there."""

    at: Vector
    value: float
    slope: Vector
    by_newton: bool = False

    @property
    def is_finite(self) -> bool:
        """Whether its numbers, the value and the gradient are finite."""
        return math.isfinite(self.value) and bool(np.all(np.isfinite([self.at, self.slope])))

    @property
    def size(self) -> float:
        """The size of the point, at least 1."""
        return max(vector_norm(self.at), 1.0)

    def beside(self, reach: float, way: Vector) -> Vector:
        """Return the point at a distance along a direction, in units of this point's size."""
        return self.at + reach * self.size * way


def turn_at(objective: Objective, at: Vector, *, by_newton: bool = False) -> Turn:
    """Evaluate a point with its value and gradient."""
    return Turn(at, *objective.slope(at), by_newton)


@dataclass
class SearchCourse:
    """The course of a search, and its end.

    ``reason`` is ``still`` (no step is left that would change anything), ``stuck`` (no step goes down,
    though the model says that some do), ``unbounded`` (along ``way``), ``undefined`` (the start has no
    value or no gradient) or ``limit``.  ``blocked`` are the last points tried that have a greater value, or
    none.
    """

    turns: list[Turn]
    reason: str = ""
    blocked: list[Vector] = field(default_factory=list)
    way: Vector | None = None

    @property
    def depth(self) -> float:
        """The value below which it counts as falling to -inf."""
        return -DEEP * max(abs(self.turns[0].value), 1.0)

    @property
    def last(self) -> Turn:
        """The current point."""
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
        """Return the model's change of the value for a step."""
        return float(self.here.slope @ step) + 0.5 * float(step @ self.product(step))


def trust_region_search(objective: Objective, start: Vector, box: Box, most: int) -> SearchCourse:
    """Go down from a start, by ``most`` steps at most."""
    first = turn_at(objective, box.clipped(start))
    course = SearchCourse([first])
    if not first.is_finite:
        course.reason = "undefined"
    radius = first.size
    while not course.reason:
        if len(course.turns) > most or radius >= WIDEST:
            course.reason = "limit"
            break
        local = model_at(objective, course.last, box)
        radius = take_step(objective, course, box, local, radius)
    return course


# Steps.


def model_at(objective: Objective, here: Turn, box: Box) -> Local:
    """Make the quadratic model at a point."""
    at, free = here.at, ~box.held(here.at, here.slope)
    if len(at) > MOST_DENSE:
        return Local(here, free, None, lambda way: objective.product(at, way))
    matrix = objective.curvature(at)
    matrix = np.where(np.isfinite(matrix), matrix, 0.0)
    return Local(here, free, matrix, lambda way: matrix @ way)


def take_step(
    objective: Objective, course: SearchCourse, box: Box, local: Local, radius: float
) -> float:
    """Take a step, or record why there is none; return the next radius."""
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
                polish_minimum(objective, course, box)
            return radius
        trial = here.at + step
        if np.array_equal(trial, here.at):
            break
        value = objective.value(trial)
        if value < course.depth:
            course.reason, course.way = "unbounded", step
            return radius
        size = vector_norm(step)
        part = (here.value - value) / gain
        if part >= ACCEPTED:
            there = turn_at(objective, trial, by_newton=is_newton)
            if np.all(np.isfinite(there.slope)):
                course.turns.append(there)
                if part < POOR:
                    radius = 0.5 * size
                elif part > GOOD:
                    growth = EXACT_GROWTH if abs(part - 1) < NEARLY_EXACT else GROWTH
                    radius = max(radius, min(growth * size, WIDEST))
                extend_last_step(objective, course, box)
                return radius
        if is_newton and gain <= 2 * objective.noise(here.at)[0]:
            course.reason = "still"
            polish_minimum(objective, course, box)
            return radius
        course.blocked.append(trial)
        radius = POOR * min(size, radius)
        if not radius > 0:
            break
    course.reason = "stuck"
    return radius


def restrict_product(
    product: Callable[[Vector], Vector], free: Flags
) -> Callable[[Vector], Vector]:
    """Restrict multiplication by a matrix to the free numbers."""

    def inner(way: Vector) -> Vector:
        whole = np.zeros(len(free))
        whole[free] = way
        return product(whole)[free]

    return inner


def step_inside(box: Box, local: Local, radius: float) -> tuple[Vector, bool]:
    """Return a step inside the box: numbers that would leave it from a bound stay there.

    Also tell whether it is a whole Newton step, to the model's minimum.
    """
    here, free = local.here, local.free.copy()
    step = np.zeros_like(here.at)
    while np.any(free):
        step[:] = 0.0
        step[free], is_newton = free_step(local, free, radius)
        out = free & box.held(here.at, -step)
        if not np.any(out):
            return kept_in(local, step, box), is_newton
        free &= ~out
    return np.zeros_like(here.at), True


def free_step(local: Local, free: Flags, radius: float) -> tuple[Vector, bool]:
    """Compute the trust-region step in the free coordinates, and whether it is Newton's."""
    here = local.here
    slope = here.slope[free]
    if local.matrix is not None:
        return dense_step(eigen_spectrum(local.matrix[np.ix_(free, free)]), slope, radius)
    part = min(0.1, math.sqrt(vector_norm(slope) / (1 + abs(here.value))))
    product = restrict_product(local.product, free)
    return conjugate_step(product, slope, radius, part, 2 * len(slope))


def kept_in(local: Local, step: Vector, box: Box) -> Vector:
    """Fit a step into the box: clipped, or cut off where it leaves, whichever promises more."""
    here = local.here
    end = here.at + step
    if np.all((box.low <= end) & (end <= box.high)):
        return step
    room = np.where(step > 0, box.high - here.at, box.low - here.at) / step
    cut = box.clipped(here.at + step * float(np.min(room[step != 0])))
    steps = [box.clipped(end) - here.at, cut - here.at]
    return min(steps, key=local.change)


# Where steps shrink slowly, and where values say nothing any more.


def extend_last_step(objective: Objective, course: SearchCourse, box: Box) -> None:
    """Go further along the last step, if it and the one before go the same way and hardly shrink.

    Newton's steps do so where the Hessian is singular, by a constant ratio: there their sum is known (J. W.
    Schmidt and others call that extrapolation).  Where they do not shrink at all they are doubled.
    """
    if len(course.turns) < 3 or not all(turn.by_newton for turn in course.turns[-2:]):
        return
    one, two, here = course.turns[-3:]
    before, step = two.at - one.at, here.at - two.at
    sizes = vector_norm(before), vector_norm(step)
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
        if not vector_norm(trial) < WIDEST:
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


def polish_minimum(objective: Objective, course: SearchCourse, box: Box) -> None:
    """Take Newton's steps until they stop shrinking, for the last digits, which values cannot show."""

    def stage_at(turn: Turn) -> NewtonStage:
        local, step = model_at(objective, turn, box), np.zeros(len(turn.at))
        if not np.any(local.free):
            return NewtonStage(turn)
        step[local.free], is_newton = free_step(local, local.free, math.inf)
        is_step = is_newton and np.all(np.isfinite(step))
        return NewtonStage(turn, step, vector_norm(step)) if is_step else NewtonStage(turn)

    def follow(stages: Sequence[NewtonStage]) -> NewtonStage | None:
        here, step, _ = stages[-1]
        trial = box.clipped(here.at + step)
        if np.array_equal(trial, here.at):
            return None
        there = turn_at(objective, trial, by_newton=True)
        is_lower = there.value <= here.value + 1e-9 * abs(here.value)
        return stage_at(there) if np.all(np.isfinite(there.slope)) and is_lower else None

    def goes_on(before: NewtonStage, after: NewtonStage) -> bool:
        is_last = before.length <= LAST_DIGITS * vector_norm(after.point.at)
        return is_last or bool(after.length <= SLOW * before.length)

    stages = polish_point(stage_at(course.last), follow, POLISHING, goes_on=goes_on)
    course.turns += [stage.point for stage in stages[1:]]


# Steps of a quadratic model, and its eigenvalues.


SINGULAR = 64.0
"""An eigenvalue below this many roundings of the greatest counts as 0."""


class Spectrum(NamedTuple):
    """The eigenvalues of a symmetric matrix, ascending, and its eigenvectors as columns."""

    values: Vector
    vectors: Vector

    @property
    def ends(self) -> tuple[float, float] | None:
        """The least and the greatest eigenvalue; None if there are none."""
        return (float(self.values[0]), float(self.values[-1])) if len(self.values) else None

    @property
    def tiny(self) -> float:
        """The size up to which an eigenvalue counts as 0."""
        return (
            SINGULAR * len(self.values) * EPSILON * float(np.max(np.abs(self.values), initial=0.0))
        )


def vector_norm(vector: Vector) -> float:
    """Return the root of the sum of squares, without overflow or underflow on the way."""
    largest = float(np.max(np.abs(vector), initial=0.0))
    if largest == 0 or not math.isfinite(largest):
        return largest
    return largest * float(np.sqrt(np.sum((vector / largest) ** 2)))


def eigen_spectrum(matrix: Vector) -> Spectrum:
    """Compute the eigenvalues and eigenvectors of a symmetric matrix of finite numbers, at any scale."""
    largest = float(np.max(np.abs(matrix), initial=0.0))
    if largest == 0:
        return Spectrum(np.zeros(len(matrix)), np.eye(len(matrix)))
    values, vectors = np.linalg.eigh(matrix / largest)
    return Spectrum(values * largest, vectors)


def dense_step(known: Spectrum, slope: Vector, radius: float) -> tuple[Vector, bool]:
    """Minimize ``slope·p + p·H·p/2`` over steps ``p`` within the radius, given H's spectrum.

    Newton's step is 0 along eigenvectors whose eigenvalue and slope are only rounding.
    """
    values, vectors = known
    along = vectors.T @ slope
    least = float(values[0])
    level = (np.abs(values) <= known.tiny) & (np.abs(along) <= EPSILON * vector_norm(slope))
    if np.all(level | (values > 0)):
        step = np.where(level, 0.0, along / values)
        if np.all(np.isfinite(step)) and vector_norm(step) <= radius:
            return -(vectors @ step), True
    if radius == math.inf:
        return np.zeros_like(slope), False
    shift = shift_for(values, along, radius)
    parts = np.where((along == 0) | (values + shift <= 0), 0.0, along / (values + shift))
    short = 1 - min(vector_norm(parts) / radius, 1.0) ** 2
    if least <= 0 and short > 2 * TIGHT:  # along what bends down, to the radius
        parts[0] += math.copysign(radius * math.sqrt(short), along[0] if along[0] else 1.0)
    return -(vectors @ parts), False


def shift_for(values: Vector, along: Vector, radius: float) -> float:
    """Find the shift that makes the step ``along/(values + shift)`` as long as the radius."""
    low = max(0.0, -float(values[0]))
    high = shift = low + vector_norm(along) / radius
    for _ in range(TURNS):
        parts = np.where(along == 0, 0.0, along / (values + shift))
        size = vector_norm(parts)
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
    """Minimize the model of ``dense_step`` by conjugate gradients, which need only products with H.

    They end when ``part`` of the slope is left, or after ``most`` of them.
    """
    step = np.zeros_like(slope)
    rest = slope.copy()
    enough = part * vector_norm(rest)
    way = -rest
    for _ in range(most if np.any(rest) else 0):
        bent = product(way)
        curvature = float(way @ bent)
        square = float(rest @ rest)
        further = step + (square / curvature) * way if curvature > 0 else None
        if further is None or not vector_norm(further) <= radius:
            if radius == math.inf:
                return step, False
            size = vector_norm(way)
            start, unit = step / radius, way / size
            b, c = float(start @ unit), float(start @ start) - 1
            root = math.sqrt(max(b * b - c, 0.0))
            ahead = (radius / size) * (root - b if b < 0 else -c / (b + root))  # to the radius
            return step + ahead * way, False
        step, rest = further, rest + (square / curvature) * bent
        if vector_norm(rest) <= enough:
            break
        way = -rest + (float(rest @ rest) / square) * way
    return step, True


def lanczos_spectrum(product: Callable[[Vector], Vector], start: Vector, most: int) -> Spectrum:
    """Estimate the outermost eigenvalues of a symmetric matrix, with vectors, from products with it.

    Every vector is made orthogonal to all before it: C. C. Paige, Computational variants of the Lanczos
    method for the eigenproblem (1972).
    """
    basis = np.zeros((min(most, len(start)), len(start)))
    basis[0] = start / vector_norm(start)
    main: list[float] = []
    beside: list[float] = []
    for k in range(len(basis)):
        image = product(basis[k])
        main.append(float(basis[k] @ image))
        for _ in range(2):  # once leaves what is rounded
            image = image - (basis[: k + 1] @ image) @ basis[: k + 1]
        size = vector_norm(image)
        if k + 1 == len(basis) or not size > 1e-12 * max(map(abs, main)):
            break
        beside.append(size)
        basis[k + 1] = image / size
    values, vectors = np.linalg.eigh(np.diag(main) + np.diag(beside, 1) + np.diag(beside, -1))
    return Spectrum(values, basis[: len(main)].T @ vectors)
