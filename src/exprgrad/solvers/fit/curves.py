"""A fit as a picture shows it: the rows, the model's curve with its band, and the residuals."""

from __future__ import annotations

from math import inf
from typing import Any, NamedTuple

import numpy as np

from exprgrad.graph.graph import dependents
from exprgrad.solvers.fit.estimates import quantile
from exprgrad.solvers.fit.fit import Fit
from exprgrad.solvers.fit.problem import Columns

__all__ = ["FitCurve", "fit_curve"]

MOST_DOTS = 4000
"""The most rows that are shown; of more, every so many."""
GRID = 801
"""The points of a curve."""


class FitCurve(NamedTuple):
    """What is drawn: rows and residuals over a column, or over the model's values if there are several.

    ``column``     what lies on the horizontal axis; empty for the model's values
    ``x`` ``y``    the rows' places and responses, with their standard ``deviations`` if they are known
    ``residuals``  response less model
    ``places``     those of the curve, with its ``values``, and the ends of its confidence band
    """

    column: str
    x: list[float]
    y: list[float]
    residuals: list[float]
    deviations: list[float] | None
    places: list[float]
    values: list[float]
    low: list[float] | None
    high: list[float] | None


def fit_curve(found: Fit) -> FitCurve:
    """What a picture of a fit shows."""
    problem = found.problem
    point = np.array([found.parameters[name].value for name in problem.parameters])
    across = columns_across(found)
    stride = -(-problem.rows // MOST_DOTS)
    x, y, residuals, deviations, first = [], [], [], [], None
    for block, (residual, *_, response) in problem.results(point):
        first = [float(column[0]) for column in block.columns] if first is None else first
        place = response - residual
        if len(across) == 1:
            place = block.columns[across[0]]
        x += place[::stride].tolist()
        y += response[::stride].tolist()
        residuals += residual[::stride].tolist()
        if found.absolute and block.scale is not None:
            deviations += (1 / block.scale[::stride]).tolist()
    assert first is not None
    name = problem.columns[across[0]] if len(across) == 1 else ""
    rows = name, x, y, residuals, deviations or None
    if not name:
        ends = [min(x), max(x)]
        return FitCurve(*rows, ends, ends, None, None)
    return FitCurve(*rows, *curve(found, point, across[0], first, x))


def columns_across(found: Fit) -> list[int]:
    """The positions of the columns that the model reads, and the response doesn't alone."""
    graph = found.problem.graph
    model = graph.operands[graph.output][-1]
    inputs = found.problem.columns
    marks = [dependents(graph, [graph.inputs[name]]) for name in inputs]
    return [at for at, mark in enumerate(marks) if mark[model]]


def curve(
    found: Fit, point: Any, column: int, first: list[float], x: list[float]
) -> tuple[list[float], list[float], list[float] | None, list[float] | None]:
    """The model over a column, and its band: what the estimates' covariance comes to there.

    Source: Bates and Watts, Nonlinear Regression Analysis (1988), section 2.3.2.
    """
    problem = found.problem
    places = np.linspace(min(x), max(x), GRID)
    columns = [np.full(GRID, value) for value in first]
    columns[column] = places
    grid = problem.over(Columns(columns), GRID)
    chosen = [problem.parameters.index(name) for name in found.estimated]
    values, low, high = [], [], []
    reach = quantile(found.level, inf if found.absolute or found.loss else max(found.dof, 1))
    for _, (residual, *slopes, response) in grid.results(point):
        model = response - residual
        values += model.tolist()
        if not np.isfinite(found.covariance).all():
            continue
        jacobian = np.column_stack([slopes[at] for at in chosen])
        width = reach * np.sqrt(np.sum(jacobian @ found.covariance * jacobian, axis=1))
        low += (model - width).tolist()
        high += (model + width).tolist()
    return places.tolist(), values, low or None, high or None
