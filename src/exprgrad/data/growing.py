"""A file of rows that grows part by part: after each, another process can go on with it."""

from __future__ import annotations

import io
import os
import shutil
from base64 import b64decode, b64encode
from pathlib import Path
from typing import IO, Any, Protocol

from exprgrad.data.arrow import arrow
from exprgrad.data.footers import shifted
from exprgrad.data.formats import FORMATS, RowWriter

__all__ = ["Growing", "before", "growing"]


class Growing(Protocol):
    """What writes rows to a file, part by part; ``memo`` is what to know, beside the file, to go on."""

    def write(self, batch: Any) -> None:
        """Write some rows."""

    def end_part(self) -> None:
        """Write what comes after a part."""

    def memo(self) -> str:
        """What to know of the parts so far."""

    def close(self) -> None:
        """Write what comes after all parts; the file stays open."""


class GrowingRows:
    """Rows that nothing comes between: a writer of the format goes on."""

    def __init__(self, rows: RowWriter) -> None:
        self.rows = rows
        self.write = rows.write

    def end_part(self) -> None:
        """Nothing comes after."""

    def memo(self) -> str:
        """Nothing."""
        return ""

    def close(self) -> None:
        """Write what comes after all rows."""
        self.rows.close()


def growing_text(file: IO[bytes], schema: Any, format: str) -> GrowingRows:
    """Texts: a line is a line wherever it stands."""
    end = file.tell()
    file.seek(0)
    rows = FORMATS[format].writer(file, schema)  # its header is the same each time
    file.seek(max(end, file.tell()))
    return GrowingRows(rows)


class GrowingParquet:
    """Parquet files one behind the other, whose footers are taken off, and become one at the end."""

    def __init__(self, file: IO[bytes], schema: Any, memo: str) -> None:
        self.file, self.schema = file, schema
        self.start = file.tell()
        self.part: Any = None
        self.metadata = metadata_in(b64decode(memo)) if memo else None

    def write(self, batch: Any) -> None:
        """Write some rows."""
        self.begin_part()
        self.part.write(batch)

    def begin_part(self) -> None:
        """A part has a row group at least: what reads the file looks for its columns there."""
        if self.part is None:
            self.start = self.file.tell()
            self.part = FORMATS["parquet"].writer(self.file, self.schema)

    def end_part(self) -> None:
        """Take off the footer."""
        self.begin_part()
        self.part.close()
        self.part = None
        self.file.flush()
        self.file.seek(-8, os.SEEK_END)
        length = int.from_bytes(self.file.read(4), "little")
        end = self.file.seek(-8 - length, os.SEEK_END)
        found = metadata_in(shifted(self.file.read(length), self.start))
        if self.metadata is None:
            self.metadata = found
        else:
            self.metadata.append_row_groups(found)
        self.file.seek(end)
        self.file.truncate()

    def footer(self) -> bytes:
        """The footer of all parts, and the length of it."""
        found = io.BytesIO()
        assert self.metadata is not None
        self.metadata.write_metadata_file(found)
        return found.getvalue()[4:]

    def memo(self) -> str:
        """The footer of the parts so far."""
        return b64encode(self.footer()[:-8]).decode()

    def close(self) -> None:
        """Write the footer."""
        self.file.write(self.footer())


def metadata_in(footer: bytes) -> Any:
    """What a Parquet footer says."""
    file = b"PAR1" + footer + len(footer).to_bytes(4, "little") + b"PAR1"
    return arrow("parquet").read_metadata(io.BytesIO(file))


def growing_arrow(file: IO[bytes], schema: Any, part: str) -> GrowingRows:
    """An Arrow file, whose footer nobody can write but who wrote the rest: to go on it is written anew."""
    old = Path(before(part))
    if file.tell() and not old.exists():
        beside = Path(f"{old}.part")
        with beside.open("wb") as copy:
            file.seek(0)
            shutil.copyfileobj(file, copy)
            copy.flush()
            os.fsync(copy.fileno())
        beside.replace(old)
    file.seek(0)
    file.truncate()
    found = GrowingRows(FORMATS["arrow"].writer(file, schema))
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


def growing(file: IO[bytes], part: str, schema: Any, format: str, size: int, memo: str) -> Growing:
    """What writes rows to a file behind its first bytes, whose ``memo`` that is."""
    if not (size and Path(before(part)).exists()):
        file.truncate(size)
    file.seek(size)
    if format == "parquet":
        return GrowingParquet(file, schema, memo)
    if format == "arrow":
        return growing_arrow(file, schema, part)
    return growing_text(file, schema, format)
