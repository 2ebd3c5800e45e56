"""The layout of text tables: the separators of cells and decimals, and where rows begin."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from itertools import islice, takewhile
from math import isinf
from typing import NamedTuple

__all__ = [
    "CHANGES", "DECIMAL_COMMAS", "LAST_WHOLE", "LINE", "MEASURED", "MISSING", "ODD_NUMBER", "SPELLED",
    "TRUTH_CELLS", "UNITS_ABOVE", "UNKNOWN", "Layout", "change_of", "detect_layout", "is_number_cell",
    "raw_cells", "rewrite_rows", "strip_quotes",
]  # fmt: skip

LINE = re.compile(r"([^\r\n]*)(?:\r\n|\r|\n|\Z)")
SAMPLE = 1000
"""The number of lines that determine a table's layout."""
IGNORED = r"\s*{}|sep=.$"
"""The beginning of lines that hold no rows, given a comment's beginning; ``sep=;`` is Excel's."""
EXPONENT = r"(?:[eE][-+−]?\d+)?"
COMMA = re.compile(rf"[-+−]?\d*,\d+{EXPONENT}")
GROUPED = re.compile(r"[-+−]?[1-9]\d{0,2}(?:([,.'’ \u00a0\u202f])\d{3})(?:\1\d{3})*(?:[.,]\d+)?")
"""A number with a sign between thousands, or with three decimals."""
ODD_NUMBER = re.compile(f"{GROUPED.pattern}|{COMMA.pattern}")
MEASURED = re.compile(
    rf"[-+−]?(?:\d+\.?\d*|\.\d+){EXPONENT}\s*[^\d\s.,][^\d\s]{{0,11}}|[$€£¥]\s*[\d.]+"
)
"""A number with its unit."""
UNITS_ABOVE = "leave only numbers in the cells: a unit belongs in the column's name"
DECIMAL_COMMAS = (
    (r"^([\s\"]*[-+−]?\d{1,3})\.(\d{3}(?:\.\d{3})*[\s\"]*)$", r"\1'\2"),
    (rf"^([\s\"]*[-+−]?\d*),(\d+{EXPONENT}[\s\"]*)$", r"\1.\2"),
)
"""Replacements in a cell with decimal commas, as regular expressions of Python's and Arrow's.

A point between thousands becomes ``'``, so that ``1.234`` is refused there.
"""
MISSING = ("", "NA", "N/A", "NULL", "null", "n/a", "None", "#N/A")
"""Cells of a text that are missing; ``nan`` is not, for it is a number that does not compute."""
TRUTH_CELLS = {"true": "1", "false": "0"}
"""A word for a truth value, in small letters → the number that it is read as."""
CHANGES = {
    "truth": "with true or false, read as 1 or 0",
    "underflow": "with a number too small for a double, read as 0",
    "overflow": "with a number too large for a double, read as infinite",
    "rounded": "with a whole number beyond 2^53, rounded",
}
"""How a cell's double may differ from its text, in words about its row."""
SPELLED = {"underflow": r"^[-+]?[0.]*[1-9]", "overflow": r"\d", "rounded": r"^[-+]?\d{16,}(\.0*)?$"}
"""Patterns of such cells, whose doubles are 0, infinite, or whole."""
LAST_WHOLE = 2.0**53
"""The number up to which every whole number is a double."""
UNIT = re.compile(r"(?i)(?!(?:#?n/?a|null|none|nan|[-+]?inf|-|\?)$).{1,12}")


class Layout(NamedTuple):
    """A table's layout; empty fields are found in its first lines, by ``detect_layout``.

    ``sheet`` is a workbook's, ``comment`` begins lines that are no rows, and a delimiter also follows
    the last cell where ``is_closed``.  Rows begin at ``start``.  ``remark`` says what is not obvious.
    """

    delimiter: str = ""
    decimal: str = ""
    sheet: str = ""
    comment: str = ""
    is_closed: bool = False
    names: tuple[str, ...] = ()
    start: int = 0
    remark: str = ""


