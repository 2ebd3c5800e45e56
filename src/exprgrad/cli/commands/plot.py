"""The command ``plot``: a curve with its derivative, on a terminal or as a file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from exprgrad.cli.command import (
    Answer,
    Count,
    FormulaCommand,
    formula,
    give,
    is_read,
    look_option,
    output_as,
    path_option,
    picture_in,
    start,
)
from exprgrad.errors import RequestError
from exprgrad.explain.limits import MOST_STEPS

__all__ = ["plot_command"]

MOST_ROWS = 40
"""The most lines that the panels take."""
file_option = path_option("Write .svg, .png or .pdf (needs Matplotlib), .json, .csv or .txt.")


@click.command("plot", cls=FormulaCommand)
@formula
@click.option(
    "--order", type=Count(0, 2), default=1, show_default=True, metavar="N",
    help="Draw so many derivatives below the value: 0, 1 or 2.",
)  # fmt: skip
@click.option("--y", "shown", metavar="LOW:HIGH", help="Show these values.")
@click.option("--tangent", metavar="X", help="Draw the tangent there, too.")
@click.option(
    "--descend", metavar="START", help="Over two inputs: draw the way of a descent, from x=-1,y=2."
)
@click.option("--rate", metavar="NUMBER", help="The rate of --descend, 0.1 by default.")
@click.option(
    "--steps", type=Count(1, MOST_STEPS), metavar="N",
    help="The most steps of --descend, 20 by default.",
)  # fmt: skip
@look_option
@output_as("one point per line", "List every marked point.", file_option)
def plot_command(**options: Any) -> int:
    """A curve and its derivative, with roots, extrema, inflections, kinks and poles.

    One input has a range, as in x=-5:5; the others have values.  Poles and jumps are not joined, however
    narrow, and what is only steep is.  If two inputs have ranges it is a map: contours, arrows along the
    gradient, and the points where that is 0.
    """
    form = picture_in(options)
    expression, request = start(options)
    plot = expression.plot(request.values, **choices(options))
    if form:
        plot.save(options["path"], options["look"])
        if is_read(options):
            return int(options["strict"] and bool(plot.emptiness))
    digits, whole = options["digits"], options["show_all"]
    answer = Answer(
        "plot",
        expression.text,
        plot.fields(),
        plot.rows(),
        plot.lines(),
        lambda screen: plot.parts(
            digits, screen._replace(width=screen_columns()), screen_rows(), whole=whole
        ),
        aside=plot.emptiness,
        is_doubtful=bool(plot.emptiness),
    )
    return give(answer, options)


def choices(options: Mapping[str, Any]) -> dict[str, Any]:
    """What is asked for besides ranges and values."""
    from exprgrad.cli.assignments import weights
    from exprgrad.run.values.inputs import as_number

    chosen = {name: options[name] for name in ("order", "shown", "tangent")}
    if options["descend"] is None:
        for name in ("rate", "steps"):
            if options[name] is not None:
                help = "write --descend x=-1,y=2, or leave it out"
                raise RequestError("usage", f"--{name} is that of --descend", help=help)
        return chosen
    rate = None if options["rate"] is None else as_number(options["rate"], "--rate")
    from_there = weights(options["descend"], "--descend")
    steps = {} if options["steps"] is None else {"steps": options["steps"]}
    return {**chosen, "descend": from_there, "rate": rate, **steps}


def screen_columns() -> int:
    """The cells of a line, as COLUMNS or the terminal says; 80 where nothing does."""
    import shutil

    return max(shutil.get_terminal_size().columns, 20)


def screen_rows() -> int:
    """The lines that the panels take: what a terminal shows at once."""
    import shutil

    return min(max(shutil.get_terminal_size().lines - 2, 12), MOST_ROWS)
