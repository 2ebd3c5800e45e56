"""The engine that NumPy runs: a program block by block, each function into memory that is there already.

Blocks are small enough that what is alive stays in a cache, and large enough that calling a function costs
little beside what it does, and that threads seldom wait for each other to call one: see
``docs/explanation/engines.md``.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import partial
from itertools import repeat
from operator import itemgetter
from typing import Any

import numpy as np

from exprgrad.derive.lower.fuse import fused
from exprgrad.graph.graph import Program
from exprgrad.graph.ops import BY_NAME
from exprgrad.run.arrays import arrays
from exprgrad.run.arrays.arrays import COMPARED, NATIVE
from exprgrad.run.engines.columns import APART, LINE, aligned
from exprgrad.run.engines.programs import written_out
from exprgrad.run.engines.registers import Plan, plan
from exprgrad.run.numbers.sweeps import functions

__all__ = ["Kernel", "build"]

Operation = Callable[..., object]
"""An operation on blocks: the operands, then where the result goes."""

MOST_ROWS, FEW_ROWS, LEAST_ROWS = 2**15, 2**11, 2**8
"""The most rows of a block, few, and the fewest, powers of two; columns with few rows take fewer."""
ROOM, SPACE = 2**25, 2**31
"""The bytes of all registers, as far as that is enough for blocks of few rows, and of the fewest.

Beside a call, which takes 0.35 µs, it matters little whether registers are in a cache.
"""
MEMORY = 2**32
"""The bytes that all threads together take for registers, if one can do with that."""
CHUNK = 2**14
"""The fewest rows that one of several threads takes at a time."""
WORK = 2**22
"""The operations, counted row by row, that take about a millisecond."""


def sign(x: Any, out: Any) -> None:
    np.sign(x, out)
    np.copysign(out, x, out)


def power(x: Any, y: Any, out: Any) -> None:
    """NumPy takes the square root where the exponent is the number 1/2; the power of -inf is another."""
    if type(y) is not float or y != 0.5:
        np.power(x, y, out)
        return
    low = np.equal(x, -np.inf)
    np.sqrt(x, out)
    np.add(out, 0.0, out)
    np.putmask(out, low, np.inf)


def choose(c: Any, x: Any, y: Any, out: Any) -> None:
    np.copyto(out, y)
    np.putmask(out, c, x)


SPECIAL: dict[str, Operation] = {
    "where": choose,
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
    "sign": sign,
    "pow": power,
}
TABLE: dict[str, Operation] = {**NATIVE, **COMPARED, **SPECIAL}
"""Every row that NumPy has, and the steps about masks."""
SEVERAL = {"sign"}
"""What writes its result before it has read all of its operands."""
EXACT = frozenset([row for row, op in BY_NAME.items() if not op.value and op.value_ulp <= 0.5])
"""The rows for which NumPy gives the very double that the engine for single numbers gives."""
FIRST_OF_TWO = {
    "min": "where(y < x, y, where(x == x, where(y == y, x, y), x))",
    "max": "where(y > x, y, where(x == x, where(y == y, x, y), x))",
}
"""Of two zeros the one that comes first, as for single numbers."""


def each(function: Callable[..., float], *arguments: Any) -> None:
    """A function of numbers, on every row."""
    *operands, out = arguments
    listed = [x.tolist() if isinstance(x, np.ndarray) else repeat(x) for x in operands]
    out[:] = list(map(function, *listed))


def primitives() -> frozenset[str]:
    """The rows that the engine for single numbers does not compute by a formula, extrema aside."""
    return frozenset(
        [row for row, op in BY_NAME.items() if not op.value and op.equation is None]
    ) - {*FIRST_OF_TWO}


def quickly(kind: str) -> Operation:
    """A row, or a step about masks, as NumPy has it; a root is looked for in all rows at once."""
    if kind in TABLE:
        return TABLE[kind]
    search = arrays.function(kind)
    return lambda *cells: np.copyto(cells[-1], search(*cells[:-1]))


def exactly(kind: str) -> Operation:
    """A row, or a step about masks, as the engine for single numbers has it."""
    return TABLE[kind] if kind in EXACT or kind not in BY_NAME else partial(each, functions[kind])


def build(program: Program, inputs: Sequence[str], *, precise: bool = False) -> Kernel:
    """A program of numbers as a kernel over columns, which are given in the order of ``inputs``.

    With ``precise`` every result is, to the bit, what the engine for single numbers finds, but for the
    sign of a derivative that is 0: rows that NumPy computes otherwise are computed number by number.
    """
    if precise:
        lowered = written_out(program, primitives(), FIRST_OF_TWO, exact=True)
        return Kernel(plan(lowered, inputs, SEVERAL), exactly)
    lowered = written_out(fused(program, NATIVE), NATIVE)
    return Kernel(plan(lowered, inputs, SEVERAL), quickly)


def rows_that_fit(memory: int, row: int) -> int:
    """How many rows, a power of two, fit into some memory, given the bytes of one; 0 if none does."""
    return 1 << (memory // row).bit_length() >> 1


class Kernel:
    """A plan, and memory to play it in: what one call leaves the next one takes, thread by thread.

    ``threads`` is how many may play it at once without taking more memory than they should; ``chunk`` and
    ``work`` are those of ``compiled.Kernel``.
    """

    work = WORK

    def __init__(self, plan: Plan, function: Callable[[str], Operation]) -> None:
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
    """Constants, registers and masks for blocks of so many rows."""

    def __init__(self, plan: Plan, rows: int) -> None:
        self.rows = rows
        pitch = rows + (APART // 8 if rows > LEAST_ROWS else LINE)
        whole = aligned(plan.registers * pitch)
        masks = np.empty((plan.masks, rows + 8 * LINE), dtype=bool)
        registers = [whole[at * pitch : at * pitch + rows] for at in range(plan.registers)]
        self.constants: list[Any] = [*plan.constants]
        self.arrays: list[Any] = [*registers, *[mask[:rows] for mask in masks]]

    def cells(self, rows: int) -> list[Any]:
        """Those cells for a block of some rows, or fewer."""
        if rows == self.rows:
            return self.constants + self.arrays
        return self.constants + [array[:rows] for array in self.arrays]
