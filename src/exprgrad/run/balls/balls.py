"""Ball arithmetic: a formula's value in real arithmetic, at the exact double inputs.

A ball is a midpoint and a radius, and every operation on balls gives one that holds each true result: F.
Johansson, Arb: efficient arbitrary-precision midpoint-radius interval arithmetic, IEEE Trans. Comput. 66
(2017), 1281-1292.  This is the one door to python-flint, whose ``arb`` they are.

A row of the op table is what its ``arb`` says, one of ``ARB_OVERRIDES``, arb's function of that name, or
its ``definition``, so a new row needs no line here.  Beside finite balls there are four answers: an exact
infinity, at a pole; ``undefined_ball()`` (nan), outside the domain; ``whole_line()``, where nothing is
known; and the ball [0, 1] for a comparison that the balls do not decide.  A zero has no sign here.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import cache, lru_cache, partial, reduce
from itertools import product
from typing import TYPE_CHECKING, Any, cast

from exprgrad.derive.build import exact_result
from exprgrad.derive.rules import constant_graph, rule_slots, template
from exprgrad.derive.search import OUT
from exprgrad.derive.switches import find_nonsmooth_nodes, movable_nodes
from exprgrad.errors import MissingExtraError, install_command
from exprgrad.graph.graph import Algebra, Graph, dependent_flags, interpret
from exprgrad.graph.ops import (
    ARITHMETIC_OPERATORS,
    BY_NAME,
    COMMON,
    COMPARISONS,
    EXTREMA,
    NonsmoothPoint,
    Op,
    by_row_name,
)
from exprgrad.run.numbers.sweeps import functions

if TYPE_CHECKING:
    from fractions import Fraction

__all__ = [
    "Ball", "Decimals", "apply_to_balls", "ball_where", "by_definition", "decide_truth", "decimal_ball",
    "decimal_bounds", "enclose_nodes", "evaluate_in_balls", "exact_ball", "formula_ball", "has_balls",
    "has_own_ball", "import_flint", "is_double", "is_infinite", "is_known", "may_jump", "middle_text",
    "rough_text", "scientific_text", "seen_by", "specials_met", "undecided_ball", "undefined_ball",
    "whole_line", "working_precision",
]  # fmt: skip

Ball = Any
"""A ``flint.arb``: a finite ball, an exact infinity, nan for no value, or the whole line."""
LONGEST_DECIMAL = 2000
"""The most digits, leading and trailing zeros included, of decimals that are kept exactly."""
MOST_TEXTS = 4096
"""The most decimals whose fractions are kept."""
EXACT_BITS = 8192
"""The most bits of rational numbers that are kept exactly."""


@cache
def import_flint() -> Any:
    """Import the package.  Raises ``MissingExtraError`` where it is not installed."""
    try:
        import flint as package
    except ImportError:
        raise MissingExtraError(
            "missing-flint",
            "this is proved in ball arithmetic, which needs python-flint",
            help=install_command("python-flint"),
        ) from None
    return package


def has_balls() -> bool:
    """Whether python-flint is installed."""
    try:
        import_flint()
    except MissingExtraError:
        return False
    return True


def working_precision(bits: int) -> AbstractContextManager[Any]:
    """Return a context in which balls are computed to ``bits`` bits."""
    context: AbstractContextManager[Any] = import_flint().ctx.workprec(bits)
    return context


def exact_ball(value: float | int) -> Ball:
    """Return a double, or a whole number, as an exact ball."""
    return import_flint().arb(value)


def whole_line() -> Ball:
    """Return the whole line: nothing is known."""
    return import_flint().arb(0, import_flint().arb.pos_inf())


def undefined_ball() -> Ball:
    """Return nan: there is no value."""
    return import_flint().arb.nan()


def undecided_ball() -> Ball:
    """Return the ball [0, 1]: a comparison that the balls do not decide."""
    return import_flint().arb(0.5, 0.5)


def is_infinite(x: Ball) -> bool:
    """Whether a ball is exactly one of the two infinities."""
    return bool(not x.is_finite() and x.is_exact() and not x.is_nan())


def is_known(x: Ball) -> bool:
    """Whether a ball is finite, or an infinity."""
    return bool(x.is_finite()) or is_infinite(x)


def decide_truth(condition: Ball) -> bool | None:
    """Decide whether a condition holds; None where that is open.  As in IEEE, nan is not 0."""
    if condition.is_nan():
        return True
    if condition.is_zero():
        return False
    return True if bool(condition != 0) else None


def enclose_nodes(
    graph: Graph,
    inputs: Mapping[str, float],
    bits: int,
    *,
    typed: Mapping[str, str] | None = None,
    aside: Mapping[str, Ball] | None = None,
) -> list[Ball]:
    """Enclose every node's true value in a ball; named constants are the numbers named.

    Inputs and literals are the doubles read, or the decimals if there is a mapping
    ``typed``: the texts of inputs that are not the shortest texts of their doubles.  ``aside``
    is added to inputs, by name.
    """
    with working_precision(bits):
        decimals, given = Decimals(), {name: exact_ball(value) for name, value in inputs.items()}
        if typed is not None:
            given = {name: decimals.read(typed.get(name), x) for name, x in inputs.items()}
        given |= {name: given[name] + step for name, step in (aside or {}).items()}
        return interpret(graph, BALLS if typed is None else decimals.algebra, given)


def evaluate_in_balls(
    graph: Graph, given: Mapping[str, Ball], *, typed: bool = False
) -> list[Ball]:
    """Evaluate every node in the current precision, given the inputs; ``typed``: literals are decimals."""
    return interpret(graph, Decimals().algebra if typed else BALLS, given)


def decimal_ball(value: float) -> Ball:
    """Return a double's decimal text as a ball, in the current precision."""
    return import_flint().arb(repr(value)) if math.isfinite(value) else exact_ball(value)


