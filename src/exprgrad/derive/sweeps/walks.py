"""The two sweeps over nodes: the walks of ``run.numbers.sweeps``, with a graph's nodes for numbers.

First come the edges: which nodes are active, and each edge's local derivative as nodes.

In reverse users come before operands, each passes its adjoint times a local derivative to every active
operand, and what arrives is summed.  A branch that a ``where`` did not take passes nothing, not even 0
times infinity; so an adjoint carries the condition under which anything arrives at all, and becomes
``where(condition, …, 0)``, the products inside, where it meets others or ends.

Forward each node's tangent comes from its operands' tangents.  In a masked sweep what does not move passes
nothing, not even 0 times infinity: a tangent carries the condition under which anything moves, number by
number, and the products are made inside of it.  The condition goes along where numbers are moved about or
added up; a product of matrices mixes them, and ends it.
"""

from __future__ import annotations

from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from heapq import heapify, heappop, heappush
from typing import NamedTuple

from exprgrad.derive.build import GraphBuilder
from exprgrad.derive.rules import Rule, computed, join_balanced, rule_slots, shown, template
from exprgrad.graph.graph import (
    MISSING,
    Graph,
    LocalDerivative,
    dependency_flags,
    dependent_flags,
)
from exprgrad.graph.ops import BY_NAME, SUMS, VARIADIC, Op
from exprgrad.graph.structural import Propagation, Structural
from exprgrad.graph.tensors import STRUCTURAL

__all__ = [
    "PARAMETER", "Edge", "SweepSource", "active_between", "differentiable_users", "pull_back",
    "push_forward", "reachable_from", "specialise_rule", "varying_operands",
]  # fmt: skip

Edge = tuple[int, int, bool]
"""An operand, its local derivative as a node, and whether that is a branch's condition, which gates it."""
PARAMETER = "parameter"
"""The kind of node that a function's parameter is in the text of a formula."""
TERM_SIGNS = {PARAMETER: (1,), **{kind: BY_NAME[kind].signs for kind in SUMS}}
"""By sum: each operand's sign; a parameter is the sum of what it was given."""
LONG = 16
"""From so many nodes on it pays to keep what a rule becomes where some of its names are numbers."""
SPECIALISING = 20
"""To find that out takes as long as so many operations."""


@cache
def passing_positions(kind: str) -> tuple[int, ...]:
    """The positions through which an operation passes a derivative; a variadic row's only one is 0."""
    op = BY_NAME[kind]
    return tuple(i for i in range(len(op.names)) if op.partial(i) != "0")


def varying_operands(graph: Graph, user: int) -> tuple[tuple[int, int], ...]:
    """The edges of a node on which a derivative can pass: (position, operand).

    Those of a local derivative whose row states second ones lead to the row's operands at once.
    """
    kind, operands = graph.kinds[user], graph.operands[user]
    if user in graph.slopes:
        kind, position, operands = graph.slopes[user]
        op = BY_NAME[kind]
        return tuple([(at, o) for at, o in enumerate(operands) if op.second(position, at) != "0"])
    if not operands:
        return ()
    if kind not in BY_NAME:
        return tuple(enumerate(operands))
    if kind in VARIADIC:
        return tuple(enumerate(operands)) if passing_positions(kind) else ()
    return tuple([(position, operands[position]) for position in passing_positions(kind)])


@cache
def name_positions_in_rule(kind: str, rule: str) -> tuple[tuple[str, int], ...]:
    """The names in a rule of an operation, each with its place."""
    slots = [*rule_slots(BY_NAME[kind])]
    return tuple([(name, slots.index(name)) for name in template(rule).inputs])


def mentioned_nodes(graph: Graph, active: Collection[int], rule: Rule) -> bytearray:
    """Return a flag for each node that is mentioned by a rule of the active ones, or that these need."""
    found: set[int] = set()
    said: dict[
        str, list[tuple[int, list[int]]]
    ] = {}  # by position: operands' places, and the node's
    for kind in {*graph.kinds} & BY_NAME.keys() - VARIADIC:
        op = BY_NAME[kind]
        rules = [(at, name_positions_in_rule(kind, rule(op, at))) for at in passing_positions(kind)]
        last = len(op.names)
        said[kind] = [(at, [place for _, place in names if place <= last]) for at, names in rules]
    for user in active:
        kind, operands = graph.kinds[user], graph.operands[user]
        seen = (*operands, user)
        if kind not in said:
            found.update(seen)
            continue
        for position, places in said[kind]:
            if operands[position] in active:
                found.update([seen[place] for place in places])
    return dependency_flags(graph, *found)


