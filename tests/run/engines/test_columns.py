"""Columns as they come: what is taken as it is, what is converted and said so, and what is refused."""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engines import each_engine
from exprgrad import ExprgradError, InputError, RequestError, parse
from exprgrad.run.engines.columns import data_address, staggered_columns, take_columns
from together import together

F = parse("x*y + sin(x)")
X = np.linspace(-2, 2, 37)


def unaligned(numbers: Any) -> Any:
    raw = np.zeros(numbers.nbytes + 1, dtype=np.uint8)
    column = raw[1:].view(np.float64)
    column[:] = numbers
    assert not column.flags.aligned
    return column


def read_only(numbers: Any) -> Any:
    column = numbers.copy()
    column.flags.writeable = False
    return column


class Pretender:
    """A column of another library."""

    def __init__(self, numbers: Any) -> None:
        self.numbers = numbers

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return np.array(self.numbers, dtype=dtype)


SAME = {
    "plain": X,
    "read-only": read_only(X),
    "memmap": X.view(np.memmap),
    "another library's": Pretender(X),
}
CONVERTED: dict[str, tuple[Any, str]] = {
    "strided": (np.repeat(X, 2)[::2], "column 'x' is not contiguous: copied"),
    "reversed": (X[::-1].copy()[::-1], "column 'x' is not contiguous: copied"),
    "unaligned": (unaligned(X), "column 'x' is not aligned: copied"),
    "swapped": (X.astype(">f8"), "column 'x' is not of this machine's byte order: copied"),
    "list": (X.tolist(), "column 'x' is a list: converted to an array"),
    "tuple": (tuple(X.tolist()), "column 'x' is a tuple: converted to an array"),
    "array": (array("d", X.tolist()), "column 'x' is an array: converted to an array"),
    "float32": (X.astype(np.float32), "column 'x' is float32: converted to float64"),
    "longdouble": (
        X.astype(np.longdouble),
        f"column 'x' is {np.dtype(np.longdouble).name}: converted to float64; its numbers are rounded",
    ),
    "int8": (np.arange(37, dtype=np.int8), "column 'x' is int8: converted to float64"),
    "int64": (np.arange(37), "column 'x' is int64: converted to float64"),
    "bool": (X > 0, "column 'x' is bool: converted to float64"),
    "large": (
        np.arange(37) + 2**53,
        "column 'x' is int64: converted to float64; numbers beyond 2^53 are rounded",
    ),
}


@pytest.mark.parametrize("column", SAME.values(), ids=SAME.keys())
def test_a_column_of_doubles_is_taken_as_it_is(column: Any) -> None:
    taken = take_columns({"x": column, "y": X}, F.graph, F.text)
    assert (taken.rows, taken.notes) == (37, ())
    assert isinstance(column, Pretender) or np.shares_memory(taken.columns[0], column)


@each_engine
@pytest.mark.parametrize("name", CONVERTED)
def test_any_other_column_is_converted_and_a_note_says_so(engine: str, name: str) -> None:
    column, message = CONVERTED[name]
    rows = F.compile(engine)({"x": column, "y": X})
    assert [(note.column, note.message) for note in rows.notes] == [("x", message)]
    expected = F.compile(engine)({"x": np.array(column, dtype=np.float64), "y": X})
    assert rows.value.tobytes() == expected.value.tobytes()
    assert rows.gradient["x"].tobytes() == expected.gradient["x"].tobytes()


@pytest.mark.parametrize("column", ["other", "larger", "mixed", "wide", "exact"])
def test_numbers_of_python_are_rounded_and_a_note_says_so(column: str) -> None:
    cases: dict[str, tuple[list[Any], str]] = {
        "other": ([Fraction(1, 3), Decimal("0.1"), 10**20], "its numbers are rounded"),
        "larger": ([2**53 + 1, 0, 1], "numbers beyond 2^53 are rounded"),
        "mixed": ([2**53 + 1, 0.5, 1], "numbers beyond 2^53 are rounded"),
        "wide": ([2**63 + 1, -1, 1], "numbers beyond 2^53 are rounded"),
        "exact": ([10**20, Fraction(1, 4)], ""),
    }
    given, rounds = cases[column]
    rows = F.compile("numpy")({"x": given, "y": 0})
    assert [note.message for note in rows.notes] == [
        f"column 'x' is a list: converted to an array{rounds and f'; {rounds}'}"
    ]
    assert rows.value.tolist() == pytest.approx([math.sin(x) for x in given], rel=1e-15)


