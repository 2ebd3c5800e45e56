"""How a gradient is made up of paths: how many there are, and which contribute most.

A path leads from the output to an input, edge by edge; its product is the product of the local
derivatives on it, and the products of all paths to an input sum to the input's grad.  There may be more
paths than atoms in the sky, so nothing here ever walks them all: counts, sums and bounds come from one
sweep over the edges, and ``largest`` walks only the paths that it is asked for.
"""

from __future__ import annotations

import math
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush
from itertools import islice
from typing import Any, NamedTuple

from exprgrad.errors import RequestError, whole
from exprgrad.explain.limits import LISTED_PATHS
from exprgrad.explain.places import in_numbers
from exprgrad.graph.ops import BY_NAME
from exprgrad.run.evaluation import Run, adjoints_of
from exprgrad.run.numbers.sweeps import gated

__all__ = [
    "Path", "Paths", "Size", "Sums", "Web", "by_size", "exact_total", "largest", "listable", "magnitude",
    "order_of",
    "paths", "paths_to", "sums", "times", "web_of",
]  # fmt: skip

MOST_PATHS = 100_000
"""The most paths that are listed: they are kept in memory, and sorted."""
Size = tuple[float, float]
"""The size of a product, which no double need hold: exponent and mantissa, ordered as sizes are.

0 is ``(-inf, 0)``.  What is not finite is ``(inf, 0.5)``, above all others: nothing outweighs a nan.
"""
NOTHING: Size = (-math.inf, 0.0)
ENDLESS: Size = (math.inf, 0.5)


@dataclass(frozen=True, slots=True)
class Web:
    """The edges that passed something, in the order of the visits; by edge, and ``above`` by node.

    ``inputs``   name → node: the differentiated inputs
    ``grads``    by node: its grad, by the sweep
    ``users``, ``positions``, ``operands``, ``locals``  an edge's ends and its local derivative
    ``above``    by node that the sweep passed through: the edges that lead to it, from its users
    """

    output: int
    inputs: dict[str, int]
    grads: Sequence[float | None]
    users: list[int] = field(default_factory=list)
    positions: list[int] = field(default_factory=list)
    operands: list[int] = field(default_factory=list)
    locals: list[float] = field(default_factory=list)
    above: dict[int, list[int]] = field(default_factory=dict)

    @property
    def visited(self) -> int:
        """How many nodes the sweep passed through."""
        return len(self.above)

    def grad(self, node: int) -> float:
        """A node's grad; 0 where none arrived."""
        return self.grads[node] or 0.0


class Path(NamedTuple):
    """A path from the output to an input: its nodes, the local derivatives between, their product.

    ``edges`` are those of the web: the two paths of ``x*x`` have the same nodes.
    """

    nodes: tuple[int, ...]
    edges: tuple[int, ...]
    factors: tuple[float, ...]
    product: float


@dataclass(frozen=True, slots=True)
class Paths:
    """The paths from the output to one input.

    ``count``     how many there are, exactly
    ``gradient``  what their products sum to: the input's grad, by the sweep
    ``listed``    those with the largest products by size, the largest first
    ``rest``      what the products of all others sum to
    """

    count: int
    gradient: float
    listed: tuple[Path, ...]
    rest: float


class Sums(NamedTuple):
    """What one sweep over a web finds.

    ``carried``  the edges whose contributions went on; None: all of them
    ``counts``   by state, of inputs and other nodes without edges: how many paths lead to it
    ``totals``   by state: what the products of these paths sum to
    ``best``     by state: the size of the largest of them

    State 2n is node n.  State 2n + 1 is node n with a contribution lost on the way to it.
    """

    carried: Container[int] | None
    counts: dict[int, int]
    totals: dict[int, float]
    best: dict[int, Size]

    def ways(self, web: Web, state: int) -> int:
        """The number of paths to an input's state."""
        return self.counts.get(state, 0) if state // 2 in web.above else 0


def web_of(run: Run) -> Web:
    """The web of a run over numbers.  Raises ``RequestError`` for a forward run.

    An edge that passes nothing, such as one into a branch that was not taken, is no part of it.
    """
    adjoints, graph = adjoints_of(run, "paths"), run.graph
    web = Web(graph.output, {name: graph.inputs[name] for name in run.wrt or ()}, adjoints.grads)
    if adjoints.active[graph.output]:
        web.above[graph.output] = []
    for user in run.order:
        for position, local, _ in adjoints.passed(user):
            if local == 0 and gated(BY_NAME[graph.kinds[user]], position):
                continue
            operand = graph.operands[user][position]
            web.above.setdefault(operand, []).append(len(web.users))
            web.users.append(user)
            web.positions.append(position)
            web.operands.append(operand)
            web.locals.append(local)
    return web


def paths(run: Run, most: int = LISTED_PATHS) -> dict[str, Paths]:
    """The paths to each differentiated input, at most so many of them listed.

    Raises ``RequestError`` for a forward run, too large tensors, and a ``most`` that is not a count.
    """
    web = web_of(in_numbers(run).run)
    found = sums(web)
    return {name: paths_to(web, found, name, listable(most)) for name in web.inputs}


