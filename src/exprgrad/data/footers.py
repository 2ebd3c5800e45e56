"""The footer of a Parquet file, with its row groups elsewhere: so files joined end to end become one.

A footer is a struct in Thrift's compact protocol.  All is copied as it stands but the places in the file.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

__all__ = ["shifted"]

PLACES = frozenset(
    [(4, 5), (4, 1, 2), (4, 1, 4), (4, 1, 6), *((4, 1, 3, field) for field in (9, 10, 11, 14))]
)
"""The numbers of the fields that say where something is: of row groups (4), and of their columns (1)."""
TRUE, FALSE, BYTE, INT64, DOUBLE, BINARY, LIST, SET, STRUCT = 1, 2, 3, 6, 7, 8, 9, 10, 12
INTEGERS = (4, 5, INT64)


class Level(NamedTuple):
    """A struct that is being read, or a list: its field numbers from the outermost; what it has left.

    ``kind`` is that of a list's elements, of which ``left`` are to come: -1 for a struct, whose field
    ``last`` came before.
    """

    path: tuple[int, ...]
    kind: int = STRUCT
    left: int = -1
    last: int = 0


class Cursor:
    """A place in a footer."""

    def __init__(self, footer: bytes) -> None:
        self.footer, self.at = footer, 0

    def byte(self) -> int:
        """The next byte."""
        self.at += 1
        return self.footer[self.at - 1]

    def number(self) -> int:
        """The next number, seven bits to a byte, the lowest first."""
        value = place = 0
        while True:
            byte = self.byte()
            value |= (byte & 127) << place
            if byte < 128:
                return value
            place += 7


def shifted(footer: bytes, by: int) -> bytes:
    """A footer whose row groups are so many bytes further on; raises ``ValueError`` for another struct."""
    found, copied = bytearray(), 0
    for path, start, end, number in integers(footer):
        if path in PLACES and number:
            found += footer[copied:start] + encoded(number + 2 * by)
            copied = end
    return bytes(found + footer[copied:])


def integers(footer: bytes) -> Iterator[tuple[tuple[int, ...], int, int, int]]:
    """Every integer in a footer: its field numbers, where it begins and ends, and twice what it is."""
    cursor, levels = Cursor(footer), [Level(())]
    while levels:
        path, kind, left, last = level = levels.pop()
        if left < 0:
            head = cursor.byte()
            if not head:
                continue
            number = cursor.number() // 2 if head < 16 else last + (head >> 4)
            levels.append(level._replace(last=number))
            path, kind = (*path, number), head & 15
        elif left:
            levels.append(level._replace(left=left - 1))
            kind = BYTE if kind in (TRUE, FALSE) else kind
        else:
            continue
        if kind in INTEGERS:
            start, number = cursor.at, cursor.number()
            yield path, start, cursor.at, number
        elif kind == BINARY:
            length = cursor.number()
            cursor.at += length
        elif kind in (LIST, SET):
            head = cursor.byte()
            count = head >> 4
            levels.append(Level(path, head & 15, cursor.number() if count == 15 else count))
        elif kind == STRUCT:
            levels.append(Level(path))
        elif kind in (BYTE, DOUBLE):
            cursor.at += 1 if kind == BYTE else 8
        elif kind not in (TRUE, FALSE):
            raise ValueError(f"a field of type {kind} in a footer")


def encoded(number: int) -> bytes:
    """A number that is not negative, as ``Cursor.number`` reads it."""
    found = bytearray()
    while number > 127:
        found.append(number & 127 | 128)
        number >>= 7
    found.append(number)
    return bytes(found)
