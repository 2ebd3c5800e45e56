"""Naive recursion visits a node again and again, and each time passes on all that has arrived so far.

So a path counts as often as there are visits of its nodes, one after the other, of which each passed on
what the one before had contributed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from exprgrad.explain.walks.contributions import Contribution
from exprgrad.explain.walks.lost_paths import Lost, Outcome, Part, Repeated
from exprgrad.explain.walks.paths import Sums, sums
from exprgrad.explain.walks.web import Path, Web, by_size, order_of, total

__all__ = ["Recount", "recount", "repeated_outcome"]


class Recount(NamedTuple):
    """What one pass over the contributions finds.

    ``sums``      counts and sizes of all paths
    ``visits``    by node: its visits
    ``times``     by node: how often paths to it counted, all together; None where contributions overwrite
    ``last``      by node: the contribution that it holds at the end
    ``source``    by visit: the contribution that its node held; None where that was nothing, or the seed
    ``passed``    by edge: its contributions
    ``following`` by contribution, as visit and edge: the next one to the same node
    """

    sums: Sums
    visits: dict[int, list[int]]
    times: dict[int, int] | None
    last: dict[int, Contribution]
    source: list[Contribution | None]
    passed: dict[int, list[Contribution]]
    following: dict[tuple[int, int], Contribution]


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
    along: dict[int, list[Contribution]] = {}
    following: dict[tuple[int, int], Contribution] = {}
    for passed in contributions:
        user, operand = web.users[passed.edge], web.operands[passed.edge]
        while len(source) <= passed.visit:
            source.append(last.get(visits[len(source)]))
        times[operand] = times.get(operand, 0) + times.get(user, 0)
        if operand in last:
            following[last[operand].visit, last[operand].edge] = passed
        last[operand] = passed
        along.setdefault(passed.edge, []).append(passed)
    counted = None if overwrite else times
    return Recount(sums(web), by_node, counted, last, source, along, following)


def repeated_outcome(web: Web, node: int, got: float, again: Recount, most: int) -> Outcome:
    """What became of one input under naive recursion."""
    count = again.sums.counts.get(node, 0) if node in web.above else 0
    true = web.grad(node)
    if again.times is None:
        return survivor_outcome(web, node, got, again, most, count)
    beyond = again.times[node] - count if count else 0
    listed = repeated(web, node, again, most) if beyond else []
    return Outcome(
        got, true, Part(count, true), Part(0, 0.0), (), 0.0,
        Part(beyond, total([got, -true]) if beyond else 0.0), tuple(listed),
    )  # fmt: skip


def repeated(web: Web, node: int, again: Recount, most: int) -> list[Repeated]:
    """The largest paths that counted more than once; smaller ones are looked at as far as it takes."""
    counted: dict[tuple[int, ...], int] = {}

    def looked_at() -> Iterator[Repeated]:
        for path in by_size(web, node, again.sums.best):
            if path.nodes not in counted:
                counted[path.nodes] = how_often(path, again)
            if counted[path.nodes] > 1:
                yield Repeated(path, counted[path.nodes])

    return sorted(islice(looked_at(), most), key=lambda found: order_of(found.path))


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
    passed = again.last.get(node)
    while passed is not None:
        edges.append(passed.edge)
        passed = again.source[passed.visit]
    survivor = tuple(reversed(edges))
    left = count and int(count == 1 or bool(survivor))
    others = (p for p in by_size(web, node, again.sums.best) if p.edges != survivor)
    largest = sorted(islice(others, most if count > left else 0), key=order_of)
    lost = [overwritten(web, path, again) for path in largest]
    gone = total([web.grad(node), -got]) if count > left else 0.0
    rest = total([gone, *[-path.product for path, *_ in lost]]) if len(lost) < count - left else 0.0
    return Outcome(
        got, web.grad(node), Part(left, got), Part(count - left, gone), tuple(lost), rest,
        Part(0, 0.0), (),
    )  # fmt: skip


def overwritten(web: Web, path: Path, again: Recount) -> Lost:
    """How far a path got before a contribution that carried it was overwritten, and by which node."""
    at, carried = 0, again.passed[path.edges[0]]
    for further, edge in enumerate(path.edges[1:], 1):
        held = {(passed.visit, passed.edge) for passed in carried}
        following = [
            passed
            for passed in again.passed.get(edge, ())
            if (source := again.source[passed.visit]) and (source.visit, source.edge) in held
        ]
        if not following:
            break
        at, carried = further, following
    by = again.following[carried[-1].visit, carried[-1].edge]
    return Lost(path, at, "overwritten", web.users[by.edge])
