"""C written by hand, built by gcc and called through ctypes: what the machine can do."""

from __future__ import annotations

import ctypes
import subprocess
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

from benchmarks.problems import Answer, Columns, Problem, staggered

__all__ = ["FLAGS", "build", "by_hand", "greeks", "library"]

FLAGS = ("-O3", "-march=native", "-ffast-math", "-fopenmp-simd")


def build(source: Path, target: Path, flags: tuple[str, ...] = FLAGS) -> None:
    """Compile a C file into a shared library.  Raises ``FileNotFoundError`` where there is no gcc.

    It is linked without the flags: with ``-ffast-math`` gcc links what makes the whole process that loads
    the library take subnormal numbers for 0.
    """
    compiled = target.with_suffix(".o")
    command = ["gcc", "-c", "-fPIC", *flags, "-o", str(compiled), str(source)]
    subprocess.run(command, check=True)
    libraries = ("-lmvec", "-lm") if "-ffast-math" in flags else ("-lm",)
    subprocess.run(["gcc", "-shared", "-o", str(target), str(compiled), *libraries], check=True)


@cache
def library() -> ctypes.CDLL:
    """The functions of ``limit.c``."""
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "limit.so"
        build(Path(__file__).with_suffix(".c"), target)
        return ctypes.CDLL(str(target))


def by_hand(problem: Problem, given: Columns) -> Answer:
    """The problem's function, into columns that are there already."""
    return called(problem.name, given)


def greeks(problem: Problem, given: Columns) -> Answer:
    """The textbook's derivatives of a call, which are shorter than what is derived step by step."""
    if problem.name != "black_scholes":
        raise NotImplementedError("there are no greeks of it")
    return called("black_scholes_greeks", given)


def called(name: str, given: Columns) -> Answer:
    """A function of the library, ready to be called over and over."""
    function = getattr(library(), name)
    function.restype = None
    sources = list(given.values())
    out = staggered(len(sources) + 1, len(sources[0]))
    rows = ctypes.c_long(len(sources[0]))
    ins, outs = pointers(sources), pointers(out)

    def call() -> Any:
        function(rows, ins, outs)
        return out

    return call


def pointers(columns: list[Any]) -> Any:
    """The addresses of some columns, as C takes them."""
    return (ctypes.c_void_p * len(columns))(*[column.ctypes.data for column in columns])
