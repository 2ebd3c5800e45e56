"""Enclosures: between which bounds the nodes of a graph lie while its inputs run through intervals.

And what they say of a system of equations: of its residuals, their slopes, and where it jumps.

An enclosure is a ball (``run/balls``), or, where no ball is finite, a lower and an upper bound, either of
which may be infinite: so log over [0, 1] is at most 0, and 1/x over [0, 1] at least 1.  Over an interval
that leaves the domain it has the values inside of that, and says that some are missing.
R. E. Moore, R. B. Kearfott, M. J. Cloud, Introduction to Interval Analysis (2009), chapters 5 and 6.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache, partial, reduce
from itertools import pairwise, product
from typing import NamedTuple

from exprgrad.derive.build import Builder
from exprgrad.derive.rules import shown, template
from exprgrad.derive.search import OUT
from exprgrad.derive.sweeps.gradient import jacobian
from exprgrad.graph.graph import CONST, Algebra, Graph, dependencies, interpret
from exprgrad.graph.ops import BY_NAME, COMPARISONS, Op
from exprgrad.run.balls.balls import (
    Ball,
    Decimals,
    apply,
    ball,
    either,
    flint,
    formula,
    specials_of,
    truth,
    undefined,
    unknown,
)
from exprgrad.run.numbers.sweeps import functions

__all__ = [
    "PRECISION", "Box", "Enclosure", "Look", "Sight", "System", "Vector", "ball_about", "exactly", "hull",
    "opposite", "spanning",
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
        """Whether it is exactly 0 everywhere."""
        return self.total and bool(self.ball.is_zero())

    @property
    def has_zero(self) -> bool:
        """Whether 0 may be one of the values."""
        return not (self.is_empty or self.low > 0 or self.high < 0)


def spanning(low: Ball, high: Ball, *, total: bool = True) -> Enclosure:
    """All that lies between two bounds; one that is not known is infinite."""
    low = -flint().arb.pos_inf() if low.is_nan() else low
    high = flint().arb.pos_inf() if high.is_nan() else high
    around = low.union(high) if low.is_finite() and high.is_finite() else unknown()
    return Enclosure(low, high, around, total)


def exactly(number: Ball) -> Enclosure:
    """What is known as a ball."""
    if number.is_nan():
        return nowhere()
    if not number.is_finite():
        if number.is_exact():
            return Enclosure(number, number, unknown(), total=False)
        return everywhere()
    return Enclosure(number.lower(), number.upper(), number)


def hull(x: Enclosure, y: Enclosure, *, total: bool = True) -> Enclosure:
    """The least interval that holds two."""
    return spanning(min(x.low, y.low), max(x.high, y.high), total=total)


def nowhere() -> Enclosure:
    """What has no value."""
    return Enclosure(undefined(), undefined(), undefined(), total=False)


def everywhere() -> Enclosure:
    """Nothing is known."""
    infinity = flint().arb.pos_inf()
    return Enclosure(-infinity, infinity, unknown(), total=False)


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
        return exactly(self.decimals.constant(graph, node))

    def apply(self, graph: Graph, node: int, operands: Sequence[Enclosure]) -> Enclosure:
        """One operation."""
        made = self.made(graph, node, operands)
        if not (is_whole(graph.kinds[node]) and made.ball.is_finite()):
            return made
        if node in self.chosen:
            return exactly(ball(self.chosen[node]))._replace(total=made.total)
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
            return choice(*operands)
        if kind in COMPARISONS:
            return comparison_of(op, *operands) if total else exactly(either())
        if any(x.is_empty for x in operands):
            return nowhere()
        balls = [x.ball for x in operands]
        made = self.decimals.apply(graph, node, balls)
        if made.is_finite():
            for x in operands:
                if made is x.ball:
                    return x._replace(total=total)
            is_wide = made.rel_accuracy_bits() < WIDE
            sharper = sharpened(op, operands) if is_wide else None
            found = exactly(made) if sharper is None else sharper
            return found._replace(total=total)
        if all(x.is_finite() for x in balls) and made.is_nan():
            return nowhere()
        found = of_bounds(op, operands) or everywhere()
        return found._replace(total=found.total and total)


@cache
def is_whole(kind: str) -> bool:
    """Whether an operation is flat but for steps, and takes whole numbers alone: at a step, too."""
    op = BY_NAME[kind]
    steps = (functions[kind](*[x] * len(op.names)) for x in (0.0, 0.5))
    return op.gate == "blocker" and all(x.is_integer() for x in steps)


def choice(condition: Enclosure, x: Enclosure, y: Enclosure) -> Enclosure:
    """One of two, or both where that is not decided."""
    if condition.total and (condition.ball.is_zero() or not condition.has_zero):
        return y if condition.ball.is_zero() else x
    if x.is_empty or y.is_empty:
        return (y if x.is_empty else x)._replace(total=False)
    return hull(x, y, total=x.total and y.total)


def comparison_of(op: Op, x: Enclosure, y: Enclosure) -> Enclosure:
    """A comparison, by balls, which know what is one number; or by bounds, where these are infinite."""
    made = apply(op.name, [x.ball, y.ball])
    holds, fails = op.exact, BY_NAME[op.opposite].exact
    assert holds is not None and fails is not None
    if x.ball is not y.ball and not (made.is_zero() or made == 1):
        pairs = [*product((x.low, x.high), (y.low, y.high))]
        apart = x.high < y.low or y.high < x.low
        if apart and all(holds(*pair) for pair in pairs):
            made = ball(1)
        elif apart and all(fails(*pair) for pair in pairs):
            made = ball(0)
    return exactly(made)


# Where balls are not finite, or where bounds are sharper.


def sharpened(op: Op, operands: Sequence[Enclosure]) -> Enclosure | None:
    """A narrower enclosure than the ball of an operation; None where that is as narrow."""
    if op.signs or op.powers or op.monotone or op.gate == "power":
        return of_bounds(op, operands)
    if op.magnifies != "period" or operands[0].ball.is_exact():
        return None
    (x,), (name,) = operands, op.names
    # a wave, which has no turning point where its slope is not 0
    if not bool(formula(op.shown_partial(0), {name: x.ball, OUT: apply(op.name, [x.ball])}) != 0):
        return None
    first, last = (apply(op.name, [end]) for end in (x.low, x.high))
    low, high = (first, last) if first.mid() < last.mid() else (last, first)
    return spanning(low.lower(), high.upper())


def of_bounds(op: Op, operands: Sequence[Enclosure]) -> Enclosure | None:
    """What an operation makes of bounds; None where nobody knows."""
    if op.signs:
        pairs = zip(op.signs, operands, strict=True)
        terms = [x if sign > 0 else opposite(x) for sign, x in pairs]
        return spanning(sum(x.low for x in terms).lower(), sum(x.high for x in terms).upper())
    if op.powers:
        return product_of(op.powers, operands)
    if op.gate == "power":
        return whole_power(*operands)
    if op.monotone:
        return monotone_image(op, *operands)
    if op.winner:
        return winner(op, operands)
    if op.square and op.square[1:] == (1, -1):  # its square and another one add up to 1
        return spanning(ball(-1), ball(1))
    if op.gate == "sign router":
        (x,) = operands
        if not x.has_zero:
            return x if x.low > 0 else opposite(x)
        return spanning(ball(0), max(-x.low, x.high))
    return None


def opposite(x: Enclosure) -> Enclosure:
    """The negative."""
    return spanning(-x.high, -x.low, total=x.total)


def product_of(powers: Sequence[int], operands: Sequence[Enclosure]) -> Enclosure:
    """A product, or a quotient; what is divided by itself is 1."""
    made, total = None, True
    if sum(powers) == 0 and operands[0] is operands[-1]:
        return exactly(ball(1))._replace(total=not operands[0].has_zero)
    for power_, x in zip(powers, operands, strict=True):
        if power_ < 0:
            if x.low.is_zero() and x.high.is_zero():
                return nowhere()
            total = total and not x.has_zero
            x = reciprocal(x)
        made = x if made is None else interval_product(made, x)
    assert made is not None
    return made._replace(total=total)


def reciprocal(x: Enclosure) -> Enclosure:
    """1/x, where x is not 0."""
    infinity = flint().arb.pos_inf()
    if x.low < 0 and x.high > 0:
        return everywhere()
    low = -infinity if x.high.is_zero() else (1 / x.high).lower()
    high = infinity if x.low.is_zero() else (1 / x.low).upper()
    return spanning(low, high)


def interval_product(x: Enclosure, y: Enclosure) -> Enclosure:
    """x*y: 0 times infinity is 0, for a bound is only approached."""
    ends = [
        ball(0) if one.is_zero() or other.is_zero() else one * other
        for one, other in product((x.low, x.high), (y.low, y.high))
    ]
    return spanning(min(end.lower() for end in ends), max(end.upper() for end in ends))


def whole_power(x: Enclosure, y: Enclosure) -> Enclosure | None:
    """x to a power that is a whole number."""
    if not (y.ball.is_exact() and y.ball.is_integer() and abs(y.ball) < LARGEST_POWER):
        return None
    whole = int(y.ball.unique_fmpz())
    if whole < 0:
        if x.low.is_zero() and x.high.is_zero():
            return None
        return reciprocal(raised(x, -whole))._replace(total=not x.has_zero)
    return raised(x, whole)


def raised(x: Enclosure, whole: int) -> Enclosure:
    """x to a power that is a whole number from 0 up."""
    if whole == 0:
        return exactly(ball(1))
    low, high = (end**whole if end.is_finite() else end for end in (x.low, x.high))
    if whole % 2 == 0:
        if x.has_zero:
            return spanning(ball(0), max(abs(low).upper(), abs(high).upper()))
        if x.high < 0:
            low, high = abs(high), abs(low)
    return spanning(low.lower(), high.upper())


def monotone_image(op: Op, x: Enclosure) -> Enclosure:
    """A monotone row, of what of the operand is inside of its domain."""
    low, high, inside = clipped(op, x.low, x.high)
    if low.is_nan():
        return nowhere()
    first, last = (
        apply(op.name, [end]) for end in ((low, high) if op.monotone > 0 else (high, low))
    )
    overflows = op.monotone > 0 and not first.is_finite()
    if overflows and low > CALM:  # it is no less than here
        first = apply(op.name, [ball(CALM)])
    return spanning(first.lower(), last.upper(), total=inside)


def clipped(op: Op, low: Ball, high: Ball) -> tuple[Ball, Ball, bool]:
    """The part of an interval inside of a row's domain, nan if there is none; and whether that is all."""
    if not op.domain:
        return low, high, True
    edges = [low, *[ball(edge) for edge in EDGES if low < edge and high > edge], high]
    (name,) = op.names
    inside = []
    for start, stop in pairwise(edges):
        middle = (start + stop) / 2
        if not middle.is_finite():
            middle = start + 1 if start.is_finite() else stop - 1 if stop.is_finite() else ball(0)
        if truth(formula(op.domain, {name: middle.mid()})):
            inside.append((start, stop))
    if not inside:
        edge = next(
            (end for end in (low, high) if truth(formula(op.domain, {name: end}))), undefined()
        )
        return edge, edge, False
    start, stop = inside[0][0], inside[-1][1]
    whole = all(truth(formula(op.domain, {name: end})) for end in (start, stop))
    return start, stop, whole and start is low and stop is high


