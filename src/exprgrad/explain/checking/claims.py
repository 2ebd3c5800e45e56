"""Derivatives found by hand: equal to the true one at sampled points, in balls, or a counterexample.

The true derivative is our own formula, trusted at a point only if difference quotients in balls confirm it,
so that a wrong rule can't confirm anything.  Numbers are the decimals as typed: 0.1 is 1/10.  The points
are ones that people would try, random ones, and some on both sides of each threshold.

How a wrong claim differs from the truth is found from their values: a sum is taken apart into its terms, a
product into its factors, and each is looked for on the other side.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from itertools import chain, islice, product
from random import Random
from typing import Any, NamedTuple

from exprgrad.derive.build import GraphBuilder
from exprgrad.derive.parsed import parse_and_derive
from exprgrad.derive.simplify.formula import simplified_derivatives, simplify_program
from exprgrad.errors import InputError, MissingExtraError, RequestError
from exprgrad.explain.checking.check import MOST_WORK
from exprgrad.explain.checking.differences import (
    CLOSE,
    TrueDerivative,
    is_below_doubles,
    least_work,
    true_differences,
)
from exprgrad.explain.checking.mistakes import find_mistake
from exprgrad.explain.checking.thresholds import (
    Gaps,
    GapSide,
    Threshold,
    build_together,
    count_points_by_side,
    find_gaps,
    find_thresholds,
    on_both_sides,
    points_beside,
    points_beside_thresholds,
    thresholds_beyond,
    unmet_sides,
)
from exprgrad.explain.checking.verdicts import (
    MESSAGE_DIGITS,
    Check,
    SampledClaim,
    ball_midpoint,
    format_ball_pair,
    short_ball,
    short_number,
)
from exprgrad.explain.kinks_met import nonsmooth_nodes
from exprgrad.graph.graph import CONST, Graph, Program, check_scalars_only
from exprgrad.graph.ops import BY_NAME, BY_SIGNS, COMPARISONS, LEAF
from exprgrad.language.write.infix import ATOM, PRODUCT, SUM, node_texts, number_text, operand_level
from exprgrad.run.balls.balls import (
    Ball,
    decimal_ball,
    evaluate_in_balls,
    exact_ball,
    working_precision,
)
from exprgrad.run.evaluation import SweptRun, evaluator_for
from exprgrad.run.values.inputs import not_an_input
from exprgrad.source import Span

__all__ = ["MOST_PARTS", "check_claims"]

POINTS = 32
"""The points sampled in the domain: two different formulas seldom agree at one."""
BITS = 400
"""The precision in which two formulas are compared: far beyond a double's, for sums that cancel."""
NO_PROOF: Mapping[str, Any] = {}
FINEST, COARSE = 4096, 64
"""The precision that decides whether a difference is 0, and that used over boxes."""
MOST_FINE = 1000
"""The most nodes of a difference for the finest precision."""
WITHIN, FARTHEST = 20.0, 1000.0
"""The inputs' distance from 0 in boxes that enclose a difference, and in those searched for one."""
MOST_BOXES, MOST_IN_BOXES = 256, 20_000
"""The most boxes halved, and the most nodes evaluated for it."""
SUSPECTS = 3
"""The most points of boxes at which a nonzero difference is examined."""
ENOUGH = 8
"""The points needed to say what a claim has wrong; a formula too large for them is not checked."""
TRIES = 500
"""The points tried to find them: enough if a tenth of them lie in the domain."""
CONFIRMED = CLOSE * 2**20
"""How near differences must come to our formula.

They are as exact as ``CLOSE``, and much coarser is still far finer than any rule that is wrong.
"""
CANCELLED = 2.0**-200
"""A number up to this size counts as 0 if differences are 0: cancelling terms leave as much."""
TRIED = 64
"""The points in the domain without a derivative that end the search."""
MOST_BESIDE = 96
"""The most points tried beside thresholds."""
MOST_MIXED = 64
"""The most points tried beside a threshold in every input."""
TRIED_BEYOND = 8
"""The points without a value on a side from which on the side counts as empty."""
NAMED = 3
"""The most thresholds named; JSON has all."""
LEAST_ROUNDED = 3
"""The fewest digits of a claimed number that may have been rounded."""
TRIED_NUMBERS = (2.0, 3.0, 5.0, 0.5, 7.0, -2.0, 1.5)
"""Numbers that people check with."""


