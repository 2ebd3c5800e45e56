"""Generated programs, run in their targets: every row of the table, and generated expressions.

A number is held against the truth, within the first-order bound on the rounding errors of ``grad`` times
what the target's library may be worse at (its ``slack``, in units of the row's own bound). glibc's cbrt
is 3.7 ulp off, the formula for erfc 6.6 (the table: 2 and 5.3).  The libraries that were measured: glibc
2.36, NumPy 2.4, Node 20, JAX 0.10 and PyTorch 2.13 on a CPU.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from itertools import product
from pathlib import Path
from random import Random
from typing import NamedTuple

import pytest

from amounts import many
from exprgrad import parse
from exprgrad.derive.lower.translate import translate_formula
from exprgrad.derive.rules import rule_slots
from exprgrad.graph.graph import Graph
from exprgrad.graph.ops import BY_NAME, COMPARISONS, OPS, Op
from exprgrad.language.code.targets import TARGETS
from exprgrad.run.numbers.sweeps import forward_numbers
from oracles import Real, holds, is_special, mp, reference, true_partial, true_value, ulps
from programs import Answer, Program, run
from rounding import Bounds, bounds
from strategies import FREQUENT, SPECIAL, points, tree

SMALLEST = 2.3e-308
"""JAX on a CPU takes subnormal numbers for 0: nothing smaller is asked of it."""
SETTLED = 2.0**-10
"""The ulps by which a difference quotient that settled may be wrong."""

each_target = pytest.mark.parametrize("target", TARGETS)


def programs(target: str, cases: Sequence[tuple[str, Sequence[Sequence[float]]]]) -> list[Program]:
    """A program for each formula, with the points at which it is to be called."""
    return [
        Program(*translated(target, text, f"f_{number}"), places)
        for number, (text, places) in enumerate(cases)
    ]


@cache
def translated(target: str, text: str, name: str) -> tuple[str, str, int]:
    """A formula's program, its name, and how many derivatives it returns."""
    graph = parse(text).graph
    return translate_formula(graph, target, name=name), name, len(graph.inputs)


def swept(text: str, points: Sequence[Sequence[float]]) -> list[Answer]:
    """What the sweep finds at each point."""
    f = parse(text)
    runs = [f.gradient(dict(zip(f.inputs, point, strict=True))) for point in points]
    return [Answer(run.value, [run.swept[name] for name in f.inputs]) for run in runs]


def alone(op: Op, count: int) -> str:
    """A row as a formula of its own; in infix programs of inputs a0, a1…"""
    names = [f"a{position}" for position in range(count)]
    if op.prefix:
        return op.prefix + names[0]
    return op.infix.join(names) if op.infix else f"{op.name}({', '.join(names)})"


def arity(op: Op) -> int:
    return 3 if op.variadic else len(op.names)


class Truth(NamedTuple):
    """A row at a point of its domain: its value and its derivatives, in mpmath."""

    op: Op
    point: tuple[float, ...]
    numbers: list[Real]


@cache
def truths(op: Op, count: int) -> list[Truth]:
    """A row at points of its domain at which its derivatives are no convention."""
    found: list[Truth] = []
    for tried, point in enumerate(points(Random(f"{op.name} code"), arity(op), 8 * count)):
        if tried >= count and len(found) >= count / 2:
            break  # in a narrow domain there are few
        if not holds(op.domain, op.names, point) or is_special(op, point):
            continue
        numbers = [true_value(op.name, *point)]
        numbers += [true_partial(op.name, position, point) for position in range(len(point))]
        if op.name == "div" and abs(numbers[0]) < SMALLEST:
            continue  # the row's caveat
        found.append(Truth(op, point, numbers))
    assert len(found) > count / 10, op.name
    return found


def is_beyond_torch(op: Op, point: tuple[float, ...]) -> bool:
    """Where PyTorch's vectors fail: quotients in a remainder, and exp inside sinh and cosh, overflow."""
    if op.name == "mod":
        return abs(point[0]) > 1e300 * abs(point[1])
    return op.name in ("sinh", "cosh") and abs(point[0]) > 709.7


def is_tiny(x: float | Real) -> bool:
    return bool(0 < abs(x) < SMALLEST)


