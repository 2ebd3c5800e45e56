"""Roots, as people use them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from numbers import Real
from typing import Any

from exprgrad.api.displays import Printed
from exprgrad.errors import require_kind
from exprgrad.show.text.searches import ALL_DIGITS, root_parts
from exprgrad.show.text.table import Table
from exprgrad.solvers.roots.solve import Problem, Solution, root_problem, solve_problem

__all__ = ["Solved", "solve"]


class Solved(Printed, Solution):
    """Roots that print as their table, in a notebook too."""

    problem: Problem

    def parts(self) -> Iterable[str | Table]:
        """The texts and tables that a command prints."""
        return root_parts(self.problem, self, ALL_DIGITS, whole=False)

    def __reduce__(self) -> tuple[Any, ...]:
        return Solution, (*self,)


def solve(
    equations: str,
    values: Mapping[str, object] | None = None,
    /,
    *,
    wrt: Iterable[str] | None = None,
    **unknowns: object,
) -> Solved:
    """The roots of an equation: ``solve("x = cos(x)", x=1)``, or of several, separated by ``;``.

    A number is a start, near which one root is looked for; a pair, ``x=(-10, 10)``, or a text ``"-10:10"``
    is a range, in which all are.  A name that has either is an unknown; with ``wrt`` only those names are,
    and the others keep their values; a number for ``wrt`` is the start of an unknown of that name.
    ``L = R`` is an equation unless L is another name, which it binds; an expression alone is to be 0.

    The answer prints as its table: each of ``.roots`` has ``point``, ``enclosure`` and ``proved``, which
    says that exactly one root of the formula, its decimals as typed, lies in the enclosure.
    ``.excluded``: it is proved that there is none.  Raises ``InputError`` or ``RequestError`` for what
    cannot be solved.
    """
    require_kind(equations, str, "the equations are a string, such as 'x = cos(x)'")
    if isinstance(wrt, Real):
        unknowns, wrt = {**unknowns, "wrt": wrt}, None
    problem = root_problem(equations, {**(values or {}), **unknowns}, wrt)
    found = Solved(*solve_problem(problem))
    found.problem = problem
    return found
