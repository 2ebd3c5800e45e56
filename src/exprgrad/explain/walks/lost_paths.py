"""Which paths an order of visits lost, where each node is visited once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from exprgrad.explain.walks.contributions import Contribution
from exprgrad.explain.walks.paths import counts
from exprgrad.explain.walks.web import Move, Path, Size, Web, largest, size, times, total

__all__ = ["Kept", "Lost", "Outcome", "Part", "Repeated", "outcome", "tally"]


class Lost(NamedTuple):
    """A path that did not count.

    ``at``   where on it that happened first: the contribution of ``path.nodes[at]`` to the next node
    ``why``  ``late``: the next node had been visited by then; ``unvisited``: one of the two never was;
             ``overwritten``: by another contribution
    ``by``   the node that is to blame: that was visited too early, or never, or that overwrote it
    """

    path: Path
    at: int
    why: str
    by: int


class Repeated(NamedTuple):
    """A path that counted more than once."""

    path: Path
    times: int


@dataclass(frozen=True, slots=True)
class Part:
    """So many paths, and what their products sum to."""

    count: int
    sum: float


class Outcome(NamedTuple):
    """What an order read for one input.

    ``got``, ``true``  the grad that was read, and the one of the reverse sweep
    ``counted``   the paths that counted, each once
    ``lost``      the others; ``listed`` are the largest of them, and ``rest`` is what all but those sum to
    ``again``     how often paths counted beyond the first time; ``repeated`` are the largest of them

    In real arithmetic lost + counted is true, and counted + again is got.
    """

    got: float
    true: float
    counted: Part
    lost: Part
    listed: tuple[Lost, ...]
    rest: float
    again: Part
    repeated: tuple[Repeated, ...]

    @property
    def is_wrong(self) -> bool:
        """Whether a path was lost or counted again, be it one worth 0."""
        return bool(self.lost.count or self.again.count)


class Kept(NamedTuple):
    """What one sweep finds about an order that visits each node once.

    ``visited``  the nodes that were visited
    ``late``, ``clobbers``, ``carried``  the edges whose contribution came too late; those that were
                 overwritten, each with the edge that did it; and those whose contribution went on
    ``sums``     by node: what the products of the paths from the output to it sum to, that counted and
                 that were lost; None where there are none
    ``ways``     by input: how many paths counted; ``all_ways``: how many there are
    ``best``     by state: the size of the largest product, as ``largest`` wants it.  State 2n is node n;
                 2n + 1 is node n, with a contribution lost on the way to it
    """

    visited: set[int]
    late: set[int]
    clobbers: dict[int, int]
    carried: set[int]
    sums: dict[int, tuple[float | None, float | None]]
    ways: dict[int, int]
    all_ways: dict[int, int]
    best: dict[int, Size]


def tally(
    web: Web, contributions: Sequence[Contribution], visits: Sequence[int], carried: set[int]
) -> Kept:
    """What became of every edge, and sums over the paths that counted and that were lost."""
    late = {passed.edge for passed in contributions if passed.late}
    clobbers = {c.replaced: c.edge for c in contributions if c.replaced is not None}
    every = range(len(web.users))
    best: dict[int, Size] = {2 * web.output: size(1.0)}
    sums: dict[int, tuple[float | None, float | None]] = {web.output: (1.0, None)}
    for edge in every:
        user, operand, local = web.users[edge], web.operands[edge], web.locals[edge]
        for above, below in ((0, 0), (1, 1)) if edge in carried else ((0, 0), (0, 1), (1, 1)):
            if 2 * user + above in best:
                here = times(best[2 * user + above], size(local))
                state = 2 * operand + below
                best[state] = max(best.get(state, here), here)
        counted, lost = sums[user]
        if edge not in carried:
            counted, lost = None, plus(counted, lost)
        had = sums.get(operand, (None, None))
        more = [None if part is None else part * local for part in (counted, lost)]
        sums[operand] = plus(had[0], more[0]), plus(had[1], more[1])
    ways = counts(web, [edge for edge in every if edge in carried])
    return Kept({*visits}, late, clobbers, carried, sums, ways, counts(web, every), best)


def plus(one: float | None, other: float | None) -> float | None:
    """A sum of what is there."""
    if one is None or other is None:
        return other if one is None else one
    return one + other


def outcome(web: Web, node: int, got: float, kept: Kept, most: int) -> Outcome:
    """What became of one input in an order that visits each node once."""
    every = kept.all_ways.get(node, 0) if node in web.above else 0
    count = kept.ways.get(node, 0) if every else 0
    _, lost = kept.sums.get(node, (None, None))

    def moves(state: int) -> list[Move]:
        found = []
        for edge in web.above[state // 2]:
            above = state % 2 and edge in kept.carried
            found.append((edge, 2 * web.users[edge] + above))
        return found

    listed: list[Lost] = []
    rest = 0.0
    if every > count:
        found, left = largest(web, 2 * node + 1, 2 * web.output, kept.best, moves, most)
        listed = [first_miss(web, path, kept) for path in found]
        rest = total(product * sum_at(state, kept) for state, product in left)
    return Outcome(
        got, web.grad(node), Part(count, got), Part(every - count, lost or 0.0), tuple(listed), rest,
        Part(0, 0.0), (),
    )  # fmt: skip


def sum_at(state: int, kept: Kept) -> float:
    """What the products of the paths to a state sum to: of all to its node, or of the lost ones."""
    counted, lost = kept.sums[state // 2]
    return (lost if state % 2 else plus(counted, lost)) or 0.0


def first_miss(web: Web, path: Path, kept: Kept) -> Lost:
    """Where and why a path was lost first."""
    at = next(at for at, edge in enumerate(path.edges) if edge not in kept.carried)
    edge = path.edges[at]
    user, operand = path.nodes[at : at + 2]
    if edge in kept.late:
        return Lost(path, at, "late", operand)
    if edge in kept.clobbers:
        return Lost(path, at, "overwritten", web.users[kept.clobbers[edge]])
    return Lost(path, at, "unvisited", operand if user in kept.visited else user)
