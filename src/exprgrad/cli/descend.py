"""The command ``descend``: gradient descent, step by step."""

from __future__ import annotations

import sys
from typing import Any

import click

from exprgrad.cli.arguments import FormulaCommand
from exprgrad.cli.common import (
    Digits,
    draw,
    exit_status,
    formula,
    names_in,
    only_one,
    output_as,
    start,
)
from exprgrad.cli.output import show_diagnostics, write, write_exactly
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
@click.option("--wrt", metavar="NAME[,NAME]", help="Move these inputs only.")
@output_as("one step per line")
def descend_command(
    arguments: tuple[str, ...],
    file: str | None,
    inputs: str | None,
    rate: str,
    count: int,
    wrt: str | None,
    **options: Any,
) -> int:
    """Gradient descent: each step's value, gradient and update.

    It ends early where it converges, where it goes back and forth between two points, and at what is not
    finite.  Warnings are about the last point.  With --strict the exit status is 1 if there is one, or
    if it diverged or met a nan.
    """
    from exprgrad.draw.text import descent as drawn
    from exprgrad.explain.descent import divergence
    from exprgrad.run.values.inputs import as_number, resolve

    only_one(options)
    expression, request = start(arguments, file, inputs)
    size = as_number(rate, "--rate")
    given = resolve(expression.graph, expression.text, request.values, request.spelled)
    expression.evaluator(given, request.origins)  # an error about shapes names their files
    names = None if wrt is None else names_in(wrt)
    found = expression.descend(given, rate=size, steps=count, wrt=names)
    failed = found.verdict in ("diverged", "nan")
    diagnostics = [*divergence(found), *found.run.diagnostics]
    whole = options["show_all"]
    if options["as_json"]:
        write(drawn.descent_json(expression.text, given, size, found, diagnostics, whole=whole))
    elif options["as_csv"]:
        write_exactly(drawn.descent_csv(found, whole=whole))
    elif options["quiet"]:
        write_exactly(drawn.final_lines(found))
    else:
        content = drawn.descent_table(found, options["digits"], whole=whole)
        write([draw(content, options["color"]), "\n"])
    if not options["as_json"]:
        if found.verdict == "nan" and (options["as_csv"] or options["quiet"]):
            write([f"warning: {drawn.ending(found)}\n"], sys.stderr)
        show_diagnostics(expression.text, diagnostics, options["color"])
    return exit_status(options, diagnostics, failed)
