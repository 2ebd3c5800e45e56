"""Which of a run's numbers on the way have too few right digits, for certain."""

from __future__ import annotations

from collections.abc import Iterable

from exprgrad.explain.digits.trusted import Enclosed, judged
from exprgrad.run.balls.balls import Ball
from exprgrad.run.evaluation import Run

__all__ = ["confirmed"]


def confirmed(
    run: Run, found: Enclosed, data: Iterable[int], grads: Iterable[int], least: int
) -> tuple[set[int], set[int]]:
    """Of some nodes, those whose data, or whose grad, has fewer right digits than ``least``."""

    def is_poor(value: float, true: Ball | None) -> bool:
        """Whether a number is poor; what nobody can tell is not said to be."""
        if true is None:
            return False
        plain = judged(value, true, found.bits)
        if plain.verdict == "zero":
            return value != 0
        return plain.verdict in ("right", "wrong") and plain.digits < least

    swept, mine = found.swept, run.adjoints
    poor = {node for node in data if is_poor(run.values[node], found.values[node])}
    if swept is None or mine is None:
        return poor, set()
    return poor, {node for node in grads if is_poor(mine.grads[node] or 0.0, swept.grads[node])}
