"""Machine code against the scalar engine and against mpmath, for every row of the op table."""

from __future__ import annotations

import math
import re
import signal
import struct
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from itertools import product
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mp, mpf

from amounts import many
from exprgrad.derive.sweeps.gradient import gradient
from exprgrad.errors import MissingExtraError
from exprgrad.graph.graph import Program
from exprgrad.graph.ops import BY_NAME, OPS, Op
from exprgrad.language.read.parse import parse_text
from exprgrad.run.engines import native
from exprgrad.run.engines.compiled import Compiled
from exprgrad.run.engines.llvm_text import SELDOM, Dialect, llvm_module
from exprgrad.run.engines.native import NativeKernel, StagedKernel
from exprgrad.run.engines.programs import MASKS
from exprgrad.run.numbers.sweeps import forward_numbers
from oracles import graph_of, is_special, true_partial, true_value, ulps
from strategies import double, expressions, points
from together import together

pytest.importorskip("llvmlite")

ULPS = 5.0
"""What an engine over columns may be off by, or else what the row says of the scalar engine."""
ENDS = (
    math.inf, -math.inf, math.nan, 0.0, -0.0, 1.0, -1.5, 5e-324, -3e-310, 1.7976931348623157e308, -1e300,
    30.0, -745.0,
)  # fmt: skip
LENGTHS = (0, 1, 2, 3, 5, 7, 8, 9, 17, 1000)

each_row = pytest.mark.parametrize("op", OPS, ids=lambda op: op.name)
Rows = Sequence[tuple[float, ...]]


def arity(op: Op) -> int:
    return 3 if op.variadic else len(op.names)


@cache
def derived(op: Op) -> tuple[Program, tuple[str, ...]]:
    """A row's value and partials as a program, and its inputs."""
    graph = graph_of(op, arity(op))
    return gradient(graph, list(graph.inputs)), tuple(graph.inputs)


def answers(
    program: Program, inputs: Sequence[str], rows: Rows, *, precise: bool = False
) -> np.ndarray:
    """The outputs, an array of a line for each row."""
    kernel = built(program, tuple(inputs), precise)
    assert not isinstance(kernel, str)
    outputs = [np.empty(len(rows)) for _ in program.outputs]
    kernel([np.array(column) for column in zip(*rows, strict=True)], outputs, 0, len(rows))
    return np.array(outputs).T


@cache
def built(
    program: Program, inputs: tuple[str, ...], precise: bool
) -> NativeKernel | StagedKernel | str:
    """The machine code: to compile it takes longer than most tests."""
    return native.build_native_kernel(program, inputs, precise=precise)


def refused(program: Program, inputs: Sequence[str]) -> bool:
    """Whether there is no precise native code for it."""
    return isinstance(built(program, tuple(inputs), True), str)


def scalar(program: Program, inputs: Sequence[str], row: Sequence[float]) -> list[float]:
    values = forward_numbers(program.graph, dict(zip(inputs, row, strict=True)))
    return [values[output] for output in program.outputs]


def order(x: float) -> int:
    """The place of a double among all doubles."""
    bits: int = struct.unpack("<q", struct.pack("<d", x))[0]
    return bits if bits >= 0 else -(bits & 0x7FFF_FFFF_FFFF_FFFF)


def apart(one: float, other: float) -> float:
    """How many doubles two are apart; infinitely many if only one is nan."""
    if math.isnan(one) or math.isnan(other):
        return 0.0 if math.isnan(one) and math.isnan(other) else math.inf
    return abs(order(one) - order(other))


def bound(op: Op, place: int) -> float:
    return max(ULPS, op.partial_ulp if place else op.value_ulp)


