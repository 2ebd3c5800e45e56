"""Minima under constraints: SciPy's engines, then Newton's method on the constraints that are active.

Sources: J. Nocedal and S. J. Wright, Numerical Optimization (2006), chapters 12 and 18: the conditions of
Karush, Kuhn and Tucker, and Newton's method for them; D. Kraft, A software package for sequential quadratic
programming (1988), which is SciPy's SLSQP.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np

from exprgrad.errors import MissingExtraError, install
from exprgrad.solvers.minima.constraints import Constraint
from exprgrad.solvers.minima.objective import Layout, Objective, Vector
from exprgrad.solvers.minima.steps import norm, spectrum
from exprgrad.solvers.minima.trust_region import EPSILON, Box, Course, Turn
from exprgrad.solvers.minima.verdicts import SINGULAR, Active, Judged, remainder

__all__ = ["along_surfaces", "by_projection", "constrained", "rows_at"]

TOUCHING = 1e-6
"""A constraint within such a part of its sizes of being met with equality may be active."""
POLISHING = 50
"""The most Newton steps."""
RESTARTS = 5
"""How often the search goes on from beside a saddle."""
LOOSE = 1e-9
"""How large what is left of the gradient may be, as a part of the gradients that cancel."""


class Pressing(NamedTuple):
    """A constraint at a point: its value, which is not above 0 where it holds, and its gradient."""

    text: str
    value: float
    slope: Vector
    is_equation: bool
    function: Objective | None = None


def constrained(
    objective: Objective, limits: Sequence[Constraint], start: Vector, box: Box, most: int
) -> tuple[Course, Judged]:
    """Go down from a start as far as constraints allow, and what can be said of the end."""
    at = box.clipped(start)
    value, slope = objective.slope(at)
    course = Course([Turn(at, value, slope)])
    if not (math.isfinite(value) and np.all(np.isfinite(slope))):
        return course, Judged("not converged", "undefined")
    found = Judged("not converged", "limit")
    for _ in range(RESTARTS):
        at = engine(objective, limits, at, box, most, course)
        if course.last.value >= course.depth:
            at = polished(objective, limits, at, box)
        value, slope = objective.slope(at)
        course.turns.append(Turn(at, value, slope))
        found = judged_within(objective, limits, course, box)
        if found.lower is None:
            break
        at = found.lower
    return course, found


def along_surfaces(
    objective: Objective, limits: Sequence[Constraint], start: Vector, box: Box, most: int
) -> Vector:
    """The least point where equations hold, from one nearby; without SciPy by Newton's steps alone."""
    here = Turn(start, *objective.slope(start))
    with suppress(MissingExtraError):
        start = engine(objective, limits, start, box, most, Course([here]))
    at = polished(objective, limits, start, box)
    return at if np.all(np.isfinite(at)) else start


def engine(
    objective: Objective,
    limits: Sequence[Constraint],
    start: Vector,
    box: Box,
    most: int,
    course: Course,
) -> Vector:
    """Where SciPy's search ends."""
    optimize = scipy_optimize()
    rules = [
        {
            "type": "eq" if one.is_equation else "ineq",
            "fun": lambda x, one=one: -one.function.value(x),
            "jac": lambda x, one=one: -one.function.slope(x)[1],
        }
        for one in limits
    ]

    def keep(at: Vector) -> None:
        value, slope = objective.slope(at)
        if math.isfinite(value) and np.all(np.isfinite(slope)):
            course.turns.append(Turn(np.array(at), value, slope))

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


def scipy_optimize() -> Any:
    """SciPy's engines.  Raises ``MissingExtraError`` without them."""
    try:
        from scipy import optimize
    except ImportError:
        message = "constraints need the package scipy"
        raise MissingExtraError("missing-scipy", message, help=install("scipy")) from None
    return optimize


