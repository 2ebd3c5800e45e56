"""Verdicts on 68 searches for a minimum, each held to values in 60 digits.

Where they end was worked out by hand.  A claim that a point is a minimum is false if values around it, in
mpmath, are lower; that nothing goes down, or that values stay the same, likewise.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import mpmath
import numpy as np
import pytest

from exprgrad import parse
from exprgrad.solvers.minima.minimize import Minimum

Q, R, T = 0.25, math.sqrt(2 / 3), math.sqrt(0.005)
CASES: list[tuple[str, dict[str, float], str, list[tuple[float, ...]]]] = [
    # Kinks from which a way leads down along the kink itself, or between two of them.
    ("abs(y - x^2) - y^2", {"x": 0, "y": 0}, "unbounded", []),
    ("abs(x) - 0.5*abs(y)", {"x": 1, "y": 0}, "unbounded", []),
    ("abs(x) - 2*abs(y) + y^2", {"x": 1, "y": 0}, "minimum kink", [(0, 1), (0, -1)]),
    ("abs(x + y) - 0.1*abs(x - y)", {"x": 1, "y": 1}, "unbounded", []),
    ("abs(y - x^2) - x^4 + x^6", {"x": 0, "y": 0}, "kink", [(-R, 2 / 3), (R, 2 / 3)]),
    ("abs(y - x^2) - 0.01*x^2 + x^4", {"x": 0, "y": 0}, "kink", [(-T, 0.005), (T, 0.005)]),
    ("abs(x) + abs(y) - 3*min(x, y)", {"x": 0, "y": 0}, "unbounded", []),
    ("max(x, y) - 0.6*x - 0.6*y", {"x": 1, "y": 2}, "unbounded", []),
    ("abs(x) + abs(y) - 1.5*abs(x+y) + x^2 + y^2", {"x": 0, "y": 0}, "minimum", [(Q, Q), (-Q, -Q)]),
    ("abs(x - y) - x*y + x^4 + y^4", {"x": 0, "y": 0}, "kink", [(0.5, 0.5), (-0.5, -0.5)]),
    ("abs(x)*abs(y) - x^2*y^2", {"x": 0, "y": 0}, "unbounded kink", []),
    ("relu(x) - 0.5*relu(-y) + y^2", {"x": 1, "y": 0}, "kink minimum flat", []),
    # Kinks along which the value is level.
    ("abs(x)*y^2", {"x": 0, "y": 1}, "kink flat", []),
    ("abs(x*y)", {"x": 1, "y": 0}, "kink flat", []),
    ("abs(x) + 0*y", {"x": 1, "y": 2}, "kink flat", []),
    ("max(x, y, 0)", {"x": 1, "y": 2}, "kink flat", []),
    ("abs(x - y)", {"x": 1, "y": 2}, "kink flat", []),
    ("abs(y - x^2)", {"x": 1, "y": 3}, "kink flat", []),
    # Kinks that are minima.
    ("abs(x) + abs(y) + abs(x - y)", {"x": 3, "y": -2}, "kink", [(0, 0)]),
    ("abs(y - x^2) + x^4", {"x": 0, "y": 0}, "kink", [(0, 0)]),
    ("abs(y - x^2) + 0.1*x^2", {"x": 2, "y": 1}, "kink", [(0, 0)]),
    ("10*abs(y - x^2) + abs(1 - x)", {"x": -1.2, "y": 1}, "kink", [(1, 1)]),
    ("max(x^2 + y^2, (x - 2)^2 + y^2)", {"x": 5, "y": 3}, "kink", [(1, 0)]),
    ("abs(x) + (y - x)^2", {"x": 2, "y": -1}, "kink", [(0, 0)]),
    ("abs(x) + abs(x)^3", {"x": 2}, "kink", [(0,)]),
    ("abs(x^2 - 1)", {"x": 3}, "kink", [(1,), (-1,)]),
    ("abs(x - 1) + abs(x + 1)", {"x": 3}, "kink flat", []),
    ("max(x, -2*x)", {"x": 3}, "kink", [(0,)]),
    ("sqrt(abs(x))", {"x": 2}, "kink", [(0,)]),
    ("abs(sin(x))", {"x": 1}, "kink", [(0,)]),
    # What falls for ever, towards a value or not.
    ("1/x", {"x": 1}, "unbounded", []),
    ("x^2*exp(-x)", {"x": 5}, "unbounded", []),
    ("x^3*exp(-x)", {"x": 4}, "unbounded", []),
    ("x^30*exp(-x)", {"x": 40}, "unbounded", []),
    ("1/x^2", {"x": 1}, "unbounded", []),
    ("1/x + 1/y", {"x": 1, "y": 2}, "unbounded", []),
    ("1/(1 + x^2)", {"x": 1}, "unbounded", []),
    ("1/(1 + x^4)", {"x": 0.5}, "unbounded", []),
    ("1/log(x)", {"x": 2}, "unbounded", []),
    ("log(x)/x", {"x": 5}, "unbounded", []),
    ("x*exp(-x^2)", {"x": 2}, "unbounded", []),
    ("exp(-x)*(2 + sin(x))", {"x": 0}, "unbounded", []),
    ("1/cosh(x)", {"x": 0.5}, "unbounded", []),
    ("erfc(x)", {"x": 1}, "unbounded", []),
    ("-x - y", {"x": 0, "y": 0}, "unbounded", []),
    ("x - exp(x)", {"x": 1}, "unbounded", []),
    # What falls for ever beside a number that has its minimum, or along a kink.
    ("y^2 + exp(-x)", {"x": 1, "y": 1}, "unbounded", []),
    ("y^2 + 1/x", {"x": 1, "y": 1}, "unbounded", []),
    ("y^2 - tanh(x)", {"x": 1, "y": 1}, "unbounded", []),
    ("1/(x^2 + 1) + y^2", {"x": 1, "y": 1}, "unbounded", []),
    ("exp(-x^2) + (y - x)^2", {"x": 1, "y": 1}, "unbounded", []),
    ("abs(y - x^2) - 0.2*y", {"x": 1, "y": 0}, "unbounded not-converged kink", []),
    ("abs(y - x^2) - 2*y", {"x": 1, "y": 0}, "unbounded not-converged", []),
    ("max(abs(x), abs(y)) - 0.3*(x + y)", {"x": 2, "y": -1}, "kink", [(0, 0)]),
    # Saddles, and flat places.
    ("x^2 - y^4", {"x": 1, "y": 0}, "unbounded", []),
    ("x*y", {"x": 0, "y": 0}, "unbounded", []),
    ("x^3 - 3*x*y^2", {"x": 0, "y": 0}, "saddle flat unbounded", []),
    ("x^4 + y^4 - 4*x*y", {"x": 0, "y": 0}, "minimum", [(1, 1), (-1, -1)]),
    ("(y - x^2)*(y - 3*x^2)", {"x": 0, "y": 0}, "unbounded flat", []),
    ("x^8", {"x": 1}, "flat", [(0,)]),
    ("(x*y - 1)^2", {"x": 3, "y": 2}, "flat", []),
    ("x^2*y^2", {"x": 1, "y": 2}, "flat", []),
    # Noise.
    ("(1 - cos(x))/x^2", {"x": 1e-7}, "minimum flat", [(2*math.pi*k,) for k in range(-9, 10) if k]),
    ("(exp(x) - 1 - x)/x^2", {"x": 1e-8}, "unbounded not-converged", []),
    ("sqrt(x^2 + 1e20) - 1e10", {"x": 1e3}, "minimum", [(0,)]),
    ("(x - 1)^2 + 1e16", {"x": 1.1}, "minimum", [(1,)]),
    ("(1e8 + x)^2 - 1e16 - 2e8*x", {"x": 1}, "minimum flat", [(0,)]),
    ("log(1 + x^2*1e-20)", {"x": 5}, "minimum flat", [(0,)]),
]  # fmt: skip
LEVEL = [
    ("(x+y)^2", "xy"), ("(x-y)^4", "xy"), ("(x+y)^2 + 1", "xy"), ("cosh(x-y)", "xy"),
    ("(0.1*x + 0.3*y - 0.7)^2", "xy"), ("(x+2*y-3*z+0.1)^2 + (x-y)^2", "xyz"), ("(0.3*x-0.1*y)^6", "xy"),
    ("sum(w)^2", "w"), ("(w[0]-w[1])^4", "w"), ("sum((w - mean(w))^2)", "w"),
]  # fmt: skip
"""Formulas that are least, and level, along a line or a plane; and their inputs."""
REACHES = (1e-2, 1e-3, 1e-4)
WAYS = 64
ROUNDED = 1e-14
"""What half an ulp of a point may make of its value."""


def ways(count: int) -> Iterator[list[float]]:
    """Directions all around: both ways along a line, or on a circle."""
    if count == 1:
        yield from ([1.0], [-1.0])
    else:
        for k in range(WAYS):
            yield [math.cos(2 * math.pi * k / WAYS), math.sin(2 * math.pi * k / WAYS)]


def true_value(formula: str, point: dict[str, Any]) -> Any:
    """The value in 60 digits, as mpmath has it."""
    names = {
        name: getattr(mpmath, name)
        for name in ("exp", "log", "sin", "cos", "sqrt", "cosh", "erfc", "tanh")
    }
    names |= {"abs": abs, "max": max, "min": min, "relu": lambda x: max(x, mpmath.mpf(0))}
    return eval(formula.replace("^", "**"), names, point)


def rises_around(formula: str, found: Minimum[Any]) -> Iterator[Any]:
    """How much the value rises from a point to others, on circles and along a kink's curve."""
    size = max(1.0, *map(abs, found.point.values()))
    here = {name: mpmath.mpf(x) for name, x in found.point.items()}
    least = true_value(formula, here)
    for reach in REACHES:
        for way in ways(len(here)):
            moved = {n: x + reach * size * w for (n, x), w in zip(here.items(), way, strict=True)}
            beside = [moved]
            if "y - x^2" in formula:
                beside.append(moved | {"y": moved["x"] ** 2})
            yield from (true_value(formula, each) - least for each in beside)


