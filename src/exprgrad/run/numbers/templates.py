"""What the op table's rules and conditions see of an operation, and whether a condition holds."""

from __future__ import annotations

from collections.abc import Sequence

from exprgrad.derive.rules import template
from exprgrad.graph.ops import Op
from exprgrad.run.numbers.primitives import Template, compile_template, sides

__all__ = ["Template", "at_pole", "compile_template", "holds", "sides"]


def holds(condition: str, names: Sequence[str], values: Sequence[float]) -> bool:
    """Whether a condition of the op table holds for the values of its names."""
    return bool(compile_template(template(condition), tuple(names))(values))


def at_pole(op: Op, operands: Sequence[float]) -> bool:
    """Whether a row's operands are at one of its poles."""
    return any(holds(where, op.names, operands) for where, _ in op.poles)
