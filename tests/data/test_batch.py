"""Columns in files: every format to every other, against gradients row by row; and sums to the bit."""

from __future__ import annotations

import gzip
import io
import json
import math
from collections.abc import Iterable
from datetime import date
from decimal import Decimal
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from jsonschema import Draft202012Validator

import exprgrad
from shell import Outcome, Terminal, command
from together import together

pa = pytest.importorskip("pyarrow", reason="pip install 'exprgrad[data]'")

from exprgrad.cli.commands.batch_fit import batch_command  # noqa: E402
from exprgrad.cli.options import Words  # noqa: E402
from exprgrad.data import formats, sums  # noqa: E402
from exprgrad.data.format import BATCH  # noqa: E402
from exprgrad.data.formats import (  # noqa: E402
    FORMATS,
    inspect_row_file,
    ipc,
    parquet,
    read_batches,
    sample_file,
)
from exprgrad.data.job import BatchJob, prepare_kernel  # noqa: E402
from exprgrad.data.places import NO_CELL  # noqa: E402
from exprgrad.data.plans import BAD_ROWS  # noqa: E402

FORMULA = "tanh(x*w) + y^2/3"
SCHEMA = Path(__file__).parents[2] / "docs/reference/schema.json"
VALIDATOR = Draft202012Validator(json.loads(SCHEMA.read_text(encoding="utf-8")))
ROWS = [(0.5, 1.25, "one"), (-2.0, 3.0, 'tw"o'), (1e-3, 7.5, "three, or so"), (4.0, -0.125, "four")]


def table() -> Any:
    x, y, name = zip(*ROWS, strict=True)
    return pa.table({"x": x, "y": y, "name": name})


def written(path: Path, rows: Any) -> str:
    """A file with some rows."""
    with path.open("wb") as file:
        writer = FORMATS[formats.format_by_ending(str(path))].writer(file, rows.schema)
        for batch in rows.to_batches():
            writer.write(writer.encoded(batch))
        writer.close()
    return str(path)


def read(path: Path | str) -> Any:
    """The rows of a file."""
    source, sample = sample_file(inspect_row_file(str(path)))
    partitions = formats.split_into_partitions(source)
    return pa.Table.from_batches(
        batch
        for partition in partitions
        for batch in read_batches(partition, sample.schema.names, sample.schema)
    )


def batch(*argv: str, stdin: bytes = b"") -> Outcome:
    return command("batch", *argv, stdin=stdin)


ENDINGS = ("csv", "tsv", "jsonl", "parquet", "arrow")


@pytest.mark.parametrize("given", ENDINGS)
@pytest.mark.parametrize("asked", ENDINGS)
def test_every_format_to_every_other(given: str, asked: str, tmp_path: Path) -> None:
    data = written(tmp_path / f"rows.{given}", table())
    out = tmp_path / f"out.{asked}"
    assert batch(FORMULA, "--data", data, "w=0.75", "-o", str(out)) == (0, "", "")
    found = read(out)
    assert found.column_names == ["x", "y", "name", "value", "d_x", "d_w", "d_y"]
    assert found.column("name").to_pylist() == [name for _, _, name in ROWS]
    f = exprgrad.parse(FORMULA)
    for row in found.to_pylist():
        run = f.gradient(x=row["x"], y=row["y"], w=0.75)
        slopes = {f"d_{name}": slope for name, slope in run.gradient.items()}
        for name, expected in {"value": run.value, **slopes}.items():
            assert row[name] == pytest.approx(expected, rel=1e-14)
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


