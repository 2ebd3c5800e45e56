"""Normal forms: expressions as sums and products whose terms and factors are gathered.

A form is a number in a table; equal forms have one number, whatever the order of their terms.  A form keeps
the order in which it was met first, so that people find their own terms as they wrote
them.  Numbers are fractions: a constant is the decimal that was typed.  Every rewrite is exact in real
arithmetic wherever both sides are defined; none of them expands a product, unless that gets shorter.

The rewriting of sums, products and powers as they are made is data (``RewriteRules``): ``identities``,
``sums_and_products`` and ``structural_rules`` say what there is, and ``simplify`` puts them together.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence, Set
from typing import NamedTuple

from exprgrad.derive.build import (
    EXACT_BELOW,
    HALF,
    NEGATIVES,
    ONE,
    Exact,
    compare_doubles,
    exact_double,
    exact_from_shortest,
    exact_integer_power,
    exact_magnitude,
    exact_ratio,
    exact_result,
    shortest_double,
)
from exprgrad.graph.graph import INPUT, Budget, Graph, Literal, Settings, Shape
from exprgrad.graph.ops import BY_NAME, COMPARISONS, PRODUCTS, SUMS
from exprgrad.graph.structural import broadcast_shape, normalize_axes
from exprgrad.graph.tensors import STRUCTURAL

__all__ = [
    "DEEPEST", "MOST_FACTORS", "SHORT", "WALKED", "CallForm", "Coefficients", "Form", "Forms", "Items",
    "Leaf", "NumberForm", "Operand", "Powers", "Product", "RewriteRules", "Sum", "Terms", "accumulate_form",
    "common_content", "read_forms", "signed_common_divisor",
]  # fmt: skip


class NumberForm(NamedTuple):
    """An exact number."""

    value: Exact


class Leaf(NamedTuple):
    """An input by its name, or a constant that is no fraction: a named one, ``inf`` or ``nan``."""

    name: str
    value: float | None


class CallForm(NamedTuple):
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


Form = NumberForm | Leaf | Literal | CallForm | Product | Sum
Items = Iterable[tuple[int, Exact]]
Coefficients = dict[int, Exact]
"""A polynomial in one name, by degree."""

UNITS = (1, -1)
"""Coefficients and exponents that cost no operation."""
LATEST = 8
"""The most products remembered for each factor."""
MOST = 10**9
"""The most operations counted for a form."""

Operand = tuple[int, Shape]
"""A form, and the shape of the node that it stands for; a smaller form is repeated to that shape."""
Powers = dict[int, Exact]
"""A product in the making: the exponents of its factors."""
Terms = dict[int, Exact]
"""A sum in the making: the coefficients of its terms."""

LOOK_EVERY = 1024
"""The number of rewrites between two looks at the budget."""
DEEPEST = 2
"""The deepest nesting of attempts to shorten a sum or a product."""
WALKED = 60
"""The most operations of a form that is rewritten as a whole, so that deep nests cost little."""


Mark = str | type[Form]
"""The kind of a form: an operation's name, or the class of any other form, such as ``Sum``."""


class RewriteRules(NamedTuple):
    """How forms are rewritten while they are made.

    ``factors``     steps that tidy a product, each with the ``marks`` of the factors that it is about;
                    None is all; they change the powers, and return the new coefficient
    ``share``       what a product is, where it is an operand's share of a ``max`` or ``min``
    ``terms``       steps that gather terms of a sum
    ``shortest``    the shortest way to write a sum, given its terms and the sum as it is
    ``structural``  a shorter form of a structural operation, if there is one
    ``call``        what a function of something is, if there is an identity
    """

    factors: tuple[tuple[Collection[Mark] | None, Callable[[Forms, Powers, Exact], Exact]], ...]
    share: Callable[[Forms, Powers, Exact], int | None]
    terms: tuple[Callable[[Forms, Terms], None], ...]
    shortest: Callable[[Forms, list[tuple[int, Exact]], int], int]
    structural: Callable[[Forms, str, tuple[Operand, ...], Settings], int | None]
    call: Callable[[Forms, str, int], int | None]


