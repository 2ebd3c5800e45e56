"""Sums, products and powers of normal forms, and every other operation on them.

What is rewritten while they are made is given as data (``Rules``): ``sum_rules``, ``product_rules`` and
``structural_rules`` say what there is, and ``simplify`` puts them together.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import NamedTuple, TypeGuard

from exprgrad.derive.constant_folding import (
    HALF,
    ONE,
    Exact,
    compared,
    magnitude,
    ratio,
    result,
    to_power,
)
from exprgrad.derive.simplify.normal_form import (
    UNITS,
    Call,
    Form,
    Forms,
    Items,
    Number,
    Product,
    Sum,
    accumulate,
    rational_root,
)
from exprgrad.graph.graph import Settings, Shape
from exprgrad.graph.ops import BY_NAME, COMPARISONS
from exprgrad.graph.structural import axes_of
from exprgrad.graph.tensors import STRUCTURAL

__all__ = ["DEEPEST", "WALKED", "Algebra", "Operand", "Powers", "Rules", "Terms"]

Operand = tuple[int, Shape]
"""A form, and the shape of what it stands for: a form may be smaller, and then is repeated."""
Powers = dict[int, Exact]
"""A product in the making: the exponents of its factors."""
Terms = dict[int, Exact]
"""A sum in the making: the coefficients of its terms."""

DEEPEST = 2
"""How many attempts to shorten a sum or a product there may be within each other."""
WALKED = 60
"""The most operations of what is rewritten as a whole, so that a nest of it is not walked down."""


Mark = str | type[Form]
"""What kind of form something is: of an operation its name, of a sum ``Sum``."""


class Rules(NamedTuple):
    """How forms are rewritten while they are made.

    ``factors``     steps that tidy a product, each with the ``marks`` of the factors that it is about;
                    None is all; they change the powers, and return the new coefficient
    ``share``       what a product is, where it is an operand's share of a ``max`` or ``min``
    ``terms``       steps that gather terms of a sum
    ``shortest``    the shortest way to write a sum, given its terms and the sum as it is
    ``structural``  a shorter form of a structural operation, if there is one
    ``call``        what a function of something is, if there is an identity
    """

    factors: tuple[tuple[Collection[Mark] | None, Callable[[Algebra, Powers, Exact], Exact]], ...]
    share: Callable[[Algebra, Powers, Exact], int | None]
    terms: tuple[Callable[[Algebra, Terms], None], ...]
    shortest: Callable[[Algebra, list[tuple[int, Exact]], int], int]
    structural: Callable[[Algebra, str, tuple[Operand, ...], Settings], int | None]
    call: Callable[[Algebra, str, int], int | None]


class Algebra(Forms):
    """The forms of one simplification, and how new ones are made of them, by some rules."""

    def __init__(
        self, rules: Rules, *, decimals: bool, share: bool = False, by_hand: bool = False
    ) -> None:
        super().__init__(decimals=decimals, share=share, by_hand=by_hand)
        self.rules = rules
        # Most products have no factor that any step is about, and are spared all those steps at once.
        self.about = {mark for about, _ in rules.factors for mark in about or ()}
        self.anyway = tuple([each for each in rules.factors if each[0] is None])

    def call(self, kind: str, operands: tuple[int, ...]) -> int:
        """Any operation but sums, products and powers of numbers."""
        values = [self.value(operand) for operand in operands]
        if None not in values:
            exact = self.settled(kind, values)  # type: ignore[arg-type]
            if exact is not None:
                return self.number(exact)
        if kind == "where":
            return self.where(*operands)
        if kind == "sqrt":
            return self.root(operands[0])
        inner = self.forms[operands[0]]
        if isinstance(inner, Call) and inner.kind == BY_NAME[kind].inverse:
            return inner.operands[0]
        if self.by_hand and self.order is not None:
            better = self.rules.call(self, kind, operands[0])
            if better is not None:
                return better
        is_same = operands[0] == operands[-1] and not self.is_infinite(operands[0])
        if kind in COMPARISONS and is_same and values[0] is None:
            return self.number(int(compared(kind, 0, 0)))
        if kind in COMPARISONS:
            kind, operands = self.comparison(kind, operands)
        weight = 1 + sum([self.weights[operand] for operand in operands])
        return self.intern(Call(kind, operands), (kind, operands), weight)

    def structural(self, kind: str, operands: tuple[Operand, ...], settings: Settings) -> int:
        """A structural operation; to be read first is to stay as it was written."""
        if kind == "broadcast":
            return operands[0][0]
        whole = tuple([self.stretched(*operand) for operand in operands])
        key = (kind, whole, canonical(kind, settings, operands[0][1]))
        if key not in self.known:
            is_typed = self.order is None
            found = None if is_typed else self.rules.structural(self, kind, operands, settings)
            if found is None:
                weight = 1 + sum(self.weights[form] for form in whole)
                return self.intern(Call(kind, whole, settings), key, weight)
            self.known[key] = found
        return self.known[key]

    def stretched(self, form: int, shape: Shape) -> int:
        """A form in the shape of what it stands for, which is as large or larger."""
        if not shape or self.shape(form) == shape:
            return form
        weight = 1 + self.weights[form]
        return self.intern(Call("broadcast", (form,), (shape,)), ("broadcast", form, shape), weight)

    def root(self, form: int) -> int:
        """A square root: a power; the root of a product of constants is the product of their roots."""
        found = self.forms[form]
        parts: list[tuple[int, Exact]] = [(form, HALF)]
        if isinstance(found, Product) and all(self.is_positive(base) for base, _ in found.factors):
            parts = [(base, ratio(exponent, 2)) for base, exponent in found.factors]
            parts.insert(0, (self.number(found.coefficient), HALF))
        return self.product(parts)

    def where(self, condition: int, x: int, y: int) -> int:
        """A choice; its branches are one if they are equal, and the same question is asked once."""
        condition = self.asked(condition)
        known = self.value(condition)
        if known is not None:
            return x if known else y
        x, y = self.branch(condition, x, 0), self.branch(condition, y, 1)
        if x == y:
            return x
        other = self.opposite(condition)
        if x == self.zero and other != condition:
            return self.where(other, y, x)
        weight = 1 + self.weights[condition] + self.weights[x] + self.weights[y]
        return self.intern(Call("where", (condition, x, y)), ("where", condition, x, y), weight)

    def branch(self, condition: int, form: int, side: int) -> int:
        """A branch, given that the condition holds (side 0) or not (side 1)."""
        found = self.forms[form]
        if isinstance(found, Call) and found.kind == "where" and found.operands[0] == condition:
            return found.operands[1 + side]
        return form

    def opposite(self, condition: int) -> int:
        """The condition that holds where a comparison does not; other conditions are themselves."""
        found = self.forms[condition]
        if isinstance(found, Call) and found.kind in COMPARISONS:
            return self.call(BY_NAME[found.kind].opposite, found.operands)
        return condition

    def asked(self, condition: int) -> int:
        """What a condition asks: ``where(c, 3, 0) != 0`` and ``c != 0`` ask whether c holds."""
        while True:
            found = self.forms[condition]
            if not isinstance(found, Call) or found.kind != "ne":
                return condition
            (inner, other), kept = found.operands, condition
            if other != self.zero:
                return condition
            choice = self.forms[inner]
            if isinstance(choice, Call) and choice.kind in COMPARISONS:
                condition = inner
            elif isinstance(choice, Call) and choice.kind == "where":
                c, x, y = choice.operands
                condition = c if self.value(x) and y == self.zero else kept
            if condition == kept:
                return condition

    def comparison(self, kind: str, operands: tuple[int, ...]) -> tuple[str, tuple[int, ...]]:
        """A comparison with a number on its right; ``x == max(x, y)`` is ``x >= y``."""
        for x, other in (operands, operands[::-1]):
            found = self.forms[other]
            if kind != "eq" or not isinstance(found, Call):
                continue
            winner = BY_NAME[found.kind].winner if found.kind in BY_NAME else ""
            if winner and len(found.operands) == 2 and x in found.operands:
                kind, operands = winner, (x, found.operands[found.operands[0] == x])
        if self.value(operands[0]) is not None and self.value(operands[1]) is None:
            kind, operands = BY_NAME[kind].mirror, operands[::-1]
        return kind, operands

    def power(self, base: int, exponent: int, whole: Collection[int] = ()) -> int:
        """A power: part of a product if the exponent is a number."""
        value = self.value(exponent)
        if value is not None:
            return self.product([(base, value)], whole=whole)
        if base == self.one:
            return base
        if self.share:
            raised = self.known.get(("pow", base, self.sum([(exponent, ONE), (self.one, ONE)])))
            if raised is not None:
                return self.product([(raised, ONE), (base, -ONE)])
        if self.is_negative(exponent):
            positive = self.power(base, self.negated(exponent))
            return self.product([(positive, -ONE)])
        weight = 1 + self.weights[base] + self.weights[exponent]
        return self.intern(Call("pow", (base, exponent)), ("pow", base, exponent), weight)

    def negated(self, form: int) -> int:
        """The negative of a form that is written with a minus throughout."""
        found = self.forms[form]
        if isinstance(found, Product):
            return self.signed_product(-found.coefficient, list(found.factors))
        assert isinstance(found, Sum)
        return self.sum(found.terms, scale=-ONE)

    def product(self, items: Items, coefficient: Exact = ONE, whole: Collection[int] = ()) -> int:
        """A product of powers, like factors gathered; the products in ``whole`` are one factor."""
        powers: Powers = {}
        for form, exponent in items:
            if form in whole:
                is_product = isinstance(self.forms[form], Product)
                if exponent.denominator == 1 and is_product and self.is_negative(form):
                    form = self.negated(form)
                    coefficient *= to_power(-ONE, exponent)
                accumulate(powers, form, exponent)
            else:
                coefficient = self.multiply(powers, coefficient, form, exponent)
        if not coefficient and not any(map(self.is_lasting, powers, powers.values())):
            return self.zero
        marks, marked = self.marks(powers), [*powers]
        steps = self.anyway if marks.isdisjoint(self.about) else self.rules.factors
        for about, step in steps:
            if about is None or not marks.isdisjoint(about):
                coefficient = step(self, powers, coefficient)
                if [*powers] != marked:
                    marks, marked = self.marks(powers), [*powers]
        if Sum in marks:
            share = self.rules.share(self, powers, coefficient)
            if share is not None:
                return share
        factors = [(base, exponent) for base, exponent in powers.items() if exponent]
        if len(factors) < len(powers):
            for base in powers.keys() - dict(factors):
                if self.is_infinite(base):  # nan/nan is no 1, nor is inf/inf
                    return self.product([*factors, (base, ONE)], coefficient * 0)
        if "where" in marks and len(factors) + (coefficient != 1) > 1:
            found = self.chosen_product(coefficient, factors)
            if found is not None:
                return found
        return self.signed_product(coefficient, factors)

    def marks(self, forms: Iterable[int]) -> set[Mark]:
        """What kinds of forms there are among some."""
        table = self.forms
        return {found.kind if type(found := table[form]) is Call else type(found) for form in forms}

    def chosen_product(self, coefficient: Exact, factors: list[tuple[int, Exact]]) -> int | None:
        """A product with a choice that may be 0: the other factors go into its branches."""
        for base, exponent in factors:
            inside = self.forms[base]
            if exponent != 1 or not isinstance(inside, Call) or inside.kind != "where":
                continue
            condition, x, y = inside.operands
            if self.zero in (x, y) and self.weights[base] <= WALKED:
                rest = [item for item in factors if item[0] != base]
                both = [self.product([*rest, (branch, ONE)], coefficient) for branch in (x, y)]
                return self.where(condition, *both)
        return None

    def signed_product(self, coefficient: Exact, factors: list[tuple[int, Exact]]) -> int:
        """A product with its sign gathered: ``-(a - b)`` is ``b - a``."""
        if coefficient < 0:
            for place, (base, exponent) in enumerate(factors):
                inside = self.forms[base]
                if base in self.named or not is_mixed(inside):
                    continue
                if exponent.denominator == 1 and exponent % 2:
                    flipped = self.sum(inside.terms, scale=-ONE)
                    rest = factors[:place] + factors[place + 1 :]
                    if flipped in dict(rest):
                        return self.product([*rest, (flipped, exponent)], -coefficient)
                    factors[place] = flipped, exponent
                    coefficient = -coefficient
                    break
        if not factors:
            return self.number(coefficient)
        if coefficient == 1 and len(factors) == 1 and factors[0][1] == 1:
            return factors[0][0]
        base, exponent = factors[0]
        inside = self.forms[base]
        alone = len(factors) == 1 and coefficient == -1 and exponent == 1
        if alone and is_mixed(inside) and base not in self.named:
            return self.sum(inside.terms, scale=-ONE)
        weight = len(factors) - 1
        for base, q in factors:
            weight += self.weights[base] + (q not in UNITS)
        weight += abs(coefficient.numerator) != 1
        weight += coefficient.denominator != 1 and not self.decimals
        key = ("product", coefficient, frozenset(factors))
        if self.order is not None and len(factors) > 1:
            factors.sort(key=self.rank)
        return self.intern(Product(coefficient, tuple(factors)), key, weight)

    def multiply(self, powers: Powers, coefficient: Exact, form: int, exponent: Exact) -> Exact:
        """Multiply a product in the making by a power of a form; return the new coefficient."""
        found = self.forms[form]
        if not isinstance(found, Number | Product):
            if exponent:
                accumulate(powers, form, exponent)
            return coefficient
        whole = exponent.denominator == 1
        if isinstance(found, Number) and exponent.denominator == 2:
            exact = rational_root(found.value) if found.value > 0 else None
            if exact is not None:
                return self.multiply(powers, coefficient, self.number(exact), exponent * 2)
        if isinstance(found, Number) and whole and (found.value or exponent > 0):
            exact = found.value if exponent == 1 else power_of(found.value, exponent)
            if exact is not None and self.writable(coefficient * exact):
                return coefficient * exact
        if isinstance(found, Product) and whole:
            is_same = exponent == 1 or found.coefficient == 1
            exact = found.coefficient if is_same else power_of(found.coefficient, exponent)
            if exact is not None and self.writable(coefficient * exact):
                for base, inner in found.factors:
                    accumulate(powers, base, inner * exponent)
                return coefficient * exact
        if exponent:
            accumulate(powers, form, exponent)
        return coefficient

    def sum(self, items: Items, whole: Collection[int] = (), scale: Exact = ONE) -> int:
        """A sum of multiples of forms, like terms gathered; the sums in ``whole`` are one term."""
        terms: Terms = {}
        for form, coefficient in items:
            if form in whole:
                self.add_term(terms, form, coefficient * scale)
            else:
                self.add(terms, form, coefficient * scale)
        for gather in self.rules.terms:
            gather(self, terms)
        kept = [(term, c) for term, c in terms.items() if c]
        if len(kept) < len(terms):
            left = [self.product([(term, ONE)], c) for term, c in terms.items() if not c]
            kept += [(form, ONE) for form in left if form != self.zero]  # 0*nan is no 0
        return self.sum_of(kept)

    def sum_of(self, terms: list[tuple[int, Exact]]) -> int:
        """A sum whose terms are gathered already, in the shortest of the ways to write it."""
        if not terms:
            return self.zero
        if len(terms) == 1:
            term, coefficient = terms[0]
            return self.product([(term, ONE)], coefficient)
        key = frozenset(terms)
        if key not in self.sums:
            plain = self.plain_sum(terms)
            if self.attempts >= DEEPEST:
                return plain
            self.sums[key] = plain  # for whoever meets it in an attempt
            self.attempts += 1
            self.sums[key] = self.rules.shortest(self, terms, plain)
            self.attempts -= 1
        return self.sums[key]

    def add(self, terms: Terms, form: int, coefficient: Exact) -> None:
        """Add a multiple of a form to a sum in the making."""
        found = self.forms[form]
        if not isinstance(found, Sum) or form in self.named:
            term, inner = self.split(form)
            self.add_term(terms, term, coefficient if inner == 1 else inner * coefficient)
            return
        for term, inner in found.terms:
            self.add_term(terms, term, coefficient if inner == 1 else inner * coefficient)

    def split(self, form: int) -> tuple[int, Exact]:
        """A form that is no sum without its coefficient, and that; a number is a multiple of 1.

        The coefficient 0 is kept, as in 0*nan: else it would be lost with the nan.
        """
        found = self.forms[form]
        if isinstance(found, Number):
            return self.one, found.value
        if isinstance(found, Product) and found.coefficient and found.coefficient != 1:
            if len(found.factors) == 1 and found.factors[0][1] == 1:
                return found.factors[0][0], found.coefficient
            return self.signed_product(ONE, list(found.factors)), found.coefficient
        return form, ONE

    def add_term(self, terms: Terms, term: int, coefficient: Exact) -> None:
        """Add to a term's coefficient, if the result can be written; else keep the two apart."""
        gathered = terms[term] + coefficient if term in terms else coefficient
        if self.writable(gathered):
            terms[term] = gathered
            return
        times = ONE
        if term == self.one:  # 1e300 + 1e-300: two numbers
            size = magnitude(coefficient)
            apart = self.intern(Number(size), ("apart", size), 1)  # 1e17 - 1 has a 1 of its own
            times = ONE if coefficient > 0 else -ONE
        else:
            whole = Product(coefficient, ((term, ONE),))
            apart = self.intern(whole, ("apart", coefficient, term), self.weights[term] + 1)
        accumulate(terms, apart, times)


def power_of(value: Exact, exponent: Exact) -> Exact | None:
    """A number to a whole power, if that can be a double."""
    return result("pow", [value, exponent]) if value else 0


def is_mixed(form: Form) -> TypeGuard[Sum]:
    """Whether a form is a sum with a negative term: one whose negative is no longer to write."""
    return isinstance(form, Sum) and any(coefficient < 0 for _, coefficient in form.terms)


def canonical(kind: str, settings: Settings, shape: Shape) -> Settings:
    """Settings that say the same are one: ``axis=-1`` of a vector is all its axes."""
    if STRUCTURAL[kind].along_axes:
        return axes_of(settings[0], shape), *settings[1:]
    return settings
