"""Jacobians, Hessians and products with vectors: against closed forms, mpmath, and each other."""

from __future__ import annotations

import copy
import math
from collections.abc import Mapping
from itertools import islice
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mp, mpf

from exprgrad import Expression, parse
from exprgrad.derive.rules import computed
from exprgrad.derive.sweeps.gradient import cotangent_name, tangent_name
from exprgrad.graph.graph import Graph
from exprgrad.graph.ops import OPS, Op
from exprgrad.run.evaluation import evaluator_for
from exprgrad.run.matrices import HESSIAN, JACOBIAN, JVP, MOST_PROGRAMS, VJP, DerivativeKind, Point
from oracles import evaluate, gradient, graph_of, holds, is_special
from strategies import expressions
from together import together

SMOOTH = [
    "y1 = x*y + z; y2 = sin(x)*exp(y/z); y3 = x^2/(1 + z^2); y4 = 7*y",
    "r = hypot(x, y); y1 = atan2(y, x); y2 = r*z; y3 = log(r)",
    "y1 = tanh(x*y); y2 = y1*z - y1; y3 = sigmoid(y2) + x^y",
    "y1 = sqrt(x) + cbrt(y); y2 = where(x > y, x*z, y*z); y3 = max(x, y, z)*abs(z)",
    "y1 = erf(x/y); y2 = softplus(z)*log1p(x); y3 = y1^3; x*y*z",
]
ACCURACY = 1e-12


def point(random: Random) -> dict[str, float]:
    """A point at which every formula above is smooth and well conditioned."""
    return {name: random.uniform(0.3, 2.5) for name in "xyz"}


def close(found: float, true: Any, scale: float = 1.0) -> bool:
    return bool(abs(found - true) <= ACCURACY * max(abs(true), scale))


def seen_from(graph: Graph, output: int) -> Graph:
    view = copy.copy(graph)
    view.output = output
    return view


def names_of(f: Expression) -> list[str]:
    return [binding.name for binding in f.graph.bindings]


def rosenbrock(count: int) -> str:
    terms = (f"100*(x{i + 1} - x{i}^2)^2 + (1 - x{i})^2" for i in range(count - 1))
    return " + ".join(terms)


ASKED: list[tuple[DerivativeKind, tuple[str, ...], set[tuple[str, ...]]]] = [
    (JACOBIAN, ("jacobian", "v", "y"), {("value", "v"), ("jacobian", "v", "y")}),
    (JACOBIAN, ("value", "v"), {("value", "v")}),
    (JVP, ("jvp", "v"), {("jvp", "v")}),
    (VJP, ("vjp", "y"), {("vjp", "y")}),
    (VJP, ("value", "v"), {("value", "v")}),
]


@pytest.mark.parametrize(
    ("kind", "path", "derived"), ASKED, ids=[" ".join(path) for _, path, _ in ASKED]
)
def test_only_what_is_asked_for_is_derived(
    kind: DerivativeKind, path: tuple[str, ...], derived: set[tuple[str, ...]]
) -> None:
    """For one number of an answer nothing of other outputs, or other inputs, is derived."""
    graph = parse("u = x*y*z; v = sin(x + y) + z; u*v").graph
    outputs = {binding.name: binding.node for binding in graph.bindings}
    values = {"x": 0.5, "y": 1.5, "z": 2.5}
    direction = dict.fromkeys(outputs if kind is VJP else values, 1.0)
    at = Point(evaluator_for(graph), values, outputs, tuple(values), direction)
    _, every = kind.question(at).derive(graph, computed, None)
    _, found = kind.question(at).derive(graph, computed, [path])
    assert {*found} == derived < {*every}


def test_of_a_hessian_only_the_inputs_asked_for_are_derived() -> None:
    graph = parse("x*y*z + x^2*y").graph
    values = {"x": 0.5, "y": 1.5, "z": 2.5}
    at = Point(evaluator_for(graph), values, {"": graph.output}, tuple(values))
    _, found = HESSIAN.question(at).derive(graph, computed, [("hessian", "x", "y")])
    assert {path for path in found if path[0] == "hessian"} == {
        ("hessian", "x", "x"), ("hessian", "x", "y"),
    }  # fmt: skip
    assert {path for path in found if path[0] == "gradient"} == {
        ("gradient", "x"),
        ("gradient", "y"),
    }


