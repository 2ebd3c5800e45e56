"""A formula as a person reads it who differentiates it by hand.

Equal parts are one.  What the formula itself names is called by its name, and so is what is too long to
be written out: such parts are named u1, u2, ….  So every text is short, however long the formula is.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, count

from exprgrad.derive.sweeps.local import active_from, passing, users_of
from exprgrad.explain.derivations.texts import Text, written
from exprgrad.graph.graph import Graph, dependencies, dependents
from exprgrad.graph.ops import BY_NAME
from exprgrad.graph.transform import transform
from exprgrad.language.read.parse import CONSTANTS
from exprgrad.language.write.infix import label, leaf, operand_level

__all__ = ["LONGEST", "Reading"]

LONGEST = 60
"""The longest part that is written out, in characters."""
LONGEST_CHAIN = 240
"""The longest sum or product."""
LETTERS = "uvwpqrsfgh"
LINKS = ("add", "sub", "neg", "mul", "div")
PRODUCTS = ("mul", "div")


class Reading:
    """A formula that is to be derived by one of its inputs.

    ``graph``    what the output needs, equal nodes being one
    ``origin``   by node: the node of the user's graph that it was first
    ``names``    by node: what it is called; ``pi = …`` is written out, for texts mean the number by it
    ``made``     the names that are not the user's, each with its node
    ``active``   by node: whether a derivative passes through it, from the input to the output
    ``depends``  by node: whether it depends on the input at all
    ``link``     by node: whether it is but a link in its only user's sum or product
    """

    def __init__(self, graph: Graph, wrt: str) -> None:
        self.wrt = wrt
        self.graph, self.origin = shared(graph)
        own = graph.names()
        called = {n: own[o] for n, o in enumerate(self.origin) if o in own}
        self.names = {n: name for n, name in called.items() if name not in CONSTANTS}
        self.made: dict[str, int] = {}
        taken = {*graph.inputs, *(b.name for b in graph.bindings), *CONSTANTS}
        self.letters = [letter for letter in LETTERS if free(letter, taken)]
        self.fresh = (name for n in count(1) if free(name := f"u{n}", taken))
        self.spare = (name for n in count(1) if free(name := f"v{n}", taken))
        seeds = [self.graph.inputs[wrt]] if wrt in self.graph.inputs else []
        self.active = passed_through(self.graph, seeds)
        self.depends = dependents(self.graph, seeds)
        self.link = self.links()
        self.texts: list[str] = []

    # Names and texts.

    def letters_for(self, number: int) -> list[str]:
        """Letters for the parts of one step."""
        while len(self.letters) < number:
            self.letters.append(next(self.spare))
        return self.letters[:number]

    def tangent(self, name: str) -> str:
        """The derivative of what has a name."""
        return f"d{name}/d{self.wrt}"

    def read(self) -> Iterator[int]:
        """Every node in turn, operands first; its text is known when it comes, and it may be named."""
        for node, kind in enumerate(self.graph.kinds):
            if self.graph.operands[node]:
                text, _ = written(kind, *[self.label(o) for o in self.graph.operands[node]])
            else:
                text = leaf(self.graph, node)
            self.texts.append(text)
            if len(text) > (LONGEST_CHAIN if self.link[node] else LONGEST):
                self.name(node)
            yield node

    def name(self, node: int, *, output: bool = False) -> None:
        """Give a node a name unless it has one; the output needs one only where ``output`` says so."""
        if node not in self.names and (output or node != self.graph.output):
            name = self.names[node] = next(self.fresh)
            self.made[name] = node

    def label(self, node: int) -> Text:
        """What a node is called where it is used."""
        return label(self.graph, node, self.names, self.texts)

    def own(self, node: int) -> Text:
        """A node written out, whatever its name is."""
        return self.texts[node], operand_level(self.graph, node, {})

    # Parts.

    def links(self) -> bytearray:
        """A flag for each node that is read as part of its user."""
        graph, found = self.graph, bytearray(len(self.graph))
        uses = [0] * len(graph)
        for operand in chain.from_iterable(graph.operands):
            uses[operand] += 1
        full = bytearray(len(graph))  # products of three factors
        for user, operands in enumerate(graph.operands):
            linear, product = self.is_linear(user), self.is_product(user)
            for operand in operands:
                alone = uses[operand] == 1 and operand not in self.names
                if linear and alone and self.is_linear(operand):
                    found[operand] = 1
                elif (
                    product
                    and alone
                    and self.is_product(operand)
                    and not full[user] + full[operand]
                ):
                    found[operand] = full[user] = 1
        return found

    def varying(self, node: int) -> list[int]:
        """The positions at which a node is derived."""
        kind, operands = self.graph.kinds[node], self.graph.operands[node]
        if not operands:
            return []
        places = range(len(operands)) if BY_NAME[kind].variadic else passing(kind)
        return [place for place in places if self.active[operands[place]]]

    def is_linear(self, node: int) -> bool:
        """Whether a node is a sum, or a constant times something."""
        kind, varying = self.graph.kinds[node], self.varying(node)
        if kind in PRODUCTS:
            return varying == [0] or (kind == "mul" and varying == [1])
        return kind in LINKS and bool(varying)

    def is_product(self, node: int) -> bool:
        """Whether a node is a product of two active operands."""
        return self.graph.kinds[node] == "mul" and len(self.varying(node)) == 2

    def is_wide(self, node: int) -> bool:
        """Whether a node takes more than two operands that share a derivative: too many to write it out."""
        kind = self.graph.kinds[node]
        has_ties = kind in BY_NAME and "ties" in BY_NAME[kind].shown_partial(0)
        return has_ties and len(self.graph.operands[node]) > 2

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
        """What is derived before a node: its operands, or those of the sum or product that it is."""
        if self.is_linear(node) or self.is_product(node):
            return [leaf for leaf in self.group(node)[1] if self.active[leaf]]
        return [self.graph.operands[node][place] for place in self.varying(node)]


def passed_through(graph: Graph, inputs: list[int]) -> list[bool]:
    """By node: whether it passes a derivative with respect to one of the inputs on to the output."""
    users = users_of(graph, [graph.output])
    reached = set(active_from(users, inputs))
    found = [False] * len(graph)
    for node in sorted(reached, reverse=True):
        found[node] = node == graph.output or any(found[user] for user in users[node])
    return found


def free(name: str, taken: set[str]) -> bool:
    """Whether neither a name nor its differential is used for something else."""
    return name not in taken and f"d{name}" not in taken


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
