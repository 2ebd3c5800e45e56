"""Matching of patterns in a formula, however the formula is spelled.

A pattern is a small graph.  Its inputs match any part of a formula, the same part at each occurrence.  Its
constants match by value.  Sums and products match in any order, ``x^2`` also matches ``x*x``, ``sqrt(x)``
matches ``x^0.5``, and ``x/2`` matches ``0.5*x``.  An input that is itself a term of a sum takes all terms
that the others leave.  Only patterns are recursed over.

Every node has a key, and equal formulas have equal keys, even if they are spelled differently: the order
of operands does not matter in sums and products, a difference is the sum with a negative, and ``x*x`` is
``x^2``.  A key is a sign and a number: the keys of x and -x differ in the sign alone.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cache, partial
from math import prod
from typing import NamedTuple

from exprgrad.derive.rules import template
from exprgrad.graph.graph import CONST, INPUT, Graph, Payload, transform_graph
from exprgrad.graph.ops import BY_NAME, BY_POWERS, BY_SIGNS, PRODUCTS, SUMS

__all__ = ["Match", "Reading", "Terms", "match_pattern"]

Key = tuple[int, int]
"""A sign, 1 or -1, and the number of a formula without its sign."""

Terms = tuple[tuple[int, int], ...]
"""A sum as signs and nodes; an empty one is 0.  Most have one term: that node itself."""

MOST_TERMS = 64
"""The most terms into which a sum is split."""
NO_SPAN = (0, 0)


class Reading:
    """A copy of a graph, its nodes' keys, and room for new nodes.

    ``names``  the nodes that have names
    ``keys``   the key of each node
    """

    def __init__(self, graph: Graph, names: Collection[int]) -> None:
        self.graph = transform_graph(graph)[0]
        self.names = names
        self.numbers: dict[tuple[object, ...], int] = {}
        self.terms = cache(self.split_sum)
        self.keys: list[Key] = []
        for node in range(len(graph)):
            self.keys.append(self.key_of(node))

    # Keys.

    def number(self, *what: object) -> int:
        """Return the number of a formula, the same each time."""
        return self.numbers.setdefault(what, len(self.numbers))

    def key_of(self, node: int) -> Key:
        """Make a node's key from the keys of its operands."""
        kind, payload = self.graph.kinds[node], self.graph.payloads[node]
        row = BY_NAME.get(kind)
        if kind in (INPUT, CONST):
            return 1, self.number(kind, repr(payload))
        operands = [self.keys[operand] for operand in self.graph.operands[node]]
        if kind in SUMS:
            signs = zip(BY_NAME[kind].signs, operands, strict=True)
            return self.total([(own * sign, number) for own, (sign, number) in signs])
        if kind in PRODUCTS:
            factors = [number for _, number in operands]
            ordered = sorted(factors) if BY_NAME[kind].commutes else factors
            return prod(sign for sign, _ in operands), self.number(kind, *ordered)
        if row and row.gate == "power" and self.value(self.graph.operands[node][1]) == 2:
            return 1, self.number(BY_POWERS[1, 1], operands[0][1], operands[0][1])
        return 1, self.number(kind, *operands)

    def total(self, terms: Sequence[Key]) -> Key:
        """Return the key of a sum, which has the sign of the term with the least number."""
        if len(terms) == 1:
            return terms[0]
        ordered = sorted(terms, key=lambda term: (term[1], -term[0]))
        sign = ordered[0][0]
        return sign, self.number("sum", *[(sign * own, number) for own, number in ordered])

    def key(self, terms: Terms) -> Key:
        """Return the key of a sum of nodes."""
        return self.total([self.term_key(term) for term in self.spread(terms)[0]])

    def term_key(self, term: tuple[int, int]) -> Key:
        """Return the key of one term."""
        sign, number = self.keys[term[1]]
        return term[0] * sign, number

    def value(self, node: int) -> float | None:
        """Return a constant's number; None for any other node."""
        payload = self.graph.payloads[node]
        return payload if isinstance(payload, float) else None

    # Sums.

    def split_sum(self, node: int) -> tuple[Terms, tuple[int, ...]]:
        """Split a sum into its terms; also return the nodes of the sums inside.

        Named operands stay whole, and so does a sum of too many terms.
        """
        found: list[tuple[int, int]] = []
        inside: list[int] = []
        todo = [(1, node)]
        while todo:
            sign, at = todo.pop()
            kind = self.graph.kinds[at]
            if kind not in SUMS or (at != node and at in self.names):
                found.append((sign, at))
            else:
                inside.append(at)
                signed = zip(BY_NAME[kind].signs, self.graph.operands[at], strict=True)
                todo += [(sign * own, operand) for own, operand in signed][::-1]
            if len(found) + len(todo) > MOST_TERMS:
                return ((1, node),), ()
        return tuple(found), tuple(inside)

    def spread(self, terms: Terms) -> tuple[Terms, tuple[int, ...]]:
        """Split the terms that are sums themselves; also return the nodes of these sums."""
        found: list[tuple[int, int]] = []
        inside: list[int] = []
        for sign, node in terms:
            inner, nodes = self.terms(node)
            found += [(sign * own, term) for own, term in inner]
            inside += nodes
        return tuple(found), tuple(inside)

    # Building.

    def append(self, kind: str, operands: tuple[int, ...] = (), payload: Payload = None) -> int:
        """Append a node and its key."""
        node = self.graph.append(kind, operands, payload, NO_SPAN, (NO_SPAN,) * len(operands))
        self.keys.append(self.key_of(node))
        return node

    def negated(self, node: int) -> int:
        """Build the negative of a node, with the minus in front: ``x*y`` becomes ``-x*y``."""
        graph = self.graph
        factors: list[tuple[str, int]] = []
        while graph.kinds[node] in PRODUCTS and node not in self.names:
            factors.append((graph.kinds[node], graph.operands[node][1]))
            node = graph.operands[node][0]
        found = (
            graph.operands[node][0]
            if self.is_negative(node)
            else self.append(BY_SIGNS[-1,], (node,))
        )
        for kind, factor in reversed(factors):
            found = self.append(kind, (found, factor))
        return found

    def is_negative(self, node: int) -> bool:
        """Whether a node is written with a minus in front."""
        while self.graph.kinds[node] in PRODUCTS and node not in self.names:
            node = self.graph.operands[node][0]
        return self.graph.kinds[node] == BY_SIGNS[-1,] and node not in self.names


