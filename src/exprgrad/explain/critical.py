"""The points at which a row's answer is a convention, or no number: found from the row alone.

A few simple points are tried.  Critical are those at a kink or a jump, at a pole, outside of the domain,
where a local derivative is infinite, and where the rule that people read has no answer but the computed one
has.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import product
from typing import NamedTuple

from exprgrad.derive.rules import Rule, computed, shown, slots, template
from exprgrad.graph.ops import Op
from exprgrad.run.numbers.sweeps import at_pole, compile_template, functions, holds, sides

__all__ = ["MOST_POINTS", "Critical", "critical_points"]

MOST_POINTS = 6
"""How many points are shown of one row."""
CANDIDATES = (0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.0, -2.0)
"""What each operand is tried with, the simplest first."""


class Critical(NamedTuple):
    """A critical point: the operands, what it is, and the row's value and local derivatives there."""

    operands: tuple[float, ...]
    what: str
    value: float
    partials: tuple[float, ...]


def critical_points(op: Op) -> list[Critical]:
    """One critical point of each kind, at most ``MOST_POINTS``; a variadic row is taken over two."""
    found: dict[object, Critical] = {}
    for operands in candidates(op):
        what = sort_of(op, operands)
        if what:
            point = Critical(operands, what, *answer(op, operands, computed))
            found.setdefault(kind(point), point)
    points = [*found.values()]
    firsts = {point.what: place for place, point in reversed([*enumerate(points)])}.values()
    rest = [place for place in range(len(points)) if place not in firsts]
    kept = [*firsts, *rest[: max(MOST_POINTS - len(firsts), 0)]]
    return [points[place] for place in sorted(kept)]


def candidates(op: Op) -> Iterator[tuple[float, ...]]:
    """Points to try; infinities last, and of one operand only."""
    arity = len(op.formula_names)
    places = sorted(product(range(len(CANDIDATES)), repeat=arity), key=sum)
    yield from (tuple(CANDIDATES[place] for place in point) for point in places)
    if arity == 1:
        yield from ((math.inf,), (-math.inf,))


def sort_of(op: Op, operands: Sequence[float]) -> str:
    """What a point is, in words; empty for an ordinary one."""
    value, partials = answer(op, operands, computed)
    views = sides(op, [*operands, value], [1.0] * len(operands))
    finite = all(map(math.isfinite, operands))
    for special in op.special if finite else ():
        if any(holds(special.where, slots(op), view) for view in views):
            return f"a {special.code}"
    if at_pole(op, operands):
        return "a pole"
    if op.domain and not holds(op.domain, op.names, operands):
        return "outside the domain"
    if not finite:
        return ""
    if any(map(math.isinf, partials)):
        return "an infinite slope"
    if any(map(math.isnan, partials)):
        return "no slope"
    read = answer(op, operands, shown)[1]
    return "nan by the textbook rule" if any(map(math.isnan, read)) else ""


def answer(op: Op, operands: Sequence[float], rule: Rule) -> tuple[float, tuple[float, ...]]:
    """The row's value, and its local derivatives according to ``rule``; every operand varies."""
    value = functions[op.name](*operands)
    views = sides(op, [*operands, value], [1.0] * len(operands))
    partials = [
        compile_template(template(rule(op, position)), slots(op))(view)
        for position, view in enumerate(views)
    ]
    return value, tuple(partials)


def kind(point: Critical) -> object:
    """What two points have in common of which one is enough: a zero's sign counts at a pole."""
    signs = None
    if point.what == "a pole":
        signs = tuple(math.copysign(1.0, x) for x in point.operands if x == 0)
    finite_value = None if math.isfinite(point.value) else str(point.value)
    return point.what, finite_value, tuple(map(told_apart, point.partials)), signs


def told_apart(number: float) -> str:
    """What is told apart of a local derivative."""
    return "a number" if math.isfinite(number) and number else str(number + 0.0)
