"""Checks as a table, as JSON and CSV, as lines for scripts, and as diagnostics with their places."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from exprgrad.errors import command_or_python, install_command
from exprgrad.explain.checking.check import Check
from exprgrad.explain.diagnostics import DiagnosedRun
from exprgrad.language.write.infix import LIMIT
from exprgrad.run.balls.balls import has_balls
from exprgrad.run.evaluation import Diagnostic
from exprgrad.show.text.lines import decimal_text
from exprgrad.show.text.table import Column, Table, csv_column, make_table
from exprgrad.source import cut_text, printable_text

__all__ = ["check_diagnostics", "check_fields", "check_table", "doubtful_checks"]

LONGEST_MESSAGE = 72
"""The longest message that stands in a table; a longer one is a warning alone."""


def check_table(
    checks: Sequence[Check], run: DiagnosedRun | None, digits: int, *, whole: bool = False
) -> Table:
    """A line for each check: the two numbers, what the numeric one may be off by, and the verdict.

    Below it stand the output, unless there is no ``run``, as of claims, and how many of the checks agree.
    Where a terminal is too narrow for the table, each number has a line.
    """
    claims = any(check.claim is not None for check in checks)
    number = partial(Column, is_number=True)
    analytic, numeric = ("true", "claimed") if claims else ("analytic", "numeric")
    columns = [
        Column(
            "claim" if claims else "input",
            lambda one: cut_text(f"{one.input} = {one.claim}", LIMIT) if claims else one.input,
            flexible=True,
            key="input",
        ),
        number(analytic, style="yellow", key="analytic"),
        number(numeric, style="green", key="numeric"),
        number(
            "error",
            lambda one: decimal_text(one.error, 2),
            style="dim",
            key="error",
            is_shown=not claims,
        ),
        csv_column(key="left"),
        csv_column(key="right"),
        Column(
            "verdict",
            lambda one: (
                one.message
                if one.verdict == "agrees" or len(one.message) <= LONGEST_MESSAGE
                else one.verdict
            ),
            flexible=True,
            key="verdict",
        ),
        csv_column(key="message"),
        *([csv_column(key="claim")] if claims else []),
    ]
    foot = f"{sum(one.verdict == 'agrees' for one in checks):,} of {len(checks):,} agree"
    if run is not None:
        value = decimal_text(run.value, digits)
        foot = f"output  {printable_text(run.output_label)} = {value}\n{foot}"
    table = make_table(columns, checks, digits, whole=whole, foot=foot, what="checks")
    return table._replace(narrower=[partial(stack_check_table, table)])


def stack_check_table(table: Table) -> Table:
    """The table with the numbers of a check below each other."""
    name, *numbers, verdict = table.columns
    headings = [column.heading for column in numbers]
    width = max(map(len, headings))
    rows = []
    for first, *cells, last in table.rows:
        pairs = zip(headings, cells, strict=True)
        lines = [f"{heading:<{width}}  {cell}" for heading, cell in pairs if cell]
        rows.append([first, "\n".join([*lines, last])])
    return table._replace(columns=[name, verdict], rows=rows, narrower=())


def check_fields(check: Check) -> dict[str, Any]:
    """A check as JSON has it."""
    tried = check.sampled
    found = check._asdict() | {
        "sampled": tried
        and {
            "points": tried.points,
            "thresholds": [
                {"input": t.input, "at": t.at, "text": t.text} for t in tried.thresholds
            ],
            "one_sided": list(tried.one_sided),
        }
    }
    of_claims = ("claim", "point", "sampled", "proof", "width") if check.claim is None else ()
    of_nodes = ("node",) if check.node is None else ()
    absent = {"where", "help", "digits", "suspicious", *of_nodes, *of_claims}
    return {name: value for name, value in found.items() if name not in absent}


def doubtful_checks(checks: Sequence[Check]) -> list[Check]:
    """The checks that do not agree, and have a place."""
    return [check for check in checks if check.verdict != "agrees" and check.where is not None]


def check_diagnostics(checks: Sequence[Check], run: DiagnosedRun | None) -> list[Diagnostic]:
    """A warning for each check that does not agree, at the node that it is about.

    Without a ``run`` they are claims, whose spans are in their own texts.  With one, kinks follow that its
    decimals as typed meet, and its doubles do not: no check finds them.
    """
    told = [
        Diagnostic(c.verdict, "warning", f"{c.input}: {c.message}", *c.where, verdict_help(c, run))
        for c in doubtful_checks(checks)
        if c.where is not None
    ]
    return [*told, *(() if run is None else run.turns)]


def verdict_help(check: Check, run: DiagnosedRun | None) -> str | None:
    """Advice on a verdict; None where there is nothing to do."""
    if check.verdict == "disagrees" and check.claim is not None:
        by = command_or_python("diff --steps", "steps()")
        return f"{by} derives it, rule by rule"
    if check.verdict != "cancellation" or run is None or run.graph.shapes:
        return None
    if check.help is not None:
        return check.help
    if not has_balls():
        return f"ball arithmetic tells more: {install_command('python-flint')}"
    if check.node is not None:
        return None
    by = command_or_python("grad --trust", "a run's trust()")
    return f"{by} says where digits are lost, and what would keep them"
