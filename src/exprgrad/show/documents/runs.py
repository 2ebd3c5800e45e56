"""A run as JSON and CSV have it: its nodes and its edges."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from exprgrad.explain.diagnostics import DiagnosedRun
from exprgrad.graph.graph import Shape, shape_size
from exprgrad.run.evaluation import Edge, Node
from exprgrad.show.documents.document import (
    Apart,
    Lines,
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

NODE_COLUMNS = ("id", "name", "op", "operands", "text", "shape", "data", "grad", "call")
"""The fields of a node that CSV has, as far as the node has them."""
ONE_SIDED = ("left", "right", "left_value", "right_value", "verdict", "estimated")
"""The fields of an input's derivatives from the two sides."""


# JSON.


def common_run_fields(run: DiagnosedRun, value: Any) -> dict[str, Any]:
    """What every document of a run says first."""
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
    yield from guard_fields(answer)
    if run.one_sided:
        yield (
            "one_sided",
            {
                name: {field: getattr(side, field) for field in ONE_SIDED}
                for name, side in run.one_sided.items()
            },
        )
    yield from graph_fields(run)
    if is_swept:
        yield "edges", Lines(map(edge_record, run.iter_edges()))
        yield "order", Apart(run.order if order is None else order)
    yield "diagnostics", record_lines(diagnostics)


def guard_fields(answer: Guarded) -> Iterator[tuple[str, Any]]:
    """How many digits of an answer are right, and which of its numbers are corrected."""
    if answer.digits:
        yield "digits", answer.digits
    if answer.corrected_value is not None:
        yield "corrected_value", corrected_pair(*answer.corrected_value)
    if answer.corrected:
        yield "corrected", {name: corrected_pair(*both) for name, both in answer.corrected.items()}


def corrected_pair(sweep: Any, value: Any) -> dict[str, Any]:
    """A corrected number: what the sweep has, and what the answer is."""
    return {"sweep": sweep, "value": value}


def graph_fields(run: DiagnosedRun) -> Iterator[tuple[str, Any]]:
    """The nodes, and the calls if there are any."""
    is_swept = run.adjoints is not None
    yield "nodes", Lines(node_record(node, with_grad=is_swept) for node in run.iter_nodes())
    if run.graph.calls:
        calls = [(call, call._asdict()) for call in run.graph.calls]
        for call, fields in calls:
            del fields["opened"], fields["bends"]
            fields["parent"] = None if call.parent < 0 else call.parent
        yield "calls", Lines(fields for _, fields in calls)


def node_record(node: Node, *, with_grad: bool) -> dict[str, Any]:
    """A node's fields as JSON has them; ``shape`` is of a node among tensors, ``call`` of one in a call."""
    fields: dict[str, Any] = node._asdict()
    for name in ("shape", "call"):
        if fields[name] is None:
            del fields[name]
    fields["data"] = shorten_tensor(node.data)
    fields["grad"] = shorten_tensor(node.grad)
    if not with_grad:
        del fields["grad"]
    return fields


def edge_record(edge: Edge) -> dict[str, Any]:
    """An edge's fields as JSON has them."""
    fields: dict[str, Any] = edge._asdict()
    ends_of = fields.pop("jacobian")
    fields["local"] = shorten_tensor(edge.local)
    fields["contribution"] = shorten_tensor(edge.contribution)
    if ends_of is not None:
        fields["jacobian"] = {"shape": ends_of, "bytes": jacobian_bytes(ends_of)}
    return fields


def jacobian_bytes(shapes: tuple[Shape, Shape]) -> int:
    """What a whole Jacobian would take in doubles, given the node's shape and the operand's."""
    return 8 * shape_size(shapes[0]) * shape_size(shapes[1])


# CSV.


def node_rows(run: DiagnosedRun) -> Iterator[list[Any]]:
    """The nodes as lines of CSV; tensors are JSON lists, a call is its text.

    The output's data and the inputs' grads are those of the answer, which may be corrected.
    """
    answer, calls = run.true, run.graph.calls
    slopes = {run.graph.inputs[name]: slope for name, slope in answer.gradient.items()}
    for node in run.iter_nodes():
        fields = node_record(node, with_grad=run.adjoints is not None)
        if node.id == run.graph.output:
            fields["data"] = shorten_tensor(answer.value)
        if node.id in slopes:
            fields["grad"] = shorten_tensor(slopes[node.id])
        fields["operands"] = " ".join(map(str, node.operands))
        if calls:
            fields["call"] = "" if node.call is None else calls[node.call].text
        if node.id == 0:
            names = [name for name in NODE_COLUMNS if name in fields]
            yield names
        yield [fields[name] for name in names]


def trace_rows(run: DiagnosedRun) -> Iterator[list[Any]]:
    """The active edges in the order of the visits as lines of CSV; tensors are JSON lists."""
    assert run.adjoints is not None
    beside = run.adjoints.beside
    yield ["user", "position", "operand", "rule", "local", "contribution", *beside]
    for edge in run.iter_edges():
        further = [getattr(edge, name) for name in beside]
        yield [*edge[:4], shorten_tensor(edge.local), shorten_tensor(edge.contribution), *further]
