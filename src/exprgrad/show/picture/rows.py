"""A graph that would be wider than a page, cut into rows as a text is into lines.

Texts are measured in letters of mean width, so that a picture is cut alike wherever it is drawn.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from exprgrad.errors import advice
from exprgrad.run.evaluation import Run

__all__ = ["PAGE", "Rows", "breadth", "remark", "rows_of"]

PAGE = 1850
"""The greatest width in points: printed across a sheet of A4, its letters are 5 points high."""
BRANCH = 3
"""The most operations after each other that are never cut apart."""
TAG = 120.0
"""The width of a tag that says what comes from another row."""
CLOSER = 0.96
"""What is tried next, where rows are too long."""
GAP = 22
"""Between a card and a chip, and between two cards above each other."""


class Rows(NamedTuple):
    """The rows of a graph.

    ``row``    by node, which of them it stands in
    ``total``  how many there are
    ``width``  how wide the graph would be in one, in points
    """

    row: Mapping[int, int]
    total: int
    width: float


class Spot(NamedTuple):
    """Where a node stands in a graph that runs across: in a column, or some steps before it."""

    column: int
    before: int


def rows_of(
    run: Run, cards: Mapping[int, float], chips: Mapping[int, Sequence[float]], *, wrap: bool
) -> Rows:
    """The rows in which a graph that runs across fits a page, or the one row that it has without ``wrap``.

    ``cards`` are the widths of its nodes, ``chips`` of the chips on the wires to each.
    """
    spots = spots_of(run)
    columns: list[dict[float, float]] = [
        {} for _ in range(1 + max((spot.column for spot in spots.values()), default=0))
    ]
    for node, (column, before) in spots.items():
        for at, width in ((-before, cards[node]), (-before - 0.5, max(chips[node], default=0.0))):
            columns[column][at] = max(columns[column].get(at, 0.0), width)
    starts = [0]
    whole = width = width_of(columns, starts)
    room = float(PAGE)
    while wrap and width > PAGE and len(starts) < len(columns):
        starts = starts_of(columns, room)
        width = width_of(columns, starts)
        room *= CLOSER
    while 1 < len(starts) < len(columns) and len(even := starts_of(columns, room)) == len(starts):
        starts = even  # as many rows, and the last is not much shorter than the others
        room *= CLOSER
    rows = {node: bisect_right(starts, spot.column) - 1 for node, spot in spots.items()}
    return Rows(rows, len(starts), whole)


def starts_of(columns: Sequence[Mapping[float, float]], room: float) -> list[int]:
    """The first column of each row, if a row takes as many columns as fit."""
    starts = [0]
    widest: dict[float, float] = {}
    for column, widths in enumerate(columns):
        added = dict(widest)
        extend(added, widths, column)
        if widest and sum(added.values()) + GAP * len(added) > room:
            starts.append(column)
            added = {column - 1: TAG}
            extend(added, widths, column)
        widest = added
    return starts


def extend(widest: dict[float, float], widths: Mapping[float, float], column: int) -> None:
    """Make room for the cards and chips of another column."""
    for at, width in widths.items():
        if width:
            widest[column + at] = max(widest.get(column + at, 0.0), width)


def width_of(columns: Sequence[Mapping[float, float]], starts: Sequence[int]) -> float:
    """How wide a graph is, in points, in rows that begin with these columns; Graphviz aligns them."""
    total: dict[float, float] = {}
    for start, end in zip(starts, [*starts[1:], len(columns)], strict=True):
        widest: dict[float, float] = {start - 1: TAG} if start else {}
        for column in range(start, end):
            extend(widest, columns[column], column)
        left = min(widest)
        for at, width in widest.items():
            total[at - left] = max(total.get(at - left, 0.0), width)
    return sum(total.values()) + GAP * len(total)


def breadth(run: Run, cards: Mapping[int, float], chips: Mapping[int, Sequence[float]]) -> Rows:
    """The one row of a graph that runs down: as wide as cards, or chips, beside each other.

    ``chips`` are the widths of those on the wires to a node.
    """
    beside: dict[float, float] = {}
    for node, spot in spots_of(run).items():
        level: float = spot.column - spot.before
        beside[level] = beside.get(level, 0.0) + cards[node] + GAP
        beside[level - 0.5] = beside.get(level - 0.5, 0.0) + sum(w + GAP for w in chips[node])
    return Rows(dict.fromkeys(cards, 0), 1, max(beside.values(), default=0.0))


def spots_of(run: Run) -> dict[int, Spot]:
    """By node, where it stands: operations in columns, as close to their users as they can be.

    What takes few operations, such as an input or the term ``tanh(x*w)`` of a sum, stands right before its
    first user, in its row.
    """
    depth: dict[int, int] = {}
    for node in run.shown:
        depth[node] = 1 + max((depth[operand] for operand in run.operands(node)), default=-1)
    found: dict[int, Spot] = {}
    for user in reversed(run.shown):
        spot = found.setdefault(user, Spot(max(depth[user] - BRANCH - 1, 0), 0))
        for operand in run.operands(user):
            is_branch = depth[operand] <= BRANCH
            near = Spot(spot.column - (not is_branch), spot.before + 1 if is_branch else 0)
            found[operand] = min(found.get(operand, near), near)
    return found


def remark(rows: Rows, *, across: bool, wrap: bool) -> str:
    """What to say of a graph that would be wider than a page, if it is."""
    if rows.width <= PAGE or (across and not wrap):
        return ""
    if across:
        down, one = advice("--direction TB", "direction='TB'"), advice("--no-wrap", "wrap=False")
        return (
            f"the picture would be wider than a page, so it stands in {rows.total} rows, and numbered tags "
            f"lead from one to another\n  help: {down} draws it from top to bottom, {one} in one row"
        )
    help = advice("--direction LR", "direction='LR'") + " draws it in rows as wide as a page"
    return f"the picture is wider than a page\n  help: {help}"