def active_between(graph: Graph, nodes: Iterable[int], outputs: Sequence[int]) -> set[int]:
    """The nodes that depend on one of ``nodes``, of those that the outputs depend on; and ``nodes``."""
    found, wanted = set(nodes), dependency_flags(graph, *outputs)
    kinds = {*graph.kinds} & BY_NAME.keys()
    whole = {kind for kind in kinds if len(passing_positions(kind)) == len(BY_NAME[kind].names)}
    for user, operands in enumerate(graph.operands):
        if user in graph.slopes or (graph.kinds[user] not in whole and operands):
            operands = tuple([operand for _, operand in varying_operands(graph, user)])
        if wanted[user] and not found.isdisjoint(operands):
            found.add(user)
    return found


def differentiable_users(graph: Graph, outputs: Sequence[int]) -> list[list[int]]:
    """By node: the users to which it passes a derivative, of those that the outputs depend on."""
    users: list[list[int]] = [[] for _ in graph.kinds]
    wanted = dependency_flags(graph, *outputs)
    for user in range(len(graph)):
        if wanted[user] and graph.operands[user]:
            for operand in {operand for _, operand in varying_operands(graph, user)}:
                users[operand].append(user)
    return users


def reachable_from(users: Sequence[Sequence[int]], nodes: Iterable[int]) -> list[int]:
    """Return ``nodes`` and the nodes that depend on them, ascending, without a full sweep."""
    found = set(nodes)
    todo = list(found)
    while todo:
        fresh = [user for user in users[todo.pop()] if user not in found]
        found.update(fresh)
        todo += fresh
    return sorted(found)


@lru_cache(maxsize=1024)
def specialise_rule(
    rule: str, numbers: tuple[tuple[str, str], ...], *, typed: bool = False
) -> Graph:
    """A rule's graph where some of its names are numbers: what is left of it to be done."""
    builder, graph, known = GraphBuilder(typed=typed), template(rule), dict(numbers)
    given = {
        name: builder.constant(float.fromhex(known[name])) if name in known else builder.input(name)
        for name in graph.inputs
    }
    images: dict[int, int] = {}
    todo = [graph.output]
    while todo:
        node, operands = todo[-1], graph.operands[todo[-1]]
        if graph.kinds[node] == "where":
            operands = required_choice_operands(builder, operands, images)
        left = [operand for operand in operands if operand not in images]
        todo += reversed(left)
        if left:
            continue
        is_known = len(operands) < len(graph.operands[node])
        image = images[operands[0]] if is_known else builder.copy_node(graph, node, images, given)
        images[todo.pop()] = image
    return builder.program([images[graph.output]]).graph


def required_choice_operands(
    builder: GraphBuilder, operands: tuple[int, ...], images: Mapping[int, int]
) -> tuple[int, ...]:
    """The operands of a ``where`` that must be built: the condition first; if it is known, one branch."""
    condition, x, y = operands
    if condition not in images:
        return (condition,)
    known = builder.value(images[condition])
    if known is None:
        return operands
    return (x,) if known else (y,)


