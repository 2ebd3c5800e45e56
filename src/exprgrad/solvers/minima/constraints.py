"""Constraints such as ``x + y == 2`` or ``0 <= x <= y``, and minima under them.

SciPy's engines lead there, and Newton's method on the constraints that are active to the last digits.
Sources: J. Nocedal and S. J. Wright, Numerical Optimization (2006), chapters 12 and 18: the conditions of
Karush, Kuhn and Tucker, and Newton's method for them; D. Kraft, A software package for sequential quadratic
programming (1988), which is SciPy's SLSQP.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from exprgrad.derive.parsed import parse_and_derive
from exprgrad.errors import (
    ExprgradError,
    InputError,
    MissingExtraError,
    RequestError,
    ShapeError,
    import_extra,
    require_kind,
)  # fmt: skip
from exprgrad.language.read.parse import at_shapes
from exprgrad.run.evaluation import shapes_of
from exprgrad.solvers.minima.search import (
    ALIGNED,
    EPSILON,
    SLOW,
    Box,
    Objective,
    PointLayout,
    SearchCourse,
    Spectrum,
    Turn,
    Vector,
    eigen_spectrum,
    trust_region_search,
    turn_at,
    vector_norm,
)
from exprgrad.solvers.minima.verdicts import NEARBY, Active, Judged, gradient_noise, run_off
from exprgrad.solvers.polish import NewtonStage, polish_point
from exprgrad.source import Source, Span, bracket_depths, trim_span

__all__ = [
    "Constraint", "along_surfaces", "bends_along", "constraint_slopes", "limits_at", "nearest_met",
    "read_constraints", "rests_on_noise", "search_constrained",
]  # fmt: skip

COMPARED = re.compile("<=|>=|==|≤|≥|=|<|>")
EXAMPLE = 'such as "x^2 + y^2 <= 1" or "x + y == 2"'
TURNED = {">=", "≥", ">"}
EQUAL = {"==", "="}
TOUCHING = 1e-6
"""A constraint this close to equality, relative to its terms, may be active."""
POLISHING = 50
"""The most Newton steps."""
RESTARTS = 5
"""The restarts of a search beside a saddle."""
NOT_BY_DIGITS = {"undefined", "infeasible", "vanishing"}
"""The reasons for an end that more digits would not change."""
SHOWN = 1e-7
"""Numbers with a relative error below this are right in the digits shown."""
LOOSE = 1e-9
"""The part of the cancelling gradients that may remain."""


class Constraint(NamedTuple):
    """A function that is 0 where its two sides are equal, and not above 0 where the constraint holds.

    A formula's kinks, and edges of its domain, are such equations.
    """

    text: str
    function: Objective
    is_equation: bool
    is_edge: bool = False


def read_constraints(
    texts: Sequence[str], inputs: Mapping[str, Any], layout: PointLayout
) -> list[Constraint]:
    """Read constraints from texts, over the inputs of a formula; a chain makes several.

    Raises ``LanguageError`` or ``RequestError`` for an invalid one, ``InputError`` for a name that the
    formula does not read, and ``ShapeError`` for a tensor.
    """
    found: list[Constraint] = []
    for text in texts:
        require_kind(text, str, "a constraint is a string, such as 'x + y <= 1'")
        for place, sides, sign in comparisons_in(text):
            one, other = (text[slice(*side)] for side in sides)
            if sign in TURNED:
                one, other = other, one
            for side in sides:
                check_side(text, side, inputs)
            graph = parse_and_derive(f"({one}) - ({other})")
            shapes = shapes_of({name: inputs[name] for name in graph.inputs})
            graph = at_shapes(graph, text, shapes)
            if graph.shape(graph.output):
                raise ShapeError(
                    "bad-shape",
                    "a constraint compares numbers, not tensors",
                    help="--bounds hold for every number of a tensor; sum(…), max(…) of it are numbers",
                ).about(text, place)
            written = f"{text[slice(*sides[0])]} {sign} {text[slice(*sides[1])]}"
            found.append(Constraint(written, Objective(graph, layout), sign in EQUAL))
    return found


def comparisons_in(text: str) -> Iterator[tuple[Span, tuple[Span, Span], str]]:
    """Yield the comparisons of a constraint: the span of each, those of its two sides, and its sign."""
    flat = "".join(
        "1" if depth else letter for letter, depth in zip(text, bracket_depths(text), strict=True)
    )
    signs = [*COMPARED.finditer(flat)]
    if not signs:
        raise RequestError("bad-constraint", "a constraint compares two sides", help=EXAMPLE).about(
            text
        )
    ends = [0, *(end for sign in signs for end in sign.span()), len(text)]
    sides = [trim_span(text, start, end) for start, end in zip(ends[::2], ends[1::2], strict=True)]
    for start, end in sides:
        if not text[start:end].strip():
            raise RequestError("bad-constraint", "a side is missing", help=EXAMPLE).about(
                text, (start, max(end, start + 1))
            )
    for sign, pair in zip(signs, pairwise(sides), strict=True):
        yield (pair[0][0], pair[1][1]), pair, sign[0]


def check_side(text: str, side: Span, inputs: Mapping[str, Any]) -> None:
    """Read one side of a constraint, so that errors show their places in the whole."""
    try:
        graph = parse_and_derive(text[slice(*side)], is_expression=False)
        for name, node in graph.inputs.items():
            if name not in inputs:
                raise InputError(
                    "unknown-input",
                    f"the formula does not read '{name}'",
                    help=f"its inputs are {', '.join(inputs)}",
                    span=graph.span(node),
                ).about(text[slice(*side)], graph.span(node))
    except ExprgradError as error:
        if error.span is not None:
            error.at(Source(text, is_expression=False), side[0])
        raise


# Minima.


class Pressing(NamedTuple):
    """A constraint at a point: its value, at most 0 where it holds, and its gradient."""

    text: str
    value: float
    slope: Vector
    is_equation: bool
    function: Objective | None = None


def search_constrained(
    objective: Objective, limits: Sequence[Constraint], start: Vector, box: Box, most: int
) -> tuple[SearchCourse, Judged]:
    """Go down from a start as far as constraints allow, and judge the end."""
    at = box.clipped(start)
    course = SearchCourse([turn_at(objective, at)])
    if not course.last.is_finite:
        return course, Judged("not converged", "undefined")
    all_hold = partial(constraints_hold, objective.layout, limits, box, course)
    found = Judged("not converged", "limit")
    for _ in range(RESTARTS):
        at = run_scipy(objective, limits, at, box, most, course)
        if course.last.value >= course.depth:
            trial = polish_constrained(objective, limits, at, box)
            rows = rows_at(limits, at, box, objective.layout)
            # Newton's steps may break a constraint that they follow beyond a kink.
            tries = [
                trial,
                nearest_met([row for row in rows if constraint_violation(row)], at, box),
                at,
            ]
            at = next(filter(all_hold, tries), at)
            zeros = np.where(np.abs(at) <= EPSILON * vector_norm(start), 0.0, at)
            slack = EPSILON * abs(course.turns[0].value)
            if all_hold(zeros) and objective.value(zeros) <= objective.value(at) + slack:
                at = zeros
        course.turns.append(turn_at(objective, at))
        found = judged_within(objective, limits, course, box)
        if found.reason == "infeasible":
            nearby = restore_feasibility(limits, at, box, most)
            if all_hold(nearby):
                course.turns.append(turn_at(objective, nearby))
                found = judged_within(objective, limits, course, box)
        if found.lower is None:
            break
        at = found.lower
    return course, found


def restore_feasibility(limits: Sequence[Constraint], at: Vector, box: Box, most: int) -> Vector:
    """Move an infeasible point towards feasibility: minimize each broken inequality in turn.

    Where a constraint's gradient vanishes on its boundary, as for ``x^2 <= 0``, Newton's steps
    approach the boundary as they approach a minimum.
    """
    for one in limits:
        if not one.is_equation and one.function.value(at) > 0:
            turns = trust_region_search(one.function, at, box, most).turns
            at = next((turn for turn in turns if turn.value <= 0), turns[-1]).at
    return at


def along_surfaces(
    objective: Objective, limits: Sequence[Constraint], start: Vector, box: Box, most: int
) -> Vector:
    """Find the point of least value at which equations hold, from one nearby.

    Without SciPy, Newton's steps alone have to do.
    """
    with suppress(MissingExtraError):
        start = run_scipy(
            objective, limits, start, box, most, SearchCourse([turn_at(objective, start)])
        )
    at = polish_constrained(objective, limits, start, box)
    return at if np.all(np.isfinite(at)) else start


def run_scipy(
    objective: Objective,
    limits: Sequence[Constraint],
    start: Vector,
    box: Box,
    most: int,
    course: SearchCourse,
) -> Vector:
    """Run SciPy's search; return its end."""
    optimize = import_extra("scipy.optimize", "constraints need the package scipy")
    rules = [
        {
            "type": "eq" if one.is_equation else "ineq",
            "fun": lambda x, one=one: -one.function.value(x),
            "jac": lambda x, one=one: -one.function.slope(x)[1],
        }
        for one in limits
    ]

    def keep(at: Vector) -> None:
        here = turn_at(objective, np.array(at))
        if here.is_finite:
            course.turns.append(here)

    ends = [
        (None if low == -math.inf else low, None if high == math.inf else high)
        for low, high in zip(*box, strict=True)
    ]
    answer = optimize.minimize(
        objective.value, start, jac=lambda x: objective.slope(x)[1], method="SLSQP", bounds=ends,
        constraints=rules, callback=keep, options={"maxiter": max(most, 1), "ftol": 1e-14},
    )  # fmt: skip
    end = np.asarray(answer.x, dtype=np.float64)
    return box.clipped(end if np.all(np.isfinite(end)) else course.last.at)


