"""A program as a list of steps over cells, in which each result stands where another is no longer needed.

A cell is a column's block, or a constant.  An engine that computes block by block plays the steps once for
each block: the few cells that are alive at a time stay in the cache, and no memory is taken.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

from exprgrad.graph.graph import Graph, Program
from exprgrad.run.engines.schedule import ordered
from exprgrad.run.engines.truths import MASKS, with_truths

__all__ = ["Instruction", "Plan", "plan"]


class Instruction(NamedTuple):
    """An operation on cells, into a cell.

    ``kind`` is a row's name, or one of those about masks (``truths.py``).  ``fill`` is a ``where`` whose
    third operand is where the result goes.
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
    steps: list[Instruction]
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


def step(graph: Graph, node: int, cells: Sequence[int], masks: int) -> Instruction:
    """An operation with its cells, the result's last; the first mask is the cell ``masks``."""
    kind = graph.kinds[node]
    places = [cells[operand] for operand in (*graph.operands[node], node)]
    if kind == "where" and places[2] == places[3]:
        kind = "fill"
    return Instruction(kind, tuple([at if at >= 0 else masks - 2 - at for at in places]))
