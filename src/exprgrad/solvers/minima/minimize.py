"""A minimum of a formula: the search from one start or several, and the answer with its verdict."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np

from exprgrad.errors import InputError
from exprgrad.explain.diagnostics import Run
from exprgrad.graph.graph import Graph
from exprgrad.run.values.ranges import Interval
from exprgrad.solvers.minima.objective import Counts, Layout, Objective
from exprgrad.solvers.minima.steps import norm
from exprgrad.solvers.minima.trust_region import Box, Course, search
from exprgrad.solvers.minima.verdicts import Judged, judged
from exprgrad.solvers.minima.wording import worded

__all__ = ["SEARCH_STEPS", "Minimum", "Stage", "Wanted", "minimize"]

Found = TypeVar("Found", bound=Run)

SEARCH_STEPS = 1000
"""The most steps of a search, unless another number is asked for."""
RESTARTS = 5
"""How often a search goes on from a lower point beside one where the Hessian is singular."""


class Wanted(NamedTuple):
    """What is asked for beside the formula and the start.

    ``bounds`` are the least and the greatest value by input, of a tensor each of its numbers';
    ``subject`` are constraints as texts, ``most`` is how many steps a search takes at most.
    """

    bounds: Mapping[str, Interval] = {}
    subject: tuple[str, ...] = ()
    maximize: bool = False
    most: int = SEARCH_STEPS
    starts: int = 1
    seed: int = 0


class Stage(NamedTuple):
    """A point on the way; ``slope`` is the gradient's norm, ``moved`` how far the one before is."""

    step: int
    value: float
    inputs: dict[str, Any]
    slope: float
    moved: float


class Minimum(NamedTuple, Generic[Found]):
    """Where a search for a minimum ended, and what can be said of it.

    ``point``      the inputs that were moved, by name
    ``value``      the formula's value there
    ``verdict``    ``minimum`` (or ``maximum``), ``saddle``, ``flat``, ``unbounded``, ``kink`` or ``not
                   converged``
    ``message``    the same in words, with what shows it
    ``direction``  by name, the direction in which the value goes down, or hardly changes, or falls for ever
    ``curvature``  the least and the greatest eigenvalue of the Hessian over the numbers that are free; None
                   where it is not known
    ``counts``     how often value, gradient and Hessian were worked out
    ``stages``     the way, from the start on
    ``run``        both sweeps at the point
    """

    point: dict[str, Any]
    value: float
    verdict: str
    message: str
    direction: dict[str, Any] | None
    curvature: tuple[float, float] | None
    counts: Counts
    stages: list[Stage]
    run: Found

    @property
    def is_good(self) -> bool:
        """Whether it is a minimum, or the maximum that was asked for."""
        return self.verdict in ("minimum", "maximum")


def minimize(
    at: Callable[[Mapping[str, Any]], Found],
    graph: Graph,
    inputs: Mapping[str, Any],
    wrt: Sequence[str],
    wanted: Wanted,
) -> Minimum[Found]:
    """The minimum that a search from some inputs comes to, moving ``wrt``; ``at`` runs both sweeps at a
    point.

    Raises ``InputError`` where no input moves.
    """
    if not wrt:
        raise InputError("unknown-input", "the formula has no inputs to move")
    for name in wanted.bounds:
        if name not in wrt:
            message = f"'{name}' has bounds, but it does not move"
            raise InputError("unknown-input", message, help=f"those that move are {', '.join(wrt)}")
    layout = Layout.of(inputs, wrt)
    objective = Objective(graph, layout, -1.0 if wanted.maximize else 1.0)
    box = box_of(layout, wanted.bounds)
    with np.errstate(all="ignore"):
        course = search(objective, layout.vector(inputs), box, wanted.most)
        found = judged(objective, course, box)
        for _ in range(RESTARTS):
            if found.kind != "flat" or found.lower is None or len(course.turns) > wanted.most:
                break
            more = search(objective, found.lower, box, wanted.most - len(course.turns))
            course = Course([*course.turns, *more.turns], more.reason, more.blocked, more.way)
            found = judged(objective, course, box)
    return answered(at, objective, course, found, box)


def box_of(layout: Layout, bounds: Mapping[str, Interval]) -> Box:
    """The bounds of every number."""
    ends = [bounds.get(name, Interval(-math.inf, math.inf)) for name in layout.shapes]
    sizes = [math.prod(shape) for shape in layout.shapes.values()]
    low, high = (
        np.repeat([end[side] for end in ends], sizes).astype(np.float64) for side in (0, 1)
    )
    return Box(low, high)


def answered(
    at: Callable[[Mapping[str, Any]], Found],
    objective: Objective,
    course: Course,
    found: Judged,
    box: Box,
) -> Minimum[Found]:
    """The answer, with its numbers by name."""
    layout, here = objective.layout, course.last
    point = layout.named(here.at)
    run = at({**layout.fixed, **point})
    verdict = found.kind
    if objective.sign < 0 and verdict == "minimum":
        verdict = "maximum"
    sign = objective.sign
    ends = found.values
    if ends is not None and sign < 0:
        ends = -ends[1], -ends[0]
    return Minimum(
        point,
        run.value,
        verdict,
        worded(found, course, layout, box, sign),
        None if found.direction is None else layout.named(found.direction),
        ends,
        objective.counts,
        stages(course, layout, sign),
        run,
    )


def stages(course: Course, layout: Layout, sign: float) -> list[Stage]:
    """The way, by name."""
    before = [course.turns[0], *course.turns]
    return [
        Stage(
            step,
            sign * turn.value,
            layout.named(turn.at),
            norm(turn.slope),
            norm(turn.at - last.at),
        )
        for step, (last, turn) in enumerate(zip(before, course.turns, strict=False))
    ]
