"""Rewrites that help at a point, tried there before they are suggested: to be finite, or to keep digits."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import islice

from exprgrad.derive.parsed import parsed
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
from exprgrad.explain.places import live
from exprgrad.explain.rewriting.rewrites import (
    EXTENSIONS,
    REWRITES,
    Mend,
    Rewrite,
    mended_formula,
    mends,
)
from exprgrad.graph.graph import Graph, dependencies, seen_from, spliced, transform
from exprgrad.graph.ops import BY_NAME
from exprgrad.language.write.infix import LIMIT
from exprgrad.run.balls.balls import Ball
from exprgrad.run.evaluation import Run
from exprgrad.run.numbers.sweeps import forward, reverse
from exprgrad.source import cut

__all__ = ["Menders", "advice", "replaced", "where_words"]

SOUND = 2
TRIED = 8
"""The most rewrites that are tried at a node."""
MOST_TRIED = 12
"""How many mends are tried for a number, in a small graph."""
MOST_SEARCHED = 8
"""At how many nodes mends are looked for, in a small graph."""
SMALL = 2000
"""How many nodes, at all places searched together, a small graph may have."""


def advice(run: Run, node: int) -> str | None:
    """What to write instead of the pattern that a node is part of, if that is finite here."""
    for table in (REWRITES, EXTENSIONS):
        if mend := verified(run, node, table):
            where = where_words(mend)
            note = f" where {where}" if where else ""
            if table is EXTENSIONS:
                note = f" for {mend.rewrite.why}"
            return f"write {cut(mend.text, LIMIT)} instead of {mend.was}{note}"
    return None


def where_words(mend: Mend) -> str:
    """Where a mend is the same as what it replaces: ``x > 0 and y > 0``; empty if everywhere."""
    return " and ".join(text for text in mend.where if not is_certain(parsed(text)))


def is_certain(condition: Graph) -> bool:
    """Whether a condition that holds here holds everywhere: it has no inputs, or is ``x^2 >= 0``."""
    if not condition.inputs:
        return True
    operands = condition.operands[condition.output]
    if condition.kinds[condition.output] != "ge" or condition.payloads[operands[1]] != 0:
        return False
    kind, (*_, last) = condition.kinds[operands[0]], condition.operands[operands[0]] or (0,)
    power = condition.payloads[last]
    is_even = kind == "pow" and isinstance(power, float) and power % 2 == 0
    return is_even or (kind in BY_NAME and BY_NAME[kind].not_negative)


def verified(run: Run, node: int, table: Sequence[Rewrite]) -> Mend | None:
    """The first mend at a node that makes the answer finite.

    Else one that helps in its own part, if the answer then no longer depends on the node.
    """
    held = None
    for mend in islice(mends(run.graph, run.texts, node, table), TRIED):
        if table is REWRITES and not is_true(run, mend):
            continue
        graph, images = replaced(run.graph, mend.node, mend.text)
        if health(run, graph, graph.output) == SOUND:
            return mend
        if node != mend.node and dependencies(graph, graph.output)[images[node]]:
            continue
        before, now = health(run, run.graph, mend.node), health(run, graph, images[mend.node])
        if before < now == SOUND:
            return mend  # what else is wrong is wrong elsewhere
        if held is None and before < now:
            held = mend
    return held


def is_true(run: Run, mend: Mend) -> bool:
    """Whether a rewrite is the same as what it replaces, where the run was made."""
    if not mend.where:
        return True
    where = "*".join(f"({one})" for one in mend.where)
    graph, images = replaced(run.graph, mend.node, where)
    return bool(forward(graph, run.inputs)[images[mend.node]])


def health(run: Run, graph: Graph, output: int) -> int:
    """How finite a node is at the run's inputs.

    It is 1 if its value is and no derivative is nan, and ``SOUND`` if all that it is made of is finite, and
    its gradient too.
    """
    view = seen_from(graph, output)
    values = forward(view, run.inputs)
    wrt = tuple([name for name in run.wrt or () if name in view.inputs])
    adjoints = None
    if run.adjoints is not None:
        adjoints = reverse(view, values, [view.inputs[name] for name in wrt])
    found = Run("", view, run.inputs, values, adjoints, wrt)
    used = live(found)
    parts = [value for value, flag in zip(values, used, strict=True) if flag]
    gradient = [*found.swept.values()]
    if all(map(math.isfinite, [*parts, *gradient])):
        return SOUND
    return int(math.isfinite(found.value) and not any(map(math.isnan, gradient)))


def replaced(graph: Graph, place: int, text: str) -> tuple[Graph, list[int]]:
    """The graph with a formula in place of a node; and by node what stands in its place now."""
    known = {name: node for name, node, _ in graph.bindings} | graph.inputs

    def rule(made: Graph, node: int, images: Sequence[int]) -> int | None:
        if node != place:
            return None
        part = parsed(text)
        given = {name: images[at] for name, at in known.items() if at < node}
        return spliced(made, part, given)[part.output]

    return transform(graph, rule)


# Of which digits are kept.


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
                text = mended_formula(self.run.text, mend)
                if text in seen or len(seen) >= self.most_tried:
                    continue
                seen.add(text)
                if not is_true(self.run, mend):
                    continue
                tried = self.tried_with(name, text, true)
                if tried is not None and is_better(tried, plain):
                    value, digits, verdict = tried.value, tried.digits, tried.verdict
                    where = where_words(mend) or None
                    return Better(
                        mend.span, mend.was, mend.text, where, text, value, digits, verdict
                    )
        return None

    def tried_with(self, name: str, text: str, true: Ball) -> Trusted | None:
        """A number by another formula; None if that is not the same, for all that can be told."""
        graph = parsed(text)
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
