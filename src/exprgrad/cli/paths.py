"""The command ``paths``: how many paths make up each gradient, and which of them most of it."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from exprgrad.cli.arguments import FormulaCommand
from exprgrad.cli.common import (
    Digits,
    compute,
    exit_status,
    formula,
    names_in,
    only_one,
    output_as,
    start,
)
from exprgrad.cli.expand import expand_option, taken_apart
from exprgrad.cli.output import colorful, show_diagnostics, terminal_width, write, write_exactly
from exprgrad.explain.limits import LISTED_PATHS

if TYPE_CHECKING:
    from exprgrad.explain.walks.paths import Paths

__all__ = ["paths_command"]


@click.command("paths", cls=FormulaCommand)
@formula
@click.option(
    "-k", "--most", type=Digits(0), default=LISTED_PATHS, show_default=True, metavar="K",
    help="List this many paths for each input, those with the largest products.",
)  # fmt: skip
@click.option("--wrt", metavar="NAME[,NAME]", help="Differentiate these inputs only.")
@expand_option
@output_as("one path per line", "Show every input, and paths whole; -k says how many paths.")
def paths_command(
    arguments: tuple[str, ...],
    file: str | None,
    inputs: str | None,
    most: int,
    wrt: str | None,
    expand: str | None,
    **options: Any,
) -> int:
    """Each path's contribution to each gradient.

    All paths from the output to an input are counted, and the largest are listed with the products of
    their local derivatives.  -q prints the counts.
    """
    from exprgrad.draw.text import paths as drawn
    from exprgrad.explain.places import in_numbers
    from exprgrad.explain.walks.paths import paths_to, sums, web_of, whole

    only_one(options)
    whole(most)
    expression, request = start(arguments, file, inputs)
    expression = taken_apart(expression, request, expand)
    names = None if wrt is None else names_in(wrt)
    run, _ = in_numbers(compute(expression, request, names, grad=True))
    web = web_of(run)
    found = sums(web)
    counts = {name: found.ways(web, 2 * node) for name, node in web.inputs.items()}

    def ask(name: str) -> Paths:
        return paths_to(web, found, name, most)

    if options["as_json"]:
        write(drawn.paths_json(run, ask, web, run.diagnostics))
    elif options["as_csv"]:
        write_exactly(drawn.paths_csv(run, ask))
    elif options["quiet"]:
        write_exactly(drawn.paths_lines(counts))
    else:
        content = drawn.paths_text(
            run,
            ask,
            web,
            sum(counts.values()),
            options["digits"],
            corrected=run.corrected,
            whole=options["show_all"],
            width=terminal_width() if sys.stdout.isatty() else None,
            color=bool(colorful(options["color"], sys.stdout)),
        )
        write([content, "\n"])
    if not options["as_json"]:
        show_diagnostics(run.text, run.diagnostics, options["color"])
    return exit_status(options, run.diagnostics)
