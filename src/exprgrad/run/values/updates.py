"""What moves inputs: numbers and tensors scaled, added and compared; NumPy is read for tensors alone."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

__all__ = ["added", "length", "over_root", "same", "scaled", "squared", "trouble"]


def silently(operation: Callable[..., Any]) -> Callable[..., Any]:
    """Arithmetic that does not warn, whether its first operand is a number or a tensor."""

    def apply(value: Any, *others: Any) -> Any:
        if isinstance(value, float):
            return operation(value, *others)
        import numpy as np

        with np.errstate(all="ignore"):
            return operation(value, *others)

    return apply


scaled = silently(lambda value, factor: factor * value + 0.0)
"""A number or a tensor times a number; overflow is an infinity, and no zero is negative."""
added = silently(operator.add)
"""Where an update moves a number or a tensor."""
squared = silently(lambda value: value * value)
"""The square of a number, or of each of a tensor's; overflow is an infinity."""
over_root = silently(lambda value, square, least: value / (square**0.5 + least))
"""A number or a tensor over the root of another, to which ``least`` is added."""


def same(one: Any, other: Any) -> bool:
    """Whether two numbers or tensors are equal, each number to its last bit; -0 is 0."""
    return some(one == other, every=True)


def some(flags: Any, *, every: bool = False) -> bool:
    """Whether a condition holds for some number of a value, or for every."""
    if isinstance(flags, bool):
        return flags
    return bool(flags.all() if every else flags.any())


def length(value: Any) -> float:
    """A number's size, or a tensor's norm: the root of its sum of squares."""
    if isinstance(value, float):
        return abs(value)
    from exprgrad.run.arrays.arrays import measure

    return measure(value).norm


def trouble(value: Any) -> str:
    """``nan`` or ``infinite`` if a number, or a number of a tensor, is that; else nothing."""
    return "nan" if some(value != value) else "infinite" if some(abs(value) == math.inf) else ""