class SweepSource:
    """A graph to differentiate, built into a ``GraphBuilder``: ``image`` has its nodes there.

    ``rule`` chooses an edge's rule: see ``derive.rules``.  If it is known which nodes will be
    differentiated, the ``active`` ones, only what their rules mention is built: the others have no image.
    """

    passer: tuple[int, tuple[int, ...]] = (-1, ())
    """The structural node that something passed through last, and its operands' images."""

    def __init__(
        self,
        builder: GraphBuilder,
        graph: Graph,
        rule: Rule = computed,
        active: Collection[int] | None = None,
    ) -> None:
        self.builder = builder
        self.graph = graph
        self.rule = rule
        wanted = mentioned_nodes(graph, active, rule) if active is not None else None
        left_out = None if wanted is None else lambda node, _: None if wanted[node] else MISSING
        self.image = builder.include(graph, rule=left_out)
        self.varying = dependent_flags(graph, graph.inputs.values())

    def edges(self, user: int, active: Container[int]) -> list[Edge]:
        """A node's edges to active operands."""
        varying = [edge for edge in varying_operands(self.graph, user) if edge[1] in active]
        if not varying:
            return []
        self.builder.derive_from(self.graph, user)  # whence comes what is built next
        if user in self.graph.slopes:
            return self.edges_of_slope(self.graph.slopes[user], varying)
        edges: list[Edge] = []
        op = BY_NAME[self.graph.kinds[user]]
        shared = self.ties(op, user)
        for position, operand in varying:
            rule = self.rule(op, position)
            if shared:
                given = {**shared, op.names[0]: self.image[operand], "varies": self.flag(operand)}
            else:
                given = self.slots(user, name_positions_in_rule(op.name, rule))
            local = self.instantiate(rule, given)
            if op.seconds and self.rule is computed:
                self.take_down(local, user, position)
            edges.append((operand, local, position in op.branches))
        return edges

    def edges_of_slope(
        self, slope: LocalDerivative, varying: Iterable[tuple[int, int]]
    ) -> list[Edge]:
        """The edges of a local derivative whose row states second ones."""
        operands = [self.image[operand] for operand in slope.operands]
        flags = [self.flag(operand) for operand in slope.operands]
        out, op = self.builder.apply(slope.kind, *operands), BY_NAME[slope.kind]
        given = dict(zip(rule_slots(op), [*operands, out, *flags], strict=True))
        return [
            (operand, self.instantiate(op.second(slope.position, position), given), False)
            for position, operand in varying
        ]

    def take_down(self, local: int, user: int, position: int) -> None:
        """Say of a node whose local derivative it is, for those who differentiate it in turn.

        A constant and an operand have derivatives of their own.
        """
        graph = self.builder.graph
        operands = tuple([self.image[operand] for operand in self.graph.operands[user]])
        if local > max(operands) and graph.operands[local]:
            graph.slopes.setdefault(
                local, LocalDerivative(self.graph.kinds[user], position, operands)
            )

    def zero(self, node: int) -> int:
        """Zero: the derivative where one node does not depend on the other."""
        return self.builder.fill(0.0, self.graph.shape(node))

    def signs(self, user: int) -> tuple[int, ...]:
        """The operands' signs, if a node is a sum or a difference; else ()."""
        graph = self.graph
        return () if user in graph.slopes else TERM_SIGNS.get(graph.kinds[user], ())

    def structural(self, user: int) -> Structural | None:
        """Return the row of a structural node; None for any other."""
        return STRUCTURAL.get(self.graph.kinds[user])

    def pulled(
        self, row: Structural, user: int, cotangent: int, active: Container[int]
    ) -> list[tuple[int, int, int]]:
        """A structural node's active operands, the cotangent that each is passed, and their positions."""
        found = []
        for position, operand in enumerate(self.graph.operands[user]):
            if operand in active:
                pull = row.display_vjp or row.vjp if self.rule is shown else row.vjp
                passed = pull(self.builder, self.passing(user, position, cotangent))
                if passed is not None:
                    found.append((operand, passed, position))
        return found

    def pulled_mask(self, row: Structural, user: int, position: int, mask: int) -> int:
        """Where an operand of a structural node is passed anything, given where the node is.

        What adds up or moves numbers says so itself: its own transpose counts what arrives.  Of any
        other row every number is passed something, if one is.
        """
        builder = self.builder
        mask = builder.apply("broadcast", mask, settings=(self.graph.shape(user),))
        if row.jvp is None and (row.variadic or len(row.names) == 1):
            count = row.vjp(builder, self.passing(user, position, mask))
            assert count is not None
            return builder.nonzero(count)
        reached = builder.nonzero(builder.apply("sum", mask, settings=(None, False)))
        shape = self.graph.shape(self.graph.operands[user][position])
        return builder.apply("broadcast", reached, settings=(shape,))

    def pushed(self, row: Structural, user: int, tangents: Mapping[int, int]) -> list[int]:
        """What a structural node's moving operands add to its tangent."""
        operands = self.graph.operands[user]
        moving = [at for at, operand in enumerate(operands) if operand in tangents]
        if row.jvp is None and row.variadic and moving:  # joined: 0 for an operand that stays
            joined = [tangents[o] if o in tangents else self.zero(o) for o in operands]
            settings = self.passing(user, 0, -1).settings
            return [self.builder.apply(row.name, *joined, settings=settings)]
        found = []
        for position in moving:
            passing = self.passing(user, position, tangents[operands[position]])
            if row.jvp:
                passed = row.jvp(self.builder, passing)
            else:  # linear in the operand: the operation itself, on the tangent
                given = [*passing.operands]
                given[position] = passing.given
                passed = self.builder.apply(row.name, *given, settings=passing.settings)
            if passed is not None:
                found.append(passed)
        return found

    def passing(self, user: int, position: int, given: int) -> Propagation:
        """A structural node's image, and what is given to be passed on."""
        self.builder.derive_from(self.graph, user)
        if self.passer[0] != user:  # once, and not for each of a list's many operands
            self.passer = (
                user,
                tuple([self.image[operand] for operand in self.graph.operands[user]]),
            )
        settings = self.graph.payloads[user]
        assert isinstance(settings, tuple)
        return Propagation(self.passer[1], self.image[user], settings, position, given)

    def instantiate(self, rule: str, given: dict[str, int]) -> int:
        """A rule of the table on nodes."""
        builder = self.builder
        graph = template(rule)
        if len(graph.kinds) == 1:  # a number, or one of the operands
            (only,) = graph.payloads
            return builder.constant(only) if isinstance(only, float) else given[str(only)]
        if len(graph) > LONG and not builder.plain:
            values = [(name, builder.value(given[name])) for name in graph.inputs]
            numbers = tuple([(name, value.hex()) for name, value in values if value is not None])
            graph = specialise_rule(rule, numbers, typed=builder.typed) if numbers else graph
            if numbers and (rule, numbers) not in builder.specialised:
                builder.specialised.add((rule, numbers))
                builder.spent += SPECIALISING
        return builder.include(graph, given)[graph.output]

    def slots(self, user: int, names: Iterable[tuple[str, int]]) -> dict[str, int]:
        """The nodes of a rule's ``names``; a name's place counts operands, then the result, then flags."""
        operands = self.graph.operands[user]
        found: dict[str, int] = {}
        for name, place in names:
            if place < len(operands):
                found[name] = self.image[operands[place]]
            elif place == len(operands):
                found[name] = self.image[user]
            else:
                found[name] = self.flag(operands[place - len(operands) - 1])
        return found

    def ties(self, op: Op, user: int) -> dict[str, int]:
        """What the rules of a variadic row's operands share; nothing for any other row."""
        if op.name not in VARIADIC:
            return {}
        operands = self.graph.operands[user]
        shared = {"out": self.image[user]}
        ties = [
            self.instantiate(
                op.ties, {**shared, op.names[0]: self.image[o], "varies": self.flag(o)}
            )
            for o in operands
        ]
        return {**shared, "ties": join_balanced(lambda *pair: self.builder.total(pair), ties)}

    def flag(self, operand: int) -> int:
        """1 where an operand depends on an input, else 0, as a node."""
        return self.builder.constant(float(self.varying[operand]))


