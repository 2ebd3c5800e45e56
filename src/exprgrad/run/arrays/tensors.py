"""Runs over tensors: the derived graph evaluated, and a node's edges looked at one by one.

The reverse sweep is the derived graph with an adjoint for every node, evaluated forward.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from exprgrad.derive.rules import Rule, computed, shown
from exprgrad.derive.sweeps import gradient as derive
from exprgrad.derive.sweeps.edges import GRAD, EdgeProgram, edge_program
from exprgrad.graph.graph import CONST, Graph, Program, dependencies, dependents
from exprgrad.language.write.infix import ATOM, LIMIT, leaf, operand_level, operation_text, prefixes
from exprgrad.run.arrays import arrays
from exprgrad.run.result import Edge, Run
from exprgrad.source import cut

__all__ = [
    "PASSED",
    "Adjoints",
    "EdgeTexts",
    "Sweep",
    "contribution_texts",
    "edges_of",
    "forward",
    "grouped",
    "pass_texts",
    "passed_by",
    "play",
    "record",
]

Sweep = tuple[Program, list[int], list[int]]
"""The program of a reverse sweep, and whose its outputs are: after every node's data come some
nodes' adjoints, and the conditions under which some of those arrive."""

PASSED = "·"
"""What stands for the cotangent in the name of a Jacobian: ``· @ W.T``."""


def forward(graph: Graph, inputs: Mapping[str, Any]) -> list[Any]:
    """Every node's data; a number is a float."""
    return [arrays.plain(value) for value in arrays.forward(graph, inputs)]


def record(graph: Graph, wrt: Sequence[str]) -> Sweep:
    """The program of a reverse sweep: it does not depend on the numbers."""
    return derive.adjoints(graph, wrt)


class Adjoints:
    """What a reverse sweep over tensors found: see ``run.result.Swept``.

    ``masks`` are not 0 where a gradient reached a node that a branch not taken may have kept it from.
    """

    def __init__(
        self,
        graph: Graph,
        wrt: Sequence[str],
        grads: list[Any],
        masks: Mapping[int, Any] | None = None,
    ) -> None:
        self.graph = graph
        self.masks = masks or {}
        self.grads = grads
        self.active = dependents(graph, [graph.inputs[name] for name in wrt])

    @cached_property
    def varying(self) -> Sequence[int]:
        """By node: whether it depends on an input."""
        return dependents(self.graph, self.graph.inputs.values())

    def reached(self, node: int) -> bool:
        """Whether a gradient reached some number of a node."""
        if self.grads[node] is None:
            return False
        return bool(np.any(self.masks[node])) if node in self.masks else True

    @cached_property
    def order(self) -> list[int]:
        """The nodes that the output depends on, in the order of the visits."""
        needed = dependencies(self.graph, self.graph.output)
        return [node for node in range(self.graph.output, -1, -1) if needed[node]]

    @cached_property
    def locals(self) -> list[tuple[bool | None, ...] | None]:
        """By node: for each operand whether it is active, else None; None if it passed nothing."""
        found: list[tuple[bool | None, ...] | None] = []
        for node, operands in enumerate(self.graph.operands):
            reached = operands and self.active[node] and self.reached(node)
            flags = tuple([True if self.active[operand] else None for operand in operands])
            found.append(flags if reached else None)
        return found


def play(
    graph: Graph, inputs: Mapping[str, Any], wrt: Sequence[str], sweep: Sweep
) -> tuple[list[Any], Adjoints]:
    """Every node's data and grad."""
    program, reached, conditional = sweep
    found = arrays.forward(program.graph, inputs, program.outputs)
    answers = [arrays.plain(found[output]) for output in program.outputs]
    values, adjoints = answers[: len(graph)], answers[len(graph) :]
    grads: list[Any] = [None] * len(graph)
    for node, adjoint in zip(reached, adjoints[: len(reached)], strict=True):
        grads[node] = adjoint
    asked = dict.fromkeys(graph.inputs[name] for name in wrt)
    others = [grads[node] for node in reached if node not in asked]
    mine = arrays.apart([grads[node] for node in asked], [*values, *others])
    for node, grad in zip(asked, mine, strict=True):
        grads[node] = grad
    masks = dict(zip(conditional, adjoints[len(reached) :], strict=True))
    return values, Adjoints(graph, wrt, grads, masks)


# Edges.


def program_of(run: Run, user: int, rule: Rule) -> EdgeProgram:
    """The program of a node's active edges."""
    graph, found = run.graph, run.adjoints
    assert isinstance(found, Adjoints)
    active = {operand for operand in graph.operands[user] if found.active[operand]}
    return edge_program(graph, user, active, found.varying, rule)


