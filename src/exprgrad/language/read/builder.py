"""The graph that each rule of the grammar builds, and what it refuses.

The actions are called by the LALR loop as rules are recognised, operands first, so the nodes appear
in topological order and nothing recurses.  The value of an expression is ``(node, start, end)``, its
extent in the text; a parenthesised one adds the extent without the parentheses.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, NoReturn

from exprgrad.errors import LanguageError
from exprgrad.graph.graph import CONST, INPUT, Binding, Budget, Graph, Payload, dependency_flags
from exprgrad.graph.op import Family, Op
from exprgrad.graph.ops import (
    BY_INFIX,
    BY_NAME,
    COMMON,
    EQUATIONS,
    FAMILIES,
    FUNCTIONS,
    IN_OTHER_WORDS,
    family_member,
    is_function,
)
from exprgrad.language.read import lalr
from exprgrad.source import Span

if TYPE_CHECKING:
    from exprgrad.language.read.structural import Value

__all__ = [
    "CONSTANTS", "INFIX", "LEAST_NORMAL", "LISTS", "PREFIX", "RULES", "SAFE_DIGITS", "SHORT", "SIGNS",
    "TENSOR_RULES", "Builder", "InShort", "bad_number", "build_plainly", "has_digits", "is_operand",
    "read_plainly",
]  # fmt: skip

CONSTANTS = {"pi": math.pi, "inf": math.inf, "nan": math.nan}
SIGNS = {
    **dict.fromkeys("·×⋅∗∙\u0387", "*"), "÷": "/", "−": "-", "≤": "<=", "≥": ">=", "≠": "!=", "**": "^",
}  # fmt: skip
"""An operator as it is also written → as we write it."""
INFIX = (
    {symbol: op.name for symbol, op in BY_INFIX.items()}
    | {
        "@": "matmul",  # the one structural row with a symbol; the others are looked up when they are met
    }
)
INFIX |= {sign: INFIX[ours] for sign, ours in SIGNS.items()}
INFIX |= dict.fromkeys(
    "=~", INFIX["-"]
)  # between two sides, which differ by nothing, or by as little as can be
SAFE_DIGITS = 15
"""The most digits of a decimal that is the shortest text of the double nearest to it."""
LEAST_NORMAL = 2.0**-1022
"""Doubles below have fewer digits."""
RULES = (
    "absolute", "bind", "call", "empty_call", "group", "infix", "name", "number", "prefix", "radical",
    "result", "superscript", "whole_name",
)  # fmt: skip
"""The rules that methods of the builder are for, which are called so."""
TENSOR_RULES = (
    "empty_list", "integer", "keyword", "list", "settings", "slice", "subscript", "transposed",
    "whole_group", "whole_infix", "whole_signed", "word",
)  # fmt: skip
SHORT_RULES = (
    "clause", "definition", "list_over_index", "over_index", "recurrence", "term",
)  # fmt: skip
"""The rules of shorthand, which is read in two passes: see ``expansion.py``."""
SHORT = r"\bfor\b|(?<!\w)(?:d|root)\s*\(|[)\]]\s*=(?!=)"
"""A sign that a text may have shorthand in it."""
PREFIX = {op.prefix: op.name for op in COMMON if op.prefix}
PREFIX |= {sign: PREFIX[ours] for sign, ours in SIGNS.items() if ours in PREFIX}
LONGEST_NORM = 38
"""The longest text between double bars that an error repeats, in characters."""
ROOT, ABSOLUTE = FUNCTIONS["sqrt"].name, FUNCTIONS["abs"].name
"""The rows of a root's sign and of bars."""


def build_plainly(text: str) -> Graph:
    """Read a text without shorthand into a graph; raises ``InShort`` for a text that has some."""
    return read_plainly(text).graph


