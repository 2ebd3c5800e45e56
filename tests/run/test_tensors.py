"""Runs over tensors where numbers go wrong: dead branches, zeros, infinities, ties, and odd shapes."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from exprgrad import parse
from exprgrad.derive.sweeps import gradient as derive
from together import together

inf, nan = math.inf, math.nan

BEHIND_A_CHOICE = [
    ("where(c > 0, sum(log(x)), 0)", {"x": [0.0, 1.0]}),
    ("where(c > 0, mean(1/x, axis=0), 0)", {"x": [0.0, 1.0]}),
    ("where(c > 0, log(x)[0], 0)", {"x": [0.0, 1.0]}),
    ("where(c > 0, norm(log(x)), 0)", {"x": [0.0, 1.0]}),
    ("where(c > 0, dot(log(x), [1, 1]), 0)", {"x": [0.0, 1.0]}),
    ("where(c > 0, trace([[1, 2], [3, 4]] @ diag(1/x)), 0)", {"x": [0.0, 1.0]}),
    ("where(c > 0, max(log(x)), 0)", {"x": [0.0, 1.0]}),
    ("where(c > 0, logsumexp(reshape(sqrt(x), [2, 1]).T), 0)", {"x": [0.0, 1.0]}),
    ("sum(where(c > 0, concat(log(x), [1]), 0))", {"x": [0.0, 1.0]}),
    ("sum(where(c > 0, stack(log(x), x), 0))", {"x": [0.0, 1.0]}),
    ("sum(where(c > 0, softmax(log(x)), 0))", {"x": [0.0, 1.0]}),
    ("where(c > 0, cross_entropy(1/x, 0), 0)", {"x": [0.0, 1.0]}),
    ("where(c > 0, sum(x[0]*[1, 2]/x[1]), 0)", {"x": [1.0, 0.0]}),
]


@pytest.mark.parametrize(("text", "values"), BEHIND_A_CHOICE)
def test_nothing_passes_into_a_branch_through_tensors(text: str, values: dict[str, Any]) -> None:
    """Not even 0 times infinity, whatever stands between the choice and the pole."""
    run = parse(text).gradient(values, c=-1.0)
    assert np.all(run.gradient["x"] == 0), run.gradient["x"]


def test_what_comes_through_another_way_still_arrives() -> None:
    """A branch not taken keeps back its own contributions only, number by number."""
    run = parse("where(c > 0, sum(log(x)), 0) + sum(x*x)").gradient(x=[0.0, 2.0], c=-1.0)
    assert run.gradient["x"].tolist() == [0.0, 4.0]
    run = parse("sum(where(x > 0, concat(log(x)[1:2], log(x)[1:2]), x))").gradient(x=[-1.0, 4.0])
    assert run.gradient["x"].tolist() == [1.0, 0.25]


SIGMOID_1 = 1 / (1 + math.exp(-1))
CASES: list[tuple[str, dict[str, Any], Any, dict[str, Any]]] = [
    # Products with zeros: the product of the others, without a division.
    ("prod(x)", {"x": [0, 2, 3]}, 0, {"x": [6, 0, 0]}),
    ("prod(x)", {"x": [0, 0, 3]}, 0, {"x": [0, 0, 0]}),
    ("prod(x)", {"x": 5}, 5, {"x": 1}),
    ("sum(prod(x, axis=0))", {"x": [[0, 1], [2, 3]]}, 3, {"x": [[2, 3], [0, 1]]}),
    # Ties share equally, infinite ones too; nan is met.
    ("max(x)", {"x": [1, 3, 3]}, 3, {"x": [0, 0.5, 0.5]}),
    ("min(x)", {"x": [-inf, 3, -inf]}, -inf, {"x": [0.5, 0, 0.5]}),
    ("max(x)", {"x": [nan, 3]}, nan, {"x": [nan, nan]}),
    ("sum(max(x, axis=1))", {"x": [[1, 1], [2, 5]]}, 6, {"x": [[0.5, 0.5], [0, 1]]}),
    # Norms: the least subgradient at 0, and no square over- or underflows.
    ("norm(x)", {"x": [0, 0]}, 0, {"x": [0, 0]}),
    ("norm(x)", {"x": [3e200, 4e200]}, 5e200, {"x": [0.6, 0.8]}),
    ("norm(x)", {"x": [3e-300, 4e-300]}, 5e-300, {"x": [0.6, 0.8]}),
    ("norm(x)", {"x": [0, -2e-323]}, 2e-323, {"x": [0, -1]}),
    ("norm(x)", {"x": [-inf, 1]}, inf, {"x": [nan, 0]}),
    ("norm(x)", {"x": -3}, 3, {"x": -1}),
    ("sum(norm(x, axis=1))", {"x": [[0, 0], [3, 4]]}, 5, {"x": [[0, 0], [0.6, 0.8]]}),
    # Sums of exponentials that would overflow, vanish or be lost beside the greatest.
    ("logsumexp(x)", {"x": [1000, 1000]}, 1000 + math.log(2), {"x": [0.5, 0.5]}),
    ("logsumexp(x)", {"x": [0, -40]}, math.exp(-40), {"x": [1, math.exp(-40)]}),
    ("logsumexp(x)", {"x": [-inf, 1]}, 1, {"x": [0, 1]}),
    # Equal operands have equal shares, infinite ones too: the limit where both go there together.
    ("logsumexp(x)", {"x": [-inf, -inf]}, -inf, {"x": [0.5, 0.5]}),
    ("logsumexp(x)", {"x": [inf, 1]}, inf, {"x": [1, 0]}),
    ("sum(logsumexp(x, axis=1))", {"x": [[-inf, -inf], [0, -inf]]}, -inf, {"x": [[0.5, 0.5], [1, 0]]}),
    ("sum(softmax(x)*[1, 2])", {"x": [1000, 0]}, 1, {"x": [0, 0]}),
    ("sum(softmax(x)*[1, 2])", {"x": [-inf, 0]}, 2, {"x": [0, 0]}),
    ("sum(softmax(x)*[1, 2])", {"x": [inf, 0]}, 1, {"x": [0, 0]}),
    ("sum(softmax(x)*[1, 2])", {"x": [inf, inf]}, 1.5, {"x": [-0.25, 0.25]}),
    ("sum(softmax(x)*[1, 2])", {"x": [nan, inf]}, nan, {"x": [nan, nan]}),
    # Losses: a wrong label is nan, in its row alone; certainty costs what it costs.
    ("cross_entropy(x, y)", {"x": [[1, 2], [3, 4]], "y": [0, 2]}, nan,
     {"x": [[-SIGMOID_1 / 2, SIGMOID_1 / 2], [nan, nan]], "y": [0, 0]}),
    ("cross_entropy(x, y)", {"x": [1, 2], "y": 0.5}, nan, {"x": [nan, nan], "y": 0}),
    ("cross_entropy(x, y)", {"x": [1, 2], "y": -1}, nan, {"x": [nan, nan], "y": 0}),
    ("cross_entropy(x, y)", {"x": [1000, 0], "y": 1}, 1000, {"x": [1, -1], "y": 0}),
    ("cross_entropy(x, y)", {"x": [40, 0], "y": 0}, math.exp(-40), {"x": [0, math.exp(-40)], "y": 0}),
    ("cross_entropy(x, [0, 1])", {"x": [-inf, 1]}, 0, {"x": [0, 0]}),
    # Places from behind, overlapping slices, the same tensor several times.
    ("x[-1]*x[0]", {"x": [2, 3, 5]}, 10, {"x": [5, 0, 2]}),
    ("sum(x[-2:]*x[:2])", {"x": [2, 3, 5]}, 21, {"x": [3, 7, 3]}),
    ("x[1, 0] + x[1, -2]", {"x": [[1, 2], [3, 4]]}, 6, {"x": [[0, 0], [2, 0]]}),
    ("sum(concat(x, x, y))", {"x": [1, 2], "y": [3]}, 9, {"x": [2, 2], "y": [1]}),
    ("sum(stack(x, x)*[[1, 2], [3, 4]])", {"x": [1, 2]}, 16, {"x": [4, 6]}),
    ("sum(x @ x)", {"x": [[1, 2], [3, 4]]}, 54, {"x": [[7, 11], [9, 13]]}),
    ("x @ x", {"x": [1, 2, 3]}, 14, {"x": [2, 4, 6]}),
    # Numbers among tensors, axes of size 1, tensors of one number.
    ("sum(x + y)", {"x": [1], "y": 2}, 3, {"x": [1], "y": 1}),
    ("sum(x*y)", {"x": [[1]], "y": [2, 3]}, 5, {"x": [[5]], "y": [1, 1]}),
    ("sum(x*y)", {"x": [[1], [2]], "y": [[3, 4]]}, 21, {"x": [[7], [7]], "y": [[3, 3]]}),
    ("sum(mean(x, axis=0, keepdims=True)*x)", {"x": [[1, 2], [3, 4]]}, 26, {"x": [[4, 6], [4, 6]]}),
    ("mean(x, axis=[0, -1])", {"x": [[1, 2]]}, 1.5, {"x": [[0.5, 0.5]]}),
    ("trace(x)*diag(x)[0]", {"x": [[2]]}, 4, {"x": [[4]]}),
    # Outputs that are inputs, inputs that reach nothing, constants.
    ("x", {"x": 3}, 3, {"x": 1}),
    ("sum(x)", {"x": 3}, 3, {"x": 1}),
    ("y = sum(x); z = sum(w); y", {"x": [1, 2], "w": [3, 4]}, 3, {"x": [1, 1], "w": [0, 0]}),
    ("sum([1, 2]) + x", {"x": 1}, 4, {"x": 1}),
]  # fmt: skip


@together(CASES)
def test_numbers_that_go_wrong_elsewhere(
    text: str, values: dict[str, Any], value: float, gradient: dict[str, Any]
) -> None:
    run = parse(text).gradient(values)
    assert same(run.value, value)
    assert set(run.gradient) == set(gradient)
    for name, expected in gradient.items():
        assert np.shape(run.gradient[name]) == np.shape(expected)
        assert same(run.gradient[name], expected), (name, run.gradient[name])


SHARES = [
    (-inf, -inf, (0.5, 0.5)), (inf, inf, (0.5, 0.5)), (-inf, 2.0, (0.0, 1.0)), (2.0, -inf, (1.0, 0.0)),
    (inf, 2.0, (1.0, 0.0)), (2.0, inf, (0.0, 1.0)), (inf, -inf, (1.0, 0.0)), (3.0, 3.0, (0.5, 0.5)),
]  # fmt: skip
"""Two operands, and the shares of their exponentials: limits, of equal operands that along x = y."""
FORMS = [
    "logaddexp(x, y)",
    "logsumexp(x, y)",
    "logsumexp([x, y])",
    "sum(logsumexp([[x, y]], axis=1))",
]


@together([(text, *case) for text in FORMS for case in SHARES])
def test_shares_of_infinite_operands(text: str, x: float, y: float, shares: Any) -> None:
    """All forms of log-sum-exp have one value and one gradient, and softmax is that gradient."""
    run = parse(text).gradient(x=x, y=y)
    assert run.value == (
        max(x, y) if math.isinf(max(x, y)) else x + math.log(2) if x == y else max(x, y)
    )
    assert (run.gradient["x"], run.gradient["y"]) == shares
    assert (run.true.gradient["x"], run.true.gradient["y"]) == shares
    assert not [one for one in run.diagnostics if one.code == "lost-digits"]
    assert tuple(parse("softmax([x, y])").evaluate(x=x, y=y).value) == shares


def same(found: Any, expected: Any) -> bool:
    """Equal but for what four primitives may be off, of 5 ulp each."""
    return bool(np.allclose(found, expected, rtol=20 * 2.0**-52, atol=0, equal_nan=True))


def test_logsumexp_of_several_is_element_by_element() -> None:
    """Each place by itself, infinite ones included: as the formula at that place."""
    x, y = [1000.0, -inf, inf, -inf, nan, 0.0], [999.0, 2.0, 1.0, -inf, 0.0, -40.0]
    run = parse("sum(logsumexp(x, y)*[1, 1, 1, 1, 1, 1])").gradient(x=x, y=y)
    f = parse("logsumexp(x, y)")
    for at in range(6):
        alone = f.gradient(x=x[at], y=y[at]).gradient
        assert same([run.gradient["x"][at], run.gradient["y"][at]], [alone["x"], alone["y"]]), at
    assert f.gradient(x=inf, y=1).gradient == {"x": 1.0, "y": 0.0}
    assert f.gradient(x=-inf, y=-inf).gradient == {"x": 0.5, "y": 0.5}


def test_only_what_is_asked_for_is_differentiated() -> None:
    """A pole by another input is never met."""
    run = parse("sum(x*sqrt(y))").gradient(x=[1, 2], y=[0, 4], wrt=["x"])
    assert {name: array.tolist() for name, array in run.gradient.items()} == {"x": [0, 2]}


def test_a_run_changes_none_of_its_inputs() -> None:
    x = np.arange(6.0).reshape(2, 3)
    before = x.copy()
    parse("sum(max(x, 1)*x.T[0:3, 0:1].T)").gradient(x=x)
    assert np.array_equal(x, before)
    x.setflags(write=False)
    assert parse("sum(x^2)").gradient(x=x).gradient["x"].tolist() == (2 * before).tolist()


def test_inputs_in_any_layout_and_of_any_kind_of_number() -> None:
    """Transposed, sliced, whole numbers, single precision, flags: all are doubles."""
    base = np.arange(12).reshape(3, 4)
    for array in (base.T, base[:, ::-2], base.astype("f4"), base > 5, np.asfortranarray(base)):
        run = parse("sum(x*x)").gradient(x=array)
        assert run.gradient["x"].dtype == np.float64
        assert np.array_equal(run.gradient["x"], 2.0 * array)


@pytest.mark.parametrize("text", ["sum(x + w)", "sum(x*w)", "sum((x - w)^2)", "sum(x[0:3]) + w[0]"])
def test_a_gradient_is_nobody_elses(text: str) -> None:
    """Changed in place, as descent does, it changes no input, no other gradient and no node."""
    x, w = np.arange(3.0), np.arange(3.0) + 1
    run = parse(text).gradient(x=x, w=w)
    data = [np.copy(value) for value in run.values]
    other = run.gradient["w"].copy()
    run.gradient["x"][:] = 77.0
    assert np.array_equal(run.gradient["w"], other)
    assert np.array_equal(x, np.arange(3.0)) and np.array_equal(w, np.arange(3.0) + 1)
    assert all(map(np.array_equal, data, run.values))


def test_products_with_the_jacobian_are_nobody_elses() -> None:
    x, along = np.arange(3.0), np.ones(3)
    f = parse("x + 1")
    f.vjp(x=x, cotangent=along)["x"][:] = 77.0
    f.jvp(x=x, tangent={"x": along})[:] = 77.0
    assert along.tolist() == [1, 1, 1] and x.tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    ("text", "given", "wanted"),
    [
        ("sum(sqrt(x)[1:])", {"x": [0.0, 4.0]}, {"x": [0, 0.25]}),
        ("log(x)[2]", {"x": [-1.0, 0.0, 4.0]}, {"x": [0, 0, 0.25]}),
        ("sum(log(x)[1:]) + sum(log(x)[2:])", {"x": [0.0, 2.0, 4.0]}, {"x": [0, 0.5, 0.5]}),
        ("z = [a, b]; log(z)[1]", {"a": 0.0, "b": 2.0}, {"a": 0, "b": 0.5}),
        ("sum((1/x).T[0, :])", {"x": [[1.0, 0.0], [2.0, 4.0]]}, {"x": [[-1, 0], [-0.25, 0]]}),
    ],
)
def test_what_is_not_picked_passes_nothing(
    text: str, given: dict[str, Any], wanted: dict[str, Any]
) -> None:
    """Not even 0 times infinity; and gradient, VJP and Jacobian agree."""
    f = parse(text)
    for found in (f.gradient(given).gradient, f.vjp(given), f.jacobian(given)):
        assert {name: np.asarray(grad).tolist() for name, grad in found.items()} == wanted


@pytest.mark.parametrize("join", ["[{}]", "concat({})"])
def test_programs_grow_with_the_number_of_operands(join: str) -> None:
    """Not with its square: every operand's tangent is joined once."""

    def nodes(count: int) -> int:
        f = parse(f"sum({join.format(', '.join(f'tanh({k}*x)' for k in range(count)))})")
        graph = f.evaluator({"x": np.ones(3)}).graph
        sizes = [derive.gradient(graph, ["x"]), derive.jvp(graph, ["x"], [graph.output])]
        return sum(len(program.graph) for program in sizes)

    assert nodes(200) < 2.1 * nodes(100)
