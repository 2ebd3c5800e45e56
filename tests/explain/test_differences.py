"""Differences in doubles and in balls, against mpmath: what they are said to be off by holds."""

from __future__ import annotations

import math
from collections import Counter
from random import Random

import pytest
from hypothesis import given, settings

from exprgrad import parse
from exprgrad.explain.checking.differences import (
    BoundedEstimate,
    difference_estimates,
    extrapolate,
    quotient_graph,
    step_inputs,
    true_differences,
)
from exprgrad.graph.graph import CONST, INPUT
from exprgrad.language.read.parse import parse_text
from exprgrad.run.numbers.bounds import number_data_errors
from exprgrad.run.numbers.sweeps import forward_numbers
from invariants import check
from oracles import evaluate, gradient, mp, mpf
from strategies import everyday, smooth
from together import together


def test_the_graph_of_quotients() -> None:
    """Three quotients of x^3 at 2 with a step of 1/4, by hand."""
    graph = parse_text("x^3 + y")
    found = quotient_graph(graph, graph.inputs["x"])
    check(found.graph)
    values = forward_numbers(found.graph, {"x": 2.0, "y": 5.0, **step_inputs(-2)})
    assert values[found.left] == (8 - 1.75**3) / 0.25
    assert values[found.right] == (2.25**3 - 8) / 0.25
    assert values[found.center] == (2.25**3 - 1.75**3) / 0.5
    assert values[found.bend] == values[found.right] - values[found.left]


def test_steps_reach_far_below_the_doubles() -> None:
    for exponent in (-2000, -1075, -1, 0, 7):
        one, other = step_inputs(exponent).values()
        assert mpf(one) * mpf(other) == mpf(2) ** exponent


def test_a_node_is_bumped_for_all_its_users() -> None:
    graph = parse_text("e = a*b; e*e + e")
    e = graph.bindings[0].node
    found = quotient_graph(graph, e)
    values = forward_numbers(found.graph, {"a": 2.0, "b": 1.5, **step_inputs(-3)})
    assert values[found.center] == 2 * 3 + 1


def test_extrapolation_finds_limits() -> None:
    exact = [BoundedEstimate(5 + 3 * 4.0**-k + 16.0**-k, 0.0) for k in range(6)]
    found = extrapolate(exact, 2)
    assert found is not None and abs(found.value - 5) <= found.error < 1e-12
    assert extrapolate([None, None], 2) is None
    assert extrapolate([BoundedEstimate(1.0, 0.0), None, BoundedEstimate(2.0, 0.0)], 2) is None


def test_small_steps_overrule_large_ones() -> None:
    """A bump that the large steps leap over: they all say 0, and the small ones 7."""
    samples = [BoundedEstimate(0.0, 1e-9)] * 6 + [BoundedEstimate(7.0, 1e-9)] * 6
    found = extrapolate(samples, 2)
    assert found is not None and found.value == 7


def test_what_settles() -> None:
    assert BoundedEstimate(1.0, 0.05).settled(0.0) and not BoundedEstimate(1.0, 0.2).settled(0.0)
    assert BoundedEstimate(0.0, 0.05).settled(1.0) and not BoundedEstimate(0.0, 0.05).settled(
        math.inf
    )


def test_errors_hold_against_mpmath() -> None:
    """Balls find the true derivative to the last bit, and seldom find none where there is one."""
    kinds: Counter[str] = Counter()

    @settings(max_examples=40)
    @given(text=smooth(), x=everyday, y=everyday, z=everyday)
    def holds(text: str, x: float, y: float, z: float) -> None:
        graph = parse_text(text)
        values = {name: {"x": x, "y": y, "z": z}[name] for name in graph.inputs}
        data = forward_numbers(graph, values)
        if not all(map(math.isfinite, data)) or not graph.inputs:
            return
        true = gradient(graph, values)
        for name, node in graph.inputs.items():
            if not mp.isfinite(true[name]):
                continue
            found = true_differences(graph, values, node, values[name])
            kinds[found.kind] += 1
            if found.kind == "smooth" and abs(true[name]) > mpf(10) ** -30:
                assert found.center is not None
                assert abs(mpf(float(found.center)) - true[name]) <= abs(true[name]) * 2.0**-52

    holds()
    assert kinds["smooth"] >= 0.9 * kinds.total() > 0


