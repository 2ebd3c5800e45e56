"""Numbers with too few right digits: evaluated again in balls, corrected where that is safe, and reported.

Inputs and literals can be taken as the doubles they were read as, or as the decimals they were typed as.  A
number is corrected only if both give the same digits; otherwise it is unknown which was meant.  Numbers of
a tensor are treated one by one, and those that lost their digits in the same way share a warning.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from exprgrad.errors import command_or_python, install_command
from exprgrad.explain.checking.differences import guess_both_sides
from exprgrad.explain.digits.judgements import (
    FULL,
    Judgement,
    have_same_digits,
    is_nearest,
    is_tight,
    judge_number,
    proven_digits,
    round_ball,
)
from exprgrad.explain.digits.truths import MOST_EXPLAINED, Blame, Truths, element_path
from exprgrad.explain.kinks_met import nonsmooth_nodes
from exprgrad.explain.limits import SHARED
from exprgrad.explain.places import (
    element_places,
    first_place,
    format_tensor_share,
    join_words,
    number_in_place,
)
from exprgrad.explain.sides.kinks import OneSided
from exprgrad.graph.graph import MOST_ELEMENTS, Shape, collect_by_key, shape_size, unravel_position
from exprgrad.run.balls.balls import (
    Ball,
    decimal_bounds,
    exact_ball,
    has_balls,
    is_infinite,
    rough_text,
    working_precision,
)
from exprgrad.run.evaluation import (
    DOUBLE_DIGITS,
    Diagnostic,
    Path,
    Settled,
    SweptRun,
    right_digits,
    smallest_count,
)

__all__ = ["check_sides", "confirm_poor_nodes", "settle_numbers"]

FEW_ULPS = 8
"""The most ulps between estimates from two sides of a derivative that is the same on both."""
MOST_NAMED = 4
"""The most numbers that a warning names."""
SHORT = 6
"""The digits of a number in a sentence, if they tell it from the other number there."""
BRIEF = 3
"""The digits of the ends between which a number lies."""
EXACT_ENOUGH = 20
"""The bits with which an enclosure's first six digits are known."""


# Tensors and numbers, and those of them that bounds do not cover.


def settle_numbers(
    found: Settled,
    by_bounds: Mapping[Path, Any],
    doubtful: Iterable[Path],
    least: int,
    source: Truths,
    unseen: Collection[str] = (),
) -> Settled:
    """Settle each number of an answer that may have fewer right digits than ``least``.

    So with ``doubtful`` numbers, which may differ for the decimals as typed.  The right digits
    ``by_bounds`` are all that is known without balls, for a formula over tensors that is too large
    to write out, or for too many numbers.  Of fields that are
    ``unseen`` only kinks and jumps are reported.
    """
    if not has_balls():  # there are no wheels of python-flint in a browser, say
        seen = {path: count for path, count in by_bounds.items() if path[0] not in unseen}
        help = f"{install_command('python-flint')}, with which more is known"
        return found._replace(diagnostics=tuple(warn_by_bounds(seen, least, source, help)))
    counts = {**by_bounds, **dict.fromkeys(doubtful, 0)}
    elements = sum(map(shape_size, source.run.graph.shapes))
    if elements > MOST_ELEMENTS:
        help = (
            f"true numbers are computed for up to {MOST_ELEMENTS:,} elements over all nodes, and this "
            f"formula has {elements:,}: try fewer rows, or fewer columns"
        )
        return found._replace(diagnostics=tuple(warn_by_bounds(counts, least, source, help)))
    places = {
        element_path(path, place): (path, place)
        for path, count in counts.items()
        for place in element_places(count)
        if number_in_place(count, place) < least
    }
    if not source.is_affordable([*places]):
        choice = command_or_python("--wrt or --of", "wrt=['a', 'b'] or of=['y']")
        help = f"the truth about {len(places):,} numbers would take too long: ask for fewer, by {choice}"
        return found._replace(diagnostics=tuple(warn_by_bounds(counts, least, source, help)))
    source.seek([*places])
    values = {
        number: number_in_place(found.values[path], place)
        for number, (path, place) in places.items()
    }
    digits = {
        number: int(number_in_place(counts[path], place))
        for number, (path, place) in places.items()
    }
    numbers = guard_numbers(Settled(values, digits, {}), least, source, unseen)
    return merge_settled_numbers(found, counts, least, places, numbers)


