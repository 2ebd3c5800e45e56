"""Intervals: between which bounds the nodes of a graph lie while its inputs run through intervals.

An enclosure is a ball (``run/balls``), or, where no ball is finite, a lower and an upper bound, either of
which may be infinite: so log over [0, 1] is at most 0, and 1/x over [0, 1] at least 1.  Over an interval
that leaves the domain it has the values inside of that, and says that some are missing.
R. E. Moore, R. B. Kearfott, M. J. Cloud, Introduction to Interval Analysis (2009), chapters 5 and 6.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from itertools import pairwise, product
from typing import NamedTuple

from exprgrad.derive.search import OUT
from exprgrad.graph.graph import Algebra, Graph, interpret
from exprgrad.graph.ops import BY_NAME, COMPARISONS, Op
from exprgrad.run.balls.balls import (
    Ball,
    Decimals,
    apply_to_balls,
    by_definition,
    decide_truth,
    exact_ball,
    formula_ball,
    import_flint,
    undefined_ball,
    whole_line,
)
from exprgrad.run.numbers.sweeps import functions

__all__ = [
    "EDGES", "Enclosure", "Enclosures", "exact_enclosure", "hull", "interval_between", "negate_enclosure",
    "reach_of",
]  # fmt: skip

WIDE = 30
"""To how many bits a ball may be known that bounds do not make narrower."""
CALM = 2.0**40
"""Up to where the rows that rise do not overflow."""
LARGEST_POWER = 2**20
"""Up to which whole exponents bounds are raised."""
EDGES = (-1.0, 0.0, 0.5, 1.0)
"""Where domains of monotone rows end."""


class Enclosure(NamedTuple):
    """Where a node's values lie.

    ``low``, ``high``  exact balls, or infinities; nan where it has no value at all
    ``ball``   a ball around all of it; the whole line if that is not finite
    ``total``  whether it has a value, and a finite one, for every point of the inputs' intervals
    """

    low: Ball
    high: Ball
    ball: Ball
    total: bool = True

    @property
    def is_empty(self) -> bool:
        """Whether there is no value."""
        return bool(self.low.is_nan())

    @property
    def is_finite(self) -> bool:
        """Whether both bounds are finite, and there is a value everywhere."""
        return self.total and bool(self.ball.is_finite())

    @property
    def is_zero(self) -> bool:
        """Tells whether it is exactly 0 everywhere."""
        return self.total and bool(self.ball.is_zero())

    @property
    def has_zero(self) -> bool:
        """Whether 0 may be one of the values."""
        return not (self.is_empty or self.low > 0 or self.high < 0)

    def has_sign(self, sign: float) -> bool:
        """Whether a value may be above 0 (``sign`` 1), or below (-1)."""
        return bool(self.high > 0 if sign > 0 else self.low < 0)


def interval_between(low: Ball, high: Ball, *, total: bool = True) -> Enclosure:
    """All that lies between two bounds; one that is not known is infinite."""
    low = -import_flint().arb.pos_inf() if low.is_nan() else low
    high = import_flint().arb.pos_inf() if high.is_nan() else high
    around = low.union(high) if low.is_finite() and high.is_finite() else whole_line()
    return Enclosure(low, high, around, total)


def exact_enclosure(number: Ball) -> Enclosure:
    """An enclosure of a number that is known as a ball."""
    if number.is_nan():
        return empty_enclosure()
    if not number.is_finite():
        if number.is_exact():
            return Enclosure(number, number, whole_line(), total=False)
        return unbounded_enclosure()
    return Enclosure(number.lower(), number.upper(), number)


def hull(x: Enclosure, y: Enclosure, *, total: bool = True) -> Enclosure:
    """The least interval that holds two."""
    return interval_between(min(x.low, y.low), max(x.high, y.high), total=total)


def empty_enclosure() -> Enclosure:
    """The enclosure of no value."""
    return Enclosure(undefined_ball(), undefined_ball(), undefined_ball(), total=False)


def unbounded_enclosure() -> Enclosure:
    """Nothing is known."""
    infinity = import_flint().arb.pos_inf()
    return Enclosure(-infinity, infinity, whole_line(), total=False)


def reach_of(graph: Graph, given: Mapping[str, float]) -> list[Enclosure]:
    """Between which bounds every node lies, some inputs being given, and the others any numbers."""
    algebra, infinity = Enclosures(), import_flint().arb.pos_inf()
    inputs = dict.fromkeys(graph.inputs, interval_between(-infinity, infinity))
    for name in graph.inputs.keys() & given.keys():
        inputs[name] = exact_enclosure(algebra.decimals.read(None, given[name]))
    return algebra.evaluate(graph, inputs)


class Enclosures:
    """The algebra: decimals are those typed; ``chosen`` has, by node, values that are taken for granted.

    ``undecided`` are the nodes that take a few whole numbers, such as a comparison, and could take more
    than one; each with what it could take.
    """

    def __init__(self) -> None:
        self.decimals = Decimals()
        self.algebra: Algebra[Enclosure] = Algebra(self.constant, self.apply)
        self.chosen: dict[int, int] = {}
        self.undecided: dict[int, range] = {}

    def evaluate(self, graph: Graph, inputs: Mapping[str, Enclosure]) -> list[Enclosure]:
        """Every node."""
        self.undecided = {}
        return interpret(graph, self.algebra, inputs)

    def constant(self, graph: Graph, node: int) -> Enclosure:
        """A literal, or a constant with a name."""
        return exact_enclosure(self.decimals.constant(graph, node))

    def apply(self, graph: Graph, node: int, operands: Sequence[Enclosure]) -> Enclosure:
        """One operation."""
        made = self.made(graph, node, operands)
        if not (takes_whole_numbers(graph.kinds[node]) and made.ball.is_finite()):
            return made
        if node in self.chosen:
            return exact_enclosure(exact_ball(self.chosen[node]))._replace(total=made.total)
        low, high = made.low.ceil(), made.high.floor()
        if low < high:
            self.undecided[node] = range(int(low.unique_fmpz()), int(high.unique_fmpz()) + 1)
        return made

    def made(self, graph: Graph, node: int, operands: Sequence[Enclosure]) -> Enclosure:
        """One operation, whatever is chosen."""
        kind = graph.kinds[node]
        op = BY_NAME[kind]
        total = all(x.total for x in operands)
        if op.branches:
            return choose_enclosure(*operands)
        if kind in COMPARISONS:
            return comparison_of(op, *operands) if total else either_way()
        if any(x.is_empty for x in operands):
            return empty_enclosure()
        balls = [x.ball for x in operands]
        made = self.decimals.apply(graph, node, balls)
        if made.is_finite():
            for x in operands:
                if made is x.ball:
                    return x._replace(total=total)
            is_wide = made.rel_accuracy_bits() < WIDE
            found = (sharpen_enclosure(op, operands) if is_wide else None) or exact_enclosure(made)
            found = found._replace(total=True)
        elif all(x.is_finite() for x in balls) and made.is_nan():
            return empty_enclosure()
        else:
            found = (
                apply_to_enclosures(op, operands)
                or defined_enclosure(op, operands)
                or unbounded_enclosure()
            )
        if op.not_negative and found.low < 0:
            found = interval_between(exact_ball(0), found.high, total=found.total)
        return found._replace(total=found.total and total)


@cache
def takes_whole_numbers(kind: str) -> bool:
    """Whether an operation is flat except for steps, and takes whole numbers alone: at a step, too."""
    op = BY_NAME[kind]
    steps = (functions[kind](*[x] * len(op.names)) for x in (0.0, 0.5))
    return op.gate == "blocker" and all(x.is_integer() for x in steps)


def choose_enclosure(condition: Enclosure, x: Enclosure, y: Enclosure) -> Enclosure:
    """One of two, or both where that is not decided."""
    if condition.total and (condition.ball.is_zero() or not condition.has_zero):
        return y if condition.ball.is_zero() else x
    if x.is_empty or y.is_empty:
        return (y if x.is_empty else x)._replace(total=False)
    return hull(x, y, total=x.total and y.total)


def comparison_of(op: Op, x: Enclosure, y: Enclosure) -> Enclosure:
    """A comparison, by balls, which know what is one number; or by bounds, where these are infinite."""
    made = apply_to_balls(op.name, [x.ball, y.ball])
    holds, fails = op.exact, BY_NAME[op.opposite].exact
    assert holds is not None and fails is not None
    if x.ball is not y.ball and not (made.is_zero() or made == 1):
        pairs = [*product((x.low, x.high), (y.low, y.high))]
        apart = x.high < y.low or y.high < x.low
        if apart and all(holds(*pair) for pair in pairs):
            made = exact_ball(1)
        elif apart and all(fails(*pair) for pair in pairs):
            made = exact_ball(0)
    return exact_enclosure(made) if made.is_exact() else either_way()


def either_way() -> Enclosure:
    """0 or 1: a comparison that is not decided."""
    return interval_between(exact_ball(0), exact_ball(1))


# Where balls are not finite, or where bounds are sharper.


def sharpen_enclosure(op: Op, operands: Sequence[Enclosure]) -> Enclosure | None:
    """A narrower enclosure than the ball of an operation; None where that is as narrow."""
    if op.signs or op.powers or op.monotone or op.special:
        return apply_to_enclosures(op, operands) or defined_enclosure(op, operands)
    if op.ill_conditioned != "period" or operands[0].ball.is_exact():
        return None
    (x,), (name,) = operands, op.names
    # a wave, which has no turning point where its slope is not 0
    if not bool(
        formula_ball(op.display_partial(0), {name: x.ball, OUT: apply_to_balls(op.name, [x.ball])})
        != 0
    ):
        return None
    first, last = (apply_to_balls(op.name, [end]) for end in (x.low, x.high))
    low, high = (first, last) if first.mid() < last.mid() else (last, first)
    return interval_between(low.lower(), high.upper())


def apply_to_enclosures(op: Op, operands: Sequence[Enclosure]) -> Enclosure | None:
    """An operation on bounds; None where its result is unknown."""
    if op.signs:
        pairs = zip(op.signs, operands, strict=True)
        terms = [x if sign > 0 else negate_enclosure(x) for sign, x in pairs]
        return interval_between(
            sum(x.low for x in terms).lower(), sum(x.high for x in terms).upper()
        )
    if op.powers:
        return multiply_enclosures(op.powers, operands)
    if op.gate == "power":
        return power_enclosure(*operands)
    if op.monotone:
        return monotone_image(op, *operands)
    if op.winner:
        best = max if op.winner == "ge" else min
        return interval_between(best(x.low for x in operands), best(x.high for x in operands))
    if op.square and op.square[1:] == (1, -1):  # its square and another one add up to 1
        return interval_between(exact_ball(-1), exact_ball(1))
    return None


def defined_enclosure(op: Op, operands: Sequence[Enclosure]) -> Enclosure | None:
    """The enclosure of an operation by its definition; None without one."""
    if not op.definition:
        return None
    found: Enclosure = by_definition(op, Enclosures().evaluate)(*operands)
    return found._replace(total=found.total and not op.domain)


def negate_enclosure(x: Enclosure) -> Enclosure:
    """The negative."""
    return interval_between(-x.high, -x.low, total=x.total)


def multiply_enclosures(powers: Sequence[int], operands: Sequence[Enclosure]) -> Enclosure:
    """A product, or a quotient; what is divided by itself is 1.

    0 times infinity is 0, for a bound is only approached.
    """
    (x, y), total = operands, True
    if x is y:
        if sum(powers):
            return integer_power(x, 2)
        return exact_enclosure(exact_ball(1))._replace(total=not x.has_zero)
    if powers[1] < 0:
        if y.low.is_zero() and y.high.is_zero():
            return empty_enclosure()
        total = not y.has_zero
        y = reciprocal_enclosure(y)
    ends = [
        exact_ball(0) if one.is_zero() or other.is_zero() else one * other
        for one, other in product((x.low, x.high), (y.low, y.high))
    ]
    low, high = min(end.lower() for end in ends), max(end.upper() for end in ends)
    return interval_between(low, high, total=total)


def reciprocal_enclosure(x: Enclosure) -> Enclosure:
    """1/x, where x is not 0."""
    infinity = import_flint().arb.pos_inf()
    if x.low < 0 and x.high > 0:
        return unbounded_enclosure()
    low = -infinity if x.high.is_zero() else (1 / x.high).lower()
    high = infinity if x.low.is_zero() else (1 / x.low).upper()
    return interval_between(low, high)


def power_enclosure(x: Enclosure, y: Enclosure) -> Enclosure | None:
    """x to a power that is one number, as far as that is known."""
    if y.ball.is_exact() and y.ball.is_integer():
        return whole_power(x, int(y.ball.unique_fmpz())) if abs(y.ball) < LARGEST_POWER else None
    if not y.ball.is_finite() or y.ball.contains_integer():
        return None
    if x.high < 0:
        return empty_enclosure()
    ends = exact_ball(0) if x.low < 0 else x.low, x.high
    first, last = (
        apply_to_balls("pow", [end, y.ball]) for end in (ends if y.ball > 0 else ends[::-1])
    )
    total = bool(x.low > 0) or bool(x.low.is_zero() and y.ball > 0)
    return interval_between(first.lower(), last.upper(), total=total)


def whole_power(x: Enclosure, whole: int) -> Enclosure | None:
    """x to a power that is a whole number."""
    if whole < 0:
        if x.low.is_zero() and x.high.is_zero():
            return None
        return reciprocal_enclosure(integer_power(x, -whole))._replace(total=not x.has_zero)
    return integer_power(x, whole)


def integer_power(x: Enclosure, whole: int) -> Enclosure:
    """x to a power that is a whole number from 0 up."""
    if whole == 0:
        return exact_enclosure(exact_ball(1))
    low, high = (end**whole if end.is_finite() else end for end in (x.low, x.high))
    if whole % 2 == 0:
        if x.has_zero:
            return interval_between(exact_ball(0), max(abs(low).upper(), abs(high).upper()))
        if x.high < 0:
            low, high = abs(high), abs(low)
    return interval_between(low.lower(), high.upper())


def monotone_image(op: Op, x: Enclosure) -> Enclosure:
    """A monotone row, of what of the operand is inside of its domain."""
    low, high, inside = clip_to_domain(op, x.low, x.high)
    if low.is_nan():
        return empty_enclosure()
    first, last = (
        apply_to_balls(op.name, [end]) for end in ((low, high) if op.monotone > 0 else (high, low))
    )
    overflows = op.monotone > 0 and not first.is_finite()
    if overflows and low > CALM:  # it is no less than here
        first = apply_to_balls(op.name, [exact_ball(CALM)])
    return interval_between(first.lower(), last.upper(), total=inside)


def clip_to_domain(op: Op, low: Ball, high: Ball) -> tuple[Ball, Ball, bool]:
    """The part of an interval inside of a row's domain, nan if there is none; and whether that is all."""
    if not op.domain:
        return low, high, True
    edges = [low, *[exact_ball(edge) for edge in EDGES if low < edge and high > edge], high]
    (name,) = op.names
    inside = []
    for start, stop in pairwise(edges):
        middle = (start + stop) / 2
        if not middle.is_finite():
            middle = (
                start + 1 if start.is_finite() else stop - 1 if stop.is_finite() else exact_ball(0)
            )
        if decide_truth(formula_ball(op.domain, {name: middle.mid()})):
            inside.append((start, stop))
    if not inside:
        edge = next(
            (end for end in (low, high) if decide_truth(formula_ball(op.domain, {name: end}))),
            undefined_ball(),
        )
        return edge, edge, False
    start, stop = inside[0][0], inside[-1][1]
    whole = all(decide_truth(formula_ball(op.domain, {name: end})) for end in (start, stop))
    return start, stop, whole and start is low and stop is high
