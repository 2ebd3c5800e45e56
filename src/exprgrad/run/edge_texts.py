"""The texts of a node's edges: local derivatives, and over tensors contributions too.

Over numbers a local derivative is the row's shown rule.  Where shapes are known the texts are those of the
programs that compute the edges, so they follow from a structural row's ``vjp``; what makes those programs
is loaded only then.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from typing import Any, NamedTuple, Protocol

from exprgrad.derive.rules import shown, template
from exprgrad.graph.graph import CONST, Graph
from exprgrad.graph.ops import BY_NAME
from exprgrad.language.write.infix import (
    ATOM,
    LIMIT,
    leaf_text,
    operand_label,
    operand_level,
    operation_text,
    rule_text,
    text_prefixes,
)
from exprgrad.source import cut_text

__all__ = [
    "PASSED", "EdgeTexts", "contribution_texts", "label_in_parentheses", "label_in_product", "pass_texts",
    "rule_of",
]  # fmt: skip

PASSED = "·"
"""The sign for the cotangent in the name of a Jacobian: ``· @ W.T``."""


class NamedGraph(Protocol):
    """A graph whose nodes have names and texts: a run."""

    graph: Graph

    @property
    def adjoints(self) -> Any:
        """The result of a reverse sweep; None if every input counts as differentiated."""

    @property
    def varying(self) -> Sequence[int]:
        """Flags of the nodes that depend on an input."""

    @property
    def names(self) -> Mapping[int, str]:
        """Node → its name."""

    @property
    def texts(self) -> list[str]:
        """The text of every node."""

    def label(self, node: int) -> str:
        """Return a node's name, or else its text."""


def rule_of(
    graph: Graph, user: int, position: int, names: Mapping[int, str], written: Sequence[str]
) -> tuple[str, int]:
    """Write an edge's shown rule, with the labels of its operands and ``out``; return its level too."""
    op = BY_NAME[graph.kinds[user]]
    rule = template(op.display_partial(position))
    if not rule.inputs:
        return constant_rule_text(rule)
    operands = graph.operands[user]
    nodes = (operands[position],) if op.variadic else operands
    slots = zip((*op.names, "out"), (*nodes, user), strict=True)
    known = [(name, node) for name, node in slots if name in rule.inputs]
    values = {name: operand_label(graph, node, names, written) for name, node in known}
    if len(rule) == 1:
        return rule_text(rule, values)
    numbers = {
        name: value
        for name, node in known
        if isinstance(value := graph.payloads[node], float) and node not in names
    }
    return rule_text(rule, values, numbers)


constant_rule_text = cache(partial(rule_text, values={}))
"""Writes a rule that is the same everywhere; returns its level too."""


# Where shapes are known.


def pass_texts(run: NamedGraph, user: int) -> dict[int, str]:
    """Write each edge's local derivative, by operand, such as ``diag(1 - out^2)`` or ``· @ W.T``."""
    written = contribution_texts(run, user, partial(label_in_product, run), PASSED)
    return {position: texts.local or texts.passed for position, texts in written.items()}


def label_in_product(run: NamedGraph, node: int) -> str:
    """Return a node's label in a product; a broadcast takes its operand's."""
    return run.label(run.graph.operands[node][0] if node in run.graph.implicit else node)


class EdgeTexts(NamedTuple):
    """The texts of an edge.

    ``passed``  its contribution in matrix form: ``Y.grad @ W.T``
    ``shapes``  the same with the shapes of the last operation's operands: ``(4, 3) @ (3, 2)``
    ``local``   the diagonal local derivative of an elementwise edge, ``diag(1 - out^2)``, else nothing
    """

    passed: str
    shapes: str
    local: str


def contribution_texts(
    run: NamedGraph, user: int, called: Callable[[int], str], grad: str, limit: int = LIMIT
) -> dict[int, EdgeTexts]:
    """Write the texts of a node's edges, by operand; its grad is written ``grad``."""
    from exprgrad.derive.sweeps.gradient import edge_program

    flags = run.varying if run.adjoints is None else run.adjoints.active
    active = {operand for operand in run.graph.operands[user] if flags[operand]}
    program = edge_program(run.graph, user, active, run.varying, shown)
    (graph, outputs), positions, is_local = program
    texts = text_prefixes(graph, {}, edge_labels(run, graph, called, grad), limit)
    found = {}
    for at, (position, local) in enumerate(zip(positions, is_local, strict=True)):
        passed, slope = outputs[2 * at], texts[outputs[2 * at + 1]]
        diagonal = f"diag({slope})" if run.graph.shape(user) else slope
        found[position] = EdgeTexts(
            cut_text(texts[passed], limit),
            by_shapes(graph, passed),
            cut_text(diagonal, limit) if local else "",
        )
    return found


def edge_labels(
    run: NamedGraph, graph: Graph, called: Callable[[int], str], grad: str
) -> dict[int, tuple[str, int]]:
    """Return the text and level of each node in the program of a node's edges.

    An operand that is ``K.T``, transposed, is ``K``.
    """
    from exprgrad.derive.sweeps.gradient import GRAD

    whose = {node: int(name) for name, node in graph.inputs.items() if name != GRAD}
    found = {node: label_of_node(run, own, called) for node, own in whose.items()}
    if GRAD in graph.inputs:
        found[graph.inputs[GRAD]] = grad, ATOM
    for node, kind in enumerate(graph.kinds):
        if node in graph.implicit and graph.operands[node][0] in found:
            found[node] = found[graph.operands[node][0]]
        elif kind == "transpose" and graph.operands[node][0] in whose:
            own = whose[graph.operands[node][0]]
            twice = (run.graph.kinds[own], run.graph.payloads[own]) == (kind, (None,))
            if twice and called(own) == run.texts[own] and own not in run.names:
                found[node] = label_of_node(run, run.graph.operands[own][0], called)
    return found


def label_of_node(run: NamedGraph, node: int, called: Callable[[int], str]) -> tuple[str, int]:
    """Return a node's label and its level."""
    label = called(node)
    own = run.graph.operands[node][0] if node in run.graph.implicit else node
    is_bare = label != run.texts[own]
    return label, ATOM if is_bare else operand_level(run.graph, own, run.names)


def label_in_parentheses(run: NamedGraph, node: int, called: Callable[[int], str]) -> str:
    """Return a node's label, in parentheses if it is more than a name."""
    label, level = label_of_node(run, node, called)
    return label if level == ATOM else f"({label})"


def by_shapes(graph: Graph, node: int) -> str:
    """Write an operation with shapes in place of its operands."""
    if not graph.operands[node]:
        return str(graph.shape(node))
    operands = [graph.operands[o][0] if o in graph.implicit else o for o in graph.operands[node]]
    called = [
        (
            leaf_text(graph, o)
            if graph.kinds[o] == CONST and not graph.shape(o)
            else str(graph.shape(o)),
            ATOM,
        )
        for o in operands
    ]
    return operation_text(graph.kinds[node], called, settings=graph.payloads[node], spaced=True)
