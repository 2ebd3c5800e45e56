"""Value and gradient for every row: exprgrad's engines, C by hand, and eight others."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial

from benchmarks.contestants import (
    BY_JAX,
    BY_NUMPY,
    MAKERS,
    NATIVE,
    NUMPY,
    C,
    Contestant,
    contestants,
    installed,
)  # fmt: skip
from benchmarks.measure import (
    Ratio,
    Report,
    Taken,
    in_turns,
    left_out,
    medians,
    ratio,
    table,
    times,
)
from benchmarks.problems import PROBLEMS, Problem

__all__ = ["report"]

SELDOM = frozenset({"NumExpr", "PyTorch", "autograd", "CasADi"})
"""Who decides nothing and takes long."""
PAIRS = {"c": (NATIVE, C), "jax": (NATIVE, BY_JAX), "numpy": (NUMPY, BY_NUMPY)}
"""The ratios that have a bar."""


def report(*, quick: bool) -> Report:
    """A table for many rows, which come from memory, and one for a block, which stays in the cache."""
    there = [name for name, (needs, _) in MAKERS.items() if installed(needs)]
    many, few = (100_000, 8192) if quick else (1_000_000, 8192)
    parts, figures = [], {}
    with contestants(there) as started:
        for rows, rounds, calls in ((many, 5 if quick else 17, 1), (few, 3 if quick else 9, 20)):
            found = {
                problem.name: measured(problem, started, rows, rounds, calls)
                for problem in PROBLEMS
            }
            parts.append(f"{rows:,} rows:\n\n{shown(found, rows)}")
            if rows == many:
                figures = dict(ratios(found))
    missing = left_out(name for name in MAKERS if name not in there)
    return Report("\n".join(parts) + missing, figures)


def measured(
    problem: Problem, started: Mapping[str, Contestant], rows: int, rounds: int, calls: int
) -> Taken:
    """The seconds of who can answer, all of whom agree with the engine for single points."""
    able = [contestant for contestant in started.values() if contestant.prepare(problem, rows)]
    answers = {contestant.name: partial(contestant.turn, calls) for contestant in able}
    return in_turns(answers, rounds, SELDOM)


def shown(found: Mapping[str, Taken], rows: int) -> str:
    """Nanoseconds for a row, and in C's, or in naive NumPy's where there is no C."""
    unit = C if all(C in taken for taken in found.values()) else BY_NUMPY
    lines = []
    for name in MAKERS:
        if any(name in taken for taken in found.values()):
            lines.append([name, *[cell(taken, name, unit, rows) for taken in found.values()]])
    return table([f"ns a row, and against {unit}", *[problem.shown for problem in PROBLEMS]], lines)


def cell(taken: Taken, name: str, unit: str, rows: int) -> str:
    """One contestant's figures for a formula; a dash where it has none."""
    if name not in taken:
        return "—"
    nanoseconds = medians(taken)[name] / rows * 1e9
    said = f"{nanoseconds:.1f}" if nanoseconds < 100 else f"{nanoseconds:.0f}"
    return f"{said}, {times(ratio(taken, name, unit).median)}" if unit in taken else said


def ratios(found: Mapping[str, Taken]) -> Iterator[tuple[str, Ratio]]:
    """What has a bar."""
    for problem, taken in found.items():
        for key, (one, other) in PAIRS.items():
            if one in taken and other in taken:
                yield f"{key} {problem}", ratio(taken, one, other)
