"""How much the slow tests draw: CI's share, or ``EXPRGRAD_LONG`` times as much at a desk."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TypeVar
from zlib import crc32

T = TypeVar("T")
LONG = int(os.environ.get("EXPRGRAD_LONG", "1"))


def many(count: int) -> int:
    """As many as CI draws, or so many times as many as ``EXPRGRAD_LONG`` says (10 is an hour or two)."""
    return count * LONG


def some(items: Sequence[T], name: str, count: int) -> Sequence[T]:
    """CI's share of these: so many, drawn by a test's name; all of them where more is asked for."""
    start = crc32(name.encode()) % len(items)
    return items if LONG > 1 else [items[(start + k) % len(items)] for k in range(count)]
