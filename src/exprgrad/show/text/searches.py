"""Descents, minima and roots, as tables, as JSON and CSV; a descent as a picture, too."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple
from decimal import ROUND_CEILING, ROUND_FLOOR, Context
from functools import partial
from typing import TYPE_CHECKING, Any

from exprgrad.explain.diagnostics import doubtful_nodes
from exprgrad.language.write.infix import number_text
from exprgrad.show.documents.document import Lines, shorten_tensor, shorten_tensors
from exprgrad.show.text.lines import (
    View,
    decimal_text,
    show_all_hint,
    true_minus,
    value_texts_by_room,
)
from exprgrad.show.text.nodes import DOUBT
from exprgrad.show.text.table import Column, Table, make_table
from exprgrad.source import cut_text, printable_text

if TYPE_CHECKING:
    from exprgrad.explain.descent import Descent, Step
    from exprgrad.run.values.ranges import Interval
    from exprgrad.show.picture.plots import Frame
    from exprgrad.solvers.minima.minimize import Minimum, Resting, Stage
    from exprgrad.solvers.roots.solve import Problem, Root, Solution

__all__ = [
    "ALL_DIGITS", "descent_table", "ending_text", "every_nth_step", "loss_picture",
    "minimum_parts", "records_at", "root_fields", "root_line", "root_parts", "root_rows", "root_verdict",
    "sparkline_text",
]  # fmt: skip


# Descents.


MOST_INPUTS = 4
"""The most inputs that have columns of their own; of more, the norms are shown."""
LONGEST_NAME = 20
"""The most characters of an input's name in a heading."""
CELLS = 40
"""The longest sparkline, in cells."""
DECADES = 1e3
"""Positive values that are further apart are shown by their logarithms: else all but one look alike."""
BARS = "▁▂▃▄▅▆▇█"
BRIEF_VIEW = View(most=3, ends=False)
"""A tensor in a cell: three numbers, or its norm."""
PARTS = {"data": ("inputs", ""), "grad": ("gradient", "yellow"), "update": ("update", "dim")}
"""The parts of a step that each input has: where the step holds them, and how their columns look."""


def descent_table(
    found: Descent[Any],
    digits: int,
    more: Sequence[str] = (),
    *,
    whole: bool = False,
    every: int = 1,
) -> Table:
    """The steps, a line each; ``whole`` leaves none out, and shows every input however many there are.

    ``more`` are lines for below the table.  Lists every ``every``-th step and the last.
    Where a terminal is too narrow for all columns, each input of a step has a line of its own.  CSV has
    the data, grad and update of all inputs; tensors are JSON.
    """
    more = [course_text(found, digits), ending_text(found), *more]
    found = found._replace(steps=every_nth_step(found, every))
    few = whole or len(found.inputs) <= MOST_INPUTS
    tables = [
        partial(step_table, found, digits, [*PARTS][:count], more, whole=whole)
        for count in (3, 2, 1)
    ]
    if not whole:
        count = len(found.inputs)
        norms = (
            f"norms of {count:,} input{'s' * (count != 1)}: {show_all_hint()} each input's numbers"
        )
        tables.append(partial(step_table, found, digits, (), [*more, norms]))
    first, *narrower = tables if few else tables[-1:]
    table = first()
    if few and len(found.inputs) > 1:
        narrower.insert(0, partial(stack_step_table, table, input_headings(found)))
    return table._replace(narrower=narrower)


def stack_step_table(table: Table, inputs: Sequence[str]) -> Table:
    """The table with the inputs of a step below each other, to show updates on a narrow terminal."""
    number, value, *columns = table.columns
    parts = [column._replace(heading=part) for column, part in zip(columns, PARTS, strict=False)]
    rows = []
    for step, loss, *cells in table.rows:
        below = ["\n".join(cells[at :: len(PARTS)]) for at in range(len(PARTS))]
        rows.append([step, loss, "\n".join(inputs), *below])
    return table._replace(columns=[number, value, Column("input"), *parts], rows=rows, narrower=())


def step_norm(step: Step, field: str = "gradient") -> Any:
    """The norm of all numbers of a step's gradient or update; None for the update that the last lacks."""
    from exprgrad.explain.descent import vector_length

    values = getattr(step, field)
    return None if values is None else math.hypot(*map(vector_length, values.values()))


