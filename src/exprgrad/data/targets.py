"""Where rows go: a pipe, a file that is there when it is whole, and not before, or a folder of those."""

from __future__ import annotations

import os
import shutil
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import IO, Any
from uuid import uuid4

from exprgrad.data.arrow import arrow
from exprgrad.data.footers import ParquetWriter
from exprgrad.data.formats import BY_ENDING, FORMATS, Partition, RowWriter
from exprgrad.data.places import (
    PIPE,
    STDIN,
    RowFile,
    exists,
    files_of,
    is_inside,
    keys_of,
    store,
    without_packing,
)
from exprgrad.errors import RequestError

__all__ = [
    "before", "check_folder", "growing", "is_folder", "keys_in_names", "locked", "output_of", "placed",
    "settle", "target", "unfinished", "unwritable", "whole_of",
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
    try:
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
    except OSError as error:
        if isinstance(error, BrokenPipeError):
            raise
        raise unwritable(path, error) from None


def placed(file: IO[bytes], path: str, part: str) -> None:
    """Give a file that has grown elsewhere its place, once it is on the disk."""
    file.flush()
    os.fsync(file.fileno())
    Path(part).replace(path)
    settle(path)


def unwritable(path: str, error: OSError) -> RequestError:
    """The error for a file that cannot be written."""
    return RequestError("file", f"cannot write '{path}': {error.strerror or error}")


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
    """What writes rows to a file behind its first bytes, whose ``memo`` that is."""
    if not (size and Path(before(part)).exists()):
        file.truncate(size)
    file.seek(size)
    if format == "parquet":
        return ParquetWriter(file, schema, memo)
    if format == "arrow":
        return growing_arrow(file, schema, part)
    return growing_text(file, schema, format)


# Folders: a file for each file that is read, under the same name.


def is_folder(path: str | None) -> bool:
    """Whether a target is a folder: it is called so, or is one already."""
    return path is not None and (path.endswith(("/", os.sep)) or Path(path).is_dir())


def output_of(path: str, format: str, source: RowFile) -> str:
    """The file in a folder that the rows of another file go to."""
    bare, packing = without_packing(source.name)
    name = source.name
    if source.format != format:
        name = bare[: bare.rindex(".")] + FORMATS[format].endings[0]
    elif packing != "gzip":
        name = bare
    return f"{path}/{name}"


def keys_in_names(sources: Sequence[RowFile]) -> set[str]:
    """The columns that the names of folders say which are made anew: files don't have to say them again."""
    said = [{key.name for key in keys} for keys in keys_of([source.name for source in sources])]
    return set.intersection(*said)


def check_folder(path: str, format: str, sources: Sequence[RowFile], data: Iterable[str]) -> None:
    """Errors for a folder that cannot be written, or whose rows would be mixed up with others."""
    if any(source.path == STDIN for source in sources):
        message = "rows from a pipe have no name that a file in a folder could have"
        raise RequestError("usage", message, help="name a file: -o FILE")
    for given in data:
        if is_inside(path, given) or any(is_inside(source.path, path) for source in sources):
            message = f"'{path}' is read, and so cannot be written"
            raise RequestError("file", message, help="name another folder")
    outputs = [output_of(path, format, source) for source in sources]
    twice = next((name for name, count in Counter(outputs).items() if count > 1), None)
    if twice is not None:
        message = f"two files would be written to '{twice}'"
        raise RequestError("usage", message, help="give one folder, or one glob, that has all")
    if not exists(path):
        return
    if store(path) is None and not Path(path).is_dir():
        raise RequestError("file", f"cannot write into '{path}': it is a file")
    known = {name.removeprefix(f"{path}/") for name in outputs}
    others = [name for _, name in files_of(path, tuple(BY_ENDING)) if name not in known]
    if others:
        message = f"'{path}' holds rows that this run would not write: '{others[0]}'"
        raise RequestError("file", message, help="name another folder, or remove what is there")


def whole_of(source: RowFile) -> list[Partition]:
    """A file as one partition."""
    rows = sum(FORMATS[source.format].pieces(source))
    return [Partition(source, rows=rows or -1)]
