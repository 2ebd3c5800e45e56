"""Every way to get shapes and indices wrong: what is said, where the carets stand, and the mend.

The golden file holds what people read.  A case is a formula, its inputs' shapes, and the text of the
operation that is to be blamed.
"""

from __future__ import annotations

import json
import re

import pytest

import golden
from exprgrad.errors import ExprgradError, RequestError, ShapeError, render_error
from exprgrad.graph.graph import Shape
from exprgrad.language.read.parse import parse_text
from exprgrad.language.read.shaping import infer_shapes
from exprgrad.source import display_width
from shell import command

Case = tuple[str, dict[str, Shape], str]

LONG = "weights_of_the_first_hidden_layer"
SUM = "+".join(["a"] * 60)
GROUPS: dict[str, list[Case]] = {
    "products": [
        ("X @ W", {"X": (32, 784), "W": (10, 784)}, "X @ W"),
        ("X @ W", {"X": (784, 32), "W": (784, 10)}, "X @ W"),
        ("W @ X", {"X": (32, 784), "W": (784, 10)}, "W @ X"),
        ("X @ W", {"X": (2, 3), "W": (5, 7)}, "X @ W"),
        ("W @ x", {"W": (10, 784), "x": (10,)}, "W @ x"),
        ("x @ W", {"W": (10, 784), "x": (784,)}, "x @ W"),
        ("x @ y", {"x": (3,), "y": (4,)}, "x @ y"),
        ("2 @ x", {"x": (3,)}, "2 @ x"),
        ("v·w", {"v": (3,), "w": (3,)}, "v·w"),
        ("2*((v + w)×w)", {"v": (3,), "w": (3,)}, "(v + w)×w"),
        ("X @ b", {"X": (2, 3), "b": ()}, "X @ b"),
        ("T @ X", {"T": (2, 3, 4), "X": (5, 4)}, "T @ X"),
        ("T @ x", {"T": (2, 3, 4), "x": (3,)}, "T @ x"),
        ("T @ U", {"T": (2, 3, 4), "U": (5, 4, 3)}, "T @ U"),
        ("T @ U", {"T": (2, 3, 4), "U": (2, 5, 4)}, "T @ U"),
        ("inv(X)", {"X": (2, 3)}, "inv(X)"),
        ("det(x)", {"x": (3,)}, "det(x)"),
        ("logdet(2)", {}, "logdet(2)"),
        ("solve(A, b)", {"A": (3, 3), "b": (2,)}, "solve(A, b)"),
        ("solve(A, b)", {"A": (5, 3, 3), "b": (5, 3)}, "solve(A, b)"),
        ("solve(A, b)", {"A": (5, 3, 3), "b": (4, 3, 2)}, "solve(A, b)"),
        ("solve(b, A)", {"A": (3, 3), "b": (3,)}, "solve(b, A)"),
        ("solve(A, 2)", {"A": (3, 3)}, "solve(A, 2)"),
        ("solve(a, b)", {"a": (), "b": ()}, "solve(a, b)"),
        ("A^-1 + B", {"A": (3, 3), "B": ()}, "A^-1"),
        ("cumsum(X)", {"X": (2, 3)}, "cumsum(X)"),
        ("cumprod(x, axis=1)", {"x": (3,)}, "cumprod(x, axis=1)"),
        ("cumsum(2)", {}, "cumsum(2)"),
        ("linspace(x, 1, 3)", {"x": (2, 3)}, "linspace(x, 1, 3)"),
        ("matmul(X, W)", {"X": (2, 3), "W": (2, 3)}, "matmul(X, W)"),
        ("X @ X", {"X": (2, 3)}, "X @ X"),
        ("dot(x, y)", {"x": (3,), "y": (4,)}, "dot(x, y)"),
        ("dot(X, y)", {"X": (3, 4), "y": (4,)}, "dot(X, y)"),
        ("dot(x, 2)", {"x": (3,)}, "dot(x, 2)"),
        ("outer(X, y)", {"X": (3, 4), "y": (4,)}, "outer(X, y)"),
        ("outer(x, 1)", {"x": (3,)}, "outer(x, 1)"),
        ("trace(X)", {"X": (2, 3)}, "trace(X)"),
        ("trace(x)", {"x": (3,)}, "trace(x)"),
        ("diag(X)", {"X": (2, 3)}, "diag(X)"),
        ("diag(2)", {}, "diag(2)"),
    ],
    "broadcasting": [
        ("x + y", {"x": (3,), "y": (4,)}, "x + y"),
        ("x*y", {"x": (2, 3), "y": (4, 3)}, "x*y"),
        ("X*W", {"X": (32, 784), "W": (784, 10)}, "X*W"),
        ("X*w", {"X": (32, 784), "w": (32,)}, "X*w"),
        ("X - Y", {"X": (2, 3), "Y": (3, 2)}, "X - Y"),
        ("T/m", {"T": (5, 4, 3), "m": (5, 4)}, "T/m"),
        ("x < y", {"x": (3,), "y": (2,)}, "x < y"),
        ("x^y", {"x": (3,), "y": (2,)}, "x^y"),
        ("max(x, y, z)", {"x": (3,), "y": (1,), "z": (2,)}, "max(x, y, z)"),
        ("max(a, b, c, d, e, f)", {n: (i,) for i, n in enumerate("abcdef", 2)}, "max(a, b, c, d, e, f)"),
        ("where(x > 0, y, 0)", {"x": (3,), "y": (4,)}, "where(x > 0, y, 0)"),
        ("clamp(x, [0, 0], 1)", {"x": (3,)}, "clamp(x, [0, 0], 1)"),
        ("atan2(x, y)", {"x": (3, 1, 2), "y": (4, 3)}, "atan2(x, y)"),
        ("x + [1, 2]", {"x": (3,)}, "x + [1, 2]"),
    ],
    "indices": [
        ("x[5]", {"x": (3,)}, "x[5]"),
        ("x[-4]", {"x": (3,)}, "x[-4]"),
        ("x[1]", {"x": (1,)}, "x[1]"),
        ("X[0, 3]", {"X": (2, 3)}, "X[0, 3]"),
        ("X[:, -4]", {"X": (2, 3)}, "X[:, -4]"),
        ("x[0, 1]", {"x": (3,)}, "x[0, 1]"),
        ("X[0][1][2]", {"X": (2, 3)}, "X[0][1][2]"),
        ("X[0, 1, :]", {"X": (2, 3)}, "X[0, 1, :]"),
        ("b[0]", {"b": ()}, "b[0]"),
        ("2[0]", {}, "2[0]"),
        ("sum(x)[0]", {"x": (3,)}, "sum(x)[0]"),
        ("x[2:2]", {"x": (3,)}, "x[2:2]"),
        ("x[3:]", {"x": (3,)}, "x[3:]"),
        ("x[:-3]", {"x": (3,)}, "x[:-3]"),
        ("X[:, 2:1]", {"X": (2, 3)}, "X[:, 2:1]"),
        ("place(x, shape=[4], at=[[0, 2]])", {"x": (3,)}, "place(x, shape=[4], at=[[0, 2]])"),
        ("place(x, shape=[4], at=[4])", {"x": ()}, "place(x, shape=[4], at=[4])"),
        ("place(x, shape=[4], at=[0, 0])", {"x": ()}, "place(x, shape=[4], at=[0, 0])"),
    ],
    "axes": [
        ("sum(X, axis=2)", {"X": (2, 3)}, "sum(X, axis=2)"),
        ("mean(x, axis=1)", {"x": (3,)}, "mean(x, axis=1)"),
        ("prod(x, axis=-2)", {"x": (3,)}, "prod(x, axis=-2)"),
        ("max(X, axis=[0, 0])", {"X": (2, 3)}, "max(X, axis=[0, 0])"),
        ("min(X, axis=[1, -1])", {"X": (2, 3)}, "min(X, axis=[1, -1])"),
        ("norm(b, axis=0)", {"b": ()}, "norm(b, axis=0)"),
        ("softmax(2)", {}, "softmax(2)"),
        ("softmax(x, axis=1)", {"x": (3,)}, "softmax(x, axis=1)"),
        ("logsumexp(X, axis=-3)", {"X": (2, 3)}, "logsumexp(X, axis=-3)"),
        ("transpose(X, axes=[0])", {"X": (2, 3)}, "transpose(X, axes=[0])"),
        ("transpose(X, axes=[0, 0])", {"X": (2, 3)}, "transpose(X, axes=[0, 0])"),
        ("transpose(X, axes=[0, 2])", {"X": (2, 3)}, "transpose(X, axes=[0, 2])"),
        ("cross_entropy(z, y)", {"z": (32, 10), "y": (10,)}, "cross_entropy(z, y)"),
        ("cross_entropy(z, y)", {"z": (32, 10), "y": (32, 1)}, "cross_entropy(z, y)"),
        ("cross_entropy(z, y)", {"z": (10,), "y": (9,)}, "cross_entropy(z, y)"),
        ("cross_entropy(z, y)", {"z": (), "y": ()}, "cross_entropy(z, y)"),
    ],
    "forms": [
        ("reshape(x, [4, 2])", {"x": (2, 3)}, "reshape(x, [4, 2])"),
        ("reshape(x, [4, -1])", {"x": (6,)}, "reshape(x, [4, -1])"),
        ("reshape(x, [-1, -1])", {"x": (6,)}, "reshape(x, [-1, -1])"),
        ("reshape(x, 1)", {"x": (6,)}, "reshape(x, 1)"),
        ("broadcast(x, [3, 2])", {"x": (3,)}, "broadcast(x, [3, 2])"),
        ("broadcast(X, [3])", {"X": (1, 3)}, "broadcast(X, [3])"),
        ("concat(a, b)", {"a": (), "b": ()}, "concat(a, b)"),
        ("concat(x, 1)", {"x": (3,)}, "concat(x, 1)"),
        ("concat(b)", {"b": ()}, "concat(b)"),
        ("concat(X, Y)", {"X": (2, 3), "Y": (2, 4)}, "concat(X, Y)"),
        ("concat(X, Y)", {"X": (2, 3), "Y": (4, 5)}, "concat(X, Y)"),
        ("concat(X, y)", {"X": (2, 3), "y": (3,)}, "concat(X, y)"),
        ("concat(x, y, axis=1)", {"x": (3,), "y": (3,)}, "concat(x, y, axis=1)"),
        ("stack(x, y)", {"x": (3,), "y": (4,)}, "stack(x, y)"),
        ("stack(x, x, axis=2)", {"x": (3,)}, "stack(x, x, axis=2)"),
        ("[[1, 2], [3]]", {}, "[[1, 2], [3]]"),
        ("[1, [2, 3]]", {}, "[1, [2, 3]]"),
        ("[x, 1]", {"x": (2,)}, "[x, 1]"),
        ("[[[1], [2]], [[3], [4, 5]]]", {}, "[[3], [4, 5]]"),
        ("onehot(y, 100000000000)", {"y": (1000,)}, "onehot(y, 100000000000)"),
        ("[" * 33 + "b" + "]" * 33, {"b": ()}, "[" * 33 + "b" + "]" * 33),
    ],
    "places": [
        ("mean((relu(X @ W1 + b1) @ W2 - y)^2)",
         {"X": (150, 4), "W1": (4, 8), "b1": (8,), "W2": (4, 3), "y": (150, 3)}, "relu(X @ W1 + b1) @ W2"),
        ("h = tanh(X @ W)\nz = h @ V\nsum(z)", {"X": (5, 4), "W": (4, 3), "V": (2, 3)}, "h @ V"),
        ("h = tanh(\n  X\n  @ W\n)\nsum(h)", {"X": (5, 4), "W": (3, 4)}, "X\n  @ W"),
        ("sum(x + # here\n y)", {"x": (2,), "y": (3,)}, "x + # here\n y"),
        ("長さ + 幅", {"長さ": (2,), "幅": (3,)}, "長さ + 幅"),
        ("Δx @ Ω", {"Δx": (2, 2), "Ω": (3, 2)}, "Δx @ Ω"),
        (f"{LONG}*{LONG}_too", {LONG: (2,), f"{LONG}_too": (3,)}, f"{LONG}*{LONG}_too"),
        ("(x + x + x + x + x + x + x + x + x) @ W", {"x": (2,), "W": (5, 2)},
         "(x + x + x + x + x + x + x + x + x) @ W"),
        (f"{SUM} + x + y", {"a": (), "x": (2,), "y": (3,)}, f"{SUM} + x + y"),
        ("1 + 2*(3 - x[7])", {"x": (3,)}, "x[7]"),
        ("a = x + y; x*2", {"x": (2,), "y": (3,)}, "x + y"),
        ("((x)) + ((y))", {"x": (2,), "y": (3,)}, "((x)) + ((y))"),
        ("x.T @ y.T", {"x": (2, 3), "y": (2, 3)}, "x.T @ y.T"),
        ("(-x) @ relu(y)", {"x": (3, 2), "y": (3, 2)}, "(-x) @ relu(y)"),
        ("(x - y)[0]", {"x": (2,), "y": (3,)}, "x - y"),
    ],
}  # fmt: skip


