"""Threads come to the bytes of one: rows, sums, and errors."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from shell import command

pa = pytest.importorskip("pyarrow", reason="pip install 'exprgrad[data]'")

from exprgrad.data import format, formats  # noqa: E402
from exprgrad.data.formats import FORMATS, ipc, parquet  # noqa: E402
from exprgrad.data.threads import map_in_order, start_threads  # noqa: E402
from exprgrad.errors import InputError  # noqa: E402

ROWS = 3000
WRITTEN = {name: row for name, row in FORMATS.items() if row.writer}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The same rows in each format, in many small batches, blocks and partitions."""
    monkeypatch.chdir(tmp_path)
    for module in (ipc, parquet):
        monkeypatch.setattr(module, "BATCH", 100)
    monkeypatch.setattr(formats, "PARTITION", 700)
    monkeypatch.setattr(format, "BLOCK", 1000)
    random = np.random.default_rng(3)
    x, y = random.standard_normal((2, ROWS))
    rows = pa.table({"x": x + 1.5, "y": y, "n": np.arange(ROWS) % 5})
    for name, row in WRITTEN.items():
        with Path(f"rows.{name}").open("wb") as file:
            writer = row.writer(file, rows.schema)
            for batch in rows.to_batches(max_chunksize=100):
                writer.write(writer.encoded(batch))
            writer.close()
    return tmp_path


OPTIONS = (
    "-o out.parquet", "-o out.csv", "-o out.jsonl", "-o out.arrow --bad-rows drop",
    "--reduce sum -o out.json", "--reduce norm --by n -o out.csv",
)  # fmt: skip
PAIRS = [
    pytest.param(given, options, marks=[pytest.mark.slow] * ((at + place) % 3 > 0))
    for at, given in enumerate(WRITTEN)
    for place, options in enumerate(OPTIONS)
]
"""What is read and what is written, each with each; each is quick with some."""


@pytest.mark.parametrize(("given", "options"), PAIRS)
def test_the_bytes_of_one_thread(given: str, options: str, folder: Path) -> None:
    found = []
    for count in ("1", "2", "5"):
        argv = ["log(x)*y", "--data", f"rows.{given}", "--threads", count, *options.split()]
        status, out, err = command("batch", *argv)
        path = next(Path().glob("out.*"))
        found.append((status, out, err, path.read_bytes()))
        path.unlink()
    assert found[0][0] == 0
    assert found[1:] == found[:1] * 2
    assert not [path for path in folder.iterdir() if path.name.startswith(".")]


@pytest.mark.parametrize("count", ["1", "4"])
def test_the_first_error_is_told(count: str, folder: Path) -> None:
    argv = ["log(x)*y", "--threads", count, "--bad-rows", "fail", "-o", "out.csv"]
    said = [command("batch", *argv, "--data", f"rows.{name}").err for name in ("parquet", "csv")]
    assert len({line.partition(" of ")[0] for line in said}) == 1
    with Path("rows.csv").open("a") as file:
        file.write("1,2\n")
    err = command("batch", "x*y", "--threads", count, "--data", "rows.csv", "--reduce", "sum").err
    assert "row 3,001 of 'rows.csv' has 2 cells, and the header 3" in err
    with Path("rows.jsonl").open("a") as file:
        file.write("{\n")
    err = command("batch", "x*y", "--threads", count, "--data", "rows.jsonl", "-o", "o.csv").err
    assert "line 3,001 of 'rows.jsonl' is not a JSON object" in err
    assert not Path("out.csv").exists() and not Path("o.csv").exists()


@pytest.mark.parametrize("count", [1, 3])
def test_what_comes_before_an_error_is_made(count: int) -> None:
    def items() -> Iterator[int]:
        yield from range(2)
        raise InputError("bad-file", "cut off")

    def bad(item: int) -> int:
        if item == 1:
            raise InputError("bad-row", "the first")
        return item

    for function, words in ((int, "cut off"), (bad, "the first")):
        met: list[Any] = []
        with start_threads(count) as threads, pytest.raises(InputError, match=words):
            met.extend(map_in_order(function, items(), threads))
        assert met == [*range(len(met))]


@pytest.mark.parametrize("given", ["0", "two", "1.5"])
def test_a_number_of_threads_that_is_none(given: str, folder: Path) -> None:
    found = command("batch", "x", "--data", "rows.csv", "--threads", given)
    assert (found.status, "--threads takes a whole number" in found.err) == (2, True)
