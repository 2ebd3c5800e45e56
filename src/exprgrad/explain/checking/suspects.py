"""Which rule is to blame where a gradient is wrong: every edge by itself, held against differences.

The local derivative of an edge is compared with the difference quotient of that one operation at its
operands' data: in balls where python-flint is there, else in doubles.  If all of them are right, then so is
the gradient, but for rounding: for it is made of nothing else.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from exprgrad.explain.checking.differences import Estimate, differences
from exprgrad.explain.checking.true_differences import true_differences
from exprgrad.explain.checking.verdicts import Verdict, apart
from exprgrad.graph.graph import Graph
from exprgrad.graph.ops import BY_NAME
from exprgrad.run.balls.balls import enclose, has_balls
from exprgrad.run.evaluation import Run
from exprgrad.run.numbers.sweeps import Adjoints

__all__ = ["Wrong", "accusing", "blamed", "wrong_numbers"]

BITS = 2200
"""Enough for one operation on doubles: from 2^1024 to 2^-1074 are 2098 bits, and a double's 53 are left."""


WITHOUT_FRACTIONS = 2.0**53
"""From here on there are no doubles between the whole numbers."""

MOST_NODES = 20_000
"""How many operations are looked at one by one, in seconds: a quarter of a millisecond each."""


class Wrong(NamedTuple):
    """A number that is wrong: a node's local derivative at a position, or its data (position None)."""

    user: int
    position: int | None
    says: float
    true: float


