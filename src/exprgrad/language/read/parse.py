"""Text to graph."""

from __future__ import annotations

import re
from collections.abc import Mapping

from exprgrad.errors import Asker, LanguageError, ShapeError, command_or_python
from exprgrad.graph.graph import Graph, Shape, is_scalar
from exprgrad.language.read import lalr
from exprgrad.language.read.builder import SHORT, Builder, InShort, read_plainly
from exprgrad.source import Source

__all__ = ["at_shapes", "builder_of", "need_number", "parse_text", "read_graph"]

PERCENTAGE = r"(?m)^[^#\r\n]*?(?<![\w.])([0-9.]{1,20})% +(?!of\b)([-+] ?)?(\w{1,20})"
"""A remainder that looks like a percentage, ``50% x``; compiled where it is needed."""


def parse_text(text: str, *, is_expression: bool = True) -> Graph:
    """Read a text into a graph, or raise ``LanguageError`` at the first thing that is wrong."""
    if "% " in text and (typed := re.search(PERCENTAGE, text)):
        number, sign, word = typed.groups("")
        Asker.take_note(
            f"{number}% {sign}{word} is a remainder; a percentage is ({number}/100){sign or '*'}{word}"
        )
    try:
        return read_graph(text)
    except (lalr.Unexpected, LanguageError) as wrong:
        from exprgrad.language.mistakes.complaints import explain_mistake

        raise explain_mistake(text, wrong, read_graph).at(Source(text, is_expression)) from None


def read_graph(text: str) -> Graph:
    """Read a text into a graph; raise the first mistake in it."""
    return builder_of(text).graph


def builder_of(text: str, scanned: str | None = None) -> Builder:
    """Read a text, and return its builder; ``scanned`` is the text for the scanner, if it differs."""
    try:
        return read_plainly(text, scanned)
    except InShort:
        pass
    except LanguageError:
        if re.search(SHORT, text) is None:
            raise
    from exprgrad.language.read.expansion import read_in_short

    return read_in_short(text, scanned)


def at_shapes(
    graph: Graph, text: str, shapes: Mapping[str, Shape], origins: Mapping[str, str] | None = None
) -> Graph:
    """Return the graph with every node's shape, or as it is if all inputs are numbers.

    Raises ``ShapeError`` where the shapes do not fit; ``origins`` names the source of an input, such as a
    file.
    """
    if is_scalar(graph) and not any(shapes.values()):
        return graph
    from exprgrad.language.read.shaping import infer_shapes

    return infer_shapes(graph, text, shapes, origins)


def need_number(graph: Graph, text: str, command: str, help: str | None = None) -> None:
    """Raise ``ShapeError``, with a help of its own if there is one, unless the output is a number."""
    shape = graph.shape(graph.output)
    if shape:
        from exprgrad.graph.structural import shape_text

        name = f"'{graph.output_name}'" if graph.output_name else "this"
        raise ShapeError(
            "not-a-number",
            f"{command} needs an output that is a number, but {name} is {shape_text(shape)}",
            source=Source(text),
            span=graph.span(graph.output),
            help=help
            or "sum(…) or mean(…) makes a number of it; "
            + command_or_python(
                "jac gives the Jacobian, and vjp a product with it",
                "f.jacobian(…) is the Jacobian, and f.vjp(…) a product with it",
            ),
        )
