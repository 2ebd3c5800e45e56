"""Normal forms: expressions as sums and products whose terms and factors are gathered.

A form is a number in a table; equal forms are one, whatever the order of their terms.  What is kept
of an order is the one in which a form was met first, so that people find their own terms as they wrote
them.  Numbers are fractions: a constant is the decimal that was typed.  Every rewrite is exact in real
arithmetic wherever both sides are defined; none of them expands a product, unless that gets shorter.

This file holds the table; ``algebra`` makes sums and products of forms, by rules that ``sum_rules``,
``product_rules`` and ``structural_rules`` state.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from exprgrad.derive.constant_folding import (
    EXACT_BELOW,
    ONE,
    Exact,
    as_decimal,
    as_double,
    as_typed,
    compared,
    magnitude,
    ratio,
    result,
)
from exprgrad.graph.graph import Literal, Settings, Shape
from exprgrad.graph.ops import COMPARISONS
from exprgrad.graph.structural import broadcast_shape
from exprgrad.graph.tensors import STRUCTURAL

__all__ = [
    "UNITS", "Call", "Form", "Forms", "Items", "Leaf", "Number", "Product", "Sum",
    "accumulate", "common_number", "content", "rational_root",
]  # fmt: skip


class Number(NamedTuple):
    """An exact number."""

    value: Exact


class Leaf(NamedTuple):
    """An input by its name, or a constant that is no fraction: a named one, ``inf`` or ``nan``."""

    name: str
    value: float | None


class Call(NamedTuple):
    """An operation on forms that is neither a sum nor a product; a power if its exponent is not a number.

    ``settings`` are those of a structural operation, which is given every operand in its full shape.
    """

    kind: str
    operands: tuple[int, ...]
    settings: Settings | None = None


class Product(NamedTuple):
    """A coefficient times powers of forms, at least one; none of them a number to a whole power."""

    coefficient: Exact
    factors: tuple[tuple[int, Exact], ...]


class Sum(NamedTuple):
    """Two or more terms with their coefficients; a constant is a multiple of the number 1."""

    terms: tuple[tuple[int, Exact], ...]


Form = Number | Leaf | Literal | Call | Product | Sum
Items = Iterable[tuple[int, Exact]]

UNITS = (1, -1)
"""Coefficients and exponents that take no operation to write."""
LATEST = 8
"""How many products with the same factor are remembered."""
MOST = 10**9
"""Where counting the operations of a form stops."""


class Forms:
    """The forms of one simplification.

    ``decimals``  whether numbers are written as decimals where that is exact, or as fractions
    ``share``     whether what is there already is used rather than written as usual
    ``by_hand``   whether identities are used, and all that makes a formula short to read
    ``weights``   by form: how many operations it takes to write
    ``lengths``   the forms' lengths as text, as far as anyone asked
    ``named``     what a person gave a name, if it is long: it stays whole, and counts as a name
    ``names_by_factor``  products that are used as a whole, by their longest factor
    ``attempts``  how many attempts to shorten something are under way, one within the other
    ``sums``, ``products``  the shortest way to write a sum, by its terms, and a product, by its factors
    ``several``   whether several derivatives are read, one after the other
    ``readings``  the form of each sum and product that was read, for the derivatives with respect to others
    ``order``     the inputs' places in the formula; while it is None, what is read is left as it was typed
    ``typed``     the number of forms that were there when the order became known
    ``inputs``    the shapes of the inputs that are tensors
    ``shapes``    the forms' own shapes, as far as anyone asked
    """

    def __init__(self, *, decimals: bool, share: bool = False, by_hand: bool = False) -> None:
        self.decimals = decimals
        self.share = share
        self.by_hand = by_hand
        self.forms: list[Form] = []
        self.weights: list[int] = []
        self.lengths: list[int] = []
        self.known: dict[object, int] = {}
        self.attempts = 0
        self.sums: dict[frozenset[tuple[int, Exact]], int] = {}
        self.products: dict[tuple[Exact, frozenset[tuple[int, Exact]]], int] = {}
        self.several = False
        self.readings: dict[tuple[object, ...], int] = {}
        self.order: dict[int, int] | None = None
        self.typed = 0
        self.named: dict[int, Form] = {}
        self.names_by_factor: dict[int, list[int]] = {}
        self.inputs: dict[str, Shape] = {}
        self.shapes: list[Shape] = []
        self.one = self.number(ONE)
        self.zero = self.number(0)

    def intern(self, form: Form, key: object, weight: int) -> int:
        """The number of a form; ``key`` is what all its spellings have in common."""
        found = self.known.get(key)
        if found is None:
            found = self.known[key] = len(self.forms)
            self.forms.append(form)
            self.weights.append(weight if weight < MOST else MOST)
        return found

    def name(self, form: int) -> None:
        """Note that a form has a name."""
        self.remember(form)
        self.named[form] = self.forms[form]
        self.weights[form] = 0
        if form < len(self.lengths):
            self.lengths[form] = 1

    def remember(self, form: int) -> None:
        """Note a product that others may use as a whole; of those with the same factor, the latest."""
        found = self.forms[form]
        if isinstance(found, Product) and len(found.factors) > 1:
            rarest = max(found.factors, key=lambda factor: self.weights[factor[0]])[0]
            alike = self.names_by_factor.setdefault(rarest, [])
            if form not in alike:
                alike.append(form)
                del alike[:-LATEST]

    def number(self, value: Exact) -> int:
        """An exact number."""
        found = self.known.get(value)
        if found is not None:
            return found
        weight = 0 if value.denominator == 1 or self.decimals else 1
        return self.intern(Number(value), value, weight)

    def leaf(self, name: str, value: float | None) -> int:
        """An input, or with a value a named constant."""
        return self.intern(Leaf(name, value), ("leaf", name, value is None), 0)

    def literal(self, literal: Literal) -> int:
        """A tensor that is written out."""
        return self.intern(literal, ("literal", repr(literal)), 0)

    def constant(self, value: float, symbol: str | None) -> int:
        """A constant: by its name if it has one, else the decimal that it is written as."""
        if symbol is not None or not math.isfinite(value):
            return self.leaf(symbol or repr(value), value)
        return self.number(as_typed(value))

    def value(self, form: int) -> Exact | None:
        """A number's value; None for other forms."""
        found = self.forms[form]
        return found.value if isinstance(found, Number) else None

    def shape(self, form: int) -> Shape:
        """A form's own shape: what its parts broadcast to."""
        for found in self.forms[len(self.shapes) : form + 1]:
            self.shapes.append(self.shape_of(found))
        return self.shapes[form]

    def shape_of(self, form: Form) -> Shape:
        """The same, the shapes of its parts being known."""
        match form:
            case Number():
                return ()
            case Leaf(name, value):
                return self.inputs.get(name, ()) if value is None else ()
            case Literal(shape):
                return shape
            case Product(_, parts) | Sum(parts):
                return broadcast_shape([self.shapes[part] for part, _ in parts])
            case Call(kind, operands, settings):
                given = [self.shapes[operand] for operand in operands]
                if settings is not None:
                    return STRUCTURAL[kind].shape(given, settings)
                return broadcast_shape(given)

    def factors_of(self, term: int) -> dict[int, Exact]:
        """A term's factors with their powers."""
        found = self.forms[term]
        return dict(found.factors) if isinstance(found, Product) else {term: ONE}

    def shared_factors(self, terms: Items) -> dict[int, list[Exact]]:
        """The factors that all of some terms have, and their powers term by term."""
        if not terms:
            return {}
        each = [self.factors_of(term) for term, _ in terms]
        alike = [base for base in each[0] if all(base in factors for factors in each)]
        return {base: [factors[base] for factors in each] for base in alike}

    def settled(self, kind: str, values: Sequence[Exact]) -> Exact | None:
        """The result of an operation on numbers, where it can be written."""
        if kind in COMPARISONS:
            first, second = map(as_double, values)
            if first is None or second is None:
                return None  # as decimals they may compare otherwise than as doubles
            return int(compared(kind, first, second))
        exact = result(kind, values)
        return exact if exact is not None and self.writable(exact) else None

    def writable(self, value: Exact) -> bool:
        """Whether a number reads back as itself: as a decimal, or as a quotient of whole numbers."""
        if isinstance(value, int) and -EXACT_BELOW <= value <= EXACT_BELOW:
            return True
        if self.decimals and as_decimal(value) is not None:
            return True
        return None not in (as_decimal(part) for part in value.as_integer_ratio())

    def is_negative(self, form: int) -> bool:
        """Whether a form is written with a minus throughout."""
        found = self.forms[form]
        if isinstance(found, Sum):
            return all(coefficient < 0 for _, coefficient in found.terms)
        return isinstance(found, Product) and found.coefficient < 0

    def is_infinite(self, form: int) -> bool:
        """Whether a form is ``inf`` or ``nan``, which times 0 is no 0."""
        found = self.forms[form]
        return (
            isinstance(found, Leaf) and found.value is not None and not math.isfinite(found.value)
        )

    def is_lasting(self, base: int, exponent: Exact) -> bool:
        """Whether a power times 0 is no 0: that of ``inf`` or ``nan``, and 1/0."""
        return self.is_infinite(base) or (base == self.zero and exponent < 0)

    def is_positive(self, form: int) -> bool:
        """Whether a form is a constant above 0."""
        found = self.forms[form]
        return isinstance(found, Number | Leaf) and found.value is not None and found.value > 0

    def known_negative(self, found: Sum) -> int | None:
        """The form of a sum with the other sign, if there is one already."""
        return self.known.get(("sum", frozenset((term, -c) for term, c in found.terms)))

    def plain_sum(self, terms: Sequence[tuple[int, Exact]]) -> int:
        """A sum as it is."""
        weight = len(terms) - 1
        for term, coefficient in terms:
            weight += self.weights[term] + (coefficient not in UNITS and term != self.one)
        key = ("sum", frozenset(terms))
        if self.by_hand and self.order is not None and key not in self.known:
            terms = self.by_degree(terms)
        return self.intern(Sum(tuple(terms)), key, weight)

    def by_degree(self, terms: Sequence[tuple[int, Exact]]) -> Sequence[tuple[int, Exact]]:
        """A polynomial in one name, its powers falling; rising, where only so it begins without a minus."""
        if len(terms) < 3:
            return terms
        degrees: list[tuple[int, Exact]] = []
        for term, _ in terms:
            degree = self.degree(term)
            if degree[1] < 0:
                return terms
            degrees.append(degree)
        if len({name for name, _ in degrees if name >= 0}) != 1:
            return terms
        placed = sorted(zip(degrees, terms, strict=True), key=lambda each: -each[0][1])
        if placed[0][1][1] < 0 < placed[-1][1][1]:
            placed.reverse()
        return [term for _, term in placed]

    def degree(self, term: int) -> tuple[int, Exact]:
        """The name that a term is a power of, and the power; -1 if it is no power of a name."""
        if term == self.one:
            return -1, 0
        ((base, power), *more) = self.factors_of(term).items()
        is_power = isinstance(self.forms[base], Leaf) and power.denominator == 1 and not more
        return (base, power) if is_power else (-1, -1)

    def rank(self, factor: tuple[int, Exact]) -> tuple[int, int, int]:
        """Where a factor stands: constants, names and their powers, other powers and calls, sums."""
        base = factor[0]
        found = self.forms[base]
        if isinstance(found, Leaf) and found.value is None:
            return 1, (self.order or {}).get(base, 0), 0
        if isinstance(found, Literal):
            return 0, 0, base
        if isinstance(found, Leaf | Number):
            return (0 if factor[1].denominator == 1 else 2), 0, base
        if isinstance(found, Sum):
            return 4, self.weights[base], base
        is_power = isinstance(found, Call) and found.kind == "pow"
        return 2 if is_power else 3, self.weights[base], base


def common_number(coefficients: Sequence[Exact]) -> Exact:
    """A number of which all coefficients are whole multiples, with their sign if they all have one."""
    sizes = [magnitude(c) for c in coefficients]
    least = min(sizes)
    sign = -1 if max(coefficients) < 0 else 1
    if all(size.denominator == 1 for size in sizes):
        return sign * math.gcd(*[size.numerator for size in sizes])
    return sign * least if all(ratio(size, least).denominator == 1 for size in sizes) else sign


def content(coefficients: Sequence[Exact]) -> Exact:
    """The number that leaves whole coefficients without a common divisor: 1/2 of ``5/2`` and ``-3/2``."""
    above = math.gcd(*[c.numerator for c in coefficients])
    return ratio(above, math.lcm(*[c.denominator for c in coefficients]))


def accumulate(found: dict[int, Exact], form: int, amount: Exact) -> None:
    """Add to a form's exponent in a product in the making, or to its coefficient in a sum."""
    found[form] = found[form] + amount if form in found else amount


def rational_root(value: Exact) -> Exact | None:
    """A square root, where it is rational."""
    if value < 0:
        return None
    found = ratio(math.isqrt(value.numerator), math.isqrt(value.denominator))
    return found if found * found == value else None