def read_plainly(text: str, scanned: str | None = None) -> Builder:
    """Read such a text, and return its builder; ``scanned`` is the text for the scanner, if it differs."""
    builder = Builder(text, relates=scanned is not None)
    lalr.run_parser(lalr.language_parser(), scanned or text, building_rules(), builder)
    builder.finish()
    return builder


class InShort(Exception):
    """The signal that a text has shorthand in it."""


def refuse_short_notation(*_: object) -> NoReturn:
    """Stop at a rule of shorthand."""
    raise InShort


def has_digits(text: str) -> bool:
    """Tell whether a number, as it is typed, is not 0."""
    return bool(text.casefold().partition("e")[0].strip("+-0."))


def tensor_action(rule: str) -> lalr.Action:
    """The action of a rule for tensors; their module is imported when one is met."""

    def action(builder: Builder, *parts: Any) -> Any:
        from exprgrad.language.read.structural import ACTIONS

        return ACTIONS[rule](builder.graph, builder.text, *parts)

    return action


def extend_list(_: object, values: list[Any], *separator_and_value: Any) -> list[Any]:
    """Append a value to a list of the grammar."""
    values.append(separator_and_value[-1])
    return values


LISTS: dict[str, lalr.Action] = {
    **dict.fromkeys(("first_argument", "first_clause"), lambda _, value: [value]),
    **dict.fromkeys(("more_arguments", "more_clauses"), extend_list),
}
"""Actions for the rules of lists."""


def is_operand(value: Any) -> bool:
    """Tell an operand in a call's parentheses from a setting such as ``axis=1``."""
    return type(value) is tuple


def bad_number(family: Family, span: Span) -> LanguageError:
    """The error for a call of a family whose first operand is no whole number in its range."""
    name, least = family.name, family.least
    message = f"{name} needs a whole number from {least} to {family.greatest} as its first operand"
    return LanguageError("bad-setting", message, span=span, help=f"such as {name}({least}, x)")


def wrong_count(
    text: str, word: str, takes: str, count: int, signature: str, span: Span
) -> LanguageError:
    """The error for a call with too few operands, or too many."""
    from exprgrad.language.mistakes.foreign import ABSENT, CALLS
    from exprgrad.language.mistakes.hints import arguments_at, translate_call

    message = f"{word} takes {takes}, but is given {count}"
    is_foreign = f"{word}/{count}" in CALLS.keys() | ABSENT.keys()
    given = arguments_at(text, span[0] + len(word)) if is_foreign else None
    how = "write" if count <= signature.count(",") else "there is only"
    help = (translate_call(word, *given) if given else None) or f"{how} {word}({signature})"
    return LanguageError("arity", message, span=span, help=help)


