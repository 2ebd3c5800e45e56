"""Rows over ranges as people read them."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from functools import partial
from itertools import islice
from typing import Any

from exprgrad.errors import advice
from exprgrad.show.text.lines import EDGE_ROWS, LONGEST_WHOLE
from exprgrad.show.text.table import Column, Table, tabulated

__all__ = ["rows_table"]


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
    source = iter(rows)
    first = list(source if whole else islice(source, LONGEST_WHOLE))
    last = deque(source, EDGE_ROWS)
    left_out = size - 2 * EDGE_ROWS if last else 0
    if left_out:
        tail = [*first[EDGE_ROWS:], *last][-EDGE_ROWS:]
        first = [*first[:EDGE_ROWS], *tail]
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
            has_them = advice("--csv has them", "columns has them")
            foot.append(f"{more} more column{'s' * (more > 1)}: {has_them}")
        lines = [row[:count] for row in first]
        found = tabulated(heads[:count], lines, list, digits, whole=True, foot="\n".join(foot))
        return found._replace(left_out=left_out, what="rows")

    narrower = [partial(made, count) for count in range(len(columns) - 1, len(ranges), -1)]
    return made(len(columns))._replace(narrower=narrower)
