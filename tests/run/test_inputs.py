"""Values for inputs: what counts as a number, and what is said of the rest."""

from __future__ import annotations

import decimal
import fractions
import math

import pytest

from exprgrad import InputError, LanguageError
from exprgrad.language.parse import parse
from exprgrad.run.inputs import as_number, constant, resolve, select


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


def test_plain_numbers_read_as_the_language_reads_them() -> None:
    for text in ("1", "1.", ".1", "1e5", "1E-5", "0.1", "123456789012345678901234567890", "00012"):
        assert constant(text, "a") == float(text)
        assert constant(f"-{text}", "a") == -float(text)


@pytest.mark.parametrize(
    "text", ["1_000", "0x10", "1e", "infinity", "NaN", "١", "1 000", "--", "1,5"]
)
def test_what_python_alone_would_read(text: str) -> None:
    with pytest.raises((InputError, LanguageError)):
        constant(text, "a")


def test_resolve_keeps_the_order_of_appearance() -> None:
    graph = parse("b*a + c")
    assert list(resolve(graph, "b*a + c", {"c": 1, "a": 2, "b": 3})) == ["b", "a", "c"]
    assert resolve(graph, "b*a + c", {"c": 1, "a": "1/4", "b": 3})["a"] == 0.25


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
        resolve(parse(text), text, given)
    assert caught.value.code == code
    assert caught.value.help or code in ("bad-value", "unknown-input")


def test_select() -> None:
    graph = parse("a*b + c")
    assert select(graph, None) == ("a", "b", "c")
    assert select(graph, ["c", "a", "c"]) == ("a", "c")
    assert select(graph, "b") == ("b",)
    assert select(graph, iter(["b"])) == ("b",)
    for wrong in (["d"], [""], [], ["a", 1]):
        with pytest.raises(InputError):
            select(graph, wrong)  # type: ignore[arg-type]


def test_a_hundred_thousand_names_are_searched_quickly() -> None:
    """A misspelled name among very many is still an error at once."""
    text = "+".join(f"name{i}" for i in range(20_000))
    graph = parse(text)
    with pytest.raises(InputError) as caught:
        resolve(graph, text, {f"name{i}": 1 for i in range(20_000)} | {"nmae7": 1})
    assert caught.value.code == "unknown-input"
