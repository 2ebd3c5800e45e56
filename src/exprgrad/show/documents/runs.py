"""A run as JSON and CSV have it: its nodes and its edges."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from exprgrad.explain.diagnostics import DiagnosedRun
from exprgrad.graph.graph import Shape, shape_size
from exprgrad.run.evaluation import Edge, Node
from exprgrad.show.documents.document import (
    Apart,
    Lines,
    csv_rows,
    record_lines,
    shorten_tensor,
    shorten_tensors,
)

if TYPE_CHECKING:
    from exprgrad.run.evaluation import Diagnostic, Guarded

__all__ = [
    "common_run_fields", "corrected_pair", "graph_fields", "guard_fields", "jacobian_bytes", "node_rows",
    "run_fields", "trace_rows",
]  # fmt: skip


# JSON.


def common_run_fields(run: DiagnosedRun, value: Any) -> dict[str, Any]:
    """The first fields of every document about a run."""
    return {
        "inputs": shorten_tensors(run.inputs),
        "output": {"node": run.graph.output, "name": run.graph.output_name},
        "value": value,
    }


def run_fields(
    run: DiagnosedRun, diagnostics: Sequence[Diagnostic], order: Sequence[int] | None = None
) -> Iterator[tuple[str, Any]]:
    """The fields of ``eval`` or ``grad``; ``order`` are visits other than those of the sweep."""
    answer, is_swept = run.true, run.adjoints is not None
    yield from common_run_fields(run, answer.value).items()
    if is_swept:
        yield "gradient", answer.gradient
    yield from guard_fields(answer).items()
    if run.one_sided:
        yield (
            "one_sided",
            {
                name: {
                    "left": side.left,
                    "right": side.right,
                    "left_value": side.left_value,
                    "right_value": side.right_value,
                    "verdict": side.verdict,
                    "estimated": side.estimated,
                }
                for name, side in run.one_sided.items()
            },
        )
    yield from graph_fields(run).items()
    if is_swept:
        yield "edges", Lines(map(edge_record, run.iter_edges()))
        yield "order", Apart(run.order if order is None else order)
    yield "diagnostics", record_lines(diagnostics)


def guard_fields(answer: Guarded) -> dict[str, Any]:
    """The fields for an answer's count of right digits, and for its corrected numbers."""
    value, pairs = answer.corrected_value, answer.corrected.items()
    return {
        **({"digits": answer.digits} if answer.digits else {}),
        **({"corrected_value": corrected_pair(*value)} if value is not None else {}),
        **({"corrected": {name: corrected_pair(*both) for name, both in pairs}} if pairs else {}),
    }


def corrected_pair(sweep: Any, value: Any) -> dict[str, Any]:
    """A corrected number's fields: the sweep's number, and the answer's."""
    return {"sweep": sweep, "value": value}


def graph_fields(run: DiagnosedRun) -> dict[str, Any]:
    """The nodes, and the calls if there are any."""
    calls = [call._asdict() for call in run.graph.calls]
    for call in calls:
        del call["opened"], call["bends"]
        call["parent"] = None if call["parent"] < 0 else call["parent"]
    # Among tensors a node has a shape, in a call the call.
    optional = {"shape", "call"} if run.adjoints is not None else {"shape", "call", "grad"}
    nodes = (
        node._asdict() | {"data": shorten_tensor(node.data), "grad": shorten_tensor(node.grad)}
        for node in run.iter_nodes()
    )
    records = Lines(
        {name: value for name, value in fields.items() if value is not None or name not in optional}
        for fields in nodes
    )
    return {"nodes": records, **({"calls": Lines(calls)} if calls else {})}


def edge_record(edge: Edge) -> dict[str, Any]:
    """An edge's fields as JSON has them."""
    local, contribution = shorten_tensor(edge.local), shorten_tensor(edge.contribution)
    fields = edge._asdict() | {"local": local, "contribution": contribution}
    ends = fields.pop("jacobian")
    return (
        fields
        if ends is None
        else fields | {"jacobian": {"shape": ends, "bytes": jacobian_bytes(ends)}}
    )


def jacobian_bytes(shapes: tuple[Shape, Shape]) -> int:
    """The bytes of a whole Jacobian, given the shapes of the node and the operand."""
    return 8 * shape_size(shapes[0]) * shape_size(shapes[1])


# CSV.


def node_rows(
    run: DiagnosedRun, more: Mapping[str, Callable[[Node], Any]] = {}
) -> Iterator[list[Any]]:
    """The nodes as lines of CSV, with ``more`` columns; tensors are JSON lists, a call is its text.

    The output's data and the inputs' grads are those of the answer, which may be corrected.
    """
    answer, graph = run.true, run.graph
    data = {graph.output: answer.value}
    grads = {graph.inputs[name]: slope for name, slope in answer.gradient.items()}
    columns: dict[str, Callable[[Node], Any]] = {
        **{name: attrgetter(name) for name in ("id", "name", "op")},
        "operands": lambda node: " ".join(map(str, node.operands)),
        "text": attrgetter("text"),
        "shape": attrgetter("shape"),
        "data": lambda node: shorten_tensor(data.get(node.id, node.data)),
        "grad": lambda node: shorten_tensor(grads.get(node.id, node.grad)),
        "call": lambda node: "" if node.call is None else graph.calls[node.call].text,
        **more,
    }
    absent = {"shape": not graph.shapes, "grad": run.adjoints is None, "call": not graph.calls}
    shown = {name: cell for name, cell in columns.items() if not absent.get(name)}
    return csv_rows(shown, run.iter_nodes())


def trace_rows(run: DiagnosedRun) -> Iterator[list[Any]]:
    """The active edges in the order of the visits as lines of CSV; tensors are JSON lists."""
    assert run.adjoints is not None
    columns: dict[str, Callable[[Edge], Any]] = {
        **{name: attrgetter(name) for name in ("user", "position", "operand", "rule")},
        "local": lambda edge: shorten_tensor(edge.local),
        "contribution": lambda edge: shorten_tensor(edge.contribution),
        **{name: attrgetter(name) for name in run.adjoints.beside},
    }
    return csv_rows(columns, run.iter_edges())
