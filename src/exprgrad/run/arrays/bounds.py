"""Rounding errors of a sweep over tensors: ``run/numbers/bounds.py``, over arrays.

An elementwise row adds its own rounding to the effect of its operands' errors.  A structural
row states its bound; else it is walked as its formula, or taken to be linear: then it
maps errors as it maps numbers, and rounds once for each term that it adds up.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import reduce
from operator import itemgetter
from typing import Any, NamedTuple, cast

import numpy as np

from exprgrad.derive.error_rules import (
    TINY,
    UNIT,
    ErrorArithmetic,
    bound_along_operand,
    bound_near_switch,
    bound_propagated_error,
    bound_rounding,
    is_phase_lost,
    may_be_rounded,
    minimum_rounding_error,
)
from exprgrad.derive.rules import rule_slots, template
from exprgrad.derive.sweeps.gradient import GRAD, edge_program
from exprgrad.derive.sweeps.rounding import FORMULA_ULP
from exprgrad.graph.graph import (
    CONST,
    INPUT,
    Algebra,
    Graph,
    Program,
    Settings,
    Shape,
    dependency_flags,
    evaluate_nodes,
    interpret,
    shape_size,
)
from exprgrad.graph.ops import BY_NAME, Op
from exprgrad.graph.structural import Structural
from exprgrad.graph.tensors import STRUCTURAL
from exprgrad.run.arrays import arrays
from exprgrad.run.arrays.arrays import AT_ONCE, NATIVE, Array, ArrayAdjoints, AtOnce, sides_of
from exprgrad.run.numbers.bounds import EXACT_BELOW

__all__ = ["active_edges", "array_data_errors", "array_grad_errors"]

inf = np.inf
NOTHING_OFF: Mapping[int, Any] = {}

Error = Any
"""The error bound of numbers: 0.0 if exact, else an array of their shape, or a double.

A bound of nan means any error, as at an infinity.
"""


class Pair(NamedTuple):
    """Numbers and their error bounds."""

    value: Array
    error: Error


def array_data_errors(
    graph: Graph,
    values: Sequence[Array],
    outputs: Iterable[int],
    given: Mapping[int, Error] = NOTHING_OFF,
) -> list[Error]:
    """Bound the data of the nodes that some outputs depend on.

    Literals are exact, and so are inputs other than those in ``given``: they are the doubles
    read.
    """
    errors: list[Error] = [given.get(node, 0.0) for node in range(len(graph))]
    needed = dependency_flags(graph, *outputs)
    with np.errstate(all="ignore"):
        for node, operands in enumerate(graph.operands):
            if needed[node] and operands:
                seen = [values[operand] for operand in operands]
                off = [errors[operand] for operand in operands]
                settings = cast(Settings, graph.payloads[node])
                errors[node] = of_kind(graph.kinds[node], settings, values[node], seen, off)
            elif node in graph.symbols:
                errors[node] = UNIT * np.abs(values[node])
    return errors


def of_kind(
    kind: str, settings: Settings, out: Array, seen: Sequence[Array], off: Sequence[Error]
) -> Error:
    """Bound the error of a row's result."""
    if kind in BY_NAME:
        return array_row_error(BY_NAME[kind], out, seen, off)
    return of_structural(STRUCTURAL[kind], out, seen, off, settings)


def is_zero_error(error: Error) -> bool:
    """Whether an error is 0 everywhere."""
    return isinstance(error, float) and not error


def are_whole_arrays(numbers: Sequence[Array]) -> bool:
    """Whether all are whole numbers below 2^52."""
    return all(
        bool(((np.rint(x) == x) & (np.abs(x) < EXACT_BELOW)).all())
        for x in map(np.asarray, numbers)
    )


# Elementwise rows.


