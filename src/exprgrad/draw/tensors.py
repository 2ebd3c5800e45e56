"""Tensors as people read them: small ones whole, of others the norm and the extremes; and their table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from exprgrad.draw.table import Column, Table, decimal, left_out_of, title
from exprgrad.graph.graph import CONST
from exprgrad.graph.structural import size
from exprgrad.run.result import Run
from exprgrad.source import printable

if TYPE_CHECKING:
    from exprgrad.run.measure import Measure

__all__ = ["FULL", "VIEWS", "View", "called", "tensor_table", "view"]


class View(NamedTuple):
    """How much is shown of a tensor.

    ``most``, ``room``  the numbers and the cells up to which one is shown whole
    ``ends``    how the least and the greatest number stand beside the norm of a larger one
    ``digits``  the most digits of a number in a tensor
    """

    most: int
    room: int
    ends: str
    digits: int = 17


FULL = View(8, 40, "min {}, max {}")
VIEWS = (
    FULL,
    View(8, 28, "min {}, max {}", digits=3),
    View(8, 24, "{} … {}", digits=3),
    View(6, 20, "", digits=3),
    View(3, 12, "", digits=3),
)
"""From the widest to the narrowest: the first that fits a terminal is taken."""


Seen = tuple[Any, "Measure | None"]
"""A number, or a tensor and its measure."""


def view(value: Any, digits: int, how: View = FULL) -> str:
    """A number, a small tensor whole, or what can be said of a large one on one line."""
    return shown(seen(value), digits, how)


def seen(value: Any) -> Seen:
    """A number, or a tensor with what can be said of it."""
    if value is None or isinstance(value, float):
        return value, None
    from exprgrad.run.measure import measure

    return value, measure(value)


def shown(given: Seen, digits: int, how: View) -> str:
    """What is shown of a number or a tensor."""
    value, found = given
    if found is None:
        return decimal(value, digits)
    digits = min(digits, how.digits)
    short = in_few_words(found, digits, how)
    if value.size > how.most:
        return short
    numbers = [decimal(number, digits) for number in value.ravel().tolist()]
    whole = in_brackets(numbers, value.shape)
    return whole if len(whole) <= max(how.room, len(short)) else short


def in_few_words(found: Measure, digits: int, how: View) -> str:
    """A tensor's norm and extremes, or how many nan it holds."""
    facts = f"{found.nans:,} nan" if found.nans else f"norm {decimal(found.norm, digits)}"
    if not how.ends or found.nans == size(found.shape):
        return facts
    ends = decimal(found.least, digits), decimal(found.greatest, digits)
    return f"{facts}, {how.ends.format(*ends)}"


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


def tensor_table(run: Run, digits: int = 6, *, all_nodes: bool = False) -> Table:
    """Every node, its operation, shape and data, and its grad where there was a reverse sweep."""
    nodes, left_out = left_out_of(len(run.graph), all_nodes=all_nodes)
    data = [seen(run.values[node]) for node in nodes]
    grads = [] if run.adjoints is None else [seen(run.grad(node)) for node in nodes]
    name = run.graph.output_name or run.texts[run.graph.output]
    output = seen(run.value)

    def table(how: View) -> Table:
        """The table with so much of each tensor."""
        columns = [
            Column("#", is_number=True, style="dim"),
            Column("node", flexible=True),
            Column("operation", style="dim", expendable=2),
            Column("shape", expendable=1),
            Column("data", style="green"),
        ]
        numbers = [
            [shown(cell, digits, how) for cell in column] for column in (data, grads) if column
        ]
        if grads:
            columns.append(Column("grad", style="yellow"))
        rows = [[*about(run, node), *cells] for node, *cells in zip(nodes, *numbers, strict=True)]
        marked = next((at for at, node in enumerate(nodes) if node == run.graph.output), -1)
        foot = f"output  {printable(name)} = {shown(output, digits, how)}"
        return Table(columns, rows, left_out, foot, marked)

    return table(FULL)._replace(narrower=[table(how) for how in VIEWS[1:]])


def about(run: Run, node: int) -> list[str]:
    """A node's number, text, operation and shape."""
    kind, shapes = run.graph.kinds[node], run.shapes
    assert shapes is not None
    operation = "constant" if kind == CONST else kind
    return [str(node), printable(called(run, node)), operation, str(shapes[node])]
