"""Files named by a user: their bytes, their text, and the numbers in ``.npy``, ``.csv`` and ``.json``.

A ``.npy`` file holds the one array that ``numpy.save`` wrote; nothing in it is ever unpickled, and nothing
else here needs NumPy.  A ``.csv`` file holds rows of numbers; a single row or column is a vector.  A first
line without a number is a header, whose names choose columns: ``x.csv:a``, ``x.csv:a,b``, ``x.csv:*``.
A ``.json`` file holds a number or nested lists.
"""

from __future__ import annotations

import json
import re
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from exprgrad.errors import Asker, InputError, RequestError, command_or_python
from exprgrad.run.values.layouts import (
    CHANGES,
    LAST_WHOLE,
    LINE,
    MEASURED,
    MISSING,
    ODD_NUMBER,
    TRUTH_CELLS,
    UNITS_ABOVE,
    Layout,
    change_of,
    detect_layout,
    is_number_cell,
    raw_cells,
    rewrite_rows,
    strip_quotes,
)
from exprgrad.source import Source, Span, cut_text

__all__ = [
    "LISTED", "decode_text", "fields_given_once", "json_in", "json_value", "listed_columns", "read_bytes",
    "read_tensor", "rows_in", "say_remarks", "unreadable_file",
]  # fmt: skip

LONGEST_CELL = 40
"""The longest cell in a message."""
LISTED = 8
"""The most columns that a message lists."""

SHOWN = 40
"""The longest index in a message."""
EXTREME = re.compile(
    r"(?<![\w.])-?(?:\d{16,309}(?:\.0*)?(?![\d.eE])|\d+(?:\.\d+)?[eE][-+]?\d{3,}|0\.0{300}\d*)"
)
"""Numbers in JSON whose doubles may be 0, infinite or rounded."""


# Bytes, text and JSON.


def read_bytes(path: str) -> bytes:
    """Read the bytes of a file."""
    try:
        return Path(path).read_bytes()
    except (OSError, ValueError) as error:
        raise unreadable_file(path, error) from None


def unreadable_file(path: str, error: Exception, help: str | None = None) -> RequestError:
    """Return the error for a file that cannot be read, and why."""
    reason = getattr(error, "strerror", None) or (
        "there is no such file" if isinstance(error, FileNotFoundError) else str(error)
    )
    return RequestError("file", f"cannot read '{path}': {reason}", help=help)


def decode_text(content: bytes, name: str, *, is_expression: bool = True) -> str:
    """Decode UTF-8 text without a byte order mark; errors show ``name``.

    A file that begins with a UTF-16 mark, as PowerShell writes, is read as UTF-16.
    """
    try:
        if content.startswith((BOM_UTF16_LE, BOM_UTF16_BE)):
            return content.decode("utf-16")
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        source = Source(content.decode("utf-8", errors="replace"), is_expression)
        place = len(content[: error.start].decode("utf-8", errors="replace"))
        raise RequestError(
            "encoding",
            f"{name} is not UTF-8 text: byte 0x{content[error.start]:02x} at offset {error.start}",
            source=source if Asker.by_command else None,
            span=(place, place + 1),
        ) from None


def json_in(path: str) -> Any:
    """Read a JSON file; raise if an object has a field twice.

    Remarks say which numbers differ as doubles from what is written.
    """
    content = read_bytes(path)
    if path.lower().endswith((".npy", ".csv")):
        raise RequestError(
            "file",
            f"'{path}' is not JSON",
            help=f"--inputs reads a JSON object; for one array write x=@{path}",
        )
    text = decode_text(content, f"'{path}'", is_expression=False)
    try:
        found = json.loads(text, object_pairs_hook=fields_given_once)
    except json.JSONDecodeError as error:
        raise RequestError(
            "file", f"'{path}' is not JSON: {error.msg.lower()}, in line {error.lineno}"
        ).quoting(text, (error.pos, error.pos + 1)) from None
    except (ValueError, RecursionError):
        raise RequestError(
            "file", f"'{path}' is nested too deeply, or holds too long a number"
        ) from None
    changes = Counter(change_of(number, float(number)) for number in EXTREME.findall(text))
    for change, n in changes.items():
        words = CHANGES.get(change, "").replace("with a", f"{n:,}")
        say_remarks({words.replace("number", "number" + "s" * (n > 1)): path})
    return found


def json_value(value: object, name: str, path: str) -> Any:
    """Return a value from JSON; raise if it holds anything but numbers, texts and lists of them."""
    todo = [value]
    while todo:
        part = todo.pop()
        if isinstance(part, list):
            todo += part
        elif is_wrong(part):
            place, kind = first_wrong(value)
            raise InputError(
                "bad-value",
                f"the value of '{name}{place}' in '{path}' is not a number but {kind}",
                help='a value is a number, a string like "pi/2", or a list of them',
            )
    return value


def is_wrong(part: object) -> bool:
    """Whether a part of a value from JSON is neither a number nor a text."""
    return isinstance(part, bool) or not isinstance(part, (int, float, str))