def test_rows_that_do_not_compute(tmp_path: Path) -> None:
    data = tmp_path / "rows.csv"
    data.write_text("x,y\n1,2\n-1,2\n,3\nabc,4\nNA,5\n0,1\n2,nan\n")
    status, out, err = batch("log(x)*y", "--data", str(data), "--only")
    assert status == 0
    assert out == "value,d_x,d_y\n0,2,0\n" + ",,\n" * 6
    assert err == (
        f"warning: 2 rows not computed: a value is missing (rows 3, 5 of '{data}')\n"
        f"warning: 2 rows not computed: a cell is not a number (rows 4, 7 of '{data}')\n"
        f"warning: 1 row not computed: outside the domain (row 2 of '{data}')\n"
        f"warning: 1 row not computed: a result is not finite (row 6 of '{data}')\n"
    )
    assert batch("log(x)*y", "--data", str(data), "--strict", "--only").status == 1
    dropped = batch("log(x)*y", "--data", str(data), "--bad-rows", "drop")
    assert dropped.out == "x,y,value,d_x,d_y\n1,2,0,2,0\n"
    out = str(tmp_path / "out.parquet")
    failed = batch("log(x)*y", "--data", str(data), "--bad-rows", "fail", "-o", out)
    assert (failed.status, failed.out) == (2, "")
    assert f"row 2 of '{data}' does not compute: outside the domain (x=-1, y=2)" in failed.err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["rows.csv"]
    found = json.loads(batch("log(x)*y", "--data", str(data), "--reduce", "sum", "--json").out)
    assert (found["value"], found["gradient"], found["rows"]) == (0, {"x": 2, "y": 0}, 1)
    assert found["bad"] == {"missing": 2, "number": 2, "domain": 1, "infinite": 1}


def test_what_is_read_from_its_end_needs_a_name() -> None:
    for start, what in ((b"PAR1", "Parquet"), (b"ARROW1\0\0", "an Arrow file")):
        status, out, err = batch("x", "--data", "-", stdin=start + b"\0" * 80)
        assert (status, out) == (2, "")
        assert f"standard input is {what}, which cannot be read through a pipe" in err


def test_a_pipe_to_a_pipe() -> None:
    rows = b"x,y\n" + b"1,2\n" * 3
    assert batch("x*y", "--data", "-", stdin=rows).out == "x,y,value,d_x,d_y\n" + "1,2,2,2,1\n" * 3
    lines = b'{"x": 1, "y": 2}\n{"y": 3, "x": 0.5}\n'
    found = batch("x*y", "--data", "-", "--to", "jsonl", "--value-only", stdin=lines).out
    assert [json.loads(line)["value"] for line in found.splitlines()] == [2, 1.5]
    stream = io.BytesIO()
    with pa.ipc.new_stream(stream, table().schema) as writer:
        writer.write_table(table())
    found = batch("x + y", "--data", "-", "--only", "--value-only", stdin=stream.getvalue()).out
    assert found.splitlines() == ["value", *(f"{x + y:.15g}" for x, y, _ in ROWS)]


def spread(rows: int) -> Any:
    """Rows whose results are of many sizes, and whose sum is small beside them."""
    random = np.random.default_rng(7)
    x = random.standard_normal(rows) * 10.0 ** random.integers(-12, 12, rows)
    return pa.table({"x": x, "g": random.integers(0, 3, rows), "y": random.standard_normal(rows)})