def limits_at(limits: Sequence[Constraint], at: Vector) -> list[Pressing]:
    """Evaluate constraints at a point."""
    return [
        Pressing(one.text, *one.function.slope(at), one.is_equation, one.function) for one in limits
    ]


def rows_at(
    limits: Sequence[Constraint], at: Vector, box: Box, layout: PointLayout
) -> list[Pressing]:
    """Evaluate constraints at a point, and bounds as constraints."""
    found = limits_at(limits, at)
    names = layout.names() if np.any(np.isfinite(box.low) | np.isfinite(box.high)) else []
    for place, name in enumerate(names):
        for sign, end, word in ((-1.0, box.low[place], ">="), (1.0, box.high[place], "<=")):
            if math.isfinite(end):
                slope = np.zeros_like(at)
                slope[place] = sign
                text = f"{name} {word} {end:.6g}"
                found.append(Pressing(text, sign * float(at[place] - end), slope, False))
    return found


def active_rows(
    rows: Sequence[Pressing], at: Vector, slope: Vector
) -> tuple[list[Pressing], Vector]:
    """Return the rows that are met with equality and press on the point, and their multipliers."""
    near = [
        row
        for row in rows
        if row.is_equation
        or row.value >= -TOUCHING * max(vector_norm(row.slope) * max(vector_norm(at), 1.0), EPSILON)
    ]
    while near:
        matrix = np.array([row.slope for row in near]).T
        sizes = np.maximum(np.linalg.norm(matrix, axis=0), np.finfo(float).tiny)
        pressed = np.linalg.lstsq(matrix / sizes, -slope, rcond=None)[0] / sizes
        wrong = [k for k, row in enumerate(near) if not row.is_equation and not pressed[k] > 0]
        if not wrong:
            return near, pressed
        del near[min(wrong, key=lambda k: pressed[k] * sizes[k])]
    return [], np.zeros(0)


