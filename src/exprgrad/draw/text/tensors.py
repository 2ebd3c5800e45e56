"""Tensors as people read them: small ones whole, of others the norm and the extremes; and their table."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from math import inf
from typing import TYPE_CHECKING, Any, NamedTuple

from exprgrad.draw.text.packing import INDENT
from exprgrad.draw.text.table import Column, Table, decimal, left_out_of, title
from exprgrad.graph.graph import CONST
from exprgrad.graph.literal import size
from exprgrad.run.result import Run
from exprgrad.source import printable

if TYPE_CHECKING:
    from exprgrad.run.arrays.measure import Measure

__all__ = ["FULL", "VIEWS", "WHOLE", "View", "answer", "called", "tensor_table", "view"]


MOST = 64
"""The most numbers of a tensor that is shown whole, unless all are asked for."""


class View(NamedTuple):
    """How much is shown of a tensor.

    ``room``    the cells that its text may take; the shortest may take more
    ``most``    the numbers up to which it is shown whole; None for all
    ``ends``    whether the least and the greatest number stand beside the norm of a larger one
    """

    room: float = inf
    most: int | None = MOST
    ends: bool = True


FULL = View()
VIEWS = (FULL, *[View(room) for room in (80, 60, 48, 40, 34, 28, 24, 20, 16, 12)])
"""From the widest to the narrowest: the first that fits a terminal is taken."""
IN_CELL = View(most=16)
"""What stands beside other columns: a line is still to be read in one glance."""
WHOLE = View(most=None)
"""Every number."""
FOLDED = (160, 120, 80, 60, 40, 30, 20, 12)
"""The cells of a line of a tensor that is shown whole on a terminal."""
LINE = 100
"""The cells of a line up to which an answer stands behind its name."""


def view(value: Any, digits: int, how: View = FULL) -> str:
    """A number, a small tensor whole, or what can be said of a large one on one line."""
    return fitting(ways(value, digits, how), how.room)


def fitting(texts: Sequence[str], room: float) -> str:
    """The first of some texts that has the room, or the last."""
    return next((text for text in texts if len(text) <= room), texts[-1])


def ways(value: Any, digits: int, how: View = FULL) -> list[str]:
    """A number, or the ways to show a tensor, the fullest first."""
    if value is None or isinstance(value, float):
        return [decimal(value, digits)]
    if how.most is None:
        return [whole(value, digits)]
    from exprgrad.run.arrays.measure import measure

    found = [whole(value, digits)] if value.size <= how.most else []
    return found + in_few_words(measure(value), digits, ends=how.ends)


def in_few_words(found: Measure, digits: int, *, ends: bool) -> list[str]:
    """A tensor's norm and extremes, or how many nan it holds, in ever fewer words."""
    norm = decimal(found.norm, digits)
    short = [f"norm {norm}", f"‖{norm}‖"]
    if found.nans:
        short = [f"{found.nans:,} nan"]
    if not ends or found.nans == size(found.shape):
        return short
    least, greatest = decimal(found.least, digits), decimal(found.greatest, digits)
    return [
        f"{short[0]}, min {least}, max {greatest}",
        f"{short[0]}, {least} … {greatest}",
        *short,
    ]


def whole(value: Any, digits: int) -> str:
    """All numbers of a tensor."""
    return in_brackets([decimal(number, digits) for number in value.ravel().tolist()], value.shape)


def rows_of(value: Any, digits: int) -> list[str]:
    """All numbers of a tensor, a line for each row, and the brackets under each other."""
    depth = len(value.shape)
    text = whole(value, digits)
    for axes in range(depth - 1, 0, -1):
        closed, opened = "]" * axes, "[" * axes
        text = text.replace(f"{closed}, {opened}", f"{closed},\n{' ' * (depth - axes)}{opened}")
    return text.split("\n")


def answer(name: str, value: Any, digits: int, *, all_numbers: bool = False) -> str:
    """What is called so, and its value: whole if that is not large, on lines of its own if it is long."""
    text = f"{printable(name)} = {view(value, digits, WHOLE if all_numbers else FULL)}"
    if len(text) <= LINE or not text.endswith("]"):
        return text
    return "\n".join([f"{printable(name)} =", *[INDENT + row for row in rows_of(value, digits)]])


def folded(value: Any, digits: int, room: int) -> str:
    """All numbers of a tensor on lines of at most so many cells, if none of its numbers is longer."""
    if value is None or isinstance(value, float):
        return decimal(value, digits)
    from textwrap import wrap

    indent = " " * len(value.shape)
    lines: list[str] = []
    for row in rows_of(value, digits):
        lines += wrap(
            row, room, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
        )
    return "\n".join(lines)


def in_brackets(numbers: Sequence[str], shape: Sequence[int]) -> str:
    """Numbers in row-major order as nested lists."""
    rows = list(numbers)
    for length in reversed(shape):
        rows = [f"[{', '.join(rows[at : at + length])}]" for at in range(0, len(rows), length)]
    return rows[0]


def called(run: Run, node: int) -> str:
    """A node's text, after its name where it has one; a broadcast that nobody wrote says of what."""
    if node in run.graph.implicit:
        return f"broadcast({run.label(run.graph.operands[node][0])})"
    return title(run, node)


def tensor_table(run: Run, digits: int = 6, *, whole: bool = False) -> Table:
    """Every node, its operation, shape and data, and its grad where there was a reverse sweep.

    ``whole`` leaves out no node and no number.
    """
    nodes, left_out = left_out_of(len(run.graph), all_nodes=whole)
    values = [[run.values[node] for node in nodes]]
    columns = [
        Column("#", is_number=True, style="dim"),
        Column("node", flexible=True),
        Column("operation", style="dim", expendable=2),
        Column("shape", expendable=1),
        Column("data", style="green"),
    ]
    if run.adjoints is not None:
        values.append([run.grad(node) for node in nodes])
        columns.append(Column("grad", style="yellow"))
    name = run.graph.output_name or run.texts[run.graph.output]
    foot = f"output  {answer(name, run.value, digits, all_numbers=whole)}"
    told = [
        f"{answer(name, value, digits, all_numbers=whole)}, where the sweep has {view(sweep, digits, FULL)}"
        for name, (sweep, value) in run.corrected.items()
    ]
    foot += f"\ngradient corrected: {'; '.join(told)}" if told else ""
    marked = next((at for at, node in enumerate(nodes) if node == run.graph.output), -1)
    heads = [about(run, node) for node in nodes]

    def table(cells: Sequence[Sequence[str]]) -> Table:
        """The table with these texts of the tensors."""
        rows = [[*head, *row] for head, *row in zip(heads, *cells, strict=True)]
        return Table(columns, rows, left_out, foot, marked)

    if whole:
        full = table([[view(value, digits, WHOLE) for value in column] for column in values])

        def narrow(room: int) -> Table:
            """With lines of so many cells."""
            return table([[folded(value, digits, room) for value in column] for column in values])

        return full._replace(narrower=[partial(narrow, room) for room in FOLDED])
    said = [[ways(value, digits, IN_CELL) for value in column] for column in values]

    def fitted(how: View) -> Table:
        """With so much of each tensor."""
        return table([[fitting(texts, how.room) for texts in column] for column in said])

    return fitted(FULL)._replace(narrower=[partial(fitted, how) for how in VIEWS[1:]])


def about(run: Run, node: int) -> list[str]:
    """A node's number, text, operation and shape."""
    kind, shapes = run.graph.kinds[node], run.shapes
    assert shapes is not None
    operation = "constant" if kind == CONST else kind
    return [str(node), printable(called(run, node)), operation, str(shapes[node])]
