"""Switches of formulas: the numbers compared at kinks, jumps, comparisons and edges of domains.

Sweeps rest on a convention where two numbers are equal.  Which ones does not depend on the numbers, so
it is found once for a graph.  Each evaluation then asks one quick question of all of them together:
are there equal numbers where a kink needs some?  Only where there are, the sweeps test every node's own
condition.

Searches need their side of a switch, and the distance to it.  The numbers that a switch compares are equal
there; their difference, the gap, is built as a node.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from itertools import chain, combinations, compress, pairwise, repeat
from math import comb
from operator import eq, itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from exprgrad.derive.rules import rule_slots, template
from exprgrad.graph.graph import CONST, INPUT, Algebra, Graph, interpret
from exprgrad.graph.ops import BY_NAME, COMPARISONS, PRODUCTS, SUMS, Op

if TYPE_CHECKING:
    from exprgrad.derive.build import GraphBuilder

__all__ = [
    "Needed", "Suspects", "SwitchFunction", "condition_switch_functions", "find_nonsmooth_nodes",
    "find_suspects", "movable_nodes", "required_equalities", "required_pairs", "row_requirements",
    "switch_functions",
]  # fmt: skip

Needed = list[tuple[int, int | float]]
"""Pairs of nodes, or of a node and a number; at least one pair must be equal."""
SwitchFunction = tuple[int, int | None]
"""A switch's gap, a node that is 0 there, and None.

For stairs, the node that climbs them, and the node of the current step.
"""
Pick = Callable[[Sequence[float]], Any]
MOST_PAIRS = 6
"""The most pairs of operands that are compared one by one."""
MOST_TIED = 8
"""The most operands of a maximum that are compared pairwise; of more, only neighbours are."""


class SharedNeeds(NamedTuple):
    """A shared need: each of ``owners`` needs its entry of ``ones`` to equal that of ``others``.

    If ``number`` is not None, all others are that number.
    """

    owners: list[int]
    ones: Pick
    others: Pick
    number: float | None


class Suspects(NamedTuple):
    """The nodes of a graph that may meet a kink or a jump.

    ``screens``  the shared needs of most of them
    ``others``   the suspects with unknown needs
    ``active``, ``moving``  by node: whether it depends on a differentiated input, and whether a small
                            step of any input can move it
    """

    graph: Graph
    screens: list[SharedNeeds]
    others: list[int]
    active: Sequence[int]
    moving: Sequence[int]

    def quiet(self, values: Sequence[float]) -> bool:
        """Whether none of ``screens`` finds equal numbers; quick, since every run asks."""
        for _, ones, others, number in self.screens:
            if number is None:
                if any(map(eq, ones(values), others(values))):
                    return False
            elif number in ones(values):
                return False
        return True

    def candidates(
        self, values: Sequence[Any], equal: Callable[[Any, Any], bool] = eq
    ) -> list[int]:
        """Return the suspects whose needs are met, in the order of the visits."""
        found = set(self.others)
        for owners, ones, others, number in self.screens:
            beside = others(values) if number is None else repeat(number)
            found.update(compress(owners, map(equal, ones(values), beside)))
        return sorted(found, reverse=True)


def find_nonsmooth_nodes(
    graph: Graph, moved: Sequence[int], used: Sequence[int] | None = None
) -> list[int]:
    """Return the nodes that may have kinks or jumps, among those that move and are used."""
    moving = movable_nodes(graph)
    return [
        node
        for node, kind in enumerate(graph.kinds)
        if moved[node] and (used is None or used[node]) and kind in BY_NAME
        if node_requirements(graph, node, moving) != []
    ]


def find_suspects(graph: Graph, nodes: Iterable[int], active: Sequence[int]) -> Suspects | None:
    """Find the suspects among some nodes; None if there are none."""
    moving = movable_nodes(graph)
    others: list[int] = []
    groups: dict[float | None, list[tuple[int, int, int]]] = {}
    for node in nodes:
        needed = node_requirements(graph, node, moving)
        if needed is None:
            others.append(node)
        for one, other in needed or ():
            if isinstance(other, float):
                groups.setdefault(other, []).append((node, one, one))
            else:
                groups.setdefault(None, []).append((node, one, other))
    if not groups and not others:
        return None
    screens = []
    for number, found in groups.items():
        owners, first, second = (list(column) for column in zip(*found, strict=True))
        screens.append(SharedNeeds(owners, value_getter(first), value_getter(second), number))
    return Suspects(graph, screens, others, active, moving)


def required_pairs(graph: Graph, nodes: Iterable[int]) -> Needed | None:
    """Return the needs of some nodes for a kink or a jump; None if a row does not tell."""
    moving = movable_nodes(graph)
    needed = [node_requirements(graph, node, moving) for node in nodes]
    known = [pairs for pairs in needed if pairs is not None]
    return [*chain.from_iterable(known)] if len(known) == len(needed) else None


def node_requirements(graph: Graph, node: int, moving: Sequence[int]) -> Needed | None:
    """Return a node's needs for a kink or a jump; None where its row does not tell."""
    op = BY_NAME.get(graph.kinds[node])
    if op is not None:
        return row_requirements(graph, node, op, moving) if op.special else []
    from exprgrad.graph.tensors import STRUCTURAL

    moves = any(moving[operand] for operand in graph.operands[node])
    return None if moves and STRUCTURAL[graph.kinds[node]].kink is not None else []


