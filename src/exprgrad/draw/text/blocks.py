"""Jacobians, Hessians and products of tensors: block by block as tables, JSON, CSV, and lines for scripts.

A block is the derivative of one tensor with respect to another: its shape is the first's, then the
second's.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import product
from typing import Any, NamedTuple

from exprgrad.draw.documents.document import SCHEMA, csv_line, text
from exprgrad.draw.documents.tensor_document import Short, answer_lines, pieces
from exprgrad.draw.text.matrices import MOST_COLUMNS, MOST_OUTPUTS, matrix_table, pairs_table
from exprgrad.draw.text.table import EDGE_ROWS, LONGEST_WHOLE, Table
from exprgrad.draw.text.tensors import FULL, VIEWS, WHOLE, View, answer, view
from exprgrad.explain.diagnostic import Diagnostic
from exprgrad.graph.literal import Shape, size
from exprgrad.graph.structural import shape_text
from exprgrad.run.matrices import Matrix
from exprgrad.source import printable

__all__ = [
    "Block", "answers", "block_csv", "block_document", "block_lines", "grouped", "numbers_csv",
    "numbers_lines", "numbers_table", "outputs_foot", "sections",
]  # fmt: skip

ALONE = re.compile(r"\w+\([^()]*\)|\[[^][]*\]")
"""A call, or a list, without another inside."""
BRIEF = View(most=0)
"""How a block that is not shown number by number is described."""
AT_ONCE = 4096
"""How many numbers of an array are read at once."""


class Block(NamedTuple):
    """The derivative of ``row`` by ``column``, each a name and a shape; ``value`` is a float or an array.

    ``called`` is what people call it, such as ``d y / d W``.  The numbers of a row that ``is_named`` are
    called by its name and their places, those of another by their places alone.
    """

    called: str
    row: str
    row_shape: Shape
    column: str
    column_shape: Shape
    value: Any
    is_named: bool = True

    @property
    def shape(self) -> Shape:
        """The shape of the whole."""
        return self.row_shape + self.column_shape


# Numbers.


def brief(value: Any, digits: int, equals: str = "", *, whole: bool = False) -> str:
    """A tensor in a line: its numbers if they are few, else its shape, norm, least and greatest number."""
    shown = view(value, digits, WHOLE if whole else FULL)
    is_whole = isinstance(value, float) or shown.startswith("[")
    return (
        f"{equals} {shown}" if is_whole else f"{equals and ':'} {shape_text(value.shape)}, {shown}"
    )


def shape_of(value: Any) -> Shape:
    """The shape of a float or an array."""
    return tuple(getattr(value, "shape", ()))


def numbers_of(value: Any) -> Iterator[float]:
    """The numbers of a float or an array, in row-major order; never all of many at once."""
    if isinstance(value, float):
        yield value
        return
    flat = value.reshape(-1)
    for start in range(0, len(flat), AT_ONCE):
        yield from flat[start : start + AT_ONCE].tolist()


def places(name: str, shape: Shape) -> list[str]:
    """What each number of a tensor is called, in row-major order: ``W[0, 1]``."""
    if not shape:
        return [name]
    return [f"{name}[{', '.join(map(str, at))}]" for at in indices(shape)]


def grouped(label: str) -> str:
    """A name, a call or a list as it is, any other text in parentheses."""
    return label if label.isidentifier() or ALONE.fullmatch(label) else f"({label})"


def indices(shape: Shape) -> Iterator[tuple[int, ...]]:
    """Every index of a tensor, in row-major order."""
    return product(*map(range, shape))


# Tables.


def title(block: Block) -> str:
    """The shape rule: ``d y / d W: (3,) by (4, 3) → (3, 4, 3)``."""
    shapes = f"{shape_text(block.row_shape)} by {shape_text(block.column_shape)}"
    return printable(f"{block.called}: {shapes} → {shape_text(block.shape)}")


def is_small(block: Block) -> bool:
    """Whether a block is small enough to be shown number by number."""
    rows, columns = sides(block)
    count = size(block.shape)
    return count <= LONGEST_WHOLE or (size(columns) <= MOST_COLUMNS and size(rows) <= EDGE_ROWS)


def sides(block: Block) -> tuple[Shape, Shape]:
    """The block as a matrix: the axes that make its rows, and those that make its columns."""
    if (block.row_shape and block.column_shape) or len(block.shape) < 2:
        return block.row_shape, block.column_shape
    return block.shape[:-1], block.shape[-1:]


def grid(block: Block) -> Matrix:
    """A block as a matrix: a row for each number of the output, a column for each of the input.

    Where one of them is a number, it has the other's last axis as columns.
    """
    row = block.row if block.is_named else ""
    rows, columns = sides(block)
    if (rows, columns) == (block.row_shape, block.column_shape):
        names = places(row if rows else block.row, rows), places(block.column, columns)
    else:
        names = places(row if block.row_shape else block.column, rows), places("", columns)
    width = size(columns)
    entries = {divmod(at, width): number for at, number in enumerate(numbers_of(block.value))}
    return Matrix(tuple(names[0]), tuple(names[1]), entries)


def sections(
    blocks: Sequence[Block], digits: int, *, whole: bool, width: int | None
) -> list[str | Table]:
    """Every block: its shape rule, and its numbers, or what they are like where they are many."""
    found: list[str | Table] = []
    for block in blocks:
        found.append(title(block))
        if whole or is_small(block):
            found.append(matrix_table(grid(block), digits, "", whole=whole, width=width))
        else:
            many = f"{size(block.shape):,} numbers"
            found.append(f"{many}, {view(block.value, digits, BRIEF)}; --all shows them")
        found.append("")
    return found


def outputs_foot(
    values: Mapping[str, Any],
    digits: int,
    weights: Mapping[str, Any] | None = None,
    *,
    whole: bool = False,
) -> str:
    """The outputs' values, a line each, and their cotangents where they have some."""
    lines = []
    shown = list(values.items()) if whole else list(values.items())[:MOST_OUTPUTS]
    for name, value in shown:
        line = f"output  {printable(name)}{brief(value, digits, ' =', whole=whole)}"
        if line.endswith("]"):
            line = f"output  {answer(name, value, digits, all_numbers=whole)}"
        if weights is not None:
            apart = ",\n    " if "\n" in line else ", "
            line += f"{apart}cotangent{brief(weights[name], digits, whole=whole)}"
        lines.append(line)
    if len(shown) < len(values):
        lines.append(f"… {len(values) - len(shown):,} outputs left out; --all shows them")
    return "\n".join(lines)


