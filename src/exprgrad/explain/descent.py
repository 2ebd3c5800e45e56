"""Gradient descent, step by step, and how it ended.

Plain descent, x - rate*gradient, in the words of Cauchy's method: Nocedal and Wright, Numerical
Optimization (2006), section 2.2, with steps of a fixed length for the gradient.  Beside it stand the heavy
ball (Polyak 1964, as PyTorch's SGD writes it), Adam (Kingma and Ba 2015, algorithm 1), and the line search
that halves a step until Armijo's condition holds (Nocedal and Wright, algorithm 3.1).
"""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from math import copysign, hypot, ulp
from typing import Any, Generic, NamedTuple, TypeVar

from exprgrad.errors import InputError, RequestError, command_or_python, whole_number
from exprgrad.explain.diagnostics import DiagnosedRun
from exprgrad.explain.limits import MOST_STEPS, SHARED
from exprgrad.explain.places import find_nan, find_nonfinite, first_place
from exprgrad.language.write.infix import number_text
from exprgrad.run.evaluation import (
    Diagnostic,
    Evaluator,
    Path,
    evaluator_for,
    fewest_right_digits,
    is_finite,
)

__all__ = [
    "Descent", "Method", "Step", "choose_method", "descend_gradient", "divergence_warning",
    "lost_step_warnings", "vector_length",
]  # fmt: skip

R = TypeVar("R", bound=DiagnosedRun)

FALLEN = 1e-10
"""The part of the first gradient's norm that counts as 0 once steps move nothing."""
IN_A_ROW = 5
"""The number of ever larger rises that count as a runaway; three if there are no more."""


ARMIJO = 1e-4
"""The part of the fall promised by the gradient that a step must bring."""
FIRST_MOMENT, SECOND_MOMENT, LEAST_ROOT = 0.9, 0.999, 1e-8
"""Adam's constants, as its authors recommend them."""
FEW_ULPS = 16
"""A fall by fewer ulps than this may be rounding."""
FIRST_SHOWN = 3
"""The most steps with lost digits that are named."""


class Method(NamedTuple):
    """A rule that turns gradients into updates: ``plain``, ``momentum``, ``adam`` or ``line-search``.

    With a ``momentum``, that part of the last update is added.
    """

    name: str = "plain"
    momentum: float = 0.0

    @property
    def has_memory(self) -> bool:
        """Whether an update depends on earlier steps."""
        return self.name in ("momentum", "adam")

    @property
    def usual_rate(self) -> float:
        """The default rate."""
        return 1.0 if self.name == "line-search" else 0.1


def choose_method(momentum: float | None, *, adam: bool, line_search: bool) -> Method:
    """Return the requested method.  Raises ``RequestError`` for two."""
    given = {
        command_or_python("--momentum", "momentum"): momentum is not None,
        command_or_python("--adam", "adam"): adam,
        command_or_python("--line-search", "line_search"): line_search,
    }
    chosen = [name for name, is_given in given.items() if is_given]
    if len(chosen) > 1:
        raise RequestError("usage", f"{' and '.join(chosen)} cannot be combined", help="choose one")
    if momentum is not None:
        return Method("momentum", momentum)
    return Method("adam" if adam else "line-search" if line_search else "plain")


Ending = tuple[str, str]
"""A verdict and a message."""

PLAIN_STEPS = Method()


class Step(NamedTuple):
    """A point on the way: inputs and their grads by name, and the update added to the inputs.

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
    is that of the last point.  It went by a ``method``, at a ``rate``.  ``doubts`` has the numbers of
    which fewer than 6 digits are known to be right: the step, and the path to the value or a grad.
    """

    steps: list[Step]
    verdict: str
    message: str
    run: R
    rate: float
    method: Method = PLAIN_STEPS
    doubts: Sequence[tuple[int, Path]] = ()

    @property
    def lost(self) -> dict[str, Any]:
        """At how many steps the value, and each input's grad, lost digits; without zeros."""
        counts = Counter(path for _, path in self.doubts)
        slopes = {path[1]: count for path, count in counts.items() if path[1:]}
        value = {path[0]: count for path, count in counts.items() if not path[1:]}
        return {**value, "gradient": slopes} if slopes else value

    @property
    def inputs(self) -> dict[str, Any]:
        """The final point: the inputs that moved."""
        return self.steps[-1].inputs


