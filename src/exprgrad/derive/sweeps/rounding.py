"""What rounding may have done to a program's numbers, as nodes of it: every engine computes the bounds.

Each operation adds what it rounds, as its row states, to what its operands' errors come to (J. H.
Wilkinson's running error analysis, Rounding Errors in Algebraic Processes, 1963).  Bounds are in units of
2^-53, half an ulp as a part of the least number that has it.  They are of first order, but for products and
powers, whose second order counts where the first vanishes, and for rows with kinks or jumps, which are
asked at both ends, as others are where an
error is large.  Sums and products of whole numbers round nothing below 2^53.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import reduce
from math import inf

from exprgrad.derive.build import KEEPS_WHOLE, Builder
from exprgrad.derive.rules import slots
from exprgrad.derive.search import on
from exprgrad.derive.sweeps.walks import Source, varying_operands
from exprgrad.graph.graph import INPUT, Graph, Program, dependencies
from exprgrad.graph.ops import BY_INFIX, BY_NAME, PRODUCTS, Op

__all__ = ["FORMULA_ULP", "HALF_ULP", "SLACK", "error_bounds", "with_bounds", "with_screen"]

HALF_ULP = 2.0**-53
LEAST = 2.0**-1021
"""The least double above 0, in units of 2^-53: what underflows is off by as much."""
FORMULA_ULP = 5.0
"""To how many ulps the tests hold rows that an engine computes by a formula."""
SLACK = 64 * LEAST
"""Bounds up to this cost no digits: below the normal numbers doubles have fewer digits anyway."""
POWER = BY_NAME[BY_INFIX["^"].name]

# The rules, in the language of the op table.  ``d`` is what a number is off by, in units of 2^-53.

OWN = "abs(out)*ulps + least"
SUM, PRODUCT = "x + y", "x*y"
FACTOR, FACTORS = "abs(x)*d", "(abs(x) + dx*2^-53)*d"
"""One factor's error in a product: with the other factor exact, and to second order with both off."""
HIGH_POWER = "n*(abs(x) + d*2^-53)^(n - 1)*d"
"""The mean value theorem, for an exponent of 1 or more."""
LOW_POWER = "abs(n*out/x)*d"
SMOOTH = "(abs(slope) + abs(out)*d*2^-53)*d"
"""Rows are made on the scale of 1: their second derivatives are taken to be as large as they are."""
SMOOTH_WITH_ENDS = "abs(slope)*d"
NEAR_END = "where(d > abs(x)*2^43, inf, error)"
"""Beside 0, where there may be a pole, or a domain may end, no error is of first order."""
IF_FAR = "where(d > 2^33, far, error)"
"""An error of 2^-20 is not of first order on the scale of 1: a bell, or a wave, may turn within it."""
BESIDE = "x + d*2^-52", "x - d*2^-52"
"""Where a row is asked that has a kink or a jump: twice as far as an operand may be off."""
FAR_AWAY = (
    "x + d*2^-53", "x - d*2^-53", "x + d*2^-53/3", "where(abs(x) < d*2^-53, 0, x)",
    "where(abs(x - 1) < d*2^-53, 1, x)",
)  # fmt: skip
"""Where a row is asked if an error is large: rows turn at 0, their slopes at 1, and waves may be back."""
APART = "abs(there - out)*2^53"
BRANCH, OTHER_BRANCH = "where(c, dx, dy)", "where(d, abs(x - y)*2^53 + dx + dy, 0)"
EXTREMUM = "max(x, y)"


def apply_rule(builder: Builder, rule: str, **given: float) -> int:
    """A rule on nodes, which are ints, and on numbers, which are floats."""
    values = {
        name: builder.constant(one) if isinstance(one, float) else one
        for name, one in given.items()
    }
    return on(builder, rule, values)


def with_screen(program: Program, count: int, digits: int) -> Program:
    """The program, and after its outputs 1 where each of the first ``count`` surely has so many digits.

    Sooner 0 than ``with_bounds`` says: a product or quotient has them if its factors have one more; whole
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
            slack = 0.0 if node in factors else SLACK
            sure = has_digits(source, node, bounds[node], digits + (node in factors), slack)
            is_sure = apply_rule(builder, PRODUCT, x=is_sure, y=sure)
    return builder.program([*images, is_sure])


def with_bounds(program: Program, count: int) -> Program:
    """The program, and after its outputs what each of the first ``count`` may be off by."""
    source, images = rebuilt(program)
    bounds = error_bounds(source, program.outputs[:count], careful=True)
    zero = source.builder.constant(0.0)
    found = [bounds.get(output, zero) for output in program.outputs[:count]]
    return source.builder.program([*images, *found])


def rebuilt(program: Program) -> tuple[Source, list[int]]:
    """A program's graph, built again for bounds to be added, and the nodes of its outputs there."""
    source = Source(Builder(program.graph.empty()), program.graph)
    return source, [source.image[output] for output in program.outputs]


