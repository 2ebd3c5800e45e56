"""Formulas in which du/dx stands for a slope, evaluated by differences in mpmath."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

from exprgrad.derive.rules import operation_count, rule_slots
from exprgrad.graph.graph import Graph
from exprgrad.graph.op import Op
from exprgrad.graph.ops import BY_NAME
from exprgrad.language.read.parse import parse_text
from oracles import Real, decimal, evaluate, holds, mp, mpf

__all__ = ["Point"]

STEP = mpf(10) ** -25
"""Of the central differences; 80 digits are carried, and 20 asked for."""


parsed = lru_cache(maxsize=512)(parse_text)
"""The same few texts are asked at several points."""


def value(text: str, inputs: Mapping[str, Real]) -> Real:
    graph = parsed(text)
    return evaluate(graph, inputs, decimal)[graph.output]


class Point:
    """A point and its neighbours on both sides: what every name is worth there."""

    def __init__(self, graph: Graph, wrt: str, point: Mapping[str, float]) -> None:
        self.wrt = wrt
        self.places: list[dict[str, Real]] = []
        for shift in (-STEP, mpf(0), STEP):
            at = {name: mpf(x) + (shift if name == wrt else 0) for name, x in point.items()}
            values = evaluate(graph, at, decimal)
            bound = {b.name: values[b.node] for b in graph.bindings}
            self.places.append({**bound, **at})

    def define(self, name: str, text: str) -> None:
        """A name for what a text is worth."""
        for place in self.places:
            place[name] = value(text, place)

    def forget(self, name: str) -> None:
        """A name that means nothing from here on."""
        for place in self.places:
            del place[name]

    def slope(self, text: str) -> Real:
        """The derivative of a text; nan where it is not smooth."""
        graph = parsed(text)
        values = [evaluate(graph, place, decimal) for place in self.places]
        if any(mp.isfinite(x) and abs(x) > 10**20 for x in values[1]):
            return mp.nan  # too few digits are left
        left, here, right = (row[graph.output] for row in values)
        before, after = (here - left) / STEP, (right - here) / STEP
        # What a central difference leaves out is about the square of this: less than what is asked for.
        smooth = abs(after - before) < mpf(10) ** -9 * (1 + abs(after))
        return (after + before) / 2 if smooth else mp.nan

    def is_special(self, text: str) -> bool:
        """Whether an operation meets a kink or a jump here, where its rule is a convention."""
        graph = parsed(text)
        values = evaluate(graph, self.places[1], decimal)
        for node, kind in enumerate(graph.kinds):
            op = BY_NAME.get(kind)
            if op is not None and not op.variadic:
                args = [values[operand] for operand in graph.operands[node]]
                seen = [*args, values[node], *(mpf(1) for _ in args)]
                if any(holds(special.where, rule_slots(op), seen) for special in op.special):
                    return True
        return False

    def read(self, formula: str) -> Real:
        """The value of a step's formula; ``du/dx`` is the derivative of what u stands for."""
        known = self.places[1]
        slopes: dict[str, Real] = {}

        def slope_name(match: re.Match[str]) -> str:
            fresh = f"slope_of_{match[1]}"
            slopes[fresh] = self.slope(match[1])
            return fresh

        names = "|".join(map(re.escape, sorted(known, key=len, reverse=True)))
        plain = re.sub(rf"(?<!\w)d({names})/d{self.wrt}(?!\w)", slope_name, formula)
        return value(plain, {**known, **slopes})


def shortest_rule(op: Op, position: int) -> str:
    """The rule with fewer operations: the one that is computed, or the one that people read."""
    return min(op.display_partial(position), op.partial(position), key=operation_count)
