"""Roots of equations: reading them, and one root from a start, or all in a range.

Each root comes with its proof, or with what the proof lacks.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from fractions import Fraction
from typing import Any, NamedTuple

from exprgrad.derive.parsed import complete_graph
from exprgrad.errors import InputError, LanguageError, RequestError, command_or_python
from exprgrad.explain.places import element_places, to_scalar_run
from exprgrad.graph.graph import Binding, Graph, check_scalars_only, dependent_flags
from exprgrad.graph.ops import COMPARISONS, is_root
from exprgrad.graph.tensors import STRUCTURAL
from exprgrad.language.read.parse import at_shapes
from exprgrad.language.read.relations import Relations, read_relations
from exprgrad.run.balls.balls import Ball, exact_ball, import_flint, working_precision
from exprgrad.run.balls.intervals import Enclosure, exact_enclosure, hull, interval_between
from exprgrad.run.evaluation import SweptRun, evaluator_for, shapes_of
from exprgrad.run.values.inputs import (
    as_value,
    asked_names,
    is_range,
    missing_values,
    normal_name,
    surplus_value,
    value_texts,
)
from exprgrad.run.values.ranges import Interval, exact_ends
from exprgrad.solvers.polish import NewtonStage
from exprgrad.solvers.roots.boxes import (
    NEARLY,
    Proof,
    Searched,
    boxes_overlap,
    branch_and_prune,
    greatest_magnitude,
    interval_middle,
    is_at_zero,
    is_within,
    newton_search,
    proof_around,
)
from exprgrad.solvers.roots.systems import PRECISION, Box, Sight, System, Vector, ball_about
from exprgrad.source import Source

__all__ = ["Problem", "Root", "Solution", "root_problem", "solve_problem"]

TOUCHES = 2.0**-60
"""The part of its terms up to which a residual is next to 0."""
NEAR_ZERO = 1e-30
"""The width of boxes around 0 below which 0 is tested as their root."""
MANY = 400
"""The number of undecided boxes from which on only neighbours are joined."""
ALL_OVER = "every point there is a root"
WIDTHS = (1.0, 32.0, 1024.0, 2.0**30, math.inf)
"""The widths, relative to the start, of the intervals searched around a start that leads nowhere."""
LOOKS_AROUND = 3000
"""The most boxes examined in each of these intervals."""


USUAL = "xyz"
"""The commonest names of unknowns."""
EQUATION = "equation "
"""The prefix of equations' names; no input's name has a blank."""


class Root(NamedTuple):
    """A root.

    ``point``      by unknown, the double nearest to it
    ``enclosure``  by unknown, two doubles that enclose it
    ``proved``     whether exactly one root provably lies there
    ``why``        why it is not proved
    """

    point: dict[str, float]
    enclosure: dict[str, Interval]
    proved: bool
    why: str = ""


class Solution(NamedTuple):
    """The solution of a system.

    ``roots``     in the order of the first unknown
    ``excluded``  whether there is provably none
    ``undecided`` boxes that may hold roots, or none
    ``is_whole``  whether everything requested was searched, so that no root lies elsewhere
    ``reason``    why the search ended early, in words
    """

    roots: tuple[Root, ...]
    excluded: bool = False
    undecided: tuple[dict[str, Interval], ...] = ()
    is_whole: bool = False
    reason: str = ""

    @property
    def is_everywhere(self) -> bool:
        """Whether every requested point is a root."""
        return self.reason == ALL_OVER


def solve_problem(problem: Problem) -> Solution:
    """Solve a problem."""
    with working_precision(PRECISION):
        sight = Sight(problem.system)
        if problem.ranges:
            return in_ranges(sight, problem.ends)
        return from_start(sight, problem.starts)


# What is to be solved.


class Problem(NamedTuple):
    """Equations, and where their unknowns are sought: all have starts, or all have ranges.

    Both ``ends`` of a range come with their exact numbers, if known.  ``given`` are the values of
    the other inputs.
    """

    text: str
    system: System
    starts: tuple[float, ...]
    ranges: tuple[Interval, ...]
    given: Mapping[str, Any]
    ends: tuple[Sequence[tuple[float, Fraction | None]], ...] = ()


def root_problem(
    text: str,
    values: Mapping[str, object],
    wrt: Iterable[str] | None = None,
    arguments: Mapping[str, str] | None = None,
) -> Problem:
    """Read the problem that a text and values state.

    A value is a start or a range of an unknown; with ``wrt`` the others' values are fixed.
    ``arguments`` are values as typed, for excerpts in errors.  Raises ``LanguageError``,
    ``InputError`` or ``RequestError`` for what cannot be solved.
    """
    values = {normal_name(name): value for name, value in values.items()}
    unknowns = [*values] if wrt is None else asked_names(wrt)
    graph = equation_graph(text, unknowns)
    missing = [name for name in graph.inputs if name not in values]
    for name in (*values, *unknowns):
        if name not in graph.inputs:
            raise surplus_value(graph, text, name, missing, arguments or {})
    if missing:
        raise without_start(graph, text, missing)
    ranges = ranges_of(values, unknowns)
    given = {name: as_value(x, name) for name, x in values.items() if name not in ranges}
    typed = value_texts({name: x for name, x in values.items() if name not in unknowns})
    if ranges:
        message, name = (
            "in a formula of tensors unknowns have starts, and no ranges",
            next(iter(ranges)),
        )
        help = f"write {name}=1, or {name}=[1, 2]"
        check_scalars_only(
            graph, lambda _: InputError("bad-value", message, help=help), shapes_of(given)
        )
    else:
        graph, given, unknowns = by_elements(graph, text, given, unknowns)
    nodes = equations_in(graph, text, unknowns, is_chosen=wrt is not None)
    fixed = {name: x for name, x in given.items() if name not in unknowns}
    starts = [float(given[name]) for name in unknowns if name not in ranges]
    if not all(map(math.isfinite, starts)):
        raise InputError(
            "bad-value", "a start is a finite number", help="write x=-inf:inf for all numbers"
        )
    others = {name: (x, typed.get(name)) for name, x in fixed.items()}
    system = System(graph, tuple(nodes), tuple(unknowns), others)
    spans = [Interval(low, high) for (low, _), (high, _) in ranges.values()]
    return Problem(text, system, tuple(starts), tuple(spans), fixed, tuple(ranges.values()))


def ranges_of(
    values: Mapping[str, object], unknowns: Sequence[str]
) -> dict[str, list[tuple[float, Fraction | None]]]:
    """Read the ranges of unknowns, ``low:high`` or a pair in a tuple; raise where only some have one."""
    ranges = {
        name: exact_ends(values[name], name, infinite=True)
        for name in unknowns
        if is_range(values[name]) or isinstance(values[name], tuple)
    }
    others = [name for name in unknowns if name not in ranges]
    if ranges and others:
        raise InputError(
            "bad-value",
            f"'{others[0]}' has a start, and '{next(iter(ranges))}' has a range",
            help=command_or_python(
                f"{others[0]}=-10:10 is a range; with --wrt {','.join(ranges)} others keep their values",
                f"{others[0]}=(-10, 10) is a range; with wrt={[*ranges]} others keep their values",
            ),
        )
    return ranges


# Equations.


def equation_graph(text: str, unknowns: Sequence[str]) -> Graph:
    """Build the graph of a text, in which equations are bindings whose names begin with ``EQUATION``."""
    graph, relations = read_equations(text, unknowns)
    if not relations:
        name, _, span = graph.bindings[-1]
        raise InputError(
            "no-equation",
            f"'{name}' is bound here, and there is no equation",
            source=Source(text),
            span=span,
            help=f"with a start, {name}=1, it is an unknown and this an equation; or write … = 0",
        )
    for one in relations:
        if one.right is None and graph.kinds[one.node] in COMPARISONS:
            raise InputError(
                "no-equation",
                "this compares two sides, and is 1 or 0",
                source=Source(text),
                span=one.span,
                help="an equation has a single sign: write =",
            )
    graph.bindings += [
        Binding(f"{EQUATION}{at}", one.node, one.span) for at, one in enumerate(relations)
    ]
    return complete_graph(graph, text)


def read_equations(text: str, unknowns: Sequence[str]) -> Relations:
    """Read a text's statements; ``x = cos(x)`` binds nothing, and lacks a start if x is no unknown."""
    try:
        return read_relations(text, "=", unknowns)
    except LanguageError as error:
        if error.code != "bound-twice" or error.span is None:
            raise
        name = normal_name(text[slice(*error.span)])
        with suppress(LanguageError):
            return read_relations(text, "=", [*unknowns, name])
        raise


