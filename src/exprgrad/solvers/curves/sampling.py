"""Sample a formula along one input, adaptively, or over two inputs, on a grid.

One derived program, exact in the sense of all derivatives here, gives values, first and second
derivatives at many points at once; in balls it encloses their true values.

Samples are dense where the curve bends, down to what a picture can show.  Between two samples the
curve is assumed to be the Hermite cubic of their values and slopes, which departs from its chord by at
most 4/27 of the slopes' excess over the chord's; where that is visible, a sample is added.
The first samples are unevenly spaced, lest a periodic curve look flat.

Over two inputs the gradient, and the points where it is 0, are found on a grid.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations_with_replacement, product
from typing import Any, NamedTuple

import numpy as np

from exprgrad.derive.search import root_search
from exprgrad.derive.sweeps.gradient import hessian_entries
from exprgrad.graph.graph import Graph, Program
from exprgrad.graph.ops import is_root
from exprgrad.run.arrays import arrays
from exprgrad.run.arrays.bounds import array_data_errors
from exprgrad.run.balls.balls import (
    Ball,
    evaluate_in_balls,
    exact_ball,
    is_infinite,
    working_precision,
)
from exprgrad.run.engines.compiled import Kernel, build_kernel
from exprgrad.run.values.ranges import Interval

__all__ = [
    "FIRST_POINTS", "JET_BITS", "LONGEST_AXIS", "ORDERS", "SEEN", "UNSEEN_RISE", "Jets", "Plane", "Samples",
    "blurred_values", "first_points", "jets_of", "legible_jets", "merge_samples", "overlapping_intervals",
    "refine_samples", "rough_parts", "sample_plane", "uneven_parts", "value_window",
]  # fmt: skip

ORDERS = 3
"""The value, the first and the second derivative."""
VISITS = 10_000
"""The most nodes visited in balls for a curve."""
FEWEST_BALLS = 64
"""The fewest points in balls, however large the formula is."""
MOST_BALLS = 1024
"""The most points in balls, however small the formula is."""
ROOT_VISITS = 6_000_000
"""The most nodes visited in searches for a curve's roots."""
ROOT_TURNS = 16
"""The turns that each of these searches counts as."""
FEWEST_POINTS = 32
"""The fewest points of a curve that has roots in it."""
FEWEST_BRACKETS = 8
"""The fewest places of such a curve that may be halved down to doubles."""
JET_BITS = 256
"""The precision of balls beside a point, where much cancels."""


