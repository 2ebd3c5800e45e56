"""What a run has done, written beside its target: another goes on where it ended, to the same bytes."""

from __future__ import annotations

import hashlib
import io
import json
import os
import shutil
import sys
from base64 import b64decode, b64encode
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from time import perf_counter
from typing import IO, Any, NamedTuple

import numpy as np

from exprgrad.data.arrow import arrow
from exprgrad.data.job import Job, Tally, prepared
from exprgrad.data.places import PIPE, STDIN, exists, opened, store, without_packing
from exprgrad.data.plans import BatchPlan
from exprgrad.data.sums import REDUCTIONS, Partial
from exprgrad.data.targets import before, locked, output_of, placed, unfinished, unwritable
from exprgrad.errors import InputError, RequestError

__all__ = ["Manifest", "Reached", "manifest_beside", "parts_folder", "resumable", "versions"]

SHARE = 10
"""Writing down what is done may take one part in so many of the time."""
AFRESH = "without --resume it begins afresh"


class Reached(NamedTuple):
    """How far a run has come: ``done`` partitions, which take ``size`` bytes of the file that grows.

    ``memo`` is what to know beside those bytes; ``partial`` what the rows come to, if they are reduced.
    """

    done: int = 0
    tally: Tally = Tally()
    size: int = 0
    memo: str = ""
    partial: Partial | None = None


class Manifest:
    """The record of a run: how far it has ``reached``, and the ``file`` that grows, which is its own."""

    def __init__(
        self, file: IO[bytes], path: str, about: Mapping[str, Any], plan: BatchPlan
    ) -> None:
        self.file, self.path, self.about = file, path, about
        self.partitions, self.into_folder = len(plan.partitions), plan.into_folder
        self.reached = Reached()
        self.is_written = False
        self.last = self.took = 0.0

    def is_due(self, done: int) -> bool:
        """Whether to write down what is done: more often would slow down the run."""
        return done < self.partitions and perf_counter() - self.last >= SHARE * self.took

    def note(self, reached: Reached) -> None:
        """Write down how far the run has come, once what it wrote is on the disk."""
        self.last = perf_counter()
        self.file.flush()
        os.fsync(self.file.fileno())
        document = json.dumps({**self.about, "reached": as_plain(reached)}, indent=1)
        place = manifest_path(self.path)
        with Path(f"{place}.part").open("wb") as file:
            file.write(document.encode())
            placed(file, place, file.name)
        self.reached, self.is_written = reached, True
        self.took = perf_counter() - self.last

    def outlasts(self, error: BaseException) -> bool:
        """Whether another run can go on after an error: not after a row's, unless files of others stay."""
        is_lost = isinstance(error, InputError) and not self.into_folder
        return self.is_written and not is_lost

    def finish(self) -> None:
        """Give the file that has all rows its place."""
        removed([manifest_path(self.path)])
        placed(self.file, self.path, unfinished(self.path))


def resumable(plan: BatchPlan, path: str) -> bool:
    """Whether a run may end and be gone on with: it writes a file here, and doesn't read a pipe."""
    is_here = store(path) is None or plan.into_folder
    return (
        path != PIPE
        and is_here
        and not without_packing(path)[1]
        and all(one.source.path != STDIN for one in plan.partitions)
    )


def manifest_path(path: str) -> str:
    """The file beside a target that says how far the run has come."""
    return unfinished(path).removesuffix("part") + "resume"


def parts_folder(plan: BatchPlan, path: str) -> str:
    """The folder in which files grow: beside a target, or within it if it is one."""
    return f"{path}/.parts" if plan.into_folder else f"{unfinished(path)}s"


@contextmanager
def manifest_beside(
    path: str, plan: BatchPlan, is_resumed: bool = False, by_content: bool = False
) -> Iterator[Manifest]:
    """The record of a run onto a target, for as long as it lasts; afterwards nothing is left beside that.

    What is done stays for another run, if anything is, unless a row ends this one, and not in a folder.
    That of a folder elsewhere stands in the current one.  Raises ``RequestError`` where what an unfinished
    run has done is not what this one would do.
    """
    what, given = asked_for(plan), path
    about = {"what": what, "inputs": inputs_of(plan, by_content)}
    if store(path) is not None:
        what["-o"] = path
        path = path.rpartition("/")[2]
    rests = rests_of(path)
    try:
        with locked(rests[0], path, is_kept=True) as file:
            kept = Manifest(file, path, about, plan)
            if is_resumed:
                kept.reached = reached_before(kept, plan)
                kept.is_written = kept.reached.done > 0
            if not kept.is_written:
                removed(rests[1:])
            try:
                with nothing_half_grown(given, plan):
                    yield kept
            except BaseException as error:
                if not kept.outlasts(error):
                    removed(rests)
                raise
            removed(rests)
    except OSError as error:
        if isinstance(error, BrokenPipeError):
            raise
        raise unwritable(path, error) from None


