"""Derivatives of higher order as formulas that people read.

They are made as polynomials, which grow only with their number of terms, and written with common factors
in front and the terms gathered by powers.  Up to the third order they are also made as first derivatives
are, by differentiating the one before and simplifying, and the shorter text is taken.  If a formula is
better not multiplied out, all its derivatives are made in that way.

A formula is read as polynomials in a few atoms, such as ``x``, ``tanh(x)`` and ``exp(-x^2)``, each times
powers of sums, such as ``(1 + x^2)^(-3)``.  The derivative of an atom has this form again, mostly in the
same atoms; so the next derivative is made by differentiating, multiplying out and gathering like terms.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import NamedTuple

from exprgrad.derive.build import (
    HALF,
    ONE,
    Exact,
    exact_integer_power,
    exact_magnitude,
    exact_ratio,
)
from exprgrad.derive.simplify.forms import (
    SHORT,
    CallForm,
    Coefficients,
    Forms,
    NumberForm,
    Product,
    Sum,
    Terms,
    accumulate_form,
    common_content,
    read_forms,
    signed_common_divisor,
)
from exprgrad.derive.simplify.formula import (
    bind_known_names,
    merge_exponentials,
    name_shared_steps,
    read_typed_forms,
    restore_shapes,
    simplified_derivatives,
)
from exprgrad.derive.simplify.sums_and_products import divide_polynomials
from exprgrad.derive.simplify.write import write_forms
from exprgrad.derive.sweeps.gradient import display_rule_derivatives
from exprgrad.graph.graph import Binding, Graph, Literal, NoShapes
from exprgrad.graph.ops import BY_NAME, COMPARISONS
from exprgrad.language.write.infix import count_tokens, program_text

__all__ = ["Orders", "derivatives_of_order", "high_order_derivative"]

Orders = tuple[str, ...]
"""The inputs of a mixed derivative, in the order of ``wrt``: ``(x, x)`` is the second derivative in x."""
Factors = list[tuple[int, Exact]]
"""A product of forms, with their exponents."""

SIMPLIFIED, HIGH = 3, 12
"""The highest order that is also made by simplifying, the shorter text being taken; and the order above
which no derivative on the way is simplified."""

FEW, MANY = 12, 400
"""The most terms of a polynomial that is tried without gathering; and that is tried in all ways."""
TRIES = 4
"""The number of atoms by whose powers a polynomial is gathered in turn; inside it, only the likeliest."""
HIGHEST_DEGREE = 200
"""The highest degree of a polynomial that is searched for roots."""
LARGEST_ROOT = 100
"""The largest root that is tried."""

# Polynomials.

Powers = tuple[tuple[int, Exact], ...]
"""Forms with their exponents, ascending: a monomial, or the sums that a polynomial is multiplied by."""
Polynomial = dict[Powers, Exact]
"""The coefficients of some monomials, none of them 0."""
Element = dict[Powers, Polynomial]
"""Polynomials, each times its own powers of sums."""

MOST_NODES = 400
"""The most nodes of a formula that is multiplied out."""
MOST_PRODUCTS = 40_000
"""The most products of terms in one multiplication."""
MOST_PIECES = 100
"""The most terms for a monomial whose squares are rewritten."""
HIGHEST = 128
"""The highest power of a number that is evaluated, and of a sine that is rewritten in cosines."""
MOST_STEPS = 8
"""The largest difference of a sum's exponents in polynomials that share a denominator."""
DEEPEST = 20
"""The deepest nesting of choices and of sums under roots."""


class TooLarge(Exception):
    """Why a formula is not multiplied out."""


