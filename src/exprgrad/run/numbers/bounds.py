"""What rounding may have done to a sweep's numbers: an error bound beside each data and each grad.

Each operation adds what it rounds to what its operands were off by (J. H. Wilkinson's running error
analysis, Rounding Errors in Algebraic Processes, 1963).  What a sum rounds away is known exactly (D. E.
Knuth, The Art of Computer Programming 2, section 4.2.2, theorem B); of other rows it is what they state.
The bounds are of first order in the errors, but where an error is large, or a row has kinks or jumps: there
the row is asked at both ends.  What is not finite may be off by anything.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from itertools import product, repeat
from typing import Any

from exprgrad.derive.rules import slots, template
from exprgrad.graph.graph import CONST, INPUT, Graph, dependencies
from exprgrad.graph.ops import BY_NAME, COMPARISONS, Op
from exprgrad.run.numbers.primitives import compile_template, functions, sides
from exprgrad.run.numbers.sweeps import Adjoints

__all__ = ["DOUBLE_DIGITS", "data_errors", "grad_errors", "right_digits"]

inf = math.inf
UNIT = 2.0**-53
"""Half an ulp, as a part of the least number that has it."""
TINY = 2.0**-1074
"""What a result below the normal numbers may be off by."""
NORMAL = 2.0**-1022
"""The least number that has all its bits: a slope below it may have lost some, or all."""
EXACT_BELOW = 2.0**53
"""Below it every whole number is a double, so what correctly rounded operations make of such is exact."""
FAR = 2.0**-20
"""An error that is so large, or so large a part of its number, is not of first order any more."""
BENT = 0.125
"""A local derivative that changes by such a part within an error is not of first order any more."""
STRETCH = 256.0
"""How many errors away a smooth rule is asked, so that what it rounds itself does not count."""
DOUBLE_DIGITS = 16
"""The digits that a double can have right."""
MOST_ENDS = 3
"""For how many numbers that are off all combinations of their ends are tried."""

SUM, PRODUCT, OTHER = range(3)
LEAVES = {INPUT, CONST}


def right_digits(value: float, error: float) -> int:
    """How many digits of a number are right, from 0 to 16, if it is off by no more than ``error``."""
    if not error:
        return DOUBLE_DIGITS if value - value == 0 else 0
    least = abs(value) - error
    if not least > 0:
        return DOUBLE_DIGITS if not value and error < 16 * TINY else 0
    if not (error <= least < inf):
        return 0
    return math.floor(math.log10(min(least / error, 10.0**DOUBLE_DIGITS)))


def data_errors(graph: Graph, values: Sequence[float], outputs: Iterable[int]) -> list[float]:
    """By node that the outputs depend on: what its data may be off by.

    Inputs and literals are exact: they are the doubles that they were read as.
    """
    errors = [0.0] * len(graph)
    for node in graph.symbols:
        if graph.kinds[node] == CONST:
            errors[node] = UNIT * abs(values[node])
    rows = {kind: (sort_of(BY_NAME[kind]), BY_NAME[kind]) for kind in {*graph.kinds} - LEAVES}
    if is_exact([op for _, op in rows.values()], values) and not graph.symbols:
        return errors
    needed = dependencies(graph, *outputs)
    nodes = zip(range(len(graph)), graph.kinds, graph.operands, needed, strict=True)
    for node, kind, operands, is_needed in nodes:
        if not (operands and is_needed):
            continue
        sort, op = rows[kind]
        if sort == OTHER:
            seen = [values[operand] for operand in operands]
            off = [errors[operand] for operand in operands]
            errors[node] = of_row(op, values[node], seen, off)
            continue
        first, second = operands
        error = UNIT * abs(values[node])
        if sort == SUM:
            error += errors[first] + errors[second]
        else:
            error += (
                abs(values[first]) * errors[second] + abs(values[second]) * errors[first] + TINY
            )
        errors[node] = error if error < inf else inf
    return errors


@cache
def sort_of(op: Op) -> int:
    """What sort of row it is: a sum or a product of two, or another."""
    if len(op.signs) == 2:
        return SUM
    return PRODUCT if op.powers == (1, 1) else OTHER


def is_exact(rows: Iterable[Op], numbers: Iterable[float]) -> bool:
    """Whether nothing can have been rounded: all rows are rounded correctly, and all numbers are whole."""
    return all(op.value_ulp <= 0.5 for op in rows) and all(
        x.is_integer() and -EXACT_BELOW < x < EXACT_BELOW for x in numbers
    )


def of_row(op: Op, out: float, seen: Sequence[float], off: Sequence[float]) -> float:
    """What a row's result may be off by, given what its operands may be."""
    if not abs(out) < inf:
        return inf
    error = own_error(op, out, seen)
    if any(off):
        error += carried(op, out, seen, off)
    return error if error < inf else inf


def own_error(op: Op, out: float, seen: Sequence[float]) -> float:
    """What a row may have rounded away itself, as it states.

    A 0 that is not made of zeros may be what is left of a number too small for doubles.
    """
    ulps = op.value_ulp
    if not ulps or (not out and not seen[0]):
        return op.value_abs
    if ulps <= 0.5 and is_exact([op], [out, *seen]):
        return 0.0
    return max(2 * ulps * UNIT * abs(out), ulps * TINY, op.value_abs)


