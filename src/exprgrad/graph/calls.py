"""Calls as they are shown: each result's name, and the nodes behind a closed card."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from exprgrad.graph.graph import INPUT, OUTSIDE, Call, Graph, collect_by_key, shallow_copy_graph

__all__ = [
    "ClosedCall", "FoldedGraph", "call_labels", "calls_resulting_in", "enclosing_calls",
    "fold_calls", "open_calls", "propagate_down_calls",
]  # fmt: skip


class ClosedCall(NamedTuple):
    """A call shown as one card.

    ``operands``  the nodes outside that it reads: its arguments, then others
    ``inside``    its nodes that the result depends on, in the order of the reverse sweep's visits
    """

    call: Call
    operands: tuple[int, ...]
    inside: Sequence[int]


class FoldedGraph(NamedTuple):
    """A graph with its calls as cards.

    ``shown``   the visible nodes, in order: a closed call is its result
    ``closed``  the visible closed calls, by their results
    ``opened``  node → the innermost opened call around it, if it is in one
    """

    shown: Sequence[int]
    closed: Mapping[int, ClosedCall]
    opened: Mapping[int, int]


def enclosing_calls(graph: Graph, node: int) -> Iterator[int]:
    """Yield the calls around a node, the innermost first; inputs belong to none."""
    at = OUTSIDE if graph.kinds[node] == INPUT else graph.called.get(node, OUTSIDE)
    while at != OUTSIDE:
        yield at
        at = graph.calls[at].parent


def calls_resulting_in(graph: Graph, node: int) -> list[Call]:
    """Return the calls whose result a node is, the innermost first."""
    found = []
    for at in enclosing_calls(graph, node):
        if graph.calls[at].result != node:
            break
        found.append(graph.calls[at])
    return found


def call_labels(graph: Graph) -> dict[int, str]:
    """Return each node's name, or else the text of the outermost call whose result it is."""
    names = graph.names()
    for call in graph.calls:
        if call.result not in names:
            texts = [
                each.text for each in calls_resulting_in(graph, call.result) if each.is_expression
            ]
            if texts:
                names[call.result] = texts[-1]
    return names


def open_calls(graph: Graph, names: Collection[str] | None, *, others: bool = True) -> Graph:
    """Return the graph with calls of some names opened, or with all opened for None.

    With ``others``, other calls stay as they are, but a call around an opened one opens too; without, they
    are closed.
    """
    chosen = [at for at, call in enumerate(graph.calls) if names is None or call.word in names]
    wanted = with_enclosing_calls(graph.calls, chosen) if others else {*chosen}
    view = shallow_copy_graph(graph)
    view.calls = [
        call._replace(opened=(others and call.opened) or at in wanted)
        for at, call in enumerate(graph.calls)
    ]
    return view


def with_enclosing_calls(calls: Sequence[Call], chosen: Iterable[int]) -> set[int]:
    """Return some calls and all calls around them."""
    found: set[int] = set()
    for at in chosen:
        while at != OUTSIDE and at not in found:
            found.add(at)
            at = calls[at].parent
    return found


# What a closed card hides.


def fold_calls(graph: Graph) -> FoldedGraph:
    """Fold a graph into what is shown.

    A node is behind a card if all its users are; a node that a closed call shares stays visible.
    """
    closable = [  # a call that gives a constant, or an earlier node, has no card
        not call.opened
        and at in enclosing_calls(graph, call.result)
        and bool(graph.operands[call.result])
        for at, call in enumerate(graph.calls)
    ]
    homes = hidden_nodes(graph, closable)
    inside = collect_by_key((home, node) for node, home in homes.items())
    results = {graph.calls[at].result for at in inside}
    shown = [node for node in range(len(graph)) if node not in homes or node in results]
    seen = {*shown}
    closed = {
        graph.calls[at].result: make_closed_call(graph, graph.calls[at], nodes, seen)
        for at, nodes in inside.items()
    }
    return FoldedGraph(shown, closed, innermost_open_calls(graph, shown))


def propagate_down_calls(calls: Sequence[Call], own: Callable[[int, int], int]) -> list[int]:
    """Compute a number for each call from that of the call around it, which may come later.

    ``own`` takes a call and the number of the call around it; ``OUTSIDE`` comes last, with ``OUTSIDE``.
    """
    found: dict[int, int] = {OUTSIDE: OUTSIDE}
    for start in range(len(calls)):
        way, at = [], start
        while at not in found:
            way.append(at)
            at = calls[at].parent
        for each in reversed(way):
            found[each] = own(each, found[calls[each].parent])
    return [found[at] for at in (*range(len(calls)), OUTSIDE)]


def hidden_nodes(graph: Graph, closed: Sequence[bool]) -> dict[int, int]:
    """Return the closed call that hides each hidden node, in the order of the reverse sweep's visits."""

    def outermost(at: int, above: int) -> int:
        """The outermost closed call: this one, or one around it."""
        return at if above == OUTSIDE and closed[at] else above

    outer = propagate_down_calls(graph.calls, outermost)
    homes: dict[int, int] = {}
    user_homes = {graph.output: OUTSIDE}

    def holds(node: int, at: int) -> bool:
        return user_homes.get(node, at) == at or graph.calls[at].result == node

    def home_of(node: int) -> int:
        inner = next(enclosing_calls(graph, node), OUTSIDE)
        if inner == OUTSIDE:  # what broadcasting put in is where its users are
            return user_homes.get(node, OUTSIDE) if node in graph.implicit else OUTSIDE
        if outer[inner] == OUTSIDE or holds(node, outer[inner]):
            return outer[inner]
        ways = [at for at in enclosing_calls(graph, node) if closed[at] and holds(node, at)]
        return ways[-1] if ways else OUTSIDE

    for node in range(len(graph) - 1, -1, -1):
        home = home_of(node)
        if home != OUTSIDE:
            homes[node] = home
        for operand in graph.operands[node]:
            if user_homes.setdefault(operand, home) != home:
                user_homes[operand] = OUTSIDE
    return homes


def make_closed_call(
    graph: Graph, call: Call, nodes: Sequence[int], shown: Collection[int]
) -> ClosedCall:
    """Return a closed call, given the nodes behind its card, last first, and the nodes shown."""
    mine, reached = {*nodes}, {call.result}
    inside: list[int] = []
    read: set[int] = set()
    for node in nodes:
        if node in reached:
            inside.append(node)
            reached.update(graph.operands[node])
            read.update(operand for operand in graph.operands[node] if operand not in mine)
    given = [operand for operand in call.operands if operand in shown and operand not in mine]
    return ClosedCall(call, tuple(dict.fromkeys([*given, *sorted(read)])), inside)


def innermost_open_calls(graph: Graph, shown: Iterable[int]) -> dict[int, int]:
    """Node → the innermost opened call around it."""
    found = {}
    for node in shown:
        at = next((at for at in enclosing_calls(graph, node) if graph.calls[at].opened), OUTSIDE)
        if at != OUTSIDE:
            found[node] = at
    return found