def constraint_slopes(rows: Sequence[Pressing], at: Vector) -> Vector:
    """Return the gradients of constraints at a point, a row for each."""
    return np.array([row.slope for row in rows]).reshape(len(rows), len(at))


def lagrangian_hessian(
    objective: Objective, rows: Sequence[Pressing], pressed: Vector, at: Vector
) -> Vector:
    """Return the Hessian of the formula plus those of its active constraints times their multipliers."""
    matrix = objective.curvature(at).copy()
    for row, weight in zip(rows, pressed, strict=True):
        if row.function is not None:
            matrix += weight * row.function.curvature(at)
    return matrix


def lagrangian_step(
    objective: Objective, rows: Sequence[Pressing], pressed: Vector, at: Vector, slope: Vector
) -> tuple[Vector, Vector] | None:
    """Return Newton's step for active constraints and the gradient, and its multipliers.

    None where something is not finite.
    """
    matrix = lagrangian_hessian(objective, rows, pressed, at)
    slopes, values = constraint_slopes(rows, at), np.array([row.value for row in rows])
    if not all(np.all(np.isfinite(part)) for part in (matrix, slopes, values, slope)):
        return None
    sizes = np.maximum(np.linalg.norm(slopes, axis=1), np.finfo(float).tiny)
    step = np.linalg.lstsq(slopes / sizes[:, None], -values / sizes, rcond=None)[0]
    free = free_ways(slopes)
    inner = free @ matrix @ free.T
    scale = np.sqrt(np.maximum(np.max(np.abs(inner), axis=1, initial=0.0), np.finfo(float).tiny))
    right = -(free @ (slope + matrix @ step)) / scale
    inner = inner / scale / scale[:, None]
    step = step + (np.linalg.lstsq(inner, right, rcond=None)[0] / scale) @ free
    return step, np.linalg.lstsq(slopes.T, -(slope + matrix @ step), rcond=None)[0]


