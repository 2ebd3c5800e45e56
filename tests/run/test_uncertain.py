"""Uncertain numbers as texts, lists and objects; and how they are rounded."""

from __future__ import annotations

import math
from typing import Any

import pytest

import exprgrad
from exprgrad import ExprgradError, InputError
from exprgrad.run.values.uncertain import as_uncertain, concise_text, plus_minus, split_uncertain
from together import together

READ: dict[str, tuple[Any, Any]] = {
    "2.0±0.1": ("2.0", 0.1),
    " 2.0 ± 0.1 ": ("2.0", 0.1),
    "2.0+-0.1": ("2.0", 0.1),
    "2.0+/-0.1": ("2.0", 0.1),
    "2.00(10)": ("2.00", 0.1),
    "2.00(1.5)": ("2.00", 1.5),
    "1.2345(67)e-3": ("1.2345e-3", 6.7e-6),
    "-1.5(2)E2": ("-1.5E2", 20.0),
    "100(5)": ("100", 5.0),
    "2±5%": ("2", 0.1),
    "-2*pi±5%": ("-2*pi", 2 * math.pi * 5 / 100),
    "1/3±1/30": ("1/3", 1 / 30),
    "(1.2345 ± 0.0067)e-3": ("1.2345e-3", 6.7e-6),
    "(2.0 ± 5%)e-3": ("2.0e-3", 1e-4),
    "2±0": ("2", 0.0),
    "2*(3+-1)": ("2*(3+-1)", None),
    "2": ("2", None),
    "@a+-b.csv": ("@a+-b.csv", None),
}


@together(READ)
def test_texts_are_read(text: str) -> None:
    value, uncertainty = as_uncertain(text, "x")
    expected, deviation = READ[text]
    assert value == expected
    assert uncertainty == (deviation and pytest.approx(deviation, rel=1e-15))


LISTS = {
    "[1±0.1, 2.00(10), 3]": ([1, 2, 3], [0.1, 0.1, 0]),
    "[1, 2]±0.1": ([1, 2], [0.1, 0.1]),
    "[1, 2]±[0.1, 0.2]": ([1, 2], [0.1, 0.2]),
    "[1, -2]±50%": ([1, -2], [0.5, 1]),
    "[[1±0.1, 2], [3, max(4, 1)±1]]": ([[1, 2], [3, 4]], [[0.1, 0], [0, 1]]),
}


@together(LISTS)
def test_lists_are_read(text: str) -> None:
    value, uncertainty = as_uncertain(text, "x")
    assert value.tolist() == LISTS[text][0]  # type: ignore[attr-defined]
    assert uncertainty.tolist() == LISTS[text][1]


WRONG = {
    "2.0±": ("there is no uncertainty after the '±'", (3, 4)),
    "±0.1": ("there is no value before the '±'", (0, 1)),
    "2.0±%": ("there is no uncertainty after the '±'", (3, 4)),
    "2±-0.1": ("the uncertainty of 'x' is negative", (2, 6)),
    "2.00(-5)": ("the uncertainty of 'x' is negative", (5, 7)),
    "2±nan": ("the uncertainty of 'x' is not a finite number", (2, 5)),
    "2±inf": ("the uncertainty of 'x' is not a finite number", (2, 5)),
    "nan±0.1": ("the value of 'x' is not finite, and can have no uncertainty", (0, 3)),
    "2.00(10": ("the bracket is not closed", (5, 7)),
    "2±0.1±0.2": ("the value of 'x' has two uncertainties", (5, 6)),
    "2±y": ("the value of 'x' is not a constant: it reads 'y'", (2, 3)),
    "2±(1": ("this '(' is never closed", (2, 3)),
    "sin(2±0.1)": ("this is not an uncertain number", (5, 6)),
    "[1±0.1, 2±-1]": ("the uncertainty of 'x[1]' is negative", (10, 12)),
    "[1±0.1,,2]": ("a number is missing in the list of 'x'", (7, 8)),
    "[1±0.1, 2": ("the list of 'x' is not closed, or goes on after its end", (0, 9)),
    "[1, 2]±[1, 2, 3]": ("the uncertainty of 'x' has another shape than its value", (7, 16)),
}