@each_target
@pytest.mark.parametrize("count", [5, pytest.param(many(80), marks=pytest.mark.slow)])
def test_every_row_is_as_accurate_as_the_table_says(
    target: str, count: int, tmp_path: Path
) -> None:
    cases = [truths(op, count) for op in OPS]
    given = [(alone(c[0].op, arity(c[0].op)), [truth.point for truth in c]) for c in cases]
    for case, answers in zip(cases, run(target, programs(target, given), tmp_path), strict=True):
        for (op, point, numbers), answer in zip(case, answers, strict=True):
            if target == "jax" and any(map(is_tiny, [*point, *numbers])):
                continue
            if target == "torch" and is_beyond_torch(op, point):
                continue
            allowed = [op.value_ulp] + [op.partial_ulp + SETTLED] * len(point)
            beside_zero = [op.value_abs] + [op.partial_abs] * len(point)
            for number, true, ulp, least in zip(
                [answer.value, *answer.gradient], numbers, allowed, beside_zero, strict=True
            ):
                text = alone(op, len(point))
                if target == "sql" and math.isnan(number) and is_null_in_sql(text, [float(true)]):
                    continue
                wrong = ulps(number, true)
                if abs(true - number) <= least:
                    continue
                assert wrong <= TARGETS[target].slack * ulp, (
                    op.name,
                    point,
                    number,
                    mp.nstr(true, 20),
                    wrong,
                )


@cache
def ends() -> list[tuple[str, list[tuple[float, ...]], list[Answer]]]:
    """Every row where numbers end, and what the sweep finds there: the same for all targets."""
    cases = []
    for op in OPS:
        count = min(arity(op), 2 if op.variadic else 3)
        grid = SPECIAL if count < 3 else SPECIAL[::3]
        text, places = alone(op, count), list(product(grid, repeat=count))
        cases.append((text, places, swept(text, places)))
    return cases


@each_target
def test_every_row_answers_as_grad_does_where_numbers_end(target: str, tmp_path: Path) -> None:
    given = [(text, places) for text, places, _ in ends()]
    answers = run(target, programs(target, given), tmp_path)
    for (text, places, expectations), found in zip(ends(), answers, strict=True):
        for point, expected, answer in zip(places, expectations, found, strict=True):
            for number, other in zip(
                [answer.value, *answer.gradient], [expected.value, *expected.gradient], strict=True
            ):
                tiny = target == "jax" and abs(other) < SMALLEST and abs(number) < SMALLEST
                null = (
                    target == "sql" and is_null_in_sql(text, [*point, other]) and number != number
                )
                assert tiny or null or near(number, other), (target, text, point, answer, expected)


def is_null_in_sql(text: str, numbers: Sequence[float]) -> bool:
    """Whether a database may answer NULL: of these two rows a step divides by 0."""
    return not all(map(math.isfinite, numbers)) or text in ("acsc(a0)", "li(a0)")


def near(one: float, other: float) -> bool:
    """Whether two numbers are equal but for the last digits."""
    if math.isnan(one) or math.isnan(other):
        return math.isnan(one) and math.isnan(other)
    return one == other or math.isclose(one, other, rel_tol=1e-14, abs_tol=0)


INPUTS = ("x", "y", "z")
LEAVES = (*INPUTS, *INPUTS, "2", "0.5", "1", "3", "pi")


@cache
def generated(count: int) -> list[tuple[str, list[tuple[float, ...]]]]:
    """Formulas over the whole table, each with three points."""
    random = Random("code")
    found: list[tuple[str, list[tuple[float, ...]]]] = []
    for _ in range(count):
        text = tree(random, LEAVES, FREQUENT, random.randint(1, 9))
        arity = len(parse(text).inputs)
        places = [tuple(random.choice(EVERYDAY)(random) for _ in range(arity)) for _ in range(3)]
        found.append((text, places if arity else places[:1]))
    return found


EVERYDAY = (
    lambda random: random.uniform(-4, 4),
    lambda random: random.uniform(0, 1),
    lambda random: float(random.choice((0, 1, -1, 2, 0.5, 1e-9, 1e9, 30))),
)


def meaningful(graph: Graph, held: Bounds) -> bool:
    """Whether a first-order bound means something: well conditioned, and away from kinks."""
    for true, error in zip(held.values, held.errors, strict=True):
        if not mp.isfinite(true) or not error <= mp.ldexp(abs(true), -24):
            return False
    for node, operands in enumerate(graph.operands):
        if not operands or not BY_NAME[graph.kinds[node]].special:
            continue
        op = BY_NAME[graph.kinds[node]]
        exact = [held.values[operand] for operand in operands]
        if op.variadic and len(set(exact)) < len(exact):
            return False
        given = [*exact, held.values[node], *[mp.mpf(1)] * len(exact)]
        if any(holds(special.where, rule_slots(op), given) for special in op.special):
            return False
        if leaps(op, held, node, operands):
            return False
    return all(mp.isfinite(error) for error in held.gradient_errors.values())