def descend_gradient(
    at: Callable[[Mapping[str, Any]], R],
    inputs: Mapping[str, Any],
    wrt: Sequence[str],
    rate: float,
    count: int,
    method: Method = PLAIN_STEPS,
) -> Descent[R]:
    """Take ``count`` steps against the gradient from some inputs; along it if the rate is negative.

    ``at`` runs both sweeps at a point; ``wrt`` are the inputs that move.  It stops early where it has
    converged, where it repeats itself, and at what is not finite.  Raises ``InputError`` without inputs,
    and ``RequestError`` for a rate that is 0 or not finite, or steps that are not from 1 to 100,000.
    """
    check_descent_request(wrt, rate, count, method)
    is_adam, is_searched = method.name == "adam", method.name == "line-search"
    here, update_of = dict(inputs), adam_update(rate) if is_adam else momentum_update(rate, method)
    steps, doubts = list[Step](), list[tuple[int, Path]]()
    run, reach = at(here), abs(rate)
    evaluator = evaluator_for(run.graph)

    def ended(place: Step, verdict: str, message: str) -> Descent[R]:
        return Descent([*steps[: place.step], place], verdict, message, run, rate, method, doubts)

    while True:
        mine = {name: here[name] for name in wrt}
        place = Step(len(steps), run.value, mine, run.gradient, None)
        doubts += [(place.step, path) for path in doubtful_numbers(evaluator, run)]
        end = find_ending(steps, place, int(count), rate, method)
        if end is not None:
            return ended(place, *end)
        following = None
        if is_searched:
            searched = backtrack(at, here, run, rate)
            if searched is None:
                return ended(place, *no_fall_ending(place, reach))
            reach, following = searched
            update = scale_directions(run.gradient, copysign(reach, -rate))
        else:
            update = update_of(run.gradient)
        moved = {name: add_values(mine[name], update[name]) for name in wrt}
        is_still = all(has_same_numbers(mine[name], moved[name]) for name in wrt)
        if is_still and (not method.has_memory or has_small_gradient([*steps, place])):
            return ended(place, *unmoved_ending([*steps, place]))
        steps.append(place._replace(update=update))
        before = steps[-2].inputs if len(steps) > 1 else {}
        has_returned = before and all(has_same_numbers(before[name], moved[name]) for name in wrt)
        if has_returned and not method.has_memory:
            there = f"from step {len(steps) - 2} on"
            return ended(place, "oscillates", f"{there} it goes back and forth between two points")
        here |= moved
        run = following or at(here)


def doubtful_numbers(evaluator: Evaluator, run: DiagnosedRun) -> list[Path]:
    """Return the numbers at a point with fewer than 6 digits known to be right.

    Nothing where one is not finite, which has its own verdict, nor a grad corrected at a kink.
    """
    graph, (data, grads) = run.graph, evaluator.errors(run.values, run.adjoints)
    numbers: dict[Path, Any] = {("value",): (run.value, data[graph.output])}
    for name, slope in run.gradient.items():
        if name not in run.corrected:
            numbers["gradient", name] = slope, grads[graph.inputs[name]]
    if not all(is_finite(number) for number, _ in numbers.values()):
        return []
    return [path for path, pair in numbers.items() if fewest_right_digits(*pair) < SHARED]


def find_ending(
    steps: Sequence[Step], place: Step, count: int, rate: float, method: Method
) -> Ending | None:
    """Return the ending at a point that is not finite, has a gradient of 0, or is the last."""
    end = nonfinite_ending(place)
    is_flat = all(
        has_same_numbers(grad, scale_value(grad, 0.0)) for grad in place.gradient.values()
    )
    if end is None and is_flat and not (steps and method.has_memory):
        end = "converged", f"at step {place.step} the gradient is 0"
    if end is None and len(steps) == count:
        values = [*[step.value for step in steps], place.value]
        end = runaway_ending(values, rate, has_memory=method.has_memory)
        end = end or ("steps", f"not converged after {count:,} step{'s' * (count != 1)}")
    return end


Update = Callable[[Mapping[str, Any]], dict[str, Any]]
"""A rule for updates: the gradient in, the change of the inputs out; it may remember earlier gradients."""


def scale_directions(directions: Mapping[str, Any], factor: float) -> dict[str, Any]:
    """Multiply directions, by input, by a number."""
    return {name: scale_value(one, factor) for name, one in directions.items()}


