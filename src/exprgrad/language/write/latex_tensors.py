r"""Tensors in LaTeX: structural rows with their settings, literals, and products number by number.

A setting is a subscript, ``\sum_{\text{axis }1} x``; so are an index's places, ``x_{0, 1{:}3}``.  A vector
is a list in brackets, a matrix is one in parentheses.
"""

from __future__ import annotations

import re
from copy import copy
from typing import Any

from exprgrad.graph.graph import CONST, INPUT, Graph
from exprgrad.graph.literal import Literal, Settings
from exprgrad.graph.ops import BY_NAME
from exprgrad.graph.structural import Parameter
from exprgrad.graph.tensors import STRUCTURAL
from exprgrad.language.write.infix import number, place_text
from exprgrad.language.write.latex_names import numeral

__all__ = ["HADAMARD", "as_written", "entrywise", "indexed", "literal", "structural_text"]

HADAMARD = r"x \odot y"
"""The product of two tensors, number by number, where products of matrices are written side by side."""
MOST_COLUMNS = 10
"""The most columns that amsmath gives a matrix, unless it is told otherwise."""
OPERATOR = re.compile(r"\\(?:operatorname\{[^}]*\}|sum|prod|max|min)")
TO_NUMBERS = {"dot", "trace", "cross_entropy"}


def structural_text(kind: str, settings: Settings) -> str:
    """A row's text, its settings put in where they are not the defaults."""
    row = STRUCTURAL[kind]
    text = row.latex
    if kind == "index":
        return text.replace(below("at"), below(places(settings[0])))
    given = [
        setting(parameter, value)
        for parameter, value in zip(row.parameters, settings, strict=True)
        if value != parameter.default
    ]
    if not given:
        return text
    if kind == "transpose":
        return text.replace(r"\top", rf"\top{below(', '.join(given))}")
    if kind == "stack":
        text = r"\operatorname{stack}(x, \ldots)"
    operator = OPERATOR.match(text)
    place = operator.end() if operator else len(text)
    return text[:place] + below(", ".join(given)) + text[place:]


def below(text: str) -> str:
    """A subscript."""
    return f"_{{{text}}}"


def setting(parameter: Parameter, value: Any) -> str:
    """A setting as it stands in a subscript."""
    if parameter.kind == "flag":
        return rf"\text{{{parameter.name}}}"
    if parameter.kind == "places":
        return f"[{places(value)}]"
    if parameter.kind == "shape":
        return r" \times ".join(map(str, value))
    if parameter.kind in ("size", "order"):
        return ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)
    if value is None:
        return r"\text{all axes}"
    axes = value if isinstance(value, tuple) else (value,)
    return rf"\text{{ax{'i' if len(axes) == 1 else 'e'}s }}{', '.join(map(str, axes))}"


def places(listed: Any) -> str:
    """What an index takes, axis by axis."""
    return ", ".join(place_text(place).replace(":", "{:}") for place in listed)


def literal(value: Literal) -> str:
    """A tensor that is written out."""
    rows = [numeral(number(entry)) for entry in value.numbers]
    if len(value.shape) == 2 and value.shape[1] <= MOST_COLUMNS:
        width = value.shape[1]
        lines = [" & ".join(rows[at : at + width]) for at in range(0, len(rows), width)]
        return r"\begin{pmatrix} " + r" \\ ".join(lines) + r" \end{pmatrix}"
    for length in reversed(value.shape):
        rows = [f"[{', '.join(rows[at : at + length])}]" for at in range(0, len(rows), length)]
    return rows[0]


def as_written(graph: Graph) -> Graph:
    """The graph as people wrote it: what broadcasting put in leaves no trace."""
    if not graph.implicit:
        return graph
    found = copy(graph)
    found.operands = [
        tuple([graph.operands[o][0] if o in graph.implicit else o for o in operands])
        for operands in graph.operands
    ]
    return found


def entrywise(graph: Graph) -> set[int]:
    """The products that need a sign of their own: of what may be tensors, beside products of matrices."""
    if not {"matmul", "dot"} & set(graph.kinds):
        return set()
    numbers = known_numbers(graph)
    return {
        node
        for node, kind in enumerate(graph.kinds)
        if kind == "mul" and not any(numbers[operand] for operand in graph.operands[node])
    }


def known_numbers(graph: Graph) -> list[bool]:
    """By node: whether it is a number whatever the inputs are, or by the shapes if they are known."""
    if graph.shapes is not None:
        return [shape == () for shape in graph.shapes]
    found: list[bool] = []
    for kind, operands, payload in zip(graph.kinds, graph.operands, graph.payloads, strict=True):
        if kind in (INPUT, CONST):
            found.append(isinstance(payload, float))
        elif kind in BY_NAME:
            found.append(all(found[operand] for operand in operands))
        else:
            parameters = [parameter.name for parameter in STRUCTURAL[kind].parameters]
            whole = parameters == ["axis", "keepdims"] and payload == (None, False)
            found.append(whole or kind in TO_NUMBERS)
    return found


def indexed(graph: Graph, called: dict[int, str]) -> set[str]:
    """How the named nodes look with the indices that they are given: names must look different."""
    found = set()
    for kind, operands, payload in zip(graph.kinds, graph.operands, graph.payloads, strict=True):
        if kind == "index" and operands[0] in called:
            assert isinstance(payload, tuple)
            found.add(called[operands[0]] + below(places(payload[0])))
    return found
