"""Parquet, a row group at a time: each is encoded as a file of its own, and these are joined to one.

A file's footer says where its row groups are, as a struct in Thrift's compact protocol.  All is copied as
it stands but those places.
"""

from __future__ import annotations

import io
from base64 import b64decode, b64encode
from collections.abc import Iterator
from typing import IO, Any

import numpy as np

from exprgrad.data.arrow import arrow

__all__ = ["ParquetWriter", "shifted"]

MAGIC = b"PAR1"
"""How a Parquet file begins and ends."""
MARGIN = 2**20
"""The bytes that rows may take in a file, beyond a quarter more than in memory, at the first try."""

PLACES = frozenset(
    [(4, 5), (4, 1, 2), (4, 1, 4), (4, 1, 6), *((4, 1, 3, field) for field in (9, 10, 11, 14))]
)
"""The numbers of the fields that say where something is: of row groups (4), and of their columns (1)."""
TRUE, FALSE, BYTE, INT64, DOUBLE, BINARY, LIST, SET, STRUCT = 1, 2, 3, 6, 7, 8, 9, 10, 12
INTEGERS = (4, 5, INT64)


class Straight(io.RawIOBase):
    """Writes row groups to a file as they come, without how a file begins, and keeps the footer."""

    def __init__(self, file: IO[bytes]) -> None:
        self.file, self.footer, self.is_rows, self.rows = file, io.BytesIO(), True, 0

    def writable(self) -> bool:
        """Yes."""
        return True

    def write(self, signs: Any) -> int:
        """Write some bytes."""
        size = len(signs)
        if not self.is_rows:
            return self.footer.write(signs)
        skipped = max(len(MAGIC) - self.rows, 0)
        self.file.write(memoryview(signs)[skipped:])
        self.rows += size
        return size


class ParquetWriter:
    """Writes rows as Parquet: each batch is a row group, which any thread may encode.

    ``memo`` says where the row groups are that the file has already.
    """

    def __init__(self, file: IO[bytes], schema: Any, memo: str = "") -> None:
        self.file, self.schema = file, schema
        self.metadata = metadata_in(b64decode(memo)) if memo else None
        self.spare: list[np.ndarray] = []  # new memory costs more than to write into it
        self.end = file.tell()
        if not self.end:
            self.end = file.write(MAGIC)

    def encoded(self, batch: Any, aside: bool = False) -> Any:
        """Some rows as a file of their own: the memory that it is in, and its bytes; or as they are."""
        if not aside:
            return batch
        size = batch.nbytes + batch.nbytes // 4 + MARGIN
        memory = self.spare.pop() if self.spare else np.empty(size, dtype=np.uint8)
        while True:
            sink = arrow().FixedSizeBufferWriter(arrow().py_buffer(memory))
            try:
                with arrow("parquet").ParquetWriter(sink, self.schema) as writer:
                    writer.write_batch(batch)
                return memory, sink.tell()
            except OSError:  # there is no room
                memory = np.empty(2 * max(size, len(memory)), dtype=np.uint8)

    def write(self, encoded: Any) -> None:
        """Write the row groups of such a file, or of rows: straight, for what is read again takes time."""
        if not isinstance(encoded, tuple):
            straight = Straight(self.file)
            with arrow("parquet").ParquetWriter(straight, self.schema) as writer:
                writer.write_batch(encoded)
                straight.is_rows = False
            self.join(straight.footer.getvalue()[: -4 - len(MAGIC)])
            self.end += straight.rows - len(MAGIC)
            return
        memory, size = encoded
        whole = memoryview(memory)[:size]
        ends = len(whole) - len(MAGIC) - 4
        start = ends - int.from_bytes(whole[ends : ends + 4], "little")
        self.join(bytes(whole[start:ends]))
        self.end += self.file.write(whole[len(MAGIC) : start])
        self.spare.append(memory)

    def join(self, footer: bytes) -> None:
        """Take up the footer of a file whose row groups begin where this one ends."""
        found = metadata_in(shifted(footer, self.end - len(MAGIC)))
        if self.metadata is None:
            self.metadata = found
        else:
            self.metadata.append_row_groups(found)

    def footer(self) -> bytes:
        """What says where the row groups are."""
        found = io.BytesIO()
        assert self.metadata is not None
        self.metadata.write_metadata_file(found)
        return found.getvalue()[len(MAGIC) :]

    def memo(self) -> str:
        """The footer so far."""
        ends = -4 - len(MAGIC)
        return b64encode(self.footer()[:ends]).decode() if self.metadata is not None else ""

    def close(self) -> None:
        """Write the footer; readers look for columns in the first row group, so there is one."""
        if self.metadata is None:
            self.write(arrow().RecordBatch.from_pylist([], self.schema))
        self.file.write(self.footer())


