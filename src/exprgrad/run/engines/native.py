"""The engine that is machine code: a program of numbers, compiled for this machine.

derived graph → values and partials that share their work → rows that the engine spells (both in
``programs.py``) → a loop over vectors (``llvm_text.py``) → machine code.  This is the one door to
llvmlite.  A program with roots becomes several kernels, for native code does not search.
"""

from __future__ import annotations

import ctypes
from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, partial
from threading import Lock
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from exprgrad.derive.build import GraphBuilder
from exprgrad.derive.rules import template
from exprgrad.derive.search import root_search
from exprgrad.errors import MissingExtraError, install_command
from exprgrad.graph.graph import Graph, Program
from exprgrad.graph.ops import BY_NAME, is_root
from exprgrad.run.arrays.arrays import search_rows
from exprgrad.run.engines.columns import data_address
from exprgrad.run.engines.compiled import Kernel
from exprgrad.run.engines.llvm_text import (
    ENTRY,
    EXACT,
    FAST,
    LIBRARY,
    VECTOR_LIBRARY,
    VECTOR_OR_WRITTEN,
    WRITTEN,
    Dialect,
    llvm_module,
    stream_stores,
)
from exprgrad.run.engines.programs import FMA, contract_polynomials, fuse_partials, lower_for_engine
from exprgrad.run.numbers.sweeps import functions, is_from_formula

__all__ = ["NativeKernel", "StagedKernel", "Totals", "build_native_kernel"]

MOST_LINES = 10_000
"""The most lines that are compiled, at 25 to 110 microseconds each: it takes a second, or little more."""
TOO_LARGE = "too large for native code"
NO_PRECISE_ROOTS = "native code cannot search for roots to the bit"
MEMORY = 2_000
"""Formulas of more lines take longer to compute than to write, and get no stores past the caches."""
LARGE = 2**24
"""Outputs of this many bytes and more are written past the caches, which would fetch them first."""

THREADS = 2**10
"""More threads than a machine has."""
CHUNK = 2**16
"""The rows that one of several threads takes at a time."""
WORK = 2**25
"""The number of operations, times rows, that take about a millisecond."""

SHORT_WORK = 2**20
"""The lines, times rows, that take less than a tenth of a millisecond: the interpreter's lock is kept."""


# Machine code.

SIGNATURE = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)
"""Two arrays of addresses, and two rows."""
OPTIMIZATION = {2_000: 2, 10**9: 1}
"""The level of optimisation, by the most lines; a higher one takes twice as long over long texts."""


class Machine(NamedTuple):
    """This machine: the rows of its widest vectors, and whether it multiplies and adds in one step.

    ``avx512``: it has an instruction that multiplies by powers of two, and others read one number of memory
    for all rows of a vector.
    ``prefix`` is how the vector library's functions for this width are named; empty where it has none.
    """

    width: int
    fused: bool
    avx512: bool
    prefix: str


@cache
def import_llvmlite() -> Any:
    """llvmlite, ready for this machine.

    Raises ``MissingExtraError`` where it is not installed, or is and cannot be loaded.
    """
    try:
        import llvmlite.binding as llvm
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] != "llvmlite":
            raise broken_llvmlite(error) from error
        raise MissingExtraError(
            "missing-llvmlite",
            "the engine 'native' needs llvmlite",
            help=f"{install_command('llvmlite')}, or take the engine 'numpy'",
        ) from None
    except (ImportError, OSError) as error:
        raise broken_llvmlite(error) from error
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    return llvm


def broken_llvmlite(error: Exception) -> MissingExtraError:
    """The error for a llvmlite that is there and cannot be loaded."""
    return MissingExtraError(
        "missing-llvmlite",
        f"llvmlite is installed, but it cannot be loaded: {error}",
        help=f"{install_command('--force-reinstall llvmlite')}, or take the engine 'numpy'",
    )


@cache
def detect_machine() -> Machine:
    """Find out what this machine can do."""
    llvm = import_llvmlite()
    features = llvm.get_host_cpu_features()
    triple = llvm.get_process_triple()
    if not triple.startswith("x86_64"):
        return Machine(2, triple.startswith(("aarch64", "arm64")), False, "")
    if all(features.get(name) for name in ("avx512f", "avx512dq", "avx512vl")):
        found = Machine(8, True, True, "_ZGVeN8")
    elif features.get("avx2") and features.get("fma"):
        found = Machine(4, True, False, "_ZGVdN4")
    else:
        return Machine(2, False, False, "")
    return found if vector_library() is not None else found._replace(prefix="")


@cache
def vector_library() -> ctypes.CDLL | None:
    """glibc's library of vector functions."""
    try:
        library = ctypes.CDLL("libmvec.so.1")
    except OSError:
        return None
    return library