class Builder:
    """The state of one parse: the graph so far, and what each name means.

    ``results`` are the statements without a name: only the last one, unless the text is one that
    ``relates`` sides (``relations.py``).  ``in_short`` tells whether shorthand is read, too.
    """

    in_short = False

    def __init__(self, text: str, *, relates: bool = False) -> None:
        self.text = text
        self.graph = Graph(budget=Budget.from_text(text))
        self.graph.budget.refuse_beyond(len(text), "reading", (0, len(text)))
        self.known: dict[str, int] = {}
        self.constants_read: dict[str, Span] = {}
        self.results: list[Value] = []
        self.relates = relates

    # Atoms.

    def number(self, span: Span) -> Value:
        """A literal."""
        text = self.text[span[0] : span[1]]
        try:
            value = float(text)
        except ValueError:  # 1e−3, with a minus that no keyboard has
            text = text.replace("−", "-")
            value = float(text)
        return self.literal(text, value, span)

    def literal(self, text: str, value: float, span: Span) -> Value:
        """Append a literal, with its digits where its double has another shortest text."""
        node = self.graph.append(CONST, (), value, span)
        if value == math.inf:  # 1e999 is written as what it is
            self.graph.symbols[node] = "inf"
        is_plain = len(text) <= SAFE_DIGITS and LEAST_NORMAL <= value < math.inf
        if not is_plain and (value or has_digits(text)):
            self.graph.spelled[node] = text
        return node, *span

    def name(self, span: Span) -> Value:
        """A name, read."""
        text = self.text[span[0] : span[1]]
        node = self.known.get(text)
        if node is None:
            node = self.new_name(text, span)
        return node, *span

    def new_name(self, text: str, span: Span) -> int:
        """The node of a name that is not known as it is spelled."""
        name = self.valid_name(text, span)
        if name in self.known:
            return self.known[name]
        graph = self.graph
        if name in CONSTANTS:
            self.constants_read.setdefault(name, span)
            node = graph.append(CONST, (), CONSTANTS[name], span)
            graph.symbols[node] = name
            return node
        node = graph.append(INPUT, (), name, span)
        graph.inputs[name] = self.known[name] = node
        return node

    def valid_name(self, text: str, span: Span) -> str:
        """The name in NFC, or an error at the character that no name may hold."""
        if text.isascii():
            return text
        from exprgrad.language.read.names import plain_name

        name = plain_name(text)
        if name is not None:
            return name
        from exprgrad.language.mistakes.complaints import bad_name

        raise bad_name(self.text, text, span)

    def whole_name(self, span: Span) -> Any:
        """A name in an index, which stands for a whole number."""
        from exprgrad.language.read.structural import Setting, whole_at

        name = self.valid_name(self.text[span[0] : span[1]], span)
        node = self.meant(name)
        number = whole_at(self.graph, node)
        if number is not None:
            self.graph.mentioned.add(name)
            return Setting(number, *span)
        if not self.in_short and re.search(SHORT, self.text):
            raise InShort
        from exprgrad.language.mistakes.complaints import not_whole

        is_known = node is not None and name not in self.graph.inputs
        raise not_whole(self.text, name, span, is_known=is_known)

    def meant(self, name: str) -> int | None:
        """The node that a name stands for."""
        return self.known.get(name)

    def group(self, left: Span, value: Value, right: Span) -> Value:
        """Parentheses."""
        return value[0], left[0], right[1], value[-2], value[-1]

    # Operations.

    def infix(self, left: Value, symbol: Span, right: Value) -> Value:
        """An operator between two operands."""
        span = left[1], right[2]
        kind = INFIX[self.text[symbol[0] : symbol[1]]]
        node = self.graph.append(
            kind,
            (left[0], right[0]),
            () if kind == "matmul" else None,
            span,
            (left[-2:], right[-2:]),  # type: ignore[arg-type]
        )
        return node, *span

    def prefix(self, symbol: Span, value: Value) -> Value:
        """A sign."""
        kind = PREFIX.get(self.text[symbol[0] : symbol[1]])
        span = symbol[0], value[2]
        if kind is None:  # a unary plus is no operation
            return value[0], *span, *value[-2:]
        return self.operation(kind, (value,), span)

    def superscript(self, base: Value, span: Span) -> Value:
        """A power with a whole number above the line: a literal, and a sign if there is one."""
        from exprgrad.language.read.names import SUPERSCRIPTS

        start, end = span
        digits = self.text[start:end].translate(SUPERSCRIPTS)
        signed = digits[0] in "+-"
        whole = digits.lstrip("+-")
        exponent = self.literal(whole, float(whole), (start + signed, end))
        if digits[0] == "-":
            exponent = self.operation(PREFIX["-"], (exponent,), span)
        return self.operation(INFIX["^"], (base, exponent), (base[1], end))

    def radical(self, sign: Span, value: Value) -> Value:
        """A square root without parentheses."""
        return self.operation(ROOT, (value,), (sign[0], value[2]))

    def absolute(self, left: Span, value: Value, right: Span) -> Value:
        """An absolute value between bars."""
        start, end = value[1:3]
        if (
            (start, end) == (left[1], right[0])
            and self.text[start] == "|" == self.text[end - 1]
            and self.graph.kinds[value[0]] == ABSOLUTE
        ):
            inside = self.text[start + 1 : end - 1] if end - start < LONGEST_NORM else "x"
            norm, size = (
                f"norm({inside}) for the norm of a vector",
                f"|{inside}| for the absolute value",
            )
            raise LanguageError(
                "syntax",
                f"'||{inside}||' has two meanings",
                span=(left[0], right[1]),
                help=f"write {norm}, {size} of a number",
            )
        return self.operation(ABSOLUTE, (value,), (left[0], right[1]))

    def operation(
        self, kind: str, values: Sequence[Value], span: Span, payload: Payload = None
    ) -> Value:
        """An operation on operands."""
        nodes = tuple([value[0] for value in values])
        places = tuple([(value[-2], value[-1]) for value in values])
        return self.graph.append(kind, nodes, payload, span, places), *span

    def empty_call(self, name: Span, left: Span, right: Span) -> Value:
        """A call without operands."""
        return self.call(name, left, [], right)

    def call(self, name: Span, left: Span, values: list[Any], right: Span) -> Value:
        """A call."""
        text = self.text[name[0] : name[1]]
        op = FUNCTIONS.get(text) or EQUATIONS.get(text)
        if op is None and is_function(text, rare=False):
            op = FUNCTIONS.get(text)
        if op is None and text in IN_OTHER_WORDS:
            listed, formula = IN_OTHER_WORDS[text]
            if all(map(is_operand, values)):
                names, span = listed.split(), (name[0], right[1])
                if len(values) != len(names):
                    takes = f"{len(names)} operand{'s' * (len(names) != 1)}"
                    raise wrong_count(self.text, text, takes, len(values), ", ".join(names), span)
                return self.expanded(
                    build_plainly(formula), dict(zip(names, values, strict=True)), span
                )
        if op is None and text in FAMILIES:
            op, values = self.chosen(FAMILIES[text], values, (name[0], right[1]))
        if op is None or (op.variadic and len(values) < 2) or not all(map(is_operand, values)):
            from exprgrad.language.read import structural

            found = structural.structural_call(
                self.graph, self.text, name, values, right, elementwise=op is not None
            )
            if found is not None:
                return found
        if op is None and is_function(text):  # its row is there now
            return self.call(name, left, values, right)
        if op is None:
            from exprgrad.language.mistakes.complaints import unknown_function

            known = self.known.keys() | CONSTANTS.keys()
            raise unknown_function(self.text, self.valid_name(text, name), name, known)
        count = len(values)
        if op.binary_expansion and count == 2:
            meanings = dict(zip("xy", values, strict=True))
            return self.expanded(build_plainly(op.binary_expansion), meanings, (name[0], right[1]))
        if count < 2 if op.variadic else count != len(op.names):
            signature = "x, y, …" if op.variadic else ", ".join(op.names)
            if op.setting is not None:
                signature, count = f"{op.setting[1]}, {signature}", count + 1
            span = name[0], right[1]
            raise wrong_count(self.text, text, op.arity_words(), count, signature, span)
        return self.operation(op.name, values, (name[0], right[1]))

    def expanded(self, body: Graph, meanings: Mapping[str, Value], span: Span) -> Value:
        """Append a formula's nodes in the place of a call, its inputs replaced by operands."""
        nodes: list[int] = []
        for kind, operands, payload in zip(body.kinds, body.operands, body.payloads, strict=True):
            if kind == INPUT:
                nodes.append(meanings[str(payload)][0])
                continue
            places = tuple(
                meanings[str(body.payloads[operand])][-2:] if body.kinds[operand] == INPUT else span
                for operand in operands
            )
            inside = tuple(nodes[operand] for operand in operands)
            nodes.append(self.graph.append(kind, inside, payload, span, places))  # type: ignore[arg-type]
        return nodes[body.output], *span

    def chosen(
        self, family: Family, values: list[Any], span: Span
    ) -> tuple[Op, list[tuple[Any, ...]]]:
        """Choose a family's row by a call's first operand; return the row and the other operands."""
        first, *others = values or [None]
        node = first[0] if is_operand(first) else -1
        number = self.graph.payloads[node] if node >= 0 else None
        is_before = bool(family.before) and number == family.least - 1
        if not isinstance(number, float) or not (
            is_before or (number.is_integer() and family.least <= number <= family.beyond)
        ):
            raise bad_number(family, first[1:3] if is_operand(first) else span)
        if node not in self.known.values():  # the number is part of the operation, and no node
            self.graph.drop(node)
            self.known = {name: at - (at > node) for name, at in self.known.items()}
            others = [(at - (at > node), *spans) for at, *spans in others]
        return BY_NAME[family.before] if is_before else family_member(family, int(number)), others

    # Statements.

    def bind(self, name_span: Span, equals: Span, value: Value) -> None:
        """``name = expression``."""
        self.refuse_pending()
        text = self.text[name_span[0] : name_span[1]]
        name = self.valid_name(text, name_span)
        node, graph = value[0], self.graph
        self.refuse_rebinding(name, name_span)
        self.known[name] = node
        graph.bindings.append(Binding(name, node, name_span))
        graph.output, graph.output_name = node, name

    def refuse_rebinding(self, name: str, span: Span) -> None:
        """Refuse to bind a name that is bound or read already."""
        graph = self.graph
        how, note, first = "", "read here", span
        help = f"bind '{name}' before its first use, or choose another name"
        if name in graph.inputs:
            how, first = (
                "bound here, but was read as an input before",
                graph.span(graph.inputs[name]),
            )
        elif name in self.known:
            how, note = "bound twice", "first bound here"
            first = next(b.span for b in graph.bindings if b.name == name)
            help = "a name stands for one node: choose another name"
        elif name in self.constants_read:
            how, first = "bound here, but was read as a constant before", self.constants_read[name]
        if how:
            raise LanguageError(
                "bound-twice", f"'{name}' is {how}", span=span, help=help, related=((note, first),)
            )

    def result(self, value: Value) -> None:
        """An expression that is a statement of its own."""
        self.refuse_pending()
        self.results.append(value)

    def refuse_pending(self) -> None:
        """Refuse a statement after one without a name, unless the text relates sides."""
        if self.results and not self.relates:
            _, start, end, *_ = self.results[0]
            raise LanguageError(
                "unused-statement",
                "only the last statement may be without a name",
                span=(start, end),
                help="name it (t = …), or put a formula that spans lines in parentheses",
            )

    def finish(self) -> Graph:
        """The graph, once the text is read."""
        graph = self.graph
        if self.results:
            graph.output, start, *_ = self.results[-1]
            graph.output_name = graph.names().get(graph.output)
            self.refuse_broken_formula(start)
        return graph

    def refuse_broken_formula(self, start: int) -> None:
        """Refuse a formula pasted over two lines, which would be read as a binding and a signed output."""
        if not self.graph.bindings or self.text[start] not in "+-":
            return
        above = self.graph.bindings[-1]
        between = self.text[above.span[1] : start]
        unused = not dependency_flags(self.graph, self.graph.output)[above.node]
        if unused and ("\n" in between or "\r" in between):
            raise LanguageError(
                "unused-statement",
                f"this line begins with '{self.text[start]}', and '{above.name}' above it is not used",
                span=(start, start + 1),
                help="put a formula that spans lines in parentheses",
            )


ACTIONS: dict[str, lalr.Action] = {
    **{rule: getattr(Builder, rule) for rule in RULES},
    **{rule: tensor_action(rule) for rule in TENSOR_RULES},
    **dict.fromkeys(SHORT_RULES, refuse_short_notation),
    **LISTS,
}
"""Rule of the grammar → its action."""


@cache
def building_rules() -> list[lalr.Production]:
    """Join the grammar's rules with their actions."""
    return lalr.rules_with_actions(lalr.language_parser(), ACTIONS)
