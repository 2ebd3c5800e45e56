"""Sums and products tidied while they are made, and ways to write them shorter.

A step of a product takes it as it is so far, ``powers`` from base to exponent and a coefficient; it changes
the powers in place and returns the new coefficient.  A step of a sum changes its terms in place.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator
from itertools import chain, combinations, product

from exprgrad.derive.build import (
    HALF,
    ONE,
    Exact,
    exact_integer_power,
    exact_magnitude,
    exact_ratio,
)
from exprgrad.derive.simplify.forms import (
    DEEPEST,
    MOST_FACTORS,
    WALKED,
    CallForm,
    Coefficients,
    Forms,
    Leaf,
    NumberForm,
    Powers,
    Product,
    Sum,
    Terms,
    accumulate_form,
    common_content,
    signed_common_divisor,
)
from exprgrad.derive.simplify.identities import rewrite_product, rewrite_sum
from exprgrad.derive.simplify.write import form_length
from exprgrad.graph.graph import collect_by_key
from exprgrad.graph.ops import BY_NAME, COMMON

__all__ = [
    "MOST_FACTORS", "STEPS", "divide_polynomials", "merge_choices", "merge_opposites", "shortest_sum",
    "simplify_tie_share",
]  # fmt: skip

# Products.

QUOTIENTS = {op.quotient[0]: (op.quotient[1], op.name) for op in COMMON if op.quotient}
"""By numerator, such as ``sin``: the denominator ``cos``, and the quotient ``tan``."""
WINNERS = frozenset(op.winner for op in COMMON if op.winner)
HIGH = 64
"""The power from which on nothing is taken out of a factor, since the number would get too long."""
MOST = 6
"""The most terms of a sum for common factors to be taken out."""


def extract_common_factors(forms: Forms, powers: Powers, coefficient: Exact) -> Exact:
    """``x*(2*x*a - 4*x*b)`` is ``2*x^2*(a - 2*b)``: take out what all terms of a factor share.

    Sums that a person wrote are left alone.
    """
    for base in list(powers):
        found, exponent = forms.forms[base], powers[base]
        if base < forms.typed or forms.order is None or exponent.denominator != 1:
            continue
        if (
            not isinstance(found, Sum)
            or len(found.terms) > MOST
            or not 0 < exact_magnitude(exponent) < HIGH
        ):
            continue
        number = signed_common_divisor([c for _, c in found.terms])
        if forms.by_hand and number.denominator != 1 and len({abs(c) for _, c in found.terms}) > 1:
            number = ONE  # whether a fraction is better in front is for ``factor_out_numbers``
        least = {name: min(each) for name, each in forms.shared_factors(found.terms).items()}
        common = {n: q for n, q in least.items() if q > 0 and isinstance(forms.forms[n], Leaf)}
        if len(powers) < 2 or (not common and number == 1):
            continue
        inner = divide_out_common(forms, found, common, number)
        del powers[base]
        accumulate_form(powers, inner, exponent)
        for name, q in common.items():
            accumulate_form(powers, name, q * exponent)
        coefficient *= exact_integer_power(number, exponent)
    return coefficient


def divide_out_common(forms: Forms, found: Sum, common: Powers, number: Exact = ONE) -> int:
    """Divide a sum by what all its terms share.  A term that is a long sum stays one term.

    So a sum that grows step by step, as in a recurrence, is not written out again at each step.
    """
    out = [(name, -q) for name, q in common.items()]
    terms = [
        (forms.product([(term, ONE), *out]), exact_ratio(c, number)) for term, c in found.terms
    ]
    sums = [(term, own) for term, _ in terms if isinstance(own := forms.forms[term], Sum)]
    return forms.sum(terms, [term for term, own in sums if len(own.terms) > MOST])


def unify_signs(forms: Forms, powers: Powers, coefficient: Exact) -> Exact:
    """``(a - b)/(b - a)`` is -1: a sum and its negative are one factor."""
    for base in list(powers):
        found, exponent = forms.forms[base], powers.get(base, 0)
        if not isinstance(found, Sum) or exponent.denominator != 1 or len(powers) < 2:
            continue
        negative = forms.known_negative(found)
        if negative is not None and negative != base and negative in powers:
            del powers[base]
            powers[negative] += exponent
            coefficient *= exact_integer_power(-ONE, exponent)
    return coefficient


def distribute_whole_powers(forms: Forms, powers: Powers, coefficient: Exact) -> Exact:
    """``(a*b)^(1/2)*(a*b)^(1/2)`` is ``a*b``: take whole powers of products apart."""
    for base in list(powers):
        found, exponent = forms.forms[base], powers[base]
        if not isinstance(found, Product) or base in forms.named or forms.share:
            continue
        if exponent.denominator == 1 and len(found.factors) <= MOST_FACTORS:
            del powers[base]
            coefficient = forms.multiply(powers, coefficient, base, exponent)
    return coefficient


def tidy_absolutes(forms: Forms, powers: Powers, coefficient: Exact) -> Exact:
    """``abs(u)^2`` is u^2, ``abs(u)*sign(u)`` is u."""
    for base in list(powers):
        found, exponent = forms.forms[base], powers.get(base, 0)
        if not isinstance(found, CallForm) or found.kind != "abs" or not exponent:
            continue
        sign = forms.known.get(("sign", found.operands))
        if exponent == 1 and powers.get(sign or -1) == 1:
            del powers[sign or -1]
        elif exponent % 2:
            continue
        del powers[base]
        coefficient = forms.multiply(powers, coefficient, found.operands[0], exponent)
    return coefficient


def fold_numbers(forms: Forms, powers: Powers, coefficient: Exact) -> Exact:
    """``2^(3/2)`` is ``2*2^(1/2)``, and ``2^(1/2)*8^(1/2)`` is 4: work out powers of numbers."""
    parts: dict[Exact, list[int]] = {}
    for base in list(powers):
        found, exponent = forms.forms[base], powers[base]
        if not isinstance(found, NumberForm) or not found.value:
            continue
        whole = math.trunc(exponent)
        if whole:
            del powers[base]
            coefficient = forms.multiply(powers, coefficient, base, whole)
            if exponent == whole:
                continue
            powers[base] = exponent - whole
        if found.value > 0:
            parts.setdefault(exponent - whole, []).append(base)
    for exponent, bases in parts.items():
        if len(bases) > 1:
            for base in bases:
                del powers[base]
            inner = forms.product([(base, ONE) for base in bases])
            coefficient = forms.multiply(powers, coefficient, inner, exponent)
    return coefficient


def tidy_powers(forms: Forms, powers: Powers, coefficient: Exact) -> Exact:
    """``x^n*x`` is ``x^(n + 1)``: powers whose exponents are not numbers are gathered."""
    is_tidy = forms.share
    while not is_tidy:
        is_tidy = True
        symbolic = collect_by_key(
            (form.operands[0], (base, form.operands[1]))
            for base, exponent in powers.items()
            if isinstance(form := forms.forms[base], CallForm)
            and form.kind == "pow"
            and exponent.denominator == 1
        )
        for inner, raised in symbolic.items():
            # The others were an inner, above.
            raised = [item for item in raised if item[0] in powers]
            if powers.get(inner, 0) < 0 and has_log(forms, powers, inner):
                continue
            if not raised or (
                len(raised) == 1 == abs(powers[raised[0][0]]) and inner not in powers
            ):
                continue
            exponents = [(own, powers.pop(base)) for base, own in raised]
            exponents.append((forms.one, powers.pop(inner, 0)))
            exponent = forms.sum(exponents)
            number = forms.value(exponent)
            if number is not None and isinstance(forms.forms[inner], Product):
                coefficient = forms.multiply(powers, coefficient, inner, number)
                is_tidy = False  # the product's own factors may be such powers
            else:
                gathered = forms.power(inner, exponent)
                coefficient = forms.multiply(powers, coefficient, gathered, ONE)
    return coefficient


def tidy_quotients(forms: Forms, powers: Powers, coefficient: Exact) -> Exact:
    """``sin(u)/cos(u)`` is tan(u), ``sinh(u)/cosh(u)`` is tanh(u)."""
    for base in list(powers):
        found, exponent = forms.forms[base], powers.get(base, 0)
        if isinstance(found, CallForm) and found.kind in QUOTIENTS:
            below, whole = QUOTIENTS[found.kind]
            other = forms.call(below, found.operands)
            if exponent and powers.get(other) == -exponent:
                del powers[base], powers[other]
                quotient = forms.call(whole, found.operands)
                coefficient = forms.multiply(powers, coefficient, quotient, exponent)
    return coefficient


def substitute_names(forms: Forms, powers: Powers, coefficient: Exact) -> Exact:
    """Replace all factors of a named product by its name.

    So the derivative of ``d = (a + b)/c`` with respect to c is ``-d/c``.
    """
    if not forms.names_by_factor or forms.order is None:
        return coefficient
    for name in [n for base in list(powers) for n in forms.names_by_factor.get(base, ())]:
        found = forms.forms[name]
        if not isinstance(found, Product) or not found.coefficient:
            continue
        inside = dict(found.factors)
        if all(
            powers.get(base) and 0 < exact_ratio(q, powers[base]) <= 1 for base, q in inside.items()
        ):
            for base, exponent in inside.items():
                powers[base] -= exponent
                if not powers[base]:
                    del powers[base]
            accumulate_form(powers, name, ONE)
            coefficient = exact_ratio(coefficient, found.coefficient)
    return coefficient


def drop_zeros(forms: Forms, powers: Powers, coefficient: Exact) -> Exact:
    """The slope of ``0^x``, which is ``0^x*log(0)``, is 0: it has one where x is positive."""
    if not has_log(forms, powers, forms.zero):
        return coefficient
    for base in powers:
        match forms.forms[base]:
            case CallForm("pow", (forms.zero, _)):
                powers.clear()
                return 0
    return coefficient


def shorten_product_forms(forms: Forms, powers: Powers, coefficient: Exact) -> Exact:
    """``sin(x)*cos(x)`` is ``sin(2*x)/2``: write a product in the shortest way found."""
    if forms.order is None or not forms.by_hand or forms.attempts >= DEEPEST:
        return coefficient
    alone = (Leaf, CallForm) if [*powers.values()] == [ONE] else Leaf
    is_plain = all(isinstance(forms.forms[base], alone) for base in powers)
    if len(powers) > MOST_FACTORS or is_plain:
        return coefficient
    now = {base: exponent for base, exponent in powers.items() if exponent}
    key = (coefficient, frozenset(now.items()))
    plain = forms.signed_product(coefficient, [*now.items()])
    if forms.weights[plain] > WALKED:
        return coefficient
    if key not in forms.products:
        forms.products[key] = plain  # if an attempt meets it again
        forms.attempts += 1
        forms.products[key] = shortest_product(forms, now, coefficient, plain)
        forms.attempts -= 1
    best = forms.products[key]
    if best == plain:
        return coefficient
    powers.clear()
    return forms.multiply(powers, ONE, best, ONE)


def shortest_product(forms: Forms, powers: Powers, coefficient: Exact, plain: int) -> int:
    """Return the shortest way to write a product; ``plain`` is the product as it is."""
    best, least = plain, form_length(forms, plain)
    for other, is_usual in rewrite_product(forms, powers, coefficient):
        if is_usual or form_length(forms, other) < least:
            best, least = other, form_length(forms, other)
    ways = flatten_fractions, shift_powers, factor_out_numbers, pair_sums, cancel_common_names
    others = chain.from_iterable(way(forms, powers, coefficient) for way in ways)
    return min([best, *others], key=lambda other: form_length(forms, other))


def sum_factors(
    forms: Forms, powers: Powers
) -> Iterator[tuple[int, Exact, Sum, list[tuple[int, Exact]]]]:
    """Yield each unnamed sum among the factors, with its whole exponent and the other factors."""
    for base, exponent in powers.items():
        found = forms.forms[base]
        if isinstance(found, Sum) and base not in forms.named and exponent.denominator == 1:
            yield base, exponent, found, [item for item in powers.items() if item[0] != base]


def flatten_fractions(forms: Forms, powers: Powers, coefficient: Exact) -> Iterator[int]:
    """``1/(x*(1 + y^2/x^2))`` is ``x/(x^2 + y^2)``: a factor that is a sum of fractions becomes one."""
    for _, exponent, found, rest in sum_factors(forms, powers):
        below: Powers = {}
        for term, _ in found.terms if len(found.terms) <= MOST else ():
            for inner, q in forms.factors_of(term).items():
                if q < 0:
                    below[inner] = max(-q, below.get(inner, -q))
        if below:
            terms = [(forms.product([(t, ONE), *below.items()]), c) for t, c in found.terms]
            rest += [(inner, -q * exponent) for inner, q in below.items()]
            yield forms.product([*rest, (forms.sum(terms), exponent)], coefficient)


def shift_powers(forms: Forms, powers: Powers, coefficient: Exact) -> Iterator[int]:
    """``x/(y^2*sqrt(x/y))`` is ``sqrt(x/y)/y``, and ``x^(n - 1)*log(x)`` is ``x^n*log(x)/x``.

    Nothing new goes below the line that may be 0 where all else is defined.
    """
    for base, exponent in powers.items():
        found = forms.forms[base]
        if (
            isinstance(found, CallForm)
            and found.kind == "pow"
            and exponent == 1
            and has_log(forms, powers, found.operands[0])
        ):
            inner, outer = found.operands
            terms = forms.forms[outer]
            less = dict(terms.terms).get(forms.one, ONE) if isinstance(terms, Sum) else ONE
            if less < 0 and less.denominator == 1:
                whole = forms.power(inner, forms.sum([(outer, ONE), (forms.one, -less)]))
                rest = [item for item in powers.items() if item[0] != base]
                yield forms.product([*rest, (whole, ONE), (inner, less)], coefficient)
        if not isinstance(found, Product) or exponent.denominator == 1:
            continue
        by = 1 if exponent < 0 else -1
        moved = {inner: powers.get(inner, 0) - by * q for inner, q in found.factors}
        if all(q >= min(powers.get(inner, 0), 0) for inner, q in moved.items()):
            scale = coefficient * exact_integer_power(found.coefficient, -by)
            yield forms.product([*(powers | {base: exponent + by} | moved).items()], scale)


def cancel_common_names(forms: Forms, powers: Powers, coefficient: Exact) -> Iterator[int]:
    """``x^2/(x^2 - x)^2`` is ``1/(x - 1)^2``: cancel a name against all terms of a sum."""
    for _, exponent, found, rest in sum_factors(forms, powers):
        common = {
            name: min(each)
            for name, each in forms.shared_factors(found.terms).items()
            if isinstance(forms.forms[name], Leaf) and powers.get(name) == -min(each) * exponent
        }
        if common:
            rest += [(name, q * exponent) for name, q in common.items()]
            yield forms.product(
                [*rest, (divide_out_common(forms, found, common), exponent)], coefficient
            )


def has_log(forms: Forms, powers: Powers, form: int) -> bool:
    """Whether the logarithm of a form is a factor, so that the form is positive."""
    return powers.get(forms.known.get(("log", (form,)), -1), 0) > 0


def pair_sums(forms: Forms, powers: Powers, coefficient: Exact) -> Iterator[int]:
    """``2/((1 + x)*(1 - x))`` is ``2/(1 - x^2)``: two sums of two terms are multiplied where terms meet."""
    sums = [each for each in sum_factors(forms, powers) if len(each[2].terms) == 2]
    for (one, q, first, _), (other, same, second, _) in combinations(sums, 2):
        if q == same:
            each = product(first.terms, second.terms)
            pieces = [(forms.product([(t, ONE), (u, ONE)]), c * d) for (t, c), (u, d) in each]
            whole = forms.sum(pieces)
            inside = forms.forms[whole]
            if isinstance(inside, Sum) and len(inside.terms) == 2:
                rest = [item for item in powers.items() if item[0] not in (one, other)]
                yield forms.product([*rest, (whole, q)], coefficient)


def factor_out_numbers(forms: Forms, powers: Powers, coefficient: Exact) -> Iterator[int]:
    """``(5*x/2 - 3/2)/y`` is ``(5*x - 3)/(2*y)``, and ``(336 - 4032*x)/24`` is ``14 - 168*x``.

    Decimals that a person typed in a sum stay.
    """
    for base, exponent, found, rest in sum_factors(forms, powers):
        if len(found.terms) > MOST:
            continue
        number = common_content([c for _, c in found.terms])
        if (
            number != 1
            and exact_magnitude(exponent) < HIGH
            and not (forms.decimals and base < forms.typed)
        ):
            inner = forms.sum(found.terms, scale=exact_ratio(ONE, number))
            scale = coefficient * exact_integer_power(number, exponent)
            yield forms.product([*rest, (inner, exponent)], scale)
        if not rest and exponent == 1 and coefficient != 1:
            yield forms.sum(found.terms, scale=coefficient)


STEPS = (
    ((Sum,), unify_signs),
    ((Sum,), extract_common_factors),
    ((Product,), distribute_whole_powers),
    ((NumberForm,), fold_numbers),
    (("abs",), tidy_absolutes),
    (("pow",), tidy_powers),
    (tuple(QUOTIENTS), tidy_quotients),
    (None, substitute_names),
    (("pow",), drop_zeros),
    (None, shorten_product_forms),
)
"""The steps in order, each with the kinds of factors that it applies to; None: all."""


def simplify_tie_share(forms: Forms, powers: Powers, coefficient: Exact) -> int | None:
    """Write an operand's share of ``max`` or ``min`` as a comparison.

    With a constant that takes everything in a tie, ``p/(p + where(q, inf, 0))`` is ``where(q, 0, 1)``;
    with two operands that share it, ``(x >= y)/((x >= y) + (y >= x))`` is ``(x > y) + (x == y)/2``.
    """
    for base, exponent in powers.items():
        found = forms.forms[base]
        if exponent != -1 or not isinstance(found, Sum):
            continue
        rest = [item for item in powers.items() if item[0] != base]
        counts = [tie_condition(forms, term) for term, c in found.terms if c == 1]
        if None in counts or len(counts) < len(found.terms):
            continue
        greedy = [c for c, weight in counts if weight == math.inf]  # type: ignore[misc]
        plain = [c for c, weight in counts if weight == 1]  # type: ignore[misc]
        if greedy:
            share = forms.product(
                [*rest, (forms.sum([(c, ONE) for c in plain]), -ONE)], coefficient
            )
            for condition in greedy:
                share = forms.where(condition, forms.zero, share)
            return share
        if len(plain) == 2 and ONE in (powers.get(plain[0]), powers.get(plain[1])):
            mine, other = plain if powers.get(plain[0]) == 1 else plain[::-1]
            x = forms.forms[mine]
            assert isinstance(x, CallForm)
            row = BY_NAME[x.kind]
            if x.kind in WINNERS and other == forms.call(x.kind, x.operands[::-1]):
                ahead = forms.call(BY_NAME[row.mirror].opposite, x.operands)
                level = forms.call("eq", x.operands)
                share = forms.sum([(ahead, ONE), (level, HALF)])
                rest = [item for item in rest if item[0] != mine]
                return forms.product([*rest, (share, ONE)], coefficient)
    return None


def tie_condition(forms: Forms, term: int) -> tuple[int, float] | None:
    """Return the condition and weight of a tie's term, ``where(condition, 1 or inf, 0)``."""
    match forms.forms[term]:
        case CallForm("where", (condition, weight, forms.zero)):
            match forms.forms[weight]:
                case NumberForm(1):
                    return condition, 1.0
                case Leaf(_, math.inf):
                    return condition, math.inf
    return None