class Forms:
    """The forms of one simplification, and how new ones are made of them, by some rules.

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
    ``work``      how many rewrites there were, the ``budget`` for them, and the formula's ``place``
    ``shapes``    the forms' own shapes, as far as anyone asked
    """

    def __init__(
        self, rules: RewriteRules, *, decimals: bool, share: bool = False, by_hand: bool = False
    ) -> None:
        self.rules = rules
        # Most products have no factor that any step is about, and are spared all those steps at once.
        self.about = {mark for about, _ in rules.factors for mark in about or ()}
        self.anyway = tuple([each for each in rules.factors if each[0] is None])
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
        self.work, self.budget, self.place = 0, Budget(), (0, 0)
        self.one = self.number(ONE)
        self.zero = self.number(0)

    def intern(self, form: Form, key: object, weight: int) -> int:
        """Return the number of a form; ``key`` is the same for all its spellings."""
        found = self.known.get(key)
        self.work += 1
        if self.work % LOOK_EVERY == 0:
            self.budget.refuse_beyond(self.work, "simplifying", self.place)
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

    def remember(self, form: int) -> None:
        """Remember a product for others to use as a whole: of those with the same factor, the latest."""
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
        return self.intern(NumberForm(value), value, weight)

    def leaf(self, name: str, value: float | None) -> int:
        """An input, or with a value a named constant."""
        return self.intern(Leaf(name, value), ("leaf", name, value is None), 0)

    def literal(self, literal: Literal) -> int:
        """A tensor that is written out."""
        return self.intern(literal, ("literal", repr(literal)), 0)

    def constant(self, value: float, symbol: str | None, text: str = "") -> int:
        """Return a constant: by its name if it has one, else as the decimal that was typed.

        A whole number keeps the digits of its ``text``, which may be more than a double has.
        """
        if symbol is not None or not math.isfinite(value):
            return self.leaf(symbol or repr(value), value)
        return self.number(int(text) if text.isdecimal() else exact_from_shortest(value))

    def value(self, form: int) -> Exact | None:
        """A number's value; None for other forms."""
        found = self.forms[form]
        return found.value if isinstance(found, NumberForm) else None

    def shape(self, form: int) -> Shape:
        """Return a form's own shape, to which its parts broadcast."""
        for found in self.forms[len(self.shapes) : form + 1]:
            self.shapes.append(self.shape_of(found))
        return self.shapes[form]

    def shape_of(self, form: Form) -> Shape:
        """Return a form's shape, given the shapes of its parts."""
        match form:
            case NumberForm():
                return ()
            case Leaf(name, value):
                return self.inputs.get(name, ()) if value is None else ()
            case Literal(shape):
                return shape
            case Product(_, parts) | Sum(parts):
                return broadcast_shape([self.shapes[part] for part, _ in parts])
            case CallForm(kind, operands, settings):
                given = [self.shapes[operand] for operand in operands]
                if settings is not None:
                    return STRUCTURAL[kind].shape(given, settings)
                return broadcast_shape(given)

    def factors_of(self, term: int) -> dict[int, Exact]:
        """A term's factors with their powers."""
        found = self.forms[term]
        return dict(found.factors) if isinstance(found, Product) else {term: ONE}

    def shared_factors(self, terms: Items) -> dict[int, list[Exact]]:
        """Return the factors that all terms share, with their powers term by term."""
        if not terms:
            return {}
        each = [self.factors_of(term) for term, _ in terms]
        alike = [base for base in each[0] if all(base in factors for factors in each)]
        return {base: [factors[base] for factors in each] for base in alike}

    def settled(self, kind: str, values: Sequence[Exact]) -> Exact | None:
        """Return the result of an operation on numbers; None if it cannot be written."""
        if kind in COMPARISONS:
            first, second = map(exact_double, values)
            if first is None or second is None:
                return None  # as decimals they may compare otherwise than as doubles
            return int(compare_doubles(kind, first, second))
        exact = exact_result(kind, values)
        return exact if exact is not None and self.writable(exact) else None

    def writable(self, value: Exact) -> bool:
        """Whether a number reads back as itself: as a decimal, or as a quotient of whole numbers."""
        if isinstance(value, int) and -EXACT_BELOW <= value <= EXACT_BELOW:
            return True
        if self.decimals and shortest_double(value) is not None:
            return True
        return None not in (shortest_double(part) for part in value.as_integer_ratio())

    def is_negative(self, form: int) -> bool:
        """Whether a form is written with a minus throughout."""
        found = self.forms[form]
        if isinstance(found, Sum):
            return all(coefficient < 0 for _, coefficient in found.terms)
        return isinstance(found, Product) and found.coefficient < 0

    def is_infinite(self, form: int) -> bool:
        """Whether a form is ``inf`` or ``nan``, which times 0 is not 0."""
        found = self.forms[form]
        return (
            isinstance(found, Leaf) and found.value is not None and not math.isfinite(found.value)
        )

    def is_positive(self, form: int) -> bool:
        """Whether a form is a constant above 0."""
        found = self.forms[form]
        return isinstance(found, NumberForm | Leaf) and found.value is not None and found.value > 0

    def known_negative(self, found: Sum) -> int | None:
        """Return the negative of a sum, if that form exists already."""
        return self.known.get(("sum", frozenset((term, -c) for term, c in found.terms)))

    def plain_sum(self, terms: Sequence[tuple[int, Exact]]) -> int:
        """Return a sum as it is, without looking for a shorter way to write it."""
        weight = len(terms) - 1
        for term, coefficient in terms:
            weight += self.weights[term] + (coefficient not in UNITS and term != self.one)
        key = ("sum", frozenset(terms))
        if self.by_hand and self.order is not None and key not in self.known:
            terms = self.by_degree(terms)
        return self.intern(Sum(tuple(terms)), key, weight)

    def by_degree(self, terms: Sequence[tuple[int, Exact]]) -> Sequence[tuple[int, Exact]]:
        """Sort a polynomial in one name by falling powers, or rising to avoid a leading minus."""
        found = self.polynomial(terms) if len(terms) > 2 else None
        if found is None:
            return terms
        placed = sorted(zip(found[1], terms, strict=True), key=lambda each: -each[0])
        if placed[0][1][1] < 0 < placed[-1][1][1]:
            placed.reverse()
        return [term for _, term in placed]

    def polynomial(self, terms: Items) -> tuple[int, Coefficients] | None:
        """Read a sum as a polynomial: its name, and its coefficients by degree; None for any other sum."""
        names, found = set[int](), Coefficients()
        for term, coefficient in terms:
            degree = 0
            if term != self.one:
                ((base, exponent), *more) = self.factors_of(term).items()
                if more or not isinstance(self.forms[base], Leaf) or exponent.denominator != 1:
                    return None
                names.add(base)
                degree = int(exponent)
            if degree < 0 or degree in found:
                return None
            found[degree] = coefficient
        return (names.pop(), found) if len(names) == 1 else None

    def rank(self, factor: tuple[int, Exact]) -> tuple[int, int, int]:
        """Return a factor's place: constants, names and their powers, other powers, calls, sums."""
        base = factor[0]
        found = self.forms[base]
        if isinstance(found, Leaf) and found.value is None:
            return 1, (self.order or {}).get(base, 0), 0
        if isinstance(found, Literal):
            return 0, 0, base
        if isinstance(found, Leaf | NumberForm):
            return (0 if factor[1].denominator == 1 else 2), 0, base
        if isinstance(found, Sum):
            return 4, self.weights[base], base
        is_power = isinstance(found, CallForm) and found.kind == "pow"
        return 2 if is_power else 3, self.weights[base], base

    # Operations.

    def call(self, kind: str, operands: tuple[int, ...]) -> int:
        """Return the form of a call; sums, products and powers have methods of their own."""
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
        if isinstance(inner, CallForm) and inner.kind == BY_NAME[kind].inverse:
            return inner.operands[0]
        if self.by_hand and self.order is not None:
            better = self.rules.call(self, kind, operands[0])
            if better is not None:
                return better
        is_same = operands[0] == operands[-1] and not self.is_infinite(operands[0])
        if kind in COMPARISONS and is_same and values[0] is None:
            return self.number(int(compare_doubles(kind, 0, 0)))
        if kind in COMPARISONS:
            kind, operands = self.comparison(kind, operands)
        weight = 1 + sum([self.weights[operand] for operand in operands])
        return self.intern(CallForm(kind, operands), (kind, operands), weight)

    def structural(self, kind: str, operands: tuple[Operand, ...], settings: Settings) -> int:
        """Return the form of a structural operation; those that a person typed stay as written."""
        if kind == "broadcast":
            return operands[0][0]
        whole = tuple([self.stretched(*operand) for operand in operands])
        canonical = settings  # axis=-1 of a vector is all its axes
        if STRUCTURAL[kind].along_axes:
            canonical = normalize_axes(settings[0], operands[0][1]), *settings[1:]
        key = (kind, whole, canonical)
        if key not in self.known:
            is_typed = self.order is None
            found = None if is_typed else self.rules.structural(self, kind, operands, settings)
            if found is None:
                weight = 1 + sum(self.weights[form] for form in whole)
                return self.intern(CallForm(kind, whole, settings), key, weight)
            self.known[key] = found
        return self.known[key]

    def stretched(self, form: int, shape: Shape) -> int:
        """Broadcast a form to ``shape``, unless it already has that shape."""
        if not shape or self.shape(form) == shape:
            return form
        weight = 1 + self.weights[form]
        return self.intern(
            CallForm("broadcast", (form,), (shape,)), ("broadcast", form, shape), weight
        )

    def root(self, form: int) -> int:
        """Return a square root as a power; a product of constants has the product of their roots."""
        found = self.forms[form]
        parts: list[tuple[int, Exact]] = [(form, HALF)]
        if isinstance(found, Product) and all(self.is_positive(base) for base, _ in found.factors):
            parts = [(base, exact_ratio(exponent, 2)) for base, exponent in found.factors]
            parts.insert(0, (self.number(found.coefficient), HALF))
        return self.product(parts)

    def where(self, condition: int, x: int, y: int) -> int:
        """Return a choice; equal branches need none, nor does a branch that asks again."""
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
        return self.intern(CallForm("where", (condition, x, y)), ("where", condition, x, y), weight)

    def branch(self, condition: int, form: int, side: int) -> int:
        """Return the branch that a ``where`` takes if the condition holds (side 0) or not (side 1)."""
        found = self.forms[form]
        if isinstance(found, CallForm) and found.kind == "where" and found.operands[0] == condition:
            return found.operands[1 + side]
        return form

    def opposite(self, condition: int) -> int:
        """Return the opposite of a comparison; any other condition is returned unchanged."""
        found = self.forms[condition]
        if isinstance(found, CallForm) and found.kind in COMPARISONS:
            return self.call(BY_NAME[found.kind].opposite, found.operands)
        return condition

    def asked(self, condition: int) -> int:
        """Simplify a condition: ``where(c, 3, 0) != 0`` and ``c != 0`` ask whether c holds."""
        while True:
            match self.forms[condition]:
                case CallForm("ne", (inner, self.zero)):
                    question = self.forms[inner]
                case _:
                    return condition
            match question:
                case CallForm(kind) if kind in COMPARISONS:
                    condition = inner
                case CallForm("where", (c, x, self.zero)) if self.value(x):
                    condition = c
                case _:
                    return condition

    def comparison(self, kind: str, operands: tuple[int, ...]) -> tuple[str, tuple[int, ...]]:
        """Put a comparison's number on its right; ``x == max(x, y)`` becomes ``x >= y``."""
        for x, other in (operands, operands[::-1]):
            found = self.forms[other]
            if kind != "eq" or not isinstance(found, CallForm):
                continue
            winner = BY_NAME[found.kind].winner if found.kind in BY_NAME else ""
            if winner and len(found.operands) == 2 and x in found.operands:
                kind, operands = winner, (x, found.operands[found.operands[0] == x])
        if self.value(operands[0]) is not None and self.value(operands[1]) is None:
            kind, operands = BY_NAME[kind].mirror, operands[::-1]
        return kind, operands

    def power(self, base: int, exponent: int, whole: Collection[int] = ()) -> int:
        """Return a power, as a factor of a product if the exponent is a number."""
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
        return self.intern(CallForm("pow", (base, exponent)), ("pow", base, exponent), weight)

    def negated(self, form: int) -> int:
        """Return the negative of a form that has a minus throughout."""
        found = self.forms[form]
        if isinstance(found, Product):
            return self.signed_product(-found.coefficient, list(found.factors))
        assert isinstance(found, Sum)
        return self.sum(found.terms, scale=-ONE)

    def product(self, items: Items, coefficient: Exact = ONE, whole: Collection[int] = ()) -> int:
        """Return a product of powers, like factors gathered; those in ``whole`` stay whole."""
        powers: Powers = {}
        for form, exponent in items:
            if form in whole:
                is_product = isinstance(self.forms[form], Product)
                if exponent.denominator == 1 and is_product and self.is_negative(form):
                    form = self.negated(form)
                    coefficient *= exact_integer_power(-ONE, exponent)
                accumulate_form(powers, form, exponent)
            else:
                coefficient = self.multiply(powers, coefficient, form, exponent)
        lasting = (  # 0 times inf or nan is no 0, nor is 0 times 1/0
            self.is_infinite(base) or (base == self.zero and exponent < 0)
            for base, exponent in powers.items()
        )
        if not coefficient and not any(lasting):
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
                    return self.signed_product(coefficient * 0, [*factors, (base, ONE)])
        if "where" in marks and len(factors) + (coefficient != 1) > 1:
            found = self.chosen_product(coefficient, factors)
            if found is not None:
                return found
        return self.signed_product(coefficient, factors)

    def marks(self, forms: Iterable[int]) -> set[Mark]:
        """Return the kinds of some forms."""
        table = self.forms
        return {
            found.kind if type(found := table[form]) is CallForm else type(found) for form in forms
        }

    def chosen_product(self, coefficient: Exact, factors: list[tuple[int, Exact]]) -> int | None:
        """Move a product's other factors into the branches of a choice, if one of them is 0."""
        for base, exponent in factors:
            inside = self.forms[base]
            if exponent != 1 or not isinstance(inside, CallForm) or inside.kind != "where":
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
                if base in self.named or not isinstance(inside, Sum):
                    continue
                is_mixed = any(c < 0 for _, c in inside.terms)  # its negative is no longer to write
                if is_mixed and exponent.denominator == 1 and exponent % 2:
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
        if not isinstance(found, NumberForm | Product):
            if exponent:
                accumulate_form(powers, form, exponent)
            return coefficient
        whole = exponent.denominator == 1
        if isinstance(found, NumberForm) and exponent.denominator == 2:
            exact = rational_root(found.value) if found.value > 0 else None
            if exact is not None:
                return self.multiply(powers, coefficient, self.number(exact), exponent * 2)
        if isinstance(found, NumberForm) and whole and (found.value or exponent > 0):
            exact = found.value if exponent == 1 else exact_power(found.value, exponent)
            if exact is not None and self.writable(coefficient * exact):
                return coefficient * exact
        if isinstance(found, Product) and whole:
            is_same = exponent == 1 or found.coefficient == 1
            exact = found.coefficient if is_same else exact_power(found.coefficient, exponent)
            if exact is not None and self.writable(coefficient * exact):
                for base, inner in found.factors:
                    accumulate_form(powers, base, inner * exponent)
                return coefficient * exact
        if exponent:
            accumulate_form(powers, form, exponent)
        return coefficient

    def sum(self, items: Items, whole: Collection[int] = (), scale: Exact = ONE) -> int:
        """Return a sum of multiples of forms, like terms gathered; those in ``whole`` stay whole."""
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
        """Return the sum of gathered terms, in the shortest way to write it."""
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
            self.sums[key] = plain  # if an attempt meets it again
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
        """Split a form that is not a sum into the form without its coefficient, and the coefficient.

        A number is a multiple of 1.

        The coefficient 0 is kept, as in 0*nan: else it would be lost with the nan.
        """
        found = self.forms[form]
        if isinstance(found, NumberForm):
            return self.one, found.value
        if isinstance(found, Product) and found.coefficient and found.coefficient != 1:
            if len(found.factors) == 1 and found.factors[0][1] == 1:
                return found.factors[0][0], found.coefficient
            return self.signed_product(ONE, list(found.factors)), found.coefficient
        return form, ONE

    def add_term(self, terms: Terms, term: int, coefficient: Exact) -> None:
        """Add to a term's coefficient; if the result cannot be written, keep the two apart."""
        gathered = terms[term] + coefficient if term in terms else coefficient
        if self.writable(gathered):
            terms[term] = gathered
            return
        times = ONE
        if term == self.one:  # 1e300 + 1e-300: two numbers
            size = exact_magnitude(coefficient)
            apart = self.intern(NumberForm(size), ("apart", size), 1)  # 1e17 - 1 has a 1 of its own
            times = ONE if coefficient > 0 else -ONE
        else:
            whole = Product(coefficient, ((term, ONE),))
            apart = self.intern(whole, ("apart", coefficient, term), self.weights[term] + 1)
        accumulate_form(terms, apart, times)


