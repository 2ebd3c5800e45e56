"""Derivatives at an edge of a formula's domain: they are from one side, for on the other is nothing."""

from __future__ import annotations

import math
from collections.abc import Container, Iterator

from exprgrad.explain.diagnostic import Diagnostic
from exprgrad.explain.limits import beyond_sides
from exprgrad.explain.places import live
from exprgrad.explain.sides.one_sided import UNDEFINED, around, towards
from exprgrad.graph.graph import dependencies
from exprgrad.graph.ops import BY_NAME
from exprgrad.language.write.infix import number
from exprgrad.run.evaluation import Run
from exprgrad.run.numbers.primitives import at_pole, holds

__all__ = ["edges"]


def edges(run: Run, told: Container[str]) -> Iterator[Diagnostic]:
    """A note for each derivative that is from one side, but for those of which more is ``told``."""
    graph = run.graph
    if graph.shapes or not math.isfinite(run.value) or beyond_sides(run):
        return
    ends = ends_met(run)
    behind = dependencies(graph, *ends)
    names = [name for name in run.wrt or () if behind[graph.inputs[name]] and name not in told]
    point = around(run) if names else None
    for name in names:
        if point is None or not math.isfinite(run.swept[name]):
            continue
        left, right = (towards(point, name, sign) for sign in (-1.0, 1.0))
        missing, there = ("left", right) if left.state == UNDEFINED else ("right", left)
        if {left.state, right.state} != {UNDEFINED, ""} or there.slope is None:
            continue
        node = next(node for node in ends if dependencies(graph, node)[graph.inputs[name]])
        side = "right" if missing == "left" else "left"
        message = (
            f"the derivative along {name} is {number(there.slope.value + 0.0)} from the {side} alone: "
            f"{run.label(node)} is not defined on the {missing}"
        )
        yield Diagnostic("edge", "note", message, node, graph.span(node), None)


def ends_met(run: Run) -> list[int]:
    """The nodes at an edge of their domain, whose slope is finite, or at a pole."""
    used, graph = live(run), run.graph
    found = []
    for node, (kind, operands) in enumerate(zip(graph.kinds, graph.operands, strict=True)):
        if used[node] and operands:
            op, given = BY_NAME[kind], [run.values[operand] for operand in operands]
            if at_pole(op, given) or (op.edge and holds(op.edge, op.names, given)):
                found.append(node)
    return found
