"""The answer of ``grad --trust``."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from exprgrad.cli.common import draw, exit_status
from exprgrad.cli.output import show_diagnostics, terminal_width, write, write_exactly
from exprgrad.errors import RequestError

if TYPE_CHECKING:
    from exprgrad.api import Run

__all__ = ["trust_answer"]


def trust_answer(run: Run, options: dict[str, Any]) -> int:
    """Write how far a run's numbers can be trusted; return the exit status.

    Under ``--strict`` that is 1 also if a number has lost more than half of its digits.
    """
    from exprgrad.draw.documents import document
    from exprgrad.draw.text import trust as drawn

    if options["show_trace"]:
        help = "choose one: a trace shows the numbers as they were computed"
        raise RequestError("usage", "--trace and --trust exclude each other", help=help)
    if click.get_current_context().get_parameter_source("digits") is ParameterSource.COMMANDLINE:
        help = "leave out --digits"
        raise RequestError("usage", "--trust shows numbers with all their digits", help=help)
    trust = run.trust()
    if options["as_json"]:
        fields = drawn.trust_fields(trust)
        write(document.run_json(run, "grad", run.diagnostics, trust=fields))
    elif options["as_csv"]:
        write_exactly(drawn.trust_csv(run, trust))
    elif options["quiet"]:
        write_exactly(drawn.trust_lines(trust))
    else:
        write(
            [draw(drawn.trust_table(run, trust, whole=options["show_all"]), options["color"]), "\n"]
        )
        width = terminal_width() if sys.stdout.isatty() else 100
        sentences = drawn.trust_sentences(run, trust, width)
        if sentences:
            write(["\n", sentences, "\n"])
    if not options["as_json"]:
        show_diagnostics(run.text, run.diagnostics, options["color"])
    poor = any(number.is_poor for _, number in trust.numbers())
    return exit_status(options, run.diagnostics, poor)
