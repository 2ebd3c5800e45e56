"""The layers and neurons of a large graph, by name: ``a1_1 = …; a1_2 = …`` are two neurons of layer ``a1``.

A neuron is what a named statement is worked out from and nothing else uses, its weights too.
"""

from __future__ import annotations

import re

from exprgrad.explain.diagnostics import Run

__all__ = ["LEAST", "layers"]

LEAST = 60
"""So many nodes and more are folded; fewer are seen at once."""
FEWEST = 3
"""The fewest nodes of a neuron."""
INDEX = re.compile(r"(.*?)[_\[,]?\d+\]?")
"""A name that ends in an index, and what stands before it."""


def layers(run: Run) -> dict[int, tuple[str, ...]]:
    """By node, the layer and the neuron that it belongs to, from the outside in; empty if there are none.

    A neuron whose name has no index, or of which there is only one, is in no layer.
    """
    graph = run.graph
    if len(run.shown) < LEAST or graph.calls:
        return {}
    users: dict[int, set[int]] = {node: set() for node in run.shown}
    for user in run.shown:
        for operand in run.operands(user):
            users[operand].add(user)
    named = {
        binding.node: binding.name for binding in graph.bindings if graph.operands[binding.node]
    }
    owner: dict[int, int | None] = {}
    for node in reversed(run.shown):
        theirs = {owner[user] for user in users[node]}
        owner[node] = node if node in named else theirs.pop() if len(theirs) == 1 else None
    counts: dict[int, int] = {}
    for neuron in owner.values():
        if neuron is not None:
            counts[neuron] = counts.get(neuron, 0) + 1
    found = {n: named[n] for n, count in counts.items() if count >= FEWEST}
    stems = {name: match[1] for name in found.values() if (match := INDEX.fullmatch(name))}
    several = [*stems.values()]
    return {
        node: (stems[name], name) if several.count(stems.get(name, "")) > 1 else (name,)
        for node, neuron in owner.items()
        if (name := found.get(neuron, "") if neuron is not None else "")
    }
