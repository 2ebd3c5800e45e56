"""The pictures: ``dot``, the graph; ``explore``, a page to step through; and ``plot``, the curve."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from exprgrad.cli.answer import Answer, give_answer, write_content, write_text
from exprgrad.cli.command import FormulaCommand
from exprgrad.cli.options import (
    Count,
    Words,
    digits_option,
    expand_option,
    formula_arguments,
    is_for_people,
    json_option,
    look_option,
    output_options_as,
    path_option,
    picture_format,
    shape_option,
    split_names,
    wrt_option,
)
from exprgrad.cli.request import declare_shapes, parse_request, prepare_evaluator, run_expression
from exprgrad.errors import InputError, RequestError
from exprgrad.explain.limits import MOST_STEPS

if TYPE_CHECKING:
    from exprgrad.api import Run
    from exprgrad.show.page.lessons import Lesson

__all__ = ["dot_command", "explore_command", "plot_command"]


@click.command("dot", cls=FormulaCommand)
@formula_arguments
@path_option("Write to a .dot, .svg, .png or .pdf file.")
@expand_option
@digits_option
@shape_option
@click.option(
    "--direction",
    type=Words("LR", "TB", "RL", "BT"),
    default="LR",
    show_default=True,
    help="Draw from left to right, from top to bottom, or the other way.",
)
@click.option(
    "--no-wrap", is_flag=True, help="Draw in a single row, even if it is wider than a page."
)
@click.option("--gates", is_flag=True, help="Say what each operation does with its grad.")
@click.option("--contributions", is_flag=True, help="Say what each edge adds to a grad.")
@click.option(
    "--all", "show_all", is_flag=True, help="Draw the graph even if it has more than 500 nodes."
)
@json_option
def dot_command(path: str | None, **options: Any) -> int:
    """The graph as a picture: DOT on stdout, or a file.

    Without values it draws the formula; with them, every node's data, and its grad if the output is a
    number.  A graph wider than a page is drawn in rows.
    """
    from exprgrad.show.picture.cards import node_alarms
    from exprgrad.show.picture.dot import draw_sheet
    from exprgrad.show.picture.picture import Picture, format_from_path

    if path is not None:
        format_from_path(path)
    expression, request = parse_request(options, values=False)
    if options["shape"] is not None:
        if request.values:
            raise RequestError(
                "usage",
                "values have shapes of their own: --shape is for a formula without values",
                help="leave out --shape",
            )
        expression = declare_shapes(expression, options["shape"])
    drawing = {name: options[name] for name in ("digits", "direction", "gates", "contributions")}
    drawing |= {"all": options["show_all"], "wrap": not options["no_wrap"]}
    if request.values or not expression.inputs:
        graph = prepare_evaluator(expression, request)[0].graph
        run = run_expression(expression, request, grad=not graph.shape(graph.output))
        drawn = draw_sheet(run.graph, run, alarms=node_alarms(run, options["digits"]), **drawing)
    else:
        drawn = draw_sheet(expression.drawn, text=expression.text, **drawing)
    if path is not None:
        Picture(drawn.source).save(path)
    write_content("dot", expression.text, {}, {"dot": drawn.source}, path, options)
    if drawn.remark and not options["as_json"]:
        write_text([f"warning: {drawn.remark}\n"], sys.stderr)
    return 0


class ExploreCommand(FormulaCommand):
    """A command that takes a formula, or a lesson or a course instead."""

    def format_usage(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write a usage line for a formula, a lesson and a course."""
        super().format_usage(ctx, formatter)
        for usage in ("--lesson NAME [OPTIONS]", "--course DIR [LESSON…] [OPTIONS]"):
            formatter.write_usage(ctx.command_path, usage, prefix=" " * len("Usage: "))


