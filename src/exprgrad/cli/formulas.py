"""The command ``diff``: derivatives as formulas."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import click

from exprgrad.cli.arguments import FormulaCommand
from exprgrad.cli.common import (
    Digits,
    color_option,
    formula_alone,
    names_in,
    only_one,
    shape_option,
    start_alone,
)
from exprgrad.cli.output import colorful, terminal_width, write, write_exactly
from exprgrad.errors import RequestError

if TYPE_CHECKING:
    from exprgrad.graph.graph import Graph

__all__ = ["diff_command"]

MOST = 10_000
"""The most derivatives of a higher order that are written, counting those that are equal."""


def refuse_with_steps(chosen: dict[str, bool]) -> None:
    """Steps lead to first derivatives, in our language, for people."""
    for option, wanted in chosen.items():
        if wanted:
            help = "steps are for first derivatives, in infix, in full: leave out one of the two"
            raise RequestError("usage", f"--steps and {option} exclude each other", help=help)


def derivations(graph: Graph, wrt: Sequence[str], color: str) -> Iterator[str]:
    """How each derivative comes about, for a terminal of its width or a pipe."""
    from exprgrad.draw.text.steps import lines
    from exprgrad.explain.derivations.steps import steps

    width = terminal_width() if sys.stdout.isatty() else None
    colored = colorful(color, sys.stdout)
    for place, name in enumerate(wrt):
        yield "\n\n" if place else ""
        written = lines(graph, name, steps(graph, name), width=width, color=colored)
        yield from (f"{line}\n" for line in written)


@click.command("diff", cls=FormulaCommand)
@formula_alone
@shape_option
@click.option(
    "--wrt", metavar="NAME[,NAME]", help="Differentiate with respect to these inputs only."
)
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
@click.option("--csv", "as_csv", is_flag=True, help="Print CSV, one derivative per line.")
@click.option("-q", "--quiet", is_flag=True, help="Print only the formulas.")
@color_option
def diff_command(
    arguments: tuple[str, ...],
    file: str | None,
    shape: str | None,
    wrt: str | None,
    order: int,
    to: str,
    show_steps: bool,
    as_json: bool,
    as_csv: bool,
    quiet: bool,
    color: str,
) -> int:
    """Derivatives as formulas, simplified."""
    from exprgrad.derive.simplify.formula import every, refuse_tensors
    from exprgrad.draw.text import formulas as drawn
    from exprgrad.draw.text.steps import fields
    from exprgrad.explain.derivations.steps import steps
    from exprgrad.run.values.inputs import select

    only_one({"as_json": as_json, "as_csv": as_csv, "quiet": quiet})
    expression = start_alone(arguments, file, "diff", shape)
    graph = expression.typed
    chosen = select(graph, None if wrt is None else names_in(wrt))
    if order > 1 and len(chosen) ** order > MOST:
        message = f"{len(chosen)} inputs have more than {MOST:,} derivatives of order {order}"
        raise RequestError("too-many", message, help="choose fewer inputs: --wrt a,b")
    if show_steps:
        refuse_with_steps(
            {"--order": order > 1, "--to latex": to != "infix", "--quiet": quiet, "--csv": as_csv}
        )
    refuse_tensors(graph, expression.text, chosen, order)
    found = every(graph, chosen, order)
    if not chosen:
        write(["note: the formula has no inputs to differentiate with respect to\n"], sys.stderr)
    if as_json:
        more = {"steps": {n: fields(steps(graph, n)) for n in chosen}} if show_steps else {}
        text, listed = expression.text, dict(found)
        write([drawn.document(text, graph, listed, chosen, order, to, **more), "\n"])
    elif as_csv:
        write_exactly(drawn.table(found, to))
    elif show_steps:
        write(derivations(graph, chosen, color))
    elif quiet:
        write_exactly(drawn.bare(found, to, alone=len(chosen) == 1))
    else:
        write_exactly(drawn.lines(graph, found, to))
    return 0
