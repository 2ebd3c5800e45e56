"""Programs of tensors as people meet them: how they read, what they refuse, rows without a spelling."""

from __future__ import annotations

import re
from typing import Any

import pytest

from exprgrad import parse
from exprgrad.errors import RequestError, ShapeError
from exprgrad.graph.structural import Parameter, Structural
from exprgrad.graph.tensors import STRUCTURAL, WORDS
from golden import agree
from programs import Program, call, function, near, require
from shell import command

np = pytest.importorskip("numpy")
ENDINGS = {"numpy": "np.py", "jax": "jax.py", "torch": "pt.py"}
each_target = pytest.mark.parametrize("target", ENDINGS)
SAMPLES: dict[str, tuple[str, dict[str, tuple[int, ...]]]] = {
    "network": (
        "h = relu(X @ W1 + b1); z = h @ W2 + b2; loss = cross_entropy(z, y) + k*norm(W1)^2",
        {"X": (150, 4), "W1": (4, 8), "b1": (8,), "W2": (8, 3), "b2": (3,), "y": (150,)},
    ),
    "attention": (
        "w = softmax(Q @ K.T/sqrt(8)); mean((w @ V - [[1, 2], [3, 4], [5, 6]])^2)",
        {"Q": (3, 8), "K": (5, 8), "V": (5, 2)},
    ),
    "moves": (
        "m = max(X, axis=1); concat(m, [k, 1], v[1:3]) @ [0, 1, 2, 3, 4, 5] + X[0, 1]*prod(v)",
        {"X": (2, 3), "v": (4,)},
    ),
}


@each_target
@pytest.mark.parametrize("sample", SAMPLES)
def test_programs_of_tensors_read_as_they_did(target: str, sample: str) -> None:
    text, shapes = SAMPLES[sample]
    agree(f"code/{sample}.{ENDINGS[target]}", parse(text, shapes=shapes).code(target))


def test_the_command_takes_shapes() -> None:
    done = command("code", "mean((X @ w)^2)", "--to", "numpy", "--shape", "X=5x2,w=2", "--wrt", "w")
    expected = parse("mean((X @ w)^2)", shapes={"X": (5, 2), "w": (2,)}).code("numpy", wrt=["w"])
    assert done == (0, expected, "")
    done = command("code", "mean((X @ w)^2)", "--to", "c", "--shape", "X=5x2,w=2")
    assert (done.status, done.out) == (2, "") and "'X' is a tensor of shape (5, 2)" in done.err


@each_target
def test_a_tensor_that_is_written_out_is_cut_into_lines(target: str) -> None:
    f = parse(f"c = {[x / 7 for x in range(200)]}; sum(c*x)", shapes={"x": (200,)})
    code = f.code(target)
    assert max(map(len, code.splitlines())) <= 100 and not re.search(r"[ \t]$", code, re.MULTILINE)
    value, gradient = call(target, code, "f", [np.ones(200)])
    assert near(value, sum(range(200)) / 7) and near(gradient[0], np.arange(200) / 7)


# What a program is asked for, and what it is given.


@each_target
def test_a_value_alone_may_be_a_tensor(target: str) -> None:
    f = parse("softmax(X @ w, axis=0)*k", shapes={"X": (2, 3), "w": (3,)})
    with pytest.raises(
        ShapeError, match=r"code needs an output that is a number, but this is \(2,\)"
    ):
        f.code(target)
    given = [np.arange(6.0).reshape(2, 3), np.ones(3), 2]
    value, _ = call(target, f.code(target, value_only=True), "f", given)
    assert near(value, f.evaluate(X=given[0], w=given[1], k=2).value)


