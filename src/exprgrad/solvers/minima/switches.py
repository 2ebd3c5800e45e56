"""Minima at kinks and at edges of a formula's domain, where Newton's method finds no way down.

There the formula differs on each side of some surfaces: where the operand of ``abs`` is 0, two operands
of ``max`` are equal, or that of ``sqrt`` ends its domain.  On these surfaces it is smooth, and the search
goes on along them (J.-B. Hiriart-Urruty and C. Lemaréchal, Convex Analysis and Minimization Algorithms,
1993; C. Lemaréchal, F. Oustry and C. Sagastizábal, The U-Lagrangian of a convex function, 2000), and each
cell between them has its gradient evaluated.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import combinations, product
from typing import NamedTuple

import numpy as np

from exprgrad.derive.build import GraphBuilder
from exprgrad.derive.switches import condition_switch_functions, switch_functions
from exprgrad.graph.graph import Graph, with_output
from exprgrad.graph.ops import BY_NAME, Op
from exprgrad.language.write.infix import node_texts
from exprgrad.run.numbers.sweeps import condition_holds, forward_numbers
from exprgrad.solvers.minima.constraints import (
    Constraint,
    along_surfaces,
    bends_along,
    constraint_slopes,
    limits_at,
    nearest_met,
)
from exprgrad.solvers.minima.search import (
    Box,
    Objective,
    PointLayout,
    SearchCourse,
    Spectrum,
    Turn,
    Vector,
    trust_region_search,
    turn_at,
    vector_norm,
)
from exprgrad.solvers.minima.verdicts import REACHES, Judged, run_off, trend_of

__all__ = ["judge_at_switches"]

ANYWHERE = (-2.5, -1.0, -0.5, 0.0, 0.5, 1.0, 2.5)
"""Numbers at which an operation is tested for being defined everywhere."""
LARGEST_GRAPH = 20_000
"""The most nodes of a formula that is searched for its switches."""
MOST_SURFACES = 6
"""The most surfaces: six make 64 cells."""
SAMPLED = 20
"""The points of a search whose nearby surfaces are sought."""
APPROACHED = 1e-3
"""The greatest distance from such a surface at the end, as a part of the farthest."""
NEARBY = 1e-4
"""A surface within this part of the point's size is near."""
ASIDE = 1e-6
"""The distance, relative to the point, at which a cell's gradient is evaluated."""
HARDLY = 1e-9
"""The relative rise of the value on the way to a surface that rounding explains."""
ALONG = 1e-8
"""The sine of the angle below which a direction and a surface, or surfaces, are parallel."""
FOLLOWING = 8
"""The most steps of Newton's method onto surfaces."""
BENT = 1.5
"""A slope that the Hessian alone explains at that distance counts as 0; a square root's does not."""
DISTANT = 1e16
"""Beyond it doubles are farther apart than 1 and cells tell nothing: a level value may fall."""
UNSEEN = 1e-9
"""A part of the gradient below this share of the whole counts as 0."""


class Cell(NamedTuple):
    """A cell: the signs of its surfaces' functions, a direction into it, and the gradient there.

    ``slopes`` are the gradient's parts along the gradients of these functions, ``rest`` is the remainder.
    ``slack`` is how large these may be although they are 0 at the point, since the gradient is taken aside.
    ``bends`` are the Lagrangian's eigenvalues along all surfaces, None where they are not finite.
    """

    signs: tuple[float, ...]
    way: Vector
    slopes: Vector
    rest: Vector
    slack: float
    bends: Spectrum | None

    @property
    def is_sharp(self) -> bool:
        """Whether the value rises across the surfaces by its slopes, and along them by its Hessian."""
        rises, bends = np.array(self.signs) * self.slopes > self.slack, self.bends
        return bends is not None and bool(np.all(rises) and np.all(bends.values > bends.tiny))


