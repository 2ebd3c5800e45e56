"""The commands ``eval`` and ``grad``: a formula's nodes, by one sweep or by both."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from exprgrad.cli.answer import Answer, give_answer
from exprgrad.cli.command import FormulaCommand
from exprgrad.cli.options import (
    Count,
    Words,
    combine_options,
    digits_needed,
    expand_option,
    formula_arguments,
    output_options,
    refuse_together,
    split_names,
    wrt_option,
)
from exprgrad.cli.request import parse_request, run_expression
from exprgrad.errors import RequestError
from exprgrad.explain.limits import LISTED_PATHS, MOST_DRAWS

if TYPE_CHECKING:
    from exprgrad.api import Run
    from exprgrad.explain.digits.trust import Trust
    from exprgrad.run.evaluation import Diagnostic
    from exprgrad.show.text.table import Screen, Table
    from exprgrad.solvers.uncertainty.propagation import Uncertainty

__all__ = ["behind_options", "eval_command", "grad_command"]

MOST_LOST = 1000
"""The most lost paths listed with ``--all``."""

order_options = combine_options(
    click.option(
        "--order", metavar="NAME[,NAME]",
        help="Visit these nodes (names or ids) in this order, or in a well-known wrong one (preorder, bfs "
        "or naive), and say which paths are lost.",
    ),
    click.option(
        "--accumulate", type=Words("add", "set"), default="add", show_default=True,
        help="What a contribution does to a grad: add is +=, set is =.",
    ),
)  # fmt: skip


uncertainty_options = combine_options(
    click.option(
        "--correlation", metavar="A,B=R", multiple=True,
        help="The correlation coefficient of two uncertain inputs.  May be repeated.",
    ),
    click.option(
        "--covariance", metavar="FILE",
        help="The covariance matrix of the inputs: .csv with a header of names, or .json.",
    ),
    click.option(
        "--mc", type=Count(2, MOST_DRAWS), metavar="N",
        help="Also propagate uncertainties by Monte Carlo, with N draws.",
    ),
    click.option(
        "--seed", type=Count(0), metavar="N", help="The seed for --mc.  [default: 0]",
    ),
)  # fmt: skip


@click.command("eval", cls=FormulaCommand)
@formula_arguments
@uncertainty_options
@expand_option
@output_options
def eval_command(**options: Any) -> int:
    """Forward pass: every node's data.

    A range, x=0:10:101, gives a row for each of its points; an uncertain value, x=2.0±0.1, the uncertainty
    of the result.
    """
    expression, request = parse_request(options, uncertain=True)
    if request.has_ranges:
        from exprgrad.cli.ranges import answer_ranges

        return answer_ranges(expression, request, "eval", options)
    return give_answer(
        run_answer(run_expression(expression, request, grad=False), "eval", options), options
    )


@click.command("grad", cls=FormulaCommand)
@formula_arguments
@click.option("--trace", "show_trace", is_flag=True, help="Show the reverse sweep, visit by visit.")
@click.option(
    "--trust", "show_trust", is_flag=True,
    help="Instead of the nodes, show the true numbers, and how many digits of the sweeps' numbers are "
    "right.",
)  # fmt: skip
@click.option(
    "--elastic",
    is_flag=True,
    help="Instead of the nodes, show elasticities: by how many percent the value changes when an input "
    "changes by one percent.",
)
@uncertainty_options
@order_options
@click.option(
    "--heatmap", "show_map", is_flag=True,
    help="Show on the formula itself how large each grad is, by colour or by marks under it.  On a "
    "terminal the table always has it.",
)  # fmt: skip
@wrt_option("Differentiate these inputs only.")
@expand_option
@output_options
def grad_command(**options: Any) -> int:
    """Reverse pass: every node's data and grad.

    A range, x=0:10:101, gives a row for each of its points; an uncertain value, x=2.0±0.1, the uncertainty
    of the result.
    """
    has_order = options["order"] is not None or options["accumulate"] == "set"
    refuse_combinations(options, has_order=has_order)
    expression, request = parse_request(options, uncertain=True)
    if request.has_ranges:
        from exprgrad.cli.ranges import answer_ranges

        return answer_ranges(expression, request, "grad", options)
    run = run_expression(expression, request, split_names(options["wrt"]))
    if run.spread is not None and (has_order or options["show_trust"]):
        option = "--trust" if options["show_trust"] else "--order"
        raise RequestError(
            "usage",
            f"{option} cannot show uncertain inputs",
            help="leave out the uncertainties, or the option",
        )
    if has_order:
        return give_answer(order_answer(run, options), options)
    if options["show_trust"]:
        return give_answer(trust_answer(run, run.trust()), options)
    return give_answer(run_answer(run, "grad", options), options)


def behind_options(args: Sequence[str]) -> list[str]:
    """Return the arguments after the options of ``grad``, with values, that begin a command line."""
    options = [p for p in grad_command.params if isinstance(p, click.Option)]
    flags = {name: option.is_flag for option in options for name in option.opts}
    rest = list(args)
    while rest:
        head, equals, _ = rest[0].partition("=")
        if head not in flags:
            break
        del rest[: 1 if flags[head] or equals else 2]
    return rest


def run_answer(run: Run, command: str, options: Mapping[str, Any]) -> Answer:
    """Build the answer of ``eval`` or ``grad``; drawing is imported only where it is needed."""
    from exprgrad.explain.diagnostics import merge_remarks

    is_gradient_alone = command == "grad" and options["quiet"] and not options["elastic"]
    found = run.guarded(digits_needed(options), has_value=not is_gradient_alone)
    uncertainty, elasticity, told = extra_results(run, options)
    diagnostics = [*merge_remarks(run.remarks, found), *told]
    lines: Mapping[str, Any] = found.gradient if command == "grad" else {"": found.value}
    if elasticity is not None:
        lines = elasticity
    elif uncertainty is not None and command == "eval":
        from exprgrad.run.values.uncertain import typed_text

        lines = {"": typed_text(uncertainty.estimate, uncertainty.value)}
    return Answer(
        command,
        run.text,
        run_fields_beside(run, uncertainty, elasticity, diagnostics),
        None if elasticity is not None else rows_beside(run, uncertainty, options),
        lines.items(),
        partial(shown_beside, run, uncertainty, elasticity, options),
        diagnostics,
    )


def extra_results(
    run: Run, options: Mapping[str, Any]
) -> tuple[Uncertainty | None, dict[str, Any] | None, list[Diagnostic]]:
    """Return the value's uncertainty, if an input has one, elasticities, if requested, and diagnostics."""
    uncertainty = elasticity = None
    told: list[Diagnostic] = []
    given = {f"--{name}": options[name] for name in ("correlation", "covariance", "mc", "seed")}
    if run.spread is not None or any(one not in (None, ()) for one in given.values()):
        uncertainty = propagate_options(run, options)
        told += uncertainty.diagnostics
    if options.get("elastic"):
        from exprgrad.solvers.elasticity import elasticity_remarks, list_elasticities

        elasticity = list_elasticities(run)
        told += elasticity_remarks(run, elasticity)
    return uncertainty, elasticity, told


