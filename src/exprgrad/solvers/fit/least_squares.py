"""A model over columns: its residuals about a point, and the point of their least sum of squares.

Whatever the rows, J = Q R and r = Q (q, rest): costs, gradients and steps depend on R, q and the length of
the rest alone, and these are made block by block.  So each point takes one pass over the rows, which
never need to be in memory together.  Source: Å. Björck, Numerical Methods for Least Squares Problems
(1996), sections 2.4 and 9.2.

The trust region (SciPy's ``least_squares``, method ``trf``: M. A. Branch, T. F. Coleman and Y. Li, 1999) is
given the triangle of the exact Jacobian, which is the same problem to it.  Where it stops, exact Newton
steps, or those of Gauss and Newton, go on until they stop shrinking: the estimates are then as accurate as
the residuals can be computed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy
from functools import cached_property, lru_cache, partial
from math import inf
from typing import Any, NamedTuple

import numpy as np

from exprgrad.derive.build import GraphBuilder
from exprgrad.derive.error_rules import UNIT
from exprgrad.derive.rules import Rule, computed, exact_rule
from exprgrad.derive.sweeps.gradient import Entries, gradient, hessian_entries
from exprgrad.errors import import_extra
from exprgrad.explain.digits.judgements import round_outputs
from exprgrad.explain.digits.truths import name_literals
from exprgrad.graph.graph import Graph, Program
from exprgrad.run.arrays import arrays
from exprgrad.run.arrays.bounds import array_data_errors
from exprgrad.run.engines.columns import staggered_columns
from exprgrad.run.engines.compiled import build_kernel
from exprgrad.solvers.polish import NewtonStage, is_shorter, polish_point

__all__ = [
    "FINE", "LARGEST_POWER", "LOSSES", "NEED", "POINTS", "SAFE_POWER", "Columns", "LeastSquaresEnd",
    "LeastSquaresProblem", "Linearized", "Ready", "Scales", "by_lengths", "descend_residuals",
    "least_squares_problem", "polish_fit", "rescale_problem", "scales_at", "stack_triangle",
    "strictly_inside",
]  # fmt: skip

PIECE = 2**14
"""The rows of a block."""
SAFE_POWER = 128
"""Numbers within 2^±``SAFE_POWER`` of each other have squares that add up, and need no scales."""
LARGEST_POWER = 1000
"""The largest power of 2 of a scale, so that neither it nor 1 over it is beyond the doubles."""
COMPILED = 2**24
"""The operations over all rows from which on machine code is made of them, where possible."""


class Loss(NamedTuple):
    """A loss of z, a residual's square in units of the scale: the loss and its two derivatives.

    Each is z for small z and concave, so that z times the first derivative never exceeds the loss.
    """

    value: Callable[[Any], Any]
    first: Callable[[Any], Any]
    second: Callable[[Any], Any]


LOSSES: Mapping[str, Loss] = {
    "huber": Loss(
        lambda z: np.where(z <= 1, z, 2 * np.sqrt(z) - 1),
        lambda z: np.where(z <= 1, 1.0, 1 / np.sqrt(np.maximum(z, 1))),
        lambda z: np.where(z <= 1, 0.0, -0.5 * np.maximum(z, 1) ** -1.5),
    ),
    "soft_l1": Loss(
        lambda z: 2 * z / (1 + np.sqrt(1 + z)),
        lambda z: 1 / np.sqrt(1 + z),
        lambda z: -0.5 * (1 + z) ** -1.5,
    ),
    "cauchy": Loss(
        np.log1p,
        lambda z: 1 / (1 + z),
        lambda z: -1 / (1 + z) ** 2,
    ),
}
"""Sources: P. J. Huber, Robust Statistics (1981), 7.8; B. Triggs et al., Bundle Adjustment (2000), 3.4."""


class Columns(NamedTuple):
    """Some rows: the columns by position, and the factor of each row's residual, if any."""

    columns: Sequence[Any]
    scale: Any = None


class Linearized(NamedTuple):
    """Residuals about a point: R, q, and the length of the rest outside the Jacobian's columns.

    ``cost`` is half the sum of squares, or of losses.
    """

    factor: Any
    q: Any
    rest: float
    cost: float


class Ready(NamedTuple):
    """A program's kernel over rows, and its number of outputs."""

    kernel: Callable[..., None]
    outputs: int