def without_start(graph: Graph, text: str, missing: list[str]) -> InputError:
    """Return the error for inputs without a value."""
    from exprgrad.language.mistakes.hints import constant_hint

    error, name = missing_values(graph, text, missing), missing[0]
    ends = command_or_python("-10:10", "(-10, 10)")
    error.help = f"{name}=1 is a start, and {name}={ends} a range in which all roots are looked for"
    if len(graph.inputs) > 1:
        wrt = command_or_python("--wrt x", "wrt=['x']")
        error.help = (
            f"{name}=1 is a start, {name}={ends} a range; with {wrt} others keep their values"
        )
    error.help = "; or ".join(filter(None, (constant_hint(graph, text, missing), error.help)))
    return error


def equations_in(graph: Graph, text: str, unknowns: Sequence[str], *, is_chosen: bool) -> list[int]:
    """Return the equations' nodes; raise an error if their number or their unknowns do not fit."""
    found = [binding for binding in graph.bindings if binding.name.startswith(EQUATION)]
    nodes, source = [binding.node for binding in found], Source(text)
    for node, kind in enumerate(graph.kinds):
        if is_root(kind):
            raise RequestError(
                "root-inside",
                "nothing is proved of an equation with a root(…) inside",
                source=source,
                span=graph.span(node),
                help="name the inner root, such as y, and give it an equation of its own",
            )
    if len(found) != len(unknowns):
        raise unknown_count_error(text, unknowns, found, is_chosen=is_chosen)
    moves = [dependent_flags(graph, [graph.inputs[name]]) for name in unknowns]
    for _, node, span in found:
        if not any(each[node] for each in moves):
            raise RequestError(
                "unknowns",
                "this equation has no unknown in it",
                source=source,
                span=span,
                help="leave it out",
            )
    for name, each in zip(unknowns, moves, strict=True):
        if not any(each[node] for node in nodes):
            raise RequestError(
                "unknowns",
                f"'{name}' is in no equation",
                source=source,
                span=graph.span(graph.inputs[name]),
                help="leave out the statement that reads it",
            )
    return nodes


