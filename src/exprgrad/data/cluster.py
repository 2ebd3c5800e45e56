"""Partitions worked on by the processes of a Dask cluster, and taken in order: to the bytes of one machine.

A worker reduces a partition to sums, or writes its rows to a file beside the target, which all machines
have to reach.  Where it dies, the cluster gives the partition to another; nothing depends on who does what.
This is the one module that knows Dask.
"""

from __future__ import annotations

import logging
import re
import signal
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from itertools import chain, repeat
from pathlib import Path
from time import monotonic
from typing import Any, NamedTuple
from uuid import uuid4

import numpy as np

from exprgrad.data.arrow import import_arrow
from exprgrad.data.batch import (
    ComputedBatch,
    PartitionOutcome,
    Progress,
    partition_rows,
    process_partition,
)
from exprgrad.data.format import Partition
from exprgrad.data.job import Tally, merge_tallies
from exprgrad.data.places import remote_store
from exprgrad.data.plans import BatchPlan
from exprgrad.data.targets import parts_folder, run_versions
from exprgrad.errors import ExprgradError, RequestError, import_extra
from exprgrad.run.engines.compiled import count_cores

__all__ = ["Cluster", "connect_cluster"]

TRIES = 3
"""The most times a partition is given to the cluster, each until several workers have died over it."""
DEATHS = 10
"""After how many deaths the workers of ``local`` give up a partition."""
ANSWER_SECONDS = 30
"""The seconds that a scheduler has to answer."""
LOOK = 1.0
"""Seconds without a result before checking that there are workers at all."""
PATIENCE = 300.0
"""For how many seconds a scheduler may be without a worker."""


class Cluster(NamedTuple):
    """Workers of a Dask cluster: how to reach them, the address, and whom to notify if there are none."""

    client: Any
    address: str
    say: Callable[[str], None] = lambda line: None

    def each(self, plan: BatchPlan, first: int, progress: Progress) -> Iterator[PartitionOutcome]:
        """Yield the outcome of each partition."""
        if plan.path is not None and remote_store(plan.path) is None:
            plan = plan._replace(path=str(Path(plan.path).absolute()))
        tasks = [(one,) for one in plan.partitions[first:]]
        for partition, done in self.done(process_partition, plan, tasks):
            progress(max(partition.rows, done.tally.rows))
            yield done._replace(tally=restore_file_names(done.tally, partition))

    def rows(self, plan: BatchPlan, first: int) -> Iterator[Callable[[], ComputedBatch] | None]:
        """Yield functions that read rows with results, one for each batch; None ends a partition."""
        assert plan.path is not None
        folder, run = Path(parts_folder(plan, plan.path)).absolute(), uuid4().hex
        folder.mkdir()
        tasks = [
            (partition, str(folder / f"{run}-{at}"))
            for at, partition in enumerate(plan.partitions[first:])
        ]
        for (_, path), (partition, tally) in zip(
            tasks, self.done(write_part_file, plan, tasks), strict=True
        ):
            yield from read_part_rows(path, restore_file_names(tally, partition))
            yield None

    def done(self, function: Any, plan: BatchPlan, tasks: Sequence[Any]) -> Iterator[Any]:
        """The partition of each task and what the task returns; no worker has to wait for another task."""
        light, wanted = plan._replace(partitions=[]), run_versions(plan.job)

        def begun(partition: Partition, *rest: Any) -> Any:
            arguments = (function, light, wanted, relocate_partition(partition), *rest)
            return self.client.submit(attempt_task, *arguments, pure=False)

        waiting: deque[tuple[Any, Any]] = deque()
        for task in chain(tasks, repeat(None)):
            ahead = 2 * sum(self.client.nthreads().values()) + 1 if task else 0
            while len(waiting) > ahead:
                begun_task, future = waiting.popleft()
                yield begun_task[0], self.result(begun, begun_task, future)
            if task is None:
                return
            waiting.append((task, begun(*task)))

    def result(self, begun: Any, task: Any, future: Any) -> Any:
        """Return the result of a task, or raise its error as ours."""
        from distributed import CancelledError, KilledWorker
        from distributed.comm import CommClosedError

        path = task[0].source.path
        for _ in range(TRIES):
            try:
                found = self.awaited(future)
            except KilledWorker:
                future = begun(*task)
                continue
            except (CancelledError, CommClosedError, OSError) as error:
                raise unreachable_cluster_error(self.address, error) from None
            except (ImportError, AttributeError, TypeError) as error:
                raise RequestError(
                    "version",
                    f"a worker cannot load what is installed here: {error}",
                    help=SAME,
                ) from None
            if isinstance(found, ExprgradError):
                found.message = found.message.replace(relocate_partition(task[0]).source.path, path)
                raise found
            return found
        raise RequestError(
            "cluster",
            f"worker after worker died on rows of '{path}'",
            help="the cluster's own log says why: too little memory, perhaps",
        )

    def awaited(self, future: Any) -> Any:
        """A future's result; raises if no worker has turned up for a long time."""
        from distributed import TimeoutError as Late

        alone: float | None = None
        while True:
            try:
                return future.result(timeout=LOOK)
            except Late:
                if future.done():  # since then; or the error is the task's own
                    return future.result()
            if self.client.nthreads():
                alone = None
            elif alone is None:
                alone = monotonic()
                minutes = f"{PATIENCE / 60:g} minutes at most"
                self.say(
                    f"the cluster at '{self.address}' has no workers; waiting for one, {minutes}"
                )
            elif monotonic() - alone > PATIENCE:
                raise RequestError(
                    "cluster",
                    f"no worker has come to the cluster at '{self.address}'",
                    help=f"start some: dask worker {self.address}",
                )


