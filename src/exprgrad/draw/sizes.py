"""The Jacobians that nobody forms, by their size in memory."""

from __future__ import annotations

from exprgrad.graph.structural import Shape, size

__all__ = ["bytes_text", "jacobian_bytes"]


def jacobian_bytes(shapes: tuple[Shape, Shape]) -> int:
    """What a whole Jacobian would take in doubles, given the node's shape and the operand's."""
    return 8 * size(shapes[0]) * size(shapes[1])


def bytes_text(count: int) -> str:
    """A size in memory: ``31.4 GB``."""
    amount, unit = float(count), "bytes"
    for larger in ("kB", "MB", "GB", "TB", "PB", "EB"):
        if amount < 999.5:
            break
        amount, unit = amount / 1000, larger
    return f"{amount:.3g} {unit}" if amount < 999.5 else f"{amount:,.0f} {unit}"
