"""What edges of tensors are called: the texts parse, and say the numbers that are passed on."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest

from exprgrad import Run, parse
from exprgrad.graph.tensors import STRUCTURAL
from exprgrad.run.edge_texts import contribution_texts, pass_texts
from together import together

DRAW = np.random.default_rng(7)
A, B, C = DRAW.normal(size=(3, 4)), DRAW.normal(size=(4, 2)), DRAW.normal(size=(3, 4))
U, V, S = DRAW.normal(size=4), DRAW.normal(size=4), DRAW.normal(size=(3, 3))
K = DRAW.normal(size=(2, 3, 4))

FORMULAS: list[tuple[str, dict[str, Any]]] = [
    ("sum((A @ B)^2)", {"A": A, "B": B}),
    ("norm(A @ U)", {"A": A, "U": U}),
    ("norm(V @ B)", {"V": V, "B": B}),
    ("U @ V", {"U": U, "V": V}),
    ("dot(U, V)^2", {"U": U, "V": V}),
    ("norm(outer(U, V))", {"U": U, "V": V}),
    ("sum(sum(A, axis=1)*sum(A, axis=1, keepdims=1))", {"A": A}),
    ("sum(sum(A, axis=[0, 1])*sum(A*C, axis=0))", {"A": A, "C": C}),
    ("sum(mean(A, axis=0)^2) + mean(A)", {"A": A}),
    ("sum(prod(A, axis=1))*prod(U)", {"A": A, "U": U}),
    ("max(A)*sum(min(A, axis=0))", {"A": A}),
    ("sum(norm(A, axis=1)^3)", {"A": A}),
    ("sum(softmax(A)*C) + sum(softmax(A, axis=0)^2)", {"A": A, "C": C}),
    ("logsumexp(A) + sum(logsumexp(A, axis=0)^2)", {"A": A}),
    ("cross_entropy(A, y)", {"A": A, "y": np.array([0.0, 3.0, 1.0])}),
    ("cross_entropy(A, P)", {"A": A, "P": abs(C)}),
    ("sum(A.T^2) + sum(transpose(K, axes=[1, 2, 0])^2)", {"A": A, "K": K}),
    ("sum(reshape(A, [2, 6])^2)", {"A": A}),
    ("sum(broadcast(U, [2, 4])^2)", {"U": U}),
    ("A[1, 2]*sum(A[0]^2) + sum(A[1:3, 0]^2) + sum(place(U, [3, 4], [1])^2)", {"A": A, "U": U}),
    ("norm(concat(A, C, axis=1)) + norm(stack(U, V))", {"A": A, "C": C, "U": U, "V": V}),
    ("norm([U, V])*norm([U[0], 2])", {"U": U, "V": V}),
    ("trace(S @ S) + norm(diag(S)) + norm(diag(U))", {"S": S, "U": U}),
    ("sum(cumsum(A, axis=1)*cumprod(A, axis=0, reverse=True)) + sum(cumprod(U)^2)", {"A": A, "U": U}),
    ("sum(linspace(c, U[0], 5)^2)", {"c": 0.5, "U": U}),
    ("S = A[:, 0:3]; det(S)*logdet(S) + norm(solve(S, A)) + sum(inv(S)*cofactors(S))", {"A": A}),
    ("T = reshape(A, [3, 2, 2]); sum(T @ A[0, 0:2]) + sum(det(T)) + norm(solve(T, A[0, 0:2]))", {"A": A}),
    ("sum(onehot(y, 3) @ w)", {"y": np.array([0.0, 2.0]), "w": np.array([1.0, 2.0, 3.0])}),
    ("sum(tanh(A*U + b)/C - exp(-A)^2)", {"A": A, "U": U, "b": 0.5, "C": C}),
    ("sum(relu(A)*max(A, C, 0.1)) + sum(where(A > 0, A^2, sin(A)))", {"A": A, "C": C}),
    ("sum(U[0]*A - reshape(U[1:4], [3, 1])*V)", {"U": U, "V": V, "A": A}),
    ("sum((A + U)*(A + U)) + sum(atan2(A, C) + hypot(A, 2))", {"A": A, "U": U, "C": C}),
]  # fmt: skip


def close(found: Any, wanted: Any) -> bool:
    """Whether two tensors are equal, up to what one rule says differently from another."""
    return bool(
        np.shape(found) == np.shape(wanted)
        and np.linalg.norm(found - wanted) <= 1e-12 * (1 + np.linalg.norm(wanted))
    )


@together(FORMULAS)
def test_texts_say_what_is_passed(formula: str, values: dict[str, Any]) -> None:
    """Each text, read by the parser and given the node's and the operands' data, is the contribution."""
    run = parse(formula).gradient(values)
    edges = {(edge.user, edge.position): edge for edge in run.edges}
    data = {f"n{node}": value for node, value in enumerate(run.values)}
    seen = 0
    for user in run.order:
        if not run.passed(user):
            continue
        written = contribution_texts(run, user, "n{}".format, "g", limit=10_000)
        given = {**data, "g": run.grad(user)}
        for position, texts in written.items():
            edge = edges[user, position]
            assert close(valued(texts.passed, given), edge.contribution), texts
            assert bool(texts.local) == (edge.local is not None)
            if texts.local:
                inner = (
                    texts.local.removeprefix("diag(").removesuffix(")")
                    if np.ndim(edge.local)
                    else texts.local
                )
                local = np.broadcast_to(valued(inner, given), np.shape(edge.local))
                assert close(local, edge.local), texts
            seen += 1
    assert seen == len(edges)


def valued(text: str, given: dict[str, Any]) -> Any:
    """A text's value."""
    expression = parse(text)
    return expression.evaluate({name: given[name] for name in expression.inputs}).value


