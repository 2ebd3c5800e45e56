"""A formula along one or two of its inputs, and where to look at its curve.

Value, derivatives and second derivatives come for many points at once, from one derived program, which is
exact in the sense of all derivatives here; in balls it gives what they truly are.

A curve is looked at closely where it bends, and nowhere more closely than a picture shows.  Between two
points a curve with these values and slopes is the cubic of Hermite, which is apart from its chord by at
most 4/27 of what the slopes say more than the chord.  Where that would be seen, there is another point.
The first points are uneven, so that a curve with a period does not look flat.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import combinations_with_replacement
from typing import Any, NamedTuple

import numpy as np

from exprgrad.derive.sweeps.gradient import hessian
from exprgrad.graph.graph import Graph, Program
from exprgrad.run.balls.balls import Ball, ball, evaluate, is_infinite, working
from exprgrad.run.engines.compiled import Kernel, built

__all__ = [
    "JET_BITS", "ORDERS", "Jets", "Samples", "jets_of", "merged", "odd", "overlapping", "rough", "sampled",
    "spread", "window",
]  # fmt: skip

ORDERS = 3
"""The value, the first and the second derivative."""
VISITS, FEWEST_BALLS, MOST_BALLS = 10_000, 64, 1024
"""So many nodes may be visited in balls for a curve, at so many points at least and at most."""
JET_BITS = 256
"""The precision of what balls are asked for: beside a point, where much cancels."""


class Jets(NamedTuple):
    """What evaluates a formula along some of its inputs, ``names``, the others held fixed.

    A jet is the value, the derivative with respect to each name, and the second derivatives of each two
    names: of one name three numbers, of two names six.

    ``given``    a value for each input, in order of appearance; those of ``names`` are not read
    ``outputs``  the nodes of the program that are the jet, None for one that is 0 at every point
    """

    names: tuple[str, ...]
    given: Mapping[str, float]
    program: Program
    outputs: tuple[int | None, ...]
    kernel: Kernel

    def __call__(self, *places: Any) -> Any:
        """The jets at some points, given by one array for each name: a row for each of a jet's numbers."""
        moving = dict(zip(self.names, map(np.ascontiguousarray, places), strict=True))
        points = len(moving[self.names[0]])
        found = np.zeros((len(self.outputs), points))
        if points:
            fixed = {name: np.full(points, value) for name, value in self.given.items()}
            columns = {**fixed, **moving}
            rows = [row for row, node in zip(found, self.outputs, strict=True) if node is not None]
            self.kernel([*columns.values()], rows, 0, points)
        return found

    @property
    def affordable(self) -> int:
        """At how many points balls may be asked for."""
        return min(max(VISITS // len(self.program.graph), FEWEST_BALLS), MOST_BALLS)

    def enclosed(
        self, x: float, around: float = 0.0, beside: float = 0.0, bits: int = JET_BITS
    ) -> list[Ball]:
        """Every node of a curve's program in balls, at ``x + beside`` or over all so far ``around`` it.

        Literals are the decimals typed, and inputs the doubles.
        """
        with working(bits):
            given = {name: ball(value) for name, value in self.given.items()}
            given[self.names[0]] = ball(x) + ball(beside) + type(ball(0))(0, around)
            return evaluate(self.program.graph, given, typed=True)

    def truly(self, x: float, beside: float = 0.0, bits: int = JET_BITS) -> list[Ball]:
        """The jet in balls, a step from a point."""
        values = self.enclosed(x, beside=beside, bits=bits)
        return [ball(0) if node is None else values[node] for node in self.outputs]

    def beside(self, x: float, step: float) -> list[float]:
        """The jet a small step from a point as doubles, free of what rounding would do there.

        What balls do not tell is what doubles say.
        """
        true = [double_of(value) for value in self.truly(x, step)]
        if None not in true:
            return [value for value in true if value is not None]
        plain = self(np.array([x + step]))[:, 0].tolist()
        return [rough if value is None else value for value, rough in zip(true, plain, strict=True)]


def double_of(value: Ball) -> float | None:
    """The double nearest to a ball; None for one that says too little."""
    if value.is_nan() or is_infinite(value):
        return float(value)
    if not value.is_finite() or (value.rel_accuracy_bits() < 24 and not value.is_exact()):
        return None
    return float(value.mid())


def jets_of(graph: Graph, names: Sequence[str], given: Mapping[str, float]) -> Jets:
    """What evaluates a formula of numbers along some inputs; ``given`` has the others' values."""
    program, entries = hessian(graph, names)
    pairs = combinations_with_replacement(range(len(names)), 2)
    second = [program.outputs[entries[pair]] if pair in entries else None for pair in pairs]
    outputs = (*program.outputs[: 1 + len(names)], *second)
    wanted = Program(program.graph, tuple(node for node in outputs if node is not None))
    values = {name: given.get(name, 0.0) for name in graph.inputs}
    _, kernel, _ = built(wanted, tuple(graph.inputs), "numpy", True)
    return Jets(tuple(names), values, wanted, outputs, kernel)


# Where to look.

FIRST_POINTS = 512
"""How many points are looked at first."""
FINEST = 2.0**-13
"""The least distance of two points, where nothing is searched for: a part of the range."""
ROUNDS = 64
"""How often parts are halved at most."""
MOST = 20_000
"""The most points of a curve."""
SEEN = 1 / 1500
"""What is seen of a deviation: a part of the picture's height."""
RUNAWAY, RARE = 5.0, 0.05
"""What runs off so many times as far as the curve goes but for this part at each end is left out."""
OUTER, REACH = 0.2, 1.6
"""The part at each end that does not count where a curve runs off, and how far the rest is exceeded."""
UNSEEN_RISE = 1e-7
"""A rise by less than this part of the picture's height does not matter."""
GOLDEN = (math.sqrt(5) - 1) / 2


class Samples(NamedTuple):
    """Points of a curve from left to right: ``x``, and their ``jets``, an array of shape (3, points)."""

    x: Any
    jets: Any

    @property
    def gaps(self) -> Any:
        """The distance of each point to the next."""
        return np.diff(self.x)


def spread(low: float, high: float) -> Any:
    """The first points: the ends, and one at an uneven place in each of as many parts of equal width."""
    part = (
        np.arange(FIRST_POINTS) + 0.25 + 0.5 * ((np.arange(FIRST_POINTS) * GOLDEN) % 1.0)
    ) / FIRST_POINTS
    inner = low * (1 - part) + high * part
    return np.unique(np.concatenate([[low], inner[(inner > low) & (inner < high)], [high]]))


def merged(jets: Jets, samples: Samples, more: Any) -> Samples:
    """The samples with some more points, in order."""
    new = np.setdiff1d(more, samples.x)
    x, found = np.concatenate([samples.x, new]), np.hstack([samples.jets, jets(new)])
    order = np.argsort(x, kind="stable")
    return Samples(x[order], found[:, order])


def window(
    values: Any, kept: Sequence[float] = (), *, runs_off: bool = True
) -> tuple[float, float]:
    """The values that a picture shows, of a curve looked at evenly, and those in ``kept`` if it can.

    Where a few run off, as to a pole, they would squash all others: then it is what most values are, and
    some more on both sides.  ``runs_off`` says whether what is ``kept`` may run off, too.
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


def rough(samples: Samples, order: int, bounds: tuple[float, float]) -> Any:
    """Which parts between two points are seen to be no chord, of the value or a derivative, by ``order``.

    That a curve ends inside of a part counts, and what is out of the window's ``bounds`` does not.
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


def odd(samples: Samples, order: int, height: float) -> Any:
    """Which parts rise by more or less than any slope between those at their ends would make them.

    Where the slope is monotone the mean value theorem forbids that, though it may be too little to be seen.
    """
    value, slope = samples.jets[order], samples.jets[order + 1]
    rise, width = np.diff(value), samples.gaps
    sides = width * slope[:-1], width * slope[1:]
    beyond = np.maximum(rise - np.maximum(*sides), np.minimum(*sides) - rise)
    return beyond > UNSEEN_RISE * height + 1e-12 * np.abs(value[:-1])


def sampled(
    jets: Jets,
    samples: Samples,
    bounds: Sequence[tuple[float, float]],
    steep: Sequence[tuple[float, float]] = (),
) -> Samples:
    """The samples with as many more as the curve needs, and its slope if there are bounds for two.

    In the parts that are known to be ``steep`` there is no least distance of two points.
    """
    finest = FINEST * (samples.x[-1] - samples.x[0])
    for _ in range(ROUNDS):
        bent = rough(samples, 0, bounds[0])
        for order, bound in enumerate(bounds[1:], 1):
            bent |= rough(samples, order, bound) & (samples.gaps > finest)
        left, right = samples.x[:-1], samples.x[1:]
        bent &= (samples.gaps > finest) | overlapping(left, right, steep)
        middle = (left + (right - left) / 2)[bent]
        middle = middle[(middle > left[bent]) & (middle < right[bent])]
        if not len(middle) or len(samples.x) + len(middle) > MOST:
            break
        samples = merged(jets, samples, middle)
    return samples


def overlapping(low: Any, high: Any, parts: Sequence[tuple[float, float]]) -> Any:
    """Which of some intervals overlap with one of the parts."""
    found = np.zeros(len(low), dtype=bool)
    for start, stop in parts:
        found |= (high > start) & (low < stop)
    return found
