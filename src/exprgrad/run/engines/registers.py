"""A program as a list of steps over cells, in which each result stands where another is no longer needed.

A cell is a column's block, or a constant.  An engine that computes block by block plays the steps once for
each block: the few cells that are alive at a time stay in the cache, and no memory is taken.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from heapq import heapify, heappop, heappush
from itertools import accumulate
from typing import NamedTuple

from exprgrad.graph.graph import Graph, Program
from exprgrad.run.engines.programs import MASKS, with_truths

__all__ = ["Plan", "ordered", "plan"]


Step = tuple[str, tuple[int, ...]]
"""An operation, and its cells: those that it reads, then the one that it writes.

Its name is a row's, or one of those about masks (``programs.py``).  ``fill`` is a ``where`` whose third
operand is where the result goes.
"""


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


def plan(program: Program, inputs: Sequence[str], apart: Collection[str] = ()) -> Plan:
    """The steps for a program of numbers.

    ``apart`` are the kinds whose result may not stand where an operand does.
    """
    graph, outputs = with_truths(program)
    cells = [NOWHERE] * len(graph)
    for place, name in enumerate(inputs):
        if name in graph.inputs:
            cells[graph.inputs[name]] = place
    constants: dict[str, int] = {}
    first = len(inputs) + len(outputs)
    for node, number in enumerate(graph.payloads):
        if isinstance(number, float):
            cells[node] = first + constants.setdefault(number.hex(), len(constants))
    copies = []
    for place, output in enumerate(outputs, len(inputs)):
        if cells[output] == NOWHERE:
            cells[output] = place
        else:
            copies.append((place, cells[output]))
    first += len(constants)
    order = ordered(graph, outputs, b"\1" * len(graph))
    registers, masks = allocate(graph, order, cells, apart, first)
    steps = [step(graph, node, cells, first + registers) for node in order]
    numbers = tuple(map(float.fromhex, constants))
    return Plan(len(inputs), len(outputs), numbers, registers, masks, steps, copies)


NOWHERE = -1
"""The cell of a node that has none yet.  Masks are counted from -2 down until the registers are counted."""


def allocate(
    graph: Graph, order: Sequence[int], cells: list[int], apart: Collection[str], first: int
) -> tuple[int, int]:
    """Give every result a cell; returns how many registers and masks that takes.

    What was let go last is taken first, for it is in the cache.
    """
    last = {
        operand: node
        for node in order
        for operand in graph.operands[node]
        if cells[operand] == NOWHERE
    }
    registers: list[int] = []
    masks: list[int] = []
    count = least = 0
    for node in order:
        kind, operands = graph.kinds[node], graph.operands[node]
        late = []
        for operand in dict.fromkeys(operands):
            if last.get(operand) == node:
                free = masks if graph.kinds[operand] in MASKS else registers
                if may_share(kind, operands, operand, apart):
                    free.append(cells[operand])
                else:
                    late.append((free, cells[operand]))
        if cells[node] == NOWHERE:
            if kind in MASKS:
                least -= not masks
                cells[node] = masks.pop() if masks else NOWHERE + least
            else:
                cells[node] = registers.pop() if registers else first + count
                count += cells[node] == first + count
        for free, cell in late:
            free.append(cell)
    return count, -least


def may_share(kind: str, operands: tuple[int, ...], operand: int, apart: Collection[str]) -> bool:
    """Whether an operation's result may stand where one of its operands does."""
    if kind == "where":
        return operand == operands[2] != operands[1]
    return kind not in apart


def step(graph: Graph, node: int, cells: Sequence[int], masks: int) -> Step:
    """An operation with its cells, the result's last; the first mask is the cell ``masks``."""
    kind = graph.kinds[node]
    places = [cells[operand] for operand in (*graph.operands[node], node)]
    if kind == "where" and places[2] == places[3]:
        kind = "fill"
    return kind, tuple([at if at >= 0 else masks - 2 - at for at in places])


# The order in which a program's operations are done: one in which few results wait for others.


def ordered(graph: Graph, outputs: Sequence[int], needed: Sequence[int]) -> list[int]:
    """The ``needed`` operations, each after its operands, so that few results are alive at a time."""
    given = [node for node, operands in enumerate(graph.operands) if operands and needed[node]]
    free = bytearray(len(graph))
    for node, operands in enumerate(graph.operands):
        free[node] = not operands
    for output in outputs:
        free[output] = 1
    other = thrifty(graph, given, free)
    return min((given, other), key=lambda order: alive(graph, order, free))


def thrifty(graph: Graph, given: Sequence[int], free: Sequence[int]) -> list[int]:
    """Always that operation next, of those that are ready, which leaves the fewest results alive.

    Of equals it is the first of the graph.  What is ``free``, leaves and outputs, takes no memory.  It is a
    rule of thumb, for to find the best order is NP-complete: R. Sethi, Complete register allocation
    problems, SIAM J. Comput. 4 (1975), 226-248.
    """
    size = len(graph)
    waits, uses, users = [0] * size, [0] * size, [0] * size
    """By node: the operands to come; the operations to come that read it, and the sum of their indices."""
    operands_of = [different(operands) for operands in graph.operands]
    for node in given:
        for operand in operands_of[node]:
            uses[operand] += 1
            users[operand] += node
            waits[node] += bool(graph.operands[operand])
    flat, first = readers(operands_of, given, uses)
    change = [0 if free[node] else size for node in range(size)]
    """By node: how many more results are alive once it is done, times the size."""
    for node in given:
        if uses[node] == 1 and not free[node]:
            change[users[node]] -= size
    ready = [change[node] + node for node in given if not waits[node]]
    heapify(ready)
    done = bytearray(size)
    order = []
    while ready:
        node = heappop(ready) % size
        if done[node]:
            continue
        done[node] = 1
        order.append(node)
        for operand in operands_of[node]:
            uses[operand] -= 1
            users[operand] -= node
            if uses[operand] == 1 and not free[operand]:
                last = users[operand]
                change[last] -= size
                if not waits[last]:
                    heappush(ready, change[last] + last)
        for reader in flat[first[node] : first[node + 1]]:
            waits[reader] -= 1
            if not waits[reader]:
                heappush(ready, change[reader] + reader)
    return order


def readers(
    operands_of: Sequence[Sequence[int]], given: Sequence[int], uses: Sequence[int]
) -> tuple[list[int], list[int]]:
    """The operations that read each node, node after node; and by node where its own begin."""
    first = [0, *accumulate(uses)]
    flat, filled = [0] * first[-1], first.copy()
    for node in given:
        for operand in operands_of[node]:
            flat[filled[operand]] = node
            filled[operand] += 1
    return flat, first


def different(operands: tuple[int, ...]) -> tuple[int, ...]:
    """The operands, each once."""
    if len(operands) == 2:
        return operands if operands[0] != operands[1] else operands[:1]
    return operands if len(operands) < 2 else tuple(set(operands))


def alive(graph: Graph, order: Sequence[int], free: Sequence[int]) -> int:
    """The most results that are alive at a time, in some order."""
    last = [0] * len(graph)
    for at, node in enumerate(order):
        for operand in graph.operands[node]:
            last[operand] = at
    count = most = 0
    for at, node in enumerate(order):
        for operand in different(graph.operands[node]):
            if last[operand] == at and not free[operand]:
                count -= 1
        if not free[node]:
            count += 1
            most = max(most, count)
    return most
