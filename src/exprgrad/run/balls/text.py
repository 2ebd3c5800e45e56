"""Balls as decimal numbers.  Nothing here makes a ball, so nothing asks for python-flint."""

from __future__ import annotations

from typing import Any

__all__ = ["bounds", "nearest", "rough", "scientific"]

LONGEST_EXPONENT = 7
"""The digits of an exponent that people are shown whole."""
MOST_EXPONENT = 10**9
"""The largest exponent that is written out: beyond it lie 0 and infinity."""


def bounds(x: Any, digits: int = 20) -> tuple[str, str] | None:
    """Decimal numbers with so many digits below and above whatever a ball holds; None if nobody knows."""
    if not x.is_finite():
        is_infinite = x.is_exact() and not x.is_nan()
        return (str(float(x)),) * 2 if is_infinite else None
    middle, radius, exponent = (int(part) for part in x.mid_rad_10exp(digits))
    return end(middle - radius, exponent, up=False), end(middle + radius, exponent, up=True)


def end(whole: int, exponent: int, *, up: bool) -> str:
    """A bound; one too near 0, or too far from it, to be written out gives way to one that is not."""
    if whole and abs(exponent) > MOST_EXPONENT:
        sign, outward = "-" * (whole < 0), (whole > 0) == up
        if exponent > 0:
            return f"{sign}inf" if outward else f"{sign}1e+{MOST_EXPONENT}"
        return f"{sign}1e-{MOST_EXPONENT}" if outward else "0"
    return scientific(whole, exponent)


def nearest(x: Any, digits: int) -> str | None:
    """The middle of a finite ball with so many significant digits; None beyond what is written out."""
    whole, exponent = rounded_middle(x, digits)
    return scientific(whole, exponent) if abs(exponent) <= MOST_EXPONENT else None


def rounded_middle(x: Any, digits: int) -> tuple[int, int]:
    """The middle of a finite ball as a whole number with so many digits, and the power of 10 beside it."""
    middle, _, exponent = (int(part) for part in x.mid_rad_10exp(digits))
    surplus = max(len(str(abs(middle))) - digits, 0)
    unit = 10**surplus
    shorter = (2 * abs(middle) + unit) // (2 * unit)
    return shorter if middle >= 0 else -shorter, exponent + surplus


def rough(x: Any, digits: int) -> str:
    """The middle of a finite ball for sentences: where even the exponent is long, ``10^-4.34e+399``."""
    whole, exponent = rounded_middle(x, digits)
    if abs(exponent) < 10**LONGEST_EXPONENT:
        return scientific(whole, exponent)
    return f"{'-' * (whole < 0)}10^{power_text(exponent)}"


def power_text(exponent: int) -> str:
    """A long exponent with three digits."""
    size = abs(exponent)
    lead = size.bit_length() * 30103 // 100000 - 2  # at most one more than three digits are left
    return scientific(-(size // 10**lead) if exponent < 0 else size // 10**lead, lead)


def scientific(whole: int, exponent: int) -> str:
    """whole times 10^exponent as Python writes a float: ``0.0125`` or ``1.25e-07``."""
    sign, text = ("-" if whole < 0 else ""), str(abs(whole))
    exponent += len(text) - 1
    text = text.rstrip("0")
    if not text:
        return "0"
    if -4 <= exponent < 0:
        return f"{sign}0.{'0' * (-exponent - 1)}{text}"
    if 0 <= exponent < 16:
        text = text.ljust(exponent + 1, "0")
        before, after = text[: exponent + 1], text[exponent + 1 :]
        return f"{sign}{before}.{after}" if after else f"{sign}{before}"
    return f"{sign}{text[0]}{'.' * bool(text[1:])}{text[1:]}e{exponent:+03d}"
