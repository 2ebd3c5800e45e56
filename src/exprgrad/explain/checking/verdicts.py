"""What a derivative and the numbers beside it make of each other, as a verdict and in words."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

from exprgrad.explain.checking.differences import SETTLED, Estimate, Sides
from exprgrad.explain.checking.true_differences import Truth, below_doubles
from exprgrad.explain.sides.kinks import OneSided
from exprgrad.graph.graph import dependencies
from exprgrad.graph.ops import BY_NAME
from exprgrad.language.write.infix import number
from exprgrad.run.balls.balls import Ball
from exprgrad.run.balls.text import nearest
from exprgrad.run.numbers.templates import at_pole
from exprgrad.run.result import Run
from exprgrad.source import Span

__all__ = [
    "Suspect", "Verdict", "agreement", "apart", "balls_apart", "by_differences", "by_truth", "decimal",
    "digits_of", "infinite", "one_side", "pole", "short", "unsettled",
]  # fmt: skip

SHORT = 6
"""The digits of a number in a message."""
FULL = 16
"""So many digits are shared by doubles that are equal: rounding allows no more to be said of a number.

That is one less than the 17 of ``explain.digits``, which tell a double from its neighbours: there a number
is compared with the true one, here with another that is itself rounded.
"""


PLENTY = 12
"""Where a gradient has fewer digits than this, every rule is looked at: rounding takes four."""
FEW = 3
"""The fewest digits that count as agreement: the lesson compares as many."""
NOTHING = 10.0**-FEW
"""What differences call 0 may be off by this at most, absolutely: there is no size to measure it by."""


# Numbers in messages: six digits, what two need to be told apart, how many they share.


def short(value: float | None) -> str:
    """A number in a message."""
    return "none" if value is None else format(value + 0.0, f".{SHORT}g")


def apart(one: float, other: float) -> tuple[str, str]:
    """Two numbers in a message: short, or with all digits where it takes them to tell the two apart."""
    found = short(one), short(other)
    return found if found[0] != found[1] else (number(one), number(other))


def balls_apart(one: Ball, other: Ball) -> tuple[str, str]:
    """Two balls that do not meet, in a message: as doubles if these differ, else with the digits it takes.

    Where these would be very many, it says by how much the other is more or less.
    """
    doubles = float(one), float(other)
    if doubles[0] != doubles[1]:
        return apart(*doubles)
    if not doubles[0]:
        return decimal(one), decimal(other)
    for digits in (FULL + 1, 2 * FULL):
        found = nearest(one, digits), nearest(other, digits)
        if found[0] != found[1]:
            return found
    sort, by = ("more", other - one) if other > one else ("less", one - other)
    return decimal(one), f"{decimal(one)} and {decimal(by)} {sort}"


def decimal(ball: Ball) -> str:
    """A ball's middle in a message, whatever its size."""
    value = float(ball)
    if math.isfinite(value) and value:
        return short(value)
    mantissa, e, exponent = str(ball.mid().str(SHORT, radius=False)).partition("e")
    mantissa = mantissa.rstrip("0").rstrip(".") if "." in mantissa else mantissa
    return f"{mantissa}{e}{exponent}"


def digits_of(off: float, size: float) -> int:
    """How many leading decimal digits two numbers share that are ``off`` apart, of a size."""
    if off == 0:
        return FULL
    if not 0 < off < size:
        return 0
    return min(int(math.log10(size) - math.log10(off)), FULL)


# Verdicts.


class Suspect(NamedTuple):
    """A node whose rule or value is wrong, and what to say of it."""

    node: int
    message: str
    span: Span


Blame = Callable[[float], Suspect | None]
"""Looks for a rule to blame, given what the derivative truly is."""


class Verdict(NamedTuple):
    """A verdict, in words too, and the numbers that it comes from: as in ``checking.check.Check``.

    ``digits``: how many digits agree, where that is what the verdict comes from; ``help``: what to do.
    """

    verdict: str
    message: str
    numeric: float | None = None
    error: float | None = None
    left: float | None = None
    right: float | None = None
    where: tuple[int, Span] | None = None
    digits: int | None = None
    help: str | None = None

    def blaming(self, found: Suspect) -> Verdict:
        """The same numbers, with a rule or a value to blame."""
        return self._replace(
            verdict="disagrees",
            message=f"disagrees: {found.message}",
            where=(found.node, found.span),
        )