@pytest.mark.parametrize("name", ["sum", "mean", "norm", "min", "max"])
def test_sums_are_right_and_the_same_in_any_blocks(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = spread(3 * sums.CHUNK + 100)
    files = [written(tmp_path / f"rows.{ending}", rows) for ending in ("parquet", "csv", "arrow")]
    found = []
    for size in (BATCH, 1000, sums.CHUNK + 1):
        for module in (ipc, parquet):
            monkeypatch.setattr(module, "BATCH", size)
        for path in files:
            out = batch("x*y", "--data", path, "--reduce", name, "--by", "g", "--json").out
            found.append(json.loads(out)["groups"])
    assert all(groups == found[0] for groups in found)
    x, y, g = (rows.column(column).to_numpy() for column in ("x", "y", "g"))
    for group in found[0]:
        here = g == group["group"]["g"]
        assert group["rows"] == here.sum()
        assert group["value"] == pytest.approx(true(name, x[here] * y[here]), rel=1e-15)
        assert group["gradient"]["y"] == pytest.approx(true(name, x[here]), rel=1e-15)


def true(name: str, values: Any) -> float:
    """A reduction, by fractions."""
    numbers = values.tolist()
    if name in ("min", "max"):
        return float({"min": min, "max": max}[name](numbers))
    if name == "norm":
        size = Fraction(max(map(abs, numbers)))
        return float(size) * math.sqrt(sum((Fraction(x) / size) ** 2 for x in numbers))
    total = sum(map(Fraction, numbers))
    return float(total if name == "sum" else total / len(numbers))


@pytest.mark.parametrize(
    "options",
    [
        "--reduce sum", "--reduce mean --by name", "--reduce max --hessian", "-o out.csv",
        "--of z --reduce min", "-o /no/folder/x.csv", "--data no.csv",
    ],
)  # fmt: skip
def test_json_is_what_the_schema_says(
    options: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    written(tmp_path / "rows.parquet", table())
    argv = ["--data", "rows.parquet", "w=0.75", "--json", *options.split()]
    document = json.loads(batch(f"z = {FORMULA}; log(z)", *argv).out)
    VALIDATOR.validate(document)


KINKED = [
    "relu(x)*y", "relu(relu(x))", "where(x > 0, abs(y - 1), y)", "max(x, y, 1)", "abs(x - y) + floor(x/2)",
    "relu(x) - relu(-x)", "sqrt(x^2)", "where(x > y, x, y)", "min(x, max(y, 0))", "hypot(x, y)",
    "sign(x)*y", "round(x) + y%1", "abs(relu(x)*y)", "relu(0*x + y)", "abs(x)^1.5", "clamp(x, 0, y)",
]  # fmt: skip
"""Formulas with kinks and jumps."""


@together(KINKED)
def test_rows_at_a_kink_are_those_that_a_run_flags(text: str) -> None:
    f = exprgrad.parse(text)
    job = BatchJob(text, tuple((name, name) for name in f.inputs), wrt=f.inputs)
    kernel = prepare_kernel(job)
    grid = np.array(
        list(product((-2.0, -1.0, -0.5, 0.0, 0.5, 1.0, 2.0), repeat=len(f.inputs)))
    ).T.copy()
    outputs = np.empty((kernel.outputs, grid.shape[1]))
    kernel.kernel([*grid], [*outputs], 0, grid.shape[1])
    kinks = outputs[kernel.kink] > 0 if kernel.kink else np.zeros(len(grid.T), bool)
    for row, met in zip(grid.T, kinks, strict=True):
        run = f.gradient(dict(zip(f.inputs, row.tolist(), strict=True)))
        if all(map(math.isfinite, [run.value, *run.swept.values()])):
            assert met == any(one.code in ("kink", "jump") for one in run.diagnostics), row


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("relu(t)*x", 2),
        ("k = relu(t); 2*x", 0),
        ("relu(0*1)*x", 0),
        ("sqrt(t + 1)*x", 0),
    ],
)
def test_only_kinks_that_the_derivatives_go_through_count(text: str, count: int) -> None:
    """Not those of a statement that is not used, nor of constants."""
    rows = b"t,x\n0,1\n0,2\n1,3\n"
    status, out, _ = command("batch", text, "--data", "-", "--reduce", "sum", "--json", stdin=rows)
    assert (status, json.loads(out)["kinks"]) == (0, count)


def test_rows_at_a_kink_keep_their_results(tmp_path: Path) -> None:
    data = tmp_path / "rows.csv"
    data.write_text("x\n-1\n0\n2\n")
    status, out, err = batch("relu(x)", "--data", str(data))
    assert (status, out) == (0, "x,value,d_x\n-1,0,0\n0,0,0\n2,2,1\n")
    assert err == (
        "warning: 1 row at a kink or a jump, where derivatives are a convention "
        f"(row 2 of '{data}')\n"
    )
    assert batch("relu(x)", "--data", str(data), "--strict").status == 1
    assert (
        json.loads(batch("relu(x)", "--data", str(data), "--reduce", "sum", "--json").out)["kinks"]
        == 1
    )


