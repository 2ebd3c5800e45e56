"""Fits: NIST's certified ones, what is said of them, and what the numbers are held to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

import exprgrad
from exprgrad.data.fits import FitRequest
from exprgrad.data.fits import fit_model as fit_request
from exprgrad.errors import InputError
from exprgrad.solvers.fit.estimates import MET
from exprgrad.solvers.fit.fit import Estimate, Fit, fit_curve
from fits import SETS, STARTS, right
from together import together

pytest.importorskip("scipy", reason="pip install 'exprgrad[fit]'")

LONG = [("Bennett5", "start1"), ("MGH17", "start1")]
"""Those that a thousand points lead to."""
SHORT = [(name, start) for name in SETS for start in STARTS if (name, start) not in LONG]
RESIDUALS_OF_ROUNDING = "Lanczos1"
"""Its residuals are those of rounding y to 13 digits: doubles leave few digits of their size."""


def fit_to(text: str, data: object, start: Mapping[str, object], **options: Any) -> Fit:
    """A fit."""
    return fit_request(FitRequest(text, data, start, **options))


def fit_of(name: str, start: str, **options: Any) -> Fit:
    """The fit of one of NIST's sets."""
    one = SETS[name]
    values = dict(zip(one["params"], map(float, one[start]), strict=True))
    return fit_to(f"{one['response']} ~ {one['model']}", one["data"], values, **options)


def hold(name: str, start: str) -> None:
    """Every estimate is right to 10 digits, and to as many as it is said to be; so is its error."""
    one, found = SETS[name], fit_of(name, start)
    assert found.converged
    for parameter, optimum, sd in zip(one["params"], one["optimum"], one["sd"], strict=True):
        estimate = found.parameters[parameter]
        assert estimate.digits is not None
        digits = right(estimate.value, optimum)
        assert digits >= max(10, estimate.digits), parameter
        if name != RESIDUALS_OF_ROUNDING:
            assert right(estimate.error, sd) >= 10, parameter
    for parameter, value in zip(one["params"], one["certified"], strict=True):
        assert right(found.parameters[parameter].value, value) >= 10


@pytest.mark.parametrize(("name", "start"), SHORT)
def test_certified_fits(name: str, start: str) -> None:
    hold(name, start)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "start"), LONG)
def test_certified_fits_from_far_away(name: str, start: str) -> None:
    hold(name, start)


def test_a_straight_line() -> None:
    """Against the textbook's formulas."""
    x, y = np.arange(6.0), np.array([1.1, 2.9, 5.2, 6.8, 9.1, 11.0])
    found = fit_to("y ~ a + b*x", {"x": x, "y": y}, {"a": 0, "b": 0})
    b = float(np.sum((x - x.mean()) * (y - y.mean())) / np.sum((x - x.mean()) ** 2))
    a = float(y.mean() - b * x.mean())
    rss = float(np.sum((y - a - b * x) ** 2))
    assert found.parameters["b"].value == pytest.approx(b, rel=1e-13)
    assert found.parameters["a"].value == pytest.approx(a, rel=1e-13)
    sd = (rss / 4) ** 0.5
    assert found.residual_sd == pytest.approx(sd)
    assert found.parameters["b"].error == pytest.approx(sd / np.sum((x - x.mean()) ** 2) ** 0.5)
    assert found.parameters["b"].interval == pytest.approx(
        [b - 2.7764451052 * sd / 17.5**0.5, b + 2.7764451052 * sd / 17.5**0.5]
    )
    assert found.r_squared == pytest.approx(1 - rss / np.sum((y - y.mean()) ** 2))
    assert found.aic == pytest.approx(6 * (np.log(2 * np.pi * rss / 6) + 1) + 6)
    assert found.converged and found.dof == 4 and found.rank == 2


