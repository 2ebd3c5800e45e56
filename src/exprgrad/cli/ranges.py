"""Ranges on a command line, ``x=0:10:101``: ``eval``, ``grad`` and ``hess`` answer with a row per point."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain, islice
from typing import TYPE_CHECKING, Any

from exprgrad.cli.output import Answer, give, quiet_line
from exprgrad.cli.request import Request, digits_shown, excluded, listed_names
from exprgrad.run.values.inputs import is_range

if TYPE_CHECKING:
    from exprgrad.api import Expression
    from exprgrad.data.grids import Grid
    from exprgrad.run.evaluation import Diagnostic
    from exprgrad.run.values.ranges import Range
    from exprgrad.show.text.table import Table

__all__ = ["has_ranges", "over_ranges"]

ORDERS = {"eval": 0, "grad": 1, "hess": 2}
"""Command → the order of the derivatives that it finds."""
AT_A_POINT = {
    "--trace": "show_trace", "--trust": "show_trust", "--map": "show_map", "--order": "order",
    "--correlation": "correlation", "--covariance": "covariance", "--mc": "mc",
}  # fmt: skip
"""What is shown of one point alone."""


def has_ranges(request: Request) -> bool:
    """Whether some input is given a range."""
    return any(map(is_range, request.values.values()))


def over_ranges(
    expression: Expression, request: Request, command: str, options: Mapping[str, Any]
) -> int:
    """Write the answer of a command with ranges; return the exit status."""
    from exprgrad.data.grids import Tally, grid_over

    for option, name in AT_A_POINT.items():
        excluded(option, {"a range": options.get(name)}, "it is about one point: give it numbers")
    help = "uncertainties are those of one point: give it numbers"
    excluded("an uncertain input", {"a range": request.spread is not None}, help)
    if options.get("accumulate") == "set":
        excluded("--accumulate", {"a range": True}, "it is about one point: give it numbers")
    grid = grid_over(
        expression.graph,
        expression.text,
        request.values,
        listed_names(options.get("wrt")),
        ORDERS[command],
        digits_shown(options),
        elastic=bool(options.get("elastic")),
        arguments=request.spelled,
        origins=request.origins,
    )
    return give(answer(grid, Tally(), command, options), options)


def answer(grid: Grid, tally: Any, command: str, options: Mapping[str, Any]) -> Answer:
    """The answer: rows are worked out as they are written, and what there is to tell of them after that."""
    from exprgrad.data.grids import grid_rows, row_names, warnings_about

    columns = headings([*grid.ranges], row_names(grid))
    diagnostics: list[Diagnostic] = []

    def found() -> Iterator[tuple[Any, ...]]:
        yield from grid_rows(grid, tally)
        diagnostics.extend(warnings_about(grid, tally))

    return Answer(
        command,
        grid.text,
        fields(grid, found(), tally, diagnostics),
        chain([columns], found()),
        (("", line) for line in quiet_rows(grid, found())),
        lambda _: [table(grid, columns, found(), options)],
        diagnostics,
    )


def fields(
    grid: Grid, rows: Iterable[Sequence[Any]], tally: Any, diagnostics: Sequence[Diagnostic]
) -> Iterator[tuple[str, Any]]:
    """The fields of the JSON object; what is told of the rows is known when they are written."""
    from exprgrad.data.grids import row_fields
    from exprgrad.show.documents.fields import Lines, records, shorts

    names, results = [*grid.ranges], row_fields(grid)
    width = len(names)

    def row(cells: Sequence[Any]) -> dict[str, Any]:
        point = dict(zip(names, cells, strict=False))
        return {"inputs": point, **results(cells[width:])}

    yield "inputs", shorts(grid.fixed)
    yield "ranges", {name: range_fields(one) for name, one in grid.ranges.items()}
    yield "output", {"node": grid.graph.output, "name": grid.graph.output_name}
    yield "rows", Lines(map(row, rows))
    yield "counts", dict(tally.counts)
    yield "diagnostics", records(diagnostics)


def quiet_rows(grid: Grid, rows: Iterable[Sequence[Any]]) -> Iterator[Any]:
    """The answer alone: each row's value, or its derivatives of the order that is asked for, by name."""
    from exprgrad.data.grids import row_names

    if not grid.order:
        yield from (cells[len(grid.ranges)] for cells in rows)
        return
    shown = grid.wrt if grid.order == 1 else row_names(grid)[1 + len(grid.wrt) :]
    for cells in rows:
        pairs = zip(shown, cells[-len(shown) :], strict=True)
        yield " ".join(
            f"{name}={x!r}" if type(x) is float else "".join(quiet_line(name, x)).strip()
            for name, x in pairs
        )


def headings(names: Sequence[str], results: Sequence[str]) -> list[str]:
    """The columns: inputs, then results; a result that is called like an input is told from it."""
    taken = set(names)
    return [*names, *(f"result_{name}" if name in taken else name for name in results)]


def range_fields(one: Range) -> dict[str, Any]:
    """A range as JSON has it."""
    start, stop = one.points([0, one.size - 1])
    return {"start": start, "stop": stop, "count": one.size, "log": one.by_ratio}


def table(
    grid: Grid, columns: Sequence[str], rows: Iterable[Sequence[Any]], options: Mapping[str, Any]
) -> Table:
    """The rows as people read them: of many the first and the last, which alone are kept in memory."""
    from exprgrad.show.text.lines import EDGE_ROWS, LONGEST_WHOLE
    from exprgrad.show.text.table import Column, tabulated

    source = iter(rows)
    first = list(source if options["show_all"] else islice(source, LONGEST_WHOLE))
    last = deque(source, EDGE_ROWS)
    left_out = grid.size - 2 * EDGE_ROWS if last else 0
    if left_out:
        tail = [*first[EDGE_ROWS:], *last][-EDGE_ROWS:]
        first = [*first[:EDGE_ROWS], *tail]
    width = len(grid.ranges)
    styles = ["dim"] * width + ["green"] + ["yellow"] * len(columns)
    heads = [
        Column(name, is_number=True, style=style)
        for name, style in zip(columns, styles, strict=False)
    ]

    def made(count: int) -> Table:
        """The table of the first few columns."""
        foot = [f"{grid.size:,} points; {[*grid.ranges][-1]} varies fastest"] * (width > 1)
        more = len(columns) - count
        foot += [f"{more} more column{'s' * (more > 1)}: --csv has them"] * (more > 0)
        lines = [row[:count] for row in first]
        found = tabulated(
            heads[:count], lines, list, options["digits"], whole=True, foot="\n".join(foot)
        )
        return found._replace(left_out=left_out, what="rows")

    narrower = [partial(made, count) for count in range(len(columns) - 1, width, -1)]
    return made(len(columns))._replace(narrower=narrower)
