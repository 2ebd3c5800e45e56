"""How many digits of a run's value and gradient are right, and what the true numbers are.

The formula is worked out again in ball arithmetic at the exact double inputs, in ever higher precision
until every number asked for has a tight enclosure.
"""

from __future__ import annotations

from exprgrad.errors import RequestError
from exprgrad.explain.digits.evidence import Evidence
from exprgrad.explain.digits.lost import find_lost
from exprgrad.explain.digits.trusted import Trust, Trusted, derivative, enclosed, judged
from exprgrad.explain.kinks_met import flagged
from exprgrad.explain.rewriting.better import Menders
from exprgrad.graph.graph import dependents
from exprgrad.run.balls.balls import Ball
from exprgrad.run.result import Run

__all__ = ["trust"]

FEW = 13
"""Digits count as lost where no more than these are left: rounding alone takes two or three."""
MOST_EXPLAINED = 16
"""For how many numbers it is worked out where their digits are lost: each takes a walk over the graph."""
BEST = ("exact", "rounded", "pole", "undefined")
"""Verdicts on numbers that lost nothing."""


def trust(run: Run) -> Trust:
    """How far a run's numbers can be trusted, where their digits are lost, and what would keep them.

    Raises ``MissingExtraError`` without python-flint, ``RequestError`` for a formula of tensors.
    """
    if run.shapes is not None:
        raise RequestError(
            "tensor-trust",
            "trusted digits are for formulas of numbers; this one is of tensors",
            help="write one entry of a small example out in numbers: x1*w1 + x2*w2, not X @ w",
        )
    found = enclosed(run.graph, run.inputs, run.wrt)
    evidence = Evidence(run, found)
    special = conventional(run)
    corrected = run.corrected
    menders = Menders(run, found.values[run.graph.output])
    explained: list[str] = []

    def measured(name: str, value: float, true: Ball) -> Trusted:
        if name in corrected:
            return Trusted(value, 0, False, "corrected", None, None, None, True, None, None)
        plain = judged(value, true, found.bits)._replace(convention=name in special)
        if plain.verdict in BEST or plain.digits > FEW or (plain.verdict == "zero" and value == 0):
            return plain
        explained.append(name)
        if len(explained) > MOST_EXPLAINED:
            return plain
        lost, nodes = find_lost(evidence, name, plain.digits)
        if lost is None or plain.verdict == "undecided":  # such a ball meets any other
            return plain._replace(lost=lost)
        better = menders.better(name, nodes, plain, true)
        return plain._replace(lost=lost, rewrite=better)

    value = measured("", run.value, found.values[run.graph.output])
    gradient = {
        name: measured(name, number, derivative(found, run.graph, name))
        for name, number in run.gradient.items()
    }
    return Trust(value, gradient, found.bits)


def conventional(run: Run) -> set[str]:
    """The inputs whose derivative is a convention at this point."""
    unsure = [name for name, one in run.one_sided.items() if one.verdict != "exists"]
    bent = flagged(run) if unsure else []

    def is_bent(name: str) -> bool:
        moved = dependents(run.graph, [run.graph.inputs[name]])
        return any(moved[node] for node in bent)

    return {name for name in unsure if is_bent(name)}