def wrong_numbers(run: Run, work: int) -> Iterator[Wrong]:
    """The local derivatives and data that are wrong at their operands' data, from the output down.

    Where a rule is a convention there is nothing to compare it with.  Of very many nodes, equally many of
    each operation are looked at.  Each edge has its share of the ``work``, in bits times nodes.
    """
    assert isinstance(run.adjoints, Adjoints)
    edges = sum(len(run.graph.operands[user]) for user in run.order)
    seen = Counter(run.graph.kinds[user] for user in run.order if run.graph.operands[user])
    most = MOST_NODES if seen.total() <= MOST_NODES else MOST_NODES // len(seen)
    seen.clear()
    bent, in_balls = run.adjoints.met, has_balls()
    for user in run.order:
        operands = run.graph.operands[user]
        if not operands or not all(is_known(run.values[node]) for node in operands):
            continue
        seen[run.graph.kinds[user]] += 1
        if seen[run.graph.kinds[user]] > most:
            continue
        lone, inputs = alone(run, user)
        op = BY_NAME[run.graph.kinds[user]]
        says = run.values[user]
        value = true_value(lone, inputs) if in_balls else None
        if value is not None:
            allowed = max((op.value_ulp + 1) * math.ulp(value), op.value_abs)
            if not abs(says - value) <= allowed:
                yield Wrong(user, None, says, value)
        for position, local in enumerate(run.adjoints.locals[user] or ()):
            if local is None or user in bent:
                continue
            truth = true_local(lone, inputs, position, local, work // edges)
            if truth is not None:
                rounded = max((op.partial_ulp + 1) * math.ulp(truth.value), op.partial_abs)
                allowed = truth.error + rounded
                if not abs(local - truth.value) <= allowed:
                    yield Wrong(user, position, local, truth.value)


def is_known(x: float) -> bool:
    """Whether a double is one that balls know: finite, and no negative zero."""
    return math.isfinite(x) and (x != 0 or math.copysign(1.0, x) > 0)


def alone(run: Run, user: int) -> tuple[Graph, dict[str, float]]:
    """One operation by itself, each operand an input of its own, and the operands' data."""
    from exprgrad.derive.build import Builder

    builder, operands = Builder(plain=True), run.graph.operands[user]
    inputs = {f"operand {place}": run.values[operand] for place, operand in enumerate(operands)}
    names = [builder.input(name) for name in inputs]
    builder.graph.output = builder.apply(run.graph.kinds[user], *names)
    return builder.graph, inputs


def true_value(graph: Graph, inputs: dict[str, float]) -> float | None:
    """One operation's value, by balls; None where they do not tell a double."""
    true = enclose(graph, inputs, BITS)[graph.output]
    found = float(true) if true.is_finite() else math.inf
    return found if math.isfinite(found) else None


def true_local(
    graph: Graph, inputs: dict[str, float], place: int, local: float, work: int
) -> Estimate | None:
    """One operation's derivative with respect to one operand, by differences; None where they show none.

    So it is at a kink, at a jump, and where there are values on one side alone; in doubles also at data so
    large that all doubles are whole numbers: there nobody sees the steps of ``round``.
    """
    at = inputs[f"operand {place}"]
    if not has_balls():
        if abs(at) >= WITHOUT_FRACTIONS:
            return None
        center, left, right = differences(graph, inputs, place, at)
        if center is None or left is None or right is None:
            return None
        bent = abs(left.value - right.value) > left.error + right.error
        return None if bent or not center.settled(local) else center
    found = true_differences(graph, inputs, place, at, work, local)
    if found.kind != "smooth" or found.center is None:
        return None
    value = float(found.center)
    return Estimate(value, 0.0) if math.isfinite(value) else None


def blamed(
    run: Run, found: Sequence[Wrong], node: int, analytic: float, numeric: float
) -> Wrong | None:
    """Which wrong number explains a wrong derivative with respect to a node; None if none does.

    The derivative is found again with the true numbers instead of the wrong ones.  If that does not bring
    it nearer to what differences say, they are innocent.  The one that changes it most is blamed.
    """
    data = [wrong for wrong in found if wrong.position is None]
    if data or not found:
        return data[-1] if data else None
    grads, tangents = mended(run, found, node)
    before, after = abs(analytic - numeric), abs(grads[node] - numeric)
    if math.isfinite(before) and not after <= before / 2:
        return None
    return max(found, key=lambda wrong: effect(run, wrong, grads, tangents))


def mended(run: Run, rules: Sequence[Wrong], node: int) -> tuple[list[float], list[float]]:
    """Every node's grad, and its derivative with respect to a node, with the true local derivatives."""
    graph, order = run.graph, run.order
    assert run.adjoints is not None
    locals_ = {user: [*local] for user in order if (local := run.adjoints.locals[user]) is not None}
    for wrong in rules:
        assert wrong.position is not None
        locals_[wrong.user][wrong.position] = wrong.true
    grads, tangents = [0.0] * len(graph), [0.0] * len(graph)
    grads[graph.output] = tangents[node] = 1.0
    for user in order:
        for operand, local in zip(graph.operands[user], locals_.get(user, ()), strict=False):
            if local:
                grads[operand] += grads[user] * local
    for user in reversed(order):
        for operand, local in zip(graph.operands[user], locals_.get(user, ()), strict=False):
            if local and user != node:
                tangents[user] += local * tangents[operand]
    return grads, tangents


def effect(run: Run, wrong: Wrong, grads: Sequence[float], tangents: Sequence[float]) -> float:
    """By how much a wrong local derivative changes the derivative."""
    assert wrong.position is not None
    operand = run.graph.operands[wrong.user][wrong.position]
    found = abs(grads[wrong.user] * (wrong.says - wrong.true) * tangents[operand])
    return math.inf if found != found else found


def accusing(found: Verdict, run: Run, wrong: Wrong) -> Verdict:
    """A verdict that blames a number that is wrong."""
    graph, user = run.graph, wrong.user
    op = BY_NAME[graph.kinds[user]]
    what, by, says, true = (
        op.infix or op.prefix or op.name,
        "differences",
        *apart(wrong.says, wrong.true),
    )
    if wrong.position is None:
        what, by = f"the value of {what}", "balls"
    else:
        what = f"the rule of {what} for {run.label(graph.operands[user][wrong.position])}"
    place = f"at node {user} '{run.texts[user]}'"
    why = f"{what}, {place}, is suspect: it says {says}, {by} say {true}"
    return found.blaming(user, graph.span(user), why)
