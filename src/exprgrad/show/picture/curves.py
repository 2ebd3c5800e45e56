"""A curve as a picture: a frame for the value and one for each derivative, with what is worth a mark."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from exprgrad.show.documents.curves import curve_fields, curve_rows
from exprgrad.show.picture.picture import notebook, put
from exprgrad.show.picture.plots import Dots, Frame, Layer, Line, Note, Rule, plot, plot_format
from exprgrad.show.text.curves import (
    MARGIN,
    MOST_MARKED,
    NO_VALUE,
    curve_parts,
    derivative_names,
)
from exprgrad.show.text.table import Screen, Table, plain
from exprgrad.show.text.views import signed
from exprgrad.solvers.curves.curve import Arc, Curve, Feature
from exprgrad.source import cut, printable

__all__ = ["LONGEST_TITLE", "Plot"]

SHARES = (1.0, 0.7, 0.6)
ROLES = ("data", "grad", "ink")
"""What the value and the derivatives are drawn as."""
MOST_NOTED = 24
"""So many places are noted with their numbers; others are marked alone."""
NOTED_DIGITS = 4
LONGEST_TITLE = 70
SHAPES = {
    "root": ("o", False), "inflection": ("D", False), "minimum": ("v", True), "maximum": ("^", True),
    "kink": ("D", True), "cusp": ("D", True), "edge": ("o", True), "hole": ("o", False),
}  # fmt: skip
"""The dot of a feature, and whether it is filled."""
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
        return curve_frames(self.curve, self.order)

    def fields(self) -> Iterator[tuple[str, Any]]:
        """The fields of the JSON object."""
        return curve_fields(self.curve, self.order)

    def rows(self) -> Iterator[list[Any]]:
        """The lines of CSV."""
        return curve_rows(self.curve, self.order)

    def lines(self) -> Iterator[tuple[str, Any]]:
        """What ``-q`` prints: the features, such as ``root=0.0``."""
        return ((one.kind, one.x) for one in self.features)

    @property
    def emptiness(self) -> str:
        """Why there is nothing to draw, if there is nothing."""
        return "" if self.curve.arcs else NO_VALUE

    def parts(self, digits: int, screen: Screen, rows: int, *, whole: bool) -> list[str | Table]:
        """What people read on a terminal, the panels in so many rows."""
        return curve_parts(self.curve, self.order, digits, screen, rows, whole=whole)

    def __str__(self) -> str:
        parts = self.parts(6, Screen(80), PRINTED_ROWS, whole=False)
        return "\n".join(part if isinstance(part, str) else plain(part) for part in parts)

    __repr__ = __str__

    def _repr_svg_(self) -> str | None:
        return self._repr_mimebundle_().get("image/svg+xml")

    def _repr_mimebundle_(self, **options: Any) -> dict[str, str]:
        return notebook(str(self), self.svg)


def curve_frames(found: Curve, order: int) -> list[Frame]:
    """The frames of a curve, one below the other."""
    titles = derivative_names(printable(found.name))
    titles[0] = f"f = {cut(printable(found.text), LONGEST_TITLE)}"
    frames = []
    for at in range(order + 1):
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
                x_label=printable(found.name) if at == order else "",
                x_range=(found.low, found.high),
                y_range=(low - margin, high + margin),
                share=SHARES[at],
                role=ROLES[at],
            )
        )
    return frames


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


def layers(found: Curve, order: int) -> Iterator[Layer]:
    """What is drawn of the value, or of a derivative."""
    low, high = found.windows[order]
    if low < 0 < high:
        yield Rule(y=0.0)
    marked = found.features if len(found.features) <= MOST_MARKED else []
    for one in marked:
        if one.kind == "pole" or (one.kind == "cusp" and order):
            yield Rule(x=one.x, dashes=":")
    reach = 2 * (high - low)
    for piece in found.arcs:
        values = (piece.value, piece.slope, piece.second)[order]
        shown = [y if abs(y) < math.inf else math.nan for y in values]
        inside = [min(max(y, low - reach), high + reach) for y in shown]
        yield Line(piece.x, inside, ROLES[order])
    if order:
        return
    if found.tangent:
        ends = found.low, found.high
        yield Line(ends, [found.tangent.at(x) for x in ends], "ink", "--", 1.0)
        yield Dots([found.tangent.x], [found.tangent.value], "ink", size=3.5)
    tops = {one.x: one for one in sorted(marked, key=lambda one: RANKS.index(one.kind))}
    ranked = sorted(tops.values(), key=lambda one: -RANKS.index(one.kind))
    for one in ranked:
        if one.kind == "jump":
            yield from jump(one)
        elif one.kind != "pole" and low <= one.value <= high:
            shape, filled = SHAPES[one.kind]
            yield Dots([one.x], [one.value], "ink", shape, filled)
    for one in ranked[:MOST_NOTED]:
        height = low if one.kind == "pole" else one.value
        if math.isfinite(height):
            yield Note(one.x, height, words(one))
    if not found.arcs:
        yield Note(found.low / 2 + found.high / 2, low / 2 + high / 2, "no value in this range")


def jump(one: Feature) -> Iterator[Layer]:
    """The ends of a curve at a jump: filled where the formula has that value."""
    for end in (one.left, one.right):
        yield Dots([one.x], [end], "data", "o", end == one.value, 4.5)


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