def change_along(formula: str, found: Minimum[Any], reach: float) -> Any:
    """By how much the value changes along the direction that was found."""
    assert found.direction is not None
    here = {name: mpmath.mpf(x) for name, x in found.point.items()}
    size = max(1, *map(abs, here.values()))
    there = {name: x + reach * size * found.direction[name] for name, x in here.items()}
    return true_value(formula, there) - true_value(formula, here)


@pytest.mark.parametrize(("formula", "names"), LEVEL)
def test_what_is_level_does_not_fall_for_ever(formula: str, names: str) -> None:
    random = np.random.default_rng(26)
    for digits in (0, 1, 3, 15):
        numbers = random.uniform(-5, 5, (len(names), 2)).round(digits)
        start = {n: pair if n == "w" else pair[0] for n, pair in zip(names, numbers, strict=True)}
        found = parse(formula).minimize(start)
        assert found.verdict in ("flat", "minimum", "not converged"), (start, found.message)


@pytest.mark.parametrize(("formula", "start", "verdicts", "minima"), CASES)
def test_no_verdict_is_wrong(
    formula: str, start: dict[str, float], verdicts: str, minima: list[tuple[float, ...]]
) -> None:
    found = parse(formula).minimize(start)
    assert found.verdict.replace(" ", "-") in verdicts.split(), found.message
    at = [found.point[name] for name in start]
    if found.is_found:
        assert any(at == pytest.approx(each, rel=1e-9, abs=1e-15) for each in minima), found.message
    with mpmath.workdps(60):
        if found.is_found or "no way leads down" in found.message:
            assert min(rises_around(formula, found)) >= -ROUNDED, found.message
        if "up along them" in found.message:
            assert min(rises_around(formula, found)) >= 0, found.message
        if "but some are level" in found.message:
            assert min(map(abs, rises_around(formula, found))) < ROUNDED, found.message
        if "stays the same" in found.message:
            assert abs(change_along(formula, found, 0.01)) < ROUNDED, found.message
        if found.verdict == "unbounded":
            assert change_along(formula, found, 1e3) < 0
