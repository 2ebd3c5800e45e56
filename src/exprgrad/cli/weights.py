"""The values of ``--tangent`` and ``--cotangent``: ``x=1,y=[1,0],W=@W.npy``, or a value alone."""

from __future__ import annotations

import re
import unicodedata
from itertools import takewhile
from typing import Any

from exprgrad.errors import ExprgradError, InputError
from exprgrad.run.values.inputs import constant, is_plain
from exprgrad.source import Source, Span, cut, depths, pieces

__all__ = ["number_or_weights", "trimmed", "weights"]

GLUED = re.compile(r"=[^,=]*?[^,=\s](\s*[;\s]\s*)[^\W\d]\w*\s*=(?!=)")
"""Two assignments with something other than a comma between."""
ASSIGNED = re.compile(r"\s*[^\W\d]\w*\s*=(?!=)")


def number_or_weights(argument: str, option: str) -> Any:
    """A number or a tensor, or several by name."""
    if ASSIGNED.match(argument) or len(list(pieces(argument))) > 1:
        return weights(argument, option)
    return constant(argument, option)


def weights(argument: str, option: str) -> dict[str, Any]:
    """Numbers and tensors by name; an error shows the place in the argument."""
    source = Source(argument, is_expression=False)
    glued = GLUED.search(outside(argument))
    if glued:
        message = "names and values are separated by commas"
        start, end = glued.span(1)
        help = f"write {cut(f'{option} {argument[:start].strip()},{argument[end:].strip()}', 60)}"
        raise InputError("usage", message, source=source, span=(start, end), help=help)
    found: dict[str, Any] = {}
    for start, end in pieces(argument):
        written, equals, value = argument[start:end].partition("=")
        name = unicodedata.normalize("NFC", written.strip())
        span = trimmed(argument, start, end)
        if not (equals and name.isidentifier()):
            help = f"names and values are separated by commas: {option} x=1,y=0"
            if all(is_plain(argument[a:b].strip()) for a, b in pieces(argument)):
                listed = cut(f"[{argument.strip()}]", 40)
                help = f"for a list write {option} {listed}; for several outputs, x=1,y=0"
                if option == "--tangent":
                    help = f"say which input moves so: {option} x=1,y=0; a list is x={listed}"
            elif found and is_plain(written.strip()):
                help = f"a list stands in square brackets: {last_list(argument, start)}"
            message = "this is not NAME=VALUE"
            raise InputError("usage", message, source=source, span=span, help=help)
        if not value.strip():
            message = f"there is no value for '{name}'"
            raise InputError("usage", message, source=source, span=span, help=f"write {name}=1")
        if name in found:
            message = f"'{name}' is given twice"
            span = trimmed(argument, start, start + len(written))
            raise InputError("given-twice", message, source=source, span=span)
        found[name] = value_in(argument, trimmed(argument, end - len(value), end), name)
    return found


def last_list(argument: str, start: int) -> str:
    """``x=[1,0]`` for the plain numbers around an offset in ``x=1,0,y=2``."""
    name, _, first = argument[:start].rstrip(",").rpartition(",")[2].partition("=")
    more = [argument[a:b].strip() for a, b in pieces(argument) if a >= start]
    plain = list(takewhile(is_plain, more))
    return cut(f"{name.strip()}=[{','.join([first.strip(), *plain])}]", 60)


def outside(argument: str) -> str:
    """The text with a filler for whatever stands in parentheses or brackets."""
    pairs = zip(argument, depths(argument), strict=True)
    return "".join("1" if depth else character for character, depth in pairs)


def trimmed(text: str, start: int, end: int) -> Span:
    """A span without the white space at its ends, if that leaves anything."""
    part = text[start:end]
    if not part.strip():
        return start, max(end, start + 1)
    return start + len(part) - len(part.lstrip()), end - len(part) + len(part.rstrip())


def value_in(argument: str, span: Span, name: str) -> Any:
    """A value in an argument."""
    start, end = span
    value = argument[start:end]
    try:
        return constant(value, name)
    except ExprgradError as error:
        if error.span is not None and error.source is not None and error.source.text == value:
            error.at(Source(argument, is_expression=False), start)
        raise
