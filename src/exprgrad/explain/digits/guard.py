"""Numbers with too few right digits: evaluated again in balls, corrected where that is safe, and reported.

Inputs and literals can be taken as the doubles they were read as, or as the decimals they were typed as.  A
number is corrected only if both give the same digits; otherwise nobody can say which was meant.  Numbers of
a tensor are treated one by one, and those that lost their digits in the same way share a warning.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from exprgrad.errors import advice, install
from exprgrad.explain.checking.differences import guesses
from exprgrad.explain.digits.trusted import (
    FULL,
    NEAREST,
    Trusted,
    enclosed,
    is_nearest,
    is_tight,
    judged,
    right_digits,
)
from exprgrad.explain.digits.truths import MOST_EXPLAINED, Place, Source, Swept
from exprgrad.explain.kinks_met import flagged
from exprgrad.explain.limits import SHARED
from exprgrad.explain.places import at, every, places_in, series, where
from exprgrad.explain.sides.kinks import OneSided
from exprgrad.graph.graph import MOST_ELEMENTS, Program, Shape, collect_by_key, place_of, size
from exprgrad.run.balls.balls import (
    Ball,
    ball,
    bounds,
    has_balls,
    is_infinite,
    is_known,
    rough,
    working,
)
from exprgrad.run.evaluation import Diagnostic, Path, Run, Settled
from exprgrad.run.numbers.bounds import DOUBLE_DIGITS
from exprgrad.run.numbers.bounds import right_digits as bounded_digits

__all__ = ["checked_sides", "confirmed", "nearest_double", "settled", "true_numbers"]

FEW_ULPS = 8
"""By how much estimates of a derivative from the two sides may differ that is the same on both."""
DECIMALS = ("typed", "hanging")
"""What becomes of numbers that are others for the decimals as typed."""
MOST_NAMED = 4
"""How many numbers of one warning are called by their names."""
SHORT = 6
"""The digits of a number in a sentence, if they tell it from another that is beside it."""
BRIEF = 3
"""The digits of the ends between which a number lies."""
EXACT_ENOUGH = 20
"""With so many bits, the first six digits of an enclosure are known."""


# Tensors and numbers, and those of them that bounds do not cover.


def settled(
    found: Settled,
    by_bounds: Mapping[Path, Any],
    hanging: Iterable[Path],
    least: int,
    source: Source,
    unseen: Collection[str] = (),
) -> Settled:
    """What becomes of tensors and numbers: each number with fewer right digits than ``least`` by itself.

    So it does of numbers that may be others for the decimals as typed, which are ``hanging``.  How many
    digits are right ``by_bounds`` is all that is told of a formula over tensors that is too large to write
    out, or if there are too many numbers to work out the truth about.  Of fields that are ``unseen`` kinks
    and jumps are told.
    """
    # There are no wheels of python-flint in a browser, say.
    hidden = () if has_balls() else unseen
    counts = {path: count for path, count in by_bounds.items() if path[0] not in hidden}
    counts |= dict.fromkeys(hanging if has_balls() else (), 0)
    elements = sum(map(size, source.run.graph.shapes))
    if elements > MOST_ELEMENTS:
        help = (
            f"the truth is worked out for up to {MOST_ELEMENTS:,} elements over all nodes, and this "
            f"formula has {elements:,}: try fewer rows, or fewer columns"
        )
        return found._replace(diagnostics=tuple(told_by_bounds(counts, least, source, help)))
    places = {
        (*path, str([*place])) if place else path: (path, place)
        for path, count in counts.items()
        for place in every(count < least)
    }
    if not source.is_affordable([*places]):
        choice = advice("--wrt or --of", "wrt=['a', 'b'] or of=['y']")
        help = f"the truth about {len(places):,} numbers would take too long: ask for fewer, by {choice}"
        return found._replace(diagnostics=tuple(told_by_bounds(counts, least, source, help)))
    one_by_one = Settled(
        {number: at(found.values[path], place) for number, (path, place) in places.items()},
        {number: int(at(counts[path], place)) for number, (path, place) in places.items()},
        {},
    )
    source.seek([*places])
    # There are no wheels of python-flint in a browser, say.
    settle = partial(guarded, unseen=unseen) if has_balls() else unproved
    return gathered(found, counts, least, places, settle(one_by_one, least, source))


def gathered(
    found: Settled,
    counts: Mapping[Path, Any],
    least: int,
    places: Mapping[Path, tuple[Path, Shape]],
    numbers: Settled,
) -> Settled:
    """Tensors and numbers in which some numbers, in their ``places``, were settled by themselves."""
    digits: dict[Path, list[int]] = {}
    fresh: dict[Path, Any] = {}
    values: Mapping[Path, Any] = found.values
    for number, (path, place) in places.items():
        digits.setdefault(path, []).append(numbers.digits[number])
        if number in numbers.corrected and place:
            fresh.setdefault(path, values[path].copy())[place] = numbers.values[number]
        elif number in numbers.corrected:
            fresh[path] = numbers.values[number]
    for path, of_poor in digits.items():
        fine = where(counts[path] >= least)
        fewest = [int(counts[path][counts[path] >= least].min())] if fine else []
        found.digits[path] = min([*of_poor, *fewest])
    corrected = {path: (values[path], value) for path, value in fresh.items()}
    return numbers._replace(values={**values, **fresh}, digits=found.digits, corrected=corrected)


def told_by_bounds(
    counts: Mapping[Path, Any], least: int, source: Source, help: str
) -> Iterator[Diagnostic]:
    """Warnings about numbers for which only error bounds are known; the first has help."""
    for path, number in counts.items():
        poor = where(number < least)
        if poor is None:
            continue
        node, first = source.suspect(path, least)
        label = source.label(path)
        worst = ""
        if poor.place:
            label = f"{part(poor.many, poor.of)} {label}"
            worst = str([*place_of(int(number.argmin()), number.shape)])
        why = [f"{first} is the first to lose them"] if first else []
        message = uncertain(label, int(number.min()), worst)
        told = "; ".join([*why, help]) or None
        yield Diagnostic("lost-digits", "warning", message, node, source.run.graph.span(node), told)
        help = ""


# One by one.


class Decided(NamedTuple):
    """A number compared with the truth.

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
    """The decision on a number that needs ``least`` right digits, given the truth for both readings."""
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
            # Where nobody knows what the decimals give, they are assumed to agree.
            is_told = typed.is_finite() or typed.is_nan() or is_infinite(typed)
            shared = agree(true, typed, min(least, SHARED), bits) or is_nearest(value, typed)
            return Decided(value, digits, "hanging" if is_told and not shared else "right")
        if plain.verdict == "undecided" and math.isnan(value):
            return Decided(value, 0, "right")  # it shows no digits, and what made it nan is told
        if plain.verdict == "undecided" or (plain.verdict == "zero" and math.isfinite(value)):
            return Decided(value, 0, plain.verdict)
        answer = nearest_double(true)
        if not (agree(true, typed, least, bits) or is_nearest(answer, typed)):
            return Decided(value, digits, "typed")
        return Decided(answer, min(right_digits(answer, true), DOUBLE_DIGITS), "corrected")


