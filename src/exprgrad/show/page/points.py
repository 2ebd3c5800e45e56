"""Points in the plane on two sides, for networks to tell apart: circles, moons and a spiral.

They lie where a formula puts them, each a little aside, and are the same every time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import cos, pi, sin
from random import Random

__all__ = ["SETS", "columns"]

COUNT = 16
"""How many points are on each side."""
ASIDE = 0.05
"""How far a point lies aside, in the mean, each way."""
PLACES = 2
"""The decimal places of a point."""

Point = tuple[float, float]


def circles(part: float, side: int) -> Point:
    """A point on the inner or the outer one of two circles, at a part of the way around."""
    radius, angle = (0.6, 1.4)[side], 2 * pi * part * (COUNT - 1) / COUNT
    return radius * cos(angle), radius * sin(angle)


def moons(part: float, side: int) -> Point:
    """A point on one of two half circles, each of which ends within the other."""
    across, up = cos(pi * part) - 0.5, sin(pi * part) - 0.25
    return (1.2 * across, 1.2 * up) if side else (-1.2 * across, -1.2 * up)


def spiral(part: float, side: int) -> Point:
    """A point on one of the two arms of a spiral, which turns once around."""
    radius, angle = 0.25 + 1.3 * part, 2 * pi * part + pi * side
    return radius * cos(angle), radius * sin(angle)


SETS: dict[str, Callable[[float, int], Point]] = {
    "circles": circles,
    "moons": moons,
    "spiral": spiral,
}
"""By name the points of a part of the way, from 0 to 1, on side 0 or 1."""


def columns(name: str) -> tuple[list[float], list[float], list[float]]:
    """A set's columns: to the right, up, and the side, which is -1 or 1."""
    across, up, sides = zip(*points(SETS[name]), strict=True)
    return [*across], [*up], [*sides]


def points(place: Callable[[float, int], Point]) -> Iterator[tuple[float, float, float]]:
    """The points of a set, each a little aside."""
    chance = Random(1)
    for side in (0, 1):
        for at in range(COUNT):
            x, y = (
                round(middle + chance.gauss(0, ASIDE), PLACES)
                for middle in place(at / (COUNT - 1), side)
            )
            yield x, y, 2.0 * side - 1
