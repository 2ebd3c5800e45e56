"""Building derived graphs: equal nodes are shared, and free simplifications are made.

Every shortcut here gives, in doubles, the number that the operation itself would give: 1*x is x, and a
``where`` with a known condition is its branch.  Only the sign of a nan may differ.  What holds
in real arithmetic alone (x - x is 0) is the business of ``simplify``.

Arithmetic on constants is exact or not done at all: a fold must not change a number.  What is computed with
has doubles for constants: a fold is made only where the exact result is itself a double, so that evaluating
the folded graph gives the same, to the last bit.  Formulas to read have decimals, as
typed: there 2.2 - 1 is 1.2, and a fold is made where the exact result is what a double is written as.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import partial, reduce
from typing import cast

from exprgrad.graph.graph import (
    CONST,
    INPUT,
    Graph,
    Literal,
    Payload,
    Program,
    Rule,
    Settings,
    Shape,
    dependency_flags,
    transform_graph,
)
from exprgrad.graph.ops import BY_NAME, COMPARISONS, LOGIC, PRODUCTS, SUMS, Op
from exprgrad.graph.structural import broadcast_shape, normalize_axes
from exprgrad.graph.tensors import STRUCTURAL, axis_permutation
from exprgrad.source import Span

__all__ = [
    "EXACT_BELOW", "HALF", "KEEPS_WHOLE", "NEGATIVES", "ONE", "Exact", "GraphBuilder", "compare_doubles",
    "exact_double", "exact_from_shortest", "exact_integer_power", "exact_magnitude", "exact_ratio",
    "exact_result", "fold_doubles_exactly", "is_zero_or_one", "shortest_double",
]  # fmt: skip

COMMUTATIVE = frozenset(name for name, row in BY_NAME.items() if row.commutes)
NEGATIVES = frozenset(kind for kind in SUMS if BY_NAME[kind].signs == (-1,))


class GraphBuilder:
    """A graph under construction: ``graph``, which has no nodes yet.

    ``span`` is the place in the user's text of the nodes built next, and ``origin`` their node, if not -1;
    ``flags`` are the nodes that are 0 or 1 at every point.  With ``plain`` no shortcuts are taken, as in
    formulas to read.  With ``typed`` constants are their decimals as written, not the
    doubles nearest to them.  It is ``traced`` if origins are needed.  Where the graph
    carries shapes, elementwise operations broadcast.
    """

    def __init__(
        self,
        graph: Graph | None = None,
        *,
        plain: bool = False,
        typed: bool = False,
        traced: bool = True,
    ) -> None:
        self.plain = plain
        self.typed = typed
        self.traced = traced
        self.graph = Graph() if graph is None else graph
        self.most = self.graph.budget.most("deriving")
        self.spent = 0  # of these, on what is not among the nodes
        self.specialised: set[object] = set()
        self.known: dict[object, int] = {}
        self.span: Span = (0, 0)
        self.origin = -1
        self.flags: set[int] = set()

    # Nodes.

    def input(self, name: str, shape: Shape = ()) -> int:
        """Return the node of an input."""
        node = self.graph.inputs.get(name)
        if node is None:
            node = self.append(INPUT, (), name, shape)
            self.graph.inputs[name] = node
        return node

    def append(self, kind: str, operands: tuple[int, ...], payload: Payload, shape: Shape) -> int:
        """Append a node."""
        if len(self.graph) + self.spent >= self.most:
            self.graph.budget.refuse_beyond(self.most + 1, "deriving", self.span)
        self.graph.shapes.append(shape)
        spans = (self.span,) * len(operands)
        node = self.graph.append(kind, operands, payload, self.span, spans)
        if self.origin >= 0:
            self.graph.origins[node] = self.origin
        return node

    def derive_from(self, graph: Graph, node: int) -> None:
        """Attribute the nodes built next to ``node``, of the user's graph or of one derived from it."""
        if not self.traced:
            return
        self.span = graph.starts[node], graph.ends[node]
        self.origin = graph.origins.get(node, -1) if graph.origins else node

    def shape(self, node: int) -> Shape:
        """Return a node's shape."""
        return self.graph.shapes[node]

    def constant(self, value: float, symbol: str | None = None, text: str | None = None) -> int:
        """Return the node of a constant; ``symbol`` is its spelling where it has a name, such as ``pi``.

        ``text`` are its digits where it has more than a double.
        """
        key: object = (CONST, value.hex(), symbol, text)
        if symbol is None and text is None and value and value == value:
            key = value  # as most are, which takes no text to tell: not 0, which has a sign, or nan
        node = self.known.get(key)
        if node is None:
            node = self.known[key] = self.append(CONST, (), value, ())
            if text is not None:
                self.graph.spelled[node] = text
            if symbol is not None:
                self.graph.symbols[node] = symbol
            elif is_zero_or_one(value):
                self.flags.add(node)
        return node

    def literal(self, literal: Literal) -> int:
        """Return the node of a literal tensor."""
        key = (CONST, repr(literal))
        node = self.known.get(key)
        if node is None:
            node = self.known[key] = self.append(CONST, (), literal, literal.shape)
        return node

    def fill(self, value: float, shape: Shape) -> int:
        """Return the node of a number, or of a tensor filled with it."""
        return self.stretched(self.constant(value), shape)

    def apply(self, kind: str, *operands: int, settings: Settings | None = None) -> int:
        """Return the node of an operation, or of its shortcut; elementwise operands are broadcast."""
        if kind in STRUCTURAL:
            return self.structural(kind, operands, settings or ())
        shapes = [self.graph.shapes[operand] for operand in operands]
        shape = shapes[0]
        if shapes.count(shape) < len(shapes):
            shape = broadcast_shape(shapes)
            operands = self.broadcast(operands, shape)
        key = (kind, tuple(sorted(operands)) if kind in COMMUTATIVE else operands)
        node = self.known.get(key)
        if node is not None:
            return node
        node = None if self.plain else self.shortcut(kind, operands)
        if node is not None:
            return self.stretched(node, shape)
        node = self.known[key] = self.append(kind, operands, None, shape)
        if kind in COMPARISONS or (kind in LOGIC and self.flags.issuperset(operands)):
            self.flags.add(node)
        return node

    def structural(self, kind: str, operands: tuple[int, ...], settings: Settings) -> int:
        """Return the node of a structural operation, or of its shortcut."""
        shape = STRUCTURAL[kind].shape([self.shape(operand) for operand in operands], settings)
        node = None if self.plain else self.movement(kind, operands, settings, shape)
        if node is not None:
            return node
        key = (kind, settings, operands)
        node = self.known.get(key)
        if node is None:
            node = self.known[key] = self.append(kind, operands, settings, shape)
            if kind == "broadcast" and operands[0] in self.flags:
                self.flags.add(node)
        return node

    def broadcast(self, operands: tuple[int, ...], shape: Shape) -> tuple[int, ...]:
        """Broadcast the operands of an elementwise operation to its shape; constants stay numbers."""
        kinds, shapes = self.graph.kinds, self.graph.shapes
        return tuple(
            [
                o if kinds[o] == CONST and not shapes[o] else self.stretched(o, shape)
                for o in operands
            ]
        )

    def stretched(self, node: int, shape: Shape) -> int:
        """Broadcast a node to a shape."""
        if self.shape(node) == shape:
            return node
        return self.structural("broadcast", (node,), (shape,))

    def total(self, terms: Sequence[int]) -> int:
        """Build the sum of some nodes, from the left."""
        return reduce(partial(self.apply, "add"), terms)

    def product(self, factors: Sequence[int]) -> int:
        """Build the product of some nodes, from the left; 1 if there are none."""
        return reduce(partial(self.apply, "mul"), factors) if factors else self.constant(1.0)

    def nonzero(self, node: int) -> int:
        """Build the condition that a node is not 0."""
        return self.apply("ne", node, self.constant(0.0))

    def include(
        self, graph: Graph, values: Mapping[str, int] | None = None, rule: Rule | None = None
    ) -> list[int]:
        """Build every node of a graph again; ``values`` stand for its inputs.  Return the new nodes.

        Without ``values`` the graph is a user's: its inputs stay inputs, its spans are kept.  ``rule`` may
        replace a node: it takes the node and the new nodes of those before it, and returns
        a new node, or None for the same operation again.
        """
        images: list[int] = []
        for node in range(len(graph)):
            if values is None:
                self.derive_from(graph, node)
            image = None if rule is None else rule(node, images)
            images.append(self.copy_node(graph, node, images, values) if image is None else image)
        return images

    def copy_node(
        self,
        graph: Graph,
        node: int,
        images: Sequence[int] | Mapping[int, int],
        values: Mapping[str, int] | None,
    ) -> int:
        """Build a node of a graph on new operands; ``values`` stand for the graph's inputs."""
        kind, payload = graph.kinds[node], graph.payloads[node]
        if payload is None:  # an elementwise operation, as most nodes are
            return self.apply(kind, *[images[operand] for operand in graph.operands[node]])
        if kind == INPUT:
            name = str(payload)
            return self.input(name, graph.shape(node)) if values is None else values[name]
        if isinstance(payload, Literal):
            return self.literal(payload)
        if isinstance(payload, float):
            text = graph.spelled.get(node) if self.typed else None
            return self.constant(payload, graph.symbols.get(node), text)
        operands = [images[operand] for operand in graph.operands[node]]
        settings = payload if isinstance(payload, tuple) else None
        return self.apply(kind, *operands, settings=settings)

    def program(self, outputs: Sequence[int]) -> Program:
        """Keep the nodes that the outputs need; the inputs stay, needed or not."""
        return self.pruned(outputs)[0]

    def pruned(self, outputs: Sequence[int]) -> tuple[Program, list[int]]:
        """Prune the graph; also return each node's place in the program, -1 if it was not needed."""
        wanted = dependency_flags(self.graph, *outputs, *self.graph.inputs.values())
        if all(wanted):
            self.graph.output = outputs[0]
            return Program(self.graph, tuple(outputs)), [*range(len(self.graph))]
        kept, place = transform_graph(self.graph, wanted=wanted)
        kept.output = place[outputs[0]]
        return Program(kept, tuple([place[output] for output in outputs])), place

    # What is known about nodes.

    def value(self, node: int) -> float | None:
        """Return a plain constant's value, broadcast or not; None for a named one, which keeps its name.

        Where constants are decimals, None also for one with more digits than its double.
        """
        graph = self.graph
        payload = graph.payloads[node]
        if payload is None:  # an elementwise operation, as most nodes are
            return None
        if graph.kinds[node] == "broadcast":
            (node,) = graph.operands[node]
            payload = graph.payloads[node]
        if not isinstance(payload, float) or node in graph.symbols:
            return None
        return None if self.typed and node in graph.spelled else payload

    # Shortcuts.

    def shortcut(self, kind: str, operands: tuple[int, ...]) -> int | None:
        """Return an operation's result without computing it; None where it must be computed."""
        row = BY_NAME.get(kind)
        if row is None:  # what an engine has beside the rows
            return None
        if kind == "where":
            return self.choice(*operands)
        values = [self.value(operand) for operand in operands]
        if row.unit is not None:
            if values[-1] == row.unit:
                return operands[0]
            if values[0] == row.unit and row.commutes:
                return operands[1]
        if None not in values:
            number = fold_doubles_exactly(kind, values, typed=self.typed)  # type: ignore[arg-type]
            if number is not None:
                return self.constant(number)
        if row.inverse == kind:
            inner = operands[0]
            return self.graph.operands[inner][0] if self.graph.kinds[inner] == kind else None
        if len(operands) != 2:
            return None
        (x, y), (first, second) = operands, values
        if x == y and kind in COMPARISONS:  # x < x is 0, be x nan or a number
            may_hold = compare_doubles(kind, 0, 0) or compare_doubles(kind, math.nan, math.nan)
            return None if may_hold else self.constant(0.0)
        if kind == "pow" and second == 0:
            return self.constant(1.0)
        for value, other in ((first, y), (second, x)):
            node = None if value is None else self.with_constant(row, value, other)
            if node is not None:
                return node
        return None

    def with_constant(self, row: Op, value: float, other: int) -> int | None:
        """Combine a constant and another node: a negative, or for a flag a constant or the flag."""
        if row.powers == (1, 1) and value == -1:
            return self.apply("neg", other)
        if other not in self.flags:
            return None
        if (row.logic, value) in (("and", 0), ("or", 1)):
            return self.constant(value)
        is_idle = row.logic == "or" and is_zero_or_one(value)
        return other if value == 0 and (is_idle or row.signs == (1, 1)) else None

    def choice(self, condition: int, x: int, y: int) -> int | None:
        """Shorten a ``where`` whose condition is known, or is a choice itself, or recurs in a branch."""
        kinds, operands = self.graph.kinds, self.graph.operands
        known = self.value(condition)
        if known is not None:
            return x if known else y
        if x == y:
            return x
        if kinds[condition] == "where":
            inner, yes, no = operands[condition]
            choice = self.value(yes), self.value(no)
            if choice == (1.0, 0.0):
                return self.apply("where", inner, x, y)
            if choice == (0.0, 1.0):
                return self.apply("where", inner, y, x)
        if kinds[x] == "where" and operands[x][0] == condition:
            return self.apply("where", condition, operands[x][1], y)
        if kinds[y] == "where" and operands[y][0] == condition:
            return self.apply("where", condition, x, operands[y][2])
        return None

    def movement(
        self, kind: str, operands: tuple[int, ...], settings: Settings, shape: Shape
    ) -> int | None:
        """Shorten an operation that moves numbers nowhere, or back; None where it must be done."""
        x = operands[0]
        known, inner = self.shape(x), self.graph.kinds[x]
        if kind in ("reshape", "broadcast") and shape == known:
            return x
        if kind == "sum" and not normalize_axes(settings[0], known):
            return x
        if kind == "concat" and len(operands) == 1:
            return x
        if kind == inner and kind in ("reshape", "broadcast"):
            return self.structural(kind, self.graph.operands[x], (shape,))
        if kind == "reshape" and self.value(x) is not None and inner == "broadcast":
            return self.structural("broadcast", self.graph.operands[x], (shape,))
        return self.transposed(x, settings) if kind == "transpose" else None

    def transposed(self, x: int, settings: Settings) -> int | None:
        """Shorten a transpose that moves nothing, or undoes another."""
        order = axis_permutation(settings, self.shape(x))
        if list(order) == sorted(order):
            return x
        if self.graph.kinds[x] == "transpose":
            (inner,) = self.graph.operands[x]
            first = axis_permutation(cast(Settings, self.graph.payloads[x]), self.shape(inner))
            if [first[at] for at in order] == sorted(order):
                return inner
        return None


