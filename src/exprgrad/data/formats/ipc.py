"""Arrow files, and Arrow streams."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from functools import lru_cache, partial
from typing import IO, Any

from exprgrad.data.arrow import import_arrow
from exprgrad.data.format import BATCH, Format, Partition, RowWriter, sample_schema
from exprgrad.data.places import STDIN, open_unpacked
from exprgrad.data.threads import Threads

__all__ = ["ARROW"]

MAGIC = b"ARROW1"


@lru_cache(maxsize=1)
def open_arrow_stream(file: Any) -> Any:
    """Open an Arrow stream from a pipe, once: it sends its schema only once."""
    return import_arrow("ipc").open_stream(file)


def ipc_reader(file: Any, path: str) -> Any:
    """The reader of an Arrow file, or of an Arrow stream."""
    pa, ipc = import_arrow(), import_arrow("ipc")
    if path == STDIN:
        return open_arrow_stream(file)
    try:
        return ipc.open_file(file)
    except pa.ArrowInvalid:
        file.seek(0)
        return ipc.open_stream(file)


def ipc_batches(
    partition: Partition, columns: Sequence[str], schema: Any, threads: Threads | None
) -> Iterator[Any]:
    """The rows of some record batches."""
    with open_unpacked(partition.source.path) as file:
        reader = rows = ipc_reader(file, partition.source.path)
        if hasattr(reader, "num_record_batches"):
            last = reader.num_record_batches if partition.last < 0 else partition.last
            rows = map(reader.get_batch, range(partition.first, last))
        for batch in rows:
            chosen = batch.select(list(columns))
            for start in range(0, chosen.num_rows, BATCH):
                yield chosen.slice(start, BATCH)


class SkippingWriter(io.RawIOBase):
    """Skips the bytes that a file already holds, and writes those that follow."""

    def __init__(self, file: IO[bytes], left: int) -> None:
        self.file, self.left = file, left

    def seekable(self) -> bool:
        """As a file is."""
        return True

    writable = seekable

    def write(self, signs: Any) -> int:
        """Write the bytes of a text that are not there yet."""
        known = min(self.left, len(signs))
        self.left -= known
        self.file.write(memoryview(signs)[known:])
        return len(signs)


class IpcWriter(RowWriter):
    """Writes rows as an Arrow file, or as a stream if the target cannot seek.

    It has no memo: the footer is about all rows, so those written before are read again.
    """

    def __init__(
        self, file: IO[bytes], schema: Any, size: int = 0, memos: Sequence[str] = ()
    ) -> None:
        ipc = import_arrow("ipc")
        onward = SkippingWriter(file, size) if size else file
        self.writer = (ipc.new_file if file.seekable() else ipc.new_stream)(onward, schema)
        if size:
            file.seek(len(MAGIC) + 2)
            for batch in ipc.open_stream(file):
                self.write(batch)
            file.seek(size)

    def write(self, encoded: Any) -> None:
        """Write some rows as a record batch."""
        self.writer.write_batch(encoded)

    def close(self) -> None:
        """Write the footer."""
        self.writer.close()


ARROW = Format(
    "arrow", "an Arrow file", 5, (".arrow", ".arrows", ".ipc", ".feather"),
    partial(sample_schema, lambda file, path: ipc_reader(file, path).schema), ipc_batches,
    IpcWriter, room=("lists", "objects", "bytes"), piped=b"\xff\xff\xff\xff", magic=MAGIC,
)  # fmt: skip