def array_row_error(op: Op, out: Array, seen: Sequence[Array], off: Sequence[Error]) -> Error:
    """Bound the error of an elementwise row's result."""
    ulps = op.value_ulp
    if ulps > 0.5 and op.name not in NATIVE:
        ulps = max(ulps, FORMULA_ULP)
    error: Error = op.value_abs
    is_exact = all(map(is_zero_error, off))
    if ulps and not (is_exact and ulps <= 0.5 and are_whole_arrays([out, *seen])):
        error = bound_rounding(1.0, out, ulps, minimum_rounding_error(op, ulps))
        if not np.all(out):
            error = np.where(may_be_rounded(op, out, seen), error, op.value_abs)[()]
    return error if is_exact else error + bound_propagated_error(ARRAYS, op, out, seen, off)


def scale_error_unless_zero(size: Array, error: Error) -> Error:
    """Multiply an error by a size: 0 where the size is 0, even if the error is infinite."""
    found = size * error
    return np.where(np.equal(size, 0), 0.0, found) if np.isnan(np.sum(found)) else found


def array_slopes(op: Op, seen: Sequence[Array], out: Array) -> Callable[[int], Array]:
    """Return a row's local derivatives, by the operand's position."""
    views = sides_of(op, [*seen, out], [1.0] * len(seen))

    def slope(position: int) -> Array:
        rule = template(op.partial(position))
        given = dict(zip(rule_slots(op), views[position], strict=True))
        return arrays.forward_arrays(rule, given)[rule.output]

    return slope


def choose_numbers(condition: Array, one: Callable[[], Error], other: Callable[[], Error]) -> Error:
    """Choose between two by a condition; one that is never taken is not computed."""
    if not np.any(condition):
        return other()
    return one() if np.all(condition) else np.where(condition, one(), other())


ARRAYS = ErrorArithmetic(
    function=arrays.array_function,
    slopes=array_slopes,
    number=lambda x: float(x) if np.ndim(x) == 0 else None,
    is_zero=is_zero_error,
    choose=choose_numbers,
    no=np.logical_not,
    most=np.maximum,
    product=scale_error_unless_zero,
)


# Structural rows.


def of_structural(
    row: Structural, out: Array, seen: Sequence[Array], off: Sequence[Error], settings: Settings
) -> Error:
    """Bound the error of a structural row's result: see ``Structural.bound``."""
    spread = [np.broadcast_to(d, np.shape(x)) for d, x in zip(off, seen, strict=True)]
    if row.bound is not None:
        return row.bound(np, seen, spread, out, settings)
    if row.value is None:
        assert row.fallback is not None
        given: list[Any] = [Pair(*pair) for pair in zip(seen, off, strict=True)]
        found: Any = row.fallback(cast(Any, PAIRS), given, settings)
        return found.error
    is_exact = all(map(is_zero_error, off))
    if row.jvp is not None:
        return inf
    if row.variadic:
        return 0.0 if is_exact else row.value(np, spread, settings)
    sizes = [np.abs(x) for x in seen]
    error: Error = 0.0
    for position, d in enumerate(off):
        if not is_zero_error(d):
            given = [*sizes[:position], spread[position], *sizes[position + 1 :]]
            error = error + row.value(np, given, settings)
    terms = count_terms(row, [np.shape(x) for x in seen], np.shape(out), settings)
    if terms > 1 or len(seen) > 1:
        whole = row.value(np, sizes, settings)
        if not (is_exact and are_whole_arrays([*seen, out, whole])):
            # A sum does not underflow, and a mean does once; products may, each.
            tiny = terms * TINY if len(seen) > 1 else np.where(np.equal(whole, 0), 0.0, TINY)
            error = error + terms * UNIT * whole + tiny
    return error


def count_terms(row: Structural, shapes: Sequence[Shape], out: Shape, settings: Settings) -> int:
    """Return the most products, or numbers, that a number of a linear row's result adds up."""
    if row.terms is not None:
        return row.terms(shapes, settings)
    used = shape_size(tuple(map(shape_size, shapes))) / shape_size(out)
    return int(np.ceil(used ** (1 / len(shapes)) - 1e-9))