class Polynomials:
    """The polynomials of one formula and of its derivatives; raises ``TooLarge`` where there are too many.

    ``forms``    the normal forms of all that is met, and ``names`` of some a person's names
    ``output``   the formula
    ``known``    by form that was read, its element
    ``slopes``   by form and input, the derivative of an atom, or of a sum that is the base of a power
    ``spelled``  by base and exponent, without its number: the atom that such powers are powers of, and the
                 number in its exponent; so ``exp(-x)`` is a power of ``exp(x)``
    ``choices``  by atom that is a choice, it with its branches as people read them
    ``most``     how many terms there may be, and whether there were more: it ``is_crowded``
    ``depth``    how many derivatives are being made, one within the other
    ``special``  by atom, whether it is a number, or 1 or 0 everywhere
    ``squares``  by atom whose square is written in another one, p: p, and a and b of a + b*p^2
    """

    def __init__(self, graph: Graph, bindings: Iterable[Binding]) -> None:
        if len(graph) > MOST_NODES or not isinstance(graph.shapes, NoShapes):
            raise TooLarge
        self.most, self.is_crowded = graph.budget.most("terms"), False
        self.graph = graph
        self.forms, self.names = read_typed_forms(graph, [*bindings])
        self.known: dict[int, Element] = {}
        self.slopes: dict[tuple[int, str], Element] = {}
        self.spelled: dict[tuple[int | None, int], tuple[int, Exact]] = {}
        self.choices: dict[int, int] = {}
        self.depth = 0
        self.squares: dict[int, tuple[int, Exact, Exact]] = {}
        self.special: dict[int, bool] = {}
        self.output = self.image(graph, graph.output)

    # Reading.

    def image(self, graph: Graph, node: int) -> Element:
        """Return the element of a node of a graph."""
        return self.element(read_forms(self.forms, graph, (node,), SHORT)[node])

    def element(self, form: int) -> Element:
        """Return the element of a form."""
        if form not in self.known:
            for part in sorted(self.inside(form)):  # what a sum is made of comes before it
                self.known[part] = self.read(part)
        return self.known[form]

    def inside(self, form: int) -> set[int]:
        """Return a form, and the sums and products inside it that are not known yet."""
        found, todo = set[int](), [form]
        while todo:
            part = todo.pop()
            if part in found or part in self.known:
                continue
            found.add(part)
            match self.forms.forms[part]:
                case Sum(items) | Product(_, items):
                    todo += [inner for inner, _ in items]
        return found

    def read(self, form: int) -> Element:
        """Return the element of a form whose parts are known."""
        match self.forms.forms[form]:
            case NumberForm(value):
                return {(): {(): value}} if value else {}
            case Sum(terms):
                total: Element = {}
                for term, coefficient in terms:
                    for key, polynomial in self.known[term].items():
                        self.add(total, key, scale_polynomial(polynomial, coefficient))
                return total
            case Product(coefficient, factors):
                whole: Element = {(): {(): coefficient}}
                for base, exponent in factors:
                    whole = self.product(whole, self.power(base, exponent))
                return whole
        if self.forms.is_infinite(form) or isinstance(self.forms.forms[form], Literal):
            raise TooLarge
        return self.power(form, ONE)

    def power(self, base: int, exponent: Exact) -> Element:
        """Return a power of an atom or of a sum."""
        match self.forms.forms[base]:
            case Sum() as inside:
                negative = self.forms.known_negative(inside)
                is_whole = exponent.denominator == 1
                if negative is not None and is_whole and negative < base and negative in self.known:
                    return {((negative, exponent),): {(): exact_integer_power(-ONE, exponent)}}
                return {((base, exponent),): {(): ONE}}
            case Product(coefficient, factors):
                if exponent.denominator != 1 or base in self.forms.named:
                    return {((base, exponent),): {(): ONE}}
                whole = self.number(coefficient, exponent)
                for inner, power in factors:
                    whole = self.product(whole, self.power(inner, power * exponent))
                return whole
            case CallForm("exp", (inside,)):
                return {(): {self.symbolic(None, inside, exponent): ONE}}
            case CallForm("pow", (inside, raised)):
                return self.symbolic_power(inside, raised, exponent)
            case CallForm(kind, operands) if kind in BY_NAME and BY_NAME[kind].square:
                self.note_square(base, kind, operands)
        return {(): self.reduced({((base, exponent),): ONE})}

    def number(self, value: Exact, exponent: Exact) -> Element:
        """Return a whole power of a number."""
        if not value or exact_magnitude(exponent) > HIGHEST:
            raise TooLarge
        return {(): {(): exact_integer_power(value, exponent)}}

    def symbolic_power(self, base: int, raised: int, exponent: Exact) -> Element:
        """Return a power with a symbolic exponent: ``x^(n - 2)`` is x^n times x^-2."""
        found = self.forms.forms[raised]
        number = dict(found.terms).get(self.forms.one, 0) if isinstance(found, Sum) else 0
        if number:
            raised = self.forms.sum([(raised, ONE), (self.forms.one, -number)])
        whole: Element = {(): {self.symbolic(base, raised, exponent): ONE}}
        return self.product(whole, self.power(base, number * exponent)) if number else whole

    def symbolic(self, base: int | None, raised: int, exponent: Exact) -> Powers:
        """Return a power of ``base^raised``, or of ``exp(raised)`` without a base, as an atom's."""
        bare, number = self.forms.split(raised)
        if not number:
            return ()
        if (base, bare) not in self.spelled:
            call = (
                self.forms.call("exp", (raised,))
                if base is None
                else self.forms.power(base, raised)
            )
            self.spelled[base, bare] = call, number
        atom, own = self.spelled[base, bare]
        return ((atom, exact_ratio(exponent * number, own)),)

    def note_square(self, atom: int, kind: str, operands: tuple[int, ...]) -> None:
        """Note that squares of cos(u) are rewritten in sin(u) if that came first, or the like."""
        square = BY_NAME[kind].square
        if square is not None and atom not in self.squares:
            partner = self.forms.call(square[0], operands)
            (_, a, b) = BY_NAME[square[0]].square or square
            self.squares[partner] = atom, a, b

    # Arithmetic.

    def add(self, total: Element, key: Powers, polynomial: Polynomial) -> None:
        """Add a polynomial times powers of sums, over one denominator with similar ones."""
        other = next((known for known in total if has_similar_powers(key, known)), None)
        if other is None:
            if polynomial:
                total[key] = polynomial
        elif other == key:
            gathered = add_polynomials(total.pop(key), polynomial)
            if gathered:
                total[key] = gathered
        else:
            low = monomial_gcd(key, other)
            for powers, above in ((other, total.pop(other)), (key, polynomial)):
                for place, lifted in self.lifted(low, above, divide_monomials(powers, low)).items():
                    self.add(total, place, lifted)
        if sum(map(len, total.values())) > self.most:
            self.is_crowded = True
            raise TooLarge

    def lifted(self, key: Powers, polynomial: Polynomial, sums: Powers) -> Element:
        """Return a polynomial times powers of sums, with whole powers multiplied out."""
        found: Element = {key: polynomial}
        for base, exponent in sums:
            for _ in range(int(exponent)):
                found = self.product(found, self.element(base))
        return found

    def product(self, left: Element, right: Element) -> Element:
        """Return the product of two elements."""
        total: Element = {}
        for key, polynomial in left.items():
            for other, second in right.items():
                self.add(total, multiply_monomials(key, other), self.multiplied(polynomial, second))
        return total

    def multiplied(self, left: Polynomial, right: Polynomial) -> Polynomial:
        """The product of two polynomials."""
        if len(left) * len(right) > MOST_PRODUCTS:
            raise TooLarge
        found: defaultdict[Powers, Exact] = defaultdict(int)
        for monomial, c in left.items():
            for other, d in right.items():
                found[multiply_monomials(monomial, other)] += c * d
        return self.reduced(found)

    def reduced(self, polynomial: Polynomial) -> Polynomial:
        """Rewrite a polynomial's squares, and evaluate whole powers of numbers."""
        found: defaultdict[Powers, Exact] = defaultdict(int)
        for monomial, c in polynomial.items():
            if not any(atom in self.squares or self.is_special(atom) for atom, _ in monomial):
                found[monomial] += c
                continue
            left: Powers = ()
            terms: Polynomial = {(): c}
            for atom, exponent in monomial:
                factor, rest = self.rewritten(atom, exponent)
                if len(factor) * len(terms) > MOST_PIECES:
                    factor, rest = {(): ONE}, exponent
                terms = {
                    multiply_monomials(m, n): d * e
                    for m, d in terms.items()
                    for n, e in factor.items()
                }
                left = (*left, (atom, rest)) if rest else left
            for powers, d in terms.items():
                found[multiply_monomials(powers, left)] += d
        return {powers: c for powers, c in found.items() if c}

    def is_special(self, atom: int) -> bool:
        """Whether an atom is a number, or 1 or 0 everywhere."""
        if atom not in self.special:
            form = self.forms.forms[atom]
            flags = {self.forms.one, self.forms.zero}
            self.special[atom] = isinstance(form, NumberForm) or (
                isinstance(form, CallForm)
                and (
                    form.kind in COMPARISONS
                    or (form.kind == "where" and {*form.operands[1:]} == flags)
                )
            )
        return self.special[atom]

    def rewritten(self, atom: int, exponent: Exact) -> tuple[Polynomial, Exact]:
        """Rewrite a power of an atom; return what it becomes, and the exponent that is left of it."""
        form = self.forms.forms[atom]
        if isinstance(form, NumberForm) and exact_magnitude(exponent) >= 1:
            (value,) = self.number(form.value, exponent).values()
            return value, exponent - int(exponent)
        if exponent < 2 or exponent.denominator != 1:
            return {(): ONE}, exponent
        if self.is_special(atom):
            return {(): ONE}, ONE
        if atom not in self.squares or exponent > HIGHEST:
            return {(): ONE}, exponent
        partner, a, b = self.squares[atom]
        half = int(exponent) // 2
        return {
            ((partner, 2 * k),) if k else (): math.comb(half, k)
            * exact_integer_power(a, half - k)
            * exact_integer_power(b, k)
            for k in range(half + 1)
        }, exponent % 2

    # Differentiating.

    def slope(self, element: Element, name: str) -> Element:
        """The derivative with respect to an input."""
        total: Element = {}
        for key, polynomial in element.items():
            for atom, partial in polynomial_partials(polynomial).items():
                self.add_product(total, {key: partial}, self.slope_of(atom, name))
            for base, exponent in key:
                down = {
                    multiply_monomials(key, ((base, -ONE),)): scale_polynomial(polynomial, exponent)
                }
                self.add_product(total, down, self.slope_of(base, name))
        powers = [*total, *[monomial for each in total.values() for monomial in each]]
        if not all(map(self.forms.writable, {q for each in powers for _, q in each})):
            raise TooLarge
        return total

    def add_product(self, total: Element, left: Element, right: Element) -> None:
        """Add the product of two elements."""
        for key, polynomial in self.product(left, right).items():
            self.add(total, key, polynomial)

    def slope_of(self, form: int, name: str) -> Element:
        """The derivative of an atom, or of a sum that is the base of a power."""
        if (form, name) in self.slopes:
            return self.slopes[form, name]
        self.depth += 1
        try:
            found = self.slopes[form, name] = self.slope_within(form, name)
        finally:
            self.depth -= 1
        return found

    def slope_within(self, form: int, name: str) -> Element:
        """Derive an atom, or a sum that is the base of a power, for the first time."""
        if self.depth > DEEPEST:
            raise TooLarge
        match self.forms.forms[form]:
            case Sum() | Product():
                return self.slope(self.element(form), name)
            case CallForm("where", (condition, *branches)):
                x, y = [self.form(self.slope(self.element(b), name)) for b in branches]
                return self.element(self.forms.where(condition, x, y))
        program, _ = write_forms(self.forms, [form], self.graph.inputs)
        derived = display_rule_derivatives(program.graph, [name])
        return self.image(derived.graph, derived.outputs[0])

    def form(self, element: Element) -> int:
        """Return a form for an element: the sum of all its terms."""
        total: dict[int, Exact] = {}
        for key, polynomial in element.items():
            for monomial, c in polynomial.items():
                self.forms.add(total, self.forms.product([*monomial, *key]), c)
        form = plain_sum_of_terms(self.forms, total)
        self.known[form] = element
        return form


