"""Derivatives of higher order as formulas that people read.

They are made as polynomials (see ``polynomials``), and written with what all terms have in common in front
and the terms gathered by powers.  Up to the third order they are also made as first derivatives are, by
differentiating the one before and simplifying, and the shorter text is taken; so are all those of a
formula that is better not multiplied out.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from exprgrad.derive.constant_folding import HALF, ONE, Exact, magnitude, ratio
from exprgrad.derive.simplify.algebra import Algebra, Terms
from exprgrad.derive.simplify.formula import (
    derivatives,
    reshaped,
    with_names,
    with_steps,
)
from exprgrad.derive.simplify.normal_form import (
    Call,
    Number,
    Product,
    accumulate,
    common_number,
)
from exprgrad.derive.simplify.polynomials import (
    Element,
    Polynomial,
    Polynomials,
    Powers,
    TooLarge,
    joined,
    quotient,
)
from exprgrad.derive.simplify.simplify import with_one_exponential
from exprgrad.derive.simplify.write import write
from exprgrad.graph.graph import Graph
from exprgrad.language.write.infix import length, program

__all__ = ["Orders", "every"]

Orders = tuple[str, ...]
"""The inputs of a mixed derivative, in the order of ``wrt``: ``(x, x)`` is the second derivative in x."""
Factors = list[tuple[int, Exact]]
"""A product of forms, with their exponents."""

SIMPLIFIED = 3
"""Up to this order a derivative is also made by simplifying, and the shorter text is taken."""

FEW, MANY = 12, 400
"""A polynomial of few terms may be shorter if it is not gathered; of many, not all ways are tried."""
TRIES = 4
"""By the powers of how many atoms it is tried to gather a polynomial; within that, of the likeliest."""
HIGHEST_DEGREE = 200
"""The highest degree of a polynomial whose roots are looked for."""
LARGEST_ROOT = 100
"""The largest rational root that is looked for."""


class Derivative(NamedTuple):
    """A derivative, one on the way to a higher order or the one that is asked for.

    ``element``  as polynomials, if it can be
    ``plain``    as a formula without named steps of ours, where it is needed to go on
    ``shown``    as people read it, where they do
    """

    element: Element | None
    plain: Graph | None = None
    shown: Graph | None = None


def every(
    graph: Graph, wrt: Sequence[str], order: int, *, again: bool = False
) -> Iterator[tuple[Orders, Graph]]:
    """Every derivative of an order, each once: the inputs of a mixed one may be in any order.

    Each derivative of the order before is differentiated with respect to its last input and those after it.
    With ``again`` the formula is a derivative itself.
    """
    if order == 1 and not again:  # one by one, as there may be many
        yield from zip([(name,) for name in wrt], derivatives(graph, wrt), strict=True)
        return
    polynomials = polynomials_of(graph)
    output = None if polynomials is None else polynomials.output
    level: dict[Orders, Derivative] = {(): Derivative(output, graph)}
    for step in range(1, order + 1):
        found: dict[Orders, Derivative] = {}
        for inputs, known in level.items():
            rest = wrt[wrt.index(inputs[-1]) :] if inputs else wrt
            for name, derivative in onward(polynomials, known, rest, step, step == order):
                found[*inputs, name] = derivative
        level = found
    for inputs, derivative in level.items():
        assert derivative.shown is not None
        yield inputs, derivative.shown


def polynomials_of(graph: Graph) -> Polynomials | None:
    """The formula as polynomials, if it can be; a person's names are kept."""
    try:
        return Polynomials(graph, [b for b in graph.bindings if b.node != graph.output])
    except TooLarge:
        return None