def signed_common_divisor(coefficients: Sequence[Exact]) -> Exact:
    """Return a number that divides all coefficients, negative if they all are."""
    sizes = [exact_magnitude(c) for c in coefficients]
    least = min(sizes)
    sign = -1 if max(coefficients) < 0 else 1
    if all(size.denominator == 1 for size in sizes):
        return sign * math.gcd(*[size.numerator for size in sizes])
    return (
        sign * least if all(exact_ratio(size, least).denominator == 1 for size in sizes) else sign
    )


def common_content(coefficients: Sequence[Exact]) -> Exact:
    """Return the number to divide by for coprime whole coefficients: 1/2 for ``5/2`` and ``-3/2``."""
    above = math.gcd(*[c.numerator for c in coefficients])
    return exact_ratio(above, math.lcm(*[c.denominator for c in coefficients]))


def accumulate_form(found: dict[int, Exact], form: int, amount: Exact) -> None:
    """Add to a form's exponent in a product in the making, or to its coefficient in a sum."""
    found[form] = found[form] + amount if form in found else amount


def rational_root(value: Exact) -> Exact | None:
    """Return a square root if it is rational, else None."""
    if value < 0:
        return None
    found = exact_ratio(math.isqrt(value.numerator), math.isqrt(value.denominator))
    return found if found * found == value else None


