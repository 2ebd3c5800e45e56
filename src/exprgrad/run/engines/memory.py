"""Memory for what engines write: new, or taken from an earlier answer."""

from __future__ import annotations

from collections.abc import Sequence
from ctypes import addressof, c_char
from typing import Any

import numpy as np

from exprgrad.errors import RequestError
from exprgrad.run.engines.columns import Taken, is_ready

__all__ = ["APART", "LINE", "PAGE", "address", "aligned", "reused", "staggered"]

LINE = 8
"""The doubles of a cache's line."""
PAGE = 4096
"""After so many bytes two addresses share their place in the cache."""
LARGE_PAGE = 2**21
"""The bytes of a large page, which NumPy asks for where an array has two or more."""
APART = 9 * 8 * LINE
"""By how many bytes columns are moved against each other; nine is prime to the lines of a page."""
SMALL = PAGE // 8
"""Columns of up to so many rows are allocated as they come."""


def address(array: Any) -> int:
    """Where an array's first number is; NumPy's own answer takes five times as long."""
    try:
        return addressof(c_char.from_buffer(array))
    except (TypeError, ValueError):  # read-only, empty, or not contiguous
        found: int = array.ctypes.data
        return found


def aligned(count: int, shift: int = 0, page: int = PAGE) -> Any:
    """So many doubles, uninitialised, from the start of a page, or so many bytes after it."""
    raw = np.empty(count + (page + shift) // 8)
    start = (-address(raw) % page + shift) // 8
    return raw[start : start + count]


def staggered(count: int, rows: int) -> list[Any]:
    """Some new columns that do not all share the same places in the cache.

    Large ones begin near a large page, so that as many of those as can be are taken: to find memory is then
    twice as fast.
    """
    if rows <= SMALL:
        return [np.empty(rows) for _ in range(count)]
    page = LARGE_PAGE if 8 * rows >= 2 * LARGE_PAGE else PAGE
    return [aligned(rows, at * APART % PAGE, page) for at in range(count)]


def reused(out: Any, wrt: Sequence[str], taken: Taken) -> tuple[Any, dict[str, Any]]:
    """The memory of an earlier answer, if this one fits into it."""
    try:
        value, gradient = out
        found = {name: gradient[name] for name in wrt}
    except (TypeError, ValueError, KeyError, IndexError):
        raise refused("is not an earlier answer of this formula, value and gradient") from None
    named = {"the value": value, **{f"'{name}'": column for name, column in found.items()}}
    for name, column in named.items():
        if (wrong := misfit(column, name, taken.rows)) is not None:
            raise refused(wrong)
    if overlap([value, *found.values()], [*taken.columns, *taken.given]):
        raise refused("shares memory with a column, or with itself")
    return value, found


def misfit(column: Any, name: str, rows: int) -> str | None:
    """Why something is not a column of so many rows that can be written; None if it is one."""
    if not (isinstance(column, np.ndarray) and column.ndim == 1):
        return f"has no column for {name}"
    if isinstance(column, np.ma.MaskedArray):
        return f"has a masked column for {name}"
    if len(column) != rows:
        return f"has {len(column)} rows for {name}, and the columns {rows}"
    if not is_ready(column):
        return f"has a column for {name} that is not of contiguous doubles"
    return None if column.flags.writeable else f"has a column for {name} that is read-only"


def overlap(outputs: Sequence[Any], columns: Sequence[Any]) -> bool:
    """Whether something that is written shares memory with anything else."""
    ranges = sorted(
        [place(x, 1) for x in outputs if len(x)] + [place(x, 0) for x in columns if len(x)]
    )
    end, end_written = 0, 0
    for start, stop, written in ranges:
        if start < (end if written else end_written):
            return True
        if stop > end:
            end = stop
        if written and stop > end_written:
            end_written = stop
    return False


def place(column: Any, written: int) -> tuple[int, int, int]:
    """Where a column begins and ends, whichever way it runs, and whether it is written."""
    start = address(column)
    if column.flags.c_contiguous:
        return start, start + column.nbytes, written
    reach = column.strides[0] * (len(column) - 1)
    return start + min(reach, 0), start + max(reach, 0) + column.itemsize, written


def refused(what: str) -> RequestError:
    """The error for an ``out`` that cannot be written."""
    help = "give an earlier answer for as many rows: answer = g(columns, out=answer)"
    return RequestError("bad-out", f"out {what}", help=help)
