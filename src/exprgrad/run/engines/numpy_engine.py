"""The engine that NumPy runs: a program block by block, each function into memory that is there already.

A program becomes a list of steps over cells, in which each result reuses the cell of a result that is no
longer needed.  A cell is a column's block, or a constant.  The steps are played once for each block: the
few cells that are alive at a time stay in the cache, and no memory is allocated.

Blocks are small enough that what is alive stays in a cache, and large enough that calling a function costs
little beside what it does, and that threads seldom wait for each other to call one: see
``docs/explanation/engines.md``.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Sequence
from heapq import heapify, heappop, heappush
from itertools import accumulate
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np

from exprgrad.graph.graph import Graph, Program, dependency_flags
from exprgrad.graph.ops import BY_NAME
from exprgrad.run.arrays import arrays
from exprgrad.run.arrays.arrays import COMPARED, NATIVE
from exprgrad.run.engines.columns import COLUMN_STRIDE, LINE, aligned_memory
from exprgrad.run.engines.programs import MASKS, fuse_partials, lower_for_engine, with_truths
from exprgrad.run.numbers.sweeps import functions, is_from_formula

__all__ = ["NumpyKernel", "NumpyPlan", "build_numpy_kernel", "order_operations", "plan_steps"]


# A program as steps over cells.

Step = tuple[str, tuple[int, ...]]
"""An operation, and its cells: those that it reads, then the one that it writes.

Its name is a row's, or one of those about masks (``programs.py``).  ``fill`` is a ``where`` whose third
operand is where the result goes.
"""


class NumpyPlan(NamedTuple):
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


def plan_steps(program: Program, inputs: Sequence[str], apart: Collection[str] = ()) -> NumpyPlan:
    """The steps for a program of numbers.

    ``apart`` are the kinds whose result may not reuse an operand's cell.
    """
    needed = dependency_flags(program.graph, *program.outputs)
    graph, outputs = with_truths(program, order_operations(*program, needed))
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
    order = [node for node, operands in enumerate(graph.operands) if operands]
    registers, masks = allocate_cells(graph, order, cells, apart, first)
    steps = [numpy_step(graph, node, cells, first + registers) for node in order]
    numbers = tuple(map(float.fromhex, constants))
    return NumpyPlan(len(inputs), len(outputs), numbers, registers, masks, steps, copies)


NOWHERE = -1
"""The cell of a node that has none yet.  Masks are counted from -2 down until the registers are counted."""


def allocate_cells(
    graph: Graph, order: Sequence[int], cells: list[int], apart: Collection[str], first: int
) -> tuple[int, int]:
    """Give every result a cell; returns how many registers and masks that takes.

    The cell that was freed last is reused first, for it is in the cache.
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
                is_last = kind != "where" or operand == operands[2] != operands[1]
                if is_last and (
                    kind == "where" or kind not in apart
                ):  # the result may reuse its cell
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


def numpy_step(graph: Graph, node: int, cells: Sequence[int], masks: int) -> Step:
    """An operation with its cells, the result's last; the first mask is the cell ``masks``."""
    kind = graph.kinds[node]
    places = [cells[operand] for operand in (*graph.operands[node], node)]
    if kind == "where" and places[2] == places[3]:
        kind = "fill"
    return kind, tuple([at if at >= 0 else masks - 2 - at for at in places])


# The order in which a program's operations are done: one in which few results wait for others.


def order_operations(graph: Graph, outputs: Sequence[int], needed: Sequence[int]) -> list[int]:
    """The ``needed`` operations, each after its operands, so that few results are alive at a time."""
    given = [node for node, operands in enumerate(graph.operands) if operands and needed[node]]
    free = bytearray(len(graph))
    for node, operands in enumerate(graph.operands):
        free[node] = not operands
    for output in outputs:
        free[output] = 1
    other = order_by_memory(graph, given, free)
    return min((given, other), key=lambda order: peak_alive(graph, order, free))


def order_by_memory(graph: Graph, given: Sequence[int], free: Sequence[int]) -> list[int]:
    """Order operations greedily: next is the ready one that leaves the fewest results alive.

    Ties go to the first in the graph.  ``free`` nodes, leaves and outputs, take no memory.  To find the
    best order is NP-complete: R. Sethi, Complete register allocation problems, SIAM J. Comput. 4 (1975),
    226-248.
    """
    size = len(graph)
    waits, uses, users = [0] * size, [0] * size, [0] * size
    """By node: the operands to come; the operations to come that read it, and the sum of their indices."""
    operands_of = [distinct_operands(operands) for operands in graph.operands]
    for node in given:
        for operand in operands_of[node]:
            uses[operand] += 1
            users[operand] += node
            waits[node] += bool(graph.operands[operand])
    flat, first = find_readers(operands_of, given, uses)
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