def check_claims(
    graph: Graph, claims: Mapping[str, str], given: Mapping[str, float]
) -> list[Check]:
    """Check claims, input → the formula claimed for its derivative; ``given`` inputs are fixed.

    Raises ``InputError`` and ``LanguageError`` for claims that cannot be read, and ``MissingExtraError``
    without python-flint.
    """
    check_scalars_only(
        graph,
        lambda _: RequestError(
            "no-tensors", "only claims about formulas of numbers can be checked"
        ),
    )
    read = {name: read_claim(graph, name, claim) for name, claim in claims.items()}
    try:
        with working_precision(BITS):
            work = MOST_WORK // max(len(read), 1)
            return [
                check_claim(graph, name, claims[name], read[name], given, work) for name in read
            ]
    except MissingExtraError as error:
        raise MissingExtraError(
            error.code,
            "a claim is decided in ball arithmetic, which needs python-flint",
            help=error.help,
        ) from None


def read_claim(graph: Graph, name: str, text: str) -> Graph:
    """Read a claim as a graph; it may use the formula's inputs and named statements."""
    if name not in graph.inputs:
        raise not_an_input(graph, name)
    claim = parse_and_derive(text, is_expression=False)
    known = {*graph.inputs, *(binding.name for binding in graph.bindings)}
    for read, node in claim.inputs.items():
        if read not in known:
            from exprgrad.language.mistakes.hints import did_you_mean

            raise InputError(
                "unknown-input",
                f"the claim reads '{read}', which the formula does not have",
                help=did_you_mean(
                    read, known, "a claim can use only the names that the formula uses"
                ),
            ).about(text, claim.span(node))
    check_scalars_only(
        claim, lambda _: RequestError("no-tensors", "a claim is a formula of numbers")
    )
    return claim


def check_claim(
    graph: Graph, name: str, text: str, claim: Graph, given: Mapping[str, float], work: int
) -> Check:
    """Check one claim; ``work`` bounds the computation in balls, in bits times nodes.

    Raises ``RequestError`` for a formula that is too large.
    """
    if work // least_work(len(graph) + len(claim)) < ENOUGH:
        raise RequestError(
            "too-many",
            f"{len(graph) + len(claim):,} nodes are too many to check a claim",
            help="check a claim about a part of the formula",
        )
    (formula,) = simplified_derivatives(graph, [name], steps=False, by_hand=False)
    formulas = Formulas(graph, claim, formula)
    places, obstacle, sampled, doubted = find_sample_points(formulas, name, given, work)
    where = graph.inputs[name], claim.span(claim.output)
    if not places or (obstacle is not None and obstacle.denies):
        point, found = verdict_without_points(formulas, obstacle, given)
        return found._replace(input=name, claim=text, point=point or None, where=where)
    wrong = next((place for place in places if claim_differs(place, claim)), None)
    gap, proof = claim_gap(formulas), NO_PROOF
    if wrong is None:
        wrong, proof = refute_or_prove(gap, formulas, name, places, given, work)
    shown = wrong or places[0]
    if wrong is None:
        found = agreement_verdict(formulas, sampled, doubted, given, is_same=is_zero_formula(gap))
    else:
        found, span = refute_claim(gap, formulas, name, wrong, places, work, given)
        where = where[0], span or where[1]
    numeric = float(shown.claim[claim.output])
    check = found._replace(input=name, analytic=float(shown.true), numeric=numeric)
    proof = proof if found.verdict == "agrees" else NO_PROOF
    return check._replace(claim=text, point=shown.point, where=where, sampled=sampled, **proof)


def refute_claim(
    gap: Program,
    formulas: Formulas,
    name: str,
    wrong: SamplePoint,
    places: list[SamplePoint],
    work: int,
    given: Mapping[str, float],
) -> tuple[Check, Span | None]:
    """The verdict on a claim that is wrong at a place, and the part of its text that is to blame."""
    claim = formulas.claim
    if not claim_differs(wrong, claim):
        off = short_ball(abs(evaluate_gap(gap, wrong.point, FINEST)))
        return Check().says(
            "disagrees", f"at {format_point(wrong.point)} the claim is off by {off}"
        ), None
    if len(places) < ENOUGH:
        places = compare_at_points(
            formulas, name, points_to_compare(formulas.function, {}), ENOUGH, work
        ).places
    smooth = [place for place in places if not place.special]
    said, true = [place.claim for place in smooth], [place.formula for place in smooth]
    sides = FormulaSide(claim, said), FormulaSide(formulas.derivative, true)
    value = wrong.claim[claim.output]
    is_number = not claim.inputs and len(given) == len(formulas.function.inputs)
    if not is_number or not value.is_finite() or value.is_zero():
        why = explain_difference(*sides) or find_claim_mistake(
            formulas, name, smooth, sides[0].values(claim.output)
        )
    else:  # it is about the given point alone
        why = find_claim_mistake(
            formulas, name, [wrong], [rounding_interval(value)]
        ) or explain_difference(*sides)
    return Check().says(
        "disagrees", format_refutation(wrong, claim, why and why.message)
    ), why and why.span


