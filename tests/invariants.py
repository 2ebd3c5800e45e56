"""What holds of every graph: a checker that states it once."""

from __future__ import annotations

from collections.abc import Callable

from exprgrad.graph.graph import CONST, INPUT, Graph, Literal
from exprgrad.graph.ops import BY_NAME
from exprgrad.graph.structural import ShapeMismatch
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
        else:
            row = BY_NAME.get(kind) or STRUCTURAL.get(kind)
            hold(row is not None, f"node {node} is not an operation")
            assert row is not None
            least = (2 if kind in BY_NAME else 1) if row.variadic else len(row.names)
            fits = len(operands) >= least if row.variadic else len(operands) == least
            hold(fits, f"node {node} has {len(operands)} operands")
            settings = None if kind in BY_NAME else len(STRUCTURAL[kind].parameters)
            given = len(payload) if type(payload) is tuple else payload
            hold(given == settings, f"node {node} has the wrong settings")
        if kind in (INPUT, CONST):
            hold(not operands, f"leaf {node} has operands")
    hold(edges == len(graph.edge_starts), "an edge has no span")
    check_shapes(graph, hold)
    names = [binding.name for binding in graph.bindings] + list(graph.inputs)
    hold(len(set(names)) == len(names), "a name is used twice")


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
            except ShapeMismatch as mismatch:
                raise ValueError(f"not a graph: node {node}: {mismatch}") from None
            hold(wanted == mine, f"node {node} has a wrong shape")
        elif kind == CONST:
            wanted = payload.shape if isinstance(payload, Literal) else ()
            hold(mine == wanted, f"constant {node} has a wrong shape")
        for operand, shape in zip(operands, given, strict=True):
            number = isinstance(graph.payloads[operand], float)
            fits = kind in STRUCTURAL or shape == mine or number
            hold(fits, f"operand {operand} of node {node} is not broadcast")
