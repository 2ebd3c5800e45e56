"""A node of one graph put into another."""

from __future__ import annotations

from collections.abc import Sequence

from exprgrad.graph.graph import Graph
from exprgrad.source import Span

__all__ = ["copied"]


def copied(
    found: Graph, graph: Graph, node: int, operands: Sequence[int], span: Span | None = None
) -> int:
    """A node of ``graph`` again, in ``found`` and on operands there; it has its own span, or another."""
    where = graph.span(node) if span is None else span
    spans = (where,) * len(operands)
    image = found.append(graph.kinds[node], tuple(operands), graph.payloads[node], where, spans)
    if node in graph.symbols:
        found.symbols[image] = graph.symbols[node]
    return image
