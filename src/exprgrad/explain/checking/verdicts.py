"""Checks on a derivative beside other numbers, and their words."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from exprgrad.explain.checking.differences import (
    SETTLED,
    SidedEstimates,
    TrueDerivative,
    is_below_doubles,
)
from exprgrad.explain.places import used_operations
from exprgrad.explain.sides.kinks import OneSided
from exprgrad.graph.graph import dependency_flags
from exprgrad.language.write.infix import number_text
from exprgrad.run.balls.balls import Ball, middle_text, rough_text
from exprgrad.run.evaluation import SweptRun
from exprgrad.run.numbers.sweeps import at_pole
from exprgrad.source import Span

if TYPE_CHECKING:
    from exprgrad.explain.checking.thresholds import Threshold

__all__ = [
    "ENOUGH_DIGITS", "MESSAGE_DIGITS", "Check", "SampledClaim", "agreement_text", "ball_midpoint",
    "count_shared_digits",
    "format_ball_pair", "format_short_pair", "infinite_verdict", "one_sided_verdict", "pole_text",
    "short_ball", "short_number", "verdict_by_differences", "verdict_by_truth",
]  # fmt: skip

MESSAGE_DIGITS = 6
"""The digits of a number in a message."""
ALL_DIGITS = 16
"""The digits that equal doubles share: rounding allows no stronger statement about a number.

This is one less than the 17 of ``explain.digits``, which tell a double from its neighbours: there a number
is compared with the true one, here with another that is itself rounded.
"""


PLENTY_OF_DIGITS = 12
"""A gradient with fewer digits has every rule checked: rounding takes four."""
ENOUGH_DIGITS = 3
"""The fewest digits that count as agreement: the lesson compares as many."""
ZERO_WITHIN = 10.0**-ENOUGH_DIGITS
"""The absolute error allowed to differences that are 0: there is no size to measure it by."""


# Numbers in messages: six digits, or as many as distinguish two, and how many they share.


def short_number(value: float | None) -> str:
    """Write a number in a message."""
    return "none" if value is None else format(value + 0.0, f".{MESSAGE_DIGITS}g")


def format_short_pair(one: float, other: float) -> tuple[str, str]:
    """Write two numbers in a message: short, or with all digits if these are needed to tell them apart."""
    found = short_number(one), short_number(other)
    return found if found[0] != found[1] else (number_text(one), number_text(other))


def format_ball_pair(one: Ball, other: Ball) -> tuple[str, str]:
    """Write two disjoint balls in a message: as doubles if these differ, else with the digits needed.

    Where that takes very many, write how much the other is more or less.
    """
    doubles = float(one), float(other)
    if doubles[0] != doubles[1]:
        return format_short_pair(*doubles)
    if not doubles[0]:
        return short_ball(one), short_ball(other)
    for digits in (ALL_DIGITS + 1, 2 * ALL_DIGITS):
        first, second = middle_text(one, digits), middle_text(other, digits)
        if first is not None and second is not None and first != second:
            return first, second
    sort, by = ("more", other - one) if other > one else ("less", one - other)
    return short_ball(one), f"{short_ball(one)} and {short_ball(by)} {sort}"


def short_ball(ball: Ball) -> str:
    """Write a ball's middle in a message, whatever its size."""
    value = float(ball)
    beyond_doubles = ball.is_finite() and (value == 0 or math.isinf(value))
    return rough_text(ball, MESSAGE_DIGITS) if beyond_doubles else short_number(value)


def count_shared_digits(off: float, size: float) -> int:
    """Count the leading decimal digits shared by two numbers of a size that are ``off`` apart."""
    if off == 0:
        return ALL_DIGITS
    return min(int(math.log10(size) - math.log10(off)), ALL_DIGITS) if 0 < off < size else 0


# Checks.


class SampledClaim(NamedTuple):
    """The points at which a claim was tried.

    ``points``      the number of points
    ``thresholds``  the thresholds with points on both sides
    ``one_sided``   the texts of comparisons and the like of which only one side was met
    """

    points: int
    thresholds: tuple[Threshold, ...]
    one_sided: tuple[str, ...]


