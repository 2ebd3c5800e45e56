"""A formula compiled for columns: value and gradient for every row."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from importlib import import_module
from importlib.util import find_spec
from operator import is_
from typing import Any, NamedTuple, Protocol
from weakref import ref

from exprgrad.derive.parsed import parse_and_derive
from exprgrad.derive.sweeps.gradient import gradient
from exprgrad.errors import ExprgradError, InputError, RequestError, whole_number
from exprgrad.graph.graph import Graph, Program, refuse_tensors
from exprgrad.run.engines.columns import (
    ConversionNote,
    Taken,
    reuse_output,
    staggered_columns,
    take_columns,
)
from exprgrad.run.values.inputs import select_inputs

__all__ = ["ColumnsAnswer", "Compiled", "Kernel", "build_kernel", "count_cores", "thread_count"]


class Kernel(Protocol):
    """A program that an engine has prepared: it computes some rows of the outputs from the columns.

    ``threads``  how many may play it at once
    ``chunk``    the rows that a thread takes at a time, where there are several
    ``work``     the number of operations, times rows, for which one more thread pays: a millisecond's
    """

    threads: int
    chunk: int
    work: int

    def __call__(
        self, columns: Sequence[Any], outputs: Sequence[Any], start: int, stop: int
    ) -> None:
        """Write rows ``start`` to ``stop`` of every output; several threads may, each its own rows."""


class RowAnswer(NamedTuple):
    """The formula's value in every row, and by input its derivative in every row."""

    value: Any
    gradient: dict[str, Any]


class ColumnsAnswer(RowAnswer):
    """A call's answer, ``value, gradient = rows``; ``notes`` say which columns were converted."""

    notes: tuple[ConversionNote, ...] = ()


class KeptCall(NamedTuple):
    """A call to repeat with the same arrays: those of the columns and of the derivatives, and their names.

    They are held no longer than the array of the ``value`` is.  ``others`` are weak references to them.
    """

    play: Callable[[], object]
    names: list[str]
    arrays: list[Any]
    value: ref[Any]
    others: list[ref[Any]]


