"""SymEngine: SymPy's kernel in C++, for formulas of smooth functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from benchmarks.points import Point
from benchmarks.symbols import Contestant, arithmetic, sympy_operations, translated
from exprgrad.graph.graph import Graph

__all__ = ["symengine_contestant"]

ALIKE = "sqrt exp log sin cos tan asin acos atan atan2 sinh cosh tanh asinh acosh atanh erf erfc"
"""What it calls as the op table does, and finds derivatives of."""


def symengine_contestant(symengine: Any, graph: Graph) -> Contestant:
    """``diff`` by each input and ``cse`` over all.

    Raises ``KeyError`` for a row that it has no word for, or no derivative of.
    """
    import sympy

    words: dict[str, Callable[..., Any]] = {
        **arithmetic(),
        **{name: getattr(symengine, name) for name in ALIKE.split()},
        "expm1": lambda x: symengine.exp(x) - 1,
        "log1p": lambda x: symengine.log(1 + x),
        "log2": lambda x: symengine.log(x) / symengine.log(2),
        "log10": lambda x: symengine.log(x) / symengine.log(10),
        "hypot": lambda x, y: symengine.sqrt(x**2 + y**2),
        "sigmoid": lambda x: 1 / (1 + symengine.exp(-x)),
        "softplus": lambda x: symengine.log(1 + symengine.exp(x)),
    }

    def constant(value: float, symbol: str | None) -> Any:
        if symbol == "pi":
            return symengine.pi
        return symengine.Integer(int(value)) if value.is_integer() else symengine.RealDouble(value)

    symbols = [symengine.Symbol(name) for name in graph.inputs]
    output, inputs = translated(graph, symbols, constant, words)

    def derive() -> Any:
        return symengine.cse([output, *[output.diff(x) for x in inputs]])

    def operations(program: Any) -> int:
        named, found = program
        return sympy_operations(sympy, [*[x for _, x in named], *found])

    def values(program: Any, point: Point) -> list[float]:
        named, found = program
        known = {symengine.Symbol(name): value for name, value in point.items()}
        for symbol, expression in named:
            known[symbol] = expression.subs(known)
        return [float(expression.subs(known)) for expression in found]

    return Contestant(derive, operations, values)
