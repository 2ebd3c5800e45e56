"""Derivatives at an edge of a formula's domain: they are from one side, for on the other is nothing."""

from __future__ import annotations

import math
from collections.abc import Container, Iterator

from exprgrad.explain.limits import beyond_sides
from exprgrad.explain.places import in_numbers, live
from exprgrad.explain.sides.kinks import and_alike
from exprgrad.explain.sides.one_sided import UNDEFINED, around, towards
from exprgrad.graph.graph import dependencies
from exprgrad.graph.ops import BY_NAME
from exprgrad.language.write.infix import number
from exprgrad.run.evaluation import Diagnostic, Run, is_finite
from exprgrad.run.numbers.primitives import at_pole, holds

__all__ = ["edges"]


def edges(run: Run, told: Container[str]) -> Iterator[Diagnostic]:
    """A note for each derivative that is from one side, but for those of which more is ``told``.

    Of a tensor's numbers that end at one node the first speaks for all.
    """
    if not is_finite(run.value) or beyond_sides(run):
        return
    numbers = in_numbers(run)
    over = numbers.run
    if beyond_sides(over):
        return
    graph = over.graph
    ends = ends_met(over)
    behind = dependencies(graph, *ends)
    names = [name for name in over.wrt or () if behind[graph.inputs[name]] and name not in told]
    point = around(over) if names else None
    alike: dict[tuple[str, int], list[Diagnostic]] = {}
    for name in names:
        if point is None or not math.isfinite(over.swept[name]):
            continue
        left, right = (towards(point, name, sign) for sign in (-1.0, 1.0))
        missing, there = ("left", right) if left.state == UNDEFINED else ("right", left)
        if {left.state, right.state} != {UNDEFINED, ""} or there.slope is None:
            continue
        node = next(node for node in ends if dependencies(graph, node)[graph.inputs[name]])
        side = "right" if missing == "left" else "left"
        message = (
            f"the derivative along {name} is {number(there.slope.value + 0.0)} from the {side} alone: "
            f"{over.label(node)} is not defined on the {missing}"
        )
        place = numbers.origin(node)
        found = Diagnostic("edge", "note", message, place, graph.span(node), None)
        alike.setdefault((name.partition("[")[0], place), []).append(found)
    for (name, _), (first, *others) in alike.items():
        yield first._replace(message=first.message + and_alike(len(others), name))


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
