"""The JSON and CSV documents of a run over tensors, and tensors as text that reads back.

Tensors are written row by row: one of millions of numbers is never a list of lists in memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from exprgrad.draw.documents.document import SCHEMA, beside, csv_line, finite, text
from exprgrad.draw.text.sizes import jacobian_bytes
from exprgrad.explain.diagnostic import Diagnostic
from exprgrad.run.result import Edge, Node, Run

__all__ = [
    "MOST_NUMBERS", "Short", "answer_lines", "cell", "fields_json", "items", "lists", "pieces",
    "tensor_csv", "tensor_json", "tensor_trace_csv",
]  # fmt: skip

MOST_NUMBERS = 1000
"""The most numbers of a tensor on a node or an edge that are written without ``--all``."""
BLOCK = 4096
"""How many numbers of a row are written at once."""


class Short(NamedTuple):
    """A tensor that may be written as a summary."""

    value: Any


# Tensors as text.


def lists(value: Any, write: Callable[[list[float]], str]) -> Iterator[str]:
    """A tensor as nested lists, a row at a time; ``write`` writes a list of numbers, brackets and all."""
    *lead, length = value.shape
    counts = [1]
    for axis in reversed(lead):
        counts.append(counts[-1] * axis)
    rows = value.reshape(-1, length)
    for at, row in enumerate(rows):
        opened = sum(at % count == 0 for count in counts[1:])
        yield (", " if at else "") + "[" * (opened + 1)
        for start in range(0, length, BLOCK):
            numbers = write(row[start : start + BLOCK].tolist())[1:-1]
            yield f", {numbers}" if start else numbers
        yield "]" * (1 + sum((at + 1) % count == 0 for count in counts[1:]))


def json_numbers(numbers: list[float]) -> str:
    """A list of numbers as JSON; what is not finite is a string."""
    try:
        return text(numbers)
    except ValueError:
        return text([finite(number) for number in numbers])


def pieces(value: Any, *, whole: bool = True) -> Iterator[str]:
    """Any value as JSON: a tensor as nested lists; a large ``Short`` one as a summary, if not ``whole``."""
    if isinstance(value, Short):
        value = value.value
        if not whole and getattr(value, "size", 0) > MOST_NUMBERS:
            value = summary(value)
    if getattr(value, "ndim", 0):
        yield from lists(value, json_numbers)
    elif isinstance(value, float):
        yield text(finite(value))
    elif isinstance(value, Mapping):
        yield from fields_json(value, whole=whole)
        yield "}"
    else:
        yield text(value)


def fields_json(fields: Mapping[str, Any], *, whole: bool) -> Iterator[str]:
    """An object as JSON, up to its last brace."""
    separator = "{"
    for name, value in fields.items():
        yield f"{separator}{text(name)}: "
        yield from pieces(value, whole=whole)
        separator = ", "
    if not fields:
        yield separator


def summary(value: Any) -> dict[str, Any]:
    """What is said of a large tensor; its norm is nan if it holds one, its extremes leave those out."""
    from exprgrad.run.arrays.measure import measure

    found = measure(value)
    return {
        "shape": list(found.shape),
        "norm": finite(found.norm),
        "min": finite(found.least),
        "max": finite(found.greatest),
    }


def answer_lines(value: Any, before: str = "") -> Iterator[str]:
    """A number or a tensor on one line, after some text: ``W=[[1.0, 2.0], [3.0, 4.0]]``."""
    yield before
    if isinstance(value, float):
        yield repr(value)
    else:
        yield from lists(value, repr)
    yield "\n"


# Documents.


def tensor_json(
    run: Run,
    command: str,
    diagnostics: Iterable[Diagnostic],
    *,
    whole: bool,
    trust: Mapping[str, Any] | None = None,
) -> Iterator[str]:
    """The document of ``eval`` or ``grad``, one node or edge to a line."""
    head: dict[str, Any] = {
        "schema": SCHEMA,
        "command": command,
        "expression": run.text,
        "inputs": {name: Short(value) for name, value in run.inputs.items()},
        "output": {"node": run.graph.output, "name": run.graph.output_name},
        "value": run.value,
    }
    swept = run.adjoints is not None
    if swept:
        head["gradient"] = run.gradient
        head |= beside(run, lambda tensor: tensor)
    yield from fields_json(head, whole=whole)
    nodes = (node_fields(node, grad=swept) for node in run.iter_nodes())
    yield from items("nodes", nodes, whole=whole)
    if swept:
        yield from items("edges", map(edge_fields, run.iter_edges()), whole=whole)
        yield f',\n "order": {text(run.order)}'
    yield from items("diagnostics", (found._asdict() for found in diagnostics), whole=whole)
    if trust is not None:
        yield f',\n "trust": {text(trust)}'
    yield "}\n"


def items(name: str, objects: Iterable[Mapping[str, Any]], *, whole: bool) -> Iterator[str]:
    """A field that is a list of objects, one to a line."""
    yield f',\n "{name}": ['
    separator = "\n  "
    for item in objects:
        yield separator
        yield from pieces(item, whole=whole)
        separator = ",\n  "
    yield "]"


def node_fields(node: Node, *, grad: bool) -> dict[str, Any]:
    """A node's fields as JSON has them."""
    fields = node._asdict()
    shape = fields.pop("shape")
    fields |= {"data": Short(node.data), "grad": Short(node.grad), "shape": shape}
    if not grad:
        del fields["grad"]
    return fields


def edge_fields(edge: Edge) -> dict[str, Any]:
    """An edge's fields as JSON has them."""
    assert edge.jacobian is not None
    jacobian = {"shape": edge.jacobian, "bytes": jacobian_bytes(edge.jacobian)}
    fields = {"local": Short(edge.local), "contribution": Short(edge.contribution)}
    return edge._asdict() | fields | {"jacobian": jacobian}


def cell(value: Any, *, whole: bool) -> object:
    """A cell of CSV: a number, or a tensor as JSON."""
    if value is None or isinstance(value, float):
        return value
    return "".join(pieces(Short(value), whole=whole))


def tensor_csv(run: Run, *, whole: bool) -> Iterator[str]:
    """The nodes of a run as CSV; tensors are JSON lists."""
    swept = run.adjoints is not None
    names = ["id", "name", "op", "operands", "text", "shape", "data"]
    yield csv_line([*names, "grad"] if swept else names)
    for node in run.iter_nodes():
        operands = " ".join(map(str, node.operands))
        cells: list[object] = [node.id, node.name, node.op, operands, node.text, text(node.shape)]
        cells.append(cell(node.data, whole=whole))
        yield csv_line([*cells, cell(node.grad, whole=whole)] if swept else cells)


def tensor_trace_csv(run: Run, *, whole: bool) -> Iterator[str]:
    """The active edges in the order of the visits as CSV; tensors are JSON lists."""
    yield csv_line(["user", "position", "operand", "rule", "local", "contribution", "jacobian"])
    for edge in run.iter_edges():
        numbers = [cell(value, whole=whole) for value in (edge.local, edge.contribution)]
        yield csv_line([*edge[:4], *numbers, text(edge.jacobian)])
