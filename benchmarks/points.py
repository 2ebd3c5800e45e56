"""Points at which programs are compared."""

from __future__ import annotations

import math
from random import Random

from exprgrad.graph.graph import Program
from exprgrad.run.numbers.sweeps import forward_numbers

__all__ = ["Point", "find_point", "values"]

Point = dict[str, float]
"""A value for each input."""


def values(program: Program, point: Point) -> list[float]:
    """What a program gives at a point."""
    found = forward_numbers(program.graph, point)
    return [found[output] for output in program.outputs]


def find_point(program: Program) -> Point:
    """A point at which all that a program gives is finite, the same at every run."""
    names = list(program.graph.inputs)
    for seed in range(1000):
        random = Random(seed)
        ranges = [random.choice([(0.1, 0.9), (1.0, 3.0), (3.0, 9.0)]) for _ in names]
        if seed % 2:
            ranges = ranges[:1] * len(names)
        chosen = zip(names, ranges, strict=True)
        point = {name: random.uniform(low, high) for name, (low, high) in chosen}
        if all(map(math.isfinite, values(program, point))):
            return point
    raise ValueError("no point is inside the domain")