# Arithmetic on constants.

Exact = int | Fraction
"""A rational number.  A whole one is an int, which is added, compared and looked up many times faster."""

ONE: Exact = 1
HALF = Fraction(1, 2)
KEEPS_WHOLE = frozenset(kind for kind in SUMS | PRODUCTS if -1 not in BY_NAME[kind].powers)
"""Operations that take whole numbers to whole numbers; a quotient of ints would be a double."""
EXACT_BELOW = 2**53
"""The number up to which whole numbers are doubles, and written without an exponent."""


def is_zero_or_one(value: float) -> bool:
    """Whether a number may be a comparison's: 1, or 0 without a sign."""
    return value == 1 or (value == 0 and math.copysign(1, value) == 1)


def compare_doubles(kind: str, x: float, y: float) -> bool:
    """Whether a comparison of two doubles holds."""
    holds = BY_NAME[kind].exact
    assert holds is not None
    return bool(holds(x, y))


def fold_doubles_exactly(
    kind: str, values: Sequence[float], *, typed: bool = False
) -> float | None:
    """Return the result of an operation on doubles if it is exactly a double, else None.

    With ``typed`` the doubles, and the result, stand for their decimal texts.
    """
    if kind in COMPARISONS:
        return float(compare_doubles(kind, *values))
    if not all(map(math.isfinite, values)):
        return None
    read, write = (exact_from_shortest, shortest_double) if typed else (Fraction, exact_double)
    exact = exact_result(kind, [read(value) for value in values])
    return write(exact) if exact else None  # a zero has a sign, which a fraction lacks


