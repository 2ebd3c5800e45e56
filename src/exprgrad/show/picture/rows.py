"""A graph that would be wider than a page, cut into rows as a text is into lines.

Texts are measured in letters of mean width, so that a picture is cut alike wherever it is drawn.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from exprgrad.errors import advice
from exprgrad.run.evaluation import Run

__all__ = ["PAGE", "Rows", "breadth", "remark", "rows_of"]

PAGE = 1850
"""The greatest width in points: printed across a sheet of A4, its letters are 5 points high."""
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


class Place(NamedTuple):
    """Where a node stands in a graph that runs across: in a column, or some steps before it."""

    column: int
    before: int


def rows_of(
    run: Run, cards: Mapping[int, float], chips: Mapping[int, Sequence[float]], *, wrap: bool
) -> Rows:
    """The rows in which a graph that runs across fits a page, or the one row that it has without ``wrap``.

    ``cards`` are the widths of its nodes, ``chips`` of the chips on the wires to each.
    """
    places = places_of(run)
    columns = 1 + max((place.column for place in places.values()), default=0)
    total = 1
    whole = width = width_of(places, cards, chips, columns, total)
    while wrap and width > PAGE and total < columns:
        total = min(columns, max(total + 1, int(total * width / PAGE)))
        width = width_of(places, cards, chips, columns, total)
    rows = {node: place.column * total // columns for node, place in places.items()}
    return Rows(rows, total, whole)


def breadth(run: Run, cards: Mapping[int, float], chips: Mapping[int, Sequence[float]]) -> Rows:
    """The one row of a graph that runs down: as wide as cards, or chips, beside each other.

    ``chips`` are the widths of those on the wires to a node.
    """
    beside: dict[float, float] = {}
    for node, place in places_of(run).items():
        level: float = place.column - place.before
        beside[level] = beside.get(level, 0.0) + cards[node] + GAP
        beside[level - 0.5] = beside.get(level - 0.5, 0.0) + sum(w + GAP for w in chips[node])
    return Rows(dict.fromkeys(cards, 0), 1, max(beside.values(), default=0.0))


def places_of(run: Run) -> dict[int, Place]:
    """By node, where it stands: operations in columns, as close to their users as they can be.

    Inputs and constants stand right before their first user, in its row, and so does an operation that has
    no other operands: ``x*w`` beside the sum that it is a term of.
    """
    depth: dict[int, int] = {}
    for node in run.shown:
        depth[node] = 1 + max((depth[operand] for operand in run.operands(node)), default=-1)
    found: dict[int, Place] = {}
    for user in reversed(run.shown):
        place = found.setdefault(user, Place(max(depth[user] - 2, 0), 0))
        for operand in run.operands(user):
            near = Place(place.column, place.before + 1)
            if depth[operand] > 1:
                near = Place(place.column - 1, 0)
            found[operand] = min(found.get(operand, near), near)
    return found


def width_of(
    places: Mapping[int, Place],
    cards: Mapping[int, float],
    chips: Mapping[int, Sequence[float]],
    columns: int,
    total: int,
) -> float:
    """How wide a graph is in so many rows, in points; Graphviz aligns their columns."""
    widest: dict[float, float] = {}
    for node, (column, before) in places.items():
        first = -(-(column * total // columns) * columns // total)  # of its row
        at: float = column - first - before
        widest[at] = max(widest.get(at, 0.0), cards[node])
        widest[at - 0.5] = max(widest.get(at - 0.5, 0.0), *chips[node], 0.0)
    return sum(width + GAP for width in widest.values())


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
