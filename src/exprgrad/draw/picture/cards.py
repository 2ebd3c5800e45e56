"""A node's label: a card for an operation, a pill for an input, a quiet box for a constant."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from exprgrad.draw.picture import theme as look
from exprgrad.draw.picture.markup import RULER, cell, number, row, shown, table, text
from exprgrad.draw.text.table import minus
from exprgrad.draw.text.tensors import View, view
from exprgrad.graph.graph import CONST, INPUT
from exprgrad.graph.structural import shape_text
from exprgrad.language.write.infix import ATOM, label, operation_text
from exprgrad.run.result import Run
from exprgrad.source import cut

__all__ = ["node_label", "operation", "slot"]

NO_BREAK = "\u00a0"
"""A blank that browsers keep at the beginning of a text."""
PADDING = 3
"""Around data and grad."""
NAME, OPERATION, OPERAND = 40, 34, 10
"""The most characters shown of a name, of an operation, and of an operand that has no name in a long
operation."""


PICTURED = View(40, most=4, ends=False)
"""How much is shown of a tensor."""


def node_label(run: Run, node: int, digits: int, room: int = 0) -> str:
    """The label of a node with its data and grad, as far as the run has them.

    ``room`` is the least number of digits that there is room for beside data and grad.
    """
    kind = run.graph.kinds[node]
    width = look.digits_width(room, look.NODE, PADDING) if room else ""
    readings = [reading(*found, width) for found in readings_of(run, node, digits)]
    if node in run.graph.implicit:
        line, fill, inside = look.CONSTANT, look.CONSTANT, stretch(run, node)
    elif kind == INPUT:
        line, fill, inside = look.PILL_LINE, look.PILL, pill(run, node, readings)
    elif kind == CONST:
        line, fill, inside = look.CONSTANT, look.CONSTANT, card(run, node, [])
    else:
        line, fill, inside = look.LINE, look.CARD, card(run, node, readings)
    is_output = node == run.graph.output
    if is_output:
        inside.insert(0, row(cell(text("output", size="8.5", bold=True), colspan="2")))
    return table(
        row(
            slots(len(run.graph.operands[node])), cell(table(*inside, color=line), cellpadding="6")
        ),
        border="2.5" if is_output else "1",
        style="rounded",
        bgcolor=fill,
        color=look.INK if is_output else line,
    )


def card(run: Run, node: int, readings: list[str]) -> list[str]:
    """The rows of a card: the head, and under it data above a hairline and grad below."""
    head = [row(cell(heading(run, node), colspan="2", cellpadding="3"))]
    shape = shape_of(run, node)
    if shape:
        head.append(row(cell(quiet(shape), colspan="2", cellpadding="1")))
    return [*head, RULER.join(readings)] if readings else head


def pill(run: Run, node: int, readings: list[str]) -> list[str]:
    """The rows of a pill, which is low: the name stands left of data and grad."""
    shape = shape_of(run, node)
    if shape:
        lines = table(row(cell(heading(run, node))), row(cell(quiet(shape))))
        name = cell(lines, cellpadding="4")
    else:
        name = cell(heading(run, node), cellpadding="4")
    if not readings:
        return [row(name)]
    return [row(name, cell(table(RULER.join(readings), color=look.PILL_LINE)))]


def stretch(run: Run, node: int) -> list[str]:
    """The row of a node that broadcasting put in: low and quiet, for nobody wrote it."""
    (operand,) = run.graph.operands[node]
    words = f"{shown(run.label(operand), OPERAND)} as {shape_of(run, node)}"
    return [row(cell(quiet(words), cellpadding="2"))]


def shape_of(run: Run, node: int) -> str:
    """A tensor's shape; nothing for a number, or a constant whose numbers can be seen."""
    shape = () if run.shapes is None else run.shapes[node]
    seen = run.graph.kinds[node] == CONST and len(run.texts[node]) <= OPERATION
    return shape_text(shape) if shape and not seen else ""


def quiet(content: str) -> str:
    """A small grey text."""
    return text(content, size="8.5", colour=look.MUTED)


def heading(run: Run, node: int) -> str:
    """What a node is: its name in bold, and what it does."""
    kind, name = run.graph.kinds[node], run.names.get(node)
    if kind == INPUT:
        return text(shown(run.label(node), NAME), bold=True)
    does = shown(operation(run, node), OPERATION)
    if name is not None:
        return text(shown(name, NAME), bold=True) + text(f"{NO_BREAK}= {does}")
    return text(does, colour=look.MUTED) if kind == CONST else text(does, bold=True)


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


def readings_of(run: Run, node: int, digits: int) -> Iterator[tuple[str, str, str]]:
    """What is read on a node: a word, a number and its colour."""
    if not run.values or run.graph.kinds[node] == CONST:
        return
    yield "data", written(run.values[node], digits), look.DATA
    if run.adjoints is not None:
        grad = run.grad(node)
        yield "grad", "–" if grad is None else written(grad, digits), look.GRAD


def written(value: Any, digits: int) -> str:
    """A number, a small tensor's numbers, or a larger one's norm."""
    if not getattr(value, "shape", ()):
        return number(value, digits)
    return minus(view(value, digits, PICTURED))


def reading(word: str, value: str, colour: str, width: str) -> str:
    """A row with a quiet word on the left and a number on the right, in a cell at least so wide."""
    return row(
        cell(text(word, size="9", colour=look.MUTED), align="left", cellpadding=f"{PADDING}"),
        cell(text(value, colour=colour), align="right", cellpadding=f"{PADDING}", width=width),
    )


def slots(count: int) -> str:
    """An invisible column with a port for each operand, so that wires arrive in order."""
    if count < 2:
        return ""
    return cell(table(*(row(cell("", port=f"s{position}")) for position in range(count))))


def slot(count: int, position: int) -> str:
    """Where the wire of an operand arrives."""
    return f"s{position}:w" if count > 1 else "w"
