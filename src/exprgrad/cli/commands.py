"""The commands: each reads its request, asks the library, and writes the answer."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import click

from exprgrad.cli.arguments import FormulaCommand, NameCommand
from exprgrad.cli.check import check_command
from exprgrad.cli.code import code_command
from exprgrad.cli.common import (
    color_option,
    compute,
    digits_option,
    draw,
    exit_status,
    formula,
    names_in,
    only_one,
    output,
    shape_option,
    start,
)
from exprgrad.cli.descend import descend_command
from exprgrad.cli.expand import expand_option, taken_apart
from exprgrad.cli.formulas import diff_command
from exprgrad.cli.matrices import MATRIX_COMMANDS
from exprgrad.cli.orders import order_options
from exprgrad.cli.output import colorful, show_diagnostics, terminal_width, write, write_exactly
from exprgrad.cli.paths import paths_command
from exprgrad.errors import RequestError, ShapeError
from exprgrad.source import Source

if TYPE_CHECKING:
    from exprgrad.api import Expression, Run
    from exprgrad.cli.arguments import Request

__all__ = ["COMMANDS"]


def answer(run: Run, command: str, options: dict[str, Any], quiet: Iterable[str]) -> int:
    """Write a run in the form that was asked for, and its diagnostics; return the exit status."""
    from exprgrad.draw import document, table

    traced, whole = options.get("show_trace", False), options["show_all"]
    if options["as_json"]:
        write(document.run_json(run, command, run.diagnostics, whole=whole))
    elif options["as_csv"]:
        as_csv = document.trace_csv if traced else document.run_csv
        write_exactly(as_csv(run, whole=whole))
    elif options["quiet"]:
        write_exactly(quiet)
    elif traced:
        write([draw_trace(run, options), "\n"])
    else:
        content = table.node_table(run, options["digits"], all_nodes=whole)
        write([draw(content, options["color"]), "\n"])
    if not options["as_json"]:
        show_diagnostics(run.text, run.diagnostics, options["color"])
    return exit_status(options, run.diagnostics)


def quiet_lines(run: Run, values: Mapping[str, Any]) -> Iterator[str]:
    """The answer alone: each value on a line, after what it is called and ``=`` where that is something."""
    for name, value in values.items():
        before = f"{name}=" if name else ""
        if run.shapes is None:
            yield f"{before}{value!r}\n"
        else:
            from exprgrad.draw.tensor_document import answer_lines

            yield from answer_lines(value, before)


def draw_trace(run: Run, options: dict[str, Any]) -> str:
    """The trace, in the width and colours of a terminal if it goes to one."""
    from exprgrad.draw.trace import trace

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


@click.command("dot", cls=FormulaCommand)
@formula
@click.option("-o", "--output", "path", metavar="FILE", help="Write .dot, .svg, .png or .pdf.")
@expand_option
@digits_option
@shape_option
@click.option("--all", "show_all", is_flag=True, help="Draw more than 500 nodes.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def dot_command(
    arguments: tuple[str, ...],
    file: str | None,
    inputs: str | None,
    path: str | None,
    expand: str | None,
    digits: int,
    shape: str | None,
    show_all: bool,
    as_json: bool,
) -> int:
    """The picture: DOT on stdout, or a file by its ending.

    Without values it draws the formula; with them, every node's data, and its grad if the output is a
    number.
    """
    from exprgrad.draw.document import envelope
    from exprgrad.draw.files import format_of
    from exprgrad.draw.files import write as write_file

    expression, request = start(arguments, file, inputs)
    if path is not None:
        format_of(path)
    expression = taken_apart(expression, request, expand, values=bool(request.values))
    if shape is not None:
        expression = with_shapes(expression, request, shape)
    if request.values or not expression.inputs:
        source = swept(expression, request).dot(digits=digits, all=show_all)
    else:
        source = expression.dot(all=show_all)
    if path is not None:
        write_file(source, path)
    if as_json:
        written = {"dot": source} if path is None else {"file": path}
        write([envelope("dot", expression=expression.text, **written), "\n"])
    elif path is None:
        write([source])
    return 0


def with_shapes(expression: Expression, request: Request, shape: str) -> Expression:
    """The expression with the shapes of its inputs, given the value of ``--shape``."""
    from exprgrad.api import parse
    from exprgrad.cli.shapes import shapes_in

    if request.values:
        message = "values have shapes of their own: --shape is for a formula without values"
        raise RequestError("usage", message, help="leave out --shape")
    return parse(expression.text, shapes=shapes_in(shape))


def swept(expression: Expression, request: Request) -> Run:
    """Both sweeps; the forward one alone where the output is a tensor, which has no gradient."""
    try:
        return compute(expression, request, None, grad=True)
    except ShapeError as error:
        if error.code != "not-a-number":
            raise
        return compute(expression, request, None, grad=False)


@click.command("ops", cls=NameCommand)
@click.argument("names", nargs=-1, metavar="[NAME]")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@color_option
def ops_command(names: tuple[str, ...], as_json: bool, color: str) -> int:
    """The operations: derivative, domain, kinks, gate pattern."""
    from exprgrad.draw import operations

    name = names[0] if names else None
    if len(names) > 1:
        source = Source(names[1], is_expression=False)
        help = f"ask for one at a time: exprgrad ops {names[1]}"
        message = f"'{names[1]}' is one name too many"
        raise RequestError("usage", message, source=source, span=(0, len(names[1])), help=help)
    rows = operations.find(name)
    if as_json:
        write([operations.document(rows)])
    elif name is None:
        sections = operations.sections(rows)
        write(["\n".join(f"{title}\n\n{draw(table, color)}\n" for title, table in sections)])
    else:
        write(["\n".join(map(operations.details, rows))])
    return 0


COMMANDS = (
    eval_command,
    grad_command,
    paths_command,
    descend_command,
    check_command,
    *MATRIX_COMMANDS,
    diff_command,
    code_command,
    dot_command,
    ops_command,
)
