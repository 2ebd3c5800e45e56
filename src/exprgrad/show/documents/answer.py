"""What a command found, said once; JSON, CSV, ``-q`` and what people read are four renderings of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from exprgrad.run.evaluation import Diagnostic
    from exprgrad.show.text.table import Screen, Table

__all__ = [
    "Answer", "Apart", "Lines", "Short", "listed", "lists", "quiet_line", "short", "shorts", "whole_text",
]  # fmt: skip

AT_ONCE = 4096
"""How many numbers of a row are written at once."""


class Answer(NamedTuple):
    """What a command found.  Nothing is worked out for a form that is not asked for.

    ``command``      its name
    ``text``         the formula
    ``fields``       the names and values of the JSON object that follow the formula
    ``rows``         the lines of CSV, headings first
    ``lines``        what ``-q`` prints: names and values
    ``shown``        what people read on a screen: texts and tables
    ``diagnostics``  what else is worth knowing, each with its place in the formula
    ``sources``      the texts that the diagnostics' spans are in, where that is not the formula
    ``aside``        a warning about what tables say and CSV and ``-q`` do not
    ``is_no``        whether the answer is no
    ``is_doubtful``  whether it is no under ``--strict``
    ``apart``        whether each field of the JSON object has a line of its own
    ``exact``        whether people read what programs may read, too: then no letter may get lost
    """

    command: str
    text: str
    fields: Iterable[tuple[str, Any]]
    rows: Iterable[Iterable[Any]]
    lines: Iterable[tuple[str, Any]]
    shown: Callable[[Screen], Iterable[str | Table]]
    diagnostics: Sequence[Diagnostic] = ()
    sources: Sequence[str] = ()
    aside: str = ""
    is_no: bool = False
    is_doubtful: bool = False
    apart: bool = False
    exact: bool = False


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


def listed(found: Iterable[Any]) -> Lines:
    """Named tuples, such as diagnostics, one to a line."""
    return Lines(one._asdict() for one in found)


def quiet_line(name: str, value: Any) -> Iterator[str]:
    """A value on one line, behind ``name=`` if it has a name: a number, a word, or a tensor as lists."""
    if name:
        yield f"{name}="
    if isinstance(value, float):
        yield repr(value)
    elif isinstance(value, str):
        yield value
    elif isinstance(value, int):
        yield whole_text(value)
    else:
        yield from lists(value, repr)
    yield "\n"


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
