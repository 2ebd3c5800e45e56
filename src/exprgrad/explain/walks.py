"""Walks along the edges of a run: the paths that make up its gradient, and visits in any order.

A path leads from the output to an input, edge by edge; its product is the product of the local
derivatives on it, and the products of all paths to an input sum to the input's grad.  There may be more
paths than atoms in the universe, so nothing here walks them all: counts, sums and bounds come from one
sweep over the edges, and ``largest_paths`` walks only the paths requested.

The visit-order lab is the reverse sweep in any order.  A visit passes the node's current grad, times
the local derivatives, on to its operands; the visit of an input reads its grad.  What arrives later is
lost.  So a path counts exactly when each node on it is visited after the node before it on the way from the
output, and what an order reads is the sum of the products of the paths that count.

Naive recursion visits a node again and again, and each time passes on all that has arrived so far.  So a
path counts as often as there are visits of its nodes, one after the other, of which each passed on what
the one before had contributed.

The right order visits a node after all its users.  The wrong ones follow the operands from the output
down and visit a node as soon as they meet it; they visit inner nodes only, as the code they stand for
does, for a leaf has nothing to pass on.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import deque
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from heapq import heappop, heappush
from itertools import accumulate, islice
from typing import Any, NamedTuple

from exprgrad.errors import RequestError, command_or_python, require_kind, whole_number
from exprgrad.explain.limits import LISTED_PATHS
from exprgrad.explain.places import resolve_node, to_scalar_run
from exprgrad.graph.graph import collect_by_key
from exprgrad.graph.ops import BY_NAME
from exprgrad.run.evaluation import SweptRun, adjoints_of
from exprgrad.run.numbers.sweeps import is_gated_edge
from exprgrad.source import Source, Span, comma_parts

__all__ = [
    "WRONG", "Contribution", "LostPath", "Outcome", "Path", "Paths", "VisitResult", "Web", "build_web",
    "check_path_count", "exact_sum", "list_paths", "multiply_magnitudes", "paths_to_input",
    "scaled_magnitude", "sweep_sums", "visit_in_order",
]  # fmt: skip

MOST_PATHS = 100_000
"""The most paths listed: they are kept in memory, and sorted."""
Size = tuple[float, float]
"""The size of a product, maybe beyond the doubles: exponent and mantissa, ordered as sizes are.

0 is ``(-inf, 0)``.  A product that is not finite is ``(inf, 0.5)``, above all others.
"""
ZERO: Size = (-math.inf, 0.0)
ENDLESS: Size = (math.inf, 0.5)


@dataclass(frozen=True, slots=True)
class Web:
    """The edges that passed a contribution on, in the order of the visits.

    ``inputs``   name → node: the differentiated inputs
    ``grads``    the sweep's grads, by node
    ``users``, ``positions``, ``operands``, ``locals``  an edge's ends and its local derivative
    ``above``    by visited node, the edges that lead to it from its users
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
        """The number of nodes visited."""
        return len(self.above)

    def grad(self, node: int) -> float:
        """Return a node's grad; 0 where none arrived."""
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

    ``count``     the exact number of paths
    ``gradient``  the sum of their products: the input's grad, by the sweep
    ``listed``    the paths with the largest products, the largest first
    ``rest``      the sum of the others' products
    """

    count: int
    gradient: float
    listed: tuple[Path, ...]
    rest: float


class PathSums(NamedTuple):
    """The result of one sweep over a web.

    ``carried``  the edges whose contributions were passed on; None: all of them
    ``counts``   by state, of inputs and other nodes without edges: the number of paths to it
    ``totals``   by state: the sum of these paths' products
    ``best``     by state: the size of the largest product

    State 2n is node n.  State 2n + 1 is node n with a contribution lost on the way to it.
    """

    carried: Container[int] | None
    counts: dict[int, int]
    totals: dict[int, float]
    best: dict[int, Size]

    def ways(self, web: Web, state: int) -> int:
        """Return the number of paths to an input's state."""
        return self.counts.get(state, 0) if state // 2 in web.above else 0


