"""Every row of the op table at points all over the doubles: its worst errors beside its stated bounds."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from benchmarks.measure import table
from benchmarks.truth import from_tests
from exprgrad.graph.ops import OPS, Op
from exprgrad.run.numbers.primitives import functions

__all__ = ["rows_table"]

Point = tuple[float, ...]


def rows_table(*, quick: bool) -> str:
    """A line for each row: the worst ulps of its value and of its local derivatives, and the bounds."""
    values, partials = (60, 6) if quick else (6000, 1200)
    lines = [
        [
            f"`{op.name}`",
            number(worst_value(op, values)),
            bound(op.value_ulp, op.value_abs),
            number(worst_partial(op, partials)),
            bound(op.partial_ulp, op.partial_abs),
        ]
        for op in OPS
    ]
    head = ["row", "value", "stated", "local derivatives", "stated"]
    return table(head, lines)


def sample(op: Op, count: int) -> Iterator[Point]:
    """Points inside the row's domain, the same at every run: all magnitudes, and near critical ones."""
    strategies, oracles = from_tests("strategies"), from_tests("oracles")
    arity = 3 if op.variadic else len(op.names)
    for args in strategies.points(Random(f"{op.name} measured"), arity, count):
        if oracles.holds(op.domain, op.names, args):
            yield args


def worst_value(op: Op, count: int) -> float:
    """The worst error of the value, in ulps, where the row's absolute bound does not hold."""
    oracles = from_tests("oracles")
    worst = 0.0
    for args in sample(op, count):
        true, found = oracles.true_value(op.name, *args), functions[op.name](*args)
        ulps = oracles.ulps(found, true)
        if ulps <= op.value_ulp or abs(true - found) > op.value_abs:
            worst = max(worst, ulps)
    return worst


def worst_partial(op: Op, count: int) -> float:
    """The worst error of the local derivatives where they exist, in ulps, as ``worst_value`` has it.

    Left out is what division excepts: its derivative for y where the quotient is subnormal.
    """
    oracles = from_tests("oracles")
    worst = 0.0
    for args in sample(op, count):
        if oracles.is_special(op, args):
            continue
        found = oracles.computed(op, args)[1]
        for position, local in enumerate(found):
            if op.name == "div" and position == 1 and abs(args[0] / args[1]) < 2.0**-1022:
                continue
            true = oracles.true_partial(op.name, position, args)
            ulps = oracles.ulps(local, true)
            if ulps <= op.partial_ulp or abs(true - local) > op.partial_abs:
                worst = max(worst, ulps)
    return worst


def bound(ulps: float, absolute: float) -> str:
    """A stated bound in words."""
    said = {0.0: "exact", 0.5: "rounded"}.get(ulps, f"{ulps:g}")
    return f"{said}, or {absolute:.1g}" if absolute else said


def number(ulps: float) -> str:
    """An error in ulps; what a difference quotient leaves open is not counted."""
    return f"{ulps:.2f}"
