"""A node's label: a card for an operation, a pill for an input, a quiet box for a constant.

A card is plain data, pieces of text and what each of them is: Graphviz's label is made of it, and so the
page knows which of the texts that Graphviz placed is which.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import chain
from math import ceil
from typing import TYPE_CHECKING, Any, NamedTuple

from exprgrad.graph.graph import CONST, INPUT, Shape, size
from exprgrad.graph.op import GATES
from exprgrad.graph.ops import BY_NAME
from exprgrad.graph.structural import shape_text
from exprgrad.language.write.infix import ATOM, label, operation_text
from exprgrad.run.evaluation import Run
from exprgrad.show.picture import theme as look
from exprgrad.show.picture.markup import NAME, RULER, abridged, cell, row, shown, table, text
from exprgrad.show.text.nodes import call_kind, gate_of, title
from exprgrad.show.text.views import PICTURED, minus, view
from exprgrad.source import cut, display_width

if TYPE_CHECKING:
    from exprgrad.graph.calls import Closed

__all__ = [
    "Card", "Manner", "Piece", "card_of", "card_width", "inside_text", "map_size", "node_label",
    "node_tooltip", "operation", "slot", "tag",
]  # fmt: skip

NO_BREAK = "\u00a0"
"""A blank that browsers keep at the beginning of a text."""
PADDING = 3
"""Around data and grad."""
BOLD = 1.1
"""How much wider bold letters are."""
TOOLTIP, TAGGED = 200, 24
"""The most characters of a tooltip, and of what a wire comes from."""
ON_LINE, WHOLE_NAME = 40, 120
"""The most characters on a line of a heading, and of a name in several lines."""
OPERATION, OPERAND = 34, 10
"""The most characters shown of an operation, and of an operand that has no name in a
long operation."""
MAP_SIDE, MAP_WIDTH, MAP_HEIGHT = 16.0, 112.0, 96.0
"""How large a number's place in a tensor's map is at most, and the map itself, in points."""


class Manner(NamedTuple):
    """How a graph is drawn.

    ``digits``         the significant digits shown
    ``room``           the least number of digits that there is room for, where numbers will be replaced
    ``direction``      the way it runs, a key of ``DIRECTIONS``
    ``gates``          whether a card says what its operation does with its grad
    ``contributions``  whether a chip says what its edge added to a grad
    """

    digits: int = 6
    room: int = 0
    direction: str = "LR"
    gates: bool = False
    contributions: bool = False

    @property
    def sides(self) -> look.Direction:
        """Where wires leave and arrive."""
        return look.DIRECTIONS[self.direction]

    @property
    def is_across(self) -> bool:
        """Whether it runs from side to side."""
        return self.direction in ("LR", "RL")


class Piece(NamedTuple):
    """A piece of text, and what it is: a key of ``STYLES``."""

    role: str
    text: str


class Card(NamedTuple):
    """What is read on a node, from top to bottom.

    ``mark``      what stands above all else, if anything: each on a line of its own
    ``heading``   its name, what it does, or both, by lines
    ``note``      a tensor's shape, if it has to be said
    ``readings``  data and grad, each a word and a number
    """

    mark: tuple[Piece, ...]
    heading: tuple[tuple[Piece, ...], ...]
    note: tuple[Piece, ...]
    readings: tuple[tuple[Piece, Piece], ...]

    @property
    def pieces(self) -> list[Piece]:
        """All of them, in the order in which they are drawn."""
        return [*self.mark, *chain(*self.heading), *self.note, *chain(*self.readings)]


STYLES: dict[str, dict[str, Any]] = {
    "mark": {"size": "8.5", "bold": True},
    "alarm": {"size": "8.5", "bold": True, "colour": look.WRONG},
    "name": {"bold": True},
    "plain": {},
    "const": {"colour": look.MUTED},
    "note": {"size": "8.5", "colour": look.MUTED},
    "word": {"size": "9", "colour": look.MUTED},
    "data": {"colour": look.DATA},
    "grad": {"colour": look.GRAD},
}
"""What a piece of text is → how it looks."""


def card_of(run: Run, node: int, manner: Manner, alarms: Sequence[str] = ()) -> Card:
    """What is read on a node, as far as the run has it; or on the closed call that it is the result of.

    ``alarms`` are lines that say what is wrong there.
    """
    graph, kind = run.graph, run.graph.kinds[node]
    mark = tuple(Piece("alarm", minus(line)) for line in alarms)
    if node == graph.output:
        mark = (Piece("mark", "output"), *mark)
    if node in graph.implicit:  # low and quiet, for nobody wrote it
        operand = shown(run.label(graph.operands[node][0]), OPERAND)
        words = f"{operand} as {shape_text(graph.shape(node))}"
        if not manner.room:
            return Card(mark, (), (Piece("note", words),), ())
        # On the page it is stepped through, like any other.
        return Card(mark, ((Piece("plain", words),),), (), readings_of(run, node, manner))
    shape = graph.shape(node)
    seen = kind == CONST and len(run.texts[node]) <= OPERATION  # its numbers can be read
    notes = [shape_text(shape)] if shape and not seen else []
    if node in run.closed:
        notes.insert(0, inside_text(run, run.closed[node]))
    elif manner.gates and graph.operands[node]:
        notes.insert(0, gate_of(kind))
    note = (Piece("note", ", ".join(notes)),) if notes else ()
    readings = readings_of(run, node, manner) if run.values and kind != CONST else ()
    return Card(mark, heading(run, node, manner), note, readings)


def readings_of(run: Run, node: int, manner: Manner) -> tuple[tuple[Piece, Piece], ...]:
    """Data and grad, as far as the run has them."""
    found = [("data", run.values[node])]
    if run.adjoints is not None:
        found.append(("grad", run.grad(node)))
    return tuple(
        [
            (Piece("word", name), Piece(name, minus(view(value, manner.digits, PICTURED)) or "–"))
            for name, value in found
        ]
    )


def map_size(shape: Shape) -> tuple[int, int, float]:
    """The rows and columns in which a tensor's numbers are drawn, and the side of each, in points."""
    if not shape:
        return 0, 0, 0.0
    rows, columns = size(shape[:-1]), shape[-1]
    return rows, columns, min(MAP_SIDE, MAP_WIDTH / max(columns, 1), MAP_HEIGHT / max(rows, 1))


