"""Derivatives and roots as they are typed: what they are worth, against mpmath, what is said of them."""

from __future__ import annotations

import math
import pickle
from collections.abc import Callable
from random import Random
from typing import Any

import mpmath
import pytest

import exprgrad
from exprgrad.errors import LanguageError

MPMATH = {
    "sin": mpmath.sin, "cos": mpmath.cos, "exp": mpmath.exp, "tanh": mpmath.tanh, "atan": mpmath.atan,
    "sqrt": mpmath.sqrt, "log": mpmath.log,
}  # fmt: skip


def generated(random: Random, depth: int) -> str:
    """A formula of x and y that is smooth where both are near 1."""
    if not depth:
        return random.choice(("x", "y", "x", "2", "0.5"))
    one, other = generated(random, depth - 1), generated(random, depth - 1)
    form = random.choice(
        ("({0})*({1})", "({0}) + ({1})", "({0}) - ({1})/3", "({0})/(2 + ({1})^2)", "sin({0})", "tanh({0})",
         "exp(-({0})^2)", "atan({0})*({1})", "sqrt(1 + ({0})^2)", "log(3 + cos({0}))")
    )  # fmt: skip
    return form.format(one, other)


def by_mpmath(text: str, x: float, y: float, order: int) -> mpmath.mpf:
    """The derivative of a formula with respect to x by mpmath's Taylor coefficients, to 40 digits."""
    code = compile(text.replace("^", "**"), "formula", "eval")
    with mpmath.workdps(60):

        def value(at: mpmath.mpf) -> mpmath.mpf:
            return eval(code, {**MPMATH, "x": at, "y": mpmath.mpf(y), "mpf": mpmath.mpf})

        return mpmath.diff(value, mpmath.mpf(x), order)


@pytest.mark.parametrize("count", [25, pytest.param(400, marks=pytest.mark.slow)])
def test_derivatives_inside_of_formulas_against_mpmath(count: int) -> None:
    for seed in range(count):
        random = Random(seed)
        body, order = generated(random, 3), random.choice((1, 1, 2, 3))
        x, y = random.uniform(0.5, 1.5), random.uniform(0.5, 1.5)
        f = exprgrad.parse(f"d({body}, x, {order}) + 0*x*y")
        true = by_mpmath(body, x, y, order)
        run = f.evaluate(x=x, y=y)
        error = max(run.errors[0][f.graph.output], 4 * math.ulp(float(true)))
        assert abs(mpmath.mpf(run.value) - true) <= 2 * error + 1e-40, (seed, body, order)


def test_the_derivative_of_a_formula_with_a_derivative_inside() -> None:
    for seed in range(12):
        random = Random(seed)
        body = generated(random, 3)
        x, y = random.uniform(0.5, 1.5), random.uniform(0.5, 1.5)
        f = exprgrad.parse(f"d({body}, x) + 0*x*y")
        second = by_mpmath(body, x, y, 2)
        assert f.gradient(x=x, y=y).gradient["x"] == pytest.approx(
            float(second), rel=1e-11, abs=1e-13
        )


def test_a_force() -> None:
    f = exprgrad.parse("V(r) = 4*eps*((s/r)^12 - (s/r)^6); -d(V(r), r)")
    r = 1.1
    expected = 24 / r * (2 * (1 / r) ** 12 - (1 / r) ** 6)
    assert f(eps=1, s=1, r=r) == pytest.approx(expected, rel=1e-14)


def test_newtons_step_and_many_of_them() -> None:
    f = exprgrad.parse("f(x) = x^3 - a; x - f(x)/d(f(x), x)")
    assert f(a=2, x=1.3) == pytest.approx(1.3 - (1.3**3 - 2) / (3 * 1.3**2), rel=1e-15)
    steps = exprgrad.parse(
        "f(x) = x^3 - a; x[0] = a; x[k] = x[k-1] - f(x[k-1])/d(f(x[k-1]), x[k-1]) for k in 1..8; x[8]"
    )
    assert steps(a=2) == pytest.approx(2 ** (1 / 3), rel=1e-15)
    assert steps.grad(a=2)["a"] == pytest.approx(1 / 3 / 4 ** (1 / 3), rel=1e-14)


