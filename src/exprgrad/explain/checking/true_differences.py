"""Derivatives by differences in balls: a step far below any double, at a precision that resolves it.

Only values are evaluated, never a rule of the op table.  Two steps are taken, one 2^32 times the other: how
the quotients change from one to the other tells a derivative from a kink, a jump or an infinite slope, and
how far the quotient at the smaller step can be from its limit.  From far away a steep slope looks like a
jump and a narrow bend like a kink, so these are believed only where much smaller steps find the same.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

from exprgrad.explain.checking.differences import SCALE, STEP, Quotients, quotients
from exprgrad.graph.graph import Graph
from exprgrad.graph.ops import COMMON
from exprgrad.run.balls.balls import Ball, ball, decimal, evaluate, working
from exprgrad.run.numbers.bounds import TINY

__all__ = [
    "APART", "CLOSE", "Limit", "Truth", "below_doubles", "least_work", "limit",
    "true_differences",
]  # fmt: skip

PRECISIONS = ((512, 128), (4096, 1400), (16384, 6000))
"""Bits, and by how many the step is smaller than the node's data (or than 1, if that is less).

The first is for what is as smooth as most formulas are.  The second step is 2^-300 of the least double and
less, also beside 0.  The bits are more than twice the step's: as many are left of a quotient.
"""
STEP_FUNCTIONS = frozenset(op.name for op in COMMON if op.gate == "blocker")
"""The functions that do nothing but jump, and are flat between."""
SETTLED = 2.0**-24
"""By how much, of itself, a quotient may change from step to step if it has a limit."""
AGREEING = 2.0**-40
"""How near the number that is checked must be to the limit at the first step, for that to be believed."""
APART = 32
"""The steps' ratio, in bits: what changes with the step changes by 2^32, far beyond what noise explains."""
CHANGED = 2.0**8
"""What changes by more from step to step tends to 0 or to infinity, like the step's fourth root or faster.

A logarithm changes by no more than 4/3.
"""
CLOSE = 2.0**-60
"""The relative error at which a limit counts as found: 128 times less than that of a rounded double."""


class Truth(NamedTuple):
    """What a derivative truly is, as far as balls tell.

    ``kind`` is ``smooth``, ``kink``, ``jump``, ``vertical`` (the slope is infinite), ``edge`` (there are
    no values on one side) or ``unclear``.  ``center``, ``left`` and ``right`` are balls, None where there
    is no limit, and infinite where the slope is; ``value`` is the output's.
    """

    kind: str
    value: Ball
    center: Ball | None
    left: Ball | None
    right: Ball | None


class Limit(NamedTuple):
    """What quotients at two steps tend to: ``found``, ``grows``, ``none`` (no values) or ``unclear``."""

    kind: str
    ball: Ball | None = None


def least_work(nodes: int) -> int:
    """The most that the first precision takes, in bits times nodes: two steps, and both sides of each."""
    return 2 * 3 * nodes * PRECISIONS[0][0]


def true_differences(
    graph: Graph,
    inputs: Mapping[str, float],
    node: int,
    at: float,
    work: float = math.inf,
    expected: float | None = None,
    *,
    typed: bool = False,
) -> Truth:
    """The output's true derivative with respect to a node whose data is about ``at``, from exact inputs.

    Inputs and literals are the doubles that they were read as, or with ``typed`` the decimals.

    Higher precisions than the first are taken as long as the ``work`` lasts, in bits times nodes: where the
    first tells no derivative, or another than is ``expected``, and at 0, where no size says what is small.

    Raises ``MissingExtraError`` without python-flint.
    """
    found = quotients(graph, node)
    near = min(math.frexp(at)[1], 0)
    truth, before = None, "unclear"
    for bits, below in PRECISIONS:
        is_first = truth is None
        work -= 2 * bits * len(found.graph)
        if not is_first and work < 0:
            break
        with working(bits):
            number = decimal if typed else ball
            given = {name: number(value) for name, value in inputs.items()} | {SCALE: ball(1)}
            far, close = (
                evaluate(found.graph, given | {STEP: ball(2) ** exponent}, typed=typed)
                for exponent in (near - below + APART, near - below)
            )
        truth = told_by_steps(found, far, close, graph.output)
        if close[graph.output].is_nan():
            return truth
        if truth.kind == "smooth":
            if not is_first or (at != 0 and is_expected(truth.center, expected)):
                return truth
        elif truth.kind == before != "unclear":
            return truth
        before = truth.kind if truth.kind != "unclear" else before
    assert truth is not None
    return truth if truth.kind == "smooth" else truth._replace(kind="unclear")


def is_expected(limit: Ball, expected: float | None) -> bool:
    """Whether a limit is near the number that is expected, if there is one."""
    if expected is None or (expected == 0 and below_doubles(limit)):
        return True
    return bool(abs(limit - expected) <= abs(limit) * AGREEING)


def told_by_steps(found: Quotients, far: list[Ball], close: list[Ball], output: int) -> Truth:
    """What the quotients at two steps say together."""
    value = close[output]
    center, left, right, bend = (
        limit(far[node], close[node], order)
        for node, order in ((found.center, 2), (found.left, 1), (found.right, 1), (found.bend, 1))
    )

    def truth(kind: str) -> Truth:
        return Truth(kind, value, center.ball, left.ball, right.ball)

    if not all(is_at_rest(found.graph.kinds[at], far[at], close[at]) for at in found.moved):
        return truth("unclear")
    sides = {left.kind, right.kind}
    if "none" in sides:
        return truth("edge" if sides & {"found", "grows"} else "unclear")
    if "grows" in sides:
        leap = 2.0 ** (APART - 1)
        leaps = any(abs(close[at]) > abs(far[at]) * leap for at in (found.left, found.right))
        return truth("jump" if leaps else "vertical")
    if center.kind != "found" or sides != {"found"}:
        return truth("unclear")
    assert center.ball is not None
    if below_doubles(bend.ball) or close[found.bend].abs_upper() < abs(center.ball) * CLOSE:
        return truth("smooth")
    return truth("kink" if bend.kind == "found" else "unclear")


def is_at_rest(kind: str, far: Ball, close: Ball) -> bool:
    """Whether a node is the same at both steps, if it is a step function: none lies between the two."""
    if kind not in STEP_FUNCTIONS or (far.is_nan() and close.is_nan()):
        return True
    return bool(far.is_exact() and close.is_exact() and far == close)


def limit(far: Ball, close: Ball, order: int) -> Limit:
    """The limit of a quotient whose error is of an order in the step, from two steps."""
    if far.is_nan() or close.is_nan():
        return Limit("none")
    if not (far.is_finite() and close.is_finite()):
        return Limit("unclear")
    if close.is_zero() or below_doubles(close):
        return Limit("found", close)
    if close.contains(0):
        return Limit("unclear")
    if abs(close) * CHANGED < abs(far):
        return Limit("found", close * 0)
    if abs(close) > abs(far) * CHANGED:
        infinity = close.pos_inf()
        return Limit("grows", infinity if close > 0 else -infinity)
    change, size = (close - far).abs_upper(), abs(close).abs_lower()
    off = change * 2.0 ** (1 - order * APART)
    if change > size * SETTLED or off + close.rad() > size * CLOSE:
        return Limit("unclear")
    return Limit("found", close)


def below_doubles(ball: Ball | None) -> bool:
    """Whether a number is certainly less than the least double, so that doubles take it for 0."""
    return ball is not None and bool(ball.abs_upper() < TINY)