# Sums.

FEW = 6
"""The most terms of a sum that is tried in other ways."""
HIGHEST = 12
"""The highest degree of a polynomial that is divided by another."""
LOW = (1, 2, 3)
"""The powers of sums that are multiplied out."""
PIECES = 40
"""The most steps of multiplying a sum out."""


def merge_choices(forms: Forms, terms: Terms) -> None:
    """``where(c, a, 0) + where(c, 0, b)`` is ``where(c, a, b)``."""
    by_condition: dict[int, list[tuple[int, int, int]]] = {}
    for term in terms:
        found = forms.forms[term]
        if isinstance(found, CallForm) and found.kind == "where" and forms.weights[term] <= WALKED:
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


def merge_opposites(forms: Forms, terms: Terms) -> None:
    """``1/(x - 1) + 1/(1 - x)`` is 0: merge terms that differ by the sign of a sum inside."""
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
                forms.add_term(terms, other, terms.pop(term) * exact_integer_power(-ONE, exponent))
                break


def shortest_sum(forms: Forms, terms: list[tuple[int, Exact]], plain: int) -> int:
    """Return the shortest way to write a sum; ``plain`` is the sum as it is."""
    if forms.order is None or len(terms) > FEW:
        return plain
    best = put_over_common_denominator(forms, terms, plain)
    is_large = forms.weights[plain] > WALKED
    others = (
        []
        if is_large and not would_terms_meet(forms, terms)
        else [multiply_out_if_terms_meet(forms, terms)]
    )
    others.append(factor_out(forms, terms))
    if forms.by_hand and not is_large:
        expanded = multiply_out_fully(forms, terms)
        others.append(put_over_one_denominator(forms, terms))
        others += [forms.sum_of(expanded)] if expanded and dict(expanded) != dict(terms) else []
        signed = unify_denominator_signs(forms, terms)
        plain_fractions = [
            (next(flatten_fractions(forms, forms.factors_of(t), term_coefficient(forms, t)), t), c)
            for t, c in terms
        ]
        others += [factor_out(forms, signed)] if dict(signed) != dict(terms) else []
        others += [forms.sum(plain_fractions)] if plain_fractions != terms else []
        others += [*factor_out_powers(forms, terms), *factor_some_terms(forms, terms)]
        others += rewrite_sum(forms, dict(terms))
    best = smallest_form(forms, best, others)
    found = forms.forms[best]
    if best == plain or not isinstance(found, Sum) or best in forms.named:
        return best
    return smallest_form(forms, best, [factor_out(forms, [*found.terms])])


