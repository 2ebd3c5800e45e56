"""Monte Carlo: the distribution of a value, propagated by sampling that of its inputs.

JCGM 101:2008, section 7, for normally distributed inputs (6.4.7 and 6.4.8): the mean, the standard
deviation and the probabilistically symmetric 95 % interval of the values.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from exprgrad.derive.build import Builder
from exprgrad.explain.diagnostics import Run
from exprgrad.explain.places import in_numbers, places_in
from exprgrad.run.arrays.arrays import plain
from exprgrad.run.engines.compiled import built
from exprgrad.run.evaluation import Diagnostic
from exprgrad.run.values.uncertain import UncertainNumbers
from exprgrad.solvers.uncertainty.nonlinear import warned

__all__ = ["Sampled", "correlation_matrix", "sampled"]

DRAWN_AT_ONCE = 65_536
"""How many draws are made at a time."""
COVERED = (2.5, 97.5)
"""The ends of a 95 % interval, in percent."""


class Sampled(NamedTuple):
    """What Monte Carlo found of a value: numbers, or tensors of its shape.

    ``draws``     how many were made
    ``seed``      of the generator
    ``mean``      the mean of the values
    ``value``     their standard deviation
    ``low``, ``high``  the ends of the interval that covers 95 % of them, as many below as above
    ``without``   how many draws have no value that is finite: they are left out of all these
    """

    draws: int
    seed: int
    mean: Any
    value: Any
    low: Any
    high: Any
    without: int = 0

    def diagnostics(self, run: Run) -> tuple[Diagnostic, ...]:
        """A warning where some draws have no value."""
        if not self.without:
            return ()
        message = f"{self.without:,} of {self.draws:,} draws have no finite value, and are left out"
        return (warned(message, run, run.graph.output),)


def sampled(run: Run, numbers: UncertainNumbers, draws: int, seed: int) -> Sampled:
    """So many values of a run's formula, its inputs being drawn.

    Raises ``RequestError`` for tensors of more than 4,096 numbers over all nodes.
    """
    over = in_numbers(run)
    outputs = [over.node(run.graph.output, place) for place in places_in(run.value)]
    graph, inputs = over.run.graph, over.run.inputs
    names = [name for name in graph.inputs if name in numbers.deviations]
    builder = Builder()
    images = builder.include(
        graph,
        {
            name: builder.input(name) if name in names else builder.constant(inputs[name])
            for name in [*names, *(name for name in graph.inputs if name not in names)]
        },
    )
    program = builder.program([images[output] for output in outputs])
    _, kernel, _ = built(program, names, None, False)
    values = np.empty((len(outputs), draws))
    random = np.random.default_rng(seed)
    centre = np.array([[inputs[name]] for name in names]).reshape(-1, 1)
    factor = correlation_factor(names, numbers)
    scale = np.array([[numbers.deviations[name]] for name in names]).reshape(-1, 1)
    for start in range(0, draws, DRAWN_AT_ONCE):
        rows = min(DRAWN_AT_ONCE, draws - start)
        normal = random.standard_normal((len(names), rows))
        normal = normal if factor is None else factor @ normal
        columns = np.ascontiguousarray(centre + scale * normal)
        block = [np.empty(rows) for _ in outputs]
        kernel([*columns], block, 0, rows)
        values[:, start : start + rows] = block
    return described(values, draws, seed, run.value)


def described(values: Any, draws: int, seed: int, like: Any) -> Sampled:
    """What is said of drawn values, a row for each number of a value that they are like."""
    good = np.isfinite(values).all(axis=0)
    kept = values[:, good] if not good.all() else values
    without = draws - kept.shape[1]
    if kept.shape[1] < 2:
        nan = np.full(len(values), np.nan)
        found = [nan, nan, nan, nan]
    else:
        ends = np.percentile(kept, COVERED, axis=1, overwrite_input=False)
        found = [kept.mean(axis=1), kept.std(axis=1, ddof=1), *ends]
    mean, value, low, high = (plain(row.reshape(np.shape(like))) for row in found)
    return Sampled(draws, seed, mean, value, low, high, without)


def correlation_matrix(names: Sequence[str], numbers: UncertainNumbers) -> Any:
    """The correlation matrix of some numbers."""
    return np.array([[numbers.correlation(one, other) for other in names] for one in names])


def correlation_factor(names: Sequence[str], numbers: UncertainNumbers) -> Any:
    """A matrix A with A·Aᵀ the correlation matrix, which may be singular; None where that is 1."""
    if not numbers.correlations:
        return None
    values, vectors = np.linalg.eigh(correlation_matrix(names, numbers))
    return vectors * np.sqrt(np.maximum(values, 0.0))