class LeastSquaresProblem:
    """A model, the rows to fit it to, and the programs for it, made once when they are needed.

    ``graph``       the residual, response minus model; ``response`` is the response's node there
    ``columns``     the names of the columns, in their order
    ``parameters``  the names of the estimated parameters
    ``blocks``      iterates over the rows, some at a time
    ``rows``        the number of rows
    ``loss``        the loss by name, if not half the square; ``width`` is its scale
    ``rule``        derives; by ``real`` each number is the double nearest to the true one, found in balls

    A point is an array of the parameters' values.
    """

    def __init__(
        self,
        graph: Graph,
        response: int,
        columns: Sequence[str],
        parameters: Sequence[str],
        blocks: Callable[[], Iterator[Columns]],
        rows: int,
        loss: str = "",
        width: float = 1.0,
        rule: Rule = computed,
    ) -> None:
        self.graph, self.response = graph, response
        self.columns, self.parameters = tuple(columns), tuple(parameters)
        self.blocks, self.rows = blocks, rows
        self.loss, self.width, self.rule = loss, width, rule

    def __getstate__(self) -> dict[str, Any]:
        """Return the state to pickle: the rows themselves, without machine code, which is made again."""
        return {**self.not_made, "blocks": partial(iter, [*self.blocks()])}

    @property
    def not_made(self) -> dict[str, Any]:
        """The attributes that are not computed from others."""
        made = {"first", "second", "program"}
        return {name: value for name, value in self.__dict__.items() if name not in made}

    @property
    def in_balls(self) -> LeastSquaresProblem:
        """Return the same problem in balls."""
        found = copy(self)
        found.__dict__ = {**self.not_made, "graph": name_literals(self.graph), "rule": exact_rule}
        return found

    @cached_property
    def program(self) -> Program:
        """The residual, its derivatives, and the response."""
        derived = gradient(self.graph, self.parameters, self.rule)
        builder = GraphBuilder(derived.graph.empty())
        images = builder.include(derived.graph)
        response = builder.include(self.graph)[self.response]
        return builder.program([*(images[output] for output in derived.outputs), response])

    @cached_property
    def first(self) -> Ready:
        """The residual's program, ready to run."""
        return self.ready(self.program)

    @cached_property
    def second(self) -> tuple[Ready, Entries]:
        """The program of the residual and its derivatives, and the output of each second one."""
        program, entries = hessian_entries(self.graph, self.parameters, self.rule)
        return self.ready(program), entries

    def ready(self, program: Program) -> Ready:
        """Make a program ready for all rows."""
        names = [*self.columns, *self.parameters]
        if self.rule is exact_rule:
            return Ready(partial(fill_truly, program, names), len(program.outputs))
        is_large = self.rows * len(program.graph) >= COMPILED
        kernel = build_kernel(program, names, None if is_large else "numpy", False)[1]
        return Ready(kernel, len(program.outputs))

    def results(
        self, point: Any, ready: Ready | None = None
    ) -> Iterator[tuple[Columns, list[Any]]]:
        """Yield the rows, some at a time, with a program's results at a point; ``first`` by default.

        Every row has a scale; residuals and derivatives are not multiplied by it yet.
        """
        kernel, count = ready or self.first
        memory = staggered_columns(count, min(PIECE, self.rows))
        values = [np.full(min(PIECE, self.rows), value) for value in point]
        for block in self.blocks():
            scales = 1.0 if block.scale is None else block.scale
            scales = np.broadcast_to(scales, len(block.columns[0]))
            for low in range(0, len(block.columns[0]), PIECE):
                given = [column[low : low + PIECE] for column in block.columns]
                rows = len(given[0])
                kernel([*given, *(x[:rows] for x in values)], memory, 0, rows)
                yield Columns(given, scales[low : low + PIECE]), [one[:rows] for one in memory]

    def erring(self, point: Any) -> Iterator[tuple[Columns, list[Any], list[Any]]]:
        """Yield rows and results of the residual's program, with a bound of the rounding of each result.

        The bounds are of first order, row by row, and those of ``run/arrays/bounds.py``.
        """
        graph, outputs = self.program
        for block, results in self.results(point):
            if self.rule is exact_rule:
                yield block, results, [UNIT * np.abs(one) for one in results]
                continue
            given = dict(zip(self.columns, block.columns, strict=True))
            given |= dict(zip(self.parameters, map(float, point), strict=True))
            bounds = array_data_errors(graph, arrays.forward_arrays(graph, given), outputs)
            shape = results[0].shape
            yield block, results, [np.broadcast_to(bounds[output], shape) for output in outputs]

    def linearized(self, point: Any) -> Linearized | None:
        """Linearize the residuals about a point; None where they, or their derivatives, are not finite."""
        size = len(self.parameters)
        triangle, cost = np.zeros((size + 1, size + 1)), 0.0
        for block, (residual, *slopes, _) in self.results(point):
            rows = np.column_stack([*slopes, residual])
            rows *= block.scale[:, None]
            if self.loss:
                z = (rows[:, size] / self.width) ** 2
                cost += 0.5 * self.width**2 * float(np.sum(LOSSES[self.loss].value(z)))
                rows *= np.sqrt(LOSSES[self.loss].first(z))[:, None]
            if not np.isfinite(rows).all():
                return None
            triangle = stack_triangle(triangle, rows)
        rest = abs(float(triangle[size, size]))
        q = triangle[:size, size]
        if self.loss:
            rest = float(np.sqrt(max(2 * cost - float(q @ q), 0.0)))
        else:
            cost = 0.5 * (float(q @ q) + rest * rest)
        if not (np.isfinite(triangle).all() and cost < inf):
            return None
        return Linearized(triangle[:size, :size], q, rest, cost)

    def curvature(self, point: Any) -> Any:
        """Return the cost's Hessian less J'J, the part of second derivatives and losses."""
        ready, entries = self.second
        size = len(self.parameters)
        found = np.zeros((size, size))
        for block, results in self.results(point, ready):
            residual, *slopes = results[: size + 1]
            weight = block.scale**2 * residual
            if self.loss:
                z = (block.scale * residual / self.width) ** 2
                weight = weight * LOSSES[self.loss].first(z)
                bent = block.scale**2 * 2 * z * LOSSES[self.loss].second(z)
                jacobian = np.column_stack(slopes)
                found += jacobian.T @ (bent[:, None] * jacobian)
            for (row, column), at in entries.items():
                found[row, column] += float(weight @ results[at])
        return found


