"""A graph's true numbers, enclosed in balls, and what they prove about the computed doubles.

Counts of digits come from the upper bound of the relative error that an enclosure allows.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from exprgrad.explain.limits import LONGEST_LABEL
from exprgrad.graph.graph import CONST, INPUT, Graph, Program
from exprgrad.graph.ops import BY_NAME
from exprgrad.run.balls.balls import (
    Ball,
    Decimals,
    enclose_nodes,
    exact_ball,
    is_infinite,
    is_known,
    working_precision,
)
from exprgrad.run.balls.sweep import BallSweep, sweep_balls
from exprgrad.source import cut_text

__all__ = [
    "FIRST_BITS", "FULL", "MOST_WORK", "Judgement", "TrueNumbers", "enclose_outputs",
    "find_rounded_decimals", "have_same_digits", "is_nearest", "is_tight", "judge_number", "proven_digits",
    "round_ball", "round_outputs",
]  # fmt: skip

FULL = 17
"""The digits that tell any double from its neighbours, and so the most that can be right."""
FIRST_BITS, MOST_BITS = 128, 16384
"""The first precision tried, and the highest."""
MOST_WORK = 2**22
"""The most bits times nodes."""
CHEAPER = 2**8
"""The factor of bits allowed to sums, products and quotients, which take little longer for them."""
TIGHT = 80
"""An enclosure with this many bits is tight: beyond what any double could resolve."""
NEGLIGIBLE_BITS = 1024
"""The most bits spent on a number far below the least double; with more it is left undecided."""
TINY_BITS = 1080
"""Numbers below 2^-1080 are nearer to 0 than to any other double."""


class TrueNumbers(NamedTuple):
    """The true data of a graph's nodes, and their true grads after a sweep, to a number of bits."""

    values: list[Ball]
    swept: BallSweep | None
    bits: int

    def grad(self, node: int) -> Ball:
        """Return a node's true grad; 0 if none arrived."""
        grad = None if self.swept is None else self.swept.grads[node]
        return exact_ball(0) if grad is None else grad


def enclose_outputs(
    graph: Graph,
    inputs: Mapping[str, float],
    wrt: Iterable[str] | None,
    *,
    typed: Mapping[str, str] | None = None,
    outputs: Sequence[int] | None = None,
    bits: int = FIRST_BITS,
) -> TrueNumbers:
    """Enclose the true numbers, in a precision that makes value and gradient tight if any does.

    Inputs and literals are the doubles read, or the decimals, as ``enclose_nodes`` says of
    ``typed``.  With ``outputs`` those nodes are made tight, instead of the graph's output.  ``bits`` are
    tried first.
    """
    plain, most = max_working_bits(graph)
    nodes = [graph.inputs[name] for name in wrt or ()]
    while True:
        values = enclose_nodes(graph, inputs, bits, typed=typed)
        found = TrueNumbers(
            values, None if wrt is None else sweep_balls(graph, values, nodes, bits), bits
        )
        asked = [values[node] for node in ([graph.output] if outputs is None else outputs)]
        asked += map(found.grad, nodes)
        if bits >= most or all(is_tight(x, bits) for x in asked):
            return found
        bits = min(2 * bits if bits < plain else 4 * bits, most)


