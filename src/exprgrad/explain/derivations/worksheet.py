"""A formula as a person reads it who differentiates it by hand, and what is written below it.

Equal parts are one.  What the formula itself names is called by its name, and so is what is too long to
be written out: such parts are named u1, u2, ….  So every text is short, however long the formula is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial, reduce
from itertools import chain, count, islice

from exprgrad.derive.sweeps.local import active_from, users_of, varying_operands
from exprgrad.graph.graph import (
    CONST,
    INPUT,
    Graph,
    Payload,
    copied,
    copies,
    dependencies,
    dependents,
    transform,
)
from exprgrad.graph.ops import BY_NAME, Op
from exprgrad.language.read.builder import CONSTANTS
from exprgrad.language.write.infix import SUM, label, leaf, operation_text

__all__ = ["LONGEST_PART", "Worksheet"]

LONGEST_PART = 60
"""The longest part that is written out, in characters."""
LONGEST_CHAIN = 240
"""The longest sum or product."""
LETTERS = "uvwpqrsfgh"
NO_LIMIT = 1 << 30
LEAF = Op("", "", (), "")
NOWHERE = (0, 0)


class Worksheet:
    """A formula that is to be differentiated with respect to one of its inputs.

    ``graph``    what the output needs, equal nodes being one; behind that, what the steps write
    ``size``     how many nodes the formula itself has
    ``origin``   by node of the formula: the node of the user's graph that it was first
    ``texts``    by node: its text, once it has been read or written
    ``names``    by node: what it is called; ``pi = …`` is written out, for texts mean the number by it
    ``variables``  the nodes of inputs, of letters, and of what has a name that is not the user's
    ``active``   by node: whether a derivative passes through it, from the input to the output
    ``depends``  by node: whether it depends on the input at all
    ``link``     by node: whether it is but a link in its only user's sum or product
    ``enclosed`` the nodes whose text begins with a parenthesis in front of a minus
    """

    def __init__(self, graph: Graph, wrt: str) -> None:
        self.wrt = wrt
        self.graph, self.origin = shared(graph)
        self.size = len(self.graph)
        own = graph.names()
        called = {n: own[o] for n, o in enumerate(self.origin) if o in own}
        self.names = {n: name for n, name in called.items() if name not in CONSTANTS}
        self.variables = dict(self.graph.inputs)
        self.taken = {*graph.inputs, *(b.name for b in graph.bindings), *CONSTANTS}
        self.fresh = (name for n in count(1) if self.is_free(name := f"u{n}"))
        seeds = [self.graph.inputs[wrt]] if wrt in self.graph.inputs else []
        self.active = passed_through(self.graph, seeds)
        self.depends = dependents(self.graph, seeds)
        self.link = self.links()
        self.texts = [""] * self.size
        self.enclosed: set[int] = set()

    # Names and texts.

    def letters_for(self, number: int) -> list[str]:
        """Letters for the parts of one step."""
        candidates = chain(LETTERS, (f"v{n}" for n in count(1)))
        return list(islice((name for name in candidates if self.is_free(name)), number))

    def is_free(self, name: str) -> bool:
        """Whether neither a name nor its differential is used by the formula."""
        return name not in self.taken and f"d{name}" not in self.taken

    def tangent(self, name: str) -> str:
        """The derivative of what has a name."""
        return f"d{name}/d{self.wrt}"

    def read(self) -> Iterator[int]:
        """Every node in turn, operands first; its text is known when it comes, and it may be named."""
        for node in range(self.size):
            operands = self.graph.operands[node]
            self.texts[node] = self.text_on(node, behind(self.graph.kinds[node], operands))
            if len(self.texts[node]) > (LONGEST_CHAIN if self.link[node] else LONGEST_PART):
                self.name(node)
            yield node

    def name(self, node: int, *, output: bool = False) -> None:
        """Give a node a name unless it has one; the output needs one only where ``output`` says so."""
        if node not in self.names and (output or node != self.graph.output):
            name = self.names[node] = next(self.fresh)
            self.variables[name] = node

    def label(self, node: int) -> str:
        """What a node is called where it is used."""
        return self.names.get(node, self.texts[node])

    def text_on(self, node: int, guarded: Iterable[int]) -> str:
        """A node's text; what begins with a minus is in parentheses at the positions ``guarded``."""
        graph = self.graph
        operands = graph.operands[node]
        if not operands:
            return leaf(graph, node)
        parts = [label(graph, operand, self.names, self.texts) for operand in operands]
        for place in guarded:
            if self.has_minus(operands[place]):
                parts[place] = parts[place][0], SUM
                self.enclosed.update([node] if place == 0 else [])
        return operation_text(graph.kinds[node], parts, limit=NO_LIMIT)

    # Writing.

    def append(
        self, kind: str, operands: tuple[int, ...], payload: Payload, guarded: Iterable[int]
    ) -> int:
        """A new node."""
        node = self.graph.append(kind, operands, payload, NOWHERE, (NOWHERE,) * len(operands))
        self.texts.append("")
        self.texts[node] = self.text_on(node, guarded)
        return node

    def variable(self, name: str) -> int:
        """What has a name, a letter, or the derivative of something."""
        if name not in self.variables:
            node = self.variables[name] = self.append(INPUT, (), name, ())
            self.names[node] = name
        return self.variables[name]

    def constant(self, value: float) -> int:
        """A number."""
        return self.append(CONST, (), value, ())

    def apply(self, kind: str, *operands: int) -> int:
        """An operation; nothing is worked out, for people read it."""
        return self.append(kind, operands, None, behind(kind, operands))

    def product(self, kind: str, *factors: int) -> int:
        """A product or quotient of which each factor that begins with a minus is in parentheses."""
        return self.append(kind, factors, None, range(len(factors)))

    def chained(self, kind: str, operands: Iterable[int]) -> int:
        """An operation of two operands on several, from the left."""
        return reduce(partial(self.apply, kind), operands)

    def filled(self, law: Graph, values: Mapping[str, int]) -> int:
        """A formula with nodes for some of its names."""
        slots = set(values.values())

        def rule(node: int, images: Sequence[int]) -> int:
            payload = law.payloads[node]
            if law.kinds[node] == INPUT:
                name = str(payload)
                return values[name] if name in values else self.variable(name)
            operands = tuple([images[operand] for operand in law.operands[node]])
            guarded = [place for place, operand in enumerate(operands) if operand in slots]
            image = self.append(law.kinds[node], operands, payload, guarded)
            if node in law.symbols:
                self.graph.symbols[image] = self.texts[image] = law.symbols[node]
            return image

        return copies(self.graph, law, rule)[law.output]

    def total(self, terms: Iterable[tuple[int | None, int]]) -> int:
        """The sum of products, each of a local derivative (None is 1) and the derivative beside it."""
        found: int | None = None
        for local, inner in terms:
            term = inner if local is None else self.scaled(local, inner)
            if found is None:
                found = term
            elif self.has_minus(term):
                found = self.apply("sub", found, self.without_minus(term))
            else:
                found = self.apply("add", found, term)
        return self.constant(0.0) if found is None else found

    def scaled(self, local: int, inner: int) -> int:
        """A local derivative times an inner one; 1 and -1 are not written."""
        if self.value(local) == 1:
            return inner
        if self.value(local) == -1:
            return self.apply("neg", inner)
        is_part = local < self.size
        return self.product("mul", local, inner) if is_part else self.apply("mul", local, inner)

    def value(self, node: int) -> float | None:
        """The number that a node is, its signs included; None for what is not written as one."""
        sign = 1.0
        while self.is_negation(node):
            sign, node = -sign, self.graph.operands[node][0]
        payload = self.graph.payloads[node]
        if node in self.graph.symbols or not isinstance(payload, float):
            return None
        return sign * payload

    def has_minus(self, node: int) -> bool:
        """Whether a node's text, where it is used, is a product that begins with a minus."""
        while self.row(node).powers and node not in self.names and node not in self.enclosed:
            node = self.graph.operands[node][0]
        return node not in self.names and (self.is_negation(node) or (self.value(node) or 0.0) < 0)

    def without_minus(self, node: int) -> int:
        """A product that begins with a minus, without it."""
        kinds, operands = self.graph.kinds, self.graph.operands
        factors: list[tuple[str, int]] = []
        while self.row(node).powers:
            factors.append((kinds[node], operands[node][1]))
            node = operands[node][0]
        found = (
            operands[node][0]
            if self.is_negation(node)
            else self.constant(-(self.value(node) or 0.0))
        )
        for kind, factor in reversed(factors):
            found = self.product(kind, found, factor)
        return found

    def part(self, root: int) -> Graph:
        """A node written out as a formula of its own, in which what has a name is an input."""
        return self.formula(root, own=root)

    def formula(self, root: int, *, own: int | None = None) -> Graph:
        """What a node reads where it is used, as a formula; only the name of ``own`` is written out."""
        graph, found = self.graph, Graph()
        done: list[int] = []
        todo = [(root, False)]
        while todo:
            node, is_ready = todo.pop()
            operands = graph.operands[node]
            name = str(graph.payloads[node]) if graph.kinds[node] == INPUT else self.names.get(node)
            if name is not None and (node != own or not operands):
                if name not in found.inputs:
                    found.inputs[name] = found.append(INPUT, (), name, NOWHERE)
                done.append(found.inputs[name])
            elif operands and not is_ready:
                todo += [(node, True), *[(operand, False) for operand in reversed(operands)]]
            else:
                given = done[len(done) - len(operands) :]
                done[len(done) - len(operands) :] = [copied(found, graph, node, tuple(given))]
        found.output = done[0]
        return found

    # Sums and products.

    def row(self, node: int) -> Op:
        """A node's row of the op table; of a leaf, an empty one."""
        return BY_NAME.get(self.graph.kinds[node], LEAF)

    def links(self) -> bytearray:
        """A flag for each node that is read as part of its user."""
        graph, found = self.graph, bytearray(len(self.graph))
        uses = Counter(chain.from_iterable(graph.operands))
        full = bytearray(len(graph))  # products of three factors
        for user, operands in enumerate(graph.operands):
            linear, product = self.is_linear(user), self.is_product(user)
            for operand in operands:
                if uses[operand] > 1 or operand in self.names:
                    continue
                if linear and self.is_linear(operand):
                    found[operand] = 1
                elif product and self.is_product(operand) and not full[user] + full[operand]:
                    found[operand] = full[user] = 1
        return found

    def varying(self, node: int) -> list[int]:
        """The positions with respect to which a node is differentiated."""
        edges = varying_operands(self.graph, node)
        return [place for place, operand in edges if self.active[operand]]

    def is_negation(self, node: int) -> bool:
        """Whether a node is the negative of another."""
        return self.row(node).signs == (-1,)

    def is_linear(self, node: int) -> bool:
        """Whether a node is a sum, or a constant times something."""
        varying, row = self.varying(node), self.row(node)
        if row.powers:
            return [row.powers[place] for place in varying] == [1]
        return bool(row.signs and varying)

    def is_product(self, node: int) -> bool:
        """Whether a node is a product of two active operands."""
        return self.row(node).powers == (1, 1) and len(self.varying(node)) == 2

    def is_wide(self, node: int) -> bool:
        """Whether a node takes more than two operands that share a derivative: too many to write it out."""
        return bool(self.row(node).winner) and len(self.graph.operands[node]) > 2

    def group(self, root: int) -> tuple[list[int], list[int]]:
        """A sum or product: its nodes, operands first, and its operands from left to right."""
        inside, leaves, todo = [], [], [root]
        while todo:
            node = todo.pop()
            if node == root or (self.link[node] and node not in self.names):
                inside.append(node)
                todo += reversed(self.graph.operands[node])
            else:
                leaves.append(node)
        return sorted(inside), leaves

    def inner(self, node: int) -> list[int]:
        """What is differentiated before a node: its operands, or those of the sum or product it is."""
        if self.is_linear(node) or self.is_product(node):
            return [leaf for leaf in self.group(node)[1] if self.active[leaf]]
        return [self.graph.operands[node][place] for place in self.varying(node)]


