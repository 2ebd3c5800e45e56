"""What rounding may have done to a sweep's numbers: an error bound beside each data and each grad.

Each operation adds what it rounds, as its row states, to what its operands were off by (J. H. Wilkinson's
running error analysis, Rounding Errors in Algebraic Processes, 1963).  Where all numbers are whole nothing
is rounded.  The bounds are of first order in the errors, but where an error is large, or a row has kinks or
jumps: there the row is asked at both ends.  What is not finite may be off by anything.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from itertools import compress, product
from typing import Any, NamedTuple

from exprgrad.derive.rules import slots, template
from exprgrad.graph.graph import CONST, INPUT, Graph, dependencies, is_scalar
from exprgrad.graph.ops import BY_NAME, Op
from exprgrad.run.numbers.primitives import Part, Template, compile_template, functions, sides
from exprgrad.run.numbers.sweeps import Adjoints, Tape, Visits, forward, row

__all__ = [
    "BENT", "DOUBLE_DIGITS", "EXACT_BELOW", "FAR", "MOST_ENDS", "NORMAL", "STRETCH", "TINY", "UNIT",
    "data_errors", "grad_errors", "right_digits", "typed_errors",
]  # fmt: skip

inf = math.inf
UNIT = 2.0**-53
"""Half an ulp, as a part of the least number that has it."""
TINY = 2.0**-1074
"""What a result below the normal numbers may be off by."""
UNDERFLOW = 4 * TINY
"""What a grad may be off by for all contributions that are below the normal numbers."""
EXACT_BELOW = 2.0**53
"""Below it every whole number is a double, so what correctly rounded operations make of such is exact."""
NORMAL = 2.0**-1022
"""The least number that has all its bits: a slope below it may have lost some, or all."""
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

LEAVES = {INPUT, CONST}
EXACT: Mapping[Any, Any] = {}
QUARTERS, SHORT_BELOW = 16.0, 1e11
"""What sixteenths there are below is written with 15 digits at most."""
MOST_TYPED = 1000
"""Up to so many nodes it is asked what the numbers that were typed come to."""
SUM, PRODUCT, BENT_ROW = 1, 2, 3


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


class Kind(NamedTuple):
    """What a bound needs to know of a row.

    ``sort``      how its bound is found: that of a sum or a product of two, or of a row with one operand
                  that has kinks; 0 for all others
    ``function``  its value
    ``own``       what the result may have rounded away, as a part of it, and at least
    ``partial``   the same of a partial
    """

    op: Op
    sort: int
    function: Callable[..., float]
    own: tuple[float, float]
    partial: tuple[float, float]


@cache
def kind_of(op: Op) -> Kind:
    """What a bound needs to know of a row."""
    ulps = op.value_ulp
    tiny = max(ulps, 1.0) * TINY if ulps else 0.0  # half the least double would be 0
    return Kind(
        op,
        SUM if len(op.signs) == 2 else PRODUCT if op.powers == (1, 1) else BENT_ROW * is_bent(op),
        functions[op.name],
        (2 * ulps * UNIT, max(tiny, op.value_abs)),
        (4 * op.partial_ulp * UNIT, op.partial_abs),
    )


def reads_of(op: Op) -> dict[Part, list[int]]:
    """By partial, as a tape has it: which of the values that ``slots`` names it reads."""
    names, found = slots(op), {}
    for position, (part, _) in enumerate(row(op)[0]):
        found[part] = [names.index(seen) for seen in template(op.partial(position)).inputs]
    return found


def is_bent(op: Op) -> bool:
    """Whether a row of one operand has kinks, but does not jump: then its ends say all."""
    return len(op.names) == 1 and not op.variadic and has_only_kinks(op)


def has_only_kinks(op: Op) -> bool:
    """Whether a row has kinks, but does not jump."""
    return bool(op.special) and all(special.code == "kink" for special in op.special)


def rule_of(op: Op, position: int) -> Template:
    """The rule of an edge as a function of what ``sides`` says that it sees."""
    return compile_template(template(op.partial(position)), slots(op))


def data_errors(
    graph: Graph,
    values: Sequence[float],
    outputs: Iterable[int],
    leaves: Mapping[int, float] = EXACT,
) -> list[float]:
    """By node that the outputs depend on: what its data may be off by.

    Inputs and literals are exact, being the doubles that they were read as, but for ``leaves``.
    """
    errors = [0.0] * len(graph)
    kinds = {name: kind_of(BY_NAME[name]) for name in {*graph.kinds} - LEAVES}
    if not (graph.symbols or leaves) and is_exact(kinds, values):
        return errors
    for node, error in leaves.items():
        errors[node] = error
    for node in graph.symbols:
        if graph.kinds[node] == CONST:
            errors[node] = UNIT * abs(values[node])
    sorts = {name: kind.sort for name, kind in kinds.items()}
    needed = dependencies(graph, *outputs)
    nodes = zip(range(len(graph)), graph.kinds, graph.operands, strict=True)
    for node, name, operands in compress(nodes, needed):
        if not operands:
            continue
        sort = sorts[name]
        if sort == SUM:
            first, second = operands
            errors[node] = UNIT * abs(values[node]) + errors[first] + errors[second]
            continue
        if sort == PRODUCT:
            first, second = operands
            one, other = errors[first], errors[second]
            error = abs(values[first]) * other + abs(values[second]) * one + one * other
            error += UNIT * abs(values[node]) + TINY
            errors[node] = error if error < inf else inf
            continue
        kind, out = kinds[name], values[node]
        relative, least = kind.own
        error = relative * abs(out)
        if error < least and (out or values[operands[0]]):
            error = least  # a 0 that is not made of zeros may be all that is left of a number
        if sort == BENT_ROW:
            x, d = values[operands[0]], errors[operands[0]]
            if d:
                d = max(d, math.ulp(x))
                below, above = abs(kind.function(x - d) - out), abs(kind.function(x + d) - out)
                error += below if below > above else above
        else:
            off = [errors[operand] for operand in operands]
            if any(off):
                error += carried(kind, out, [values[operand] for operand in operands], off)
        errors[node] = error if error < inf else inf
    return errors


def leaf_errors(
    graph: Graph, values: Sequence[float], spelled: Mapping[str, str]
) -> dict[int, float]:
    """By literal and input: what its double may be off by from the number that was typed.

    ``spelled`` are texts of inputs, as a run has them.
    """
    found = {}
    for node, kind in enumerate(graph.kinds):
        if kind not in LEAVES or (node in graph.symbols and node not in graph.spelled):
            continue
        x, text = values[node], spelled.get(str(graph.payloads[node]))
        if text == "":  # nobody typed it
            continue
        if text is not None:
            found[node] = constant_error(text, x)
        elif node in graph.spelled or not is_short(x):
            found[node] = UNIT * abs(x) + TINY
    return found


def constant_error(text: str, x: float) -> float:
    """What the double of a number, or of a constant expression, may be off by."""
    try:
        float(text)
    except ValueError:
        graph = template(text)
        if is_scalar(graph):
            values = forward(graph, {})
            leaves = leaf_errors(graph, values, EXACT)
            return data_errors(graph, values, [graph.output], leaves)[graph.output]
    return UNIT * abs(x) + TINY


def typed_errors(
    graph: Graph, values: Sequence[float], outputs: Iterable[int], spelled: Mapping[str, str]
) -> list[float]:
    """The same as ``data_errors``, but that inputs and literals are the numbers that were typed.

    Empty where these are the doubles, and for long formulas, which nobody types.
    """
    leaves = leaf_errors(graph, values, spelled) if len(graph) <= MOST_TYPED else EXACT
    return data_errors(graph, values, outputs, leaves) if leaves else []


def is_short(x: float) -> bool:
    """Whether a double is surely the decimal that it is written as: a whole number, or sixteenths."""
    return (QUARTERS * x).is_integer() and abs(x) < SHORT_BELOW


def is_exact(kinds: Iterable[str], numbers: Iterable[float]) -> bool:
    """Whether nothing can have been rounded: all rows are rounded correctly, and all numbers are whole."""
    return all(BY_NAME[name].value_ulp <= 0.5 for name in kinds) and all(
        x.is_integer() and -EXACT_BELOW < x < EXACT_BELOW for x in numbers
    )


def carried(kind: Kind, out: float, seen: Sequence[float], off: Sequence[float]) -> float:
    """What the operands' errors come to in a row's result."""
    op, function = kind.op, kind.function
    if op.opposite:
        return 0.0 if abs(seen[0] - seen[1]) > off[0] + off[1] else 1.0
    if inf in off and not op.branches:
        return inf
    if op.special and op.variadic:
        return max(off)
    error = 0.0
    if op.special:
        uncertain = [at for at, d in enumerate(off) if d]
        error = at_ends(lambda place: function(*place), out, seen, off, uncertain)
        if has_only_kinks(op):
            return error
    views = sides(op, [*seen, out], [1.0] * len(seen))
    for position, (x, d, view) in enumerate(zip(seen, off, views, strict=True)):
        if d:
            slope = abs(rule_of(op, position)(view))
            is_bent = d > FAR * min(abs(x), 1.0) or slope < NORMAL
            slope *= d
            if is_bent:
                ends = [[*seen[:position], end, *seen[position + 1 :]] for end in (x - d, x + d)]
                slope = max(slope, *(abs(function(*place) - out) for place in ends))
            error += slope if slope == slope else inf
    return error


def at_ends(
    function: Callable[[list[float]], float],
    here: float,
    seen: Sequence[float],
    off: Sequence[float],
    uncertain: Sequence[int],
) -> float:
    """How far a function gets from its value where some arguments are off: both ends of each are tried.

    An end is at least the next double, since the true number may be on the other side of a jump.
    """
    place, apart = [*seen], 0.0
    if len(uncertain) == 1:
        (at,) = uncertain
        for end in ends_of(seen[at], off[at]):
            place[at] = end
            distance = abs(function(place) - here)
            if not distance <= apart:
                apart = distance if distance == distance else inf
        return apart
    ends = [ends_of(seen[at], off[at]) for at in uncertain]
    for chosen in product(*ends) if len(uncertain) <= MOST_ENDS else zip(*ends, strict=False):
        for at, end in zip(uncertain, chosen, strict=True):
            place[at] = end
        distance = abs(function(place) - here)
        if not distance <= apart:
            apart = distance if distance == distance else inf
    return apart


def ends_of(x: float, d: float) -> tuple[float, ...]:
    """The ends of what a number may be, and 0 if that is between them."""
    least = math.ulp(x)
    if d < least:
        d = least
    return (x - d, x + d) if abs(x) > d or not x else (x - d, 0.0, x + d)


def grad_errors(found: Adjoints, errors: Sequence[float]) -> list[float]:
    """By node: what its grad may be off by, given what every node's data may be."""
    tape, cells = found.tape, found.cells
    off = [0.0] * len(tape.start)
    kinds = {*tape.graph.kinds} - LEAVES
    if not any(errors) and is_exact(kinds, [*cells, *filter(None, found.grads)]):
        return off
    locals_ = local_errors(found, errors)
    sizes = [abs(grad or 0.0) for grad in found.grads]
    off[: len(sizes)] = [UNDERFLOW if size else 0.0 for size in sizes]
    if 0.0 in found.grads:
        for user, operand, source in zip(*tape.edges, strict=True):
            if sizes[user] and (cells[source] or locals_[source]):
                off[operand] = (
                    UNDERFLOW  # a 0 that is not passed on as 0 is what is left of a number
                )
    if tape.gated is None:
        visited(tape.visits, sizes, cells, locals_, off)
        for node, other in zip(*tape.passed, strict=True):
            off[node] = off[other]
    else:
        gated(tape, sizes, cells, locals_, off)
    return [error if error < inf else inf for error in off]


