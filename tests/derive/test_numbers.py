"""Exact numbers of derived graphs: what is folded, what can be written, what is common."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from exprgrad.derive.build import (
    EXACT_BELOW,
    Exact,
    exact_result,
    fold_doubles_exactly,
    is_zero_or_one,
    shortest_double,
)
from exprgrad.derive.simplify.forms import accumulate_form, rational_root, signed_common_divisor


@pytest.mark.parametrize(
    ("kind", "values", "folds"),
    [
        ("add", [1.0, 2.0], 3.0),
        ("add", [0.1, 0.2], None),  # 0.1 + 0.2 is rounded
        ("add", [1.0, -1.0], None),  # a zero has a sign
        ("mul", [1e200, 1e200], None),
        ("div", [1.0, 4.0], 0.25),
        ("div", [1.0, 3.0], None),
        ("div", [1.0, 0.0], None),
        ("pow", [2.0, -3.0], 0.125),
        ("sub", [math.inf, 1.0], None),
        ("lt", [math.nan, 1.0], 0.0),
        ("ge", [1.0, 1.0], 1.0),
        ("exp", [1.0], None),
    ],
)
def test_a_fold_changes_no_number(kind: str, values: list[float], folds: float | None) -> None:
    assert fold_doubles_exactly(kind, values) == folds


def test_flags_and_exact_results() -> None:
    assert [is_zero_or_one(x) for x in (0.0, 1.0, -0.0, -1.0, math.nan)] == [
        True,
        True,
        *[False] * 3,
    ]
    assert (
        exact_result("floor", [Fraction(-1, 2)]) == -1
        and exact_result("sin", [Fraction(0)]) is None
    )
    assert exact_result("pow", [Fraction(0), Fraction(-1)]) is None


def test_decimals() -> None:
    for number in (0, 7, -EXACT_BELOW, Fraction(1, 4), Fraction("0.1"), 10**22, Fraction("1e300")):
        assert shortest_double(number) is not None, number
    for number in (EXACT_BELOW + 1, Fraction(1, 3), Fraction(0.1), 10**400, Fraction(1, 10**400)):
        assert shortest_double(number) is None, number


def test_common_numbers_roots_and_sums_in_the_making() -> None:
    assert signed_common_divisor([Fraction(-4), Fraction(6)]) == 2
    assert signed_common_divisor([Fraction(-4), Fraction(-6)]) == -2
    assert signed_common_divisor([Fraction(1, 2), Fraction(3, 2)]) == Fraction(1, 2)
    assert signed_common_divisor([Fraction(1, 2), Fraction(1, 3)]) == 1
    assert rational_root(Fraction(4, 9)) == Fraction(2, 3)
    assert rational_root(Fraction(2)) is None and rational_root(Fraction(-4)) is None
    terms: dict[int, Exact] = {7: Fraction(1)}
    accumulate_form(terms, 7, Fraction(2))
    accumulate_form(terms, 8, Fraction(5))
    assert terms == {7: 3, 8: 5}
