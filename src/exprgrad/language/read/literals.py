"""What the parser does with tensors: list literals, indices and settings.

Each function takes the parse's ``Builder``.  Settings are plain data and no nodes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from exprgrad.graph.graph import CONST
from exprgrad.graph.literal import Literal
from exprgrad.graph.structural import MOST_AXES
from exprgrad.source import Span

if TYPE_CHECKING:
    from exprgrad.language.read.parse import Builder, Value

__all__ = ["ACTIONS", "Keyword", "Setting", "first_of_literals", "number_or_literal"]

LONGEST = 12
"""The most digits of a whole number in a setting."""


class Setting(NamedTuple):
    """A setting's value and where it is written."""

    value: Any
    start: int
    end: int


class Keyword(NamedTuple):
    """``name = setting`` among the operands of a call."""

    name: Span
    setting: Setting


def integer(builder: Builder, span: Span) -> Setting:
    """A whole number."""
    text = builder.text[span[0] : span[1]]
    if not (text.isdecimal() and len(text) <= LONGEST):
        message = (
            "this is not a whole number" if not text.isdecimal() else "this number is too large"
        )
        builder.fail("bad-setting", message, span, "an index, an axis or a size is a whole number")
    return Setting(int(text), *span)


def signed_integer(builder: Builder, sign: Span, span: Span) -> Setting:
    """A whole number behind a sign."""
    value = integer(builder, span).value
    negative = builder.text[sign[0]] == "-"
    return Setting(-value if negative else value, sign[0], span[1])


def word(builder: Builder, span: Span) -> Setting:
    """A flag, or None."""
    known = {"true": True, "false": False, "none": None}
    text = builder.text[span[0] : span[1]]
    if text.casefold() not in known:
        help = "a setting is a whole number, a list of them, True or False"
        builder.fail("bad-setting", f"'{text}' is not a setting", span, help)
    return Setting(known[text.casefold()], *span)


def settings(builder: Builder, left: Span, listed: list[Setting], right: Span) -> Setting:
    """A list of settings."""
    return Setting(tuple([setting.value for setting in listed]), left[0], right[1])


def keyword(builder: Builder, name: Span, equals: Span, setting: Setting) -> Keyword:
    """``name = setting``."""
    return Keyword(name, setting)


def slice_of(start: Setting | None, stop: Setting | None, span: Span) -> Setting:
    """A slice: where it begins and ends, None for an end of the axis."""
    ends = (None if start is None else start.value, None if stop is None else stop.value)
    return Setting(ends, *span)


# Nodes.


def empty_list(builder: Builder, left: Span, right: Span) -> NoReturn:
    """``[]``."""
    span = left[0], right[1]
    builder.fail("empty-list", "this list is empty", span, "a tensor holds at least one number")


def list_literal(builder: Builder, left: Span, elements: list[Value], right: Span) -> Value:
    """``[…]``: one constant where all in it are numbers, else a stack of its elements."""
    span = left[0], right[1]
    literal = literal_of(builder, [element[0] for element in elements], left[0])
    if literal is not None:
        first = first_of_literals(builder, elements[0][0])
        builder.graph.truncate(first)
        return builder.graph.append(CONST, (), literal, span), *span
    operands = tuple([element[0] for element in elements])
    occurrences = tuple([(element[-2], element[-1]) for element in elements])
    return builder.graph.append("stack", operands, (0,), span, occurrences), *span


def literal_of(builder: Builder, nodes: list[int], start: int) -> Literal | None:
    """Numbers, or literals of one shape, side by side; None where something else is among them."""
    parts = [number_or_literal(builder, node, start) for node in nodes]
    if None in parts or len({part.shape for part in parts if part is not None}) > 1:
        return None
    known = [part for part in parts if part is not None]
    if len(known[0].shape) >= MOST_AXES:
        return None
    numbers = tuple([number for part in known for number in part.numbers])
    return Literal((len(known), *known[0].shape), numbers)


def number_or_literal(builder: Builder, node: int, start: int) -> Literal | None:
    """A number written behind ``start``, with or without a minus, or a list of them."""
    graph = builder.graph
    sign = 1.0
    if graph.kinds[node] == "neg":
        (node,), sign = graph.operands[node], -1.0
    payload = graph.payloads[node]
    if graph.kinds[node] != CONST or node in graph.symbols or graph.starts[node] < start:
        return None
    if isinstance(payload, Literal):
        return payload if sign == 1 else None
    assert isinstance(payload, float)
    return Literal((), (sign * payload,))


def first_of_literals(builder: Builder, node: int) -> int:
    """The first node of a literal: its sign comes after its number."""
    return builder.graph.operands[node][0] if builder.graph.kinds[node] == "neg" else node


def subscript(
    builder: Builder, value: Value, left: Span, places: list[Setting], right: Span
) -> Value:
    """``x[0, 1:3]``."""
    span = value[1], right[1]
    settings = (tuple([place.value for place in places]),)
    node = builder.graph.append("index", (value[0],), settings, span, (value[-2:],))  # type: ignore[arg-type]
    return node, *span


def transposed(builder: Builder, value: Value, mark: Span) -> Value:
    """``x.T``."""
    span = value[1], mark[1]
    node = builder.graph.append("transpose", (value[0],), (None,), span, (value[-2:],))  # type: ignore[arg-type]
    return node, *span


ACTIONS: dict[str, Callable[..., Any]] = {
    "empty_list": empty_list,
    "integer": integer,
    "keyword": keyword,
    "list": list_literal,
    "settings": settings,
    "signed_integer": signed_integer,
    "slice": lambda b, start, colon, stop: slice_of(start, stop, (start.start, stop.end)),
    "slice_from": lambda b, start, colon: slice_of(start, None, (start.start, colon[1])),
    "slice_to": lambda b, colon, stop: slice_of(None, stop, (colon[0], stop.end)),
    "subscript": subscript,
    "transposed": transposed,
    "whole_slice": lambda b, colon: slice_of(None, None, colon),
    "word": word,
}
"""What each rule of the grammar that has to do with tensors builds."""
