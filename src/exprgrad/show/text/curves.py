"""A curve on a terminal: panels for the value and for derivatives, and a table of what is marked."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from exprgrad.show.text.canvas import Axis, Canvas, Panel, axis, framed
from exprgrad.show.text.lines import all_shows, narrowed
from exprgrad.show.text.table import Column, Screen, Table, tabulated
from exprgrad.show.text.views import decimal
from exprgrad.solvers.curves.curve import Curve, Feature
from exprgrad.source import cut, printable

__all__ = [
    "COLORS", "FAINT", "GLYPHS", "MARGIN", "MARKS", "MOST_MARKED", "NO_VALUE", "TICK_CELLS", "TICK_ROWS",
    "curve_parts", "derivative_names",
]  # fmt: skip

GLYPHS = {
    "root": "○", "inflection": "◇", "minimum": "▼", "maximum": "▲", "kink": "◆", "cusp": "◆",
    "jump": "●", "edge": "●", "hole": "◌", "pole": "┊",
}  # fmt: skip
"""The mark of a feature; where two are in one place, the later of them is drawn."""
COLORS = ("36", "33", "35")
"""What a terminal is told, for the value and for each derivative."""
FAINT = "2"
MARKS = {**dict.fromkeys("○▼▲◇◆●◌", "1"), **dict.fromkeys("┊┈", FAINT)}
SHARES = {1: (1.0,), 2: (0.6, 0.4), 3: (0.44, 0.28, 0.28)}
"""What part of the rows each panel has."""
LEAST_ROWS = 4
NARROWEST = 20
"""The fewest cells of a panel."""
TICK_ROWS, TICK_CELLS = 3, 12
"""One tick to so many rows, and to so many cells."""
MOST_MARKED = 60
"""So many features are marked on the picture; of more, none are, for nothing else could be seen."""
MOST_LISTED = 24
"""So many features are listed, unless all are asked for."""
MARGIN = 0.03
"""What is shown beyond the least and the greatest value: a part of the height."""
PRIMES = ("", "′", "″")
NO_VALUE = "there is nothing to draw: the formula has no value in this range"


def derivative_names(name: str) -> list[str]:
    """What the value and the derivatives are called in short."""
    return ["f", f"df/d{name}", f"d²f/d{name}²"]


def curve_parts(
    found: Curve, order: int, digits: int, screen: Screen, rows: int, *, whole: bool = False
) -> list[str | Table]:
    """What people read of a curve: its panels up to an ``order``, and the table of its features."""
    picture = "\n".join(panels(found, order, screen, rows))
    table = feature_table(found, digits, whole=whole)
    if table.rows:
        return [picture, "", table]
    return [picture, *filter(None, [table.foot])]


def panels(found: Curve, order: int, screen: Screen, rows: int) -> list[str]:
    """The lines of the panels, in so many rows."""
    width = screen.width or 80
    rest = rows - 2 * (order + 1) - 1
    heights = [max(LEAST_ROWS, int(rest * share)) for share in SHARES[order + 1]]
    shown = [
        axis(low, high, height // TICK_ROWS + 2, margin=MARGIN)
        for (low, high), height in zip(found.windows, heights, strict=False)
    ]
    margin = max(len(text) for y in shown for _, text in y.ticks or ((0, ""),))
    columns = max(width - margin - 2, NARROWEST)
    x = axis(found.low, found.high, columns // TICK_CELLS + 1)
    titles = derivative_names(found.name)
    titles[0] = f"f = {printable(found.text)}"
    lines: list[str] = []
    for at, (y, height) in enumerate(zip(shown, heights, strict=True)):
        canvas = drawn_canvas(found, at, Canvas(columns, height), x, y)
        title = narrowed([f"{titles[at]}", cut(titles[at], width)], width)
        color = COLORS[at] if screen.color else ""
        lines += framed(
            Panel(title, canvas, x, y), margin, color, FAINT if screen.color else "",
            MARKS if screen.color else {}, numbers=at == order,
        )  # fmt: skip
    return lines


def drawn_canvas(found: Curve, order: int, canvas: Canvas, x: Axis, y: Axis) -> Canvas:
    """A panel's canvas: the line of 0, poles and jumps, the curve, and the marks on it."""
    if y.low < 0 < y.high:
        for column in range(canvas.columns):
            canvas.letter((column + 0.5) / canvas.columns, y.part(0.0), "┈")
    marked = found.features if len(found.features) <= MOST_MARKED else []
    for one in marked:
        if one.kind == "pole" or (one.kind == "cusp" and order):
            for row in range(canvas.rows):
                canvas.letter(x.part(one.x), (row + 0.5) / canvas.rows, GLYPHS["pole"])
    if found.tangent and order == 0:
        for column in range(0, canvas.columns, 2):
            part = (column + 0.5) / canvas.columns
            at = found.low * (1 - part) + found.high * part
            canvas.letter(part, y.part(found.tangent.at(at)), "╌")
    for arc in found.arcs:
        values = (arc.value, arc.slope, arc.second)[order]
        run: list[tuple[float, float]] = []
        for at, value in zip(arc.x, values, strict=True):
            if math.isfinite(value):
                run.append((x.part(at), y.part(value)))
            else:
                canvas.line(run)
                run = []
        canvas.line(run)
    for one in sorted(marked, key=lambda one: [*GLYPHS].index(one.kind)) if order == 0 else ():
        if one.kind != "pole":
            canvas.letter(x.part(one.x), y.part(one.value), GLYPHS[one.kind])
    return canvas


def feature_table(found: Curve, digits: int, *, whole: bool = False) -> Table:
    """The features, a line each: what, where, the value, and the slope or the two sides."""

    def row(one: Feature) -> Sequence[Any]:
        return [f"{GLYPHS[one.kind]} {one.kind}", one.x, value_of(one), slope_words(one, digits)]

    columns = [
        Column("point"),
        Column(printable(found.name), is_number=True),
        Column("f", is_number=True, style="green"),
        Column(derivative_names(printable(found.name))[1], style="yellow", flexible=True),
    ]
    features, left_out = found.features, len(found.features) - MOST_LISTED
    foot = dense_words(found, digits)
    if left_out > 0 and not whole:
        features = features[:MOST_LISTED]
        foot = "\n".join(filter(None, [f"… {left_out:,} more; {all_shows()} them", foot]))
    return tabulated(columns, features, row, digits, whole=True, foot=foot)


def value_of(one: Feature) -> float | None:
    """The value at a feature, if it has one."""
    return None if one.kind == "pole" or math.isnan(one.value) else one.value


def slope_words(one: Feature, digits: int) -> str:
    """The slope at a feature, or what comes from the two sides."""
    sides = {"left": one.left, "right": one.right}
    told = [f"{word} {decimal(x, digits)}" for word, x in sides.items() if not math.isnan(x)]
    if one.kind in ("pole", "jump", "hole"):
        return f"f: {', '.join(told)}"
    return decimal(one.right, digits) if one.left == one.right else ", ".join(told)


def dense_words(found: Curve, digits: int) -> str:
    """What is not marked, and where."""
    lines = []
    if found.tangent:
        x, value, slope = (decimal(number, digits) for number in found.tangent)
        at = x if not x.startswith("-") else f"({x})"
        lines.append(f"tangent at {found.name} = {x}: {value} + {slope}*({found.name} - {at})")
    for low, high in found.dense:
        ends = f"{decimal(low, digits)} and {decimal(high, digits)}"
        lines.append(f"between {ends} it turns or breaks more often than can be shown")
    if not found.arcs:
        lines.append(NO_VALUE)
    return "\n".join(lines)