def has_similar_powers(left: Powers, right: Powers) -> bool:
    """Whether two polynomials get one denominator: if the powers of their sums differ by few steps."""
    first, second = dict(left), dict(right)
    for base in {*first, *second}:
        p, q = first.get(base, 0), second.get(base, 0)
        has_one = base in first and base in second
        if (
            (p - q).denominator != 1
            or exact_magnitude(p - q) > MOST_STEPS
            or (not has_one and min(p, q) < 0)
        ):
            return False
    return True


def add_polynomials(left: Polynomial, right: Polynomial) -> Polynomial:
    """The sum of two polynomials."""
    gathered: defaultdict[Powers, Exact] = defaultdict(int, left)
    for monomial, c in right.items():
        gathered[monomial] += c
    return {monomial: c for monomial, c in gathered.items() if c}


def scale_polynomial(polynomial: Polynomial, number: Exact) -> Polynomial:
    """A multiple of a polynomial."""
    return {monomial: c * number for monomial, c in polynomial.items()}


def polynomial_partials(polynomial: Polynomial) -> dict[int, Polynomial]:
    """By atom, a polynomial's derivative with respect to it."""
    found: defaultdict[int, Polynomial] = defaultdict(dict)
    for monomial, c in polynomial.items():
        for atom, exponent in monomial:
            found[atom][multiply_monomials(monomial, ((atom, -ONE),))] = c * exponent
    return found


