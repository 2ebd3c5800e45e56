"""Steps over cells: they compute what the program says, in few cells, for any size in linear time."""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

from counting import calls
from exprgrad import parse
from exprgrad.derive.sweeps.gradient import gradient
from exprgrad.graph.graph import Program
from exprgrad.graph.ops import BY_NAME
from exprgrad.run.arrays.arrays import NATIVE
from exprgrad.run.engines.numpy_engine import (
    FEW_ROWS,
    LEAST_ROWS,
    MEMORY,
    MOST_ROWS,
    ROOM,
    SEVERAL,
    SPACE,
    TABLE,
    NumpyKernel,
    NumpyPlan,
    build_numpy_kernel,
    plan_steps,
)  # fmt: skip
from exprgrad.run.engines.programs import contract_polynomials, fuse_partials, lower_for_engine
from exprgrad.run.numbers.sweeps import forward_numbers, functions
from invariants import check
from strategies import programs, seeds, tree

MASKS: dict[str, Callable[..., Any]] = {
    "fill": lambda c, x, y: x if c else y,
    "mask": lambda x: x != 0,
    "number": float,
    "and": lambda x, y: x and y,
    "or": lambda x, y: x or y,
    "not": lambda x: not x,
    "and-not": lambda x, y: not x and y,
    "or-not": lambda x, y: not x or y,
}


def played(steps: NumpyPlan, inputs: list[float]) -> list[float]:
    """A plan on single numbers, each step by the engine for those."""
    cells: list[Any] = [*inputs, *[None] * steps.outputs, *steps.constants]
    cells += [None] * (steps.registers + steps.masks)
    for kind, places in steps.steps:
        *operands, result = places
        cells[result] = (MASKS.get(kind) or functions[kind])(*[cells[place] for place in operands])
    for place, cell in steps.copies:
        cells[place] = cells[cell]
    return cells[steps.inputs : steps.inputs + steps.outputs]


def alike(found: list[float], expected: list[float]) -> bool:
    return np.array_equal(np.array(found) + 0.0, np.array(expected) + 0.0, equal_nan=True)


@settings(max_examples=60)
@given(programs())
def test_a_plan_computes_the_program(text: str) -> None:
    f = parse(text)
    program = gradient(f.graph, f.inputs)
    steps = plan_steps(program, f.inputs)
    for number in (0.0, 1.0, -2.5, float("nan")):
        given_ = {name: number + at for at, name in enumerate(f.inputs)}
        values = forward_numbers(program.graph, given_)
        expected = [values[output] for output in program.outputs]
        assert alike(played(steps, [*given_.values()]), expected)


@settings(max_examples=60)
@given(programs())
def test_writing_out_with_care_changes_no_number(text: str) -> None:
    f = parse(text)
    program = gradient(f.graph, f.inputs)
    written = lower_for_engine(program, functions_only := {*NATIVE, "logsumexp"}, exact=True)
    check(written.graph)
    assert {*written.graph.kinds} <= {*functions_only, "input", "const"}


def test_what_is_shorter() -> None:
    """Signs, halves and small powers; each gives the same double, powers up to 3 ulp."""
    cases = {
        "x + -y": ["sub"],
        "-x + y": ["sub"],
        "x - -y": ["add"],
        "-x*y": ["mul", "neg"],
        "-x*-y": ["mul"],
        "-(3*x)": ["mul"],
        "z + -x*y": ["mul", "sub"],
        "x/8": ["mul"],
        "x/3": ["div"],
        "100*(2*x)": ["mul"],
        "0.1*(2*x)": ["mul", "mul"],
        "3*(0.5*x)": ["mul", "mul"],
        "x^2": ["mul"],
        "x^3": ["mul", "mul"],
        "x^4": ["mul", "mul"],
        "x^-1": ["div"],
        "x^5": ["pow"],
    }
    for text, kinds in cases.items():
        graph = parse(text).graph
        written = lower_for_engine(Program(graph, (graph.output,)), NATIVE).graph
        assert sorted(set(written.kinds) - {"input", "const"}) == sorted({*kinds}), text
        assert sum(kind not in ("input", "const") for kind in written.kinds) == len(kinds), text


def test_registers_are_used_again() -> None:
    """A sum of products needs two, however long; the depth of a formula shows, not its size."""
    graph = parse(" + ".join(f"sin({n}*x)*cos({n}*y)" for n in range(1, 200))).graph
    steps = plan_steps(Program(graph, (graph.output,)), ["x", "y"])
    assert steps.registers <= 3
    assert steps.masks == 0