def test_the_hessian_of_rosenbrock_s_function() -> None:
    """100 inputs: the tridiagonal pattern, and the closed form to within 4 ulp of its terms."""
    f, random = parse(rosenbrock(100)), Random(1)
    x = [random.uniform(-2, 2) for _ in range(100)]
    found = f.hessian({f"x{i}": value for i, value in enumerate(x)})
    tridiagonal = {(f"x{i}", f"x{j}") for i in range(100) for j in (i - 1, i, i + 1)}
    assert len(f.hessian_pattern()) == 298
    assert set(f.hessian_pattern()) == {(a, b) for a, b in tridiagonal if {a, b} <= set(f.inputs)}
    for i in range(100):
        inner, last = i > 0, i == 99
        terms = [200.0] if inner else []
        if not last:
            terms += [1200 * x[i] ** 2, -400 * x[i + 1], 2.0]
        for j in range(100):
            mine = terms if j == i else [-400 * x[min(i, j)]] if abs(i - j) == 1 else []
            error = abs(found[f"x{i}"][f"x{j}"] - math.fsum(mine))
            assert error <= 4 * math.ulp(sum(map(abs, mine)) or 1e-300), (i, j)


@pytest.mark.parametrize("text", SMOOTH)
def test_jacobians_against_differences(text: str) -> None:
    f, random = parse(text), Random(text)
    for _ in range(3):
        at = point(random)
        found = f.jacobian(at, of=names_of(f))
        for name, node, _ in f.graph.bindings:
            true = gradient(seen_from(f.graph, node), at, 20)
            assert list(found[name]) == list(f.inputs)
            assert all(close(found[name][i], true[i]) for i in f.inputs), (name, at)


@pytest.mark.parametrize("text", SMOOTH)
def test_products_with_vectors_are_those_of_the_jacobian(text: str) -> None:
    f, random = parse(text), Random(text)
    of = names_of(f)
    for _ in range(10):
        at = point(random)
        t = {name: random.choice((0.0, random.uniform(-2, 2))) for name in f.inputs}
        c = {name: random.choice((0.0, random.uniform(-2, 2))) for name in of}
        rows = f.jacobian(at, of=of)
        forward, backward = f.jvp(at, tangent=t, of=of), f.vjp(at, cotangent=c, of=of)
        for name in of:
            terms = [rows[name][i] * t[i] for i in f.inputs]
            assert close(forward[name], math.fsum(terms), sum(map(abs, terms))), name
        for i in f.inputs:
            terms = [rows[name][i] * c[name] for name in of]
            assert close(backward[i], math.fsum(terms), sum(map(abs, terms))), i


@pytest.mark.parametrize("text", SMOOTH)
def test_hessians_against_second_differences(text: str) -> None:
    f, random = parse(text), Random(text)
    at = point(random)
    found = f.hessian(at)
    for a in f.inputs:
        for b in f.inputs:
            assert found[a][b] == found[b][a]
            assert close(found[a][b], second_difference(f.graph, at, a, b)), (a, b, at)
    pattern = set(f.hessian_pattern())
    assert all(found[a][b] == 0 for a in f.inputs for b in f.inputs if (a, b) not in pattern)


def second_difference(graph: Graph, at: Mapping[str, float], a: str, b: str) -> Any:
    """The mixed central difference, in 100 digits with a step of 10⁻²⁰."""
    with mp.workdps(100):
        step = mpf(10) ** -20
        exact = {name: mpf(value) for name, value in at.items()}
        total = mpf(0)
        for one in (1, -1):
            for other in (1, -1):
                moved = {**exact, a: exact[a] + one * step}
                moved[b] += other * step
                total += one * other * evaluate(graph, moved)[graph.output]
        return total / (4 * step * step)


