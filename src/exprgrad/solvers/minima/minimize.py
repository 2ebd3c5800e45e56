"""A minimum of a formula: the search from one start or several, and the answer with its verdict."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np

from exprgrad.errors import InputError
from exprgrad.explain.diagnostics import DiagnosedRun
from exprgrad.explain.limits import side_limit_reason
from exprgrad.explain.places import to_scalar_run
from exprgrad.graph.graph import Graph
from exprgrad.run.balls.balls import has_balls
from exprgrad.run.evaluation import Flag, evaluator_for, shapes_of
from exprgrad.run.values.ranges import Interval
from exprgrad.solvers.minima.constraints import (
    Constraint,
    read_constraints,
    rests_on_noise,
    search_constrained,
)
from exprgrad.solvers.minima.search import (
    Box,
    Counts,
    Objective,
    PointLayout,
    SearchCourse,
    Turn,
    Vector,
    trust_region_search,
    vector_norm,
)
from exprgrad.solvers.minima.switches import judge_at_switches
from exprgrad.solvers.minima.verdicts import Active, Judged, judge_smooth, six_digits, verdict_text

__all__ = ["Minimum", "Resting", "Stage", "Wanted", "minimize_formula", "value_alone"]

Found = TypeVar("Found", bound=DiagnosedRun)
RunAt = Callable[[Vector], Found]
"""Runs both sweeps at a point."""

SEARCH_STEPS = 1000
"""The base of a search's default limit of steps."""
STEPS_EACH = 10
"""The steps that each number adds to that limit."""
MOST_STEPS_AT_ALL = 10_000
"""The greatest default limit."""
MOST_SIDES = 200
"""The most moving numbers of a formula that is checked for kinks."""
ASIDE = 1e-9
"""The distance at which a jump is sought, relative to the point."""
SMALLEST_JUMP = 1e-6
"""The least size of a jump, relative to the value."""
MOST_SLOPES = 2
"""The most inputs whose slopes at a kink are listed."""
MOST_IN_BALLS = 10_000
"""The most nodes times moving numbers for a search in balls, which takes a second or two."""
AROUND = 3.0
"""The sigma of the normal distribution of other starts, relative to the given start's numbers."""
ALIKE = 1e-6
"""Minima nearer to each other than this, relative to the point, are one."""
RESTARTS = 20
"""The restarts from a lower point beside a kink, or where the Hessian is singular."""


class Wanted(NamedTuple):
    """The request beyond the formula and the start.

    ``bounds`` are the least and the greatest value by input, for a tensor of each number;
    ``subject`` are constraints as texts, ``most`` is how many steps a search takes at most.
    """

    bounds: Mapping[str, Interval] = {}
    subject: tuple[str, ...] = ()
    maximize: bool = False
    most: int | None = None
    starts: int = 1
    seed: int = 0


class Stage(NamedTuple):
    """A point on the way; ``slope`` is the gradient's norm, ``moved`` the distance from the one before."""

    step: int
    value: float
    inputs: dict[str, Any]
    slope: float
    moved: float


class Resting(NamedTuple):
    """A minimum, with the number of ``starts`` that led to it."""

    point: dict[str, Any]
    value: float
    starts: int


class Minimum(NamedTuple, Generic[Found]):
    """The end of a search for a minimum, and the verdict on it.

    ``point``      the inputs that were moved, by name
    ``value``      the formula's true value there
    ``verdict``    ``minimum`` (or ``maximum``), ``saddle``, ``flat``, ``unbounded``, ``kink`` or ``not
                   converged``
    ``message``    the same in words, with the evidence
    ``direction``  by name, the direction in which the value goes down, or hardly changes, or falls for ever
    ``curvature``  the least and the greatest eigenvalue of the Hessian over the numbers that are free; None
                   where it is not known
    ``active``     the constraints and bounds that press on the point, with their multipliers
    ``residual``   the norm of what these leave of the gradient; None without constraints
    ``kinks``      the operations that have a kink at the point
    ``slopes``     there, by input, the derivatives from the left and the right; None where there is none
    ``is_found``   whether a minimum, or the requested maximum, was shown to be there
    ``counts``     the number of evaluations of value, gradient and Hessian
    ``stages``     the way, from the start on
    ``run``        both sweeps at the point
    ``places``     for several starts, the minima found, the lowest first
    """

    point: dict[str, Any]
    value: float
    verdict: str
    message: str
    direction: dict[str, Any] | None
    curvature: tuple[float, float] | None
    active: tuple[Active, ...]
    residual: float | None
    kinks: tuple[str, ...]
    slopes: dict[str, tuple[float | None, float | None]]
    is_found: bool
    counts: Counts
    stages: list[Stage]
    run: Found
    places: Sequence[Resting] = ()

    def __repr__(self) -> str:
        at = ", ".join(f"{name} = {value}" for name, value in self.point.items())
        return f"{self.verdict} at {at}, where the value is {self.value}: {self.message}"


