r"""How operations look in LaTeX: the op table's ``latex`` texts, taken apart.

A text has each operand's name where the operand goes.  The operators, braces and parentheses around a
name say what may stand there without parentheses; those outside of brackets say how tightly the whole
binds.  So a row needs no more than its text.  A setting of a structural row is a subscript,
``\sum_{\text{axis }1} x``; so are an index's places, ``x_{0, 1{:}3}``.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache, lru_cache
from typing import Any, NamedTuple

from exprgrad.graph.graph import Settings
from exprgrad.graph.movement import place_text
from exprgrad.graph.ops import BY_NAME
from exprgrad.graph.structural import Parameter
from exprgrad.graph.tensors import STRUCTURAL

__all__ = [
    "ATOM",
    "CALLED",
    "ENTRYWISE",
    "FUNCTION",
    "POWER",
    "RELATION",
    "ROOTS",
    "TIMES",
    "Form",
    "Look",
    "Slot",
    "below",
    "combined",
    "edges",
    "form",
    "joint",
    "leaf_look",
    "letters",
    "parenthesised",
    "places_text",
]  # fmt: skip

RELATION, WHOLE, SUM, QUOTIENT, PRODUCT, APPLIED, POWER, CALL, ATOM = range(9)
"""How tightly a text binds.  A relation that is a number is put in Iverson brackets."""

SIDES = {
    "+": (SUM, SUM, QUOTIENT),
    "-": (SUM, SUM, QUOTIENT),
    **dict.fromkeys((r"\cdot", r"\,"), (PRODUCT, PRODUCT, APPLIED)),
    **dict.fromkeys((r"\odot", r"\otimes"), (QUOTIENT, QUOTIENT, PRODUCT)),
    "/": (QUOTIENT, PRODUCT, APPLIED),
    r"\bmod": (WHOLE, APPLIED, APPLIED),
    "^": (POWER, CALL, WHOLE),
    "_": (ATOM, ATOM, WHOLE),
    **dict.fromkeys(("<", ">", "=", r"\le", r"\ge", r"\ne"), (RELATION, SUM, SUM)),
}
"""What LaTeX's own operators ask for: the level of the whole, of its left side, of its right side."""

TIMES = r" \cdot "
TOKEN = re.compile(
    r"(\\(?:operatorname|begin|end|text)\{[^}]*\}|\\[A-Za-z]+|\\.|[A-Za-z][A-Za-z0-9]*|.)(\s*)"
)
APPLICATION = re.compile(
    r"((?:\\operatorname\{\w+\}|\\[A-Za-z]+)(?:_\{(?:[^{}]|\{[^{}]*\})*\})?) \w+"
)


class Slot(NamedTuple):
    """Where an operand goes in a row's text."""

    position: int
    need: int  # the lowest level without parentheses
    signed: bool  # whether it may begin with a minus
    folds: bool  # whether the plus before it becomes its minus
    small: bool  # whether it is in an exponent or an index
    after: str  # what follows it
    condition: bool  # whether it is compared with 0, unless it is a relation itself
    entrywise: bool  # whether a product of matrices stands in parentheses


class Form(NamedTuple):
    r"""A row's text, taken apart; ``head`` is the function of a text such as ``\sin x``."""

    parts: tuple[str | Slot, ...]
    slots: tuple[Slot, ...]
    level: int
    head: str
    divides: bool
    cases: bool
    below: bool  # whether it ends with a subscript
    joins: bool  # whether its factors stand side by side


ENTRYWISE = "entrywise"
"""The kind of a product of tensors, number by number, that is written with a sign of its own."""
HADAMARD = r"x \odot y"
OPERATOR = re.compile(r"\\(?:operatorname\{[^}]*\}|sum|prod|max|min)")


@cache
def form(kind: str, count: int, small: bool, settings: Settings | None = None) -> Form:
    """How an operation of so many operands is written; if small, its fraction has a solidus."""
    text, names, variadic = row_text(kind, settings)
    if variadic:
        names = tuple(f"x{position}" for position in range(count))
        text = re.sub(r"x, (y, )?\\ldots", ", ".join(names), text)
    if small:
        text = re.sub(r"\\frac\{(\w+)\}\{(\w+)\}", r"\1/\2", text)
    parts, level = parsed(text, {name: position for position, name in enumerate(names)})
    applied = APPLICATION.fullmatch(text)
    divides, cases = text.startswith(r"\frac"), text.startswith(r"\begin")
    if applied or divides or cases:
        level = APPLIED if applied else POWER if divides else WHOLE
    elif kind == "dot":
        level = QUOTIENT  # its sign is there to see, and a number's product with it is not
    elif level == ATOM and text.endswith(")"):
        level = CALL
    if kind == "dot":
        parts = tuple([p._replace(entrywise=True) if isinstance(p, Slot) else p for p in parts])
    slots = tuple(part for part in parts if isinstance(part, Slot))
    ends_below = isinstance(parts[-1], str) and parts[-1].rpartition("_{")[1] == "_{"
    head = applied[1] if applied else ""
    return Form(parts, slots, level, head, divides, cases, ends_below, kind == "mul")