def merge_settled_numbers(
    found: Settled,
    counts: Mapping[Path, Any],
    least: int,
    places: Mapping[Path, tuple[Path, Shape]],
    numbers: Settled,
) -> Settled:
    """Merge numbers that were settled one by one back into their tensors, at their ``places``."""
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
        fine = first_place(counts[path] >= least)
        fewest = [int(counts[path][counts[path] >= least].min())] if fine else []
        found.digits[path] = min([*of_poor, *fewest])
    corrected = {path: (values[path], value) for path, value in fresh.items()}
    return numbers._replace(values={**values, **fresh}, digits=found.digits, corrected=corrected)


def warn_by_bounds(
    counts: Mapping[Path, Any], least: int, source: Truths, help: str
) -> Iterator[Diagnostic]:
    """Warn of numbers for which only error bounds are known; the first warning has help."""
    for path, number in counts.items():
        poor = first_place(number < least)
        if poor is None:
            continue
        node, first = source.suspect(path, least)
        label, digits = source.label(path), smallest_count(number)
        message = (
            f"may have {right_digits_text(digits)}{' only' * (digits > 0)}, as far as bounds tell"
        )
        if poor.place:
            label = f"{format_tensor_share(poor.many, poor.of)} {label}"
            message += f", the worst at {[*unravel_position(int(number.argmin()), number.shape)]}"
        why = [f"{first} is the first to lose them"] if first else []
        span, told = source.run.graph.span(node), "; ".join(part for part in (*why, help) if part)
        yield Diagnostic("lost-digits", "warning", f"{label} {message}", node, span, told or None)
        help = ""


# One by one.


def guard_numbers(
    found: Settled, least: int, source: Truths, unseen: Collection[str] = ()
) -> Settled:
    """Correct, or warn of, numbers that may have fewer right digits than ``least``."""
    poor: list[PoorNumber] = []
    for path, value in [*found.values.items()]:
        true, typed = source.truth(path)
        plain = judge_number(value, true, source.bits)
        answer = choose_answer(plain, typed, least, source.bits)
        if path[0] != "value" and answer.verdict != "undefined" and not source.has_value(path):
            # It is derived from no number, and says so.
            answer = plain._replace(verdict="nearest", digits=0)
        is_corrected = answer.value is not value
        is_fine = (
            answer.verdict != "ambiguous" and not is_corrected and has_right_digits(answer, least)
        )
        if is_fine and not math.isnan(value) and meets_typed_kink(source, path):
            answer = answer._replace(verdict="ambiguous")
        if (
            path[0] in unseen
        ):  # what is not shown matters at a kink or a jump, or where there may be one
            is_bent = answer.verdict == "ambiguous" and meets_typed_kink(source)
            if not is_bent and (answer.verdict != "undecided" or is_fine):
                continue
        found.digits[path] = answer.digits
        if is_corrected:
            found.corrected[path] = value, answer.value
            found.values[path] = answer.value
        if not is_fine or answer.verdict == "ambiguous":
            poor.append(
                PoorNumber(path, plain, answer, typed, is_fine or has_right_digits(plain, least))
            )
    groups = group_by_cause(poor, source)
    warnings = [warn_of_group(group, source) for group in groups]
    blames = [[one.blame for one in group if one.answer.verdict == "nearest"] for group in groups]
    causes = [{node for one in some if one for node in (one.node, *one.through)} for some in blames]
    return found._replace(diagnostics=tuple(warnings), causes=tuple(map(frozenset, causes)))


def choose_answer(plain: Judgement, typed: Ball, least: int, bits: int) -> Judgement:
    """Choose the number to print where ``least`` digits must be right, given the true number as typed.

    That is the number itself, or the double nearest to the true number if both readings agree on it.
    """
    value, true = plain.value, plain.true
    is_whole = plain.verdict == "nearest" and plain.word in ("exact", "pole", "zero")
    plain = plain._replace(digits=DOUBLE_DIGITS if is_whole else min(plain.digits, DOUBLE_DIGITS))
    with working_precision(bits):
        if plain.verdict == "undefined":
            is_typed = typed.is_finite() and is_tight(typed, bits)
            return plain._replace(verdict="ambiguous") if is_typed else plain
        if has_right_digits(plain, least):
            # Where the decimals' result is unknown, it is assumed to agree.
            is_known = typed.is_finite() or typed.is_nan() or is_infinite(typed)
            shared = have_same_digits(true, typed, min(least, SHARED), bits)
            is_other = is_known and not shared and not is_nearest(value, typed)
            is_read_as_is = plain.verdict == "undecided" and math.isnan(value)
            return plain._replace(verdict="ambiguous") if is_other and not is_read_as_is else plain
        if plain.verdict == "undecided" or (plain.verdict == "zero" and math.isfinite(value)):
            return plain._replace(digits=0)
        answer = round_ball(true)
        if not (have_same_digits(true, typed, least, bits) or is_nearest(answer, typed)):
            return plain._replace(verdict="ambiguous")
        return Judgement(answer, true, "nearest", min(proven_digits(answer, true), DOUBLE_DIGITS))


