"""The graph: every part of exprgrad reads it, and it never changes once it is built.

Nodes are numbered in the order in which they were appended, and an operand is always appended before
its user, so ascending index is a topological order.  Names and spans are side tables: they say where a
node came from and never what it computes.  Beside the graph stand the two loops over it: one evaluates a
graph in any algebra, the other rebuilds it by a rule.
"""

# Without ``from __future__ import annotations``: typing would compile each field's text at every start.

from array import array
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from math import prod
from typing import Any, Generic, NamedTuple, TypeVar

from exprgrad.errors import ExprgradError, RequestError, command_or_python
from exprgrad.graph.ops import BY_NAME
from exprgrad.source import Source, Span

__all__ = [
    "CONST", "INPUT", "MISSING", "MOST_ELEMENTS", "NUMBERS", "OUTSIDE", "PLACEHOLDERS", "STAGES", "STEPS",
    "Algebra", "Binding", "Budget", "Call", "Graph", "Literal", "LocalDerivative", "LoopProgram",
    "NoShapes", "Payload", "Program", "Rule", "Settings", "Shape", "V", "check_scalars_only",
    "collect_by_key", "copy_node", "copy_nodes", "dependency_flags", "dependent_flags", "element_name",
    "evaluate_nodes", "interpret", "is_scalar", "limit_text", "nest_entries", "nested_list_text",
    "refuse_tensors", "remap_local_derivatives", "same_graph", "shallow_copy_graph", "shape_size",
    "splice_graph", "transform_graph", "unravel_position", "unread_statement_views", "with_output",
]  # fmt: skip

INPUT = "input"
CONST = "const"
PLACEHOLDERS = frozenset(("derivative", "parameter", "root", "unknown"))
"""Kinds of nodes that stand for a derivative or a root inside a formula until ``derive`` replaces them.

    derivative  of operand 0 with respect to operand 1, a node; the payload is the order
    parameter   operand 0, as a function knows it: derivatives are taken with respect to this node
    root        where operand 0 is 0, operand 1 being the unknown, from operand 2, or between 2 and 3
    unknown     the unknown of a root; the payload is its name
"""

Shape = tuple[int, ...]
"""The sizes of a tensor's axes; ``()`` is a number."""
Settings = tuple[Any, ...]
"""Values of a row's parameters, in order: whole numbers, flags, None, and tuples of them."""


class Literal(NamedTuple):
    """A literal tensor: its shape, and its numbers in row-major order."""

    shape: Shape
    numbers: tuple[float, ...]


Payload = str | float | Literal | Settings | None


class NoShapes(list[Shape]):
    """The shapes of a graph that carries none: every node counts as a number."""

    __slots__ = ()

    def __getitem__(self, node: object) -> Any:
        return ()

    def append(self, shape: Shape) -> None:
        """Ignore the shape."""


NUMBERS = NoShapes()


class Binding(NamedTuple):
    """A statement ``name = expression``: the name, the node it names, and the name's span."""

    name: str
    node: int
    span: Span


class Call(NamedTuple):
    """Shorthand for several nodes: a function of the user's own, a sum over an index, a derivative.

    ``kind``      ``function``, ``index`` (one turn of a sum, product or list), ``term`` (of a recurrence),
                  ``derivative`` or ``root``
    ``name``      the card's name: ``f``, ``sum``, ``x[3]``, ``d``, ``root``
    ``text``      the call as people read it: ``f(2, x)``, ``k = 3``
    ``span``      where it is written
    ``parent``    the number of the call around it, or -1
    ``operands``  the nodes passed to it
    ``result``    the node of its value
    ``opened``    whether its nodes are shown instead of one card
    ``bends``     of a derivative: the nodes that may have a kink or a jump as its variable moves
    """

    kind: str
    name: str
    text: str
    span: Span
    parent: int
    operands: tuple[int, ...]
    result: int
    opened: bool = False
    bends: tuple[int, ...] = ()

    @property
    def word(self) -> str:
        """The name that opens it on the command line: ``x`` for a term ``x[3]``."""
        return self.name.partition("[")[0]

    @property
    def label(self) -> str:
        """The title of its card: for a term its name, since all terms share one text."""
        return self.name if self.kind == "term" else self.text

    @property
    def is_expression(self) -> bool:
        """Whether its text can be an operand; one turn of a sum, ``k = 3``, cannot."""
        return self.text.startswith((self.name, "["))


