"""Curves in braille on a terminal: eight dots to a cell, axes with round numbers, marks."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import NamedTuple

from exprgrad.show.text.lines import colored

__all__ = ["FAINT", "Axis", "Canvas", "axis", "framed", "ticks"]

DOTS = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))
"""The bits of a braille cell's dots, by row and column."""
BRAILLE = 0x2800
ROUND = (1, 2, 5, 10)
"""What the distance of two ticks is, times a power of ten."""
LONGEST_NUMBER = 8
"""The most digits of a large number that is written out."""
LARGEST, SMALLEST = 1e6, 1e-4
"""Ticks that are larger or smaller than these are tick_texts with a power of ten."""
BEYOND = 4.0
"""A line is followed so many canvases beyond this one, and no further."""
RESET = "\x1b[0m"
FAINT = "2"
"""What a terminal is told for axes."""


class Axis(NamedTuple):
    """An axis from ``low`` to ``high``: where its ticks are, and what is tick_texts at each."""

    low: float
    high: float
    ticks: tuple[tuple[float, str], ...]

    def part(self, value: float) -> float:
        """Where a value lies: 0 at the low end, 1 at the high one."""
        return (value / 2 - self.low / 2) / (self.high / 2 - self.low / 2)

    def middle(self, cell: int, cells: int) -> float:
        """The value in the middle of a cell, of so many along the axis."""
        part = (cell + 0.5) / cells
        return self.low * (1 - part) + self.high * part


def ticks(low: float, high: float, most: int) -> tuple[tuple[float, str], ...]:
    """Round numbers between two others, ``most`` of them or fewer, each with its text."""
    span = high / 2 - low / 2
    if not (0 < span < math.inf) or most < 1:
        return ()
    rounding = Fraction(span) / 10**9
    start, stop = Fraction(low) - rounding, Fraction(high) + rounding
    power = math.floor(math.log10(span)) - 1
    while True:
        for factor in ROUND[:3]:
            step = factor * Fraction(10) ** power
            first, last = math.ceil(start / step), math.floor(stop / step)
            if last - first < most:
                numbers = [k * step for k in range(first, last + 1)]
                return tuple(zip(map(float, numbers), tick_texts(numbers, power), strict=True))
        power += 1


def tick_texts(numbers: Sequence[Fraction], power: int) -> list[str]:
    """Multiples of a power of ten, all with as many decimals."""
    largest = max(map(abs, numbers), default=Fraction(0))
    length = len(str(math.floor(largest))) + max(0, -power)
    if (largest < LARGEST or length <= LONGEST_NUMBER) and 10.0**power >= SMALLEST:
        return [f"{float(x):.{max(0, -power)}f}" if x else "0" for x in numbers]
    found = []
    for x in numbers:
        digits = 2
        if x and abs(power) < 300:
            digits = max(0, math.floor(math.log10(abs(float(x)))) - power)
        mantissa, _, exponent = f"{float(x):.{digits}e}".partition("e")
        found.append(f"{mantissa}e{int(exponent)}" if x else "0")
    return found


def axis(low: float, high: float, most: int, *, margin: float = 0.0) -> Axis:
    """An axis with ``most`` ticks or fewer; a ``margin`` is a part of it that is added at both ends."""
    more = margin * (high / 2 - low / 2) * 2
    low, high = low - more, high + more
    return Axis(low, high, ticks(low, high, most))


