"""A quick test of each row, as nodes of a program: whether its results surely keep their digits.

The rules are those of ``derive/error_rules.py``, over errors that are kept as numbers times products of
nodes' sizes (``Magnitude``), so that most of the arithmetic is done before the program runs: the error of
a product is a number times its size.  Only where a sum may cancel does a row have to be asked: its error
is compared with a part of its size, and that part goes on in its place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, cached_property, partial, reduce
from math import inf, isfinite, log2, prod
from operator import add, and_, or_
from typing import Any, NamedTuple, cast

from exprgrad.derive.build import GraphBuilder
from exprgrad.derive.error_rules import POWER, UNIT
from exprgrad.derive.rules import template
from exprgrad.derive.sweeps.rounding import (
    SLACK,
    NodeTerm,
    own_rounding_error,
    propagated_error,
    rebuild_for_bounds,
)
from exprgrad.derive.sweeps.walks import SweepSource
from exprgrad.graph.graph import CONST, Graph, Program, dependency_flags
from exprgrad.graph.ops import BY_NAME, COMPARISONS, LOGIC

__all__ = ["add_digit_screen"]

Monomial = frozenset[tuple[int, float]]
"""A product of powers of nodes' sizes: pairs, a node and its exponent."""
ONE_SIZE: Monomial = frozenset()
MOST_TERMS = 8
"""Longer errors are built as nodes."""
MOST_ATOMS = 24
"""Longer products of sizes are taken as one."""
MOST_TESTS = 64
"""From so many on tests are made one."""
MOST_FACTORS = 4
"""Products of more are not asked whether a factor is 0."""
MODEST = 2.0**300
"""Constant factors between this and its inverse are taken out of sizes."""
CLOSE = 2.0**6
"""Terms whose factors are so close to the largest are added up before they are multiplied."""
NORMAL = 2.0**-1000
"""No smaller number is calculated with: that takes long."""
MAY_OVERFLOW = 2.0**-1000
"""The least error of a quotient whose divisor may be infinite instead of large, in units."""


class Magnitude(NodeTerm):
    """Numbers times products of sizes, added up; it is built as a node only where that is asked for."""

    def __init__(self, sizes: Sizes, terms: Mapping[Monomial, float]) -> None:
        self.builder = sizes.builder
        self.sizes = sizes
        self.terms = {product: number for product, number in terms.items() if number}

    @cached_property
    def node(self) -> int:  # type: ignore[override]
        """The node that computes it."""
        factor, total = self.sizes.build_terms(self.terms or {ONE_SIZE: NORMAL})
        found = (total * factor).node
        self.sizes.positive.add(found)
        return found

    def __abs__(self) -> Magnitude:
        return self

    def __add__(self, other: Any) -> Any:
        if isinstance(other, float):
            other = Magnitude(self.sizes, {ONE_SIZE: other} if other else {})
        if not isinstance(other, Magnitude):
            return super().__add__(other)
        terms = dict(self.terms)
        for product, number in other.terms.items():
            terms[product] = terms.get(product, 0.0) + number
        return Magnitude(self.sizes, terms)

    __radd__ = __or__ = __add__

    def __mul__(self, other: Any) -> Any:
        if isinstance(other, float):
            other = Magnitude(self.sizes, {ONE_SIZE: other})
        if not isinstance(other, Magnitude) or len(self.terms) * len(other.terms) > MOST_TERMS:
            return super().__mul__(other)
        terms: dict[Monomial, float] = {}
        for one, number in self.terms.items():
            for product, factor in other.terms.items():
                both = multiply_sizes(((one, 1.0), (product, 1.0)))
                terms[both] = terms.get(both, 0.0) + number * factor
        return Magnitude(self.sizes, terms)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        single = isinstance(other, Magnitude) and len(other.terms) == 1
        return self * other.apply(POWER.name, -1.0) if single else super().__truediv__(other)

    def __gt__(self, other: Any) -> Any:
        if (
            isinstance(other, Magnitude)
            and len(other.terms) == 1
            and [*self.terms] == [*other.terms]
        ):
            return next(iter(self.terms.values())) > next(iter(other.terms.values()))
        return super().__gt__(other)

    def apply(self, kind: str, *others: NodeTerm | float) -> NodeTerm:
        """A power of a single term is one too; anything else is built."""
        if kind == POWER.name and len(self.terms) == 1 and isinstance(others[0], float):
            ((product, number),) = self.terms.items()
            raised = multiply_sizes(((product, others[0]),))
            return Magnitude(self.sizes, {raised: raise_number(number, others[0])})
        return NodeTerm(self.builder, self.node).apply(kind, *others)