class Check(NamedTuple):
    """One derivative, checked by numbers.

    Without an input it is a verdict on two numbers.

    ``input``     the input's name; of an inner node its name or text
    ``analytic``  the gradient's number; for a claim the true derivative
    ``numeric``   the number by differences, or the number claimed; None where there is none
    ``error``     the error bound of ``numeric``
    ``left``, ``right``  the derivatives from the sides, where they differ or only one is there
    ``verdict``   ``agrees``, ``kink``, ``cancellation``, ``overflow``, ``undecided`` or ``disagrees``
    ``message``   the verdict in words
    ``node``      the node, where one was requested
    ``claim``, ``point``  the claim's text, and the inputs for the two numbers
    ``where``     the node to show, and its span; for a claim, a span in the claim's text
    ``help``      what to do, where that follows from the check
    ``sampled``   the points at which a claim was tried
    ``proof``     the evidence for a claim that agrees: ``formulas``, ``enclosed`` or ``samples``
    ``width``     the error bound, if ``enclosed``
    ``digits``    how many digits agree, where that makes the verdict
    ``suspicious``  whether a rule may be to blame; if one is, that is the verdict
    """

    input: str = ""
    analytic: float | None = None
    numeric: float | None = None
    error: float | None = None
    left: float | None = None
    right: float | None = None
    verdict: str = ""
    message: str = ""
    node: int | None = None
    claim: str | None = None
    point: dict[str, float] | None = None
    where: tuple[int, Span] | None = None
    help: str | None = None
    sampled: SampledClaim | None = None
    proof: str | None = None
    width: float | None = None
    digits: int | None = None
    suspicious: bool = False

    def says(self, verdict: str, why: str) -> Check:
        """Return the same numbers, with a verdict."""
        return self._replace(verdict=verdict, message=f"{verdict}: {why}")

    def agrees(self, digits: int) -> Check:
        """Return the same numbers, agreeing to a count of digits."""
        return self._replace(verdict="agrees", message=agreement_text(digits), digits=digits)

    def blaming(self, node: int, span: Span, why: str) -> Check:
        """Return the same numbers, with a rule or a value to blame."""
        return self.says("disagrees", why)._replace(where=(node, span))


def agreement_text(digits: int) -> str:
    """Write how far two numbers agree."""
    return f"agrees to {digits} digit{'s' * (digits != 1)}"


def infinite_verdict(value: float, pole: str = "") -> Check:
    """Return the verdict at a value that is not finite; ``pole`` is the text of a node at its pole."""
    if value != value:
        return Check().says("undecided", "the value is nan, and so are all differences")
    here = f"{pole} has a pole here: " * bool(pole)
    return Check().says(
        "overflow", f"{here}the value is {number_text(value)}, which has no differences"
    )


def pole_text(run: SweptRun) -> str:
    """Return the text of the node that is infinite at its pole, if there is one."""
    for node, op, seen in used_operations(run, dependency_flags(run.graph, run.graph.output)):
        if math.isinf(run.values[node]):
            is_pole = all(map(math.isfinite, seen)) and at_pole(op, seen)
            return run.texts[node] if is_pole else ""
    return ""


def one_sided_verdict(found: OneSided, returned: float) -> Check:
    """Return the verdict where a kink or a jump is met at the point itself."""
    sides = Check(left=found.left, right=found.right)
    if found.verdict in ("kink", "jump"):
        return kink_verdict(sides, returned, jumps=found.verdict == "jump")
    return sides.says(
        "undecided", f"only a limit of higher order would tell, returned {short_number(returned)}"
    )


def kink_verdict(sides: Check, returned: float, *, jumps: bool) -> Check:
    """Return the verdict at a kink or a jump, with the derivatives from the two sides."""
    where = f"left {short_number(sides.left)}, right {short_number(sides.right)}"
    return sides.says(
        "kink", f"{'the value jumps here' if jumps else where}, returned {short_number(returned)}"
    )


# In balls.


def verdict_by_truth(truth: TrueDerivative, value: float, analytic: float) -> Check | None:
    """Return the verdict where the truth is known; None where balls do not tell."""
    left, right = ball_midpoint(truth.left), ball_midpoint(truth.right)
    if truth.kind == "kink" or (truth.kind == "vertical" and left != right):
        return kink_verdict(Check(left=left, right=right), analytic, jumps=False)
    if truth.kind == "jump":
        # Towards a jump quotients are infinite.
        left, right = (None if x is None or math.isinf(x) else x for x in (left, right))
        return kink_verdict(Check(left=left, right=right), analytic, jumps=True)
    if truth.kind == "edge":
        side, ball = ("right", truth.right) if truth.left is None else ("left", truth.left)
        found = compare_with_truth(ball, value, analytic)._replace(left=left, right=right)
        more = f"; there are values on the {side} alone" * (found.verdict == "agrees")
        return found._replace(message=found.message + more)
    if truth.kind in ("smooth", "vertical"):
        return compare_with_truth(
            truth.center if truth.kind == "smooth" else truth.left, value, analytic
        )
    return None