def onward(
    polynomials: Polynomials | None,
    known: Derivative,
    wrt: Sequence[str],
    step: int,
    is_last: bool,
) -> Iterator[tuple[str, Derivative]]:
    """A derivative's derivatives with respect to some inputs, which are of order ``step``."""
    elements = [slope(polynomials, known.element, name) for name in wrt]
    if polynomials is not None and step > SIMPLIFIED and None not in elements:
        for name, element in zip(wrt, elements, strict=True):
            assert element is not None
            yield name, readable(polynomials, element, is_last) if is_last else Derivative(element)
        return
    formula = known.plain
    if formula is None:
        assert polynomials is not None and known.element is not None
        formula = readable(polynomials, known.element, is_last=False).plain
    assert formula is not None
    nothing = [None] * len(wrt)
    is_read = is_last or polynomials is not None
    read = derivatives(formula, wrt) if is_read else nothing
    derived_again = nothing if is_last else derivatives(formula, wrt, steps=False)
    for name, element, plain, shown in zip(wrt, elements, derived_again, read, strict=True):
        derivative = Derivative(element, plain, shown)
        if polynomials is not None:
            derivative = shorter(polynomials, derivative, is_last)
        yield name, derivative


def slope(polynomials: Polynomials | None, element: Element | None, name: str) -> Element | None:
    """The derivative of an element, if that is not too large."""
    if polynomials is None or element is None:
        return None
    try:
        return polynomials.slope(element, name)
    except TooLarge:
        return None


def shorter(polynomials: Polynomials, simplified: Derivative, is_last: bool) -> Derivative:
    """A derivative that was simplified, or the same as polynomials where that is shorter to read."""
    element, plain, shown = simplified
    assert shown is not None
    terms = 0 if element is None else sum(map(len, element.values()))
    if element is None or terms > length(program(shown)):
        return simplified
    found = readable(polynomials, element, is_last)
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
    return Derivative(element, plain, shown)


def reading_length(formula: Graph) -> tuple[int, int]:
    """How long a formula is to read."""
    text = program(formula)
    return length(text), len(text)


def readable(polynomials: Polynomials, element: Element, is_last: bool) -> Derivative:
    """A derivative that is known as polynomials: with a person's names, or without if that is shorter."""
    form = with_one_exponential(polynomials.forms, collected(polynomials, element))
    graph = polynomials.graph

    def copy(names: Mapping[int, str]) -> tuple[Graph, dict[int, str]]:
        """The formula, and those of its nodes that have names."""
        made, nodes = write(polynomials.forms, [form], graph.inputs)
        return made.graph, {nodes[f]: name for f, name in names.items() if f in nodes}

    ways: list[Mapping[int, str]] = [polynomials.names, {}] if polynomials.names else [{}]
    shown = [with_steps(*copy(names), graph) for names in ways]
    plain = None if is_last else reshaped(with_names(*copy(polynomials.names)), graph)
    return Derivative(element, plain, min(shown, key=reading_length))


def collected(polynomials: Polynomials, element: Element) -> int:
    """An element as a form."""
    forms = polynomials.forms
    total: Terms = {}
    for key, polynomial in element.items():
        ways = [polynomial]
        if polynomials.squares:
            ways.append(exchanged(polynomials, polynomial))
        few = 2 * len(polynomial)
        found = [whole(polynomials, way, key) for way in ways if len(way) <= few]
        forms.add(total, min(found, key=forms.weights.__getitem__), ONE)
    return as_sum(forms, total)


def exchanged(polynomials: Polynomials, polynomial: Polynomial) -> Polynomial:
    """A polynomial in which sines are written as cosines, if cosines were written as sines."""
    squares = polynomials.squares
    polynomials.squares = {
        p: (atom, ratio(-a, b), ratio(ONE, b)) for atom, (p, a, b) in squares.items()
    }
    found = polynomials.reduced(polynomial)
    polynomials.squares = squares
    return found


def whole(
    polynomials: Polynomials, polynomial: Polynomial, key: Powers = (), tries: int = TRIES
) -> int:
    """A polynomial times powers of sums: what its terms have in common in front."""
    number, common, rest = primitive(polynomial, polynomials.forms.decimals)
    factors = shortest(polynomials, rest, tries) if len(rest) > 1 else []
    return scaled(polynomials.forms, [(atoms(polynomials, common), ONE), *factors, *key], number)


def shortest(polynomials: Polynomials, polynomial: Polynomial, tries: int) -> Factors:
    """The factors of a polynomial, in the shortest way that is found."""
    forms, own = polynomials.forms, atoms_of(polynomial)
    ways: list[Factors] = []
    if len(own) == 1:
        ways.append(linear_factors(polynomials, polynomial, own[0]))
    else:
        likely = sorted([(-repeated(polynomial, atom), atom) for atom in own])
        tries = tries if len(polynomial) <= MANY else 1
        for saved, atom in likely[:tries]:
            if saved:
                ways.append([(by_powers(polynomials, polynomial, atom), ONE)])
    if not ways or len(polynomial) <= FEW:
        ways.insert(len(own) == 1, [(flat(polynomials, polynomial), ONE)])
    return min(ways, key=lambda way: forms.weights[scaled(forms, way, ONE)])


