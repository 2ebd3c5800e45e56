"""Difference quotients as a graph: the formula beside a node's data, twice, and what they differ by.

Whatever evaluates a graph finds the quotients: doubles, or balls at a step far below any double.  No rule
of the op table is read.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from exprgrad.graph.graph import INPUT, Graph, dependencies, dependents
from exprgrad.graph.transform import copies, transform

__all__ = ["SCALE", "STEP", "Quotients", "quotients", "steps"]

STEP = "the step"
SCALE = "the step's scale"
"""What the graph calls the two factors of the step; no input can bear a name with a blank."""


class Quotients(NamedTuple):
    """A graph that has the difference quotients of another's output by one of its nodes.

    It has all nodes of the other, by the same numbers, and then, by what they are: the quotients from the
    ``left``, from the ``right`` and between the two (``center``); ``bend``, by how much right and left
    differ.  ``moved`` are the nodes that the step moves, the node's own two data aside: their rounding
    makes quotients in doubles uncertain.
    """

    graph: Graph
    left: int
    right: int
    center: int
    bend: int
    moved: tuple[int, ...]


def quotients(graph: Graph, node: int) -> Quotients:
    """The difference quotients of the output by a node, as a graph; two steps are ``steps(h)``."""
    made, _ = transform(graph)
    span = graph.span(graph.output)

    def add(kind: str, *operands: int, name: str | None = None) -> int:
        if name is not None:
            made.inputs[name] = len(made)
        return made.append(kind, operands, name, span, (span,) * len(operands))

    step = add("mul", add(INPUT, name=STEP), add(INPUT, name=SCALE))
    minus, plus = add("sub", node, step), add("add", node, step)
    active, needed = dependents(graph, [node]), dependencies(graph, graph.output)

    def moved_to(side: int) -> int:
        """The output, were the node that one."""

        def rule(user: int, images: Sequence[int]) -> int | None:
            if active[user] and needed[user]:
                return side if user == node else None
            return user

        return copies(made, graph, rule)[graph.output]

    low, high = moved_to(minus), moved_to(plus)
    left = add("div", add("sub", graph.output, low), add("sub", node, minus))
    right = add("div", add("sub", high, graph.output), add("sub", plus, node))
    center = add("div", add("sub", high, low), add("sub", plus, minus))
    bend = made.output = add("sub", right, left)
    moved = [user for user in range(node + 1, len(graph)) if active[user]]
    return Quotients(made, left, right, center, bend, (*moved, *range(plus + 1, len(made))))


def steps(exponent: int) -> dict[str, float]:
    """The step 2^exponent as the graph's inputs: two doubles, for one may be too small or too large."""
    half = exponent // 2
    return {STEP: math.ldexp(1.0, half), SCALE: math.ldexp(1.0, exponent - half)}
