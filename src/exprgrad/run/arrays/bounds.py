"""What rounding may have done to a sweep's numbers over tensors: ``run/numbers/bounds.py``, over arrays.

An elementwise row adds what it rounds to what the operands' errors come to, number by number.  A structural
row says itself what it makes of errors; else it is walked as its formula, or taken to be linear: then it
makes of errors what it makes of numbers, and rounds once for each term that it adds up.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import product
from typing import Any, NamedTuple, cast

import numpy as np

from exprgrad.derive.rules import slots, template
from exprgrad.derive.sweeps.edges import GRAD, EdgeProgram
from exprgrad.graph.graph import (
    CONST,
    INPUT,
    Algebra,
    Graph,
    Literal,
    Program,
    Settings,
    Shape,
    dependencies,
    interpret,
    size,
)
from exprgrad.graph.ops import BY_NAME, Op
from exprgrad.graph.structural import Structural
from exprgrad.graph.tensors import STRUCTURAL
from exprgrad.run.arrays import arrays
from exprgrad.run.arrays.arrays import NATIVE, Array
from exprgrad.run.arrays.sweeps import Adjoints, sides
from exprgrad.run.numbers.bounds import (
    DOUBLE_DIGITS,
    EXACT_BELOW,
    FAR,
    MOST_ENDS,
    STRETCH,
    TINY,
    UNIT,
)

__all__ = ["data_errors", "grad_errors", "right_digits"]

inf = np.inf
FORMULA_ULP = 5.0
"""To how many ulps the tests hold rows that NumPy has no function for."""

Error = Any
"""What numbers may be off by: 0.0 where that is nothing, else an array of their shape, or a double."""


class Pair(NamedTuple):
    """Numbers, and what they may be off by."""

    value: Array
    error: Error


def right_digits(value: Array, error: Error) -> Array:
    """By number: how many of its digits are right, from 0 to 16, if it is off by no more than ``error``."""
    with np.errstate(all="ignore"):
        error = np.broadcast_to(error, np.shape(value))
        digits = np.floor(np.log10((np.abs(value) - error) / error))
        digits = np.where(np.equal(value, 0) & (error < 16 * TINY), inf, digits)
        digits = np.where(error < inf, np.where(error > 0, digits, inf), -inf)
        digits = np.where(np.isnan(digits) | ~np.isfinite(value), -inf, digits)
        return np.clip(digits, 0, DOUBLE_DIGITS).astype(int)[()]


def data_errors(graph: Graph, values: Sequence[Array]) -> list[Error]:
    """By node that the output depends on: what its data may be off by.

    Inputs and literals are exact: they are the doubles that they were read as.
    """
    errors: list[Error] = [0.0] * len(graph)
    needed = dependencies(graph, graph.output)
    with np.errstate(all="ignore"):
        for node, operands in enumerate(graph.operands):
            if needed[node] and operands:
                seen = [values[operand] for operand in operands]
                off = [errors[operand] for operand in operands]
                errors[node] = of_operation(graph, node, values[node], seen, off)
            elif node in graph.symbols:
                errors[node] = UNIT * np.abs(values[node])
    return errors


def of_operation(
    graph: Graph, node: int, out: Array, seen: Sequence[Array], off: Sequence[Error]
) -> Error:
    """What a node's data may be off by, given what its operands' may be."""
    return of_kind(graph.kinds[node], cast(Settings, graph.payloads[node]), out, seen, off)


def of_kind(
    kind: str, settings: Settings, out: Array, seen: Sequence[Array], off: Sequence[Error]
) -> Error:
    """What a row's result may be off by; what is not finite may be off by anything."""
    if kind in BY_NAME:
        error = of_row(BY_NAME[kind], out, seen, off)
    else:
        error = of_structural(STRUCTURAL[kind], out, seen, off, settings)
    if is_zero(error) and np.isfinite(out).all():
        return 0.0
    return np.where(np.isfinite(out) & (error < inf), error, inf)[()]


def is_zero(error: Error) -> bool:
    """Whether nothing is off."""
    return isinstance(error, float) and not error


def are_whole(numbers: Sequence[Array]) -> bool:
    """Whether all are whole numbers of which the doubles leave out none."""
    return all(
        bool(((np.rint(x) == x) & (np.abs(x) < EXACT_BELOW)).all())
        for x in map(np.asarray, numbers)
    )


# Elementwise rows.


