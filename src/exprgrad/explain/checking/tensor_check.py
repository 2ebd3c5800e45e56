"""Gradients of tensors held against differences, number by number, in doubles.

What rounding does to the output is measured, for a bound would have to follow every sum.  Source: Moré and
Wild, Estimating computational noise, SIAM J. Sci. Comput. 33 (2011): values at points so near to each other
that a smooth function's high differences vanish have those that rounding leaves.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from typing import Any, NamedTuple

from exprgrad.errors import RequestError
from exprgrad.explain.checking.check import Check, judged
from exprgrad.explain.checking.differences import Sample, Sides, extrapolated, follow
from exprgrad.explain.checking.numbers import apart
from exprgrad.explain.checking.suspects import Suspect
from exprgrad.explain.checking.verdicts import by_differences, infinite
from exprgrad.graph.literal import Shape, size
from exprgrad.run.result import Run

__all__ = ["check_tensors"]

MOST = 64
"""How many numbers are checked; of more, so many are chosen, evenly spread.

Each takes some 80 forward sweeps, so that all take as long as a short training.
"""
LEVELS = 24
"""How many steps are tried, each half of the one before: from 2^-3 to 2^-26, half of a double's digits."""
NEAR = (-30, -24, -18, -12)
"""How near, in bits, the points lie at which noise is measured: their fourth differences are noise.

Farther apart where most values are equal, for then they are a step of the rounding's staircase.
"""
ORDER = 2.0**-20
"""What is more than this part of the values is no noise: they have no order at such a distance."""
SAFE = 8
"""How much larger than measured noise may be: it is a standard deviation, and of few values."""


class Place(NamedTuple):
    """One number of an input: its name, and where it is; () for an input that is a number."""

    name: str
    at: tuple[int, ...]

    def __str__(self) -> str:
        return f"{self.name}{list(self.at)}" if self.at else self.name


def check_tensors(
    run: Run, nodes: Iterable[str | int] | None = None, h: float | None = None
) -> list[Check]:
    """Check the derivatives with respect to the inputs' numbers: all of them, or 64 of more.

    Raises ``RequestError`` for nodes and a step, which are for formulas of numbers.
    """
    if nodes is not None or h is not None:
        message = "a formula of tensors is checked at its inputs alone, with steps of our choice"
        raise RequestError("no-tensors", message, help="--node and --h are for formulas of numbers")
    return [check_number(run, place) for place in chosen(run)]


def chosen(run: Run) -> list[Place]:
    """The numbers to check."""
    assert run.shapes is not None
    shapes = {name: run.shapes[run.graph.inputs[name]] for name in run.wrt or ()}
    total = sum(map(size, shapes.values()))
    count = min(total, MOST)
    wanted = iter(sorted({at * total // count for at in range(count)}))
    found, before, at = [], 0, next(wanted, None)
    for name, shape in shapes.items():
        while at is not None and at - before < size(shape):
            found.append(Place(name, index(at - before, shape)))
            at = next(wanted, None)
        before += size(shape)
    return found


def index(flat: int, shape: Shape) -> tuple[int, ...]:
    """The index of a number by its position, row by row."""
    found: list[int] = []
    for length in reversed(shape):
        flat, rest = divmod(flat, length)
        found.insert(0, rest)
    return tuple(found)


def check_number(run: Run, place: Place) -> Check:
    """The verdict on one number's derivative."""
    gradient, given = run.gradient[place.name], run.inputs[place.name]
    analytic = float(gradient[place.at] if place.at else gradient)
    at = float(given[place.at] if place.at else given)
    node = run.graph.inputs[place.name]
    span = run.graph.span(node)

    def blame(numeric: float) -> Suspect:
        says, true = apart(analytic, numeric)
        message = f"the gradient for {place} says {says}, differences say {true}"
        return Suspect(node, message, span)

    if not math.isfinite(run.value):
        found = infinite(run)
    else:
        found = by_differences(differences(moved(run, place), at), analytic, blame)
    return judged(str(place), analytic, found)._replace(where=found.where or (node, span))


def moved(run: Run, place: Place) -> Callable[[float], float]:
    """The output as a function of one number."""
    from exprgrad.run.arrays.sweeps import forward

    def value(x: float) -> float:
        given: Any = x
        if place.at:
            given = run.inputs[place.name].copy()
            given[place.at] = x
        return float(forward(run.graph, {**run.inputs, place.name: given})[run.graph.output])

    return value


def differences(value: Callable[[float], float], at: float) -> Sides:
    """The derivatives of a function of one number, between the sides and from each."""
    scale = math.frexp(at)[1] if at else 0
    noise = SAFE * measured(value, at, scale)
    levels = [sampled(value, at, noise, scale - 3 - level) for level in range(LEVELS)]
    step = math.ldexp(1.0, scale - 3)
    size = max(abs(value(x)) for x in (at - step, at, at + step))
    if not follow(levels) or noise > size * ORDER > 0:
        return Sides(None, None, None)
    return Sides(
        *(
            extrapolated([level[side] for level in levels], order)
            for side, order in ((0, 2), (1, 1), (2, 1))
        )
    )


def sampled(
    value: Callable[[float], float], at: float, noise: float, exponent: int
) -> tuple[Sample | None, Sample | None, Sample | None]:
    """The three quotients at a step of 2^exponent."""
    step = math.ldexp(1.0, exponent)
    minus, plus = at - step, at + step
    low, here, high = value(minus), value(at), value(plus)

    def quotient(rise: float, run: float) -> Sample | None:
        found = Sample(rise / run, 2 * noise / run) if run else None
        return found if found is not None and all(map(math.isfinite, found)) else None

    return (
        quotient(high - low, plus - minus),
        quotient(here - low, at - minus),
        quotient(high - here, plus - at),
    )


def measured(value: Callable[[float], float], at: float, scale: int) -> float:
    """The standard deviation of a function's rounding, from high differences of neighbouring values."""
    for near in NEAR:
        gap = math.ldexp(0.7, scale + near)  # no power of 2, whose sums are exact too often
        values = [value(at + step * gap) for step in range(-4, 5)]
        if not all(map(math.isfinite, values)):
            return math.ulp(value(at))
        if len(set(values)) > len(values) // 2:
            break
    found = math.ulp(values[4])
    for order, row in enumerate(difference_table(values), 1):
        if 4 <= order <= 6:
            share = math.factorial(order) ** 2 / math.factorial(2 * order)
            found = max(found, math.sqrt(share * math.fsum(x * x for x in row) / len(row)))
    return found


def difference_table(values: list[float]) -> Iterator[list[float]]:
    """The differences of values, their differences, and so on."""
    row = values
    while len(row) > 1:
        row = [after - before for before, after in pairwise(row)]
        yield row
