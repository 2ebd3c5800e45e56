"""Graph to text: our own spelling, with the fewest parentheses that read back.

``program_text`` writes a whole graph; ``node_texts`` writes each node, cut short; ``rule_text`` writes
local derivatives with the operands' names; ``name_shared`` names the nodes that a text would repeat.  None
of them recurses, and each takes linear time.
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
from exprgrad.graph.ops import BY_INFIX, BY_NAME, is_root
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
    """Make the pattern of an elementwise operation."""
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
    """Make the pattern of a structural operation, with its settings."""
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
    """Make the pattern of ``count`` operands between brackets."""
    parts: list[Piece] = [opening]
    for position in range(count):
        parts += [", ", (position, COMPARISON)] if position else [(position, COMPARISON)]
    return *parts, closing


@cache
def binding_level(kind: str) -> int:
    """Return how tightly an operation binds."""
    if kind not in BY_NAME:
        return MATMUL if kind == "matmul" else ATOM
    op = BY_NAME[kind]
    if op.prefix:
        return SIGN
    return LEVELS.get(op.infix, COMPARISON) if op.infix else ATOM


def leaf_text(graph: Graph, node: int, room: int | None = None) -> str:
    """Write an input or a constant, or the first ``room`` characters of a tensor."""
    payload = graph.payloads[node]
    if isinstance(payload, str):
        return payload
    if isinstance(payload, Literal):
        return literal_text(payload, room)
    assert isinstance(payload, float)
    return graph.symbols.get(node) or graph.spelled.get(node) or number_text(payload)


def count_tokens(text: str) -> int:
    """Count a formula's names, numbers, signs and brackets."""
    return len(re.findall(r"[^\W\d]\w*|\d[\d.]*(?:e[+-]?\d+)?|\S", text))


def leaf_level(text: str) -> int:
    """Return how tightly a leaf binds: a negative constant, as derived graphs have, binds like a sign."""
    return SIGN if text.startswith("-") else ATOM


def program_text(graph: Graph, *, rows: bool = False, most: int | None = None) -> str:
    """Write the whole graph as text that reads back: its named statements, then its output.

    With ``rows``, roots are calls of their rows, as in texts of the table.  A statement is cut after
    ``most`` names, numbers and signs: written out, 30 products may come to 2^30 names.
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
    """Write one statement's right side, with named nodes as their names."""
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
    """Write it in pieces; ``given`` nodes become positions, each with the level that it needs."""
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
        if rows and is_root(kind):
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
    """Yield the texts of some items, from left to right; ``parts`` splits an item that is no text."""
    todo = [*items][::-1]
    while todo:
        item = todo.pop()
        if isinstance(item, str):
            yield item
        else:
            todo.extend(reversed(parts(item)))


def skip_broadcast_node(graph: Graph, node: int) -> int:
    """Return the node itself, or the operand of a broadcast, which a text does not show."""
    return graph.operands[node][0] if node in graph.implicit else node


def operand_level(graph: Graph, node: int, names: Mapping[int, str]) -> int:
    """Return how tightly a node's text binds as an operand: a name is an atom."""
    node = skip_broadcast_node(graph, node)
    if node in names:
        return ATOM
    kind = graph.kinds[node]
    return leaf_level(leaf_text(graph, node, 1)) if kind in (INPUT, CONST) else binding_level(kind)


def node_texts(graph: Graph, names: Mapping[int, str], limit: int = LIMIT) -> list[str]:
    """Write every node, with named operands as their names, cut to ``limit`` characters."""
    beginnings = text_prefixes(graph, names, {}, limit)
    return [cut_text(text, limit) for text in beginnings]


def text_prefixes(
    graph: Graph, names: Mapping[int, str], given: Mapping[int, tuple[str, int]], limit: int
) -> list[str]:
    """Write the first ``limit + 1`` characters of every node's text.

    ``given`` replaces nodes, such as a rule's operands, by a text and its level.
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
    """Write a rule with its names replaced by texts with levels; return the text and its level.

    The text is cut to ``LIMIT`` characters.  ``numbers`` are the values of some names: differences of
    whole numbers are computed and first powers dropped, so that the derivative of ``x^3`` is ``3*x^2``.
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
    """Put numbers in a rule for some of its names, compute their differences and drop first powers."""
    numbers = dict(given)

    def known(made: Graph, node: int, images: Sequence[int]) -> int | None:
        kind, name = rule.kinds[node], rule.payloads[node]
        operands = [images[operand] for operand in rule.operands[node]]
        values = [made.payloads[operand] for operand in operands]
        if isinstance(name, str) and name in numbers:
            return made.append(CONST, (), numbers[name], rule.span(node))
        if kind == BY_INFIX["^"].name and values[1] == 1:
            return operands[0]
        if kind == BY_INFIX["-"].name and all(isinstance(value, float) for value in values):
            first, second = cast(list[float], values)
            return made.append(CONST, (), first - second, rule.span(node))
        return None

    return transform_graph(rule, known)[0]


def operand_label(
    graph: Graph, node: int, names: Mapping[int, str], written: Sequence[str]
) -> tuple[str, int]:
    """Return an operand's name, else its text; and the text's level."""
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
    """Write one operation on texts with levels; ``spaced`` puts blanks around every symbol."""
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
    """Write the first ``room`` characters of an operation's text."""
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
    """Write a setting."""
    if isinstance(value, tuple):
        return f"[{', '.join(map(setting_text, value))}]"
    return str(value)


def literal_text(literal: Literal, room: int | None = None) -> str:
    """Write a literal tensor, or its first ``room`` characters."""
    shape = literal.shape
    sizes = [shape_size(shape[at:]) for at in range(len(shape) - 1, 0, -1)]
    pieces = ["[" * len(shape)]
    for at, value in enumerate(literal.numbers[:room]):
        if at:
            ended = next((depth for depth, count in enumerate(sizes) if at % count), len(sizes))
            pieces.append(f"{']' * ended}, {'[' * ended}")
        pieces.append(number_text(value))
    return "".join([*pieces, "]" * len(shape)])[:room]


# Names for nodes with several users, so that a text has each of them once.


def fresh_names(graph: Graph, beginning: str) -> Iterator[str]:
    """Yield names that are free in a graph: t1, t2, …."""
    taken = {*graph.inputs, *(binding.name for binding in graph.bindings), *CONSTANTS}
    return (name for number in count(1) if (name := f"{beginning}{number}") not in taken)


def name_shared(graph: Graph) -> None:
    """Make a statement of every unnamed operation with several users.

    The existing statements stay, in their order; each new one comes before its first use.
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
