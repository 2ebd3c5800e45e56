"""A node's label: a card for an operation, a pill for an input, a quiet box for a constant.

A card is plain data, pieces of text and what each of them is: Graphviz's label is made of it, and so the
page knows which of the texts that Graphviz placed is which.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from exprgrad.graph.graph import CONST, INPUT
from exprgrad.graph.structural import shape_text
from exprgrad.language.write.infix import ATOM, label, operation_text
from exprgrad.run.evaluation import Run
from exprgrad.show.picture import theme as look
from exprgrad.show.picture.markup import RULER, cell, row, shown, table, text
from exprgrad.show.text.nodes import call_kind
from exprgrad.show.text.views import View, minus, view
from exprgrad.source import cut

if TYPE_CHECKING:
    from exprgrad.graph.calls import Closed

__all__ = ["Card", "Piece", "card_of", "inside_text", "node_label", "operation", "slot"]

NO_BREAK = "\u00a0"
"""A blank that browsers keep at the beginning of a text."""
PADDING = 3
"""Around data and grad."""
NAME, OPERATION, OPERAND = 40, 34, 10
"""The most characters shown of a name, of an operation, and of an operand that has no name in a long
operation."""
PICTURED = View(40, most=4, ends=False)
"""How much is shown of a tensor."""


class Piece(NamedTuple):
    """A piece of text, and what it is: a key of ``STYLES``."""

    role: str
    text: str


class Card(NamedTuple):
    """What is read on a node, from top to bottom.

    ``mark``      what stands above all else, if anything
    ``heading``   its name, what it does, or both
    ``note``      a tensor's shape, if it has to be said
    ``readings``  data and grad, each a word and a number
    """

    mark: tuple[Piece, ...]
    heading: tuple[Piece, ...]
    note: tuple[Piece, ...]
    readings: tuple[tuple[Piece, Piece], ...]

    @property
    def pieces(self) -> list[Piece]:
        """All of them, in the order in which they are drawn."""
        return [*self.mark, *self.heading, *self.note, *(p for pair in self.readings for p in pair)]


STYLES: dict[str, dict[str, Any]] = {
    "mark": {"size": "8.5", "bold": True},
    "name": {"bold": True},
    "plain": {},
    "const": {"colour": look.MUTED},
    "note": {"size": "8.5", "colour": look.MUTED},
    "word": {"size": "9", "colour": look.MUTED},
    "data": {"colour": look.DATA},
    "grad": {"colour": look.GRAD},
}
"""What a piece of text is → how it looks."""


def card_of(run: Run, node: int, digits: int) -> Card:
    """What is read on a node, as far as the run has it; or on the closed call that it is the result of."""
    graph, kind = run.graph, run.graph.kinds[node]
    mark = (Piece("mark", "output"),) if node == graph.output else ()
    if node in graph.implicit:  # low and quiet, for nobody wrote it
        operand = shown(run.label(graph.operands[node][0]), OPERAND)
        return Card(mark, (), (Piece("note", f"{operand} as {shape_text(graph.shape(node))}"),), ())
    shape = graph.shape(node)
    seen = kind == CONST and len(run.texts[node]) <= OPERATION  # its numbers can be read
    notes = [shape_text(shape)] if shape and not seen else []
    if node in run.closed:
        notes.insert(0, inside_text(run, run.closed[node]))
    note = (Piece("note", ", ".join(notes)),) if notes else ()
    readings = [("data", run.values[node])] if run.values and kind != CONST else []
    if readings and run.adjoints is not None:
        readings.append(("grad", run.grad(node)))
    pairs = tuple(
        [
            (Piece("word", name), Piece(name, minus(view(value, digits, PICTURED)) or "–"))
            for name, value in readings
        ]
    )
    return Card(mark, heading(run, node), note, pairs)


def inside_text(run: Run, closed: Closed) -> str:
    """What is behind a closed card, in a few words."""
    graph = run.graph
    count = sum(bool(graph.operands[n]) and n not in graph.implicit for n in closed.inside)
    kind = call_kind(closed.call)
    return f"{kind} of {count:,} operations" if count > 1 else kind


def heading(run: Run, node: int) -> tuple[Piece, ...]:
    """What a node is: its name, and what it does, or the closed call that it is."""
    kind, name = run.graph.kinds[node], run.names.get(node)
    if kind == INPUT:
        return (Piece("name", shown(run.label(node), NAME)),)
    does = shown(operation(run, node), OPERATION)
    if node in run.closed:
        does = shown(run.closed[node].call.label, NAME)
    if name is not None and shown(name, NAME) != does:
        return Piece("name", shown(name, NAME)), Piece("plain", f"{NO_BREAK}= {does}")
    return (Piece("const" if kind == CONST else "name", does),)


def node_label(run: Run, node: int, digits: int, room: int = 0) -> str:
    """The label of a node with its data and grad, as far as the run has them.

    ``room`` is the least number of digits that there is room for beside data and grad.
    """
    card = card_of(run, node, digits)
    kind, is_output = run.graph.kinds[node], node == run.graph.output
    width = look.digits_width(room, look.NODE, PADDING) if room else ""
    readings = RULER.join(reading(*pair, width) for pair in card.readings)
    title, note = styled(card.heading), styled(card.note)
    line, fill = look.LINE, look.CARD
    if node in run.graph.implicit or kind == CONST:
        line = fill = look.CONSTANT
    elif kind == INPUT:
        line, fill = look.PILL_LINE, look.PILL
    if kind == INPUT:  # a pill is low: the name stands left of data and grad
        name = table(row(cell(title)), row(cell(note))) if note else title
        side = [cell(table(readings, color=line))] if readings else []
        inside = [row(cell(name, cellpadding="4"), *side)]
    elif not title:
        inside = [row(cell(note, cellpadding="2"))]
    else:
        inside = [row(cell(title, colspan="2", cellpadding="3"))]
        inside += [row(cell(note, colspan="2", cellpadding="1"))] if note else []
        inside += [readings] if readings else []
    if card.mark:
        inside.insert(0, row(cell(styled(card.mark), colspan="2")))
    drawn = table(
        row(
            slots(len(run.operands(node))),
            cell(table(*inside, color=line), cellpadding="6"),
        ),
        border="2.5" if is_output else "1",
        style="rounded",
        bgcolor=fill,
        color=look.INK if is_output else line,
    )
    if node not in run.closed:
        return drawn
    rim = {"border": "1", "cellpadding": "2", "style": "rounded", "color": line}
    return table(row(cell(drawn)), bgcolor=look.CHIP, **rim)


def styled(pieces: tuple[Piece, ...]) -> str:
    """Pieces of text side by side."""
    return "".join(text(piece.text, **STYLES[piece.role]) for piece in pieces)


def reading(word: Piece, number: Piece, width: str) -> str:
    """A row with a quiet word on the left and a number on the right, in a cell at least so wide."""
    return row(
        cell(styled((word,)), align="left", cellpadding=f"{PADDING}"),
        cell(styled((number,)), align="right", cellpadding=f"{PADDING}", width=width),
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
        parts = [(cut(words, room), binds) for words, binds in brief]
        text = operation_text(graph.kinds[node], parts, spaced=True, settings=settings)
        if len(text) <= OPERATION:
            break
    return text


def slots(count: int) -> str:
    """An invisible column with a port for each operand, so that wires arrive in order."""
    if count < 2:
        return ""
    return cell(table(*(row(cell("", port=f"s{position}")) for position in range(count))))


def slot(count: int, position: int) -> str:
    """Where the wire of an operand arrives."""
    return f"s{position}:w" if count > 1 else "w"
