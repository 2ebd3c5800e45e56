"""A row's critical points: its answers there, beside what PyTorch and JAX were recorded to return.

The record, ``conventions.json``, is written by ``python -m benchmarks.conventions``, which needs both.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from exprgrad.draw.documents.document import finite
from exprgrad.draw.text.table import decimal
from exprgrad.explain.critical import Critical, critical_points
from exprgrad.graph.ops import Op

__all__ = ["LIBRARIES", "convention_fields", "convention_lines", "record"]

LIBRARIES = {"torch": "PyTorch", "jax": "JAX"}
"""The libraries in the record, and what they are called."""
Answer = tuple[float, Sequence[float | None]]
"""A value and the local derivatives; None where a library says nothing."""
GAP = 2
"""The cells between two columns."""
NARROW = 8
"""The cells of a column of numbers, at least."""


@cache
def record() -> Mapping[str, Any]:
    """The libraries' ``versions``, and their answers by row, under ``operations``."""
    path = Path(__file__).with_name("conventions.json")
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


def answers(op: Op, library: str) -> dict[str, Answer]:
    """What a library was recorded to return, by point as JSON writes it; empty without such a function."""
    row = record()["operations"].get(op.name, {})
    if library not in row:
        return {}
    return {
        json.dumps(point): (float(value), [None if p is None else float(p) for p in partials])
        for point, (value, partials) in zip(row["points"], row[library]["answers"], strict=True)
    }


def recorded(known: Mapping[str, Answer], point: Critical) -> Answer | None:
    """A library's answer at a point."""
    return known.get(json.dumps([finite(x) for x in point.operands]))


def convention_lines(op: Op) -> Iterator[str]:
    """The points as text; nothing for a row that has none.

    The libraries are columns, so that a line is short whatever the number of operands.
    """
    points = critical_points(op)
    if not points:
        return
    known = {library: found for library in LIBRARIES if (found := answers(op, library))}
    heads = ["exprgrad", *[LIBRARIES[library] for library in known]]
    labels = ["value", *[f"for {name}" for name in op.formula_names]]
    blocks = []
    for point in points:
        columns: list[Answer | None] = [(point.value, point.partials)]
        columns += [recorded(found, point) for found in known.values()]
        blocks.append([[cell(column, place) for column in columns] for place in range(len(labels))])
    texts = [heads, *[line for block in blocks for line in block]]
    widths = [max(NARROW, *map(len, column)) for column in zip(*texts, strict=True)]
    indent = max(map(len, labels)) + 4
    yield joined("", heads, widths, indent)
    for point, block in zip(points, blocks, strict=True):
        yield f"  at {where(op, point)}, {point.what}"
        for label, line in zip(labels, block, strict=True):
            yield joined(f"    {label}", line, widths, indent)
    yield from sources(op)


def joined(label: str, cells: Sequence[str], widths: Sequence[int], indent: int) -> str:
    """A label and cells, flush right."""
    padded = [f"{text:>{width + GAP}}" for text, width in zip(cells, widths, strict=True)]
    return f"{label:<{indent}}{''.join(padded)}"


def cell(answer: Answer | None, place: int) -> str:
    """A value, or the derivative for an operand, as people read it."""
    if answer is None:
        return "?"
    number = answer[0] if place == 0 else answer[1][place - 1]
    return "none" if number is None else decimal(number, 6)


def where(op: Op, point: Critical) -> str:
    """The operands of a point by name; a zero's sign is shown, for it may count."""
    pairs = zip(op.formula_names, point.operands, strict=True)
    return ", ".join(f"{name} = {x:g}" for name, x in pairs)


def sources(op: Op) -> Iterator[str]:
    """Which function of which version each library's answers are of."""
    row = record()["operations"].get(op.name)
    for library, name in LIBRARIES.items():
        if row is None:
            yield f"  {name}: not recorded"
            continue
        function = row[library]["function"] if library in row else "has none"
        yield f"  {name} {record()['versions'][library]}: {function}"


def convention_fields(op: Op) -> list[dict[str, Any]]:
    """The points as JSON has them; a library is null that has no such function."""
    known = {library: answers(op, library) for library in LIBRARIES}
    return [
        {
            "at": dict(zip(op.formula_names, map(finite, point.operands), strict=True)),
            "what": point.what,
            "exprgrad": said((point.value, point.partials)),
            **{library: said(recorded(found, point)) for library, found in known.items()},
        }
        for point in critical_points(op)
    ]


def said(answer: Answer | None) -> dict[str, Any] | None:
    """An answer as JSON has it."""
    if answer is None:
        return None
    return {"value": finite(answer[0]), "partials": [finite(partial) for partial in answer[1]]}