def multiply_monomials(left: Powers, right: Powers) -> Powers:
    """The product of two monomials."""
    if not left or not right:
        return left or right
    powers = dict(left)
    for atom, exponent in right:
        powers[atom] = powers[atom] + exponent if atom in powers else exponent
    return tuple(sorted([item for item in powers.items() if item[1]]))


def divide_monomials(above: Powers, below: Powers) -> Powers:
    """The quotient of two monomials."""
    return multiply_monomials(above, tuple([(atom, -exponent) for atom, exponent in below]))


def monomial_gcd(left: Powers, right: Powers) -> Powers:
    """Return the lower power of each sum; a missing one has the power 0."""
    first, second = dict(left), dict(right)
    bases = sorted({*first, *second})
    powers = [(base, min(first.get(base, 0), second.get(base, 0))) for base in bases]
    return tuple([item for item in powers if item[1]])


# Derivatives, one after the other.


class OrderedDerivative(NamedTuple):
    """A derivative: one on the way to a higher order, or the requested one.

    ``element``  as polynomials, if it can be
    ``plain``    as a formula without named steps of ours, where it is needed to go on
    ``shown``    as people read it, where they do
    """

    element: Element | None
    plain: Graph | None = None
    shown: Graph | None = None


def derivatives_of_order(
    graph: Graph, wrt: Sequence[str], order: int, *, again: bool = False
) -> Iterator[tuple[Orders, Graph]]:
    """Yield every derivative of an order once; the inputs of a mixed one are in the order of ``wrt``.

    Each derivative of the order before is differentiated with respect to its last input and those after it.
    With ``again`` the formula is a derivative itself.
    """
    if order == 1 and not again:  # one by one, as there may be many
        yield from zip([(name,) for name in wrt], simplified_derivatives(graph, wrt), strict=True)
        return
    polynomials = read_polynomials(graph)
    output = None if polynomials is None else polynomials.output
    level: dict[Orders, OrderedDerivative] = {(): OrderedDerivative(output, graph)}
    for step in range(1, order + 1):
        found: dict[Orders, OrderedDerivative] = {}
        for inputs, known in level.items():
            rest = wrt[wrt.index(inputs[-1]) :] if inputs else wrt
            for name, derivative in differentiate_again(
                polynomials, known, rest, step if order <= HIGH else order, step == order
            ):
                found[*inputs, name] = derivative
        level = found
    for inputs, derivative in level.items():
        assert derivative.shown is not None
        yield inputs, derivative.shown


