"""Jacobians and Hessians of tensors along basis directions: rows by VJPs, or columns by JVPs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from exprgrad.derive.sweeps import gradient as derive
from exprgrad.graph.graph import Program, Shape, size
from exprgrad.run.arrays import arrays
from exprgrad.run.evaluation import Evaluator

__all__ = ["at_direction", "by_columns", "by_rows", "symmetric"]

Blocks = dict[tuple[int, int], Any]
"""By row and column: a number or an array of the row's shape and then the column's."""


def directions(wanted: Shape) -> Iterator[tuple[int, Any]]:
    """Every tensor of a shape that is 1 at one place and else 0, with the place; one array for all."""
    direction = np.zeros(wanted)
    flat = direction.reshape(-1)
    for at in range(flat.size):
        flat[at] = 1.0
        yield at, direction
        flat[at] = 0.0


def by_columns(
    evaluator: Evaluator,
    programs: Iterable[Program],
    values: Mapping[str, Any],
    nodes: Sequence[int],
    wrt: Sequence[str],
) -> Blocks:
    """The blocks of the Jacobian of some nodes, each column by a JVP; ``programs``, one for each input."""
    blocks = empty(evaluator, nodes, wrt)
    for column, (name, program) in enumerate(zip(wrt, programs, strict=True)):
        for at, direction in directions(evaluator.graph.shape(evaluator.graph.inputs[name])):
            given = {**values, derive.tangent(name): direction}
            for row, change in enumerate(evaluator.answers(program, given)):
                blocks[row, column][:, at] = np.ravel(change)
    return shaped(evaluator, blocks, nodes, wrt)


def by_rows(
    evaluator: Evaluator,
    programs: Iterable[Program],
    values: Mapping[str, Any],
    nodes: Sequence[int],
    wrt: Sequence[str],
) -> Blocks:
    """The blocks of the Jacobian of some nodes, each row by a VJP; ``programs``, one for each node."""
    blocks = empty(evaluator, nodes, wrt)
    for row, (node, program) in enumerate(zip(nodes, programs, strict=True)):
        for at, direction in directions(evaluator.graph.shape(node)):
            given = {**values, derive.cotangent(0): direction}
            for column, slope in enumerate(evaluator.answers(program, given)):
                blocks[row, column][at, :] = np.ravel(slope)
    return shaped(evaluator, blocks, nodes, wrt)


def empty(evaluator: Evaluator, nodes: Sequence[int], wrt: Sequence[str]) -> Blocks:
    """Blocks of zeros as matrices: a row for each number of a node, a column for each of an input."""
    graph = evaluator.graph
    columns = [size(graph.shape(graph.inputs[name])) for name in wrt]
    return {
        (row, column): np.zeros((size(graph.shape(node)), length))
        for row, node in enumerate(nodes)
        for column, length in enumerate(columns)
    }


def shaped(
    evaluator: Evaluator, blocks: Blocks, nodes: Sequence[int], wrt: Sequence[str]
) -> Blocks:
    """The same blocks in the shapes of their rows and columns."""
    graph = evaluator.graph
    columns = [graph.shape(graph.inputs[name]) for name in wrt]
    return {
        (row, column): arrays.plain(block.reshape(graph.shape(nodes[row]) + columns[column]))
        for (row, column), block in blocks.items()
    }


def symmetric(
    evaluator: Evaluator,
    programs: Iterable[Program],
    values: Mapping[str, Any],
    wrt: Sequence[str],
) -> Blocks:
    """The blocks of the Hessian of the output, a number; those below the diagonal are transposes.

    ``programs`` are, for each input, the JVPs of the gradient from that input on.
    """
    graph = evaluator.graph
    nodes = [graph.inputs[name] for name in wrt]
    blocks = empty(evaluator, nodes, wrt)
    for row, (name, program) in enumerate(zip(wrt, programs, strict=True)):
        for at, direction in directions(graph.shape(nodes[row])):
            given = {**values, derive.tangent(name): direction}
            for column, change in enumerate(evaluator.answers(program, given), row):
                blocks[row, column][at, :] = np.ravel(change)
        upper = np.triu(blocks[row, row])
        blocks[row, row] = upper + np.triu(upper, 1).T
        for column in range(row + 1, len(wrt)):
            blocks[column, row] = blocks[row, column].T.copy()
    return shaped(evaluator, blocks, nodes, wrt)


def at_direction(
    evaluator: Evaluator,
    program: Program,
    values: Mapping[str, Any],
    row: str,
    index: tuple[int, ...],
) -> list[Any]:
    """Every node's data of a row of the Hessian, made by ``program``, along one basis direction."""
    direction = np.zeros(evaluator.graph.shape(evaluator.graph.inputs[row]))
    direction[index] = 1.0
    given = {**values, derive.tangent(row): direction}
    return [arrays.plain(value) for value in arrays.forward(program.graph, given)]