def ball_midpoint(ball: Ball | None) -> float | None:
    """Return the double nearest to a ball's middle."""
    return None if ball is None else float(ball)


def compare_with_truth(true: Ball, value: float, analytic: float) -> Check:
    """Compare a derivative in doubles with the true one."""
    numeric, written, returned = float(true), short_ball(true), f"returned {short_number(analytic)}"
    error = float(true.rad()) + math.ulp(numeric) / 2 if math.isfinite(numeric) else 0.0
    found = Check(numeric=numeric, error=error)
    if not math.isfinite(numeric):
        found = found._replace(suspicious=analytic != numeric)
        if true.is_finite():
            return found.says("overflow", f"the true derivative, {written}, is beyond the doubles")
        if analytic == numeric:
            return found.says("agrees", "the slope is infinite here")
        return found.says("undecided", f"the slope is infinite here, {returned}")
    overflow = f"{returned}, but the true derivative is {written}"
    if not math.isfinite(analytic):
        return found._replace(suspicious=math.isfinite(value)).says("overflow", overflow)
    off = abs(true - analytic).abs_upper()
    is_zero = true.is_zero() or is_below_doubles(true)
    if is_zero and analytic == 0:
        return found.says(
            "agrees", "both are 0" if true.contains(0) else f"{written} is 0 in doubles"
        )
    near = analytic == numeric or float(off) <= math.ulp(0.0)
    digits = 0 if is_zero else ALL_DIGITS if near else count_shared_digits(float(off), abs(numeric))
    found = found._replace(suspicious=digits < PLENTY_OF_DIGITS)
    if digits >= ENOUGH_DIGITS:
        return found.agrees(digits)
    if digits == 0 and not math.isfinite(value):
        return found.says("overflow", overflow)
    few = f"only {digits} digit{'s' * (digits != 1)}" if digits else "no digit right"
    return found.says(
        "cancellation", f"the gradient has {few} here, the true derivative is {written}"
    )


# In doubles.


def verdict_by_differences(sides: SidedEstimates, analytic: float) -> Check:
    """Return the verdict by differences in doubles, whose accuracy limits the digits."""
    center, left, right = sides
    returned = f"returned {short_number(analytic)}"
    gap = abs(left.value - right.value) if left and right else 0.0
    if left and right and left.error + right.error < gap >= SETTLED * max(left.error, right.error):
        one, other = format_short_pair(left.value, right.value)
        return Check(
            verdict="kink",
            message=f"kink between the sample points: left {one}, right {other}, {returned}",
            left=left.value,
            right=right.value,
        )
    best = center or right or left
    if best is None:
        return Check().says("undecided", f"no differences settle beside the point, {returned}")
    found, said = Check(numeric=best.value, error=best.error), short_number(best.value)
    if center is None:
        found = found._replace(left=left and left.value, right=right and right.value)
    off = abs(analytic - best.value)
    if not math.isfinite(analytic):
        why = f"{returned}, differences say {said}"
        return found._replace(suspicious=True).says("undecided", why)
    if off > best.error:
        if not best.settled(analytic):
            return found.says("undecided", f"differences do not settle, {returned}")
        found = found._replace(suspicious=True)
        if count_shared_digits(off, abs(best.value)) < ENOUGH_DIGITS:
            why = f"differences say {said}, {returned}, and every rule is right on its own"
            return found.says("cancellation", why)
    if analytic == 0 and best.error < ZERO_WITHIN:
        return found.says(
            "agrees", "both are 0" if best.value == 0 else f"0 to within {short_number(best.error)}"
        )
    digits = count_shared_digits(max(off, best.error), max(abs(analytic), abs(best.value)))
    if digits >= ENOUGH_DIGITS:
        return found.agrees(digits)
    few = f"only {digits} digit{'s' * (digits != 1)}" if digits else "no digits"
    return found.says("cancellation", f"the difference has {few} here")
