"""How a text looks to what is around it: whether it needs parentheses, and what may stand next to it."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from exprgrad.graph.literal import Settings
from exprgrad.language.write.latex_forms import (
    APPLIED,
    ATOM,
    CALL,
    POWER,
    PRODUCT,
    QUOTIENT,
    RELATION,
    TIMES,
    Slot,
    form,
)

__all__ = ["CALLED", "FUNCTION", "Look", "combined", "edges", "joint", "leaf_look", "wrapped"]

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


def wrapped(slot: Slot, look: Look) -> bool:
    """Whether an operand stands in parentheses, or brackets, there."""
    if slot.condition and look.level == RELATION:
        return False
    if (slot.after == "_" and look.below) or (slot.entrywise and look.matrices):
        return True
    return look.level < slot.need or (look.minus and not slot.signed)


def leaf_look(text: str) -> Look:
    """How a name or a constant looks."""
    size = text.removeprefix("-")
    level, first = ATOM, NAME
    if size[0].isdecimal():
        first, level = NUMBER, PRODUCT if TIMES in size else POWER if "^" in size else ATOM
    elif size.startswith((r"\mathit", r"\mathtt", r"\mathrm", r"\text")):
        first = WORD
    elif size in (r"\Delta", r"\delta"):
        first = DELTA
    elif size.startswith((r"\Delta ", r"\delta ")):
        level = POWER
    elif size.startswith((r"\begin", "[")):
        return Look(ATOM, False, not size.startswith("["), LIST, OTHER)
    last = first if level == ATOM else OTHER
    return Look(level, size != text, False, first, last, "_{" in size)


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
    apart = wrapped(outer, inner)
    first = FRACTION if shape.divides else edges(outer, inner)[0] if begins == outer else OTHER
    first = LIST if begins == r"\left[" else first
    ends = shape.parts[-1] == shape.slots[-1]
    last = CALLED if shape.level == CALL else OTHER
    last = edges(shape.slots[-1], looks[-1])[1] if ends else NAME if shape.below else last
    bare = [
        found for slot, found in zip(shape.slots, looks, strict=True) if not wrapped(slot, found)
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
    return (OPEN, OTHER) if wrapped(outer, inner) else (inner.first, inner.last)


def joint(last: int, first: int) -> str:
    """What stands between two factors: nothing, where that cannot be a number, a call or a word."""
    call = first == OPEN and last in (NAME, WORD)
    if first in (NUMBER, LIST) or last == DELTA or call or (last, first) == (NUMBER, FRACTION):
        return TIMES
    called = last == CALLED and first not in (FUNCTION, OPEN)
    return r" \, " if called or WORD in (last, first) else " "
