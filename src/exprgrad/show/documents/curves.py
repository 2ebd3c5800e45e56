"""A curve as JSON, as CSV, and as lines for scripts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from exprgrad.show.documents.fields import Lines
from exprgrad.solvers.curves.curve import Curve, Feature

__all__ = ["curve_fields", "curve_rows"]

GROUPS = {
    "roots": ("root",), "extrema": ("minimum", "maximum"), "inflections": ("inflection",),
    "kinks": ("kink", "cusp"), "jumps": ("jump",), "poles": ("pole",), "edges": ("edge",),
    "holes": ("hole",),
}  # fmt: skip
"""The field of each sort of feature."""
OF_VALUE = {"jumps", "poles", "holes"}
"""Those whose two sides are limits of the value; the others' are slopes."""
SEVERAL_KINDS = {"extrema", "kinks"}
"""Those of several kinds."""
DERIVATIVES = ("value", "derivative", "second_derivative")


def curve_fields(found: Curve, order: int) -> Iterator[tuple[str, Any]]:
    """The fields of the JSON object, up to the derivative of an order."""
    yield "inputs", found.given
    yield "ranges", {found.name: [found.low, found.high]}
    yield "shown", [found.windows[0][0], found.windows[0][1]]
    for field, kinds in GROUPS.items():
        yield (
            field,
            Lines(feature_fields(one, field) for one in found.features if one.kind in kinds),
        )
    yield "dense", [[low, high] for low, high in found.dense]
    if found.tangent:
        at, value, slope = found.tangent
        yield "tangent", {"at": at, "value": value, "slope": slope}
    yield (
        "samples",
        Lines(
            {"input": piece.x, **dict(zip(DERIVATIVES[: order + 1], piece[1:], strict=False))}
            for piece in found.arcs
        ),
    )


def feature_fields(one: Feature, field: str) -> dict[str, Any]:
    """A feature as JSON has it."""
    kind = {"kind": one.kind} if field in SEVERAL_KINDS else {}
    if field == "roots":
        return {"at": one.x}
    sides = {"left": one.left, "right": one.right}
    return {
        "at": one.x,
        **kind,
        "value": one.value,
        ("limits" if field in OF_VALUE else "slopes"): sides,
    }


def curve_rows(found: Curve, order: int) -> Iterator[list[Any]]:
    """The samples as CSV: the input, the value, its derivatives, and which piece of the curve it is."""
    yield [found.name, *["f", "df", "d2f"][: order + 1], "piece"]
    for at, piece in enumerate(found.arcs, 1):
        for row in zip(*piece[: order + 2], strict=True):
            yield [*row, at]
