"""The worst error of a row, looked for by climbing: from the worst samples to what is worse beside them.

Samples alone find how large errors are as a rule.  The largest lie in narrow places: beside a threshold of
a formula, or where a result is about to underflow.  So samples are taken there too, and beside a bad one
there is often a worse one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from random import Random
from typing import NamedTuple

from exprgrad.derive.rules import template
from exprgrad.graph.ops import Op
from exprgrad.run.numbers.sweeps import functions
from oracles import Real, computed, holds, is_special, mp, true_partial, true_value, ulps
from strategies import LARGE, SMALL, TINY, nth, order, points, shifted

__all__ = ["Worst", "worst_partial", "worst_value"]

Point = tuple[float, ...]
Error = Callable[[Point], float]
"""How far the answer at a point is off, in times of what is stated; 0 where nothing is."""

WIDEST = 52
"""The longest step is 2 to this, in ulps: it halves or doubles a number."""
SUMMITS = 6
"""From how many of the worst samples one climbs."""
NARROW = 20
"""Of so many samples one is taken to narrow places."""
SUBNORMAL = 2.0**-1022


class Worst(NamedTuple):
    """An error, in times of what is stated, and where it is."""

    error: float
    at: Point


def worst_value(op: Op, count: int) -> Worst:
    """The worst error of a row's value that is found from so many samples."""

    def error(args: Point) -> float:
        if not holds(op.domain, op.names, args):
            return 0.0
        true, given = true_value(op.name, *args), functions[op.name](*args)
        return of_stated(given, true, op.value_ulp, op.value_abs)

    return worst_of(op, error, count)


def worst_partial(op: Op, position: int, count: int) -> Worst:
    """The worst error of a row's local derivative where it exists.

    Left out is what division excepts: its derivative for y where the quotient is subnormal.
    """

    def error(args: Point) -> float:
        if not holds(op.domain, op.names, args) or is_special(op, args):
            return 0.0
        if op.name == "div" and position == 1 and abs(args[0] / args[1]) < SUBNORMAL:
            return 0.0
        given = computed(op, args)[1][position]
        return of_stated(
            given, true_partial(op.name, position, args), op.partial_ulp, op.partial_abs
        )

    return worst_of(op, error, count)


def of_stated(given: float, true: Real, ulp: float, absolute: float) -> float:
    """An error in times of the bound that is kept: the one in ulps, or the absolute one."""
    if mp.isnan(true):
        return 0.0
    wrong = ulps(given, true)
    if ulp:
        wrong /= ulp
    if absolute and math.isfinite(given):
        wrong = min(wrong, float(abs(true - given) / absolute))
    return wrong


def worst_of(op: Op, error: Error, count: int) -> Worst:
    """The worst error that is found by climbing from the worst of some samples, which lie apart."""
    arity = 3 if op.variadic else len(op.names)
    random = Random(f"{op.name} climbed")
    samples = [*points(random, arity, count)]
    samples += beside_thresholds(op, samples[::NARROW], random)
    samples += before_the_end(op, samples[::NARROW], random)
    starts: list[Worst] = []
    for worst in sorted((Worst(error(point), point) for point in samples), reverse=True):
        if not any(are_close(worst.at, other.at) for other in starts):
            starts.append(worst)
        if len(starts) == SUMMITS:
            break
    return max(climbed(error, start, count // 5, random) for start in starts)


def are_close(one: Point, other: Point) -> bool:
    """Whether two points differ by a part in 100 at most."""
    return all(math.isclose(x, y, rel_tol=0.01) for x, y in zip(one, other, strict=True))


def climbed(error: Error, start: Worst, steps: int, random: Random) -> Worst:
    """Where one gets by steps that do not lead down, of one coordinate or of all.

    Their length in ulps is random, from 1 to a longest that shrinks as one climbs.
    """
    worst = start
    for step in range(steps):
        longest = WIDEST * (1 - step / steps)
        moved = random.randrange(len(worst.at) + 1)
        point = tuple(
            [
                stepped(x, random, longest) if moved in (place, len(worst.at)) else x
                for place, x in enumerate(worst.at)
            ]
        )
        worst = max(worst, Worst(error(point), point))
        if math.isinf(worst.error):
            break
    return worst


def stepped(x: float, random: Random, longest: float) -> float:
    """A double some ulps away; a zero has no sign."""
    length = round(2 ** random.uniform(0, longest))
    return shifted(x, random.choice((-1, 1)) * length) + 0.0


def beside_thresholds(op: Op, samples: Sequence[Point], random: Random) -> Iterator[Point]:
    """The samples with one coordinate beside a number that a row's texts name."""
    texts = [text for text in (op.value, *op.partials) if text]
    named = {number for text in texts for number in template(text).payloads}
    constants = sorted(abs(x) for x in named if isinstance(x, float) and math.isfinite(x))
    for point in samples:
        for constant in constants:
            near = shifted(random.choice((-1, 1)) * constant, random.randrange(-3, 4)) + 0.0
            yield replaced(point, random.randrange(len(point)), near)


def before_the_end(op: Op, samples: Sequence[Point], random: Random) -> Iterator[Point]:
    """Points of bisections for where an answer turns from normal to subnormal, 0, infinite or nan.

    Doubles are halved as they are ordered, so that one between 1e-300 and 1e300 is near 1.
    """
    for point in samples:
        place = random.randrange(len(point))
        low, high = order(point[place]), order(random.choice(samples)[place])
        first, last = (sizes(op, replaced(point, place, nth(at))) for at in (low, high))
        while first != last and abs(high - low) > 1:
            middle = (low + high) // 2
            between = replaced(point, place, nth(middle))
            yield between
            if sizes(op, between) == first:
                low = middle
            else:
                high = middle


def replaced(point: Point, place: int, x: float) -> Point:
    """A point with another coordinate at a place."""
    return (*point[:place], x, *point[place + 1 :])


def sizes(op: Op, point: Point) -> list[int]:
    """For a row's value and its derivatives of what kind they are by size: nan, 0, subnormal and so on."""
    value, partials = computed(op, point)
    return [
        sum(abs(x) >= least for least in (0.0, TINY, SMALL)) + (abs(x) > LARGE)
        for x in (value, *partials)
    ]
