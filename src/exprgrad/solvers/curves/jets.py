"""A formula along one of its inputs: its value and its first two derivatives, for many points at once.

The three together are its jet.  They come from one derived program, which is exact in the sense of all
derivatives here; in balls it gives what they truly are.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from exprgrad.derive.sweeps.gradient import hessian
from exprgrad.graph.graph import Graph, Program
from exprgrad.run.balls.balls import Ball, ball, evaluate, is_infinite, working
from exprgrad.run.engines.compiled import Kernel, built

__all__ = ["JET_BITS", "ORDERS", "Jets", "jets_of"]

ORDERS = 3
"""The value, the first and the second derivative."""
VISITS, FEWEST, MOST = 10_000, 64, 1024
"""So many nodes may be visited in balls for a curve, at so many points at least and at most."""
JET_BITS = 256
"""The precision of what balls are asked for: beside a point, where much cancels."""


class Jets(NamedTuple):
    """What evaluates a formula along one input, the others held fixed.

    ``outputs`` are the nodes of the program that are the value and the derivatives, None for one that is 0
    at every point.
    """

    name: str
    given: Mapping[str, float]
    program: Program
    outputs: tuple[int | None, ...]
    kernel: Kernel

    def __call__(self, x: Any) -> Any:
        """The jets at some points: an array of shape (3, number of points)."""
        x = np.ascontiguousarray(x, dtype=float)
        found = np.zeros((ORDERS, len(x)))
        if not len(x):
            return found
        columns = [
            x if name == self.name else np.full(len(x), self.given[name]) for name in self.names
        ]
        rows = [row for row, node in zip(found, self.outputs, strict=True) if node is not None]
        self.kernel(columns, rows, 0, len(x))
        return found

    @property
    def names(self) -> tuple[str, ...]:
        """The inputs, in order of appearance."""
        return tuple(self.given)

    @property
    def affordable(self) -> int:
        """At how many points balls may be asked for."""
        return min(max(VISITS // len(self.program.graph), FEWEST), MOST)

    def enclosed(
        self, x: float, around: float = 0.0, beside: float = 0.0, bits: int = JET_BITS
    ) -> list[Ball]:
        """Every node of the program in balls, at ``x + beside`` or over all points so far ``around`` it.

        Literals are the decimals typed, and inputs the doubles.
        """
        with working(bits):
            given = {name: ball(value) for name, value in self.given.items()}
            given[self.name] = ball(x) + ball(beside) + type(ball(0))(0, around)
            return evaluate(self.program.graph, given, typed=True)

    def truly(self, x: float, beside: float = 0.0, bits: int = JET_BITS) -> list[Ball]:
        """The jet in balls, a step from a point."""
        values = self.enclosed(x, beside=beside, bits=bits)
        return [ball(0) if node is None else values[node] for node in self.outputs]

    def beside(self, x: float, step: float) -> list[float]:
        """The jet a small step from a point as doubles, free of what rounding would do there.

        What balls do not tell is what doubles say.
        """
        true = [double_of(value) for value in self.truly(x, step)]
        if None not in true:
            return [value for value in true if value is not None]
        plain = self(np.array([x + step]))[:, 0].tolist()
        return [rough if value is None else value for value, rough in zip(true, plain, strict=True)]


def double_of(value: Ball) -> float | None:
    """The double nearest to a ball; None for one that says too little."""
    if value.is_nan() or is_infinite(value):
        return float(value)
    if not value.is_finite() or (value.rel_accuracy_bits() < 24 and not value.is_exact()):
        return None
    return float(value.mid())


def jets_of(graph: Graph, name: str, given: Mapping[str, float]) -> Jets:
    """What evaluates a formula of numbers along one input; ``given`` has the others' values."""
    program, entries = hessian(graph, [name])
    second = program.outputs[entries[0, 0]] if (0, 0) in entries else None
    outputs = (*program.outputs[:2], second)
    wanted = Program(program.graph, tuple(node for node in outputs if node is not None))
    values = {each: given.get(each, 0.0) for each in graph.inputs}
    _, kernel, _ = built(wanted, tuple(graph.inputs), "numpy", True)
    return Jets(name, values, wanted, outputs, kernel)
