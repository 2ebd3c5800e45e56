"""Reverse sweeps in any order: the visits that are asked for, right or wrong, and what they pass on.

The right order visits a node after all its users.  The wrong ones follow the operands from the output
down and visit a node as soon as they meet it; they visit inner nodes only, as the code they stand for
does, for a leaf has nothing to pass on.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from exprgrad.errors import RequestError, advice, require
from exprgrad.explain.nodes import node_in
from exprgrad.explain.walks.paths import Web
from exprgrad.run.evaluation import Run
from exprgrad.source import Source, Span, pieces

__all__ = ["WRONG", "Contribution", "Sweep", "simulate", "wanted"]

MOST_VISITS = 10_000
"""The most visits of naive recursion that are simulated: it makes as many as there are ways to a node."""
WRONG = ("preorder", "bfs", "naive")
"""The wrong orders: depth first, each node when it is met first; the same level by level; and depth first
without a set of visited nodes, each node once for each way that leads to it."""


def wrong_order(run: Run, name: str) -> list[int]:
    """The visits of a wrong order; for naive recursion raises ``RequestError`` where they are too many."""
    if name == "naive":
        refuse_too_many(run)
    seen: set[int] = set()
    order: list[int] = []
    todo = deque(inner(run, [run.graph.output]))
    while todo:
        node = todo.popleft() if name == "bfs" else todo.pop()
        if node in seen and name != "naive":
            continue
        seen.add(node)
        order.append(node)
        below = inner(run, run.graph.operands[node])
        todo += below if name == "bfs" else reversed(below)
    return order


def refuse_too_many(run: Run) -> None:
    """Refuse naive recursion whose visits are too many to simulate."""
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


def wanted(run: Run, order: str | Iterable[str | int]) -> tuple[int, ...]:
    """The visits that are asked for: a wrong order by its name, or nodes by name or id.

    Raises ``RequestError``, with the place in the text, for what is no node or is there twice.
    """
    if isinstance(order, str):
        if order.strip() in WRONG:
            return tuple(wrong_order(run, order.strip()))
        listed = list(order_parts(order))
    else:
        require(order, Iterable, "an order is a text, or a list of names and ids of nodes")
        listed = [(Source(str(item), is_expression=False), (0, len(str(item)))) for item in order]
    found: dict[int, str] = {}
    for source, span in listed:
        written = source.text[slice(*span)]
        node = visited_in(run, source, span)
        if node in found:
            message = f"'{written}' is visited twice"
            if found[node] != written:
                message = f"'{written}' is the node that '{found[node]}' is: it is visited twice"
            naive = advice("--order naive", "'naive'")
            help = f"each node is visited once; {naive} visits nodes again and again"
            raise RequestError("given-twice", message, source=source, span=span, help=help)
        found[node] = written
    return tuple(found)


def order_parts(order: str) -> Iterator[tuple[Source, Span]]:
    """The parts of a text between its commas; that of ``X[0, 1]`` is not one."""
    source = Source(order, is_expression=False)
    for start, end in pieces(order):
        part = order[start:end]
        if not part.strip():
            help = "names or ids of nodes are separated by commas: "
            help += advice("--order d,c,a,b", "'d,c,a,b'")
            span = (start, max(end, start + 1))
            raise RequestError("usage", "a node is missing", source=source, span=span, help=help)
        yield source, (end - len(part.lstrip()), start + len(part.rstrip()))


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


class Contribution(NamedTuple):
    """What one visit passed to one operand.

    ``visit``   the number of the visit, from 0
    ``edge``    the edge of the web
    ``grad``    the user's grad at that visit
    ``value``   the contribution: the grad times the local derivative
    ``before``, ``after``  the operand's grad
    ``late``    whether the operand had been visited, for the last time, so that this is lost
    ``replaced``  the edge whose contribution this one overwrote before it was passed on; else None
    """

    visit: int
    edge: int
    grad: float
    value: float
    before: float
    after: float
    late: bool
    replaced: int | None


class Sweep(NamedTuple):
    """A reverse sweep in some order.

    ``visits``   the nodes, in that order
    ``contributions``  all that was passed, in order
    ``got``      by input: the grad that was read
    ``reads``    by input: the visit that read it; None for one that is read at the end
    ``carried``  the edges whose contributions went on
    """

    visits: tuple[int, ...]
    contributions: list[Contribution]
    got: dict[str, float]
    reads: dict[str, int | None]
    carried: set[int]


def simulate(web: Web, visits: tuple[int, ...], *, overwrite: bool) -> Sweep:
    """The sweep that visits some nodes in turn; a grad begins at 0, that of the output at 1."""
    below: dict[int, list[int]] = {}
    for edge, user in enumerate(web.users):
        below.setdefault(user, []).append(edge)
    last = {node: at for at, node in enumerate(visits)}
    grads: dict[int, float] = {web.output: 1.0}
    holding: dict[int, list[int]] = {}
    carried: set[int] = set()
    inputs = {node: name for name, node in web.inputs.items()}
    got: dict[str, float] = {}
    reads = {name: last.get(node) for name, node in web.inputs.items()}
    passed: list[Contribution] = []
    for at, user in enumerate(visits):
        carried.update(holding.pop(user, ()))
        grad = grads.get(user)
        if user in inputs:
            got[inputs[user]] = grad or 0.0
        for edge in below.get(user, ()):
            operand = web.operands[edge]
            # Where nothing has arrived, nothing goes on, not even nothing times infinity.
            value = 0.0 if grad is None else grad * web.locals[edge]
            before = grads.get(operand, 0.0)
            after = value if overwrite else before + value
            late = last.get(operand, len(visits)) <= at
            replaced = None
            if not late:
                held = holding.setdefault(operand, [])
                if overwrite and held:
                    replaced = held.pop()
                held.append(edge)
            passed.append(Contribution(at, edge, grad or 0.0, value, before, after, late, replaced))
            grads[operand] = after
    for name, node in web.inputs.items():
        if name not in got:
            got[name] = grads.get(node, 0.0)
            carried.update(holding.pop(node, ()))
    return Sweep(visits, passed, got, reads, carried)
