"""A descent as a table with the value's sparkline, as JSON, as CSV, and as lines for scripts."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from exprgrad.explain.descent import Descent, Step
from exprgrad.explain.diagnostic import Diagnostic
from exprgrad.run.values.updates import length
from exprgrad.show.documents.answer import Answer, Lines, listed, short
from exprgrad.show.text.lines import ends
from exprgrad.show.text.table import Column, Table, decimal
from exprgrad.show.text.views import View, view
from exprgrad.source import cut, printable

__all__ = ["descent_answer", "descent_rows", "descent_table", "sparkline"]

MOST_INPUTS = 4
"""The most inputs that have columns of their own; of more, the norms are shown."""
LONGEST_NAME = 20
"""Where an input's name is cut in a heading."""
CELLS = 40
"""The longest sparkline, in cells."""
BARS = "▁▂▃▄▅▆▇█"
BRIEF_VIEW = View(most=3, ends=False)
"""A tensor in a cell: three numbers, or its norm."""
PARTS = ("data", "grad", "update")


def descent_table(found: Descent[Any], digits: int, *, whole: bool = False) -> Table:
    """The steps, a line each; ``whole`` leaves none out, and shows every input however many there are."""
    few = whole or len(found.inputs) <= MOST_INPUTS
    tables = [partial(table_of, found, digits, PARTS[:count], whole=whole) for count in (3, 2, 1)]
    if not whole:
        tables.append(partial(norm_table, found, digits))
    first, *narrower = tables if few else tables[-1:]
    return first()._replace(narrower=narrower)


def table_of(
    found: Descent[Any], digits: int, parts: Sequence[str], *, whole: bool = False
) -> Table:
    """The steps with columns for each input: its data, its grad, and what was then added to it."""
    styles = {"data": "", "grad": "yellow", "update": "dim"}
    columns = beginning(found)
    for name in found.inputs:
        called = cut(printable(name), LONGEST_NAME)
        for part in parts:
            heading = called if part == "data" else f"{called}.{part}"
            columns.append(Column(heading, is_number=True, style=styles[part]))

    def cells(step: Step) -> list[str]:
        return [
            "" if value is None else view(value, digits, BRIEF_VIEW)
            for name in found.inputs
            for value in numbers(step, name)[: len(parts)]
        ]

    shown, left_out = ends(found.steps, whole=whole)
    rows = [[*opening(step, digits), *cells(step)] for step in shown]
    return Table(columns, rows, left_out, foot(found, digits), what="steps")


def norm_table(found: Descent[Any], digits: int) -> Table:
    """The steps with the norms of the gradient and of the update."""
    columns = beginning(found)
    columns += [
        Column("‖grad‖", is_number=True, style="yellow"),
        Column("‖update‖", is_number=True, style="dim"),
    ]

    def norm(values: Mapping[str, Any] | None) -> str:
        return "" if values is None else decimal(math.hypot(*map(length, values.values())), digits)

    shown, left_out = ends(found.steps, whole=False)
    rows = [[*opening(step, digits), norm(step.gradient), norm(step.update)] for step in shown]
    count = len(found.inputs)
    more = f"norms of {count:,} input{'s' * (count != 1)}: --all shows each input's numbers"
    return Table(columns, rows, left_out, f"{foot(found, digits)}\n{more}", what="steps")


def beginning(found: Descent[Any]) -> list[Column]:
    """The columns that every table begins with; their headings are none of the inputs' names."""
    names = [cut(printable(name), LONGEST_NAME) for name in found.inputs]
    called = cut(printable(found.run.graph.output_name or "value"), LONGEST_NAME)
    if called in names:
        called = "the value" if "value" in names else "value"
    return [
        Column("#" if "step" in (called, *names) else "step", is_number=True, style="dim"),
        Column(called, is_number=True, style="green"),
    ]


def opening(step: Step, digits: int) -> list[str]:
    """The cells that every line begins with."""
    return [str(step.step), decimal(step.value, digits)]


def numbers(step: Step, name: str) -> tuple[Any, Any, Any]:
    """What a step holds of an input: data, grad, and update or None."""
    update = None if step.update is None else step.update[name]
    return step.inputs[name], step.gradient[name], update


def foot(found: Descent[Any], digits: int) -> str:
    """Below the table: the value's course, and how it ended."""
    values = [step.value for step in found.steps]
    ends = f"{decimal(values[0], digits)} → {decimal(values[-1], digits)}"
    return f"{sparkline(values)}  {ends}\n{ending(found)}"


def ending(found: Descent[Any]) -> str:
    """How a descent ended, in words."""
    message = printable(found.message)
    return message if found.verdict == "steps" else f"{found.verdict}: {message}"


def sparkline(values: Sequence[float]) -> str:
    """A bar for each value, from the least to the greatest; a cross for what is not finite.

    Of many values, some are shown, evenly spaced, the first and the last among them.
    """
    count = min(len(values), CELLS)
    chosen = [values[at * (len(values) - 1) // max(count - 1, 1)] for at in range(count)]
    known = [
        value / 2 for value in chosen if math.isfinite(value)
    ]  # so that no difference overflows
    least, greatest = min(known, default=0.0), max(known, default=0.0)
    height = (greatest - least) / (len(BARS) - 1) or 1.0
    return "".join(
        BARS[round((value / 2 - least) / height)] if math.isfinite(value) else "×"
        for value in chosen
    )


def descent_answer(
    text: str,
    inputs: Mapping[str, Any],
    rate: float,
    found: Descent[Any],
    diagnostics: Sequence[Diagnostic],
    digits: int,
    *,
    whole: bool,
) -> Answer:
    """The answer of ``descend``."""
    last = found.steps[-1]
    fields: dict[str, Any] = {
        "inputs": shortened(inputs),
        "output": {"node": found.run.graph.output, "name": found.run.graph.output_name},
        "rate": rate,
        "verdict": found.verdict,
        "message": found.message,
        "value": last.value,
        "gradient": last.gradient,
        "final": last.inputs,
        "steps": Lines(map(step_fields, found.steps)),
        "diagnostics": listed(diagnostics),
    }
    return Answer(
        "descend",
        text,
        fields.items(),
        descent_rows(found),
        found.inputs.items(),
        lambda _: [descent_table(found, digits, whole=whole)],
        diagnostics,
        aside=ending(found) if found.verdict == "nan" else "",
        is_doubtful=found.verdict in ("diverged", "nan"),
    )


def shortened(values: Mapping[str, Any]) -> dict[str, Any]:
    """Values of which large tensors may be summaries."""
    return {name: short(value) for name, value in values.items()}


def step_fields(step: Step) -> dict[str, Any]:
    """A step as JSON has it."""
    fields = {"inputs": step.inputs, "gradient": step.gradient, "update": step.update}
    shown = {name: values and shortened(values) for name, values in fields.items()}
    return {"step": step.step, "value": step.value, **shown}


def descent_rows(found: Descent[Any]) -> Iterator[list[Any]]:
    """The steps as CSV: step, value, and for each input its data, grad and update; tensors are JSON."""
    yield ["step", "value", *[f"{name}.{part}" for name in found.inputs for part in PARTS]]
    for step in found.steps:
        cells = [short(value) for name in found.inputs for value in numbers(step, name)]
        yield [step.step, step.value, *cells]
