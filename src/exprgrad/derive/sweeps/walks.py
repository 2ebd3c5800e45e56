"""The two sweeps over nodes: the walks of ``run.numbers.sweeps``, with a graph's nodes for numbers.

In reverse users come before operands, each passes its adjoint times a local derivative to every active
operand, and what arrives is summed.  A branch that a ``where`` did not take passes nothing, not even 0
times infinity; so an adjoint carries the condition under which anything arrives at all, and becomes
``where(condition, …, 0)``, the products inside, where it meets others or ends.

Forward each node's tangent comes from its operands' tangents.  In a masked sweep what does not move passes
nothing, not even 0 times infinity: a tangent carries the condition under which anything moves, number by
number, and the products are made inside of it.  The condition goes along where numbers are moved about or
added up; a product of matrices mixes them, and ends it.
"""

from __future__ import annotations

from collections.abc import Collection, Container, Iterable, Iterator, Mapping
from heapq import heapify, heappop, heappush
from typing import NamedTuple

from exprgrad.derive.build import Builder
from exprgrad.derive.rules import shown
from exprgrad.derive.sweeps.local import Edge, Source
from exprgrad.graph.structural import Structural

__all__ = ["pull_back", "push_forward"]


class Adjoint(NamedTuple):
    """``value`` where the node ``mask`` is not 0, else nothing; with no mask, ``value`` always.

    ``is_settled``: the value is 0 where nothing arrives, as it is when it comes out of a sum.
    """

    value: int
    mask: int | None
    is_settled: bool = False


def pull_back(
    source: Source,
    seeds: Mapping[int, int],
    wrt: Collection[int],
    active: Collection[int],
    *,
    masked: bool = False,
    masks: dict[int, int] | None = None,
) -> dict[int, int]:
    """The adjoints of the nodes ``wrt``, given those of the outputs; 0 is left out.

    ``seeds`` maps nodes of the source's graph to the builder's, as the answer does; ``active`` are the
    nodes that ``wrt`` reaches (see ``active_from``), the only ones that are visited.  With ``masked`` a
    number whose seed is 0 passes nothing.  ``masks`` takes down under which
    conditions adjoints arrive, where there are any.
    """
    builder = source.builder
    arrived = {
        node: [seeded(builder, seed, masked)] for node, seed in seeds.items() if node in active
    }
    queue = [-node for node in arrived]
    heapify(queue)
    found: dict[int, int] = {}
    while queue:
        user = -heappop(queue)
        adjoint = total(builder, arrived.pop(user), ascending=source.rule is shown)
        if user in wrt:
            found[user] = settled(builder, adjoint)
            if masks is not None and adjoint.mask is not None:
                masks[user] = adjoint.mask
        for operand, passed in contributions(source, user, adjoint, active):
            if operand not in arrived:
                arrived[operand] = []
                heappush(queue, -operand)
            arrived[operand].append(passed)
    return found


def seeded(builder: Builder, seed: int, masked: bool) -> Adjoint:
    """What a sweep begins with; where it is ``masked``, a seed of 0 passes nothing."""
    return Adjoint(seed, builder.apply("ne", seed, builder.constant(0.0)) if masked else None, True)


def contributions(
    source: Source, user: int, adjoint: Adjoint, active: Container[int]
) -> Iterable[tuple[int, Adjoint]]:
    """What a node passes on to each of its active operands."""
    builder = source.builder
    signs = source.signs(user)
    if signs:  # a sum passes on what arrives
        builder.derive_from(source.graph, user)
        return [
            (operand, adjoint if sign > 0 else negative(builder, adjoint))
            for sign, operand in zip(signs, source.graph.operands[user], strict=True)
            if operand in active
        ]
    row = source.structural(user)
    if row is not None:
        return moved(source, row, user, adjoint, active)
    each = [
        (operand, contribution(builder, adjoint, local, is_branch=is_branch))
        for operand, local, is_branch in source.edges(user, active)
    ]
    return [(operand, passed) for operand, passed in each if passed is not None]


def moved(
    source: Source, row: Structural, user: int, adjoint: Adjoint, active: Container[int]
) -> Iterator[tuple[int, Adjoint]]:
    """The same of a structural node."""
    builder = source.builder
    value = settled(builder, adjoint)
    for operand, passed, position in source.pulled(row, user, value, active):
        mask = adjoint.mask
        if mask is None and row.picks and source.rule is not shown:
            mask = builder.constant(1.0)
        if mask is not None and source.graph.operands[operand]:
            mask = source.pulled_mask(row, user, position, mask)
            yield operand, Adjoint(passed, mask, True)
        else:  # an input has no local derivatives that the mask could keep out
            yield operand, Adjoint(passed, None)


def contribution(
    builder: Builder, adjoint: Adjoint, local: int, *, is_branch: bool
) -> Adjoint | None:
    """What an edge passes on; None where it can pass nothing."""
    if not is_branch:
        harmless = builder.value(local) in (1, -1)
        value = builder.apply("mul", adjoint.value, local)
        return Adjoint(value, adjoint.mask, adjoint.is_settled and harmless)
    mask = local
    if adjoint.mask is not None:
        mask = builder.apply("where", adjoint.mask, local, builder.constant(0.0))
    return arriving(builder, adjoint.value, mask)


