"""Jacobians, Hessians and their products with tensors: derived programs, evaluated along basis directions.

A Jacobian of tensors has the output's shape and then the input's.  It is made row by row, by VJPs, or
column by column, by JVPs, whichever are fewer.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal

import numpy as np

from exprgrad.derive.sweeps import gradient as derive
from exprgrad.errors import RequestError
from exprgrad.graph.graph import CONST, Graph, Program, dependencies
from exprgrad.graph.literal import Shape, size
from exprgrad.run.arrays import arrays
from exprgrad.run.matrices import Derived, Programs, kept, slopes_at, weights_by_node
from exprgrad.source import Span, bytes_text

__all__ = ["Blocks", "hessian", "jacobian", "jvp", "pattern", "slopes", "sweeps", "trouble", "vjp"]

LARGEST = 50_000_000
"""The most numbers of a Jacobian or Hessian: 400 MB."""

Blocks = dict[str, dict[str, Any]]
"""By output (or input) and by input: a number or an array of the output's shape and then the input's."""


def shape(graph: Graph, node: int) -> Shape:
    """A node's shape."""
    assert graph.shapes is not None
    return graph.shapes[node]


def sweeps(
    graph: Graph, outputs: Mapping[str, int], wrt: Sequence[str]
) -> tuple[Literal["JVP", "VJP"], int]:
    """Which products a Jacobian is made of, and how many: the fewer; VJPs, its rows, if they are equal."""
    rows = sum(size(shape(graph, node)) for node in outputs.values())
    columns = sum(size(shape(graph, graph.inputs[name])) for name in wrt)
    refuse_large(rows * columns)
    return ("JVP", columns) if columns < rows else ("VJP", rows)


def refuse_large(count: int) -> None:
    """Raise ``RequestError`` for a matrix that would fill the memory."""
    if count > LARGEST:
        message = f"that matrix would have {count:,} numbers, or {bytes_text(8 * count)}"
        help = "jvp and vjp give products with it, and never form it"
        raise RequestError("too-large", message, help=help)


def basis(wanted: Shape) -> Iterator[tuple[int, Any]]:
    """Every tensor of a shape that is 1 at one place and else 0, with the place; one array for all."""
    direction = np.zeros(wanted)
    flat = direction.reshape(-1)
    for at in range(flat.size):
        flat[at] = 1.0
        yield at, direction
        flat[at] = 0.0


def jacobian(
    programs: Programs,
    graph: Graph,
    values: Mapping[str, Any],
    outputs: Mapping[str, int],
    wrt: Sequence[str],
) -> Blocks:
    """The derivatives of ``outputs`` (name → node) with respect to the inputs ``wrt``."""
    by_columns = sweeps(graph, outputs, wrt)[0] == "JVP"
    shapes = {name: shape(graph, graph.inputs[name]) for name in wrt}
    blocks: Blocks = {
        row: {name: np.zeros((size(shape(graph, node)), size(shapes[name]))) for name in wrt}
        for row, node in outputs.items()
    }
    fill = by_jvps if by_columns else by_vjps
    fill(programs, graph, values, outputs, wrt, blocks)
    return {
        row: {
            name: arrays.plain(block.reshape(shape(graph, outputs[row]) + shapes[name]))
            for name, block in named.items()
        }
        for row, named in blocks.items()
    }


def by_jvps(
    programs: Programs,
    graph: Graph,
    values: Mapping[str, Any],
    outputs: Mapping[str, int],
    wrt: Sequence[str],
    blocks: Blocks,
) -> None:
    """Fill the columns of flat ``blocks``, each by a JVP."""
    nodes = tuple(outputs.values())
    for name in wrt:
        program = along(programs, graph, [name], nodes, masked=True)
        for at, direction in basis(shape(graph, graph.inputs[name])):
            columns = evaluated(program, {**values, derive.tangent(name): direction})
            for row, column in zip(outputs, columns, strict=True):
                blocks[row][name][:, at] = np.ravel(column)


def by_vjps(
    programs: Programs,
    graph: Graph,
    values: Mapping[str, Any],
    outputs: Mapping[str, int],
    wrt: Sequence[str],
    blocks: Blocks,
) -> None:
    """Fill the rows of flat ``blocks``, each by a VJP."""
    for row, node in outputs.items():
        program = weighted(programs, graph, (node,), wrt, masked=True)
        for at, direction in basis(shape(graph, node)):
            slopes = evaluated(program, {**values, derive.cotangent(0): direction})
            for name, slope in zip(wrt, slopes, strict=True):
                blocks[row][name][at, :] = np.ravel(slope)


def evaluated(program: Program, given: Mapping[str, Any]) -> list[Any]:
    """A program's outputs."""
    numbers = arrays.forward(program.graph, given, program.outputs)
    return [numbers[output] for output in program.outputs]


def product(program: Program, given: Mapping[str, Any], names: Iterable[str]) -> dict[str, Any]:
    """A program's outputs by name, none of which shares memory with what was given."""
    found = arrays.apart(evaluated(program, given), given.values())
    return dict(zip(names, map(arrays.plain, found), strict=True))


def along(
    programs: Programs, graph: Graph, moving: Sequence[str], nodes: tuple[int, ...], *, masked: bool
) -> Program:
    """The program of a JVP."""

    def derived() -> Derived:
        return derive.jvp(graph, moving, nodes, masked=masked), {}

    return kept(programs, ("jvp", nodes, masked, *moving), derived)[0]