def visited(
    visits: Visits,
    sizes: Sequence[float],
    cells: Sequence[float],
    locals_: Sequence[float],
    off: list[float],
) -> None:
    """Bounds along the edges where there are no gates, two at a time, as the sweep plays them.

    ``sizes`` are the grads', ``locals_`` the bounds of the cells; ``off``, the bounds of the grads, are
    found.  What adding up rounds away is bounded by the sum of all sizes so far.
    """
    sofar = [0.0] * len(off)
    slopes = [*map(abs, cells)]
    for user, first, source, second, second_source in zip(*visits, strict=True):
        error = off[user]
        size, most = sizes[user], sizes[user] + error
        slope = slopes[source]
        sofar[first] = total = sofar[first] + size * slope
        off[first] += slope * error + most * locals_[source] + UNIT * total
        slope = slopes[second_source]
        sofar[second] = total = sofar[second] + size * slope
        off[second] += slope * error + most * locals_[second_source] + UNIT * total


def gated(
    tape: Tape,
    sizes: Sequence[float],
    cells: Sequence[float],
    locals_: Sequence[float],
    off: list[float],
) -> None:
    """The same edge by edge, where some pass nothing when the local derivative is 0."""
    sofar = [0.0] * len(off)
    assert tape.gated is not None
    for user, operand, source, gate in zip(*tape.edges, tape.gated, strict=True):
        local = abs(cells[source])
        if gate and not local:
            off[operand] += locals_[source] and (sizes[user] + off[user]) * locals_[source]
            continue
        sofar[operand] += sizes[user] * local
        error = local * off[user] + (sizes[user] + off[user]) * locals_[source]
        off[operand] += error + UNIT * sofar[operand]