def find_readers(
    operands_of: Sequence[Sequence[int]], given: Sequence[int], uses: Sequence[int]
) -> tuple[list[int], list[int]]:
    """A flat list of the operations that read each node, and by node where its readers begin."""
    first = [0, *accumulate(uses)]
    flat, filled = [0] * first[-1], first.copy()
    for node in given:
        for operand in operands_of[node]:
            flat[filled[operand]] = node
            filled[operand] += 1
    return flat, first


def distinct_operands(operands: tuple[int, ...]) -> tuple[int, ...]:
    """The operands, each once."""
    if len(operands) == 2:
        return operands if operands[0] != operands[1] else operands[:1]
    return operands if len(operands) < 2 else tuple(set(operands))


def peak_alive(graph: Graph, order: Sequence[int], free: Sequence[int]) -> int:
    """The most results that are alive at a time when operations are done in an order."""
    last = [0] * len(graph)
    for at, node in enumerate(order):
        for operand in graph.operands[node]:
            last[operand] = at
    count = most = 0
    for at, node in enumerate(order):
        for operand in distinct_operands(graph.operands[node]):
            if last[operand] == at and not free[operand]:
                count -= 1
        if not free[node]:
            count += 1
            most = max(most, count)
    return most


# The steps as NumPy does them, and the kernel that plays them.

Operation = Callable[..., object]
"""An operation on blocks: the operands, then where the result goes."""

MOST_ROWS, FEW_ROWS, LEAST_ROWS = 2**15, 2**11, 2**8
"""The most rows of a block, the most that large programs have, and the fewest."""
ROOM, SPACE = 2**25, 2**31
"""The bytes of registers that a block of up to ``MOST_ROWS`` may take, and one of up to ``FEW_ROWS``.

Beside a call, which takes 0.35 µs, it matters little whether registers are in a cache.
"""
MEMORY = 2**32
"""The most bytes of registers that several threads take together."""
CHUNK = 2**14
"""The fewest rows that one of several threads takes at a time."""
WORK = 2**22
"""The number of operations, times rows, that take about a millisecond."""


def power_into(x: Any, y: Any, out: Any) -> None:
    """NumPy takes the square root where the exponent is the number 1/2; the power of -inf is another."""
    if type(y) is not float or y != 0.5:
        np.power(x, y, out)
        return
    low = np.equal(x, -np.inf)
    np.sqrt(x, out)
    np.add(out, 0.0, out)
    np.putmask(out, low, np.inf)


def choose_into(c: Any, x: Any, y: Any, out: Any) -> None:
    np.copyto(out, y)
    np.putmask(out, c, x)


SPECIAL: dict[str, Operation] = {
    "where": choose_into,
    "fill": lambda c, x, y, out: np.putmask(out, c, x),
    "mask": lambda x, out: np.not_equal(x, 0.0, out),
    "number": lambda x, out: np.copyto(out, x),
    "and": np.logical_and,
    "or": np.logical_or,
    "not": np.logical_not,
    "and-not": np.less,
    "or-not": np.less_equal,
    "min": lambda x, y, out: np.minimum(x, y, out=out),
    "max": lambda x, y, out: np.maximum(x, y, out=out),
    "logsumexp": np.logaddexp,
    "sign": lambda x, out: np.copysign(np.sign(x, out), x, out),
    "pow": power_into,
}
TABLE: dict[str, Operation] = {**NATIVE, **COMPARED, **SPECIAL}
"""Every row that NumPy has, and the steps about masks."""
SEVERAL = {"sign"}
"""Operations that write their result before they have read all of their operands."""
EXACT = frozenset([row for row, op in BY_NAME.items() if not op.value and op.value_ulp <= 0.5])
"""The rows for which NumPy gives the very double that the engine for single numbers gives."""
FIRST_OF_TWO = {
    "min": "where(y < x, y, where(x == x, where(y == y, x, y), x))",
    "max": "where(y > x, y, where(x == x, where(y == y, x, y), x))",
}
"""Extrema that are the first of two zeros, as for single numbers."""


def fast_operation(kind: str) -> Operation:
    """NumPy's function for a row, or for a step about masks; a root is searched in all rows at once."""
    if kind in TABLE:
        return TABLE[kind]
    search = arrays.array_function(kind)
    return lambda *cells: np.copyto(cells[-1], search(*cells[:-1]))


