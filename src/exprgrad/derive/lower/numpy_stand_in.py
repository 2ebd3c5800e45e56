"""A structural row's value as nodes: its ``value`` is called with a stand-in for NumPy that builds a graph.

So a row that a target does not spell is lowered to rows that it does, and the row need not say it twice.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from exprgrad.derive.build import Builder
from exprgrad.errors import RequestError
from exprgrad.graph.graph import Program
from exprgrad.graph.literal import Literal, Shape
from exprgrad.graph.tensors import STRUCTURAL
from exprgrad.language.code.target import Variant, operands_of
from exprgrad.language.code.targets import TARGETS

__all__ = ["value_of"]

ELEMENTWISE = {name.removeprefix("np."): row for row, name in TARGETS["numpy"].calls.items()}
"""The rows of the op table by the names of NumPy's functions."""
REDUCTIONS = {
    "sum": "sum",
    "mean": "mean",
    "prod": "prod",
    "max": "reduce_max",
    "min": "reduce_min",
}
LARGEST = 1023
"""The exponent of the greatest power of 2 that is a double."""
CONSTANTS = {"nan": math.nan, "inf": math.inf, "pi": math.pi}


def value_of(variant: Variant) -> Program:
    """A structural operation in others; raises ``RequestError`` where its value is beyond the stand-in."""
    builder = Builder(shapes=True)
    names = operands_of(variant)
    operands = [
        Traced(builder, builder.input(name, shape))
        for name, shape in zip(names, variant.operands, strict=True)
    ]
    row = STRUCTURAL[variant.kind]
    try:
        found = row.value(ArrayLibrary(builder), operands, variant.settings)
    except (AttributeError, TypeError) as error:
        message = f"'{row.word}' has no spelling in this language, nor in terms of what has"
        raise RequestError("no-spelling", message, help=f"its value needs more: {error}") from None
    return builder.program([found.node])


class Traced:
    """An array that is a node: what is done to it is built."""

    __slots__ = ("builder", "node")

    def __init__(self, builder: Builder, node: int) -> None:
        self.builder = builder
        self.node = node

    def __neg__(self) -> Traced:
        return apply(self.builder, "neg", self)


def apply(builder: Builder, kind: str, *operands: Any) -> Traced:
    """An elementwise operation on nodes and numbers."""
    nodes = [node_of(builder, operand) for operand in operands]
    return Traced(builder, builder.apply(kind, *nodes))


def node_of(builder: Builder, operand: Any) -> int:
    """The node of an array or of a number."""
    return operand.node if isinstance(operand, Traced) else builder.constant(float(operand))


def operator(kind: str, *, turned: bool = False) -> Callable[[Traced, Any], Traced]:
    """An operator of Python's; ``turned``: its left operand comes second."""

    def apply_to(self: Traced, other: Any) -> Traced:
        operands = (other, self) if turned else (self, other)
        return apply(self.builder, kind, *operands)

    return apply_to


for name, kind in {
    "add": "add", "sub": "sub", "mul": "mul", "truediv": "div", "pow": "pow", "and": "mul", "or": "max",
}.items():  # fmt: skip
    setattr(Traced, f"__{name}__", operator(kind))
    setattr(Traced, f"__r{name}__", operator(kind, turned=True))
for name in ("lt", "le", "gt", "ge", "eq", "ne"):
    setattr(Traced, f"__{name}__", operator(name))


class ArrayLibrary:
    """What stands for NumPy: as much of it as rows' values use."""

    def __init__(self, builder: Builder) -> None:
        self.builder = builder

    def __getattr__(self, name: str) -> Any:
        if name in CONSTANTS:
            return CONSTANTS[name]
        if name in ELEMENTWISE:
            return lambda *operands: apply(self.builder, ELEMENTWISE[name], *operands)
        if name in REDUCTIONS:
            return self.reduction(REDUCTIONS[name])
        raise AttributeError(name)

    def reduction(self, kind: str) -> Callable[..., Traced]:
        """A reduction along some axes, or all."""

        def reduce(x: Traced, axis: Any = None, keepdims: bool = False) -> Traced:
            return Traced(self.builder, self.builder.apply(kind, x.node, settings=(axis, keepdims)))

        return reduce

    def shape(self, x: Any) -> Shape:
        """An array's shape."""
        return self.builder.shape(x.node) if isinstance(x, Traced) else ()

    def reshape(self, x: Traced, shape: Sequence[int]) -> Traced:
        """The same numbers in another shape."""
        return Traced(self.builder, self.builder.apply("reshape", x.node, settings=(tuple(shape),)))

    def where(self, condition: Traced, x: Any, y: Any) -> Traced:
        """One or the other, number by number."""
        return apply(self.builder, "where", condition, x, y)

    def isfinite(self, x: Traced) -> Traced:
        """Whether a number is neither infinite nor nan."""
        return apply(self.builder, "lt", apply(self.builder, "abs", x), math.inf)

    def frexp(self, x: Traced) -> tuple[None, Traced]:
        """The exponent of a number, less one, for scaling: it may be off by one near a power of 2."""
        whole = apply(self.builder, "floor", apply(self.builder, "log2", x))
        return None, apply(self.builder, "min", whole, LARGEST)

    def ldexp(self, x: float, exponent: Traced) -> Traced:
        """A number times a power of 2, whose exponent is one that ``frexp`` found."""
        return apply(self.builder, "mul", 2 * x, apply(self.builder, "pow", 2.0, exponent))

    def arange(self, stop: int) -> Traced:
        """The whole numbers below one."""
        numbers = tuple(map(float, range(stop)))
        return Traced(self.builder, self.builder.literal(Literal((stop,), numbers)))