def build_web(run: SweptRun) -> Web:
    """Build the web of a run over numbers.  Raises ``RequestError`` for a forward run.

    Edges that pass nothing, such as those into a branch not taken, are left out.
    """
    adjoints, graph = adjoints_of(run, "paths"), run.graph
    web = Web(graph.output, {name: graph.inputs[name] for name in run.wrt or ()}, adjoints.grads)
    if adjoints.active[graph.output]:
        web.above[graph.output] = []
    for user in run.order:
        for position, local, _ in adjoints.passed(user):
            if local == 0 and is_gated_edge(BY_NAME[graph.kinds[user]], position):
                continue
            operand = graph.operands[user][position]
            web.above.setdefault(operand, []).append(len(web.users))
            web.users.append(user)
            web.positions.append(position)
            web.operands.append(operand)
            web.locals.append(local)
    return web


def list_paths(run: SweptRun, most: int = LISTED_PATHS) -> dict[str, Paths]:
    """Return the paths to each differentiated input, at most ``most`` of them listed.

    Raises ``RequestError`` for a forward run, too large tensors, and a ``most`` that is not a count.
    """
    web = build_web(to_scalar_run(run).run)
    found = sweep_sums(web)
    return {name: paths_to_input(web, found, name, check_path_count(most)) for name in web.inputs}


def check_path_count(most: object) -> int:
    """Return a number of paths to list; raise for anything else."""
    count = whole_number(most)
    if count is not None and count >= 0:
        if count <= MOST_PATHS:
            return count
        message = f"{count:,} paths to each input are more than can be listed"
        raise RequestError("too-many", message, help=f"ask for {MOST_PATHS:,} at most")
    message = f"cannot list {most!r} paths"
    raise RequestError("usage", message, help="a number of paths is a whole number, 0 or more")


def sweep_sums(web: Web, carried: Container[int] | None = None) -> PathSums:
    """Sweep once: every node passes on its count, its sum, and the size of its largest product.

    A count may have as many digits as there are nodes, so a node's count is freed once it has been
    passed on.
    """
    start = 2 * web.output
    counts, totals, best = {start: 1}, {start: 1.0}, {start: scaled_magnitude(1.0)}
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
            here, part = (
                multiply_magnitudes(best[start], scaled_magnitude(local)),
                totals[start] * local,
            )
            best[end] = max(best.get(end, here), here)
            totals[end] = totals[end] + part if end in totals else part
            counts[end] = counts.get(end, 0) + ways[above]
    return PathSums(carried, counts, totals, best)


