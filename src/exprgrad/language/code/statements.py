"""The statements of a program: shared and long parts get names, all else is written inline.

One loop over the nodes writes them, in linear time, with the spellings of a target.  A comparison is a
condition where its user needs one, and a number elsewhere.  Broadcasting is explicit in graphs and
implicit in array libraries: a stretched operand is written unstretched wherever the library would
stretch it to the same shape.
"""

from __future__ import annotations

import math
import re
import textwrap
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, cast

from exprgrad.graph.graph import (
    CONST,
    Algebra,
    Graph,
    Literal,
    Program,
    interpret,
    nested_list_text,
)
from exprgrad.graph.ops import BY_NAME, COMMON, COMPARISONS, LOGIC
from exprgrad.graph.structural import broadcast_shape
from exprgrad.language.code.target import (
    ATOM,
    CHOICE,
    LIKE,
    SIGN,
    Form,
    Routine,
    Target,
    application_form,
    node_structure,
    variant_of_node,
)  # fmt: skip

__all__ = ["Names", "ProgramWriter", "Statements", "is_plain_identifier"]

LONGEST_TEXT = 72
"""The longest text without a name, in characters, which also limits nesting."""
LONGEST_OUTPUT = 40
"""The longest text, in characters, of an output inside a larger expression."""
LITERAL_WIDTH = 92
"""The width of lines with a literal tensor, in characters."""
EXACT_DECIMAL = 15
"""The longest decimal, in characters, that every database converts to the nearest double."""
COUNTED = 3
"""The least length of 0, 1, 2… that is written as a range."""
KEEPING_SIGN = frozenset(
    op.name
    for op in COMMON
    if op.branches or op.powers or op.winner or min(op.signs, default=-1) > 0
)
"""Rows that are never negative if their operands, or a choice's branches, are not."""
PASSING_FLAGS = {*LOGIC, "broadcast", "where"}
"""Rows whose results are 0 or 1 if their operands, or a choice's branches, are."""
VIEWS = {"broadcast", "diag", "index", "reshape", "transpose"}
"""Operations whose results may share the operand's memory."""


# Names: safe in the target's language, distinct, and close to the user's own.

PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
BRACKETS = str.maketrans({"[": "_", "-": "m", "]": ""})
"""Spelling of the index in the name of a recurrence's term."""
GREEK = re.compile(r"GREEK (SMALL|CAPITAL) LETTER (?:FINAL )?([A-Z]+)")


class Names:
    """The names of one function, all distinct.

    ``ascii`` is for languages without other letters.  With a ``prefix`` the names are columns of tables,
    in which case does not matter.  If ``numbered``, they are ``v0``, ``v1``….
    """

    def __init__(
        self, taken: Iterable[str], *, ascii: bool, prefix: str = "", numbered: bool = False
    ) -> None:
        self.ascii = ascii
        self.numbered = numbered
        self.prefix = prefix
        self.taken = {*map(self.key, taken)}
        self.count = 0

    def claim(self, wanted: str) -> str:
        """Take a name, or one like it if it is taken or not allowed: x_1 for x[1]."""
        if self.numbered:
            self.count += 1
            return self.reserve(f"v{self.count - 1}")
        if "[" in wanted:
            wanted = wanted.translate(BRACKETS)
        name = name_in_ascii(wanted) if self.ascii else unicodedata.normalize("NFKC", wanted)
        return self.reserve(self.prefix + name)

    def reserve(self, name: str) -> str:
        """Take a name, with a ``_`` behind it for each time that it is taken already."""
        while self.key(name) in self.taken:
            name += "_"
        self.taken.add(self.key(name))
        return name

    def key(self, name: str) -> str:
        """Return a key that is equal for names that the language takes for one."""
        return name.lower() if self.prefix else name

    def temporary(self) -> str:
        """Take the next free one of ``t1``, ``t2``…."""
        self.count += 1
        while self.key(f"{self.prefix}t{self.count}") in self.taken:
            self.count += 1
        return self.claim(f"t{self.count}")


