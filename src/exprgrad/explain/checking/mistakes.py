"""Mistakes by hand: the one step of the chain rule that, done wrong, makes the claim of the derivative.

The paths through an edge contribute t*l*g to an input's grad: t is the operand's derivative with respect to
the input, l the edge's local derivative, g the user's grad.  To leave these paths out, to count them twice,
or to take something else for l, changes that product alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import NamedTuple

from exprgrad.graph.graph import Graph
from exprgrad.language.write.infix import node_texts
from exprgrad.run.balls.balls import Ball, decimal_ball, evaluate_in_balls, exact_ball
from exprgrad.run.balls.sweep import sweep_balls

__all__ = ["find_mistake"]

MOST_EDGES = 200
"""The most edges that are tried: a longer formula is not derived by hand."""
LONGEST_NAME = 40
"""Where the text of a node without a name is cut."""
TIGHT_BITS = 64
"""The fewest bits of a number that may confirm a mistake: an unknown one agrees with all."""


class PointSweep(NamedTuple):
    """By node at a point: data, derivatives with respect to an input, grads, and local derivatives."""

    data: list[Ball]
    tangents: list[Ball]
    grads: list[Ball | None]
    locals: list[tuple[Ball | None, ...] | None]


Edge = tuple[int, int, int]
"""The user, the position of the operand, and the operand."""


class PossibleMistake(NamedTuple):
    """A mistake in words, and the derivative that it makes at a point; None where that is unknown."""

    words: str
    derivative: Callable[[PointSweep], Ball | None]


def find_mistake(
    graph: Graph, name: str, points: Sequence[Mapping[str, float]], said: Sequence[Ball], bits: int
) -> str | None:
    """The mistake that makes an input's grad what is ``said``, at every point, if one does."""
    source = graph.inputs[name]
    sweeps = [sweep_at(graph, source, point, bits) for point in points]
    for words, derivative in possible_mistakes(graph, source, sweeps[0]):
        made = map(derivative, sweeps)
        if all(is_confirmed(one, other) for one, other in zip(made, said, strict=True)):
            return words
    return None


def is_confirmed(made: Ball | None, said: Ball) -> bool:
    """Whether a number that is known well enough may be the one that was said."""
    if made is None or made.rel_accuracy_bits() < TIGHT_BITS or not said.is_finite():
        return False
    return bool(made.overlaps(said))


def sweep_at(graph: Graph, source: int, point: Mapping[str, float], bits: int) -> PointSweep:
    """Both sweeps at a point, and a forward one from an input."""
    inputs = {name: decimal_ball(point[name]) for name in graph.inputs}
    data = evaluate_in_balls(graph, inputs, typed=True)
    grads, slopes, _ = sweep_balls(graph, data, [source], bits)
    tangents = [exact_ball(int(node == source)) for node in range(len(graph))]
    for user, mine in enumerate(slopes):
        for operand, slope in zip(graph.operands[user], mine or (), strict=False):
            if slope is not None:
                tangents[user] += slope * tangents[operand]
    return PointSweep(data, tangents, grads, slopes)


def possible_mistakes(graph: Graph, source: int, here: PointSweep) -> Iterator[PossibleMistake]:
    """Mistakes on the way from an input to the output: first about paths, from the input on."""
    edges = [
        (user, position, operand)
        for user, mine in enumerate(here.locals)
        for position, operand in enumerate(graph.operands[user])
        if mine is not None and mine[position] is not None
    ][:MOST_EDGES]
    names = graph.names()
    texts = node_texts(graph, names, LONGEST_NAME)
    called = [names.get(node, text) for node, text in enumerate(texts)]
    yield PossibleMistake("its sign is wrong", partial(opposite_grad, source))
    for edge in edges:
        without = derivative_with_local(source, edge, 0, here)
        if without is None or without.contains(0):  # all paths lead through it
            continue
        path = "straight to" if edge[0] == graph.output else "through"
        for times, words in (
            (0, "is missing"),
            (2, "is counted twice"),
            (-1, "has the wrong sign"),
        ):
            words = f"the path {path} {called[edge[0]]} {words}"
            yield PossibleMistake(words, partial(derivative_with_local, source, edge, times))
    for edge in edges:
        user, position, operand = edge
        local = f"the local derivative of {called[user]} with respect to {called[operand]}"
        if graph.kinds[user] == "mul":
            words = (
                f"{local} is {called[graph.operands[user][1 - position]]}, not {called[operand]}"
            )
            yield PossibleMistake(
                words, partial(derivative_with_local, source, edge, 0, instead=operand)
            )
        words = f"{local} is missing"
        yield PossibleMistake(words, partial(derivative_with_local, source, edge, 0, plus=1))
    for user in dict.fromkeys(user for user, *_ in edges if user != graph.output):
        words = f"it is the derivative of {called[user]}, not yet times the grad of {called[user]}"
        yield PossibleMistake(words, partial(number_at_point, "tangents", user))
    for node in (source, graph.output):
        yield PossibleMistake(
            f"it is the value of {called[node]}", partial(number_at_point, "data", node)
        )


def derivative_with_local(
    source: int,
    edge: Edge,
    times: int,
    at: PointSweep,
    *,
    plus: int = 0,
    instead: int | None = None,
) -> Ball | None:
    """The derivative with another local derivative: some times it and ``plus``, or a node's data."""
    user, position, operand = edge
    slopes, grad, true = at.locals[user], at.grads[user], at.grads[source]
    slope = None if slopes is None else slopes[position]
    if slope is None or grad is None or true is None:
        return None
    other = slope * times + plus if instead is None else at.data[instead]
    return true + (other - slope) * at.tangents[operand] * grad


def opposite_grad(source: int, at: PointSweep) -> Ball | None:
    """The grad with the other sign."""
    grad = at.grads[source]
    return None if grad is None else -grad


def number_at_point(field: str, node: int, at: PointSweep) -> Ball:
    """A node's number at a point."""
    numbers: list[Ball] = getattr(at, field)
    return numbers[node]
