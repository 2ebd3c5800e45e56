"""Defines a format of rows in files, and has what the formats of text share.

If a block of text cannot be read as numbers, it is read again as text, so that only single cells are wrong.
Each row is read once, even from a pipe, and a bad row costs no other.  Pyarrow's reader of CSV in a
stream stops at a cell of another type, and takes 1.2 times as long as these blocks over 2·10⁶ rows.
"""

from __future__ import annotations

import re
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from typing import IO, Any, NamedTuple

from exprgrad.data.arrow import cast_times_and_decimals, import_arrow
from exprgrad.data.places import HEAD, LONGEST, UNPACKED, RowFile, open_unpacked
from exprgrad.data.threads import Threads, map_in_order
from exprgrad.errors import ExprgradError, InputError, RequestError
from exprgrad.run.values.layouts import LAST_WHOLE

__all__ = [
    "BATCH", "BLOCK", "SHOWN", "Format", "Partition", "RowWriter", "decode_dictionaries", "decode_head",
    "empty_file_error", "has_unsafe_numbers", "join_row_texts", "line_blocks", "read_blocks_in_order",
    "sample_schema", "trim_to_whole_lines",
]  # fmt: skip

BATCH = 2**16
"""The rows of a batch, as far as the format lets us say."""
BLOCK = 2**21
"""The bytes of a block."""
SHOWN = 60
"""The most characters of a line in a message."""


class Partition(NamedTuple):
    """Rows that are worked on as one task: some of the pieces that a file is divided into.

    ``first`` and ``last``  the first piece (a row group, a record batch), and the one after the last;
                            -1 stands for the whole file
    ``row``                 the rows of the file before it
    ``rows``                how many it has; -1 if that is not known yet
    """

    source: RowFile
    first: int = 0
    last: int = -1
    row: int = 0
    rows: int = -1


class RowWriter:
    """Writes batches of one schema to an open file, which ``close`` leaves open.

    Formats of lines need nothing else: each line stands for itself, and nothing follows the last.
    """

    file: IO[bytes]

    def encoded(self, batch: Any) -> Any:
        """Some rows as ``write`` takes them; any thread may encode them."""
        return batch

    def write(self, encoded: Any) -> None:
        """Write some rows."""
        self.file.write(encoded)

    def memo(self) -> str:
        """Return what another process needs, besides the bytes since the last memo, to continue."""
        return ""

    def close(self) -> None:
        """Write what comes after the last of them."""


class Format(NamedTuple):
    """A format of rows in files: what it is called, what it can do, and the functions that do it.

    ``name``     what ``--to`` calls it
    ``title``    what messages call it
    ``place``    where it stands in lists
    ``endings``  those of its files; the first is what new ones get
    ``sample``   returns a file, with its layout as read from its first bytes, and a table of its columns,
                 with first rows if these decide the types
    ``batches``  reads a partition's rows in some columns, of the types that a schema says, in batches
    ``writer``   makes a ``RowWriter`` of an open file and a schema, which goes on after the ``size`` bytes
                 and the memos that another process has left; None where files are only read
    ``pieces``   lists the row counts of a file's pieces, if they can be read independently
    ``is_text``  whether all cells are texts; ``is_loose``: whether types of cells may differ in a column
    ``room``     which of lists, objects and bytes a cell may hold
    ``piped``    how rows from a pipe begin; None if they cannot be read from one
    ``magic``    how files begin that cannot be read from a pipe
    ``to_pipe``  whether rows can be written to a pipe
    ``resumes``  whether the writer can go on with a file
    ``needs``    the package to read it, beside pyarrow
    """

    name: str
    title: str
    place: int
    endings: tuple[str, ...]
    sample: Callable[[RowFile], tuple[RowFile, Any]]
    batches: Callable[[Partition, Sequence[str], Any, Threads | None], Iterator[Any]]
    writer: Any = None
    pieces: Callable[[RowFile], list[int]] = lambda source: []
    is_text: bool = False
    is_loose: bool = False
    room: tuple[str, ...] = ()
    piped: bytes | None = None
    magic: bytes | None = None
    to_pipe: bool = True
    resumes: bool = True
    needs: str = ""


def sample_schema(read_schema: Callable[[Any, str], Any], source: RowFile) -> tuple[RowFile, Any]:
    """A file that says the types of its columns, and these as a table without rows."""
    with open_unpacked(source.path) as file:
        return source, read_schema(file, source.path).empty_table()


# Texts, by blocks of whole lines.


