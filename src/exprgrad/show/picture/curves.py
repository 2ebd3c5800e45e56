"""A formula over one input or two: as a picture, on a terminal, as JSON and CSV.

A curve has what is worth a mark on it, in a frame for the value and one for each derivative; on a terminal
each is a panel in braille.  A map has areas between contours, the gradient's field, where the gradient is
0, and a descent.
"""

from __future__ import annotations

import math
import re
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, cycle, pairwise
from operator import attrgetter
from types import MappingProxyType
from typing import Any

from exprgrad.show.documents.document import Lines
from exprgrad.show.picture.picture import Pictured, notebook_bundle
from exprgrad.show.picture.plots import (
    FAINT,
    Canvas,
    Frame,
    Layer,
    Note,
    arrow_layer,
    dot_layer,
    frame_canvas,
    heat_layer,
    line_layer,
    make_axis,
    plot_frames,
    round_ticks,
    rule_layer,
)
from exprgrad.show.text.lines import (
    decimal_text,
    first_that_fits,
    show_all_hint,
    signed_number,
    true_minus,
)
from exprgrad.show.text.table import Column, Screen, Table, make_table, plain_table
from exprgrad.solvers.curves.curve import Arc, Curve, Feature
from exprgrad.solvers.curves.sampling import Plane
from exprgrad.source import cut_text, printable_text

__all__ = ["PlaneMap", "Plot", "contour_levels", "contour_pieces"]

SHARES = (1.0, 0.7, 0.6)
ROLES = ("data", "grad", "ink")
"""The roles in which the value and the derivatives are drawn."""
DASHES = ("-", "--", ":", "-.")
"""The line styles of several curves, in turn."""
LONGEST_LABEL = 24
"""The most characters of a curve's label."""
MOST_NOTED = 24
"""The most places with a note of their numbers; others are only marked."""
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
"""The kinds of features by rank: the highest in a place is drawn, and is noted first."""
LEAST_SIZE = 1e-250
"""The least height of a curve that is drawn as it is: Matplotlib takes much smaller ones for 0."""
PRINTED_ROWS = 24


def last_statement(text: str) -> tuple[str, str]:
    """A formula's last statement, and the name that it gives, or nothing."""
    last = re.split("[;\n]", text.strip("; \n"))[-1]
    named = re.match(r"\s*([^\W\d]\w*)\s*=(?!=)", last)
    return last.strip(), named[1] if named else ""


def curve_title(text: str) -> str:
    """The formula that is drawn, called f unless its last statement has a name."""
    return "f = " * (not last_statement(text)[1]) + printable_text(text)


