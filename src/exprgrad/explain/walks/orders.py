"""The visit-order lab: the reverse sweep in any order, and which paths that loses.

A visit passes the grad that a node has then, times the local derivatives, on to its operands; the visit
of an input reads its grad off.  What arrives later is lost.  So a path counts exactly when each node on
it is visited after the node before it on the way from the output, and what an order reads is the sum of
the products of the paths that count.

Naive recursion visits a node again and again, and each time passes on all that has arrived so far.  So a
path counts as often as there are visits of its nodes, one after the other, of which each passed on what
the one before had contributed.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from itertools import accumulate, islice
from typing import NamedTuple

from exprgrad.errors import RequestError
from exprgrad.explain.limits import LISTED_PATHS
from exprgrad.explain.places import in_numbers
from exprgrad.explain.walks.paths import (
    Path,
    Web,
    by_size,
    exact_total,
    largest,
    order_of,
    sums,
    web_of,
)
from exprgrad.explain.walks.visits import WRONG, Contribution, Sweep, simulate, wanted
from exprgrad.run.evaluation import Run

__all__ = ["Lost", "Outcome", "Part", "Repeated", "Visited", "visit"]

ACCUMULATE = ("add", "set")
"""What a contribution does to a grad: ``+=``, or the ``=`` of those who forget the ``+``."""


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


NONE = Part(0, 0.0)


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
    lost: Part = NONE
    listed: tuple[Lost, ...] = ()
    rest: float = 0.0
    again: Part = NONE
    repeated: tuple[Repeated, ...] = ()

    @property
    def is_wrong(self) -> bool:
        """Whether a path was lost or counted again, be it one worth 0."""
        return bool(self.lost.count or self.again.count)


class Visited(NamedTuple):
    """What a reverse sweep in some order finds.

    ``order``      the visits; a node stands in it more than once for naive recursion alone
    ``rule``       the name of a wrong order, if it was asked for by that
    ``accumulate``   ``add`` or ``set``
    ``inputs``     by input: what it got, the true grad, and the paths that were lost
    ``contributions``  all that was passed, in order
    ``reads``      by input: the visit that read its grad off; None for one that is read at the end
    ``web``        the edges
    """

    order: tuple[int, ...]
    rule: str | None
    accumulate: str
    inputs: dict[str, Outcome]
    contributions: list[Contribution]
    reads: dict[str, int | None]
    web: Web

    @property
    def got(self) -> dict[str, float]:
        """The grads that were read, by input."""
        return {name: found.got for name, found in self.inputs.items()}

    @property
    def true(self) -> dict[str, float]:
        """The grads of the right order: those of the reverse sweep, which ``gradient`` may correct."""
        return {name: found.true for name, found in self.inputs.items()}

    @property
    def wrong(self) -> list[str]:
        """The inputs to which a path was lost, or counted again."""
        return [name for name, found in self.inputs.items() if found.is_wrong]

    @property
    def clobbered(self) -> list[Contribution]:
        """The contributions that overwrote another one before it was passed on."""
        return [passed for passed in self.contributions if passed.replaced is not None]


def visit(
    run: Run,
    order: str | Iterable[str | int] | None = None,
    accumulate: str = "add",
    *,
    most: int = LISTED_PATHS,
) -> Visited:
    """The reverse sweep in a given order, and what is wrong with it.

    ``order`` is ``preorder``, ``bfs`` or ``naive``, or names or ids of nodes, once each, as a list or with
    commas between; None is the right order.  Constants need not be listed.  An input left out is read
    at the end; another node left out passes nothing on.  With ``accumulate="set"`` a contribution
    overwrites the grad.  Of the paths that were lost, ``most`` are listed for each input.

    Raises ``RequestError`` for a forward run, too large tensors, an order that names no node or one twice,
    and naive recursion that would take too long.
    """
    if accumulate not in ACCUMULATE:
        message = f"a contribution is not accumulated by '{accumulate}'"
        raise RequestError("usage", message, help="it is one of 'add' and 'set'")
    run = in_numbers(run).run
    web = web_of(run)
    rule = order.strip() if isinstance(order, str) and order.strip() in WRONG else None
    visits = tuple(run.order) if order is None else wanted(run, order)
    sweep = simulate(web, visits, overwrite=accumulate == "set")
    if len({*visits}) == len(visits):
        inputs = outcomes(web, sweep, most)
    elif accumulate == "add":
        inputs = outcomes_again(web, sweep, most)
    else:
        inputs = outcomes_overwritten(web, sweep, most)
    return Visited(visits, rule, accumulate, inputs, sweep.contributions, sweep.reads, web)


# Where each node is visited once.


def outcomes(web: Web, sweep: Sweep, most: int) -> dict[str, Outcome]:
    """What became of each input."""
    late = {passed.edge for passed in sweep.contributions if passed.late}
    clobbers = {c.replaced: c.edge for c in sweep.contributions if c.replaced is not None}
    visited, found = {*sweep.visits}, sums(web, sweep.carried)

    def first_miss(path: Path) -> Lost:
        """Where and why a path was lost first."""
        at = next(at for at, edge in enumerate(path.edges) if edge not in sweep.carried)
        edge = path.edges[at]
        user, operand = path.nodes[at : at + 2]
        if edge in late:
            return Lost(path, at, "late", operand)
        if edge in clobbers:
            return Lost(path, at, "overwritten", web.users[clobbers[edge]])
        return Lost(path, at, "unvisited", operand if user in visited else user)

    outcomes = {}
    for name, node in web.inputs.items():
        every, gone = (found.ways(web, state) for state in (2 * node, 2 * node + 1))
        listed, left = largest(web, found, 2 * node + 1, most) if gone else ([], [])
        rest = exact_total(product * found.totals[state] for state, product in left)
        got, lost = sweep.got[name], Part(gone, found.totals.get(2 * node + 1) or 0.0)
        missed = tuple(map(first_miss, listed))
        outcomes[name] = Outcome(got, web.grad(node), Part(every - gone, got), lost, missed, rest)
    return outcomes


# Naive recursion.


def outcomes_again(web: Web, sweep: Sweep, most: int) -> dict[str, Outcome]:
    """What became of each input where every visit passes on all that has arrived so far."""
    every, times = sums(web), {web.output: 1}
    for passed in sweep.contributions:
        user, operand = web.users[passed.edge], web.operands[passed.edge]
        times[operand] = times.get(operand, 0) + times.get(user, 0)
    visits: dict[int, list[int]] = {}
    for at, node in enumerate(sweep.visits):
        visits.setdefault(node, []).append(at)
    counted = cache(partial(how_often, visits))

    outcomes = {}
    for name, node in web.inputs.items():
        got, true, count = sweep.got[name], web.grad(node), every.ways(web, 2 * node)
        beyond = times[node] - count if count else 0
        again = (Repeated(path, counted(path.nodes)) for path in by_size(web, every, node))
        largest = islice((one for one in again if one.times > 1), most if beyond else 0)
        listed = tuple(sorted(largest, key=lambda one: order_of(one.path)))
        more = Part(beyond, exact_total([got, -true]) if beyond else 0.0)
        outcomes[name] = Outcome(got, true, Part(count, true), again=more, repeated=listed)
    return outcomes


def how_often(visits: Mapping[int, Sequence[int]], nodes: tuple[int, ...]) -> int:
    """How often a path counted: the rising sequences of visits of its nodes, the input being read last."""
    first, *others = nodes[:-1] or nodes
    ways = dict.fromkeys(visits.get(first, ()), 1)
    for node in others:
        before, sofar = [*ways], [0, *accumulate(ways.values())]
        ways = {at: sofar[bisect_left(before, at)] for at in visits.get(node, ())}
    return sum(ways.values())


def outcomes_overwritten(web: Web, sweep: Sweep, most: int) -> dict[str, Outcome]:
    """What became of each input where contributions overwrite: one path is left, the others were lost.

    Contributions go by their numbers.
    """
    every, passed = sums(web), sweep.contributions
    last: dict[int, int] = {}  # by node: the contribution that it holds
    origin: list[int | None] = []  # by contribution: the one that its user held, but for the seed
    following: dict[int, int] = {}  # by contribution: the next one to the same node
    along: dict[int, list[int]] = {}  # by edge
    for number, (_, edge, *_) in enumerate(passed):
        user, operand = web.users[edge], web.operands[edge]
        origin.append(last.get(user))
        if operand in last:
            following[last[operand]] = number
        last[operand] = number
        along.setdefault(edge, []).append(number)

    def lost_on(path: Path) -> Lost:
        """How far a path got before a contribution that carried it was overwritten, and by which node."""
        at, carried = 0, {*along[path.edges[0]]}
        for further, edge in enumerate(path.edges[1:], 1):
            onward = {number for number in along.get(edge, ()) if origin[number] in carried}
            if not onward:
                break
            at, carried = further, onward
        by = passed[following[max(carried)]]
        return Lost(path, at, "overwritten", web.users[by.edge])

    outcomes = {}
    for name, node in web.inputs.items():
        got, true, count = sweep.got[name], web.grad(node), every.ways(web, 2 * node)
        edges: list[int] = []
        held = last.get(node)
        while held is not None:
            edges.append(passed[held].edge)
            held = origin[held]
        survivor = tuple(reversed(edges))
        left = count and int(count == 1 or bool(survivor))
        others = (path for path in by_size(web, every, node) if path.edges != survivor)
        listed = sorted(islice(others, most if count > left else 0), key=order_of)
        lost = Part(count - left, exact_total([true, -got]) if count > left else 0.0)
        unlisted = exact_total([lost.sum, *[-path.product for path in listed]])
        rest = unlisted if len(listed) < lost.count else 0.0
        missed = tuple(map(lost_on, listed))
        outcomes[name] = Outcome(got, true, Part(left, got), lost, missed, rest)
    return outcomes
