"""The commands over rows: ``batch``, value and gradient for each, and ``fit``, a model fitted to them."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING, Any

import click

from exprgrad.cli.answer import Answer, give_answer, write_text
from exprgrad.cli.assignments import split_assignments
from exprgrad.cli.command import FormulaCommand
from exprgrad.cli.options import (
    Count,
    F,
    Words,
    combine_options,
    derivative_options,
    drawing_option,
    formula_arguments,
    look_option,
    output_options_as,
    path_option,
    picture_format,
    settle_output_form,
    split_names,
    starts_options,
)
from exprgrad.cli.request import read_request
from exprgrad.data.formats import FORMATS
from exprgrad.errors import ExprgradError, RequestError
from exprgrad.source import printable_text

if TYPE_CHECKING:
    from exprgrad.data.batch import PartitionOutcome, Workers
    from exprgrad.data.fits import FitRequest
    from exprgrad.data.job import BatchJob, Tally
    from exprgrad.data.plans import BatchPlan
    from exprgrad.data.targets import Manifest
    from exprgrad.show.text.table import Table

__all__ = ["batch_command", "fit_command"]

MOST_LEFT_OUT = 8
"""The most columns left out that a message lists by name."""


def row_options(map_help: str) -> Callable[[F], F]:
    """The options that say which rows there are, and what their columns are called."""
    *endings, last = [row.endings[0] for row in FORMATS.values()]
    return combine_options(
        click.option(
            "--data", metavar="FILE", multiple=True, required=True,
            help=f"The rows: {', '.join(endings)} or {last}; a glob, a folder, a URL, or - "
            "for a pipe.  May be given several times.",
        ),
        click.option(
            "--decimal", default="", metavar="SIGN",
            help="The decimal sign in text, . or , (default: the one in the first lines).",
        ),
        click.option(
            "--delimiter", default="", metavar="CHARACTER",
            help="What separates cells in text; by default what the first lines show.",
        ),
        click.option(
            "--sheet", default="", metavar="NAME", help="The sheet of a workbook; by default its only one."
        ),
        click.option("--map", "renamed", metavar="NAME=COLUMN[,…]", help=map_help),
        click.option(
            "--where", metavar="COND", help="Take only the rows that meet a condition, such as 'x > 0'."
        ),
    )  # fmt: skip


treatment_options = combine_options(
    row_options("Take an input from a column of another name."),
    click.option(
        "--bad-rows", type=Words("null", "drop", "fail"), default="null", show_default=True,
        help="What to do with a row that cannot be computed: leave its results empty, drop it, or fail.",
    ),
)  # fmt: skip
result_options = combine_options(
    derivative_options("Differentiate with respect to these inputs only."),
    click.option("--only", is_flag=True, help="Write the new columns only."),
    click.option(
        "--prefix", default="", metavar="TEXT", help="Begin the names of the new columns with TEXT."
    ),
    click.option(
        "--show-digits", is_flag=True,
        help="Write a column digits: how many digits of the row's least accurate result are right, "
        "from 0 to 16, as far as bounds tell.",
    ),
    click.option(
        "--correct", is_flag=True,
        help="Work out doubtful rows one by one, as grad does: their results are then the true numbers.",
    ),
    click.option(
        "--reduce", type=Words("sum", "mean", "norm", "min", "max"),
        help="Reduce each result to one number over all rows.",
    ),
    click.option(
        "--by", metavar="COLUMN[,COLUMN]", help="Reduce each group of rows by itself."
    ),
    click.option(
        "--to", type=Words(*(name for name, row in FORMATS.items() if row.writer)),
        help="The format of rows on stdout, csv by default.",
    ),
)  # fmt: skip
run_options = combine_options(
    click.option(
        "--resume", is_flag=True,
        help="Finish a run that was interrupted, with the same bytes; if there is none, start one.",
    ),
    click.option(
        "--check-content", is_flag=True,
        help="For --resume, tell by content whether files have changed, not by size and time.",
    ),
    click.option(
        "--threads", type=Count(1, 1024), metavar="N", help="The number of threads; all cores by default."
    ),
    click.option(
        "--cluster", metavar="ADDRESS",
        help="Share the work among the workers of a Dask scheduler, such as tcp://10.0.0.1:8786; "
        "local:4 starts four here.",
    ),
)  # fmt: skip
rows_file_option = path_option(
    "Write to a file, in the format of its ending: one of those for --data, or for reduced rows .json, "
    ".csv or .txt.  A folder, such as out/, gets a file for each one that is read."
)


@click.command("batch", cls=FormulaCommand)
@formula_arguments
@treatment_options
@result_options
@run_options
@output_options_as("one group per line", document=rows_file_option)
def batch_command(**options: Any) -> int:
    """Value and gradient for every row of a file.

    Inputs are columns, by name; NAME=VALUE is the same number in every row.
    """
    from exprgrad.data.batch import execute_plan
    from exprgrad.data.job import CORRECTED
    from exprgrad.data.plans import plan_batch
    from exprgrad.run.engines.compiled import count_cores
    from exprgrad.run.values.layouts import Layout
    from exprgrad.show.text.rows import Progress

    refuse_batch_options(options)
    refuse_two_pipes(options)
    request = read_request(options)
    found = plan_batch(
        request.text,
        options["data"],
        constants=request.values,
        spelled=request.spelled,
        texts=request.texts,
        renamed=given_in(
            options["renamed"], "COLUMN", "an input and its column: --map x=col_3,y=col_4"
        ),
        wrt=split_names(options["wrt"]),
        of=split_names(options["of"], "--of"),
        by=split_names(options["by"], "--by") or (),
        **{name: options[name] for name in ("value_only", "hessian", "where", "only", "prefix")},
        **{name: options[name] for name in ("show_digits", "correct", "bad_rows", "path", "to")},
        reduce=options["reduce"] or "",
        layout=Layout(**layout_options(options)),
    )
    with run_manifest(found, options) as kept, open_cluster(found, options["cluster"]) as workers:
        with Progress(found.rows) as progress:
            before = found.partitions[: kept.reached.done] if kept else ()
            progress(sum(max(one.rows, 0) for one in before))  # -1 is not known
            done = execute_plan(found, progress, kept, workers, options["threads"] or count_cores())
        report_rows(done.tally, found)
        status = 0
        if options["reduce"] or options["as_json"]:
            status = give_answer(batch_answer(found, done, options), options)
    is_warned = done.tally.first.keys() - {CORRECTED} or found.left_out or (kept and kept.warning)
    return 1 if options["strict"] and is_warned else status


def layout_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the layout of text that options give; a tab may be spelled out."""
    found = {name: options[name] for name in ("delimiter", "decimal", "sheet")}
    return found | ({"delimiter": "\t"} if found["delimiter"] in ("\\t", "tab") else {})


