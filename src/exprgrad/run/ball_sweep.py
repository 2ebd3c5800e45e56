"""The reverse sweep in ball arithmetic: the true gradient, by the rules that people read.

``shown`` is exact in real arithmetic; ``partials`` may hold what is as good only in doubles.  So these
are asked at two kinds of points alone, at operands that are exact doubles: kinks and jumps, where they
state the convention, and points where ``shown`` has no value, such as 0^0.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from typing import NamedTuple

from exprgrad.derive.rules import slots, template
from exprgrad.graph.graph import CONST, Graph, dependents
from exprgrad.graph.ops import BY_NAME, Op
from exprgrad.run.balls import (
    Ball,
    apply,
    ball,
    either,
    formula,
    is_double,
    is_infinite,
    is_known,
    truth,
    undefined,
    unknown,
    where,
    working,
)
from exprgrad.run.tape import gated
from exprgrad.run.templates import compile_template

__all__ = ["Sweep", "local", "sweep"]


class Sweep(NamedTuple):
    """What a reverse sweep in balls finds.

    ``grads``          by node; None where no gradient arrived
    ``locals``         by node: the local derivatives, None for an operand that is not active; None for a
                       node that passed nothing on
    ``contributions``  the same for what was passed along each edge, None for an edge that passed nothing
    """

    grads: list[Ball | None]
    locals: list[tuple[Ball | None, ...] | None]
    contributions: list[tuple[Ball | None, ...] | None]


def sweep(graph: Graph, values: Sequence[Ball], wrt: Iterable[int], bits: int) -> Sweep:
    """Every node's true grad, given every node's true data: the walk of ``run/sweeps.py``."""
    active = dependents(graph, wrt)
    varying = dependents(graph, graph.inputs.values())
    grads: list[Ball | None] = [None] * len(graph)
    locals_: list[tuple[Ball | None, ...] | None] = [None] * len(graph)
    passed: list[tuple[Ball | None, ...] | None] = [None] * len(graph)
    with working(bits):
        grads[graph.output] = ball(1)
        for node in range(graph.output, -1, -1):
            grad, operands = grads[node], graph.operands[node]
            if grad is None or not operands or not active[node]:
                continue
            op = BY_NAME[graph.kinds[node]]
            mine = tuple(
                local(graph, values, node, position, varying) if active[operand] else None
                for position, operand in enumerate(operands)
            )
            found: list[Ball | None] = []
            for position, (operand, slope) in enumerate(zip(operands, mine, strict=True)):
                if slope is None or (gated(op, position) and slope.is_zero()):
                    found.append(None)
                    continue
                contribution = apply("mul", (grad, slope))
                found.append(contribution)
                before = grads[operand]
                grads[operand] = (
                    contribution if before is None else apply("add", (before, contribution))
                )
            locals_[node], passed[node] = mine, tuple(found)
    return Sweep(grads, locals_, passed)


def local(
    graph: Graph, values: Sequence[Ball], node: int, position: int, varying: Sequence[int]
) -> Ball:
    """One local derivative, in the precision at hand; ``varying`` flags what depends on an input."""
    op = BY_NAME[graph.kinds[node]]
    operands = graph.operands[node]
    out = values[node]
    if op.domain and not is_known(out):
        return undefined() if out.is_nan() else unknown()
    if not op.special and (fixed := number(op, position)) is not None:
        return ball(fixed)
    if op.variadic:
        if op.special:
            return share(graph, values, node, position, varying)
        given = {op.names[0]: values[operands[position]], "out": out}
        return formula(op.shown_partial(position), given)
    mine = [values[operand] for operand in operands]
    given = dict(zip(slots(op), [*mine, out], strict=False))
    for name, operand in zip(op.names, operands, strict=True):
        given[f"varies_{name}"] = ball(varying[operand])
    found = formula(op.shown_partial(position), given)
    if all(is_double(x) or is_infinite(x) for x in mine):
        conventional = special(op, given) if found.is_finite() else True
        if conventional is not False:
            convention = formula(op.partial(position), given)
            return convention if conventional else where(either(), found, convention)
    return found


@cache
def number(op: Op, position: int) -> float | None:
    """The local derivative of an edge if it is the same everywhere, such as 1 for a sum."""
    rule = template(op.shown_partial(position))
    is_plain = set(rule.kinds) <= {CONST, "neg"} and not rule.symbols
    return compile_template(rule, ())(()) if is_plain else None


def special(op: Op, given: dict[str, Ball]) -> bool | None:
    """Whether a row is at a kink or a jump; None where the balls do not decide."""
    found = [truth(formula(special.where, given)) for special in op.special]
    return True if True in found else None if None in found else False


def share(
    graph: Graph, values: Sequence[Ball], node: int, position: int, varying: Sequence[int]
) -> Ball:
    """What an operand of ``max`` or ``min`` is passed: all, a share in a tie, or nothing.

    Which operands equal the result cannot be asked of the result's own ball, so operands are compared
    with each other.  In a tie a constant takes everything, as the row's ``ties`` say.
    """
    operands = graph.operands[node]
    mine = values[operands[position]]
    beats = "gt" if graph.kinds[node] == "max" else "lt"
    if not is_known(values[node]):
        return undefined() if values[node].is_nan() else unknown()
    sharing, decided = 0.0, True
    for operand in operands:
        other = values[operand]
        if operand == operands[position]:
            sharing += 1.0
            continue
        ahead = truth(apply(beats, (other, mine)))
        if ahead:
            return ball(0)
        behind = truth(apply(beats, (mine, other)))
        if ahead is None or behind is None:
            decided = False
        elif not behind:
            sharing += 1.0 if varying[operand] else float("inf")
    return ball(1) / ball(sharing) if decided else either()
