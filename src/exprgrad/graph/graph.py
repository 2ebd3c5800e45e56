"""The graph: what every part of exprgrad reads, and nobody changes once it is built.

Nodes are numbered in the order in which they were appended, and an operand is always appended before
its user, so ascending index is a topological order.  Names and spans are side tables: they say where a
node came from and never what it computes.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from exprgrad.graph.literal import Literal, Settings, Shape
from exprgrad.graph.ops import BY_NAME
from exprgrad.source import Span

__all__ = [
    "CONST", "INPUT", "Binding", "Graph", "Payload", "Program", "check", "dependencies", "dependents",
    "is_scalar", "same", "seen_from",
]  # fmt: skip

INPUT = "input"
CONST = "const"


Payload = str | float | Literal | Settings | None


class Binding(NamedTuple):
    """A statement ``name = expression``: the name, the node it names, and the name's span."""

    name: str
    node: int
    span: Span


class Graph:
    """Nodes in flat arrays, indexed by node.

    ``kinds``      the op table row's name, ``input`` or ``const``
    ``operands``   the operands' indices, in order
    ``payloads``   an input's name, a constant's number or ``Literal``, a structural operation's
                   settings; None for an elementwise operation
    ``starts``, ``ends``   the node's span in the text (without surrounding parentheses)
    ``first_edge`` the number of the node's first operand edge; edges are numbered in node order
    ``edge_starts``, ``edge_ends``  the span of each operand's occurrence, by edge
    ``inputs``     name → node, in order of first appearance
    ``symbols``    node → the spelling of a named constant, such as ``pi``
    ``bindings``   the named statements, in order
    ``output``     the node that the whole expression is
    ``output_name``  the name it bears, if any
    ``shapes``     the nodes' shapes, where they are known; None: all are numbers, or nobody knows yet
    ``implicit``   the nodes that broadcasting put in: nobody wrote them
    ``origins``    of a derived graph: node → the node of the user's graph that it comes from
    """

    __slots__ = (
        "bindings", "edge_ends", "edge_starts", "ends", "first_edge", "implicit", "inputs", "kinds",
        "operands", "origins", "output", "output_name", "payloads", "shapes", "starts", "symbols",
    )  # fmt: skip

    def __init__(self) -> None:
        self.kinds: list[str] = []
        self.operands: list[tuple[int, ...]] = []
        self.payloads: list[Payload] = []
        self.starts = array("q")
        self.ends = array("q")
        self.first_edge = array("q")
        self.edge_starts = array("q")
        self.edge_ends = array("q")
        self.inputs: dict[str, int] = {}
        self.symbols: dict[int, str] = {}
        self.bindings: list[Binding] = []
        self.output = -1
        self.output_name: str | None = None
        self.shapes: list[Shape] | None = None
        self.implicit: set[int] = set()
        self.origins: dict[int, int] = {}

    def __repr__(self) -> str:
        return f"<Graph: {len(self)} nodes, {len(self.inputs)} of them inputs>"

    def __len__(self) -> int:
        return len(self.kinds)

    def append(
        self,
        kind: str,
        operands: tuple[int, ...],
        payload: Payload,
        span: Span,
        occurrences: tuple[Span, ...] = (),
    ) -> int:
        """Add a node and return its index."""
        self.kinds.append(kind)
        self.operands.append(operands)
        self.payloads.append(payload)
        self.starts.append(span[0])
        self.ends.append(span[1])
        self.first_edge.append(len(self.edge_starts))
        for start, end in occurrences:
            self.edge_starts.append(start)
            self.edge_ends.append(end)
        return len(self.kinds) - 1

    def truncate(self, length: int) -> None:
        """Take back the last nodes, which nothing uses yet."""
        if length == len(self):
            return
        edges = self.first_edge[length]
        for column in (
            self.kinds,
            self.operands,
            self.payloads,
            self.starts,
            self.ends,
            self.first_edge,
        ):
            del column[length:]
        del self.edge_starts[edges:], self.edge_ends[edges:]

    def drop(self, leaf: int) -> None:
        """Take out a leaf that nothing uses; the nodes behind it move up."""
        for column in (self.kinds, self.payloads, self.starts, self.ends, self.first_edge):
            del column[leaf]
        del self.operands[leaf]
        self.operands = [tuple([at - (at > leaf) for at in each]) for each in self.operands]
        self.inputs = {name: node - (node > leaf) for name, node in self.inputs.items()}
        self.symbols = {node - (node > leaf): name for node, name in self.symbols.items()}

    def span(self, node: int) -> Span:
        """Where the node is written; an input's span is its first occurrence."""
        return self.starts[node], self.ends[node]

    def occurrence(self, user: int, position: int) -> Span:
        """Where the operand at a position of a user is written."""
        edge = self.first_edge[user] + position
        return self.edge_starts[edge], self.edge_ends[edge]

    def shape(self, node: int) -> Shape:
        """A node's shape: ``()`` is a number, and all are where the graph carries no shapes."""
        return () if self.shapes is None else self.shapes[node]

    def names(self) -> dict[int, str]:
        """Node → its name: an input's own, or the first that a statement bound to it."""
        names = {node: name for name, node in self.inputs.items()}
        for name, node, _ in self.bindings:
            names.setdefault(node, name)
        return names

    def edges(self) -> Iterator[tuple[int, int, int]]:
        """Every edge as (user, position, operand), in order."""
        for user, operands in enumerate(self.operands):
            for position, operand in enumerate(operands):
                yield user, position, operand