@together(WRONG)
def test_what_is_wrong_is_shown(text: str) -> None:
    message, span = WRONG[text]
    with pytest.raises(ExprgradError) as caught:
        as_uncertain(text, "x")
    assert (caught.value.message, caught.value.span) == (message, span)
    assert caught.value.source is not None and caught.value.source.text == text


def test_values_are_parted_from_their_uncertainties() -> None:
    given = {"x": "2.0±0.1", "y": 3, "w": ["1±0.1", 2], "z": exprgrad.uncertain(1, 0.5)}
    values, spread = split_uncertain(given)
    assert (values["x"], values["y"], values["z"]) == ("2.0", 3, 1.0)
    assert values["w"].tolist() == [1, 2]  # type: ignore[attr-defined]
    assert spread.deviations["x"] == 0.1 and spread.deviations["z"] == 0.5
    assert spread.deviations["w"].tolist() == [0.1, 0]
    assert spread.correlations == {} and [*spread.deviations] == ["x", "w", "z"]


def test_uncertain_numbers_are_made() -> None:
    made = exprgrad.uncertain(2.0, 0.1)
    assert (made.value, made.uncertainty, str(made)) == (2.0, 0.1, "2.00 ± 0.10")
    assert exprgrad.uncertain("1.2345(67)e-3").uncertainty == pytest.approx(6.7e-6, rel=1e-15)
    assert exprgrad.uncertain(2).uncertainty == 0
    assert exprgrad.uncertain([1, 2], 0.1).uncertainty.tolist() == [0.1, 0.1]
    for value, uncertainty in ((1, -1), (1, math.nan), (math.inf, 1), ([1, 2], [1, 2, 3])):
        with pytest.raises(InputError):
            exprgrad.uncertain(value, uncertainty)


ROUNDED = {
    (9.8123, 0.1187): ("9.81 ± 0.12", "9.81(12)"),
    (9.8, 0.0996): ("9.80 ± 0.10", "9.80(10)"),
    (12345, 678): ("12340 ± 680", "12340(680)"),
    (1234567, 12): ("(1.234567 ± 0.000012)e6", "1.234567(12)e6"),
    (1.2345e-3, 6.7e-6): ("0.0012345 ± 0.0000067", "0.0012345(67)"),
    (0.03, 0.12): ("0.03 ± 0.12", "0.03(12)"),
    (0.1, 100): ("0 ± 100", "0(100)"),
    (-0.004, 0.12): ("0.00 ± 0.12", "0.00(12)"),
    (0, 1e-9): ("(0.0 ± 1.0)e-9", "0.0(10)e-9"),
    (6.02214e23, 1.1e18): ("(6.022140 ± 0.000011)e23", "6.022140(11)e23"),
    (1, 1e-20): ("1.0 ± 1e-20", "1.0±1e-20"),
    (5, 0): ("5", "5"),
    (3.2600000000000002, 0): ("3.26", "3.26"),
    (1, math.inf): ("1.0 ± inf", "1.0±inf"),
}


@together(ROUNDED)
def test_uncertainties_have_two_digits(value: float, uncertainty: float) -> None:
    pair = float(value), float(uncertainty)
    assert (plus_minus(*pair), concise_text(*pair)) == ROUNDED[value, uncertainty]


@together([(9.8123, 0.1187), (12345.0, 678.0), (1.2e-9, 3.4e-11), (-5e30, 1e28), (0.03, 0.12)])
def test_what_is_written_is_read(value: float, uncertainty: float) -> None:
    """To what rounding to two digits leaves of it."""
    for text in (plus_minus(value, uncertainty), concise_text(value, uncertainty)):
        made = exprgrad.uncertain(text)
        assert made.value == pytest.approx(value, abs=0.06 * uncertainty)
        assert made.uncertainty == pytest.approx(uncertainty, rel=0.05)
