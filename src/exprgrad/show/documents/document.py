"""JSON and CSV, written piece by piece: a million nodes never sit in memory as dictionaries.

Tensors are written row by row: one of millions of numbers is never a list of lists in memory.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain, islice, repeat
from typing import Any

__all__ = [
    "LARGEST_SHOWN", "SCHEMA", "Apart", "Lines", "Quoted", "Short", "csv_line", "csv_rows",
    "encode_nonfinite", "integer_text", "json_document", "nested_lists", "record_lines", "shorten_tensor",
    "shorten_tensors", "small_document",
]  # fmt: skip

NUMBERS_AT_ONCE = 4096
"""The most numbers of a row that are written at once."""


class Short:
    """A tensor that may be written as a summary."""

    def __init__(self, value: Any) -> None:
        self.value = value


class Apart:
    """A field that begins a line of its own."""

    def __init__(self, value: Any) -> None:
        self.value = value


class Lines(Apart):
    """A field with one of its items a line: values in ``[]``, or names and values in ``{}``."""

    def __init__(self, value: Iterable[Any], brackets: str = "[]") -> None:
        super().__init__(value)
        self.brackets = brackets


def shorten_tensor(value: Any) -> Any:
    """A number as it is; a tensor as one that may be written as a summary."""
    return value if value is None or isinstance(value, float) else Short(value)


def shorten_tensors(values: Mapping[str, Any]) -> dict[str, Any]:
    """Values by name, of which tensors may be written as summaries."""
    return {name: shorten_tensor(value) for name, value in values.items()}


def record_lines(found: Iterable[Any]) -> Lines:
    """Named tuples, such as diagnostics, one to a line."""
    return Lines(one._asdict() for one in found)


def nested_lists(value: Any, write: Callable[[list[float]], str]) -> Iterator[str]:
    """A tensor as nested lists, a row at a time; ``write`` writes a list of numbers, brackets and all."""
    *lead, length = value.shape
    counts = [1]
    for axis in reversed(lead):
        counts.append(counts[-1] * axis)
    rows = value.reshape(-1, length)
    for at, row in enumerate(rows):
        opened = sum(at % count == 0 for count in counts[1:])
        yield (", " if at else "") + "[" * (opened + 1)
        for start in range(0, length, NUMBERS_AT_ONCE):
            numbers = write(row[start : start + NUMBERS_AT_ONCE].tolist())[1:-1]
            yield f", {numbers}" if start else numbers
        yield "]" * (1 + sum((at + 1) % count == 0 for count in counts[1:]))


def integer_text(count: int) -> str:
    """A whole number with all its digits, however many: ``str`` refuses more than 4300."""
    from decimal import Decimal

    return format(Decimal(count), "f")


SCHEMA = "exprgrad/1"
FLOATS = frozenset((float,))
LARGEST_SHOWN = 1000
"""The most numbers of a tensor on a node or an edge that are written without ``--all``."""
json_text = json.JSONEncoder(allow_nan=False, check_circular=False).encode
"""One JSON value on one line; it never holds itself."""


def encode_nonfinite(value: Any) -> Any:
    """A value as JSON can hold it: what is not finite becomes ``"nan"``, ``"inf"`` or ``"-inf"``.

    A tensor is the list of its numbers, in row-major order.
    """
    if value is None or isinstance(value, int | float):
        return value if value is None or math.isfinite(value) else str(value)
    return [*map(encode_nonfinite, value.ravel().tolist())]


# JSON.


def small_document(command: str, **fields: Any) -> str:
    """A whole document that is small: the schema, the command, and what it has to say."""
    return "".join(json_pieces({"schema": SCHEMA, "command": command, **fields}))


def json_document(
    command: str,
    expression: str | None,
    fields: Iterable[tuple[str, Any]],
    *,
    whole: bool = False,
    apart: bool = False,
) -> Iterator[str]:
    """An answer as a JSON object, about an expression or None; ``whole`` leaves no tensor out.

    A field begins a line of its own if it says so, or if all do: ``apart``.
    """
    head = {"schema": SCHEMA, "command": command, "expression": expression}
    head = {name: value for name, value in head.items() if value is not None}
    rest = iter(fields)
    first = list(islice(rest, 1))  # so that an error on the way there leaves no half an object
    between = ",\n " if apart else ", "
    members = chain(head.items(), first, rest)
    yield from enclose_items("{}", members, whole=whole, depth=1, between=between)
    yield "\n"


def enclose_items(
    brackets: str,
    items: Iterable[tuple[str | None, Any]],
    *,
    whole: bool,
    depth: int,
    first: str = "",
    between: str = ", ",
) -> Iterator[str]:
    """Values in brackets, named in an object, with ``first`` before them and ``between`` between two."""
    separator = opening = brackets[0] + first
    for name, value in items:
        if separator != opening and isinstance(value, Apart):
            separator = f",\n{' ' * depth}"
        head = separator if name is None else f"{separator}{json_text(name)}: "
        yield from json_pieces(value, whole=whole, depth=depth, head=head)
        separator = between
    yield brackets if separator == opening else brackets[1]


def json_pieces(value: Any, *, whole: bool = True, depth: int = 0, head: str = "") -> Iterator[str]:
    """Any value as JSON, after its ``head``: a tensor as nested lists, what is not finite as a string.

    A large ``Short`` tensor is a summary, if not ``whole``.
    """
    try:
        written = json_text(value)
    except (TypeError, ValueError):  # something in it is none of JSON's own
        yield head
        yield from json_parts(value, whole=whole, depth=depth)
    else:
        yield head + written


def json_parts(value: Any, *, whole: bool, depth: int) -> Iterator[str]:
    """A value that JSON does not know, or that holds one."""
    if isinstance(value, Lines):
        line = "\n" + " " * (depth + 1)
        items = value.value if value.brackets == "{}" else unnamed_items(value.value)
        how = {"first": line, "between": f",{line}"}
        yield from enclose_items(value.brackets, items, whole=whole, depth=depth, **how)
    elif isinstance(value, Apart):
        yield from json_pieces(value.value, whole=whole, depth=depth)
    elif isinstance(value, Short):
        numbers = value.value
        if not whole and numbers.size > LARGEST_SHOWN:
            from exprgrad.run.arrays.arrays import measure_tensor

            found = measure_tensor(numbers)  # a nan makes the norm nan, and extremes leave nans out
            sizes = {"norm": found.norm, "min": found.least, "max": found.greatest}
            numbers = {"shape": list(found.shape), **sizes}
        yield from json_pieces(numbers, whole=whole, depth=depth)
    elif isinstance(value, float):
        yield json_text(str(value))
    elif isinstance(value, int):
        yield integer_text(value)
    elif isinstance(value, Mapping):
        yield from enclose_items("{}", value.items(), whole=whole, depth=depth + 1)
    elif hasattr(value, "reshape"):
        yield from nested_lists(value, lambda numbers: "".join(json_pieces(numbers)))
    else:
        yield from enclose_items("[]", unnamed_items(value), whole=whole, depth=depth)


def unnamed_items(values: Iterable[Any]) -> Iterator[tuple[None, Any]]:
    """The values of a list, which have no names."""
    return zip(repeat(None), values, strict=False)


# CSV.


def csv_rows(
    columns: Mapping[str, Callable[[Any], Any]], items: Iterable[Any]
) -> Iterator[list[Any]]:
    """The lines of CSV: the names of the columns, then what each item has there."""
    yield [*columns]
    for item in items:
        yield [cell(item) for cell in columns.values()]


class Quoted(str):
    """A text that CSV writes in quotes where it is empty, unlike a missing cell."""


def csv_line(cells: Iterable[Any], *, whole: bool = True) -> str:
    """One line of CSV (RFC 4180); numbers as the shortest text that reads back, tensors as JSON."""
    cells, written = tuple(cells), []
    if FLOATS.issuperset(map(type, cells)):
        return ",".join(map(repr, cells)) + "\n"
    for cell in cells:
        value = csv_cell(cell, whole=whole)
        if (isinstance(cell, Quoted) and not cell) or any(c in value for c in ',"\r\n'):
            value = '"' + value.replace('"', '""') + '"'
        written.append(value)
    return ",".join(written) + "\n"


def csv_cell(cell: Any, *, whole: bool) -> str:
    """The text of one cell."""
    if cell is None:
        return ""
    if isinstance(cell, str | float):
        return str(cell)
    return "".join(json_pieces(cell, whole=whole))
