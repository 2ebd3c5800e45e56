"""A program as a list of steps over cells, in which each result stands where another is no longer needed.

A cell is a column's block, or a constant.  An engine that computes block by block plays the steps once for
each block: the few cells that are alive at a time stay in the cache, and no memory is taken.
"""

from __future__ import annotations

from collections.abc import Collection, Container, Sequence
from typing import NamedTuple

from exprgrad.derive.constant_folding import is_flag
from exprgrad.graph.graph import INPUT, Graph, Program, dependencies
from exprgrad.graph.ops import COMPARISONS
from exprgrad.run.engines.schedule import ordered

__all__ = ["Plan", "Step", "plan"]


class Step(NamedTuple):
    """An operation on cells, into a cell.

    ``kind`` is a row's name, or one of those about masks, which are blocks of truth values: ``mask`` (of
    numbers: where they are not 0), ``number`` (of a mask: 1 or 0), ``and``, ``or``, ``not``, ``and-not``
    (the second without the first), ``or-not`` (the second, or not the first).  A comparison gives a
    mask, and a ``where`` takes one.  ``fill`` is a ``where`` whose third operand is where the result goes.
    """

    kind: str
    cells: tuple[int, ...]


class Plan(NamedTuple):
    """The steps, and what the cells are, in this order: inputs, outputs, constants, registers, masks.

    Each of the ``copies`` is an output that is no step's result, and the cell that it equals.
    """

    inputs: int
    outputs: int
    constants: tuple[float, ...]
    registers: int
    masks: int
    steps: list[Step]
    copies: list[tuple[int, int]]


NUMBER, MASK = 0, 1
"""A form is twice a node's index, plus one of these: the node's block as numbers, or as a mask."""

Operation = tuple[str, tuple[int, ...], int]
"""A step before it has cells: its kind, the forms of its operands, and that of its result."""


def plan(program: Program, inputs: Sequence[str], apart: Collection[str] = ()) -> Plan:
    """The steps for a program of numbers.

    ``apart`` are the kinds whose result may not stand where an operand does.
    """
    graph, outputs = program
    needed = dependencies(graph, *outputs)
    constants = {node: x for node, x in enumerate(graph.payloads) if isinstance(x, float)}
    operations = sequence(graph, outputs, needed, constants)
    cells = [-1] * (2 * len(graph))
    for place, name in enumerate(inputs):
        if name in graph.inputs:
            cells[2 * graph.inputs[name]] = place
    numbers: dict[str, int] = {}
    first = len(inputs) + len(outputs)
    for node, number in constants.items():
        if needed[node]:
            place = first + numbers.setdefault(number.hex(), len(numbers))
            cells[2 * node] = cells[2 * node + MASK] = place
    copies = []
    for place, output in enumerate(outputs, len(inputs)):
        if cells[2 * output] < 0:
            cells[2 * output] = place
        else:
            copies.append((place, cells[2 * output]))
    first += len(numbers)
    registers, masks = allocate(operations, cells, apart, first)
    return Plan(
        len(inputs),
        len(outputs),
        tuple(map(float.fromhex, numbers)),
        registers,
        masks,
        settled(operations, cells, first + registers),
        copies,
    )


# Masks.

Chosen = dict[int, tuple[str, tuple[int, ...]]]
"""By node that is 1 or 0 everywhere: how it is computed as a mask, and of which nodes."""


def sequence(
    graph: Graph, outputs: Sequence[int], needed: Sequence[int], constants: dict[int, float]
) -> list[Operation]:
    """The operations in order, conditions as masks."""
    chosen: Chosen = {}
    for node in range(len(graph)):
        if needed[node] and graph.operands[node]:
            found = as_mask(graph, node, chosen, constants)
            if found is not None:
                chosen[node] = found
    wanted = forms(graph, outputs, needed, chosen)
    operations: list[Operation] = []
    inputs = [node for node in graph.inputs.values() if needed[node]]
    for node in inputs + ordered(graph, outputs, needed):
        kind, number, mask = graph.kinds[node], 2 * node + NUMBER, 2 * node + MASK
        if node in chosen:
            name, operands = chosen[node]
            form = NUMBER if name in COMPARISONS else MASK
            operations.append((name, tuple([2 * operand + form for operand in operands]), mask))
            if wanted[number]:
                operations.append(("number", (mask,), number))
            continue
        if kind == "where":
            c, x, y = graph.operands[node]
            operations.append((kind, (2 * c + MASK, 2 * x, 2 * y), number))
        elif kind != INPUT:
            operations.append((kind, tuple([2 * o for o in graph.operands[node]]), number))
        if wanted[mask]:
            operations.append(("mask", (number,), mask))
    return operations


