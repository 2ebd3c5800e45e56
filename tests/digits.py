"""Whether a number is right in the digits that are shown."""

from __future__ import annotations

from oracles import Real, mp, mpf


def is_right(shown: float, true: Real, places: int) -> bool:
    """Whether a number is off by at most one unit in the last of so many places.

    Below the normal numbers doubles have fewer; beyond the largest stands infinity.
    """
    if abs(true) >= mp.ldexp(1, 1024):
        return bool(shown == mp.sign(true) * mp.inf)
    if not mp.isfinite(shown) or true == 0:
        return bool(shown == true)
    unit = mpf(10) ** (mp.floor(mp.log10(abs(true))) + 1 - places)
    return bool(abs(shown - true) <= max(unit, mp.ldexp(1, -1074)))
