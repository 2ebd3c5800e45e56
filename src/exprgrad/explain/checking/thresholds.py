"""Thresholds of a formula's comparisons, kinks, jumps and ties, and points beside them.

At a comparison's threshold both sides are equal.  Their difference, the gap, is searched for changes of
sign along one input at a time, in doubles, over all magnitudes.  A side on which no point lies is looked
for from points that were tried, along all inputs together; intervals may prove that there is none.
"""

from __future__ import annotations

import math
from bisect import insort
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice, pairwise, product
from random import Random
from typing import NamedTuple

from exprgrad.derive.build import GraphBuilder
from exprgrad.derive.simplify.formula import simplify_program
from exprgrad.derive.switches import switch_functions
from exprgrad.graph.graph import Graph, Program, collect_by_key, dependency_flags, transform_graph
from exprgrad.graph.ops import BY_NAME, BY_SIGNS
from exprgrad.language.write.infix import node_texts
from exprgrad.run.balls.intervals import reach_of
from exprgrad.run.numbers.sweeps import forward_numbers, play_tape, record_tape

__all__ = [
    "GapSide", "Gaps", "Threshold", "build_together", "count_points_by_side", "find_gaps",
    "find_thresholds", "on_both_sides", "points_beside", "points_beside_thresholds", "thresholds_beyond",
    "unmet_sides",
]  # fmt: skip

Coordinates = Mapping[str, float]

MOST_GAPS = 64
"""The most gaps searched for thresholds."""
MOST_INPUTS = 8
"""The most inputs along which thresholds are sought."""
MOST_CROSSINGS = 4
"""The most thresholds of a gap along an input, the nearest ones: a sine has infinitely many."""
MOST_SEARCHING = 1_000_000
"""The most nodes evaluated in the search: about half a second."""
HALVINGS = 120
"""The most halvings of an interval: enough for one from 1e100 to 1e120."""
NARROWINGS = 40
"""The most narrowings of an interval in which a gap has a minimum: it may close there."""
STARTS = 4
"""The points, nearest to a gap, from which its other side is sought."""
ROUNDS = 3
"""The rounds in which each input moves to the least gap."""
DESCENT = 60
"""The steps that then follow its gradient."""
STEP = 1.5
"""Their length relative to what would close a gap of constant slope: they must get past it."""
GOLDEN = (math.sqrt(5) - 1) / 2
DIGITS = 12
"""Bisection ends in a double or its neighbour; so near to a shorter number, that number is meant."""
FEW_MIXED = 64
"""The most points beside a threshold in every input that are all taken; of more, a random choice."""
CLOSE_BY = 1e-3
"""The distance of the nearest points to a threshold, relative to it."""
GRID = sorted(
    {half / 2 for half in range(-40, 41)}
    | {
        float(f"{first}e{power}")
        for first in (-3, -1, 1, 3)
        for power in (*range(-8, 17), *range(20, 301, 20))
    }
)
"""The first places where gaps are evaluated: closely around 0, and at all magnitudes."""


class NamedGap(NamedTuple):
    """A comparison's gap: a node that is 0 at the threshold, and the comparison's text.

    ``is_free``  whether both sides are to be met, as for rows defined everywhere
    """

    node: int
    text: str
    is_free: bool


class Gaps(NamedTuple):
    """The gaps of a formula and of a claim about it, as nodes of one graph."""

    graph: Graph
    found: list[NamedGap]


class GapSide(NamedTuple):
    """One side of a gap, by its place among the gaps: where it is above 0 (``sign`` 1), or below (-1)."""

    gap: int
    sign: float


class Threshold(NamedTuple):
    """The place of a switch along an ``input`` from a ``point``, and the switch's text."""

    input: str
    at: float
    text: str
    point: Coordinates


# Gaps.


def build_together(builder: GraphBuilder, graph: Graph, others: Sequence[Graph]) -> list[list[int]]:
    """Build formulas into one graph; the others may use the first one's inputs and named statements."""
    image = builder.include(graph)
    known = {binding.name: image[binding.node] for binding in graph.bindings}
    known |= {name: image[node] for name, node in graph.inputs.items()}
    return [image, *(builder.include(other, known) for other in others)]


