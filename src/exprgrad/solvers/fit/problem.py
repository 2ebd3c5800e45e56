"""A model over columns: its residuals about a point, as a triangle that holds all that a fit needs.

Whatever the rows, J = Q R and r = Q (q, rest): costs, gradients and steps depend on R, q and the length of
the rest alone, and these are made block by block.  So the rows are gone through once for a point, and
never need to be in memory together.  Source: Å. Björck, Numerical Methods for Least Squares Problems
(1996), sections 2.4 and 9.2.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from math import inf
from typing import Any, NamedTuple

import numpy as np

from exprgrad.derive.build import Builder
from exprgrad.derive.sweeps.gradient import Entries, gradient, hessian
from exprgrad.graph.graph import Graph, Program
from exprgrad.run.arrays import arrays
from exprgrad.run.arrays.bounds import data_errors
from exprgrad.run.engines.columns import staggered
from exprgrad.run.engines.compiled import Kernel, built

__all__ = ["LOSSES", "Columns", "Linearized", "Problem", "Ready", "problem_of", "stacked"]

PIECE = 2**14
"""The rows that are worked on at a time."""
COMPILED = 2**24
"""From so many operations over all rows on, machine code is made of them where that can be."""


class Loss(NamedTuple):
    """A loss of z, a residual's square in units of the scale's: the loss, and its two derivatives.

    Each is z for small z and concave, so that z times the first derivative never exceeds the loss.
    """

    value: Callable[[Any], Any]
    first: Callable[[Any], Any]
    second: Callable[[Any], Any]


LOSSES: Mapping[str, Loss] = {
    "huber": Loss(
        lambda z: np.where(z <= 1, z, 2 * np.sqrt(z) - 1),
        lambda z: np.where(z <= 1, 1.0, 1 / np.sqrt(np.maximum(z, 1))),
        lambda z: np.where(z <= 1, 0.0, -0.5 * np.maximum(z, 1) ** -1.5),
    ),
    "soft_l1": Loss(
        lambda z: 2 * z / (1 + np.sqrt(1 + z)),
        lambda z: 1 / np.sqrt(1 + z),
        lambda z: -0.5 * (1 + z) ** -1.5,
    ),
    "cauchy": Loss(
        np.log1p,
        lambda z: 1 / (1 + z),
        lambda z: -1 / (1 + z) ** 2,
    ),
}
"""Sources: P. J. Huber, Robust Statistics (1981), 7.8; B. Triggs et al., Bundle Adjustment (2000), 3.4."""


class Columns(NamedTuple):
    """Some rows: the columns by position, and what each row's residual is multiplied with, if anything."""

    columns: Sequence[Any]
    scale: Any = None


class Linearized(NamedTuple):
    """Residuals about a point: R, q, and the length of what lies outside the Jacobian's columns.

    ``cost`` is half the sum of squares, or of losses.
    """

    factor: Any
    q: Any
    rest: float
    cost: float


class Ready(NamedTuple):
    """What works out a program for rows, and how many outputs that has."""

    kernel: Kernel
    outputs: int