def flat(polynomials: Polynomials, polynomial: Polynomial) -> int:
    """A polynomial as the sum of its terms, the highest powers first."""
    total: Terms = {}
    for monomial in sorted(polynomial, key=rank(polynomial)):
        add(polynomials.forms, total, [(atoms(polynomials, monomial), ONE)], polynomial[monomial])
    return as_sum(polynomials.forms, total)


def repeated(polynomial: Polynomial, atom: int) -> int:
    """How often an atom need not be written if a polynomial is gathered by its powers."""
    powers = [exponent for monomial in polynomial for own, exponent in monomial if own == atom]
    return len(powers) - len({*powers})


def by_powers(polynomials: Polynomials, polynomial: Polynomial, atom: int) -> int:
    """A polynomial by powers of one atom: ``x^2*(a + 1) + x*(a - 1) + a``."""
    coefficients: defaultdict[Exact, Polynomial] = defaultdict(dict)
    for monomial, c in polynomial.items():
        power = dict(monomial).get(atom, 0)
        others = tuple([item for item in monomial if item[0] != atom])
        coefficients[power][others] = c
    total: Terms = {}
    for power in sorted(coefficients, reverse=True):
        number, common, rest = primitive(coefficients[power], polynomials.forms.decimals)
        front = atoms(polynomials, joined(common, ((atom, power),) if power else ()))
        factors = shortest(polynomials, rest, 1) if len(rest) > 1 else []
        add(polynomials.forms, total, [(front, ONE), *factors], number)
    return as_sum(polynomials.forms, total)


def linear_factors(polynomials: Polynomials, polynomial: Polynomial, atom: int) -> Factors:
    """``t^4 - 3*t^2 + 2`` as ``(t^2 - 1)*(t^2 - 2)``: a polynomial in one atom by its rational roots."""
    coefficients = {power_of(monomial): c for monomial, c in polynomial.items()}
    step = common_divisor([power for power in coefficients if power])
    degree = int(ratio(max(coefficients), step))
    if degree > HIGHEST_DEGREE:
        return [(flat(polynomials, polynomial), ONE)]
    rest = [coefficients.get(step * k, 0) for k in range(degree, -1, -1)]
    found: dict[int, Exact] = defaultdict(int)
    for root in roots(rest):
        linear: Polynomial = {((atom, step),): root.denominator, (): -root.numerator}
        while len(rest) > 2 and (divided := by_root(rest, root)) is not None:
            rest = [ratio(c, root.denominator) for c in divided]
            found[flat(polynomials, linear)] += 1
    left: Polynomial = {}
    for power, c in enumerate(reversed(rest)):
        if c:
            left[((atom, step * power),) if power else ()] = c
    found[flat(polynomials, left)] += 1
    return list(found.items())


def roots(coefficients: Sequence[Exact]) -> Iterable[Exact]:
    """The numbers that may be roots: whole ones that divide the last coefficient, and halves."""
    last = coefficients[-1]
    for number in range(1, LARGEST_ROOT + 1):
        if last % number == 0:
            yield from (number, -number)
    yield from (HALF, -HALF)


def by_root(coefficients: Sequence[Exact], root: Exact) -> list[Exact] | None:
    """A polynomial, the highest power first, by ``x - root``, if that divides it (Horner's scheme)."""
    found = []
    value: Exact = 0
    for coefficient in coefficients:
        value = value * root + coefficient
        found.append(value)
    return None if value else found[:-1]


# What is common to terms.


