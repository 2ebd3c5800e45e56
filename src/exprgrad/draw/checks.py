"""Checks as a table, as JSON and CSV, as lines for scripts, and as diagnostics with their places."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from exprgrad.draw.document import SCHEMA, array, csv_line, finite, text
from exprgrad.draw.table import Column, Table, decimal, left_out_of
from exprgrad.explain.checking.check import Check
from exprgrad.explain.diagnostics import Diagnostic
from exprgrad.run.result import Run
from exprgrad.source import printable

__all__ = [
    "check_csv", "check_diagnostics", "check_foot", "check_json", "check_lines", "check_table",
]  # fmt: skip

NUMBERS = ("analytic", "numeric", "error", "left", "right")
WIDEST = 72
"""The longest message that stands in a table; a longer one is a warning alone."""


def check_table(checks: Sequence[Check], digits: int, foot: str, *, whole: bool = False) -> Table:
    """A line for each check: the two numbers, what the numeric one may be off by, and the verdict."""
    claims = any(check.claim is not None for check in checks)
    columns = [
        Column("claim" if claims else "input", flexible=True),
        Column("true" if claims else "analytic", is_number=True, style="yellow"),
        Column("claimed" if claims else "numeric", is_number=True, style="green", expendable=1),
        Column("error", is_number=True, style="dim", expendable=2),
        Column("verdict", flexible=True),
    ]
    shown, left_out = left_out_of(len(checks), all_nodes=whole)
    rows = []
    for check in (checks[place] for place in shown):
        fits = check.verdict == "agrees" or len(check.message) <= WIDEST
        cells = [
            check.input if check.claim is None else f"{check.input} = {check.claim}",
            decimal(check.analytic, digits),
            decimal(check.numeric, digits),
            decimal(check.error, 2),
            check.message if fits else check.verdict,
        ]
        rows.append([printable(cell) for cell in cells])
    if claims:
        del columns[3]
        rows = [[*row[:3], row[4]] for row in rows]
    return Table(columns, rows, left_out, foot, what="checks")


def fields(check: Check) -> dict[str, Any]:
    """A check as JSON has it."""
    found: dict[str, Any] = {"input": check.input}
    found |= {name: finite(getattr(check, name)) for name in NUMBERS}
    found |= {"verdict": check.verdict, "message": check.message}
    if check.node is not None:
        found["node"] = check.node
    if check.claim is not None:
        found["claim"] = check.claim
        point = check.point
        found["point"] = point and {name: finite(value) for name, value in point.items()}
    return found


def check_json(
    expression: str,
    inputs: Mapping[str, Any],
    value: float | None,
    checks: Sequence[Check],
    *,
    whole: bool = False,
) -> Iterator[str]:
    """The document; ``value`` is None where claims were checked at points of our choice.

    ``whole`` leaves no tensor out.
    """
    from exprgrad.draw.tensor_document import Short, pieces

    yield text({"schema": SCHEMA, "command": "check", "expression": expression})[:-1]
    yield ', "inputs": '
    yield from pieces({name: Short(given) for name, given in inputs.items()}, whole=whole)
    if value is not None:
        yield f', "value": {text(finite(value))}'
    yield from array("checks", map(fields, checks))
    told = [check for check in checks if check.claim is None]
    yield from array("diagnostics", (each._asdict() for each in check_diagnostics(told)))
    yield "}\n"


def check_csv(checks: Sequence[Check]) -> Iterator[str]:
    """A check a line; numbers as the shortest text that reads back."""
    names = ("input", *NUMBERS, "verdict", "message")
    claims = any(check.claim is not None for check in checks)
    yield csv_line([*names, "claim"] if claims else names)
    for check in checks:
        cells = [getattr(check, name) for name in names]
        yield csv_line([*cells, check.claim] if claims else cells)


def check_lines(checks: Sequence[Check]) -> Iterator[str]:
    """``name=verdict``, a line for each check."""
    return (f"{check.input}={check.verdict}\n" for check in checks)


def check_diagnostics(checks: Sequence[Check]) -> list[Diagnostic]:
    """A warning for each check that does not agree, at the node that it is about.

    Of a claim the span is in the claim's own text.
    """
    found = []
    for check in checks:
        if check.verdict != "agrees" and check.where is not None:
            node, span = check.where
            message = f"{check.input}: {check.message}"
            found.append(Diagnostic(check.verdict, "warning", message, node, span, help_for(check)))
    return found


def help_for(check: Check) -> str | None:
    """What to do about a verdict, where something is to be done."""
    if check.verdict == "cancellation" and "difference has" in check.message:
        return "ball arithmetic tells more: pip install 'exprgrad[exact]'"
    if check.verdict == "cancellation":
        return "grad --trust says where digits are lost, and what would keep them"
    if check.verdict == "disagrees" and check.claim is not None:
        return "diff --steps derives it, rule by rule"
    return None


def check_foot(checks: Sequence[Check], run: Run | None, digits: int) -> str:
    """Below the table: the output, and how many of the checks agree."""
    agreed = sum(check.verdict == "agrees" for check in checks)
    count = f"{agreed:,} of {len(checks):,} agree"
    if run is None or run.shapes is not None:
        return count
    called = run.graph.output_name or run.texts[run.graph.output]
    return f"output  {printable(called)} = {decimal(run.value, digits)}\n{count}"
