"""Sweeps over arrays: the derived graph evaluated, and a node's edges looked at one by one.

The reverse sweep is the derived graph with an adjoint for every node, evaluated forward.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from exprgrad.derive.sweeps import gradient as derive
from exprgrad.derive.sweeps.edges import GRAD, edge_program
from exprgrad.graph.graph import Graph, Program, dependencies, dependents
from exprgrad.graph.op import Special
from exprgrad.run.arrays import arrays
from exprgrad.run.arrays.kinks import specials
from exprgrad.run.numbers.kink_screen import movable

__all__ = ["Adjoints", "Sweep", "answers", "forward", "play", "record"]

Sweep = tuple[Program, list[int], list[int]]
"""The program of a reverse sweep, and whose its outputs are: after every node's data come some
nodes' adjoints, and the conditions under which some of those arrive."""


def forward(graph: Graph, inputs: Mapping[str, Any]) -> list[Any]:
    """Every node's data; a number is a float."""
    return [arrays.plain(value) for value in arrays.forward(graph, inputs)]


def record(graph: Graph, wrt: Sequence[str]) -> Sweep:
    """The program of a reverse sweep: it does not depend on the numbers."""
    return derive.adjoints(graph, wrt)


class Adjoints:
    """What a reverse sweep over tensors found: see ``run.result.Run``.

    ``masks`` are not 0 where a gradient reached a node that a branch not taken may have kept it from.
    """

    def __init__(
        self,
        graph: Graph,
        wrt: Sequence[str],
        values: list[Any],
        grads: list[Any],
        masks: Mapping[int, Any],
    ) -> None:
        self.graph = graph
        self.values = values
        self.grads = grads
        self.masks = masks
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
    def locals(self) -> list[Any]:
        """By node: for each operand whether it is active, else None; None if it passed nothing."""
        found: list[Any] = []
        for node, operands in enumerate(self.graph.operands):
            reached = operands and self.active[node] and self.reached(node)
            flags = tuple([True if self.active[operand] else None for operand in operands])
            found.append(flags if reached else None)
        return found

    @property
    def quiet(self) -> bool:
        """Whether no node meets a kink or a jump."""
        return not self.met

    @cached_property
    def met(self) -> dict[int, list[tuple[Special, Any]]]:
        """By node, in the order of the visits: the kinks and jumps that it meets, and where."""
        moving = movable(self.graph)
        found = {
            node: specials(self.graph, node, self.values, self.active, moving)
            for node in self.order
            if self.active[node]
        }
        return {node: listed for node, listed in found.items() if listed}

    def zero(self, node: int) -> Any:
        """The grad of a node that no gradient reached."""
        shape = self.graph.shape(node)
        return arrays.zeros(shape) if shape else 0.0

    def passed(self, user: int) -> Iterator[tuple[int, Any, Any]]:
        """A node's active edges: position, local derivative if that is diagonal, and contribution."""
        graph, operands = self.graph, self.graph.operands[user]
        if self.locals[user] is None:
            return
        active = {operand for operand in operands if self.active[operand]}
        edges = edge_program(graph, user, active, self.varying)
        given = {str(node): self.values[node] for node in (*operands, user)}
        program, outputs = edges.program
        numbers = arrays.forward(program, {**given, GRAD: self.grads[user]}, outputs)
        for at, (position, local) in enumerate(zip(edges.positions, edges.locals, strict=True)):
            passed, slope = (numbers[outputs[2 * at + step]] for step in (0, 1))
            if local and user in self.masks:
                passed = np.where(self.masks[user], passed, 0.0)[()]
            diagonal = arrays.stretched(slope, graph.shape(user)) if local else None
            yield position, diagonal, arrays.plain(passed)


def answers(program: Program, inputs: Mapping[str, Any]) -> list[Any]:
    """A program's outputs, none of which shares memory with an input."""
    values = arrays.forward(program.graph, inputs, program.outputs)
    found = arrays.apart([values[output] for output in program.outputs], inputs.values())
    return [arrays.plain(value) for value in found]


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
    return values, Adjoints(graph, wrt, values, grads, masks)