def rests_of(path: str) -> list[str]:
    """The files that an unfinished run leaves beside its target; the first is the one that is locked."""
    part = unfinished(path)
    whole, manifest = before(part), manifest_path(path)
    return [part, whole, f"{whole}.part", manifest, f"{manifest}.part"]


@contextmanager
def nothing_half_grown(path: str, plan: BatchPlan) -> Iterator[None]:
    """Without the files that grow for a folder, before and after; nor is a new folder left that is empty.

    In a store there are none: an object is there when it is whole.
    """
    if store(path) is not None:
        yield
        return
    folder, is_new = parts_folder(plan, path), plan.into_folder and not Path(path).exists()
    shutil.rmtree(folder, ignore_errors=True)
    try:
        yield
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        if is_new:
            remove_empty_folders(Path(path))


def remove_empty_folders(folder: Path) -> None:
    """Remove a folder, and those in it, as far as there is nothing in them."""
    for one in (*sorted(folder.rglob("*"), reverse=True), folder):
        with suppress(OSError):
            one.rmdir()


def removed(paths: Sequence[str]) -> None:
    """Remove files, if they are there."""
    for path in paths:
        with suppress(OSError):
            Path(path).unlink()


# What decides the bytes.


def asked_for(plan: BatchPlan) -> dict[str, Any]:
    """By what it is called, all that decides what is written but the rows."""
    job = plan.job
    return {
        "the formula": job.text,
        "NAME=VALUE": [[name, value.hex()] for name, value in job.constants],
        "--map": [list(pair) for pair in job.columns],
        "--of": list(job.of),
        "--wrt": list(job.wrt),
        "--hessian": job.hessian,
        "--where": job.where,
        "--bad-rows": job.bad,
        "--reduce": job.reduce,
        "--by": list(job.by),
        "the groups": "texts" if job.by_texts else "cells",
        "the format": plan.format,
        "the columns": str(job.read if plan.schema is None else plan.schema),
        **versions(job),
    }


def versions(job: Job) -> dict[str, str]:
    """What has to be the same wherever a job is worked on, for results to be so."""
    return {
        "the version of exprgrad": sys.modules["exprgrad"].__version__,  # no room imports the house
        "the version of pyarrow": arrow().__version__,
        "the version of NumPy": np.__version__,
        "the engine": prepared(job).engine,
    }


def inputs_of(plan: BatchPlan, by_content: bool) -> list[list[Any]]:
    """Each file that is read: its path, size, and time or tag; and what its content hashes to, if asked."""
    sources = dict.fromkeys(one.source for one in plan.partitions)
    return [
        [one.path, one.size, one.stamp, hashed(one.path) if by_content else ""] for one in sources
    ]


def hashed(path: str) -> str:
    """What a file's content hashes to."""
    with opened(path) as found:
        file: Any = found
        return hashlib.file_digest(file, "sha256").hexdigest()


