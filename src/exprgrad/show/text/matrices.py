"""Jacobians, Hessians and their products with vectors: as tables, JSON, CSV, and lines for scripts.

A matrix of numbers is one table.  Tensors get a table per block: the derivative of one tensor with
respect to another, its shape the first one's followed by the second's.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import product
from typing import Any, NamedTuple

from exprgrad.explain.derivatives import group_label
from exprgrad.graph.graph import Shape, element_name, shape_size
from exprgrad.graph.structural import shape_text
from exprgrad.run.evaluation import Diagnostic, Path, Settled
from exprgrad.run.matrices import BY_OUTPUT, Matrix
from exprgrad.show.documents.document import Apart, Lines, shorten_tensors
from exprgrad.show.documents.runs import corrected_pair
from exprgrad.show.text.lines import (
    EDGE_ROWS,
    FULL,
    LONGEST_WHOLE,
    WHOLE_VIEW,
    View,
    answer_text,
    gap_line,
    show_all_hint,
    value_text,
)
from exprgrad.show.text.nodes import correction_line
from exprgrad.show.text.table import Column, Screen, Table, column_widths, least_width, make_table
from exprgrad.source import printable_text

__all__ = [
    "DerivativeMatrix", "digit_fields", "entry_lines", "laid_out_fields", "matrix_corrections",
    "matrix_parts", "matrix_rows", "outputs_foot", "vector_rows", "vector_table",
]  # fmt: skip

MOST_COLUMNS = 12
"""The widest matrix that is drawn as a matrix."""
ZERO = "·"
"""The mark of an entry that is structurally 0."""
MOST_OUTPUTS = 12
"""The most outputs that are listed below a table."""
BLOCK = View(most=0)
"""The view of a block that is not shown number by number."""
GUARDED = {"value", "gradient", "jacobian", "hessian", "jvp", "vjp"}
"""The fields of answers whose digits are counted."""
AT_ONCE = 4096
"""The most numbers of an array that are read at once."""


class DerivativeMatrix(NamedTuple):
    """A Jacobian or a Hessian as people read it.

    ``among_tensors``  whether it is drawn block by block
    ``called``   what people call a block: ``d {row} / d {column}``
    ``is_named``  whether the rows have names, by which their numbers are called
    ``pattern``  the blocks, (row, column), that are not structurally 0; None for all
    """

    matrix: Matrix
    among_tensors: bool
    called: str
    is_named: bool = True
    pattern: Sequence[tuple[str, str]] | None = None


class MatrixBlock(NamedTuple):
    """One block of a matrix: its value is a float or an array."""

    row: str
    column: str
    row_shape: Shape
    column_shape: Shape
    value: Any

    @property
    def shape(self) -> Shape:
        """The shape of the whole."""
        return self.row_shape + self.column_shape


def matrix_blocks(found: Matrix) -> Iterator[MatrixBlock]:
    """The blocks, row by row, zeros filled in."""
    for at, row in enumerate(found.rows):
        for place, column in enumerate(found.columns):
            shapes = found.row_shapes[at], found.column_shapes[place]
            yield MatrixBlock(row, column, *shapes, found.block(at, place))


# Numbers.


def float_or_array_shape(value: Any) -> Shape:
    """The shape of a float or an array."""
    return tuple(getattr(value, "shape", ()))


def iterate_numbers(value: Any) -> Iterator[float]:
    """The numbers of a float or an array, in row-major order; never all of many at once."""
    if isinstance(value, float):
        yield value
        return
    flat = value.reshape(-1)
    for start in range(0, len(flat), AT_ONCE):
        yield from flat[start : start + AT_ONCE].tolist()


def element_names(name: str, shape: Shape) -> list[str]:
    """The names of a tensor's numbers, in row-major order: ``W[0, 1]``."""
    return [element_name(name, at) for at in product(*map(range, shape))]


# Tables.


def matrix_parts(
    found: DerivativeMatrix, digits: int, foot: str, screen: Screen, *, whole: bool
) -> Iterator[str | Table]:
    """A matrix of numbers as one table; among tensors each block with its shapes, and a foot below them."""
    matrix = found.matrix
    if not found.among_tensors:
        yield matrix_table(matrix, digits, foot, whole=whole, width=screen.width)
        return
    for block in matrix_blocks(matrix):
        if found.pattern is not None and (block.row, block.column) not in found.pattern:
            continue
        shapes = f"{shape_text(block.row_shape)} by {shape_text(block.column_shape)}"
        called = found.called.format(row=group_label(block.row), column=block.column)
        yield printable_text(f"{called}: {shapes} → {shape_text(block.shape)}")
        rows, columns = map(shape_size, block_sides(block))
        is_small = rows * columns <= LONGEST_WHOLE or (
            columns <= MOST_COLUMNS and rows <= EDGE_ROWS
        )
        if whole or is_small:  # then it is shown number by number
            numbers = block_grid(block, is_named=found.is_named)
            yield matrix_table(numbers, digits, "", whole=whole, width=screen.width)
        else:
            many = f"{shape_size(block.shape):,} numbers"
            yield f"{many}, {value_text(block.value, digits, BLOCK)}; {show_all_hint()} them"
        yield ""
    yield foot


