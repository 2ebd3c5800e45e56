"""The commands ``eval`` and ``grad``: a formula's nodes, by one sweep or by both."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import click

from exprgrad.cli.arguments import FormulaCommand
from exprgrad.cli.common import (
    compute,
    draw,
    exit_status,
    formula,
    names_in,
    only_one,
    output,
    start,
)
from exprgrad.cli.expand import expand_option, taken_apart
from exprgrad.cli.orders import order_options
from exprgrad.cli.output import colorful, show_diagnostics, terminal_width, write, write_exactly

if TYPE_CHECKING:
    from exprgrad.api import Run

__all__ = ["eval_command", "grad_command"]


def answer(run: Run, command: str, options: dict[str, Any], quiet: Iterable[str]) -> int:
    """Write a run in the form that was asked for, and its diagnostics; return the exit status."""
    traced, whole = options.get("show_trace", False), options["show_all"]
    if options["as_json"]:
        from exprgrad.draw.documents.document import run_json

        write(run_json(run, command, run.diagnostics, whole=whole))
    elif options["as_csv"]:
        from exprgrad.draw.documents.document import run_csv, trace_csv

        write_exactly((trace_csv if traced else run_csv)(run, whole=whole))
    elif options["quiet"]:
        write_exactly(quiet)
    else:
        is_table = "show_map" in options and not traced
        if options.get("show_map") or (is_table and sys.stdout.isatty()):
            from exprgrad.cli.grad_map import map_text

            write([map_text(run, options)])
        write([draw_trace(run, options) if traced else draw_table(run, options), "\n"])
    if not options["as_json"]:
        show_diagnostics(run.text, run.diagnostics, options["color"])
    return exit_status(options, run.diagnostics)


def draw_table(run: Run, options: dict[str, Any]) -> str:
    """The table of nodes."""
    from exprgrad.draw.text.table import node_table

    content = node_table(run, options["digits"], all_nodes=options["show_all"])
    return draw(content, options["color"])


def quiet_lines(run: Run, values: Mapping[str, Any]) -> Iterator[str]:
    """The answer alone: each value on a line, after what it is called and ``=`` where that is something."""
    for name, value in values.items():
        before = f"{name}=" if name else ""
        if run.shapes is None:
            yield f"{before}{value!r}\n"
        else:
            from exprgrad.draw.documents.tensor_document import answer_lines

            yield from answer_lines(value, before)


def draw_trace(run: Run, options: dict[str, Any]) -> str:
    """The trace, in the width and colours of a terminal if it goes to one."""
    from exprgrad.draw.text.trace import trace

    width = terminal_width() if sys.stdout.isatty() else None
    color = colorful(options["color"], sys.stdout)
    whole = options["show_all"]
    return trace(run, options["digits"], all_visits=whole, width=width, color=color)


@click.command("eval", cls=FormulaCommand)
@formula
@expand_option
@output
def eval_command(
    arguments: tuple[str, ...],
    file: str | None,
    inputs: str | None,
    expand: str | None,
    **options: Any,
) -> int:
    """Forward pass: every node's data."""
    only_one(options)
    expression, request = start(arguments, file, inputs)
    expression = taken_apart(expression, request, expand)
    run = compute(expression, request, None, grad=False)
    return answer(run, "eval", options, quiet_lines(run, {"": run.value}))


@click.command("grad", cls=FormulaCommand)
@formula
@click.option("--trace", "show_trace", is_flag=True, help="Show the backward visits, one by one.")
@click.option(
    "--trust", "show_trust", is_flag=True,
    help="Show how many digits of the value and the gradient are right, instead of the nodes.  It "
    "takes python-flint.",
)  # fmt: skip
@order_options
@click.option(
    "--map", "show_map", is_flag=True,
    help="Show how large each grad is on the formula itself, above the answer: by colour, or by marks "
    "under it.  A table on a terminal has it anyway.",
)  # fmt: skip
@click.option("--wrt", metavar="NAME[,NAME]", help="Differentiate these inputs only.")
@expand_option
@output
def grad_command(
    arguments: tuple[str, ...],
    file: str | None,
    inputs: str | None,
    wrt: str | None,
    expand: str | None,
    **options: Any,
) -> int:
    """Reverse pass: every node's data and grad."""
    only_one(options)
    if options["show_map"]:
        from exprgrad.cli.grad_map import refuse_map

        refuse_map(options)
    expression, request = start(arguments, file, inputs)
    expression = taken_apart(expression, request, expand)
    names = None if wrt is None else names_in(wrt)
    run = compute(expression, request, names, grad=True)
    if options["order"] is not None or options["accumulate"] == "set":
        from exprgrad.cli.orders import order_answer

        return order_answer(run, options)
    if options["show_trust"]:
        from exprgrad.cli.trust import trust_answer

        return trust_answer(run, options)
    return answer(run, "grad", options, quiet_lines(run, run.gradient))