def local_errors(found: Adjoints, errors: Sequence[float]) -> list[float]:
    """By cell of the tape: what the data, or the local derivative, that stands there may be off by."""
    tape, cells = found.tape, found.cells
    first = len(errors) + len(tape.constants)
    off = [*errors, *[0.0] * len(tape.constants)]
    if not tape.steps:
        return off
    kinds = {name: kind_of(BY_NAME[name]) for name in {*tape.graph.kinds} - LEAVES}
    reads = {part: seen for kind in kinds.values() for part, seen in reads_of(kind.op).items()}
    names = tape.graph.kinds
    edges = zip(tape.edges.users, tape.edges.sources, strict=True)
    users = {source: user for user, source in edges if source >= first}
    for cell, (function, pick) in enumerate(tape.steps, first):
        if cell not in users:
            off.append(0.0)  # how many operands tie: a whole number
            continue
        kind, local, around = kinds[names[users[cell]]], cells[cell], pick(off)
        relative, error = kind.partial
        error = max(relative * abs(local), error)
        if relative and (local or all(pick(cells)[: len(kind.op.names)])):
            error += TINY  # that an operand does not vary is read, too, as a 0
        uncertain = [at for at in reads.get(function, range(len(around))) if around[at]]
        if kind.op.special and kind.op.variadic:
            user = users[cell]
            error += of_choice(tape.graph.operands[user], user, cells, off)
        elif uncertain:
            error += of_rule(kind, function, local, pick(cells), around, uncertain)
        off.append(error if error < inf else inf)
    return off


