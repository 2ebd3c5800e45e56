"""The formats of rows in files: each module binds one ``Format`` in capitals, or a few similar ones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

from exprgrad.data.arrow import arrow_doubles, broken_file_error, cast_to_text, import_arrow
from exprgrad.data.format import Format, Partition
from exprgrad.data.places import (
    STDIN,
    FolderKey,
    RowFile,
    file_stamp,
    split_packing,
    standard_input,
)
from exprgrad.data.threads import Threads
from exprgrad.errors import InputError, RequestError

__all__ = [
    "BY_ENDING", "FORMATS", "format_by_ending", "inspect_row_file", "read_batches", "sample_file",
    "split_into_partitions",
]  # fmt: skip

PARTITION = 2**22
"""The least rows of a partition, in files whose pieces can be read independently."""


def find_formats() -> dict[str, Format]:
    """Find the formats by name, in the order of lists."""
    modules = [import_module(f"{__name__}.{module.name}") for module in iter_modules(__path__)]
    rows = [row for one in modules for row in vars(one).values() if isinstance(row, Format)]
    return {row.name: row for row in sorted(rows, key=lambda row: row.place)}


FORMATS = find_formats()
BY_ENDING = {ending: name for name, row in FORMATS.items() for ending in row.endings}


def format_by_ending(path: str) -> str:
    """The format that a file's ending says; an error for another."""
    name = path.lower().rpartition("/")[2]
    inner, packing = split_packing(name)
    found = next((BY_ENDING[ending] for ending in BY_ENDING if inner.endswith(ending)), None)
    if found is None or (packing and not (FORMATS[found].is_loose and FORMATS[found].writer)):
        from exprgrad.language.mistakes.hints import nearest_word

        ending = name[name.rfind(".") :] if "." in name else ""
        near = nearest_word(ending, BY_ENDING) if len(ending) > 2 else None
        help = f"did you mean '{near}'? " if near else ""
        help += f"the endings are {', '.join(BY_ENDING)}"
        if ending in (".txt", ".dat"):
            help = f"rows of text are read through a pipe: --data - < {path}"
        raise RequestError(
            "unknown-format",
            f"'{path}' does not name a file of rows",
            help=help,
        ).about(path)
    return found


def inspect_row_file(path: str) -> RowFile:
    """A file of rows as it is now; the format of a pipe is recognised by its first bytes."""
    size, stamp = file_stamp(path)
    if path != STDIN:
        return RowFile(path, format_by_ending(path), size, stamp)
    start = standard_input().peek(64)
    for row in FORMATS.values():
        if row.magic and start.startswith(row.magic):
            raise RequestError(
                "unknown-format",
                f"standard input is {row.title}, which cannot be read through a pipe",
                help="give the file's name: --data FILE",
            )
    signs = {row.piped: name for name, row in FORMATS.items() if row.piped is not None}
    return RowFile(path, signs[max(filter(start.lstrip().startswith, signs), key=len)])


def sample_file(source: RowFile) -> tuple[RowFile, Any]:
    """A file and its columns, followed by those that the names of its folders supply."""
    try:
        source, table = FORMATS[source.format].sample(source)
    except (OSError, import_arrow().ArrowException) as error:
        raise broken_file_error(source.path, error) from None
    keys = []
    for key in source.keys:
        at = table.schema.get_field_index(key.name)
        if at >= 0:
            key = key._replace(inside=table.schema.field(at).type)
            table = table.remove_column(at)
        keys.append(key)
        table = table.append_column(key.name, folder_column(key, table.num_rows))
    return source._replace(keys=tuple(keys)), table


def folder_column(key: FolderKey, rows: int) -> Any:
    """The column that the name of a folder supplies, for some rows."""
    pa = import_arrow()
    return pa.repeat(pa.scalar(key.cell, pa.int64() if key.is_whole else pa.string()), rows)


def split_into_partitions(source: RowFile, is_whole: bool = False) -> list[Partition]:
    """A file in partitions, which depend on the file alone: so sums are the same on any machine."""
    found: list[Partition] = []
    first = row = rows = 0
    pieces = FORMATS[source.format].pieces(source)
    for at, count in enumerate(pieces, 1):
        rows += count
        if (rows >= PARTITION and not is_whole) or at == len(pieces):
            found.append(Partition(source, first, at, row, rows))
            first, row, rows = at, row + rows, 0
    return found or [Partition(source)]


def read_batches(
    partition: Partition, columns: Sequence[str], schema: Any, threads: Threads | None = None
) -> Iterator[Any]:
    """A partition's rows in some columns; an error if its file is broken, or has changed.

    Threads help to read where they can.
    """
    source = partition.source
    keys = {key.name: key for key in source.keys if key.name in columns}
    own = [name for name in columns if name not in keys or keys[name].inside is not None]
    for key in keys.values():
        at = schema.get_field_index(key.name)
        schema = schema.set(at, schema.field(at).with_type(key.inside or schema.field(at).type))
    try:
        rows = FORMATS[source.format].batches(partition, own, schema, threads)
        yield from (add_folder_columns(batch, source, columns) for batch in rows) if keys else rows
    except import_arrow().ArrowCancelled:
        raise KeyboardInterrupt from None
    except (OSError, import_arrow().ArrowException) as error:
        raise broken_file_error(source.path, error) from None
    if file_stamp(source.path) != (source.size, source.stamp):
        raise RequestError(
            "file",
            f"'{source.path}' changed while it was being read",
            help="run it again",
        )


def add_folder_columns(batch: Any, source: RowFile, columns: Sequence[str]) -> Any:
    """Some rows with the columns that their folders' names supply; an error if the file disagrees."""
    keys = {key.name: folder_column(key, batch.num_rows) for key in source.keys}
    for key in source.keys:
        if key.name in batch.schema.names and differs_from_folder(batch.column(key.name), key):
            raise InputError(
                "bad-column",
                f"column '{key.name}' of '{source.path}' differs from the name of its folder",
                help=f"all its rows would have {key.name}={key.cell}; rename one of them",
            )
    arrays = [keys[name] if name in keys else batch.column(name) for name in columns]
    return import_arrow().RecordBatch.from_arrays(arrays, [*columns])


def differs_from_folder(column: Any, key: FolderKey) -> bool:
    """Whether a column has a cell that is not what the name of a folder says."""
    if key.cell is None:
        return bool(column.null_count < len(column))
    if key.is_whole:
        return not (arrow_doubles(column).values == key.cell).all()
    return any(cell != key.cell for cell in cast_to_text(column).unique().to_pylist())