def exact_power(value: Exact, exponent: Exact) -> Exact | None:
    """Return a number to a whole power; None if that is too large for a double."""
    return exact_result("pow", [value, exponent]) if value else 0


# Graphs as forms.

CHAINS = {
    **dict.fromkeys(PRODUCTS | NEGATIVES, "product"),
    **dict.fromkeys(SUMS - NEGATIVES, "sum"),
}
"""By row, the chain that it is a link of; a negative is a factor -1."""
LINKS = {
    kind: (1,) if kind in NEGATIVES else row.signs or row.powers for kind, row in BY_NAME.items()
}
"""Kind of chain → each operand's sign, or its power."""
MOST_FACTORS = 12
"""The most factors of a product that is taken apart."""
SHORT = 8
"""The most operations of a shared sum that is taken apart by those who use it."""
WORTH_A_NAME = 2
"""A named form with more operations than this is never taken apart."""
OPENED = 200
"""The most operations of any that is, so that the work stays linear."""


def read_forms(
    forms: Forms,
    graph: Graph,
    outputs: tuple[int, ...],
    short: int,
    bound: Collection[int] = (),
) -> dict[int, int]:
    """Return the form of each node that the outputs need.

    A chain of sums or of products, each used once, is read as one sum or product.  The nodes
    ``bound`` have names.
    """
    uses = count_uses(graph, outputs)
    absorbed = absorbed_nodes(graph, uses)
    images: dict[int, int] = {}
    whole, bound = set(forms.named), frozenset(bound)
    for node in sorted(uses.keys() - absorbed):
        images[node] = form = read_node(forms, graph, node, images, absorbed, whole)
        if forms.share:
            forms.remember(form)
        if node in bound and forms.weights[form] > WORTH_A_NAME:
            forms.name(form)
            whole.add(form)
        elif is_kept_whole(forms, form, short if uses[node] > 1 else OPENED):
            whole.add(form)
    return images