def name_in_ascii(name: str) -> str:
    """Write a name in ASCII: Greek letters by name, accents dropped, others by number.

    A name that C reserves for its library (``_X``, ``__x``) gets a ``v`` before it.
    """
    if not PLAIN.fullmatch(name):
        name = "".join(map(ascii_letter, unicodedata.normalize("NFKC", name)))
    return name if is_plain_identifier(name) else f"v{name}"


def is_plain_identifier(name: str) -> bool:
    """Tell whether a name is in ASCII, and not reserved for C's library."""
    return PLAIN.fullmatch(name) is not None and re.match("__|_[A-Z]", name) is None


def ascii_letter(character: str) -> str:
    """Write one character of a name in ASCII."""
    if PLAIN.fullmatch("_" + character):
        return character
    base = unicodedata.normalize("NFD", character)[0]
    if PLAIN.fullmatch("_" + base):
        return base
    greek = GREEK.match(unicodedata.name(base, ""))
    if greek is None:
        return f"u{ord(character):04x}"
    return greek[2].lower() if greek[1] == "SMALL" else greek[2].capitalize()


# Statements.


class ProgramWriter(NamedTuple):
    """Settings that a program's functions share: target, prefix of helpers, and names of variants."""

    target: Target
    prefix: str
    called: Mapping[Routine, str]

    def names(self) -> Names:
        """Begin a function's names, with those that the language and the helpers take."""
        helpers = {*BY_NAME, *self.target.helpers, *self.called.values()}
        taken = {*self.target.words, *(self.prefix + row for row in helpers)}
        return Names(taken, ascii=self.target.ascii, numbered=self.target.numbered)

    def helper(self, row: Routine) -> str:
        """Return the name of a row's function."""
        return self.prefix + self.called.get(row, str(row))


class NodeText(NamedTuple):
    """A node's text, how it binds, and whether it is a condition."""

    text: str
    level: int = ATOM
    condition: bool = False


class Need(NamedTuple):
    """An operand, and whether it is needed as a condition."""

    node: int
    condition: bool = False


