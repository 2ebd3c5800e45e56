"""A typed text as a graph, with nodes for its derivatives and roots."""

from __future__ import annotations

from collections.abc import Callable

from exprgrad.errors import LanguageError
from exprgrad.graph.graph import PLACEHOLDERS, Graph
from exprgrad.graph.ops import BEYOND
from exprgrad.language.read.builder import bad_number
from exprgrad.language.read.parse import parse_text
from exprgrad.source import Source

__all__ = ["complete_graph", "parse_and_derive"]


def parse_and_derive(
    text: str, *, is_expression: bool = True, rule: Callable[..., str] | None = None
) -> Graph:
    """Parse a text into a graph; raises ``LanguageError`` at the first mistake.

    ``is_expression`` says whether it is the formula itself, not a value or a claim about it; ``rule``
    chooses the rules of its derivatives, the computed ones by default.
    """
    try:
        graph = parse_text(text, is_expression=is_expression)
    except LanguageError as error:
        if "\\" in text:
            from exprgrad.language.read.latex import with_reading

            error.help = with_reading(error.help, text)
        raise
    return complete_graph(graph, text, is_expression=is_expression, rule=rule)


def complete_graph(
    graph: Graph, text: str, *, is_expression: bool = True, rule: Callable[..., str] | None = None
) -> Graph:
    """Complete a parsed graph with nodes for its derivatives and roots.

    Raises ``LanguageError`` for a family's member with a greater number than allowed.
    """
    if not BEYOND.keys().isdisjoint(graph.kinds):
        node, kind = next(pair for pair in enumerate(graph.kinds) if pair[1] in BEYOND)
        raise bad_number(BEYOND[kind], graph.span(node)).at(Source(text, is_expression))
    if PLACEHOLDERS.isdisjoint(graph.kinds):
        return graph
    from exprgrad.derive.placeholders import resolve_placeholders

    return resolve_placeholders(graph, text, rule) if rule else resolve_placeholders(graph, text)
