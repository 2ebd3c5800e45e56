"""Calls that are read as the formula that they stand for: their values and gradients against mpmath."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from exprgrad import parse
from oracles import mp


@pytest.mark.parametrize(("n", "k"), [(5, 2), (60, 20), (600, 300), (1010, 505)])
def test_binomials_have_their_gradient_up_to_where_they_overflow(n: int, k: int) -> None:
    """Off by no more than three times an ulp of the logarithm that they are the exponential of."""
    run = parse("binomial(n, k)").gradient(n=n, k=k)
    true = math.comb(n, k)
    bound = 2.0**-50 * (8 + math.log(true))
    assert abs(Fraction(run.value) / true - 1) < bound
    slopes = {
        "n": mp.digamma(n + 1) - mp.digamma(n - k + 1),
        "k": mp.digamma(n - k + 1) - mp.digamma(k + 1),
    }
    for name, slope in slopes.items():
        assert abs(run.gradient[name] / true - slope) < bound * max(1, abs(slope)), name
    assert [found.code for found in run.diagnostics if found.code in ("kink", "jump")] == []


@pytest.mark.parametrize("n", [0, 1, 5, 30, 500])
def test_catalans_numbers(n: int) -> None:
    true = math.comb(2 * n, n) // (n + 1)
    assert abs(Fraction(parse("catalan(n)").evaluate(n=n).value) / true - 1) < 2.0**-50 * (
        8 + math.log(true)
    )


def test_what_overflows_on_the_way_is_no_kink() -> None:
    """The quotient's local derivative is beyond doubles, and its gradient is not."""
    run = parse("1/((n + 1)*beta(n - k + 1, k + 1))").gradient(n=600, k=300)
    assert math.isnan(run.gradient["n"])
    assert "kink" not in [found.code for found in run.diagnostics]


def test_a_binomial_ends_at_its_first_zero() -> None:
    assert parse("binomial(n, k)").evaluate(n=5, k=6).value == 0
    assert math.isnan(parse("binomial(n, k)").evaluate(n=5, k=7).value)
