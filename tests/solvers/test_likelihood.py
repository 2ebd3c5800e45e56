"""Likelihoods over rows: against closed forms, and what is said where there is none."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import exprgrad
from exprgrad.api.fits import Fitted
from exprgrad.solvers.fit import fit
from fits import SETS

pytest.importorskip("scipy", reason="pip install 'exprgrad[fit]'")

TIMES = [0.3, 1.7, 0.9, 2.2, 0.1, 4.0, 0.7, 1.1]


def close(found: Fitted, name: str, value: float, error: float) -> None:
    """An estimate and its error are these, to all but the last few digits."""
    one = found.parameters[name]
    assert one.value == pytest.approx(value, rel=1e-13)
    assert one.error == pytest.approx(error, rel=1e-10)
    assert found.converged


@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e12])
def test_an_exponential_distribution(scale: float) -> None:
    """The rate is 1 over the mean, and its error a share of 1 over the root of the count."""
    times = [time * scale for time in TIMES]
    rate = len(times) / sum(times)
    found = exprgrad.fit("r*t - log(r)", {"t": times}, r=0.4 / scale, objective=True)
    close(found, "r", rate, rate / len(times) ** 0.5)
    assert found.cost == pytest.approx(len(times) * (1 - np.log(rate)))
    assert found.aic == pytest.approx(2 * found.cost + 2)


def test_poisson_counts_of_two_groups() -> None:
    """With a parameter for each group the rates are the groups' means."""
    group, count = [0, 0, 0, 1, 1, 1, 1], [3, 1, 2, 7, 9, 6, 8]
    found = exprgrad.fit(
        "exp(a + b*g) - k*(a + b*g)", {"g": group, "k": count}, a=0, b=0, objective=True
    )
    close(found, "a", np.log(2), (1 / 6) ** 0.5)
    close(found, "b", np.log(7.5 / 2), (1 / 6 + 1 / 30) ** 0.5)


def test_normal_residuals_give_the_estimates_of_least_squares() -> None:
    one = SETS["Misra1a"]
    squares = exprgrad.fit(f"y ~ {one['model']}", one["data"], b1=250, b2=5e-4)
    text = f"log(s) + (y - {one['model']})^2/(2*s^2)"
    found = exprgrad.fit(text, one["data"], b1=250, b2=5e-4, s=1, objective=True)
    for name in ("b1", "b2"):
        assert found.parameters[name].value == pytest.approx(squares.parameters[name].value)
    assert found.parameters["s"].value == pytest.approx((2 * squares.cost / 14) ** 0.5, rel=1e-12)


def test_bounds_and_parameters_that_are_held() -> None:
    rate = len(TIMES) / sum(TIMES)
    found = exprgrad.fit(
        "r*t - log(r)", {"t": TIMES}, r=0.1, objective=True, bounds={"r": (0, 0.2)}
    )
    assert found.parameters["r"].value == 0.2 and found.parameters["r"].held == "bound"
    text = "lgamma(k) - k*log(r) - (k - 1)*log(t) + r*t"
    held = exprgrad.fit(text, {"t": TIMES}, r=1, objective=True, fix={"k": 1})
    close(held, "r", rate, rate / len(TIMES) ** 0.5)


def test_what_has_no_minimum_is_no_fit() -> None:
    data = {"t": TIMES}
    endless = exprgrad.fit("a*t", data, a=1, objective=True)
    assert not endless.converged and "has no minimum" in endless.reason and endless.aic is None
    flat = exprgrad.fit("(a + b - t)^2", data, a=1, b=1, objective=True)
    assert not flat.converged and "do not determine" in flat.reason
    (way,) = flat.open
    assert way["a"] == -way["b"]


def test_what_has_no_room_beside_an_objective() -> None:
    data = {"t": TIMES}
    for options in ({"sigma": "t"}, {"weights": "t"}, {"loss": "huber"}, {"profile": True}):
        with pytest.raises(exprgrad.RequestError, match="cannot be combined"):
            exprgrad.fit("(a - t)^2", data, {"a": 1}, objective=True, **options)


def test_without_scipy_that_is_said_before_the_search(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "scipy.special", None)
    monkeypatch.setattr(fit, "trust_region_search", lambda *_: pytest.fail("it searches"))
    with pytest.raises(exprgrad.ExprgradError, match="fits need SciPy"):
        exprgrad.fit("(y - a*x)^2", {"x": [1, 2], "y": [1, 3]}, a=1, objective=True)