def winner(op: Op, operands: Sequence[Enclosure]) -> Enclosure:
    """The greatest operand, or the least."""
    best = max if op.winner == "ge" else min
    return spanning(best(x.low for x in operands), best(x.high for x in operands))


# A system of equations.

Box = list[Enclosure]
"""An interval for each unknown."""
Vector = list[Ball]
"""An exact number for each unknown."""
PRECISION = 256
"""The precision that roots are looked for in, in bits."""
MOST_CASES = 32
"""How many choices of undecided steps and comparisons are tried over one box."""
MOST_CHOICES = 8
"""Over how many whole numbers one step is taken apart."""


class System(NamedTuple):
    """What is 0, of which unknowns.

    ``graph``     over numbers
    ``outputs``   the nodes that are 0
    ``unknowns``  inputs of the graph, in order
    ``values``    by other input: its double, and its text where that is not its shortest one
    """

    graph: Graph
    outputs: tuple[int, ...]
    unknowns: tuple[str, ...]
    values: Mapping[str, tuple[float, str | None]]


# Residuals without denominators.

Fraction = tuple[int, int | None]
"""The nodes of a numerator and a denominator; None is 1."""


def numerator(builder: Builder, graph: Graph, images: Sequence[int], output: int) -> int | None:
    """The numerator of an output that is a quotient, or is made of some; None if it is not.

    Where the output is defined no denominator is 0, so there it is 0 where its numerator is, which has no
    poles where the output has some.
    """
    wanted = dependencies(graph, output)
    fractions: list[Fraction] = []
    for node, image in enumerate(images):
        if wanted[node]:
            parts = [fractions[operand] for operand in graph.operands[node]]
            fractions.append(over_one_line(builder, graph, node, parts, image))
        else:
            fractions.append((image, None))
    above, below = fractions[output]
    return None if below is None else above