def multiply_sizes(factors: Iterable[tuple[Monomial, float]]) -> Monomial:
    """Multiply monomials, each with an exponent."""
    exponents: dict[int, float] = {}
    for product, power in factors:
        for node, exponent in product:
            exponents[node] = exponents.get(node, 0.0) + power * exponent
    return frozenset((node, exponent) for node, exponent in exponents.items() if exponent)


def raise_number(number: float, power: float) -> float:
    """A positive number to a power; infinite where that is beyond the doubles."""
    return number**power if abs(power * log2(number)) < 1000 else inf


class SizedTerm(NodeTerm):
    """A node whose size is known as a number times a product of other nodes' sizes."""

    def __init__(self, sizes: Sizes, node: int) -> None:
        super().__init__(sizes.builder, node)
        self.sizes = sizes

    def __abs__(self) -> Magnitude:
        return self.sizes.size_of(self.node)

    def apply(self, kind: str, *others: NodeTerm | float) -> NodeTerm:
        """An operation on this node and others, sized as well."""
        return SizedTerm(self.sizes, super().apply(kind, *others).node)


class Sizes:
    """The sizes of a builder's nodes, and which node has which size.

    ``positive`` are nodes that are known not to be negative.
    """

    def __init__(self, builder: GraphBuilder) -> None:
        self.builder = builder
        self.positive: set[int] = set()
        self.known: list[tuple[float, Monomial]] = []
        self.powers: list[list[tuple[int, float]]] = []
        self.nodes: dict[Monomial, tuple[float, int]] = {}

    def size_of(self, node: int) -> Magnitude:
        """A node's size."""
        factor, product = self.factors(node)
        return Magnitude(self, {product: factor})

    def size_of_error(self, node: int) -> Magnitude:
        """The size of an error that is a node: it is never negative."""
        self.positive.add(node)
        return self.size_of(node)

    def factors(self, node: int) -> tuple[float, Monomial]:
        """A node's size, as a number and a product."""
        for at in range(len(self.known), node + 1):
            powers = operand_powers(self.builder, at)
            value = self.builder.value(at)
            if self.is_never_negative(at, powers):
                self.positive.add(at)
            factor, product = 1.0, frozenset({(at, 1.0)})
            if value and 1 / MODEST < abs(value) < MODEST:
                factor, product = abs(value), ONE_SIZE
            elif powers and sum(len(self.known[operand][1]) for operand, _ in powers) <= MOST_ATOMS:
                inner = [(*self.known[operand], power) for operand, power in powers]
                whole = prod(raise_number(number, power) for number, _, power in inner)
                if 1 / MODEST < whole < MODEST:
                    factor = whole
                    product = multiply_sizes([(one, power) for _, one, power in inner])
            self.known.append((factor, product))
            self.powers.append(powers)
            self.nodes.setdefault(product, (factor, at))
        return self.known[node]

    def is_never_negative(self, node: int, powers: Sequence[tuple[int, float]]) -> bool:
        """Whether a node is a product, or a sum, of others that are never negative."""
        graph, value = self.builder.graph, self.builder.value(node)
        row, operands = BY_NAME.get(graph.kinds[node]), graph.operands[node]
        if row is None:
            return value is not None and value >= 0
        if row.signs:
            return min(row.signs) > 0 and self.positive.issuperset(operands)
        return row.not_negative or (
            bool(powers) and all(power % 2 == 0 or o in self.positive for o, power in powers)
        )

    def build_terms(self, terms: Mapping[Monomial, float]) -> tuple[float, NodeTerm]:
        """Build a factor and a sum whose product is no less than some terms."""
        sizes = [(number, *self.build(product)) for product, number in terms.items()]
        most = max(number / factor for number, factor, _ in sizes)
        shares = [(number / factor / most, size) for number, factor, size in sizes]
        parts = [size if share * CLOSE > 1 else size * max(share, NORMAL) for share, size in shares]
        return most, reduce(add, parts)

    def build(self, product: Monomial) -> tuple[float, NodeTerm]:
        """Build a product of sizes: the term is a number times that."""
        if product in self.nodes:
            factor, node = self.nodes[product]
            size = NodeTerm(self.builder, node)
            return factor, size if node in self.positive else abs(size)
        made = NodeTerm(self.builder, self.builder.constant(1.0))
        for node, exponent in sorted(product):
            atom = frozenset({(node, 1.0)})
            rest = multiply_sizes(((product, 1.0), (atom, -1.0)))
            size = self.build(atom)[1]
            if rest in self.nodes and exponent > 0:
                factor, other = self.build(rest)
                return factor, other * size
            raised = size.apply(POWER.name, abs(exponent))
            made = made * raised if exponent > 0 else made / raised
        return 1.0, made


