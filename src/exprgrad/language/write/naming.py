"""Names for what a graph uses more than once, so that its text says everything once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import chain, count

from exprgrad.graph.graph import Binding, Graph
from exprgrad.language.read.builder import CONSTANTS

__all__ = ["fresh", "name_shared"]


def fresh(graph: Graph, beginning: str) -> Iterator[str]:
    """Names that nothing in a graph bears, such as t1, t2, …."""
    taken = {*graph.inputs, *(binding.name for binding in graph.bindings), *CONSTANTS}
    return (name for number in count(1) if (name := f"{beginning}{number}") not in taken)


def name_shared(graph: Graph) -> None:
    """Make a statement of every operation that is used more than once and bears no name.

    The statements that are there stay, in their order; each new one stands where it is first needed.
    """
    uses = Counter(chain.from_iterable(graph.operands))
    known = graph.names()
    names = fresh(graph, "t")
    found = [
        Binding(next(names), node, graph.span(node))
        for node, operands in enumerate(graph.operands)
        if operands and uses[node] > 1 and node not in known
    ]
    found.reverse()
    bindings, highest = [], -1
    for binding in graph.bindings:
        highest = max(highest, binding.node)
        while found and found[-1].node <= highest:
            bindings.append(found.pop())
        bindings.append(binding)
    graph.bindings = [*bindings, *reversed(found)]