def max_working_bits(graph: Graph) -> tuple[int, int]:
    """Return the most bits for a graph of any operations, and for its own: sums and products are cheap.

    Up to the first the bits are doubled.
    """
    kinds = Counter(graph.kinds)
    rational = sum(kinds[kind] for kind in kinds if kind in BY_NAME and BY_NAME[kind].exact)
    work = len(graph) - (rational + kinds[INPUT] + kinds[CONST]) * (1 - 1 / CHEAPER)
    plain, most = (
        max(2 * FIRST_BITS, min(MOST_BITS, int(MOST_WORK // count))) for count in (len(graph), work)
    )
    return plain, most


def is_tight(x: Ball, bits: int) -> bool:
    """Whether more precision would add nothing that matters."""
    if not x.is_finite():
        return is_infinite(x) or bool(x.is_nan())
    is_negligible = bits >= NEGLIGIBLE_BITS and x.abs_upper() < exact_ball(2) ** -TINY_BITS
    return bool(is_negligible or x.is_exact() or x.rel_accuracy_bits() >= TIGHT)


def have_same_digits(one: Ball, other: Ball, digits: int, bits: int) -> bool:
    """Whether two true numbers agree to a number of digits."""
    if is_infinite(one) or is_infinite(other):
        return bool(one == other)
    if not bool(one != 0):
        return not bool(other.abs_lower() > 0)
    is_known = other.is_finite() and is_tight(other, bits)
    return is_known and bool(abs(one - other) * exact_ball(10) ** digits <= abs(one))


def find_rounded_decimals(
    graph: Graph, inputs: Mapping[str, float], spelled: Mapping[str, str]
) -> list[str]:
    """List the literals and inputs whose doubles are not the decimals typed.

    ``spelled`` are texts of inputs, as a run has them.
    """
    literals = {
        graph.spelled.get(node) or repr(x): (graph.spelled.get(node), x)
        for node, x in enumerate(graph.payloads)
        if isinstance(x, float) and (node in graph.spelled or node not in graph.symbols)
    }
    given = {name: (spelled.get(name), x) for name, x in inputs.items()}
    with working_precision(FIRST_BITS):
        decimals = Decimals()
        typed = {
            name: (decimals.read(*one), one[1]) for name, one in [*literals.items(), *given.items()]
        }
        return [
            cut_text(name, LONGEST_LABEL)
            for name, (number, x) in typed.items()
            if math.isfinite(x) != number.is_finite() or not bool(number == exact_ball(x))
        ]


# A double beside the truth.


class Judgement(NamedTuple):
    """A double beside the truth.

    ``verdict``  one of six: ``nearest``: no double is nearer to the true number; ``counted``: ``digits``
                 are right; ``zero``: the true number may be 0, and the double is not; ``undefined``:
                 there is no true number; ``undecided``: no enclosure is tight enough; ``ambiguous``: the
                 decimals as typed give another number than the doubles
    ``digits``   how many of its digits are surely right, from 0 to 17
    """

    value: float
    true: Ball
    verdict: str
    digits: int

    @property
    def is_exact(self) -> bool:
        """Whether the double is the true number."""
        is_known = self.true.is_exact() and math.isfinite(self.value)
        return is_known and bool(exact_ball(self.value) == self.true)

    @property
    def word(self) -> str:
        """The verdict as printed: the kind of nearest double, or whether any digit is right."""
        if self.verdict == "counted":
            return "right" if self.digits else "wrong"
        if self.verdict != "nearest":
            return self.verdict
        if self.is_exact:
            return "exact"
        if math.isinf(self.value):
            return "pole" if is_infinite(self.true) else "overflow"
        return "rounded" if self.value else "underflow" if bool(self.true != 0) else "zero"


def judge_number(value: float, true: Ball, bits: int) -> Judgement:
    """Judge a number by an enclosure of the true one."""
    with working_precision(max(bits, FIRST_BITS)):
        return Judgement(value, true, find_verdict(value, true, bits), proven_digits(value, true))


def find_verdict(value: float, true: Ball, bits: int) -> str:
    """Return the verdict on a number: see ``Judgement``."""
    if true.is_nan():
        return "undefined"
    if is_infinite(true):
        return "nearest" if math.isinf(value) else "counted"
    if not true.is_finite():
        return "undecided"
    if is_nearest(value, true):
        return "nearest"
    if not true.is_exact() and not bool(true != 0):
        return "zero" if bool(true.abs_upper() < exact_ball(2) ** -TINY_BITS) else "undecided"
    return "counted" if is_tight(true, bits) else "undecided"


def proven_digits(value: float, true: Ball) -> int:
    """Return how many digits of a number are surely right, from 0 to 17.

    That is the greatest N for which its error is proven to be at most 10^-N of the true number.
    """
    if not (true.is_finite() and math.isfinite(value)) or not bool(true != 0):
        return FULL if bool(exact_ball(value) == true) else 0
    error = abs(exact_ball(value) - true).abs_upper()
    size = true.abs_lower()
    return next((n for n in range(FULL, 0, -1) if bool(error * exact_ball(10) ** n <= size)), 0)


def round_ball(true: Ball) -> float:
    """Return the double nearest to every number in a tight ball."""
    value = float(true.mid())
    around = (value, math.nextafter(value, math.inf), math.nextafter(value, -math.inf))
    return next((x for x in around if is_nearest(x, true)), value) + 0.0


def round_outputs(
    program: Program, inputs: Mapping[str, float], typed: Mapping[str, str] | None = None
) -> tuple[list[float], list[float]]:
    """Return the doubles nearest to a program's outputs, and what their balls leave open.

    Inputs and literals are as ``enclose_nodes`` says of ``typed``.  An output without a known value is
    nan.
    """
    found = enclose_outputs(program.graph, inputs, None, typed=typed, outputs=program.outputs)
    true = [found.values[output] for output in program.outputs]
    numbers = [round_ball(one) if is_known(one) else math.nan for one in true]
    open = [0.0 if is_tight(one, found.bits) else float(one.rad()) for one in true]
    return numbers, open


def is_nearest(value: float, true: Ball) -> bool:
    """Whether no double is nearer to any number in a finite ball; beyond the doubles lies 2^1024."""
    if math.isnan(value):
        return False
    ends = [math.nextafter(value, -math.inf), math.nextafter(value, math.inf)]
    if math.isinf(value):
        inner = ends[0] if value > 0 else ends[1]
        edge = (extend_double(inner) + extend_double(value)) / 2
        return bool(true >= edge) if value > 0 else bool(true <= edge)
    low, high = ((extend_double(end) + exact_ball(value)) / 2 for end in ends)
    return bool(true >= low) and bool(true <= high)


def extend_double(value: float) -> Ball:
    """Return a double as a ball; an infinity stands for 2^1024."""
    return (
        exact_ball(value)
        if math.isfinite(value)
        else exact_ball(math.copysign(1, value)) * exact_ball(2) ** 1024
    )