def inside_text(run: Run, closed: Closed) -> str:
    """What is behind a closed card, in a few words."""
    graph = run.graph
    count = sum(bool(graph.operands[n]) and n not in graph.implicit for n in closed.inside)
    kind = call_kind(closed.call)
    return f"{kind} of {count:,} operations" if count > 1 else kind


def heading(run: Run, node: int, manner: Manner) -> tuple[tuple[Piece, ...], ...]:
    """What a node is: its name, and what it does, or the closed call that it is.

    What is long stands on several lines, but on the page on one.
    """
    kind, name = run.graph.kinds[node], run.names.get(node)
    limit = NAME if manner.room else WHOLE_NAME
    if kind == INPUT:
        pieces = [Piece("name", shown(abridged(run.label(node), limit), limit))]
    else:
        does = shown(operation(run, node), OPERATION)
        if node in run.closed:
            does = shown(run.closed[node].call.label, limit)
        pieces = [Piece("const" if kind == CONST else "name", does)]
        if name is not None and (called := shown(abridged(name, limit), limit)) != does:
            pieces = [Piece("name", called), Piece("plain", f"{NO_BREAK}= {does}")]
    if manner.room or sum(display_width(piece.text) for piece in pieces) <= ON_LINE:
        return (tuple(pieces),)
    return tuple(
        [(piece._replace(text=line),) for piece in pieces for line in lines_of(piece.text)]
    )


def lines_of(name: str) -> list[str]:
    """A long name in lines, broken behind signs where it has some."""
    lines = [""]
    for part in re.findall(rf"[^\W_]{{1,{ON_LINE - 1}}}_?|_|\W", name):
        if display_width(lines[-1] + part) > ON_LINE:
            lines.append("")
        lines[-1] += part
    return [line.strip() for line in lines]


def node_label(run: Run, node: int, card: Card, manner: Manner) -> str:
    """The label of a node: its card in the colours of what it is, with places for wires to arrive."""
    kind, is_output = run.graph.kinds[node], node == run.graph.output
    width = look.digits_width(manner.room, look.NODE, PADDING) if manner.room else ""
    height = ""
    if manner.room and run.graph.shape(node):
        down, across, length = map_size(run.graph.shape(node))
        width, height = (str(ceil(count * length) + 2 * PADDING) for count in (across, down))
    readings = RULER.join(reading(*pair, width, height) for pair in card.readings)
    name, note = "<BR/>".join(map(styled, card.heading)), styled(card.note)
    line, fill = look.LINE, look.CARD
    if kind == CONST or not name:
        line = fill = look.CONSTANT
    elif kind == INPUT:
        line, fill = look.PILL_LINE, look.PILL
    if kind == INPUT:  # a pill is low: the name stands left of data and grad
        left = table(row(cell(name)), row(cell(note))) if note else name
        side = [cell(table(readings, color=line))] if readings else []
        inside = [row(cell(left, cellpadding="4"), *side)]
    elif not name:
        inside = [row(cell(note, cellpadding="2"))]
    else:
        inside = [row(cell(name, colspan="2", cellpadding="3"))]
        inside += [row(cell(note, colspan="2", cellpadding="1"))] if note else []
        inside += [readings] if readings else []
    inside = [*(row(cell(styled((piece,)), colspan="2")) for piece in card.mark), *inside]
    rim = look.INK if is_output else line
    if any(piece.role == "alarm" for piece in card.mark):
        rim = look.WRONG
    drawn = table(
        *with_slots(
            cell(table(*inside, color=line), cellpadding="6"), len(run.operands(node)), manner
        ),
        border="2.5" if is_output else "1",
        style="rounded",
        bgcolor=fill,
        color=rim,
    )
    if node not in run.closed:
        return drawn
    outline = {"border": "1", "cellpadding": "2", "style": "rounded", "color": line}
    return table(row(cell(drawn)), bgcolor=look.CHIP, **outline)


