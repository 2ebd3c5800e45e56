"""The engine for arrays: every row against mpmath, and where a rule is a convention, as for numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import product
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from amounts import many
from exprgrad import parse
from exprgrad.graph.ops import OPS, Op
from exprgrad.run.arrays import arrays
from exprgrad.run.evaluation import SweptRun
from oracles import computed, holds, is_special, mp, true_partial, true_value, ulps
from rounding import Bounds, bounds, of_partial, of_value
from strategies import apply, everyday, points, smooth
from together import together

ENGINE_ULP = 5.0
"""What an engine over arrays may add for each primitive: DESIGN, section 5."""
SETTLED = 2.0**-10
"""The ulps by which a difference quotient that settled may be wrong."""
SEEDS = [pytest.param(0, 40, 8), pytest.param(1, many(600), many(100), marks=pytest.mark.slow)]

each_row = pytest.mark.parametrize("op", OPS, ids=lambda op: op.name)
sampled = pytest.mark.parametrize(("seed", "values", "partials"), SEEDS)


def arity(op: Op) -> int:
    return 3 if op.variadic else len(op.names)


def columns(rows: Sequence[tuple[float, ...]]) -> list[Any]:
    """The rows' operands, each as one array."""
    return [np.array(column) for column in zip(*rows, strict=True)]


def inside(op: Op, seed: int, count: int) -> list[tuple[float, ...]]:
    """Points in a row's domain."""
    tried = points(Random(f"{op.name} array {seed}"), arity(op), count * 4)
    return [args for args in tried if holds(op.domain, op.names, args)][:count]


def swept(op: Op, rows: list[tuple[float, ...]]) -> tuple[Any, dict[int, Any]]:
    """The operation's values on arrays, and by operand its local derivatives."""
    names = [f"a{position}" for position in range(arity(op))]
    run = parse(f"y = {apply(op, names)}; sum(y)").gradient(
        dict(zip(names, columns(rows), strict=True))
    )
    (node,) = [binding.node for binding in run.graph.bindings]
    locals_ = {edge.position: edge.local for edge in run.edges if edge.user == node}
    return run.values[node], {
        position: np.broadcast_to(local, (len(rows),)) for position, local in locals_.items()
    }


@each_row
@sampled
def test_values_are_within_the_engines_ulps(op: Op, seed: int, values: int, partials: int) -> None:
    rows = inside(op, seed, values)
    assert len(rows) > values / 10
    found = arrays.forward_arrays(parse_call(op), named(rows))[-1]
    for args, number in zip(rows, found, strict=True):
        true = true_value(op.name, *args)
        near_zero = abs(true - float(number)) <= op.value_abs
        allowed = of_value(op, ENGINE_ULP)
        assert near_zero or ulps(float(number), true) <= allowed, (args, number)


def parse_call(op: Op) -> Any:
    return parse(apply(op, [f"a{position}" for position in range(arity(op))])).graph


def named(rows: list[tuple[float, ...]]) -> dict[str, Any]:
    return {f"a{position}": column for position, column in enumerate(columns(rows))}


@each_row
@sampled
def test_local_derivatives_are_within_the_stated_ulps(
    op: Op, seed: int, values: int, partials: int
) -> None:
    """A rule's own bound, and the engine's for each operation in it that is not correctly rounded.

    Only where the rule on numbers keeps its bound: a row's caveat is its own.
    """
    rows = [args for args in inside(op, seed, 2 * partials) if not is_special(op, args)][:partials]
    _, locals_ = swept(op, rows)
    for position, found in locals_.items():
        allowed = of_partial(op, position, ENGINE_ULP) + SETTLED
        for at, args in enumerate(rows):
            true = true_partial(op.name, position, args)
            if ulps(computed(op, args)[1][position], true) <= op.partial_ulp + SETTLED:
                near_zero = abs(true - float(found[at])) <= op.partial_abs
                assert near_zero or ulps(float(found[at]), true) <= allowed, (
                    position,
                    args,
                    found[at],
                )


ENDS = (
    0.0, -0.0, 1.0, -1.0, 0.5, -1.5, 2.0, 3.0, -3.0, 0.25, math.inf, -math.inf, math.nan,
    5e-324, -5e-324, 1e308, -1e308,
)  # fmt: skip
FEWER = (0.0, -0.0, 1.0, -1.0, 2.0, math.inf, -math.inf, math.nan)
EITHER_ZERO = ("min", "max", "clamp", "relu", "relu6")
"""Which of two zeros they give is no promise."""


