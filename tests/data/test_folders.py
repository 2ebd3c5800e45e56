"""Folders as targets: a file for each that is read, under the same name."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

from outputs import content, removed
from shell import Outcome, command

pa = pytest.importorskip("pyarrow", reason="pip install 'exprgrad[data]'")
import pyarrow.dataset as dataset  # noqa: E402
import pyarrow.parquet as parquet  # noqa: E402

from exprgrad.data.targets import open_locked, part_path  # noqa: E402

NAMES = ("year=2023/a.parquet", "year=2024/a.parquet", "year=2024/b.parquet")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A partitioned folder of rows."""
    monkeypatch.chdir(tmp_path)
    for at, name in enumerate(NAMES):
        path = Path("rows", name)
        path.parent.mkdir(parents=True, exist_ok=True)
        parquet.write_table(pa.table({"x": [at + 1.0, at - 1.0], "id": ["a", "b"]}), path)
    return tmp_path


def batch(*argv: str, data: str = "rows", stdin: bytes = b"") -> Outcome:
    return command("batch", "log(x)*year", "--data", data, *argv, stdin=stdin)


def rows_in(path: str) -> list[dict[str, Any]]:
    """The rows of a folder, as pyarrow reads it."""
    found: list[dict[str, Any]] = dataset.dataset(path, partitioning="hive").to_table().to_pylist()
    return found


@pytest.mark.parametrize(
    "given", ["rows/", "./rows", "./rows/", "rows//", "{}/rows", "rows/../rows"]
)
@pytest.mark.parametrize("signs", ["", "/*/*.parquet"])
def test_however_a_folder_is_spelled(given: str, signs: str, folder: Path) -> None:
    for name in ("p_1.parquet", "a.b.parquet"):
        Path(f"rows/year=2023/{name}").write_bytes(Path("rows", NAMES[0]).read_bytes())
    Path("rows/year=2023/_log.parquet").touch()  # no rows, going by its name
    assert batch("-o", "plain/", data="rows").status == 0
    assert len(content(Path("plain"))) == 5
    if signs:
        Path("rows/year=2023/_log.parquet").unlink()
    assert batch("-o", "out/", data=given.format(folder) + signs).status == 0
    assert content(Path("out")) == content(Path("plain"))


