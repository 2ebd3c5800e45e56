"""``grad --order`` and ``grad --accumulate``: visits in another order, and what that loses."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from exprgrad.cli.common import draw, exit_status, stack
from exprgrad.cli.output import colorful, show_diagnostics, terminal_width, write, write_exactly
from exprgrad.errors import RequestError
from exprgrad.explain.limits import LISTED_PATHS

if TYPE_CHECKING:
    from exprgrad.api import Run

__all__ = ["order_answer", "order_options"]

MOST_WHOLE = 1000
"""How many are listed with ``--all``."""

order_options = stack(
    click.option(
        "--order", metavar="NAME[,NAME]",
        help="Visit these nodes (names or ids) in this order, or in one that people get wrong: "
        "preorder, bfs or naive; and say which paths that loses.",
    ),
    click.option(
        "--accumulate", type=click.Choice(["add", "set"]), default="add", show_default=True,
        help="What a contribution does to a grad: set is = instead of +=.",
    ),
)  # fmt: skip


def order_answer(run: Run, options: dict[str, Any]) -> int:
    """Write what the order got in the form that was asked for; return the exit status.

    Grads that are wrong are the lesson, and no error; ``--strict`` takes them for one.
    """
    from exprgrad.draw.text import orders as drawn
    from exprgrad.explain.places import in_numbers

    if options.get("show_trust"):
        help = "leave out one of the two"
        raise RequestError("usage", "--trust applies only to the right order", help=help)
    digits, whole = options["digits"], options["show_all"]
    most = MOST_WHOLE if whole else LISTED_PATHS
    run = in_numbers(run)[0]
    found = run.visited(options["order"], options["accumulate"], most=most)
    traced = options["show_trace"]
    if options["as_json"]:
        from exprgrad.draw.documents.document import run_json

        visits = (found.order, drawn.visit_order_field(found))
        write(run_json(run, "grad", run.diagnostics, whole=whole, visits=visits))
    elif options["as_csv"]:
        write_exactly(drawn.contributions_csv(run, found) if traced else drawn.visited_csv(found))
    elif options["quiet"]:
        write_exactly(f"{name}={value!r}\n" for name, value in found.got.items())
    else:
        width = terminal_width() if sys.stdout.isatty() else None
        color = bool(colorful(options["color"], sys.stdout))
        parts = drawn.visited_parts(run, found, digits, whole=whole, width=width, color=color)
        if traced:
            from exprgrad.draw.text.order_trace import order_trace

            trace = order_trace(run, found, digits, whole=whole, width=width, color=color)
            parts[0] = f"{trace}\n"
        for part in parts:
            write([part if isinstance(part, str) else draw(part, options["color"]), "\n"])
    if not options["as_json"]:
        show_diagnostics(run.text, run.diagnostics, options["color"])
    return exit_status(options, run.diagnostics, found.wrong)
