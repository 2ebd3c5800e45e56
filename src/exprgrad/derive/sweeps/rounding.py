"""What rounding may have done to a program's numbers, as nodes of it: every engine computes the bounds.

Each operation adds what it rounds, as its row states, to what its operands' errors come to (J. H.
Wilkinson's running error analysis, Rounding Errors in Algebraic Processes, 1963).  Bounds are in units of
2^-53, half an ulp as a part of the least number that has it.  They are of first order, but for products and
powers, whose second order counts where the first vanishes, and for rows with kinks or jumps, which are
asked at both ends.  Sums and products of whole numbers round nothing below 2^53.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial, reduce
from math import inf

from exprgrad.derive.build import KEEPS_WHOLE, Builder
from exprgrad.derive.sweeps.walks import Source
from exprgrad.graph.graph import INPUT, Graph, Program, dependencies
from exprgrad.graph.ops import BY_INFIX, BY_NAME, PRODUCTS, Op

__all__ = ["MOST_FLAGS", "with_flags"]

UNIT = 2.0**-53
LEAST = 2.0**-1021
"""The least double above 0, in units of 2^-53: what underflows is off by as much."""
WHOLE_BELOW = 2.0**53
"""Below it the doubles leave no whole number out."""
FORMULA_ULP = 5.0
"""To how many ulps the tests hold rows that an engine computes by a formula."""
NEAR = 2.0**-10
"""An error that is such a part of its number may reach a pole, or the end of a domain, at 0."""
POWER = BY_NAME[BY_INFIX["^"].name]
STAYS_WHOLE = KEEPS_WHOLE | {
    name for name, row in BY_NAME.items() if row.exact and not row.value_ulp
}
"""The rows that make whole numbers of whole numbers, rounding none that is not too large."""
MOST_FLAGS = 50
"""So many flags fit into a double, as bits of a whole number."""


def with_screen(program: Program, count: int, digits: int) -> Program:
    """The program, and after its outputs 1 where each of the first ``count`` surely has so many digits.

    Sooner 0 than ``with_flags`` says: a product or quotient has them if its factors have one more; whole
    numbers count as any; and what is not finite has none.
    """
    source, images = rebuilt(program)
    graph, builder, outputs = program.graph, source.builder, program.outputs[:count]
    products = {o for o in outputs if graph.kinds[o] in PRODUCTS and o not in graph.slopes}
    factors = {operand for output in products for operand in graph.operands[output]}
    checked = sorted(factors.union(outputs) - (products - factors))
    bounds = error_bounds(source, checked, careful=False)
    is_sure = builder.constant(1.0)
    for node in checked:
        if node in bounds:
            slack = 0.0 if node in factors else 64 * LEAST
            has_digits = keeps(source, node, bounds[node], digits + (node in factors), slack)
            is_sure = builder.apply("mul", is_sure, has_digits)
    return builder.program([*images, is_sure])


def with_flags(program: Program, count: int, digits: int) -> Program:
    """The program, and after its outputs numbers whose bits say which of the first ``count`` lost digits.

    Each has ``MOST_FLAGS`` bits.  A flagged output is finite, and its bound leaves it fewer ``digits``.
    """
    source, images = rebuilt(program)
    builder, one = source.builder, source.builder.constant(1.0)
    bounds = error_bounds(source, program.outputs[:count], careful=True)
    numbers = [builder.constant(0.0)] * -(-count // MOST_FLAGS)
    for at, output in enumerate(program.outputs[:count]):
        if output in bounds:
            has_digits = keeps(source, output, bounds[output], digits, 64 * LEAST)
            is_lost = builder.apply("sub", one, has_digits)
            size = builder.apply("abs", images[at])
            is_finite = builder.apply("lt", size, builder.constant(inf))
            flag = scaled(
                builder, builder.apply("mul", is_lost, is_finite), 2.0 ** (at % MOST_FLAGS)
            )
            numbers[at // MOST_FLAGS] = builder.apply("add", numbers[at // MOST_FLAGS], flag)
    return builder.program([*images, *numbers])


def rebuilt(program: Program) -> tuple[Source, list[int]]:
    """A program's graph, built again for bounds to be added, and the nodes of its outputs there."""
    source = Source(Builder(program.graph.empty()), program.graph)
    return source, [source.image[output] for output in program.outputs]


def keeps(source: Source, node: int, bound: int, digits: int, slack: float) -> int:
    """1 where a bound leaves a node so many digits, or is no more than a slack; a nan leaves none."""
    builder = source.builder
    most = scaled(builder, builder.apply("abs", source.image[node]), 10.0**-digits / UNIT)
    return builder.apply("le", bound, builder.apply("add", most, builder.constant(slack)))


