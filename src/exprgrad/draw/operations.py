"""The op table as people read it: an overview, one operation in full, and a JSON document."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from exprgrad.draw.document import envelope
from exprgrad.draw.table import Column, Table
from exprgrad.errors import RequestError
from exprgrad.graph.ops import BY_INFIX, BY_NAME, OPS, Op
from exprgrad.language.infix import ATOM, operation_text
from exprgrad.source import Source

__all__ = ["details", "document", "find", "overview", "usage"]


def find(name: str | None) -> Sequence[Op]:
    """All rows, or the one of that name or symbol; an error with a suggestion where there is none."""
    if name is None:
        return OPS
    op = BY_NAME.get(name) or BY_INFIX.get("^" if name == "**" else name)
    if op is not None:
        return (op,)
    from exprgrad.language.hints import OPERATOR_WORDS, OTHER_SPELLINGS, nearest

    known = OTHER_SPELLINGS.get(name) or nearest(name, [*BY_NAME, *OTHER_SPELLINGS])
    known = OTHER_SPELLINGS.get(known or "", known)
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
        Column("domain", style="dim"),
        Column("gate"),
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
    pairs: list[tuple[str, str]] = []
    for position, (name, shown) in enumerate(derivatives(op)):
        pairs.append((f"for {name}", shown))
        if op.partial(position) != shown:
            pairs.append(("  computed", op.partial(position)))
    if op.ties:
        pairs.append(("  ties", f"the sum over all operands of {op.ties}"))
    if op.definition:
        pairs.append(("the same as", op.definition))
    if op.domain:
        pairs.append(("domain", op.domain_words or op.domain))
    pairs += [("pole", f"{value} where {where}") for where, value in op.poles]
    pairs += [(s.code, f"where {s.where}: {s.why}") for s in op.special]
    pairs.append(("gate", op.gate))
    pairs.append(
        ("accuracy", f"value within {op.value_ulp:g} ulp, local derivatives {op.partial_ulp:g}")
    )
    width = max(len(label) for label, _ in pairs)
    return f"{usage(op)}: {op.about}\n" + "".join(
        f"  {label:<{width}}  {text}\n" for label, text in pairs
    )


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
    }
