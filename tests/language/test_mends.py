"""Formulas as NumPy and PyTorch have them: what is suggested parses, and computes what they compute."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from exprgrad import parse
from exprgrad.errors import LanguageError
from exprgrad.graph.ops import OPS
from exprgrad.graph.tensors import STRUCTURAL
from exprgrad.language.mistakes.foreign import CALLS
from exprgrad.language.mistakes.hints import FUNCTION_WORDS, NAMES_HERE, translate_call
from together import together

X = np.array([[3.0, -1.0, 2.5], [0.5, 4.0, -2.0], [1.0, 1.5, 7.0]])
Y = np.array([[1.0, 2.0, 0.5], [-3.0, 0.25, 1.0], [2.0, -1.0, 1.5]])
z = np.array([0.5, -1.5, 2.0])
GIVEN: dict[str, Any] = {"X": X, "Y": Y, "z": z}


def logsumexp(x: Any, axis: int | None = None) -> Any:
    return np.log(np.sum(np.exp(x), axis=axis))


def softmax(x: Any, axis: int) -> Any:
    return np.exp(x) / np.sum(np.exp(x), axis=axis, keepdims=True)


def log_softmax(x: Any, axis: int) -> Any:
    return x - np.log(np.sum(np.exp(x), axis=axis, keepdims=True))


ANSWERS: dict[str, Callable[[], Any]] = {
    "np.max(X, 0)": lambda: X.max(0),
    "X.max(1)": lambda: X.max(1),
    "X.max(-1)": lambda: X.max(1),
    "X.max()": lambda: X.max(),
    "torch.max(X, 1)": lambda: X.max(1),
    "torch.max(X, dim=1)": lambda: X.max(1),
    "torch.max(X, 1, True)": lambda: X.max(1, keepdims=True),
    "torch.max(X, Y)": lambda: np.maximum(X, Y),
    "np.amax(X, 0)": lambda: X.max(0),
    "amax(X, 0)": lambda: X.max(0),
    "np.min(X, (0, 1))": lambda: X.min(),
    "X.min(0)": lambda: X.min(0),
    "(X + Y).min(0)": lambda: (X + Y).min(0),
    "np.maximum(X, 0)": lambda: np.maximum(X, 0),
    "X.maximum(Y)": lambda: np.maximum(X, Y),
    "np.minimum(X, 1)": lambda: np.minimum(X, 1),
    "np.fmax(z, 1)": lambda: np.fmax(z, 1),
    "X.logsumexp(1)": lambda: logsumexp(X, 1),
    "torch.logsumexp(X, 0)": lambda: logsumexp(X, 0),
    "np.logaddexp(X, 0)": lambda: np.logaddexp(X, 0),
    "X.sum(0)": lambda: X.sum(0),
    "torch.sum(X, 1, keepdim=True)": lambda: X.sum(1, keepdims=True),
    "np.mean(X, axis=(0, 1))": lambda: X.mean(),
    "(X+1).mean(dim=0)": lambda: (X + 1).mean(0),
    "X.T.sum(0)": lambda: X.T.sum(0),
    "X[0].prod()": lambda: X[0].prod(),
    "torch.softmax(X, dim=1)": lambda: softmax(X, 1),
    "X.softmax(0)": lambda: softmax(X, 0),
    "X.log_softmax(1)": lambda: log_softmax(X, 1),
    "F.log_softmax(X + Y, dim=0)": lambda: log_softmax(X + Y, 0),
    "log_softmax(z)": lambda: log_softmax(z, 0),
    "np.linalg.norm(X)": lambda: np.linalg.norm(X),
    "np.linalg.norm(z, 2)": lambda: np.linalg.norm(z, 2),
    "np.linalg.norm(X, 2, 1)": lambda: np.linalg.norm(X, 2, 1),
    "np.mean((1, 2))": lambda: 1.5,
    "np.linalg.norm(X, axis=1)": lambda: np.linalg.norm(X, axis=1),
    "transpose(X, 0, 1)": lambda: X.T,
    "torch.transpose(X, 0, 1)": lambda: X.T,
    "swapaxes(X, 0, 1)": lambda: X.T,
    "X.swapaxes(-1, -2)": lambda: X.T,
    "np.transpose(X, (1, 0))": lambda: X.T,
    "X.permute(1, 0)": lambda: X.T,
    "X.t()": lambda: X.T,
    "X.H": lambda: X.T,
    "X.T()": lambda: X.T,
    "np.column_stack((z, z))": lambda: np.column_stack((z, z)),
    "np.concatenate((z, z))": lambda: np.concatenate((z, z)),
    "concatenate((z, z))": lambda: np.concatenate((z, z)),
    "torch.cat([X, Y], dim=1)": lambda: np.concatenate((X, Y), 1),
    "torch.stack((X, Y), 1)": lambda: np.stack((X, Y), 1),
    "z.clip(0, 1)": lambda: z.clip(0, 1),
    "torch.clamp(z, min=0)": lambda: z.clip(0),
    "np.clip(z, None, 1)": lambda: z.clip(None, 1),
    "zeros(3)": lambda: np.zeros(3),
    "np.ones((2,2))": lambda: np.ones((2, 2)),
    "ones((2, 2))": lambda: np.ones((2, 2)),
    "np.full((2, 3), 7)": lambda: np.full((2, 3), 7.0),
    "np.eye(3)": lambda: np.eye(3),
    "ones_like(X)": lambda: np.ones_like(X),
    "z[:, None]": lambda: z[:, None],
    "z[:, np.newaxis]": lambda: z[:, None],
    "z[None]": lambda: z[None],
    "z[None, :]": lambda: z[None, :],
    "z.unsqueeze(0)": lambda: z[None],
    "np.expand_dims(z, -1)": lambda: z[:, None],
    "np.dot(X, Y)": lambda: X @ Y,
    "(X + 1).dot(Y - X)": lambda: (X + 1) @ (Y - X),
    "np.power(X, 2)": lambda: X**2,
    "(X + Y).pow(2)": lambda: (X + Y) ** 2,
    "np.multiply(X + Y, Y - X)": lambda: (X + Y) * (Y - X),
    "np.subtract(X, Y - X)": lambda: X - (Y - X),
    "np.std(X)": lambda: np.std(X),
    "X.var(axis=0)": lambda: np.var(X, axis=0),
    "F.mse_loss(X + Y, Y)": lambda: np.mean(X**2),
    "X.reshape((1, 9))": lambda: X.reshape(1, 9),
    "X.view(-1)": lambda: X.ravel(),
    "X.flatten()": lambda: X.ravel(),
    "np.exp(X)": lambda: np.exp(X),
    "np.exp2(X)": lambda: np.exp2(X),
    "np.fix(X)": lambda: np.trunc(X),
    "np.sinc(X)": lambda: np.sinc(X),
    "(X + Y).sinc()": lambda: np.sinc(X + Y),
    "np.heaviside(z, 0.5)": lambda: np.heaviside(z, 0.5),
    "np.heaviside(X - X, 3)": lambda: np.full((3, 3), 3.0),
    "F.leaky_relu(X)": lambda: np.where(X > 0, X, X / 100),
    "F.leaky_relu(X + Y, 0.2)": lambda: np.where(X + Y > 0, X + Y, 0.2 * (X + Y)),
    "F.leaky_relu(X, negative_slope=1/5)": lambda: np.where(X > 0, X, X / 5),
    "F.elu(X, 1.)": lambda: np.where(X > 0, X, np.expm1(X)),
    "F.elu(X, alpha=3 - 1)": lambda: np.where(X > 0, X, 2 * np.expm1(X)),
    "special.xlogy(X - X, Y)": lambda: np.zeros((3, 3)),
    "sum(1,2,3)": lambda: 6.0,
    "mean(1, 2, 3)": lambda: 2.0,
}


def help_for(text: str) -> str:
    """What is suggested where a formula is refused."""
    with pytest.raises(LanguageError) as caught:
        parse(text)
    assert caught.value.help is not None
    return caught.value.help


@together(ANSWERS)
def test_what_is_suggested_is_right(text: str) -> None:
    """Every formula in the hint, up to a remark behind it."""
    help = help_for(text)
    mends = re.findall(
        r"(?:(?<!, )write|is written|matrix is|, or) (.+?)(?=;|, (?:without|or) |$)", help
    )
    assert mends, help
    for mend in mends:
        expression = parse(mend)
        run = expression.evaluate({name: GIVEN[name] for name in expression.inputs})
        np.testing.assert_allclose(run.value, ANSWERS[text](), rtol=1e-14, strict=False)
        assert np.shape(run.value) == np.shape(ANSWERS[text]()), mend


def test_a_name_elsewhere_is_that_of_one_row_and_no_word_of_ours() -> None:
    listed = [op.foreign_names for op in OPS] + [row.foreign_names for row in STRUCTURAL.values()]
    words = " ".join(listed).split()
    assert len(words) == len(set(words)) == len(NAMES_HERE)
    assert not FUNCTION_WORDS & set(words)
    assert NAMES_HERE["arctan2"] == "atan2" and NAMES_HERE["amax"] == "max"


@pytest.mark.parametrize(
    "text",
    ["np.linalg.norm(X, 1)", "torch.norm(X, 1)", "X.norm(1)", "norm(X, ord=1)", "norm(X, p=1)"],
)
def test_an_order_of_a_norm_is_no_axis(text: str) -> None:
    help = help_for(text)
    assert "is the 2-norm" in help
    assert "norm(X, 1)" not in help
    one = parse("sum(abs(z))").evaluate(z=z).value
    assert one == np.linalg.norm(z, 1)


def test_a_swap_of_two_axes_is_never_the_identity() -> None:
    for text in ("transpose(X, 0, 1)", "torch.transpose(X, 0, 1)", "X.swapaxes(0, 1)"):
        assert "[0, 1]" not in help_for(text)
    cube = np.arange(24.0).reshape(2, 3, 4)
    mend = help_for("torch.transpose(C, 1, 2)").removeprefix("write ")
    np.testing.assert_array_equal(parse(mend).evaluate(C=cube).value, cube.swapaxes(1, 2))


@pytest.mark.parametrize(
    "text", ["max(", "Z.max(", "Z.max(" + "a, " * 50 + "b)", "(" * 99 + "x.sum()"]
)
def test_what_cannot_be_read_is_left_out(text: str) -> None:
    assert len(help_for(text)) < 100


@pytest.mark.parametrize(
    ("text", "help"),
    [
        (r"\frac{a}{b}", "write a/b;"),
        (r"\sqrt{x}", r"write sqrt\(x\);"),
        (r"2\cdot x", r"write 2\*x;"),
        (r"a \cdot b", r"write a·b;"),
        (r"\alpha", "write alpha;"),
        (r"\foo x", "this is LaTeX; .* reads LaTeX"),
        (r"\frac{1}{2}*" + "x" * 200, "this is LaTeX; .* reads LaTeX"),
        (r"a\n", "solve"),
    ],
)
def test_latex_is_not_our_language(text: str, help: str) -> None:
    with pytest.raises(LanguageError, match=help):
        parse(text)


@pytest.mark.parametrize(
    ("text", "message", "help"),
    [
        ("erf2(x)", "erf2 takes 2 operands, but is given 1", "write erf2(x, y)"),
        ("catalan(x, y)", "catalan takes 1 operand, but is given 2", "there is only catalan(n)"),
        (
            "besselj(2)",
            "besselj takes a whole number and 1 operand, but is given 1",
            "write besselj(2, x)",
        ),
        ("erf3(x)", "unknown function 'erf3'", "did you mean 'erf'?"),
        ("catlan(x)", "unknown function 'catlan'", "did you mean 'catalan'?"),
    ],
)
def test_a_wrong_count_of_operands_is_no_unknown_function(
    text: str, message: str, help: str
) -> None:
    with pytest.raises(LanguageError) as caught:
        parse(text)
    assert (caught.value.message, caught.value.help) == (message, help)


@pytest.mark.parametrize(
    ("text", "help"),
    [
        ("jv()", "here that is written besselj(x, y)"),
        ("i0()", "here that is written besseli(0, x)"),
        ("BesselK()", "here that is written besselk(x, y)"),
        ("gt()", "here that is written x > y"),
    ],
)
def test_a_call_without_operands_is_shown_with_some(text: str, help: str) -> None:
    assert help_for(text) == help


@together([key for key in CALLS if key.partition("/")[0].isidentifier()])
def test_every_call_of_the_table_becomes_one_that_is_read(key: str) -> None:
    word, _, count = key.partition("/")
    used = {*re.findall(r"\{(\w)", CALLS[key])} & {*"xyz"}
    orders = re.search("bessel|polygamma|size", CALLS[key])  # which are whole numbers
    operands = [*("1234" if orders else "xyzw")][: int(count or len(used) or 1)]
    help = translate_call(word, operands, {})
    assert help is not None
    formulas = re.findall(r"write (.+?)(?=;|, for |$)|, for .*? ((?=\S*\()\S.*?)(?=;|$)", help)
    assert formulas, help
    for ours in filter(None, (text for found in formulas for text in found)):
        parse(ours)
