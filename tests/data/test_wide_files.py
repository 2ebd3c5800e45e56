"""First lines longer than what is looked at first, and names longer than Python's csv reads."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from shell import command

pytest.importorskip("pyarrow", reason="pip install 'exprgrad[data]'")

from exprgrad.data import format, places
from exprgrad.data.places import RowFile
from exprgrad.data.plans import columns_missing_in_first

LAST = "col129999"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Less is looked at, so that lines may be shorter."""
    monkeypatch.chdir(tmp_path)
    for module in (places, format):
        monkeypatch.setattr(module, "HEAD", 2**10)
    return tmp_path


def summed(path: str, formula: str = LAST, stdin: bytes = b"") -> tuple[int, str]:
    argv = ["--data", path, "--reduce", "sum", "--value-only", "-q"]
    status, out, err = command("batch", formula, *argv, stdin=stdin)
    return status, out + err


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
@pytest.mark.parametrize("blank", ["", "\n\n"])
def test_a_long_header(ending: str, blank: str, folder: Path) -> None:
    names = [f"col{at}" for at in range(129_800, 130_000)]
    lines = [",".join(names), ",".join(map(str, range(200))), ",".join(["1"] * 200)]
    Path("wide.csv").write_bytes((blank + ending.join(lines)).encode())
    assert len(lines[0]) > 2**10
    assert summed("wide.csv") == (0, "value=200.0\n")
    assert summed("wide.csv", "col129800")[1] == "value=1.0\n"
    rows = [dict(zip(names, map(float, line.split(",")), strict=True)) for line in lines[1:]]
    text = ending.join(str(row).replace("'", '"') for row in rows)
    Path("wide.jsonl").write_bytes(text.encode())
    assert summed("wide.jsonl") == (0, "value=200.0\n")


def test_a_long_header_from_a_pipe(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = ",".join(f"col{at}" for at in range(129_800, 130_000))
    status, said = summed("-", stdin=f"{names}\n{names.replace('col', '')}\n".encode())
    assert status == 2
    assert "the first line of standard input has more than 1,024 bytes" in said
    assert "--data FILE" in said


@pytest.mark.parametrize("longest", ["header", "cell", "first cell"])
def test_long_names_and_cells(longest: str, folder: Path) -> None:
    """Python's csv takes 131,072 characters."""
    long = "y" * 140_000
    name, cell = (long, "2") if longest == "header" else ("y", long)
    rows = f"{name},x\n{cell},2\n3,3\n" if longest == "first cell" else f"x,{name}\n2,{cell}\n3,3\n"
    Path("long.csv").write_text(rows, encoding="utf-8")
    assert summed("long.csv", "x") == (0, "value=5.0\n")


def test_a_quote_that_is_not_closed(folder: Path) -> None:
    Path("open.csv").write_text('x,"' + "y" * 140_000 + "\n1,2\n", encoding="utf-8")
    status, said = summed("open.csv", "x")
    assert status == 2
    assert "cannot read the first line of 'open.csv'" in said and "quote" in said


@pytest.mark.slow
def test_130_000_columns(tmp_path: Path) -> None:
    path, names = tmp_path / "wide.csv", [f"col{at}" for at in range(130_000)]
    path.write_text(f"{','.join(names)}\n{','.join(['2'] * len(names))}\n", encoding="utf-8")
    assert path.stat().st_size > places.HEAD
    assert summed(str(path)) == (0, "value=2.0\n")


def test_the_columns_of_files_are_compared_in_one_pass() -> None:
    """What a file of 130,000 columns costs must not grow with their square."""

    class Schema:
        asked = 0

        @property
        def names(self) -> list[str]:
            Schema.asked += 1
            return [f"c{at}" for at in range(50 + Schema.asked % 2)]

    sources = [RowFile(path, "csv") for path in ("a.csv", "b.csv")]
    samples = [SimpleNamespace(schema=Schema()) for _ in sources]
    assert len(columns_missing_in_first(sources, samples)) <= 1
    assert Schema.asked <= 2 * len(sources)
