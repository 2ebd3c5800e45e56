"""Work counted in calls of functions: the same on a busy machine as on a quiet one."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def calls(function: Callable[[], T]) -> tuple[T, int]:
    """What a function gives, and how many functions it called, those in C too."""
    count = 0

    def look(_frame: object, event: str, _argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(look)
    try:
        found = function()
    finally:
        sys.setprofile(before)
    return found, count
