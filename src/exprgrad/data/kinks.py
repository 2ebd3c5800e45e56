"""Which rows meet a kink or a jump, as one more number that is computed for each of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial, reduce
from math import sqrt

from exprgrad.derive.build import Builder
from exprgrad.derive.rules import template
from exprgrad.derive.sweeps.gradient import adjoints, jvp, tangent
from exprgrad.graph.graph import Graph, Program, dependencies, dependents
from exprgrad.graph.ops import BY_NAME
from exprgrad.run.numbers.kink_screen import movable

__all__ = ["kinks"]


def kinks(
    builder: Builder, graphs: Sequence[Graph], wrt: Sequence[str], inputs: Mapping[str, int]
) -> int | None:
    """A node that is not 0 where one of some formulas meets a kink or a jump; None if none can."""
    listed = [kinks_of(builder, graph, wrt, inputs) for graph in graphs if wrt]
    met = [node for node in listed if node is not None]
    return reduce(partial(builder.apply, "max"), met) if met else None


def kinks_of(
    builder: Builder, graph: Graph, wrt: Sequence[str], inputs: Mapping[str, int]
) -> int | None:
    """A node that is not 0 where some node of a formula meets a kink or a jump; None if none can.

    ``inputs`` are the nodes that stand for the formula's.  Such a node counts in the branch that is taken,
    and where its operands move with the inputs: in ``relu(relu(x))`` below 0 the outer one's stays 0.
    """
    needed = dependencies(graph, graph.output)
    active = dependents(graph, [graph.inputs[name] for name in wrt])
    suspects = [
        node
        for node, kind in enumerate(graph.kinds)
        if needed[node] and active[node] and kind in BY_NAME and BY_NAME[kind].special
    ]
    if not suspects:
        return None
    backward, reached, gated = adjoints(graph, wrt)
    images = included(builder, backward, inputs)
    arrives = dict(zip(gated, images[len(graph) + len(reached) :], strict=True))
    operands = sorted({operand for node in suspects for operand in graph.operands[node]})
    # A direction in which no two inputs that differ by a factor move alike.
    steps = {tangent(name): builder.constant(sqrt(at + 2)) for at, name in enumerate(wrt)}
    moved = included(builder, jvp(graph, wrt, operands), {**inputs, **steps})
    moves = dict(zip(operands, moved, strict=True))
    zero = builder.constant(0.0)
    total = zero
    for node in suspects:
        met = condition(builder, graph, node, images, active)
        stirred = zero
        for operand in graph.operands[node]:
            step = builder.apply("ne", moves[operand], zero)
            stirred = builder.apply("max", stirred, step)
        met = builder.apply("mul", met, stirred)
        if node in arrives:
            met = builder.apply("mul", met, arrives[node])
        total = builder.apply("max", total, met)
    return total


def included(builder: Builder, program: Program, inputs: Mapping[str, int]) -> list[int]:
    """The outputs of a program, built anew."""
    images = builder.include(program.graph, inputs)
    return [images[output] for output in program.outputs]


def condition(
    builder: Builder, graph: Graph, node: int, images: Sequence[int], active: Sequence[int]
) -> int:
    """A node that is not 0 where one of the formula meets a kink or a jump, as active operands see it."""
    op, moving = BY_NAME[graph.kinds[node]], movable(graph)
    operands = graph.operands[node]
    varies = [builder.constant(float(moving[operand])) for operand in operands]
    total = builder.constant(0.0)
    sides: list[dict[str, int]] = []
    if op.variadic:
        for operand, one in zip(operands, varies, strict=True):
            sides.append({op.names[0]: images[operand], "out": images[node], "varies": one})
        ties = total
        for side in sides:
            ties = builder.apply("add", ties, told(builder, op.ties, side))
        pairs = zip(operands, sides, strict=True)
        sides = [{**side, "ties": ties} for operand, side in pairs if active[operand]]
    else:
        slot = dict(zip(op.names, [images[operand] for operand in operands], strict=True))
        slot |= {f"varies_{name}": one for name, one in zip(op.names, varies, strict=True)}
        sides.append({**slot, "out": images[node]})
    for side in sides:
        for special in op.special:
            total = builder.apply("max", total, told(builder, special.where, side))
    return total


def told(builder: Builder, text: str, slots: Mapping[str, int]) -> int:
    """A condition of the op table, of nodes."""
    graph = template(text)
    return builder.include(graph, slots)[graph.output]
