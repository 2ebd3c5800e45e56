"""What rounding may have done to a program's numbers, as nodes of it: every engine computes the bounds.

The rules are those of ``derive/error_rules.py``.  Bounds are in units of 2^-53, half an ulp as a part of
the least number that has it.  Sums and products of whole numbers round nothing below 2^53.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial, reduce
from typing import Any

from exprgrad.derive.build import KEEPS_WHOLE, GraphBuilder
from exprgrad.derive.error_rules import (
    POWER,
    TINY,
    UNIT,
    ErrorArithmetic,
    bound_propagated_error,
    bound_rounding,
    bound_smooth,
    deferred_error,
    may_be_rounded,
)
from exprgrad.derive.rules import rule_slots
from exprgrad.derive.search import apply_text as on_nodes
from exprgrad.derive.sweeps.walks import SweepSource, varying_operands
from exprgrad.graph.graph import INPUT, Graph, Program, dependency_flags
from exprgrad.graph.ops import BY_INFIX, BY_NAME, Op

__all__ = [
    "FORMULA_ULP", "SLACK", "NodeTerm", "add_error_bounds", "error_bounds",
    "own_rounding_error", "propagated_error", "rebuild_for_bounds",
]  # fmt: skip

FORMULA_ULP = 5.0
"""To how many ulps the tests hold rows that an engine computes by a formula."""
SLACK = 64 * TINY / UNIT
"""Bounds up to this cost no digits: below the normal numbers doubles have fewer digits anyway."""


def term_operator(infix: str) -> Callable[[NodeTerm, NodeTerm | float], NodeTerm]:
    """A method for an operator; to add or take away an exact 0 builds nothing."""
    row = BY_INFIX[infix]

    def method(self: NodeTerm, other: NodeTerm | float) -> NodeTerm:
        if row.signs and isinstance(other, float) and not other:
            return self
        return self.apply(row.name, other)

    return method


class NodeTerm:
    """A node that is calculated with as numbers are: what is built is the arithmetic."""

    __add__ = __radd__ = term_operator("+")
    __sub__, __mul__, __truediv__ = term_operator("-"), term_operator("*"), term_operator("/")
    __rmul__ = __and__ = __mul__
    __lt__, __le__, __gt__, __ge__ = (
        term_operator("<"),
        term_operator("<="),
        term_operator(">"),
        term_operator(">="),
    )
    __eq__, __ne__ = term_operator("=="), term_operator("!=")  # type: ignore[assignment]

    def __init__(self, builder: GraphBuilder, node: int) -> None:
        self.builder = builder
        self.node = node

    def __abs__(self) -> NodeTerm:
        return self.apply("abs")

    def __or__(self, other: NodeTerm | float) -> NodeTerm:
        return self.apply("max", other)

    def apply(self, kind: str, *others: NodeTerm | float) -> NodeTerm:
        """An operation on this node and on others, or on numbers."""
        nodes = [
            x.node if isinstance(x, NodeTerm) else self.builder.constant(float(x)) for x in others
        ]
        return NodeTerm(self.builder, self.builder.apply(kind, self.node, *nodes))


MakeTerm = Callable[[int], Any]
"""A builder's node, to calculate with."""


def add_error_bounds(program: Program, count: int) -> Program:
    """The program, and after its outputs what each of the first ``count`` may be off by."""
    source, images = rebuild_for_bounds(program)
    bounds = error_bounds(source, program.outputs[:count])
    zero = source.builder.constant(0.0)
    found = [bounds.get(output, zero) for output in program.outputs[:count]]
    return source.builder.program([*images, *found])


def rebuild_for_bounds(program: Program) -> tuple[SweepSource, list[int]]:
    """A program's graph, built again for bounds to be added, and the nodes of its outputs there."""
    source = SweepSource(GraphBuilder(program.graph.empty()), program.graph)
    return source, [source.image[output] for output in program.outputs]


def error_bounds(source: SweepSource, outputs: Sequence[int]) -> dict[int, int]:
    """By node of the source's graph: the builder's node of what it may be off by; none where it is exact.

    What is known of zeros and of whole numbers counts, and rows are asked where large errors may lead.
    """
    graph, term = source.graph, partial(NodeTerm, source.builder)
    needed, made_of = dependency_flags(graph, *outputs), find_integer_nodes(graph)
    found: dict[int, Any] = {}
    for node in range(len(graph)):
        if not needed[node]:
            continue
        out = term(source.image[node])
        if not graph.operands[node]:
            error = abs(out) if node in graph.symbols else 0.0
        else:
            own = own_rounding_error(source, node, term, careful=True)
            if node in made_of and own:
                numbers = [term(source.image[one]) for one in sorted(made_of[node])]
                below = abs(out) < 2.0**53  # a whole number, and so exact
                is_whole = reduce(operator.and_, [below, *[x == x.apply("floor") for x in numbers]])
                own = choose_node(is_whole, deferred_error(0.0), deferred_error(own))
            error = propagated_error(source, node, found, term) + own
        if isinstance(error, NodeTerm):
            found[node] = error
    return {node: error.node for node, error in found.items()}


