"""The command ``dot``: the picture, as DOT or as a file."""

from __future__ import annotations

from typing import Any

import click

from exprgrad.cli.output import put_content
from exprgrad.cli.request import (
    FormulaCommand,
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
@click.option("--all", "show_all", is_flag=True, help="Draw more than 500 nodes.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def dot_command(path: str | None, **options: Any) -> int:
    """The picture: DOT on stdout, or a file by its ending.

    Without values it draws the formula; with them, every node's data, and its grad if the output is a
    number.
    """
    from exprgrad.show.picture.picture import Picture, format_of

    if path is not None:
        format_of(path)
    expression, request = start(options, values=False)
    if options["shape"] is not None:
        if request.values:
            message = "values have shapes of their own: --shape is for a formula without values"
            raise RequestError("usage", message, help="leave out --shape")
        expression = with_shapes(expression, options["shape"])
    if request.values or not expression.inputs:
        graph = evaluator_of(expression, request)[0].graph
        run = compute(expression, request, grad=not graph.shape(graph.output))
        source = run.dot(digits=options["digits"], all=options["show_all"])
    else:
        source = expression.dot(all=options["show_all"])
    if path is not None:
        Picture(source).save(path)
    put_content("dot", expression.text, {}, {"dot": source}, path, options)
    return 0