def find_gaps(graph: Graph, claim: Graph) -> Gaps:
    """Find the gaps of a formula's and a claim's switches, in order."""
    builder = GraphBuilder(graph.empty())
    images = build_together(builder, graph, [claim])
    found: dict[int, tuple[str, bool]] = {}
    for formula, image in zip((graph, claim), images, strict=True):
        written = node_texts(formula, formula.names())
        for node, kind in enumerate(formula.kinds):
            operands = [image[operand] for operand in formula.operands[node]]
            row = BY_NAME.get(kind)
            if row is not None:
                said = written[node], not row.domain
                for gap, step in switch_functions(builder, row, operands, image[node]):
                    gaps = [gap]
                    if step is not None:  # the first of stairs, up and down
                        halves = map(builder.constant, (-0.5, 0.5))
                        gaps = [builder.apply(BY_SIGNS[1, -1], step, half) for half in halves]
                    found |= {at: said for at in gaps if at not in found}
    program = builder.program([images[0][graph.output], *found])
    pairs = zip(program.outputs[1:], found.values(), strict=True)
    return Gaps(program.graph, [NamedGap(node, *said) for node, said in pairs])


# Thresholds.


def find_thresholds(
    gaps: Gaps, bases: Sequence[Coordinates], free: Sequence[str]
) -> list[Threshold]:
    """Find where gaps close along each free input, from the first of some points from which they do.

    With several inputs also search from beyond all these thresholds: ``relu(x - 9)*relu(y - 9)``
    is 0 on both sides of x = 9 where y is small.
    """
    free = free[:MOST_INPUTS]
    searched = range(min(len(gaps.found), MOST_GAPS))
    left = MOST_SEARCHING // max(len(gaps.graph), 1)
    found: list[Threshold] = []
    closed: set[tuple[int, str]] = set()
    for base in bases if gaps.found else ():
        for name in free:
            line = GapLine(gaps, base, name, left)
            wanted = [at for at in searched if (at, name) not in closed]
            for at, threshold in thresholds_on_line(line, wanted):
                closed.add((at, name))
                found.append(threshold)
            left = line.left
    for base in outer_points(found, bases[0]) if found and len(free) > 1 else ():
        for name in free:
            line = GapLine(gaps, base, name, left)
            found += [threshold for _, threshold in thresholds_on_line(line, searched)]
            left = line.left
    return list({(one.input, one.at, id(one.point)): one for one in reversed(found)}.values())[::-1]


def outer_points(found: Sequence[Threshold], base: Coordinates) -> list[Coordinates]:
    """Return the points beyond the last threshold of every input, and before the first."""
    by_input = collect_by_key((threshold.input, threshold.at) for threshold in found)
    above = {name: max(ats) + 1 + abs(max(ats)) for name, ats in by_input.items()}
    below = {name: min(ats) - 1 - abs(min(ats)) for name, ats in by_input.items()}
    return [{**base, **above}, {**base, **below}]


def thresholds_on_line(line: GapLine, wanted: Iterable[int]) -> Iterator[tuple[int, Threshold]]:
    """Yield the thresholds of some gaps along an input, while the work lasts."""
    for at in wanted:
        for x in gap_crossings(line, at) if line.left > len(line.places) else ():
            yield at, Threshold(line.name, x, line.gaps.found[at].text, line.base)


class GapLine:
    """The gaps along one input from a point.

    ``places``  where gaps are evaluated, ascending: the grid, and thresholds found
    ``left``    the number of places that may still be evaluated
    """

    def __init__(self, gaps: Gaps, base: Coordinates, name: str, left: int) -> None:
        self.gaps = gaps
        self.base = base
        self.name = name
        self.left = left
        self.places = sorted({*GRID, base[name]})
        self.values: dict[float, list[float]] = {}

    def gap(self, at: int, x: float) -> float:
        """Evaluate a gap at a place."""
        if x not in self.values:
            self.left -= 1
            data = forward_numbers(self.gaps.graph, {**self.base, self.name: x})
            self.values[x] = [data[gap.node] for gap in self.gaps.found]
        return self.values[x][at]