def judge_at_switches(
    objective: Objective, course: SearchCourse, box: Box, most: int
) -> Judged | None:
    """Continue a search along nearby kinks and domain edges, and judge its end.

    None if there are none, or the graph is too large.  The formula must be without tensors.
    """
    if len(objective.graph) > LARGEST_GRAPH:
        return None
    if course.reason in ("stuck", "limit"):
        snap_to_zero(objective, course)
    kept: list[Constraint] = []
    for _ in range(MOST_SURFACES):
        before = len(kept)
        for one in switch_surfaces(objective, course):
            if len(kept) == MOST_SURFACES:
                break
            is_new = not any(is_same(one, other, course.last.at) for other in kept)
            if is_new and is_near_course(objective, one, course):
                kept.append(one)
        if len(kept) == before:
            break
        go_along(objective, kept, course, box, most)
        kept = [one for one in kept if is_met(one, course.last.at)]
    return verdict_by_cells(objective, kept, course, box) if kept else None


def is_same(one: Constraint, other: Constraint, at: Vector) -> bool:
    """Whether two surfaces of one operation coincide, by distance and direction from a point."""
    rows = limits_at([one, other], at)
    (x, y), (slope, along) = [row.value for row in rows], [row.slope for row in rows]
    sizes = vector_norm(slope), vector_norm(along)
    apart = vector_norm(slope * sizes[1] - math.copysign(1, slope @ along) * along * sizes[0])
    nothing = ALONG * sizes[0] * sizes[1]
    return (
        one.text == other.text
        and apart <= nothing
        and abs(abs(x) * sizes[1] - abs(y) * sizes[0]) <= nothing * vector_norm(at)
    )


def go_along(
    objective: Objective, kept: Sequence[Constraint], course: SearchCourse, box: Box, most: int
) -> None:
    """Search where some surfaces meet, from the end of a course; a surface across one number fixes it."""
    here, layout = course.last, objective.layout
    held: dict[int, float] = {}
    bent: list[Constraint] = []
    for k in independent_rows(constraint_slopes(limits_at(kept, here.at), here.at)):
        one = kept[k]
        value, slope = one.function.slope(here.at)
        across = np.flatnonzero(slope)
        if len(across) == 1 and not np.any(one.function.curvature(here.at)):
            held[int(across[0])] = float(here.at[across[0]] - value / slope[across[0]])
        else:
            bent.append(one)
    names = layout.names()
    free = [k for k in range(len(names)) if k not in held]
    fixed = {**layout.fixed, **{names[k]: value for k, value in held.items()}}
    inner = PointLayout(fixed, {names[k]: () for k in free})
    at = here.at.copy()
    at[[*held]] = [*held.values()]
    part = Objective(objective.graph, inner, objective.sign, objective.counts)
    room = Box(box.low[free], box.high[free])
    blocked: list[Vector] = []
    if bent and free:
        limits = [one._replace(function=Objective(one.function.graph, inner)) for one in bent]
        at[free] = along_surfaces(part, limits, at[free], room, most)
    elif free:
        found = trust_region_search(part, at[free], room, most)
        at[free] = found.last.at
        blocked = [np.copy(at) for _ in found.blocked]
        for whole, trial in zip(blocked, found.blocked, strict=True):
            whole[free] = trial
    there = turn_at(objective, at)
    most_high = here.value + HARDLY * abs(here.value)
    if bent and not (there.value <= most_high and all(is_met(one, at) for one in kept)):
        on = turn_at(objective, point_on(kept, here.at, box))
        there = on if on.value <= most_high else there
    if there.value <= most_high:
        course.turns.append(there)
        course.blocked[:] = blocked
        if bent:
            snap_to_zero(objective, course)


def snap_to_zero(objective: Objective, course: SearchCourse) -> None:
    """Set negligible numbers to 0, if the value is not greater there."""
    here = course.last
    at = np.where(
        np.abs(here.at) < ASIDE * max(vector_norm(course.turns[0].at), 1e-100), 0.0, here.at
    )
    if np.any(at != here.at):
        there = turn_at(objective, at)
        if there.value <= here.value:
            course.turns.append(there)


