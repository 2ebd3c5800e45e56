"""Rounding errors of a sweep's numbers: a bound for each data and each grad.

Each operation adds its own rounding, as its row states, to its operands' errors (J. H. Wilkinson's
running error analysis, Rounding Errors in Algebraic Processes, 1963).  Where all numbers are whole nothing
is rounded.  The bounds are of first order in the errors, but where an error is large, or a row has kinks or
jumps: there the row is evaluated at both ends, and at humps between.  A number that is not finite may
be off by anything.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, cached_property
from typing import Any

from exprgrad.derive.error_rules import (
    BENT,
    FAR,
    STRETCH,
    TINY,
    UNIT,
    ErrorArithmetic,
    bound_along_operand,
    bound_near_switch,
    bound_propagated_error,
    equal_at_special,
    is_near_switch,
    is_phase_lost,
    may_be_rounded,
    minimum_rounding_error,
)
from exprgrad.derive.rules import constant_graph, rule_slots, template
from exprgrad.graph.graph import CONST, INPUT, Graph
from exprgrad.graph.ops import BY_NAME, Op
from exprgrad.run.numbers.sweeps import (
    TIES,
    Adjoints,
    Tape,
    Template,
    Visits,
    companion_values,
    forward_numbers,
    functions,
    row_rules,
    template_reader,
)

__all__ = [
    "EXACT_BELOW", "kind_of", "number_data_errors", "number_grad_errors", "row_error", "typed_errors",
]  # fmt: skip

inf = math.inf
EXACT_BELOW = 2.0**52
"""Below it every whole number is a double, so that correctly rounded operations on them are exact.

From 2^52 on the root of a number that is no square may round to a whole number.
"""
NORMAL = 2.0**-1022
"""The least normal number: a slope below it may have lost some bits, or all."""
LEAVES = {INPUT, CONST}
EXACT: Mapping[Any, Any] = {}
QUARTERS, SHORT_BELOW = 16.0, 1e11
"""Sixteenths below it are written with 15 digits at most."""
SUM, PRODUCT, SMOOTH, SPECIAL, VARIADIC, ROOT = range(6)
"""The sorts of bounds: of a sum or a product of two, of a row that is smooth everywhere, of one
that has kinks or jumps, of one that takes any number of operands, or of one that solves an equation."""


class BoundKind:
    """A row's facts for its bound.

    ``sort``      the sort of its bound
    ``function``  its value
    ``own``       the result's own rounding: relative, and absolute
    ``partial``   the same of a partial
    """

    def __init__(self, op: Op) -> None:
        ulps = op.value_ulp
        self.op = op
        self.sort = sort_of(op)
        self.function = functions[op.name]
        self.own = 2 * ulps * UNIT, minimum_rounding_error(op, ulps)
        self.partial = 4 * op.partial_ulp * UNIT, op.partial_abs

    @cached_property
    def rules(self) -> tuple[tuple[Template, ...], bool]:
        """The functions of the local derivatives, by operand, and whether they see companions."""
        rules, companions = row_rules(self.op)
        return tuple([template_reader(part) for part, _ in rules]), companions

    @cached_property
    def reads(self) -> list[list[int]]:
        """By operand, the positions of what its local derivative's rule reads."""
        names = rule_slots(self.op)
        return [[names.index(name) for name in template(rule).inputs] for rule in self.op.partials]

    @cached_property
    def bends_at_0(self) -> bool:
        """Whether the row, of one operand, is smooth, or has its only kink or jump at 0."""
        if self.sort == SPECIAL:
            return equal_at_special(self.op.name) == [(0, 0.0)] and len(self.op.names) == 1
        return self.sort == SMOOTH and len(self.op.names) == 1


@cache
def kind_of(name: str) -> BoundKind:
    """Return a row's facts for its bound, by name."""
    return BoundKind(BY_NAME[name])


def sort_of(op: Op) -> int:
    """Return the sort of a row's bound."""
    if op.equation is not None:
        return ROOT
    if op.variadic:
        return VARIADIC
    if len(op.signs) == 2:
        return SUM
    if op.powers == (1, 1):
        return PRODUCT
    return SPECIAL if op.special else SMOOTH


# Floats.


def number_slopes(op: Op, seen: Sequence[float], out: float) -> Callable[[int], float]:
    """Return a row's local derivatives, by the operand's position."""
    rules, companions = kind_of(op.name).rules
    if op.variadic:
        views = companion_values(op, [*seen, out], [1.0] * len(seen))
        return lambda position: rules[0](views[position])
    view = [*seen, out, *[1.0] * len(seen)] if companions else [*seen, out]
    return lambda position: rules[position](view)


