"""Mistakes by hand: the one wrong step of the chain rule that leads to a claim.

The paths through an edge contribute t*l*g to an input's grad: t is the operand's derivative with respect to
the input, l the edge's local derivative, g the user's grad.  To leave these paths out, to count them twice,
or to take something else for l, changes that product alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from exprgrad.explain.limits import LONGEST_LABEL
from exprgrad.graph.graph import Graph
from exprgrad.graph.ops import BY_NAME
from exprgrad.language.write.infix import node_texts
from exprgrad.run.balls.balls import (
    Ball,
    decimal_ball,
    evaluate_in_balls,
    exact_ball,
    undefined_ball,
)
from exprgrad.run.balls.sweep import sweep_balls

__all__ = ["find_mistake"]

MOST_EDGES = 200
"""The most edges that are tried: a longer formula is not derived by hand."""
TIGHT_BITS = 64
"""The fewest bits of a number that may confirm a mistake; a vague one agrees with everything."""

Edge = tuple[int, int, int]
"""The user, the position of the operand, and the operand."""


class PointSweep(NamedTuple):
    """The sweeps at a point: nodes' data, tangents along an input and grads; edges' local derivatives."""

    data: list[Ball]
    tangents: list[Ball]
    grads: list[Ball]
    locals: dict[Edge, Ball]

    def local(self, edge: Edge) -> Ball:
        """Return an edge's local derivative; undefined where it passes nothing."""
        return self.locals.get(edge, undefined_ball())


def find_mistake(
    graph: Graph, name: str, points: Sequence[Mapping[str, float]], said: Sequence[Ball], bits: int
) -> str | None:
    """Find the mistake that gives the grad ``said`` for an input at every point."""
    source = graph.inputs[name]
    sweeps = [sweep_at(graph, source, point, bits) for point in points]
    for words, made in possible_mistakes(graph, source, sweeps):
        if all(
            one.rel_accuracy_bits() >= TIGHT_BITS and other.is_finite() and one.overlaps(other)
            for one, other in zip(made, said, strict=True)
        ):
            return words
    return None


def sweep_at(graph: Graph, source: int, point: Mapping[str, float], bits: int) -> PointSweep:
    """Run both sweeps at a point, and tangents from an input."""
    inputs = {name: decimal_ball(point[name]) for name in graph.inputs}
    data = evaluate_in_balls(graph, inputs, typed=True)
    grads, slopes, _ = sweep_balls(graph, data, [source], bits)
    locals_ = {
        (user, position, operand): slope
        for user, mine in enumerate(slopes)
        for position, (operand, slope) in enumerate(
            zip(graph.operands[user], mine or (), strict=False)
        )
        if slope is not None
    }
    tangents = [exact_ball(int(node == source)) for node in range(len(graph))]
    for (user, _, operand), slope in locals_.items():
        tangents[user] += slope * tangents[operand]
    known = [undefined_ball() if grad is None else grad for grad in grads]
    return PointSweep(data, tangents, known, locals_)


def possible_mistakes(
    graph: Graph, source: int, sweeps: Sequence[PointSweep]
) -> Iterator[tuple[str, Iterable[Ball]]]:
    """Yield mistakes in words, each with the grad that it gives at each point; paths come first."""
    edges = [*sweeps[0].locals][:MOST_EDGES]
    names = graph.names()
    texts = node_texts(graph, names, LONGEST_LABEL)
    called = [names.get(node, text) for node, text in enumerate(texts)]
    yield "its sign is wrong", (-at.grads[source] for at in sweeps)
    for edge in edges:
        user, _, _ = edge
        if next(replace_local(source, edge, sweeps, [exact_ball(0)])).contains(0):
            continue  # all paths lead through it
        path = f"the path {'straight to' if user == graph.output else 'through'} {called[user]}"
        for times, what in ((0, "is missing"), (2, "is counted twice"), (-1, "has the wrong sign")):
            others = [at.local(edge) * times for at in sweeps]
            yield f"{path} {what}", replace_local(source, edge, sweeps, others)
    for edge in edges:
        user, position, operand = edge
        slope = f"the local derivative of {called[user]} with respect to {called[operand]}"
        if BY_NAME[graph.kinds[user]].powers == (1, 1):
            words = (
                f"{slope} is {called[graph.operands[user][1 - position]]}, not {called[operand]}"
            )
            others = [at.data[operand] for at in sweeps]
            yield words, replace_local(source, edge, sweeps, others)
        others = [exact_ball(1)] * len(sweeps)
        yield f"{slope} is missing", replace_local(source, edge, sweeps, others)
    for user in dict.fromkeys(user for user, *_ in edges if user != graph.output):
        words = f"it is the derivative of {called[user]}, not yet times the grad of {called[user]}"
        yield words, (at.tangents[user] for at in sweeps)
    for node in (source, graph.output):
        yield f"it is the value of {called[node]}", (at.data[node] for at in sweeps)


def replace_local(
    source: int, edge: Edge, sweeps: Iterable[PointSweep], others: Iterable[Ball]
) -> Iterator[Ball]:
    """Yield the input's grad at each point if an edge had another local derivative."""
    user, _, operand = edge
    for at, other in zip(sweeps, others, strict=False):
        yield at.grads[source] + (other - at.local(edge)) * at.tangents[operand] * at.grads[user]
