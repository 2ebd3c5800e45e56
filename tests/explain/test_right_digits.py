"""How often bounds on rounding are wrong, over generated formulas: against balls, and mpmath beyond them.

A number is right if it has six right digits, or no double is nearer to the truth, or there is no truth and
it is no number either.  Left out are formulas in which ``atan2`` sees a -0: in IEEE's arithmetic its sign
decides between π and -π, in real arithmetic a zero has none.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from random import Random
from typing import NamedTuple

import pytest

from amounts import many
from exprgrad import Expression, parse
from exprgrad.explain.digits.judgements import (
    TrueNumbers,
    enclose_outputs,
    judge_number,
    proven_digits,
)
from exprgrad.graph.graph import CONST, INPUT, Graph
from exprgrad.run import evaluation
from exprgrad.run.balls.balls import Ball, working_precision
from exprgrad.run.evaluation import DOUBLE_DIGITS, right_digits
from lost_digits import VALUE, about
from oracles import Real, mp, mpf, reference
from strategies import FREQUENT, LARGE, double, partner, tree

LEAST = 6
"""Fewer right digits than these are warned about."""
LEAVES = ("x", "y", "z", "x", "y", "2", "0.3", "1", "pi")
CHOSEN = (0.0, 1.0, -1.0, 2.0, 0.5, -0.5, 3.0, 1e-9, 1e9, 1e200, 1e-200, 800.0, 1e-17)
"""Inputs at which formulas meet their kinks, poles and ends."""
RUNS = [300, pytest.param(many(2_000), marks=pytest.mark.slow)]


class Number(NamedTuple):
    """The value (no name) or a derivative of a formula at a point.

    ``claimed``  how many of the sweep's digits are right, as its bound has it
    ``right``    how many are in truth; None if the balls do not tell
    ``warned``   whether the guarded answer has a warning about it
    ``answer``   how many digits of what is printed are right; None if the balls do not tell
    ``typed``    how many of the sweep's digits are right for the decimals as typed; None likewise
    ``turns``    whether these meet a kink or a jump that the doubles miss
    """

    formula: str
    inputs: dict[str, float]
    name: str
    sweep: float
    claimed: int
    right: int | None
    warned: bool
    answer: int | None
    typed: int | None
    turns: bool


def numbers(seed: int, count: int) -> Iterator[Number]:
    """The first so many numbers of formulas over the whole table."""
    random, made = Random(seed), 0
    while made < count:
        formula = parse(tree(random, LEAVES, FREQUENT, random.randint(1, 8)))
        point = dict(zip(formula.inputs, inputs(random, len(formula.inputs)), strict=True))
        for number in numbers_of(formula, point):
            yield number
            made += 1


def inputs(random: Random, count: int) -> list[float]:
    """Inputs: everyday numbers, extreme ones, and some that are near each other."""
    found: list[float] = []
    for _ in range(count):
        kind = random.randrange(4)
        if found and random.random() < 0.3:
            x = partner(random, found[0])
        elif kind == 0:
            x = double(random)
        elif kind == 1:
            x = random.choice(CHOSEN)
        else:
            x = random.choice((1, -1)) * random.uniform(0.01, 4)
        found.append(x + 0.0 if math.isfinite(x) else 1.0)
    return found


def numbers_of(formula: Expression, point: dict[str, float]) -> Iterator[Number]:
    """A formula's value and derivatives at a point; at a kink, what is not corrected."""
    run = formula.gradient(point)
    graph = run.graph
    if sees_negative_zero(run):
        return
    data, grads = evaluation.Floats(graph).errors(run.values, run.adjoints)
    true, guarded = enclose_outputs(graph, run.inputs, run.wrt), run.true
    typed = enclose_outputs(graph, run.inputs, run.wrt, typed={})
    warned = about(run, [one.message for one in guarded.diagnostics])
    found = {"": (run.value, data[graph.output], guarded.value)}
    for name, slope in run.swept.items():
        if repr(run.gradient[name]) == repr(slope):
            found[name] = slope, grads[graph.inputs[name]], guarded.gradient[name]
    for name, (sweep, error, answer) in found.items():
        ball, decimal = (truth(one, graph, name, sweep) for one in (true, typed))
        yield Number(
            formula.text,
            point,
            name,
            sweep,
            right_digits(sweep, error),
            digits_of(sweep, ball, true),
            (name or VALUE) in warned,
            digits_of(answer, ball, true),
            digits_of(sweep, decimal, typed),
            bool(warned) and run.truths.turn is not None,
        )


