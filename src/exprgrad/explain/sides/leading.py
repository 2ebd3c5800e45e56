"""Leading terms beside a point: what a formula gains a little way along an input, as a power of the way.

A node is its limit plus ``c*t^p + o(t^p)``, of the way t and a real p above 0: so sqrt(t^4) gains t^2, and
cbrt(t)^3 gains t.  It tells derivatives where a tangent is infinite on the way, or 0 times infinity.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from exprgrad.derive.rules import slots, template
from exprgrad.explain.kinks_met import local_rule, met
from exprgrad.explain.sides.one_sided import Measured, error_of, inner, noise, noise_of
from exprgrad.graph.graph import Algebra, Graph, interpret
from exprgrad.graph.op import Op, Special
from exprgrad.graph.ops import BY_NAME, COMPARISONS
from exprgrad.run.evaluation import Run
from exprgrad.run.numbers.sweeps import compile_template, functions, number, sides

__all__ = ["leading_slope"]

NOTHING = Measured(0.0)
DEEPEST_SERIES = 2
"""How deep definitions of rows are followed."""


class Term(NamedTuple):
    """A limit, and what is gained: ``gain*t^power``, and less than that by any factor; nothing at ``inf``.

    ``doubt`` is what the limit may be off by.  Where nothing is known the limit is nan.
    """

    limit: float
    gain: Measured = NOTHING
    power: float = math.inf
    doubt: float = 0.0


LOST = Term(math.nan, power=0.0)


def leading_slope(run: Run, name: str, sign: float) -> Measured | None:
    """The derivative towards one side, where leading terms tell it."""
    doubts = noise(run)
    given = {one: Term(x) for one, x in run.inputs.items()}
    given[name] = Term(run.inputs[name], Measured(sign), 1.0)

    def step(graph: Graph, node: int, operands: Sequence[Term]) -> Term:
        op = BY_NAME[graph.kinds[node]]
        zeros = [not (x.limit or x.doubt) for x in operands]
        by_first = op.powers or op.name == "pow"
        is_exact = any(zeros) if op.powers == (1, 1) else all(zeros[:1] if by_first else zeros)
        found = of_row(op, operands, DEEPEST_SERIES)
        return found._replace(doubt=0.0 if is_exact and not found.limit else doubts[node])

    algebra = Algebra(lambda graph, node: Term(number(graph, node)), step)
    limit, gain, power, _ = interpret(run.graph, algebra, given)[run.graph.output]
    if limit != run.value or (power < 1.0 and abs(gain.value) <= gain.error):
        return None
    if power < 1.0:
        return Measured(sign * math.copysign(math.inf, gain.value))
    return Measured(sign * gain.value, gain.error) if power == 1.0 else NOTHING


def of_row(op: Op, operands: Sequence[Term], depth: int) -> Term:
    """A row's term, given its operands'; its definition is asked ``depth`` deep."""
    limits, moves = [x.limit for x in operands], [x.power < math.inf for x in operands]
    out = functions[op.name](*limits) if op.equation is None else math.nan
    if not any(moves) or not math.isfinite(out) or any(map(math.isnan, limits)):
        return LOST if any(moves) else Term(out)
    if op.powers == (1, 1):
        return of_product(out, *operands)
    at_0 = op.name == "pow" and not limits[0] and not moves[1]
    views = sides(op, [*limits, out], [float(m) for m in moves])
    special = None if at_0 else met(op, views, moves)
    positions = [0 if op.variadic else at for at in range(len(operands))]
    locals_ = [
        local_rule(op.name, at)(view) if m else 0.0
        for at, view, m in zip(positions, views, moves, strict=True)
    ]
    if special is None and not at_0 and all(map(math.isfinite, locals_)):
        doubts = [x.doubt for x in operands[: len(op.names)]]
        slopes = [
            Measured(x, error_of(op, at, x) + noise_of(op, at, view, doubts))
            for at, view, x in zip(positions, views, locals_, strict=True)
        ]
        terms = [(slope, x) for slope, x, m in zip(slopes, operands, moves, strict=True) if m]
        power = min(x.power for _, x in terms)
        gain = inner((slope, x.gain) for slope, x in terms if x.power == power)
        return Term(out, gain, power)
    if any(x.doubt for x in operands):
        return LOST
    if at_0:
        return of_power(operands[0], limits[1])
    if special is not None and not op.variadic and len(operands) == 1:
        return at_special(op, special, out, operands[0], views[0])
    if not op.definition or op.variadic or not depth:
        return LOST
    graph = template(op.definition)
    if not {"where", *COMPARISONS}.isdisjoint(graph.kinds):
        return LOST  # a case may hold at the point alone
    algebra = Algebra(
        lambda graph, node: Term(number(graph, node)),
        lambda graph, node, seen: of_row(BY_NAME[graph.kinds[node]], seen, depth - 1),
    )
    return interpret(graph, algebra, dict(zip(op.names, operands, strict=True)))[graph.output]


def of_product(out: float, one: Term, other: Term) -> Term:
    """The term of a product; what has the limit 0 and stays there takes the other with it."""
    terms = [
        (Measured(x.limit, x.doubt), y.gain, y.power)
        for x, y in ((one, other), (other, one))
        if x.limit
    ]
    terms.append((one.gain, other.gain, one.power + other.power))
    power = min(p for _, _, p in terms)
    return Term(out, inner((x, gain) for x, gain, p in terms if p == power), power)


def of_power(base: Term, exponent: float) -> Term:
    """The term of a constant power above 0 of what has the limit 0."""
    value, error = base.gain
    is_whole = exponent.is_integer()
    if exponent <= 0 or (abs(value) <= error and not (is_whole and not error)):
        return LOST
    if value < 0 and not is_whole:
        return LOST
    gain = value**exponent
    error = 2 * exponent * abs(gain / value) * error if value else 0.0
    return Term(0.0, Measured(gain, error + math.ulp(gain)), base.power * exponent)


def at_special(op: Op, special: Special, out: float, x: Term, view: Sequence[float]) -> Term:
    """The term of a row of one operand at its kink or jump."""
    value, error = x.gain
    if abs(value) <= error:
        return Term(out, NOTHING, x.power) if special.code == "kink" and not error else LOST
    given = [*view, value, 1.0, 1.0]
    names = (*slots(op), f"d{op.names[0]}", f"moves_{op.names[0]}", "same")
    if special.side:
        return Term(compile_template(template(special.side), names)(given))
    slope = compile_template(template(special.slope), names)(given)
    return Term(out, Measured(slope, 2 * error), x.power)
