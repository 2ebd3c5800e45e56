"""Jacobians, Hessians and their products with vectors: as tables, JSON, CSV, and lines for scripts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeVar

from exprgrad.draw.documents.document import SCHEMA, array, csv_line, finite, text
from exprgrad.draw.text.table import (
    BETWEEN,
    EDGE_ROWS,
    LEAST,
    LONGEST_WHOLE,
    Column,
    Table,
    decimal,
)
from exprgrad.explain.diagnostic import Diagnostic
from exprgrad.run.matrices import Matrix
from exprgrad.source import display_width, printable

__all__ = [
    "MOST_COLUMNS", "MOST_OUTPUTS", "answers", "document", "matrix_csv", "matrix_lines", "matrix_table",
    "named", "outputs_foot", "pairs_csv", "pairs_lines", "pairs_table", "pattern_foot",
]  # fmt: skip

T = TypeVar("T")

MOST_COLUMNS = 12
"""The widest matrix that is drawn as a matrix."""
ZERO = "·"
"""What stands for an entry that is structurally 0."""
MOST_OUTPUTS = 12
"""How many outputs are listed below a table."""


# Tables.


def matrix_table(
    found: Matrix, digits: int, foot: str, *, whole: bool = False, width: int | None = None
) -> Table:
    """A matrix; as the list of its entries if it is wide, or wider than ``width`` cells.

    What is structurally 0 is a dot in the matrix and left out of the list.
    """
    if 0 < len(found.columns) <= MOST_COLUMNS:
        grid = as_grid(found, digits, foot, whole=whole)
        if width is None or least_width(grid) <= width:
            return grid
    return as_list(found, digits, foot, whole=whole)


def as_grid(found: Matrix, digits: int, foot: str, *, whole: bool) -> Table:
    """A row for each row, a column for each column."""
    columns = [Column("", flexible=True)]
    columns += [Column(printable(name), is_number=True, style="yellow") for name in found.columns]
    chosen, left_out = ends(list(range(len(found.rows))), whole=whole)
    rows = []
    for row in chosen:
        cells = (cell(found, row, column, digits) for column in range(len(found.columns)))
        rows.append([printable(found.rows[row]), *cells])
    return Table(columns, rows, left_out, foot + legend(found), what="rows")


def as_list(found: Matrix, digits: int, foot: str, *, whole: bool) -> Table:
    """A line for each entry that is not structurally 0; of a single row, a line for each entry."""
    if len(found.rows) == 1:
        columns = [Column("input", flexible=True)]
        columns.append(Column("derivative", is_number=True, style="yellow"))
        chosen, left_out = ends(list(range(len(found.columns))), whole=whole)
        rows = [[printable(found.columns[at]), cell(found, 0, at, digits)] for at in chosen]
        return Table(columns, rows, left_out, foot + legend(found), what="rows")
    columns = [
        Column("row", flexible=True),
        Column("column", flexible=True),
        Column("value", is_number=True, style="yellow"),
    ]
    entries, left_out = ends(list(found.listed()), whole=whole)
    rows = [[printable(row), printable(col), decimal(value, digits)] for row, col, value in entries]
    return Table(columns, rows, left_out, foot, what="entries")


def cell(found: Matrix, row: int, column: int, digits: int) -> str:
    """An entry, or the dot."""
    entry = found.entries.get((row, column))
    return ZERO if entry is None else decimal(entry, digits)


def legend(found: Matrix) -> str:
    """What the dot means, for a matrix that has some."""
    size = len(found.rows) * len(found.columns)
    if len(found.entries) == size:
        return ""
    return f"\n{ZERO} is 0 at every point" if len(found.entries) < size else ""


def pairs_table(
    headings: tuple[str, ...],
    rows: Mapping[str, tuple[float | str, ...]],
    digits: int,
    foot: str = "",
    *,
    whole: bool = False,
) -> Table:
    """Names, each with some numbers or texts; ``headings`` name all columns, the last being the answer."""
    first, *others = headings
    columns = [Column(first, flexible=True)]
    columns += [Column(heading, is_number=True, style="green") for heading in others[:-1]]
    columns.append(Column(others[-1], is_number=True, style="yellow"))
    chosen, left_out = ends(list(rows.items()), whole=whole)
    cells = [
        [printable(name), *(n if isinstance(n, str) else decimal(n, digits) for n in numbers)]
        for name, numbers in chosen
    ]
    return Table(columns, cells, left_out, foot, what="rows")


def ends(items: list[T], *, whole: bool) -> tuple[list[T], int]:
    """The items to show, the first and the last of many, and how many are left out."""
    if whole or len(items) <= LONGEST_WHOLE:
        return items, 0
    return items[:EDGE_ROWS] + items[-EDGE_ROWS:], len(items) - 2 * EDGE_ROWS


def least_width(grid: Table) -> int:
    """The cells that a matrix needs on a terminal, its rows' names cut."""
    cells = [[column.heading for column in grid.columns], *grid.rows]
    first, *others = (max(map(display_width, column)) for column in zip(*cells, strict=True))
    return min(first, LEAST) + sum(others) + BETWEEN * len(others)


