"""Numbers and how far they can be trusted: enclosures of the true ones, and what these prove.

What is said of digits comes from the upper bound of the relative error that an enclosure allows.

Where a number has far fewer right digits than what it is made of, a walk follows the error back to where it
came from: at each step to the operand, or the contribution, whose error weighs most.  The node with the
largest drop on that walk is the one to blame.  The walk goes through the reverse sweep first, if a
derivative is asked about, and then through the data.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

from exprgrad.derive.rules import template
from exprgrad.graph.graph import CONST, INPUT, Graph, Shape, element_name
from exprgrad.graph.ops import BY_NAME
from exprgrad.language.write.infix import number
from exprgrad.run.balls.balls import (
    Ball,
    Decimals,
    apply,
    ball,
    bounds,
    enclose,
    is_infinite,
    nearest,
    rough,
    unknown,
    working,
)
from exprgrad.run.balls.sweep import Sweep, locals_of, sweep
from exprgrad.run.evaluation import Run
from exprgrad.source import Span, cut

__all__ = [
    "FIRST_BITS", "FULL", "LONGEST_LABEL", "MOST_WORK", "NEAREST", "Better", "Enclosed", "Evidence",
    "Lost", "Trust", "Trusted", "derivative", "enclosed", "find_lost", "hanging", "is_nearest",
    "is_tight", "judged", "right_digits",
]  # fmt: skip

FULL = 17
"""The digits that tell any double from its neighbours: no number has more that are right."""
LONGEST_LABEL = 40
"""Where the text of a formula is cut that a number is called by."""
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
        is_short = self.verdict in ("wrong", "right") and self.digits < HALF
        is_wrong_zero = self.verdict == "zero" and self.value != 0
        return self.verdict == "undecided" or is_short or is_wrong_zero


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
    work = len(graph) - (rational + kinds[INPUT] + kinds[CONST]) * (1 - 1 / CHEAPER)
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
    is_negligible = bits >= NEGLIGIBLE_BITS and x.abs_upper() < ball(2) ** -TINY_BITS
    return bool(is_negligible or x.is_exact() or x.rel_accuracy_bits() >= TIGHT)


def judged(value: float, true: Ball, bits: int) -> Trusted:
    """What an enclosure says of a number."""
    with working(max(bits, FIRST_BITS)):
        verdict = verdict_of(value, true, bits)
        digits = FULL if verdict == "exact" else right_digits(value, true)
        low, high = bounds(true) or (None, None)
        is_known = true.is_finite() and is_tight(true, bits) and (true.is_exact() or true != 0)
        told = nearest(true, FULL) if is_known else low if verdict == "pole" else None
    exact = verdict == "exact"
    told = number(value) if exact else told
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


def hanging(graph: Graph, inputs: Mapping[str, float], spelled: Mapping[str, str]) -> list[str]:
    """The literals, and the inputs by their names, that are not the numbers that they are typed as.

    ``spelled`` are texts of inputs, as a run has them.
    """
    literals = {
        graph.spelled.get(node) or repr(x): (graph.spelled.get(node), x)
        for node, x in enumerate(graph.payloads)
        if isinstance(x, float) and (node in graph.spelled or node not in graph.symbols)
    }
    given = {name: (spelled.get(name), x) for name, x in inputs.items()}
    with working(FIRST_BITS):
        decimals = Decimals()
        typed = {
            name: (decimals.read(*one), one[1]) for name, one in [*literals.items(), *given.items()]
        }
        return [
            cut(name, LONGEST_LABEL)
            for name, (number, x) in typed.items()
            if math.isfinite(x) != number.is_finite() or not bool(number == ball(x))
        ]


# Where digits are lost.

LEAST_DROP = 2
"""A node loses digits if it has so many fewer than what it is made of."""
ROUNDED = 16
"""The most digits of a number that was rounded."""

SMALLEST = 2.2250738585072014e-308
"""The least double with all its digits."""
LARGE = 100.0
"""From here on, an argument is large."""


class Loss(NamedTuple):
    """One step of the walk: at ``node``, in its data, its local derivative, the sum of its contributions
    or one of them (``what``), from ``before`` digits to ``after``; the error came from ``source``."""

    node: int
    what: str
    before: int
    after: int
    source: int


class Evidence:
    """A run's doubles beside what is true."""

    def __init__(self, run: Run, found: Enclosed) -> None:
        self.run = run
        self.graph = run.graph
        self.found = found

    @cached_property
    def users(self) -> dict[int, list[tuple[int, int]]]:
        """By node: the edges along which it was passed something, as (user, position)."""
        users: dict[int, list[tuple[int, int]]] = {}
        assert self.run.adjoints is not None
        for user in self.run.order:
            if self.run.adjoints.locals[user] is not None:
                for position, operand in enumerate(self.graph.operands[user]):
                    users.setdefault(operand, []).append((user, position))
        return users

    def data(self, node: int) -> tuple[float, Ball]:
        """A node's data, computed and true."""
        return self.run.values[node], self.found.values[node]

    def grad(self, node: int) -> tuple[float, Ball]:
        """A node's grad, computed and true."""
        assert self.run.adjoints is not None and self.found.swept is not None
        true = self.found.swept.grads[node]
        return self.run.adjoints.grads[node] or 0.0, ball(0) if true is None else true

    def edge(self, user: int, position: int) -> tuple[tuple[float, Ball], tuple[float, Ball]]:
        """An edge's local derivative and its contribution, computed and true."""
        assert self.run.adjoints is not None and self.found.swept is not None
        slope = self.run.adjoints.locals[user][position]
        slope = 0.0 if slope is None else slope
        mine, theirs = self.found.swept.locals[user], self.found.swept.contributions[user]
        passed = theirs[position] if theirs is not None else None
        true = mine[position] if mine is not None else None
        contribution = 0.0 if passed is None and slope == 0 else self.grad(user)[0] * slope
        return (slope, unknown() if true is None else true), (
            contribution,
            ball(0) if passed is None else passed,
        )


