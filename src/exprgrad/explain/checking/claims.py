"""Derivatives found by hand: equal to the true one at sampled points, in balls, or a counterexample.

The true derivative is our formula for it, believed at a point only where differences of values, in balls,
confirm it: so a rule that is wrong vouches for nobody.
"""

from __future__ import annotations

from collections.abc import Mapping

from exprgrad.derive.build import Builder
from exprgrad.derive.simplify.formula import derivatives
from exprgrad.derive.simplify.simplify import simplify
from exprgrad.errors import InputError, MissingExtraError, RequestError
from exprgrad.explain.checking.check import MOST_WORK, Check
from exprgrad.explain.checking.numbers import balls_apart
from exprgrad.explain.checking.points import Formulas, Obstacle, Place, at, sampled_places
from exprgrad.explain.checking.terms import Compared, difference
from exprgrad.explain.checking.true_differences import least_work
from exprgrad.graph.graph import CONST, Graph, is_scalar
from exprgrad.language.read.parse import parse
from exprgrad.run.balls.balls import working
from exprgrad.run.values.inputs import not_an_input
from exprgrad.source import Source

__all__ = ["check_claims"]

POINTS = 32
"""How many points of the domain are sampled: two formulas that differ seldom agree at one."""
BITS = 400
"""The precision in which two formulas are compared: far beyond a double's, for sums that cancel."""
ENOUGH = 8
"""How many it takes to say what a claim has wrong; a formula too large for so many is not checked."""


def check_claims(
    graph: Graph, claims: Mapping[str, str], given: Mapping[str, float]
) -> list[Check]:
    """Check claims, input → the formula that its derivative is said to be; ``given`` inputs are fixed.

    Raises ``InputError`` and ``LanguageError`` for claims that cannot be read, and ``MissingExtraError``
    without python-flint.
    """
    if not is_scalar(graph):
        raise RequestError("no-tensors", "only claims about formulas of numbers can be checked")
    read = {name: read_claim(graph, name, claim) for name, claim in claims.items()}
    try:
        with working(BITS):
            work = MOST_WORK // max(len(read), 1)
            return [
                check_claim(graph, name, claims[name], read[name], given, work) for name in read
            ]
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
            from exprgrad.language.mistakes.hints import nearest

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
    graph: Graph, name: str, text: str, claim: Graph, given: Mapping[str, float], work: int
) -> Check:
    """The verdict on one claim; ``work`` bounds what is computed in balls, in bits times nodes.

    Raises ``RequestError`` for a formula that is too large.
    """
    if work // least_work(len(graph) + len(claim)) < ENOUGH:
        message = f"{len(graph) + len(claim):,} nodes are too many to check a claim"
        raise RequestError("too-many", message, help="check a claim about a part of the formula")
    (formula,) = derivatives(graph, [name], steps=False)
    node = graph.inputs[name]
    formulas = Formulas(graph, claim, formula)
    places, obstacle = sampled_places(formulas, name, given, POINTS, work)
    where = node, claim.span(claim.output)
    if not places or (obstacle is not None and obstacle.denies):
        found = without_places(formulas, obstacle, given)
        return Check(
            input=name,
            analytic=None,
            numeric=None,
            error=None,
            left=found.left,
            right=found.right,
            verdict=found.verdict,
            message=found.message,
            claim=text,
            point=found.point or None,
            where=where,
        )
    wrong = next((place for place in places if differs(place, claim)), None)
    shown = wrong or places[0]
    true = float(shown.true)
    said = shown.claim[claim.output]
    if wrong is None:
        verdict, message = "agrees", in_agreement(graph, claim, formula, places, given)
    else:
        verdict = "disagrees"
        is_true, is_said = balls_apart(shown.true, said)
        value = "the claim has no value" if said.is_nan() else f"the claim is {is_said}"
        if len(places) < ENOUGH:
            places, _ = sampled_places(formulas, name, {}, ENOUGH, work)
        places = [place for place in places if not place.special]
        ours = [place.formula for place in places]
        why = difference(Compared(claim, formula, [place.claim for place in places], ours))
        message = worded(wrong.point, is_true, value, why and why.message)
        where = node, (why and why.span) or where[1]
    return Check(
        input=name,
        analytic=true,
        numeric=float(said),
        error=None,
        left=None,
        right=None,
        verdict=verdict,
        message=message,
        claim=text,
        point=shown.point,
        where=where,
    )


def worded(point: Mapping[str, float], true: str, value: str, more: str | None) -> str:
    """That a claim is wrong at a point, and what it has wrong; nothing twice."""
    here = f"at {at(point)} " if point else ""
    if more == f"{value} everywhere":
        return f"disagrees: {here}the derivative is {true}; {more}"
    if more == f"the derivative is {true} everywhere":
        return f"disagrees: {here}{value}; {more}"
    message = f"disagrees: {here}the derivative is {true}, {value}"
    return message if more is None else f"{message}; {more}"


def without_places(
    formulas: Formulas, obstacle: Obstacle | None, given: Mapping[str, float]
) -> Obstacle:
    """What is said of a claim where there was no point at which to compare it."""
    free = [name for name in formulas.function.inputs if name not in given]
    if obstacle is not None and (not free or obstacle.in_domain):
        return obstacle
    if same_formula(*formulas):
        message = "agrees: equal as formulas; no point of the domain was found to try it at"
        return Obstacle({}, "agrees", message, False)
    message = f"undecided: no point of the domain was found; give a value for {free[0]}"
    return Obstacle({}, "undecided", message, False)


def differs(place: Place, claim: Graph) -> bool:
    """Whether balls decide that the claim is not the derivative at a place."""
    said = place.claim[claim.output]
    return bool(said.is_nan() or not said.overlaps(place.true))


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
