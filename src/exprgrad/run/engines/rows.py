"""A program in the rows that an engine has functions for, and nothing else.

What an engine lacks is written out by its formula (``derive/lower/lower.py`` says which), all of it, for
engines run programs that nobody reads.  Some operations take less time than others and give the same, or
nearly so.  All but powers give the same double: a sum with a negative is a difference, signs move out of
products, a division by a power of two is a product.  Small powers become products, within 3 ulp.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from functools import partial
from math import frexp, isfinite
from types import MappingProxyType
from typing import NamedTuple, cast

from exprgrad.derive.build import Builder
from exprgrad.derive.lower.lower import added, formula_of
from exprgrad.derive.rules import balanced, template
from exprgrad.graph.graph import CONST, INPUT, Graph, Program
from exprgrad.graph.ops import BY_NAME
from exprgrad.run.numbers.primitives import functions

__all__ = ["written_out"]

Read = Callable[[str], Graph]
"""A text's graph, in rows, and in what an engine has beside them."""


def written_out(
    program: Program,
    rows: Container[str],
    own: Mapping[str, str] = MappingProxyType({}),
    *,
    exact: bool = False,
    read: Read = template,
) -> Program:
    """The program in ``rows``, each an engine's function, and any other row in what it is in others.

    ``own`` are the engine's own texts, by row: of its operands, or of a variadic one of x and y.
    What depends on no input is computed now.  With ``exact`` every operation of ``rows`` stays what it is.
    Without, what takes any number of operands is done two at a time, and operations become ``shorter``.
    """
    builder = Builder()
    make = Maker(builder, rows, own, exact, read)
    images = make.graph(program.graph)
    return builder.program([images[output] for output in program.outputs])


class Maker(NamedTuple):
    """Makes nodes that compute what others do, in an engine's rows."""

    builder: Builder
    rows: Container[str]
    own: Mapping[str, str]
    exact: bool
    read: Read

    def graph(self, graph: Graph, given: Mapping[str, int] | None = None) -> list[int]:
        """Every node of a graph, written out; of a formula, whose inputs are ``given`` nodes, too."""

        def rule(node: int, images: Sequence[int]) -> int | None:
            kind = graph.kinds[node]
            if kind == INPUT:
                return None
            if kind == CONST:  # a named one too is but a number
                return self.builder.constant(cast(float, graph.payloads[node]))
            return self.operation(kind, [images[operand] for operand in graph.operands[node]])

        return self.builder.include(graph, given, rule)

    def operation(self, kind: str, operands: list[int]) -> int:
        """One operation, written out; of constants, what the engine for single numbers makes of them."""
        builder = self.builder
        if kind not in BY_NAME:
            return builder.apply(kind, *operands)
        op = BY_NAME[kind]
        values = [builder.value(operand) for operand in operands]
        if None not in values:
            return builder.constant(functions[kind](*values))
        if kind in self.rows or op.equation is not None:
            if self.exact:
                return builder.apply(kind, *operands)
            if op.variadic:
                return balanced(partial(builder.apply, kind), operands)
            short = shorter(builder, kind, operands)
            return builder.apply(kind, *operands) if short is None else short
        text, names = self.read(self.own.get(kind) or formula_of(kind)), op.formula_names
        if not op.variadic:
            return self.graph(text, dict(zip(names, operands, strict=True)))[text.output]
        return balanced(
            lambda *pair: self.graph(text, dict(zip(names, pair, strict=True)))[text.output],
            operands,
        )


# Shorter operations.


def shorter(builder: Builder, kind: str, operands: list[int]) -> int | None:
    """The node of an operation done otherwise; None where there is nothing better."""
    return SHORTER[kind](builder, *operands) if kind in SHORTER else None


def negative(builder: Builder, x: int) -> int | None:
    """The negative of a product with a constant."""
    found = factors(builder, x)
    if found is None:
        return None
    value, y = found
    return builder.apply("mul", builder.constant(-value), y)


def difference(builder: Builder, x: int, y: int) -> int | None:
    """A difference from a negative."""
    other = opposite(builder, y)
    return None if other is None else builder.apply("add", x, other)


def factored(kind: str, builder: Builder, x: int, y: int) -> int | None:
    """A product or quotient: of negatives without their signs, of others as ``scaled`` says."""
    minus_x, minus_y = opposite(builder, x), opposite(builder, y)
    if minus_x is None and minus_y is None:
        return scaled(builder, kind, x, y)
    operands = [x if minus_x is None else minus_x, y if minus_y is None else minus_y]
    found = shorter(builder, kind, operands)
    if found is None:
        found = builder.apply(kind, *operands)
    return builder.apply("neg", found) if minus_x is None or minus_y is None else found


def scaled(builder: Builder, kind: str, x: int, y: int) -> int | None:
    """A quotient by a power of two; a product of a constant and a product with one."""
    value = builder.value(y)
    if kind == "div":
        if value is None or not is_power_of_two(value):
            return None
        return builder.apply("mul", x, builder.constant(1 / value))
    if value is not None:
        x, y = y, x
    else:
        value = builder.value(x)
    found = factors(builder, y)
    if value is None or found is None:
        return None
    inner, z = found
    doubles = is_power_of_two(inner) and abs(inner) > 1 <= abs(value)
    if not (doubles and isfinite(inner * value)):
        return None
    return builder.apply("mul", builder.constant(inner * value), z)


def power(builder: Builder, x: int, y: int) -> int | None:
    """A small power, as a product or quotient."""
    value = builder.value(y)
    if value == -1:
        return builder.apply("div", builder.constant(1.0), x)
    if value not in (2, 3, 4):
        return None
    square = builder.apply("mul", x, x)
    return square if value == 2 else builder.apply("mul", square, x if value == 3 else square)


def opposite(builder: Builder, node: int) -> int | None:
    """What a node is the negative of, if it is one."""
    graph = builder.graph
    return graph.operands[node][0] if graph.kinds[node] == "neg" else None


def factors(builder: Builder, node: int) -> tuple[float, int] | None:
    """The constant and the other factor of a product that has one."""
    if builder.graph.kinds[node] == "mul":
        x, y = builder.graph.operands[node]
        for factor, other in ((x, y), (y, x)):
            value = builder.value(factor)
            if value is not None:
                return value, other
    return None


def is_power_of_two(value: float) -> bool:
    """Whether a number is a power of two, or the negative of one, whose inverse is normal too."""
    return abs(frexp(value)[0]) == 0.5 and 2.0**-1000 < abs(value) < 2.0**1000


SHORTER: dict[str, Callable[..., int | None]] = {
    "neg": negative,
    "add": added,
    "sub": difference,
    "mul": partial(factored, "mul"),
    "div": partial(factored, "div"),
    "pow": power,
}
"""How an operation is done otherwise, of the builder and the operands."""