# Patterns.


class Match(NamedTuple):
    """One way in which a pattern matches.

    ``bound``   the part of the formula for each name
    ``inside``  the nodes of the formula that the pattern's operations match
    ``rest``    the terms left over at the root, where that is a sum
    ``sign``    -1 if the negative of the pattern was found
    ``more``    the parts for further occurrences of the repeating name
    """

    bound: Mapping[str, Terms]
    inside: tuple[int, ...] = ()
    rest: Terms = ()
    sign: int = 1
    more: tuple[Terms, ...] = ()


def match_pattern(reading: Reading, pattern: Graph, repeats: str, root: int) -> Iterator[Match]:
    """Yield every way in which a pattern matches at a node.

    The term of a sum with the name ``repeats`` may occur any number of times.
    """
    finder = PatternMatcher(reading, pattern, repeats)
    either = [pattern.kinds[pattern.output] in SUMS, reading.graph.kinds[root] in SUMS]
    if not any(either):
        yield from finder.match(pattern.output, ((1, root),), Match({}))
    if not all(either):
        return
    whole, inside = reading.terms(root)
    for sign in (1, -1):
        terms = tuple([(sign * own, node) for own, node in whole])
        found = False
        for match in finder.match_sum(pattern.output, terms, Match({}, inside), is_root=True):
            found = True
            rest = tuple([(sign * own, node) for own, node in match.rest])
            yield match._replace(sign=sign, rest=rest)
        if found:
            return


