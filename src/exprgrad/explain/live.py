"""Which nodes an answer comes from."""

from __future__ import annotations

from exprgrad.graph.graph import CONST, INPUT, dependencies
from exprgrad.graph.ops import BY_NAME
from exprgrad.run.result import Run

__all__ = ["live"]


def live(run: Run) -> bytearray:
    """The nodes that the answer comes from: not those behind a branch that was not taken."""
    graph = run.graph
    if not any(BY_NAME[kind].branches for kind in set(graph.kinds) - {INPUT, CONST}):
        return dependencies(graph, graph.output)
    used = bytearray(len(graph))
    used[graph.output] = 1
    for node in range(graph.output, -1, -1):
        operands = graph.operands[node]
        if used[node] and operands:
            branches = BY_NAME[graph.kinds[node]].branches
            taken = branches and branches[0 if run.values[operands[0]] else 1]
            for position, operand in enumerate(operands):
                if position == taken or position not in branches:
                    used[operand] = 1
    return used
