"""One node's edges by themselves: what it passes to each operand, as a small program or as text.

The rules are those of the whole reverse sweep; only the rest of the graph is left out.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from typing import NamedTuple

from exprgrad.derive.build import Builder
from exprgrad.derive.rules import Rule, computed, shown
from exprgrad.derive.sweeps.local import Source, varying_operands
from exprgrad.graph.graph import CONST, Graph, Program
from exprgrad.graph.ops import BY_NAME

__all__ = ["GRAD", "EdgeProgram", "edge_program"]

GRAD = "grad"
"""What the program of a node's edges calls the node's grad."""


class EdgeProgram(NamedTuple):
    """What a node passes on: the outputs are, edge by edge, the contribution and the local derivative.

    ``positions``  the operands that are passed something
    ``locals``     whether an edge has a local derivative, number by number; else its two outputs are one
    """

    program: Program
    positions: tuple[int, ...]
    locals: tuple[bool, ...]


def edge_program(
    graph: Graph,
    user: int,
    active: Container[int],
    varying: Sequence[int],
    rule: Rule = computed,
) -> EdgeProgram:
    """The program of one node's edges; its inputs are the operands and the node by number, and ``GRAD``."""
    alone, place = lone(graph, user)
    builder = Builder(graph.empty(), typed=rule is shown)
    source = Source(builder, alone, rule)
    source.varying = bytearray(len(alone))
    for operand, at in place.items():
        source.varying[at] = bool(varying[operand])
    source.image[alone.output] = builder.input(str(user), graph.shape(user))
    seed = builder.input(GRAD, graph.shape(user))
    wanted = {at for operand, at in place.items() if operand in active}
    row = source.structural(alone.output)
    if row is None:
        passed = elementwise(source, alone.output, wanted, seed)
    else:
        pulled = source.pulled(row, alone.output, seed, wanted)
        passed = {position: (value, value) for _, value, position in pulled}
    outputs = [node for pair in passed.values() for node in pair]
    program = builder.program(outputs or [seed])
    program.graph.implicit = understood(program)
    return EdgeProgram(program, tuple(passed), (row is None,) * len(passed))


def lone(graph: Graph, user: int) -> tuple[Graph, dict[int, int]]:
    """A node with inputs for operands, constants aside; and where each operand is now."""
    builder = Builder(graph.empty(), plain=True)
    place: dict[int, int] = {}
    for operand in graph.operands[user]:
        builder.span, payload = graph.span(operand), graph.payloads[operand]
        if isinstance(payload, float):
            place[operand] = builder.constant(payload, graph.symbols.get(operand))
        else:
            place[operand] = builder.input(str(operand), graph.shape(operand))
    operands = tuple([place[operand] for operand in graph.operands[user]])
    builder.span = graph.span(user)
    alone = builder.graph
    payload, shape = graph.payloads[user], graph.shape(user)
    alone.output = builder.append(graph.kinds[user], operands, payload, shape)
    return alone, place


def elementwise(
    source: Source, user: int, active: Container[int], seed: int
) -> dict[int, tuple[int, int]]:
    """By position: an elementwise edge's contribution and local derivative."""
    builder = source.builder
    found = {}
    varying = [p for p, operand in varying_operands(source.graph, user) if operand in active]
    for position, (_, local, is_branch) in zip(varying, source.edges(user, active), strict=True):
        inside = "where", local, seed, builder.constant(0.0)
        passed = builder.apply(*inside) if is_branch else builder.apply("mul", seed, local)
        found[position] = passed, local
    return found


def understood(program: Program) -> set[int]:
    """The broadcasts that a text can leave out: they only meet operands that are as large already."""
    graph, outputs = program
    found = {node for node, kind in enumerate(graph.kinds) if kind == "broadcast"}
    kept = set(outputs)
    for kind, operands in zip(graph.kinds, graph.operands, strict=True):
        large = [operand for operand in operands if operand not in found]
        if kind not in BY_NAME or all(graph.kinds[operand] == CONST for operand in large):
            kept.update(operands)
    return found - kept
