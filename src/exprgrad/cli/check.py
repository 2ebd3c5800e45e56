"""The command ``check``: the gradient, or a derivative by hand, held against numbers."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from exprgrad.cli.arguments import FormulaCommand
from exprgrad.cli.common import compute, draw, formula, names_in, only_one, output_as, start
from exprgrad.cli.expand import expand_option, taken_apart
from exprgrad.cli.output import show_diagnostics, write, write_exactly
from exprgrad.errors import InputError, RequestError
from exprgrad.source import Source

if TYPE_CHECKING:
    from exprgrad.api import Expression, Run
    from exprgrad.cli.arguments import Request
    from exprgrad.explain.checking.check import Check

__all__ = ["check_command"]


@click.command("check", cls=FormulaCommand)
@formula
@click.option("--wrt", metavar="NAME[,NAME]", help="Check these inputs only.")
@click.option(
    "--node",
    "nodes",
    multiple=True,
    metavar="NODE",
    help="Check the grad of a node: its name, number or text.  May be repeated.",
)
@click.option("--h", "step", metavar="H", help="Bump by this step, as the lesson does.")
@click.option(
    "--claim",
    "claims",
    multiple=True,
    metavar="NAME=FORMULA",
    help="Check a derivative found by hand, as a=b*c, at points of its domain.  May be repeated.",
)
@expand_option
@output_as("one check per line")
def check_command(
    arguments: tuple[str, ...],
    file: str | None,
    inputs: str | None,
    wrt: str | None,
    nodes: tuple[str, ...],
    step: str | None,
    claims: tuple[str, ...],
    expand: str | None,
    **options: Any,
) -> int:
    """The gradient against numbers, with a verdict.

    Differences of values, in ball arithmetic where python-flint is installed, say whether each
    derivative agrees, or what is wrong: a kink, lost digits, overflow, or a rule that is to blame.  Exits
    with 1 if one disagrees.
    """
    from exprgrad.draw.text import checks as drawn

    only_one(options)
    expression, request = start(arguments, file, inputs)
    expression = taken_apart(expression, request, expand, values=not claims)
    h = None if step is None else step_in(step)
    run, given = None, {}
    if claims:
        refuse("--claim", {"--wrt": wrt, "--node": nodes, "--h": step})
        claimed = claims_in(claims)
        given = partly_given(expression, request)
        found = expression.check(given, claims=claimed)
    else:
        if nodes:
            refuse("--node", {"--wrt": wrt})
        names = None if wrt is None else names_in(wrt)
        run = compute(expression, request, names, grad=True)
        if not run.wrt and not options["as_json"]:
            write(["note: the formula has no inputs to check\n"], sys.stderr)
        given = run.inputs
        found = expression.check(given, wrt=names, nodes=nodes or None, h=h)
    if options["as_json"]:
        whole = options["show_all"]
        write(drawn.check_json(expression.text, given, found, run, whole=whole))
    elif options["as_csv"]:
        write_exactly(drawn.check_csv(found))
    elif options["quiet"]:
        write_exactly(drawn.check_lines(found))
    else:
        foot = drawn.check_foot(found, run, options["digits"])
        content = drawn.check_table(found, options["digits"], foot, whole=options["show_all"])
        write([draw(content, options["color"]), "\n"])
    if not options["as_json"]:
        show_warnings(expression.text, found, run, options["color"])
    verdicts = {check.verdict for check in found}
    return 1 if "disagrees" in verdicts or (options["strict"] and verdicts - {"agrees"}) else 0


def show_warnings(text: str, checks: Sequence[Check], run: Run | None, color: str) -> None:
    """What does not agree, on stderr: in the formula, or in the claim, each at its place."""
    from exprgrad.draw.text.checks import check_diagnostics

    if run is not None:
        show_diagnostics(text, check_diagnostics(checks, run), color)
        return
    for check in checks:
        assert check.claim is not None
        show_diagnostics(check.claim, check_diagnostics([check], None), color)


def refuse(option: str, others: Mapping[str, object]) -> None:
    """An error for an option that does not go with another."""
    for other, value in others.items():
        if value:
            message = f"{option} and {other} exclude each other"
            raise RequestError("usage", message, help="check them one after the other")


def step_in(written: str) -> float:
    """The value of ``--h``: a number or a constant expression."""
    from exprgrad.run.values.inputs import as_number

    return as_number(written, "--h")


def claims_in(arguments: Sequence[str]) -> dict[str, str]:
    """The claims, ``NAME=FORMULA`` each: input → formula."""
    found: dict[str, str] = {}
    for argument in arguments:
        name, equals, claim = (part.strip() for part in argument.partition("="))
        source = Source(argument, is_expression=False)
        if not (equals and name.isidentifier() and claim) or claim.startswith("="):
            message = "this is not NAME=FORMULA"
            help = "a claim gives the derivative with respect to an input: --claim a=b*c"
            span = (0, len(argument))
            raise RequestError("usage", message, source=source, span=span, help=help)
        if name in found:
            message = f"'{name}' is given twice"
            help = f"its first claim is {found[name]}"
            span = (0, len(name))
            raise InputError("given-twice", message, source=source, span=span, help=help)
        found[name] = claim
    return found


def partly_given(expression: Expression, request: Request) -> dict[str, Any]:
    """The values that were given; inputs without one are free."""
    from exprgrad.run.values.inputs import resolve

    graph = expression.graph
    others = {name: 0.0 for name in graph.inputs if name not in request.values}
    found = resolve(graph, expression.text, {**others, **request.values}, request.spelled)
    return {name: value for name, value in found.items() if name not in others}