def test_a_residual() -> None:
    f = exprgrad.parse("u = exp(-a*k^2*t)*sin(k*x); d(u, t) - a*d(u, x, 2)")
    run = f.gradient(a=0.5, k=2, t=0.3, x=0.7)
    assert run.value == pytest.approx(0, abs=1e-15)
    assert not [one for one in run.diagnostics if one.code == "unused"]  # the derivatives read u


def test_a_parameter() -> None:
    assert exprgrad.parse("f(r) = d(r*a, r); f(a)")(a=3) == 3
    assert exprgrad.parse("f(r) = d(r^2, r); f(f(x))")(x=3) == 12


@pytest.mark.parametrize(
    ("text", "values", "expected"),
    [
        ("d(x^2, y)", {"x": 3, "y": 1}, 0.0),
        ("d(x, x)", {"x": 3}, 1.0),
        ("u = x + y; d(u^2, u)", {"x": 1, "y": 2}, 6.0),
        ("d(d(x^2*y^3, x), y, 2)", {"x": 2, "y": 5}, 2 * 2 * 6 * 5.0),
        ("d(abs(x), x)", {"x": -2}, -1.0),
        ("d(where(x > 0, log(x), 0), x)", {"x": -1}, 0.0),
        ("n = 3; d(n^2, n)", {}, 6.0),
        ("d = 3; d*2", {}, 6.0),
        ("d(max(x, y), x)", {"x": 1, "y": 1}, 0.5),
    ],
)
def test_small_ones(text: str, values: dict[str, float], expected: float) -> None:
    assert exprgrad.parse(text)(values) == expected


@pytest.mark.parametrize(
    ("text", "message", "span"),
    [
        (
            "d(x^2, 3)",
            "d needs a formula and a name to differentiate it with respect to",
            "d(x^2, 3)",
        ),
        (
            "d(x^2, x+y)",
            "d needs a formula and a name to differentiate it with respect to",
            "d(x^2, x+y)",
        ),
        (
            "d(x^2, pi)",
            "d needs a name to differentiate with respect to, and pi is a constant",
            "pi",
        ),
        (
            "d(sum(x^2), x)",
            "d is for formulas of numbers, and this is an operation on tensors",
            "sum(x^2)",
        ),
        ("root(y^2, x, 1)", "the equation does not depend on its unknown, x", "y^2"),
        ("root(sum(x*w), x, 1)", "root is for formulas of numbers", "sum(x*w)"),
    ],
)
def test_what_is_refused(text: str, message: str, span: str) -> None:
    with pytest.raises(LanguageError) as caught:
        exprgrad.parse(text)
    error = caught.value
    assert error.message.startswith(message) and error.help
    assert error.span is not None and text[slice(*error.span)] == span