def close(op: Op, place: int, row: Sequence[float], found: float, expected: float) -> bool:
    """Whether a number is right: near the scalar engine's, by what the bounds leave, or near the truth."""
    absolute = op.partial_abs if place else op.value_abs
    stated = op.partial_ulp if place else op.value_ulp
    if apart(found, expected) <= bound(op, place) - stated:
        return True
    if not all(map(math.isfinite, (*row, found, expected))):
        return False
    if place and is_special(op, tuple(row)):
        return apart(found, expected) <= ULPS
    true = true_partial(op.name, place - 1, row) if place else true_value(op.name, *row)
    return abs(true - found) <= absolute or ulps(found, true) <= bound(op, place)


@each_row
@pytest.mark.parametrize("count", [18, pytest.param(many(600), marks=pytest.mark.slow)])
def test_every_row_is_within_five_ulp(op: Op, count: int) -> None:
    program, inputs = derived(op)
    rows = list(points(Random(f"native {op.name} {count}"), arity(op), count))
    for row, found in zip(rows, answers(program, inputs, rows), strict=True):
        expected = scalar(program, inputs, row)
        for place, (one, other) in enumerate(zip(found.tolist(), expected, strict=True)):
            assert close(op, place, row, one, other), (row, place, one, other)


@together(OPS)
def test_every_row_at_the_ends_of_the_doubles(op: Op) -> None:
    """Nan where the scalar engine has nan, the same infinities, and at kinks the same convention."""
    program, inputs = derived(op)
    ends = ENDS if arity(op) < 3 else ENDS[:6]
    rows = list(product(ends, repeat=arity(op)))
    for row, found in zip(rows, answers(program, inputs, rows), strict=True):
        for one, other in zip(found.tolist(), scalar(program, inputs, row), strict=True):
            assert apart(one, other) <= 2 * ULPS, (row, found)  # each is within 5 of the truth


@each_row
def test_precise_is_the_scalar_engine_to_the_bit(op: Op) -> None:
    program, inputs = derived(op)
    if refused(program, inputs):
        pytest.skip("Python's own function")
    rows = list(points(Random(f"precise {op.name}"), arity(op), 20))
    rows += list(product(ENDS[:8] if arity(op) < 3 else ENDS[:4], repeat=arity(op)))
    for row, found in zip(rows, answers(program, inputs, rows, precise=True), strict=True):
        hold_same(found.tolist(), scalar(program, inputs, row), row)


def hold_same(found: Sequence[float], expected: Sequence[float], where: object) -> None:
    """The same bits; all nan are one."""
    for one, other in zip(found, expected, strict=True):
        same = one == other and math.copysign(1, one) == math.copysign(1, other)
        assert same or (math.isnan(one) and math.isnan(other)), (where, found, expected)


@settings(max_examples=25)
@given(expressions(("x", "y", "z", "2", "0.5", "-1", "0", "inf"), 12), st.integers(0, 2**32))
def test_generated_formulas_to_the_bit(text: str, seed: int) -> None:
    graph = parse_text(text)
    if not graph.inputs:
        return
    inputs = list(graph.inputs)
    program, random = gradient(graph, inputs), Random(seed)
    if refused(program, inputs):
        return
    rows = [tuple(double(random) for _ in inputs) for _ in range(9)]
    rows += [tuple(random.choice((-1.0, 0.0, 1.0, 2.0)) for _ in inputs) for _ in range(4)]
    for row, found in zip(rows, answers(program, inputs, rows, precise=True), strict=True):
        hold_same(found.tolist(), scalar(program, inputs, row), (text, row))


def test_arithmetic_is_exact_in_any_case() -> None:
    """Sums and products are not contracted, so what is 0 stays 0, and kinks are where they were."""
    graph = parse_text("abs(x*y - z) + max(x*y + z, 1)")
    inputs = list(graph.inputs)
    program, random = gradient(graph, inputs), Random(3)
    rows = [(x := random.random(), y := random.random(), x * y) for _ in range(50)]
    for row, found in zip(rows, answers(program, inputs, rows), strict=True):
        hold_same(found.tolist(), scalar(program, inputs, row), row)


