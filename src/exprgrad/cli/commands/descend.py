"""The command ``descend``: gradient descent, step by step."""

from __future__ import annotations

from typing import Any

import click

from exprgrad.cli.output import give
from exprgrad.cli.request import (
    Digits,
    FormulaCommand,
    digits_shown,
    evaluator_of,
    formula,
    names_in,
    output_as,
    start,
    wrt_option,
)
from exprgrad.explain.limits import MOST_STEPS

__all__ = ["descend_command"]


@click.command("descend", cls=FormulaCommand)
@formula
@click.option(
    "--rate",
    metavar="NUMBER",
    default="0.1",
    show_default=True,
    help="Each step adds -NUMBER times the gradient; a negative one climbs.",
)
@click.option(
    "--steps",
    "count",
    type=Digits(1, MOST_STEPS),
    default=20,
    show_default=True,
    metavar="N",
    help="The most steps to take.",
)
@wrt_option("Move these inputs only.")
@output_as("one step per line")
def descend_command(**options: Any) -> int:
    """Gradient descent: each step's value, gradient and update.

    It ends early where it converges, where it goes back and forth between two points, and at what is not
    finite.  Warnings are about the last point, whose value and grads are those that grad prints.  With
    --strict the exit status is 1 if there is one, or if it diverged, stalled or met a nan.
    """
    from exprgrad.explain.descent import divergence
    from exprgrad.explain.diagnostics import told_once
    from exprgrad.run.values.inputs import as_number
    from exprgrad.show.text.descent import descent_answer

    expression, request = start(options)
    size = as_number(options["rate"], "--rate")
    _, given = evaluator_of(expression, request)
    names = names_in(options["wrt"])
    found = expression.descend(given, rate=size, steps=options["count"], wrt=names)
    last = found.run.guarded(digits_shown(options))
    digits, whole = options["digits"], options["show_all"]
    diagnostics = [*divergence(found), *told_once(found.run.remarks, last)]
    point = expression.text, given, size
    return give(descent_answer(*point, found, last, diagnostics, digits, whole=whole), options)
