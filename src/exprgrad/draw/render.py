"""DOT to SVG, PNG and PDF, by whichever Graphviz there is.

``dot`` on the PATH comes first; else the Graphviz inside pygraphviz's wheel, in a process of its own:
the library is not safe to use from two threads, and it lets fontconfig write to the standard error of
whoever loads it.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from importlib.util import find_spec

from exprgrad.draw.look import DARK
from exprgrad.errors import MissingExtraError, RequestError

__all__ = ["FORMATS", "render"]

FORMATS = ("svg", "png", "pdf")
"""What ``render`` can make."""

DPI = "160"
"""Pixels per inch of a PNG: crisp on dense screens, and not huge."""

PYGRAPHVIZ = """
import sys, pygraphviz
graph = pygraphviz.AGraph(string=sys.stdin.buffer.read().decode())
if sys.argv[1] == "png":
    graph.graph_attr["dpi"] = sys.argv[2]
graph.layout("dot")
sys.stdout.buffer.write(graph.draw(format=sys.argv[1]))
"""


def render(source: str, format: str) -> bytes:
    """The picture of a DOT source as bytes, in one of ``FORMATS``.

    Raises ``RequestError`` for another format or when Graphviz fails, and ``MissingExtraError`` when
    there is no Graphviz.
    """
    if format not in FORMATS:
        known = ", ".join(FORMATS)
        raise RequestError("unknown-format", f"no picture format '{format}'", help=f"use {known}")
    made = graphviz(command(format), source)
    return accessible(made.decode()).encode() if format == "svg" else made


def command(format: str) -> list[str]:
    """The command that reads DOT and writes a picture."""
    dot = shutil.which("dot")
    if dot is not None:
        return [dot, f"-T{format}", *([f"-Gdpi={DPI}"] if format == "png" else [])]
    if sys.executable and find_spec("pygraphviz") is not None:
        # -P: a file in the current folder must not pass for pygraphviz.
        return [sys.executable, "-P", "-c", PYGRAPHVIZ, format, DPI]
    raise MissingExtraError(
        "missing-graphviz",
        f"a picture as {format} needs Graphviz",
        help="pip install 'exprgrad[draw]', or install Graphviz so that 'dot' is on the PATH",
    )


def graphviz(arguments: list[str], source: str) -> bytes:
    """What the command writes; its warnings, mostly about fonts, are nobody's business."""
    try:
        done = subprocess.run(arguments, input=source.encode(), capture_output=True, check=False)
    except OSError as error:
        raise RequestError("graphviz-failed", f"Graphviz did not start: {error}") from error
    if done.returncode != 0 or not done.stdout:
        said = done.stderr.decode(errors="replace").strip().splitlines() or ["it wrote nothing"]
        raise RequestError("graphviz-failed", f"Graphviz failed: {said[-1]}")
    return done.stdout


def accessible(svg: str) -> str:
    """Graphviz's SVG with a title, a role, tabular digits and colours for dark pages.

    The prolog goes, so that the picture can also stand inside an HTML page, and so do the titles of
    nodes and edges, which browsers would show as ``n0``; the tooltips stay.
    """
    svg = re.sub(r"<!--.*?-->\n?", "", svg[svg.index("<svg") :], flags=re.DOTALL)
    titles = re.findall(r"<title>.*?</title>", svg, flags=re.DOTALL)
    title = titles[0] if titles else "<title>computation graph</title>"
    svg = re.sub(r"<title>.*?</title>\n?", "", svg, flags=re.DOTALL)
    head, body = svg[len("<svg") :].split(">", 1)
    return f'<svg class="exprgrad" role="img"{head}>\n{title}\n{style()}{body}'


def style() -> str:
    """The style block; the drawing's own colours stay as attributes for renderers without styles."""
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
