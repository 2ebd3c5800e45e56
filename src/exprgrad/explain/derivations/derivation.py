"""The state of a derivation: each node's derivative as text, and when it is called by a name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from exprgrad.derive.build import Builder
from exprgrad.derive.rules import shown
from exprgrad.derive.simplify.simplify import formulas
from exprgrad.derive.sweeps.gradient import gradient
from exprgrad.explain.derivations.reading import LONGEST, Reading
from exprgrad.explain.derivations.texts import ONE, Text, total
from exprgrad.graph.graph import CONST, Graph, Program
from exprgrad.graph.ops import BY_NAME
from exprgrad.language.read.parse import parse
from exprgrad.language.write.infix import ATOM, operand_level, program

__all__ = ["Derivation", "is_choice"]


SHORT = 15
"""The longest derivative of what has a name that is written out, in characters."""


class Derivation:
    """A derivation under way.

    ``typed``      the user's graph
    ``x``          the node of the input ``wrt``; None if the output does not depend on it
    ``found``      by node: its derivative
    ``open``       the nodes whose derivatives are written with the derivatives of names
    ``glances``    the nodes that are derived at a glance, without a step
    ``nodes``      by name: the active node that it stands for
    ``explained``  the made names of inactive nodes that a step has explained
    """

    def __init__(self, graph: Graph, wrt: str) -> None:
        self.reading = Reading(graph, wrt)
        self.typed = graph
        self.wrt = wrt
        self.x = self.reading.graph.inputs.get(wrt)
        self.found: dict[int, Text] = {}
        self.open: set[int] = set()
        self.glances: set[int] = set()
        self.nodes: dict[str, int] = {}
        self.explained: set[str] = set()

    def derive(self, node: int, text: Text) -> Text:
        """A node's derivative, simplified if it can be; a long one gives the node a name.

        ``text`` is what a rule made of it.
        """
        names = self.reading.names
        for leaf in self.reading.inner(node):
            if leaf in self.open or (leaf in names and leaf != self.x and self.is_opaque(leaf)):
                self.open.add(node)
        found = self.simplified(node, text) or text
        if node in self.open and len(found[0]) >= len(text[0]):
            found = text
        self.found[node] = found
        if len(found[0]) > LONGEST:
            self.reading.name(node)
        if node in names:
            self.nodes[names[node]] = node
        elif self.is_simple(node):
            self.glances.add(node)
        return found

    # What is known of nodes.

    def derivative(self, node: int) -> Text:
        """A node's derivative where it is used: by name if it is long."""
        if node == self.x:
            return ONE
        if node in self.reading.names and self.is_opaque(node):
            return self.reading.tangent(self.reading.names[node]), ATOM
        return self.found[node]

    def is_opaque(self, node: int) -> bool:
        """Whether a named node's derivative is called by name too."""
        return node in self.open or len(self.found[node][0]) > SHORT

    def at_a_glance(self, node: int) -> bool:
        """Whether a node's derivative needs no step."""
        return node in self.glances

    def is_simple(self, node: int) -> bool:
        """Whether a node is one operation on the input and a constant, such as -x or x/2."""
        reading = self.reading
        alone = reading.group(node)[0] == [node] and node != reading.graph.output
        return alone and reading.is_linear(node) and reading.inner(node) == [self.x]

    def calls_names(self, node: int) -> bool:
        """Whether a node's text has names in it that are not inputs."""
        return any(name not in self.typed.inputs for name in parse(self.reading.texts[node]).inputs)

    def constancies(self, nodes: Iterable[int]) -> list[str]:
        """Why the derivatives of some inactive nodes are 0."""
        flat: list[str] = []
        apart: list[str] = []
        numbers: list[str] = []
        for node in nodes:
            group = flat if self.reading.depends[node] else apart
            is_number = self.reading.graph.kinds[node] == CONST
            (numbers if is_number else group).append(self.reading.label(node)[0])
        said = [
            (numbers, "is a constant", "are constants"),
            (apart, f"does not depend on {self.wrt}", f"do not depend on {self.wrt}"),
            (flat, "is flat between its jumps", "are flat between their jumps"),
        ]
        return [f"{both(texts)} {many if texts[1:] else one}" for texts, one, many in said if texts]

    def explanations(self, node: int) -> Iterator[tuple[str, str]]:
        """The made names in a node's text that no step has explained, with their texts, operands first."""
        reading = self.reading
        fresh: list[int] = []
        todo = [node]
        while todo:
            for name in parse(reading.texts[todo.pop()]).inputs:
                inside = reading.made.get(name)
                if inside is None or reading.active[inside] or name in self.explained:
                    continue
                self.explained.add(name)
                fresh.append(inside)
                todo.append(inside)
        for inside in sorted(fresh):
            yield reading.names[inside], reading.texts[inside]

    # Simplifying.

    def simplified(self, node: int, text: Text) -> Text | None:
        """A node's derivative as ``diff`` would print it, with the names; None where that says less."""
        typed = parse(self.reading.texts[node])
        if self.reading.is_wide(node):  # with its ties, it would be very long
            raw = parse(text[0])
            return None if node in self.open else tidy(Program(raw, (raw.output,)), typed)[0]
        if node in self.open and any(is_choice(kind) for kind in typed.kinds):
            return None
        names = [name for name in typed.inputs if name == self.wrt or name in self.nodes]
        found = gradient(typed, names, shown)
        builder = Builder()
        images = builder.include(found.graph)
        whole = builder.constant(0.0)
        opaque: dict[str, int] = {}
        for name, output in zip(names, found.outputs[1:], strict=True):
            local = images[output]
            if name != self.wrt and self.is_opaque(self.nodes[name]):
                opaque[name] = local
                continue
            if name != self.wrt:
                inner = parse(self.found[self.nodes[name]][0])
                local = builder.apply("mul", local, builder.include(inner)[inner.output])
            whole = local if builder.value(whole) == 0 else builder.apply("add", whole, local)
        first, *rest = tidy(builder.program([whole, *opaque.values()]), typed)
        tangents = [(self.reading.tangent(name), ATOM) for name in opaque]
        terms = [(ONE, first)] if first[0] != "0" or not rest else []
        return total([*terms, *zip(rest, tangents, strict=True)])


def tidy(made: Program, typed: Graph) -> list[Text]:
    """A program's outputs, simplified; ``typed`` is what a person wrote."""
    found = [graph for graph, _ in formulas(made, typed)]
    return [(program(graph), operand_level(graph, graph.output, {})) for graph in found]


def both(texts: list[str]) -> str:
    """``a``, ``a and b``, ``a, b and c``."""
    return " and ".join(filter(None, (", ".join(texts[:-1]), texts[-1])))


def is_choice(kind: str) -> bool:
    """Whether an operation chooses a branch."""
    return kind in BY_NAME and bool(BY_NAME[kind].branches)