def over_one_line(
    builder: Builder, graph: Graph, node: int, parts: Sequence[Fraction], image: int
) -> Fraction:
    """A node of a graph as a fraction, of those of its operands; else it is its ``image``."""
    op = BY_NAME.get(graph.kinds[node])
    if op is None:
        return image, None
    whole = all(below is None for _, below in parts)
    by_constant = graph.kinds[graph.operands[node][-1]] == CONST
    if op.signs and not whole:
        return summed(builder, op.signs, parts)
    if op.powers and not (whole and by_constant):
        return multiplied(builder, op.powers, parts)
    if op.poles and op.definition and whole:
        definition = template(op.definition)
        inner: list[Fraction] = []
        given = dict(zip(op.formula_names, parts, strict=True))
        made = builder.include(definition, {name: given[name][0] for name in definition.inputs})
        for at, each in enumerate(made):
            below = [inner[operand] for operand in definition.operands[at]]
            inner.append(over_one_line(builder, definition, at, below, each))
        return inner[definition.output]
    if op.quotient and whole:
        upper, lower = op.quotient
        return builder.apply(upper, parts[0][0]), builder.apply(lower, parts[0][0])
    return image, None


def node_product(builder: Builder, *factors: int | None) -> int | None:
    """A product; None is 1."""
    nodes = [factor for factor in factors if factor is not None]
    return reduce(partial(builder.apply, "mul"), nodes) if nodes else None


