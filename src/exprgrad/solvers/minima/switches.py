"""Minima at kinks and at edges of a formula's domain, where Newton's method finds no way down.

There the formula is another on each side of some surfaces: where the operand of ``abs`` is 0, two operands
of ``max`` are equal, or that of ``sqrt`` ends its domain.  On these surfaces it is smooth, so the search
goes on along them (J.-B. Hiriart-Urruty and C. Lemaréchal, Convex Analysis and Minimization Algorithms,
1993; C. Lemaréchal, F. Oustry and C. Sagastizábal, The U-Lagrangian of a convex function, 2000), and each
cell between them is asked for its gradient.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import product
from typing import NamedTuple

import numpy as np

from exprgrad.derive.build import Builder
from exprgrad.derive.rules import template
from exprgrad.explain.checking.thresholds import comparisons, gaps_of
from exprgrad.graph.graph import CONST, Graph, seen_from
from exprgrad.graph.ops import BY_NAME, Op
from exprgrad.language.write.infix import texts
from exprgrad.run.numbers.sweeps import forward, holds
from exprgrad.solvers.minima.constraints import Constraint, along_surfaces, by_projection, limits_at
from exprgrad.solvers.minima.search import (
    Box,
    Course,
    Layout,
    Objective,
    Turn,
    Vector,
    norm,
    search,
    turn_at,
)
from exprgrad.solvers.minima.verdicts import REACHES, Judged

__all__ = ["settled_at"]

ANYWHERE = (-2.5, -1.0, -0.5, 0.0, 0.5, 1.0, 2.5)
"""Numbers at which it is asked whether an operation is defined everywhere."""
LARGEST_GRAPH = 20_000
"""A formula of more nodes is not searched for its switches."""
MOST_SURFACES = 6
"""So many surfaces make 64 cells."""
SAMPLED, APPROACHED = 20, 1e-3
"""Of so many points of a search it is asked which surfaces it came near to, as a part of the farthest."""
NEARBY = 1e-4
"""A surface within such a part of the point's size is near."""
ASIDE = 1e-6
"""How far aside, in sizes of the point, a cell is asked for its gradient."""
HARDLY = 1e-9
"""By such a part the value may rise on the way to a surface, for what is rounded."""
BESIDE = 1e-3
"""How far aside values are looked at where slopes tell nothing, in sizes of the point."""
BENT = 1.5
"""A slope that the Hessian alone may have made so far aside counts as 0; a square root's does not."""
UNSEEN = 1e-9
"""A part of the gradient that is so small beside the whole counts as 0."""


class Cell(NamedTuple):
    """One cell: the signs of its surfaces' functions, a way into it, and the gradient there.

    ``slopes`` are the gradient's parts in the gradients of these functions, ``rest`` is what is left of it.
    ``slack`` is how large these may be where they are 0 at the point, for the gradient is that aside.
    """

    signs: tuple[float, ...]
    way: Vector
    slopes: Vector
    rest: float
    slack: float


def settled_at(objective: Objective, course: Course, box: Box, most: int) -> Judged | None:
    """The verdict at kinks and edges near the end of a search, which goes on along them; None if there are
    none.

    The formula is one of numbers.
    """
    if len(objective.graph) > LARGEST_GRAPH:
        return None
    if course.reason in ("stuck", "limit"):
        snap(objective, course)
    known = [
        one
        for one in surfaces(objective, course)
        if not one.is_edge or ends_at(objective, one, course.last)
    ]
    kept: list[Constraint] = []
    for _ in range(MOST_SURFACES):
        more = [one for one in known if one not in kept and is_near(one, course)]
        if not more:
            break
        kept += more[: MOST_SURFACES - len(kept)]
        go_along(objective, kept, course, box, most)
        kept = [one for one in kept if is_met(one, course.last.at)]
    return by_cells(objective, kept, course.last, box) if kept else None


