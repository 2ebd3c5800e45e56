"""The statements of a program: what is shared or long gets a name, everything else stands where it is used.

One loop over the nodes writes them, in linear time, with the spellings of a target.  A comparison is a
condition where one is asked for, and a number elsewhere.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple, cast

from exprgrad.graph.graph import CONST, Graph, Program
from exprgrad.language.code.identifiers import Names
from exprgrad.language.code.nonzero import never_zero
from exprgrad.language.code.target import ATOM, CHOICE, SIGN, Form, Row, Target

__all__ = ["LONGEST", "Need", "Statements", "Text", "call", "number"]

LONGEST = 72
"""The longest text without a name, in characters; so nothing nests deeper than a compiler likes."""
SHORT = 40
"""The longest text, in characters, of an output that stands in a larger expression."""
COMPARISONS = {"lt", "le", "gt", "ge", "eq", "ne"}


class Text(NamedTuple):
    """A node's text, how it binds, and whether it is a condition."""

    text: str
    level: int
    condition: bool


class Need(NamedTuple):
    """An operand, and whether it is needed as a condition."""

    node: int
    condition: bool


class Statements:
    """The body of one function.

    ``called``   what the functions of rows are called, where it is not the row's own name
    ``lines``    the statements
    ``helpers``  the rows that it calls as helpers, in order
    ``read``     the inputs that it reads
    """

    def __init__(
        self,
        program: Program,
        target: Target,
        names: Names,
        inputs: dict[str, str],
        prefix: str,
        called: Mapping[Row, str],
    ) -> None:
        self.graph, self.outputs = program
        self.called = called
        self.target = target
        self.names = names
        self.inputs = inputs
        self.prefix = prefix
        self.lines: list[str] = []
        self.helpers: dict[Row, None] = {}
        self.read: set[str] = set()
        self.texts: dict[int, Text] = {}
        self.named: set[int] = set()
        self.flags = flags(self.graph)
        self.nonzero = never_zero(self.graph)
        self.forms: dict[int, tuple[str, tuple[Need, ...]]] = {}
        self.uses = [0] * len(self.graph)
        self.number_uses = [0] * len(self.graph)
        self.count_uses()
        self.write()

    def count_uses(self) -> None:
        """Find what the outputs need, and as what: users come before operands."""
        for output in self.outputs:
            self.uses[output] += 1
            self.number_uses[output] += 1
        for node in range(len(self.graph) - 1, -1, -1):
            if not self.uses[node]:
                continue
            self.forms[node] = self.form(node)
            for operand, condition in self.forms[node][1]:
                self.uses[operand] += 1
                self.number_uses[operand] += not condition

    def form(self, node: int) -> tuple[str, tuple[Need, ...]]:
        """How a node is written: a row, or ``and``, ``or``, ``not``, ``same`` on conditions."""
        kind, operands = self.graph.kinds[node], self.graph.operands[node]
        conditions = tuple([Need(operand, True) for operand in operands])
        if kind in ("mul", "max") and self.flags[node]:
            return ("and" if kind == "mul" else "or"), conditions
        if kind == "where":
            condition, yes, no = operands
            if not self.number_uses[node]:
                payloads = self.graph.payloads[yes], self.graph.payloads[no]
                if payloads == (1, 0):
                    return "same", conditions[:1]
                if payloads == (0, 1):
                    return "not", conditions[:1]
                if payloads[1] == 0:
                    return "and", conditions[:2]
                if payloads[0] == 1:
                    return "or", (conditions[0], conditions[2])
            return kind, (Need(condition, True), Need(yes, False), Need(no, False))
        return kind, tuple([Need(operand, False) for operand in operands])

    def write(self) -> None:
        """Write every node that is needed, operands before users."""
        bound: dict[int, str] = {}
        for binding in self.graph.bindings:
            if self.uses[binding.node] and self.deserves_name(binding.node):
                bound.setdefault(binding.node, binding.name)
        bound = {node: self.names.claim(name) for node, name in bound.items()}
        for node, operands in enumerate(self.graph.operands):
            if not self.uses[node]:
                continue
            self.texts[node] = self.compose(node) if operands else self.leaf(node)
            shared = self.deserves_name(node) and self.uses[node] > 1
            if node in bound or (shared and not self.is_name(node)):
                self.name(node, bound.get(node))

    def deserves_name(self, node: int) -> bool:
        """Whether a node is more than a name or a number."""
        return bool(self.graph.operands[node])

    def is_number(self, node: int) -> bool:
        """Whether a node is a number that is written out."""
        return self.graph.kinds[node] == CONST

    def is_name(self, node: int) -> bool:
        """Whether a node is another by a name that it has already."""
        form, needs = self.forms[node]
        return form == "same" and needs[0].node in self.named

    def leaf(self, node: int) -> Text:
        """An input or a constant."""
        payload = self.graph.payloads[node]
        if isinstance(payload, str):
            self.read.add(payload)
            return Text(self.inputs[payload], ATOM, False)
        symbol = self.graph.symbols.get(node, "")
        text = self.target.constants.get(symbol) or number(cast(float, payload), self.target)
        return Text(text, SIGN if text.startswith("-") else ATOM, False)

    def compose(self, node: int) -> Text:
        """An operation; while it is too long, its longest operand gets a name."""
        form, needs = self.forms[node]
        while True:
            found = self.written(node, form, needs)
            if len(found.text) <= LONGEST:
                return found
            inline = [n for n, _ in needs if n not in self.named and self.deserves_name(n)]
            if not inline:
                return found
            self.name(max(inline, key=lambda operand: len(self.texts[operand].text)))

    def written(self, node: int, form: str, needs: Sequence[Need]) -> Text:
        """An operation on its operands as they are written now."""
        if form == "same":
            return self.operand(needs[0])
        kind = self.graph.kinds[node]
        spelling, takes_arrays = self.spelling(node, form, len(needs))
        operands = [self.operand(need) for need in needs]
        if self.target.array:
            literals = [
                position
                for position, (operand, condition) in enumerate(needs)
                if self.is_number(operand) and not condition
            ]
            if not takes_arrays and len(literals) == len(needs) and spelling.level != ATOM:
                takes_arrays, literals = True, literals[:1]
            for position in literals if takes_arrays else ():
                operands[position] = self.array(operands[position])
        condition = kind in COMPARISONS or form in ("and", "or", "not")
        return Text(combined(spelling, operands), spelling.level, condition)

    def spelling(self, node: int, form: str, count: int) -> tuple[Form, bool]:
        """The form of an operation, and whether it calls a function that takes arrays only."""
        target = self.target
        plain = form != "div" or self.nonzero[self.graph.operands[node][1]]
        if form in target.forms and (form not in target.helpers or plain):
            found = target.forms[form]
            return found, target.strict and form == "where"
        name = target.calls.get(form)
        if name is None:
            name = self.helper(form)
        return call(name, count), target.strict

    def helper(self, row: Row) -> str:
        """The name of a helper, which is noted."""
        self.helpers[row] = None
        return self.prefix + self.called.get(row, str(row))

    def operand(self, need: Need) -> Text:
        """A node where it is needed, as a number or as a condition."""
        found = self.texts[need.node]
        if found.condition == need.condition:
            return found
        if found.condition:
            return self.wrapped("flag", found)
        zero = Text(number(0.0, self.target), ATOM, False)
        if self.target.array and self.is_number(need.node):
            found = self.array(found)
        form = self.target.forms["ne"]
        return Text(combined(form, [found, zero]), form.level, True)

    def wrapped(self, form: str, inner: Text) -> Text:
        """A text in a form of one operand."""
        found = self.target.forms[form]
        return Text(combined(found, [inner]), found.level, form == "not")

    def array(self, literal: Text) -> Text:
        """A literal as an array of one double."""
        return Text(f"{self.array_function()}({literal.text})", ATOM, False)

    def array_function(self) -> str:
        """The function that makes arrays of doubles."""
        name = self.target.array
        return self.helper(name.removeprefix("F_")) if name.startswith("F_") else name

    def name(self, node: int, name: str | None = None) -> None:
        """Give a node a name, and its statement."""
        layout = self.target.layout
        found = self.texts[node]
        define = layout.define
        if found.condition and self.number_uses[node]:
            found = self.wrapped("flag", found)
        elif found.condition and layout.define_condition:
            define = layout.define_condition
        name = name or self.names.temporary()
        self.lines.append(define.format(name=name, text=found.text))
        self.texts[node] = Text(name, ATOM, found.condition)
        self.named.add(node)

    def settle(self, output: int, wanted: str = "") -> None:
        """Give an output a name of its own, if it is too long to stand among others."""
        if self.deserves_name(output) and len(self.texts[output].text) > SHORT:
            self.name(output, self.names.claim(wanted) if wanted else None)

    def answers(self) -> Iterator[str]:
        """The outputs, as numbers."""
        for output in self.outputs:
            found = self.operand(Need(output, False))
            literal = self.target.array and self.is_number(output)
            yield self.array(found).text if literal else found.text