def has_right_digits(number: Judgement, least: int) -> bool:
    """Whether a number is right in all digits shown; a number that is not finite shows none."""
    shows_none = {
        "nearest": True,
        "undefined": not math.isfinite(number.value),
        "undecided": math.isnan(number.value),
    }
    return number.digits >= least or shows_none.get(number.verdict, False)


def meets_typed_kink(source: Truths, path: Path = ()) -> bool:
    """Whether the typed decimals meet a kink or a jump that the doubles miss and that matters.

    The value at a kink is the same on both sides.
    """
    turn = source.turn
    return turn is not None and turn.counts and not (turn.is_kink and path[:1] == ("value",))


class PoorNumber(NamedTuple):
    """A number that has lost its digits, or differs for the decimals as typed.

    ``plain``     the sweep's number beside the true one for the doubles read
    ``answer``    the number printed
    ``typed``     the true number for the decimals as typed
    ``is_right``  whether the sweep's number is right for the doubles
    ``label``     its label in messages; ``worst``: its place, if it speaks for several numbers
    ``blame``     where its digits are lost, and why
    """

    path: Path
    plain: Judgement
    answer: Judgement
    typed: Ball
    is_right: bool
    label: str = ""
    worst: str = ""
    blame: Blame | None = None

    @property
    def digits(self) -> int:
        """The number of right digits of the sweep's number."""
        return min(self.plain.digits, DOUBLE_DIGITS)

    @property
    def fate(self) -> tuple[str, bool]:
        """Its verdict, and whether it was right for the doubles."""
        return self.answer.verdict, self.is_right


def group_by_cause(poor: Iterable[PoorNumber], source: Truths) -> list[list[PoorNumber]]:
    """Numbers grouped by cause, so that each cause is reported once.

    Among a tensor's numbers with the same fate, the worst speaks for all.
    """
    tensors = collect_by_key(((source.whole(one.path), one.fate), one) for one in poor)
    groups: dict[tuple[tuple[str, bool], Blame | None], list[PoorNumber]] = {}
    explained = 0
    for (tensor, fate), alike in tensors.items():
        one = min(alike, key=lambda one: one.plain.digits)
        verdict, blame, cause = one.answer.verdict, source.place(one.path), None
        if verdict not in ("undecided", "undefined") and explained < MOST_EXPLAINED:
            if verdict != "ambiguous" or (fate, None) not in groups:
                explained += 1
                blame = source.blame(one.path, one.plain)
            if verdict != "ambiguous":
                nodes, help = (blame.node, *blame.through), blame.help or object()
                known = [met for other, met in groups if other == fate and met is not None]
                same = (met for met in known if met.node in nodes or met.help == help)
                cause = next(same, blame)
        label, worst = source.label(one.path), ""
        if alike[1:]:
            label = (
                f"{format_tensor_share(len(alike), source.count(tensor))} {source.label(tensor)}"
            )
            worst = one.path[-1]
        named = one._replace(label=label, worst=worst, blame=blame)
        groups.setdefault((fate, cause), []).append(named)
    return list(groups.values())