class Jets(NamedTuple):
    """An evaluator of a formula along some of its inputs, ``names``, the others held fixed.

    A jet is the value, the derivative with respect to each name, and the second derivatives of each two
    names: of one name three numbers, of two names six.

    ``given``    a value for each input, in order of appearance; those of ``names`` are not read
    ``outputs``  the nodes of the program that are the jet, None for one that is 0 at every point
    ``most``     the most points of a curve that are evaluated
    """

    names: tuple[str, ...]
    given: Mapping[str, float]
    program: Program
    outputs: tuple[int | None, ...]
    kernel: Kernel
    most: int

    def __call__(self, *places: Any) -> Any:
        """Return the jets at some points, an array for each name: a row for each of a jet's numbers."""
        columns = self.columns(places)
        points = len(columns[self.names[0]])
        found = np.zeros((len(self.outputs), points))
        if points:
            rows = [row for row, node in zip(found, self.outputs, strict=True) if node is not None]
            self.kernel([*columns.values()], rows, 0, points)
        return found

    def columns(self, places: Sequence[Any]) -> dict[str, Any]:
        """Return every input at some points, in order of appearance."""
        moving = dict(zip(self.names, map(np.ascontiguousarray, places), strict=True))
        points = len(moving[self.names[0]])
        return {name: np.full(points, value) for name, value in self.given.items()} | moving

    def errors(self, found: Any, *places: Any) -> Any:
        """Bound the rounding of the jets ``found`` at some points, in the same rows.

        Where bounds are unknown, as after an overflow, balls decide.
        """
        columns, graph = self.columns(places), self.program.graph
        errors = array_data_errors(
            graph, arrays.forward_arrays(graph, columns), self.program.outputs
        )
        rows = [0.0 if node is None else errors[node] for node in self.outputs]
        off = np.array([np.broadcast_to(row, found.shape[1:]) for row in rows])
        off[np.isnan(off)] = math.inf
        unknown = np.nonzero((np.isinf(off) & np.isfinite(found)).any(axis=0))[0]
        for at in unknown[:MOST_BALLS] if len(self.names) == 1 else ():
            true = map(double_of, self.truly(float(places[0][at])))
            off[:, at] = abs(found[:, at] - [math.inf if one is None else one for one in true])
        return off

    @property
    def affordable(self) -> int:
        """The most places that may be halved down to doubles."""
        return min(max(self.most // 12, FEWEST_BRACKETS), self.balls)

    @property
    def balls(self) -> int:
        """The most points that may be evaluated in balls."""
        return min(max(VISITS // len(self.program.graph), FEWEST_BALLS), MOST_BALLS)

    def enclosed(
        self, x: float, around: float = 0.0, beside: float = 0.0, bits: int = JET_BITS
    ) -> list[Ball]:
        """Enclose every node of a curve's program, at ``x + beside`` or over everything ``around`` it.

        Literals are the decimals typed, and inputs the doubles.
        """
        with working_precision(bits):
            given = {name: exact_ball(value) for name, value in self.given.items()}
            given[self.names[0]] = (
                exact_ball(x) + exact_ball(beside) + type(exact_ball(0))(0, around)
            )
            return evaluate_in_balls(self.program.graph, given, typed=True)

    def truly(self, x: float, beside: float = 0.0, bits: int = JET_BITS) -> list[Ball]:
        """Enclose the jet a step from a point."""
        values = self.enclosed(x, beside=beside, bits=bits)
        return [exact_ball(0) if node is None else values[node] for node in self.outputs]

    def beside(self, x: float, step: float) -> list[float]:
        """Return the jet a small step from a point as doubles, free of rounding there.

        Where balls do not tell, doubles decide.
        """
        true = [double_of(value) for value in self.truly(x, step)]
        plain = self([x + step])[:, 0].tolist() if None in true else true
        return [rough if value is None else value for value, rough in zip(true, plain, strict=True)]


def double_of(value: Ball) -> float | None:
    """Return the double nearest to a ball; None for one that is too wide."""
    if value.is_nan() or is_infinite(value):
        return float(value)
    if not value.is_finite() or (value.rel_accuracy_bits() < 24 and not value.is_exact()):
        return None
    return float(value.mid())


def jets_of(graph: Graph, names: Sequence[str], given: Mapping[str, float]) -> Jets:
    """Make the evaluator of a formula of numbers along some inputs; ``given`` has the others' values."""
    program, entries = hessian_entries(graph, names)
    pairs = combinations_with_replacement(range(len(names)), 2)
    second = [program.outputs[entries[pair]] if pair in entries else None for pair in pairs]
    outputs = (*program.outputs[: 1 + len(names)], *second)
    wanted = Program(program.graph, tuple(node for node in outputs if node is not None))
    values = {name: given.get(name, 0.0) for name in graph.inputs}
    _, kernel, _ = build_kernel(wanted, tuple(graph.inputs), "numpy", True)
    most = min(ROOT_VISITS // max(visits_in_roots(wanted.graph), 1), MOST)
    return Jets(tuple(names), values, wanted, outputs, kernel, max(most, FEWEST_POINTS))


def visits_in_roots(graph: Graph) -> int:
    """Count the nodes visited at a point in searches for roots, nested ones as often as they run."""
    todo, found = [(graph, 1)], 0
    while todo and found < ROOT_VISITS:
        graph, times = todo.pop()
        for kind in graph.kinds:
            if is_root(kind):
                inner = root_search(kind)[2].graph
                found += times * ROOT_TURNS * len(inner)
                todo.append((inner, times * ROOT_TURNS))
    return found


# Where to look.

LONGEST_AXIS = 1e307
"""The largest number on an axis: beyond it pictures overflow."""
HIGHEST_CONTOUR = 1e240
"""The largest number of a contour, for the same reason."""
FIRST_POINTS = 512
"""The number of first points."""
FINEST = 2.0**-13
"""The least distance of two points outside searches, as a part of the range."""
ROUNDS = 64
"""The most halvings of a part."""
MOST = 20_000
"""The most points of a curve."""
SEEN = 1 / 1500
"""The smallest visible deviation, as a part of the picture's height."""
BLUR = 1 / 20
"""A point with an error above this part of the height, about a terminal's row, is left out."""
RUNAWAY = 5.0
"""Ends are cut off if they run this many times as far as the values between them."""
RARE = 0.05
"""The part of the values at each end that count as such ends."""
OUTER = 0.2
"""The part of the values at each end that is ignored where a curve runs off."""
REACH = 1.6
"""The window's margin around the rest, as a part of their height."""
UNSEEN_RISE = 1e-7
"""A rise below this part of the picture's height does not matter."""
GOLDEN = (math.sqrt(5) - 1) / 2


class Samples(NamedTuple):
    """Points of a curve from left to right: ``x``, and their ``jets``, an array of shape (3, points)."""

    x: Any
    jets: Any

    @property
    def gaps(self) -> Any:
        """The distances from each point to the next."""
        return np.diff(self.x)


def first_points(low: float, high: float, most: int = FIRST_POINTS) -> Any:
    """Return the first points: the ends, and one at an uneven place in each of equally wide parts."""
    at = np.arange(min(most, FIRST_POINTS))
    part = (at + 0.25 + 0.5 * ((at * GOLDEN) % 1.0)) / len(at)
    inner = low * (1 - part) + high * part
    return np.unique(np.concatenate([[low], inner[(inner > low) & (inner < high)], [high]]))


def merge_samples(jets: Jets, samples: Samples, more: Any) -> Samples:
    """Merge more points into the samples, in order."""
    new = np.setdiff1d(more, samples.x)
    x, found = np.concatenate([samples.x, new]), np.hstack([samples.jets, jets(new)])
    order = np.argsort(x, kind="stable")
    return Samples(x[order], found[:, order])


def value_window(
    values: Any, kept: Sequence[float] = (), *, runs_off: bool = True
) -> tuple[float, float]:
    """Return the window of values to show, from evenly spread values, with those in ``kept`` if possible.

    Where a few run off, as to a pole, they would squash all others: the window then holds most values, and
    a margin on both sides.  ``runs_off`` says whether the ``kept`` values may run off, too.
    """
    finite = values[np.isfinite(values)]
    if not len(finite):
        return -1.0, 1.0
    low, high = min([float(finite.min()), *kept]), max([float(finite.max()), *kept])
    first, last, least, most = np.quantile(finite, [OUTER, 1 - OUTER, RARE, 1 - RARE]).tolist()
    if not high - low > RUNAWAY * (most - least):
        return low, high
    reach = REACH * (last - first)
    if runs_off:
        kept = [x for x in kept if first - 3 * reach < x < last + 3 * reach]
    return max(low, min([first - reach, *kept])), min(high, max([last + reach, *kept]))


def blurred_values(
    values: Any, errors: Any, bounds: tuple[float, float], part: float = BLUR
) -> Any:
    """Flag values off by more than a ``part`` of a picture's height, unless they are surely outside it."""
    low, high = bounds
    is_beyond = (values - errors > high) | (values + errors < low)
    return np.isfinite(values) & ~(errors <= part * (high - low)) & ~is_beyond


def legible_jets(
    jets: Any, errors: Any, frame: Callable[[Any], Sequence[tuple[float, float]]]
) -> Any:
    """Return the jets without the numbers that cannot be placed in the picture.

    ``frame`` finds its windows.  A row without any number left is level if its numbers may be equal.
    """
    lost = np.zeros(jets.shape, dtype=bool)
    while True:
        kept = np.where(lost, np.nan, jets)
        more = np.array([*map(blurred_values, jets, errors, frame(kept))])
        if not (more & ~lost).any():
            break
        lost |= more
    for row in np.nonzero(lost.any(axis=1) & ~np.isfinite(kept).any(axis=1))[0]:
        best = np.argmin(np.where(lost[row], errors[row], np.inf))
        level = jets[row, best] if abs(jets[row, best]) > errors[row, best] else 0.0
        is_level = ~(np.abs(jets[row] - level) > errors[row] + errors[row, best])
        kept[row] = level if is_level.all() else jets[row]
    return kept


def rough_parts(samples: Samples, order: int, bounds: tuple[float, float]) -> Any:
    """Flag the parts between two points that visibly differ from their chord, by ``order``.

    A curve's end inside a part counts; anything outside the window's ``bounds`` does not.
    """
    low, high = bounds
    value, slope = samples.jets[order], samples.jets[order + 1]
    width = samples.gaps
    rise = np.diff(value)
    apart = np.abs(slope[:-1] * width - rise) + np.abs(slope[1:] * width - rise)
    bent = ~(apart * (4 / 27) <= SEEN * (high - low) + 4e-16 * (abs(low) + abs(high)))
    is_finite = np.isfinite(value)
    ends = is_finite[:-1] != is_finite[1:]
    above, below = value > high, value < low
    beyond = (above[:-1] & above[1:]) | (below[:-1] & below[1:])
    return ends | (bent & is_finite[:-1] & is_finite[1:] & ~beyond)


def uneven_parts(samples: Samples, order: int, height: float) -> Any:
    """Flag the parts whose rise does not lie between those by the slopes at their two ends.

    By the mean value theorem it does where the slope is monotone; elsewhere the part is refined.
    """
    value, slope = samples.jets[order], samples.jets[order + 1]
    rise, width = np.diff(value), samples.gaps
    sides = width * slope[:-1], width * slope[1:]
    beyond = np.maximum(rise - np.maximum(*sides), np.minimum(*sides) - rise)
    return beyond > UNSEEN_RISE * height + 1e-12 * np.abs(value[:-1])


def refine_samples(
    jets: Jets,
    samples: Samples,
    bounds: Sequence[tuple[float, float]],
    steep: Sequence[tuple[float, float]] = (),
    lost: Sequence[tuple[float, float]] = (),
) -> Samples:
    """Refine the samples as the curve needs, and its slope if there are bounds for two.

    In parts known to be ``steep`` there is no least distance of two points.  Where digits are
    ``lost`` there is nothing to see.
    """
    finest = FINEST * (samples.x[-1] - samples.x[0])
    for _ in range(ROUNDS):
        bent = rough_parts(samples, 0, bounds[0])
        for order, bound in enumerate(bounds[1:], 1):
            bent |= rough_parts(samples, order, bound) & (samples.gaps > finest)
        left, right = samples.x[:-1], samples.x[1:]
        bent &= (samples.gaps > finest) | overlapping_intervals(left, right, steep)
        bent &= ~overlapping_intervals(left, right, lost)
        middle = (left + (right - left) / 2)[bent]
        middle = middle[(middle > left[bent]) & (middle < right[bent])]
        if not len(middle) or len(samples.x) + len(middle) > jets.most:
            break
        samples = merge_samples(jets, samples, middle)
    return samples


def overlapping_intervals(low: Any, high: Any, parts: Sequence[tuple[float, float]]) -> Any:
    """Flag the intervals that overlap with one of the parts."""
    found = np.zeros(len(low), dtype=bool)
    for start, stop in parts:
        found |= (high > start) & (low < stop)
    return found


# Over two inputs.

POINTS = 121
"""The points of the grid along each input: an odd number, so that the middle is among them."""
ARROWS = 19
"""The arrows of the gradient's field, along each input."""
TURNS = 60
"""The most steps of Newton's method."""
APART = 1e-6
"""Critical points nearer to each other than this part of the range are one."""
NOTHING = 1e-12
"""A coordinate below this part of a cell is 0, and values this near are level."""
BEYOND_CELL = 2.0
"""The most cells between a critical point and the place where it was suspected."""


class StationaryPoint(NamedTuple):
    """A point where the gradient is 0: ``minimum``, ``maximum``, ``saddle``, or ``flat`` one way."""

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
    ``window``     the range of values shown
    ``field``      the gradient at some points
    ``critical``   the points where it is 0, as far as the grid shows
    ``lost``       how many values are left out for having too few right digits
    ``path``       the points of a requested descent; ``ending`` says how it ended
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
    critical: list[StationaryPoint]
    lost: int
    path: list[tuple[float, float]]
    ending: str


@np.errstate(all="ignore")  # as in a curve
def sample_plane(
    text: str,
    graph: Graph,
    spans: Mapping[str, Interval],
    given: Mapping[str, float],
    shown: tuple[float, float] | None = None,
) -> Plane:
    """Sample a formula of numbers over the ranges of two inputs."""
    first, second = spans
    ranges = spans[first], spans[second]
    at = jets_of(graph, (first, second), given)
    x, y = (np.linspace(low, high, POINTS) for low, high in ranges)
    across, up = (part.ravel() for part in np.meshgrid(x, y))
    found = at(across, up)
    off = at.errors(found, across, up)
    kept = legible_jets(found, off, lambda jets: [*map(height_shown, jets)])
    windows = [*map(height_shown, kept)]
    lost = np.array([*map(blurred_values, found, off, windows)])
    found[lost] = math.nan
    critical = [*critical_points_of_plane(at, x, y, found)]
    bounds = shown or height_shown(kept[0], [one.value for one in critical])
    return Plane(
        text,
        (first, second),
        ranges,
        dict(given),
        x.tolist(),
        y.tolist(),
        found[0].reshape(POINTS, POINTS).tolist(),
        bounds,
        [*gradient_arrows(at, ranges, windows)],
        critical,
        int(np.count_nonzero(lost[0])),
        [],
        "",
    )


def height_shown(values: Any, kept: Sequence[float] = ()) -> tuple[float, float]:
    """Return the range of values that a map shows, with those in ``kept``; level values get a margin."""
    low, high = value_window(np.clip(values, -HIGHEST_CONTOUR, HIGHEST_CONTOUR), kept)
    is_level = not high - low > NOTHING * max(abs(low), abs(high))
    return (low - 1.0, high + 1.0) if is_level else (low, high)


def gradient_arrows(
    at: Jets, ranges: Sequence[Interval], windows: Sequence[tuple[float, float]]
) -> Iterator[Arrow]:
    """Yield the gradient in the middle of cells, where it has right digits and is not 0."""
    sides = [low + (high - low) * (np.arange(ARROWS) + 0.5) / ARROWS for low, high in ranges]
    across, up = (part.ravel() for part in np.meshgrid(*sides))
    found = at(across, up)
    found[np.array([*map(blurred_values, found, at.errors(found, across, up), windows)])] = math.nan
    _, dx, dy, *_ = found
    for arrow in zip(across.tolist(), up.tolist(), dx.tolist(), dy.tolist(), strict=True):
        if all(map(math.isfinite, arrow)) and any(arrow[2:]):
            yield Arrow(*arrow)


def critical_points_of_plane(at: Jets, x: Any, y: Any, found: Any) -> Iterator[StationaryPoint]:
    """Find where the gradient is 0, by Newton's method from each cell in which both parts change sign."""
    changing = np.ones((POINTS - 1, POINTS - 1), dtype=bool)
    for part in found[1:3]:
        grid = part.reshape(POINTS, POINTS)
        corners = [grid[a : a + POINTS - 1, b : b + POINTS - 1] for a, b in product((0, 1), (0, 1))]
        changing &= np.isfinite(corners).all(axis=0)
        changing &= (np.min(corners, axis=0) <= 0) & (np.max(corners, axis=0) >= 0)
    rows, columns = np.nonzero(changing)
    low, step, high = (np.array([[x[at]], [y[at]]]) for at in (0, 1, -1))
    step = step - low
    starts = np.array([x[columns], y[rows]]) + step / 2
    points = starts
    for _ in range(TURNS):
        _, dx, dy, xx, xy, yy = at(*points)
        move = np.array([dx * yy - dy * xy, dy * xx - dx * xy]) / (xx * yy - xy * xy)
        points, moved = points - move, np.abs(move / step).sum(axis=0)
        if not np.any(moved > 1e-15):
            break
    near = (np.abs(points - starts) <= BEYOND_CELL * step) & (points >= low) & (points <= high)
    points = points[:, near.all(axis=0) & (moved < APART)]
    listed: list[Any] = []
    for point in np.where(np.abs(points) < NOTHING * step, 0.0, points).T:
        if all(np.max(np.abs(point - other) / step.T) > POINTS * APART for other in listed):
            listed.append(point)
    if listed:
        values = at(*np.transpose(listed))
        for (a, b), (value, _, _, xx, xy, yy) in zip(
            np.array(listed).tolist(), values.T.tolist(), strict=True
        ):
            nothing = 4 * (abs(xx) + 2 * abs(xy) + abs(yy)) * max(math.ulp(a), math.ulp(b)) ** 2
            height = 0.0 if abs(value) <= nothing else value
            yield StationaryPoint(critical_kind(xx, xy, yy), a, b, height)


def critical_kind(xx: float, xy: float, yy: float) -> str:
    """Classify a critical point by the signs of the Hessian's eigenvalues."""
    mean, half = xx / 2 + yy / 2, math.hypot(xx / 2 - yy / 2, xy)
    low, high = mean - half, mean + half
    if min(abs(low), abs(high)) <= 1e-12 * max(abs(low), abs(high)):
        return "flat"
    return "minimum" if low > 0 else "maximum" if high < 0 else "saddle"
