"""What moves inputs: numbers and tensors, scaled, added and compared."""

from __future__ import annotations

import math

import numpy as np

from exprgrad.run.values.updates import added, length, same, scaled, trouble


def test_numbers() -> None:
    assert scaled(1e300, 1e300) == math.inf and math.copysign(1, scaled(0.0, -1.0)) == 1
    assert added(1.0, 0.5) == 1.5 and length(-3.0) == 3.0
    assert same(0.0, -0.0) and not same(1.0, math.nextafter(1.0, 2.0))
    assert [trouble(x) for x in (1.0, math.nan, -math.inf)] == ["", "nan", "infinite"]


def test_tensors() -> None:
    x = np.array([3.0, -4.0])
    assert scaled(x, -2.0).tolist() == [-6, 8] and added(x, x).tolist() == [6, -8]
    assert length(x) == 5.0
    assert same(x, x + 0.0) and not same(x, np.array([3.0, 4.0]))
    assert trouble(np.array([1.0, math.nan])) == "nan"
    assert trouble(np.array([1.0, -math.inf])) == "infinite" and trouble(x) == ""