def smallest_form(forms: Forms, form: int, others: list[int | None]) -> int:
    """Return the smallest of some forms, the first of several.

    For people it is the shortest, then the one with the fewest operations; for a program the latter.
    """

    def size(one: int) -> tuple[int, int]:
        return form_length(forms, one) if forms.by_hand else 0, forms.weights[one]

    return min([form, *[other for other in others if other is not None]], key=size)


def put_over_common_denominator(forms: Forms, terms: list[tuple[int, Exact]], plain: int) -> int:
    """``1/u - x^2/u^2`` as ``(u - x^2)/u^2``, if that is not longer; every term has a power of u."""
    below: dict[int, Exact] = {}
    leap: Exact = 0
    for base, exponents in forms.shared_factors(terms).items():
        lowest = min(exponents)
        if lowest < 0 and all((exponent - lowest).denominator == 1 for exponent in exponents):
            below[base] = lowest
            leap = max(leap, max(exponents) - lowest)
    for chosen in [below, *[{base: below[base]} for base in below if len(below) > 1]]:
        whole = put_over_denominator(forms, terms, chosen) if chosen else None
        if whole is None:
            continue
        if forms.by_hand:
            fits = form_length(forms, whole) <= form_length(forms, plain) + 2 * (leap <= 1)
        else:
            fits = forms.weights[whole] + (leap > 1) <= forms.weights[plain]
        if fits:
            return whole
    return plain