def refuse_batch_options(options: dict[str, Any]) -> None:
    """Refuse options that cannot be combined, and settle the form of the answer."""
    reduce, to = options["reduce"], options["to"]
    for given, beside, why in (
        (options["by"], reduce, "--by needs --reduce: it groups the rows to reduce"),
        (to, not reduce, "--to is for rows, and --reduce leaves none"),
        (options["only"], not reduce, "--only is for rows, and --reduce leaves none"),
        (options["show_digits"], not reduce, "--show-digits is for rows, and --reduce leaves none"),
        (options["hessian"], not options["value_only"], "--value-only and --hessian cannot be combined"),
        (options["hessian"], not options["of"], "--of and --hessian cannot be combined"),
        (options["wrt"], not options["value_only"], "--value-only and --wrt cannot be combined"),
        (options["as_csv"] or options["quiet"], reduce, "--csv and --quiet are for --reduce"),
        (options["as_json"], reduce or options["path"], "--json needs --reduce, or -o FILE"),
    ):  # fmt: skip
        if given and not beside:
            raise RequestError(
                "usage",
                why,
                help="--to jsonl prints rows as JSON" if why.startswith("--json") else None,
            )
    if reduce:
        options["document"] = options["path"]
        options["path"] = None
        settle_output_form(options)