@click.command("explore", cls=ExploreCommand)
@formula_arguments
@click.option(
    "--lesson",
    metavar="NAME",
    help="Take a lesson instead of EXPR: start, graph, chain, neuron, tanh, gates, square, accumulate, "
    "diamond, paths, order, backward, check, vanish, variance, descent, kink, dead, momentum, batch, "
    "tensors, matrix, jacobian, network, or a .toml file.",
)
@click.option(
    "--course",
    metavar="DIR",
    help="Write a course to a folder: an index and a page for each lesson, all or those named.",
)
@click.option("--descend", is_flag=True, help="Add a panel of gradient descent.")
@path_option("Write to an .html file.")
@click.option("--open", "show", is_flag=True, help="Show the page in a browser.")
@wrt_option("Differentiate these inputs only.")
@expand_option
@digits_option
@click.option(
    "--all",
    "show_all",
    is_flag=True,
    help="Make the page even if the graph has more than 500 nodes.",
)
@json_option
def explore_command(
    path: str | None, show: bool, lesson: str | None, course: str | None, **options: Any
) -> int:
    """One HTML page: step through both sweeps, edit inputs, break it.

    The page is a single file and needs no network.  With --open but no -o it is a new file in a temporary
    folder, whose name is printed; with neither, it goes to a pipe.
    """
    from exprgrad.api import parse

    if course is not None:
        return explore_course(course, {"-o": path, "--lesson": lesson}, options, show=show)
    to_pipe = path == "-" or (path is None and not show)
    check_target(path, show=show, to_pipe=to_pipe, as_json=options["as_json"])
    taken = None if lesson is None else lesson_alone(lesson, options)
    run = formula_run(options) if taken is None else parse(taken.expression).gradient(taken.values)
    page = run.explore(
        digits=options["digits"],
        all=options["show_all"],
        lesson=taken,
        descend=options["descend"],
    )
    file_written = None if to_pipe else path or new_file(Path(lesson or "page").stem)
    if file_written is not None:
        page.save(file_written)
    if options["as_json"]:
        fields = {"lesson": lesson, "inputs": run.inputs, "bytes": len(page.html.encode())}
        write_content("explore", run.text, fields, {"html": page.html}, file_written, options)
    elif file_written is None:
        sys.stdout.flush()  # the page says that it is in UTF-8, whatever the encoding of the stream
        sys.stdout.buffer.write(page.html.encode())
        sys.stdout.buffer.flush()
    elif path is None:
        write_text([file_written, "\n"])
    if show and file_written is not None:
        open_in_browser(file_written)
    return 0


def explore_course(
    folder: str, others: Mapping[str, Any], options: Mapping[str, Any], *, show: bool
) -> int:
    """Write a course; refuse ``others``, and options that are for a single formula."""
    from exprgrad.api.course import write_course

    if given := [*given_options(options), *(flag for flag, value in others.items() if value)]:
        raise RequestError(
            "usage",
            f"a course takes lessons, and no {given[0]}",
            help=f"write exprgrad explore --course {folder} start chain, or a lesson's .toml file",
        ).about(given[0])
    index = str(
        write_course(
            folder, options["arguments"], digits=options["digits"], all=options["show_all"]
        )
    )
    if options["as_json"]:
        write_content("explore", "", {"lessons": options["arguments"]}, {}, index, options)
    else:
        write_text([index, "\n"])
    if show:
        open_in_browser(index)
    return 0


def given_options(options: Mapping[str, Any]) -> list[str]:
    """List the options given that are for a formula, not for a lesson."""
    others = {"-f": "file", "--inputs": "inputs", "--wrt": "wrt", "--expand": "expand"}
    given = [flag for flag, option in others.items() if options[option] is not None]
    return [*given, *(["--descend"] if options["descend"] else [])]


def check_target(path: str | None, *, show: bool, to_pipe: bool, as_json: bool) -> None:
    """Refuse a target that cannot take the page, or should not."""
    from exprgrad.show.page.page import check_page_path

    if to_pipe and show:
        raise RequestError(
            "usage", "--open needs a file, not a pipe", help="leave out -o, or write -o page.html"
        )
    if path is None and to_pipe and not as_json and sys.stdout.isatty():
        raise RequestError(
            "usage",
            "refusing to print HTML to a terminal",
            help="-o page.html writes it, --open shows it in a browser",
        )
    if path is not None and not to_pipe:
        check_page_path(path)


def formula_run(options: Mapping[str, Any]) -> Run:
    """Both sweeps over the formula."""
    from exprgrad.language.mistakes.hints import nearest_word
    from exprgrad.show.page.lessons import LESSONS

    try:
        expression, request = parse_request(options)
    except RequestError as error:
        if not options["arguments"] and options["file"] is None:
            error.help = "type one, or take a lesson: --lesson start"
        raise
    try:
        prepare_evaluator(expression, request)
    except InputError as error:
        lesson = nearest_word(request.text.strip(), LESSONS)
        if lesson and len(expression.graph) == 1:
            error.help = f"the lesson is exprgrad explore --lesson {lesson}"
        raise
    return run_expression(expression, request, split_names(options["wrt"]))


