"""The op table as people read it: an overview, one operation in full, and a JSON document."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from exprgrad.derive.rules import template
from exprgrad.draw.document import envelope
from exprgrad.draw.table import Column, Table
from exprgrad.errors import RequestError
from exprgrad.graph.ops import BY_INFIX, BY_NAME, OPS, Op
from exprgrad.language.infix import ATOM, operation_text
from exprgrad.source import Source

__all__ = ["details", "document", "find", "overview", "usage"]

WIDTH = 90
"""Where the lines of an operation in full are broken, in columns."""
BREAK = re.compile(r"(?<=,) | (?=[+-] )")
"""Where a formula may be broken: behind a comma, or before a sum's sign."""


def find(name: str | None) -> Sequence[Op]:
    """All rows, or the one of that name or symbol; an error with a suggestion where there is none."""
    if name is None:
        return OPS
    op = BY_NAME.get(name) or BY_INFIX.get("^" if name == "**" else name)
    if op is not None:
        return (op,)
    from exprgrad.language.hints import OPERATOR_WORDS, OTHER_SPELLINGS, nearest_operation

    known = OTHER_SPELLINGS.get(name) or nearest_operation(name, BY_NAME)
    help = f"did you mean '{known}'?" if known else "'exprgrad ops' lists the operations"
    if name in OPERATOR_WORDS:
        help = f"that is written {OPERATOR_WORDS[name]}"
    source = Source(name, is_expression=False)
    message = f"there is no operation '{name}'"
    raise RequestError("unknown-operation", message, source=source, span=(0, len(name)), help=help)


def usage(op: Op) -> str:
    """How the operation is written."""
    names = ("x", "y", "…") if op.variadic else op.names
    return operation_text(op.name, [(name, ATOM) for name in names], spaced=True)


def derivatives(op: Op) -> list[tuple[str, str]]:
    """Each operand with its local derivative as people read it."""
    return [(name, op.shown_partial(position)) for position, name in enumerate(op.names)]


def overview(rows: Sequence[Op]) -> Table:
    """All operations, a line each."""
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


def details(op: Op) -> str:
    """One operation in full."""
    pairs = [*rules(op), *companions(op)]
    if op.definition:
        pairs.append(("the same as", op.definition))
    if op.domain:
        pairs.append(("domain", op.domain_words or op.domain))
    pairs += [("pole", f"{value} where {where}") for where, value in op.poles]
    pairs += [(s.code, f"where {s.where}: {s.why}") for s in op.special]
    pairs += [("gate", op.gate), ("accuracy", accuracy(op))]
    if op.caveat:
        pairs.append(("but", op.caveat))
    width = max(len(label) for label, _ in pairs)
    lines = [
        f"  {label if first else '':<{width}}  {line}\n"
        for label, text in pairs
        for first, line in marked(folded(text, WIDTH - width - 4))
    ]
    return f"{usage(op)}: {op.about}\n" + "".join(lines)


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
        for ulps in (op.value_ulp, op.partial_ulp)
    )
    if value == partial:
        return f"value and local derivatives {value}"
    return f"value {value}, local derivatives {partial}"


def marked(lines: Sequence[str]) -> Iterator[tuple[bool, str]]:
    """Each line, and whether it is the first."""
    return ((position == 0, line) for position, line in enumerate(lines))


def folded(text: str, width: int, indent: str = "") -> list[str]:
    """A text on lines of at most ``width`` columns, as far as it may be broken.

    It is broken at its outermost commas, or else at its outermost sums; what is still too long is
    broken again, further in.
    """
    if len(indent + text) <= width:
        return [indent + text]
    found = [
        (depth_at(text, m.start()), text[m.start() - 1] != ",", m) for m in BREAK.finditer(text)
    ]
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


def depth_at(text: str, position: int) -> int:
    """How many parentheses are open at a position."""
    return text.count("(", 0, position) - text.count(")", 0, position)


def document(rows: Sequence[Op]) -> str:
    """The rows as a JSON document."""
    return envelope("ops", operations=[fields(op) for op in rows]) + "\n"


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
        "partial_ulp": op.partial_ulp,
        "caveat": op.caveat or None,
    }
