"""DOT to SVG, PNG and PDF, by whichever Graphviz there is.

``dot`` on the PATH comes first; else the Graphviz inside pygraphviz's wheel, in a process of its
own: the library is not safe to use from two threads, and it lets fontconfig write to the standard
error of whoever loads it.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from importlib.util import find_spec

from exprgrad.draw.picture.svg import finished
from exprgrad.errors import MissingExtraError, RequestError

__all__ = ["FORMATS", "command", "graphviz", "render"]

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

    Raises ``RequestError`` for another format or when Graphviz fails, and ``MissingExtraError``
    when there is no Graphviz.
    """
    if format not in FORMATS:
        known = ", ".join(FORMATS)
        raise RequestError("unknown-format", f"no picture format '{format}'", help=f"use {known}")
    made = graphviz(command(format), source)
    return finished(made.decode()).encode() if format == "svg" else made


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
    if done.returncode < 0:
        # Such as one node with 500 users: its wires are longer than Graphviz's own recursion can go.
        message = "Graphviz crashed: the graph is too much for it"
        raise RequestError("graphviz-failed", message, help="draw a part of the formula")
    if done.returncode != 0 or not done.stdout:
        said = done.stderr.decode(errors="replace").strip().splitlines() or ["it wrote nothing"]
        raise RequestError("graphviz-failed", f"Graphviz failed: {said[-1]}")
    return done.stdout
