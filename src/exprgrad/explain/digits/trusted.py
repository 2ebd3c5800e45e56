"""Numbers and how far they can be trusted: enclosures of the true ones, and what these prove.

What is said of digits comes from the upper bound of the relative error that an enclosure allows.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from exprgrad.graph.graph import CONST, INPUT, Graph, Shape, element_name
from exprgrad.graph.ops import BY_NAME
from exprgrad.language.write.infix import number as number_text
from exprgrad.run.balls.balls import Ball, ball, bounds, enclose, is_infinite, nearest, working
from exprgrad.run.balls.sweep import Sweep, sweep
from exprgrad.source import Span

__all__ = [
    "FIRST_BITS", "FULL", "MOST_WORK", "NEAREST", "Better", "Enclosed", "Lost", "Trust", "Trusted",
    "derivative", "enclosed", "is_nearest", "is_tight", "judged", "right_digits",
]  # fmt: skip

FULL = 17
"""The digits that tell any double from its neighbours: no number has more that are right."""
HALF = 8
"""With fewer right digits than these, a number has lost more than half of them."""
FIRST_BITS, MOST_BITS = 128, 16384
"""The precision that is tried first, and the highest."""
NEAREST = ("exact", "rounded", "overflow", "underflow")
"""Verdicts on numbers to which no double is nearer."""
MOST_WORK = 2**22
"""The most bits times nodes."""
CHEAPER = 2**8
"""How many times as many bits sums, products and quotients may have: they take little longer for them."""
TIGHT = 80
"""An enclosure with so many bits is tight: beyond what any double could tell."""
NEGLIGIBLE_BITS = 1024
"""With so many bits, what may be 0 and is far below the least double is let be."""
TINY_BITS = 1080
"""What is below 2^-1080 is nearer to 0 than to any other double."""


class Lost(NamedTuple):
    """Where digits are lost: at a node, from ``before`` right digits to ``after``, and why.

    A number that something larger is added to has more in the end than there.  Of a tensor's numbers
    ``place`` says which.
    """

    node: int
    span: Span
    before: int
    after: int
    why: str
    place: Shape = ()


class Better(NamedTuple):
    """A mend that was tried at this point: ``text`` instead of ``was``, and the number it makes.

    ``where`` are the inputs for which the two are the same, in words; None if they always are.
    """

    span: Span
    was: str
    text: str
    where: str | None
    expression: str
    value: float
    digits: int
    verdict: str

    @property
    def advice(self) -> str:
        """What to write, and where it is the same."""
        where = f" where {self.where}" if self.where else ""
        return f"write {self.text} instead of {self.was}{where}"


class Trusted(NamedTuple):
    """One number, and how far it can be trusted.

    ``digits``   so many decimal digits are right: its relative error is at most 10^-digits
    ``verdict``  ``exact``; ``rounded``: no double is nearer; ``right``: as ``digits`` say; ``wrong``: no
                 digit is right; ``overflow`` or ``underflow``: the true number is beyond the doubles,
                 or too near 0; ``zero``: it is 0, or as near to 0 as ``low`` and ``high``; ``pole``: it is
                 infinite; ``undefined``: there is none; ``undecided``: nothing tighter was found;
                 ``corrected``: a one-sided rule, not the sweep, found the number at a kink
    ``true``     the true number with 17 digits; None where it is not known so well
    ``low``, ``high``  decimal numbers between which the true one is; None where nobody knows
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
    lost: Lost | None
    rewrite: Better | None

    @property
    def is_poor(self) -> bool:
        """Whether more than half of the digits that a double has are wrong."""
        if self.verdict == "zero":
            return self.value != 0
        return self.verdict == "undecided" or (
            self.verdict in ("wrong", "right") and self.digits < HALF
        )


class Trust(NamedTuple):
    """A run's value and gradient, each with how far it can be trusted; ``bits``: the precision it took.

    The derivative with respect to a tensor is by number, in nested lists of its shape.
    """

    value: Trusted
    gradient: dict[str, Any]
    bits: int

    def numbers(self) -> Iterator[tuple[str, Trusted]]:
        """The value under no name, then each derivative under its input's: ``x``, or ``x[0, 1]``."""
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


class Enclosed(NamedTuple):
    """The true data of every node, and its true grad if there was a sweep."""

    values: list[Ball]
    swept: Sweep | None
    bits: int