def value_and_error(kind: str, *operands: Pair, settings: Settings | None = None) -> Pair:
    """Compute an operation's value and its error bound."""
    seen, off = [pair.value for pair in operands], [pair.error for pair in operands]
    out = AT_ONCE.apply(kind, *seen, settings=settings)
    return Pair(out, of_kind(kind, settings or (), out, seen, off))


PAIRS = AtOnce(
    value_and_error,
    lambda value: Pair(AT_ONCE.constant(value), 0.0),
    lambda literal: Pair(AT_ONCE.literal(literal), 0.0),
    lambda pair: np.shape(pair.value),
)


def leaf_pair(graph: Graph, node: int) -> Pair:
    """Return a constant with its error: pi is rounded."""
    value = arrays.ARRAYS.constant(graph, node)
    return Pair(value, UNIT * np.abs(value) if node in graph.symbols else 0.0)


BOUNDED: Algebra[Pair] = Algebra(
    leaf_pair,
    lambda graph, node, operands: value_and_error(
        graph.kinds[node], *operands, settings=cast(Settings, graph.payloads[node])
    ),
)


# The reverse sweep.

Local = Callable[[Mapping[str, Pair]], Pair]
"""A local derivative, given the data of the node and of its operands, by their numbers."""


class ArrayEdges(NamedTuple):
    """A node's edges: their program, the operands' positions, and elementwise edges' local derivatives."""

    program: Program
    positions: tuple[int, ...]
    locals: tuple[Local, ...]


def active_edges(
    graph: Graph, user: int, active: Collection[int], varying: Sequence[int]
) -> ArrayEdges:
    """Return a node's edges to active operands, prepared once."""
    program, positions, _ = edge_program(graph, user, active, varying)
    if graph.kinds[user] not in BY_NAME:
        return ArrayEdges(program, positions, ())
    op, operands = BY_NAME[graph.kinds[user]], graph.operands[user]
    nodes = program.outputs[1 : 2 * len(positions) : 2]
    locals_ = tuple([local_of(op, program.graph, node, operands, user) for node in nodes])
    return ArrayEdges(program, positions, locals_)


def local_of(op: Op, graph: Graph, node: int, operands: Sequence[int], user: int) -> Local:
    """Return a local derivative that is a node of a program.

    With kinks or jumps it reads the operands, and recomputes the node's own data from them.
    """
    if graph.kinds[node] == CONST:
        known = leaf_pair(graph, node)
        return lambda given: known
    if graph.kinds[node] == INPUT:
        return itemgetter(str(graph.payloads[node]))
    needed, function = dependency_flags(graph, node), arrays.array_function(op.name)
    inputs = {name: at for name, at in graph.inputs.items() if needed[at]}
    read = [*dict.fromkeys(map(str, operands))] if op.special else [*inputs]
    steps = [at for at in range(node + 1) if needed[at] and graph.operands[at]]
    constants = {
        at: arrays.ARRAYS.constant(graph, at)
        for at, kind in enumerate(graph.kinds)
        if needed[at] and kind == CONST
    }

    def rule(place: Sequence[Array]) -> Array:
        given = dict(zip(read, place, strict=True))
        if op.special:
            given[str(user)] = function(*[given[str(operand)] for operand in operands])
        values: Any = constants | {at: given[name] for name, at in inputs.items()}
        return evaluate_nodes(graph, arrays.ARRAYS, values, steps)[node]

    return lambda given: local_pair(op, rule, [given[name] for name in read])


def local_pair(op: Op, rule: Callable[[Sequence[Array]], Array], read: Sequence[Pair]) -> Pair:
    """Evaluate a local derivative's rule, and bound its error."""
    seen, off = [pair.value for pair in read], [pair.error for pair in read]
    value = rule(seen)
    error = np.maximum(4 * op.partial_ulp * UNIT * np.abs(value), op.partial_abs)
    if op.partial_ulp:
        is_made = reduce(np.logical_or, [np.equal(x, 0) for x in seen], np.False_)
        error = error + np.where(np.equal(value, 0) & is_made, 0.0, TINY)
    if op.special:
        return Pair(value, error + bound_near_switch(ARRAYS, rule, value, seen, off))
    for position, d in enumerate(off):
        if not is_zero_error(d):
            apart = bound_along_operand(ARRAYS, rule, value, seen, position, d)
            error = error + np.where(is_phase_lost(op, d), inf, apart)
    return Pair(value, error)