class Statements:
    """The body of one function.

    ``lines``    the statements
    ``depths``   by statement, the length of the chain of statements that it needs
    ``helpers``  the rows that it calls as helpers, in order
    ``read``     the inputs that it reads
    """

    def __init__(
        self, writer: ProgramWriter, program: Program, names: Names, inputs: dict[str, str]
    ) -> None:
        self.graph, self.outputs = program
        self.writer, self.target, self.arrays = writer, writer.target, writer.target.arrays
        self.names = names
        self.inputs = inputs
        self.lines: list[str] = []
        self.depths: list[int] = []
        self.depth = [0] * len(self.graph)
        self.helpers: dict[Routine, None] = {}
        self.read: set[str] = set()
        self.texts: dict[int, NodeText] = {}
        self.named: set[int] = set()
        self.flags = flag_nodes(self.graph)
        guarded = not self.target.forms.keys().isdisjoint(self.target.helpers)
        guarded = guarded or bool(self.target.guarded)
        self.nonzero, self.not_negative = sign_facts(self.graph) if guarded else ([], [])
        self.forms: dict[int, tuple[str, tuple[Need, ...]]] = {}
        self.uses = [0] * len(self.graph)
        self.number_uses = [0] * len(self.graph)
        self.count_uses()
        self.write()

    def count_uses(self) -> None:
        """Count the uses of each node as a number and as a condition, users before operands."""
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
        """Choose a node's form, with operands unstretched where the library stretches them."""
        form, needs = self.logic(node)
        graph = self.graph
        stretched = [graph.kinds[operand] == "broadcast" for operand, _ in needs]
        if graph.kinds[node] not in BY_NAME or not any(stretched):
            return form, needs
        before = tuple(
            [
                Need(graph.operands[need.node][0], need.condition) if is_stretched else need
                for need, is_stretched in zip(needs, stretched, strict=True)
            ]
        )
        shape = broadcast_shape([graph.shape(operand) for operand, _ in before])
        return form, before if shape == graph.shape(node) else needs

    def logic(self, node: int) -> tuple[str, tuple[Need, ...]]:
        """Choose a node's form: its row, or ``and``, ``or``, ``not``, ``same`` of conditions."""
        kind, payloads = self.graph.kinds[node], self.graph.payloads
        needs = tuple([Need(operand) for operand in self.graph.operands[node]])
        conditions = tuple([Need(operand, True) for operand, _ in needs])
        if kind in LOGIC and self.flags[node]:
            return BY_NAME[kind].logic, conditions
        if kind != "where":
            return kind, needs
        condition, yes, no = conditions
        if not self.number_uses[node]:
            ends = payloads[yes.node], payloads[no.node]
            if ends == (1, 0):
                return "same", (condition,)
            if ends == (0, 1):
                return "not", (condition,)
            if ends[1] == 0:
                return "and", (condition, yes)
            if ends[0] == 1:
                return "or", (condition, no)
        return kind, (condition, *needs[1:])

    def write(self) -> None:
        """Write every used node, operands before users."""
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
        """Tell whether a node is more than a name or a number."""
        return bool(self.graph.operands[node]) or isinstance(self.graph.payloads[node], Literal)

    def is_number(self, node: int) -> bool:
        """Tell whether a node is a number literal."""
        return isinstance(self.graph.payloads[node], float)

    def is_name(self, node: int) -> bool:
        """Tell whether a node is the same as another that has a name."""
        form, needs = self.forms[node]
        return form == "same" and needs[0].node in self.named

    def leaf(self, node: int) -> NodeText:
        """Write an input or a constant, which may be a tensor."""
        payload = self.graph.payloads[node]
        if isinstance(payload, str):
            self.read.add(payload)
            return NodeText(self.inputs[payload])
        if isinstance(payload, Literal):
            return NodeText(self.literal(payload))
        symbol = self.graph.symbols.get(node, "")
        text = self.target.constants.get(symbol) or double_text(cast(float, payload), self.target)
        sign, helper, row = text.partition("F_")
        text = sign + self.helper(row) if helper else text
        return NodeText(text, SIGN if text.startswith("-") else ATOM)

    def literal(self, tensor: Literal) -> str:
        """Write a tensor element by element, or as a range."""
        assert self.arrays is not None
        count = len(tensor.numbers)
        if count >= COUNTED and tensor == ((count,), tuple(range(count))):
            return self.alike(self.arrays.range).format(count)
        entries = [double_text(value, self.target) for value in tensor.numbers]
        return self.alike(self.arrays.literal).format(nested_list_text(entries, tensor.shape))

    def alike(self, text: str) -> str:
        """Write a new tensor, on the inputs' device if the library has devices."""
        if LIKE not in text:
            return text
        tensors = [name for name in self.inputs if self.graph.shape(self.graph.inputs[name])]
        first = next(iter(tensors or self.inputs), None)
        return text.replace(LIKE, f"{self.make()}(0.0)" if first is None else self.inputs[first])

    def compose(self, node: int) -> NodeText:
        """Write an operation; while it is too long, its longest operand gets a name."""
        form, needs = self.forms[node]
        while True:
            found = self.operation(node, form, needs)
            inline = [n for n, _ in needs if n not in self.named and self.deserves_name(n)]
            if len(found.text) > LONGEST_TEXT and inline:
                self.name(max(inline, key=lambda operand: len(self.texts[operand].text)))
                continue
            self.depth[node] = max([self.depth[n] for n, _ in needs], default=0)
            return found

    def operation(self, node: int, form: str, needs: Sequence[Need]) -> NodeText:
        """Write an operation on its operands as they are written now."""
        if form == "same":
            return self.operand(needs[0])
        spelling, takes_arrays = self.spelling(node, form, len(needs))
        for place, (operand, _) in enumerate(needs):
            repeated = spelling.text.count(f"{{{place}}}") > 1
            if repeated and self.deserves_name(operand) and operand not in self.named:
                self.name(operand)
        operands = [self.operand(need) for need in needs]
        literals = [
            position
            for position, (operand, condition) in enumerate(needs)
            if self.arrays and self.is_number(operand) and not condition
        ]
        is_lowered = self.graph.kinds[node] in BY_NAME and form not in self.target.calls
        divides = spelling.level != ATOM or is_lowered  # a helper made of others may divide by 0
        if not takes_arrays and len(literals) == len(needs) and divides:
            takes_arrays, literals = True, literals[:1]
        for position in literals if takes_arrays else ():
            operands[position] = self.array(operands[position])
        numbers = [place for place, need in enumerate(needs) if not need.condition]
        if self.target.double and all(self.is_number(needs[place].node) for place in numbers):
            for place in numbers[:1]:
                operands[place] = self.array(operands[place])
        condition = self.graph.kinds[node] in COMPARISONS or form in ("and", "or", "not")
        return NodeText(filled_in(spelling, operands), spelling.level, condition)

    def spelling(self, node: int, form: str, count: int) -> tuple[Form, bool]:
        """Return an operation's form, and whether it takes arrays only, no plain numbers."""
        target, operands = self.target, self.graph.operands[node]
        strict = self.arrays is not None and self.arrays.strict
        if self.arrays and form in self.arrays.spellings:
            given = node_structure(self.graph, node)
            text, level, least = self.arrays.spellings[form](given)
            fills = form == "broadcast" and given.literal
            return Form(self.alike(text), level, least), strict and not fills
        if self.graph.kinds[node] not in BY_NAME:
            routine = form if form in target.helpers else variant_of_node(self.graph, node)
            return application_form(self.helper(routine), count), True
        if form in target.guarded and not self.is_inside(node):
            return target.guarded[form], strict
        if form in target.forms and (form not in target.helpers or self.nonzero[operands[-1]]):
            return target.forms[form], strict and form == "where"
        return application_form(target.calls.get(form) or self.helper(form), count), strict

    def is_inside(self, node: int) -> bool:
        """Tell whether signs and literals show that an operation's operands are in its domain."""
        operands, domain = self.graph.operands[node], BY_NAME[self.graph.kinds[node]].domain
        x, y = operands[0], operands[-1]
        positive, exponent = self.not_negative[x] and self.nonzero[x], self.graph.payloads[y]
        whole = isinstance(exponent, float) and exponent >= 0 and exponent.is_integer()
        signs = {"y != 0": self.nonzero[y], "x >= 0": self.not_negative[x], "x > 0": positive}
        return signs.get(domain, len(operands) > 1 and (positive or whole))

    def helper(self, row: Routine) -> str:
        """Note a helper, and return its name."""
        self.helpers[row] = None
        return self.writer.helper(row)

    def operand(self, need: Need) -> NodeText:
        """Write a node as its user needs it, as a number or as a condition."""
        found = self.texts[need.node]
        if found.condition == need.condition:
            return found
        if found.condition:
            return self.flag(found)
        if self.arrays and self.is_number(need.node):
            found = self.array(found)
        form = self.target.forms["ne"]
        return NodeText(
            filled_in(form, [found, NodeText(double_text(0.0, self.target))]), form.level, True
        )

    def flag(self, condition: NodeText) -> NodeText:
        """Write a condition as a number."""
        form = self.target.forms["flag"]
        return NodeText(filled_in(form, [condition]), form.level)

    def array(self, number: NodeText) -> NodeText:
        """Write a literal number as an array of one double, or as a double."""
        if self.arrays is None:
            return NodeText(self.target.double.format(number.text))
        if self.arrays.number and self.graph.shapes:
            return NodeText(self.alike(self.arrays.number).format(number.text))
        return NodeText(f"{self.make()}({number.text})")

    def make(self) -> str:
        """Return the name of the function that makes arrays of doubles."""
        name = self.arrays.make if self.arrays else ""
        return self.helper(name.removeprefix("F_")) if name.startswith("F_") else name

    def name(self, node: int, name: str | None = None) -> None:
        """Give a node a name and a statement, which takes several lines for a long literal."""
        layout, found = self.target.layout, self.texts[node]
        define = layout.define
        if found.condition and self.number_uses[node]:
            found = self.flag(found)
        elif found.condition and layout.define_condition:
            define = layout.define_condition
        name = name or self.names.temporary()
        line = define.format(name=name, text=found.text)
        broken = isinstance(self.graph.payloads[node], Literal) and len(line) > LONGEST_TEXT
        if broken:
            self.lines += textwrap.wrap(
                line,
                LITERAL_WIDTH - len(layout.indent),
                subsequent_indent=layout.indent,
                break_long_words=False,
                break_on_hyphens=False,
            )
        else:
            self.lines.append(line)
        self.depths.append(self.depth[node])
        self.depth[node] += 1
        self.texts[node] = NodeText(name, ATOM, found.condition)
        self.named.add(node)

    def settle(self, output: int, wanted: str = "") -> None:
        """Give an output a name of its own, if it is too long for a larger expression."""
        if self.deserves_name(output) and len(self.texts[output].text) > LONGEST_OUTPUT:
            self.name(output, self.names.claim(wanted) if wanted else None)

    def set_apart(self) -> None:
        """Give every computed output a name, as the values that it reads are about to change."""
        for output in dict.fromkeys(self.outputs):
            if self.deserves_name(output) and output not in self.named:
                self.name(output)

    def answers(self) -> Iterator[str]:
        """Write the outputs as numbers; no two tensors share memory, as users change arrays in place."""
        taken = set(self.graph.inputs.values())
        for output in self.outputs:
            found = self.operand(Need(output))
            if (self.arrays or self.target.double) and self.is_number(output):
                found = self.array(found)
            own = self.owner(output)
            shared = own in taken and self.graph.shape(output)
            taken.add(own)
            yield self.arrays.copy.format(found.text) if self.arrays and shared else found.text

    def owner(self, node: int) -> int:
        """Find the node whose memory a view shares."""
        while self.graph.kinds[node] in VIEWS:
            (node,) = self.graph.operands[node]
        return node