def paths_to_input(web: Web, found: PathSums, name: str, most: int) -> Paths:
    """Return the paths to one input; those not listed are summed without walking them."""
    node = web.inputs[name]
    count = found.ways(web, 2 * node)
    if not count:
        return Paths(0, 0.0, (), 0.0)
    listed, left = largest_paths(web, found, 2 * node, most)
    rest = exact_sum(product * web.grad(state // 2) for state, product in left)
    return Paths(count, web.grad(node), tuple(listed), rest)


# Sizes.


def scaled_magnitude(value: float) -> Size:
    """Return the size of a number, without its sign."""
    if not math.isfinite(value):
        return ENDLESS
    mantissa, exponent = math.frexp(abs(value))
    return (exponent, mantissa) if mantissa else ZERO


def multiply_magnitudes(one: Size, other: Size) -> Size:
    """Multiply two sizes; the product never overflows."""
    exponent = one[0] + other[0]
    if not math.isfinite(exponent):
        return ENDLESS if math.inf in (one[0], other[0]) else ZERO
    mantissa, more = math.frexp(one[1] * other[1])
    return exponent + more, mantissa


def exact_sum(numbers: Iterable[float]) -> float:
    """Sum numbers with one rounding; nan and infinities add up as in Python."""
    listed = list(numbers)
    try:
        return math.fsum(listed)
    except (OverflowError, ValueError):
        return sum(listed)


# The largest paths.


def largest_paths(
    web: Web, found: PathSums, start: int, most: int
) -> tuple[list[Path], list[tuple[int, float]]]:
    """Find at most ``most`` of the largest paths, and what is left: states, each with a product.

    The search goes up from ``start``, an input's state, to the output's, and always takes the state whose
    largest path is the largest of all.  A state without a size is a dead end.  Every path that is not
    found goes through exactly one of the states left, from where it goes on to the input with the product
    given.

    A* search with a bound that is exact: the best way on from a state is as large as the state's own
    bound.  So each path takes as many steps as it has edges, however many others are equally large.
    In doubles two associations of a product may differ by its rounding; the bound is handed on along
    the best way rather than computed anew, for else such differences could have all ties walked.
    Products that differ by less than that rounding may come in either order.
    """
    heap = search_states(start, found.best)
    listed = sorted(islice(search_paths(web, found, heap), most), key=path_sort_key)
    return listed, [(entry[0], entry[2]) for *_, entry in heap]


def paths_by_size(web: Web, found: PathSums, node: int) -> Iterator[Path]:
    """Yield all paths to a node, the largest first."""
    return search_paths(web, found, search_states(2 * node, found.best))


def search_states(start: int, best: Mapping[int, Size]) -> list[Any]:
    """Make the heap that a search begins with: entries ordered by the size of their largest path."""
    if start not in best:
        return []
    exponent, mantissa = best[start]
    return [(-exponent, -mantissa, 0, (start, (1, 0.5), 1.0, -1, None))]


def search_paths(web: Web, found: PathSums, heap: list[Any]) -> Iterator[Path]:
    """Yield the paths of ``largest_paths`` one by one; the heap holds the states left."""
    serial, best = 0, found.best
    while heap:
        exponent, mantissa, _, entry = heappop(heap)
        state, below, product, _, _ = entry
        if state == 2 * web.output:
            yield path_of_entry(web, entry)
            continue
        for edge in web.above[state // 2]:
            is_lost = state % 2 and (found.carried is None or edge in found.carried)
            next_state = 2 * web.users[edge] + is_lost
            if next_state not in best:
                continue
            local = scaled_magnitude(web.locals[edge])
            onward = multiply_magnitudes(best[next_state], local)
            here = multiply_magnitudes(local, below)
            bound = (exponent, mantissa)
            if onward != best[state]:
                up, to = multiply_magnitudes(best[next_state], here)
                bound = max(bound, (-up, -to))
            serial -= 1
            further = (next_state, here, product * web.locals[edge], edge, entry)
            heappush(heap, (*bound, serial, further))


def path_sort_key(path: Path) -> tuple[bool, float, tuple[int, ...]]:
    """Key for sorting paths: those not finite first, then by size, then in the sweep's order."""
    finite = math.isfinite(path.product)
    return finite, -abs(path.product) if finite else 0.0, path.edges


def path_of_entry(web: Web, entry: Any) -> Path:
    """Return the path of a search's entry; its product is multiplied in the sweep's order."""
    edges = []
    while entry[4] is not None:
        edges.append(entry[3])
        entry = entry[4]
    nodes = [web.output, *[web.operands[edge] for edge in edges]]
    factors = [web.locals[edge] for edge in edges]
    return Path(tuple(nodes), tuple(edges), tuple(factors), math.prod(factors, start=1.0))


# Visits in any order.


class LostPath(NamedTuple):
    """A path that did not count.

    ``at``   where it was first lost: at the contribution of ``path.nodes[at]`` to the next node
    ``why``  ``late``: the next node had been visited by then; ``unvisited``: one of the two never was;
             ``overwritten``: by another contribution
    ``by``   the node to blame: visited too early, or never, or the one that overwrote it
    """

    path: Path
    at: int
    why: str
    by: int


class RepeatedPath(NamedTuple):
    """A path that counted more than once."""

    path: Path
    times: int


@dataclass(frozen=True, slots=True)
class Part:
    """A number of paths, and the sum of their products."""

    count: int
    sum: float


NONE = Part(0, 0.0)


class Outcome(NamedTuple):
    """The result of an order for one input.

    ``got``, ``true``  the grad that was read, and the reverse sweep's
    ``counted``   the paths that counted, each once
    ``lost``      the others; ``listed`` are the largest of them, and ``rest`` is the sum of all the rest
    ``again``     how often paths counted after the first time; ``repeated`` are the largest of them

    In real arithmetic lost + counted is true, and counted + again is got.
    """

    got: float
    true: float
    counted: Part
    lost: Part = NONE
    listed: tuple[LostPath, ...] = ()
    rest: float = 0.0
    again: Part = NONE
    repeated: tuple[RepeatedPath, ...] = ()

    @property
    def is_wrong(self) -> bool:
        """Whether a path was lost or counted again, even one worth 0."""
        return bool(self.lost.count or self.again.count)


class VisitResult(NamedTuple):
    """The result of a reverse sweep in some order.

    ``order``      the visits; only naive recursion visits a node more than once
    ``rule``       the name of the wrong order, if the user chose it by name
    ``accumulate``   ``add`` or ``set``
    ``inputs``     by input: the grad that was read, the true one, and the lost paths
    ``contributions``  all contributions passed, in order
    ``reads``      by input, the visit that read its grad, or None if it is read at the end
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
        """The grads read, by input."""
        return {name: found.got for name, found in self.inputs.items()}

    @property
    def true(self) -> dict[str, float]:
        """The grads of the right order: those of the reverse sweep, which ``gradient`` may correct."""
        return {name: found.true for name, found in self.inputs.items()}

    @property
    def wrong(self) -> list[str]:
        """The inputs with a path lost or counted again."""
        return [name for name, found in self.inputs.items() if found.is_wrong]

    @property
    def clobbered(self) -> list[Contribution]:
        """The contributions that overwrote another before it was passed on."""
        return [passed for passed in self.contributions if passed.replaced is not None]


def visit_in_order(
    run: SweptRun,
    order: str | Iterable[str | int] | None = None,
    accumulate: str = "add",
    *,
    most: int = LISTED_PATHS,
) -> VisitResult:
    """Run the reverse sweep in a given order, and find what is wrong with it.

    ``order`` is ``preorder``, ``bfs`` or ``naive``, or names or ids of nodes, once each, as a list or with
    commas between; None is the right order.  Constants need not be listed.  An input left out is read
    at the end; another node left out passes nothing on.  With ``accumulate="set"`` a contribution
    overwrites the grad.  Of the lost paths at most ``most`` are listed for each input.

    Raises ``RequestError`` for a forward run, too large tensors, an order that names no node or one twice,
    and naive recursion that would take too long.
    """
    if accumulate not in ("add", "set"):  # ``+=``, or the ``=`` of those who forget the ``+``
        raise RequestError(
            "usage",
            f"a contribution is not accumulated by '{accumulate}'",
            help="it is one of 'add' and 'set'",
        )
    run = to_scalar_run(run).run
    web = build_web(run)
    rule = order.strip() if isinstance(order, str) and order.strip() in WRONG else None
    visits = tuple(run.order) if order is None else parse_visits(run, order)
    sweep = simulate_sweep(web, visits, overwrite=accumulate == "set")
    if len({*visits}) == len(visits):
        inputs = single_visit_outcomes(web, sweep, most)
    elif accumulate == "add":
        inputs = recursion_outcomes(web, sweep, most)
    else:
        inputs = overwriting_outcomes(web, sweep, most)
    return VisitResult(visits, rule, accumulate, inputs, sweep.contributions, sweep.reads, web)


# Where each node is visited once.


def single_visit_outcomes(web: Web, sweep: OrderedSweep, most: int) -> dict[str, Outcome]:
    """Return the outcome for each input where each node is visited once."""
    late = {passed.edge for passed in sweep.contributions if passed.late}
    clobbers = {c.replaced: c.edge for c in sweep.contributions if c.replaced is not None}
    visited, found = {*sweep.visits}, sweep_sums(web, sweep.carried)

    def first_miss(path: Path) -> LostPath:
        """Where and why a path was lost first."""
        at = next(at for at, edge in enumerate(path.edges) if edge not in sweep.carried)
        edge = path.edges[at]
        user, operand = path.nodes[at : at + 2]
        if edge in late:
            return LostPath(path, at, "late", operand)
        if edge in clobbers:
            return LostPath(path, at, "overwritten", web.users[clobbers[edge]])
        return LostPath(path, at, "unvisited", operand if user in visited else user)

    outcomes = {}
    for name, node in web.inputs.items():
        every, gone = (found.ways(web, state) for state in (2 * node, 2 * node + 1))
        listed, left = largest_paths(web, found, 2 * node + 1, most) if gone else ([], [])
        rest = exact_sum(product * found.totals[state] for state, product in left)
        got, lost = sweep.got[name], Part(gone, found.totals.get(2 * node + 1) or 0.0)
        missed = tuple(map(first_miss, listed))
        outcomes[name] = Outcome(got, web.grad(node), Part(every - gone, got), lost, missed, rest)
    return outcomes


# Naive recursion.


def recursion_outcomes(web: Web, sweep: OrderedSweep, most: int) -> dict[str, Outcome]:
    """Return the outcome for each input where every visit passes on all that has arrived so far."""
    every, times = sweep_sums(web), {web.output: 1}
    for passed in sweep.contributions:
        user, operand = web.users[passed.edge], web.operands[passed.edge]
        times[operand] = times.get(operand, 0) + times.get(user, 0)
    visits = collect_by_key((node, at) for at, node in enumerate(sweep.visits))
    counted = cache(partial(count_path_uses, visits))

    outcomes = {}
    for name, node in web.inputs.items():
        got, true, count = sweep.got[name], web.grad(node), every.ways(web, 2 * node)
        beyond = times[node] - count if count else 0
        again = (
            RepeatedPath(path, counted(path.nodes)) for path in paths_by_size(web, every, node)
        )
        largest = islice((one for one in again if one.times > 1), most if beyond else 0)
        listed = tuple(sorted(largest, key=lambda one: path_sort_key(one.path)))
        more = Part(beyond, exact_sum([got, -true]) if beyond else 0.0)
        outcomes[name] = Outcome(got, true, Part(count, true), again=more, repeated=listed)
    return outcomes


def count_path_uses(visits: Mapping[int, Sequence[int]], nodes: tuple[int, ...]) -> int:
    """Count how often a path counted: the rising sequences of visits of its nodes, the input read last."""
    first, *others = nodes[:-1] or nodes
    ways = dict.fromkeys(visits.get(first, ()), 1)
    for node in others:
        before, sofar = [*ways], [0, *accumulate(ways.values())]
        ways = {at: sofar[bisect_left(before, at)] for at in visits.get(node, ())}
    return sum(ways.values())


def overwriting_outcomes(web: Web, sweep: OrderedSweep, most: int) -> dict[str, Outcome]:
    """Return the outcome for each input where contributions overwrite: one path is left.

    Contributions are given by number.
    """
    every, passed = sweep_sums(web), sweep.contributions
    last: dict[int, int] = {}  # by node: the contribution that it holds
    origin: list[int | None] = []  # by contribution: the one that its user held; None for the seed
    following: dict[int, int] = {}  # by contribution: the next one to the same node
    along: dict[int, list[int]] = {}  # by edge
    for number, (_, edge, *_) in enumerate(passed):
        user, operand = web.users[edge], web.operands[edge]
        origin.append(last.get(user))
        if operand in last:
            following[last[operand]] = number
        last[operand] = number
        along.setdefault(edge, []).append(number)

    def lost_on(path: Path) -> LostPath:
        """How far a path got before a contribution that carried it was overwritten, and by which node."""
        at, carried = 0, {*along[path.edges[0]]}
        for further, edge in enumerate(path.edges[1:], 1):
            onward = {number for number in along.get(edge, ()) if origin[number] in carried}
            if not onward:
                break
            at, carried = further, onward
        by = passed[following[max(carried)]]
        return LostPath(path, at, "overwritten", web.users[by.edge])

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
        others = (path for path in paths_by_size(web, every, node) if path.edges != survivor)
        listed = sorted(islice(others, most if count > left else 0), key=path_sort_key)
        lost = Part(count - left, exact_sum([true, -got]) if count > left else 0.0)
        unlisted = exact_sum([lost.sum, *[-path.product for path in listed]])
        rest = unlisted if len(listed) < lost.count else 0.0
        missed = tuple(map(lost_on, listed))
        outcomes[name] = Outcome(got, true, Part(left, got), lost, missed, rest)
    return outcomes


# The visits that are asked for, right or wrong, and what they pass on.

MOST_VISITS = 10_000
"""The most visits of naive recursion that are simulated; it makes one for each way to a node."""
WRONG = ("preorder", "bfs", "naive")
"""The wrong orders: depth first, each node when it is met first; the same level by level; and depth first
without a set of visited nodes, each node once for each way that leads to it."""


def wrong_order(run: SweptRun, name: str) -> list[int]:
    """Return the visits of a wrong order; raises ``RequestError`` if naive recursion makes too many."""
    if name == "naive":
        refuse_long_recursion(run)
    seen: set[int] = set()
    order: list[int] = []
    todo = deque(differentiated_operations(run, [run.graph.output]))
    while todo:
        node = todo.popleft() if name == "bfs" else todo.pop()
        if node in seen and name != "naive":
            continue
        seen.add(node)
        order.append(node)
        below = differentiated_operations(run, run.graph.operands[node])
        todo += below if name == "bfs" else reversed(below)
    return order


def refuse_long_recursion(run: SweptRun) -> None:
    """Refuse naive recursion whose visits are too many to simulate."""
    ways = [0] * len(run.graph)
    ways[run.graph.output] = 1
    visits = 0
    for node in run.order:
        if ways[node] and differentiated_operations(run, [node]):
            visits += ways[node]
            for operand in run.graph.operands[node]:
                ways[operand] += ways[node]
            ways[node] = 0
    if visits > MOST_VISITS:
        power = (visits.bit_length() - 1) * 30103 // 100000
        many = f"{visits:,}" if visits < 10**18 else f"more than 10^{power}"
        raise RequestError(
            "too-many",
            f"naive recursion would make {many} visits here, one for each way to a node",
            help=f"it is simulated up to {MOST_VISITS:,} visits; preorder and bfs visit each node once",
        )


def differentiated_operations(run: SweptRun, nodes: Iterable[int]) -> list[int]:
    """Select the nodes that pass something on: differentiated operations."""
    active, operands = adjoints_of(run, "orders").active, run.graph.operands
    return [node for node in nodes if active[node] and operands[node]]


def parse_visits(run: SweptRun, order: str | Iterable[str | int]) -> tuple[int, ...]:
    """Parse the visits requested: a wrong order by its name, or nodes by name or id.

    Raises ``RequestError``, with the place in the text, for a word that is no node or is there twice.
    """
    if isinstance(order, str):
        if order.strip() in WRONG:
            return tuple(wrong_order(run, order.strip()))
        listed = list(split_order(order))
    else:
        require_kind(order, Iterable, "an order is a string, or a list of names and ids of nodes")
        listed = [(Source(str(item), is_expression=False), (0, len(str(item)))) for item in order]
    found: dict[int, str] = {}
    for source, span in listed:
        written = source.text[slice(*span)]
        node = resolve_visit(run, source, span)
        if node in found:
            message = f"'{written}' is visited twice"
            if found[node] != written:
                message = f"'{written}' is the node that '{found[node]}' is: it is visited twice"
            naive = command_or_python("--order naive", "'naive'")
            raise RequestError(
                "given-twice",
                message,
                source=source,
                span=span,
                help=f"each node is visited once; {naive} visits nodes again and again",
            )
        found[node] = written
    return tuple(found)


def split_order(order: str) -> Iterator[tuple[Source, Span]]:
    """Split a text at its commas, but not at that of ``X[0, 1]``."""
    source = Source(order, is_expression=False)
    for start, end in comma_parts(order):
        part = order[start:end]
        if not part.strip():
            example = command_or_python("--order d,c,a,b", "'d,c,a,b'")
            raise RequestError(
                "usage",
                "a node is missing",
                source=source,
                span=(start, max(end, start + 1)),
                help=f"names or ids of nodes are separated by commas: {example}",
            )
        yield source, (end - len(part.lstrip()), start + len(part.rstrip()))


def resolve_visit(run: SweptRun, source: Source, span: Span) -> int:
    """Resolve a part of a text to a node to visit."""
    written = source.text[slice(*span)]
    if written in WRONG and written not in {*run.names.values(), *run.graph.inputs}:
        message = f"'{written}' is an order, not a node"
        raise RequestError(
            "unknown-node", message, source=source, span=span, help=f"it is given alone: {written}"
        )
    if written in run.graph.symbols.values():
        message = f"'{written}' is a constant, which is not visited"
        raise RequestError(
            "unknown-node", message, source=source, span=span, help="it need not be listed"
        )
    return resolve_node(run, source, span, WRONG)


class Contribution(NamedTuple):
    """One visit's contribution to one operand.

    ``visit``   the number of the visit, from 0
    ``edge``    the edge of the web
    ``grad``    the user's grad at that visit
    ``value``   the contribution: the grad times the local derivative
    ``before``, ``after``  the operand's grad, before and after
    ``late``    whether the operand's last visit was earlier, so that this is lost
    ``replaced``  the edge whose contribution this one overwrote too early; else None
    """

    visit: int
    edge: int
    grad: float
    value: float
    before: float
    after: float
    late: bool
    replaced: int | None


class OrderedSweep(NamedTuple):
    """A reverse sweep in some order.

    ``visits``   the nodes, in that order
    ``contributions``  all contributions, in order
    ``got``      the grad read, by input
    ``reads``    by input: the visit that read it; None for one that is read at the end
    ``carried``  the edges whose contributions were passed on
    """

    visits: tuple[int, ...]
    contributions: list[Contribution]
    got: dict[str, float]
    reads: dict[str, int | None]
    carried: set[int]


def simulate_sweep(web: Web, visits: tuple[int, ...], *, overwrite: bool) -> OrderedSweep:
    """Run the sweep that visits some nodes in turn; grads begin at 0, the output's at 1."""
    below = collect_by_key((user, edge) for edge, user in enumerate(web.users))
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
    return OrderedSweep(visits, passed, got, reads, carried)