FLOATS = ErrorArithmetic(
    function=functions.__getitem__,
    slopes=number_slopes,
    number=lambda x: x,
    is_zero=operator.not_,
    choose=lambda condition, one, other: one() if condition else other(),
    no=operator.not_,
    most=lambda error, other: other if other > error else error if other == other else inf,
    product=lambda size, error: size * error if size else 0.0,
)


def number_data_errors(
    graph: Graph,
    values: Sequence[float],
    leaves: Mapping[int, float] = EXACT,
    moved: Iterable[int] | None = None,
) -> list[float]:
    """Bound the error of each node's data.

    Inputs and literals are exact, being the doubles read, except ``leaves``.  With
    ``moved`` all other nodes are exact.
    """
    errors = [0.0] * len(graph)
    kinds = {name: kind_of(name) for name in {*graph.kinds} - LEAVES}
    sorts = {name: kind.sort for name, kind in kinds.items()}
    for node, error in leaves.items():
        errors[node] = error
    for node in graph.symbols if moved is None else ():
        if graph.kinds[node] == CONST:
            errors[node] = UNIT * abs(values[node])
    sizes = [*map(abs, values)]
    nodes: Iterable[tuple[int, str, tuple[int, ...], float]]
    nodes = zip(range(len(graph)), graph.kinds, graph.operands, sizes, strict=True)
    if moved is not None:
        nodes = map([*nodes].__getitem__, moved)
    for node, name, operands, size in nodes:
        if not operands:
            continue
        sort = sorts[name]
        if sort > PRODUCT:
            error = row_error(kinds[name], values[node], operands, values, errors)
            errors[node] = error if error < inf else inf
            continue
        first, second = operands
        one, other = errors[first], errors[second]
        is_whole = size < EXACT_BELOW and values[first].is_integer() and values[second].is_integer()
        if sort == SUM:
            error = one + other if is_whole else one + other + UNIT * size
        else:
            own = 0.0 if is_whole else UNIT * size + TINY
            error = sizes[first] * other + (sizes[second] + other) * one + own
        errors[node] = error if error < inf else inf
    return errors


def leaf_errors(
    graph: Graph, values: Sequence[float], spelled: Mapping[str, str]
) -> dict[int, float]:
    """Bound the distance of each literal's and input's double from the typed number.

    ``spelled`` are texts of inputs, as a run has them.
    """
    found = {}
    for node, kind in enumerate(graph.kinds):
        if kind not in LEAVES or (node in graph.symbols and node not in graph.spelled):
            continue
        x, text = values[node], spelled.get(str(graph.payloads[node]))
        if text == "":  # it was not typed
            continue
        if text is not None:
            found[node] = constant_error(text, x)
        elif node in graph.spelled or not is_short(x):
            found[node] = UNIT * abs(x) + TINY
    return found


def constant_error(text: str, x: float) -> float:
    """Bound the error of the double of a number, or of a constant expression."""
    try:
        float(text)
    except ValueError:
        graph = constant_graph(text)
        if graph is not None:
            values = forward_numbers(graph, {})
            return number_data_errors(graph, values, leaf_errors(graph, values, EXACT))[
                graph.output
            ]
    return UNIT * abs(x) + TINY


def typed_errors(graph: Graph, values: Sequence[float], spelled: Mapping[str, str]) -> list[float]:
    """Bound the error of each node's data where inputs and literals are the numbers as typed.

    Empty where these are the doubles.
    """
    leaves = leaf_errors(graph, values, spelled)
    return number_data_errors(graph, values, leaves) if leaves else []


def is_short(x: float) -> bool:
    """Whether a double is surely its decimal text: a whole number, or sixteenths."""
    return (QUARTERS * x).is_integer() and abs(x) < SHORT_BELOW


def are_whole_numbers(numbers: Iterable[float]) -> bool:
    """Whether all are whole numbers small enough that nothing was rounded."""
    return all(x.is_integer() and -EXACT_BELOW < x < EXACT_BELOW for x in numbers)


