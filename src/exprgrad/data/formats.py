"""The formats of rows in files: how each is told, read by batches, and written."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from functools import lru_cache, partial
from typing import IO, Any, NamedTuple, Protocol

from exprgrad.data.arrow import arrow, as_text, broken_file, numbers
from exprgrad.data.footers import ParquetWriter
from exprgrad.data.places import (
    STDIN,
    Key,
    RowFile,
    opened,
    pipe,
    stamp_of,
    store,
    without_packing,
)
from exprgrad.data.texts import (
    CsvWriter,
    JsonWriter,
    csv_batches,
    csv_sample,
    json_batches,
    json_sample,
)
from exprgrad.data.threads import Threads
from exprgrad.errors import InputError, RequestError

__all__ = [
    "BATCH", "BY_ENDING", "FORMATS", "Partition", "RowWriter", "batches", "format_of", "partitions_of",
    "sample_of", "sampled", "source_of",
]  # fmt: skip

BATCH = 2**16
"""The rows of a batch, as far as the format lets us say."""
READ = 2**20
"""The bytes of a Parquet file that are read at a time."""
PARTITION = 2**22
"""From so many rows on a file is several partitions, if it is in pieces that stand alone."""


class Partition(NamedTuple):
    """Rows that are worked on as one task: some pieces of a file, of which it alone says what they are.

    ``first`` and ``last``  the first piece (a row group, a record batch), and the one behind the last;
                            -1 stands for the whole file
    ``row``                 the rows of the file before it
    ``rows``                how many it has; -1 if nobody knows yet
    """

    source: RowFile
    first: int = 0
    last: int = -1
    row: int = 0
    rows: int = -1


class RowWriter(Protocol):
    """What writes batches of one schema to an open file; ``close`` leaves the file open."""

    def encoded(self, batch: Any, aside: bool = False) -> Any:
        """Some rows as ``write`` takes them; any thread may encode them, ``aside``."""

    def write(self, encoded: Any) -> None:
        """Write some rows."""

    def memo(self) -> str:
        """What to know, beside the file so far, for another process to go on with it."""

    def close(self) -> None:
        """Write what comes after the last of them."""


class Format(NamedTuple):
    """A format: its endings, and the functions that read and write it.

    ``sample`` is a table of a file's columns, with rows from its beginning where those say the types.
    ``is_text``: all cells are texts.  ``is_loose``: a cell may be of another type than others above it.
    """

    endings: tuple[str, ...]
    sample: Callable[[RowFile], Any]
    pieces: Callable[[RowFile], list[int]]
    batches: Callable[[Partition, Sequence[str], Any, Threads | None], Iterator[Any]]
    writer: Callable[[IO[bytes], Any], RowWriter]
    is_text: bool = False
    is_loose: bool = False


# Parquet.


def parquet_sample(source: RowFile) -> Any:
    """The columns of a Parquet file."""
    with opened(source.path) as file:
        return arrow("parquet").read_schema(file).empty_table()


def parquet_pieces(source: RowFile) -> list[int]:
    """The rows of each row group."""
    with opened(source.path) as file:
        metadata = arrow("parquet").read_metadata(file)
        return [metadata.row_group(at).num_rows for at in range(metadata.num_row_groups)]


def parquet_batches(
    partition: Partition, columns: Sequence[str], schema: Any, threads: Threads | None
) -> Iterator[Any]:
    """The rows of some row groups."""
    path = partition.source.path
    is_here = store(path) is None
    with nullcontext(path) if is_here else opened(path) as file:
        # Row groups read ahead fill the memory, which only pays where each request takes long.
        found = arrow("parquet").ParquetFile(file, pre_buffer=not is_here, buffer_size=READ)
        last = found.num_row_groups if partition.last < 0 else partition.last
        groups = [*range(partition.first, last)]
        if groups:
            side_by_side = threads is not None
            yield from found.iter_batches(BATCH, groups, list(columns), use_threads=side_by_side)


# Arrow's own.


@lru_cache(maxsize=1)
def stream(file: Any) -> Any:
    """What reads an Arrow stream from a pipe, whose schema comes but once."""
    return arrow("ipc").open_stream(file)


def ipc_reader(file: Any, path: str) -> Any:
    """What reads an Arrow file, or an Arrow stream."""
    pa, ipc = arrow(), arrow("ipc")
    if path == STDIN:
        return stream(file)
    try:
        return ipc.open_file(file)
    except pa.ArrowInvalid:
        file.seek(0)
        return ipc.open_stream(file)


def ipc_sample(source: RowFile) -> Any:
    """The columns of an Arrow file."""
    with opened(source.path) as file:
        return ipc_reader(file, source.path).schema.empty_table()


def ipc_batches(
    partition: Partition, columns: Sequence[str], schema: Any, threads: Threads | None
) -> Iterator[Any]:
    """The rows of some record batches."""
    with opened(partition.source.path) as file:
        reader = rows = ipc_reader(file, partition.source.path)
        if hasattr(reader, "num_record_batches"):
            last = reader.num_record_batches if partition.last < 0 else partition.last
            rows = map(reader.get_batch, range(partition.first, last))
        for batch in rows:
            chosen = batch.select(list(columns))
            for start in range(0, chosen.num_rows, BATCH):
                yield chosen.slice(start, BATCH)


class IpcWriter:
    """Writes rows as an Arrow file, or as a stream where nobody can seek."""

    def __init__(self, file: IO[bytes], schema: Any) -> None:
        ipc = arrow("ipc")
        self.writer = (ipc.new_file if file.seekable() else ipc.new_stream)(file, schema)

    def encoded(self, batch: Any, aside: bool = False) -> Any:
        """Some rows, which are as they are written."""
        return batch

    def write(self, encoded: Any) -> None:
        """Write some rows as a record batch."""
        self.writer.write_batch(encoded)

    def memo(self) -> str:
        """Nothing: the footer that is to come can only be written by who has written the rest."""
        return ""

    def close(self) -> None:
        """Write the footer."""
        self.writer.close()


def undivided(source: RowFile) -> list[int]:
    """The pieces of a file that is only read from its beginning to its end: none that stands alone."""
    return []


def csv_rows(
    partition: Partition, columns: Sequence[str], schema: Any, threads: Threads | None
) -> Iterator[Any]:
    """The rows of a CSV or TSV file."""
    return csv_batches(partition.source, columns, schema, threads)


def json_rows(
    partition: Partition, columns: Sequence[str], schema: Any, threads: Threads | None
) -> Iterator[Any]:
    """The rows of a file of JSON lines."""
    return json_batches(partition.source, columns, schema, threads)


FORMATS: Mapping[str, Format] = {
    "csv": Format((".csv",), csv_sample, undivided, csv_rows, CsvWriter, is_text=True, is_loose=True),
    "tsv": Format(
        (".tsv", ".tab"), csv_sample, undivided, csv_rows, partial(CsvWriter, separator="\t"),
        is_text=True, is_loose=True,
    ),
    "jsonl": Format(
        (".jsonl", ".ndjson"), json_sample, undivided, json_rows, JsonWriter, is_loose=True
    ),
    "parquet": Format(
        (".parquet", ".pq"), parquet_sample, parquet_pieces, parquet_batches, ParquetWriter
    ),
    "arrow": Format(
        (".arrow", ".arrows", ".ipc", ".feather"), ipc_sample, undivided, ipc_batches, IpcWriter
    ),
}  # fmt: skip
"""Every format, by what ``--to`` calls it."""
BY_ENDING = {ending: name for name, row in FORMATS.items() for ending in row.endings}


def format_of(path: str) -> str:
    """The format that a file's ending says; an error for another."""
    name = path.lower().rpartition("/")[2]
    inner, packing = without_packing(name)
    found = next((BY_ENDING[ending] for ending in BY_ENDING if inner.endswith(ending)), None)
    if found is None or (packing and not FORMATS[found].is_loose):
        from exprgrad.language.mistakes.hints import nearest

        ending = name[name.rfind(".") :] if "." in name else ""
        near = nearest(ending, BY_ENDING) if len(ending) > 2 else None
        help = f"did you mean '{near}'? " if near else ""
        help += f"the endings are {', '.join(BY_ENDING)}"
        message = f"'{path}' does not name a file of rows"
        raise RequestError("unknown-format", message, help=help).about(path)
    return found


