"""The command ``plot``: a curve with its derivative, on a terminal or as a file."""

from __future__ import annotations

import os
from typing import Any

import click

from exprgrad.cli.output import Answer, give
from exprgrad.cli.request import (
    Count,
    FormulaCommand,
    Words,
    formula,
    output_as,
    settle_form,
    start,
)
from exprgrad.errors import RequestError

__all__ = ["plot_command"]

MOST_ROWS = 40
"""The most lines that the panels take."""
path_option = click.option(
    "-o", "--output", "path", metavar="FILE",
    help="Write .svg, .png or .pdf (needs Matplotlib), .json, .csv or .txt.",
)  # fmt: skip


@click.command("plot", cls=FormulaCommand)
@formula
@click.option(
    "--order", type=Count(0, 2), default=1, show_default=True, metavar="N",
    help="Draw so many derivatives below the value: 0, 1 or 2.",
)  # fmt: skip
@click.option("--y", "shown", metavar="LOW:HIGH", help="Show these values.")
@click.option("--tangent", metavar="X", help="Draw the tangent there, too.")
@click.option(
    "--look", type=Words("light", "dark"),
    help="Draw the file for a light page or a dark one.  An SVG follows its page by default.",
)  # fmt: skip
@output_as("one point per line", "List every marked point.", path_option)
def plot_command(path: str | None, **options: Any) -> int:
    """A curve and its derivative, with roots, extrema, inflections, kinks and poles.

    One input has a range, as in x=-5:5; the others have values.  Poles and jumps are not joined, however
    narrow, and what is only steep is.
    """
    from exprgrad.show.documents.curves import curve_fields, curve_rows
    from exprgrad.show.picture.plots import PLOTS, plot_format
    from exprgrad.show.text.curves import curve_parts

    form = None
    if path is not None:
        ending = os.path.splitext(path)[1].lower()  # noqa: PTH122
        if ending in (".json", ".csv", ".txt"):
            options["document"] = path
            settle_form(options)
        else:
            form = plot_format(path)
    expression, request = start(options)
    choices = {"order": options["order"], "y": options["shown"], "tangent": options["tangent"]}
    plot = expression.plot(request.values, **choices)
    found, order, digits = plot.curve, plot.order, options["digits"]
    if form is not None and path is not None:
        plot.save(path, options["look"])
        if not (options["as_json"] or options["as_csv"] or options["quiet"]):
            return 0
    elif options["look"] is not None:
        raise RequestError(
            "usage", f"--look is for {', '.join(PLOTS)}", help="write it with -o FILE"
        )
    answer = Answer(
        "plot",
        expression.text,
        curve_fields(found, order),
        curve_rows(found, order),
        ((one.kind, one.x) for one in found.features),
        lambda screen: curve_parts(
            found,
            order,
            digits,
            screen._replace(width=screen_columns()),
            screen_rows(),
            whole=options["show_all"],
        ),
        is_doubtful=not found.arcs,
    )
    return give(answer, options)


def screen_columns() -> int:
    """The cells of a line, as COLUMNS or the terminal says; 80 where nothing does."""
    import shutil

    return max(shutil.get_terminal_size().columns, 20)


def screen_rows() -> int:
    """The lines that the panels take: what a terminal shows at once."""
    import shutil

    return min(max(shutil.get_terminal_size().lines - 2, 12), MOST_ROWS)
