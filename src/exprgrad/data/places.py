"""Finds and opens rows: in files, globs, folders, object stores, standard input."""

from __future__ import annotations

import csv
import glob
import io
import os
import re
import sys
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from functools import lru_cache
from pathlib import Path
from typing import IO, Any, NamedTuple

from exprgrad.data.arrow import import_arrow
from exprgrad.errors import (
    InputError,
    MissingExtraError,
    RequestError,
    command_or_python,
    import_extra,
    install_command,
)
from exprgrad.run.values.files import unreadable_file
from exprgrad.run.values.layouts import Layout

__all__ = [
    "HEAD", "LONGEST", "PACKED", "PIPE", "STDIN", "UNPACKED", "FolderKey", "RowFile", "expand_path",
    "file_stamp", "find_row_files", "folder_keys", "is_inside_folder", "open_packed", "open_unpacked",
    "read_head", "remote_store", "split_packing", "standard_input",
]  # fmt: skip

PIPE = "-"
"""The name of a file that means standard input, or output."""
STDIN = "standard input"
"""Its name in messages."""
PACKED = {".gz": "gzip", ".bz2": "bz2", ".zst": "zstd", ".zip": "zip"}
"""The ending of a packed text → what packs it."""
WORKBOOK = ".xlsx"
"""The ending of a workbook, whose sheets are read as CSV."""
UNPACKED = {
    b"\x1f\x8b": "zcat", b"BZh": "bzcat", b"(\xb5/\xfd": "zstdcat", b"\xfd7zXZ\0": "xzcat",
    b"PK\x03\x04": "unzip -p",
}  # fmt: skip
"""The first bytes of packed files → the command that unpacks them for a pipe."""
TABLES = {
    "_delta_log/*": ("Delta", "deltalake.DeltaTable({!r}).to_pandas()"),
    "metadata/*.metadata.json": (
        "Iceberg",
        "pyiceberg: catalog.load_table(NAME).scan().to_pandas()",
    ),
    ".hoodie/*": ("Hudi", "hudi: what its table reads as Arrow"),
}
"""Files of a table with deleted rows, within its folder → its kind, and what reads it."""
HEAD = 2**20
"""The bytes at the beginning of a text that say what its columns are."""
LONGEST = 2**26
"""The longest line, in bytes; a quote that is still open by then is an ordinary character."""
IGNORED = (".", "_")
"""Beginnings of the names of files in a folder that hold no rows."""
KEY = re.compile(r"([\w .%-]+)=(.*)")
"""A folder's name that states a column, such as ``year=2024``, as in Hive."""
NO_CELL = "__HIVE_DEFAULT_PARTITION__"
"""Texts of a missing cell."""


class FolderKey(NamedTuple):
    """A column that a folder's name states: the same cell in each row.

    ``inside`` is the Arrow type of the file's own column of that name, if it has one.
    """

    name: str
    cell: int | str | None
    is_whole: bool = False
    inside: Any = None


class RowFile(NamedTuple):
    """A file of rows, with its size, and its time or tag, which tell whether it has changed.

    ``name`` is its name within the folder, or the glob, that stands for it.  ``layout`` is that of a text:
    the requested one, until the file is sampled.
    """

    path: str
    format: str
    size: int = 0
    stamp: str = ""
    name: str = ""
    keys: tuple[FolderKey, ...] = ()
    layout: Layout = Layout()


def remote_store(path: str) -> tuple[Any, str] | None:
    """Return the file system of a URL, and the path in it; None for a path on this machine."""
    if "://" not in path:
        return None
    fsspec = import_extra(
        "fsspec", f"'{path}' is not a path on this machine: to reach it needs fsspec"
    )
    try:
        files, inside = fsspec.core.url_to_fs(path)
    except ImportError as error:
        names = re.findall(r'"([\w.-]+)"|^Install (\S+)', str(error))
        raise MissingExtraError(
            "missing-fsspec",
            f"'{path}' cannot be reached: {error}",
            help=install_command(" ".join(map("".join, names))) if names else None,
        ) from None
    except (ValueError, OSError) as error:
        raise RequestError("file", f"cannot reach '{path}': {error}") from None
    return files, inside


def find_row_files(paths: Sequence[str], endings: Iterable[str]) -> list[tuple[str, str]]:
    """Find the files that paths, globs and folders stand for, in order; an error if there are none.

    Each comes with its name within the folder, or the glob.
    """
    known = tuple(endings)
    found: list[tuple[str, str]] = []
    for path in paths:
        if not path:
            raise RequestError("file", "--data names no file: it is empty")
        listed = [(STDIN, "")] if path == PIPE else [*expand_path(path, known)]
        if not listed:
            raise RequestError(
                "file",
                f"'{path}' has no files of rows",
                help=f"their endings are {', '.join(known)}",
            )
        found += listed
    refuse_logged_tables(one for one, _ in found)
    met: set[str] = set()
    for path, _ in found:
        real = path if "://" in path else os.path.realpath(path)
        if real in met:
            raise RequestError(
                "usage", f"'{path}' is given twice", help="name it once, or its rows count twice"
            )
        met.add(real)
    return found


