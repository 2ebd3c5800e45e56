"""Frames in memory, and functions of Arrow arrays in DuckDB and pyarrow."""

from __future__ import annotations

import math
import pickle
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import exprgrad
from exprgrad import ExprgradError, parse

pa = pytest.importorskip("pyarrow")
F = parse("x*y^2 + log(z)")
ROWS: dict[str, list[Any]] = {
    "id": ["a", "b", "c", "d"], "x": [1, 2, 3, 4], "y": [1.5, None, 2.0, -1.0], "z": [1.0, 2.0, 0.0, 1.0],
}  # fmt: skip
FOUND = {
    "value": [2.25, None, None, 4.0],
    "d_x": [2.25, None, None, 1.0],
    "d_y": [3.0, None, None, -8.0],
    "d_z": [1.0, None, None, 1.0],
}
"""The results, null where a value is missing, and for log(0)."""


def pandas_frame(rows: dict[str, list[Any]]) -> Any:
    return pytest.importorskip("pandas").DataFrame(rows, index=range(10, 10 + len(rows["x"])))


def polars_frame(rows: dict[str, list[Any]]) -> Any:
    return pytest.importorskip("polars").DataFrame(rows)


each_kind = pytest.mark.parametrize("frame", [pandas_frame, polars_frame, pa.table])
Frame = Callable[[dict[str, list[Any]]], Any]


def listed(frame: Any) -> dict[str, list[Any]]:
    """A frame's columns, None where a number is missing."""
    pytest.importorskip("narwhals")
    if hasattr(frame, "index"):
        columns = frame.to_dict("list")
    else:
        columns = (
            frame.to_pydict() if isinstance(frame, pa.Table) else frame.to_dict(as_series=False)
        )
    return {
        name: [None if x is None or x != x else x for x in column]
        for name, column in columns.items()
    }


@each_kind
def test_a_frame_comes_back_with_value_and_gradient(frame: Frame) -> None:
    given = frame(ROWS)
    found = F.batch(given)
    assert type(found) is type(given)
    assert listed(found) == {**ROWS, **FOUND}
    if hasattr(given, "index"):
        assert [*found.index] == [*given.index]
    assert listed(given) == ROWS


@each_kind
def test_what_frames_may_ask_for(frame: Frame) -> None:
    given = frame(ROWS)
    assert listed(F.batch(given, only=True, wrt=["x"])) == {k: FOUND[k] for k in ("value", "d_x")}
    dropped = listed(F.batch(given, bad_rows="drop", value_only=True))
    assert dropped["id"] == ["a", "d"] and dropped["value"] == [2.25, 4.0]
    other = listed(F.batch(given, {"z": 1}, map={"y": "x"}, prefix="f_", only=True))
    assert other["f_value"] == [1.0, 8.0, 27.0, 64.0] and other["f_d_y"] == [2.0, 8.0, 18.0, 32.0]
    second = parse("x^2*y").batch(given, hessian=True, only=True)
    assert [*listed(second)] == ["value", "d_x", "d_y", "d_x_x", "d_x_y", "d_y_y"]
    several = parse("u = x*2; v = x^2").batch(given, of=["u", "v"], only=True)
    assert [*listed(several)] == ["u", "v", "d_u_x", "d_v_x"]
    none = F.batch(frame({name: [] for name in ROWS}))
    assert none.shape[0] == 0


def test_a_file_is_an_iterator_of_record_batches(tmp_path: Path) -> None:
    import pyarrow.parquet as pq

    paths = [tmp_path / "one.parquet", tmp_path / "two.parquet"]
    for path in paths:
        pq.write_table(pa.table(ROWS), path)
    batches = [*F.batch(paths, bad_rows="drop", only=True)]
    assert pa.Table.from_batches(batches).to_pydict()["value"] == [2.25, 4.0, 2.25, 4.0]
    assert next(iter(F.batch(str(paths[0])))).schema.names == [*ROWS, *FOUND]


@pytest.mark.parametrize(
    ("frame", "options", "message"),
    [
        (pa.table({"x": [1.0], "z": [1.0]}), {}, "'frame' has no column 'y'"),
        (pa.table({"x": ["1"], "y": [1], "z": [1]}), {}, "holds texts, not numbers"),
        (pa.table({"x": [1], "y": [1], "z": [1], "d_y": [1]}), {}, "already has a column 'd_y'"),
        (pa.table({"x": [1], "y": [1], "z": [1]}), {"q": 1}, "does not read 'q'"),
        (pa.table({"x": [1], "y": [1], "z": [0]}), {"bad_rows": "fail"}, "row 1 of 'frame'"),
        (pa.table({"x": [1], "y": [1], "z": [0]}), {"bad_rows": "skip"}, "there is no bad_rows='skip'"),
        ([1.0, 2.0], {}, "a frame is expected, not a value of type list"),
        (3.0, {}, "a frame is expected, not a value of type float"),
    ],
)  # fmt: skip
def test_what_cannot_be_done_with_a_frame(frame: Any, options: Any, message: str) -> None:
    with pytest.raises(ExprgradError, match=message.replace("(", r"\(")):
        F.batch(frame, **options)


def test_cells_of_several_types() -> None:
    frame = pandas_frame({"x": [1, "a"], "y": [1.0, 2.0]})
    with pytest.raises(ExprgradError, match="column 'x' of 'frame' holds values of several types"):
        parse("x*y").batch(frame)


@pytest.mark.filterwarnings("error")
def test_rows_beyond_the_doubles_bring_no_warning() -> None:
    found = parse("2*x").batch(pa.table({"x": [math.inf, -math.inf, 1e308, 1e308]}))
    assert found["value"].to_pylist() == [None] * 4


