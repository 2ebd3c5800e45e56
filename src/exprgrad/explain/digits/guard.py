"""Numbers of which too few digits are right: worked out in balls, corrected where that is certain.

A number is corrected only where it is the same, in the digits shown, for the doubles that inputs and
literals were read as and for the decimals that they are written as: else nobody can say what was meant.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from exprgrad.errors import install
from exprgrad.explain.digits.trusted import (
    NEAREST,
    Trusted,
    is_nearest,
    is_tight,
    judged,
    right_digits,
)
from exprgrad.explain.digits.truths import Place, Source, Swept
from exprgrad.explain.digits.warnings import (
    Loser,
    apart,
    digits_text,
    part,
    uncertain,
    warning,
)
from exprgrad.explain.kinks_met import flagged
from exprgrad.explain.limits import SHARED
from exprgrad.explain.sides.estimates import guesses
from exprgrad.explain.sides.kinks import OneSided
from exprgrad.run.balls.balls import Ball, ball, has_balls, is_infinite, working
from exprgrad.run.evaluation import Diagnostic, Path, Settled
from exprgrad.run.numbers.bounds import DOUBLE_DIGITS
from exprgrad.run.numbers.bounds import right_digits as bounded_digits

__all__ = ["checked_sides", "guarded", "nearest_double", "unproved"]

MOST_EXPLAINED = 16
"""For how many numbers it is worked out where their digits are lost: each takes a walk over the graph."""


FEW_ULPS = 8
"""By how much estimates of a derivative from the two sides may differ that is the same on both."""
UNEXPLAINED = ("undecided", "undefined")
"""What becomes of numbers whose digits are not lost at any node."""


DECIMALS = ("typed", "hanging")
"""What becomes of numbers that are others for the decimals as typed."""


class Decided(NamedTuple):
    """A number beside the truth.

    ``answer``  what is printed: the number itself, or the double nearest to the truth
    ``digits``  how many digits of the answer are right
    ``state``   ``right``: enough of its digits are, or no double is nearer; ``corrected``; ``typed``: the
                decimals as they are written lead elsewhere; ``hanging``: so they do, but for the doubles
                the number is right; ``zero``: the truth may be 0; ``undefined``: there is none;
                ``undecided``: no enclosure is tight enough to tell
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
            is_typed = typed.is_finite() and is_tight(typed, bits)
            states = ("undefined", "typed") if math.isfinite(value) else ("right", "hanging")
            return Decided(value, 0, states[is_typed])
        if plain.verdict in ("exact", "pole") or (plain.verdict == "zero" and value == 0):
            digits = DOUBLE_DIGITS
        if digits >= least or plain.verdict in NEAREST:
            is_same = is_shared(value, true, typed, min(least, SHARED), bits)
            return Decided(value, digits, "right" if is_same else "hanging")
        if plain.verdict == "undecided" and math.isnan(value):
            return Decided(value, 0, "right")  # it shows no digits, and what made it nan is told
        if plain.verdict == "undecided" or (plain.verdict == "zero" and math.isfinite(value)):
            return Decided(value, 0, plain.verdict)
        answer = nearest_double(true)
        if not (agree(true, typed, least, bits) or is_nearest(answer, typed)):
            return Decided(value, digits, "typed")
        return Decided(answer, min(right_digits(answer, true), DOUBLE_DIGITS), "corrected")


def is_shared(value: float, true: Ball, typed: Ball, digits: int, bits: int) -> bool:
    """Whether decimals as typed come to the same as the doubles do, for which a number is right.

    Where nobody knows what they come to, they are not said to differ.
    """
    if not (typed.is_finite() or typed.is_nan() or is_infinite(typed)):
        return True
    return agree(true, typed, digits, bits) or is_nearest(value, typed)


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


class Wrong(NamedTuple):
    """A number that is not right: where it stands, what doubles make of it, and what becomes of it."""

    path: Path
    plain: Trusted
    found: Decided


def guarded(found: Settled, poor: Sequence[Path], least: int, source: Source) -> Settled:
    """What becomes of numbers, of which the ``poor`` may have fewer right digits than ``least``."""
    wrong: dict[tuple[Path, str], list[Wrong]] = {}
    source.seek(poor)
    for path in poor:
        value, (true, typed) = found.values[path], source.truth(path)
        one = decided(value, least, true, typed, source.bits)
        if path[0] != "value" and one.state != "undefined" and not source.has_value(path):
            one = Decided(value, 0, "right")  # it is derived from no number, and that is told
        turn = source.turn if one.state == "right" and not math.isnan(value) else None
        if turn is not None and turn.counts and not (turn.is_kink and path[0] == "value"):
            one = one._replace(state="hanging")
        found.digits[path] = one.digits
        if one.state == "corrected":
            found.corrected[path] = value, one.answer
            found.values[path] = one.answer
        if one.state != "right":
            lost = Wrong(path, judged(value, true, source.bits), one)
            wrong.setdefault((source.whole(path), one.state), []).append(lost)
    groups = losers(wrong, source)
    told = [warning(group, source) for group in groups]
    causes = [
        frozenset().union(*({one.node, *one.through} for one in group if one.state == "corrected"))
        for group in groups
    ]
    return found._replace(diagnostics=tuple(told), causes=tuple(causes))