def momentum_update(rate: float, method: Method) -> Update:
    """Make steps along a velocity, the momentum times the last one plus the gradient.

    Plain descent has a momentum of 0.
    """
    velocity: dict[str, Any] = {}

    def update(gradient: Mapping[str, Any]) -> dict[str, Any]:
        for name, grad in gradient.items():
            velocity[name] = add_values(grad, scale_value(velocity.get(name, 0.0), method.momentum))
        return scale_directions(velocity, -rate)

    return update


def adam_update(rate: float) -> Update:
    """Make steps along the gradients' mean over the root of their squares' mean, both unbiased."""
    means: dict[str, Any] = {}
    squares: dict[str, Any] = {}
    count = 0

    def update(gradient: Mapping[str, Any]) -> dict[str, Any]:
        nonlocal count
        count += 1
        found = {}
        for name, grad in gradient.items():
            mean, square = means.get(name, 0.0), squares.get(name, 0.0)
            means[name] = running_mean(grad, mean, FIRST_MOMENT)
            squares[name] = running_mean(square_value(grad), square, SECOND_MOMENT)
            first = scale_value(means[name], 1 / (1 - FIRST_MOMENT**count))
            second = scale_value(squares[name], 1 / (1 - SECOND_MOMENT**count))
            found[name] = scale_value(divide_by_stable_root(first, second, LEAST_ROOT), -rate)
        return found

    return update


def running_mean(new: Any, old: Any, share: float) -> Any:
    """Update a running mean: a share of the old one, the rest of the new number."""
    return add_values(scale_value(new, 1 - share), scale_value(old, share))


def backtrack(
    at: Callable[[Mapping[str, Any]], R], here: Mapping[str, Any], run: R, rate: float
) -> tuple[float, R] | None:
    """Halve ``rate`` until the value falls enough; return the rate and the run there.

    Returns None if the inputs stop changing before that.
    """
    gradient, sign, size = run.gradient, copysign(1.0, rate), abs(rate)
    norm = gradient_norm(gradient)
    while True:
        moved = {
            name: add_values(here[name], scale_value(grad, -sign * size))
            for name, grad in gradient.items()
        }
        if all(has_same_numbers(here[name], one) for name, one in moved.items()):
            return None
        trial = at({**here, **moved})
        if sign * (trial.value - run.value) <= -ARMIJO * size * norm * norm:
            return size, trial
        size /= 2


def no_fall_ending(place: Step, reach: float) -> Ending:
    """Return the ending of a line search without a fall; ``reach`` is its last successful step's size."""
    norm = gradient_norm(place.gradient)
    message = f"at step {place.step} no step along the gradient improves the value"
    if reach * norm * norm <= FEW_ULPS * ulp(place.value):
        return "converged", f"{message} in doubles"
    return "stalled", f"{message}, though its norm is {norm:.3g}: is this a kink?"


def divergence_warning(found: Descent[R]) -> list[Diagnostic]:
    """Warn of a descent that diverged, which its last point need not show."""
    graph, message = found.run.graph, f"diverged: {found.message}"
    place = graph.output, graph.span(graph.output)
    told = [Diagnostic("diverged", "warning", message, *place, None)]
    return told if found.verdict == "diverged" else []


def lost_step_warnings(found: Descent[R]) -> list[Diagnostic]:
    """Warn of the steps that lost digits."""
    steps = [*dict.fromkeys(step for step, _ in found.doubts)]
    shown = [*(f"{step:,}" for step in steps[:FIRST_SHOWN]), *(["…"] * (len(steps) > FIRST_SHOWN))]
    count, s = f"{len(steps):,}", "s" * (len(steps) > 1)
    few = f"where fewer than {SHARED} digits of the value or of a grad are known to be right"
    message = f"{count} step{s} {few} (step{s} {', '.join(shown)})"
    place = found.run.graph.output, found.run.graph.span(found.run.graph.output)
    help = "grad prints the true numbers at the inputs of a step"
    return [Diagnostic("digits", "warning", message, *place, help)] if steps else []