def go_along(
    objective: Objective, kept: Sequence[Constraint], course: Course, box: Box, most: int
) -> None:
    """Search where some surfaces meet, from the end of a course on; those across one number hold that."""
    here, layout = course.last, objective.layout
    held: dict[int, float] = {}
    bent: list[Constraint] = []
    for one in kept:
        value, slope = one.function.slope(here.at)
        across = np.flatnonzero(slope)
        if len(across) == 1 and not np.any(one.function.curvature(here.at)):
            held[int(across[0])] = float(here.at[across[0]] - value / slope[across[0]])
        else:
            bent.append(one)
    names = layout.names()
    free = [k for k in range(len(names)) if k not in held]
    fixed = {**layout.fixed, **{names[k]: value for k, value in held.items()}}
    inner = Layout(fixed, {names[k]: () for k in free})
    at = here.at.copy()
    at[[*held]] = [*held.values()]
    part = Objective(objective.graph, inner, objective.sign, objective.counts)
    room = Box(box.low[free], box.high[free])
    blocked: list[Vector] = []
    if bent:
        limits = [one._replace(function=Objective(one.function.graph, inner)) for one in bent]
        at[free] = along_surfaces(part, limits, at[free], room, most)
    elif free:
        found = search(part, at[free], room, most)
        at[free] = found.last.at
        blocked = [lifted(at, free, trial) for trial in found.blocked]
    there = turn_at(objective, at)
    if there.value <= here.value + HARDLY * abs(here.value):
        course.turns.append(there)
        course.blocked[:] = blocked


def lifted(at: Vector, free: Sequence[int], part: Vector) -> Vector:
    """A point whose free numbers are others."""
    found = at.copy()
    found[free] = part
    return found


def snap(objective: Objective, course: Course) -> None:
    """Take what is next to nothing for 0, if the value is not greater there."""
    here = course.last
    at = np.where(np.abs(here.at) < ASIDE * max(norm(course.turns[0].at), 1e-100), 0.0, here.at)
    if np.any(at != here.at):
        there = turn_at(objective, at)
        if there.value <= here.value:
            course.turns.append(there)