def scaled(builder: Builder, node: int, factor: float) -> int:
    """A node times a number."""
    return builder.apply("mul", node, builder.constant(factor))


def error_bounds(source: Source, outputs: Sequence[int], *, careful: bool) -> dict[int, int]:
    """By node of the source's graph: the builder's node of what it may be off by; none where it is exact.

    If ``careful``, what is known of zeros and of whole numbers counts.
    """
    graph, builder = source.graph, source.builder
    needed, made_of = dependencies(graph, *outputs), whole_nodes(graph)
    found: dict[int, int] = {}
    for node in range(len(graph)):
        if not needed[node]:
            continue
        if not graph.operands[node]:
            terms = [builder.apply("abs", source.image[node])] if node in graph.symbols else []
        else:
            terms = carried(source, node, found)
            own = own_error(source, node, careful=careful)
            if own is not None and careful and node in made_of:
                own = unless_whole(source, own, node, made_of[node])
            terms += [] if own is None else [own]
        if terms:
            found[node] = builder.total(terms)
    return found


def row_of(graph: Graph, node: int) -> Op:
    """The row whose value, or local derivative, a node is."""
    return BY_NAME[graph.slopes[node].kind if node in graph.slopes else graph.kinds[node]]


# What an operation rounds itself.


def own_error(source: Source, node: int, *, careful: bool) -> int | None:
    """What an operation rounds away itself; None if nothing.

    A 0 has lost nothing if it is made of a 0, or if its row never comes that near to 0 without being it.
    """
    graph, builder, row = source.graph, source.builder, row_of(source.graph, node)
    is_slope = node in graph.slopes
    ulps, least = (row.partial_ulp, row.partial_abs) if is_slope else (row.value_ulp, row.value_abs)
    if not ulps:
        return builder.constant(least / UNIT) if least else None
    ulps = max(ulps, FORMULA_ULP) if ulps > 0.5 else ulps
    out = source.image[node]
    error = scaled(builder, builder.apply("abs", out), 2 * ulps)
    if not is_slope and (row.signs or is_multiple(source, node)):
        return error  # it does not underflow
    error = builder.apply("add", error, builder.constant(max(LEAST, least / UNIT)))
    if not careful or least:
        return error
    zero, is_exact = builder.constant(0.0), builder.constant(1.0)
    if is_slope or row.powers or row.not_negative or row is POWER:
        zeros = [builder.apply("eq", source.image[x], zero) for x in graph.operands[node]]
        is_exact = reduce(partial(builder.apply, "max"), zeros)
    is_exact = builder.apply("mul", is_exact, builder.apply("eq", out, zero))
    return builder.apply("where", is_exact, zero, error)


def is_multiple(source: Source, node: int) -> bool:
    """Whether a node is a product by a number that does not make it smaller."""
    graph = source.graph
    numbers = [source.builder.value(source.image[operand]) for operand in graph.operands[node]]
    return row_of(graph, node).powers == (1, 1) and any(
        x is not None and abs(x) >= 1 for x in numbers
    )


def whole_nodes(graph: Graph) -> dict[int, frozenset[int]]:
    """The nodes that are whole numbers where some inputs are, and these inputs."""
    found: dict[int, frozenset[int]] = {}
    for node, kind in enumerate(graph.kinds):
        operands, payload = graph.operands[node], graph.payloads[node]
        if kind == INPUT:
            found[node] = frozenset([node])
        elif isinstance(payload, float) and payload.is_integer() and node not in graph.symbols:
            found[node] = frozenset()
        elif kind in STAYS_WHOLE and all(operand in found for operand in operands):
            found[node] = frozenset().union(*[found[operand] for operand in operands])
        elif kind == POWER.name and operands[0] in found and is_whole_power(graph, operands[1]):
            found[node] = found[operands[0]]
    return found


def is_whole_power(graph: Graph, exponent: int) -> bool:
    """Whether an exponent is a number that leaves whole numbers whole."""
    number = graph.payloads[exponent]
    return isinstance(number, float) and number.is_integer() and number > 0


def unless_whole(source: Source, error: int, node: int, inputs: Iterable[int]) -> int:
    """An error, or 0 where some inputs are whole numbers, and what is made of them is not too large."""
    builder = source.builder
    size = builder.apply("abs", source.image[node])
    is_exact = builder.apply("lt", size, builder.constant(WHOLE_BELOW))
    for node in sorted(inputs):
        x = source.image[node]
        is_whole = builder.apply("eq", x, builder.apply("floor", x))
        is_exact = builder.apply("mul", is_exact, is_whole)
    return builder.apply("where", is_exact, builder.constant(0.0), error)


# What the operands' errors come to.


