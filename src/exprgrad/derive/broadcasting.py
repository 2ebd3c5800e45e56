"""Building derived graphs of tensors: operands are broadcast, moves that undo each other left out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from exprgrad.graph.graph import CONST
from exprgrad.graph.literal import Settings, Shape
from exprgrad.graph.movement import permutation
from exprgrad.graph.shapes import axes_of, broadcast_shape
from exprgrad.graph.tensors import STRUCTURAL

if TYPE_CHECKING:
    from exprgrad.derive.build import Builder

__all__ = ["broadcast", "filled", "structural"]


def broadcast(builder: Builder, operands: tuple[int, ...]) -> tuple[Shape, tuple[int, ...]]:
    """The shape of an elementwise operation, and its operands in that shape; constants stay numbers."""
    shapes = [builder.shape(operand) for operand in operands]
    shape = broadcast_shape(shapes)
    if all(known == shape for known in shapes):
        return shape, operands
    return shape, tuple([stretched(builder, operand, shape) for operand in operands])


def stretched(builder: Builder, operand: int, shape: Shape) -> int:
    """An operand in a shape; a constant stretches by itself."""
    if builder.graph.kinds[operand] == CONST and builder.shape(operand) == ():
        return operand
    return filled(builder, operand, shape)


def filled(builder: Builder, node: int, shape: Shape) -> int:
    """A node in a shape."""
    return structural(builder, "broadcast", (node,), (shape,))


def structural(builder: Builder, kind: str, operands: tuple[int, ...], settings: Settings) -> int:
    """The node of a structural operation, or of what it comes to."""
    shapes = [builder.shape(operand) for operand in operands]
    shape = STRUCTURAL[kind].shape(shapes, settings)
    node = None if builder.plain else shortcut(builder, kind, operands, settings, shape)
    if node is not None:
        return node
    key = (kind, settings, operands)
    node = builder.known.get(key)
    if node is None:
        node = builder.known[key] = builder.append(kind, operands, settings, shape)
        if kind == "broadcast" and operands[0] in builder.flags:
            builder.flags.add(node)
    return node


def shortcut(
    builder: Builder, kind: str, operands: tuple[int, ...], settings: Settings, shape: Shape
) -> int | None:
    """What moves numbers nowhere, or back to where they came from."""
    x = operands[0]
    known, inner = builder.shape(x), builder.graph.kinds[x]
    if kind in ("reshape", "broadcast") and shape == known:
        return x
    if kind == "sum" and not axes_of(settings[0], known):
        return x
    if kind == "concat" and len(operands) == 1:
        return x
    if kind == inner and kind in ("reshape", "broadcast"):
        return structural(builder, kind, builder.graph.operands[x], (shape,))
    if kind == "reshape" and builder.value(x) is not None and inner == "broadcast":
        return structural(builder, "broadcast", builder.graph.operands[x], (shape,))
    if kind == "transpose":
        return transposed(builder, x, settings, known)
    return None


def transposed(builder: Builder, x: int, settings: Settings, known: Shape) -> int | None:
    """A transpose that moves nothing, or undoes another."""
    order = permutation(settings, known)
    if list(order) == sorted(order):
        return x
    if builder.graph.kinds[x] == "transpose":
        (inner,) = builder.graph.operands[x]
        payload = builder.graph.payloads[x]
        assert isinstance(payload, tuple)
        first = permutation(payload, builder.shape(inner))
        if [first[at] for at in order] == sorted(order):
            return inner
    return None
