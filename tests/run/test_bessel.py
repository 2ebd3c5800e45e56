"""Bessel functions of whole order against mpmath: values and derivatives, beside their zeros too."""

from __future__ import annotations

import math
from random import Random

import mpmath
import pytest

from exprgrad import parse
from exprgrad.errors import LanguageError
from exprgrad.graph.ops import BY_NAME
from exprgrad.run.balls.balls import (
    BALL_FAMILIES,
    exact_ball,
    has_balls,
    import_flint,
    working_precision,
)
from oracles import mp, mpf, ulps

ORDERS = [0, 1, 2, 3, 5, 12, 40]


def operands(random: Random, order: int, count: int) -> list[float]:
    """Small ones, ones about the order, where one rule takes over from another, and large ones."""
    ends = [1e-300, 1e-20, math.sqrt(2 * (order + 1)), float(order) or 1.0]
    drawn = [
        random.choice((random.uniform(0, 3 * order + 30), 10 ** random.uniform(-3, 6)))
        for _ in range(count)
    ]
    return [*ends, *drawn]


def truths(word: str, order: int, x: float) -> tuple[mpf, mpf]:
    """The value and the derivative: with differences mpmath would take a hundred times as long."""
    with mp.workdps(50):
        below, value, above = (getattr(mp, word)(n, mpf(x)) for n in (order - 1, order, order + 1))
        above = above if word in ("besseli", "besselk") else -above
        return value, (below + above) / (-2 if word == "besselk" else 2)


@pytest.mark.parametrize("word", ["besselj", "bessely", "besseli", "besselk"])
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("count", [8, pytest.param(60, marks=pytest.mark.slow)])
def test_members_are_within_the_stated_bounds(word: str, order: int, count: int) -> None:
    formula = parse(f"{word}({order}, x)")
    op = BY_NAME[formula.graph.kinds[-1]]
    for x in operands(Random(f"{word} {order}"), order, count):
        run, (value, slope) = formula.gradient(x=x), truths(word, order, x)
        for given, true, bound, near in (
            (run.value, value, op.value_ulp, op.value_abs),
            (run.gradient["x"], slope, op.partial_ulp, op.partial_abs),
        ):
            beside_zero = (
                x > order and abs(given - true) <= near
            )  # the first zero is beyond the order
            assert beside_zero or ulps(given, true) <= bound, (x, given, mp.nstr(true, 20))


@pytest.mark.parametrize(
    ("text", "slope"),
    [
        ("besselj(0, x)", "-besselj(1, x)"),
        ("besselj(3, x)", "(besselj(2, x) - besselj(4, x))/2"),
        ("bessely(1, x)", "(bessely(0, x) - bessely(2, x))/2"),
        ("besseli(1, x)", "(besseli(0, x) + besseli(2, x))/2"),
        ("besselk(2, x)", "-(besselk(1, x) + besselk(3, x))/2"),
    ],
)
def test_a_chain_of_derivatives_closes(text: str, slope: str) -> None:
    assert parse(text).derivative("x").text == slope
    assert parse(text).derivative("x", order=3).evaluate(x=2.5).value == pytest.approx(
        float(mp.diff(lambda x: getattr(mp, text[:7])(int(text[8]), x), 2.5, 3)), rel=1e-13
    )


@pytest.mark.parametrize("target", ["python", "numpy", "c", "javascript", "jax", "torch"])
def test_targets_write_members_as_functions(target: str) -> None:
    assert "besselj_2(" in parse("besselj(2, x)").code(target)


def test_negative_operands_and_no_order() -> None:
    for order in (2, 3):
        formula = parse(f"besselj({order}, x)")
        assert formula.evaluate(x=-7.0).value == (-1) ** order * formula.evaluate(x=7.0).value
    with pytest.raises(LanguageError, match="besselj needs a whole number from 0 to 40"):
        parse("besselj(x, 2)")


def test_digits_are_trusted_where_balls_know_the_function() -> None:
    for word in ("besselj", "bessely", "besseli", "besselk"):
        run = parse(f"{word}(4, x)").gradient(x=3.0)
        if has_balls():
            assert run.digits["value"] >= 13


@pytest.mark.parametrize("word", ["besselj", "bessely", "besseli", "besselk"])
def test_numbers_beyond_what_was_measured_are_refused(word: str) -> None:
    """Derivatives may lead a little further, and nobody else."""
    assert math.isfinite(parse(f"{word}(40, x)").gradient(x=9).gradient["x"])
    for number in (41, 57, 1_000_000):
        with pytest.raises(LanguageError, match=f"{word} needs a whole number from 0 to 40"):
            parse(f"{word}({number}, x)")


@pytest.mark.parametrize("order", [0, 1, 2, 5])
@pytest.mark.parametrize("x", [0.001, 0.5, 7.0, 200.0])
def test_modified_functions_over_balls_are_as_narrow_as_their_ends(order: int, x: float) -> None:
    """Both are monotone for x > 0; mpmath has them independently, and between 0 and x I is least at 0."""
    with working_precision(256), mpmath.workdps(60):
        low, high = 0.75 * x, 1.25 * x
        for family, true in (("besseli", mpmath.besseli), ("besselk", mpmath.besselk)):
            ends = sorted(true(order, mpmath.mpf(end)) for end in (low, high))
            found = BALL_FAMILIES[family](order, import_flint().arb(x, x / 4))
            bounds = [
                mpmath.mpf(end.str(50, radius=False)) for end in (found.lower(), found.upper())
            ]
            off = [abs(bound - end) for bound, end in zip(bounds, ends, strict=True)]
            assert max(off) < 1e-7 * ends[1]
        across = BALL_FAMILIES["besseli"](order, import_flint().arb(x / 3, x))
        assert all(
            across.contains(exact_ball(end).bessel_i(order)) for end in (0.0, x, -x / 3, x / 2)
        )


def test_a_difference_of_bessel_functions_that_is_0_is_not_worked_out_for_minutes() -> None:
    """The series of K at whole orders take seconds at 1,000 bits: it is not asked for them."""
    with working_precision(1024):
        found = BALL_FAMILIES["besselk"](1, exact_ball(200))
        assert found.rel_accuracy_bits() > 1000
        identity = (
            exact_ball(200).bessel_i(1) * exact_ball(200).bessel_k(0)
            + exact_ball(200).bessel_i(0) * found
        )
        assert (identity - exact_ball(1) / 200).contains(0)
