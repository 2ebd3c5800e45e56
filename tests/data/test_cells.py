"""What a cell means: missing, no number, another number; and a derivative that only some rows have.

One rule for all formats and frames, to the bit however the rows are divided.
"""

from __future__ import annotations

import importlib
import io
import json
import math
import sys
import zipfile
from fractions import Fraction
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

import exprgrad
from exprgrad.cli.main import main
from shell import Outcome, Terminal, command, on_terminal

pa = pytest.importorskip("pyarrow", reason="pip install 'exprgrad[data]'")
pytest.importorskip("narwhals")

from exprgrad.data import batch as batches  # noqa: E402
from exprgrad.data import formats, sums  # noqa: E402
from exprgrad.data.format import BATCH  # noqa: E402
from exprgrad.data.formats import ipc, parquet  # noqa: E402
from exprgrad.data.targets import Manifest  # noqa: E402
from exprgrad.run.values.layouts import CHANGES  # noqa: E402

NAN = math.nan
TEXTS = ("csv", "tsv", "csv.gz", "jsonl")
TYPED = ("parquet", "arrow")
FILES = (*TEXTS, *TYPED)
FRAMES = ("pyarrow", "polars", "pandas")
Columns = dict[str, list[Any]]


def text_of(cell: Any) -> str:
    """A cell of CSV: empty if it is missing."""
    return "" if cell is None else str(cell)


def data_in(kind: str, columns: Any, folder: Path) -> Any:
    """Columns as a file or a frame of a kind: None is missing, nan a number."""
    if kind in FRAMES:
        table = pa.table(columns)
        if kind == "pandas":  # whose doubles have nan for what is missing, but for Arrow's own
            pandas = pytest.importorskip("pandas")
            return table.to_pandas(types_mapper=pandas.ArrowDtype)
        return table if kind == "pyarrow" else pytest.importorskip("polars").from_arrow(table)
    path = folder / f"rows.{kind}"
    rows = [*zip(*columns.values(), strict=True)]
    if kind == "jsonl":
        path.write_text(
            "".join(json.dumps(dict(zip(columns, row, strict=True))) + "\n" for row in rows)
        )
    elif kind in TEXTS:
        import gzip

        sign = "\t" if kind == "tsv" else ","
        lines = [sign.join(map(text_of, row)) + "\n" for row in [tuple(columns), *rows]]
        text = "".join(lines).encode()
        path.write_bytes(gzip.compress(text) if kind.endswith("gz") else text)
    else:
        table = pa.table(columns)
        with path.open("wb") as file:
            writer = formats.FORMATS[kind].writer(file, table.schema)
            writer.write(writer.encoded(table.combine_chunks().to_batches()[0]))
            writer.close()
    return str(path)


def batch(*argv: str, stdin: bytes = b"") -> Outcome:
    return command("batch", *argv, stdin=stdin)


def results_of(text: str, data: Any, **options: Any) -> list[list[float | None]]:
    """The results of a formula, row by row."""
    found = exprgrad.parse(text).batch(data, only=True, **options)
    if isinstance(data, str):
        found = pa.Table.from_batches([*found])
    elif not isinstance(found, pa.Table):
        found = found.to_arrow() if hasattr(found, "to_arrow") else pa.Table.from_pandas(found)
    return [[*row.values()] for row in found.to_pylist()]


@pytest.mark.parametrize("kind", [*FILES, *FRAMES])
def test_nan_is_a_number_that_does_not_compute(kind: str, tmp_path: Path) -> None:
    columns = {"a": [1.0, NAN, None, 4.0], "b": [2.0, 2.0, 2.0, NAN], "c": [1.0, 1.0, 1.0, 1.0]}
    data = data_in(kind, columns, tmp_path)
    formula = "where(a > b, a, b)*c"
    found = exprgrad.parse(formula).batch(data, reduce="sum")
    assert (found.value, found.rows, found.bad) == (2, 1, {"missing": 1, "number": 2})
    assert results_of(formula, data, value_only=True) == [[2.0], [None], [None], [None]]