def numbers_table(
    headings: tuple[str, ...],
    rows: Mapping[str, tuple[Any, ...]],
    digits: int,
    foot: str = "",
    *,
    whole: bool = False,
) -> Table:
    """Names, each with tensors of one shape: a line for each number, or for a large tensor a summary."""

    def table(how: View) -> Table:
        """With so much of each large tensor."""
        lines: dict[str, tuple[Any, ...]] = {}
        for name, values in rows.items():
            shape = shape_of(values[0])
            if not whole and size(shape) > EDGE_ROWS:
                label = f"{name}: {shape_text(shape)}"
                lines[label] = tuple([view(value, digits, how) for value in values])
            else:
                label = grouped(name) if shape else name
                numbers = zip(*map(numbers_of, values), strict=True)
                lines.update(zip(places(label, shape), numbers, strict=True))
        return pairs_table(headings, lines, digits, foot, whole=whole)

    if whole or all(size(shape_of(values[0])) <= EDGE_ROWS for values in rows.values()):
        return table(FULL)
    return table(FULL)._replace(narrower=[partial(table, how) for how in VIEWS[1:]])


# Documents.


def answers(values: Mapping[str, Any], of: object) -> Any:
    """What JSON says of outputs: by name if ``of`` named them, else the only one's."""
    return values if of is not None else next(iter(values.values()))


def block_document(
    command: str,
    expression: str,
    inputs: Mapping[str, Any],
    fields: Mapping[str, Any],
    diagnostics: Iterable[Diagnostic],
    *,
    whole: bool,
) -> Iterator[str]:
    """A JSON document, a field a line; inputs that are large are described, unless ``whole``."""
    found = {
        "schema": SCHEMA,
        "command": command,
        "expression": expression,
        "inputs": {name: Short(value) for name, value in inputs.items()},
        **fields,
        "diagnostics": [diagnostic._asdict() for diagnostic in diagnostics],
    }
    before = "{"
    for name, value in found.items():
        yield f"{before}{text(name)}: "
        yield from pieces(value, whole=whole)
        before = ",\n "
    yield "}\n"


def block_csv(
    blocks: Sequence[Block], first: str = "output", second: str = "input"
) -> Iterator[str]:
    """Blocks as CSV: a line for each number, with the names and the places that it is between."""
    yield csv_line([first, f"{first}_index", second, f"{second}_index", "value"])
    for block in blocks:
        inner = [" ".join(map(str, at)) for at in indices(block.column_shape)]
        numbers = numbers_of(block.value)
        for at in indices(block.row_shape):
            row = " ".join(map(str, at))
            for column in inner:
                yield csv_line([block.row, row, block.column, column, next(numbers)])


def numbers_csv(values: Mapping[str, Any]) -> Iterator[str]:
    """Tensors as CSV: a line for each number, with its place."""
    yield csv_line(["name", "index", "value"])
    for name, value in values.items():
        for at, number in zip(indices(shape_of(value)), numbers_of(value), strict=True):
            yield csv_line([name, " ".join(map(str, at)), number])


def block_lines(blocks: Sequence[Block]) -> Iterator[str]:
    """Every block as ``row column=numbers``."""
    for block in blocks:
        yield from answer_lines(block.value, f"{block.row} {block.column}=")


def numbers_lines(values: Mapping[str, Any], *, named: bool = True) -> Iterator[str]:
    """Every tensor as ``name=numbers``, or without the names."""
    for name, value in values.items():
        yield from answer_lines(value, f"{name}=" if named else "")
