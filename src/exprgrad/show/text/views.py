"""Numbers and tensors as people read them: small ones whole, of others the norm and the extremes."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import TYPE_CHECKING, Any, NamedTuple

from exprgrad.graph.graph import in_lists, size
from exprgrad.show.text.lines import INDENT, broken, narrowed
from exprgrad.source import printable

if TYPE_CHECKING:
    from exprgrad.run.arrays.arrays import Measure

__all__ = [
    "FULL", "IN_CELL", "PICTURED", "VIEWS", "WHOLE_VIEW", "View", "answer_text", "decimal", "folded",
    "minus", "signed", "view", "ways",
]  # fmt: skip

MOST_WHOLE = 64
"""The most numbers of a tensor that is shown whole, unless all are asked for."""


class View(NamedTuple):
    """How much is shown of a tensor.

    ``room``    the cells that its text may take; the shortest may take more
    ``most``    the numbers up to which it is shown whole; None for all
    ``ends``    whether the least and the greatest number stand beside the norm of a larger one
    """

    room: float = inf
    most: int | None = MOST_WHOLE
    ends: bool = True


FULL = View()
VIEWS = (FULL, *[View(room) for room in (80, 60, 48, 40, 34, 28, 24, 20, 16, 12)])
"""From the widest to the narrowest: the first that fits a terminal is taken."""
IN_CELL = View(most=16)
"""What stands beside other columns: a line is still to be read in one glance."""
PICTURED = View(40, most=4, ends=False)
"""What stands on a card in a picture."""
WHOLE_VIEW = View(most=None)
"""Every number."""
LONGEST_LINE = 100
"""The cells of a line up to which an answer stands behind its name."""


def decimal(value: float | None, digits: int) -> str:
    """A number with so many significant digits, or nothing."""
    return "" if value is None else format(value + 0.0, f".{digits}g")


def minus(text: str) -> str:
    """The text with true minus signs."""
    return text.replace("-", "−")


def signed(value: float, digits: int) -> str:
    """A number with a true minus sign."""
    return minus(decimal(value, digits))


def view(value: Any, digits: int, how: View = FULL) -> str:
    """A number, a small tensor whole, or what can be said of a large one on one line."""
    return narrowed(ways(value, digits, how), how.room)


def ways(value: Any, digits: int, how: View = FULL) -> list[str]:
    """A number, or the ways to show a tensor, the fullest first."""
    if value is None or isinstance(value, float):
        return [decimal(value, digits)]
    if how.most is None:
        return [in_brackets(value, digits)]
    from exprgrad.run.arrays.arrays import measure

    found = [in_brackets(value, digits)] if value.size <= how.most else []
    return found + in_few_words(measure(value), digits, ends=how.ends)


def in_few_words(found: Measure, digits: int, *, ends: bool) -> list[str]:
    """A tensor's norm and extremes, or how many nan it holds, in ever fewer words."""
    norm = decimal(found.norm, digits)
    brief = [f"norm {norm}", f"‖{norm}‖"]
    if found.nans:
        brief = [f"{found.nans:,} nan"]
    if not ends or found.nans == size(found.shape):
        return brief
    least, greatest = decimal(found.least, digits), decimal(found.greatest, digits)
    return [
        f"{brief[0]}, min {least}, max {greatest}",
        f"{brief[0]}, {least} … {greatest}",
        *brief,
    ]


def in_brackets(value: Any, digits: int) -> str:
    """All numbers of a tensor as nested lists."""
    return in_lists([decimal(number, digits) for number in value.ravel().tolist()], value.shape)


def rows_of(value: Any, digits: int) -> list[str]:
    """All numbers of a tensor, a line for each row, and the brackets under each other."""
    depth = len(value.shape)
    text = in_brackets(value, digits)
    for axes in range(depth - 1, 0, -1):
        closed, opened = "]" * axes, "[" * axes
        text = text.replace(f"{closed}, {opened}", f"{closed},\n{' ' * (depth - axes)}{opened}")
    return text.split("\n")


def answer_text(name: str, value: Any, digits: int, *, whole: bool = False) -> str:
    """What is called so, and its value: whole if that is not large, on lines of its own if it is long."""
    text = f"{printable(name)} = {view(value, digits, WHOLE_VIEW if whole else FULL)}"
    if len(text) <= LONGEST_LINE or not text.endswith("]"):
        return text
    return "\n".join([f"{printable(name)} =", *[INDENT + row for row in rows_of(value, digits)]])


def folded(value: Any, digits: int, room: int) -> str:
    """All numbers of a tensor on lines of at most so many cells, if none of its numbers is longer."""
    indent = " " * len(value.shape)
    rows: Sequence[str] = rows_of(value, digits)
    return "\n".join(line for row in rows for line in broken(row, room, further=indent))
