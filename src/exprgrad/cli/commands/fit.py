"""The command ``fit``: the parameters of a model that bring it nearest to data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from exprgrad.cli.assignments import assignments
from exprgrad.cli.output import Answer, give
from exprgrad.cli.request import (
    Count,
    FormulaCommand,
    Words,
    formula,
    look_option,
    output_as,
    picture_in,
    read_request,
    refuse_two_pipes,
    stack,
)
from exprgrad.errors import RequestError

if TYPE_CHECKING:
    from exprgrad.solvers.fit.fit import Fit

__all__ = ["fit_command"]

row_options = stack(
    click.option(
        "--data", metavar="FILE", multiple=True, required=True,
        help="The rows: .csv, .tsv, .jsonl, .parquet or .arrow; a glob, a folder, a URL, or - for a pipe.  "
        "May be given several times.",
    ),
    click.option(
        "--map", "renamed", metavar="NAME=COLUMN[,…]", help="Take a name from a column of another name."
    ),
    click.option(
        "--where", metavar="COND", help="Take only the rows that meet a condition, such as 'x > 0'."
    ),
    click.option(
        "--bad-rows", type=Words("fail", "drop"), default="fail", show_default=True,
        help="What becomes of rows that miss a number: an error, or they are left out.",
    ),
    click.option("--sigma", metavar="COLUMN", help="The column of the responses' standard deviations."),
    click.option(
        "--weights", metavar="COLUMN", help="The column of weights: how much rows count beside others."
    ),
)  # fmt: skip
search_options = stack(
    click.option(
        "--objective", metavar="FORMULA",
        help="In place of EXPR: make its sum over all rows least, such as a negative log-likelihood.",
    ),
    click.option(
        "--fix", metavar="NAME[=VALUE][,…]", help="Hold these parameters, at a value or at their starts."
    ),
    click.option("--bounds", metavar="NAME=LOW:HIGH[,…]", help="Keep parameters within bounds: b1=0:inf."),
    click.option(
        "--loss", type=Words("huber", "soft_l1", "cauchy"),
        help="Let residuals far out count for less than their squares.",
    ),
    click.option(
        "--loss-scale", default="1", metavar="NUMBER", show_default=True,
        help="From what size on a residual counts for less.",
    ),
    click.option(
        "--starts", type=Count(1, 10_000), default=1, metavar="N", show_default=True,
        help="Try so many starts: yours, and others around it or within bounds.",
    ),
    click.option(
        "--seed", type=Count(0), default=0, metavar="N", show_default=True,
        help="Which starts are drawn.",
    ),
    click.option(
        "--level", default="0.95", metavar="SHARE", show_default=True, help="The intervals' level."
    ),
    click.option(
        "--profile", is_flag=True, help="Find intervals from the profile of the sum of squares, too."
    ),
)  # fmt: skip
file_option = click.option(
    "-o", "--output", "path", metavar="FILE",
    help="Draw data, curve, band and residuals: .svg, .png or .pdf; or write .json, .csv or .txt.",
)  # fmt: skip


@click.command("fit", cls=FormulaCommand)
@formula
@row_options
@search_options
@look_option
@output_as("one parameter per line", document=file_option)
def fit_command(**options: Any) -> int:
    """The parameters that bring a model nearest to data.

    The formula is y ~ EXPR.  Names that are columns are data; each other one is a parameter, and needs a
    start: NAME=START.  The exit status is 1 under --strict if the fit did not converge.
    """
    from exprgrad.data.fits import FitRequest, fit_to

    picture = picture_in(options)
    refuse_two_pipes(options)
    if picture and options["objective"] is not None:
        help = "fit y ~ EXPR, or leave out -o"
        raise RequestError("usage", "a likelihood has no picture", help=help)
    request = read_request(with_objective(options), relates="~")
    asked = FitRequest(
        request.text,
        list(options["data"]),
        request.values,
        fix=fixed_in(options["fix"]),
        bounds=dict(given_in(options["bounds"], "LOW:HIGH", "--bounds b1=0:inf,b2=-1:1")),
        map=dict(given_in(options["renamed"], "COLUMN", "--map x=col_3,y=col_4")),
        spelled=request.spelled,
        **{name: options[name] for name in ("sigma", "weights", "loss", "loss_scale", "where")},
        **{name: options[name] for name in ("bad_rows", "level", "starts", "seed", "profile")},
        objective=options["objective"] is not None,
    )
    found = fit_to(asked)
    if picture:
        from exprgrad.show.picture.fit_plot import fit_picture
        from exprgrad.show.picture.picture import put

        put(fit_picture(found, picture, options["look"]), options["path"])
    return give(fit_answer(found, options), options)


def with_objective(options: dict[str, Any]) -> dict[str, Any]:
    """The options, with the formula of ``--objective`` as the formula."""
    objective = options["objective"]
    if objective is None:
        return options
    if options["file"] is not None:
        raise RequestError("usage", "--objective and -f exclude each other", help="choose one")
    return {**options, "arguments": (objective, *options["arguments"])}


def given_in(argument: str | None, what: str, example: str) -> list[tuple[str, str]]:
    """The names in the value of an option, each with what stands behind its ``=``."""
    if argument is None:
        return []
    help = f"names and what they are given: {example}"
    listed = assignments(argument, what, lambda *_: help)
    return [(name, argument[start:end].strip()) for name, _, (start, end) in listed]


def fixed_in(argument: str | None) -> dict[str, str | None]:
    """The parameters to hold, with their values where they are given."""
    found: dict[str, str | None] = {}
    for part in (argument or "").split(",") if argument is not None else ():
        name, equals, value = part.partition("=")
        if not name.strip().isidentifier():
            help = "--fix b1,b2=3 holds b1 at its start, and b2 at 3"
            raise RequestError("usage", "this is not NAME or NAME=VALUE", help=help).about(
                part or " "
            )
        found[name.strip()] = value.strip() if equals else None
    return found


def fit_answer(found: Fit, options: dict[str, Any]) -> Answer:
    """The answer: estimates, and how the fit ended."""
    from exprgrad.show.text.fits import fit_ending, fit_fields, fit_parts, fit_rows

    fields = {"data": list(options["data"]), **fit_fields(found)}
    digits, whole = options["digits"], options["show_all"]
    return Answer(
        "fit",
        found.text,
        fields.items(),
        fit_rows(found),
        [(name, one.value) for name, one in found.parameters.items()],
        lambda _: fit_parts(found, digits, whole=whole),
        aside="" if found.converged else fit_ending(found),
        is_doubtful=not found.converged,
    )
