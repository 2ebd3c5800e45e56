"""Numbers that the library and the commands share: a leaf, so that both have them without loading more."""

from __future__ import annotations

__all__ = ["LISTED_PATHS", "MOST_STEPS"]

LISTED_PATHS = 5
"""How many paths are listed for each input unless you ask for another number."""
MOST_STEPS = 100_000
"""How many steps a descent takes at most."""
