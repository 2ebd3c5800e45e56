"""Where the truth about an answer's numbers comes from, and what is to blame where they lose digits."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Protocol

from exprgrad.explain.diagnostic import Path
from exprgrad.explain.digits.lost import Evidence, find_lost
from exprgrad.explain.digits.trusted import Enclosed, Trusted, derivative, enclosed
from exprgrad.explain.rewriting.mending import Menders
from exprgrad.graph.graph import Graph
from exprgrad.run.balls.balls import Ball
from exprgrad.run.evaluation import Run
from exprgrad.source import Span, cut

__all__ = ["Source", "Swept"]

LONGEST_LABEL = 40
"""Where the text of a formula is cut that a number is called by."""
Place = tuple[int, Span, str | None]
"""A node of the user's graph, its place in the text, and help."""


class Source(Protocol):
    """What knows the truth about the numbers of an answer, by their paths.

    ``bits`` is the precision that it took, once it was told which numbers to ``seek``.
    """

    @property
    def bits(self) -> int:
        """The precision that it took."""

    def seek(self, paths: Sequence[Path]) -> None:
        """Say which numbers will be asked for."""

    def truth(self, path: Path) -> tuple[Ball, Ball]:
        """The true number for the doubles that were read, and for the decimals as they are typed."""

    def label(self, path: Path) -> str:
        """What messages call a number."""

    def place(self, path: Path) -> Place:
        """Where a number stands."""

    def blamed(self, path: Path, plain: Trusted, true: Ball) -> Place | None:
        """Where its digits are lost, and what would keep them; ``plain`` is the sweep's number."""


def is_same_typed(graph: Graph, inputs: Mapping[str, float]) -> bool:
    """Whether all inputs and literals are the decimals that they are written as: whole numbers, say."""
    from fractions import Fraction

    constants = [x for x in graph.payloads if isinstance(x, float)]
    return all(
        not math.isfinite(x) or x.is_integer() or Fraction(x) == Fraction(repr(x))
        for x in [*constants, *inputs.values()]
    )


class Swept:
    """The truth about a run's value and gradient, which two sweeps find: in doubles, and in balls."""

    def __init__(self, run: Run) -> None:
        self.run = run

    @cached_property
    def found(self) -> Enclosed:
        """What is true of the doubles."""
        return enclosed(self.run.graph, self.run.inputs, self.run.wrt)

    @cached_property
    def typed(self) -> Enclosed:
        """What is true of the decimals as typed."""
        run = self.run
        if is_same_typed(run.graph, run.inputs):
            return self.found
        return enclosed(run.graph, run.inputs, run.wrt, typed=True)

    @cached_property
    def evidence(self) -> Evidence:
        """The doubles beside what is true."""
        return Evidence(self.run, self.found)

    @cached_property
    def menders(self) -> Menders:
        """The known mends of the formula."""
        return Menders(self.run, self.found.values[self.run.graph.output])

    @property
    def bits(self) -> int:
        """The precision that it took."""
        return self.found.bits

    def seek(self, paths: Iterable[Path]) -> None:
        """All numbers come of one sweep."""

    def truth(self, path: Path) -> tuple[Ball, Ball]:
        """A number for the doubles that were read, and for the decimals as they are typed."""
        graph = self.run.graph
        found = (
            derivative(one, graph, path[1]) if path[1:] else one.values[graph.output]
            for one in (self.found, self.typed)
        )
        return next(found), next(found)

    def label(self, path: Path) -> str:
        """The output's text, or ``x.grad``."""
        run = self.run
        return f"{path[1]}.grad" if path[1:] else cut(run.label(run.graph.output), LONGEST_LABEL)

    def place(self, path: Path) -> Place:
        """The output, or an input."""
        graph = self.run.graph
        node = graph.inputs[path[1]] if path[1:] else graph.output
        return node, graph.span(node), None

    def blamed(self, path: Path, plain: Trusted, true: Ball) -> Place | None:
        """The node that loses most digits, and the rewrite that keeps them, if one is known."""
        name = path[1] if path[1:] else ""
        lost, nodes = find_lost(self.evidence, name, plain.digits)
        if lost is None:
            return None
        help = f"{self.run.label(lost.node)} loses them: {lost.why}"
        better = self.menders.better(name, nodes, plain, true)
        if better is not None:
            help += f"; write {better.text} instead of {better.was}"
        return lost.node, lost.span, help
