"""What Graphviz's SVG lacks: a name, dark pages, and texts that stay in place in any font.

Graphviz measures texts in the fonts of the machine that it runs on; the picture is looked at on
another.  So a number is tied to the right end of its card's hairline, a chip's lines to its middle.
Coordinates are read from Graphviz's output, in which all user text is escaped.
"""

from __future__ import annotations

import re

from exprgrad.draw.picture.theme import DARK, DATA, GRAD

__all__ = ["finished", "style"]

NODE = re.compile(r'<g id="node\d+" class="node">.*?</g>\n</g>', re.DOTALL)
NUMBER = re.compile(rf'text-anchor="start" x="[^"]*"(?=[^<>]* fill="(?:{DATA}|{GRAD})")')
HAIRLINE = re.compile(r'<polygon [^<>]*points="([^"]*)"')
CHIP = re.compile(r'text-anchor="start" x="[^"]*"')
LINE = re.compile(r'<text [^<>]* y="([^"]*)"')
OUTLINE = re.compile(r'<path [^<>]*d="([^"]*)"')
INSET = 3
"""A number's distance from the end of the hairline: its cell's padding."""


def finished(svg: str) -> str:
    """Graphviz's SVG, named after the graph, with a style block and texts tied to their places.

    The prolog goes, so that the picture can also stand inside an HTML page, and so do the titles of
    nodes and edges, which browsers would show as ``n0``; the tooltips stay.
    """
    svg = re.sub(r"<!--.*?-->\n?", "", svg[svg.index("<svg") :], flags=re.DOTALL)
    title = re.search(r"<title>.*?</title>", svg, flags=re.DOTALL)
    name = title.group() if title else "<title>computation graph</title>"
    svg = re.sub(r"<title>.*?</title>\n?", "", svg, flags=re.DOTALL)
    head, body = svg.removeprefix("<svg").split(">", 1)
    body = NODE.sub(lambda node: tied(node.group()), body)
    return f'<svg class="exprgrad" role="img"{head}>\n{name}\n{style()}{body}'


def tied(node: str) -> str:
    """A node's SVG with its numbers tied to the hairline's end, or its lines to the middle."""
    ends = [x for points in HAIRLINE.findall(node) for x in abscissas(points)]
    if ends:
        return NUMBER.sub(f'text-anchor="end" x="{max(ends) - INSET:.2f}"', node)
    sides = [x for points in OUTLINE.findall(node) for x in abscissas(points)]
    lines = LINE.findall(node)
    if sides and len(set(lines)) == len(lines):
        return CHIP.sub(f'text-anchor="middle" x="{(min(sides) + max(sides)) / 2:.2f}"', node)
    return node


def abscissas(points: str) -> list[float]:
    """The x of every point of a polygon or a path."""
    return [float(x) for x in re.findall(r"(-?[\d.]+),-?[\d.]+", points)]


def style() -> str:
    """The style block; the light colours stay as attributes for renderers without styles."""
    scope = "svg.exprgrad"
    dark = "".join(
        f'    {scope} [fill="{light}"] {{ fill: {colour} }}\n'
        f'    {scope} [stroke="{light}"] {{ stroke: {colour} }}\n'
        for light, colour in DARK.items()
    )
    return (
        "<style>\n"
        f"  {scope} {{ color-scheme: light dark; background: transparent }}\n"
        f"  {scope} text {{ font-variant-numeric: tabular-nums }}\n"
        f"  @media (prefers-color-scheme: dark) {{\n{dark}  }}\n"
        "</style>"
    )