STEPS, STEPS_A_CHARACTER = 10**8, 1000
"""The most steps that a formula may take, or that each character of a long text brings."""
STAGES = {
    "reading": (10, "this text has more than {} characters"),
    "writing out": (1000, "written out, this formula has more than {} nodes"),
    "deriving": (1000, "the derivatives of this take more than {} operations"),
    "visits": (400, "derivatives inside of this formula are of more than {} nodes, all in all"),
    "orders": (500_000, "the order of this derivative is above {}"),
    "terms": (50_000, "a derivative of so high an order has more than {} terms"),
    "simplifying": (1000, "this takes more than {} rewrites to simplify"),
    "elements": (30, "the tensors of this formula hold more than {} numbers"),
}
"""By stage: the steps that one item costs, about ten bytes each, and the message for too many items."""


class LimitedText(str):
    """A formula's text with its own limit of steps."""

    steps: int


def limit_text(text: str, steps: int) -> str:
    """Return a text that carries its own limit of steps."""
    made = LimitedText(text)
    made.steps = steps
    return made


class Budget(NamedTuple):
    """How many steps each stage of the work on a formula may take, and the text that errors show."""

    steps: int = STEPS
    text: str = ""

    @classmethod
    def from_text(cls, text: str) -> "Budget":
        """Return the budget of a text: its own limit, or the usual one, which grows with long texts."""
        usual = max(STEPS, STEPS_A_CHARACTER * len(text))
        return cls(getattr(text, "steps", usual), text)

    def for_second_derivatives(self) -> "Budget":
        """Return the budget without long texts' surplus: each node may take part in many entries."""
        return self if isinstance(self.text, LimitedText) else self._replace(steps=STEPS)

    def most(self, stage: str) -> int:
        """The most items that a stage may have."""
        return self.steps // STAGES[stage][0]

    def refuse_beyond(self, count: int, stage: str, span: Span) -> None:
        """Raise ``RequestError`` if a stage has too many items."""
        if count <= self.most(stage):
            return
        more = 10 * self.steps
        way = command_or_python(
            f"--limit {more} allows", f"exprgrad.parse(text, limit={more}) allows"
        )
        raise RequestError(
            "too-large",
            STAGES[stage][1].format(f"{self.most(stage):,}"),
            source=Source(self.text) if self.text else None,
            span=span,
            help=f"make it smaller; {way} ten times as much, in time and memory",
        )


USUAL = Budget()
OUTSIDE = -1
"""The call number of nodes outside all calls."""


class LocalDerivative(NamedTuple):
    """The source of a local derivative: the row's name, the operand's position, and the operands."""

    kind: str
    position: int
    operands: tuple[int, ...]


