"""Other systems that derive formulas: what they call our operations, and how their answers are counted.

Formulas reach them as graphs, node by node, and never as text.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from benchmarks.measure import Call
from benchmarks.points import Point
from exprgrad.graph.graph import CONST, INPUT, Graph

__all__ = [
    "MASKS", "Contestant", "Words", "arithmetic", "casadi_contestant", "casadi_read", "sympy_contestant",
    "sympy_operations", "sympy_read", "translated",
]  # fmt: skip

MASKS = ("lt", "le", "gt", "ge", "eq", "ne")
"""Comparisons, which are not counted in what is derived."""
Read = tuple[Any, list[Any]]
"""A formula as a system reads it, and its inputs."""
Words = Mapping[str, Callable[..., Any]]
"""By row of the op table, what a system calls it."""


class Contestant(NamedTuple):
    """One way to derive one formula: the value, then the derivative with respect to each input.

    ``derive`` is what is timed, after ``prepare``; the others say of its answer how many operations it
    takes, and what it gives at a point.
    """

    derive: Callable[[], Any]
    operations: Callable[[Any], int]
    values: Callable[[Any, Point], list[float]]
    prepare: Call = list


def translated(graph: Graph, inputs: list[Any], constant: Callable[..., Any], words: Words) -> Read:
    """Apply a system's words to its inputs, in order.  Raises ``KeyError`` for one that it lacks."""
    leaves = dict(zip(graph.inputs, inputs, strict=True))
    values: list[Any] = []
    for node, kind in enumerate(graph.kinds):
        payload = graph.payloads[node]
        if kind == INPUT:
            values.append(leaves[str(payload)])
        elif kind == CONST:
            values.append(constant(payload, graph.symbols.get(node)))
        else:
            values.append(words[kind](*[values[operand] for operand in graph.operands[node]]))
    return values[graph.output], inputs


def arithmetic() -> dict[str, Callable[..., Any]]:
    """What every system writes as Python does."""
    return {
        "add": lambda x, y: x + y,
        "sub": lambda x, y: x - y,
        "mul": lambda x, y: x * y,
        "div": lambda x, y: x / y,
        "pow": lambda x, y: x**y,
        "neg": lambda x: -x,
    }


def sympy_read(sympy: Any, graph: Graph, *, own: bool = False, more: Words | None = None) -> Read:
    """A formula for SymPy, its inputs real; ``more`` are words that go before those here.

    With ``own`` no function is spelled by others: ``log1p(x)`` is not ``log(1 + x)``.  Raises ``KeyError``
    for what it lacks, which is also what it finds no derivative of: ``floor``, ``%``.
    """

    def constant(value: float, symbol: str | None) -> Any:
        if symbol == "pi":
            return sympy.pi
        return sympy.Integer(int(value)) if value.is_integer() else sympy.Float(value)

    def number(value: Any) -> Any:
        return sympy.Piecewise((1, value), (0, True)) if is_truth(sympy, value) else value

    def where(condition: Any, x: Any, y: Any) -> Any:
        chosen = condition if is_truth(sympy, condition) else sympy.Ne(condition, 0)
        return sympy.Piecewise((number(x), chosen), (number(y), True))

    names = {"min": "Min", "max": "Max", "abs": "Abs"}
    alike = "sqrt exp log sin cos tan asin acos atan atan2 sinh cosh tanh asinh acosh atanh erf erfc sign"
    functions = {name: getattr(sympy, names.get(name, name)) for name in [*names, *alike.split()]}
    plain: dict[str, Callable[..., Any]] = {**arithmetic(), **functions}
    if not own:
        plain |= {
            "cbrt": lambda x: sympy.Piecewise((sympy.cbrt(x), x >= 0), (-sympy.cbrt(-x), True)),
            "expm1": lambda x: sympy.exp(x) - 1,
            "log1p": lambda x: sympy.log(1 + x),
            "log2": lambda x: sympy.log(x, 2),
            "log10": lambda x: sympy.log(x, 10),
            "hypot": lambda x, y: sympy.sqrt(x**2 + y**2),
            "relu": lambda x: sympy.Max(x, 0),
            "clamp": lambda x, low, high: sympy.Min(sympy.Max(x, low), high),
            "sigmoid": lambda x: 1 / (1 + sympy.exp(-x)),
            "softplus": lambda x: sympy.log(1 + sympy.exp(x)),
        }
    plain |= more or {}
    words: dict[str, Callable[..., Any]] = {
        name: lambda *operands, word=word: word(*map(number, operands))
        for name, word in plain.items()
    }
    words["where"] = where
    for name in MASKS:
        words[name] = getattr(sympy, name.capitalize())
    return translated(graph, [sympy.Symbol(n, real=True) for n in graph.inputs], constant, words)


def is_truth(sympy: Any, value: Any) -> bool:
    """Whether SymPy takes something for true or false; an input, which might be either, is a number."""
    return isinstance(value, sympy.logic.boolalg.Boolean) and not value.is_Symbol