def losers(wrong: Mapping[tuple[Path, str], Sequence[Wrong]], source: Source) -> list[list[Loser]]:
    """Numbers that lost digits, grouped by what is told of them: what has one cause is told at once.

    Of a tensor's numbers that fare alike the worst speaks for all.
    """
    alike: dict[tuple[str, Place | None], list[Loser]] = {}
    explained = 0
    for (_, state), listed in wrong.items():
        path, plain, one = min(listed, key=lambda lost: lost.plain.digits)
        place, cause = source.place(path), None
        if state not in UNEXPLAINED and explained < MOST_EXPLAINED:
            if state not in DECIMALS or (state, None) not in alike:
                explained += 1
                place = source.blamed(path, plain, source.truth(path)[0])
            if state not in DECIMALS:
                known = (met for told, met in alike if told == state and met is not None)
                cause = next((met for met in known if is_one_cause(met, place)), place)
        label, at = called(path, len(listed), source)
        digits = min(plain.digits, DOUBLE_DIGITS)
        about = label, plain.value, digits, one.answer, state, *place[:3], *source.truth(path)
        alike.setdefault((state, cause), []).append(Loser(*about, at, place.through))
    return list(alike.values())


def is_one_cause(known: Place, place: Place) -> bool:
    """Whether a number lost its digits to a node that is known to have lost another's."""
    is_told = known.help is not None and known.help == place.help
    return is_told or known.node in (place.node, *place.through)


def called(path: Path, many: int, source: Source) -> tuple[str, str]:
    """What a number is called; if it speaks for ``many`` of a tensor, how many, and where it stands."""
    if many == 1:
        return source.label(path), ""
    tensor = source.whole(path)
    return f"{part(many, source.count(tensor))} {source.label(tensor)}", path[-1]


def checked_sides(
    found: Settled,
    answers: Mapping[str, tuple[float, float]],
    sides: Sequence[OneSided],
    least: int,
    source: Swept,
) -> Settled:
    """The same, derivatives that were found from one side being checked, and corrected, too.

    ``answers`` are what the sweep and the ``sides`` have found.  Where there is no kink in truth balls know
    them; else differences in balls do, on both sides.
    """
    if not has_balls():
        return found
    run, told = source.run, list(found.diagnostics)
    met = flagged(run)
    is_smooth = source.rounded_kinks(met).issuperset(met)
    for side in sides:
        path = ("gradient", side.input)
        swept, value = answers[side.input]
        true, typed = source.truth(path)
        is_known = true.is_finite() and is_tight(true, source.bits)
        if is_smooth and is_known and agree(true, typed, least, source.bits):
            answer = nearest_double(true)
        else:
            left, right = (guess.slope for guess in guesses(run, side.input))
            if left is None or right is None or not abs(left - right) <= FEW_ULPS * math.ulp(left):
                continue
            answer = left
        digits = bounded_digits(value, abs(value - answer) + math.ulp(answer))
        found.digits[path] = digits
        if digits >= least:
            continue
        found.digits[path] = bounded_digits(answer, math.ulp(answer))
        found.values[path], found.corrected[path] = answer, (swept, answer)
        was, now = apart(value, answer)
        message = f"{source.label(path)} has {digits_text(digits)} in doubles: {was} is corrected to {now}"
        node, span, *_ = source.place(path)
        told.append(Diagnostic("lost-digits", "warning", message, node, span, None))
    return found._replace(diagnostics=tuple(told))


def unproved(found: Settled, poor: Sequence[Path], source: Source) -> Settled:
    """The same where nothing is known but what bounds tell."""
    tensors: dict[Path, list[Path]] = {}
    for path in poor:
        tensors.setdefault(source.whole(path), []).append(path)
    told = []
    for paths in tensors.values():
        path = min(paths, key=found.digits.__getitem__)
        node, span, *_ = source.place(path)
        label, at = called(path, len(paths), source)
        message = uncertain(label, found.digits[path], at)
        help = f"{install('python-flint')}, with which more is known"
        told.append(Diagnostic("lost-digits", "warning", message, node, span, help))
    return found._replace(diagnostics=tuple(told))
