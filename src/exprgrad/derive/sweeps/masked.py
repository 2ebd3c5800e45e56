"""The forward sweep over tensors in which what does not move passes nothing, not even 0 times infinity.

It mirrors the reverse sweep: a tangent carries the condition under which anything moves, number by number,
and the products are made inside of it.  The condition goes along where numbers are moved about or added up;
a product of matrices mixes them, and ends it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from exprgrad.derive.sweeps.local import Source
from exprgrad.derive.sweeps.reverse import Adjoint, contribution, settled, total
from exprgrad.graph.structural import Structural

__all__ = ["push_masked"]


def push_masked(
    source: Source, tangents: Mapping[int, int], active: Iterable[int]
) -> dict[int, int]:
    """The tangents of the ``active`` nodes, given those of some: see ``forward.push_forward``."""
    builder = source.builder
    zero = builder.constant(0.0)
    found = {
        node: Adjoint(tangent, builder.apply("ne", tangent, zero), True)
        for node, tangent in tangents.items()
    }
    for node in active:
        if node in tangents:
            continue
        row = source.structural(node)
        if row is not None:
            passed = through(source, row, node, found)
        else:
            edges = source.edges(node, found)
            terms = [
                contribution(builder, found[operand], local, is_branch=is_branch)
                for operand, local, is_branch in edges
            ]
            arrived = [term for term in terms if term is not None]
            passed = total(builder, arrived, ascending=False) if arrived else None
        if passed is not None:
            found[node] = passed
    return {node: settled(builder, adjoint) for node, adjoint in found.items()}


def through(
    source: Source, row: Structural, node: int, found: Mapping[int, Adjoint]
) -> Adjoint | None:
    """The tangent of a structural node; None where nothing reaches it."""
    builder, graph = source.builder, source.graph
    moving = {o: found[o] for o in graph.operands[node] if o in found}
    values = {operand: settled(builder, adjoint) for operand, adjoint in moving.items()}
    masks = {
        operand: builder.apply("broadcast", adjoint.mask, settings=(source.shape(operand),))
        for operand, adjoint in moving.items()
        if adjoint.mask is not None
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
