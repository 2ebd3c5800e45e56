"""Sums: choices and opposites that are gathered, and ways to write a sum in fewer operations."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from itertools import chain

from exprgrad.derive.constant_folding import ONE, Exact, ratio, to_power
from exprgrad.derive.simplify.algebra import WALKED, Algebra, Terms
from exprgrad.derive.simplify.identities import rewritten_sums
from exprgrad.derive.simplify.normal_form import (
    Call,
    Items,
    Leaf,
    Product,
    Sum,
    accumulate,
    content,
)
from exprgrad.derive.simplify.product_rules import flattened
from exprgrad.derive.simplify.write import length

__all__ = ["gather_choices", "gather_opposites", "shortest"]

Coefficients = dict[int, Exact]
"""A polynomial in one name, by degree."""
FEW = 6
"""The most terms of a sum that others ways are tried for."""
HIGHEST = 12
"""The highest degree of a polynomial that is divided by another."""
LOW = (1, 2, 3)
"""The powers of sums that are multiplied out."""
PIECES = 40
"""The most terms that there may be on the way when a sum is multiplied out."""


def gather_choices(forms: Algebra, terms: Terms) -> None:
    """``where(c, a, 0) + where(c, 0, b)`` is ``where(c, a, b)``."""
    by_condition: dict[int, list[tuple[int, int, int]]] = {}
    for term in terms:
        found = forms.forms[term]
        if isinstance(found, Call) and found.kind == "where" and forms.weights[term] <= WALKED:
            condition, x, y = found.operands
            other = forms.opposite(condition)
            if other != condition and other in by_condition:
                condition, x, y = other, y, x
            by_condition.setdefault(condition, []).append((term, x, y))
    for condition, alike in by_condition.items():
        if len(alike) > 1:
            yes = forms.sum([(x, terms[term]) for term, x, _ in alike])
            no = forms.sum([(y, terms[term]) for term, _, y in alike])
            for term, _, _ in alike:
                del terms[term]
            forms.add(terms, forms.where(condition, yes, no), ONE)


def gather_opposites(forms: Algebra, terms: Terms) -> None:
    """``1/(x - 1) + 1/(1 - x)`` is 0: terms that differ by the sign of a sum inside are one."""
    for term in list(terms):
        found = forms.forms[term]
        if not isinstance(found, Product):
            continue
        factors = found.factors
        for place, (base, exponent) in enumerate(factors):
            inside = forms.forms[base]
            if not isinstance(inside, Sum) or exponent.denominator != 1:
                continue
            negative = forms.known_negative(inside)
            if negative is None or negative in dict(factors):
                continue
            flipped = frozenset([*factors[:place], (negative, exponent), *factors[place + 1 :]])
            other = forms.known.get(("product", ONE, flipped))
            if other in terms and other != term:
                forms.add_term(terms, other, terms.pop(term) * to_power(-ONE, exponent))
                break


def shortest(forms: Algebra, terms: list[tuple[int, Exact]], plain: int) -> int:
    """The sum of some terms in the shortest way that is found; ``plain`` is the sum as it is."""
    if forms.order is None or len(terms) > FEW:
        return plain
    best = over_common_denominator(forms, terms, plain)
    is_large = forms.weights[plain] > WALKED
    others = [] if is_large and not may_meet(forms, terms) else [multiplied_out(forms, terms)]
    others.append(factored(forms, terms))
    if forms.by_hand and not is_large:
        others += [over_all_denominators(forms, terms), expanded(forms, terms)]
        signed, plain_fractions = with_one_sign(forms, terms), with_plain_fractions(forms, terms)
        others += [factored(forms, signed)] if dict(signed) != dict(terms) else []
        others += [forms.sum(plain_fractions)] if plain_fractions != terms else []
        others += [*with_common_powers(forms, terms), *partly_factored(forms, terms)]
        others += rewritten_sums(forms, dict(terms))
    best = least(forms, best, others)
    found = forms.forms[best]
    if best == plain or not isinstance(found, Sum) or best in forms.named:
        return best
    return least(forms, best, [factored(forms, [*found.terms])])


def least(forms: Algebra, form: int, others: list[int | None]) -> int:
    """The smallest of some forms, the first of those that are alike."""
    for other in others:
        if other is not None and size(forms, other) < size(forms, form):
            form = other
    return form


def size(forms: Algebra, form: int) -> tuple[int, int]:
    """What is made small: of what people read the length, then the operations; of a program only these."""
    return length(forms, form) if forms.by_hand else 0, forms.weights[form]


def over_common_denominator(forms: Algebra, terms: list[tuple[int, Exact]], plain: int) -> int:
    """``1/u - x^2/u^2`` as ``(u - x^2)/u^2``, where that is not longer, for u that all terms have."""
    below: dict[int, Exact] = {}
    leap: Exact = 0
    for base, exponents in forms.shared_factors(terms).items():
        lowest = min(exponents)
        if lowest < 0 and all((exponent - lowest).denominator == 1 for exponent in exponents):
            below[base] = lowest
            leap = max(leap, max(exponents) - lowest)
    for chosen in [below, *[{base: below[base]} for base in below if len(below) > 1]]:
        whole = over(forms, terms, chosen) if chosen else None
        if whole is None:
            continue
        if forms.by_hand:
            fits = length(forms, whole) <= length(forms, plain) + 2 * (leap <= 1)
        else:
            fits = forms.weights[whole] + (leap > 1) <= forms.weights[plain]
        if fits:
            return whole
    return plain


def over_all_denominators(forms: Algebra, terms: list[tuple[int, Exact]]) -> int | None:
    """``1/(1 + x) + 1/(1 - x)`` as ``2/((1 + x)*(1 - x))``: all terms over one denominator."""
    terms = with_one_sign(forms, terms)
    below: dict[int, Exact] = {}
    for term, _ in terms:
        for base, exponent in forms.factors_of(term).items():
            if exponent < 0 and exponent < below.get(base, 0):
                below[base] = exponent
    if not below or len(below) > FEW:
        return None
    up = [(base, -exponent) for base, exponent in below.items()]
    above = fully_multiplied(forms, [(forms.product([(t, ONE), *up]), c) for t, c in terms])
    if above is None:
        return None
    return whole_fraction(forms, dict(above), below)


def with_one_sign(forms: Algebra, terms: list[tuple[int, Exact]]) -> list[tuple[int, Exact]]:
    """Terms in whose denominators no sum stands beside its negative."""
    met: set[int] = set()
    gathered: Terms = {}
    for term, c in terms:
        factors = forms.factors_of(term)
        for base, exponent in list(factors.items()):
            found = forms.forms[base]
            if not isinstance(found, Sum) or exponent.denominator != 1:
                continue
            negative = forms.known_negative(found)
            if negative in met and negative is not None:
                del factors[base]
                factors[negative] = factors.get(negative, 0) + exponent
                c *= to_power(-ONE, exponent)
            else:
                met.add(base)
        forms.add(gathered, forms.product(factors.items(), coefficient_of(forms, term)), c)
    return [item for item in gathered.items() if item[1]]


def with_plain_fractions(forms: Algebra, terms: list[tuple[int, Exact]]) -> list[tuple[int, Exact]]:
    """Terms in which no fraction stands in another: ``1/(1 + x/(1 + x))`` is ``(1 + x)/(1 + 2*x)``."""
    return [
        (next(flattened(forms, forms.factors_of(term), coefficient_of(forms, term)), term), c)
        for term, c in terms
    ]


def coefficient_of(forms: Algebra, term: int) -> Exact:
    """The number in a term."""
    found = forms.forms[term]
    return found.coefficient if isinstance(found, Product) else ONE


def expanded(forms: Algebra, terms: list[tuple[int, Exact]]) -> int | None:
    """The sum with all that can be multiplied out."""
    found = fully_multiplied(forms, terms)
    return None if found is None or dict(found) == dict(terms) else forms.sum_of(found)


def fully_multiplied(
    forms: Algebra, terms: list[tuple[int, Exact]]
) -> list[tuple[int, Exact]] | None:
    """The terms with the low powers of sums in them multiplied out; None if that makes too many."""
    gathered: Terms = {}
    todo = [*terms][::-1]
    for _ in range(PIECES):
        if not todo:
            break
        term, c = todo.pop()
        factors = forms.factors_of(term)
        place = next((b for b, q in factors.items() if is_opened(forms, b, q)), None)
        if place is None:
            forms.add(gathered, term, c)
            continue
        inside, scale = forms.forms[place], coefficient_of(forms, term)
        rest = factors | {place: factors[place] - 1}
        assert isinstance(inside, Sum)
        pieces = [
            (forms.product([*rest.items(), (t, ONE)], scale), own * c) for t, own in inside.terms
        ]
        todo += pieces[::-1]
    found = [(term, c) for term, c in gathered.items() if c]
    return None if todo or len(found) > FEW else found


def is_opened(forms: Algebra, base: int, exponent: Exact) -> bool:
    """Whether a factor is multiplied out: a sum of few terms to a low power."""
    found = forms.forms[base]
    return (
        isinstance(found, Sum)
        and base not in forms.named
        and exponent in LOW
        and len(found.terms) <= FEW
    )


def over(forms: Algebra, terms: list[tuple[int, Exact]], below: dict[int, Exact]) -> int | None:
    """A sum over a denominator, the numerator multiplied out if it does not get too long."""
    above: Terms = {}
    up = [(base, -exponent) for base, exponent in below.items()]
    for term, coefficient in terms:
        add_multiplied(forms, above, forms.product([(term, ONE), *up]), coefficient, only=below)
    if len(above) > len(terms) + 2:
        return None
    return whole_fraction(forms, {term: c for term, c in above.items() if c}, below)


def whole_fraction(forms: Algebra, above: Terms, below: dict[int, Exact]) -> int:
    """A sum over a denominator, without what they have in common."""
    above, below = cancelled(forms, above, below)
    return forms.product([(forms.sum_of([*above.items()]), ONE), *below.items()])


def cancelled(
    forms: Algebra, above: Terms, below: dict[int, Exact]
) -> tuple[Terms, dict[int, Exact]]:
    """``(x - 1)^2/(x^2 - 1)^2`` as ``1/(x + 1)^2``: polynomials of one name without a common factor."""
    left: dict[int, Exact] = {}
    todo = [*below.items()]
    while todo:
        base, exponent = todo.pop()
        found = forms.forms[base]
        one = polynomial(forms, above.items())
        other = polynomial(forms, found.terms) if isinstance(found, Sum) else None
        is_whole = exponent.denominator == 1 and exponent < 0
        if not is_whole or one is None or other is None or one[0] != other[0]:
            accumulate(left, base, exponent)
            continue
        shared = common_factor(one[1], other[1])
        parts = [division(each[1], shared)[0] for each in (one, other)]
        if len(shared) < 2 or not all(forms.writable(c) for each in parts for c in each.values()):
            accumulate(left, base, exponent)
            continue
        above, rest, factor = [terms_of(forms, one[0], each) for each in (*parts, shared)]
        todo += [(forms.sum_of([*factor.items()]), exponent + 1)] if exponent < -1 else []
        todo += (
            [(forms.sum_of([*rest.items()]), exponent)]
            if [*rest.items()] != [(forms.one, 1)]
            else []
        )
    return above, left


def common_factor(one: Coefficients, other: Coefficients) -> Coefficients:
    """The greatest common divisor of two polynomials, by Euclid; the other itself, if that is one.

    Its coefficients are whole, and what it leaves of the other begins with a positive one.
    """
    first, rest = other, division(one, other)[1]
    while rest:
        first, rest = rest, division(first, rest)[1]
    if max(first) == max(other):
        return other
    number = content([*first.values()])
    if first[max(first)] * other[max(other)] < 0:
        number = -number
    return {power: ratio(c, number) for power, c in first.items()}


def division(dividend: Coefficients, divisor: Coefficients) -> tuple[Coefficients, Coefficients]:
    """The quotient of two polynomials, and the remainder."""
    quotient, rest, top = Coefficients(), dividend, max(divisor)
    while rest and max(rest) >= top:
        shift = max(rest) - top
        times = quotient[shift] = ratio(rest[max(rest)], divisor[top])
        taken = {power + shift: times * c for power, c in divisor.items()}
        left = {power: rest.get(power, 0) - taken.get(power, 0) for power in {*rest, *taken}}
        rest = {power: c for power, c in left.items() if c}
    return quotient, rest


def terms_of(forms: Algebra, name: int, polynomial: Coefficients) -> Terms:
    """A polynomial as the terms of a sum, the highest power first."""
    powers = sorted(polynomial, reverse=True)
    return {forms.product([(name, power)]): polynomial[power] for power in powers}


def polynomial(forms: Algebra, terms: Items) -> tuple[int, Coefficients] | None:
    """A sum as a polynomial: the name it is of, and its coefficients by degree; None if it is none."""
    names, found = set[int](), Coefficients()
    for term, c in terms:
        degree = 0
        if term != forms.one:
            ((base, exponent), *more) = forms.factors_of(term).items()
            form = forms.forms[base]
            if more or not isinstance(form, Leaf) or exponent.denominator != 1:
                return None
            names.add(base)
            degree = int(exponent)
        found[degree] = c
    is_one = len(names) == 1 and min(found) >= 0 and max(found) <= HIGHEST
    return (names.pop(), found) if is_one else None


def factored(forms: Algebra, terms: list[tuple[int, Exact]]) -> int | None:
    """``x*u + u`` as ``(x + 1)*u``: calls and sums that all terms have as a factor are taken out.

    So are names where that leaves a term of one factor: ``a*x*sin(x) + a*cos(x)``, and no polynomial.
    """
    every = [forms.factors_of(term) for term, _ in terms]
    common = {base: min(exponents) for base, exponents in forms.shared_factors(terms).items()}
    out = {base: exponent for base, exponent in common.items() if exponent > 0}
    calls = {base: q for base, q in out.items() if isinstance(forms.forms[base], Call | Sum)}
    left = [[base for base, q in factors.items() if q != out.get(base)] for factors in every]
    bare = any(isinstance(forms.forms[base], Call) for bases in left for base in bases)
    if not bare or min(map(len, left)) > 1:
        out = calls
    if not out:
        return None
    down = [(base, -exponent) for base, exponent in out.items()]
    inner = [(forms.product([(term, ONE), *down]), c) for term, c in terms]
    return forms.product([(forms.sum(inner), ONE), *out.items()])


def partly_factored(forms: Algebra, terms: list[tuple[int, Exact]]) -> Iterator[int]:
    """``x*(x + 1) + x + 1 + y`` as ``(x + 1)^2 + y``: some terms have a sum as a factor in common."""
    each = [forms.factors_of(term) for term, _ in terms]
    for base in dict.fromkeys(chain.from_iterable(each)):
        found = forms.forms[base]
        if not isinstance(found, Sum) or base in forms.named:
            continue
        held = dict(terms)
        taken = {term: c for (term, c), q in zip(terms, each, strict=True) if q.get(base, 0) >= 1}
        own = [(forms.product([(term, ONE), (base, -ONE)]), c) for term, c in taken.items()]
        times = {
            ratio(held.get(term, 0), c) for term, c in found.terms
        }  # the sum itself, taken apart
        if len(times) == 1 and 0 not in times and taken.keys().isdisjoint(dict(found.terms)):
            own.append((forms.one, times.pop()))
            taken |= dict(found.terms)
        if len(own) > 1 and len(taken) < len(terms):
            rest = [item for item in terms if item[0] not in taken]
            yield forms.sum([(forms.product([(forms.sum(own), ONE), (base, ONE)]), ONE), *rest])


def with_common_powers(forms: Algebra, terms: list[tuple[int, Exact]]) -> Iterator[int]:
    """``n*x^(n - 1) - x^n`` as ``x^(n - 1)*(n - x)``: powers of the same base are taken out.

    The highest is where the base's logarithm is a factor as well, so that nothing new can be undefined:
    ``x^n*log(x) + n*x^(n - 1)`` as ``x^n*(log(x) + n/x)``.
    """
    each = [powers_in(forms, term) for term, _ in terms]
    for base in each[0]:
        if not all(base in powers for powers in each):
            continue
        pairs = [powers[base] for powers in each]
        gaps = [forms.value(forms.sum([(e, ONE), (pairs[0][1], -ONE)])) for _, e in pairs]
        known = [gap for gap in gaps if gap is not None]
        if len(known) < len(gaps):
            continue
        logarithm = forms.known.get(("log", (base,)))
        is_positive = any(logarithm in forms.factors_of(term) for term, _ in terms)
        for chosen in sorted({min(known), max(known)} if is_positive else {min(known)}):
            out = forms.power(base, forms.sum([(pairs[0][1], ONE), (forms.one, chosen)]))
            inner = [
                (forms.product([(term, ONE), (whole, -ONE), (base, gap - chosen)]), c)
                for (term, c), (whole, _), gap in zip(terms, pairs, known, strict=True)
            ]
            yield forms.product([(out, ONE), (forms.sum(inner), ONE)])


def powers_in(forms: Algebra, term: int) -> dict[int, tuple[int, int]]:
    """By base: the power of it, with a symbolic exponent, that is a factor of a term; and the exponent."""
    found: dict[int, tuple[int, int]] = {}
    for factor, exponent in forms.factors_of(term).items():
        form = forms.forms[factor]
        if isinstance(form, Call) and form.kind == "pow" and exponent == 1:
            found[form.operands[0]] = factor, form.operands[1]
    return found


def multiplied_out(forms: Algebra, terms: list[tuple[int, Exact]]) -> int | None:
    """The sum with the sums among its terms' factors multiplied out, once, if terms then meet."""
    gathered: Terms = {}
    pieces = sum(add_multiplied(forms, gathered, term, c) for term, c in terms)
    left = [(term, c) for term, c in gathered.items() if c]
    if len(left) > len(terms) + 1 or len(left) == pieces:
        return None
    return forms.sum_of(left)


