"""Programs of tensors, run: every structural operation and layered formulas, in NumPy, JAX and PyTorch.

Each is held against ``gradient`` and against PyTorch's autograd on the formula as a person would write it
there, to 1e-12 of each array's norm.  A number here is the end of at most 20 operations in a row.  Each
adds up at most 60 terms, and so is wrong by at most 60 roundings, each 1.1e-16 of the terms' size: in all
less than 1.4e-13, and seven times that where terms cancel.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import pytest

from exprgrad import parse
from exprgrad.graph.tensors import STRUCTURAL
from programs import call, near, require

np = pytest.importorskip("numpy")
inf, nan = np.inf, np.nan
TARGETS = ("numpy", "jax", "torch")


class Case(NamedTuple):
    """A formula, its inputs' shapes, and the same in PyTorch: ``t`` is the module, then the inputs."""

    text: str
    shapes: Mapping[str, tuple[int, ...]]
    peer: Callable[..., Any]


def case(text: str, peer: Callable[..., Any], **shapes: tuple[int, ...]) -> Case:
    return Case(text, shapes, peer)


def entropy(t: Any, x: Any, y: Any) -> Any:
    """The mean cross-entropy of scores at labels."""
    return t.nn.functional.cross_entropy(x, y.long())


V, W, M, N, S = (4,), (4,), (3, 4), (4, 2), (3, 3)
ROWS = {
    "matmul": [
        case("sum((X @ Y)^2)", lambda t, x, y: ((x @ y) ** 2).sum(), X=M, Y=N),
        case("sum(sin(X @ v))", lambda t, x, v: t.sin(x @ v).sum(), X=M, v=V),
        case("sum(sin(v @ Y))", lambda t, v, y: t.sin(v @ y).sum(), v=V, Y=N),
        case("(v @ w)^2", lambda t, v, w: (v @ w) ** 2, v=V, w=W),
        case(
            "sum((2*X + 1) @ (Y*k) @ (Y.T - 1) @ X.T)",
            lambda t, x, y, k: ((2 * x + 1) @ (y * k) @ (y.T - 1) @ x.T).sum(),
            X=M,
            Y=N,
            k=(),
        ),
        case(
            "sum(sin(B @ D) @ v)",
            lambda t, b, d, v: (t.sin(b @ d) @ v).sum(),
            B=(2, 1, 3, 4),
            D=(5, 4, 2),
            v=(2,),
        ),
        case(
            "norm(v @ D + X @ w)",
            lambda t, v, d, x, w: (v @ d + x @ w).norm(),
            v=V,
            D=(3, 4, 3),
            X=S,
            w=(3,),
        ),
    ],
    "dot": [case("dot(v, w)*dot(v, v)", lambda t, v, w: v.dot(w) * v.dot(v), v=V, w=W)],
    "outer": [
        case("sum(exp(outer(v, u)))", lambda t, v, u: t.outer(v, u).exp().sum(), v=V, u=(3,))
    ],
    "sum": [
        case("sum(X, axis=0) @ v", lambda t, x, v: x.sum(0) @ v, X=M, v=V),
        case(
            "sum(sum(X^2, axis=1, keepdims=True)*X)",
            lambda t, x: ((x**2).sum(1, keepdim=True) * x).sum(),
            X=M,
        ),
        case(
            "sum(sum(B*B, axis=[0, 2])^2)",
            lambda t, b: ((b * b).sum((0, 2)) ** 2).sum(),
            B=(2, 3, 2),
        ),
        case("sum(k) + sum([k, 2])", lambda t, k: 2 * k + 2, k=()),
        case("sum(X, keepdims=True)[0, 0]^2", lambda t, x: x.sum() ** 2, X=M),
    ],
    "mean": [
        case("mean(X)*mean(X, axis=-1)[1]", lambda t, x: x.mean() * x.mean(-1)[1], X=M),
        case("sum((X - mean(X, axis=0))^2)", lambda t, x: ((x - x.mean(0)) ** 2).sum(), X=M),
    ],
    "prod": [
        case("prod(v)", lambda t, v: v.prod(), v=(5,)),
        case("sum(prod(X, axis=1)^2)", lambda t, x: (x.prod(1) ** 2).sum(), X=M),
        case(
            "sum(prod(B, axis=[0, 2], keepdims=True)*B)",
            lambda t, b: (b.prod(2, True).prod(0, True) * b).sum(),
            B=(2, 3, 2),
        ),
    ],
    "reduce_max": [
        case("max(v) + max(X, axis=0) @ v", lambda t, v, x: v.max() + x.amax(0) @ v, v=V, X=M),
        case("sum(X/max(X, axis=1, keepdims=True))", lambda t, x: (x / x.amax(1, True)).sum(), X=M),
        case("max(max(v, w))", lambda t, v, w: t.maximum(v, w).max(), v=V, w=W),
    ],
    "reduce_min": [case("min(X)*min(X, axis=[0, 1])^2", lambda t, x: x.min() ** 3, X=M)],
    "norm": [
        case("norm(X)^3", lambda t, x: x.norm() ** 3, X=M),
        case(
            "sum(X/norm(X, axis=1, keepdims=True), axis=0) @ v",
            lambda t, x, v: (x / x.norm(dim=1, keepdim=True)).sum(0) @ v,
            X=M,
            v=V,
        ),
    ],
    "softmax": [
        case("softmax(v) @ w", lambda t, v, w: v.softmax(0) @ w, v=V, w=W),
        case(
            "sum(softmax(X, axis=0)*X + softmax(X)^2)",
            lambda t, x: (x.softmax(0) * x + x.softmax(1) ** 2).sum(),
            X=M,
        ),
        case(
            "sum(softmax(X, axis=[0, 1])*X)",
            lambda t, x: (x.flatten().softmax(0) * x.flatten()).sum(),
            X=M,
        ),
    ],
    "reduce_logsumexp": [
        case("logsumexp(X)", lambda t, x: x.flatten().logsumexp(0), X=M),
        case("sum(logsumexp(X, axis=1)^2)", lambda t, x: (x.logsumexp(1) ** 2).sum(), X=M),
        case(
            "sum(logsumexp(v, w, 1)*v)",
            lambda t, v, w: (t.logaddexp(t.logaddexp(v, w), v * 0 + 1) * v).sum(),
            v=V,
            w=W,
        ),
    ],
    "cross_entropy": [
        case("cross_entropy(X, [0, 3, 1])", lambda t, x: entropy(t, x, t.tensor([0, 3, 1])), X=M),
        case(
            "cross_entropy(X, softmax(Y))",
            lambda t, x, y: t.nn.functional.cross_entropy(x, y.softmax(1)),
            X=M,
            Y=M,
        ),
        case("cross_entropy(v, 2)^2", lambda t, v: entropy(t, v, t.tensor(2)) ** 2, v=V),
    ],
    "onehot": [
        case(
            "sum(onehot([1, 0, 3], classes=4)*X^2)",
            lambda t, x: x[0, 1] ** 2 + x[1, 0] ** 2 + x[2, 3] ** 2,
            X=M,
        )
    ],
    "transpose": [
        case("sum(X.T @ X)", lambda t, x: (x.T @ x).sum(), X=M),
        case(
            "sum(transpose(B, axes=[1, 2, 0])*C)",
            lambda t, b, c: (b.permute(1, 2, 0) * c).sum(),
            B=(2, 3, 4),
            C=(3, 4, 2),
        ),
        case(
            "sum(B.T*C)", lambda t, b, c: (b.permute(2, 1, 0) * c).sum(), B=(2, 3, 4), C=(4, 3, 2)
        ),
    ],
    "reshape": [
        case(
            "sum(reshape(X, shape=[2, 6])*reshape(Y, shape=[2, -1])^2)",
            lambda t, x, y: (x.reshape(2, 6) * y.reshape(2, 6) ** 2).sum(),
            X=M,
            Y=M,
        )
    ],
    "broadcast": [
        case(
            "sum(X + v)*sum(X*u)",
            lambda t, x, v, u: (x + v).sum() * (x * u).sum(),
            X=M,
            v=V,
            u=(3, 1),
        ),
        case("sum(u*v)", lambda t, u, v: (u * v).sum(), u=(3, 1), v=V),
        case("sum(broadcast(v, shape=[3, 4]) @ w)", lambda t, v, w: 3 * v @ w, v=V, w=W),
        case(
            "norm(exp(k) + 0*v) + mean(k*v)",
            lambda t, k, v: (k.exp() + 0 * v).norm() + (k * v).mean(),
            k=(),
            v=V,
        ),
    ],
    "index": [
        case("X[1, 2]*X[-1, 0] + X[0] @ X[1]", lambda t, x: x[1, 2] * x[-1, 0] + x[0] @ x[1], X=M),
        case(
            "sum(X[1:, :2]^2) + sum(X[:, 3])",
            lambda t, x: (x[1:, :2] ** 2).sum() + x[:, 3].sum(),
            X=M,
        ),
        case("sum(v[1:3])*v[-2]", lambda t, v: v[1:3].sum() * v[-2], v=V),
    ],
    "place": [
        case("sum(place(v, shape=[3, 4], at=[1])*X)", lambda t, v, x: (v * x[1]).sum(), v=V, X=M),
    ],
    "concat": [
        case("norm(concat(v, u, v))", lambda t, v, u: t.cat((v, u, v)).norm(), v=V, u=(3,)),
        case(
            "sum(concat(X, X^2, axis=1) @ z)",
            lambda t, x, z: (t.cat((x, x**2), 1) @ z).sum(),
            X=M,
            z=(8,),
        ),
    ],
    "stack": [
        case(
            "norm([v, w, 2*v] @ v)", lambda t, v, w: (t.stack((v, w, 2 * v)) @ v).norm(), v=V, w=W
        ),
        case(
            "sum(stack(v, w, axis=1)*Y) + [k, 1, v[0]] @ [1, 2, k]",
            lambda t, v, w, y, k: (t.stack((v, w), 1) * y).sum() + k + 2 + v[0] * k,
            v=V,
            w=W,
            Y=N,
            k=(),
        ),
    ],
    "solve": [
        case(
            "norm(solve(S + 9*diag([1, 1, 1]), u))*sum(solve(diag(u), S)^2)",
            lambda t, s, u: (
                t.linalg.solve(s + 9 * t.eye(3), u).norm()
                * (t.linalg.solve(u.diag(), s) ** 2).sum()
            ),
            S=S,
            u=(3,),
        ),
        case(
            "P = B @ transpose(B, axes=[0, 2, 1]) + diag([1, 1, 1]);"
            "sum(solve(P, u)^2) + norm(solve(P, B))",
            lambda t, b, u: (
                (t.linalg.inv(b @ b.mT + t.eye(3)) @ u).square().sum()
                + t.linalg.solve(b @ b.mT + t.eye(3), b).norm()
            ),
            B=(2, 3, 2),
            u=(3,),
        ),
    ],
    "inv": [
        case("sum(inv(S)^2)", lambda t, s: (t.linalg.inv(s) ** 2).sum(), S=S),
        case("norm(inv(B) @ u)", lambda t, b, u: (t.linalg.inv(b) @ u).norm(), B=(2, 3, 3), u=(3,)),
    ],
    "det": [
        case(
            "det(S)^2 + sum(det(B)*u)",
            lambda t, s, b, u: s.det() ** 2 + (b.det() * u).sum(),
            S=S,
            B=(3, 2, 2),
            u=(3,),
        ),
        case("det(Z)", lambda t, z: z.det(), Z=(9, 9)),
    ],
    "logdet": [
        case(
            "logdet(S) + sum(logdet(B))",
            lambda t, s, b: s.slogdet()[1] + b.slogdet()[1].sum(),
            S=S,
            B=(3, 2, 2),
        ),
    ],
    "cofactors": [
        case("norm(cofactors(S))", lambda t, s: (s.det() * t.linalg.inv(s)).norm(), S=S),
    ],
    "cumsum": [
        case(
            "norm(cumsum(X, axis=1)*cumsum(X^2, axis=0, reverse=True)) + norm(cumsum(v^2, reverse=True))",
            lambda t, x, v: (
                (x.cumsum(1) * (x**2).flip(0).cumsum(0).flip(0)).norm()
                + (v**2).flip(0).cumsum(0).norm()
            ),
            X=M,
            v=V,
        )
    ],
    "cumprod": [
        case(
            "norm(cumprod(X, axis=-1)) + sum(cumprod(X, axis=0, reverse=True)) + cumprod(v)[2]",
            lambda t, x, v: x.cumprod(1).norm() + x.flip(0).cumprod(0).sum() + v.cumprod(0)[2],
            X=M,
            v=V,
        )
    ],
    "linspace": [
        case(
            "norm(linspace(k, v[1], 5)^2 + sum(linspace(k, 2, n=1)))",
            lambda t, k, v: ((k + (v[1] - k) * t.arange(5).double() / 4) ** 2 + k).norm(),
            k=(),
            v=V,
        )
    ],
    "trace": [case("trace(S @ S)", lambda t, s: (s @ s).trace(), S=S)],
    "diag": [
        case(
            "sum(diag(S)^3) + sum(diag(u) @ S)",
            lambda t, s, u: (s.diag() ** 3).sum() + (u.diag() @ s).sum(),
            S=S,
            u=(3,),
        ),
    ],
}
LAYERS = [
    case(
        "h = tanh(X @ A + a); z = h @ B + b;"
        "loss = cross_entropy(z, [0, 2, 1]) + 0.01*(norm(A) + norm(B))",
        lambda t, x, w, a, v, b: (
            entropy(t, (x @ w + a).tanh() @ v + b, t.tensor([0, 2, 1]))
            + 0.01 * (w.norm() + v.norm())
        ),
        X=M,
        A=(4, 5),
        a=(5,),
        B=(5, 3),
        b=(3,),
    ),
    case(
        "s = Q @ K.T/sqrt(4); w = softmax(s); o = w @ V; mean((o - Y)^2)",
        lambda t, q, k, v, y: (((q @ k.T / 2).softmax(1) @ v - y) ** 2).mean(),
        Q=M,
        K=(5, 4),
        V=(5, 2),
        Y=(3, 2),
    ),
    case(
        "m = mean(X, axis=1, keepdims=True); v = mean((X - m)^2, axis=1, keepdims=True);"
        "n = (X - m)/sqrt(v + 1e-5); sum(relu(n*g + b)*X)",
        lambda t, x, g, b: (t.relu(t.nn.functional.layer_norm(x, (4,), g, b, 1e-5)) * x).sum(),
        X=M,
        g=V,
        b=V,
    ),
    case(
        "d = sum((reshape(X, shape=[3, 1, 4]) - reshape(C, shape=[1, 2, 4]))^2, axis=2);"
        "mean(-max(-d, axis=1))",
        lambda t, x, c: ((x[:, None] - c[None]) ** 2).sum(2).amin(1).mean(),
        X=M,
        C=(2, 4),
    ),
    case(
        "p = sigmoid(X @ w + k); mean(where(p > 0.5, -log(p), softplus(X @ w)*erfc(k))) + erf(norm(w))",
        lambda t, x, w, k: (
            t.where(
                (x @ w + k).sigmoid() > 0.5,
                -(x @ w + k).sigmoid().log(),
                t.nn.functional.softplus(x @ w) * t.erfc(k),
            ).mean()
            + t.erf(w.norm())
        ),
        X=M,
        w=V,
        k=(),
    ),
]
EVERY = [*[one for cases in ROWS.values() for one in cases], *LAYERS]