def agreement(digits: int) -> str:
    """How far two numbers agree, in words."""
    return f"agrees to {digits} digit{'s' * (digits != 1)}"


def infinite(value: float, pole: str = "") -> Verdict:
    """There are no differences beside a value that is not finite; ``pole``: the text of what has one."""
    if value != value:
        return Verdict("undecided", "undecided: the value is nan, and so are all differences")
    here = f"{pole} has a pole here: " * bool(pole)
    message = f"overflow: {here}the value is {number(value)}, which has no differences"
    return Verdict("overflow", message)


def pole(run: Run) -> str:
    """The text of the node that is infinite because its operands are at a pole of its, if one is."""
    needed = dependencies(run.graph, run.graph.output)
    for node, kind in enumerate(run.graph.kinds):
        if needed[node] and run.graph.operands[node] and math.isinf(run.values[node]):
            op = BY_NAME[kind]
            seen = [run.values[operand] for operand in run.graph.operands[node]]
            if not all(map(math.isfinite, seen)):
                break
            return run.texts[node] if at_pole(op, seen) else ""
    return ""


def one_side(found: OneSided, returned: float) -> Verdict:
    """The verdict where a kink or a jump is met at the point itself."""
    left, right = found.left, found.right
    if found.verdict == "kink":
        message = f"kink: left {short(left)}, right {short(right)}, returned {short(returned)}"
        return Verdict("kink", message, left=left, right=right)
    if found.verdict == "jump":
        message = f"kink: the value jumps here, returned {short(returned)}"
        return Verdict("kink", message, left=left, right=right)
    message = f"undecided: only a limit of higher order would tell, returned {short(returned)}"
    return Verdict("undecided", message, left=left, right=right)


def unsettled(returned: float, by_rules: float | None) -> Verdict:
    """The verdict where differences have no limit to go by; the rules of the sides may have an answer."""
    message = f"undecided: differences do not settle, returned {short(returned)}"
    if by_rules is not None:
        message += f"; by the rules of both sides it is {short(by_rules)}"
    return Verdict("undecided", message)


# In balls.


def by_truth(truth: Truth, value: float, analytic: float, blame: Blame) -> Verdict | None:
    """The verdict where the truth is known; None where balls do not tell."""
    left, right = as_float(truth.left), as_float(truth.right)
    sides = f"left {short(left)}, right {short(right)}, returned {short(analytic)}"
    if truth.kind == "kink" or (truth.kind == "vertical" and left != right):
        return Verdict("kink", f"kink: {sides}", left=left, right=right)
    if truth.kind == "jump":
        message = f"kink: the value jumps here, returned {short(analytic)}"
        return Verdict("kink", message, left=steady(left), right=steady(right))
    if truth.kind == "edge":
        side = "right" if truth.left is None else "left"
        ball = truth.right if truth.left is None else truth.left
        found = compared(ball, value, analytic, blame)._replace(left=left, right=right)
        if found.verdict != "agrees":
            return found
        return found._replace(message=f"{found.message}; there are values on the {side} alone")
    if truth.kind in ("smooth", "vertical"):
        ball = truth.center if truth.kind == "smooth" else truth.left
        return compared(ball, value, analytic, blame)
    return None


def steady(side: float | None) -> float | None:
    """A derivative from one side; None towards a jump, where the quotients are infinite."""
    return None if side is None or math.isinf(side) else side


def as_float(ball: Ball | None) -> float | None:
    """The double nearest to a ball's middle."""
    return None if ball is None else float(ball)


