"""Rules for the error of an operation's result, once for floats, arrays and nodes of a graph.

A result's error is its operation's rounding, as its row states, and the effect of its operands' errors
(J. H. Wilkinson's running error analysis, Rounding Errors in Algebraic Processes, 1963).  Products,
quotients and powers are bounded whatever the errors are.  A smooth row passes on an error times its slope;
where the error is large, or a kink or a jump is within reach, the row is evaluated at both ends, and where
there may be a hump between.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, partial, reduce
from math import inf
from operator import add, and_, or_
from typing import Any

from exprgrad.graph.ops import BY_INFIX, BY_NAME, Op

__all__ = [
    "BENT", "FAR", "POWER", "STRETCH", "TINY", "UNIT", "ErrorArithmetic", "bound_along_operand",
    "bound_near_switch", "bound_propagated_error", "bound_rounding", "bound_smooth", "deferred_error",
    "equal_at_special", "is_near_switch", "is_phase_lost", "may_be_rounded", "minimum_rounding_error",
]  # fmt: skip

Errors = Sequence[float]
"""The error bounds of operands, in order."""
RowFunction = Callable[[list[float]], float]
SlopeAt = Callable[[int], float]
"""A local derivative, by the operand's position."""

UNIT = 2.0**-53
"""Half an ulp, relative to the least number with that ulp."""
TINY = 2.0**-1074
"""The least double above 0, the error bound of a subnormal result."""
FAR = 2.0**-20
"""The relative error from which on first order is not enough."""
BENT = 0.125
"""The relative change of a local derivative within an error from which on first order is not enough."""
STRETCH = 256.0
"""The distance, in errors, at which a smooth rule is evaluated, so that its own rounding does not count."""
BESIDE = 2.0**-10
"""An error of so large a part of a number may reach a pole at 0, as far as slopes tell."""
POWER = BY_NAME[BY_INFIX["^"].name]


class ErrorArithmetic:
    """The arithmetic that the rules need: of floats, in whose terms they stand, of arrays, or of nodes.

    ``unit``      the unit of errors
    ``asks``      whether a row is evaluated where a large error may lead; if not, its error may be any
    ``function``  a row's name → its function
    ``slopes``    a row's local derivatives, given its operands and its result
    ``number``    an operand where it is one number, else None
    ``is_zero``   whether an error is 0, for certain and everywhere
    ``choose``    one of two by a condition, where it holds and where it doesn't
    ``no``        where a condition does not hold
    ``most``      the larger of two errors; nan is the largest
    ``product``   a size times an error: 0 where the size is, even if the error is infinite
    """

    unit: float = 1.0
    asks: bool = True
    function: Callable[[str], Callable[..., float]]
    slopes: Callable[[Op, Sequence[float], float], SlopeAt]
    number: Callable[[float], float | None]
    is_zero: Callable[[float], bool]
    choose: Callable[[bool, Callable[[], float], Callable[[], float]], float]
    no: Callable[[bool], bool]
    most: Callable[[float, float], float]
    product: Callable[[float, float], float]

    def __init__(self, **rules: Any) -> None:
        vars(self).update(rules)  # no NamedTuple, which would take long to make at every start


@cache
def equal_at_special(name: str) -> list[tuple[int, int | float]] | None:
    """Return pairs of operands, or of one and a number, that must be equal at a row's kinks and jumps.

    None where the row's conditions do not show it.
    """
    from exprgrad.derive.switches import required_equalities

    many = len(BY_NAME[name].names)
    needed = required_equalities(name, (1.0,) * many)
    return None if needed is None or any(many in pair for pair in needed) else needed


# What an operation rounds itself.


def bound_rounding(unit: float, out: float, ulps: float, least: float) -> float:
    """Bound the rounding of a result, given its ulps and the least error, in a unit."""
    error = abs(out) * (2 * ulps * UNIT / unit)
    return error + least / unit if least else error


def minimum_rounding_error(op: Op, ulps: float) -> float:
    """Return the least error of a result: sums don't underflow, nor do exact operations."""
    if op.signs or not ulps:
        return op.value_abs
    return max(max(ulps, 1.0) * TINY, op.value_abs)  # half the least double would be 0


def may_be_rounded(op: Op, out: float, seen: Sequence[float]) -> bool:
    """Tell where a row's result, or a local derivative, may have been rounded.

    A 0 is exact if it comes from a 0, or if the row crosses 0 steeply.
    """
    if op.ill_conditioned == "zero":
        return out != 0
    return (out != 0) | reduce(and_, [x != 0 for x in seen])


# What the operands' errors come to.


