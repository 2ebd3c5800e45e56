"""Identities by which formulas get shorter: rows of a table, and one matcher for all of them.

A row's left side is found in a sum or a product whatever else is added or multiplied, and whatever stands
for its names: ``cos(x)^2 + sin(x)^2`` in ``a*sin(2*t)^2 + b + a*cos(2*t)^2``.  Wherever a left side is
defined, its right side is the same number; the right side may be defined at more points.  Where a row is
used, what it gives must be shorter.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import NamedTuple

from exprgrad.derive.build import ONE, Exact, exact_integer_power, exact_ratio
from exprgrad.derive.rules import template
from exprgrad.derive.simplify.forms import (
    SHORT,
    CallForm,
    Forms,
    Leaf,
    NumberForm,
    Powers,
    Product,
    RewriteRules,
    Sum,
    Terms,
    read_forms,
)

__all__ = [
    "IDENTITIES", "INVERSE_IDENTITIES", "Identity", "rewrite_inverse_call", "rewrite_product",
    "rewrite_sum",
]  # fmt: skip


class Identity(NamedTuple):
    """An identity: a sum or a product, and the formula that equals it.

    ``usual`` identities are applied even where the result is longer: everyone writes it so.
    """

    pattern: str
    better: str
    usual: bool = False


IDENTITIES = (
    # Sums.
    Identity("cos(x)^2 + sin(x)^2", "1"),
    Identity("cos(x)^2 - sin(x)^2", "cos(2*x)"),
    Identity("1 - sin(x)^2", "cos(x)^2"),
    Identity("1 - cos(x)^2", "sin(x)^2"),
    Identity("1 - 2*sin(x)^2", "cos(2*x)"),
    Identity("2*cos(x)^2 - 1", "cos(2*x)"),
    Identity("1 + tan(x)^2", "1/cos(x)^2"),
    Identity("1 + 1/tan(x)^2", "1/sin(x)^2"),
    Identity("1/cos(x) + tan(x)", "(1 + sin(x))/cos(x)"),
    Identity("1/sin(x) + 1/tan(x)", "(1 + cos(x))/sin(x)"),
    Identity("cosh(x)^2 - sinh(x)^2", "1"),
    Identity("cosh(x)^2 + sinh(x)^2", "cosh(2*x)"),
    Identity("1 + sinh(x)^2", "cosh(x)^2"),
    Identity("cosh(x)^2 - 1", "sinh(x)^2"),
    Identity("exp(x) + exp(-x)", "2*cosh(x)"),
    Identity("exp(x) - exp(-x)", "2*sinh(x)"),
    # Products.
    Identity("sin(x)*cos(x)", "sin(2*x)/2"),
    Identity("sinh(x)*cosh(x)", "sinh(2*x)/2"),
    Identity("tan(x)*cos(x)", "sin(x)"),
    Identity("sin(x)/tan(x)", "cos(x)"),
    Identity("tanh(x)*cosh(x)", "sinh(x)"),
    Identity("sinh(x)/tanh(x)", "cosh(x)"),
    Identity("1/(1 + exp(-x))", "sigmoid(x)"),
    Identity("exp(-x)/(1 + exp(-x))", "sigmoid(-x)"),
    Identity("exp(-x)*sigmoid(x)", "sigmoid(-x)", usual=True),
    Identity("exp(-x)/(1 + exp(-x))^2", "sigmoid(x)*(1 - sigmoid(x))", usual=True),
    Identity("exp(x)*exp(-x)", "1"),
    Identity("x*sign(x)", "abs(x)"),
    Identity("sign(x)/abs(x)", "1/x"),
    Identity("cbrt(x)^3", "x"),
)
INVERSE_IDENTITIES = (
    Identity("sin(asin(x))", "x"),
    Identity("cos(asin(x))", "sqrt(1 - x^2)"),
    Identity("cos(acos(x))", "x"),
    Identity("sin(acos(x))", "sqrt(1 - x^2)"),
    Identity("cos(atan(x))", "1/sqrt(1 + x^2)"),
    Identity("sinh(asinh(x))", "x"),
    Identity("cosh(asinh(x))", "sqrt(1 + x^2)"),
    Identity("cosh(acosh(x))", "x"),
    Identity("sinh(acosh(x))", "sqrt(x^2 - 1)"),
    Identity("tanh(atanh(x))", "x"),
)
"""Identities of a function of its inverse; they are applied even where the result is longer."""

FEW = 3
"""The most terms of a sum that is a factor, for identities to be looked for in it."""


class IdentityForms(NamedTuple):
    """An identity as forms: the left side's terms or factors, the longest first, and the right side.

    ``kinds`` are the functions that its factors or terms begin with, ``inside`` those in a sum that is
    a factor; ``is_reversible`` says that 1 over it is looked for, too.
    """

    parts: tuple[tuple[int, Exact], ...]
    is_sum: bool
    better: int
    kinds: set[str]
    inside: set[str]
    is_reversible: bool
    usual: bool


Bound = Mapping[str, int]
"""Name in a pattern → the form that it matched."""


@cache
def pattern_forms() -> Forms:
    """The forms of the table, in which nothing is rewritten."""
    nothing = RewriteRules(
        (), lambda *_: None, (), lambda forms, terms, plain: plain, lambda *_: None, lambda *_: None
    )
    return Forms(nothing, decimals=False)


CALLED = re.compile(r"\w+(?=\()")
"""A function in a pattern."""


@cache
def identity_rows(kinds: frozenset[str]) -> list[IdentityForms]:
    """Return the identities whose functions are all in ``kinds``, parsed into forms."""
    return [
        identity_as_forms(identity)
        for identity in IDENTITIES
        if kinds.issuperset(CALLED.findall(identity.pattern))
    ]


@cache
def identity_as_forms(identity: Identity) -> IdentityForms:
    """Parse an identity into forms."""
    forms = pattern_forms()
    left, right = form_of_text(identity.pattern), form_of_text(identity.better)
    found = forms.forms[left]
    assert isinstance(found, Sum | Product)
    parts = found.terms if isinstance(found, Sum) else found.factors
    parts = tuple(sorted(parts, key=lambda part: -forms.weights[part[0]]))
    kinds, inside = functions_in_parts(forms, [part for part, _ in parts])
    is_reversible = isinstance(found, Product) and all(q > 0 for _, q in parts)
    return IdentityForms(
        parts, isinstance(found, Sum), right, kinds, inside, is_reversible, identity.usual
    )


def form_of_text(text: str) -> int:
    """Parse a formula of the table into a form."""
    graph = template(text)
    return read_forms(pattern_forms(), graph, (graph.output,), SHORT)[graph.output]


@cache
def inverse_calls() -> dict[tuple[str, ...], int]:
    """Map a function and an inverse function in it to the formula of the two."""
    return {
        tuple(CALLED.findall(identity.pattern)): form_of_text(identity.better)
        for identity in INVERSE_IDENTITIES
    }


def rewrite_inverse_call(forms: Forms, kind: str, operand: int) -> int | None:
    """Rewrite a function of an inverse function; None for any other operand."""
    inside = forms.forms[operand]
    if not isinstance(inside, CallForm) or (kind, inside.kind) not in inverse_calls():
        return None
    return instantiate_pattern(forms, inverse_calls()[kind, inside.kind], {"x": inside.operands[0]})


def rewrite_sum(forms: Forms, terms: Terms) -> Iterator[int]:
    """Yield the sum that each matching identity gives."""
    for row in identity_rows(frozenset(functions_in_parts(forms, terms)[0])):
        if row.is_sum:
            for better, used in identity_matches(forms, row, terms):
                place = next(place for place, term in enumerate(terms) if term in used)
                left = [item for item in terms.items() if item[0] not in used]
                yield forms.sum([*left[:place], better, *left[place:]])


def rewrite_product(forms: Forms, powers: Powers, coefficient: Exact) -> Iterator[tuple[int, bool]]:
    """Yield the products that matching identities give, for the product or for a sum that is a factor.

    With each comes whether the identity is ``usual``.
    """
    kinds, inside = functions_in_parts(forms, powers)
    for row in identity_rows(frozenset(kinds | inside)):
        if row.is_sum:
            if row.kinds <= inside:
                for other in replace_sum_factor(forms, row, powers, coefficient):
                    yield other, row.usual
            continue
        if not (row.kinds <= kinds and row.inside <= inside and len(row.parts) <= len(powers)):
            continue
        for power in (ONE, -ONE) if row.is_reversible else (ONE,):
            wanted = {part: power * q for part, q in row.parts}
            for bound, left in match_factors(forms, powers, wanted, {}):
                better = instantiate_pattern(forms, row.better, bound)
                yield forms.product([*left.items(), (better, power)], coefficient), row.usual


def replace_sum_factor(
    forms: Forms, row: IdentityForms, powers: Powers, coefficient: Exact
) -> Iterator[int]:
    """Replace a sum that is a factor of a product."""
    for base, exponent in powers.items():
        found = forms.forms[base]
        if (
            isinstance(found, Sum)
            and len(found.terms) == len(row.parts)
            and exponent.denominator == 1
        ):
            for (better, times), _ in identity_matches(forms, row, dict(found.terms)):
                left = [item for item in powers.items() if item[0] != base]
                factor = coefficient * exact_integer_power(times, exponent)
                yield forms.product([*left, (better, exponent)], factor)


def functions_in_parts(forms: Forms, parts: Iterable[int]) -> tuple[set[str], set[str]]:
    """Return the functions in a product or a sum, and those in short sums that are factors."""
    forms_in = [forms.forms[base] for part in parts for base in forms.factors_of(part)]
    kinds = {form.kind for form in forms_in if isinstance(form, CallForm)}
    short = [f.terms for f in forms_in if isinstance(f, Sum) and len(f.terms) <= FEW]
    factors = [forms.forms[b] for terms in short for t, _ in terms for b in forms.factors_of(t)]
    return kinds, {form.kind for form in factors if isinstance(form, CallForm)}


def identity_matches(
    forms: Forms, row: IdentityForms, terms: Terms
) -> Iterator[tuple[tuple[int, Exact], Terms]]:
    """Yield replacements for a row's left side times something in a sum, with the terms replaced."""
    (lead, own), *others = row.parts
    if len(terms) < len(row.parts):
        return
    for term, c in terms.items():
        for bound, rest in match_factors(
            forms, term_factors(forms, term), term_factors(pattern_forms(), lead), {}
        ):
            times, used = exact_ratio(c, own), {term: c}
            for other, scale in others:
                amount, wanted = times * scale, term_factors(pattern_forms(), other)
                alike = (t for t, d in terms.items() if d == amount and t not in used)
                found = (
                    t
                    for t in alike
                    for _, left in match_factors(forms, term_factors(forms, t), wanted, bound)
                    if left == rest
                )
                if (part := next(found, None)) is None:
                    break
                used[part] = amount
            else:
                items = [(instantiate_pattern(forms, row.better, bound), ONE), *rest.items()]
                yield (forms.product(items), times), used