@together(OPS)
def test_second_derivatives_of_every_row(op: Op) -> None:
    count = 3 if op.variadic else len(op.names)
    graph, random = graph_of(op, count), Random(op.name)
    f = Expression("", graph)
    points = ([random.uniform(-2.5, 2.5) for _ in range(count)] for _ in range(200))
    inside = (p for p in points if op.variadic or holds(op.domain, op.names, p))
    for args in islice((p for p in inside if not is_special(op, p)), 4):
        at = dict(zip(f.inputs, args, strict=True))
        found = f.hessian(at)
        for a in f.inputs:
            for b in f.inputs:
                assert close(found[a][b], second_difference(graph, at, a, b)), (args, a, b)


@pytest.mark.parametrize(
    ("text", "at", "expected"),
    [
        ("xlogy(x, y)", {"x": 0, "y": 4}, {"x": {"x": 0, "y": 0.25}, "y": {"x": 0.25, "y": 0}}),
        ("logaddexp(x, x)", {"x": 3}, {"x": {"x": 0}}),
        ("logaddexp(x, 3)", {"x": 3}, {"x": {"x": 0.25}}),
        ("sinc(x)", {"x": 0}, {"x": {"x": -1 / 3}}),
        ("gelu(x)", {"x": 0}, {"x": {"x": 2 / math.sqrt(2 * math.pi)}}),
        ("silu(x)", {"x": 0}, {"x": {"x": 0.5}}),
    ],
)
def test_second_derivatives_where_rules_have_cases(
    text: str, at: dict[str, float], expected: dict[str, dict[str, float]]
) -> None:
    found = parse(text).hessian(at)
    for name, row in expected.items():
        assert found[name] == pytest.approx(row, rel=1e-15)


@settings(max_examples=80)
@given(expressions(("x", "y", "z", "2", "-1"), 12), st.integers(0, 2**32))
def test_generated_expressions(text: str, seed: int) -> None:
    """One row of the Jacobian is the gradient, bit for bit; Hessians are symmetric."""
    f, random = parse(text), Random(seed)
    at = {name: random.uniform(-2, 2) for name in f.inputs}
    slopes = f.gradient(at).gradient
    assert same(f.jacobian(at), slopes)
    assert same(f.vjp(at), slopes)
    found = f.hessian(at)
    pattern = f.hessian_pattern()
    for a in f.inputs:
        one = {name: float(name == a) for name in f.inputs}
        assert same({a: f.jvp(at, tangent=one)}, {a: slopes[a]}, ACCURACY), (text, at)
        for b in f.inputs:
            assert repr(found[a][b]) == repr(found[b][a])
            assert ((a, b) in pattern) == ((b, a) in pattern)
            assert (a, b) in pattern or found[a][b] == 0


def same(one: Mapping[str, float], other: Mapping[str, float], within: float = 0) -> bool:
    """The same numbers under the same names, in the same order; what is not finite is not compared."""
    pairs = zip(one.values(), other.values(), strict=True)
    finite = [(a, b) for a, b in pairs if math.isfinite(a - b)]
    near = all(abs(a - b) <= within * max(abs(b), 1) for a, b in finite)
    return list(one) == list(other) and near and (len(finite) == len(one) or has_odd(one, other))


def has_odd(*several: Mapping[str, float]) -> bool:
    return any(not math.isfinite(number) for numbers in several for number in numbers.values())


def test_a_tangent_of_0_holds_an_input_fixed() -> None:
    """Even where its derivative is infinite; and a cotangent of 0 leaves an output out."""
    f = parse("y1 = sqrt(x) + y; y2 = y^2")
    assert f.jvp(x=0, y=3, tangent={"x": 0, "y": 1}, of=("y1", "y2")) == {"y1": 1.0, "y2": 6.0}
    assert f.jvp(x=0, y=3, tangent={"x": 1, "y": 1}, of="y1") == {"y1": math.inf}
    assert f.vjp(x=0, y=3, cotangent={"y1": 0, "y2": 1}, of=("y1", "y2")) == {"x": 0.0, "y": 6.0}
    assert f.vjp(x=0, y=3, cotangent={"y1": 0, "y2": 0}, of=("y1", "y2")) == {"x": 0.0, "y": 0.0}