class Graph:
    """Nodes in flat arrays, indexed by node.

    ``kinds``      the op table row's name, ``input`` or ``const``
    ``operands``   the operands' indices, in order
    ``payloads``   an input's name, a constant's number or ``Literal``, a structural operation's
                   settings; None for an elementwise operation
    ``starts``, ``ends``   the node's span in the text (without surrounding parentheses)
    ``first_edge`` the number of the node's first operand edge; edges are numbered in node order
    ``edge_starts``, ``edge_ends``  the span of each operand's occurrence, by edge
    ``inputs``     name → node, in order of first appearance
    ``symbols``    node → the spelling of a named constant, such as ``pi``
    ``spelled``    literal → its text, where that may be another number than its double's shortest text
    ``bindings``   the named statements, in order
    ``output``     the node of the whole expression
    ``output_name``  its name, if it has one
    ``shapes``     the nodes' shapes; ``NUMBERS``, which is empty: all are numbers, or it is not known yet
    ``implicit``   the nodes that broadcasting added
    ``origins``    of a derived graph: node → the node of the user's graph that it comes from
    ``slopes``     of a derived graph: the nodes that are local derivatives of rows that state second ones
    ``calls``      the calls that stand for several nodes, outer calls before those inside them
    ``called``     node → the number of the innermost call that it was made in; none for what is written out
    ``budget``     the work allowed on it and on what is derived from it
    ``mentioned``  named values that no operation reads: whole numbers in bounds and indices, and
                   what a derivative inside is of
    """

    __slots__ = (
        "bindings", "budget", "called", "calls", "edge_ends", "edge_starts", "ends", "first_edge",
        "implicit", "inputs", "kinds", "mentioned", "operands", "origins", "output", "output_name",
        "payloads", "shapes", "slopes", "spelled", "starts", "symbols",
    )  # fmt: skip

    def __init__(self, shapes: list[Shape] = NUMBERS, budget: Budget = USUAL) -> None:
        self.budget = budget
        self.kinds: list[str] = []
        self.operands: list[tuple[int, ...]] = []
        self.payloads: list[Payload] = []
        self.starts: array[int] = array("q")
        self.ends: array[int] = array("q")
        self.first_edge: array[int] = array("q")
        self.edge_starts: array[int] = array("q")
        self.edge_ends: array[int] = array("q")
        self.inputs: dict[str, int] = {}
        self.symbols: dict[int, str] = {}
        self.spelled: dict[int, str] = {}
        self.bindings: list[Binding] = []
        self.output: int = -1
        self.output_name: str | None = None
        self.shapes: list[Shape] = shapes
        self.implicit: set[int] = set()
        self.origins: dict[int, int] = {}
        self.slopes: dict[int, LocalDerivative] = {}
        self.calls: list[Call] = []
        self.called: dict[int, int] = {}
        self.mentioned: set[str] = set()

    def __repr__(self) -> str:
        return (
            f"<Graph: {len(self)} node{'s' * (len(self) != 1)}, {len(self.inputs)} of them inputs>"
        )

    def __len__(self) -> int:
        return len(self.kinds)

    def append(
        self,
        kind: str,
        operands: tuple[int, ...],
        payload: Payload,
        span: Span,
        occurrences: tuple[Span, ...] = (),
    ) -> int:
        """Add a node and return its index."""
        self.kinds.append(kind)
        self.operands.append(operands)
        self.payloads.append(payload)
        self.starts.append(span[0])
        self.ends.append(span[1])
        self.first_edge.append(len(self.edge_starts))
        for start, end in occurrences:
            self.edge_starts.append(start)
            self.edge_ends.append(end)
        return len(self.kinds) - 1

    def truncate(self, length: int) -> None:
        """Remove the last nodes, which nothing uses yet."""
        if length == len(self):
            return
        edges = self.first_edge[length]
        while self.calls and self.calls[-1].result >= length:
            self.calls.pop()
        for node in range(length, len(self)):
            self.called.pop(node, None)
            self.spelled.pop(node, None)
        for column in (
            self.kinds,
            self.operands,
            self.payloads,
            self.starts,
            self.ends,
            self.first_edge,
        ):
            del column[length:]
        del self.edge_starts[edges:], self.edge_ends[edges:]

    def drop(self, leaf: int) -> None:
        """Remove a leaf that nothing uses; the nodes after it move up."""
        for column in (self.kinds, self.payloads, self.starts, self.ends, self.first_edge):
            del column[leaf]
        del self.operands[leaf]
        self.operands[leaf:] = [
            tuple([at - (at > leaf) for at in each]) for each in self.operands[leaf:]
        ]
        self.calls = [
            call._replace(
                operands=tuple([at - (at > leaf) for at in call.operands]),
                result=call.result - (call.result > leaf),
            )
            for call in self.calls
        ]
        self.called = {node - (node > leaf): at for node, at in self.called.items() if node != leaf}
        self.inputs = {name: node - (node > leaf) for name, node in self.inputs.items()}
        self.symbols = {node - (node > leaf): name for node, name in self.symbols.items()}
        self.spelled = {
            node - (node > leaf): text for node, text in self.spelled.items() if node != leaf
        }

    def span(self, node: int) -> Span:
        """Where the node is written; an input's span is its first occurrence."""
        return self.starts[node], self.ends[node]

    def occurrence(self, user: int, position: int) -> Span:
        """Where the operand at a position of a user is written."""
        edge = self.first_edge[user] + position
        return self.edge_starts[edge], self.edge_ends[edge]

    def shape(self, node: int) -> Shape:
        """Return a node's shape: ``()`` is a number, as every node is in a graph without shapes."""
        return self.shapes[node]

    def told_shape(self, node: int) -> Shape | None:
        """Return a node's shape to show; None in a graph without shapes."""
        return self.shapes[node] if self.shapes else None

    def empty(self) -> "Graph":
        """Return a graph without nodes, which carries shapes if this one does."""
        return Graph(type(self.shapes)(), self.budget)

    def names(self) -> dict[int, str]:
        """Node → its name: an input's own, or the first that a statement bound to it."""
        names = {node: name for name, node in self.inputs.items()}
        for name, node, _ in self.bindings:
            names.setdefault(node, name)
        return names

    def edges(self) -> Iterator[tuple[int, int, int]]:
        """Every edge as (user, position, operand), in order."""
        for user, operands in enumerate(self.operands):
            for position, operand in enumerate(operands):
                yield user, position, operand


