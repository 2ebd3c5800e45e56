"""First-order bounds on rounding: how far a sweep's numbers may be from the truth.

Every bound is derived.  An operation adds its row's ``value_ulp`` to what it passes on of its operands'
errors; a local derivative adds the row's ``partial_ulp`` to what its own derivatives make of them; a
contribution is a product and an accumulation a sum, each rounded once.  The ulp is that of the largest
number which those errors allow, for it may lie beyond the next power of 2.  What is left out is of second
order in the errors, and a caller sees to it that they are small.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from exprgrad.derive.rules import template
from exprgrad.graph.graph import CONST, INPUT, Graph, dependent_flags
from exprgrad.graph.ops import BY_NAME, Op
from oracles import CONSTANTS, Real, evaluate, mp, mpf, reference, ulp

SECOND_ORDER = 1 + 2.0**-20
"""Room for the terms that a first-order bound leaves out, where relative errors are below 2^-24."""

PRECISION = 1600
"""In bits: 1 less a number near 1 may be as small as a double, and differences of such are taken."""


class Bounds(NamedTuple):
    """The truth of every node's data and what its error may be, and the same of the inputs' grads."""

    values: list[Real]
    errors: list[Real]
    gradient: dict[str, Real]
    gradient_errors: dict[str, Real]


def is_extremum(op: Op) -> bool:
    """Whether the operation chooses one of its operands, whose local derivative is 1."""
    return op.variadic and bool(op.special)


def partial(op: Op, position: int, operands: list[Real]) -> Real:
    """A local derivative as people read it, in mpmath, away from kinks."""
    out = reference(op.name, *operands)
    if is_extremum(op):
        return mpf(1 if operands[position] == out else 0)
    if op.variadic:
        one = {op.names[0]: operands[position], "out": out}
        return evaluate(template(op.display_partial(position)), one)[-1]
    given = dict(zip((*op.names, "out"), (*operands, out), strict=True))
    return evaluate(template(op.display_partial(position)), given)[-1]


def bent(op: Op, position: int, operands: list[Real], by: int) -> Real:
    """The derivative of a local derivative by an operand, by a central difference."""
    step = mp.ldexp(abs(operands[by]) or 1, -mp.prec // 4)
    sides = []
    for sign in (-1, 1):
        moved = list(operands)
        moved[by] += sign * step
        sides.append(partial(op, position, moved))
    return (sides[1] - sides[0]) / (2 * step)


def bounds(graph: Graph, inputs: Mapping[str, float], engine: float = 0.0) -> Bounds:
    """The truth and the bounds for one graph and its inputs, which are exact.

    ``engine`` is what an engine may add, in ulps, for each primitive that is not correctly rounded.
    """
    with mp.workprec(PRECISION):
        return find(graph, inputs, engine)


def of_value(op: Op, engine: float) -> float:
    """The ulps of an operation's value."""
    return max(op.value_ulp, engine) if op.value_ulp > 0.5 else op.value_ulp


def of_partial(op: Op, position: int, engine: float) -> float:
    """The ulps of a local derivative: the row's, and the engine's for each primitive of the rule."""
    if not engine:
        return op.partial_ulp
    rule = template(op.partial(position))
    kinds = [kind for kind in rule.kinds if kind in BY_NAME]
    inexact = sum(BY_NAME[kind].value_ulp > 0.5 for kind in kinds) + ("out" in rule.inputs)
    return op.partial_ulp + engine * inexact


def find(graph: Graph, inputs: Mapping[str, float], engine: float) -> Bounds:
    values = evaluate(graph, inputs)
    active = dependent_flags(graph, graph.inputs.values())
    errors: list[Real] = []
    locals_: list[list[Real]] = []
    for node, kind in enumerate(graph.kinds):
        locals_.append([])
        if kind in (INPUT, CONST):
            rounded = graph.symbols.get(node) in CONSTANTS
            errors.append(ulp(values[node]) if rounded else mpf(0))
            continue
        op = BY_NAME[kind]
        operands = [values[operand] for operand in graph.operands[node]]
        error = mpf(0)
        for position, operand in enumerate(graph.operands[node]):
            slope = mpf(0)
            if active[operand] or errors[operand]:
                slope = partial(op, position, operands)
            locals_[node].append(slope)
            error += abs(slope) * errors[operand] if errors[operand] else 0
        own = max(of_value(op, engine) * ulp(abs(values[node]) + error), op.value_abs)
        errors.append(error + own)
    return reverse_bounds(graph, values, errors, locals_, active, engine)


def reverse_bounds(
    graph: Graph,
    values: list[Real],
    errors: list[Real],
    locals_: list[list[Real]],
    active: bytearray,
    engine: float,
) -> Bounds:
    grads: list[Real] = [mpf(0)] * len(graph)
    grad_errors: list[Real] = [mpf(0)] * len(graph)
    grads[graph.output] = mpf(1)
    for node in range(graph.output, -1, -1):
        if not active[node] or grads[node] == 0 == grad_errors[node] or not graph.operands[node]:
            continue
        op = BY_NAME[graph.kinds[node]]
        operands = [values[operand] for operand in graph.operands[node]]
        for position, operand in enumerate(graph.operands[node]):
            slope = locals_[node][position]
            if not active[operand] or (slope == 0 and op.partial(position) == "0"):
                continue
            wrong = mpf(0)
            for by, other in enumerate(graph.operands[node]):
                if errors[other] and not is_extremum(op):
                    wrong += abs(bent(op, position, operands, by)) * errors[other]
            rounded = of_partial(op, position, engine) * ulp(abs(slope) + wrong)
            wrong += max(rounded, op.partial_abs) if slope else 0
            contribution = grads[node] * slope
            passed = abs(grads[node]) * wrong + abs(slope) * grad_errors[node] + ulp(contribution)
            grads[operand] += contribution
            grad_errors[operand] += passed + ulp(grads[operand])
    gradient = {name: grads[node] for name, node in graph.inputs.items()}
    found = {name: grad_errors[node] * SECOND_ORDER for name, node in graph.inputs.items()}
    return Bounds(values, [error * SECOND_ORDER for error in errors], gradient, found)
