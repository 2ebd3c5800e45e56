"""Verdicts on minima in words."""

from __future__ import annotations

import math

import numpy as np

from exprgrad.language.write.infix import number
from exprgrad.solvers.minima.objective import Layout, Vector
from exprgrad.solvers.minima.trust_region import Course
from exprgrad.solvers.minima.verdicts import Judged

__all__ = ["slope_told", "worded"]

MOST_TERMS = 4
"""The most numbers that a direction is written out in."""
MENTIONED = 1e-3
"""What is less than this part of a direction is not mentioned."""
UNCONVERGED = {
    "infeasible": "no point was found where {broken} holds",
    "undefined": "{what} at the start: the search needs a point where both are finite",
    "limit": "{count} steps were not enough: the gradient's norm is {slope}",
    "stuck": "no step goes {down}, though the gradient's norm is {slope}",
    "still": "rounding hides what steps gain, and the gradient's norm is {slope}",
    "large": "the gradient is 0, but the Hessian is not finite",
}


def worded(found: Judged, course: Course, layout: Layout, sign: float) -> str:
    """A verdict in words; ``sign`` is -1 where a maximum was looked for."""
    down, falls = ("down", "falls") if sign > 0 else ("up", "rises")
    way = "" if found.direction is None else direction_text(found.direction, layout)
    if found.kinks or found.edges:
        return at_switches(found, down, layout)
    if found.kind == "minimum":
        return minimum_text(found, down, sign)
    if found.kind == "saddle":
        return f"the gradient is 0, but the value goes {down} along {way}"
    if found.kind == "flat":
        if not found.trend:
            return f"the Hessian of the Lagrangian is singular along {way}"
        words = {"rises": "rises on both sides", "falls": "falls on one side"}
        turned = {"rises": "falls on both sides", "falls": "rises on one side"}
        trend = (words if sign > 0 else turned).get(found.trend, "stays the same")
        return f"the gradient is 0 and the Hessian singular along {way}; there the value {trend}"
    if found.kind == "unbounded":
        return f"the value {falls} {endless_text(found, way, layout, sign)}"
    here = course.last
    what = "the gradient" if math.isfinite(here.value) else "the value"
    slope = number(six(float(np.linalg.norm(here.slope))))
    return UNCONVERGED[found.reason].format(
        what=f"{what} is not finite", count=len(course.turns) - 1, slope=slope, down=down,
        broken=found.broken,
    )  # fmt: skip


def minimum_text(found: Judged, down: str, sign: float) -> str:
    """What shows that a point is a minimum."""
    if found.reason == "vertex":
        return f"the active constraints leave no way {down}, and none that is level"
    if found.reason == "bounds":
        return f"every input is at a bound, beyond which the value would go {down}"
    assert found.values is not None
    bend, least = ("positive", "least") if sign > 0 else ("negative", "greatest")
    least_value = number(six(sign * found.values[0]))
    where = " along them" if found.reason == "constraints" else ""
    least_value = f"about {least_value}" if found.reason == "products" else least_value
    what = "active constraints balance the gradient" if where else "the gradient is 0"
    return (
        f"{what} and the Hessian is {bend} definite{where}: its {least} eigenvalue is {least_value}"
    )


def endless_text(found: Judged, way: str, layout: Layout, sign: float) -> str:
    """Where a value falls to, and along what."""
    end = number(six(sign * found.limit))
    if found.reason == "pole":
        assert found.lower is not None
        return f"to {number(-sign * math.inf)} near {place_text(found.lower, layout)}"
    if found.reason == "infinite":
        return f"to {number(-sign * math.inf)} along {way}"
    if found.reason == "level":
        return f"for ever along {way}, towards {end}"
    return f"for ever along {way}, as far as doubles go: to {end}"


def at_switches(found: Judged, down: str, layout: Layout) -> str:
    """A point at kinks or at an edge of the formula's domain in words."""
    up = "up" if down == "down" else "down"
    where = " and ".join(
        [f"{text} has a kink" for text in found.kinks]
        + [f"{text} ends its domain" for text in found.edges]
    )
    if found.reason == "sharp":
        return f"{where}: from there each way leads {up}"
    if found.reason == "falls":
        assert found.direction is not None
        return f"{where}, but the value goes {down} along {direction_text(found.direction, layout)}"
    names = " and ".join(found.kinks)
    if found.reason == "axes":
        return f"{names} has a kink: the value goes {up} both ways along each input"
    if found.reason == "jump":
        assert found.direction is not None
        return f"{names} jumps: {down} just beside, along {direction_text(found.direction, layout)}"
    if found.reason == "rises":
        return f"{where}: some ways are level, as far as slopes tell, but values go {up} along them"
    if found.reason == "level":
        return f"{where}: no way leads {down}, but some are level, as far as slopes tell"
    return f"{where}, and no step goes {down}"


def place_text(at: Vector, layout: Layout) -> str:
    """A point in words, as far as it is short: ``x = 0, y = 1``."""
    if len(at) > MOST_TERMS:
        return "this point"
    pairs = zip(layout.names(), at, strict=True)
    return ", ".join(f"{name} = {number(six(float(x)))}" for name, x in pairs)


def slope_told(slope: float | None) -> str:
    """A slope, as far as it is known."""
    return "unknown" if slope is None else number(six(slope))


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