class Problem:
    """What is fitted to which rows, and what works it out, made once and when it is needed.

    ``graph``       the residual, response minus model; ``response`` is the response's node there
    ``columns``     the names of the columns, in their order
    ``parameters``  the names of what is estimated
    ``blocks``      goes through the rows, some at a time
    ``rows``        how many they are
    ``loss``        what a residual costs, by name, if not half its square; ``width`` is the loss's scale

    A point is an array of the parameters' values.
    """

    def __init__(
        self,
        graph: Graph,
        response: int,
        columns: Sequence[str],
        parameters: Sequence[str],
        blocks: Callable[[], Iterator[Columns]],
        rows: int,
        loss: str = "",
        width: float = 1.0,
    ) -> None:
        self.graph, self.response = graph, response
        self.columns, self.parameters = tuple(columns), tuple(parameters)
        self.blocks, self.rows = blocks, rows
        self.loss, self.width = loss, width

    @cached_property
    def program(self) -> Program:
        """The residual, its derivatives, and the response."""
        derived = gradient(self.graph, self.parameters)
        builder = Builder()
        images = builder.include(derived.graph)
        response = builder.include(self.graph)[self.response]
        return builder.program([*(images[output] for output in derived.outputs), response])

    @cached_property
    def first(self) -> Ready:
        """The same, made ready."""
        return self.ready(self.program)

    @cached_property
    def second(self) -> tuple[Ready, Entries]:
        """The residual, its first and second derivatives; and which output each of the second ones is."""
        program, entries = hessian(self.graph, self.parameters)
        return self.ready(program), entries

    def ready(self, program: Program) -> Ready:
        """A program made ready for as many rows as there are."""
        is_large = self.rows * len(program.graph) >= COMPILED
        engine = None if is_large else "numpy"
        kernel = built(program, [*self.columns, *self.parameters], engine, False)[1]
        return Ready(kernel, len(program.outputs))

    def results(
        self, point: Any, ready: Ready | None = None
    ) -> Iterator[tuple[Columns, list[Any]]]:
        """The rows, some at a time, with what a program comes to at a point: ``first``, if not another.

        Every row has a scale there; residuals and derivatives are not multiplied with it yet.
        """
        kernel, count = ready or self.first
        memory = staggered(count, min(PIECE, self.rows))
        values = [np.full(min(PIECE, self.rows), value) for value in point]
        for block in self.blocks():
            scales = 1.0 if block.scale is None else block.scale
            scales = np.broadcast_to(scales, len(block.columns[0]))
            for low in range(0, len(block.columns[0]), PIECE):
                given = [column[low : low + PIECE] for column in block.columns]
                rows = len(given[0])
                kernel([*given, *(x[:rows] for x in values)], memory, 0, rows)
                yield Columns(given, scales[low : low + PIECE]), [one[:rows] for one in memory]

    def erring(self, point: Any) -> Iterator[tuple[Columns, list[Any], list[Any]]]:
        """The same, with what rounding may have done to each result, row by row and to first order.

        It is bounded as the guard does (``run/arrays/bounds.py``).
        """
        graph, outputs = self.program
        for block, results in self.results(point):
            given = dict(zip(self.columns, block.columns, strict=True))
            given |= dict(zip(self.parameters, map(float, point), strict=True))
            bounds = data_errors(graph, arrays.forward(graph, given), outputs)
            shape = results[0].shape
            yield block, results, [np.broadcast_to(bounds[output], shape) for output in outputs]

    def linearized(self, point: Any) -> Linearized | None:
        """The residuals about a point; None where they, or their derivatives, are not finite."""
        size = len(self.parameters)
        triangle, cost = np.zeros((size + 1, size + 1)), 0.0
        for block, (residual, *slopes, _) in self.results(point):
            rows = np.column_stack([*slopes, residual])
            rows *= block.scale[:, None]
            if self.loss:
                z = (rows[:, size] / self.width) ** 2
                cost += 0.5 * self.width**2 * float(np.sum(LOSSES[self.loss].value(z)))
                rows *= np.sqrt(LOSSES[self.loss].first(z))[:, None]
            if not np.isfinite(rows).all():
                return None
            triangle = stacked(triangle, rows)
        rest = abs(float(triangle[size, size]))
        q = triangle[:size, size]
        with np.errstate(over="ignore"):  # an infinite cost is refused below
            square = float(q @ q) + rest * rest
        if self.loss:
            rest = float(np.sqrt(max(2 * cost - float(q @ q), 0.0)))
        else:
            cost = 0.5 * square
        if not (np.isfinite(triangle).all() and cost < inf):
            return None
        return Linearized(triangle[:size, :size], q, rest, cost)

    def curvature(self, point: Any) -> Any:
        """What the cost's Hessian has beyond J'J, which second derivatives and losses bring."""
        ready, entries = self.second
        size = len(self.parameters)
        found = np.zeros((size, size))
        for block, results in self.results(point, ready):
            residual, *slopes = results[: size + 1]
            weight = block.scale**2 * residual
            if self.loss:
                z = (block.scale * residual / self.width) ** 2
                weight = weight * LOSSES[self.loss].first(z)
                bent = block.scale**2 * 2 * z * LOSSES[self.loss].second(z)
                jacobian = np.column_stack(slopes)
                found += jacobian.T @ (bent[:, None] * jacobian)
            for (row, column), at in entries.items():
                found[row, column] += float(weight @ results[at])
        return found


def stacked(triangle: Any, rows: Any) -> Any:
    """The triangle of the rows that another stands for, and of some more."""
    return np.linalg.qr(np.concatenate([triangle, rows]), mode="r")


def problem_of(
    graph: Graph,
    response: int,
    columns: Sequence[str],
    parameters: Sequence[str],
    fixed: Mapping[str, float],
    *rest: Any,
) -> Problem:
    """The problem to make a graph's output small in all rows; ``response`` is the response's node.

    ``fixed`` are the values of parameters that are not estimated; ``rest`` is what ``Problem`` takes.
    """
    builder = Builder()
    inputs = {name: builder.input(name) for name in (*columns, *parameters)}
    inputs |= {name: builder.constant(value) for name, value in fixed.items()}
    images = builder.include(graph, inputs)
    builder.graph.output = images[graph.output]
    return Problem(builder.graph, images[response], columns, parameters, *rest)
