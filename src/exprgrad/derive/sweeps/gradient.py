"""Derivatives as graphs: gradient, Jacobian, Hessian, their products with vectors, and one node's edges.

Each takes a graph and gives a ``Program``: another graph, in which equal nodes are shared, and its nodes
of interest.  Evaluated forward, the gradient is what the reverse sweep over numbers finds, bit for bit (the
sign of zero aside).  Sources: Griewank and Walther, Evaluating Derivatives (2008), section 3.2 (reverse
propagation of gradients) and chapter 5 (forward over reverse for second derivatives).
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from math import nan
from typing import NamedTuple

from exprgrad.derive.build import GraphBuilder
from exprgrad.derive.rules import Rule, computed, shown
from exprgrad.derive.sweeps.walks import (
    SweepSource,
    active_between,
    differentiable_users,
    pull_back,
    push_forward,
    reachable_from,
    varying_operands,
)
from exprgrad.graph.graph import CONST, Graph, Program, collect_by_key, dependent_flags
from exprgrad.graph.ops import BY_NAME

__all__ = [
    "GRAD", "EdgeProgram", "Entries", "adjoint_program", "cotangent_name", "display_rule_derivatives",
    "edge_program", "gradient", "hessian_entries", "jacobian_entries", "jvp", "screened_gradient",
    "tangent_name", "vjp",
]  # fmt: skip

Entries = dict[tuple[int, int], int]
"""A matrix by (row, column), each entry the position of an output; what is structurally 0 is left out."""


def gradient(graph: Graph, wrt: Sequence[str], rule: Rule = computed) -> Program:
    """The output, then its derivative with respect to each of the inputs ``wrt``.

    ``rule`` chooses the rules (see ``derive.rules``): in all that is derived here, those that are computed.
    What is made of those that are shown is read by people: its constants are the decimals typed.
    """
    source = SweepSource(GraphBuilder(graph.empty(), typed=rule is shown), graph, rule)
    derivatives = input_adjoints(source, {graph.output: source.builder.constant(1.0)}, wrt)
    return source.builder.program([source.image[graph.output], *derivatives])


def screened_gradient(
    graph: Graph, wrt: Sequence[str], pairs: Sequence[tuple[int, int | float]]
) -> Program:
    """The gradient of a graph of numbers, and last a number that is finite only at a plain point.

    There every node and every derivative is finite, and no pair, of two nodes or a node and a number, is
    equal.
    """
    source = SweepSource(GraphBuilder(graph.empty()), graph)
    builder, image = source.builder, source.image
    answers = [
        image[graph.output],
        *input_adjoints(source, {graph.output: builder.constant(1.0)}, wrt),
    ]
    screen = builder.total([*dict.fromkeys([*image, *answers])])
    for one, other in pairs:
        beside = builder.constant(other) if isinstance(other, float) else image[other]
        met = builder.apply("eq", image[one], beside)
        screen = builder.apply("where", met, builder.constant(nan), screen)
    return builder.program([*answers, screen])


def display_rule_derivatives(graph: Graph, wrt: Sequence[str]) -> Program:
    """The derivatives alone, for simplification: by the rules that are shown.

    Nodes that nothing needs stay, as simplifying passes over them; of the formula only what a rule
    mentions is built.
    """
    active = active_between(graph, [graph.inputs[name] for name in wrt], [graph.output])
    source = SweepSource(
        GraphBuilder(graph.empty(), typed=True, traced=False), graph, shown, active
    )
    seeds = {graph.output: source.builder.constant(1.0)}
    derivatives = input_adjoints(source, seeds, wrt, active=active)
    source.builder.graph.output = derivatives[0] if derivatives else -1
    return Program(source.builder.graph, tuple(derivatives))


def input_adjoints(
    source: SweepSource,
    seeds: Mapping[int, int],
    wrt: Sequence[str],
    *,
    masked: bool = False,
    active: set[int] | None = None,
) -> list[int]:
    """The adjoints of the inputs ``wrt``, given those of outputs; ``active`` are the nodes between."""
    nodes = [source.graph.inputs[name] for name in wrt]
    active = active_between(source.graph, nodes, [*seeds]) if active is None else active
    found = pull_back(source, seeds, set(nodes), active, masked=masked)
    return [found[node] if node in found else source.zero(node) for node in nodes]


def adjoint_program(graph: Graph, wrt: Sequence[str]) -> tuple[Program, list[int], list[int]]:
    """Every node, then the adjoint of each of those that depend on an input of ``wrt``; and which they are.

    It is what a reverse sweep finds, of the sum of an output that is a tensor.  A node that no gradient
    reaches is left out.  Last come the conditions under which adjoints arrive, where there are any, and
    the nodes that they belong to.
    """
    source = SweepSource(GraphBuilder(graph.empty()), graph)
    nodes = [graph.inputs[name] for name in wrt]
    active = {node for node, flag in enumerate(dependent_flags(graph, nodes)) if flag}
    seed = source.builder.fill(1.0, source.graph.shape(graph.output))
    masks: dict[int, int] = {}
    found = pull_back(source, {graph.output: seed}, active, active, masks=masks)
    reached = sorted(found)
    outputs = [*source.image, *[found[node] for node in reached], *masks.values()]
    return source.builder.program(outputs), reached, list(masks)


def vjp(
    graph: Graph,
    outputs: Sequence[int],
    wrt: Sequence[str],
    rule: Rule = computed,
    *,
    masked: bool = False,
    beside: Sequence[int] = (),
) -> Program:
    """By each input of ``wrt``, the derivative of the outputs' sum, weighted by their cotangents.

    The cotangents are inputs of the program: see ``cotangent_name``.  With ``masked`` a number whose
    cotangent is 0 passes nothing, not even 0 times infinity, as for one row of a Jacobian.  Nodes that
    are wanted ``beside`` the derivatives come last.
    """
    source = SweepSource(GraphBuilder(graph.empty()), graph, rule)
    seeds = {
        node: source.builder.input(cotangent_name(at), source.graph.shape(node))
        for at, node in enumerate(outputs)
    }
    found = input_adjoints(source, seeds, wrt, masked=masked)
    return source.builder.program([*found, *(source.image[node] for node in beside)])


def jvp(
    graph: Graph,
    directions: Sequence[str],
    outputs: Sequence[int],
    rule: Rule = computed,
    *,
    masked: bool = False,
    beside: Sequence[int] = (),
) -> Program:
    """Each output's derivative along a direction: by how much it changes as some inputs do.

    The inputs' tangents are inputs of the program: see ``tangent_name``.  With ``masked`` a number whose
    tangent is 0 passes nothing, not even 0 times infinity, as for one column of a Jacobian.  Nodes that
    are wanted ``beside`` the derivatives come last.
    """
    source = SweepSource(GraphBuilder(graph.empty()), graph, rule)
    nodes = {name: graph.inputs[name] for name in directions}
    seeds = {
        node: source.builder.input(tangent_name(name), source.graph.shape(node))
        for name, node in nodes.items()
    }
    active = reachable_from(differentiable_users(graph, outputs), seeds)
    found = push_forward(source, seeds, active, masked=masked)
    tangents = [found[node] if node in found else source.zero(node) for node in outputs]
    return source.builder.program([*tangents, *(source.image[node] for node in beside)])


def tangent_name(name: str) -> str:
    """What a derived program calls an input's tangent; no input can bear a name with a blank."""
    return f"tangent of {name}"


