"""Values and partials that share their work.

A row's rules are each as accurate as doubles allow, and each starts anew: tanh calls one function of the C
library, its partial another.  ``Op.joint`` says how to have them all from one.  Here a derived program's
operations are replaced by that, where the row has it, together with the partials that belong to them.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence

from exprgrad.derive.build import Builder
from exprgrad.derive.rules import slots, template
from exprgrad.graph.graph import Graph, Program, dependents
from exprgrad.graph.ops import BY_NAME

__all__ = ["fused"]


def fused(
    program: Program, but: Container[str] = (), read: Callable[[str], Graph] = template
) -> Program:
    """The program with its values and partials taken together; within 5 ulp of each, as engines are.

    Rows of ``but`` stay as they are.  ``read`` makes a graph of a joint text.  A partial is found by its
    form: it is what the row's rule makes of the operation's nodes.
    """
    kinds = {kind for kind in {*program.graph.kinds} & {*BY_NAME} if BY_NAME[kind].joint}
    kinds = {kind for kind in kinds if kind not in but}
    if not kinds:
        return program
    seen = Builder()
    images = seen.include(program.graph)
    size = len(seen.graph)
    varying = dependents(seen.graph, seen.graph.inputs.values())
    one = seen.constant(1.0)
    chosen: dict[int, tuple[int, str]] = {}
    for node in range(size):
        kind = seen.graph.kinds[node]
        operands = seen.graph.operands[node]
        if kind in kinds and all(varying[operand] for operand in operands):
            op = BY_NAME[kind]
            chosen[node] = node, op.joint[0]
            given = dict(zip(slots(op), (*operands, node), strict=False))
            given |= dict.fromkeys([name for name in slots(op) if "varies" in name], one)
            for rule, text in zip(op.partials, op.joint[1:], strict=True):
                graph = template(rule)
                partial = seen.include(graph, given)[graph.output]
                if partial < size:
                    chosen.setdefault(partial, (node, text))
    seen.graph.truncate(size)
    builder = Builder()

    def together(node: int, made: Sequence[int]) -> int | None:
        if node not in chosen:
            return None
        operation, text = chosen[node]
        op, operands = BY_NAME[seen.graph.kinds[operation]], seen.graph.operands[operation]
        given = dict(zip(op.names, [made[operand] for operand in operands], strict=True))
        graph = read(text)
        return builder.include(graph, given)[graph.output]

    made = builder.include(seen.graph, rule=together)
    return builder.program([made[images[output]] for output in program.outputs])