def test_functions_of_arrow_arrays() -> None:
    functions = exprgrad.arrow_function(F)
    assert [*functions] == ["value", "grad_x", "grad_y", "grad_z", "gradient"]
    assert functions.inputs == ("x", "y", "z")
    xs, ys, zs = (pa.chunked_array([pa.array(ROWS[name])]) for name in "xyz")
    assert functions["value"](xs, ys, zs).to_pylist() == FOUND["value"]
    assert functions["grad_y"](xs, ys, zs).to_pylist() == FOUND["d_y"]
    assert functions["gradient"](xs, ys, zs).to_pylist() == [
        {"value": 2.25, "d_x": 2.25, "d_y": 3.0, "d_z": 1.0}, None, None,
        {"value": 4.0, "d_x": 1.0, "d_y": -8.0, "d_z": 1.0},
    ]  # fmt: skip
    assert functions["value"](pa.scalar(2), np.array([1.0, 3.0]), 1).to_pylist() == [2.0, 18.0]
    assert [*exprgrad.arrow_function("a*b", "area", wrt=["a"])] == [
        "area",
        "area_grad_a",
        "area_gradient",
    ]
    for columns, message in (
        ((xs, ys), "takes 3 columns"),
        ((pa.array(["a"]), 1.0, 1.0), "'x' was given texts"),
        ((xs, pa.array([1.0]), 1.0), "1 and 4 rows"),
    ):
        with pytest.raises(ExprgradError, match=message):
            functions["value"](*columns)


def test_duckdb_finds_derivatives_in_a_query(tmp_path: Path) -> None:
    import pyarrow.parquet as pq

    connection = pytest.importorskip("duckdb").connect(":memory:")
    path = tmp_path / "rows.parquet"
    pq.write_table(pa.table(ROWS), path)
    exprgrad.arrow_function(F).register(connection)
    query = f"SELECT id, value(x, y, z), grad_y(x, y, z), gradient(x, y, z).d_x FROM '{path}' ORDER BY id"
    expected = zip(ROWS["id"], FOUND["value"], FOUND["d_y"], FOUND["d_x"], strict=True)
    assert connection.execute(query).fetchall() == [*expected]
    exprgrad.arrow_function("lambda*2", "twice").register(connection)
    assert connection.execute("SELECT twice(i) FROM range(5000) t(i)").fetchall()[-1] == (9998.0,)


def test_pyarrow_calls_them_by_name() -> None:
    import pyarrow.compute as pc

    exprgrad.arrow_function("p*q^2", "momentum_test").register()
    found = pc.call_function("momentum_test_grad_q", [pa.array([1.0, 2.0, None]), pa.scalar(3.0)])
    assert found.to_pylist() == [6.0, 12.0, None]


def test_nothing_is_imported_that_is_not_there() -> None:
    """A frame of pyarrow's does not need polars, and no function needs DuckDB."""
    program = (
        "import sys, pyarrow, exprgrad; f = exprgrad.parse('x^2'); table = pyarrow.table({'x': [3.0]}); "
        "exprgrad.arrow_function(f)['grad_x'](table['x']); f.batch(table); "
        "print([name for name in ('polars', 'duckdb') if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"


@pytest.mark.parametrize(
    "columns",
    [[0], [("x", "a")], [None], [1.5], [0, "y"]],
    ids=["0", "a pair", "None", "1.5", "0 and y"],
)
def test_names_that_are_no_texts(columns: list[Any]) -> None:
    pandas = pytest.importorskip("pandas")
    names = pandas.Index(columns, dtype=object, tupleize_cols=False)
    frame = pandas.DataFrame([[1.0] * len(columns)], columns=names)
    for work in (
        lambda: parse("2*x").batch(frame),
        lambda: exprgrad.fit("x ~ a", frame, a=1),
        lambda: parse("2*x").batch(frame, map={"x": "0"}),
    ):
        with pytest.raises(ExprgradError, match=r"no column|neither a column"):
            work()
    frame = frame.assign(x=[3.0])
    assert parse("2*x").batch(frame)["value"].tolist() == [6.0]
    assert exprgrad.fit("x ~ a", frame, a=1).parameters["a"].value == 3
    empty = pandas.DataFrame()
    with pytest.raises(ExprgradError, match="no column"):
        parse("2*x").batch(empty)


def test_functions_of_arrow_arrays_are_pickled() -> None:
    found = exprgrad.arrow_function("x*y", "f")
    again = pickle.loads(pickle.dumps(found))
    assert [*again] == ["f", "f_grad_x", "f_grad_y", "f_gradient"]
    for name, function in again.items():
        alone = pickle.loads(pickle.dumps(function))
        for one in (function, alone):
            assert one(pa.array([2.0, None]), 3.0) == found[name](pa.array([2.0, None]), 3.0)
    assert (again.text, again.inputs, again.fields) == (found.text, found.inputs, found.fields)


def test_a_function_is_null_where_it_does_not_exist_itself() -> None:
    f = exprgrad.arrow_function("x^k")
    x, k = pa.array([-2.0, 2.0, math.nan]), pa.array([3.0, 3.0, 0.0])
    assert f["value"](x, k).to_pylist() == [-8.0, 8.0, None]
    assert f["grad_k"](x, k).to_pylist() == [None, pytest.approx(8*math.log(2)), None]  # fmt: skip
    both = f["gradient"](x, k).to_pylist()
    assert [row and row["value"] for row in both] == [-8.0, 8.0, None]
    assert both[0]["d_k"] is None
