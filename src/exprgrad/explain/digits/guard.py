"""Numbers of which too few digits are right: worked out in balls, corrected where that is certain.

A number is corrected only where it is the same, in the digits shown, for the doubles that inputs and
literals were read as and for the decimals that they are written as: else nobody can say what was meant.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from exprgrad.explain.diagnostic import Diagnostic, Path, Settled
from exprgrad.explain.digits.trusted import NEAREST, is_nearest, is_tight, judged, right_digits
from exprgrad.explain.digits.truths import Source
from exprgrad.explain.digits.warnings import Loser, digits_text, warning
from exprgrad.run.balls.balls import Ball, ball, is_infinite, working
from exprgrad.run.numbers.bounds import DOUBLE_DIGITS

__all__ = ["guarded", "unproved"]

MOST_EXPLAINED = 16
"""For how many numbers it is worked out where their digits are lost: each takes a walk over the graph."""


class Decided(NamedTuple):
    """A number beside the truth.

    ``answer``  what is printed: the number itself, or the double nearest to the truth
    ``digits``  how many digits of the answer are right
    ``state``   ``right``: enough of its digits are, or no double is nearer; ``corrected``; ``typed``: the
                decimals as they are written lead elsewhere; ``zero``: the truth may be 0; ``undefined``:
                there is none; ``undecided``: no enclosure is tight enough to tell
    """

    answer: float
    digits: int
    state: str


def decided(value: float, least: int, true: Ball, typed: Ball, bits: int) -> Decided:
    """What becomes of a number that needs ``least`` right digits, given the truth for both readings."""
    plain = judged(value, true, bits)
    with working(bits):
        digits = min(right_digits(value, true), DOUBLE_DIGITS)
        if plain.verdict == "undefined":
            return Decided(value, 0, "undefined" if math.isfinite(value) else "right")
        if plain.verdict in ("exact", "pole") or (plain.verdict == "zero" and value == 0):
            return Decided(value, DOUBLE_DIGITS, "right")
        if digits >= least or plain.verdict in NEAREST:
            return Decided(value, digits, "right")
        if plain.verdict == "undecided" or (plain.verdict == "zero" and math.isfinite(value)):
            return Decided(value, 0, plain.verdict)
        if not agree(true, typed, least, bits):
            return Decided(value, digits, "typed")
        answer = nearest_double(true)
        return Decided(answer, min(right_digits(answer, true), DOUBLE_DIGITS), "corrected")


def agree(one: Ball, other: Ball, digits: int, bits: int) -> bool:
    """Whether two true numbers are the same in so many digits."""
    if is_infinite(one) or is_infinite(other):
        return bool(one == other)
    if not bool(one != 0):
        return not bool(other.abs_lower() > 0)
    if not (other.is_finite() and is_tight(other, bits)):
        return False
    return bool(abs(one - other) * ball(10) ** digits <= abs(one))


def nearest_double(true: Ball) -> float:
    """The double nearest to whatever a tight ball holds."""
    value = float(true.mid())
    around = (value, math.nextafter(value, math.inf), math.nextafter(value, -math.inf))
    return next((x for x in around if is_nearest(x, true)), value) + 0.0


def guarded(found: Settled, poor: Sequence[Path], least: int, source: Source) -> Settled:
    """What becomes of numbers, of which the ``poor`` may have fewer right digits than ``least``."""
    alike: dict[object, list[Loser]] = {}
    explained = 0
    source.seek(poor)
    for path in poor:
        value, (true, typed) = found.values[path], source.truth(path)
        one = decided(value, least, true, typed, source.bits)
        found.digits[path] = one.digits
        if one.state == "right":
            continue
        if one.state == "corrected":
            found.corrected[path] = value, one.answer
            found.values[path] = one.answer
        plain, place = judged(value, true, source.bits), source.place(path)
        key: object = one.state
        if key not in alike and explained < MOST_EXPLAINED and one.state != "undecided":
            explained += 1
            place = source.blamed(path, plain, true) or place
            key = key if one.state == "typed" else (key, place[2] or place)
        label, digits = source.label(path), min(plain.digits, DOUBLE_DIGITS)
        loser = Loser(label, value, digits, one.answer, one.state, *place, true, typed)
        alike.setdefault(key, []).append(loser)
    told = [warning(group, source.decimals, source.bits) for group in alike.values()]
    return found._replace(diagnostics=tuple(told))


def unproved(found: Settled, poor: Sequence[Path], least: int, source: Source) -> Settled:
    """The same where nothing is known but what bounds tell."""
    told = []
    for path in poor:
        node, span, _ = source.place(path)
        known = digits_text(found.digits[path])
        message = f"{source.label(path)} may have {known} only, as far as bounds tell"
        help = "pip install python-flint, with which more is known"
        told.append(Diagnostic("lost-digits", "warning", message, node, span, help))
    return found._replace(diagnostics=tuple(told))
