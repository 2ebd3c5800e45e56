"""Every row of the op table in every engine, against the engine for single numbers."""

from __future__ import annotations

import math
from itertools import islice, product
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

from engines import each_engine, either, mark, numpy_first
from exprgrad import parse
from exprgrad.graph.ops import OPS, Op
from oracles import holds, is_special, true_partial, true_value, ulps
from strategies import apply, points, programs

ENGINE_ULP = 5.0
"""What an engine over columns may be off by, in each primitive: DESIGN, section 5."""
ENDS = (
    0.0, -0.0, 1.0, -1.0, 0.5, -1.5, 2.0, 3.0, -3.0, 28.0, math.inf, -math.inf, math.nan,
    5e-324, -5e-324, 1e308, -1e308, 0.1, -700.0, 710.0,
)  # fmt: skip
FEWER = (0.0, -0.0, 1.0, -1.0, 2.0, math.inf, -math.inf, math.nan)
SOME = (*FEWER, 0.5, -3.0, 5e-324, 1e308)
Rows = list[tuple[float, ...]]
LEAST = 2.0**-1022
"""The least normal number.  JAX computes on a processor with every smaller one taken for 0."""
FLUSHED = 2.0**-1000
"""Below this JAX may give 0, for what is on the way to a number may be smaller than it is."""
WIDER = ENGINE_ULP / 2
"""Rows' absolute bounds hold for functions that are within 2 ulp, and an engine's are within 5."""

each_row = pytest.mark.parametrize("op", OPS, ids=lambda op: op.name)
sampled = pytest.mark.parametrize(
    "count", [29, pytest.param(4001, marks=pytest.mark.slow)], ids=["few", "many"]
)


def arity(op: Op) -> int:
    return 3 if op.variadic else len(op.names)


def call(op: Op) -> Any:
    return parse(apply(op, [f"a{at}" for at in range(arity(op))]))


def columns(rows: Rows) -> dict[str, Any]:
    return {f"a{at}": np.array(column) for at, column in enumerate(zip(*rows, strict=True))}


def singly(f: Any, rows: Rows) -> tuple[list[float], list[dict[str, float]]]:
    """Value and gradient at each row, by the engine for single numbers."""
    runs = [f.gradient({f"a{at}": x for at, x in enumerate(row)}) for row in rows]
    return [run.value for run in runs], [run.swept for run in runs]


def meant(rows: Rows, engine: str) -> Rows:
    """Rows that an engine takes for what they are."""
    if engine != "jax":
        return rows
    return [row for row in rows if all(x == 0 or not abs(x) < FLUSHED for x in row)]


def near(found: float, expected: float, ulps: float, absolute: float) -> bool:
    """The same special value, or numbers at most so far apart."""
    if math.isnan(expected) or math.isinf(expected):
        return found == expected or (math.isnan(found) and math.isnan(expected))
    return abs(found - expected) <= max(ulps * math.ulp(expected), absolute)


def inside(op: Op, count: int) -> Rows:
    """Points in a row's domain; of quotients none so near a whole number that the rest is subnormal."""
    tried = list(points(Random(f"{op.name} engines"), arity(op), count * 6))
    if op.name == "mod":
        tried = [row for row in tried if row[1] == 0 or not 0 < abs(math.fmod(*row)) < FLUSHED]
    return list(islice((row for row in tried if holds(op.domain, op.names, row)), count))


def close(op: Op, place: int, row: tuple[float, ...], found: float, expected: float) -> bool:
    """Whether a value, or the partial at a place from 1 up, is within the bound of the truth.

    That is so if it is as near to what single numbers give as the bounds leave; else mpmath says.
    """
    stated = op.partial_ulp if place else op.value_ulp
    bound = max(stated, ENGINE_ULP)
    if near(found, expected, bound - stated, 0):
        return True
    if not (math.isfinite(expected) and math.isfinite(found)):
        return False
    true = true_partial(op.name, place - 1, row) if place else true_value(op.name, *row)
    absolute = WIDER * (op.partial_abs if place else op.value_abs)
    return bool(abs(true - found) <= absolute) or ulps(found, true) <= bound


