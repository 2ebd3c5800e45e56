"""The tape: everything about a reverse sweep that does not depend on the numbers.

A sweep passes each node's grad along its active edges, times a local derivative.  Which edges those
are, in which order they are met, and where each finds its local derivative, is the same at every
point: so it is worked out once for a graph, and a sweep is then one short loop.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from operator import itemgetter
from typing import Any, NamedTuple

from exprgrad.derive.rules import slots, template
from exprgrad.graph.graph import CONST, INPUT, Graph, dependents
from exprgrad.graph.ops import BY_NAME, Op
from exprgrad.run.templates import Template, compile_template

__all__ = ["Tape", "record", "sides"]


class Tape(NamedTuple):
    """A graph's active edges in the order of the visits, and where their local derivatives are.

    A sweep keeps all its numbers in one list of *slots*: every node's data, then ``constants``, then
    what each of the ``steps`` computes, a step being a function of some slots and the getter of them.

    ``active``     by node: whether it depends on a differentiated input
    ``reached``    by node: whether it also is something that the output depends on
    ``users``, ``operands``, ``sources``  by edge: its two ends, and the slot of its local derivative
    ``gated``      by edge: whether it passes nothing where its local derivative is 0; None if none is
    """

    graph: Graph
    active: bytearray
    reached: bytearray
    users: list[int]
    operands: list[int]
    sources: list[int]
    gated: bytearray | None
    constants: list[float]
    steps: list[tuple[Template, Callable[[Sequence[float]], Any]]]


Rule = int | float | Template
"""A local derivative: the position of an operand (or of ``out``), a constant, or a function."""


class Rules(NamedTuple):
    """A row's local derivatives by operand; none where they need companions."""

    one: tuple[Rule, ...]
    gated: tuple[bool, ...]


@lru_cache(maxsize=None)
def rules(op: Op) -> Rules:
    """The rules of one row."""
    names = (*op.names, "out")
    texts = [op.partial(position) for position in range(len(op.names))]
    gated = tuple([text == "0" or p in op.branches for p, text in enumerate(texts)])
    if not {name for text in texts for name in template(text).inputs} <= {*names}:
        return Rules((), gated)
    return Rules(tuple([rule(text, names) for text in texts]), gated)


def rule(text: str, names: tuple[str, ...]) -> Rule:
    """One rule as plainly as it can be had."""
    if text in names:
        return names.index(text)
    function = compile_template(template(text), names)
    return function if template(text).inputs else function(())


def record(graph: Graph, wrt: Iterable[int]) -> Tape:
    """The tape of a graph for the inputs to differentiate.

    No local derivative is computed for an operand that depends on none of them.
    """
    active = dependents(graph, wrt)
    reached = bytearray(len(graph))
    reached[graph.output] = active[graph.output]
    rows = {kind: BY_NAME[kind] for kind in {*graph.kinds} - {INPUT, CONST}}
    table = {kind: rules(op) for kind, op in rows.items()}
    numbers = {n for row in table.values() for n in row.one if isinstance(n, float)} | {0.0, 1.0}
    place = {number: len(graph) + index for index, number in enumerate(sorted(numbers))}
    users: list[int] = []
    operands: list[int] = []
    sources: list[int] = []
    gated = bytearray()
    steps: list[tuple[Template, Callable[[Sequence[float]], Any]]] = []
    first_step = len(graph) + len(place)
    any_gated = any(any(row.gated) for row in table.values())
    varying: bytearray | None = None
    for node in range(graph.output, -1, -1):
        if not reached[node]:
            continue
        mine = graph.operands[node]
        kind = graph.kinds[node]
        ...
    return Tape(graph, active, reached, users, operands, sources, gated, sorted(numbers), steps)