def cotangent_name(position: int) -> str:
    """What a derived program calls the cotangent of the output at a position."""
    return f"cotangent of {position}"


def jacobian_entries(
    graph: Graph, outputs: Sequence[int], wrt: Sequence[str], rule: Rule = computed
) -> tuple[Program, Entries]:
    """The outputs, then each entry of their Jacobian: a row for an output, a column for an input."""
    source = SweepSource(GraphBuilder(graph.empty(), typed=rule is shown), graph, rule)
    nodes = {graph.inputs[name]: column for column, name in enumerate(wrt)}
    active = set(reachable_from(differentiable_users(graph, outputs), nodes))
    found = [source.image[output] for output in outputs]
    entries: Entries = {}
    for row, output in enumerate(outputs):
        adjoints = pull_back(source, {output: source.builder.constant(1.0)}, nodes, active)
        for node in sorted(adjoints):
            if source.builder.value(adjoints[node]) != 0:
                entries[row, nodes[node]] = len(found)
                found.append(adjoints[node])
    return source.builder.program(found), entries


def hessian_entries(
    graph: Graph, wrt: Sequence[str], rule: Rule = computed
) -> tuple[Program, Entries]:
    """The output, its gradient, then each entry of the Hessian, forward over reverse.

    Only entries on and above the diagonal are derived; those below are the same outputs.  Raises
    ``RequestError`` for what takes too much work.
    """
    budget = graph.budget.for_second_derivatives()
    budget.refuse_beyond(len(graph), "deriving", graph.span(graph.output))
    first = gradient(graph, wrt, rule)
    made = first.graph.empty()
    made.budget = budget
    source = SweepSource(GraphBuilder(made), first.graph, rule)
    users = differentiable_users(first.graph, first.outputs[1:])
    found = [source.image[output] for output in first.outputs]
    one = source.builder.constant(1.0)
    entries: Entries = {}
    columns = collect_by_key((node, column) for column, node in enumerate(first.outputs[1:]))
    for row, name in enumerate(wrt):
        seed = first.graph.inputs[name]
        tangents = push_forward(source, {seed: one}, reachable_from(users, [seed]))
        for node in sorted(tangents):
            if source.builder.value(tangents[node]) == 0:
                continue
            for column in columns.get(node, ()):
                if column >= row:
                    entries[row, column] = entries[column, row] = len(found)
                    found.append(tangents[node])
    return source.builder.program(found), entries


