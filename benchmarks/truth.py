"""What is true, as the tests find it: mpmath at the exact doubles, knowing nothing of the rows' rules."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from exprgrad.graph.graph import Graph

__all__ = ["from_tests", "true_gradient"]

TESTS = Path(__file__).parents[1] / "tests"
SETTLED = 100
"""In how many bits two answers agree that are believed."""


def from_tests(module: str) -> Any:
    """A module of the tests' folder, which is no package."""
    if str(TESTS) not in sys.path:
        sys.path.append(str(TESTS))
    return import_module(module)


def true_gradient(graph: Graph, point: Mapping[str, float]) -> dict[str, Any]:
    """The output's gradient: difference quotients, ever more precise until they settle.

    Raises ``ValueError`` where those from the two sides differ, for there is no derivative.
    """
    return {name: true_derivative(graph, point, name) for name in point}


def true_derivative(graph: Graph, point: Mapping[str, float], name: str) -> Any:
    """One input's derivative.  A quotient's own error is about its step, 1/4 of the bits carried."""
    mp = from_tests("oracles").mp
    before = None
    for bits in (1600, 3200, 6400, 12800):
        with mp.workprec(bits):
            left, right = slopes(graph, point, name, bits // 4)
            close = abs(left - right) <= mp.ldexp(1 + abs(left), -SETTLED)
            now = (left + right) / 2
            if close and before is not None:
                if abs(now - before) <= mp.ldexp(abs(now), -SETTLED) and now != 0:
                    return now
                if bits > 6000 and abs(now) < mp.ldexp(1, -1200):
                    return mp.mpf(0)  # which no quotient need be
        before = now
    raise ValueError(f"no derivative by {name} at {dict(point)}: {mp.nstr(left)}, {mp.nstr(right)}")


def slopes(graph: Graph, point: Mapping[str, float], name: str, bits: int) -> tuple[Any, Any]:
    """The difference quotients to the left and to the right, at mpmath's working precision."""
    oracles = from_tests("oracles")
    exact = {other: oracles.mpf(value) for other, value in point.items()}
    x = exact[name]
    step = oracles.mp.ldexp(abs(x) or 1, -bits)

    def at(shift: Any) -> Any:
        return oracles.evaluate(graph, {**exact, name: x + shift})[graph.output]

    here = at(0)
    return (here - at(-step)) / step, (at(step) - here) / step
