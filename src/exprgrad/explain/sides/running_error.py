"""Numbers with what rounding may have done to them: a bound that is carried along, never picked.

Each operation adds what it rounds to what its operands were off by (J. H. Wilkinson's running error
analysis, Rounding Errors in Algebraic Processes, 1963).  The bounds are of first order in the errors.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from typing import NamedTuple

from exprgrad.derive.rules import slots, template
from exprgrad.explain.kinks_met import local_rule
from exprgrad.graph.graph import Algebra, Graph, interpret
from exprgrad.graph.ops import BY_NAME, Op
from exprgrad.run.evaluation import Run
from exprgrad.run.numbers.primitives import functions, number, sides

__all__ = [
    "SURE",
    "ZERO",
    "Measured",
    "error_of",
    "inner",
    "measured",
    "minus",
    "noise",
    "noise_of",
    "rounded",
    "rounding",
]

SURE = 2.0**-8
"""A number that is off by no more than this part of itself has two digits."""
EXACT_BELOW = 2.0**52
"""Below it every whole number is a double, so what correctly rounded operations make of such is exact.

From 2^52 on the root of a number that is no square may be rounded to a whole one.
"""


class Measured(NamedTuple):
    """A number and by how much it may be off; a number that is not finite is off by nothing."""

    value: float
    error: float = 0.0


ZERO = Measured(0.0)


def rounding(value: float, operands: Iterable[float], ulps: float = 0.5) -> float:
    """What an operation may have rounded away; nothing where all are whole numbers."""
    if not math.isfinite(value):
        return 0.0
    exact = ulps <= 0.5 and all(x.is_integer() and abs(x) < EXACT_BELOW for x in (value, *operands))
    return 0.0 if exact else ulps * math.ulp(value)


def rounded(op: Op, value: float, operands: Iterable[float]) -> float:
    """What an operation of the op table may have rounded away."""
    return max(rounding(value, operands, op.value_ulp), op.value_abs)


def inner(terms: Iterable[tuple[Measured, Measured]]) -> Measured:
    """A sum of products."""
    found = error = 0.0
    for (one, error_of_one), (other, error_of_other) in terms:
        value = one * other
        if value and not (abs(one) == 1.0 or abs(other) == 1.0):
            error += rounding(value, (one, other))
        error += abs(one) * error_of_other + error_of_one * (abs(other) + error_of_other)
        before, found = found, found + value
        if before and value:
            error += rounding(found, (before, value))
    return Measured(found, error if math.isfinite(found) else 0.0)


def minus(one: Measured, other: Measured) -> Measured:
    """A difference."""
    return inner(((Measured(1.0), one), (Measured(-1.0), other)))


def measured(graph: Graph, given: Mapping[str, Measured]) -> Measured:
    """A template's value, given its names' values and what those may be off by."""
    return interpret(graph, RUNNING, given)[graph.output]


def noise(run: Run) -> list[float]:
    """By node: what its data may be off by; inputs and numbers as typed are off by nothing.

    Data are taken as they were computed, and that makes no difference as long as everything is finite: what
    belongs to a rounded number is off by little.  Of noise times infinity even the sign means nothing.
    """
    given = {name: Measured(value) for name, value in run.inputs.items()}
    return [number.error for number in interpret(run.graph, RUNNING, given)]


def as_typed(graph: Graph, node: int) -> Measured:
    """A number as typed, which is off by nothing, or one with a name, such as pi."""
    value = number(graph, node)
    is_named = node in graph.symbols and math.isfinite(value)
    return Measured(value, math.ulp(value) / 2 if is_named else 0.0)


def applied(graph: Graph, node: int, operands: Sequence[Measured]) -> Measured:
    """An operation on numbers that may be off, and what it rounds itself.

    An operation with kinks is taken to change no faster than its operands, whichever of them it chooses.
    """
    op, numbers = BY_NAME[graph.kinds[node]], [x.value for x in operands]
    value = functions[op.name](*numbers)
    if not math.isfinite(value):
        return Measured(value)
    error = rounded(op, value, numbers)
    if any(x.error for x in operands):
        views = sides(op, [*numbers, value], [1.0] * len(operands))
        for position, (x, view) in enumerate(zip(operands, views, strict=True)):
            if x.error and op.partial(position) != "0":
                slope = abs(local_rule(op.name, position)(view))
                bent = op.special and not op.branches
                error += x.error * (max(slope, 1.0) if bent else slope)
    return Measured(value, error if error == error else math.inf)


RUNNING = Algebra(as_typed, applied)
"""Numbers, each with what rounding may have done to it on the way."""


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


def error_of(op: Op, position: int, local: float) -> float:
    """What a local derivative may be off by; an operand, or a constant, is off by nothing.

    The row's bound is in ulps of the truth, which may be twice those of what was computed; beside a zero
    it is absolute.
    """
    if len(template(op.partial(position))) == 1 or not math.isfinite(local):
        return 0.0
    return max(2 * op.partial_ulp * math.ulp(local), op.partial_abs)