def lesson_alone(name: str, options: Mapping[str, Any]) -> Lesson:
    """Find a lesson; refuse values beside it, because its tasks are about its own formula and inputs."""
    from exprgrad.show.page.lessons import find_lesson

    lesson = find_lesson(name)
    more = [*options["arguments"], *given_options(options)]
    if not more:
        return lesson
    values = " ".join(
        f"{key}={value:.17g}" if isinstance(value, float) else f"{key}={value}".replace(" ", "")
        for key, value in lesson.values.items()
    )
    raise RequestError(
        "usage",
        "a lesson has a formula and inputs of its own",
        help=f'edit the inputs on the page, or write exprgrad explore "{lesson.expression}" {values}',
    ).about(more[0])


def new_file(name: str) -> str:
    """Return the path of a new file in a new temporary folder, which is not removed."""
    from tempfile import mkdtemp

    return str(Path(mkdtemp(prefix="exprgrad-")) / f"{name}.html")


def open_in_browser(path: str) -> None:
    """Show a file in a browser; print a note if there is no browser, because the file is written anyway."""
    import webbrowser

    if not webbrowser.open(Path(path).resolve().as_uri()):
        write_text([f"note: there is no browser to show {path} in\n"], sys.stderr)


# The curve.

MOST_ROWS = 40
"""The most lines of the panels, which otherwise fill the height of a terminal."""
file_option = path_option(
    "Write to a file: .svg, .png or .pdf (these need Matplotlib), .json, .csv or .txt."
)


@click.command("plot", cls=FormulaCommand)
@formula_arguments
@click.option(
    "--order", type=Count(0, 2), default=1, show_default=True, metavar="N",
    help="The number of derivatives to draw below the value: 0, 1 or 2.",
)  # fmt: skip
@click.option("--y", "shown", metavar="LOW:HIGH", help="The range of values to show.")
@click.option("--tangent-at", "tangent", metavar="X", help="Also draw the tangent at X.")
@click.option(
    "--descend-from",
    "descend",
    metavar="START",
    help="Over two inputs: draw the path of gradient descent from a point, such as x=-1,y=2.",
)
@click.option("--rate", metavar="NUMBER", help="The rate for --descend-from, 0.1 by default.")
@click.option(
    "--max-steps", "steps", type=Count(1, MOST_STEPS), metavar="N",
    help="The greatest number of steps for --descend-from, 20 by default.",
)  # fmt: skip
@look_option
@output_options_as("one point per line", "List every marked point.", file_option)
def plot_command(**options: Any) -> int:
    """A curve and its derivative: roots, extrema, kinks and poles.

    One input has a range, as in x=-5:5; the others have values.  The curve is never
    joined across a pole or a jump, however narrow, nor broken where it is merely steep.  Points that
    rounding spoils are left out and counted: with --strict the exit status is then 1.  If two inputs
    have ranges, the plot is a map: contours, arrows along the gradient, and the points where the gradient
    is 0.
    """
    import shutil

    form = picture_format(options)
    expression, request = parse_request(options)
    plot = expression.plot(request.values, **plot_choices(options))
    if form:
        plot.save(options["path"], options["look"])
        if is_for_people(options):
            write_text([f"warning: {plot.missing}\n"] if plot.missing else [], sys.stderr)
            return int(options["strict"] and bool(plot.missing))
    columns, lines = shutil.get_terminal_size()  # as COLUMNS or the terminal says; else 80 by 24
    rows = min(max(lines - 2, 12), MOST_ROWS)
    answer = Answer(
        "plot",
        expression.text,
        plot.fields(),
        plot.rows(),
        plot.lines(),
        lambda screen: plot.parts(
            screen.digits, screen._replace(width=max(columns, 20)), rows, whole=screen.whole
        ),
        aside=plot.missing,
        is_doubtful=bool(plot.missing),
    )
    return give_answer(answer, options)


def plot_choices(options: Mapping[str, Any]) -> dict[str, Any]:
    """Options other than ranges and values."""
    from exprgrad.cli.assignments import read_weights
    from exprgrad.run.values.inputs import as_number

    chosen = {name: options[name] for name in ("order", "shown", "tangent")}
    if options["descend"] is None:
        for name, option in (("rate", "--rate"), ("steps", "--max-steps")):
            if options[name] is not None:
                raise RequestError(
                    "usage",
                    f"{option} is only for --descend-from",
                    help="write --descend-from x=-1,y=2, or leave it out",
                )
        return chosen
    rate = None if options["rate"] is None else as_number(options["rate"], "--rate")
    from_there = read_weights(options["descend"], "--descend-from")
    steps = {} if options["steps"] is None else {"steps": options["steps"]}
    return {**chosen, "descend": from_there, "rate": rate, **steps}
