"""The fields of a row of the op table, and makers of similar rows."""

# Without ``from __future__ import annotations``: typing would compile each field's text at every start.

import operator
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

__all__ = [
    "ATAN_SLOPE", "GATES", "Equation", "Family", "NonsmoothPoint", "Op", "bell_text", "comparison_row",
    "extremum_row", "horner_text", "hypot_slope", "index_by", "names_with", "step_row",
]  # fmt: skip


class NonsmoothPoint(NamedTuple):
    """Points where a rule's answer is a convention: ``code`` is ``kink`` or ``jump``.

    ``side``, ``slope`` and ``undecided`` say what the row does just beside such a point, on one side: in
    its operands' values there, ``out`` that comes of them, and for an operand ``x``

        dx       how fast it moves, its derivative towards that side
        moves_x  1 if it moves at all there, else 0 (then dx is 0 too)
        same     1 if all operands are the same formula, else 0

    They are asked only where an operand moves.

    ``where``      which points these are
    ``why``        the same in words
    ``side``       the value just beside, where it is not ``out``; nan if the row is not defined there
    ``slope``      the derivative towards that side, if not what the partials say; nan if that needs more
                   than the operands' derivatives.  Of a variadic row it is of two operands, x and y, and
                   folded over those that ``where`` holds for
    ``undecided``  where the operands' derivatives do not tell what is beside
    """

    where: str
    code: str
    why: str
    side: str = ""
    slope: str = ""
    undecided: str = ""


class Equation(NamedTuple):
    """The equation that a row's result solves; its texts use the row's operands and ``out``, the unknown.

    ``unknown``      the unknown's name to show
    ``residual``     the formula that is 0 at the result
    ``slope``        the derivative of that with respect to the unknown
    ``shown_slope``  the same as it is in real arithmetic
    ``is_bracketed``  whether the last two operands have the result between them; else the last one is where
                     the search starts
    ``pattern``      how it is written: texts, and operands' positions with the levels that they need
    """

    unknown: str
    residual: str
    slope: str
    shown_slope: str
    is_bracketed: bool
    pattern: tuple[Any, ...]