def of_choice(
    operands: Sequence[int], user: int, cells: Sequence[float], off: Sequence[float]
) -> float:
    """What a least or greatest operand's share may be off by: all of it, if another may be the one."""
    if not any(off[operand] for operand in operands):
        return 0.0
    out, d = cells[user], off[user]
    near = {operand for operand in operands if not abs(cells[operand] - out) > off[operand] + d}
    return 1.0 if len(near) > 1 else 0.0


def of_rule(
    kind: Kind,
    function: Template,
    local: float,
    seen: Sequence[float],
    off: Sequence[float],
    uncertain: Sequence[int],
) -> float:
    """What a local derivative may be off by because some of what its rule sees is."""
    if inf in off:
        return inf
    if kind.op.special:
        count = len(kind.op.names)

        def moved(place: list[float]) -> float:
            place[count] = kind.function(*place[:count])  # the result moves with its operands
            return function(place)

        uncertain = [at for at in range(count) if off[at]]
        return at_ends(moved, local, seen, off, uncertain)
    place, error = [*seen], 0.0
    for at in uncertain:
        x, d = seen[at], off[at]
        if d < FAR * min(abs(x), 1.0):
            place[at] = x + STRETCH * d
            error += abs(function(place) - local) / STRETCH
        else:
            place[at] = x + d
            ahead = abs(function(place) - local)
            place[at] = x - d
            apart = max(ahead, abs(function(place) - local))
            error += apart if apart <= BENT * abs(local) else apart + abs(local)
        place[at] = x
    return error if error == error else inf