def behind(kind: str, operands: Collection[int]) -> range:
    """The positions of the operands that stand behind a symbol."""
    return range(not BY_NAME.get(kind, LEAF).prefix, len(operands))


def passed_through(graph: Graph, inputs: list[int]) -> list[bool]:
    """By node: whether it passes a derivative with respect to one of the inputs on to the output."""
    users = users_of(graph, [graph.output])
    reached = set(active_from(users, inputs))
    found = [False] * len(graph)
    for node in sorted(reached, reverse=True):
        found[node] = node == graph.output or any(found[user] for user in users[node])
    return found


def shared(graph: Graph) -> tuple[Graph, list[int]]:
    """What the output needs, equal nodes being one unless they have names; and each node's origin."""
    wanted, names = dependencies(graph, graph.output), graph.names()
    origin: list[int] = []
    known: dict[object, int] = {}

    def rule(made: Graph, node: int, images: Sequence[int]) -> int | None:
        operands = tuple([images[operand] for operand in graph.operands[node]])
        form = graph.kinds[node], operands, repr(graph.payloads[node]), graph.symbols.get(node)
        image = known.setdefault(node if node in names else form, len(made))
        if image < len(made):
            return image
        origin.append(node)
        return None

    return transform(graph, rule, wanted=wanted)[0], origin
