"""The formula as a heat map: how large each node's grad is, on the very text that a person typed.

A character belongs to the innermost node that it is written for, and shows the size of that node's grad in
quarters of the largest: by its colour or, without colour, by a mark below it.  Constants, comments and
blanks show nothing.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from itertools import groupby, islice

from exprgrad.explain.diagnostics import DiagnosedRun
from exprgrad.graph.graph import Graph
from exprgrad.language.read.lalr import language_parser
from exprgrad.run.evaluation import adjoints_of
from exprgrad.show.text.lines import (
    cell_width,
    color_text,
    decimal_text,
    left_to_right,
    show_all_hint,
)
from exprgrad.show.text.table import Screen
from exprgrad.source import WIDTH, display_width, printable_text

__all__ = ["grad_map"]

MOST_CHARACTERS, MOST_LINES = 800, 20
"""The most characters and lines that are shown of a long formula."""
FEWEST_DIGITS, MOST_DIGITS = 2, 4
"""The fewest and the most significant digits in the legend: quarters differ in the second."""
NOBODY = -1
"""The owner of a character that belongs to no node."""
ZERO, PARTS, INFINITE, NONE = 0, 4, 5, 6
"""Levels: a grad of 0; 1 to ``PARTS`` by size; one that is not finite; and no grad."""

MARKS = {NONE: " ", ZERO: "0", 1: "▁", 2: "▃", 3: "▅", 4: "▇", INFINITE: "!"}
COLORS = {ZERO: "2", 1: "36", 2: "33", 3: "30;43", 4: "1;37;41", INFINITE: "1;37;45"}
"""The terminal's colours, from cold to hot; the hotter ones colour the ground."""

Cell = tuple[str, int]
"""A character and its owner."""


def grad_map(run: DiagnosedRun, digits: int, screen: Screen, *, whole: bool = False) -> str:
    """The formula in lines that fit a screen, and the legend; a long one is cut unless ``whole``.

    Raises ``RequestError`` for a run without a reverse sweep.
    """
    adjoints_of(run, "grads to show on the formula")
    width, color = screen.width or WIDTH, screen.color
    end = len(run.text)
    if not whole:  # a text that is cut ends in …
        most = end if end <= MOST_CHARACTERS else MOST_CHARACTERS - 1
        *_, (_, end) = islice(line_spans(run.text, most), MOST_LINES)
    owner = character_owners(run.graph, run.text, end)
    grads = [run.grad(node) for node in range(len(run.graph))]
    sizes = [  # of a tensor its largest number
        float(abs(grad).max(initial=0.0)) if hasattr(grad, "max") else grad and abs(grad)
        for grad in grads
    ]
    top = max((found for found in sizes if found is not None and math.isfinite(found)), default=0.0)
    levels = {node: grad_level(sizes[node], top) for node in set(owner) - {NOBODY}} | {NOBODY: NONE}
    lines: list[str] = []
    for start, stop in line_spans(run.text, end):
        text = printable_text(run.text[start:stop])
        characters = [
            (c, NOBODY if c == " " else node)
            for c, node in zip(text, owner[start:stop], strict=True)
        ]
        if stop == end < len(run.text):
            characters.append(("…", NOBODY))
        for row in wrap_row(characters, width):
            lines += draw_map_row(row, levels, color=color)
    left_out = len(run.text) - end
    if left_out:
        plural = "s" * (left_out > 1)
        lines.append(f"… {left_out:,} character{plural} left out; {show_all_hint()} them")
    has_tensors = any(run.graph.shapes)
    called = "|grad|, of a tensor its largest" if has_tensors else "|grad|"
    shown = min(max(digits, FEWEST_DIGITS), MOST_DIGITS)
    words = legend_words(called, set(levels.values()), top, shown, color=color)
    return "\n".join([*lines, *wrap_words(words, width)])


def line_spans(text: str, end: int) -> Iterator[tuple[int, int]]:
    """The lines of a text up to some place, without their ends."""
    at = 0
    for found in re.finditer(r"\r\n|\r|\n", text[:end]):
        yield at, found.start()
        at = found.end()
    yield at, end


