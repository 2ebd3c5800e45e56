"""Runs over tensors written out number by number."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from exprgrad import errors, parse
from exprgrad.graph.graph import MOST_ELEMENTS
from exprgrad.graph.tensors import STRUCTURAL
from exprgrad.run.arrays.elements import expand_elements
from invariants import check

DRAWN = np.random.default_rng(0)
X = DRAWN.normal(size=(2, 3))
W = DRAWN.normal(size=3)
A = DRAWN.normal(size=(3, 3))
CASES: list[tuple[str, dict[str, Any]]] = [
    ("h = relu(X @ w + b); sum(h*h)", {"X": X, "w": W, "b": 0.5}),
    ("sum(broadcast(w, shape=[2, 3])*X)", {"X": X, "w": W}),
    ("norm(X) + norm([b]) + sum(norm(X, axis=0, keepdims=True))", {"X": X, "b": -2.0}),
    ("sum(softmax(X)*X)", {"X": X}),
    ("sum(softmax(X, axis=0)*X)", {"X": X}),
    ("cross_entropy(X, y)", {"X": X, "y": [0, 2]}),
    ("cross_entropy(X, Y)", {"X": X, "Y": abs(X)}),
    ("max(X, axis=1)[0]*mean(X) - min(X)", {"X": X}),
    ("sum(max(X, w, 0)) + prod(X, axis=1)[1]", {"X": X, "w": W}),
    ("trace(A @ A.T) + sum(diag(w) @ A) + prod(w) + dot(w, w)", {"A": A, "w": W}),
    ("sum(concat(X, X*2, axis=0)) + sum(outer(w, w)) + sum(stack(w, w))", {"X": X, "w": W}),
    ("logsumexp(X) + sum(logsumexp(X, axis=-1))", {"X": X}),
    ("sum(onehot(y, 3) @ w)", {"y": [0, 2], "w": W}),
    ("sum(X[:, 0]*pi + [1, 2])", {"X": X}),
    ("sum(reshape(X, [3, 2]) @ [[1, 2], [3, 4]])", {"X": X}),
    ("sum(cumsum(X, axis=0)*X) + cumprod(w, reverse=True)[0]*cumprod(w)[1]", {"X": X, "w": W}),
    ("sum(linspace(w[0], w[1], 4)^2) + sum(reshape(X, [2, 1, 3]) @ A @ w)", {"X": X, "w": W, "A": A}),
    ("det(A) + logdet(A @ A) + sum(inv(A) @ w) + norm(solve(A.T, X.T)) + sum(cofactors(A))",
     {"A": A, "w": W, "X": X}),
    ("P = [A, A.T + 1]; sum(det(P)*logdet(P)) + norm(inv(P)) + sum(solve(P, w)) + sum(solve(A, P))",
     {"A": A, "w": W}),
    ("det(S)*logdet(S)", {"S": DRAWN.normal(size=(9, 9))}),
    ("place(w[0], shape=[2, 2], at=[0, 1])[0, 1]", {"w": W}),
]  # fmt: skip


@pytest.mark.parametrize(("formula", "values"), CASES)
def test_the_same_numbers(formula: str, values: dict[str, Any]) -> None:
    """The value and the gradient are those of the run over tensors, number by number."""
    run = parse(formula).gradient(values)
    found = expand_elements(run)
    check(found.run.graph)
    assert found.run.value == pytest.approx(run.value, rel=1e-12)
    for name, grad in run.gradient.items():
        nodes = found.nodes[run.graph.inputs[name]]
        mine = [found.run.grad(int(node)) or 0.0 for node in nodes.flat]
        assert mine == pytest.approx(np.ravel(grad).tolist(), rel=1e-12, abs=1e-300)


def test_every_structural_row_is_written_out() -> None:
    """The formulas above hold a node of each row."""
    met = {
        kind for formula, values in CASES for kind in parse(formula).evaluate(values).graph.kinds
    }
    assert set(STRUCTURAL) <= met


def test_numbers_know_where_they_come_from() -> None:
    run = parse("h = X @ w; sum(h)").gradient(X=[[1, 2], [3, 4]], w=[5, 6])
    found = expand_elements(run)
    graph = found.run.graph
    assert [*graph.inputs] == ["X[0, 0]", "X[0, 1]", "X[1, 0]", "X[1, 1]", "w[0]", "w[1]"]
    assert found.run.label(int(found.nodes[2][1])) == "h[1]"
    assert found.run.texts[int(found.nodes[2][1])] == "X[1, 0]*w[0] + X[1, 1]*w[1]"
    for node, origin in enumerate(found.origins):
        assert graph.span(node) == run.graph.span(origin.node)
        if origin.place is not None:
            assert int(found.nodes[origin.node][origin.place]) == node
    inner = [
        found.run.texts[node] for node, origin in enumerate(found.origins) if origin.place is None
    ]
    assert inner[:2] == ["X[0, 0]*w[0]", "X[0, 1]*w[1]"]


def test_a_large_formula_is_refused() -> None:
    run = parse("sum(x*x)").gradient(x=np.ones(MOST_ELEMENTS // 2))
    with pytest.raises(errors.RequestError) as refused:
        expand_elements(run)
    assert refused.value.code == "too-large"
    assert "4,096 elements over all nodes; this formula has 4,097" in str(refused.value)