def weighted(
    programs: Programs, graph: Graph, nodes: tuple[int, ...], wrt: Sequence[str], *, masked: bool
) -> Program:
    """The program of a VJP."""

    def derived() -> Derived:
        return derive.vjp(graph, nodes, wrt, masked=masked), {}

    return kept(programs, ("vjp", nodes, masked, *wrt), derived)[0]


def hessian(
    programs: Programs, graph: Graph, values: Mapping[str, Any], wrt: Sequence[str]
) -> Blocks:
    """The second derivatives of the output, a number, in each pair of the inputs ``wrt``; symmetric."""
    shapes = {name: shape(graph, graph.inputs[name]) for name in wrt}
    refuse_large(sum(map(size, shapes.values())) ** 2)
    found: Blocks = {row: {} for row in wrt}
    for at_row, row in enumerate(wrt):
        rest = wrt[at_row:]
        program = row_program(programs, graph, wrt, at_row)
        blocks = {name: np.zeros((size(shapes[row]), size(shapes[name]))) for name in rest}
        for at, direction in basis(shapes[row]):
            changes = evaluated(program, {**values, derive.tangent(row): direction})
            for name, change in zip(rest, changes, strict=True):
                blocks[name][at, :] = np.ravel(change)
        upper = np.triu(blocks[row])
        blocks[row] = upper + np.triu(upper, 1).T
        for name, block in blocks.items():
            found[row][name] = arrays.plain(block.reshape(shapes[row] + shapes[name]))
            found[name][row] = arrays.plain(block.T.copy().reshape(shapes[name] + shapes[row]))
    return {row: {column: found[row][column] for column in wrt} for row in wrt}


def row_program(programs: Programs, graph: Graph, wrt: Sequence[str], at_row: int) -> Program:
    """The program of a row of blocks of the Hessian, from the diagonal on: JVPs of the gradient."""
    first = slopes_at(programs, graph, wrt)
    row, nodes = wrt[at_row], first.outputs[1 + at_row :]

    def derived() -> Derived:
        return derive.jvp(first.graph, [row], nodes, masked=True), {}

    return kept(programs, ("hessian", row, *wrt), derived)[0]


def pattern(programs: Programs, graph: Graph, wrt: Sequence[str]) -> list[tuple[str, str]]:
    """The blocks of the Hessian, (row, column), that are not 0 at every point by their structure."""
    found = set()
    for at_row, row in enumerate(wrt):
        program = row_program(programs, graph, wrt, at_row)
        for column, output in zip(wrt[at_row:], program.outputs, strict=True):
            if not is_zero(program.graph, output):
                found |= {(row, column), (column, row)}
    return [(row, column) for row in wrt for column in wrt if (row, column) in found]


def is_zero(graph: Graph, node: int) -> bool:
    """Whether a node is the constant 0, stretched or not."""
    if graph.kinds[node] == "broadcast":
        (node,) = graph.operands[node]
    return graph.kinds[node] == CONST and graph.payloads[node] == 0


def trouble(
    programs: Programs,
    graph: Graph,
    values: Mapping[str, Any],
    wrt: Sequence[str],
    row: str,
    index: tuple[int, ...],
) -> Span:
    """Where a row of the Hessian stops being finite: the span of the first node that does."""
    program = row_program(programs, graph, wrt, list(wrt).index(row))
    direction = np.zeros(shape(graph, graph.inputs[row]))
    direction[index] = 1.0
    numbers = arrays.forward(program.graph, {**values, derive.tangent(row): direction})
    needed = dependencies(program.graph, *program.outputs)
    bad = (at for at, flag in enumerate(needed) if flag and not np.all(np.isfinite(numbers[at])))
    return program.graph.span(next(bad, program.outputs[0]))


def slopes(
    programs: Programs, graph: Graph, values: Mapping[str, Any], wrt: Sequence[str]
) -> dict[str, Any]:
    """The gradient, of which the Hessian is the derivative."""
    found = evaluated(slopes_at(programs, graph, wrt), values)[1:]
    return dict(zip(wrt, map(arrays.plain, found), strict=True))


def jvp(
    programs: Programs,
    graph: Graph,
    values: Mapping[str, Any],
    outputs: Mapping[str, int],
    tangents: Mapping[str, Any],
) -> dict[str, Any]:
    """By output, the derivative along the direction ``tangents``; a tangent of 0 holds a number fixed."""
    nodes = tuple(outputs.values())
    moving = [name for name, tangent in tangents.items() if np.any(tangent)]
    masked = not all(np.all(tangents[name]) for name in moving)
    program = along(programs, graph, moving, nodes, masked=masked)
    given = {derive.tangent(name): tangents[name] for name in moving}
    return product(program, {**values, **given}, outputs)


def vjp(
    programs: Programs,
    graph: Graph,
    values: Mapping[str, Any],
    outputs: Mapping[str, int],
    cotangents: Mapping[str, Any],
    wrt: Sequence[str],
) -> dict[str, Any]:
    """By input of ``wrt``, the derivative of the outputs' sum, weighted; a weight of 0 leaves it out."""
    if not wrt:
        return {}
    weights = weights_by_node(outputs, cotangents, np.any)
    nodes = tuple(weights)
    masked = not all(np.all(weight) for weight in weights.values())
    program = weighted(programs, graph, nodes, wrt, masked=masked)
    given = {derive.cotangent(at): weight for at, weight in enumerate(weights.values())}
    return product(program, {**values, **given}, wrt)