def find_claim_mistake(
    formulas: Formulas, name: str, places: Sequence[SamplePoint], said: Sequence[Ball]
) -> ClaimFault | None:
    """Find the one wrong step that leads to a claim: a formula, or its number at one place."""
    if len(places) < ENOUGH_POINTS and formulas.claim.inputs:
        return None
    points = [place.point for place in places]
    words = find_mistake(formulas.function, name, points, said, BITS)
    return None if words is None else ClaimFault(words)


def rounding_interval(value: Ball) -> Ball:
    """Return all numbers that round to a claimed one, to its own digits if it has three."""
    typed = Decimal(number_text(float(value)))
    digits = len(typed.as_tuple().digits)
    digits = digits if digits >= LEAST_ROUNDED else MESSAGE_DIGITS
    half = decimal_ball(float(Decimal((0, (5,), typed.adjusted() - digits))))
    return (value - half).union(value + half)


def format_refutation(place: SamplePoint, claim: Graph, more: str | None) -> str:
    """Write that a claim is wrong at a place, and what is wrong with it, without repetition."""
    said = place.claim[claim.output]
    true, other = format_ball_pair(place.true, said)
    value = "the claim has no value" if said.is_nan() else f"the claim is {other}"
    here = f"at {format_point(place.point)} " if place.point else ""
    if more == f"{value} everywhere":
        seed = ": is the seed of 1 forgotten?" if said.contains(0) else ""
        return f"{here}the derivative is {true}; {more}{seed}"
    if more == f"the derivative is {true} everywhere":
        return f"{here}{value}; {more}"
    return f"{here}the derivative is {true}, {value}" + ("" if more is None else f"; {more}")


def verdict_without_points(
    formulas: Formulas, obstacle: Obstacle | None, given: Mapping[str, float]
) -> tuple[dict[str, float], Check]:
    """Return the verdict on a claim that could be compared nowhere, and the point that shows why."""
    free = [name for name in formulas.function.inputs if name not in given]
    if obstacle is not None and (not free or obstacle.in_domain):
        return obstacle.point, obstacle.verdict
    if is_zero_formula(claim_gap(formulas)):
        why = "equal as formulas; no point of the domain was found to try it at"
        return {}, Check().says("agrees", why)
    why = f"no point of the domain was found; give a value for {free[0]}"
    return {}, Check().says("undecided", why)


def claim_differs(place: SamplePoint, claim: Graph) -> bool:
    """Whether balls decide that the claim is not the derivative at a place."""
    said = place.claim[claim.output]
    return bool(said.is_nan() or not said.overlaps(place.true))


def agreement_verdict(
    formulas: Formulas,
    sampled: SampledClaim,
    doubted: Sequence[str],
    given: Mapping[str, float],
    *,
    is_same: bool,
) -> Check:
    """Return the verdict on a claim that held wherever it was tried, and whether that is enough."""
    is_given = len(given) == len(formulas.function.inputs)
    points = "at the given point" if is_given else f"at {sampled.points} sampled points"
    if sampled.thresholds:
        written = (f"{place.input} = {short_number(place.at)}" for place in sampled.thresholds)
        places = list(dict.fromkeys(written))
        points += f", on both sides of {', '.join(places[:NAMED])}{', …' * (len(places) > NAMED)}"
    if is_same:
        return Check().says("agrees", f"equal as formulas, and {points}")
    if doubted:
        return Check().says(
            "undecided", f"equal {points}, but only one side of {doubted[0]} was met"
        )
    if sampled.one_sided:
        points += f"; there was no value on the other side of {sampled.one_sided[0]}"
    return Check().says("agrees", f"equal {points}")


# What the verdict rests on.


def claim_gap(formulas: Formulas) -> Program:
    """Return the difference between claim and formula, simplified so that common terms cancel."""
    graph, claim, formula = formulas
    builder = GraphBuilder(typed=True)
    _, said, true = build_together(builder, graph, [claim, formula])
    gap = builder.apply(BY_SIGNS[1, -1], said[claim.output], true[formula.output])
    return simplify_program(builder.program([gap]))


def is_zero_formula(gap: Program) -> bool:
    """Whether a difference is 0 as a formula."""
    graph, (node,) = gap
    return graph.kinds[node] == CONST and graph.payloads[node] == 0.0


