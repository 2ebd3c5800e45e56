"""Derivatives of formulas of tensors, as formulas: the golden table, and the same numbers as the engine's.

What is printed is read back, and for the same shapes has exactly the input's shape.  Its numbers are held
against difference quotients, which know no rule, and for drawn formulas against the reverse sweep.
"""

from __future__ import annotations

import pickle
from random import Random
from typing import Any

import numpy as np
import pytest

from corpus import table
from exprgrad import Expression, errors, parse
from exprgrad.cli.assignments import shapes_in
from exprgrad.derive.simplify.formula import simplified_derivatives
from exprgrad.derive.simplify.orders import derivatives_of_order
from exprgrad.graph.graph import Shape
from exprgrad.graph.tensors import STRUCTURAL
from exprgrad.language.write.infix import program_text
from invariants import check
from tensor_formulas import SHAPES, drawn
from together import together

Array = Any
GOLDEN = list(table("tensor_derivatives.txt"))
STEP = 1e-4
"""Of a difference quotient of the fourth order: its error is of the order of STEP^4."""


def declared(text: str, shapes: str) -> Expression:
    """A formula with the shapes that a line of the table says."""
    return parse(text, shapes=None if shapes == "-" else shapes_in(shapes))


def point(expression: Expression, seed: str) -> dict[str, Array]:
    """Values for the inputs, away from kinks; labels are 0 or 1."""
    rng = np.random.default_rng(list(seed.encode()))
    values = {n: rng.uniform(0.2, 0.9, expression.shapes.get(n, ())) for n in expression.inputs}
    if "onehot" in expression.text or "cross_entropy" in expression.text:
        values = {n: np.round(v) if n == "y" else v for n, v in values.items()}
    return values


def shape_of(expression: Expression) -> Shape:
    """The output's shape, for the shapes that were said."""
    graph = expression.typed
    return graph.shapes[graph.output] if graph.shapes else ()


def quotients(expression: Expression, values: dict[str, Array], name: str) -> Array:
    """The derivative by each number of an input: a difference quotient of the fourth order."""
    found = np.empty(np.shape(values[name]))
    for place in np.ndindex(found.shape):
        change = np.zeros(found.shape)
        change[place] = STEP
        near = [
            expression.evaluate({**values, name: values[name] + times * change}).value
            for times in (-2, -1, 1, 2)
        ]
        found[place] = (near[0] - 8 * near[1] + 8 * near[2] - near[3]) / (12 * STEP)
    return found


@together(GOLDEN)
def test_the_golden_table(text: str, shapes: str, name: str, expected: str) -> None:
    expression = declared(text, shapes)
    (found,) = simplified_derivatives(expression.typed, [name])
    check(found)
    assert not found.shapes
    assert program_text(found) == expected
    derivative = expression.derivative(name)
    assert (str(derivative), program_text(parse(expected).graph)) == (expected, expected)
    assert shape_of(derivative) == expression.shapes.get(name, ())
    values = point(expression, text)
    value = derivative.evaluate(values).value
    np.testing.assert_allclose(value, quotients(expression, values, name), rtol=1e-8, atol=1e-9)


def test_the_table_has_every_row() -> None:
    used = {
        kind
        for text, _, _, expected in GOLDEN
        for t in (text, expected)
        for kind in parse(t).graph.kinds
    }
    assert set(STRUCTURAL) <= used


@together(range(50), every=4)
def test_drawn_formulas(seed: int) -> None:
    """Each derivative has its input's shape, and the reverse sweep's numbers."""
    text = drawn(Random(seed))
    expression = parse(text)
    expression.shapes = {name: SHAPES[name] for name in expression.inputs}
    rng = np.random.default_rng(seed)
    values = {name: rng.uniform(0.2, 0.9, SHAPES[name]) for name in expression.inputs}
    gradient = expression.gradient(values).gradient if values else {}
    for name in expression.inputs:
        derivative = expression.derivative(name)
        assert program_text(derivative.graph) == derivative.text
        assert shape_of(derivative) == SHAPES[name]
        value = derivative.evaluate(values).value
        assert np.shape(value) == SHAPES[name]
        both = np.isfinite(gradient[name])
        if "prod(" in text:  # prod(x)/x is undefined at 0
            both &= np.isfinite(value)
        expected = np.where(both, gradient[name], 0.0)
        np.testing.assert_allclose(np.where(both, value, 0.0), expected, rtol=1e-7, atol=1e-9)