def polish_constrained(
    objective: Objective, limits: Sequence[Constraint], at: Vector, box: Box
) -> Vector:
    """Take Newton's steps for the active constraints and the gradient, until they stop shrinking.

    Steps that shrink by a constant ratio, as they do where derivatives vanish, are followed to their end.
    """
    _, slope = objective.slope(at)
    rows, pressed = active_rows(rows_at(limits, at, box, objective.layout), at, slope)
    texts = [row.text for row in rows]

    def stage_at(at: Vector, slope: Vector, rows: list[Pressing], pressed: Vector) -> NewtonStage:
        found = lagrangian_step(objective, rows, pressed, at, slope)
        if found is None or not vector_norm(found[0]) < math.inf:
            return NewtonStage((at, rows, pressed))
        return NewtonStage((at, rows, found[1]), found[0], vector_norm(found[0]))

    def follow(stages: Sequence[NewtonStage]) -> NewtonStage | None:
        (at, rows, pressed), step, length = stages[-1]
        if len(stages) > 1:
            _, last, before = stages[-2]
            if length / before > SLOW and step @ last > ALIGNED * length * before:
                step = step / (1 - length / before)
        trial = on_bounds(at + step, rows, box)
        if np.array_equal(trial, at):
            return None
        near = [row for row in rows_at(limits, trial, box, objective.layout) if row.text in texts]
        return stage_at(trial, objective.slope(trial)[1], near, pressed)

    first = stage_at(at, slope, rows, pressed)
    at, rows, _ = polish_point(first, follow, POLISHING, is_kept=lambda *_: True)[-1].point
    return nearest_met(rows, at, box)


def free_ways(slopes: Vector) -> Vector:
    """Return the unit directions, as rows, along which constraints with these gradients are constant."""
    _, sizes, ways = np.linalg.svd(slopes, full_matrices=True)
    return ways[int(np.sum(sizes > 1e-10 * np.max(sizes, initial=0.0))) :]


def nearest_met(rows: Sequence[Pressing], at: Vector, box: Box) -> Vector:
    """Return the nearest point where constraints are 0, to first order.

    A step that serves the gradient, too, leaves the rounding of numbers as large as that step.
    """
    values = np.array([row.value for row in rows])
    slopes = constraint_slopes(rows, at)
    if not (np.all(np.isfinite(values)) and np.all(np.isfinite(slopes))):
        return at
    return on_bounds(at - np.linalg.lstsq(slopes, values, rcond=None)[0], rows, box)


def judged_within(
    objective: Objective, limits: Sequence[Constraint], course: SearchCourse, box: Box
) -> Judged:
    """Judge the end of a search under constraints."""
    here, layout = course.last, objective.layout

    def allowed(at: Vector) -> bool:
        return box.holds(at) and constraints_hold(layout, limits, box, course, at)

    listed = rows_at(limits, here.at, box, layout)
    broken = broken_of(listed, here.at, course)
    rows, pressed = active_rows(listed, here.at, here.slope)
    active = tuple(
        Active(row.text, float(weight)) for row, weight in zip(rows, pressed, strict=True)
    )
    slopes = constraint_slopes(rows, here.at)
    rest = here.slope + slopes.T @ pressed
    residual = vector_norm(rest)
    if broken is not None:
        return Judged(
            "not converged", "infeasible", active=active, residual=residual, broken=broken.text
        )
    if here.value < course.depth:
        return Judged("unbounded", "infinite", here.at / vector_norm(here.at), active=active)
    left = gradient_noise(objective, here)
    for row, weight in zip(rows, pressed, strict=True):
        if row.function is not None:
            left += abs(weight) * gradient_noise(row.function, here)
    sizes = vector_norm(here.slope) + float(np.abs(pressed) @ np.linalg.norm(slopes, axis=1))
    if not (np.all(np.abs(rest) <= left) or residual <= LOOSE * sizes):
        endless = run_off(objective, course, allowed)
        edges = [row for row in listed if row.value >= 0 and not np.any(row.slope)]
        stuck = Judged("not converged", "stuck", residual=residual)
        if edges:
            stuck = stuck._replace(reason="vanishing", broken=edges[0].text)
        return (endless or stuck)._replace(active=active)
    return by_projection(objective, rows, pressed, here, box)._replace(
        active=active, residual=residual
    )


