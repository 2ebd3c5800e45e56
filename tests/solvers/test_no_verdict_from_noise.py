"""Formulas whose doubles are noise: minima, roots, fits and uncertainties, each held to mpmath.

Doubles cancel in all of them, in the value, the gradient or the second derivatives.  A verdict has to be
true, or to say that nothing is decided; a number that is shown has to be true, or to be marked.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pytest
from mpmath import mp, mpf

from exprgrad import parse, solve
from exprgrad.data.fits import FitRequest
from exprgrad.data.fits import fit_model as fit_request
from exprgrad.show.text.fits import fit_parts
from exprgrad.solvers.fit.fit import Fit
from exprgrad.solvers.minima.minimize import Minimum
from oracles import gradient, second_derivatives
from shell import command

NOTHING = 1e-12
"""A point so near to a minimum at 0 is there."""
DIGITS = 400
"""As many as differences take at the least double above 0, where some searches end."""
SHOWN = 1e-5
"""Numbers that differ by a smaller part of themselves are shown with the same digits, or nearly."""

# Minima: the formula, the start, what else is asked, and the verdicts that are true there.

FORTH = "x^4 - 4*x^3 + 6*x^2 - 4*x + 1"
SIXTH = "x^6 - 6*x^5 + 15*x^4 - 20*x^3 + 15*x^2 - 6*x + 1"
EIGHTH = "x^8 - 8*x^7 + 28*x^6 - 56*x^5 + 70*x^4 - 56*x^3 + 28*x^2 - 8*x + 1"
LARGEST: dict[str, Any] = {"maximize": True}
JUDGED: dict[str, Any] = {"steps": 0}
MINIMA: list[tuple[str, dict[str, float], dict[str, Any], str]] = [
    ("(1 - cos(x))/x^2", {"x": 1e-7}, {}, "minimum"),
    ("(1 - cos(x))/x^2", {"x": 1e-7}, JUDGED, "not converged"),
    ("(1 - cos(x))/x^2", {"x": 1e-9}, JUDGED, "not converged"),
    ("(1 - cos(x))/x^2", {"x": 1e-7}, LARGEST, "maximum"),
    ("(1 - cos(x))/x^2", {"x": 1e-4}, LARGEST, "maximum"),
    ("(1 - cos(x))/x^2", {"x": 1e-3}, LARGEST, "maximum"),
    ("(1 - cos(x))/x^2", {"x": 0.5}, LARGEST, "maximum"),
    ("-(1 - cos(x))/x^2", {"x": 1e-5}, {}, "minimum"),
    ("(exp(x) - 1 - x)/x^2", {"x": 1e-8}, JUDGED, "unbounded"),
    ("exp(x) - 1 - x", {"x": 1}, {}, "minimum"),
    ("exp(x) - 1 - x - x^2/2", {"x": 1}, {}, "unbounded"),
    ("cosh(x) - 1 - x^2/2", {"x": 0.5}, {}, "flat"),
    ("cos(x) - 1 + x^2/2", {"x": 1e-3}, {}, "flat"),
    ("(x - sin(x))^2", {"x": 0.1}, {}, "flat"),
    ("x^2/2 + cos(x) - 1 + 1e-9*x", {"x": 0.1}, {}, "minimum"),
    ("(x - sin(x))/x^3", {"x": 1e-5}, LARGEST, "maximum"),
    ("(x - sin(x))/x^3", {"x": 1e-5}, JUDGED, "unbounded"),
    ("(tan(x) - x)/x^3", {"x": 1e-6}, {}, "minimum"),
    ("(tan(x) - x)/x^3", {"x": 0.1}, {}, "minimum"),
    ("log(1 + x)/x", {"x": 1e-12}, JUDGED, "unbounded"),
    ("log(1 + x^2)/x^2", {"x": 1e-6}, LARGEST, "maximum"),
    ("sqrt(x^2 + 1e16) - 1e8", {"x": 1}, {}, "minimum"),
    (FORTH, {"x": 2}, {}, "flat"),
    (FORTH, {"x": 1.0001}, JUDGED, "not converged"),
    (f"{FORTH} + 1e-6*(x - 1)^2", {"x": 2}, {}, "minimum"),
    (SIXTH, {"x": 1.5}, {}, "flat"),
    (SIXTH, {"x": 1.001}, JUDGED, "not converged"),
    (EIGHTH, {"x": 1.01}, {}, "flat"),
    (f"{EIGHTH} + 1e-10*(x - 1.001)^2", {"x": 1.2}, {}, "minimum"),
    ("(x + 1e8)^2 - 2e8*x - 1e16", {"x": 3}, {}, "minimum"),
    ("(x + 1e9)^3 - 1e27 - 3e18*x - 3e9*x^2 + x^2", {"x": 0.1}, {}, "minimum"),
    ("((x + 1e8) - 1e8)^2 + y^2", {"x": 0.3, "y": 1}, {}, "minimum"),
    ("(x + 1e10 - 1e10)^2*(1 + x)", {"x": 1.2}, {}, "minimum"),
    ("exp(x + 50)/exp(50) - x", {"x": 1}, {}, "minimum"),
    ("log(exp(x + 700)) - 700 + x^2", {"x": 1}, {}, "minimum"),
    ("1e10*(1 - cos(x*1e-5)) + x", {"x": 0.1}, {}, "minimum"),
    ("1e16*(1 - cos(x*1e-8)) + (x - 2)^2", {"x": 3}, {}, "minimum"),
    ("1e18*(exp(x*1e-9) - 1 - x*1e-9)", {"x": 2}, {}, "minimum"),
    ("1e18*(sqrt(1 + x^2*1e-18) - 1) + y^2 - x*y", {"x": 2, "y": 1}, {}, "minimum"),
    ("1e16*(1 - cos(1e-8*(x - 1))) - 1e16*(1 - cos(1e-8*y))", {"x": 1, "y": 0}, JUDGED, "saddle"),
    ("(1 - cos(x))/x^2 + y^2", {"x": 1e-6, "y": 1}, {}, "minimum"),
    ("(1 - cos(x - y))/(x - y)^2", {"x": 1e-5, "y": 0}, {}, "flat"),
    ("(exp(x) - 1)/x + (x - 1)^2", {"x": 1e-9}, JUDGED, "not converged"),
    ("(exp(x) - 1)/x + x^2", {"x": 1e-9}, {}, "minimum"),
    ("x*log(x + 1e-9) - x*log(x) + (x - 2)^2*1e-10", {"x": 1}, {}, "minimum"),
    ("(sinh(x) - x)^2/x^6", {"x": 1e-3}, {}, "minimum"),
    ("(sinh(x) - x)/x^3", {"x": 1e-4}, {}, "minimum"),
    ("x/(exp(x) - 1) + x/2", {"x": 1e-7}, {}, "minimum"),
    ("(x*cosh(x) - sinh(x))/x^3", {"x": 1e-4}, {}, "minimum"),
    ("(1/x - 1/tan(x))/x", {"x": 1e-4}, {}, "minimum"),
    ("1/x^2 - 1/sin(x)^2", {"x": 1e-4}, LARGEST, "maximum"),
    ("log((1 + x)/(1 - x))/x", {"x": 1e-7}, {}, "minimum"),
    ("(0.1 + 0.2 - 0.3)*x^2 + x^4", {"x": 1}, {}, "flat"),
    ("sin(x + 1e15)", {"x": 0}, {}, "minimum"),
    ("abs((x + 1e10) - 1e10)", {"x": 0.3}, {}, "kink"),
]


def hold_to_truth(found: Minimum[Any], formula: str) -> None:
    """Check a shown minimum: the gradient's root is near, and the Hessian as said."""
    sign = -1 if found.verdict == "maximum" else 1
    graph, names = parse(formula).graph, [*found.point]
    slopes = gradient(graph, found.point, DIGITS)
    bends = second_derivatives(graph, found.point, DIGITS)
    matrix = mp.matrix([[bends[one][other] for other in names] for one in names])
    step = mp.lu_solve(matrix, mp.matrix([-slopes[name] for name in names]))
    for name, move in zip(names, step, strict=True):
        assert abs(move) <= max(SHOWN * abs(found.point[name]), NOTHING), (name, move)
    ends = sorted(sign * mp.eigsy(matrix, eigvals_only=True))
    assert ends[0] > 0
    assert found.curvature is not None
    least, most = sorted(sign * bend for bend in found.curvature)
    assert abs(least - ends[0]) <= SHOWN * ends[0]
    assert abs(most - ends[-1]) <= SHOWN * ends[-1]


