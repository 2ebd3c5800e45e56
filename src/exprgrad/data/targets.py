"""Where rows go: a pipe, or a file that is there when it is whole, and not before.

Beside a target stands what a run has done: another goes on where it ended, to the same bytes.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import shutil
import sys
from base64 import b64decode, b64encode
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from time import perf_counter
from typing import IO, Any, NamedTuple
from uuid import uuid4

import numpy as np

from exprgrad.data.arrow import arrow
from exprgrad.data.formats import FORMATS, ParquetWriter, RowWriter
from exprgrad.data.job import Job, Tally, prepared
from exprgrad.data.places import PIPE, STDIN, exists, opened, store, without_packing
from exprgrad.data.plans import BatchPlan, output_of
from exprgrad.data.sums import REDUCTIONS, Partial
from exprgrad.errors import InputError, RequestError

__all__ = [
    "Manifest", "Reached", "growing", "manifest_beside", "parts_folder", "resumable", "target",
    "unfinished", "versions",
]  # fmt: skip


def unfinished(path: str) -> str:
    """The file beside a target in which it grows."""
    return str(Path(path).parent / f".{Path(path).name}.part")


@contextmanager
def target(path: str, folder: str = "") -> Iterator[IO[bytes]]:
    """A file to write, which takes its place once all is on the disk; what is left half done is removed.

    It grows beside its place, and no other run may write it; or in a ``folder`` of such files, where none
    does: who is believed dead may go on, to the same bytes.  Raises ``RequestError`` where it cannot be
    written, or another run is about to.
    """
    if path == PIPE:
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    remote = store(path)
    with writing(path):
        if remote is not None:
            if folder:
                remote[0].makedirs(remote[1].rpartition("/")[0], exist_ok=True)
            with remote[0].transaction, remote[0].open(remote[1], "wb") as file:
                yield file
            return
        part = unfinished(path)
        grown: AbstractContextManager[IO[bytes]] = locked(part, path)
        if folder:
            part = str(Path(folder, uuid4().hex))
            for one in (part, path):
                Path(one).parent.mkdir(parents=True, exist_ok=True)
            grown = Path(part).open("wb+")  # noqa: SIM115
        with grown as file:
            try:
                yield file
                placed(file, path, part)
            except BaseException:
                with suppress(OSError):
                    Path(part).unlink()
                raise


def placed(file: IO[bytes], path: str, part: str) -> None:
    """Give a file that has grown elsewhere its place, once it is on the disk."""
    file.flush()
    os.fsync(file.fileno())
    Path(part).replace(path)
    settle(path)


@contextmanager
def writing(path: str) -> Iterator[None]:
    """What is done to write a file: an error of the system is then one about it."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        message = f"cannot write '{path}': {error.strerror or error}"
        raise RequestError("file", message) from None


@contextmanager
def locked(part: str, path: str, is_kept: bool = False) -> Iterator[IO[bytes]]:
    """A file that this process alone writes; one that a killed run has left is begun again, or kept."""
    while True:
        file = open(os.open(part, os.O_RDWR | os.O_CREAT, 0o666), "r+b")  # noqa: PTH123, SIM115
        try:
            if not lock(file):
                message = f"another run is writing '{path}'"
                raise RequestError("file", message, help="wait for it, or choose another file")
            if is_named(file, part):
                if not is_kept:
                    file.truncate()
                yield file
                return
        finally:
            file.close()


def lock(file: IO[bytes]) -> bool:
    """Whether no other process holds a file, which this one does from now on, until it is closed."""
    try:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def is_named(file: IO[bytes], path: str) -> bool:
    """Whether a path is still that of an open file: whoever held it may have moved it to its place."""
    with suppress(OSError):
        return os.path.samestat(os.fstat(file.fileno()), Path(path).stat())
    return False


def settle(path: str) -> None:
    """Write a file's new name to the disk, where a folder can be."""
    with suppress(OSError):
        folder = os.open(Path(path).parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


# Files that grow part by part: after each, another process can go on with them.


def growing_text(file: IO[bytes], schema: Any, format: str) -> RowWriter:
    """Texts: a line is a line wherever it stands."""
    end = file.tell()
    file.seek(0)
    rows = FORMATS[format].writer(file, schema)  # its header is the same each time
    file.seek(max(end, file.tell()))
    return rows


def growing_arrow(file: IO[bytes], schema: Any, part: str) -> RowWriter:
    """An Arrow file, whose footer nobody can write but who wrote the rest: to go on it is written anew."""
    old = Path(before(part))
    if file.tell() and not old.exists():
        beside = f"{old}.part"
        with Path(beside).open("wb") as copy:
            file.seek(0)
            shutil.copyfileobj(file, copy)
            placed(copy, str(old), beside)
    file.seek(0)
    file.truncate()
    found = FORMATS["arrow"].writer(file, schema)
    if old.exists():
        with arrow().memory_map(str(old)) as rows:
            rows.seek(len(b"ARROW1\0\0"))
            for batch in arrow("ipc").open_stream(rows):
                found.write(batch)
        file.flush()
        os.fsync(file.fileno())
        old.unlink()
    return found


def before(part: str) -> str:
    """What an Arrow file was before it was gone on with: while this is there, it is what counts."""
    return f"{part}.before"


def growing(
    file: IO[bytes], part: str, schema: Any, format: str, size: int, memo: str
) -> RowWriter:
    """What writes rows to a file after its first bytes, whose ``memo`` that is."""
    if not (size and Path(before(part)).exists()):
        file.truncate(size)
    file.seek(size)
    if format == "parquet":
        return ParquetWriter(file, schema, memo)
    if format == "arrow":
        return growing_arrow(file, schema, part)
    return growing_text(file, schema, format)


# The record of a run.

SHARE = 10
"""Writing down what is done may take one part in so many of the time."""
AFRESH = "without --resume it starts afresh"


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
    with writing(path), locked(rests[0], path, is_kept=True) as file:
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
            raise other_run(path, f"'{output}' no longer exists")
    return reached


def check_input(path: str, then: Sequence[str], now: Sequence[str]) -> None:
    """An error for a file that is not what was read for an unfinished run."""
    if then[0] != now[0]:
        raise other_run(path, f"it read '{then[0]}' instead of '{now[0]}'")
    if now[3] and not then[3]:
        raise other_run(path, "it was begun without --check-content")
    is_same = then[3] == now[3] if now[3] else then[:3] == now[:3]
    if not is_same:
        raise other_run(path, f"'{now[0]}' has changed since")


def difference(name: str, was: Any) -> str:
    """What is not what it was, and what that is, as it is typed."""
    if name == "the columns":
        return "the columns to write, or their types, have changed"
    if name == "NAME=VALUE":
        was = [f"{key}={float.fromhex(value):.17g}" for key, value in was]
    elif name == "--map":
        was = [f"{key}={column}" for key, column in was if key != column]
    listed = ",".join(was) if isinstance(was, list) else str(was)
    return f"{name} is not what it was: {listed or 'nothing'}"


def other_run(path: str, why: str) -> RequestError:
    """The error for an unfinished run that cannot be gone on with."""
    return RequestError(
        "unfinished", f"cannot resume the unfinished run onto '{path}': {why}", help=AFRESH
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