def vector_function_address(name: str) -> int:
    """The address of a vector function; 0 where the library has none of this name, as older ones."""
    function = getattr(vector_library(), name, None)
    return ctypes.cast(function, ctypes.c_void_p).value or 0 if function is not None else 0


def code_generator(lines: int) -> Any:
    """Make a code generator for this machine and a text of some lines; the engine that takes it owns it."""
    llvm = import_llvmlite()
    return llvm.Target.from_triple(llvm.get_process_triple()).create_target_machine(
        cpu=llvm.get_host_cpu_name(),
        features=llvm.get_host_cpu_features().flatten(),
        opt=next(level for most, level in OPTIMIZATION.items() if lines <= most),
        jit=True,
    )


def compile_module(text: str, symbols: Mapping[str, int] = MappingProxyType({})) -> Any:
    """A module's function, ``ENTRY``; ``symbols`` are the addresses of functions that it calls."""
    llvm = import_llvmlite()
    for name, place in symbols.items():
        llvm.add_symbol(name, place)
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(text), code_generator(text.count("\n")))
    engine.finalize_object()
    function: Any = SIGNATURE(engine.get_function_address(ENTRY))
    function.engine = engine  # which must live as long as it is called
    return function


# Kernels.


class NativeKernel:
    """A compiled program: ``kernel(columns, outputs, start, stop)`` computes some rows of every output.

    Columns and outputs are contiguous, of doubles, and each has ``stop`` rows at least.  No output may
    share memory with a column.  A kernel may be called from several threads at once, for different rows; it
    runs without the interpreter's lock, except for a short call that is repeated.

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
        self.twin: Any = None
        self.function = compile_module(text, symbols)

    def streaming(self) -> Any:
        """The same function for large outputs, compiled when there are any."""
        with self.lock:
            if self.twin is None:
                self.twin = compile_module(stream_stores(self.text, self.width), self.symbols)
            return self.twin

    def __call__(
        self, columns: Sequence[np.ndarray], outputs: Sequence[np.ndarray], start: int, stop: int
    ) -> None:
        """Compute the rows from ``start`` to before ``stop``."""
        if stop - start >= self.width:
            places = array("Q", [*map(data_address, columns), *map(data_address, outputs)])
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
            self.streaming()(given, found, place, end)
            if end < stop:
                self.function(given, found, stop - self.width, stop)
        elif stop > start:
            self.few([column[start:stop] for column in columns], [o[start:stop] for o in outputs])

    def repeat(
        self, columns: Sequence[np.ndarray], outputs: Sequence[np.ndarray], rows: int
    ) -> Callable[[], object] | None:
        """A function that computes all rows of the same arrays again; None where outputs are large.

        They have to be where they are now.
        """
        if len(outputs) * outputs[0].nbytes >= LARGE:
            return None
        if rows < self.width:
            return partial(self.few, columns, outputs)
        places = array("Q", map(data_address, [*columns, *outputs]))
        given, _ = places.buffer_info()
        found = ctypes.c_void_p(given + places.itemsize * len(columns))
        is_short = self.text.count("\n") * rows <= SHORT_WORK
        plain = (ctypes.PYFUNCTYPE if is_short else ctypes.CFUNCTYPE)(
            None
        )  # it checks no arguments
        function = plain(ctypes.cast(self.function, ctypes.c_void_p).value or 0)
        play: partial[object] = partial(
            function, ctypes.c_void_p(given), found, ctypes.c_int64(0), ctypes.c_int64(rows)
        )
        play.__dict__["held"] = places, self.function  # which must live as long as it is called
        return play

    def few(self, columns: Sequence[np.ndarray], outputs: Sequence[np.ndarray]) -> None:
        """Compute fewer rows than a vector holds, padded with copies of the first row."""
        given = np.empty((len(columns), self.width))
        for row, column in zip(given, columns, strict=True):
            row[:] = column[0]
            row[: len(column)] = column
        found = np.empty((len(outputs), self.width))
        self([*given], [*found], 0, self.width)
        for output, row in zip(outputs, found, strict=True):
            output[:] = row[: len(output)]


def first_aligned(outputs: Iterable[int], start: int, width: int) -> int | None:
    """The first row from ``start`` on at which every output is at a multiple of a vector's size."""
    places = {(address + 8 * start) % (8 * width) for address in outputs}
    if len(places) > 1:
        return None
    past = places.pop()
    return None if past % 8 else start + -(past // 8) % width


def build_native_kernel(
    program: Program, inputs: Sequence[str], *, precise: bool = False
) -> NativeKernel | StagedKernel | str:
    """Compile a program of numbers; ``inputs`` are the names of the columns, in order.

    With ``precise`` its answers are the scalar engine's to the bit.  Returns why there is no kernel where
    the program is too large to be compiled in time, or has to be precise and needs Python's own functions
    (``hypot``, ``logsumexp``): native code cannot call those, for what a handler of signals raises in them
    would be lost.  Raises ``MissingExtraError`` without llvmlite.
    """
    found = detect_machine()
    if len(program.graph) > MOST_LINES:
        return TOO_LARGE
    if any(map(is_root, program.graph.kinds)):
        return (
            NO_PRECISE_ROOTS
            if precise
            else build_staged_kernel(program, inputs, build_native_kernel)
        )
    dialect = fast_dialect(found)
    if precise:  # the scalar engine's answers, to the bit
        dialect = Dialect(found.width, EXACT, {row: row for row in LIBRARY}, {})
    rows = spelled = frozenset((*dialect.texts, *dialect.scalar, *dialect.vector))
    if precise:
        rows |= {row for row, op in BY_NAME.items() if not is_from_formula(op)}
    read = in_single_steps if FMA in rows else template
    if not precise:
        ready = VECTOR_OR_WRITTEN & dialect.vector.keys()
        program = fuse_partials(program, read=read, ready=ready)
    program = lower_for_engine(program, rows, exact=precise, read=read)
    lacking = {*program.graph.kinds} & {*BY_NAME} - spelled
    if lacking:
        return f"native code has no precise {min(lacking)}"
    text, called = llvm_module(program, inputs, dialect)
    if text.count("\n") > MOST_LINES:
        return TOO_LARGE
    known = {
        name: vector_function_address(name) for name in called if name in dialect.vector.values()
    }
    return NativeKernel(text, known, found.width)


@cache
def in_single_steps(text: str) -> Graph:
    """The graph of a text of the op table, with its polynomials contracted to single steps."""
    builder, graph = GraphBuilder(), template(text)
    return contract_polynomials(builder.program([builder.include(graph)[graph.output]])).graph


@cache
def fast_dialect(found: Machine) -> Dialect:
    """Spellings within 5 ulp."""
    vector = {}
    counts = {row: len(BY_NAME[row].names) for row in VECTOR_LIBRARY}
    counts |= dict.fromkeys(VECTOR_OR_WRITTEN, 1)
    for row, operands in counts.items():
        name = f"{found.prefix}{'v' * operands}_{row}"
        if found.prefix and vector_function_address(name):
            vector[row] = name
    own = {*VECTOR_LIBRARY, "tan"} if found.fused else {*VECTOR_LIBRARY, "tan", *WRITTEN}
    texts = {row: text for row, text in FAST.items() if found.fused or row not in WRITTEN}
    if found.fused:
        texts[FMA] = "fma x y z"
    if found.avx512:
        texts["scale"] = "scalef x y"
    return Dialect(found.width, texts, {row: row for row in own}, vector, fetches=found.avx512)


# Roots: what they read, the search turn by turn, and the rest.

BLOCK = 2**13
"""The rows of a block, so few that the state of a search stays in the processor's cache."""


Build = Callable[[Program, Sequence[str]], Kernel | str]
Stage = list[Callable[[Sequence[np.ndarray]], np.ndarray]]
"""A root's kernels: one finds its operands from the columns and earlier roots, the others search it."""


def build_staged_kernel(
    program: Program, inputs: Sequence[str], build: Build
) -> StagedKernel | str:
    """Build a kernel for a program with roots from kernels without; or return why there is none."""
    graph, outputs = program
    builder = GraphBuilder()
    known: list[str] = [*inputs]
    parts: list[tuple[Program, tuple[str, ...], str]] = []

    def rule(node: int, images: Sequence[int]) -> int | None:
        """A root is an input of what comes after it."""
        kind = graph.kinds[node]
        if not is_root(kind):
            return None
        operands = [images[operand] for operand in graph.operands[node]]
        values = [builder.value(operand) for operand in operands]
        if None not in values:
            return builder.constant(functions[kind](*values))
        parts.append((builder.program(operands), tuple(known), kind))
        name = f"root {len(parts)}"
        known.append(name)
        return builder.input(name)

    images = builder.include(graph, rule=rule)
    rest = build(builder.program([images[output] for output in outputs]), known)
    stages = []
    for wanted, before, kind in parts:
        state, first, *others = root_search(kind)
        names = BY_NAME[kind].names
        stage: Stage = []
        readers = (before, names, *[(*names, *state)] * len(others))
        for one, read in zip((wanted, first, *others), readers, strict=True):
            kernel = build(one, read)
            if isinstance(kernel, str):
                return kernel
            stage.append(partial(run_kernel, kernel, len(one.outputs)))
        stages.append(stage)
    return rest if isinstance(rest, str) else StagedKernel(stages, rest)


def run_kernel(kernel: Kernel, count: int, columns: Sequence[np.ndarray]) -> np.ndarray:
    """A kernel's outputs, of which there are ``count``, for all rows of some columns."""
    rows = len(columns[0])
    outputs = np.empty((count, rows))
    kernel(columns, [*outputs], 0, rows)
    return outputs


class StagedKernel:
    """Kernels one after the other, block by block: each root becomes a column that the next ones read."""

    def __init__(self, stages: Sequence[Stage], rest: Kernel) -> None:
        self.stages = stages
        self.rest = rest
        self.threads, self.chunk, self.work = rest.threads, rest.chunk, rest.work

    def __call__(
        self, columns: Sequence[np.ndarray], outputs: Sequence[np.ndarray], start: int, stop: int
    ) -> None:
        """Compute the rows from ``start`` to before ``stop``."""
        for low in range(start, stop, BLOCK):
            high = min(low + BLOCK, stop)
            given = [np.ascontiguousarray(column[low:high]) for column in columns]
            for operands, first, turn, last in self.stages:
                given.append(search_rows(first, turn, last, operands(given)))
            self.rest(given, [output[low:high] for output in outputs], 0, high - low)


# Sums.

COMPILING = Lock()
"""Held by the thread that compiles."""
BOUND = 2.0**900
"""Larger sums are left to others, for several of them might overflow."""
LANES = 8
"""How many sums a column has."""
TEXT = f"""
define void @{ENTRY}(ptr %columns, ptr %state, i64 %count, i64 %rows) {{
entry:
  br label %column
column:
  %k = phi i64 [0, %entry], [%k.next, %after]
  %slot = getelementptr ptr, ptr %columns, i64 %k
  %rows.at = load ptr, ptr %slot, align 8
  %offset = mul i64 %k, {2 * LANES}
  %sum.at = getelementptr double, ptr %state, i64 %offset
  %lost.at = getelementptr double, ptr %sum.at, i64 {LANES}
  %sum.before = load <{LANES} x double>, ptr %sum.at, align 8
  %lost.before = load <{LANES} x double>, ptr %lost.at, align 8
  br label %row
row:
  %i = phi i64 [0, %column], [%i.next, %row]
  %sum = phi <{LANES} x double> [%sum.before, %column], [%sum.next, %row]
  %lost = phi <{LANES} x double> [%lost.before, %column], [%lost.next, %row]
  %x.at = getelementptr double, ptr %rows.at, i64 %i
  %x = load <{LANES} x double>, ptr %x.at, align 8
  %sum.next = fadd <{LANES} x double> %sum, %x
  %part = fsub <{LANES} x double> %sum.next, %sum
  %rest = fsub <{LANES} x double> %sum.next, %part
  %lost.sum = fsub <{LANES} x double> %sum, %rest
  %lost.x = fsub <{LANES} x double> %x, %part
  %lost.both = fadd <{LANES} x double> %lost.sum, %lost.x
  %lost.next = fadd <{LANES} x double> %lost, %lost.both
  %i.next = add i64 %i, {LANES}
  %more = icmp ult i64 %i.next, %rows
  br i1 %more, label %row, label %after
after:
  store <{LANES} x double> %sum.next, ptr %sum.at, align 8
  store <{LANES} x double> %lost.next, ptr %lost.at, align 8
  %k.next = add i64 %k, 1
  %others = icmp ult i64 %k.next, %count
  br i1 %others, label %column, label %done
done:
  ret void
}}
"""
"""Add rows, a multiple of the lanes, of ``count`` columns to their sums, and roundings' losses to those.

Rows go to eight sums in turn, counted from the first, so that the same rows have the same sums however many
are added at a time.  Each sum and what it lost by rounding: D. E. Knuth, The Art of Computer Programming 2,
4.2.2.
"""


compiled_summation = cache(partial(compile_module, TEXT))
"""The function that adds rows; one thread at a time may compile it."""


class Totals:
    """The sums of some columns, whose memory is given once, and written anew before each addition."""

    def __init__(self, columns: Sequence[np.ndarray]) -> None:
        self.columns = columns
        self.places = array("Q", map(data_address, columns))
        self.state = np.zeros((len(columns), 2, LANES))
        with COMPILING:
            self.function = compiled_summation()

    def add(self, rows: int, *, anyway: bool = False) -> bool:
        """Add the first few rows of each column; not if a sum would be too large, unless ``anyway``.

        All additions but the last are of a multiple of eight rows.  Returns whether they were added.
        """
        whole = -(-rows // LANES) * LANES
        for column in self.columns if whole > rows else ():
            column[rows:whole] = 0.0
        before = self.state.copy()
        given, count = self.places.buffer_info()
        self.function(given, data_address(self.state), count, whole)
        if anyway or (np.abs(self.state) < BOUND).all():
            return True
        self.state = before
        return False

    def sums(self) -> tuple[np.ndarray, np.ndarray]:
        """Return each column's eight partial sums, and the rounding errors they lost."""
        return self.state[:, 0], self.state[:, 1]
