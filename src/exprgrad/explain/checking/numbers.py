"""Numbers in the messages of checks: six digits, what two need to be told apart, how many they share."""

from __future__ import annotations

import math

from exprgrad.language.write.infix import number
from exprgrad.run.balls.balls import Ball
from exprgrad.run.balls.text import nearest

__all__ = ["FULL", "apart", "balls_apart", "decimal", "digits_of", "short"]

SHORT = 6
"""The digits of a number in a message."""
FULL = 16
"""So many digits are shared by doubles that are equal: rounding allows no more to be said of a number.

That is one less than the 17 of ``explain.digits``, which tell a double from its neighbours: there a number
is compared with the true one, here with another that is itself rounded.
"""


def short(value: float | None) -> str:
    """A number in a message."""
    return "none" if value is None else format(value + 0.0, f".{SHORT}g")


def apart(one: float, other: float) -> tuple[str, str]:
    """Two numbers in a message: short, or with all digits where it takes them to tell the two apart."""
    found = short(one), short(other)
    return found if found[0] != found[1] else (number(one), number(other))


def balls_apart(one: Ball, other: Ball) -> tuple[str, str]:
    """Two balls that do not meet, in a message: as doubles if these differ, else with the digits it takes.

    Where these would be very many, it says by how much the other is more or less.
    """
    doubles = float(one), float(other)
    if doubles[0] != doubles[1]:
        return apart(*doubles)
    if not doubles[0]:
        return decimal(one), decimal(other)
    for digits in (FULL + 1, 2 * FULL):
        found = nearest(one, digits), nearest(other, digits)
        if found[0] != found[1]:
            return found
    sort, by = ("more", other - one) if other > one else ("less", one - other)
    return decimal(one), f"{decimal(one)} and {decimal(by)} {sort}"


def decimal(ball: Ball) -> str:
    """A ball's middle in a message, whatever its size."""
    value = float(ball)
    if math.isfinite(value) and value:
        return short(value)
    mantissa, e, exponent = str(ball.mid().str(SHORT, radius=False)).partition("e")
    mantissa = mantissa.rstrip("0").rstrip(".") if "." in mantissa else mantissa
    return f"{mantissa}{e}{exponent}"


def digits_of(off: float, size: float) -> int:
    """How many leading decimal digits two numbers share that are ``off`` apart, of a size."""
    if off == 0:
        return FULL
    if not 0 < off < size:
        return 0
    return min(int(math.log10(size) - math.log10(off)), FULL)