def flags(graph: Graph) -> list[bool]:
    """By node: whether it is 0 or 1 at every point, by comparisons alone."""
    found: list[bool] = []
    for node, (kind, operands) in enumerate(zip(graph.kinds, graph.operands, strict=True)):
        if kind == CONST:
            found.append(graph.payloads[node] in (0, 1) and node not in graph.symbols)
        elif kind in ("mul", "max"):
            found.append(all(found[operand] for operand in operands))
        elif kind == "where":
            found.append(found[operands[1]] and found[operands[2]])
        elif kind == "broadcast":
            found.append(found[operands[0]])
        else:
            found.append(kind in COMPARISONS)
    return found


def call(name: str, count: int) -> Form:
    """A call of a function."""
    operands = ", ".join(f"{{{position}}}" for position in range(count))
    return Form(f"{name}({operands})", ATOM, (CHOICE,) * count)


def combined(form: Form, operands: Sequence[Text]) -> str:
    """A form with its operands in it, in parentheses where they bind less tightly than they must."""
    texts = [
        operand.text if operand.level >= least else f"({operand.text})"
        for operand, least in zip(operands, form.operands, strict=True)
    ]
    return form.text.format(*texts)


def number(value: float, target: Target) -> str:
    """The shortest text that reads back as the same double."""
    if math.isnan(value):
        return target.constants["nan"]
    if math.isinf(value):
        return ("-" if value < 0 else "") + target.constants["inf"]
    text = repr(value)
    return text if target.point else text.removesuffix(".0")
