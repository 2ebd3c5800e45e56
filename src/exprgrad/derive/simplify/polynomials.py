"""Derivatives as polynomials, which grow no faster than their terms are many.

A formula is read as polynomials in a few atoms, such as ``x``, ``tanh(x)`` and ``exp(-x^2)``, each times
powers of sums, such as ``(1 + x^2)^(-3)``.  The derivative of an atom is such a thing again, mostly in the
same atoms; so the next derivative is made by differentiating, multiplying out and gathering like terms.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable

from exprgrad.derive.constant_folding import ONE, Exact, magnitude, ratio, to_power
from exprgrad.derive.simplify.normal_form import Call, Number, Product, Sum
from exprgrad.derive.simplify.simplify import SHORT, forms_of, read
from exprgrad.derive.simplify.write import write
from exprgrad.derive.sweeps.gradient import unsimplified
from exprgrad.graph.graph import Binding, Graph, Literal, Numbers
from exprgrad.graph.ops import BY_NAME, COMPARISONS

__all__ = ["Element", "Polynomial", "Polynomials", "Powers", "TooLarge", "joined", "quotient"]

Powers = tuple[tuple[int, Exact], ...]
"""Forms with their exponents, ascending: a monomial, or the sums that a polynomial is multiplied by."""
Polynomial = dict[Powers, Exact]
"""The coefficients of some monomials, none of them 0."""
Element = dict[Powers, Polynomial]
"""Polynomials, each times its own powers of sums."""

MOST_NODES = 400
"""The most nodes of a formula that is multiplied out."""
MOST_TERMS = 2000
"""The most terms of a derivative that is."""
MOST_PRODUCTS = 40_000
"""The most terms that are multiplied with each other at once."""
MOST_PIECES = 100
"""The most terms that a monomial becomes where squares in it are written otherwise."""
HIGHEST = 128
"""The highest power of a number that is worked out, and of a sine that is written in cosines."""
MOST_STEPS = 8
"""By how much exponents of a sum may differ for two polynomials to be put over one denominator."""
DEEPEST = 20
"""How deep sums under roots, and choices, may be nested in each other."""


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
    ``depth``    how many derivatives are being made, one within the other
    ``special``  by atom, whether it is a number, or 1 or 0 everywhere
    ``squares``  by atom whose square is written in another one, p: p, and a and b of a + b*p^2
    """

    def __init__(self, graph: Graph, bindings: Iterable[Binding]) -> None:
        if len(graph) > MOST_NODES or not isinstance(graph.shapes, Numbers):
            raise TooLarge
        self.graph = graph
        self.forms, self.names = forms_of(graph, [*bindings])
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
        """A node of a graph."""
        return self.element(read(self.forms, graph, (node,), SHORT)[node])

    def element(self, form: int) -> Element:
        """A form."""
        if form not in self.known:
            for part in sorted(self.inside(form)):  # what a sum is made of comes before it
                self.known[part] = self.read(part)
        return self.known[form]

    def inside(self, form: int) -> set[int]:
        """A form, and the sums and products that it is made of, as far as they are not known."""
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
        """A form, what it is made of being known."""
        match self.forms.forms[form]:
            case Number(value):
                return {(): {(): value}} if value else {}
            case Sum(terms):
                total: Element = {}
                for term, coefficient in terms:
                    for key, polynomial in self.known[term].items():
                        self.add(total, key, times(polynomial, coefficient))
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
        """A power of an atom or of a sum."""
        match self.forms.forms[base]:
            case Sum() as inside:
                negative = self.forms.known_negative(inside)
                is_whole = exponent.denominator == 1
                if negative is not None and is_whole and negative < base and negative in self.known:
                    return {((negative, exponent),): {(): to_power(-ONE, exponent)}}
                return {((base, exponent),): {(): ONE}}
            case Product(coefficient, factors):
                if exponent.denominator != 1 or base in self.forms.named:
                    return {((base, exponent),): {(): ONE}}
                whole = self.number(coefficient, exponent)
                for inner, power in factors:
                    whole = self.product(whole, self.power(inner, power * exponent))
                return whole
            case Call("exp", (inside,)):
                return {(): {self.symbolic(None, inside, exponent): ONE}}
            case Call("pow", (inside, raised)):
                return self.symbolic_power(inside, raised, exponent)
            case Call(kind, operands) if kind in BY_NAME and BY_NAME[kind].square:
                self.note_square(base, kind, operands)
        return {(): self.reduced({((base, exponent),): ONE})}

    def number(self, value: Exact, exponent: Exact) -> Element:
        """A whole power of a number."""
        if not value or magnitude(exponent) > HIGHEST:
            raise TooLarge
        return {(): {(): to_power(value, exponent)}}

    def symbolic_power(self, base: int, raised: int, exponent: Exact) -> Element:
        """``x^(n - 2)`` is x^n times x^-2."""
        found = self.forms.forms[raised]
        number = dict(found.terms).get(self.forms.one, 0) if isinstance(found, Sum) else 0
        if number:
            raised = self.forms.sum([(raised, ONE), (self.forms.one, -number)])
        whole: Element = {(): {self.symbolic(base, raised, exponent): ONE}}
        return self.product(whole, self.power(base, number * exponent)) if number else whole

    def symbolic(self, base: int | None, raised: int, exponent: Exact) -> Powers:
        """A power of ``base^raised``, or without a base of ``exp(raised)``, as one of an atom."""
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
        return ((atom, ratio(exponent * number, own)),)

    def note_square(self, atom: int, kind: str, operands: tuple[int, ...]) -> None:
        """Note that squares of cos(u) are written in sin(u), if that came first; and others like these."""
        square = BY_NAME[kind].square
        if square is not None and atom not in self.squares:
            partner = self.forms.call(square[0], operands)
            (_, a, b) = BY_NAME[square[0]].square or square
            self.squares[partner] = atom, a, b

    # Arithmetic.

    def add(self, total: Element, key: Powers, polynomial: Polynomial) -> None:
        """Add a polynomial times powers of sums, over one denominator with what is alike."""
        other = next((known for known in total if is_alike(key, known)), None)
        if other is None:
            if polynomial:
                total[key] = polynomial
        elif other == key:
            gathered = added(total.pop(key), polynomial)
            if gathered:
                total[key] = gathered
        else:
            low = lowest(key, other)
            for powers, above in ((other, total.pop(other)), (key, polynomial)):
                for place, lifted in self.lifted(low, above, quotient(powers, low)).items():
                    self.add(total, place, lifted)
        if sum(map(len, total.values())) > MOST_TERMS:
            raise TooLarge

    def lifted(self, key: Powers, polynomial: Polynomial, sums: Powers) -> Element:
        """A polynomial times powers of sums, some whole ones multiplied out."""
        found: Element = {key: polynomial}
        for base, exponent in sums:
            for _ in range(int(exponent)):
                found = self.product(found, self.element(base))
        return found

    def product(self, left: Element, right: Element) -> Element:
        """The product of two."""
        total: Element = {}
        for key, polynomial in left.items():
            for other, second in right.items():
                self.add(total, joined(key, other), self.multiplied(polynomial, second))
        return total

    def multiplied(self, left: Polynomial, right: Polynomial) -> Polynomial:
        """The product of two polynomials."""
        if len(left) * len(right) > MOST_PRODUCTS:
            raise TooLarge
        found: defaultdict[Powers, Exact] = defaultdict(int)
        for monomial, c in left.items():
            for other, d in right.items():
                found[joined(monomial, other)] += c * d
        return self.reduced(found)

    def reduced(self, polynomial: Polynomial) -> Polynomial:
        """A polynomial without squares that are written otherwise and without whole powers of numbers."""
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
                terms = {joined(m, n): d * e for m, d in terms.items() for n, e in factor.items()}
                left = (*left, (atom, rest)) if rest else left
            for powers, d in terms.items():
                found[joined(powers, left)] += d
        return {powers: c for powers, c in found.items() if c}

    def is_special(self, atom: int) -> bool:
        """Whether an atom is a number, or 1 or 0 everywhere."""
        if atom not in self.special:
            form = self.forms.forms[atom]
            is_call = isinstance(form, Call) and is_flag(self.forms.one, self.forms.zero, form)
            self.special[atom] = is_call or isinstance(form, Number)
        return self.special[atom]

    def rewritten(self, atom: int, exponent: Exact) -> tuple[Polynomial, Exact]:
        """What a power of an atom is written as, and the exponent that is left of it."""
        form = self.forms.forms[atom]
        if isinstance(form, Number) and magnitude(exponent) >= 1:
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
            * to_power(a, half - k)
            * to_power(b, k)
            for k in range(half + 1)
        }, exponent % 2

    # Differentiating.

    def slope(self, element: Element, name: str) -> Element:
        """The derivative with respect to an input."""
        total: Element = {}
        for key, polynomial in element.items():
            for atom, partial in partials(polynomial).items():
                self.add_product(total, {key: partial}, self.slope_of(atom, name))
            for base, exponent in key:
                down = {joined(key, ((base, -ONE),)): times(polynomial, exponent)}
                self.add_product(total, down, self.slope_of(base, name))
        if not self.are_writable(total):
            raise TooLarge
        return total

    def are_writable(self, element: Element) -> bool:
        """Whether all exponents can be written."""
        exponents = {q for key in element for _, q in key}
        exponents |= {q for each in element.values() for monomial in each for _, q in monomial}
        return all(map(self.forms.writable, exponents))

    def add_product(self, total: Element, left: Element, right: Element) -> None:
        """Add the product of two."""
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
        """The same, where it is not known yet."""
        if self.depth > DEEPEST:
            raise TooLarge
        match self.forms.forms[form]:
            case Sum() | Product():
                return self.slope(self.element(form), name)
            case Call("where", (condition, *branches)):
                x, y = [self.form(self.slope(self.element(b), name)) for b in branches]
                return self.element(self.forms.where(condition, x, y))
        program, _ = write(self.forms, [form], self.graph.inputs)
        derived = unsimplified(program.graph, [name])
        return self.image(derived.graph, derived.outputs[0])

    def form(self, element: Element) -> int:
        """A form that stands for an element, the sum of all its terms."""
        total: dict[int, Exact] = {}
        for key, polynomial in element.items():
            for monomial, c in polynomial.items():
                self.forms.add(total, self.forms.product([*monomial, *key]), c)
        terms = [(term, c) for term, c in total.items() if c]
        form = self.forms.plain_sum(terms) if len(terms) > 1 else self.forms.sum_of(terms)
        self.known[form] = element
        return form


