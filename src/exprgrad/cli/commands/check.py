"""The command ``check``: the gradient, or a derivative by hand, held against numbers."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import click

from exprgrad.cli.output import give, write
from exprgrad.cli.request import (
    FormulaCommand,
    compute,
    excluded,
    expand_option,
    formula,
    names_in,
    output_as,
    start,
    wrt_option,
)
from exprgrad.errors import InputError, RequestError

__all__ = ["check_command"]


@click.command("check", cls=FormulaCommand)
@formula
@wrt_option("Check these inputs only.")
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
def check_command(**options: Any) -> int:
    """The gradient against numbers, with a verdict.

    Differences of values, in ball arithmetic where python-flint is installed, say whether each
    derivative agrees, or what is wrong: a kink, lost digits, overflow, or a rule that is to blame.  Exits
    with 1 if one disagrees.
    """
    from exprgrad.run.values.inputs import as_number, resolve
    from exprgrad.show.text.checks import check_answer

    expression, request = start(options, values=not options["claims"])
    step, nodes, wrt = options["step"], options["nodes"], options["wrt"]
    h = None if step is None else as_number(step, "--h")
    help, run = "check them one after the other", None
    if options["claims"]:
        excluded("--claim", {"--wrt": wrt, "--node": nodes, "--h": step}, help)
        claimed = claims_in(options["claims"])
        given = resolve(
            expression.graph, expression.text, request.values, request.spelled, partly=True
        )
        found = expression.check(given, claims=claimed)
    else:
        excluded("--node", {"--wrt": nodes and wrt}, help)
        names = names_in(wrt)
        run = compute(expression, request, names)
        if not run.wrt and not options["as_json"]:
            write(["note: the formula has no inputs to check\n"], sys.stderr)
        given = run.inputs
        found = expression.check(given, wrt=names, nodes=nodes or None, h=h)
    digits, whole = options["digits"], options["show_all"]
    return give(check_answer(expression.text, given, found, run, digits, whole=whole), options)


def claims_in(arguments: Sequence[str]) -> dict[str, str]:
    """The claims, ``NAME=FORMULA`` each: input → formula."""
    found: dict[str, str] = {}
    for argument in arguments:
        name, equals, claim = (part.strip() for part in argument.partition("="))
        if not (equals and name.isidentifier() and claim) or claim.startswith("="):
            message = "this is not NAME=FORMULA"
            help = "a claim gives the derivative with respect to an input: --claim a=b*c"
            raise RequestError("usage", message, help=help).about(argument)
        if name in found:
            message = f"'{name}' is given twice"
            help = f"its first claim is {found[name]}"
            raise InputError("given-twice", message, help=help).about(argument, (0, len(name)))
        found[name] = claim
    return found
