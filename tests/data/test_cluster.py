"""A cluster comes to the bytes of one machine, though its workers die, and errors are ours."""

from __future__ import annotations

import random
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from amounts import many
from outputs import content, removed
from shell import PROGRAM, command

pa = pytest.importorskip("pyarrow", reason="pip install 'exprgrad[data]'")

import exprgrad  # noqa: E402
from exprgrad.data.cluster import attempt_task, check_versions  # noqa: E402
from exprgrad.data.plans import BatchPlan, plan_batch  # noqa: E402
from exprgrad.data.targets import run_versions  # noqa: E402
from exprgrad.errors import RequestError  # noqa: E402

ROUNDS = many(1)
WAIT = 120


def rows_in(folder: Path, files: int, rows: int) -> str:
    """A folder of files of rows."""
    import pyarrow.parquet as pq

    (folder / "rows").mkdir()
    for at in range(files):
        numbers = random.Random(at)
        x = [numbers.gauss(2.5, 1) for _ in range(rows)]
        kind = pa.array(["a", None, "c"] * (rows // 3) + ["b"] * (rows % 3)).dictionary_encode()
        pq.write_table(pa.table({"x": x, "kind": kind}), folder / f"rows/{at:03}.parquet")
    return str(folder / "rows")


@pytest.mark.parametrize("address", ["local:0", "local:two", "here", ""])
def test_an_address_that_is_none(address: str, tmp_path: Path) -> None:
    data = rows_in(tmp_path, 1, 3)
    argv = ["x", "--data", data, "--reduce", "sum", "--cluster", address]
    status, out, err = command("batch", *argv)
    assert (status, out) == (2, "")
    assert f"'{address}' is not the address of a cluster" in err


def test_without_dask(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "dask", None)
    data = rows_in(tmp_path, 1, 3)
    found = command("batch", "x", "--data", data, "--reduce", "sum", "--cluster", "local")
    assert (found.status, "--cluster needs dask.distributed" in found.err) == (2, True)


def test_what_workers_cannot_reach(tmp_path: Path) -> None:
    data = rows_in(tmp_path, 1, 3)
    for given in (["--data", "-", "--reduce", "sum"], ["--data", data]):
        status, _, err = command("batch", "x", *given, "--cluster", "local", stdin=b"x\n1\n")
        assert (status, "--cluster needs files that workers reach" in err) == (2, True)


def test_a_worker_of_another_version(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    distributed = pytest.importorskip("distributed", reason="pip install 'exprgrad[cluster]'")
    plan = plan_batch("x", [rows_in(tmp_path, 1, 3)], reduce="sum")
    here = run_versions(plan.job)
    monkeypatch.setattr(distributed, "get_worker", lambda: distributed.Security())
    monkeypatch.setattr(distributed.Security, "address", "tcp://10.0.0.2:40001", raising=False)
    check_versions(plan, here)
    monkeypatch.setattr(exprgrad, "__version__", "99")

    def never(*_: Any) -> None:
        raise AssertionError

    error = attempt_task(never, plan, here)
    assert isinstance(error, RequestError)
    assert (error.code, "pip install" in str(error.help)) == ("version", True)
    where = "on the worker at tcp://10.0.0.2:40001"
    assert error.message == f"the version of exprgrad is 99 {where}, and 0.2.0 here"


# With a scheduler and workers that are processes of their own.


Process = subprocess.Popen[str]


class Machines:
    """A scheduler, and workers."""

    def __init__(self, count: int, folder: Path) -> None:
        self.folder = folder
        argv = ["--port", "0", "--no-dashboard"]
        self.scheduler = self.started("distributed.cli.dask_scheduler", *argv, said=subprocess.PIPE)
        assert self.scheduler.stderr is not None
        self.address = ""
        for line in self.scheduler.stderr:
            match = re.search(r"Scheduler at:\s+(tcp://\S+)", line)
            if match:
                self.address = match[1]
                break
        self.workers = [self.worker() for _ in range(count)]

    def started(self, module: str, *argv: str, said: int = subprocess.DEVNULL) -> Process:
        """A process of Dask's own, in another folder than the command's."""
        return subprocess.Popen(
            [sys.executable, "-m", module, "--host", "127.0.0.1", *argv],
            cwd=self.folder, text=True, stdout=subprocess.DEVNULL, stderr=said,
        )  # fmt: skip

    def worker(self) -> Process:
        """Another worker."""
        argv = [
            self.address,
            "--nthreads",
            "1",
            "--no-nanny",
            "--no-dashboard",
            "--memory-limit",
            "0",
        ]
        return self.started("distributed.cli.dask_worker", *argv)

    def kill_one(self, at: int) -> None:
        """A worker dies, and another takes its place."""
        self.workers[at].send_signal(signal.SIGKILL)
        self.workers[at].communicate()
        self.workers[at] = self.worker()


@contextmanager
def machines(count: int, folder: Path) -> Iterator[Machines]:
    """A cluster."""
    found = Machines(count, folder)
    try:
        yield found
    finally:
        for process in (*found.workers, found.scheduler):
            process.kill()
            process.communicate()


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGKILL")
@pytest.mark.parametrize(
    "options", ["-o out.parquet", "-o out/", "--reduce sum --by kind -o out.json"]
)
def test_workers_die(options: str, tmp_path: Path) -> None:
    """One sits on what it was given until it dies, so that the other dies before the end as well."""
    distributed = pytest.importorskip("distributed", reason="pip install 'exprgrad[cluster]'")
    rows_in(tmp_path, 60, 20_000)
    moments = random.Random(19)
    (tmp_path / "elsewhere").mkdir()
    argv = [*PROGRAM, "batch", "log(x)*x", "--data", "rows", *options.split()]
    out = tmp_path / options.split()[-1]
    one = subprocess.run(argv, cwd=tmp_path, check=True, capture_output=True, text=True)
    expected = content(out)
    with (
        machines(2, tmp_path / "elsewhere") as cluster,
        distributed.Client(cluster.address, set_as_default=False) as watch,
    ):
        for _ in range(ROUNDS):
            removed(out)
            watch.wait_for_workers(2, timeout=WAIT)
            cluster.workers[0].send_signal(signal.SIGSTOP)
            with subprocess.Popen(
                [*argv, "--cluster", cluster.address],
                cwd=tmp_path, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            ) as driver:  # fmt: skip
                while driver.poll() is None and not any(watch.processing().values()):
                    time.sleep(0.01)
                time.sleep(moments.random())
                cluster.kill_one(1)
                assert driver.poll() is None
                cluster.kill_one(0)
                said, told = driver.communicate(timeout=WAIT)
            lines = told.splitlines(keepends=True)
            told = "".join(line for line in lines if "has no workers; waiting for one" not in line)
            assert (driver.returncode, said, told) == (0, one.stdout, one.stderr)
            assert content(out) == expected
            assert [path.name for path in tmp_path.glob(".*")] == []


@pytest.mark.slow
def test_a_scheduler_without_workers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It says that it waits, and works as soon as there is one; in the end it gives up."""
    pytest.importorskip("distributed", reason="pip install 'exprgrad[cluster]'")
    rows_in(tmp_path, 3, 300)
    (tmp_path / "elsewhere").mkdir()
    argv = [*PROGRAM, "batch", "x", "--data", "rows", "--reduce", "sum", "-q", "--cluster"]
    with machines(0, tmp_path / "elsewhere") as cluster:
        note = f"the cluster at '{cluster.address}' has no workers; waiting for one"
        with subprocess.Popen(
            [*argv, cluster.address],
            cwd=tmp_path, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        ) as driver:  # fmt: skip
            assert driver.stderr is not None and driver.stdout is not None
            assert note in driver.stderr.readline()
            cluster.workers.append(cluster.worker())
            assert driver.stdout.read().startswith("value=")
            assert driver.wait(WAIT) == 0
        worker = cluster.workers.pop()
        worker.kill()
        worker.wait(WAIT)
        monkeypatch.setattr("exprgrad.data.cluster.PATIENCE", 0.5)
        monkeypatch.setattr("exprgrad.data.cluster.LOOK", 0.2)
        monkeypatch.chdir(tmp_path)
        status, out, err = command(*argv[len(PROGRAM) :], cluster.address)
        assert (status, out) == (2, "")
        assert f"error: no worker has come to the cluster at '{cluster.address}'" in err


@pytest.mark.slow
def test_errors_there_are_ours(tmp_path: Path) -> None:
    pytest.importorskip("distributed", reason="pip install 'exprgrad[cluster]'")
    rows_in(tmp_path, 3, 300)
    Path(tmp_path / "rows/003.csv").write_text("x,kind\n-40.5,a\n", encoding="utf-8")
    argv = [*PROGRAM, "batch", "log(x)", "--data", "rows/*", "--cluster", "local:1", "--only", "-o"]
    bad = [*argv, "out.csv", "--bad-rows", "fail", "--where", "x < -40"]
    found = subprocess.run(bad, cwd=tmp_path, capture_output=True, text=True, timeout=WAIT)
    assert (found.returncode, found.stdout) == (2, "")
    assert found.stderr.startswith("error: row 1 of 'rows/003.csv' does not compute")
    assert "Traceback" not in found.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["rows"]


def test_a_plan_travels(tmp_path: Path) -> None:
    import pickle

    plan = plan_batch("x", [rows_in(tmp_path, 1, 3)], path=str(tmp_path / "out.csv"))
    found: BatchPlan = pickle.loads(pickle.dumps(plan))
    assert found == plan