class Plot(Pictured):
    """A plot: of ``curve``, up to the derivative of an ``order``; it prints as on a terminal.

    A notebook shows it drawn.  What is known of the curve, such as its roots, are ``features``.  Pictures
    have the curves of ``others`` as well, by name.
    """

    def __init__(
        self, curve: Curve, order: int = 1, others: Mapping[str, Curve] = MappingProxyType({})
    ) -> None:
        self.curve = curve
        self.order = order
        self.others = others

    @property
    def curves(self) -> dict[str, Curve]:
        """The curves drawn, by label, within the same windows; that of the output is the last."""
        if not self.others:
            return {"f": self.curve}
        last, name = last_statement(self.curve.text)
        found = {**self.others, name or last: self.curve}
        spans = zip(*(one.windows for one in found.values() if one.arcs), strict=True)
        windows = [(min(low for low, _ in span), max(high for _, high in span)) for span in spans]
        return {name: one._replace(windows=windows or one.windows) for name, one in found.items()}

    @property
    def titles(self) -> list[str]:
        """The titles above the panels of the value and the derivatives."""
        name = printable_text(self.curve.name)
        if self.others:
            return [printable_text(self.curve.text), f"d/d{name}", f"d²/d{name}²"]
        return [curve_title(self.curve.text), *derivative_names(name)[1:]]

    @property
    def features(self) -> list[Feature]:
        """The features to mark, from left to right: roots, extrema, inflections, kinks, poles."""
        return self.curve.features

    def at(self, *kinds: str) -> list[float]:
        """Where the features of some kinds are: ``at("root")``, ``at("minimum", "maximum")``."""
        return [one.x for one in self.features if one.kind in kinds]

    def drawn(self, format: str, look: str | None = None) -> bytes:
        """The bytes of a file."""
        return plot_frames(self.frames(), format, look)

    def frames(self) -> list[Frame]:
        """The frames to draw, one below the other."""
        found, titles = self.curve, self.titles
        titles[0] = true_minus(cut_text(titles[0], LONGEST_TITLE))
        frames, curves = [], self.curves
        for at in range(self.order + 1):
            low, high = next(iter(curves.values())).windows[at]
            size = max(abs(low), abs(high))
            if size < LEAST_SIZE:
                power = math.floor(math.log10(size))
                curves = {name: enlarge_curve(one, at, power) for name, one in curves.items()}
                low, high = next(iter(curves.values())).windows[at]
                titles[at] += f"   (times {signed_number(float(f'1e{power}'), 1)})"
            margin = 2 * (MARGIN if at else NOTE_MARGIN) * (high / 2 - low / 2)
            layers = (
                curve_layers(
                    one,
                    at,
                    true_minus(cut_text(printable_text(name), LONGEST_LABEL)) * bool(self.others),
                    dashes,
                )
                for (name, one), dashes in zip(curves.items(), cycle(DASHES))
            )
            frames.append(
                Frame(
                    [*chain.from_iterable(layers)],
                    titles[at],
                    x_label=printable_text(found.name) if at == self.order else "",
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
        yield from {
            "inputs": found.given,
            "ranges": {found.name: [found.low, found.high]},
            "shown": [found.windows[0][0], found.windows[0][1]],
        }.items()
        for group, kinds in GROUPS.items():
            marked = (one for one in found.features if one.kind in kinds)
            yield group, Lines(feature_fields(one, group) for one in marked)
        yield "dense", [[low, high] for low, high in found.dense]
        lost = zip(DERIVATIVES, found.lost[: self.order + 1], strict=False)
        yield "lost", {name: count for name, count in lost if count}
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
    def missing(self) -> str:
        """Why there is nothing to draw, or how many points are left out."""
        curves = self.curves
        lost = [
            f"{count:,} of {name}"
            for called, found in curves.items()
            for name, count in zip(
                derivative_names(printable_text(found.name), called)[: self.order + 1],
                found.lost,
                strict=False,
            )
            if count
        ]
        if lost:
            return omitted_points_note(" and ".join(lost), self.curve.points)
        return "" if any(found.arcs for found in curves.values()) else NO_VALUE

    def parts(self, digits: int, screen: Screen, rows: int, *, whole: bool) -> list[str | Table]:
        """The parts shown on a terminal, with panels of ``rows`` rows."""
        curves, foot = self.curves, self.missing
        parts: list[str | Table] = [
            "\n".join(curve_panels(curves, self.titles, self.order, screen, rows))
        ]
        for name, found in curves.items():
            last = foot if found is [*curves.values()][-1] else ""
            table = feature_table(found, digits, last, whole=whole, called=name)
            parts += ["", table] if table.rows else filter(None, [table.foot])
        return parts

    def __str__(self) -> str:
        parts = self.parts(6, Screen(80), PRINTED_ROWS, whole=False)
        return "\n".join(part if isinstance(part, str) else plain_table(part) for part in parts)

    __repr__ = __str__

    def _repr_svg_(self) -> str | None:
        return self._repr_mimebundle_().get("image/svg+xml")

    def _repr_mimebundle_(self, **options: Any) -> dict[str, str]:
        return notebook_bundle(str(self), self.svg)


def enlarge_curve(found: Curve, order: int, power: int) -> Curve:
    """A curve whose value, or derivative, is divided by a power of ten: Matplotlib would take it for 0."""

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


def curve_layers(
    found: Curve, order: int, label: str = "", dashes: str = "-"
) -> Iterator[Layer | Note]:
    """The layers of the value, or of a derivative; a ``label`` is for the legend."""
    low, high = found.windows[order]
    if low < 0 < high:
        yield rule_layer(y=0.0)
    marked = found.features if len(found.features) <= MOST_MARKED else []
    for one in marked:
        if one.kind == "pole" or (one.kind == "cusp" and order):
            yield rule_layer(x=one.x, dashes=":")
    reach = 2 * (high - low)
    for at, piece in enumerate(found.arcs):
        values = (piece.value, piece.slope, piece.second)[order]
        shown = [y if abs(y) < math.inf else math.nan for y in values]
        inside = [min(max(y, low - reach), high + reach) for y in shown]
        named = label if at == order == 0 else ""
        yield line_layer(piece.x, inside, ROLES[order], dashes, label=named)
    if order:
        return
    if found.tangent:
        ends = found.low, found.high
        yield line_layer(ends, [found.tangent.at(x) for x in ends], "ink", "--", 1.0)
        yield dot_layer([found.tangent.x], [found.tangent.value], "ink", size=3.5)
    tops = {one.x: one for one in sorted(marked, key=lambda one: RANKS.index(one.kind))}
    ranked = sorted(tops.values(), key=lambda one: -RANKS.index(one.kind))
    for one in ranked:
        if one.kind == "jump":
            for end in (one.left, one.right):  # filled where the formula has that value
                yield dot_layer([one.x], [end], "data", "o", end == one.value, 4.5)
        elif one.kind != "pole" and low <= one.value <= high:
            shape, filled = MARKERS[one.kind]
            yield dot_layer([one.x], [one.value], "ink", shape, filled)
    for one in ranked[:MOST_NOTED]:
        height = low if one.kind == "pole" else one.value
        if math.isfinite(height):
            yield Note(one.x, height, feature_note(one))
    if not found.arcs:
        what = "digits are lost" if any(found.lost) else "no value in this range"
        yield Note(found.low / 2 + found.high / 2, low / 2 + high / 2, what)


def feature_note(one: Feature) -> str:
    """The note at a feature."""
    x, value, left, right = (
        signed_number(number, NOTED_DIGITS).replace("inf", "∞")
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
"""The mark of a feature; of two in one place the later in this list is drawn."""
COLORS = ("36", "33", "35")
"""The terminal's colour codes of the value and of each derivative."""
MARKS = {**dict.fromkeys("○▼▲◇◆●◌", "1"), **dict.fromkeys("┊┈", FAINT)}
PANEL_SHARES = {1: (1.0,), 2: (0.6, 0.4), 3: (0.44, 0.28, 0.28)}
"""Each panel's share of the rows, by the number of panels."""
LEAST_ROWS = 4
NARROWEST = 20
"""The fewest cells of a panel."""
TICK_ROWS, TICK_CELLS = 3, 12
"""The rows, and the cells, from one tick to the next."""
MOST_MARKED = 60
"""The most features marked on the picture; if there are more, none are, as they would hide the curve."""
MOST_FEATURES = 24
"""The most features listed without ``--all``."""
MARGIN = 0.03
"""The margin above and below the values, as a part of their range."""
NOTE_MARGIN = 0.13
"""The margin in a file, where notes are written above maxima and below minima."""
NO_VALUE = "there is nothing to draw: the formula has no value in this range"


def derivative_names(name: str, called: str = "f") -> list[str]:
    """The short names of the value and its derivatives."""
    called = cut_text(printable_text(called), LONGEST_LABEL)
    of = called if called.isidentifier() else f"({called})"
    return [called, f"d{of}/d{name}", f"d²{of}/d{name}²"]


def curve_panels(
    curves: Mapping[str, Curve], titles: Sequence[str], order: int, screen: Screen, rows: int
) -> list[str]:
    """The lines of the panels, ``rows`` in all; several curves bear their labels at their right ends."""
    found = next(iter(curves.values()))
    width = screen.width or 80
    rest = rows - 2 * (order + 1) - 1
    heights = [max(LEAST_ROWS, int(rest * share)) for share in PANEL_SHARES[order + 1]]
    shown = [
        make_axis(low, high, height // TICK_ROWS + 2, margin=MARGIN)
        for (low, high), height in zip(found.windows, heights, strict=False)
    ]
    margin = max(len(text) for y in shown for _, text in y.ticks or ((0, ""),))
    columns = max(width - margin - 2, NARROWEST)
    x = make_axis(found.low, found.high, columns // TICK_CELLS + 1)
    lines: list[str] = []
    for at, (y, height) in enumerate(zip(shown, heights, strict=True)):
        canvas = Canvas(columns, height, x, y)
        for label, one in curves.items():
            fill_panel(canvas, one, at)
            if len(curves) > 1 and one.arcs:
                write_label(canvas, one.arcs, at, cut_text(printable_text(label), columns // 4))
        color = COLORS[at] if screen.color else ""
        title = first_that_fits([titles[at], cut_text(titles[at], width)], width)
        lines += frame_canvas(title, canvas, margin, color, MARKS, numbers=at == order)
    return lines


def fill_panel(canvas: Canvas, found: Curve, order: int) -> None:
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


def write_label(canvas: Canvas, arcs: Sequence[Arc], order: int, label: str) -> None:
    """Write a curve's label on it, at the last point that is seen."""
    low, high = canvas.y.low, canvas.y.high
    points = (
        (a, b)
        for arc in arcs
        for a, b in zip(arc.x, (arc.value, arc.slope, arc.second)[order], strict=True)
        if low <= b <= high
    )
    for a, b in deque(points, maxlen=1):
        row, last = canvas.cell(a, b)
        for column, letter in enumerate(label, max(last - len(label) + 1, 0)):
            canvas.letters[row, column] = letter


def omitted_points_note(lost: str, points: int) -> str:
    """The note on points that are left out, with advice."""
    return (
        f"of {points:,} points {lost} are left out: rounding leaves them too few digits to be placed; "
        "grad prints the true numbers there"
    )


def feature_table(
    found: Curve, digits: int, missing: str, *, whole: bool = False, called: str = "f"
) -> Table:
    """The features, a line each: what, where, the value, and the slope or the two sides.

    What is ``missing`` from the picture is said below.
    """

    value, slope, _ = derivative_names(printable_text(found.name), called)
    columns = [
        Column("point", lambda one: f"{GLYPHS[one.kind]} {one.kind}"),
        Column(printable_text(found.name), attrgetter("x"), is_number=True),
        Column(
            value,
            lambda one: None if one.kind == "pole" or math.isnan(one.value) else one.value,
            is_number=True,
            style="green",
        ),
        Column(
            slope,
            lambda one: feature_slope_text(one, digits),
            style="yellow",
            flexible=True,
        ),
    ]
    features, left_out = found.features, len(found.features) - MOST_FEATURES
    foot = "\n".join(filter(None, [curve_remarks(found, digits), missing]))
    if left_out > 0 and not whole:
        features = features[:MOST_FEATURES]
        foot = "\n".join(filter(None, [f"… {left_out:,} more; {show_all_hint()} them", foot]))
    return make_table(columns, features, digits, whole=True, foot=foot)


def feature_slope_text(one: Feature, digits: int) -> str:
    """The slope at a feature, or what comes from the two sides."""
    sides = {"left": one.left, "right": one.right}
    told = [f"{word} {decimal_text(x, digits)}" for word, x in sides.items() if not math.isnan(x)]
    if one.kind in ("pole", "jump", "hole"):
        return f"f: {', '.join(told)}"
    return decimal_text(one.right, digits) if one.left == one.right else ", ".join(told)


def curve_remarks(found: Curve, digits: int) -> str:
    """Says which features are not marked, and where."""
    lines = []
    if found.tangent:
        x, value, slope = (decimal_text(number, digits) for number in found.tangent)
        at = x if not x.startswith("-") else f"({x})"
        lines.append(f"tangent at {found.name} = {x}: {value} + {slope}*({found.name} - {at})")
    for low, high in found.dense:
        ends = f"{decimal_text(low, digits)} and {decimal_text(high, digits)}"
        lines.append(f"between {ends} it turns or breaks more often than can be shown")
    if found.is_sparse:
        lines.append(
            "each point needs a search for roots: few were tried, and more may happen between them"
        )
    return "\n".join(lines)


# Features of a curve as JSON has them.


GROUPS = {
    "roots": ("root",), "extrema": ("minimum", "maximum"), "inflections": ("inflection",),
    "kinks": ("kink", "cusp"), "jumps": ("jump",), "poles": ("pole",), "edges": ("edge",),
    "holes": ("hole",),
}  # fmt: skip
"""The field of each sort of feature."""
OF_VALUE = {"jumps", "poles", "holes"}
"""The fields whose two sides are limits of the value; those of the others are slopes."""
SEVERAL_KINDS = {"extrema", "kinks"}
"""The fields that hold several kinds of features."""
DERIVATIVES = ("value", "derivative", "second_derivative")


def feature_fields(one: Feature, group: str) -> dict[str, Any]:
    """A feature as JSON has it."""
    kind = {"kind": one.kind} if group in SEVERAL_KINDS else {}
    if group == "roots":
        return {"at": one.x}
    sides = {"left": one.left, "right": one.right}
    return {
        "at": one.x,
        **kind,
        "value": one.value,
        ("limits" if group in OF_VALUE else "slopes"): sides,
    }


# Over two inputs.


MAP_SHARE = 2.0
ALIKE = 10.0
"""The largest ratio of two inputs' ranges that are drawn to the same scale."""
EVEN_SHARE = 1.25
"""The width of a map's frame over its height, about."""
MOST_ON_MAP = 16


class PlaneMap(Plot):
    """A plot over two inputs: contours of a ``plane``, with the field of the gradient."""

    def __init__(self, plane: Plane) -> None:
        self.plane = plane

    def at(self, *kinds: str) -> list[tuple[float, float]]:  # type: ignore[override]
        """Where the critical points of some kinds are: ``at("minimum")``, ``at("saddle")``."""
        return [(one.x, one.y) for one in self.plane.critical if one.kind in kinds]

    def frames(self) -> list[Frame]:
        """The one frame to draw; a descent is seen with equal scales where the inputs are alike."""
        found = self.plane
        across, up = (high - low for low, high in found.spans)
        even = bool(found.path) and ALIKE > up / across > 1 / ALIKE
        return [
            Frame(
                [*map_layers(found)],
                true_minus(cut_text(curve_title(found.text), LONGEST_TITLE)),
                printable_text(found.names[0]),
                printable_text(found.names[1]),
                x_range=found.spans[0],
                y_range=found.spans[1],
                share=min(MAP_SHARE, MAP_SHARE * EVEN_SHARE * up / across) if even else MAP_SHARE,
                role="data",
                even=even,
            )
        ]

    def fields(self) -> Iterator[tuple[str, Any]]:
        """The fields of the JSON object."""
        found = self.plane
        first, second = found.names
        yield from {
            "inputs": found.given,
            "ranges": dict(zip(found.names, found.spans, strict=True)),
            "shown": found.window,
            "critical": Lines(
                {"at": {first: one.x, second: one.y}, "kind": one.kind, "value": one.value}
                for one in found.critical
            ),
        }.items()
        if found.path:
            yield "path", Lines({first: x, second: y} for x, y in found.path)
            yield "message", found.ending
        yield from {
            "lost": {"value": found.lost} if found.lost else {},
            "grid": {first: found.x, second: found.y},
            "values": Lines(found.values),
        }.items()

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
    def missing(self) -> str:
        """Why there is nothing to draw, or how many points are left out."""
        if self.plane.lost:
            return omitted_points_note(
                f"{self.plane.lost:,}", len(self.plane.x) * len(self.plane.y)
            )
        return "" if contour_levels(self.plane) else NO_VALUE

    def parts(self, digits: int, screen: Screen, rows: int, *, whole: bool) -> list[str | Table]:
        """The map, the table of critical points, and the remarks below it."""
        found = self.plane
        picture = "\n".join(draw_plane_map(found, screen, rows))
        first, second = map(printable_text, found.names)
        columns = [
            Column("point", lambda one: f"{CRITICAL_GLYPHS[one.kind]} {one.kind}"),
            Column(first, attrgetter("x"), is_number=True),
            Column(second, attrgetter("y"), is_number=True),
            Column("f", attrgetter("value"), is_number=True, style="green"),
        ]
        table = make_table(columns, found.critical, digits, what="points")
        words = [
            contour_text(found, screen.width or 80),
            *descent_lines(found, digits),
            self.missing,
        ]
        foot = "\n".join(filter(None, words))
        return [picture, "", table._replace(foot=foot) if table.rows else foot]


def map_layers(found: Plane) -> Iterator[Layer | Note]:
    """The layers of the one frame, from back to front."""
    chosen = contour_levels(found)
    if chosen:
        yield heat_layer(found.x, found.y, found.values, chosen)
    sized = [(one, math.hypot(one.dx, one.dy)) for one in found.field]
    arrows = [
        (one.x, one.y, one.dx / size, one.dy / size) for one, size in sized if 0 < size < math.inf
    ]
    if arrows:
        yield arrow_layer(*zip(*arrows, strict=True))
    if path := visible_descent(found):
        x, y = zip(*path, strict=True)
        yield line_layer(x, y, "ink", width=1.2)
        yield dot_layer(x, y, "ink", size=3.0)
    for one in found.critical:
        shape, filled = MARKERS[one.kind]
        yield dot_layer([one.x], [one.y], "ink", shape, filled, 6.0)
    for one in found.critical[:MOST_ON_MAP]:
        yield Note(one.x, one.y, signed_number(one.value, 4))


CRITICAL_GLYPHS = {"minimum": "▼", "maximum": "▲", "saddle": "✕", "flat": "◇"}
"""The mark of a critical point."""
ARROW_GLYPHS = "→↗↑↖←↙↓↘"
"""The directions of an arrow, from the right on to the left around."""
PATH_GLYPH = "●"
MOST_LEVELS = 12
EVEN = (0.15, 0.85)
"""The range of the median height, as a part of all heights, for which levels are evenly spaced."""
LEVEL_PARTS = (0.02, 0.06, 0.12, 0.2, 0.3, 0.42, 0.55, 0.7, 0.85)
"""The parts of the plane below each level, where distances are not even."""
ARROW_SPACE = 6
"""The cells from one arrow to the next; the rows are half as many."""


def contour_levels(found: Plane) -> list[float]:
    """The values that have a contour: round numbers, or such that parts of the plane lie between them."""
    low, high = found.window
    inside = sorted(x for row in found.values for x in row if low <= x <= high)
    if not inside:
        return []
    middle = (inside[len(inside) // 2] - low) / (high - low)
    even = [value for value, _ in round_ticks(low, high, MOST_LEVELS) if low < value < high]
    if EVEN[0] < middle < EVEN[1] and len(even) > 2:
        return even
    chosen = (inside[int(part * (len(inside) - 1))] for part in LEVEL_PARTS)
    return sorted({float(f"{value:.2g}") for value in chosen if low < value < high})


def draw_plane_map(found: Plane, screen: Screen, rows: int) -> list[str]:
    """The lines of the map, ``rows`` in all."""
    width = screen.width or 80
    height = max(rows - 3, 8)
    spans = found.spans
    y = make_axis(*spans[1], height // TICK_ROWS + 2)
    margin = max([len(text) for _, text in y.ticks] + [1])
    columns = max(width - margin - 2, NARROWEST)
    x = make_axis(*spans[0], columns // TICK_CELLS + 1)
    canvas = Canvas(columns, height, x, y)
    for level in contour_levels(found):
        for piece in contour_pieces(found, level):
            canvas.line(piece)
    draw_arrows(found, canvas)
    path = visible_descent(found)
    canvas.line(path)
    for a, b in path:
        canvas.letter(a, b, PATH_GLYPH)
    for one in found.critical:
        canvas.letter(one.x, one.y, CRITICAL_GLYPHS[one.kind])
    marks = {**MARKS, **dict.fromkeys(ARROW_GLYPHS, "33"), PATH_GLYPH: "1", "✕": "1"}
    color = COLORS[0] if screen.color else ""
    title = curve_title(found.text)
    title = first_that_fits([title, cut_text(title, width)], width)
    return frame_canvas(title, canvas, margin, color, marks, numbers=True)


def visible_descent(found: Plane) -> list[tuple[float, float]]:
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


def draw_arrows(found: Plane, canvas: Canvas) -> None:
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
            way = ARROW_GLYPHS[round(turn / math.tau * len(ARROW_GLYPHS)) % len(ARROW_GLYPHS)]
            canvas.letter(one.x, one.y, way)


Place = tuple[float, float]


def contour_pieces(found: Plane, level: float) -> Iterator[tuple[Place, Place]]:
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
                (a[0] + part * (b[0] - a[0]), a[1] + part * (b[1] - a[1]))
                for (a, low), (b, high) in pairwise(
                    zip((*places, places[0]), (*corners, corners[0]), strict=True)
                )
                if (low <= level) != (high <= level)
                for part in [(level - low) / (high - low)]
            ]
            if len(cuts) == 4 and (sum(corners) / 4 <= level) == (corners[0] <= level):
                cuts = [*cuts[1:], cuts[0]]
            yield from zip(cuts[::2], cuts[1::2], strict=True)


def contour_text(found: Plane, width: int) -> str:
    """The values of the contours, as many as a line has room for."""
    words = [decimal_text(level, 3) for level in contour_levels(found)]
    if not words:
        return ""
    return first_that_fits([f"contours at {', '.join(words)}", f"{len(words)} contours"], width)


def descent_lines(found: Plane, digits: int) -> list[str]:
    """The line about a descent: its steps, its last point, and how it ended."""
    if not found.path:
        return []
    last = zip(found.names, found.path[-1], strict=True)
    place = ", ".join(f"{name} = {decimal_text(value, digits)}" for name, value in last)
    count = len(found.path) - 1
    return [f"● descent: {count:,} step{'s' * (count != 1)} to {place}; {found.ending}"]