@pytest.mark.parametrize("name", ["sum", "mean"])
def test_sums_of_all_rows_are_the_same_in_any_blocks(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = spread(2 * sums.CHUNK + 101)
    files = [written(tmp_path / f"rows.{ending}", rows) for ending in ("parquet", "csv", "arrow")]
    x, y = (rows.column(column).to_numpy() for column in ("x", "y"))
    for where, here in ((), y == y), (("--where", "y > 0.25"), y > 0.25):
        found = []
        for size in (BATCH, 1000, sums.CHUNK + 1):
            for module in (ipc, parquet):
                monkeypatch.setattr(module, "BATCH", size)
            for path in files:
                out = batch("x*y", "--data", path, "--reduce", name, "--json", *where).out
                found.append(json.loads(out) | {"data": []})
        assert all(one == found[0] for one in found)
        assert found[0]["rows"] == here.sum()
        assert found[0]["value"] == pytest.approx(true(name, (x * y)[here]), rel=1e-15)
        assert found[0]["gradient"]["y"] == pytest.approx(true(name, x[here]), rel=1e-15)


def test_without_native_code_sums_are_as_right(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = written(tmp_path / "rows.parquet", spread(sums.CHUNK + 5))
    native = json.loads(batch("x*y", "--data", path, "--reduce", "sum", "--json").out)
    prepare_kernel.cache_clear()
    monkeypatch.setattr("exprgrad.run.engines.compiled.find_spec", lambda name: None)
    try:
        other = json.loads(batch("x*y", "--data", path, "--reduce", "sum", "--json").out)
    finally:
        prepare_kernel.cache_clear()
    assert other["value"] == pytest.approx(native["value"], rel=1e-15)
    assert other["gradient"] == pytest.approx(native["gradient"], rel=1e-15)


@pytest.mark.parametrize("name", ["sum", "mean", "norm", "max"])
def test_sums_at_the_ends_of_the_doubles(name: str, tmp_path: Path) -> None:
    numbers = [1e308, 1e308, -1e308, 5e-324, 1e-200, 1.0]
    path = written(tmp_path / "rows.parquet", pa.table({"x": numbers}))
    argv = ("x", "--data", path, "--reduce", name, "--json")
    value = float(json.loads(batch(*argv, "--where", "x < 1e300").out)["value"])
    few = np.array([x for x in numbers if x < 1e300])
    assert value == pytest.approx(true(name, few), rel=1e-15)
    large = written(tmp_path / "large.parquet", pa.table({"x": [1e308, 5e307]}))
    found = json.loads(batch("x", "--data", large, "--reduce", name, "--json").out)["value"]
    expected = {"sum": 1.5e308, "mean": 7.5e307, "norm": 1e308 * math.sqrt(1.25), "max": 1e308}
    assert float(found) == pytest.approx(expected[name], rel=1e-15)
    more = written(tmp_path / "more.parquet", pa.table({"x": [1e308] * 9}))
    found = json.loads(batch("x", "--data", more, "--reduce", name, "--json").out)["value"]
    assert found == (1e308 if name in ("max", "mean") else "inf")


HUGE = [
    [1e308, 1e308, -1e308], [1e308, 1e308, -1e308, -1e308, 1.5], [1.7e308] * 3 + [-1.7e308] * 2 + [1e292],
    [9e270, 8e270, -1e270, 3.0], [1e308] * 20_000 + [-1e308] * 20_000 + [2.0**900, 0.1, 7e-300],
]  # fmt: skip
"""Numbers whose sums are finite, though not all sums on the way."""


@pytest.mark.parametrize("numbers", HUGE, ids=[f"{len(one)}" for one in HUGE])
def test_sums_overflow_only_where_they_do_in_truth(
    numbers: list[float], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = pa.table({"x": numbers, "g": [0] * len(numbers)})
    path = written(tmp_path / "rows.parquet", rows)
    expected = true("sum", np.array(numbers))
    for options in ((), ("--by", "g"), ("--where", "g < 1")):
        argv = ("x", "--data", path, "--value-only", "-q", "--reduce")
        found = batch(*argv, "sum", *options).out.partition("=")[2]
        assert float(found) == pytest.approx(expected, rel=1e-15)
        found = batch(*argv, "mean", *options).out.partition("=")[2]
        assert float(found) == pytest.approx(expected / len(numbers), rel=1e-15)


def test_numbers_of_other_types_and_groups_of_any(tmp_path: Path) -> None:
    rows = pa.table(
        {
            "x": pa.array([Decimal("1.5"), None, Decimal("2.25")]),
            "n": pa.array([1, 2, 3], pa.uint8()),
            "f": [True, False, True],
            "h": pa.array([1.0, 2.0, 3.0], pa.float32()),
            "day": [date(2024, 1, 1), date(2024, 1, 2), None],
            "word": pa.array(["a", "b", "a"]).dictionary_encode(),
            "k": [math.nan, 1.0, math.nan],
        }
    )
    path = written(tmp_path / "rows.parquet", rows)
    argv = ("x*n*f*h", "--data", path, "--reduce", "sum", "--value-only", "--csv", "--by")
    assert (
        batch(*argv, "day").out == "day,rows,value\n2024-01-01,1,1.5\n2024-01-02,0,0.0\n,1,20.25\n"
    )
    shown = "word,f,rows,value\na,true,2,21.75\nb,false,0,0.0\n"
    assert batch(*argv, "word,f").out == shown
    assert batch(*argv, "k").out == "k,rows,value\n,2,21.75\n1.0,0,0.0\n"
    assert batch(*argv, "k,k").out == batch(*argv, "k").out
    path = written(
        tmp_path / "nan.parquet", pa.table({"x": [1.0] * 20_000, "k": [math.nan] * 20_000})
    )
    argv = ("2*x", "--data", path, "--reduce", "sum", "--value-only", "--csv", "--by")
    assert batch(*argv, "k").out == "k,rows,value\n,20000,40000.0\n"
    path = str(tmp_path / "rows.parquet")
    status, out, _ = batch("x*n", "--data", path, "--value-only", "--to", "tsv")
    assert (status, out.splitlines()[2]) == (0, "\t2\tfalse\t2\t2024-01-02\tb\t1\t")


def test_groups_of_dictionaries(tmp_path: Path) -> None:
    def grouped(groups: Any, *by: str) -> str:
        rows = pa.table({"x": [1.0, 2.0, 3.0, 4.0], "g": groups, "k": [1, 2, 1, 2]})
        path = written(tmp_path / "rows.arrow", rows)
        argv = ("x", "--data", path, "--reduce", "sum", "--value-only", "--csv", "--by")
        return batch(*argv, ",".join(["g", *by])).out

    places = pa.array([0, 1, 2, None], pa.int8())
    twice = pa.DictionaryArray.from_arrays(places, pa.array(["a", None, "a"]))
    assert grouped(twice) == "g,rows,value\na,2,4.0\n,2,6.0\n"
    full = pa.DictionaryArray.from_arrays(places, pa.array([f"{at}" for at in range(128)]))
    assert grouped(full, "k") == "g,k,rows,value\n0,1,1,1.0\n1,2,1,2.0\n2,1,1,3.0\n,2,1,4.0\n"


def test_many_groups_of_two_columns(tmp_path: Path) -> None:
    """Of pairs of cells those count that are in rows, and not all 10^8 that there could be."""
    count = np.arange(10_000.0)
    path = written(tmp_path / "rows.arrow", pa.table({"a": count, "b": -count}))
    out = batch("a", "--data", path, "--reduce", "sum", "--value-only", "--csv", "--by", "a,b").out
    assert out.splitlines()[-1] == "9999.0,-9999.0,1,9999.0"


@pytest.mark.parametrize(
    ("cells", "shown"),
    [
        (pa.array([date(2024, 1, 1)]), "2024-01-01"),
        (pa.array([Decimal("1.10")]), "1.10"),
        (pa.array([1], pa.timestamp("ns")), "1970-01-01 00:00:00.000000001"),
        (pa.array([1], pa.time64("ns")), "00:00:00.000000001"),
        (pa.array(["a"], pa.string_view()), "a"),
    ],
)
def test_times_decimals_and_views_are_texts(cells: Any, shown: str, tmp_path: Path) -> None:
    path = written(tmp_path / "rows.arrow", pa.table({"x": [1.0], "g": cells}))
    found = batch("x", "--data", path, "--reduce", "sum", "--by", "g", "--json")
    assert json.loads(found.out)["groups"][0]["group"] == {"g": shown}
    assert batch("x", "--data", path, "--value-only").out == f"x,g,value\n1,{shown},1\n"
    assert json.loads(batch("x", "--data", path, "--to", "jsonl").out)["g"] == shown


def test_decimals_are_the_nearest_doubles(tmp_path: Path) -> None:
    numbers = [Decimal(7919**at % 10**27).scaleb(-18) for at in range(300)]
    rows = pa.table({"x": pa.array(numbers, pa.decimal128(38, 18))})
    path = written(tmp_path / "rows.parquet", rows)
    out = batch("x", "--data", path, "--only", "--value-only").out
    assert [*map(float, out.split()[1:])] == [*map(float, numbers)]


def test_a_row_of_one_empty_cell_is_a_row() -> None:
    argv = ("--data", "-", "--only", "--value-only")
    out = batch("log(x)", *argv, stdin=b"x\n1\n-1\n").out
    assert out == 'value\n0\n""\n'
    assert batch("value", *argv, stdin=out.encode()).out == out


def test_texts_of_json_that_look_like_times_stay_as_they_are() -> None:
    row = '{"x": 1.0, "day": "2020-01-01", "at": {"from": ["2020-01-01T00:00:00Z"]}}'
    out = batch("x", "--data", "-", "--value-only", "--to", "jsonl", stdin=row.encode()).out
    assert out == row[:-1] + ', "value": 1.0}\n'


def test_packed_texts_folders_and_globs(tmp_path: Path) -> None:
    (tmp_path / "part=1").mkdir()
    for number, name in enumerate(("a.csv.gz", "part=1/b.csv.gz", "part=1/_c.csv.gz")):
        rows = f"x\n{number}\n{number + 0.5}\n".encode()
        (tmp_path / name).write_bytes(gzip.compress(rows))
    argv = ("2*x", "--reduce", "sum", "--value-only", "-q", "--data")
    assert batch(*argv, str(tmp_path)).out == "value=6.0\n"
    assert batch(*argv, str(tmp_path / "*" / "*.gz")).out == "value=14.0\n"
    out = tmp_path / "out.csv.gz"
    assert batch("2*x", "--data", str(tmp_path / "a.csv.gz"), "-o", str(out)).status == 0
    assert gzip.decompress(out.read_bytes()) == b"x,value,d_x\n0,0,2\n0.5,1,2\n"


def test_folders_names_are_columns(tmp_path: Path) -> None:
    """Whole numbers where all are, else texts, as pyarrow reads them."""
    from pyarrow import dataset

    rows = tmp_path / "rows"
    for at, folder in enumerate(
        ("year=2023/month=12/site=a%20b", f"year=2024/month=01/site={NO_CELL}")
    ):
        (rows / folder).mkdir(parents=True)
        written(rows / folder / "part-0.parquet", pa.table({"x": [at + 0.5, at + 1.5]}))
    whole = dataset.dataset(rows, partitioning="hive").to_table().to_pylist()
    found = batch("x*year", "--data", str(rows), "--to", "jsonl", "--value-only").out
    lines = [json.loads(line) for line in found.splitlines()]
    assert lines == [{**row, "value": row["x"] * row["year"]} for row in whole]
    argv = ("x", "--reduce", "sum", "--value-only", "--csv", "--data")
    for path in (rows, rows / "year=*" / "*" / "*" / "*.parquet"):
        assert batch(*argv, str(path), "--where", "month > 6").out == "rows,value\n2,2.0\n"
        grouped = batch(*argv, str(path), "--by", "month,site").out
        assert grouped == "month,site,rows,value\n12,a b,2,2.0\n1,,2,4.0\n"
    assert batch("year", "--data", str(rows), "--only", "--value-only").out == (
        "value\n2023\n2023\n2024\n2024\n"
    )


def test_a_folder_and_a_column_that_agree(tmp_path: Path) -> None:
    for name, text in {
        "city=Rome": "x,n,city\n1,01,Rome\n",
        "n=1": "x,n,city\n1,01,Rome\n",
    }.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "rows.csv").write_text(text)
        out = batch("x", "--data", str(tmp_path / name), "--value-only").out
        assert out.splitlines()[1] in ("1,01,Rome,1", "1,Rome,1,1")
        argv = ("x*n", "--data", str(tmp_path / name), "--reduce", "sum", "--by", "city", "-q")
        assert batch(*argv, "--value-only").out == "value[Rome]=1.0\n"


def test_columns_that_later_files_have_are_told_of(tmp_path: Path) -> None:
    first, later = (str(tmp_path / name) for name in ("a.csv", "b.csv"))
    Path(first).write_text("x,y\n1,2\n")
    more = [f"c{k}" for k in range(12)]
    Path(later).write_text(f"x,{','.join(more)},y\n3,{'0,' * 12}4\n")
    argv = "batch", "x*y", "--data", first, "--data", later
    status, out, err = command(*argv)
    assert (status, out) == (0, "x,y,value,d_x,d_y\n1,2,2,2,1\n3,4,12,4,3\n")
    *told, rest = err.splitlines()
    left_out = [
        f"warning: column '{name}' of '{later}' is left out: '{first}' has none" for name in more
    ]
    assert told == left_out[:8] and rest == "warning: so are 4 more columns"
    assert command(*argv, "--strict").status == 1
    for options in (["--only"], ["--reduce", "sum"]):
        assert command(*argv, *options, "--strict")[::2] == (0, "")


KEYS = [
    (["2", "3", "2"], pa.int64()), (["1.5", "2.0", "1e+20"], pa.float64()), (["true", "false"], pa.bool_()),
    (["2024-01-31", "2023-01-01"], pa.date32()), (["a", "b c"], pa.string()), (["", "7"], pa.int64()),
]  # fmt: skip
"""Texts of groups, and the types whose cells have those texts."""


@pytest.mark.parametrize(("texts", "kind"), KEYS, ids=[str(kind) for _, kind in KEYS])
@pytest.mark.parametrize("form", ["--csv", "--json", ""])
def test_groups_of_texts_show_as_those_of_types(
    texts: list[str], kind: Any, form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    column = pa.array([text or None for text in texts]).cast(kind)
    written(Path("rows.parquet"), pa.table({"x": [1.0] * len(texts), "g": column}))
    Path("rows.csv").write_text("x,g\n" + "".join(f"1,{text}\n" for text in texts))
    argv = ["x", "--reduce", "sum", "--by", "g", *form.split()]
    shown = [batch(*argv, "--data", f"rows.{ending}").out for ending in ("csv", "parquet")]
    assert shown[0].replace("rows.csv", "rows.parquet") == shown[1]
    both = ["--data", "rows.csv", "--data", "rows.parquet"]
    assert len(batch(*argv, *both).out.splitlines()) == len(shown[0].splitlines())


def test_texts_keep_what_they_are_however_late(tmp_path: Path) -> None:
    rows = tmp_path / "rows.csv"
    rows.write_text("x,id,zip\n" + "1,2,02134\n" * 150_000 + "1,2.50,n/a\n")
    argv = ("x", "--data", str(rows), "--value-only")
    grouped = batch(*argv, "--reduce", "sum", "--by", "zip", "--csv").out
    assert grouped == "zip,rows,value\n02134,150000,150000.0\nn/a,1,1.0\n"
    for ending in ENDINGS:
        out = tmp_path / f"out.{ending}"
        assert batch(*argv, "-o", str(out)) == (0, "", "")
        if FORMATS[ending].is_text:
            last_line = out.read_text().splitlines()[-1]
            assert last_line.replace("\t", ",") == "1,2.50,n/a,1"
            continue
        last = read(out).slice(150_000).to_pylist()
        assert last == [{"x": 1.0, "id": "2.50", "zip": "n/a", "value": 1.0}]
    lines = tmp_path / "rows.jsonl"
    lines.write_text(
        '{"x":1,"g":5}\n' * 90_000 + '{"x":1,"g":"5"}\n{"x":1,"g":5.0}\n{"x":1,"g":"b"}\n'
    )
    grouped = batch("x", "--data", str(lines), "--reduce", "sum", "--by", "g", "--csv").out
    assert grouped == "g,rows,value,d_x\n5,90002,90002.0,90002.0\nb,1,1.0,1.0\n"


def test_progress_is_told_on_a_terminal_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from exprgrad.show.text import rows

    monkeypatch.setattr(rows, "AFTER", 0.0)
    monkeypatch.setattr(rows, "EVERY", 0.0)
    path = written(tmp_path / "rows.parquet", spread(1000))
    assert batch("x*y", "--data", path, "--reduce", "sum").err == ""
    terminal = Terminal(io.BytesIO(), encoding="utf-8")
    monkeypatch.setattr("sys.stderr", terminal)
    with rows.Progress(1000) as told:
        told(1000)
    terminal.flush()
    buffer = terminal.buffer
    assert isinstance(buffer, io.BytesIO)
    assert b"1,000 rows" in buffer.getvalue()


def test_the_command_offers_what_there_is() -> None:
    """Its help needs no pyarrow."""
    options = {one.name: one.type for one in batch_command.params}
    tables: dict[str, Iterable[str]] = {
        "bad_rows": BAD_ROWS,
        "reduce": sums.REDUCTIONS,
        "to": [name for name, row in FORMATS.items() if row.writer],
    }
    for name, table in tables.items():
        kind = options[name]
        assert isinstance(kind, Words) and {*kind.choices} == {*table}


def test_cells_as_json_holds_them(tmp_path: Path) -> None:
    """Against Python's own encoder, cell by cell."""
    reals = [1.0, -0.0, math.inf, -math.inf, math.nan, 1e20, 1e22, -1e16, 1e-7, 5e-324, 0.1, None]
    words = [
        "a",
        'b"c',
        "back\\slash",
        "tab\t",
        "\x01",
        "é 漢 \u2028",
        "",
        None,
        "\x7f",
        "new\nline",
        "{}",
        ",",
    ]
    rows = pa.table(
        {
            'x"y': reals,
            "word": words,
            "plain": [None if word is None else word[:1] for word in words[::-1]],
            "whole": [*range(11), None],
            "truth": [True, False, None] * 4,
            "list": [[1.5, None], [math.nan], None] * 4,
            "object": [{"a": 'q"'}] * 12,
            "single": pa.array([1.5, 2.0, 0.25] * 4, pa.float32()),
            "nothing": pa.nulls(12),
        }
    )  # fmt: skip
    path = Path(written(tmp_path / "rows.jsonl", rows))

    def constant(name: str) -> None:
        raise AssertionError(name)

    lines = [
        json.loads(line, parse_constant=constant)
        for line in path.read_text("utf-8").split("\n")[:-1]
    ]
    for found, given in zip(lines, rows.to_pylist(), strict=True):
        assert [*found] == [*given]
        for cell, expected in zip(found.values(), given.values(), strict=True):
            if isinstance(expected, float) and not math.isfinite(expected):
                expected = str(expected)
            elif isinstance(expected, list) and expected[0] != expected[0]:
                expected = ["nan"]
            assert (cell, type(cell), str(cell)) == (expected, type(expected), str(expected))
