"""Kinks and jumps within reach of uncertainties, and what each does to the mean and the variance.

Along the direction in which a difference of operands is most probably 0, counted in its standard deviation,
the value is its linear part L, and beyond the kink or jump at k also a·(z − k) + J: its slope changes by a,
and it jumps by J.  With z standard normal, φ and P the density at k and the probability beyond it,
ψ = φ − kP, and c the covariance of L and z,

    the mean moves by        aψ + JP
    the variance grows by    2c(aP + Jφ) + a²((1 + k²)P − kφ) + 2aJψ + J²P − (aψ + JP)²

The direction is that of the most probable point of failure: A. M. Hasofer and N. C. Lind, Exact and
invariant second-moment code format, J. Eng. Mech. Div. 100 (1974), 111-121; the moments are those of a
truncated normal.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from math import copysign, erfc, exp, inf, isfinite, pi, sqrt
from typing import NamedTuple

from exprgrad.explain.diagnostics import Run
from exprgrad.explain.places import live
from exprgrad.graph.graph import dependents
from exprgrad.graph.op import Op
from exprgrad.graph.ops import BY_NAME
from exprgrad.run import matrices
from exprgrad.run.evaluation import Evaluator, evaluator_for
from exprgrad.run.matrices import Point
from exprgrad.run.numbers.kink_screen import equal_numbers, movable
from exprgrad.run.numbers.primitives import functions
from exprgrad.run.values.uncertain import UncertainNumbers

__all__ = ["Crossing", "crossings"]

REACH = 5.0
"""So many standard deviations away a kink or a jump is met once in three million draws."""
LOOKS = 20
"""At so many places on the way a step of stairs is looked for."""
NARROWINGS = 40
BESIDE = 1e-6
"""So many standard deviations before and behind a kink it is asked what it does."""
LINEAR = 1e-7
"""What a step of an operation is off by, relatively, where it is linear."""


class Crossing(NamedTuple):
    """A kink or a jump within reach.

    ``node``      the node that has it
    ``code``      ``kink`` or ``jump``
    ``distance``  how far away it is, in standard deviations of what has to cross it
    ``shift``     by how many units it moves the mean
    ``variance``  by how many units, squared, it changes the variance
    """

    node: int
    code: str
    distance: float
    shift: float
    variance: float


class Direction(NamedTuple):
    """A line through the inputs, on which a step of 1 is a standard deviation of what moves along it."""

    evaluator: Evaluator
    inputs: Mapping[str, float]
    step: Mapping[str, float]

    def at(self, z: float) -> dict[str, float]:
        """The inputs at a place on the line."""
        return {**self.inputs, **{name: self.inputs[name] + z * d for name, d in self.step.items()}}

    def data(self, z: float) -> list[float]:
        """Every node's data there."""
        return self.evaluator.forward(self.at(z))

    def slope(self, z: float) -> tuple[float, float]:
        """The value there, and its derivative along the line."""
        names = tuple(self.step)
        values, adjoints = self.evaluator.gradient(self.at(z), names)
        nodes, slope = self.evaluator.graph.inputs, 0.0
        for name in names:
            grad = adjoints.grads[nodes[name]]
            slope += self.step[name] * grad if grad else 0.0
        return values[self.evaluator.graph.output], slope


Moves = Mapping[str, float]
"""By uncertain number, how far it moves a node: deviation times derivative."""


def crossings(run: Run, numbers: UncertainNumbers, unit: float = 1.0) -> Iterator[Crossing]:
    """The kinks and jumps within reach, and what each does by itself, in some unit of the value."""
    graph, used = run.graph, live(run)
    names = tuple([name for name in graph.inputs if name in numbers.deviations])
    moved = dependents(graph, [graph.inputs[name] for name in names])
    suspects = [
        node
        for node, kind in enumerate(graph.kinds)
        if used[node] and moved[node] and kind in BY_NAME and BY_NAME[kind].special
    ]
    if not suspects:
        return
    evaluator, moving = evaluator_for(graph), movable(graph)
    beside = {*suspects, *(operand for node in suspects for operand in graph.operands[node])}
    outputs = {str(node): node for node in sorted(beside)}
    slopes = matrices.jacobian(Point(evaluator, run.inputs, outputs, names))
    moves = {
        node: {name: slope * numbers.deviations[name] for name, slope in slopes.row(at).items()}
        for at, node in enumerate(outputs.values())
    }
    for node in suspects:
        op = BY_NAME[graph.kinds[node]]
        for line, k in meetings(run, evaluator, node, op, moves, numbers, moving):
            yield Crossing(node, op.special[0].code, abs(k), *effect(line, k, unit))