def fill_truly(
    program: Program, names: Sequence[str], columns: Sequence[Any], out: Sequence[Any], *rows: int
) -> None:
    """Fill some rows of a program's outputs with the doubles nearest to the true numbers."""
    typed = dict.fromkeys(names, "")
    for row in range(*rows):
        given = {name: float(column[row]) for name, column in zip(names, columns, strict=True)}
        numbers, _ = round_outputs(program, given, typed)
        for one, number in zip(out, numbers, strict=True):
            one[row] = number


def stack_triangle(triangle: Any, rows: Any) -> Any:
    """Update a triangle by some more rows."""
    return np.linalg.qr(np.concatenate([triangle, rows]), mode="r")


def least_squares_problem(
    graph: Graph,
    response: int,
    columns: Sequence[str],
    parameters: Sequence[str],
    fixed: Mapping[str, float],
    *rest: Any,
) -> LeastSquaresProblem:
    """Make the problem of a small output of a graph in all rows; ``response`` is the response's node.

    ``fixed`` are values of parameters that are not estimated; ``rest`` are further fields of the problem.
    """
    builder = GraphBuilder(graph.empty())
    inputs = {name: builder.input(name) for name in (*columns, *parameters)}
    inputs |= {name: builder.constant(value) for name, value in fixed.items()}
    images = builder.include(graph, inputs)
    builder.graph.output = images[graph.output]
    return LeastSquaresProblem(builder.graph, images[response], columns, parameters, *rest)


# Scales.


class Scales(NamedTuple):
    """Powers of 2 that scale a problem so that no square of its numbers is beyond the doubles.

    ``powers`` are the exponents: of the residuals' scale, of the rows' factors, and
    of each parameter's unit.
    """

    powers: Any

    @property
    def units(self) -> Any:
        """The parameters' units."""
        return np.ldexp(1.0, self.powers[2:])

    @property
    def size(self) -> float:
        """The scale of rows' residuals, factors included."""
        return float(np.ldexp(1.0, self.powers[0] + self.powers[1]))


