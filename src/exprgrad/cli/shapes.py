"""The option ``--shape``: its value, ``X=150x4,W=4x3,b=3``, and a note where it may be missing."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection

from exprgrad.cli.weights import trimmed
from exprgrad.errors import InputError
from exprgrad.graph.graph import Graph, dependencies
from exprgrad.graph.tensors import STRUCTURAL
from exprgrad.source import Source, pieces

__all__ = ["missing_shapes", "shapes_in"]

SIZES = re.compile(r"\s*[0-9]{1,15}\s*(?:[x×]\s*[0-9]{1,15}\s*)*")
TUPLE = re.compile(r"\s*[(\[]((?:\s*[0-9]{1,15}\s*,)*\s*(?:[0-9]{1,15}\s*)?)[)\]]\s*")
"""What Python prints is read too: ``(150, 4)``, ``(3,)``, and ``()`` for a number."""


def shapes_in(argument: str) -> dict[str, tuple[int, ...]]:
    """Shapes by name; an error shows the place in the argument."""
    source = Source(argument, is_expression=False)
    found: dict[str, tuple[int, ...]] = {}
    for start, end in pieces(argument):
        written, equals, sizes = argument[start:end].partition("=")
        name = unicodedata.normalize("NFC", written.strip())
        span = trimmed(argument, start, end)
        if not (equals and name.isidentifier()):
            message = "this is not NAME=SIZES"
            help = "names and sizes are separated by commas: --shape X=150x4,w=4"
            raise InputError("usage", message, source=source, span=span, help=help)
        shape = shape_in(sizes)
        if shape is None:
            message = f"this is not a shape for '{name}'"
            help = f"sizes are positive whole numbers joined by x, such as {name}=150x4"
            if "=" in sizes:
                help = "names and sizes are separated by commas: --shape X=150x4,w=4"
            span = trimmed(argument, end - len(sizes), end) if sizes.strip() else span
            raise InputError("bad-shape", message, source=source, span=span, help=help)
        if name in found:
            message = f"'{name}' is given twice"
            span = trimmed(argument, start, start + len(written))
            raise InputError("given-twice", message, source=source, span=span)
        found[name] = shape
    return found


def shape_in(sizes: str) -> tuple[int, ...] | None:
    """A shape as it is written; None for what is none."""
    listed = TUPLE.fullmatch(sizes)
    if listed is None and not SIZES.fullmatch(sizes):
        return None
    shape = tuple([int(size) for size in re.findall("[0-9]+", listed[1] if listed else sizes)])
    return shape if all(shape) else None


def missing_shapes(graph: Graph, said: Collection[str]) -> list[str]:
    """The inputs that count as numbers for want of a shape, where a tensor seems to be meant."""
    if graph.shapes is None:
        return []
    numbers = [
        operands[0]
        for kind, operands in zip(graph.kinds, graph.operands, strict=True)
        if kind in STRUCTURAL and STRUCTURAL[kind].along_axes and graph.shapes[operands[0]] == ()
    ]
    needed = dependencies(graph, *numbers)
    return [name for name, node in graph.inputs.items() if needed[node] and name not in said]
