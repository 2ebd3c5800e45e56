"""Which rows surely keep their digits, without a look at each: no row that doesn't, and most that do."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any

import numpy as np
import pytest

from exprgrad.derive.parsed import parse_and_derive
from exprgrad.derive.sweeps.digit_screen import add_digit_screen
from exprgrad.derive.sweeps.gradient import gradient as gradient_program
from exprgrad.derive.sweeps.rounding import SLACK, add_error_bounds
from exprgrad.graph.ops import BY_NAME
from exprgrad.language.read.parse import parse_text
from exprgrad.run.arrays import arrays
from oracles import evaluate, gradient, mp, mpf
from strategies import SMOOTH, tree

Flags = np.ndarray[Any, Any]
PLACES = 6
EXTREMES = (0.0, 1.0, -1.0, 2.0, 1e-8, 1e-17, 1e16, 1e-170, 1e-310, 5e-324, 1e150, -1e-200, 1e300)
"""Numbers at which products underflow or overflow, and differences cancel."""
BOUNDED_BELOW = 10.0**-150
"""Errors so small are the oracle's own."""


def sure_rows(text: str, columns: dict[str, Flags]) -> Flags:
    """Which rows are passed, of a formula's value and gradient."""
    program = gradient_program(parse_and_derive(text), [*columns])
    made = add_digit_screen(program, len(program.outputs), PLACES)
    with np.errstate(all="ignore"):
        values = arrays.forward_arrays(made.graph, columns, made.outputs)
    return np.broadcast_to(values[made.outputs[-1]] != 0, next(iter(columns.values())).shape)


def doubted_rows(text: str, columns: dict[str, Flags]) -> Flags:
    """Which rows the careful bounds don't pass though all their results are finite."""
    program = gradient_program(parse_and_derive(text), [*columns])
    count = len(program.outputs)
    made = add_error_bounds(program, count)
    with np.errstate(all="ignore"):
        values = arrays.forward_arrays(made.graph, columns, made.outputs)
        shape = next(iter(columns.values())).shape
        rows = [np.broadcast_to(values[output], shape) for output in made.outputs]
        kept = [
            bound <= np.maximum(abs(number) * (10.0**-PLACES * 2.0**53), SLACK)
            for number, bound in zip(rows[:count], rows[count:], strict=True)
        ]
    doubtful: Flags = np.isfinite(rows[:count]).all(axis=0) & ~np.all(kept, axis=0)
    return doubtful


def worst_error(text: str, inputs: dict[str, float]) -> float:
    """The largest error of a value and gradient, as a part of the truth."""
    graph = parse_text(text)
    program = gradient_program(parse_and_derive(text), [*inputs])
    with np.errstate(all="ignore"):
        values = arrays.forward_arrays(program.graph, inputs, program.outputs)
    with mp.workdps(800):
        exact = {name: mpf(x) for name, x in inputs.items()}
        true = [evaluate(graph, exact, mpf)[graph.output]]
        slopes = gradient(graph, inputs, 800)
        true += [slopes[name] for name in inputs]
        errors = [
            abs(mpf(float(values[output])) - number) / abs(number)
            for output, number in zip(program.outputs, true, strict=True)
            if number and abs(number) > BOUNDED_BELOW
        ]
    return float(max(errors, default=mpf(0)))


@pytest.mark.parametrize(
    "count", [25, pytest.param(150, marks=pytest.mark.slow)], ids=["some", "many"]
)
def test_no_row_is_passed_that_has_lost_digits(count: int) -> None:
    """At extremes the careful bounds doubt rows that are right: those are compared with the truth."""
    random, passed = Random(count), 0
    every = tuple(BY_NAME[name] for name in SMOOTH.split())
    infix = tuple(op for op in every if op.infix)
    for _ in range(count):
        text = tree(random, ("x", "y", "x", "2", "0.3"), (*every, *infix * 4), random.randint(1, 7))
        names = [*parse_and_derive(text).inputs]
        if not names:
            continue
        points = [
            {
                name: random.choice((random.choice(EXTREMES), random.uniform(-3, 3)))
                for name in names
            }
            for _ in range(40)
        ]
        columns = {name: np.array([point[name] for point in points]) for name in names}
        is_sure = sure_rows(text, columns)
        passed += int(is_sure.sum())
        for row in np.flatnonzero(is_sure & doubted_rows(text, columns))[:2]:
            assert worst_error(text, points[row]) < 10.0**-PLACES, (text, points[row])
    assert passed > 5 * count


def uniform_columns(names: Sequence[str], zeros: float = 0.0) -> dict[str, np.ndarray]:
    random = np.random.default_rng(1)
    drawn = {name: random.uniform(1, 9, 2000) for name in names}
    return {name: np.where(random.random(2000) < zeros, 0.0, x) for name, x in drawn.items()}


@pytest.mark.parametrize(
    "text",
    [
        "(1 - x)^2 + 100*(y - x^2)^2",
        "2*h*n^3/c^2/(exp(h*n/(k*T)) - 1)",
        "where(abs(x - y) < 1, (x - y)^2/2, abs(x - y) - 0.5)",
        "A*exp(-(x - m)^2/(2*s^2))",
        "sqrt(x^2 + y^2 + z^2)",
        "d = (log(S/K) + (r + v^2/2)*T)/(v*sqrt(T)); S*normcdf(d) - K*exp(-r*T)*normcdf(d - v*sqrt(T))",
        "a = x*y + z; b = a*x - z*y; c = b*a + x*z; d = c*b - a*y; e = d*c + b; e*d - a",
    ],
)
def test_ordinary_rows_are_passed(text: str) -> None:
    columns = uniform_columns([*parse_and_derive(text).inputs])
    assert sure_rows(text, columns).mean() > 0.99


@pytest.mark.parametrize("text", ["tanh(x*y + z)", "x*y*z", "x^2*y", "relu(x*y + z)^2", "(x*y)^2"])
def test_a_factor_of_0_is_no_reason_for_doubt(text: str) -> None:
    columns = uniform_columns([*parse_and_derive(text).inputs], zeros=0.5)
    assert sure_rows(text, columns).all()


@pytest.mark.parametrize(
    "text", ["x*y*1e300", "x*y*1e300 + y", "(x*y + 0*y)*1e300", "x^2*1e300*y*1e170"]
)
def test_a_product_that_underflows_is_doubted(text: str) -> None:
    assert not sure_rows(text, {"x": np.array([1e-170]), "y": np.array([1e-170])})[0]


def test_a_branch_that_is_not_taken_is_no_reason_for_doubt() -> None:
    text = "where(x > 0, log(x)*sqrt(x) + 1/(x + 1 - 1), x*x)"
    assert sure_rows(text, {"x": np.array([-2.0, -1e-3, 0.5])}).tolist() == [True, True, True]
    assert not sure_rows(text, {"x": np.array([1e-17])})[0]


def test_what_divides_by_too_large_a_number_is_doubted() -> None:
    assert not sure_rows("1e10/(x*y)", {"x": np.array([1e200]), "y": np.array([1e115])})[0]


def test_a_slope_that_does_not_depend_on_its_operand() -> None:
    program = gradient_program(parse_and_derive("y*x^2 + z"), ["x"])
    second = gradient_program(program.graph, ["y"])
    for made in (program, second):
        screened = add_digit_screen(made, len(made.outputs), PLACES)
        assert len(screened.outputs) == 1 + len(made.outputs)