@pytest.mark.parametrize(("formula", "start", "asked", "verdict"), MINIMA)
def test_no_verdict_on_a_minimum_comes_from_noise(
    formula: str, start: dict[str, float], asked: dict[str, Any], verdict: str
) -> None:
    found = parse(formula).minimize(start, **asked)
    assert found.verdict == verdict, found.message
    with mp.workdps(4 * DIGITS):
        if verdict in ("minimum", "maximum"):
            hold_to_truth(found, formula)


def test_the_value_and_the_slope_that_are_shown_are_true() -> None:
    found = parse("(1 - cos(x))/x^2").minimize(x=1e-7, steps=0)
    assert found.value == pytest.approx(0.5, rel=1e-14)
    assert found.message.endswith("the gradient's norm is 8.33333e-09")


def test_a_grad_without_right_digits_is_marked() -> None:
    shown = command("minimize", "(1 - cos(x))/x^2", "x=1e-3", "--maximize")
    assert "~\n" in shown.out
    assert "~ fewer right digits than shown" in shown.out
    assert "~" not in command("minimize", "(x - 3)^2", "x=1").out


def test_constraints_are_judged_in_balls_too() -> None:
    formula = "1e16*(1 - cos(1e-8*x)) + 1e16*(1 - cos(1e-8*y))"
    found = parse(formula).minimize(x=3, y=1, subject="x + y == 2")
    assert found.verdict == "minimum", found.message
    assert found.point == pytest.approx({"x": 1, "y": 1}, rel=1e-12)
    (active,) = found.active
    assert active.multiplier == pytest.approx(-1, rel=1e-9)