def as_mask(
    graph: Graph, node: int, logical: Container[int], constants: dict[int, float]
) -> tuple[str, tuple[int, ...]] | None:
    """How a node that is 1 or 0 everywhere is computed as a mask; None if it is no such node."""
    kind, operands = graph.kinds[node], graph.operands[node]
    if kind in COMPARISONS:
        return kind, operands
    if kind in ("mul", "max") and all(operand in logical for operand in operands):
        return ("and" if kind == "mul" else "or"), operands
    if kind == "where":
        c, x, y = operands
        first, second = (
            value if value is not None and is_flag(value) else None
            for value in (constants.get(x), constants.get(y))
        )
        if (first, second) == (1, 0):
            return "or", (c, c)
        if (first, second) == (0, 1):
            return "not", (c,)
        if first in (0, 1) and y in logical:
            return ("or" if first else "and-not"), (c, y)
        if second in (0, 1) and x in logical:
            return ("or-not" if second else "and"), (c, x)
    return None


def forms(graph: Graph, outputs: Sequence[int], needed: Sequence[int], chosen: Chosen) -> bytearray:
    """A flag for each form: whether anything uses it."""
    wanted = bytearray(2 * len(graph))
    for output in outputs:
        wanted[2 * output] = 1
    for node, kind in enumerate(graph.kinds):
        if not needed[node]:
            continue
        operands, form = graph.operands[node], NUMBER
        if node in chosen:
            name, operands = chosen[node]
            form = NUMBER if name in COMPARISONS else MASK
        elif kind == "where":
            wanted[2 * operands[0] + MASK] = 1
            operands = operands[1:]
        for operand in operands:
            wanted[2 * operand + form] = 1
    return wanted


# Cells.


def allocate(
    operations: Sequence[Operation], cells: list[int], apart: Collection[str], first: int
) -> tuple[int, int]:
    """Give every result a cell; returns how many registers and masks that takes.

    Masks are counted from -2 down until the number of registers is known; -1 is no cell yet.  What was let
    go last is taken first, for it is in the cache.
    """
    last = [-1] * len(cells)
    for at, (_, operands, _) in enumerate(operations):
        for form in operands:
            if cells[form] == -1:
                last[form] = at
    free: tuple[list[int], list[int]] = ([], [])
    count = [0, 0]
    for at, (kind, operands, result) in enumerate(operations):
        late = []
        for form in dict.fromkeys(operands):
            if last[form] == at:
                if may_share(kind, operands, form, apart):
                    free[form & 1].append(cells[form])
                else:
                    late.append(form)
        if cells[result] == -1:
            pool = result & 1
            if free[pool]:
                cells[result] = free[pool].pop()
            else:
                cells[result] = -2 - count[1] if pool else first + count[0]
                count[pool] += 1
        for form in late:
            free[form & 1].append(cells[form])
    return count[0], count[1]


def may_share(kind: str, operands: tuple[int, ...], form: int, apart: Collection[str]) -> bool:
    """Whether an operation's result may stand where one of its operands does."""
    if kind == "where":
        return form == operands[2] != operands[1]
    return kind not in apart


def settled(operations: Sequence[Operation], cells: Sequence[int], masks: int) -> list[Step]:
    """The operations with their cells, the result's last."""
    steps = []
    for kind, operands, result in operations:
        places = [cells[form] for form in operands]
        places.append(cells[result])
        if kind == "where" and places[2] == places[3]:
            kind = "fill"
        steps.append(Step(kind, tuple([at if at >= 0 else masks - 2 - at for at in places])))
    return steps
