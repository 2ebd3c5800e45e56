"""Derivatives as graphs: gradient, Jacobian, Hessian, and their products with vectors.

Each takes a graph and gives a ``Program``: another graph, in which equal nodes are shared, and its nodes
of interest.  Evaluated forward, the gradient is what the reverse sweep over numbers finds, bit for bit (the
sign of zero aside).  Sources: Griewank and Walther, Evaluating Derivatives (2008), sections 3.2 (the
reverse mode) and 5.1 (forward over reverse for second derivatives).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from exprgrad.derive.build import Builder
from exprgrad.derive.forward import push_forward
from exprgrad.derive.local import Source, active_from, users_of
from exprgrad.derive.reverse import pull_back
from exprgrad.graph.graph import Graph, Program

__all__ = ["Entries", "gradient", "hessian", "jacobian", "jvp", "vjp"]

Entries = dict[tuple[int, int], int]
"""A matrix by (row, column), each entry the position of an output; what is structurally 0 is left out."""


def gradient(graph: Graph, wrt: Sequence[str], *, shown: bool = False) -> Program:
    """The output, then its derivative by each of the inputs ``wrt``.

    ``shown`` takes the rules that people read: equal in real arithmetic, less exact in doubles.
    """
    source = Source(Builder(), graph, shown=shown)
    nodes = [graph.inputs[name] for name in wrt]
    found = pull_back(source, {graph.output: source.builder.constant(1.0)}, nodes)
    zero = source.builder.constant(0.0)
    derivatives = [found.get(node, zero) for node in nodes]
    return source.builder.program([source.image[graph.output], *derivatives])


def vjp(graph: Graph, cotangents: Mapping[int, float], wrt: Sequence[str]) -> Program:
    """By each input of ``wrt``, the derivative of the outputs' sum weighted by their cotangents."""
    source = Source(Builder(), graph)
    nodes = [graph.inputs[name] for name in wrt]
    seeds = {output: source.builder.constant(weight) for output, weight in cotangents.items()}
    found = pull_back(source, seeds, nodes)
    zero = source.builder.constant(0.0)
    return source.builder.program([found.get(node, zero) for node in nodes])


def jvp(graph: Graph, tangents: Mapping[str, float], outputs: Sequence[int]) -> Program:
    """Each output's derivative along a direction: by how much it changes as the inputs do."""
    source = Source(Builder(), graph)
    seeds = {graph.inputs[name]: source.builder.constant(t) for name, t in tangents.items()}
    found = push_forward(source, seeds, active_from(users_of(graph), seeds))
    zero = source.builder.constant(0.0)
    return source.builder.program([found.get(node, zero) for node in outputs])


def jacobian(graph: Graph, outputs: Sequence[int], wrt: Sequence[str]) -> tuple[Program, Entries]:
    """The outputs, then each entry of their Jacobian: a row for an output, a column for an input."""
    source = Source(Builder(), graph)
    nodes = [graph.inputs[name] for name in wrt]
    found = [source.image[output] for output in outputs]
    entries: Entries = {}
    for row, output in enumerate(outputs):
        adjoints = pull_back(source, {output: source.builder.constant(1.0)}, nodes)
        for column, node in enumerate(nodes):
            if node in adjoints:
                entries[row, column] = len(found)
                found.append(adjoints[node])
    return source.builder.program(found), entries


def hessian(graph: Graph, wrt: Sequence[str]) -> tuple[Program, Entries]:
    """The output, its gradient, then each entry of the Hessian, forward over reverse.

    Only entries on and above the diagonal are derived; those below are the same outputs.
    """
    first = gradient(graph, wrt)
    source = Source(Builder(), first.graph)
    users = users_of(first.graph)
    found = [source.image[output] for output in first.outputs]
    one = source.builder.constant(1.0)
    entries: Entries = {}
    for row, name in enumerate(wrt):
        seed = first.graph.inputs[name]
        tangents = push_forward(source, {seed: one}, active_from(users, [seed]))
        for column in range(row, len(wrt)):
            node = first.outputs[1 + column]
            if node in tangents:
                entries[row, column] = entries[column, row] = len(found)
                found.append(tangents[node])
    return source.builder.program(found), entries
