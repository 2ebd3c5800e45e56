"""The look of the picture: its colours, in light and in dark pages, and its fonts."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

__all__ = [
    "CARD", "CHIP", "CHIP_LINE", "CHIP_NODE", "CLUSTER", "CONSTANT", "DARK", "DATA", "DIGIT", "DIRECTIONS",
    "EDGE", "FONT", "GRAD", "GRAPH", "INK", "LINE", "MUTED", "NODE", "PILL", "PILL_LINE", "QUIET", "WIRE",
    "WRONG", "Direction", "digits_width", "style_block",
]  # fmt: skip

FONT = "Helvetica,Arial,Liberation Sans,DejaVu Sans,sans-serif"
"""Families whose digits are all equally wide."""
DIGIT = 0.556
"""A digit's width in those families, where the font's size is 1; the mean letter is about as wide."""

DATA = "#00694a"
GRAD = "#a63c00"
WRONG = "#b3123c"
INK = "#1f2328"
MUTED = "#636b75"
CARD = "#ffffff"
LINE = "#b9c1cb"
PILL = "#eef2f9"
PILL_LINE = "#a9b8d0"
CONSTANT = "#f1f2f4"
CHIP = "#fdfdfe"
CHIP_LINE = "#d5dae0"
WIRE = "#7e8793"

DARK = {
    DATA: "#4fd1a1",
    GRAD: "#ffa066",
    WRONG: "#ff8ba3",
    INK: "#e8ecf1",
    MUTED: "#9fa8b3",
    CARD: "#1e232b",
    LINE: "#4b5563",
    PILL: "#243047",
    PILL_LINE: "#4d6285",
    CONSTANT: "#2b3038",
    CHIP: "#181c22",
    CHIP_LINE: "#3b434e",
}
"""Light colour → its counterpart on a dark page; the wires' greys can be seen on both."""

GRAPH = {
    "rankdir": "LR",
    "ordering": "in",
    "bgcolor": "transparent",
    "pad": "0.15",
    "nodesep": "0.3",
    "ranksep": "0.3",
    # Most graphs look the same without it; 500 nodes then take 50 seconds instead of 5, and one node with
    # 200 users takes minutes instead of 10 seconds.
    "nslimit": "1",
}
NODE = {"shape": "plain", "fontname": FONT, "fontsize": "11", "fontcolor": INK}
EDGE = {
    "color": WIRE,
    "penwidth": "1.2",
    "arrowsize": "0.6",
    "tooltip": " ",
}
QUIET = {"style": "dashed", "color": "#9ba3ad"}
"""An edge along which no gradient flows."""
CLUSTER = {
    "style": "rounded",
    "bgcolor": CHIP,
    "pencolor": LINE,
    "fontname": FONT,
    "fontsize": "10",
    "fontcolor": MUTED,
    "labeljust": "l",
    "margin": "10",
}
"""An opened call."""
CHIP_NODE = {"fontsize": "9.5"}


class Direction(NamedTuple):
    """The sides of a node that wires leave and arrive at, by their letters in DOT."""

    leave: str
    arrive: str


DIRECTIONS = {
    "LR": Direction("e", "w"),
    "TB": Direction("s", "n"),
    "RL": Direction("w", "e"),
    "BT": Direction("n", "s"),
}
"""The ways that a graph can run, as Graphviz calls them."""


def digits_width(count: int, font: Mapping[str, str], padding: int) -> str:
    """The width of a cell for so many digits, in points; ``font`` is a node's attributes."""
    return str(math.ceil(count * DIGIT * float(font["fontsize"])) + 2 * padding)


def style_block() -> str:
    """The style block; the light colours stay as attributes for renderers without styles.

    A notebook says by an attribute whether it is light or dark; elsewhere the system's scheme decides.
    """
    scope, notebook = "svg.exprgrad", '[data-jp-theme-light="{}"]'

    def dark(where: str) -> str:
        return "".join(
            f'    {where} {scope} [fill="{light}"] {{ fill: {colour} }}\n'
            f'    {where} {scope} [stroke="{light}"] {{ stroke: {colour} }}\n'
            for light, colour in DARK.items()
        )

    return (
        "<style>\n"
        f"  {scope} {{ color-scheme: light dark; background: transparent }}\n"
        f"  {scope} {{ max-width: 100%; height: auto }}\n"
        f"  {scope} text {{ font-variant-numeric: tabular-nums }}\n"
        + dark(notebook.format("false"))
        + "  @media (prefers-color-scheme: dark) {\n"
        + dark(f":root:not(:has({notebook.format('true')}))")
        + "  }\n"
        "</style>"
    )
