"""A descent as a table with the value's sparkline, as JSON, as CSV, and as lines for scripts."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from exprgrad.explain.descent import Descent, Step
from exprgrad.run.values.updates import length
from exprgrad.show.documents.fields import short, shorts
from exprgrad.show.text.lines import all_shows
from exprgrad.show.text.table import Column, Table, tabulated
from exprgrad.show.text.views import View, decimal
from exprgrad.source import cut, printable

__all__ = ["descent_rows", "descent_table", "ending", "listed_steps", "sparkline", "step_fields"]

MOST_INPUTS = 4
"""The most inputs that have columns of their own; of more, the norms are shown."""
LONGEST_NAME = 20
"""Where an input's name is cut in a heading."""
CELLS = 40
"""The longest sparkline, in cells."""
DECADES = 1e3
"""Positive values that are further apart are shown by their logarithms: else all but one look alike."""
BARS = "▁▂▃▄▅▆▇█"
BRIEF_VIEW = View(most=3, ends=False)
"""A tensor in a cell: three numbers, or its norm."""
STYLES = {"data": "", "grad": "yellow", "update": "dim"}
"""The parts of a step that each input has, and how their columns look."""
PARTS = (*STYLES,)


def descent_table(
    found: Descent[Any],
    digits: int,
    more: Sequence[str] = (),
    *,
    whole: bool = False,
    every: int = 1,
) -> Table:
    """The steps, a line each; ``whole`` leaves none out, and shows every input however many there are.

    ``more`` are lines for below the table.  Of the steps ``every`` so manyth is listed, and the last.
    """
    more = [course(found, digits), ending(found), *more]
    found = found._replace(steps=listed_steps(found, every))
    few = whole or len(found.inputs) <= MOST_INPUTS
    tables = [
        partial(input_table, found, digits, PARTS[:count], more, whole=whole) for count in (3, 2, 1)
    ]
    if not whole:
        tables.append(partial(norm_table, found, digits, more))
    first, *narrower = tables if few else tables[-1:]
    return first()._replace(narrower=narrower)


def input_table(
    found: Descent[Any],
    digits: int,
    parts: Sequence[str],
    more: Sequence[str],
    *,
    whole: bool = False,
) -> Table:
    """The steps with columns for each input: its data, its grad, and what was then added to it."""
    columns = [
        Column(called if part == "data" else f"{called}.{part}", is_number=True, style=STYLES[part])
        for called in headings(found)
        for part in parts
    ]

    def cells(step: Step) -> list[Any]:
        return [value for name in found.inputs for value in numbers(step, name)[: len(parts)]]

    return step_table(found, digits, columns, cells, more, whole=whole)


def norm_table(found: Descent[Any], digits: int, more: Sequence[str]) -> Table:
    """The steps with the norms of the gradient and of the update."""
    columns = [
        Column("‖grad‖", is_number=True, style=STYLES["grad"]),
        Column("‖update‖", is_number=True, style=STYLES["update"]),
    ]

    def norm(values: Mapping[str, Any] | None) -> float | None:
        return None if values is None else math.hypot(*map(length, values.values()))

    def cells(step: Step) -> list[Any]:
        return [norm(step.gradient), norm(step.update)]

    count = len(found.inputs)
    norms = f"norms of {count:,} input{'s' * (count != 1)}: {all_shows()} each input's numbers"
    return step_table(found, digits, columns, cells, [*more, norms])


def step_table(
    found: Descent[Any],
    digits: int,
    columns: Sequence[Column],
    cells: Callable[[Step], Sequence[Any]],
    more: Sequence[str],
    *,
    whole: bool = False,
) -> Table:
    """The steps with their values, and columns of more numbers; no heading is that of two columns."""
    names = headings(found)
    called = cut(printable(found.run.graph.output_name or "value"), LONGEST_NAME)
    if called in names:
        called = "the value" if "value" in names else "value"
    first = [
        Column("#" if "step" in (called, *names) else "step", is_number=True, style="dim"),
        Column(called, is_number=True, style="green"),
    ]
    return tabulated(
        [*first, *columns],
        found.steps,
        lambda step: [step.step, step.value, *cells(step)],
        digits,
        whole=whole,
        how=BRIEF_VIEW,
        foot="\n".join(more),
        what="steps",
    )


def headings(found: Descent[Any]) -> list[str]:
    """What the inputs are called above their columns."""
    return [cut(printable(name), LONGEST_NAME) for name in found.inputs]


def numbers(step: Step, name: str) -> tuple[Any, Any, Any]:
    """What a step holds of an input: data, grad, and update or None."""
    update = None if step.update is None else step.update[name]
    return step.inputs[name], step.gradient[name], update


def course(found: Descent[Any], digits: int) -> str:
    """The value from the first step to the last."""
    values = [step.value for step in found.steps]
    is_long = min(values) > 0 and math.inf > max(values) > DECADES * min(values)
    bars = sparkline([*map(math.log, values)] if is_long else values)
    way = f"{decimal(values[0], digits)} → {decimal(values[-1], digits)}"
    return f"{bars}  {way}{', in logarithms' * is_long}"


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


def step_fields(step: Step) -> dict[str, Any]:
    """A step as JSON has it."""
    fields = {"inputs": step.inputs, "gradient": step.gradient, "update": step.update}
    shown = {name: values and shorts(values) for name, values in fields.items()}
    return {"step": step.step, "value": step.value, **shown}


def listed_steps(found: Descent[Any], every: int) -> list[Step]:
    """Every so manyth step, and the last."""
    *before, last = found.steps
    return [*before[::every], last]


def descent_rows(found: Descent[Any], every: int = 1) -> Iterator[list[Any]]:
    """The steps as CSV: step, value, and for each input its data, grad and update; tensors are JSON."""
    yield ["step", "value", *[f"{name}.{part}" for name in found.inputs for part in PARTS]]
    for step in listed_steps(found, every):
        cells = [short(value) for name in found.inputs for value in numbers(step, name)]
        yield [step.step, step.value, *cells]
