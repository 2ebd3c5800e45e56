"""Files of rows and options that are wrong: clear errors, exit status 2, and no file left.

A golden file holds each command line, and what people read on stderr.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import golden
from exprgrad.errors import RequestError
from shell import command, spelled

pa = pytest.importorskip("pyarrow", reason="pip install 'exprgrad[data]'")
import pyarrow.parquet as parquet  # noqa: E402

from exprgrad.data.batch import execute_plan  # noqa: E402
from exprgrad.data.plans import plan_batch  # noqa: E402
from exprgrad.data.targets import open_target, part_path  # noqa: E402

TEXTS = {
    "rows.csv": "x,y,name\n1,2,a\n3,4,b\n",
    "rows": "x,y\n1,2\n",
    "text.parquet": "x,y\n1,2\n",
    "empty.csv": "",
    "blank.csv": "\n\n\n",
    "short.csv": "x,y\n1,2\n3\n4,5\n",
    "long.csv": "x,y\n1,2\n3,4,5\n",
    "twice.csv": "x,y,x\n1,2,3\n",
    "names.csv": "x,y,n,n\n1,2,3,4\n",
    "words.csv": "x,y\na,1\nb,2\n",
    "dates.csv": "x,y\n2024-01-01,1\n2024-01-02,2\n",
    "value.csv": "x,y,value\n1,2,3\n",
    "numbers.csv": "1,2\n3,4\n",
    "commas.csv": "x;y\n1,234;2\n",
    "other.csv": "x,z\n1,2\n",
    "domain.csv": "x,y\n1,2\n-1,2\n",
    "mixed.csv": "x,y,id\n" + "1,2,3\n" * 200_000 + "1,2,abc\n",
    "cut.jsonl": '{"x":1,"y":2}\n{"x":1,\n',
    "list.jsonl": "[1,2]\n",
    "array.jsonl": '[{"x":1,"y":2}]\n',
    "empty.jsonl": "",
    "words.jsonl": '{"x":"a","y":2}\n',
    "nameless.jsonl": "{}\n",
    "nested.jsonl": '{"x":{"a":1},"y":2}\n',
    "twice.jsonl": '{"x":1,"x":2,"y":1}\n',
    "text.arrow": "x,y\n1,2\n",
    "rows.ods": "PK",
    "folder/notes.txt": "",
    "mixed.jsonl": '{"x":1,"y":2,"id":3}\n' * 60_000 + '{"x":1,"y":2,"id":"abc"}\n',
    "keyed/year=2024/rows.csv": "x,y,year\n1,2,2024\n3,4,2025\n",
    "keyed/city=Rome/rows.csv": "x,y\n1,2\n",
}
BYTES = {
    "latin1.csv": "x,y,n\n1,2,\xe9\n".encode("latin-1"),
    "latin1_header.csv": "\xe9,y\n1,2\n".encode("latin-1"),
    "nul.csv": b"x,y\n1,2\n\0\0,3\n",
    "empty.parquet": b"",
    "empty.arrow": b"",
    "cut.arrow": b"ARROW1\0\0",
    "text.csv.gz": b"x,y\n1,2\n",
}
TABLE = {
    "x": [1.0, 2.0],
    "y": [3, 4],
    "s": ["a", "b"],
    "t": [1, 2],
    "l": [[1], [2]],
}

CASES = r"""
'x*y'
'x*y' --data
'x*y' --data no.csv
'x*y' --data rows.cvs
'x*y' --data rows.ods
'x*y' --data rows
'x*y' --data folder
'x*y' --data '*.tsv'
'x*y' --data rows.csv --data ./rows.csv
'x*y' --data unknown://rows.csv
'x*z' --data rows.csv
'x*Y' --data rows.csv
'x*name' --data rows.csv
'x*y' --data rows.csv z=2
'x*y' --data rows.csv x=abc
'x*y' --data rows.csv x=[1,2]
'x*y' --data rows.csv x=1 y=2
'2+2' --data rows.csv
'x*y' --data rows.csv --map z=x
'x*y' --data rows.csv --map x=nmae
'x*y' --data rows.csv --map x
'x*y' --data rows.csv --map x=y x=2
'x*y' --data rows.csv --wrt z
'x*y' --data rows.csv --of z
'u = x*y; u + 1' --data rows.csv --of u,v
'x*y' --data rows.csv --where 'x >'
'x*y' --data rows.csv --where 'z > 1'
'x*y' --data rows.csv --where ''
'x*y' --data rows.csv --where x=1
'x*y' --data ''
'x*y' --data memory://rows.csv
- --data -
'x*y' --data value.csv --reduce sum --by value
'x*y' --data rows.csv --where 'sum(x)'
'x*y' --data value.csv
'v = x*y; d_v_x = x; v' --data rows.csv --of v,d_v_x
'x*y' --data rows.csv --reduce summ
'x*y' --data rows.csv --by name
'x*y' --data rows.csv --reduce sum --by nmae
'x*y' --data rows.csv --reduce sum --to csv
'x*y' --data rows.csv --reduce sum --only
'x*y' --data rows.csv --reduce sum -o out.parquet
'x*y' --data rows.csv --reduce sum -o no/out.json
'x*y' --data rows.csv --bad-rows skip
'log(x)*y' --data domain.csv --bad-rows fail -o out.csv
'x*y' --data rows.csv -o rows.csv
'x*y' --data rows.csv -o ./rows.csv
'x*y' --data rows.csv -o out.xlsx
'x*y' --data rows.csv -o out.csv.bz2
'x*y' --data rows.csv -o out.parquet.gz
'x*y' --data rows.csv -o no/out.csv
'x*y' --data rows.csv -o out.csv --to parquet
'x*y' --data rows.csv --to parquet
'x*y' --data rows.csv --to xlsx
'x*y' --data rows.csv -q
'x*y' --data rows.csv --hessian --value-only
'x*y' --data rows.csv --of x --hessian
'x*y' --data rows.csv --wrt x --value-only
'x*y' --data cut.parquet
'x*y' --data headless.parquet
'x*y' --data empty.parquet
'x*y' --data text.parquet
'x*y' --data damaged.parquet --only -o out.parquet
'x*y' --data empty.csv
'x*y' --data blank.csv
'x*y' --data short.csv -o out.csv
'x*y' --data long.csv -o out.csv
'x*y' --data twice.csv
'x*y' --data names.csv
'x*y' --data latin1.csv
'x*y' --data latin1_header.csv
'x*y' --data nul.csv
'x*y' --data words.csv
'x*y' --data dates.csv
'x*y' --data numbers.csv
'x*y' --data commas.csv
'x*y' --data mixed.jsonl -o out.parquet
'x*y' --data keyed/year=2024 -o out.csv
'x*city' --data keyed/city=Rome
'x*y' --data keyed --reduce sum --by city
'x*y' --data text.csv.gz
'x*y' --data cut.jsonl
'x*y' --data list.jsonl
'x*y' --data array.jsonl
'x*y' --data empty.jsonl
'x*y' --data words.jsonl
'x*y' --data nested.jsonl
'x*y' --data nameless.jsonl
'x*y' --data twice.jsonl
'x*y' --data empty.arrow
'x*y' --data cut.arrow
'x*y' --data text.arrow
's*y' --data rows.parquet
't*y' --data rows.parquet
'l*y' --data rows.parquet
'x*y' --data rows.parquet -o out.csv
'x*y' --data rows.parquet --reduce sum --by l
'x*y' --data rows.parquet --data text_column.parquet
'x*y' --data rows.parquet --data whole.parquet
'x*y' --data rows.csv --data other.csv
'x*y' --data rows.csv --data rows.parquet
'x*y' --data -
'sum(x)' --data rows.csv
'x*y +' --data rows.csv
'' --data rows.csv
'x*y' --data rows.csv --ouput out.csv
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The files, in the current folder."""
    monkeypatch.chdir(tmp_path)
    for name, text in TEXTS.items():
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text(text, encoding="utf-8")
    for name, content in BYTES.items():
        Path(name).write_bytes(content)
    table = pa.table({**TABLE, "t": pa.array(TABLE["t"], pa.timestamp("s"))})
    parquet.write_table(table, "rows.parquet")
    parquet.write_table(pa.table({"x": [1.0], "y": ["3"]}), "text_column.parquet")
    parquet.write_table(table.set_column(0, "x", pa.array([1, 2])), "whole.parquet")
    content = Path("rows.parquet").read_bytes()
    Path("cut.parquet").write_bytes(content[: len(content) // 2])
    Path("headless.parquet").write_bytes(content[:-4])
    Path("damaged.parquet").write_bytes(content[:20] + b"\0" * 40 + content[60:])
    return tmp_path


def test_wrong_batches(folder: Path) -> None:
    parts = []
    before = sorted(folder.rglob("*"))
    for line in CASES.strip().splitlines():
        argv = ["batch", *shlex.split(line)]
        status, out, err = command(*argv)
        assert (status, out) == (2, ""), line
        assert sorted(folder.rglob("*")) == before, line
        parts.append(f"{spelled(argv)}\n{err}")
    golden.agree("requests/batch.txt", "\n".join(parts))


@pytest.mark.parametrize(
    ("said", "command_end"),
    [
        ('HTTPFileSystem requires "requests" and "aiohttp" to be installed', " requests aiohttp\n"),
        ("Install s3fs to access S3", " s3fs\n"),
        ("cannot import name 'x'", "import name 'x'\n"),
    ],
)
def test_what_a_url_needs(said: str, command_end: str, monkeypatch: Any) -> None:
    """Never a package of another name: nobody knows what that is."""

    def url_to_fs(path: str) -> None:
        raise ImportError(said)

    fsspec = pytest.importorskip("fsspec")
    monkeypatch.setattr(fsspec.core, "url_to_fs", url_to_fs)
    status, out, err = command("batch", "x", "--data", "s3://rows/a.csv")
    assert (status, out, err.endswith(command_end)) == (2, "", True)


@pytest.mark.slow
def test_a_full_disk_leaves_nothing(folder: Path) -> None:
    """Files may not grow beyond some bytes here, which stops a writer as a full disk does."""
    names = ["out.csv", "out.parquet", "out.arrow", "out.jsonl"]
    code = (
        "import resource, sys; from exprgrad.cli.main import main\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))\n"
        f"for name in {names}: print(main([*sys.argv[1:], '-o', name]))"
    )
    before = sorted(folder.iterdir())
    argv = [sys.executable, "-B", "-c", code, "batch", "x*y", "--data", "mixed.csv", "--only"]
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    assert done.stdout == "2\n" * 4
    assert done.stderr == "".join(
        f"error: cannot write '{name}': File too large\n" for name in names
    )
    assert sorted(folder.iterdir()) == before


def test_a_second_run_onto_a_target_is_refused(folder: Path) -> None:
    with open_target("out.csv") as file:
        file.write(b"whole")
        status, out, err = command("batch", "x*y", "--data", "rows.csv", "-o", "out.csv")
        assert (status, out) == (2, "")
        assert err.startswith("error: another run is writing 'out.csv'")
        assert not Path("out.csv").exists()
    assert Path("out.csv").read_bytes() == b"whole"


def test_what_a_killed_run_left_is_begun_again(folder: Path) -> None:
    Path(part_path("out.csv")).write_text("x" * 1000)
    assert command("batch", "x*y", "--data", "rows.csv", "-o", "out.csv", "--only").status == 0
    assert Path("out.csv").read_text() == "value,d_x,d_y\n2,2,1\n12,4,3\n"
    assert not Path(part_path("out.csv")).exists()


def test_a_file_that_changes_while_it_is_read(folder: Path) -> None:
    plan = plan_batch("x*y", ["rows.csv"], path="out.csv")

    def change(rows: int) -> None:
        os.utime("rows.csv", (0, 0))

    with pytest.raises(RequestError, match=r"'rows.csv' changed while it was being read"):
        execute_plan(plan, change)
    assert not Path("out.csv").exists()


def test_a_reader_that_goes_away(folder: Path) -> None:
    argv = [sys.executable, "-m", "exprgrad", "batch", "x*y", "--data", "mixed.csv"]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as run:
        assert run.stdout is not None and run.stderr is not None
        run.stdout.readline()
        run.stdout.close()
        assert run.wait() == 0
        assert run.stderr.read() == b""
