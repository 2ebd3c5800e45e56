"""The engine that is machine code: a program of numbers, compiled for this machine.

derived graph → values and partials that share their work (``derive/lower/fuse.py``) → rows that the engine
spells (``rows.py``) → a loop over vectors (``llvm_text.py``) → machine code (``llvm.py``).
"""

from __future__ import annotations

import ctypes
from array import array
from collections.abc import Iterable, Sequence
from functools import cache
from threading import Lock
from typing import Any, NamedTuple

import numpy as np

from exprgrad.derive.build import Builder
from exprgrad.derive.lower.fuse import fused
from exprgrad.derive.rules import template
from exprgrad.graph.graph import Graph, Program
from exprgrad.graph.ops import BY_NAME
from exprgrad.run.engines.llvm import Code, Machine, compiled, machine, symbol
from exprgrad.run.engines.llvm_text import ENTRY, Dialect, module, streamed
from exprgrad.run.engines.memory import address
from exprgrad.run.engines.polynomials import FMA, contracted
from exprgrad.run.engines.rows import written_out
from exprgrad.run.engines.staged import StagedKernel, roots_of, staged
from exprgrad.run.engines.vector_math import EXACT, FAST, LIBRARY, VECTOR_LIBRARY, WRITTEN

__all__ = ["SIGNATURE", "NativeKernel", "build"]

MOST_LINES = 10_000
"""The most lines that are compiled, at 25 to 110 microseconds each: it takes a second, or little more."""
TOO_LARGE = "too large for native code"
NO_PRECISE_ROOTS = "native code searches for no roots to the bit"
MEMORY = 2_000
"""Formulas of so many lines compute for longer than memory takes, and have no other stores for it."""
LARGE = 2**24
"""From so many bytes on outputs are written past the caches, which would have to fetch them first."""

THREADS = 2**10
"""More threads than a machine has."""
CHUNK = 2**16
"""The rows that one of several threads takes at a time."""
WORK = 2**25
"""The operations, counted row by row, that take about a millisecond."""


class NativeKernel:
    """A compiled program: ``kernel(columns, outputs, start, stop)`` computes some rows of every output.

    Columns and outputs are contiguous, of doubles, and each has ``stop`` rows at least.  No output may
    share memory with a column.  A kernel may be called from several threads at once, for different rows; it
    runs without the interpreter's lock.

    ``text`` is the module, ``symbols`` the addresses of functions that it calls, ``width`` the rows of a
    vector.
    """

    threads, chunk, work = THREADS, CHUNK, WORK

    def __init__(self, text: str, symbols: dict[str, int], width: int) -> None:
        self.text = text
        self.symbols = symbols
        self.width = width
        self.streams = text.count("\n") <= MEMORY
        self.lock = Lock()
        self.twin: Streaming | None = None
        self.code = compiled(text, ENTRY, symbols)
        self.function = SIGNATURE(self.code.address)

    def streaming(self) -> Streaming:
        """The same for large outputs, compiled when there are any."""
        with self.lock:
            if self.twin is None:
                code = compiled(streamed(self.text, self.width), ENTRY, self.symbols)
                self.twin = Streaming(SIGNATURE(code.address), code)
            return self.twin

    def __call__(
        self, columns: Sequence[np.ndarray], outputs: Sequence[np.ndarray], start: int, stop: int
    ) -> None:
        """Compute the rows from ``start`` to before ``stop``."""
        if stop - start >= self.width:
            places = array("Q", [*map(address, columns), *map(address, outputs)])
            given, _ = places.buffer_info()
            found = given + places.itemsize * len(columns)
            large = self.streams and len(outputs) * outputs[0].nbytes >= LARGE
            place = first_aligned(places[len(columns) :], start, self.width) if large else None
            if place is None or stop - place < self.width:
                self.function(given, found, start, stop)
                return
            end = stop - (stop - place) % self.width
            if start < place:
                self.function(given, found, start, start + self.width)
            self.streaming().function(given, found, place, end)
            if end < stop:
                self.function(given, found, stop - self.width, stop)
        elif stop > start:
            self.few([column[start:stop] for column in columns], [o[start:stop] for o in outputs])

    def few(self, columns: Sequence[np.ndarray], outputs: Sequence[np.ndarray]) -> None:
        """Compute fewer rows than a vector has: the first row stands where there is none."""
        given = np.empty((len(columns), self.width))
        for row, column in zip(given, columns, strict=True):
            row[:] = column[0]
            row[: len(column)] = column
        found = np.empty((len(outputs), self.width))
        self([*given], [*found], 0, self.width)
        for output, row in zip(outputs, found, strict=True):
            output[:] = row[: len(output)]


