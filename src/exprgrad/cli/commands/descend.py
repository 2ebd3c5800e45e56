"""The command ``descend``: gradient descent, step by step."""

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
    look_option,
    output_as,
    picture_in,
    stack,
    start,
    wrt_option,
)
from exprgrad.explain.limits import MOST_STEPS

if TYPE_CHECKING:
    from exprgrad.explain.descent import Descent
    from exprgrad.run.evaluation import Guarded

__all__ = ["descend_command"]


method_options = stack(
    click.option(
        "--rate", metavar="NUMBER",
        help="Each step adds -NUMBER times the gradient, 0.1 by default; a negative one climbs.",
    ),
    click.option(
        "--steps", "count", type=Count(1, MOST_STEPS), default=20, show_default=True, metavar="N",
        help=f"The most steps to take, {MOST_STEPS} at most.",
    ),
    click.option(
        "--momentum", metavar="NUMBER",
        help="Add this part of the last update to each step, such as 0.9, as PyTorch's SGD does.",
    ),
    click.option("--adam", is_flag=True, help="Take the steps of Adam."),
    click.option(
        "--line-search", is_flag=True,
        help="Halve each step, from a rate of 1 on, until the value falls enough.",
    ),
)  # fmt: skip


file_option = click.option(
    "-o", "--output", "path", metavar="FILE",
    help="Draw the value at each step: .svg, .png or .pdf; or write .json, .csv or .txt.",
)  # fmt: skip


@click.command("descend", cls=FormulaCommand)
@formula
@method_options
@wrt_option("Move these inputs only.")
@click.option(
    "--every", type=Count(1), default=1, metavar="N", help="List every Nth step, and the last."
)
@look_option
@output_as("one step per line", document=file_option)
def descend_command(**options: Any) -> int:
    """Gradient descent: each step's value, gradient and update.

    It ends early where it converges, where it goes back and forth between two points, and at what is not
    finite.  Warnings are about the last point, whose value and grads are those that grad prints.  With
    --strict the exit status is 1 if there is one, or if it diverged, stalled or met a nan.
    """
    from exprgrad.run.values.inputs import as_number

    picture = picture_in(options)
    expression, request = start(options)
    numbers: dict[str, Any] = {
        name: None if options[name] is None else as_number(options[name], f"--{name}")
        for name in ("rate", "momentum")
    }
    _, given = evaluator_of(expression, request)
    names = listed_names(options["wrt"])
    how = {name: options[name] for name in ("adam", "line_search")}
    found = expression.descend(given, steps=options["count"], wrt=names, **numbers, **how)
    if picture:
        found.save(options["path"], options["look"])
    return give(descent_answer(expression.text, given, found, options), options)


def descent_answer(
    text: str,
    inputs: Mapping[str, Any],
    found: Descent[Any],
    options: Mapping[str, Any],
) -> Answer:
    """The answer: its last point has the value and the gradient that grad prints."""
    from exprgrad.explain.descent import divergence
    from exprgrad.explain.diagnostics import told_once
    from exprgrad.show.documents.fields import records
    from exprgrad.show.text import descent
    from exprgrad.show.text.nodes import correction_lines

    run = found.run
    answer = run.guarded(digits_shown(options))
    diagnostics = [*divergence(found), *told_once(run.remarks, answer)]
    *before, last = found.steps
    last = last._replace(value=answer.value, gradient=answer.gradient)
    found = found._replace(steps=[*before, last])
    every = options["every"]
    fields = descent_fields(inputs, found, answer, options["every"]) | {
        "diagnostics": records(diagnostics)
    }
    digits, whole = options["digits"], options["show_all"]
    return Answer(
        "descend",
        text,
        fields.items(),
        descent.descent_rows(found, every),
        found.inputs.items(),
        lambda _: [
            descent.descent_table(
                found, digits, correction_lines(answer, digits), whole=whole, every=every
            )
        ],
        diagnostics,
        aside=descent.ending(found) if found.verdict in ("nan", "stalled") else "",
        is_doubtful=found.verdict in ("diverged", "nan", "stalled"),
    )


def descent_fields(
    inputs: Mapping[str, Any], found: Descent[Any], answer: Guarded, every: int
) -> dict[str, Any]:
    """The fields of the JSON object, but for the diagnostics."""
    from exprgrad.show.documents.fields import Lines, shorts
    from exprgrad.show.documents.runs import guard_fields
    from exprgrad.show.text import descent

    graph, method, last = found.run.graph, found.method, found.steps[-1]
    return {
        "inputs": shorts(inputs),
        "output": {"node": graph.output, "name": graph.output_name},
        "rate": found.rate,
        "method": method.name,
        **({"momentum": method.momentum} if method.name == "momentum" else {}),
        "verdict": found.verdict,
        "message": found.message,
        "value": last.value,
        "gradient": last.gradient,
        **dict(guard_fields(answer)),
        "final": last.inputs,
        "steps": Lines(map(descent.step_fields, descent.listed_steps(found, every))),
    }
