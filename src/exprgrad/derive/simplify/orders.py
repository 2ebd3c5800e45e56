"""Derivatives of any order as formulas: differentiate, simplify, and differentiate again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from exprgrad.derive.simplify.formula import derivatives
from exprgrad.errors import RequestError
from exprgrad.graph.graph import Graph
from exprgrad.graph.structural import shape_text
from exprgrad.source import Source

__all__ = ["Orders", "every", "refuse_tensors"]

Orders = tuple[str, ...]
"""The inputs of a mixed derivative, in the order of ``wrt``: ``(x, x)`` is the second derivative in x."""


def every(graph: Graph, wrt: Sequence[str], order: int) -> Iterator[tuple[Orders, Graph]]:
    """Every derivative of an order, each once: the inputs of a mixed one may be in any order.

    Each derivative of the order before is differentiated with respect to its last input and those after it.
    """
    if order == 1:  # one by one, as there may be many
        yield from zip([(name,) for name in wrt], derivatives(graph, wrt), strict=True)
        return
    level: list[tuple[Orders, Graph]] = [((), graph)]
    for step in range(1, order + 1):
        level = [
            ((*inputs, name), derivative)
            for inputs, formula in level
            for name, derivative in onward(formula, inputs, wrt, steps=step == order)
        ]
    yield from level


def refuse_tensors(graph: Graph, text: str, wrt: Sequence[str], order: int) -> None:
    """Raise an error for what has no derivative as a formula of tensors.

    The formula must be a number; beyond the first order, so must each input of ``wrt``.
    """
    if graph.shapes is None:
        return
    from exprgrad.language.read.shaping import need_number

    need_number(graph, text, "diff")
    for name in wrt if order > 1 else ():
        node = graph.inputs[name]
        if graph.shapes[node]:
            shape = shape_text(graph.shapes[node])
            message = f"derivatives of order {order} need inputs that are numbers, and '{name}' is {shape}"
            help = (
                "hess computes second derivatives with respect to tensors; --wrt a,b chooses inputs"
            )
            span = graph.span(node)
            raise RequestError("bad-order", message, source=Source(text), span=span, help=help)


def onward(
    formula: Graph, inputs: Orders, wrt: Sequence[str], *, steps: bool
) -> Iterator[tuple[str, Graph]]:
    """A derivative's derivatives with respect to its last input and those after it."""
    rest = wrt[wrt.index(inputs[-1]) :] if inputs else wrt
    return zip(rest, derivatives(formula, rest, steps=steps), strict=True)
