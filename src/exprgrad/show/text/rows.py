"""Many rows as people read them: a table of those over ranges, and how many of a file's are done."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from functools import partial
from time import monotonic
from types import TracebackType
from typing import Any

from exprgrad.errors import command_or_python
from exprgrad.show.text.lines import elide_items
from exprgrad.show.text.table import Column, Table, make_table

__all__ = ["Progress", "rows_table"]


def rows_table(
    columns: Sequence[str],
    ranges: Sequence[str],
    rows: Iterable[Sequence[Any]],
    size: int,
    digits: int,
    *,
    whole: bool = False,
) -> Table:
    """A table of ``size`` rows, whose first columns are inputs with ``ranges``.

    Of many rows only the first and the last are shown, and kept in memory, unless it is ``whole``.
    """
    shown = [
        row for row in elide_items(rows, size, "rows", whole=whole) if not isinstance(row, str)
    ]
    styles = ["dim"] * len(ranges) + ["green"] + ["yellow"] * len(columns)
    heads = [
        Column(name, is_number=True, style=style)
        for name, style in zip(columns, styles, strict=False)
    ]

    def made(count: int) -> Table:
        """The table of the first few columns."""
        foot = [f"{size:,} points; {ranges[-1]} varies fastest"] * (len(ranges) > 1)
        more = len(columns) - count
        if more:
            has_them = command_or_python("--csv has them", "columns has them")
            foot.append(f"{more} more column{'s' * (more > 1)}: {has_them}")
        lines = [row[:count] for row in shown]
        found = make_table(heads[:count], lines, digits, whole=True, foot="\n".join(foot))
        return found._replace(left_out=size - len(shown), what="rows")

    narrower = [partial(made, count) for count in range(len(columns) - 1, len(ranges), -1)]
    return made(len(columns))._replace(narrower=narrower)


# How many rows of a file are done.


AFTER = 1.0
"""The seconds that a command may take before anything is said."""
EVERY = 0.1
"""The seconds between two looks at the clock's hands."""


class Progress:
    """A progress line on stderr, shown only on a terminal and erased when the work is done.

    ``total`` is the expected number of rows, or 0 if unknown.  Call it to report more finished rows.
    """

    def __init__(self, total: int) -> None:
        self.total = total
        self.rows = 0
        self.begun = self.last = monotonic()
        self.bar: Any = None
        self.is_seen = sys.stderr.isatty()

    def __enter__(self) -> Progress:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        if self.bar is not None:
            self.bar.stop()

    def __call__(self, rows: int) -> None:
        """Some more rows are done."""
        self.rows += rows
        now = monotonic()
        if not self.is_seen or now - self.begun < AFTER or now - self.last < EVERY:
            return
        self.last = now
        if self.bar is None:
            self.bar = progress_bar(self.total)
        rate = self.rows / (now - self.begun)
        self.bar.update(0, completed=self.rows, rate=f"{rate:,.0f} rows/s", refresh=True)


def progress_bar(total: int) -> Any:
    """The line, drawn by Rich."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = [
        TextColumn("{task.completed:,} rows"),
        BarColumn(),
        TextColumn("{task.fields[rate]}"),
        *([TimeRemainingColumn()] if total else []),
    ]
    found = Progress(*columns, console=Console(stderr=True), transient=True, auto_refresh=False)
    found.add_task("", total=total or None, rate="")
    found.start()
    return found