@pytest.mark.parametrize("kind", [*FILES, *FRAMES])
def test_a_cell_that_only_the_condition_reads_counts_only_there(kind: str, tmp_path: Path) -> None:
    columns = {"x": [1.0, 2.0, 4.0, NAN], "w": [1.0, None, NAN, 1.0], "u": [None, 1.0, NAN, 3.0]}
    data = data_in(kind, columns, tmp_path)
    f = exprgrad.parse("v = u + 1; 2*x")
    for where, value, rows, bad in (
        ("w != 0", 2.0, 1, {"number": 1}),  # whether a missing cell is 0, nobody knows
        ("w > 0", 2.0, 1, {"number": 1}),
        ("w < 0", 0.0, 0, {}),
        ("x > 1.5", 12.0, 2, {}),
        ("x != 1", 12.0, 2, {}),
        (None, 14.0, 3, {"number": 1}),  # u is read, and nothing depends on it
    ):
        found = f.batch(data, reduce="sum", where=where)
        assert (found.value, found.rows, found.bad) == (value, rows, bad), where


def test_nan_of_pandas_is_a_missing_cell() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"x": [1.0, NAN, 3.0]})
    found = exprgrad.parse("2*x").batch(frame, reduce="sum")
    assert (found.value, found.bad) == (8, {"missing": 1})


@pytest.mark.parametrize("cell", ["nan", "NaN", "-nan", "NAN", "+nan", " nan", "abc", "1.#IND"])
def test_a_cell_means_the_same_whatever_stands_beside_it(cell: str, tmp_path: Path) -> None:
    for other in ("2", "NA", "word", "True", "1e-400"):
        path = tmp_path / "rows.csv"
        path.write_text(f"x,y\n1,{other}\n{cell},2\n,3\n")
        for options in ((), ("--only", "--to", "jsonl")):
            err = batch("2*x", "--data", str(path), *options).err
            assert "1 row not computed: a value is missing (row 3" in err
            assert "1 row not computed: a cell is not a number (row 2" in err


