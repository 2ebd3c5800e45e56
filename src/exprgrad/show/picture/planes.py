"""A formula over two inputs as a picture: areas between contours, the gradient's field, what it is 0 at."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from exprgrad.show.documents.planes import plane_fields, plane_rows
from exprgrad.show.picture.curves import LONGEST_TITLE, Plot
from exprgrad.show.picture.plots import Dots, Field, Frame, Heat, Layer, Line, Note
from exprgrad.show.text.curves import NO_VALUE
from exprgrad.show.text.planes import levels, plane_parts, way
from exprgrad.show.text.table import Screen, Table
from exprgrad.show.text.views import signed
from exprgrad.solvers.curves.plane import Plane
from exprgrad.source import cut, printable

__all__ = ["Map"]

SHARE = 2.0
SHAPES = {
    "minimum": ("v", True),
    "maximum": ("^", True),
    "saddle": ("X", True),
    "flat": ("D", False),
}
MOST_NOTED = 16


class Map(Plot):
    """A plot over two inputs: contours of a ``plane``, with the field of the gradient."""

    def __init__(self, plane: Plane) -> None:
        self.plane = plane

    def at(self, *kinds: str) -> list[tuple[float, float]]:  # type: ignore[override]
        """Where the critical points of some kinds are: ``at("minimum")``, ``at("saddle")``."""
        return [(one.x, one.y) for one in self.plane.critical if one.kind in kinds]

    def frames(self) -> list[Frame]:
        """What is drawn: one frame."""
        found = self.plane
        return [
            Frame(
                [*layers(found)],
                f"f = {cut(printable(found.text), LONGEST_TITLE)}",
                printable(found.names[0]),
                printable(found.names[1]),
                x_range=found.spans[0],
                y_range=found.spans[1],
                share=SHARE,
                role="data",
            )
        ]

    def fields(self) -> Iterator[tuple[str, Any]]:
        """The fields of the JSON object."""
        return plane_fields(self.plane)

    def rows(self) -> Iterator[list[Any]]:
        """The lines of CSV."""
        return plane_rows(self.plane)

    def lines(self) -> Iterator[tuple[str, Any]]:
        """What ``-q`` prints: the critical points, such as ``saddle=0.0,0.0``."""
        return ((one.kind, f"{one.x!r},{one.y!r}") for one in self.plane.critical)

    @property
    def emptiness(self) -> str:
        """Why there is nothing to draw, if there is nothing."""
        return "" if levels(self.plane) else NO_VALUE

    def parts(self, digits: int, screen: Screen, rows: int, *, whole: bool) -> list[str | Table]:
        """What people read on a terminal."""
        return plane_parts(self.plane, digits, screen, rows)


def layers(found: Plane) -> Iterator[Layer]:
    """The layers of the one frame, from back to front."""
    chosen = levels(found)
    if chosen:
        yield Heat(found.x, found.y, found.values, chosen)
    sized = [(one, math.hypot(one.dx, one.dy)) for one in found.field]
    arrows = [
        (one.x, one.y, one.dx / size, one.dy / size) for one, size in sized if 0 < size < math.inf
    ]
    if arrows:
        yield Field(*zip(*arrows, strict=True))
    if path := way(found):
        x, y = zip(*path, strict=True)
        yield Line(x, y, "ink", width=1.2)
        yield Dots(x, y, "ink", size=3.0)
    for one in found.critical:
        shape, filled = SHAPES[one.kind]
        yield Dots([one.x], [one.y], "ink", shape, filled, 6.0)
    for one in found.critical[:MOST_NOTED]:
        yield Note(one.x, one.y, signed(one.value, 4))