def scales_at(problem: LeastSquaresProblem, point: Any, most: int = 0) -> Scales:
    """Return the scales of the numbers at a point; 1 where these are below 2^``most``.

    A parameter's scale is its size, or, where that has no effect, one that explains the responses.
    """
    sizes = np.zeros(2 + len(point))
    for block, (residual, *slopes, response) in problem.results(point):
        for at, part in enumerate([[residual, response], block.scale, *slopes]):
            part = np.abs(part)
            sizes[at] = max(sizes[at], np.max(part, initial=0.0, where=np.isfinite(part)))
    powers = np.frexp(sizes)[1]
    own = np.frexp(point)[1]
    idle = (point == 0) | (own + powers[2:] < powers[0] - SAFE_POWER)
    powers[2:] = np.where(idle & (sizes[2:] > 0), powers[0] - powers[2:], own)
    return Scales(
        np.clip(np.where(np.abs(powers) > most, powers, 0), -LARGEST_POWER, LARGEST_POWER)
    )


def rescale_problem(problem: LeastSquaresProblem, scales: Scales) -> LeastSquaresProblem:
    """Return the problem in some scales."""
    if not scales.powers.any():
        return problem
    residual, weight, *units = map(float, np.ldexp(1.0, scales.powers))
    builder = GraphBuilder(problem.graph.empty())
    inputs = {name: builder.input(name) for name in (*problem.columns, *problem.parameters)}

    def multiply(node: int, unit: float) -> int:
        return builder.apply("mul", node, builder.constant(unit))

    for name, unit in zip(problem.parameters, units, strict=True):
        inputs[name] = multiply(inputs[name], unit)
    images = builder.include(problem.graph, inputs)
    output, response = (
        multiply(images[node], 1 / residual) for node in (problem.graph.output, problem.response)
    )
    builder.graph.output = output

    def weighed() -> Iterator[Columns]:
        for columns, scale in problem.blocks():
            yield Columns(columns, (1.0 if scale is None else scale) / weight)

    names, width = (problem.columns, problem.parameters), problem.width / residual / weight
    return LeastSquaresProblem(
        builder.graph, response, *names, weighed, problem.rows, problem.loss, width, problem.rule
    )


# The search.

NEED = "fits need SciPy"
FINE = 1e-15
"""The relative change at which the trust region stops."""
POINTS = 1000
"""The most points that it tries in doubles, for each parameter."""
TRUE_POINTS = 100
"""The most points that it tries in balls, for each parameter."""
MOST_POLISHING = 100
"""The most steps of the polish."""
SHRINKS = 0.5
"""A step of the polish longer than this part of the one before is one of the last, unless the cost fell."""
FALLS = 0.5
"""The share of a cost below which it fell: it may be on its way to 0."""
AS_GOOD_AS_0 = 1e-6
"""A parameter below this share of the size that would explain all residuals counts as 0."""
SLACK = 1e-9
"""The relative rise of a cost in a step of the polish that rounding explains."""
SECOND_ORDER = 24
"""The most parameters for which second derivatives are formed."""


class LeastSquaresEnd(NamedTuple):
    """The end of a search: the point, the residuals about it, and the number of points it took.

    ``step`` is the next step from there.  ``curvature`` are the eigenvalues of the Hessian less
    J'J, in units of J'J; None where unknown.  ``exhausted`` says that the points ran out.
    """

    point: Any
    linearized: Linearized
    passes: int
    step: Any = None
    curvature: Any = None
    exhausted: bool = False


def descend_residuals(
    problem: LeastSquaresProblem,
    start: Any,
    low: Any,
    high: Any,
    *,
    free: Any = None,
    tolerance: float = FINE,
    most: int = POINTS,
) -> LeastSquaresEnd:
    """Run the trust region from a start within the bounds at which all is finite.

    Only the parameters that are ``free`` move, all by default; ``most`` points are tried for each.  Raises
    ``MissingExtraError`` without SciPy.
    """
    free = np.ones(len(start), dtype=bool) if free is None else free
    most = min(most, TRUE_POINTS) if problem.rule is exact_rule else most
    optimize = import_extra("scipy.optimize", NEED)

    def whole(part: Any) -> Any:
        """All parameters, given those that are free."""
        found = start.copy()
        found[free] = part
        return found

    @lru_cache(maxsize=1)  # residuals and Jacobian are asked for one after the other
    def about(part: bytes) -> Linearized | None:
        return problem.linearized(whole(np.frombuffer(part)))

    def residuals(part: Any) -> Any:
        """q and the rest; nan where something is not finite, which a trust region turns back from."""
        found = about(part.tobytes())
        return np.full(len(start) + 1, np.nan) if found is None else np.append(found.q, found.rest)

    def jacobian(part: Any) -> Any:
        """R above a row of zeros."""
        found = about(part.tobytes())
        assert found is not None
        return np.vstack([found.factor[:, free], np.zeros(np.count_nonzero(free))])

    first = strictly_inside(start[free], low[free], high[free])
    end = optimize.least_squares(
        residuals, first, jacobian, (low[free], high[free]), "trf",
        ftol=tolerance, xtol=tolerance, gtol=tolerance, x_scale="jac", max_nfev=most * len(first),
    )  # fmt: skip
    here = about(end.x.tobytes())
    assert here is not None
    passes = about.cache_info().misses
    return LeastSquaresEnd(whole(end.x), here, passes, exhausted=end.status == 0)


