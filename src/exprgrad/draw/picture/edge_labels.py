"""The chips on the edges: what each edge's local derivative is called, and its number."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from exprgrad.draw.picture import theme as look
from exprgrad.draw.picture.markup import cell, number, row, shown, table, text
from exprgrad.draw.text.sizes import jacobian_bytes
from exprgrad.graph.literal import Shape, size
from exprgrad.graph.ops import BY_NAME
from exprgrad.run.result import Edge, Run
from exprgrad.source import bytes_text, display_width

__all__ = ["Chip", "boxed", "wires"]

RULE, MATRIX_RULE = 24, 40
"""The most characters shown of a rule, and of one in matrix form."""
PADDING = 2
"""Around a chip's text."""
LEAST_BYTES = 1000
"""From which size on a chip says how large the Jacobian would be."""


class Chip(NamedTuple):
    """A chip's text, a quiet line below it, and what a browser shows when it is pointed at.

    ``formula`` is the text without its number, where the number depends on the inputs.
    """

    text: str
    note: str = ""
    tooltip: str = " "
    formula: str | None = None


Wire = tuple[Chip | None, bool]
"""The chip on an edge, if any, and whether a gradient can flow along it."""


def wires(
    run: Run, user: int, varies: bytearray, digits: int, *, all: bool = False
) -> Iterator[Wire]:
    """For each operand of a node: its edge's chip, and whether a gradient can flow.

    With ``all`` an edge that passes nothing, but would at other numbers, has a chip too.
    """
    operands = run.graph.operands[user]
    if run.adjoints is None:
        rules = rules_of(run, user, varies)
        for position, operand in enumerate(operands):
            yield (
                rules.get(position),
                bool(varies[operand]) and (run.shapes is None or position in rules),
            )
        return
    op = BY_NAME.get(run.graph.kinds[user])
    branches = op.branches if op else ()
    edges = {edge.position: edge for edge in run.edges_of(user)}
    for position in range(len(operands)):
        edge = edges.get(position)
        if edge is None:
            waits = all and op is not None and run.adjoints.active[operands[position]]
            yield waiting(run.rule(user, position)) if waits else None, False
        else:
            yield chip_of(edge, digits), position not in branches or not vanishes(edge.local)


def rules_of(run: Run, user: int, varies: bytearray) -> dict[int, Chip]:
    """By operand that varies: the chip of an edge without numbers.

    A structural edge has none where shapes are not known, for its rule depends on them.
    """
    operands = run.graph.operands[user]
    moving = [position for position, operand in enumerate(operands) if varies[operand]]
    if run.shapes is not None and moving:
        from exprgrad.run.edge_texts import pass_texts

        graph, shapes = run.graph, run.shapes
        texts = pass_texts(run, user)
        is_whole = graph.kinds[user] not in BY_NAME
        return {
            position: matrix_chip(text, (shapes[user], shapes[operands[position]]), is_whole)
            for position, text in texts.items()
        }
    if run.graph.kinds[user] not in BY_NAME:
        return {}
    return {position: Chip(shown(run.rule(user, position), RULE)) for position in moving}


def chip_of(edge: Edge, digits: int) -> Chip:
    """A chip with the edge's numbers."""
    if edge.jacobian is None or (edge.jacobian == ((), ()) and edge.local is not None):
        text, formula = with_value(edge.rule, edge.local, digits)
        return Chip(text, formula=formula)
    return matrix_chip(edge.rule, edge.jacobian, edge.local is None)


def matrix_chip(rule: str, shapes: tuple[Shape, Shape], is_whole: bool) -> Chip:
    """A chip in matrix form; where no diagonal does, with the size of the matrix that it stands for."""
    if shapes == ((), ()):
        return Chip(shown(rule, RULE))
    count = jacobian_bytes(shapes)
    rows, columns = (size(shape) for shape in shapes)
    sized = (
        f"the Jacobian, {rows:,} by {columns:,}, is never formed: it would be {bytes_text(count)}"
    )
    note = f"never formed: {bytes_text(count)}" if is_whole and count >= LEAST_BYTES else ""
    return Chip(shown(rule, MATRIX_RULE), note, sized)


def vanishes(local: Any) -> bool:
    """Whether a local derivative is 0, everywhere."""
    return local is not None and not (local.any() if hasattr(local, "any") else local)


def waiting(rule: str) -> Chip:
    """A chip whose number is not known."""
    if is_number(rule):
        return Chip(shown(rule, RULE))
    formula = f"{shown(rule, RULE)} = "
    return Chip(f"{formula}–", formula=formula)


def is_number(rule: str) -> bool:
    """Whether a rule is nothing but a number."""
    try:
        float(rule)
    except ValueError:
        return False
    return True


def with_value(rule: str, value: float, digits: int) -> tuple[str, str | None]:
    """A local derivative as formula and number, or as one where they are the same; and its formula."""
    if is_number(rule) and float(rule) == value:
        return number(value, digits), None
    formula = f"{shown(rule, RULE)} = "
    return formula + number(value, digits), formula


def boxed(chip: Chip, room: int = 0) -> str:
    """A label on an edge, on a ground of its own; ``room``: for so many digits of a changing number."""
    width = ""
    if room and chip.formula is not None:
        width = look.digits_width(display_width(chip.formula) + room, look.CHIP_NODE, PADDING)
    lines = [row(cell(text(chip.text), width=width))]
    if chip.note:
        lines.append(row(cell(text(chip.note, colour=look.MUTED, size="8"))))
    return table(
        *lines,
        border="1",
        cellpadding=f"{PADDING}",
        style="rounded",
        bgcolor=look.CHIP,
        color=look.CHIP_LINE,
    )
