"""How a gradient is made up of paths: how many there are, and which contribute most.

The chain rule sums over all paths from the output to an input, and their number grows exponentially;
the reverse sweep adds them all up while it visits each node once.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from exprgrad.errors import RequestError
from exprgrad.explain.limits import LISTED_PATHS
from exprgrad.explain.walks.web import Path, Size, Web, largest, size, times, total, web_of
from exprgrad.run.result import Run

__all__ = ["Paths", "Sums", "counts", "paths", "paths_to", "sums", "whole"]

MOST_LISTED = 100_000
"""The most paths that are listed: they are kept in memory, and sorted."""


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
    """What one sweep over a web finds: the count of paths by node, and the size of the largest."""

    counts: dict[int, int]
    best: dict[int, Size]

    def to(self, web: Web, name: str) -> int:
        """The number of paths to an input."""
        node = web.inputs[name]
        return self.counts.get(node, 0) if node in web.above else 0


def paths(run: Run, most: int = LISTED_PATHS) -> dict[str, Paths]:
    """The paths to each differentiated input, at most so many of them listed.

    Raises ``RequestError`` for a forward run, one of tensors, and a ``most`` that is not a count.
    """
    web = web_of(run)
    found = sums(web)
    return {name: paths_to(web, found, name, whole(most)) for name in web.inputs}


def whole(most: object) -> int:
    """A number of paths to list; an error for what is not one."""
    if isinstance(most, int) and not isinstance(most, bool) and most >= 0:
        if most <= MOST_LISTED:
            return most
        message = f"{most:,} paths to each input are more than can be listed"
        raise RequestError("too-many", message, help=f"ask for {MOST_LISTED:,} at most")
    message = f"cannot list {most!r} paths"
    raise RequestError("usage", message, help="a number of paths is a whole number, 0 or more")


def sums(web: Web) -> Sums:
    """The one sweep: every node passes on its count, and the size of its largest product."""
    return Sums(counts(web, range(len(web.users))), largest_sizes(web))


def counts(web: Web, edges: Iterable[int]) -> dict[int, int]:
    """By input, and other nodes without edges: the number of paths along some edges, in their order.

    A count may have as many digits as there are nodes, so a node's own is let go when it has been
    passed on.
    """
    ways = {web.output: 1}
    count, before = 1, -1
    for edge in edges:
        user = web.users[edge]
        if user != before:
            count, before = ways.pop(user, 0), user
        if count:
            operand = web.operands[edge]
            ways[operand] = ways.get(operand, 0) + count
    return ways


def largest_sizes(web: Web) -> dict[int, Size]:
    """By node: the size of the largest product from the output to it."""
    best = {web.output: size(1.0)}
    for user, operand, local in zip(web.users, web.operands, web.locals, strict=True):
        here = times(best[user], size(local))
        if operand not in best or here > best[operand]:
            best[operand] = here
    return best


def paths_to(web: Web, found: Sums, name: str, most: int) -> Paths:
    """The paths to one input; what is not listed is summed without walking it."""
    node = web.inputs[name]
    count = found.to(web, name)
    if not count:
        return Paths(0, 0.0, (), 0.0)
    listed, left = largest(web, node, web.output, found.best, web.moves, most)
    rest = total(product * web.grad(state) for state, product in left)
    return Paths(count, web.grad(node), tuple(listed), rest)