def unknown_count_error(
    text: str, unknowns: Sequence[str], found: Sequence[Binding], *, is_chosen: bool
) -> RequestError:
    """Return the error for more unknowns than equations, or fewer."""
    many, few = len(unknowns), len(found)
    shown = ", ".join(unknowns[:6]) + ", …" * (many > 6)
    message = f"{many} unknown{'s' * (many > 1)}, {shown}, and {few} equation{'s' * (few > 1)}"
    if many < few:
        help = "leave out equations, or minimize the sum of their squares to come nearest to all"
    elif is_chosen:
        help = "as many equations are needed as there are unknowns, separated by ';'"
    else:
        chosen = sorted(unknowns, key=lambda name: name not in USUAL)[:few]
        listed = ",".join(chosen)
        options = command_or_python(
            f"--wrt {listed} solves for {listed}", f"wrt={chosen} solves for {listed}"
        )
        help = f"{options}: then the other names keep their values"
    return RequestError(
        "unknowns",
        message,
        source=Source(text),
        span=(found[0].span[0], found[-1].span[1]),
        help=help,
    )


# Tensors.


def by_elements(
    graph: Graph, text: str, given: Mapping[str, Any], unknowns: Sequence[str]
) -> tuple[Graph, dict[str, Any], list[str]]:
    """Split tensor equations into scalar ones, with unknowns ``x[0]`` and ``x[1]`` for a vector x."""
    shaped = at_shapes(graph, text, shapes_of(given))
    for node, kind in enumerate(shaped.kinds):
        if kind in STRUCTURAL and STRUCTURAL[kind].gate == "blocker":
            raise RequestError(
                "no-tensors",
                f"an equation with {kind}(…) cannot be solved",
                source=Source(text),
                span=shaped.span(node),
            )
    over = to_scalar_run(SweptRun.of(text, evaluator_for(shaped), given))
    graph, inputs = over.run.graph, over.run.inputs
    moved = [
        str(graph.payloads[over.node(shaped.inputs[name], place)])
        for name in unknowns
        for place in element_places(given[name])
    ]
    return graph, inputs, moved