def step_table(
    found: Descent[Any],
    digits: int,
    parts: Sequence[str],
    more: Sequence[str],
    *,
    whole: bool = False,
) -> Table:
    """The steps with their values and some ``parts`` of each input, or with the norms where there are none.

    No two columns have the same heading.
    """
    names = input_headings(found)
    called = cut_text(printable_text(found.run.graph.output_name or "value"), LONGEST_NAME)
    if called in names:
        called = "the value" if "value" in names else "value"
    number = "#" if "step" in (called, *names) else "step"
    columns = [
        Column(number, is_number=True, style="dim", key="step"),
        Column(called, is_number=True, style="green", key="value"),
        *step_columns(found, parts),
    ]
    foot = "\n".join(more)
    return make_table(
        columns, found.steps, digits, whole=whole, how=BRIEF_VIEW, foot=foot, what="steps"
    )


def step_columns(found: Descent[Any], parts: Sequence[str]) -> Iterator[Column]:
    """The columns of each input, of which people have some ``parts``, and those of the norms."""

    def read_part(step: Step, name: str, field: str, *, is_short: bool = False) -> Any:
        """Return an input's data, grad or update; None for the update that the last step lacks."""
        values = getattr(step, field)
        number = None if values is None else values[name]
        return shorten_tensor(number) if is_short else number

    number = partial(Column, is_number=True)
    for name, heading in zip(found.inputs, input_headings(found), strict=True):
        for part, (field, style) in PARTS.items():
            read = partial(read_part, name=name, field=field)
            yield number(
                heading if part == "data" else f"{heading}.{part}",
                read,
                style=style,
                key=f"{name}.{part}",
                value=partial(read, is_short=True),
                is_shown=part in parts,
            )
    for part in ("grad", "update") if not parts else ():
        field, style = PARTS[part]
        yield number(f"‖{part}‖", partial(step_norm, field=field), style=style)


def input_headings(found: Descent[Any]) -> list[str]:
    """The inputs' headings above their columns."""
    return [cut_text(printable_text(name), LONGEST_NAME) for name in found.inputs]


def course_text(found: Descent[Any], digits: int) -> str:
    """The value from the first step to the last."""
    values = [step.value for step in found.steps]
    is_long = min(values) > 0 and math.inf > max(values) > DECADES * min(values)
    bars = sparkline_text([*map(math.log, values)] if is_long else values)
    way = f"{decimal_text(values[0], digits)} → {decimal_text(values[-1], digits)}"
    return f"{bars}  {way}{', in logarithms' * is_long}"


def ending_text(found: Descent[Any]) -> str:
    """The end of a descent, in words."""
    message = printable_text(found.message)
    return message if found.verdict == "steps" else f"{found.verdict}: {message}"


def sparkline_text(values: Sequence[float]) -> str:
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


def every_nth_step(found: Descent[Any], every: int) -> list[Step]:
    """Every ``every``-th step, and the last."""
    *before, last = found.steps
    return [*before[::every], last]


# The value and the norm of the gradient at each step of a descent, as a picture.


LONGEST_TITLE = 40
"""The most characters of a formula above a picture."""
FEW_STEPS = 60
"""The most steps that are each marked by a dot."""
FAR_APART = 1e2
"""Positive numbers that are further apart stand on a logarithmic axis."""
LARGEST_SHOWN = 1e150
"""The largest number drawn: beyond it the ticks of an axis would overflow."""


def loss_picture(found: Descent[Any], format: str, look: str | None = None) -> bytes:
    """The bytes of an ``svg``, ``png`` or ``pdf`` file; ``look`` is as in ``plots.plot``."""
    from exprgrad.show.picture.plots import plot_frames

    name = found.run.graph.output_name or "value"
    values = [step.value for step in found.steps]
    norms = [step_norm(step) for step in found.steps]
    text = true_minus(cut_text(printable_text(found.run.text), LONGEST_TITLE))
    first = steps_frame(values, "data", f"{text}   {ending_text(found)}", printable_text(name))
    second = steps_frame(norms, "grad", "", "‖grad‖")._replace(x_label="step", share=0.7)
    return plot_frames([first, second], format, look)


def steps_frame(numbers: list[float], role: str, title: str, label: str) -> Frame:
    """Numbers by step; what is not finite, or too large for an axis, is left out."""
    from exprgrad.show.picture.plots import Frame, dot_layer, line_layer

    known = [x for x in numbers if abs(x) <= LARGEST_SHOWN] or [0.0]
    is_long = min(known) > 0 and max(known) > FAR_APART * min(known)
    places = [float(at) for at in range(len(numbers))]
    shown = [x if abs(x) <= LARGEST_SHOWN else math.nan for x in numbers]
    layers: list[Any] = [line_layer(places, shown, role)]
    if len(numbers) <= FEW_STEPS:
        layers.append(dot_layer(places, shown, role, size=3.0))
    x_range = None if len(numbers) > 1 else (-1.0, 1.0)
    return Frame(layers, title, "", label, x_range, logarithmic=is_long, counted=True)


# Minima.


