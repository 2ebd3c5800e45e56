"""A descent as a table with the value's sparkline, as JSON, as CSV, and as lines for scripts."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from exprgrad.draw.documents.document import SCHEMA, csv_line
from exprgrad.draw.documents.tensor_document import Short, answer_lines, cell, fields_json, items
from exprgrad.draw.text.table import Column, Table, decimal, left_out_of
from exprgrad.draw.text.tensors import View, view
from exprgrad.explain.descent import Descent, Step
from exprgrad.explain.diagnostic import Diagnostic
from exprgrad.run.values.updates import length
from exprgrad.source import cut, printable

__all__ = ["descent_csv", "descent_json", "descent_table", "ending", "final_lines", "sparkline"]

MOST_INPUTS = 4
"""The most inputs that have columns of their own; of more, the norms are shown."""
LONGEST_NAME = 20
"""Where an input's name is cut in a heading."""
CELLS = 40
"""The longest sparkline, in cells."""
BARS = "▁▂▃▄▅▆▇█"
SMALL = View(most=3, ends=False)
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
            "" if value is None else view(value, digits, SMALL)
            for name in found.inputs
            for value in numbers(step, name)[: len(parts)]
        ]

    places, left_out = left_out_of(len(found.steps), all_nodes=whole)
    rows = [[*opening(found.steps[at], digits), *cells(found.steps[at])] for at in places]
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

    places, left_out = left_out_of(len(found.steps), all_nodes=False)
    rows = [
        [*opening(step, digits), norm(step.gradient), norm(step.update)]
        for step in [found.steps[at] for at in places]
    ]
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


def descent_json(
    text: str,
    inputs: Mapping[str, Any],
    rate: float,
    found: Descent[Any],
    diagnostics: Sequence[Diagnostic],
    *,
    whole: bool = False,
) -> Iterator[str]:
    """The document of ``descend``, a step to a line; large tensors are summaries unless ``whole``."""
    last = found.steps[-1]
    head: dict[str, Any] = {
        "schema": SCHEMA,
        "command": "descend",
        "expression": text,
        "inputs": shortened(inputs),
        "output": {"node": found.run.graph.output, "name": found.run.graph.output_name},
        "rate": rate,
        "verdict": found.verdict,
        "message": found.message,
        "value": last.value,
        "gradient": last.gradient,
        "final": last.inputs,
    }
    yield from fields_json(head, whole=whole)
    yield from items("steps", map(step_fields, found.steps), whole=whole)
    yield from items("diagnostics", (one._asdict() for one in diagnostics), whole=whole)
    yield "}\n"


def shortened(values: Mapping[str, Any]) -> dict[str, Short]:
    """Values of which large tensors may be summaries."""
    return {name: Short(value) for name, value in values.items()}


def step_fields(step: Step) -> dict[str, Any]:
    """A step as JSON has it."""
    return {
        "step": step.step,
        "value": step.value,
        "inputs": shortened(step.inputs),
        "gradient": shortened(step.gradient),
        "update": None if step.update is None else shortened(step.update),
    }


def descent_csv(found: Descent[Any], *, whole: bool = False) -> Iterator[str]:
    """The steps as CSV: step, value, and for each input its data, grad and update; tensors are JSON."""
    yield csv_line(["step", "value", *[f"{n}.{part}" for n in found.inputs for part in PARTS]])
    for step in found.steps:
        cells = [value for name in found.inputs for value in numbers(step, name)]
        yield csv_line([step.step, step.value, *[cell(value, whole=whole) for value in cells]])


def final_lines(found: Descent[Any]) -> Iterator[str]:
    """Where it ended, for scripts: each input on a line, ``name=value``."""
    for name, value in found.inputs.items():
        yield from answer_lines(value, f"{name}=")
