"""The command ``dot``: the picture, as DOT or as a file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from exprgrad.cli.output import put_content
from exprgrad.cli.request import (
    FormulaCommand,
    compute,
    digits_option,
    expand_option,
    formula,
    shape_option,
    start,
)
from exprgrad.errors import RequestError, ShapeError

if TYPE_CHECKING:
    from exprgrad.api import Expression, Run
    from exprgrad.cli.request import Request

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
        expression = with_shapes(expression, request, options["shape"])
    if request.values or not expression.inputs:
        run = swept_if_number(expression, request)
        source = run.dot(digits=options["digits"], all=options["show_all"])
    else:
        source = expression.dot(all=options["show_all"])
    if path is not None:
        Picture(source).save(path)
    put_content("dot", expression.text, {}, source, path, options)
    return 0


def with_shapes(expression: Expression, request: Request, shape: str) -> Expression:
    """The expression with the shapes of its inputs, given the value of ``--shape``."""
    from exprgrad.api import parse
    from exprgrad.cli.assignments import shapes_in

    if request.values:
        message = "values have shapes of their own: --shape is for a formula without values"
        raise RequestError("usage", message, help="leave out --shape")
    return parse(expression.text, shapes=shapes_in(shape))


def swept_if_number(expression: Expression, request: Request) -> Run:
    """Both sweeps; the forward one alone where the output is a tensor, which has no gradient."""
    try:
        return compute(expression, request)
    except ShapeError as error:
        if error.code != "not-a-number":
            raise
        return compute(expression, request, grad=False)