def test_weights_are_relative_and_sigmas_absolute() -> None:
    data = {"x": [1.0, 2, 3, 4], "y": [1.0, 2.2, 2.8, 4.1], "s": [0.1, 0.2, 0.1, 0.2]}
    data["w"] = [1 / s**2 for s in data["s"]]
    data["v"] = [7 * w for w in data["w"]]
    start = {"a": 0.0, "b": 0.0}
    fits = [
        fit_to("y ~ a + b*x", data, start, sigma="s"),
        fit_to("y ~ a + b*x", data, start, weights="w"),
        fit_to("y ~ a + b*x", data, start, weights="v"),
    ]
    for name in ("a", "b"):
        values = [one.parameters[name].value for one in fits]
        assert values == pytest.approx([values[0]] * 3, rel=1e-12)
        sigma, weight, other = (one.parameters[name].error for one in fits)
        assert weight == pytest.approx(other)
        assert sigma is not None and fits[0].residual_sd is not None
        assert weight == pytest.approx(sigma * fits[0].residual_sd)


def test_a_bound_holds_a_parameter_and_the_others_fit() -> None:
    model, data = "y ~ b1*(1 - exp(-b2*x))", SETS["Misra1a"]["data"]
    found = fit_to(model, data, {"b1": 200, "b2": 1e-4}, bounds={"b1": "0:230"})
    held = fit_to(model, data, {"b2": 1e-4}, fix={"b1": 230})
    assert found.parameters["b1"].held == "bound" and found.parameters["b1"].value == 230
    assert found.parameters["b2"] == held.parameters["b2"] and found.converged


def test_a_bound_holds_no_more_parameters_than_it_has_to() -> None:
    data = {"u": [1, 0.1, 0], "v": [1, -0.1, 0], "y": [10, 2, 0]}
    bounds = {"a": (-50, 12), "b": (-4, 50)}  # without bounds a is 15, and b -5
    found = exprgrad.fit("y ~ a*u + b*v", data, a=5, b=1, bounds=bounds)
    assert found.converged and found.parameters["a"].held == "bound"
    assert found.parameters["b"].value == pytest.approx(-2.08 / 1.01, rel=1e-14)
    bounds = {"a": (-50, 2), "b": (-50, 1)}
    found = exprgrad.fit("y ~ a*u + b*v", data, a=0, b=0, bounds=bounds)
    assert [one.held for one in found.parameters.values()] == ["bound", "bound"]
    assert found.converged and "every parameter" in found.reason


def test_a_line_through_two_points_has_values_and_no_errors() -> None:
    found = exprgrad.fit("y ~ a*x + b", {"x": [0, 1], "y": [1, 3]}, a=0, b=0)
    lines = str(found).splitlines()
    assert lines[1].split() == ["a", "2", "unknown"] and lines[2].split() == ["b", "1", "unknown"]


def test_responses_that_are_all_0_are_met_by_parameters_of_0() -> None:
    data = {"x": [0, 1, 2, 3], "y": [0, 0, 0, 0]}
    found = exprgrad.fit("y ~ a*x + b", data, a=1, b=1)
    assert found.converged and found.cost == 0
    assert [one.value for one in found.parameters.values()] == [0, 0]
    assert "correlation" not in str(found)
    found = exprgrad.fit("y ~ a*exp(-b*x)", data, a=1, b=1)
    assert found.parameters["a"].value == 0 and not found.converged
    assert found.reason == "the data do not determine b: near this point it has no effect"
    found = exprgrad.fit("y ~ a*x + b", data, a=1, b=1, bounds={"a": (0.5, 1)})
    assert found.converged and found.parameters["a"].held == "bound"


@pytest.mark.slow
@together([(a, b) for a in (0.1, 0.3, 1, 3, 7, -2, 1e5) for b in (0.1, 0.5, 1, 3, -1, 0, 10)])
def test_responses_that_are_all_0_are_met_from_anywhere(a: float, b: float) -> None:
    data = {"x": [0, 1, 2, 3], "y": [0, 0, 0, 0]}
    found = exprgrad.fit("y ~ a*exp(-b*x)", data, a=a, b=b)
    assert found.parameters["a"].value == 0 == found.cost and not found.converged
    assert found.reason == "the data do not determine b: near this point it has no effect"


