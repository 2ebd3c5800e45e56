"""Why a node loses digits, in words."""

from __future__ import annotations

import math

from exprgrad.explain.digits.evidence import Evidence, Step
from exprgrad.explain.digits.trusted import FULL
from exprgrad.graph.ops import BY_NAME
from exprgrad.language.write.infix import number
from exprgrad.run.balls.balls import Ball
from exprgrad.run.balls.text import nearest

__all__ = ["reason"]

SMALLEST = 2.2250738585072014e-308
"""The least double with all its digits."""
LARGE = 100.0
"""From here on, an argument is large."""


def reason(evidence: Evidence, step: Step) -> str:
    """Why a step of the walk has fewer right digits than what it is made of."""
    if step.what == "sum":
        return cancelling(evidence, step)
    if step.what == "product":
        return "its grad times a local derivative leaves the range of the doubles"
    if step.what == "local":
        if step.before == FULL:
            return "its local derivative leaves the range of the doubles"
        return f"its local derivative magnifies the error of {evidence.run.label(step.source)}"
    return of_data(evidence, step)


def cancelling(evidence: Evidence, step: Step) -> str:
    """Why the sum of a node's contributions has fewer right digits than they have."""
    passed = [evidence.edge(user, place)[1][0] for user, place in evidence.users[step.node]]
    first, second = sorted(passed, key=lambda x: -abs(x) if x == x else 0.0)[:2]
    return f"the contributions to its grad nearly cancel: {number(first)} and {number(second)}"


def of_data(evidence: Evidence, step: Step) -> str:
    """Why a node's data has fewer right digits than its operands."""
    node, graph = step.node, evidence.graph
    kind, operands = graph.kinds[node], graph.operands[node]
    value, true = evidence.data(node)
    given = [evidence.run.values[operand] for operand in operands]
    if not math.isfinite(value) or (abs(value) < SMALLEST and bool(abs(true) < SMALLEST)):
        return out_of_range(value, true)
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
    if row.magnifies == "growth" and size >= LARGE:
        return f"{kind} of a large number makes relative errors of absolute ones: {label} is {at}"
    if row.magnifies == "zero" and 0.5 < given[0] < 2:
        return f"{kind} near its zero: {label} is {at}, and what sets it apart from 1 is mostly rounded"
    if row.special:
        return f"{label} is beside a kink or a jump, and its error leads to the other side"
    return f"a relative error of {label} counts 10^{step.before - step.after} times as much here"


def out_of_range(value: float, true: Ball) -> str:
    """What is lost beyond the doubles."""
    told = f", where the true value is about {nearest(true, 4)}" if true.is_finite() else ""
    if not math.isfinite(value):
        return f"it is {number(value)} in doubles{told}"
    return f"underflow{told}: the doubles have few digits there, or none"