@together(OPS)
def test_conventions_are_those_of_the_engine_for_numbers(op: Op) -> None:
    """Poles, kinks, jumps, domain edges, infinities, nan, either zero: value and local derivatives."""
    rows = list(product(ENDS if arity(op) < 3 else FEWER, repeat=arity(op)))
    values, locals_ = swept(op, rows)
    for at, args in enumerate(rows):
        value, slopes = computed(op, args)
        same(float(values[at]), value, args)
        if value == 0 and op.name not in EITHER_ZERO:
            assert math.copysign(1, values[at]) == math.copysign(1, value), args
        assert len(slopes) >= len(locals_)
        for position, found in locals_.items():
            same(float(found[at]), slopes[position], args)


def same(found: float, expected: float, args: tuple[float, ...]) -> None:
    """The same special value, or numbers that both are within some ulp of the truth."""
    if math.isnan(expected) or math.isinf(expected) or expected == 0:
        assert found == expected or (math.isnan(found) and math.isnan(expected)), (args, expected)
    else:
        assert abs(found - expected) <= 20 * math.ulp(expected), (args, found, expected)


# Whole formulas.


def pointwise(text: str, rows: Sequence[tuple[float, ...]]) -> SweptRun:
    """The gradient of a formula over arrays, which ends in a sum."""
    given = dict(zip("xyz", columns(rows), strict=True))
    f = parse(text)
    return f.gradient({name: given[name] for name in f.inputs})


def meaningful(text: str, point: dict[str, float]) -> Bounds | None:
    """The truth and the engine's bounds; None where a first-order bound means nothing."""
    run = parse(text).gradient(point)
    if run.diagnostics or not all(v == 0 or 1e-60 < abs(v) < 1e60 for v in run.values):
        return None
    found = bounds(run.graph, point, ENGINE_ULP)
    for true, error in zip(found.values, found.errors, strict=True):
        if not mp.isfinite(true) or error > mp.ldexp(abs(true), -24):
            return None
    return found if all(map(mp.isfinite, found.gradient_errors.values())) else None


@pytest.mark.parametrize("count", [6, pytest.param(200, marks=pytest.mark.slow)])
def test_a_formula_over_arrays_is_the_formula_at_each_point(count: int) -> None:
    """Value and gradient against mpmath, within what the engine's ulps allow to first order."""

    @settings(max_examples=count)
    @given(smooth(), st.lists(st.tuples(everyday, everyday, everyday), min_size=1, max_size=3))
    def hold(text: str, rows: list[tuple[float, float, float]]) -> None:
        graph = parse(text).graph
        run = pointwise(f"value = {text}; sum(value*[1, 1, 1])", [*rows, *rows, *rows][:3])
        values = np.broadcast_to(run.values[run.graph.bindings[0].node], (3,))
        for at, row in enumerate(rows):
            place = dict(zip("xyz", row, strict=True))
            held = meaningful(text, {name: place[name] for name in graph.inputs})
            if held is None:
                continue
            apart = [abs(held.values[graph.output] - float(values[at])) - held.errors[graph.output]]
            for name in graph.inputs:
                wrong = abs(held.gradient[name] - float(run.swept[name][at]))
                apart.append(wrong - held.gradient_errors[name])
            assert max(apart) <= 0, (text, row)

    hold()


def test_kinks_inside_a_formula_are_as_for_numbers() -> None:
    text = "max(x, y)*abs(z) + relu(x - y) + clamp(z, x, y) + min(x, 0)"
    rows = list(product((-1.0, 0.0, 1.0), repeat=3))
    run = pointwise(f"sum({text})", rows)
    f = parse(text)
    for at, (x, y, z) in enumerate(rows):
        expected = f.gradient(x=x, y=y, z=z).swept
        assert {name: run.swept[name][at] for name in "xyz"} == expected, (x, y, z)


DEAD = (
    "sum(where(x > 0, log(x), x))",
    "sum(where(x > 0, where(x > 1, sqrt(x), 1/x), x*x))",
    "sum(where(x > 0, x^y, y))",
)


@pytest.mark.parametrize("text", DEAD)
def test_a_branch_that_is_not_taken_passes_nothing(text: str) -> None:
    x = np.array([-1.0, 0.0, 0.5, 4.0])
    given = {"x": x, "y": np.full(4, 2.0)}
    f = parse(text)
    run = f.gradient({name: given[name] for name in f.inputs})
    inner = parse(text[4:-1])
    for at in range(4):
        point = {name: float(given[name][at]) for name in f.inputs}
        expected = inner.gradient(point).gradient
        assert {name: run.swept[name][at] for name in f.inputs} == expected
