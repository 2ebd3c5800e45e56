"""The command ``diff``: derivatives as formulas."""

from __future__ import annotations

import sys

import click

from exprgrad.cli.arguments import FormulaCommand, Request
from exprgrad.cli.common import Digits, names_in, start
from exprgrad.cli.output import write
from exprgrad.errors import RequestError
from exprgrad.source import Source

__all__ = ["diff_command"]

MOST = 10_000
"""The most derivatives of a higher order that are written, counting those that are equal."""


def refuse_values(request: Request, command: str) -> None:
    """An error for ``a=2``, where a formula is wanted and not a number."""
    for argument in request.spelled.values():
        help = f'for numbers at a point, write exprgrad grad "…" {argument}'
        source = Source(argument, is_expression=False)
        message = f"{command} takes no values: its answer is a formula"
        raise RequestError("usage", message, source=source, span=(0, len(argument)), help=help)


@click.command("diff", cls=FormulaCommand)
@click.argument("arguments", nargs=-1, metavar="EXPR")
@click.option("-f", "--file", metavar="FILE", help="Read the formula from a file.")
@click.option("--wrt", metavar="NAME[,NAME]", help="Differentiate by these inputs only.")
@click.option(
    "--order",
    type=Digits(1, 100),
    default=1,
    show_default=True,
    metavar="N",
    help="Differentiate N times.",
)
@click.option(
    "--to",
    type=click.Choice(["infix", "latex"]),
    default="infix",
    show_default=True,
    help="Write the formulas in exprgrad's language or in LaTeX.",
)
@click.option("--steps", "show_steps", is_flag=True, help="Show how each derivative comes about.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.option("-q", "--quiet", is_flag=True, help="Print only the formulas.")
def diff_command(
    arguments: tuple[str, ...],
    file: str | None,
    wrt: str | None,
    order: int,
    to: str,
    show_steps: bool,
    as_json: bool,
    quiet: bool,
) -> int:
    """Derivatives as formulas, simplified."""
    from exprgrad.derive.orders import every
    from exprgrad.draw import formulas as drawn
    from exprgrad.run.inputs import select

    if as_json and quiet:
        raise RequestError("usage", "--json and --quiet exclude each other", help="choose one")
    expression, request = start(arguments, file, None)
    refuse_values(request, "diff")
    graph = expression.graph
    chosen = select(graph, None if wrt is None else names_in(wrt))
    if order > 1 and len(chosen) ** order > MOST:
        message = f"{len(chosen)} inputs have more than {MOST:,} derivatives of order {order}"
        raise RequestError("too-many", message, help="choose fewer inputs: --wrt a,b")
    found = every(graph, chosen, order)
    if not chosen:
        write(["note: the formula has no inputs to differentiate by\n"], sys.stderr)
    if as_json:
        write([drawn.document(expression.text, graph, dict(found), chosen, order, to), "\n"])
    elif quiet:
        write(drawn.bare(found, to, alone=len(chosen) == 1))
    else:
        write(drawn.lines(graph, found, to))
    return 0