def own_rounding_error(
    source: SweepSource, node: int, term: MakeTerm, *, careful: bool = False
) -> Any:
    """What an operation rounds away itself; if ``careful``, nothing where a 0 comes from a 0."""
    graph, builder, row = source.graph, source.builder, row_of_node(source.graph, node)
    is_slope, out = node in graph.slopes, term(source.image[node])
    ulps, least = (row.partial_ulp, row.partial_abs) if is_slope else (row.value_ulp, row.value_abs)
    if not ulps:
        return NodeTerm(builder, builder.constant(least / UNIT)) if least else 0.0
    ulps = max(ulps, FORMULA_ULP) if ulps > 0.5 else ulps
    seen = [term(source.image[operand]) for operand in graph.operands[node]]
    numbers = [builder.value(x.node) for x in seen]
    is_product = getattr(BY_NAME.get(graph.kinds[node]), "powers", ()) == (1, 1)
    is_multiple = is_product and any(x is not None and abs(x) >= 1 for x in numbers)
    underflows = not is_multiple and (is_slope or not row.signs)
    error = bound_rounding(UNIT, out, ulps, max(TINY, least) if underflows else 0.0)
    if not careful:
        return error
    rounded = may_be_rounded(row, out, seen)
    return choose_node(rounded, deferred_error(error), deferred_error(least / UNIT))


def find_integer_nodes(graph: Graph) -> dict[int, frozenset[int]]:
    """The nodes that are whole numbers where some inputs are, and these inputs."""
    found: dict[int, frozenset[int]] = {}
    for node, kind in enumerate(graph.kinds):
        operands, payload = graph.operands[node], graph.payloads[node]
        if kind == INPUT:
            found[node] = frozenset([node])
        elif isinstance(payload, float) and payload.is_integer() and node not in graph.symbols:
            found[node] = frozenset()
        elif all(operand in found for operand in operands) and preserves_integers(graph, node):
            found[node] = frozenset().union(*[found[operand] for operand in operands])
    return found


def preserves_integers(graph: Graph, node: int) -> bool:
    """Whether an operation makes whole numbers of whole numbers, and rounds none that is not too large."""
    row = BY_NAME.get(graph.kinds[node])
    if row is POWER:
        exponent = graph.payloads[graph.operands[node][1]]
        return isinstance(exponent, float) and exponent > 0
    return row is not None and (row.name in KEEPS_WHOLE or bool(row.exact and not row.value_ulp))


def row_of_node(graph: Graph, node: int) -> Op:
    """The row whose value, or local derivative, a node is."""
    return BY_NAME[graph.slopes[node].kind if node in graph.slopes else graph.kinds[node]]


# What the operands' errors come to.


def propagated_error(
    source: SweepSource, node: int, found: Mapping[int, Any], term: MakeTerm, **rules: Any
) -> Any:
    """What an operation, or a local derivative, makes of its operands' errors.

    ``rules`` are those of an ``ErrorArithmetic`` that are not as usual for nodes.
    """
    graph, builder, row = source.graph, source.builder, row_of_node(source.graph, node)
    local = graph.slopes.get(node)
    operands = graph.operands[node] if local is None else local.operands
    seen = [term(source.image[operand]) for operand in operands]
    out = term(source.image[node])
    moving = [at for at, operand in varying_operands(graph, node) if operand in found]

    @cache
    def slopes() -> dict[int, NodeTerm]:
        edges = source.edges(node, found)
        return {at: term(edge[1]) for at, edge in zip(moving, edges, strict=True)}

    def slope(at: int) -> Any:
        return slopes().get(at, 0.0)

    on = ErrorArithmetic(
        unit=UNIT,
        function=lambda name: lambda x, *others: x.apply(name, *others),
        slopes=lambda row, seen, out: slope,
        number=lambda x: builder.value(x.node),
        is_zero=lambda error: isinstance(error, float) and not error,
        most=operator.or_,
        product=operator.mul,
        **{"choose": choose_node, "no": lambda condition: condition == 0, **rules},
    )
    if local is None:
        return bound_propagated_error(on, row, out, seen, [found.get(o, 0.0) for o in operands])
    off: list[Any] = [0.0] * len(operands)
    for at in moving:
        off[at] = found[operands[at]]

    def rule(place: list[Any]) -> Any:
        there = place[0].apply(row.name, *place[1:])
        given = [x.node for x in (*place, there)] + [builder.constant(1.0)] * len(place)
        text = row.partial(local.position)
        return NodeTerm(
            builder, on_nodes(builder, text, dict(zip(rule_slots(row), given, strict=True)))
        )

    return bound_smooth(on, row, rule, slope, out, seen, off) if moving else 0.0


def choose_node(condition: Any, one: Callable[[], Any], other: Callable[[], Any]) -> Any:
    """One of two by a condition, which may be known."""
    if isinstance(condition, bool):
        return one() if condition else other()
    return condition.apply("where", one(), other())
