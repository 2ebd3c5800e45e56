"""Operations that take less time than others and give the same, or nearly so.

All but powers give the same double: a sum with a negative is a difference, signs move out of products,
a division by a power of two is a product.  Small powers become products, which are within 3 ulp.
"""

from __future__ import annotations

from math import frexp, isfinite

from exprgrad.derive.build import Builder
from exprgrad.derive.lower.lower import total

__all__ = ["shorter"]


def shorter(builder: Builder, kind: str, operands: list[int]) -> int | None:
    """The node of an operation done otherwise; None where there is nothing better."""
    if kind == "neg":
        return negative(builder, operands[0])
    if kind == "add":
        return total(builder, *operands)
    if kind == "sub":
        return difference(builder, *operands)
    if kind in ("mul", "div"):
        found = unsigned(builder, kind, *operands)
        return scaled(builder, kind, *operands) if found is None else found
    return power(builder, *operands) if kind == "pow" else None


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


def unsigned(builder: Builder, kind: str, x: int, y: int) -> int | None:
    """A product or quotient of negatives."""
    minus_x, minus_y = opposite(builder, x), opposite(builder, y)
    if minus_x is None and minus_y is None:
        return None
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