def refuse_logged_tables(paths: Iterable[str]) -> None:
    """An error for Parquet files of a table whose log says which of their rows are deleted.

    Web servers are not asked: they don't list what a folder holds.
    """
    met: set[str] = set()
    for path in paths:
        is_asked = path.lower().endswith((".parquet", ".pq")) and not path.startswith("http")
        place = path if "://" in path else os.path.realpath(path).replace(os.sep, "/")
        folders = place.split("/")[:-1] if is_asked else []
        while folders and folders[-1] and (folder := "/".join(folders)) not in met:
            met.add(folder)
            is_key = KEY.fullmatch(folders.pop())  # which no table is called, and there are many
            for sign, (kind, reader) in () if is_key else TABLES.items():
                if [*expand_path(f"{glob.escape(folder)}/{sign}", ())]:
                    raise RequestError(
                        "unknown-format",
                        f"'{path}' is part of a table of {kind}, whose files hold deleted rows too",
                        help=f"read it in Python, and pass the frame: f.batch({reader.format(folder)}, …)",
                    )


def expand_path(path: str, endings: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """Yield the files that one path stands for, and their names within it."""
    remote = remote_store(path)
    if remote is not None:
        files, inside = remote
        listed = [inside]
        if is_glob(path):
            met = files.glob(inside, detail=True).items()
            listed = [one for one, about in met if about["type"] != "directory"]
        if not is_glob(path) and files.isdir(inside):
            inside += "/*"
            listed = [
                one
                for one in files.find(listed[0])
                if is_row_file(relative_file_name(one, inside), endings)
            ]
        yield from (
            (files.unstrip_protocol(one), relative_file_name(one, inside)) for one in sorted(listed)
        )
    elif Path(path).is_dir():
        files = (one for one in Path(path).rglob("*") if one.is_file())
        named = sorted((str(one), one.relative_to(path).as_posix()) for one in files)
        yield from ((one, name) for one, name in named if is_row_file(name, endings))
    elif is_glob(path) and not Path(path).exists():
        every = sorted(glob.glob(path, recursive=True))  # noqa: PTH207
        yield from ((one, relative_file_name(one, path)) for one in every if not Path(one).is_dir())
    else:
        yield path, relative_file_name(path, path)


def relative_file_name(path: str, given: str) -> str:
    """A file's name below the last folder that a path or a glob names without a sign."""
    split = (one.replace(os.sep, "/").split("/") for one in (path, given))
    parts, folders = ([part for part in some if part not in ("", ".")] for some in split)
    fixed = next((at for at, one in enumerate(folders) if is_glob(one)), len(folders) - 1)
    return "/".join(parts[fixed:])


def folder_keys(paths: Sequence[str]) -> list[tuple[FolderKey, ...]]:
    """List by file the columns that its folders' names state: whole numbers, where all of them are."""
    from urllib.parse import unquote

    found = []
    for path in paths:
        folders = path.replace(os.sep, "/").split("/")[:-1]
        pairs = [match.groups() for match in map(KEY.fullmatch, folders) if match]
        found.append(
            {unquote(name): None if cell == NO_CELL else unquote(cell) for name, cell in pairs}
        )
    texts = {(name, cell) for keys in found for name, cell in keys.items() if cell is not None}
    words = {name for name, cell in texts if not re.fullmatch(r"-?\d{1,18}", cell)}
    wholes = {name for name, _ in texts} - words
    return [
        tuple(
            FolderKey(
                name, int(cell) if cell is not None and name in wholes else cell, name in wholes
            )
            for name, cell in keys.items()
        )
        for keys in found
    ]


def is_inside_folder(path: str, folder: str) -> bool:
    """Whether a path is a folder, or one within it."""
    if "://" in path or "://" in folder:
        return f"{path}/".startswith(folder.rstrip("/") + "/")
    return Path(os.path.realpath(path)).is_relative_to(os.path.realpath(folder))


def is_glob(path: str) -> bool:
    """Whether a path stands for several."""
    return any(sign in path for sign in "*?[")


def is_row_file(name: str, endings: tuple[str, ...]) -> bool:
    """Whether a file in a folder has rows: by its name, and the folders in between."""
    bare = split_packing(name)[0].lower()
    return bare.endswith(endings) and not any(part[:1] in IGNORED for part in name.split("/"))


def file_stamp(path: str) -> tuple[int, str]:
    """Return a file's size, and its time in nanoseconds or its tag; an error if it is missing."""
    if path == STDIN:
        return 0, ""
    remote = remote_store(path)
    try:
        if remote is not None:
            info = remote[0].info(remote[1])
            marks = (info.get(key) for key in ("ETag", "etag", "mtime", "LastModified", "created"))
            return int(info.get("size") or 0), str(next(filter(None, marks), ""))
        found = Path(path).stat()
        return found.st_size, str(found.st_mtime_ns)
    except (OSError, ValueError) as error:
        raise unreadable_file_error(path, error) from None


def unreadable_file_error(path: str, error: Exception) -> RequestError:
    """The error for a file that cannot be opened; near names are suggested."""
    help = None
    if isinstance(error, FileNotFoundError):
        from exprgrad.language.mistakes.hints import nearest_word

        with suppress(OSError):
            names = sorted(one.name for one in Path(path).parent.iterdir())
            near = nearest_word(Path(path).name, names)
            help = f"did you mean '{near}'?" if near else None
    return unreadable_file(path, error, help)


@lru_cache(maxsize=1)
def buffered_stream(stream: Any) -> io.BufferedReader:
    """Wrap a stream, once, so that it can be looked into before it is read."""
    return io.BufferedReader(stream, HEAD)


def standard_input() -> io.BufferedReader:
    """Standard input."""
    return buffered_stream(getattr(sys.stdin, "buffer", None) or io.BytesIO())


def open_unpacked(path: str, sheet: str = "") -> AbstractContextManager[IO[bytes]]:
    """A file, open for reading: unpacked, and a sheet of a workbook as CSV."""
    if path == STDIN:
        return nullcontext(standard_input())
    remote = remote_store(path)
    try:
        file: IO[bytes] = remote[0].open(remote[1], "rb") if remote else Path(path).open("rb")  # noqa: SIM115
    except (OSError, ValueError) as error:
        raise unreadable_file_error(path, error) from None
    packing = split_packing(path)[1]
    if packing == "zip" or path.lower().endswith(WORKBOOK):
        with file:
            return open_zipped(file, path) if packing else read_sheet(file, path, sheet)
    if hasattr(file, "peek") and file.peek(2).startswith((BOM_UTF16_LE, BOM_UTF16_BE)):
        file = import_arrow().transcoding_input_stream(
            import_arrow().PythonFile(file, "r"), "utf-16", "utf-8"
        )
    return import_arrow().CompressedInputStream(file, packing) if packing else file


def open_zipped(file: IO[bytes], path: str) -> IO[bytes]:
    """The only file in an archive."""
    from zipfile import BadZipFile, ZipFile

    try:
        archive = ZipFile(io.BytesIO(file.read()))
    except BadZipFile:
        raise InputError("bad-file", f"'{path}' is not a whole zip file") from None
    names = [one for one in archive.namelist() if not one.endswith("/") and "__MACOSX/" not in one]
    if len(names) != 1:
        raise InputError(
            "bad-file",
            f"'{path}' holds {len(names)} files, and one is read",
            help=f"unpack it, and name one: {', '.join(names[:8])}",
        )
    return archive.open(names[0])


def read_sheet(file: IO[bytes], path: str, wanted: str) -> IO[bytes]:
    """A sheet of a workbook as CSV: the one with rows, if none is named."""
    calamine = import_extra(
        "python_calamine", f"'{path}' is a workbook: to read it needs python-calamine"
    )
    try:
        book = calamine.CalamineWorkbook.from_filelike(file)
        sheets = {name: book.get_sheet_by_name(name).to_python() for name in book.sheet_names}
    except calamine.CalamineError as error:
        raise InputError("bad-file", f"cannot read '{path}': {error}") from None
    named = [wanted] if wanted in sheets else [name for name in sheets if sheets[name]]
    if len(named) != 1 or wanted not in ("", *named):
        choices = " or ".join(
            command_or_python(f'--sheet "{name}"', f"sheet={name!r}") for name in named
        )
        raise RequestError(
            "sheet",
            f"'{path}' has no sheet '{wanted}'" if wanted else f"'{path}' has {len(named)} sheets",
            help=choices or None,
        )
    lines = io.StringIO()
    rows = (  # all numbers are doubles, and each cell is one line
        [" ".join(str(cell).split()).removesuffix(".0" * isinstance(cell, float)) for cell in row]
        for row in sheets[named[0]]
    )
    csv.writer(lines, lineterminator="\n").writerows(row for row in rows if any(row))
    return io.BytesIO(lines.getvalue().encode())


def split_packing(path: str) -> tuple[str, str]:
    """A file's name without the ending that says it is packed, and what packs it, if anything does."""
    for ending, name in PACKED.items():
        if path.lower().endswith(ending):
            return path[: -len(ending)], name
    return path, ""


def open_packed(file: IO[bytes], path: str) -> AbstractContextManager[Any]:
    """Open a file to write, packed if its ending says so; the file itself stays open."""
    if not split_packing(path)[1]:
        return nullcontext(file)
    import gzip

    return gzip.GzipFile(
        "", "wb", fileobj=file, mtime=0
    )  # no name and no time: equal rows, equal bytes


def read_head(path: str, sheet: str = "") -> bytes:
    """Read the beginning of a file: its first line, at least."""
    if path == STDIN:
        start = standard_input().peek(HEAD)
        if len(start) >= HEAD and b"\n" not in start.lstrip():
            raise InputError(
                "bad-file",
                f"the first line of {STDIN} has more than {HEAD:,} bytes",
                help="give the file's name: --data FILE",
            )
        return start
    with open_unpacked(path, sheet) as file:
        start = file.read(HEAD)
        return start if b"\n" in start.lstrip() else start + file.read(LONGEST)
