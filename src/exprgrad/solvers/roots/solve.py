"""Roots of a system: one from a start, or all in a range, each with its proof or with what is missing."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from exprgrad.run.balls.balls import Ball, ball, working
from exprgrad.run.values.ranges import Interval
from exprgrad.solvers.roots.boxes import (
    Arrival,
    Proof,
    Searched,
    branch_and_prune,
    greatest,
    is_at_zero,
    is_within,
    middle,
    newton,
    overlap,
    proof_around,
)
from exprgrad.solvers.roots.enclosures import Enclosure, exactly, hull, spanning
from exprgrad.solvers.roots.problem import Problem
from exprgrad.solvers.roots.system import Box, Sight, System, Vector, ball_about

__all__ = ["ALL_OVER", "Root", "Solution", "solved"]

PRECISION = 256
"""The precision that roots are looked for in."""
TOUCHES = 2.0**-60
"""Up to which part of its terms a residual counts as next to 0."""
NEAR_ZERO = 1e-30
"""How wide boxes around 0 are where it is asked whether 0 is the root that they seem to hold."""
MANY = 400
"""From how many undecided boxes on only neighbours are joined."""
ALL_OVER = "every point there is a root"
LOOKS_AROUND = 3000
"""How many boxes are looked at in each wider interval around a start that leads nowhere."""
WIDTHS = (1.0, 32.0, 1024.0, 2.0**30, math.inf)
"""How wide these intervals are, compared with the start."""


class Root(NamedTuple):
    """A root.

    ``point``      by unknown the double nearest to it
    ``enclosure``  by unknown two doubles that it lies between
    ``proved``     whether it is proved that exactly one root lies there
    ``why``        why it is not
    """

    point: dict[str, float]
    enclosure: dict[str, Interval]
    proved: bool
    why: str = ""


class Solution(NamedTuple):
    """What was found of a system.

    ``roots``     in the order of the first unknown
    ``excluded``  whether it is proved that there is none
    ``undecided`` boxes that may hold roots, or none
    ``is_whole``  whether all that was asked for was searched: then no root lies elsewhere
    ``reason``    why the search ended before, in words
    """

    roots: tuple[Root, ...]
    excluded: bool = False
    undecided: tuple[dict[str, Interval], ...] = ()
    is_whole: bool = False
    reason: str = ""


# In ranges.


def in_ranges(system: System, ranges: Sequence[Interval]) -> Solution:
    """All roots in a box."""
    with working(PRECISION):
        sight = Sight(system, PRECISION)
        box = [spanning(ball(low), ball(high)) for low, high in ranges]
        if all(f.is_zero for f in sight.residuals(box)):
            return Solution((), undecided=(interval_by_name(system, box),), reason=ALL_OVER)
        found = branch_and_prune(sight, box)
        roots, undecided = roots_of(sight, found, box)
    excluded = found.is_done and not roots and not undecided
    reason = "" if found.is_done else "there are too many places to look at"
    return Solution(roots, excluded, undecided, found.is_done, reason)


def roots_of(
    sight: Sight, found: Searched, box: Box
) -> tuple[tuple[Root, ...], tuple[dict[str, Interval], ...]]:
    """The roots of a search, in order, and what is undecided; what may be a root is looked at again."""
    system = sight.system
    roots = [rooted(sight, proof) for proof in found.proofs]
    undecided: list[dict[str, Interval]] = []
    for cluster in clusters_of(found.left):
        root = candidate(sight, cluster) if found.is_done else None
        if root is None:
            undecided.append(interval_by_name(system, cluster))
        elif all(root.point != known.point for known in roots):
            roots.append(root)
    key = [*system.unknowns]
    ordered = sorted(roots, key=lambda root: [root.point[name] for name in key])
    return tuple(ordered), tuple(undecided)


def clusters_of(boxes: Sequence[Box]) -> Iterator[Box]:
    """Boxes that touch each other as one; of very many, those that are neighbours."""
    rest = sorted(boxes, key=lambda box: [float(x.low) for x in box])
    while rest:
        whole, apart = rest.pop(0), []
        for at, box in enumerate(rest):
            if overlap(whole, box):
                whole = [hull(x, y) for x, y in zip(whole, box, strict=True)]
            elif len(boxes) > MANY:
                apart += rest[at:]
                break
            else:
                apart.append(box)
        rest = apart
        yield whole


def candidate(sight: Sight, cluster: Box) -> Root | None:
    """The root that a small undecided box seems to hold, if any."""
    if not all(x.ball.is_finite() for x in cluster):
        return None
    if is_at_zero(sight, cluster, NEAR_ZERO):
        return unproved(sight, [ball(nearest_double(x)) for x in cluster], cluster)
    for start in ([middle(x) for x in cluster], [x.low for x in cluster]):
        arrival = newton(sight, start)
        if arrival is None:
            arrival = Arrival(start, greatest([(x.high - x.low).upper() for x in cluster]))
        root = arrived(sight, arrival)
        inside = root is not None and all(
            low <= float(x.high) and high >= float(x.low)
            for x, (low, high) in zip(cluster, root.enclosure.values(), strict=True)
        )
        if root is not None and inside:
            return root if root.proved else unproved(sight, arrival.point, cluster)
    return None


# From a start.


def from_start(system: System, start: Sequence[float]) -> Solution:
    """A root near a start: where Newton's method leads, or the nearest one in wider and wider boxes."""
    with working(PRECISION):
        sight = Sight(system, PRECISION)
        point = [ball(x) for x in start]
        arrival = newton(sight, point)
        if all(f.is_zero for f in sight.residuals([ball_about(x, ball(1)) for x in point])):
            here = unproved(sight, point, [exactly(x) for x in point])
            return Solution(() if here is None else (here._replace(why=ALL_OVER),))
        root = None if arrival is None else arrived(sight, arrival)
        if root is not None:
            return Solution((root,))
        return around_start(sight, point)


