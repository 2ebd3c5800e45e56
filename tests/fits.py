"""NIST's certified fits: the sets, and how many digits of an answer are right."""

from __future__ import annotations

import json
from math import inf, log10
from pathlib import Path
from typing import Any

CASES = json.loads((Path(__file__).parent / "cases" / "nist.json").read_text("utf-8"))
SETS: dict[str, dict[str, Any]] = {one["name"]: one for one in CASES["sets"]}
STARTS = ("start1", "start2")


def right(found: float | None, true: str) -> float:
    """The logarithm of the relative error, as digits: 0 for what is no number, 17 at most."""
    if found is None or not abs(found) < inf:
        return 0.0
    off = abs(found - float(true)) / abs(float(true))
    return min(-log10(off), 17.0) if off else 17.0