def kept(pair: tuple[float, Ball]) -> int:
    """The right digits of a number; 17 only where it is exact."""
    return FULL if bool(error(pair) == 0) else min(right_digits(*pair), ROUNDED)


def error(pair: tuple[float, Ball]) -> Ball:
    """How far a number is from the truth, as an upper bound."""
    value, true = pair
    return abs(ball(value) - true).abs_upper() if math.isfinite(value) else unknown()


def heaviest(errors: Sequence[Ball]) -> int:
    """The place of the largest error; what is not finite is larger than what is."""
    best = 0
    for place, one in enumerate(errors):
        if errors[best].is_finite() and (not one.is_finite() or bool(one > errors[best])):
            best = place
    return best


def find_lost(
    evidence: Evidence, node: int, digits: int, *, is_slope: bool = False
) -> tuple[Lost | None, list[int]]:
    """The node that loses most of the digits of a node's data, or of its grad if ``is_slope``.

    ``digits`` is how many the number has in the end: what a partial sum has fewer is not lost to it.  Then
    all nodes that the error came through, this one first.
    """
    graph = evidence.graph
    with working(max(evidence.found.bits, 128)):
        steps = list(by_grads(evidence, node) if is_slope else by_data(evidence, node))
        worst = max(steps, key=lambda step: step.before - max(step.after, digits), default=None)
        if worst is None or worst.before - max(worst.after, digits) < LEAST_DROP:
            return None, [step.node for step in steps]
        why = reason(evidence, worst)
    lost = Lost(worst.node, graph.span(worst.node), min(worst.before, ROUNDED), worst.after, why)
    return lost, list(dict.fromkeys([worst.node, *(step.node for step in steps)]))


def by_data(evidence: Evidence, node: int) -> Iterator[Loss]:
    """From a node's data to the operand whose error weighs most, and so on."""
    graph = evidence.graph
    while graph.operands[node]:
        pairs = [evidence.data(operand) for operand in graph.operands[node]]
        own = kept(evidence.data(node))
        digits = [kept(pair) for pair in pairs]
        if min(digits) == FULL:
            yield Loss(node, "data", FULL, own, node)
            return
        place = weightiest(evidence, node, pairs)
        if place is None:  # the error is the node's own
            yield Loss(node, "data", min(digits), own, node)
            return
        operand = graph.operands[node][place]
        yield Loss(node, "data", digits[place], own, operand)
        node = operand


def weightiest(evidence: Evidence, node: int, pairs: Sequence[tuple[float, Ball]]) -> int | None:
    """The operand whose error makes most of a node's; None if all together do not explain it."""
    graph, values = evidence.graph, evidence.found.values
    broken = [place for place, (value, _) in enumerate(pairs) if not math.isfinite(value)]
    if broken:
        return broken[0]
    far = [error(pair) for pair in pairs]
    places = [place for place, one in enumerate(far) if one != 0]
    weights = [ball(0)] * len(pairs)
    slopes = locals_of(graph, values, node, places, evidence.run.varying)
    for place, slope in zip(places, slopes, strict=True):
        weights[place] = abs(slope * far[place]).abs_upper() if slope.is_finite() else unknown()
    best = heaviest(weights)
    mine = error(evidence.data(node))
    if bool(weights[best] * 100 >= mine) or not weights[best].is_finite():
        return best
    # Across a jump, or at a greatest value, no slope tells: what do the operands come to as they are?
    kind, true = graph.kinds[node], [number for _, number in pairs]
    swapped = [[*true[:at], ball(x), *true[at + 1 :]] for at, (x, _) in enumerate(pairs)]
    apart = [abs(apply(kind, given) - values[node]).abs_upper() for given in swapped]
    best = heaviest(apart)
    return best if bool(apart[best] * 100 >= mine) or not apart[best].is_finite() else None


