"""What moves inputs: numbers and tensors scaled, added and compared; NumPy is read for tensors alone."""

from __future__ import annotations

import math
from contextlib import AbstractContextManager, nullcontext
from typing import Any

__all__ = ["added", "length", "over_root", "same", "scaled", "squared", "trouble"]


def silent(value: Any) -> AbstractContextManager[Any]:
    """A context in which arithmetic with a value does not warn."""
    if isinstance(value, float):
        return nullcontext()
    import numpy as np

    return np.errstate(all="ignore")


def scaled(value: Any, factor: float) -> Any:
    """A number or a tensor times a number; overflow is an infinity, and no zero is negative."""
    with silent(value):
        return factor * value + 0.0


def added(value: Any, update: Any) -> Any:
    """Where an update moves a number or a tensor."""
    with silent(value):
        return value + update


def squared(value: Any) -> Any:
    """The square of a number, or of each of a tensor's; overflow is an infinity."""
    with silent(value):
        return value * value


def over_root(value: Any, square: Any, least: float) -> Any:
    """A number or a tensor over the root of another, to which ``least`` is added."""
    with silent(value):
        return value / (square**0.5 + least)


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
