"""What the op table's rules and conditions see of an operation, and whether a condition holds."""

from __future__ import annotations

from collections.abc import Sequence

from exprgrad.derive.rules import slots, template
from exprgrad.graph.ops import Op
from exprgrad.run.numbers.primitives import Template, compile_template

__all__ = ["Template", "at_pole", "compile_template", "holds", "sides"]


def holds(condition: str, names: Sequence[str], values: Sequence[float]) -> bool:
    """Whether a condition of the op table holds for the values of its names."""
    return bool(compile_template(template(condition), tuple(names))(values))


def at_pole(op: Op, operands: Sequence[float]) -> bool:
    """Whether a row's operands are at one of its poles."""
    return any(holds(where, op.names, operands) for where, _ in op.poles)


def sides(op: Op, arguments: Sequence[float], varies: Sequence[float]) -> list[list[float]]:
    """For each operand, the values that a rule with companions sees, as ``derive.rules.slots`` says."""
    if not op.variadic:
        return [[*arguments, *varies]] * len(varies)
    tie = compile_template(template(op.ties), slots(op))
    *operands, out = arguments
    found = [[x, out, v, 0.0] for x, v in zip(operands, varies, strict=True)]
    tied = sum(map(tie, found))
    return [[*side[:3], tied] for side in found]
