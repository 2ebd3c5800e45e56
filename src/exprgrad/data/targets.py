"""Targets of rows: a pipe, or a file that appears once it is complete.

A record beside a target says what a run has done, so that another can continue it, to the same bytes.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import shutil
import stat
import sys
from base64 import b64decode, b64encode
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from itertools import chain, pairwise, takewhile
from math import inf
from pathlib import Path
from time import perf_counter
from typing import IO, Any, NamedTuple
from uuid import uuid4
from zlib import crc32

import numpy as np

from exprgrad.data.arrow import import_arrow
from exprgrad.data.format import BLOCK, Partition
from exprgrad.data.formats import FORMATS
from exprgrad.data.job import CORRECTED, KINK, BatchJob, Tally, prepare_kernel
from exprgrad.data.places import PIPE, STDIN, file_stamp, open_unpacked, remote_store, split_packing
from exprgrad.data.plans import BatchPlan, output_file
from exprgrad.data.sums import REDUCTIONS, Partial
from exprgrad.errors import InputError, RequestError

__all__ = [
    "Manifest", "RunProgress", "is_resumable", "open_manifest", "open_target", "part_path", "parts_folder",
    "run_versions",
]  # fmt: skip


def part_path(path: str) -> str:
    """The file beside a target in which it grows."""
    return str(Path(path).parent / f".{Path(path).name}.part")


@contextmanager
def open_target(path: str, folder: str = "") -> Iterator[IO[bytes]]:
    """A file to write, which takes its place once all is on the disk; what is left half done is removed.

    It grows beside its place, locked against other runs; or in a ``folder`` of such files, without a lock:
    a worker that is believed dead may still write the same bytes.  Raises ``RequestError`` where it cannot
    be written, or another run writes it.
    """
    if path == PIPE:
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    remote = remote_store(path)
    with file_errors(path):
        if remote is not None:
            if folder:
                remote[0].makedirs(remote[1].rpartition("/")[0], exist_ok=True)
            with remote[0].transaction, remote[0].open(remote[1], "wb") as file:
                yield file
            return
        part = part_path(path)
        grown: AbstractContextManager[IO[bytes]] = open_locked(part, path)
        if folder:
            part = str(Path(folder, uuid4().hex))
            for one in (part, path):
                Path(one).parent.mkdir(parents=True, exist_ok=True)
            if Path(folder).is_symlink():
                raise foreign_file_error(folder)
            grown = Path(part).open("xb+")  # noqa: SIM115
        with grown as file:
            try:
                yield file
                move_into_place(file, path, part)
            except BaseException:
                with suppress(OSError):
                    Path(part).unlink()
                raise


def move_into_place(file: IO[bytes], path: str, part: str) -> None:
    """Flush a finished file to disk and move it from ``part`` to ``path``."""
    file.flush()
    os.fsync(file.fileno())
    Path(part).replace(path)
    sync_folder(path)


@contextmanager
def file_errors(path: str) -> Iterator[None]:
    """Turn the system's errors into errors about the file that is written."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        raise RequestError("file", f"cannot write '{path}': {error.strerror or error}") from None


@contextmanager
def open_locked(part: str, path: str, is_kept: bool = False) -> Iterator[IO[bytes]]:
    """A file that this process alone writes; one that a killed run has left is begun again, or kept."""
    while True:
        file = open_own_file(part, is_made=True)
        try:
            if not try_lock(file):
                raise RequestError(
                    "file",
                    f"another run is writing '{path}'",
                    help="wait for it, or choose another file",
                )
            is_current = False  # another process may have moved the file to its place
            with suppress(OSError):
                is_current = os.path.samestat(os.fstat(file.fileno()), Path(part).stat())
            if is_current:
                if not is_kept:
                    file.truncate()
                yield file
                return
        finally:
            file.close()


def open_own_file(path: str, is_made: bool = False) -> IO[bytes]:
    """Open a file beside a target to read and write; with ``is_made`` it may be created.

    Its name can be foreseen, and others may write to the folder: raises ``RequestError`` for a link, for a
    file of two names, or of another user.
    """
    strict = (getattr(os, name, 0) for name in ("O_NOFOLLOW", "O_NONBLOCK", "O_BINARY"))
    flags = os.O_RDWR | sum(strict)  # which does not wait for who reads a pipe
    with suppress(FileExistsError):
        if is_made:
            return os.fdopen(os.open(path, flags | os.O_CREAT | os.O_EXCL, 0o666), "r+b")
    try:
        descriptor = os.open(path, flags)
    except FileNotFoundError:
        raise
    except OSError:
        raise foreign_file_error(path) from None
    about = os.fstat(descriptor)
    is_others = hasattr(os, "geteuid") and about.st_uid != os.geteuid()
    if is_others or about.st_nlink > 1 or not stat.S_ISREG(about.st_mode):
        os.close(descriptor)
        raise foreign_file_error(path)
    return os.fdopen(descriptor, "r+b")