def values(one: Case) -> dict[str, Any]:
    """Values for a formula's inputs, the same each time, away from kinks and of both signs."""
    random = np.random.default_rng(len(one.text))
    names = parse(one.text).inputs
    return {
        name: random.uniform(0.2, 2.0, one.shapes[name])
        * random.choice([-1.0, 1.0], one.shapes[name])
        for name in names
    }


def test_every_structural_operation_has_a_case() -> None:
    assert ROWS.keys() == STRUCTURAL.keys()


def runs() -> list[Any]:
    """Every formula in every library; JAX takes its time to compile, and meets most in slow tests."""
    found = []
    for one in EVERY:
        for target in TARGETS:
            slow = target == "jax" and one.text not in COMPILED
            marks = [pytest.mark.slow] if slow else []
            found.append(pytest.param(target, one, id=f"{target}: {one.text}", marks=marks))
    return found


COMPILED = {
    LAYERS[0].text,
    LAYERS[1].text,
    *[ROWS[row][-1].text for row in ("prod", "index", "stack")],
}


@pytest.mark.parametrize(("target", "one"), runs())
def test_programs_find_what_gradient_and_autograd_find(target: str, one: Case) -> None:
    f = parse(one.text, shapes=one.shapes)
    given = values(one)
    value, gradient = call(target, f.code(target), "f", [*given.values()])
    run = f.gradient(given)
    assert near(value, run.value)
    for name, found in zip(f.inputs, gradient, strict=True):
        assert near(found, run.gradient[name]), name
    peer = autograd(one, given)
    for found, wanted in zip([value, *gradient], peer, strict=True):
        assert near(found, wanted)


