"""Lines that fit a terminal, and numbers and tensors as people read them.

Lines are broken at blanks, cut in the middle, in columns, or under each other.  Small tensors are shown
whole, of others the norm and the extremes.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from math import inf
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from exprgrad.errors import command_or_python
from exprgrad.graph.graph import nested_list_text, shape_size
from exprgrad.source import WIDTH, Source, display_width, excerpt_lines, printable_text

if TYPE_CHECKING:
    from exprgrad.run.arrays.arrays import Measure
    from exprgrad.run.evaluation import Diagnostic

__all__ = [
    "EDGE_ROWS", "FULL", "INDENT", "IN_CELL", "LONGEST_WHOLE", "PICTURED", "VIEWS", "WHOLE_VIEW", "YELLOW",
    "View", "align_columns", "answer_text", "break_line", "cell_width", "color_text", "decimal_text",
    "diagnostic_text", "elide_items", "first_and_last", "first_that_fits", "fit_line",
    "gap_line", "is_right_to_left", "left_to_right", "pack_pieces", "show_all_hint", "signed_number",
    "true_minus", "value_text", "value_texts_by_room",
]  # fmt: skip

T = TypeVar("T")

LEFT_TO_RIGHT = "\u200e"

INDENT = "    "
EDGE_ROWS = 20
"""The rows of a long table, or visits of a long trace, that are shown at each end."""
LONGEST_WHOLE = 60
"""The most rows or visits that are shown whole."""
YELLOW = "33"
"""The terminal's code for grads."""
COLOUR = re.compile("\x1b\\[[0-9;]*m")
"""The codes that change a terminal's colour, which take no room."""


def diagnostic_text(one: Diagnostic, text: str, head: str | None = None, width: int = WIDTH) -> str:
    """A diagnostic for people, with the excerpt it is about; ``head`` is its first word, coloured."""
    lines = [f"{head or one.severity + ':'} {one.message}"]
    lines += excerpt_lines(Source(text), one.span, width=width)
    lines += [f"  path: {one.path}"] * bool(one.path) + [f"  help: {one.help}"] * bool(one.help)
    return "\n".join(lines)


def is_right_to_left(character: str) -> bool:
    """Whether a character is written from right to left."""
    from unicodedata import bidirectional

    return bidirectional(character) in ("R", "AL")


def left_to_right(text: str) -> str:
    """A text that reads from left to right, whatever the script of its names.

    A mark at its start, and one after each name that is written from right to left, keep what is around
    the names in order.
    """
    if text.isascii():
        return text
    pieces: list[str] = []
    in_name = found = False
    for character in text:
        if in_name and not f"_{character}".isidentifier():
            pieces.append(LEFT_TO_RIGHT)
            in_name = False
        if is_right_to_left(character):
            in_name = found = True
        pieces.append(character)
    return LEFT_TO_RIGHT * found + "".join(pieces) + LEFT_TO_RIGHT * in_name


def show_all_hint() -> str:
    """The beginning of a sentence on how to see what is left out."""
    return command_or_python("--all shows", "all=True shows")


def gap_line(count: int, what: str) -> str:
    """The line that stands for what is left out."""
    return f"… {count:,} {what} left out; {show_all_hint()} them"


def cell_width(text: str) -> int:
    """The width of a line in a terminal's cells; codes for colours take none."""
    return display_width(COLOUR.sub("", text) if "\x1b" in text else text)


def color_text(text: str, color: str) -> str:
    """A text in a terminal's colour; as it is, where that is empty."""
    return f"\x1b[{color}m{text}\x1b[0m" if color and text else text


def first_and_last(items: Sequence[T], *, whole: bool) -> tuple[Sequence[T], int]:
    """The items to show, the first and the last of many, and how many are left out."""
    if whole or len(items) <= LONGEST_WHOLE:
        return items, 0
    return [*items[:EDGE_ROWS], *items[-EDGE_ROWS:]], len(items) - 2 * EDGE_ROWS


def elide_items(items: Iterable[T], count: int, what: str, *, whole: bool) -> Iterator[T | str]:
    """The items, one at a time; if there are many, the first and the last, with a line between them."""
    for at, item in enumerate(items):
        if whole or count <= LONGEST_WHOLE or not EDGE_ROWS <= at < count - EDGE_ROWS:
            yield item
        elif at == EDGE_ROWS:
            yield gap_line(count - 2 * EDGE_ROWS, what)


def break_line(line: str, width: float, first: str = "", further: str = "") -> list[str]:
    """A line broken at blanks into lines of ``width`` cells, which ``first`` and ``further`` begin."""
    words = re.findall(r"\s*\S+", line)
    lines = [first + word for word in words[:1]]
    for word in words[1:]:
        if cell_width(lines[-1] + word) <= width:
            lines[-1] += word
        else:
            lines.append(further + word.lstrip())
    return lines


def align_columns(
    rows: Sequence[Sequence[str] | str], between: str = "  ", right: Collection[int] = ()
) -> list[str]:
    """Rows with their columns under each other, those ``right`` flush right; a text is a line as it is.

    Empty columns take no room, and the last cell of a row takes what it needs.
    """
    sizes = [[] if isinstance(row, str) else [*map(cell_width, row)] for row in rows]
    widths: dict[int, int] = {}
    for row in sizes:
        for at, width in enumerate(row):
            if at in right or at < len(row) - 1:
                widths[at] = max(widths.get(at, 0), width)

    def line(row: Sequence[str], sizes: Sequence[int]) -> str:
        padded = []
        for at, (cell, width) in enumerate(zip(row, sizes, strict=True)):
            blanks = " " * (widths.get(at, 0) - width)
            if cell or blanks:
                padded.append(blanks + cell if at in right else cell + blanks)
        return between.join(padded).rstrip()

    pairs = zip(rows, sizes, strict=True)
    return [row if isinstance(row, str) else line(row, own) for row, own in pairs]


