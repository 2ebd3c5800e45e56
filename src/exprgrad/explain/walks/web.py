"""The web of a reverse sweep: the edges along which it passed something, and the paths they make.

A path leads from the output to an input, edge by edge; its product is the product of the local
derivatives on it, and the products of all paths to an input sum to the input's grad.  There may be more
paths than atoms in the sky, so nothing here ever walks them all: counts and bounds come from one sweep
over the edges, and ``largest`` walks only the paths that it is asked for.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from heapq import heappop, heappush
from itertools import islice
from typing import Any, NamedTuple

from exprgrad.errors import RequestError
from exprgrad.graph.ops import BY_NAME
from exprgrad.run.numbers.tape import gated
from exprgrad.run.result import Run

__all__ = [
    "Move", "Path", "Size", "Web", "by_size", "largest", "order_of", "size", "times", "total", "web_of",
]  # fmt: skip

Size = tuple[float, float]
"""The size of a product, which no double need hold: exponent and mantissa, ordered as sizes are.

0 is ``(-inf, 0)``.  What is not finite is ``(inf, 0.5)``, above all others: nothing outweighs a nan.
"""
NOTHING: Size = (-math.inf, 0.0)
ENDLESS: Size = (math.inf, 0.5)
Move = tuple[int, int]
"""A step from a state up to a user: the edge, and the state that it leads to."""


class Web(NamedTuple):
    """The edges that passed something, in the order of the visits; by edge, and ``above`` by node.

    ``users``, ``positions``, ``operands``, ``locals``  an edge's ends and its local derivative
    ``above``    by node: the edges that lead to it, from its users
    ``inputs``   name → node: the differentiated inputs
    ``grads``    by node: its grad, by the sweep
    ``visited``  how many nodes the sweep passed through
    """

    output: int
    inputs: dict[str, int]
    users: list[int]
    positions: list[int]
    operands: list[int]
    locals: list[float]
    above: Mapping[int, Sequence[int]]
    grads: Sequence[float | None]
    visited: int

    def grad(self, node: int) -> float:
        """A node's grad; 0 where none arrived."""
        return self.grads[node] or 0.0

    def moves(self, node: int) -> list[Move]:
        """The steps from a node up to its users, where a state is a node."""
        return [(edge, self.users[edge]) for edge in self.above[node]]


class Path(NamedTuple):
    """A path from the output to an input: its nodes, the local derivatives between, their product.

    ``edges`` are those of the web: the two paths of ``x*x`` have the same nodes.
    """

    nodes: tuple[int, ...]
    edges: tuple[int, ...]
    factors: tuple[float, ...]
    product: float


def web_of(run: Run) -> Web:
    """The web of a run.  Raises ``RequestError`` for a forward run, and for one of tensors.

    An edge that passes nothing, such as one into a branch that was not taken, is no part of it.
    """
    if run.shapes is not None:
        message = "paths and visit orders are for formulas of numbers: this one has tensors"
        help = "grad and grad --trace take tensors"
        raise RequestError("no-tensors", message, help=help)
    adjoints = run.adjoints
    if adjoints is None:
        raise RequestError("no-gradient", "only a run of gradient() has paths")
    graph = run.graph
    users: list[int] = []
    positions: list[int] = []
    operands: list[int] = []
    locals_: list[float] = []
    above: dict[int, list[int]] = {graph.output: []} if adjoints.active[graph.output] else {}
    for user in run.order:
        found = adjoints.locals[user]
        if found is None:
            continue
        op = BY_NAME[graph.kinds[user]]
        for position, local in enumerate(found):
            if local is None or (local == 0 and gated(op, position)):
                continue
            operand = graph.operands[user][position]
            above.setdefault(operand, []).append(len(users))
            users.append(user)
            positions.append(position)
            operands.append(operand)
            locals_.append(local)
    inputs = {name: graph.inputs[name] for name in run.wrt or ()}
    return Web(
        graph.output, inputs, users, positions, operands, locals_, above, adjoints.grads, len(above)
    )


# Sizes.


def size(value: float) -> Size:
    """How large a number is, its sign aside."""
    if not math.isfinite(value):
        return ENDLESS
    mantissa, exponent = math.frexp(abs(value))
    return (exponent, mantissa) if mantissa else NOTHING