def first_wrong(value: object) -> tuple[str, str]:
    """Return the index of the first invalid part, and what it is."""
    todo: list[tuple[object, tuple[int, ...]]] = [(value, ())]
    while todo:
        part, index = todo.pop()
        if isinstance(part, list):
            todo += [(part[at], (*index, at)) for at in reversed(range(len(part)))]
        elif is_wrong(part):
            break
    kind = "an object" if isinstance(part, dict) else json.dumps(part)
    return (cut_text(str(list(index)), SHOWN) if index else ""), kind


def fields_given_once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """Return a JSON object's fields; raise if one is given twice."""
    fields = dict(pairs)
    if len(fields) < len(pairs):
        counts = Counter(name for name, _ in pairs)
        name = next(name for name, count in counts.items() if count > 1)
        raise InputError("given-twice", f"'{name}' is given twice")
    return fields


# Numbers.


def read_tensor(path: str, name: str) -> Any:
    """Read a file of numbers: a number, lists of them, or an array."""
    readers = {".npy": read_npy, ".csv": read_csv, ".json": read_json}
    if not path:
        raise InputError(
            "bad-value",
            f"the '@' of '{name}' needs a file name after it",
            help=f"write {name}=@FILE, such as {name}=@x.npy",
        )
    ending = Path(split_columns(path)[0]).suffix.lower()
    if ending not in readers:
        raise InputError(
            "unknown-format",
            f"'{path}' does not name a file of numbers",
            help="the endings are .npy (one array, from numpy.save), .csv and .json",
        )
    return readers[ending](path, name)


def read_json(path: str, name: str) -> Any:
    """Read the number or the nested lists in a JSON file."""
    found = json_in(path)
    if isinstance(found, dict):
        raise InputError(
            "bad-value",
            f"'{path}' holds a JSON object, not a list of numbers",
            help=command_or_python("--inputs reads an object", "json.load reads an object")
            + ": a value for each name",
        )
    todo = [json_value(found, name, path)]
    while todo:
        part = todo.pop()
        todo += part if isinstance(part, list) else ()
        if isinstance(part, str) and part.lstrip()[:1] == "@":
            raise InputError(
                "bad-value",
                f"the value of '{name}' in '{path}' names another file",
                help="a file holds numbers and constants",
            )
    return found


def read_npy(path: str, name: str) -> Any:
    """Read the array in a ``.npy`` file."""
    import numpy as np

    try:
        with Path(path).open("rb") as file:
            found = np.lib.format.read_array(file, allow_pickle=False)
            if file.read(1):
                raise ValueError
            return found
    except OSError as error:
        raise unreadable_file(path, error) from None
    except (ValueError, EOFError, SyntaxError, OverflowError, MemoryError) as error:
        if "\0" in path:
            raise unreadable_file(path, error) from None
        if "Object arrays" in str(error):
            raise InputError(
                "bad-value",
                f"'{path}' holds Python objects, which are not read",
                help="save an array of numbers",
            ) from None
        raise RequestError(
            "file", f"'{path}' is not a whole file of one array, as numpy.save writes it"
        ) from None


class CsvLine(NamedTuple):
    """A line of a CSV file that is not blank: its number from 1, its span in the text, its cells."""

    line: int
    start: int
    text: str
    cells: list[str]


def split_columns(path: str) -> tuple[str, list[str]]:
    """Split off the columns requested after the last ``.csv:``, if any."""
    end = path.lower().rfind(".csv:") + len(".csv")
    if end < len(".csv"):
        return path, []
    return path[:end], [column.strip() for column in path[end + 1 :].split(",")]


def read_csv(path: str, name: str) -> Any:
    """Read the numbers in a CSV file, or in some of its columns.

    One column makes a vector, several make a matrix; a file without a header is a vector if it has only one
    row, too.
    """
    path, wanted = split_columns(path)
    header, rows, text = rows_in(path, wanted)
    if len(header) > 1 and not wanted:
        raise ambiguous_column_error(header, path, name)
    columns = columns_in(wanted, header, path, name)
    if not rows:
        raise InputError("bad-value", f"'{path}' holds no numbers")
    width = len(header) or len(rows[0].cells)
    table = [row_numbers(row, width, text, path, columns) for row in rows]
    places = range(width) if columns is None else columns
    changes = Counter(
        change
        for row, numbers in zip(rows, table, strict=True)
        for change in {
            change_of(strip_quotes(row.cells[at]), x)
            for at, x in zip(places, numbers, strict=True)
            if x in (0, 1) or abs(x) >= LAST_WHOLE
        }
        if change
    )
    remarks = (f"{n:,} row{'s' * (n > 1)} {CHANGES[change]}" for change, n in changes.items())
    say_remarks(dict.fromkeys(remarks, path))
    if not wanted and len(table) == 1:
        return table[0]
    is_column = len(columns) == 1 if columns else width == 1 and not wanted
    return [number for (number,) in table] if is_column else table


