"""Where digits are lost: the path of an error through the nodes, back to its source.

Where a number has far fewer right digits than its operands, a walk follows the error: at each step to
the operand, or the contribution, whose error weighs most.  The node with the largest drop on that walk is
the one to blame.  For a derivative the walk goes through the reverse sweep first, and then
through the data.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any, NamedTuple

from exprgrad.derive.rules import template
from exprgrad.explain.digits.judgements import FULL, TrueNumbers, proven_digits
from exprgrad.graph.graph import Shape, collect_by_key
from exprgrad.graph.ops import BY_NAME
from exprgrad.language.write.infix import number_text
from exprgrad.run.balls.balls import (
    Ball,
    apply_to_balls,
    exact_ball,
    rough_text,
    whole_line,
    working_precision,
)
from exprgrad.run.evaluation import SweptRun
from exprgrad.source import Span

__all__ = ["Evidence", "LostDigits", "locate_digit_loss"]

LEAST_DROP = 2
"""The digits by which a node must have fewer than its operands to be blamed."""
ROUNDED = 16
"""The most right digits of a number that was rounded."""

SMALLEST = 2.2250738585072014e-308
"""The least double with all its digits."""
LARGE = 100.0
"""The size from which an argument is large."""


class LostDigits(NamedTuple):
    """Where digits are lost: at a node, from ``before`` right digits to ``after``, and why.

    A number has more digits in the end if something larger is added to it.  Of a tensor's numbers
    ``place`` says which.
    """

    node: int
    span: Span
    before: int
    after: int
    why: str
    place: Shape = ()


class LossStep(NamedTuple):
    """One step of the walk: at ``node``, in its data, its local derivative, the sum of its contributions
    or one of them (``what``), from ``before`` digits to ``after``; the error came from ``source``."""

    node: int
    what: str
    before: int
    after: int
    source: int


class Evidence:
    """A run's doubles beside the true numbers."""

    def __init__(self, run: SweptRun, found: TrueNumbers) -> None:
        self.run = run
        self.graph = run.graph
        self.adjoints: Any = run.adjoints
        self.found = found

    @cached_property
    def users(self) -> dict[int, list[tuple[int, int]]]:
        """By node, the edges that passed it something, as (user, position)."""
        passing = [user for user in self.run.order if self.adjoints.locals[user] is not None]
        return collect_by_key(
            (operand, (user, position))
            for user in passing
            for position, operand in enumerate(self.graph.operands[user])
        )

    def data(self, node: int) -> tuple[float, Ball]:
        """Return a node's data, computed and true."""
        return self.run.values[node], self.found.values[node]

    def grad(self, node: int) -> tuple[float, Ball]:
        """Return a node's grad, computed and true."""
        return self.adjoints.grads[node] or 0.0, self.found.grad(node)

    def edge(self, user: int, position: int) -> tuple[tuple[float, Ball], tuple[float, Ball]]:
        """Return an edge's local derivative and its contribution, computed and true."""
        assert self.found.swept is not None
        slope = self.adjoints.locals[user][position]
        slope = 0.0 if slope is None else slope
        mine, theirs = self.found.swept.locals[user], self.found.swept.contributions[user]
        passed = theirs[position] if theirs is not None else None
        true = mine[position] if mine is not None else None
        contribution = 0.0 if passed is None and slope == 0 else self.grad(user)[0] * slope
        return (slope, whole_line() if true is None else true), (
            contribution,
            exact_ball(0) if passed is None else passed,
        )


def count_right_digits(pair: tuple[float, Ball]) -> int:
    """Count a number's right digits; 17 only where it is exact."""
    return FULL if bool(bound_error(pair) == 0) else min(proven_digits(*pair), ROUNDED)


def bound_error(pair: tuple[float, Ball]) -> Ball:
    """Bound a number's distance from the true one."""
    value, true = pair
    return abs(exact_ball(value) - true).abs_upper() if math.isfinite(value) else whole_line()


def largest_error_place(errors: Sequence[Ball]) -> int:
    """Find the largest error; one that is not finite is the largest."""
    best = 0
    for place, one in enumerate(errors):
        if errors[best].is_finite() and (not one.is_finite() or bool(one > errors[best])):
            best = place
    return best


def locate_digit_loss(
    evidence: Evidence, node: int, digits: int, *, is_slope: bool = False
) -> tuple[LostDigits | None, list[int]]:
    """Find the node that loses most digits of a node's data, or of its grad if ``is_slope``.

    ``digits`` is how many the number has in the end, since a partial sum may have fewer.  Also returns
    the nodes that the error came through, this one first.
    """
    graph = evidence.graph
    with working_precision(max(evidence.found.bits, 128)):
        steps = list(follow_grads(evidence, node) if is_slope else follow_data(evidence, node))
        worst = max(steps, key=lambda step: step.before - max(step.after, digits), default=None)
        if worst is None or worst.before - max(worst.after, digits) < LEAST_DROP:
            return None, [step.node for step in steps]
        why = explain_step(evidence, worst)
    lost = LostDigits(
        worst.node, graph.span(worst.node), min(worst.before, ROUNDED), worst.after, why
    )
    return lost, list(dict.fromkeys([worst.node, *(step.node for step in steps)]))


def follow_data(evidence: Evidence, node: int) -> Iterator[LossStep]:
    """Walk from a node's data to the operand whose error weighs most, and so on."""
    graph = evidence.graph
    while graph.operands[node]:
        pairs = [evidence.data(operand) for operand in graph.operands[node]]
        own = count_right_digits(evidence.data(node))
        digits = [count_right_digits(pair) for pair in pairs]
        if min(digits) == FULL:
            yield LossStep(node, "data", FULL, own, node)
            return
        place = find_culprit(evidence, node, pairs)
        if place is None:  # the error is the node's own
            yield LossStep(node, "data", min(digits), own, node)
            return
        operand = graph.operands[node][place]
        yield LossStep(node, "data", digits[place], own, operand)
        node = operand


