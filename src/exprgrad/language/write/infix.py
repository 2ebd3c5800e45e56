"""Graph to text: the language's own spelling, with the fewest parentheses that parse back.

``program_text`` writes a whole graph; ``node_texts`` writes each node cut short; ``rule_text`` writes local
derivatives with the operands' names filled in; ``name_shared`` names what a text would say twice.  None of
them recurses or takes more than linear time.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from itertools import chain, count, islice
from typing import Any, cast

from exprgrad.graph.graph import (
    CONST,
    INPUT,
    Binding,
    Graph,
    Literal,
    Payload,
    Settings,
    V,
    shape_size,
    transform_graph,
)
from exprgrad.graph.ops import BY_NAME
from exprgrad.language.read.builder import CONSTANTS
from exprgrad.source import cut_text

__all__ = [
    "ATOM", "COMPARISON", "LIMIT", "MATMUL", "POWER", "PRODUCT", "SIGN", "SUM", "Piece", "binding_level",
    "count_tokens", "expression_pieces", "expression_text", "fresh_names", "leaf_level", "leaf_text",
    "literal_text", "name_shared", "node_texts", "number_text", "operand_label", "operand_level",
    "operation_text", "program_text", "rule_text", "setting_text", "text_prefixes", "unfold_items",
]  # fmt: skip

LIMIT = 60
"""The longest text of a node or a rule, in characters."""
WRITTEN_OUT = 1e16
"""Whole numbers below this are written without an exponent."""

# A product of matrices binds like other products, but is set apart from them: (X @ W)*2, X @ (W*2).
COMPARISON, SUM, MATMUL, PRODUCT, SIGN, POWER, ATOM = range(7)
LEVELS = {"+": SUM, "-": SUM, "*": PRODUCT, "/": PRODUCT, "%": PRODUCT, "^": POWER}

Piece = str | tuple[int, int]
"""Literal text, or an operand's position and the lowest level that it may have without parentheses."""


def number_text(value: float) -> str:
    """The shortest text that reads back as the same double; a whole number has no ``.0``."""
    text = repr(value)
    return text.removesuffix(".0")


def infix_pattern(kind: str, count: int, settings: Payload = None) -> tuple[Piece, ...]:
    """An operation's text with gaps for ``count`` operands, and its settings if it is structural."""
    if kind in BY_NAME:
        return elementwise_pattern(kind, count)
    return structural_pattern(kind, count, cast(Settings, settings))


@cache
def elementwise_pattern(kind: str, count: int) -> tuple[Piece, ...]:
    """How an elementwise operation is written."""
    op = BY_NAME[kind]
    if op.prefix:
        return op.prefix, (0, SIGN)
    if op.equation is not None:
        return op.equation.pattern
    if not op.infix:
        word, *number = op.setting or (op.name,)
        return bracket_pattern(f"{word}({number[0]}, " if number else f"{word}(", count, ")")
    level = LEVELS.get(op.infix, COMPARISON)
    symbol = f" {op.infix} " if level <= SUM else op.infix
    if level == POWER:
        return (0, ATOM), symbol, (1, SIGN)
    return (0, max(level, SUM)), symbol, (1, level + 1)


def structural_pattern(kind: str, count: int, settings: Settings) -> tuple[Piece, ...]:
    """How a structural operation is written, with its settings."""
    from exprgrad.graph.tensors import STRUCTURAL, index_text

    row = STRUCTURAL[kind]
    if kind == "matmul":
        return (0, MATMUL), " @ ", (1, SIGN)
    if kind == "transpose" and settings[0] is None:
        return (0, ATOM), ".T"
    if kind == "index":
        return (0, ATOM), f"[{', '.join(map(index_text, settings[0]))}]"
    if kind == "stack" and settings[0] == 0:
        return bracket_pattern("[", count, "]")
    given = [f", {p.name}={setting_text(value)}" for p, value in row.given(settings)]
    return bracket_pattern(f"{row.word}(", count, "".join([*given, ")"]))


