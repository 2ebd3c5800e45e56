"""The operations on doubles, IEEE throughout: a domain error is nan or an infinity, never an exception.

Most rows are Python's ``math`` functions by the same name.  ``NATIVE`` holds those that Python spells
otherwise; rows that state a formula are compiled from it.
"""

from __future__ import annotations

import math
import operator
from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache
from operator import itemgetter
from typing import Any, cast

from exprgrad.derive.rules import balanced, slots, template
from exprgrad.graph.graph import CONST, Algebra, Graph, Program, interpret
from exprgrad.graph.ops import BY_NAME, Op

__all__ = [
    "Function", "Template", "TemplatePart", "at_pole", "compile_template", "functions", "holds", "number",
    "part_of", "reader", "sides",
]  # fmt: skip

Function = Callable[..., float]
Template = Callable[[Sequence[float]], float]
TemplatePart = Template | int | float
"""A part of a template: a slot by its position, a number, or what it takes to find it."""

inf, nan, copysign = math.inf, math.nan, math.copysign


def div(x: float, y: float) -> float:
    """IEEE division: x/0 is an infinity with the sign of both zeros heeded, 0/0 is nan."""
    try:
        return x / y
    except ZeroDivisionError:
        return nan if x == 0 or x != x else copysign(inf, x) * copysign(1.0, y)


def mod(x: float, y: float) -> float:
    """The floor modulus, with the sign of y; nan where y is 0."""
    try:
        return x % y
    except ZeroDivisionError:
        return nan


def real_power(x: float, y: float) -> float:
    """IEEE pow; nan for a negative base with a fractional exponent.  A square is rounded but once."""
    if y == 2:
        return x * x
    try:
        return math.pow(x, y)
    except OverflowError:
        return -inf if x < 0 and y % 2 == 1 else inf
    except ValueError:
        if x != 0:
            return nan
        return copysign(inf, x) if y % 2 == 1 else inf


def sign(x: float) -> float:
    return x if x == 0 or x != x else copysign(1.0, x)


def whole(fn: Callable[[float], int]) -> Function:
    """A rounding function that keeps nan, infinities and the sign of zero."""
    return lambda x: copysign(float(fn(x)), x) if math.isfinite(x) else x


def cbrt(x: float) -> float:
    """The cube root: the C library's, 3.1 ulp off at worst, mended by one Newton step."""
    root = math.cbrt(x)
    if root == 0 or not math.isfinite(root):
        return root
    return root - (root - x / (root * root)) / 3


def minimum(*operands: float) -> float:
    return nan if any(map(math.isnan, operands)) else min(operands)


def maximum(*operands: float) -> float:
    return nan if any(map(math.isnan, operands)) else max(operands)


def logsumexp(*operands: float) -> float:
    """The greatest operand, and the logarithm of how many times as much the exponentials are together."""
    top = maximum(*operands)
    if not math.isfinite(top):
        return top
    rest = list(operands)
    rest.remove(top)
    return top + math.log1p(math.fsum(math.exp(x - top) for x in rest))


NATIVE: dict[str, Function] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "div": div,
    "mod": mod,
    "pow": real_power,
    "neg": operator.neg,
    "lt": lambda x, y: 1.0 if x < y else 0.0,
    "le": lambda x, y: 1.0 if x <= y else 0.0,
    "gt": lambda x, y: 1.0 if x > y else 0.0,
    "ge": lambda x, y: 1.0 if x >= y else 0.0,
    "eq": lambda x, y: 1.0 if x == y else 0.0,
    "ne": lambda x, y: 1.0 if x != y else 0.0,
    "where": lambda c, x, y: x if c else y,
    "min": minimum,
    "max": maximum,
    "logsumexp": logsumexp,
    "abs": abs,
    "sign": sign,
    "floor": whole(math.floor),
    "ceil": whole(math.ceil),
    "round": whole(round),
    "cbrt": cbrt,
}


def guarded(op: Op, fn: Function) -> Function:
    """A ``math`` function with IEEE's answers where Python raises.

    Overflow is an infinity with the function's sign on that side of 0; a domain error is the row's
    value at a pole, elsewhere nan.
    """

    def ieee(*operands: float) -> float:
        try:
            return fn(*operands)
        except OverflowError:
            return copysign(inf, fn(*(copysign(1.0, x) for x in operands)))
        except ValueError:
            for where, value in op.poles:
                if compile_template(template(where), op.names)(operands):
                    return compile_template(template(value), op.names)(operands)
            return nan

    return ieee


@cache
def function(op: Op) -> Function:
    """One operation as a function of its operands."""
    if op.name in NATIVE:
        return NATIVE[op.name]
    if op.equation is not None:
        return root(op)
    refuse_unknown(op)
    if not op.value and hasattr(math, op.name):
        return guarded(op, getattr(math, op.name))
    formula = compile_template(template(op.value or op.formula), op.names)
    return lambda *operands: formula(operands)


def root(op: Op) -> Function:
    """A root as a function of its operands: nan where none is found."""
    from exprgrad.derive.search import search

    state, *programs = search(op.name)
    inputs = (*op.names, *state)
    first, turn, last = [played(program, inputs) for program in programs]

    def found(*operands: float) -> float:
        now = first(operands)
        going = 1.0
        while going:
            *now, going = turn((*operands, *now))
        return last((*operands, *now))[0]

    return found