@pytest.mark.filterwarnings("error")
def test_a_number_beyond_the_doubles_is_infinite() -> None:
    large = np.array(["1e400", "1"], dtype=np.longdouble)
    assert parse("x").compile("numpy")({"x": large}).value.tolist() == [float(large[0]), 1.0]


def test_two_spellings_of_a_name_are_an_error() -> None:
    g = parse("\u00e9 + 1").compile("numpy")
    assert g({"e\u0301": X}).value.tolist() == (X + 1).tolist()
    with pytest.raises(InputError, match="two columns are named '\u00e9'"):
        g({"\u00e9": X, "e\u0301": X})


@pytest.mark.parametrize(
    "number", [2, 2.0, True, "4/2", np.float32(2), np.array(2), np.int8(2), Fraction(2), Decimal(2)]
)
def test_a_number_stands_for_every_row(number: Any) -> None:
    value = 1.0 if number is True else 2.0
    rows = F.compile("numpy")({"x": X, "y": number})
    assert rows.notes == ()
    expected = F.compile("numpy")({"x": X, "y": np.full(37, value)})
    assert rows.value.tobytes() == expected.value.tobytes()


def test_numbers_alone_have_one_answer() -> None:
    """A float; without any input it is a row."""
    assert F.compile("numpy")({"x": 1, "y": 2}).value == F.evaluate(x=1, y=2).value
    assert parse("pi/2").compile("numpy")({}).value.tolist() == [
        F.evaluate(x="pi/2", y=0).nodes[0].data
    ]


class Frame:
    """What pandas' frames are to us: names, some of them twice, and columns."""

    def __init__(self, more: str = "", **columns: Any) -> None:
        self.columns = columns
        self.more = more

    def keys(self) -> list[str]:  # noqa: D102
        return [*self.columns, *self.more]

    def __getitem__(self, name: str) -> Any:
        return self.columns[name]


class Held:
    """An array of another library, which holds what it says, and gives doubles."""

    def __init__(self, dtype: str) -> None:
        self.dtype = dtype

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return X


@pytest.mark.parametrize(
    ("dtype", "noted"), [("Int64", True), ("float64", False), ("torch.float64", False)]
)
def test_what_another_library_converted_is_said_too(dtype: str, noted: bool) -> None:
    rows = F.compile("numpy")({"x": Held(dtype), "y": X})
    expected = [f"column 'x' is {dtype}: converted to float64"] if noted else []
    assert [note.message for note in rows.notes] == expected