# The reverse sweep.


class Adjoint(NamedTuple):
    """``value`` where the node ``mask`` is not 0, else nothing; with no mask, ``value`` always.

    ``is_settled``: the value is 0 where nothing arrives, as it is when it comes out of a sum.
    """

    value: int
    mask: int | None
    is_settled: bool = False


def pull_back(
    source: SweepSource,
    seeds: Mapping[int, int],
    wrt: Collection[int],
    active: Collection[int],
    *,
    masked: bool = False,
    masks: dict[int, int] | None = None,
) -> dict[int, int]:
    """The adjoints of the nodes ``wrt``, given those of the outputs; 0 is left out.

    ``seeds`` maps nodes of the source's graph to the builder's, as the answer does; ``active`` are the
    nodes that ``wrt`` reaches (see ``reachable_from``), the only ones that are visited.  With ``masked`` a
    number whose seed is 0 passes nothing.  ``masks`` takes down under which
    conditions adjoints arrive, where there are any.
    """
    builder = source.builder
    arrived = {
        node: [seed_adjoint(builder, seed, masked)]
        for node, seed in seeds.items()
        if node in active
    }
    queue = [-node for node in arrived]
    heapify(queue)
    found: dict[int, int] = {}
    while queue:
        user = -heappop(queue)
        adjoint = sum_contributions(builder, arrived.pop(user), ascending=source.rule is shown)
        if user in wrt:
            found[user] = settle_adjoint(builder, adjoint)
            if masks is not None and adjoint.mask is not None:
                masks[user] = adjoint.mask
        for operand, passed in edge_contributions(source, user, adjoint, active):
            if operand not in arrived:
                arrived[operand] = []
                heappush(queue, -operand)
            arrived[operand].append(passed)
    return found


