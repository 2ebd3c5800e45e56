"""Enclosures hold every value, and every quotient of differences, that points inside have."""

from __future__ import annotations

import math
from random import Random

import pytest

from exprgrad.errors import ExprgradError
from exprgrad.language.read.parse import read_graph
from exprgrad.run.balls.balls import evaluate_in_balls, exact_ball, working_precision
from exprgrad.run.balls.intervals import interval_between
from exprgrad.solvers.roots.systems import Sight, System
from strategies import FREQUENT, tree

LEAVES = ("x", "x", "x", "2", "0.5", "0.1", "3", "pi")
BITS = 128


@pytest.mark.parametrize("count", [60, pytest.param(1200, marks=pytest.mark.slow)])
def test_enclosures_hold_values_and_slopes(count: int) -> None:
    random = Random(7)
    seen = 0
    with working_precision(BITS):
        for _ in range(count):
            text = tree(random, LEAVES, FREQUENT, random.randint(1, 7))
            sight = sight_of(text)
            if sight is not None:
                for _ in range(4):
                    seen += held(sight, *interval(random), random, text)
    assert seen > 2 * count


def sight_of(text: str) -> Sight | None:
    """What is seen of a formula in x; None where it has none, or is refused."""
    try:
        graph = read_graph(text)
        if "x" not in graph.inputs:
            return None
        return Sight(System(graph, (graph.output,), ("x",), {}))
    except ExprgradError:
        return None


def interval(random: Random) -> tuple[float, float]:
    """Two ends: wide or narrow, around special points or others, and now and then infinite."""
    centre = random.choice([0.0, 1.0, -1.0, random.uniform(-3, 3), 10 ** random.uniform(-6, 6)])
    radius = random.choice([10 ** random.uniform(-8, 1), 2.0 ** random.randint(-5, 2)])
    low, high = centre - radius, centre + radius
    return random.choice(
        [(low, high), (low, high), (centre, high), (low, math.inf), (-math.inf, high)]
    )


def held(sight: Sight, low: float, high: float, random: Random, text: str) -> int:
    """Hold the enclosures over an interval against some points; how many values there were."""
    if not low < high:
        return 0
    box = [interval_between(exact_ball(low), exact_ball(high))]
    look, smooth = sight.look(box), sight.is_smooth(box)
    (residual,), ((slope,),) = look.residuals, look.slopes
    first = low if math.isfinite(low) else high - 10 ** random.uniform(-2, 8)
    last = high if math.isfinite(high) else low + 10 ** random.uniform(-2, 8)
    chosen = {
        first,
        last,
        first + (last - first) * random.random(),
        float(round((first + last) / 2)),
    }
    known = []
    for x in sorted(point for point in chosen if low <= point <= high):
        given = {**{name: value.ball for name, value in sight.given.items()}, "x": exact_ball(x)}
        values = evaluate_in_balls(sight.system.graph, given, typed=True)
        value = values[sight.system.outputs[0]]
        if all(each.is_finite() for each in values):
            assert not residual.is_empty and not value < residual.low, (text, low, high, x)
            assert not value > residual.high, (text, low, high, x)
            assert not (look.is_gone and value.is_zero()), (text, low, high, x)
            known.append((x, value))
    if residual.is_finite and slope.is_finite and smooth:
        for x, before in known:
            for y, after in known:
                if x < y:
                    quotient = (after - before) / (exact_ball(y) - exact_ball(x))
                    assert not quotient < slope.low, (text, low, high, x, y)
                    assert not quotient > slope.high, (text, low, high, x, y)
    return len(known)
