"""A formula as a program in another language: differentiate, lower, write."""

from __future__ import annotations

from collections.abc import Sequence

from exprgrad.derive.lower.lower import formulas, lower
from exprgrad.derive.sweeps.gradient import gradient
from exprgrad.graph.graph import Graph, Program
from exprgrad.language.code.program import check_tensors, find_target, source
from exprgrad.language.read.parse import need_number

__all__ = ["translate"]


def translate(
    graph: Graph,
    to: str,
    *,
    wrt: Sequence[str] | None = None,
    name: str = "f",
    value_only: bool = False,
    text: str = "",
) -> str:
    """The source code of one self-contained function for a formula's value and gradient.

    ``to`` is the name of a target (``language/code/targets/``); ``wrt`` are names of inputs, all by
    default.  A graph with shapes gives a program of tensors, for exactly those shapes;
    ``text`` is its formula, for errors.  Raises ``RequestError`` for another target, a name that no
    function has, or tensors where the target has none, ``ShapeError`` for the gradient of a tensor.
    """
    target = find_target(to)
    check_tensors(target, graph, text)
    if not value_only:
        need_number(graph, text, "code")
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
