"""Polynomials in Horner's form, with one rounding for each multiplication and addition.

That is for the op table's own texts, whose errors are known.  A user's formula is left as it is: with a
product that is not rounded, what is 0 by its rounding becomes another number, and a kink moves.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from exprgrad.derive.build import Builder
from exprgrad.graph.graph import Graph, Program

__all__ = ["FMA", "contracted"]

FMA = "fma"
"""The kind of x*y + z, rounded once.  It is no row of the op table."""
LEAST_DEGREE = 2
"""The degree from which on it is done."""


class MultiplyAdd(NamedTuple):
    """A sum or difference of a product and a constant: ±x*y ± z, and the node of x*y."""

    minus: bool
    x: int
    y: int
    constant: float
    product: int


def contracted(program: Program) -> Program:
    """The program with ``x*y + c``, ``x*y - c`` and ``c - x*y`` within polynomials as single steps."""
    graph, outputs = program
    steps = contractions(program)
    gone = {step.product for step in steps.values()}
    builder = Builder()

    def contract(node: int, made: Sequence[int]) -> int | None:
        if node in gone:
            return -1
        if node not in steps:
            return None
        step = steps[node]
        x = builder.apply("neg", made[step.x]) if step.minus else made[step.x]
        return builder.apply(FMA, x, made[step.y], builder.constant(step.constant))

    made = builder.include(graph, rule=contract)
    return builder.program([made[output] for output in outputs])


def contractions(program: Program) -> dict[int, MultiplyAdd]:
    """The nodes that become single steps."""
    graph, outputs = program
    uses = Counter(operand for operands in graph.operands for operand in operands)
    uses.update(outputs)
    steps: dict[int, MultiplyAdd] = {}
    degrees: dict[int, int] = {}
    found: dict[int, MultiplyAdd] = {}
    for node, kind in enumerate(graph.kinds):
        step = single(graph, kind, graph.operands[node]) if kind in ("add", "sub") else None
        if step is None or uses[step.product] > 1:
            continue
        steps[node] = step
        inner = inside(step, steps)
        degrees[node] = 1 if inner is None else degrees[inner] + 1
        if degrees[node] >= LEAST_DEGREE:
            link: int | None = node
            while link is not None and link not in found:
                found[link] = steps[link]
                link = inside(steps[link], steps)
    return found


def single(graph: Graph, kind: str, operands: tuple[int, ...]) -> MultiplyAdd | None:
    """A sum or difference of a product and a constant as a single step."""
    for at in (0, 1):
        product, payload = operands[at], graph.payloads[operands[1 - at]]
        if graph.kinds[product] == "mul" and isinstance(payload, float):
            x, y = graph.operands[product]
            constant = -payload if kind == "sub" and at == 0 else payload
            return MultiplyAdd(kind == "sub" and at == 1, x, y, constant, product)
    return None


def inside(step: MultiplyAdd, steps: dict[int, MultiplyAdd]) -> int | None:
    """The factor that is a step of a polynomial itself, and in the same number."""
    for inner, other in ((step.x, step.y), (step.y, step.x)):
        if inner in steps and other in (steps[inner].x, steps[inner].y):
            return inner
    return None