def read_polynomials(graph: Graph) -> Polynomials | None:
    """Read a formula as polynomials, with a person's names; None if it is too large."""
    try:
        return Polynomials(graph, [b for b in graph.bindings if b.node != graph.output])
    except TooLarge:
        return None


def differentiate_again(
    polynomials: Polynomials | None,
    known: OrderedDerivative,
    wrt: Sequence[str],
    step: int,
    is_last: bool,
) -> Iterator[tuple[str, OrderedDerivative]]:
    """Yield a derivative's derivatives with respect to some inputs; they are of order ``step``."""
    elements = [element_derivative(polynomials, known.element, name) for name in wrt]
    if polynomials is not None and step > SIMPLIFIED and None not in elements:
        for name, element in zip(wrt, elements, strict=True):
            assert element is not None
            yield (
                name,
                readable_derivative(polynomials, element, is_last)
                if is_last
                else OrderedDerivative(element),
            )
        return
    if polynomials is not None and step > HIGH and known.element and polynomials.is_crowded:
        graph = polynomials.graph  # simplified one by one, they only get longer from here on
        graph.budget.refuse_beyond(polynomials.most + 1, "terms", graph.span(graph.output))
    formula = known.plain
    if formula is None:
        assert polynomials is not None and known.element is not None
        formula = readable_derivative(polynomials, known.element, is_last=False).plain
    assert formula is not None
    nothing = [None] * len(wrt)
    is_read = is_last or polynomials is not None
    read = simplified_derivatives(formula, wrt) if is_read else nothing
    derived_again = nothing if is_last else simplified_derivatives(formula, wrt, steps=False)
    for name, element, plain, shown in zip(wrt, elements, derived_again, read, strict=True):
        derivative = OrderedDerivative(element, plain, shown)
        if polynomials is not None:
            derivative = shorter_derivative(polynomials, derivative, is_last)
        yield name, derivative


