"""Sixty fits in other units: estimates and standard errors are those of the same fit, times the units.

Units are powers of 2, so that the data are the same numbers to the bit.  Estimates may differ in the digits
that rounding leaves, which a fit counts; standard errors have a digit less.
"""

from __future__ import annotations

import pickle
from typing import NamedTuple

import numpy as np
import pytest

import exprgrad
from exprgrad.solvers.fit.fit import fit_curve
from together import together

pytest.importorskip("scipy", reason="pip install 'exprgrad[fit]'")

X = np.linspace(0.25, 5, 20)
NOISE = np.random.default_rng(0).normal(size=20)


class Model(NamedTuple):
    """A model, its responses, and by parameter its start, and its powers of the units of y and x."""

    text: str
    y: list[float]
    starts: dict[str, tuple[float, int, int]]
    options: dict[str, str] = {}  # noqa: RUF012


MODELS = [
    Model("y ~ a + b*x", [*(2 + 3 * X + 0.1 * NOISE)], {"a": (1, 1, 0), "b": (1, 1, -1)}),
    Model(
        "y ~ a*exp(-k*x)",
        [*(2.5 * np.exp(-0.7 * X) + 0.05 * NOISE)],
        {"a": (1, 1, 0), "k": (1, 0, -1)},
    ),
    Model(
        "y ~ v*x/(k + x)", [*(3 * X / (1.2 + X) + 0.05 * NOISE)], {"v": (1, 1, 0), "k": (1, 0, 1)}
    ),
    Model(
        "y ~ a*exp(-((x - m)/w)^2) + c",
        [*(4 * np.exp(-(((X - 2) / 0.8) ** 2)) + 1 + 0.05 * NOISE)],
        {"a": (3, 1, 0), "m": (1.8, 0, 1), "w": (1, 0, 1), "c": (0, 1, 0)},
    ),
    Model(
        "y ~ a + b*x",
        [*(2 + 3 * X + 0.1 * NOISE)],
        {"a": (0, 1, 0), "b": (1, 1, -1)},
        {"sigma": "s"},
    ),
]
SCALES = [
    *((y, 0) for y in (-532, 532, -665, 665, -990, 990)),
    *((0, x) for x in (-532, 532, -665, 665)),
    *((-332, 332), (-600, -300)),
]
"""Exponents of the units of y and x: 1e±160, 1e±200 and 1e±298, and of both."""


def fitted(model: Model, y: int, x: int, *, far: bool = False) -> exprgrad.api.fits.Fitted:
    """A fit in these units, from starts in these units, or, from ``far``, without them."""
    spread = 0.1 + 0.1 * (np.arange(20) % 3)
    data = {
        "x": np.ldexp(X, x),
        "y": np.ldexp(np.array(model.y), y),
        "s": np.ldexp(spread, y),
    }
    starts = {
        name: start if far else float(np.ldexp(start, y * i + x * j))
        for name, (start, i, j) in model.starts.items()
    }
    return exprgrad.fit(model.text, data, starts, **model.options)  # type: ignore[arg-type]


def check_scaled(model: Model, y: int, x: int, *, far: bool = False) -> None:
    """Estimates and errors beside those without units; what has no unit is the same."""
    plain, found = fitted(model, 0, 0), fitted(model, y, x, far=far)
    assert plain.converged and found.converged, found.reason
    digits = [one.digits or 0 for one in plain.parameters.values()]
    assert min(digits) >= 12
    close = 10.0 ** (1 - min(digits))
    for name, (_, i, j) in model.starts.items():
        one, other = plain.parameters[name], found.parameters[name]
        power = -(y * i + x * j)
        assert np.ldexp(other.value, power) == pytest.approx(one.value, rel=10 ** -min(digits))
        assert other.error is not None
        assert np.ldexp(other.error, power) == pytest.approx(one.error, rel=close)
        assert other.interval is not None and one.interval is not None
        assert np.ldexp(other.interval, power) == pytest.approx(one.interval, rel=close)
    assert found.residual_sd is not None and plain.residual_sd is not None
    unit = 0 if model.options else -y
    assert np.ldexp(found.residual_sd, unit) == pytest.approx(plain.residual_sd, rel=close)
    assert found.r_squared == pytest.approx(plain.r_squared, rel=close)
    assert found.correlation == pytest.approx(plain.correlation, rel=close)
    assert found.aic is not None and plain.aic is not None
    rise = 2 * 20 * np.log(2) * y
    assert found.aic - rise == pytest.approx(plain.aic, rel=close, abs=close * (1 + abs(rise)))


CASES = [(model, y, x) for model in MODELS for y, x in SCALES]


def test_there_are_sixty() -> None:
    assert len(CASES) == 60


@pytest.mark.slow
@together(CASES)
def test_a_fit_in_other_units_is_the_same(model: Model, y: int, x: int) -> None:
    check_scaled(model, y, x)


@together([(y, x) for y, x in SCALES] + [(y, 0) for y in (-100, -60, -30, 30, 60, 100)])
def test_a_line_is_met_from_a_start_in_other_units(y: int, x: int) -> None:
    check_scaled(MODELS[0], y, x, far=True)


def test_a_picture_and_a_profile_in_other_units() -> None:
    line = MODELS[0]
    data = {"x": np.ldexp(X, 400), "y": np.ldexp(np.array(line.y), -400)}
    start = {"a": float(np.ldexp(1, -400)), "b": 0.0}
    found = exprgrad.fit(line.text, data, start, profile=True)
    for one in found.parameters.values():
        assert one.profile is not None and one.interval is not None
        assert one.profile == pytest.approx(one.interval, rel=1e-8)
    assert all(map(np.isfinite, fit_curve(found).low or [np.nan]))


def test_a_fit_is_pickled() -> None:
    found = exprgrad.fit("y ~ a + b*x", {"x": X, "y": MODELS[0].y}, a=1, b=1)
    again = pickle.loads(pickle.dumps(found))
    assert again.parameters == found.parameters and str(again) == str(found)
    assert again.drawn("svg", None) == found.drawn("svg", None)