def row_text(kind: str, settings: Settings | None) -> tuple[str, tuple[str, ...], bool]:
    """A row's text, its operands' names, and whether it takes any number of them."""
    if kind == ENTRYWISE:
        return HADAMARD, ("x", "y"), False
    if kind in BY_NAME:
        op = BY_NAME[kind]
        return ROOTS.get(kind, op.latex), op.names, op.variadic
    row = STRUCTURAL[kind]
    return structural_text(kind, settings or ()), row.names, row.variadic


ROOTS: dict[str, str] = {}
"""The texts of roots' rows, made of their equations as they are met."""


def parsed(text: str, positions: dict[str, int]) -> tuple[tuple[str | Slot, ...], int]:
    """A text's literals and slots, and the level of its loosest operator outside of brackets."""
    tokens = [("", ""), *TOKEN.findall(text), ("", ""), ("", "")]
    parts: list[str | Slot] = [""]
    level, smalls = ATOM, [False]
    for place, (token, space) in enumerate(tokens[:-2]):
        before, after = tokens[place - 1][0], tokens[place + 1][0]
        if token in ("{", "("):
            smalls.append(smalls[-1] or before in ("^", "_"))
        elif token in ("}", ")"):
            smalls.pop()
        elif token in SIDES and len(smalls) == 1:
            level = min(level, SIDES[token][0])
        if token in positions:
            condition = (after, tokens[place + 2][0]) == (r"\ne", "0")
            parts += [slot(positions[token], before, after, smalls[-1], condition), space]
        else:
            parts[-1] = f"{parts[-1]}{token}{space}"
    return tuple(part for part in parts if part), level


def slot(position: int, before: str, after: str, small: bool, condition: bool) -> Slot:
    """A slot between two tokens."""
    left, right = SIDES.get(before), SIDES.get(after)
    need = max(left[2] if left else WHOLE, right[1] if right else WHOLE)
    folds = before == "+" and not right
    signed = folds or need <= SUM or (not left and need <= PRODUCT)
    entrywise = not {r"\odot", r"\otimes"}.isdisjoint((before, after))
    return Slot(position, need, signed, folds, small, after, condition, entrywise)


def letters(kind: str) -> set[str]:
    r"""The letters and commands that a row's text has of its own: ``e`` for ``exp``, say."""
    op = BY_NAME[kind]
    return {token for token, _ in TOKEN.findall(op.latex)} - {*op.names, "x", "y"}


def structural_text(kind: str, settings: Settings) -> str:
    """A row's text, its settings put in where they are not the defaults."""
    row = STRUCTURAL[kind]
    text = row.latex
    if kind == "index":
        return text.replace(below("at"), below(places_text(settings[0])))
    given = [setting(parameter, value) for parameter, value in row.given(settings)]
    if not given:
        return text
    if kind == "transpose":
        return text.replace(r"\top", rf"\top{below(', '.join(given))}")
    if kind == "stack":
        text = r"\operatorname{stack}(x, \ldots)"
    operator = OPERATOR.match(text)
    place = operator.end() if operator else len(text)
    return text[:place] + below(", ".join(given)) + text[place:]


def below(text: str) -> str:
    """A subscript."""
    return f"_{{{text}}}"


def setting(parameter: Parameter, value: Any) -> str:
    """A setting as it stands in a subscript."""
    if parameter.kind in SETTINGS:
        return SETTINGS[parameter.kind](parameter, value)
    if value is None:
        return r"\text{all axes}"
    axes = value if isinstance(value, tuple) else (value,)
    return rf"\text{{ax{'i' if len(axes) == 1 else 'e'}s }}{listed(axes)}"


def listed(value: Any) -> str:
    """A whole number, or several."""
    return ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)


def places_text(listed: Any) -> str:
    """What an index takes, axis by axis."""
    return ", ".join(place_text(place).replace(":", "{:}") for place in listed)


