"""One-sided derivatives and limits by numbers, where what is beside a point is of higher order.

They are guesses from a few doubles, and said to be: an answer is given only where it has two digits, and
rounded to those that it has.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from exprgrad.explain.checking.differences import Estimate, differences
from exprgrad.explain.sides.running_error import SURE
from exprgrad.run.evaluation import Run
from exprgrad.run.numbers.sweeps import forward

__all__ = ["Guess", "guesses"]

NEAR, NEARER, NEAREST = 8, 16, 20
"""How far aside limits are looked for: by 2 to the minus these of the input; their squares still tell."""
LEAST = 2.0**-500
"""Of smaller steps the squares would be 0, or have no digits: then nothing is told."""


class Guess(NamedTuple):
    """What one side seems to be: a derivative, or a limit that is not the value; None: no telling."""

    slope: float | None = None
    limit: float | None = None


def guesses(run: Run, name: str) -> tuple[Guess, Guess]:
    """A guess for the left and for the right of an input's value; of limits alone where that is nan."""
    if math.isnan(run.value):
        return Guess(limit=limit(run, name, -1.0)), Guess(limit=limit(run, name, 1.0))
    found = differences(run.graph, run.inputs, run.graph.inputs[name], run.inputs[name])
    left, right = (
        guess(run, name, sign, estimate)
        for sign, estimate in ((-1.0, found.left), (1.0, found.right))
    )
    return left, right


def guess(run: Run, name: str, sign: float, estimate: Estimate | None) -> Guess:
    """A guess for one side: first whether there is a jump, for then differences mean nothing."""
    shifts = steps_aside(run, name, sign)
    far, middle, close = (beside(run, name, shift) - run.value for shift in shifts)
    tells = abs(shifts[-1]) > LEAST and all(map(math.isfinite, (far, middle, close)))
    if not tells:
        return Guess()
    if abs(middle) > abs(far) / 2 or abs(close) > abs(middle) / 2:
        settled = abs(close - middle) <= SURE * abs(close)
        return Guess(None, trimmed(run.value + close, abs(close - middle)) if settled else None)
    if far == middle == close == 0.0:
        return Guess(0.0)
    if estimate is None or not is_sure(estimate, abs(far / shifts[0])):
        return Guess()
    return Guess(trimmed(estimate.value, estimate.error))


def limit(run: Run, name: str, sign: float) -> float | None:
    """A guess for the output's limit from one side, where it has no value: what it settles at, or 0."""
    shifts = steps_aside(run, name, sign)
    far, middle, close = (beside(run, name, shift) for shift in shifts)
    if abs(shifts[-1]) <= LEAST or not all(map(math.isfinite, (far, middle, close))):
        return None
    if abs(close - middle) <= SURE * abs(close):
        return trimmed(close, abs(close - middle))
    return 0.0 if abs(middle) <= abs(far) / 8 and abs(close) <= abs(middle) / 2 else None


def steps_aside(run: Run, name: str, sign: float) -> list[float]:
    """Ever smaller steps to one side of an input's value."""
    exponent = math.frexp(run.inputs[name] or 0.5)[1]
    return [math.ldexp(sign, exponent - near) for near in (NEAR, NEARER, NEAREST)]


def beside(run: Run, name: str, shift: float) -> float:
    """The output's value with one input a little aside."""
    inputs = {**run.inputs, name: run.inputs[name] + shift}
    return forward(run.graph, inputs)[run.graph.output]


def is_sure(estimate: Estimate, coarse: float) -> bool:
    """Whether an estimate has two digits; one that may be 0, in comparison with a coarse difference."""
    if abs(estimate.value) > estimate.error:
        return estimate.error <= SURE * abs(estimate.value)
    return estimate.error <= SURE * coarse


def trimmed(value: float, error: float) -> float:
    """A number without the digits that its error makes worthless."""
    place = -math.ceil(math.log10(error)) if error else 17
    try:
        return round(value, min(place, 300)) + 0.0
    except OverflowError:  # the largest doubles have nowhere to be rounded to
        return value
