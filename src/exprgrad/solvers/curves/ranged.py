"""What a request for a curve asks: which input has a range, and what the others are worth."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from exprgrad.errors import InputError, RequestError, advice
from exprgrad.explain.descent import Descent
from exprgrad.graph.graph import Graph, numbers_only
from exprgrad.run.values.inputs import absent, as_number, is_range, resolve
from exprgrad.run.values.ranges import Interval, as_interval
from exprgrad.solvers.curves.curve import Curve, curve
from exprgrad.solvers.curves.plane import Plane, plane
from exprgrad.source import Source

__all__ = ["descended", "ranged"]

USUAL = Interval(-10.0, 10.0)
"""The range of an input alone that has none."""


def ranged(
    graph: Graph,
    text: str,
    given: Mapping[str, object],
    shown: object = None,
    tangent_at: object = None,
) -> Curve | Plane:
    """The curve that some values ask for, of which one is a range; or the plane, of which two are.

    Raises ``InputError`` for values that do not fit, ``RequestError`` for a formula of tensors.
    """
    numbers_only(graph, lambda node: tensors(graph, text, node))
    for name, value in given.items():
        if isinstance(value, str) and ".." in value:
            help = f"write {name}={value.replace('..', ':')}"
            message = "the ends of a range have a colon between them"
            raise InputError("bad-range", message, help=help).about(value)
    ranges = {name: value for name, value in given.items() if is_range(value) or is_pair(value)}
    values = {name: value for name, value in given.items() if name not in ranges}
    fixed = resolve(graph, text, {**values, **dict.fromkeys(ranges, 0.0)}, partly=True)
    spans = {name: as_interval(value, name) for name, value in ranges.items()}
    missing = [name for name in graph.inputs if name not in fixed]
    if not spans and len(missing) == 1:
        spans = {missing.pop(): USUAL}
    if len(spans) not in (1, 2):
        raise many(graph, spans)
    if missing:
        raise absent(graph, text, missing)
    others = {name: value for name, value in fixed.items() if name not in spans}
    for name, value in others.items():
        if not isinstance(value, float):
            message = f"the value of '{name}' is not a number but a tensor"
            help = "a plot takes numbers, and ranges for one input or two"
            raise InputError("bad-value", message, help=help)
    window = None if shown is None else as_interval(shown, advice("--y", "shown"))
    if len(spans) == 2:
        if tangent_at is not None:
            raise RequestError("usage", "a tangent is for a curve, over the range of one input")
        return plane(text, graph, spans, others, window)
    at = None if tangent_at is None else as_number(tangent_at, "tangent")
    ((name, (low, high)),) = spans.items()
    return curve(text, graph, name, low, high, others, window, at)


def descended(found: Plane, course: Descent[Any]) -> Plane:
    """The plane with the points of a descent."""
    first, second = found.names
    path = [(step.inputs[first], step.inputs[second]) for step in course.steps]
    word = "" if course.verdict == "steps" else f"{course.verdict}: "
    return found._replace(path=path, ending=word + course.message)


def is_pair(value: object) -> bool:
    """Whether a value is a pair of numbers: a range in Python."""
    return isinstance(value, tuple | list) and len(value) == 2


def many(graph: Graph, spans: Mapping[str, Interval]) -> InputError:
    """The error where no input has a range, or several have one."""
    if not graph.inputs:
        return InputError("bad-range", "the formula reads no input that could have a range")
    first = next(iter(graph.inputs))
    if not spans:
        message = "no input has a range to draw the curve over"
        return InputError(
            "bad-range", message, help=f"write {first}=LOW:HIGH, such as {first}=-5:5"
        )
    message = f"{len(spans)} inputs have ranges: {', '.join(spans)}"
    return InputError("bad-range", message, help="one or two may have, and the others have values")


def tensors(graph: Graph, text: str, node: int) -> RequestError:
    """The error for a formula that is not of numbers alone."""
    message = "a formula of tensors has no curve to draw"
    return RequestError(
        "no-tensors",
        message,
        source=Source(text),
        span=graph.span(node),
        help="write it for numbers",
    )