def propagate_options(run: Run, options: Mapping[str, Any]) -> Uncertainty:
    """The uncertainty of the value, as the options say."""
    if options["seed"] is not None and options["mc"] is None:
        raise RequestError("usage", "--seed is only for --mc", help="write --mc 1000000 --seed 1")
    from exprgrad.run.values.inputs import file

    correlation = {}
    for text in options["correlation"]:
        from exprgrad.solvers.uncertainty.covariance import correlation_in

        pair, r = correlation_in(text)
        if pair in correlation or pair[::-1] in correlation:
            raise RequestError(
                "usage", f"the correlation of '{pair[0]}' and '{pair[1]}' is given twice"
            ).about(text)
        correlation[pair] = r
    return run.propagate(
        correlation=correlation,
        covariance=options["covariance"] and file(options["covariance"]),
        mc=options["mc"] or 0,
        seed=options["seed"] or 0,
    )


def run_fields_beside(
    run: Run,
    uncertainty: Uncertainty | None,
    elasticity: dict[str, Any] | None,
    diagnostics: Sequence[Diagnostic],
) -> Iterator[tuple[str, Any]]:
    """The fields of the JSON object; what was asked for beside the nodes comes last."""
    from exprgrad.show.documents.document import Apart, shorten_tensors
    from exprgrad.show.documents.runs import run_fields

    for name, value in run_fields(run, diagnostics):
        if name == "digits" and elasticity is not None:
            from exprgrad.solvers.elasticity import elasticity_digits

            value = {**value, "elasticity": elasticity_digits(value)}
        yield name, value
    if elasticity is not None:
        yield "elasticity", Apart(shorten_tensors(elasticity))
    if uncertainty is not None:
        from exprgrad.show.text.uncertainty import uncertainty_field

        yield from uncertainty_field(uncertainty)


def rows_beside(
    run: Run, uncertainty: Uncertainty | None, options: Mapping[str, Any]
) -> Iterator[Sequence[Any]]:
    """The lines of CSV: nodes or visits."""
    from exprgrad.show.documents.runs import node_rows, trace_rows

    if options.get("show_trace"):
        yield from trace_rows(run)
    elif uncertainty is not None:
        from exprgrad.show.text.uncertainty import uncertainty_rows

        yield from uncertainty_rows(run, uncertainty)
    else:
        yield from node_rows(run)