@pytest.mark.parametrize(
    "cell",
    [
        "3", "+3", ".5", "5.", "−3", "1E+3", "1e400", "1e-400", "nan", "-nan", "inf",
        '" 3"', str(2**53 + 1),
        "true", "False", "NA", "n/a", "None", "abc", "1_000", "0x10", "1d5", "-",
        "½", "", " ", '""', '"NA"',
    ],
)  # fmt: skip
def test_a_cell_means_the_same_behind_at(cell: str, tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text(f"x,y\n1,1\n{cell},2\n4,3\n", encoding="utf-8")
    shown = batch("atan(x)", "--data", str(path), "--only", "--value-only")
    status, out, err = command("eval", "atan(x)", f"x=@{path}:x", "-q")
    number = shown.out.splitlines()[2]
    if status:  # a vector has no gaps
        missing = "a value is missing" in shown.err
        assert number == '""' and ("a value is missing in line 3, column 1" in err) == missing
        assert missing or ("in line 3, column 1 of" in err and "is not a number" in err)
    else:
        expected = float("nan" if number == '""' else number)
        assert float(out.split(",")[1]) == pytest.approx(expected, rel=1e-15, nan_ok=True)
    for words in CHANGES.values():
        assert (words in shown.err) == (words in err)


# A derivative that does not exist.

POWERS: Columns = {
    "x": [-2.0, 2.0, -1.0, 4.0],
    "k": [3.0, 3.0, 2.0, 0.5],
    "g": ["a", "b", "c", "b"],
}
SLOPES: Columns = {
    "value": [-8.0, 8.0, 1.0, 2.0],
    "d_x": [12.0, 12.0, -2.0, 0.25],
    "d_k": [None, 8*math.log(2), None, 2*math.log(4)],
}  # fmt: skip
"""x^k, with k*x^(k - 1) and x^k*log(x)."""


@pytest.mark.parametrize("kind", [*FILES, *FRAMES])
def test_a_value_does_not_depend_on_the_derivatives(kind: str, tmp_path: Path) -> None:
    data = data_in(kind, POWERS, tmp_path)
    for wrt, names in ((["x"], ["d_x"]), (["k"], ["d_k"]), (["x", "k"], ["d_x", "d_k"]), ([], [])):
        rows = results_of("x^k", data, wrt=wrt, value_only=not wrt) if wrt else None
        for at, name in enumerate(["value", *names] if rows else ()):
            for row, real in zip(rows or (), SLOPES[name], strict=True):
                assert row[at] == (None if real is None else pytest.approx(real, rel=1e-14))
        for reduce in sums.REDUCTIONS:
            options: dict[str, Any] = {"wrt": wrt} if wrt else {"value_only": True}
            found = exprgrad.parse("x^k").batch(data, reduce=reduce, **options)
            assert (found.rows, found.bad) == (4, {})
            assert found.value == pytest.approx(come_to(reduce, "value"), rel=1e-14)
            for name in names:
                assert found.gradient[name[2:]] == pytest.approx(come_to(reduce, name), rel=1e-14)
            assert found.undefined == ({"k": 2} if "d_k" in names else {})
            groups = exprgrad.parse("x^k").batch(data, reduce=reduce, by="g", **options)
            assert groups.undefined == found.undefined
            for group, places in {"a": [0], "b": [1, 3], "c": [2]}.items():
                one = groups[group]
                assert (one.rows, one.undefined) == (len(places), {})
                shown = [one.value, *one.gradient.values()]
                true = [come_to(reduce, name, places) for name in ("value", *names)]
                assert shown == pytest.approx(true, rel=1e-14, nan_ok=True)


def come_to(reduce: str, name: str, places: list[int] | None = None) -> float:
    """What a column comes to, over the rows that have it."""
    cells = [SLOPES[name][at] for at in places or range(4)]
    numbers = [Fraction(cell) for cell in cells if cell is not None]
    if not numbers:
        return 0.0 if reduce == "sum" else NAN
    if reduce in ("min", "max"):
        return float({"min": min, "max": max}[reduce](numbers))
    if reduce == "norm":
        return math.sqrt(sum(x*x for x in numbers))  # fmt: skip
    return float(sum(numbers) / (1 if reduce == "sum" else len(numbers)))


def test_a_derivative_that_does_not_exist_is_reported(tmp_path: Path) -> None:
    data = data_in("csv", {"x": [-2, 2], "k": [3, 3]}, tmp_path)
    for wrt, status in (("x", 0), ("x,k", 1)):
        argv = ("x^k", "--data", data, "--wrt", wrt, "--strict")
        assert batch(*argv).status == batch(*argv, "--reduce", "mean").status == status
    status, out, err = batch("x^k", "--data", data, "--reduce", "sum", "--json")
    found = json.loads(out)
    assert (status, found["value"], found["rows"]) == (0, 0, 2)
    assert (found["bad"], found["undefined"]) == ({}, {"k": 1})
    assert err == f"warning: 1 row without a finite d_k (row 1 of '{data}')\n"
    dropped = batch("x^k", "--data", data, "--bad-rows", "drop", "--wrt", "k", "--only").out
    assert dropped.splitlines()[:2] == ["value,d_k", "-8,"]
    assert batch("x^k", "--data", data, "--bad-rows", "fail").status == 0
    found = json.loads(batch("x^k", "--data", data, "--reduce", "max", "--hessian", "--json").out)
    assert found["undefined"] == {"k": 1, "x,k": 1, "k,k": 1}
    both = ("y = x^k; z = log(x); y", "--data", data, "--of", "y,z", "--reduce", "sum", "--json")
    found = json.loads(batch(*both).out)
    assert (found["value"]["y"], found["rows"], found["bad"]) == (0, 2, {})
    assert found["undefined"] == {"z": 1, "y,k": 1, "z,x": 1}


@pytest.mark.parametrize("reduce", ["sum", "mean", "norm", "min", "max"])
@pytest.mark.parametrize("by", [(), ("g",)])
def test_own_rows_come_to_the_same_bits_however_divided(
    reduce: str, by: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    count = 2 * sums.CHUNK + 77
    columns = {
        "x": [math.sin(at) for at in range(count)],
        "k": [float(at % 7) if at % 11 else NAN for at in range(count)],
        "g": ["abc"[at % 3] for at in range(count)],
    }
    data = data_in("parquet", columns, tmp_path)
    f = exprgrad.parse("x^k")
    found = []
    for size, threads in ((BATCH, 1), (1000, 1), (1000, 3), (sums.CHUNK + 1, 2)):
        for module in (ipc, parquet):
            monkeypatch.setattr(module, "BATCH", size)
        found.append(repr(f.batch(data, reduce=reduce, by=by, threads=threads)))
    found.append(repr(f.batch(pa.table(columns), reduce=reduce, by=by)))
    assert len(set(found)) == 1
    assert "undefined={'k'" in found[0] or by


@pytest.mark.parametrize(
    "options", ["--reduce mean", "--reduce max --by g", "--reduce norm --by k"]
)
def test_own_rows_are_kept_by_a_record(
    options: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for at in range(4):
        (tmp_path / str(at)).mkdir()
        data_in("parquet", {**POWERS, "k": [3.0, NAN, 2.0, at]}, tmp_path / str(at))
    argv = ("x^k", "--data", "*/rows.parquet", "--threads", "1", "--json", *options.split())
    whole = batch(*argv, "-o", "whole.json")
    assert "without a finite d_k" in whole.err
    work, left = batches.reduce_rows, [2]

    def stopped(*args: Any) -> Any:
        left[0] -= 1
        if left[0] < 0:
            raise KeyboardInterrupt
        return work(*args)

    monkeypatch.setattr(batches, "reduce_rows", stopped)
    assert batch(*argv, "-o", "again.json").status == 130
    left[0] = 9
    again = batch(*argv, "-o", "again.json", "--resume")
    assert (again.status, again.err) == (0, whole.err)
    assert Path("again.json").read_bytes() == Path("whole.json").read_bytes()
    assert left[0] > 9 - 4


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet", "pyarrow"])
def test_a_group_whose_rows_are_all_bad_is_listed(kind: str, tmp_path: Path) -> None:
    columns = {"x": [1.0, -1.0, NAN, 2.0, 5.0], "g": ["a", "b", "b", "a", "c"]}
    data = data_in(kind, columns, tmp_path)
    found = exprgrad.parse("log(x)").batch(data, reduce="mean", by="g", where="x != 5")
    assert {group: one.rows for group, one in found.items()} == {"a": 2, "b": 0}
    assert math.isnan(found["b"].value)


# Cells that are read as other numbers.

BEYOND = 2**53 + 1


@pytest.mark.parametrize("kind", [*FILES, *FRAMES])
def test_whole_numbers_that_are_rounded_are_counted(kind: str, tmp_path: Path) -> None:
    for cells, count in (
        ([1, BEYOND, None, -BEYOND], 2),
        ([2**53, 2**53 + 2, 2**62, -(2**60)], 0),
        ([2**63 - 1, 2**63 - 1024, 0, 1], 1),
    ):
        data = data_in(kind, {"x": cells}, tmp_path)
        found = exprgrad.parse("2*x").batch(data, reduce="sum")
        assert found.converted == ({"rounded": count} if count else {}), cells
        doubles = [float(cell) for cell in cells if cell is not None]
        assert found.value == float(2 * sum(map(Fraction, doubles)))


@pytest.mark.parametrize(
    ("cell", "kind", "number"),
    [
        ("True", "truth", 1), ("false", "truth", 0), ("1e-400", "underflow", 0),
        ("-0." + "0"*400 + "1", "underflow", 0), ("2.4E-324", "underflow", 0),
        (str(BEYOND), "rounded", 2**53), (f"{BEYOND}.0", "rounded", 2**53), ("0e5", "", 0),
        ("0.000", "", 0), ("1e22", "", 1e22), ("1e23", "", 1e23), ("5e-324", "", 5e-324),
        (str(2**60), "", 2**60),
    ],
)  # fmt: skip
@pytest.mark.parametrize("form", ["csv", "tsv", "jsonl", "csv to csv", "a word", "parquet"])
def test_cells_that_are_read_as_other_numbers_are_counted(
    cell: str, kind: str, number: float, form: str, tmp_path: Path
) -> None:
    path = tmp_path / f"rows.{form if form in ('tsv', 'jsonl') else 'csv'}"
    cells = ["3", cell, "0", "word" if form == "a word" else "4"]
    if form == "jsonl":
        kind = "" if kind == "truth" else kind  # what JSON says itself
        path.write_text("".join(f'{{"x": {one.lower()}}}\n' for one in cells))
    else:
        path.write_text(
            "".join(f"{one}\t\n" if form == "tsv" else f"{one}\n" for one in ["x", *cells])
        )
        if form == "tsv":
            path.write_text(path.read_text().replace("\t\n", "\n"))
    to = {"parquet": ["-o", str(tmp_path / "out.parquet")], "csv to csv": ["--to", "csv"]}
    argv = ("x", "--data", str(path), "--value-only", *to.get(form, ["--reduce", "sum", "--json"]))
    status, out, err = batch(*argv)
    said = [line for line in err.splitlines() if "not computed" not in line]
    assert status == 0
    assert len(said) == (1 if kind else 0)
    assert all("1 row with" in line and "(row 2 of" in line for line in said)
    assert batch(*argv, "--strict").status == (1 if kind or form == "a word" else 0)
    if "--json" in argv:
        found = json.loads(out)
        assert found["converted"] == ({kind: 1} if kind else {})
        assert found["value"] == float(Fraction(number) + (3 if form == "a word" else 7))


def test_numbers_too_large_for_a_double_are_counted(tmp_path: Path) -> None:
    for form, text in (
        ("csv", "x\n1\n1e400\ninf\n"),
        ("jsonl", '{"x": 1}\n{"x": 1e400}\n{"x": "inf"}\n'),
    ):
        path = tmp_path / f"rows.{form}"
        path.write_text(text)
        found = exprgrad.parse("exp(-x)").batch(str(path), reduce="sum")
        assert (found.converted, found.rows) == ({"overflow": 1}, 3)


def test_types_that_hold_truth_values_or_decimals_are_what_they_say(tmp_path: Path) -> None:
    from decimal import Decimal

    for end in ("", '{"x": "no"}\n', '{"x": 1e-9}\n'):
        (tmp_path / "rows.jsonl").write_text('{"x": true}\n{"x": false}\n{"x": 0.5}\n' + end)
        found = exprgrad.parse("x").batch(
            str(tmp_path / "rows.jsonl"), reduce="max", value_only=True
        )
        assert (found.value, found.converted) == (1, {})
    table = pa.table({"x": [True, False], "y": [Decimal("0.1"), Decimal("12345678901234567.0")]})
    found = exprgrad.parse("x + y").batch(table, reduce="sum")
    assert found.converted == {"rounded": 1}
    assert found.value == 1.1 + 12345678901234567.0


# Cells that are passed on.


@pytest.mark.parametrize("other", ["3", "abc", "True", "NA"])
def test_nan_is_passed_on_whatever_stands_beside_it(other: str, tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text(f"x,y\nnan,1\n,1\n{other},1\n1,1\n")
    assert (
        batch("x", "--data", str(tmp_path / "rows.csv"), "-o", str(tmp_path / "o.arrow")).status
        == 0
    )
    (found,) = exprgrad.parse("2*x").batch(str(tmp_path / "o.arrow"), prefix="f_")
    x = found.column("x").to_pylist()
    assert math.isnan(x[0])
    assert x[1:] == [None, {"3": 3.0, "True": 1.0}.get(other), 1.0]
    (tmp_path / "rows.jsonl").write_text('{"x": "nan"}\n' * 2)
    assert exprgrad.parse("x").batch(str(tmp_path / "rows.jsonl"), reduce="sum").bad == {
        "number": 2
    }


def written(table: Any, path: Path) -> Path:
    """A file with the rows of a table, as our own writer makes it."""
    with path.open("wb") as file:
        writer = formats.FORMATS[path.suffix[1:]].writer(file, table.schema)
        writer.write(writer.encoded(table.to_batches()[0]))
        writer.close()
    return path


@pytest.mark.parametrize("kind", ["csv", "tsv", "jsonl", "parquet", "arrow"])
@pytest.mark.parametrize("to", ["csv", "tsv", "jsonl", "parquet", "arrow"])
def test_empty_texts_and_missing_ones_stay_apart(kind: str, to: str, tmp_path: Path) -> None:
    words = ["", None, "NA", "a", " "]
    table = pa.table({"x": [1.0, 2.0, 3.0, 4.0, 5.0], "word": words})
    path, out = written(table, tmp_path / f"rows.{kind}"), tmp_path / f"out.{to}"
    if kind == "csv":
        assert path.read_text() == 'x,word\n1,""\n2,\n3,NA\n4,a\n5, \n'
    assert batch("2*x", "--data", str(path), "-o", str(out)).status == 0
    again = exprgrad.parse("3*x").batch(str(out), prefix="f_")
    assert pa.Table.from_batches([*again]).column("word").to_pylist() == words
    found = exprgrad.parse("x").batch(str(path), reduce="sum", by="word")
    assert {word: one.value for word, one in found.items()} == dict(
        zip(words, range(1, 6), strict=True)
    )


@pytest.mark.parametrize("kind", ["csv", "tsv", "jsonl", "parquet", "arrow"])
def test_groups_of_empty_texts_and_of_missing_ones_stay_apart(kind: str, tmp_path: Path) -> None:
    """In CSV an empty text is quoted; so our own reader, and others, read it back."""
    table = pa.table({"w": ["", None, "a"], "x": [1.0, 2.0, 3.0]})
    path = written(table, tmp_path / f"rows.{kind}")
    argv = ("x^2", "--data", str(path), "--reduce", "sum", "--by", "w")
    lines = ["w,rows,value,d_x", '"",1,1.0,2.0', ",1,4.0,4.0", "a,1,9.0,6.0"]
    out = tmp_path / "out.csv"
    assert sorted(batch(*argv, "--csv").out.splitlines()) == sorted(lines)
    assert batch(*argv, "-o", str(out)).status == 0
    assert sorted(out.read_text().splitlines()) == sorted(lines)
    again = batch("value", "--data", str(out), "--reduce", "sum", "--by", "w", "--json").out
    groups = json.loads(again)["groups"]
    assert {one["group"]["w"]: one["value"] for one in groups} == {"": 1.0, None: 4.0, "a": 9.0}


@pytest.mark.parametrize(
    ("types", "shared"),
    [
        (["int64", "float64"], "double"), (["float64", "int64"], "double"), (["int32", "int64"], "int64"),
        (["float32", "float64"], "double"), (["null", "int64"], "int64"), (["float64", "null"], "double"),
        (["string", "large_string"], "large_string"), (["int64", "string"], None),
    ],
)  # fmt: skip
@pytest.mark.parametrize("ending", ["parquet", "arrow"])
def test_columns_of_several_files_have_the_type_with_room_for_all(
    types: list[str], shared: str | None, ending: str, tmp_path: Path
) -> None:
    for at, name in enumerate(types):
        cells = ["1" if "string" in name else 1, None] if name != "null" else [None, None]
        rows = {"x": pa.array([1.0, 2.0]), "n": pa.array(cells, getattr(pa, name)())}
        (tmp_path / str(at)).mkdir()
        data_in(ending, rows, tmp_path / str(at))
    argv = (
        "x",
        "--data",
        str(tmp_path / "*" / f"rows.{ending}"),
        "-o",
        str(tmp_path / "out.parquet"),
    )
    status, _, err = batch(*argv)
    if shared is None:
        assert (status, "column 'n' is" in err) == (2, True)
        return
    assert (status, err) == (0, "")
    import pyarrow.parquet as parquet

    found = parquet.read_table(tmp_path / "out.parquet").column("n")
    assert str(found.type) == shared
    cells = ["1" if "string" in str(shared) else 1, None]
    assert found.to_pylist() == [
        cell for name in types for cell in (cells if name != "null" else [None] * 2)
    ]


def test_groups_of_whole_numbers_and_doubles_have_one_type(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Manifest, "is_due", lambda self, done: True)
    for at, keys in enumerate([pa.array([1, 2]), pa.array([0.5, 2.0])]):
        (tmp_path / str(at)).mkdir()
        data_in("parquet", {"x": pa.array([1.0, 3.0]), "g": keys}, tmp_path / str(at))
    files = [str(tmp_path / f"{at}/rows.parquet") for at in (0, 1)]
    for data in (files, files[::-1]):
        argv = ["x", *(word for path in data for word in ("--data", path)), "--by", "g"]
        status, out, err = batch(*argv, "--reduce", "sum", "--json")
        assert (status, err) == (0, "")
        found = {repr(one["group"]["g"]): one["value"] for one in json.loads(out)["groups"]}
        assert found == {"1.0": 1, "2.0": 6, "0.5": 1}
        target = tmp_path / "out.json"
        assert batch(*argv, "--reduce", "sum", "-o", str(target)).status == 0


@pytest.mark.parametrize(
    "options", [["-o", "out.csv"], ["--reduce", "sum", "--by", "g", "-o", "out.json"]]
)
def test_whole_numbers_that_doubles_have_no_room_for_are_refused(
    options: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(Manifest, "is_due", lambda self, done: True)
    for at, keys in enumerate([pa.array([1, BEYOND]), pa.array([0.5, 2.0])]):
        (tmp_path / str(at)).mkdir()
        data_in("parquet", {"x": pa.array([1.0, 3.0]), "g": keys}, tmp_path / str(at))
    status, _, err = batch("x", "--data", "*/rows.parquet", *options)
    assert status == 2
    assert "column 'g' of '0/rows.parquet' is read as double, which cannot hold" in err
    assert not Path(options[-1]).exists()


def test_dictionaries_and_texts_are_texts(tmp_path: Path) -> None:
    words = pa.array(["a", None])
    for at, column in enumerate([words, words.dictionary_encode(), words.cast("large_string")]):
        (tmp_path / str(at)).mkdir()
        data_in("parquet", {"x": pa.array([1.0, 2.0]), "n": column}, tmp_path / str(at))
    status, out, err = batch("x", "--data", str(tmp_path / "*/*.parquet"), "--value-only")
    assert (status, err) == (0, "")
    assert out == "x,n,value\n" + "1,a,1\n2,,2\n" * 3


CLEAR = "\x1b[2J\x9b2J"


@pytest.mark.parametrize("form", ["csv", "tsv", "jsonl"])
def test_terminals_obey_no_cell(form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "rows.csv"
    path.write_text(f"x,w{CLEAR},word\n1,é{CLEAR},a\n")
    argv = ["x", "--data", str(path), "--to", form]
    assert ("\x9b" in batch(*argv).out) and (CLEAR in batch(*argv).out or form == "jsonl")
    for more in (
        ["--reduce", "sum", "--by", f"w{CLEAR}"],
        ["--reduce", "sum", "--by", f"w{CLEAR}", "-q"],
    ):
        shown = on_terminal(["batch", *argv[:3], *more], 100, monkeypatch)
        assert "\x1b[2J" not in shown
        assert "\x9b" not in shown
    stream = io.BytesIO()
    screen = Terminal(stream, encoding="utf-8", write_through=True)
    with mock.patch.object(sys, "stdout", screen):
        assert main(["batch", *argv]) == 0
    shown = stream.getvalue().decode()
    assert not set("\x1b\x9b") & set(shown)
    assert "é\ufffd" in shown or form == "jsonl"


@pytest.mark.parametrize(
    ("packing", "tool"),
    [("gzip", "zcat"), ("bz2", "bzcat"), ("lzma", "xzcat"), ("zip", "unzip -p")],
)
def test_packed_rows_are_called_so(packing: str, tool: str, tmp_path: Path) -> None:
    if packing == "zip":
        place = io.BytesIO()
        with zipfile.ZipFile(place, "w") as file:
            file.writestr("rows.csv", "x\n1\n")
        packed = place.getvalue()
    else:
        packed = importlib.import_module(packing).compress(b"x\n1\n" * 100)
    status, out, err = batch("x", "--data", "-", stdin=packed)
    assert (status, out) == (2, "")
    assert "'standard input' is compressed" in err
    assert f"{tool} FILE | exprgrad" in err
    (tmp_path / "rows.csv").write_bytes(packed)
    assert "rows.csv' is compressed" in batch("x", "--data", str(tmp_path / "rows.csv")).err


# Tables of many files, some of whose rows are deleted.


@pytest.mark.parametrize(
    ("log", "reader"),
    [
        ("_delta_log/00000000000000000000.json", "deltalake"), ("metadata/v1.metadata.json", "pyiceberg"),
        (".hoodie/hoodie.properties", "hudi"),
    ],
)  # fmt: skip
@pytest.mark.parametrize(
    "data",
    ["table", "table/*.parquet", "table/data/k=1", "table/data/k=1/p.parquet", "**/*.parquet"],
)
def test_tables_with_deleted_rows_are_refused(
    log: str, reader: str, data: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    place = tmp_path / "table/data/k=1"
    place.mkdir(parents=True)
    rows = pa.table({"x": [1.0, 2.0]})
    for name in ("table/p.parquet", "table/data/k=1/p.parquet", "other.parquet"):
        data_in("parquet", {"x": [1.0, 2.0]}, place)
        (place / "rows.parquet").rename(tmp_path / name)
    argv = ("x", "--data", data, "--reduce", "sum", "-q")
    assert batch(*argv).status == 0
    (tmp_path / "table" / log).parent.mkdir()
    (tmp_path / "table" / log).write_text("{}")
    status, out, err = batch(*argv)
    assert (status, out) == (2, "")
    assert "deleted rows" in err
    assert reader in err
    assert "pass the frame" in err
    assert batch("x", "--data", "other.parquet", "--reduce", "sum", "-q").status == 0
    with pytest.raises(exprgrad.ExprgradError, match="deleted rows"):
        exprgrad.fit("x ~ a", data, a=1)
    assert exprgrad.parse("x").batch(rows, reduce="sum").value == 3


def test_tables_in_stores_are_refused(tmp_path: Path) -> None:
    fsspec = pytest.importorskip("fsspec")
    files = fsspec.filesystem("memory")
    path = data_in("parquet", {"x": [1.0]}, tmp_path)
    files.pipe("/lake/k=1/rows.parquet", Path(path).read_bytes())
    try:
        assert batch("x", "--data", "memory://lake", "--reduce", "sum").status == 0
        files.pipe("/lake/_delta_log/0.json", b"{}")
        for data in ("memory://lake", "memory://lake/k=1/*.parquet"):
            assert "deltalake" in batch("x", "--data", data, "--reduce", "sum").err
    finally:
        files.rm("/lake", recursive=True)