def times(one: Size, other: Size) -> Size:
    """The size of a product; it never overflows."""
    exponent = one[0] + other[0]
    if not math.isfinite(exponent):
        return ENDLESS if math.inf in (one[0], other[0]) else NOTHING
    mantissa, more = math.frexp(one[1] * other[1])
    return exponent + more, mantissa


def total(numbers: Iterable[float]) -> float:
    """The sum, rounded once; nan and infinities add up as they do in Python."""
    listed = list(numbers)
    try:
        return math.fsum(listed)
    except (OverflowError, ValueError):
        return sum(listed)


# The largest paths.


def largest(
    web: Web,
    start: int,
    goal: int,
    best: Mapping[int, Size],
    moves: Callable[[int], Iterable[Move]],
    most: int,
) -> tuple[list[Path], list[tuple[int, float]]]:
    """At most so many of the largest paths by size, and what is left: states, each with a product.

    The search goes up from ``start``, an input's state, to ``goal``, the output's, and always takes the
    state whose largest path is the largest of all.  ``best`` has the size of the largest product from
    the goal to each state; a state that it lacks leads nowhere.  Every path that is not found goes
    through exactly one of the states left, from where it goes on to the input with the product given.

    A* search with a bound that is exact: the best way on from a state is as large as the state's own
    bound.  So each path takes as many steps as it has edges, however many others are equally large.
    In doubles two associations of a product may differ by its rounding; the bound is handed on along
    the best way rather than computed anew, for else such differences could have all ties walked.
    Products that differ by less than that rounding may come in either order.
    """
    heap = states(start, best)
    found = list(islice(search(web, heap, goal, best, moves), most))
    found.sort(key=order_of)
    return found, [(entry[0], entry[2]) for *_, entry in heap]


def by_size(web: Web, node: int, best: Mapping[int, Size]) -> Iterator[Path]:
    """All paths to a node, the largest first, each found when it is asked for."""
    return search(web, states(node, best), web.output, best, web.moves)


def states(start: int, best: Mapping[int, Size]) -> list[Any]:
    """The heap that a search begins with: entries by the size of their largest path."""
    if start not in best:
        return []
    exponent, mantissa = best[start]
    return [(-exponent, -mantissa, 0, (start, (1, 0.5), 1.0, -1, None))]


def search(
    web: Web,
    heap: list[Any],
    goal: int,
    best: Mapping[int, Size],
    moves: Callable[[int], Iterable[Move]],
) -> Iterator[Path]:
    """The search of ``largest``: the paths one by one, while the heap holds the states that are left."""
    serial = 0
    while heap:
        exponent, mantissa, _, entry = heappop(heap)
        state, below, product, _, _ = entry
        if state == goal:
            yield walked(web, entry)
            continue
        for edge, next_state in moves(state):
            if next_state not in best:
                continue
            local = size(web.locals[edge])
            onward = times(best[next_state], local)
            here = times(local, below)
            bound = (exponent, mantissa)
            if onward != best[state]:
                up, to = times(best[next_state], here)
                bound = max(bound, (-up, -to))
            serial -= 1
            further = (next_state, here, product * web.locals[edge], edge, entry)
            heappush(heap, (*bound, serial, further))


def order_of(path: Path) -> tuple[bool, float, tuple[int, ...]]:
    """How listed paths are sorted: what is not finite, then by size, then as the sweep meets them."""
    finite = math.isfinite(path.product)
    return finite, -abs(path.product) if finite else 0.0, path.edges


def walked(web: Web, entry: Any) -> Path:
    """The path that a search came up by."""
    edges = []
    while entry[4] is not None:
        edges.append(entry[3])
        entry = entry[4]
    return path_of(web, edges)


def path_of(web: Web, edges: Sequence[int]) -> Path:
    """The path along some edges from the output; its product is multiplied as the sweep does it."""
    nodes = [web.output, *[web.operands[edge] for edge in edges]]
    factors = [web.locals[edge] for edge in edges]
    return Path(tuple(nodes), tuple(edges), tuple(factors), math.prod(factors, start=1.0))
