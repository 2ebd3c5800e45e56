"""Memory for what engines write: new, or taken from an earlier answer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from exprgrad.errors import RequestError
from exprgrad.run.engines.columns import Taken

__all__ = ["APART", "LINE", "aligned", "checked", "staggered"]

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


def aligned(count: int, shift: int = 0, page: int = PAGE) -> Any:
    """So many doubles, uninitialised, from the start of a page, or so many bytes after it."""
    raw = np.empty(count + (page + shift) // 8)
    start = (-raw.ctypes.data % page + shift) // 8
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


def checked(out: Any, wrt: Sequence[str], taken: Taken) -> tuple[Any, dict[str, Any]]:
    """The memory of an earlier answer, if this one fits into it."""
    try:
        value, gradient = out
        found = {name: gradient[name] for name in wrt}
    except (TypeError, ValueError, KeyError, IndexError):
        raise refused("is no earlier answer of this formula, value and gradient") from None
    named = {"the value": value, **{f"'{name}'": column for name, column in found.items()}}
    for name, column in named.items():
        if not (isinstance(column, np.ndarray) and column.ndim == 1):
            raise refused(f"has no column for {name}")
        if isinstance(column, np.ma.MaskedArray):
            raise refused(f"has a masked column for {name}")
        if len(column) != taken.rows:
            raise refused(f"has {len(column)} rows for {name}, and the columns {taken.rows}")
        flags = column.flags
        if column.dtype != np.float64 or not (flags.c_contiguous and flags.aligned):
            raise refused(f"has a column for {name} that is not of contiguous doubles")
        if not flags.writeable:
            raise refused(f"has a column for {name} that is read-only")
    if overlap([*named.values()], [*taken.columns, *taken.given]):
        raise refused("shares memory with a column, or with itself")
    return value, found


def overlap(outputs: Sequence[Any], columns: Sequence[Any]) -> bool:
    """Whether something that is written shares memory with anything else."""
    ranges = sorted(
        [(*place(x), written) for group, written in ((outputs, True), (columns, False))
         for x in group if x.nbytes]
    )  # fmt: skip
    end, end_written = 0, 0
    for start, stop, written in ranges:
        if start < (end if written else end_written):
            return True
        end = max(end, stop)
        if written:
            end_written = max(end_written, stop)
    return False


def place(column: Any) -> tuple[int, int]:
    """Where a column that is not empty begins and ends, whichever way it runs."""
    start, reach = column.ctypes.data, column.strides[0] * (len(column) - 1)
    return start + min(reach, 0), start + max(reach, 0) + column.itemsize


def refused(what: str) -> RequestError:
    """The error for an ``out`` that cannot be written."""
    help = "give an earlier answer for as many rows: answer = g(columns, out=answer)"
    return RequestError("bad-out", f"out {what}", help=help)