def strictly_inside(start: Any, low: Any, high: Any) -> Any:
    """Move a start strictly inside its bounds, as a trust region requires."""
    room = np.minimum(high - low, np.maximum(np.abs(start), 1.0)) * 1e-8
    return np.clip(start, low + room, high - room)


def polish_fit(
    problem: LeastSquaresProblem, minimum: LeastSquaresEnd, free: Any
) -> LeastSquaresEnd:
    """Polish the minimum to the last digit; only the ``free`` parameters move."""
    tried: list[Linearized | None] = []

    def stage_at(point: Any, here: Linearized) -> NewtonStage:
        step, curvature = next_step(problem, point, here, free)
        end = minimum._replace(point=point, linearized=here, step=step, curvature=curvature)
        return NewtonStage(end, step, relative_length(step, point, here))

    def follow(stages: Sequence[NewtonStage]) -> NewtonStage | None:
        end, step, length = stages[-1]
        if length == 0:
            return None
        tried.append(problem.linearized(end.point + step))
        if tried[-1] is None or tried[-1].cost > end.linearized.cost * (1 + SLACK):
            return None
        return stage_at(end.point + step, tried[-1])

    def falls(before: NewtonStage, after: NewtonStage) -> bool:
        return bool(after.point.linearized.cost < FALLS * before.point.linearized.cost)

    end: LeastSquaresEnd = polish_point(
        stage_at(minimum.point, minimum.linearized), follow, MOST_POLISHING,
        lambda before, after: is_shorter(before, after) or falls(before, after),
        lambda before, after: after.length < SHRINKS * before.length or falls(before, after),
    )[-1].point  # fmt: skip
    return end._replace(passes=minimum.passes + len(tried))


def relative_length(step: Any, point: Any, here: Linearized) -> float:
    """Return a step's length: the greatest change of a parameter relative to its size.

    A parameter of 0, or negligible beside the residuals' effect, takes that effect as its size.
    """
    columns = np.sqrt(np.sum(here.factor**2, axis=0))
    open = np.where(columns > 0, AS_GOOD_AS_0 * here.rest / columns, 0.0)
    size = np.maximum(np.maximum(np.abs(point), open), np.finfo(float).tiny)
    return float(np.max(np.abs(step) / size, initial=0.0))


def by_lengths(factor: Any) -> tuple[Any, Any, Any, Any]:
    """Decompose a triangle, its columns scaled to length 1, by singular values; return the lengths too.

    The product of the first three and the lengths is the triangle.
    """
    lengths = np.sqrt(np.sum(factor**2, axis=0))
    lengths[lengths == 0] = 1.0
    return *np.linalg.svd(factor / lengths), lengths


def next_step(
    problem: LeastSquaresProblem, point: Any, here: Linearized, free: Any
) -> tuple[Any, Any]:
    """Return Newton's step, or that of Gauss and Newton where the Hessian is missing or not positive.

    Also return the eigenvalues of the curvature, in units of J'J.
    """
    chosen = np.flatnonzero(free)
    u, s, vt, lengths = by_lengths(here.factor[:, chosen])
    rank = int(np.count_nonzero(s > s[0] * len(s) * np.finfo(float).eps)) if len(s) else 0
    back = vt[:rank].T / s[:rank]  # from the singular directions to the parameters
    ahead = -(u[:, :rank].T @ here.q)
    eigenvalues = None
    if 0 < rank == len(chosen) <= SECOND_ORDER:
        bent = problem.curvature(point)[np.ix_(chosen, chosen)] / np.outer(lengths, lengths)
        bent = back.T @ bent @ back
        if np.isfinite(bent).all():
            eigenvalues, basis = np.linalg.eigh((bent + bent.T) / 2)
            if eigenvalues[0] > -1:
                ahead = basis @ ((basis.T @ ahead) / (1 + eigenvalues))
    step = np.zeros(len(point))
    step[chosen] = (back @ ahead) / lengths
    return step, eigenvalues
