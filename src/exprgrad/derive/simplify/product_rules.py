"""Products tidied while they are made, and the shares of ties among them.

Each step takes the product so far, ``powers`` from base to exponent and a coefficient; it changes the
powers in place and returns the new coefficient.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import combinations, product

from exprgrad.derive.constant_folding import HALF, ONE, Exact, magnitude, ratio, to_power
from exprgrad.derive.simplify.algebra import DEEPEST, WALKED, Algebra, Powers
from exprgrad.derive.simplify.identities import rewritten_products
from exprgrad.derive.simplify.normal_form import (
    Call,
    Leaf,
    Number,
    Product,
    Sum,
    accumulate,
    common_number,
    content,
)
from exprgrad.derive.simplify.write import length
from exprgrad.graph.ops import BY_NAME, COMMON

__all__ = ["MOST_FACTORS", "STEPS", "flattened", "share_of_tie"]

QUOTIENTS = {op.quotient[0]: (op.quotient[1], op.name) for op in COMMON if op.quotient}
"""By the upper row of a quotient that is a row: the lower one, and what that is."""
WINNERS = frozenset(op.winner for op in COMMON if op.winner)
MOST_FACTORS = 12
"""The most factors of a product that is taken apart."""
HIGH = 64
"""From this power on, nothing is taken out of a factor: the number would get too long."""
MOST = 6
"""The most terms of a factor from which something is taken out."""


def take_out(forms: Algebra, powers: Powers, coefficient: Exact) -> Exact:
    """``x*(2*x*a - 4*x*b)`` is ``2*x^2*(a - 2*b)``: what all terms of a factor have is taken out.

    Sums that a person wrote are left alone.
    """
    for base in list(powers):
        found, exponent = forms.forms[base], powers[base]
        if base < forms.typed or forms.order is None or exponent.denominator != 1:
            continue
        if (
            not isinstance(found, Sum)
            or len(found.terms) > MOST
            or not 0 < magnitude(exponent) < HIGH
        ):
            continue
        number = common_number([c for _, c in found.terms])
        if forms.by_hand and number.denominator != 1 and len({abs(c) for _, c in found.terms}) > 1:
            number = ONE  # whether a fraction is better in front is for ``counted_out``
        least = {name: min(each) for name, each in forms.shared_factors(found.terms).items()}
        common = {n: q for n, q in least.items() if q > 0 and isinstance(forms.forms[n], Leaf)}
        if len(powers) < 2 or (not common and number == 1):
            continue
        inner = without(forms, found, common, number)
        del powers[base]
        accumulate(powers, inner, exponent)
        for name, q in common.items():
            accumulate(powers, name, q * exponent)
        coefficient *= to_power(number, exponent)
    return coefficient


def without(forms: Algebra, found: Sum, common: Powers, number: Exact = ONE) -> int:
    """A sum without what all its terms have.  A term that is a long sum then stays one.

    So a sum that grows step by step, as in a recurrence, is not written out again at each step.
    """
    out = [(name, -q) for name, q in common.items()]
    terms = [(forms.product([(term, ONE), *out]), ratio(c, number)) for term, c in found.terms]
    return forms.sum(terms, [term for term, _ in terms if is_long(forms, term)])


def is_long(forms: Algebra, form: int) -> bool:
    """Whether a form is a sum of so many terms that nothing is taken out of it any more."""
    found = forms.forms[form]
    return isinstance(found, Sum) and len(found.terms) > MOST


def unify_signs(forms: Algebra, powers: Powers, coefficient: Exact) -> Exact:
    """``(a - b)/(b - a)`` is -1: a sum and its negative are one factor."""
    for base in list(powers):
        found, exponent = forms.forms[base], powers.get(base, 0)
        if not isinstance(found, Sum) or exponent.denominator != 1 or len(powers) < 2:
            continue
        negative = forms.known_negative(found)
        if negative is not None and negative != base and negative in powers:
            del powers[base]
            powers[negative] += exponent
            coefficient *= to_power(-ONE, exponent)
    return coefficient


def open_products(forms: Algebra, powers: Powers, coefficient: Exact) -> Exact:
    """``(a*b)^(1/2)*(a*b)^(1/2)`` is ``a*b``: what is a product to a whole power is taken apart."""
    for base in list(powers):
        found, exponent = forms.forms[base], powers[base]
        if not isinstance(found, Product) or base in forms.named or forms.share:
            continue
        if exponent.denominator == 1 and len(found.factors) <= MOST_FACTORS:
            del powers[base]
            coefficient = forms.multiply(powers, coefficient, base, exponent)
    return coefficient


def tidy_absolutes(forms: Algebra, powers: Powers, coefficient: Exact) -> Exact:
    """``abs(u)^2`` is u^2, ``abs(u)*sign(u)`` is u."""
    for base in list(powers):
        found, exponent = forms.forms[base], powers.get(base, 0)
        if not isinstance(found, Call) or found.kind != "abs" or not exponent:
            continue
        sign = forms.known.get(("sign", found.operands))
        if exponent == 1 and powers.get(sign or -1) == 1:
            del powers[sign or -1]
        elif exponent % 2:
            continue
        del powers[base]
        coefficient = forms.multiply(powers, coefficient, found.operands[0], exponent)
    return coefficient


def fold_numbers(forms: Algebra, powers: Powers, coefficient: Exact) -> Exact:
    """``2^(3/2)`` is ``2*2^(1/2)``, and ``2^(1/2)*8^(1/2)`` is 4: powers of numbers are worked out."""
    parts: dict[Exact, list[int]] = {}
    for base in list(powers):
        found, exponent = forms.forms[base], powers[base]
        if not isinstance(found, Number) or not found.value:
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


def tidy_powers(forms: Algebra, powers: Powers, coefficient: Exact) -> Exact:
    """``x^n*x`` is ``x^(n + 1)``: powers whose exponents are not numbers are gathered."""
    if forms.share:
        return coefficient
    alike: dict[int, list[tuple[int, int]]] = {}
    for base, exponent in powers.items():
        found = forms.forms[base]
        if isinstance(found, Call) and found.kind == "pow" and exponent.denominator == 1:
            inner, symbolic = found.operands
            alike.setdefault(inner, []).append((base, symbolic))
    for inner, raised in alike.items():
        raised = [item for item in raised if item[0] in powers]  # the others were an inner, above
        if powers.get(inner, 0) < 0 and has_log(forms, powers, inner):
            continue
        if not raised or (len(raised) == 1 == abs(powers[raised[0][0]]) and inner not in powers):
            continue
        exponents = [(symbolic, powers.pop(base)) for base, symbolic in raised]
        exponents.append((forms.one, powers.pop(inner, 0)))
        gathered = forms.power(inner, forms.sum(exponents))
        coefficient = forms.multiply(powers, coefficient, gathered, ONE)
    return coefficient


def tidy_quotients(forms: Algebra, powers: Powers, coefficient: Exact) -> Exact:
    """``sin(u)/cos(u)`` is tan(u), ``sinh(u)/cosh(u)`` is tanh(u)."""
    for base in list(powers):
        found, exponent = forms.forms[base], powers.get(base, 0)
        if isinstance(found, Call) and found.kind in QUOTIENTS:
            below, whole = QUOTIENTS[found.kind]
            other = forms.call(below, found.operands)
            if exponent and powers.get(other) == -exponent:
                del powers[base], powers[other]
                quotient = forms.call(whole, found.operands)
                coefficient = forms.multiply(powers, coefficient, quotient, exponent)
    return coefficient


def use_names(forms: Algebra, powers: Powers, coefficient: Exact) -> Exact:
    """Where all factors of something named are met, its name takes their place.

    So the derivative of ``d = (a + b)/c`` with respect to c is ``-d/c``.
    """
    if not forms.names_by_factor or forms.order is None:
        return coefficient
    for name in [n for base in list(powers) for n in forms.names_by_factor.get(base, ())]:
        found = forms.forms[name]
        if not isinstance(found, Product):
            continue
        inside = dict(found.factors)
        if all(powers.get(base) and 0 < ratio(q, powers[base]) <= 1 for base, q in inside.items()):
            for base, exponent in inside.items():
                powers[base] -= exponent
                if not powers[base]:
                    del powers[base]
            accumulate(powers, name, ONE)
            coefficient = ratio(coefficient, found.coefficient)
    return coefficient


def drop_zeros(forms: Algebra, powers: Powers, coefficient: Exact) -> Exact:
    """The slope of ``0^x``, which is ``0^x*log(0)``, is 0: it has one where x is positive."""
    infinite = forms.known.get(("log", (forms.zero,)))
    if (
        infinite is not None
        and powers.get(infinite, 0) > 0
        and any(is_zero_power(forms, base) for base in powers)
    ):
        powers.clear()
        return 0
    return coefficient


def is_zero_power(forms: Algebra, form: int) -> bool:
    """Whether a form is 0 to a power that varies."""
    found = forms.forms[form]
    return isinstance(found, Call) and found.kind == "pow" and found.operands[0] == forms.zero


def shorten(forms: Algebra, powers: Powers, coefficient: Exact) -> Exact:
    """``sin(x)*cos(x)`` is ``sin(2*x)/2``: a product is written in the shortest of some ways."""
    if forms.order is None or not forms.by_hand or forms.attempts >= DEEPEST:
        return coefficient
    if len(powers) > MOST_FACTORS or is_plain(forms, powers):
        return coefficient
    now = {base: exponent for base, exponent in powers.items() if exponent}
    key = (coefficient, frozenset(now.items()))
    plain = forms.signed_product(coefficient, [*now.items()])
    if forms.weights[plain] > WALKED:
        return coefficient
    if key not in forms.products:
        forms.products[key] = plain  # for whoever meets it in an attempt
        forms.attempts += 1
        forms.products[key] = shortest(forms, now, coefficient, plain)
        forms.attempts -= 1
    best = forms.products[key]
    if best == plain:
        return coefficient
    powers.clear()
    return forms.multiply(powers, ONE, best, ONE)


def is_plain(forms: Algebra, powers: Powers) -> bool:
    """Whether there is nothing to shorten: a product of names, or a lone call."""
    alone = (Leaf, Call) if [*powers.values()] == [ONE] else Leaf
    return all(isinstance(forms.forms[base], alone) for base in powers)


def shortest(forms: Algebra, powers: Powers, coefficient: Exact, plain: int) -> int:
    """A product in the shortest way that is found; ``plain`` is the product as it is."""
    best, least = plain, length(forms, plain)
    for other, is_usual in rewritten_products(forms, powers, coefficient):
        if is_usual or length(forms, other) < least:
            best, least = other, length(forms, other)
    for way in (flattened, shifted, counted_out, paired, cancelled):
        for other in way(forms, powers, coefficient):
            if length(forms, other) < least:
                best, least = other, length(forms, other)
    return best


def flattened(forms: Algebra, powers: Powers, coefficient: Exact) -> Iterator[int]:
    """``1/(x*(1 + y^2/x^2))`` is ``x/(x^2 + y^2)``: a sum of fractions that is a factor is put over one."""
    for base, exponent in powers.items():
        found = forms.forms[base]
        if not isinstance(found, Sum) or len(found.terms) > MOST or exponent.denominator != 1:
            continue
        below: Powers = {}
        for term, _ in found.terms:
            for inner, q in forms.factors_of(term).items():
                if q < 0:
                    below[inner] = max(-q, below.get(inner, -q))
        if below and not forms.named.keys() & {base}:
            terms = [(forms.product([(t, ONE), *below.items()]), c) for t, c in found.terms]
            rest = [item for item in powers.items() if item[0] != base]
            rest += [(inner, -q * exponent) for inner, q in below.items()]
            yield forms.product([*rest, (forms.sum(terms), exponent)], coefficient)


def shifted(forms: Algebra, powers: Powers, coefficient: Exact) -> Iterator[int]:
    """``x/(y^2*sqrt(x/y))`` is ``sqrt(x/y)/y``, and ``x^(n - 1)*log(x)`` is ``x^n*log(x)/x``.

    What would come below the line stays, where it may be 0 without anything else being undefined.
    """
    for base, exponent in powers.items():
        found = forms.forms[base]
        if (
            isinstance(found, Call)
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
            scale = coefficient * to_power(found.coefficient, -by)
            yield forms.product([*(powers | {base: exponent + by} | moved).items()], scale)


def cancelled(forms: Algebra, powers: Powers, coefficient: Exact) -> Iterator[int]:
    """``x^2/(x^2 - x)^2`` is ``1/(x - 1)^2``: what all terms below the line have, and what is above."""
    for base, exponent in powers.items():
        found = forms.forms[base]
        if not isinstance(found, Sum) or base in forms.named or exponent.denominator != 1:
            continue
        common = {
            name: min(each)
            for name, each in forms.shared_factors(found.terms).items()
            if isinstance(forms.forms[name], Leaf) and powers.get(name) == -min(each) * exponent
        }
        if common:
            rest = [item for item in powers.items() if item[0] != base]
            rest += [(name, q * exponent) for name, q in common.items()]
            yield forms.product([*rest, (without(forms, found, common), exponent)], coefficient)


def has_log(forms: Algebra, powers: Powers, form: int) -> bool:
    """Whether the logarithm of a form is a factor, so that the form is positive."""
    return powers.get(forms.known.get(("log", (form,)), -1), 0) > 0


def paired(forms: Algebra, powers: Powers, coefficient: Exact) -> Iterator[int]:
    """``2/((1 + x)*(1 - x))`` is ``2/(1 - x^2)``: two sums of two terms are multiplied where terms meet."""
    sums = [
        (base, q, found.terms)
        for base, q in powers.items()
        if isinstance(found := forms.forms[base], Sum) and len(found.terms) == 2
        if base not in forms.named and q.denominator == 1
    ]
    for (one, q, terms), (other, same, others) in combinations(sums, 2):
        if q == same:
            each = product(terms, others)
            pieces = [(forms.product([(t, ONE), (u, ONE)]), c * d) for (t, c), (u, d) in each]
            whole = forms.sum(pieces)
            inside = forms.forms[whole]
            if isinstance(inside, Sum) and len(inside.terms) == 2:
                rest = [item for item in powers.items() if item[0] not in (one, other)]
                yield forms.product([*rest, (whole, q)], coefficient)


def counted_out(forms: Algebra, powers: Powers, coefficient: Exact) -> Iterator[int]:
    """``(5*x/2 - 3/2)/y`` is ``(5*x - 3)/(2*y)``, and ``(336 - 4032*x)/24`` is ``14 - 168*x``.

    Decimals that a person typed in a sum stay.
    """
    for base, exponent in powers.items():
        found = forms.forms[base]
        if not isinstance(found, Sum) or len(found.terms) > MOST or exponent.denominator != 1:
            continue
        if base in forms.named:
            continue
        number = content([c for _, c in found.terms])
        rest = [item for item in powers.items() if item[0] != base]
        if (
            number != 1
            and magnitude(exponent) < HIGH
            and not (forms.decimals and base < forms.typed)
        ):
            inner = forms.sum(found.terms, scale=ratio(ONE, number))
            scale = coefficient * to_power(number, exponent)
            yield forms.product([*rest, (inner, exponent)], scale)
        if not rest and exponent == 1 and coefficient != 1:
            yield forms.sum(found.terms, scale=coefficient)


STEPS = (
    ((Sum,), unify_signs),
    ((Sum,), take_out),
    ((Product,), open_products),
    ((Number,), fold_numbers),
    (("abs",), tidy_absolutes),
    (("pow",), tidy_powers),
    (tuple(QUOTIENTS), tidy_quotients),
    (None, use_names),
    (("pow",), drop_zeros),
    (None, shorten),
)
"""The steps in order, each with the factors that it is about; None: all."""


def share_of_tie(forms: Algebra, powers: Powers, coefficient: Exact) -> int | None:
    """The share of an operand of ``max`` or ``min``, as a comparison.

    With a constant that takes everything in a tie, ``p/(p + where(q, inf, 0))`` is ``where(q, 0, 1)``;
    with two operands that share it, ``(x >= y)/((x >= y) + (y >= x))`` is ``(x > y) + (x == y)/2``.
    """
    for base, exponent in powers.items():
        found = forms.forms[base]
        if exponent != -1 or not isinstance(found, Sum):
            continue
        rest = [item for item in powers.items() if item[0] != base]
        counts = [counted(forms, term) for term, c in found.terms if c == 1]
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
            assert isinstance(x, Call)
            row = BY_NAME[x.kind]
            if x.kind in WINNERS and other == forms.call(x.kind, x.operands[::-1]):
                ahead = forms.call(BY_NAME[row.mirror].opposite, x.operands)
                level = forms.call("eq", x.operands)
                share = forms.sum([(ahead, ONE), (level, HALF)])
                rest = [item for item in rest if item[0] != mine]
                return forms.product([*rest, (share, ONE)], coefficient)
    return None


def counted(forms: Algebra, term: int) -> tuple[int, float] | None:
    """A term of a row's ties, ``where(condition, 1 or inf, 0)``: its condition and weight."""
    found = forms.forms[term]
    if not isinstance(found, Call) or found.kind != "where" or found.operands[2] != forms.zero:
        return None
    condition, weight, _ = found.operands
    inside = forms.forms[weight]
    if isinstance(inside, Leaf) and inside.value == math.inf:
        return condition, math.inf
    return (condition, 1.0) if weight == forms.one else None
