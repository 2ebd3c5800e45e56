"""A file of rows that grows part by part: after each, another process can go on with it."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import IO, Any

from exprgrad.data.arrow import arrow
from exprgrad.data.footers import ParquetWriter
from exprgrad.data.formats import FORMATS, RowWriter

__all__ = ["before", "growing"]


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
        beside = Path(f"{old}.part")
        with beside.open("wb") as copy:
            file.seek(0)
            shutil.copyfileobj(file, copy)
            copy.flush()
            os.fsync(copy.fileno())
        beside.replace(old)
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
