"""The command ``paths``: how many paths make up each gradient, and which of them most of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from exprgrad.cli.command import (
    Answer,
    Count,
    FormulaCommand,
    expand_option,
    formula,
    give,
    output_as,
    swept,
    wrt_option,
)
from exprgrad.explain.limits import LISTED_PATHS

if TYPE_CHECKING:
    from exprgrad.explain.walks.paths import Paths
    from exprgrad.show.text.table import Screen

__all__ = ["paths_command"]


@click.command("paths", cls=FormulaCommand)
@formula
@click.option(
    "-k", "--most", type=Count(0), default=LISTED_PATHS, show_default=True, metavar="K",
    help="List this many paths for each input, those with the largest products.",
)  # fmt: skip
@wrt_option("Differentiate these inputs only.")
@expand_option
@output_as("one path per line", "Show every input, and paths whole; -k says how many paths.")
def paths_command(**options: Any) -> int:
    """Each path's contribution to each gradient.

    All paths from the output to an input are counted, and the largest are listed with the products of
    their local derivatives.  -q prints the counts.
    """
    from exprgrad.explain.places import in_numbers
    from exprgrad.explain.walks.paths import listable, paths_to, sums, web_of
    from exprgrad.show.documents.document import Lines, records
    from exprgrad.show.documents.runs import graph_fields, head_fields
    from exprgrad.show.text.walks import paths_csv, paths_fields, paths_text

    most = listable(options["most"])
    run = in_numbers(swept(options)).run
    web = web_of(run)
    found = sums(web)
    counts = {name: found.ways(web, 2 * node) for name, node in web.inputs.items()}

    def ask(name: str) -> Paths:
        return paths_to(web, found, name, most)

    def shown(screen: Screen) -> Iterator[str]:
        every, digits, whole = sum(counts.values()), options["digits"], options["show_all"]
        yield paths_text(run, ask, web, every, digits, screen, whole=whole)

    fields = {
        **head_fields(run, run.value),
        "visited": web.visited,
        "paths": Lines(((name, paths_fields(ask(name))) for name in run.wrt or ()), "{}"),
        **dict(graph_fields(run)),
        "diagnostics": records(run.diagnostics),
    }
    given = paths_csv(run, ask), counts.items(), shown, run.diagnostics
    return give(Answer("paths", run.text, fields.items(), *given), options)
