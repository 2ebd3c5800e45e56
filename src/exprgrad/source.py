"""Source text, spans in it, and the excerpts with carets that errors and diagnostics show."""

# Without ``from __future__ import annotations``: typing would compile each field's text at every start.

from collections.abc import Iterator, Sequence
from typing import NamedTuple

__all__ = [
    "WIDTH", "Source", "Span", "bracket_depths", "bytes_text", "comma_parts", "cut_text", "display_width",
    "excerpt_lines", "line_and_column", "printable_text", "shown_part", "trim_span", "without_controls",
]  # fmt: skip

Span = tuple[int, int]
"""A half-open range of code points, counted from 0."""

WIDTH = 100
"""The width of text, in cells, unless a terminal has another."""


class Source(NamedTuple):
    """A text and whether it is the expression itself (or, say, the value of an argument)."""

    text: str
    is_expression: bool = True


def line_and_column(text: str, offset: int) -> tuple[int, int]:
    r"""Line and column of an offset, both counted from 1; ``\n``, ``\r\n`` and ``\r`` end a line."""
    start = line_start(text, offset)
    before = text[:start]
    line = before.count("\n") + before.count("\r") - before.count("\r\n") + 1
    return line, offset - start + 1


def line_start(text: str, offset: int) -> int:
    """The offset at which the line that holds ``offset`` begins."""
    if 0 < offset < len(text) and text[offset - 1 : offset + 1] == "\r\n":
        offset -= 1
    return max(text.rfind("\n", 0, offset), text.rfind("\r", 0, offset)) + 1


def line_end(text: str, offset: int) -> int:
    """The offset just after the last character of the line that holds ``offset``."""
    ends = [end for end in (text.find("\n", offset), text.find("\r", offset)) if end >= 0]
    return min(ends, default=len(text))


def printable_text(text: str) -> str:
    """The text with white space as single spaces and whatever a terminal would obey as ``\ufffd``.

    One character in gives one character out, so offsets stay what they were.
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        c if c.isprintable() or is_combining(c) else " " if c.isspace() else "\ufffd" for c in text
    )


def without_controls(text: str) -> str:
    """The text with all that a terminal would obey, but tabs and line ends, as ``\ufffd``."""
    return text.translate(dict.fromkeys([*range(9), *range(11, 32), *range(127, 160)], "\ufffd"))


def is_combining(character: str) -> bool:
    """Whether a character is drawn on top of the one before it."""
    import unicodedata

    return unicodedata.category(character) in ("Mn", "Me")


def display_width(text: str) -> int:
    """Return the terminal cells of a printable text: two for wide characters, none for combining marks."""
    if text.isascii():
        return len(text)
    import unicodedata

    return sum(
        0 if is_combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text
    )


def cut_text(text: str, limit: int) -> str:
    """The text, or its first ``limit - 1`` characters and an ellipsis."""
    return text if len(text) <= limit else text[: limit - 1] + "…"


def excerpt_lines(
    source: Source,
    span: Span,
    note: str = "",
    width: int = WIDTH,
    parts: Sequence[tuple[str, Span]] = (),
) -> list[str]:
    """Two lines: the line of text that a span begins on, and carets under the span.

    A span over several lines is underlined to the end of its first.  A line longer than ``width`` is
    shown as a window around the span.  ``parts`` of the span, each with a note, get a line of carets each;
    they must lie within ``shown_part``.
    """
    text = source.text
    first, last = line_start(text, span[0]), line_end(text, span[0])
    left, right = shown_part(source, span, width)
    shown = printable_text(text[left:right])
    if left > first:
        shown = "…" + shown[1:]
    if right < last:
        shown = shown[:-1] + "…"
    label = line_label(source, span[0])
    lines = [f"  {label} │ {shown}".rstrip()]
    for remark, (start, end) in [(note, span), *parts]:
        indent = " " * display_width(shown[: start - left])
        carets = "^" * max(display_width(shown[start - left : max(end, start) - left]), 1)
        lines.append(f"  {' ' * len(label)} │ {indent}{carets} {remark}".rstrip())
    return lines


def line_label(source: Source, offset: int) -> str:
    """The prefix of a quoted line: its number, if the text is the expression."""
    return str(line_and_column(source.text, offset)[0]) if source.is_expression else " "


def shown_part(source: Source, span: Span, width: int) -> Span:
    """The part of a span's first line that an excerpt of some width has room for."""
    text, (start, end) = source.text, span
    first, last = line_start(text, start), line_end(text, start)
    room = max(width - len(line_label(source, start)) - 6, 16)
    return line_window(first, last, start, max(min(end, last), start), room)


def line_window(first: int, last: int, start: int, end: int, room: int) -> tuple[int, int]:
    """The part of a line, at most ``room`` characters, that shows as much of a span as it can."""
    if last - first <= room:
        return first, last
    margin = max((room - (end - start)) // 2, 4)
    left = max(min(start - margin, last - room), first)
    return left, left + room


def bracket_depths(text: str) -> list[int]:
    """Count the brackets, ``(`` or ``[``, open at each character; a pair's own do not count.

    A closing bracket without a partner closes nothing.
    """
    found, depth = [], 0
    for character in text:
        if character in ")]" and depth:
            depth -= 1
        found.append(depth)
        depth += character in "(["
    return found


def comma_parts(text: str) -> Iterator[Span]:
    """The parts between commas, as spans; a comma inside brackets separates nothing."""
    start = 0
    for at, depth in enumerate(bracket_depths(text)):
        if text[at] == "," and not depth:
            yield start, at
            start = at + 1
    yield start, len(text)


def trim_span(text: str, start: int, end: int) -> Span:
    """A span without the white space at its ends, if that leaves anything."""
    part = text[start:end]
    if not part.strip():
        return start, max(end, start + 1)
    return start + len(part) - len(part.lstrip()), end - len(part) + len(part.rstrip())


def bytes_text(count: int) -> str:
    """A size in memory: ``31.4 GB``."""
    amount, unit = float(count), "bytes"
    for larger in ("kB", "MB", "GB", "TB", "PB", "EB"):
        if amount < 999.5:
            break
        amount, unit = amount / 1000, larger
    return f"{amount:.3g} {unit}" if amount < 999.5 else f"{amount:,.0f} {unit}"
