"""Columns as engines take them, contiguous doubles of one length, and the memory that they write to.

A column that is so already is taken as it is.  Any other is converted, and a note says so.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from ctypes import addressof, c_char
from typing import Any, NamedTuple

import numpy as np

from exprgrad.errors import InputError, RequestError
from exprgrad.graph.graph import Graph
from exprgrad.run.values.inputs import (
    as_number,
    detach_value,
    missing_values,
    normal_name,
    surplus_value,
)

__all__ = [
    "COLUMN_STRIDE", "LINE", "PAGE", "ConversionNote", "Taken", "aligned_memory", "contiguous_column",
    "data_address", "is_ready", "reuse_output", "staggered_columns", "take_columns",
]  # fmt: skip

NUMBERS = "fiub"
"""The kinds of NumPy's types that are real numbers."""
LAST_WHOLE = 2**53
"""Up to here every whole number is a double."""
NAN = "a missing number is nan"


class ConversionNote(NamedTuple):
    """The conversion that a column needed."""

    column: str
    message: str


class Taken(NamedTuple):
    """Every input's column, the number of rows, notes on conversions, and the arrays that were converted.

    ``is_single`` where only numbers are given, and no column.
    """

    columns: list[Any]
    rows: int
    notes: tuple[ConversionNote, ...]
    given: tuple[Any, ...] = ()
    is_single: bool = False


def take_columns(columns: Any, graph: Graph, text: str, known: Sequence[str] = ()) -> Taken:
    """The inputs' columns, in order of appearance.

    ``columns`` maps names to what NumPy can make an array of one axis; a number stands for itself in every
    row, and where there is nothing else there is one row.  ``known`` are names that may be given and are
    not read.  Raises ``InputError`` for a column that is missing, not asked for, not of real numbers, or
    of another length.
    """
    unread: Mapping[str, Any] = {}
    given = columns
    is_exact = type(columns) is dict and columns.keys() == graph.inputs.keys()
    if not is_exact:  # else nothing but the inputs needs a look
        given, unread = looked_up(columns, graph, text, known)
    notes: list[ConversionNote] = []
    converted: list[Any] = []
    found = {name: contiguous_column(given[name], name, notes, converted) for name in graph.inputs}
    length = common_length(found, unread)
    rows = 1 if length is None else length
    filled = [np.full(rows, x) if isinstance(x, float) else x for x in found.values()]
    is_single = length is None and bool(found)
    return Taken(filled, rows, tuple(notes), tuple(converted), is_single)