def matrix_table(
    found: Matrix, digits: int, foot: str, *, whole: bool = False, width: int | None = None
) -> Table:
    """A matrix; as the list of its entries if it is wide, or wider than ``width`` cells.

    What is structurally 0 is a dot in a matrix, and in the list of a single row; else it is left out.
    """
    rows, columns = found.rows, found.columns
    as_number = partial(Column, is_number=True, style="yellow")
    explained = f"\n{ZERO} is 0 at every point" * (len(found.entries) < len(rows) * len(columns))

    drawn = partial(make_table, digits=digits, whole=whole)
    if 0 < len(columns) <= MOST_COLUMNS:
        headings = [
            Column("", flexible=True),
            *(as_number(printable_text(name)) for name in columns),
        ]
        lines = [
            [name, *(found.entries.get((at, place), ZERO) for place in range(len(columns)))]
            for at, name in enumerate(rows)
        ]
        grid = drawn(headings, lines, foot=foot + explained)
        needed = least_width(headings, column_widths(grid), range(len(headings)))
        if width is None or needed <= width:
            return grid
    if len(rows) == 1:
        headings = [Column("input", flexible=True), as_number("derivative")]
        pairs = [(name, found.entries.get((0, at), ZERO)) for at, name in enumerate(columns)]
        return drawn(headings, pairs, foot=foot + explained)
    headings = [Column("row", flexible=True), Column("column", flexible=True), as_number("value")]
    return drawn(headings, list(found.listed()), foot=foot, what="entries")


def block_sides(block: MatrixBlock) -> tuple[Shape, Shape]:
    """The block as a matrix: the axes that make its rows, and those that make its columns."""
    if (block.row_shape and block.column_shape) or len(block.shape) < 2:
        return block.row_shape, block.column_shape
    return block.shape[:-1], block.shape[-1:]


def block_grid(block: MatrixBlock, *, is_named: bool) -> Matrix:
    """A block as a matrix: a row for each number of the output, a column for each of the input.

    Where one of them is a number, it has the other's last axis as columns.
    """
    row = block.row if is_named else ""
    rows, columns = block_sides(block)
    if (rows, columns) == (block.row_shape, block.column_shape):
        names = (
            element_names(row if rows else block.row, rows),
            element_names(block.column, columns),
        )
    else:
        names = (
            element_names(row if block.row_shape else block.column, rows),
            element_names("", columns),
        )
    width = shape_size(columns)
    entries = {divmod(at, width): number for at, number in enumerate(iterate_numbers(block.value))}
    return Matrix(tuple(names[0]), tuple(names[1]), entries)


def vector_table(
    headings: tuple[str, ...],
    rows: Mapping[str, tuple[Any, ...]],
    digits: int,
    foot: str = "",
    *,
    whole: bool = False,
) -> Table:
    """Names, each with some numbers or tensors of one shape, of which the last is the answer.

    There is a line for each number, or for a large tensor a summary.
    """
    first, *others, last = headings
    columns = [Column(first, flexible=True)]
    columns += [Column(heading, is_number=True, style="green") for heading in others]
    columns.append(Column(last, is_number=True, style="yellow"))
    lines: list[Sequence[Any]] = []
    for name, values in rows.items():
        shape = float_or_array_shape(values[0])
        if shape_size(shape) > EDGE_ROWS and not whole:
            lines.append([f"{name}: {shape_text(shape)}", *values])
        else:
            labels = element_names(shape_text(shape, group_label(name), name), shape)
            lines += zip(labels, *map(iterate_numbers, values), strict=True)
    return make_table(columns, lines, digits, whole=whole, foot=foot)


def outputs_foot(
    values: Mapping[str, Any],
    digits: int,
    weights: Mapping[str, Any] | None = None,
    *,
    whole: bool = False,
) -> str:
    """The outputs' values, a line each, and their cotangents where they have some."""
    lines = []
    shown = list(values.items())[: None if whole else MOST_OUTPUTS]
    for name, value in shown:
        text, is_summary = brief_value(value, digits, whole=whole)
        line = f"output  {printable_text(name)}: {text}"
        if not is_summary:
            line = f"output  {answer_text(name, value, digits, whole=whole)}"
        if weights is not None:
            apart = ",\n    " if "\n" in line else ", "
            line += f"{apart}cotangent {brief_value(weights[name], digits, whole=whole)[0]}"
        lines.append(line)
    if len(shown) < len(values):
        lines.append(gap_line(len(values) - len(shown), "outputs"))
    return "\n".join(lines)