def test_a_derivative_keeps_its_shapes() -> None:
    """It is evaluated like any formula, and derived again where it is a number."""
    loss = parse("c^2*sum((X @ w - y)^2)", shapes={"X": (4, 2), "w": (2,), "y": (4,)})
    slope = loss.derivative("w")
    assert slope.shapes == loss.shapes
    assert str(slope) == "2*c^2*(X.T @ (X @ w - y))"
    values = {"X": [[1, 2], [3, 4], [5, 6], [7, 8]], "w": [1, -1], "y": [0, 1, 2, 3], "c": 3}
    assert list(slope.evaluate(values).value) == list(loss.gradient(values).gradient["w"])
    assert loss.derivative("c").evaluate(values).value == loss.gradient(values).gradient["c"]
    mixed = loss.derivative("c").derivative("w")
    assert str(mixed) == "4*c*(X.T @ (X @ w - y))"
    assert str(loss.derivative("c", 2)) == "2*sum((X @ w - y)^2)"
    assert str(loss.derivative("c", 2).derivative("c")) == "0"
    constant = parse("sum(w)", shapes={"w": (2,)}).derivative("w")
    copy = pickle.loads(pickle.dumps(constant))
    assert (str(copy), copy.shapes) == ("broadcast(1, shape=[2])", {"w": (2,)})
    unread = parse("c^2 + 0*sum(w)", shapes={"w": (2,)}).derivative("c").derivative("w")
    assert str(unread) == "broadcast(0, shape=[2])"


def test_higher_orders_by_numbers() -> None:
    graph = parse("exp(c*d)*norm(x)", shapes={"x": (3,)}).typed
    found = {
        inputs: program_text(formula)
        for inputs, formula in derivatives_of_order(graph, ["c", "d"], 2)
    }
    assert found == {
        ("c", "c"): "d^2*norm(x)*exp(c*d)",
        ("c", "d"): "norm(x)*exp(c*d)*(c*d + 1)",
        ("d", "d"): "c^2*norm(x)*exp(c*d)",
    }


@pytest.mark.parametrize(
    ("text", "shapes", "order", "code", "help"),
    [
        ("X @ w", {"X": (3, 2), "w": (2,)}, 1, "not-a-number", "sum(…) or mean(…)"),
        ("sum(X @ w)", {}, 1, "shape", "shapes={'X': …, 'w': …}"),
        ("sum(X @ w)", {"w": (2,)}, 1, "shape", "shapes={'w': (2,), 'X': …}"),
        ("sum(X @ w)", {"X": (2, 3), "w": (2,)}, 1, "shape", "did you mean X.T @ w?"),
        ("sum(X @ w)^2", {"X": (3, 2), "w": (2,)}, 2, "bad-order", "hess"),
    ],
)
def test_what_has_no_formula(
    text: str, shapes: dict[str, Shape], order: int, code: str, help: str
) -> None:
    with pytest.raises(errors.ExprgradError) as caught:
        parse(text, shapes=shapes).derivative("X", order)
    assert caught.value.code == code
    assert help in str(caught.value.help)
    assert caught.value.span is not None


@pytest.mark.parametrize(
    "text",
    [
        "trace(" + " @ ".join(["A.T"] * 600) + ")",
        "sum(" + "(" * 1000 + "x" + " @ A)" * 1000 + ")",
        "sum(" + "softmax(" * 300 + "x" + ")" * 300 + ")",
        "sum(x" + ".T" * 1000 + ")",
        "sum(" + "reshape(" * 1000 + "x" + ", shape=[3])" * 1000 + ")",
    ],
    ids=lambda text: text[:20],
)
def test_no_depth_is_too_deep(text: str) -> None:
    expression = parse(text)
    expression.shapes = {name: {"A": (3, 3), "x": (3,)}[name] for name in expression.inputs}
    for name in expression.inputs:
        assert shape_of(expression.derivative(name)) == expression.shapes[name]


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("sum(where(y > 0.1, sqrt(y - 0.1)*w, w))", {"y": -1.0, "w": [1, 2, 3]}),
        ("sum(where(y > 0.1, sqrt(y - 0.1)*w, 0)^2)", {"y": -1.0, "w": [1, 2, 3]}),
        ("where(c > 0, sum(log(v)), 0)", {"c": -1.0, "v": [0, -1, 2]}),
        ("sum(where(c > 0, norm(log(v))*v, v))", {"c": -1.0, "v": [0, -1, 2]}),
        ("sum(where(v > 0, log(v), 0) @ A)", {"v": [0, -1, 2], "A": [[1, 2], [3, 4], [5, 6]]}),
    ],
)
def test_a_branch_that_is_not_taken_passes_nothing(text: str, values: dict[str, Any]) -> None:
    """In what is printed too, behind sums and products as well."""
    given = {name: np.asarray(value, dtype=float) for name, value in values.items()}
    f = parse(text, shapes={name: value.shape for name, value in given.items()})
    gradient = f.gradient(given).gradient
    for name in f.inputs:
        found = f.derivative(name).evaluate(given).value
        assert np.all(np.isfinite(found))
        np.testing.assert_allclose(found, gradient[name], rtol=1e-14)