REFUSED: dict[str, tuple[Any, str, str]] = {
    "missing": ({"x": X}, "missing-input", "input 'y' has no value"),
    "none": ({}, "missing-input", "inputs 'x', 'y' have no value"),
    "surplus": ({"x": X, "y": X, "z": X}, "unknown-input", "the expression does not read 'z'"),
    "typo": ({"x": X, "Y": X}, "unknown-input", "did you mean 'y'?"),
    "constant": ({"x": X, "y": X, "pi": X}, "constant", "'pi' is a constant and takes no value"),
    "lengths": ({"x": X, "y": X[:1]}, "column-lengths", "different lengths: 'x' 37, 'y' 1"),
    "two axes": ({"x": X, "y": X.reshape(37, 1)}, "bad-column", "'y' has 2 axes"),
    "ragged": ({"x": X, "y": [[1], [2, 3]]}, "bad-column", "'y' is not a column of numbers: list"),
    "objects": ({"x": X, "y": [1.0, None]}, "bad-column", "'y' holds objects"),
    "missing numbers": ({"x": X, "y": [1, None]}, "bad-column", "a missing number is nan"),
    "other objects": ({"x": X, "y": [1.0, object()]}, "bad-column", "'y' holds objects, not real"),
    "nothing": ({"x": X, "y": None}, "bad-column", "not a column of numbers: NoneType"),
    "generator": ({"x": X, "y": (x for x in X)}, "bad-column", "make it a list"),
    "dictionary": ({"x": X, "y": {1: 2}}, "bad-column", "make it a list: list(….values())"),
    "structured": (
        np.zeros(37, dtype=[("x", float), ("y", float)]),
        "bad-columns",
        "take them out of it: {name: table[name] for name in g.inputs}",
    ),
    "frame": (Frame(x=X, y=X, z=X), "unknown-input", "columns[list(g.inputs)]"),
    "typo in a frame": (Frame(x=X, Y=X), "unknown-input", "did you mean 'y'?"),
    "frame with a name twice": (
        Frame("xy", x=X, y=X),
        "bad-columns",
        "two columns are named 'x'",
    ),
    "set": ({"x": X, "y": {1, 2}}, "bad-column", "not a column of numbers: set"),
    "too large": ({"x": X, "y": [10**400, 1]}, "bad-value", "'y' is too large for a double"),
    "not a number": ({"x": X, "y": [Decimal("sNaN")] * 37}, "bad-value", "'y' is not a number"),
    "texts": ({"x": X, "y": ["1"] * 37}, "bad-column", "'y' holds texts"),
    "complex": ({"x": X, "y": X * 1j}, "bad-column", "'y' holds complex numbers"),
    "complex number": ({"x": X, "y": 1j}, "bad-column", "'y' holds complex numbers"),
    "dates": ({"x": X, "y": X.astype("M8[s]")}, "bad-column", "'y' holds datetime64[s]"),
    "masked": ({"x": X, "y": np.ma.masked_less(X, 0)}, "bad-column", "'y' has masked numbers"),
    "text": ({"x": X, "y": "z"}, "bad-value", "it reads 'z'"),
    "nameless": ({"x": X, 1: X}, "unknown-input", "an input's name is a string, not int"),
    "class": (dict, "bad-columns", "columns are given by name, in a dictionary, not as type"),
    "no names": ([X, X], "bad-columns", "columns are given by name, in a dictionary, not as list"),
}


@together(REFUSED.values())
def test_a_column_that_does_not_fit_is_refused(columns: Any, code: str, message: str) -> None:
    with pytest.raises(InputError) as refused:
        F.compile("numpy")(columns)
    assert refused.value.code == code
    assert message in str(refused.value)


def test_a_derivative_takes_the_columns_of_its_formula() -> None:
    g = parse("x^2 + y").derivative("x").compile("numpy")
    assert g({"x": X, "y": X}).value.tobytes() == (2 * X).tobytes()
    assert g({"x": X}).value.tobytes() == (2 * X).tobytes()


def test_a_derivative_that_is_a_number_has_the_rows_of_what_was_given() -> None:
    g = parse("x^2 + 3*y").derivative("y").compile("numpy")
    assert g({"x": X, "y": X}).value.tolist() == [3.0] * len(X)
    assert g({"x": X.tolist(), "y": 1}).value.tolist() == [3.0] * len(X)
    assert g({"x": 2.0, "y": "4/3"}).value.tolist() == [3.0]
    assert g({}).value.tolist() == [3.0]
    with pytest.raises(InputError, match="different lengths: 'x' 37, 'y' 36"):
        g({"x": X, "y": X[1:]})


# An earlier answer's memory.


@each_engine
def test_an_earlier_answer_is_written_again(engine: str) -> None:
    g = F.compile(engine)
    first = g({"x": X, "y": X})
    fresh = g({"x": X + 1, "y": X})
    again = g({"x": X + 1, "y": X}, out=first)
    assert again.value is first.value
    assert again.gradient["x"] is first.gradient["x"]
    assert again.value.tobytes() == fresh.value.tobytes()
    assert again.gradient["y"].tobytes() == fresh.gradient["y"].tobytes()
    value, gradient = np.empty(37), {"y": np.empty(37), "x": np.empty(37)}
    g({"x": X + 1, "y": X}, out=(value, gradient))
    assert value.tobytes() == fresh.value.tobytes()
    assert gradient["x"].tobytes() == fresh.gradient["x"].tobytes()


def new() -> Any:
    return np.empty(37)