@contextmanager
def run_manifest(plan: BatchPlan, options: Mapping[str, Any]) -> Iterator[Manifest | None]:
    """Open the record of the run, if it can have one; an interrupted run prints how to continue it."""
    from exprgrad.data.targets import is_resumable, open_manifest

    path = plan.path or options.get("document")
    if path is None or not is_resumable(plan, path):
        for name in ("resume", "check_content"):
            if options[name]:
                raise RequestError(
                    "usage",
                    f"--{name.replace('_', '-')} needs files on this machine, no pipe, and -o FILE",
                )
        yield None
        return
    with open_manifest(path, plan, options["resume"], options["check_content"]) as kept:
        if kept.warning:
            write_text([f"warning: {kept.warning}\n"], sys.stderr)
        try:
            yield kept
        except (KeyboardInterrupt, ExprgradError, OSError) as error:
            if kept.outlasts(error):
                again = shlex.join(["exprgrad", *click.get_current_context().obj])
                again += " --resume" * (not options["resume"])
                write_text(
                    [f"note: finished work is kept; to continue, type\n  {again}\n"], sys.stderr
                )
            raise


def open_cluster(plan: BatchPlan, address: str | None) -> AbstractContextManager[Workers | None]:
    """Connect to the cluster that shares the work, if one is requested."""
    from exprgrad.data.targets import is_resumable

    if address is None:
        return nullcontext()
    if not is_resumable(plan, plan.path or ""):
        raise RequestError(
            "usage", "--cluster needs files that workers reach, no pipe, and -o FILE or --reduce"
        )
    from exprgrad.data.cluster import connect_cluster

    return connect_cluster(address, lambda line: write_text([f"note: {line}\n"], sys.stderr))


def report_rows(tally: Tally, plan: BatchPlan) -> None:
    """Report on stderr the rows to remark on, and the columns of later files that are left out.

    Warnings are about rows that fail, meet a kink, were converted or lost digits; a note is about those
    that are corrected.
    """
    from exprgrad.data.job import CORRECTED, describe_rows, row_remarks

    lines = [f"warning: {remark}" for remark in row_remarks(plan.job, tally, plan.names)]
    if tally.corrected:
        words, first = "corrected to the true numbers", tally.first[CORRECTED]
        lines.append(f"note: {describe_rows(tally.corrected, words, first)}")
    model = plan.partitions[0].source.path
    lines += [
        f"warning: column '{name}' of '{path}' is left out: '{model}' has none"
        for name, path in [*plan.left_out.items()][:MOST_LEFT_OUT]
    ]
    more = len(plan.left_out) - MOST_LEFT_OUT
    if more > 0:
        lines.append(f"warning: so are {more:,} more columns")
    write_text((f"{printable_text(line)}\n" for line in lines), sys.stderr)


def batch_answer(plan: BatchPlan, done: PartitionOutcome, options: Mapping[str, Any]) -> Answer:
    """Build the answer: the reduced rows, or how many rows were written where."""
    from exprgrad.data.job import tally_fields
    from exprgrad.data.sums import finish_groups, label_groups
    from exprgrad.show.documents.document import Quoted

    job, tally = plan.job, done.tally
    fields: dict[str, Any] = {"data": list(options["data"])}
    told = tally_fields(job, tally)
    if done.partial is None:
        rows = tally.rows - (sum(tally.bad.values()) if job.bad == "drop" else 0)
        fields |= {
            "file": options["path"],
            "columns": [*plan.kept, *plan.names],
            "rows": rows,
            **told,
        }
        return Answer("batch", job.text, fields.items(), (), (), lambda _: ())
    found = finish_groups(job.reduce, done.partial, job.by)
    keys = label_groups(job, [*found])
    # An empty text in a key is another than a missing one.
    cells = [
        [one if one is None or isinstance(one, int | float) else Quoted(one) for one in key]
        for key in keys
    ]
    groups = [(key, *both) for key, both in zip(cells, found.values(), strict=True)]
    fields |= {"reduce": job.reduce, **reduced_fields(job, groups), **told}
    labels = [f"[{','.join(map(str, key))}]" if key else "" for key, _, _ in groups]
    lines = [
        (f"{name}{label}", value)
        for label, (_, _, values) in zip(labels, groups, strict=True)
        for name, value in zip(plan.names, values, strict=True)
    ]
    columns = [*job.by, "rows", *plan.names]
    table = [[*key, rows, *values] for key, rows, values in groups]
    return Answer(
        "batch",
        job.text,
        fields.items(),
        [columns, *table],
        lines,
        lambda _: [reduced_table(job, columns, table, options)],
    )


