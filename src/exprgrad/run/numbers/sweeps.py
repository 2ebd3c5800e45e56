"""The two sweeps over numbers: forward for every node's data, in reverse for every node's grad.

Both are plain loops: forward over the nodes in index order, which is topological, in reverse over the
edges of a tape, two at a time.  Neither recurses.  Forward over many points they follow a plan.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

from exprgrad.graph.graph import CONST, INPUT, Graph, dependencies
from exprgrad.graph.op import Special
from exprgrad.graph.ops import BY_NAME
from exprgrad.run.numbers.primitives import functions
from exprgrad.run.numbers.tape import Tape, close, gated, record

__all__ = [
    "Adjoints", "Plan", "follow", "forward", "plan", "play", "record", "reverse",
]  # fmt: skip


def forward(graph: Graph, inputs: Mapping[str, float]) -> list[float]:
    """Every node's data, given every input's: for a graph that is evaluated once."""
    table = {kind: functions[kind] for kind in {*graph.kinds} - {INPUT, CONST}}
    values: list[float] = []
    push = values.append
    for kind, operands, payload in zip(graph.kinds, graph.operands, graph.payloads, strict=True):
        if len(operands) == 2:
            first, second = operands
            push(table[kind](values[first], values[second]))
        elif operands:
            push(table[kind](*[values[operand] for operand in operands]))
        elif kind == INPUT:
            push(inputs[payload])  # type: ignore[index]
        else:
            push(payload)  # type: ignore[arg-type]
    return values


ALONE = -1
"""Where a second operand would stand: the function takes one."""
MANY = -2
"""The same: it takes more than two, as the graph has them."""


class Plan(NamedTuple):
    """Everything about a forward sweep that does not depend on the numbers, in flat lists.

    ``operands``  those of the graph
    ``start``   by node: a constant's number; what an operation finds takes its place there
    ``inputs``  node and name of each
    ``nodes``, ``functions``, ``firsts``, ``seconds``  by operation: where the result goes, what finds it,
                and its operands; a negative second one says that there are not two
    """

    operands: list[tuple[int, ...]]
    start: list[Any]
    inputs: list[tuple[int, str]]
    nodes: list[int]
    functions: list[Callable[..., float]]
    firsts: list[int]
    seconds: list[int]


def plan(graph: Graph) -> Plan:
    """The plan of a graph of numbers.

    It takes about as long as two sweeps to make, so it is worth while from the third point on.
    """
    kinds, operands = graph.kinds, graph.operands
    table = {kind: functions[kind] for kind in {*kinds} - {INPUT, CONST}}
    nodes = [node for node, mine in enumerate(operands) if mine]
    inputs = [(node, name) for name, node in graph.inputs.items()]
    counts = (ALONE, MANY)
    seconds = [mine[1] if len(mine) == 2 else counts[len(mine) > 2] for mine in operands if mine]
    return Plan(
        operands,
        graph.payloads.copy(),
        inputs,
        close(nodes),
        [table[kinds[node]] for node in nodes],
        close([mine[0] for mine in operands if mine]),
        close(seconds),
    )


def follow(plan: Plan, inputs: Mapping[str, float]) -> list[float]:
    """Every node's data, given every input's: what ``forward`` finds, in two thirds of the time."""
    values = plan.start.copy()
    for node, name in plan.inputs:
        values[node] = inputs[name]
    operations = zip(plan.nodes, plan.functions, plan.firsts, plan.seconds, strict=True)
    for node, function, first, second in operations:
        if second >= 0:
            values[node] = function(values[first], values[second])
        elif second == ALONE:
            values[node] = function(values[first])
        else:
            values[node] = function(*[values[operand] for operand in plan.operands[node]])
    return values


class Adjoints:
    """What a reverse sweep finds.

    ``active``  by node: whether it depends on a differentiated input
    ``grads``   by node; None for a node that no gradient reached
    """

    def __init__(self, tape: Tape, grads: list[Any], cells: list[float]) -> None:
        self.tape = tape
        self.grads = grads
        self.cells = cells
        self.active = tape.active

    @property
    def quiet(self) -> bool:
        """Whether no node meets a kink or a jump: quicker than to ask which."""
        suspects = self.tape.suspects
        return suspects is None or suspects.quiet(self.cells)

    @cached_property
    def special(self) -> list[int]:
        """The nodes that meet a kink or a jump, in the order of the visits."""
        return [] if self.tape.suspects is None else self.tape.suspects.meets(self.cells)

    @cached_property
    def met(self) -> dict[int, list[tuple[Special, Any]]]:
        """The kinks and jumps of those nodes, in the order of the visits; each with True: it holds."""
        suspects = self.tape.suspects
        if suspects is None:
            return {}
        return {node: suspects.at(node, self.cells) for node in self.special}

    @cached_property
    def order(self) -> list[int]:
        """The nodes that the output depends on, in the order of the visits."""
        graph = self.tape.graph
        needed = dependencies(graph, graph.output)
        return [node for node in range(graph.output, -1, -1) if needed[node]]

    @cached_property
    def locals(self) -> list[Any]:
        """By node: the local derivatives; None for a node that passed nothing on."""
        tape, cells = self.tape, self.cells
        found: list[Any] = [None] * len(tape.graph)
        sources = iter(tape.edges.sources)
        for user in dict.fromkeys(tape.edges.users):
            operands = tape.graph.operands[user]
            local = [cells[next(sources)] if self.active[o] else None for o in operands]
            if self.grads[user] is not None:
                found[user] = tuple(local)
        return found

    def zero(self, node: int) -> float:
        """The grad of a node that no gradient reached."""
        return 0.0

    def passed(self, user: int) -> Iterator[tuple[int, float, float]]:
        """A node's active edges: position, local derivative and contribution."""
        locals_, grad = self.locals[user], self.grads[user]
        if locals_ is None or grad is None:
            return
        op = BY_NAME[self.tape.graph.kinds[user]]
        for position, local in enumerate(locals_):
            if local is not None:
                closed = local == 0 and gated(op, position)
                yield position, local, 0.0 if closed else grad * local


def reverse(graph: Graph, values: Sequence[float], wrt: Iterable[int]) -> Adjoints:
    """Every node's grad, given every node's data; ``wrt`` are the inputs to differentiate."""
    return play(record(graph, wrt), values)


def play(tape: Tape, values: Sequence[float]) -> Adjoints:
    """Pass each node's grad on to its operands, edge by edge in the order of the visits."""
    cells = [*values, *tape.constants]
    for function, pick in tape.steps:
        cells.append(function(pick(cells)))
    grads: list[Any] = tape.start.copy()
    if tape.gated is None:
        for user, first, source, second, second_source in zip(*tape.visits, strict=True):
            grad = grads[user]
            grads[first] += grad * cells[source]
            grads[second] += grad * cells[second_source]
        for node, other in zip(*tape.passed, strict=True):
            grads[node] = grads[other]
    else:
        for user, operand, source, gated in zip(*tape.edges, tape.gated, strict=True):
            grad, local = grads[user], cells[source]
            if grad is not None and not (gated and local == 0):
                before = grads[operand]
                grads[operand] = grad * local if before is None else before + grad * local
    grads.pop()
    return Adjoints(tape, grads, cells)
