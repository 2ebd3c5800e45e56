"""The structural rows of the op table, by name."""

from __future__ import annotations

from exprgrad.graph.linear_algebra import LINEAR_ALGEBRA
from exprgrad.graph.movement import MOVES
from exprgrad.graph.reductions import REDUCTIONS
from exprgrad.graph.structural import Structural

__all__ = ["STRUCTURAL", "WORDS"]


def refuse_unknown(row: Structural) -> None:
    """Raise ``ValueError`` for a row of which nothing says how it is computed."""
    if row.value is None and row.formula is None:
        raise ValueError(f"the row '{row.name}' needs a value or a formula")


STRUCTURAL: dict[str, Structural] = {
    row.name: row for row in (*LINEAR_ALGEBRA, *REDUCTIONS, *MOVES)
}
WORDS: dict[str, Structural] = {row.word: row for row in STRUCTURAL.values() if row.name != "index"}
"""The rows by what a person writes before the operands."""

for row in STRUCTURAL.values():
    refuse_unknown(row)