def constant_ball(graph: Graph, node: int) -> Ball:
    """Return a constant; a named one is the number named."""
    is_pi = graph.symbols.get(node) == "pi"
    return (
        pi_ball(import_flint().ctx.prec) if is_pi else exact_ball(cast(float, graph.payloads[node]))
    )


BALLS: Algebra[Ball] = Algebra(
    constant_ball, lambda graph, node, operands: apply_to_balls(graph.kinds[node], operands)
)


class Decimals:
    """Balls around decimals as typed, none of them exact, and around results computed from them.

    Rational numbers are kept exactly beside their balls, and equal ones share a ball: so 0.1 + 0.2 is 0.3.
    """

    def __init__(self) -> None:
        from fractions import Fraction  # it takes a millisecond, and few commands get here

        self.fraction = Fraction
        self.algebra: Algebra[Ball] = Algebra(self.constant, self.apply)
        self.balls: dict[tuple[int, int], Ball] = {}
        self.rational: dict[int, int | Fraction] = {}

    def exactly(self, number: int | Fraction) -> Ball:
        """Return the one ball of a rational number."""
        parts = number.numerator, number.denominator  # a fraction's own hash takes long
        made = self.balls.get(parts)
        if made is None:
            made = self.balls[parts] = import_flint().arb(number.numerator) / number.denominator
            self.rational[id(made)] = number
        return made

    def read(self, text: str | None, value: float) -> Ball:
        """Read a number by its text: a decimal, a constant expression, None for the shortest, or empty.

        A number that was not typed has an empty text: it is the double itself.
        """
        if text is None:
            return self.number(repr(value)) if math.isfinite(value) else exact_ball(value)
        if not text:
            return self.exactly(self.fraction(value)) if math.isfinite(value) else exact_ball(value)
        try:
            return self.number(text)
        except (ValueError, ZeroDivisionError):
            graph = constant_graph(text)
            if graph is None:
                return self.read(None, value)
            return interpret(graph, self.algebra, {})[graph.output]

    def number(self, text: str) -> Ball:
        """Return the ball of a decimal number."""
        digits, _, exponent = text.casefold().partition("e")
        if abs(int(exponent or 0)) + len(digits) > LONGEST_DECIMAL:
            return import_flint().arb(text)
        return self.exactly(fraction_of(text))

    def constant(self, graph: Graph, node: int) -> Ball:
        """Return the ball of a literal or a named constant."""
        text = graph.spelled.get(node) or graph.symbols.get(node)
        if text in NAMED:
            return constant_ball(graph, node)
        return self.read(text, cast(float, graph.payloads[node]))

    def apply(self, graph: Graph, node: int, operands: Sequence[Ball]) -> Ball:
        """Apply an operation."""
        kind = graph.kinds[node]
        if BY_NAME[kind].exact is not None and None not in (known := [*map(self.known, operands)]):
            found = exact_result(kind, cast("list[int | Fraction]", known))
            if (
                found is not None
                and (found.numerator * found.denominator).bit_length() < EXACT_BITS
            ):
                return self.exactly(found)
        return apply_to_balls(kind, operands)

    def known(self, x: Ball) -> int | Fraction | None:
        """Return a ball's exact number, as far as that is known."""
        made = self.rational.get(id(x))
        if made is None and x.is_exact() and x.is_integer():
            whole = only_whole(x)
            made = None if whole is None else self.fraction(int(whole))
        return made