def bracket_pattern(opening: str, count: int, closing: str) -> tuple[Piece, ...]:
    """So many operands between brackets."""
    parts: list[Piece] = [opening]
    for position in range(count):
        parts += [", ", (position, COMPARISON)] if position else [(position, COMPARISON)]
    return *parts, closing


@cache
def binding_level(kind: str) -> int:
    """How tightly an operation binds."""
    if kind not in BY_NAME:
        return MATMUL if kind == "matmul" else ATOM
    op = BY_NAME[kind]
    if op.prefix:
        return SIGN
    return LEVELS.get(op.infix, COMPARISON) if op.infix else ATOM


def leaf_text(graph: Graph, node: int, room: int | None = None) -> str:
    """The text of an input or a constant, or the first ``room`` characters of a tensor."""
    payload = graph.payloads[node]
    if isinstance(payload, str):
        return payload
    if isinstance(payload, Literal):
        return literal_text(payload, room)
    assert isinstance(payload, float)
    return graph.symbols.get(node) or graph.spelled.get(node) or number_text(payload)


def count_tokens(text: str) -> int:
    """How long a formula is to read: its names, numbers, signs and brackets, each counted as one."""
    return len(re.findall(r"[^\W\d]\w*|\d[\d.]*(?:e[+-]?\d+)?|\S", text))


def leaf_level(text: str) -> int:
    """How tightly a leaf binds: a negative constant, as derived graphs have, binds like a sign."""
    return SIGN if text.startswith("-") else ATOM


def program_text(graph: Graph, *, rows: bool = False, most: int | None = None) -> str:
    """The whole graph as text that parses back to it: its named statements, then its output.

    With ``rows`` roots are written as calls of their rows, as texts of the table are.  A statement ends
    after ``most`` names, numbers and signs: where all is written out, 30 products may come to 2^30 names.
    """
    names = graph.names()
    statements = [
        f"{name} = {expression_text(graph, node, names, name, rows=rows, most=most)}"
        for name, node, _ in graph.bindings
    ]
    last = graph.bindings[-1] if graph.bindings else None
    if last is None or (last.node, last.name) != (graph.output, graph.output_name):
        statements.append(expression_text(graph, graph.output, names, None, rows=rows, most=most))
    return "; ".join(statements)


def expression_text(
    graph: Graph,
    root: int,
    names: Mapping[int, str],
    binding: str | None,
    *,
    rows: bool = False,
    most: int | None = None,
) -> str:
    """One statement's right side; a node that has a name of its own is written as its name."""
    return "".join(
        map(str, islice(expression_pieces(graph, root, names, binding, {}, rows=rows), most))
    )


def expression_pieces(
    graph: Graph,
    root: int,
    names: Mapping[int, str],
    binding: str | None,
    given: Mapping[int, int],
    *,
    rows: bool = False,
) -> Iterator[Piece]:
    """The same in pieces; nodes that are ``given`` become positions, each with the level that it needs."""
    todo: list[Piece | int] = [root]
    while todo:
        item = todo.pop()
        if not isinstance(item, int):
            yield item
            continue
        item = skip_broadcast_node(graph, item)
        kind, operands = graph.kinds[item], graph.operands[item]
        if not operands or (item in names and (item != root or names[item] != binding)):
            hidden = item == root and names.get(item) == binding
            text = leaf_text(graph, item) if hidden or item not in names else names[item]
            turned = text.isdecimal() and todo[-1:] == [".T"]  # 2.T begins with the number 2.
            yield f"({text})" if turned else text
            continue
        if rows and kind in BY_NAME and BY_NAME[kind].equation is not None:
            parts = bracket_pattern(f"{kind}(", len(operands), ")")
        else:
            parts = infix_pattern(kind, len(operands), graph.payloads[item])
        if item in graph.spelled:  # a product with a sign of its own
            parts = (parts[0], graph.spelled[item], parts[-1])
        for part in reversed(parts):
            if isinstance(part, str):
                todo.append(part)
                continue
            operand = operands[part[0]]
            if operand in given:
                todo.append((given[operand], part[1]))
            elif operand_level(graph, operand, names) < part[1]:
                todo += [")", operand, "("]
            else:
                todo.append(operand)


