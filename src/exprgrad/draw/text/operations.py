"""The op table as people read it: an overview, one operation in full, and a JSON document."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from textwrap import wrap
from typing import Any

from exprgrad.derive.rules import template
from exprgrad.draw.documents.document import envelope
from exprgrad.draw.text.conventions import convention_fields, convention_lines
from exprgrad.draw.text.structural_operations import pairs as structural_pairs
from exprgrad.draw.text.structural_operations import (
    row_fields,
    structural_overview,
    structural_usage,
)
from exprgrad.draw.text.table import Column, Table
from exprgrad.errors import RequestError
from exprgrad.graph.ops import BY_INFIX, BY_NAME, FAMILIES, OPS, Op, member
from exprgrad.graph.structural import Structural
from exprgrad.graph.tensors import STRUCTURAL, WORDS
from exprgrad.language.write.infix import ATOM, operation_text
from exprgrad.source import Source, depths

__all__ = ["Row", "details", "document", "find", "overview", "overview_parts", "usage"]

WIDTH = 90
"""Where the lines of an operation in full are broken, in columns."""
BREAK = re.compile(r"(?<=,) | (?=[+-] )")
"""Where a formula may be broken: behind a comma, or before a sum's sign."""


Row = Op | Structural
"""A row of the op table: elementwise, number by number, or structural, which sees shapes."""
SYMBOLS = {"**": "pow", ".T": "transpose", "T": "transpose", "[]": "index", "x[]": "index"}
"""What people also call an operation that is written with symbols."""
ELEMENTWISE, STRUCTURED = (
    "Elementwise: number by number",
    "Structural: of vectors, matrices and tensors",
)


def find(name: str | None) -> Sequence[Row]:
    """All rows, or those of that name or symbol; an error with a suggestion where there is none.

    ``max`` and its like are names of two: of several numbers, and of all in a tensor.
    """
    if name is None:
        return (*OPS, *STRUCTURAL.values())
    known = SYMBOLS.get(name, name)
    structural = [
        row for row in STRUCTURAL.values() if known and known in (row.word, row.name, row.infix)
    ]
    op = BY_NAME.get(known) or BY_INFIX.get(known)
    if known in FAMILIES:
        op = member(FAMILIES[known], FAMILIES[known].least)
    found: list[Row] = [op, *structural] if op else [*structural]
    if found:
        return found
    from exprgrad.language.mistakes.foreign import NAMES_HERE, spelled_here
    from exprgrad.language.mistakes.hints import nearest_operation

    meant = NAMES_HERE.get(name) or nearest_operation(name, [*BY_NAME, *WORDS])
    help = f"did you mean '{meant}'?" if meant else "'exprgrad ops' lists the operations"
    if spelled_here(name):
        help = f"that is written {spelled_here(name)}"
    source = Source(name, is_expression=False)
    message = f"there is no operation '{name}'"
    raise RequestError("unknown-operation", message, source=source, span=(0, len(name)), help=help)


def overview_parts(rows: Sequence[Row]) -> Iterator[str | Table]:
    """The rows a line each, in a table for each of the two sorts, under its title."""
    ops = [row for row in rows if isinstance(row, Op)]
    structural = [row for row in rows if isinstance(row, Structural)]
    yield from (f"{ELEMENTWISE}\n", overview(ops), f"\n{STRUCTURED}\n")
    yield structural_overview(structural)


def usage(op: Row) -> str:
    """How the operation is written."""
    if isinstance(op, Structural):
        return structural_usage(op)
    names = ("x", "y", "…") if op.variadic else op.names
    return operation_text(op.name, [(name, ATOM) for name in names], spaced=True)


def derivatives(op: Op) -> list[tuple[str, str]]:
    """Each operand with its local derivative as people read it."""
    return [(name, op.shown_partial(position)) for position, name in enumerate(op.names)]


def overview(rows: Sequence[Op]) -> Table:
    """The elementwise operations, a line each."""
    columns = [
        Column("operation", style="bold"),
        Column("local derivatives", flexible=True, style="yellow"),
        Column("domain", style="dim", expendable=1),
        Column("gate", expendable=2),
    ]
    lines = [
        [
            usage(op),
            ",  ".join(rule for _, rule in derivatives(op)),
            "see ops " + op.name if op.domain_words else op.domain,
            op.gate,
        ]
        for op in rows
    ]
    foot = "'exprgrad ops NAME' shows one in full; 'out' is the operation's own result"
    return Table(columns, lines, foot=foot)


def details(op: Row) -> str:
    """One operation in full."""
    pairs = list(structural_pairs(op) if isinstance(op, Structural) else elementwise_pairs(op))
    width = max(len(label) for label, _ in pairs)
    lines = [
        f"  {label if first else '':<{width}}  {line}\n"
        for label, text in pairs
        for first, line in marked(fitted(label, text, WIDTH - width - 4))
    ]
    head = wrap(f"{usage(op)}: {op.about}", WIDTH, subsequent_indent="    ")
    return "\n".join(head) + "\n" + "".join(lines) + at_critical_points(op)


def at_critical_points(op: Row) -> str:
    """What a row answers where that is a convention, below an empty line; or nothing."""
    lines = [] if isinstance(op, Structural) else [*convention_lines(op)]
    return "".join(f"{line}\n" for line in ["", *lines]) if lines else ""