@lru_cache(MOST_TEXTS)
def fraction_of(text: str) -> Fraction:
    """Return a decimal number's fraction; kept, since it is needed at every point and precision."""
    from fractions import Fraction

    return Fraction(text)


def formula_ball(text: str, given: Mapping[str, Ball]) -> Ball:
    """Evaluate a rule, a condition or a formula of the op table."""
    graph = template(text)
    return evaluate_in_balls(graph, given)[graph.output]


NAMED = {"pi", "inf", "nan"}
"""The symbols that are not decimal numbers."""


@cache
def pi_ball(bits: int) -> Ball:
    """Return pi in the current precision: one ball, so that it equals itself."""
    return import_flint().arb.pi()


def apply_to_balls(kind: str, operands: Sequence[Ball]) -> Ball:
    """Apply an operation to balls."""
    finite = True
    for x in operands:
        finite = finite and x.is_finite()
    if not finite and kind not in TAKES_NAN and any(x.is_nan() for x in operands):
        return undefined_ball()
    found = ball_function(kind)(*operands)
    return found if finite and found.is_finite() else settle_ball(BY_NAME[kind], operands, found)


TAKES_NAN = COMPARISONS | {op.name for op in COMMON if op.branches}
"""Operations that have a value even where an operand has none, as in IEEE."""


def settle_ball(op: Op, operands: Sequence[Ball], found: Ball) -> Ball:
    """Return an operation's value at or next to an operand that is not finite: a pole, no value, unknown.

    The row says where it is defined and where its poles are.  At an infinite operand the row's
    function on doubles decides.
    """
    given = dict(zip(op.names, operands, strict=False))
    if op.domain and not op.variadic:
        inside = decide_truth(formula_ball(op.domain, given))
        if inside is None:
            return whole_line()
        if not inside:
            for where, value in op.poles:
                here = decide_truth(formula_ball(where, given))
                if here is not False:
                    return formula_ball(value, given) if here else whole_line()
            return undefined_ball()
    if found.is_finite():
        return found
    infinite = any(is_infinite(x) for x in operands)
    if infinite and not found.is_nan() and not found.mid().is_finite():
        # Infinity and a finite radius is that infinity; with an infinite radius it is any number.
        return found.mid() if found.rad().is_finite() else whole_line()
    if infinite and (limit := limit_of(op, operands)) is not None:
        return limit
    if found.is_nan() and (op.name == "where" or op.equation is not None):
        return undefined_ball()
    return whole_line()


LIMITS = (0.0, 0.5, 1.0, 2.0, -0.5, -1.0)
"""Finite limits at an infinity that doubles give exactly."""


def limit_of(op: Op, operands: Sequence[Ball]) -> Ball | None:
    """Return a row's limit at an infinite operand if doubles give it exactly, else None.

    A second operand is tried at both ends of its ball; between them the row is monotone.
    More than two combinations of ends give None.
    """
    corners = list(product(*map(double_ends, operands)))
    if len(corners) > 2:
        return None
    numbers = {functions[op.name](*corner) for corner in corners}
    for position, operand in enumerate(operands):
        if op.value_ulp == 0 and numbers == {corner[position] for corner in corners}:
            return operand
    number = numbers.pop()
    if numbers:
        return None
    if number != number:
        return undefined_ball()
    exact = math.isinf(number) or op.value_ulp == 0 or number in LIMITS or number in corners[0]
    return exact_ball(number) if exact else None