def put_over_one_denominator(forms: Forms, terms: list[tuple[int, Exact]]) -> int | None:
    """``1/(1 + x) + 1/(1 - x)`` as ``2/((1 + x)*(1 - x))``: put all terms over one denominator."""
    terms = unify_denominator_signs(forms, terms)
    below: dict[int, Exact] = {}
    for term, _ in terms:
        for base, exponent in forms.factors_of(term).items():
            if exponent < 0 and exponent < below.get(base, 0):
                below[base] = exponent
    if not below or len(below) > FEW:
        return None
    up = [(base, -exponent) for base, exponent in below.items()]
    above = multiply_out_fully(forms, [(forms.product([(t, ONE), *up]), c) for t, c in terms])
    if above is None:
        return None
    return cancelled_fraction(forms, dict(above), below)


def unify_denominator_signs(
    forms: Forms, terms: list[tuple[int, Exact]]
) -> list[tuple[int, Exact]]:
    """Rewrite terms so that no sum is in them together with its negative."""
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
                c *= exact_integer_power(-ONE, exponent)
            else:
                met.add(base)
        forms.add(gathered, forms.product(factors.items(), term_coefficient(forms, term)), c)
    return [item for item in gathered.items() if item[1]]


def term_coefficient(forms: Forms, term: int) -> Exact:
    """The number in a term."""
    found = forms.forms[term]
    return found.coefficient if isinstance(found, Product) else ONE


