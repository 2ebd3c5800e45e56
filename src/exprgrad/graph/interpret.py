"""The one walk forward over a graph: every node's value in some algebra.

Doubles, arrays, balls, parts of formulas: what differs is how a constant is made and an operation applied.
(The sweep over single doubles, which has to be fast, is a loop of its own: ``run/numbers``.)
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, Generic, TypeVar

from exprgrad.graph.graph import CONST, INPUT, Graph, dependencies

__all__ = ["Algebra", "interpret", "worked_out"]

V = TypeVar("V")


class Algebra(Generic[V]):
    """What a graph can be evaluated in.

    ``constant``  a constant's value, of the graph and the node
    ``apply``     an operation's value, of the graph, the node and the operands' values
    """

    __slots__ = ("apply", "constant")

    def __init__(
        self,
        constant: Callable[[Graph, int], V],
        apply: Callable[[Graph, int, Sequence[V]], V],
    ) -> None:
        self.constant = constant
        self.apply = apply


def interpret(
    graph: Graph,
    algebra: Algebra[V],
    inputs: Mapping[str, V],
    keep: Collection[int] | None = None,
) -> list[V]:
    """Every node's value, given every input's; or that of the nodes to ``keep`` alone, the others None.

    What is not kept is let go when its last user has it, so that only what is needed is in memory.
    """
    values: list[Any] = [None] * len(graph)
    needed = None if keep is None else dependencies(graph, *keep)
    spent = {} if needed is None else spent_after(graph, needed, set(keep or ()))
    for node, kind in enumerate(graph.kinds):
        if needed is not None and not needed[node]:
            continue
        if kind == INPUT:
            values[node] = inputs[str(graph.payloads[node])]
        elif kind == CONST:
            values[node] = algebra.constant(graph, node)
        else:
            operands = [values[operand] for operand in graph.operands[node]]
            values[node] = algebra.apply(graph, node, operands)
            del operands
        for operand in spent.get(node, ()):
            values[operand] = None
    return values


def worked_out(graph: Graph, algebra: Algebra[V], values: list[V], nodes: Iterable[int]) -> list[V]:
    """The values with those of some operations, in their order, worked out from the others."""
    for node in nodes:
        operands = [values[operand] for operand in graph.operands[node]]
        values[node] = algebra.apply(graph, node, operands)
    return values


def spent_after(graph: Graph, needed: Sequence[int], kept: Collection[int]) -> dict[int, list[int]]:
    """By node: the operands that no needed node after it uses, those that are kept aside."""
    last = {
        operand: user
        for user, operands in enumerate(graph.operands)
        if needed[user]
        for operand in operands
    }
    spent: dict[int, list[int]] = {}
    for operand, user in last.items():
        if operand not in kept:
            spent.setdefault(user, []).append(operand)
    return spent