SAME = "install the same versions on all machines: pip install 'exprgrad[cluster]'"


def unreachable_cluster_error(address: str, error: BaseException) -> RequestError:
    """The error for a cluster that does not answer."""
    reason = f": {error}" if str(error) else ""
    return RequestError("cluster", f"the cluster at '{address}' does not answer{reason}")


@contextmanager
def connect_cluster(
    address: str, say: Callable[[str], None] = lambda line: None
) -> Iterator[Cluster]:
    """Connect to the cluster at a scheduler's address, or with ``local[:N]`` to N processes here.

    ``say`` reports that it is waiting for workers.
    Raises ``RequestError`` where there is none, and ``MissingExtraError`` without Dask.
    """
    count = re.fullmatch(r"local(?::([1-9]\d*))?", address)
    if count is None and "://" not in address:
        raise RequestError(
            "usage",
            f"'{address}' is not the address of a cluster",
            help="a scheduler's address, such as tcp://10.0.0.1:8786, or local, or local:4",
        )
    distributed = import_extra("distributed", "--cluster needs dask.distributed")
    import dask

    spoken = logging.root.manager.disable
    logging.disable(logging.CRITICAL)  # what concerns the work is an error of ours
    dask.config.set({"distributed.comm.timeouts.connect": ANSWER_SECONDS})
    scheduler: Any = address
    if count is not None:
        scheduler = start_local_workers(int(count[1] or count_cores()))
    try:
        client = distributed.Client(scheduler, timeout=ANSWER_SECONDS, set_as_default=False)
    except (OSError, ValueError, RuntimeError) as error:
        logging.disable(spoken)
        raise unreachable_cluster_error(address, error) from None
    try:
        yield Cluster(client, address, say)
    finally:
        with suppress(Exception):
            client.close(timeout=5)
        if count is not None:
            with suppress(Exception):
                scheduler.close(timeout=5)
        logging.disable(spoken)


def start_local_workers(count: int) -> Any:
    """Start workers on this machine, which ignore Ctrl-C: the command ends them."""
    from distributed import LocalCluster

    hears = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        return LocalCluster(
            n_workers=count, threads_per_worker=1, memory_limit=0, dashboard_address=":0",
            silence_logs=logging.CRITICAL + 1, scheduler_kwargs={"allowed_failures": DEATHS},
        )  # fmt: skip
    finally:
        signal.signal(signal.SIGINT, hears)


# What a worker does.


def attempt_task(function: Any, plan: BatchPlan, wanted: Mapping[str, str], *rest: Any) -> Any:
    """Return a task's result, or its error, which would fill the cluster's logs if it were raised."""
    try:
        check_versions(plan, wanted)
        with np.errstate(all="ignore"):
            return function(plan, *rest)
    except ExprgradError as error:
        return error


def write_part_file(plan: BatchPlan, partition: Partition, path: str) -> Tally:
    """A partition's rows, written to a file that appears once it is whole, with remarks on them."""
    tally, place = Tally(), Path(path)
    part = Path(f"{path}.{uuid4().hex}")  # a worker that is believed dead may write another
    try:
        with part.open("xb") as file, import_arrow("ipc").new_stream(file, plan.schema) as writer:
            for find in partition_rows(plan, partition):
                rows, told = find()
                writer.write_batch(rows)
                tally = merge_tallies(tally, told)
        part.replace(place)
    except OSError as error:
        raise RequestError(
            "file",
            f"a worker cannot write '{place.parent}': {error.strerror or error}",
            help="the target has to be where all machines reach it, under one name",
        ) from None
    return tally


def check_versions(plan: BatchPlan, wanted: Mapping[str, str]) -> None:
    """Raise an error if a worker has other versions than the machine that it works for."""
    from distributed import get_worker

    for name, version in run_versions(plan.job).items():
        if wanted[name] != version:
            where = f"on the worker at {get_worker().address}"
            raise RequestError(
                "version",
                f"{name} is {version} {where}, and {wanted[name]} here",
                help=SAME,
            )


# There and here.


def relocate_partition(partition: Partition) -> Partition:
    """Make a partition's path absolute, for workers in other folders."""
    source = partition.source
    if "://" in source.path:
        return partition
    return partition._replace(source=source._replace(path=str(Path(source.path).absolute())))


def restore_file_names(tally: Tally, partition: Partition) -> Tally:
    """Give the file its own name again in a tally of a worker's."""
    path = partition.source.path
    return tally._replace(
        first={key: tuple((path, row) for _, row in rows) for key, rows in tally.first.items()}
    )


def read_part_rows(path: str, tally: Tally) -> Iterator[Callable[[], ComputedBatch]]:
    """The rows that a worker has written, by the batch; their tally comes with the first of them."""
    with import_arrow().memory_map(path) as file:
        for batch in import_arrow("ipc").open_stream(file):
            yield partial(ComputedBatch, batch, tally)
            tally = Tally()
    with suppress(OSError):
        Path(path).unlink()
