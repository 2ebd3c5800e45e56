"""What a graph holds of tensors: shapes, settings, and tensors that are written out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

__all__ = ["Literal", "Settings", "Shape", "element_name", "in_lists", "place_of", "size"]

Shape = tuple[int, ...]
"""The sizes of a tensor's axes; ``()`` is a number."""
Settings = tuple[Any, ...]
"""Values of a row's parameters, in order: whole numbers, flags, None, and tuples of them."""


class Literal(NamedTuple):
    """A tensor that is written out: its shape, and its numbers in row-major order."""

    shape: Shape
    numbers: tuple[float, ...]


def element_name(name: str, place: Shape | None) -> str:
    """What one number of a tensor is called: ``X[0, 1]``; what is a number has its own name."""
    return f"{name}{[*place]}" if place else name


def size(shape: Shape) -> int:
    """How many numbers a tensor of a shape holds."""
    product = 1
    for length in shape:
        product *= length
    return product


def place_of(flat: int, shape: Shape) -> Shape:
    """The place of a number of a tensor by its position, row by row."""
    place = []
    for length in reversed(shape):
        flat, index = divmod(flat, length)
        place.append(index)
    return tuple(reversed(place))


def in_lists(entries: Sequence[str], shape: Shape) -> str:
    """Texts in row-major order as nested lists."""
    rows = list(entries)
    for length in reversed(shape):
        rows = [f"[{', '.join(rows[at : at + length])}]" for at in range(0, len(rows), length)]
    return rows[0]
