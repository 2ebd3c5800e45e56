"""Values for inputs: what counts as a number, and what is said of the rest."""

from __future__ import annotations

import array
import decimal
import fractions
import math
import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from exprgrad import InputError, LanguageError
from exprgrad.language.read.parse import parse_text
from exprgrad.run.values.inputs import (
    as_number,
    as_value,
    constant_value,
    is_plain_number,
    list_hint,
    resolve_inputs,
    select_inputs,
)


@settings(derandomize=True, max_examples=120)
@given(st.text("0123456789+-.eE_ in٣", max_size=8))
def test_which_texts_are_plain_numbers(text: str) -> None:
    """Fewer than Python reads: no ``1_0``, no ``nan``, no blanks and no digits of other scripts."""
    pattern = r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
    assert is_plain_number(text) == (re.fullmatch(pattern, text) is not None)


class Doubled:
    """A number of another library's: it only knows how to become a float."""

    def __init__(self, value: float) -> None:
        self.value = value

    def __float__(self) -> float:
        return 2 * self.value


@pytest.mark.parametrize(
    ("value", "number"),
    [
        (2, 2.0), (2.5, 2.5), (True, 1.0), ("1/3", 1 / 3), ("-2*pi", -2 * math.pi), (" 7", 7.0),
        ("1e999", math.inf), (decimal.Decimal("0.1"), 0.1), (fractions.Fraction(1, 3), 1 / 3),
        (Doubled(3.0), 6.0), ("a = 2; a^2", 4.0), (2**1000, float(2**1000)), ("+.5", 0.5),
        ("-0", -0.0),
    ],
)  # fmt: skip
def test_numbers(value: object, number: float) -> None:
    found = as_number(value, "a")
    assert type(found) is float
    assert repr(found) == repr(number)


def test_numpy_scalars() -> None:
    numpy = pytest.importorskip("numpy")
    assert as_number(numpy.float32(0.1), "a") == float(numpy.float32(0.1))
    assert as_number(numpy.int64(3), "a") == 3.0
    assert as_number(numpy.array(2.5), "a") == 2.5
    with pytest.raises(InputError):
        as_number(numpy.array([1.0, 2.0]), "a")


@pytest.mark.parametrize(
    "value", [None, [1], {}, 1j, b"x", object(), 10**400, "", " ", "x", "1;2", "[1]", "@f"]
)
def test_what_is_no_number(value: object) -> None:
    with pytest.raises((InputError, LanguageError)):
        as_number(value, "a")


def test_the_message_names_the_input() -> None:
    for value in (None, "b", "[1]", 10**400):
        with pytest.raises(InputError, match="'alpha'"):
            as_number(value, "alpha")


@pytest.mark.parametrize(("read", "given"), [("τ", "tau"), ("tau", "τ"), ("Δ", "Delta")])
def test_a_letter_given_by_its_name_is_meant(read: str, given: str) -> None:
    with pytest.raises(InputError) as caught:
        resolve_inputs(parse_text(f"{read}*x"), f"{read}*x", {"x": 1, given: 2})
    assert caught.value.help == f"did you mean '{read}'?"


def test_plain_numbers_read_as_the_language_reads_them() -> None:
    for text in ("1", "1.", ".1", "1e5", "1E-5", "0.1", "123456789012345678901234567890", "00012"):
        assert constant_value(text, "a") == float(text)
        assert constant_value(f"-{text}", "a") == -float(text)


@pytest.mark.parametrize(
    "text", ["1_000", "0x10", "1e", "infinity", "NaN", "١", "1 000", "--", "1,5"]
)
def test_what_python_alone_would_read(text: str) -> None:
    with pytest.raises((InputError, LanguageError)):
        constant_value(text, "a")


def test_thousands_set_apart_by_a_comma_are_one_number() -> None:
    assert list_hint("1,000", "x") == "write x=1000; for a list, x=[1,000]"
    assert list_hint("1,5", "x") == "for a list write x=[1,5]; a decimal point is '.'"


def test_resolve_keeps_the_order_of_appearance() -> None:
    graph = parse_text("b*a + c")
    assert list(resolve_inputs(graph, "b*a + c", {"c": 1, "a": 2, "b": 3})) == ["b", "a", "c"]
    assert resolve_inputs(graph, "b*a + c", {"c": 1, "a": "1/4", "b": 3})["a"] == 0.25