def unfold_items(
    items: Iterable[str | V], parts: Callable[[V], Sequence[str | V]]
) -> Iterator[str]:
    """The texts that some items come to, from left to right; ``parts`` takes apart what is no text yet."""
    todo = [*items][::-1]
    while todo:
        item = todo.pop()
        if isinstance(item, str):
            yield item
        else:
            todo.extend(reversed(parts(item)))


def skip_broadcast_node(graph: Graph, node: int) -> int:
    """The node that is written in a node's place: broadcasting leaves no trace in a text."""
    return graph.operands[node][0] if node in graph.implicit else node


def operand_level(graph: Graph, node: int, names: Mapping[int, str]) -> int:
    """How tightly a node binds where it is used: a name is an atom."""
    node = skip_broadcast_node(graph, node)
    if node in names:
        return ATOM
    kind = graph.kinds[node]
    return leaf_level(leaf_text(graph, node, 1)) if kind in (INPUT, CONST) else binding_level(kind)


def node_texts(graph: Graph, names: Mapping[int, str], limit: int = LIMIT) -> list[str]:
    """Every node's own text, its named operands by name, cut to ``limit`` characters."""
    beginnings = text_prefixes(graph, names, {}, limit)
    return [cut_text(text, limit) for text in beginnings]


def text_prefixes(
    graph: Graph, names: Mapping[int, str], given: Mapping[int, tuple[str, int]], limit: int
) -> list[str]:
    """The first ``limit + 1`` characters of every node's text.

    ``given`` replaces nodes by a text and its level, as a rule's operands are.
    """
    room = limit + 1
    written: list[str] = []
    for node, kind in enumerate(graph.kinds):
        operands = graph.operands[node]
        if node in given:
            written.append(given[node][0])
        elif not operands:
            written.append(leaf_text(graph, node, room)[:room])
        else:
            called = [
                (written[operand], given[operand][1])
                if operand in given
                else operand_label(graph, operand, names, written)
                for operand in operands
            ]
            written.append(text_beginning(kind, called, room, settings=graph.payloads[node]))
    return written


def rule_text(
    rule: Graph,
    values: Mapping[str, tuple[str, int]],
    numbers: Mapping[str, float] | None = None,
) -> tuple[str, int]:
    """A rule with each of its names replaced by a text and its level, and the level of the whole.

    The text is cut to ``LIMIT`` characters.  ``numbers`` are what some of the names stand for: a
    difference of whole numbers is worked out and a first power dropped, so that the derivative of ``x^3``
    reads ``3*x^2``.
    """
    whole = {n: v for n, v in (numbers or {}).items() if v.is_integer() and 0 <= v < WRITTEN_OUT}
    rule = rule_with_numbers(rule, tuple(whole.items())) if whole else rule
    given = {node: values[name] for name, node in rule.inputs.items() if name in values}
    written = given.get(rule.output)
    if written is None:
        written = operand_label(rule, rule.output, {}, text_prefixes(rule, {}, given, LIMIT))
    return cut_text(written[0], LIMIT), written[1]


@lru_cache(maxsize=1024)
def rule_with_numbers(rule: Graph, given: tuple[tuple[str, float], ...]) -> Graph:
    """A rule with numbers for some of its names, their differences worked out and first powers dropped."""
    numbers = dict(given)

    def known(made: Graph, node: int, images: Sequence[int]) -> int | None:
        kind, name = rule.kinds[node], rule.payloads[node]
        operands = [images[operand] for operand in rule.operands[node]]
        values = [made.payloads[operand] for operand in operands]
        if isinstance(name, str) and name in numbers:
            return made.append(CONST, (), numbers[name], rule.span(node))
        if kind == "pow" and values[1] == 1:
            return operands[0]
        if kind == "sub" and all(isinstance(value, float) for value in values):
            first, second = cast(list[float], values)
            return made.append(CONST, (), first - second, rule.span(node))
        return None

    return transform_graph(rule, known)[0]