def has_digits(source: Source, node: int, bound: int, digits: int, slack: float) -> int:
    """1 where a bound leaves a node so many digits, or is no more than a slack; a nan leaves none."""
    return apply_rule(
        source.builder, "bound <= abs(x)*share + slack",
        bound=bound, x=source.image[node], share=1 / (10.0**digits + 1) / HALF_ULP, slack=slack,
    )  # fmt: skip


def error_bounds(source: Source, outputs: Sequence[int], *, careful: bool) -> dict[int, int]:
    """By node of the source's graph: the builder's node of what it may be off by; none where it is exact.

    If ``careful``, what is known of zeros and of whole numbers counts.
    """
    graph, builder = source.graph, source.builder
    needed, made_of = dependencies(graph, *outputs), whole_nodes(graph) if careful else {}
    found: dict[int, int] = {}
    for node in range(len(graph)):
        if not needed[node]:
            continue
        if not graph.operands[node]:
            terms = (
                [apply_rule(builder, "abs(x)", x=source.image[node])]
                if node in graph.symbols
                else []
            )
        else:
            own = own_error(source, node)
            if own is not None and careful:
                own = unless_exact(source, node, own, made_of.get(node))
            terms = carried(source, node, found, careful=careful)
            terms += [] if own is None else [own]
        if terms:
            found[node] = builder.total(terms)
    return found


def row_of(graph: Graph, node: int) -> Op:
    """The row whose value, or local derivative, a node is."""
    return BY_NAME[graph.slopes[node].kind if node in graph.slopes else graph.kinds[node]]


# What an operation rounds itself.


def own_error(source: Source, node: int) -> int | None:
    """What an operation rounds away itself; None if nothing."""
    graph, row = source.graph, row_of(source.graph, node)
    is_slope = node in graph.slopes
    ulps, least = (row.partial_ulp, row.partial_abs) if is_slope else (row.value_ulp, row.value_abs)
    if not ulps:
        return source.builder.constant(least / HALF_ULP) if least else None
    ulps = max(ulps, FORMULA_ULP) if ulps > 0.5 else ulps
    numbers = [source.builder.value(source.image[operand]) for operand in graph.operands[node]]
    is_multiple = row.powers == (1, 1) and any(x is not None and abs(x) >= 1 for x in numbers)
    underflows = is_slope or not (row.signs or is_multiple)
    least = max(LEAST, least / HALF_ULP) if underflows else 0.0
    rule = OWN if least else OWN.partition(" +")[0]
    return apply_rule(source.builder, rule, out=source.image[node], ulps=2 * ulps, least=least)


def unless_exact(source: Source, node: int, error: int, inputs: Iterable[int] | None) -> int:
    """An operation's own error, or 0 where its result is certainly exact.

    So is a 0 that is made of a 0, or whose row never comes that near to 0 without being it; and what is
    made of some ``inputs`` that are whole numbers, below 2^53.
    """
    graph, builder, row = source.graph, source.builder, row_of(source.graph, node)
    out, is_slope = source.image[node], node in graph.slopes
    if is_slope or row.powers or row.not_negative or row is POWER:
        factors = [apply_rule(builder, "x != 0", x=source.image[x]) for x in graph.operands[node]]
        is_made = reduce(lambda x, y: apply_rule(builder, PRODUCT, x=x, y=y), factors)
        error = apply_rule(
            builder, "where((out != 0) + made, error, 0)", out=out, made=is_made, error=error
        )
    elif not row.value_abs:
        error = apply_rule(builder, "where(out != 0, error, 0)", out=out, error=error)
    if inputs is None:
        return error
    is_whole = apply_rule(builder, "abs(out) < 2^53", out=out)
    for one in sorted(inputs):
        is_whole = apply_rule(builder, "whole*(x == floor(x))", whole=is_whole, x=source.image[one])
    return apply_rule(builder, "where(whole, 0, error)", whole=is_whole, error=error)


def whole_nodes(graph: Graph) -> dict[int, frozenset[int]]:
    """The nodes that are whole numbers where some inputs are, and these inputs."""
    found: dict[int, frozenset[int]] = {}
    for node, kind in enumerate(graph.kinds):
        operands, payload = graph.operands[node], graph.payloads[node]
        if kind == INPUT:
            found[node] = frozenset([node])
        elif isinstance(payload, float) and payload.is_integer() and node not in graph.symbols:
            found[node] = frozenset()
        elif all(operand in found for operand in operands) and stays_whole(graph, node):
            found[node] = frozenset().union(*[found[operand] for operand in operands])
    return found


def stays_whole(graph: Graph, node: int) -> bool:
    """Whether an operation makes whole numbers of whole numbers, and rounds none that is not too large."""
    row = BY_NAME.get(graph.kinds[node])
    if row is POWER:
        exponent = graph.payloads[graph.operands[node][1]]
        return isinstance(exponent, float) and exponent > 0
    return row is not None and (row.name in KEEPS_WHOLE or bool(row.exact and not row.value_ulp))