def test_errors_in_doubles_hold_against_mpmath() -> None:
    random = Random(1)
    for text in (
        "sin(x)*exp(x)",
        "1/(1 + x^2)",
        "log(x^2 + 1)*x",
        "tanh(x)^3",
        "(x - 1)^2*1e8 + x",
    ):
        graph = parse_text(text)
        for _ in range(8):
            values = {"x": random.uniform(-3, 3)}
            true = gradient(graph, values)["x"]
            for side in difference_estimates(graph, values, graph.inputs["x"], values["x"]):
                assert side is not None
                assert abs(mpf(side.value) - true) <= side.error < 1e-3 * (1 + abs(true)), text


@together(
    [
        ("abs(x)", 0.0, "kink", -1, 1),
        ("max(x, 2)*x", 2.0, "kink", 2, 4),
        ("sqrt(x^2)", 0.0, "kink", -1, 1),
        ("abs(x)^1.5", 0.0, "smooth", 0, 0),
        ("relu(x)^2", 0.0, "smooth", 0, 0),
        ("relu(x) + 1", 1e-300, "smooth", 1, 1),
        ("floor(x)", 2.0, "jump", math.inf, 0),
        ("cbrt(x)", 0.0, "vertical", math.inf, math.inf),
        ("sqrt(abs(x))", 0.0, "vertical", -math.inf, math.inf),
        ("sqrt(x)", 0.0, "edge", None, math.inf),
        ("x^1.5", 0.0, "edge", None, 0),
        ("asin(x)", 1.0, "edge", math.inf, None),
        ("log(x)", -1.0, "unclear", None, None),
        ("x*log(abs(x) + 1e-300)", 1.0, "smooth", 1, 1),
        ("sqrt((x - 1)^2)*2^900", 1.0, "kink", -(2.0**900), 2.0**900),
        ("max(x, 3e-300)", 3e-300, "kink", 0, 1),
        ("where(x > 0, x^2, -x)", 0.0, "kink", -1, 0),
        ("where(x > 0, x^2, 0)", 0.0, "smooth", 0, 0),
        ("floor(x*1e300)", 0.0, "jump", math.inf, 0),
        ("floor(max(x, 1e-300)) + (x < 1e-300)*(0 < x)", 0.0, "jump", 0, math.inf),
    ]
)
def test_kinds_of_points(
    text: str, at: float, kind: str, left: float | None, right: float | None
) -> None:
    graph = parse_text(text)
    found = true_differences(graph, {"x": at}, graph.inputs["x"], at)
    assert found.kind == kind
    for ball, side in ((found.left, left), (found.right, right)):
        assert (ball is None) == (side is None)
        if ball is not None and side is not None:
            assert float(ball) == side


NARROW = [
    ("log(max(x, 1e-300))", 0.0, 0.0),
    ("x*log(x + 1e-300)", 0.0, math.log(1e-300)),
    ("log(x^2 + 1e-100)", 0.0, 0.0),
    ("tanh(x*1e45)", 0.0, 1e45),
    ("atan(x/1e-50)", 0.0, 1e50),
    ("exp(-(x/1e-45)^2)", 0.0, 0.0),
    ("x/(abs(x) + 1e-300)", 0.0, 1e300),
    ("x^1e40", 1.0, 1e40),
    ("sigmoid(1e40*(x - 1))", 1.0, 2.5e39),
    ("max(x, 1e-60)", 0.0, 0.0),
    ("relu(x - 1e-320)", 0.0, 0.0),
    ("softplus(1e50*x)/1e50", 0.0, 0.5),
    ("log(x + 1e-40)", 0.0, 1e40),
    ("sqrt(x + 1e-100)", 0.0, 5e49),
    ("x + 1e-200*tanh(x*1e200)", 0.0, 2.0),
    ("(x - 1)*log((x - 1)^2 + 1e-100)", 1.0, math.log(1e-100)),
    ("floor(exp(exp(x)))", 8.0, 0.0),
    ("relu(x) - relu(x - 1e-300) - relu(-x)", 0.0, 1.0),
]
"""Smooth at these points, but only from very near: the derivatives by hand."""


