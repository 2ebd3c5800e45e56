"""What the commands share: options, how a request becomes an expression, how a table is drawn."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from exprgrad.cli.arguments import Request, read_request
from exprgrad.cli.output import colorful, terminal_width, write
from exprgrad.errors import RequestError
from exprgrad.source import Source

if TYPE_CHECKING:
    from exprgrad.api import Expression, Run
    from exprgrad.explain.diagnostic import Diagnostic

__all__ = [
    "Digits", "color_option", "compute", "digits_option", "draw", "exit_status", "formula", "formula_alone",
    "names_in", "only_one", "output", "output_as", "shape_option", "stack", "start", "start_alone",
]  # fmt: skip

F = TypeVar("F", bound=Callable[..., Any])


class Digits(click.IntRange):
    """A number of digits, by a name that people use in errors."""

    name = "whole number"


def stack(*decorators: Callable[[F], F]) -> Callable[[F], F]:
    """Several decorators as one, the first on top."""

    def apply(function: F) -> F:
        for decorator in reversed(decorators):
            function = decorator(function)
        return function

    return apply


formula = stack(
    click.argument("arguments", nargs=-1, metavar="EXPR [NAME=VALUE]..."),
    click.option("-f", "--file", metavar="FILE", help="Read the formula from a file."),
    click.option("--inputs", metavar="FILE", help="Read values from a JSON object."),
)
formula_alone = stack(
    click.argument("arguments", nargs=-1, metavar="EXPR"),
    click.option("-f", "--file", metavar="FILE", help="Read the formula from a file."),
)
shape_option = click.option(
    "--shape",
    metavar="NAME=SIZES[,…]",
    help="Shapes of the inputs that are tensors: X=150x4,w=4.  Others are numbers.",
)
color_option = click.option(
    "--color",
    type=click.Choice(["auto", "always", "never"]),
    default="auto",
    show_default=True,
    help="Use colour: auto means on a terminal, unless NO_COLOR is set.",
)
digits_option = click.option(
    "--digits",
    type=Digits(1, 17),
    default=6,
    show_default=True,
    metavar="N",
    help="Significant digits of the numbers people read.",
)


def output_as(
    csv: str, everything: str = "Leave nothing out: every line, tensors whole."
) -> Callable[[F], F]:
    """The options that say how an answer is written; what the CSV is, and what ``--all`` does."""
    return stack(
        click.option("--json", "as_json", is_flag=True, help="Print one JSON object."),
        click.option("--csv", "as_csv", is_flag=True, help=f"Print CSV, {csv}."),
        click.option("-q", "--quiet", is_flag=True, help="Print only the answer."),
        digits_option,
        click.option("--all", "show_all", is_flag=True, help=everything),
        color_option,
        click.option(
            "--strict", is_flag=True, help="Exit with 1 if there is a warning, or the answer is no."
        ),
    )


output = output_as("one node per line")


def names_in(wrt: str, option: str = "--wrt") -> list[str]:
    """The names in the value of ``--wrt``, or of another option."""
    names = [name.strip() for name in wrt.split(",")]
    if "" not in names:
        return names
    source = Source(wrt, is_expression=False)
    place = len(",".join(wrt.split(",")[: names.index("")]))
    help = f"names are separated by commas: {option} a,b"
    raise RequestError(
        "usage", "a name is missing", source=source, span=(place, place + 1), help=help
    )


def start(
    arguments: tuple[str, ...], file: str | None, inputs: str | None
) -> tuple[Expression, Request]:
    """The expression of a command line, and the request that it came with."""
    from exprgrad.api import parse

    request = read_request(arguments, file, inputs)
    return parse(request.text), request


def start_alone(
    arguments: tuple[str, ...], file: str | None, command: str, shape: str | None = None
) -> Expression:
    """The expression of a command that takes no values: its answer holds for all of them.

    ``shape`` is the value of ``--shape``; a note says where it may be missing.
    """
    expression, request = start(arguments, file, None)
    for name in request.values:
        argument = request.spelled[name]
        source = Source(argument, is_expression=False)
        message = f"{command} takes no values: its answer holds for all of them"
        help = f'for numbers at a point, write exprgrad grad "…" {argument}'
        raise RequestError("usage", message, source=source, span=(0, len(argument)), help=help)
    if shape is None and expression.is_scalar:
        return expression
    from exprgrad.api import parse
    from exprgrad.cli.shapes import missing_shapes, shapes_in

    if shape is not None:
        expression = parse(expression.text, shapes=shapes_in(shape))
    missing = missing_shapes(expression.typed, expression.shapes)
    if missing:
        listed = ", ".join(missing[:4] + ["…"][: len(missing) - 4])
        numbers = "count as numbers" if missing[1:] else "counts as a number"
        note = (
            f"note: {listed} {numbers}; for a tensor give its shape: --shape {missing[0]}=150x4\n"
        )
        write([note], sys.stderr)
    return expression


def only_one(options: dict[str, Any]) -> None:
    """Refuse two output forms at once."""
    forms = {"--json": "as_json", "--csv": "as_csv", "--quiet": "quiet"}
    chosen = [flag for flag, name in forms.items() if options[name]]
    if len(chosen) > 1:
        raise RequestError("usage", f"{' and '.join(chosen)} exclude each other", help="choose one")


def compute(expression: Expression, request: Request, wrt: list[str] | None, *, grad: bool) -> Run:
    """Evaluate or differentiate, with the arguments at hand for errors."""
    from exprgrad.run.values.inputs import resolve

    values = resolve(expression.graph, expression.text, request.values, request.spelled)
    request.values.update(values)  # so that files are read once
    expression.evaluator(values, request.origins)  # an error about shapes names their files
    return expression.gradient(values, wrt=wrt) if grad else expression.evaluate(values)


def draw(content: Any, color: str) -> str:
    """A table by Rich on a terminal or where colour is asked for, else as plain columns."""
    from exprgrad.draw.text import table

    on_terminal = sys.stdout.isatty()
    colored = colorful(color, sys.stdout)
    if not on_terminal and not colored:
        return table.plain(content)
    return table.rich(content, terminal_width() if on_terminal else 10_000, color=colored)


def exit_status(options: dict[str, Any], diagnostics: Iterable[Diagnostic], *bad: object) -> int:
    """1 under ``--strict`` where there is a warning, or anything that is ``bad``; else 0."""
    warned = any(diagnostic.severity == "warning" for diagnostic in diagnostics)
    return 1 if options["strict"] and (warned or any(bad)) else 0