Groups = Sequence[tuple[Sequence[Any], int, Sequence[float]]]
"""Reduced rows by group: its key, how many rows it has, and the results."""


def reduced_fields(job: BatchJob, groups: Groups) -> dict[str, Any]:
    """Return reduced rows as fields of JSON."""
    from exprgrad.data.job import result_fields
    from exprgrad.show.documents.document import Lines

    listed = [{**result_fields(job, values), "rows": rows} for _, rows, values in groups]
    if not job.by:
        return listed[0]
    keys = [{"group": dict(zip(job.by, key, strict=True))} for key, _, _ in groups]
    both = [key | one for key, one in zip(keys, listed, strict=True)]
    return {"by": list(job.by), "groups": Lines(both)}


def reduced_table(
    job: BatchJob, columns: Sequence[str], rows: Sequence[Sequence[Any]], options: Mapping[str, Any]
) -> Table:
    """Draw the table of reduced rows: a line for each result, or for each group."""
    from exprgrad.show.text.table import Column, make_table

    digits = options["digits"]
    if job.by:
        headings = [
            Column(printable_text(name), is_number=at >= len(job.by))
            for at, name in enumerate(columns)
        ]
        return make_table(headings, rows, digits, whole=options["show_all"], what="groups")
    headings = [Column("result"), Column(job.reduce, is_number=True)]
    count, *results = zip(columns, rows[0], strict=True)
    return make_table(headings, [*results, count], digits, whole=True)


def refuse_two_pipes(options: Mapping[str, Any]) -> None:
    """An error for a formula and rows that both come from standard input."""
    if "-" in options["data"] and "-" in (options["file"], *options["arguments"][:1]):
        raise RequestError(
            "usage",
            "standard input cannot be both the formula and the rows",
            help="give one of them as a file, or the formula itself",
        )


# Fits.

GIVEN = "names and what they are given"

weight_options = combine_options(
    row_options("Take a name from a column of another name."),
    click.option(
        "--bad-rows", type=Words("fail", "drop"), default="fail", show_default=True,
        help="What to do with a row that lacks a number: fail, or leave it out.",
    ),
    click.option(
        "--sigma", metavar="COLUMN|NUMBER",
        help="The column of the responses' standard deviations, or one number for all.",
    ),
    click.option(
        "--weights", metavar="COLUMN", help="The column of relative weights: how much each row counts."
    ),
)  # fmt: skip
search_options = combine_options(
    click.option(
        "--objective", metavar="FORMULA",
        help="Instead of EXPR: minimize the sum of this formula over all rows, such as a negative "
        "log-likelihood.",
    ),
    click.option(
        "--fix", metavar="NAME[=VALUE][,…]", help="Hold these parameters at a value, or at their starts."
    ),
    click.option("--bounds", metavar="NAME=LOW:HIGH[,…]", help="Keep parameters within bounds: b1=0:inf."),
    click.option(
        "--loss", type=Words("huber", "soft_l1", "cauchy"),
        help="Let large residuals count for less than their squares.",
    ),
    click.option(
        "--loss-scale", default="1", metavar="NUMBER", show_default=True,
        help="The size beyond which a residual counts for less.",
    ),
    starts_options,
    click.option(
        "--level", default="0.95", metavar="SHARE", show_default=True,
        help="The confidence level of the intervals.",
    ),
    click.option(
        "--profile", is_flag=True, help="Find intervals from the profile of the sum of squares, too."
    ),
)  # fmt: skip


