"""Derived graphs: bit for bit what the sweeps over numbers find, with only active nodes visited."""

from __future__ import annotations

import math
from collections.abc import Iterable
from itertools import product
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from exprgrad.derive.sweeps.gradient import gradient
from exprgrad.graph.ops import OPS, Op
from exprgrad.language.read.parse import parse_text
from exprgrad.run.numbers.sweeps import forward_numbers, reverse_sweep
from invariants import check
from oracles import graph_of
from strategies import double, expressions, points
from together import together

LEAVES = ("x", "y", "z", "x", "y", "2", "-1", "0", "0.5", "3", "inf")


def alike(one: float, other: float) -> bool:
    """The same double, the sign of zero aside; all nan are one."""
    return one == other or (math.isnan(one) and math.isnan(other))


def hold_equal(text: str, points: Iterable[dict[str, float]]) -> None:
    graph = parse_text(text)
    program = gradient(graph, list(graph.inputs))
    check(program.graph)
    for values in points:
        given = {name: values[name] for name in graph.inputs}
        data = forward_numbers(graph, given)
        grads = reverse_sweep(graph, data, graph.inputs.values()).grads
        expected = [data[graph.output], *[grads[node] or 0.0 for node in graph.inputs.values()]]
        numbers = forward_numbers(program.graph, given)
        found = [numbers[output] for output in program.outputs]
        assert all(map(alike, found, expected)), (text, given, found, expected)


@settings(max_examples=60)
@given(expressions(LEAVES, 12), st.integers(0, 2**32))
def test_bit_for_bit_on_generated_expressions(text: str, seed: int) -> None:
    random = Random(seed)
    some = (-2.0, -1.0, 0.0, 1.0, 2.0, 0.5)
    points = [{name: double(random) for name in "xyz"} for _ in range(3)]
    points += [{name: random.choice(some) for name in "xyz"} for _ in range(3)]
    hold_equal(text, points)


@pytest.mark.parametrize("seeds", [8, pytest.param(1000, marks=pytest.mark.slow)])
def test_bit_for_bit_in_nested_dead_branches(seeds: int) -> None:
    for seed in range(seeds):
        hold_equal_in_dead_branches(seed)


def hold_equal_in_dead_branches(seed: int) -> None:
    """Nests of ``where`` over operations that are infinite or undefined on one side."""
    random = Random(seed)
    atoms = ["x", "y", "log(x)", "sqrt(y)", "1/x", "x^y", "exp(x*y)", "u", "u", "v"]
    conditions = ["x > 0", "y > 0", "x < y", "x", "u > 1", "(x > 0)*(y > 0)"]

    def branch(depth: int) -> str:
        if depth == 0:
            return random.choice(atoms)
        kind = random.randrange(3)
        if kind == 0:
            return f"({branch(depth - 1)} {random.choice('+*-')} {branch(depth - 1)})"
        return f"where({random.choice(conditions)}, {branch(depth - 1)}, {branch(depth - 1)})"

    text = f"u = log(x) + y; v = u*sqrt(x); {branch(4)}"
    places = product((-1.0, 0.0, 0.5, 2.0, -0.0, 1e300), (-1.0, 0.0, 3.0))
    hold_equal(text, [{"x": x, "y": y} for x, y in places])


@together(OPS)
def test_bit_for_bit_on_every_row(op: Op) -> None:
    count = 3 if op.variadic else len(op.names)
    graph = graph_of(op, count)
    program = gradient(graph, list(graph.inputs))
    for args in points(Random(op.name), count, 60):
        given = dict(zip(graph.inputs, args, strict=True))
        data = forward_numbers(graph, given)
        grads = reverse_sweep(graph, data, graph.inputs.values()).grads
        numbers = forward_numbers(program.graph, given)
        for name, output in zip(graph.inputs, program.outputs[1:], strict=True):
            assert alike(numbers[output], grads[graph.inputs[name]] or 0.0), (op.name, args)