@pytest.mark.parametrize(
    ("text", "given", "code"),
    [
        ("a", {}, "missing-input"), ("a", {"a": 1, "b": 2}, "unknown-input"),
        ("a = 1; a*b", {"a": 1, "b": 1}, "bound-name"), ("pi*r", {"pi": 3, "r": 1}, "constant"),
        ("r", {"pi": 3, "r": 1}, "constant"), ("a", {1: 2}, "unknown-input"),
        ("a", {"a": None}, "bad-value"), ("a", {"a": "b"}, "bad-value"),
        ("2", {"x": 1}, "unknown-input"),
    ],
)  # fmt: skip
def test_wrong_values(text: str, given: dict[str, object], code: str) -> None:
    with pytest.raises(InputError) as caught:
        resolve_inputs(parse_text(text), text, given)
    assert caught.value.code == code
    assert caught.value.help or code in ("bad-value", "unknown-input")


@pytest.mark.parametrize(
    ("text", "given", "ours"),
    [
        ("sinx", "x", "sin(x)"), ("sin2x", "x", "sin(2*x)"), ("cosx^2", "x", "cos(x)"),
        ("lnx", "x", "ln(x)"), ("expx", "x", "exp(x)"), ("sqrtx", "x", "sqrt(x)"),
        ("xsinx", "x", "x*sin(x)"), ("sinxcosx", "x", "sin(x)*cos(x)"), ("sinxy", "xy", "sin(x*y)"),
        ("xlnx + y", "xy", "x*ln(x)"), ("ac", "ac", "a*c"),
    ],
)  # fmt: skip
def test_a_name_that_holds_an_input_is_told_apart(text: str, given: str, ours: str) -> None:
    with pytest.raises(InputError) as caught:
        resolve_inputs(parse_text(text), text, dict.fromkeys(given, 2))
    assert "is one name, and" in caught.value.message
    assert caught.value.help == f"write {ours}"
    parse_text(ours)


def test_a_name_with_a_value_stays_a_name() -> None:
    assert dict(resolve_inputs(parse_text("sinx*xy"), "sinx*xy", {"sinx": 2, "xy": 3})) == {
        "sinx": 2.0, "xy": 3.0,
    }  # fmt: skip


def test_select() -> None:
    graph = parse_text("a*b + c")
    assert select_inputs(graph, None) == ("a", "b", "c")
    assert select_inputs(graph, ["c", "a"]) == ("a", "c")
    assert select_inputs(graph, "b") == ("b",)
    assert select_inputs(graph, iter(["b"])) == ("b",)
    for wrong in (["d"], [""], [], ["a", 1], ["c", "a", "c"]):
        with pytest.raises(InputError):
            select_inputs(graph, wrong)  # type: ignore[arg-type]


def test_a_hundred_thousand_names_are_searched_quickly() -> None:
    """A misspelled name among very many is still an error at once."""
    text = "+".join(f"name{i}" for i in range(20_000))
    graph = parse_text(text)
    with pytest.raises(InputError) as caught:
        resolve_inputs(graph, text, {f"name{i}": 1 for i in range(20_000)} | {"nmae7": 1})
    assert caught.value.code == "unknown-input"


# Tensors.


@pytest.mark.parametrize(
    ("value", "numbers"),
    [
        ("[1, 2]", [1, 2]), ("[[1, 2], [3, pi/2]]", [[1, 2], [3, math.pi / 2]]), ("2*[1, 2] + 1", [3, 5]),
        ("[inf, -nan]", [math.inf, math.nan]), ([1, 2], [1, 2]),
        (((1, 2.5), [True, False]), [[1, 2.5], [1, 0]]),
        (["pi/2", 1, "-1/3"], [math.pi / 2, 1, -1 / 3]), (range(3), [0, 1, 2]), ([10**30, 1], [1e30, 1]),
        (array.array("i", [1, 2]), [1, 2]), ([fractions.Fraction(1, 3), decimal.Decimal(2)], [1 / 3, 2]),
        ([np.arange(2), [3, 4]], [[0, 1], [3, 4]]), ([[[1]]], [[[1]]]),
        (np.array([1, "2"], dtype=object), [1, 2]), (np.arange(3, dtype="u1"), [0, 1, 2]),
        (np.array([[0.5]], dtype=np.float16), [[0.5]]), (np.ma.array([1.0, 2.0]), [1, 2]),
        ([np.float64(1), np.int8(2)], [1, 2]),
    ],
    ids=repr,
)  # fmt: skip
def test_tensors(value: object, numbers: object) -> None:
    found = as_value(value, "x")
    assert type(found) is np.ndarray
    np.testing.assert_array_equal(found, np.array(numbers, float), strict=True)