def brief_value(value: Any, digits: int, *, whole: bool = False) -> tuple[str, bool]:
    """A value in brief, and whether that is a summary: a tensor's shape, norm and extremes alone."""
    shown = value_text(value, digits, WHOLE_VIEW if whole else FULL)
    if isinstance(value, float) or shown.startswith("["):
        return shown, False
    return f"{shape_text(value.shape)}, {shown}", True


# Digits.


def matrix_corrections(found: Settled, digits: int, *, several: bool) -> Iterator[str]:
    """The lines below a table that say which of its numbers are corrected."""
    for field in dict.fromkeys(path[0] for path in found.corrected):
        if field != "gradient":  # which no table has
            among = found.among(field).corrected.items()
            pairs = {
                " ".join(answer_key(field, path, several=several)): both for path, both in among
            }
            yield correction_line(field, pairs, digits)


def digit_fields(found: Settled, fields: Iterable[str], *, several: bool) -> dict[str, Any]:
    """The fields of JSON for each number's count of right digits, and for corrected numbers."""
    parts = {field: found.among(field) for field in fields if field in GUARDED}

    def tree(field: str, numbers: Mapping[Path, Any]) -> Any:
        """Numbers by their names, in an object for each level."""
        whole: dict[str, Any] = {}
        for path, one in numbers.items():
            *above, last = ("", *answer_key(field, path, several=several))
            level = whole
            for name in above:
                level = level.setdefault(name, {})
            level[last] = one
        return whole.get("", {})

    told = {"digits": {field: tree(field, part.digits) for field, part in parts.items()}}
    for field, part in parts.items():
        if part.corrected:
            pairs = {path: corrected_pair(*both) for path, both in part.corrected.items()}
            name = "corrected" if field == "gradient" else f"corrected_{field}"
            told[name] = tree(field, pairs)
    return {name: Apart(one) for name, one in told.items()}


def answer_key(field: str, path: Path, *, several: bool) -> Path:
    """The names of a number in an answer: the output's is one only if there may be several outputs."""
    return path if several or field not in BY_OUTPUT else path[1:]


# Documents.


def laid_out_fields(
    inputs: Mapping[str, Any],
    found: Mapping[str, Any],
    diagnostics: Iterable[Diagnostic],
    *,
    among_tensors: bool,
) -> dict[str, Any]:
    """A document's fields; matrices of numbers, lists and diagnostics have a line for each item."""

    def laid_out(value: Any) -> Any:
        if isinstance(value, Matrix):
            return value.whole() if among_tensors else Lines(named_rows(value), "{}")
        return Lines(value) if isinstance(value, list) and not among_tensors else value

    told = [one._asdict() for one in diagnostics]
    fields = {"inputs": shorten_tensors(inputs), **found, "diagnostics": told}
    return {name: laid_out(value) for name, value in fields.items()}


def matrix_rows(
    found: DerivativeMatrix, first: str = "output", second: str = "input"
) -> Iterator[list[Any]]:
    """A matrix of numbers as CSV; among tensors a line for each number, with its places."""
    if not found.among_tensors:
        yield ["", *found.matrix.columns]
        for name, values in named_rows(found.matrix):
            yield [name, *values.values()]
        return
    yield [first, f"{first}_index", second, f"{second}_index", "value"]
    for block in matrix_blocks(found.matrix):
        numbers, inner = iterate_numbers(block.value), [*index_texts(block.column_shape)]
        for row in index_texts(block.row_shape):
            for column in inner:
                yield [block.row, row, block.column, column, next(numbers)]


def index_texts(shape: Shape) -> Iterator[str]:
    """Every index of a tensor as CSV has it: ``0 1``."""
    return (" ".join(map(str, at)) for at in product(*map(range, shape)))


def vector_rows(values: Mapping[str, Any], *, among_tensors: bool) -> Iterator[list[Any]]:
    """Names and their numbers as CSV; among tensors a line for each number, with its place."""
    yield ["name", "index", "value"] if among_tensors else ["name", "value"]
    for name, value in values.items():
        for at, number in zip(
            index_texts(float_or_array_shape(value)), iterate_numbers(value), strict=True
        ):
            yield [name, at, number] if among_tensors else [name, number]


def named_rows(found: Matrix) -> Iterator[tuple[str, dict[str, Any]]]:
    """The rows by name, one at a time."""
    return ((name, found.row(at)) for at, name in enumerate(found.rows))


def entry_lines(found: Matrix) -> Iterator[tuple[str, Any]]:
    """Every block by its row and column."""
    for row, values in named_rows(found):
        for column, value in values.items():
            yield f"{row} {column}", value
