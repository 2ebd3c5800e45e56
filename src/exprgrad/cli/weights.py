"""The values of ``--tangent`` and ``--cotangent``: ``x=1,y=0``, or a number."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from exprgrad.errors import ExprgradError, InputError
from exprgrad.run.inputs import constant
from exprgrad.source import Source, Span, cut

__all__ = ["number_or_weights", "weights"]

GLUED = re.compile(r"=[^,=]*?[^,=\s](\s*[;\s]\s*)[^\W\d]\w*\s*=(?!=)")
"""Two assignments with something other than a comma between."""
ASSIGNED = re.compile(r"\s*[^\W\d]\w*\s*=(?!=)")


def number_or_weights(argument: str, option: str) -> float | dict[str, float]:
    """A number, or numbers by name."""
    if ASSIGNED.match(argument) or len(list(pieces(argument))) > 1:
        return weights(argument, option)
    return constant(argument, option)


def weights(argument: str, option: str) -> dict[str, float]:
    """Numbers by name; an error shows the place in the argument."""
    source = Source(argument, is_expression=False)
    glued = GLUED.search(argument)
    if glued:
        message = "names and values are separated by commas"
        start, end = glued.span(1)
        help = f"write {cut(f'{option} {argument[:start].strip()},{argument[end:].strip()}', 60)}"
        raise InputError("usage", message, source=source, span=(start, end), help=help)
    found: dict[str, float] = {}
    for start, end in pieces(argument):
        written, equals, value = argument[start:end].partition("=")
        name = unicodedata.normalize("NFC", written.strip())
        span = trimmed(argument, start, end)
        if not (equals and name.isidentifier()):
            help = f"names and values are separated by commas: {option} x=1,y=0"
            message = "this is not NAME=VALUE"
            raise InputError("usage", message, source=source, span=span, help=help)
        if not value.strip():
            message = f"there is no value for '{name}'"
            raise InputError("usage", message, source=source, span=span, help=f"write {name}=1")
        if name in found:
            message = f"'{name}' is given twice"
            span = trimmed(argument, start, start + len(written))
            raise InputError("given-twice", message, source=source, span=span)
        found[name] = number(argument, trimmed(argument, end - len(value), end), name)
    return found


def pieces(argument: str) -> Iterator[Span]:
    """The parts between commas, as spans; a comma inside parentheses separates nothing."""
    depth = start = 0
    for at, character in enumerate(argument):
        depth += (character in "([") - (character in ")]")
        if character == "," and depth <= 0:
            yield start, at
            start = at + 1
    yield start, len(argument)


def trimmed(text: str, start: int, end: int) -> Span:
    """A span without the white space at its ends, if that leaves anything."""
    part = text[start:end]
    if not part.strip():
        return start, max(end, start + 1)
    return start + len(part) - len(part.lstrip()), end - len(part) + len(part.rstrip())


def number(argument: str, span: Span, name: str) -> float:
    """A value in an argument."""
    start, end = span
    try:
        return constant(argument[start:end], name)
    except ExprgradError as error:
        if error.span is not None:
            error.source = Source(argument, is_expression=False)
            error.span = (error.span[0] + start, error.span[1] + start)
            error.related = tuple((note, (a + start, b + start)) for note, (a, b) in error.related)
        raise