def evaluate_gap(gap: Program, point: Mapping[str, float], bits: int) -> Ball:
    """Evaluate the difference at a point."""
    with working_precision(bits):
        inputs = {name: decimal_ball(point[name]) for name in gap.graph.inputs}
        return evaluate_in_balls(gap.graph, inputs, typed=True)[gap.outputs[0]]


def is_apart(gap: Ball) -> bool:
    """Whether a difference is certainly not 0."""
    return bool(gap.is_finite() and not gap.contains(0))


def refute_or_prove(
    gap: Program,
    formulas: Formulas,
    name: str,
    places: Sequence[SamplePoint],
    given: Mapping[str, float],
    work: int,
) -> tuple[SamplePoint | None, Mapping[str, Any]]:
    """Find a point that refutes a claim that held so far; or return the evidence for the claim.

    That is ``formulas``; or ``enclosed``, with a bound of the difference within ``WITHIN``, or at
    the given point; or nothing but ``samples``.
    """
    if is_zero_formula(gap):
        return None, {"proof": "formulas"}
    bits = FINEST if len(gap.graph) <= MOST_FINE else BITS
    for place in places:
        if not place.special and is_apart(evaluate_gap(gap, place.point, bits)):
            return place, NO_PROOF
    free = [one for one in formulas.function.inputs if one not in given]
    if not free:
        return None, {
            "proof": "enclosed",
            "width": bound_gap(evaluate_gap(gap, places[0].point, bits)),
        }
    width, suspects = bound_gap_in_boxes(WITHIN, gap, free, given)
    for point in chain(suspects, bound_gap_in_boxes(FARTHEST, gap, free, given)[1]):
        found = sample_point(formulas, name, point, work)
        if isinstance(found, SamplePoint) and not found.special:
            return found, NO_PROOF
    return None, {"proof": "enclosed", "width": width} if width < math.inf else {"proof": "samples"}


