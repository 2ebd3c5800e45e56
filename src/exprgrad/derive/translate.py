"""A formula as a program in another language: differentiate, lower, write."""

from __future__ import annotations

from collections.abc import Sequence

from exprgrad.derive.gradient import gradient
from exprgrad.derive.lower import formulas, lower
from exprgrad.graph.graph import Graph, Program
from exprgrad.language.code import find_target, source

__all__ = ["translate"]


def translate(
    graph: Graph,
    to: str,
    *,
    wrt: Sequence[str] | None = None,
    name: str = "f",
    value_only: bool = False,
) -> str:
    """The source code of one self-contained function for a formula's value and gradient.

    ``to`` is ``python``, ``numpy``, ``c``, ``javascript``, ``jax`` or ``torch``; ``wrt`` are names of
    inputs, all by default.  Raises ``RequestError`` for another target, or a name that no function has.
    """
    target = find_target(to)
    chosen = tuple(graph.inputs) if wrt is None else tuple(wrt)
    program = Program(graph, (graph.output,)) if value_only else gradient(graph, chosen)
    lowered = lower(program, target.spelled, graph)
    return source(
        lowered,
        target,
        formula=graph,
        wrt=None if value_only else chosen,
        name=name,
        formulas=formulas(lowered, target.spelled),
    )