SETTINGS: dict[str, Callable[[Parameter, Any], str]] = {
    "flag": lambda parameter, value: rf"\text{{{parameter.name}}}",
    "order": lambda parameter, value: listed(value),
    "places": lambda parameter, value: f"[{places_text(value)}]",
    "shape": lambda parameter, value: r" \times ".join(map(str, value)),
    "size": lambda parameter, value: listed(value),
}
"""How settings are written, by their kind; those of axes begin with a word."""

NUMBER, NAME, WORD, DELTA, FUNCTION, FRACTION, CALLED, OPEN, LIST, OTHER = range(10)
"""What a text begins or ends with, as far as a product cares."""


class Look(NamedTuple):
    """What a user needs to know of an operand's text."""

    level: int
    minus: bool
    tall: bool
    first: int
    last: int
    below: bool = False  # whether it has a subscript
    matrices: bool = False  # whether it is a product of matrices, side by side


def parenthesised(slot: Slot, look: Look) -> bool:
    """Whether an operand stands in parentheses, or brackets, there."""
    if slot.condition and look.level == RELATION:
        return False
    if (slot.after == "_" and look.below) or (slot.entrywise and look.matrices):
        return True
    return look.level < slot.need or (look.minus and not slot.signed)


@lru_cache(1024)
def leaf_look(text: str) -> Look:
    """How a name or a constant looks."""
    size = text.removeprefix("-")
    level, first = next((looks for begins, looks in LEAVES if re.match(begins, size)), (ATOM, NAME))
    tall, last = size.startswith(r"\begin"), first if level == ATOM and first != LIST else OTHER
    return Look(level, size != text, tall, first, last, first != LIST and "_{" in size)


LEAVES = (
    (r"[0-9].* \\cdot ", (PRODUCT, NUMBER)),
    (r"[0-9].*\^", (POWER, NUMBER)),
    (r"[0-9]", (ATOM, NUMBER)),
    (r"\\math(it|tt|rm)|\\text", (ATOM, WORD)),
    (r"\\[Dd]elta$", (ATOM, DELTA)),
    (r"\\[Dd]elta ", (POWER, NAME)),
    (r"\\begin|\[", (ATOM, LIST)),
)
"""Names and constants by what they begin with: how tightly they bind, and what a product meets there."""


@lru_cache(1024)
def combined(
    kind: str, small: bool, looks: tuple[Look, ...], settings: Settings | None = None
) -> Look:
    """How an operation on operands of such looks looks."""
    shape = form(kind, len(looks), small, settings)
    tall = shape.divides or shape.cases or any(inner.tall for inner in looks)
    if shape.head:
        tall = tall or shape.head.startswith((r"\sum", r"\prod"))
        return Look(APPLIED, False, tall, FUNCTION, CALLED)
    outer, inner, begins = shape.slots[0], looks[0], shape.parts[0]
    apart = parenthesised(outer, inner)
    first = FRACTION if shape.divides else edges(outer, inner)[0] if begins == outer else OTHER
    first = LIST if begins == r"\left[" else NUMBER if str(begins)[:1].isdigit() else first
    ends = shape.parts[-1] == shape.slots[-1]
    last = CALLED if shape.level == CALL else OTHER
    last = edges(shape.slots[-1], looks[-1])[1] if ends else NAME if shape.below else last
    bare = [
        found
        for slot, found in zip(shape.slots, looks, strict=True)
        if not parenthesised(slot, found)
    ]
    matrices = kind == "matmul" or (shape.joins and any(found.matrices for found in bare))
    if begins == "-":
        level, matrices = CALL if apart else inner.level, inner.matrices and not apart
        return Look(level, True, tall, first, last, matrices=matrices)
    leads = shape.divides or shape.level in (QUOTIENT, PRODUCT)
    is_minus = leads and inner.minus and not apart
    return Look(shape.level, is_minus, tall, first, last, shape.below, matrices)


def edges(outer: Slot, inner: Look) -> tuple[int, int]:
    """What an operand begins and ends with, parentheses included."""
    return (OPEN, OTHER) if parenthesised(outer, inner) else (inner.first, inner.last)


def joint(last: int, first: int) -> str:
    """What stands between two factors: nothing, where that cannot be a number, a call or a word."""
    call = first == OPEN and last in (NAME, WORD)
    if first in (NUMBER, LIST) or last == DELTA or call or (last, first) == (NUMBER, FRACTION):
        return TIMES
    called = last == CALLED and first not in (FUNCTION, OPEN)
    return r" \, " if called or WORD in (last, first) else " "