def metadata_in(footer: bytes) -> Any:
    """What a Parquet footer says."""
    file = MAGIC + footer + len(footer).to_bytes(4, "little") + MAGIC
    return arrow("parquet").read_metadata(io.BytesIO(file))


# Footers.


class Level:
    """A struct that is being read, or a list: its field numbers from the outermost; what it has left.

    ``kind`` is that of a list's elements, of which ``left`` are to come: -1 for a struct, whose field
    ``last`` came before.
    """

    __slots__ = ("kind", "last", "left", "path")

    def __init__(self, path: tuple[int, ...], kind: int = STRUCT, left: int = -1) -> None:
        self.path, self.kind, self.left, self.last = path, kind, left, 0


def shifted(footer: bytes, by: int) -> bytes:
    """A footer whose row groups are so many bytes further on; raises ``ValueError`` for another struct."""
    found, copied = bytearray(), 0
    for path, start, end, number in integers(footer):
        if number and path in PLACES:
            found += footer[copied:start] + encoded(number + 2 * by)
            copied = end
    return bytes(found + footer[copied:])


def integers(footer: bytes) -> Iterator[tuple[tuple[int, ...], int, int, int]]:
    """Every integer in a footer: its field numbers, where it begins and ends, and twice what it is."""
    at, levels = 0, [Level(())]
    while levels:
        level = levels[-1]
        path, kind = level.path, level.kind
        if level.left < 0:
            head, at = footer[at], at + 1
            if not head:
                levels.pop()
                continue
            if head < 16:
                number, at = number_at(footer, at)
                level.last = number // 2
            else:
                level.last += head >> 4
            path, kind = (*path, level.last), head & 15
        elif level.left:
            level.left -= 1
            kind = BYTE if kind in (TRUE, FALSE) else kind
        else:
            levels.pop()
            continue
        if kind in INTEGERS:
            start = at
            number, at = number_at(footer, at)
            yield path, start, at, number
        elif kind == BINARY:
            length, at = number_at(footer, at)
            at += length
        elif kind in (LIST, SET):
            head, at = footer[at], at + 1
            count = head >> 4
            if count == 15:
                count, at = number_at(footer, at)
            levels.append(Level(path, head & 15, count))
        elif kind == STRUCT:
            levels.append(Level(path))
        elif kind in (BYTE, DOUBLE):
            at += 1 if kind == BYTE else 8
        elif kind not in (TRUE, FALSE):
            raise ValueError(f"a field of type {kind} in a footer")


def number_at(footer: bytes, at: int) -> tuple[int, int]:
    """A number, seven bits to a byte, the lowest first; and where it ends."""
    value = place = 0
    while True:
        byte = footer[at]
        at += 1
        value |= (byte & 127) << place
        if byte < 128:
            return value, at
        place += 7


def encoded(number: int) -> bytes:
    """A number that is not negative, as ``number_at`` reads it."""
    found = bytearray()
    while number > 127:
        found.append(number & 127 | 128)
        number >>= 7
    found.append(number)
    return bytes(found)
