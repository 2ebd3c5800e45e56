"""The kinks and jumps that a node's arrays meet, and where: ``kink_screen.py`` has them over numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from exprgrad.derive.rules import slots, template
from exprgrad.graph.graph import Graph, Settings
from exprgrad.graph.op import Special
from exprgrad.graph.ops import BY_NAME, Op
from exprgrad.graph.tensors import STRUCTURAL
from exprgrad.run.arrays.arrays import Array, forward
from exprgrad.run.numbers.kink_screen import equal_numbers

__all__ = ["held", "specials"]


def specials(
    graph: Graph,
    node: int,
    values: Sequence[Array],
    active: Sequence[int],
    moving: Sequence[int],
) -> list[tuple[Special, Array]]:
    """The kinks and jumps that one node meets, each with flags that say where.

    ``active`` says which nodes depend on a differentiated input, ``moving`` which of them a small step of
    one can move.
    """
    operands, kind = graph.operands[node], graph.kinds[node]
    op = BY_NAME.get(kind)
    row = STRUCTURAL[kind] if op is None and operands else None
    if not (op.special if op else row and row.kink):
        return []
    given, out = [values[operand] for operand in operands], values[node]
    varies = [float(moving[operand]) for operand in operands]
    tests: list[tuple[Special, Array]] = []
    if row is not None and row.kink is not None:
        if any(varies):
            with np.errstate(all="ignore"):
                flags = row.kink(np, given, out, cast(Settings, graph.payloads[node]))
            tests = [(Special("", "kink", row.kink_words), flags)]
    elif op is not None and may_meet(graph, node, op, values, moving):
        views = sides(op, given, out, varies)
        mine = [view for view, operand in zip(views, operands, strict=True) if active[operand]]
        for special in op.special:
            found = [held(special.where, slots(op), view) for view in mine]
            tests.append((special, np.any(np.broadcast_arrays(*found), axis=0)))
    return [(special, flags) for special, flags in tests if np.any(flags)]


def may_meet(
    graph: Graph, node: int, op: Op, values: Sequence[Array], moving: Sequence[int]
) -> bool:
    """Whether any numbers are equal that a kink or a jump needs to be: quick, as every run asks it."""
    needed = equal_numbers(graph, node, op, moving)
    return needed is None or any(
        np.any(values[one] == (other if isinstance(other, float) else values[other]))
        for one, other in needed
    )


def sides(op: Op, given: Sequence[Array], out: Array, varies: Sequence[float]) -> list[list[Any]]:
    """For each operand, the values that a rule sees, as ``derive.rules.slots`` says."""
    if not op.variadic:
        return [[*given, out, *varies]] * len(given)
    found = [[x, out, v, 0.0] for x, v in zip(given, varies, strict=True)]
    ties = sum(held(op.ties, slots(op), side) for side in found)
    return [[*side[:3], ties] for side in found]


def held(text: str, names: Sequence[str], arguments: Sequence[Array]) -> Array:
    """A condition of a row, evaluated at every number of its arguments."""
    graph = template(text)
    return forward(graph, dict(zip(names, arguments, strict=True)))[graph.output]
