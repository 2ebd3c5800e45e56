"""Ranges on a command line, ``x=0:10:101``: ``eval``, ``grad`` and ``hess`` answer with a row per point.

They are apart from points, which are more frequent and need not wait until this is loaded.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

from exprgrad.cli.answer import Answer, bare_line, give_answer
from exprgrad.cli.options import digits_needed, refuse_together, split_names
from exprgrad.cli.request import Request
from exprgrad.errors import RequestError

if TYPE_CHECKING:
    from exprgrad.api import Expression
    from exprgrad.data.grids import Grid, GridTally
    from exprgrad.run.evaluation import Diagnostic

__all__ = ["answer_ranges"]

ORDERS = {"eval": 0, "grad": 1, "hess": 2}
"""Command → the order of the derivatives that it finds."""
AT_A_POINT = {
    "--trace": "show_trace", "--trust": "show_trust", "--heatmap": "show_map", "--order": "order",
    "--correlation": "correlation", "--covariance": "covariance", "--mc": "mc",
}  # fmt: skip
"""Options that show a single point."""


def answer_ranges(
    expression: Expression, request: Request, command: str, options: Mapping[str, Any]
) -> int:
    """Write the answer of a command with ranges; return the exit status."""
    from exprgrad.data.grids import make_grid

    for option, name in AT_A_POINT.items():
        refuse_together(
            option, {"a range": options.get(name)}, "it is about one point: give it numbers"
        )
    refuse_uncertain(request)
    if options.get("accumulate") == "set":
        refuse_together("--accumulate", {"a range": True}, "it is about one point: give it numbers")
    grid = make_grid(
        expression.graph,
        expression.text,
        request.values,
        split_names(options.get("wrt")),
        ORDERS[command],
        digits_needed(options),
        elastic=bool(options.get("elastic")),
        arguments=request.spelled,
        origins=request.origins,
    )
    return give_answer(grid_answer(grid, command), options)


def refuse_uncertain(request: Request) -> None:
    """An error for an uncertain input beside a range."""
    from exprgrad.run.values.inputs import is_range

    if request.spread is None:
        return
    uncertain = next(iter(request.spread.deviations))
    ranged = next(name for name, value in request.values.items() if is_range(value))
    raise RequestError(
        "usage",
        f"'{uncertain}' is uncertain, which is for one point, and '{ranged}' has a range",
        help=f"give {ranged} one number, or leave out the uncertainty of {uncertain}",
    )


def grid_answer(grid: Grid, command: str) -> Answer:
    """Build the answer: rows are computed as they are written, and then the diagnostics."""
    from exprgrad.data.grids import GridTally, grid_rows, grid_warnings, row_names
    from exprgrad.show.text.rows import rows_table

    columns, tally = row_names(grid), GridTally()
    diagnostics: list[Diagnostic] = []

    def found() -> Iterator[tuple[Any, ...]]:
        yield from grid_rows(grid, tally)
        diagnostics.extend(grid_warnings(grid, tally))

    return Answer(
        command,
        grid.text,
        grid_fields(grid, found(), tally, diagnostics),
        chain([columns], found()),
        (("", line) for line in quiet_rows(grid, found())),
        lambda screen: [
            rows_table(
                columns, [*grid.ranges], found(), grid.size, screen.digits, whole=screen.whole
            )
        ],
        diagnostics,
    )


def grid_fields(
    grid: Grid, rows: Iterable[Sequence[Any]], tally: GridTally, diagnostics: Sequence[Diagnostic]
) -> Iterator[tuple[str, Any]]:
    """The fields of the JSON object; remarks on rows follow once the rows are written."""
    from exprgrad.data.grids import row_fields_function
    from exprgrad.show.documents.document import Lines, record_lines, shorten_tensors

    names, results = [*grid.ranges], row_fields_function(grid)
    width = len(names)

    def row(cells: Sequence[Any]) -> dict[str, Any]:
        point = dict(zip(names, cells, strict=False))
        return {"inputs": point, **results(cells[width:])}

    ends = {name: one.points([0, one.size - 1]) for name, one in grid.ranges.items()}
    yield from {
        "inputs": shorten_tensors(grid.fixed),
        "ranges": {
            name: {
                "start": ends[name][0],
                "stop": ends[name][1],
                "count": one.size,
                "log": one.by_ratio,
            }
            for name, one in grid.ranges.items()
        },
        "output": {"node": grid.graph.output, "name": grid.graph.output_name},
        "rows": Lines(map(row, rows)),
    }.items()
    yield "counts", dict(tally.counts)
    yield "diagnostics", record_lines(diagnostics)


def quiet_rows(grid: Grid, rows: Iterable[Sequence[Any]]) -> Iterator[Any]:
    """Yield each row's bare answer: its value, or its derivatives of the requested order by name."""
    from exprgrad.data.job import result_names

    if not grid.order:
        yield from (cells[len(grid.ranges)] for cells in rows)
        return
    shown = [*grid.wrt] if grid.order == 1 else result_names(grid.job)[1 + len(grid.wrt) :]
    for cells in rows:
        pairs = zip(shown, cells[-len(shown) :], strict=True)
        yield " ".join(
            f"{name}={x!r}" if type(x) is float else "".join(bare_line(name, x)).strip()
            for name, x in pairs
        )
