"""Derivatives where a slope is infinite on the way: leading terms tell them, with real exponents."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from random import Random
from typing import Any

import pytest
from mpmath import mp, mpf

from exprgrad import parse
from shell import command

EXIST = {
    "sqrt(x^4)": 0.0,
    "cbrt(x)^3": 1.0,
    "cbrt(x)^3 + 2*x": 3.0,
    "cbrt(x^2)^3": 0.0,
    "cbrt(2*x)^3*cos(x)": 2.0,
    "sqrt(x^4 + x^6)": 0.0,
    "abs(x)^0.5*sqrt(abs(x))*sin(x)": 0.0,
    "exp(cbrt(x)^3)": 1.0,
    "sqrt(sin(x)^4)": 0.0,
    "abs(cbrt(x)^5)": 0.0,
}


@pytest.mark.parametrize("text", EXIST)
def test_a_derivative_that_exists_is_found(text: str) -> None:
    run = parse(text).gradient(x=0.0)
    assert run.gradient["x"] == pytest.approx(EXIST[text], rel=1e-14, abs=0)
    assert run.true.gradient["x"] == pytest.approx(EXIST[text], rel=1e-14, abs=0)
    assert not any(one.code == "undecided" for one in run.diagnostics)


@pytest.mark.parametrize("text", ["x*y*sqrt(x^2 + y^2)", "sqrt(x^4 + y^4)", "sqrt(x^2*y^2)*x"])
def test_partial_derivatives_at_the_origin(text: str) -> None:
    assert parse(text).gradient(x=0.0, y=0.0).gradient == {"x": 0.0, "y": 0.0}


@pytest.mark.parametrize("size", [1, 2, 3])
@pytest.mark.parametrize("rest", ["", " + 20 + exp(1)"])
def test_ackley_has_a_kink_at_its_minimum(size: int, rest: str) -> None:
    """Along each input its slope is 4/sqrt(n) on the right: 20*0.2 times that of the root."""
    names = [f"x{at}" for at in range(size)]
    squares = "+".join(f"{name}^2" for name in names)
    waves = "+".join(f"cos(2*pi*{name})" for name in names)
    root, mean = f"sqrt(({squares})/{size})", f"({waves})/{size}"
    run = parse(f"-20*exp(-0.2*{root}) - exp({mean}){rest}").gradient(dict.fromkeys(names, 0.0))
    for name in names:
        side = run.one_sided[name]
        assert side.verdict == "kink"
        assert (side.left, side.right) == pytest.approx(
            (-4 / math.sqrt(size), 4 / math.sqrt(size)), rel=1e-14
        )


@pytest.mark.parametrize("p", [0.5, 0.7, 1.2, 1.7, 2.5])
def test_a_power_of_a_power(p: float) -> None:
    """(x^2)^p is abs(x)^(2*p): its sides' slopes follow from quotients with ever smaller steps."""
    run = parse(f"(x^2)^{p}").gradient(x=0.0)
    with mp.workprec(200):
        steps = [mp.mpf(2) ** -k for k in (400, 800)]
        far, near = ((step**2) ** mpf(Fraction(p)) / step for step in steps)
    if near < far:
        assert run.gradient["x"] == 0
    else:
        right = math.inf if near > far else 1.0
        assert (run.one_sided["x"].left, run.one_sided["x"].right) == (-right, right)


@pytest.mark.parametrize("text", ["(x^2)^1.7", "(x^2)^1.5", "(2*x^2)^1.6 + x"])
def test_a_second_derivative_that_exists_is_found(text: str) -> None:
    status, out, _ = command("hess", "-q", text, "x=0")
    assert (status, out) == (0, "x x=0.0\n")


INSIDE = {
    "d((x^2)^1.5, x, 2)": 0.0,
    "d((x^2)^1.7, x, 2)": 0.0,
    "d(sqrt(x^4), x)": 0.0,
    "d(cbrt(x)^3, x)": 1.0,
    "d(cbrt(2*x)^3*cos(x), x)": 2.0,
    "1 + 2*d(cbrt(x)^3 + x, x)": 5.0,
    "d(cbrt(x)^3, x)*exp(x) + d(sqrt(x^4), x)": 1.0,
    "f(t) = sqrt(t^4) + 3*t; g = f(x); d(g, x)^2": 9.0,
    "d(d((x^2)^1.5, x), x)": 0.0,
}