def read_node(
    forms: Forms,
    graph: Graph,
    node: int,
    images: Mapping[int, int],
    absorbed: Set[int],
    whole: Collection[int],
) -> int:
    """Return the form of one node; the forms in ``whole`` are not taken apart."""
    kind, payload = graph.kinds[node], graph.payloads[node]
    if kind == INPUT:
        return forms.leaf(str(payload), None)
    link = CHAINS.get(kind)
    if link is not None:
        leaves, sign = chain_leaves(graph, node, absorbed)
        items = [(images[leaf], power) for leaf, power in leaves]
        return read_chain(forms, link, items, sign, whole)
    if isinstance(payload, Literal):
        return forms.literal(payload)
    if isinstance(payload, float):
        return forms.constant(payload, graph.symbols.get(node), graph.spelled.get(node, ""))
    operands = tuple([images[operand] for operand in graph.operands[node]])
    if kind == "pow":
        return forms.power(operands[0], operands[1], whole)
    if isinstance(payload, tuple):
        shapes = [graph.shape(operand) for operand in graph.operands[node]]
        return forms.structural(kind, tuple(zip(operands, shapes, strict=True)), payload)
    return forms.call(kind, operands)


def read_chain(
    forms: Forms,
    link: str,
    items: list[tuple[int, Exact]],
    sign: Exact,
    whole: Collection[int],
) -> int:
    """Return a sum or product of forms, looked up if another derivative has it too."""
    is_kept = forms.several and forms.order is not None and not forms.share
    key = (link, sign, *items, *[form for form, _ in items if form in whole]) if is_kept else ()
    found = forms.readings.get(key)
    if found is None:
        found = forms.sum(items, whole) if link == "sum" else forms.product(items, sign, whole)
        if is_kept:
            forms.readings[key] = found
    return found