def operand_powers(builder: GraphBuilder, node: int) -> list[tuple[int, float]]:
    """The operands that a node's size is a product of, each with its power; none of any other node."""
    graph = builder.graph
    row, operands = BY_NAME.get(graph.kinds[node]), graph.operands[node]
    if row is None:
        return []
    if row.powers:
        return [*zip(operands, map(float, row.powers), strict=True)]
    if row.signs == (-1,) or row.exact is abs:
        return [(operands[0], 1.0)]
    if row is POWER:
        exponent = builder.value(operands[1])
        return [] if exponent is None else [(operands[0], exponent)]
    if row.branches:
        beside = [builder.value(operands[at]) for at in row.branches]
        passed = [
            operands[at]
            for at, value in zip(row.branches, beside, strict=True)
            if value is None or value == value
        ]
        return [(passed[0], 1.0)] if len(passed) == 1 else []
    power = power_of_row(row.name)
    return [] if power is None else [(operands[0], power)]


@cache
def power_of_row(name: str) -> float | None:
    """The power that a row is of its operand; None if it is none."""
    row, builder = BY_NAME[name], GraphBuilder()
    if not row.definition or row.operands != "x":
        return None
    graph = template(row.definition)
    out = builder.include(graph)[graph.output]
    kind, operands = builder.graph.kinds[out], builder.graph.operands[out]
    return (
        builder.value(operands[1])
        if kind == POWER.name and operands[0] in builder.graph.inputs.values()
        else None
    )


# The screen.


class DigitScreen(NamedTuple):
    """Facts about the nodes of a source's graph so far.

    ``errors``  by node, what it may be off by; none where it is exact
    ``tests``   by node, the conditions under which that holds
    ``levels``  by node, how many sums that may cancel lie on the way to it
    ``zeros``   by node, where it surely does not underflow, for a factor is 0
    ``places``  by the builder's node, the graph's
    ``shares``  by such a level, the part of a number's size, in units, that it may be off by
    """

    source: SweepSource
    sizes: Sizes
    errors: dict[int, Magnitude]
    tests: dict[int, set[int]]
    levels: dict[int, int]
    shares: Sequence[float]
    zeros: dict[int, NodeTerm | None]
    places: Mapping[int, int]


