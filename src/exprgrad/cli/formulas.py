"""The command ``diff``: derivatives as formulas."""

from __future__ import annotations

import sys

import click

from exprgrad.cli.arguments import FormulaCommand
from exprgrad.cli.common import Digits, formula_alone, names_in, start_alone
from exprgrad.cli.output import write
from exprgrad.errors import RequestError

__all__ = ["diff_command"]

MOST = 10_000
"""The most derivatives of a higher order that are written, counting those that are equal."""


@click.command("diff", cls=FormulaCommand)
@formula_alone
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
    expression = start_alone(arguments, file, "diff")
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
