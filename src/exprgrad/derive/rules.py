"""The op table's texts, read into graphs: templates over a node's operands, ``out`` and companions.

A template is an ordinary graph whose inputs are the names that a rule may use (see ``graph/ops.py``).
"""

from __future__ import annotations

from functools import cache

from exprgrad.graph.graph import CONST, INPUT, Graph
from exprgrad.graph.ops import Op
from exprgrad.language.parse import parse

__all__ = ["operation_count", "slots", "template"]


@cache
def template(text: str) -> Graph:
    """The graph of one rule, condition or formula of the op table."""
    return parse(text)


def slots(op: Op) -> tuple[str, ...]:
    """The names that an operation's rules may use, in the order in which values are handed to them.

    A variadic rule sees one operand at a time: ``x``, ``out``, ``varies`` and ``ties``.
    """
    if op.variadic:
        return (*op.names, "out", "varies", "ties")
    return (*op.names, "out", *(f"varies_{name}" for name in op.names))


@cache
def operation_count(text: str) -> int:
    """How many operations a rule takes."""
    return sum(kind not in (INPUT, CONST) for kind in template(text).kinds)