def high_order_derivative(graph: Graph, name: str, order: int) -> Graph | None:
    """Return a derivative of high order as a formula; None if polynomials get too large."""
    polynomials = read_polynomials(graph)
    before, found = None, None if polynomials is None else polynomials.output
    while order and found not in (before, None):
        before, found, order = found, element_derivative(polynomials, found, name), order - 1
    if polynomials is None or found is None:
        return None
    return readable_derivative(polynomials, found, is_last=False).plain


def element_derivative(
    polynomials: Polynomials | None, element: Element | None, name: str
) -> Element | None:
    """Return the derivative of an element; None if it is too large."""
    if polynomials is None or element is None:
        return None
    try:
        return polynomials.slope(element, name)
    except TooLarge:
        return None


def shorter_derivative(
    polynomials: Polynomials, simplified: OrderedDerivative, is_last: bool
) -> OrderedDerivative:
    """Return a simplified derivative, or the same as polynomials if that is shorter to read."""
    element, plain, shown = simplified
    assert shown is not None
    terms = 0 if element is None else sum(map(len, element.values()))
    if element is None or terms > count_tokens(program_text(shown)):
        return simplified
    found = readable_derivative(polynomials, element, is_last)
    assert found.shown is not None
    if reading_length(found.shown) < reading_length(shown):
        return found
    if plain is not None and reading_length(shown) < reading_length(
        found.shown
    ):  # what is simplified further may have fewer terms, too
        try:
            element = polynomials.image(plain, plain.output)
        except TooLarge:
            return simplified
    return OrderedDerivative(element, plain, shown)


def reading_length(formula: Graph) -> tuple[int, int]:
    """How long a formula is to read."""
    text = program_text(formula)
    return count_tokens(text), len(text)


def readable_derivative(
    polynomials: Polynomials, element: Element, is_last: bool
) -> OrderedDerivative:
    """Write a derivative from polynomials: with a person's names, or without if that is shorter."""
    form = merge_exponentials(polynomials.forms, collect_element(polynomials, element))
    graph = polynomials.graph

    def copy(names: Mapping[int, str]) -> tuple[Graph, dict[int, str]]:
        """The formula, and those of its nodes that have names."""
        made, nodes = write_forms(polynomials.forms, [form], graph.inputs)
        return made.graph, {nodes[f]: name for f, name in names.items() if f in nodes}

    ways: list[Mapping[int, str]] = [polynomials.names, {}] if polynomials.names else [{}]
    shown = [name_shared_steps(*copy(names), graph) for names in ways]
    plain = None if is_last else restore_shapes(bind_known_names(*copy(polynomials.names)), graph)
    return OrderedDerivative(element, plain, min(shown, key=reading_length))


def collect_element(polynomials: Polynomials, element: Element) -> int:
    """An element as a form."""
    forms = polynomials.forms
    total: Terms = {}
    for key, polynomial in element.items():
        ways = [polynomial]
        if polynomials.squares:
            ways.append(rewrite_sines_as_cosines(polynomials, polynomial))
        few = 2 * len(polynomial)
        parts = [factored_part(polynomials, way, TRIES) for way in ways if len(way) <= few]
        found = [scale_factors(forms, [*factors, *key], number) for factors, number in parts]
        forms.add(total, min(found, key=forms.weights.__getitem__), ONE)
    return plain_sum_of_terms(forms, total)


def rewrite_sines_as_cosines(polynomials: Polynomials, polynomial: Polynomial) -> Polynomial:
    """Rewrite a polynomial's sines as cosines, where the other way round is usual."""
    squares = polynomials.squares
    polynomials.squares = {
        p: (atom, exact_ratio(-a, b), exact_ratio(ONE, b)) for atom, (p, a, b) in squares.items()
    }
    found = polynomials.reduced(polynomial)
    polynomials.squares = squares
    return found


