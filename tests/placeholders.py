"""Formulas with derivatives and roots inside, built by hand as the language builds them."""

from __future__ import annotations

from exprgrad.api import Expression
from exprgrad.derive.placeholders import resolve_placeholders
from exprgrad.graph.graph import CONST, INPUT, Graph, Payload

__all__ = ["Hand", "kepler"]


class Hand:
    """A graph under construction; a number among operands is a constant."""

    def __init__(self) -> None:
        self.graph = Graph()

    def input(self, name: str) -> int:
        """An input."""
        if name not in self.graph.inputs:
            self.graph.inputs[name] = self.graph.append(INPUT, (), name, (0, 1))
        return self.graph.inputs[name]

    def inputs(self, names: str) -> list[int]:
        """Some inputs."""
        return [self.input(name) for name in names.split()]

    def apply(self, kind: str, *operands: int | float, payload: Payload = None) -> int:
        """An operation."""
        nodes = tuple([self.number(x) if isinstance(x, float) else x for x in operands])
        return self.graph.append(kind, nodes, payload, (0, 1), ((0, 1),) * len(nodes))

    def number(self, value: float) -> int:
        """A constant."""
        return self.graph.append(CONST, (), value, (0, 1))

    def d(self, body: int, variable: int, order: int = 1) -> int:
        """A derivative."""
        return self.apply("derivative", body, variable, payload=(order,))

    def unknown(self, name: str) -> int:
        """The unknown of a root."""
        return self.graph.append("unknown", (), name, (0, 1))

    def root(self, body: int, unknown: int, *ends: int | float) -> int:
        """A root."""
        return self.apply("root", body, unknown, *ends)

    def resolved(self, output: int) -> Graph:
        """The graph, its placeholders replaced."""
        self.graph.output = output
        return resolve_placeholders(self.graph, "?")

    def expression(self, output: int) -> Expression:
        """The formula."""
        return Expression("?", self.resolved(output))


def kepler() -> Expression:
    """``root(E - e*sin(E) - M, E, M)``."""
    hand = Hand()
    mean, e, anomaly = hand.input("M"), hand.input("e"), hand.unknown("E")
    left = hand.apply("sub", anomaly, hand.apply("mul", e, hand.apply("sin", anomaly)))
    return hand.expression(hand.root(hand.apply("sub", left, mean), anomaly, mean))
