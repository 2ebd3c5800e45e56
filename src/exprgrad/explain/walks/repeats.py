"""Naive recursion visits a node again and again, and each time passes on all that has arrived so far.

So a path counts as often as there are visits of its nodes, one after the other, of which each passed on
what the one before had contributed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from exprgrad.explain.walks.contributions import Contribution
from exprgrad.explain.walks.misses import Lost, Outcome, Part, Repeated
from exprgrad.explain.walks.paths import Sums, sums
from exprgrad.explain.walks.web import Move, Path, Web, largest, total

__all__ = ["Recount", "recount", "repeated_outcome"]


class Recount(NamedTuple):
    """What one pass over the contributions finds.

    ``sums``      counts and sizes of all paths
    ``visits``    by node: its visits
    ``times``     by node: how often paths to it counted, all together; None where contributions overwrite
    ``last``      by node: the contribution that it holds at the end
    ``source``    by visit: the contribution that its node held; None where that was nothing, or the seed
    """

    sums: Sums
    visits: dict[int, list[int]]
    times: dict[int, int] | None
    last: dict[int, Contribution]
    source: list[Contribution | None]


def recount(
    web: Web, contributions: Sequence[Contribution], visits: Sequence[int], *, overwrite: bool
) -> Recount:
    """How often paths counted, or what became of the contributions."""
    by_node: dict[int, list[int]] = {}
    for at, node in enumerate(visits):
        by_node.setdefault(node, []).append(at)
    times = {web.output: 1}
    last: dict[int, Contribution] = {}
    source: list[Contribution | None] = []
    for passed in contributions:
        user, operand = web.users[passed.edge], web.operands[passed.edge]
        while len(source) <= passed.visit:
            source.append(last.get(visits[len(source)]))
        times[operand] = times.get(operand, 0) + times[user]
        last[operand] = passed
    return Recount(sums(web), by_node, None if overwrite else times, last, source)


def repeated_outcome(web: Web, node: int, got: float, again: Recount, most: int) -> Outcome:
    """What became of one input under naive recursion."""
    count = again.sums.counts.get(node, 0) if node in web.above else 0
    true = web.grad(node)
    if again.times is None:
        return survivor_outcome(web, node, got, again, most, count)
    beyond = again.times[node] - count if count else 0
    listed = repeated(web, node, again, most, count) if beyond else []
    return Outcome(
        got, true, Part(count, true), Part(0, 0.0), (), 0.0,
        Part(beyond, total([got, -true]) if beyond else 0.0), tuple(listed),
    )  # fmt: skip


def repeated(web: Web, node: int, again: Recount, most: int, count: int) -> list[Repeated]:
    """The largest paths that counted more than once; smaller ones are looked at as far as it takes."""
    looked_at = 4 * most
    while True:
        found = largest_of(web, node, again, looked_at)
        times = ((path, how_often(path, again)) for path in found)
        listed = [Repeated(path, often) for path, often in times if often > 1]
        if len(listed) >= most or looked_at >= count:
            return listed[:most]
        looked_at *= 4


def largest_of(web: Web, node: int, again: Recount, most: int) -> list[Path]:
    """The largest paths to a node."""

    def moves(state: int) -> list[Move]:
        return [(edge, web.users[edge]) for edge in web.above[state]]

    return largest(web, node, web.output, again.sums.best, moves, most)[0]


def how_often(path: Path, again: Recount) -> int:
    """How often a path counted: the rising sequences of visits of its nodes, the input being read last."""
    first, *others = path.nodes[:-1] or path.nodes
    ways = dict.fromkeys(again.visits.get(first, ()), 1)
    for node in others:
        arrived = iter([*ways.items()])
        following = next(arrived, None)
        sofar, here = 0, {}
        for at in again.visits.get(node, ()):
            while following is not None and following[0] < at:
                sofar += following[1]
                following = next(arrived, None)
            here[at] = sofar
        ways = here
    return sum(ways.values())


def survivor_outcome(
    web: Web, node: int, got: float, again: Recount, most: int, count: int
) -> Outcome:
    """Where contributions overwrite, one path is left: the others were lost on its way."""
    edges: list[int] = []
    clobbers: dict[int, int] = {}
    passed = again.last.get(node)
    while passed is not None:
        edges.append(passed.edge)
        clobbers[web.operands[passed.edge]] = web.users[passed.edge]
        passed = again.source[passed.visit]
    survivor = tuple(reversed(edges))
    left = count and int(count == 1 or bool(survivor))
    found = largest_of(web, node, again, most + 1) if count > left else []
    lost: list[Lost] = []
    for path in [path for path in found if path.edges != survivor][:most]:
        # Seen from the input, a path parts from the one that is left at the first edge that differs.
        pairs = zip(reversed(path.edges), edges, strict=False)
        same = next((at for at, (one, other) in enumerate(pairs) if one != other), len(edges))
        at = len(path.edges) - 1 - same
        lost.append(Lost(path, at, "overwritten", clobbers[path.nodes[at + 1]]))
    gone = total([web.grad(node), -got]) if count > left else 0.0
    rest = total([gone, *[-path.product for path, *_ in lost]]) if len(lost) < count - left else 0.0
    return Outcome(
        got, web.grad(node), Part(left, got), Part(count - left, gone), tuple(lost), rest,
        Part(0, 0.0), (),
    )  # fmt: skip