def row_error(
    kind: BoundKind,
    out: float,
    operands: Sequence[int],
    values: Sequence[float],
    errors: Sequence[float],
) -> float:
    """Bound the error of a row's result."""
    op, (relative, least) = kind.op, kind.own
    seen, off = [values[o] for o in operands], [errors[o] for o in operands]
    if kind.sort == ROOT:
        return of_root(op, out, seen, off)
    error = relative * abs(out) + least
    if relative and op.value_ulp <= 0.5 and are_whole_numbers([out, *seen]):
        error = 0.0
    elif error and not (out or may_be_rounded(op, out, seen)):
        error = op.value_abs
    if not any(off):
        return error
    if inf in off and not op.branches:
        return inf
    x, d = seen[0], off[0]
    if d < FAR and d < FAR * abs(x) and kind.bends_at_0:  # as nearly everywhere: it is quicker
        (rule,), companions = kind.rules
        slope = abs(rule((x, out, 1.0) if companions else (x, out)))
        return error + (slope if op.special else slope + abs(out) * d) * d
    return error + bound_propagated_error(FLOATS, op, out, seen, off)


def of_root(op: Op, out: float, seen: Sequence[float], off: Sequence[float]) -> float:
    """Bound a root's error: its residual with the residual's error, over the least slope nearby."""
    equation = op.equation
    assert equation is not None
    given = dict(zip(op.names, zip(seen, off, strict=True), strict=True))
    residual, error = of_text(equation.residual, {**given, "out": (out, 0.0)})
    error += abs(residual)
    slope, doubt = of_text(equation.slope, {**given, "out": (out, 0.0)})
    if not abs(slope) > doubt:
        return inf
    reach = error / (abs(slope) - doubt) + math.ulp(out)
    ends = [
        of_text(equation.slope, {**given, "out": (end, 0.0)}) for end in (out - reach, out + reach)
    ]
    least = min(math.copysign(1.0, slope) * end - doubt for end, doubt in [(slope, doubt), *ends])
    return error / least + UNIT * abs(out) if least > abs(slope) / 2 else inf


def of_text(text: str, given: Mapping[str, tuple[float, float]]) -> tuple[float, float]:
    """Evaluate a row's text for numbers with errors; return the value and its error."""
    graph = template(text)
    values = forward_numbers(graph, {name: given[name][0] for name in graph.inputs})
    leaves = {node: given[name][1] for name, node in graph.inputs.items()}
    return values[graph.output], number_data_errors(graph, values, leaves)[graph.output]


def number_grad_errors(found: Adjoints, errors: Sequence[float]) -> list[float]:
    """Bound the error of each node's grad, given that of every node's data."""
    tape, cells, grads = found.tape, found.cells, found.grads
    rows = [BY_NAME[kind] for kind in {*tape.graph.kinds} - LEAVES]
    is_exact = not any(errors) and all(op.value_ulp <= 0.5 for op in rows)
    if is_exact and are_whole_numbers([*cells, *filter(None, grads)]):
        return [0.0] * len(tape.start)
    locals_ = local_errors(found, errors)
    off = [0.0] * len(tape.start)
    if tape.gated is None:
        bound_visits(tape.visits, grads, cells, locals_, off)
        for node, other in zip(*tape.passed, strict=True):
            off[node] = off[other]
    else:
        bound_gated_edges(tape, grads, cells, locals_, off)
    return off if sum(off) < inf else [error if error < inf else inf for error in off]


def bound_visits(
    visits: Visits,
    grads: Sequence[float],
    cells: Sequence[float],
    locals_: Sequence[float],
    off: list[float],
) -> None:
    """Find the bounds along edges without gates, two at a time, as the sweep plays them.

    ``locals_`` are the bounds of the cells; fills ``off``, the bounds of the grads.  What adding up
    rounds away is bounded by the sum of all sizes so far; what is below the normal numbers, a 0 that is not
    made of zeros, too, may be all that is left of a number.
    """
    sofar = [0.0] * len(off)
    sofar[-1] = 1.0  # where there is no second edge nothing underflows
    slopes = [*map(abs, cells)]
    for user, first, source, second, second_source in zip(*visits, strict=True):
        error, size = off[user], abs(grads[user])
        most = size + error
        slope, local = slopes[source], locals_[source]
        sofar[first] = total = sofar[first] + size * slope
        off[first] += slope * error + most * local + UNIT * total
        if total < NORMAL and size and (slope or local):
            off[first] += TINY
        slope, local = slopes[second_source], locals_[second_source]
        sofar[second] = total = sofar[second] + size * slope
        off[second] += slope * error + most * local + UNIT * total
        if total < NORMAL and size and (slope or local):
            off[second] += TINY


