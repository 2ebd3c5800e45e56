"""Bumping a node as the lesson does: L1, the node's data and h more, L2, (L2 - L1)/h beside its grad.

Source: A. Karpathy, The spelled-out intro to neural networks and backpropagation: building micrograd
(2022).
"""

from __future__ import annotations

import math

from exprgrad.errors import RequestError
from exprgrad.explain.checking.differences import SCALE, STEP, Quotients, quotients
from exprgrad.explain.checking.verdicts import Verdict, agreement, digits_of, short_number
from exprgrad.language.write.infix import number
from exprgrad.run.evaluation import Run
from exprgrad.run.numbers.sweeps import forward

__all__ = ["at_step"]

LESSON = 0.001
"""The step that the lesson takes."""
KEPT = 8
"""How many digits smaller than a number a step is that is suggested: about half of them."""
ENOUGH_DIGITS = 3
"""Where (L2 - L1)/h has fewer digits than this, it is asked why."""
HALVINGS = 32
"""How often an interval is halved on the search for a kink."""
NOISE = 16
"""How many ulp of the output rounding may make of a difference of differences, at most."""


def at_step(run: Run, node: int, analytic: float, step: float, best: Verdict) -> Verdict:
    """The verdict with the lesson's numbers: (L2 - L1)/h, and how far that is from the ``best``.

    Raises ``RequestError`` for a step that is 0 or not finite, or too small to change the node's data.
    """
    data = run.values[node]
    if not math.isfinite(step) or step == 0 or (math.isfinite(data) and data + step == data):
        message = f"a step of {number(step)} leads nowhere"
        if math.isfinite(step) and step:
            message = f"a step of {number(step)} is lost: {number(data)} stays as it is"
        raise RequestError("bad-step", message, help=usable(data))
    found = quotients(run.graph, node)
    numeric, central = bumped(run, found, step)[:2]
    error = None if best.numeric is None else abs(numeric - best.numeric)
    here = f"at h = {number(step)}, (L2 - L1)/h is {short_number(numeric)}"
    shown = best._replace(numeric=numeric, error=error)
    if best.verdict != "agrees" or not (math.isfinite(numeric) and math.isfinite(central)):
        message = f"{best.message}; {here} and the central difference {short_number(central)}"
        return shown._replace(message=message)
    first, second = (digits_of(abs(each - analytic), abs(analytic)) for each in (numeric, central))
    if first < ENOUGH_DIGITS and numeric != analytic and leaps(run, found, step):
        why = f"kink between the sample points: {here}, returned {short_number(analytic)}"
        return shown._replace(verdict="kink", message=why)
    most = best.digits
    if not analytic or most is None:
        return shown._replace(message=f"{best.message}; {here}")
    if first:
        message = (
            f"{agreement(first)} at h = {number(step)}, {second} by the central difference, {most} by a "
            "better step"
        )
        return shown._replace(message=message)
    returned = (
        f"{here}, returned {short_number(analytic)}, which a better step finds to {most} digits"
    )
    if 2 * math.ulp(run.value) / abs(step) < abs(numeric - analytic):
        return shown.says("undecided", f"the step is too large: {returned}")
    lost = shown._replace(help="a larger step keeps more digits")
    return lost.says("cancellation", f"the step is too small: {returned}")


def usable(data: float) -> str:
    """What step to take instead."""
    if not math.isfinite(data) or data + LESSON != data:
        return f"the lesson takes h = {LESSON}"
    larger = 10.0 ** (math.floor(math.log10(abs(data))) - KEPT)
    return f"h = {larger:g} would move it"


def bumped(run: Run, found: Quotients, step: float) -> tuple[float, float, float]:
    """The quotient to the right and the central one at a step, and L2 - L1."""
    values = forward(found.graph, {**run.inputs, STEP: step, SCALE: 1.0})
    rise = values[found.graph.operands[found.right][0]]
    return rise / step, values[found.center], rise


def leaps(run: Run, found: Quotients, step: float) -> bool:
    """Whether a kink or a jump lies between the node's data and that bumped by a step.

    The interval is halved again and again, and the half is kept in which the slope changes more.  Where
    the function is smooth, that change shrinks with the interval; at a kink it stays as it is, as far
    as rounding lets one see.
    """

    def rise(at: float) -> float:
        return bumped(run, found, at)[2] if at else 0.0

    def change(start: float, width: float) -> float:
        one, middle, other = (rise(start + width * part) for part in (0.0, 0.5, 1.0))
        return abs((other - middle) - (middle - one)) / abs(width / 2)

    ulp = math.ulp(max(abs(run.value), abs(run.value + rise(step))))
    start, width = 0.0, step
    most = last = change(start, width)
    for _ in range(HALVINGS):
        width /= 2
        starts = start, start + width / 2, start + width
        start, last = max(((at, change(at, width)) for at in starts), key=lambda pair: pair[1])
        if not last * abs(width) > NOISE * ulp:
            return False
        if last * abs(width) < NOISE * NOISE * ulp:
            break
        most = max(most, last)
    return last >= most / 4
