"""Minima: verdicts on formulas whose minima are known, and points right to the last digits."""

from __future__ import annotations

import math
from typing import Any

import pytest

from exprgrad import InputError, parse

MINIMA: list[tuple[str, dict[str, Any], dict[str, float]]] = [
    ("(x-1)^2", {"x": 5}, {"x": 1}),
    ("x^2+y^4-y^2", {"x": 0, "y": 0}, {"x": 0, "y": -math.sqrt(0.5)}),
    ("x*log(x)", {"x": 1}, {"x": math.exp(-1)}),
    ("cosh(x)", {"x": 30}, {"x": 0}),
    ("sin(x)", {"x": 0}, {"x": -math.pi / 2}),
    ("sin(x)", {"x": math.pi / 2}, {"x": -math.pi / 2}),
    ("-exp(-x^2)", {"x": 30}, {"x": 0}),
    ("1e300*(x-1)^2", {"x": 2}, {"x": 1}),
    ("1e-300*(x-1)^2", {"x": 2}, {"x": 1}),
    ("(x-1e-300)^2*1e300", {"x": 1}, {"x": 1e-300}),
    ("(1-x)^2 + 100*(y-x^2)^2", {"x": -1.2, "y": 1}, {"x": 1, "y": 1}),
    ("(1-x)^2 + 100*(y-x^2)^2", {"x": -120, "y": 100}, {"x": 1, "y": 1}),
    ("x - log(x)", {"x": 1e-8}, {"x": 1}),
    ("exp(x) - 3*x", {"x": 0}, {"x": math.log(3)}),
    ("lgamma(x)", {"x": 3}, {"x": 1.4616321449683622}),
]
OTHERS: list[tuple[str, dict[str, Any], str, str]] = [
    ("x^4", {"x": 1}, "flat", "rises on both sides"),
    ("x^6", {"x": 1}, "flat", "rises on both sides"),
    ("x^4-4*x^3+6*x^2-4*x+1", {"x": 3}, "flat", "rises on both sides"),
    ("(x+y)^2", {"x": 1, "y": 3}, "flat", "-0.707*x + 0.707*y; there the value stays the same"),
    ("2+0*x", {"x": 0}, "flat", "stays the same"),
    ("x^3", {"x": 1}, "unbounded", "falls to -inf along -x"),
    ("x^3", {"x": 0}, "unbounded", "falls to -inf along -x"),
    ("x^3-3*x^2+3*x-1", {"x": 3}, "unbounded", "falls to -inf along -x"),
    ("x", {"x": 0}, "unbounded", "falls to -inf along -x"),
    ("x^2-y^2", {"x": 0, "y": 0}, "unbounded", "falls to -inf along -y"),
    ("exp(x)", {"x": 1}, "unbounded", "for ever along -x, towards 0"),
    ("exp(x)+1", {"x": 1}, "unbounded", "for ever along -x, towards 1"),
    ("atan(x)", {"x": 1}, "unbounded", "for ever along -x, towards -1.5708"),
    ("log(1+exp(-x))", {"x": 0}, "unbounded", "for ever along x, towards 0"),
    ("exp(-x^2)", {"x": 1}, "unbounded", "for ever along x, towards 0"),
    ("-log(x)", {"x": 1}, "unbounded", "as far as doubles go"),
    ("log(x)", {"x": 1}, "unbounded", "falls to -inf near x = 0"),
    ("1/x", {"x": -1}, "unbounded", "falls to -inf near x = "),
    ("log(x)", {"x": -1}, "not converged", "the value is not finite at the start"),
    ("(x-1e300)^2/1e300", {"x": 1}, "not converged", "the value is not finite at the start"),
]


@pytest.mark.parametrize(("formula", "start", "point"), MINIMA)
def test_a_minimum_is_found_to_the_last_digits(
    formula: str, start: dict[str, Any], point: dict[str, float]
) -> None:
    found = parse(formula).minimize(start)
    assert found.verdict == "minimum", found.message
    assert found.point == pytest.approx(point, rel=4e-16, abs=1e-300)
    assert found.curvature is not None and found.curvature[0] > 0


@pytest.mark.parametrize(("formula", "start", "verdict", "words"), OTHERS)
def test_what_is_no_minimum_is_said(
    formula: str, start: dict[str, Any], verdict: str, words: str
) -> None:
    found = parse(formula).minimize(start)
    assert (found.verdict, words in found.message) == (verdict, True), found.message


def test_a_maximum_is_the_minimum_of_the_negative() -> None:
    found = parse("x*exp(-x)").minimize(x=0, maximize=True)
    assert (found.verdict, found.point) == ("maximum", {"x": 1.0})
    assert found.value == math.exp(-1) and found.curvature is not None and found.curvature[1] < 0


def test_bounds_hold_numbers() -> None:
    found = parse("sum((w - [1, 2, 3])^2)").minimize(w=[0, 0, 0], bounds={"w": (-1, 2.5)})
    assert found.verdict == "minimum" and found.point["w"].tolist() == [1, 2, 2.5]
    with pytest.raises(InputError, match="does not move"):
        parse("x*y").minimize(x=1, y=1, wrt=["x"], bounds={"y": (0, 1)})


def test_the_start_is_judged() -> None:
    found = parse("x^2 - y^2").minimize(x=0, y=0, steps=0)
    assert found.verdict == "saddle" and found.direction is not None
    assert abs(found.direction["y"]) == 1 and found.counts.value == 0