def is_double(x: Ball) -> bool:
    """Whether a ball is exactly a double."""
    return bool(x.is_exact() and exact_ball(float(x)) == x)


def double_ends(x: Ball) -> tuple[float, ...]:
    """A double, or two between which a ball lies."""
    if is_double(x):
        return (float(x),)
    low, high = float(x.lower()), float(x.upper())
    return math.nextafter(low, -math.inf), math.nextafter(high, math.inf)


# The operations that arb calls otherwise, or that need care.


def ball_comparison(op: Op) -> Callable[[Ball, Ball], Ball]:
    """A comparison: 1 where balls decide that it holds, 0 where they decide that it fails.

    One and the same ball stands for one number, however wide it is.
    """
    holds, fails = op.exact, BY_NAME[op.opposite].exact
    assert holds is not None and fails is not None

    def compare(x: Ball, y: Ball) -> Ball:
        if x.is_nan() or y.is_nan():  # nan differs from everything, and is neither less nor greater
            return exact_ball(int(holds(math.nan, math.nan)))
        if not (is_known(x) and is_known(y)):
            return undecided_ball()
        if x is y:  # one node, or one constant
            return exact_ball(int(holds(0, 0)))
        return exact_ball(1) if holds(x, y) else exact_ball(0) if fails(x, y) else undecided_ball()

    return compare


def ball_where(c: Ball, x: Ball, y: Ball) -> Ball:
    """One of two; both in one ball where the condition is not decided."""
    taken = decide_truth(c)
    if taken is None:
        return x.union(y) if x.is_finite() and y.is_finite() else whole_line()
    return x if taken else y


def nearest_whole_ball(x: Ball) -> Ball:
    """The nearest whole number; of two, the even one."""
    above = x + exact_ball(0.5)
    found = above.floor()
    if above.is_exact() and above.is_integer() and int(found.unique_fmpz()) % 2:
        return found - 1
    return found


def only_whole(x: Ball) -> Any:
    """The one whole number in a ball; None if there is none, or one too long to be written out.

    Arb ends the process where it is asked that of a number whose exponent is itself beyond 64 bits.
    """
    size = x.abs_upper()
    return x.unique_fmpz() if x.is_zero() or (size > 0.5 and size < 2.0**1000) else None


def ball_power(x: Ball, y: Ball) -> Ball:
    """x to the power y; nan stands for what ``settle_ball`` must tell."""
    if y.is_integer() and (whole := only_whole(y)) is not None:
        if y == 0:
            return exact_ball(1)
        if y > 0 and not (x.is_exact() or bool(x != 0)):  # for which python-flint has no answer
            end = x.abs_upper() ** whole
            return end.union(-end if whole % 2 else exact_ball(0))
        return x**whole if y > 0 or bool(x != 0) else undefined_ball()
    if x.is_zero() and y > 0:
        return exact_ball(0)
    return x**y if x > 0 else undefined_ball()


def ball_cbrt(x: Ball) -> Ball:
    """The cube root, exact for the cubes of whole numbers."""
    if not bool(x != 0):
        end = x.abs_upper().root(3)
        return exact_ball(0) if x.is_zero() else end.union(-end)
    root = x.root(3) if x > 0 else -(-x).root(3)
    return whole_if_exact(root, x, lambda whole: whole**3)


def whole_if_exact(found: Ball, x: Ball, undo: Callable[[Ball], Ball]) -> Ball:
    """The whole number in a ball, if ``undo`` makes just x of it; else the ball."""
    whole = only_whole(found)
    exact = None if whole is None else exact_ball(int(whole))
    return exact if exact is not None and undo(exact) == x else found


def ball_extremum(op: Op) -> Callable[..., Ball]:
    """The least or greatest operand, itself if balls decide which it is: so it equals that operand."""
    wins = BY_NAME[op.winner].exact
    assert wins is not None

    def choose(x: Ball, y: Ball) -> Ball:
        return x if x is y or wins(x, y) else y if wins(y, x) else getattr(x, op.name)(y)

    return lambda *operands: reduce(choose, operands)


def ball_logsumexp(*operands: Ball) -> Ball:
    """The greatest taken out, so that nothing overflows."""
    top = reduce(lambda x, y: x.max(y), operands)
    return top + sum((x - top).exp() for x in operands).log()