class Op(NamedTuple):
    """One operation.

    Three texts say what it is, each with a promise of its own.  ``value`` is what is computed, everywhere:
    an approximation, to the accuracy that the row states.  ``fallback`` is for a primitive: what a target
    that lacks the function computes instead, as accurately as may be.  ``definition`` is the truth, in
    plainer operations and in real arithmetic; in doubles it may lose digits.  A row has a ``value`` or a
    ``fallback``, or is a function of Python's ``math`` by the same name; else it is refused when it is
    loaded.  ``fused_partials`` is about speed alone, and never needed.

    ``operands``            names, separated by blanks; ``x...`` takes two or more
    ``partials``            what is computed: the local derivative for each operand, accurate in doubles
    ``display_partials``    what people read, where it differs
    ``seconds``             the second derivatives, accurate in doubles, of a row whose ``partials`` lose
                            digits when they are differentiated: by x and x, x and y, y and y
    ``value``               an accurate formula; empty for a primitive of the math library
    ``fallback``            a primitive in other operations, for targets that lack it
    ``definition``          what the operation is in plainer operations, where there is such a thing; a
                            variadic row's formula and definition are of two operands, x and y
    ``fused_partials``      for engines over columns, where all operands vary: the value, then each partial,
                            in terms that they share, to 5 ulp
    ``domain``              where the value is finite in real arithmetic; elsewhere value and partials are
                            nan
    ``domain_words``        the same in words, where the condition is hard to read
    ``poles``               where it is infinite instead: (condition, value) pairs
    ``finite_boundary``     where the domain ends, and the partials are finite there
    ``ties``                variadic rows: how much an operand counts in a tie
    ``ties_words``          what the sum of that says, in words
    ``special``             kinks and jumps
    ``derivative_kink_at``  the operand at which the derivative has a kink and the value has none; None:
                            nowhere
    ``branches``            positions of operands that only pass a gradient when their local derivative is 1
    ``gate``                the pattern of the backward flow, in words; ``GATES`` has a sentence for each
    ``infix``, ``prefix``   the symbol, for operations that are not calls
    ``latex``               with each operand's name where the operand goes
    ``value_ulp``, ``partial_ulp``  the accuracy that is held, against the true value at the doubles: 0 is
                            exact, 0.5 correctly rounded
    ``value_abs``, ``partial_abs``  absolute bounds, which hold beside a zero where those in ulp do not
    ``away_from_zeros``     of a row with ``partial_abs``: where its derivative's zeros are far, and how far
                            out it is tried that ``partial_ulp`` holds there
    ``second_ulp``, ``second_abs``  the same for the second derivatives
    ``caveat``              where that accuracy is not held, and why
    ``signs``               of a sum of its operands: each one's sign
    ``powers``              of a product of its operands: each one's exponent
    ``arb``                 what it is of arb's balls, where arb's function of that name is not it
    ``exact``               of a row that is rational: what it makes of fractions
    ``unit``                the last operand that leaves the first as it is, to the last bit
    ``commutes``            whether its two operands may change places, to the last bit
    ``opposite``            of a comparison: the one that holds where it does not
    ``mirror``              of a comparison: the same with its operands exchanged
    ``winner``              of an extremum: the comparison with the others that the result passes
    ``monotone``            1 if it rises over its whole domain, an interval; -1 if it falls there; else 0
    ``inverse``             the row that undoes it, as simplifying knows
    ``quotient``            the two rows, of the same operand, that it is the quotient of
    ``square``              another row p, of the same operand, and numbers a and b: its square is a + b*p^2
    ``not_negative``        whether its result is never below 0, in doubles too
    ``not_zero``            whether its result is never 0, in doubles too: ``always``, or where ``all`` of
                            its operands never are (of a choice, its branches), or where ``any`` never is
                            and it is not negative
    ``logic``               what it is of operands that are 1 or 0: ``and`` or ``or``
    ``ill_conditioned``     why it makes large errors of small ones: ``period`` or ``growth``, where its
                            operand is large; ``zero``, where its result is near 0 and its operand near 1;
                            ``quotient``, where that of its operands is large
    ``setting``             of a family's member: the word that people write, and the whole number that they
                            write first
    ``spellings``           what is read as its name too, separated by blanks
    ``binary_expansion``    what a call with one operand more than it has stands for, in x and y
    ``foreign_names``       what other languages and libraries call it, separated by blanks
    ``equation``            of a root: what it solves
    ``since``               the version it came with: a formula may define a function with the name of a row
                            that is newer than 0.1, and its own function counts
    """

    name: str
    operands: str
    partials: tuple[str, ...]
    about: str
    display_partials: tuple[str, ...] = ()
    seconds: tuple[str, ...] = ()
    value: str = ""
    fallback: str = ""
    definition: str = ""
    fused_partials: tuple[str, ...] = ()
    domain: str = ""
    domain_words: str = ""
    poles: tuple[tuple[str, str], ...] = ()
    finite_boundary: str = ""
    ties: str = ""
    ties_words: str = ""
    special: tuple[NonsmoothPoint, ...] = ()
    derivative_kink_at: float | None = None
    branches: tuple[int, ...] = ()
    gate: str = "scaler"
    infix: str = ""
    prefix: str = ""
    latex: str = ""
    value_ulp: float = 2.0
    partial_ulp: float = 5.0
    value_abs: float = 0.0
    partial_abs: float = 0.0
    away_from_zeros: tuple[str, float] | None = None
    second_ulp: float = 10.0
    second_abs: float = 0.0
    caveat: str = ""
    signs: tuple[int, ...] = ()
    powers: tuple[int, ...] = ()
    arb: Callable[..., Any] | None = None
    exact: Callable[..., Any] | None = None
    unit: float | None = None
    commutes: bool = False
    opposite: str = ""
    mirror: str = ""
    winner: str = ""
    monotone: int = 0
    inverse: str = ""
    quotient: tuple[str, ...] = ()
    square: tuple[str, int, int] | None = None
    not_negative: bool = False
    not_zero: str = ""
    logic: str = ""
    ill_conditioned: str = ""
    setting: tuple[str, int] | None = None
    spellings: str = ""
    binary_expansion: str = ""
    foreign_names: str = ""
    equation: Equation | None = None
    since: str = "0.1"

    @property
    def names(self) -> tuple[str, ...]:
        """The operands' names; a variadic row has one."""
        return tuple(self.operands.removesuffix("...").split())

    @property
    def fallback_names(self) -> tuple[str, ...]:
        """The names that its formula and definition use."""
        return ("x", "y") if self.variadic else self.names

    @property
    def variadic(self) -> bool:
        """Whether the operation takes any number of operands from two up, all alike."""
        return self.operands.endswith("...")

    def partial(self, position: int) -> str:
        """Return the rule to compute for the operand at a position."""
        return self.partials[0 if self.variadic else position]

    def second(self, position: int, other: int) -> str:
        """Return the stated second derivative with respect to the operands at two positions."""
        first, last = sorted((position, other))
        return self.seconds[first * (2 * len(self.names) - first - 1) // 2 + last]

    def display_partial(self, position: int) -> str:
        """Return the rule to show for the operand at a position."""
        return (self.display_partials or self.partials)[0 if self.variadic else position]

    def arity_words(self) -> str:
        """How many operands it takes, in words."""
        count = len(self.names)
        if self.setting is not None:
            return f"a whole number and {count} operand{'s' * (count != 1)}"
        return "two or more operands" if self.variadic else f"{count} operand{'s' * (count != 1)}"


class Family(NamedTuple):
    """Rows that differ by a whole number, the first argument: ``polygamma(2, x)``.

    The derivative of one may be the next one, so that an infinite chain of derivatives closes.  A member
    is a row like any other; it is made when it is first met, and called ``polygamma_2`` where a name is
    needed.

    ``name``   what people write
    ``about``  what the members are
    ``least``  the least whole number
    ``row``    a member, given its number; the name and the setting are put in
    ``before`` the row that the whole number below the least stands for, if any
    ``greatest`` the greatest whole number that may be written: up to it the bounds were measured
    ``beyond`` the greatest that derivatives may lead to: from there on doubles do not hold the coefficients
    """

    name: str
    about: str
    least: int
    row: Callable[[int], Op]
    before: str = ""
    greatest: int = 40
    beyond: int = 56


GATES = {
    "distributor": "it passes its grad unchanged to each operand",
    "distributor, sign flipped": "it passes its grad unchanged to the first operand, and with the sign "
    "flipped to the second",
    "swap multiplier": "it passes to each operand its grad times the other operand",
    "sign flipper": "it passes its grad on with the sign flipped",
    "scaler": "it passes its grad on times its own slope",
    "scales by its own output": "it passes its grad on times its own result",
    "power": "it passes its grad on times the slope of the power",
    "blocker": "it is flat wherever it does not jump, so it passes nothing on",
    "switch": "it passes its grad to the branch that was taken, and nothing to the other",
    "router": "it passes its grad to the operand that is the result, and 0 to the others; ties share it",
    "sign router": "it passes its grad on, with the sign flipped where its operand is negative",
    "gate": "it passes its grad on unchanged where its operand is positive, and 0 elsewhere",
    "leaky gate": "it passes its grad on unchanged where its operand is positive, little of it elsewhere",
    "window": "it passes its grad on unchanged where its operand is between the bounds, and 0 elsewhere",
    "soft gate": "it passes its grad on nearly unchanged where its operand is large, and hardly any where "
    "it is very negative",
    "softmax router": "it shares its grad out among its operands, most of it to the largest",
}
"""By a row's ``gate``, what the operation does with its grad; the subject's name is left out."""


# Rows and texts that are made alike.


def comparison_row(
    name: str, symbol: str, latex: str, about: str, opposite: str, mirror: str
) -> Op:
    """Make a comparison's row: 1 or 0, flat on both sides of the place where its operands are equal."""
    tie = NonsmoothPoint(
        "x == y", "jump", "its operands are equal",
        side=f"dx {symbol} dy", undecided="(dx == dy)*(1 - same)",
    )  # fmt: skip
    return Op(
        name,
        "x y",
        ("0", "0"),
        about,
        infix=symbol,
        latex=latex,
        gate="blocker",
        special=(tie,),
        value_ulp=0.0,
        partial_ulp=0.0,
        exact=getattr(operator, name),
        opposite=opposite,
        mirror=mirror,
        not_negative=True,
    )


def step_row(
    name: str,
    latex: str,
    where: str,
    why: str,
    side: str,
    about: str,
    *,
    definition: str = "",
    exact: Callable[[Any], int] | None = None,
    spellings: str = "",
    elsewhere: str = "",
) -> Op:
    """Make a step function's row: flat between its jumps to ``side``; its definition is exact."""
    return Op(
        name,
        "x",
        ("0",),
        about,
        latex=latex,
        value=definition,
        definition=definition,
        gate="blocker",
        special=(NonsmoothPoint(where, "jump", why, side=side, undecided="dx == 0"),),
        value_ulp=0.0,
        partial_ulp=0.0,
        exact=exact,
        monotone=1,
        spellings=spellings,
        foreign_names=elsewhere,
    )


def extremum_row(name: str, about: str, winner: str, elsewhere: str, logic: str = "") -> Op:
    """Make the row of ``max`` or ``min``: operands equal to the result share its gradient."""
    return Op(
        name,
        "x...",
        ("(x == out)/ties",),
        about,
        ties="where(x == out, where(varies, 1, inf), 0)",
        ties_words="how many operands equal the result; infinite if one of them is a constant, "
        "which then takes everything",
        latex=rf"\{name}(x, y, \ldots)",
        gate="router",
        special=(
            NonsmoothPoint(
                "(x == out)*(ties > 1)", "kink", "operands tie", slope=f"{name}(dx, dy)"
            ),
        ),
        value_ulp=0.0,
        partial_ulp=0.5,
        winner=winner,
        logic=logic,
        foreign_names=elsewhere,
    )


def horner_text(coefficients: Sequence[float], name: str) -> str:
    """Write a polynomial in Horner's form, given its coefficients from the highest power down."""
    text = str(coefficients[0])
    for number, coefficient in enumerate(coefficients[1:]):
        text = f"({text})" if number else text
        text += f"*{name} {'-' if coefficient < 0 else '+'} {abs(coefficient)}"
    return f"({text})"


def bell_text(most: int, half: str, up: str = "") -> str:
    """exp(-z^2), or with ``/2`` for ``half`` exp(-z^2/2), from one exponential; times exp(``up``).

    The rest of z^2 beyond h^2 is below 2^-15, so that three terms of its series are enough.
    """
    return (
        f"z = min(abs(x), {most}); h = round(2^20*z)/2^20; d = (h - z)*(h + z){half}; "
        f"e = exp({up}-(h*h){half}); bell = e + e*(d*(1 + d*(0.5 + d*{1 / 6!r})))"
    )


ATAN_SLOPE = "wide = abs(x) > 2^30; r = 1/where(wide, x, 1 + x*x)"
"""1/(1 + x^2) as ``r``, but where x is ``wide`` as r^2, for there its square may overflow."""


def hypot_slope(x: str, y: str) -> str:
    """Write the derivative of hypot for x, with operands scaled where their squares are not normal numbers.

    An infinite operand's is the limit, 1 or -1, while the other is finite.
    """
    return (
        "s = where(out < 1, 2^600, 2^-600); "
        f"where((out >= 1e-290)*(out <= 1e300), {x}/out, where(out == 0, 0, "
        f"where(abs({x}) == inf, sign({x}) + 0*{y}, {x}*s/hypot(x*s, y*s))))"
    )


def index_by(rows: Iterable[Any], field: str) -> dict[str, Any]:
    """Index rows by a field; rows that leave it empty are left out."""
    return {getattr(row, field): row for row in rows if getattr(row, field)}


def names_with(rows: Iterable[Op], field: str) -> frozenset[str]:
    """Return the names of the rows that state a field."""
    default = Op._field_defaults[field]
    return frozenset(row.name for row in rows if getattr(row, field) != default)
