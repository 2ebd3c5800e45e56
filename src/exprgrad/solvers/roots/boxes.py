"""Boxes: whether one holds a root, proved by the Krawczyk operator, and all roots in one.

For a box X with midpoint m, and about the inverse Y of the Jacobian J, let
K = m - Y f(m) + (1 - Y J(X))(X - m).  All roots in X are in K; if K lies inside of X, there is exactly one.
R. Krawczyk, Computing 4 (1969), 187-201; A. Neumaier, Interval Methods for Systems of Equations (1990),
section 5.2.  Kinks do no harm, for the slopes over a box hold those on both sides; where something may
jump, or has no value, nothing is concluded.

Newton's method finds where to look, in numbers of many digits so that nothing overflows or cancels.  A step
is taken as far as it makes the residuals smaller, as that step's own Jacobian weighs them (P. Deuflhard,
Newton Methods for Nonlinear Problems (2004), section 3.3).  Where steps shrink in a steady ratio, as they
do towards a root of higher multiplicity, they are made longer by the sum of what is left.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from heapq import heappop, heappush
from itertools import count
from typing import NamedTuple

from exprgrad.run.balls.balls import Ball, exact_ball, import_flint
from exprgrad.run.balls.intervals import (
    Enclosure,
    exact_enclosure,
    interval_between,
    negate_enclosure,
)
from exprgrad.solvers.polish import NewtonStage, polish_point
from exprgrad.solvers.roots.systems import PRECISION, Box, BoxView, Sight, Vector, ball_about

__all__ = [
    "NEARLY", "Proof", "Searched", "boxes_overlap", "branch_and_prune", "greatest_magnitude",
    "interval_middle", "is_at_zero", "is_within", "newton_search", "proof_around",
]  # fmt: skip

MOST_LOOKS = 12_000
"""The most boxes examined in a search."""
MOST_EVALUATED = 300_000
"""The most nodes evaluated in a search."""
MOST_LEFT = 400
"""The most undecided boxes of a search."""
WIDER = 8
"""How often a box around a root is made four times wider to hold it."""
SMALLEST = 2.0**-1074
LAST_DOUBLE = 2.0**1023
BLURRED = 2.0**-30
"""The width of a box, relative to 1 and its midpoint, below which precision is tested."""
ABOUT_ZERO = 1e-60
"""The width of boxes around 0 below which 0 is tested as the root."""


MOST_TURNS = 200
LEAST_PART = 2.0**-40
"""The least part of a step that is tried."""
NEARLY = 2.0**-30
"""The relative length of a last step that is close to a root."""


class Proof(NamedTuple):
    """A proof that exactly one root lies in the box ``whole``, within the narrow box ``inner``."""

    inner: Box
    whole: Box


class Searched(NamedTuple):
    """The result of a search over a box.

    ``proofs``  the roots
    ``left``    boxes of which nothing is known
    ``is_done`` whether the whole box was searched
    """

    proofs: list[Proof]
    left: list[Box]
    is_done: bool


def interval_middle(interval: Enclosure) -> Ball:
    """Return a middle of an interval: past the finite bound if one is infinite, 0 if both are."""
    low, high = interval.low, interval.high
    if low.is_finite() and high.is_finite():
        return ((low + high) / 2).mid()
    if low.is_finite():
        return (2 * max(low, exact_ball(1))).mid()
    return -interval_middle(negate_enclosure(interval)) if high.is_finite() else exact_ball(0)


def interval_width(interval: Enclosure) -> Ball:
    """Return the distance of the bounds."""
    return (interval.high - interval.low).upper()


def approximate_inverse(rows: Sequence[Sequence[Ball]]) -> list[list[Ball]] | None:
    """Return the approximate inverse of a matrix of numbers; None where there is none."""
    if len(rows) == 1:
        return None if rows[0][0].is_zero() else [[(1 / rows[0][0]).mid()]]
    found = import_flint().arb_mat([[*row] for row in rows]).inv(nonstop=True)
    table = [[entry.mid() for entry in row] for row in found.table()]
    return table if all(entry.is_finite() for row in table for entry in row) else None


def greatest_magnitude(numbers: Sequence[Ball]) -> Ball:
    """Return the greatest magnitude of some numbers."""
    return max((abs(x).upper() for x in numbers), default=exact_ball(0))


def product_of(matrix: Sequence[Sequence[Ball]], vector: Sequence[Ball]) -> Vector:
    """Multiply a matrix by a vector, as numbers."""
    return [sum(a * x for a, x in zip(row, vector, strict=True)).mid() for row in matrix]


def krawczyk_operator(
    box: Box, centre: Vector, at_centre: Sequence[Enclosure], slopes: list[list[Enclosure]]
) -> list[Ball] | None:
    """Compute K, a ball for each unknown, from the residuals at the centre; None where it is unbounded."""
    if not all(f.is_finite for f in at_centre):
        return None
    y = approximate_inverse([[entry.ball.mid() for entry in row] for row in slopes])
    if y is None:
        return None
    places = range(len(box))
    moves = [x.ball - m for x, m in zip(box, centre, strict=True)]
    found = []
    for i in places:
        made = centre[i] - sum(y[i][k] * at_centre[k].ball for k in places)
        for j in places:
            share = int(i == j) - sum(y[i][k] * slopes[k][j].ball for k in places)
            made += share * moves[j]
        found.append(made)
    return found if all(x.is_finite() for x in found) else None


def krawczyk_over(sight: Sight, box: Box) -> list[Ball] | None:
    """Compute K over a box of which nothing else is known."""
    centre = [interval_middle(x) for x in box]
    slopes = sight.look(box).slopes
    return krawczyk_operator(
        box, centre, sight.residuals([exact_enclosure(x) for x in centre]), slopes
    )


def is_never_zero(
    box: Box, centre: Vector, at_centre: Enclosure, slopes: Sequence[Enclosure]
) -> bool:
    """Whether functions with these values and derivatives are never 0, by the mean value theorem."""
    if not (at_centre.is_finite and all(slope.is_finite for slope in slopes)):
        return False
    moves = (slope.ball * (x.ball - m) for slope, x, m in zip(slopes, box, centre, strict=True))
    reach = at_centre.ball + sum(moves)
    return bool(reach.is_finite() and reach != 0)


def lies_inside(balls: Sequence[Ball], box: Box) -> bool:
    """Whether balls lie in the interior of a box."""
    return all(k.lower() > x.low and k.upper() < x.high for k, x in zip(balls, box, strict=True))


def intersect_box(balls: Sequence[Ball], box: Box) -> Box | None:
    """Intersect balls with a box."""
    found = []
    for k, x in zip(balls, box, strict=True):
        low, high = max(x.low, k.lower()), min(x.high, k.upper())
        if low > high:
            return None
        found.append(interval_between(low, high))
    return found


def boxes_overlap(one: Box, other: Box) -> bool:
    """Whether two boxes have a point in common."""
    return all(x.low <= y.high and y.low <= x.high for x, y in zip(one, other, strict=True))


def is_within(one: Box, other: Box) -> bool:
    """Whether a box lies in another one."""
    return all(x.low >= y.low and x.high <= y.high for x, y in zip(one, other, strict=True))


def prove_root(sight: Sight, box: Box) -> Proof | None:
    """Prove that exactly one root lies in a box, if Krawczyk's operator does."""
    if not all(x.ball.is_finite() for x in box) or not sight.is_smooth(box):
        return None
    look = sight.look(box)
    if look.is_gone or not look.is_finite:
        return None
    found = krawczyk_over(sight, box)
    if found is None or not lies_inside(found, box):
        return None
    return Proof(
        refine_root(sight, [interval_between(k.lower(), k.upper()) for k in found], box), box
    )


