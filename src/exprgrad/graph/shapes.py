"""Shapes: how they broadcast, what an axis means in one, and the node builders that depend on them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from exprgrad.graph.graph import Shape, size
from exprgrad.graph.structural import Mismatch, Nodes

__all__ = [
    "axes_of", "axis_of", "broadcast_shape", "kept", "narrowed", "reduced", "spread", "spread_axes",
    "total", "volume",
]  # fmt: skip

Axes = int | tuple[int, ...] | None


def broadcast_shape(shapes: Sequence[Shape]) -> Shape:
    """The shape that several broadcast to, as in NumPy: aligned at the right, a size 1 stretches."""
    rank = max(map(len, shapes))
    found = []
    for at in range(-rank, 0):
        sizes = {shape[at] for shape in shapes if len(shape) >= -at} - {1}
        if len(sizes) > 1:
            apart = [
                position
                for position, shape in enumerate(shapes)
                if len(shape) >= -at and shape[at] != 1
            ]
            raise Mismatch(
                "{op} needs shapes that broadcast",
                "sizes are matched from the last: they must be equal, or one of them 1",
                tuple(apart),
            )
        found.append(sizes.pop() if sizes else 1)
    return tuple(found)


def axis_of(axis: int, shape: Shape) -> int:
    """An axis counted from the front."""
    rank = len(shape)
    if not -rank <= axis < rank:
        if not rank:
            raise Mismatch("{op} along an axis needs a tensor", "a number has no axes")
        listed = "its one axis is 0 or -1"
        if rank > 1:
            between = "and" if rank == 2 else "to"
            listed = f"its axes are 0 {between} {rank - 1}, or from the end -1 {between} {-rank}"
        raise Mismatch(f"{{op}} finds no axis {axis}", listed)
    return axis % rank


def axes_of(axes: Axes, shape: Shape) -> tuple[int, ...]:
    """Axes counted from the front, ascending; None stands for all."""
    if axes is None:
        return tuple(range(len(shape)))
    listed = (axes,) if isinstance(axes, int) else axes
    found = sorted(axis_of(axis, shape) for axis in listed)
    for one, other in pairwise(found):
        if one == other:
            help = "an axis below 0 counts from the end" if min(listed) < 0 else None
            raise Mismatch(f"{{op}} is given axis {one} twice", help)
    return tuple(found)


def kept(shape: Shape, axes: Axes) -> Shape:
    """A shape with some axes reduced to size 1."""
    gone = axes_of(axes, shape)
    return tuple([1 if at in gone else length for at, length in enumerate(shape)])


def reduced(shape: Shape, axes: Axes, keepdims: bool = False) -> Shape:
    """A shape without some axes, or with size 1 in their places."""
    if keepdims:
        return kept(shape, axes)
    gone = axes_of(axes, shape)
    return tuple([length for at, length in enumerate(shape) if at not in gone])


def spread(b: Nodes, reduction: int, shape: Shape, axes: Axes) -> int:
    """What a reduction over some axes found, at every place of the shape it came from."""
    gone = axes_of(axes, shape)
    if gone != tuple(range(len(gone))):  # else it lines up at the right as it is
        reduction = b.apply("reshape", reduction, settings=(kept(shape, axes),))
    return b.apply("broadcast", reduction, settings=(shape,))


def spread_axes(narrow: Shape, wide: Shape) -> tuple[int, ...]:
    """The axes of the wide shape along which the narrow one was repeated."""
    lead = len(wide) - len(narrow)
    stretched = [
        lead + at for at, length in enumerate(narrow) if length == 1 and wide[lead + at] != 1
    ]
    return (*range(lead), *stretched)


def narrowed(b: Nodes, wide: int, shape: Shape) -> int:
    """What was repeated from a shape, added up into it again."""
    axes = spread_axes(shape, b.shape(wide))
    narrow = b.apply("sum", wide, settings=(axes if len(axes) != 1 else axes[0], False))
    return b.apply("reshape", narrow, settings=(shape,))


def total(b: Nodes, x: int, y: int) -> int:
    """The sum of all x*y."""
    return b.apply("sum", b.apply("mul", x, y), settings=(None, False))


def volume(shape: Shape, axes: Axes) -> int:
    """How many numbers a reduction over some axes takes together."""
    return size(tuple(shape[at] for at in axes_of(axes, shape)))