UNFIT: dict[str, tuple[Callable[[], Any], str]] = {
    "number": (lambda: 3, "is not an earlier answer"),
    "one": (lambda: (new(),), "is not an earlier answer"),
    "wrt": (lambda: (new(), {"x": new()}), "is not an earlier answer"),
    "list": (lambda: ([0.0] * 37, {"x": new(), "y": new()}), "has no column for the value"),
    "rows": (
        lambda: (new(), {"x": new()[1:], "y": new()}),
        "has 36 rows for 'x', and the columns 37",
    ),
    "float32": (
        lambda: (new(), {"x": new(), "y": np.zeros(37, "f4")}),
        "has a column for 'y' that is not of contiguous doubles",
    ),
    "strided": (
        lambda: (np.empty(74)[::2], {"x": new(), "y": new()}),
        "has a column for the value that is not of contiguous doubles",
    ),
    "read-only": (lambda: (read_only(X), {"x": new(), "y": new()}), "that is read-only"),
    "masked": (lambda: (np.ma.zeros(37), {"x": new(), "y": new()}), "has a masked column for the"),
    "input": (lambda: (new(), {"x": X, "y": new()}), "shares memory"),
    "inside": (
        lambda: (lambda a: (a[:37], {"x": a[36:73], "y": new()}))(np.empty(74)),
        "shares memory",
    ),
}


@pytest.mark.parametrize(("out", "message"), UNFIT.values(), ids=UNFIT.keys())
def test_memory_that_does_not_fit_is_refused(out: Callable[[], Any], message: str) -> None:
    with pytest.raises(RequestError, match=message) as refused:
        F.compile("numpy")({"x": X, "y": X}, out=out())
    assert refused.value.code == "bad-out"


@pytest.mark.parametrize("kind", ["strided", "reversed", "float32", "swapped"])
def test_what_was_given_is_not_overwritten_though_it_was_converted(kind: str) -> None:
    memory = np.linspace(0, 1, 80)
    column = {
        "strided": memory[1:74:2],
        "reversed": memory[40:3:-1],
        "float32": memory.view("f4")[10:47],
        "swapped": memory.view(">f8")[:37],
    }[kind]
    before = memory.tobytes()
    with pytest.raises(RequestError, match="shares memory"):
        F.compile("numpy")({"x": column, "y": X}, out=(memory[4:41], {"x": new(), "y": new()}))
    assert memory.tobytes() == before


def test_nothing_was_written_to_the_columns() -> None:
    assert X.tolist() == np.linspace(-2, 2, 37).tolist()


@pytest.mark.parametrize(
    "column",
    [X, X[3:], X[::2], X[::-1], X[:0], read_only(X), X.astype("f4"), X.view(np.memmap)],
    ids=["whole", "later", "strided", "reversed", "empty", "read-only", "float32", "memmap"],
)
def test_where_a_column_begins(column: Any) -> None:
    assert data_address(column) == column.ctypes.data


def test_a_mapped_file_may_be_written(tmp_path: Path) -> None:
    """An answer may be larger than memory."""
    g = F.compile("numpy")
    expected = g({"x": X, "y": X})
    shape = (3, len(X))
    mapped = np.memmap(tmp_path / "answer", dtype=np.float64, mode="w+", shape=shape)
    g({"x": X, "y": X}, out=(mapped[0], {"x": mapped[1], "y": mapped[2]}))
    mapped.flush()
    found = np.fromfile(tmp_path / "answer").reshape(shape)
    assert found.tolist() == [expected.value.tolist(), *map(list, expected.gradient.values())]


@pytest.mark.parametrize("error", [InputError, RequestError])
def test_its_errors_are_the_librarys(error: type[Exception]) -> None:
    assert issubclass(error, ExprgradError)


@pytest.mark.parametrize("rows", [0, 1, 500, 513, 10_000, 600_000])
def test_new_columns_do_not_share_their_places_in_the_cache(rows: int) -> None:
    columns = staggered_columns(7, rows)
    assert all(column.shape == (rows,) and column.flags.aligned for column in columns)
    places = {column.ctypes.data % 4096 for column in columns}
    assert rows < 513 or len(places) == 7
    for column in columns:
        column.fill(1.0)
    assert not any(np.shares_memory(columns[0], other) for other in columns[1:])
