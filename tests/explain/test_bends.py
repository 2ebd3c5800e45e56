"""Kinks of first derivatives, of which ``hess`` warns."""

from __future__ import annotations

import json

import pytest

from exprgrad import parse
from exprgrad.explain.derivatives import diagnose_hessian
from exprgrad.run.evaluation import evaluator_for
from exprgrad.run.matrices import Point, hessian_at
from shell import command


@pytest.mark.parametrize(
    ("text", "point", "kinks"),
    [
        ("elu(x)", {"x": 0.0}, ["the derivative of elu(x) has a kink here: its operand is 0"]),
        ("relu(x)^2", {"x": 0.0}, ["relu(x) has a kink here: its operand is 0"]),
        ("x*abs(x)", {"x": 0.0}, ["abs(x) has a kink here: its operand is 0"]),
        ("elu(x) + exp(y)", {"x": -1e-300, "y": 0.0}, []),
        ("where(x < 1, y, elu(x))", {"x": 0.0, "y": 0.0}, []),
        ("tanh(x) + x^3 + sinc(x) + erf(x)", {"x": 0.0}, []),
        ("relu(x)^3", {"x": 0.0}, []),
        ("abs(x)^3 + relu(x)*x^2 + x^3*sign(x) + elu(x)^3", {"x": 0.0}, []),
        ("relu(x)^3*y", {"x": 0.0, "y": 2.0}, []),
        ("relu(x)^3 + abs(y)", {"x": 0.0, "y": 0.0}, ["abs(y) has a kink here: its operand is 0"]),
        (
            "relu(x) - relu(-x)",
            {"x": 0.0},
            [f"relu({x}) has a kink here: its operand is 0" for x in ("-x", "x")],
        ),
        ("max(x^2, 2*x^2)", {"x": 0.0}, ["max(x^2, 2*x^2) has a kink here: operands tie"]),
    ],
)
def test_a_kink_of_the_first_derivative_is_a_warning(
    text: str, point: dict[str, float], kinks: list[str]
) -> None:
    evaluator = evaluator_for(parse(text).graph)
    at = Point(evaluator, point, {"": evaluator.graph.output}, tuple(point))
    found = diagnose_hessian(text, at, hessian_at(at))
    assert [d.message for d in found if d.code == "kink" and d.severity == "warning"] == kinks


def test_a_jump_is_one_though_its_derivatives_are_0_on_both_sides() -> None:
    assert "warning: floor(x) jumps here" in command("hess", "floor(x)", "x=2").err
    assert not command("hess", "x^3*sign(x)", "x=0").err


@pytest.mark.parametrize(
    ("formula", "values", "entries"),
    [
        ("max(x, 0)^1.5", ["x=-1"], {"x": {"x": 0}}),
        ("relu(x)^1.5*y", ["x=-1", "y=3"], {"x": {"x": 0, "y": 0}, "y": {"x": 0, "y": 0}}),
        ("max(x*y, 0)^1.5", ["x=-2", "y=1"], {"x": {"x": 0, "y": 0}, "y": {"x": 0, "y": 0}}),
        ("max(x, 0)^1.5", ["x=0"], {"x": {"x": "nan"}}),
    ],
)
def test_a_second_derivative_that_the_sides_tell(
    formula: str, values: list[str], entries: dict[str, dict[str, float]]
) -> None:
    """Where 0 meets an infinite slope: below 0 all is flat, and at 0 the slopes on the sides differ."""
    document = json.loads(command("hess", formula, *values, "--json").out)
    assert document["hessian"] == entries
    changed = document.get("corrected_hessian", {})
    assert bool(changed) == ("nan" not in str(entries))
    told = {found["code"] for found in document["diagnostics"]}
    assert ("corrected" in told) == bool(changed) and ("nan-hessian" in told) != bool(changed)
    for row, columns in changed.items():
        for column, pair in columns.items():
            assert pair == {"sweep": "nan", "value": entries[row][column]}


def test_a_kink_of_the_first_derivative_at_numbers_of_a_tensor() -> None:
    result = command("hess", "sum(elu(x))", "x=[1, 0, 0]", "--strict")
    assert result.status == 1
    assert "has a kink at 2 of 3 numbers, the first at [1]: its operand is 0" in result.err
