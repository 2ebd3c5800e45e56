"""Jacobians, Hessians, JVPs and VJPs of tensors, against PyTorch, central differences, and each other."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from exprgrad import RequestError, ShapeError, parse
from exprgrad.api import Expression
from exprgrad.derive.sweeps.gradient import cotangent_name, jvp, tangent_name, vjp
from exprgrad.graph.graph import shape_size
from exprgrad.run.evaluation import Evaluator
from exprgrad.run.matrices import cheaper_products, derive_once, fill_matrices

inf = math.inf
FORMULAS: dict[str, tuple[dict[str, str], Callable[..., Any]]] = {
    "tanh(X @ W + b)": (
        {"X": "nk", "W": "km", "b": "m"}, lambda t, x, w, b: t.tanh(x @ w + b),
    ),
    "h = relu(X @ W); softmax(h @ V, axis=1)": (
        {"X": "nk", "W": "km", "V": "mk"}, lambda t, x, w, v: t.softmax(t.relu(x @ w) @ v, 1),
    ),
    "x*y + outer(x, z)[:, 0]": (
        {"x": "n", "y": "", "z": "m"}, lambda t, x, y, z: x * y + t.outer(x, z)[:, 0],
    ),
    "sum(X*X, axis=0)/(1 + norm(x)) + x.T": (
        {"X": "nk", "x": "k"}, lambda t, a, x: (a * a).sum(0) / (1 + t.linalg.norm(x)) + x,
    ),
    "concat(sin(x), y^2, exp(-x*x))": (
        {"x": "n", "y": "m"}, lambda t, x, y: t.cat([t.sin(x), y**2, t.exp(-x * x)]),
    ),
    "stack(x, 2*x)[1] * max(X, axis=1)": (
        {"x": "n", "X": "nm"}, lambda t, x, a: 2 * x * a.max(1).values,
    ),
    "reshape(X, [-1]) @ reshape(Y, [-1])": (
        {"X": "nk", "Y": "kn"}, lambda t, x, y: x.reshape(-1) @ y.reshape(-1),
    ),
    "mean(where(X > 0, X^2, sin(X)), axis=1)": (
        {"X": "nk"}, lambda t, x: t.where(x > 0, x**2, t.sin(x)).mean(1),
    ),
    "logsumexp(X, axis=0) - log(sum(exp(X), axis=0)) + x": (
        {"X": "nk", "x": "k"}, lambda t, a, x: t.logsumexp(a, 0) - t.log(t.exp(a).sum(0)) + x,
    ),
    "diag(x) @ X + trace(X @ X.T)*x[0]": (
        {"x": "n", "X": "nk"}, lambda t, x, a: t.diag(x) @ a + t.trace(a @ a.T) * x[0],
    ),
}  # fmt: skip
"""A formula, its inputs' shapes, a letter an axis, and the same in the words of PyTorch."""
SIZES = {"n": 2, "k": 3, "m": 4}


def values_for(shapes: dict[str, str], sizes: dict[str, int], seed: int = 0) -> dict[str, Any]:
    """Numbers of some shapes, spelled by a letter an axis."""
    random = np.random.default_rng(seed)
    return {name: random.normal(size=[sizes[a] for a in axes]) for name, axes in shapes.items()}


def close(found: object, wanted: object, scale: float = 1.0) -> None:
    """Equal to 1e-12 of the norm of what is wanted and the size of what it was made of."""
    there, here = np.asarray(wanted), np.asarray(found)
    assert here.shape == there.shape
    assert np.linalg.norm((here - there).ravel()) <= 1e-12 * (np.linalg.norm(there.ravel()) + scale)


@pytest.mark.parametrize("text", FORMULAS)
def test_jacobian_and_hessian_are_those_of_pytorch(text: str) -> None:
    """The Hessian is that of the sum of the cubes."""
    torch = pytest.importorskip("torch")
    shapes, function = FORMULAS[text]
    values = values_for(shapes, SIZES)
    given = tuple(torch.tensor(value, dtype=torch.float64) for value in values.values())
    jacobian = torch.autograd.functional.jacobian(partial(function, torch), given)
    found = parse(text).jacobian(values)
    for name, wanted in zip(values, jacobian, strict=True):
        close(found[name], wanted)

    *before, last = text.split(";")
    cubes = parse("; ".join([*before, f"r = {last}", "sum(r*r*r)"]))
    hessian = torch.autograd.functional.hessian(
        lambda *operands: (function(torch, *operands) ** 3).sum(), given
    )
    second = cubes.hessian(values)
    for row, blocks in zip(values, hessian, strict=True):
        for column, wanted in zip(values, blocks, strict=True):
            close(second[row][column], wanted, scale=10)


