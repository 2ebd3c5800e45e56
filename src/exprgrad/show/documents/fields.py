"""What a field of an answer may be besides numbers and texts: a tensor in short, lines of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

__all__ = ["Apart", "Lines", "Short", "lists", "records", "short", "shorts", "whole_text"]

AT_ONCE = 4096
"""How many numbers of a row are written at once."""


class Short:
    """A tensor that may be written as a summary."""

    def __init__(self, value: Any) -> None:
        self.value = value


class Apart:
    """A field that begins a line of its own."""

    def __init__(self, value: Any) -> None:
        self.value = value


class Lines(Apart):
    """A field with one of its items a line: values in ``[]``, or names and values in ``{}``."""

    def __init__(self, value: Iterable[Any], brackets: str = "[]") -> None:
        super().__init__(value)
        self.brackets = brackets


def short(value: Any) -> Any:
    """A number as it is; a tensor as one that may be written as a summary."""
    return value if value is None or isinstance(value, float) else Short(value)


def shorts(values: Mapping[str, Any]) -> dict[str, Any]:
    """Values by name, of which tensors may be written as summaries."""
    return {name: short(value) for name, value in values.items()}


def records(found: Iterable[Any]) -> Lines:
    """Named tuples, such as diagnostics, one to a line."""
    return Lines(one._asdict() for one in found)


def lists(value: Any, write: Callable[[list[float]], str]) -> Iterator[str]:
    """A tensor as nested lists, a row at a time; ``write`` writes a list of numbers, brackets and all."""
    *lead, length = value.shape
    counts = [1]
    for axis in reversed(lead):
        counts.append(counts[-1] * axis)
    rows = value.reshape(-1, length)
    for at, row in enumerate(rows):
        opened = sum(at % count == 0 for count in counts[1:])
        yield (", " if at else "") + "[" * (opened + 1)
        for start in range(0, length, AT_ONCE):
            numbers = write(row[start : start + AT_ONCE].tolist())[1:-1]
            yield f", {numbers}" if start else numbers
        yield "]" * (1 + sum((at + 1) % count == 0 for count in counts[1:]))


def whole_text(count: int) -> str:
    """A whole number with all its digits, however many: ``str`` refuses more than 4300."""
    from decimal import Decimal

    return format(Decimal(count), "f")
