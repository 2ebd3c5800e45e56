"""What moves inputs: numbers and tensors scaled, added and compared; NumPy is read for tensors alone."""

from __future__ import annotations

import math
from typing import Any

__all__ = ["added", "length", "same", "scaled", "trouble"]


def scaled(value: Any, factor: float) -> Any:
    """A number or a tensor times a number; overflow is an infinity, and no zero is negative."""
    if isinstance(value, float):
        return factor * value + 0.0
    import numpy as np

    with np.errstate(all="ignore"):
        return factor * value + 0.0


def added(value: Any, update: Any) -> Any:
    """Where an update moves a number or a tensor."""
    if isinstance(value, float):
        return value + update
    import numpy as np

    with np.errstate(all="ignore"):
        return value + update


def same(one: Any, other: Any) -> bool:
    """Whether two numbers or tensors are equal, each number to its last bit; -0 is 0."""
    return one == other if isinstance(one, float) else bool((one == other).all())


def length(value: Any) -> float:
    """A number's size, or a tensor's norm: the root of its sum of squares."""
    if isinstance(value, float):
        return abs(value)
    from exprgrad.run.arrays.measure import measure

    return measure(value).norm


def trouble(value: Any) -> str:
    """``nan`` or ``infinite`` if a number, or a number of a tensor, is that; else nothing."""
    if isinstance(value, float):
        return "nan" if value != value else "infinite" if math.isinf(value) else ""
    from exprgrad.run.arrays.measure import infinities, nans

    return "nan" if nans(value).any() else "infinite" if infinities(value).any() else ""
