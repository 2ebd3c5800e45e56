"""Numbers with what rounding may have done to them: a bound that is carried along, never picked.

Each operation adds what it rounds to what its operands were off by (J. H. Wilkinson's running error
analysis, Rounding Errors in Algebraic Processes, 1963).  The bounds are of first order in the errors.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from exprgrad.derive.rules import slots, template
from exprgrad.graph.graph import CONST, INPUT, Graph
from exprgrad.graph.ops import BY_NAME, Op
from exprgrad.run.numbers.primitives import functions
from exprgrad.run.numbers.templates import compile_template, sides

__all__ = ["SURE", "ZERO", "Measured", "inner", "measured", "minus", "rounded"]

SURE = 2.0**-8
"""A number that is off by no more than this part of itself has two digits."""
WHOLE = 2.0**53
"""Below it every whole number is a double, so what correctly rounded operations make of such is exact."""


class Measured(NamedTuple):
    """A number and by how much it may be off; a number that is not finite is off by nothing."""

    value: float
    error: float = 0.0


ZERO = Measured(0.0)


def rounding(value: float, operands: Iterable[float], ulps: float = 0.5) -> float:
    """What an operation may have rounded away; nothing where all are whole numbers."""
    if not math.isfinite(value):
        return 0.0
    exact = ulps <= 0.5 and all(x.is_integer() and abs(x) < WHOLE for x in (value, *operands))
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
    """A template's value, given its names' values and what those may be off by.

    An operation with kinks is taken to change no faster than its operands, whichever of them it chooses.
    """
    found: list[Measured] = []
    for kind, operands, payload in zip(graph.kinds, graph.operands, graph.payloads, strict=True):
        if kind == INPUT:
            found.append(given[str(payload)])
            continue
        if kind == CONST:
            assert isinstance(payload, float)
            found.append(Measured(payload))
            continue
        op, seen = BY_NAME[kind], [found[operand] for operand in operands]
        numbers = [x.value for x in seen]
        value = functions[kind](*numbers)
        error = rounded(op, value, numbers)
        if any(x.error for x in seen):
            views = sides(op, [*numbers, value], [1.0] * len(seen))
            for position, (x, view) in enumerate(zip(seen, views, strict=True)):
                local = compile_template(template(op.partial(position)), slots(op))(view)
                bent = op.special and not op.branches and op.partial(position) != "0"
                error += x.error * (max(abs(local), 1.0) if bent else abs(local)) if x.error else 0
        found.append(Measured(value, error if math.isfinite(value) else 0.0))
    return found[graph.output]