def by_grads(evidence: Evidence, node: int) -> Iterator[Loss]:
    """From a node's grad to the contribution whose error weighs most, to its user's grad, and so on."""
    while True:
        edges = evidence.users.get(node, [])
        if not edges:
            return
        own = kept(evidence.grad(node))
        found = [evidence.edge(user, position) for user, position in edges]
        best = heaviest([error(passed) for _, passed in found])
        slope, passed = found[best]
        (user, position), digits = edges[best], kept(passed)
        if len(edges) > 1:
            yield Loss(node, "sum", digits, own, user)
        above, along = kept(evidence.grad(user)), kept(slope)
        yield Loss(user, "product", min(above, along), digits, node)
        if above <= along and above < FULL:
            node = user
            continue
        if along < FULL:
            yield from by_local(evidence, user, position, along)
        return


def by_local(evidence: Evidence, user: int, position: int, own: int) -> Iterator[Loss]:
    """From an edge's local derivative to what it was computed from."""
    graph = evidence.graph
    op = BY_NAME[graph.kinds[user]]
    operands = graph.operands[user]
    named = (operands[position],) if op.variadic else operands
    read = template(op.partial(position)).inputs
    nodes = [n for name, n in zip((*op.names, "out"), (*named, user), strict=True) if name in read]
    if op.variadic and op.special:
        nodes = list(operands)
    if not nodes:
        return
    digits = [kept(evidence.data(node)) for node in nodes]
    source = nodes[digits.index(min(digits))]
    yield Loss(user, "local", min(digits), own, source)
    yield from by_data(evidence, source)


# Why, in words.


def reason(evidence: Evidence, step: Loss) -> str:
    """Why a step of the walk has fewer right digits than what it is made of."""
    if step.what == "sum":
        passed = [evidence.edge(user, place)[1][0] for user, place in evidence.users[step.node]]
        first, second = sorted(passed, key=lambda x: -abs(x) if x == x else 0.0)[:2]
        return f"the contributions to its grad nearly cancel: {number(first)} and {number(second)}"
    if step.what == "product":
        return "its grad times a local derivative leaves the range of the doubles"
    if step.what == "local":
        if step.before == FULL:
            return "its local derivative leaves the range of the doubles"
        return f"its local derivative magnifies the error of {evidence.run.label(step.source)}"
    return of_data(evidence, step)


def of_data(evidence: Evidence, step: Loss) -> str:
    """Why a node's data has fewer right digits than its operands."""
    node, graph = step.node, evidence.graph
    kind, operands = graph.kinds[node], graph.operands[node]
    value, true = evidence.data(node)
    given = [evidence.run.values[operand] for operand in operands]
    about = f", where the true value is about {rough(true, 4)}" if true.is_finite() else ""
    if not math.isfinite(value):
        return f"it is {number(value)} in doubles{about}"
    if abs(value) < SMALLEST and bool(abs(true) < SMALLEST):
        return f"underflow{about}: the doubles have few digits there, or none"
    row = BY_NAME[kind]
    if len(row.signs) == 2:
        adds = row.signs == (1, 1)
        sort = "numbers that nearly cancel" if adds else "nearly equal numbers"
        what = "sum" if adds else "difference"
        return f"the {what} of {sort}: {number(given[0])} and {number(given[1])}"
    label = evidence.run.label(step.source)
    at = number(evidence.run.values[step.source])
    size = max(map(abs, given), default=0.0)
    if row.magnifies == "period" and size >= LARGE:
        return f"{kind} of a large number: {label} is {at}, and its absolute error counts"
    by_far = f"a relative error of {label} counts 10^{step.before - step.after} times as much here"
    if row.magnifies == "growth" and size >= LARGE:
        if abs(evidence.run.values[step.source]) < LARGE:
            return by_far
        return f"{kind} of a large number makes relative errors of absolute ones: {label} is {at}"
    if row.magnifies == "zero" and 0.5 < given[0] < 2:
        return f"{kind} near its zero: {label} is {at}, and what sets it apart from 1 is mostly rounded"
    if row.magnifies == "quotient" and abs(given[0]) >= LARGE * abs(given[1]):
        if step.source == operands[0]:
            return (
                f"the remainder of a large number: {label} is {at}, and its absolute error counts"
            )
        times = f"{given[0] / given[1]:.3g}"
        return f"{label} fits {times} times into {number(given[0])}, and its error counts as often"
    if row.special:
        return f"{label} is beside a kink or a jump, and its error leads to the other side"
    return by_far