def check_sides(
    found: Settled,
    answers: Mapping[str, tuple[float, float]],
    sides: Sequence[OneSided],
    least: int,
    source: Truths,
) -> Settled:
    """Check, and correct, derivatives that were found from one side.

    ``answers`` are the numbers of the sweep and the ``sides``.  Where there is truly no kink balls give
    the derivative; else differences in balls do, on both sides.
    """
    if not has_balls():
        return found
    run, told = source.run, list(found.diagnostics)
    met = nonsmooth_nodes(run)
    is_smooth = source.rounded_kinks(met).issuperset(met)
    for side in sides:
        path = ("gradient", side.input)
        swept, value = answers[side.input]
        true, typed = source.truth(path)
        is_known = true.is_finite() and is_tight(true, source.bits)
        if is_smooth and is_known and have_same_digits(true, typed, least, source.bits):
            answer = round_ball(true)
        else:
            left, right = (guess.slope for guess in guess_both_sides(run, side.input))
            if left is None or right is None or not abs(left - right) <= FEW_ULPS * math.ulp(left):
                continue
            answer = left
        digits = right_digits(value, abs(value - answer) + math.ulp(answer))
        found.digits[path] = digits
        if digits >= least:
            continue
        found.digits[path] = right_digits(answer, math.ulp(answer))
        found.values[path], found.corrected[path] = answer, (swept, answer)
        was, now = format_distinct_pair(value, answer)
        has = f"{source.label(path)} has {right_digits_text(digits)}"
        message = f"{has} in doubles: {was} is corrected to {now}"
        node, span, *_ = source.place(path)
        told.append(Diagnostic("lost-digits", "warning", message, node, span, None))
    return found._replace(diagnostics=tuple(told))


# Nodes.


def confirm_poor_nodes(
    run: SweptRun, source: Truths, data: Iterable[int], grads: Iterable[int], least: int
) -> tuple[set[int], set[int]]:
    """Select the nodes whose data, and those whose grad, have fewer right digits than ``least``.

    There are none without balls.
    """
    if not has_balls():
        return set(), set()
    found, over, mine = source.doubles, source.over, run.adjoints

    def is_poor(value: float, true: Ball | None) -> bool:
        """Whether a number is poor; if that is unknown, it is not."""
        if true is None or not math.isfinite(value):
            return False
        plain = judge_number(value, true, found.bits)
        if plain.verdict == "undecided" and true.is_finite():  # all that it may be is far away
            return bool(
                abs(exact_ball(value) - true).abs_lower() * exact_ball(10) ** least
                > true.abs_upper()
            )
        return plain.verdict == "zero" or (plain.verdict == "counted" and plain.digits < least)

    def numbers(node: int, values: Sequence[Any], *, own: bool) -> Iterator[tuple[float, int]]:
        """A node's numbers, each with the node that has the truth; its ``own``: not one moved there."""
        for place in element_places(values[node]):
            number = over.node(node, place)
            if not (own and over.origins and over.origins[number] != (node, place)):
                yield number_in_place(values[node], place), number

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


def warn_of_group(group: Sequence[PoorNumber], source: Truths) -> Diagnostic:
    """Make the warning about numbers that share a fate and a cause."""
    first = group[0]
    assert first.blame is not None
    node, span, help, *_ = first.blame
    verdict = first.answer.verdict
    if verdict == "nearest":
        message = f"{describe_right_digits(group)}: {list_corrections(group)}{explain_zeros(group)}"
    elif verdict == "ambiguous":
        depends = f"{list_labels(group)} {inflect_verb(group, 'depends', 'depend')}"
        told = depends if first.is_right else f"{describe_right_digits(group)}: the answer depends"
        message, help = explain_decimals(group, source, told)
    elif verdict == "zero":
        bound = format_bound(first.plain.true)
        message = (
            f"{describe_right_digits(group)}: the true number is zero to within {bound}, not proved"
        )
    elif verdict == "undefined":
        has = inflect_verb(group, "has", "have")
        message = f"{list_labels(group)} {has} no true value: undefined here"
    else:
        message = (
            f"no digit of {list_labels(group)} is known to be right: "
            f"no enclosure in {source.bits:,} bits is tight enough to tell"
        )
    return Diagnostic("lost-digits", "warning", message, node, span, help)


def list_labels(group: Sequence[PoorNumber]) -> str:
    """List the labels of some numbers, as in a sentence."""
    labels = [one.label for one in group]
    if len(labels) > MOST_NAMED:
        labels[MOST_NAMED - 1 :] = [f"{len(labels) - MOST_NAMED + 1:,} more"]
    return join_words(labels)


def inflect_verb(group: Sequence[object], singular: str, plural: str) -> str:
    """Choose a verb for one number or for several."""
    return singular if len(group) == 1 and not getattr(group[0], "worst", "") else plural


def describe_right_digits(group: Sequence[PoorNumber]) -> str:
    """Say how many digits of some numbers are right; numbers with the same count are named together."""
    singles = [one for one in group if not one.worst]
    told = [describe_digits_of_each(singles)] if singles else []
    told += [
        f"{one.label} lose digits in doubles, the worst, at {one.worst}, "
        f"has {right_digits_text(one.digits)}"
        for one in group
        if one.worst
    ]
    if len(told) > MOST_NAMED:
        told[MOST_NAMED - 1 :] = [f"{len(told) - MOST_NAMED + 1:,} more tensors lose digits"]
    return "; ".join(told)