def negative(builder: Builder, adjoint: Adjoint) -> Adjoint:
    """An adjoint with its sign flipped."""
    return adjoint._replace(value=builder.apply("neg", adjoint.value))


def arriving(builder: Builder, value: int, mask: int) -> Adjoint | None:
    """An adjoint under a condition, which may turn out to be known."""
    known = builder.value(mask)
    if known is None:
        return Adjoint(value, mask)
    return Adjoint(value, None) if known else None


def settled(builder: Builder, adjoint: Adjoint) -> int:
    """An adjoint as a number at every point: 0 where nothing arrives."""
    if adjoint.mask is None or adjoint.is_settled:
        return adjoint.value
    return builder.apply("where", adjoint.mask, adjoint.value, builder.constant(0.0))


def total(builder: Builder, contributions: list[Adjoint], *, ascending: bool) -> Adjoint:
    """The sum of what arrived, in that order; or, for people, in the order in which it is written."""
    if len(contributions) == 1:
        return contributions[0]
    if ascending:
        contributions = contributions[::-1]
    first = contributions[0]
    mask = first.mask
    alike = all(adjoint.mask == mask for adjoint in contributions)
    value = first.value if alike else settled(builder, first)
    for adjoint in contributions[1:]:
        term = adjoint.value if alike else settled(builder, adjoint)
        value = builder.apply("add", value, term)
        mask = either(builder, mask, adjoint.mask)
    return Adjoint(value, mask, not alike or all(adjoint.is_settled for adjoint in contributions))


def either(builder: Builder, one: int | None, other: int | None) -> int | None:
    """The condition that one of two conditions holds."""
    if one is None or other is None:
        return None
    both = builder.apply("where", one, builder.constant(1.0), other)
    known = builder.value(both)
    return None if known else both


# The forward sweep.


def push_forward(
    source: Source, tangents: Mapping[int, int], active: Iterable[int], *, masked: bool = False
) -> dict[int, int]:
    """The tangents of the ``active`` nodes, given those of some; 0 is left out.

    ``active`` are, ascending, the nodes that the given ones reach (see ``active_from``).  Nodes are
    those of the source's graph, tangents the builder's.
    """
    builder = source.builder
    moved = {node: seeded(builder, tangent, masked) for node, tangent in tangents.items()}
    for node in active:
        if node in tangents:
            continue
        row = source.structural(node)
        if row is not None:
            tangent = through(source, row, node, moved)
        else:
            edges = source.edges(node, moved)
            tangent = (with_masks if masked else without_masks)(source, edges, moved)
        if tangent is not None:
            moved[node] = tangent
    return {node: settled(builder, tangent) for node, tangent in moved.items()}


def with_masks(
    source: Source, edges: Iterable[Edge], moved: Mapping[int, Adjoint]
) -> Adjoint | None:
    """The tangent of an elementwise node, and when anything moves it."""
    builder = source.builder
    terms = [
        contribution(builder, moved[operand], local, is_branch=is_branch)
        for operand, local, is_branch in edges
    ]
    arrived = [term for term in terms if term is not None]
    return total(builder, arrived, ascending=False) if arrived else None


def without_masks(
    source: Source, edges: Iterable[Edge], moved: Mapping[int, Adjoint]
) -> Adjoint | None:
    """The tangent of an elementwise node; a branch's where its condition holds."""
    builder = source.builder
    tangent: int | None = None
    for operand, local, is_branch in edges:
        if is_branch:
            rest = builder.constant(0.0) if tangent is None else tangent
            tangent = builder.apply("where", local, moved[operand].value, rest)
        else:
            term = builder.apply("mul", local, moved[operand].value)
            tangent = term if tangent is None else builder.apply("add", tangent, term)
    return None if tangent is None else Adjoint(tangent, None, True)


def through(
    source: Source, row: Structural, node: int, moved: Mapping[int, Adjoint]
) -> Adjoint | None:
    """The tangent of a structural node; None where nothing reaches it."""
    builder, graph = source.builder, source.graph
    moving = {o: moved[o] for o in graph.operands[node] if o in moved}
    values = {operand: settled(builder, tangent) for operand, tangent in moving.items()}
    masks = {
        operand: builder.apply("broadcast", tangent.mask, settings=(source.shape(operand),))
        for operand, tangent in moving.items()
        if tangent.mask is not None
    }
    adds_or_moves = row.push is None and (row.variadic or len(row.names) == 1)
    goes_along = adds_or_moves and len(masks) == len(moving)
    sums = []
    for given in (values, masks) if goes_along else (values,):
        terms = source.pushed(row, node, given)
        if not terms:
            return None
        sums.append(builder.total(terms))
    return Adjoint(sums[0], sums[1] if goes_along else None, True)
