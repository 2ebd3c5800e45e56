"""Points at which a claim is held against the true derivative, and what there is where that cannot be."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from itertools import islice, product
from random import Random
from typing import NamedTuple

from exprgrad.explain.checking.numbers import short
from exprgrad.explain.checking.true_differences import (
    CLOSE,
    Truth,
    below_doubles,
    least_work,
    true_differences,
)
from exprgrad.explain.kinks_met import flagged
from exprgrad.graph.graph import Graph
from exprgrad.language.write.infix import number
from exprgrad.run.balls.balls import Ball, ball, evaluate
from exprgrad.run.numbers.sweeps import forward, play, record
from exprgrad.run.result import Run

__all__ = ["Formulas", "Obstacle", "Place", "at", "sampled_places"]

TRIES = 500
"""How many are tried to find them: of a domain that is a tenth of what is sampled, enough."""
CONFIRMED = CLOSE * 2**20
"""How near differences must come to our formula.

They are as exact as ``CLOSE``, and much coarser is still far finer than any rule that is wrong.
"""
TRIED = 64
"""How many points may lie in the domain without a derivative before the search ends."""
SMALL = (2.0, 3.0, 5.0, 0.5, 7.0, -2.0, 1.5)
"""Numbers that people check with."""


class Formulas(NamedTuple):
    """The function, what is claimed of its derivative, and our formula for that, as graphs."""

    function: Graph
    claim: Graph
    derivative: Graph


class Place(NamedTuple):
    """A point, there every node of the claim and of our formula, in balls, and the true derivative.

    That is our formula's value, unless the point is ``special``: then it is what differences say, for the
    formula's conventions need not be the derivative.
    """

    point: dict[str, float]
    claim: list[Ball]
    formula: list[Ball]
    true: Ball
    special: bool


class Obstacle(NamedTuple):
    """A point at which nothing can be compared: the verdict, in words too, and the sides of a kink.

    ``in_domain``  whether it is not that the formula, or the claim, has no value there
    ``denies``     whether differences contradict our own formula there
    """

    point: dict[str, float]
    verdict: str
    message: str
    in_domain: bool
    left: float | None = None
    right: float | None = None
    denies: bool = False


def sampled_places(
    formulas: Formulas, name: str, given: Mapping[str, float], most: int, work: int
) -> tuple[list[Place], Obstacle | None]:
    """Points at which claim and formula can be compared, and one, if any, where they cannot.

    As many are tried as the ``work`` allows.  Of obstacles one at which differences deny our formula comes
    first, then one of the formula's domain.
    """
    graph, claim, _ = formulas
    tries = 1 if len(given) == len(graph.inputs) else TRIES
    tries = min(tries, work // least_work(len(graph) + len(claim)))
    places: list[Place] = []
    found: Obstacle | None = None
    met = 0
    for point in islice(sampled(graph, given), tries):
        place = looked_at(formulas, name, point, work // tries)
        if isinstance(place, Place):
            places.append(place)
        else:
            met += place.in_domain
            if found is None or place.denies or (place.in_domain and not found.in_domain):
                found = place
        if len(places) == most or met > TRIED:
            break
    return places, found


def looked_at(
    formulas: Formulas, name: str, point: dict[str, float], work: int
) -> Place | Obstacle:
    """A point, if claim and formula can be compared there, or why they cannot."""
    graph, claim, formula = formulas
    strange = next((name for name, value in point.items() if not math.isfinite(value)), None)
    if strange is not None:
        message = f"undecided: {strange} is {number(point[strange])}, where nothing can be compared"
        return Obstacle(point, "undecided", message, True)
    value, said, formed = placed(graph, claim, formula, point)
    ours, claimed = formed[formula.output], said[claim.output]

    def undecided(why: str, *, in_domain: bool = True) -> Obstacle:
        return Obstacle(point, "undecided", f"undecided: {why} at {at(point)}", in_domain)

    if not value.is_finite():
        why = "the formula has no value" if value.is_nan() else "the formula's value is not finite"
        return undecided(why, in_domain=False)
    if not (claimed.is_finite() or claimed.is_nan()):
        return undecided("the claim's value is not finite", in_domain=False)
    truth = true_differences(graph, point, graph.inputs[name], point[name], work)
    if truth.kind != "smooth":
        return at_no_derivative(truth, point)
    true = truth.center
    assert true is not None
    near = (true * 2).union(true * 0) if below_doubles(true) else true
    if near.contains(ours) or abs(near - ours) <= abs(ours) * CONFIRMED + near.rad():
        return Place(point, said, formed, ours, special=False)
    if meets_special(graph, name, point):
        margin = near * CONFIRMED
        return Place(point, said, formed, (near - margin).union(near + margin), special=True)
    if not ours.is_finite():
        return undecided("our own formula has no value", in_domain=False)
    return undecided("differences contradict our own formula")._replace(denies=True)


def at_no_derivative(truth: Truth, point: dict[str, float]) -> Obstacle:
    """What there is instead of a derivative at a point."""
    left, right = (None if side is None else float(side) for side in (truth.left, truth.right))
    here, sides = at(point), f"left {short(left)}, right {short(right)}"
    if truth.kind == "kink" or (truth.kind == "vertical" and left != right):
        message = f"kink: there is no derivative at {here}: {sides}"
        return Obstacle(point, "kink", message, True, left, right)
    if truth.kind == "jump":
        message = f"kink: there is no derivative at {here}: the value jumps"
        return Obstacle(point, "kink", message, True)
    why = f"differences in balls do not settle at {here}"
    if truth.kind == "vertical":
        why = f"the slope is infinite at {here}"
    elif truth.kind == "edge":
        side, slope = ("right", right) if left is None else ("left", left)
        why = f"at {here} there are values on the {side} alone, where the slope is {short(slope)}"
    return Obstacle(point, "undecided", f"undecided: {why}", True, left, right)


def meets_special(graph: Graph, name: str, point: Mapping[str, float]) -> bool:
    """Whether a kink or a jump is met at a point: there the formula is a convention."""
    data = forward(graph, point)
    adjoints = play(record(graph, [graph.inputs[name]]), data)
    return bool(flagged(Run("", graph, dict(point), data, adjoints, (name,))))


def placed(
    graph: Graph, claim: Graph, formula: Graph, point: Mapping[str, float]
) -> tuple[Ball, list[Ball], list[Ball]]:
    """The function's value at a point, and the nodes of claim and formula."""
    inputs = {name: ball(value) for name, value in point.items()}
    values = evaluate(graph, inputs)
    known = {binding.name: values[binding.node] for binding in graph.bindings} | inputs
    return values[graph.output], evaluate(claim, known), evaluate(formula, known)


def sampled(graph: Graph, given: Mapping[str, float]) -> Iterator[dict[str, float]]:
    """Points at which to compare, those first that people would take; the same ones each time."""
    free = [name for name in graph.inputs if name not in given]
    fixed = {name: given[name] for name in graph.inputs if name in given}
    if not free:
        yield fixed
        return
    random = Random(0)
    for first in range(len(SMALL)):
        values = [SMALL[(first + place) % len(SMALL)] for place in range(len(free))]
        yield fixed | dict(zip(free, values, strict=True))
    for spread, _ in product((4.0, 1.0, 20.0, 0.1, 1000.0), range(TRIES // 5)):
        low = random.choice((-spread, 0.0))
        values = [round(random.uniform(low, spread), 3) for _ in free]
        yield fixed | dict(zip(free, values, strict=True))


def at(point: Mapping[str, float]) -> str:
    """A point in words."""
    listed = [f"{name} = {number(value)}" for name, value in list(point.items())[:6]]
    return ", ".join([*listed, "…"] if len(point) > 6 else listed)
