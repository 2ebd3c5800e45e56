r"""How the op table's ``latex`` texts are taken apart: operands, literals, and how tightly each text binds.

A text has each operand's name where the operand goes.  The operators, braces and parentheses around a
name say what may stand there without parentheses; those outside of brackets say how tightly the whole
binds.  So a row needs no more than its text.
"""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

from exprgrad.graph.literal import Settings
from exprgrad.graph.ops import BY_NAME

__all__ = [
    "APPLIED", "ATOM", "CALL", "ENTRYWISE", "POWER", "PRODUCT", "QUOTIENT", "RELATION", "TIMES", "Form",
    "Slot", "form", "letters",
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
    small: bool  # whether it is in a fraction or an exponent
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
"""The kind of a product that is written with a sign of its own: see ``latex_tensors``."""


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
    if kind in BY_NAME:
        op = BY_NAME[kind]
        return op.latex, op.names, op.variadic
    from exprgrad.graph.tensors import STRUCTURAL
    from exprgrad.language.write.latex_tensors import HADAMARD, structural_text

    if kind == ENTRYWISE:
        return HADAMARD, ("x", "y"), False
    row = STRUCTURAL[kind]
    return structural_text(kind, settings or ()), row.names, row.variadic


def parsed(text: str, positions: dict[str, int]) -> tuple[tuple[str | Slot, ...], int]:
    """A text's literals and slots, and the level of its loosest operator outside of brackets."""
    tokens = [("", ""), *TOKEN.findall(text), ("", ""), ("", "")]
    parts: list[str | Slot] = [""]
    level, smalls = ATOM, [False]
    for place, (token, space) in enumerate(tokens[:-2]):
        before, after = tokens[place - 1][0], tokens[place + 1][0]
        if token in ("{", "("):
            smalls.append(smalls[-1] or before in ("^", "_", r"\frac", "}"))
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