def of_row(op: Op, out: Array, seen: Sequence[Array], off: Sequence[Error]) -> Error:
    """What an elementwise row's result may be off by."""
    if all(map(is_zero, off)):
        return own_error(op, out, seen, is_exact=True)
    error = own_error(op, out, seen, is_exact=False)
    if len(op.signs) == 2:
        return error + off[0] + off[1]
    if op.powers == (1, 1):
        return error + product_error(seen, off)
    if op.special:
        return error + beside(op, out, seen, off)
    views = sides(op, seen, out, [1.0] * len(seen))
    function = arrays.function(op.name)
    for position, (x, d, view) in enumerate(zip(seen, off, views, strict=True)):
        if is_zero(d):
            continue
        rule = template(op.partial(position))
        given = dict(zip(slots(op), view, strict=True))
        slope = np.abs(arrays.forward(rule, given)[rule.output]) * d
        far = d > FAR * np.abs(x)
        if np.any(far):
            ends = [[*seen[:position], end, *seen[position + 1 :]] for end in (x - d, x + d)]
            apart = np.maximum(*(np.abs(function(*place) - out) for place in ends))
            slope = np.where(far, np.maximum(slope, apart), slope)
        error = error + slope
    return error


def own_error(op: Op, out: Array, seen: Sequence[Array], *, is_exact: bool) -> Error:
    """What a row may have rounded away itself, as it states, or as the tests hold its formula to."""
    ulps = op.value_ulp
    if ulps > 0.5 and op.name not in NATIVE:
        ulps = max(ulps, FORMULA_ULP)
    if not ulps or (is_exact and ulps <= 0.5 and are_whole([out, *seen])):
        return op.value_abs
    error = np.maximum(2 * ulps * UNIT * np.abs(out), max(ulps * TINY, op.value_abs))
    if np.all(out):
        return error
    given = [np.equal(x, 0) for x in seen]
    zero = np.equal(out, 0) & np.any(np.broadcast_arrays(*given), axis=0)
    return np.where(zero, op.value_abs, error)[()]  # a 0 that is made of a 0 has not underflowed


def product_error(seen: Sequence[Array], off: Sequence[Error]) -> Error:
    """What a product of two is off by if they are; nothing comes of what is multiplied by an exact 0."""
    error: Error = 0.0
    for x, d, other in ((seen[0], off[1], off[0]), (seen[1], off[0], off[1])):
        if not is_zero(d):
            weighted = np.abs(x) * d
            error = error + np.where(np.equal(x, 0) & np.equal(other, 0), 0.0, weighted)
    return error


def beside(op: Op, out: Array, seen: Sequence[Array], off: Sequence[Error]) -> Error:
    """What the operands' errors come to in a row with kinks or jumps."""
    if op.mirror == op.name:
        # Numbers that are equal as computed count as equal: if they only happen to, the jump is reported.
        near = np.abs(seen[0] - seen[1]) <= off[0] + off[1]
        return np.where(near & np.not_equal(*seen), 1.0, 0.0)
    function = arrays.function(op.name)
    return at_ends(lambda place: function(*place), out, seen, off)


def at_ends(
    function: Callable[[Sequence[Array]], Array],
    here: Array,
    seen: Sequence[Array],
    off: Sequence[Error],
) -> Error:
    """How far a function gets from its value where its arguments are off: both ends of each are tried.

    Of many arguments each is moved alone, and twice as far, so that of two that are close each comes past
    the other.
    """
    uncertain = [at for at, d in enumerate(off) if not is_zero(d)]
    apart: Error = 0.0
    if len(uncertain) <= MOST_ENDS:
        ends = [ends_of(seen[at], off[at]) for at in uncertain]
        moves = [dict(zip(uncertain, chosen, strict=True)) for chosen in product(*ends)]
    else:
        moves = [{at: end} for at in uncertain for end in ends_of(seen[at], 2 * off[at])]
    for moved in moves:
        place = [moved.get(at, x) for at, x in enumerate(seen)]
        apart = np.maximum(apart, np.abs(function(place) - here))
    return apart


def ends_of(x: Array, d: Error) -> tuple[Array, Array]:
    """The ends of what numbers may be: at least the next doubles, where they are off at all."""
    d = np.where(np.greater(d, 0), np.maximum(d, np.spacing(np.abs(x))), 0.0)
    return x - d, x + d


# Structural rows.