HALF = BY_POWERS[1, -1], [1.0, 2.0]
SPELLED = {"x^2": "x*x", "x/2": "0.5*x", "sqrt(x)": "x^0.5"}
"""Other spellings of parts of patterns."""


def pattern_key(pattern: Graph, node: int) -> tuple[str, Payload]:
    """Return the key of a pattern's operation: its row, and its last operand if that is a number."""
    last = pattern.operands[node][-1]
    return pattern.kinds[node], pattern.payloads[last] if pattern.kinds[last] == CONST else None


@cache
def other_spellings() -> dict[tuple[str, Payload], Graph]:
    """Return the other spellings, by the key of the pattern's part."""
    pairs = [(template(part), template(other)) for part, other in SPELLED.items()]
    return {pattern_key(part, part.output): other for part, other in pairs}


read_pattern = cache(partial(Reading, names=()))
"""Reads a pattern, each once."""


class PatternMatcher:
    """A matcher of one pattern in one graph."""

    def __init__(self, reading: Reading, pattern: Graph, repeats: str) -> None:
        self.reading = reading
        self.graph = reading.graph
        self.pattern = pattern
        self.repeats = repeats
        self.own = read_pattern(pattern)

    def match(self, at: int, terms: Terms, before: Match) -> Iterator[Match]:
        """Yield the ways in which the pattern's node ``at`` matches a sum."""
        kind, payload = self.pattern.kinds[at], self.pattern.payloads[at]
        if kind == INPUT:
            yield from self.bind(str(payload), terms, before)
            return
        spread, inside = self.reading.spread(terms)
        if kind in SUMS:
            yield from self.match_sum(at, spread, widen_match(before, inside))
            return
        if len(spread) != 1:
            return
        ((sign, node),) = spread
        if kind == CONST:
            value = self.constant(node)
            if value is not None and sign * value == payload:
                yield before
            return
        if sign < 0 and kind not in PRODUCTS:
            return
        mine = self.pattern.operands[at]
        for first, *others in self.spellings(at, node):
            signed = tuple([(sign * own, part) for own, part in first])
            yield from self.match_all(mine, [signed, *others], widen_match(before, (*inside, node)))

    def match_all(
        self, mine: Sequence[int], parts: Sequence[Terms], before: Match
    ) -> Iterator[Match]:
        """Yield the ways in which nodes of the pattern match sums, one for one."""
        if not parts:
            yield before
            return
        for match in self.match(mine[0], parts[0], before):
            yield from self.match_all(mine[1:], parts[1:], match)

    def spellings(self, at: int, node: int) -> Iterator[list[Terms]]:
        """Yield a node's operands in every order and spelling that may match the pattern's node."""
        kind, operands = self.pattern.kinds[at], self.graph.operands[node]
        single: list[Terms] = [((1, operand),) for operand in operands]
        if self.graph.kinds[node] == kind and len(operands) == len(self.pattern.operands[at]):
            yield single
            if kind in PRODUCTS and BY_NAME[kind].commutes:
                yield single[::-1]
        other = other_spellings().get(pattern_key(self.pattern, at))
        if other is not None and other.kinds[other.output] == self.graph.kinds[node]:
            finder = PatternMatcher(self.reading, other, "")
            found = next(finder.match(other.output, ((1, node),), Match({})), None)
            if found is not None:
                yield [*found.bound.values()]

    def constant(self, node: int) -> float | None:
        """Return the value of a number, or of ``1/2``; None for any other node."""
        if self.graph.kinds[node] in PRODUCTS:
            quotient = [self.reading.value(operand) for operand in self.graph.operands[node]]
            return 0.5 if (self.graph.kinds[node], quotient) == HALF else None
        return self.reading.value(node)

    def bind(self, name: str, terms: Terms, before: Match) -> Iterator[Match]:
        """Bind a name to a sum; nothing matches if the name is bound to another formula."""
        held = before.bound.get(name)
        if held is None:
            yield before._replace(bound={**before.bound, name: terms})
        elif held == terms or self.reading.key(held) == self.reading.key(terms):
            yield before

    def match_sum(
        self, at: int, terms: Terms, before: Match, *, is_root: bool = False
    ) -> Iterator[Match]:
        """Yield the ways in which a sum in the pattern matches a sum in the formula."""
        mine = self.own.terms(at)[0]
        bare = tuple([term for term in mine if self.pattern.kinds[term[1]] == INPUT])
        fixed = tuple([term for term in mine if term not in bare])
        if len(terms) < len(fixed):
            return
        if len(terms) > len(fixed) and not (bare or self.repeats or is_root):
            return
        if not all(any(self.may_be(own, term) for term in terms) for own in fixed):
            return
        for match, left in self.assigned(fixed, terms, before):
            yield from self.take_rest(match, left, bare, fixed, is_root=is_root)

    def may_be(self, mine: tuple[int, int], term: tuple[int, int]) -> bool:
        """Whether a term may match one of the pattern's, judged by its operation and sign."""
        (sign, at), (own, node) = mine, term
        kind, found = self.pattern.kinds[at], self.graph.kinds[node]
        if kind == CONST:
            return found == CONST and self.pattern.payloads[at] == self.graph.payloads[node]
        if found in SUMS:  # a name of a sum
            return True
        other = other_spellings().get(pattern_key(self.pattern, at))
        is_spelled = other is not None and found == other.kinds[other.output]
        return (found == kind or is_spelled) and (sign == own or kind in PRODUCTS)

    def assigned(self, fixed: Terms, terms: Terms, before: Match) -> Iterator[tuple[Match, Terms]]:
        """Yield the ways to match the pattern's terms among those of a sum, and the terms left over."""
        if not fixed:
            yield before, terms
            return
        (sign, node), *others = fixed
        for place, (own, part) in enumerate(terms):
            left = terms[:place] + terms[place + 1 :]
            for match in self.match(node, ((sign * own, part),), before):
                yield from self.assigned(tuple(others), left, match)

    def take_rest(
        self, match: Match, left: Terms, bare: Terms, fixed: Terms, *, is_root: bool
    ) -> Iterator[Match]:
        """Match the terms left over: first with names already bound, then with a free one."""
        free: list[tuple[int, str]] = []
        for sign, node in bare:
            name = str(self.pattern.payloads[node])
            if name not in match.bound:
                free.append((sign, name))
                continue
            for own, wanted in self.reading.spread(match.bound[name])[0]:
                key = self.reading.term_key((sign * own, wanted))
                places = [p for p, term in enumerate(left) if self.reading.key((term,)) == key]
                if not places:
                    return
                left = left[: places[0]] + left[places[0] + 1 :]
        if free:
            ((sign, name),) = free
            if left:
                terms = tuple([(sign * own, node) for own, node in left])
                yield from self.bind(name, terms, match)
        elif not left:
            yield match
        elif self.repeats and self.repeats in match.bound and not is_root:
            yield from self.repeated(match, left, fixed)
        elif is_root:
            yield match._replace(rest=left)

    def repeated(self, match: Match, left: Terms, fixed: Terms) -> Iterator[Match]:
        """Match the terms left over as repetitions of the last term, which has the repeating name."""
        sign, node = fixed[-1]
        others = {name: part for name, part in match.bound.items() if name != self.repeats}
        for own, part in left:
            again = next(self.match(node, ((sign * own, part),), Match(others)), None)
            if again is None:
                return
            match = widen_match(match, again.inside)
            match = match._replace(more=(*match.more, again.bound[self.repeats]))
        yield match


def widen_match(match: Match, inside: tuple[int, ...]) -> Match:
    """Add nodes to those inside a match."""
    return match._replace(inside=match.inside + inside) if inside else match