def around_start(sight: Sight, start: Vector) -> Solution:
    """The nearest root in boxes around a start; if there is none in the whole space, that is said."""
    if len(start) > 3:
        return Solution((), reason="Newton's method leads to no root from there")
    for width in WIDTHS:
        reach = [ball(width) * (1 + abs(x)) for x in start]
        box = [
            spanning((x - r).lower(), (x + r).upper()) for x, r in zip(start, reach, strict=True)
        ]
        found = branch_and_prune(sight, box, LOOKS_AROUND)
        roots, undecided = roots_of(sight, found, box)
        if roots:
            return Solution((nearest_root(sight, roots, start),))
        if width == math.inf and found.is_done and not undecided:
            return Solution((), excluded=True, is_whole=True)
    return Solution((), reason="Newton's method leads to no root from there")


def nearest_root(sight: Sight, roots: Sequence[Root], start: Vector) -> Root:
    """The root nearest to a start; proved ones come first."""

    def distance(root: Root) -> tuple[bool, float]:
        numbers = zip(root.point.values(), start, strict=True)
        return not root.proved, max(abs(x - float(y)) for x, y in numbers)

    return min(roots, key=distance)


def arrived(sight: Sight, arrival: Arrival) -> Root | None:
    """The root that Newton's method led to: proved, or not, or none."""
    least = 4 * arrival.step.upper() + greatest(arrival.point) * 2.0 ** (-3 * sight.bits // 4)
    radii = [least + 4 * ball(math.ulp(float(x))) for x in arrival.point]
    for reach in (radii, [least for _ in radii]):  # first so wide that doubles have room in it
        proof = proof_around(sight, arrival.point, reach)
        if proof is not None:
            return rooted(sight, proof)
    if arrival.is_close and touches(sight, arrival.point):
        return unproved(sight, arrival.point, [exactly(x) for x in arrival.point])
    return None


def touches(sight: Sight, point: Vector) -> bool:
    """Whether each residual is next to nothing, compared with what it is made of."""
    graph = sight.system.graph
    values = sight.algebra.evaluate(graph, sight.inputs([exactly(x) for x in point]))
    for node in sight.system.outputs:
        if not values[node].is_finite:
            return False
        terms = [values[operand].ball for operand in graph.operands[node]]
        if not abs(values[node].ball).upper() <= TOUCHES * greatest([*terms, *point]):
            return False
    return True


# As people are told.


def interval_by_name(system: System, box: Box) -> dict[str, Interval]:
    """A box in doubles, rounded outwards."""
    return {
        name: Interval(outward(x.low, -math.inf), outward(x.high, math.inf))
        for name, x in zip(system.unknowns, box, strict=True)
    }


def outward(bound: Ball, towards: float) -> float:
    """A bound as a double, rounded towards an infinity."""
    found = float(bound.mid())
    beyond = ball(found) < bound if towards > 0 else ball(found) > bound
    return math.nextafter(found, towards) if beyond else found


def in_doubles(system: System, box: Box) -> Box:
    """A box with doubles for bounds."""
    return [spanning(ball(low), ball(high)) for low, high in interval_by_name(system, box).values()]


def rooted(sight: Sight, proof: Proof) -> Root:
    """A root that is proved, also to be the only one between the doubles around it."""
    system, inner, whole = sight.system, proof.inner, proof.whole
    outer = in_doubles(system, inner)
    if not is_within(outer, whole):
        radii = [x.ball.rad() + 2 * ball(math.ulp(float(x.high))) for x in outer]
        wider = proof_around(sight, [middle(x) for x in outer], radii)
        whole = whole if wider is None else wider.whole
    is_alone = is_within(outer, whole)
    why = "" if is_alone else "another root may lie between the same two doubles"
    doubles = dict(zip(system.unknowns, map(nearest_double, inner), strict=True))
    return Root(doubles, interval_by_name(system, inner), is_alone, why)


def nearest_double(x: Enclosure) -> float:
    """The double nearest to what a narrow interval holds; 0 where that may be it."""
    return 0.0 if x.low <= 0 and x.high >= 0 else float(middle(x))


def unproved(sight: Sight, point: Vector, box: Box) -> Root | None:
    """A root that is not proved, and why not; None where the formula has no value there."""
    system = sight.system
    doubles = [nearest_double(exactly(x)) for x in point]
    typed = [exactly(sight.algebra.decimals.read(None, x)) for x in doubles]
    at_typed, smooth = sight.residuals(typed), sight.is_smooth(typed)
    if any(f.is_empty for f in at_typed):
        return None
    why = "the residual is next to 0 there, and its slope may be 0: a multiple root, or none"
    if not smooth:
        why = "the formula jumps there, or has a kink"
    elif all(f.is_zero for f in at_typed):
        why = "the residual is exactly 0 there, and its slope may be 0: a multiple root, or a kink"
    elif not all(f.is_finite for f in sight.residuals(box)):
        return None
    hulls = [hull(exactly(ball(x)), y) for x, y in zip(doubles, box, strict=True)]
    by_name = dict(zip(system.unknowns, doubles, strict=True))
    return Root(by_name, interval_by_name(system, hulls), proved=False, why=why)


def solved(problem: Problem) -> Solution:
    """The roots that a problem asks for."""
    if problem.ranges:
        return in_ranges(problem.system, problem.ranges)
    return from_start(problem.system, problem.starts)