def enclosed(
    graph: Graph,
    inputs: Mapping[str, float],
    wrt: Iterable[str] | None,
    *,
    typed: Mapping[str, str] | None = None,
    outputs: Sequence[int] | None = None,
    bits: int = FIRST_BITS,
) -> Enclosed:
    """The true numbers, in a precision that makes the value and the gradient tight if any does.

    Inputs and literals are the doubles that they were read as, or the decimals, as ``enclose`` says of
    ``typed``.  With ``outputs`` those nodes are made tight, instead of the graph's output.  ``bits`` are
    tried first.
    """
    plain, most = most_bits(graph)
    while True:
        values = enclose(graph, inputs, bits, typed=typed)
        nodes = [graph.inputs[name] for name in wrt or ()]
        swept = None if wrt is None else sweep(graph, values, nodes, bits)
        found = Enclosed(values, swept, bits)
        asked = [values[node] for node in ([graph.output] if outputs is None else outputs)]
        asked += [derivative(found, graph, name) for name in wrt or ()]
        if bits >= most or all(is_tight(x, bits) for x in asked):
            return found
        bits = min(2 * bits if bits < plain else 4 * bits, most)


def most_bits(graph: Graph) -> tuple[int, int]:
    """The most bits for a graph: of any operations; and of its own, sums and products being cheap.

    Up to the first the bits are doubled.
    """
    kinds = Counter(graph.kinds)
    rational = sum(kinds[kind] for kind in kinds if kind in BY_NAME and BY_NAME[kind].exact)
    leaves = kinds[INPUT] + kinds[CONST]
    work = len(graph) - (rational + leaves) * (1 - 1 / CHEAPER)
    plain, most = (
        max(2 * FIRST_BITS, min(MOST_BITS, int(MOST_WORK // count))) for count in (len(graph), work)
    )
    return plain, most


def derivative(found: Enclosed, graph: Graph, name: str) -> Ball:
    """The true derivative with respect to an input."""
    grad = None if found.swept is None else found.swept.grads[graph.inputs[name]]
    return ball(0) if grad is None else grad


def is_tight(x: Ball, bits: int) -> bool:
    """Whether more precision would tell no more that matters."""
    if not x.is_finite():
        return is_infinite(x) or bool(x.is_nan())
    if bits >= NEGLIGIBLE_BITS and bool(x.abs_upper() < ball(2) ** -TINY_BITS):
        return True
    return bool(x.is_exact() or x.rel_accuracy_bits() >= TIGHT)


def judged(value: float, true: Ball, bits: int) -> Trusted:
    """What an enclosure says of a number."""
    with working(max(bits, FIRST_BITS)):
        verdict = verdict_of(value, true, bits)
        digits = FULL if verdict == "exact" else right_digits(value, true)
        low, high = bounds(true) or (None, None)
        told = number_text(value) if verdict == "exact" else None
        if (
            told is None
            and true.is_finite()
            and is_tight(true, bits)
            and (true.is_exact() or bool(true != 0))
        ):
            told = nearest(true, FULL)
        elif verdict == "pole":
            told = low
    exact = verdict == "exact"
    return Trusted(value, digits, exact, verdict, told, low, high, False, None, None)


def verdict_of(value: float, true: Ball, bits: int) -> str:
    """A number's verdict: see ``Trusted``."""
    if true.is_nan():
        return "undefined"
    if is_infinite(true):
        return "pole" if math.isinf(value) else "wrong"
    if not true.is_finite():
        return "undecided"
    if true.is_exact() and math.isfinite(value) and bool(ball(value) == true):
        return "exact"
    if is_nearest(value, true):
        if math.isinf(value):
            return "overflow"
        return "rounded" if value else "underflow" if bool(true != 0) else "zero"
    if not true.is_exact() and not bool(true != 0):
        return "zero" if bool(true.abs_upper() < ball(2) ** -TINY_BITS) else "undecided"
    if not is_tight(true, bits):
        return "undecided"
    return "right" if right_digits(value, true) else "wrong"


def is_nearest(value: float, true: Ball) -> bool:
    """Whether no double is nearer to whatever a finite ball holds; beyond the doubles lies 2^1024."""
    if math.isnan(value):
        return False
    ends = [math.nextafter(value, -math.inf), math.nextafter(value, math.inf)]
    if math.isinf(value):
        inner = ends[0] if value > 0 else ends[1]
        edge = (exactly(inner) + exactly(value)) / 2
        return bool(true >= edge) if value > 0 else bool(true <= edge)
    low, high = ((exactly(end) + ball(value)) / 2 for end in ends)
    return bool(true >= low) and bool(true <= high)


def exactly(value: float) -> Ball:
    """A double, or what stands beyond the last of them."""
    return ball(value) if math.isfinite(value) else ball(math.copysign(1, value)) * ball(2) ** 1024


def right_digits(value: float, true: Ball) -> int:
    """How many digits of a number are right for certain, from 0 to 17.

    That is the greatest N, from 0, for which its error is proven to be at most 10^-N of the true number.
    """
    if not (true.is_finite() and math.isfinite(value)) or not bool(true != 0):
        return FULL if bool(ball(value) == true) else 0
    error = abs(ball(value) - true).abs_upper()
    size = true.abs_lower()
    return next((n for n in range(FULL, 0, -1) if bool(error * ball(10) ** n <= size)), 0)
