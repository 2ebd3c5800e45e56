"""Where rows go: a file that is there when it is whole, and not before; or a pipe."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO
from uuid import uuid4

from exprgrad.data.places import PIPE, store
from exprgrad.errors import RequestError

__all__ = ["grown_in", "locked", "placed", "settle", "target", "unfinished", "unwritable"]


def unfinished(path: str) -> str:
    """The file beside a target in which it grows."""
    folder, name = os.path.split(path)
    return os.path.join(folder, f".{name}.part")  # noqa: PTH118


@contextmanager
def target(path: str) -> Iterator[IO[bytes]]:
    """A file to write, which takes its place once all is on the disk; what is left half done is removed.

    Raises ``RequestError`` where it cannot be written, or another run is about to.
    """
    if path == PIPE:
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    remote = store(path)
    try:
        if remote is not None:
            with remote[0].transaction, remote[0].open(remote[1], "wb") as file:
                yield file
            return
        part = unfinished(path)
        with locked(part, path) as file, placed_or_removed(file, path, part):
            yield file
    except OSError as error:
        if isinstance(error, BrokenPipeError):
            raise
        raise unwritable(path, error) from None


@contextmanager
def grown_in(folder: str, path: str) -> Iterator[IO[bytes]]:
    """A file to write in a folder of such files, which takes its place as in ``target``.

    No other run writes it, and who is believed dead and does may: it comes to the same bytes.
    """
    remote = store(path)
    if remote is not None:
        remote[0].makedirs(remote[1].rpartition("/")[0], exist_ok=True)
        with target(path) as file:
            yield file
        return
    part = Path(folder, uuid4().hex)
    try:
        for one in (part.parent, Path(path).parent):
            one.mkdir(parents=True, exist_ok=True)
        with part.open("wb+") as file, placed_or_removed(file, path, str(part)):
            yield file
    except OSError as error:
        raise unwritable(path, error) from None


@contextmanager
def placed_or_removed(file: IO[bytes], path: str, part: str) -> Iterator[None]:
    """Give a file its place once it is written, or remove it where something keeps it from that."""
    try:
        yield
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
        return os.path.samestat(os.fstat(file.fileno()), os.stat(path))  # noqa: PTH116
    return False


def settle(path: str) -> None:
    """Write a file's new name to the disk, where a folder can be."""
    with suppress(OSError):
        folder = os.open(Path(path).parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