@each_target
def test_some_of_the_inputs_and_names_that_are_taken(target: str) -> None:
    f = parse(
        "t1 = np*g_input; s = softmax(t1 @ shape); s @ jnp + torch",
        shapes={"np": (2, 3), "shape": (3,), "jnp": (2,)},
    )
    code = f.code(target, name="g", wrt=["shape", "torch"])
    given = {
        "np": np.ones((2, 3)),
        "g_input": 0.5,
        "shape": np.arange(3.0),
        "jnp": np.array([1.0, 3.0]),
        "torch": 2.0,
    }
    value, gradient = call(target, code, "g", [given[name] for name in f.inputs])
    run = f.gradient(given, wrt=["shape", "torch"])
    assert near(value, run.value) and len(gradient) == 2
    assert near(gradient[0], run.gradient["shape"]) and near(gradient[1], 1.0)


@pytest.mark.parametrize("target", ["numpy", "torch"])
def test_an_input_of_another_shape_is_refused(target: str) -> None:
    require(target)
    f = function(
        Program(parse("mean(X*v)", shapes={"X": (2, 3), "v": (3,)}).code(target), "f", None, ())
    )
    assert float(f([[1, 2, 3], [4, 5, 6]], [1, 1, 1])[0]) == 3.5
    for given in (np.ones((3, 2)), np.ones((4, 3)), 1.0, [1.0, 2.0, 3.0]):
        with pytest.raises(
            ValueError, match=r"an input has shape .*, and the program is for \(2, 3\)"
        ):
            f(given, [1, 1, 1])


def test_torch_leaves_no_history_and_takes_other_types() -> None:
    require("torch")
    import torch

    x = torch.tensor([1.0, 2.0], dtype=torch.float32, requires_grad=True)
    code = parse("norm(x)^2 + k", shapes={"x": (2,)}).code("torch")
    value, gradient = function(Program(code, "f", None, ()))(x, 3)
    assert not value.requires_grad and not any(found.requires_grad for found in gradient)
    assert [found.dtype for found in (value, *gradient)] == [torch.float64] * 3
    assert gradient[0].tolist() == pytest.approx([2, 4], rel=1e-15)


@pytest.mark.parametrize("target", ["numpy", "torch"])
def test_inputs_may_be_changed_in_place_without_harm_to_gradients(target: str) -> None:
    require(target)
    shapes = {"v": (3,), "w": (3,), "X": (3, 2)}
    code = parse("v @ w + sum(X.T*[[1, 2, 3], [4, 5, 6]]) + sum(X[:, 0]*w)", shapes=shapes).code(
        target
    )
    given = [np.array([1.0, 2.0, 3.0]), np.array([4.0, 5.0, 6.0]), np.ones((3, 2))]
    if target == "torch":
        import torch

        given = [torch.tensor(value) for value in given]
    _, gradient = function(Program(code, "f", None, ()))(*given)
    for value in given:
        value -= 100
    assert [found.tolist() for found in gradient] == [
        [4, 5, 6], [2, 3, 4], [[5, 4], [7, 5], [9, 6]],
    ]  # fmt: skip


REFUSED = {
    "sum(X @ w)": ("'X' is a tensor of shape (2, 3)", (4, 5)),
    "a*2 + sum([a, b])": ("this is a tensor of shape (2,)", (10, 16)),
    "max([3, 1])": ("this is a tensor of shape (2,)", (4, 10)),
    "a + norm(a)": ("this takes tensors", (4, 11)),
}


@pytest.mark.parametrize("target", ["python", "c", "javascript"])
@pytest.mark.parametrize("text", REFUSED)
def test_other_languages_refuse_tensors(target: str, text: str) -> None:
    shapes = {"X": (2, 3), "w": (3,)} if "X" in text else {}
    with pytest.raises(RequestError) as caught:
        parse(text, shapes=shapes).code(target)
    message, span = REFUSED[text]
    assert caught.value.code == "no-tensors" and caught.value.span == span
    assert message in caught.value.message and "numpy, jax and torch" in str(caught.value.help)


# A new row.


