"""Arithmetic on constants, exact or not at all.

A fold must not change a number.  What is computed with has doubles for constants: a fold is made only where
the exact result is itself a double, so that evaluating the folded graph gives what evaluating the other
gave, to the last bit.  What people read has decimals, those that they typed: there 2.2 - 1 is 1.2, and a
fold is made where the exact result is what a double is written as.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from exprgrad.graph.ops import BY_NAME, COMPARISONS, PRODUCTS, SUMS

__all__ = [
    "EXACT_BELOW", "HALF", "ONE", "Exact", "as_decimal", "as_double", "as_typed", "compared", "folded",
    "is_flag", "magnitude", "ratio", "result", "to_power",
]  # fmt: skip

Exact = int | Fraction
"""A rational number.  A whole one is an int: that is added, compared and looked up many times faster."""

ONE: Exact = 1
HALF = Fraction(1, 2)
KEEPS_WHOLE = frozenset(kind for kind in SUMS | PRODUCTS if -1 not in BY_NAME[kind].powers)
"""What is whole of whole numbers; a quotient of ints would be a double."""
EXACT_BELOW = 2**53
"""Whole numbers up to here are doubles, and written as they are."""


def is_flag(value: float) -> bool:
    """Whether a number is what a comparison gives: 1, or the 0 without a sign."""
    return value == 1 or (value == 0 and math.copysign(1, value) == 1)


def compared(kind: str, x: float, y: float) -> bool:
    """Whether a comparison of two doubles holds."""
    holds = BY_NAME[kind].exact
    assert holds is not None
    return bool(holds(x, y))


def folded(kind: str, values: Sequence[float], *, typed: bool = False) -> float | None:
    """The result of an operation on doubles where it is exactly a double; else None.

    With ``typed`` the doubles, and the result, stand for the decimals that they are written as.
    """
    if kind in COMPARISONS:
        return float(compared(kind, *values))
    if not all(map(math.isfinite, values)):
        return None
    read, write = (as_typed, as_decimal) if typed else (Fraction, as_double)
    exact = result(kind, [read(value) for value in values])
    return write(exact) if exact else None  # a zero has a sign, which a fraction lacks


def as_typed(value: float) -> Exact:
    """The number that a finite double is written as."""
    if value.is_integer() and abs(value) <= EXACT_BELOW:
        return int(value)
    return simplest(Fraction(repr(value)))


def as_decimal(value: Exact) -> float | None:
    """The double whose shortest text is exactly this number, if one is."""
    if value.denominator == 1 and abs(value.numerator) <= EXACT_BELOW:
        return float(value.numerator)
    try:
        double = float(value)
    except OverflowError:
        return None
    return double if math.isfinite(double) and as_typed(double) == value else None


def as_double(value: Exact) -> float | None:
    """The double that is exactly this number, if one is."""
    try:
        double = float(value)
    except OverflowError:
        return None
    return double if Fraction(double) == value else None


def result(kind: str, values: Sequence[Exact]) -> Exact | None:
    """The exact result, where it is rational."""
    row = BY_NAME[kind]
    if row.exact is None:
        return None
    try:
        found = row.exact(*values if kind in KEEPS_WHOLE else map(Fraction, values))
    except ZeroDivisionError:
        return None
    return found if found is None else simplest(found)


def simplest(value: Exact) -> Exact:
    """A number, an int if it is whole."""
    return value.numerator if value.denominator == 1 else value


def magnitude(value: Exact) -> Exact:
    """A number without its sign."""
    return -value if value < 0 else value


def ratio(above: Exact, below: Exact) -> Exact:
    """A quotient."""
    return simplest(Fraction(above, below))


def to_power(base: Exact, power: Exact) -> Exact:
    """A number to a whole power."""
    return simplest(Fraction(base) ** int(power))