# What is one ball on both sides is one number, however little is known of it.
ARB_OVERRIDES: dict[str, Callable[..., Ball]] = {
    **ARITHMETIC_OPERATORS,
    **by_row_name(
        {
            "-": lambda x, y: exact_ball(0) if x is y and bool(x.is_finite()) else x - y,
            "/": lambda x, y: exact_ball(1) if x is y and bool(x != 0) else x / y,
            "^": ball_power,
        }
    ),
    **{kind: ball_comparison(BY_NAME[kind]) for kind in COMPARISONS},
    **{op.name: ball_extremum(op) for op in EXTREMA},
    "where": ball_where,
    "sign": lambda x: x.sgn(),
    "round": nearest_whole_ball,
    "cbrt": ball_cbrt,
    "log2": lambda x: whole_if_exact(
        x.log() / x.const_log2(), x, lambda whole: exact_ball(2) ** whole
    ),
    "log10": lambda x: whole_if_exact(
        x.log() / x.const_log10(), x, lambda whole: exact_ball(10) ** whole
    ),
    "logsumexp": ball_logsumexp,
    "normcdf": lambda x: (-x / exact_ball(2).sqrt()).erfc() / 2,
    "norminv": lambda x: -(2 * x).erfcinv() * exact_ball(2).sqrt(),
    "elliptic_k": lambda x: import_flint().acb(x).elliptic_k().real,
    "elliptic_e": lambda x: import_flint().acb(x).elliptic_e().real,
}


BALL_FAMILIES: dict[str, Callable[[int, Ball], Ball]] = {
    "polygamma": lambda n, x: import_flint().acb(x).polygamma(n).real,
    "besselj": lambda n, x: x.bessel_j(n),
    "bessely": lambda n, x: x.bessel_y(n),
    "besseli": lambda n, x: evaluate_at_ball_ends(lambda end: end.bessel_i(n), x),
    "besselk": lambda n, x: (
        evaluate_at_ball_ends(lambda end: bessel_k(n, end), x) if x > 0 else x.bessel_k(n)
    ),
}
"""What members of a family are, by the whole number."""


def evaluate_at_ball_ends(function: Callable[[Ball], Ball], x: Ball) -> Ball:
    """A function monotone on both sides of 0, by its ends: series over a wide ball take seconds."""
    if x.is_exact() or not x.is_finite():
        return function(x)
    ends = [x.lower(), x.upper(), *([exact_ball(0)] if x.contains(0) else ())]
    return reduce(lambda one, other: one.union(other), map(function, ends))


def bessel_k(n: int, x: Ball) -> Ball:
    """K of a whole order, of a number above 0, from K of order 0.

    By the Wronskian and by recurrence: DLMF 10.28.2 and 10.29.1.  The limit that defines it in other orders
    takes seconds at 1,000 bits.
    """
    bits = import_flint().ctx.prec
    cancelled = int(3 * float(x.mid())) if x < bits else 0  # beyond, asymptotics lose nothing
    with working_precision(bits + cancelled):
        before = x.bessel_k(0)
        here = (1 / x - x.bessel_i(1) * before) / x.bessel_i(0)
    if not here.is_finite():
        return x.bessel_k(n)
    for k in range(n):
        before, here = here, before + 2 * (k + 1) / x * here
    return before


def by_definition(
    op: Op, evaluate: Callable[[Graph, Mapping[str, Any]], Sequence[Any]]
) -> Callable[..., Any]:
    """A row by its definition in other rows, of all operands, or of two at a time."""
    graph = template(op.definition)

    def defined(*operands: Any) -> Any:
        given = dict(zip(op.fallback_names, operands, strict=True))
        return evaluate(graph, given)[graph.output]

    return (lambda *operands: reduce(defined, operands)) if op.variadic else defined


def within_interval(op: Op, function: Callable[..., Ball]) -> Callable[..., Ball]:
    """A function where an approximation of it is said to hold: it may cover less."""

    def known(*operands: Ball) -> Ball:
        holds = formula_ball(op.domain, dict(zip(op.names, operands, strict=True)))
        return ball_where(holds, function(*operands), undefined_ball())

    return known


# Roots.