def bound_propagated_error(
    on: ErrorArithmetic, op: Op, out: float, seen: Sequence[float], off: Errors
) -> float:
    """Bound the effect of the operands' errors on a row's result."""
    errors = [d for d in off if not on.is_zero(d)]
    if not errors:
        return 0.0
    if op.signs:
        return reduce(add, errors)
    if op.powers == (1, 1):
        return bound_product(on, seen, off)
    if op.branches:
        return bound_choice(on, seen, off)
    if op.opposite:
        return on.choose(
            is_near_switch(on, op, seen, off), deferred_error(1 / on.unit), deferred_error(0.0)
        )
    if op.variadic and op.special:
        return reduce(on.most, errors)
    if op is POWER and on.is_zero(off[1]):
        exponent = on.number(seen[1])
        if exponent is not None:
            return bound_power(on, out, seen[0], exponent, off[0])
    slope = on.slopes(op, seen, out)
    if op.powers == (1, -1):
        return bound_quotient(on, slope, out, seen, off)
    if op.variadic:
        most = reduce(
            on.most, errors
        )  # of a mean, whose weights may change, no more than the largest
        return on.choose(
            most < BENT / on.unit, partial(sum_slope_errors, on, slope, off), deferred_error(most)
        )

    def row(place: Sequence[float]) -> float:
        return on.function(op.name)(*place)

    smooth = partial(bound_smooth, on, op, row, slope, out, seen, off)
    if not op.special or op is POWER:
        return smooth()
    near = is_near_switch(on, op, seen, off)
    is_asked = on.asks or near is True  # where it isn't known where the kinks are
    ends = partial(bound_near_switch, on, row, out, seen, off) if is_asked else unbounded
    if all(special.code == "kink" for special in op.special):
        return on.choose(near, ends, smooth)
    return on.choose(near, ends, deferred_error(0.0)) + smooth()


def deferred_error(error: float) -> Callable[[], float]:
    """Wrap a known error as a function."""
    return lambda: error


unbounded = deferred_error(inf)


def bound_product(on: ErrorArithmetic, seen: Sequence[float], off: Errors) -> float:
    """Bound the effect of errors on a product of two."""
    (x, y), (dx, dy) = map(abs, seen), off
    if on.is_zero(dy):
        return on.product(y, dx)
    if on.is_zero(dx):
        return on.product(x, dy)
    return on.product(x, dy) + on.product(y + dy * on.unit, dx)


def bound_quotient(
    on: ErrorArithmetic, slope: SlopeAt, out: float, seen: Sequence[float], off: Errors
) -> float:
    """Bound the effect of errors on a quotient: anything where the divisor may be 0."""
    divisor, (dx, dy) = abs(seen[1]), off
    first_order = sum_slope_errors(on, slope, off)
    if on.is_zero(dy):
        return first_order
    room = divisor - dy * on.unit

    def beyond() -> float:
        return on.choose(room > 0, lambda: (dx + abs(out) * dy) / room, unbounded)

    far = dy > divisor * (BESIDE / on.unit)
    return on.choose(far, beyond if on.asks else unbounded, deferred_error(first_order))


def bound_choice(on: ErrorArithmetic, seen: Sequence[float], off: Errors) -> float:
    """Bound the effect of errors on a choice: its branch's, or the gap if its condition may fail."""
    (condition, x, y), (d, dx, dy) = seen, off
    error = on.choose(condition != 0, deferred_error(dx), deferred_error(dy))
    if on.is_zero(d):
        return error
    turns = (d != 0) & on.no(abs(condition) > d * on.unit)
    return on.choose(turns, lambda: abs(x - y) / on.unit + dx + dy, deferred_error(error))


def sum_slope_errors(on: ErrorArithmetic, slope: SlopeAt, off: Errors) -> float:
    """Return the effect of small errors to first order: each operand's error times its slope, summed."""
    return reduce(add, [abs(slope(at)) * d for at, d in enumerate(off) if not on.is_zero(d)])


def bound_power(on: ErrorArithmetic, out: float, x: float, exponent: float, d: float) -> float:
    """Bound the effect of a base's error on a power: by the mean value theorem if it may be flat at 0."""
    if exponent >= 1:
        return exponent * on.function(POWER.name)(abs(x) + d * on.unit, exponent - 1) * d
    may_reach_0 = d > abs(x) * (BESIDE / on.unit)
    return on.choose(may_reach_0, unbounded, lambda: abs(exponent * out / x) * d)


