"""Derivation: how long it takes and how large a program it gives, beside SymPy and CasADi.

All give the value and the gradient, with equal subexpressions shared: SymPy by ``diff`` and ``cse``,
CasADi by ``gradient`` and ``cse``.  Before anything is timed or counted, they have to agree
at a point.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from statistics import median
from typing import Any

from benchmarks.formulas import composition, product, table_of
from benchmarks.lengths import lengths
from benchmarks.measure import Call, Report, interleaved, left_out, peer, table, times
from benchmarks.peers.symengine import symengine_contestant
from benchmarks.points import find_point, values
from benchmarks.symbols import MASKS, Contestant, casadi_contestant, sympy_contestant
from exprgrad.derive.rules import Rule, computed, operation_count, shown
from exprgrad.derive.simplify.formula import simplify_program
from exprgrad.derive.sweeps.gradient import gradient
from exprgrad.graph.graph import CONST, INPUT, Graph, Program
from exprgrad.graph.op import Op
from exprgrad.language.read.parse import parse_text

__all__ = ["report"]

PATIENCE = 4.0
"""How many seconds one derivation may take; a larger formula is not tried if it would take longer."""
ONCE = 1.0
"""A derivation that takes more seconds is timed once, when the answers are compared."""
ONE_INPUT = "SymPy, by one input"


def report(*, quick: bool) -> Report:
    """The tables; without SymPy, all but the one of printed formulas."""
    peers = {name: peer(name.lower()) for name in ("SymPy", "SymEngine", "CasADi")}
    there = {name: module for name, module in peers.items() if module is not None}
    parts = [growth(there, quick), corpus(there, quick)]
    if "SymPy" in there:
        parts.append(lengths(there["SymPy"], quick))
    missing = [name for name in peers if name not in there]
    return Report("\n".join(parts) + left_out(missing))


# Two shapes, larger and larger.


def growth(peers: Mapping[str, Any], quick: bool) -> str:
    """Times in exprgrad's own, the powers of the size with which they grow, and programs' sizes."""
    sizes = {product: (62, 125, 250, 500, 1000), composition: (25, 50, 100, 200)}
    limit = ONCE if quick else PATIENCE
    columns = ["unsimplified", *([ONE_INPUT] if "SymPy" in peers else []), *peers]
    speeds, spaces = [], []
    for shape, counts in sizes.items():
        before: dict[str, float] = {}
        factor = 1.0
        for place, count in enumerate(counts[:2] if quick else counts):
            graph = parse_text(shape(count))
            every = contestants_for(graph, peers)
            if place:
                factor = count / counts[place - 1]
                soon = {name for name, seconds in before.items() if seconds * factor**3 < limit}
                every = {name: contestant for name, contestant in every.items() if name in soon}
            found, programs, deep = measured(every, 2 if quick else 3)
            unit, own = found["exprgrad"], operations(graph)
            ratios = {name: times(found[name] / unit) + " *" * (name in deep) for name in every}
            powers = {
                name: f"{math.log(found[name] / before[name]) / math.log(factor):.1f}"
                for name in before.keys() & every.keys()
            }
            space = {name: times(every[name].operations(programs[name]) / own) for name in every}
            label = f"{shape.__name__} of {count:,}"
            grown = cells(powers, ["exprgrad", *peers])
            speeds.append([label, *cells(ratios, columns), *grown])
            spaces.append([label, *cells(space, ["exprgrad", "unsimplified", *peers])])
            before = found
    head = ["time", *columns, *[f"growth of {name}" for name in ("exprgrad", *peers)]]
    return (
        "In exprgrad's time for a simplified program.  Growth: the power of the formula's size with which "
        "the time grew since the row above.  —: nothing to measure, or not tried, since it would take "
        f"more than {limit:.0f} s if it grew with the cube.  *: a `RecursionError`, unless Python's "
        f"limit is raised, as here.\n\n{table(head, speeds)}\n"
        "The programs' operations, in those of the formula.\n\n"
        + table(["size", "exprgrad", "unsimplified", *peers], spaces)
    )


def cells(found: Mapping[str, str], columns: Sequence[str]) -> list[str]:
    """A row, with a dash where nothing was found."""
    return [found.get(column, "—") for column in columns]


def contestants_for(graph: Graph, peers: Mapping[str, Any]) -> dict[str, Contestant]:
    """All who derive a formula."""
    found = {"exprgrad": ours(graph), "unsimplified": ours(graph, shown, lean=False)}
    found |= {name: MAKERS[name](module, graph) for name, module in peers.items()}
    if "SymPy" in peers and len(graph.inputs) > 1:
        found[ONE_INPUT] = sympy_contestant(peers["SymPy"], graph, one_input=True)
    return found


def shortest_rule(op: Op, position: int) -> str:
    """The rule with fewer operations: the one that is computed, or the one that people read."""
    return min(op.display_partial(position), op.partial(position), key=operation_count)


def ours(graph: Graph, rule: Rule = shortest_rule, *, lean: bool = True) -> Contestant:
    """exprgrad with some rules, simplified or not."""
    names = list(graph.inputs)

    def derive() -> Program:
        program = gradient(graph, names, rule)
        return simplify_program(program, graph) if lean else program

    return Contestant(derive, lambda program: operations(program.graph, MASKS), values)


MAKERS: dict[str, Callable[[Any, Graph], Contestant]] = {
    "SymPy": sympy_contestant,
    "SymEngine": symengine_contestant,
    "CasADi": casadi_contestant,
}


def operations(graph: Graph, leave_out: Sequence[str] = ()) -> int:
    """How many operations a graph takes."""
    return sum(kind not in (INPUT, CONST, *leave_out) for kind in graph.kinds)


def measured(
    contestants: Mapping[str, Contestant], rounds: int
) -> tuple[dict[str, float], dict[str, Any], set[str]]:
    """By contestant: seconds, and its program; and who needs a raised limit of recursion.

    The first of the contestants is the one with whom the others have to agree.
    """
    found: dict[str, float] = {}
    programs: dict[str, Any] = {}
    deep: set[str] = set()
    for name, contestant in contestants.items():
        try:
            found[name], programs[name] = timed(contestant)
        except RecursionError:
            deep.add(name)
            with raised_limit():
                found[name], programs[name] = timed(contestant)
    with raised_limit():
        compare(contestants, programs)
        calls: dict[str, Call] = {}
        for name, contestant in contestants.items():
            if found[name] <= ONCE:
                calls |= {f"prepare {name}": contestant.prepare, name: contestant.derive}
        again = interleaved(calls, rounds)
    return {name: again.get(name, found[name]) for name in found}, programs, deep


def timed(contestant: Contestant) -> tuple[float, Any]:
    """Seconds for a first derivation, and the program."""
    contestant.prepare()
    start = time.process_time()
    program = contestant.derive()
    return time.process_time() - start, program


@contextmanager
def raised_limit() -> Iterator[None]:
    """As much recursion as the machine can take."""
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(100_000)
    try:
        yield
    finally:
        sys.setrecursionlimit(limit)


def compare(contestants: Mapping[str, Contestant], programs: Mapping[str, Any]) -> None:
    """Raise ``ValueError`` unless all programs give the same numbers at a point, but for rounding.

    One that derives by the first input alone gives fewer numbers.
    """
    names = list(contestants)
    own = programs[names[0]]
    point = find_point(own)
    expected = contestants[names[0]].values(own, point)
    scale = max(map(abs, expected))
    for name in names[1:]:
        found = contestants[name].values(programs[name], point)
        for one, other in zip(expected, found, strict=name != ONE_INPUT):
            if not abs(one - other) <= 1e-9 * abs(one) + 1e-12 * scale:
                raise ValueError(f"{name} finds {other}, exprgrad {one}")


# The corpus.


def corpus(peers: Mapping[str, Any], quick: bool) -> str:
    """The sizes of gradient programs of real formulas, and how long they take."""
    ways: dict[str, Callable[[Graph], Contestant]] = {
        "fewest rules, simplified": ours,
        "shown rules": partial(ours, rule=shown, lean=False),
        "computed rules, as `code` takes them": partial(ours, rule=computed, lean=False),
    }
    ways |= {name: partial(MAKERS[name], module) for name, module in peers.items()}
    lines = list(table_of("corpus.txt"))
    ratios: dict[str, list[tuple[float, str]]] = {way: [] for way in ways}
    taken: dict[str, list[float]] = {way: [] for way in ways}
    for name, text in lines[:: 10 if quick else 1]:
        graph = parse_text(text)
        contestants: dict[str, Contestant] = {}
        for way, make in ways.items():
            try:
                contestants[way] = make(graph)
            except KeyError:
                continue
        found, programs, _ = measured(contestants, 1)
        own = operations(graph)
        for way, contestant in contestants.items():
            ratios[way].append((contestant.operations(programs[way]) / own, name))
            taken[way].append(found[way] / found["fewest rules, simplified"])
    rows = [row(way, ratios[way], taken[way]) for way in ways]
    return (
        "Programs for the formulas of `tests/cases/corpus.txt`: operations in those of the formula, "
        "the programs' comparisons not counted; and time in that of the first row.  An operation is one "
        "`+`, `-`, `*`, `/`, `^`, sign or call, for all.  SymPy is not asked about `floor`, `ceil`, "
        "`round` and `%`, CasADi not about `round` and `%`, "
        "SymEngine only about smooth functions; what they lack otherwise is spelled in what "
        "they have.\n\n"
        + table(
            ["program", "formulas", "median", "worst", "which", "above 4", "time, median"], rows
        )
    )


def row(way: str, ratios: Sequence[tuple[float, str]], taken: Sequence[float]) -> list[str]:
    """One way to derive."""
    worst, which = max(ratios)
    sizes = [ratio for ratio, _ in ratios]
    above = sum(ratio > 4 for ratio in sizes)
    return [
        way, f"{len(sizes)}", times(median(sizes)), times(worst), which, f"{above}", times(median(taken)),
    ]  # fmt: skip
