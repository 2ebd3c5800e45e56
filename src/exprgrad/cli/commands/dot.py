"""The command ``dot``: the picture, as DOT or as a file."""

from __future__ import annotations

import sys
from typing import Any

import click

from exprgrad.cli.output import put_content, write
from exprgrad.cli.request import (
    FormulaCommand,
    Words,
    compute,
    digits_option,
    evaluator_of,
    expand_option,
    formula,
    shape_option,
    start,
    with_shapes,
)
from exprgrad.errors import RequestError

__all__ = ["dot_command"]


@click.command("dot", cls=FormulaCommand)
@formula
@click.option("-o", "--output", "path", metavar="FILE", help="Write .dot, .svg, .png or .pdf.")
@expand_option
@digits_option
@shape_option
@click.option(
    "--direction",
    type=Words("LR", "TB", "RL", "BT"),
    default="LR",
    show_default=True,
    help="Draw from left to right, from top to bottom, or the other way.",
)
@click.option("--no-wrap", is_flag=True, help="Draw in one row what is wider than a page.")
@click.option("--gates", is_flag=True, help="Say what each operation does with its grad.")
@click.option("--contributions", is_flag=True, help="Say what each edge adds to a grad.")
@click.option("--all", "show_all", is_flag=True, help="Draw more than 500 nodes.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def dot_command(path: str | None, **options: Any) -> int:
    """The picture: DOT on stdout, or a file by its ending.

    Without values it draws the formula; with them, every node's data, and its grad if the output is a
    number.  What would be wider than a page stands in rows.
    """
    from exprgrad.show.picture.alarms import alarms
    from exprgrad.show.picture.dot import sheet
    from exprgrad.show.picture.picture import Picture, format_of

    if path is not None:
        format_of(path)
    expression, request = start(options, values=False)
    if options["shape"] is not None:
        if request.values:
            message = "values have shapes of their own: --shape is for a formula without values"
            raise RequestError("usage", message, help="leave out --shape")
        expression = with_shapes(expression, options["shape"])
    drawing = {name: options[name] for name in ("digits", "direction", "gates", "contributions")}
    drawing |= {"all": options["show_all"], "wrap": not options["no_wrap"]}
    if request.values or not expression.inputs:
        graph = evaluator_of(expression, request)[0].graph
        run = compute(expression, request, grad=not graph.shape(graph.output))
        drawn = sheet(run.graph, run, alarms=alarms(run, options["digits"]), **drawing)
    else:
        drawn = sheet(expression.drawn, text=expression.text, **drawing)
    if path is not None:
        Picture(drawn.source).save(path)
    put_content("dot", expression.text, {}, {"dot": drawn.source}, path, options)
    if drawn.remark and not options["as_json"]:
        write([f"warning: {drawn.remark}\n"], sys.stderr)
    return 0