def describe_digits_of_each(group: Sequence[PoorNumber]) -> str:
    """Say how many digits are right for numbers that each speak for themselves."""
    by_count = collect_by_key((one.digits, one) for one in group)
    if len(by_count) > MOST_NAMED:
        fewest, highest = min(by_count), max(by_count)
        return f"{list_labels(group)} have {fewest or 'no'} to {highest} right digits in doubles"
    (digits, some), *others = by_count.items()
    told = [
        f"{list_labels(some)} {inflect_verb(some, 'has', 'have')} {right_digits_text(digits)} in doubles"
    ]
    return ", ".join(
        [*told, *(f"{list_labels(some)} {digits or 'none'}" for digits, some in others)]
    )


def right_digits_text(digits: int) -> str:
    """Write the number of right digits, in words."""
    return f"{digits or 'no'} right digit{'s' * (digits > 1)}"


def list_corrections(group: Sequence[PoorNumber]) -> str:
    """List what the numbers were, and what is printed instead."""
    pairs = list(
        dict.fromkeys(format_distinct_pair(one.plain.value, one.answer.value) for one in group)
    )
    if len(pairs) > MOST_NAMED:
        return "all are corrected"
    (was, now), *others = pairs
    return ", ".join([f"{was} is corrected to {now}", *(f"{was} to {now}" for was, now in others)])


def explain_zeros(group: Sequence[PoorNumber]) -> str:
    """Explain a number that is corrected to 0: none of its digits are right."""
    near = [one for one in group if not one.answer.value and not one.plain.true.is_zero()]
    if not near:
        return ""
    whose = "" if len(near) == len(group) else f" of {near[0].label}"
    numbers = f"number{whose} is" if whose or not group[1:] else "numbers are"
    if bool(near[0].plain.true != 0):
        return (
            f"; the true {numbers} below the doubles, about {rough_text(near[0].plain.true, BRIEF)}"
        )
    return f"; the true {numbers} zero to within {format_bound(near[0].plain.true)}, not proved"


def format_distinct_pair(value: float, other: float) -> tuple[str, str]:
    """Write two numbers with enough digits to tell them apart, at least six."""
    for digits in range(SHORT, FULL + 1):
        one, two = (f"{number + 0.0:.{digits}g}" for number in (value, other))
        if one != two:
            break
    return one, two


def explain_decimals(
    group: Sequence[PoorNumber], source: Truths, what_depends: str
) -> tuple[str, str]:
    """Explain that decimals and their nearest doubles give different answers; return message and help."""
    decimals, turn = source.decimals, source.turn
    some = join_words(decimals) if 0 < len(decimals) <= MOST_NAMED else "decimals"
    depends = f"{what_depends} on how {some} {inflect_verb(decimals, 'is', 'are')} rounded"
    shown = group[:MOST_NAMED]
    alone = len(shown) == 1
    called = [
        "it" if alone else f"{'the worst of ' if one.worst else ''}{one.label}" for one in shown
    ]
    pairs = zip(called, shown, strict=True)
    as_doubles = [f"{name} is {format_ball(one.plain.true)}" for name, one in pairs]
    as_typed = join_words([format_ball(one.typed) for one in shown])
    help = f"read as doubles, {join_words(as_doubles)}; as typed, {as_typed}"
    where = f", where {turn.words}" if turn else ""
    return depends, f"{help}{where}; the answer stays as computed"


def format_ball(true: Ball) -> str:
    """Write a true number in 6 digits, as far as it is known."""
    if true.is_nan():
        return "undefined"
    if true.is_finite() and true.rel_accuracy_bits() >= EXACT_ENOUGH:
        return rough_text(true, SHORT)
    if not bool(true != 0):
        return f"0 to within {format_bound(true)}" if bool(true.abs_upper() < 1) else "undecided"
    ends = decimal_bounds(true)
    if ends is None:
        return "undecided"
    low, high = (f"{float(end):.{BRIEF}g}" for end in ends)
    return f"about {low} to {high}" if low != high else low


def format_bound(true: Ball) -> str:
    """Write an upper bound on the magnitude of a value that may be zero."""
    _, high = decimal_bounds(abs(true), 3) or ("", "inf")
    exponent = high.partition("e")[2]
    return f"1e{int(exponent) + 1}" if exponent else high