def is_flag(one: int, zero: int, call: Call) -> bool:
    """Whether a form is 1 or 0 everywhere."""
    return call.kind in COMPARISONS or (
        call.kind == "where" and {*call.operands[1:]} == {one, zero}
    )


def is_alike(left: Powers, right: Powers) -> bool:
    """Whether two polynomials are put over one denominator: if powers of their sums differ by few steps."""
    first, second = dict(left), dict(right)
    for base in {*first, *second}:
        p, q = first.get(base, 0), second.get(base, 0)
        has_one = base in first and base in second
        if (
            (p - q).denominator != 1
            or magnitude(p - q) > MOST_STEPS
            or (not has_one and min(p, q) < 0)
        ):
            return False
    return True


def added(left: Polynomial, right: Polynomial) -> Polynomial:
    """The sum of two polynomials."""
    gathered: defaultdict[Powers, Exact] = defaultdict(int, left)
    for monomial, c in right.items():
        gathered[monomial] += c
    return {monomial: c for monomial, c in gathered.items() if c}


def times(polynomial: Polynomial, number: Exact) -> Polynomial:
    """A multiple of a polynomial."""
    return {monomial: c * number for monomial, c in polynomial.items()}


def partials(polynomial: Polynomial) -> dict[int, Polynomial]:
    """By atom, a polynomial's derivative with respect to it."""
    found: defaultdict[int, Polynomial] = defaultdict(dict)
    for monomial, c in polynomial.items():
        for atom, exponent in monomial:
            found[atom][joined(monomial, ((atom, -ONE),))] = c * exponent
    return found


def joined(left: Powers, right: Powers) -> Powers:
    """The product of two monomials."""
    if not left or not right:
        return left or right
    powers = dict(left)
    for atom, exponent in right:
        powers[atom] = powers[atom] + exponent if atom in powers else exponent
    return tuple(sorted([item for item in powers.items() if item[1]]))


def quotient(above: Powers, below: Powers) -> Powers:
    """The quotient of two monomials."""
    return joined(above, tuple([(atom, -exponent) for atom, exponent in below]))


def lowest(left: Powers, right: Powers) -> Powers:
    """The lower power of each sum; one that is missing is there to the power 0."""
    first, second = dict(left), dict(right)
    bases = sorted({*first, *second})
    powers = [(base, min(first.get(base, 0), second.get(base, 0))) for base in bases]
    return tuple([item for item in powers if item[1]])
