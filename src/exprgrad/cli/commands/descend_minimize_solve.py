"""The commands that look for a point: ``descend``, step by step, ``minimize``, and ``solve``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from itertools import chain
from typing import TYPE_CHECKING, Any

import click

from exprgrad.cli.answer import Answer, give_answer
from exprgrad.cli.command import FormulaCommand
from exprgrad.cli.options import (
    Count,
    digits_needed,
    drawing_option,
    formula_arguments,
    look_option,
    output_options_as,
    picture_format,
    split_names,
    starts_options,
    wrt_option,
)
from exprgrad.cli.request import parse_request, prepare_evaluator, read_request
from exprgrad.explain.limits import MOST_STEPS
from exprgrad.show.documents.document import Lines, record_lines, shorten_tensors

if TYPE_CHECKING:
    from exprgrad.explain.descent import Descent
    from exprgrad.run.evaluation import Guarded
    from exprgrad.show.text.table import Screen, Table
    from exprgrad.solvers.minima.minimize import Minimum

__all__ = ["descend_command", "minimize_command", "solve_command"]


@click.command("descend", cls=FormulaCommand)
@formula_arguments
@click.option(
    "--rate", metavar="NUMBER",
    help="Each step adds -NUMBER times the gradient, 0.1 by default; a negative one climbs.",
)  # fmt: skip
@click.option(
    "--max-steps", "count", type=Count(1, MOST_STEPS), default=20, show_default=True, metavar="N",
    help=f"The most steps to take, {MOST_STEPS} at most.",
)  # fmt: skip
@click.option(
    "--momentum", metavar="NUMBER",
    help="Add this fraction of the last update to each step, such as 0.9, as PyTorch's SGD does.",
)  # fmt: skip
@click.option("--adam", is_flag=True, help="Use Adam.")
@click.option(
    "--line-search", is_flag=True,
    help="Start each step at a rate of 1, and halve it until the value falls enough.",
)  # fmt: skip
@wrt_option("Move these inputs only.")
@click.option(
    "--every", type=Count(1), default=1, metavar="N", help="List every Nth step, and the last."
)
@look_option
@output_options_as("one step per line", document=drawing_option("the value at each step"))
def descend_command(**options: Any) -> int:
    """Gradient descent: each step's value, gradient and update.

    The descent ends early if it converges, goes back and forth between two points, or meets a number that
    is not finite.  Warnings are about the last point, whose value and grads are those that grad prints, and
    about steps with fewer than 6 right digits.  With --strict the exit status is 1 if there is a warning,
    or if the descent diverged, stalled or met a nan.
    """
    from exprgrad.run.values.inputs import as_number

    picture = picture_format(options)
    expression, request = parse_request(options)
    numbers: dict[str, Any] = {
        name: None if options[name] is None else as_number(options[name], f"--{name}")
        for name in ("rate", "momentum")
    }
    _, given = prepare_evaluator(expression, request)
    names = split_names(options["wrt"])
    how = {name: options[name] for name in ("adam", "line_search")}
    found = expression.descend(given, steps=options["count"], wrt=names, **numbers, **how)
    if picture:
        found.save(options["path"], options["look"])
    return give_answer(descent_answer(expression.text, given, found, options), options)


def descent_answer(
    text: str,
    inputs: Mapping[str, Any],
    found: Descent[Any],
    options: Mapping[str, Any],
) -> Answer:
    """The answer: its last point has the value and the gradient that grad prints."""
    from exprgrad.explain.descent import divergence_warning, lost_step_warnings
    from exprgrad.explain.diagnostics import merge_remarks
    from exprgrad.show.text import searches
    from exprgrad.show.text.nodes import correction_notes

    run = found.run
    answer = run.guarded(digits_needed(options))
    *before, last = found.steps
    last = last._replace(value=answer.value, gradient=answer.gradient)
    doubts = [one for one in found.doubts if one[0] < last.step]  # of the last the answer tells
    found = found._replace(steps=[*before, last], doubts=doubts)
    diagnostics = [
        *divergence_warning(found),
        *lost_step_warnings(found),
        *merge_remarks(run.remarks, answer),
    ]
    every = options["every"]
    fields = {
        **descent_fields(inputs, found, answer, every),
        "diagnostics": record_lines(diagnostics),
    }

    def lay_out(screen: Screen) -> list[Table]:
        corrections = correction_notes(answer, screen.digits)
        how = {"whole": screen.whole, "every": every}
        return [searches.descent_table(found, screen.digits, corrections, **how)]

    return Answer(
        "descend",
        text,
        fields.items(),
        None,
        found.inputs.items(),
        lay_out,
        diagnostics,
        aside=searches.ending_text(found) if found.verdict in ("nan", "stalled") else "",
        is_doubtful=found.verdict in ("diverged", "nan", "stalled"),
    )


def descent_fields(
    inputs: Mapping[str, Any], found: Descent[Any], answer: Guarded, every: int
) -> dict[str, Any]:
    """The fields of the JSON object without the diagnostics."""
    from exprgrad.show.documents.runs import guard_fields
    from exprgrad.show.text.searches import every_nth_step

    graph, method, last = found.run.graph, found.method, found.steps[-1]
    return {
        "inputs": shorten_tensors(inputs),
        "output": {"node": graph.output, "name": graph.output_name},
        "rate": found.rate,
        "method": method.name,
        **({"momentum": method.momentum} if method.name == "momentum" else {}),
        "verdict": found.verdict,
        "message": found.message,
        "value": last.value,
        "gradient": last.gradient,
        **guard_fields(answer),
        "lost": found.lost,
        "final": last.inputs,
        "steps": Lines(
            {
                "step": step.step,
                "value": step.value,
                "inputs": shorten_tensors(step.inputs),
                "gradient": shorten_tensors(step.gradient),
                "update": step.update and shorten_tensors(step.update),
            }
            for step in every_nth_step(found, every)
        ),
    }


# A minimum.

LONGEST_SEARCH = 1_000_000


@click.command("minimize", cls=FormulaCommand)
@formula_arguments
@wrt_option("Move these inputs only.")
@click.option(
    "--bounds", metavar="NAME=LOW:HIGH[,…]", help="Stay within these intervals: x=0:inf,y=-1:1."
)
@click.option(
    "--subject",
    multiple=True,
    metavar="CONSTRAINT",
    help='A constraint: "x^2 + y^2 <= 1", "x + y == 2", "0 <= x <= y".  May be repeated.',
)
@click.option("--maximize", is_flag=True, help="Look for a maximum.")
@click.option(
    "--max-steps",
    "count",
    type=Count(0, LONGEST_SEARCH),
    metavar="N",
    help="The most steps to take, at least 1000 by default; 0 judges the start.",
)
@starts_options
@click.option("--trace", is_flag=True, help="Show the search step by step.")
@output_options_as("one input per line")
def minimize_command(**options: Any) -> int:
    """A minimum, and what shows that it is one.

    The search starts from the values given: Newton's method within a trust region, with exact second
    derivatives.  The verdict is minimum, saddle, flat, unbounded, kink or not converged.  With --strict
    the exit status is 1 unless it is a minimum.
    """
    from exprgrad.cli.assignments import read_intervals

    expression, request = parse_request(options)
    _, given = prepare_evaluator(expression, request)
    bounds = options["bounds"]
    found = expression.minimize(
        given,
        wrt=split_names(options["wrt"]),
        bounds=None if bounds is None else read_intervals(bounds, "--bounds"),
        subject=options["subject"],
        maximize=options["maximize"],
        steps=options["count"],
        starts=options["starts"],
        seed=options["seed"],
    )
    return give_answer(minimum_answer(expression.text, given, found, options), options)


def minimum_answer(
    text: str, inputs: Mapping[str, Any], found: Minimum[Any], options: Mapping[str, Any]
) -> Answer:
    """The answer: value and gradient are those that grad prints at the point."""
    from exprgrad.explain.diagnostics import merge_remarks
    from exprgrad.show.documents.runs import guard_fields
    from exprgrad.show.text import searches
    from exprgrad.solvers.minima.minimize import value_alone

    run = found.run
    answer = value_alone(run).guarded(digits_needed(options))
    diagnostics = merge_remarks(run.remarks, answer)
    fields = {
        "inputs": shorten_tensors(inputs),
        "output": {"node": run.graph.output, "name": run.graph.output_name},
        "point": shorten_tensors(found.point),
        "value": answer.value,
        "verdict": found.verdict,
        "message": found.message,
        "gradient": shorten_tensors(run.gradient),
        **guard_fields(answer),
        "direction": found.direction and shorten_tensors(found.direction),
        "curvature": found.curvature,
        "active": [one._asdict() for one in found.active],
        "residual": found.residual,
        **({"kinks": found.kinks, "slopes": found.slopes} if found.kinks else {}),
        "is_found": found.is_found,
        "evaluations": asdict(found.counts),
        **({"minima": searches.records_at(found.places, "point")} if found.places else {}),
        **({"steps": searches.records_at(found.stages, "inputs")} if options["trace"] else {}),
        "diagnostics": record_lines(diagnostics),
    }

    def lay_out(screen: Screen) -> Iterator[str | Table]:
        how = {"trace": options["trace"], "whole": screen.whole}
        return searches.minimum_parts(found, inputs, answer.value, screen.digits, **how)

    given = fields.items(), None, found.point.items(), lay_out, diagnostics
    return Answer(
        "minimize",
        text,
        *given,
        aside="" if found.is_found else f"{found.verdict}: {found.message}",
        is_doubtful=not found.is_found,
    )


# Roots.


@click.command("solve", cls=FormulaCommand)
@formula_arguments
@wrt_option("Solve for these names only; the others keep their values.")
@output_options_as("one root per line", digits=17)
def solve_command(**options: Any) -> int:
    """The roots of an equation, or of several, separated by ';'.

    NAME=START finds one root near there, NAME=LOW:HIGH all roots in a range.  A name with either is an
    unknown.  L = R is an equation unless L is some other name; an expression on its own is set equal to
    0.  With --strict the exit status is 1 if nothing is proved.
    """
    from exprgrad.show.text import searches
    from exprgrad.solvers.roots.solve import root_problem, solve_problem

    request = read_request(options, relates="=")
    wrt = split_names(options["wrt"])
    problem = root_problem(request.text, request.values, wrt, request.spelled)
    found, digits = solve_problem(problem), options["digits"]
    unproved = [root for root in found.roots if not root.proved]
    aside = ""
    if unproved:
        aside = f"not proved, {searches.root_line(unproved[0], digits)}: {unproved[0].why}"
    elif not (found.excluded or (found.roots and (found.is_whole or not problem.ranges))):
        aside = searches.root_verdict(problem, found)
    answer = Answer(
        "solve",
        problem.text,
        searches.root_fields(problem, found).items(),
        searches.root_rows(problem, found),
        chain.from_iterable(root.point.items() for root in found.roots),
        lambda screen: searches.root_parts(problem, found, digits, whole=screen.whole),
        aside=aside,
        is_doubtful=not found.excluded and not any(root.proved for root in found.roots),
    )
    return give_answer(answer, options)