MOST_ACTIVE = 8
"""The most active constraints that are listed."""


def minimum_parts(
    found: Minimum[Any],
    start: Mapping[str, Any],
    value: float,
    digits: int,
    *,
    trace: bool = False,
    whole: bool = False,
) -> Iterator[str | Table]:
    """The point that was found; before it the steps, if ``trace``, and where several starts led to."""
    number = partial(Column, is_number=True)
    if trace:
        stages = [
            number("step", style="dim"),
            number("value", style="green"),
            number("‖grad‖", style="yellow"),
            number("‖update‖", style="dim"),
            *(number(name, expendable=1) for name in found.point),
        ]
        rows = [
            [one.step, one.value, one.slope, one.moved, *one.inputs.values()]
            for one in found.stages
        ]
        yield from (make_table(stages, rows, digits, whole=whole, what="steps"), "")
    if found.places:
        places = [
            number("value", style="green"),
            *map(number, found.point),
            number("starts", style="dim"),
        ]
        minima = [[one.value, *one.point.values(), one.starts] for one in found.places]
        yield from (make_table(places, minima, digits, whole=whole, what="minima"), "")
    yield point_table(found, start, value, digits, whole=whole)


def point_table(
    found: Minimum[Any],
    start: Mapping[str, Any],
    value: float,
    digits: int,
    *,
    whole: bool,
) -> Table:
    """The point: each input with its start, and its grad where the search ended."""
    inputs, gradient = found.run.graph.inputs, found.run.gradient
    doubts = doubtful_nodes(found.run, [inputs[name] for name in found.point], digits)[1]

    def grad(name: str) -> Any:
        """A grad, or the ways to show it with a mark."""
        shown = gradient[name]
        return (
            [f"{x}{DOUBT}" for x in value_texts_by_room(shown, digits)]
            if inputs[name] in doubts
            else shown
        )

    number, short = partial(Column, is_number=True), shorten_tensors
    columns = [
        Column("input", key="input", value=str),
        number(
            "start",
            start.__getitem__,
            style="dim",
            expendable=1,
            key="start",
            value=short(start).get,
        ),
        number(
            "value",
            found.point.__getitem__,
            style="green",
            key="value",
            value=short(found.point).get,
        ),
        number("grad", grad, style="yellow", key="grad", value=short(gradient).get),
    ]
    called = found.run.output_label
    foot = f"{printable_text(called)} = {value:.{digits}g}\n{outcome_lines(found)}"
    foot += f"\n{DOUBT} fewer right digits than shown" if doubts else ""
    return make_table(columns, [*found.point], digits, whole=whole, foot=foot, what="inputs")


def outcome_lines(found: Minimum[Any]) -> str:
    """The verdict in words, the active constraints, and the count of evaluations."""
    lines = [f"{found.verdict}: {printable_text(found.message)}"]
    for text, multiplier in found.active[:MOST_ACTIVE]:
        lines.append(f"active: {printable_text(text)}, multiplier {multiplier:.6g}")
    more = len(found.active) - MOST_ACTIVE
    if more > 0:
        lines.append(f"… {more:,} more are active")
    counts = zip(("value", "gradient", "Hessian", "product"), astuple(found.counts), strict=True)
    worked_out = [f"{count:,} {word}{'s' * (count != 1)}" for word, count in counts if count]
    return "\n".join([*lines, ", ".join(worked_out)])


def records_at(found: Iterable[Resting | Stage], field: str) -> Lines:
    """Minima or steps as JSON has them, each with its values by name in a ``field``."""
    return Lines({**one._asdict(), field: shorten_tensors(getattr(one, field))} for one in found)


# Roots.


ALL_DIGITS = 17
MOST_BOXES = 6
"""The most undecided boxes that people are shown."""
ENOUGH = 5
"""The most characters that two bounds may share before the second is cut."""


