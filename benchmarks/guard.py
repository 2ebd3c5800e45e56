"""What it costs that right digits are counted: a guarded gradient, in the time of a gradient.

All numbers are right, so bounds are all that is worked out.
"""

from __future__ import annotations

import math

from benchmarks.formulas import VALUES, chain, tree
from benchmarks.measure import Report, table, times
from benchmarks.sides import reading

__all__ = ["report"]

POINT = {name: math.copysign(math.sqrt(abs(value)), value) for name, value in VALUES.items()}
"""Where no ``relu`` of 100,000 nodes has an operand that is 0 but for rounding, as among short decimals."""


def report(*, quick: bool) -> Report:
    """The table: ``digits`` beside a gradient, in times of ``gradient``."""
    sizes = (1000, 10_000) if quick else (1000, 10_000, 100_000)
    rows = [
        [f"{shape.__name__}, {size:,} nodes", times(counted(shape(size), quick=quick))]
        for shape in (tree, chain)
        for size in sizes
    ]
    return Report(table(["formula", "counting digits, against the gradient"], rows))


def counted(text: str, *, quick: bool) -> float:
    """The time of counting a gradient's right digits, in that of the gradient."""
    both = reading(
        text,
        POINT,
        lambda run: (run.gradient, run.digits),
        against=lambda run: run.gradient,
        quick=quick,
    )
    return both - 1