class Program(NamedTuple):
    """A graph and the nodes wanted from it, in order: a value and its gradient, say."""

    graph: Graph
    outputs: tuple[int, ...]


class LoopProgram(NamedTuple):
    """A loop: ``first`` makes the state from the operands, ``turn`` makes the next state.

    The last output of ``turn`` is 1 while the loop goes on, else 0; ``last`` makes the result.
    Inputs have the names of the operands, and those of ``state``.
    """

    state: tuple[str, ...]
    first: Program
    turn: Program
    last: Program


def dependency_flags(graph: Graph, *nodes: int) -> bytearray:
    """A flag for each node: whether one of ``nodes`` depends on it (or is it)."""
    needed = bytearray(len(graph))
    for node in nodes:
        needed[node] = 1
    for user in range(max(nodes, default=-1), -1, -1):
        if needed[user]:
            for operand in graph.operands[user]:
                needed[operand] = 1
    return needed


def dependent_flags(graph: Graph, nodes: Iterable[int]) -> bytearray:
    """A flag for each node: whether it depends on (or is) one of ``nodes``."""
    active = bytearray(len(graph))
    for node in nodes:
        active[node] = 1
    for user, operands in enumerate(graph.operands):
        for operand in operands:
            if active[operand]:
                active[user] = 1
                break
    return active


def unread_statement_views(graph: Graph, source: str) -> dict[str, Graph]:
    """By name, a view of each statement that depends on an input and that no other statement reads."""
    read = {graph.output, *graph.inputs.values(), *chain.from_iterable(graph.operands)}
    moving = dependent_flags(graph, [graph.inputs[source]])
    return {
        name: with_output(graph, node)
        for name, node, _ in graph.bindings
        if node not in read and moving[node] and name.isidentifier()
    }


def with_output(graph: Graph, output: int) -> Graph:
    """The same graph with another output."""
    if output == graph.output:
        return graph
    view = shallow_copy_graph(graph)
    view.output = output
    return view


def shallow_copy_graph(graph: Graph) -> Graph:
    """Return a graph that shares all columns with another until it gets its own."""
    view = Graph()
    for column in Graph.__slots__:
        setattr(view, column, getattr(graph, column))
    return view


def same_graph(one: Graph, other: Graph) -> bool:
    """Whether two graphs compute the same thing node by node and use the same names, spans aside."""
    return (
        one.kinds == other.kinds
        and one.operands == other.operands
        and [repr(p) for p in one.payloads] == [repr(p) for p in other.payloads]
        and one.symbols == other.symbols
        and [b[:2] for b in one.bindings] == [b[:2] for b in other.bindings]
        and (one.output, one.output_name) == (other.output, other.output_name)
    )


def is_scalar(graph: Graph) -> bool:
    """Whether nothing in a graph but its inputs makes or takes a tensor."""
    if any(kind not in BY_NAME and kind not in (INPUT, CONST) for kind in set(graph.kinds)):
        return False
    return not any(type(payload) is Literal for payload in graph.payloads)


UNSAID: Mapping[str, Shape] = {}
"""No shapes of inputs."""


def check_scalars_only(
    graph: Graph, refusal: Callable[[int], ExprgradError], shapes: Mapping[str, Shape] = UNSAID
) -> None:
    """Raise ``refusal``'s error for the first node that is a tensor, or may take one.

    The inputs of a graph that carries no shapes count as numbers, except those with ``shapes`` here.
    """
    for name, node in graph.inputs.items():
        if shapes.get(name):
            raise refusal(node)
    elementwise = BY_NAME.keys() | {INPUT, CONST}
    for node, kind in enumerate(graph.kinds):
        if graph.shape(node) or kind not in elementwise or type(graph.payloads[node]) is Literal:
            raise refusal(node)