def agree(one: Ball, other: Ball, digits: int, bits: int) -> bool:
    """Whether two true numbers agree to so many digits."""
    if is_infinite(one) or is_infinite(other):
        return bool(one == other)
    if not bool(one != 0):
        return not bool(other.abs_lower() > 0)
    is_known = other.is_finite() and is_tight(other, bits)
    return is_known and bool(abs(one - other) * ball(10) ** digits <= abs(one))


def nearest_double(true: Ball) -> float:
    """The double nearest to every number in a tight ball."""
    value = float(true.mid())
    around = (value, math.nextafter(value, math.inf), math.nextafter(value, -math.inf))
    return next((x for x in around if is_nearest(x, true)), value) + 0.0


def true_numbers(
    program: Program, inputs: Mapping[str, float], typed: Mapping[str, str] | None = None
) -> tuple[list[float], list[float]]:
    """The doubles nearest to a program's outputs, and what their balls leave open of each.

    Inputs and literals are as ``enclose`` says of ``typed``.  What has no value, or none that is known, is
    nan.
    """
    found = enclosed(program.graph, inputs, None, typed=typed, outputs=program.outputs)
    true = [found.values[output] for output in program.outputs]
    numbers = [nearest_double(one) if is_known(one) else math.nan for one in true]
    open = [0.0 if is_tight(one, found.bits) else float(one.rad()) for one in true]
    return numbers, open


class Wrong(NamedTuple):
    """A number that is not right: where it stands, what doubles make of it, and what becomes of it."""

    path: Path
    plain: Trusted
    found: Decided