def add_digit_screen(program: Program, count: int, digits: int) -> Program:
    """The program, and after its outputs 1 where each of the first ``count`` surely has so many digits.

    Sooner 0 than ``add_error_bounds`` says; what is not finite may have any.
    """
    share = 1 / (10.0**digits + 1) / UNIT
    outputs = program.outputs[:count]
    for shares in ([share**0.55], [share ** (3 / 7), share ** (5 / 7)]):
        found = screen_outputs(program, outputs, share, shares)
        if found is not None:
            return found
    return cast(Program, screen_outputs(program, outputs, share, ()))


def screen_outputs(
    program: Program, outputs: Sequence[int], share: float, shares: Sequence[float]
) -> Program | None:
    """The program and its screen; None where ``shares`` are too few for the sums on the way."""
    source, images = rebuild_for_bounds(program)
    graph, builder = program.graph, source.builder
    places = {image: node for node, image in enumerate(source.image)}
    screen = DigitScreen(source, Sizes(builder), {}, {}, {}, shares, {}, places)
    needed = dependency_flags(graph, *outputs)
    for node in range(len(graph)):
        if needed[node]:
            screen_node(screen, node)
            if shares and screen.levels[node] > len(shares):
                return None
    tests = set[int]().union(*[screen.tests[output] for output in outputs])
    for output in outputs:
        tests.update(tests_of_share(screen, output, share, SLACK))
    return builder.program([*images, all_of(builder, tests).node])


def screen_node(screen: DigitScreen, node: int) -> None:
    """Find what a node may be off by, and where that holds."""
    source, sizes = screen.source, screen.sizes
    graph, out = source.graph, source.image[node]
    local, row = graph.slopes.get(node), BY_NAME.get(graph.kinds[node])
    operands = graph.operands[node] if local is None else local.operands
    is_choice = local is None and row is not None and bool(row.branches)
    found: set[int] = set()
    named = isfinite(cast(float, graph.payloads[node])) if node in graph.symbols else False
    error: Any = sizes.size_of(out) if named else 0.0
    if operands:
        if local is not None or multiplies_errors(graph, node):
            for operand in operands:
                settle_operand(screen, operand, whole=not is_choice)
        errors: dict[int, Any] = {o: screen.errors[o] for o in operands if o in screen.errors}
        if is_choice:
            errors |= {o: as_share_of(screen, o, node) for o in operands[1:] if o in errors}
        term = partial(SizedTerm, sizes)
        choose = partial(choose_error, found, sizes.factors(out)[1])
        if (
            local is None
            and sizes.powers[out] == [(source.image[operands[0]], 1.0)]
            and len(operands) == 1
        ):
            error = errors.get(operands[0], 0.0)
        else:
            error = propagated_error(
                source, node, errors, term=term, choose=choose, no=negate, asks=False
            )
        error = error + own_rounding_error(source, node, term=term)
        if any(power < 0 and source.builder.graph.operands[o] for o, power in sizes.powers[out]):
            error = error + MAY_OVERFLOW
    screen.levels[node] = max([screen.levels.get(operand, 0) for operand in operands], default=0)
    if is_choice:
        found |= tests_of_branches(screen, operands)
        operands = operands[:1]
    found.update(*[screen.tests.get(operand, ()) for operand in operands])
    screen.tests[node] = found if len(found) < MOST_TESTS else {all_of(source.builder, found).node}
    if isinstance(error, Magnitude):
        error = shorten_sum_error(screen, node, error) if row and row.signs else error
        is_long = len(error.terms) > MOST_TERMS
        screen.errors[node] = sizes.size_of_error(error.node) if is_long else error
    elif isinstance(error, NodeTerm):
        screen.errors[node] = sizes.size_of_error(error.node)
    screen.zeros[node] = where_zero(screen, node)