def fit_line(line: str, width: int | None) -> list[str]:
    """A line, broken at blanks where it does not fit; the lines that follow are indented a little."""
    if width is None or cell_width(line) <= width:
        return [line]
    return break_line(line, width, further=" " * (len(line) - len(line.lstrip()) + 2))


def pack_pieces(pieces: Sequence[str], width: int | None, indent: str) -> list[str]:
    """Pack pieces into as few lines as possible; a piece longer than a line is broken at blanks."""
    lines: list[str] = []
    for piece in filter(None, pieces):
        longer = f"{lines[-1]}  {piece}" if lines else f"{indent}{piece}"
        if width is None or cell_width(longer) <= width:
            lines[-1:] = [longer]
        else:
            first = (indent or INDENT) if lines else indent
            lines += break_line(piece, max(width, 20), first, f"{first}  ")
    return lines


def first_that_fits(texts: Sequence[str], room: float | None) -> str:
    """The first of some texts that fits, or the last."""
    return next((text for text in texts if room is None or cell_width(text) <= room), texts[-1])


# Numbers and tensors.


MOST_WHOLE = 64
"""The most numbers of a tensor that is shown whole, unless all are asked for."""


class View(NamedTuple):
    """A way to show a tensor, with more or less detail.

    ``room``    the cells that its text may take; the shortest may take more
    ``most``    the numbers up to which it is shown whole; None for all
    ``ends``    whether a larger one's least and greatest numbers are shown beside its norm
    """

    room: float = inf
    most: int | None = MOST_WHOLE
    ends: bool = True


FULL = View()
VIEWS = (FULL, *[View(room) for room in (80, 60, 48, 40, 34, 28, 24, 20, 16, 12)])
"""From the widest to the narrowest: the first that fits a terminal is taken."""
IN_CELL = View(most=16)
"""For a column beside others: a line has to be read at a glance."""
PICTURED = View(40, most=4, ends=False)
"""For a card in a picture."""
WHOLE_VIEW = View(most=None)
"""Every number."""
LONGEST_LINE = 100
"""The cells up to which an answer follows its name on the same line."""


def decimal_text(value: float | None, digits: int) -> str:
    """A number with ``digits`` significant digits; an empty text for None."""
    return "" if value is None else format(value + 0.0, f".{digits}g")


def true_minus(text: str) -> str:
    """The text with true minus signs."""
    return text.replace("-", "−")


def signed_number(value: float, digits: int) -> str:
    """A number with a true minus sign."""
    return true_minus(decimal_text(value, digits))


def value_text(value: Any, digits: int, how: View = FULL) -> str:
    """A number, a small tensor whole, or a large one's summary on one line.

    A view of all numbers with a ``room`` folds a tensor into lines of at most so many cells.
    """
    if how.most is None and how.room < inf:
        indent = " " * len(value.shape)
        rows = tensor_rows(value, digits)
        return "\n".join(line for row in rows for line in break_line(row, how.room, further=indent))
    return first_that_fits(value_texts_by_room(value, digits, how), how.room)


def value_texts_by_room(value: Any, digits: int, how: View = FULL) -> list[str]:
    """A number, or the ways to show a tensor, the fullest first."""
    if value is None or isinstance(value, float):
        return [decimal_text(value, digits)]
    if how.most is None:
        return [bracketed_numbers(value, digits)]
    from exprgrad.run.arrays.arrays import measure_tensor

    found = [bracketed_numbers(value, digits)] if value.size <= how.most else []
    return found + summary_texts_by_room(measure_tensor(value), digits, ends=how.ends)


def summary_texts_by_room(found: Measure, digits: int, *, ends: bool) -> list[str]:
    """A tensor's norm and extremes, or how many nan it holds, in ever fewer words."""
    norm = decimal_text(found.norm, digits)
    brief = [f"norm {norm}", f"‖{norm}‖"]
    if found.nans:
        brief = [f"{found.nans:,} nan"]
    if not ends or found.nans == shape_size(found.shape):
        return brief
    least, greatest = decimal_text(found.least, digits), decimal_text(found.greatest, digits)
    return [
        f"{brief[0]}, min {least}, max {greatest}",
        f"{brief[0]}, {least} … {greatest}",
        *brief,
    ]


def bracketed_numbers(value: Any, digits: int) -> str:
    """All numbers of a tensor as nested lists."""
    return nested_list_text(
        [decimal_text(number, digits) for number in value.ravel().tolist()], value.shape
    )


def tensor_rows(value: Any, digits: int) -> list[str]:
    """All numbers of a tensor, a line for each row, and the brackets under each other."""
    depth = len(value.shape)
    text = bracketed_numbers(value, digits)
    for axes in range(depth - 1, 0, -1):
        closed, opened = "]" * axes, "[" * axes
        text = text.replace(f"{closed}, {opened}", f"{closed},\n{' ' * (depth - axes)}{opened}")
    return text.split("\n")


def answer_text(name: str, value: Any, digits: int, *, whole: bool = False) -> str:
    """Write ``name = value``; a long tensor gets lines of its own."""
    text = f"{printable_text(name)} = {value_text(value, digits, WHOLE_VIEW if whole else FULL)}"
    if len(text) <= LONGEST_LINE or not text.endswith("]"):
        return text
    return "\n".join(
        [f"{printable_text(name)} =", *[INDENT + row for row in tensor_rows(value, digits)]]
    )
