"""Files that a user names: their bytes, their text, and JSON in it.  Nothing here needs NumPy."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

from exprgrad.errors import InputError, RequestError
from exprgrad.source import Source, cut

__all__ = ["decode", "json_in", "json_value", "read_bytes", "unreadable"]

SHOWN = 40
"""The longest index in a message."""


def read_bytes(path: str) -> bytes:
    """The bytes of a file."""
    try:
        return Path(path).read_bytes()
    except (OSError, ValueError) as error:
        raise unreadable(path, error) from None


def unreadable(path: str, error: Exception) -> RequestError:
    """The error for a file that cannot be read, and why."""
    reason = getattr(error, "strerror", None) or str(error)
    return RequestError("file", f"cannot read '{path}': {reason}")


def decode(content: bytes, name: str, *, is_expression: bool = True) -> str:
    """Text from UTF-8, without the mark that may stand at its beginning; ``name`` says whose it is."""
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        source = Source(content.decode("utf-8", errors="replace"), is_expression)
        place = len(content[: error.start].decode("utf-8", errors="replace"))
        raise RequestError(
            "encoding",
            f"{name} is not UTF-8 text: byte 0x{content[error.start]:02x} at offset {error.start}",
            source=source,
            span=(place, place + 1),
        ) from None


def json_in(path: str) -> Any:
    """What a JSON file holds; an error if an object has a field twice."""
    content = read_bytes(path)
    if path.lower().endswith((".npy", ".csv")):
        help = f"--inputs reads a JSON object; for one array write x=@{path}"
        raise RequestError("file", f"'{path}' is not JSON", help=help)
    text = decode(content, f"'{path}'", is_expression=False)
    try:
        return json.loads(text, object_pairs_hook=once)
    except json.JSONDecodeError as error:
        source = Source(text, is_expression=False)
        message = f"'{path}' is not JSON: {error.msg.lower()}, in line {error.lineno}"
        span = (error.pos, error.pos + 1)
        raise RequestError("file", message, source=source, span=span) from None
    except (ValueError, RecursionError):
        message = f"'{path}' is nested too deeply, or holds too long a number"
        raise RequestError("file", message) from None


def json_value(value: object, name: str, path: str) -> Any:
    """A value from JSON as it is; an error if it holds anything but numbers, texts and lists of them."""
    todo = [value]
    while todo:
        part = todo.pop()
        if isinstance(part, list):
            todo += part
        elif is_wrong(part):
            place, kind = first_wrong(value)
            message = f"the value of '{name}{place}' in '{path}' is not a number but {kind}"
            help = 'a value is a number, a text like "pi/2", or a list of them'
            raise InputError("bad-value", message, help=help)
    return value


def is_wrong(part: object) -> bool:
    """Whether a part of a value from JSON is neither a number nor a text."""
    return isinstance(part, bool) or not isinstance(part, (int, float, str))


def first_wrong(value: object) -> tuple[str, str]:
    """The index of the first part that is wrong, and what it is."""
    todo: list[tuple[object, tuple[int, ...]]] = [(value, ())]
    while todo:
        part, index = todo.pop()
        if isinstance(part, list):
            todo += [(part[at], (*index, at)) for at in reversed(range(len(part)))]
        elif is_wrong(part):
            break
    kind = "an object" if isinstance(part, dict) else json.dumps(part)
    return (cut(str(list(index)), SHOWN) if index else ""), kind


def once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """A JSON object's fields; an error if one is given twice."""
    fields = dict(pairs)
    if len(fields) < len(pairs):
        counts = Counter(name for name, _ in pairs)
        name = next(name for name, count in counts.items() if count > 1)
        raise InputError("given-twice", f"'{name}' is given twice")
    return fields
