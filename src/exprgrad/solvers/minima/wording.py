"""Verdicts on minima in words."""

from __future__ import annotations

import math

import numpy as np

from exprgrad.language.write.infix import number
from exprgrad.solvers.minima.objective import Layout, Vector
from exprgrad.solvers.minima.trust_region import Box, Course
from exprgrad.solvers.minima.verdicts import Judged

__all__ = ["worded"]

MOST_TERMS = 4
"""The most numbers that a direction is written out in."""
MENTIONED = 1e-3
"""What is less than this part of a direction is not mentioned."""
UNCONVERGED = {
    "undefined": "{what} at the start: the search needs a point where both are finite",
    "limit": "{count} steps were not enough: the gradient's norm is {slope}",
    "stuck": "no step goes {down}, though the gradient's norm is {slope}",
    "still": "rounding hides what steps gain, and the gradient's norm is {slope}",
    "large": "the gradient is 0, but the Hessian is not finite",
}


def worded(found: Judged, course: Course, layout: Layout, box: Box, sign: float) -> str:
    """A verdict in words; ``sign`` is -1 where a maximum was looked for."""
    down, rises = ("down", "rises") if sign > 0 else ("up", "falls")
    falls = "falls" if sign > 0 else "rises"
    least = "least" if sign > 0 else "greatest"
    way = "" if found.direction is None else direction_text(found.direction, layout)
    if found.kind == "minimum" and found.reason == "bounds":
        return f"every input is at a bound, beyond which the value would go {down}"
    if found.kind == "minimum":
        assert found.values is not None
        least_value = number(six(sign * found.values[0]))
        bend = "positive" if sign > 0 else "negative"
        return f"the gradient is 0 and the Hessian {bend} definite: its {least} eigenvalue is {least_value}"
    if found.kind == "saddle":
        return f"the gradient is 0, but the value goes {down} along {way}"
    if found.kind == "flat":
        trend = {"rises": rises, "falls": falls, "stays": "stays the same"}[found.trend]
        sides = {"rises": " on both sides", "falls": " on one side", "stays": ""}[found.trend]
        return f"the gradient is 0 and the Hessian singular along {way}; there the value {trend}{sides}"
    if found.kind == "unbounded":
        end = number(six(sign * found.limit))
        if found.reason == "pole":
            assert found.lower is not None
            return f"the value {falls} to {number(-sign * math.inf)} near {place_text(found.lower, layout)}"
        if found.reason == "infinite":
            return f"the value {falls} to {number(-sign * math.inf)} along {way}"
        if found.reason == "level":
            return f"the value {falls} for ever along {way}, towards {end}"
        return f"the value {falls} for ever along {way}, as far as doubles go: to {end}"
    text = UNCONVERGED[found.reason]
    here = course.last
    what = (
        "the value is not finite" if not math.isfinite(here.value) else "the gradient is not finite"
    )
    slope = number(six(float(np.linalg.norm(here.slope))))
    return text.format(what=what, count=len(course.turns) - 1, slope=slope, down=down)


def place_text(at: Vector, layout: Layout) -> str:
    """A point in words, as far as it is short: ``x = 0, y = 1``."""
    if len(at) > MOST_TERMS:
        return "this point"
    pairs = zip(layout.names(), at, strict=True)
    return ", ".join(f"{name} = {number(six(float(x)))}" for name, x in pairs)


def six(value: float) -> float:
    """A number in six digits."""
    return float(f"{value:.6g}")


def direction_text(direction: Vector, layout: Layout) -> str:
    """A direction as a sum of names: ``0.8*x - 0.6*y``, or ``-x``."""
    most = float(np.max(np.abs(direction)))
    order = [int(at) for at in np.argsort(-np.abs(direction), kind="stable")[:MOST_TERMS]]
    kept = sorted(at for at in order if abs(direction[at]) >= MENTIONED * most)
    names = layout.names() if len(direction) <= 10_000 else []
    terms = ""
    for at in kept:
        part = float(direction[at]) / (most if len(kept) == 1 else 1.0)
        called = names[at] if names else f"number {at}"
        factor = "" if abs(part) == 1 else f"{abs(part):.3g}*"
        sign = (" - " if terms else "-") if part < 0 else (" + " if terms else "")
        terms += f"{sign}{factor}{called}"
    more = int(np.sum(np.abs(direction) >= MENTIONED * most)) - len(kept)
    return terms + (" + …" if more > 0 else "")