def refuse_tensors(
    graph: Graph,
    text: str,
    message: str,
    help: str = "write it for the numbers of one row, each a column of its own",
) -> None:
    """Raise an error that points to the first node that is a tensor, or may take one."""
    check_scalars_only(
        graph,
        lambda node: RequestError(
            "no-tensors", message, source=Source(text), span=graph.span(node), help=help
        ),
    )


# The one walk forward.  (The sweep over doubles has to be fast, and is a loop of its own: ``run/numbers``.)

K = TypeVar("K")
V = TypeVar("V")


class Algebra(Generic[V]):
    """An algebra in which a graph can be evaluated.

    ``constant``  a constant's value, of the graph and the node
    ``apply``     an operation's value, of the graph, the node and the operands' values
    """

    __slots__ = ("apply", "constant")

    def __init__(
        self,
        constant: Callable[[Graph, int], V],
        apply: Callable[[Graph, int, Sequence[V]], V],
    ) -> None:
        self.constant = constant
        self.apply = apply


def interpret(
    graph: Graph,
    algebra: Algebra[V],
    inputs: Mapping[str, V],
    keep: Collection[int] | None = None,
) -> list[V]:
    """Every node's value, given every input's; or that of the nodes to ``keep`` alone, the others None.

    A value that is not kept is freed after its last use, so that memory holds only what is needed.
    """
    values: list[Any] = [None] * len(graph)
    needed = None if keep is None else dependency_flags(graph, *keep)
    spent = {} if needed is None else operands_freed_after(graph, needed, set(keep or ()))
    for node, kind in enumerate(graph.kinds):
        if needed is not None and not needed[node]:
            continue
        if kind == INPUT:
            values[node] = inputs[str(graph.payloads[node])]
        elif kind == CONST:
            values[node] = algebra.constant(graph, node)
        else:
            operands = [values[operand] for operand in graph.operands[node]]
            values[node] = algebra.apply(graph, node, operands)
            del operands
        for operand in spent.get(node, ()):
            values[operand] = None
    return values


def evaluate_nodes(
    graph: Graph, algebra: Algebra[V], values: list[V], nodes: Iterable[int]
) -> list[V]:
    """Compute the values of some operations, in order, from the others; return all values."""
    for node in nodes:
        operands = [values[operand] for operand in graph.operands[node]]
        values[node] = algebra.apply(graph, node, operands)
    return values


def operands_freed_after(
    graph: Graph, needed: Sequence[int], kept: Collection[int]
) -> dict[int, list[int]]:
    """By node, the operands that no later needed node uses, except those that are kept."""
    last = {
        operand: user
        for user, operands in enumerate(graph.operands)
        if needed[user]
        for operand in operands
    }
    return collect_by_key((user, operand) for operand, user in last.items() if operand not in kept)


def collect_by_key(pairs: Iterable[tuple[K, V]]) -> dict[K, list[V]]:
    """Group values by key; keys and values keep their order."""
    found: dict[K, list[V]] = {}
    for key, value in pairs:
        found.setdefault(key, []).append(value)
    return found


# The one loop that rebuilds a graph node by node, by a rule for each.

Rule = Callable[[int, Sequence[int]], int | None]
"""A node's replacement: a new node, or None for a copy; given the new nodes of those before it."""
MISSING = -1
"""Stands for a node that was left out."""


def transform_graph(
    graph: Graph,
    rule: Callable[[Graph, int, Sequence[int]], int | None] | None = None,
    *,
    wanted: Sequence[int] | None = None,
    into: Graph | None = None,
) -> tuple[Graph, list[int]]:
    """Rebuild a graph; return it, and each old node's new node, -1 for one that is not ``wanted``.

    ``rule`` is given the new graph so far, an old node and the new nodes of those before it; it returns a
    node of the new graph, or None for a copy.  Without a rule every node is copied.  Names, spans, shapes
    and the output go along.  ``into`` is the graph to build; by default it carries shapes if this one does.
    """
    made = graph.empty() if into is None else into
    images = copy_nodes(made, graph, rule and (lambda *node: rule(made, *node)), wanted=wanted)
    made.inputs = {name: images[node] for name, node in graph.inputs.items() if images[node] >= 0}
    made.bindings = [
        Binding(b.name, images[b.node], b.span) for b in graph.bindings if images[b.node] >= 0
    ]
    made.mentioned |= graph.mentioned
    if graph.calls:
        made.calls = [
            call._replace(
                operands=tuple([images[operand] for operand in call.operands]),
                result=images[call.result],
                bends=tuple([images[node] for node in call.bends]),
            )
            for call in graph.calls
        ]
        found = ((images[node], at) for node, at in graph.called.items())
        made.called = {node: at for node, at in found if node >= 0}
    made.implicit |= {images[node] for node in graph.implicit if images[node] >= 0}
    if graph.slopes and rule is None:
        made.slopes = dict(remap_local_derivatives(graph, images))
    made.output, made.output_name = images[graph.output], graph.output_name
    return made, images