def leaps(op: Op, held: Bounds, node: int, operands: tuple[int, ...]) -> bool:
    """Whether what the operands may be off by takes a node across a jump, as in 3 % (2/30)."""
    errors = [held.errors[operand] for operand in operands]
    if not any(errors) or all(special.code != "jump" for special in op.special):
        return False
    gaps = set()
    with mp.workprec(800):
        for signs in product((-2, 2), repeat=len(operands)):
            moved = [
                held.values[operand] + sign * error
                for operand, sign, error in zip(operands, signs, errors, strict=True)
            ]
            if abs(reference(op.name, *moved) - held.values[node]) > 4 * held.errors[node]:
                return True
            gaps.add(mp.sign(moved[0] - moved[-1]))
    return op.name in COMPARISONS and len(gaps) > 1  # the two may be equal


@cache
def bound(text: str, point: tuple[float, ...]) -> Bounds | None:
    """The truth and the rounding bounds; None where a first-order bound means nothing."""
    graph = parse(text).graph
    inputs = dict(zip(graph.inputs, point, strict=True))
    if not all(v == 0 or 1e-60 < abs(v) < 1e60 for v in forward_numbers(graph, inputs)):
        return None
    found = bounds(graph, inputs)
    return found if meaningful(graph, found) else None


@each_target
@pytest.mark.parametrize("count", [30, pytest.param(many(250), marks=pytest.mark.slow)])
def test_generated_formulas_are_within_the_rounding_bound(
    target: str, count: int, tmp_path: Path
) -> None:
    cases = generated(count)[:: 4 if target in ("jax", "sql") else 1]
    compared = 0
    for (text, places), answers in zip(
        cases, run(target, programs(target, cases), tmp_path), strict=True
    ):
        for point, answer in zip(places, answers, strict=True):
            held = bound(text, point)
            if held is None:
                continue
            graph = parse(text).graph
            wanted = [(answer.value, held.values[graph.output], held.errors[graph.output])]
            for name, number in zip(graph.inputs, answer.gradient, strict=True):
                wanted.append((number, held.gradient[name], held.gradient_errors[name]))
            for number, truth, error in wanted:
                if target == "sql" and math.isnan(number) and "acsc(" in text:
                    continue  # NULL for acsc(1), which divides by 0
                assert math.isfinite(number), (text, point, answer)
                wrong = abs(mp.mpf(number) - truth)
                assert wrong <= TARGETS[target].slack * error + LEAST, (
                    text,
                    point,
                    number,
                    mp.nstr(truth, 20),
                )
            compared += 1
    assert compared > len(cases) / 2


LEAST = mp.ldexp(1, -1074)


@pytest.mark.parametrize("count", [120, pytest.param(many(600), marks=pytest.mark.slow)])
def test_python_answers_as_grad_does_bit_for_bit(count: int, tmp_path: Path) -> None:
    """Special numbers included.

    But for cbrt, which ``grad`` mends, x^2, which is x*x in programs, and logsumexp, taken in pairs.
    """
    others = ("cbrt", "^2", "logsumexp")
    cases = [case for case in generated(count) if not any(text in case[0] for text in others)]
    answers = run("python", programs("python", cases), tmp_path)
    for (text, places), found in zip(cases, answers, strict=True):
        for point, expected, answer in zip(places, swept(text, places), found, strict=True):
            for number, other in zip(
                [answer.value, *answer.gradient], [expected.value, *expected.gradient], strict=True
            ):
                assert number == other or (math.isnan(number) and math.isnan(other)), (text, point)


def test_what_the_rows_say_of_signs_is_so() -> None:
    """A quotient whose divisor is never 0 is written with Python's own operator."""
    for op in OPS:
        found = list(points(Random(f"{op.name} signs"), arity(op), 80))
        inside = [point for point in found if holds(op.domain, op.names, point)]
        for point, answer in zip(inside, swept(alone(op, arity(op)), inside), strict=True):
            value = answer.value
            branches = [point[at] for at in op.branches] or point
            assert not (op.not_negative and value < 0), (op.name, point)
            if op.not_zero == "always" or (op.not_zero == "all" and all(branches)):
                assert value != 0, (op.name, point)
            if op.not_zero == "any" and any(branches) and min(point) >= 0:
                assert value != 0, (op.name, point)


@pytest.mark.parametrize("target", ["python", "numpy", "c", "javascript"])
def test_a_remainder_of_0_has_the_sign_of_the_divisor(target: str, tmp_path: Path) -> None:
    places = [(-6.0, 3.0), (6.0, -3.0), (-0.0, 3.0), (0.0, -3.0), (9.0, 3.0), (-7.0, 3.0)]
    (answers,) = run(target, programs(target, [("1/(x%y)", places)]), tmp_path)
    values = [math.inf, -math.inf, math.inf, -math.inf, math.inf, 0.5]
    assert [answer.value for answer in answers] == values
    assert [answer.value for answer in swept("1/(x%y)", places)] == values