def of_structural(
    row: Structural, out: Array, seen: Sequence[Array], off: Sequence[Error], settings: Settings
) -> Error:
    """What a structural row's result may be off by: see ``Structural.bound``."""
    spread = [np.broadcast_to(d, np.shape(x)) for d, x in zip(off, seen, strict=True)]
    if row.bound is not None:
        return row.bound(np, seen, spread, out, settings)
    if row.value is None:
        assert row.formula is not None
        given: list[Any] = [Pair(*pair) for pair in zip(seen, off, strict=True)]
        found: Any = row.formula(cast(Any, PAIRS), given, settings)
        return found.error
    is_exact = all(map(is_zero, off))
    if row.push is not None:
        return inf
    if row.variadic:
        return 0.0 if is_exact else row.value(np, spread, settings)
    sizes = [np.abs(x) for x in seen]
    error: Error = 0.0
    for position, d in enumerate(off):
        if not is_zero(d):
            given = [*sizes[:position], spread[position], *sizes[position + 1 :]]
            error = error + row.value(np, given, settings)
    terms = terms_of(row, [np.shape(x) for x in seen], np.shape(out), settings)
    if terms > 1 or len(seen) > 1:
        whole = row.value(np, sizes, settings)
        if not (is_exact and are_whole([*seen, out, whole])):
            error = error + terms * (UNIT * whole + TINY)
    return error


def terms_of(row: Structural, shapes: Sequence[Shape], out: Shape, settings: Settings) -> int:
    """How many products, or numbers, each number of a linear row's result adds up at most."""
    if row.terms is not None:
        return row.terms(shapes, settings)
    used = size(tuple(map(size, shapes))) / size(out)
    return int(np.ceil(used ** (1 / len(shapes)) - 1e-9))


class Pairs:
    """What builds nodes, with arrays and their errors in their places: an operation is done at once."""

    def apply(self, kind: str, *operands: Pair, settings: Settings | None = None) -> Pair:
        """An operation's value, and what it may be off by."""
        seen, off = [pair.value for pair in operands], [pair.error for pair in operands]
        out = arrays.AT_ONCE.apply(kind, *seen, settings=settings)
        return Pair(out, of_kind(kind, settings or (), out, seen, off))

    def constant(self, value: float) -> Pair:
        """A number."""
        return Pair(arrays.AT_ONCE.constant(value), 0.0)

    def literal(self, literal: Literal) -> Pair:
        """A tensor that is written out."""
        return Pair(arrays.AT_ONCE.literal(literal), 0.0)

    def shape(self, pair: Pair) -> Shape:
        """An array's shape."""
        return np.shape(pair.value)


PAIRS = Pairs()


def constant(graph: Graph, node: int) -> Pair:
    """A constant; pi and tau are rounded."""
    value = arrays.ARRAYS.constant(graph, node)
    return Pair(value, UNIT * np.abs(value) if node in graph.symbols else 0.0)


def applied(graph: Graph, node: int, operands: Sequence[Pair]) -> Pair:
    """One operation of a graph."""
    settings = cast(Settings, graph.payloads[node])
    return PAIRS.apply(graph.kinds[node], *operands, settings=settings)


BOUNDED = Algebra(constant, applied)


# The reverse sweep.


def grad_errors(
    found: Adjoints, errors: Sequence[Error], edges: Callable[[int], EdgeProgram]
) -> list[Error]:
    """By node: what its grad may be off by, given what every node's data may be, and each node's edges."""
    graph = found.graph
    off: list[Error] = [0.0] * len(graph)
    sofar: list[Array] = [None] * len(graph)
    with np.errstate(all="ignore"):
        for user in found.order:
            if found.locals[user] is None:
                continue
            off[user] = settled(found, user, off[user])
            for operand, passed in passed_on(found, user, edges(user), errors, off[user]):
                value, error = passed
                if sofar[operand] is not None:
                    value = sofar[operand] + value
                    if not (is_zero(off[operand]) and is_zero(error) and are_whole([value])):
                        error = error + UNIT * np.abs(value)
                sofar[operand] = value
                off[operand] = off[operand] + error
        leaves = [node for node in graph.inputs.values() if found.grads[node] is not None]
        for node in leaves:
            off[node] = settled(found, node, off[node])
    return off