# In ranges.


def in_ranges(sight: Sight, ranges: Sequence[Sequence[tuple[float, Fraction | None]]]) -> Solution:
    """Find all roots in a box with the typed ends."""
    box = [hull(*(exact_enclosure(end_ball(*end)) for end in ends)) for ends in ranges]
    if all(f.is_zero for f in sight.residuals(box)):
        return Solution((), undecided=(interval_by_name(sight.system, box),), reason=ALL_OVER)
    found = branch_and_prune(sight, box)
    roots, undecided = roots_of(sight, found)
    excluded = found.is_done and not roots and not undecided
    reason = "" if found.is_done else "the ranges hold too many places to examine"
    return Solution(roots, excluded, undecided, found.is_done, reason)


def end_ball(double: float, exact: Fraction | None) -> Ball:
    """Return the end of a range in balls; a named constant's is a ball around its double."""
    if not math.isfinite(double):
        return exact_ball(double)
    if exact is None:
        return exact_ball(double) + type(exact_ball(0))(0, math.ulp(double))
    return exact_ball(import_flint().fmpq(exact.numerator, exact.denominator))


def roots_of(
    sight: Sight, found: Searched
) -> tuple[tuple[Root, ...], tuple[dict[str, Interval], ...]]:
    """Return the roots of a search, in order, and what is undecided; possible roots are examined again."""
    roots = [proved_root(sight, proof) for proof in found.proofs]
    undecided: list[dict[str, Interval]] = []
    for cluster in cluster_boxes(found.left):
        root = candidate_root(sight, cluster) if found.is_done else None
        if root is None:
            undecided.append(interval_by_name(sight.system, cluster))
        elif all(root.point != known.point for known in roots):
            roots.append(root)
    ordered = sorted(roots, key=lambda root: [*root.point.values()])
    return tuple(ordered), tuple(undecided)


def cluster_boxes(boxes: Sequence[Box]) -> Iterator[Box]:
    """Join boxes that touch each other; of very many, only neighbours."""
    rest = sorted(boxes, key=lambda box: [float(x.low) for x in box])
    while rest:
        whole, apart = rest.pop(0), []
        for at, box in enumerate(rest):
            if boxes_overlap(whole, box):
                whole = [hull(x, y) for x, y in zip(whole, box, strict=True)]
            elif len(boxes) > MANY:
                apart += rest[at:]
                break
            else:
                apart.append(box)
        rest = apart
        yield whole


def candidate_root(sight: Sight, cluster: Box) -> Root | None:
    """Return the root that a small undecided box seems to hold, if any."""
    if not all(x.ball.is_finite() for x in cluster):
        return None
    if is_at_zero(sight, cluster, NEAR_ZERO):
        return unproved_root(sight, [exact_ball(nearest_double(x)) for x in cluster], cluster)
    for start in ([interval_middle(x) for x in cluster], [x.low for x in cluster]):
        width = greatest_magnitude([(x.high - x.low).upper() for x in cluster])
        arrival = newton_search(sight, start) or NewtonStage(start, length=width)
        root = root_at_arrival(sight, arrival)
        inside = root is not None and all(
            low <= float(x.high) and high >= float(x.low)
            for x, (low, high) in zip(cluster, root.enclosure.values(), strict=True)
        )
        if root is not None and inside:
            return root if root.proved else unproved_root(sight, arrival.point, cluster)
    return None


# From a start.


def from_start(sight: Sight, start: Sequence[float]) -> Solution:
    """Find a root near a start: where Newton's method leads, or the nearest one in ever wider boxes."""
    point = [exact_ball(x) for x in start]
    arrival = newton_search(sight, point)
    if all(f.is_zero for f in sight.residuals([ball_about(x, exact_ball(1)) for x in point])):
        here = unproved_root(sight, point, [exact_enclosure(x) for x in point])
        return Solution(() if here is None else (here._replace(why=ALL_OVER),))
    root = None if arrival is None else root_at_arrival(sight, arrival)
    return around_start(sight, point) if root is None else Solution((root,))


