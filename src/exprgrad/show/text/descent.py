"""A descent as a table with the value's sparkline, as JSON and CSV, and as a picture."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from exprgrad.explain.descent import Descent, Step, length
from exprgrad.show.documents.document import short, shorts
from exprgrad.show.picture.plots import Frame, dots, line, plot
from exprgrad.show.text.lines import View, all_shows, decimal
from exprgrad.show.text.table import Column, Table, tabulated
from exprgrad.source import cut, printable

__all__ = [
    "descent_rows", "descent_table", "ending", "listed_steps", "loss_picture", "sparkline",
    "step_fields",
]  # fmt: skip

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
FIELDS = {"data": "inputs", "grad": "gradient", "update": "update"}
"""Where a step holds them, by input."""


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
        partial(step_table, found, digits, input_columns(found, PARTS[:count]), more, whole=whole)
        for count in (3, 2, 1)
    ]
    if not whole:
        count = len(found.inputs)
        norms = f"norms of {count:,} input{'s' * (count != 1)}: {all_shows()} each input's numbers"
        tables.append(partial(step_table, found, digits, NORM_COLUMNS, [*more, norms]))
    first, *narrower = tables if few else tables[-1:]
    return first()._replace(narrower=narrower)


def input_columns(found: Descent[Any], parts: Sequence[str]) -> list[Column]:
    """Columns for each input: its data, its grad, and what was then added to it."""
    return [
        Column(
            called if part == "data" else f"{called}.{part}",
            partial(of_input, name=name, part=part),
            is_number=True,
            style=STYLES[part],
        )
        for name, called in zip(found.inputs, headings(found), strict=True)
        for part in parts
    ]


def of_input(step: Step, name: str, part: str) -> Any:
    """What a step holds of an input: its data, its grad, or its update, which the last has none of."""
    values = getattr(step, FIELDS[part])
    return None if values is None else values[name]


def norm(values: Mapping[str, Any]) -> float:
    """The norm of all numbers of a step's gradient or update."""
    return math.hypot(*map(length, values.values()))


NORM_COLUMNS = (
    Column("‖grad‖", lambda step: norm(step.gradient), is_number=True, style=STYLES["grad"]),
    Column(
        "‖update‖",
        lambda step: None if step.update is None else norm(step.update),
        is_number=True,
        style=STYLES["update"],
    ),
)


def step_table(
    found: Descent[Any],
    digits: int,
    columns: Sequence[Column],
    more: Sequence[str],
    *,
    whole: bool = False,
) -> Table:
    """The steps with their values, and columns of more numbers; no heading is that of two columns."""
    names = headings(found)
    called = cut(printable(found.run.graph.output_name or "value"), LONGEST_NAME)
    if called in names:
        called = "the value" if "value" in names else "value"
    number = "#" if "step" in (called, *names) else "step"
    first = [
        Column(number, lambda step: step.step, is_number=True, style="dim"),
        Column(called, lambda step: step.value, is_number=True, style="green"),
    ]
    return tabulated(
        [*first, *columns],
        found.steps,
        digits,
        whole=whole,
        how=BRIEF_VIEW,
        foot="\n".join(more),
        what="steps",
    )


def headings(found: Descent[Any]) -> list[str]:
    """What the inputs are called above their columns."""
    return [cut(printable(name), LONGEST_NAME) for name in found.inputs]


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
        cells = [short(of_input(step, name, part)) for name in found.inputs for part in PARTS]
        yield [step.step, step.value, *cells]


# The value and the norm of the gradient at each step, as a picture.


LONGEST_TITLE = 40
"""Where a formula is cut above a picture."""
FEW_STEPS = 60
"""So many points are marked, each."""
FAR_APART = 1e2
"""Positive numbers that are further apart stand on a logarithmic axis."""
LARGEST_SHOWN = 1e150
"""Beyond, the ticks of an axis would not be doubles any more."""


def loss_picture(found: Descent[Any], format: str, look: str | None = None) -> bytes:
    """The bytes of an ``svg``, ``png`` or ``pdf`` file; ``look`` is as in ``plots.plot``."""
    name = found.run.graph.output_name or "value"
    values = [step.value for step in found.steps]
    norms = [norm(step.gradient) for step in found.steps]
    text = cut(printable(found.run.text), LONGEST_TITLE)
    first = steps_frame(values, "data", f"{text}   {ending(found)}", printable(name))
    second = steps_frame(norms, "grad", "", "‖grad‖")._replace(x_label="step", share=0.7)
    return plot([first, second], format, look)


def steps_frame(numbers: list[float], role: str, title: str, label: str) -> Frame:
    """Numbers by step; what is not finite, or too large for an axis, is left out."""
    known = [x for x in numbers if abs(x) <= LARGEST_SHOWN] or [0.0]
    is_long = min(known) > 0 and max(known) > FAR_APART * min(known)
    places = [float(at) for at in range(len(numbers))]
    shown = [x if abs(x) <= LARGEST_SHOWN else math.nan for x in numbers]
    layers: list[Any] = [line(places, shown, role)]
    if len(numbers) <= FEW_STEPS:
        layers.append(dots(places, shown, role, size=3.0))
    x_range = None if len(numbers) > 1 else (-1.0, 1.0)
    return Frame(layers, title, "", label, x_range, logarithmic=is_long, counted=True)
