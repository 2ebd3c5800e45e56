"""The table of equations and their roots, and what is right, wrong or unproved of an answer."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

from corpus import table
from exprgrad.solvers.roots.solve import Root, Solution

NEAR = 1e-12
"""To what part of itself a root that is not proved has to be right."""
TINY = 1e-30
"""The same of a root that is 0."""
LISTED = Fraction(1, 10**24)
"""To what part of itself a root is known that the table lists."""

Place = tuple[Fraction, ...]


class Equation(NamedTuple):
    """Equations, starts or ranges by unknown as they are typed, all roots, and what is special."""

    text: str
    values: dict[str, str]
    roots: tuple[Place, ...]
    note: str

    @property
    def is_range(self) -> bool:
        """Whether all roots are looked for."""
        return any(":" in value for value in self.values.values())


def equations() -> list[Equation]:
    """The rows of ``tests/cases/roots.txt``."""
    return [equation(*row) for row in table("roots.txt")]


def equation(text: str, values: str, roots: str, note: str = "") -> Equation:
    """A row."""
    given = dict(pair.split("=", 1) for pair in values.split())
    points = [] if roots == "none" else roots.split(", ")
    places = [tuple(map(Fraction, point.strip("()").split())) for point in points]
    return Equation(text, given, tuple(places), note)


def verdict(found: Solution, true: Equation) -> str:
    """``right``: all is found and proved; ``unproved``: what is said is true; else what is wrong."""
    held: set[Place] = set()
    for root in found.roots:
        wrong = wrong_of(root, true.roots)
        if wrong:
            return wrong
        held |= {place for place in true.roots if is_near(place, root)}
    missing = [place for place in true.roots if place not in held]
    if found.excluded and true.roots:
        return "a root is excluded"
    if found.is_whole and true.is_range and not all(is_undecided(p, found) for p in missing):
        return "a root is missing"
    if not true.roots:
        return "right" if found.excluded else "unproved"
    is_whole = found.roots and not (true.is_range and (missing or found.undecided))
    return "right" if is_whole and all(root.proved for root in found.roots) else "unproved"


def wrong_of(root: Root, places: Sequence[Place]) -> str:
    """What is wrong with a root, if anything."""
    near = [place for place in places if is_near(place, root)]
    if not near:
        return f"there is no root at {root.point}"
    if not root.proved:
        return ""
    if sum(encloses(root, place) for place in places) != 1:
        return f"{root.enclosure} does not hold one root"
    doubles = [float(x) for x in near[0]]
    return "" if doubles == [*root.point.values()] else f"{root.point} is not the nearest double"


def is_near(place: Place, root: Root) -> bool:
    """Whether a root is this one."""
    return all(
        abs(float(x) - y) <= max(NEAR * abs(float(x)), TINY * (x == 0))
        for x, y in zip(place, root.point.values(), strict=True)
    )


def encloses(root: Root, place: Place) -> bool:
    """Whether an enclosure holds a root, as far as that one is known."""
    return all(
        Fraction(low) - LISTED * abs(x) <= x <= Fraction(high) + LISTED * abs(x)
        for x, (low, high) in zip(place, root.enclosure.values(), strict=True)
    )


def is_undecided(place: Place, found: Solution) -> bool:
    """Whether a root lies where it is said that there may be one."""
    return any(
        all(low <= x <= high for x, (low, high) in zip(place, box.values(), strict=True))
        for box in found.undecided
    )
