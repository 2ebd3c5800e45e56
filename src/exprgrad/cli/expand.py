"""The option ``--expand``: a formula with some operations taken apart before it is run."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from exprgrad.cli.common import names_in
from exprgrad.cli.output import write

if TYPE_CHECKING:
    from exprgrad.api import Expression
    from exprgrad.cli.arguments import Request

__all__ = ["expand_option", "taken_apart"]

expand_option = click.option(
    "--expand",
    metavar="NAME[,NAME]",
    help="Take these functions apart into simpler operations; all: whatever can be.",
)


def taken_apart(
    expression: Expression, request: Request, expand: str | None, *, values: bool = True
) -> Expression:
    """The expression with the functions that ``--expand`` names taken apart; a note if it has none.

    ``values``, if there are any, are read before: so errors about them show the formula as it was typed.
    """
    if expand is None:
        return expression
    from exprgrad.graph.graph import same
    from exprgrad.run.values.inputs import resolve

    if values:
        given = resolve(expression.graph, expression.text, request.values, request.spelled)
        request.values.update(given)
    found = expression.expand(names_in(expand, "--expand"))
    if same(found.graph, expression.graph):
        write([f"note: the formula has nothing to take apart for --expand {expand}\n"], sys.stderr)
    return found
