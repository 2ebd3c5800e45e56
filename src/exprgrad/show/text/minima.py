"""A minimum as a table, as JSON, as CSV; and the way there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from exprgrad.show.documents.fields import short, shorts
from exprgrad.show.text.table import Column, Table, tabulated
from exprgrad.solvers.minima.minimize import Minimum, Stage
from exprgrad.solvers.minima.objective import Counts
from exprgrad.source import printable

__all__ = ["evaluations_text", "point_rows", "point_table", "stage_fields", "stage_table"]


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
        Column("input"),
        Column("start", is_number=True, style="dim", expendable=1),
        Column("value", is_number=True, style="green"),
        Column("grad", is_number=True, style="yellow"),
    ]
    called = found.run.output_label
    foot = f"{printable(called)} = {value:.{digits}g}\n{ending(found)}"
    return tabulated(
        columns,
        [*found.point],
        lambda name: [name, start[name], found.point[name], gradient[name]],
        digits,
        whole=whole,
        foot=foot,
        what="inputs",
    )


def ending(found: Minimum[Any]) -> str:
    """The verdict in words, and what it took."""
    return f"{found.verdict}: {printable(found.message)}\n{evaluations_text(found.counts)}"


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
    return tabulated(
        columns,
        found.stages,
        lambda one: [one.step, one.value, one.slope, one.moved, *one.inputs.values()],
        digits,
        whole=whole,
        what="steps",
    )


def stage_fields(stage: Stage) -> dict[str, Any]:
    """A step as JSON has it."""
    return {**stage._asdict(), "inputs": shorts(stage.inputs)}


def point_rows(
    found: Minimum[Any], start: Mapping[str, Any], gradient: Mapping[str, Any]
) -> Iterator[list[Any]]:
    """The point as CSV: an input a line, with its start and its grad; tensors are JSON."""
    yield ["input", "start", "value", "grad"]
    for name, value in found.point.items():
        yield [name, short(start[name]), short(value), short(gradient[name])]