def refine_root(sight: Sight, box: Box, whole: Box) -> Box:
    """Narrow ``box`` around the only root of a whole box.

    A double that is exactly the root is recognized.
    """
    start = [interval_middle(x) for x in box]
    point, _, step = newton_search(sight, start) or NewtonStage(start, length=exact_ball(0))
    step = max(step, greatest_magnitude(point) * 2.0 ** (8 - PRECISION))
    for least in (ABOUT_ZERO, 0.0):
        double = [exact_enclosure(exact_ball(float(x) if abs(x) > least else 0)) for x in point]
        if is_within(double, whole) and all(f.is_zero for f in sight.residuals(double)):
            return double
    for _ in range(WIDER):
        beside = [ball_about(x, step) for x in point]
        found = krawczyk_over(sight, beside)
        if found is not None and lies_inside(found, beside) and is_within(beside, whole):
            return [interval_between(k.lower(), k.upper()) for k in found]
        blurs = [] if found is None else [2 * k.rad() for k in found]  # by what is rounded
        step = greatest_magnitude([16 * step, *blurs])
    return box


def proof_around(sight: Sight, point: Vector, radii: Sequence[Ball]) -> Proof | None:
    """Prove that exactly one root lies around a point, in a box that may be widened."""
    for _ in range(WIDER):
        box = [ball_about(x, radius) for x, radius in zip(point, radii, strict=True)]
        proof = prove_root(sight, box)
        if proof is not None:
            return proof
        radii = [4 * radius for radius in radii]
    return None


# Newton's method from a start.


