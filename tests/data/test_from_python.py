"""``f.batch`` says what ``exprgrad batch`` says: of frames, of files, and into files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from exprgrad import ExprgradError, parse
from shell import command

pa = pytest.importorskip("pyarrow", reason="pip install 'exprgrad[data]'")
pytest.importorskip("narwhals")
import pyarrow.parquet as parquet  # noqa: E402

F = parse("relu(x)*log(y)")
TABLE = {
    "x": [1.0, 0.0, -2.0, 3.0, 4.0], "y": [1.0, 2.0, 0.5, -1.0, 3.0],
    "g": ["a", "b", "a", "b", "a"], "n": [1, 2, 1, 2, 2],
}  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("rows").mkdir()
    for at in range(3):
        parquet.write_table(pa.table(TABLE), f"rows/{at}.parquet")
    return tmp_path


def told(*argv: str) -> Any:
    out = command("batch", F.text, "--data", "rows", "--json", *argv).out
    return json.loads(out.replace('"nan"', "NaN"))


@pytest.mark.parametrize("name", ["sum", "mean", "norm", "min", "max"])
@pytest.mark.parametrize("where", [None, "x > 0.5"])
@pytest.mark.parametrize("threads", [1, 3])
def test_what_rows_come_to(name: str, where: str | None, threads: int, folder: Path) -> None:
    options = ["--reduce", name, *(["--where", where] if where else [])]
    expected = told(*options)
    found = F.batch("rows", reduce=name, where=where, threads=threads)
    whole = pa.concat_tables([pa.table(TABLE)] * 3)
    frame = F.batch(whole, reduce=name, where=where)
    for one in (found, frame):
        assert (one.value, one.gradient) == (expected["value"], expected["gradient"])
        assert (one.rows, one.bad, one.kinks) == (
            expected["rows"],
            expected["bad"],
            expected["kinks"],
        )
    for by in (["g"], ["n", "g"]):
        groups = told(*options, "--by", ",".join(by))["groups"]
        keys = [tuple(group["group"].values()) for group in groups]
        fields = [(group["value"], group["gradient"], group["rows"]) for group in groups]
        for data in ("rows", whole):
            answer = F.batch(data, reduce=name, where=where, by=by)
            assert [*answer] == [key[0] if len(by) == 1 else key for key in keys]
            shown = [(one.value, one.gradient, one.rows) for one in answer.values()]
            assert repr(shown) == repr(fields)  # nan is not itself
            assert (answer.bad, answer.kinks) == (expected["bad"], expected["kinks"])
    assert F.batch("rows", reduce=name, by="g") == F.batch("rows", reduce=name, by=["g"])


def test_other_answers(folder: Path) -> None:
    several = parse("u = relu(x); v = x*y").batch("rows", of=["u", "v"], reduce="sum")
    assert (several.value["u"], several.jacobian["v"]["x"], several.kinks) == (24.0, 16.5, 3)
    second = parse("x^2*y").batch("rows", hessian=True, reduce="max")
    assert second.hessian["x"]["y"] == second.hessian["y"]["x"] == 8.0
    empty = F.batch("rows", reduce="sum", where="x > 9")
    assert (empty.value, empty.rows) == (0.0, 0)


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow"])
def test_frames_where(kind: str) -> None:
    frame: Any = pa.table(TABLE)
    if kind != "pyarrow":
        frame = pytest.importorskip(kind).DataFrame(TABLE)
    found = F.batch(frame, where="(y > 0)*(x > 0)", value_only=True)
    assert type(found) is type(frame)
    x = found["x"]
    assert (x.to_pylist() if kind == "pyarrow" else [*x]) == [1.0, 4.0]
    assert found.shape[1] == 5


def test_into_a_file_and_a_folder(folder: Path) -> None:
    told_of = F.batch("rows", output="out.parquet", threads=2, only=True)
    assert (told_of.rows, dict(told_of.bad), told_of.kinks) == (15, {"domain": 3}, 3)
    expected = Path("out.parquet").read_bytes()
    assert command("batch", F.text, "--data", "rows", "--only", "-o", "out.parquet").status == 0
    assert Path("out.parquet").read_bytes() == expected
    told_of = F.batch("rows", output="out/", to="csv", resume=True)
    assert (told_of.rows, len([*Path("out").iterdir()])) == (15, 3)
    rows = pa.Table.from_batches(F.batch("rows", only=True, threads=3))
    assert rows.equals(parquet.read_table("out.parquet"))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"reduce": "summ"}, "there is no reduce='summ'"),
        ({"by": "g"}, "by= needs reduce="),
        (
            {"reduce": "sum", "show_digits": True},
            "only=, show_digits=, output= and to= are for rows",
        ),
        ({"reduce": "sum", "only": True}, "only=, show_digits=, output= and to= are for rows"),
        ({"reduce": "sum", "output": "out.csv"}, "only=, show_digits=, output= and to= are for rows"),
        ({"to": "csv"}, "to= needs output="),
        ({"resume": True}, "resume= needs output="),
        ({"check_content": True}, "check_content= needs output="),
        ({"cluster": "local"}, "cluster= needs output= or reduce="),
        ({"reduce": "sum", "by": "k"}, "has no column 'k'"),
        ({"where": "q > 1"}, "has no column 'q'"),
        ({"output": "no/out.csv"}, "there is no folder 'no'"),
        ({"threads": 0, "reduce": "sum"}, "0 is not a number of threads"),
    ],
)  # fmt: skip
def test_what_cannot_be_done(options: Any, message: str, folder: Path) -> None:
    with pytest.raises(ExprgradError, match=message.replace("(", r"\(")):
        F.batch("rows", **options)
    assert [path.name for path in folder.iterdir()] == ["rows"]


def test_frames_go_into_no_file() -> None:
    with pytest.raises(ExprgradError, match="output= and cluster= need files"):
        F.batch(pa.table(TABLE), output="out.csv")


def test_columns_whose_names_are_no_texts() -> None:
    pandas = pytest.importorskip("pandas")
    with pytest.raises(ExprgradError, match=r"no column 'x'[\s\S]*its columns are 0, \('a', 'b'\)"):
        parse("x^2").batch(pandas.DataFrame({0: [1.0], ("a", "b"): [2.0]}))
