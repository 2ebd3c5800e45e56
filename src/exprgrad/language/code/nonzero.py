"""What can be said of signs without numbers: which nodes are never 0, nor are after rounding."""

from __future__ import annotations

from typing import cast

from exprgrad.graph.graph import CONST, Graph
from exprgrad.graph.literal import Literal
from exprgrad.graph.ops import OPS

__all__ = ["never_zero"]

NOT_NEGATIVE = frozenset(op.name for op in OPS if op.not_negative)
"""Operations whose results are never below 0."""


def never_zero(graph: Graph) -> list[bool]:
    """By node: whether its value is different from 0 at every point, be it nan."""
    positive_or_zero: list[bool] = []
    nonzero: list[bool] = []
    for kind, operands, payload in zip(graph.kinds, graph.operands, graph.payloads, strict=True):
        signs = [positive_or_zero[operand] for operand in operands]
        others = [nonzero[operand] for operand in operands]
        if kind == CONST:
            numbers = payload.numbers if isinstance(payload, Literal) else (cast(float, payload),)
            positive_or_zero.append(all(number >= 0 for number in numbers))
            nonzero.append(0 not in numbers)
            continue
        square = kind == "mul" and operands[0] == operands[1]
        sums = kind in ("add", "mul", "div", "max") and all(signs)
        choice = kind == "where" and all(signs[1:])
        positive_or_zero.append(kind in NOT_NEGATIVE or square or sums or choice)
        nonzero.append(
            kind == "cosh"
            or (kind == "add" and all(signs) and any(others))
            or (kind == "hypot" and any(others))
            or (kind in ("neg", "abs", "sqrt") and all(others))
            or (kind == "where" and all(others[1:]))
        )
    return nonzero