@pytest.mark.parametrize("text", FORMULAS)
@settings(max_examples=8)
@given(data=st.data())
def test_both_modes_agree_and_products_are_transposes(text: str, data: st.DataObject) -> None:
    """Rows by VJPs are columns by JVPs; u·(Jv) is (uJ)·v; both are the Jacobian's products."""
    sizes = {axis: data.draw(st.integers(1, 4), label=axis) for axis in "nkm"}
    f, shapes = parse(text), FORMULAS[text][0]
    values = values_for(shapes, sizes, data.draw(st.integers(0, 99)))
    tangents = values_for(shapes, sizes, 100)
    evaluator = f.evaluator(f.given(values, {}))
    whole = f.jacobian(values)
    forward, backward = (made(evaluator, values) for made in (by_columns, by_rows))
    out = np.shape(f.evaluate(values).value)
    cotangent = np.random.default_rng(7).normal(size=out)
    pushed = f.jvp(values, tangent=tangents)
    pulled = f.vjp(values, cotangent=cotangent)
    direct = np.zeros(cotangent.size)
    for name, block in whole.items():
        flat = np.reshape(block, (cotangent.size, -1))
        close(forward[name], flat)
        close(backward[name], flat)
        direct = direct + flat @ np.ravel(tangents[name])
        close(
            np.ravel(pulled[name]),
            np.ravel(cotangent) @ flat,
            scale=1 + float(np.linalg.norm(flat)),
        )
    scale = 1 + sum(float(np.linalg.norm(block)) for block in whole.values()) * 10
    close(np.ravel(pushed), direct, scale=scale)
    inner = sum(np.vdot(pulled[name], tangents[name]) for name in whole)
    assert abs(np.vdot(cotangent, pushed) - inner) <= 1e-12 * scale


def by_columns(evaluator: Evaluator, values: dict[str, Any]) -> dict[str, Any]:
    """The Jacobian of the output as matrices, made by JVPs."""
    graph, found = evaluator.graph, {}
    for name, value in values.items():
        found[name] = np.zeros((shape_size(graph.shape(graph.output)), np.size(value)))
        program = derive_once(evaluator, jvp, graph, (name,), (graph.output,), masked=True)
        fill_matrices(
            evaluator, program, values, (tangent_name(name), np.shape(value)), [found[name].T]
        )
    return found


def by_rows(evaluator: Evaluator, values: dict[str, Any]) -> dict[str, Any]:
    """The same, made by VJPs."""
    graph = evaluator.graph
    shape = graph.shape(graph.output)
    found = {name: np.zeros((shape_size(shape), np.size(value))) for name, value in values.items()}
    program = derive_once(evaluator, vjp, graph, (graph.output,), tuple(values), masked=True)
    fill_matrices(evaluator, program, values, (cotangent_name(0), shape), [*found.values()])
    return found


def test_central_differences() -> None:
    """By no library at all: each number moved a little."""
    f = parse("softmax(x @ W)*sum(x)")
    values = values_for({"x": "k", "W": "km"}, SIZES)
    found = f.jacobian(values)
    for name, value in values.items():
        block = found[name].reshape(4, -1)
        for at in range(value.size):
            sides = []
            for step in (1e-6, -1e-6):
                moved = value.copy()
                moved.reshape(-1)[at] += step
                sides.append(f.evaluate({**values, name: moved}).value)
            np.testing.assert_allclose(block[:, at], (sides[0] - sides[1]) / 2e-6, atol=1e-8)


def passes(f: Expression, **values: Any) -> tuple[str, int]:
    """How the Jacobian of an expression's output is made."""
    graph = f.evaluator(f.given(values, {})).graph
    return cheaper_products(graph, {"y": graph.output}, list(graph.inputs))


def test_the_fewer_products() -> None:
    """Rows or columns, whichever are fewer; rows where they are equal."""
    assert passes(parse("x @ W"), x=np.ones(3), W=np.ones((3, 2))) == ("VJP", 2)
    assert passes(parse("outer(x, x)"), x=np.ones(3)) == ("JVP", 3)
    assert passes(parse("2*x"), x=np.ones(3)) == ("VJP", 3)
    assert passes(parse("sum(x)"), x=np.ones(1)) == ("VJP", 1)
    assert passes(parse("[1, 2]")) == ("JVP", 0)