def find_culprit(evidence: Evidence, node: int, pairs: Sequence[tuple[float, Ball]]) -> int | None:
    """Find the operand whose error makes most of a node's; None if none explains it.

    Each operand in turn takes its double, the others their true numbers.
    """
    kind, true = evidence.graph.kinds[node], [number for _, number in pairs]
    out, errors = evidence.found.values[node], [bound_error(pair) for pair in pairs]
    if not out.is_finite() or not all(math.isfinite(value) for value, _ in pairs):
        return largest_error_place(errors)
    weights = [exact_ball(0)] * len(pairs)
    for place, (value, _) in enumerate(pairs):
        if errors[place] != 0:
            moved = apply_to_balls(kind, [*true[:place], exact_ball(value), *true[place + 1 :]])
            weights[place] = abs(moved - out).abs_upper()
    best = largest_error_place(weights)
    is_large = bool(weights[best] * 100 >= bound_error(evidence.data(node)))
    return best if is_large or not weights[best].is_finite() else None


def follow_grads(evidence: Evidence, node: int) -> Iterator[LossStep]:
    """Walk from a node's grad to the contribution whose error weighs most, its user's grad, and so on."""
    while True:
        edges = evidence.users.get(node, [])
        if not edges:
            return
        own = count_right_digits(evidence.grad(node))
        found = [evidence.edge(user, position) for user, position in edges]
        best = largest_error_place([bound_error(passed) for _, passed in found])
        slope, passed = found[best]
        (user, position), digits = edges[best], count_right_digits(passed)
        if len(edges) > 1:
            yield LossStep(node, "sum", digits, own, user)
        above, along = count_right_digits(evidence.grad(user)), count_right_digits(slope)
        yield LossStep(user, "product", min(above, along), digits, node)
        if above <= along and above < FULL:
            node = user
            continue
        if along < FULL:
            yield from follow_local(evidence, user, position, along)
        return


def follow_local(evidence: Evidence, user: int, position: int, own: int) -> Iterator[LossStep]:
    """Walk from an edge's local derivative to the nodes that it was computed from."""
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
    digits = [count_right_digits(evidence.data(node)) for node in nodes]
    source = nodes[digits.index(min(digits))]
    yield LossStep(user, "local", min(digits), own, source)
    yield from follow_data(evidence, source)


# Why, in words.


def explain_step(evidence: Evidence, step: LossStep) -> str:
    """Say why a step of the walk loses digits."""
    if step.what == "sum":
        passed = [evidence.edge(user, place)[1][0] for user, place in evidence.users[step.node]]
        first, second = sorted(passed, key=lambda x: -abs(x) if x == x else 0.0)[:2]
        pair = f"{number_text(first)} and {number_text(second)}"
        return f"the contributions to its grad nearly cancel: {pair}"
    if step.what == "product":
        return "its grad times a local derivative leaves the range of the doubles"
    if step.what == "local":
        if step.before == FULL:
            return "its local derivative leaves the range of the doubles"
        return f"its local derivative magnifies the error of {evidence.run.label(step.source)}"
    return explain_data(evidence, step)


def explain_data(evidence: Evidence, step: LossStep) -> str:
    """Say why a node's data has fewer right digits than its operands."""
    node, graph = step.node, evidence.graph
    kind, operands = graph.kinds[node], graph.operands[node]
    value, true = evidence.data(node)
    given = [evidence.run.values[operand] for operand in operands]
    about = f", where the true value is about {rough_text(true, 4)}" if true.is_finite() else ""
    if not math.isfinite(value):
        return f"it is {number_text(value)} in doubles{about}"
    if abs(value) < SMALLEST and bool(abs(true) < SMALLEST):
        return f"underflow{about}: the doubles have few digits there, or none"
    row = BY_NAME[kind]
    if len(row.signs) == 2:
        adds = row.signs == (1, 1)
        sort = "numbers that nearly cancel" if adds else "nearly equal numbers"
        what = "sum" if adds else "difference"
        return f"the {what} of {sort}: {number_text(given[0])} and {number_text(given[1])}"
    label = evidence.run.label(step.source)
    at = number_text(evidence.run.values[step.source])
    size = max(map(abs, given), default=0.0)
    if row.ill_conditioned == "period" and size >= LARGE:
        return f"{kind} of a large number: {label} is {at}, and its absolute error counts"
    by_far = f"a relative error of {label} grows 10^{step.before - step.after} times here"
    if row.ill_conditioned == "growth" and size >= LARGE:
        if abs(evidence.run.values[step.source]) < LARGE:
            return by_far
        return f"{kind} of a large number turns absolute errors into relative ones: {label} is {at}"
    if row.ill_conditioned == "zero" and 0.5 < given[0] < 2:
        return f"{kind} near its zero: {label} is {at}, whose difference from 1 is mostly rounding error"
    if row.ill_conditioned == "quotient" and abs(given[0]) >= LARGE * abs(given[1]):
        if step.source == operands[0]:
            return (
                f"the remainder of a large number: {label} is {at}, and its absolute error counts"
            )
        times = f"{given[0] / given[1]:.3g}"
        return f"{label} fits {times} times into {number_text(given[0])}, and its error counts as often"
    if row.special:
        return f"{label} is beside a kink or a jump, and its error reaches the other side"
    return by_far