class Program(NamedTuple):
    """A graph and the nodes that are asked of it, in order: a value and its gradient, say."""

    graph: Graph
    outputs: tuple[int, ...]


def dependencies(graph: Graph, *nodes: int) -> bytearray:
    """A flag for each node: whether one of ``nodes`` depends on it (or is it)."""
    needed = bytearray(len(graph))
    for node in nodes:
        needed[node] = 1
    for user in range(max(nodes, default=-1), -1, -1):
        if needed[user]:
            for operand in graph.operands[user]:
                needed[operand] = 1
    return needed


def dependents(graph: Graph, nodes: Iterable[int]) -> bytearray:
    """A flag for each node: whether it depends on (or is) one of ``nodes``."""
    active = bytearray(len(graph))
    for node in nodes:
        active[node] = 1
    for user, operands in enumerate(graph.operands):
        for operand in operands:
            if active[operand]:
                active[user] = 1
                break
    return active


def seen_from(graph: Graph, output: int) -> Graph:
    """The same graph with another output."""
    if output == graph.output:
        return graph
    view = Graph()
    for column in Graph.__slots__:
        setattr(view, column, getattr(graph, column))
    view.output = output
    return view


def same(one: Graph, other: Graph) -> bool:
    """Whether two graphs compute the same thing node by node and use the same names, spans aside."""
    return (
        one.kinds == other.kinds
        and one.operands == other.operands
        and [repr(p) for p in one.payloads] == [repr(p) for p in other.payloads]
        and one.symbols == other.symbols
        and [b[:2] for b in one.bindings] == [b[:2] for b in other.bindings]
        and (one.output, one.output_name) == (other.output, other.output_name)
    )


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
    if graph.shapes is not None:
        check_shapes(graph, hold)
    names = [binding.name for binding in graph.bindings] + list(graph.inputs)
    hold(len(set(names)) == len(names), "a name is used twice")


def check_structural(graph: Graph, node: int, hold: Callable[[bool, str], None]) -> None:
    """The invariants of a structural node, or of what is no operation at all."""
    from exprgrad.graph.tensors import STRUCTURAL

    kind, operands, settings = graph.kinds[node], graph.operands[node], graph.payloads[node]
    row = STRUCTURAL.get(kind)
    hold(row is not None, f"node {node} is not an operation")
    assert row is not None
    fits = len(operands) >= 1 if row.variadic else len(operands) == len(row.names)
    hold(fits, f"node {node} has {len(operands)} operands")
    complete = type(settings) is tuple and len(settings) == len(row.parameters)
    hold(complete, f"node {node} has no settings")


def check_shapes(graph: Graph, hold: Callable[[bool, str], None]) -> None:
    """Every node has the shape that its row says, and elementwise ones are given no others but numbers."""
    from exprgrad.graph.structural import Mismatch
    from exprgrad.graph.tensors import STRUCTURAL

    shapes = graph.shapes or []
    hold(len(shapes) == len(graph), "not every node has a shape")
    for node, kind in enumerate(graph.kinds):
        mine, payload = shapes[node], graph.payloads[node]
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
            number = graph.kinds[operand] == CONST and shape == ()
            fits = kind in STRUCTURAL or shape == mine or number
            hold(fits, f"operand {operand} of node {node} is not broadcast")


def is_scalar(graph: Graph) -> bool:
    """Whether nothing in a graph makes or takes a tensor, its inputs aside."""
    if any(kind not in BY_NAME and kind not in (INPUT, CONST) for kind in set(graph.kinds)):
        return False
    return not any(type(payload) is Literal for payload in graph.payloads)