def settled(found: Adjoints, node: int, error: Error) -> Error:
    """A grad's error, once all is passed to it: 0 where nothing is passed, any where it is not finite."""
    grad = found.grads[node]
    if node in found.masks:
        error = np.where(np.not_equal(found.masks[node], 0), error, 0.0)
    if is_zero(error) and np.isfinite(grad).all():
        return 0.0
    return np.where(np.isfinite(grad) & (error < inf), error, inf)[()]


def passed_on(
    found: Adjoints, user: int, edges: EdgeProgram, errors: Sequence[Error], off: Error
) -> list[tuple[int, Pair]]:
    """What a node passes to its operands, and what that may be off by."""
    graph, values = found.graph, found.values
    operands, (program, outputs) = graph.operands[user], edges.program
    seen = dict.fromkeys((*operands, user))
    given = {str(node): Pair(values[node], errors[node]) for node in seen}
    given[GRAD] = Pair(found.grads[user], off)
    listed = []
    if graph.kinds[user] not in BY_NAME:
        passed = interpret(program, BOUNDED, given, outputs)
        for at, position in enumerate(edges.positions):
            listed.append((operands[position], passed[outputs[2 * at]]))
        return listed
    op = BY_NAME[graph.kinds[user]]
    for at, position in enumerate(edges.positions):
        local = local_pair(op, Program(program, (outputs[2 * at + 1],)), given, operands, user)
        is_branch = position in op.branches
        listed.append((operands[position], contribution(given[GRAD], local, is_branch=is_branch)))
    return listed


def contribution(grad: Pair, local: Pair, *, is_branch: bool) -> Pair:
    """A grad times a local derivative; into a branch that is not taken nothing is passed."""
    if is_branch:
        taken = np.not_equal(local.value, 0)
        error = np.where(taken, grad.error, 0.0)
        if not is_zero(local.error):
            error = error + np.where(local.error, np.abs(grad.value) + grad.error, 0.0)
        is_exact = is_zero(grad.error) and is_zero(local.error)
        return Pair(np.where(taken, grad.value, 0.0), 0.0 if is_exact else error)
    value = grad.value * local.value
    pairs = grad, local
    if np.ndim(local.value) == 0 and abs(local.value) == 1:
        return Pair(value, grad.error if is_zero(local.error) else product_of(pairs, value))
    return Pair(value, product_of(pairs, value))


def product_of(pairs: Sequence[Pair], value: Array) -> Error:
    """What a product may be off by."""
    seen, off = [pair.value for pair in pairs], [pair.error for pair in pairs]
    return of_row(BY_NAME["mul"], value, seen, off)


def local_pair(
    op: Op, program: Program, given: Mapping[str, Pair], operands: Sequence[int], user: int
) -> Pair:
    """A local derivative, and what it may be off by."""
    graph, (node,) = program
    if graph.kinds[node] == CONST:
        return constant(graph, node)
    if graph.kinds[node] == INPUT:
        return given[str(graph.payloads[node])]
    needed = dependencies(graph, node)
    read = [name for name, at in graph.inputs.items() if needed[at]]
    names = list(dict.fromkeys(map(str, operands))) if op.special else read
    function = arrays.function(op.name)

    def rule(place: Sequence[Array]) -> Array:
        values = dict(zip(names, place, strict=True))
        if op.special:
            values[str(user)] = function(*(values[str(operand)] for operand in operands))
        return arrays.forward(graph, values, [node])[node]

    seen, off = [given[name].value for name in names], [given[name].error for name in names]
    local = rule(seen)
    error = np.maximum(4 * op.partial_ulp * UNIT * np.abs(local), op.partial_abs)
    if op.special:
        error = error + at_ends(rule, local, seen, off)
    else:
        for position, d in enumerate(off):
            if not is_zero(d):
                error = error + along(rule, local, seen, position, d)
    return Pair(local, np.where(np.isfinite(local) & (error < inf), error, inf)[()])


def along(
    rule: Callable[[Sequence[Array]], Array],
    here: Array,
    seen: Sequence[Array],
    position: int,
    d: Error,
) -> Error:
    """How far a smooth rule gets from its value where one argument is off."""
    x, far = seen[position], d > FAR * np.abs(seen[position])

    def apart(end: Array) -> Array:
        return np.abs(rule([*seen[:position], end, *seen[position + 1 :]]) - here)

    if not np.any(far):
        return apart(x + STRETCH * d) / STRETCH
    ahead = apart(x + np.where(far, d, STRETCH * d))
    return np.where(far, np.maximum(ahead, apart(x - d)), ahead / STRETCH)