def minimize_formula(
    at: Callable[[Mapping[str, Any]], Found],
    graph: Graph,
    inputs: Mapping[str, Any],
    wrt: Sequence[str],
    wanted: Wanted,
) -> Minimum[Found]:
    """Search a minimum by moving ``wrt``; ``at`` runs both sweeps at a point.

    Raises ``InputError`` where no input moves.
    """
    if not wrt:
        raise InputError("unknown-input", "the formula has no inputs to move")
    for name in wanted.bounds:
        if name not in wrt:
            raise InputError(
                "unknown-input",
                f"'{name}' has bounds, but it does not move",
                help=f"those that move are {', '.join(wrt)}",
            )
    shapes = shapes_of({name: inputs[name] for name in wrt})
    layout = PointLayout({name: x for name, x in inputs.items() if name not in shapes}, shapes)
    objective = Objective(graph, layout, -1.0 if wanted.maximize else 1.0)
    bounds = [wanted.bounds.get(name, Interval(-math.inf, math.inf)) for name in layout.shapes]
    sizes = [math.prod(shape) for shape in layout.shapes.values()]
    box = Box(*np.repeat(np.array(bounds, dtype=np.float64), sizes, axis=0).T)
    limits = read_constraints(wanted.subject, inputs, layout)
    most = wanted.most
    if most is None:
        most = min(max(SEARCH_STEPS, STEPS_EACH * layout.size), MOST_STEPS_AT_ALL)
    ends: list[tuple[SearchCourse, Judged]] = []

    def run_at(point: Vector) -> Found:
        return at({**layout.fixed, **layout.named(point)})

    with np.errstate(all="ignore"):
        for start in starts_drawn(layout.vector(inputs), box, wanted.starts, wanted.seed):
            ends.append(search_with_verdict(run_at, objective, limits, start, box, most))
    places = distinct_minima(ends, objective)
    course, found = min(ends, key=rank_end)
    return minimum_by_name(run_at, objective, course, found)._replace(places=places)


def starts_drawn(start: Vector, box: Box, count: int, seed: int) -> Iterator[Vector]:
    """Yield the given start, then others within bounds, or around it where these are infinite."""
    yield start
    chance = np.random.default_rng(seed)
    low, high = box
    bounded = np.isfinite(low) & np.isfinite(high)
    for _ in range(count - 1):
        inside = low + (high - low) * chance.random(len(start))
        around = start + AROUND * np.maximum(np.abs(start), 1.0) * chance.standard_normal(
            len(start)
        )
        yield box.clipped(np.where(bounded, inside, around))


def rank_end(end: tuple[SearchCourse, Judged]) -> tuple[bool, float]:
    """Return a key that sorts ends: unbounded first, then by value; no finite value comes last."""
    course, found = end
    if found.kind == "unbounded":
        return False, -math.inf
    value = course.last.value
    return not math.isfinite(value), value


def distinct_minima(
    ends: Sequence[tuple[SearchCourse, Judged]], objective: Objective
) -> list[Resting]:
    """Return the minima that searches led to, each once, the lowest first, with their counts."""
    if len(ends) == 1:
        return []
    found: list[tuple[Turn, int]] = []
    for course, _ in sorted([end for end in ends if is_shown(end[1])], key=rank_end):
        here = course.last
        for k, (other, count) in enumerate(found):
            if vector_norm(here.at - other.at) <= ALIKE * other.size:
                found[k] = other, count + 1
                break
        else:
            found.append((here, 1))
    sign, layout = objective.sign, objective.layout
    return [Resting(layout.named(here.at), sign * here.value, count) for here, count in found]


def search_with_verdict(
    at: RunAt[Found],
    objective: Objective,
    limits: Sequence[Constraint],
    start: Vector,
    box: Box,
    most: int,
) -> tuple[SearchCourse, Judged]:
    """Search and judge; where rounding may decide the verdict, do so again in balls."""
    course, found = descend_below_verdict(at, objective, limits, start, box, most)
    here = course.last
    numbers = objective_over_numbers(at, objective, here)
    if (
        numbers is None
        or len(numbers.graph) * len(here.at) > MOST_IN_BALLS
        or not has_balls()
        or any(one.function.graph.shapes for one in limits)
        or not rests_on_noise(numbers, limits, here, found, box)
    ):
        return course, found
    limits = [one._replace(function=one.function.in_balls) for one in limits]
    left = max(most - len(course.turns) + 1, 0)
    more, truly = descend_below_verdict(at, numbers.in_balls, limits, here.at, box, left)
    if truly.reason == "undefined":  # at a kink, or at an edge
        return course, found
    return replace(more, turns=[*course.turns[:-1], *more.turns]), truly


def objective_over_numbers(at: RunAt[Found], objective: Objective, here: Turn) -> Objective | None:
    """Return a function over numbers; None where there are too many to write out."""
    if not objective.graph.shapes:
        return objective
    if objective.layout.size > MOST_SIDES or side_limit_reason(run := at(here.at)):
        return None
    over, names = to_scalar_run(run).run, objective.layout.names()
    fixed = {name: value for name, value in over.inputs.items() if name not in names}
    layout = PointLayout(fixed, dict.fromkeys(names, ()))
    return Objective(over.graph, layout, objective.sign, objective.counts)


