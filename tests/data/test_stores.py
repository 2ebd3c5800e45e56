"""Rows in object stores: fsspec's own in memory, and files by their URLs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from shell import Outcome, command

pa = pytest.importorskip("pyarrow", reason="pip install 'exprgrad[data]'")
fsspec = pytest.importorskip("fsspec", reason="pip install 'exprgrad[data]'")
import pyarrow.parquet as parquet  # noqa: E402

from exprgrad.data import batch as working  # noqa: E402

NAMES = ("year=2023/a.parquet", "year=2024/a.parquet", "year=2024/b.parquet")
SUM = "value=30357.0\nd_x=12142.0\nd_year=15.0\n"


@pytest.fixture(params=["memory", "file"])
def bucket(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[str]:
    """The URL of a folder with partitioned rows."""
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    url = f"memory://{tmp_path.name}" if request.param == "memory" else f"file://{tmp_path}"
    for at, name in enumerate(NAMES):
        written(f"{url}/rows/{name}", [at + 1.0, at + 2.0])
    yield url
    files, inside = fsspec.core.url_to_fs(url)
    files.rm(inside, recursive=True) if request.param == "memory" else None


def written(url: str, x: list[float]) -> None:
    """A file of rows."""
    files, inside = fsspec.core.url_to_fs(url)
    files.makedirs(inside.rpartition("/")[0], exist_ok=True)
    with files.open(inside, "wb") as file:
        parquet.write_table(pa.table({"x": x}), file)


def listed(url: str) -> list[str]:
    """The files of a folder."""
    files, inside = fsspec.core.url_to_fs(url)
    return sorted(
        path.partition("/rows/")[2] or path.rpartition("/out")[2] for path in files.find(inside)
    )


def batch(data: str, *argv: str) -> Outcome:
    return command("batch", "x*year", "--data", data, *argv)


@pytest.mark.parametrize("given", ["rows", "rows/", "rows/*/*.parquet", "rows/**"])
def test_reading(given: str, bucket: str) -> None:
    assert batch(f"{bucket}/{given}", "--reduce", "sum", "-q") == (0, SUM, "")
    one = batch(f"{bucket}/rows/{NAMES[0]}", "--only", "--value-only")
    assert one.out == "value\n2023\n4046\n"


@pytest.mark.parametrize("ending", ["parquet", "csv", "csv.gz", "jsonl", "arrow"])
def test_an_object_is_there_when_it_is_whole(ending: str, bucket: str) -> None:
    url = f"{bucket}/out.{ending}"
    assert batch(f"{bucket}/rows", "-o", url, "--only") == (0, "", "")
    found = command("batch", "value", "--data", url, "--reduce", "sum", "-q", "--value-only")
    assert found.out == SUM.splitlines(keepends=True)[0]
    assert listed(f"{bucket}/out.{ending}") == [f".{ending}"]
    bad = f"{bucket}/outbad.{ending}"
    argv = ["-o", bad, "--bad-rows", "fail", "--threads", "1"]
    written(f"{bucket}/rows/{NAMES[-1]}", [1.0, float("nan")])
    assert "does not compute" in batch(f"{bucket}/rows", *argv).err
    files, inside = fsspec.core.url_to_fs(bad)
    assert not files.exists(inside)


def test_a_folder_to_a_folder_and_on(bucket: str, monkeypatch: pytest.MonkeyPatch) -> None:
    argv = (f"{bucket}/rows", "-o", f"{bucket}/out/", "--threads", "1")
    work, count = working.process_partition, iter(range(9))

    def stopped(*given: Any, **named: Any) -> Any:
        if next(count) == 2:
            raise KeyboardInterrupt
        return work(*given, **named)

    monkeypatch.setattr(working, "process_partition", stopped)
    found = batch(*argv)
    assert (found.status, "to continue, type" in found.err) == (130, True)
    assert listed(f"{bucket}/out") == [f"/{name}" for name in NAMES[:2]]
    written(f"{bucket}/rows/{NAMES[0]}", [7.0, 8.0, 9.0])
    assert f"{NAMES[0]}' has changed since" in batch(*argv, "--resume").err
    written(f"{bucket}/rows/{NAMES[0]}", [1.0, 2.0])
    assert batch(*argv) == (0, "", "")
    assert listed(f"{bucket}/out") == [f"/{name}" for name in NAMES]
    assert batch(f"{bucket}/out", "--reduce", "sum", "-q", "--prefix", "f_").out.startswith(
        "f_value=30357.0"
    )
    assert [*Path().iterdir()] == []


def test_onto_another_folder_one_does_not_go_on(
    bucket: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    work, count = working.process_partition, iter(range(9))

    def stopped(*given: Any, **named: Any) -> Any:
        if next(count) == 2:
            raise KeyboardInterrupt
        return work(*given, **named)

    monkeypatch.setattr(working, "process_partition", stopped)
    assert batch(f"{bucket}/rows", "-o", f"{bucket}/out/", "--threads", "1").status == 130
    found = batch(f"{bucket}/rows", "-o", f"{bucket}/elsewhere/out/", "--threads", "1", "--resume")
    assert (found.status, "-o is not what it was" in found.err) == (2, True)
    assert batch(f"{bucket}/rows", "-o", f"{bucket}/out/", "--threads", "1", "--resume").status == 0


def test_a_local_folder_of_the_same_name_stays(bucket: str) -> None:
    Path("out/empty").mkdir(parents=True)
    assert batch(f"{bucket}/rows", "-o", f"{bucket}/out/") == (0, "", "")
    assert [*Path().rglob("*")] == [Path("out"), Path("out/empty")]