def bound_smooth(
    on: ErrorArithmetic,
    op: Op,
    row: RowFunction,
    slope: SlopeAt,
    out: float,
    seen: Sequence[float],
    off: Errors,
) -> float:
    """Bound the effect of errors on a smooth row, or on a local derivative of one.

    Rows are made on the scale of 1: second derivatives are taken to be as large as values.  Where
    a domain may end, or a pole may be, an error counts as a part of its number.  Of a wave the doubles that
    could be asked may all be whole periods apart.
    """
    is_wave = op.ill_conditioned == "period"
    has_ends = bool(op.poles or (op.domain and not is_wave))
    bend = None if has_ends or op.special else out
    reach = FAR if on.asks else FAR / 8
    terms = []
    for at, d in enumerate(off):
        if on.is_zero(d):
            continue
        far = d > abs(seen[at]) * (BESIDE / on.unit) if has_ends else d > reach / on.unit
        if has_ends and is_wave:
            far = (d > reach / on.unit) | far
        is_asked = on.asks and not (has_ends or is_wave)
        ends = partial(farthest_deviation, on, row, out, seen, at, d) if is_asked else unbounded
        terms.append(on.choose(far, ends, partial(bound_second_order, on, slope, at, bend, d)))
    return reduce(add, terms)


def bound_second_order(
    on: ErrorArithmetic, slope: SlopeAt, at: int, bend: float | None, d: float
) -> float:
    """Bound the effect of a small error: a slope times it, and any bend times its square."""
    steepest = abs(slope(at))
    if bend is None:
        return steepest * d
    if not on.asks:  # then it is at most an eighth of FAR
        return steepest * d + abs(bend) * (FAR / 8 * (FAR / 8) / on.unit)
    return (steepest + abs(bend) * d * on.unit) * d


# Where an error is large, or a kink or a jump is near.


def is_near_switch(on: ErrorArithmetic, op: Op, seen: Sequence[float], off: Errors) -> bool:
    """Tell where a kink or a jump may lie within the errors; elsewhere all is smooth."""
    needed = equal_at_special(op.name)
    if needed is None:
        return True
    found = []
    for at, other in needed:
        beside, d = (other, 0.0) if isinstance(other, float) else (seen[other], off[other])
        reach = off[at] if on.is_zero(d) else d if on.is_zero(off[at]) else off[at] + d
        if not on.is_zero(reach):
            is_out = abs(seen[at] - beside) > (reach * on.unit)
            found.append((reach != 0) & on.no(is_out))
    return reduce(or_, found) if found else False


def is_phase_lost(op: Op, d: float) -> bool:
    """Tell where a wave may be anything: the doubles that could be tried may all be whole periods apart."""
    return (d >= FAR) & (op.ill_conditioned == "period")


def farthest_deviation(
    on: ErrorArithmetic, row: RowFunction, out: float, seen: Sequence[float], at: int, d: float
) -> float:
    """Bound a function's deviation where an argument has a large error: at both ends, and between.

    Rows are made on the scale of 1: what turns back, as a bell does, shows it at 0; its slope, which is 0
    there, shows it at 1.  Waves may be back at both ends.
    """
    x, reach = seen[at], d * on.unit
    places = [x - reach, x + reach]
    if on.asks:
        turns = [
            on.choose(abs(x - turn) < reach, deferred_error(turn), deferred_error(x))
            for turn in (0.0, 1.0)
        ]
        places += [x + reach / 3, *turns]
    apart = [abs(row([*seen[:at], place, *seen[at + 1 :]]) - out) / on.unit for place in places]
    return reduce(on.most, apart)


def bound_near_switch(
    on: ErrorArithmetic, row: RowFunction, out: float, seen: Sequence[float], off: Errors
) -> float:
    """Bound a function's deviation beside kinks and jumps.

    ``off`` are the errors of the first arguments.  Each is moved alone, and twice as far, so that of
    two that are close each comes past the other; and beyond the next double, for the true number may be on
    the other side of a jump.
    """
    apart = []
    for at, d in enumerate(off):
        if not on.is_zero(d):
            beyond = 2 * d + (abs(seen[at]) * (2 * UNIT) + TINY) / on.unit
            far = on.choose(d != 0, deferred_error(beyond), deferred_error(0.0))
            apart.append(farthest_deviation(on, row, out, seen, at, far))
    return reduce(on.most, apart) if apart else 0.0


def bound_along_operand(
    on: ErrorArithmetic, rule: RowFunction, here: float, seen: Sequence[float], at: int, d: float
) -> float:
    """Bound a smooth function's deviation where one argument has an error, without its slope."""
    x, size = seen[at], abs(here)
    ahead = abs(rule([*seen[:at], x + STRETCH * d, *seen[at + 1 :]]) - here)
    is_far = (d >= FAR) | ((d >= FAR * abs(x)) & (d != 0))
    return on.choose(
        is_far | on.no(ahead <= BENT * size),
        lambda: farthest_deviation(on, rule, here, seen, at, d) + size,
        lambda: ahead / STRETCH,
    )
