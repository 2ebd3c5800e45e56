"""Arithmetic on constants, exact or not at all.

A fold must not change a number: it is made only where the exact result is itself a double, so that
evaluating the folded graph gives what evaluating the other gave, to the last bit.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from exprgrad.graph.ops import BY_NAME, COMPARISONS

__all__ = ["as_double", "compared", "folded", "is_flag", "result"]


def is_flag(value: float) -> bool:
    """Whether a number is what a comparison gives: 1, or the 0 without a sign."""
    return value == 1 or (value == 0 and math.copysign(1, value) == 1)


def compared(kind: str, x: float, y: float) -> bool:
    """Whether a comparison of two doubles holds."""
    holds = BY_NAME[kind].exact
    assert holds is not None
    return bool(holds(x, y))


def folded(kind: str, values: Sequence[float]) -> float | None:
    """The result of an operation on doubles where it is exactly a double; else None."""
    if kind in COMPARISONS:
        return float(compared(kind, *values))
    if not all(map(math.isfinite, values)):
        return None
    exact = result(kind, [Fraction(value) for value in values])
    return as_double(exact) if exact else None  # a zero has a sign, which a fraction lacks


def as_double(value: Fraction) -> float | None:
    """The double that is exactly this number, if one is."""
    try:
        double = float(value)
    except OverflowError:
        return None
    return double if Fraction(double) == value else None


def result(kind: str, values: Sequence[Fraction]) -> Fraction | None:
    """The exact result, where it is rational."""
    exact = BY_NAME[kind].exact
    try:
        rational = None if exact is None else exact(*values)
    except ZeroDivisionError:
        return None
    return Fraction(rational) if isinstance(rational, int) else rational
