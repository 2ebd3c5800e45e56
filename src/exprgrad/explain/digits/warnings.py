"""What people are told of numbers that have lost digits: one warning for all that lost them alike."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from exprgrad.explain.digits.truths import Source
from exprgrad.run.balls.balls import Ball
from exprgrad.run.balls.text import bounds, rough
from exprgrad.run.evaluation import Diagnostic
from exprgrad.source import Span

__all__ = ["Loser", "apart", "digits_text", "part", "uncertain", "warning"]

MOST_NAMED = 4
"""How many numbers of one warning are called by their names."""
SHORT = 6
"""The digits of a number in a sentence, if they tell it from another that is beside it."""
BRIEF = 3
"""The digits of the ends between which a number lies."""
FULL = 17
"""The digits that tell any double from its neighbours."""
EXACT_ENOUGH = 20
"""With so many bits, the first six digits of an enclosure are known."""


class Loser(NamedTuple):
    """A number that has lost digits: see ``Decided``.

    ``value``   the sweep's number, with so many right ``digits``; ``answer`` is what is printed
    ``state``   what became of it
    ``node``, ``span``, ``help``  where its digits are lost, and why
    ``true``, ``typed``  the truth for the doubles that were read, and for the decimals as typed
    ``worst``   where it stands, if it speaks for several numbers of a tensor
    ``through``  the nodes that its error came through
    """

    label: str
    value: float
    digits: int
    answer: float
    state: str
    node: int
    span: Span
    help: str | None
    true: Ball
    typed: Ball
    worst: str = ""
    through: tuple[int, ...] = ()


def warning(group: Sequence[Loser], source: Source) -> Diagnostic:
    """The warning about numbers that share state and place, of which a source knows the truth."""
    first = group[0]
    tell: Callable[[], tuple[str, str | None]] = {
        "corrected": lambda: (
            f"{counts(group)}: {corrections(group)}{of_zeros(group)}",
            first.help,
        ),
        "typed": lambda: of_decimals(group, source, f"{counts(group)}: the answer hangs"),
        "hanging": lambda: of_decimals(
            group, source, f"{names(group)} {verb(group, 'hangs', 'hang')}"
        ),
        "zero": lambda: (
            f"{counts(group)}: the true number is zero to within {size_bound(first.true)}, not proved",
            first.help,
        ),
        "undefined": lambda: (
            f"{names(group)} {verb(group, 'has', 'have')} no true value: undefined here",
            first.help,
        ),
        "undecided": lambda: (
            f"no digit of {names(group)} is known to be right: "
            f"no enclosure in {source.bits:,} bits is tight enough to tell",
            first.help,
        ),
    }[first.state]
    message, help = tell()
    return Diagnostic("lost-digits", "warning", message, first.node, first.span, help)


def names(group: Sequence[Loser]) -> str:
    """The labels of some numbers, as a list in a sentence."""
    labels = [one.label for one in group]
    if len(labels) > MOST_NAMED:
        labels[MOST_NAMED - 1 :] = [f"{len(labels) - MOST_NAMED + 1:,} more"]
    return series(labels)


def series(words: Sequence[str]) -> str:
    """Words as a list in a sentence."""
    *before, last = words
    return f"{', '.join(before)} and {last}" if before else last


def verb(group: Sequence[object], singular: str, plural: str) -> str:
    """A verb for one number or for several."""
    return singular if len(group) == 1 and not getattr(group[0], "worst", "") else plural


def part(many: int, of: int) -> str:
    """How many of a tensor's numbers: ``5 of 6 numbers of``."""
    return f"all {of:,} numbers of" if many == of else f"{many:,} of {of:,} numbers of"


def uncertain(label: str, digits: int, worst: str) -> str:
    """What bounds alone tell of a number, or of a tensor's numbers with the ``worst`` at some place."""
    told = f"{label} may have {digits_text(digits)}{' only' * (digits > 0)}, as far as bounds tell"
    return f"{told}, the worst at {worst}" if worst else told


def counts(group: Sequence[Loser]) -> str:
    """How many digits of some numbers are right: those with as many are named together."""
    singles = [one for one in group if not one.worst]
    told = [counts_of_singles(singles)] if singles else []
    told += [
        f"{one.label} lose digits in doubles, the worst, at {one.worst}, has {digits_text(one.digits)}"
        for one in group
        if one.worst
    ]
    if len(told) > MOST_NAMED:
        told[MOST_NAMED - 1 :] = [f"{len(told) - MOST_NAMED + 1:,} more tensors lose digits"]
    return "; ".join(told)


