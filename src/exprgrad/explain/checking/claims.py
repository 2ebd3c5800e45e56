"""Derivatives found by hand: equal to the true one at sampled points, in balls, or a counterexample.

The true derivative is our formula for it, believed at a point only where differences of values, in balls,
confirm it: so a rule that is wrong vouches for nobody.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product
from random import Random
from typing import NamedTuple

from exprgrad.derive.build import Builder
from exprgrad.derive.formula import derivatives
from exprgrad.derive.simplify import simplify
from exprgrad.errors import InputError, MissingExtraError, RequestError
from exprgrad.explain.checking.check import Check
from exprgrad.explain.checking.suspects import apart
from exprgrad.explain.checking.terms import Compared, difference
from exprgrad.explain.checking.true_differences import true_differences
from exprgrad.graph.graph import CONST, Graph, is_scalar
from exprgrad.language.infix import number
from exprgrad.language.parse import parse
from exprgrad.run.balls import Ball, ball, evaluate, working
from exprgrad.run.inputs import not_an_input
from exprgrad.source import Source

__all__ = ["check_claims"]

POINTS = 32
"""How many points of the domain are sampled."""
TRIES = 400
"""How many are tried to find them."""
BITS = 400
"""The precision in which two formulas are compared."""
ENOUGH = 8
"""How many it takes to say what a claim has wrong."""
CONFIRMED = 2.0**-40
"""How near differences must come to our formula: they are exact to 2^-60 of the derivative."""
SMALL = (2.0, 3.0, 5.0, 0.5, 7.0, -2.0, 1.5)
"""Numbers that people check with."""


class Place(NamedTuple):
    """A point, and there every node of the claim and of our formula, in balls."""

    point: dict[str, float]
    claim: list[Ball]
    formula: list[Ball]


def check_claims(
    graph: Graph, claims: Mapping[str, str], given: Mapping[str, float]
) -> list[Check]:
    """Check claims, input → the formula that its derivative is said to be; ``given`` inputs are fixed.

    Raises ``InputError`` and ``LanguageError`` for claims that cannot be read, and ``MissingExtraError``
    without python-flint.
    """
    if not is_scalar(graph):
        raise RequestError("no-tensors", "claims are checked for formulas of numbers alone")
    read = {name: read_claim(graph, name, claim) for name, claim in claims.items()}
    try:
        with working(BITS):
            return [check_claim(graph, name, claims[name], read[name], given) for name in read]
    except MissingExtraError as error:
        message = "a claim is decided in ball arithmetic, which needs python-flint"
        raise MissingExtraError(error.code, message, help=error.help) from None


def read_claim(graph: Graph, name: str, text: str) -> Graph:
    """A claim as a graph; it may read the formula's inputs and named statements."""
    if name not in graph.inputs:
        raise not_an_input(graph, name)
    claim = parse(text, is_expression=False)
    known = {*graph.inputs, *(binding.name for binding in graph.bindings)}
    for read, node in claim.inputs.items():
        if read not in known:
            from exprgrad.language.hints import nearest

            near = nearest(read, known)
            help = f"did you mean '{near}'?" if near else "a claim reads what the formula reads"
            message = f"the claim reads '{read}', which the formula does not have"
            source = Source(text, is_expression=False)
            raise InputError(
                "unknown-input", message, source=source, span=claim.span(node), help=help
            )
    if not is_scalar(claim):
        raise RequestError("no-tensors", "a claim is a formula of numbers")
    return claim