# Roots: the equation, where it is looked for, and its roots there.

ROOTS: list[tuple[str, Any, str]] = [
    ("(1 - cos(x))/x^2 - 0.4999 = 0", 1e-7, "0.048991754637841877"),
    ("exp(x) - 1 - x = 1e-20", (1e-12, 1), "1.4142135623397617e-10"),
    ("x - sin(x) = 1e-25", 1e-8, "8.4343266530174925e-9"),
    ("x^3 - 3*x^2 + 3*x - 1 = 0", 1.1, "1"),
    ("log(1 + x)/x = 0.9999999999", (1e-12, 1e-6), "2.0000000002666667e-10"),
    ("(x + 1e17) - 1e17 = 3", (-10, 10), "3"),
    ("cosh(x) = 1 + 1e-20", (1e-12, 1), "1.4142135623730950e-10"),
    ("tan(x) - sin(x) = 5e-31", 1e-9, "1e-10"),
    ("x^2 - 2*x + 1 = -1e-20", (0.5, 1.7), ""),
    ("x^2 + 1e-20 = 0", (-1, 1), ""),
]


@pytest.mark.parametrize(("equation", "where", "root"), ROOTS)
def test_no_root_comes_from_noise(equation: str, where: Any, root: str) -> None:
    found = solve(equation, x=where)
    assert found.excluded is not bool(root)
    points = [one.point["x"] for one in found.roots]
    assert points == pytest.approx([float(root)] if root else [], rel=2e-16)


