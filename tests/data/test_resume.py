"""A run that is stopped and gone on with comes to the same bytes as one that is not."""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from amounts import many
from outputs import content, removed
from shell import PROGRAM, Outcome, command

pa = pytest.importorskip("pyarrow", reason="pip install 'exprgrad[data]'")

import exprgrad  # noqa: E402
from exprgrad.data import batch, formats  # noqa: E402
from exprgrad.data.formats.parquet import shift_footer  # noqa: E402
from exprgrad.data.targets import (  # noqa: E402
    content_hash,
    open_locked,
    part_path,
)

ENDINGS = ("csv", "tsv", "jsonl", "parquet", "arrow")
PARTS = 5
KILLS = many(4)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a few files of rows, and one that has several partitions."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rows").mkdir()
    for at in range(PARTS):
        pq().write_table(rows_of(40, at), tmp_path / f"rows/{at}.parquet")
    monkeypatch.setattr(formats, "PARTITION", 50)
    pq().write_table(rows_of(300, 9), tmp_path / "many.parquet", row_group_size=25)
    return tmp_path


def pq() -> Any:
    import pyarrow.parquet

    return pyarrow.parquet


def rows_of(count: int, seed: int) -> Any:
    """Some rows, of which one in a while does not compute."""
    numbers = np.random.default_rng(seed)
    names = [("one", "two", None)[at % 3] for at in range(count)]
    kinds = pa.array(names).dictionary_encode()
    x = numbers.standard_normal(count) + 2.5
    return pa.table({"x": x, "y": numbers.standard_normal(count), "name": names, "kind": kinds})


def run(*argv: str, data: str = "rows") -> Outcome:
    """By one thread: others work ahead, and what they found goes with the one that is stopped."""
    return command("batch", "log(x)*y", "--data", data, "--threads", "1", *argv)


