"""How many digits of an answer over tensors are right, and what becomes of the numbers with too few.

Bounds are arrays.  Where they do not cover the digits that are asked for, and the tensors are small enough,
each number is one of a formula that is written out, and is settled like any other.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from exprgrad.errors import advice
from exprgrad.explain.digits.truths import Label, Source, Spread, label_of
from exprgrad.explain.digits.warnings import part, uncertain
from exprgrad.explain.places import at, where
from exprgrad.explain.sides.kinks import OneSided
from exprgrad.graph.graph import MOST_ELEMENTS, Shape, dependencies, place_of, size
from exprgrad.run.arrays.arrays import stretched
from exprgrad.run.arrays.bounds import data_errors, right_digits
from exprgrad.run.evaluation import ArrayBounds, Arrays, Diagnostic, Guarded, Path, Run, Settled
from exprgrad.run.matrices import BY_OUTPUT, Kind, Point, blocks
from exprgrad.run.numbers.bounds import DOUBLE_DIGITS

__all__ = ["answered_tensors", "guarded_tensors"]

MOST_DERIVED = 2**17
"""For how many nodes of derived graphs the truth is worked out, about: that takes seconds."""
Bounds = dict[Path, tuple[float, float]]
"""Numbers, and what each may be off by."""
Resolve = Callable[[Bounds, Callable[[], Source]], Settled]
"""What says what becomes of numbers, given what each may be off by, and where the truth comes from."""
Tensors = Mapping[Path, Any]
"""Numbers and tensors by their paths in an answer."""
TooLarge = Callable[[Path], tuple[str, int, str]]
"""What is said of a tensor of a formula that is too large: its label, the node to blame, and its text."""


def guarded_tensors(
    run: Run,
    answer: Guarded,
    sides: Iterable[OneSided],
    least: int,
    settled: Callable[[Bounds], Settled],
    *,
    has_value: bool,
) -> Settled:
    """What becomes of a value, if it is shown, and a gradient with so many digits.

    ``sides`` are what corrected numbers of the gradient at kinks; ``settled`` says what becomes of numbers.
    """
    data, grads = run.errors
    values: dict[Path, Any] = {("value",): answer.value} if has_value else {}
    errors: dict[Path, Any] = {("value",): data[run.graph.output]}
    is_nan = answer.value != answer.value  # an output with a gradient is a number
    for name, slope in answer.gradient.items():  # what comes of no value may be anything
        error = math.inf if is_nan else grads[run.graph.inputs[name]]
        values["gradient", name], errors["gradient", name] = slope, error
    corrected = [*sides]
    for side in corrected:  # a rule for one side has found it: balls know no kinks
        path = "gradient", side.input
        errors[path] = without(errors[path], side.place, getattr(values[path], "shape", ()))

    def blame(path: Path) -> tuple[str, int, str]:
        node = first_drop(run, path, data, grads, least)
        return label_of(run, path), node, run.label(node)

    found = settled_tensors(run, values, errors, least, settled, blame)
    for side in corrected:
        path = "gradient", side.input
        count = int(right_digits(at(found.values[path], side.place), side.error))
        found.digits[path] = min(found.digits[path], count)
    for number, (_, fresh) in found.corrected.items():
        if number[1:]:
            found.corrected[number] = run.swept[number[1]], fresh
    return found


def answered_tensors(
    run: Run,
    point: Point,
    kind: Kind,
    fields: Mapping[str, Any],
    label: Label,
    least: int,
    resolve: Resolve,
) -> Settled:
    """What becomes of the numbers of an answer's ``fields``: see ``diagnostics.answered``.

    The question is asked again of the formula that is written out.
    """
    assert isinstance(point.evaluator, Arrays)
    graph = run.graph
    data = data_errors(graph, run.values, point.outputs.values())
    off = {name: data[node] for name, node in point.outputs.items()}
    bounds_of = kind.sweep(point._replace(evaluator=ArrayBounds(point.evaluator)))
    values, errors = blocks(fields), blocks({"value": off, **bounds_of})

    def blame(path: Path) -> tuple[str, int, str]:
        field, *names = path
        last = point.outputs if field in BY_OUTPUT else graph.inputs
        used = dependencies(graph, *point.outputs.values())
        node = first_poor(run, data, used, least)
        return (
            label(field, [(name, ()) for name in names]),
            last[names[0]] if node is None else node,
            "" if node is None else run.label(node),
        )

    def settled(bounds: Bounds) -> Settled | None:
        if len(bounds) > MOST_ELEMENTS:
            return None
        source = Spread(run, point, kind, label)
        return resolve(bounds, lambda: source) if source.work(bounds) <= MOST_DERIVED else None

    return settled_tensors(run, values, errors, least, settled, blame)


def settled_tensors(
    run: Run,
    values: Tensors,
    errors: Tensors,
    least: int,
    settled: Callable[[Bounds], Settled | None],
    blame: TooLarge,
) -> Settled:
    """What becomes of tensors and numbers: those with too few right digits are settled one by one.

    Bounds alone speak where the formula is too large for that, or ``settled`` says that they are too many.
    """
    counts = {path: right_digits(value, errors[path]) for path, value in values.items()}
    fewest = {path: int(count.min()) for path, count in counts.items()}
    many = sum(int((count < least).sum()) for count in counts.values())
    elements = sum(map(size, run.graph.shapes))
    known = Settled({**values}, fewest, {})
    if not many:
        return known
    if elements <= MOST_ELEMENTS:
        found = one_by_one(values, errors, counts, least, settled)
        if found is not None:
            return found
        help = f"the truth about {many:,} numbers would take too long: ask for fewer, by " + advice(
            "--wrt or --of", "wrt=['a', 'b'] or of=['y']"
        )
    else:
        help = (
            f"the truth is worked out for up to {MOST_ELEMENTS:,} elements over all nodes, and this "
            f"formula has {elements:,}: try fewer rows, or fewer columns"
        )
    told = by_bounds(run, counts, least, blame, help)
    return known._replace(diagnostics=tuple(told))


def one_by_one(
    values: Tensors,
    errors: Tensors,
    counts: Tensors,
    least: int,
    settled: Callable[[Bounds], Settled | None],
) -> Settled | None:
    """What becomes of tensors whose numbers with too few right digits are settled by themselves."""
    flat = {path: count.reshape(-1).copy() for path, count in counts.items()}
    places: dict[Path, tuple[Path, Shape]] = {}
    bounds: Bounds = {}
    for path, value in values.items():
        shape = getattr(value, "shape", ())
        for index in (flat[path] < least).nonzero()[0].tolist():
            place = place_of(index, shape)
            number = (*path, *end_of_path(place))
            places[number] = path, place
            bounds[number] = at(value, place), at(stretched(errors[path], shape), place)
            flat[path][index] = DOUBLE_DIGITS
    found = settled(bounds)
    if found is None:
        return None
    fewest = {path: int(count.min()) for path, count in flat.items()}
    fresh: dict[Path, Any] = {}
    for number, (path, place) in places.items():
        fewest[path] = min(fewest[path], found.digits[number])
        if number in found.corrected and place:
            fresh.setdefault(path, values[path].copy())[place] = found.values[number]
        elif number in found.corrected:
            fresh[path] = found.values[number]
    corrected = {path: (values[path], value) for path, value in fresh.items()}
    return found._replace(values={**values, **fresh}, digits=fewest, corrected=corrected)


def without(error: Any, place: Shape, shape: Shape) -> Any:
    """What numbers may be off by, but for one that is off by nothing."""
    if not place:
        return 0.0
    left = stretched(error, shape).copy()
    left[place] = 0.0
    return left


def end_of_path(place: Shape) -> tuple[str, ...]:
    """The end of the path of a tensor's number."""
    return (str([*place]),) if place else ()