def flag_nodes(graph: Graph) -> list[bool]:
    """Tell for each node whether it is always 0 or 1, being made of comparisons."""

    def is_flag(graph: Graph, node: int, passed: Sequence[bool]) -> bool:
        """Tell it of an operation, given its operands."""
        kind = graph.kinds[node]
        branches = passed[1:] if kind == "where" else passed
        return kind in COMPARISONS or (kind in PASSING_FLAGS and all(branches))

    known = Algebra(lambda g, node: g.payloads[node] in (0, 1) and node not in g.symbols, is_flag)
    return interpret(graph, known, dict.fromkeys(graph.inputs, False))


def sign_facts(graph: Graph) -> tuple[list[bool], list[bool]]:
    """Tell for each node whether it is never 0, even rounded, and whether it is never negative.

    It may be nan.
    """
    not_negative: list[bool] = []
    nonzero: list[bool] = []
    for kind, operands, payload in zip(graph.kinds, graph.operands, graph.payloads, strict=True):
        op = BY_NAME.get(kind)
        if op is None:
            numbers = payload.numbers if isinstance(payload, Literal) else (payload,)
            not_negative.append(kind == CONST and all(cast(float, n) >= 0 for n in numbers))
            nonzero.append(kind == CONST and 0 not in numbers)
            continue
        passed = [operands[at] for at in op.branches] or operands
        square = op.powers == (1, 1) and operands[0] == operands[1]
        kept = kind in KEEPING_SIGN and all(not_negative[operand] for operand in passed)
        not_negative.append(op.not_negative or square or kept)
        each = op.not_zero == "all" and all(nonzero[operand] for operand in passed)
        one = op.not_zero == "any" and any(nonzero[operand] for operand in passed)
        nonzero.append(op.not_zero == "always" or each or (one and not_negative[-1]))
    return nonzero, not_negative


def filled_in(form: Form, operands: Sequence[NodeText]) -> str:
    """Fill a form with its operands, in parentheses where they bind too loosely."""
    texts = [
        operand.text if operand.level >= least else f"({operand.text})"
        for operand, least in zip(operands, form.operands or [CHOICE] * len(operands), strict=True)
    ]
    return form.text.format(*texts)


def double_text(value: float, target: Target) -> str:
    """Write a double as the shortest text that reads back as the same."""
    if math.isnan(value):
        return target.constants["nan"]
    if math.isinf(value):
        return ("-" if value < 0 else "") + target.constants["inf"]
    text = repr(value)
    if target.double and len(text) > EXACT_DECIMAL and "e" not in text:
        return f"{text}e0"
    return text if target.point else text.removesuffix(".0")