def multiply_out_fully(
    forms: Forms, terms: list[tuple[int, Exact]]
) -> list[tuple[int, Exact]] | None:
    """Multiply out the low powers of sums in some terms; None if that makes too many terms."""
    gathered: Terms = {}
    todo = [*terms][::-1]
    for _ in range(PIECES):
        if not todo:
            break
        term, c = todo.pop()
        base = factor_to_multiply_out(forms, term, LOW)
        if base is None:
            forms.add(gathered, term, c)
        else:
            todo += [(piece, own * c) for piece, own in multiply_out_once(forms, term, base)][::-1]
    found = [(term, c) for term, c in gathered.items() if c]
    return None if todo or len(found) > FEW else found


def put_over_denominator(
    forms: Forms, terms: list[tuple[int, Exact]], below: dict[int, Exact]
) -> int | None:
    """Put a sum over a denominator, its numerator multiplied out; None if that gets too long."""
    above: Terms = {}
    up = [(base, -exponent) for base, exponent in below.items()]
    for term, coefficient in terms:
        add_multiplied_out(forms, above, forms.product([(term, ONE), *up]), coefficient, only=below)
    if len(above) > len(terms) + 2:
        return None
    return cancelled_fraction(forms, {term: c for term, c in above.items() if c}, below)


def cancelled_fraction(forms: Forms, above: Terms, below: dict[int, Exact]) -> int:
    """Return a sum over a denominator, common factors cancelled."""
    above, below = cancel_polynomials(forms, above, below)
    return forms.product([(forms.sum_of([*above.items()]), ONE), *below.items()])