def columns_in(
    wanted: Sequence[str], header: Sequence[str], path: str, name: str
) -> list[int] | None:
    """Return the positions of the requested columns; None for all."""
    if not wanted or wanted == ["*"]:
        return None
    for column in wanted:
        if header.count(column) == 1:
            continue
        if header and not column:
            raise ambiguous_column_error(header, path, name)
        message, help = (
            f"'{path}' has no column '{column}'",
            f"its columns are {listed_columns(header)}",
        )
        if column in header:
            message, help = f"'{path}' has several columns '{column}'", "give them different names"
        elif header:
            from exprgrad.language.mistakes.hints import did_you_mean

            help = did_you_mean(column, header, help)
        else:
            whole = command_or_python(f"{name}=@{path}", f"exprgrad.file({path!r})")
            help = f"it has no header: {whole} reads all of it"
        raise InputError("bad-value", message, help=help)
    return [header.index(column) for column in wanted]


def ambiguous_column_error(header: Sequence[str], path: str, name: str) -> InputError:
    """Return the error for a file of several columns where none is chosen."""
    one = name if name in header else next((column for column in header if column), "NAME")
    message = f"'{path}' has {len(header)} columns: {listed_columns(header)}"
    first = f"{name}=@{path}:{one}"
    first = command_or_python(
        f'"{first}"' if " " in first else first, f"exprgrad.file({f'{path}:{one}'!r})"
    )
    every = command_or_python(f'"{name}=@{path}:*"', f"exprgrad.file({f'{path}:*'!r})")
    return InputError(
        "bad-value", message, help=f"for one of them write {first}, for all of them {every}"
    )


def listed_columns(columns: Sequence[str]) -> str:
    """List the names of columns; a long list is cut."""
    return ", ".join([*columns[:LISTED], *["…"][: max(len(columns) - LISTED, 0)]])


def rows_in(path: str, wanted: Sequence[str] = ()) -> tuple[tuple[str, ...], list[CsvLine], str]:
    """Return the names of a CSV file's columns, if it has any, its rows, and its text."""
    text = decode_text(read_bytes(path), f"'{path}'", is_expression=False)
    layout = detect_layout(text, Layout(), wanted)
    say_remarks({layout.remark: path})
    above = "\n" * len(text[: layout.start].splitlines())
    text = above + rewrite_rows(text[layout.start :], layout).replace("−", "-")
    rows = [
        CsvLine(number, line.start(), line[1], raw_cells(line[1], layout.delimiter, layout.decimal))
        for number, line in enumerate(LINE.finditer(text), 1)
        if line[1].strip()
    ]
    return layout.names, rows, text


def say_remarks(remarks: Mapping[str, str]) -> None:
    """Pass on remarks about how files are read, each with the path of one file."""
    for remark, path in remarks.items():
        if remark:
            Asker.take_note(f"'{path}': {remark}")


def row_numbers(
    row: CsvLine, width: int, text: str, path: str, columns: Sequence[int] | None
) -> list[float]:
    """Return a row's numbers, ``width`` of them as in the first line, or those in some columns."""
    cells = row.cells
    if len(cells) != width:
        has = f"{len(cells)} cell{'s' * (len(cells) != 1)}"
        raise error_in_file(
            text,
            (row.start, row.start + len(row.text)),
            f"line {row.line} of '{path}' has {has} instead of {width}",
            None,
        )
    chosen = cells if columns is None else [cells[at] for at in columns]
    if row.text.isascii() and "_" not in row.text:
        with suppress(ValueError):
            return list(map(float, chosen))
    bare = [strip_quotes(cell).strip() for cell in cells]
    bare = [TRUTH_CELLS.get(cell.lower(), cell) for cell in bare]
    places = range(width) if columns is None else columns
    bad = next((at for at in places if not is_number_cell(bare[at])), None)
    if bad is None:
        return [float(bare[at]) for at in places]
    cell, is_missing = cells[bad].strip(), bare[bad] in MISSING
    start = row.start + sum(len(before) + 1 for before in cells[:bad]) + cells[bad].index(cell)
    what = command_or_python(f"'{cut_text(cell, LONGEST_CELL)}'", "the cell")
    where = f"in line {row.line}, column {bad + 1} of '{path}'"
    if is_missing:
        help = "leave the row out, or write nan for a number that is not known"
    elif ODD_NUMBER.fullmatch(cell):
        help = "write decimals with '.', and thousands without separators"
    elif MEASURED.fullmatch(cell):
        help = UNITS_ABOVE
    else:
        help = "only the first line may be a header, and it holds no numbers; "
        help += "cells are separated by ',', ';', tab or blanks"
    raise error_in_file(
        text,
        (start, start + max(len(cell), 1)),
        f"a value is missing {where}" if is_missing else f"{what} {where} is not a number",
        help,
    )


def error_in_file(text: str, span: Span, message: str, help: str | None) -> InputError:
    """Return an error in a file, with its place."""
    return InputError("bad-value", message, help=help).quoting(text, span)