def sympy_contestant(sympy: Any, graph: Graph, *, one_input: bool = False) -> Contestant:
    """``diff`` by each input and ``cse`` over all; or only ``diff`` by the first.  Raises ``KeyError``."""
    output, inputs = sympy_read(sympy, graph)

    def derive() -> tuple[list[tuple[Any, Any]], list[Any]]:
        if one_input:
            return [], [output, output.diff(inputs[0])]
        named, found = sympy.cse([output, *[output.diff(x) for x in inputs]])
        return named, found

    return Contestant(
        derive,
        lambda program: sympy_operations(sympy, [*[x for _, x in program[0]], *program[1]]),
        lambda program, point: sympy_values(sympy, program[0], program[1], point),
        sympy.core.cache.clear_cache,
    )


def sympy_operations(sympy: Any, expressions: Sequence[Any]) -> int:
    """As a graph would count them: a sum of k terms is k - 1, ``a - b`` and ``a/b`` are one each."""
    masks = (sympy.Heaviside, sympy.functions.elementary.piecewise.ExprCondPair)
    count = 0
    todo = [(expression, False) for expression in expressions]
    while todo:
        found, is_term = todo.pop()
        parts = list(found.args)
        if found.is_Add:
            count += len(parts) - 1
        elif found.is_Mul:
            factors = [part for part in parts if part != -1]
            under = [part for part in factors if part.is_Pow and part.exp == -1]
            upside_down = len(under) == len(factors)
            negated = len(factors) < len(parts) and not is_term and not upside_down
            count += len(factors) - 1 + upside_down + negated
            parts = [part.base if part in under else part for part in factors]
        elif found.is_Pow:
            count += 1
            parts = [found.base] if found.exp == -1 else parts
        elif isinstance(found, sympy.Piecewise):
            count += len(parts) - 1
        elif parts and not is_truth(sympy, found) and not isinstance(found, masks):
            count += 1
        todo += [(part, bool(found.is_Add)) for part in parts]
    return count


def sympy_values(
    sympy: Any, named: Sequence[tuple[Any, Any]], found: Sequence[Any], point: Point
) -> list[float]:
    """What a program gives at a point, worked out with 30 digits."""
    values = {sympy.Symbol(n, real=True): sympy.Float(value, 30) for n, value in point.items()}
    for symbol, expression in named:
        value = expression.xreplace(values)
        values[symbol] = value if is_truth(sympy, value) else value.evalf(30)
    numbers = [complex(expression.xreplace(values).evalf(30)) for expression in found]
    return [number.real if number.imag == 0 else math.nan for number in numbers]


def casadi_read(casadi: Any, graph: Graph, more: Words | None = None) -> Read:
    """A formula for CasADi; ``more`` are words that go before those here."""
    alike = (
        "sqrt exp expm1 log log1p log10 sin cos tan asin acos atan atan2 sinh cosh tanh asinh acosh atanh "
        "hypot erf sign floor ceil"
    )
    words: dict[str, Callable[..., Any]] = {
        **arithmetic(),
        **{name: getattr(casadi, name) for name in alike.split()},
        "abs": casadi.fabs,
        "cbrt": lambda x: casadi.sign(x) * casadi.fabs(x) ** (1 / 3),
        "log2": lambda x: casadi.log(x) / math.log(2),
        "relu": lambda x: casadi.fmax(x, 0),
        "clamp": lambda x, low, high: casadi.fmin(casadi.fmax(x, low), high),
        "sigmoid": lambda x: 1 / (1 + casadi.exp(-x)),
        "softplus": lambda x: casadi.log1p(casadi.exp(x)),
        "erfc": lambda x: 1 - casadi.erf(x),
        "where": casadi.if_else,
        "min": lambda x, *more: x if not more else casadi.fmin(x, words["min"](*more)),
        "max": lambda x, *more: x if not more else casadi.fmax(x, words["max"](*more)),
        **{name: getattr(casadi, name) for name in MASKS},
        **(more or {}),
    }
    inputs = [casadi.SX.sym(name) for name in graph.inputs]
    return translated(graph, inputs, lambda value, _: casadi.SX(value), words)


def casadi_contestant(casadi: Any, graph: Graph) -> Contestant:
    """``gradient`` and ``cse``: value and gradient in one column, equal subexpressions being one."""
    output, inputs = casadi_read(casadi, graph)
    column = casadi.vertcat(*inputs)
    names = ("INPUT", "OUTPUT", "CONST", "LT", "LE", "EQ", "NE", "NOT", "AND", "OR")
    left_out = {getattr(casadi, f"OP_{name}") for name in names}

    def operations(program: Any) -> int:
        function = casadi.Function("f", [column], [program])
        steps = range(function.n_instructions())
        return sum(function.instruction_id(step) not in left_out for step in steps)

    def values(program: Any, point: Point) -> list[float]:
        found = casadi.Function("f", [column], [program])(casadi.vertcat(*point.values()))
        return [float(value) for value in found.full().ravel()]

    return Contestant(
        lambda: casadi.cse(casadi.vertcat(output, casadi.gradient(output, column))),
        operations,
        values,
    )