def node_tooltip(run: Run, node: int, alarm: str, manner: Manner) -> str:
    """What a node is, in one line, and what is worth knowing about it."""
    kind = run.graph.kinds[node]
    called = run.label(node) if kind == INPUT else title(run, node)
    parts = [alarm or called + shape_text(run.graph.shape(node), ", of shape {}", "")]
    if manner.gates and node not in run.closed and kind in BY_NAME:
        parts.append(f"{BY_NAME[kind].gate}: {GATES[BY_NAME[kind].gate]}")
    whole = "; ".join(parts)
    return shown(whole, len(whole) if kind == INPUT else TOOLTIP)


def card_width(run: Run, node: int, card: Card) -> float:
    """About how wide a card is drawn, in points."""
    names = max(
        [text_width(line) for line in [*card.heading, card.note, *zip(card.mark)]], default=0.0
    )
    numbers = max([text_width(pair) for pair in card.readings], default=0.0) + 4 * PADDING
    inside = names + numbers if run.graph.kinds[node] == INPUT else max(names, numbers)
    return inside + 20


def text_width(pieces: Iterable[Piece]) -> float:
    """About how wide some pieces of text are side by side, in points."""
    width = 0.0
    for piece in pieces:
        style = STYLES[piece.role]
        letter = look.DIGIT * (BOLD if style.get("bold") else 1)
        width += (
            letter * float(style.get("size", look.NODE["fontsize"])) * display_width(piece.text)
        )
    return width


def tag(number: int, called: str) -> str:
    """The label where a wire goes on in another row: a number, and what it comes from."""
    inside = text(f"{number}", bold=True)
    if called:
        inside += text(f"{NO_BREAK}{NO_BREAK}{shown(called, TAGGED)}", colour=look.MUTED)
    return table(
        row(cell(inside)),
        border="1",
        cellpadding="4",
        style="rounded",
        bgcolor=look.CONSTANT,
        color=look.LINE,
    )


def styled(pieces: tuple[Piece, ...]) -> str:
    """Pieces of text side by side."""
    return "".join(text(piece.text, **STYLES[piece.role]) for piece in pieces)


def reading(word: Piece, number: Piece, width: str, height: str = "") -> str:
    """A row with a quiet word on the left and a number on the right, in a cell at least so large."""
    return row(
        cell(styled((word,)), align="left", cellpadding=f"{PADDING}"),
        cell(
            styled((number,)), align="right", cellpadding=f"{PADDING}", width=width, height=height
        ),
    )


def operation(run: Run, node: int) -> str:
    """What a node does to its operands; in a long text long operands are ``…``, long names are cut."""
    graph = run.graph
    operands = graph.operands[node]
    if not operands:
        return run.texts[node]
    settings = graph.payloads[node]
    called = [label(graph, operand, run.names, run.texts) for operand in operands]
    whole = operation_text(graph.kinds[node], called, spaced=True, settings=settings)
    if len(whole) <= OPERATION:
        return whole
    brief = [
        ("…", ATOM) if operand not in run.names and len(words) > OPERAND else (words, binds)
        for operand, (words, binds) in zip(operands, called, strict=True)
    ]
    for room in range(OPERATION, 0, -1):
        parts = [
            ((abridged if len(words) > NAME else cut)(words, room), binds) for words, binds in brief
        ]
        text = operation_text(graph.kinds[node], parts, spaced=True, settings=settings)
        if len(text) <= OPERATION:
            break
    return text


def with_slots(card: str, count: int, manner: Manner) -> list[str]:
    """The rows of a table around a card, with an invisible port for each operand.

    They stand on the side that wires arrive at, so that these do it in order.
    """
    if count < 2:
        return [row(card)]
    ports = [cell("", port=f"s{position}") for position in range(count)]
    side = manner.sides.arrive
    if side in "ns":
        rows = [row(cell(table(row(*ports)))), row(card)]
        return rows if side == "n" else rows[::-1]
    column = cell(table(*map(row, ports)))
    return [row(column, card) if side == "w" else row(card, column)]


def slot(count: int, position: int, manner: Manner) -> str:
    """Where the wire of an operand arrives."""
    side = manner.sides.arrive
    return f"s{position}:{side}" if count > 1 else side