class Streaming(NamedTuple):
    """A compiled function, and what must live as long as it does."""

    function: Any
    code: Code


SIGNATURE = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)
"""Two arrays of addresses, and two rows."""


def first_aligned(outputs: Iterable[int], start: int, width: int) -> int | None:
    """The first row from ``start`` on at which every output is at a multiple of a vector's size."""
    places = {(address + 8 * start) % (8 * width) for address in outputs}
    if len(places) > 1:
        return None
    past = places.pop()
    return None if past % 8 else start + -(past // 8) % width


def build(
    program: Program, inputs: Sequence[str], *, precise: bool = False
) -> NativeKernel | StagedKernel | str:
    """Compile a program of numbers; ``inputs`` are the names of the columns, in order.

    With ``precise`` its answers are the scalar engine's to the bit.  That cannot be where Python's own
    functions are needed (``hypot``, ``logsumexp``): native code cannot call them, for what a handler of
    signals raises in them would be lost.  Then, and where the program is too large to be compiled in time,
    the answer is why.  Raises ``MissingExtraError`` without llvmlite.
    """
    found = machine()
    if len(program.graph) > MOST_LINES:
        return TOO_LARGE
    if roots_of(program):
        return NO_PRECISE_ROOTS if precise else staged(program, inputs, build)
    dialect = exact(found) if precise else fast(found)
    rows = spelled = frozenset((*dialect.texts, *dialect.scalar, *dialect.vector))
    if precise:
        rows |= {row for row, op in BY_NAME.items() if not op.value}
    read = in_single_steps if FMA in rows else template
    if not precise:
        program = fused(program, read=read)
    program = written_out(program, rows, exact=precise, read=read)
    lacking = {*program.graph.kinds} & {*BY_NAME} - spelled
    if lacking:
        return f"native code has no precise {min(lacking)}"
    text, called = module(program, inputs, dialect)
    if text.count("\n") > MOST_LINES:
        return TOO_LARGE
    known = {name: symbol(name) for name in called if name in dialect.vector.values()}
    return NativeKernel(text, known, found.width)


@cache
def in_single_steps(text: str) -> Graph:
    """The graph of one of the op table's texts, its polynomials in single steps."""
    builder, graph = Builder(), template(text)
    output = builder.include(graph)[graph.output]
    return contracted(builder.program([output])).graph


@cache
def exact(found: Machine) -> Dialect:
    """Spellings whose answers are the scalar engine's to the bit."""
    return Dialect(found.width, EXACT, {row: row for row in LIBRARY}, {})


@cache
def fast(found: Machine) -> Dialect:
    """Spellings within 5 ulp."""
    vector = {}
    for row in VECTOR_LIBRARY if found.prefix else ():
        name = f"{found.prefix}{'v' * len(BY_NAME[row].names)}_{row}"
        if symbol(name):
            vector[row] = name
    own = {*VECTOR_LIBRARY, "tan"} if found.fused else {*VECTOR_LIBRARY, "tan", *WRITTEN}
    texts = {row: text for row, text in FAST.items() if found.fused or row not in WRITTEN}
    if found.fused:
        texts[FMA] = "fma x y z"
    if found.avx512:
        texts["scale"] = "scalef x y"
    return Dialect(found.width, texts, {row: row for row in own}, vector, fetches=found.avx512)
