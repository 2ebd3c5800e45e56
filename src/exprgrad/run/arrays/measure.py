"""What is worth saying about an array: its norm and extremes, and where a condition holds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, cast

import numpy as np

from exprgrad.graph.graph import Graph
from exprgrad.graph.literal import Settings, Shape
from exprgrad.graph.tensors import STRUCTURAL
from exprgrad.run.arrays.arrays import Array

__all__ = [
    "Measure", "all_finite", "at", "infinities", "is_any", "is_true", "kinks", "measure", "nans", "places",
    "shape",
]  # fmt: skip


class Measure(NamedTuple):
    """A tensor in a few numbers; where it holds nan, its extremes are those of the other numbers."""

    shape: Shape
    norm: float
    least: float
    greatest: float
    nans: int


def measure(value: Array) -> Measure:
    """A tensor's shape, the root of its sum of squares, its extremes, and how many nan it holds."""
    with np.errstate(all="ignore"):
        count = int(np.count_nonzero(np.isnan(value)))
        shape = np.shape(value)
        if count:
            known = value[~np.isnan(value)]
            ends = (float(known.min()), float(known.max())) if known.size else (np.nan, np.nan)
            return Measure(shape, np.nan, *ends, count)
        root = float(np.sqrt(np.vdot(value, value)))
        if not 1e-140 < root < 1e150:
            root = float(STRUCTURAL["norm"].value(np, [value], (None, False)))
        return Measure(shape, root, float(np.min(value)), float(np.max(value)), 0)


def shape(value: Array) -> Shape:
    """A tensor's shape; a number's is ``()``."""
    return np.shape(value)


def all_finite(value: Array) -> bool:
    """Whether a number, or every number of a tensor, is finite."""
    return bool(np.all(np.isfinite(value)))


def nans(value: Array) -> Array:
    """Where a tensor is nan."""
    return np.isnan(value)


def infinities(value: Array) -> Array:
    """Where a tensor is infinite."""
    return np.isinf(value)


def is_any(*flags: Array) -> Array:
    """Where one of some conditions holds."""
    return np.any(np.broadcast_arrays(*flags), axis=0)


def is_true(value: Array) -> Array:
    """Where a condition's number is not 0."""
    return np.not_equal(value, 0)


def places(flags: Array) -> tuple[int, tuple[int, ...]]:
    """In how many places a condition holds, and the first of them."""
    count = int(np.count_nonzero(flags))
    index = np.unravel_index(int(np.argmax(flags)), np.shape(flags)) if count else ()
    return count, tuple([int(place) for place in index])


def at(value: Array, index: tuple[int, ...]) -> float:
    """A tensor's number in a place; a number is the same everywhere."""
    return float(value[index]) if np.ndim(value) else float(value)


def kinks(graph: Graph, node: int, operands: Sequence[Array], out: Array) -> Array | None:
    """Where the derivative of a structural node is a convention; None if it never is."""
    row = STRUCTURAL[graph.kinds[node]]
    if row.kink is None:
        return None
    with np.errstate(all="ignore"):
        return row.kink(np, operands, out, cast(Settings, graph.payloads[node]))