def sign_or_nan(value: float) -> float:
    """Return -1, 0 or 1; nan where there is no value."""
    return value if math.isnan(value) else float((value > 0) - (value < 0))


def gap_crossings(line: GapLine, at: int) -> list[float]:
    """Find the nearest places where a gap changes sign; the next gaps are evaluated there too."""
    base, found = line.base[line.name], list[float]()
    for low, high in sorted(
        gap_brackets(line, at), key=lambda ends: min(abs(x - base) for x in ends)
    ):
        if len(found) == MOST_CROSSINGS or line.left <= HALVINGS:
            break
        x = bisect_sign(line, at, low, high)
        if x is not None and x not in found:
            found.append(x)
    for x in found:
        if x not in line.places:
            insort(line.places, x)
    return found


def gap_brackets(line: GapLine, at: int) -> Iterator[tuple[float, float]]:
    """Yield neighbouring places between which a gap changes sign, or has a minimum where it closes."""
    signs = [sign_or_nan(line.gap(at, x)) for x in line.places]
    for (low, high), (one, other) in zip(pairwise(line.places), pairwise(signs), strict=True):
        if abs(one - other) > 0:  # with nan it is not
            yield low, high
    for place in range(1, len(signs) - 1):
        low, x, high = line.places[place - 1 : place + 2]
        sizes = [abs(line.gap(at, each)) for each in (low, x, high)]
        same = signs[place - 1] == signs[place] == signs[place + 1] != 0
        if same and sizes[1] <= min(sizes[0], sizes[2]) < max(sizes):
            inside = narrow_bracket(line, at, low, high)
            if abs(sign_or_nan(line.gap(at, inside)) - signs[place]) > 0:
                yield from ((low, inside), (inside, high))


def narrow_bracket(line: GapLine, at: int, low: float, high: float) -> float:
    """Find a place between two where a gap has another sign, or else where it is least.

    This is golden-section search: J. Kiefer, Sequential minimax search for a maximum (1953).
    """
    before = sign_or_nan(line.gap(at, low))
    for _ in range(NARROWINGS):
        step = GOLDEN * (high - low)
        one, other = high - step, low + step
        for x in (one, other):
            if abs(sign_or_nan(line.gap(at, x)) - before) > 0:
                return x
        if line.left <= 0 or not low < one < other < high:
            break
        if abs(line.gap(at, one)) < abs(line.gap(at, other)):
            high = other
        else:
            low = one
    return low + (high - low) / 2


def bisect_sign(line: GapLine, at: int, low: float, high: float) -> float | None:
    """Find by bisection where a gap changes sign; None if it only overflows there."""
    width, before = high - low, sign_or_nan(line.gap(at, low))
    for _ in range(HALVINGS):
        middle = low + (high - low) / 2
        if not low < middle < high:
            break
        if sign_or_nan(line.gap(at, middle)) == before:
            low = middle
        else:
            high = middle
    if max(abs(low), abs(high)) <= width * 2.0**-100:
        return 0.0
    if math.isinf(line.gap(at, low)) or math.isinf(line.gap(at, high)):
        return None
    short = float(f"{high:.{DIGITS}g}")
    return short if abs(short - high) <= abs(high) * 10.0**-DIGITS else high


# Points beside them.


def points_beside(found: Sequence[Threshold], few: int, most: int) -> list[dict[str, float]]:
    """Return points on both sides of each threshold: near it, then between two, and beyond.

    At most ``most``; of more than a ``few``, those before the first and beyond the last come first.
    """
    near = [
        *islice(
            chain(points_on_lines(found, places_near), points_on_lines(found, places_between)),
            most + 1,
        )
    ]
    ends = points_on_lines(
        found, lambda ats: [*place_beyond(ats[0], -1.0), *place_beyond(ats[-1], 1.0)]
    )
    return [*(ends if len(near) > few else ()), *near[:most]]


def points_on_lines(
    found: Sequence[Threshold], places: Callable[[Sequence[float]], Iterable[float]]
) -> Iterator[dict[str, float]]:
    """Yield points on the lines along which thresholds were found, at places made from them."""
    lines = collect_by_key(((one.input, id(one.point)), one) for one in found)
    for alike in lines.values():
        for x in places(sorted(one.at for one in alike)):
            yield {**alike[0].point, alike[0].input: x}