@pytest.mark.parametrize("text", INSIDE)
def test_a_derivative_inside_of_a_formula_that_exists_is_found(text: str) -> None:
    """The node keeps the sweep's nan, and the answer is corrected."""
    run = parse(text).evaluate(x=0.0)
    assert math.isnan(run.value)
    assert run.true.value == pytest.approx(INSIDE[text], rel=1e-14, abs=0)
    right = run.digits["value"]
    assert right >= 6 and abs(run.true.value - INSIDE[text]) <= 10.0**-right * INSIDE[text]
    assert [one.code for one in run.diagnostics].count("corrected") == 1
    assert command("eval", "-q", text, "x=0").out == f"{INSIDE[text]}\n"


def slope_of_power(p: float, order: int) -> float:
    """The derivative of abs(x)^p of an order, just right of 0."""
    factor = math.prod(Fraction(p) - k for k in range(order))
    return 0.0 if p > order else math.inf if p < order else float(factor)


@pytest.mark.parametrize("p", [1.1, 1.25, 1.5, 1.75, 1.9])
@pytest.mark.parametrize("scale", ["", "-3*"])
def test_the_slope_of_a_derivative_inside_of_a_formula_is_told_from_both_sides(
    p: float, scale: str
) -> None:
    """(x^2)^p is abs(x)^(2*p), whose third derivative is odd."""
    run = parse(f"{scale}d((x^2)^{p}, x, 2)").gradient(x=0.0)
    side, right = run.one_sided["x"], slope_of_power(2 * p, 3) * (-3 if scale else 1)
    assert math.isnan(run.value) and not side.estimated
    assert (side.left, side.right) == pytest.approx((-right, right), rel=1e-14, abs=0)
    assert side.verdict == ("exists" if right == 0 else "kink")
    assert side.corrected == (right == 0)


@pytest.mark.parametrize(
    ("text", "left", "right"),
    [
        ("d(x*sqrt(x^2), x)", -2, 2),
        ("d(sqrt(x^4), x)", 2, 2),
        ("d((x^2)^1.5*y, x, 2)", -12, 12),
        ("1 + cos(x)*d((x^2)^1.5, x, 2)", -6, 6),
    ],
)
def test_what_is_infinite_on_the_way_has_a_leading_term(
    text: str, left: float, right: float
) -> None:
    given = {"x": 0.0, "y": 2.0} if "y" in text else {"x": 0.0}
    side = parse(text).gradient(given).one_sided["x"]
    assert (side.left, side.right, side.estimated) == (left, right, False)


@pytest.mark.parametrize("text", ["sinc(log10(erf(1/x)))", "cos(log10(erf(1/x)))"])
def test_an_error_without_a_bound_leads_to_no_slope(text: str) -> None:
    """The slope on the right is 0, through 0 times what is off by any amount: no infinity is claimed."""
    side = parse(text).gradient(x=0.0).one_sided["x"]
    assert side.verdict == "undecided" and side.estimated


@pytest.mark.parametrize("text", ["x*(1/x)", "x^2*(1/x)", "0*log(x)", "x/sqrt(x^2)", "0/x + x"])
def test_what_has_no_value_has_no_slope(text: str) -> None:
    """The limits may be equal; nobody has said that they are the value."""
    run = parse(text).gradient(x=0.0)
    assert math.isnan(run.value) and math.isnan(run.gradient["x"])
    assert not any(one.code in ("corrected", "kink", "exists") for one in run.diagnostics)


@pytest.mark.parametrize(
    "text",
    [
        "y = [d(cbrt(x)^3*k, x) for k in 1..3]; y[0]",
        "f(k) = d(cbrt(x)^3*k, x); f(1) + 0*f(2)",
        "sum(d(cbrt(x)^3*k, x) for k in 1..2)",
    ],
)
def test_one_text_of_several_derivatives_is_not_taken_for_another(text: str) -> None:
    """They are told apart by their place in the text; where they share it nan is said to be nan."""
    found = parse(text).evaluate(x=0.0).true.value
    assert math.isnan(found) or found == {"y": 1.0, "f": 1.0, "s": 3.0}[text[0]]