def cancel_polynomials(
    forms: Forms, above: Terms, below: dict[int, Exact]
) -> tuple[Terms, dict[int, Exact]]:
    """``(x - 1)^2/(x^2 - 1)^2`` as ``1/(x + 1)^2``: cancel common factors of polynomials in one name."""
    left: dict[int, Exact] = {}
    todo = [*below.items()]
    while todo:
        base, exponent = todo.pop()
        found = forms.forms[base]
        one = forms.polynomial(above.items())
        other = forms.polynomial(found.terms) if isinstance(found, Sum) else None
        is_whole = exponent.denominator == 1 and exponent < 0
        shared, parts = Coefficients(), list[Coefficients]()
        if is_whole and one and other and one[0] == other[0] and max(*one[1], *other[1]) <= HIGHEST:
            shared = polynomial_gcd(one[1], other[1])
            parts = [divide_polynomials(each[1], shared)[0] for each in (one, other)]
        is_short = all(forms.writable(c) for each in parts for c in each.values())
        if one is None or len(shared) < 2 or not is_short:
            accumulate_form(left, base, exponent)
            continue
        above, rest, factor = [
            {forms.product([(one[0], power)]): each[power] for power in sorted(each, reverse=True)}
            for each in (*parts, shared)
        ]
        todo += [(forms.sum_of([*factor.items()]), exponent + 1)] if exponent < -1 else []
        todo += (
            [(forms.sum_of([*rest.items()]), exponent)]
            if [*rest.items()] != [(forms.one, 1)]
            else []
        )
    return above, left


