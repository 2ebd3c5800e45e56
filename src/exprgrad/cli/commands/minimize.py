"""The command ``minimize``: a minimum, and what can be said of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from exprgrad.cli.output import Answer, give
from exprgrad.cli.request import (
    Count,
    FormulaCommand,
    digits_shown,
    evaluator_of,
    formula,
    listed_names,
    output_as,
    start,
    wrt_option,
)

if TYPE_CHECKING:
    from exprgrad.solvers.minima.minimize import Minimum

__all__ = ["minimize_command"]

LONGEST_SEARCH = 1_000_000


@click.command("minimize", cls=FormulaCommand)
@formula
@wrt_option("Move these inputs only.")
@click.option(
    "--bounds", metavar="NAME=LOW:HIGH[,…]", help="Stay within these intervals: x=0:inf,y=-1:1."
)
@click.option(
    "--subject",
    multiple=True,
    metavar="CONSTRAINT",
    help='A constraint: "x^2 + y^2 <= 1", "x + y == 2", "0 <= x <= y".  As often as you like.',
)
@click.option("--maximize", is_flag=True, help="Look for a maximum.")
@click.option(
    "--steps",
    "count",
    type=Count(0, LONGEST_SEARCH),
    metavar="N",
    help="The most steps to take, 1000 or more; 0 judges the start.",
)
@click.option(
    "--starts",
    type=Count(1, 10_000),
    default=1,
    metavar="N",
    show_default=True,
    help="Try so many starts: yours, and others around it or within bounds.",
)
@click.option(
    "--seed",
    type=Count(0),
    default=0,
    metavar="N",
    show_default=True,
    help="Which starts are drawn.",
)
@click.option("--trace", is_flag=True, help="Show the way there, step by step.")
@output_as("one input per line")
def minimize_command(**options: Any) -> int:
    """A minimum, and what shows that it is one.

    The search starts from the values given: Newton's method within a trust region, with exact second
    derivatives.  The verdict is minimum, saddle, flat, unbounded, kink or not converged.  With --strict
    the exit status is 1 unless it is a minimum.
    """
    from exprgrad.cli.assignments import intervals

    expression, request = start(options)
    _, given = evaluator_of(expression, request)
    bounds = options["bounds"]
    found = expression.minimize(
        given,
        wrt=listed_names(options["wrt"]),
        bounds=None if bounds is None else intervals(bounds, "--bounds"),
        subject=options["subject"],
        maximize=options["maximize"],
        steps=options["count"],
        starts=options["starts"],
        seed=options["seed"],
    )
    return give(minimum_answer(expression.text, given, found, options), options)


def minimum_answer(
    text: str, inputs: Mapping[str, Any], found: Minimum[Any], options: Mapping[str, Any]
) -> Answer:
    """The answer: value and gradient are those that grad prints at the point."""
    from exprgrad.explain.diagnostics import told_once
    from exprgrad.run.evaluation import evaluator_for
    from exprgrad.show.documents.fields import records, shorts
    from exprgrad.show.documents.runs import guard_fields
    from exprgrad.show.text import minima

    # Of a gradient that is 0 no digit can be right, so the value alone is guarded.
    run = found.run
    forward = type(run).of(text, evaluator_for(run.graph), run.inputs, spelled=run.spelled)
    answer = forward.guarded(digits_shown(options))
    diagnostics = told_once(run.remarks, answer)
    fields = {
        "inputs": shorts(inputs),
        "output": {"node": run.graph.output, "name": run.graph.output_name},
        "point": shorts(found.point),
        "value": answer.value,
        "verdict": found.verdict,
        "message": found.message,
        "gradient": shorts(run.gradient),
        **dict(guard_fields(answer)),
        **minima.found_fields(found, trace=options["trace"]),
        "diagnostics": records(diagnostics),
    }
    digits, whole = options["digits"], options["show_all"]

    def shown(_: Any) -> list[Any]:
        way = [minima.stage_table(found, digits, whole=whole), ""] if options["trace"] else []
        numbers = answer.value, run.gradient
        if found.places:
            way += [minima.place_table(found, digits, whole=whole), ""]
        return [*way, minima.point_table(found, inputs, *numbers, digits, whole=whole)]

    return Answer(
        "minimize",
        text,
        fields.items(),
        minima.point_rows(found, inputs, run.gradient),
        found.point.items(),
        shown,
        diagnostics,
        aside="" if found.is_found else f"{found.verdict}: {found.message}",
        is_doubtful=not found.is_found,
    )
