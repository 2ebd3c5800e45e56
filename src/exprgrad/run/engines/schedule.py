"""The order in which a program's operations are done: one in which few results wait for others.

A reverse sweep comes after all of a forward sweep, and so would keep everything; but much of it can be done
as soon as some of the forward sweep is.
"""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heapify, heappop, heappush
from itertools import accumulate

from exprgrad.graph.graph import Graph

__all__ = ["ordered"]


def ordered(graph: Graph, outputs: Sequence[int], needed: Sequence[int]) -> list[int]:
    """The ``needed`` operations, each after its operands, so that few results are alive at a time."""
    given = [node for node, operands in enumerate(graph.operands) if operands and needed[node]]
    free = bytearray(len(graph))
    for node, operands in enumerate(graph.operands):
        free[node] = not operands
    for output in outputs:
        free[output] = 1
    other = thrifty(graph, given, free)
    return min((given, other), key=lambda order: alive(graph, order, free))


def thrifty(graph: Graph, given: Sequence[int], free: Sequence[int]) -> list[int]:
    """Always that operation next, of those that are ready, which leaves the fewest results alive.

    Of equals it is the first of the graph.  What is ``free``, leaves and outputs, takes no memory.  It is a
    rule of thumb, for to find the best order is NP-complete: R. Sethi, Complete register allocation
    problems, SIAM J. Comput. 4 (1975), 226-248.
    """
    size = len(graph)
    waits, uses, users = [0] * size, [0] * size, [0] * size
    """By node: the operands to come; the operations to come that read it, and the sum of their indices."""
    operands_of = [different(operands) for operands in graph.operands]
    for node in given:
        for operand in operands_of[node]:
            uses[operand] += 1
            users[operand] += node
            waits[node] += bool(graph.operands[operand])
    flat, first = readers(operands_of, given, uses)
    change = [0 if free[node] else size for node in range(size)]
    """By node: how many more results are alive once it is done, times the size."""
    for node in given:
        if uses[node] == 1 and not free[node]:
            change[users[node]] -= size
    ready = [change[node] + node for node in given if not waits[node]]
    heapify(ready)
    done = bytearray(size)
    order = []
    while ready:
        node = heappop(ready) % size
        if done[node]:
            continue
        done[node] = 1
        order.append(node)
        for operand in operands_of[node]:
            uses[operand] -= 1
            users[operand] -= node
            if uses[operand] == 1 and not free[operand]:
                last = users[operand]
                change[last] -= size
                if not waits[last]:
                    heappush(ready, change[last] + last)
        for reader in flat[first[node] : first[node + 1]]:
            waits[reader] -= 1
            if not waits[reader]:
                heappush(ready, change[reader] + reader)
    return order


def readers(
    operands_of: Sequence[Sequence[int]], given: Sequence[int], uses: Sequence[int]
) -> tuple[list[int], list[int]]:
    """The operations that read each node, node after node; and by node where its own begin."""
    first = [0, *accumulate(uses)]
    flat, filled = [0] * first[-1], first.copy()
    for node in given:
        for operand in operands_of[node]:
            flat[filled[operand]] = node
            filled[operand] += 1
    return flat, first


def different(operands: tuple[int, ...]) -> tuple[int, ...]:
    """The operands, each once."""
    if len(operands) == 2:
        return operands if operands[0] != operands[1] else operands[:1]
    return operands if len(operands) < 2 else tuple(set(operands))


def alive(graph: Graph, order: Sequence[int], free: Sequence[int]) -> int:
    """The most results that are alive at a time, in some order."""
    last = [0] * len(graph)
    for at, node in enumerate(order):
        for operand in graph.operands[node]:
            last[operand] = at
    count = most = 0
    for at, node in enumerate(order):
        for operand in different(graph.operands[node]):
            if last[operand] == at and not free[operand]:
                count -= 1
        if not free[node]:
            count += 1
            most = max(most, count)
    return most