class Compiled:
    """A formula ready for columns: ``value, gradient = g({"x": xs, "y": ys})``.

    ``inputs`` are the columns that it takes, ``wrt`` the inputs of its gradient, ``engine`` is ``native``,
    ``numpy`` or ``jax``; ``note`` says why that is not the usual engine, if it is not.

    ``Expression.compile`` describes the options.  ``known`` are names that may be given and are not read.
    """

    def __init__(
        self,
        text: str,
        graph: Graph,
        known: tuple[str, ...] = (),
        *,
        engine: str | None = None,
        wrt: Iterable[str] | None = None,
        precise: bool = False,
        threads: int | None = None,
    ) -> None:
        refuse_tensors(graph, text, "a formula with tensors cannot be compiled for columns")
        if engine is not None and not (isinstance(engine, str) and engine in ENGINES):
            from exprgrad.language.mistakes.hints import did_you_mean

            name, listed = str(engine), f"the engines are {', '.join(ENGINES)}"
            help = did_you_mean(name, ENGINES, listed, also=True)
            message = f"there is no engine '{name}'"
            raise RequestError("unknown-engine", message, help=help).about(name)
        self.text = text
        self.graph = graph
        self.known = known
        self.inputs: tuple[str, ...] = tuple(graph.inputs)
        self.wrt: tuple[str, ...] = select_inputs(graph, wrt)
        self.precise: bool = bool(precise)
        self.threads: int | None = thread_count(threads)
        self.choice = engine
        program = gradient(graph, self.wrt)
        self.engine: str
        self.kernel: Kernel
        self.note: str | None
        self.engine, self.kernel, self.note = build_kernel(
            program, self.inputs, engine, self.precise
        )
        self.size: int = len(program.graph)
        self.kept: KeptCall | None = None

    def __call__(self, columns: Any = None, out: Any = None, **named: object) -> ColumnsAnswer:
        """The value and the gradient of every row.

        ``columns`` maps each input to its column, an array or a list; a number stands for itself in every
        row, and of numbers alone the answer has floats.  ``out`` is an earlier answer, of as many rows: its
        memory is written again, which spares the system to find new.  Raises ``InputError`` for columns
        that do not fit, or are ``named`` as keywords (one may be called ``out``), ``RequestError`` for an
        ``out`` that does not.
        """
        if named:
            names = ", ".join(f"'{name}': {name}" for name in named)
            raise InputError(
                "bad-columns",
                "columns are given in a dictionary, not as keywords",
                help=f"g({{{names}}})",
            )
        kept = self.kept
        if kept and type(columns) is dict and type(out) in (ColumnsAnswer, tuple) and len(out) == 2:
            (value, gradient), (play, held, arrays, array, _) = out, kept
            if (
                type(gradient) is dict
                and value is array()
                and [*columns, *gradient] == held
                and all(map(is_, [*columns.values(), *gradient.values()], arrays))
            ):
                play()
                if type(out) is ColumnsAnswer and not out.notes:
                    return out
                return ColumnsAnswer(value, {**gradient})
        return self.look_and_compute(columns, out)

    def look_and_compute(self, columns: Any, out: Any) -> ColumnsAnswer:
        """The answer for columns that are looked at: see a call."""
        taken = take_columns(columns, self.graph, self.text, self.known)
        if out is None:
            value, *derivatives = staggered_columns(1 + len(self.wrt), taken.rows)
            by_input = dict(zip(self.wrt, derivatives, strict=True))
        else:
            value, by_input = reuse_output(out, self.wrt, taken)
        self.run(taken.columns, [value, *by_input.values()], taken.rows)
        if taken.is_single and out is None:
            value, by_input = float(value[0]), {name: float(x[0]) for name, x in by_input.items()}
        rows = ColumnsAnswer(value, by_input)
        rows.notes = taken.notes
        if out is not None and not taken.notes:
            self.keep_call(columns, taken, [value, *by_input.values()])
        return rows

    def keep_call(self, columns: Any, taken: Taken, outputs: Sequence[Any]) -> None:
        """Keep a call's arrays and their addresses, so that the same call may be repeated without checks.

        NumPy does not move an array that has a weak reference; once that of the value is gone, so is the
        call.
        """
        self.kept = None
        repeat = getattr(self.kernel, "repeat", None)
        if repeat is None or type(columns) is not dict or self.needed_threads(taken.rows) > 1:
            return
        play = repeat(taken.columns, outputs, taken.rows)
        if play is not None and {*map(id, columns.values())} == {*map(id, taken.columns)}:
            arrays = [*columns.values(), *outputs[1:]]
            value = ref(outputs[0], self.forget_call)
            names = [*columns, *self.wrt]
            self.kept = KeptCall(play, names, arrays, value, [*map(ref, arrays)])

    def forget_call(self, _: object = None) -> None:
        """Keep no call."""
        self.kept = None

    def needed_threads(self, rows: int) -> int:
        """The number of threads that some rows pay for, or that was requested."""
        threads, kernel = self.threads, self.kernel
        if threads is None:
            threads = min(count_cores(), rows * self.size // kernel.work)
        return min(threads, kernel.threads)

    def run(self, columns: Sequence[Any], outputs: Sequence[Any], rows: int) -> None:
        """Compute all rows, with as many threads as pay."""
        kernel, threads = self.kernel, self.needed_threads(rows)
        if threads <= 1 or rows <= kernel.chunk:
            kernel(columns, outputs, 0, rows)
            return
        from concurrent.futures import ThreadPoolExecutor

        def play(start: int) -> None:
            kernel(columns, outputs, start, min(start + kernel.chunk, rows))

        with ThreadPoolExecutor(threads) as pool:
            for _ in pool.map(play, range(0, rows, kernel.chunk)):
                pass

    def __reduce__(self) -> tuple[Any, ...]:
        choices = {"wrt": self.wrt or None, "precise": self.precise, "threads": self.threads}
        return recompile_text, (self.text, self.known, {"engine": self.choice, **choices})

    def __repr__(self) -> str:
        shown = self.text if len(self.text) <= 60 else self.text[:59] + "…"
        exactness = ", precise" if self.precise else ""
        why = f"; {self.note}" if self.note else ""
        return f"<{shown!r} compiled for columns: engine {self.engine}{exactness}{why}>"


def thread_count(threads: Any) -> int | None:
    """Check a requested number of threads."""
    found = whole_number(threads)
    if threads is not None and (found is None or found < 1):
        raise RequestError(
            "bad-threads",
            f"{threads!r} is not a number of threads",
            help="a whole number from 1 up",
        )
    return found


def recompile_text(text: str, known: tuple[str, ...], choices: dict[str, Any]) -> Compiled:
    """A compiled formula from its text: how it is pickled and copied."""
    return Compiled(text, parse_and_derive(text), known, **choices)


def count_cores() -> int:
    """How many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


# Engines.

ENGINES = {
    "native": ("native", "build_native_kernel"),
    "numpy": ("numpy_engine", "build_numpy_kernel"),
    "jax": ("jax_engine", "build_jax_kernel"),
}
"""Engine → its module, and the function there that returns a kernel, or why there is none."""


def build_kernel(
    program: Program, inputs: Sequence[str], engine: str | None, precise: bool
) -> tuple[str, Kernel, str | None]:
    """Build a kernel; return its engine, the kernel, and why that is not the usual engine, if it is not."""
    if engine is None and find_spec("llvmlite") is None:
        engine = "numpy"
    try:
        module, maker = ENGINES[engine or "native"]
        build = getattr(import_module(f"exprgrad.run.engines.{module}"), maker)
        kernel: Kernel | str = build(program, inputs, precise=precise)
    except (ExprgradError, ImportError, OSError, AttributeError, RuntimeError) as error:
        if engine is not None:
            raise
        kernel = "llvmlite does not work: " + str(error).partition("\n")[0]
    if isinstance(kernel, str):
        return *build_kernel(program, inputs, "numpy", precise)[:2], kernel
    return engine or "native", kernel, None
