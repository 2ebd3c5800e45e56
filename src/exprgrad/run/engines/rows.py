"""A program in the rows that an engine has functions for, and nothing else.

What an engine lacks is written out by its formula (``derive/lower/lower.py`` says which), all of it, for
engines run programs that nobody reads.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from functools import partial, reduce
from typing import NamedTuple, cast

from exprgrad.derive.build import Builder
from exprgrad.derive.lower.lower import formula_of
from exprgrad.derive.rules import template
from exprgrad.graph.graph import CONST, INPUT, Graph, Program
from exprgrad.graph.ops import BY_NAME
from exprgrad.run.engines.strength_reduction import shorter
from exprgrad.run.numbers.primitives import functions

__all__ = ["written_out"]

Formula = Callable[[str], str]
"""A row's text in other rows, of its operands; of a variadic one of x and y."""
Read = Callable[[str], Graph]
"""A text's graph, in rows, and in what an engine has beside them."""


def written_out(
    program: Program,
    rows: Container[str],
    formula: Formula = formula_of,
    *,
    exact: bool = False,
    read: Read = template,
) -> Program:
    """The program in ``rows``, each an engine's function; ``formula`` says what any other row is in them.

    What depends on no input is computed now.  With ``exact`` every operation of ``rows`` stays what it is.
    Without, what takes any number of operands is done two at a time, and operations become ``shorter``.
    """
    builder = Builder()
    make = Maker(builder, rows, formula, exact, read)
    images = make.graph(program.graph)
    return builder.program([images[output] for output in program.outputs])


class Maker(NamedTuple):
    """Makes nodes that compute what others do, in an engine's rows."""

    builder: Builder
    rows: Container[str]
    formula: Formula
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
        if kind in self.rows:
            if self.exact:
                return builder.apply(kind, *operands)
            if op.variadic:
                return reduce(partial(builder.apply, kind), operands)
            short = shorter(builder, kind, operands)
            return builder.apply(kind, *operands) if short is None else short
        text, names = self.read(self.formula(kind)), op.formula_names
        if not op.variadic:
            return self.graph(text, dict(zip(names, operands, strict=True)))[text.output]
        first, *others = operands
        for other in others:
            first = self.graph(text, dict(zip(names, (first, other), strict=True)))[text.output]
        return first
