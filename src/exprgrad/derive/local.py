"""What both symbolic sweeps need: which nodes are active, and each edge's local derivative as nodes."""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from functools import cache

from exprgrad.derive.build import Builder
from exprgrad.derive.rules import Rule, computed, slots, template
from exprgrad.graph.graph import Graph, dependencies, dependents
from exprgrad.graph.ops import BY_NAME, Op

__all__ = ["Source", "active_from", "passing", "users_of"]


@cache
def passing(kind: str) -> tuple[int, ...]:
    """The positions through which an operation passes a derivative; a variadic row's only one is 0."""
    op = BY_NAME[kind]
    return tuple(i for i in range(len(op.names)) if op.partial(i) != "0")


def varying_operands(graph: Graph, user: int) -> tuple[tuple[int, int], ...]:
    """The edges of a node on which a derivative can pass: (position, operand)."""
    kind, operands = graph.kinds[user], graph.operands[user]
    if not operands:
        return ()
    if BY_NAME[kind].variadic:
        return tuple(enumerate(operands)) if passing(kind) else ()
    return tuple((position, operands[position]) for position in passing(kind))


def users_of(graph: Graph, outputs: Sequence[int]) -> list[list[int]]:
    """By node: the users to which it passes a derivative, of those that the outputs depend on."""
    users: list[list[int]] = [[] for _ in graph.kinds]
    wanted = dependencies(graph, *outputs)
    for user in range(len(graph)):
        if wanted[user]:
            for operand in dict.fromkeys(operand for _, operand in varying_operands(graph, user)):
                users[operand].append(user)
    return users


def active_from(users: Sequence[Sequence[int]], nodes: Iterable[int]) -> list[int]:
    """The nodes that a derivative by one of ``nodes`` reaches, ascending; only they are visited."""
    found = set(nodes)
    todo = list(found)
    while todo:
        fresh = [user for user in users[todo.pop()] if user not in found]
        found.update(fresh)
        todo += fresh
    return sorted(found)


class Source:
    """A graph to differentiate, built into a ``Builder``: ``image`` has the node for each of its nodes.

    ``rule`` chooses an edge's rule: see ``derive.rules``.
    """

    def __init__(self, builder: Builder, graph: Graph, rule: Rule = computed) -> None:
        self.builder = builder
        self.graph = graph
        self.rule = rule
        self.image = builder.include(graph)
        self.varying = dependents(graph, graph.inputs.values())

    def edges(self, user: int, active: Container[int]) -> list[tuple[int, int, bool]]:
        """A node's edges to active operands: (operand, local derivative, whether a branch gates it)."""
        graph, op = self.graph, None
        found = []
        for position, operand in varying_operands(graph, user):
            if operand not in active:
                continue
            if op is None:
                op = BY_NAME[graph.kinds[user]]
                self.builder.span = graph.span(user)
                slots_ = self.slots(op, user)
            given = self.seen_by(op, user, position, slots_) if op.variadic else slots_
            local = self.instantiate(self.rule(op, position), given)
            found.append((operand, local, position in op.branches))
        return found

    def instantiate(self, rule: str, given: dict[str, int]) -> int:
        """A rule of the table on nodes."""
        graph = template(rule)
        return self.builder.include(graph, given)[graph.output]

    def slots(self, op: Op, user: int) -> dict[str, int]:
        """The nodes that a rule's names stand for; for a variadic row, what all operands share."""
        out = self.image[user]
        operands = self.graph.operands[user]
        if not op.variadic:
            varies = [self.flag(operand) for operand in operands]
            nodes = [self.image[operand] for operand in operands]
            return dict(zip(slots(op), [*nodes, out, *varies], strict=True))
        shared = {"out": out}
        ties = [
            self.instantiate(
                op.ties, {**shared, op.names[0]: self.image[o], "varies": self.flag(o)}
            )
            for o in operands
        ]
        total = ties[0]
        for tie in ties[1:]:
            total = self.builder.apply("add", total, tie)
        return {**shared, "ties": total}

    def seen_by(self, op: Op, user: int, position: int, shared: dict[str, int]) -> dict[str, int]:
        """What the rule of a variadic row sees at one operand."""
        operand = self.graph.operands[user][position]
        return {**shared, op.names[0]: self.image[operand], "varies": self.flag(operand)}

    def flag(self, operand: int) -> int:
        """1 where an operand depends on an input, else 0, as a node."""
        return self.builder.constant(float(self.varying[operand]))
