"""The nodes of a run as a table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from exprgrad.explain.diagnostics import Run, doubtful
from exprgrad.graph.graph import CONST
from exprgrad.run import evaluation
from exprgrad.run.evaluation import Guarded
from exprgrad.show.text.lines import ends
from exprgrad.show.text.table import Column, Table, tabulated
from exprgrad.show.text.views import IN_CELL, WHOLE_VIEW, answer_text, view, ways

__all__ = ["correction", "corrections", "node_table", "node_title", "title"]

DOUBT = "~"
"""What marks a number that has fewer right digits than it is shown with."""


def node_table(run: Run, digits: int = 6, *, all_nodes: bool = False) -> Table:
    """Every node, its operation and data, and its grad where there was a reverse sweep.

    Among tensors it has their shapes; ``all_nodes`` leaves out no node and no number.  A tensor is marked
    if one of its numbers has fewer right digits than shown.
    """
    graph = run.graph
    has_shapes, is_swept = bool(graph.shapes), run.adjoints is not None
    columns = [
        Column("#", is_number=True, style="dim"),
        Column("node", flexible=True),
        Column("operation", style="dim", expendable=2),
        *([Column("shape", expendable=1)] if has_shapes else []),
        Column("data", is_number=not has_shapes, style="green"),
        *([Column("grad", is_number=not has_shapes, style="yellow")] if is_swept else []),
    ]

    how = WHOLE_VIEW if all_nodes else IN_CELL
    shown_nodes = ends(range(len(graph)), whole=all_nodes)[0]
    doubts = doubtful(run, shown_nodes, digits)

    def row(node: int) -> list[Any]:
        operation = "constant" if graph.kinds[node] == CONST else graph.kinds[node]
        shape = [str(graph.shape(node))] if has_shapes else []
        numbers = [run.values[node], *([run.grad(node)] if is_swept else [])]
        shown = [
            [f"{text}{DOUBT}" for text in ways(number, digits, how)] if node in doubted else number
            for number, doubted in zip(numbers, doubts, strict=False)
        ]
        return [node, node_title(run, node), operation, *shape, *shown]

    name = graph.output_name or run.texts[graph.output]
    found = run.guarded(digits)
    explained = [f"{DOUBT} fewer right digits than shown"] if any(doubts) else []
    answer = f"output  {answer_text(name, found.value, digits, whole=all_nodes)}"
    return tabulated(
        columns,
        range(len(graph)),
        row,
        digits,
        whole=all_nodes,
        how=IN_CELL,
        marked=graph.output,
        foot="\n".join([answer, *corrections(found, digits, whole=all_nodes), *explained]),
        what="nodes",
    )


def node_title(run: Run, node: int) -> str:
    """A node's text, after its name where it has one; a broadcast that nobody wrote says of what."""
    if node in run.graph.implicit:
        return f"broadcast({run.label(run.graph.operands[node][0])})"
    return title(run, node)


def title(run: evaluation.Run, node: int) -> str:
    """A node's text, after its name where a statement gave it one."""
    name, text = run.names.get(node), run.texts[node]
    return text if name is None or name == text else f"{name} = {text}"


def corrections(found: Guarded, digits: int, *, whole: bool = False) -> list[str]:
    """The lines that say where the answer is not what the sweep's numbers above it say."""
    lines = []
    if found.corrected_value is not None:
        lines.append(correction("value", {"": found.corrected_value}, digits))
    if found.corrected:
        lines.append(correction("gradient", found.corrected, digits, whole=whole))
    return lines


def correction(
    field: str, pairs: Mapping[str, tuple[Any, Any]], digits: int, *, whole: bool = False
) -> str:
    """The line that says which numbers of a field are corrected, by name."""

    def told(name: str, sweep: Any, value: Any) -> str:
        text = answer_text(name, value, digits, whole=whole) if name else view(value, digits)
        return f"{text}, where the sweep has {view(sweep, digits)}"

    return f"{field} corrected: {'; '.join(told(name, *both) for name, both in pairs.items())}"