UNKNOWN = Layout()
"""An unknown layout."""


def detect_layout(text: str, given: Layout, wanted: Collection[str] | None = None) -> Layout:
    """Detect the layout of a table from its first text, as far as it is not given.

    The first line has no names if it holds numbers: nothing else, or, where some ``wanted`` names are
    given, any, unless it has all of these.
    """
    listed = [*islice((line for line in LINE.finditer(text) if line[1].strip()), SAMPLE)]
    if not listed:
        return given
    mark, above, lines = split_comments(listed)
    first = lines[0]
    delimiter = given.delimiter or find_delimiter([line[1] for line in lines])
    table = [split_cells(line[1], delimiter) for line in lines]
    decimal = given.decimal or find_decimal(table)
    numeric = [
        [
            is_number_cell(cell.replace(decimal, ".")) or bool(ODD_NUMBER.fullmatch(cell))
            for cell in row
        ]
        for row in table
    ]
    names, start, remarks = table[0], first.end(), []
    if decimal == "," and not given.decimal:
        remarks.append(f"cells are separated by {delimiter!r}, decimals by ','")
    in_comment = split_cells(above[-1][1].lstrip(f"{mark} \t"), delimiter) if above else []
    is_heading = len(in_comment) == len(names) and not any(map(is_number_cell, in_comment))
    if any(numeric[0]) and is_heading:
        names, start = in_comment, first.start()
        remarks.append("the names of its columns are those of the comment above its rows")
    elif (all if wanted is None else any)(numeric[0]) and not (wanted and {*wanted} <= {*names}):
        names, start = [], first.start()
    at = int(start > first.start())  # of the first row
    if names and has_units(table[at:], numeric[at:]):
        start, at = lines[at].end(), at + 1
        remarks.append("the line below the names of its columns is taken for units")
    is_mute = any(mark in line[1] for line in above) or any(row[0] for row in numeric[at : at + 1])
    if is_mute and any(line[1].lstrip()[:1] == mark for line in listed):
        remarks.append(f"lines that begin with {mark} are left out")
    is_closed, names = drop_closing_name(names, table[at:])
    return given._replace(
        delimiter=delimiter,
        decimal=decimal,
        comment=mark if is_mute else "",
        is_closed=is_closed,
        names=tuple(names),
        start=start,
        remark="; ".join(remarks),
    )


def split_comments(
    listed: Sequence[re.Match[str]],
) -> tuple[str, list[re.Match[str]], list[re.Match[str]]]:
    """Return the comment mark, the comments above a table, and the table's lines, at least one.

    The mark is ``%`` if the first line begins with it and lacks the last line's cells, else ``#``.
    """
    top, last = listed[0][1], listed[-1][1]
    has_cells = any(top.count(sign) == last.count(sign) > 0 for sign in ",;\t")
    is_header = has_cells or len(top.split()) == len(last.split())
    mark = "%" if top.lstrip()[:1] == "%" and not is_header else "#"
    is_ignored = re.compile(IGNORED.format(mark)).match
    above = [*takewhile(lambda line: is_ignored(line[1]), listed)]
    first, *others = listed[len(above) :] or listed[-1:]
    return mark, above, [first, *([line for line in others if not is_ignored(line[1])] or others)]


def drop_closing_name(names: list[str], rows: Sequence[Sequence[str]]) -> tuple[bool, list[str]]:
    """Return whether a delimiter ends every row, and the names without the empty one that this makes."""
    if not names or not rows or (names[-1] and len(rows[0]) != len(names) + 1):
        return False, names
    is_closed = all(len(row) > 1 and not row[-1] for row in rows)
    return is_closed, names[:-1] if is_closed and not names[-1] else names


def find_delimiter(lines: Sequence[str]) -> str:
    """Find the delimiter of some lines: equally often in each, or else most often in the first."""
    masked = [re.sub(r'"[^"]*"', "_", line) for line in lines]
    for mark in "\t;|,":
        first, *others = [line.count(mark) for line in masked]
        usual = {*others} or {first}
        if len(usual) == 1 and max(usual) and max(usual) - first in (0, 1):
            return mark
    widths = {len(line.split()) for line in masked}
    cells = [cell for line in masked[1:] for cell in line.split()]
    if len(widths) == 1 and widths != {1} and cells and all(map(is_number_cell, cells)):
        return " "
    return max(",;\t", key=masked[0].count)


