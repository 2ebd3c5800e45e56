"""A curve with what is worth a mark on it: as a picture, on a terminal, as JSON and CSV.

A picture has a frame for the value and one for each derivative; on a terminal each is a panel in braille.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from operator import attrgetter
from pathlib import Path
from typing import Any

from exprgrad.show.documents.document import Lines
from exprgrad.show.picture.picture import notebook, put
from exprgrad.show.picture.plots import Frame, Layer, Note, dots, line, plot, plot_format, rule
from exprgrad.show.text.canvas import FAINT, Canvas, axis, framed
from exprgrad.show.text.lines import all_shows, decimal, narrowed, signed
from exprgrad.show.text.table import Column, Screen, Table, plain, tabulated
from exprgrad.solvers.curves.curve import Arc, Curve, Feature
from exprgrad.source import cut, printable

__all__ = [
    "COLORS",
    "LONGEST_TITLE",
    "MARKERS",
    "MARKS",
    "NO_VALUE",
    "TICK_CELLS",
    "TICK_ROWS",
    "Plot",
]  # fmt: skip

SHARES = (1.0, 0.7, 0.6)
ROLES = ("data", "grad", "ink")
"""What the value and the derivatives are drawn as."""
MOST_NOTED = 24
"""So many places are noted with their numbers; others are marked alone."""
NOTED_DIGITS = 4
LONGEST_TITLE = 70
MARKERS = {
    "root": ("o", False), "inflection": ("D", False), "minimum": ("v", True), "maximum": ("^", True),
    "kink": ("D", True), "cusp": ("D", True), "edge": ("o", True), "hole": ("o", False),
    "saddle": ("X", True), "flat": ("D", False),
}  # fmt: skip
"""The dot of a feature, or of a surface's critical point, and whether it is filled."""
RANKS = (
    "inflection", "root", "edge", "hole", "minimum", "maximum", "jump", "cusp", "kink", "pole",
)  # fmt: skip
"""Where several features are in one place, the last of them is drawn; and it is noted before others."""
LEAST_SIZE = 1e-250
"""Matplotlib takes for 0 what is not much smaller."""
PRINTED_ROWS = 24


class Plot:
    """A plot: of ``curve``, up to the derivative of an ``order``; it prints as on a terminal.

    A notebook shows it drawn.  What is known of the curve, such as its roots, are ``features``.
    """

    def __init__(self, curve: Curve, order: int = 1) -> None:
        self.curve = curve
        self.order = order

    @property
    def features(self) -> list[Feature]:
        """What is worth a mark, from left to right: roots, extrema, inflections, kinks, poles."""
        return self.curve.features

    def at(self, *kinds: str) -> list[float]:
        """Where the features of some kinds are: ``at("root")``, ``at("minimum", "maximum")``."""
        return [one.x for one in self.features if one.kind in kinds]

    def svg(self, look: str | None = None) -> str:
        """The picture as SVG, ``light`` or ``dark``, by default as the page is that it stands on.

        Raises ``MissingExtraError`` without Matplotlib.
        """
        return self.drawn("svg", look).decode()

    def save(self, path: str | Path, look: str | None = None) -> None:
        """Write the picture to a ``.svg``, ``.png`` or ``.pdf`` file; ``look`` is as in ``svg``."""
        put(self.drawn(plot_format(path), look), path)

    def drawn(self, format: str, look: str | None = None) -> bytes:
        """The bytes of a file."""
        return plot(self.frames(), format, look)

    def frames(self) -> list[Frame]:
        """What is drawn, one frame below the other."""
        found = self.curve
        titles = derivative_names(printable(found.name))
        titles[0] = f"f = {cut(printable(found.text), LONGEST_TITLE)}"
        frames = []
        for at in range(self.order + 1):
            low, high = found.windows[at]
            size = max(abs(low), abs(high))
            if size < LEAST_SIZE:
                power = math.floor(math.log10(size))
                found = enlarged(found, at, power)
                low, high = found.windows[at]
                titles[at] += f"   (times {signed(float(f'1e{power}'), 1)})"
            margin = 2 * MARGIN * (high / 2 - low / 2)
            frames.append(
                Frame(
                    [*layers(found, at)],
                    titles[at],
                    x_label=printable(found.name) if at == self.order else "",
                    x_range=(found.low, found.high),
                    y_range=(low - margin, high + margin),
                    share=SHARES[at],
                    role=ROLES[at],
                )
            )
        return frames

    def fields(self) -> Iterator[tuple[str, Any]]:
        """The fields of the JSON object."""
        found = self.curve
        yield "inputs", found.given
        yield "ranges", {found.name: [found.low, found.high]}
        yield "shown", [found.windows[0][0], found.windows[0][1]]
        for field, kinds in GROUPS.items():
            yield (
                field,
                Lines(feature_fields(one, field) for one in found.features if one.kind in kinds),
            )
        yield "dense", [[low, high] for low, high in found.dense]
        if found.tangent:
            at, value, slope = found.tangent
            yield "tangent", {"at": at, "value": value, "slope": slope}
        yield (
            "samples",
            Lines(
                {
                    "input": piece.x,
                    **dict(zip(DERIVATIVES[: self.order + 1], piece[1:], strict=False)),
                }
                for piece in found.arcs
            ),
        )

    def rows(self) -> Iterator[list[Any]]:
        """The samples as CSV: the input, the value, its derivatives, and which piece of the curve it is."""
        yield [self.curve.name, *["f", "df", "d2f"][: self.order + 1], "piece"]
        for at, piece in enumerate(self.curve.arcs, 1):
            for row in zip(*piece[: self.order + 2], strict=True):
                yield [*row, at]

    def lines(self) -> Iterator[tuple[str, Any]]:
        """What ``-q`` prints: the features, such as ``root=0.0``."""
        return ((one.kind, one.x) for one in self.features)

    @property
    def emptiness(self) -> str:
        """Why there is nothing to draw, if there is nothing."""
        return "" if self.curve.arcs else NO_VALUE

    def parts(self, digits: int, screen: Screen, rows: int, *, whole: bool) -> list[str | Table]:
        """What people read on a terminal, the panels in so many rows."""
        found = self.curve
        picture = "\n".join(panels(found, self.order, screen, rows))
        table = feature_table(found, digits, whole=whole)
        return [picture, "", table] if table.rows else [picture, *filter(None, [table.foot])]

    def __str__(self) -> str:
        parts = self.parts(6, Screen(80), PRINTED_ROWS, whole=False)
        return "\n".join(part if isinstance(part, str) else plain(part) for part in parts)

    __repr__ = __str__

    def _repr_svg_(self) -> str | None:
        return self._repr_mimebundle_().get("image/svg+xml")

    def _repr_mimebundle_(self, **options: Any) -> dict[str, str]:
        return notebook(str(self), self.svg)