def character_owners(graph: Graph, text: str, end: int) -> list[int]:
    """For each character up to ``end`` the innermost node that it is written for.

    Operands come before their users, so whatever is painted first stays; a character that is painted is
    skipped from then on, so that the time is that of the text and the graph, however deep they are.
    """
    owner = [NOBODY] * end
    free = list(range(end + 1))

    def unpainted(at: int) -> int:
        while free[at] != at:
            free[at] = at = free[free[at]]
        return at

    def paint(node: int, start: int, stop: int) -> None:
        at = unpainted(min(start, end))
        while at < min(stop, end):
            owner[at], free[at] = node, at + 1
            at = unpainted(at + 1)

    written = {  # terms of a recurrence are written all at once
        call.result: [(o, graph.span(o)) for o in call.operands] + [(call.result, call.span)]
        for call in graph.calls
        if call.parent < 0 and call.kind != "term"
    }
    if written:  # what is named in a call is no operand of what it stands in
        for node, start, stop in named_nodes_in_text(graph, text[:end]):
            paint(node, start, stop)
    for user, operands in enumerate(graph.operands):
        if user in graph.called:  # what was written once may be in many calls
            for part, span in written.get(user, ()):
                paint(part, *span)
            continue
        for position, operand in enumerate(operands):
            paint(operand, *graph.occurrence(user, position))
    for _, node, span in graph.bindings:
        if node not in graph.called:
            paint(node, *span)
            paint(node, *graph.span(node))
        elif node in written:
            paint(node, *span)
    if graph.output not in graph.called:
        paint(graph.output, *graph.span(graph.output))
    for node, start, stop in named_nodes_in_text(graph, text[:end]):
        paint(node, start, stop)
    return owner


def parameter_scopes(text: str) -> Iterator[tuple[int, int, set[str]]]:
    """The definitions of functions in a text: starts, ends, and the names of the parameters."""
    for found in re.finditer(r"(?:^|[;\n])\s*(\w+\s*\(([\w\s,]*)\)\s*=(?!=))", text):
        depth, stop = 0, found.end()
        while stop < len(text) and (depth > 0 or text[stop] not in ";\n"):
            depth += (text[stop] in "([") - (text[stop] in ")]")
            stop += 1
        yield found.start(1), stop, {*re.findall(r"\w+", found[2])}


def named_nodes_in_text(graph: Graph, text: str) -> Iterator[tuple[int, int, int]]:
    """The names in a text that are those of nodes: another name for a node is no operand of anything.

    A parameter of a function is none of them.
    """
    nodes = dict(graph.inputs) | {binding.name: binding.node for binding in graph.bindings}
    definitions = [*parameter_scopes(text)] if graph.calls else []
    for token in language_parser().scan(text.isascii()).finditer(text):
        if token.lastgroup == "NAME":
            name = token["NAME"]
            if not name.isascii():
                from unicodedata import normalize

                name = normalize("NFC", name)
            at = token.start("NAME")
            if name in nodes and not any(
                start <= at < stop and name in names for start, stop, names in definitions
            ):
                yield nodes[name], *token.span("NAME")


def grad_level(found: float | None, top: float) -> int:
    """The level of a size, given the largest that is finite."""
    if found is None:
        return NONE
    if not math.isfinite(found):
        return INFINITE
    return max(math.ceil(PARTS * (found / top)), 1) if found else ZERO


def wrap_row(row: Sequence[Cell], width: int) -> Iterator[Sequence[Cell]]:
    """A line in rows that fit, broken where another node begins if that is near."""
    start = 0
    while True:
        stop, room = start, width
        while stop < len(row) and display_width(row[stop][0]) <= room:
            room -= display_width(row[stop][0])
            stop += 1
        if stop == len(row):
            break
        nearest = max(stop - width // 3, start)
        begins = (at for at in range(stop, nearest, -1) if row[at][1] != row[at - 1][1])
        stop = max(next(begins, stop), start + 1)
        yield row[start:stop]
        start = stop
        while start < len(row) and row[start][0] == " ":
            start += 1
    if start < len(row) or not row:
        yield row[start:]


def draw_map_row(row: Sequence[Cell], levels: Mapping[int, int], *, color: bool) -> list[str]:
    """A row in the colours of its levels; or the row, and the marks below it if there are any."""
    marks = "".join(MARKS[levels[node]] * display_width(character) for character, node in row)
    runs = groupby(row, key=lambda cell: cell[1])
    pieces = [(levels[node], "".join(character for character, _ in run)) for node, run in runs]
    line = left_to_right(
        "".join(
            color_text(text, COLORS.get(level, "")) if color else text for level, text in pieces
        )
    ).rstrip()
    return [line, marks.rstrip()] if marks.strip() and not color else [line]


def legend_words(
    called: str, levels: Set[int], top: float, digits: int, *, color: bool
) -> Iterator[str]:
    """The words of the legend, in colour or behind the marks that they explain."""
    meanings = {ZERO: "zero"} if ZERO in levels else {}
    if top:
        parts = range(1, PARTS + 1)
        meanings |= {part: f"to {decimal_text(top * (part / PARTS), digits)}" for part in parts}
    if INFINITE in levels:
        meanings[INFINITE] = "not finite"
    yield called if meanings else "nothing here has a grad"
    for level, words in meanings.items():
        yield color_text(words, COLORS.get(level, "")) if color else f"{MARKS[level]} {words}"


def wrap_words(words: Iterable[str], width: int) -> Iterator[str]:
    """Words in lines that fit."""
    line = ""
    for word in words:
        longer = f"{line}  {word}" if line else word
        if line and cell_width(longer) > width:
            yield line
            longer = word
        line = longer
    yield line
