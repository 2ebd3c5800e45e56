"""The one loop that rebuilds a graph node by node, a rule saying what becomes of each."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from exprgrad.graph.graph import INPUT, Binding, Call, Graph, Slope

__all__ = ["MISSING", "Rule", "copied", "copies", "transform"]

Rule = Callable[[int, Sequence[int]], int | None]
"""What becomes of a node: a new node, or None for a copy; given the new nodes of those before it."""
MISSING = -1
"""In place of a node that was left out."""


def transform(
    graph: Graph,
    rule: Callable[[Graph, int, Sequence[int]], int | None] | None = None,
    *,
    wanted: Sequence[int] | None = None,
    into: Graph | None = None,
) -> tuple[Graph, list[int]]:
    """A graph rebuilt, and by old node its new one; -1 for a node that is not ``wanted``.

    ``rule`` is given the new graph so far, an old node and the new nodes of those before it; it returns a
    node of the new graph, or None for a copy.  Without a rule every node is copied.  Names, spans, shapes
    and the output go along.  ``into`` is the graph to build; by default it carries shapes if this one does.
    """
    made = graph.empty() if into is None else into
    images = copies(made, graph, rule and (lambda *node: rule(made, *node)), wanted=wanted)
    made.inputs = {name: images[node] for name, node in graph.inputs.items() if images[node] >= 0}
    made.bindings = [
        Binding(b.name, images[b.node], b.span) for b in graph.bindings if images[b.node] >= 0
    ]
    made.mentioned |= graph.mentioned
    if graph.calls:
        made.calls, made.called = calls_moved(graph, images)
    made.implicit |= {images[node] for node in graph.implicit if images[node] >= 0}
    if graph.slopes and rule is None:
        made.slopes = dict(moved(graph, images))
    made.output, made.output_name = images[graph.output], graph.output_name
    return made, images


def calls_moved(graph: Graph, images: Sequence[int]) -> tuple[list[Call], dict[int, int]]:
    """The calls with their nodes in a new graph; where all of a call's nodes were left out, it has none."""
    calls = [
        call._replace(
            operands=tuple([images[operand] for operand in call.operands]),
            result=images[call.result],
            bends=tuple([images[node] for node in call.bends]),
        )
        for call in graph.calls
    ]
    return calls, {images[node]: at for node, at in graph.called.items() if images[node] >= 0}


def moved(graph: Graph, images: Sequence[int]) -> Iterator[tuple[int, Slope]]:
    """The local derivatives that are kept with all of their operands."""
    for node, slope in graph.slopes.items():
        operands = tuple([images[operand] for operand in slope.operands])
        if MISSING not in (images[node], *operands):
            yield images[node], slope._replace(operands=operands)


def copies(
    made: Graph, graph: Graph, rule: Rule | None = None, *, wanted: Sequence[int] | None = None
) -> list[int]:
    """By node of ``graph`` its new node in ``made``, which may hold nodes already: see ``transform``."""
    images: list[int] = []
    for node, operands in enumerate(graph.operands):
        if wanted is not None and not wanted[node]:
            images.append(MISSING)
            continue
        image = None if rule is None else rule(node, images)
        if image is None:
            image = copied(made, graph, node, tuple([images[operand] for operand in operands]))
        images.append(image)
    return images


def copied(made: Graph, graph: Graph, node: int, operands: tuple[int, ...]) -> int:
    """A node of ``graph`` again, in ``made`` and on operands there."""
    kind, payload = graph.kinds[node], graph.payloads[node]
    first = graph.first_edge[node]
    edges = slice(first, first + len(operands))
    image = made.append(kind, operands, payload, graph.span(node))
    made.edge_starts.extend(graph.edge_starts[edges])
    made.edge_ends.extend(graph.edge_ends[edges])
    made.shapes.append(graph.shape(node))
    if kind == INPUT:
        made.inputs[str(payload)] = image
    if node in graph.symbols:
        made.symbols[image] = graph.symbols[node]
    if node in graph.spelled:
        made.spelled[image] = graph.spelled[node]
    if node in graph.origins:
        made.origins[image] = graph.origins[node]
    return image