@pytest.mark.slow
@together([-20, -30, -40, -45, -50, -55, -60, -80, -100, -120])
def test_what_rounding_hides_has_not_converged(k: float) -> None:
    """A search from so far may end anywhere: either where the data come from, or with a warning."""
    x = [0.5 * i for i in range(12)]
    data = {"x": x, "y": [2.5 * 0.5**t + 0.3 for t in x]}
    found = exprgrad.fit("y ~ a*exp(-k*x) + c", data, a=1, k=k, c=0)
    values = [one.value for one in found.parameters.values()]
    assert not found.converged or values == pytest.approx([2.5, np.log(2), 0.3], rel=1e-12)


def test_what_the_data_leave_open_is_said() -> None:
    data = {"x": [1.0, 2, 3, 4], "y": [1.0, 2.2, 2.8, 4.1]}
    found = fit_to("y ~ a*b*x + c", data, {"a": 1, "b": 3, "c": 0})
    assert not found.converged and found.rank == 2
    assert (
        found.reason == "the data do not determine a and b: together they move without any effect"
    )
    (way,) = found.open
    a, b = found.parameters["a"].value, found.parameters["b"].value
    assert way["a"] * b + way["b"] * a == pytest.approx(0) and way["c"] == 0
    assert found.parameters["a"].error is None and found.parameters["c"].error is not None


def test_outliers_count_for_less() -> None:
    x = np.linspace(0, 10, 40)
    y = 2 + 3 * x + 0.1 * np.cos(17 * x)
    y[[5, 20, 33]] += [40, -60, 80]
    plain = fit_to("y ~ a + b*x", {"x": x, "y": y}, {"a": 0, "b": 0})
    for loss in ("huber", "soft_l1", "cauchy"):
        found = fit_to("y ~ a + b*x", {"x": x, "y": y}, {"a": 0, "b": 0}, loss=loss, loss_scale=0.2)
        assert found.converged and abs(found.parameters["b"].value - 3) < 0.01
        error, wide = found.parameters["b"].error, plain.parameters["b"].error
        assert error is not None and wide is not None and error < wide / 10


def test_further_starts_find_a_better_minimum() -> None:
    x = np.linspace(0, 10, 60)
    data = {"x": x, "y": np.sin(3 * x)}
    alone = fit_to("y ~ sin(k*x)", data, {"k": 1.2})
    many = fit_to("y ~ sin(k*x)", data, {"k": 1.2}, starts=30, seed=1)
    assert alone.cost > 1 and many.cost < 1e-20
    assert many.parameters["k"].value == pytest.approx(3, rel=1e-12)
    assert many.starts.tried == 30 and 1 <= many.starts.led_here < 30


@pytest.mark.slow
@together([(w, seed) for w in (0.7, 2.0, 3.1, 7.3, 9.0) for seed in range(3)])
def test_further_starts_find_a_sine_of_another_frequency(w: float, seed: int) -> None:
    """The sum of squares is no greater than that of the sine the responses were made from."""
    x = np.linspace(0, 10, 101)
    truth, noise = 1.7 * np.sin(w * x + 0.4), 0.1 * np.random.default_rng(seed).normal(size=101)
    data, start = {"x": x, "y": truth + noise}, {"A": 1, "w": 5, "p": 0}
    found = fit_to("y ~ A*sin(w*x + p)", data, start, starts=20, seed=seed)
    assert found.converged and found.cost <= noise @ noise / 2
    assert abs(found.parameters["w"].value) == pytest.approx(w, rel=0.02)
    again = fit_to("y ~ A*sin(w*x + p)", data, start, starts=20, seed=seed)
    assert (again.parameters, again.starts) == (found.parameters, found.starts)