# Fits: the model, true parameters, the rows' places from and to, and the same model without cancellation.

FITS: list[tuple[str, dict[str, float], tuple[float, float], Callable[..., Any]]] = [
    ("(1-cos(k*x))/x^2", {"k": 2}, (1e-8, 1e-5), lambda x, k: 2 * mp.sin(k * x / 2) ** 2 / x**2),
    ("log(1+a*x)/x", {"a": 3}, (1e-16, 1e-12), lambda x, a: mp.log1p(a * x) / x),
    ("log(1+a*x)/x+b", {"a": 3, "b": 1}, (1e-12, 1), lambda x, a, b: mp.log1p(a * x) / x + b),
    ("(exp(k*x)-1)/x", {"k": 0.7}, (1e-16, 1e-11), lambda x, k: mp.expm1(k * x) / x),
    ("a*(exp(k*x)-1)/x", {"a": 2, "k": 0.7}, (1e-10, 0.1), lambda x, a, k: a * mp.expm1(k * x) / x),
    ("(sinh(k*x)-k*x)/x^3", {"k": 1.3}, (1e-6, 1e-4), lambda x, k: (mp.sinh(k * x) - k * x) / x**3),
    ("sqrt(x+k)-sqrt(x)", {"k": 5}, (1e14, 1e17), lambda x, k: k / (mp.sqrt(x + k) + mp.sqrt(x))),
    ("x*(sqrt(1+k*x^-2)-1)", {"k": 5}, (1e6, 1e9), lambda x, k: x * (mp.sqrt(1 + k / x**2) - 1)),
    ("a*x+(b+1e12)-1e12", {"a": 2, "b": 1}, (1, 100), lambda x, a, b: a * x + b),
    ("(x+a)^2-x^2", {"a": 2}, (1e10, 1e12), lambda x, a: 2 * a * x + a * a),
    ("((x+a)^3-x^3)/x^2", {"a": 2}, (1e12, 1e14), lambda x, a: 3 * a + 3 * a**2 / x + a**3 / x**2),
    ("(tan(k*x)-sin(k*x))/x^3", {"k": 1.1}, (1e-6, 1e-4),
     lambda x, k: (mp.tan(k * x) - mp.sin(k * x)) / x**3),
    ("acos(1-k*x)", {"k": 1}, (1e-16, 1e-12), lambda x, k: mp.acos(1 - k * x)),
    ("tanh(k*x)/x-k", {"k": 1.5}, (1e-7, 1e-3), lambda x, k: mp.tanh(k * x) / x - k),
    ("1/(1-exp(-k*x))-1/(k*x)", {"k": 2}, (1e-9, 1e-3),
     lambda x, k: (k * x + mp.expm1(-k * x)) / (-mp.expm1(-k * x) * k * x)),
]  # fmt: skip


def rows_of(
    true: Mapping[str, float],
    ends: tuple[float, float],
    stable: Callable[..., Any],
    count: int = 12,
) -> dict[str, list[float]]:
    """Rows over some powers of ten, with noise of a thousandth."""
    random = np.random.default_rng(7)
    places = [float(f"{x:.6g}") for x in np.geomspace(*ends, count)]
    values = [float(stable(mpf(x), *map(mpf, true.values()))) for x in places]
    moved = [float(f"{y * (1 + 1e-3 * random.standard_normal()):.12g}") for y in values]
    return {"x": places, "y": moved}