def check_claim(
    graph: Graph, name: str, text: str, claim: Graph, given: Mapping[str, float]
) -> Check:
    """The verdict on one claim."""
    (formula,) = derivatives(graph, [name], steps=False)
    node = graph.inputs[name]
    three = graph, claim, formula
    places, unconfirmed = sampled_places(three, node, given, POINTS)
    where = node, claim.span(claim.output)
    if unconfirmed is not None or not places:
        message = "undecided: no point of the domain was found; give values, as a=2"
        if unconfirmed is not None:
            message = f"undecided: differences deny our own formula at {at(unconfirmed)}"
        return Check(
            name, None, None, None, None, None, "undecided", message, None, text, unconfirmed, where
        )
    wrong = next((place for place in places if differs(place, claim, formula)), None)
    shown = wrong or places[0]
    true = float(shown.formula[formula.output])
    said = shown.claim[claim.output]
    if wrong is None:
        verdict, message = "agrees", in_agreement(graph, claim, formula, places, given)
    else:
        verdict = "disagrees"
        here = f"at {at(wrong.point)} " if wrong.point else ""
        is_true, is_said = apart(true, float(said))
        value = "the claim has no value" if said.is_nan() else f"the claim is {is_said}"
        message = f"disagrees: {here}the derivative is {is_true}, {value}"
        if len(places) < ENOUGH:
            places, _ = sampled_places(three, node, {}, ENOUGH)
        ours = [place.formula for place in places]
        found = difference(Compared(claim, formula, [place.claim for place in places], ours))
        if found is not None:
            message = f"{message}; {found.message}"
            where = node, found.span or where[1]
    return Check(
        name, true, float(said), None, None, None, verdict, message, None, text, shown.point, where
    )


def sampled_places(
    three: tuple[Graph, Graph, Graph], node: int, given: Mapping[str, float], most: int
) -> tuple[list[Place], dict[str, float] | None]:
    """Points at which claim and formula can be compared, and one, if any, where our formula is denied.

    ``three`` are the graphs of the function, of the claim and of our formula.
    """
    graph, claim, formula = three
    (name,) = (name for name, at in graph.inputs.items() if at == node)
    places: list[Place] = []
    unconfirmed = None
    for point in sampled(graph, given):
        place = placed(graph, claim, formula, point)
        ours, said = place.formula[formula.output], place.claim[claim.output]
        if not ours.is_finite() or not (said.is_finite() or said.is_nan()):
            continue
        truth = true_differences(graph, point, node, point[name])
        if truth.kind != "smooth":
            continue
        assert truth.center is not None
        if abs(truth.center - ours) <= abs(ours) * CONFIRMED + truth.center.rad():
            places.append(place)
        else:
            unconfirmed = point
        if len(places) == most:
            break
    return places, unconfirmed


def placed(graph: Graph, claim: Graph, formula: Graph, point: Mapping[str, float]) -> Place:
    """Claim and formula at a point."""
    inputs = {name: ball(value) for name, value in point.items()}
    values = evaluate(graph, inputs)
    known = {binding.name: values[binding.node] for binding in graph.bindings} | inputs
    return Place(dict(point), evaluate(claim, known), evaluate(formula, known))


def differs(place: Place, claim: Graph, formula: Graph) -> bool:
    """Whether balls decide that the claim is not the derivative at a place."""
    said, true = place.claim[claim.output], place.formula[formula.output]
    return bool(said.is_nan() or not said.overlaps(true))


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
    for spread, _ in product((4.0, 1.0, 20.0, 0.1), range(TRIES // 4)):
        low = random.choice((-spread, 0.0))
        values = [round(random.uniform(low, spread), 3) for _ in free]
        yield fixed | dict(zip(free, values, strict=True))


def in_agreement(
    graph: Graph, claim: Graph, formula: Graph, places: list[Place], given: Mapping[str, float]
) -> str:
    """Equal: how far that goes."""
    count = len(places)
    points = (
        "at the given point" if len(given) == len(graph.inputs) else f"at {count} sampled points"
    )
    if same_formula(graph, claim, formula):
        return f"agrees: equal as formulas, and {points}"
    return f"agrees: equal {points}"


def same_formula(graph: Graph, claim: Graph, formula: Graph) -> bool:
    """Whether what claim and formula differ by simplifies to 0."""
    builder = Builder()
    image = builder.include(graph)
    known = {binding.name: image[binding.node] for binding in graph.bindings}
    known |= {name: image[node] for name, node in graph.inputs.items()}
    said = builder.include(claim, known)[claim.output]
    true = builder.include(formula, known)[formula.output]
    program = builder.program([builder.apply("sub", said, true)])
    found, outputs = simplify(program)
    return found.kinds[outputs[0]] == CONST and found.payloads[outputs[0]] == 0.0


def at(point: Mapping[str, float]) -> str:
    """A point in words."""
    listed = [f"{name} = {number(value)}" for name, value in list(point.items())[:6]]
    return ", ".join([*listed, "…"] if len(point) > 6 else listed)
