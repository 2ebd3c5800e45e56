"""What values come to, going by a few of them nearer and nearer to a point."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest

from exprgrad.solvers.curves.breaks import extrapolate_limit

STEPS = [1e-1, 1e-2, 1e-3, 1e-4]
INF = math.inf
FUNCTIONS: dict[str, tuple[Callable[[float], float], Callable[[float], float], float]] = {
    "a pole": (lambda x: 1 / x, lambda x: -1 / x**2, INF),
    "a pole below": (lambda x: -1 / x, lambda x: 1 / x**2, -INF),
    "a logarithm": (math.log, lambda x: 1 / x, -INF),
    "a line": (lambda x: 2 + 3 * x, lambda x: 3.0, 2.0),
    "a line to 0": (lambda x: 3 * x, lambda x: 3.0, 0.0),
    "what grows, and by less and less": (
        lambda x: 1 - x**0.5,
        lambda x: -0.5 * x**-0.5,
        1 - STEPS[-1] ** 0.5,
    ),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_limits_of_values_with_slopes(name: str) -> None:
    value, slope, wanted = FUNCTIONS[name]
    values, slopes = ([f(x) for x in STEPS] for f in (value, slope))
    assert extrapolate_limit(values, slopes, STEPS, math.nan) == pytest.approx(wanted, rel=1e-12)


def test_slopes_that_turn_lead_nowhere() -> None:
    values, slopes = [10.0, 100.0, 1000.0], [-1e2, 1e4, -1e6]
    assert extrapolate_limit(values, slopes, STEPS[:3], math.nan) == 1000.0


@pytest.mark.parametrize(
    ("values", "wanted"),
    [
        ([1.0, 3.0, 9.0], INF),
        ([-1.0, -3.0, -9.0], -INF),
        ([1.0, 2.0, 4.0], 4.0),
        ([9.0, 3.0, 1.0], 1.0),
        ([3.0, 9.0], 9.0),
        ([1.0, 3.0, math.nan], math.nan),
    ],
)
def test_without_slopes_values_have_to_double(values: list[float], wanted: float) -> None:
    assert extrapolate_limit(values, None, STEPS[: len(values)], math.nan) == pytest.approx(
        wanted, nan_ok=True
    )


def test_what_doubles_say_at_the_end_counts_where_values_come_near() -> None:
    assert extrapolate_limit([1.0, 0.9, 0.85], None, STEPS[:3], 0.83) == 0.83
    assert extrapolate_limit([1.0, 0.9, 0.85], None, STEPS[:3], 5.0) == 0.85
    assert extrapolate_limit([1.0], None, STEPS[:1], 0.83) == 0.83