def bound_gated_edges(
    tape: Tape,
    grads: Sequence[float | None],
    cells: Sequence[float],
    locals_: Sequence[float],
    off: list[float],
) -> None:
    """Find the bounds edge by edge, where some pass nothing when the local derivative is 0."""
    sofar = [0.0] * len(off)
    sizes = [abs(grad) if grad else 0.0 for grad in grads]
    slopes = [*map(abs, cells)]
    assert tape.gated is not None
    for user, operand, source, gate in zip(*tape.edges, tape.gated, strict=True):
        slope, local, error, size = slopes[source], locals_[source], off[user], sizes[user]
        if gate and not slope:
            off[operand] += local and (size + error) * local
        else:
            sofar[operand] = total = sofar[operand] + size * slope
            off[operand] += slope * error + (size + error) * local + UNIT * total
            if total < NORMAL and size and (slope or local):
                off[operand] += TINY


def local_errors(found: Adjoints, errors: Sequence[float]) -> list[float]:
    """Bound the data, or the local derivative, in each cell of the tape."""
    tape, cells = found.tape, found.cells
    first = len(errors) + len(tape.constants)
    off = [*errors, *[0.0] * len(tape.constants)]
    if not tape.steps:
        return off
    places = range(len(cells))
    steps = zip(tape.steps, tape.slopes, strict=True)
    for cell, ((rule, pick), (name, position)) in enumerate(steps, first):
        if position == TIES:
            off.append(0.0)  # how many operands tie: a whole number
            continue
        kind = kind_of(name)
        reads = kind.reads[0 if kind.sort == VARIADIC else position]
        relative, error = kind.partial
        local, around = cells[cell], pick(off)
        if kind.sort == ROOT:
            seen = zip(rule_slots(kind.op), zip(pick(cells), around, strict=True), strict=False)
            off.append(of_text(kind.op.partial(position), dict(seen))[1])
            continue
        if relative:
            error = max(relative * abs(local), error)
            if local or all(pick(cells)[: len(kind.op.names)]):
                error += TINY  # that an operand does not vary is read, too, as a 0
        if kind.sort == VARIADIC and kind.op.special:
            _, user, *_ = pick(places)
            error += bound_choice_share(tape.graph.operands[user], user, cells, off)
        else:
            for at in reads:
                if around[at]:
                    error += of_rule(kind, rule, reads, local, pick(cells), around)
                    break
        off.append(error if error < inf else inf)
    return off


def bound_choice_share(
    operands: Sequence[int], user: int, cells: Sequence[float], off: Sequence[float]
) -> float:
    """Bound the error of a least or greatest operand's share: 1 if another might be chosen, else 0."""
    if not any(off[operand] for operand in operands):
        return 0.0
    out, d = cells[user], off[user]
    near = {operand for operand in operands if not abs(cells[operand] - out) > off[operand] + d}
    return 1.0 if len(near) > 1 else 0.0


def of_rule(
    kind: BoundKind,
    rule: Template,
    reads: Sequence[int],
    local: float,
    seen: Sequence[float],
    off: Sequence[float],
) -> float:
    """Bound a local derivative's error caused by the errors of what its rule reads."""
    if kind.sort == SPECIAL and not (
        reads == [0] and off[0] < FAR * abs(seen[0]) and kind.bends_at_0
    ):
        return inf if inf in off else of_special(kind, rule, local, seen, off)
    error = 0.0
    for at in reads:
        d = off[at]
        if d == inf or is_phase_lost(kind.op, d):
            return inf
        if d:
            error += bound_operand_effect(rule, local, seen, at, d)
    return error


def of_special(
    kind: BoundKind, rule: Template, local: float, seen: Sequence[float], off: Sequence[float]
) -> float:
    """Bound it where a row has kinks or jumps: its result, which rules compare with, moves along."""
    count = len(kind.op.names)

    def moved(place: list[float]) -> float:
        place[count] = kind.function(*place[:count])
        return rule(place)

    off = off[:count]
    if is_near_switch(FLOATS, kind.op, seen, [STRETCH * d for d in off]):
        return bound_near_switch(FLOATS, moved, local, seen, off)
    return sum(bound_operand_effect(moved, local, seen, at, d) for at, d in enumerate(off) if d)


def bound_operand_effect(
    rule: Callable[[list[float]], float], here: float, seen: Sequence[float], at: int, d: float
) -> float:
    """As ``bound_along_operand``; where a number is off by little, as nearly everywhere, quickly."""
    x = seen[at]
    if d < FAR and d < FAR * abs(x):
        place = [*seen]
        place[at] = x + STRETCH * d
        ahead = abs(rule(place) - here)
        if ahead <= BENT * abs(here):
            return ahead / STRETCH
    return bound_along_operand(FLOATS, rule, here, seen, at, d)
