"""Values and partials that share their work: as accurate as engines must be, and found where they are."""

from __future__ import annotations

import math
from random import Random

import pytest

from exprgrad.derive.sweeps.gradient import gradient
from exprgrad.graph.graph import Program, dependent_flags
from exprgrad.graph.ops import OPS, Op
from exprgrad.language.read.parse import parse_text
from exprgrad.run.engines.programs import fuse_partials
from exprgrad.run.numbers.sweeps import forward_numbers
from invariants import check
from oracles import graph_of, holds, is_special, true_partial, true_value, ulps
from strategies import points

JOINT = [op for op in OPS if op.fused_partials]
ULPS = 5.0
COSTLY = {
    "exp", "expm1", "exp2", "log", "log1p", "pow", "sin", "cos", "tan", "tanh", "sinh", "cosh", "sigmoid",
    "erf", "erfc", "hypot", "atan", "atan2", "asinh", "gelu", "silu",
}  # fmt: skip
"""Functions that take as long as a dozen sums or more."""


def costly(program: Program) -> int:
    """How many there are that depend on an input."""
    graph = program.graph
    varying = dependent_flags(graph, graph.inputs.values())
    return sum(kind in COSTLY and varying[node] for node, kind in enumerate(graph.kinds))


def derived(op: Op) -> tuple[Program, list[str]]:
    graph = graph_of(op, len(op.names))
    return gradient(graph, list(graph.inputs)), list(graph.inputs)


@pytest.mark.parametrize("op", JOINT, ids=lambda op: op.name)
def test_a_value_and_a_partial_each(op: Op) -> None:
    assert len(op.fused_partials) == 1 + len(op.partials)
    program = fuse_partials(derived(op)[0])
    check(program.graph)
    assert costly(program) <= costly(derived(op)[0])


@pytest.mark.parametrize("op", JOINT, ids=lambda op: op.name)
@pytest.mark.parametrize("count", [60, pytest.param(2_000, marks=pytest.mark.slow)])
def test_within_five_ulp(op: Op, count: int) -> None:
    """With the C library's functions, which are within 2 ulp of the truth."""
    program, inputs = derived(op)
    joint = fuse_partials(program)
    for row in points(Random(f"joint {op.name} {count}"), len(inputs), count):
        given = dict(zip(inputs, row, strict=True))
        plain, numbers = forward_numbers(program.graph, given), forward_numbers(joint.graph, given)
        for place, (one, other) in enumerate(zip(joint.outputs, program.outputs, strict=True)):
            found, expected = numbers[one], plain[other]
            if found == expected or (math.isnan(found) and math.isnan(expected)):
                continue
            assert holds(op.domain, op.names, row), (row, found, expected)
            assert not (place and is_special(op, row)), (row, found, expected)
            true = true_partial(op.name, place - 1, row) if place else true_value(op.name, *row)
            absolute = op.partial_abs if place else op.value_abs
            bound = max(ULPS, op.partial_ulp if place else op.value_ulp)
            assert abs(true - found) <= absolute or ulps(found, true) <= bound, (row, place)


@pytest.mark.parametrize(
    ("text", "most"),
    [
        ("tanh(x)", 2), ("sigmoid(x)", 1), ("erfc(x)", 1), ("gelu(x)", 1), ("silu(x)", 2),
        ("sinh(x)", 1), ("x^y", 3), ("hypot(x, y)", 0), ("atan2(x, y)", 1), ("tanh(x*y) + z", 2),
    ],
)  # fmt: skip
def test_what_is_left(text: str, most: int) -> None:
    """tanh has an exp and an expm1 of one argument, whose work compilers share."""
    graph = parse_text(text)
    assert costly(fuse_partials(gradient(graph, list(graph.inputs)))) <= most


def test_a_constant_operand_is_left_alone() -> None:
    graph = parse_text("x^3 + 2^x")
    program = gradient(graph, ["x"])
    assert sorted(fuse_partials(program).graph.kinds) == sorted(program.graph.kinds)


def test_rows_that_stay() -> None:
    program = gradient(parse_text("tanh(x)"), ["x"])
    assert fuse_partials(program, {"tanh", "cosh"}).graph.kinds == program.graph.kinds