def shown_beside(
    run: Run,
    uncertainty: Uncertainty | None,
    elasticity: dict[str, Any] | None,
    options: Mapping[str, Any],
    screen: Screen,
) -> Iterator[str | Table]:
    """Draw the nodes, the visits or the elasticities, and the uncertainty below them."""
    digits, whole, traced = screen.digits, screen.whole, options.get("show_trace")
    if options.get("show_map") or ("show_map" in options and screen.width and not traced):
        from exprgrad.show.text.grad_map import grad_map

        # Marks stay under what they mark only if we break the lines ourselves: a pipe has a width, too.
        yield grad_map(run, digits, screen, whole=whole) + "\n"
    if elasticity is not None:
        from exprgrad.show.text.uncertainty import elasticity_table

        yield elasticity_table(run, elasticity, digits, whole=whole)
    elif traced:
        from exprgrad.show.text.trace import trace_text

        yield trace_text(run, digits, all_visits=whole, width=screen.width, color=screen.color)
    else:
        from exprgrad.show.text.nodes import node_table

        yield node_table(run, digits, all_nodes=whole)
    if uncertainty is not None:
        from exprgrad.show.text.uncertainty import uncertainty_budget

        yield from ("", uncertainty_budget(run, uncertainty, digits, whole=whole))


def trust_answer(run: Run, trust: Trust) -> Answer:
    """The answer of ``grad --trust``: doubtful if a number has lost more than half of its digits."""
    from exprgrad.show.documents.document import Apart
    from exprgrad.show.documents.runs import run_fields
    from exprgrad.show.text.uncertainty import (
        UNCOUNTED,
        number_fields,
        trust_parts,
    )

    def lay_out(screen: Screen) -> Iterator[str | Table]:
        return trust_parts(run, trust, screen.width, whole=screen.whole)

    numbers, gradient = [*trust.numbers()], trust.gradient.items()
    fields = {
        "value": number_fields(trust.value),
        "gradient": {name: number_fields(number) for name, number in gradient},
    }
    return Answer(
        "grad",
        run.text,
        chain(run_fields(run, run.remarks), [("trust", Apart(fields))]),
        None,
        [
            (name, one.verdict if one.verdict in UNCOUNTED else str(one.digits))
            for name, one in numbers
        ],
        lay_out,
        run.remarks,
        is_doubtful=any(number.is_poor for _, number in numbers),
    )


def order_answer(run: Run, options: Mapping[str, Any]) -> Answer:
    """The answer of ``grad --order`` and ``grad --accumulate``.

    It is doubtful where a grad is wrong, which is the lesson and no error.
    """
    from exprgrad.explain.diagnostics import merge_remarks
    from exprgrad.explain.places import to_scalar_run
    from exprgrad.show.documents.runs import run_fields
    from exprgrad.show.text import walks

    digits, whole, traced = options["digits"], options["show_all"], options["show_trace"]
    most = MOST_LOST if whole else LISTED_PATHS
    run = to_scalar_run(run).run
    found = run.visited(options["order"], options["accumulate"], most=most)
    told = merge_remarks(run.remarks, run.guarded(digits_needed(options)))
    grads = walks.grads_table(found, digits, whole=whole)

    def lay_out(screen: Screen) -> Iterator[str | Table]:
        first, *others = walks.visit_order_parts(run, found, grads, digits, screen, whole=whole)
        trace = f"{walks.order_trace(run, found, digits, screen, whole=whole)}\n" if traced else ""
        yield from (trace or first, *others)

    return Answer(
        "grad",
        run.text,
        chain(
            run_fields(run, told, found.order), [("visit_order", walks.visit_order_field(found))]
        ),
        walks.contribution_rows(run, found) if traced else grads.csv,
        found.got.items(),
        lay_out,
        told,
        aside=walks.order_verdict(found) if found.wrong else "",
        is_doubtful=bool(found.wrong),
    )


def refuse_combinations(options: Mapping[str, Any], *, has_order: bool) -> None:
    """Refuse options that cannot be combined with ``--heatmap``, ``--trust`` or ``--elastic``."""
    given = {
        "--heatmap": options["show_map"],
        "--trust": options["show_trust"],
        "--elastic": options["elastic"],
    }
    if given["--heatmap"]:
        forms = {
            "--json": "as_json",
            "--csv": "as_csv",
            "--quiet": "quiet",
            "--trust": "show_trust",
        }
        refuse_together("--heatmap", {flag: options[name] for flag, name in forms.items()})
    for option in given:
        if given[option] and has_order:
            raise RequestError(
                "usage",
                f"{option} applies only to the right order",
                help="leave out one of the two",
            )
    if given["--elastic"]:
        shown = {"--trace": options["show_trace"], "--trust": options["show_trust"]}
        refuse_together("--elastic", shown)
    if given["--trust"]:
        refuse_together(
            "--trace",
            {"--trust": options["show_trace"]},
            "choose one: a trace shows the numbers as they were computed",
        )
        source = click.get_current_context().get_parameter_source("digits")
        if source is ParameterSource.COMMANDLINE:
            raise RequestError(
                "usage", "--trust shows numbers with all their digits", help="leave out --digits"
            )
