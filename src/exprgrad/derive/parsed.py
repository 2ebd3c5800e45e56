"""A person's text as a graph, with nodes for the derivatives and roots that it holds."""

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
    """The graph of a text; raises ``LanguageError`` at the first thing that is wrong.

    ``is_expression`` says whether it is the formula itself, and no value or claim about it; ``rule``
    chooses the rules of the derivatives in it, those that are computed by default.
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
    """The graph that was read of a text, with nodes for the derivatives and roots that it holds.

    Raises ``LanguageError`` for a family's member with a greater number than may be written.
    """
    if not BEYOND.keys().isdisjoint(graph.kinds):
        node, kind = next(pair for pair in enumerate(graph.kinds) if pair[1] in BEYOND)
        raise bad_number(BEYOND[kind], graph.span(node)).at(Source(text, is_expression))
    if PLACEHOLDERS.isdisjoint(graph.kinds):
        return graph
    from exprgrad.derive.placeholders import resolve_placeholders

    return resolve_placeholders(graph, text, rule) if rule else resolve_placeholders(graph, text)