def splice_graph(made: Graph, part: Graph, known: Mapping[str, int]) -> list[int]:
    """Add another graph's nodes, in order; ``known`` nodes stand for its inputs and constants."""

    def rule(node: int, images: Sequence[int]) -> int | None:
        name = part.payloads[node] if part.kinds[node] == INPUT else part.symbols.get(node)
        return known.get(str(name))  # it may be pi, which a statement has bound

    return copy_nodes(made, part, rule)


def remap_local_derivatives(
    graph: Graph, images: Sequence[int]
) -> Iterator[tuple[int, LocalDerivative]]:
    """Yield the local derivatives whose node and operands are all kept."""
    for node, slope in graph.slopes.items():
        operands = tuple([images[operand] for operand in slope.operands])
        if MISSING not in (images[node], *operands):
            yield images[node], slope._replace(operands=operands)


def copy_nodes(
    made: Graph, graph: Graph, rule: Rule | None = None, *, wanted: Sequence[int] | None = None
) -> list[int]:
    """Copy nodes into ``made``, which may hold nodes already; return each node's copy."""
    images: list[int] = []
    for node, operands in enumerate(graph.operands):
        if wanted is not None and not wanted[node]:
            images.append(MISSING)
            continue
        image = None if rule is None else rule(node, images)
        if image is None:
            image = copy_node(made, graph, node, tuple([images[operand] for operand in operands]))
        images.append(image)
    return images


def copy_node(made: Graph, graph: Graph, node: int, operands: tuple[int, ...]) -> int:
    """Copy a node of ``graph`` into ``made``, on operands there."""
    kind, payload = graph.kinds[node], graph.payloads[node]
    first = graph.first_edge[node]
    edges = slice(first, first + len(operands))
    image = made.append(kind, operands, payload, graph.span(node))
    made.edge_starts.extend(graph.edge_starts[edges])
    made.edge_ends.extend(graph.edge_ends[edges])
    made.shapes.append(graph.shape(node))
    if kind == INPUT:
        made.inputs[str(payload)] = image
    if node in graph.symbols:
        made.symbols[image] = graph.symbols[node]
    if node in graph.spelled:
        made.spelled[image] = graph.spelled[node]
    if node in graph.origins:
        made.origins[image] = graph.origins[node]
    return image


# Shapes and the places in them.


def element_name(name: str, place: Shape | None) -> str:
    """The name of one number of a tensor, ``X[0, 1]``; a plain number keeps its own."""
    return f"{name}{[*place]}" if place else name


MOST_ELEMENTS = 4096
"""The most numbers, over all nodes of a graph, for which tensors are written out."""


def shape_size(shape: Shape) -> int:
    """How many numbers a tensor of a shape holds."""
    return prod(shape)


def unravel_position(flat: int, shape: Shape) -> Shape:
    """Return the index along each axis of a number, given its position in row-major order."""
    place = []
    for length in reversed(shape):
        flat, index = divmod(flat, length)
        place.append(index)
    return tuple(reversed(place))


def nest_entries(entries: Sequence[Any], shape: Shape, join: Callable[[list[Any]], Any]) -> Any:
    """Nest entries, given in row-major order, by joining row after row."""
    rows = list(entries)
    for length in reversed(shape):
        rows = [join(rows[at : at + length]) for at in range(0, len(rows), length)]
    return rows[0]


def nested_list_text(entries: Sequence[str], shape: Shape) -> str:
    """Write texts, given in row-major order, as nested lists."""
    return str(nest_entries(entries, shape, lambda row: f"[{', '.join(row)}]"))