def on_bounds(at: Vector, rows: Sequence[Pressing], box: Box) -> Vector:
    """Move a point exactly onto the active bounds."""
    found = box.clipped(at)
    for row in rows:
        if row.function is None:
            place = int(np.flatnonzero(row.slope)[0])
            found[place] = (box.low if row.slope[place] < 0 else box.high)[place]
    return found


def constraint_violation(row: Pressing) -> float:
    """Return by how much a constraint is broken."""
    return abs(row.value) if row.is_equation else max(row.value, 0.0)


def constraints_hold(
    layout: PointLayout, limits: Sequence[Constraint], box: Box, course: SearchCourse, at: Vector
) -> bool:
    """Whether constraints and bounds hold at a point, within rounding."""
    return broken_of(rows_at(limits, at, box, layout), at, course) is None


def broken_of(rows: Sequence[Pressing], at: Vector, course: SearchCourse) -> Pressing | None:
    """Return the constraint that is broken most at a point, by more than rounding, if any.

    Numbers as large as the start's may have cancelled on the way.
    """
    row = max(rows, key=constraint_violation, default=None)
    if row is None:
        return None
    sizes = np.maximum(np.abs(at), np.minimum(np.abs(course.turns[0].at), 1.0))
    rounded = 0.0 if row.function is None else row.function.noise(at)[0]
    room = 8 * (rounded + EPSILON * float(np.abs(row.slope) @ sizes)) + np.finfo(float).tiny
    return None if constraint_violation(row) <= room else row


def rests_on_noise(
    objective: Objective, limits: Sequence[Constraint], here: Turn, found: Judged, box: Box
) -> bool:
    """Whether rounding may decide the verdict, or a shown digit of the point or the curvature.

    A point moves by Newton's step for the errors of its equations.
    """
    is_far = found.kind == "unbounded" or vector_norm(here.at) > NEARBY
    if is_far or found.reason in NOT_BY_DIGITS:
        return False
    if found.kind not in ("minimum", "saddle") or found.edges:
        return True
    rows, pressed = active_rows(
        rows_at(limits, here.at, box, objective.layout), here.at, here.slope
    )
    noise, bends = objective.noise(here.at)[1], objective.hessian_noise(here.at)
    met = np.zeros(len(rows))
    for at, (row, weight) in enumerate(zip(rows, pressed, strict=True)):
        if row.function is not None:
            met[at], slopes = row.function.noise(here.at)
            noise = noise + abs(weight) * slopes
            bends = bends + abs(weight) * row.function.hessian_noise(here.at)
    slopes = constraint_slopes(rows, here.at)
    matrix = lagrangian_hessian(objective, rows, pressed, here.at)
    whole = np.block([[matrix, slopes.T], [slopes, np.zeros((len(rows), len(rows)))]])
    with suppress(np.linalg.LinAlgError):
        moved = np.abs(np.linalg.inv(whole)) @ np.append(noise, met)
        bent = vector_norm(bends.ravel())
        is_firm = np.all(moved <= SHOWN * np.abs(np.append(here.at, pressed)))
        return not (is_firm and (found.values is None or bent <= SHOWN * abs(found.values[0])))
    return True


def bends_along(
    objective: Objective, rows: Sequence[Pressing], pressed: Vector, at: Vector
) -> Spectrum | None:
    """Return the Lagrangian's eigenvalues along the free directions; None if not finite."""
    free = free_ways(constraint_slopes(rows, at))
    matrix = free @ lagrangian_hessian(objective, rows, pressed, at) @ free.T
    if not np.all(np.isfinite(matrix)):
        return None
    values, vectors = eigen_spectrum((matrix + matrix.T) / 2)
    return Spectrum(values, free.T @ vectors)


def by_projection(
    objective: Objective, rows: Sequence[Pressing], pressed: Vector, here: Turn, box: Box
) -> Judged:
    """Judge by the Hessian along the directions that the active constraints leave free."""
    bends = bends_along(objective, rows, pressed, here.at)
    if bends is None:
        return Judged("not converged", "large")
    if not len(bends.values):
        return Judged("minimum", "vertex")
    direction = bends.vectors[:, 0]
    if bends.values[0] < -bends.tiny:
        lower = box.clipped(here.beside(1e-3, direction))
        return Judged("saddle", "", direction, bends.ends, "falls", lower)
    if bends.values[0] > bends.tiny:
        return Judged("minimum", "constraints" if rows else "curvature", None, bends.ends)
    return Judged("flat", "", direction, bends.ends, "")