def multiplies_errors(graph: Graph, node: int) -> bool:
    """Whether an operation does more with its operands' errors than to add them, times constants."""
    row, operands = BY_NAME[graph.kinds[node]], graph.operands[node]
    varying = [operand for operand in operands if graph.kinds[operand] != CONST]
    if row.powers and len(varying) < 2:
        return varying == [operands[-1]] and -1 in row.powers
    return not (row.signs or row.opposite)


def choose_error(
    found: set[int],
    product: Monomial,
    condition: Any,
    one: Callable[[], Any],
    other: Callable[[], Any],
) -> Any:
    """One of two errors; where one is a number, as if anything were possible, a row is doubtful."""
    if isinstance(condition, bool):
        return one() if condition else other()
    first = one()
    if isinstance(first, float) and first:
        found.add(negate(condition).node)
        return other()
    second = other()
    parts = {*getattr(first, "terms", {}), *getattr(second, "terms", {})}
    is_share = parts <= {product, ONE_SIZE} and not type(first) is type(second) is NodeTerm
    return first + second if is_share else condition.apply("where", first, second)


def negate(condition: Any) -> Any:
    """Where a condition does not hold, and no number is missing."""
    if isinstance(condition, bool):
        return not condition
    graph = condition.builder.graph
    kind, operands = graph.kinds[condition.node], graph.operands[condition.node]
    terms = [NodeTerm(condition.builder, operand) for operand in operands]
    if kind in COMPARISONS:
        return terms[0].apply(BY_NAME[kind].opposite, terms[1])
    if kind in LOGIC and condition.builder.flags.issuperset(operands):
        one, other = map(negate, terms)
        return one | other if BY_NAME[kind].logic == "and" else one & other
    return condition.apply("where", 0.0, 1.0)


def shorten_sum_error(screen: DigitScreen, node: int, error: Magnitude) -> Magnitude:
    """A sum's error with fewer terms: no operand is larger than the sum and the other operand.

    If neither operand is negative, none is larger than the sum.
    """
    sizes, image, terms = screen.sizes, screen.source.image, dict(error.terms)
    factor, product = sizes.factors(image[node])
    known = [sizes.factors(image[operand]) for operand in screen.source.graph.operands[node]]
    numbers = {one: n for n, one in known if one in terms and one not in (product, ONE_SIZE)}
    kept = [] if image[node] in sizes.positive else [*numbers][:1]
    shares = [terms.pop(one) / numbers[one] for one in numbers if one not in kept]
    share = max(shares, default=0.0)
    for one, number in [(product, factor), *[(one, numbers[one]) for one in kept]]:
        terms[one] = terms.get(one, 0.0) + share * number
    return Magnitude(sizes, terms)


def tests_of_branches(screen: DigitScreen, operands: Sequence[int]) -> set[int]:
    """The tests of a choice's branches, each where it is taken."""
    condition, *branches = operands
    builder, image = screen.source.builder, screen.source.image
    chosen = NodeTerm(builder, image[condition])
    one, other = (screen.tests[branch] for branch in branches)
    found = one & other
    if one - found:
        found |= {chosen.apply("where", all_of(builder, one - found), 1.0).node}
    if other - found:
        found |= {chosen.apply("where", 1.0, all_of(builder, other - found)).node}
    return found


def all_of(builder: GraphBuilder, tests: Iterable[int]) -> NodeTerm:
    """Where all of some conditions hold."""
    conditions = [NodeTerm(builder, test) for test in sorted(tests)]
    return reduce(and_, conditions, NodeTerm(builder, builder.constant(1.0)))


def as_share_of(screen: DigitScreen, branch: int, node: int) -> Magnitude:
    """The error of a choice's branch, where it is taken, as a part of the choice's size."""
    sizes, image = screen.sizes, screen.source.image
    error, (factor, product) = screen.errors[branch], sizes.factors(image[branch])
    size, out = sizes.factors(image[node])
    if {*error.terms} - {product, ONE_SIZE}:
        return error
    terms = {out: error.terms.get(product, 0.0) / factor * size}
    least = error.terms.get(ONE_SIZE, 0.0)
    return Magnitude(sizes, terms | ({ONE_SIZE: least} if least else {}))


