"""From a formula's text to a function over columns: how long it takes, beside other compilers."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.contestants import NATIVE, installed
from benchmarks.measure import Call, Ratio, Report, Taken, left_out, medians, peer, table, turns
from benchmarks.peers import limit, ours
from benchmarks.peers.by_row import numba_compiled
from benchmarks.peers.frameworks import jax_function
from benchmarks.problems import PROBLEMS, Problem

__all__ = ["report"]


def jax_compiled(problem: Problem) -> object:
    """Traced, differentiated and compiled, for columns of a length."""
    module = peer("jax")
    column = module.ShapeDtypeStruct((1024,), np.float64)
    return jax_function(problem).lower(*[column] * len(problem.ranges)).compile()


def gcc_run(problem: Problem) -> Any:
    """The C of all three formulas, by a process of gcc."""
    with tempfile.TemporaryDirectory() as folder:
        limit.build(Path(limit.__file__).with_suffix(".c"), Path(folder) / "limit.so")


MAKERS: dict[str, tuple[str, Callable[[Problem], object]]] = {
    NATIVE: ("llvmlite", partial(ours.compile_anew, "native")),
    "exprgrad `numpy`": ("numpy", partial(ours.compile_anew, "numpy")),
    "JAX": ("jax", jax_compiled),
    "numba": ("numba", numba_compiled),
    "gcc, all three": ("gcc", gcc_run),
}
SELDOM = frozenset(MAKERS) - {NATIVE}


def report(*, quick: bool) -> Report:
    """Milliseconds by compiler and formula."""
    there = {name: maker for name, (needs, maker) in MAKERS.items() if installed(needs)}
    found: dict[str, Taken] = {}
    for problem in PROBLEMS:
        calls: dict[str, Call] = {name: partial(make, problem) for name, make in there.items()}
        found[problem.name] = turns(calls, 3 if quick else 12, seldom=SELDOM)
    lines = [
        [name, *[f"{medians(taken)[name] * 1e3:.1f} ms" for taken in found.values()]]
        for name in there
    ]
    text = table(["compiler", *[problem.shown for problem in PROBLEMS]], lines)
    missing = left_out(name for name in MAKERS if name not in there)
    return Report(text + missing, figures(found))


def figures(found: Mapping[str, Taken]) -> dict[str, Ratio]:
    """Milliseconds of the native engine."""
    return {
        f"compile {problem}": Ratio(medians(taken)[NATIVE] * 1e3, min(taken[NATIVE].values()) * 1e3)
        for problem, taken in found.items()
        if NATIVE in taken
    }