@numpy_first
@each_row
@sampled
def test_a_row_is_within_the_engines_ulps(op: Op, engine: str, count: int) -> None:
    f, rows = call(op), meant(inside(op, count), engine)
    value, gradient = f.compile(engine)(columns(rows))
    values, gradients = singly(f, rows)
    for at, row in enumerate(rows):
        pairs = [(value[at], values[at]), *((gradient[x][at], gradients[at][x]) for x in f.inputs)]
        for place, (found, expected) in enumerate(pairs):
            flushed = engine == "jax" and abs(expected) < FLUSHED and abs(found) < FLUSHED
            if place and is_special(op, row):
                assert flushed or near(found, expected, ENGINE_ULP, 0), (place, row)
            else:
                assert flushed or close(op, place, row, float(found), expected), (place, row, found)


@numpy_first
@each_row
def test_special_points_are_as_for_single_numbers(op: Op, engine: str) -> None:
    """Poles, kinks, jumps, domain edges, infinities and nan: value and gradient."""
    few = ENDS if arity(op) < 2 else FEWER if arity(op) > 2 else SOME
    f, rows = call(op), meant(list(product(few, repeat=arity(op))), engine)
    tiny = 2 * LEAST if engine == "jax" else 0.0
    value, gradient = f.compile(engine)(columns(rows))
    values, gradients = singly(f, rows)
    for at, row in enumerate(rows):
        assert near(value[at], values[at], 20, 2 * op.value_abs + tiny), (
            row,
            value[at],
            values[at],
        )
        for name in f.inputs:
            pair = gradient[name][at], gradients[at][name]
            assert near(*pair, 40, 2 * op.partial_abs + tiny), (name, row, *pair)


CONSTANTS = ("2", "0.5", "-3")


def with_constants(op: Op) -> list[str]:
    """The operation with constants as some of its operands, or as all of them."""
    count = arity(op)
    found = []
    for places in product((False, True), repeat=count):
        if any(places):
            leaves = [CONSTANTS[at] if there else f"a{at}" for at, there in enumerate(places)]
            found.append(apply(op, leaves))
    return found


@each_row
@pytest.mark.parametrize(
    "engine", ["numpy", *[pytest.param(name, marks=pytest.mark.slow) for name in ("native", "jax")]]
)
@pytest.mark.parametrize("precise", [False, True], ids=["fast", "precise"])
def test_constants_may_stand_anywhere(op: Op, engine: str, precise: bool) -> None:
    pytest.importorskip({"native": "llvmlite"}.get(engine, engine))
    if precise and engine == "jax":
        return
    for text in with_constants(op):
        f = parse(text)
        rows = list(product((0.5, 3.0, -1.0, 0.0), repeat=len(f.inputs)))
        given_ = {name: np.array([row[at] for row in rows]) for at, name in enumerate(f.inputs)}
        value, gradient = f.compile(engine, precise=precise)(given_)
        for at, row in enumerate(rows):
            run = f.gradient(dict(zip(f.inputs, row, strict=True)))
            pairs = [(value[at], run.value, 20, 2 * op.value_abs)]
            pairs += [(gradient[x][at], run.swept[x], 40, 2 * op.partial_abs) for x in f.inputs]
            for found, expected, most, absolute in pairs:
                if precise:
                    assert bits([found + 0.0]) == bits([expected + 0.0]), (text, row)
                else:
                    assert near(found, expected, most, absolute), (text, row, found, expected)


POWERS = ("0.5", "-0.5", "1.5", "2", "-1", "1", "0", "3", "0.25", "-2", "inf", "nan")