Residual = Callable[[dict[str, Any], Any], Any]
ONE_LINERS: dict[str, tuple[str, dict[str, float], Residual]] = {
    "Kepler": (
        "root(E - e*sin(E) - M, E, M)", {"M": 1, "e": 0.3},
        lambda v, r: r - v["e"] * mpmath.sin(r) - v["M"],
    ),
    "Colebrook": (
        "root(1/sqrt(f) + 2*log10(eps/3.7 + 2.51/(Re*sqrt(f))), f, 0.02)", {"eps": 1e-4, "Re": 1e5},
        lambda v, r: 1 / mpmath.sqrt(r)
        + 2 * mpmath.log10(v["eps"] / mpmath.mpf("3.7") + mpmath.mpf("2.51") / (v["Re"] * mpmath.sqrt(r))),
    ),
    "diode": (
        "root(Is*(exp((V - I*R)/Vt) - 1) - I, I, 0, 1)",
        {"Is": 1e-12, "V": 0.7, "R": 10, "Vt": 0.02585},
        lambda v, r: v["Is"] * (mpmath.exp((v["V"] - r * v["R"]) / v["Vt"]) - 1) - r,
    ),
    "implied volatility": (
        "N(z) = erfc(-z/sqrt(2))/2; d1(s) = (log(S/X) + (r + s^2/2)*T)/(s*sqrt(T)); "
        "C(s) = S*N(d1(s)) - X*exp(-r*T)*N(d1(s) - s*sqrt(T)); root(C(s) - price, s, 0.2)",
        {"S": 100, "X": 105, "r": 0.02, "T": 0.5, "price": 4.2},
        lambda v, r: call_price(v, r) - v["price"],
    ),
}  # fmt: skip


def call_price(v: dict[str, mpmath.mpf], s: mpmath.mpf) -> mpmath.mpf:
    """A call option's price by F. Black and M. Scholes."""
    one = (mpmath.log(v["S"] / v["X"]) + (v["r"] + s**2 / 2) * v["T"]) / (s * mpmath.sqrt(v["T"]))
    other = one - s * mpmath.sqrt(v["T"])
    return v["S"] * mpmath.ncdf(one) - v["X"] * mpmath.exp(-v["r"] * v["T"]) * mpmath.ncdf(other)


@pytest.mark.parametrize("name", ONE_LINERS)
def test_equations_in_one_line(name: str) -> None:
    text, values, residual = ONE_LINERS[name]
    f = exprgrad.parse(text)
    run = f.gradient(values)
    with mpmath.workdps(50):
        given = {key: mpmath.mpf(value) for key, value in values.items()}
        true = mpmath.findroot(lambda r: residual(given, r), run.value)
        assert abs(run.value / true - 1) < 1e-13
        slope = mpmath.diff(lambda r: residual(given, r), true)
        for key in values:

            def moved(at: mpmath.mpf, key: str = key) -> mpmath.mpf:
                return residual({**given, key: at}, true)

            expected = -mpmath.diff(moved, given[key]) / slope
            assert run.gradient[key] == pytest.approx(float(expected), rel=1e-11)
    assert all(check.verdict == "agrees" for check in f.check(values))


def test_a_derivative_of_a_root_reads_itself_again() -> None:
    f = exprgrad.parse("root(E - e*sin(E) - M, E, M)")
    g = f.derivative("e")
    assert str(g) == "t1 = root(E - e*sin(E) - M, E, M); sin(t1)/(1 - e*cos(t1))"
    assert g(M=1, e=0.3) == pytest.approx(f.grad(M=1, e=0.3)["e"], rel=1e-15)
    second = f.derivative("M", 2)
    assert second(M=1, e=0.3) == pytest.approx(f.hessian(M=1, e=0.3)["M"]["M"], rel=1e-14)
    assert exprgrad.parse(str(f)) == f


def test_runs_and_formulas_travel() -> None:
    f = exprgrad.parse("d(x^3, x) + root(y^2 - x, y, 1)")
    again = pickle.loads(pickle.dumps(f))
    assert again == f and again(x=4) == 50
    run = pickle.loads(pickle.dumps(f.gradient(x=4)))
    assert run.gradient == {"x": 24.25}
    columns = pickle.loads(pickle.dumps(f.compile("numpy")))
    assert columns({"x": [4.0]}).value[0] == 50


def test_the_picture_and_the_page() -> None:
    run = exprgrad.parse("root(E - e*sin(E) - M, E, M)*d(M^2, M)").gradient(M=1, e=0.3)
    assert "root" in run.dot()
    assert "the E at which" in arithmetic_of(run)


