"""Between which numbers the values of a formula lie, wherever its inputs are, as far as its rows tell.

Sums, products and choices have the range that those of their operands allow.  Where a row's partial keeps
its sign, its value is least at one end and greatest at the other.  Ends are rounded as all doubles are.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from exprgrad.derive.rules import template
from exprgrad.graph.graph import Algebra, Graph, interpret
from exprgrad.graph.ops import BY_NAME, Op
from exprgrad.run.numbers.primitives import functions, number

__all__ = ["Range", "ranges"]

Range = tuple[float, float]
REALS = (-math.inf, math.inf)


def ranges(graph: Graph, given: Mapping[str, float]) -> list[Range]:
    """By node the least and the greatest value that it may have, some inputs being given; nan aside."""
    inputs = {name: (given[name],) * 2 if name in given else REALS for name in graph.inputs}
    return interpret(graph, Algebra(constant_range, range_of), inputs)


def constant_range(graph: Graph, node: int) -> Range:
    """A constant is its own least and greatest value."""
    return number(graph, node), number(graph, node)


def range_of(graph: Graph, node: int, operands: Sequence[Range]) -> Range:
    """An operation's range: what its structure says of it, and the sign of its slope."""
    row = BY_NAME[graph.kinds[node]]
    low, high = range_by_structure(graph, node, operands)
    if len(operands) == 1 and is_smooth(row, operands[0]):
        slope = template(row.partials[0])
        seen = {"x": operands[0], "out": (low, high)}
        least, greatest = interpret(slope, BY_STRUCTURE, seen)[slope.output]
        ends = [functions[row.name](end) for end in operands[0]]
        if (least >= 0 or greatest <= 0) and not any(map(math.isnan, ends)):
            return max(low, min(ends)), min(high, max(ends))
    return low, high


def is_smooth(row: Op, within: Range) -> bool:
    """Whether a row has neither jumps nor poles within an interval on whose ends it has values.

    What has values on both sides of 0 may have none there.
    """
    if within[0] < 0 < within[1] and not math.isfinite(functions[row.name](0.0)):
        return False
    return row.magnifies != "period" and all(special.code == "kink" for special in row.special)


def range_by_structure(graph: Graph, node: int, operands: Sequence[Range]) -> Range:
    """The range that an operation's structure allows, or that of its definition."""
    row = BY_NAME[graph.kinds[node]]
    lows, highs = zip(*operands, strict=True)
    found = REALS
    if row.signs:
        signed = zip(row.signs, operands, strict=True)
        terms = [(low, high) if sign > 0 else (-high, -low) for sign, (low, high) in signed]
        found = sum(low for low, _ in terms), sum(high for _, high in terms)
    elif row.powers:
        same = row.powers == (1, 1) and len({*graph.operands[node]}) == 1
        found = product_range(
            operands[0], operands[1] if min(row.powers) > 0 else reciprocal(*operands[1])
        )
        found = (max(found[0], 0.0), found[1]) if same else found
    elif row.branches:
        found = min(lows[at] for at in row.branches), max(highs[at] for at in row.branches)
    elif row.winner:
        found = functions[row.name](*lows), functions[row.name](*highs)
    elif row.gate == "power":
        exponent = lows[1] if lows[1] == highs[1] else math.nan
        found = (0.0, math.inf) if exponent % 2 != 1 and exponent == exponent else REALS
    elif row.definition:
        plainer = template(row.definition)
        given = dict(zip(row.names, operands, strict=True))
        found = interpret(plainer, BY_STRUCTURE, given)[plainer.output]
    low, high = REALS if any(map(math.isnan, found)) else found
    return (max(low, 0.0) if row.not_negative else low), high


BY_STRUCTURE = Algebra(constant_range, range_by_structure)


def product_range(one: Range, other: Range) -> Range:
    """The range of a product; 0 times anything is 0."""
    ends = [x * y if x and y else 0.0 for x in one for y in other]
    return min(ends), max(ends)


def reciprocal(low: float, high: float) -> Range:
    """The range of 1/x; the whole line where x may have either sign."""
    if low >= 0:
        return (1 / high if high else math.inf), (1 / low if low else math.inf)
    if high <= 0:
        return (1 / high if high else -math.inf), 1 / low
    return REALS