def played(program: Program, inputs: Sequence[str]) -> Callable[[Sequence[float]], list[float]]:
    """A program as a function of its inputs' numbers, in order, that gives its outputs'."""
    graph, outputs = program
    start = [
        x if kind == CONST else nan for kind, x in zip(graph.kinds, graph.payloads, strict=True)
    ]
    given = [(at, graph.inputs[name]) for at, name in enumerate(inputs) if name in graph.inputs]
    steps = [
        (node, functions[graph.kinds[node]], operands[0], operands[-1], len(operands), operands)
        for node, operands in enumerate(graph.operands)
        if operands
    ]

    def play(numbers: Sequence[float]) -> list[float]:
        values = cast("list[float]", start.copy())
        for place, node in given:
            values[node] = numbers[place]
        for node, function, first, last, count, operands in steps:
            if count == 2:
                values[node] = function(values[first], values[last])
            elif count == 1:
                values[node] = function(values[first])
            else:
                values[node] = function(*[values[operand] for operand in operands])
        return [values[output] for output in outputs]

    return play


def refuse_unknown(op: Op) -> None:
    """Raise ``ValueError`` for a row of which nothing says how it is computed."""
    if not (op.value or op.formula or op.name in NATIVE or hasattr(math, op.name)):
        raise ValueError(
            f"the row '{op.name}' needs a value or a formula: Python's math has no function '{op.name}'"
        )


class Functions(dict[str, Function]):
    """Row name → function, made on first use."""

    def __missing__(self, name: str) -> Function:
        self[name] = made = function(BY_NAME[name])
        return made


functions = Functions()


# Formulas as functions.  A template becomes a tree of closures over a tuple of slot values; the branch that
# a ``where`` does not take is not evaluated.


def number(graph: Graph, node: int) -> float:
    """A constant of a template."""
    return cast(float, graph.payloads[node])


@cache
def compile_template(graph: Graph, slots: tuple[str, ...]) -> Template:
    """The template as a function of its slots' values, in the order of ``slots``."""
    return reader(part_of(graph, slots))


def part_of(graph: Graph, slots: tuple[str, ...]) -> TemplatePart:
    """A template as the slot that it names, as a number, or as a function of the slots' values.

    A node that is used twice is evaluated once, ahead of the rest.  Templates come from the op table, so
    their depth is small and known.
    """
    uses = Counter(operand for operands in graph.operands for operand in operands)
    shared: list[Template] = []

    def operation(graph: Graph, node: int, operands: Sequence[TemplatePart]) -> TemplatePart:
        kind = graph.kinds[node]
        if all(isinstance(operand, float) for operand in operands):
            return functions[kind](*operands)
        made = closure(kind, operands)
        if uses[node] < 2:
            return made
        shared.append(made)
        return len(slots) + len(shared) - 1

    inputs: dict[str, TemplatePart] = {name: slots.index(name) for name in graph.inputs}
    part = interpret(graph, Algebra(number, operation), inputs)[graph.output]
    if not shared:
        return part
    answer = reader(part)

    def with_shared(values: Sequence[float]) -> float:
        extended = list(values)
        for function in shared:
            extended.append(function(extended))
        return answer(extended)

    return with_shared


def reader(part: TemplatePart) -> Template:
    """A part of a template as a function."""
    if isinstance(part, float):
        return lambda values: part
    return itemgetter(part) if isinstance(part, int) else part


def closure(kind: str, operands: Sequence[TemplatePart]) -> Template:
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


def choice(c: TemplatePart, x: TemplatePart, y: TemplatePart) -> Template:
    """A ``where``, of which the branch that is not taken is not evaluated."""
    condition, first, second = reader(c), reader(x), reader(y)
    if isinstance(x, float) and isinstance(y, float):
        return lambda values: x if condition(values) else y
    return lambda values: first(values) if condition(values) else second(values)


def sides(
    op: Op,
    arguments: Sequence[Any],
    varies: Sequence[float],
    tie: Callable[[Sequence[Any]], Any] | None = None,
) -> list[list[Any]]:
    """For each operand, the values that a rule with companions sees, as ``derive.rules.slots`` says.

    ``tie`` is the rule of ties as a function of such values, where they are not floats.
    """
    if not op.variadic:
        return [[*arguments, *varies]] * len(varies)
    tie = tie or compile_template(template(op.ties), slots(op))
    *operands, out = arguments
    found = [[x, out, v, 0.0] for x, v in zip(operands, varies, strict=True)]
    tied = balanced(operator.add, [*map(tie, found)])
    return [[*side[:3], tied] for side in found]


def holds(condition: str, names: Sequence[str], values: Sequence[float]) -> bool:
    """Whether a condition of the op table holds for the values of its names."""
    return bool(compile_template(template(condition), tuple(names))(values))


def at_pole(op: Op, operands: Sequence[float]) -> bool:
    """Whether a row's operands are at one of its poles."""
    return any(holds(where, op.names, operands) for where, _ in op.poles)
