"""Mends that keep more of a number's digits: tried at the very point before they are suggested."""

from __future__ import annotations

from collections.abc import Iterable

from exprgrad.explain.digits.trusted import (
    FIRST_BITS,
    MOST_WORK,
    NEAREST,
    Better,
    Trusted,
    derivative,
    enclosed,
    judged,
)
from exprgrad.explain.rewriting.mending import is_true
from exprgrad.explain.rewriting.rewrites import Mend, applied, mends
from exprgrad.language.read.parse import parse
from exprgrad.run.balls.balls import Ball
from exprgrad.run.numbers.sweeps import forward, reverse
from exprgrad.run.result import Run

__all__ = ["Menders"]

MOST_TRIED = 12
"""How many mends are tried for a number, in a small graph."""
MOST_SEARCHED = 8
"""At how many nodes mends are looked for, in a small graph."""
SMALL = 2000
"""How many nodes, at all places searched together, a small graph may have."""


class Menders:
    """The known mends of a formula; each node is searched once, and only so many are.

    ``value`` is the formula's true value, which a mend must keep.
    """

    def __init__(self, run: Run, value: Ball) -> None:
        self.run = run
        self.value = value
        self.found: dict[int, list[Mend]] = {}
        self.most = max(1, min(MOST_SEARCHED, SMALL // len(run.graph)))
        self.most_tried = min(MOST_TRIED, MOST_WORK // (FIRST_BITS * len(run.graph)))

    def at(self, node: int) -> list[Mend]:
        """The mends in which a node takes part."""
        if node not in self.found:
            if len(self.found) >= self.most:
                return []
            self.found[node] = list(mends(self.run.graph, self.run.texts, node))
        return self.found[node]

    def better(self, name: str, nodes: Iterable[int], plain: Trusted, true: Ball) -> Better | None:
        """The first mend, of those at some nodes, that keeps more of a number than ``plain`` says.

        ``name`` is the input that it is the derivative by, or empty for the value.
        """
        seen: set[str] = set()
        for node in nodes:
            for mend in self.at(node):
                text = applied(self.run.text, mend)
                if text in seen or len(seen) >= self.most_tried:
                    continue
                seen.add(text)
                if not is_true(self.run, mend):
                    continue
                tried = self.tried_with(name, text, true)
                if tried is not None and is_better(tried, plain):
                    value, digits, verdict = tried.value, tried.digits, tried.verdict
                    return Better(mend.span, mend.was, mend.text, text, value, digits, verdict)
        return None

    def tried_with(self, name: str, text: str, true: Ball) -> Trusted | None:
        """A number by another formula; None if that is not the same, for all that can be told."""
        graph = parse(text)
        if name and name not in graph.inputs:
            return None
        inputs = {read: self.run.inputs[read] for read in graph.inputs}
        values = forward(graph, inputs)
        found = enclosed(graph, inputs, [name] if name else None)
        number, other = values[graph.output], found.values[graph.output]
        if not meets(other, self.value):
            return None
        if name:
            number = reverse(graph, values, [graph.inputs[name]]).grads[graph.inputs[name]] or 0.0
            other = derivative(found, graph, name)
        if not (other.is_finite() and bool(other.overlaps(true))):
            return None
        return judged(number, other, found.bits)


def is_better(tried: Trusted, plain: Trusted) -> bool:
    """Whether a number has more right digits than another, or is the nearest double where that is not."""
    nearest = tried.verdict in NEAREST and tried.value != plain.value
    return tried.digits > plain.digits or nearest


def meets(one: Ball, other: Ball) -> bool:
    """Whether two true numbers may be the same; one that does not exist is like no other."""
    if one.is_nan() or other.is_nan():
        return bool(one.is_nan() and other.is_nan())
    return bool(one.overlaps(other))