def find_decimal(table: Sequence[Sequence[str]]) -> str:
    """Find the decimal sign of some cells: a comma only where no other reading is possible."""
    cells = [cell for row in table for cell in row]
    commas = [cell for cell in cells if COMMA.fullmatch(cell)]
    is_certain = any(not GROUPED.fullmatch(cell) for cell in commas)
    has_points = any(
        "." in cell and is_number_cell(cell) and not GROUPED.fullmatch(cell) for cell in cells
    )
    return "," if is_certain and not has_points else "."


def has_units(rows: Sequence[Sequence[str]], numeric: Sequence[Sequence[bool]]) -> bool:
    """Whether the first row holds units: short texts in columns that are numeric below."""
    units = [(at, cell) for at, cell in enumerate(rows[0]) if cell] if len(rows) > 2 else []
    return len(units) > 1 and all(
        UNIT.fullmatch(cell)
        and not numeric[0][at]
        and all(row[at : at + 1] == [True] for row in numeric[1:])
        for at, cell in units
    )


def rewrite_rows(text: str, layout: Layout) -> str:
    """Remove comments, closing delimiters and surplus blanks from lines."""
    if layout.comment and layout.comment in text:
        comments = re.compile(rf'"[^"]*"|^[ \t]*{layout.comment}.*', re.M)
        text = comments.sub(lambda found: found[0] if found[0][0] == '"' else "", text)
    if "\n " in text:
        text = re.sub(r"(?m)^ +(?=\r?$)", "", text)
    if layout.is_closed:
        text = re.sub(rf"(?m){re.escape(layout.delimiter)}[ ]*(\r?)$", r"\1", text)
    if layout.delimiter == " ":
        text = re.sub(r"[ \t]+", " ", re.sub(r"(?m)^[ \t]+|[ \t]+(?=\r?$)", "", text))
    return text


def split_cells(line: str, separator: str) -> list[str]:
    """Split a line into cells, without blanks and quotes around them."""
    return [strip_quotes(cell) for cell in raw_cells(line, separator)]


def raw_cells(line: str, separator: str, decimal: str = ".") -> list[str]:
    """Split a line at its separators, except those in quotes; write decimals with points."""
    cells = line.split(None if separator == " " else separator)
    if '"' in line:
        mark = re.escape(separator)
        cell = rf"""(?:^|{mark})((?:[^{mark}"]++|"[^"]*+(?:"|$))*+)"""
        cells = [found[1] for found in re.finditer(cell, line)]
    for pattern, point in DECIMAL_COMMAS if decimal == "," else ():
        cells = [re.sub(pattern, point, cell) for cell in cells]
    return cells


def change_of(cell: str, value: float) -> str:
    """Say how a cell's double differs from its text: see ``CHANGES``; empty if it does not."""
    if cell.lower() in TRUTH_CELLS:
        return "truth"
    change = "underflow" if not value else "overflow" if isinf(value) else "rounded"
    if not re.search(SPELLED[change], cell):
        return ""
    is_same = change == "rounded" and int(cell.partition(".")[0]) == int(value)
    return "" if is_same else change


def strip_quotes(cell: str) -> str:
    """Remove blanks and quotes around a cell."""
    cell = cell.strip()
    return cell[1:-1].replace('""', '"') if len(cell) > 1 and cell[0] == cell[-1] == '"' else cell


def is_number_cell(cell: str) -> bool:
    """Whether a cell is a number, ``nan`` or ``inf``; Python alone would read more, such as ``1_000``.

    The minus sign may be U+2212.
    """
    cell = cell.replace("−", "-")
    try:
        float(strip_quotes(cell))
    except ValueError:
        return False
    return cell.isascii() and "_" not in cell