def guarded(found: Settled, least: int, source: Source, unseen: Collection[str] = ()) -> Settled:
    """The decisions on numbers that may have fewer right digits than ``least``."""
    wrong: dict[tuple[Path, str], list[Wrong]] = {}
    for path, value in [*found.values.items()]:
        true, typed = source.truth(path)
        one = decided(value, least, true, typed, source.bits)
        if path[0] != "value" and one.state != "undefined" and not source.has_value(path):
            one = Decided(value, 0, "right")  # it is derived from no number, and that is told
        turn = source.turn if one.state == "right" and not math.isnan(value) else None
        if turn is not None and turn.counts and not (turn.is_kink and path[0] == "value"):
            one = one._replace(state="hanging")
        turned = one.state in DECIMALS and source.turn is not None and source.turn.counts
        if path[0] in unseen and not (turned or one.state == "undecided"):
            continue  # what is not shown matters at a kink or a jump, or where there may be one
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
        frozenset().union(
            *(
                {one.place.node, *one.place.through}
                for one in group
                if one.found.state == "corrected"
            )
        )
        for group in groups
    ]
    return found._replace(diagnostics=tuple(told), causes=tuple(causes))


def losers(wrong: Mapping[tuple[Path, str], Sequence[Wrong]], source: Source) -> list[list[Loser]]:
    """Numbers that lost digits, grouped by cause, so that each cause is reported once.

    Among a tensor's numbers with the same fate, the worst speaks for all.
    """
    alike: dict[tuple[str, Place | None], list[Loser]] = {}
    explained = 0
    for (_, state), listed in wrong.items():
        path, plain, one = min(listed, key=lambda lost: lost.plain.digits)
        place, cause = source.place(path), None
        if state not in ("undecided", "undefined") and explained < MOST_EXPLAINED:
            if state not in DECIMALS or (state, None) not in alike:
                explained += 1
                place = source.blamed(path, plain, source.truth(path)[0])
            if state not in DECIMALS:
                nodes, help = (place.node, *place.through), place.help or object()
                known = (met for told, met in alike if told == state and met is not None)
                cause = next((met for met in known if met.node in nodes or met.help == help), place)
        label, at = called(path, len(listed), source)
        digits = min(plain.digits, DOUBLE_DIGITS)
        loser = Loser(label, plain.value, digits, one, place, *source.truth(path), at)
        alike.setdefault((state, cause), []).append(loser)
    return list(alike.values())


def called(path: Path, many: int, source: Source) -> tuple[str, str]:
    """The name of a number; if it speaks for ``many`` of a tensor, with their count and its place."""
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


def unproved(found: Settled, least: int, source: Source) -> Settled:
    """The same where only error bounds are known."""
    tensors = collect_by_key((source.whole(path), path) for path in found.values)
    told = []
    for paths in tensors.values():
        path = min(paths, key=found.digits.__getitem__)
        node, span, *_ = source.place(path)
        label, at = called(path, len(paths), source)
        message = uncertain(label, found.digits[path], at)
        help = f"{install('python-flint')}, with which more is known"
        told.append(Diagnostic("lost-digits", "warning", message, node, span, help))
    return found._replace(diagnostics=tuple(told))


# Nodes.


def confirmed(
    run: Run, source: Swept, data: Iterable[int], grads: Iterable[int], least: int
) -> tuple[set[int], set[int]]:
    """Those of some nodes whose data or grad has fewer right digits than ``least``."""
    found, over, mine = source.doubles, source.over, run.adjoints

    def is_poor(value: float, true: Ball | None) -> bool:
        """Whether a number is poor; if nobody can tell, it is not."""
        if true is None or not math.isfinite(value):
            return False
        plain = judged(value, true, found.bits)
        if plain.verdict == "zero":
            return value != 0
        if plain.verdict == "undecided" and true.is_finite():  # all that it may be is far away
            return bool(abs(ball(value) - true).abs_lower() * ball(10) ** least > true.abs_upper())
        return plain.verdict in ("right", "wrong") and plain.digits < least

    def numbers(node: int, values: Sequence[Any], *, own: bool) -> Iterator[tuple[float, int]]:
        """A node's numbers, each with the node that has the truth; its ``own``: not one moved there."""
        for place in places_in(values[node]):
            number = over.node(node, place)
            if not (own and over.origins and over.origins[number] != (node, place)):
                yield at(values[node], place), number

    poor = {
        node
        for node in data
        if any(is_poor(x, found.values[n]) for x, n in numbers(node, run.values, own=False))
    }
    if found.swept is None or mine is None:
        return poor, set()
    swept = found.swept.grads
    return poor, {
        node
        for node in grads
        if any(is_poor(x, swept[n]) for x, n in numbers(node, mine.grads, own=True))
    }