def foreign_file_error(path: str) -> RequestError:
    """The error for a file beside a target that no run of this user has left."""
    return RequestError(
        "file",
        f"'{path}' is in the way: it is a link, or another user's",
        help="remove it, or write to another folder",
    )


def try_lock(file: IO[bytes]) -> bool:
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


def sync_folder(path: str) -> None:
    """Write a file's new name to the disk, where a folder can be."""
    with suppress(OSError):
        folder = os.open(Path(path).parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


# The record of a run.

SHARE = 10
"""The record of a run takes at most the time of the run divided by this."""
AFRESH = "without --resume it starts afresh"


class RunProgress(NamedTuple):
    """How far a run has come: ``done`` partitions, which take ``size`` bytes of the growing file.

    ``memo`` is what the writer has to know about the bytes since the previous mark, ``partial`` the reduced
    rows, if there are any.  ``checks`` has the checksum of those bytes, or that of each file in a folder.
    """

    done: int = 0
    tally: Tally = Tally()
    size: int = 0
    memo: str = ""
    partial: Partial | None = None
    checks: tuple[str, ...] = ()


class Manifest:
    """The record of a run: ``marks`` of how far it has come, and the growing ``file``, which is its own.

    All marks of a growing file are kept, otherwise the last alone.  ``damaged`` are the partitions whose
    files in a folder are written again; ``warning`` says so, or where a growing file begins again.
    """

    def __init__(
        self, file: IO[bytes], path: str, about: Mapping[str, Any], plan: BatchPlan
    ) -> None:
        self.file, self.path, self.about, self.plan = file, path, about, plan
        self.marks: list[RunProgress] = []
        self.damaged: list[Partition] = []
        self.warning = ""
        self.last = self.took = 0.0

    @property
    def reached(self) -> RunProgress:
        """The last mark."""
        return self.marks[-1] if self.marks else RunProgress()

    def is_due(self, done: int) -> bool:
        """Whether to record what is done: more often would slow down the run."""
        is_late = perf_counter() - self.last >= SHARE * self.took
        return done < len(self.plan.partitions) and is_late

    def note(self, reached: RunProgress) -> None:
        """Record how far the run has come, once what it wrote is on the disk."""
        self.last = perf_counter()
        self.file.flush()
        os.fsync(self.file.fileno())
        known = self.reached
        if self.plan.into_folder:
            new = self.plan.partitions[known.done : reached.done]
            checks = (*known.checks, *(output_checksum(self.plan, one) for one in new))
        else:
            checks = (file_checksum(self.file, known.size, reached.size),)
        marks = [*(self.marks if reached.size else ()), reached._replace(checks=checks)]
        listed = [
            {
                **one._asdict(),
                "tally": one.tally._asdict(),
                "partial": encode_partial(one.partial) if one.partial else "",
            }
            for one in marks
        ]
        document = json.dumps({**self.about, "reached": listed}, indent=1)
        place = manifest_path(self.path)
        remove_files([f"{place}.part"])
        with Path(f"{place}.part").open("xb") as file:
            file.write(seal_record(document.encode()[: -len("\n}")]))
            move_into_place(file, place, file.name)
        self.marks = marks
        self.took = perf_counter() - self.last

    def outlasts(self, error: BaseException) -> bool:
        """Whether another run can continue after an error: after one in a row only in a folder of files."""
        is_lost = isinstance(error, InputError) and not self.plan.into_folder
        return bool(self.marks) and not is_lost

    def finish(self) -> None:
        """Give the file that has all rows its place."""
        remove_files([manifest_path(self.path)])
        move_into_place(self.file, self.path, part_path(self.path))


def is_resumable(plan: BatchPlan, path: str) -> bool:
    """Whether another run can continue a run: it writes a file here, and does not read a pipe."""
    is_here = plan.into_folder or (
        remote_store(path) is None and (not plan.format or FORMATS[plan.format].resumes)
    )
    return (
        path != PIPE
        and is_here
        and not split_packing(path)[1]
        and all(one.source.path != STDIN for one in plan.partitions)
    )


def manifest_path(path: str) -> str:
    """The file beside a target that says how far the run has come."""
    return part_path(path).removesuffix("part") + "resume"


def parts_folder(plan: BatchPlan, path: str) -> str:
    """The folder in which files grow: beside a target, or within it if it is one."""
    return f"{path}/.parts" if plan.into_folder else f"{part_path(path)}s"


@contextmanager
def open_manifest(
    path: str, plan: BatchPlan, is_resumed: bool = False, by_content: bool = False
) -> Iterator[Manifest]:
    """Open the record of a run onto a target; once the run is complete, nothing is left beside that.

    After an error the record stays for another run, if that can continue: see ``Manifest.outlasts``.  The
    record of a target elsewhere is in the current folder.  Raises ``RequestError`` where an unfinished run
    has not done what this one would do.
    """
    what, given = request_settings(plan), path
    inputs = [
        (one.path, one.size, one.stamp, content_hash(one.path) if by_content else "")
        for one in dict.fromkeys(one.source for one in plan.partitions)
    ]
    about = {"what": what, "inputs": inputs}
    if remote_store(path) is not None:
        what["-o"] = path
        path = path.rpartition("/")[2]
    rests = [part_path(path), manifest_path(path), f"{manifest_path(path)}.part"]
    with file_errors(path), open_locked(rests[0], path, is_kept=True) as file:
        kept = Manifest(file, path, about, plan)
        if is_resumed:
            resume_run(kept)
        if not kept.marks:
            remove_files(rests[1:])
        try:
            with cleaning_partial_files(given, plan):
                yield kept
        except BaseException as error:
            if not kept.outlasts(error):
                remove_files(rests)
            raise
        remove_files(rests)


@contextmanager
def cleaning_partial_files(path: str, plan: BatchPlan) -> Iterator[None]:
    """Remove a folder's partial files before and after a run, and a new folder that stays empty.

    A remote store has none: its objects appear only when complete.
    """
    if remote_store(path) is not None:
        yield
        return
    folder, is_new = parts_folder(plan, path), plan.into_folder and not Path(path).exists()
    shutil.rmtree(folder, ignore_errors=True)
    try:
        yield
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        for one in (*sorted(Path(path).rglob("*"), reverse=True), Path(path)) if is_new else ():
            with suppress(OSError):  # of what is not empty
                one.rmdir()


def remove_files(paths: Sequence[str]) -> None:
    """Remove files, if they are there."""
    for path in paths:
        with suppress(OSError):
            Path(path).unlink()


# What decides the bytes.


def request_settings(plan: BatchPlan) -> dict[str, Any]:
    """Map names to all settings that decide what is written, apart from the rows."""
    job = plan.job
    return {
        "the formula": job.text,
        "NAME=VALUE": [[name, value.hex()] for name, value in job.constants],
        "--map": [list(pair) for pair in job.columns],
        "--of": list(job.of),
        "--wrt": list(job.wrt),
        "--hessian": job.hessian,
        "--show-digits": job.show_digits,
        "--correct": job.correct,
        "--where": job.where,
        "--bad-rows": job.bad,
        "--reduce": job.reduce,
        "--by": list(job.by),
        "the groups": "texts" if job.by_texts else "cells",
        "the layout of text": list(plan.partitions[0].source.layout[:3]),
        "the format": plan.format,
        "the columns": str(job.read if plan.schema is None else plan.schema),
        **run_versions(job),
    }


def run_versions(job: BatchJob) -> dict[str, str]:
    """Versions that must agree wherever a job is worked on, for its results to agree."""
    return {
        "the version of exprgrad": sys.modules["exprgrad"].__version__,  # no room imports the house
        "the version of pyarrow": import_arrow().__version__,
        "the version of NumPy": np.__version__,
        "the engine": prepare_kernel(job).engine,
    }


def content_hash(path: str) -> str:
    """Hash the content of a file."""
    with open_unpacked(path) as found:
        file: Any = found
        return hashlib.file_digest(file, "sha256").hexdigest()


def resume_run(kept: Manifest) -> None:
    """Go on where an unfinished run has ended; an error if this one would not have come there."""
    place, plan = manifest_path(kept.path), kept.plan
    if not os.path.lexists(place):
        return
    try:
        with open_own_file(place) as file:
            document = unseal_record(file.read())
        kept.marks = [progress_from_json(one, plan) for one in document["reached"]]
        refuse_other_runs(kept, document)
        drop_damaged_marks(kept)
        memos = [one.memo for one in kept.marks]
        if any(memos):
            FORMATS[plan.format].writer(io.BytesIO(), plan.schema, kept.reached.size, memos)
    except (
        LookupError,
        ValueError,
        TypeError,
        OverflowError,
        RecursionError,
        RuntimeError,
        OSError,
    ):
        raise RequestError(
            "unfinished",
            f"the record of the unfinished run onto '{kept.path}' is damaged: '{place}'",
            help=AFRESH,
        ) from None


def refuse_other_runs(kept: Manifest, document: Mapping[str, Any]) -> None:
    """Refuse to continue a run that had another request, or has read files that have changed."""
    path, plan, what, reached = kept.path, kept.plan, document["what"], kept.marks[-1]
    for name, value in kept.about["what"].items():
        if what.get(name) != value:
            raise cannot_resume_error(path, describe_difference(name, what.get(name)))
    if reached.done > len(plan.partitions):
        raise cannot_resume_error(path, "it has read more than --data names")
    read = dict.fromkeys(one.source.path for one in plan.partitions[: reached.done])
    pairs = [some["inputs"][: len(read)] for some in (document, kept.about)]
    for then, now in zip(*pairs, strict=True):
        check_input(path, *([*map(str, one)] for one in (then, now)))


def drop_damaged_marks(kept: Manifest) -> None:
    """Drop the marks from the first on whose bytes are not what was written; note damaged files."""
    plan = kept.plan
    if plan.into_folder:
        pairs = zip(plan.partitions, kept.reached.checks, strict=False)
        kept.damaged = [one for one, check in pairs if output_checksum(plan, one) != check]
        names = [output_file(str(plan.path), plan.format, one.source) for one in kept.damaged]
        more = f"; nor are {len(names) - 1:,} more" * (len(names) > 1)
        again = f"is not what was written there, and is written again{more}"
        kept.warning = f"'{names[0]}' {again}" if names else ""
        return
    sizes = [0, *(one.size for one in kept.marks)]
    found = [(file_checksum(kept.file, *pair),) for pair in pairwise(sizes)]
    whole = [one for one, check in zip(kept.marks, found, strict=True) if one.checks == check]
    if len(whole) < len(kept.marks):
        kept.marks = [*takewhile(whole.__contains__, kept.marks)]
        after = f"after partition {kept.reached.done:,}" if kept.marks else "from its beginning"
        kept.warning = f"the unfinished '{kept.path}' was damaged, and is written again {after}"


def file_checksum(file: IO[bytes], start: int = 0, end: float = inf) -> str:
    """Return where some bytes of a file end, and their checksum; the position in the file stays."""
    here, found = file.tell(), 0
    file.seek(start)
    while start < end and (block := file.read(int(min(BLOCK, end - start)))):
        found = crc32(block, found)
        start += len(block)
    file.seek(here)
    return f"{start}:{found:08x}"


def output_checksum(plan: BatchPlan, partition: Partition) -> str:
    """Return a file's checksum, or the size and the tag of an object in a store; "" without a file."""
    path = output_file(str(plan.path), plan.format, partition.source)
    with suppress(OSError, RequestError):
        if remote_store(path) is not None:
            return ":".join(map(str, file_stamp(path)))
        with Path(path).open("rb") as file:
            return file_checksum(file)
    return ""


def check_input(path: str, then: Sequence[str], now: Sequence[str]) -> None:
    """An error for a file that is not what was read for an unfinished run."""
    if then[0] != now[0]:
        raise cannot_resume_error(path, f"it read '{then[0]}' instead of '{now[0]}'")
    if now[3] and not then[3]:
        raise cannot_resume_error(path, "it was begun without --check-content")
    is_same = then[3] == now[3] if now[3] else then[:3] == now[:3]
    if not is_same:
        raise cannot_resume_error(path, f"'{now[0]}' has changed since")


def describe_difference(name: str, was: Any) -> str:
    """Name a setting that differs from the record, with its recorded value as one would type it."""
    if name == "the columns":
        return "the columns to write, or their types, have changed"
    if name == "NAME=VALUE":
        was = [f"{key}={float.fromhex(value):.17g}" for key, value in was]
    elif name == "--map":
        was = [f"{key}={column}" for key, column in was if key != column]
    listed = ",".join(was) if isinstance(was, list) else str(was)
    return f"{name} is not what it was: {listed or 'nothing'}"


def cannot_resume_error(path: str, why: str) -> RequestError:
    """Make the error for an unfinished run that cannot be continued."""
    return RequestError(
        "unfinished", f"cannot resume the unfinished run onto '{path}': {why}", help=AFRESH
    )


# As JSON, to the last bit.

SEAL = b',\n "checksum": "'
"""The separator between a record and its checksum."""
RECORD = {
    "what": {str: object},
    "inputs": [(str, int, str, str)],
    "reached": [{
        "done": int, "size": int, "memo": str, "checks": [str],
        "tally": {
            "rows": int, "kinks": int, "bad": {str: int}, "first": {str: [(str, int)]},
            "undefined": {str: int}, "converted": {str: int}, "lost": {str: int}, "corrected": int,
        },
        "partial": str,
    }],
    "checksum": str,
}  # fmt: skip
"""The form of a record: see ``has_form``."""


def seal_record(body: bytes) -> bytes:
    """Complete a record by its checksum."""
    return b"".join([body, SEAL, hashlib.sha256(body).hexdigest().encode(), b'"\n}'])


def unseal_record(content: bytes) -> Any:
    """Read a record; raises ``ValueError`` and others where it is damaged, or is not one."""
    document = json.loads(content)
    if content != seal_record(content.rpartition(SEAL)[0]) or not has_form(document, RECORD):
        raise ValueError
    return document


def has_form(value: Any, form: Any) -> bool:
    """Whether a value from JSON has a form: a type; a list of one; a tuple of several; an object's fields.

    An object whose form has the field ``str`` may have any fields, of that form.
    """
    if isinstance(form, list):
        return isinstance(value, list) and all(has_form(one, form[0]) for one in value)
    if isinstance(form, tuple):
        return (
            isinstance(value, list) and len(value) == len(form) and all(map(has_form, value, form))
        )
    if isinstance(form, dict):
        if not isinstance(value, dict):
            return False
        forms = dict.fromkeys(value, form[str]) if str in form else form
        return value.keys() == forms.keys() and all(
            has_form(value[key], forms[key]) for key in value
        )
    return isinstance(value, form)


def progress_from_json(plain: Mapping[str, Any], plan: BatchPlan) -> RunProgress:
    """Read a run's progress from JSON; raises ``ValueError`` and others for anything else."""
    fields = plain["tally"]
    bad, first = fields["bad"], fields["first"]
    places = {key: tuple(map(tuple, some)) for key, some in first.items() if some}
    counted = [key for key, name in ((KINK, "kinks"), (CORRECTED, "corrected")) if fields[name]]
    has_places = {*bad, *counted} <= places.keys()
    if not has_places or plain["done"] < 1:
        raise ValueError
    tally, checks = Tally(**{**fields, "first": places}), tuple(plain["checks"])
    partial = decode_partial(plain["partial"], plan) if plan.job.reduce else None
    return RunProgress(**{**plain, "tally": tally, "partial": partial, "checks": checks})


def encode_partial(partial: Partial) -> str:
    """Encode reduced rows as text: a table of Arrow's with the key of each group, then its numbers."""
    pa, file = import_arrow(), io.BytesIO()
    numbers = [*partial.rows, *np.concatenate(partial.high), *np.concatenate(partial.low)]
    columns = [*map(pa.array, [*zip(*partial.keys, strict=True), *numbers])]
    table = pa.table(columns, [str(at) for at in range(len(columns))])
    with import_arrow("ipc").new_stream(file, table.schema) as writer:
        writer.write_table(table)
    return b64encode(file.getvalue()).decode()


def decode_partial(text: str, plan: BatchPlan) -> Partial:
    """Decode reduced rows from such a text; raises ``ValueError`` and others for one of another form.

    Without ``--by`` there is one group, or none.
    """
    pa, job, results = import_arrow(), plan.job, len(plan.names)
    scales, by = REDUCTIONS[job.reduce].scales, len(job.by)
    table = import_arrow("ipc").open_stream(b64decode(text)).read_all()
    table.validate(full=True)
    cells = [column.to_pylist() for column in table.columns[:by]]
    keys = tuple(zip(*cells, strict=True)) if by else ((),) * table.num_rows
    kinds = {type(cell) for cell in chain(*cells)} if job.by_texts else {str}
    numeric = [pa.int64()] * (1 + results) + [pa.float64()] * (2 * scales * results)
    is_plain = kinds <= {str, type(None)} and table.schema.types[by:] == numeric
    if not is_plain or len({*keys}) < len(keys):
        raise ValueError
    rows = np.array(table.columns[by : by + 1 + results])
    high, low = np.array(table.columns[by + 1 + results :]).reshape(2, scales, results, -1)
    return Partial(keys, rows, high, low)
