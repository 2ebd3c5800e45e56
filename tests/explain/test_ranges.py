"""Ranges of values: what no input can reach is not in them, and whatever one reaches is."""

from __future__ import annotations

import math
from random import Random

import pytest

from exprgrad import parse
from exprgrad.graph.graph import Graph
from exprgrad.graph.ops import BY_NAME, OPS
from exprgrad.run.balls.balls import working_precision
from exprgrad.run.balls.intervals import reach_of
from exprgrad.run.numbers.sweeps import forward_numbers
from together import together

inf = math.inf


@pytest.mark.parametrize(
    ("formula", "low", "high"),
    [
        ("x^2 + 1", 1, inf),
        ("x*x - 2", -2, inf),
        ("exp(-x^2) - 2", -2, -1),
        ("3 - abs(x)", -inf, 3),
        ("sigmoid(x)*2", 0, 2),
        ("tanh(x) - 1", -2, 0),
        ("atan(x)", -math.pi / 2, math.pi / 2),
        ("hypot(x, y) + 1/2", 0.5, inf),
        ("min(x^2, 5)", 0, 5),
        ("max(x, 5)", 5, inf),
        ("clamp(x, -1, 1)", -1, 1),
        ("where(x > 0, 2, -3)", -3, 2),
        ("(x < 0) + (x > 1000)", 0, 2),
        ("abs(sin(x))", 0, 1),
        ("1/(1 + x^2)", 0, 1),
        ("-1/(1 + exp(x))", -1, 0),
        ("erfc(x)", 0, 2),
        ("k", 4, 4),
        ("k*x^2 - k", -4, inf),
        ("x^3", -inf, inf),
        ("x^k", 0, inf),
        ("sin(x)", -1, 1),
        ("tan(atan(x)/2)", -1, 1),
        ("1/x", -inf, inf),
        ("log(1 + exp(x))", 0, inf),
        ("logsumexp(x, y)", -inf, inf),
        ("logaddexp(x, x^2) + k", 4, inf),
        ("x^0.5 - 1", -1, inf),
        ("2 - x^-0.1", -inf, 2),
    ],
)
def test_ranges(formula: str, low: float, high: float) -> None:
    graph = parse(formula).graph
    assert ends_of(graph, {"k": 4.0}) == (low, high)


def ends_of(graph: Graph, given: dict[str, float]) -> tuple[float, float]:
    """The bounds of a formula's values, as doubles."""
    with working_precision(128):
        found = reach_of(graph, given)[graph.output]
        return float(found.low), float(found.high)


@together([op.name for op in OPS if op.gate and len(op.names) < 3 and not op.variadic])
def test_values_lie_in_their_ranges(name: str) -> None:
    """Each row of one or two operands, over intervals of all kinds."""
    row, random = BY_NAME[name], Random(name)
    for _ in range(40):
        sizes = [random.choice((1, 8, 800)) for _ in row.names]
        ends = [sorted(random.uniform(-size, size) for _ in "lh") for size in sizes]
        limits = zip("xy", ends, strict=False)
        x, *y = [f"clamp({name}, {low!r}, {high!r})" for name, (low, high) in limits]
        text = f"({x}) {row.infix} ({y[0]})" if row.infix else f"{name}({', '.join([x, *y])})"
        graph = parse(f"-({x})" if row.prefix else text).graph
        low, high = ends_of(graph, {})
        for _ in range(20):
            drawn = [random.uniform(*limits) for limits in ends]
            value = forward_numbers(graph, dict(zip("xy", drawn, strict=False)))[graph.output]
            slack = 1e-15 * abs(value) if math.isfinite(value) else 0.0
            assert math.isnan(value) or low - slack <= value <= high + slack, (text, drawn)
