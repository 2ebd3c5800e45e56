"""Sweeps over arrays: the derived graph evaluated, and each node's edges and kinks looked at one by one.

The reverse sweep is the derived graph with an adjoint for every node, evaluated forward.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property, partial
from typing import Any, NamedTuple, cast

import numpy as np

from exprgrad.derive.rules import slots, template
from exprgrad.derive.sweeps import gradient as derive
from exprgrad.derive.sweeps.gradient import GRAD, edge_program
from exprgrad.graph.graph import Graph, Program, Settings, Shape, dependencies, dependents
from exprgrad.graph.op import Special
from exprgrad.graph.ops import BY_NAME, Op
from exprgrad.graph.tensors import STRUCTURAL
from exprgrad.run.arrays import arrays
from exprgrad.run.arrays.arrays import Array
from exprgrad.run.numbers.kink_screen import Suspects, suspects
from exprgrad.run.numbers.sweeps import sides

__all__ = [
    "Adjoints",
    "Sweep",
    "answers",
    "forward",
    "held",
    "play",
    "record",
    "sides_of",
    "symmetric",
]


class Sweep(NamedTuple):
    """Everything about a reverse sweep that does not depend on the numbers.

    ``program``   finds every node's data, then some nodes' adjoints, then conditions
    ``reached``   whose adjoints those are
    ``conditional``  the nodes whose adjoints arrive under those conditions
    ``active``    by node: whether it depends on a differentiated input
    ``suspects``  the nodes that may meet a kink or a jump, if any
    """

    program: Program
    reached: list[int]
    conditional: list[int]
    active: Sequence[int]
    suspects: Suspects | None


def forward(graph: Graph, inputs: Mapping[str, Any]) -> list[Any]:
    """Every node's data; a number is a float."""
    return [arrays.plain(value) for value in arrays.forward(graph, inputs)]


def record(graph: Graph, wrt: Sequence[str]) -> Sweep:
    """The program of a reverse sweep: it does not depend on the numbers."""
    active = dependents(graph, [graph.inputs[name] for name in wrt])
    used = dependencies(graph, graph.output)
    nodes = [n for n, operands in enumerate(graph.operands) if operands and used[n] and active[n]]
    return Sweep(*derive.adjoints(graph, wrt), active, suspects(graph, nodes, active))


class Adjoints:
    """What a reverse sweep over tensors found: see ``run.evaluation.Run``.

    ``masks`` are not 0 where a gradient reached a node that a branch not taken may have kept it from.
    """

    beside: tuple[str, ...] = ("jacobian",)

    def __init__(
        self,
        graph: Graph,
        sweep: Sweep,
        values: list[Any],
        grads: list[Any],
        masks: Mapping[int, Any],
    ) -> None:
        self.graph = graph
        self.suspects: Suspects | None = sweep.suspects
        self.active: Sequence[int] = sweep.active
        self.values = values
        self.grads = grads
        self.masks = masks

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
        if self.suspects is None:
            return {}
        nodes = self.suspects.candidates(self.values, are_equal)
        found = {node: specials(self.suspects, node, self.values) for node in nodes}
        return {node: listed for node, listed in found.items() if listed}

    def zero(self, node: int) -> Any:
        """The grad of a node that no gradient reached."""
        return arrays.plain(arrays.zeros(self.graph.shape(node)))

    def ends(self, user: int, operand: int) -> tuple[Shape, Shape]:
        """The shapes of an edge's ends, which its whole local derivative would have had."""
        return self.graph.shape(user), self.graph.shape(operand)

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
    found = arrays.apart(arrays.answers(program, inputs), inputs.values())
    return [arrays.plain(value) for value in found]


def play(
    graph: Graph, inputs: Mapping[str, Any], wrt: Sequence[str], sweep: Sweep
) -> tuple[list[Any], Adjoints]:
    """Every node's data and grad."""
    program, reached, conditional, *_ = sweep
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
    return values, Adjoints(graph, sweep, values, grads, masks)


def symmetric(block: Array) -> Array:
    """The symmetric matrix with the upper triangle of another."""
    upper = np.triu(block)
    return upper + np.triu(block, 1).T


# Kinks and jumps: ``kink_screen.py`` has them over numbers.


def are_equal(one: Array, other: Array) -> bool:
    """Whether some number equals another in its place."""
    return bool(np.any(one == other))


def specials(suspects: Suspects, node: int, values: Sequence[Array]) -> list[tuple[Special, Array]]:
    """The kinks and jumps that one node meets, each with flags that say where."""
    graph, operands = suspects.graph, suspects.graph.operands[node]
    given, out = [values[operand] for operand in operands], values[node]
    tests: list[tuple[Special, Array]] = []
    if graph.kinds[node] in BY_NAME:
        op = BY_NAME[graph.kinds[node]]
        views = sides_of(op, [*given, out], [float(suspects.moving[o]) for o in operands])
        mine = [v for v, operand in zip(views, operands, strict=True) if suspects.active[operand]]
        for special in op.special:
            held_by = [held(special.where, slots(op), view) for view in mine]
            tests.append((special, np.any(np.broadcast_arrays(*held_by), axis=0)))
    else:
        row = STRUCTURAL[graph.kinds[node]]
        assert row.kink is not None
        with np.errstate(all="ignore"):
            flags = row.kink(np, given, out, cast(Settings, graph.payloads[node]))
        tests.append((Special("", "kink", row.kink_words), flags))
    return [(special, flags) for special, flags in tests if np.any(flags)]


def sides_of(op: Op, arguments: Sequence[Array], varies: Sequence[float]) -> list[list[Any]]:
    """For each operand, the values that a rule with companions sees."""
    return sides(op, arguments, varies, partial(held, op.ties, slots(op)))


def held(text: str, names: Sequence[str], arguments: Sequence[Array]) -> Array:
    """A condition of a row, evaluated at every number of its arguments."""
    graph = template(text)
    return arrays.forward(graph, dict(zip(names, arguments, strict=True)))[graph.output]