def refused(
    text: str, shapes: dict[str, Shape], origins: dict[str, str] | None = None
) -> ExprgradError:
    with pytest.raises((ShapeError, RequestError)) as caught:
        infer_shapes(parse_text(text), text, shapes, origins)
    return caught.value


@pytest.mark.parametrize("group", GROUPS)
def test_wrong_shapes(group: str) -> None:
    """Each is blamed on the operation, with every shape that matters and the place that has it."""
    pieces = []
    for text, shapes, blamed in GROUPS[group]:
        error = refused(text, shapes)
        assert error.span is not None and text[slice(*error.span)] == blamed, text
        lines = render_error(error).splitlines()
        assert max(map(display_width, lines)) <= 250
        assert "{" not in error.message and "{" not in (error.help or ""), text
        for note, (start, end) in error.related:
            assert error.span[0] <= start < end <= error.span[1]
            assert note in error.message or "…" in error.message, (text, note)
        given = ", ".join(f"{name} {shape}" for name, shape in shapes.items())
        pieces.append("\n".join([f"# {given}", *lines, ""]))
    golden.agree(f"errors/shapes-{group}.txt", "\n".join(pieces))


@pytest.mark.parametrize("group", GROUPS)
def test_what_is_suggested_is_right(group: str) -> None:
    """A formula in a hint has a shape itself, but for one that is cut short."""
    for text, shapes, _ in GROUPS[group]:
        help = refused(text, shapes).help or ""
        found = re.search(
            r"(?:did you mean|write|one matrix of it is|vector is) ([^?…]+)\??$", help
        )
        if found:
            given = shapes | {"h": (5, 3)}
            assert infer_shapes(parse_text(found[1]), found[1], given).shapes, help


