"""How a derivative comes about, step by step, for people and as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from exprgrad.draw.text.formulas import infix_name
from exprgrad.explain.derivations.steps import Step
from exprgrad.graph.graph import Graph
from exprgrad.source import depths, display_width, printable

__all__ = ["fields", "lines"]

INDENT = "     "
SHORT = 60
"""How many characters of letters and what they stand for are on one line."""
BOLD, PLAIN = "\x1b[1m", "\x1b[0m"


def lines(
    graph: Graph, wrt: str, steps: Sequence[Step], *, width: int | None = None, color: bool = False
) -> Iterator[str]:
    """Each step under its rule, then the answer as ``diff`` prints it.

    A note is made once.  What is longer than ``width`` cells is broken; with no width, nothing is.
    ``color`` sets the rules and the answer in bold, for a terminal.
    """
    said: set[str] = set()
    for number, step in enumerate(steps, 1):
        notes = [note for note in step.notes if note not in said]
        said.update(notes)
        title = f"{number}. {step.rule}"
        heading = title + (": " if notes else "") + "; ".join(notes)
        first, *rest = wrapped(heading, width)
        yield from (bold(first, title) if color else first, *rest)
        if step is not steps[-1] or step.rule != "put together":
            yield from equations(step, wrt, width)
        yield ""
    name, answer = infix_name(graph, (wrt,)), steps[-1].formulas[-1]
    statements = answer.split("; ")
    final = list(broken(f"{name} = ", answer, width))
    if len(statements) > 1:
        final = [name, *(piece for s in statements for piece in broken("  ", s, width))]
    yield from (bold(piece, piece) for piece in final) if color else final


def equations(step: Step, wrt: str, width: int | None) -> Iterator[str]:
    """What a step's letters stand for, and what it finds."""
    parts = [
        f"{name} = {text}" + (f", d{name}/d{wrt} = {derivative}" if derivative else "")
        for name, text, derivative in step.parts
    ]
    together = ["; ".join(parts)] if 0 < sum(map(len, parts)) <= SHORT else parts
    for part in together:
        yield from broken(f"{INDENT}with ", part, width)
    if step.name:
        yield from broken(f"{INDENT}{step.name} = ", step.of, width)
    left = INDENT + printable(step.left)
    margin = " " * display_width(left)
    room = max(map(display_width, step.formulas))
    if width is not None and len(margin) + 3 + room > width:
        yield from broken(INDENT, step.left, width)
        left = margin = INDENT + " "
    for place, formula in enumerate(step.formulas):
        yield from broken(f"{margin if place else left} = ", formula, width)


def wrapped(line: str, width: int | None) -> list[str]:
    """A heading in lines no wider than ``width``, broken between words."""
    line, found = printable(line), []
    while width is not None and display_width(line) > width:
        at = line.rfind(" ", 4, len(beginning(line, width)) + 1)
        at = at if at > 0 else line.find(" ", 4)
        if at < 0:
            break
        found.append(line[:at])
        line = "   " + line[at + 1 :]
    return [*found, line]


def broken(start: str, formula: str, width: int | None) -> Iterator[str]:
    """A formula behind ``start``, in lines no wider than ``width`` where it can be broken."""
    formula = printable(formula)
    indent = " " * (display_width(start) + 2)
    while width is not None and display_width(start + formula) > width:
        at = break_at(formula, len(beginning(formula, width - display_width(start))))
        if at is None:
            break
        yield start + formula[:at].rstrip()
        start, formula = indent, formula[at:].lstrip()
    yield start + formula


def beginning(text: str, width: int) -> str:
    """As much of a text as ``width`` cells hold."""
    size = min(max(width, 0), len(text))
    while size and display_width(text[:size]) > width:
        size -= 1
    return text[:size]


def break_at(formula: str, room: int) -> int | None:
    """Where a formula is best broken, at most ``room`` characters in, if it can be; else further on.

    Outer sums come first, then outer products; what comes late is best.  A break is in front of a
    symbol, or behind a comma.
    """
    best, late, early = (0, 0), None, None
    for at, (character, depth) in enumerate(zip(formula, depths(formula), strict=True)):
        before, after = formula[at - 1 : at], formula[at + 1 : at + 2]
        blank = character == " " and (before in (",", ";") or after in tuple("+-<>=!"))
        factor = character == "*" or (character == "/" and after != "d")  # not within du/dx
        if at == 0 or not (blank or factor):
            continue
        cost = 2 * depth + (not blank), -at
        if at > room:
            return late or early or at
        if at <= room // 3:
            early = at
        elif late is None or cost <= best:
            best, late = cost, at
    return late or early


def bold(line: str, beginning: str) -> str:
    """A line with its beginning in bold."""
    size = min(len(beginning), len(line))
    return f"{BOLD}{line[:size]}{PLAIN}{line[size:]}"


def fields(steps: Sequence[Step]) -> list[dict[str, Any]]:
    """The steps for a JSON document; a name or a derivative that there is none of is null."""
    return [
        {
            "rule": step.rule,
            "notes": list(step.notes),
            "of": step.of,
            "name": step.name or None,
            "left": step.left,
            "formulas": list(step.formulas),
            "parts": [
                {"name": name, "text": text, "derivative": derivative or None}
                for name, text, derivative in step.parts
            ],
            "node": step.node,
            "span": list(step.span),
        }
        for step in steps
    ]