def listable(most: object) -> int:
    """A number of paths to list; an error for what is not one."""
    count = whole(most)
    if count is not None and count >= 0:
        if count <= MOST_PATHS:
            return count
        message = f"{count:,} paths to each input are more than can be listed"
        raise RequestError("too-many", message, help=f"ask for {MOST_PATHS:,} at most")
    message = f"cannot list {most!r} paths"
    raise RequestError("usage", message, help="a number of paths is a whole number, 0 or more")


def sums(web: Web, carried: Container[int] | None = None) -> Sums:
    """The one sweep: every node passes on its count, its sum, and the size of its largest product.

    A count may have as many digits as there are nodes, so a node's own is let go when it has been
    passed on.
    """
    start = 2 * web.output
    counts, totals, best = {start: 1}, {start: 1.0}, {start: magnitude(1.0)}
    ways, before = (1, 0), -1
    for edge, (user, operand, local) in enumerate(
        zip(web.users, web.operands, web.locals, strict=True)
    ):
        if user != before:
            ways, before = (counts.pop(2 * user, 0), counts.pop(2 * user + 1, 0)), user
        goes_on = carried is None or edge in carried
        for above, below in ((0, 0), (1, 1)) if goes_on else ((0, 0), (0, 1)):
            start, end = 2 * user + above, 2 * operand + below
            if start not in best:
                continue
            here, part = times(best[start], magnitude(local)), totals[start] * local
            best[end] = max(best.get(end, here), here)
            totals[end] = totals[end] + part if end in totals else part
            counts[end] = counts.get(end, 0) + ways[above]
    return Sums(carried, counts, totals, best)


def paths_to(web: Web, found: Sums, name: str, most: int) -> Paths:
    """The paths to one input; what is not listed is summed without walking it."""
    node = web.inputs[name]
    count = found.ways(web, 2 * node)
    if not count:
        return Paths(0, 0.0, (), 0.0)
    listed, left = largest(web, found, 2 * node, most)
    rest = exact_total(product * web.grad(state // 2) for state, product in left)
    return Paths(count, web.grad(node), tuple(listed), rest)


# Sizes.


def magnitude(value: float) -> Size:
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


def exact_total(numbers: Iterable[float]) -> float:
    """The sum, rounded once; nan and infinities add up as they do in Python."""
    listed = list(numbers)
    try:
        return math.fsum(listed)
    except (OverflowError, ValueError):
        return sum(listed)


# The largest paths.


def largest(
    web: Web, found: Sums, start: int, most: int
) -> tuple[list[Path], list[tuple[int, float]]]:
    """At most so many of the largest paths by size, and what is left: states, each with a product.

    The search goes up from ``start``, an input's state, to the output's, and always takes the state whose
    largest path is the largest of all.  A state without a size leads nowhere.  Every path that is not
    found goes through exactly one of the states left, from where it goes on to the input with the product
    given.

    A* search with a bound that is exact: the best way on from a state is as large as the state's own
    bound.  So each path takes as many steps as it has edges, however many others are equally large.
    In doubles two associations of a product may differ by its rounding; the bound is handed on along
    the best way rather than computed anew, for else such differences could have all ties walked.
    Products that differ by less than that rounding may come in either order.
    """
    heap = states(start, found.best)
    listed = sorted(islice(search(web, found, heap), most), key=order_of)
    return listed, [(entry[0], entry[2]) for *_, entry in heap]


def by_size(web: Web, found: Sums, node: int) -> Iterator[Path]:
    """All paths to a node, the largest first, each found when it is asked for."""
    return search(web, found, states(2 * node, found.best))


def states(start: int, best: Mapping[int, Size]) -> list[Any]:
    """The heap that a search begins with: entries by the size of their largest path."""
    if start not in best:
        return []
    exponent, mantissa = best[start]
    return [(-exponent, -mantissa, 0, (start, (1, 0.5), 1.0, -1, None))]


def search(web: Web, found: Sums, heap: list[Any]) -> Iterator[Path]:
    """The search of ``largest``: the paths one by one, while the heap holds the states that are left."""
    serial, best = 0, found.best
    while heap:
        exponent, mantissa, _, entry = heappop(heap)
        state, below, product, _, _ = entry
        if state == 2 * web.output:
            yield walked(web, entry)
            continue
        for edge in web.above[state // 2]:
            is_lost = state % 2 and (found.carried is None or edge in found.carried)
            next_state = 2 * web.users[edge] + is_lost
            if next_state not in best:
                continue
            local = magnitude(web.locals[edge])
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
    """The path that a search came up by; its product is multiplied as the sweep does it."""
    edges = []
    while entry[4] is not None:
        edges.append(entry[3])
        entry = entry[4]
    nodes = [web.output, *[web.operands[edge] for edge in edges]]
    factors = [web.locals[edge] for edge in edges]
    return Path(tuple(nodes), tuple(edges), tuple(factors), math.prod(factors, start=1.0))