def switch_surfaces(objective: Objective, course: SearchCourse) -> Iterator[Constraint]:
    """Yield the surfaces near a search at which a formula of numbers has a kink, or ends."""
    graph, layout = objective.graph, objective.layout
    builder = GraphBuilder(graph.empty())
    image = builder.include(graph)
    written = node_texts(graph, graph.names())
    gaps: dict[tuple[int, bool], str] = {}
    for node, kind in enumerate(graph.kinds):
        row = BY_NAME.get(kind)
        if row is None or not graph.operands[node]:
            continue
        operands = [image[operand] for operand in graph.operands[node]]
        if any(special.code == "kink" for special in row.special):
            for gap, _ in switch_functions(builder, row, operands, image[node]):
                gaps.setdefault((gap, False), written[node])
        elif row.domain and not row.variadic and may_end(graph, node, row):
            ends = condition_switch_functions(builder, row.domain, row, operands, image[node])
            for gap, _ in ends:
                gaps.setdefault((gap, True), written[node])
    program = builder.program([image[graph.output], *[node for node, _ in gaps]])
    passed = [*course.turns[:: max(len(course.turns) // SAMPLED, 1)], course.last]
    points = [*[turn.at for turn in passed], *course.blocked[-3:]]
    seen = [forward_numbers(program.graph, {**layout.fixed, **layout.named(at)}) for at in points]
    for node, ((_, is_edge), text) in zip(program.outputs[1:], gaps.items(), strict=True):
        values = [data[node] for data in seen]
        last, most = values[len(passed) - 1], max(map(abs, values))
        crossed = any(last * value <= 0 for value in values[len(passed) :])
        if crossed or abs(last) <= APPROACHED * most:
            function = Objective(with_output(program.graph, node), layout)
            yield Constraint(text, function, is_equation=True, is_edge=is_edge)


def may_end(graph: Graph, node: int, row: Op) -> bool:
    """Whether an operation's domain ends somewhere; a whole power's does not."""
    payloads = [graph.payloads[operand] for operand in graph.operands[node][1:]]
    others = [value for value in payloads if isinstance(value, float)]
    if len(others) < len(payloads):
        return True
    return not all(condition_holds(row.domain, row.names, [x, *others]) for x in ANYWHERE)


def is_near_course(objective: Objective, one: Constraint, course: SearchCourse) -> bool:
    """Whether a surface is next to the end of a course, or between it and the last points tried.

    At an edge of the formula's domain, it must be undefined on one side, too.
    """
    here = course.last
    on = turn_at(one.function, here.at)
    size = vector_norm(on.slope)
    if not (on.is_finite and size):
        return False
    if one.is_edge:
        step = on.slope * (ASIDE * here.size / size)
        foot = here.at - on.slope * (on.value / size / size)
        values = [objective.value(foot + sign * step) for sign in (-1.0, 1.0)]
        if sum(map(math.isfinite, values)) != 1:
            return False
    if abs(on.value) <= NEARBY * size * max(vector_norm(here.at), ASIDE):
        return True
    tried = [one.function.value(at) for at in course.blocked[-3:]]
    return any(math.copysign(1, on.value) * other < 0 for other in tried)


def is_met(one: Constraint, at: Vector) -> bool:
    """Whether a point is on a surface, in doubles."""
    value, slope = one.function.slope(at)
    noise, _ = one.function.noise(at)
    return abs(value) <= 8 * (noise + 2.0**-52 * float(np.abs(slope) @ np.abs(at)))


# Cells.


def verdict_by_cells(
    objective: Objective, near: Sequence[Constraint], course: SearchCourse, box: Box
) -> Judged:
    """Judge where surfaces meet, by values along them and by the gradient in each cell."""
    here = course.last
    kinks = tuple(dict.fromkeys(one.text for one in near if not one.is_edge))
    edges = tuple(dict.fromkeys(one.text for one in near if one.is_edge))
    base = Judged("kink" if kinks else "minimum", "", kinks=kinks, edges=edges)
    # A surface without a gradient, as abs(x) - abs(y) has none at 0, is met by no steps.
    bent = [one for one in near if not np.any(one.function.slope(here.at)[1])]
    near = [one for one in near if one not in bent]
    slopes = constraint_slopes(limits_at(near, here.at), here.at)
    met_across = [near[k] for k in independent_rows(slopes)]
    if not met_across:
        return base._replace(kind="kink", reason="level")
    cells = list(cells_at(objective, met_across, here))
    aside = [here.beside(ASIDE, cell.way) for cell in cells]
    all_slopes = [*slopes, *[one.function.slope(at)[1] for one in bent for at in aside]]
    falls = [
        -cell.rest / vector_norm(cell.rest) for cell in cells if vector_norm(cell.rest) > cell.slack
    ]
    bends = cells[0].bends if cells else None
    level = [] if bends is None else [*bends.vectors.T, *-bends.vectors.T]
    pressure = max((float(np.max(np.abs(cell.slopes))) for cell in cells), default=0.0)
    trends = set()
    for way in [*falls, *[cell.way for cell in cells], *corner_ways(np.array(all_slopes)), *level]:
        across = np.abs(slopes @ way) > ALONG * np.linalg.norm(slopes, axis=1)
        met = [one for one, leaves in zip(near, across, strict=True) if not leaves]
        trend, lower = trend_of(objective, here, points_along(met, here, way, box, pressure))
        if lower is not None:
            return base._replace(reason="falls", lower=lower, direction=way)
        trends.add(trend)
    if falls or (vector_norm(here.at) > DISTANT and (bends is None or "stays" in trends)):
        endless = run_off(objective, course, box.holds)
        return endless or base._replace(kind="not converged", reason="stuck")
    if bends is None or "stays" in trends:
        return base._replace(kind="kink", reason="level")
    if not all(cell.is_sharp for cell in cells):
        return base._replace(kind="kink", reason="rises")
    return base._replace(reason="sharp", values=bends.ends)


def corner_ways(slopes: Vector) -> Iterator[Vector]:
    """Yield both ways along each line in which surfaces meet; what all surfaces share is left out.

    A function that is linear in each cell rises in all cells if it rises along these.
    """
    _, sizes, ways = np.linalg.svd(slopes)
    across = ways[: int(np.sum(sizes > ALONG * sizes[0]))]
    for chosen in combinations(slopes @ across.T, len(across) - 1):
        way = np.linalg.svd(np.array(chosen).reshape(-1, len(across)))[2][-1] @ across
        yield from (way, -way)


def points_along(
    met: Sequence[Constraint], here: Turn, way: Vector, box: Box, pressure: float
) -> Iterator[tuple[Vector, float]]:
    """Yield ever farther points along a direction that follows some surfaces.

    With each comes the change of the value for the distance left to them, at most by ``pressure`` each.
    """
    for reach in REACHES:
        at = point_on(met, here.beside(reach, way), box)
        off = sum(abs(one.function.value(at)) + one.function.noise(at)[0] for one in met)
        yield at, 4 * pressure * off


def point_on(met: Sequence[Constraint], at: Vector, box: Box) -> Vector:
    """Find the point on some surfaces by Newton's steps from one nearby; nan if there is none."""
    at = box.clipped(at)
    for _ in range(FOLLOWING):
        if all(is_met(one, at) for one in met):
            return at
        at = nearest_met(limits_at(met, at), at, box)
    return np.full_like(at, math.nan)


def independent_rows(slopes: Vector) -> list[int]:
    """Return the rows of a matrix that are independent of those before them, without zeros."""
    kept: list[int] = []
    rows = slopes / np.linalg.norm(slopes, axis=1)[:, None]
    for k in np.flatnonzero(np.isfinite(rows).all(axis=1)).tolist():
        trial = rows[[*kept, k]]
        if len(trial) > trial.shape[1]:
            break
        if np.linalg.svd(trial, compute_uv=False)[-1] > ALONG:
            kept.append(k)
    return kept


def cells_at(objective: Objective, near: Sequence[Constraint], here: Turn) -> Iterator[Cell]:
    """Yield the cells in which the formula is defined, each with the gradient in it."""
    reach, rows = ASIDE * here.size, limits_at(near, here.at)
    slopes = constraint_slopes(rows, here.at)
    for signs in product((-1.0, 1.0), repeat=len(slopes)):
        way = np.linalg.lstsq(slopes, np.array(signs), rcond=None)[0]
        way = way / vector_norm(way)
        aside = here.at + reach * way
        value, slope = objective.slope(aside)
        if not (math.isfinite(value) and np.all(np.isfinite(slope))):
            continue
        bend = objective.curvature(aside)
        bend = np.where(np.isfinite(bend), np.abs(bend), 0.0)
        slack = BENT * reach * vector_norm(bend.ravel()) + UNSEEN * vector_norm(slope)
        parts = np.asarray(np.linalg.lstsq(slopes.T, slope, rcond=None)[0], dtype=np.float64)
        bends = bends_along(objective, rows, -parts, aside)
        yield Cell(signs, way, parts, slope - slopes.T @ parts, slack, bends)
