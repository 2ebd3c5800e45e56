"""Where digits are lost: the node at which a number has far fewer right digits than what it is made of.

From the number that is asked about, a walk follows the error back to where it came from: at each step
to the operand, or the contribution, whose error weighs most.  The node with the largest drop on that walk
is the one to blame.  The walk goes through the reverse sweep first, if a derivative is asked about, and
then through the data.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from exprgrad.derive.rules import template
from exprgrad.explain.digits.evidence import Evidence, Step
from exprgrad.explain.digits.losses import reason
from exprgrad.explain.digits.trusted import FULL, Lost, right_digits
from exprgrad.graph.ops import BY_NAME
from exprgrad.run.balls.balls import Ball, ball, unknown, working
from exprgrad.run.balls.sweep import locals_of

__all__ = ["find_lost"]

LEAST_DROP = 2
"""A node loses digits if it has so many fewer than what it is made of."""
ROUNDED = 16
"""The most digits of a number that was rounded."""


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


def find_lost(evidence: Evidence, name: str, digits: int) -> tuple[Lost | None, list[int]]:
    """The node that loses most of a number's digits: those of the value, or of an input's derivative.

    ``digits`` is how many the number has in the end: what a partial sum has fewer is not lost to it.  Then
    all nodes that the error came through, this one first.
    """
    graph = evidence.graph
    with working(max(evidence.found.bits, 128)):
        walk = by_grads(evidence, graph.inputs[name]) if name else by_data(evidence, graph.output)
        steps = list(walk)
        worst = max(steps, key=lambda step: step.before - max(step.after, digits), default=None)
        if worst is None or worst.before - max(worst.after, digits) < LEAST_DROP:
            return None, [step.node for step in steps]
        why = reason(evidence, worst)
    lost = Lost(worst.node, graph.span(worst.node), min(worst.before, ROUNDED), worst.after, why)
    return lost, list(dict.fromkeys([worst.node, *(step.node for step in steps)]))


def by_data(evidence: Evidence, node: int) -> Iterator[Step]:
    """From a node's data to the operand whose error weighs most, and so on."""
    graph = evidence.graph
    while graph.operands[node]:
        pairs = [evidence.data(operand) for operand in graph.operands[node]]
        own = kept(evidence.data(node))
        digits = [kept(pair) for pair in pairs]
        if min(digits) == FULL:
            yield Step(node, "data", FULL, own, node)
            return
        place = weightiest(evidence, node, pairs)
        if place is None:  # the error is the node's own
            yield Step(node, "data", min(digits), own, node)
            return
        operand = graph.operands[node][place]
        yield Step(node, "data", digits[place], own, operand)
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
    slopes = locals_of(graph, values, node, places, evidence.varying)
    for place, slope in zip(places, slopes, strict=True):
        weights[place] = abs(slope * far[place]).abs_upper() if slope.is_finite() else unknown()
    best = heaviest(weights)
    mine = error(evidence.data(node))
    if bool(weights[best] * 100 >= mine) or not weights[best].is_finite():
        return best
    if BY_NAME[graph.kinds[node]].special:  # across a jump, or the other branch: no slope tells
        digits = [kept(pair) for pair in pairs]
        return digits.index(min(digits))
    return None


def by_grads(evidence: Evidence, node: int) -> Iterator[Step]:
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
            yield Step(node, "sum", digits, own, user)
        above, along = kept(evidence.grad(user)), kept(slope)
        yield Step(user, "product", min(above, along), digits, node)
        if above <= along and above < FULL:
            node = user
            continue
        if along < FULL:
            yield from by_local(evidence, user, position, along)
        return


def by_local(evidence: Evidence, user: int, position: int, own: int) -> Iterator[Step]:
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
    yield Step(user, "local", min(digits), own, source)
    yield from by_data(evidence, source)
