"""How many digits of an answer over tensors are right, and what becomes of the numbers with too few.

Bounds are arrays.  Where they do not cover the digits that are asked for, and the tensors are small enough,
each number is one of a formula that is written out, and is settled like any other.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from itertools import product
from typing import Any

from exprgrad.explain.diagnostic import Diagnostic, Guarded, Path, Settled
from exprgrad.explain.digits.truths import Written, label_of
from exprgrad.explain.digits.warnings import part, uncertain
from exprgrad.explain.places import at, where
from exprgrad.explain.sides.kinks import OneSided
from exprgrad.graph.graph import MOST_ELEMENTS, Shape, dependencies, place_of, size
from exprgrad.run.arrays.bounds import right_digits
from exprgrad.run.evaluation import Run

__all__ = ["guarded_tensors"]

Bounds = dict[Path, tuple[float, float]]
"""Numbers, and what each may be off by."""
Counts = Mapping[Path, Any]
"""By field of an answer, how many digits of its number, or of each of its tensor's numbers, are right."""


def guarded_tensors(
    run: Run,
    answer: Guarded,
    sides: Iterable[OneSided],
    least: int,
    settled: Callable[[Bounds, Callable[[], Written]], Settled],
) -> Guarded:
    """An answer of whose numbers at least so many digits have to be right.

    ``sides`` are what corrected numbers of the gradient at kinks; ``settled`` says what becomes of numbers.
    """
    data, grads = run.errors
    values: dict[Path, Any] = {("value",): answer.value}
    errors: dict[Path, Any] = {("value",): data[run.graph.output]}
    for name, slope in answer.gradient.items():  # what comes of no value may be anything
        error = grads[run.graph.inputs[name]] if answer.value == answer.value else math.inf
        values["gradient", name], errors["gradient", name] = slope, error
    corrected = {("gradient", side.input, *end_of_path(side.place)): side.error for side in sides}
    counts = {path: right_digits(value, errors[path]) for path, value in values.items()}
    fewest = {path: int(number.min()) for path, number in counts.items()}
    counted = with_digits(run, answer, fewest)
    if min(fewest.values()) >= least and not corrected:
        return counted
    if sum(map(size, run.graph.shapes)) > MOST_ELEMENTS:
        told = too_large(run, values, counts, data, grads, least)
        return counted._replace(diagnostics=tuple(told))
    bounds: Bounds = {}
    for path, value in values.items():
        for place in places_of(value):
            off = errors[path]
            number = path if not place else (*path, *end_of_path(place))
            error = at(off, place) if getattr(off, "shape", ()) else float(off)
            bounds[number] = at(value, place), 0.0 if number in corrected else error
    found = settled(bounds, lambda: Written(run))
    for number, error in corrected.items():
        found.digits[number] = int(right_digits(found.values[number], error))
    return assembled(run, answer, values, found)


def end_of_path(place: Shape) -> tuple[str, ...]:
    """The end of the path of a tensor's number."""
    return (str([*place]),) if place else ()


def places_of(value: Any) -> Iterable[Shape]:
    """The places of a tensor's numbers; the only one of a number is ``()``."""
    return product(*map(range, getattr(value, "shape", ())))


def with_digits(run: Run, answer: Guarded, counts: Mapping[Path, int]) -> Guarded:
    """An answer, and how many digits are right."""
    digits: dict[str, Any] = {"value": counts["value",]}
    if run.adjoints is not None:
        digits["gradient"] = {path[1]: n for path, n in counts.items() if path[0] == "gradient"}
    return answer._replace(digits=digits)


def assembled(run: Run, answer: Guarded, values: Mapping[Path, Any], found: Settled) -> Guarded:
    """An answer whose numbers are settled: tensors are put together again."""
    least: dict[Path, int] = {}
    fresh: dict[Path, Any] = {}
    for path, value in values.items():
        numbers = {place: (*path, *end_of_path(place)) for place in places_of(value)}
        least[path] = min(found.digits[number] for number in numbers.values())
        for place, number in numbers.items():
            if number in found.corrected and place:
                fresh.setdefault(path, value.copy())[place] = found.values[number]
            elif number in found.corrected:
                fresh[path] = found.values[number]
    gradient, corrected = {**answer.gradient}, {**answer.corrected}
    for (field, *names), value in fresh.items():
        if field == "gradient":
            (name,) = names
            gradient[name] = value
            corrected[name] = corrected.get(name, (run.swept[name],))[0], value
    value = fresh.get(("value",), answer.value)
    both = (answer.value, value) if ("value",) in fresh else None
    answer = Guarded(value, gradient, corrected, {}, both, found.diagnostics)
    return with_digits(run, answer, least)


def too_large(
    run: Run, values: Mapping[Path, Any], counts: Counts, data: Any, grads: Any, least: int
) -> Iterable[Diagnostic]:
    """Warnings about numbers of a formula that is too large to be written out: what bounds tell."""
    elements = sum(map(size, run.graph.shapes))
    help = (
        f"the truth is worked out for up to {MOST_ELEMENTS:,} elements over all nodes, and this formula "
        f"has {elements:,}: try fewer rows, or fewer columns"
    )
    for path, number in counts.items():
        poor = where(number < least)
        if poor is None:
            continue
        shape = getattr(values[path], "shape", ())
        label, worst = label_of(run, path), ""
        if shape:
            label = f"{part(poor.many, poor.of)} {label}"
            worst = str([*place_of(int(number.argmin()), shape)])
        node = first_drop(run, path, data, grads, least)
        yield Diagnostic(
            "lost-digits",
            "warning",
            uncertain(label, int(number.min()), worst),
            node,
            run.graph.span(node),
            f"{run.label(node)} is the first to lose them; {help}",
        )


def first_drop(run: Run, path: Path, data: Any, grads: Any, least: int) -> int:
    """The first node whose data, or whose grad, has too few digits for certain, on the way to a number."""
    graph = run.graph
    used = dependencies(graph, graph.output)
    for node, operands in enumerate(graph.operands):
        if operands and used[node] and right_digits(run.values[node], data[node]).min() < least:
            return node
    if path[0] == "gradient":
        behind = graph.inputs[path[1]]
        assert run.adjoints is not None
        for node in run.adjoints.order:
            grad = run.adjoints.grads[node]
            if grad is not None and right_digits(grad, grads[node]).min() < least:
                return node
        return behind
    return graph.output