def source_of(path: str) -> RowFile:
    """A file of rows as it is now; what comes through a pipe is told by how it begins."""
    size, stamp = stamp_of(path)
    if path != STDIN:
        return RowFile(path, format_of(path), size, stamp)
    start = pipe().peek(64)
    if start.startswith((b"PAR1", b"ARROW1")):
        what = "Parquet" if start.startswith(b"PAR1") else "an Arrow file"
        message = f"standard input is {what}, which cannot be read through a pipe"
        raise RequestError("unknown-format", message, help="give the file's name: --data FILE")
    if start.startswith(b"\xff\xff\xff\xff"):
        return RowFile(path, "arrow")
    return RowFile(path, "jsonl" if start.lstrip()[:1] == b"{" else "csv")


def sample_of(source: RowFile) -> Any:
    """A file's columns: see ``Format``."""
    try:
        return FORMATS[source.format].sample(source)
    except (OSError, arrow().ArrowException) as error:
        raise broken_file(source.path, error) from None


def sampled(source: RowFile) -> tuple[RowFile, Any]:
    """A file and its columns, with those that the names of its folders say behind its own."""
    table = sample_of(source)
    keys = []
    for key in source.keys:
        at = table.schema.get_field_index(key.name)
        if at >= 0:
            key = key._replace(inside=table.schema.field(at).type)
            table = table.remove_column(at)
        keys.append(key)
        table = table.append_column(key.name, key_column(key, table.num_rows))
    return source._replace(keys=tuple(keys)), table


