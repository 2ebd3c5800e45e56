"""Which parts of a graph are the same formula: written twice, or spelled in another way.

Every node gets a key, equal for equal formulas: sums and products whatever the order of their
operands, a difference as the sum with a negative, ``x*x`` as ``x^2``.  A key is a sign and a number, so
that the keys of x and -x differ in the sign alone.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from math import prod

from exprgrad.graph.graph import CONST, INPUT, Graph, Payload
from exprgrad.graph.ops import BY_NAME
from exprgrad.graph.transform import transform

__all__ = ["Reading", "Terms", "is_product", "is_sum"]

Key = tuple[int, int]
"""A sign, 1 or -1, and the number of a formula without its sign."""

Terms = tuple[tuple[int, int], ...]
"""A sum: signs and nodes; the number 0 if there are none.  Most have one term, and stand for that node."""

MOST_TERMS = 64
"""The most terms that a sum is taken apart into."""
NOWHERE = (0, 0)


def is_sum(kind: str) -> bool:
    """Whether an operation adds, subtracts or negates."""
    return kind in BY_NAME and bool(BY_NAME[kind].signs)


def is_product(kind: str) -> bool:
    """Whether an operation multiplies or divides."""
    return kind in BY_NAME and bool(BY_NAME[kind].powers)


class Reading:
    """A graph, and what its formulas are alike in; more nodes can be built behind its own.

    ``names``  the nodes that have names
    ``keys``   by node: its key
    """

    def __init__(self, graph: Graph, names: Collection[int]) -> None:
        self.graph = transform(graph)[0]
        self.names = names
        self.numbers: dict[tuple[object, ...], int] = {}
        self.known: dict[int, tuple[Terms, tuple[int, ...]]] = {}
        self.keys: list[Key] = []
        for node in range(len(graph)):
            self.keys.append(self.key_of(node))

    # Keys.

    def number(self, *what: object) -> int:
        """The number of one thing: always the same."""
        return self.numbers.setdefault(what, len(self.numbers))

    def key_of(self, node: int) -> Key:
        """A node's key, from those of its operands."""
        kind, payload = self.graph.kinds[node], self.graph.payloads[node]
        if kind in (INPUT, CONST):
            return 1, self.number(kind, repr(payload))
        operands = [self.keys[operand] for operand in self.graph.operands[node]]
        if is_sum(kind):
            signs = zip(BY_NAME[kind].signs, operands, strict=True)
            return self.total([(own * sign, number) for own, (sign, number) in signs])
        if is_product(kind):
            factors = [number for _, number in operands]
            ordered = sorted(factors) if BY_NAME[kind].commutes else factors
            return prod(sign for sign, _ in operands), self.number(kind, *ordered)
        if kind == "pow" and self.value(self.graph.operands[node][1]) == 2:
            return 1, self.number("mul", operands[0][1], operands[0][1])
        return 1, self.number(kind, *operands)

    def total(self, terms: Sequence[Key]) -> Key:
        """The key of a sum; the term with the least number decides about the sign."""
        if len(terms) == 1:
            return terms[0]
        ordered = sorted(terms, key=lambda term: (term[1], -term[0]))
        sign = ordered[0][0]
        return sign, self.number("sum", *[(sign * own, number) for own, number in ordered])

    def key(self, terms: Terms) -> Key:
        """The key of a sum."""
        return self.total([self.term_key(term) for term in self.spread(terms)[0]])

    def term_key(self, term: tuple[int, int]) -> Key:
        """The key of one term."""
        sign, number = self.keys[term[1]]
        return term[0] * sign, number

    def value(self, node: int) -> float | None:
        """The number that a node is."""
        payload = self.graph.payloads[node]
        return payload if isinstance(payload, float) else None

    # Sums.

    def terms(self, node: int) -> tuple[Terms, tuple[int, ...]]:
        """The terms of the sum that a node is, and the nodes that make it one.

        A named operand is a term, not taken apart; nor is a sum of too many terms.
        """
        if node not in self.known:
            self.known[node] = self.taken_apart(node)
        return self.known[node]

    def taken_apart(self, node: int) -> tuple[Terms, tuple[int, ...]]:
        """The same, worked out."""
        found: list[tuple[int, int]] = []
        inside: list[int] = []
        todo = [(1, node)]
        while todo:
            sign, at = todo.pop()
            kind = self.graph.kinds[at]
            if not is_sum(kind) or (at != node and at in self.names):
                found.append((sign, at))
            else:
                inside.append(at)
                signed = zip(BY_NAME[kind].signs, self.graph.operands[at], strict=True)
                todo += [(sign * own, operand) for own, operand in signed][::-1]
            if len(found) + len(todo) > MOST_TERMS:
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

    # Building.

    def append(self, kind: str, operands: tuple[int, ...] = (), payload: Payload = None) -> int:
        """A new node."""
        node = self.graph.append(kind, operands, payload, NOWHERE, (NOWHERE,) * len(operands))
        self.keys.append(self.key_of(node))
        return node

    def negated(self, node: int) -> int:
        """The negative of a node, its minus in front: that of ``x*y`` is ``-x*y``."""
        graph = self.graph
        factors: list[tuple[str, int]] = []
        while is_product(graph.kinds[node]) and node not in self.names:
            factors.append((graph.kinds[node], graph.operands[node][1]))
            node = graph.operands[node][0]
        bare = self.is_negative(node)
        found = graph.operands[node][0] if bare else self.append("neg", (node,))
        for kind, factor in reversed(factors):
            found = self.append(kind, (found, factor))
        return found

    def is_negative(self, node: int) -> bool:
        """Whether a node, as it is written, is a product that begins with a minus."""
        while is_product(self.graph.kinds[node]) and node not in self.names:
            node = self.graph.operands[node][0]
        return self.graph.kinds[node] == "neg" and node not in self.names
