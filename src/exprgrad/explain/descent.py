"""Gradient descent, step by step, and what became of it.

Plain descent, x - rate*gradient, in the words of Cauchy's method: Nocedal and Wright, Numerical
Optimization (2006), section 2.2, with steps of a fixed length for the gradient.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from math import hypot
from typing import Any, Generic, NamedTuple, TypeVar

from exprgrad.errors import InputError, RequestError, whole
from exprgrad.explain.diagnostics import Run
from exprgrad.explain.limits import MOST_STEPS
from exprgrad.language.write.infix import number
from exprgrad.run.evaluation import Diagnostic
from exprgrad.run.values.updates import added, length, same, scaled, trouble

__all__ = ["Descent", "Step", "descend", "divergence"]

R = TypeVar("R", bound=Run)

FALLEN = 1e-10
"""The part of the first gradient's norm that is taken for 0, where no step moves anything any more."""
IN_A_ROW = 5
"""How many rises, each more than the one before, are taken for a runaway; three if there are no more."""


class Step(NamedTuple):
    """A point on the way: inputs and their grads by name, and what was then added to the inputs.

    Values are floats or NumPy arrays.  ``update`` is None at the last point.
    """

    step: int
    value: float
    inputs: dict[str, Any]
    gradient: dict[str, Any]
    update: dict[str, Any] | None


class Descent(NamedTuple, Generic[R]):
    """A descent: its points, from the start to where it ended, and how it ended.

    ``verdict`` is ``converged`` (nothing moves any more), ``stalled`` (so it is, but the gradient has not
    gone down: the rate is too small), ``oscillates`` (it repeats two points for ever), ``diverged``,
    ``nan``, or ``steps``: all were done and none of these holds.  ``message`` says it in words.  ``run``
    is that of the last point.
    """

    steps: list[Step]
    verdict: str
    message: str
    run: R

    @property
    def inputs(self) -> dict[str, Any]:
        """Where it ended: the inputs that were moved."""
        return self.steps[-1].inputs


def descend(
    at: Callable[[Mapping[str, Any]], R],
    inputs: Mapping[str, Any],
    wrt: Sequence[str],
    rate: float,
    count: int,
) -> Descent[R]:
    """From some inputs, ``count`` times against the gradient; with a negative rate, along it.

    ``at`` runs both sweeps at a point; ``wrt`` are the inputs that move.  It stops early where it has
    converged, where it repeats itself, and at what is not finite.  Raises ``InputError`` without inputs,
    and ``RequestError`` for a rate that is 0 or not finite, or steps that are not from 1 to 100,000.
    """
    check(wrt, rate, count)
    count = int(count)
    here = dict(inputs)
    steps: list[Step] = []
    while True:
        run = at(here)
        mine, gradient = {name: here[name] for name in wrt}, run.gradient
        place = Step(len(steps), run.value, mine, gradient, None)
        end = not_finite(place) or at_rest(place)
        if end is None and len(steps) == count:
            end = runaway([*[step.value for step in steps], run.value], rate)
            end = end or ("steps", f"not converged after {count:,} step{'s' * (count != 1)}")
        if end is not None:
            return Descent([*steps, place], *end, run)
        update = {name: scaled(grad, -rate) for name, grad in gradient.items()}
        moved = {name: added(mine[name], update[name]) for name in wrt}
        if all(same(mine[name], moved[name]) for name in wrt):
            return Descent([*steps, place], *unmoved([*steps, place]), run)
        steps.append(place._replace(update=update))
        if len(steps) > 1 and all(same(steps[-2].inputs[name], moved[name]) for name in wrt):
            message = f"from step {len(steps) - 2} on it goes back and forth between two points"
            return Descent([*steps[:-1], place], "oscillates", message, run)
        here |= moved


def divergence(found: Descent[R]) -> list[Diagnostic]:
    """A warning for a descent that diverged, which its last point need not show."""
    if found.verdict != "diverged":
        return []
    graph = found.run.graph
    span = graph.span(graph.output)
    return [
        Diagnostic("diverged", "warning", f"diverged: {found.message}", graph.output, span, None)
    ]


def check(wrt: Sequence[str], rate: float, count: int) -> None:
    """An error for a request with which nothing would move."""
    if not wrt:
        raise InputError("unknown-input", "the formula has no inputs to move")
    if rate == 0 or trouble(rate):
        message = f"a rate of {number(rate)} leads nowhere"
        raise RequestError(
            "bad-value", message, help="it is a number such as 0.1; a negative one climbs"
        )
    steps = whole(count)
    if steps is None:
        raise RequestError("bad-value", f"{count!r} is not a number of steps")
    if not 1 <= steps <= MOST_STEPS:
        message = f"{steps:,} steps are not from 1 to {MOST_STEPS:,}"
        raise RequestError("bad-value", message)


Ending = tuple[str, str]
"""A verdict and a message."""


def not_finite(place: Step) -> Ending | None:
    """The end at a point where an input, the value or a grad is not finite: the first to come about."""
    numbers = [
        *((f"input {name}", value) for name, value in place.inputs.items()),
        ("the value", place.value),
        *((f"the grad of {name}", grad) for name, grad in place.gradient.items()),
    ]
    for what, value in numbers:
        if wrong := trouble(value):
            verdict = "nan" if wrong == "nan" else "diverged"
            return verdict, f"at step {place.step} {what} is {wrong}"
    return None


def at_rest(place: Step) -> Ending | None:
    """The end at a point where the gradient is 0."""
    if all(same(grad, scaled(grad, 0.0)) for grad in place.gradient.values()):
        return "converged", f"at step {place.step} the gradient is 0"
    return None


def unmoved(steps: Sequence[Step]) -> Ending:
    """The end at a point that steps no longer leave: near one where the gradient is 0, or far from it."""
    first, last = (hypot(*map(length, step.gradient.values())) for step in (steps[0], steps[-1]))
    message = f"at step {steps[-1].step} the step is too small to change the inputs in doubles"
    if last <= first * FALLEN:
        return "converged", message
    return "stalled", f"{message}, though the gradient's norm is {last:.3g}: try a larger rate"


def runaway(values: Sequence[float], rate: float) -> Ending | None:
    """Divergence: the last values go the wrong way, each time by more."""
    worse = [(new - old) * rate for old, new in pairwise(values)][-IN_A_ROW:]
    grows = all(old < new for old, new in pairwise(worse))
    if len(worse) < 3 or worse[0] <= 0 or not grows:
        return None
    verb = "rose" if rate > 0 else "fell"
    return (
        "diverged",
        f"the value {verb} at each of the last {len(worse)} steps, ever faster: try a smaller rate",
    )
