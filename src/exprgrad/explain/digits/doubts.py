"""Which of a run's numbers on the way have too few right digits, for certain."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from exprgrad.explain.digits.trusted import judged
from exprgrad.explain.digits.truths import Swept, places_in
from exprgrad.explain.places import at
from exprgrad.run.balls.balls import Ball, ball
from exprgrad.run.evaluation import Run

__all__ = ["confirmed"]


def confirmed(
    run: Run, source: Swept, data: Iterable[int], grads: Iterable[int], least: int
) -> tuple[set[int], set[int]]:
    """Of some nodes, those whose data, or whose grad, has fewer right digits than ``least``."""
    found, mine = source.found, run.adjoints

    def is_poor(value: float, true: Ball | None) -> bool:
        """Whether a number is poor; what nobody can tell is not said to be."""
        if true is None or not math.isfinite(value):
            return False
        plain = judged(value, true, found.bits)
        if plain.verdict == "zero":
            return value != 0
        if plain.verdict == "undecided" and true.is_finite():  # all that it may be is far away
            return bool(abs(ball(value) - true).abs_lower() * ball(10) ** least > true.abs_upper())
        return plain.verdict in ("right", "wrong") and plain.digits < least

    def numbers(node: int, values: Sequence[Any], *, own: bool) -> Iterator[tuple[float, int]]:
        """A node's numbers, each with the node that has the truth about it; its ``own`` alone."""
        for place in places_in(values[node]):
            number = source.number(node, place, own=own)
            if number is not None:
                yield at(values[node], place), number

    poor = {
        node
        for node in data
        if any(is_poor(x, found.values[n]) for x, n in numbers(node, run.values, own=False))
    }
    if found.swept is None or mine is None:
        return poor, set()
    swept = found.swept.grads
    return poor, {
        node
        for node in grads
        if any(is_poor(x, swept[n]) for x, n in numbers(node, mine.grads, own=True))
    }