def array_grad_errors(
    found: ArrayAdjoints, errors: Sequence[Error], edges: Callable[[int], ArrayEdges]
) -> list[Error]:
    """Bound the error of each node's grad, given that of every node's data, and each node's edges."""
    graph = found.graph
    off: list[Error] = [0.0] * len(graph)
    sofar: list[Array] = [None] * len(graph)
    with np.errstate(all="ignore"):
        for user in range(graph.output, -1, -1):
            if found.locals[user] is None:
                continue
            off[user] = finite_where(found, user, off[user])
            for operand, passed in bound_contributions(found, user, edges(user), errors, off[user]):
                value, error = passed
                if sofar[operand] is not None:
                    value = sofar[operand] + value
                    if not (
                        is_zero_error(off[operand])
                        and is_zero_error(error)
                        and are_whole_arrays([value])
                    ):
                        error = error + UNIT * np.abs(value)
                sofar[operand] = value
                off[operand] = off[operand] + error
        leaves = [node for node in graph.inputs.values() if found.grads[node] is not None]
        for node in leaves:
            off[node] = finite_where(found, node, off[node])
    return off


def finite_where(found: ArrayAdjoints, node: int, error: Error) -> Error:
    """Return a complete grad's error: 0 where nothing was passed, any where the grad is not finite."""
    grad = found.grads[node]
    if node in found.masks:
        error = np.where(np.not_equal(found.masks[node], 0), error, 0.0)
    return 0.0 if is_zero_error(error) else np.where(np.isfinite(grad), error, inf)[()]


def bound_contributions(
    found: ArrayAdjoints, user: int, edges: ArrayEdges, errors: Sequence[Error], off: Error
) -> list[tuple[int, Pair]]:
    """Return a node's contributions to its operands, with error bounds."""
    graph, values = found.graph, found.values
    operands = graph.operands[user]
    given = {str(node): Pair(values[node], errors[node]) for node in (*operands, user)}
    given[GRAD] = grad = Pair(found.grads[user], off)
    places = [operands[position] for position in edges.positions]
    if graph.kinds[user] not in BY_NAME:
        numbers = interpret(edges.program.graph, BOUNDED, given)
        passed = [numbers[output] for output in edges.program.outputs[::2]]
        return [*zip(places, passed, strict=False)]
    op = BY_NAME[graph.kinds[user]]
    branches = [position in op.branches for position in edges.positions]
    return [
        (place, contribution_pair(grad, local(given), is_branch=is_branch))
        for place, local, is_branch in zip(places, edges.locals, branches, strict=True)
    ]


def contribution_pair(grad: Pair, local: Pair, *, is_branch: bool) -> Pair:
    """Multiply a grad by a local derivative; a branch that is not taken gets 0."""
    if is_branch:
        taken = np.not_equal(local.value, 0)
        error = np.where(taken, grad.error, 0.0)
        if not is_zero_error(local.error):
            error = error + np.where(local.error, np.abs(grad.value) + grad.error, 0.0)
        is_exact = is_zero_error(grad.error) and is_zero_error(local.error)
        return Pair(np.where(taken, grad.value, 0.0), 0.0 if is_exact else error)
    value = grad.value * local.value
    is_sign = np.ndim(local.value) == 0 and abs(local.value) == 1
    if is_sign and is_zero_error(local.error):
        return Pair(value, grad.error)
    seen, off = [grad.value, local.value], [grad.error, local.error]
    return Pair(value, array_row_error(BY_NAME["mul"], value, seen, off))