def test_every_structural_row_is_here() -> None:
    met = {kind for formula, _ in FORMULAS for kind in parse(formula).graph.kinds}
    assert set(STRUCTURAL) <= met


@together(FORMULAS)
def test_contributions_add_up_to_grads(formula: str, values: dict[str, Any]) -> None:
    run = parse(formula).gradient(values)
    sums: dict[int, Any] = {}
    for edge in run.edges:
        assert np.shape(edge.contribution) == np.shape(run.values[edge.operand])
        sums[edge.operand] = sums.get(edge.operand, 0.0) + edge.contribution
    for node, total in sums.items():
        assert close(total, run.grad(node))


def test_a_layer_has_the_patterns_of_the_lessons() -> None:
    run = parse("Y = X @ W + b; L = sum(Y^2)").gradient(X=A, W=B, b=[1, 2])
    rules = {(edge.user, run.label(edge.operand)): edge.rule for edge in run.edges}
    product = run.graph.kinds.index("matmul")
    assert rules[product, "X"] == "· @ W.T"
    assert rules[product, "W"] == "X.T @ ·"
    add = run.graph.kinds.index("add")
    assert pass_texts(run, add) == {0: "diag(1)", 1: "diag(1)"}
    assert all(edge.rule == run.rule(edge.user, edge.position) for edge in run.edges)
    assert parse("sum(x*(x > 1))").gradient(x=[1, 2]).rule(2, 0) == "0"
    (bias,) = [edge for edge in run.edges if run.label(edge.operand) == "b"]
    assert (bias.rule, bias.jacobian) == ("sum(·, axis=0)", ((3, 2), (2,)))


def test_a_branch_that_is_not_taken_passes_nothing() -> None:
    """Not even 0 times infinity: number by number, and through elementwise operations."""
    run = parse("y = sqrt(x)*2; sum(where(x > 0, log(x) + y, x^2))").gradient(x=[2, -1, 0])
    reached = {run.label(edge.operand): edge.contribution for edge in run.edges if edge.operand}
    assert np.array_equal(reached["log(x)"], [1, 0, 0])
    assert np.array_equal(run.gradient["x"], [0.5 + 1 / np.sqrt(2), -2, 0])
    sums = sum(edge.contribution for edge in run.edges if run.label(edge.operand) == "x")
    assert close(sums, run.gradient["x"])
    nowhere = parse("sum(where(x > 0, log(x), x^2))").gradient(x=[-2, -1])
    (log,) = (node for node in nowhere.nodes if node.op == "log")
    assert not nowhere.passed(log.id)


def test_operands_of_the_same_long_text_are_kept_apart() -> None:
    """Texts are cut to 60 characters; two matrices of other shapes may share them."""
    long = " + ".join(f"a_long_name_{i}" for i in range(6))
    formula = f"sum(({long} + M) @ ({long} + N))"
    values = {f"a_long_name_{i}": 1.0 for i in range(6)} | {"M": A, "N": B}
    run = parse(formula).gradient(values)
    assert len({edge.rule for edge in run.edges}) > 1
    assert close(run.gradient["M"], np.ones((3, 2)) @ (B + 6).T)


@pytest.mark.parametrize(
    ("formula", "texts"),
    [
        ("norm(A @ C.T)", {"g @ C", "A.T @ g"}),
        ("norm((A.T) @ C)", {"A @ g", "g @ C.T"}),
        ("T = C.T; norm(A @ T)", {"g @ T.T", "A.T @ g"}),
        ("norm(A @ transpose(C, axes=[1, 0]))", {"g @ transpose(C, axes=[1, 0]).T", "A.T @ g"}),
        ("norm((A + C) @ (A - C).T)", {"g @ (A - C)", "(A + C).T @ g"}),
        ("norm(relu(A + C))", {"g*where(A + C > 0, 1, 0)"}),
        ("norm(exp(A*C)*A)", {"g*A", "g*exp(A*C)"}),
        ("norm((A + U)*U)", {"g*U", "g*(A + U)"}),
        ("norm((A + C)^2)", {"g*(2*(A + C))"}),
        ("norm(sqrt(A > 0))", {"g*(1/(2*sqrt(A > 0)))"}),
        ("norm(where(A > 0, A*C, C))", {"where(A > 0, g, 0)", "where(A > 0, 0, g)"}),
    ],
)
def test_parentheses_stand_only_where_they_are_needed(formula: str, texts: set[str]) -> None:
    """And what is transposed twice is as it was."""
    run = parse(formula).gradient({n: v for n, v in GIVEN.items() if n in parse(formula).inputs})
    (user,) = run.graph.operands[run.graph.output]
    found = contribution_texts(run, user, partial(plainly, run), "g")
    assert {text.passed for text in found.values()} <= texts | {"0"}
    assert all("((" not in text.local for text in found.values())


GIVEN = {"A": A, "C": C, "U": U}


def plainly(run: Run, node: int) -> str:
    """What a node is called, without what broadcasting put in."""
    return run.label(run.graph.operands[node][0] if node in run.graph.implicit else node)
