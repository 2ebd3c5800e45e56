"""A person's text as a graph, with nodes for the derivatives and roots that it holds."""

from __future__ import annotations

from exprgrad.errors import LanguageError
from exprgrad.graph.graph import PLACEHOLDERS, Graph
from exprgrad.language.read.parse import parse

__all__ = ["parsed"]


def parsed(text: str, *, is_expression: bool = True) -> Graph:
    """The graph of a text; raises ``LanguageError`` at the first thing that is wrong.

    ``is_expression`` says whether it is the formula itself, and no value or claim about it.
    """
    try:
        graph = parse(text, is_expression=is_expression)
    except LanguageError as error:
        if "\\" in text:
            from exprgrad.language.read.latex import with_reading

            error.help = with_reading(error.help, text)
        raise
    if PLACEHOLDERS.isdisjoint(graph.kinds):
        return graph
    from exprgrad.derive.placeholders import resolved

    return resolved(graph, text)