def enlarged(found: Curve, order: int, power: int) -> Curve:
    """A curve whose value, or a derivative, is divided by a power of ten, for Matplotlib takes it for 0."""

    def divided(number: float) -> float:
        return number * 10.0 ** (-power // 2) * 10.0 ** (-power - -power // 2)

    def arc(one: Arc) -> Arc:
        columns = [*one]
        columns[order + 1] = [*map(divided, columns[order + 1])]
        return Arc(*columns)

    windows = [*found.windows]
    windows[order] = divided(windows[order][0]), divided(windows[order][1])
    features = [one._replace(value=divided(one.value)) for one in found.features if not order]
    return found._replace(
        arcs=[*map(arc, found.arcs)], windows=windows, features=features or found.features
    )


def layers(found: Curve, order: int) -> Iterator[Layer | Note]:
    """What is drawn of the value, or of a derivative."""
    low, high = found.windows[order]
    if low < 0 < high:
        yield rule(y=0.0)
    marked = found.features if len(found.features) <= MOST_MARKED else []
    for one in marked:
        if one.kind == "pole" or (one.kind == "cusp" and order):
            yield rule(x=one.x, dashes=":")
    reach = 2 * (high - low)
    for piece in found.arcs:
        values = (piece.value, piece.slope, piece.second)[order]
        shown = [y if abs(y) < math.inf else math.nan for y in values]
        inside = [min(max(y, low - reach), high + reach) for y in shown]
        yield line(piece.x, inside, ROLES[order])
    if order:
        return
    if found.tangent:
        ends = found.low, found.high
        yield line(ends, [found.tangent.at(x) for x in ends], "ink", "--", 1.0)
        yield dots([found.tangent.x], [found.tangent.value], "ink", size=3.5)
    tops = {one.x: one for one in sorted(marked, key=lambda one: RANKS.index(one.kind))}
    ranked = sorted(tops.values(), key=lambda one: -RANKS.index(one.kind))
    for one in ranked:
        if one.kind == "jump":
            yield from jump(one)
        elif one.kind != "pole" and low <= one.value <= high:
            shape, filled = MARKERS[one.kind]
            yield dots([one.x], [one.value], "ink", shape, filled)
    for one in ranked[:MOST_NOTED]:
        height = low if one.kind == "pole" else one.value
        if math.isfinite(height):
            yield Note(one.x, height, words(one))
    if not found.arcs:
        yield Note(found.low / 2 + found.high / 2, low / 2 + high / 2, "no value in this range")


def jump(one: Feature) -> Iterator[Layer | Note]:
    """The ends of a curve at a jump: filled where the formula has that value."""
    for end in (one.left, one.right):
        yield dots([one.x], [end], "data", "o", end == one.value, 4.5)


def words(one: Feature) -> str:
    """What is noted at a feature."""
    x, value, left, right = (
        signed(number, NOTED_DIGITS).replace("inf", "∞")
        for number in (one.x, one.value, one.left, one.right)
    )
    if one.kind == "root":
        return x
    if one.kind == "pole":
        return f"x = {x}"
    if one.kind in ("kink", "cusp"):
        return f"slopes {left}, {right}"
    return f"({x}, {value})"


# On a terminal.


GLYPHS = {
    "root": "○", "inflection": "◇", "minimum": "▼", "maximum": "▲", "kink": "◆", "cusp": "◆",
    "jump": "●", "edge": "●", "hole": "◌", "pole": "┊",
}  # fmt: skip
"""The mark of a feature; where two are in one place, the later of them is drawn."""
COLORS = ("36", "33", "35")
"""What a terminal is told, for the value and for each derivative."""
MARKS = {**dict.fromkeys("○▼▲◇◆●◌", "1"), **dict.fromkeys("┊┈", FAINT)}
PANEL_SHARES = {1: (1.0,), 2: (0.6, 0.4), 3: (0.44, 0.28, 0.28)}
"""What part of the rows each panel has."""
LEAST_ROWS = 4
NARROWEST = 20
"""The fewest cells of a panel."""
TICK_ROWS, TICK_CELLS = 3, 12
"""One tick to so many rows, and to so many cells."""
MOST_MARKED = 60
"""So many features are marked on the picture; of more, none are, for nothing else could be seen."""
MOST_FEATURES = 24
"""So many features are listed, unless all are asked for."""
MARGIN = 0.03
"""What is shown beyond the least and the greatest value: a part of the height."""
NO_VALUE = "there is nothing to draw: the formula has no value in this range"


def derivative_names(name: str) -> list[str]:
    """What the value and the derivatives are called in short."""
    return ["f", f"df/d{name}", f"d²f/d{name}²"]


def panels(found: Curve, order: int, screen: Screen, rows: int) -> list[str]:
    """The lines of the panels, in so many rows."""
    width = screen.width or 80
    rest = rows - 2 * (order + 1) - 1
    heights = [max(LEAST_ROWS, int(rest * share)) for share in PANEL_SHARES[order + 1]]
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
        canvas = Canvas(columns, height, x, y)
        fill(canvas, found, at)
        color = COLORS[at] if screen.color else ""
        title = narrowed([titles[at], cut(titles[at], width)], width)
        lines += framed(title, canvas, margin, color, MARKS, numbers=at == order)
    return lines


def fill(canvas: Canvas, found: Curve, order: int) -> None:
    """Draw on a panel's canvas: the line of 0, poles and jumps, the curve, and the marks on it."""
    x, y = canvas.x, canvas.y
    middles = [x.middle(column, canvas.columns) for column in range(canvas.columns)]
    if y.low < 0 < y.high:
        for at in middles:
            canvas.letter(at, 0.0, "┈")
    marked = found.features if len(found.features) <= MOST_MARKED else []
    for one in marked:
        if one.kind == "pole" or (one.kind == "cusp" and order):
            for row in range(canvas.rows):
                canvas.letter(one.x, y.middle(row, canvas.rows), GLYPHS["pole"])
    if found.tangent and order == 0:
        for at in middles[::2]:
            canvas.letter(at, found.tangent.at(at), "╌")
    for arc in found.arcs:
        canvas.line(zip(arc.x, (arc.value, arc.slope, arc.second)[order], strict=True))
    for one in sorted(marked, key=lambda one: [*GLYPHS].index(one.kind)) if order == 0 else ():
        if one.kind != "pole":
            canvas.letter(one.x, one.value, GLYPHS[one.kind])


def feature_table(found: Curve, digits: int, *, whole: bool = False) -> Table:
    """The features, a line each: what, where, the value, and the slope or the two sides."""

    columns = [
        Column("point", lambda one: f"{GLYPHS[one.kind]} {one.kind}"),
        Column(printable(found.name), attrgetter("x"), is_number=True),
        Column("f", value_of, is_number=True, style="green"),
        Column(
            derivative_names(printable(found.name))[1],
            lambda one: slope_words(one, digits),
            style="yellow",
            flexible=True,
        ),
    ]
    features, left_out = found.features, len(found.features) - MOST_FEATURES
    foot = dense_words(found, digits)
    if left_out > 0 and not whole:
        features = features[:MOST_FEATURES]
        foot = "\n".join(filter(None, [f"… {left_out:,} more; {all_shows()} them", foot]))
    return tabulated(columns, features, digits, whole=True, foot=foot)


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


# Features as JSON has them.


GROUPS = {
    "roots": ("root",), "extrema": ("minimum", "maximum"), "inflections": ("inflection",),
    "kinks": ("kink", "cusp"), "jumps": ("jump",), "poles": ("pole",), "edges": ("edge",),
    "holes": ("hole",),
}  # fmt: skip
"""The field of each sort of feature."""
OF_VALUE = {"jumps", "poles", "holes"}
"""Those whose two sides are limits of the value; the others' are slopes."""
SEVERAL_KINDS = {"extrema", "kinks"}
"""Those of several kinds."""
DERIVATIVES = ("value", "derivative", "second_derivative")


def feature_fields(one: Feature, field: str) -> dict[str, Any]:
    """A feature as JSON has it."""
    kind = {"kind": one.kind} if field in SEVERAL_KINDS else {}
    if field == "roots":
        return {"at": one.x}
    sides = {"left": one.left, "right": one.right}
    return {
        "at": one.x,
        **kind,
        "value": one.value,
        ("limits" if field in OF_VALUE else "slopes"): sides,
    }