def fitted_truly(
    rows: Mapping[str, Sequence[float]], true: Mapping[str, float], stable: Callable[..., Any]
) -> tuple[list[Any], list[Any]]:
    """The least squares of a stable model by Gauss and Newton in mpmath, and standard errors."""
    point, step = [mpf(value) for value in true.values()], mpf(10) ** -18
    places, count = [*map(mpf, rows["x"])], len(true)

    def moved(at: int, by: Any) -> list[Any]:
        return [value + by * (at == other) for other, value in enumerate(point)]

    def slopes_at(x: Any) -> list[Any]:
        ends = [(stable(x, *moved(at, step)), stable(x, *moved(at, -step))) for at in range(count)]
        return [(ahead - behind) / (2 * step) for ahead, behind in ends]

    for _ in range(40):
        slopes = mp.matrix([slopes_at(x) for x in places])
        model = [stable(x, *point) for x in places]
        rest = mp.matrix([mpf(y) - at_x for y, at_x in zip(rows["y"], model, strict=True)])
        move = mp.lu_solve(slopes.T * slopes, slopes.T * rest)
        point = [value + by for value, by in zip(point, move, strict=True)]
    covariance = (slopes.T * slopes) ** -1 * (rest.T * rest)[0] / (len(places) - count)
    return point, [mp.sqrt(covariance[at, at]) for at in range(count)]


def fit_to(model: str, rows: object, start: Mapping[str, object]) -> Fit:
    return fit_request(FitRequest(f"y ~ {model}", rows, start))


@pytest.mark.parametrize(("model", "true", "ends", "stable"), FITS)
def test_estimates_and_their_errors_do_not_come_from_noise(
    model: str, true: dict[str, float], ends: tuple[float, float], stable: Callable[..., Any]
) -> None:
    pytest.importorskip("scipy", reason="pip install 'exprgrad[fit]'")
    rows = rows_of(true, ends, stable)
    with mp.workdps(60):
        values, errors = fitted_truly(rows, true, stable)
    found = fit_to(model, rows, {name: 1.2 * value for name, value in true.items()})
    assert found.converged, found.reason
    for one, value, error in zip(found.parameters.values(), values, errors, strict=True):
        assert one.value == pytest.approx(float(value), rel=1e-8)
        assert one.error == pytest.approx(float(error), rel=1e-8)


def test_more_rows_than_balls_can_do_are_flagged() -> None:
    pytest.importorskip("scipy", reason="pip install 'exprgrad[fit]'")
    model, true, ends, stable = FITS[2]
    found = fit_to(model, rows_of(true, ends, stable, 3000), true)
    assert found.error_digits is not None
    assert found.error_digits < 6
    (table,) = fit_parts(found, 6, whole=False)
    assert not isinstance(table, str)
    assert f"standard errors {found.error_digits}" in table.foot


# Uncertainties.


def test_uncertainties_of_tensors_rest_on_true_derivatives() -> None:
    found = parse("[(1 - cos(x))/x^2, exp(x) - 1]").evaluate(x="1e-8±1e-9").propagate()
    assert found.value.tolist() == pytest.approx([1e-9 / 12 * 1e-8, 1.00000001e-9], rel=1e-9)
    assert any("/ d x has no right digit" in one.message for one in found.diagnostics)


DRAWN = [
    ("(1 - cos(x))/x^2", "1e-8±1e-9"),
    ("(exp(x) - 1)/x", "1e-12±1e-13"),
    ("cosh(x) - 1", "0±1e-9"),
    ("sqrt(x^2 + 3) - x", "1e9±1"),
    ("(x + 1e17) - 1e17", "3±1"),
    ("1e20*(1 - sqrt(1 - x^2))", "1e-10±1e-11"),
]


@pytest.mark.parametrize(("formula", "x"), DRAWN)
def test_monte_carlo_says_where_rounding_hides_its_digits(formula: str, x: str) -> None:
    found = parse(formula).gradient(x=x).propagate(mc=2000)
    assert any("moved the draws' values" in one.message for one in found.diagnostics)


def test_monte_carlo_of_ordinary_formulas_is_not_flagged() -> None:
    for formula, x in [("exp(x)*sin(x)", "1±0.1"), ("x^2 - 1", "1±0.01"), ("(x - 1)^2", "1±0.01")]:
        found = parse(formula).gradient(x=x).propagate(mc=2000)
        assert not any(one.code == "lost-digits" for one in found.diagnostics)
