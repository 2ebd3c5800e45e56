"""The nodes of a run as a table."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from exprgrad.explain.diagnostics import DiagnosedRun, doubtful_nodes
from exprgrad.graph.graph import CONST, Call
from exprgrad.graph.ops import BY_NAME
from exprgrad.run import evaluation
from exprgrad.run.evaluation import Guarded
from exprgrad.show.text.lines import (
    IN_CELL,
    WHOLE_VIEW,
    answer_text,
    first_and_last,
    value_text,
    value_texts_by_room,
)
from exprgrad.show.text.table import Column, Table, make_table

__all__ = [
    "DOUBT", "call_kind", "correction_line", "correction_notes", "gate_of_kind", "is_zero_derivative",
    "named_node_text", "node_table", "node_title",
]  # fmt: skip

DOUBT = "~"
"""The mark of a number with fewer right digits than it is shown with."""


def node_table(run: DiagnosedRun, digits: int = 6, *, all_nodes: bool = False) -> Table:
    """Every node, its operation and data, and its grad where there was a reverse sweep.

    Among tensors it has their shapes; ``all_nodes`` leaves out no node and no number.  A tensor is marked
    if one of its numbers has fewer right digits than shown.
    """
    graph = run.graph
    has_shapes = bool(graph.shapes)
    how = WHOLE_VIEW if all_nodes else IN_CELL
    doubts = doubtful_nodes(run, first_and_last(run.shown, whole=all_nodes)[0], digits)

    def marked(number: Any, doubted: bool) -> Any:
        """A number, or the ways to show it with its mark."""
        texts = value_texts_by_room(number, digits, how) if doubted else ()
        return [f"{text}{DOUBT}" for text in texts] if doubted else number

    columns = [
        Column("#", int, is_number=True, style="dim"),
        Column("node", partial(indented_title, run), flexible=True),
        Column("operation", partial(operation_cell, run), style="dim", expendable=2),
        Column("shape", lambda node: str(graph.shape(node)), expendable=1, is_shown=has_shapes),
        Column(
            "data",
            lambda node: marked(run.values[node], node in doubts[0]),
            is_number=not has_shapes,
            style="green",
        ),
        Column(
            "grad",
            lambda node: marked(run.grad(node), node in doubts[1]),
            is_number=not has_shapes,
            style="yellow",
            is_shown=run.adjoints is not None,
        ),
    ]
    found = run.guarded(digits)
    explained = [f"{DOUBT} fewer right digits than shown"] if any(doubts) else []
    answer = f"output  {answer_text(run.output_label, found.value, digits, whole=all_nodes)}"
    return make_table(
        columns,
        run.shown,
        digits,
        whole=all_nodes,
        how=IN_CELL,
        marked=graph.output,
        foot="\n".join([answer, *correction_notes(found, digits, whole=all_nodes), *explained]),
        what="nodes",
    )


def operation_cell(run: DiagnosedRun, node: int) -> str:
    """A node's operation: its row's name, or the kind of its call."""
    if node in run.closed:
        return call_kind(run.closed[node].call)
    kind = run.graph.kinds[node]
    return "constant" if kind == CONST else kind


def indented_title(run: DiagnosedRun, node: int) -> str:
    """A node's title, further in if it stands in an opened call."""
    title = node_title(run, node)
    if node not in run.opened:
        return title
    from exprgrad.graph.calls import enclosing_calls

    calls = [run.graph.calls[at] for at in enclosing_calls(run.graph, node)]
    return "  " * sum(call.opened and call.result != node for call in calls) + title


def call_kind(call: Call) -> str:
    """The kind of a call, in a word."""
    return call.name if call.kind == "index" else call.kind


def gate_of_kind(kind: str) -> str:
    """An operation's gate: what it does with its grad, in a few words."""
    if kind in BY_NAME:
        return BY_NAME[kind].gate
    from exprgrad.graph.tensors import STRUCTURAL

    return STRUCTURAL[kind].gate


def is_zero_derivative(local: Any) -> bool:
    """Whether a local derivative is 0, everywhere."""
    return local is not None and not (local.any() if hasattr(local, "any") else local)


def node_title(run: DiagnosedRun, node: int) -> str:
    """A node's text, after its name where it has one; an implicit broadcast names its operand."""
    if node in run.graph.implicit:
        return f"broadcast({run.label(run.graph.operands[node][0])})"
    return named_node_text(run, node)


def named_node_text(run: evaluation.SweptRun, node: int) -> str:
    """A node's text, or that of the closed call that it is; after its name where it has one."""
    text = run.closed[node].call.label if node in run.closed else run.texts[node]
    told = [run.names.get(node, text), text]
    if node in run.opened:
        from exprgrad.graph.calls import calls_resulting_in

        calls = reversed(calls_resulting_in(run.graph, node))
        told[1:1] = [call.text for call in calls if call.opened and call.is_expression]
    return " = ".join(dict.fromkeys(told))


def correction_notes(found: Guarded, digits: int, *, whole: bool = False) -> list[str]:
    """The lines on numbers of the answer that differ from the sweep's above it."""
    lines = []
    if found.corrected_value is not None:
        lines.append(correction_line("value", {"": found.corrected_value}, digits))
    if found.corrected:
        lines.append(correction_line("gradient", found.corrected, digits, whole=whole))
    return lines


def correction_line(
    field: str, pairs: Mapping[str, tuple[Any, Any]], digits: int, *, whole: bool = False
) -> str:
    """The line that says which numbers of a field are corrected, by name."""

    def told(name: str, sweep: Any, value: Any) -> str:
        text = answer_text(name, value, digits, whole=whole) if name else value_text(value, digits)
        return f"{text}, where the sweep has {value_text(sweep, digits)}"

    return f"{field} corrected: {'; '.join(told(name, *both) for name, both in pairs.items())}"