def descend_below_verdict(
    at: RunAt[Found],
    objective: Objective,
    limits: Sequence[Constraint],
    start: Vector,
    box: Box,
    most: int,
) -> tuple[SearchCourse, Judged]:
    """Search; without constraints go on as long as the verdict has a lower point."""
    if limits:
        return search_constrained(objective, limits, start, box, most)
    course = trust_region_search(objective, start, box, most)
    found = judge_smooth(objective, course, box)
    for left in reversed(range(RESTARTS)):
        if found.kind != "unbounded" and found.reason != "undefined":
            before = course.last
            switched = at_switch(at, objective, course, box, most)
            if switched is None and course.last is not before:
                switched = judge_smooth(objective, course, box)
            found = switched or found
        if (
            found.lower is None
            or found.kind == "unbounded"
            or len(course.turns) > (most if left else 0)
        ):
            break
        more = trust_region_search(objective, found.lower, box, most - len(course.turns))
        course = SearchCourse([*course.turns, *more.turns], more.reason, more.blocked, more.way)
        found = judge_smooth(objective, course, box)
    return course, found


def at_switch(
    at: RunAt[Found], objective: Objective, course: SearchCourse, box: Box, most: int
) -> Judged | None:
    """Judge at kinks and edges, number by number for tensors; None if there are none."""
    numbers = objective_over_numbers(at, objective, course.last)
    if numbers is None or numbers.layout.size > MOST_SIDES or side_limit_reason(at(course.last.at)):
        return None
    found = judge_at_switches(numbers, course, box, most)
    return found or judge_kink_by_axes(at(course.last.at), numbers, course.last, box)


def judge_kink_by_axes(
    run: DiagnosedRun, objective: Objective, here: Turn, box: Box
) -> Judged | None:
    """Judge an isolated kink, or a jump, by one input at a time."""
    met = {run.label(one.node): one.code for one in run.remarks if isinstance(one, Flag)}
    if "jump" in met.values():
        for way in np.concatenate([np.eye(len(here.at)), -np.eye(len(here.at))]):
            trial = box.clipped(here.beside(ASIDE, way))
            if objective.value(trial) < here.value - SMALLEST_JUMP * max(abs(here.value), 1.0):
                return Judged("kink", "jump", way, kinks=tuple(met))
    sides = [(side.left, side.right) for side in run.one_sided.values()]
    if not sides or not (met or not np.all(np.isfinite(here.slope))):
        return None
    sign = objective.sign
    reason = "ledge" if set(met.values()) == {"jump"} else "level"
    if all(
        left is not None and right is not None and sign * left < 0 < sign * right
        for left, right in sides
    ):
        reason = "sharp" if len(here.at) == 1 else "axes"
    return Judged("kink", reason, kinks=tuple(met) or (run.output_label,))


def minimum_by_name(
    at: RunAt[Found],
    objective: Objective,
    course: SearchCourse,
    found: Judged,
) -> Minimum[Found]:
    """Make the answer, with its numbers by name."""
    layout, here, sign = objective.layout, course.last, objective.sign
    point, run, verdict, ends = layout.named(here.at), at(here.at), found.kind, found.values
    if sign < 0:
        verdict = "maximum" if verdict == "minimum" else verdict
        ends = None if ends is None else (-ends[1], -ends[0])
    slopes = (
        {name: (side.left, side.right) for name, side in run.one_sided.items()}
        if found.kinks
        else {}
    )
    sides = ""
    for name, pair in [*slopes.items()][:MOST_SLOPES]:
        left, right = ("unknown" if slope is None else six_digits(slope) for slope in pair)
        sides += f"; along {name} the slopes are {left} and {right}"
    turns = course.turns
    stages = [
        Stage(
            step,
            sign * turn.value,
            layout.named(turn.at),
            vector_norm(turn.slope),
            0.0 if turn is last else vector_norm(turn.at - last.at),
        )
        for step, (last, turn) in enumerate(zip([turns[0], *turns], turns, strict=False))
    ]
    return Minimum(
        point,
        value_alone(run).true.value,
        verdict,
        verdict_text(found, course, layout, sign) + sides,
        None if found.direction is None else layout.named(found.direction),
        ends,
        tuple([Active(text, sign * pressure + 0.0) for text, pressure in found.active]),
        found.residual,
        found.kinks,
        slopes,
        is_shown(found),
        objective.counts,
        stages,
        run,
    )


def value_alone(run: Found) -> Found:
    """Return a run without its gradient, which has no right digits where it is 0."""
    return type(run).of(run.text, evaluator_for(run.graph), run.inputs, spelled=run.spelled)


def is_shown(found: Judged) -> bool:
    """Whether a minimum was shown to be there."""
    return found.kind == "minimum" or (found.kind == "kink" and found.reason == "sharp")