def settle_operand(screen: DigitScreen, node: int, *, whole: bool) -> None:
    """Bound an operand's error by a part of its size, as far as there are not too many such on the way.

    If not ``whole`` a constant error may stay.
    """
    error = screen.errors.get(node)
    if error is None:
        return
    sizes = screen.sizes
    factor, product = sizes.factors(screen.source.image[node])
    others = {*error.terms} - ({product} if whole else {product, ONE_SIZE})
    if not others:
        return
    own, level, shares = error.terms.get(product, 0.0) / factor, screen.levels[node], screen.shares
    if others == {ONE_SIZE}:
        share = own + 1.0
    else:
        while level < len(shares) and shares[level] < 4 * own:
            level += 1
        screen.levels[node] = level + 1
        if level >= len(shares):
            screen.errors[node] = sizes.size_of_error(error.node)
            return
        share = shares[level]
    screen.tests[node] |= {*tests_of_share(screen, node, share, 0.0)}
    screen.errors[node] = Magnitude(sizes, {product: share * factor})


def tests_of_share(screen: DigitScreen, node: int, share: float, slack: float) -> Iterator[int]:
    """The tests that a node's error is at most a part of its size, and some slack."""
    sizes, image = screen.sizes, screen.source.image[node]
    if node not in screen.errors:
        return
    factor, product = sizes.factors(image)
    terms = dict(screen.errors[node].terms)
    room = share - terms.pop(product, 0.0) / factor
    least = max(terms.pop(ONE_SIZE, 0.0) - slack, 0.0)
    number, out = sizes.build(product)
    scale = factor / number
    beside = {multiply_sizes(((one, 1.0), (product, -1.0))): n for one, n in terms.items()}
    if room <= 0:
        yield sizes.builder.constant(0.0)
    elif terms and not {atom for one in beside for atom, _ in one} & {atom for atom, _ in product}:
        room = room / 2
        most, total = sizes.build_terms(beside)
        yield (total <= room * factor / most).node
    elif terms:
        room = room / 2 if least else room
        most, total = sizes.build_terms(terms)
        yield (total * min(most, 1.0) <= out * (room * scale / max(most, 1.0))).node
    if least and room > 0:
        is_right = out >= max(least / room / scale, NORMAL)
        zero = screen.zeros[node]
        yield (is_right if zero is None else is_right | zero).node


def where_zero(screen: DigitScreen, node: int) -> NodeTerm | None:
    """Where a product has a factor that is exactly 0, and so does not underflow; None if nowhere.

    A sum does not where none of those of its operands do that may.
    """
    graph, sizes, builder = screen.source.graph, screen.sizes, screen.source.builder
    row = BY_NAME.get(graph.kinds[node])
    if row is not None and row.signs:
        errors = {operand: screen.errors.get(operand) for operand in graph.operands[node]}
        parts = [
            screen.zeros[o] for o, error in errors.items() if error and ONE_SIZE in error.terms
        ]
        known = [part for part in parts if part is not None]
        return reduce(and_, known) if known and len(known) == len(parts) else None
    _, product = sizes.factors(screen.source.image[node])
    found = [
        NodeTerm(builder, atom) == 0.0
        for atom, exponent in (sorted(product) if len(product) <= MOST_FACTORS else ())
        if exponent > 0 and is_exact_at_zero(screen, atom)
    ]
    return reduce(or_, found) if found else None


def is_exact_at_zero(screen: DigitScreen, atom: int) -> bool:
    """Whether a node that is 0 is truly 0: it has no error, or one that is a part of its size."""
    place = screen.places.get(atom)
    error = None if place is None else screen.errors.get(place)
    return place is not None and (
        error is None or {*error.terms} == {screen.sizes.factors(atom)[1]}
    )
