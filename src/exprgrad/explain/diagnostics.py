"""Diagnostics of a run: the first node to become nan or infinite, and every kink or jump met."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

from exprgrad.graph.graph import CONST, INPUT, dependencies
from exprgrad.graph.ops import BY_NAME
from exprgrad.run.result import Run
from exprgrad.run.sweeps import Adjoints
from exprgrad.source import Span

if TYPE_CHECKING:
    from exprgrad.explain.sides.kinks import OneSided

__all__ = ["Diagnostic", "diagnose", "live", "special_words", "unused_bindings"]


class Diagnostic(NamedTuple):
    """Something worth knowing about a run.

    ``code`` is ``nan`` or ``infinity`` (of a node's data), ``nan-gradient`` or ``infinite-gradient``,
    ``kink`` or ``jump`` (of a node, or along an input), ``corrected``, ``undecided`` or ``exists`` (of the
    derivative by an input), ``many-inputs`` (for which that was not asked), or ``unused`` (a named
    statement); ``severity`` is ``warning``, or ``note`` where the answer does not depend on it.
    ``path`` is, for a number that is not finite, its way to the output: ``exp(x) → 1 + exp(x) → …``.
    """

    code: str
    severity: str
    message: str
    node: int
    span: Span
    help: str | None
    path: str | None = None


def diagnose(run: Run, one_sided: Mapping[str, OneSided] | None = None) -> list[Diagnostic]:
    """Everything worth knowing about a run, in the order in which it came about.

    ``one_sided`` are the derivatives from the sides, where somebody asks what a kink comes to.
    """
    used = live(run)
    found = [*unused_bindings(run)]
    if not all(map(math.isfinite, run.values)):
        from exprgrad.explain.blame import forward_trouble

        found += forward_trouble(run, used)
    if run.adjoints is not None:
        if isinstance(run.adjoints, Adjoints) and not run.adjoints.quiet:
            from exprgrad.explain.special import special_points

            found += special_points(run, used, one_sided)
        if not all_finite(run):
            from exprgrad.explain.blame import reverse_trouble

            found += reverse_trouble(run, used)
    if one_sided:
        from exprgrad.explain.sides.kinks import verdicts

        found += verdicts(run, one_sided)
    return found


def all_finite(run: Run) -> bool:
    """Whether the reverse sweep met finite numbers alone.

    What is not finite reaches an input, unless an edge passes nothing on.
    """
    if not all(map(math.isfinite, run.swept.values())):
        return False
    sweep = run.adjoints
    if not isinstance(sweep, Adjoints) or sweep.tape.gated is None:
        return True
    return all(map(math.isfinite, filter(None, sweep.grads)))


def live(run: Run) -> bytearray:
    """The nodes that the answer comes from: not those behind a branch that was not taken."""
    graph = run.graph
    if not any(BY_NAME[kind].branches for kind in set(graph.kinds) - {INPUT, CONST}):
        return dependencies(graph, graph.output)
    used = bytearray(len(graph))
    used[graph.output] = 1
    for node in range(graph.output, -1, -1):
        operands = graph.operands[node]
        if used[node] and operands:
            branches = BY_NAME[graph.kinds[node]].branches
            taken = branches and branches[0 if run.values[operands[0]] else 1]
            for position, operand in enumerate(operands):
                if position == taken or position not in branches:
                    used[operand] = 1
    return used


def unused_bindings(run: Run) -> Iterator[Diagnostic]:
    """The named statements that the output does not depend on."""
    if not run.graph.bindings:
        return
    needed = dependencies(run.graph, run.graph.output)
    for name, node, span in run.graph.bindings:
        if not needed[node]:
            yield Diagnostic(
                "unused", "note", f"the output does not use '{name}'", node, span, None
            )


# Points at which a derivative is a convention.


def special_words(code: str) -> tuple[str, str]:
    """What a node does at a kink or a jump, and help."""
    if code == "kink":
        help = "its derivatives from the two sides may differ; the answer is a convention"
        return "has a kink", help
    help = "there is no derivative at a jump; the answer is that of the side that has the value"
    return "jumps", help
