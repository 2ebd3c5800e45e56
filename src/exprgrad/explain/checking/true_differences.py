"""Derivatives by differences in balls: a step far below any double, at a precision that resolves it.

Only values are evaluated, never a rule of the op table.  Two steps are taken, one 2^32 times the other: how
the quotients change from one to the other tells a derivative from a kink, a jump or an infinite slope, and
how far the quotient at the smaller step can be from its limit.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

from exprgrad.explain.checking.quotients import Quotients, quotients, steps
from exprgrad.graph.graph import Graph
from exprgrad.run.balls import Ball, enclose

__all__ = ["Truth", "below_doubles", "true_differences"]

PRECISIONS = ((512, 128), (4096, 1000), (16384, 1000))
"""Bits, and by how many the step is smaller than the node's data (or than 1, if that is less)."""
APART = 32
"""The steps' ratio, in bits."""
CLOSE = 2.0**-60
"""The relative error at which a limit counts as found: 100 times less than a double's."""
LEAST = math.ulp(0.0)


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


def true_differences(graph: Graph, inputs: Mapping[str, float], node: int, at: float) -> Truth:
    """The output's true derivative by a node whose data is about ``at``, if the inputs are exact.

    Raises ``MissingExtraError`` without python-flint.
    """
    found = quotients(graph, node)
    near = min(math.frexp(at)[1], 0)
    truth = None
    for bits, below in PRECISIONS:
        far, close = (
            enclose(found.graph, {**inputs, **steps(near - below + more)}, bits)
            for more in (APART, 0)
        )
        truth = judged(found, far, close, graph.output)
        if truth.kind != "unclear" or close[graph.output].is_nan():
            break
    assert truth is not None
    return truth


def judged(found: Quotients, far: list[Ball], close: list[Ball], output: int) -> Truth:
    """What the quotients at two steps say together."""
    value = close[output]
    center, left, right, bend = (
        limit(far[node], close[node], order)
        for node, order in ((found.center, 2), (found.left, 1), (found.right, 1), (found.bend, 1))
    )

    def truth(kind: str) -> Truth:
        return Truth(kind, value, center.ball, left.ball, right.ball)

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
    if abs(close) < abs(far) * 2.0**-8:
        return Limit("found", close * 0)
    if abs(close) > abs(far) * 2.0**8:
        infinity = close.pos_inf()
        return Limit("grows", infinity if close > 0 else -infinity)
    off = (close - far).abs_upper() * 2.0 ** (1 - order * APART)
    if off + close.rad() > abs(close).abs_lower() * CLOSE:
        return Limit("unclear")
    return Limit("found", close)


def below_doubles(ball: Ball | None) -> bool:
    """Whether a number is certainly less than the least double, so that doubles take it for 0."""
    return ball is not None and bool(ball.abs_upper() < LEAST)