def operand_label(
    graph: Graph, node: int, names: Mapping[int, str], written: Sequence[str]
) -> tuple[str, int]:
    """What a node is called where it is an operand: its name, else its text; and the text's level."""
    node = skip_broadcast_node(graph, node)
    if node in names:
        return names[node], ATOM
    text = written[node]
    return text, binding_level(graph.kinds[node]) if graph.operands[node] else leaf_level(text)


def operation_text(
    kind: str,
    operands: Sequence[tuple[str, int]],
    *,
    spaced: bool = False,
    limit: int = LIMIT,
    settings: Payload = None,
) -> str:
    """One operation on operands of given texts and levels; ``spaced`` sets every symbol apart."""
    return cut_text(
        text_beginning(kind, operands, limit + 1, spaced=spaced, settings=settings), limit
    )


def text_beginning(
    kind: str,
    operands: Sequence[tuple[str, int]],
    room: int,
    *,
    spaced: bool = False,
    settings: Payload = None,
) -> str:
    """The first ``room`` characters of an operation's text."""
    text = ""
    for part in infix_pattern(kind, len(operands), settings):
        if len(text) >= room:
            break
        if part == ".T" and text.isdecimal():
            text = f"({text}).T"
        elif isinstance(part, str):
            apart = spaced and kind in BY_NAME and BY_NAME[kind].infix
            text += f" {part.strip()} " if apart else part
        else:
            inner, own = operands[part[0]]
            text += f"({inner})" if own < part[1] else inner
    return text[:room]


def setting_text(value: Any) -> str:
    """A setting."""
    if isinstance(value, tuple):
        return f"[{', '.join(map(setting_text, value))}]"
    return str(value)


def literal_text(literal: Literal, room: int | None = None) -> str:
    """A tensor that is written out, or its first ``room`` characters."""
    shape = literal.shape
    sizes = [shape_size(shape[at:]) for at in range(len(shape) - 1, 0, -1)]
    pieces = ["[" * len(shape)]
    for at, value in enumerate(literal.numbers[:room]):
        if at:
            ended = next((depth for depth, count in enumerate(sizes) if at % count), len(sizes))
            pieces.append(f"{']' * ended}, {'[' * ended}")
        pieces.append(number_text(value))
    return "".join([*pieces, "]" * len(shape)])[:room]


# Names for what a graph uses more than once, so that its text says everything once.


def fresh_names(graph: Graph, beginning: str) -> Iterator[str]:
    """Names that nothing in a graph bears, such as t1, t2, …."""
    taken = {*graph.inputs, *(binding.name for binding in graph.bindings), *CONSTANTS}
    return (name for number in count(1) if (name := f"{beginning}{number}") not in taken)


def name_shared(graph: Graph) -> None:
    """Make a statement of every operation that is used more than once and bears no name.

    The existing statements stay, in their order; each new one comes where it is first needed.
    """
    uses = Counter(chain.from_iterable(graph.operands))
    known = graph.names()
    names = fresh_names(graph, "t")
    found = [
        Binding(next(names), node, graph.span(node))
        for node, operands in enumerate(graph.operands)
        if operands and uses[node] > 1 and node not in known
    ]
    found.reverse()
    bindings, highest = [], -1
    for binding in graph.bindings:
        highest = max(highest, binding.node)
        while found and found[-1].node <= highest:
            bindings.append(found.pop())
        bindings.append(binding)
    graph.bindings = [*bindings, *reversed(found)]