def summed(builder: Builder, signs: Sequence[int], terms: Sequence[Fraction]) -> Fraction:
    """A sum of fractions over one line."""
    first, below = terms[0]
    above = builder.apply("neg", first) if signs[0] < 0 else first
    for sign, (over, under) in zip(signs[1:], terms[1:], strict=True):
        left = above if under is None else builder.apply("mul", above, under)
        right = over if below is None else builder.apply("mul", over, below)
        above = builder.apply("add" if sign > 0 else "sub", left, right)
        below = node_product(builder, below, under)
    return above, below


def multiplied(builder: Builder, powers: Sequence[int], factors: Sequence[Fraction]) -> Fraction:
    """A product or a quotient of fractions over one line."""
    turned = [
        fraction if power > 0 else fraction[::-1]
        for power, fraction in zip(powers, factors, strict=True)
    ]
    above, below = (node_product(builder, *row) for row in zip(*turned, strict=True))
    return builder.constant(1.0) if above is None else above, below


# What is seen of a system.


class Look(NamedTuple):
    """What is known over a box.

    ``residuals``  each equation's values
    ``slopes``     their derivatives, a row for each equation; 0 where one doesn't depend on an unknown
    ``is_gone``    whether some residual cannot be 0 anywhere in it
    ``above``      the values of numerators, each with its derivatives
    """

    residuals: list[Enclosure]
    slopes: list[list[Enclosure]]
    is_gone: bool
    above: list[tuple[Enclosure, list[Enclosure]]]

    @property
    def is_finite(self) -> bool:
        """Whether residuals and slopes are."""
        return all(x.is_finite for row in (self.residuals, *self.slopes) for x in row)


