"""Numbers of which too few digits are right: worked out in balls, corrected where that is certain.

A number is corrected only where it is the same, in the digits shown, for the doubles that inputs and
literals were read as and for the decimals that they are written as: else nobody can say what was meant.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

from exprgrad.explain.diagnostic import Diagnostic, Guarded
from exprgrad.explain.digits.lost import Evidence, find_lost
from exprgrad.explain.digits.trusted import (
    NEAREST,
    Enclosed,
    derivative,
    enclosed,
    is_nearest,
    is_tight,
    judged,
    right_digits,
)
from exprgrad.explain.rewriting.mending import Menders
from exprgrad.language.write.infix import number as number_text
from exprgrad.run.balls.balls import Ball, ball, is_infinite, working
from exprgrad.run.balls.text import bounds, rough
from exprgrad.run.evaluation import Run
from exprgrad.run.numbers.bounds import DOUBLE_DIGITS
from exprgrad.source import cut

__all__ = ["guarded", "unproved"]

MOST_EXPLAINED = 16
"""For how many numbers it is worked out where their digits are lost: each takes a walk over the graph."""
LONGEST_LABEL = 40
"""Where the text of a formula is cut that a number is called by."""


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


def guarded(
    run: Run, answer: Guarded, value: int, gradient: Mapping[str, int], least: int
) -> Guarded:
    """An answer with so many right digits as far as bounds tell, of which some are fewer than ``least``."""
    found = enclosed(run.graph, run.inputs, run.wrt)
    typed = found if is_same_typed(run) else enclosed(run.graph, run.inputs, run.wrt, typed=True)
    warnings = Warnings(run, found, typed)
    counts, slopes, corrected = {**gradient}, {**answer.gradient}, {**answer.corrected}
    corrected_value = None
    if value < least:
        whole = warnings.settle("", answer.value, least)
        value = whole.digits
        if whole.state == "corrected":
            corrected_value = answer.value, whole.answer
    for name, slope in answer.gradient.items():
        if name in answer.corrected or gradient[name] >= least:
            continue
        part = warnings.settle(name, slope, least)
        counts[name] = part.digits
        if part.state == "corrected":
            corrected[name] = slope, part.answer
            slopes[name] = part.answer
    return Guarded(
        answer.value if corrected_value is None else corrected_value[1],
        slopes,
        corrected,
        {name: {"value": value, "gradient": counts}[name] for name in answer.digits},
        corrected_value,
        tuple(warnings.listed),
    )


def unproved(run: Run, answer: Guarded, counts: Mapping[str, int], least: int) -> Guarded:
    """An answer with what bounds tell of it alone; the value's digits are under no name."""
    told = []
    for name, digits in counts.items():
        if digits < least and name not in answer.corrected:
            node = run.graph.inputs[name] if name else run.graph.output
            message = f"{label_of(run, name)} may have {count(digits)} only, as far as bounds tell"
            help = "pip install python-flint, with which more is known"
            span = run.graph.span(node)
            told.append(Diagnostic("lost-digits", "warning", message, node, span, help))
    return answer._replace(diagnostics=tuple(told))


def label_of(run: Run, name: str) -> str:
    """What a number is called: the output's text, or ``x.grad``."""
    return f"{name}.grad" if name else cut(run.label(run.graph.output), LONGEST_LABEL)


def is_same_typed(run: Run) -> bool:
    """Whether all inputs and literals are the decimals that they are written as: whole numbers, say."""
    from fractions import Fraction

    constants = [x for x in run.graph.payloads if isinstance(x, float)]
    return all(
        not math.isfinite(x) or x.is_integer() or Fraction(x) == Fraction(repr(x))
        for x in [*constants, *run.inputs.values()]
    )


class Warnings:
    """The warnings about a run's numbers."""

    def __init__(self, run: Run, found: Enclosed, typed: Enclosed) -> None:
        self.run = run
        self.found = found
        self.typed = typed
        self.evidence = Evidence(run, found)
        self.menders = Menders(run, found.values[run.graph.output])
        self.listed: list[Diagnostic] = []

    def settle(self, name: str, value: float, least: int) -> Decided:
        """What becomes of the value (no name) or a derivative; a warning is kept if there is one."""
        true, typed = (self.truth(one, name) for one in (self.found, self.typed))
        found = decided(value, least, true, typed, self.found.bits)
        if found.state != "right":
            self.listed.append(self.warning(name, value, found, true, typed))
        return found

    def warning(
        self, name: str, value: float, found: Decided, true: Ball, typed: Ball
    ) -> Diagnostic:
        """How many digits are right, at which node they are lost, and what would keep them."""
        run, graph = self.run, self.run.graph
        plain = judged(value, true, self.found.bits)
        message = (
            f"{label_of(run, name)} is {number_text(value)} in doubles, with {count(plain.digits)}"
        )
        if found.state == "corrected":
            message += f"; the answer is {number_text(found.answer)}"
        elif found.state == "typed":
            message += (
                f": it is {about(true)} for the doubles that the numbers are read as, "
                f"{about(typed)} for the decimals as typed"
            )
        elif found.state == "zero":
            message += f": the true number is zero to within {within(true)}, which is not proved"
        elif found.state == "undefined":
            message += ": there is no true number"
        else:
            message += " for certain: no enclosure is tight enough to tell"
        node = graph.inputs[name] if name else graph.output
        lost, nodes = None, list[int]()
        if len(self.listed) < MOST_EXPLAINED and found.state != "undecided":
            lost, nodes = find_lost(self.evidence, name, plain.digits)
        if lost is None:
            return Diagnostic("lost-digits", "warning", message, node, graph.span(node), None)
        help = f"{run.label(lost.node)} loses them: {lost.why}"
        better = self.menders.better(name, nodes, plain, true)
        if better is not None:
            help += f"; write {better.text} instead of {better.was}"
        return Diagnostic("lost-digits", "warning", message, lost.node, lost.span, help)

    def truth(self, found: Enclosed, name: str) -> Ball:
        """The true value (no name), or a true derivative."""
        if not name:
            return found.values[self.run.graph.output]
        return derivative(found, self.run.graph, name)


def count(digits: int) -> str:
    """How many digits are right, in words."""
    if not digits:
        return "no right digit"
    return f"{digits} right digit{'s' * (digits != 1)}"


def about(true: Ball) -> str:
    """A true number in 6 digits, as far as it is known."""
    if true.is_finite() and true.rel_accuracy_bits() >= 20:
        return rough(true, 6)
    if not bool(true != 0):
        return f"0 to within {within(true)}" if bool(true.abs_upper() < 1) else "unknown"
    low, high = bounds(true, 6) or ("unknown", "unknown")
    return f"{low} to {high}" if low != high else low


def within(true: Ball) -> str:
    """A bound on the size of what may be zero."""
    _, high = bounds(abs(true), 3) or ("", "inf")
    exponent = high.partition("e")[2]
    return f"1e{int(exponent) + 1}" if exponent else high