def autograd(one: Case, given: Mapping[str, Any]) -> list[Any]:
    """Value and gradients by PyTorch, of the formula as it is written there."""
    require("torch")
    import torch

    inputs = [
        torch.tensor(value, dtype=torch.float64, requires_grad=True) for value in given.values()
    ]
    value = one.peer(torch, *[inputs[[*given].index(name)] for name in one.shapes])
    found = torch.autograd.grad(value, inputs, allow_unused=True)
    zeros = [torch.zeros_like(x) if g is None else g for x, g in zip(inputs, found, strict=True)]
    return [value.detach().numpy(), *[g.numpy() for g in zeros]]


SPECIAL: dict[str, dict[str, Any]] = {
    "max(v) + sum(max(X, axis=0)) + min(X)": {"v": [1, 3, 3, 3], "X": [[2, 0, 0, 1], [2, 0, 5, 1]]},
    "det(X) + sum(inv(Y)) + solve(Y, v)[0] + sum(inv(Z))": {
        "X": [[1, 2], [2, 4]],
        "Y": [[1, 2], [2, 4]],
        "v": [1, 2],
        "Z": [[[1, 2], [3, 4]], [[0, 0], [0, 0]]],
    },
    "logdet(X)": {"X": [[1, 2], [2, 4]]},
    "prod(v) + sum(prod(X, axis=1))": {"v": [2, 0, 3, 4], "X": [[0, 0, 1], [5, 0, 7]]},
    "sum(cumprod(v)*[1, 0, 3, 4, 5])": {"v": [2, 0, 3, 0, 4]},
    "norm(v) + sum(norm(X, axis=1))": {"v": [0, 0, 0], "X": [[3, 4], [0, 0]]},
    "norm(v) + norm(w)": {"v": [3e200, 4e200], "w": [3e-200, 4e-200]},
    "sum(softmax(v)*[1, 2, 3]) + logsumexp(v)": {"v": [1000, 0, 1001]},
    "logsumexp(v) + sum(logsumexp(X, axis=1))": {
        "v": [-inf, 1, -inf],
        "X": [[inf, 0], [-inf, -inf]],
    },
    "cross_entropy(X, y)": {"X": [[1000, 0, 1], [0, 1, 2]], "y": [1, 2]},
    "cross_entropy(X, y) + sum(z)": {"X": [[1, 0], [0, 1]], "y": [0.5, 7], "z": [1, 2]},
    "sum(where(v > 0, log(v), 0*w)) + sum(1/w)": {"v": [1, 0, -1], "w": [0, inf, nan]},
}
"""Ties, zeros and numbers that are not finite: there programs answer as ``grad`` does."""


@pytest.mark.parametrize("target", ["numpy", "torch", pytest.param("jax", marks=pytest.mark.slow)])
@pytest.mark.parametrize("text", SPECIAL)
def test_programs_answer_as_grad_does_at_ties_and_where_numbers_end(target: str, text: str) -> None:
    given = {name: np.array(value, dtype=float) for name, value in SPECIAL[text].items()}
    f = parse(text, shapes={name: value.shape for name, value in given.items()})
    run = f.gradient(given)
    value, gradient = call(target, f.code(target), "f", [given[name] for name in f.inputs])
    np.testing.assert_allclose(value, run.value, rtol=1e-14)
    for name, found in zip(f.inputs, gradient, strict=True):
        np.testing.assert_allclose(found, run.swept[name], rtol=1e-14, err_msg=name)
