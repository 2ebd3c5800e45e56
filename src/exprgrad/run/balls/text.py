"""Balls as decimal numbers.  Nothing here makes a ball, so nothing asks for python-flint."""

from __future__ import annotations

from typing import Any

__all__ = ["bounds", "nearest", "scientific"]


def bounds(x: Any, digits: int = 20) -> tuple[str, str] | None:
    """Decimal numbers with so many digits below and above whatever a ball holds; None if nobody knows."""
    if not x.is_finite():
        is_infinite = x.is_exact() and not x.is_nan()
        return (str(float(x)),) * 2 if is_infinite else None
    middle, radius, exponent = (int(part) for part in x.mid_rad_10exp(digits))
    return scientific(middle - radius, exponent), scientific(middle + radius, exponent)


def nearest(x: Any, digits: int) -> str:
    """The middle of a finite ball with so many significant digits."""
    middle, _, exponent = (int(part) for part in x.mid_rad_10exp(digits))
    surplus = max(len(str(abs(middle))) - digits, 0)
    unit = 10**surplus
    shorter = (2 * abs(middle) + unit) // (2 * unit)
    return scientific(shorter if middle >= 0 else -shorter, exponent + surplus)


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