def by_bounds(
    run: Run, counts: Tensors, least: int, blame: TooLarge, help: str
) -> Iterator[Diagnostic]:
    """Warnings about numbers of which nothing is known but what bounds tell; the first has help."""
    for path, number in counts.items():
        poor = where(number < least)
        if poor is None:
            continue
        (label, node, first), worst = blame(path), ""
        if number.shape:
            label = f"{part(poor.many, poor.of)} {label}"
            worst = str([*place_of(int(number.argmin()), number.shape)])
        why = [f"{first} is the first to lose them"] if first else []
        yield Diagnostic(
            "lost-digits",
            "warning",
            uncertain(label, int(number.min()), worst),
            node,
            run.graph.span(node),
            "; ".join([*why, help]) or None,
        )
        help = ""


def first_poor(run: Run, data: Any, used: Sequence[int], least: int) -> int | None:
    """The first node, of those in use, whose data has too few digits for certain."""
    for node, operands in enumerate(run.graph.operands):
        if operands and used[node] and right_digits(run.values[node], data[node]).min() < least:
            return node
    return None


def first_drop(run: Run, path: Path, data: Any, grads: Any, least: int) -> int:
    """The first node whose data, or whose grad, has too few digits for certain, on the way to a number."""
    graph = run.graph
    node = first_poor(run, data, dependencies(graph, graph.output), least)
    if node is not None:
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