def may_meet(forms: Algebra, terms: list[tuple[int, Exact]]) -> bool:
    """Whether multiplying out the sums among terms' factors, once, gives terms with the same factors.

    This is for what is large: of each product only the factors are worked out.
    """
    met: set[frozenset[tuple[int, Exact]]] = set()
    pieces = 0
    for term, _ in terms:
        factors = forms.factors_of(term)
        base = opened_factor(forms, term, factors, None)
        inside = forms.forms[term if base is None else base]
        rest = {} if base is None else factors | {base: 0}
        for inner, _ in inside.terms if isinstance(inside, Sum) else [(term, ONE)]:
            powers = {**rest}
            for factor, exponent in forms.factors_of(inner).items() if inner != forms.one else ():
                accumulate(powers, factor, exponent)
            met.add(frozenset((factor, q) for factor, q in powers.items() if q))
            pieces += 1
    return len(met) < pieces


def opened_factor(
    forms: Algebra, form: int, factors: dict[int, Exact], only: Collection[int] | None
) -> int | None:
    """The factor of a form that is multiplied out: a first power of a sum of few terms."""
    for base, exponent in factors.items():
        inside = forms.forms[base]
        if exponent != 1 or not isinstance(inside, Sum):
            continue
        if base in forms.named or (only is not None and base not in only):
            continue
        if len(inside.terms) <= FEW and base != form:
            return base
    return None


def add_multiplied(
    forms: Algebra,
    terms: Terms,
    form: int,
    coefficient: Exact,
    only: Collection[int] | None = None,
) -> int:
    """Add a multiple of a form to a sum; a first power of a sum in it is multiplied out.

    Returns how many terms that makes, before they meet others.
    """
    found = forms.forms[form]
    factors = forms.factors_of(form)
    own = coefficient_of(forms, form)
    base = opened_factor(forms, form, factors, only)
    if base is not None:
        inside = forms.forms[base]
        assert isinstance(inside, Sum)
        rest = [item for item in factors.items() if item[0] != base]
        for term, inner in inside.terms:
            forms.add(terms, forms.product([*rest, (term, ONE)], own), inner * coefficient)
        return len(inside.terms)
    forms.add(terms, form, coefficient)
    return len(found.terms) if isinstance(found, Sum) else 1