class Sight:
    """A system as it is seen in ``PRECISION``, which is to be the working one."""

    def __init__(self, system: System) -> None:
        self.system = system
        self.algebra = Enclosures()
        self.looks = 0
        self.work = 0
        graph, unknowns = system.graph, system.unknowns
        self.given = {
            name: exactly(self.algebra.decimals.read(text, value))
            for name, (value, text) in system.values.items()
        }
        builder = Builder(typed=True)
        images = builder.include(graph)
        found = [images[node] for node in system.outputs]
        above = [numerator(builder, graph, images, node) for node in system.outputs]
        self.numerators = [node for node in above if node is not None]
        outputs = [*found, *self.numerators]
        self.program, self.entries = jacobian(builder.graph, outputs, unknowns, shown)
        moved = [graph.inputs[name] for name in unknowns]
        self.jumps = specials_of(graph, moved, "jump")
        self.kinks = specials_of(graph, moved, "kink")

    def inputs(self, box: Box) -> dict[str, Enclosure]:
        """Every input's interval."""
        return {**self.given, **dict(zip(self.system.unknowns, box, strict=True))}

    def residuals(self, box: Box) -> list[Enclosure]:
        """The residuals over a box."""
        self.looks += 1
        self.work += len(self.system.graph)
        values = self.algebra.evaluate(self.system.graph, self.inputs(box))
        return [values[node] for node in self.system.outputs]

    def look(self, box: Box) -> Look:
        """Residuals and slopes over a box."""
        self.looks += 1
        self.work += len(self.program.graph)
        inputs, count = self.inputs(box), len(self.system.outputs)
        values = self.algebra.evaluate(self.program.graph, inputs)
        outputs = [values[node] for node in self.program.outputs]
        zero = exactly(flint().arb(0))
        slopes = [
            [
                outputs[self.entries[row, column]] if (row, column) in self.entries else zero
                for column in range(len(box))
            ]
            for row in range(count + len(self.numerators))
        ]
        gone = self.is_gone(values)
        if not gone and self.algebra.undecided:
            gone = self.gone_in_all_cases(inputs)
        above = [*zip(outputs[count:], slopes[count:], strict=False)]
        return Look(outputs[:count], slopes[:count], gone, above)

    def is_gone(self, values: Sequence[Enclosure]) -> bool:
        """Whether some residual, or its numerator, is not 0 anywhere."""
        tested = self.program.outputs[: len(self.system.outputs) + len(self.numerators)]
        return any(not values[node].has_zero for node in tested)

    def gone_in_all_cases(self, inputs: Mapping[str, Enclosure]) -> bool:
        """The same, for each choice of what steps and comparisons come to where they are undecided."""
        todo: list[dict[int, int]] = [{}]
        for _ in range(MOST_CASES):
            if not todo:
                return True
            self.algebra.chosen = chosen = todo.pop()
            self.work += len(self.program.graph)
            values = self.algebra.evaluate(self.program.graph, inputs)
            self.algebra.chosen = {}
            if self.is_gone(values):
                continue
            node, whole = next(iter(self.algebra.undecided.items()), (0, range(0)))
            if not 0 < whole.stop - whole.start <= MOST_CHOICES:
                return False
            todo += [{**chosen, node: number} for number in whole]
        return False

    def is_smooth(self, box: Box) -> bool:
        """Whether no operation jumps in a box, nor has a kink all over it, where rules are conventions."""
        if not (self.jumps or self.kinks):
            return True
        graph = self.system.graph
        values = self.algebra.evaluate(graph, self.inputs(box))
        for kind, operands in zip(graph.kinds, graph.operands, strict=True):
            if kind in COMPARISONS and not all(values[operand].total for operand in operands):
                return False
        balls = [value.ball for value in values]
        return all(jump(balls) is False for jump in self.jumps) and not any(
            kink(balls) for kink in self.kinks
        )

    def at(self, point: Vector) -> tuple[Vector, list[Vector]] | None:
        """Residuals and slopes at a point, as numbers; None where some are not finite."""
        look = self.look([exactly(x) for x in point])
        if not look.is_finite:
            return None
        return [f.ball.mid() for f in look.residuals], [
            [e.ball.mid() for e in row] for row in look.slopes
        ]


def ball_about(middle: Ball, radius: Ball) -> Enclosure:
    """What is no further from a number than a radius."""
    return spanning((middle - radius).lower(), (middle + radius).upper())