# In words.


class Loser(NamedTuple):
    """A number that has lost digits: see ``Decided``.

    ``value``   the sweep's number, with so many right ``digits``
    ``found``   what became of it
    ``place``   where its digits are lost, and why
    ``true``, ``typed``  the truth for the doubles that were read, and for the decimals as typed
    ``worst``   where it stands, if it speaks for several numbers of a tensor
    """

    label: str
    value: float
    digits: int
    found: Decided
    place: Place
    true: Ball
    typed: Ball
    worst: str


def warning(group: Sequence[Loser], source: Source) -> Diagnostic:
    """The warning about numbers that share a state and a place, given a source of the truth."""
    first = group[0]
    node, span, help, _ = first.place
    tell: Callable[[], tuple[str, str | None]] = {
        "corrected": lambda: (
            f"{counts(group)}: {corrections(group)}{of_zeros(group)}",
            help,
        ),
        "typed": lambda: of_decimals(group, source, f"{counts(group)}: the answer hangs"),
        "hanging": lambda: of_decimals(
            group, source, f"{names(group)} {verb(group, 'hangs', 'hang')}"
        ),
        "zero": lambda: (
            f"{counts(group)}: the true number is zero to within {size_bound(first.true)}, not proved",
            help,
        ),
        "undefined": lambda: (
            f"{names(group)} {verb(group, 'has', 'have')} no true value: undefined here",
            help,
        ),
        "undecided": lambda: (
            f"no digit of {names(group)} is known to be right: "
            f"no enclosure in {source.bits:,} bits is tight enough to tell",
            help,
        ),
    }[first.found.state]
    message, help = tell()
    return Diagnostic("lost-digits", "warning", message, node, span, help)


def names(group: Sequence[Loser]) -> str:
    """The labels of some numbers, as a list in a sentence."""
    labels = [one.label for one in group]
    if len(labels) > MOST_NAMED:
        labels[MOST_NAMED - 1 :] = [f"{len(labels) - MOST_NAMED + 1:,} more"]
    return series(labels)


def verb(group: Sequence[object], singular: str, plural: str) -> str:
    """A verb for one number or for several."""
    return singular if len(group) == 1 and not getattr(group[0], "worst", "") else plural


def part(many: int, of: int) -> str:
    """How many of a tensor's numbers are meant: ``5 of 6 numbers of``."""
    return f"all {of:,} numbers of" if many == of else f"{many:,} of {of:,} numbers of"


def uncertain(label: str, digits: int, worst: str) -> str:
    """What error bounds alone say about a number, or a tensor's numbers and where the ``worst`` is."""
    told = f"{label} may have {digits_text(digits)}{' only' * (digits > 0)}, as far as bounds tell"
    return f"{told}, the worst at {worst}" if worst else told


def counts(group: Sequence[Loser]) -> str:
    """How many digits of some numbers are right; numbers with the same count are named together."""
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
    """The same for numbers that each speak for themselves."""
    by_count = collect_by_key((one.digits, one) for one in group)
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
    pairs = list(dict.fromkeys(apart(one.value, one.found.answer) for one in group))
    if len(pairs) > MOST_NAMED:
        return "all are corrected"
    (was, now), *others = pairs
    return ", ".join([f"{was} is corrected to {now}", *(f"{was} to {now}" for was, now in others)])


def of_zeros(group: Sequence[Loser]) -> str:
    """What a number is that is corrected to 0: none of its digits are right."""
    near = [one for one in group if not one.found.answer and not one.true.is_zero()]
    if not near:
        return ""
    whose = "" if len(near) == len(group) else f" of {near[0].label}"
    numbers = f"number{whose} is" if whose or not group[1:] else "numbers are"
    if bool(near[0].true != 0):
        return f"; the true {numbers} below the doubles, about {rough(near[0].true, BRIEF)}"
    return f"; the true {numbers} zero to within {size_bound(near[0].true)}, not proved"


def apart(value: float, other: float) -> tuple[str, str]:
    """Two numbers with enough digits to tell them apart, and at least six."""
    for digits in range(SHORT, FULL + 1):
        one, two = (f"{number + 0.0:.{digits}g}" for number in (value, other))
        if one != two:
            break
    return one, two


def of_decimals(group: Sequence[Loser], source: Source, what_hangs: str) -> tuple[str, str]:
    """That decimals and the doubles nearest to them give different answers: message and help."""
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