class Canvas:
    """Cells of braille, so many ``columns`` and ``rows``, with letters over them, between two axes."""

    def __init__(self, columns: int, rows: int, x: Axis, y: Axis) -> None:
        self.columns, self.rows = columns, rows
        self.x, self.y = x, y
        self.dots = [[0] * columns for _ in range(rows)]
        self.letters: dict[tuple[int, int], str] = {}

    def dot(self, x: int, y: int) -> None:
        """A dot, counted from the left and from the top."""
        if 0 <= x < 2 * self.columns and 0 <= y < 4 * self.rows:
            self.dots[y // 4][x // 2] |= DOTS[y % 4][x % 2]

    def cell(self, x: float, y: float) -> tuple[int, int]:
        """The row and the column of a point."""
        return (
            min(int((1 - self.y.part(y)) * self.rows), self.rows - 1),
            min(int(self.x.part(x) * self.columns), self.columns - 1),
        )

    def line(self, points: Iterable[tuple[float, float]]) -> None:
        """A line through points, broken where one is not finite."""
        before: tuple[float, float] | None = None
        for point in points:
            if not math.isfinite(point[1]):
                before = None
                continue
            x, y = self.x.part(point[0]), self.y.part(point[1])
            across, up = (min(max(part, -BEYOND), 1 + BEYOND) for part in (x, y))
            here = across * (2 * self.columns - 1), (1 - up) * (4 * self.rows - 1)
            if before is not None:
                self.stretch(before, here)
            elif 0 <= y <= 1:
                self.dot(round(here[0]), round(here[1]))
            before = here

    def stretch(self, start: tuple[float, float], stop: tuple[float, float]) -> None:
        """The dots of a straight line, given in dots."""
        count = max(math.ceil(max(abs(stop[0] - start[0]), abs(stop[1] - start[1]))), 1)
        for at in range(count + 1):
            part = at / count
            x, y = (one + part * (other - one) for one, other in zip(start, stop, strict=True))
            self.dot(round(x), round(y))

    def letter(self, x: float, y: float, letter: str) -> None:
        """A letter in the cell of a point."""
        if 0 <= self.x.part(x) <= 1 and 0 <= self.y.part(y) <= 1:
            self.letters[self.cell(x, y)] = letter

    def row(self, at: int, color: str, marks: Mapping[str, str]) -> str:
        """A row as text; ``color`` is that of braille, ``marks`` those of letters."""
        pieces = []
        for column, bits in enumerate(self.dots[at]):
            letter = self.letters.get((at, column))
            if letter is not None and (bits == 0 or letter not in GIVING_WAY):
                pieces.append((letter, marks.get(letter, "")))
            else:
                pieces.append((chr(BRAILLE + bits), color) if bits else (" ", ""))
        text, now = "", ""
        for letter, wanted in [*pieces, ("", "")]:
            if wanted != now:
                text += (RESET if now else "") + (f"\x1b[{wanted}m" if wanted else "")
                now = wanted
            text += letter
        return text


GIVING_WAY = frozenset("┈┊╌")
"""Letters that give way to a curve."""


def framed(
    title: str, canvas: Canvas, margin: int, color: str, marks: Mapping[str, str], *, numbers: bool
) -> list[str]:
    """The lines of a canvas and its title, ``margin`` cells before it; the axis below may have ``numbers``.

    Without a ``color`` nothing is coloured, ``marks`` neither.
    """
    x, y = canvas.x, canvas.y
    faint, marks = (FAINT, marks) if color else ("", {})
    at_row = {canvas.cell(x.low, value)[0]: text for value, text in reversed(y.ticks)}
    at_column = {canvas.cell(value, y.low)[1]: text for value, text in x.ticks}
    lines = [colored(title, color)]
    for row in range(canvas.rows):
        text = at_row.get(row)
        edge = f"{text or '':>{margin}} {'┤' if text else '│'}"
        lines.append((colored(edge, faint) + canvas.row(row, color, marks)).rstrip())
    rule = "".join("┬" if column in at_column else "─" for column in range(canvas.columns))
    lines.append(colored(f"{'':>{margin}} └{rule}", faint))
    if numbers:
        lines.append(colored(tick_row(at_column, margin + 2, canvas.columns), faint))
    return lines


def tick_row(at_column: Mapping[int, str], margin: int, columns: int) -> str:
    """The numbers below an axis, each in the middle of its tick, as far as there is room."""
    line = [" "] * (margin + columns)
    end = -1
    for column, text in sorted(at_column.items()):
        start = min(margin + column - len(text) // 2, len(line) - len(text))
        if start > end:
            line[start : start + len(text)] = text
            end = start + len(text)
    return "".join(line).rstrip()