@pytest.mark.parametrize(("text", "at", "slope"), NARROW)
def test_what_is_smooth_only_from_very_near_is_smooth(text: str, at: float, slope: float) -> None:
    """A steep slope is no jump, and a narrow bend no kink."""
    graph = parse_text(text)
    expected = forward_numbers(graph, {"x": at})[
        graph.output
    ]  # whatever number, but the derivative
    found = true_differences(graph, {"x": at}, graph.inputs["x"], at, expected=expected - 0.125)
    assert found.kind == "smooth" and found.center is not None
    assert abs(float(found.center) - slope) <= 2**-48 * abs(
        slope
    )  # the formula's constants are rounded


@pytest.mark.parametrize("x", [10.0, 100.0, 300.0, 700.0])
def test_steep_waves_are_found_as_mpmath_finds_them(x: float) -> None:
    graph = parse_text("sin(exp(x))")
    found = true_differences(graph, {"x": x}, graph.inputs["x"], x)
    with mp.workprec(4000):
        true = mp.cos(mp.exp(mpf(x))) * mp.exp(mpf(x))
        assert found.kind == "smooth" and float(found.center or 0) == float(true)


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("sin(exp(exp(x)))", 9.0),
        ("floor(exp(exp(x)))", 10.0),
        ("xlogy(x, abs(x))", 0.0),
        ("abs(x)^1.001", 0.0),
    ],
)
def test_what_steps_do_not_resolve_is_unclear(text: str, at: float) -> None:
    """Waves and steps narrower than any step; slopes that change too slowly to tend to anything."""
    graph = parse_text(text)
    assert true_differences(graph, {"x": at}, graph.inputs["x"], at).kind == "unclear"


def test_rounding_is_followed_node_by_node() -> None:
    """The bound holds for sums, products and functions at random doubles, and is not far above."""
    random = Random(2)
    graph = parse_text("t = x*y + sin(x)/y; (t - 1)*exp(t/4) + log(x)")
    nodes = [node for node, kind in enumerate(graph.kinds) if kind not in (INPUT, CONST)]
    for _ in range(200):
        values = {"x": random.uniform(0.1, 5), "y": random.uniform(0.5, 3)}
        data = forward_numbers(graph, values)
        errors = number_data_errors(graph, data, moved=nodes)
        true = evaluate(graph, {name: mpf(value) for name, value in values.items()})
        for node in nodes:
            assert abs(mpf(data[node]) - true[node]) <= errors[node]
        assert errors[graph.output] < 1e-11


def test_a_dead_branch_does_no_harm() -> None:
    graph = parse_text("where(x > 0, sqrt(x), x^2)")
    for side in difference_estimates(graph, {"x": -1.0}, graph.inputs["x"], -1.0):
        assert side is not None and abs(side.value + 2) <= side.error < 1e-9


@pytest.mark.parametrize("text", ["1/x % 1", "sin(pi/x)"])
def test_a_wave_that_is_0_at_each_power_of_two_has_no_limit(text: str) -> None:
    """Steps that are powers of 2 would find the limit 0."""
    *_, undecided = parse(text).gradient(x=0).diagnostics
    assert undecided.message.startswith("undecided along x: left unknown, right unknown, returned ")