def factored_part(
    polynomials: Polynomials, polynomial: Polynomial, tries: int, front: Powers = ()
) -> tuple[Factors, Exact]:
    """Factor a polynomial times a monomial: return its factors, the shared ones first, and a number."""
    number, common, rest = primitive_part(polynomial, polynomials.forms.decimals)
    factors = shortest_factors(polynomials, rest, tries) if len(rest) > 1 else []
    shared = atom_product(polynomials, multiply_monomials(common, front))
    return [(shared, ONE), *factors], number


def shortest_factors(polynomials: Polynomials, polynomial: Polynomial, tries: int) -> Factors:
    """Return a polynomial's factors in the shortest way found."""
    forms, own = polynomials.forms, polynomial_atoms(polynomial)
    ways: list[Factors] = []
    if len(own) == 1:
        ways.append(linear_factors(polynomials, polynomial, own[0]))
    else:
        # The less often an atom need be written if terms are gathered by its powers, the likelier.
        met = [(atom, exponent) for monomial in polynomial for atom, exponent in monomial]
        kept, written = Counter(atom for atom, _ in {*met}), Counter(atom for atom, _ in met)
        likely = sorted([(kept[atom] - written[atom], atom) for atom in own])
        tries = tries if len(polynomial) <= MANY else 1
        for saved, atom in likely[:tries]:
            if saved:
                ways.append([(collect_powers(polynomials, polynomial, atom), ONE)])
    if not ways or len(polynomial) <= FEW:
        ways.insert(len(own) == 1, [(expanded_sum(polynomials, polynomial), ONE)])
    return min(ways, key=lambda way: forms.weights[scale_factors(forms, way, ONE)])


def expanded_sum(polynomials: Polynomials, polynomial: Polynomial) -> int:
    """Write a polynomial as the sum of its terms, the highest powers first."""
    total: Terms = {}
    for monomial in sorted(polynomial, key=monomial_rank(polynomial)):
        add_multiple(
            polynomials.forms,
            total,
            [(atom_product(polynomials, monomial), ONE)],
            polynomial[monomial],
        )
    return plain_sum_of_terms(polynomials.forms, total)


def collect_powers(polynomials: Polynomials, polynomial: Polynomial, atom: int) -> int:
    """Gather a polynomial by powers of one atom: ``x^2*(a + 1) + x*(a - 1) + a``."""
    coefficients: defaultdict[Exact, Polynomial] = defaultdict(dict)
    for monomial, c in polynomial.items():
        power = dict(monomial).get(atom, 0)
        others = tuple([item for item in monomial if item[0] != atom])
        coefficients[power][others] = c
    total: Terms = {}
    for power in sorted(coefficients, reverse=True):
        front = ((atom, power),) if power else ()
        add_multiple(
            polynomials.forms,
            total,
            *factored_part(polynomials, coefficients[power], 1, front),
        )
    return plain_sum_of_terms(polynomials.forms, total)


def linear_factors(polynomials: Polynomials, polynomial: Polynomial, atom: int) -> Factors:
    """Factor a polynomial in one atom by rational roots: ``t^4 - 3*t^2 + 2`` is ``(t^2 - 1)*(t^2 - 2)``."""
    powers = [total_degree(monomial) for monomial in polynomial]
    step = common_content([power for power in powers if power])
    rest: Coefficients = {
        int(exact_ratio(power, step)): c
        for power, c in zip(powers, polynomial.values(), strict=True)
    }
    if max(rest) > HIGHEST_DEGREE:
        return [(expanded_sum(polynomials, polynomial), ONE)]

    def form(coefficients: Coefficients) -> int:
        """A polynomial in the power of the atom."""
        terms = coefficients.items()
        found: Polynomial = {((atom, step * power),) if power else (): c for power, c in terms}
        return expanded_sum(polynomials, found)

    divisors = [n for n in range(1, LARGEST_ROOT + 1) if rest[0] % n == 0]
    found: dict[int, Exact] = defaultdict(int)
    roots: list[Exact] = [*chain.from_iterable((n, -n) for n in divisors), HALF, -HALF]
    for root in roots:
        linear: Coefficients = {1: root.denominator, 0: -root.numerator}
        while max(rest) > 1 and not sum(c * root**power for power, c in rest.items()):
            rest = divide_polynomials(rest, linear)[0]
            found[form(linear)] += 1
    found[form(rest)] += 1
    return list(found.items())


# What is common to terms.


