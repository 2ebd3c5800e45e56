"""The commands that examine a gradient: ``check``, against numbers; ``paths``, path by path."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from exprgrad.cli.answer import Answer, give_answer, write_text
from exprgrad.cli.command import FormulaCommand
from exprgrad.cli.options import (
    Count,
    expand_option,
    formula_arguments,
    output_options_as,
    refuse_together,
    split_names,
    wrt_option,
)
from exprgrad.cli.request import parse_request, run_expression, run_request
from exprgrad.errors import InputError, RequestError
from exprgrad.explain.limits import LISTED_PATHS
from exprgrad.show.documents.document import Lines, record_lines, shorten_tensors

if TYPE_CHECKING:
    from exprgrad.api import Run
    from exprgrad.explain.checking.check import Check
    from exprgrad.show.text.table import Screen

__all__ = ["check_command", "paths_command"]


@click.command("check", cls=FormulaCommand)
@formula_arguments
@wrt_option("Check these inputs only.")
@click.option(
    "--node",
    "nodes",
    multiple=True,
    metavar="NODE",
    help="Check the grad of a node: its name, number or text.  May be repeated.",
)
@click.option("--h", "step", metavar="H", help="Bump by a step of H, as the lesson does.")
@click.option(
    "--claim",
    "claims",
    multiple=True,
    metavar="NAME=FORMULA",
    help="Check a derivative found by hand, such as a=b*c, at points of its domain.  May be repeated.",
)
@expand_option
@output_options_as("one check per line")
def check_command(**options: Any) -> int:
    """The gradient against numbers, with a verdict.

    Differences of values, in ball arithmetic where python-flint is installed, say whether each
    derivative agrees, or what is wrong: a kink, lost digits, overflow, or a rule that is to blame.  Exits
    with 1 if one disagrees.
    """
    from exprgrad.run.values.inputs import as_number, resolve_inputs

    expression, request = parse_request(options, values=not options["claims"])
    step, nodes, wrt = options["step"], options["nodes"], options["wrt"]
    h = None if step is None else as_number(step, "--h")
    help, run = "check them one after the other", None
    if options["claims"]:
        refuse_together("--claim", {"--wrt": wrt, "--node": nodes, "--h": step}, help)
        claimed = claims_in(options["claims"])
        given = resolve_inputs(
            expression.graph, expression.text, request.values, request.spelled, partly=True
        )
        found = expression.check(given, claims=claimed)
    else:
        refuse_together("--node", {"--wrt": nodes and wrt}, help)
        names = split_names(wrt)
        run = run_expression(expression, request, names)
        if not run.wrt and not options["as_json"]:
            write_text(["note: the formula has no inputs to check\n"], sys.stderr)
        given = run.inputs
        found = expression.check(given, wrt=names, nodes=nodes or None, h=h)
    return give_answer(check_answer(expression.text, given, found, run), options)


def check_answer(
    text: str,
    inputs: Mapping[str, Any],
    checks: Sequence[Check],
    run: Run | None,
) -> Answer:
    """The answer; ``run`` is None where claims were checked at points of our choice.

    The span of a claim's diagnostic is null in JSON, for it is in another text than the expression.
    """
    from exprgrad.show.text import checks as shown

    told = shown.check_diagnostics(checks, run)
    place = {"span": None} if run is None else {}
    fields = {
        "inputs": shorten_tensors(inputs),
        **({} if run is None else {"value": run.value}),
        "checks": Lines(map(shown.check_fields, checks)),
        "diagnostics": Lines(one._asdict() | place for one in told),
    }
    return Answer(
        "check",
        text,
        fields.items(),
        None,
        [(check.input, check.verdict) for check in checks],
        lambda screen: [shown.check_table(checks, run, screen.digits, whole=screen.whole)],
        told,
        () if run else [check.claim or "" for check in shown.doubtful_checks(checks)],
        is_no=any(check.verdict == "disagrees" for check in checks),
        is_doubtful=any(c.verdict != "agrees" or c.proof == "samples" for c in checks),
    )


def claims_in(arguments: Sequence[str]) -> dict[str, str]:
    """The claims, ``NAME=FORMULA`` each: input → formula."""
    found: dict[str, str] = {}
    for argument in arguments:
        name, equals, claim = (part.strip() for part in argument.partition("="))
        if not (equals and name.isidentifier() and claim) or claim.startswith("="):
            raise RequestError(
                "usage",
                "this is not NAME=FORMULA",
                help="a claim gives the derivative with respect to an input: --claim a=b*c",
            ).about(argument)
        if name in found:
            raise InputError(
                "given-twice", f"'{name}' is given twice", help=f"its first claim is {found[name]}"
            ).about(argument, (0, len(name)))
        found[name] = claim
    return found


# Paths.


@click.command("paths", cls=FormulaCommand)
@formula_arguments
@click.option(
    "-k", "--most", type=Count(0), default=LISTED_PATHS, show_default=True, metavar="K",
    help="List the K paths with the largest products for each input.",
)  # fmt: skip
@wrt_option("Differentiate these inputs only.")
@expand_option
@output_options_as(
    "one path per line", "Show every input, and paths whole; -k says how many paths."
)
def paths_command(**options: Any) -> int:
    """Each path's contribution to each gradient.

    All paths from the output to an input are counted, and the largest are listed with the products of
    their local derivatives.  -q prints the counts.
    """
    from exprgrad.explain.places import to_scalar_run
    from exprgrad.explain.walks import build_web, check_path_count, paths_to_input, sweep_sums
    from exprgrad.show.documents.runs import common_run_fields, graph_fields
    from exprgrad.show.text.walks import path_csv_rows, path_fields, paths_text

    most = check_path_count(options["most"])
    run = to_scalar_run(run_request(options)).run
    web = build_web(run)
    found = sweep_sums(web)
    ask = partial(paths_to_input, web, found, most=most)
    counts = {name: found.ways(web, 2 * node) for name, node in web.inputs.items()}

    def draw_paths(screen: Screen) -> list[str]:
        every, whole = sum(counts.values()), screen.whole
        return [paths_text(run, ask, web, every, screen.digits, screen, whole=whole)]

    fields = {
        **common_run_fields(run, run.value),
        "visited": web.visited,
        "paths": Lines(
            (
                (
                    name,
                    {
                        "count": one.count,
                        "gradient": one.gradient,
                        "listed": [path_fields(path) for path in one.listed],
                        "rest": one.rest,
                    },
                )
                for name, one in ((name, ask(name)) for name in run.wrt or ())
            ),
            "{}",
        ),
        **graph_fields(run),
        "diagnostics": record_lines(run.diagnostics),
    }
    given = path_csv_rows(run, ask), counts.items(), draw_paths, run.diagnostics
    return give_answer(Answer("paths", run.text, fields.items(), *given), options)
