"""Ranges and intervals: their ends, their points to the last bit, and what is wrong with others."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from exprgrad.errors import ExprgradError
from exprgrad.run.values.inputs import as_value, is_range
from exprgrad.run.values.ranges import Interval, as_interval, range_in

decimals = st.decimals(-(10**6), 10**6, places=4).map(str) | st.floats(-1e300, 1e300).map(repr)
positive = st.floats(1e-300, 1e300).map(repr)
sizes = st.integers(2, 60)


@settings(max_examples=200)
@given(decimals, decimals, sizes)
@example("0", "1", 11)
@example("-0.0", "1", 3)
def test_points_are_the_doubles_nearest_to_the_fractions(start: str, stop: str, size: int) -> None:
    """Both ends are hit, the points never turn back, and each is rounded once."""
    points = range_in(f"{start}:{stop}:{size}", "x").points()
    assert (points[0], points[-1], len(points)) == (float(start), float(stop), size)
    assert points == sorted(points, reverse=float(start) > float(stop))
    low, high = Fraction(start), Fraction(stop)
    assert points == [float(low + (high - low) * k / (size - 1)) for k in range(size)]


@settings(max_examples=100)
@given(positive, positive, sizes, st.sampled_from([1, -1]))
def test_logarithmic_points_have_one_ratio(start: str, stop: str, size: int, sign: int) -> None:
    """Both ends are hit, the points never turn back, and their logarithms are equally far apart."""
    first, last = sign * float(start), sign * float(stop)
    points = range_in(f"{first!r}:{last!r}:log:{size}", "x").points()
    assert (points[0], points[-1], len(points)) == (first, last, size)
    assert points == sorted(points, reverse=first > last)
    step = (math.log(float(stop)) - math.log(float(start))) / (size - 1)
    for k, point in enumerate(points):
        assert abs(math.log(abs(point)) - math.log(float(start)) - k * step) < 1e-12


@pytest.mark.parametrize(
    ("text", "ratio"),
    [
        ("1:1e6:log:7", 10), ("1e6:1:log:7", Fraction(1, 10)), ("1e-3:1e3:log:7", 10),
        ("-1:-1e6:log:7", 10),
        ("1:1024:log:11", 2), ("1/8:8:log:7", 2), ("0.3:0.3*7^20:log:21", 7), ("1:1e300:log:301", 10),
    ],
)  # fmt: skip
def test_logarithmic_points_are_exact(text: str, ratio: Fraction) -> None:
    """Whole powers are what anybody would write."""
    asked = range_in(text, "x")
    assert asked.points() == [float(asked.start * ratio**k) for k in range(asked.size)]


@pytest.mark.parametrize(
    ("text", "points"),
    [
        ("0:1:5", [0, 0.25, 0.5, 0.75, 1]),
        ("-1/3:1/3:3", [-1 / 3, 0, 1 / 3]),
        ("0:1/3:11", [0, 1 / 30, 2 / 30, 0.1, 4 / 30, 1 / 6, 0.2, 7 / 30, 8 / 30, 0.3, 1 / 3]),
        ("0:2*pi:3", [0, math.pi, math.tau]),
        ("3:-3:3", [3, 0, -3]),
        ("0:10:1", [0]),
        ("5:5:3", [5, 5, 5]),
        (" 0 : 1 : 1+2 ", [0, 0.5, 1]),
        ("[1,2][0]:3:2", [1, 3]),
        ("1:100:LOG:3", [1, 10, 100]),
        ("2:3:log:1", [2]),
    ],
)
def test_points(text: str, points: list[float]) -> None:
    """Ends are numbers as everywhere, and a count of 1 is the start."""
    assert range_in(text, "x").points() == points


@pytest.mark.parametrize("text", ["0:1:5000", "1:1e6:log:5000", "-7/3:1e-9:5000"])
def test_parts_are_as_the_whole(text: str) -> None:
    """Points asked for part by part are those of the whole range."""
    asked = range_in(text, "x")
    parts = [
        asked.points(range(first, min(first + 777, asked.size)))
        for first in range(0, asked.size, 777)
    ]
    assert [point for part in parts for point in part] == asked.points()


def test_powers_of_powers_are_no_monsters() -> None:
    """What is too long to be known exactly is its double."""
    assert range_in("0:((2^-1000)^1000)^1000:3", "x").points() == [0, 0, 0]
    assert range_in("0:1e-999999999999:3", "x").points() == [0, 0, 0]


@pytest.mark.parametrize(
    ("text", "is_one"),
    [
        ("0:1", True), ("0:1:5", True), (":", True), ("@file.csv:name", False), (r"@C:\x.csv:y", False),
        ("[1,2,3][0:2]", False), ("x[1:3]:2:3", True), ("1", False), (1.5, False), ([0, 1], False),
    ],
)  # fmt: skip
def test_what_is_a_range(text: object, is_one: bool) -> None:
    """Colons of files and slices are none of a range's."""
    assert is_range(text) == is_one


