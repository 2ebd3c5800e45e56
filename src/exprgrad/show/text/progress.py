"""How far a long command has come, on a terminal: rows, rows per second, and the time that is left."""

from __future__ import annotations

import sys
from time import monotonic
from types import TracebackType
from typing import Any

__all__ = ["Progress"]

AFTER = 1.0
"""The seconds that a command may take before anything is said."""
EVERY = 0.1
"""The seconds between two looks at the clock's hands."""


class Progress:
    """A line on stderr, if that is a terminal, which goes when the work is done.

    ``total`` is the number of rows, as far as it is known, or 0.  To call it says that more rows are done.
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
            self.bar = bar(self.total)
        rate = self.rows / (now - self.begun)
        self.bar.update(0, completed=self.rows, rate=f"{rate:,.0f} rows/s", refresh=True)


def bar(total: int) -> Any:
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