def test_the_folder_one_is_in(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("rows/p_1.parquet").write_bytes(Path("rows", NAMES[0]).read_bytes())
    monkeypatch.chdir("rows")
    assert command("batch", "x", "--data", ".", "-o", "../out/").status == 0
    assert sorted(content(Path("../out"))) == sorted([*NAMES, "p_1.parquet"])


@pytest.mark.parametrize("options", [(), ("--threads", "1"), ("--bad-rows", "drop"), ("--only",)])
def test_a_file_for_each(options: tuple[str, ...], folder: Path) -> None:
    out = batch("-o", "out.jsonl", *options)
    assert batch("-o", "out/", *options) == out
    assert sorted(content(Path("out"))) == sorted(NAMES)
    lines = [json.loads(line) for line in Path("out.jsonl").read_text().splitlines()]
    found = rows_in("out")
    if options:
        found = [{name: row[name] for name in lines[0]} for row in found]
    key = sorted(lines[0])
    assert [[row[name] for name in key] for row in found] == [
        [row[name] for name in key] for row in lines
    ]
    assert sorted(path.name for path in folder.iterdir()) == ["out", "out.jsonl", "rows"]


def test_of_another_format_and_again(folder: Path) -> None:
    assert batch("-o", "out/", "--to", "csv", "--where", "id_ > 0", "--map", "id_=x").status == 0
    names = [name.replace("parquet", "csv") for name in NAMES]
    assert sorted(content(Path("out"))) == sorted(names)
    assert Path("out", names[1]).read_text().splitlines()[0] == "x,id,value,d_x,d_year"
    before = content(Path("out"))
    assert batch("-o", "out", "--to", "csv", "--where", "x > 0", "--threads", "2").status == 0
    assert content(Path("out")) == before
    err = batch("-o", "out/").err
    assert "'out' holds rows that this run would not write: 'year=2023/a.csv'" in err
    Path("packed").mkdir()
    Path("packed/x.csv.zst").write_bytes(b"")
    Path("packed/x.csv.zst").unlink()
    with pa.CompressedOutputStream("packed/x.csv.gz", "gzip") as file:
        file.write(b"x,year\n1,2\n")
    assert batch("-o", "unpacked/", data="packed").status == 0
    assert [*content(Path("unpacked"))] == ["x.csv.gz"]


@pytest.mark.parametrize(
    ("argv", "data", "message"),
    [
        (["-o", "rows/"], "rows", "'rows' is an input, and so cannot be written"),
        (["-o", "rows/out/"], "rows", "'rows/out' is an input, and so cannot be written"),
        (["-o", "rows/year=2024/"], "rows/year=2024/a.parquet", "is an input, and so cannot be written"),
        (["-o", "out/"], "-", "rows from a pipe have no name"),
        (["-o", "no/out/"], "rows", "cannot write 'no/out/': there is no folder 'no'"),
        (["-o", "x.txt/"], "rows", "cannot write into 'x.txt': it is a file"),
        (["-o", "out"], "rows", "'out' does not name a file of rows"),
        (["-o", "out/", "--data", "rows/year=2023/a.parquet"], "rows/year=2024/a.parquet",
         "two files would be written to 'out/a.parquet'"),
        (["-o", "out/", "--bad-rows", "fail", "--threads", "1"], "rows", "row 2 of 'rows/year=2023"),
    ],
)  # fmt: skip
def test_folders_that_cannot_be_written(
    argv: list[str], data: str, message: str, folder: Path
) -> None:
    Path("x.txt").write_text("")
    before = sorted(folder.rglob("*"))
    status, out, err = batch(*argv, data=data, stdin=b"x,year\n1,2\n")
    assert (status, out) == (2, "")
    assert message in err
    assert sorted(folder.rglob("*")) == before


@pytest.mark.parametrize("options", [(), ("--only",)])
def test_a_file_does_not_contradict_its_folder(options: tuple[str, ...], folder: Path) -> None:
    """Its own column is not written again, and is read all the same."""
    last = Path("rows", NAMES[-1])
    columns = {"x": [3.0, 1.0], "id": ["a", "b"]}
    parquet.write_table(pa.table({**columns, "year": [2024, 2024]}), last)
    argv = "batch", "x^2", "--data", "rows", "-o", "out/", *options
    assert command(*argv) == (0, "", "")
    assert "year" not in parquet.read_schema(Path("out", NAMES[-1])).names
    parquet.write_table(pa.table({**columns, "year": [2024, 2025]}), last)
    status, _, err = command(*argv)
    assert status == 2 and f"column 'year' of '{last}' differs from the name of its folder" in err


def test_a_bad_row_ends_the_run_and_what_is_done_stays(folder: Path) -> None:
    """The last file is mended, and the run goes on with it alone."""
    argv = ["-o", "out/", "--bad-rows", "fail", "--threads", "1", "--where"]
    last = Path("rows", NAMES[-1])
    whole = parquet.read_table(last)
    assert batch(*argv, "x > 0").status == 0
    expected = content(Path("out"))
    parquet.write_table(pa.table({"x": [3.0, math.inf], "id": ["a", "b"]}), last)
    removed(Path("out"))
    status, _, err = batch(*argv, "x > 0")
    assert (status, f"row 2 of '{last}' does not compute" in err) == (2, True)
    assert "note: finished work is kept; to continue, type" in err
    assert content(Path("out")) == {name: expected[name] for name in NAMES[:-1]}
    parquet.write_table(whole, last)
    first = Path("out", NAMES[0])
    first.rename("first")
    status, _, err = batch(*argv, "x > 0", "--resume")
    assert (status, "'out/year=2023/a.parquet' is not what was written" in err) == (0, True)
    Path("first").rename(first)
    assert batch(*argv, "x > 0", "--resume") == (0, "", "")
    assert content(Path("out")) == expected


@pytest.mark.parametrize("options", [[], ["--resume"]])
def test_a_second_run_refuses(options: list[str], folder: Path) -> None:
    with open_locked(part_path("out"), "out"):
        found = batch("-o", "out/", *options)
    assert (found.status, "another run is writing 'out'" in found.err) == (2, True)
    assert not Path("out").exists()