def check_descent_request(wrt: Sequence[str], rate: float, count: int, method: Method) -> None:
    """Raise for a request in which nothing would move, or for a momentum that never ends."""
    if not wrt:
        raise InputError("unknown-input", "the formula has no inputs to move")
    if rate == 0 or nonfinite_word(rate):
        message = f"a rate of {number_text(rate)} leads nowhere"
        raise RequestError(
            "bad-value", message, help="it is a number such as 0.1; a negative one climbs"
        )
    if not 0 <= method.momentum < 1:
        message = f"a momentum of {number_text(method.momentum)} is not from 0 to below 1"
        raise RequestError(
            "bad-value", message, help="it is the part of the last update that stays, such as 0.9"
        )
    steps = whole_number(count)
    if steps is None:
        raise RequestError("bad-value", f"{count!r} is not a number of steps")
    if not 1 <= steps <= MOST_STEPS:
        raise RequestError("bad-value", f"{steps:,} steps are not from 1 to {MOST_STEPS:,}")


def nonfinite_ending(place: Step) -> Ending | None:
    """Return the ending at a point that is not finite: an input, the value or a grad, the first of them."""
    numbers = [
        *((f"input {name}", value) for name, value in place.inputs.items()),
        ("the value", place.value),
        *((f"the grad of {name}", grad) for name, grad in place.gradient.items()),
    ]
    for what, value in numbers:
        if wrong := nonfinite_word(value):
            return (
                "nan" if wrong == "nan" else "diverged",
                f"at step {place.step} {what} is {wrong}",
            )
    return None


def gradient_norm(gradient: Mapping[str, Any]) -> float:
    """Return the norm of a gradient over all inputs."""
    return hypot(*map(vector_length, gradient.values()))


def has_small_gradient(steps: Sequence[Step]) -> bool:
    """Whether the gradient is small enough to count as 0."""
    return gradient_norm(steps[-1].gradient) <= gradient_norm(steps[0].gradient) * FALLEN


def unmoved_ending(steps: Sequence[Step]) -> Ending:
    """Return the ending at a point that steps no longer leave, near a gradient of 0 or far from it."""
    message = f"at step {steps[-1].step} the step is too small to change the inputs in doubles"
    if has_small_gradient(steps):
        return "converged", message
    return (
        "stalled",
        f"{message}, though the gradient's norm is {gradient_norm(steps[-1].gradient):.3g}: "
        "try a larger rate",
    )


def runaway_ending(values: Sequence[float], rate: float, *, has_memory: bool) -> Ending | None:
    """Return divergence if the last values go the wrong way, each time by more.

    With a memory they may do so on a swing, which never leads above its start.
    """
    if has_memory and (values[-1] - values[0]) * rate <= 0:
        return None
    worse = [(new - old) * rate for old, new in pairwise(values)][-IN_A_ROW:]
    grows = all(old < new for old, new in pairwise(worse))
    if len(worse) < 3 or worse[0] <= 0 or not grows:
        return None
    verb = "rose" if rate > 0 else "fell"
    return (
        "diverged",
        f"the value {verb} at each of the last {len(worse)} steps, ever faster: try a smaller rate",
    )


# What moves inputs: numbers and tensors scaled, added and compared.


def without_numpy_warnings(operation: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap arithmetic so that it does not warn, whether its first operand is a number or a tensor."""

    def apply(value: Any, *others: Any) -> Any:
        if isinstance(value, float):
            return operation(value, *others)
        from exprgrad.run.arrays.arrays import without_warnings

        return without_warnings(operation, value, *others)

    return apply


scale_value = without_numpy_warnings(lambda value, factor: factor * value + 0.0)
"""A number or a tensor times a number; overflow is an infinity, and no zero is negative."""
add_values = without_numpy_warnings(operator.add)
"""A number or a tensor plus its update."""
square_value = without_numpy_warnings(lambda value: value * value)
"""The square of a number, or of each number of a tensor; overflow is an infinity."""
divide_by_stable_root = without_numpy_warnings(
    lambda value, square, least: value / (square**0.5 + least)
)
"""A number or a tensor over the root of another, to which ``least`` is added."""


def has_same_numbers(one: Any, other: Any) -> bool:
    """Whether two numbers or tensors are equal, each number to its last bit; -0 is 0."""
    return first_place(one != other) is None


def vector_length(value: Any) -> float:
    """A number's size, or a tensor's norm: the root of its sum of squares."""
    if isinstance(value, float):
        return abs(value)
    from exprgrad.run.arrays.arrays import measure_tensor

    return measure_tensor(value).norm


def nonfinite_word(value: Any) -> str:
    """Return ``nan`` or ``infinite`` if a number, or one in a tensor, is that; else nothing."""
    return "nan" if find_nan(value) else "infinite" if find_nonfinite(value) else ""
