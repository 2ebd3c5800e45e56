"""A formula as a function of one vector: value, gradient, Hessian, and products with it, all exact."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from exprgrad.derive.sweeps.gradient import jvp, tangent
from exprgrad.graph.graph import Graph, Program, Shape, element_name, place_of, size
from exprgrad.run import matrices
from exprgrad.run.arrays.arrays import plain
from exprgrad.run.evaluation import Evaluator, evaluator_for

__all__ = ["Counts", "Flags", "Layout", "Objective", "Vector"]

Vector = NDArray[np.float64]
Flags = NDArray[np.bool_]


@dataclass
class Counts:
    """How often a formula was worked out: its value, its gradient, its Hessian, and products with that."""

    value: int = 0
    gradient: int = 0
    hessian: int = 0
    product: int = 0


class Layout(NamedTuple):
    """The numbers of the inputs that move, one behind the other; the others stay as they are given."""

    fixed: Mapping[str, Any]
    shapes: Mapping[str, Shape]

    @classmethod
    def of(cls, inputs: Mapping[str, Any], wrt: Sequence[str]) -> Layout:
        """The layout of some inputs, at whose values the others stay."""
        shapes = {name: getattr(inputs[name], "shape", ()) for name in wrt}
        return cls({n: value for n, value in inputs.items() if n not in shapes}, shapes)

    @property
    def size(self) -> int:
        """How many numbers move."""
        return sum(map(size, self.shapes.values()))

    def vector(self, values: Mapping[str, Any]) -> Vector:
        """Values by name, such as inputs or a gradient, as one vector."""
        parts = [np.ravel(values[name]) for name in self.shapes]
        return np.concatenate(parts).astype(np.float64) if parts else np.zeros(0)

    def named(self, vector: Vector) -> dict[str, Any]:
        """A vector's numbers by name: floats, and arrays in their shapes."""
        found: dict[str, Any] = {}
        start = 0
        for name, shape in self.shapes.items():
            end = start + size(shape)
            found[name] = plain(vector[start:end].reshape(shape).copy())
            start = end
        return found

    def names(self) -> list[str]:
        """What each number is called: ``x``, or ``w[1, 0]``."""
        return [
            element_name(name, place_of(at, shape))
            for name, shape in self.shapes.items()
            for at in range(size(shape))
        ]


@dataclass
class Objective:
    """A number that depends on a vector, with its derivatives; ``sign`` is -1 where it is to be large.

    Derivatives with respect to what the formula does not read are 0.
    """

    graph: Graph
    layout: Layout
    sign: float = 1.0
    counts: Counts = field(default_factory=Counts)
    formed: dict[bytes, NDArray[np.float64]] = field(default_factory=dict)
    """The Hessian that was formed last, by the point."""

    @cached_property
    def evaluator(self) -> Evaluator:
        """What evaluates the formula."""
        return evaluator_for(self.graph)

    @cached_property
    def wrt(self) -> tuple[str, ...]:
        """The inputs that move, of those that the formula reads."""
        return tuple([name for name in self.layout.shapes if name in self.graph.inputs])

    @cached_property
    def places(self) -> list[slice]:
        """Where in the vector the numbers of each of these stand."""
        ends = np.cumsum([0, *map(size, self.layout.shapes.values())]).tolist()
        places = dict(zip(self.layout.shapes, map(slice, ends, ends[1:]), strict=False))
        return [places[name] for name in self.wrt]

    @cached_property
    def first(self) -> tuple[Program, Evaluator]:
        """The derived program of value and gradient, and what evaluates it."""
        program = matrices.first(self.evaluator, self.wrt)
        return program, evaluator_for(program.graph)

    @cached_property
    def along(self) -> tuple[Program, Evaluator]:
        """The derived program of the Hessian's product with a direction, and what evaluates it."""
        graph, outputs = self.first[0]
        program = jvp(graph, self.wrt, outputs[1:])
        return program, evaluator_for(program.graph)

    def inputs(self, at: Vector) -> dict[str, Any]:
        """Every input that the formula reads."""
        given = {**self.layout.fixed, **self.layout.named(at)}
        return {name: given[name] for name in self.graph.inputs}

    def value(self, at: Vector) -> float:
        """The value."""
        self.counts.value += 1
        return self.sign * float(self.evaluator.forward(self.inputs(at))[self.graph.output])

    def slope(self, at: Vector) -> tuple[float, Vector]:
        """The value and the gradient."""
        self.counts.gradient += 1
        value, *slopes = outputs(*self.first, self.inputs(at))
        return self.sign * float(value), self.spread(slopes)

    def spread(self, parts: Sequence[Any]) -> Vector:
        """What was found by input, as a vector of all that moves."""
        found = np.zeros(self.layout.size)
        for place, part in zip(self.places, parts, strict=True):
            found[place] = np.ravel(part)
        return self.sign * found + 0.0

    def curvature(self, at: Vector) -> NDArray[np.float64]:
        """The Hessian; at the same point again it is remembered."""
        if at.tobytes() not in self.formed:
            self.counts.hessian += 1
            self.formed = {at.tobytes(): self.hessian(at)}
        return self.formed[at.tobytes()]

    def hessian(self, at: Vector) -> NDArray[np.float64]:
        """The Hessian, worked out."""
        found = np.zeros((self.layout.size, self.layout.size))
        point = matrices.Point(self.evaluator, self.inputs(at), {}, self.wrt)
        blocks = matrices.hessian(point).entries
        for (row, column), block in blocks.items():
            rows, columns = self.places[row], self.places[column]
            shape = rows.stop - rows.start, columns.stop - columns.start
            found[rows, columns] = np.reshape(block, shape)
        return self.sign * found + 0.0

    def product(self, at: Vector, direction: Vector) -> Vector:
        """The Hessian times a direction, by forward over reverse: no Hessian is formed."""
        self.counts.product += 1
        moving = {
            tangent(name): part
            for name, part in self.layout.named(direction).items()
            if name in self.wrt
        }
        given = {**self.inputs(at), **moving}
        return self.spread(outputs(*self.along, given))

    def noise(self, at: Vector) -> tuple[float, Vector]:
        """What rounding may have done to the value and to the gradient, as far as bounds tell."""
        values, adjoints = self.evaluator.gradient(self.inputs(at), self.wrt)
        data, grads = self.evaluator.errors(values, adjoints)
        nodes = [self.graph.inputs[name] for name in self.wrt]
        shapes = [self.layout.shapes[name] for name in self.wrt]
        parts = [np.broadcast_to(grads[n], s) for n, s in zip(nodes, shapes, strict=True)]
        return float(np.max(data[self.graph.output])), abs(self.spread(parts))


def outputs(program: Program, evaluator: Evaluator, inputs: Mapping[str, Any]) -> list[Any]:
    """A derived program's outputs, by an evaluator that has worked out its plan once."""
    values = evaluator.forward(inputs)
    return [values[output] for output in program.outputs]
