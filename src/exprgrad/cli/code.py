"""The command ``code``: a formula as a program in another language."""

from __future__ import annotations

from pathlib import Path

import click

from exprgrad.cli.arguments import FormulaCommand
from exprgrad.cli.common import formula_alone, names_in, shape_option, start_alone
from exprgrad.cli.output import write, write_exactly
from exprgrad.errors import RequestError, ShapeError
from exprgrad.language.code.targets import TARGETS

__all__ = ["code_command"]

NAMES = list(TARGETS)


@click.command("code", cls=FormulaCommand)
@formula_alone
@shape_option
@click.option(
    "--to",
    "target",
    metavar="LANGUAGE",
    required=True,
    help=f"{', '.join(NAMES[:-1])} or {NAMES[-1]}.",
)
@click.option("--wrt", metavar="NAME[,NAME]", help="Differentiate these inputs only.")
@click.option("--value-only", is_flag=True, help="Leave out the gradient.")
@click.option("--name", default="f", show_default=True, metavar="NAME", help="Name the function.")
@click.option("-o", "--output", "path", metavar="FILE", help="Write a file.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def code_command(
    arguments: tuple[str, ...],
    file: str | None,
    shape: str | None,
    target: str,
    wrt: str | None,
    value_only: bool,
    name: str,
    path: str | None,
    as_json: bool,
) -> int:
    """A program for value and gradient: one self-contained function."""
    from exprgrad.draw.documents.document import envelope
    from exprgrad.run.values.inputs import select

    try:
        expression = start_alone(arguments, file, "code", shape)
    except ShapeError as error:
        error.help = no_tensors(target) or error.help
        raise
    if value_only and wrt is not None:
        raise RequestError("usage", "--value-only and --wrt exclude each other", help="choose one")
    graph = expression.graph
    names = None if wrt is None else names_in(wrt)
    chosen = select(graph, names)
    code = expression.code(target, wrt=names, name=name, value_only=value_only)
    if path is not None:
        save(code, path)
    if as_json:
        listed = [] if value_only else list(chosen)
        fields = {"to": target, "name": name, "inputs": list(graph.inputs), "wrt": listed}
        fields["code" if path is None else "file"] = code if path is None else path
        write([envelope("code", expression=expression.text, **fields), "\n"])
    elif path is None:
        write_exactly([code])
    return 0


def no_tensors(target: str) -> str | None:
    """What to do where a formula needs tensors, and programs in its language have none."""
    from exprgrad.language.code.program import takers_of_tensors

    if target not in TARGETS or TARGETS[target].arrays:
        return None
    title = TARGETS[target].title
    return f"a program in {title} computes with numbers; {takers_of_tensors()}"


def save(code: str, path: str) -> None:
    """Write a program to a file."""
    try:
        Path(path).write_text(code, "utf-8")
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise RequestError("file", f"cannot write '{path}': {reason}") from None