def newton_search(sight: Sight, start: Vector) -> NewtonStage | None:
    """Run Newton's method; return the last stage, with the last step's length in this precision.

    None where it leaves the domain, or converges nowhere.
    """
    ratios: list[float] = []

    def look(point: Vector) -> NewtonStage:
        residuals, slopes = sight.at(point) or ([], [])
        if residuals and all(f.is_zero() for f in residuals):
            return NewtonStage(point, length=exact_ball(0))
        y = approximate_inverse(slopes) if residuals else None
        if y is None:
            return NewtonStage(None)
        move = product_of(y, residuals)
        return NewtonStage(point, (move, y), greatest_magnitude(move))

    def follow(stages: Sequence[NewtonStage]) -> NewtonStage:
        point, (move, y), length = stages[-1]
        before = stages[-2].length if len(stages) > 1 else exact_ball(1)
        if len(stages) > 1 and before > 0:
            ratios.append(float(length / before))
        least, most = min(ratios[-3:], default=0), max(ratios[-3:], default=0)
        if len(ratios) > 2 and 0.3 < least and most < min(0.99, 1.02 * least):  # noqa: SIM300
            # The last steps shrank in one ratio, as they do towards a multiple root.
            move = [x / (1 - ratios[-1]) for x in move]
            ratios.clear()
        after = damped_step(sight, point, move, y)
        if after is None:  # the precision tells no more: the step before is the last that it told
            return NewtonStage(point, length=min(length, before))
        point, part = after
        if part != 1:
            ratios.clear()
        if length <= max(2.0 ** -(PRECISION // 2) * greatest_magnitude(point), SMALLEST**2):
            return NewtonStage(point, length=length)
        return look(point)

    end = polish_point(look(start), follow, MOST_TURNS, lambda *_: True, lambda *_: True)[-1]
    return None if end.point is None else end


def damped_step(
    sight: Sight, point: Vector, move: Vector, y: Sequence[Sequence[Ball]]
) -> tuple[Vector, float] | None:
    """Return the next point, and the part of the step that leads there; None where no part helps."""
    part, length = 1.0, greatest_magnitude(move)
    while part > LEAST_PART:
        there = [(x - part * dx).mid() for x, dx in zip(point, move, strict=True)]
        residuals = sight.residuals([exact_enclosure(x) for x in there])
        if all(f.is_finite for f in residuals):
            left = greatest_magnitude(product_of(y, [f.ball.mid() for f in residuals]))
            if left <= (1 - part / 4) * length:
                return there, part
        part /= 2
    return None


# All roots in a box.


def branch_and_prune(sight: Sight, box: Box, looks: int = MOST_LOOKS) -> Searched:
    """Find all roots in a box, each proved, and the undecided boxes, within ``looks`` evaluations.

    The widest part comes first, on a scale that holds all numbers, so that many roots in
    one place do not hide those elsewhere.  When half of the work is spent, the narrowest come first,
    so that some are proved.
    """
    proofs: list[Proof] = []
    left: list[Box] = []
    order, sign = count(), -1
    todo = [(0.0, next(order), box)]
    before = sight.looks
    while todo:
        if sign < 0 and sight.work > MOST_EVALUATED // 2:
            sign, todo = 1, sorted((-key, at, part) for key, at, part in todo)
        is_spent = sight.looks - before > looks or sight.work > MOST_EVALUATED
        if is_spent or len(left) > MOST_LEFT:
            return Searched(proofs, [*left, *[part for *_, part in todo]], is_done=False)
        *_, part = heappop(todo)
        if any(is_within(part, proof.whole) for proof in proofs):
            continue
        rest, proof = examine_box(sight, part)
        if proof is not None and is_new(proof, proofs) and boxes_overlap(proof.inner, box):
            proofs.append(proof)
        if rest is None:
            continue
        if is_indivisible(sight, rest) or is_at_zero(sight, rest):
            left.append(rest)
        else:
            for width, half in split_box(rest):
                heappush(todo, (sign * width, next(order), half))
    return Searched(proofs, left, is_done=True)


def is_new(proof: Proof, proofs: Sequence[Proof]) -> bool:
    """Whether a proof is of a new root: two in one whole box are the same."""
    return not any(
        is_within(proof.inner, known.whole) or is_within(known.inner, proof.whole)
        for known in proofs
    )


def examine_box(sight: Sight, box: Box) -> tuple[Box | None, Proof | None]:
    """Return the part of a box that may still hold a root, and a proved root, if any."""
    look = sight.look(box)
    if look.is_gone:
        return None, None
    if not sight.is_smooth(box):
        return box, None
    if not all(x.ball.is_finite() for x in box):
        return (None if is_risen(sight, box, look) else box), None
    centre = [interval_middle(x) for x in box]
    at_centre = sight.residuals([exact_enclosure(x) for x in centre])
    pairs = [*zip(at_centre, look.slopes, strict=True)] if look.is_finite else []
    if any(is_never_zero(box, centre, f, row) for f, row in pairs):
        return None, None
    above = sight.look([exact_enclosure(x) for x in centre]).above if look.above else []
    for (value, slopes), (at_numerator, _) in zip(look.above, above, strict=True):
        if value.is_finite and is_never_zero(box, centre, at_numerator, slopes):
            return None, None
    found = krawczyk_operator(box, centre, at_centre, look.slopes)
    if found is None or not look.is_finite:
        return (None if is_risen(sight, box, look) else box), None
    rest = intersect_box(found, box)
    if rest is None:
        return None, None
    if lies_inside(found, box):
        return None, Proof(refine_root(sight, rest, box), box)
    radii = [(k.rad(), x.ball.rad()) for k, x in zip(found, box, strict=True)]
    if all(k <= x for k, x in radii) and any(k < x for k, x in radii):
        least = (
            greatest_magnitude([interval_width(x) for x in box]) * 2.0**-16
        )  # of what is known to be one number
        beside = [
            ball_about(k.mid(), 2 * k.rad() + interval_width(x) / 8 + least)
            for k, x in zip(found, box, strict=True)
        ]
        proof = prove_root(sight, beside)
        if proof is not None:
            return None, proof
    return (None if is_risen(sight, box, look) else rest), None


def is_risen(sight: Sight, box: Box, look: BoxView) -> bool:
    """Whether the one residual is monotonic and is past 0 where the box begins."""
    slope, (x, *others) = look.slopes[0][0], box
    if others or not (slope.total and look.residuals[0].total) or not sight.is_smooth(box):
        return False
    rises, falls = slope.low >= 0, slope.high <= 0
    for end, starts_above, starts_below in ((x.low, rises, falls), (x.high, falls, rises)):
        if end.is_finite():
            (f,) = sight.residuals([exact_enclosure(end)])
            if f.is_finite and ((starts_above and f.low > 0) or (starts_below and f.high < 0)):
                return True
    return False


def is_indivisible(sight: Sight, box: Box) -> bool:
    """Whether a box is too small to be divided, or to tell in this precision if its midpoint is a root."""
    limit = 2.0 ** -(PRECISION // 2 if len(box) == 1 else 60)
    if all(
        interval_width(x) <= SMALLEST + limit * abs(interval_middle(x))
        if x.ball.is_finite()
        else bool(x.low > LAST_DOUBLE or x.high < -LAST_DOUBLE)  # there is no double in it
        for x in box
    ):
        return True
    if not all(
        x.ball.is_finite() and interval_width(x) < BLURRED * (1 + abs(interval_middle(x)))
        for x in box
    ):
        return False
    residuals = sight.residuals([exact_enclosure(interval_middle(x)) for x in box])
    return all(f.has_zero for f in residuals) and not all(f.is_zero for f in residuals)


def is_at_zero(sight: Sight, box: Box, tiny: float = ABOUT_ZERO) -> bool:
    """Whether 0 is a root in a box that is tiny in every direction that holds 0.

    Around 0 there are as many doubles as anywhere, and a multiple root there would cost them all.
    """
    near = [x.low <= 0 and x.high >= 0 for x in box]
    pairs = zip(box, near, strict=True)
    if (
        not any(near)
        or not all(x.ball.is_finite() for x in box)
        or any(is_near and interval_width(x) > tiny for x, is_near in pairs)
    ):
        return False
    zero = [
        exact_enclosure(exact_ball(0) if at else interval_middle(x))
        for x, at in zip(box, near, strict=True)
    ]
    return all(f.is_zero for f in sight.residuals(zero))


def split_box(box: Box) -> Iterator[tuple[float, Box]]:
    """Yield a box's halves across the interval that is widest for its size, each with its width.

    That is on the scale of x/(1 + |x|), which ends at -1 and 1.
    """

    def size(x: Enclosure) -> Ball:
        if not x.ball.is_finite():
            return import_flint().arb.pos_inf()
        return (interval_width(x) / (1 + abs(interval_middle(x)))).upper()

    at = max(range(len(box)), key=lambda at: size(box[at]))
    x, cut = box[at], cutting_point(box[at])
    for part in (interval_between(x.low, cut), interval_between(cut, x.high)):
        half = [*box[:at], part, *box[at + 1 :]]
        ends = [(float(x.low), float(x.high)) for x in half]
        scaled = [
            [math.copysign(1.0, x) if math.isinf(x) else x / (1 + abs(x)) for x in pair]
            for pair in ends
        ]
        yield max(high - low for low, high in scaled), half


def cutting_point(x: Enclosure) -> Ball:
    """Return where to cut an interval: halfway, or, over many scales, halfway in ratio."""
    low, high = x.low, x.high
    if high < 0 or (high.is_finite() and not low.is_finite()):
        return -cutting_point(negate_enclosure(x))
    if low.is_finite() and not high.is_finite():
        return (low * low).mid() if low > 1 else interval_middle(x)
    return (low * high).sqrt().mid() if low > 0 and high > 1024 * low else interval_middle(x)