def is_kept_whole(forms: Forms, form: int, short: int) -> bool:
    """Whether a form stays whole where it is used: a sum by its operations, a product by its factors."""
    found = forms.forms[form]
    if isinstance(found, Product) and not forms.share:
        return len(found.factors) > MOST_FACTORS
    return forms.weights[form] > short


def count_uses(graph: Graph, outputs: tuple[int, ...]) -> dict[int, int]:
    """Count, for each node that the outputs need, the edges and outputs that lead to it.

    Only needed nodes are visited: with many inputs, each derivative may need few of the nodes.
    """
    uses = Counter(outputs)
    todo = [*uses]
    while todo:
        for operand in graph.operands[todo.pop()]:
            if operand not in uses:
                todo.append(operand)
            uses[operand] += 1
    return uses


def absorbed_nodes(graph: Graph, uses: Mapping[int, int]) -> set[int]:
    """The nodes that are links in their only user's chain."""
    kinds, absorbed = graph.kinds, set[int]()
    for user in uses:
        link = CHAINS.get(kinds[user])
        if link is not None:
            for operand in graph.operands[user]:
                if uses[operand] == 1 and CHAINS.get(kinds[operand]) == link:
                    absorbed.add(operand)
    return absorbed


def chain_leaves(
    graph: Graph, root: int, absorbed: Set[int]
) -> tuple[list[tuple[int, Exact]], Exact]:
    """Return a chain's leaves in order, each with its sign or power, and the sign of the whole."""
    kinds, operands = graph.kinds, graph.operands
    sign: Exact = -ONE if kinds[root] in NEGATIVES else ONE
    links = zip(operands[root], LINKS[kinds[root]], strict=True)
    if absorbed.isdisjoint(operands[root]):
        return [*links], sign
    leaves: list[tuple[int, Exact]] = []
    todo = [*links][::-1]
    while todo:
        node, power = todo.pop()
        if node not in absorbed:
            leaves.append((node, power))
            continue
        if kinds[node] in NEGATIVES:
            sign = -sign
        links = zip(operands[node], LINKS[kinds[node]], strict=True)
        todo += [(operand, own * power) for operand, own in links][::-1]
    return leaves, sign