def elementwise_pairs(op: Op) -> Iterator[tuple[str, str]]:
    """An elementwise row in full, as labels and texts."""
    yield from rules(op)
    yield from companions(op)
    if op.definition:
        yield "the same as", op.definition
    if op.domain:
        yield "domain", op.domain_words or op.domain
    for where, value in op.poles:
        yield "pole", f"{value} where {where}"
    for s in op.special:
        yield s.code, f"where {s.where}: {s.why}"
    yield "gate", op.gate
    yield "accuracy", accuracy(op)
    if op.caveat:
        yield "but", op.caveat


def rules(op: Op) -> Iterator[tuple[str, str]]:
    """The local derivatives, as people read them and as they are computed, a statement a line.

    What several begin with is told once.
    """
    programs = [partial.split("; ") for partial in op.partials]
    shared = programs[0][:-1]
    if len(programs) == 1 or any(program[:-1] != shared for program in programs):
        shared = []
    for (name, shown), program in zip(derivatives(op), programs, strict=True):
        yield f"for {name}", shown
        own = program[len(shared) :]
        for position, statement in enumerate(own if own != [shown] else []):
            yield "" if position else "  computed", statement
    for position, statement in enumerate(shared):
        yield "" if position else "with", statement


def companions(op: Op) -> Iterator[tuple[str, str]]:
    """What the names mean that stand in a row's rules beside its operands and ``out``."""
    if op.variadic:
        yield "ties", f"{op.ties_words}:"
        yield "", f"the sum over all operands of {op.ties}"
    texts = [*op.partials, *(s.where for s in op.special), *([op.ties] if op.ties else [])]
    used = {name for text in texts for name in template(text).inputs}
    if "varies" in used:
        yield "varies", "1 if the operand depends on an input, else 0"
    for name in op.names:
        if f"varies_{name}" in used:
            yield f"varies_{name}", f"1 if {name} depends on an input, else 0"


def accuracy(op: Op) -> str:
    """How near value and local derivatives are to the truth."""
    value, partial = (
        {0.0: "exact", 0.5: "correctly rounded"}.get(ulps, f"within {ulps:g} ulp")
        + (f" or {least:.2g}" if least else "")
        for ulps, least in ((op.value_ulp, op.value_abs), (op.partial_ulp, op.partial_abs))
    )
    if value == partial:
        return f"value and local derivatives {value}"
    return f"value {value}, local derivatives {partial}"


def marked(lines: Sequence[str]) -> Iterator[tuple[bool, str]]:
    """Each line, and whether it is the first."""
    return ((position == 0, line) for position, line in enumerate(lines))


def fitted(label: str, text: str, width: int) -> list[str]:
    """A text on lines of so many columns: prose between its words, a formula where it may be broken."""
    if label == "source":
        return wrap(text, width, subsequent_indent="  ")
    return folded(text, width)


def folded(text: str, width: int, indent: str = "") -> list[str]:
    """A text on lines of at most ``width`` columns, as far as it may be broken.

    It is broken at its outermost commas, or else at its outermost sums; what is still too long is
    broken again, further in.
    """
    if len(indent + text) <= width:
        return [indent + text]
    deep = depths(text)
    found = [(deep[m.start()], text[m.start() - 1] != ",", m) for m in BREAK.finditer(text)]
    if not found:
        return [indent + text]
    outermost = min((depth, is_sum) for depth, is_sum, _ in found)
    cuts = [m.start() for depth, is_sum, m in found if (depth, is_sum) == outermost]
    starts = [0, *(position + 1 for position in cuts)]
    pieces = [text[i:j] for i, j in zip(starts, [*cuts, len(text)], strict=True)]
    lines, further = [indent + pieces[0]], indent + "  "
    for piece in pieces[1:]:
        if len(lines[-1]) + 1 + len(piece) <= width:
            lines[-1] += f" {piece}"
        else:
            lines.append(further + piece)
    return [
        part
        for line in lines
        for part in folded(line.lstrip(), width, line[: len(line) - len(line.lstrip())])
    ]


def document(rows: Sequence[Row]) -> str:
    """The rows as a JSON document: elementwise and structural ones apart."""
    operations = [fields(row) for row in rows if isinstance(row, Op)]
    structural = [row_fields(row) for row in rows if isinstance(row, Structural)]
    return envelope("ops", operations=operations, structural=structural) + "\n"


def fields(op: Op) -> dict[str, Any]:
    """One row as JSON has it."""
    return {
        "name": op.name,
        "usage": usage(op),
        "operands": list(op.names),
        "variadic": op.variadic,
        "about": op.about,
        "partials": list(op.partials),
        "shown": list(op.shown or op.partials),
        "definition": op.definition or None,
        "domain": op.domain or None,
        "poles": [{"where": where, "value": value} for where, value in op.poles],
        "special": [{"where": s.where, "code": s.code, "why": s.why} for s in op.special],
        "gate": op.gate,
        "infix": op.infix or op.prefix or None,
        "latex": op.latex,
        "value_ulp": op.value_ulp,
        "value_abs": op.value_abs,
        "partial_ulp": op.partial_ulp,
        "partial_abs": op.partial_abs,
        "caveat": op.caveat or None,
        "conventions": convention_fields(op),
    }
