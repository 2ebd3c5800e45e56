"""What a graph holds of tensors: shapes, settings, and tensors that are written out."""

from __future__ import annotations

from typing import Any, NamedTuple

__all__ = ["Literal", "Settings", "Shape", "size"]

Shape = tuple[int, ...]
"""The sizes of a tensor's axes; ``()`` is a number."""
Settings = tuple[Any, ...]
"""Values of a row's parameters, in order: whole numbers, flags, None, and tuples of them."""


class Literal(NamedTuple):
    """A tensor that is written out: its shape, and its numbers in row-major order."""

    shape: Shape
    numbers: tuple[float, ...]


def size(shape: Shape) -> int:
    """How many numbers a tensor of a shape holds."""
    product = 1
    for length in shape:
        product *= length
    return product
