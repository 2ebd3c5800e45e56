"""Lines that fit a terminal: broken at blanks, cut in the middle, or their pieces put under each other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from exprgrad.source import display_width

__all__ = ["EDGE_ROWS", "INDENT", "LONGEST_WHOLE", "broken", "ends", "fitted", "narrowed", "packed"]

T = TypeVar("T")

INDENT = "    "
EDGE_ROWS = 20
"""How many rows a long table, or visits a long trace, shows at each end."""
LONGEST_WHOLE = 60
"""The most rows or visits that are shown whole."""


def ends(items: Sequence[T], *, whole: bool) -> tuple[Sequence[T], int]:
    """The items to show, the first and the last of many, and how many are left out."""
    if whole or len(items) <= LONGEST_WHOLE:
        return items, 0
    return [*items[:EDGE_ROWS], *items[-EDGE_ROWS:]], len(items) - 2 * EDGE_ROWS


def broken(line: str, width: int, first: str = "", further: str = "") -> list[str]:
    """A line in lines of so many cells, broken at blanks; ``first`` and ``further`` begin them."""
    from textwrap import wrap

    return wrap(
        line,
        width,
        initial_indent=first,
        subsequent_indent=further,
        break_long_words=False,
        break_on_hyphens=False,
    )


def fitted(line: str, width: int | None) -> list[str]:
    """A line, broken at blanks where it does not fit; what follows stands a little further in."""
    if width is None or display_width(line) <= width:
        return [line]
    return broken(line, width, further=" " * (len(line) - len(line.lstrip()) + 2))


def packed(pieces: Sequence[str], width: int | None, indent: str) -> list[str]:
    """Pieces on as few lines as they fit; a piece that is longer than a line is broken at blanks."""
    lines: list[str] = []
    for piece in filter(None, pieces):
        longer = f"{lines[-1]}  {piece}" if lines else f"{indent}{piece}"
        if width is None or display_width(longer) <= width:
            lines[-1:] = [longer]
        else:
            first = (indent or INDENT) if lines else indent
            lines += broken(piece, max(width, 20), first, f"{first}  ")
    return lines


def narrowed(texts: Sequence[str], room: float | None) -> str:
    """The first of some texts that has the room, or the last."""
    return next((text for text in texts if room is None or display_width(text) <= room), texts[-1])
