"""The trust in a run's numbers: the answer of ``grad --trust`` and of ``run.trust()``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple

from exprgrad.explain.digits.judgements import FULL, Judgement, is_tight, judge_number
from exprgrad.explain.digits.losses import LostDigits
from exprgrad.explain.digits.truths import MOST_EXPLAINED, element_path, truths_of_run
from exprgrad.explain.kinks_met import nonsmooth_nodes
from exprgrad.explain.places import number_in_place
from exprgrad.explain.rewriting.rewrites import TriedFix
from exprgrad.graph.graph import Shape, dependent_flags, element_name, nest_entries
from exprgrad.language.write.infix import number_text
from exprgrad.run.balls.balls import decimal_bounds, middle_text, undefined_ball, working_precision
from exprgrad.run.evaluation import Path, SweptRun

if TYPE_CHECKING:
    from exprgrad.explain.sides.kinks import OneSided

__all__ = ["Trust", "TrustedNumber", "measure_trust"]

HALF = 8
"""A number with fewer right digits has lost more than half of them."""
MOST_LEFT = 13
"""The most digits left where digits count as lost: rounding alone takes two or three."""
LOSSLESS = ("exact", "rounded", "pole", "undefined")
"""Verdicts on numbers that lost nothing."""


class TrustedNumber(NamedTuple):
    """One number, and how far it can be trusted.

    ``digits``   the number of right decimal digits: its relative error is at most 10^-digits
    ``verdict``  ``exact``; ``rounded``: no double is nearer; ``right``: as ``digits`` say; ``wrong``: no
                 digit is right; ``overflow`` or ``underflow``: the true number is beyond the doubles,
                 or too near 0; ``zero``: it is 0, or as near to 0 as ``low`` and ``high``; ``pole``: it is
                 infinite; ``undefined_ball``: there is none; ``undecided``: nothing tighter was found;
                 ``corrected``: a one-sided rule, not the sweep, found the number at a kink
    ``true``     the true number with 17 digits; None where it is not known so well
    ``low``, ``high``  decimal numbers between which the true one is; None where that is unknown
    ``convention``     whether the true number is itself a convention, at a kink or a jump
    """

    value: float
    digits: int
    exact: bool
    verdict: str
    true: str | None
    low: str | None
    high: str | None
    convention: bool
    lost: LostDigits | None
    rewrite: TriedFix | None

    @property
    def is_poor(self) -> bool:
        """Whether more than half of a double's digits are wrong."""
        is_short = self.verdict in ("wrong", "right") and self.digits < HALF
        is_wrong_zero = self.verdict == "zero" and self.value != 0
        return self.verdict == "undecided" or is_short or is_wrong_zero


class Trust(NamedTuple):
    """A run's value and gradient, each with the trust in it; ``bits``: the precision used.

    A derivative with respect to a tensor is a nested list of its numbers.
    """

    value: TrustedNumber
    gradient: dict[str, Any]
    bits: int

    def numbers(self) -> Iterator[tuple[str, TrustedNumber]]:
        """Yield the value under an empty name, then each derivative under its name: ``x``, ``x[0, 1]``."""
        yield "", self.value
        todo: list[tuple[str, Shape, Any]] = [
            (name, (), found) for name, found in reversed(self.gradient.items())
        ]
        while todo:
            name, place, found = todo.pop()
            if isinstance(found, list):
                todo += reversed([(name, (*place, at), one) for at, one in enumerate(found)])
            else:
                yield element_name(name, place), found


def measure_trust(
    run: SweptRun, gradient: Mapping[str, Any], sides: Mapping[str, OneSided]
) -> Trust:
    """Measure how far a run's numbers can be trusted, where digits are lost, and what would keep them.

    ``sides`` are the derivatives from the sides, which may have corrected the ``gradient``.  Raises
    ``MissingExtraError`` without python-flint, ``RequestError`` for tensors too large to be written out.
    """
    source = truths_of_run(run)
    bits, has_value = source.bits, not source.truth(("value",))[0].is_nan()
    special = find_conventions(source.over.run, sides)
    corrected = {name for name, side in sides.items() if side.corrected}
    explained: list[Path] = []

    def measure(path: Path, value: float, name: str = "") -> TrustedNumber:
        if name in corrected:
            return TrustedNumber(value, 0, False, "corrected", None, None, None, True, None, None)
        true = source.truth(path)[0] if has_value or not name else undefined_ball()
        plain = judge_number(value, true, bits)
        found = describe_number(plain, bits)._replace(convention=name in special)
        is_zero = plain.word == "zero" and value == 0
        if plain.word in LOSSLESS or plain.digits > MOST_LEFT or is_zero:
            return found
        explained.append(path)
        if len(explained) > MOST_EXPLAINED:
            return found
        blame = source.blame(path, plain)
        # An undecided ball meets any other.
        better = None if plain.verdict == "undecided" else blame.better
        return found._replace(lost=blame.lost, rewrite=better)

    value = measure(("value",), run.value)
    slopes = {}
    for name in gradient:
        shape = run.graph.shape(run.graph.inputs[name])
        entries = [
            measure(
                element_path(("gradient", name), place),
                number_in_place(gradient[name], place),
                element_name(name, place),
            )
            for place in product(*map(range, shape))
        ]
        slopes[name] = nest_entries(entries, shape, list)
    return Trust(value, slopes, bits)


def describe_number(plain: Judgement, bits: int) -> TrustedNumber:
    """Write a number beside the true one."""
    value, true, word = plain.value, plain.true, plain.word
    with working_precision(bits):
        low, high = decimal_bounds(true) or (None, None)
        is_known = true.is_finite() and is_tight(true, bits) and (true.is_exact() or true != 0)
        text = middle_text(true, FULL) if is_known else low if word == "pole" else None
    if word == "exact":
        text = number_text(value)
    return TrustedNumber(
        value, plain.digits, word == "exact", word, text, low, high, False, None, None
    )


def find_conventions(run: SweptRun, sides: Mapping[str, OneSided]) -> set[str]:
    """Find the inputs whose derivative is a convention at this point."""
    unsure = [name for name, side in sides.items() if side.verdict != "exists"]
    bent = nonsmooth_nodes(run) if unsure else []
    moved = {name: dependent_flags(run.graph, [run.graph.inputs[name]]) for name in unsure}
    return {name for name in unsure if any(moved[name][node] for node in bent)}