# One node's edges by themselves: what it passes to each operand, as a small program or as text.
# The rules are those of the whole reverse sweep; only the rest of the graph is left out.

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
    alone, place = isolate_node(graph, user)
    builder = GraphBuilder(graph.empty(), typed=rule is shown)
    source = SweepSource(builder, alone, rule)
    source.varying = bytearray(len(alone))
    for operand, at in place.items():
        source.varying[at] = bool(varying[operand])
    source.image[alone.output] = builder.input(str(user), graph.shape(user))
    seed = builder.input(GRAD, graph.shape(user))
    wanted = {at for operand, at in place.items() if operand in active}
    row = source.structural(alone.output)
    if row is None:
        passed = elementwise_edges(source, alone.output, wanted, seed)
    else:
        pulled = source.pulled(row, alone.output, seed, wanted)
        passed = {position: (value, value) for _, value, position in pulled}
    outputs = [node for pair in passed.values() for node in pair]
    program = builder.program(outputs or [seed])
    program.graph.implicit = redundant_broadcasts(program)
    return EdgeProgram(program, tuple(passed), (row is None,) * len(passed))


def isolate_node(graph: Graph, user: int) -> tuple[Graph, dict[int, int]]:
    """A node with inputs for operands, constants aside; and where each operand is now."""
    builder = GraphBuilder(graph.empty(), plain=True)
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


def elementwise_edges(
    source: SweepSource, user: int, active: Container[int], seed: int
) -> dict[int, tuple[int, int]]:
    """By position: an elementwise edge's contribution and local derivative."""
    builder = source.builder
    found = {}
    varying = [p for p, operand in varying_operands(source.graph, user) if operand in active]
    for position, (_, local, is_branch) in zip(varying, source.edges(user, active), strict=True):
        inside = "where", local, seed, builder.constant(0.0)
        passed = builder.apply(*inside) if is_branch else builder.product((seed, local))
        found[position] = passed, local
    return found


def redundant_broadcasts(program: Program) -> set[int]:
    """The broadcasts that a text can leave out: they only meet operands that are as large already."""
    graph, outputs = program
    found = {node for node, kind in enumerate(graph.kinds) if kind == "broadcast"}
    kept = set(outputs)
    for kind, operands in zip(graph.kinds, graph.operands, strict=True):
        large = [operand for operand in operands if operand not in found]
        if kind not in BY_NAME or all(graph.kinds[operand] == CONST for operand in large):
            kept.update(operands)
    return found - kept