def term_factors(forms: Forms, term: int) -> Powers:
    """Return a term's factors; the number 1 has none."""
    return {} if term == forms.one else forms.factors_of(term)


def match_factors(
    forms: Forms, factors: Powers, wanted: Powers, bound: Bound
) -> Iterator[tuple[Bound, Powers]]:
    """Yield the ways in which a product contains a pattern: the names' forms, and the factors left."""
    if not wanted:
        yield bound, {base: q for base, q in factors.items() if q}
        return
    (pattern, power), *others = wanted.items()
    for base, exponent in factors.items():
        if exact_ratio(exponent, power) < 1:
            continue
        for match in match_form(forms, base, pattern, bound):
            left = factors | {base: exponent - power}
            yield from match_factors(forms, left, dict(others), match)


def match_form(forms: Forms, form: int, pattern: int, bound: Bound) -> Iterator[Bound]:
    """Yield the ways in which a form matches a pattern."""
    found, wanted = forms.forms[form], pattern_forms().forms[pattern]
    match wanted:
        case Leaf(name):
            if bound.get(name, form) == form:
                yield {**bound, name: form}
        case NumberForm(value):
            if forms.value(form) == value:
                yield bound
        case Product(coefficient, ((name, exponent),)):
            if coefficient == -1 and exponent == 1 and forms.is_negative(form):
                yield from match_form(forms, forms.negated(form), name, bound)
        case CallForm(kind, (operand,)):
            if isinstance(found, CallForm) and found.kind == kind:
                yield from match_form(forms, found.operands[0], operand, bound)
        case Sum((first, second)):
            if isinstance(found, Sum) and len(found.terms) == 2:
                for one, other in (found.terms, found.terms[::-1]):
                    if (one[1], other[1]) == (first[1], second[1]):
                        for match in match_form(forms, one[0], first[0], bound):
                            yield from match_form(forms, other[0], second[0], match)


def instantiate_pattern(forms: Forms, pattern: int, bound: Bound) -> int:
    """Build a pattern with forms for its names."""
    match pattern_forms().forms[pattern]:
        case Leaf(name):
            return bound[name]
        case NumberForm(value):
            return forms.number(value)
        case Product(coefficient, ((base, exponent),)) if exponent == 1:
            return forms.sum([(instantiate_pattern(forms, base, bound), coefficient)])
        case Product(coefficient, factors):
            given = [(instantiate_pattern(forms, base, bound), q) for base, q in factors]
            return forms.product(given, coefficient)
        case Sum(terms):
            return forms.sum([(instantiate_pattern(forms, term, bound), c) for term, c in terms])
        case CallForm(kind, operands):
            return forms.call(kind, tuple([instantiate_pattern(forms, o, bound) for o in operands]))
    raise AssertionError("a pattern is made of names, numbers, sums, products and functions")
