"""One node's edges by themselves: what it passes to each operand, as a small program or as text.

The rules are those of the whole reverse sweep; only the rest of the graph is left out.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from typing import NamedTuple

from exprgrad.derive.build import Builder
from exprgrad.derive.rules import Rule, computed
from exprgrad.derive.sweeps.local import Source
from exprgrad.graph.graph import CONST, INPUT, Graph, Program
from exprgrad.graph.literal import Shape
from exprgrad.graph.ops import BY_NAME
from exprgrad.source import Span

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
    builder = Builder(shapes=True)
    source = Source(builder, alone, rule)
    source.varying = bytearray(len(alone))
    for operand, at in place.items():
        source.varying[at] = bool(varying[operand])
    assert graph.shapes is not None
    source.image[alone.output] = builder.input(str(user), graph.shapes[user])
    seed = builder.input(GRAD, graph.shapes[user])
    wanted = {at for operand, at in place.items() if operand in active}
    outputs: list[int] = []
    positions: list[int] = []
    is_local: list[bool] = []
    row = source.structural(alone.output)
    for position, operand in enumerate(alone.operands[alone.output]):
        if operand not in wanted:
            continue
        if row is not None:
            found = source.pulled(row, alone.output, seed, {operand}, position)
            passed = found[0][1] if found else None
            local = passed
        else:
            passed, local = elementwise(source, alone.output, position, seed)
        if passed is not None and local is not None:
            outputs += [passed, local]
            positions.append(position)
            is_local.append(row is None)
    outputs = outputs or [seed]
    program = builder.program(outputs)
    program.graph.implicit = understood(program)
    return EdgeProgram(program, tuple(positions), tuple(is_local))


def lone(graph: Graph, user: int) -> tuple[Graph, dict[int, int]]:
    """A node with inputs for operands, constants aside; and where each operand is now."""
    assert graph.shapes is not None
    alone = Graph()
    alone.shapes = shapes = []
    place: dict[int, int] = {}

    def add(kind: str, operands: tuple[int, ...], node: int, shape: Shape) -> int:
        span: Span = graph.span(node)
        shapes.append(shape)
        payload = str(node) if kind == INPUT else graph.payloads[node]
        return alone.append(kind, operands, payload, span, (span,) * len(operands))

    for operand in dict.fromkeys(graph.operands[user]):
        is_constant = graph.kinds[operand] == CONST and graph.shapes[operand] == ()
        kind = CONST if is_constant else INPUT
        place[operand] = add(kind, (), operand, graph.shapes[operand])
        if is_constant and operand in graph.symbols:
            alone.symbols[place[operand]] = graph.symbols[operand]
        if not is_constant:
            alone.inputs[str(operand)] = place[operand]
    operands = tuple([place[operand] for operand in graph.operands[user]])
    alone.output = add(graph.kinds[user], operands, user, graph.shapes[user])
    return alone, place


def elementwise(
    source: Source, user: int, position: int, seed: int
) -> tuple[int | None, int | None]:
    """An elementwise edge's contribution and local derivative."""
    builder = source.builder
    edge = source.edge(user, position)
    if edge is None:
        return None, None
    local, is_branch = edge
    if is_branch:
        return builder.apply("where", local, seed, builder.constant(0.0)), local
    return builder.apply("mul", seed, local), local


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
