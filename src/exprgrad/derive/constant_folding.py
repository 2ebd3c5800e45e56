"""Arithmetic on constants, exact or not at all.

A fold must not change a number: it is made only where the exact result is itself a double, so that
evaluating the folded graph gives what evaluating the other gave, to the last bit.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from fractions import Fraction

__all__ = ["COMPARISONS", "folded", "is_flag", "result"]

COMPARISONS: dict[str, Callable[[float, float], bool]] = {
    "lt": operator.lt,
    "le": operator.le,
    "gt": operator.gt,
    "ge": operator.ge,
    "eq": operator.eq,
    "ne": operator.ne,
}
ARITHMETIC: dict[str, Callable[..., Fraction]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "div": operator.truediv,
    "neg": operator.neg,
    "abs": abs,
    "floor": lambda x: Fraction(math.floor(x)),
    "ceil": lambda x: Fraction(math.ceil(x)),
    "round": lambda x: Fraction(round(x)),
}
LARGEST_EXPONENT = 1100
"""A power beyond this is no double anyway."""


def is_flag(value: float) -> bool:
    """Whether a number is what a comparison gives: 1, or the 0 without a sign."""
    return value == 1 or (value == 0 and math.copysign(1, value) == 1)


def folded(kind: str, values: Sequence[float]) -> float | None:
    """The result of an operation on doubles where it is exactly a double; else None."""
    if kind in COMPARISONS:
        return float(COMPARISONS[kind](*values))
    if not all(map(math.isfinite, values)):
        return None
    exact = result(kind, [Fraction(value) for value in values])
    if not exact:  # a zero has a sign, which a fraction lacks
        return None
    try:
        found = float(exact)
    except OverflowError:
        return None
    return found if Fraction(found) == exact else None


def result(kind: str, values: Sequence[Fraction]) -> Fraction | None:
    """The exact result, where it is rational."""
    if kind == "div" and not values[1]:
        return None
    if kind == "pow":
        base, exponent = values
        if exponent.denominator != 1 or abs(exponent) > LARGEST_EXPONENT or not base:
            return None
        return base ** int(exponent)
    function = ARITHMETIC.get(kind)
    return None if function is None else function(*values)
