"""What it costs that right digits are counted: a guarded gradient, in the time of a gradient.

All numbers are right, so bounds are all that is worked out.
"""

from __future__ import annotations

import exprgrad
from benchmarks.formulas import VALUES, chain, tree
from benchmarks.measure import Ratio, Report, ratio, table, times, turns

__all__ = ["report"]


def report(*, quick: bool) -> Report:
    """The table: ``digits`` beside a gradient, in times of ``gradient``."""
    sizes = (1000, 10_000) if quick else (1000, 10_000, 100_000)
    rows = []
    for shape in (tree, chain):
        for size in sizes:
            found = counted(shape(size), quick=quick)
            rows.append([f"{shape.__name__}, {size:,} nodes", times(found.median - 1)])
    return Report(table(["formula", "counting digits, against the gradient"], rows))


def counted(text: str, *, quick: bool) -> Ratio:
    """The time of a gradient whose right digits are counted, in that of one whose are not."""
    expression = exprgrad.parse(text)
    values = {name: VALUES[name] for name in expression.inputs}
    expression.gradient(values).digits  # noqa: B018
    taken = turns(
        {
            "gradient": lambda: expression.gradient(values).gradient,
            "counted": lambda: (run := expression.gradient(values)).gradient and run.digits,
        },
        5 if quick else 15,
        max(1, (5_000 if quick else 10_000) // len(expression.graph)),
    )
    return ratio(taken, "counted", "gradient")