def polynomial_gcd(one: Coefficients, other: Coefficients) -> Coefficients:
    """Return two polynomials' greatest common divisor, by Euclid; the second, if it divides the first.

    The divisor's coefficients are whole; the second polynomial by it begins with a positive coefficient.
    """
    first, rest = other, divide_polynomials(one, other)[1]
    while rest:
        first, rest = rest, divide_polynomials(first, rest)[1]
    if max(first) == max(other):
        return other
    number = common_content([*first.values()])
    if first[max(first)] * other[max(other)] < 0:
        number = -number
    return {power: exact_ratio(c, number) for power, c in first.items()}


def divide_polynomials(
    dividend: Coefficients, divisor: Coefficients
) -> tuple[Coefficients, Coefficients]:
    """The quotient of two polynomials, and the remainder."""
    quotient, rest, top = Coefficients(), dividend, max(divisor)
    while rest and max(rest) >= top:
        shift = max(rest) - top
        times = quotient[shift] = exact_ratio(rest[max(rest)], divisor[top])
        taken = {power + shift: times * c for power, c in divisor.items()}
        left = {power: rest.get(power, 0) - taken.get(power, 0) for power in {*rest, *taken}}
        rest = {power: c for power, c in left.items() if c}
    return quotient, rest


def factor_out(forms: Forms, terms: list[tuple[int, Exact]]) -> int | None:
    """``x*u + u`` as ``(x + 1)*u``: take out the calls and sums that all terms share.

    Names are taken out, too, if that leaves a term of one factor, as of ``a*x*sin(x) + a*cos(x)``;
    polynomials keep theirs.
    """
    every = [forms.factors_of(term) for term, _ in terms]
    common = {base: min(exponents) for base, exponents in forms.shared_factors(terms).items()}
    out = {base: exponent for base, exponent in common.items() if exponent > 0}
    calls = {base: q for base, q in out.items() if isinstance(forms.forms[base], CallForm | Sum)}
    left = [[base for base, q in factors.items() if q != out.get(base)] for factors in every]
    bare = any(isinstance(forms.forms[base], CallForm) for bases in left for base in bases)
    if not bare or min(map(len, left)) > 1:
        out = calls
    if not out:
        return None
    down = [(base, -exponent) for base, exponent in out.items()]
    inner = [(forms.product([(term, ONE), *down]), c) for term, c in terms]
    return forms.product([(forms.sum(inner), ONE), *out.items()])


def factor_some_terms(forms: Forms, terms: list[tuple[int, Exact]]) -> Iterator[int]:
    """``x*(x + 1) + x + 1 + y`` as ``(x + 1)^2 + y``: take out a sum that some terms share."""
    each = [forms.factors_of(term) for term, _ in terms]
    for base in dict.fromkeys(chain.from_iterable(each)):
        found = forms.forms[base]
        if not isinstance(found, Sum) or base in forms.named:
            continue
        held = dict(terms)
        taken = {term: c for (term, c), q in zip(terms, each, strict=True) if q.get(base, 0) >= 1}
        own = [(forms.product([(term, ONE), (base, -ONE)]), c) for term, c in taken.items()]
        times = {
            exact_ratio(held.get(term, 0), c) for term, c in found.terms
        }  # the sum itself, taken apart
        if len(times) == 1 and 0 not in times and taken.keys().isdisjoint(dict(found.terms)):
            own.append((forms.one, times.pop()))
            taken |= dict(found.terms)
        if len(own) > 1 and len(taken) < len(terms):
            rest = [item for item in terms if item[0] not in taken]
            yield forms.sum([(forms.product([(forms.sum(own), ONE), (base, ONE)]), ONE), *rest])


