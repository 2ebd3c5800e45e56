"""A formula over two inputs as JSON and as CSV."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from exprgrad.show.documents.fields import Lines
from exprgrad.solvers.curves.plane import Plane

__all__ = ["plane_fields", "plane_rows"]


def plane_fields(found: Plane) -> Iterator[tuple[str, Any]]:
    """The fields of the JSON object."""
    first, second = found.names
    yield "inputs", found.given
    yield "ranges", {name: [*span] for name, span in zip(found.names, found.spans, strict=True)}
    yield "shown", [*found.window]
    yield (
        "critical",
        Lines(
            {"at": {first: one.x, second: one.y}, "kind": one.kind, "value": one.value}
            for one in found.critical
        ),
    )
    if found.path:
        yield "path", Lines({first: x, second: y} for x, y in found.path)
        yield "message", found.ending
    yield "grid", {first: found.x, second: found.y}
    yield "values", Lines(found.values)


def plane_rows(found: Plane) -> Iterator[list[Any]]:
    """The grid as CSV: the two inputs, and the value."""
    yield [*found.names, "f"]
    for y, row in zip(found.y, found.values, strict=True):
        for x, value in zip(found.x, row, strict=True):
            yield [x, y, value]
