"""The test problems of Moré, Garbow and Hillstrom, as formulas."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

CASES = json.loads((Path(__file__).parent / "cases" / "minima.json").read_text("utf-8"))
NEAR = 1e-6
"""A value that is so near to a minimum's, as a part of it, is that."""
NOTHING = 1e-15
"""A value so small is 0, where the least is: sums of squares of residuals that are right to 8 digits."""


class Problem(NamedTuple):
    """A sum of squares, its start times 1, 10 or 100, and the values of its minima that are known."""

    number: int
    name: str
    formula: str
    start: dict[str, Any]
    times: int
    minima: list[float]

    @property
    def label(self) -> str:
        """Its name, and by what its start is multiplied."""
        return self.name if self.times == 1 else f"{self.name}, {self.times} times"

    def is_least(self, value: float, near: float = NEAR, nothing: float = NOTHING) -> bool:
        """Whether a value is that of a minimum."""
        return any(abs(value - least) <= (near * least or nothing) for least in self.minima)


def multiplied(value: Any, times: int) -> Any:
    """A start times a number."""
    return [times * x for x in value] if isinstance(value, list) else times * value


PROBLEMS = [
    Problem(
        one["number"],
        one["name"],
        one["formula"],
        {name: multiplied(value, times) for name, value in one["start"].items()},
        times,
        one["minima"],
    )
    for one in CASES["problems"]
    for times in one["times"]
]