def factor_out_powers(forms: Forms, terms: list[tuple[int, Exact]]) -> Iterator[int]:
    """``n*x^(n - 1) - x^n`` as ``x^(n - 1)*(n - x)``: take out powers of the same base.

    The highest power is taken out, too, if the base's logarithm is a factor, so that nothing new can be
    undefined:
    ``x^n*log(x) + n*x^(n - 1)`` as ``x^n*(log(x) + n/x)``.
    """
    each = [symbolic_powers(forms, term) for term, _ in terms]
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


def symbolic_powers(forms: Forms, term: int) -> dict[int, tuple[int, int]]:
    """Return a term's powers with symbolic exponents: by base, the factor and its exponent."""
    found: dict[int, tuple[int, int]] = {}
    for factor, exponent in forms.factors_of(term).items():
        form = forms.forms[factor]
        if isinstance(form, CallForm) and form.kind == "pow" and exponent == 1:
            found[form.operands[0]] = factor, form.operands[1]
    return found


def multiply_out_if_terms_meet(forms: Forms, terms: list[tuple[int, Exact]]) -> int | None:
    """Multiply out the sums among terms' factors, once; None if no like terms come of it."""
    gathered: Terms = {}
    pieces = sum(add_multiplied_out(forms, gathered, term, c) for term, c in terms)
    left = [(term, c) for term, c in gathered.items() if c]
    if len(left) > len(terms) + 1 or len(left) == pieces:
        return None
    return forms.sum_of(left)


def would_terms_meet(forms: Forms, terms: list[tuple[int, Exact]]) -> bool:
    """Whether multiplying out the sums among terms' factors, once, gives like terms.

    Only factors are worked out and no forms are made, since this is for large sums.
    """
    met: set[frozenset[tuple[int, Exact]]] = set()
    pieces = 0
    for term, _ in terms:
        base = factor_to_multiply_out(forms, term, (ONE,))
        inside = forms.forms[term if base is None else base]
        rest = {} if base is None else forms.factors_of(term) | {base: 0}
        for inner, _ in inside.terms if isinstance(inside, Sum) else [(term, ONE)]:
            powers = {**rest}
            for factor, exponent in forms.factors_of(inner).items() if inner != forms.one else ():
                accumulate_form(powers, factor, exponent)
            met.add(frozenset((factor, q) for factor, q in powers.items() if q))
            pieces += 1
    return len(met) < pieces


def factor_to_multiply_out(
    forms: Forms, term: int, powers: Collection[Exact], only: Collection[int] | None = None
) -> int | None:
    """Return a term's factor to multiply out, a power of a sum of few terms; None if it has none."""
    for base, exponent in forms.factors_of(term).items():
        inside = forms.forms[base]
        is_few = isinstance(inside, Sum) and len(inside.terms) <= FEW
        is_meant = base not in forms.named and (only is None or base in only)
        if is_few and is_meant and exponent in powers:
            return base
    return None


def multiply_out_once(forms: Forms, term: int, base: int) -> list[tuple[int, Exact]]:
    """Multiply out one sum among a term's factors, once."""
    factors, inside = forms.factors_of(term), forms.forms[base]
    assert isinstance(inside, Sum)
    rest, scale = factors | {base: factors[base] - 1}, term_coefficient(forms, term)
    return [(forms.product([*rest.items(), (t, ONE)], scale), c) for t, c in inside.terms]


def add_multiplied_out(
    forms: Forms,
    terms: Terms,
    form: int,
    coefficient: Exact,
    only: Collection[int] | None = None,
) -> int:
    """Add a multiple of a form to a sum; a first power of a sum in it is multiplied out.

    Returns how many terms that makes, before they meet others.
    """
    found, base = forms.forms[form], factor_to_multiply_out(forms, form, (ONE,), only)
    pieces = [(form, ONE)] if base is None else multiply_out_once(forms, form, base)
    for piece, own in pieces:
        forms.add(terms, piece, own * coefficient)
    return len(found.terms) if isinstance(found, Sum) else len(pieces)
