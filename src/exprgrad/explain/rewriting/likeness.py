"""Which parts of a graph are the same formula: written twice, or spelled in another way.

Every node gets a key, equal for equal formulas: sums and products whatever the order of their
operands, a difference as the sum with a negative, ``x*x`` as ``x^2``.  A key is a sign and a number, so
that the keys of x and -x differ in the sign alone.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import cached_property

from exprgrad.graph.graph import CONST, INPUT, Graph

__all__ = ["MOST", "SUMS", "Key", "Keys", "Reading", "Terms"]

Key = tuple[int, int]
"""A sign, 1 or -1, and the number of a formula without its sign."""

Terms = tuple[tuple[int, int], ...]
"""A sum: signs and nodes.  Most have one term, and stand for that node."""

SUMS = ("add", "sub", "neg")
MOST = 64
"""The most terms that a sum is taken apart into."""


class Keys:
    """The numbers that were given to formulas so far."""

    def __init__(self) -> None:
        self.known: dict[tuple[object, ...], int] = {}

    def of(self, *what: object) -> int:
        """The number of one thing: always the same."""
        return self.known.setdefault(what, len(self.known))

    def leaf(self, kind: str, payload: object) -> Key:
        """The key of an input or a constant."""
        return 1, self.of(kind, repr(payload))

    def operation(self, kind: str, operands: Sequence[Key]) -> Key:
        """The key of an operation on operands with these keys."""
        if kind == "neg":
            ((sign, number),) = operands
            return -sign, number
        if kind in SUMS:
            (sign, first), (other, second) = operands
            return self.total([(sign, first), (-other if kind == "sub" else other, second)])
        if kind in ("mul", "div"):
            (sign, first), (other, second) = operands
            pair = (first, second) if kind == "div" else (min(first, second), max(first, second))
            return sign * other, self.of(kind, *pair)
        if kind == "pow" and operands[1] == self.leaf(CONST, 2.0):
            return 1, self.of("mul", operands[0][1], operands[0][1])
        return 1, self.of(kind, *operands)

    def total(self, terms: Sequence[Key]) -> Key:
        """The key of a sum; the term with the least number decides about the sign."""
        if len(terms) == 1:
            return terms[0]
        ordered = sorted(terms, key=lambda term: (term[1], -term[0]))
        sign = ordered[0][0]
        return sign, self.of("add", *[(sign * own, number) for own, number in ordered])


class Reading:
    """A graph, and what its formulas are alike in; ``names`` are the nodes that have names."""

    def __init__(self, graph: Graph, names: Collection[int]) -> None:
        self.graph = graph
        self.names = names
        self.keys = Keys()
        self.known: dict[int, tuple[Terms, tuple[int, ...]]] = {}

    @cached_property
    def by_node(self) -> list[Key]:
        """Every node's key."""
        graph, keys = self.graph, self.keys
        found: list[Key] = []
        for kind, operands, payload in zip(
            graph.kinds, graph.operands, graph.payloads, strict=True
        ):
            if kind in (INPUT, CONST):
                found.append(keys.leaf(kind, payload))
            else:
                found.append(keys.operation(kind, [found[operand] for operand in operands]))
        return found

    def terms(self, node: int) -> tuple[Terms, tuple[int, ...]]:
        """The terms of the sum that a node is, and the nodes that make it one.

        A named operand is a term, not taken apart; nor is a sum of too many terms.
        """
        if node not in self.known:
            self.known[node] = self.taken_apart(node)
        return self.known[node]

    def taken_apart(self, node: int) -> tuple[Terms, tuple[int, ...]]:
        """The same, worked out."""
        kinds, operands = self.graph.kinds, self.graph.operands
        found: list[tuple[int, int]] = []
        inside: list[int] = []
        todo = [(1, node)]
        while todo:
            sign, at = todo.pop()
            kind = kinds[at]
            if kind not in SUMS or (at != node and at in self.names):
                found.append((sign, at))
            else:
                inside.append(at)
                last = -sign if kind != "add" else sign
                todo.append((last, operands[at][-1]))
                if kind != "neg":
                    todo.append((sign, operands[at][0]))
            if len(found) + len(todo) > MOST:
                return ((1, node),), ()
        return tuple(found), tuple(inside)

    def spread(self, terms: Terms) -> tuple[Terms, tuple[int, ...]]:
        """A sum's terms, those that are sums themselves taken apart."""
        found: list[tuple[int, int]] = []
        inside: list[int] = []
        for sign, node in terms:
            inner, nodes = self.terms(node)
            found += [(sign * own, term) for own, term in inner]
            inside += nodes
        return tuple(found), tuple(inside)

    def key(self, terms: Terms) -> Key:
        """The key of a sum."""
        mine = [(sign, *self.by_node[node]) for sign, node in self.spread(terms)[0]]
        return self.keys.total([(sign * own, number) for sign, own, number in mine])