def carried(source: Source, node: int, off: Mapping[int, int]) -> list[int]:
    """What a row makes of its operands' errors: terms of a sum."""
    graph, builder, row = source.graph, source.builder, row_of(source.graph, node)
    errors = [off.get(operand) for operand in graph.operands[node]]
    moving = [error for error in errors if error is not None]
    seen = [source.image[operand] for operand in graph.operands[node]]
    if not moving:
        return []
    if node in graph.slopes:
        return smooth(source, row, node, off)
    if row.signs:
        return moving
    if row.powers == (1, 1):
        return of_product(builder, seen, errors)
    if row.branches:
        return of_choice(source, node, off)
    if row.variadic and row.special:
        return [reduce(partial(builder.apply, "max"), moving)]
    if row is POWER and errors[1] is None and builder.value(seen[1]) is not None:
        return of_power(builder, seen, source.image[node], moving[0])
    if row.special and row is not POWER:
        return at_ends(builder, row, seen, source.image[node], errors)
    return smooth(source, row, node, off)


def of_product(builder: Builder, seen: Sequence[int], errors: Sequence[int | None]) -> list[int]:
    """The same of a product of two, to second order."""
    (x, y), (dx, dy) = [builder.apply("abs", one) for one in seen], errors
    terms = []
    if dy is not None:
        terms.append(builder.apply("mul", x, dy))
    if dx is not None:
        if dy is not None:
            y = builder.apply("add", y, scaled(builder, dy, UNIT))
        terms.append(builder.apply("mul", y, dx))
    return terms


def of_choice(source: Source, node: int, off: Mapping[int, int]) -> list[int]:
    """The same of a choice: what its branch is off by, and if the condition may be off, the other branch."""
    builder = source.builder
    condition, *branches = source.graph.operands[node]
    chosen, zero = source.image[condition], builder.constant(0.0)
    terms = [builder.apply("where", chosen, *[off.get(branch, zero) for branch in branches])]
    if condition in off:
        gap = builder.apply("sub", *[source.image[branch] for branch in branches])
        apart = scaled(builder, builder.apply("abs", gap), 1 / UNIT)
        terms.append(builder.apply("where", off[condition], apart, zero))
    return terms


def of_power(builder: Builder, seen: Sequence[int], out: int, d: int) -> list[int]:
    """The same of a power with a known exponent: by the mean value theorem, or below 1 to first order."""
    base, exponent = seen
    size, number = builder.apply("abs", base), builder.value(exponent)
    assert number is not None
    if number >= 1:
        most = builder.apply("add", size, scaled(builder, d, UNIT))
        power = builder.apply("pow", most, builder.constant(number - 1))
        return [builder.apply("mul", scaled(builder, power, number), d)]
    slope = builder.apply("div", scaled(builder, builder.apply("abs", out), abs(number)), size)
    return [away_from_0(builder, size, d, builder.apply("mul", slope, d))]


def away_from_0(builder: Builder, size: int, d: int, error: int) -> int:
    """An error, or infinity where an operand of a size may be 0, or near it, for all that is known."""
    is_near = builder.apply("gt", d, scaled(builder, size, NEAR / UNIT))
    return builder.apply("where", is_near, builder.constant(inf), error)


def at_ends(
    builder: Builder, row: Op, seen: Sequence[int], out: int, errors: Sequence[int | None]
) -> list[int]:
    """The same of a row with kinks or jumps: how far it gets where an operand is twice as far off."""
    terms = []
    for at, d in enumerate(errors):
        if d is None:
            continue
        reach, far = scaled(builder, d, 2 * UNIT), []
        for way in ("add", "sub"):
            place = [*seen]
            place[at] = builder.apply(way, seen[at], reach)
            gap = builder.apply("sub", builder.apply(row.name, *place), out)
            far.append(builder.apply("abs", gap))
        terms.append(scaled(builder, builder.apply("max", *far), 1 / UNIT))
    return terms


def smooth(source: Source, row: Op, node: int, off: Mapping[int, int]) -> list[int]:
    """The same of a row that is smooth: local derivatives times errors.

    Rows are made on the scale of 1: where a local derivative vanishes the second one is taken to be as
    large as the value; where there are poles, or a domain ends, the operand has to be away from 0.
    """
    builder, terms = source.builder, []
    has_ends = bool(row.domain or row.poles or -1 in row.powers or row is POWER)
    for operand, local, _ in source.edges(node, off):
        d, slope = off[operand], builder.apply("abs", local)
        if not has_ends:
            bend = builder.apply("mul", builder.apply("abs", source.image[node]), d)
            slope = builder.apply("add", slope, scaled(builder, bend, UNIT))
        error = builder.apply("mul", slope, d)
        if has_ends:
            size = builder.apply("abs", source.image[operand])
            error = away_from_0(builder, size, d, error)
        terms.append(error)
    return terms