def exact_from_shortest(value: float) -> Exact:
    """Return the decimal number of a finite double's text."""
    if value.is_integer() and abs(value) <= EXACT_BELOW:
        return int(value)
    return simplify_exact(Fraction(repr(value)))


def shortest_double(value: Exact) -> float | None:
    """Return the double whose shortest text is exactly this number, if any."""
    if value.denominator == 1 and abs(value.numerator) <= EXACT_BELOW:
        return float(value.numerator)
    return exact_double(value, exact_from_shortest)


def exact_double(value: Exact, read: Callable[[float], Exact] = Fraction) -> float | None:
    """Return the double that is read as exactly this number, if any."""
    try:
        double = float(value)
    except OverflowError:
        return None
    return double if read(double) == value else None


def exact_result(kind: str, values: Sequence[Exact]) -> Exact | None:
    """Return the exact result, where it is rational."""
    row = BY_NAME[kind]
    if row.exact is None:
        return None
    try:
        found = row.exact(*values if kind in KEEPS_WHOLE else map(Fraction, values))
    except ZeroDivisionError:
        return None
    return found if found is None else simplify_exact(found)


def simplify_exact(value: Exact) -> Exact:
    """Return a number, as an int if it is whole."""
    return value.numerator if value.denominator == 1 else value


def exact_magnitude(value: Exact) -> Exact:
    """Return a number without its sign."""
    return -value if value < 0 else value


def exact_ratio(above: Exact, below: Exact) -> Exact:
    """Return a quotient."""
    return simplify_exact(Fraction(above, below))


def exact_integer_power(base: Exact, power: Exact) -> Exact:
    """Return a number to a whole power."""
    return simplify_exact(Fraction(base) ** int(power))
