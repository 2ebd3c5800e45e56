"""Run: what one evaluation found.  Results live here and never on the graph's nodes."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from exprgrad.graph.graph import CONST, INPUT, Graph, Shape, dependents
from exprgrad.language.write.infix import LIMIT, texts
from exprgrad.source import Span

if TYPE_CHECKING:
    from exprgrad.run.arrays import sweeps as over_arrays
    from exprgrad.run.numbers import sweeps as over_numbers

__all__ = ["Edge", "Node", "Run", "is_finite"]


def is_finite(value: Any) -> bool:
    """Whether a number, or every number of a tensor, is finite."""
    if type(value) is float:
        return math.isfinite(value)
    return bool((abs(value) < math.inf).all())


class Node(NamedTuple):
    """A node as people read it: ``op`` is a row's name, ``input`` or ``const``.

    Data and grad are floats; among tensors, where ``shape`` is not None, they may be NumPy arrays.
    """

    id: int
    name: str | None
    op: str
    operands: tuple[int, ...]
    text: str
    span: Span
    data: Any
    grad: Any
    shape: Shape | None = None

    def __repr__(self) -> str:
        return written(self)


class Edge(NamedTuple):
    """An active edge: its local derivative as formula and number, and what it passed on.

    Among tensors ``jacobian`` is the shape that the whole local derivative would have had: the node's and
    the operand's.  ``local`` is then its diagonal, or None where it is not even diagonal.
    """

    user: int
    position: int
    operand: int
    rule: str
    local: Any
    contribution: Any
    span: Span
    jacobian: tuple[Shape, Shape] | None = None

    def __repr__(self) -> str:
        return written(self)


def written(found: Node | Edge) -> str:
    """A node or an edge as Python writes it; among numbers its last field, of tensors, is left out."""
    fields = list(found._asdict().items())
    told = fields if fields[-1][1] is not None else fields[:-1]
    return f"{type(found).__name__}({', '.join(f'{name}={value!r}' for name, value in told)})"


class Run:
    """One evaluation of an expression: inputs in, every node's data and perhaps grad out.

    ``values`` holds each node's data.  After a reverse sweep ``adjoints`` is what it found and ``wrt``
    the inputs that were differentiated; after a forward sweep alone both are None.  Among tensors
    ``graph.shapes`` are the nodes' shapes, and data and grad are floats or NumPy arrays.

    What a reverse sweep found has, over numbers and over tensors, by node

    ``active``     whether it depends on a differentiated input
    ``grads``      its grad; None for a node that no gradient reached, whose grad is ``zero(node)``
    ``locals``     its local derivatives, as far as its operands are active; None if it passed nothing on
    ``passed(user)``  its active edges: position, local derivative (None if not even diagonal), contribution
    ``met``        the kinks and jumps that it meets, with flags that say where; ``quiet`` if none does

    and ``order``, the nodes that the output depends on, in the order of the visits.
    """

    def __init__(
        self,
        text: str,
        graph: Graph,
        inputs: Mapping[str, Any],
        values: list[Any],
        adjoints: over_numbers.Adjoints | over_arrays.Adjoints | None = None,
        wrt: tuple[str, ...] | None = None,
    ) -> None:
        self.text = text
        self.graph = graph
        self.inputs = dict(inputs)
        self.values = values
        self.adjoints = adjoints
        self.wrt = wrt

    @property
    def value(self) -> Any:
        """The output's data: a float, or a NumPy array."""
        return self.values[self.graph.output]

    @property
    def swept(self) -> dict[str, Any]:
        """The gradient as the reverse sweep found it, with its conventions at kinks and jumps."""
        if self.adjoints is None:
            return {}
        grads, nodes = self.adjoints.grads, self.graph.inputs
        found = {}
        for name in self.wrt or ():
            node = nodes[name]
            grad = grads[node]
            found[name] = self.adjoints.zero(node) if grad is None else grad
        return found

    @property
    def order(self) -> list[int]:
        """The reverse sweep's visits, in order: the nodes that the output depends on."""
        return [] if self.adjoints is None else self.adjoints.order

    def grad(self, node: int) -> Any:
        """A node's grad: None for a constant, or what depends on no differentiated input."""
        if self.adjoints is None:
            return None
        grad = self.adjoints.grads[node]
        if self.adjoints.active[node]:
            return self.adjoints.zero(node) if grad is None else grad
        return None if self.graph.kinds[node] in (CONST, INPUT) else grad

    def passed(self, node: int) -> bool:
        """Whether a gradient reached the node and went on to its operands."""
        return self.adjoints is not None and self.adjoints.locals[node] is not None

    @cached_property
    def names(self) -> dict[int, str]:
        """Node → its name, for the nodes that have one."""
        return self.graph.names()

    @cached_property
    def texts(self) -> list[str]:
        """Every node's text, cut to 60 characters."""
        return texts(self.graph, self.names, LIMIT)

    def label(self, node: int) -> str:
        """What a node is called: its name, else its text."""
        return self.names.get(node, self.texts[node])

    def iter_nodes(self) -> Iterator[Node]:
        """The nodes, one at a time."""
        graph = self.graph
        for node, kind in enumerate(graph.kinds):
            yield Node(
                node,
                self.names.get(node),
                kind,
                graph.operands[node],
                self.texts[node],
                graph.span(node),
                self.values[node],
                self.grad(node),
                None if graph.shapes is None else graph.shapes[node],
            )

    @cached_property
    def nodes(self) -> list[Node]:
        """Every node, in topological order."""
        return list(self.iter_nodes())

    def iter_edges(self) -> Iterator[Edge]:
        """The active edges in the order of the visits, one at a time."""
        for node in self.order:
            yield from self.edges_of(node)

    def edges_of(self, user: int) -> Iterator[Edge]:
        """The active edges from a node to its operands."""
        if self.adjoints is None or not self.passed(user):
            return
        graph, rules = self.graph, self.rules(user)
        for position, local, contribution in self.adjoints.passed(user):
            operand = graph.operands[user][position]
            span = graph.occurrence(user, position)
            jacobian = None
            if graph.shapes is not None:
                jacobian = graph.shape(user), graph.shape(operand)
            yield Edge(
                user, position, operand, rules(position), local, contribution, span, jacobian
            )

    @cached_property
    def edges(self) -> list[Edge]:
        """Every active edge, in the order of the visits."""
        return list(self.iter_edges())

    def rules(self, user: int) -> Callable[[int], str]:
        """The local derivatives of a node's edges as people read them, by the operand's position.

        The operands' names are filled in.  Among tensors it is 0 for an operand that is passed nothing.
        """
        from exprgrad.run.edge_texts import rules

        return rules(self, user)

    def rule(self, user: int, position: int) -> str:
        """The local derivative of one edge as people read it: see ``rules``."""
        return self.rules(user)(position)

    @cached_property
    def varying(self) -> Sequence[int]:
        """By node: whether it depends on an input."""
        return dependents(self.graph, self.graph.inputs.values())