def test_masks_are_used_again() -> None:
    text = "; ".join(
        [
            "t0 = x",
            *(f"t{n} = where((t{n - 1} > y)*(x > {n}), t{n - 1} + 1, y)" for n in range(1, 50)),
            "t49",
        ]
    )
    graph = parse(text).graph
    steps = plan_steps(Program(graph, (graph.output,)), ["x", "y"])
    assert (steps.registers <= 3, steps.masks <= 2) == (True, True)
    assert {kind for kind, _ in steps.steps} <= {"gt", "and", "add", "where", "fill"}


def test_a_result_stands_apart_where_a_step_takes_several_calls() -> None:
    graph = parse("sign(x + 1)*2").graph
    steps = plan_steps(Program(graph, (graph.output,)), ["x"], SEVERAL)
    (cells,) = [cells for kind, cells in steps.steps if kind == "sign"]
    assert cells[0] != cells[1]


def chain(length: int) -> str:
    steps = [f"t{n} = t{n - 1}*(x + t{n - 1}*0.5)" for n in range(1, length)]
    return "; ".join(["t0 = x*y", *steps, f"t{length - 1}"])


@pytest.mark.parametrize("registers", [0, 1, 30, 300, 3_000, 30_000, 100_000, 10**6])
def test_blocks_grow_smaller_where_much_is_alive(registers: int) -> None:
    kernel = NumpyKernel(NumpyPlan(1, 1, (), registers, 0, [], []), TABLE.__getitem__)
    size, room = kernel.block * registers * 8, ROOM if kernel.block > FEW_ROWS else SPACE
    assert kernel.block in (MOST_ROWS, FEW_ROWS) or 1.4 * size > room
    assert kernel.block == LEAST_ROWS or size <= room
    assert 2 * size > ROOM or kernel.block == MOST_ROWS
    assert kernel.block % 64 == 0
    assert kernel.threads == 1 or kernel.threads * size <= MEMORY


def test_a_limit_goes_along_to_engines() -> None:
    """A long text, or a raised limit, allows an engine's program as much as the derivatives."""
    f = parse("x^3*y - tanh(x - 2)*where(x > y, x, 3 - x*y*2)", limit=12_345_678)
    program = gradient(f.graph, f.inputs)
    for made in (
        fuse_partials(program),
        lower_for_engine(program, NATIVE),
        contract_polynomials(program),
    ):
        assert made.graph.budget == f.graph.budget


def test_memory_is_kept_for_as_many_threads_as_there_may_be(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    f = parse("x*y + sin(x)")
    kernel = build_numpy_kernel(gradient(f.graph, f.inputs), f.inputs)
    play, inner = kernel.play, list[int]()

    def nested(*arguments: Any) -> None:
        if len(inner) < 3:
            inner.append(0)
            call()
        play(*arguments)

    def call() -> None:
        kernel([np.ones(8)] * 2, [np.empty(8) for _ in range(3)], 0, 8)

    monkeypatch.setattr(kernel, "play", nested)
    call()
    assert len(inner) == 3
    assert len(kernel.spare) == 2


def costs(length: int) -> tuple[float, float, float]:
    """For each step of a chain: calls of functions to build and to run it, and registers."""
    f = parse(chain(length))
    program = gradient(f.graph, f.inputs)
    kernel, built = calls(lambda: build_numpy_kernel(program, f.inputs))
    columns = [np.full(128, 1e-3), np.full(128, 1e-3)]
    outputs = [np.empty(128) for _ in range(3)]
    _, run = calls(lambda: kernel(columns, outputs, 0, 128))
    steps = len(kernel.plan.steps)
    return built / steps, run / steps, kernel.plan.registers / steps


def test_work_and_memory_grow_with_the_size() -> None:
    """Ten times as many operations take about ten times as many calls of functions, and registers."""
    small, large = costs(40), costs(400)
    assert all(many <= 1.1 * few for few, many in zip(small, large, strict=True)), (small, large)


ARITHMETIC = tuple(BY_NAME[name] for name in ("add", "sub", "mul", "div", "neg", "neg"))
LEAVES = ("x", "y", "2", "0.5", "100", "3", "0.1", "4")
CELLS = (1.5, -0.3, 0.0, 1e308, 5e-324, 3e-308, -1e-160, 1e200, math.inf, math.nan)


@settings(max_examples=80)
@given(seeds)
def test_what_is_shorter_is_the_same_double(random: Random) -> None:
    graph = parse(tree(random, LEAVES, ARITHMETIC, random.randint(1, 12))).graph
    written = lower_for_engine(Program(graph, (graph.output,)), NATIVE)
    for _ in range(6):
        point = {name: random.choice(CELLS) for name in graph.inputs}
        expected = forward_numbers(graph, point)[graph.output]
        found = forward_numbers(written.graph, point)[written.outputs[0]]
        assert alike([found], [expected]), point
