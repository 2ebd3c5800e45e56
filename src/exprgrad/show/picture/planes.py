"""A formula over two inputs: as a picture, on a terminal, as JSON and CSV.

Shown are areas between contours, the gradient's field, where the gradient is 0, and a descent.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import pairwise
from operator import attrgetter
from typing import Any

from exprgrad.show.documents.document import Lines
from exprgrad.show.picture.curves import (
    COLORS,
    LONGEST_TITLE,
    MARKERS,
    MARKS,
    NO_VALUE,
    TICK_CELLS,
    TICK_ROWS,
    Plot,
)
from exprgrad.show.picture.plots import Frame, Layer, Note, dots, field, heat, line
from exprgrad.show.text.canvas import Canvas, axis, framed, ticks
from exprgrad.show.text.lines import decimal, narrowed, signed
from exprgrad.show.text.table import Column, Screen, Table, tabulated
from exprgrad.solvers.curves.sampling import Plane
from exprgrad.source import cut, printable

__all__ = ["Map", "levels", "way"]

SHARE = 2.0
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
        found = self.plane
        first, second = found.names
        yield "inputs", found.given
        yield "ranges", {name: [*span] for name, span in zip(found.names, found.spans, strict=True)}
        yield "shown", [*found.window]
        yield (
            "critical",
            Lines(
                {"at": {first: one.x, second: one.y}, "kind": one.kind, "value": one.value}
                for one in found.critical
            ),
        )
        if found.path:
            yield "path", Lines({first: x, second: y} for x, y in found.path)
            yield "message", found.ending
        yield "grid", {first: found.x, second: found.y}
        yield "values", Lines(found.values)

    def rows(self) -> Iterator[list[Any]]:
        """The grid as CSV: the two inputs, and the value."""
        yield [*self.plane.names, "f"]
        for y, row in zip(self.plane.y, self.plane.values, strict=True):
            for x, value in zip(self.plane.x, row, strict=True):
                yield [x, y, value]

    def lines(self) -> Iterator[tuple[str, Any]]:
        """What ``-q`` prints: the critical points, such as ``saddle=0.0,0.0``."""
        return ((one.kind, f"{one.x!r},{one.y!r}") for one in self.plane.critical)

    @property
    def emptiness(self) -> str:
        """Why there is nothing to draw, if there is nothing."""
        return "" if levels(self.plane) else NO_VALUE

    def parts(self, digits: int, screen: Screen, rows: int, *, whole: bool) -> list[str | Table]:
        """What people read on a terminal."""
        found = self.plane
        picture = "\n".join(drawn_map(found, screen, rows))
        table = critical_table(found, digits)
        words = [level_words(found, screen.width or 80), *path_words(found, digits)]
        foot = "\n".join(filter(None, words))
        return [picture, "", table._replace(foot=foot) if table.rows else foot]


def layers(found: Plane) -> Iterator[Layer | Note]:
    """The layers of the one frame, from back to front."""
    chosen = levels(found)
    if chosen:
        yield heat(found.x, found.y, found.values, chosen)
    sized = [(one, math.hypot(one.dx, one.dy)) for one in found.field]
    arrows = [
        (one.x, one.y, one.dx / size, one.dy / size) for one, size in sized if 0 < size < math.inf
    ]
    if arrows:
        yield field(*zip(*arrows, strict=True))
    if path := way(found):
        x, y = zip(*path, strict=True)
        yield line(x, y, "ink", width=1.2)
        yield dots(x, y, "ink", size=3.0)
    for one in found.critical:
        shape, filled = MARKERS[one.kind]
        yield dots([one.x], [one.y], "ink", shape, filled, 6.0)
    for one in found.critical[:MOST_NOTED]:
        yield Note(one.x, one.y, signed(one.value, 4))


# On a terminal.


CRITICAL_GLYPHS = {"minimum": "▼", "maximum": "▲", "saddle": "✕", "flat": "◇"}
"""The mark of a critical point."""
WAYS = "→↗↑↖←↙↓↘"
"""The directions of an arrow, from the right on to the left around."""
PATH_GLYPH = "●"
MOST_LEVELS = 12
EVEN = (0.15, 0.85)
"""Levels are at equal distances where half of the plane lies below such a part of the heights."""
LEVEL_PARTS = (0.02, 0.06, 0.12, 0.2, 0.3, 0.42, 0.55, 0.7, 0.85)
"""Else the levels are such that these parts of the plane lie below them."""
ARROW_SPACE = 6
"""One arrow to so many cells, and to half as many rows."""


def levels(found: Plane) -> list[float]:
    """The values that have a contour: round numbers, or such that parts of the plane lie between them."""
    low, high = found.window
    inside = sorted(x for row in found.values for x in row if low <= x <= high)
    if not inside:
        return []
    middle = (inside[len(inside) // 2] - low) / (high - low)
    even = [value for value, _ in ticks(low, high, MOST_LEVELS) if low < value < high]
    if EVEN[0] < middle < EVEN[1] and len(even) > 2:
        return even
    chosen = (inside[int(part * (len(inside) - 1))] for part in LEVEL_PARTS)
    return sorted({float(f"{value:.2g}") for value in chosen if low < value < high})


def drawn_map(found: Plane, screen: Screen, rows: int) -> list[str]:
    """The lines of the map, in so many rows."""
    width = screen.width or 80
    height = max(rows - 3, 8)
    spans = found.spans
    y = axis(*spans[1], height // TICK_ROWS + 2)
    margin = max([len(text) for _, text in y.ticks] + [1])
    columns = max(width - margin - 2, 20)
    x = axis(*spans[0], columns // TICK_CELLS + 1)
    canvas = Canvas(columns, height, x, y)
    for level in levels(found):
        for piece in contour(found, level):
            canvas.line(piece)
    arrows(found, canvas)
    path = way(found)
    canvas.line(path)
    for a, b in path:
        canvas.letter(a, b, PATH_GLYPH)
    for one in found.critical:
        canvas.letter(one.x, one.y, CRITICAL_GLYPHS[one.kind])
    marks = {**MARKS, **dict.fromkeys(WAYS, "33"), PATH_GLYPH: "1", "✕": "1"}
    color = COLORS[0] if screen.color else ""
    title = f"f = {printable(found.text)}"
    title = narrowed([title, cut(title, width)], width)
    return framed(title, canvas, margin, color, marks, numbers=True)


def way(found: Plane) -> list[tuple[float, float]]:
    """The points of the descent, as far as it does not run away from what is shown."""
    reach = [3 * (high - low) for low, high in found.spans]
    gone = (
        at
        for at, point in enumerate(found.path)
        if not all(
            low - far <= x <= high + far
            for x, (low, high), far in zip(point, found.spans, reach, strict=True)
        )
    )
    return found.path[: next(gone, len(found.path))]


def arrows(found: Plane, canvas: Canvas) -> None:
    """The gradient's directions on a canvas, where there is room for one."""
    taken: set[tuple[int, int]] = set()
    scale = [1 / (high - low) for low, high in found.spans]
    for one in found.field:
        row, column = canvas.cell(one.x, one.y)
        slot = 2 * row // ARROW_SPACE, column // ARROW_SPACE
        if slot not in taken:
            taken.add(slot)
            turn = math.atan2(
                one.dy * scale[1] * canvas.rows * 2, one.dx * scale[0] * canvas.columns
            )
            way = WAYS[round(turn / math.tau * len(WAYS)) % len(WAYS)]
            canvas.letter(one.x, one.y, way)


