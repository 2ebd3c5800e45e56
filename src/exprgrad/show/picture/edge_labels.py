"""The chips on the edges: what each edge's local derivative is called, and its number."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from exprgrad.graph.graph import size
from exprgrad.graph.ops import BY_NAME
from exprgrad.graph.structural import shape_text
from exprgrad.run.evaluation import Run
from exprgrad.show.documents.runs import jacobian_bytes
from exprgrad.show.picture import theme as look
from exprgrad.show.picture.cards import Manner
from exprgrad.show.picture.markup import NAME, abridged, cell, row, shown, table, text
from exprgrad.show.text.mathematics import mathematics
from exprgrad.show.text.views import PICTURED, minus, signed, view
from exprgrad.source import bytes_text, display_width

__all__ = ["Chip", "Wire", "boxed", "chip_width", "wires"]

RULE, MATRIX_RULE = 24, 40
"""The most characters shown of a rule, and of one in matrix form."""
PADDING = 2
"""Around a chip's text."""
LEAST_BYTES = 1000
"""From which size on a chip says how large the Jacobian would be."""


class Chip(NamedTuple):
    """A chip's text, a quiet line below it, and what a browser shows when it is pointed at.

    ``formula`` is the text without its number, where the number depends on the inputs; ``passed`` says
    what the edge added to a grad.
    """

    text: str
    note: str = ""
    tooltip: str = " "
    formula: str | None = None
    passed: str = ""


Wire = tuple[Chip | None, bool]
"""The chip on an edge, if any, and whether a gradient can flow along it."""


def wires(run: Run, user: int, manner: Manner, *, all: bool = False) -> Iterator[Wire]:
    """For each operand of a node, or of a closed call: its edge's chip, and whether a gradient can flow.

    With ``all`` an edge that passes nothing, but would at other numbers, has a chip too.  On the page
    chips say the operand's shape.
    """
    if user in run.closed:
        yield from call_wires(run, user, manner, all=all)
        return
    operands, op = run.graph.operands[user], BY_NAME.get(run.graph.kinds[user])
    if run.adjoints is None:
        moving = [run.varying[operand] for operand in operands]
        rules = run.rules(user) if any(moving) else None
        for position, moves in enumerate(moving):
            rule = rules(position) if rules and moves else None
            chip = rule_chip(run, user, position, rule, is_whole=op is None) if rule else None
            yield chip, rule is not None
        return
    branches = op.branches if op else ()
    edges = {edge.position: edge for edge in run.edges_of(user)}
    for position, operand in enumerate(operands):
        edge = edges.get(position)
        if edge is None and not (all and run.adjoints.active[operand]):
            yield None, False
            continue
        rule, local = (edge.rule, edge.local) if edge else (run.rule(user, position), None)
        if op is None or run.graph.shape(user) or run.graph.shape(operand):
            is_whole = edge is not None and local is None
            chip = rule_chip(
                run, user, position, rule, is_whole=is_whole, with_shape=manner.room > 0
            )
        else:
            chip = number_chip(rule, local, manner.digits)
        if edge is None:
            yield chip, False
            continue
        flows = position not in branches or not vanishes(edge.local)
        if manner.contributions and flows and edge.contribution is not None:
            told = passed(run.grad(user), edge.local, edge.contribution, manner.digits)
            chip = chip._replace(passed=told)
        yield chip, flows


def passed(grad: Any, local: Any, contribution: Any, digits: int) -> str:
    """What went along an edge: ``0.5 × −3 = −1.5``; of a tensor, its numbers or their norm."""
    if all(isinstance(number, float) for number in (grad, local, contribution)):
        grad, local, contribution = (signed(x, digits) for x in (grad, local, contribution))
        return f"{grad} × {local} = {contribution}"
    return "+= " + minus(view(contribution, digits, PICTURED))


def call_wires(run: Run, user: int, manner: Manner, *, all: bool) -> Iterator[Wire]:
    """The same of a closed call: its local derivatives are numbers, once it has been swept."""
    closed = run.closed[user]
    slopes, grad = run.slopes(closed), run.grad(user)
    for operand in closed.operands:
        if run.adjoints is None:
            yield None, bool(run.varying[operand])
            continue
        local = slopes.get(operand)
        waits = all and run.adjoints.active[operand]
        text = "–" * waits if local is None else signed(local, manner.digits)
        is_told = manner.contributions and local is not None and isinstance(grad, float)
        added = passed(grad, local, grad * local, manner.digits) if is_told else ""
        yield Chip(text, formula="", passed=added) if text else None, operand in slopes


def rule_chip(
    run: Run, user: int, position: int, rule: str, *, is_whole: bool, with_shape: bool = False
) -> Chip:
    """A chip without a number; ``is_whole`` if no diagonal stands for the Jacobian, whose size it tells.

    ``with_shape`` if it tells that of what runs along the wire.
    """
    ends = run.graph.shape(user), run.graph.shape(run.graph.operands[user][position])
    if ends == ((), ()):
        return Chip(brief(rule))
    count = jacobian_bytes(ends)
    rows, columns = map(size, ends)
    sized = (
        f"the Jacobian, {rows:,} by {columns:,}, is never formed: it would be {bytes_text(count)}"
    )
    note = f"never formed: {bytes_text(count)}" if is_whole and count >= LEAST_BYTES else ""
    if with_shape and ends[1]:
        note = ", ".join(filter(None, [shape_text(ends[1]), note]))
    return Chip(shown(rule, MATRIX_RULE), note, sized)


def number_chip(rule: str, local: float | None, digits: int) -> Chip:
    """A local derivative as formula and number, or as one where they are the same; None: not known."""
    if is_numeral(rule) and local in (None, float(rule)):
        return Chip(brief(rule) if local is None else signed(local, digits))
    formula = f"{brief(rule)} = "
    return Chip(formula + ("–" if local is None else signed(local, digits)), formula=formula)


def brief(rule: str) -> str:
    """A rule, as much as is shown of it; one that is a long name keeps its end."""
    is_name = len(rule) > NAME and rule.isidentifier()
    return shown(abridged(rule, RULE) if is_name else rule, RULE)


def is_numeral(rule: str) -> bool:
    """Whether a rule is nothing but a number."""
    try:
        float(rule)
    except ValueError:
        return False
    return True


def vanishes(local: Any) -> bool:
    """Whether a local derivative is 0, everywhere."""
    return local is not None and not (local.any() if hasattr(local, "any") else local)


def chip_width(chip: Chip) -> float:
    """About how wide a chip is drawn, in points."""
    size = float(look.CHIP_NODE["fontsize"])
    longest = max(map(display_width, (chip.text, chip.note, chip.passed)))
    return look.DIGIT * size * longest + 4 * PADDING


def boxed(chip: Chip, room: int = 0) -> str:
    """A label on an edge, on a ground of its own; ``room``: for so many digits of a changing number."""
    width = ""
    if room:
        chip = chip._replace(text=mathematics(chip.text))
    if room and chip.formula is not None:
        width = look.digits_width(display_width(chip.formula) + room, look.CHIP_NODE, PADDING)
    lines = [row(cell(text(chip.text), width=width))]
    if chip.note:
        lines.append(row(cell(text(chip.note, colour=look.MUTED, size="8"))))
    if chip.passed:
        lines.append(row(cell(text(chip.passed, colour=look.GRAD))))
    padding = PADDING + bool(chip.passed)
    return table(
        *lines,
        border="1",
        cellpadding=f"{padding}",
        style="rounded",
        bgcolor=look.CHIP,
        color=look.CHIP_LINE,
    )