WIDENED = 6
"""How often the ball around a root is widened, 64 times each, before the search gives up."""
NARROWED = 12
"""How often it is made narrower at most: each time it has twice as many digits."""


def newton_root(op: Op) -> Callable[..., Ball]:
    """A root by the interval Newton method: R. E. Moore, Interval Analysis (1966), chapter 7.

    Around the root that doubles find lies a ball X.  If N(X) = m - g(m)/g'(X) lies inside of X, for its
    midpoint m, there is one root in X, and it is in N(X).  Else nothing is known of the root; nor where the
    residual may jump, for a slope does not tell that.  A root that no search finds has no value.
    """
    equation = op.equation
    assert equation is not None
    graph = template(equation.residual)
    moving = movable_nodes(graph, [graph.inputs[OUT]])
    bent = find_nonsmooth_nodes(graph, dependent_flags(graph, [graph.inputs[OUT]]))

    def newton(given: dict[str, Ball], x: Ball) -> Ball:
        if bent and may_jump(graph, evaluate_in_balls(graph, {**given, OUT: x}), bent, moving):
            return whole_line()
        middle = x.mid()
        residual = formula_ball(equation.residual, {**given, OUT: middle})
        return middle - residual / formula_ball(equation.shown_slope, {**given, OUT: x})

    def enclosed(*operands: Ball) -> Ball:
        start = functions[op.name](*[float(x) for x in operands])
        given = dict(zip(op.names, operands, strict=True))
        if not math.isfinite(start):
            return undefined_ball()
        if formula_ball(equation.residual, {**given, OUT: exact_ball(start)}).is_zero():
            return exact_ball(start)
        step = newton(given, exact_ball(start))
        if not step.is_finite():
            return whole_line()
        radius = 2 * (step - start).abs_upper() + math.ulp(start)
        for _ in range(WIDENED):
            x = import_flint().arb(start, radius)
            step = newton(given, x)
            if step.is_finite() and x.contains_interior(step):
                break
            radius *= 64
        else:
            return whole_line()
        for _ in range(NARROWED):
            before, x = step.rad(), step
            step = newton(given, x)
            if not (x.contains(step) and step.rad() < before / 2):
                break
        return x

    return enclosed


def seen_by(
    graph: Graph, values: Sequence[Ball], node: int, varying: Sequence[int]
) -> dict[str, Ball]:
    """What the rules of a node's row see, by their names for it: see ``derive.rules.slots``."""
    operands = graph.operands[node]
    seen = [*[values[operand] for operand in operands], values[node]]
    flags = [exact_ball(varying[operand]) for operand in operands]
    return dict(zip(rule_slots(BY_NAME[graph.kinds[node]]), [*seen, *flags], strict=True))


def specials_met(
    graph: Graph, values: Sequence[Ball], node: int, varying: Sequence[int]
) -> dict[NonsmoothPoint, bool | None]:
    """Whether a node is at the kinks and jumps of its row; None where that is not decided.

    Over wide balls: whether it is everywhere, nowhere, or perhaps somewhere.  ``varying`` flags the nodes
    that move.
    """
    op, out = BY_NAME[graph.kinds[node]], values[node]
    operands = graph.operands[node]
    if not op.special or not any(varying[operand] for operand in operands):
        return {}
    if op.variadic:
        tied = [decide_truth(apply_to_balls("eq", (values[o], out))) for o in {*operands}]
        if None in tied:
            return dict.fromkeys(op.special)
        ties = exact_ball(sum(map(bool, tied)))
        given = dict(zip(rule_slots(op), (out, out, exact_ball(1), ties), strict=True))
    else:
        given = seen_by(graph, values, node, varying)
    return {special: decide_truth(formula_ball(special.where, given)) for special in op.special}


def may_jump(
    graph: Graph, values: Sequence[Ball], nodes: Iterable[int], varying: Sequence[int]
) -> bool:
    """Tell whether one of some nodes may jump, as far as balls can say."""
    return any(
        special.code == "jump" and is_met is not False
        for node in nodes
        for special, is_met in specials_met(graph, values, node, varying).items()
    )


def has_own_ball(op: Op) -> bool:
    """Whether something says what a row is on balls; without that no digit of it is known."""
    known = op.arb or op.definition or op.equation or op.name in ARB_OVERRIDES
    is_family = op.setting is not None and op.setting[0] in BALL_FAMILIES
    return bool(known) or is_family or hasattr(import_flint().arb, op.name)


