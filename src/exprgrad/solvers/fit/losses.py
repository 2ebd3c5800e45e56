"""What a residual costs: its square, or less where it may be an outlier."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

__all__ = ["LOSSES", "Loss"]


class Loss(NamedTuple):
    """A loss of z, a residual's square in units of the scale's: the loss, and its two derivatives.

    Each is z for small z and concave, so that z times the first derivative never exceeds the loss.
    """

    value: Callable[[Any], Any]
    first: Callable[[Any], Any]
    second: Callable[[Any], Any]


LOSSES: Mapping[str, Loss] = {
    "huber": Loss(
        lambda z: np.where(z <= 1, z, 2 * np.sqrt(z) - 1),
        lambda z: np.where(z <= 1, 1.0, 1 / np.sqrt(np.maximum(z, 1))),
        lambda z: np.where(z <= 1, 0.0, -0.5 * np.maximum(z, 1) ** -1.5),
    ),
    "soft_l1": Loss(
        lambda z: 2 * z / (1 + np.sqrt(1 + z)),
        lambda z: 1 / np.sqrt(1 + z),
        lambda z: -0.5 * (1 + z) ** -1.5,
    ),
    "cauchy": Loss(
        np.log1p,
        lambda z: 1 / (1 + z),
        lambda z: -1 / (1 + z) ** 2,
    ),
}
"""Sources: P. J. Huber, Robust Statistics (1981), 7.8; B. Triggs et al., Bundle Adjustment (2000), 3.4."""