def outputs_foot(
    values: Mapping[str, float],
    digits: int,
    weights: Mapping[str, float] | None = None,
    *,
    whole: bool = False,
) -> str:
    """The outputs' values, a line each, and their cotangents where they have some."""
    listed = list(values.items())
    lines = []
    for name, value in listed if whole else listed[:MOST_OUTPUTS]:
        weight = "" if weights is None else f", cotangent {decimal(weights[name], digits)}"
        lines.append(f"output  {printable(name)} = {decimal(value, digits)}{weight}")
    if len(lines) < len(listed):
        lines.append(f"… {len(listed) - len(lines):,} outputs left out; --all shows them")
    return "\n".join(lines)


def pattern_foot(found: Matrix) -> str:
    """How many entries of a matrix are not structurally 0."""
    size = len(found.rows) * len(found.columns)
    if len(found.entries) == size:
        return ""
    return f"{len(found.entries):,} of {size:,} entries are not structurally 0"


# Documents.


def document(
    command: str,
    expression: str,
    inputs: Mapping[str, float],
    fields: Mapping[str, Any],
    diagnostics: Iterable[Diagnostic],
) -> Iterator[str]:
    """A JSON document; a field that is a list or an object of objects has one of them a line."""
    given = {name: finite(value) for name, value in inputs.items()}
    head = {"schema": SCHEMA, "command": command, "expression": expression, "inputs": given}
    yield text(head)[:-1]
    for name, value in fields.items():
        if isinstance(value, Matrix):
            rows = enumerate(value.rows)
            items = (f"{text(row)}: {text(named(value.row(at)))}" for at, row in rows)
            yield from spread(name, "{}", items)
        elif isinstance(value, list):
            yield from spread(name, "[]", map(text, value))
        else:
            yield f", {text(name)}: {text(value)}"
    yield from array("diagnostics", (diagnostic._asdict() for diagnostic in diagnostics))
    yield "}\n"


def spread(name: str, brackets: str, items: Iterable[str]) -> Iterator[str]:
    """A field with one of its items a line."""
    yield f",\n {text(name)}: {brackets[0]}"
    separator = "\n  "
    for item in items:
        yield separator + item
        separator = ",\n  "
    yield brackets[1]


def named(values: Mapping[str, float]) -> dict[str, float | str | None]:
    """Numbers by name as JSON has them."""
    return {name: finite(value) for name, value in values.items()}


def answers(values: Mapping[str, float], of: object) -> Any:
    """What JSON says of outputs: by name if ``of`` named them, else the number of the only one."""
    found = named(values)
    return found if of is not None else next(iter(found.values()))


def matrix_csv(found: Matrix) -> Iterator[str]:
    """A matrix as CSV: the columns' names in the first line, each row's name before its numbers."""
    yield csv_line(["", *found.columns])
    for at, name in enumerate(found.rows):
        yield csv_line([name, *found.row(at).values()])


def pairs_csv(values: Mapping[str, float]) -> Iterator[str]:
    """Names and their numbers as CSV."""
    yield csv_line(["name", "value"])
    for pair in values.items():
        yield csv_line(pair)


def matrix_lines(found: Matrix) -> Iterator[str]:
    """Every entry as ``row column=number``, row by row."""
    for at, row in enumerate(found.rows):
        for column, number in found.row(at).items():
            yield f"{row} {column}={number!r}\n"


def pairs_lines(values: Mapping[str, float]) -> Iterator[str]:
    """Every number as ``name=number``."""
    for name, number in values.items():
        yield f"{name}={number!r}\n"