def rows_at(limits: Sequence[Constraint], at: Vector, box: Box, layout: Layout) -> list[Pressing]:
    """All constraints at a point, bounds among them."""
    found = []
    for one in limits:
        value, slope = one.function.slope(at)
        found.append(Pressing(one.text, value, slope, one.is_equation, one.function))
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
    """The rows that are met with equality and press on the point, and how hard: their multipliers."""
    near = [
        row
        for row in rows
        if row.is_equation
        or row.value >= -TOUCHING * max(norm(row.slope) * max(norm(at), 1.0), EPSILON)
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


def lagrangian(
    objective: Objective, rows: Sequence[Pressing], pressed: Vector, at: Vector
) -> Vector:
    """The Hessian of the formula and of its active constraints, weighted by their multipliers."""
    matrix = objective.curvature(at).copy()
    for row, weight in zip(rows, pressed, strict=True):
        if row.function is not None:
            matrix += weight * row.function.curvature(at)
    return matrix


def polished(objective: Objective, limits: Sequence[Constraint], at: Vector, box: Box) -> Vector:
    """Newton's steps for the active constraints and the gradient, until they stop shrinking."""
    layout, before = objective.layout, math.inf
    _, slope = objective.slope(at)
    rows, pressed = active_rows(rows_at(limits, at, box, layout), at, slope)
    texts = [row.text for row in rows]
    for _ in range(POLISHING):
        matrix = lagrangian(objective, rows, pressed, at)
        slopes = np.array([row.slope for row in rows]).reshape(len(rows), len(at))
        corner = np.zeros((len(rows), len(rows)))
        system = np.block([[matrix, slopes.T], [slopes, corner]])
        right = -np.concatenate([slope, [row.value for row in rows]])
        if not (np.all(np.isfinite(system)) and np.all(np.isfinite(right))):
            break
        scale = np.sqrt(np.maximum(np.max(np.abs(system), axis=1), np.finfo(float).tiny))
        answer = (
            np.linalg.lstsq(system / scale / scale[:, None], right / scale, rcond=None)[0] / scale
        )
        step = answer[: len(at)]
        trial = on_bounds(at + step, rows, box)
        if not norm(step) < before or np.array_equal(trial, at):
            break
        before, at, pressed = norm(step), trial, answer[len(at) :]
        _, slope = objective.slope(at)
        rows = [row for row in rows_at(limits, at, box, layout) if row.text in texts]
    return at


def judged_within(
    objective: Objective, limits: Sequence[Constraint], course: Course, box: Box
) -> Judged:
    """The verdict on the end of a search under constraints."""
    here, layout = course.last, objective.layout
    listed = rows_at(limits, here.at, box, layout)
    broken = max(listed, key=violation, default=None)
    rows, pressed = active_rows(listed, here.at, here.slope)
    active = tuple(
        Active(row.text, float(weight)) for row, weight in zip(rows, pressed, strict=True)
    )
    slopes = np.array([row.slope for row in rows]).reshape(len(rows), len(here.at))
    rest = here.slope + slopes.T @ pressed
    residual = norm(rest)
    if broken is not None and violation(broken) > room(broken, course):
        return Judged(
            "not converged", "infeasible", active=active, residual=residual, broken=broken.text
        )
    if here.value < course.depth:
        return Judged("unbounded", "infinite", here.at / norm(here.at), active=active)
    left = remainder(objective, here)
    for row, weight in zip(rows, pressed, strict=True):
        if row.function is not None:
            left += abs(weight) * remainder(row.function, here)
    sizes = norm(here.slope) + float(np.abs(pressed) @ np.linalg.norm(slopes, axis=1))
    if not (np.all(np.abs(rest) <= left) or residual <= LOOSE * sizes):
        return Judged("not converged", "stuck", active=active, residual=residual)
    return by_projection(objective, rows, pressed, here, box)._replace(
        active=active, residual=residual
    )


def on_bounds(at: Vector, rows: Sequence[Pressing], box: Box) -> Vector:
    """A point at exactly those bounds that are active."""
    found = box.clipped(at)
    for row in rows:
        if row.function is None:
            place = int(np.flatnonzero(row.slope)[0])
            found[place] = (box.low if row.slope[place] < 0 else box.high)[place]
    return found


def violation(row: Pressing) -> float:
    """By how much a constraint is broken."""
    return abs(row.value) if row.is_equation else max(row.value, 0.0)


def room(row: Pressing, course: Course) -> float:
    """By how much it may seem so for what is rounded, where numbers like the start's may cancel."""
    at = course.last.at
    sizes = np.maximum(np.abs(at), np.minimum(np.abs(course.turns[0].at), 1.0))
    rounded = 0.0 if row.function is None else row.function.noise(at)[0]
    return 8 * (rounded + EPSILON * float(np.abs(row.slope) @ sizes)) + np.finfo(float).tiny


def by_projection(
    objective: Objective, rows: Sequence[Pressing], pressed: Vector, here: Turn, box: Box
) -> Judged:
    """The verdict by the Hessian along what the active constraints leave free."""
    slopes = np.array([row.slope for row in rows]).reshape(len(rows), len(here.at))
    _, sizes, ways = np.linalg.svd(slopes, full_matrices=True)
    rank = int(np.sum(sizes > 1e-10 * np.max(sizes, initial=0.0)))
    free = ways[rank:]
    if not len(free):
        return Judged("minimum", "vertex")
    matrix = free @ lagrangian(objective, rows, pressed, here.at) @ free.T
    if not np.all(np.isfinite(matrix)):
        return Judged("not converged", "large")
    values, vectors = spectrum((matrix + matrix.T) / 2)
    extremes = float(values[0]), float(values[-1])
    direction = free.T @ vectors[:, 0]
    tiny = SINGULAR * len(values) * EPSILON * float(np.max(np.abs(values)))
    if values[0] < -tiny:
        lower = box.clipped(here.at + 1e-3 * max(norm(here.at), 1.0) * direction)
        return Judged("saddle", "", direction, extremes, "falls", lower)
    if values[0] > tiny:
        return Judged("minimum", "constraints" if rows else "curvature", None, extremes)
    return Judged("flat", "", direction, extremes, "")