def seed_adjoint(builder: GraphBuilder, seed: int, masked: bool) -> Adjoint:
    """What a sweep begins with; where it is ``masked``, a seed of 0 passes nothing."""
    return Adjoint(seed, builder.nonzero(seed) if masked else None, True)


def edge_contributions(
    source: SweepSource, user: int, adjoint: Adjoint, active: Container[int]
) -> Iterable[tuple[int, Adjoint]]:
    """What a node passes on to each of its active operands."""
    builder = source.builder
    signs = source.signs(user)
    if signs:  # a sum passes on what arrives
        builder.derive_from(source.graph, user)
        return [
            (
                operand,
                adjoint
                if sign > 0
                else adjoint._replace(value=builder.apply("neg", adjoint.value)),
            )
            for sign, operand in zip(signs, source.graph.operands[user], strict=True)
            if operand in active
        ]
    row = source.structural(user)
    if row is not None:
        return structural_contributions(source, row, user, adjoint, active)
    each = [
        (operand, edge_contribution(builder, adjoint, local, is_branch=is_branch))
        for operand, local, is_branch in source.edges(user, active)
    ]
    return [(operand, passed) for operand, passed in each if passed is not None]


def structural_contributions(
    source: SweepSource, row: Structural, user: int, adjoint: Adjoint, active: Container[int]
) -> Iterator[tuple[int, Adjoint]]:
    """The same of a structural node."""
    builder = source.builder
    value = settle_adjoint(builder, adjoint)
    for operand, passed, position in source.pulled(row, user, value, active):
        mask = adjoint.mask
        if mask is None and row.picks and source.rule is not shown:
            mask = builder.constant(1.0)
        if mask is not None and source.graph.operands[operand]:
            mask = source.pulled_mask(row, user, position, mask)
            yield operand, Adjoint(passed, mask, True)
        else:  # an input has no local derivatives that the mask could keep out
            yield operand, Adjoint(passed, None)


def edge_contribution(
    builder: GraphBuilder, adjoint: Adjoint, local: int, *, is_branch: bool
) -> Adjoint | None:
    """What an edge passes on; None where it can pass nothing."""
    if not is_branch:
        harmless = builder.value(local) in (1, -1)
        value = builder.product((adjoint.value, local))
        return Adjoint(value, adjoint.mask, adjoint.is_settled and harmless)
    mask = local
    if adjoint.mask is not None:
        mask = builder.apply("where", adjoint.mask, local, builder.constant(0.0))
    known = builder.value(mask)
    if known is None:
        return Adjoint(adjoint.value, mask)
    return Adjoint(adjoint.value, None) if known else None


def settle_adjoint(builder: GraphBuilder, adjoint: Adjoint) -> int:
    """An adjoint as a number at every point: 0 where nothing arrives."""
    if adjoint.mask is None or adjoint.is_settled:
        return adjoint.value
    return builder.apply("where", adjoint.mask, adjoint.value, builder.constant(0.0))


