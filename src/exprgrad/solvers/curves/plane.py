"""A formula over the ranges of two inputs: its values on a grid, its gradient, and where that is 0."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from exprgrad.graph.graph import Graph
from exprgrad.run.values.ranges import Interval
from exprgrad.solvers.curves.sampling import Jets, jets_of, window

__all__ = ["Critical", "Plane", "plane"]

POINTS = 121
"""The points of the grid along each input: an odd number, so that the middle is among them."""
ARROWS = 19
"""The arrows of the gradient's field, along each input."""
TURNS = 60
"""The most steps of Newton's method."""
APART = 1e-6
"""Critical points that are so near to each other, as a part of the range, are one."""
BEYOND_CELL = 2.0
"""How many cells from where it was suspected a critical point may be."""


class Critical(NamedTuple):
    """Where the gradient is 0: a ``minimum``, a ``maximum``, a ``saddle``, or ``flat`` some way."""

    kind: str
    x: float
    y: float
    value: float


class Arrow(NamedTuple):
    """The gradient at a point."""

    x: float
    y: float
    dx: float
    dy: float


class Plane(NamedTuple):
    """A formula over two inputs, ``names``, between ``spans``, the others being as ``given``.

    ``x``, ``y``   the grid's coordinates
    ``values``     its rows, from below to above; nan where there is no value
    ``window``     what a picture shows
    ``field``      the gradient at some points
    ``critical``   the points where it is 0, as far as the grid tells
    ``path``       the points of a descent, if one was asked for; and in ``ending`` what became of it
    """

    text: str
    names: tuple[str, str]
    spans: tuple[Interval, Interval]
    given: dict[str, float]
    x: list[float]
    y: list[float]
    values: list[list[float]]
    window: tuple[float, float]
    field: list[Arrow]
    critical: list[Critical]
    path: list[tuple[float, float]]
    ending: str


def plane(
    text: str,
    graph: Graph,
    spans: Mapping[str, Interval],
    given: Mapping[str, float],
    shown: tuple[float, float] | None = None,
) -> Plane:
    """A formula of numbers over the ranges of two inputs."""
    first, second = spans
    ranges = spans[first], spans[second]
    at = jets_of(graph, (first, second), given)
    x, y = (np.linspace(low, high, POINTS) for low, high in ranges)
    across, up = (part.ravel() for part in np.meshgrid(x, y))
    found = at(across, up)
    critical = [*critical_points(at, x, y, found)]
    heights = [one.value for one in critical]
    bounds = shown or window(found[0], heights)
    if not bounds[0] < bounds[1]:
        bounds = bounds[0] - 1.0, bounds[1] + 1.0
    return Plane(
        text,
        (first, second),
        ranges,
        dict(given),
        x.tolist(),
        y.tolist(),
        found[0].reshape(POINTS, POINTS).tolist(),
        bounds,
        [*field(at, ranges)],
        critical,
        [],
        "",
    )


def field(at: Jets, ranges: Sequence[Interval]) -> Iterator[Arrow]:
    """The gradient in the middle of cells, where it is finite and not 0."""
    sides = [low + (high - low) * (np.arange(ARROWS) + 0.5) / ARROWS for low, high in ranges]
    across, up = (part.ravel() for part in np.meshgrid(*sides))
    _, dx, dy, *_ = at(across, up)
    for arrow in zip(across.tolist(), up.tolist(), dx.tolist(), dy.tolist(), strict=True):
        if all(map(math.isfinite, arrow)) and any(arrow[2:]):
            yield Arrow(*arrow)


def critical_points(at: Jets, x: Any, y: Any, found: Any) -> Iterator[Critical]:
    """Where the gradient is 0: Newton's method from each cell in which both its parts change sign."""
    changing = np.ones((POINTS - 1, POINTS - 1), dtype=bool)
    for part in found[1:3]:
        grid = part.reshape(POINTS, POINTS)
        corners = [grid[a : a + POINTS - 1, b : b + POINTS - 1] for a, b in product((0, 1), (0, 1))]
        changing &= np.isfinite(corners).all(axis=0)
        changing &= (np.min(corners, axis=0) <= 0) & (np.max(corners, axis=0) >= 0)
    rows, columns = np.nonzero(changing)
    steps = float(x[1] - x[0]), float(y[1] - y[0])
    starts = x[columns] + steps[0] / 2, y[rows] + steps[1] / 2
    across, up = (start.copy() for start in starts)
    with np.errstate(all="ignore"):
        for _ in range(TURNS):
            _, dx, dy, xx, xy, yy = at(across, up)
            below = xx * yy - xy * xy
            move = (dx * yy - dy * xy) / below, (dy * xx - dx * xy) / below
            across, up = across - move[0], up - move[1]
            if not np.any(np.abs(move[0] / steps[0]) + np.abs(move[1] / steps[1]) > 1e-15):
                break
        near = (np.abs(across - starts[0]) <= BEYOND_CELL * steps[0]) & (
            np.abs(up - starts[1]) <= BEYOND_CELL * steps[1]
        )
        near &= (across >= x[0]) & (across <= x[-1]) & (up >= y[0]) & (up <= y[-1])
        near &= np.abs(move[0] / steps[0]) + np.abs(move[1] / steps[1]) < APART
    across, up = tidy(across[near], steps[0]), tidy(up[near], steps[1])
    listed: list[tuple[float, float]] = []
    for point in zip(across.tolist(), up.tolist(), strict=True):
        reach = POINTS * APART
        if all(
            max(abs(a - b) / step for a, b, step in zip(point, other, steps, strict=True)) > reach
            for other in listed
        ):
            listed.append(point)
    if listed:
        values = at(*(np.array(column) for column in zip(*listed, strict=True)))
        for (a, b), (value, _, _, xx, xy, yy) in zip(listed, values.T.tolist(), strict=True):
            nothing = 4 * (abs(xx) + 2 * abs(xy) + abs(yy)) * max(math.ulp(a), math.ulp(b)) ** 2
            height = 0.0 if abs(value) <= nothing else value
            yield Critical(sort_of_point(xx, xy, yy), a, b, height)


def tidy(x: Any, step: float) -> Any:
    """Coordinates of which what is nothing beside a cell is 0."""
    return np.where(np.abs(x) < 1e-12 * step, 0.0, x)


def sort_of_point(xx: float, xy: float, yy: float) -> str:
    """What a critical point is, by the signs of the Hessian's eigenvalues."""
    mean, half = xx / 2 + yy / 2, math.hypot(xx / 2 - yy / 2, xy)
    low, high = mean - half, mean + half
    if min(abs(low), abs(high)) <= 1e-12 * max(abs(low), abs(high)):
        return "flat"
    return "minimum" if low > 0 else "maximum" if high < 0 else "saddle"
