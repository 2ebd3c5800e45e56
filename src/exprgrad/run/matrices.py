"""Jacobians, Hessians and their products with vectors, at a point: derived programs, evaluated.

A derived program does not depend on the numbers, so it is worked out once for an expression and kept
in the expression's ``Programs``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from exprgrad.derive.sweeps import gradient as derive
from exprgrad.graph.graph import CONST, Graph, Program
from exprgrad.run.numbers.sweeps import forward

__all__ = [
    "Derived", "Matrix", "Prepared", "Programs", "hessian", "jacobian", "jvp", "kept", "pattern", "second",
    "slopes", "slopes_at", "vjp", "weights_by_node",
]  # fmt: skip

Derived = tuple[Program, derive.Entries]
Programs = dict[tuple[object, ...], Derived]
"""Derived programs, by what they answer."""

MOST = 64
"""How many derived programs are kept; then the oldest goes."""


class Prepared(NamedTuple):
    """A graph for some shapes of its inputs, and the programs and reverse sweeps derived from it."""

    graph: Graph
    programs: Programs
    sweeps: dict[tuple[str, ...], Any]


class Matrix(NamedTuple):
    """Numbers by row and column; what ``entries`` leaves out is structurally 0: at every point."""

    rows: tuple[str, ...]
    columns: tuple[str, ...]
    entries: dict[tuple[int, int], float]

    def row(self, row: int) -> dict[str, float]:
        """One row by column, zeros filled in."""
        return {
            name: self.entries.get((row, column), 0.0) for column, name in enumerate(self.columns)
        }

    def whole(self) -> dict[str, dict[str, float]]:
        """Every row, zeros filled in."""
        return {name: self.row(row) for row, name in enumerate(self.rows)}

    def listed(self) -> Iterator[tuple[str, str, float]]:
        """What is not structurally 0, row by row: the row, the column, the number."""
        for row, column in sorted(self.entries):
            yield self.rows[row], self.columns[column], self.entries[row, column]


def kept(programs: Programs, key: tuple[object, ...], derived: Callable[[], Derived]) -> Derived:
    """The program for a key, derived now if it is not there."""
    found = programs.get(key)
    if found is None:
        if len(programs) >= MOST:
            del programs[next(iter(programs))]
        found = programs[key] = without_zeros(*derived())
    return found


def without_zeros(program: Program, entries: derive.Entries) -> Derived:
    """The same without the entries that are the constant 0."""
    kinds, payloads = program.graph.kinds, program.graph.payloads
    zeros = {
        at
        for at, node in enumerate(program.outputs)
        if kinds[node] == CONST and payloads[node] == 0
    }
    return program, {place: at for place, at in entries.items() if at not in zeros}


def slopes_at(programs: Programs, graph: Graph, wrt: Sequence[str]) -> Program:
    """The program of the output and its gradient."""
    return kept(programs, ("gradient", *wrt), lambda: (derive.gradient(graph, wrt), {}))[0]


def jacobian(
    programs: Programs,
    graph: Graph,
    values: Mapping[str, float],
    outputs: Mapping[str, int],
    wrt: Sequence[str],
) -> Matrix:
    """The derivatives of ``outputs`` (name → node) in the inputs ``wrt``: a row for each output."""
    nodes = tuple(outputs.values())
    program, entries = kept(
        programs, ("jacobian", nodes, *wrt), lambda: derive.jacobian(graph, nodes, wrt)
    )
    return matrix(program, entries, values, tuple(outputs), tuple(wrt))


def second(programs: Programs, graph: Graph, wrt: Sequence[str]) -> Derived:
    """The program of the second derivatives, and the position of each of its entries."""
    return kept(programs, ("hessian", *wrt), lambda: derive.hessian(graph, wrt))


def hessian(
    programs: Programs, graph: Graph, values: Mapping[str, float], wrt: Sequence[str]
) -> Matrix:
    """The second derivatives of the output with respect to each pair of the inputs ``wrt``; symmetric."""
    program, entries = second(programs, graph, wrt)
    return matrix(program, entries, values, tuple(wrt), tuple(wrt))


def slopes(derived: Derived, values: Mapping[str, float], wrt: Sequence[str]) -> dict[str, float]:
    """The gradient, which a program of second derivatives finds on its way."""
    program = derived[0]
    numbers = forward(program.graph, values)
    nodes = program.outputs[1 : 1 + len(wrt)]
    return dict(zip(wrt, [numbers[node] for node in nodes], strict=True))


def pattern(programs: Programs, graph: Graph, wrt: Sequence[str]) -> list[tuple[str, str]]:
    """The entries of the Hessian that are not structurally 0, row by row."""
    entries = second(programs, graph, wrt)[1]
    return [(wrt[row], wrt[column]) for row, column in sorted(entries)]


def matrix(
    program: Program,
    entries: derive.Entries,
    values: Mapping[str, float],
    rows: tuple[str, ...],
    columns: tuple[str, ...],
) -> Matrix:
    """A program's matrix at a point."""
    numbers = forward(program.graph, values)
    found = {place: numbers[program.outputs[at]] for place, at in entries.items()}
    return Matrix(rows, columns, found)


def jvp(
    programs: Programs,
    graph: Graph,
    values: Mapping[str, float],
    outputs: Mapping[str, int],
    tangents: Mapping[str, float],
) -> dict[str, float]:
    """By output, the derivative along the direction ``tangents``.

    An input whose tangent is 0 is held fixed: its derivatives, which may be infinite, play no part.
    """
    nodes = tuple(outputs.values())
    moving = [name for name, number in tangents.items() if number != 0]
    program, _ = kept(
        programs, ("jvp", nodes, *moving), lambda: (derive.jvp(graph, moving, nodes), {})
    )
    given = {derive.tangent(name): tangents[name] for name in moving}
    numbers = forward(program.graph, {**values, **given})
    return dict(zip(outputs, [numbers[node] for node in program.outputs], strict=True))


def vjp(
    programs: Programs,
    graph: Graph,
    values: Mapping[str, float],
    outputs: Mapping[str, int],
    cotangents: Mapping[str, float],
    wrt: Sequence[str],
) -> dict[str, float]:
    """By input of ``wrt``, the derivative of the outputs' sum, weighted by their cotangents.

    An output whose cotangent is 0 is left out: its derivatives, which may be infinite, play no part.
    """
    if not wrt:
        return {}
    weights = weights_by_node(outputs, cotangents, bool)
    nodes = tuple(weights)
    program, _ = kept(programs, ("vjp", nodes, *wrt), lambda: (derive.vjp(graph, nodes, wrt), {}))
    given = {derive.cotangent(at): weight for at, weight in enumerate(weights.values())}
    numbers = forward(program.graph, {**values, **given})
    return dict(zip(wrt, [numbers[node] for node in program.outputs], strict=True))


def weights_by_node(
    outputs: Mapping[str, int], cotangents: Mapping[str, Any], counts: Callable[[Any], Any]
) -> dict[int, Any]:
    """The cotangents that count, by node; two names may stand for one node, which then weighs both."""
    weights: dict[int, Any] = {}
    for name, node in outputs.items():
        weight = cotangents[name]
        if counts(weight):
            weights[node] = weights[node] + weight if node in weights else weight
    return weights