@pytest.mark.parametrize(
    ("given", "interval"),
    [
        ("-1:1", (-1, 1)), ("-2*pi:pi", (-2 * math.pi, math.pi)), ((0, 1), (0, 1)), ([1, "3/2"], (1, 1.5)),
    ],
)  # fmt: skip
def test_intervals(given: object, interval: tuple[float, float]) -> None:
    """Texts and pairs of numbers."""
    assert as_interval(given, "x") == Interval(*interval)


def test_infinite_intervals() -> None:
    """Their ends may be infinite where the caller allows that."""
    assert as_interval("-inf:inf", "x", infinite=True) == (-math.inf, math.inf)
    assert as_interval((0, math.inf), "x", infinite=True) == (0, math.inf)


@pytest.mark.parametrize(
    ("text", "place", "message", "help"),
    [
        ("0:10", "0:10", "does not say how many points", "x=0:10:101"),
        (":", ":", "does not say how many points", "x=0:10:101"),
        ("0:1:log", "0:1:log", "does not say how many points", "x=0:1:log:101"),
        ("0:10:", "", "a number is missing", "x=0:10:101"),
        ("0::4", ":", "a number is missing", "x=0:10:101"),
        ("0:10:0.5", "0.5", "not a whole number", "with steps of 0.5 it has 21 points: x=0:10:21"),
        ("0:10:0.7", "0.7", "not a whole number", "both ends among them"),
        ("0:1:0", "0", "not a whole number", None),
        ("0:1:-3", "-3", "not a whole number", None),
        ("0:1:nan", "nan", "not a whole number", None),
        ("0:1:1/0", "1/0", "more than 2", None),
        ("0:1:[1,2]", "[1,2]", "not a number but a tensor", None),
        ("0:1:2:3", "2", "'2' is not a kind of range", "START:STOP:COUNT"),
        ("0:1:lin:3", "lin", "'lin' is not a kind of range", "START:STOP:COUNT"),
        ("0:1:2:3:4", "0:1:2:3:4", "has 5 parts", None),
        ("1:2:log:3:4", "1:2:log:3:4", "has 5 parts", "log"),
        ("0:1:log:5", "0", "has no end at 0", "log"),
        ("-1:1:log:5", "-1:1:log:5", "different signs", "one side"),
        ("0: inf :4", "inf", "not finite", None),
        ("0:nan:4", "nan", "not a number", None),
        ("0:1+:3", "+", "an operand is missing", None),
        ("y:1:3", "y", "not a constant", None),
    ],
)
def test_bad_ranges(text: str, place: str, message: str, help: str | None) -> None:
    """Each error shows its place, and how to go on."""
    with pytest.raises(ExprgradError, match=message) as caught:
        range_in(text, "x")
    error = caught.value
    assert error.source is not None
    assert error.span is not None
    assert error.source.text == text
    assert text[slice(*error.span)] == place
    assert help is None or help in (error.help or "")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("1:0", "not below"), ("1:1", "are equal"), ("5", "has one end"), ("0:10:101", "two ends"),
        ("0:inf", "not finite"), ("nan:1", "not a number"), ("0:", "a number is missing"),
        ((1, 0), "are 1.0 and 0.0"), ((0, math.inf), "inf"), (5, "neither"), ((1, 2, 3), "neither"),
        ((math.nan, 1), "nan"),
    ],
)  # fmt: skip
def test_bad_intervals(given: object, message: str) -> None:
    """What is no interval."""
    with pytest.raises(ExprgradError, match=message):
        as_interval(given, "x")


def test_a_range_where_a_number_should_stand() -> None:
    """The error names what takes one."""
    with pytest.raises(ExprgradError, match="is a range") as caught:
        as_value("0:1:5", "x")
    assert "f.table takes ranges" in (caught.value.help or "")
