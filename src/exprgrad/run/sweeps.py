"""The two sweeps over numbers: forward for every node's data, in reverse for every node's grad.

Both are plain loops over the graph's arrays in index order, which is topological; neither recurses.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from exprgrad.derive.rules import slots, template
from exprgrad.graph.graph import INPUT, Graph, dependencies, dependents
from exprgrad.graph.ops import BY_NAME, Op
from exprgrad.run.primitives import functions
from exprgrad.run.templates import Template, compile_template

__all__ = ["Adjoints", "forward", "reverse"]


def forward(graph: Graph, inputs: Mapping[str, float]) -> list[float]:
    """Every node's data, given every input's."""
    values: list[float] = []
    push = values.append
    for kind, operands, payload in zip(graph.kinds, graph.operands, graph.payloads, strict=True):
        if len(operands) == 2:
            push(functions[kind](values[operands[0]], values[operands[1]]))
        elif operands:
            push(functions[kind](*[values[operand] for operand in operands]))
        elif kind == INPUT:
            push(inputs[payload])  # type: ignore[index]
        else:
            push(payload)  # type: ignore[arg-type]
    return values


class Adjoints(NamedTuple):
    """What a reverse sweep finds.

    ``order``          the nodes that the output depends on, in the order of the visits
    ``grads``          by node: the adjoint, None where the node depends on no differentiated input
    ``locals``         by edge number: the local derivative, None for an edge that passes nothing on
                       because it is not active or its user was not reached
    ``contributions``  by edge number: the user's grad times the local derivative
    ``reached``        by node: whether a gradient flowed into it
    """

    order: list[int]
    grads: list[float | None]
    locals: list[float | None]
    contributions: list[float | None]
    reached: bytearray


Rule = float | Template
"""A local derivative: a constant, or a function of the operands, ``out`` and companions."""


class Rules(NamedTuple):
    """What the sweep needs of one row; no partials where they need companions (``companioned``)."""

    partials: tuple[Rule, ...]
    branches: tuple[int, ...]


@lru_cache(maxsize=None)
def rules(kind: str) -> Rules:
    """A row's partials, ready to be evaluated."""
    op = BY_NAME[kind]
    texts = [op.partial(position) for position in range(len(op.names))]
    used = {name for text in texts for name in template(text).inputs}
    plain = (*op.names, "out")
    if used - {*plain}:
        return Rules((), op.branches)
    return Rules(tuple(as_rule(text, plain) for text in texts), op.branches)


def as_rule(text: str, names: tuple[str, ...]) -> Rule:
    """A rule as a constant where it is one, else as a function."""
    graph = template(text)
    compiled = compile_template(graph, names)
    return compiled if graph.inputs else compiled(())


def reverse(graph: Graph, values: Sequence[float], wrt: Sequence[int]) -> Adjoints:
    """Visit the nodes in descending order and pass each node's grad on to its operands.

    ``wrt`` are the inputs to differentiate.  No partial is computed for an operand that depends on
    none of them; a rule that is the constant 0, and a branch that a ``where`` did not take, pass
    nothing, not even 0 times infinity.
    """
    active = dependents(graph, list(wrt))
    needed = dependencies(graph, graph.output)
    varying: bytearray | None = None
    reached = bytearray(len(graph))
    grads = [0.0] * len(graph)
    edges = len(graph.edge_starts)
    locals_: list[float | None] = [None] * edges
    contributions: list[float | None] = [None] * edges
    grads[graph.output] = 1.0
    reached[graph.output] = 1
    kinds, first_edge = graph.kinds, graph.first_edge
    for node in range(graph.output, -1, -1):
        operands = graph.operands[node]
        if not operands or not reached[node] or not active[node]:
            continue
        grad = grads[node]
        partials, branches = rules(kinds[node])
        edge = first_edge[node]
        arguments = [values[operand] for operand in operands]
        arguments.append(values[node])
        if not partials:
            if varying is None:
                varying = dependents(graph, list(graph.inputs.values()))
            op = BY_NAME[kinds[node]]
            partials = companioned(op, arguments, [varying[operand] for operand in operands])
        for position, operand in enumerate(operands):
            if active[operand]:
                rule = partials[position]
                local = rule if rule.__class__ is float else rule(arguments)  # type: ignore[operator]
                locals_[edge + position] = local  # type: ignore[assignment]
                if (local == 0 and position in branches) or rule == 0.0:
                    contributions[edge + position] = 0.0
                else:
                    contribution = grad * local  # type: ignore[operator]
                    contributions[edge + position] = contribution
                    grads[operand] += contribution
                    reached[operand] = 1
    order = [node for node in range(graph.output, -1, -1) if needed[node]]
    known: list[float | None] = [g if a else None for g, a in zip(grads, active, strict=True)]
    if graph.operands[graph.output]:
        known[graph.output] = 1.0
    return Adjoints(order, known, locals_, contributions, reached)


def companioned(op: Op, arguments: list[float], varies: list[int]) -> tuple[float, ...]:
    """The partials of a row whose rules ask which operands vary, or how many of them tie."""
    names = slots(op)
    if not op.variadic:
        extended = [*arguments, *map(float, varies)]
        return tuple(compile_template(template(text), names)(extended) for text in op.partials)
    ties = compile_template(template(op.ties), names)
    partial = compile_template(template(op.partial(0)), names)
    *operands, out = arguments
    sides = [[x, out, float(v), 0.0] for x, v in zip(operands, varies, strict=True)]
    total = sum(ties(side) for side in sides)
    return tuple(partial([*side[:3], total]) for side in sides)
