"""The JSON and CSV documents of a run, written piece by piece: a million nodes never sit in memory."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from exprgrad.explain.diagnostic import Diagnostic
    from exprgrad.run.result import Edge, Node, Run

__all__ = [
    "SCHEMA", "array", "beside", "csv_line", "envelope", "finite", "node_fields", "run_csv", "run_json",
    "text",
    "trace_csv",
]  # fmt: skip

SCHEMA = "exprgrad/1"


def finite(value: float | None) -> float | str | None:
    """A number as JSON can hold it: what is not finite becomes ``"nan"``, ``"inf"`` or ``"-inf"``."""
    return value if value is None or math.isfinite(value) else str(value)


text = json.JSONEncoder(allow_nan=False).encode
"""One JSON value on one line."""


def envelope(command: str, **fields: Any) -> str:
    """A whole document that is small: the schema, the command, and what it has to say."""
    return text({"schema": SCHEMA, "command": command, **fields})


def run_json(
    run: Run,
    command: str,
    diagnostics: Iterable[Diagnostic],
    *,
    whole: bool = False,
    trust: Mapping[str, Any] | None = None,
    visits: tuple[Sequence[int], str] | None = None,
) -> Iterator[str]:
    """The document of ``eval`` or ``grad``, one node or edge to a line; ``whole`` leaves no tensor out.

    ``trust`` is what ``grad --trust`` adds; ``visits`` are those of ``grad --order``, with its field.
    """
    if run.shapes is not None:
        from exprgrad.draw.documents.tensor_document import tensor_json

        yield from tensor_json(run, command, diagnostics, whole=whole, trust=trust)
        return
    head: dict[str, Any] = {
        "schema": SCHEMA,
        "command": command,
        "expression": run.text,
        "inputs": {name: finite(value) for name, value in run.inputs.items()},
        "output": {"node": run.graph.output, "name": run.graph.output_name},
        "value": finite(run.value),
    }
    swept = run.adjoints is not None
    if swept:
        head["gradient"] = {name: finite(value) for name, value in run.gradient.items()}
        head |= beside(run)
    yield text(head)[:-1]
    yield from array("nodes", (node_fields(node, grad=swept) for node in run.iter_nodes()))
    if swept:
        yield from array("edges", (edge_fields(edge) for edge in run.iter_edges()))
        yield f',\n "order": {text(run.order if visits is None else visits[0])}'
    yield from array("diagnostics", (diagnostic._asdict() for diagnostic in diagnostics))
    if trust is not None:
        yield f',\n "trust": {text(trust)}'
    if visits is not None:
        yield f',\n "visit_order": {visits[1]}'
    yield "}\n"


def beside(run: Run, shown: Callable[[Any], Any] = finite) -> dict[str, Any]:
    """Corrections of the gradient, and the derivatives from the two sides, where there are any.

    ``shown`` makes of a corrected number, or tensor, what can be written.
    """
    fields: dict[str, Any] = {}
    if run.corrected:
        fields["corrected"] = {
            name: {"sweep": shown(sweep), "value": shown(value)}
            for name, (sweep, value) in run.corrected.items()
        }
    if run.one_sided:
        fields["one_sided"] = {
            name: {
                "left": finite(side.left),
                "right": finite(side.right),
                "left_value": finite(side.left_value),
                "right_value": finite(side.right_value),
                "verdict": side.verdict,
                "estimated": side.estimated,
            }
            for name, side in run.one_sided.items()
        }
    return fields


def array(name: str, items: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """A field that is a list of objects, one to a line."""
    yield f',\n "{name}": ['
    separator = "\n  "
    for item in items:
        yield separator + text(item)
        separator = ",\n  "
    yield "]"


def node_fields(node: Node, *, grad: bool) -> dict[str, Any]:
    """A node's fields as JSON has them."""
    fields: dict[str, Any] = node._asdict()
    del fields["shape"]
    fields["data"] = finite(node.data)
    if grad:
        fields["grad"] = finite(node.grad)
    else:
        del fields["grad"]
    return fields


def edge_fields(edge: Edge) -> dict[str, Any]:
    """An edge's fields as JSON has them."""
    fields: dict[str, Any] = edge._asdict()
    del fields["jacobian"]
    fields["local"] = finite(edge.local)
    fields["contribution"] = finite(edge.contribution)
    return fields


def csv_line(cells: Iterable[object]) -> str:
    """One line of CSV (RFC 4180)."""
    written = []
    for cell in cells:
        value = "" if cell is None else str(cell)
        if any(c in value for c in ',"\r\n'):
            value = '"' + value.replace('"', '""') + '"'
        written.append(value)
    return ",".join(written) + "\n"


def run_csv(run: Run, *, whole: bool = False) -> Iterator[str]:
    """The nodes of a run as CSV, numbers as the shortest text that reads back."""
    if run.shapes is not None:
        from exprgrad.draw.documents.tensor_document import tensor_csv

        yield from tensor_csv(run, whole=whole)
        return
    swept = run.adjoints is not None
    names = ["id", "name", "op", "operands", "text", "data"]
    yield csv_line([*names, "grad"] if swept else names)
    for node in run.iter_nodes():
        operands = " ".join(map(str, node.operands))
        cells = [node.id, node.name, node.op, operands, node.text, node.data]
        yield csv_line([*cells, node.grad] if swept else cells)


def trace_csv(run: Run, *, whole: bool = False) -> Iterator[str]:
    """The active edges in the order of the visits as CSV."""
    if run.shapes is not None:
        from exprgrad.draw.documents.tensor_document import tensor_trace_csv

        yield from tensor_trace_csv(run, whole=whole)
        return
    yield csv_line(["user", "position", "operand", "rule", "local", "contribution"])
    for edge in run.iter_edges():
        yield csv_line(edge[:6])
