"""The graph of some values, their grads, and their formula."""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

from exprgrad.graph.graph import CONST, INPUT, Binding, Graph
from exprgrad.language.read.parse import CONSTANTS
from exprgrad.language.write.infix import program
from exprgrad.language.write.naming import fresh, name_shared
from exprgrad.run.numbers.sweeps import play
from exprgrad.run.numbers.tape import record

if TYPE_CHECKING:
    from exprgrad.api.value import Value

__all__ = ["described", "grads", "reached"]

NOWHERE = (0, 0)


def reached(root: Value) -> list[Value]:
    """What a value is made of, operands first, in the order in which a formula would name them; it last."""
    found: dict[Value, None] = {}
    todo = [root]
    while todo:
        value = todo[-1]
        if value not in found:
            todo += [operand for operand in reversed(value.operands) if operand not in found]
        if todo[-1] is value:
            found[todo.pop()] = None
    return [*found]


def graph_of(
    values: Sequence[Value], names: Mapping[Value, str], leaves: Collection[Value] = ()
) -> Graph:
    """The graph of some values, operands first; ``leaves`` are inputs whatever made them.

    ``names`` are those of inputs and of statements; an input without one is called by its place.
    """
    graph = Graph()
    place: dict[Value, int] = {}
    for node, value in enumerate(values):
        place[value] = node
        if value.kind == CONST:
            graph.append(CONST, (), value.data, NOWHERE)
        elif not value.operands or value in leaves:
            name = names.get(value) or str(node)
            graph.inputs[name] = graph.append(INPUT, (), name, NOWHERE)
        else:
            operands = tuple([place[operand] for operand in value.operands])
            graph.append(value.kind, operands, None, NOWHERE, (NOWHERE,) * len(operands))
            if value in names:
                graph.bindings.append(Binding(names[value], node, NOWHERE))
                graph.output_name = names[value]
    graph.output = len(values) - 1
    if not (graph.bindings and graph.bindings[-1].node == graph.output):
        graph.output_name = None
    return graph


def grads(values: Sequence[Value], leaves: Collection[Value] = ()) -> list[float | None]:
    """The derivative of the last of some values with respect to each of them; None where there is none."""
    graph = graph_of(values, {}, leaves)
    data = [value.data for value in values]
    return play(record(graph, graph.inputs.values()), data).grads


def names_of(values: Sequence[Value]) -> dict[Value, str]:
    """The labels that can be names, of inputs first, each name once."""
    found: dict[Value, str] = {}
    taken = {*CONSTANTS}
    for value in sorted(values, key=lambda value: bool(value.operands)):
        name = unicodedata.normalize("NFC", value.label)
        if name.isidentifier() and name not in taken and value.kind != CONST:
            taken.add(name)
            found[value] = name
    return found


def described(root: Value) -> tuple[str, dict[str, float]]:
    """The formula of a value, and its inputs' data by name; an input without a name is v1, v2, …."""
    values = reached(root)
    names = names_of(values)
    unnamed = fresh(graph_of(values, names), "v")
    for value in values:
        if value.kind == INPUT and value not in names:
            names[value] = next(unnamed)
    graph = graph_of(values, names)
    name_shared(graph)
    inputs = {names[value]: value.data for value in values if value.kind == INPUT}
    return program(graph), inputs
