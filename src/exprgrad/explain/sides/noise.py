"""What rounding may have done to the nodes of a run and to its local derivatives, to first order.

Data are taken as they were computed, and that makes no difference as long as everything is finite: what
belongs to a rounded number is off by little.  Of noise times infinity even the sign means nothing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import product

from exprgrad.derive.rules import slots
from exprgrad.explain.sides.movement import local_rule
from exprgrad.explain.sides.running_error import rounded
from exprgrad.graph.graph import CONST, INPUT
from exprgrad.graph.ops import BY_NAME, Op
from exprgrad.run.numbers.templates import sides
from exprgrad.run.result import Run

__all__ = ["noise", "noise_of"]


def noise(run: Run) -> list[float]:
    """By node: what its data may be off by; inputs and numbers as typed are off by nothing."""
    graph, values, found = run.graph, run.values, [0.0] * len(run.graph)
    for node, (kind, operands, value) in enumerate(
        zip(graph.kinds, graph.operands, values, strict=True)
    ):
        if kind == INPUT or not math.isfinite(value):
            continue
        if kind == CONST:
            found[node] = math.ulp(value) / 2 if node in graph.symbols else 0.0
            continue
        op, seen = BY_NAME[kind], [values[operand] for operand in operands]
        error = rounded(op, value, seen)
        if any(found[operand] for operand in operands):
            views = sides(op, [*seen, value], [1.0] * len(seen))
            for position, (operand, view) in enumerate(zip(operands, views, strict=True)):
                if found[operand] and op.partial(position) != "0":
                    local = abs(local_rule(op.name, position)(view))
                    error += local * found[operand] if local == local else math.inf
        found[node] = error
    return found


def noise_of(op: Op, position: int, view: Sequence[float], errors: Sequence[float]) -> float:
    """What a local derivative may be off by, given by how much its operands and the result may be.

    ``view`` are the values that the rule sees, of which the first have those errors.
    """
    rule, names = local_rule(op.name, position), slots(op)
    if not any(errors):
        return 0.0
    here = rule(view)
    rest = view[len(errors) : len(names)]
    ends = [{x - error, x + error} for x, error in zip(view, errors, strict=False)]
    apart = [abs(rule([*place, *rest]) - here) for place in product(*ends)]
    return max(x if x == x else math.inf for x in apart)
