"""Templates as functions over numbers.

A template becomes a tree of closures over a tuple of slot values; the branch that a ``where`` does not
take is not evaluated.  Templates come from the op table, so their depth is small and known.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache
from operator import itemgetter

from exprgrad.derive.rules import slots, template
from exprgrad.graph.graph import CONST, INPUT, Graph
from exprgrad.graph.ops import Op
from exprgrad.run.primitives import functions

__all__ = ["Template", "at_pole", "compile_template", "holds", "sides"]

Template = Callable[[Sequence[float]], float]


@cache
def compile_template(graph: Graph, slots: tuple[str, ...]) -> Template:
    """The template as a function of its slots' values, in the order of ``slots``.

    A node that is used twice is evaluated once, ahead of the rest.
    """
    uses = Counter(operand for operands in graph.operands for operand in operands)
    constants: dict[int, float] = {}
    parts: dict[int, Template] = {}
    shared: list[Template] = []
    for node, kind in enumerate(graph.kinds):
        operands = graph.operands[node]
        payload = graph.payloads[node]
        if kind == CONST:
            assert isinstance(payload, float)
            constants[node] = payload
        elif kind == INPUT:
            assert isinstance(payload, str)
            parts[node] = itemgetter(slots.index(payload))
        elif all(operand in constants for operand in operands):
            constants[node] = functions[kind](*(constants[o] for o in operands))
        else:
            parts[node] = call(kind, [parts.get(o) or constant(constants[o]) for o in operands])
            if uses[node] > 1:
                shared.append(parts[node])
                parts[node] = itemgetter(len(slots) + len(shared) - 1)
    answer = parts.get(graph.output) or constant(constants[graph.output])
    if not shared:
        return answer

    def with_shared(values: Sequence[float]) -> float:
        extended = list(values)
        for part in shared:
            extended.append(part(extended))
        return answer(extended)

    return with_shared


def holds(condition: str, names: Sequence[str], values: Sequence[float]) -> bool:
    """Whether a condition of the op table holds for the values of its names."""
    return bool(compile_template(template(condition), tuple(names))(values))


def at_pole(op: Op, operands: Sequence[float]) -> bool:
    """Whether a row's operands are at one of its poles."""
    return any(holds(where, op.names, operands) for where, _ in op.poles)


def constant(value: float) -> Template:
    return lambda values: value


def call(kind: str, operands: list[Template]) -> Template:
    """One operation on parts of a template."""
    function = functions[kind]
    if kind == "where":
        c, x, y = operands
        return lambda values: x(values) if c(values) else y(values)
    if len(operands) == 1:
        (x,) = operands
        return lambda values: function(x(values))
    if len(operands) == 2:
        x, y = operands
        return lambda values: function(x(values), y(values))
    return lambda values: function(*(part(values) for part in operands))


def sides(op: Op, arguments: Sequence[float], varies: Sequence[float]) -> list[list[float]]:
    """For each operand, the values that a rule with companions sees, as ``derive.rules.slots`` says."""
    if not op.variadic:
        return [[*arguments, *varies]] * len(varies)
    tie = compile_template(template(op.ties), slots(op))
    *operands, out = arguments
    found = [[x, out, v, 0.0] for x, v in zip(operands, varies, strict=True)]
    tied = sum(map(tie, found))
    return [[*side[:3], tied] for side in found]
