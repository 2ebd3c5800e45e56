"""A tensor in a few numbers: its shape, norm and extremes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from exprgrad.graph.graph import Shape
from exprgrad.graph.tensors import STRUCTURAL
from exprgrad.run.arrays.arrays import Array, structural

__all__ = ["Measure", "measure"]


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
            root = float(structural(STRUCTURAL["norm"], [value], (None, False)))
        return Measure(shape, root, float(np.min(value)), float(np.max(value)), 0)
