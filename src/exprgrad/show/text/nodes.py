"""The nodes of a run as a table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from exprgrad.explain.diagnostics import Run
from exprgrad.graph.graph import CONST
from exprgrad.show.text.lines import ends, narrowed
from exprgrad.show.text.table import Column, Table, decimal
from exprgrad.show.text.views import IN_CELL, VIEWS, WHOLE_VIEW, answer_text, folded, view, ways
from exprgrad.source import printable

__all__ = ["corrections", "node_table", "node_title", "title"]

FOLDED = (160, 120, 80, 60, 40, 30, 20, 12)
"""The cells of a line of a tensor that is shown whole on a terminal."""


def node_table(run: Run, digits: int = 6, *, all_nodes: bool = False) -> Table:
    """Every node, its operation and data, and its grad where there was a reverse sweep.

    Among tensors it has their shapes; ``all_nodes`` leaves out no node and no number.
    """
    graph = run.graph
    has_shapes = bool(graph.shapes)
    columns = [
        Column("#", is_number=True, style="dim"),
        Column("node", flexible=True),
        Column("operation", style="dim", expendable=2),
        *([Column("shape", expendable=1)] if has_shapes else []),
        Column("data", is_number=not has_shapes, style="green"),
    ]
    nodes, left_out = ends(range(len(graph)), whole=all_nodes)
    values = [[run.values[node] for node in nodes]]
    if run.adjoints is not None:
        columns.append(Column("grad", is_number=not has_shapes, style="yellow"))
        values.append([run.grad(node) for node in nodes])
    name = graph.output_name or run.texts[graph.output]
    answer = f"output  {answer_text(name, run.value, digits, whole=all_nodes)}"
    foot = "\n".join([answer, *corrections(run, digits, whole=all_nodes)])
    marked = next((at for at, node in enumerate(nodes) if node == graph.output), -1)
    heads = [head(run, node, with_shape=has_shapes) for node in nodes]

    def table(cells: Sequence[Sequence[Any]], shown: Callable[[Any], str]) -> Table:
        """The table with these numbers and tensors, each ``shown`` as text."""
        rows = [[*first, *map(shown, row)] for first, *row in zip(heads, *cells, strict=True)]
        return Table(columns, rows, left_out, foot, marked)

    if not has_shapes:
        return table(values, lambda value: decimal(value, digits))
    if all_nodes:
        narrow = [partial(folded, digits=digits, room=room) for room in FOLDED]
        wide = table(values, lambda value: view(value, digits, WHOLE_VIEW))
        return wide._replace(narrower=[partial(table, values, how) for how in narrow])
    said = [[ways(value, digits, IN_CELL) for value in column] for column in values]
    first, *others = [partial(table, said, partial(narrowed, room=how.room)) for how in VIEWS]
    return first()._replace(narrower=others)


def head(run: Run, node: int, *, with_shape: bool) -> list[str]:
    """A node's number, text, operation, and shape if that is wanted."""
    kind = run.graph.kinds[node]
    operation = "constant" if kind == CONST else kind
    shape = [str(run.graph.shape(node))] if with_shape else []
    return [str(node), printable(node_title(run, node)), operation, *shape]


def node_title(run: Run, node: int) -> str:
    """A node's text, after its name where it has one; a broadcast that nobody wrote says of what."""
    if node in run.graph.implicit:
        return f"broadcast({run.label(run.graph.operands[node][0])})"
    return title(run, node)


def title(run: Run, node: int) -> str:
    """A node's text, after its name where a statement gave it one."""
    name, text = run.names.get(node), run.texts[node]
    return text if name is None or name == text else f"{name} = {text}"


def corrections(run: Run, digits: int, *, whole: bool = False) -> list[str]:
    """The line that says where the gradient is not what the sweep's numbers above it say."""
    told = [
        f"{answer_text(name, value, digits, whole=whole)}, where the sweep has {view(sweep, digits)}"
        for name, (sweep, value) in run.corrected.items()
    ]
    return [f"gradient corrected: {'; '.join(told)}"] if told else []