def primitive_part(polynomial: Polynomial, decimals: bool) -> tuple[Exact, Powers, Polynomial]:
    """Split a polynomial into a number, a monomial, and a polynomial without common factors.

    The latter's first coefficient is positive.  Of decimals the number divides every coefficient.
    """
    atoms = polynomial_atoms(polynomial)
    each = [dict(monomial) for monomial in polynomial]
    low = [(atom, min(powers.get(atom, 0) for powers in each)) for atom in atoms]
    common = tuple([item for item in low if item[1]])
    coefficients = [*polynomial.values()]
    number = (
        exact_magnitude(signed_common_divisor(coefficients))
        if decimals
        else common_content(coefficients)
    )
    if polynomial[min(polynomial, key=monomial_rank(polynomial))] < 0:
        number = -number
    return (
        number,
        common,
        {divide_monomials(m, common): exact_ratio(c, number) for m, c in polynomial.items()},
    )


def polynomial_atoms(polynomial: Polynomial) -> list[int]:
    """The atoms of a polynomial."""
    return sorted({atom for monomial in polynomial for atom, _ in monomial})


def total_degree(monomial: Powers) -> Exact:
    """The sum of a monomial's exponents."""
    return sum([exponent for _, exponent in monomial], 0)


def monomial_rank(polynomial: Polynomial) -> Callable[[Powers], list[Exact]]:
    """Return a key to sort monomials: high powers first, those of the first atom before others."""
    atoms = polynomial_atoms(polynomial)

    def place(monomial: Powers) -> list[Exact]:
        powers = dict(monomial)
        return [-total_degree(monomial), *[-powers.get(atom, 0) for atom in atoms]]

    return place


# Forms.


def atom_product(polynomials: Polynomials, monomial: Powers) -> int:
    """A product of powers of atoms."""
    return polynomials.forms.product([atom_power(polynomials, *item) for item in monomial])


def atom_power(polynomials: Polynomials, atom: int, exponent: Exact) -> tuple[int, Exact]:
    """A power of an atom; a negative one of an exponential has its minus in the exponent: exp(-x)."""
    forms = polynomials.forms
    found = forms.forms[atom]
    if isinstance(found, CallForm) and found.kind == "where":
        return collect_choice(polynomials, atom, *found.operands), exponent
    is_whole = exponent.denominator == 1 and exponent > 0
    if isinstance(found, CallForm) and found.kind in ("exp", "pow") and not is_whole:
        *before, raised = found.operands
        inner = forms.product([(raised, ONE)], exponent)
        return forms.call(found.kind, (inner,)) if not before else forms.power(
            before[0], inner
        ), ONE
    return atom, exponent


def collect_choice(polynomials: Polynomials, atom: int, condition: int, *branches: int) -> int:
    """Return a choice with its branches written for people."""
    if atom not in polynomials.choices:
        x, y = [collect_element(polynomials, polynomials.element(branch)) for branch in branches]
        polynomials.choices[atom] = polynomials.forms.where(condition, x, y)
    return polynomials.choices[atom]


def scale_factors(forms: Forms, factors: Factors, number: Exact) -> int:
    """Multiply a product by a number, written exactly, however many digits it has."""
    powers: dict[int, Exact] = {}
    for form, exponent in factors:
        found = forms.forms[form]
        if exponent == 1 and isinstance(found, NumberForm | Product):
            own, inner = (found.value, ()) if isinstance(found, NumberForm) else found
            number *= own
            for base, power in inner:
                accumulate_form(powers, base, power)
        else:
            accumulate_form(powers, form, exponent)
    if not forms.writable(number):
        accumulate_form(powers, forms.number(abs(number.numerator)), ONE)
        if number.denominator != 1:
            accumulate_form(powers, forms.number(number.denominator), -ONE)
        number = ONE if number > 0 else -ONE
    return forms.signed_product(number, [item for item in powers.items() if item[1]])


def add_multiple(forms: Forms, total: Terms, factors: Factors, number: Exact) -> None:
    """Add a multiple of a product to a sum in the making."""
    if forms.writable(number):
        forms.add(total, scale_factors(forms, factors, ONE), number)
    else:
        forms.add(total, scale_factors(forms, factors, number), ONE)


def plain_sum_of_terms(forms: Forms, total: Terms) -> int:
    """Return the sum of some terms as it is."""
    terms = [(term, c) for term, c in total.items() if c]
    return forms.plain_sum(terms) if len(terms) > 1 else forms.sum_of(terms)