def sum_contributions(
    builder: GraphBuilder, contributions: list[Adjoint], *, ascending: bool
) -> Adjoint:
    """The sum of what arrived, in that order; or, for people, in the order in which it is written."""
    if len(contributions) == 1:
        return contributions[0]
    if ascending:
        contributions = contributions[::-1]
    first = contributions[0]
    mask = first.mask
    alike = all(adjoint.mask == mask for adjoint in contributions)
    value = first.value if alike else settle_adjoint(builder, first)
    for adjoint in contributions[1:]:
        term = adjoint.value if alike else settle_adjoint(builder, adjoint)
        value = builder.total((value, term))
        mask = either_condition(builder, mask, adjoint.mask)
    return Adjoint(value, mask, not alike or all(adjoint.is_settled for adjoint in contributions))


def either_condition(builder: GraphBuilder, one: int | None, other: int | None) -> int | None:
    """The condition that one of two conditions holds."""
    if one is None or other is None:
        return None
    both = builder.apply("where", one, builder.constant(1.0), other)
    known = builder.value(both)
    return None if known else both


# The forward sweep.


def push_forward(
    source: SweepSource, tangents: Mapping[int, int], active: Iterable[int], *, masked: bool = False
) -> dict[int, int]:
    """The tangents of the ``active`` nodes, given those of some; 0 is left out.

    ``active`` are, ascending, the nodes that the given ones reach (see ``reachable_from``).  Nodes are
    those of the source's graph, tangents the builder's.
    """
    builder = source.builder
    moved = {node: seed_adjoint(builder, tangent, masked) for node, tangent in tangents.items()}
    for node in active:
        if node in tangents:
            continue
        row = source.structural(node)
        if row is not None:
            tangent = structural_tangent(source, row, node, moved)
        else:
            edges = source.edges(node, moved)
            tangent = (masked_tangent if masked else unmasked_tangent)(source, edges, moved)
        if tangent is not None:
            moved[node] = tangent
    return {node: settle_adjoint(builder, tangent) for node, tangent in moved.items()}


def masked_tangent(
    source: SweepSource, edges: Iterable[Edge], moved: Mapping[int, Adjoint]
) -> Adjoint | None:
    """The tangent of an elementwise node, and when anything moves it."""
    builder = source.builder
    terms = [
        edge_contribution(builder, moved[operand], local, is_branch=is_branch)
        for operand, local, is_branch in edges
    ]
    arrived = [term for term in terms if term is not None]
    return sum_contributions(builder, arrived, ascending=False) if arrived else None


def unmasked_tangent(
    source: SweepSource, edges: Iterable[Edge], moved: Mapping[int, Adjoint]
) -> Adjoint | None:
    """The tangent of an elementwise node; a branch's where its condition holds."""
    builder = source.builder
    tangent: int | None = None
    for operand, local, is_branch in edges:
        if is_branch:
            rest = builder.constant(0.0) if tangent is None else tangent
            tangent = builder.apply("where", local, moved[operand].value, rest)
        else:
            term = builder.product((local, moved[operand].value))
            tangent = term if tangent is None else builder.total((tangent, term))
    return None if tangent is None else Adjoint(tangent, None, True)


def structural_tangent(
    source: SweepSource, row: Structural, node: int, moved: Mapping[int, Adjoint]
) -> Adjoint | None:
    """The tangent of a structural node; None where nothing reaches it."""
    builder, graph = source.builder, source.graph
    moving = {o: moved[o] for o in graph.operands[node] if o in moved}
    values = {operand: settle_adjoint(builder, tangent) for operand, tangent in moving.items()}
    masks = {
        operand: builder.apply("broadcast", tangent.mask, settings=(source.graph.shape(operand),))
        for operand, tangent in moving.items()
        if tangent.mask is not None
    }
    adds_or_moves = row.jvp is None and (row.variadic or len(row.names) == 1)
    goes_along = adds_or_moves and len(masks) == len(moving)
    sums = []
    for given in (values, masks) if goes_along else (values,):
        terms = source.pushed(row, node, given)
        if not terms:
            return None
        sums.append(builder.total(terms))
    return Adjoint(sums[0], sums[1] if goes_along else None, True)
