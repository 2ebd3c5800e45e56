"""The law of propagation of uncertainty: u² = Σ_ij ∂f/∂x_i ∂f/∂x_j u(x_i) u(x_j) r_ij; and Monte Carlo.

JCGM 100:2008 (GUM), equations (10), (13) and (16).  Monte Carlo propagates the distribution of a value by
sampling that of its inputs: JCGM 101:2008, section 7, for normally distributed inputs (6.4.7 and 6.4.8):
the mean, the standard deviation and the probabilistically symmetric 95 % interval of the values.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import inf, isfinite
from os import PathLike, fspath
from typing import Any, NamedTuple

import numpy as np

from exprgrad.derive.build import GraphBuilder
from exprgrad.errors import RequestError, command_or_python, whole_number
from exprgrad.explain.derivatives import Derivatives
from exprgrad.explain.diagnostics import DiagnosedRun
from exprgrad.explain.limits import COUNTED, MOST_DRAWS
from exprgrad.explain.places import element_places, to_scalar_run
from exprgrad.graph.graph import Program, shape_size
from exprgrad.run import matrices
from exprgrad.run.arrays.arrays import float_or_array, forward_arrays
from exprgrad.run.arrays.bounds import array_data_errors
from exprgrad.run.engines.compiled import build_kernel
from exprgrad.run.evaluation import Diagnostic, evaluator_for
from exprgrad.run.matrices import Point
from exprgrad.run.values.inputs import refuse_text
from exprgrad.run.values.uncertain import (
    Spread,
    Uncertain,
    UncertainNumbers,
    number_names,
    plus_minus,
)
from exprgrad.solvers.uncertainty.covariance import correlate_spread, covariance_in, draw_moves
from exprgrad.solvers.uncertainty.nonlinear import (
    Second,
    half_unit,
    nonlinear_warning,
    numbers_in,
    second_order_terms,
)

__all__ = ["Sampled", "Uncertainty", "propagate_uncertainty", "uncertainty_of"]

DRAWN_AT_ONCE = 65_536
"""The draws made at a time."""
BOUNDED = 4096
"""The draws for which the effect of rounding is bounded."""
COVERED = (2.5, 97.5)
"""The ends of a 95 % interval, in percent."""


class Sampled(NamedTuple):
    """The result of Monte Carlo for a value: numbers, or tensors of its shape.

    ``draws``     the number of draws
    ``seed``      of the generator
    ``mean``      the mean of the values
    ``value``     their standard deviation
    ``low``, ``high``  the ends of the interval that covers 95 % of them, as many below as above
    ``without``   the number of draws without a finite value, which are left out of the rest
    ``rounded``   a bound of the rounding of values, as the root of the mean square
    """

    draws: int
    seed: int
    mean: Any
    value: Any
    low: Any
    high: Any
    without: int = 0
    rounded: Any = 0.0

    def diagnostics(self, run: DiagnosedRun) -> Iterator[Diagnostic]:
        """Yield warnings where draws have no value, and where rounding hides digits shown."""
        output = run.graph.output
        if self.without:
            message = (
                f"{self.without:,} of {self.draws:,} draws have no finite value, and are left out"
            )
            yield nonlinear_warning(message, run, output)
        pairs = [*zip(numbers_in(self.value), numbers_in(self.rounded), strict=True)]
        u, rounded = max(pairs, key=lambda pair: pair[1] - half_unit(pair[0]))
        if rounded > half_unit(u):
            message = (
                f"rounding may have moved the draws' values by {rounded:.2g}, which hides digits "
                f"of their mean and of their standard deviation, {u:.2g}"
            )
            yield nonlinear_warning(message, run, output)._replace(code="lost-digits")


class Uncertainty(NamedTuple):
    """The standard uncertainty of a value, and its sources.

    ``estimate``       the value, a number or a tensor
    ``value``          its standard uncertainty, of the same shape
    ``shares``         by input, its part of the variance: c_x·Σ_j r_xj·c_j over the variance, with
                       c = u·∂f/∂x.  They add up to 1; one of a correlated input may be negative.
                       Those of a tensor's numbers are added up; of a value that is a tensor they are
                       tensors
    ``sensitivities``  by input, the derivative of the value; of tensors its shape, then the input's
    ``deviations``     by input, its standard uncertainty
    ``correlations``   by the names of two numbers of inputs, their correlation coefficient
    ``covariance``     of a value that is a tensor, the covariance matrix of its numbers; else None
    ``second``         the effect of second-order terms, if examined: see ``Second``; of a
                       tensor a list
    ``sample``         the result of Monte Carlo, if requested
    ``diagnostics``    warnings: where linearising is not enough, and why
    """

    estimate: Any
    value: Any
    shares: dict[str, Any]
    sensitivities: dict[str, Any]
    deviations: dict[str, Any]
    correlations: dict[tuple[str, str], float]
    covariance: Any = None
    second: Second | list[Second | None] | None = None
    sample: Sampled | None = None
    diagnostics: tuple[Diagnostic, ...] = ()

    @property
    def number(self) -> Uncertain:
        """Return the value with its standard uncertainty."""
        return Uncertain(self.estimate, self.value)

    def __repr__(self) -> str:
        if isinstance(self.estimate, float):
            return plus_minus(self.estimate, self.value)
        pairs = zip(self.estimate.flat, self.value.flat, strict=True)
        return f"[{', '.join(plus_minus(float(y), float(u)) for y, u in pairs)}]"


def uncertainty_of(
    run: DiagnosedRun,
    spread: Spread | None,
    correlation: Mapping[tuple[str, str], float],
    covariance: Mapping[str, Mapping[str, float]] | PathLike[str] | None,
    draws: int,
    seed: int,
) -> Uncertainty:
    """Return the uncertainty of a run's value, with the correlations and draws requested.

    Raises ``RequestError`` where no input is uncertain, or for a bad number of draws, and what
    ``covariance.correlated`` raises.
    """
    count, start = whole_number(draws), whole_number(seed)
    if count is None or count == 1 or not 0 <= count <= MOST_DRAWS:
        raise RequestError(
            "bad-value", f"{draws!r} is not a number of draws from 2 to {MOST_DRAWS:,}"
        )
    if start is None or start < 0:
        raise RequestError("bad-value", f"{seed!r} is not a seed: a whole number from 0 on")
    known = Spread({}, {}) if spread is None else spread
    if correlation or covariance is not None:
        if isinstance(covariance, str):
            refuse_text(covariance, "covariance")
        if isinstance(covariance, PathLike):
            covariance = covariance_in(fspath(covariance))
        known = correlate_spread(known, run.inputs, correlation, covariance)
    if not known.deviations:
        raise RequestError(
            "certain",
            "no input is uncertain",
            help=command_or_python(
                "write x=2.0±0.1", 'write x="2.0±0.1", or x=exprgrad.uncertain(2.0, 0.1)'
            ),
        )
    return propagate_uncertainty(run, known, count, start)


def propagate_uncertainty(
    run: DiagnosedRun, spread: Spread, draws: int = 0, seed: int = 0
) -> Uncertainty:
    """Propagate the inputs' uncertainties to a run's value; with ``draws`` by Monte Carlo, too.

    Raises ``RequestError`` for Monte Carlo of tensors of more than 4,096 numbers over all nodes.
    """
    names = tuple([name for name in run.graph.inputs if name in spread.deviations])
    deviations = {name: spread.deviations[name] for name in names}
    estimate = run.true.value
    if run.graph.shape(run.graph.output):
        slopes, lost = slopes_of_tensor(run, names) if names else ({}, ())
    else:
        swept = run
        if run.wrt is None or not {*names} <= {*run.wrt}:
            evaluator = evaluator_for(run.graph)
            swept = DiagnosedRun.of(run.text, evaluator, run.inputs, names, run.spelled)
        slopes, known = {name: swept.true.gradient[name] for name in names}, run.true.diagnostics
        lost = tuple(one for one in swept.true.diagnostics if one not in known)
    found = of_first_order(run, estimate, slopes, deviations, spread)
    moving = {
        label: u
        for name, deviation in deviations.items()
        for label, u in zip(
            number_names(name, run.inputs[name]), numbers_in(deviation), strict=True
        )
        if u
    }
    related = {pair: r for pair, r in spread.correlations.items() if {*pair} <= moving.keys()}
    numbers = UncertainNumbers(moving, related)
    terms, told = second_order_terms(run, numbers, numbers_in(found.value), found.sensitivities)
    second = terms[0] if isinstance(estimate, float) and terms else terms or None
    told = (*lost, *unknown_uncertainty(run, found), *told)
    if not draws:
        return found._replace(second=second, diagnostics=told)
    sample = sample_values(run, numbers, draws, seed)
    told = tuple(one._replace(help=None) for one in (*told, *sample.diagnostics(run)))
    return found._replace(second=second, sample=sample, diagnostics=told)


def slopes_of_tensor(
    run: DiagnosedRun, names: tuple[str, ...]
) -> tuple[dict[str, Any], tuple[Diagnostic, ...]]:
    """Return the true derivatives of a tensor value, by input, and warnings where digits are lost."""
    label = run.output_label
    evaluator, outputs = evaluator_for(run.graph), {label: run.graph.output}
    point = Point(evaluator, run.inputs, outputs, names, spelled=run.spelled)
    found = Derivatives(run.text, point, matrices.JACOBIAN, COUNTED).settled
    slopes = found.among("jacobian").values
    return {name: slopes[label, name] for name in names}, found.diagnostics


def of_first_order(
    run: DiagnosedRun,
    estimate: Any,
    slopes: dict[str, Any],
    deviations: dict[str, Any],
    spread: Spread,
) -> Uncertainty:
    """Return the uncertainty of a value, or of each number of a tensor, and their covariance matrix J·Σ·Jᵀ.

    Parts are c_i = u(x_i)·∂f/∂x_i, and t_i = Σ_j r_ij·c_j.  Then u² = Σ c_i·t_i, and the share of part i is
    c_i·t_i/u²; all are 0 where u is.
    """
    shape = run.graph.shape(run.graph.output)
    columns: list[Any] = []
    places: dict[str, int] = {}
    owners: list[str] = []
    for name, deviation in deviations.items():
        block = np.reshape(slopes[name], (shape_size(shape), -1))
        flat = np.array(numbers_in(deviation))
        columns.append(np.where(flat, block, 0.0) * flat)
        for label in number_names(name, run.inputs[name]):
            places[label] = len(places)
            owners.append(name)
    with np.errstate(all="ignore"):
        parts = np.concatenate(columns, axis=1) if columns else np.zeros((shape_size(shape), 0))
        total = parts.copy()
        for (one, other), r in spread.correlations.items():
            if one in places and other in places:
                total[:, places[one]] += r * parts[:, places[other]]
                total[:, places[other]] += r * parts[:, places[one]]
        covariance = total @ parts.T if shape else None
        largest = abs(parts).max(axis=1, initial=0.0)
        unit = np.where(largest > 0, largest, 1.0)[:, None]  # so that squares stay doubles
        products = parts / unit * (total / unit)
        variances = np.maximum(products.sum(axis=1), 0.0)
        weights = products / np.where(variances == 0, 1.0, variances)[:, None]
        value = np.where(np.isfinite(largest), unit[:, 0] * np.sqrt(variances), largest)
    owned = np.array(owners)
    shares = {
        name: float_or_array(weights[:, owned == name].sum(axis=1).reshape(shape))
        for name in deviations
    }
    number = float_or_array(value.reshape(shape))
    return Uncertainty(
        estimate, number, shares, slopes, deviations, spread.correlations, covariance
    )


def unknown_uncertainty(run: DiagnosedRun, found: Uncertainty) -> tuple[Diagnostic, ...]:
    """Warn where derivatives that are not finite leave no uncertainty."""
    if all(map(isfinite, numbers_in(found.value))):
        return ()
    names = [
        name
        for name, slope in found.sensitivities.items()
        if not all(map(isfinite, numbers_in(slope)))
    ]
    message = "there is no uncertainty of first order"
    if names:
        message += f": the derivative with respect to {', '.join(names)} is not finite"
    return (nonlinear_warning(message, run, run.graph.output, "Monte Carlo needs no derivatives"),)


# Monte Carlo.


def sample_values(run: DiagnosedRun, numbers: UncertainNumbers, draws: int, seed: int) -> Sampled:
    """Sample values of a run's formula for drawn inputs.

    Raises ``RequestError`` for tensors of more than 4,096 numbers over all nodes.
    """
    over = to_scalar_run(run)
    outputs = [over.node(run.graph.output, place) for place in element_places(run.value)]
    graph, inputs = over.run.graph, over.run.inputs
    names = [name for name in graph.inputs if name in numbers.deviations]
    builder = GraphBuilder(graph.empty())
    images = builder.include(
        graph,
        {
            name: builder.input(name) if name in names else builder.constant(inputs[name])
            for name in [*names, *(name for name in graph.inputs if name not in names)]
        },
    )
    program = builder.program([images[output] for output in outputs])
    _, kernel, _ = build_kernel(program, names, None, False)
    values, off = np.empty((len(outputs), draws)), np.zeros(len(outputs))
    random = np.random.default_rng(seed)
    centre = np.array([[inputs[name]] for name in names]).reshape(-1, 1)
    for start in range(0, draws, DRAWN_AT_ONCE):
        rows = min(DRAWN_AT_ONCE, draws - start)
        columns = np.ascontiguousarray(centre + draw_moves(names, numbers, random, rows))
        block = [np.empty(rows) for _ in outputs]
        kernel([*columns], block, 0, rows)
        values[:, start : start + rows] = block
        if not start:
            off = rounded_by(program, dict(zip(names, columns[:, :BOUNDED], strict=True)))
    rounded = float_or_array(off.reshape(np.shape(run.value)))
    return describe_samples(values, draws, seed, run.value)._replace(rounded=rounded)


def rounded_by(program: Program, columns: Mapping[str, Any]) -> Any:
    """Bound each output's rounding over some columns, as the root of the mean square."""
    graph, outputs = program
    with np.errstate(all="ignore"):
        values = forward_arrays(graph, columns)
        errors = array_data_errors(graph, values, outputs)
        squares = [
            np.where(np.isfinite(values[node]), np.nan_to_num(errors[node], nan=inf) ** 2, 0.0)
            for node in outputs
        ]
        return np.sqrt([one.mean() for one in squares])


def describe_samples(values: Any, draws: int, seed: int, like: Any) -> Sampled:
    """Compute statistics of drawn values, a row for each number of a value ``like`` them."""
    good = np.isfinite(values).all(axis=0)
    kept = values[:, good] if not good.all() else values
    without = draws - kept.shape[1]
    if kept.shape[1] < 2:
        found = [np.full(len(values), np.nan)] * 4
    else:
        ends = np.percentile(kept, COVERED, axis=1, overwrite_input=False)
        found = [kept.mean(axis=1), kept.std(axis=1, ddof=1), *ends]
    mean, value, low, high = (float_or_array(row.reshape(np.shape(like))) for row in found)
    return Sampled(draws, seed, mean, value, low, high, without)