@pytest.mark.parametrize(
    ("text", "row", "wrt"),
    [
        ("sqrt((0.1*x - 0.010000000000000002)*x + 0)", (0.1,), "x"),
        ("where((0.1*x - 0.010000000000000002)*x + 0 >= 0, x, 2*x)", (0.1,), "x"),
        ("where(((0.1*x - 0.010000000000000002)*x + 0)*x + 0 == 0, x, 2*x)", (0.1,), "x"),
        ("1/((0.1*x - 0.010000000000000002)*x + 1e-300)", (0.1,), "x"),
        ("((x*1e308 - 1e308)*x - 1e308) + z", (2.0, 0.0), "z"),
        ("((x*1e308 - inf)*x - 1e308) + z", (2.0, 0.0), "z"),
        ("1 - (0.010000000000000002 - 0.1*x)*x", (0.1,), "x"),
    ],
)
def test_polynomials_are_what_they_say(text: str, row: tuple[float, ...], wrt: str) -> None:
    """A formula's own products are rounded, as IEEE has it: zeros, infinities and nan depend on it."""
    graph = parse_text(text)
    program, inputs = gradient(graph, [wrt]), list(graph.inputs)
    hold_same(answers(program, inputs, [row])[0].tolist(), scalar(program, inputs, row), text)


Truth = tuple[Callable[[mpf], mpf], Callable[[mpf], mpf]]


def tanh_slope(x: mpf) -> mpf:
    return mp.sech(x) ** 2


def sigmoid(x: mpf) -> mpf:
    return 1 / (1 + mp.exp(-x))


def sigmoid_slope(x: mpf) -> mpf:
    e = mp.exp(-abs(x))
    return e / (1 + e) ** 2


def silu_slope(x: mpf) -> mpf:
    e = mp.exp(-abs(x))
    return ((1 + e * (1 + x)) if x > 0 else e * (1 + e + x)) / (1 + e) ** 2


def below(x: mpf) -> mpf:
    return mp.erfc(-x / mp.sqrt(2)) / 2


def bell(x: mpf) -> mpf:
    return mp.exp(-x * x / 2) / mp.sqrt(2 * mp.pi)


WORST: dict[str, tuple[Truth, tuple[tuple[float, float], ...], tuple[float, ...]]] = {
    "tanh": (
        (mp.tanh, tanh_slope), ((0.05, 4), (-4, -0.05), (4, 25), (340, 372)),
        (2.0652821775822194, 1.70579519454909),
    ),
    "sigmoid": (
        (sigmoid, sigmoid_slope), ((-4, 4), (-40, 40), (-745, -700)), (1.7639767428631057,),
    ),
    "silu": (
        (lambda x: x*sigmoid(x), silu_slope), ((-1.27, 4), (-40, -1.28), (-745, -690)),
        (-14.395687460109468, -0.8671063035753854, -15.134738001437729, -12.123598570674154),
    ),
    "gelu": (
        (lambda x: x*below(x), lambda x: below(x) + x*bell(x)),
        ((-1.1, -0.3), (-38.6, -36), (-36, -1.1), (-0.3, 4)),
        (-38.47501875468867, -38.2265110421114, -38.236952687873455, -0.5339868565583813),
    ),
    "erfc": (
        (mp.erfc, lambda x: -2/mp.sqrt(mp.pi)*mp.exp(-x*x)), ((-3, 3), (3, 27.3)), (12.024346828179617,),
    ),
    "erf": ((mp.erf, lambda x: 2/mp.sqrt(mp.pi)*mp.exp(-x*x)), ((-3, 3), (3, 27.3)), ()),
    "sinh": ((mp.sinh, mp.cosh), ((-3, 3), (3, 711)), ()),
    "exp": ((mp.exp, mp.exp), ((-3, 3), (-746, 710)), (-114.013807441273,)),
    "expm1": ((mp.expm1, mp.exp), ((-3, 3), (-40, 710)), ()),
    "log": ((mp.log, lambda x: 1/x), ((0.5, 2), (2, 1e9)), (0.7009500179002518,)),
    "log1p": ((mp.log1p, lambda x: 1/(1 + x)), ((-0.99, 2), (2, 1e9)), ()),
}  # fmt: skip
"""What is written out: the truth, where its errors are largest, and points that were once too far off."""