def value_getter(nodes: Sequence[int]) -> Pick:
    """Return a picker of some nodes' data, which always gives a tuple."""
    return itemgetter(*nodes, nodes[0])


def row_requirements(graph: Graph, node: int, op: Op, moving: Sequence[int]) -> Needed | None:
    """Return a node's needs by its row's condition; None where that does not tell."""
    operands = graph.operands[node]
    if op.variadic:
        pairs = comb(len(operands), 2)
        return list(combinations(operands, 2)) if pairs <= MOST_PAIRS else None
    needed = required_equalities(op.name, tuple([float(moving[operand]) for operand in operands]))
    if needed is None:
        return None
    seen = (*operands, node)
    found: Needed = []
    for one, other in needed:
        beside = other if isinstance(other, float) else seen[other]
        if beside != seen[one] or isinstance(beside, float):  # a node never parts from itself
            found.append((seen[one], beside))
    return found


@cache
def required_equalities(name: str, moves: tuple[float, ...]) -> Needed | None:
    """Return a row's needs, by the operands' positions; the result's comes after them.

    ``moves`` are 1 for the operands that move, else 0.  A variadic row's condition does not tell.
    """
    op = BY_NAME[name]
    if op.variadic:
        return None
    slot: dict[str, Known] = dict(
        zip(rule_slots(op), (*range(len(moves) + 1), *moves), strict=True)
    )
    found: Needed = []
    for special in op.special:
        where = template(special.where)  # a sum of products of comparisons
        needed = known_equalities(interpret(where, EQUALITIES, slot)[where.output])
        if needed is None:
            return None
        found += needed
    return found


def known_equalities(known: Known) -> Needed | None:
    """Return the equalities that make a part of a condition hold; none can for a 0."""
    if isinstance(known, int | float):
        return [] if known == 0.0 and isinstance(known, float) else None
    return known


def equalities_of_node(graph: Graph, node: int, operands: Sequence[Known]) -> Known:
    """Return the needs of a comparison, a product or a sum in a condition."""
    kind = graph.kinds[node]
    if kind == "eq":
        one, other = operands
        if not isinstance(one, int):
            one, other = other, one
        return [(one, other)] if isinstance(one, int) and isinstance(other, int | float) else None
    choices = [known_equalities(operand) for operand in operands]
    known = [choice for choice in choices if choice is not None]
    if kind in PRODUCTS:
        return min(known, key=len, default=None)
    every = kind in SUMS and len(known) == len(choices)
    return [*chain.from_iterable(known)] if every else None


Known = Needed | int | float | None
"""A part of a condition: its needs, a node or a number, or None where nothing is known."""
EQUALITIES: Algebra[Known] = Algebra(
    lambda graph, node: cast(float, graph.payloads[node]), equalities_of_node
)


def movable_nodes(graph: Graph, inputs: Iterable[int] | None = None) -> bytearray:
    """Flag the nodes that a small step of an input can move: not comparisons, other steps and labels.

    ``inputs`` are the moving ones, all by default.
    """
    flags = bytearray(len(graph))
    for node in graph.inputs.values() if inputs is None else inputs:
        flags[node] = 1
    still = {kind: flat_positions(kind) for kind in {*graph.kinds} - {INPUT, CONST}}
    for node, operands in enumerate(graph.operands):
        for position, operand in enumerate(operands):
            if flags[operand] and position not in still[graph.kinds[node]]:
                flags[node] = 1
                break
    return flags