@click.command("fit", cls=FormulaCommand)
@formula_arguments
@weight_options
@search_options
@look_option
@output_options_as(
    "one parameter per line", document=drawing_option("data, curve, band and residuals")
)
def fit_command(**options: Any) -> int:
    """The parameters with which a model fits data best.

    The formula is y ~ EXPR.  Names that are columns are data; every other one is a parameter and needs a
    start: NAME=START.  The exit status is 1 under --strict if the fit did not converge, or a cell was read
    as another number.
    """
    from exprgrad.data.fits import fit_model
    from exprgrad.run.values.layouts import CHANGES
    from exprgrad.show.text.fits import fit_ending, fit_fields, fit_parts

    picture = picture_format(options)
    refuse_two_pipes(options)
    if picture and options["objective"] is not None:
        raise RequestError(
            "usage", "a likelihood has no picture", help="fit y ~ EXPR, or leave out -o"
        )
    found = fit_model(fit_request(options))
    if picture:
        from exprgrad.show.picture.picture import write_file
        from exprgrad.show.text.fits import fit_picture

        write_file(fit_picture(found, picture, options["look"]), options["path"])
    for change, count in found.converted.items():
        write_text([f"warning: {count:,} row{'s' * (count > 1)} {CHANGES[change]}\n"], sys.stderr)
    fields = {"data": list(options["data"]), **fit_fields(found)}
    answer = Answer(
        "fit",
        found.text,
        fields.items(),
        None,
        [(name, one.value) for name, one in found.parameters.items()],
        lambda screen: fit_parts(found, screen.digits, whole=screen.whole),
        aside="" if found.converged else fit_ending(found),
        is_doubtful=bool(found.converted) or not found.converged,
    )
    return give_answer(answer, options)


def fit_request(options: dict[str, Any]) -> FitRequest:
    """Read the request for a fit; the formula of ``--objective`` takes the place of the model."""
    from exprgrad.data.fits import FitRequest

    objective = options["objective"]
    if objective is not None:
        if options["file"] is not None:
            raise RequestError("usage", "--objective and -f cannot be combined", help="choose one")
        options = {**options, "arguments": (objective, *options["arguments"])}
    request = read_request(options, relates="~")
    return FitRequest(
        request.text,
        list(options["data"]),
        request.values,
        fix=fixed_values(options["fix"]),
        bounds=given_in(options["bounds"], "LOW:HIGH", f"{GIVEN}: --bounds b1=0:inf,b2=-1:1"),
        map=given_in(options["renamed"], "COLUMN", f"{GIVEN}: --map x=col_3,y=col_4"),
        spelled=request.spelled,
        **{name: options[name] for name in ("sigma", "weights", "loss", "loss_scale", "where")},
        **{name: options[name] for name in ("bad_rows", "level", "starts", "seed", "profile")},
        objective=objective is not None,
        **layout_options(options),
    )


def given_in(argument: str | None, what: str, help: str) -> dict[str, str]:
    """Split the value of an option into names, each with the text after its ``=``."""
    listed = () if argument is None else split_assignments(argument, what, lambda *_: help)
    return {name: str(argument)[start:end].strip() for name, _, (start, end) in listed}


def fixed_values(argument: str | None) -> dict[str, str | None]:
    """The parameters to hold, with their values where they are given."""
    found: dict[str, str | None] = {}
    for part in (argument or "").split(",") if argument is not None else ():
        name, equals, value = part.partition("=")
        if not name.strip().isidentifier():
            raise RequestError(
                "usage",
                "this is not NAME or NAME=VALUE",
                help="--fix b1,b2=3 holds b1 at its start, and b2 at 3",
            ).about(part or " ")
        found[name.strip()] = value.strip() if equals else None
    return found
