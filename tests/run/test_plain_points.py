"""Runs whose sweeps are made when they are read tell the same as those that are swept at once."""

from __future__ import annotations

import math
import pickle
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import product
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

import exprgrad
from exprgrad.graph.ops import OPS, Op
from exprgrad.run import evaluation
from strategies import apply, expressions

LEAVES = ("x", "y", "2", "0.5", "pi")
SPECIAL = (
    0.0, -0.0, 1.0, -1.0, 0.5, -2.0, 3.0, math.inf, -math.inf, math.nan, 5e-324, 1e308, -1e308, 710.5,
)  # fmt: skip
NUMBERS = st.sampled_from(SPECIAL) | st.floats(width=64)
NEURON = "tanh(x1*w1 + x2*w2 + b)"
HERE = {"x1": 2.0, "w1": -3.0, "x2": 0.5, "w2": 1.0, "b": 6.88}


@contextmanager
def from_the_first_point() -> Iterator[None]:
    """Compile at once, so that the second point is the first that is found so."""
    with mock.patch.object(evaluation, "FEW_POINTS", 0):
        yield


def is_made_later(run: exprgrad.Run) -> bool:
    """Whether nobody has read a sweep's numbers yet."""
    return "values" not in vars(run)


def compare_runs(f: exprgrad.Expression, points: list[tuple[float, ...]]) -> int:
    """Assert that a run made either way tells the same; returns how many sweeps were made later."""
    later, wrt = 0, f.inputs
    with from_the_first_point():
        f.gradient(dict.fromkeys(wrt, 0.25))
        for point in points:
            values = dict(zip(wrt, point, strict=True))
            swept, run = exprgrad.Run.of(f.text, f.at_numbers, values, wrt), f.gradient(values)
            later += is_made_later(run)
            assert repr((run.value, run.gradient)) == repr((swept.value, swept.gradient)), values
            assert run.is_plain == swept.is_plain
            assert repr((run.nodes, run.edges)) == repr((swept.nodes, swept.edges)), values
            assert run.order == swept.order
            assert repr(run.gradient) == repr(swept.gradient)
    return later


@given(expressions(LEAVES), st.lists(st.tuples(NUMBERS, NUMBERS), min_size=1, max_size=3))
def test_a_run_tells_the_same(text: str, points: list[tuple[float, float]]) -> None:
    f = exprgrad.parse(text)
    compare_runs(f, [point[: len(f.inputs)] for point in points])


@pytest.mark.parametrize("op", OPS, ids=lambda op: op.name)
def test_each_operation_has_the_sweeps_digits(op: Op) -> None:
    names = ["x", "y", "z"] if op.variadic else list(op.names)
    f = exprgrad.parse(apply(op, names))
    points = [*product(SPECIAL, repeat=len(f.inputs))][:: (1, 1, 3, 37)[len(f.inputs)]]
    compare_runs(f, points)


KINKS = (
    ("abs(x - y) + x*y", {"x": 1.0, "y": 1.0}),
    ("relu(x*y)*exp(x)", {"x": 0.0, "y": 2.0}),
    ("max(x, y)^2 + x*y", {"x": 1.5, "y": 1.5}),
    ("floor(x) + x*y", {"x": 2.0, "y": 1.0}),
    ("sqrt(x^2 + y^2) + x", {"x": 0.0, "y": 0.0}),
    ("tanh(x/y) + y", {"x": 1.0, "y": 0.0}),
    ("a = 1/x; exp(-1/(x*x)) + y", {"x": 1e-200, "y": 1.0}),
)


@pytest.mark.parametrize(("text", "values"), KINKS)
def test_kinks_and_what_is_not_finite_are_found(text: str, values: dict[str, float]) -> None:
    f = exprgrad.parse(text)
    swept = exprgrad.Run.of(text, f.at_numbers, values, f.inputs)
    with from_the_first_point():
        assert is_made_later([f.gradient(x=0.3, y=0.7) for _ in range(2)][1])
        run = f.gradient(values)
    assert not is_made_later(run)
    assert repr(run.diagnostics) == repr(swept.diagnostics)
    assert repr(run.gradient) == repr(swept.gradient)
    assert str(run) == str(swept)


def test_what_is_read_later_is_all_there() -> None:
    f = exprgrad.parse(NEURON)
    at_once = f.gradient(HERE)
    with from_the_first_point():
        f.gradient(HERE)
        run, chosen = f.gradient(HERE), f.gradient(HERE, wrt=["b"])
    assert run.value == at_once.value
    assert run["w1"] == at_once["w1"]
    assert is_made_later(run)
    assert run.true == at_once.true
    assert [run.table(), run.trace(), run.json()] == [
        at_once.table(),
        at_once.trace(),
        at_once.json(),
    ]
    assert run._repr_mimebundle_() == at_once._repr_mimebundle_()
    assert chosen.gradient == {"b": at_once["b"]}
    copied = pickle.loads(pickle.dumps(run))
    assert str(copied) == str(run) == str(at_once)


def test_the_sweeps_are_of_the_point_that_was_asked_for() -> None:
    f = exprgrad.parse("x*y")
    values = {"y": 3.0, "x": 2.0}
    with from_the_first_point():
        f.gradient(values)
        run = f.gradient(values)
    values["x"] = 5.0
    assert (run.value, run.gradient, run.inputs) == (
        6.0,
        {"x": 3.0, "y": 2.0},
        {"x": 2.0, "y": 3.0},
    )
    assert [node.data for node in run.nodes] == [2.0, 3.0, 6.0]


def test_long_formulas_and_first_points_are_swept() -> None:
    short, long = exprgrad.parse("x^2"), exprgrad.parse(" + ".join(["x^2"] * 600))
    runs = [short.gradient(x=2.0) for _ in range(evaluation.FEW_POINTS + 2)]
    assert [is_made_later(run) for run in runs[-3:]] == [False, False, True]
    with from_the_first_point():
        assert not any(is_made_later(long.gradient(x=2.0)) for _ in range(3))