def key_column(key: Key, rows: int) -> Any:
    """What the name of a folder says, for some rows."""
    pa = arrow()
    return pa.repeat(pa.scalar(key.cell, pa.int64() if key.is_whole else pa.string()), rows)


def partitions_of(source: RowFile) -> list[Partition]:
    """A file in partitions, which only the file decides: sums add up alike wherever they are worked out."""
    found: list[Partition] = []
    first = row = rows = 0
    pieces = FORMATS[source.format].pieces(source)
    for at, count in enumerate(pieces, 1):
        rows += count
        if rows >= PARTITION or at == len(pieces):
            found.append(Partition(source, first, at, row, rows))
            first, row, rows = at, row + rows, 0
    return found or [Partition(source)]


def batches(
    partition: Partition, columns: Sequence[str], schema: Any, threads: Threads | None = None
) -> Iterator[Any]:
    """A partition's rows in some columns; an error where its file is broken, or has changed.

    Threads read in it, too, where that is possible.
    """
    source = partition.source
    keys = {key.name: key for key in source.keys if key.name in columns}
    own = [name for name in columns if name not in keys or keys[name].inside is not None]
    for key in keys.values():
        at = schema.get_field_index(key.name)
        schema = schema.set(at, schema.field(at).with_type(key.inside or schema.field(at).type))
    try:
        rows = FORMATS[source.format].batches(partition, own, schema, threads)
        yield from (with_keys(batch, source, columns) for batch in rows) if keys else rows
    except arrow().ArrowCancelled:
        raise KeyboardInterrupt from None
    except (OSError, arrow().ArrowException) as error:
        raise broken_file(source.path, error) from None
    if stamp_of(source.path) != (source.size, source.stamp):
        message = f"'{source.path}' has changed while it was read"
        raise RequestError("file", message, help="run it again")


def with_keys(batch: Any, source: RowFile, columns: Sequence[str]) -> Any:
    """Some rows with what the names of their folders say; an error where the file says otherwise."""
    keys = {key.name: key_column(key, batch.num_rows) for key in source.keys}
    for key in source.keys:
        if key.name in batch.schema.names and differs(batch.column(key.name), key):
            message = f"column '{key.name}' of '{source.path}' is not what its folder is called"
            help = f"all its rows would have {key.name}={key.cell}; rename one of them"
            raise InputError("bad-column", message, help=help)
    arrays = [keys[name] if name in keys else batch.column(name) for name in columns]
    return arrow().RecordBatch.from_arrays(arrays, [*columns])


def differs(column: Any, key: Key) -> bool:
    """Whether a column holds another cell than the name of a folder says."""
    if key.cell is None:
        return bool(column.null_count < len(column))
    if key.is_whole:
        return not (numbers(column).values == key.cell).all()
    return any(cell != key.cell for cell in as_text(column).unique().to_pylist())
