"""A formula with parts of another in place of its names, written with as little as it takes.

Signs come to the front, what cancels is left out, a factor 1 is dropped: ``(x - y)/…`` with ``t + 1`` for x
and ``t`` for y reads ``1/…``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from exprgrad.explain.rewriting.likeness import Key, Keys, Reading, Terms
from exprgrad.explain.rewriting.matching import Match
from exprgrad.graph.graph import CONST, INPUT, Graph
from exprgrad.language.write.infix import (
    ATOM,
    PRODUCT,
    SIGN,
    SUM,
    expression,
    leaf,
    level,
    number,
    operand_level,
    operation_text,
)

__all__ = ["filled"]

LONGEST = 1 << 40
"""No limit: what is written is put in a text that people go on with."""


class Piece(NamedTuple):
    """A term without its sign: text, how tightly it binds, its key, and its value if it is a number."""

    text: str
    level: int
    key: Key
    value: float | None = None


Sum = list[tuple[int, Piece]]
"""Signs and pieces; the number 0 if there are none."""


def filled(
    reading: Reading, names: Mapping[int, str], better: Graph, match: Match, repeats: str
) -> tuple[str, int]:
    """The text of a formula with what a match found for its names, and how tightly it binds."""
    keys = reading.keys

    def given(terms: Terms) -> Sum:
        """A part of the user's formula."""
        return [user_piece(reading, names, sign, node) for sign, node in reading.spread(terms)[0]]

    parts: list[Sum] = []
    for node, kind in enumerate(better.kinds):
        payload, operands = better.payloads[node], better.operands[node]
        if kind == INPUT:
            # A part that has a name, or is no sum, stays as it is.
            terms = match.bound[str(payload)]
            whole = len(terms) == 1 and terms[0][1] in names
            parts.append([user_piece(reading, names, *terms[0])] if whole else given(terms))
        elif kind == CONST:
            assert isinstance(payload, float)
            parts.append([(1, Piece(leaf(better, node), ATOM, keys.leaf(kind, payload), payload))])
        else:
            listed = [parts[operand] for operand in operands]
            if match.more and better.payloads[operands[-1]] == repeats and len(operands) > 1:
                listed += map(given, match.more)
            parts.append(operation(keys, kind, listed))
    found = parts[better.output]
    if match.sign < 0:
        found = [(-sign, piece) for sign, piece in found]
    if match.rest:
        found = cancelled(keys, [*given(match.rest), *found])
    text, binding, _ = written(keys, found)
    return text, binding


def user_piece(
    reading: Reading, names: Mapping[int, str], sign: int, node: int
) -> tuple[int, Piece]:
    """A node of the user's formula; a sign that its text begins with is taken out."""
    graph = reading.graph
    text, binding = expression(graph, node, names, None), operand_level(graph, node, names)
    own, number_ = reading.by_node[node]
    if text.startswith("-") and binding >= PRODUCT and graph.kinds[node] in ("neg", "mul", "div"):
        return -sign, Piece(text[1:], PRODUCT, (-own, number_))
    if graph.kinds[node] == "mod" and node not in names:
        binding = SUM  # -(x % y) keeps its parentheses
    payload = graph.payloads[node]
    return sign, Piece(
        text, binding, (own, number_), payload if isinstance(payload, float) else None
    )


def operation(keys: Keys, kind: str, operands: Sequence[Sum]) -> Sum:
    """An operation on sums."""
    if kind == "neg":
        return [(-sign, piece) for sign, piece in operands[0]]
    if kind in ("add", "sub"):
        flip = -1 if kind == "sub" else 1
        return cancelled(
            keys, [*operands[0], *[(flip * sign, piece) for sign, piece in operands[1]]]
        )
    if kind in ("mul", "div"):
        return product(keys, kind, operands[0], operands[1])
    parts = [written(keys, operand) for operand in operands]
    text = operation_text(kind, [part[:2] for part in parts], limit=LONGEST)
    return [(1, Piece(text, level(kind), keys.operation(kind, [part[2] for part in parts])))]


def product(keys: Keys, kind: str, one: Sum, other: Sum) -> Sum:
    """A product or quotient: the signs to the front, a factor or divisor 1 dropped."""
    (sign, first), (by, second) = single(keys, one), single(keys, other)
    if second.value == 1:
        return [(by * own, piece) for own, piece in one]
    if first.value == 1 and kind == "mul":
        return [(sign * own, piece) for own, piece in other]
    text = operation_text(kind, [first[:2], second[:2]], limit=LONGEST)
    return [(sign * by, Piece(text, PRODUCT, keys.operation(kind, [first.key, second.key])))]


def single(keys: Keys, found: Sum) -> tuple[int, Piece]:
    """A sum as one term."""
    if len(found) == 1:
        return found[0]
    return 1, Piece(*written(keys, found))


def cancelled(keys: Keys, found: Sum) -> Sum:
    """A sum without the pairs that cancel, its whole numbers added up."""
    kept: Sum = []
    total = 0.0
    for sign, piece in found:
        if piece.value is not None and piece.value == piece.value // 1 and abs(piece.value) < 2**40:
            total += sign * piece.value
            continue
        mine = (sign * piece.key[0], piece.key[1])
        for place, (own, other) in enumerate(kept):
            if (-own * other.key[0], other.key[1]) == mine:
                del kept[place]
                break
        else:
            kept.append((sign, piece))
    if not total:
        return kept
    size = abs(total)
    constant = 1 if total > 0 else -1, Piece(number(size), ATOM, keys.leaf(CONST, size), size)
    return [constant, *kept] if found[0][1].value is not None else [*kept, constant]


def written(keys: Keys, found: Sum) -> tuple[str, int, Key]:
    """A sum's text, how tightly that binds, and the sum's key."""
    if not found:
        return "0", ATOM, keys.leaf(CONST, 0.0)
    key = keys.total([(sign * piece.key[0], piece.key[1]) for sign, piece in found])
    ordered = sorted(found, key=lambda term: -term[0]) if found[0][0] < 0 else found
    text = ""
    for sign, piece in ordered:
        shown = f"({piece.text})" if piece.level < PRODUCT and len(found) > 1 else piece.text
        if text:
            text += f" {'+' if sign > 0 else '-'} {shown}"
        elif sign > 0:
            text = shown
        else:
            text = f"-({piece.text})" if piece.level < PRODUCT else f"-{shown}"
    if len(found) > 1:
        return text, SUM, key
    sign, piece = found[0]
    return text, piece.level if sign > 0 else PRODUCT if piece.level == PRODUCT else SIGN, key
