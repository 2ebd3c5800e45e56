"""The command ``solve``: the roots of an equation or of a system, each with its proof."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from exprgrad.cli.output import Answer, give
from exprgrad.cli.request import (
    FormulaCommand,
    formula,
    listed_names,
    output_as,
    read_request,
    wrt_option,
)

if TYPE_CHECKING:
    from exprgrad.solvers.roots.problem import Problem
    from exprgrad.solvers.roots.solve import Solution

__all__ = ["solve_command"]


@click.command("solve", cls=FormulaCommand)
@formula
@wrt_option("Solve for these names only; the others keep their values.")
@output_as("one root per line", digits=17)
def solve_command(**options: Any) -> int:
    """The roots of an equation, or of several, separated by ';'.

    NAME=START finds one root near there, NAME=LOW:HIGH all roots in a range.  A name that has either is an
    unknown; L = R is an equation unless L is another name, and an expression alone is to be 0.  With
    --strict the exit status is 1 if nothing is proved.
    """
    from exprgrad.solvers.roots.problem import problem_of
    from exprgrad.solvers.roots.solve import solved

    request = read_request(options, relates="=")
    wrt = listed_names(options["wrt"])
    problem = problem_of(request.text, request.values, wrt, request.spelled)
    return give(root_answer(problem, solved(problem), options), options)


def root_answer(problem: Problem, found: Solution, options: dict[str, Any]) -> Answer:
    """The answer: the roots, and what is known beside them."""
    from exprgrad.show.text.roots import (
        point_text,
        root_fields,
        root_lines,
        root_parts,
        root_rows,
        verdict,
    )

    digits, whole = options["digits"], options["show_all"]
    unproved = [root for root in found.roots if not root.proved]
    aside = ""
    if unproved:
        aside = f"not proved, {point_text(unproved[0], digits)}: {unproved[0].why}"
    elif not (found.excluded or (found.roots and (found.is_whole or not problem.ranges))):
        aside = verdict(problem, found)
    return Answer(
        "solve",
        problem.text,
        root_fields(problem, found).items(),
        root_rows(problem, found),
        root_lines(found),
        lambda _: root_parts(problem, found, digits, whole=whole),
        aside=aside,
        is_doubtful=not found.excluded and not any(root.proved for root in found.roots),
    )