def test_rows_in_blocks_and_in_one_are_alike() -> None:
    """The triangle is that of all rows, however they come."""
    from exprgrad.derive.parsed import parse_and_derive
    from exprgrad.solvers.fit.least_squares import Columns, least_squares_problem

    x = np.linspace(0, 4, 1000)
    y = 3 * np.exp(-0.7 * x) + 0.01 * np.sin(99 * x)
    residual = parse_and_derive("y - a*exp(-k*x)")
    whole = least_squares_problem(
        residual, 0, "yx", "ak", {}, lambda: iter([Columns([y, x])]), 1000
    )
    parts = [Columns([y[at : at + 7], x[at : at + 7]]) for at in range(0, 1000, 7)]
    pieces = least_squares_problem(residual, 0, "yx", "ak", {}, lambda: iter(parts), 1000)
    one, other = (p.linearized(np.array([2.5, 0.5])) for p in (whole, pieces))
    assert one is not None and other is not None
    assert one.cost == pytest.approx(other.cost, rel=1e-13)
    assert np.abs(one.factor) == pytest.approx(np.abs(other.factor), rel=1e-12)


def check_profile_is_interval(one: Estimate) -> None:
    """A profile of a linear model rises in a straight line, so its ends are off by a part of the width."""
    assert one.interval is not None
    low, high = one.interval
    assert one.profile == pytest.approx((low, high), rel=0, abs=MET * (high - low) / 2)


def test_profiles_of_a_linear_model_are_its_intervals() -> None:
    data = {"x": [1.0, 2, 3, 4, 5], "y": [1.0, 2.2, 2.8, 4.1, 4.9]}
    for sigma in (None, "x"):
        found = fit_to("y ~ a + b*x", data, {"a": 0, "b": 1}, profile=True, sigma=sigma)
        for one in found.parameters.values():
            check_profile_is_interval(one)
        assert found.linear


def test_where_nothing_is_left_a_profile_is_the_interval() -> None:
    x = np.arange(8.0)
    for y in (2 + 3 * x, 0 * x + 1):
        found = fit_to("y ~ a + b*x", {"x": x, "y": y}, {"a": 2, "b": 3}, profile=True)
        assert found.converged and found.profiled
        for one, true in zip(found.parameters.values(), (y[0], y[1] - y[0]), strict=True):
            assert one.profile == one.interval == pytest.approx((true, true), abs=1e-14)


def test_a_profile_is_one_of_what_the_data_determine() -> None:
    data = {"x": [1.0, 2, 3, 4, 5], "y": [1.0, 2.2, 2.8, 4.1, 4.9]}
    start = {"a": 1, "b": 1, "c": 2}
    found = fit_to("y ~ a + b*x + log(c)", data, start, profile=True).parameters
    assert found["a"].profile is None is found["c"].profile
    check_profile_is_interval(found["b"])
    line = {name: column[:2] for name, column in data.items()}
    through = fit_to("y ~ a + b*x", line, {"a": 0, "b": 1}, profile=True)
    assert through.residual_sd is None and through.parameters["a"].profile is None


def test_profiles_follow_the_sum_of_squares() -> None:
    """At each end it has risen by the square of Student's t times the residual variance."""
    found = fit_of("BoxBOD", "start2", profile=True)
    t = 2.7764451051977987
    for name in ("b1", "b2"):
        ends = found.parameters[name].profile
        assert ends is not None and found.residual_sd is not None
        for at in ends:
            if at < np.inf:
                held = fit_of("BoxBOD", "start2", fix={name: at})
                rise = 2 * (held.cost - found.cost) / found.residual_sd**2
                assert rise == pytest.approx(t**2, rel=2 * MET)  # twice, for it is the square