def test_there_are_cases_enough() -> None:
    assert sum(map(len, GROUPS.values())) >= 100


def test_an_operand_s_origin_is_told() -> None:
    error = refused("X @ W", {"X": (3, 2), "W": (3, 4)}, {"X": "X.npy", "W": "layer.json"})
    assert error.related == (("(3, 2), from X.npy", (0, 1)), ("(3, 4), from layer.json", (4, 5)))


def test_the_command_refuses_with_the_same_words() -> None:
    given = ("X=[[1,2],[3,4],[5,6]]", "W=[[1,2],[3,4],[5,6]]")
    status, out, err = command("grad", "sum(X @ W)", *given)
    assert (status, out) == (2, "")
    assert err == render_error(refused("sum(X @ W)", {"X": (3, 2), "W": (3, 2)})) + "\n"
    status, out, err = command("eval", "--json", "sum(X @ W)", *given)
    assert (status, err) == (2, "")
    error = json.loads(out)["error"]
    assert (error["code"], error["span"], error["help"]) == (
        "shape",
        [4, 9],
        "did you mean X @ W.T?",
    )


def test_parts_on_one_line_share_its_excerpt() -> None:
    lines = render_error(refused("sum(X @ W)", {"X": (3, 2), "W": (3, 4)})).splitlines()[1:-1]
    assert lines == [
        "  1 │ sum(X @ W)",
        "    │     ^^^^^",
        "    │     ^ (3, 2)",
        "    │         ^ (3, 4)",
    ]
