"""The Jacobians that nobody forms, by their size in memory."""

from __future__ import annotations

from exprgrad.graph.literal import Shape, size
from exprgrad.graph.ops import BY_NAME

__all__ = ["is_matrix", "jacobian_bytes"]


def jacobian_bytes(shapes: tuple[Shape, Shape]) -> int:
    """What a whole Jacobian would take in doubles, given the node's shape and the operand's."""
    return 8 * size(shapes[0]) * size(shapes[1])


def is_matrix(kind: str, position: int, ends: tuple[Shape, Shape]) -> bool:
    """Whether an edge's Jacobian is worth speaking of: more than a row, a column, or ones in a diagonal."""
    op = BY_NAME.get(kind)
    copies = op is not None and op.shown_partial(position) in ("1", "-1")
    return min(map(size, ends)) > 1 and not copies
