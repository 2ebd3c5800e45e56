"""Every row's second derivatives, as ``hess`` finds them, against mpmath."""

from __future__ import annotations

import math
from random import Random

import pytest

from exprgrad import parse
from exprgrad.graph.ops import BY_NAME, OPS, Op
from oracles import computed, computed_second, holds, is_special, mp, mpf, true_second, ulps
from strategies import points

FLAT = {"div", "mod", "logsumexp"}
"""Division's second derivative for y has the caveat of its first; ``%`` is linear beside its jumps.

That of ``logsumexp`` is p*(1 - p) of a share p, and 1 - p is not the sum of the others in doubles.
"""
SMOOTH = [op for op in OPS if op.value_ulp > 0.5 and op.name not in FLAT]
SEEDS = [pytest.param(0, 12), pytest.param(1, 250, marks=pytest.mark.slow)]


def beside_zero(op: Op, place: tuple[int, int], args: tuple[float, ...]) -> bool:
    """Where x^(y - 1)*(1 + y*log(x)), a second derivative of x^y, is the difference of two near numbers.

    So is that of beta for both operands, where one of them is small.
    """
    if op.name == "beta" and place == (0, 1):
        a, b = map(mpf, args)
        with mp.workprec(2400):
            slopes = [mp.digamma(a + b) - mp.digamma(x) for x in (a, b)]
            other = mp.polygamma(1, a + b)
            return bool(abs(slopes[0] * slopes[1] - other) < other / 2)
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
