"""Columns as Python has them, parameters called as options are, scalar and array scales of fits."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import exprgrad
from exprgrad import ExprgradError, parse
from exprgrad.data.fits import FitRequest
from shell import command

pa = pytest.importorskip("pyarrow")
pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")
pytest.importorskip("scipy")
X, Y = [1.0, 2.0, 4.0], [2.5, 3.5, 8.5]
COLUMNS: dict[str, Any] = {
    "lists": list,
    "arrays": np.array,
    "pandas": pd.Series,
    "polars": pl.Series,
    "arrow": pa.array,
    "chunks": lambda x: pa.chunked_array([x[:1], x[1:]]),
    "ints where whole": lambda x: [*map(float, x)],
}
SLOPE = sum(x * y for x, y in zip(X, Y, strict=True)) / sum(x * x for x in X)


@pytest.mark.parametrize("kind", COLUMNS)
def test_columns_by_name(kind: str) -> None:
    data = {"x": COLUMNS[kind](X), "y": COLUMNS[kind](Y)}
    found = exprgrad.fit("y ~ a*x", data, a=1)
    assert found.parameters["a"].value == pytest.approx(SLOPE, rel=1e-14)
    f = parse("x*y")
    rows = f.batch(data, where="x > 1")
    assert [*rows] == ["x", "y", "value", "d_x", "d_y"]
    assert {name: rows[name].tolist() for name in ("value", "d_x")} == {
        "value": [7.0, 34.0],
        "d_x": [3.5, 8.5],
    }
    assert f.batch(data, reduce="sum").value == 43.5
    assert f.batch({**data, "y": 2}, only=True)["value"].tolist() == [2.0, 4.0, 8.0]


class Stream:
    """What speaks Arrow's protocol of streams, and nothing else."""

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return pa.table({"x": X, "y": Y}).__arrow_c_stream__(requested_schema)


def test_streams() -> None:
    duckdb = pytest.importorskip("duckdb")
    table = pa.table({"x": X, "y": Y})
    relation = duckdb.connect().from_arrow(table)
    for make in (Stream, table.to_reader, lambda: table.to_batches()[0], lambda: relation):
        assert exprgrad.fit("y ~ a*x", make(), a=1).parameters["a"].value == pytest.approx(SLOPE)
        assert parse("x*y").batch(make()).column("value").to_pylist() == [2.5, 7.0, 34.0]


def test_columns_that_are_none() -> None:
    for data, word in (
        ({"x": object()}, "'x' is not a column: object"),
        ({"x": [1.0, "a"]}, "'x' is not a column: list"),
        ({"x": [1.0], "y": [1.0, 2.0]}, "columns have 1 and 2 rows"),
        ({"x": ["a"]}, "holds texts, not numbers"),
    ):
        with pytest.raises(ExprgradError, match=word):
            parse("x").batch(data)


@pytest.mark.parametrize("option", sorted(FitRequest._field_defaults))
def test_parameters_called_as_options_are(option: str) -> None:
    """By keyword, or as the error says, in ``start``; sigma's own option stays reachable."""
    data = {"x": np.array(X), "y": np.array(Y)}
    text = f"y ~ {option}*x"
    for value in (1.5, FitRequest._field_defaults[option]):
        if not isinstance(value, int | float):
            continue
        try:
            found = exprgrad.fit(text, data, **{option: value})  # type: ignore[arg-type]
        except ExprgradError as error:
            assert f"start={{'{option}': " in str(error), str(error)
            found = exprgrad.fit(text, data, start={option: 1.5})
        assert found.parameters[option].value == pytest.approx(SLOPE, rel=1e-14)


def test_a_number_or_an_array_for_sigma(tmp_path: Path) -> None:
    data = {
        "x": np.array(X),
        "y": np.array(Y),
        "s": np.array([0.5, 0.5, 0.5]),
        "w": [1.0, 2.0, 3.0],
    }
    by_column = exprgrad.fit("y ~ a*x", data, a=1, sigma="s")
    assert by_column.parameters["a"].error == pytest.approx(0.5 / np.sqrt(21), rel=1e-12)
    frame = pl.DataFrame(data)
    path = tmp_path / "x.csv"
    frame.write_csv(path)
    for given in (0.5, np.float64(0.5), [0.5] * 3, pd.Series([0.5] * 3)):
        for rows in (data, frame, str(path)):
            found = exprgrad.fit("y ~ a*x", rows, a=1, sigma=given)
            assert found.parameters == by_column.parameters
    weighted = exprgrad.fit("y ~ a*x", data, a=1, weights=[1, 2, 3])
    assert weighted.parameters == exprgrad.fit("y ~ a*x", data, a=1, weights="w").parameters
    line = ["fit", "y ~ a*x", "--data", str(path), "a=1", "--json"]
    by_number, by_name = (command(*line, "--sigma", s) for s in ("0.5", "s"))
    assert by_number == by_name and by_number[0] == 0


def test_scales_that_do_not_fit() -> None:
    data = {"x": X, "y": Y}
    for given, word in (
        ([1.0, 2.0], "sigma has 2 numbers"),
        ([1.0] * 4, "sigma has 4 numbers"),
        ([1.0, 2.0, -1.0], "row 3 .* standard deviation 'sigma' is -1"),
        (0, "standard deviation 'sigma' is 0"),
        ("none", "data has no column 'none'"),
    ):
        with pytest.raises(ExprgradError, match=word):
            exprgrad.fit("y ~ a*x", data, a=1, sigma=given)


def test_an_array_for_sigma_where_sigma_is_a_parameter() -> None:
    x = np.linspace(0, 6, 40)
    data = {"x": x, "y": 2 * np.exp(-((x - 3) ** 2) / (2 * 0.8**2))}
    text = "y ~ A*exp(-(x - mu)^2/(2*sigma^2))"
    found = exprgrad.fit(text, data, {"sigma": 1.0}, A=1, mu=2.5, sigma=np.full(40, 0.1))
    assert found.parameters["sigma"].value == pytest.approx(0.8, rel=1e-9)
    assert str(pickle.loads(pickle.dumps(found))) == str(found)


def test_compiled_numbers_are_floats() -> None:
    g = parse("x^2*y").compile()
    value, gradient = g({"x": 2, "y": np.float64(3)})
    assert (value, gradient) == (12.0, {"x": 12.0, "y": 4.0})
    assert {type(one) for one in (value, *gradient.values())} == {float}
    assert type(g({"x": [2.0], "y": 3}).value) is np.ndarray
    one_row = g({"x": [2.0], "y": 3})
    assert g({"x": 3, "y": 1}, out=one_row).value.tolist() == [9.0]
