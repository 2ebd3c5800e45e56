"""Ways to write a sum in fewer operations."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from exprgrad.derive.forms import ONE, Call, Product, Sum

if TYPE_CHECKING:
    from exprgrad.derive.algebra import Algebra

__all__ = ["shortest"]

FEW = 6
"""The most terms of a sum that others ways are tried for."""
DEEPEST = 3
"""How many attempts to shorten a sum there may be within each other."""


def shortest(forms: Algebra, terms: list[tuple[int, Fraction]], plain: int) -> int:
    """The sum of some terms in the shortest way that is found; ``plain`` is the sum as it is."""
    if forms.order is None or len(terms) > FEW or forms.attempts >= DEEPEST:
        return plain
    forms.attempts += 1
    best = over_common_denominator(forms, terms, plain)
    for other in (multiplied_out(forms, terms), factored(forms, terms)):
        if other is not None and forms.weights[other] < forms.weights[best]:
            best = other
    forms.attempts -= 1
    return best


def over_common_denominator(forms: Algebra, terms: list[tuple[int, Fraction]], plain: int) -> int:
    """``1/u - x^2/u^2`` as ``(u - x^2)/u^2``, where that is not longer, for a u that all terms have."""
    powers: dict[int, list[Fraction]] = {}
    for term, _ in terms:
        for base, exponent in forms.factors_of(term).items():
            if exponent.denominator == 1:
                powers.setdefault(base, []).append(exponent)
    for base, exponents in powers.items():
        lowest, highest = min(exponents), max(exponents)
        if lowest >= 0 or len(exponents) < len(terms):
            continue
        above: dict[int, Fraction] = {}
        for term, coefficient in terms:
            rest = forms.product([(term, ONE), (base, -lowest)])
            add_multiplied(forms, above, rest, coefficient, only=base)
        if len(above) > len(terms) + 2:
            continue
        numerator = forms.sum_of([(t, c) for t, c in above.items() if c])
        whole = forms.product([(numerator, ONE), (base, lowest)])
        if forms.weights[whole] + (highest - lowest > 1) <= forms.weights[plain]:
            return whole
    return plain


def factored(forms: Algebra, terms: list[tuple[int, Fraction]]) -> int | None:
    """``x*u + u`` as ``(x + 1)*u``, for a call or sum u that all terms have as a factor."""
    first, *rest = [forms.factors_of(term) for term, _ in terms]
    for base, exponent in first.items():
        common = min([exponent, *[factors.get(base, Fraction(0)) for factors in rest]])
        if common > 0 and isinstance(forms.forms[base], Call | Sum):
            inner = [(forms.product([(t, ONE), (base, -common)]), c) for t, c in terms]
            return forms.product([(forms.sum(inner), ONE), (base, common)])
    return None


def multiplied_out(forms: Algebra, terms: list[tuple[int, Fraction]]) -> int | None:
    """The sum with the sums among its terms' factors multiplied out, once."""
    gathered: dict[int, Fraction] = {}
    for term, coefficient in terms:
        add_multiplied(forms, gathered, term, coefficient)
    if len(gathered) > len(terms) + 1:
        return None
    return forms.sum_of([(t, c) for t, c in gathered.items() if c])


def add_multiplied(
    forms: Algebra,
    terms: dict[int, Fraction],
    form: int,
    coefficient: Fraction,
    only: int | None = None,
) -> None:
    """Add a multiple of a form to a sum; a first power of a sum in it is multiplied out."""
    found = forms.forms[form]
    factors = forms.factors_of(form)
    own = found.coefficient if isinstance(found, Product) else ONE
    for base, exponent in factors.items():
        inside = forms.forms[base]
        if exponent != 1 or only not in (None, base) or not isinstance(inside, Sum):
            continue
        if len(inside.terms) <= FEW and base != form:
            rest = [item for item in factors.items() if item[0] != base]
            for term, inner in inside.terms:
                forms.add(terms, forms.product([*rest, (term, ONE)], own), inner * coefficient)
            return
    forms.add(terms, form, coefficient)