def meetings(
    run: Run,
    evaluator: Evaluator,
    node: int,
    op: Op,
    moves: Mapping[int, Moves],
    numbers: UncertainNumbers,
    moving: Sequence[int],
) -> Iterator[tuple[Direction, float]]:
    """The places at which a node may meet a kink or a jump, each with its line."""
    pairs = thresholds(run, node, op, moving)
    if pairs is None:
        operands = run.graph.operands[node]
        line = direction_of(
            run, evaluator, moves[node if len(operands) > 1 else operands[0]], numbers
        )
        if line is not None:
            leaves = departure(run, node, line)
            yield from ((line, k) for side in (1.0, -1.0) if (k := first(leaves, side)) is not None)
        return
    for one, other in pairs:
        second = moves[other] if isinstance(other, int) else {}
        difference = {name: move - second.get(name, 0.0) for name, move in moves[one].items()}
        line = direction_of(run, evaluator, difference, numbers)
        if line is not None:
            crosses, gap = crossing(run, one, other, line)
            k = 0.0 if not gap else first(crosses, -copysign(1.0, gap))
            yield from () if k is None else [(line, k)]


def thresholds(
    run: Run, node: int, op: Op, moving: Sequence[int]
) -> list[tuple[int, float | int]] | None:
    """Of which nodes, or node and number, two have to be equal for the node to meet its kink or jump.

    None where that does not tell, as of stairs, whose next step may be on either side.
    """
    graph = run.graph
    if op.variadic:
        operands, out = graph.operands[node], run.values[node]
        winner = next((n for n in operands if run.values[n] == out), operands[0])
        return [(winner, other) for other in operands if other != winner]
    pairs = equal_numbers(graph, node, op, moving)
    if pairs is None or (op.special[0].code == "jump" and any(node in pair for pair in pairs)):
        return None
    return [*pairs]


def direction_of(
    run: Run, evaluator: Evaluator, moves: Moves, numbers: UncertainNumbers
) -> Direction | None:
    """The line on which something most probably rises, given how numbers move it; None if none does."""
    total = {
        name: sum(numbers.correlation(name, other) * move for other, move in moves.items() if move)
        for name in moves
    }
    variance = sum(moves[name] * t for name, t in total.items())
    if not 0 < variance < inf:
        return None
    scale = sqrt(variance)
    return Direction(
        evaluator,
        run.inputs,
        {name: numbers.deviations[name] * t / scale for name, t in total.items() if t},
    )


def crossing(
    run: Run, one: int, other: float | int, line: Direction
) -> tuple[Callable[[float], bool], float]:
    """Whether the difference of two nodes has another sign somewhere on a line; and the difference."""

    def difference(data: Sequence[float]) -> float:
        return data[one] - (data[other] if isinstance(other, int) else other)

    gap = difference(run.values)
    return lambda z: not difference(line.data(z)) * gap > 0, gap


def departure(run: Run, node: int, line: Direction) -> Callable[[float], bool]:
    """Whether a node is elsewhere than its operands' steps take it, if it is linear between jumps."""
    operands, out = run.graph.operands[node], run.values[node]
    function = functions[run.graph.kinds[node]]
    here = [run.values[n] for n in operands]
    slopes = []
    for at, x in enumerate(here):
        h = BESIDE * (abs(x) or 1.0)
        ahead, behind = ([*here[:at], x + side, *here[at + 1 :]] for side in (h, -h))
        up, down = function(*ahead) - out, out - function(*behind)
        slopes.append((up if abs(up) < abs(down) else down) / h)

    def leaves(z: float) -> bool:
        data = line.data(z)
        steps = [s * (data[n] - x) for n, x, s in zip(operands, here, slopes, strict=True)]
        expected = out + sum(steps)
        return not abs(data[node] - expected) <= LINEAR * (abs(out) + sum(map(abs, steps)) + LINEAR)

    return leaves


def first(crosses: Callable[[float], bool], side: float) -> float | None:
    """The first place on one side of a line at which a condition holds; None if none is in reach."""
    for look in range(1, LOOKS + 1):
        low, high = side * REACH * (look - 1) / LOOKS, side * REACH * look / LOOKS
        if crosses(high):
            for _ in range(NARROWINGS):
                middle = (low + high) / 2
                low, high = (low, middle) if crosses(middle) else (middle, high)
            return high
    return None


def effect(line: Direction, k: float, unit: float) -> tuple[float, float]:
    """By how much a kink or a jump on a line moves the mean, and what it adds to the variance."""
    side = copysign(1.0, k)
    near, far = k - side * BESIDE, k + side * BESIDE
    (before, inner), (behind, outer) = line.slope(near), line.slope(far)
    if not isfinite(behind) or not isfinite(outer):
        return inf, inf
    jump = (behind - before - side * BESIDE * (inner + outer)) / unit
    bend = side * (outer - inner) / unit
    c = side * line.slope(0.0 if k else near)[1] / unit
    z = abs(k)
    density, beyond = exp(-z * z / 2) / sqrt(2 * pi), erfc(z / sqrt(2)) / 2
    over = density - z * beyond
    shift = bend * over + jump * beyond
    square = bend**2 * ((1 + z * z) * beyond - z * density) + 2 * bend * jump * over
    variance = 2 * c * (bend * beyond + jump * density) + square + jump**2 * beyond - shift**2
    return shift, variance