def spread_of(np: Any, operands: Any, settings: Any) -> Any:
    (x,) = operands
    gaps = x - np.mean(x, axis=settings[0], keepdims=True)
    return np.sqrt(np.max(gaps**2) + np.exp(-np.abs(np.sum(x)))) + 0 * np.prod(
        np.shape(x)[0] - gaps
    )


def spread_formula(b: Any, operands: Any, settings: Any) -> Any:
    (x,) = operands
    gaps = b.apply("sub", x, b.apply("mean", x, settings=(settings[0], True)))
    top = b.apply("reduce_max", b.apply("pow", gaps, b.constant(2.0)), settings=(None, False))
    total = b.apply("abs", b.apply("sum", x, settings=(None, False)))
    root = b.apply("sqrt", b.apply("add", top, b.apply("exp", b.apply("neg", total))))
    rest = b.apply("sub", b.constant(float(b.shape(x)[0])), gaps)
    none = b.apply("mul", b.constant(0.0), b.apply("prod", rest, settings=(None, False)))
    return b.apply("add", root, none)


@pytest.fixture
def spread(monkeypatch: pytest.MonkeyPatch) -> Structural:
    """A row that no library spells, in the table for one test."""
    row = Structural(
        "spread", "x", "how far numbers are from their mean", lambda shapes, settings: (), None,
        lambda b, p: b.apply("mul", p.given, p.operand), parameters=(Parameter("axis", "axes"),),
        fallback=spread_formula,
    )  # fmt: skip
    monkeypatch.setitem(STRUCTURAL, row.name, row)
    monkeypatch.setitem(WORDS, row.name, row)
    return row


@each_target
def test_a_new_row_needs_no_spelling(target: str, spread: Structural) -> None:
    f = parse("2*spread(X, axis=1) + spread(X)", shapes={"X": (2, 3)})
    x = np.array([[1.0, 2.0, 4.0], [0.5, -1.0, 3.0]])
    value, gradient = call(target, f.code(target), "f", [x])
    assert near(f.evaluate(X=x).value, value)
    assert near(value, 2 * spread_of(np, [x], (1,)) + spread_of(np, [x], (None,)))
    assert near(gradient[0], 3 * x)


def test_a_new_row_that_cannot_be_written_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    row = Structural(
        "turn", "x", "the numbers turned", lambda shapes, settings: shapes[0],
        lambda np, x, s: np.flip(x[0]), lambda b, p: p.given,
    )  # fmt: skip
    monkeypatch.setitem(STRUCTURAL, row.name, row)
    monkeypatch.setitem(WORDS, row.name, row)
    with pytest.raises(RequestError) as caught:
        parse("sum(turn(x))", shapes={"x": (3,)}).code("numpy")
    assert caught.value.code == "no-spelling" and "'turn'" in caught.value.message


@pytest.mark.parametrize("target", ["numpy", "torch"])
def test_no_two_derivatives_share_memory(target: str) -> None:
    require(target)
    shapes = {"x": (3,), "y": (3,), "z": (3, 1)}
    code = parse("sum(x + y) + sum(z.T)", shapes=shapes).code(target)
    first, second, third = function(Program(code, "f", None, ()))(*map(np.ones, shapes.values()))[1]
    first -= 5
    assert second.tolist() == [1, 1, 1] and third.tolist() == [[1], [1], [1]]


@each_target
@pytest.mark.parametrize("shape", [(3,), (3, 1), (1, 3), (3, 1, 1)])
def test_a_literal_that_counts_keeps_its_shape(target: str, shape: tuple[int, ...]) -> None:
    require(target)
    literal = str(np.arange(3).reshape(shape).tolist())
    f = parse(f"sum({literal}*x)", shapes={"x": shape})
    x = np.array([2.0, 3.0, 5.0]).reshape(shape)
    value, (slope,) = function(Program(f.code(target), "f", None, ()))(x)
    assert (
        float(value) == 13 and np.asarray(slope).tolist() == np.arange(3.0).reshape(shape).tolist()
    )
