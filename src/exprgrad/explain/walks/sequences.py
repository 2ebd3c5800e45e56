"""Orders of visits: as someone names them, and the wrong ones that people really write.

The right order visits a node after all its users.  The wrong ones follow the operands from the output
down and visit a node as soon as they meet it; they visit inner nodes only, as the code they stand for
does, for a leaf has nothing to pass on.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator

from exprgrad.errors import RequestError
from exprgrad.explain.nodes import node_in
from exprgrad.run.result import Run
from exprgrad.source import Source, Span

__all__ = ["WRONG", "wanted"]

MOST_VISITS = 10_000
"""The most visits of naive recursion that are simulated: it makes as many as there are ways to a node."""


def preorder(run: Run) -> list[int]:
    """Depth first, each node when it is met first: recursion with a set of visited nodes, too early."""
    seen: set[int] = set()
    order: list[int] = []
    todo = inner(run, [run.graph.output])
    while todo:
        node = todo.pop()
        if node not in seen:
            seen.add(node)
            order.append(node)
            todo += reversed(inner(run, run.graph.operands[node]))
    return order


def breadth_first(run: Run) -> list[int]:
    """Level by level, each node when it is met first."""
    order = inner(run, [run.graph.output])
    seen, queue = {*order}, deque(order)
    while queue:
        for operand in inner(run, run.graph.operands[queue.popleft()]):
            if operand not in seen:
                seen.add(operand)
                order.append(operand)
                queue.append(operand)
    return order


def naive(run: Run) -> list[int]:
    """Depth first without a set of visited nodes: a node once for each way that leads to it.

    Raises ``RequestError`` where those are too many to simulate.
    """
    ways = [0] * len(run.graph)
    ways[run.graph.output] = 1
    visits = 0
    for node in run.order:
        if ways[node] and inner(run, [node]):
            visits += ways[node]
            for operand in run.graph.operands[node]:
                ways[operand] += ways[node]
            ways[node] = 0
    if visits > MOST_VISITS:
        message = (
            f"naive recursion would make {many(visits)} visits here, one for each way to a node"
        )
        help = (
            f"it is simulated up to {MOST_VISITS:,} visits; preorder and bfs visit each node once"
        )
        raise RequestError("too-many", message, help=help)
    order: list[int] = []
    todo = inner(run, [run.graph.output])
    while todo:
        node = todo.pop()
        order.append(node)
        todo += reversed(inner(run, run.graph.operands[node]))
    return order


def many(count: int) -> str:
    """A count as people read it, however large."""
    if count < 10**18:
        return f"{count:,}"
    return f"more than 10^{(count.bit_length() - 1) * 30103 // 100000}"


def inner(run: Run, nodes: Iterable[int]) -> list[int]:
    """Those of some nodes that have something to pass on: operations that are differentiated."""
    assert run.adjoints is not None
    active, operands = run.adjoints.active, run.graph.operands
    return [node for node in nodes if active[node] and operands[node]]


WRONG: dict[str, Callable[[Run], list[int]]] = {
    "preorder": preorder,
    "bfs": breadth_first,
    "naive": naive,
}
"""The wrong orders by name."""


def wanted(run: Run, order: str | Iterable[str | int]) -> tuple[int, ...]:
    """The visits that are asked for: a wrong order by its name, or nodes by name or id.

    Raises ``RequestError``, with the place in the text, for what is no node or is there twice.
    """
    if isinstance(order, str):
        if order.strip() in WRONG:
            return tuple(WRONG[order.strip()](run))
        listed = list(split(order))
    else:
        listed = [(Source(str(item), is_expression=False), (0, len(str(item)))) for item in order]
    found: dict[int, str] = {}
    for source, span in listed:
        written = source.text[slice(*span)]
        node = visited_in(run, source, span)
        if node in found:
            message = f"'{written}' is visited twice"
            if found[node] != written:
                message = f"'{written}' is the node that '{found[node]}' is: it is visited twice"
            help = "each node is visited once; --order naive visits nodes again and again"
            raise RequestError("given-twice", message, source=source, span=span, help=help)
        found[node] = written
    return tuple(found)


def split(order: str) -> Iterator[tuple[Source, Span]]:
    """The parts of a text between its commas."""
    source = Source(order, is_expression=False)
    start = 0
    for part in order.split(","):
        lead = len(part) - len(part.lstrip())
        end = start + len(part)
        if not part.strip():
            help = "names or ids of nodes are separated by commas: --order d,c,a,b"
            span = (start, max(end, start + 1))
            raise RequestError("usage", "a node is missing", source=source, span=span, help=help)
        yield source, (start + lead, start + len(part.rstrip()))
        start = end + 1


def visited_in(run: Run, source: Source, span: Span) -> int:
    """The node that a part of a text names."""
    written = source.text[slice(*span)]
    if written in WRONG and written not in {*run.names.values(), *run.graph.inputs}:
        message = f"'{written}' is an order, not a node"
        help = f"it is given alone: {written}"
        raise RequestError("unknown-node", message, source=source, span=span, help=help)
    if written in run.graph.symbols.values():
        message = f"'{written}' is a constant, which is not visited"
        raise RequestError(
            "unknown-node", message, source=source, span=span, help="it need not be listed"
        )
    return node_in(run, source, span, WRONG)