def points_beside_thresholds(found: Sequence[Threshold]) -> Iterator[dict[str, float]]:
    """Yield points beside a threshold in every input that has one, where several have; the same each time.

    They reach pieces that no line of the search went through.
    """
    by_input = collect_by_key((threshold.input, threshold.at) for threshold in found)
    places = {
        name: [*places_near(sorted({*ats})), *places_between(sorted({*ats}))]
        for name, ats in by_input.items()
    }
    if len(places) > 1 and math.prod(map(len, places.values())) <= FEW_MIXED:
        for values in product(*places.values()):
            yield {**found[0].point, **dict(zip(places, values, strict=True))}
        return
    names = sorted(found[0].point)
    random = Random(0)
    while len(places) > 1:
        base = random.choice(found).point
        yield {name: random.choice(places.get(name) or [-base[name], base[name]]) for name in names}


def places_near(ascending: Sequence[float]) -> Iterator[float]:
    """Yield places just below and above each of some numbers, nearer to it than to any other."""
    for place, at in enumerate(ascending):
        others = [*ascending[max(place - 1, 0) : place], *ascending[place + 1 : place + 2]]
        by = min([(abs(at) or 1.0) * CLOSE_BY, *(abs(other - at) / 4 for other in others)])
        for side in (-by, by):
            yield from shortest_number_between(at + side / 2, at + side)


def places_between(ascending: Sequence[float]) -> Iterator[float]:
    """Yield places halfway between each two of some numbers, and well beyond the first and the last."""
    yield from place_beyond(ascending[0], -1.0)
    for low, high in pairwise(ascending):
        yield from shortest_number_between(low + (high - low) / 4, low + (high - low) / 2)
    yield from place_beyond(ascending[-1], 1.0)


def place_beyond(end: float, sign: float) -> list[float]:
    """Return a place well beyond a number, on one side of it, if there is one."""
    return shortest_number_between(end, end + sign * (1 + abs(end)))


def shortest_number_between(one: float, other: float) -> list[float]:
    """Return the shortest decimal between two numbers that is close to ``other``, if there is one."""
    low, high = min(one, other), max(one, other)
    decimals = (float(f"{other:.{digits}g}") for digits in range(1, 18))
    fitting = (x for x in decimals if low <= x <= high and x != one and math.isfinite(x))
    return [*islice(fitting, 1)]


def on_both_sides(threshold: Threshold, points: Iterable[Coordinates]) -> bool:
    """Whether some points lie near to a threshold on both its sides."""
    name, at = threshold.input, threshold.at
    near = (abs(at) or 1.0) * CLOSE_BY * 2
    alike = [point for point in points if {**point, name: 0.0} == {**threshold.point, name: 0.0}]
    return len({point[name] > at for point in alike if abs(point[name] - at) <= near}) == 2


# Sides on which no point lies.


def count_points_by_side(gaps: Gaps, points: Iterable[Coordinates]) -> Counter[GapSide]:
    """Count the points on each side of each gap."""
    met: Counter[GapSide] = Counter()
    for point in points:
        data = forward_numbers(gaps.graph, point)
        met.update(GapSide(at, sign_or_nan(data[gap.node])) for at, gap in enumerate(gaps.found))
    return met


def unmet_sides(gaps: Gaps, met: Container[GapSide], given: Mapping[str, float]) -> list[GapSide]:
    """Return the sides that should be met and are not, without those known to be empty."""
    free = [at for at, gap in enumerate(gaps.found) if gap.is_free]
    sides = [GapSide(at, one) for at in free for one in (-1.0, 1.0) if (at, one) not in met]
    for plainer in (False, True):  # y - (y + 1) tells nothing of its range, and -1 does
        nodes = tuple([gaps.found[side.gap].node for side in sides])
        if sides:
            program = Program(gaps.graph, nodes)
            graph, outputs = simplify_program(program) if plainer else program
            reach = reach_of(graph, given)
            pairs = zip(sides, outputs, strict=True)
            sides = [side for side, node in pairs if reach[node].has_sign(side.sign)]
    return sides