@cache
def ball_function(name: str) -> Callable[..., Ball]:
    """A row as a function on balls."""
    op = BY_NAME[name]
    known = op.arb or ARB_OVERRIDES.get(name) or getattr(import_flint().arb, name, None)
    if op.setting is not None:
        word, number = op.setting
        known = partial(BALL_FAMILIES[word], number)
    if known is None and op.definition:
        known = by_definition(op, evaluate_in_balls)
    made: Callable[..., Ball] = known or (lambda *operands: whole_line())
    made = newton_root(op) if op.equation is not None else made
    if op.value and op.domain and not op.definition:
        made = within_interval(op, made)
    return made


# Balls as decimal numbers.

LONGEST_EXPONENT = 7
"""The digits of an exponent that people are shown whole."""
MOST_EXPONENT = 10**9
"""The largest exponent that is written out: beyond it lie 0 and infinity."""


def decimal_bounds(x: Any, digits: int = 20) -> tuple[str, str] | None:
    """Decimal numbers below and above a ball, with ``digits`` digits; None if the ball is unbounded."""
    if not x.is_finite():
        return (str(float(x)),) * 2 if x.is_exact() and not x.is_nan() else None
    middle, radius, exponent = (int(part) for part in x.mid_rad_10exp(digits))
    return ball_bound_text(middle - radius, exponent, up=False), ball_bound_text(
        middle + radius, exponent, up=True
    )


def ball_bound_text(whole: int, exponent: int, *, up: bool) -> str:
    """A bound; where its exponent is too large to write, the next bound outward that can be written."""
    if whole and abs(exponent) > MOST_EXPONENT:
        sign, outward = "-" * (whole < 0), (whole > 0) == up
        if exponent > 0:
            return f"{sign}inf" if outward else f"{sign}1e+{MOST_EXPONENT}"
        return f"{sign}1e-{MOST_EXPONENT}" if outward else "0"
    return scientific_text(whole, exponent)


def middle_text(x: Any, digits: int) -> str | None:
    """The middle of a finite ball with ``digits`` significant digits; None beyond what is written out."""
    whole, exponent = rounded_middle(x, digits)
    return scientific_text(whole, exponent) if abs(exponent) <= MOST_EXPONENT else None


def rounded_middle(x: Any, digits: int) -> tuple[int, int]:
    """The middle of a finite ball as a whole number with ``digits`` digits, and its power of 10."""
    middle, _, exponent = (int(part) for part in x.mid_rad_10exp(digits))
    surplus = max(len(str(abs(middle))) - digits, 0)
    unit = 10**surplus
    shorter = (2 * abs(middle) + unit) // (2 * unit)
    return shorter if middle >= 0 else -shorter, exponent + surplus


def rough_text(x: Any, digits: int) -> str:
    """The middle of a finite ball for sentences: where even the exponent is long, ``10^-4.34e+399``."""
    whole, exponent = rounded_middle(x, digits)
    if abs(exponent) < 10**LONGEST_EXPONENT:
        return scientific_text(whole, exponent)
    size = abs(exponent)
    lead = size.bit_length() * 30103 // 100000 - 2  # at most one more than three digits are left
    long = scientific_text(size // 10**lead, lead)
    return f"{'-' * (whole < 0)}10^{'-' * (exponent < 0)}{long}"


def scientific_text(whole: int, exponent: int) -> str:
    """whole times 10^exponent as Python writes a float: ``0.0125`` or ``1.25e-07``."""
    sign, text = ("-" if whole < 0 else ""), str(abs(whole))
    exponent += len(text) - 1
    text = text.rstrip("0")
    if not text:
        return "0"
    if -4 <= exponent < 0:
        return f"{sign}0.{'0' * (-exponent - 1)}{text}"
    if 0 <= exponent < 16:
        text = text.ljust(exponent + 1, "0")
        before, after = text[: exponent + 1], text[exponent + 1 :]
        return f"{sign}{before}.{after}" if after else f"{sign}{before}"
    return f"{sign}{text[0]}{'.' * bool(text[1:])}{text[1:]}e{exponent:+03d}"