def flat_positions(kind: str) -> Sequence[int]:
    """Return the positions of operands with which a row's result does not move."""
    op = BY_NAME.get(kind)
    if op is None:
        from exprgrad.graph.tensors import STRUCTURAL

        row = STRUCTURAL[kind]
        return range(len(row.names)) if row.gate == "blocker" else ()
    if op.variadic:
        return ()
    return tuple(at for at in range(len(op.names)) if op.partial(at) == "0")


# Gaps.


def switch_functions(
    builder: GraphBuilder, row: Op, operands: Sequence[int], out: int, winner: int | None = None
) -> Iterator[SwitchFunction]:
    """Yield an operation's switches: operands against each other or numbers, or those of its definition.

    A maximum's operands are compared with the ``winner``, where that is known.
    """
    if row.variadic:
        few = combinations(operands, 2) if len(operands) <= MOST_TIED else pairwise(operands)
        pairs = few if winner is None else [(winner, o) for o in operands if o != winner]
        yield from pair_switch_functions(builder, pairs if row.special else [])
        return
    moves = tuple([float(builder.graph.kinds[operand] != CONST) for operand in operands])
    needed = required_equalities(row.name, moves)
    if needed is not None and compares_operands(row.name):
        pairs = [
            (operands[one], operands[other] if isinstance(other, int) else builder.constant(other))
            for one, other in needed
        ]
        yield from pair_switch_functions(builder, pairs)
    elif row.gate == "blocker":
        yield operands[0], out
    elif row.definition:
        yield from definition_switch_functions(builder, row, operands)
    else:
        for special in row.special:
            yield from condition_switch_functions(builder, special.where, row, operands, out)


@cache
def compares_operands(name: str) -> bool:
    """Whether a row's special points are where operands are equal, whatever else holds."""
    rules = [template(special.where) for special in BY_NAME[name].special]
    return bool(rules) and not any(
        "out" in rule.inputs or corner_equalities(rule) for rule in rules
    )


def corner_equalities(condition: Graph) -> set[int]:
    """Return the equalities in a condition that must hold together, as those of 0^0; they have no sides."""
    return {
        operand
        for kind, operands in zip(condition.kinds, condition.operands, strict=True)
        if kind in PRODUCTS and {condition.kinds[operand] for operand in operands} == {"eq"}
        for operand in operands
    }


def definition_switch_functions(
    builder: GraphBuilder, row: Op, operands: Sequence[int]
) -> Iterator[SwitchFunction]:
    """Yield the switches of a definition's operations."""
    definition = template(row.definition)
    image = builder.include(definition, dict(zip(row.names, operands, strict=True)))
    for node, kind in enumerate(definition.kinds):
        inner = [image[operand] for operand in definition.operands[node]]
        if inner:
            yield from switch_functions(builder, BY_NAME[kind], inner, image[node])


def pair_switch_functions(
    builder: GraphBuilder, pairs: Iterable[tuple[int, int]]
) -> Iterator[SwitchFunction]:
    """Yield the gaps of pairs of nodes, without constant ones and flags, which have their own."""
    for one, other in pairs:
        gap = builder.apply("sub", one, other)
        varies = [node for node in (gap, one, other) if builder.graph.kinds[node] != CONST]
        if one != other and gap in varies and builder.flags.isdisjoint(varies):
            yield gap, None


def condition_switch_functions(
    builder: GraphBuilder, text: str, row: Op, operands: Sequence[int], out: int
) -> Iterator[SwitchFunction]:
    """Yield the switches of a row's condition, of its special points or its domain."""
    condition = template(text)
    ones = [builder.constant(1.0)] * len(operands)
    image = builder.include(
        condition, dict(zip(rule_slots(row), (*operands, out, *ones), strict=True))
    )
    pairs = [
        (image[operands[0]], image[operands[1]])
        for node, (kind, operands) in enumerate(
            zip(condition.kinds, condition.operands, strict=True)
        )
        if kind in COMPARISONS and node not in corner_equalities(condition)
    ]
    yield from pair_switch_functions(builder, pairs)