def primitive(polynomial: Polynomial, decimals: bool) -> tuple[Exact, Powers, Polynomial]:
    """A polynomial as a number times a monomial times a polynomial that has nothing more to take out.

    Its first coefficient is positive.  Of decimals no number is taken out, unless one goes into all.
    """
    atoms = atoms_of(polynomial)
    each = [dict(monomial) for monomial in polynomial]
    low = [(atom, min(powers.get(atom, 0) for powers in each)) for atom in atoms]
    common = tuple([item for item in low if item[1]])
    coefficients = [*polynomial.values()]
    number = magnitude(common_number(coefficients)) if decimals else common_divisor(coefficients)
    if polynomial[min(polynomial, key=rank(polynomial))] < 0:
        number = -number
    return number, common, {quotient(m, common): ratio(c, number) for m, c in polynomial.items()}


def common_divisor(numbers: Iterable[Exact]) -> Exact:
    """The largest number of which all are whole multiples."""
    parts = [(number.numerator, number.denominator) for number in numbers]
    return ratio(math.gcd(*[n for n, _ in parts]), math.lcm(*[d for _, d in parts]))


def atoms_of(polynomial: Polynomial) -> list[int]:
    """The atoms of a polynomial."""
    return sorted({atom for monomial in polynomial for atom, _ in monomial})


def power_of(monomial: Powers) -> Exact:
    """The sum of a monomial's exponents."""
    return sum([exponent for _, exponent in monomial], 0)


def rank(polynomial: Polynomial) -> Callable[[Powers], list[Exact]]:
    """Where a monomial stands among others: high powers first, and those of the first atom."""
    atoms = atoms_of(polynomial)

    def place(monomial: Powers) -> list[Exact]:
        powers = dict(monomial)
        return [-power_of(monomial), *[-powers.get(atom, 0) for atom in atoms]]

    return place


# Forms.


def atoms(polynomials: Polynomials, monomial: Powers) -> int:
    """A product of powers of atoms."""
    return polynomials.forms.product([factor(polynomials, *item) for item in monomial])


def factor(polynomials: Polynomials, atom: int, exponent: Exact) -> tuple[int, Exact]:
    """A power of an atom; a negative one of an exponential has its minus in the exponent: exp(-x)."""
    forms = polynomials.forms
    found = forms.forms[atom]
    if isinstance(found, Call) and found.kind == "where":
        return choice(polynomials, atom, *found.operands), exponent
    is_whole = exponent.denominator == 1 and exponent > 0
    if isinstance(found, Call) and found.kind in ("exp", "pow") and not is_whole:
        *before, raised = found.operands
        inner = forms.product([(raised, ONE)], exponent)
        return forms.call(found.kind, (inner,)) if not before else forms.power(
            before[0], inner
        ), ONE
    return atom, exponent


def choice(polynomials: Polynomials, atom: int, condition: int, *branches: int) -> int:
    """A choice, its branches collected."""
    if atom not in polynomials.choices:
        x, y = [collected(polynomials, polynomials.element(branch)) for branch in branches]
        polynomials.choices[atom] = polynomials.forms.where(condition, x, y)
    return polynomials.choices[atom]


def scaled(forms: Algebra, factors: Factors, number: Exact) -> int:
    """A product times a number, which is written exactly, however many digits it has."""
    powers: dict[int, Exact] = {}
    for form, exponent in factors:
        found = forms.forms[form]
        if exponent == 1 and isinstance(found, Number | Product):
            own, inner = (found.value, ()) if isinstance(found, Number) else found
            number *= own
            for base, power in inner:
                accumulate(powers, base, power)
        else:
            accumulate(powers, form, exponent)
    if not forms.writable(number):
        accumulate(powers, forms.number(abs(number.numerator)), ONE)
        if number.denominator != 1:
            accumulate(powers, forms.number(number.denominator), -ONE)
        number = ONE if number > 0 else -ONE
    return forms.signed_product(number, [item for item in powers.items() if item[1]])


def add(forms: Algebra, total: Terms, factors: Factors, number: Exact) -> None:
    """Add a multiple of a product to a sum in the making."""
    if forms.writable(number):
        forms.add(total, scaled(forms, factors, ONE), number)
    else:
        forms.add(total, scaled(forms, factors, number), ONE)


def as_sum(forms: Algebra, total: Terms) -> int:
    """The sum of some terms, as it is."""
    terms = [(term, c) for term, c in total.items() if c]
    return forms.plain_sum(terms) if len(terms) > 1 else forms.sum_of(terms)