def thresholds_beyond(
    gaps: Gaps, sides: Sequence[GapSide], points: Sequence[Coordinates], free: Sequence[str]
) -> list[Threshold]:
    """Find the thresholds around a point on each of some sides, searching from ``points``."""
    found: list[Threshold] = []
    met: Counter[GapSide] = Counter()
    data = forward_numbers(gaps.graph, points[0])
    farthest = sorted(sides, key=lambda side: -abs(data[gaps.found[side.gap].node]))
    for at, wanted in farthest[:MOST_GAPS]:  # on the way there others have been passed
        if GapSide(at, wanted) in met:
            continue
        gap = gaps.found[at]
        graph, place = transform_graph(gaps.graph, wanted=dependency_flags(gaps.graph, gap.node))
        graph.output = place[gap.node]
        alone = Gaps(graph, [gap._replace(node=graph.output)])
        names = [name for name in free if name in graph.inputs][:MOST_INPUTS]
        left = MOST_SEARCHING // len(sides) // len(graph)
        sizes = [abs(forward_numbers(graph, point)[graph.output]) for point in points]
        order = [math.inf if math.isnan(size) else size for size in sizes]
        nearest = sorted(range(len(points)), key=order.__getitem__)
        for start in (points[at] for at in nearest[:STARTS]):
            point, left = cross_gap(alone, wanted, start, names, left)
            if point is not None:
                met += count_points_by_side(gaps, [point])
                lines = [GapLine(alone, point, name, left // len(names)) for name in names]
                found += [
                    threshold for line in lines for _, threshold in thresholds_on_line(line, [0])
                ]
                break
    return found


def cross_gap(
    gaps: Gaps, wanted: float, start: Coordinates, names: Sequence[str], left: int
) -> tuple[Coordinates | None, int]:
    """Find a point at which the first gap has the ``wanted`` sign; also return the work left.

    Each input moves to the least gap, the others fixed; then all follow its gradient, for along
    an axis there is no way down into a narrow valley that lies across.
    """
    graph, point = gaps.graph, start
    tape = record_tape(graph, [graph.inputs[name] for name in names])
    for _ in range(ROUNDS):
        for name in names:
            line = GapLine(gaps, point, name, left)
            point = {**point, name: least_gap(line)}
            left = line.left
        for _ in range(DESCENT):
            data = forward_numbers(graph, point)
            gap = data[graph.output]
            if sign_or_nan(gap) == wanted:
                return shortest_point(gaps, wanted, point, start), left
            grads = play_tape(tape, data).grads
            slopes = {name: grads[graph.inputs[name]] or 0.0 for name in names}
            steepness = math.hypot(*slopes.values())
            if left <= 0 or not 0 < steepness < math.inf:
                break
            step = STEP * (gap or -wanted * CLOSE_BY) / steepness
            moved = {name: point[name] - step * (by / steepness) for name, by in slopes.items()}
            point = {**point, **moved}
            left -= 3  # a gradient costs as much as two or three values
    return None, left


def least_gap(line: GapLine) -> float:
    """Find the place on a line where the first gap is least, or has another sign than around it."""
    known = [abs(line.gap(0, x)) for x in line.places]
    sizes = [math.inf if math.isnan(size) else size for size in known]
    base = line.places.index(line.base[line.name])
    at = min(range(len(sizes)), key=lambda at: (sizes[at], at != base))
    low, high = line.places[max(at - 1, 0)], line.places[min(at + 1, len(sizes) - 1)]
    x = narrow_bracket(line, 0, low, high)
    closer = abs(line.gap(0, x)) < sizes[at] or sign_or_nan(line.gap(0, x)) != sign_or_nan(
        line.gap(0, low)
    )
    return x if closer else line.places[at]


def shortest_point(
    gaps: Gaps, wanted: float, point: Coordinates, start: Coordinates
) -> Coordinates:
    """Round a point's moved inputs to as few digits as keep it on the wanted side."""
    moved = {name: x for name, x in point.items() if x != start[name]}
    for digits in range(1, 17):
        short = {**point, **{name: float(f"{x:.{digits}g}") for name, x in moved.items()}}
        if sign_or_nan(forward_numbers(gaps.graph, short)[gaps.graph.output]) == wanted:
            return short
    return point
