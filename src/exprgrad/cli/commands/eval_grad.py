"""The commands ``eval`` and ``grad``: a formula's nodes, by one sweep or by both."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from exprgrad.cli.output import Answer, give
from exprgrad.cli.ranges import has_ranges, over_ranges
from exprgrad.cli.request import (
    FormulaCommand,
    Words,
    compute,
    digits_shown,
    excluded,
    expand_option,
    formula,
    listed_names,
    output,
    stack,
    start,
    wrt_option,
)
from exprgrad.errors import RequestError
from exprgrad.source import WIDTH

if TYPE_CHECKING:
    from exprgrad.api import Run
    from exprgrad.explain.digits.trusted import Trust
    from exprgrad.show.text.table import Screen, Table

__all__ = ["eval_command", "grad_command"]

MOST_LOST = 1000
"""How many lost paths are listed with ``--all``."""

order_options = stack(
    click.option(
        "--order", metavar="NAME[,NAME]",
        help="Visit these nodes (names or ids) in this order, or in one that people get wrong: "
        "preorder, bfs or naive; and say which paths that loses.",
    ),
    click.option(
        "--accumulate", type=Words("add", "set"), default="add", show_default=True,
        help="What a contribution does to a grad: set is = instead of +=.",
    ),
)  # fmt: skip


@click.command("eval", cls=FormulaCommand)
@formula
@expand_option
@output
def eval_command(**options: Any) -> int:
    """Forward pass: every node's data.

    A range, x=0:10:101, gives a row for each of its points.
    """
    expression, request = start(options)
    if has_ranges(request):
        return over_ranges(expression, request, "eval", options)
    return give(run_answer(compute(expression, request, grad=False), "eval", options), options)


@click.command("grad", cls=FormulaCommand)
@formula
@click.option("--trace", "show_trace", is_flag=True, help="Show the backward visits, one by one.")
@click.option(
    "--trust", "show_trust", is_flag=True,
    help="Show how many digits of what the sweeps find are right, and the true numbers, instead of the "
    "nodes.",
)  # fmt: skip
@order_options
@click.option(
    "--map", "show_map", is_flag=True,
    help="Show how large each grad is on the formula itself, above the answer: by colour, or by marks "
    "under it.  A table on a terminal has it anyway.",
)  # fmt: skip
@wrt_option("Differentiate these inputs only.")
@expand_option
@output
def grad_command(**options: Any) -> int:
    """Reverse pass: every node's data and grad.

    A range, x=0:10:101, gives a row for each of its points.
    """
    has_order = options["order"] is not None or options["accumulate"] == "set"
    refuse(options, has_order=has_order)
    expression, request = start(options)
    if has_ranges(request):
        return over_ranges(expression, request, "grad", options)
    run = compute(expression, request, listed_names(options["wrt"]))
    if has_order:
        return give(order_answer(run, options), options)
    if options["show_trust"]:
        return give(trust_answer(run, run.trust(), options), options)
    return give(run_answer(run, "grad", options), options)


def run_answer(run: Run, command: str, options: Mapping[str, Any]) -> Answer:
    """The answer of ``eval`` or ``grad``; what draws it is imported where it is asked for."""
    from exprgrad.explain.diagnostics import told_once

    digits, whole, traced = options["digits"], options["show_all"], options.get("show_trace")
    is_gradient_alone = command == "grad" and options["quiet"]
    found = run.guarded(digits_shown(options), has_value=not is_gradient_alone)
    lines = found.gradient if command == "grad" else {"": found.value}
    diagnostics = told_once(run.remarks, found)

    def fields() -> Iterator[tuple[str, Any]]:
        from exprgrad.show.documents.runs import run_fields

        yield from run_fields(run, diagnostics)

    def rows() -> Iterator[Sequence[Any]]:
        from exprgrad.show.documents.runs import node_rows, trace_rows

        yield from trace_rows(run) if traced else node_rows(run)

    def shown(screen: Screen) -> Iterator[str | Table]:
        if options.get("show_map") or ("show_map" in options and screen.width and not traced):
            from exprgrad.show.text.grad_map import grad_map

            # A line that nobody broke would part marks from what they mark: a pipe has a width, too.
            yield grad_map(run, digits, screen, whole=whole) + "\n"
        if traced:
            from exprgrad.show.text.trace import trace

            yield trace(run, digits, all_visits=whole, width=screen.width, color=screen.color)
        else:
            from exprgrad.show.text.nodes import node_table

            yield node_table(run, digits, all_nodes=whole)

    return Answer(command, run.text, fields(), rows(), lines.items(), shown, diagnostics)


def trust_answer(run: Run, trust: Trust, options: Mapping[str, Any]) -> Answer:
    """The answer of ``grad --trust``: doubtful if a number has lost more than half of its digits."""
    from exprgrad.show.documents.runs import run_fields
    from exprgrad.show.text.trust import (
        count_text,
        trust_fields,
        trust_rows,
        trust_sentences,
        trust_table,
    )

    def shown(screen: Screen) -> Iterator[str | Table]:
        yield trust_table(run, trust, whole=options["show_all"])
        sentences = trust_sentences(run, trust, screen.width or WIDTH)
        if sentences:
            yield f"\n{sentences}"

    return Answer(
        "grad",
        run.text,
        chain(run_fields(run, run.remarks), [("trust", trust_fields(trust))]),
        trust_rows(run, trust),
        [(name, count_text(number)) for name, number in trust.numbers()],
        shown,
        run.remarks,
        is_doubtful=any(number.is_poor for _, number in trust.numbers()),
    )


def order_answer(run: Run, options: Mapping[str, Any]) -> Answer:
    """The answer of ``grad --order`` and ``grad --accumulate``.

    It is doubtful where a grad is wrong, which is the lesson and no error.
    """
    from exprgrad.explain.diagnostics import told_once
    from exprgrad.explain.limits import LISTED_PATHS
    from exprgrad.explain.places import in_numbers
    from exprgrad.show.documents.runs import run_fields
    from exprgrad.show.text import walks

    digits, whole, traced = options["digits"], options["show_all"], options["show_trace"]
    most = MOST_LOST if whole else LISTED_PATHS
    run, _ = in_numbers(run)
    found = run.visited(options["order"], options["accumulate"], most=most)
    told = told_once(run.remarks, run.guarded(digits_shown(options)))

    def shown(screen: Screen) -> Iterator[str | Table]:
        first, *others = walks.visited_parts(run, found, digits, screen, whole=whole)
        trace = f"{walks.order_trace(run, found, digits, screen, whole=whole)}\n" if traced else ""
        yield trace or first
        yield from others

    return Answer(
        "grad",
        run.text,
        chain(run_fields(run, told, found.order), [("visit_order", walks.visit_order(found))]),
        walks.contribution_rows(run, found) if traced else walks.visited_rows(found),
        found.got.items(),
        shown,
        told,
        aside=walks.judgement(found) if found.wrong else "",
        is_doubtful=bool(found.wrong),
    )


def refuse(options: Mapping[str, Any], *, has_order: bool) -> None:
    """Refuse what has no room for ``--map``, or shows other numbers than ``--trust``, or otherwise."""
    given = {"--map": options["show_map"], "--trust": options["show_trust"]}
    if given["--map"]:
        forms = {
            "--json": "as_json",
            "--csv": "as_csv",
            "--quiet": "quiet",
            "--trust": "show_trust",
        }
        excluded("--map", {flag: options[name] for flag, name in forms.items()})
    for option in given:
        if given[option] and has_order:
            message = f"{option} applies only to the right order"
            raise RequestError("usage", message, help="leave out one of the two")
    if given["--trust"]:
        help = "choose one: a trace shows the numbers as they were computed"
        excluded("--trace", {"--trust": options["show_trace"]}, help)
        source = click.get_current_context().get_parameter_source("digits")
        if source is ParameterSource.COMMANDLINE:
            message = "--trust shows numbers with all their digits"
            raise RequestError("usage", message, help="leave out --digits")
