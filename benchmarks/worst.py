"""Every row of the op table: the worst errors that are found by climbing beside its stated bounds."""

from __future__ import annotations

from benchmarks.measure import table
from benchmarks.truth import from_tests
from exprgrad.graph.ops import OPS, Op

__all__ = ["rows_table"]


def rows_table(*, quick: bool) -> str:
    """A line for each row: the worst ulps of its value and of its local derivatives, and the bounds.

    Where an absolute bound holds in place of that in ulps, half of the one counts as half of the other.
    """
    values, partials = (60, 12) if quick else (3000, 500)
    climbing = from_tests("climbing")
    lines = [
        [
            f"`{op.name}`",
            number(climbing.worst_value(op, values).error * op.value_ulp),
            bound(op.value_ulp, op.value_abs),
            number(worst_partial(op, partials)),
            bound(op.partial_ulp, op.partial_abs),
        ]
        for op in OPS
    ]
    head = ["row", "value", "stated", "local derivatives", "stated"]
    return table(head, lines)


def worst_partial(op: Op, count: int) -> float:
    """The worst error of the local derivatives, in ulps."""
    climbing = from_tests("climbing")
    places = range(1 if op.variadic else len(op.names))
    worst: float = max(climbing.worst_partial(op, place, count).error for place in places)
    return worst * op.partial_ulp


def bound(ulps: float, absolute: float) -> str:
    """A stated bound in words."""
    said = {0.0: "exact", 0.5: "rounded"}.get(ulps, f"{ulps:g}")
    return f"{said}, or {absolute:.1g}" if absolute else said


def number(ulps: float) -> str:
    """An error in ulps; what a difference quotient leaves open is not counted."""
    return f"{ulps:.2f}"
