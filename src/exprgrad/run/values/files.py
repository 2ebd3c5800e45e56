"""Files of numbers: ``.npy``, ``.csv`` and ``.json``.

A ``.npy`` file holds the one array that ``numpy.save`` wrote; nothing in it is ever unpickled.  A ``.csv``
file holds rows of numbers, one row or one column being a vector; a first line without a number is its
header.  A ``.json`` file holds a number or nested lists.
"""

from __future__ import annotations

import re
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from exprgrad.errors import InputError, RequestError
from exprgrad.run.values.inputs import as_value
from exprgrad.run.values.lists import as_tensor
from exprgrad.run.values.text_files import decode, json_in, json_value, read_bytes, unreadable
from exprgrad.source import Source, Span, cut

__all__ = ["read_tensor"]

SEPARATORS = {",": "','", ";": "';'", "\t": "tab"}
"""What may stand between cells."""
LINE = re.compile(r"([^\r\n]*)(?:\r\n|\r|\n|\Z)")
LONGEST_CELL = 40
"""Where a cell is cut in a message."""


def read_tensor(path: str, name: str) -> Any:
    """The numbers in a file: a float, or an array of doubles."""
    readers = {".npy": read_npy, ".csv": read_csv, ".json": read_json}
    if not path:
        message = f"the '@' of '{name}' needs a file name after it"
        raise InputError("bad-value", message, help=f"write {name}=@FILE, such as {name}=@x.npy")
    ending = Path(path).suffix.lower()
    if ending not in readers:
        message = f"'{path}' does not name a file of numbers"
        help = "the endings are .npy (one array, from numpy.save), .csv and .json"
        raise InputError("unknown-format", message, help=help)
    return readers[ending](path, name)


def read_json(path: str, name: str) -> Any:
    """The number or the nested lists in a JSON file."""
    found = json_in(path)
    if isinstance(found, dict):
        message = f"'{path}' holds a JSON object, not a list of numbers"
        raise InputError(
            "bad-value", message, help="--inputs reads an object: a value for each name"
        )
    value = json_value(found, name, path)
    try:
        return as_value(value, name)
    except InputError as error:
        raise error.at(path) from None


def read_npy(path: str, name: str) -> Any:
    """The array in a ``.npy`` file."""
    try:
        with Path(path).open("rb") as file:
            dtype = dtype_in(file)
            if dtype.hasobject:
                message = f"'{path}' holds Python objects, which are not read"
                raise InputError("bad-value", message, help="save an array of numbers")
            file.seek(0)
            found = np.lib.format.read_array(file, allow_pickle=False)
    except OSError as error:
        raise unreadable(path, error) from None
    except (ValueError, EOFError, SyntaxError, OverflowError, MemoryError) as error:
        if "\0" in path:
            raise unreadable(path, error) from None
        message = f"'{path}' is not a whole file of one array, as numpy.save writes it"
        raise RequestError("file", message) from None
    return as_tensor(found, name)


def dtype_in(file: Any) -> Any:
    """What kind of numbers the array in an open ``.npy`` file has."""
    version = np.lib.format.read_magic(file)
    if version == (1, 0):
        return np.lib.format.read_array_header_1_0(file)[2]
    return np.lib.format.read_array_header_2_0(file)[2]


class Row(NamedTuple):
    """A line of a CSV file that is not blank: its number from 1, its place in the text, its cells."""

    line: int
    start: int
    text: str
    separator: str

    @property
    def cells(self) -> list[str]:
        """What stands between separators."""
        return self.text.split(self.separator)


def read_csv(path: str, name: str) -> Any:
    """The numbers in a CSV file: a matrix, or a vector where it has one row or one column."""
    text = decode(read_bytes(path), f"'{path}'", is_expression=False)
    rows = rows_in(text, path)
    if rows and not any(map(is_number, rows[0].cells)):
        del rows[0]
    if not rows:
        raise InputError("bad-value", f"'{path}' holds no numbers")
    width = len(rows[0].cells)
    table = [numbers_in(row, width, rows[0], text, path) for row in rows]
    found = np.array(table, dtype=np.float64)
    return found.ravel() if 1 in found.shape else found


def rows_in(text: str, path: str) -> list[Row]:
    """The lines that are not blank, split into cells at whatever separates those of the last."""
    matches = enumerate(LINE.finditer(text), 1)
    lines = [(number, match.start(), match[1]) for number, match in matches if match[1].strip()]
    if not lines:
        return []
    number, start, last = lines[-1]
    used = [mark for mark in SEPARATORS if mark in last]
    if len(used) > 1:
        message = (
            f"line {number} of '{path}' has both {SEPARATORS[used[0]]} and {SEPARATORS[used[1]]}"
        )
        at = start + max(last.index(mark) for mark in used)
        help = "cells are separated by one of ',', ';' and tab; a decimal point is '.'"
        raise wrong(text, (at, at + 1), message, help)
    separator = used[0] if used else ","
    return [Row(*line, separator) for line in lines]


def numbers_in(row: Row, width: int, first: Row, text: str, path: str) -> list[float]:
    """A row's numbers, as many as the first row has: ``width``."""
    cells = row.cells
    if len(cells) != width:
        has = f"{len(cells)} cell{'s' * (len(cells) != 1)}"
        message = f"line {row.line} of '{path}' has {has}, and line {first.line} has {width}"
        raise wrong(text, (row.start, row.start + len(row.text)), message, None)
    if row.text.isascii() and "_" not in row.text:
        with suppress(ValueError):
            return list(map(float, cells))
    bad = next((at for at, cell in enumerate(cells) if not is_number(cell)), None)
    if bad is None:
        return [float(unquoted(cell)) for cell in cells]
    cell = cells[bad].strip()
    start = row.start + sum(len(before) + 1 for before in cells[:bad])
    where = f"in line {row.line}, column {bad + 1} of '{path}'"
    if not cell:
        message, help = f"there is no number {where}", "write nan for a number that is not known"
        raise wrong(text, (start, start + 1), message, help)
    start += cells[bad].index(cell)
    message = f"'{cut(cell, LONGEST_CELL)}' {where} is not a number"
    help = "only the first line may be a header, and it holds no numbers; "
    help += "cells are separated by ',', ';' or tab"
    raise wrong(text, (start, start + len(cell)), message, help)


def unquoted(cell: str) -> str:
    """A cell without blanks and quotes around it."""
    cell = cell.strip()
    return cell[1:-1] if len(cell) > 1 and cell[0] == cell[-1] == '"' else cell


def is_number(cell: str) -> bool:
    """Whether a cell is a number, ``nan`` or ``inf``; Python alone would read more, such as ``1_000``."""
    try:
        float(unquoted(cell))
    except ValueError:
        return False
    return cell.isascii() and "_" not in cell


def wrong(text: str, span: Span, message: str, help: str | None) -> InputError:
    """An error in a file, with its place."""
    source = Source(text, is_expression=False)
    return InputError("bad-value", message, source=source, span=span, help=help)
