"""A minimum as a table, as JSON, as CSV; and the way there."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict
from typing import Any

from exprgrad.show.documents.document import Lines, csv_rows, short, shorts
from exprgrad.show.text.table import Column, Table, tabulated
from exprgrad.solvers.minima.minimize import Minimum, Resting, Stage
from exprgrad.solvers.minima.search import Counts
from exprgrad.source import printable

__all__ = [
    "found_fields", "place_table", "point_rows", "point_table", "stage_table",
]  # fmt: skip

MOST_ACTIVE = 8
"""The most active constraints that are listed."""


def point_table(
    found: Minimum[Any],
    start: Mapping[str, Any],
    value: float,
    gradient: Mapping[str, Any],
    digits: int,
    *,
    whole: bool = False,
) -> Table:
    """The point: each input with its start, and its grad where the search ended."""
    columns = [
        Column("input", str),
        Column("start", start.__getitem__, is_number=True, style="dim", expendable=1),
        Column("value", found.point.__getitem__, is_number=True, style="green"),
        Column("grad", gradient.__getitem__, is_number=True, style="yellow"),
    ]
    called = found.run.output_label
    foot = f"{printable(called)} = {value:.{digits}g}\n{ending(found)}"
    return tabulated(columns, [*found.point], digits, whole=whole, foot=foot, what="inputs")


def ending(found: Minimum[Any]) -> str:
    """The verdict in words, the constraints that press, and what it took."""
    lines = [f"{found.verdict}: {printable(found.message)}"]
    for text, multiplier in found.active[:MOST_ACTIVE]:
        lines.append(f"active: {printable(text)}, multiplier {multiplier:.6g}")
    more = len(found.active) - MOST_ACTIVE
    if more > 0:
        lines.append(f"… {more:,} more are active")
    return "\n".join([*lines, evaluations_text(found.counts)])


def evaluations_text(counts: Counts) -> str:
    """How often what was worked out: ``12 values, 9 gradients, 8 Hessians``."""
    words = {
        "value": counts.value,
        "gradient": counts.gradient,
        "Hessian": counts.hessian,
        "product": counts.product,
    }
    return ", ".join(
        f"{count:,} {word}{'s' * (count != 1)}" for word, count in words.items() if count
    )


def stage_table(found: Minimum[Any], digits: int, *, whole: bool = False) -> Table:
    """The way there, a step a line."""
    columns = [
        Column("step", is_number=True, style="dim"),
        Column("value", is_number=True, style="green"),
        Column("‖grad‖", is_number=True, style="yellow"),
        Column("‖update‖", is_number=True, style="dim"),
        *[Column(name, is_number=True, expendable=1) for name in found.point],
    ]
    rows = [
        [one.step, one.value, one.slope, one.moved, *one.inputs.values()] for one in found.stages
    ]
    return tabulated(columns, rows, digits, whole=whole, what="steps")


def found_fields(found: Minimum[Any], *, trace: bool) -> dict[str, Any]:
    """What was found out about a minimum, and the way there with ``trace``, as JSON has it."""
    slopes = {name: [*sides] for name, sides in found.slopes.items()}
    return {
        "direction": None if found.direction is None else shorts(found.direction),
        "curvature": None if found.curvature is None else [*found.curvature],
        "active": [one._asdict() for one in found.active],
        "residual": found.residual,
        **({"kinks": [*found.kinks], "slopes": slopes} if found.kinks else {}),
        "is_found": found.is_found,
        "evaluations": asdict(found.counts),
        **(
            {"minima": Lines(with_shorts(one, "point") for one in found.places)}
            if found.places
            else {}
        ),
        **({"steps": Lines(with_shorts(one, "inputs") for one in found.stages)} if trace else {}),
    }


def with_shorts(one: Resting | Stage, field: str) -> dict[str, Any]:
    """A minimum or a step as JSON has it, with a field of values by name."""
    return {**one._asdict(), field: shorts(getattr(one, field))}


def place_table(found: Minimum[Any], digits: int, *, whole: bool = False) -> Table:
    """The minima that several starts led to."""
    columns = [
        Column("value", is_number=True, style="green"),
        *[Column(name, is_number=True) for name in found.point],
        Column("starts", is_number=True, style="dim"),
    ]
    rows = [[one.value, *one.point.values(), one.starts] for one in found.places]
    return tabulated(columns, rows, digits, whole=whole, what="minima")


def point_rows(
    found: Minimum[Any], start: Mapping[str, Any], gradient: Mapping[str, Any]
) -> Iterator[list[Any]]:
    """The point as CSV: an input a line, with its start and its grad; tensors are JSON."""
    columns: dict[str, Callable[[Any], Any]] = {
        "input": str,
        "start": lambda name: short(start[name]),
        "value": lambda name: short(found.point[name]),
        "grad": lambda name: short(gradient[name]),
    }
    return csv_rows(columns, found.point)
