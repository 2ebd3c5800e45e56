"""The product of the others: what each factor of a product is multiplied by.

Source: Griewank and Walther, Evaluating Derivatives (2008), section 3.3 (Speelpenning's product); here by
halves.
"""

from __future__ import annotations

from typing import Any

from exprgrad.graph.shapes import axes_of, volume
from exprgrad.graph.structural import Nodes

__all__ = ["others"]


def others(b: Nodes, x: int, axes: Any) -> int:
    """At every place the product of the other numbers along some axes."""
    shape = b.shape(x)
    gone = axes_of(axes, shape)
    stay = tuple([at for at in range(len(shape)) if at not in gone])
    order = stay + gone
    moved = tuple([shape[at] for at in order])
    count = volume(shape, axes)
    flat = (*[shape[at] for at in stay], count)
    if not count > 1:
        return b.apply("broadcast", b.constant(1.0), settings=(shape,))
    rows = b.apply("reshape", b.apply("transpose", x, settings=(order,)), settings=(flat,))
    found = b.apply("reshape", others_of_rows(b, rows), settings=(moved,))
    inverse = tuple(sorted(range(len(order)), key=order.__getitem__))
    return b.apply("transpose", found, settings=(inverse,))


def others_of_rows(b: Nodes, rows: int) -> int:
    """The products of the others along the last axis, by halves."""
    levels = [rows]
    while b.shape(levels[-1])[-1] > 2:
        first, second = halves(b, levels[-1])
        levels.append(b.apply("mul", first, second))
    first, second = halves(b, levels.pop())
    found = b.apply("concat", second, first, settings=(-1,))
    while levels:
        level = levels.pop()
        first, second = halves(b, level)
        found = b.apply(
            "concat", b.apply("mul", found, second), b.apply("mul", found, first), settings=(-1,)
        )
        length = b.shape(level)[-1]
        if length % 2:
            found = part(b, found, 0, length)
    return found


def halves(b: Nodes, rows: int) -> tuple[int, int]:
    """The two halves of the last axis; an odd second one is filled up with a 1."""
    length = b.shape(rows)[-1]
    half = (length + 1) // 2
    second = part(b, rows, half, length)
    if length % 2:
        filler = b.apply("broadcast", b.constant(1.0), settings=((*b.shape(rows)[:-1], 1),))
        second = b.apply("concat", second, filler, settings=(-1,))
    return part(b, rows, 0, half), second


def part(b: Nodes, rows: int, start: int, stop: int) -> int:
    """A slice of the last axis."""
    whole = ((None, None),) * (len(b.shape(rows)) - 1)
    return b.apply("index", rows, settings=((*whole, (start, stop)),))
