"""The growth as a picture: two panels of curves over the number of nodes, written as SVG.

Its colours are those of all pictures, with their counterparts for dark pages; it has a ground of its own.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from exprgrad.show.picture import theme as look
from exprgrad.show.picture.theme import style_block

__all__ = ["Panel", "svg"]

WIDTH, HEIGHT = 380, 300
"""One panel, with its margins."""
LEFT, RIGHT, TOP, BOTTOM = 56, 66, 34, 44
COLOURS = (look.DATA, look.GRAD, look.INK, look.MUTED, look.WIRE)
MARKS = ("circle", "square", "diamond", "up", "down")
GAP = 13
"""How far apart the curves' names are, at least."""
EXPONENT = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


class Panel(NamedTuple):
    """Curves of one quantity: by name, by number of nodes."""

    title: str
    curves: Mapping[str, Mapping[int, float]]


class Scale(NamedTuple):
    """Powers of ten from ``low`` to ``high``, from one place to another."""

    low: int
    high: int
    start: float
    end: float

    def at(self, value: float) -> float:
        """Where a value is."""
        part = (math.log10(value) - self.low) / (self.high - self.low)
        return self.start + part * (self.end - self.start)

    @property
    def decades(self) -> range:
        """The exponents that get a line."""
        return range(self.low, self.high + 1)


def svg(panels: Iterable[Panel]) -> str:
    """The picture; panels without curves are left out."""
    parts = []
    drawn = [panel for panel in panels if panel.curves]
    for at, panel in enumerate(drawn):
        parts += [f'<g transform="translate({at * WIDTH} 0)">', *lines_of(panel), "</g>"]
    width = WIDTH * len(drawn)
    return (
        f'<svg class="exprgrad" xmlns="http://www.w3.org/2000/svg" width="{width}" height="{HEIGHT}" '
        f'viewBox="0 0 {width} {HEIGHT}" role="img" font-family="{look.FONT}" font-size="11">\n'
        f"<title>{'; '.join(panel.title for panel in drawn)}</title>\n{style_block()}\n"
        f'<rect width="{width}" height="{HEIGHT}" fill="{look.CARD}"/>\n'
        + "\n".join(parts)
        + "\n</svg>\n"
    )


def lines_of(panel: Panel) -> list[str]:
    """One panel: its title, the grid, the curves and their names."""
    sizes = [nodes for curve in panel.curves.values() for nodes in curve]
    values = [value for curve in panel.curves.values() for value in curve.values()]
    across = scale(sizes, LEFT, WIDTH - RIGHT)
    upward = scale(values, HEIGHT - BOTTOM, TOP)
    large = f'font-size="13" font-weight="bold" fill="{look.INK}"'
    parts = [f'<text x="{LEFT}" y="20" {large}>{panel.title}</text>']
    for exponent in upward.decades:
        y = upward.at(10.0**exponent)
        parts.append(line(LEFT, y, WIDTH - RIGHT, y))
        parts.append(text(LEFT - 6, y + 4, power(exponent), "end"))
    for exponent in across.decades:
        x = across.at(10.0**exponent)
        parts.append(line(x, TOP, x, HEIGHT - BOTTOM))
        parts.append(text(x, HEIGHT - BOTTOM + 16, power(exponent), "middle"))
    parts.append(text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 10, "nodes", "middle"))
    ends = {name: upward.at(curve[max(curve)]) for name, curve in panel.curves.items()}
    named = apart(ends)
    for (name, curve), colour, mark in zip(panel.curves.items(), COLOURS, MARKS, strict=False):
        points = [(across.at(nodes), upward.at(value)) for nodes, value in sorted(curve.items())]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        parts += [marker(mark, x, y, colour) for x, y in points]
        parts.append(text(WIDTH - RIGHT + 10, named[name] + 4, name, "start", colour))
    return parts


def scale(values: Iterable[float], start: float, end: float) -> Scale:
    """Whole powers of ten around some values."""
    found = [*values]
    low, high = math.floor(math.log10(min(found))), math.ceil(math.log10(max(found)))
    return Scale(low, max(high, low + 1), start, end)


def apart(places: Mapping[str, float]) -> dict[str, float]:
    """Heights for names, near where they should be, none over another."""
    found: dict[str, float] = {}
    before = -math.inf
    for name, place in sorted(places.items(), key=lambda item: item[1]):
        before = found[name] = max(place, before + GAP)
    over = max(0.0, max(found.values(), default=0.0) - (HEIGHT - BOTTOM))
    return {name: place - over for name, place in found.items()}


def marker(kind: str, x: float, y: float, colour: str) -> str:
    """A point's sign, so that colour is not all that tells the curves apart."""
    shapes = {
        "square": "M-3.5-3.5h7v7h-7z",
        "diamond": "M0-5 5 0 0 5-5 0z",
        "up": "M0-4.5 4.5 3.5h-9z",
        "down": "M0 4.5 4.5-3.5h-9z",
    }
    if kind == "circle":
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.5" fill="{colour}"/>'
    return f'<path d="{shapes[kind]}" transform="translate({x:.1f} {y:.1f})" fill="{colour}"/>'


def line(x1: float, y1: float, x2: float, y2: float) -> str:
    """A line of the grid."""
    return f'<path d="M{x1:.1f} {y1:.1f}L{x2:.1f} {y2:.1f}" stroke="{look.LINE}"/>'


def text(x: float, y: float, words: str, anchor: str, colour: str = look.INK) -> str:
    """Some words; none of them is a user's."""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{colour}">{words}</text>'


def power(exponent: int) -> str:
    """A power of ten; the small ones in full."""
    if -2 <= exponent <= 2:
        return f"{10.0**exponent:g}"
    return "10" + str(exponent).translate(EXPONENT)