def test_a_profile_that_meets_a_lower_minimum_says_so() -> None:
    x = np.linspace(0, 3, 30)
    data = {"x": x, "y": np.sin(4 * x)}
    found = fit_to("y ~ a*sin(k*x)", data, {"a": 1, "k": 9.5}, profile=True)
    assert not found.converged and "lower elsewhere: start nearer to" in found.reason


def test_formulas_have_fits() -> None:
    data = {"x": [1.0, 2, 3, 4], "y": [1.0, 2.2, 2.8, 4.1]}
    straight = exprgrad.fit("y ~ a + b*x", data, a=0, b=1)
    texts = [
        "a + b*x",
        "(a + b*x)",
        "((a)) + b*x",
        "k = b*x; a + k",
        "k = b*x; z = a + k;",
        "k = b*x\n(a + k)",
    ]
    for text in texts:
        found = exprgrad.parse(text).fit("y", data, {"a": 0}, b=1)
        assert found.parameters["b"].value == pytest.approx(straight.parameters["b"].value)
    assert str(straight).splitlines()[0].split()[0] == "parameter"
    assert "<table>" in straight._repr_html_()


def test_over_several_columns_responses_are_drawn_over_the_models_values() -> None:
    data = {"x": [1.0, 2, 3, 4], "z": [1.0, 0, 1, 2], "y": [1.0, 2, 2.5, 5]}
    drawn = fit_curve(fit_to("y ~ a*x + b*z", data, {"a": 1, "b": 1}))
    assert drawn.column == "" and drawn.low is None
    assert drawn.places == drawn.values == [min(drawn.x), max(drawn.x)]
    assert np.subtract(drawn.y, drawn.x) == pytest.approx(drawn.residuals)


def test_without_degrees_of_freedom_no_band_is_drawn() -> None:
    drawn = fit_curve(fit_to("y ~ a*x + b", {"x": [0.0, 1], "y": [1.0, 3]}, {"a": 1, "b": 0}))
    assert (drawn.column, drawn.low, drawn.high) == ("x", None, None)
    assert drawn.values[0] == pytest.approx(1) and drawn.values[-1] == pytest.approx(3)


BELL = "y ~ A*exp(-(x - mu)^2/(2*sigma^2))"


def test_a_number_for_an_option_that_the_model_reads_is_a_start() -> None:
    x = np.linspace(-2, 6, 40)
    data = {"x": x, "y": 3 * np.exp(-((x - 2.5) ** 2) / (2 * 0.8**2)), "s": np.full(40, 0.1)}
    named = exprgrad.fit(BELL, data, A=1, mu=3, sigma=1.0)
    mapped = exprgrad.fit(BELL, data, {"A": 1, "mu": 3, "sigma": 1.0}, sigma="s")
    assert named.parameters["sigma"].value == pytest.approx(0.8)
    assert mapped.parameters["sigma"].value == pytest.approx(0.8)
    level = BELL.replace("A", "level")
    found = exprgrad.fit(level, data, {"level": 1}, mu=3, sigma=1.0, level=0.95)
    assert found.parameters["level"].value == pytest.approx(3)
    with pytest.raises(InputError, match="option of fit and a parameter") as caught:
        exprgrad.fit(level, data, level=1, mu=3, sigma=1.0)
    assert "{'level': 1}" in str(caught.value.help)


def test_an_estimate_correlates_with_itself_by_1_and_one_that_is_open_with_none() -> None:
    found = exprgrad.fit("y ~ a*exp(-b*x)", {"x": [0, 1, 2, 3], "y": [4, 2.1, 0.9, 0.6]}, a=3, b=1)
    assert np.array_equal(np.diag(found.correlation), [1.0, 1.0])
    assert -1 < found.correlation[0, 1] == found.correlation[1, 0] < 1
    level = exprgrad.fit("y ~ a*exp(-b*x)", {"x": [0, 1, 2], "y": [0, 0, 0]}, a=1, b=1)
    assert np.isnan(level.correlation[1]).all() and np.isnan(level.correlation[:, 1]).all()
