"""Conditions as truth values: a program in which each node is either numbers or, for engines, a mask.

In an expression a condition is 1 or 0.  Here a comparison gives a mask, a ``where`` takes one, and what
combines conditions is logic on masks.  So an engine has no conversions but those that are steps.
"""

from __future__ import annotations

from collections.abc import Container

from exprgrad.derive.constant_folding import is_flag
from exprgrad.graph.graph import Graph, Program, copied, dependencies
from exprgrad.graph.ops import BY_NAME, COMPARISONS, LOGIC

__all__ = ["MASKS", "with_truths"]

MASKS = frozenset(("mask", "and", "or", "not", "and-not", "or-not", *COMPARISONS))
"""What gives a mask: ``mask`` of numbers, where they are not 0; logic on masks, ``and-not`` being the
second without the first, and ``or-not`` the second, or not the first; and comparisons of numbers.  What
leads back is ``number``, which is 1 or 0."""
SPAN = (0, 0)


def with_truths(program: Program) -> Program:
    """The program with conditions as masks; what its outputs do not need is left out."""
    graph, outputs = program
    needed = dependencies(graph, *outputs)
    made = Graph()
    conditions: set[int] = set()
    numbers: dict[int, int] = {}
    masks: dict[int, int] = {}

    def append(kind: str, *operands: int) -> int:
        return made.append(kind, operands, None, SPAN, (SPAN,) * len(operands))

    def number(node: int) -> int:
        """A node's image as numbers."""
        if node not in numbers:
            numbers[node] = append("number", masks[node])
        return numbers[node]

    def mask(node: int) -> int:
        """A node's image as a mask."""
        if node not in masks:
            masks[node] = append("mask", numbers[node])
        return masks[node]

    for node, kind in enumerate(graph.kinds):
        if not needed[node]:
            continue
        operands = graph.operands[node]
        logic = as_logic(graph, node, conditions)
        if not operands:
            numbers[node] = copied(made, graph, node, ())
        elif logic is not None:
            name, operands = logic
            image = number if name in COMPARISONS else mask
            masks[node] = append(name, *map(image, operands))
            conditions.add(node)
        elif kind == "where":
            c, x, y = operands
            numbers[node] = append(kind, mask(c), number(x), number(y))
        else:
            numbers[node] = append(kind, *map(number, operands))
    return Program(made, tuple(map(number, outputs)))


def as_logic(
    graph: Graph, node: int, conditions: Container[int]
) -> tuple[str, tuple[int, ...]] | None:
    """How a node that is 1 or 0 everywhere is found as a mask, and of which nodes; None for any other."""
    kind, operands = graph.kinds[node], graph.operands[node]
    if kind in COMPARISONS:
        return kind, operands
    if kind in LOGIC and all(operand in conditions for operand in operands):
        return BY_NAME[kind].logic, operands
    if kind != "where":
        return None
    c, x, y = operands
    first, second = flag(graph, x), flag(graph, y)
    if (first, second) == (1, 0):
        return "or", (c, c)
    if (first, second) == (0, 1):
        return "not", (c,)
    if first is not None and y in conditions:
        return ("or" if first else "and-not"), (c, y)
    if second is not None and x in conditions:
        return ("or-not" if second else "and"), (c, x)
    return None


def flag(graph: Graph, node: int) -> float | None:
    """A constant's number, if it is 1 or 0."""
    payload = graph.payloads[node]
    return payload if isinstance(payload, float) and is_flag(payload) else None