def carried(op: Op, out: float, seen: Sequence[float], off: Sequence[float]) -> float:
    """What the operands' errors come to in a row's result."""
    function = functions[op.name]
    if op.name in COMPARISONS:
        return 1.0 if abs(seen[0] - seen[1]) <= off[0] + off[1] else 0.0
    if op.special and op.variadic:
        return max(off)
    if op.special and op.name != "mod":
        return at_ends(lambda place: function(*place), out, seen, off)
    error = at_ends(lambda place: function(*place), out, seen, off) if op.special else 0.0
    views = sides(op, [*seen, out], [1.0] * len(seen))
    for position, (x, d, view) in enumerate(zip(seen, off, views, strict=True)):
        if d:
            slope = abs(rule(op.name, position)(view))
            is_bent = d > FAR * min(abs(x), 1.0) or slope < NORMAL
            slope *= d
            if is_bent:
                ends = [[*seen[:position], end, *seen[position + 1 :]] for end in (x - d, x + d)]
                slope = max(slope, *(abs(function(*place) - out) for place in ends))
            error += slope if slope == slope else inf
    return error


@cache
def rule(name: str, position: int) -> Callable[[Sequence[float]], float]:
    """The rule of an edge as a function of what ``sides`` says that it sees."""
    op = BY_NAME[name]
    return compile_template(template(op.partial(position)), slots(op))


def at_ends(
    function: Callable[[Sequence[float]], float],
    here: float,
    seen: Sequence[float],
    off: Sequence[float],
) -> float:
    """How far a function gets from its value where its arguments are off: both ends of each are tried.

    An end is at least the next double, since the true number may be on the other side of a jump.
    """
    uncertain = [at for at, d in enumerate(off) if d]
    ends = [ends_of(seen[at], off[at]) for at in uncertain]
    apart = 0.0
    together = [*product(*ends)] if len(uncertain) <= MOST_ENDS else zip(*ends, strict=False)
    for chosen in together:
        place = [*seen]
        for at, end in zip(uncertain, chosen, strict=True):
            place[at] = end
        distance = abs(function(place) - here)
        if not distance <= apart:
            apart = distance if distance == distance else inf
    return apart


def ends_of(x: float, d: float) -> tuple[float, ...]:
    """The ends of what a number may be, and 0 if that is between them."""
    d = max(d, math.ulp(x))
    return (x - d, x + d) if abs(x) > d or not x else (x - d, 0.0, x + d)


def grad_errors(found: Adjoints, errors: Sequence[float]) -> list[float]:
    """By node: what its grad may be off by, given what every node's data may be."""
    tape, cells = found.tape, found.cells
    off = [0.0] * len(tape.start)
    rows = [BY_NAME[kind] for kind in {*tape.graph.kinds} - LEAVES]
    numbers = [*cells, *filter(None, found.grads)]
    if not any(errors) and is_exact(rows, numbers):
        return off
    beside = local_errors(found, errors)
    grads = [grad or 0.0 for grad in found.grads]
    sofar = off.copy()
    gates: Any = repeat(0) if tape.gated is None else tape.gated
    for user, operand, source, gate in zip(*tape.edges, gates, strict=False):
        grad, local = grads[user], cells[source]
        error = abs(grad) * beside[source]
        if local != 1.0:
            if gate and not local:
                off[operand] += error
                continue
            contribution = grad * local
            error += abs(local) * off[user] + UNIT * abs(contribution) + TINY
        else:
            contribution = grad
            error += off[user]
        before = sofar[operand]
        if before:
            contribution += before
            error += UNIT * abs(contribution)
        sofar[operand] = contribution
        off[operand] += error
    return [error if error < inf else inf for error in off]


def local_errors(found: Adjoints, errors: Sequence[float]) -> list[Any]:
    """By cell of the tape: what the data, or the local derivative, that stands there may be off by."""
    tape, cells = found.tape, found.cells
    kinds = tape.graph.kinds
    first = len(errors) + len(tape.constants)
    off: list[Any] = [*errors, *[0.0] * (len(cells) - len(errors))]
    for user, source in zip(tape.edges.users, tape.edges.sources, strict=True):
        if source >= first:
            step, op = tape.steps[source - first], BY_NAME[kinds[user]]
            off[source] = of_step(step, op, cells[source], cells, off)
    return off


def of_step(
    step: Any, op: Op, local: float, cells: Sequence[float], cell_errors: Sequence[Any]
) -> float:
    """What a local derivative may be off by that a step of the tape computes."""
    if not abs(local) < inf:
        return inf
    function, pick = step
    seen, off = pick(cells), pick(cell_errors)
    error = max(2 * op.partial_ulp * 2 * UNIT * abs(local), op.partial_abs)
    if op.partial_ulp and (local or all(seen)):
        error += TINY
    if not any(off):
        return error
    if inf in off:
        return inf
    if op.special:
        return error + at_ends(function, local, seen, off)
    place = [*seen]
    for position, d in enumerate(off):
        if d:
            x = seen[position]
            if d < FAR * min(abs(x), 1.0):
                place[position] = x + STRETCH * d
                apart = abs(function(place) - local) / STRETCH
            else:
                place[position] = x + d
                apart = abs(function(place) - local)
                place[position] = x - d
                apart = max(apart, abs(function(place) - local))
                if apart > BENT * abs(local):
                    apart += abs(local)
            place[position] = x
            error += apart
    return error if error == error else inf