def bound_gap_in_boxes(
    reach: float, gap: Program, free: Sequence[str], given: Mapping[str, float]
) -> tuple[float, list[dict[str, float]]]:
    """Bound a difference where inputs are within ``reach`` of 0; also return points where it is not 0.

    The next box to halve is the one in which it may be largest, or, where nothing
    is known, the widest, so that boxes close in on narrow features.
    """
    count = min(MOST_BOXES, MOST_IN_BOXES // len(gap.graph))
    heap = [(-math.inf, -math.inf, ((-reach, reach),) * len(free))]
    suspects: list[dict[str, float]] = []
    while count > 0 and len(suspects) < SUSPECTS:
        count -= 1
        *_, box = heapq.heappop(heap)
        axis = max(range(len(free)), key=lambda at: box[at][1] - box[at][0])
        low, high = box[axis]
        for side in ((low, (low + high) / 2), ((low + high) / 2, high)):
            part = (*box[:axis], side, *box[axis + 1 :])
            point = {**given, **{one: (a + b) / 2 for one, (a, b) in zip(free, part, strict=True)}}
            if is_apart(evaluate_gap(gap, point, BITS)):
                suspects.append(point)
            with working_precision(COARSE):
                inputs = {one: decimal_ball(given[one]) for one in gap.graph.inputs.keys() & given}
                inputs |= {
                    one: exact_ball(a).union(exact_ball(b))
                    for one, (a, b) in zip(free, part, strict=True)
                }
                most = bound_gap(evaluate_in_balls(gap.graph, inputs, typed=True)[gap.outputs[0]])
            heapq.heappush(heap, (-most, low - high, part))
    return -heap[0][0], suspects


def bound_gap(gap: Ball) -> float:
    """Bound the distance of a difference from 0; infinite where nothing is known."""
    return float(abs(gap).upper()) if gap.is_finite() else math.inf


# Points.


class Formulas(NamedTuple):
    """The function, the claim about its derivative, and our own formula for that, as graphs."""

    function: Graph
    claim: Graph
    derivative: Graph


class SamplePoint(NamedTuple):
    """A point, the value of every node of claim and formula there, in balls, and the true derivative.

    That is our formula's value, unless the point is ``special``: then it is by differences, for the
    formula's conventions need not be the derivative.
    """

    point: dict[str, float]
    claim: list[Ball]
    formula: list[Ball]
    true: Ball
    special: bool


class Obstacle(NamedTuple):
    """A point at which nothing can be compared, and why.

    ``in_domain``  whether it is not that the formula, or the claim, has no value there
    ``denies``     whether differences contradict our own formula there
    ``has_value``  whether the formula has a value there
    """

    point: dict[str, float]
    verdict: Check
    in_domain: bool = True
    denies: bool = False
    has_value: bool = True


class Comparison(NamedTuple):
    """The points at which claim and formula were compared, and what is known about the others.

    ``obstacle``  the most telling of the others
    ``valueless``  the points at which the formula has no value
    """

    places: list[SamplePoint]
    obstacle: Obstacle | None
    valueless: list[dict[str, float]]

    def joined(self, other: Comparison) -> Comparison:
        """Return both comparisons together."""
        return Comparison(
            self.places + other.places,
            worse_obstacle(self.obstacle, other.obstacle),
            self.valueless + other.valueless,
        )


def find_sample_points(
    formulas: Formulas, name: str, given: Mapping[str, float], work: int
) -> tuple[list[SamplePoint], Obstacle | None, SampledClaim, list[str]]:
    """Find points at which claim and formula can be compared, one where they cannot, and all points tried.

    Also the switches with a side not met although the formula may have values there.
    """
    graph, claim, _ = formulas
    free = [name for name in graph.inputs if name not in given]
    gaps = find_gaps(graph, claim)
    found = (
        find_thresholds(gaps, list(islice(points_to_compare(graph, given), 2)), free)
        if free
        else []
    )
    share = work // 2 if found else work
    seen = compare_at_points(formulas, name, points_to_compare(graph, given), POINTS, share)
    if found:
        seen = seen.joined(compare_beside_thresholds(formulas, name, found, [], share))
    missed = uncompared_sides(gaps, seen, given) if free and seen.places else []
    at = [place.point for place in seen.places]
    more = thresholds_beyond(gaps, missed, at, free) if missed else []
    if more:
        seen = seen.joined(compare_beside_thresholds(formulas, name, more, [*found, *more], share))
        missed = uncompared_sides(gaps, seen, given)
        at = [place.point for place in seen.places]
    valueless = count_points_by_side(gaps, seen.valueless if missed else ())
    doubted = [side for side in missed if valueless[side] < TRIED_BEYOND]
    met = {(t.input, t.at, t.text): t for t in [*found, *more] if on_both_sides(t, at)}.values()
    sampled = SampledClaim(len(at), tuple(met), tuple(switch_texts(gaps, missed)))
    return seen.places, seen.obstacle, sampled, switch_texts(gaps, doubted)


def uncompared_sides(gaps: Gaps, seen: Comparison, given: Mapping[str, float]) -> list[GapSide]:
    """Return the sides of switches on which claim and formula were not compared."""
    return unmet_sides(
        gaps, count_points_by_side(gaps, [place.point for place in seen.places]), given
    )


def switch_texts(gaps: Gaps, sides: Iterable[GapSide]) -> list[str]:
    """Return the switches' texts, each once."""
    return list(dict.fromkeys(gaps.found[side.gap].text for side in sides))


def compare_beside_thresholds(
    formulas: Formulas,
    name: str,
    found: Sequence[Threshold],
    known: Sequence[Threshold],
    work: int,
) -> Comparison:
    """Compare at points beside one or more thresholds, or at points known before."""
    beside = points_beside(found, min(MOST_BESIDE, count_tries(formulas, work)), MOST_BESIDE)
    several = [
        islice(points_beside_thresholds(among), MOST_MIXED)
        for among in ([found, known] if known else [found])
    ]
    points = chain(beside, *several)
    return compare_at_points(formulas, name, points, MOST_BESIDE + len(several) * MOST_MIXED, work)


def count_tries(formulas: Formulas, work: int) -> int:
    """Return how many points can be tried."""
    graph, claim, _ = formulas
    return min(TRIES, work // least_work(len(graph) + len(claim)))


def compare_at_points(
    formulas: Formulas, name: str, points: Iterable[dict[str, float]], most: int, work: int
) -> Comparison:
    """Compare claim and formula at some points, as many as the ``work`` allows."""
    count = count_tries(formulas, work)
    found = Comparison([], None, [])
    met = 0
    for point in islice(points, count):
        place = sample_point(formulas, name, point, work // count)
        if isinstance(place, SamplePoint):
            found.places.append(place)
        else:
            met += place.in_domain
            if not place.has_value:
                found.valueless.append(point)
            found = found._replace(obstacle=worse_obstacle(found.obstacle, place))
        is_slow = count < TRIES and len(found.places) >= ENOUGH
        if is_slow and any(claim_differs(place, formulas.claim) for place in found.places):
            break
        if len(found.places) == most or met > TRIED:
            break
    return found


def worse_obstacle(one: Obstacle | None, other: Obstacle | None) -> Obstacle | None:
    """Return the worse of two obstacles: one that denies our formula, or else one in its domain."""
    if one is None or other is None:
        return one or other
    return other if other.denies or (other.in_domain and not one.in_domain) else one


def sample_point(
    formulas: Formulas, name: str, point: dict[str, float], work: int
) -> SamplePoint | Obstacle:
    """Evaluate a point, or say why claim and formula cannot be compared there.

    Where balls around decimals do not decide, as at ``abs(x - 0.3)``, doubles reveal a kink.
    """
    place = evaluate_sample_point(formulas, name, point, work, typed=True)
    if isinstance(place, Obstacle) and place.in_domain and place.verdict.verdict == "undecided":
        other = evaluate_sample_point(formulas, name, point, work, typed=False)
        tells = other.special if isinstance(other, SamplePoint) else other.verdict.verdict == "kink"
        return other if tells else place
    return place


def evaluate_sample_point(
    formulas: Formulas, name: str, point: dict[str, float], work: int, *, typed: bool
) -> SamplePoint | Obstacle:
    """Evaluate a point, its numbers being decimals if ``typed``, else doubles."""
    graph, claim, formula = formulas
    strange = next((name for name, value in point.items() if not math.isfinite(value)), None)
    if strange is not None:
        why = f"{strange} is {number_text(point[strange])}, where nothing can be compared"
        return Obstacle(point, Check().says("undecided", why))
    inputs = {name: (decimal_ball if typed else exact_ball)(value) for name, value in point.items()}
    values = evaluate_in_balls(graph, inputs, typed=typed)
    known = {binding.name: values[binding.node] for binding in graph.bindings} | inputs
    said, formed = (evaluate_in_balls(other, known, typed=typed) for other in (claim, formula))
    value, ours, claimed = values[graph.output], formed[formula.output], said[claim.output]

    def undecided(why: str, *, in_domain: bool = True) -> Obstacle:
        verdict = Check().says("undecided", f"{why} at {format_point(point)}")
        return Obstacle(point, verdict, in_domain)

    if not value.is_finite():
        why = "the formula has no value" if value.is_nan() else "the formula's value is not finite"
        return undecided(why, in_domain=False)._replace(has_value=False)
    for kind, operands in zip(graph.kinds, graph.operands, strict=True):
        if kind in COMPARISONS and any(values[operand].is_nan() for operand in operands):
            why = "what is compared has no value"
            return undecided(why, in_domain=False)._replace(has_value=False)
    if not (claimed.is_finite() or claimed.is_nan()):
        return undecided("the claim's value is not finite", in_domain=False)
    expected = float(ours) if ours.is_finite() else None
    node, at_node = graph.inputs[name], point[name]
    truth = true_differences(graph, point, node, at_node, work, expected, typed=typed)
    if truth.kind != "smooth":
        return nonsmooth_obstacle(truth, point)
    true = truth.center
    assert true is not None
    near = (true * 2).union(true * 0) if is_below_doubles(true) else true
    cancels = is_below_doubles(true) and ours.contains(0) and ours.rad() < CANCELLED
    if cancels or near.contains(ours) or abs(near - ours) <= abs(ours) * CONFIRMED + near.rad():
        return SamplePoint(point, said, formed, ours, special=False)
    run = SweptRun.of("", evaluator_for(graph), point, (name,))
    if nonsmooth_nodes(run):  # where a convention holds
        margin = near * CONFIRMED
        return SamplePoint(point, said, formed, (near - margin).union(near + margin), special=True)
    if not ours.is_finite():
        return undecided("our own formula has no value", in_domain=False)
    if ours.overlaps(near):
        return undecided("our own formula's terms cancel beyond all digits")
    return undecided("differences contradict our own formula")._replace(denies=True)


def nonsmooth_obstacle(truth: TrueDerivative, point: dict[str, float]) -> Obstacle:
    """Return the obstacle at a point without a derivative."""
    left, right, here = ball_midpoint(truth.left), ball_midpoint(truth.right), format_point(point)
    found, verdict = Check(left=left, right=right), "undecided"
    match truth.kind:
        case "jump":
            found, verdict = Check(), "kink"
            message = f"there is no derivative at {here}: the value jumps"
        case "vertical" if left == right:
            message = f"the slope is infinite at {here}"
        case "vertical" | "kink":
            slopes = f"left {short_number(left)}, right {short_number(right)}"
            verdict, message = "kink", f"there is no derivative at {here}: {slopes}"
        case "edge":
            side, slope = ("right", right) if left is None else ("left", left)
            alone = f"values on the {side} alone"
            message = f"at {here} there are {alone}, where the slope is {short_number(slope)}"
        case _:
            message = f"differences in balls do not settle at {here}"
    return Obstacle(point, found.says(verdict, message))


def points_to_compare(graph: Graph, given: Mapping[str, float]) -> Iterator[dict[str, float]]:
    """Yield points to compare at, first those that people would try; the same ones each time."""
    free = [name for name in graph.inputs if name not in given]
    fixed = {name: given[name] for name in graph.inputs if name in given}
    if not free:
        yield fixed
        return
    random = Random(0)
    for first in range(len(TRIED_NUMBERS)):
        values = [TRIED_NUMBERS[(first + place) % len(TRIED_NUMBERS)] for place in range(len(free))]
        yield fixed | dict(zip(free, values, strict=True))
    for spread, _ in product((4.0, 1.0, 20.0, 0.1, 1000.0), range(TRIES // 5)):
        low = random.choice((-spread, 0.0))
        values = [round(random.uniform(low, spread), 3) for _ in free]
        yield fixed | dict(zip(free, values, strict=True))


def format_point(point: Mapping[str, float]) -> str:
    """Write a point."""
    listed = [f"{name} = {number_text(value)}" for name, value in list(point.items())[:6]]
    return ", ".join([*listed, "…"] if len(point) > 6 else listed)


# What two formulas differ by.

LARGEST_DENOMINATOR = 64
"""The largest denominator of a factor written as a fraction: people err by such factors."""
MOST_PARTS = 100
"""The most terms or factors compared pair by pair: a longer list would not help a reader."""
ENOUGH_POINTS = 3
"""The fewest points at which an equality is no accident."""


class FormulaSide(NamedTuple):
    """A formula, claimed or true, and every node's value at each point, in balls."""

    graph: Graph
    points: list[list[Ball]]

    def values(self, node: int) -> list[Ball]:
        """Return a node's value at each point."""
        return [values[node] for values in self.points]


class ClaimFault(NamedTuple):
    """The mistake in a claim, and its place in the text."""

    message: str
    span: Span | None = None


class FormulaPiece(NamedTuple):
    """A term or a factor: its text, value at each point, span and node, and how often it occurs."""

    text: str
    values: list[Ball]
    span: Span
    node: int
    times: int


def explain_difference(claim: FormulaSide, formula: FormulaSide) -> ClaimFault | None:
    """Explain what is wrong with a wrong claim; None if that is not found."""
    said, true = (side.values(side.graph.output) for side in (claim, formula))
    if len(said) < ENOUGH_POINTS or not all(value.is_finite() for value in said):
        return None
    if all(value.is_zero() for value in true):
        return ClaimFault("the derivative is 0 everywhere")
    ratio = constant_ratio(said, true)
    if ratio is not None:
        return ClaimFault(f"the claim is {ratio}")
    terms = differing_parts(
        *(collect_pieces(s, s.graph.output, terms=True) for s in (claim, formula))
    )
    if terms is None:
        return None
    extra, missing = terms
    if len(extra) == len(missing) == 1:
        return explain_single_term(claim, formula, extra[0], missing[0])
    if extra and not missing:
        return ClaimFault(f"its term {extra[0].text} is not in the derivative", extra[0].span)
    if missing and not extra:
        return ClaimFault(f"it lacks the term {missing[0].text}")
    listed = ", ".join(part.text for part in missing[:3])
    return ClaimFault(f"its term {extra[0].text} is not among the terms {listed}", extra[0].span)


def explain_single_term(
    claim: FormulaSide, formula: FormulaSide, extra: FormulaPiece, missing: FormulaPiece
) -> ClaimFault:
    """Explain the one term that differs."""
    whole = extra.span == claim.graph.span(claim.graph.output)
    what = "it" if whole else f"its term {extra.text}"
    ratio = constant_ratio(extra.values, missing.values)
    if ratio is not None:
        return ClaimFault(f"{what} is {ratio.replace('the derivative', missing.text)}", extra.span)
    wrong, right = differing_parts(
        split_into_factors(claim, extra), split_into_factors(formula, missing)
    ) or ([], [])
    if len(wrong) == len(right) == 1 and wrong[0].text != extra.text:
        return ClaimFault(f"its factor {wrong[0].text} should be {right[0].text}", wrong[0].span)
    if len(right) == 1 and not wrong:
        return ClaimFault(f"{what} lacks the factor {right[0].text}", extra.span)
    if len(wrong) == 1 and not right:
        return ClaimFault(f"its factor {wrong[0].text} does not belong there", wrong[0].span)
    return ClaimFault(f"{what} should be {missing.text}", extra.span)


def constant_ratio(said: Sequence[Ball], true: Sequence[Ball]) -> str | None:
    """Write the constant factor between claim and truth, if there is one, as the end of a sentence."""
    base = next((place for place, value in enumerate(true) if not value.contains(0)), None)
    if base is None or len(said) < ENOUGH_POINTS:
        return None
    pairs = list(zip(said, true, strict=True))
    if not all((one * true[base]).overlaps(said[base] * other) for one, other in pairs):
        return None
    ratio = said[base] / true[base]
    if ratio.contains(0):
        return "0 everywhere"
    if ratio.contains(1):  # the claim is wrong elsewhere
        return None
    fraction = Fraction(float(ratio)).limit_denominator(LARGEST_DENOMINATOR)
    top, bottom = fraction.numerator, fraction.denominator
    if all((one * bottom).overlaps(other * top) for one, other in pairs):
        return f"{fraction} times the derivative: a {'sign' if fraction == -1 else 'factor'}"
    shown = short_ball(ratio)
    if shown == "1":  # a factor that rounds to 1 is written by its distance from 1
        sign = "+" if ratio > 1 else "-"
        return f"1 {sign} {short_ball(abs(ratio - 1))} times the derivative everywhere: a factor"
    return f"{shown} times the derivative everywhere: a factor"


def collect_pieces(side: FormulaSide, root: int, *, terms: bool) -> list[FormulaPiece]:
    """Collect the terms or factors of a node, in the graph's order: each once, with its count.

    A node with more than ``MOST_PARTS`` of them is one part.
    """
    graph = side.graph
    times = count_multiplicities(graph, root, terms=terms)
    if sum(map(abs, times.values())) > MOST_PARTS:
        times = {root: 1}
    written = node_texts(graph, graph.names())
    found = []
    for node, count in sorted(times.items()):
        is_sum = graph.kinds[node] == "mod"  # for -x%y is (-x)%y
        bound = written[node], SUM if is_sum else operand_level(graph, node, {})
        text = format_multiple(*bound, count) if terms else format_power(*bound, count)
        at = [value * count if terms else value**count for value in side.values(node)]
        found.append(FormulaPiece(text, at, graph.span(node), node, count))
    return found


def count_multiplicities(graph: Graph, root: int, *, terms: bool) -> dict[int, int]:
    """Count how often each node that is no sum (or product) itself is a term (or factor) of the root.

    One sweep from the root down, since a node may be reached in too many ways to count one by one.
    """
    times, found = {root: 1}, {}
    for node in range(root, -1, -1):
        count = times.pop(node, 0)
        if not count:
            continue
        row = BY_NAME.get(graph.kinds[node], LEAF)
        signs = row.signs if terms else row.powers or (1,) * (row.signs == (-1,))
        if not signs:
            found[node] = count
            continue
        for operand, sign in zip(graph.operands[node], signs, strict=True):
            times[operand] = times.get(operand, 0) + sign * count
    return found


def format_multiple(text: str, binds: int, count: int) -> str:
    """Write a term with its count."""
    if count == 1:
        return text
    text = f"({text})" if binds < PRODUCT else text
    return f"-{text}" if count == -1 else f"{count}*{text}"


def format_power(text: str, binds: int, count: int) -> str:
    """Write a factor with its count; a negative count is a denominator."""
    if count == 1:
        return text
    if count == -1:
        return f"1/({text})" if binds <= PRODUCT else f"1/{text}"
    text = f"({text})" if binds < ATOM else text
    return f"{'1/' * (count < 0)}{text}^{abs(count)}"


def split_into_factors(side: FormulaSide, term: FormulaPiece) -> list[FormulaPiece]:
    """Split a term into factors; its count is one of them."""
    found, count = collect_pieces(side, term.node, terms=False), abs(term.times)
    times = FormulaPiece(
        str(count), [exact_ball(count)] * len(term.values), term.span, term.node, 1
    )
    return found if count == 1 else [times, *found]


def differing_parts(
    said: Iterable[FormulaPiece], true: Iterable[FormulaPiece]
) -> tuple[list[FormulaPiece], list[FormulaPiece]] | None:
    """Return the parts of each side that are not on the other; None if none of several is shared."""
    extra, missing = list(said), list(true)
    before = len(extra), len(missing)
    for part in list(extra):
        same = next(
            (
                other
                for other in missing
                if all(a.overlaps(b) for a, b in zip(part.values, other.values, strict=True))
            ),
            None,
        )
        if same is not None:
            extra.remove(part)
            missing.remove(same)
    are_all = (len(extra), len(missing)) == before != (1, 1)
    return None if are_all else (extra, missing)