def counts_of_singles(group: Sequence[Loser]) -> str:
    """The same of numbers each of which speaks for itself."""
    by_count: dict[int, list[Loser]] = {}
    for one in group:
        by_count.setdefault(one.digits, []).append(one)
    if len(by_count) > MOST_NAMED:
        fewest, highest = min(by_count), max(by_count)
        return f"{names(group)} have {fewest or 'no'} to {highest} right digits in doubles"
    (digits, some), *others = by_count.items()
    told = [f"{names(some)} {verb(some, 'has', 'have')} {digits_text(digits)} in doubles"]
    return ", ".join([*told, *(f"{names(some)} {digits or 'none'}" for digits, some in others)])


def digits_text(digits: int) -> str:
    """How many digits are right, in words."""
    return f"{digits or 'no'} right digit{'s' * (digits > 1)}"


def corrections(group: Sequence[Loser]) -> str:
    """What the numbers were, and what is printed instead."""
    pairs = list(dict.fromkeys(apart(one.value, one.answer) for one in group))
    if len(pairs) > MOST_NAMED:
        return "all are corrected"
    (was, now), *others = pairs
    return ", ".join([f"{was} is corrected to {now}", *(f"{was} to {now}" for was, now in others)])


def of_zeros(group: Sequence[Loser]) -> str:
    """What a number is that is corrected to 0: none of its digits are right."""
    near = [one for one in group if not one.answer and not one.true.is_zero()]
    if not near:
        return ""
    whose = "" if len(near) == len(group) else f" of {near[0].label}"
    numbers = f"number{whose} is" if whose or not group[1:] else "numbers are"
    if bool(near[0].true != 0):
        return f"; the true {numbers} below the doubles, about {rough(near[0].true, BRIEF)}"
    return f"; the true {numbers} zero to within {size_bound(near[0].true)}, not proved"


def apart(value: float, other: float) -> tuple[str, str]:
    """Two numbers with as many digits as tell them apart, and six at least."""
    for digits in range(SHORT, FULL + 1):
        texts = text_of(value, digits), text_of(other, digits)
        if texts[0] != texts[1]:
            break
    return texts


def text_of(value: float, digits: int) -> str:
    """A number with so many significant digits."""
    return f"{value + 0.0:.{digits}g}"


def of_decimals(group: Sequence[Loser], source: Source, what_hangs: str) -> tuple[str, str]:
    """That decimals and the doubles nearest to them have other answers: message and help."""
    decimals, turn = source.decimals, source.turn
    some = series(decimals) if 0 < len(decimals) <= MOST_NAMED else "decimals"
    hang = f"{what_hangs} on how {some} {verb(decimals, 'is', 'are')} rounded"
    shown = group[:MOST_NAMED]
    alone = len(shown) == 1
    as_doubles = [f"{'it' if alone else single(one)} is {about(one.true)}" for one in shown]
    as_typed = series([about(one.typed) for one in shown])
    help = f"read as doubles, {series(as_doubles)}; as typed, {as_typed}"
    where = f", where {turn.words}" if turn else ""
    return hang, f"{help}{where}; the answer stays as computed"


def single(one: Loser) -> str:
    """A number by itself, even if it speaks for others."""
    return f"the worst of {one.label}" if one.worst else one.label


def about(true: Ball) -> str:
    """A true number in 6 digits, as far as it is known."""
    if true.is_nan():
        return "undefined"
    if true.is_finite() and true.rel_accuracy_bits() >= EXACT_ENOUGH:
        return rough(true, SHORT)
    if not bool(true != 0):
        return f"0 to within {size_bound(true)}" if bool(true.abs_upper() < 1) else "undecided"
    ends = bounds(true)
    if ends is None:
        return "undecided"
    low, high = (f"{float(end):.{BRIEF}g}" for end in ends)
    return f"about {low} to {high}" if low != high else low


def size_bound(true: Ball) -> str:
    """A bound on the size of what may be zero."""
    _, high = bounds(abs(true), 3) or ("", "inf")
    exponent = high.partition("e")[2]
    return f"1e{int(exponent) + 1}" if exponent else high