def compared(true: Ball, value: float, analytic: float, blame: Blame) -> Verdict:
    """A derivative in doubles beside the true one."""
    numeric = float(true)
    error = float(true.rad()) + math.ulp(numeric) / 2 if math.isfinite(numeric) else 0.0
    found = Verdict("agrees", "", numeric, error)
    written = decimal(true)
    if not math.isfinite(numeric):
        if analytic != numeric and (suspect := blame(numeric)) is not None:
            return found.blaming(suspect)
        if not true.is_finite():
            if analytic == numeric:
                return found._replace(message="agrees: the slope is infinite here")
            message = f"undecided: the slope is infinite here, returned {short(analytic)}"
            return found._replace(verdict="undecided", message=message)
        message = f"overflow: the true derivative, {written}, is beyond the doubles"
        return found._replace(verdict="overflow", message=message)
    if not math.isfinite(analytic):
        suspect = blame(numeric) if math.isfinite(value) else None
        if suspect is not None:
            return found.blaming(suspect)
        message = f"overflow: returned {short(analytic)}, but the true derivative is {written}"
        return found._replace(verdict="overflow", message=message)
    off = abs(true - analytic).abs_upper()
    if true.is_zero() or below_doubles(true):
        if analytic == 0:
            what = "both are 0" if true.contains(0) else f"{written} is 0 in doubles"
            return found._replace(message=f"agrees: {what}")
        digits = 0
    else:
        near = analytic == numeric or float(off) <= math.ulp(0.0)
        digits = FULL if near else digits_of(float(off), abs(numeric))
    if digits < PLENTY:
        suspect = blame(numeric)
        if suspect is not None:
            return found.blaming(suspect)
    if digits >= FEW:
        return found._replace(message=agreement(digits), digits=digits)
    few = f"only {digits} digit{'s' * (digits != 1)}" if digits else "no digit right"
    message = f"cancellation: the gradient has {few} here, the true derivative is {written}"
    if digits == 0 and not math.isfinite(value):
        message = f"overflow: returned {short(analytic)}, but the true derivative is {written}"
        return found._replace(verdict="overflow", message=message)
    return found._replace(verdict="cancellation", message=message)


# In doubles.


def are_apart(left: Estimate, right: Estimate) -> bool:
    """Whether the derivatives from the two sides differ, and that by more than they may be off."""
    gap = abs(left.value - right.value)
    return gap > left.error + right.error and max(left.error, right.error) <= gap / SETTLED


def by_differences(sides: Sides, analytic: float, blame: Blame) -> Verdict:
    """The verdict by differences in doubles, which are sure to so many digits and no more."""
    center, left, right = sides
    if left is not None and right is not None and are_apart(left, right):
        one, other = apart(left.value, right.value)
        message = (
            f"kink between the sample points: left {one}, right {other}, returned {short(analytic)}"
        )
        return Verdict("kink", message, left=left.value, right=right.value)
    best = center or right or left
    if best is None:
        message = f"undecided: no differences settle beside the point, returned {short(analytic)}"
        return Verdict("undecided", message)
    found = Verdict("agrees", "", best.value, best.error)
    if center is None:
        found = found._replace(left=left and left.value, right=right and right.value)
    off = abs(analytic - best.value)
    if not math.isfinite(analytic):
        suspect = blame(best.value)
        if suspect is not None:
            return found.blaming(suspect)
        message = f"undecided: returned {short(analytic)}, differences say {short(best.value)}"
        return found._replace(verdict="undecided", message=message)
    if off > best.error:
        returned = f"returned {short(analytic)}"
        says = f"differences say {short(best.value)}, {returned}"
        if not best.settled(analytic):
            message = f"undecided: differences do not settle, {returned}"
            return found._replace(verdict="undecided", message=message)
        suspect = blame(best.value)
        if suspect is not None:
            return found.blaming(suspect)
        digits = digits_of(off, abs(best.value))
        if digits < FEW:
            message = f"cancellation: {says}, and every rule is right by itself"
            return found._replace(verdict="cancellation", message=message)
    if analytic == 0 and best.error < NOTHING:
        what = "both are 0" if best.value == 0 else f"0 to within {short(best.error)}"
        return found._replace(message=f"agrees: {what}")
    digits = digits_of(max(off, best.error), max(abs(analytic), abs(best.value)))
    if digits >= FEW:
        return found._replace(message=agreement(digits), digits=digits)
    few = f"only {digits} digit{'s' * (digits != 1)}" if digits else "no digits"
    message = f"cancellation: the difference has {few} here"
    return found._replace(verdict="cancellation", message=message)