def truth(found: TrueNumbers, graph: Graph, name: str, sweep: float) -> Ball:
    """The value, or a derivative; what has no value has none, though some rules say a number there."""
    value = found.values[graph.output]
    has_none = value.is_nan() and math.isnan(sweep)
    return found.grad(graph.inputs[name]) if name and not has_none else value


def sees_negative_zero(run: evaluation.SweptRun) -> bool:
    """Whether an ``atan2`` meets a zero with a sign."""
    graph = run.graph
    return any(
        run.values[operand] == 0 and math.copysign(1, run.values[operand]) < 0
        for kind, operands in zip(graph.kinds, graph.operands, strict=True)
        if kind == "atan2"
        for operand in operands
    )


def digits_of(x: float, true: Ball, found: TrueNumbers) -> int | None:
    """How many digits are right, from 0 to 16; None where the balls do not tell."""
    verdict = judge_number(x, true, found.bits).verdict
    if verdict == "undecided":
        return None
    if verdict == "nearest":
        return DOUBLE_DIGITS
    if verdict == "undefined":
        return 0 if math.isfinite(x) else DOUBLE_DIGITS
    with working_precision(found.bits):
        return min(proven_digits(x, true), DOUBLE_DIGITS)


POLE = re.compile(r"\b(?:csc|cot)\(pi\)")
"""What has no value, where doubles have one: whatever rests on it is rightly warned about."""


def may_be_right(number: Number) -> bool:
    """Whether a number that balls do not decide may be right, as far as mpmath tells.

    ``sin(pi)`` is 0, which no ball proves; what mpmath cannot say, such as ``exp(exp(exp(100)))``, and
    derivatives may be right.
    """
    if not math.isfinite(number.sweep) or POLE.search(number.formula):
        return False
    graph = parse(number.formula).graph
    for digits in (60, 120):
        true = None if number.name else true_value(graph, number.inputs, digits)
        if true is not None and not abs(number.sweep - true) <= 10.0**-LEAST * abs(true):
            return False
    return True


def true_value(graph: Graph, point: dict[str, float], digits: int) -> Real | None:
    """A formula's value in so many digits; None if a number on the way is large beyond reason."""
    values: list[Real] = []
    with mp.workdps(digits):
        for node, kind in enumerate(graph.kinds):
            if kind == INPUT:
                values.append(mpf(point[str(graph.payloads[node])]))
            elif kind == CONST:
                values.append(+mp.pi if node in graph.symbols else mpf(graph.payloads[node]))
            else:
                operands = [values[operand] for operand in graph.operands[node]]
                if any(abs(x) > LARGE for x in operands):
                    return None
                values.append(reference(kind, *operands))
    return values[graph.output]


@pytest.mark.parametrize("count", RUNS)
def test_how_often_they_are_wrong(count: int) -> None:
    """Wrong without a warning is at most one in 10,000; a warning of a right number, one in 500.

    A number is right that is so for doubles and for the decimals as typed, which meet no other kinks.
    """
    silent, alarms, over = [], [], []
    for number in numbers(15, count):
        if number.right is None or number.answer is None:
            if number.warned and may_be_right(number):
                alarms.append(number)
            continue
        is_typed = number.typed is None or number.typed >= LEAST
        if (number.answer < LEAST or not is_typed) and not number.warned:
            silent.append(number)
        if number.right >= LEAST and is_typed and number.warned and not number.turns:
            alarms.append(number)
        if number.claimed > number.right:
            over.append(number)
    assert len(silent) <= count / 10_000, silent
    assert len(alarms) <= math.ceil(count / 500), alarms
    assert len(over) <= count / 10_000, over