def test_an_array_of_doubles_is_not_copied() -> None:
    given = np.arange(6.0).reshape(2, 3).T
    assert np.shares_memory(as_value(given, "x"), given)


def test_a_tensor_without_axes_is_a_number() -> None:
    for value in (np.array(2.5), "[2.5][0]", "sum([1, 1.5])", np.float32(2.5)):
        found = as_value(value, "x")
        assert (type(found), found) == (float, 2.5)


def test_arrays_of_other_libraries() -> None:
    """PyTorch's, whether or not a gradient is wanted of them, and JAX's; no library is imported for it."""
    torch, jnp = pytest.importorskip("torch"), pytest.importorskip("jax.numpy")
    values: list[Any] = [
        torch.ones(2, 3, requires_grad=True), torch.ones(2, 3, dtype=torch.bfloat16), torch.ones(3, 2).T,
        [torch.ones(3), torch.ones(3, requires_grad=True)], jnp.ones((2, 3)),
        jnp.ones((2, 3), jnp.bfloat16),
    ]  # fmt: skip
    for value in values:
        np.testing.assert_array_equal(as_value(value, "x"), np.ones((2, 3)), strict=True)
    for number in (torch.tensor(2.5, requires_grad=True), jnp.float32(2.5)):
        assert as_value(number, "x") == 2.5
    for wrong in (torch.tensor([1j]), torch.tensor(1j), torch.ones(0), jnp.ones((2, 0))):
        with pytest.raises(InputError):
            as_value(wrong, "x")


class Frame:
    """An object such as a table of pandas: it has axes, and knows how to become an array."""

    ndim = 2

    def __init__(self, *cells: object) -> None:
        self.cells = cells

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return np.array([self.cells, self.cells], dtype)


def test_whatever_becomes_an_array() -> None:
    assert as_value(Frame(1, 2), "x").tolist() == [[1, 2], [1, 2]]
    assert as_value(Frame(True, fractions.Fraction(1, 2)), "x").tolist() == [[1, 0.5], [1, 0.5]]
    with pytest.raises(InputError, match=r"'x\[0, 1\]' is not a number: NoneType"):
        as_value(Frame(1, None), "x")


def looped(*before: object) -> list[object]:
    """A list that holds itself."""
    found: list[object] = [*before]
    found.append(found)
    return found


class Sparse:
    """An object that has axes, and becomes no array."""

    ndim = 2


@pytest.mark.parametrize(
    "value",
    [
        [], [[]], [[1], [2, 3]], [1, [2]], [[1], 2], [None], [[1, None]], ["x"], ["[1]", 2], [{}], [1j],
        [b"x"],
        [[1, 2], "ab"], ["ab", [1, 2]], [10**400], looped(), looped(1), looped([1]), looped([]) * 2,
        np.array([1j]), np.array(["1"]), np.array([None]), np.zeros((0, 2)), np.array(["2020"], "M8[D]"),
        np.complex64(1), np.array("2"), np.datetime64("2020"), np.ma.array([1.0, 2.0], mask=[False, True]),
        np.zeros(2, dtype=[("a", float)]), Sparse(), {1, 2}, {"a": 1}, iter([1]), "[1", "[]", "[a]",
    ],
    ids=lambda value: type(value).__name__,
)  # fmt: skip
def test_what_is_no_tensor(value: object) -> None:
    with pytest.raises((InputError, LanguageError)) as caught:
        as_value(value, "x")
    assert "'x" in caught.value.message or caught.value.source is not None


def test_the_place_in_a_list_is_named() -> None:
    for value, words in (
        ([[1, 2], [3, None]], r"'x\[1, 1\]' is not a number: NoneType"),
        ([[1, 2], [3]], r"x\[0\] is a list of 2, and x\[1\] a list of 1"),
        ([[[1, 2], [3, 4]], [[5, 6], 7]], r"x\[0, 0\] is a list of 2, and x\[1, 1\] a number"),
        (np.zeros((3, 0)), r"'x' is empty: its shape is \(3, 0\)"),
    ):
        with pytest.raises(InputError, match=words):
            as_value(value, "x")


def test_a_million_numbers_in_lists() -> None:
    value = [[float(i)] * 1000 for i in range(1000)]
    assert as_value(value, "x").shape == (1000, 1000)