def passed_by(run: Run, user: int) -> Iterator[tuple[int, Any, Any]]:
    """A node's active edges: position, local derivative if that is diagonal, and contribution."""
    graph, shapes = run.graph, run.graph.shapes
    assert isinstance(run.adjoints, Adjoints) and shapes is not None
    grad = run.grad(user)
    if run.adjoints.locals[user] is None or grad is None:
        return
    (program, outputs), positions, is_local = program_of(run, user, computed)
    given = {str(node): run.values[node] for node in (*graph.operands[user], user)}
    found = arrays.forward(program, {**given, GRAD: grad}, outputs)
    for at, (position, local) in enumerate(zip(positions, is_local, strict=True)):
        passed, slope = (found[outputs[2 * at + step]] for step in (0, 1))
        if local and user in run.adjoints.masks:
            passed = np.where(run.adjoints.masks[user], passed, 0.0)[()]
        diagonal = arrays.stretched(slope, shapes[user]) if local else None
        yield position, diagonal, arrays.plain(passed)


def edges_of(run: Run, user: int) -> Iterator[Edge]:
    """The active edges from a node to its operands, with what they passed on."""
    graph, shapes = run.graph, run.graph.shapes
    assert shapes is not None
    if not run.passed(user):
        return
    rules = pass_texts(run, user)
    for position, local, passed in passed_by(run, user):
        operand = graph.operands[user][position]
        span = graph.occurrence(user, position)
        ends = shapes[user], shapes[operand]
        yield Edge(user, position, operand, rules[position], local, passed, span, ends)


def pass_texts(run: Run, user: int) -> dict[int, str]:
    """By operand: what an edge's local derivative is called, such as ``diag(1 - out^2)`` or ``· @ W.T``."""

    def called(node: int) -> str:
        """What a node is called; broadcasting leaves no trace."""
        return run.label(run.graph.operands[node][0] if node in run.graph.implicit else node)

    written = contribution_texts(run, user, called, PASSED)
    return {position: texts.local or texts.passed for position, texts in written.items()}


class EdgeTexts(NamedTuple):
    """What people read of an edge.

    ``passed``  its contribution in matrix form: ``Y.grad @ W.T``
    ``shapes``  the same with the shapes of what the last operation takes: ``(4, 3) @ (3, 2)``
    ``local``   the diagonal local derivative of an elementwise edge, ``diag(1 - out^2)``, else nothing
    """

    passed: str
    shapes: str
    local: str


def contribution_texts(
    run: Run, user: int, called: Callable[[int], str], grad: str, limit: int = LIMIT
) -> dict[int, EdgeTexts]:
    """By operand: what people read of its edge, the node's grad being called ``grad``."""
    (graph, outputs), positions, is_local = program_of(run, user, shown)
    texts = prefixes(graph, {}, labels(run, graph, called, grad), limit)
    found = {}
    for at, (position, local) in enumerate(zip(positions, is_local, strict=True)):
        passed, slope = outputs[2 * at], outputs[2 * at + 1]
        found[position] = EdgeTexts(
            cut(texts[passed], limit),
            by_shapes(graph, passed),
            diagonal(run, user, texts[slope], limit) if local else "",
        )
    return found


def labels(
    run: Run, graph: Graph, called: Callable[[int], str], grad: str
) -> dict[int, tuple[str, int]]:
    """By node of the program of a node's edges: the text that stands for it, and its level.

    An operand that is ``K.T``, transposed, is ``K``.
    """
    whose = {node: int(name) for name, node in graph.inputs.items() if name != GRAD}
    found = {node: labelled(run, own, called) for node, own in whose.items()}
    if GRAD in graph.inputs:
        found[graph.inputs[GRAD]] = grad, ATOM
    for node, kind in enumerate(graph.kinds):
        if node in graph.implicit and graph.operands[node][0] in found:
            found[node] = found[graph.operands[node][0]]
        elif kind == "transpose" and graph.operands[node][0] in whose:
            own = whose[graph.operands[node][0]]
            twice = (run.graph.kinds[own], run.graph.payloads[own]) == (kind, (None,))
            if twice and called(own) == run.texts[own] and own not in run.names:
                found[node] = labelled(run, run.graph.operands[own][0], called)
    return found


def labelled(run: Run, node: int, called: Callable[[int], str]) -> tuple[str, int]:
    """What a node is called, and its level."""
    label = called(node)
    own = run.graph.operands[node][0] if node in run.graph.implicit else node
    is_bare = label != run.texts[own]
    return label, ATOM if is_bare else operand_level(run.graph, own, run.names)


def grouped(run: Run, node: int, called: Callable[[int], str]) -> str:
    """What a node is called, in parentheses if that is more than a name."""
    label, level = labelled(run, node, called)
    return label if level == ATOM else f"({label})"


def by_shapes(graph: Graph, node: int) -> str:
    """An operation with the shapes of its operands in their places."""
    shapes, kind = graph.shapes, graph.kinds[node]
    assert shapes is not None
    if not graph.operands[node]:
        return str(shapes[node])
    operands = [graph.operands[o][0] if o in graph.implicit else o for o in graph.operands[node]]
    called = [
        (leaf(graph, o) if graph.kinds[o] == CONST and not shapes[o] else str(shapes[o]), ATOM)
        for o in operands
    ]
    return operation_text(kind, called, settings=graph.payloads[node], spaced=True)


def diagonal(run: Run, user: int, slope: str, limit: int) -> str:
    """A local derivative, number by number: a diagonal matrix, or a number."""
    assert run.shapes is not None
    return cut(f"diag({slope})" if run.shapes[user] else slope, limit)