Place = tuple[float, float]


def contour(found: Plane, level: float) -> Iterator[tuple[Place, Place]]:
    """The straight pieces of a contour, cell by cell: Lorensen and Cline (1987), in a plane.

    In a cell whose corners lie on both sides twice, the middle says which corners belong together.
    """
    for (y0, below), (y1, above) in pairwise(zip(found.y, found.values, strict=True)):
        for at, (x0, x1) in enumerate(pairwise(found.x)):
            corners = below[at], below[at + 1], above[at + 1], above[at]
            if not min(corners) <= level < max(corners) or not all(map(math.isfinite, corners)):
                continue
            places = (x0, y0), (x1, y0), (x1, y1), (x0, y1)
            cuts = [
                cut_at(places[a], places[b], corners[a], corners[b], level)
                for a, b in ((0, 1), (1, 2), (2, 3), (3, 0))
                if (corners[a] <= level) != (corners[b] <= level)
            ]
            if len(cuts) == 4 and (sum(corners) / 4 <= level) == (corners[0] <= level):
                cuts = [*cuts[1:], cuts[0]]
            yield from zip(cuts[::2], cuts[1::2], strict=True)


def cut_at(start: Place, stop: Place, low: float, high: float, level: float) -> Place:
    """Where a level is met between two corners."""
    part = (level - low) / (high - low)
    return start[0] + part * (stop[0] - start[0]), start[1] + part * (stop[1] - start[1])


def critical_table(found: Plane, digits: int) -> Table:
    """The points where the gradient is 0, a line each."""
    first, second = map(printable, found.names)
    columns = [
        Column("point", lambda one: f"{CRITICAL_GLYPHS[one.kind]} {one.kind}"),
        Column(first, attrgetter("x"), is_number=True),
        Column(second, attrgetter("y"), is_number=True),
        Column("f", attrgetter("value"), is_number=True, style="green"),
    ]
    return tabulated(columns, found.critical, digits, what="points")


def level_words(found: Plane, width: int) -> str:
    """The values of the contours, as many as a line has room for."""
    words = [decimal(level, 3) for level in levels(found)]
    if not words:
        return NO_VALUE
    return narrowed([f"contours at {', '.join(words)}", f"{len(words)} contours"], width)


def path_words(found: Plane, digits: int) -> list[str]:
    """Where the descent ended, and how."""
    if not found.path:
        return []
    last = zip(found.names, found.path[-1], strict=True)
    place = ", ".join(f"{name} = {decimal(value, digits)}" for name, value in last)
    return [f"● descent: {len(found.path) - 1:,} steps to {place}; {found.ending}"]
