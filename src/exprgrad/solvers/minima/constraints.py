"""Constraints as people write them, ``x + y == 2``, ``0 <= x <= y``, and as functions."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from exprgrad.derive.parsed import parsed
from exprgrad.errors import ExprgradError, InputError, RequestError, ShapeError, require
from exprgrad.graph.graph import Graph
from exprgrad.language.read.parse import at_shapes
from exprgrad.run.evaluation import shapes_of
from exprgrad.solvers.minima.objective import Layout, Objective
from exprgrad.source import Source, Span, depths, trimmed

__all__ = ["Constraint", "constraints"]

COMPARED = re.compile("<=|>=|==|≤|≥|=|<|>")
EXAMPLE = 'such as "x^2 + y^2 <= 1" or "x + y == 2"'
TURNED = {">=", "≥", ">"}
EQUAL = {"==", "="}


class Constraint(NamedTuple):
    """A function that is 0 where its two sides are equal, and not above 0 where the constraint holds."""

    text: str
    function: Objective
    is_equation: bool


def constraints(
    texts: Sequence[str], inputs: Mapping[str, Any], layout: Layout
) -> list[Constraint]:
    """Constraints from their texts, over the inputs of a formula; a chain makes several.

    Raises ``LanguageError`` or ``RequestError`` for what is none, ``InputError`` for a name that the
    formula does not read, and ``ShapeError`` for a tensor.
    """
    found: list[Constraint] = []
    for text in texts:
        require(text, str, "a constraint is a text, such as 'x + y <= 1'")
        for place, sides, sign in comparisons_in(text):
            one, other = (text[slice(*side)] for side in sides)
            if sign in TURNED:
                one, other = other, one
            for side in sides:
                side_read(text, side, inputs)
            graph = parsed(f"({one}) - ({other})")
            shapes = shapes_of({name: inputs[name] for name in graph.inputs})
            graph = at_shapes(graph, text, shapes)
            if graph.shape(graph.output):
                raise tensors(text, place)
            written = f"{text[slice(*sides[0])]} {sign} {text[slice(*sides[1])]}"
            found.append(Constraint(written, Objective(graph, layout), sign in EQUAL))
    return found


def comparisons_in(text: str) -> Iterator[tuple[Span, tuple[Span, Span], str]]:
    """The comparisons of a constraint: the place of each, those of its two sides, and its sign."""
    flat = "".join(
        "1" if depth else letter for letter, depth in zip(text, depths(text), strict=True)
    )
    signs = [*COMPARED.finditer(flat)]
    if not signs:
        message = "a constraint compares two sides"
        raise RequestError("bad-constraint", message, help=EXAMPLE).about(text)
    ends = [0, *(end for sign in signs for end in sign.span()), len(text)]
    sides = [trimmed(text, start, end) for start, end in zip(ends[::2], ends[1::2], strict=True)]
    for start, end in sides:
        if not text[start:end].strip():
            raise RequestError("bad-constraint", "a side is missing", help=EXAMPLE).about(
                text, (start, max(end, start + 1))
            )
    for sign, pair in zip(signs, pairwise(sides), strict=True):
        yield (pair[0][0], pair[1][1]), pair, sign[0]


def side_read(text: str, side: Span, inputs: Mapping[str, Any]) -> Graph:
    """A side of a constraint, read by itself, so that errors show their places in the whole."""
    try:
        graph = parsed(text[slice(*side)], is_expression=False)
        for name, node in graph.inputs.items():
            if name not in inputs:
                message = f"the formula does not read '{name}'"
                help = f"its inputs are {', '.join(inputs)}"
                error = InputError("unknown-input", message, help=help, span=graph.span(node))
                raise error.about(text[slice(*side)], graph.span(node))
    except ExprgradError as error:
        if error.span is not None:
            error.at(Source(text, is_expression=False), side[0])
        raise
    return graph


def tensors(text: str, place: Span) -> ShapeError:
    """The error for a comparison of tensors."""
    help = "--bounds hold for every number of a tensor; sum(…), max(…) of it are numbers"
    return ShapeError("bad-shape", "a constraint compares numbers, not tensors", help=help).about(
        text, place
    )