def arithmetic_of(run: exprgrad.Run) -> str:
    """What a page computes with, and what it says of the rows."""
    from exprgrad.show.page.arithmetic import page_arithmetic
    from exprgrad.show.page.model import page_row

    kind = next(kind for kind in run.graph.kinds if kind.startswith("root"))
    assert "while (go)" in page_arithmetic(run)
    return str(page_row(kind, 3)["about"])


def test_columns_are_solved() -> None:
    f = exprgrad.parse("root(E - e*sin(E) - M, E, M)")
    assert list(f(M=[1.0, 2.0], e=0.3)) == [f(M=1, e=0.3), f(M=2, e=0.3)]


def test_tensors_of_roots() -> None:
    f = exprgrad.parse("sum(root(E - e*sin(E) - M, E, M))")
    run = f.gradient(M=[1, 2], e=0.3)
    g = exprgrad.parse("root(E - e*sin(E) - M, E, M)")
    assert list(run.gradient["M"]) == pytest.approx(
        [g.grad(M=m, e=0.3)["M"] for m in (1, 2)], rel=1e-15
    )


@pytest.mark.parametrize(
    ("text", "values", "said"),
    [
        ("d(abs(x), x)", {"x": 0}, "abs(x) has a kink here, and d(abs(x), x) is taken there"),
        ("d(abs(x), x)", {"x": 1}, ""),
        ("d(floor(x)*x, x)", {"x": 2}, "floor(x) jumps here, and d(floor(x)*x, x) is taken there"),
        ("d(max(x, y), x)", {"x": 1, "y": 1}, "max(x, y) has a kink here"),
        ("d(max(x, y), x)", {"x": 2, "y": 1}, ""),
        ("d(max(x, y, z), x)", {"x": 0, "y": 1, "z": 1}, "max(x, y, z) has a kink here"),
        ("d(max(x, y, z), x)", {"x": 2, "y": 1, "z": 1}, ""),
        ("d(x^3, x)", {"x": 0}, ""),
        (
            "f(x) = relu(x); d(f(y), y)",
            {"y": 0},
            "f(y) has a kink here, and d(f(y), y) is taken there",
        ),
        ("sum(d(abs(x), x))", {"x": [1, 0]}, "abs(x) has a kink here"),
    ],
)
def test_a_derivative_at_a_kink_says_so(text: str, values: dict[str, Any], said: str) -> None:
    run = exprgrad.parse(text).evaluate(values)
    messages = [one.message for one in run.diagnostics]
    assert len(messages) == bool(said)
    assert not said or messages[0].startswith(said)
    assert (
        len(run.shown) < 6 if "sum" not in text else True
    )  # what is only asked for kinks is on the card


@pytest.mark.parametrize(
    "text",
    [
        "root(E - e*sin(E) - M, E, M)",
        "root(x^2 - a, x, 0, a*b)*a^2",
        "root(x/(a + 1) - b^x, x, 0, 2*a)",
        "root(root(y^3 - x, y, 1) - a, x, 1) + 1",
        "sin(root(cos(x_1) - x_1, x_1, 1/2))",
    ],
)
def test_a_root_in_latex_reads_back_as_itself(text: str) -> None:
    f = exprgrad.parse(text)
    assert exprgrad.from_latex(f.latex()) == f


def test_a_root_in_latex_needs_what_is_below_it() -> None:
    with pytest.raises(
        LanguageError, match="a root needs its unknown, and where it is searched for"
    ):
        exprgrad.from_latex(r"\operatorname{root}(x^2 - 2)")


def test_they_are_no_operations_of_the_table_and_told_as_what_they_are() -> None:
    from exprgrad.show.text.operations import find_rows

    for name, said in (("root", "a root is root("), ("d", "inside a formula a derivative is d(")):
        with pytest.raises(
            exprgrad.RequestError, match=f"there is no operation '{name}'"
        ) as caught:
            find_rows(name)
        assert caught.value.help is not None and caught.value.help.startswith(said)
