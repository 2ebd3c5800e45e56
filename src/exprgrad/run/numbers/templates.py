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
from exprgrad.run.numbers.primitives import functions

__all__ = ["Template", "at_pole", "compile_template", "holds", "sides"]

Template = Callable[[Sequence[float]], float]
Part = Template | int | float
"""A part of a template: a slot by its position, a number, or what it takes to find it."""


@cache
def compile_template(graph: Graph, slots: tuple[str, ...]) -> Template:
    """The template as a function of its slots' values, in the order of ``slots``.

    A node that is used twice is evaluated once, ahead of the rest.
    """
    uses = Counter(operand for operands in graph.operands for operand in operands)
    parts: list[Part] = []
    shared: list[Template] = []
    for node, kind in enumerate(graph.kinds):
        operands = [parts[operand] for operand in graph.operands[node]]
        payload = graph.payloads[node]
        if kind == CONST:
            assert isinstance(payload, float)
            parts.append(payload)
        elif kind == INPUT:
            assert isinstance(payload, str)
            parts.append(slots.index(payload))
        elif all(isinstance(operand, float) for operand in operands):
            parts.append(functions[kind](*operands))
        else:
            found = call(kind, operands)
            if uses[node] > 1:
                shared.append(found)
            parts.append(len(slots) + len(shared) - 1 if uses[node] > 1 else found)
    answer = reader(parts[graph.output])
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


def reader(part: Part) -> Template:
    """A part of a template as a function."""
    if isinstance(part, float):
        return lambda values: part
    return itemgetter(part) if isinstance(part, int) else part


def call(kind: str, operands: Sequence[Part]) -> Template:
    """One operation on parts of a template: one call less for each operand that is a slot or a number."""
    if kind == "where":
        return choice(*operands)
    function = functions[kind]
    if len(operands) > 2:
        parts = [reader(operand) for operand in operands]
        return lambda values: function(*(part(values) for part in parts))
    x, y = operands[0], operands[-1]
    if len(operands) == 1:
        if isinstance(x, int):
            return lambda values: function(values[x])
        inner = reader(x)
        return lambda values: function(inner(values))
    if isinstance(x, int) and isinstance(y, int):
        return lambda values: function(values[x], values[y])
    if isinstance(x, int) and isinstance(y, float):
        return lambda values: function(values[x], y)
    first, second = reader(x), reader(y)
    if isinstance(y, int):
        return lambda values: function(first(values), values[y])
    if isinstance(y, float):
        return lambda values: function(first(values), y)
    if isinstance(x, int):
        return lambda values: function(values[x], second(values))
    return lambda values: function(first(values), second(values))


def choice(c: Part, x: Part, y: Part) -> Template:
    """A ``where``, of which the branch that is not taken is not evaluated."""
    condition, first, second = reader(c), reader(x), reader(y)
    if isinstance(x, float) and isinstance(y, float):
        return lambda values: x if condition(values) else y
    return lambda values: first(values) if condition(values) else second(values)


def sides(op: Op, arguments: Sequence[float], varies: Sequence[float]) -> list[list[float]]:
    """For each operand, the values that a rule with companions sees, as ``derive.rules.slots`` says."""
    if not op.variadic:
        return [[*arguments, *varies]] * len(varies)
    tie = compile_template(template(op.ties), slots(op))
    *operands, out = arguments
    found = [[x, out, v, 0.0] for x, v in zip(operands, varies, strict=True)]
    tied = sum(map(tie, found))
    return [[*side[:3], tied] for side in found]
