"""The forward sweep over nodes: each node's tangent from its operands' tangents."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from exprgrad.derive.sweeps.local import Source

__all__ = ["push_forward"]


def push_forward(
    source: Source, tangents: Mapping[int, int], active: Iterable[int]
) -> dict[int, int]:
    """The tangents of the ``active`` nodes, given those of some; 0 is left out.

    ``active`` are, ascending, the nodes that the given ones reach (see ``active_from``).  Nodes are
    those of the source's graph, tangents the builder's.
    """
    builder = source.builder
    found = dict(tangents)
    for node in active:
        if node in tangents:
            continue
        row = source.structural(node)
        if row is not None:
            terms = source.pushed(row, node, found)
            if terms:
                found[node] = builder.total(terms)
            continue
        sum_: int | None = None
        for operand, local, is_branch in source.edges(node, found):
            if is_branch:
                rest = builder.constant(0.0) if sum_ is None else sum_
                sum_ = builder.apply("where", local, found[operand], rest)
                continue
            term = builder.apply("mul", local, found[operand])
            sum_ = term if sum_ is None else builder.apply("add", sum_, term)
        if sum_ is not None:
            found[node] = sum_
    return found