def root_parts(problem: Problem, found: Solution, digits: int, *, whole: bool) -> list[str | Table]:
    """The table of the roots, and below it why some are not proved, and what else is known."""
    foot = [root_verdict(problem, found)]
    if found.roots and not problem.ranges and "[" not in problem.system.unknowns[0]:
        ranges = " ".join(f"{name}=LOW:HIGH" for name in problem.system.unknowns[:3])
        foot = [f"{ranges} looks for all roots in a range"]
    for why in dict.fromkeys(root.why for root in found.roots if not root.proved):
        points = [root_line(root, digits) for root in found.roots if root.why == why]
        shown = "; ".join(points[:MOST_BOXES]) + "; …" * (len(points) > MOST_BOXES)
        foot.append(f"not proved, {shown}: {why}")
    boxes = () if found.is_everywhere else found.undecided
    for box in boxes[: None if whole else MOST_BOXES]:
        ends = (f"{name} in {interval_text(interval)}" for name, interval in box.items())
        foot.append(f"undecided: {', '.join(ends)}")
    if not whole and found.undecided[MOST_BOXES:]:
        foot.append(f"… {len(found.undecided) - MOST_BOXES:,} more boxes are undecided")
    if not found.roots:
        return ["\n".join(foot)]
    names = problem.system.unknowns
    columns = [
        *(Column(name, is_number=True, style="green") for name in names),
        Column("proof"),
        *(Column(f"{name} lies in", style="dim", expendable=1) for name in names),
    ]
    rows = [
        [
            *(shortest_number_text(root.point[name], digits) for name in names),
            "proved" if root.proved else "not proved",
            *(interval_text(root.enclosure[name]) for name in names),
        ]
        for root in found.roots
    ]
    text = "\n".join(foot)
    return [make_table(columns, rows, digits, whole=whole, foot=text, what="roots")]


def root_verdict(problem: Problem, found: Solution) -> str:
    """The verdict on a search for roots, in words."""
    spans = zip(problem.system.unknowns, problem.ranges, strict=False)
    where = ", ".join(
        f"{name} in [{number_text(low)}, {number_text(high)}]" for name, (low, high) in spans
    )
    place = f" with {where}" if where else ""
    if found.excluded:
        return f"there is no root{place}: proved"
    if found.is_everywhere:
        return f"{found.reason}{place}"
    if found.reason:
        none = "" if found.roots else "no root was found: "
        return f"{none}{found.reason}" + (f"; not all of {where} was searched" if where else "")
    if found.undecided:
        other = "other " if found.roots else ""
        return f"{other}roots may be where it is undecided; elsewhere{place} there are none: proved"
    if found.is_whole:
        are = "these are all roots" if len(found.roots) > 1 else "this is the only root"
        if not all(root.proved for root in found.roots):
            are = "there is no root elsewhere"
        return f"{are}{place}: proved"
    return "other roots may be elsewhere"


def root_line(root: Root, digits: int) -> str:
    """A root in one line: ``x = 1, y = 2``."""
    return ", ".join(
        f"{name} = {shortest_number_text(x, digits)}" for name, x in root.point.items()
    )


def shortest_number_text(number: float, digits: int) -> str:
    """A number; with all digits it is the shortest text that reads back."""
    text = repr(number).removesuffix(".0")
    return text if digits == ALL_DIGITS else decimal_text(number, digits)


def interval_text(ends: Interval) -> str:
    """An interval, rounded outwards to 17 digits; of its upper bound only the last ones, if few differ."""
    low, high = bound_text(ends.low, ROUND_FLOOR), bound_text(ends.high, ROUND_CEILING)
    common = next((at for at, (a, b) in enumerate(zip(low, high, strict=False)) if a != b), 0)
    if common > ENOUGH and len(low) == len(high) and "E" not in low:
        return f"[{low}, …{high[common - 1 :]}]"
    return f"[{low}, {high}]".lower()


def bound_text(bound: float, rounding: str) -> str:
    """A bound in 17 digits, without zeros at its end."""
    if math.isinf(bound):
        return str(bound)
    digits = Context(prec=ALL_DIGITS, rounding=rounding).create_decimal(bound)
    text = str(digits.normalize())
    return (
        f"{digits:f}"
        if "E" in text and abs(bound) < 10**ALL_DIGITS and bound == int(bound)
        else text
    )


def root_fields(problem: Problem, found: Solution) -> dict[str, Any]:
    """The fields of JSON."""
    names = problem.system.unknowns
    return {
        "inputs": dict(problem.given),
        "starts": dict(zip(names, problem.starts, strict=False)),
        "ranges": {name: [*ends] for name, ends in zip(names, problem.ranges, strict=False)},
        "roots": [
            {
                "point": root.point,
                "enclosure": {name: [*ends] for name, ends in root.enclosure.items()},
                "proved": root.proved,
                **({} if root.proved else {"why": root.why}),
            }
            for root in found.roots
        ],
        "excluded": found.excluded,
        "undecided": [{name: [*ends] for name, ends in box.items()} for box in found.undecided],
        "whole": found.is_whole,
        "message": root_verdict(problem, found),
    }


def root_rows(problem: Problem, found: Solution) -> Iterator[list[Any]]:
    """The roots as CSV: the point, whether it is proved, and the bounds."""
    names = problem.system.unknowns
    yield [*names, "proved", *[f"{name}.{end}" for name in names for end in ("low", "high")]]
    for root in found.roots:
        ends = [end for name in names for end in root.enclosure[name]]
        yield [*root.point.values(), str(root.proved).lower(), *ends]