def line_blocks(file: IO[bytes], path: str, *, quoted: bool) -> Iterator[bytes]:
    """Yield a text in blocks of whole lines; if cells may be ``quoted``, they may contain line ends."""
    rest = b""
    while read := file.read(BLOCK):
        data = rest + read
        last = end = data.rfind(b"\n") + 1
        quotes = data.count(b'"', 0, end) if quoted and b'"' in data else 0
        while quotes % 2:
            before = data.rfind(b"\n", 0, end - 1) + 1
            quotes -= data.count(b'"', before, end)
            end = before
        if len(data) - end > LONGEST:
            end = last
        if end:
            yield data[:end]
        rest = data[end:]
        if len(rest) > LONGEST:
            raise InputError("bad-file", f"'{path}' has a line of more than {LONGEST:,} bytes")
    if rest:
        yield rest


def read_blocks_in_order(
    texts: Iterable[bytes],
    read: Callable[[bytes, int], Any],
    count: Callable[[bytes, Any], int],
    threads: Threads | None,
) -> Iterator[Any]:
    """Read blocks side by side, and yield their rows in order, in batches.

    A block with an error is read again in its turn, when ``count`` has counted the rows or lines before
    it: so the error tells the place in the file.
    """

    def tried(block: bytes) -> tuple[bytes, Any]:
        with suppress(ExprgradError):
            return block, read(block, 0)
        return block, None

    before = 0
    for block, table in map_in_order(tried, texts, threads):
        found = read(block, before) if table is None else table
        before += count(block, found)
        yield from found.combine_chunks().to_batches()


LONG_DIGITS = re.compile(rb"\d{16}")
TINY = [re.compile(signs) for signs in (rb"e-\d{3}", rb"E-\d{3}", rb"0{200}")]
"""Patterns of numbers that may have too many digits for a double, or be too small."""


def has_unsafe_numbers(columns: Iterable[Any], block: bytes) -> bool:
    """Whether a cell of a block of text may say another number than the double that was read."""
    import numpy as np

    values = [np.abs(column.to_numpy()) for column in columns]
    return bool(
        any(np.isinf(one).any() for one in values)
        or (any((one >= LAST_WHOLE).any() for one in values) and LONG_DIGITS.search(block))
        or (not all(one.all() for one in values) and any(signs.search(block) for signs in TINY))
    )


def decode_head(line: bytes, path: str) -> str:
    """Decode some lines at the beginning of a file."""
    if line.startswith((BOM_UTF16_LE, BOM_UTF16_BE)):
        raise RequestError(
            "encoding",
            f"'{path}' is UTF-16",
            help=f"iconv -f UTF-16 -t UTF-8 {path} | exprgrad … --data -",
        )
    unpacking = next((UNPACKED[signs] for signs in UNPACKED if line.startswith(signs)), None)
    if unpacking is not None:
        raise InputError(
            "bad-file",
            f"'{path}' is compressed: its first bytes are not those of a text",
            help=f"{unpacking} FILE | exprgrad … --data -",
        )
    if b"\0" in line:
        raise InputError("bad-file", f"'{path}' is not a text file: it contains zero bytes")
    try:
        return line.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        byte = f"byte 0x{line[error.start]:02x} at offset {error.start}"
        raise RequestError(
            "encoding",
            f"'{path}' is not UTF-8 text: {byte}",
            help=f"iconv -f LATIN1 -t UTF-8 {path} | exprgrad … --data -",
        ) from None


def empty_file_error(path: str) -> InputError:
    """The error for an empty file."""
    return InputError("bad-file", f"'{path}' is empty: it has no columns")


def trim_to_whole_lines(start: bytes) -> bytes:
    """Drop a head's last line, which may be cut short; keep a short head, which is a whole file."""
    end = start.rfind(b"\n") + 1
    return start[:end] if end and len(start) >= HEAD // 16 else start


# Rows written as text.


def decode_dictionaries(batch: Any) -> Any:
    """Decode dictionary columns; write times and decimals as texts."""
    pa = import_arrow()
    columns = [
        one.dictionary_decode() if pa.types.is_dictionary(one.type) else one
        for one in batch.columns
    ]
    return pa.RecordBatch.from_arrays([*map(cast_times_and_decimals, columns)], batch.schema.names)


def join_row_texts(pieces: Sequence[Any]) -> bytes:
    """Join columns of texts, and texts that are the same in each row, row by row."""
    import numpy as np

    kind = import_arrow().large_string()
    texts = [
        import_arrow().scalar(one, kind) if isinstance(one, str) else one.cast(kind)
        for one in pieces
    ]
    rows = import_arrow("compute").binary_join_element_wise(*texts, import_arrow().scalar("", kind))
    _, places, signs = rows.buffers()
    offsets = np.frombuffer(places, np.int64)[rows.offset : rows.offset + len(rows) + 1]
    return memoryview(signs)[offsets[0] : offsets[-1]].tobytes()