def around_start(sight: Sight, start: Vector) -> Solution:
    """Find the root nearest to a start, proved ones first; if there is provably none, say so."""

    def distance(root: Root) -> tuple[bool, float]:
        numbers = zip(root.point.values(), start, strict=True)
        return not root.proved, max(abs(x - float(y)) for x, y in numbers)

    for width in WIDTHS if len(start) <= 3 else ():
        box = [ball_about(x, exact_ball(width) * (1 + abs(x))) for x in start]
        found = branch_and_prune(sight, box, LOOKS_AROUND)
        roots, undecided = roots_of(sight, found)
        if roots:
            return Solution((min(roots, key=distance),))
        if width == math.inf and found.is_done and not undecided:
            return Solution((), excluded=True, is_whole=True)
    return Solution((), reason="Newton's method leads to no root from there")


def root_at_arrival(sight: Sight, arrival: NewtonStage) -> Root | None:
    """Return the root that Newton's method led to, proved or not, if any."""
    least = 4 * arrival.length.upper() + greatest_magnitude(arrival.point) * 2.0 ** (
        -3 * PRECISION // 4
    )
    radii = [least + 4 * exact_ball(math.ulp(float(x))) for x in arrival.point]
    for reach in (radii, [least for _ in radii]):  # first so wide that doubles have room in it
        proof = proof_around(sight, arrival.point, reach)
        if proof is not None:
            return proved_root(sight, proof)
    is_close = arrival.length <= NEARLY * greatest_magnitude(arrival.point)
    if is_close and residuals_vanish(sight, arrival.point):
        return unproved_root(sight, arrival.point, [exact_enclosure(x) for x in arrival.point])
    return None


def residuals_vanish(sight: Sight, point: Vector) -> bool:
    """Whether every residual is negligible beside the terms it is a difference of."""
    graph = sight.system.graph
    values = sight.algebra.evaluate(graph, sight.inputs([exact_enclosure(x) for x in point]))
    for node in sight.system.outputs:
        if not values[node].is_finite:
            return False
        terms = [values[operand].ball for operand in graph.operands[node]]
        if not abs(values[node].ball).upper() <= TOUCHES * greatest_magnitude([*terms, *point]):
            return False
    return True


# For people to read.


def interval_by_name(system: System, box: Box) -> dict[str, Interval]:
    """Return a box in doubles, rounded outwards."""
    return {
        name: Interval(round_outward(x.low, -math.inf), round_outward(x.high, math.inf))
        for name, x in zip(system.unknowns, box, strict=True)
    }


def round_outward(bound: Ball, towards: float) -> float:
    """Return a bound as a double, rounded towards an infinity."""
    found = float(bound.mid())
    beyond = exact_ball(found) < bound if towards > 0 else exact_ball(found) > bound
    return math.nextafter(found, towards) if beyond else found


def proved_root(sight: Sight, proof: Proof) -> Root:
    """Return a proved root, with a proof that it is the only one between the doubles around it."""
    system, inner, whole = sight.system, proof.inner, proof.whole
    ends = interval_by_name(system, inner)
    outer = [interval_between(exact_ball(low), exact_ball(high)) for low, high in ends.values()]
    if not is_within(outer, whole):
        radii = [x.ball.rad() + 2 * exact_ball(math.ulp(float(x.high))) for x in outer]
        wider = proof_around(sight, [interval_middle(x) for x in outer], radii)
        whole = whole if wider is None else wider.whole
    is_alone = is_within(outer, whole)
    why = "" if is_alone else "another root may lie between the same two doubles"
    doubles = dict(zip(system.unknowns, map(nearest_double, inner), strict=True))
    return Root(doubles, ends, is_alone, why)


def nearest_double(x: Enclosure) -> float:
    """Return the double nearest to a narrow interval; 0 where that may be it."""
    return 0.0 if x.low <= 0 and x.high >= 0 else float(interval_middle(x))


def unproved_root(sight: Sight, point: Vector, box: Box) -> Root | None:
    """Return an unproved root, and why it is not proved; None where the formula has no value there."""
    system = sight.system
    doubles = [nearest_double(exact_enclosure(x)) for x in point]
    typed = [exact_enclosure(sight.algebra.decimals.read(None, x)) for x in doubles]
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
    hulls = [hull(exact_enclosure(exact_ball(x)), y) for x, y in zip(doubles, box, strict=True)]
    by_name = dict(zip(system.unknowns, doubles, strict=True))
    return Root(by_name, interval_by_name(system, hulls), proved=False, why=why)
