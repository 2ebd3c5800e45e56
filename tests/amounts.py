"""How much the slow tests draw: CI's share, or ``EXPRGRAD_LONG`` times as much at a desk."""

from __future__ import annotations

import os

LONG = int(os.environ.get("EXPRGRAD_LONG", "1"))


def many(count: int) -> int:
    """As many as CI draws, or so many times as many as ``EXPRGRAD_LONG`` says (10 is an hour or two)."""
    return count * LONG