@pytest.mark.parametrize("name", WORST)
@pytest.mark.parametrize("count", [30, pytest.param(many(6_000), marks=pytest.mark.slow)])
def test_where_errors_are_largest(name: str, count: int) -> None:
    """Within 5 ulp of the truth, or the absolute bound that the row states."""
    truths, ranges, known = WORST[name]
    op, random = BY_NAME[name], Random(f"worst {name} {count}")
    points = [random.uniform(*ends) for ends in ranges for _ in range(count // len(ranges))]
    rows = [(x,) for x in (*known, *points)]
    program, inputs = derived(op)
    with mp.workprec(110):
        for (x,), found in zip(rows, answers(program, inputs, rows).tolist(), strict=True):
            for place, (one, truth) in enumerate(zip(found, truths, strict=True)):
                true = truth(mpf(x))
                absolute = op.partial_abs if place else op.value_abs
                assert ulps(one, true) <= bound(op, place) or abs(one - true) <= absolute, (
                    x,
                    place,
                )


# Rows: how many, and where.

TEXT = "tanh(x*y) + exp(x)/(1 + y^2)"


def compiled(text: str) -> tuple[native.NativeKernel, Program, list[str]]:
    graph = parse_text(text)
    inputs = list(graph.inputs)
    program = gradient(graph, inputs)
    kernel = native.build_native_kernel(program, inputs)
    assert isinstance(kernel, native.NativeKernel)
    return kernel, program, inputs


def columns(count: int, rows: int, seed: int = 0) -> list[np.ndarray]:
    random = np.random.default_rng(seed)
    return [random.normal(size=rows) for _ in range(count)]


def test_any_number_of_rows_and_nothing_beside_them() -> None:
    """Each row's answer is the same whatever its neighbours, and the memory around is left alone."""
    kernel, program, inputs = compiled(TEXT)
    given = columns(len(inputs), 1100)
    whole = [np.empty(1100) for _ in program.outputs]
    kernel(given, whole, 0, 1100)
    for length, start in product(LENGTHS, (0, 1, 6)):
        found = [np.full(1100, 7.0) for _ in program.outputs]
        kernel(given, found, start, start + length)
        for one, other in zip(found, whole, strict=True):
            inside = slice(start, start + length)
            assert one[inside].tobytes() == other[inside].tobytes(), (length, start)
            assert (one[:start] == 7).all()
            assert (one[start + length :] == 7).all()


@pytest.mark.parametrize("offset", range(1, 8))
def test_columns_that_start_anywhere(offset: int) -> None:
    kernel, program, inputs = compiled(TEXT)
    given = columns(len(inputs), 40)
    expected = [np.empty(40) for _ in program.outputs]
    kernel(given, expected, 0, 40)
    moved = [np.concatenate([np.zeros(offset), column])[offset:] for column in given]
    found = [np.empty(40 + offset)[offset:] for _ in program.outputs]
    kernel(moved, found, 0, 40)
    for one, other in zip(found, expected, strict=True):
        assert one.tobytes() == other.tobytes()


@pytest.mark.parametrize("offset", [0, 3, 8])
def test_large_outputs_pass_the_caches_by(offset: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the same answers, wherever outputs begin, and nothing beside them."""
    kernel, program, inputs = compiled(TEXT)
    given = columns(len(inputs), 1100)
    whole = [np.empty(1100) for _ in program.outputs]
    kernel(given, whole, 0, 1100)
    monkeypatch.setattr(native, "LARGE", 0)
    for length, start in product((*LENGTHS, 64, 71), (0, 1, 6)):
        raw = np.full((len(whole), 1280), 7.0)
        first = -(raw.ctypes.data // 8) % 8 + offset
        found = [row[first : first + 1100] for row in raw]
        kernel(given, found, start, start + length)
        for one, other, row in zip(found, whole, raw, strict=True):
            inside = slice(start, start + length)
            assert one[inside].tobytes() == other[inside].tobytes(), (length, start)
            assert (row != 7).sum() == length
    assert kernel.twin is not None


def test_outputs_that_are_not_alike_do_not(monkeypatch: pytest.MonkeyPatch) -> None:
    kernel, program, inputs = compiled("x*y")
    monkeypatch.setattr(native, "LARGE", 0)
    found = [np.empty(109)[place : place + 100] for place in range(len(program.outputs))]
    given = columns(len(inputs), 100)
    kernel(given, found, 0, 100)
    assert found[0].tobytes() == (given[0] * given[1]).tobytes()
    assert kernel.twin is None


def test_long_code_has_no_other_stores(monkeypatch: pytest.MonkeyPatch) -> None:
    """It computes for longer than memory takes, and would be compiled for twice as long."""
    monkeypatch.setattr(native, "LARGE", 0)
    monkeypatch.setattr(native, "MEMORY", 30)
    kernel, program, inputs = compiled(TEXT)
    given = columns(len(inputs), 1100)
    kernel(given, list(np.empty((len(program.outputs), 1100))), 0, 1100)
    assert kernel.twin is None


def test_threads_compile_the_other_stores_once(monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = compiled("x*y")[0]
    made = []
    compile_one = native.compile_module

    def slowly(*given: Any) -> Any:
        time.sleep(0.02)
        made.append(compile_one(*given))
        return made[-1]

    monkeypatch.setattr(native, "compile_module", slowly)
    with ThreadPoolExecutor(4) as pool:
        twins = list(pool.map(lambda _: kernel.streaming(), range(4)))
    assert len(made) == 1
    assert {id(twin) for twin in twins} == {id(kernel.twin)}


def test_read_only_columns() -> None:
    kernel, program, inputs = compiled(TEXT)
    given = columns(len(inputs), 20)
    for column in given:
        column.flags.writeable = False
    kernel(given, [np.empty(20) for _ in program.outputs], 0, 20)
    kernel(given, [np.empty(20) for _ in program.outputs], 0, 3)


def test_threads_share_a_kernel() -> None:
    kernel, program, inputs = compiled(TEXT)
    rows = 20_000
    given = columns(len(inputs), rows)
    expected = [np.empty(rows) for _ in program.outputs]
    kernel(given, expected, 0, rows)
    found = [np.empty(rows) for _ in program.outputs]
    with ThreadPoolExecutor(4) as pool:
        list(
            pool.map(lambda at: kernel(given, found, at, min(at + 999, rows)), range(0, rows, 999))
        )
    for one, other in zip(found, expected, strict=True):
        assert one.tobytes() == other.tobytes()


def test_outputs_that_are_no_operations() -> None:
    """An input, a constant, a condition, and one that is given twice; and part of a polynomial."""
    graph = parse_text("p = (2*x + 3)*x; p + 4")
    program = Program(graph, (graph.output, graph.bindings[0].node))
    assert answers(program, ["x"], [(1.0,)]).tolist() == [[9.0, 5.0]]
    graph = parse_text("where(x > y, x, 2)")
    program = gradient(graph, ["x", "y"])
    rows: Rows = [(1.0, 0.0), (0.0, 1.0), (math.nan, 1.0)] * 3
    found = answers(program, ["x", "y"], rows)
    assert found[:2].tolist() == [[1.0, 1.0, 0.0], [2.0, 0.0, 0.0]]
    assert found[2].tolist() == [2.0, 0.0, 0.0]


def test_a_surplus_column_is_no_matter() -> None:
    assert (
        answers(gradient(parse_text("2 + 1"), []), ["idle"], [(1.0,)] * 9).tolist() == [[3.0]] * 9
    )
    graph = parse_text("x + 1")
    assert answers(gradient(graph, ["x"]), ["x", "idle"], [(1.0, 5.0)]).tolist() == [[2.0, 1.0]]


# What is not compiled.


def test_large_programs_are_left_to_others() -> None:
    graph = parse_text(" + ".join(f"x^{n}" for n in range(native.MOST_LINES)))
    assert native.build_native_kernel(Program(graph, (graph.output,)), ["x"]) == native.TOO_LARGE


def test_many_instructions_are_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(native, "MOST_LINES", 40)
    graph = parse_text("tanh(x)")
    assert native.build_native_kernel(gradient(graph, ["x"]), ["x"]) == native.TOO_LARGE
    assert isinstance(
        native.build_native_kernel(gradient(parse_text("x*x"), ["x"]), ["x"]), native.NativeKernel
    )


@pytest.mark.parametrize("text", ["hypot(x, y)", "logsumexp(x, y, 1)", "atan(x)"])
def test_what_python_computes_is_no_native_code(text: str) -> None:
    """Where signals are handled in a call from native code, what the handler raises would be lost."""
    graph = parse_text(text)
    inputs = list(graph.inputs)
    found = native.build_native_kernel(gradient(graph, inputs), inputs, precise=True)
    assert isinstance(found, str)
    assert found.startswith("native code has no precise ")
    assert isinstance(
        native.build_native_kernel(gradient(graph, inputs), inputs), native.NativeKernel
    )


def test_an_interrupt_is_heard() -> None:
    text = "hypot(x, y) + logsumexp(x, y, 1)"
    g = Compiled(text, parse_text(text), engine="native", precise=True, threads=1)
    assert (g.engine, g.note) == ("numpy", "native code has no precise hypot")
    column = np.linspace(1, 2, 1_000_000)
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    signal.setitimer(signal.ITIMER_REAL, 0.05)
    try:
        with pytest.raises(KeyboardInterrupt):
            g({"x": column, "y": column})
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


class Broken:
    """An importer for whom llvmlite is there, and does not load."""

    def __init__(self, error: Exception) -> None:
        self.error = error

    def find_spec(self, name: str, *_: object) -> None:
        """Fail, or leave it to others."""
        if name == "llvmlite.binding":
            raise self.error


@pytest.mark.parametrize(
    "error",
    [
        ImportError("undefined symbol: LLVMPY_x"),
        OSError("Could not find/load shared object file"),
        ModuleNotFoundError("No module named 'importlib_resources'", name="importlib_resources"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_a_broken_llvmlite(error: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "llvmlite.binding", raising=False)
    monkeypatch.setattr(sys, "meta_path", [Broken(error), *sys.meta_path])
    with pytest.raises(MissingExtraError, match="installed, but it cannot be loaded") as raised:
        native.import_llvmlite.__wrapped__()
    assert str(error) in raised.value.message
    assert "engine 'numpy'" in str(raised.value.help)


def test_without_llvmlite(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "llvmlite.binding", None)
    graph = parse_text("x*x")
    native.import_llvmlite.cache_clear()
    native.detect_machine.cache_clear()
    try:
        with pytest.raises(MissingExtraError) as raised:
            native.build_native_kernel(gradient(graph, ["x"]), ["x"])
    finally:
        monkeypatch.undo()
        native.import_llvmlite.cache_clear()
        native.detect_machine.cache_clear()
    assert "llvmlite, or take" in str(raised.value.help)


# Other machines.

MACHINES = {
    "no vector library": native.detect_machine()._replace(prefix=""),
    "four at a time": native.Machine(4, True, False, "_ZGVdN4"),
    "two at a time": native.Machine(2, True, False, ""),
    "no multiply-add": native.Machine(2, False, False, ""),
}


@pytest.mark.parametrize("name", MACHINES)
def test_other_machines(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Narrower vectors and fewer instructions, as far as this machine can stand for another."""
    other, mine = MACHINES[name], native.detect_machine()
    lacks = (other.prefix and not mine.prefix) or (other.fused and not mine.fused)
    if other.width > mine.width or lacks:
        pytest.skip("this machine cannot")
    monkeypatch.setattr(native, "detect_machine", lambda: other)
    for op in (BY_NAME[row] for row in ("tanh", "erfc", "log", "pow", "cbrt", "expm1", "sin")):
        program, inputs = derived(op)
        rows = list(points(Random(name), arity(op), 21))
        if not refused(program, inputs):
            exact = answers(program, inputs, rows, precise=True)
            for row, same in zip(rows, exact, strict=True):
                hold_same(same.tolist(), scalar(program, inputs, row), row)
        for row, found in zip(rows, answers(program, inputs, rows), strict=True):
            expected = scalar(program, inputs, row)
            for place, (one, two) in enumerate(zip(found.tolist(), expected, strict=True)):
                assert close(op, place, row, one, two), (op.name, row, place, one, two)


def test_rows_are_spelled_or_have_a_formula() -> None:
    for machine in MACHINES.values():
        dialect = native.fast_dialect(machine)
        spelled = {*dialect.texts, *dialect.scalar, *dialect.vector}
        for op in OPS:
            assert op.name in spelled or op.value or op.fallback or op.fused_partials, op.name
    assert {row for row in spelled if row not in BY_NAME} <= {"scale", "fma", "number", *MASKS}


def dialect(*, fetches: bool) -> Dialect:
    return native.fast_dialect(native.detect_machine())._replace(fetches=fetches)


@pytest.mark.parametrize("text", [TEXT, "exp(x) + log(y)*erfc(x)", "0.1*x*y + 0.1*x - 0.1*y + 0.1"])
def test_numbers_that_the_loop_fetches_are_the_same(
    monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    """On every machine, whether its loops do so or not."""
    found = []
    for fetches in (False, True):
        chosen = dialect(fetches=fetches)
        with monkeypatch.context() as patch:
            patch.setattr(native, "fast_dialect", lambda found, chosen=chosen: chosen)
            kernel, program, inputs = compiled(text)
        assert ("@numbers" in kernel.text) == fetches
        outputs = [np.empty(100) for _ in program.outputs]
        kernel(columns(len(inputs), 100), outputs, 0, 100)
        found.append([output.tobytes() for output in outputs])
    assert found[0] == found[1]


def test_numbers_that_many_need_are_not_fetched() -> None:
    """They stay in a register."""
    graph = parse_text(" + ".join(f"0.1*x{n}" for n in range(SELDOM + 1)) + " + 0.7*x0")
    program = Program(graph, (graph.output,))
    source, _ = llvm_module(program, list(graph.inputs), dialect(fetches=True))
    (line,) = [line for line in source.splitlines() if line.startswith("@numbers")]
    assert [float_of(number) for number in re.findall("0x([0-9A-F]+)", line)] == [0.7]


def float_of(bits: str) -> float:
    found: float = struct.unpack(">d", bytes.fromhex(bits))[0]
    return found


def test_what_is_put_away_stands_at_the_end_of_a_page() -> None:
    """Else it may share its place in the cache with the literals, by the depth of the caller's stack."""
    source = compiled("exp(x) + log(y)*erfc(x)*erfc(y)")[0].text
    binding = native.import_llvmlite()
    if not binding.get_process_triple().startswith("x86_64"):
        pytest.skip("another machine's language")
    assembly = native.code_generator(1000).emit_assembly(binding.parse_assembly(source))
    assert re.search(r"and[ql]?\s+\$-4096, %rsp", assembly)