@each_engine
@pytest.mark.parametrize("exponent", POWERS)
def test_constant_exponents_are_as_for_single_numbers(engine: str, exponent: str) -> None:
    """NumPy has short cuts for some, not all of which give IEEE's power."""
    f = parse(f"x^{exponent}")
    xs = [x for (x,) in meant([(x,) for x in ENDS], engine)]
    value, gradient = f.compile(engine)({"x": np.array(xs)})
    for at, x in enumerate(xs):
        run = f.gradient(x=x)
        tiny = 2 * LEAST if engine == "jax" else 0.0
        assert near(value[at], run.value, 5, tiny) and signs(value[at], run.value), x
        assert near(gradient["x"][at], run.swept["x"], 40, 0), x


@pytest.mark.parametrize("exponent", POWERS)
@pytest.mark.parametrize("text", ["x^{}", "x^({} + 0*[[1], [2]])"])
def test_constant_exponents_of_tensors_are_as_for_numbers(text: str, exponent: str) -> None:
    f, g = parse(text.format(exponent)), parse(f"x^{exponent}")
    found = np.atleast_2d(f.evaluate(x=list(ENDS)).value)
    for at, x in enumerate(ENDS):
        expected = g.evaluate(x=x).value
        assert all(near(y, expected, 5, 0) and signs(y, expected) for y in found[:, at]), x


def signs(found: float, expected: float) -> bool:
    """The same sign, of zeros too."""
    return math.isnan(found) or math.copysign(1, found) == math.copysign(1, expected)


@pytest.mark.parametrize("engine", [mark("numpy"), mark("native", slow=("native",))])
@each_row
def test_precise_is_single_numbers_to_the_bit(op: Op, engine: str) -> None:
    few = ENDS if arity(op) < 2 else FEWER[::2]
    f = call(op)
    rows = [*inside(op, 31), *product(few, repeat=arity(op))]
    value, gradient = f.compile(engine, precise=True)(columns(rows))
    values, gradients = singly(f, rows)
    assert bits(value) == bits(values)
    for name in f.inputs:
        found, expected = gradient[name], [one[name] for one in gradients]
        assert bits(found + 0.0) == bits(np.array(expected) + 0.0), name


def bits(numbers: Any) -> list[str]:
    """Doubles to the bit, every nan alike."""
    return ["nan" if math.isnan(x) else float(x).hex() for x in numbers]


@either
@settings(max_examples=20)
@given(programs())
def test_precise_formulas_are_single_numbers_to_the_bit(engine: str, text: str) -> None:
    f = parse(text)
    random = Random(text)
    rows = [[random.choice(ENDS) for _ in f.inputs] for _ in range(5)]
    rows += [[random.uniform(-3, 3) for _ in f.inputs] for _ in range(5)]
    given_ = {name: np.array([row[at] for row in rows]) for at, name in enumerate(f.inputs)}
    value, gradient = f.compile(engine, precise=True)(given_)
    for at in range(len(value)):
        run = f.gradient({name: column[at] for name, column in given_.items()})
        assert bits([value[at]]) == bits([run.value])
        found = [gradient[name][at] + 0.0 for name in f.inputs]
        assert bits(found) == bits([run.swept[name] + 0.0 for name in f.inputs])


@each_engine
@settings(max_examples=20)
@given(programs())
def test_formulas_end_where_single_numbers_do(engine: str, text: str) -> None:
    """Nothing raises, and a row does not depend on its neighbours."""
    f = parse(text)
    random = Random(text)
    rows = [[random.choice(ENDS) for _ in f.inputs] for _ in range(9)]
    given_ = {name: np.array([row[at] for row in rows]) for at, name in enumerate(f.inputs)}
    g = f.compile(engine)
    value, gradient = g(given_)
    assert len(value) == (9 if f.inputs else 1)
    last = g({name: column[-1] for name, column in given_.items()})
    assert bits(np.atleast_1d(last.value)) == bits(value[-1:])
    assert all(bits([last.gradient[name]]) == bits(gradient[name][-1:]) for name in f.inputs)
