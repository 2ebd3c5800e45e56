"""One-sided derivatives and limits by differences in balls, where terms of higher order decide.

A difference at a step far below any double, in a precision that resolves it, has all the digits that a
double has, and nothing rounds away.  It is an estimate still: no two steps prove a limit.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

from exprgrad.explain.checking.differences import APART, Limit, limit
from exprgrad.explain.digits.trusted import hanging
from exprgrad.explain.sides.one_sided import SURE
from exprgrad.run.balls.balls import Ball, ball, enclose, has_balls, working
from exprgrad.run.evaluation import Run
from exprgrad.run.numbers.bounds import TINY

__all__ = ["Guess", "guesses"]

PRECISIONS = (4096, 16384)
"""Bits: the second where the first tells nothing, as beside 1 + x^8."""
MOST_WORK = 2**28
"""The most bits times nodes, of all inputs together, on both sides: about half a second."""
BELOW = 1400
"""By how many bits the step is smaller than the input, or than 1 if that is less."""
ODD = 1_000_000_007
"""The step is no power of 2, where ``1/x % 1`` and the like are always 0."""
NEARER = 600
"""By how many bits a smaller step still is nearer, where the value at the point itself is not known."""


class Guess(NamedTuple):
    """What one side seems to be: a derivative, or a limit that is not the value; None: no telling."""

    slope: float | None = None
    limit: float | None = None


Pair = tuple[Ball, Ball]
Typed = Mapping[str, str] | None
"""The texts of inputs where numbers are decimals as typed; None where they are doubles."""
Guesses = tuple[Guess, Guess]
NO_GUESSES: Guesses = (Guess(), Guess())


def guesses(run: Run, name: str) -> Guesses:
    """A guess for the left and for the right of an input's value; of limits alone where that is nan.

    Where the doubles and the decimals as typed lead to different places, the one that has a kink or a jump
    counts: it is what the sweep met.
    """
    if not has_balls():
        return NO_GUESSES
    readings = (None,) if not hanging(run.graph, run.inputs, run.spelled) else (None, run.spelled)
    found: list[Guesses] = []
    for typed in readings:
        left, right = (guess(run, name, sign, typed=typed) for sign in (-1, 1))
        found.append((left, right))
    told = [sides for sides in found if sides != NO_GUESSES]
    return next((sides for sides in told if sides[0] != sides[1]), told[0] if told else NO_GUESSES)


def guess(run: Run, name: str, sign: int, *, typed: Typed) -> Guess:
    """A guess for one side: first whether there is a jump, for then differences mean nothing."""
    start = min(math.frexp(run.inputs[name])[1], 0) - BELOW
    work = MOST_WORK // max(len(run.wrt or ()), 1)
    for bits in PRECISIONS:
        if 4 * bits * len(run.graph) > work:
            break
        with working(bits):
            unit = sign * ODD * ball(2) ** start
            steps = unit * 2**APART, unit
            far, close = (value_beside(run, name, step, bits, typed=typed) for step in steps)
            if math.isnan(run.value):
                told = Guess(limit=number_of(limit(far, close, 1)))
            else:
                here = value_beside(run, name, ball(0), bits, typed=typed)
                if not here.is_finite():
                    here = value_beside(run, name, unit / 2**NEARER, bits, typed=typed)
                told = against(run.value, here, (far, close), steps)
        if told != Guess():
            return told
    return Guess()


def value_beside(run: Run, name: str, step: Ball, bits: int, *, typed: Typed) -> Ball:
    """The output's true value with one input a little aside."""
    return enclose(run.graph, run.inputs, bits, typed=typed, aside={name: step})[run.graph.output]


def against(value: float, here: Ball, there: Pair, steps: Pair) -> Guess:
    """What values at two steps say, beside the true value at the point, which must be what was computed."""
    off = abs(here - value)
    if not here.is_finite() or bool(off > SURE * abs(here) and off > TINY):
        return Guess()
    far, close = (one - here for one in there)
    rise = limit(far, close, 1)
    if rise.kind != "found" or rise.ball is None:
        return Guess()
    if bool(rise.ball != 0) and not bool(abs(close) * 2 < abs(far)):
        return Guess(limit=number_of(limit(there[0], there[1], 1)))
    return Guess(number_of(limit(far / steps[0], close / steps[1], 1), steep=True))


def number_of(found: Limit, *, steep: bool = False) -> float | None:
    """The double nearest to a limit; None where there is none, or an infinite one that is not ``steep``."""
    if found.ball is None or not (found.kind == "found" or steep):
        return None
    return float(found.ball.mid()) + 0.0
