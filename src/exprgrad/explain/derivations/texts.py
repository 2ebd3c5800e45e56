"""Formulas put together as texts, each with how tightly it binds.

They are read by people, so nothing is worked out, and a minus behind another symbol is in parentheses.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from exprgrad.derive.rules import template
from exprgrad.graph.graph import Graph
from exprgrad.language.write.infix import ATOM, PRODUCT, SUM, level, operation_text, rule_text

__all__ = ["NOTHING", "ONE", "Text", "chained", "filled", "scaled", "total", "written"]

Text = tuple[str, int]
"""A formula and how tightly it binds."""

NO_LIMIT = 1 << 30
NOTHING: Text = ("0", ATOM)
ONE: Text = ("1", ATOM)


def written(kind: str, *operands: Text) -> Text:
    """One operation."""
    guarded = [operand if place == 0 else behind(operand) for place, operand in enumerate(operands)]
    if kind == "neg":
        guarded = [behind(operand) for operand in operands]
    return operation_text(kind, guarded, limit=NO_LIMIT), level(kind)


def behind(operand: Text) -> Text:
    """An operand behind another symbol."""
    text, binding = operand
    return text, SUM if text.startswith("-") else binding


def chained(kind: str, operands: Iterable[Text]) -> Text:
    """An operation of two operands on several, from the left."""
    first, *rest = operands
    for operand in rest:
        first = written(kind, first, operand)
    return first


def filled(law: Graph | str, values: Mapping[str, Text]) -> Text:
    """A formula, or the text of one, with texts for some of its inputs."""
    graph = template(law) if isinstance(law, str) else law
    given = {name: (name, ATOM) for name in graph.inputs}
    return rule_text(graph, given | {name: behind(values[name]) for name in values}, NO_LIMIT)


def total(terms: Iterable[tuple[Text, Text]]) -> Text:
    """The sum of products, each of a local derivative and the derivative that it is multiplied by."""
    found: Text | None = None
    for local, inner in terms:
        term = scaled(local, inner)
        if found is None:
            found = term
        elif term[0].startswith("-") and term[1] >= PRODUCT:
            found = written("sub", found, (term[0][1:], term[1]))
        else:
            found = written("add", found, term)
    return found or NOTHING


def scaled(local: Text, inner: Text) -> Text:
    """A local derivative times an inner one; 1 and -1 are not written."""
    if local[0] == "1":
        return inner
    return written("neg", inner) if local[0] == "-1" else written("mul", local, inner)