@pytest.mark.parametrize(
    "text",
    ["d(sqrt(x^2), x)", "d(sqrt(x^2), x, 2)", "d((x^2)^1.25, x, 3)", "d(sqrt(x^4), x) + 0/x"],
)
def test_a_derivative_inside_of_a_formula_that_does_not_exist_stays_nan(text: str) -> None:
    run = parse(text).evaluate(x=0.0)
    assert math.isnan(run.true.value) and math.isnan(run.value)


@pytest.mark.parametrize(
    "text", ["sqrt(1 - cos(x))*cbrt(x)^2", "sqrt((0.1 + 0.2 - 0.3 - 5.551115123125783e-17) + x^4)"]
)
def test_what_no_leading_term_tells_is_not_said_to_exist_otherwise(text: str) -> None:
    """The difference of two near numbers has no leading term; differences may still tell."""
    slope = parse(text).gradient(x=0.0).gradient["x"]
    assert math.isnan(slope) or slope == 0


@pytest.mark.parametrize(
    ("text", "x", "left", "right"),
    [
        ("sqrt(x^2)", 0, -1, 1),
        ("sqrt((x - 0.1)^2)", 0.1, -1, 1),
        ("x + sqrt((x*1e-9)^2)", 0, 1 - 1e-9, 1 + 1e-9),
        ("acosh(1 + x^2)", 0, -math.sqrt(2), math.sqrt(2)),
    ],
)
def test_kinks_that_differences_only_estimated(
    text: str, x: float, left: float, right: float
) -> None:
    side = parse(text).gradient(x=x).one_sided["x"]
    assert side.verdict == "kink" and not side.estimated
    assert (side.left, side.right) == pytest.approx((left, right), rel=1e-14)


Grown = tuple[str, Callable[[Any], Any]]


def grow(random: Random, depth: int) -> Grown:
    """A small formula that is defined beside 0, and its value by mpmath."""
    if not depth:
        return random.choice(
            [("x", lambda x: x), ("(-3*x)", lambda x: -3 * x), ("x^2", lambda x: x**2)]
        )
    text, f = grow(random, depth - 1)
    other, g = grow(random, depth - 1)
    p = random.choice([0.5, 1.5, 1.75, 2.5, 3.0])
    return random.choice(
        [
            (f"abs({text})", lambda x: abs(f(x))),
            (f"sqrt(abs({text}))", lambda x: mp.sqrt(abs(f(x)))),
            (f"cbrt({text})", lambda x: mp.sign(f(x)) * mp.cbrt(abs(f(x)))),
            (f"abs({text})^{p}", lambda x: abs(f(x)) ** mpf(p)),
            (f"({text})^3", lambda x: f(x) ** 3),
            (f"relu({text})", lambda x: max(f(x), mpf(0))),
            (f"max({text}, {other})", lambda x: max(f(x), g(x))),
            (f"({text} + {other})", lambda x: f(x) + g(x)),
            (f"({text})*({other})", lambda x: f(x) * g(x)),
            (f"({text})*cos({other})", lambda x: f(x) * mp.cos(g(x))),
            (f"sin({text})", lambda x: mp.sin(f(x))),
            (f"hypot({text}, {other})", lambda x: mp.sqrt(f(x) ** 2 + g(x) ** 2)),
        ]
    )


def is_limit(slope: float, quotients: list[Any]) -> bool:
    """Whether quotients with ever smaller steps come to a slope, which may be infinite."""
    if math.isinf(slope):
        sizes = [math.copysign(1, slope) * quotient for quotient in quotients]
        return bool(0 < sizes[0] < sizes[1] < sizes[2])
    apart = [abs(quotient - slope) for quotient in quotients]
    return bool(apart[2] <= 1e-13 * (1 + abs(slope)) or apart[2] < apart[1] / 10 < apart[0] / 100)


def test_slopes_of_random_formulas_are_limits_of_quotients() -> None:
    random, sides = Random(29), 0
    for _ in range(300):
        text, f = grow(random, random.choice([2, 3, 4]))
        side = parse(text).gradient(x=0.0).one_sided.get("x")
        if side is None or side.estimated:
            continue
        with mp.workprec(3000):
            for slope, sign in ((side.left, -1), (side.right, 1)):
                if slope is None:
                    continue
                steps = [sign * mpf(10) ** -k for k in (100, 200, 400)]
                quotients = [(f(step) - f(mpf(0))) / step for step in steps]
                assert is_limit(slope, quotients), (text, sign, slope, quotients)
                sides += 1
    assert sides > 200
