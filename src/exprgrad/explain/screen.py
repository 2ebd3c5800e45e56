"""How many digits of an answer are right, as far as error bounds tell; where too few are, balls say more.

A bound takes little more time than the sweeps, so that every answer has one.  Nothing else is loaded where
the bounds cover the digits that are asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from math import inf, isfinite, isnan
from typing import TYPE_CHECKING

from exprgrad.derive.rules import computed
from exprgrad.explain.diagnostic import Guarded, Path, Settled
from exprgrad.run.evaluation import Floats, Run, evaluator_for
from exprgrad.run.numbers.bounds import data_errors, right_digits
from exprgrad.run.numbers.sweeps import forward

if TYPE_CHECKING:
    from exprgrad.explain.digits.truths import Source, Swept
    from exprgrad.explain.sides.kinks import OneSided
    from exprgrad.run.matrices import Question

__all__ = ["answered", "doubtful", "resolved", "screened"]

MOST_COUNTED = 15
"""A double has so many digits that can be right whatever the number is."""


def screened(
    run: Run,
    answer: Guarded,
    sides: Mapping[str, OneSided],
    digits: int,
    source: Callable[[], Swept],
) -> Guarded:
    """An answer that is shown with so many digits, and how many of them are right.

    ``answer`` has the sweep's numbers, but for those corrected at a kink, as its ``sides`` say; ``source``
    is asked for the truth about numbers where it is needed.
    """
    evaluator = evaluator_for(run.graph)
    corrected = [side for side in sides.values() if side.corrected]
    if not isinstance(evaluator, Floats):
        from exprgrad.explain.digits.tensors import guarded_tensors

        least = min(digits, MOST_COUNTED)
        return guarded_tensors(
            run, answer, corrected, least, lambda bounds, source: resolved(bounds, digits, source)
        )
    errors = {side.input: side.error for side in corrected}
    data, grads = run.errors
    bounds: dict[Path, tuple[float, float]] = {("value",): (run.value, data[run.graph.output])}
    gradient, has_value = {}, not isnan(run.value)
    for name, slope in answer.gradient.items():
        if name in answer.corrected:
            gradient[name] = right_digits(slope, errors.get(name, 0.0))
        else:
            error = grads[run.graph.inputs[name]] if has_value else inf
            bounds["gradient", name] = slope, error

    found = resolved(bounds, digits, source)
    slopes = found.among("gradient")
    gradient |= {name: count for (name,), count in slopes.digits.items()}
    counts = {"value": found.digits["value",]}
    return Guarded(
        found.values["value",],
        answer.gradient | {name: slope for (name,), slope in slopes.values.items()},
        answer.corrected | {name: both for (name,), both in slopes.corrected.items()},
        counts if run.adjoints is None else {**counts, "gradient": gradient},
        found.corrected.get(("value",)),
        found.diagnostics,
    )


def doubtful(
    run: Run, nodes: Sequence[int], digits: int, source: Callable[[], Swept]
) -> tuple[set[int], set[int]]:
    """The nodes of which the data, or the grad, has fewer right digits than so many, for certain.

    Bounds say where that may be, and only there balls are asked.  Nothing is said of tensors, nor of what
    is not finite.
    """
    if run.graph.shapes:
        return set(), set()
    least, (data, grads) = min(digits, MOST_COUNTED), run.errors

    def poor(numbers: Sequence[float | None], errors: Sequence[float]) -> list[int]:
        """The nodes that may be meant, as far as bounds tell."""
        return [
            node
            for node in nodes
            if (number := numbers[node]) is not None
            and isfinite(number)
            and right_digits(number, errors[node]) < least
        ]

    some = poor(run.values, data)
    others = poor(run.adjoints.grads, grads) if run.adjoints is not None else []
    if not (some or others):
        return set(), set()
    from exprgrad.run.balls.balls import has_balls

    if not has_balls():
        return set(), set()
    from exprgrad.explain.digits.doubts import confirmed

    return confirmed(run, source().found, some, others, least)


def answered(
    text: str,
    question: Question,
    label: Callable[[Path], str],
    digits: int,
    unseen: Collection[str] = (),
) -> Settled:
    """What becomes of the numbers of a question's answer, which are shown with so many digits.

    ``label`` is what messages call them; fields that are ``unseen`` are not asked for.
    """
    graph, nodes = question.derive(question.graph, computed, None)
    data = forward(graph, question.inputs)
    errors = data_errors(graph, data, nodes.values())

    def source() -> Source:
        from exprgrad.explain.digits.truths import Derived

        run = Run(text, graph, question.inputs, data)
        return Derived(question, run, nodes, label)

    bounds = {
        path: (data[node], errors[node]) for path, node in nodes.items() if path[0] not in unseen
    }
    return resolved(bounds, digits, source)


def resolved(
    bounds: Mapping[Path, tuple[float, float]], digits: int, source: Callable[[], Source]
) -> Settled:
    """What becomes of numbers that are shown with so many digits, given what each may be off by.

    ``source`` is asked for the truth where too few digits are right.
    """
    least = min(digits, MOST_COUNTED)
    values = {path: value for path, (value, _) in bounds.items()}
    counts = {path: right_digits(*bound) for path, bound in bounds.items()}
    found = Settled(values, counts, {})
    poor = [path for path, count in counts.items() if count < least]
    if not poor:
        return found
    from exprgrad.explain.digits.guard import guarded, unproved
    from exprgrad.run.balls.balls import has_balls

    # There are no wheels of python-flint in a browser, say.
    return (guarded if has_balls() else unproved)(found, poor, least, source())