def reached_before(kept: Manifest, plan: BatchPlan) -> Reached:
    """How far an unfinished run has come, if this one would have come there as well."""
    path, place = kept.path, Path(manifest_path(kept.path))
    if not place.exists():
        return Reached()
    whole = Path(before(unfinished(path)))
    try:
        document = json.loads(place.read_text(encoding="utf-8"))
        reached = as_reached(document["reached"], plan)
        what, inputs = document["what"], [list(map(str, one)) for one in document["inputs"]]
        size = (whole if whole.exists() else Path(unfinished(path))).stat().st_size
        if size < reached.size:
            raise ValueError
    except (ValueError, KeyError, TypeError, IndexError, OSError, arrow().ArrowException):
        message = f"what an unfinished run left beside '{path}' is damaged"
        raise RequestError("unfinished", message, help=AFRESH) from None
    for name, value in kept.about["what"].items():
        if what.get(name) != value:
            raise other_run(path, difference(name, what.get(name)))
    if reached.done > len(plan.partitions):
        raise other_run(path, "it has read more than --data names")
    read = dict.fromkeys(one.source.path for one in plan.partitions[: reached.done])
    now = [list(map(str, one)) for one in kept.about["inputs"]]
    for at in range(len(read)):
        check_input(path, inputs[at], now[at])
    for partition in plan.partitions[: reached.done] if plan.into_folder else ():
        output = output_of(str(plan.path), plan.format, partition.source)
        if not exists(output):
            raise other_run(path, f"'{output}' is not there any more")
    return reached


def check_input(path: str, then: Sequence[str], now: Sequence[str]) -> None:
    """An error for a file that is not what was read for an unfinished run."""
    if then[0] != now[0]:
        raise other_run(path, f"it read '{then[0]}' in the place of '{now[0]}'")
    if now[3] and not then[3]:
        raise other_run(path, "it was begun without --check-content")
    is_same = then[3] == now[3] if now[3] else then[:3] == now[:3]
    if not is_same:
        raise other_run(path, f"'{now[0]}' has changed since")


def difference(name: str, was: Any) -> str:
    """What is not what it was, and what that is, as it is typed."""
    if name == "the columns":
        return "the columns that are written, or their types, are not what they were"
    if name == "NAME=VALUE":
        was = [f"{key}={float.fromhex(value):.17g}" for key, value in was]
    elif name == "--map":
        was = [f"{key}={column}" for key, column in was if key != column]
    listed = ",".join(was) if isinstance(was, list) else str(was)
    return f"{name} is not what it was: {listed or 'nothing'}"


def other_run(path: str, why: str) -> RequestError:
    """The error for an unfinished run that cannot be gone on with."""
    return RequestError(
        "unfinished", f"cannot go on with the unfinished run onto '{path}': {why}", help=AFRESH
    )


# As JSON, to the last bit.


def as_plain(reached: Reached) -> dict[str, Any]:
    """How far a run has come, as JSON holds it."""
    partial = reached.partial
    found = {**reached._asdict(), "tally": reached.tally._asdict()}
    if partial is not None:
        found["partial"] = {
            "keys": keys_as_text(partial.keys),
            "rows": partial.rows.tolist(),
            **{name: list(map(float.hex, getattr(partial, name).ravel())) for name in SUMS},
        }
    return found


SUMS = ("high", "low")
"""The fields of what rows come to that hold doubles."""


def as_reached(plain: Mapping[str, Any], plan: BatchPlan) -> Reached:
    """How far a run has come, from JSON; raises ``ValueError`` and others for what is none."""
    first = plain["tally"]["first"].items()
    places = {key: tuple((path, row) for path, row in some) for key, some in first}
    tally = Tally(**{**plain["tally"], "first": places})
    partial = plain["partial"]
    if partial is not None:
        count = np.array(partial["rows"], dtype=np.int64)
        shape = (REDUCTIONS[plan.job.reduce].scales, len(plan.names), len(count))
        sums = [np.array([*map(float.fromhex, partial[name])]).reshape(shape) for name in SUMS]
        partial = Partial(keys_in(partial["keys"], len(count)), count, *sums)
    return Reached(int(plain["done"]), tally, int(plain["size"]), plain["memo"], partial)


def keys_as_text(keys: Sequence[Sequence[Any]]) -> str:
    """The groups' keys, as a table of Arrow's in a text."""
    pa, file = arrow(), io.BytesIO()
    columns = [pa.array(one) for one in zip(*keys, strict=True)]
    table = pa.table(columns, [str(at) for at in range(len(columns))])
    with arrow("ipc").new_stream(file, table.schema) as writer:
        writer.write_table(table)
    return b64encode(file.getvalue()).decode()


def keys_in(text: str, count: int) -> tuple[Any, ...]:
    """The groups' keys in such a text; without ``--by`` it is one group, or none."""
    table = arrow("ipc").open_stream(b64decode(text)).read_all()
    columns = [column.to_pylist() for column in table.columns]
    return tuple(zip(*columns, strict=True)) if columns else ((),) * count
