"""A formula over two inputs on a terminal: contours in braille, arrows along the gradient, and a table."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise

from exprgrad.show.text.canvas import Axis, Canvas, Panel, axis, framed, ticks
from exprgrad.show.text.curves import COLORS, FAINT, MARKS, NO_VALUE, TICK_CELLS, TICK_ROWS
from exprgrad.show.text.lines import narrowed
from exprgrad.show.text.table import Column, Screen, Table, tabulated
from exprgrad.show.text.views import decimal
from exprgrad.solvers.curves.plane import Critical, Plane
from exprgrad.source import cut, printable

__all__ = ["CRITICAL_GLYPHS", "levels", "plane_parts", "way"]

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


def plane_parts(found: Plane, digits: int, screen: Screen, rows: int) -> list[str | Table]:
    """What people read: the map, and the table of the points where the gradient is 0."""
    lines = drawn_map(found, screen, rows)
    table = critical_table(found, digits)
    foot = "\n".join(
        filter(None, [level_words(found, screen.width or 80), *path_words(found, digits)])
    )
    if table.rows:
        return ["\n".join(lines), "", table._replace(foot=foot)]
    return ["\n".join(lines), "", foot]


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
    canvas = Canvas(columns, height)
    for level in levels(found):
        for start, stop in contour(found, level):
            canvas.line([(x.part(start[0]), y.part(start[1])), (x.part(stop[0]), y.part(stop[1]))])
    arrows(found, canvas, x, y)
    path = [(x.part(a), y.part(b)) for a, b in way(found)]
    canvas.line(path)
    for a, b in path:
        canvas.letter(a, b, PATH_GLYPH)
    for one in found.critical:
        canvas.letter(x.part(one.x), y.part(one.y), CRITICAL_GLYPHS[one.kind])
    title = narrowed([text := f"f = {printable(found.text)}", cut(text, width)], width)
    marks = {**MARKS, **dict.fromkeys(WAYS, "33"), PATH_GLYPH: "1", "✕": "1"}
    return framed(
        Panel(title, canvas, x, y), margin, COLORS[0] if screen.color else "",
        FAINT if screen.color else "", marks if screen.color else {}, numbers=True,
    )  # fmt: skip


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


def arrows(found: Plane, canvas: Canvas, x: Axis, y: Axis) -> None:
    """The gradient's directions on a canvas, where there is room for one."""
    taken: set[tuple[int, int]] = set()
    scale = [1 / (high - low) for low, high in found.spans]
    for one in found.field:
        row, column = canvas.cell(x.part(one.x), y.part(one.y))
        slot = 2 * row // ARROW_SPACE, column // ARROW_SPACE
        if slot not in taken:
            taken.add(slot)
            turn = math.atan2(
                one.dy * scale[1] * canvas.rows * 2, one.dx * scale[0] * canvas.columns
            )
            way = WAYS[round(turn / math.tau * len(WAYS)) % len(WAYS)]
            canvas.letter(x.part(one.x), y.part(one.y), way)


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
    columns = [Column("point"), *(Column(printable(name), is_number=True) for name in found.names)]

    def row(one: Critical) -> Sequence[object]:
        return [f"{CRITICAL_GLYPHS[one.kind]} {one.kind}", one.x, one.y, one.value]

    columns.append(Column("f", is_number=True, style="green"))
    return tabulated(columns, found.critical, row, digits, what="points")


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