# What the operands' errors come to.


def carried(source: Source, node: int, off: Mapping[int, int], *, careful: bool) -> list[int]:
    """What a row makes of its operands' errors: terms of a sum."""
    graph, builder, row = source.graph, source.builder, row_of(source.graph, node)
    operands, out = graph.operands[node], source.image[node]
    seen = [source.image[operand] for operand in operands]
    errors = {at: off[operand] for at, operand in enumerate(operands) if operand in off}
    if not errors:
        return []
    if node in graph.slopes:
        return of_smooth(source, row, node, off, careful=careful)
    if row.signs:
        return [*errors.values()]
    if row.powers == (1, 1):
        return of_product(builder, seen, errors)
    if row.branches:
        return of_choice(builder, seen, errors)
    if row.variadic and row.special:
        return [reduce(lambda x, y: apply_rule(builder, EXTREMUM, x=x, y=y), errors.values())]
    exponent = builder.value(seen[1]) if row is POWER and 1 not in errors else None
    if exponent is not None:
        return [of_power(builder, seen[0], exponent, out, errors[0])]
    if row.special and row is not POWER:
        return [farthest(source, row, node, at, d, BESIDE) for at, d in errors.items()]
    return of_smooth(source, row, node, off, careful=careful)


def of_product(builder: Builder, seen: Sequence[int], errors: Mapping[int, int]) -> list[int]:
    """The terms of a product of two."""
    if len(errors) == 1:
        return [apply_rule(builder, FACTOR, x=seen[1 - at], d=d) for at, d in errors.items()]
    (x, y), (dx, dy) = seen, errors.values()
    return [apply_rule(builder, FACTOR, x=x, d=dy), apply_rule(builder, FACTORS, x=y, dx=dy, d=dx)]


def of_choice(builder: Builder, seen: Sequence[int], errors: Mapping[int, int]) -> list[int]:
    """The terms of a choice: its branch's error; where the condition may be off, the way to the other."""
    condition, x, y = seen
    dx, dy = errors.get(1, 0.0), errors.get(2, 0.0)
    terms = [apply_rule(builder, BRANCH, c=condition, dx=dx, dy=dy)]
    if 0 in errors:
        terms.append(apply_rule(builder, OTHER_BRANCH, d=errors[0], x=x, y=y, dx=dx, dy=dy))
    return terms


def of_power(builder: Builder, base: int, exponent: float, out: int, d: int) -> int:
    """The term of a power whose exponent is a number."""
    if exponent >= 1:
        return apply_rule(builder, HIGH_POWER, x=base, n=exponent, d=d)
    error = apply_rule(builder, LOW_POWER, x=base, n=exponent, out=out, d=d)
    return apply_rule(builder, NEAR_END, x=base, d=d, error=error)


def farthest(source: Source, row: Op, node: int, at: int, d: int, moves: Sequence[str]) -> int:
    """How far a row's value, or local derivative, gets where an operand is off."""
    builder, graph, apart = source.builder, source.graph, []
    slope = graph.slopes.get(node)
    operands = graph.operands[node] if slope is None else slope.operands
    seen = [source.image[operand] for operand in operands]
    for move in moves:
        place = [*seen]
        place[at] = apply_rule(builder, move, x=seen[at], d=d)
        there = builder.apply(row.name, *place)
        if slope is not None:
            rule, ones = row.partial(slope.position), [builder.constant(1.0)] * len(seen)
            there = apply_rule(
                builder, rule, **dict(zip(slots(row), [*place, there, *ones], strict=True))
            )
        apart.append(apply_rule(builder, APART, there=there, out=source.image[node]))
    return reduce(lambda x, y: apply_rule(builder, EXTREMUM, x=x, y=y), apart)


def of_smooth(
    source: Source, row: Op, node: int, off: Mapping[int, int], *, careful: bool
) -> list[int]:
    """The terms of a row that is smooth: local derivatives times errors; a large error may be any."""
    builder, out, terms = source.builder, source.image[node], []
    has_ends = bool(row.domain or row.poles or -1 in row.powers or row is POWER)
    positions = [at for at, operand in varying_operands(source.graph, node) if operand in off]
    for at, (operand, slope, _) in zip(positions, source.edges(node, off), strict=True):
        d, x = off[operand], source.image[operand]
        if has_ends:
            error = apply_rule(builder, SMOOTH_WITH_ENDS, slope=slope, d=d)
            error = apply_rule(builder, NEAR_END, x=x, d=d, error=error)
        else:
            error = apply_rule(builder, SMOOTH, slope=slope, out=out, d=d)
        is_wave = row.magnifies == "period"
        if is_wave or not has_ends:
            asks = (
                careful and not is_wave
            )  # a wave is the same at doubles that are all whole periods
            far = farthest(source, row, node, at, d, FAR_AWAY) if asks else builder.constant(inf)
            error = apply_rule(builder, IF_FAR, d=d, far=far, error=error)
        terms.append(error)
    return terms