@pytest.fixture
def stop(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Stops runs in their partitions of this number, by this error."""
    counts: dict[str, Any] = {"left": -1, "error": KeyboardInterrupt()}
    work = {name: getattr(batch, name) for name in ("partition_rows", "reduce_rows")}

    def stopped(name: str) -> Any:
        def worked(*args: Any) -> Any:
            counts["left"] -= 1
            if counts["left"] == -1:
                raise counts["error"]
            return work[name](*args)

        return worked

    for name in work:
        monkeypatch.setattr(batch, name, stopped(name))

    def at(number: int, error: BaseException | None = None) -> None:
        counts.update(left=number, error=error or KeyboardInterrupt())

    yield at


def beside(folder: Path) -> list[str]:
    """What a run has left."""
    return sorted(path.name for path in folder.iterdir() if path.name.startswith("."))


@pytest.mark.parametrize("data", ["rows", "many.parquet"])
@pytest.mark.parametrize(
    "options",
    [
        *(f"-o out.{ending}" for ending in ENDINGS),
        "-o out.parquet --bad-rows drop --where y>0",
        "-o out/",
        "-o out/ --to csv",
        "--reduce sum -o out.json",
        "--reduce norm --by kind,name -o out.csv",
        "--reduce max --by kind -o out.json",
    ],
)
def test_the_same_bytes_wherever_it_stopped(
    options: str, data: str, folder: Path, stop: Any
) -> None:
    argv = options.split()
    out = Path(argv[argv.index("-o") + 1])
    whole = run(*argv, data=data)
    assert whole.status == 0
    expected = content(out)
    removed(out)
    one_file = out.suffix == "" and data == "many.parquet"  # which begins anew
    for number in (1, 0, 2):
        stop(number)
        resumed = ["--resume"][: bool(beside(folder))]
        if one_file and number:
            continue
        status, _, err = run(*argv, *resumed, data=data)
        assert status == 130
        assert one_file or "to continue, type\n  exprgrad " in err
        assert out.is_dir() or not out.exists()
    stop(-1)
    assert run(*argv, "--resume", data=data) == whole
    assert content(out) == expected
    assert beside(folder) == []


def test_only_what_is_missing_is_done(folder: Path, stop: Any) -> None:
    stop(3)
    assert run("-o", "out.csv").status == 130
    done = json.loads(Path(".out.csv.resume").read_text(encoding="utf-8"))["reached"][-1]["done"]
    assert done in (1, 2, 3)
    stop(PARTS - done)
    assert run("-o", "out.csv", "--resume").status == 0


def test_without_resume_it_begins_afresh(folder: Path, stop: Any) -> None:
    assert run("-o", "out.csv", "--resume").status == 0
    expected = Path("out.csv").read_bytes()
    stop(2)
    assert run("-o", "out.csv").status == 130
    assert Path("out.csv").read_bytes() == expected
    assert run("-o", "out.csv").status == 0
    assert (Path("out.csv").read_bytes(), beside(folder)) == (expected, [])


CHANGES = [
    ("--where x>1", "--where is not what it was: nothing\n"),
    ("--bad-rows drop", "--bad-rows is not what it was: null"),
    ("--only", "the columns to write, or their types, have changed"),
    ("--wrt x", "--wrt is not what it was: x,y"),
    ("--decimal ,", "the layout of text is not what it was"),
    ("--map y=x", "--map is not what it was: nothing"),
    ("--check-content", "it was begun without --check-content"),
]


@pytest.mark.parametrize(("options", "why"), CHANGES)
def test_another_run_is_not_gone_on_with(options: str, why: str, folder: Path, stop: Any) -> None:
    stop(2)
    assert run("-o", "out.csv").status == 130
    left = beside(folder)
    status, out, err = run("-o", "out.csv", "--resume", *options.split())
    assert (status, out) == (2, "")
    assert why in err
    assert "cannot resume the unfinished run onto 'out.csv'" in err
    assert "without --resume it starts afresh" in err
    assert beside(folder) == left
    assert run("-o", "out.csv", "--resume").status == 0


def test_another_formula_or_version(folder: Path, stop: Any, monkeypatch: Any) -> None:
    stop(2)
    assert run("-o", "out.csv").status == 130
    err = command("batch", "x*y", "--data", "rows", "-o", "out.csv", "--resume").err
    assert "the formula is not what it was: log(x)*y" in err
    monkeypatch.setattr(exprgrad, "__version__", "99")
    assert "the version of exprgrad is not what it was" in run("-o", "out.csv", "--resume").err


def test_changed_files(folder: Path, stop: Any) -> None:
    content = "--check-content"
    for options in ([], [content]):
        stop(2)
        assert run("-o", "out.csv", *options).status == 130
        os.utime("rows/0.parquet", (1, 1))
        os.utime("rows/4.parquet", (2, 2))  # nobody has read this one yet
        status, _, err = run("-o", "out.csv", "--resume", *options)
        assert status == (0 if options else 2)
        if not options:
            assert "'rows/0.parquet' has changed since" in err
    stop(2)
    assert run("-o", "out.csv", content).status == 130
    pq().write_table(rows_of(41, 0), "rows/0.parquet")
    assert "'rows/0.parquet' has changed since" in run("-o", "out.csv", content, "--resume").err
    Path("rows/0.parquet").unlink()
    err = run("-o", "out.csv", content, "--resume").err
    assert "it read 'rows/0.parquet' instead of 'rows/1.parquet'" in err
    err = run("-o", "out.csv", "--resume", data="many.parquet").err
    assert "it read 'rows/0.parquet' instead of 'many.parquet'" in err
    assert run("-o", "out.csv").status == 0
    assert beside(folder) == []


@pytest.mark.parametrize("left", ["{", "[]", '{"what": {}}', ""])
def test_a_record_may_be_damaged(left: str, folder: Path, stop: Any) -> None:
    stop(2)
    assert run("-o", "out.csv").status == 130
    Path(".out.csv.resume").write_text(left, encoding="utf-8")
    status, _, err = run("-o", "out.csv", "--resume")
    assert status == 2
    assert "the record of the unfinished run onto 'out.csv' is damaged: '.out.csv.resume'" in err
    assert "without --resume it starts afresh" in err
    assert run("-o", "out.csv").status == 0


def test_groups_of_numbers_that_are_none(folder: Path) -> None:
    g = [float("nan"), None, 0.0, -0.0] * 5000
    pq().write_table(pa.table({"x": [1.0] * len(g), "g": g}), "groups.parquet")
    argv = ["--data", "groups.parquet", "--reduce", "sum", "--by", "g", "--value-only", "--csv"]
    assert command("batch", "x", *argv).out == "g,rows,value\n,10000,10000.0\n0.0,10000,10000.0\n"


def test_what_cannot_be_gone_on_with(folder: Path) -> None:
    for argv in (["--resume"], ["--reduce", "sum", "--resume"], ["--check-content"]):
        status, out, err = run(*argv)
        assert (status, out) == (2, "")
        assert f"{argv[-1]} needs files on this machine, no pipe, and -o FILE" in err
    piped = command("batch", "x", "--data", "-", "-o", "out.csv", "--resume", stdin=b"x\n1\n")
    assert "no pipe" in piped.err


def test_errors_keep_what_is_done_but_for_bad_rows(folder: Path, stop: Any) -> None:
    stop(2, OSError(28, "No space left on device"))
    status, _, err = run("-o", "out.csv")
    assert (status, "cannot write 'out.csv': No space left" in err) == (2, True)
    assert "note: finished work is kept" in err
    assert run("-o", "out.csv", "--resume").status == 0
    table = rows_of(40, 3)
    bad = table.set_column(0, "x", pa.array([-1.0] * 40))
    pq().write_table(bad, "rows/3.parquet")
    status, _, err = run("-o", "out.csv", "--bad-rows", "fail")
    assert (status, "note:" in err, beside(folder)) == (2, False, [])


@pytest.mark.parametrize("options", ["-o out.json --reduce sum", "-o out.csv"])
def test_a_second_run_refuses(options: str, folder: Path) -> None:
    path = options.split()[1]
    with open_locked(part_path(path), path):
        for resumed in ([], ["--resume"]):
            status, _, err = run(*options.split(), *resumed)
            assert (status, f"another run is writing '{path}'" in err) == (2, True)


def test_a_footer_that_is_moved_by_nothing_is_the_same(folder: Path) -> None:
    path = Path("many.parquet")
    content = path.read_bytes()
    footer = content[-8 - int.from_bytes(content[-8:-4], "little") : -8]
    assert shift_footer(footer, 0) == footer
    assert shift_footer(shift_footer(footer, 10**9), -(10**9)) == footer
    with pytest.raises(ValueError, match="in a footer"):
        shift_footer(b"\x1f\x00", 1)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGKILL")
@pytest.mark.parametrize("options", ["-o out.parquet", "-o out/", "--reduce sum -o out.json"])
def test_killed_at_any_moment(options: str, tmp_path: Path) -> None:
    """The moments are drawn between a run's start and its end, whose length is measured before."""
    (tmp_path / "rows").mkdir()
    for at in range(40):
        pq().write_table(rows_of(20_000, at), tmp_path / f"rows/{at:02}.parquet")
    argv = [*PROGRAM, "batch", "log(x)*y", "--data", "rows", *options.split()]
    out = tmp_path / options.split()[-1]
    start = time.perf_counter()
    subprocess.run(argv, cwd=tmp_path, check=True, capture_output=True)
    length = time.perf_counter() - start
    expected = content(out)
    removed(out)
    moments = random.Random(19)
    stopped = ended = 0
    while stopped < KILLS:
        with subprocess.Popen([*argv, "--resume"], cwd=tmp_path, stderr=subprocess.DEVNULL) as run:
            time.sleep(length * moments.random())
            run.send_signal(signal.SIGKILL)
        stopped += run.returncode == -signal.SIGKILL
        if out.is_dir():
            assert {
                name: rows for name, rows in content(out).items() if name[:1] != "."
            }.items() <= expected.items()
        if out.exists() and beside(tmp_path) == []:
            ended += 1
            assert content(out) == expected
            removed(out)
    subprocess.run([*argv, "--resume"], cwd=tmp_path, check=True, capture_output=True)
    assert content(out) == expected
    assert beside(tmp_path) == []
    print(f"{stopped} kills; whole files in between: {ended}")  # noqa: T201


def test_a_hash_is_that_of_the_rows_however_they_are_packed(tmp_path: Path) -> None:
    plain, packed = tmp_path / "rows.csv", tmp_path / "rows.csv.gz"
    plain.write_bytes(b"x\n1\n")
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    assert (
        content_hash(str(plain))
        == hashlib.sha256(b"x\n1\n").hexdigest()
        == content_hash(str(packed))
    )
