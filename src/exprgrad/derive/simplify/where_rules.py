"""Rewrites of comparisons, ``where``, ``max`` and ``min``."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

from exprgrad.derive.simplify.normal_form import ONE, Call, Leaf, Sum

if TYPE_CHECKING:
    from exprgrad.derive.simplify.algebra import Algebra

__all__ = ["LONG", "asked", "branch", "comparison", "gather_choices", "opposite", "tidy_ties"]

EXTREMA = {"max": "ge", "min": "le"}
STRICT = {"ge": "gt", "le": "lt"}
MIRRORED = {"lt": "gt", "gt": "lt", "le": "ge", "ge": "le"}
OPPOSITE = {"lt": "ge", "ge": "lt", "gt": "le", "le": "gt", "eq": "ne", "ne": "eq"}
LONG = 60
"""The most operations of a ``where`` that is rewritten, so that a nest of them is not walked down."""


def comparison(forms: Algebra, kind: str, operands: tuple[int, ...]) -> tuple[str, tuple[int, ...]]:
    """A comparison with a number on its right; ``x == max(x, y)`` is ``x >= y``."""
    for x, other in (operands, operands[::-1]):
        found = forms.forms[other]
        if kind != "eq" or not isinstance(found, Call) or found.kind not in EXTREMA:
            continue
        if len(found.operands) == 2 and x in found.operands:
            y = found.operands[found.operands[0] == x]
            kind, operands = EXTREMA[found.kind], (x, y)
    if forms.value(operands[0]) is not None and forms.value(operands[1]) is None:
        kind, operands = MIRRORED.get(kind, kind), operands[::-1]
    return kind, operands


def opposite(forms: Algebra, condition: int) -> int:
    """The condition that holds where a comparison does not; other conditions are themselves."""
    found = forms.forms[condition]
    if isinstance(found, Call) and found.kind in OPPOSITE:
        return forms.call(OPPOSITE[found.kind], found.operands)
    return condition


def asked(forms: Algebra, condition: int) -> int:
    """What a condition asks: ``where(c, 3, 0) != 0`` and ``c != 0`` ask whether c holds."""
    while True:
        found = forms.forms[condition]
        if not (isinstance(found, Call) and found.kind == "ne" and found.operands[1] == forms.zero):
            return condition
        (inner, _), kept = found.operands, condition
        choice = forms.forms[inner]
        if isinstance(choice, Call) and choice.kind in OPPOSITE:
            condition = inner
        elif isinstance(choice, Call) and choice.kind == "where":
            c, x, y = choice.operands
            condition = c if forms.value(x) and y == forms.zero else kept
        if condition == kept:
            return condition


def gather_choices(forms: Algebra, terms: dict[int, Fraction]) -> None:
    """``where(c, a, 0) + where(c, 0, b)`` is ``where(c, a, b)``."""
    by_condition: dict[int, list[tuple[int, int, int]]] = {}
    for term in terms:
        found = forms.forms[term]
        if isinstance(found, Call) and found.kind == "where" and forms.weights[term] <= LONG:
            condition, x, y = found.operands
            other = opposite(forms, condition)
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


def tidy_ties(forms: Algebra, powers: dict[int, Fraction], coefficient: Fraction) -> int | None:
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
            if x.kind in STRICT and other == forms.call(x.kind, x.operands[::-1]):
                ahead = forms.call(STRICT[x.kind], x.operands)
                level = forms.call("eq", x.operands)
                share = forms.sum([(ahead, ONE), (level, Fraction(1, 2))])
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


def branch(forms: Algebra, condition: int, form: int, side: int) -> int:
    """A branch, given that the condition holds (side 0) or not (side 1)."""
    found = forms.forms[form]
    if isinstance(found, Call) and found.kind == "where" and found.operands[0] == condition:
        return found.operands[1 + side]
    return form
