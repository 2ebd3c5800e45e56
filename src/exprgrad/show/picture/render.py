"""DOT to SVG, PNG and PDF, by whichever Graphviz there is; and what its SVG lacks.

``dot`` on the PATH comes first; else the Graphviz inside pygraphviz's wheel, in a process of its
own: the library is not safe to use from two threads, and it lets fontconfig write to the standard
error of whoever loads it.

An SVG gets a name, colours for dark pages, and texts that stay in place in any font: Graphviz measures
texts in the fonts of the machine that it runs on, and the picture is looked at on another.  So a number is
tied to the right end of its card's hairline, a chip's lines to its middle.  Coordinates are read from
Graphviz's output, in which all user text is escaped.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from importlib.util import find_spec

from exprgrad.errors import MissingExtraError, RequestError, install
from exprgrad.show.picture.theme import DATA, GRAD, style

__all__ = ["command", "finished", "graphviz", "render"]

WINDOWS_CRASH = 0xC0000000
"""From here on an exit status on Windows says how a program crashed."""
DPI = "160"
"""Pixels per inch of a PNG: crisp on dense screens, and not huge."""

SHRUNK = re.compile(rb"too large for cairo-renderer bitmaps\. Scaling by ([\d.]+)")
"""What Graphviz says before it shrinks a PNG."""
PYGRAPHVIZ = """
import sys, pygraphviz
graph = pygraphviz.AGraph(string=sys.stdin.buffer.read().decode())
if sys.argv[1] == "png":
    graph.graph_attr["dpi"] = sys.argv[2]
graph.layout("dot")
sys.stdout.buffer.write(graph.draw(format=sys.argv[1]))
"""


def render(source: str, format: str) -> bytes:
    """The picture of a DOT source as the bytes of an ``svg``, ``png`` or ``pdf`` file.

    Raises ``RequestError`` when Graphviz fails, and ``MissingExtraError`` when there is none.
    """
    made = graphviz(command(format), source)
    return finished(made.decode().replace("\r\n", "\n")).encode() if format == "svg" else made


def command(format: str, what: str = "") -> list[str]:
    """The command that reads DOT and writes a picture; ``what`` says what needs it, if not the picture."""
    dot = shutil.which("dot")
    # Windows looks in the current folder first, and -P leaves it out: no file there may pass for Graphviz.
    if dot is not None and os.path.isabs(dot):  # noqa: PTH117
        return [dot, f"-T{format}", *([f"-Gdpi={DPI}"] if format == "png" else [])]
    if sys.executable and find_spec("pygraphviz") is not None:
        return [sys.executable, "-P", "-c", PYGRAPHVIZ, format, DPI]
    raise MissingExtraError(
        "missing-graphviz",
        what or f"a picture as {format} needs Graphviz",
        help=f"{install('pygraphviz')}, or install Graphviz so that 'dot' is on the PATH",
    )


def graphviz(arguments: list[str], source: str) -> bytes:
    """What the command writes; its warnings, mostly about fonts, are nobody's business.

    But where it says that it shrinks a picture, nobody could read that: it is refused.
    """
    try:
        done = subprocess.run(arguments, input=source.encode(), capture_output=True, check=False)
    except OSError as error:
        raise RequestError("graphviz-failed", f"Graphviz did not start: {error}") from error
    if done.returncode < 0 or done.returncode >= WINDOWS_CRASH:
        # Such as one node with 500 users: its wires are longer than Graphviz's own recursion can go.
        message = "Graphviz crashed: the graph is too much for it"
        raise RequestError("graphviz-failed", message, help="draw a part of the formula")
    if done.returncode != 0 or not done.stdout:
        said = done.stderr.decode(errors="replace").strip().splitlines() or ["it wrote nothing"]
        raise RequestError("graphviz-failed", f"Graphviz failed: {said[-1]}")
    if shrunk := SHRUNK.search(done.stderr):
        part = f"{100 * float(shrunk[1]):.0f} %"
        message = f"the picture is too large for a PNG, which would be shrunk to {part}"
        raise RequestError(
            "too-large", message, help="write .svg or .pdf, or draw a part of the formula"
        )
    return done.stdout


# What Graphviz's SVG lacks.

NODE = re.compile(r'<g id="node\d+" class="node">.*?</g>\n</g>', re.DOTALL)
NUMBER = re.compile(rf'text-anchor="start" x="[^"]*"(?=[^<>]* fill="(?:{DATA}|{GRAD})")')
HAIRLINE = re.compile(r'<polygon [^<>]*points="([^"]*)"')
CHIP = re.compile(r'text-anchor="start" x="[^"]*"')
TEXT_LINE = re.compile(r'<text [^<>]* y="([^"]*)"')
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
    lines = TEXT_LINE.findall(node)
    if sides and len(set(lines)) == len(lines):
        return CHIP.sub(f'text-anchor="middle" x="{(min(sides) + max(sides)) / 2:.2f}"', node)
    return node


def abscissas(points: str) -> list[float]:
    """The x of every point of a polygon or a path."""
    return [float(x) for x in re.findall(r"(-?[\d.]+),-?[\d.]+", points)]
