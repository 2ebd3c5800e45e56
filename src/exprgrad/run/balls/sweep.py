"""The reverse sweep in ball arithmetic: the true gradient, by the rules shown.

``display_partials`` is exact in real arithmetic; ``partials`` may be exact only in doubles.
So these are used at two kinds of points alone: kinks and jumps, where they state the convention (and
where balls do not decide whether there is one, it is either), and points where ``display_partials`` has
no value, such as 0^0.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from exprgrad.derive.rules import template
from exprgrad.graph.graph import CONST, Graph, dependent_flags
from exprgrad.graph.ops import BY_NAME
from exprgrad.run.balls.balls import (
    Ball,
    apply_to_balls,
    ball_where,
    decide_truth,
    exact_ball,
    formula_ball,
    is_double,
    is_infinite,
    is_known,
    seen_by,
    specials_met,
    undecided_ball,
    undefined_ball,
    whole_line,
    working_precision,
)
from exprgrad.run.numbers.sweeps import compile_template, is_gated_edge

__all__ = ["BallSweep", "locals_of", "sweep_balls"]


class BallSweep(NamedTuple):
    """The result of a reverse sweep in balls.

    ``grads``          by node; None where no gradient arrived
    ``locals``         by node: the local derivatives, None for an operand that is not active; None for a
                       node that passed nothing on
    ``contributions``  likewise each edge's contribution, None for an edge that passed nothing
    """

    grads: list[Ball | None]
    locals: list[tuple[Ball | None, ...] | None]
    contributions: list[tuple[Ball | None, ...] | None]


def sweep_balls(graph: Graph, values: Sequence[Ball], wrt: Iterable[int], bits: int) -> BallSweep:
    """Compute every node's true grad from the true data: the walk of ``run/numbers/sweeps.py``."""
    active = dependent_flags(graph, wrt)
    varying = dependent_flags(graph, graph.inputs.values())
    grads: list[Ball | None] = [None] * len(graph)
    locals_: list[tuple[Ball | None, ...] | None] = [None] * len(graph)
    passed: list[tuple[Ball | None, ...] | None] = [None] * len(graph)
    with working_precision(bits):
        grads[graph.output] = exact_ball(1)
        for node in range(graph.output, -1, -1):
            grad, operands = grads[node], graph.operands[node]
            if grad is None or not operands or not active[node]:
                continue
            op = BY_NAME[graph.kinds[node]]
            places = [place for place, operand in enumerate(operands) if active[operand]]
            slopes = dict(zip(places, locals_of(graph, values, node, places, varying), strict=True))
            mine = tuple(slopes.get(place) for place in range(len(operands)))
            found: list[Ball | None] = []
            for position, (operand, slope) in enumerate(zip(operands, mine, strict=True)):
                if slope is None or (is_gated_edge(op, position) and slope.is_zero()):
                    found.append(None)
                    continue
                contribution = apply_to_balls("mul", (grad, slope))
                found.append(contribution)
                before = grads[operand]
                grads[operand] = (
                    contribution
                    if before is None
                    else apply_to_balls("add", (before, contribution))
                )
            locals_[node], passed[node] = mine, tuple(found)
    return BallSweep(grads, locals_, passed)


def locals_of(
    graph: Graph,
    values: Sequence[Ball],
    node: int,
    positions: Iterable[int],
    varying: Sequence[int],
) -> list[Ball]:
    """Return a node's local derivatives at some positions, in the current precision.

    ``varying`` flags the nodes that depend on an input.
    """
    op = BY_NAME[graph.kinds[node]]
    out = values[node]
    if op.domain and not is_known(out):
        return [undefined_ball() if out.is_nan() else whole_line() for _ in positions]
    if op.variadic and op.special:
        share = operand_shares(graph, values, node, varying)
        return [share[graph.operands[node][position]] for position in positions]
    return [local_derivative_ball(graph, values, node, position, varying) for position in positions]


def local_derivative_ball(
    graph: Graph, values: Sequence[Ball], node: int, position: int, varying: Sequence[int]
) -> Ball:
    """Return one local derivative of a node that has a value."""
    op = BY_NAME[graph.kinds[node]]
    operands = graph.operands[node]
    out = values[node]
    rule = template(op.display_partial(position))
    if not op.special and {*rule.kinds} <= {CONST, "neg"} and not rule.symbols:  # 1, or -1
        return exact_ball(compile_template(rule, ())(()))
    if op.variadic:
        given = {op.names[0]: values[operands[position]], "out": out}
        found = formula_ball(op.display_partial(position), given)
        if found.is_nan() and op.ties:
            shares = [
                formula_ball(op.ties, {**given, op.names[0]: values[one]}) for one in operands
            ]
            return formula_ball(op.partial(position), {**given, "ties": sum(shares, exact_ball(0))})
        return found
    given = seen_by(graph, values, node, varying)
    found = formula_ball(op.display_partial(position), given)
    if not op.display_partials:
        return found
    if found.is_finite():
        met = specials_met(graph, values, node, varying).values()
        conventional = True in met or (None if None in met else False)
    else:
        conventional = found.is_nan() or all(
            is_double(values[o]) or is_infinite(values[o]) for o in operands
        )
    if conventional is False:
        return found
    convention = formula_ball(op.partial(position), given)
    return convention if conventional else ball_where(undecided_ball(), found, convention)


def operand_shares(
    graph: Graph, values: Sequence[Ball], node: int, varying: Sequence[int]
) -> dict[int, Ball]:
    """Return, by operand, the share that a choosing row passes to it: all, a share in a tie, or nothing.

    An operand whose ball the result's does not meet is not chosen.  Those left tie if they are one node, or
    the same exact number, which the result's own ball cannot tell; else that is undecided.  In a
    tie a constant takes everything, as the row's ``ties`` say.
    """
    operands, out = graph.operands[node], values[node]
    if not is_known(out):
        return dict.fromkeys(operands, undefined_ball() if out.is_nan() else whole_line())
    leading = [
        o for o in operands if decide_truth(apply_to_balls("eq", (values[o], out))) is not False
    ]
    first = leading[0]
    passed = undecided_ball()
    if all(
        o == first or decide_truth(apply_to_balls("eq", (values[o], values[first])))
        for o in leading
    ):
        equal = all(o == first or (varying[o] and varying[first]) for o in leading)
        passed = exact_ball(1) / len(leading) if equal else exact_ball(0)
    return {**dict.fromkeys(operands, exact_ball(0)), **dict.fromkeys(leading, passed)}
