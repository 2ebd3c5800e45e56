"""The command ``explore``: a formula as a page to step through."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from exprgrad.cli.arguments import FormulaCommand
from exprgrad.cli.common import compute, digits_option, formula, names_in, start
from exprgrad.cli.expand import expand_option, taken_apart
from exprgrad.cli.output import write
from exprgrad.errors import InputError, RequestError
from exprgrad.source import Source

if TYPE_CHECKING:
    from exprgrad.api import Expression, Run
    from exprgrad.cli.arguments import Request
    from exprgrad.draw.page.lessons import Lesson
    from exprgrad.draw.page.page import Page

__all__ = ["explore_command"]


class ExploreCommand(FormulaCommand):
    """A command that takes a formula, or a lesson instead."""

    def format_usage(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """A line for each."""
        super().format_usage(ctx, formatter)
        formatter.write_usage(
            ctx.command_path, "--lesson NAME [OPTIONS]", prefix=" " * len("Usage: ")
        )


@click.command("explore", cls=ExploreCommand)
@formula
@click.option(
    "--lesson",
    "name",
    metavar="NAME",
    help="Take a lesson instead of EXPR: graph, neuron, square or diamond.",
)
@click.option("-o", "--output", "path", metavar="FILE", help="Write an .html file.")
@click.option("--open", "show", is_flag=True, help="Show the page in a browser.")
@click.option("--wrt", metavar="NAME[,NAME]", help="Differentiate these inputs only.")
@expand_option
@digits_option
@click.option("--all", "show_all", is_flag=True, help="Take more than 500 nodes.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def explore_command(
    arguments: tuple[str, ...],
    file: str | None,
    inputs: str | None,
    name: str | None,
    path: str | None,
    show: bool,
    wrt: str | None,
    expand: str | None,
    digits: int,
    show_all: bool,
    as_json: bool,
) -> int:
    """One HTML page: step through both sweeps, edit inputs, break it.

    The file is all there is to it: it needs no network.  With --open and no -o it is a new file in a
    temporary folder, and its name is printed; with neither, the page goes to a pipe.
    """
    from exprgrad.draw.page.lessons import lesson_named
    from exprgrad.draw.page.page import check_path

    to_pipe = path == "-" or (path is None and not show)
    if to_pipe and show:
        help = "leave out -o, or write -o page.html"
        raise RequestError("usage", "--open needs a file, not a pipe", help=help)
    if path is None and to_pipe and not as_json and sys.stdout.isatty():
        help = "-o page.html writes it, --open shows it in a browser"
        raise RequestError("usage", "refusing to print HTML to a terminal", help=help)
    if path is not None and not to_pipe:
        check_path(path)
    lesson = None
    if name is None:
        expression, request = start(arguments, file, inputs)
        expression = taken_apart(expression, request, expand)
        request.values.update(given_values(expression, request))
        run = compute(expression, request, None if wrt is None else names_in(wrt), grad=True)
    else:
        given = {"-f": file, "--inputs": inputs, "--wrt": wrt, "--expand": expand}
        more = [option for option, value in given.items() if value is not None]
        lesson = lesson_named(name)
        check_alone(lesson, [*arguments, *more])
        run = lesson_run(lesson)
    page = run.explore(digits=digits, all=show_all, lesson=lesson)
    file_written = None if to_pipe else path or new_file(name or "page")
    if file_written is not None:
        page.save(file_written)
    if as_json:
        write([document(run, page, name, file_written), "\n"])
    elif file_written is None:
        write_page(page)
    elif path is None:
        write([file_written, "\n"])
    if show and file_written is not None:
        open_in_browser(file_written)
    return 0


def given_values(expression: Expression, request: Request) -> dict[str, Any]:
    """The values of the inputs.  Tensors are refused, also where it is the output that is one."""
    from exprgrad.draw.page.lessons import LESSONS
    from exprgrad.draw.page.page import no_tensors
    from exprgrad.language.mistakes.hints import nearest
    from exprgrad.run.values.inputs import resolve

    try:
        values = resolve(expression.graph, expression.text, request.values, request.spelled)
    except InputError as error:
        lesson = nearest(request.text.strip(), LESSONS)
        if lesson and len(expression.graph) == 1:
            error.help = f"the lesson is exprgrad explore --lesson {lesson}"
        raise
    if expression.evaluator(values).graph.shapes is not None:
        raise no_tensors()
    return values


def document(run: Run, page: Page, lesson: str | None, path: str | None) -> str:
    """The JSON document: the page itself, or the file that it was written to."""
    from exprgrad.draw.documents.document import envelope, finite

    return envelope(
        "explore",
        expression=run.text,
        lesson=lesson,
        inputs={name: finite(value) for name, value in run.inputs.items()},
        bytes=len(page.html.encode()),
        **({"html": page.html} if path is None else {"file": path}),
    )


def check_alone(lesson: Lesson, more: list[str]) -> None:
    """Refuse ``more`` beside a lesson: its tasks are about its own formula and inputs."""
    if not more:
        return
    source = Source(more[0], is_expression=False)
    values = " ".join(f"{key}={value:.17g}" for key, value in lesson.values.items())
    message = "a lesson has a formula and inputs of its own"
    help = f'edit the inputs on the page, or write exprgrad explore "{lesson.expression}" {values}'
    raise RequestError("usage", message, source=source, span=(0, len(more[0])), help=help)


def lesson_run(lesson: Lesson) -> Run:
    """Both sweeps over a lesson's formula."""
    from exprgrad.api import parse

    return parse(lesson.expression).gradient(lesson.values)


def new_file(name: str) -> str:
    """The path of a file that is not there yet, in a new temporary folder that is left behind."""
    from tempfile import mkdtemp

    return str(Path(mkdtemp(prefix="exprgrad-")) / f"{name}.html")


def write_page(page: Page) -> None:
    """Write a page to stdout as the UTF-8 that it says it is, whatever the encoding of the stream."""
    sys.stdout.flush()
    sys.stdout.buffer.write(page.html.encode())
    sys.stdout.buffer.flush()


def open_in_browser(path: str) -> None:
    """Show a file in a browser; a note where there is none, for the file is there all the same."""
    import webbrowser

    if not webbrowser.open(Path(path).resolve().as_uri()):
        write([f"note: there is no browser to show {path} in\n"], sys.stderr)