def exact_operation(kind: str) -> Operation:
    """The function of a row whose results are those for single numbers; or of a step about masks."""
    if kind in EXACT or kind not in BY_NAME:
        return TABLE[kind]
    function = functions[kind]

    def apply_row_by_row(*cells: Any) -> None:
        *operands, out = cells
        listed = [np.broadcast_to(x, out.shape).tolist() for x in operands]
        out[:] = list(map(function, *listed))

    return apply_row_by_row


def build_numpy_kernel(
    program: Program, inputs: Sequence[str], *, precise: bool = False
) -> NumpyKernel:
    """A program of numbers as a kernel over columns, which are given in the order of ``inputs``.

    With ``precise`` every result is, to the bit, that of the engine for single numbers, except for the
    sign of a derivative that is 0: rows that NumPy computes otherwise are computed number by number.
    """
    if precise:  # by what the engine for single numbers computes by no formula, extrema aside
        rows = [
            row for row, op in BY_NAME.items() if not is_from_formula(op) and op.equation is None
        ]
        known = frozenset(rows) - FIRST_OF_TWO.keys()
        lowered = lower_for_engine(program, known, FIRST_OF_TWO, exact=True)
        return NumpyKernel(plan_steps(lowered, inputs, SEVERAL), exact_operation)
    lowered = lower_for_engine(fuse_partials(program, NATIVE), NATIVE)
    return NumpyKernel(plan_steps(lowered, inputs, SEVERAL), fast_operation)


def rows_that_fit(memory: int, row: int) -> int:
    """How many rows, a multiple of 64, fit into some memory, given the bytes of one."""
    return memory // row // 64 * 64


class NumpyKernel:
    """A plan, and workspaces to play it in, which later calls use again.

    ``threads`` is how many may play it at once without taking more memory than they should; ``chunk`` and
    ``work`` are those of ``compiled.Kernel``.
    """

    work = WORK

    def __init__(self, plan: NumpyPlan, function: Callable[[str], Operation]) -> None:
        self.plan = plan
        table = {kind: function(kind) for kind in {kind for kind, _ in plan.steps}}
        self.steps = [(table[kind], itemgetter(*cells)) for kind, cells in plan.steps]
        self.spare: list[Workspace] = []
        row = 8 * max(plan.registers, 1)
        self.block = max(
            min(rows_that_fit(ROOM, row), MOST_ROWS),
            min(rows_that_fit(SPACE, row), FEW_ROWS),
            LEAST_ROWS,
        )
        self.threads = max(MEMORY // (row * self.block), 1)
        self.chunk = max(self.block, CHUNK)

    def __call__(
        self, columns: Sequence[Any], outputs: Sequence[Any], start: int, stop: int
    ) -> None:
        """Compute rows ``start`` to ``stop`` of every output; any number of threads may, of others."""
        rows = min(self.block, max(1 << (stop - start - 1).bit_length(), LINE))
        try:
            work = self.spare.pop()
        except IndexError:
            work = None
        if work is None or work.rows < rows:
            work = Workspace(self.plan, rows)
        with np.errstate(all="ignore"):
            for low in range(start, stop, work.rows):
                self.play(work, columns, outputs, low, min(low + work.rows, stop))
        if len(self.spare) < min(self.threads, os.cpu_count() or 1):
            self.spare.append(work)

    def play(
        self, work: Workspace, columns: Sequence[Any], outputs: Sequence[Any], low: int, high: int
    ) -> None:
        """Compute one block."""
        cells = [column[low:high] for column in (*columns, *outputs)]
        cells += work.cells(high - low)
        for function, pick in self.steps:
            function(*pick(cells))
        for place, cell in self.plan.copies:
            cells[place][:] = cells[cell]


class Workspace:
    """Constants, registers and masks for blocks of ``rows`` rows."""

    def __init__(self, plan: NumpyPlan, rows: int) -> None:
        self.rows = rows
        pitch = rows + (COLUMN_STRIDE // 8 if rows > LEAST_ROWS else LINE)
        whole = aligned_memory(plan.registers * pitch)
        masks = np.empty((plan.masks, rows + 8 * LINE), dtype=bool)
        registers = [whole[at * pitch : at * pitch + rows] for at in range(plan.registers)]
        self.constants: list[Any] = [*plan.constants]
        self.arrays: list[Any] = [*registers, *[mask[:rows] for mask in masks]]

    def cells(self, rows: int) -> list[Any]:
        """The cells for a block of at most ``self.rows`` rows."""
        if rows == self.rows:
            return self.constants + self.arrays
        return self.constants + [array[:rows] for array in self.arrays]
