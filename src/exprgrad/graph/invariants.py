"""What holds of every graph: a checker that states it once."""

from __future__ import annotations

from collections.abc import Callable

from exprgrad.graph.graph import CONST, INPUT, Graph, Literal
from exprgrad.graph.ops import BY_NAME
from exprgrad.graph.structural import Mismatch
from exprgrad.graph.tensors import STRUCTURAL

__all__ = ["check"]


def check(graph: Graph) -> None:
    """Raise ``ValueError`` unless the graph keeps its invariants."""

    def hold(condition: bool, what: str) -> None:
        if not condition:
            raise ValueError(f"not a graph: {what}")

    size = len(graph)
    columns = (graph.operands, graph.payloads, graph.starts, graph.ends, graph.first_edge)
    hold(all(len(column) == size for column in columns), "its columns differ in length")
    hold(0 <= graph.output < size, "its output is not a node")
    hold(len(graph.edge_starts) == len(graph.edge_ends), "its edge columns differ in length")
    edges = 0
    for node, (kind, operands) in enumerate(zip(graph.kinds, graph.operands, strict=True)):
        hold(
            all(0 <= operand < node for operand in operands), f"node {node} comes before an operand"
        )
        hold(graph.first_edge[node] == edges, f"the edges of node {node} are misnumbered")
        edges += len(operands)
        payload = graph.payloads[node]
        if kind == INPUT:
            hold(graph.inputs.get(str(payload)) == node, f"input {node} is not listed")
        elif kind == CONST:
            hold(isinstance(payload, float | Literal), f"constant {node} has no value")
        elif kind not in BY_NAME:
            check_structural(graph, node, hold)
        else:
            op = BY_NAME.get(kind)
            hold(op is not None and payload is None, f"node {node} is not an operation")
            assert op is not None
            fits = len(operands) >= 2 if op.variadic else len(operands) == len(op.names)
            hold(fits, f"node {node} has {len(operands)} operands")
        if kind in (INPUT, CONST):
            hold(not operands, f"leaf {node} has operands")
    hold(edges == len(graph.edge_starts), "an edge has no span")
    check_shapes(graph, hold)
    names = [binding.name for binding in graph.bindings] + list(graph.inputs)
    hold(len(set(names)) == len(names), "a name is used twice")


def check_structural(graph: Graph, node: int, hold: Callable[[bool, str], None]) -> None:
    """The invariants of a structural node, or of what is no operation at all."""
    kind, operands, settings = graph.kinds[node], graph.operands[node], graph.payloads[node]
    row = STRUCTURAL.get(kind)
    hold(row is not None, f"node {node} is not an operation")
    assert row is not None
    fits = len(operands) >= 1 if row.variadic else len(operands) == len(row.names)
    hold(fits, f"node {node} has {len(operands)} operands")
    complete = type(settings) is tuple and len(settings) == len(row.parameters)
    hold(complete, f"node {node} has no settings")


def check_shapes(graph: Graph, hold: Callable[[bool, str], None]) -> None:
    """Every node has the shape that its row says, and elementwise ones are given no others but numbers.

    A graph that carries no shapes has none to check.
    """
    shapes = graph.shapes
    hold(len(shapes) in (0, len(graph)), "not every node has a shape")
    for node, mine in enumerate(shapes):
        kind, payload = graph.kinds[node], graph.payloads[node]
        operands = graph.operands[node]
        given = [shapes[operand] for operand in operands]
        if kind in STRUCTURAL:
            assert isinstance(payload, tuple)
            try:
                wanted = STRUCTURAL[kind].shape(given, payload)
            except Mismatch as mismatch:
                raise ValueError(f"not a graph: node {node}: {mismatch}") from None
            hold(wanted == mine, f"node {node} has a wrong shape")
        elif kind == CONST:
            wanted = payload.shape if isinstance(payload, Literal) else ()
            hold(mine == wanted, f"constant {node} has a wrong shape")
        for operand, shape in zip(operands, given, strict=True):
            number = isinstance(graph.payloads[operand], float)
            fits = kind in STRUCTURAL or shape == mine or number
            hold(fits, f"operand {operand} of node {node} is not broadcast")