def looked_up(
    columns: Any, graph: Graph, text: str, known: Sequence[str]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The inputs' columns, and those that are known and not read."""
    given = columns_by_name(columns, graph)
    unasked = [name for name in known if name in given and name not in graph.inputs]
    unread = {name: given.pop(name) for name in unasked}
    for name in given:
        if name not in graph.inputs:
            free = [other for other in graph.inputs if other not in given]
            error = surplus_value(graph, text, name, free, {})
            if not (free or isinstance(columns, Mapping)):
                error.help = "choose those that it reads: columns[list(g.inputs)]"
            raise error
    missing = [name for name in graph.inputs if name not in given]
    if missing:
        error = missing_values(graph, text, missing)
        many = "columns" if len(missing) > 1 else "a column"
        error.help = f"give {many}, or a number for every row: columns['{missing[0]}'] = …"
        raise error
    return given, unread


def columns_by_name(columns: Any, graph: Graph) -> dict[str, Any]:
    """The columns that were given."""
    keys = None if isinstance(columns, type) else getattr(columns, "keys", None)
    if not callable(keys):
        names = ", ".join(f"'{name}': …" for name in list(graph.inputs)[:4])
        help = f"{{{names}}}"
        fields = getattr(getattr(columns, "dtype", None), "names", None)  # of a structured array
        if fields or any(hasattr(columns, name) for name in ("columns", "column_names")):
            help = "take them out of it: {name: table[name] for name in g.inputs}"
        raise InputError(
            "bad-columns",
            f"columns are given by name, in a dictionary, not as {type(columns).__name__}",
            help=help,
        )
    given: dict[str, Any] = {}
    for name in keys():
        if normal_name(name) in given:
            how = "" if name in given else ", by different spellings of it"
            raise InputError("bad-columns", f"two columns are named '{normal_name(name)}'{how}")
        given[normal_name(name)] = columns[name]
    return given


def contiguous_column(
    value: Any, name: str, notes: list[ConversionNote], converted: list[Any]
) -> Any:
    """One column as contiguous doubles; a number as a float."""
    if type(value) is np.ndarray and value.ndim == 1 and is_ready(value):
        return value
    if isinstance(value, int | float | str):
        return as_number(value, name)
    array = given_array(value, name)
    if array.ndim == 0:
        return only_number(array, name)
    refuse_others(array, name)
    if array.ndim > 1:
        raise InputError(
            "bad-column",
            f"the column '{name}' has {array.ndim} axes, of lengths {array.shape}",
            help="a column has one axis",
        )
    if array.dtype.kind == "O":
        doubles = np.array([as_number(number, name) for number in array])
    else:
        converted.append(array)
        with np.errstate(all="ignore"):
            doubles = np.ascontiguousarray(array, dtype=np.float64)
    listed = not hasattr(value, "__array__")
    held = str(getattr(value, "dtype", "double")).lower()  # as far as it says what it holds
    if listed or not is_ready(array):
        notes.append(
            ConversionNote(name, describe_conversion(array, value if listed else None, name))
        )
    elif not ("float64" in held or "double" in held):
        notes.append(
            ConversionNote(name, f"column '{name}' is {value.dtype}: converted to float64")
        )
    return doubles


def is_ready(array: Any) -> bool:
    """Whether an array's rows are doubles of this machine, one after another."""
    flags = array.flags
    return bool(array.dtype == np.float64 and flags.c_contiguous and flags.aligned)


def is_column(value: Any) -> bool:
    """Whether something that is not read stands for rows, and not for one number."""
    return not isinstance(value, str) and hasattr(value, "__len__") and np.ndim(value) == 1


def given_array(value: Any, name: str) -> Any:
    """The given object as an array."""
    try:
        array = np.asarray(detach_value(value))
    except (TypeError, ValueError, RuntimeError, OverflowError):
        raise not_a_column(value, name) from None
    if isinstance(value, np.ma.MaskedArray) and np.ma.is_masked(value):
        raise InputError(
            "bad-column",
            f"the column '{name}' has masked numbers",
            help="fill them in: column.filled(nan)",
        )
    return array


def only_number(array: Any, name: str) -> float:
    """The number that an array without axes holds."""
    found = array.item()
    if array.dtype.kind == "O" and not is_foreign_number(found):
        help = NAN if found is None else None
        if isinstance(found, Iterable):
            help = f"make it a list: list(…{'.values()' * isinstance(found, Mapping)})"
        raise not_a_column(found, name, help)
    refuse_others(array, name)
    return as_number(found, name)


def not_a_column(value: object, name: str, help: str | None = None) -> InputError:
    """The error for what is neither a number nor a column."""
    return InputError(
        "bad-column",
        f"the column '{name}' is not a column of numbers: {type(value).__name__}",
        help=help,
    )


def is_foreign_number(value: object) -> bool:
    """Whether an object is a number, if not one of NumPy's: a fraction, a decimal, a large integer."""
    return hasattr(value, "__float__") and not isinstance(value, np.ndarray)


def refuse_others(array: Any, name: str) -> None:
    """An error for an array that holds what is not a real number."""
    kind, help = array.dtype.kind, None
    if kind in NUMBERS:
        return
    if kind == "O":
        others = [x for x in array.flat if not is_foreign_number(x)]
        if not others:
            return
        help = NAN if others[0] is None else None
    held = {"O": "objects", "U": "texts", "S": "texts", "c": "complex numbers"}
    what = held.get(kind, str(array.dtype))
    raise InputError("bad-column", f"the column '{name}' holds {what}, not real numbers", help=help)


def describe_conversion(array: Any, listed: Any, name: str) -> str:
    """Describe how an array that was not ready, or a list, was converted."""
    if listed is not None:
        kind = type(listed).__name__
        article = "an" if kind[0] in "aeiou" else "a"
        return f"column '{name}' is {article} {kind}: converted to an array{rounded_numbers(array, listed)}"
    if array.dtype.newbyteorder("=") != np.float64:
        how = f"converted to float64{rounded_numbers(array, ())}"
        return f"column '{name}' is {array.dtype.name}: {how}"
    why = "not of this machine's byte order"
    if array.dtype.isnative:
        why = "not contiguous" if not array.flags.c_contiguous else "not aligned"
    return f"column '{name}' is {why}: copied"


def rounded_numbers(array: Any, listed: Any) -> str:
    """Which numbers are rounded, of an array of another type, or of what was a list."""
    kind = array.dtype.kind
    if kind == "f" and array.dtype.itemsize > 8:
        return "; its numbers are rounded"
    if kind == "O":
        return "; its numbers are rounded" if any(float(x) != x for x in array) else ""
    beyond = False
    if kind in "iu" and array.dtype.itemsize == 8 and len(array):
        beyond = array.max() > LAST_WHOLE or array.min() < -LAST_WHOLE
    elif kind == "f" and isinstance(listed, list | tuple):
        beyond = any(isinstance(x, int) and abs(x) > LAST_WHOLE for x in listed)
    return "; numbers beyond 2^53 are rounded" if beyond else ""


def common_length(columns: Mapping[str, Any], unread: Mapping[str, Any]) -> int | None:
    """The number of rows: where there are only numbers, that of what is not read, or None."""
    lengths = {name: len(x) for name, x in columns.items() if not isinstance(x, float)}
    if not lengths:
        lengths = {name: len(x) for name, x in unread.items() if is_column(x)}
    if not lengths:
        return None
    first, rows = next(iter(lengths.items()))
    for name, other in lengths.items():
        if other != rows:
            raise InputError(
                "column-lengths",
                f"columns have different lengths: '{first}' {rows}, '{name}' {other}",
                help="a number in place of a column is used for every row",
            )
    return rows


# Memory for what engines write: new, or taken from an earlier answer.

LINE = 8
"""The doubles of a cache's line."""
PAGE = 4096
"""Addresses this many bytes apart share their place in the cache."""
LARGE_PAGE = 2**21
"""The bytes of a large page, which NumPy asks for where an array has two or more."""
COLUMN_STRIDE = 9 * 8 * LINE
"""The bytes from one column's place to the next: nine lines, which is prime to the lines of a page."""
SMALL = PAGE // 8
"""Columns of up to this many rows are allocated as they come."""


def data_address(array: Any) -> int:
    """Where an array's first number is; NumPy's own answer takes five times as long."""
    try:
        return addressof(c_char.from_buffer(array))
    except (TypeError, ValueError):  # read-only, empty, or not contiguous
        found: int = array.ctypes.data
        return found


def aligned_memory(count: int, shift: int = 0, page: int = PAGE) -> Any:
    """Uninitialised doubles, ``count`` of them, that begin ``shift`` bytes after the start of a page."""
    raw = np.empty(count + (page + shift) // 8)
    start = (-data_address(raw) % page + shift) // 8
    return raw[start : start + count]


def staggered_columns(count: int, rows: int) -> list[Any]:
    """New columns that do not all share the same places in the cache.

    Large ones begin near a large page, so that they take as many of those as possible, which are found in
    half the time.
    """
    if rows <= SMALL:
        return [np.empty(rows) for _ in range(count)]
    page = LARGE_PAGE if 8 * rows >= 2 * LARGE_PAGE else PAGE
    return [aligned_memory(rows, at * COLUMN_STRIDE % PAGE, page) for at in range(count)]


def reuse_output(out: Any, wrt: Sequence[str], taken: Taken) -> tuple[Any, dict[str, Any]]:
    """The memory of an earlier answer, if this one fits into it."""
    try:
        value, gradient = out
        found = {name: gradient[name] for name in wrt}
    except (TypeError, ValueError, KeyError, IndexError):
        raise refuse_out("is not an earlier answer of this formula, value and gradient") from None
    named = {"the value": value, **{f"'{name}'": column for name, column in found.items()}}
    for name, column in named.items():
        if (wrong := output_misfit(column, name, taken.rows)) is not None:
            raise refuse_out(wrong)
    if has_overlap([value, *found.values()], [*taken.columns, *taken.given]):
        raise refuse_out("shares memory with a column, or with itself")
    return value, found


def output_misfit(column: Any, name: str, rows: int) -> str | None:
    """Why something is not a writable column of ``rows`` rows; None if it is one."""
    if not (isinstance(column, np.ndarray) and column.ndim == 1):
        return f"has no column for {name}"
    if isinstance(column, np.ma.MaskedArray):
        return f"has a masked column for {name}"
    if len(column) != rows:
        return f"has {len(column)} row{'s' * (len(column) != 1)} for {name}, and the columns {rows}"
    if not is_ready(column):
        return f"has a column for {name} that is not of contiguous doubles"
    return None if column.flags.writeable else f"has a column for {name} that is read-only"


def has_overlap(outputs: Sequence[Any], columns: Sequence[Any]) -> bool:
    """Whether something that is written shares memory with anything else."""
    ranges = sorted(
        [memory_range(x, 1) for x in outputs if len(x)]
        + [memory_range(x, 0) for x in columns if len(x)]
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


def memory_range(column: Any, written: int) -> tuple[int, int, int]:
    """Where a column begins and ends, whichever way it runs, and whether it is written."""
    start = data_address(column)
    if column.flags.c_contiguous:
        return start, start + column.nbytes, written
    reach = column.strides[0] * (len(column) - 1)
    return start + min(reach, 0), start + max(reach, 0) + column.itemsize, written


def refuse_out(what: str) -> RequestError:
    """The error for an ``out`` that cannot be written."""
    return RequestError(
        "bad-out",
        f"out {what}",
        help="give an earlier answer for as many rows: answer = g(columns, out=answer)",
    )