def test_two_names_of_one_node() -> None:
    f = parse("y1 = x^2; y2 = y1; y3 = y2")
    of = ("y1", "y2", "y3")
    assert f.jacobian(x=3, of=of) == {name: {"x": 6.0} for name in of}
    assert f.vjp(x=3, cotangent={"y1": 1, "y2": 10, "y3": 0}, of=of) == {"x": 66.0}


def test_what_depends_on_nothing() -> None:
    f = parse("2+2")
    assert [f.jacobian(), f.hessian(), f.vjp(), f.hessian_pattern()] == [{}, {}, {}, []]
    assert parse("2+2").jvp(tangent={}) == 0.0
    assert parse("y = 2; z = x").jacobian(x=1, of=("y", "z")) == {"y": {"x": 0.0}, "z": {"x": 1.0}}
    assert parse("x").jacobian(x=7) == {"x": 1.0}
    assert parse("x").hessian(x=7) == {"x": {"x": 0.0}}
    assert parse("x").jvp(x=7, tangent={"x": 2}) == 2.0
    assert parse("t = u*v; x^2").hessian(x=7, u=1, v=1)["u"] == {"u": 0.0, "v": 0.0, "x": 0.0}
    assert parse("t = u*v; x^2").hessian_pattern() == [("x", "x")]


def test_names_that_are_no_keywords() -> None:
    f = parse("é = lambda*長; é^2")
    at = {"lambda": 2, "長": 3}
    assert f.jacobian(at, of="e\u0301") == {"é": {"lambda": 3.0, "長": 2.0}}
    assert f.jvp(at, tangent={"lambda": 1, "長": 0}) == 36.0
    assert f.hessian(at, wrt="lambda") == {"lambda": {"lambda": 18.0}}
    assert f.hessian_pattern("lambda") == [("lambda", "lambda")]


def test_inputs_of_a_program_collide_with_no_names() -> None:
    assert not tangent_name("x").isidentifier() and not cotangent_name(0).isidentifier()


def test_programs_are_derived_once() -> None:
    f = parse("y1 = a*b; y2 = a/b")
    at = {"a": 1.0, "b": 2.0}
    kept = f.evaluator(at).programs  # and what outputs are called

    def programs() -> dict[object, object]:
        return {key: one for key, one in kept.items() if not isinstance(one, dict)}

    for tangents in ({"a": 1, "b": 2}, {"a": 3, "b": 4}):
        f.jvp(at, tangent=tangents)
    assert len(programs()) == 1
    f.jvp(at, tangent={"a": 1, "b": 0})
    f.vjp(at, cotangent=2)
    f.vjp(at, cotangent=3)
    f.hessian(at)
    f.hessian_pattern()
    assert len(programs()) == 4
    before = programs()
    f.jacobian(at)
    f.jacobian(at, of=["y1"])
    f.jacobian(at, of=["y1"], wrt="a")
    assert len(programs()) == 7
    assert all(kept[key] is program for key, program in before.items())


def test_few_programs_are_kept() -> None:
    f = parse("+".join(f"x{i}" for i in range(MOST_PROGRAMS + 10)))
    at = dict.fromkeys(f.inputs, 1.0)
    for name in f.inputs:
        assert f.jvp(at, tangent={**dict.fromkeys(f.inputs, 0), name: 2}) == 2.0
    assert len(f.evaluator(at).programs) == MOST_PROGRAMS


@pytest.mark.parametrize("text", ["+".join(["x*x"] * 1_100), "sin(" * 1_100 + "x" + ")" * 1_100])
def test_long_and_deep(text: str) -> None:
    f = parse(text)
    slope = f.gradient(x=0.5).gradient["x"]
    assert f.jacobian(x=0.5) == f.vjp(x=0.5) == {"x": slope}
    assert f.jvp(x=0.5, tangent={"x": 1}) == pytest.approx(slope)
    assert math.isfinite(f.hessian(x=0.5)["x"]["x"])
