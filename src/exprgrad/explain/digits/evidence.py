"""A run's numbers, each beside what is true."""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

from exprgrad.explain.digits.trusted import Enclosed
from exprgrad.graph.graph import dependents
from exprgrad.run.balls.balls import Ball, ball, unknown
from exprgrad.run.result import Run

__all__ = ["Evidence", "Step"]


class Step(NamedTuple):
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
    def varying(self) -> bytearray:
        """By node: whether it depends on an input."""
        return dependents(self.graph, self.graph.inputs.values())

    @cached_property
    def users(self) -> dict[int, list[tuple[int, int]]]:
        """By node: the edges along which it was passed something, as (user, position)."""
        users: dict[int, list[tuple[int, int]]] = {}
        assert self.run.adjoints is not None
        for user in self.run.adjoints.order:
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
