"""The forward sweep over nodes: each node's tangent from its operands' tangents.

In a masked sweep what does not move passes nothing, not even 0 times infinity.  It mirrors the reverse
sweep: a tangent carries the condition under which anything moves, number by number, and the products are
made inside of it.  The condition goes along where numbers are moved about or added up; a product of
matrices mixes them, and ends it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from exprgrad.derive.sweeps.local import Edge, Source
from exprgrad.derive.sweeps.reverse import Adjoint, contribution, seeded, settled, total
from exprgrad.graph.structural import Structural

__all__ = ["push_forward"]


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