def test_what_does_not_move_passes_nothing() -> None:
    """Not even 0 times infinity, in either mode, in products with vectors, and in second derivatives."""
    at = {"x": [0.0, 1.0, 4.0]}
    roots = np.diag([inf, 0.5, 0.25])
    assert np.array_equal(parse("sqrt(x)").jacobian(at)["x"], roots)
    tall = parse("concat(sqrt(x)*2, reshape(sqrt(x), [3]))").jacobian(at)["x"]
    assert np.array_equal(tall, np.concatenate([2 * roots, roots]))
    assert parse("sqrt(x)").jvp(at, tangent={"x": [0, 1, 0]}).tolist() == [0, 0.5, 0]
    assert parse("sqrt(x)").vjp(at, cotangent=[0, 1, 0])["x"].tolist() == [0, 0.5, 0]
    assert parse("sqrt(x) + where(x > 1, x, sqrt(x))").jvp(
        at, tangent={"x": [0, 1, 1]}
    ).tolist() == [0, 1, 1.25]
    for text in (
        "concat(sqrt(x), [1, 2])",
        "sum(stack(sqrt(x), x), axis=0)",
        "diag(sqrt(x))",
        "sqrt(x)[0:2]/2",
    ):
        f = parse(text)
        evaluator = f.evaluator(given := f.given(at, {}))
        columns, rows = (made(evaluator, given)["x"] for made in (by_columns, by_rows))
        assert np.array_equal(columns, rows), text
        assert np.isfinite(columns).sum() == columns.size - 1, text
    found = parse("sum(x^1.5)*y").hessian(at, y=4)
    assert np.array_equal(found["x"]["x"], np.diag([inf, 3, 1.5]))
    assert found["x"]["y"].tolist() == [0, 1.5, 3]


def test_second_derivatives_are_symmetric_and_know_their_zeros() -> None:
    f = parse("sum(tanh(x @ W)) + a^2*b + sum(c)", shapes={"x": [2], "W": [2, 3], "c": [4]})
    values = values_for({"x": "n", "W": "nk", "a": "", "b": "", "c": "m"}, SIZES)
    found = f.hessian(values)
    for row in found:
        for column in found:
            block = found[row][column]
            assert np.shape(block) == np.shape(values[row]) + np.shape(values[column])
            flat = np.reshape(block, (np.size(values[row]), -1))
            assert np.array_equal(
                flat, np.reshape(found[column][row], (np.size(values[column]), -1)).T
            )
    pattern = f.hessian_pattern()
    assert pattern == [
        ("x", "x"), ("x", "W"), ("W", "x"), ("W", "W"), ("a", "a"), ("a", "b"), ("b", "a"),
    ]  # fmt: skip
    for row in found:
        for column in found:
            assert ((row, column) in pattern) == bool(np.any(found[row][column]))


def test_several_outputs() -> None:
    f = parse("y = x*2; z = sum(y)*w; z + 1")
    found = f.jacobian(x=[1, 2], w=3, of=["z", "y"], wrt=["x"])
    assert {name: {k: v.tolist() for k, v in row.items()} for name, row in found.items()} == {
        "y": {"x": [[2, 0], [0, 2]]},
        "z": {"x": [6, 6]},
    }
    pushed = f.jvp(x=[1, 2], w=3, of=["y", "z"], tangent={"x": [1, 0], "w": 1})
    assert (pushed["y"].tolist(), pushed["z"]) == ([2, 0], 12)
    pulled = f.vjp(x=[1, 2], w=3, of=["y", "z"], cotangent={"y": [1, 0], "z": 1})
    assert (pulled["x"].tolist(), pulled["w"]) == ([8, 6], 6)
    twice = f.vjp(x=[1, 2], w=3, cotangent=2)
    assert (twice["x"].tolist(), twice["w"]) == ([12, 12], 12)


def test_a_number_fills_a_tangent_and_a_cotangent() -> None:
    f = parse("X*2")
    assert f.jvp(X=np.ones((2, 3)), tangent={"X": 1}).tolist() == [[2.0] * 3] * 2
    assert f.vjp(X=np.ones((2, 3)))["X"].tolist() == [[2.0] * 3] * 2
    assert f.jvp(X=np.ones((2, 3)), tangent={"X": 0}).tolist() == [[0.0] * 3] * 2


def test_what_is_refused() -> None:
    with pytest.raises(RequestError, match=r"100,000,000 numbers, or 800 MB") as caught:
        parse("2*x").jacobian(x=np.ones(10_000))
    assert caught.value.code == "too-large"
    with pytest.raises(RequestError, match="100,000,000"):
        parse("sum(x)").hessian(x=np.ones(10_000))
    with pytest.raises(ShapeError, match="hess needs an output that is a number"):
        parse("2*x").hessian(x=np.ones(2))
    with pytest.raises(ShapeError, match="hess needs"):
        parse("2*x", shapes={"x": [2]}).hessian_pattern()
