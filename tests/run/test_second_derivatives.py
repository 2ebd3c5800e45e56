"""Every row's second derivatives, as ``hess`` finds them, against mpmath."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import pytest

from amounts import many
from exprgrad import parse
from exprgrad.graph.ops import BY_NAME, FAMILIES, OPS, Op
from oracles import (
    computed,
    computed_second,
    holds,
    is_special,
    mp,
    mpf,
    true_partial,
    true_second,
    ulps,
)
from strategies import points, shifted

FLAT = {"div", "mod", "logsumexp"}
"""Division's second derivative for y has the caveat of its first; ``%`` is linear beside its jumps.

That of ``logsumexp`` is p*(1 - p) of a share p, and 1 - p is not the sum of the others in doubles.
"""
SMOOTH = [op for op in OPS if op.value_ulp > 0.5 and op.name not in FLAT]
SEEDS = [pytest.param(0, 12), pytest.param(1, many(80), marks=pytest.mark.slow)]


def beside_zero(op: Op, place: tuple[int, int], args: tuple[float, ...]) -> bool:
    """Where x^(y - 1)*(1 + y*log(x)), a second derivative of x^y, is the difference of two near numbers."""
    if op.name != "pow" or place != (0, 1) or args[0] <= 0:
        return False
    return abs(1 + args[1] * math.log(args[0])) < 0.5


@pytest.mark.parametrize("op", SMOOTH, ids=lambda op: op.name)
@pytest.mark.parametrize(("seed", "count"), SEEDS)
def test_second_derivatives_are_within_the_stated_ulps(op: Op, seed: int, count: int) -> None:
    tried = 0
    for args in points(Random(f"{op.name} {seed} twice"), len(op.names), 4 * count):
        if tried >= count:
            break  # few points are in a narrow domain
        if not holds(op.domain, op.names, args) or is_special(op, args):
            continue
        if not all(map(math.isfinite, computed(op, args)[1])):
            continue  # a cube root's slope at 0 is infinite, and has no slope there
        for place, found in computed_second(op, args).items():
            true = true_second(op.name, place, args)
            if mp.isnan(true) or beside_zero(op, place, args):
                continue
            tried += 1
            near = abs(true - found) <= op.second_abs
            assert near or ulps(found, true) <= op.second_ulp, (
                place,
                args,
                found,
                mp.nstr(true, 20),
            )
    assert tried > count / 20


GRID = sorted({*(10 ** (k / 20) for k in range(-80, 60)), *(k / 10 for k in range(1, 200))})
"""Where signs are compared, on both sides of 0: zeros of what waves are less than 0.1 from each other."""
BESIDE = -1, 0, 1
"""How many ulps away from a zero a derivative is measured."""


def zeros(function: Callable[[float], float]) -> list[float]:
    """Doubles beside which a function changes its sign; of many the first and the last."""
    found = []
    for sign in (-1.0, 1.0):
        for near, far in pairwise([sign * x for x in GRID]):
            if function(near) * function(far) < 0:
                found.append(changing(function, near, far))
    return [*found[:3], *found[3:][-3:]]


def changing(function: Callable[[float], float], low: float, high: float) -> float:
    """The double beside which a function changes its sign, by bisection."""
    while (middle := (low + high) / 2) not in (low, high):
        if function(middle) * function(low) <= 0:
            high = middle
        else:
            low = middle
    return low


ALONE = [op for op in SMOOTH if len(op.names) == 1 and not op.variadic]
MOSTLY_SLOW = [
    pytest.param(op, id=op.name, marks=[pytest.mark.slow] * (at % 5 > 0))
    for at, op in enumerate(ALONE)
]


@pytest.mark.parametrize("op", MOSTLY_SLOW)
def test_beside_their_zeros_derivatives_are_within_the_stated_bounds(op: Op) -> None:
    """No double is such a zero as a rule, and there a bound in ulp does not hold."""

    def slope(x: float) -> float:
        return computed(op, (x,))[1][0]

    def bend(x: float) -> float:
        return computed_second(op, (x,))[0, 0]

    sought: tuple[tuple[Callable[[float], float], Callable[[float], Any], float, float], ...] = (
        (slope, lambda x: true_partial(op.name, 0, (x,)), op.partial_ulp, op.partial_abs),
        (bend, lambda x: true_second(op.name, (0, 0), (x,)), op.second_ulp, op.second_abs),
    )
    for function, truth, ulp, absolute in sought:
        for zero in zeros(function):
            for steps in BESIDE:
                x = shifted(zero, steps)
                if not holds(op.domain, op.names, (x,)):
                    continue  # a pole has both signs
                true, found = truth(x), function(x)
                near = mp.isnan(true) or abs(true - found) <= absolute
                assert near or ulps(found, true) <= ulp, (x, found, mp.nstr(true, 20))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["besselj", "bessely"])
@pytest.mark.parametrize("order", [2, 5, 12])
def test_beside_their_zeros_bessel_functions_bend_as_stated(name: str, order: int) -> None:
    f, row, true = parse(f"{name}({order}, x)"), FAMILIES[name].row(order), getattr(mp, name)
    found = zeros(lambda x: f.hessian(x=x)["x"]["x"] if x > 0 else math.nan)
    assert len(found) > 2
    for x in (shifted(zero, steps) for zero in found for steps in BESIDE):
        with mp.workprec(300):
            apart = abs(true(order, mpf(x), derivative=2) - f.hessian(x=x)["x"]["x"])
        assert apart <= row.second_abs


def test_the_page_names_every_bound_of_second_derivatives_that_is_another() -> None:
    page = (Path(__file__).parents[2] / "docs" / "explanation" / "accuracy.md").read_text("utf-8")
    rows = {op.name: op for op in OPS} | {name: FAMILIES[name].row(2) for name in FAMILIES}
    told = page[page.index("within 10 ulp") : page.index("For a formula of several")]
    for name, row in rows.items():
        if row.second_abs or row.second_ulp != 10:
            bound = f"{row.second_abs:g}" if row.second_abs else f"{row.second_ulp:g} ulp"
            assert f"`{name}`" in told and bound in told, name


@pytest.mark.parametrize("small", [1e-300, 2.1e-16, 1e-9, 0.01, 0.4, 1.9])
@pytest.mark.parametrize("large", [0.3, 1.0, 2.0, 40.0, 1e6])
def test_beta_bends_where_an_operand_is_small(small: float, large: float) -> None:
    """There it was the difference of two numbers that are almost equal."""
    with mp.workprec(2400):
        a, b, both = mpf(small), mpf(large), mpf(small) + mpf(large)
        slopes = [mp.digamma(x) - mp.digamma(both) for x in (a, b)]
        true = mp.beta(a, b) * (slopes[0] * slopes[1] - mp.polygamma(1, both))
    f = parse("beta(x, y)")
    for x, y in ((small, large), (large, small)):
        assert ulps(f.hessian(x=x, y=y)["x"]["y"], true) <= 10


@pytest.mark.parametrize("x", [300.0, 350.0, 371.5, 500.0, 711.0, 800.0, 1000.0, -745.0])
def test_tanh_far_out(x: float) -> None:
    found = parse("tanh(x)").hessian(x=x)["x"]["x"]
    with mp.workprec(200):
        true = -2 * mp.tanh(mpf(x)) * mp.sech(mpf(x)) ** 2
    assert ulps(found, true) <= BY_NAME["tanh"].second_ulp


TINY = {"asin": 1.0, "acos": -1.0, "atanh": 2.0, "sigmoid": -1 / 8, "tanh": -2.0, "atan": -2.0}
"""What the second derivative is near 0, in times of x."""


@pytest.mark.parametrize("name", TINY)
@pytest.mark.parametrize("x", [1e-9, 1e-17, 1e-100])
def test_near_zero_second_derivatives_keep_their_digits(name: str, x: float) -> None:
    assert parse(f"{name}(x)").hessian(x=x)["x"]["x"] == pytest.approx(
        TINY[name] * x, rel=2e-15, abs=0
    )


def test_a_vector_almost_along_an_axis() -> None:
    found = parse("hypot(x, y)").hessian(x=1.0, y=1e-9)
    assert found == {"x": {"x": 1e-18, "y": -1e-9}, "y": {"x": -1e-9, "y": 1.0}}


@pytest.mark.parametrize("y", [1.0, 1 + 2**-40, 1 - 2**-40, 1 + 1e-7, 0.99])
def test_powers_with_an_exponent_near_one(y: float) -> None:
    """The second derivative by x is y*(y - 1)*x^(y - 2), and y - 1 is not lost."""
    for x in (0.3, 3.0):
        found = parse("x^y").hessian(x=x, y=y)["x"]["x"]
        with mp.workprec(200):
            true = mpf(y) * (mpf(y) - 1) * mpf(x) ** (mpf(y) - 2)
        assert ulps(found, true) <= 5


@pytest.mark.parametrize(
    "text",
    ["log(x)", "log2(x)", "log10(x)", "log1p(x - 1)", "atanh(x)", "xlogy(2, x)", "sqrt(x)"],
)
def test_outside_the_domain_a_second_derivative_is_nan(text: str) -> None:
    assert math.isnan(parse(text).hessian(x=-2.0)["x"]["x"])


def test_a_local_derivative_that_is_in_the_formula_too_is_differentiated_alike() -> None:
    """The slope of ``tanh`` is 1/cosh(x)/cosh(x), and that may be written beside it."""
    f, x = parse("tanh(x)*y + 1/cosh(x)/cosh(x)"), 0.7
    found = f.hessian(x=x, y=2.0)["x"]["x"]
    with mp.workprec(200):
        true = mp.diff(lambda t: mp.tanh(t) * 2 + mp.sech(t) ** 2, mpf(x), 2)
    assert ulps(found, true) <= 20


def test_numbers_of_a_tensor_have_the_same_second_derivatives() -> None:
    found = parse("sum(tanh(x))").hessian(x=[300.0, 711.0, 0.5])["x"]["x"]
    for at, x in enumerate((300.0, 711.0, 0.5)):
        assert found[at][at] == parse("tanh(x)").hessian(x=x)["x"]["x"]


@pytest.mark.parametrize(
    ("formula", "x", "true"),
    [
        ("sqrt(x)", 0.0, -math.inf),
        ("sqrt(x)", -0.0, -math.inf),
        ("cbrt(x)", 0.0, math.nan),
        ("cbrt(x)", math.inf, 0.0),
        ("acosh(x)", math.inf, 0.0),
        ("acosh(x)", 1.0, -math.inf),
        ("hypot(x, 1)", math.inf, 0.0),
        ("hypot(3, x)", -math.inf, 0.0),
        ("hypot(x, x)", math.inf, 0.0),
    ],
)
def test_ends_of_the_domain(formula: str, x: float, true: float) -> None:
    found = parse(formula).hessian(x=x)["x"]["x"]
    assert found == true or (math.isnan(found) and math.isnan(true))


@pytest.mark.parametrize("x", [5e-200, 1e-9, 0.3, 2.0, 1e17, 1e200])
def test_a_square_root(x: float) -> None:
    with mp.workprec(200):
        assert (
            ulps(parse("sqrt(x)").hessian(x=x)["x"]["x"], -1 / (4 * mpf(x) * mp.sqrt(mpf(x)))) <= 2
        )