def surfaces(objective: Objective, course: Course) -> Iterator[Constraint]:
    """The surfaces at which a formula of numbers has a kink, or ends, that a search came near to."""
    graph, layout = objective.graph, objective.layout
    builder = Builder()
    image = builder.include(graph)
    written = texts(graph, graph.names())
    gaps: dict[int, tuple[str, bool]] = {}
    for node, kind in enumerate(graph.kinds):
        row = BY_NAME.get(kind)
        if row is None or not graph.operands[node]:
            continue
        operands = [image[operand] for operand in graph.operands[node]]
        if any(special.code == "kink" for special in row.special):
            for gap in gaps_of(builder, row, operands, image[node]):
                gaps.setdefault(gap, (written[node], False))
        elif row.domain and not row.variadic and may_end(graph, node, row):
            given = dict(zip(row.names, operands, strict=True)) | {"out": image[node]}
            for one, other in comparisons(builder, template(row.domain), given):
                gap = builder.apply("sub", one, other)
                if builder.graph.kinds[gap] != CONST:
                    gaps.setdefault(gap, (written[node], True))
    program = builder.program([image[graph.output], *gaps])
    passed = [*course.turns[:: max(len(course.turns) // SAMPLED, 1)], course.last]
    points = [*[turn.at for turn in passed], *course.blocked[-3:]]
    seen = [forward(program.graph, {**layout.fixed, **layout.named(at)}) for at in points]
    for node, (text, is_edge) in zip(program.outputs[1:], gaps.values(), strict=True):
        values = [data[node] for data in seen]
        last, most = values[len(passed) - 1], max(map(abs, values))
        crossed = any(last * value <= 0 for value in values[len(passed) :])
        if crossed or abs(last) <= APPROACHED * most:
            function = Objective(seen_from(program.graph, node), layout)
            yield Constraint(text, function, is_equation=True, is_edge=is_edge)


def may_end(graph: Graph, node: int, row: Op) -> bool:
    """Whether an operation's domain ends somewhere: that of a whole power does not."""
    payloads = [graph.payloads[operand] for operand in graph.operands[node][1:]]
    others = [value for value in payloads if isinstance(value, float)]
    if len(others) < len(payloads):
        return True
    return not all(holds(row.domain, row.names, [x, *others]) for x in ANYWHERE)


def is_near(one: Constraint, course: Course) -> bool:
    """Whether a surface is next to the end of a course, or between it and the points that it tried last."""
    here = course.last
    on = turn_at(one.function, here.at)
    if not (on.is_finite and norm(on.slope)):
        return False
    if abs(on.value) <= NEARBY * norm(on.slope) * max(norm(here.at), ASIDE):
        return True
    tried = [one.function.value(at) for at in course.blocked[-3:]]
    return any(math.copysign(1, on.value) * other < 0 for other in tried)


def is_met(one: Constraint, at: Vector) -> bool:
    """Whether a point is on a surface, as far as doubles tell."""
    value, slope = one.function.slope(at)
    noise, _ = one.function.noise(at)
    return abs(value) <= 8 * (noise + 2.0**-52 * float(np.abs(slope) @ np.abs(at)))


def ends_at(objective: Objective, one: Constraint, here: Turn) -> bool:
    """Whether the formula is not defined on one side of a surface near a point."""
    on = turn_at(one.function, here.at)
    size = norm(on.slope)
    if not (on.is_finite and size):
        return False
    step = on.slope * (ASIDE * here.size / size)
    foot = here.at - on.slope * (on.value / size / size)
    values = [objective.value(foot + sign * step) for sign in (-1.0, 1.0)]
    return sum(map(math.isfinite, values)) == 1


# Cells.


def by_cells(objective: Objective, near: Sequence[Constraint], here: Turn, box: Box) -> Judged:
    """The verdict where surfaces meet, by the gradient in each cell beside them."""
    slopes = np.array([one.function.slope(here.at)[1] for one in near])
    kept = independent(slopes)
    near, slopes = [near[k] for k in kept], slopes[kept]
    kinks = tuple(dict.fromkeys(one.text for one in near if not one.is_edge))
    edges = tuple(dict.fromkeys(one.text for one in near if one.is_edge))
    cells = list(cells_at(objective, slopes, here))
    kind = "kink" if kinks else "minimum"
    base = Judged(kind, "", kinks=kinks, edges=edges)
    for cell in cells:
        towards = np.array(cell.signs) * cell.slopes
        if np.any(towards < -cell.slack) or cell.rest > cell.slack:
            lower = lower_point(objective, here, cell.way, box)
            if lower is not None:
                return base._replace(reason="falls", lower=lower, direction=cell.way)
            if cell.rest > cell.slack:
                return base._replace(kind="not converged", reason="stuck")
    level = [c for c in cells if np.min(np.array(c.signs) * c.slopes) <= c.slack]
    if not cells or level:
        rises = all(is_above(objective, here, cell.way, box) for cell in level)
        return base._replace(kind="kink", reason="rises" if rises else "level")
    rows, cell = limits_at(near, here.at), cells[0]
    aside = here.at + cell.way * ASIDE * here.size
    flat = by_projection(objective, rows, -cell.slopes, here._replace(at=aside), box)
    if flat.kind != "minimum":
        return base._replace(kind="kink", reason="level", direction=flat.direction)
    return base._replace(reason="sharp", values=flat.values)


def independent(slopes: Vector) -> list[int]:
    """The rows of a matrix that no rows before them make up."""
    kept: list[int] = []
    for k in range(len(slopes)):
        trial = slopes[[*kept, k]]
        if len(trial) > trial.shape[1]:
            break
        sizes = np.linalg.svd(trial / np.linalg.norm(trial, axis=1)[:, None], compute_uv=False)
        if sizes[-1] > 1e-8:
            kept.append(k)
    return kept


def cells_at(objective: Objective, slopes: Vector, here: Turn) -> Iterator[Cell]:
    """The cells in which the formula is defined, each with the gradient in it."""
    reach = ASIDE * here.size
    for signs in product((-1.0, 1.0), repeat=len(slopes)):
        way = np.linalg.lstsq(slopes, np.array(signs), rcond=None)[0]
        way = way / norm(way)
        value, slope = objective.slope(here.at + reach * way)
        if not (math.isfinite(value) and np.all(np.isfinite(slope))):
            continue
        bend = objective.curvature(here.at + reach * way)
        bend = np.where(np.isfinite(bend), np.abs(bend), 0.0)
        slack = BENT * reach * norm(bend.ravel()) + UNSEEN * norm(slope)
        parts = np.linalg.lstsq(slopes.T, slope, rcond=None)[0]
        rest = norm(slope - slopes.T @ parts)
        yield Cell(signs, way, np.asarray(parts), rest, slack)


def is_above(objective: Objective, here: Turn, way: Vector, box: Box) -> bool:
    """Whether values nearby along a way are greater."""
    noise, _ = objective.noise(here.at)
    trial = box.clipped(here.beside(BESIDE, way))
    return objective.value(trial) > here.value + 2 * noise


def lower_point(objective: Objective, here: Turn, way: Vector, box: Box) -> Vector | None:
    """A lower point along a way, if there is one."""
    noise, _ = objective.noise(here.at)
    for reach in reversed(REACHES):
        trial = box.clipped(here.beside(reach, way))
        if objective.value(trial) < here.value - 2 * noise:
            return trial
    return None
