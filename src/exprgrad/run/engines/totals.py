"""Sums of columns in machine code: each addition's rounding is carried along.

Rows go to eight sums in turn, counted from the first, so that the same rows have the same sums however
many are added at a time.  Each sum and what it lost by rounding: D. E. Knuth, The Art of Computer
Programming 2, 4.2.2.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from functools import cache
from threading import Lock
from typing import Any

import numpy as np

from exprgrad.run.engines.llvm import Code, compiled
from exprgrad.run.engines.llvm_text import ENTRY
from exprgrad.run.engines.memory import address
from exprgrad.run.engines.native import SIGNATURE

__all__ = ["Totals"]

COMPILING = Lock()
"""Held by the thread that compiles."""
BOUND = 2.0**900
"""Beyond it a sum is left to others: several of them would overflow."""
LANES = 8
"""How many sums a column has."""
TEXT = f"""
define void @{ENTRY}(ptr %columns, ptr %state, i64 %count, i64 %rows) {{
entry:
  br label %column
column:
  %k = phi i64 [0, %entry], [%k.next, %after]
  %slot = getelementptr ptr, ptr %columns, i64 %k
  %rows.at = load ptr, ptr %slot, align 8
  %offset = mul i64 %k, {2 * LANES}
  %sum.at = getelementptr double, ptr %state, i64 %offset
  %lost.at = getelementptr double, ptr %sum.at, i64 {LANES}
  %sum.before = load <{LANES} x double>, ptr %sum.at, align 8
  %lost.before = load <{LANES} x double>, ptr %lost.at, align 8
  br label %row
row:
  %i = phi i64 [0, %column], [%i.next, %row]
  %sum = phi <{LANES} x double> [%sum.before, %column], [%sum.next, %row]
  %lost = phi <{LANES} x double> [%lost.before, %column], [%lost.next, %row]
  %x.at = getelementptr double, ptr %rows.at, i64 %i
  %x = load <{LANES} x double>, ptr %x.at, align 8
  %sum.next = fadd <{LANES} x double> %sum, %x
  %part = fsub <{LANES} x double> %sum.next, %sum
  %rest = fsub <{LANES} x double> %sum.next, %part
  %lost.sum = fsub <{LANES} x double> %sum, %rest
  %lost.x = fsub <{LANES} x double> %x, %part
  %lost.both = fadd <{LANES} x double> %lost.sum, %lost.x
  %lost.next = fadd <{LANES} x double> %lost, %lost.both
  %i.next = add i64 %i, {LANES}
  %more = icmp ult i64 %i.next, %rows
  br i1 %more, label %row, label %after
after:
  store <{LANES} x double> %sum.next, ptr %sum.at, align 8
  store <{LANES} x double> %lost.next, ptr %lost.at, align 8
  %k.next = add i64 %k, 1
  %others = icmp ult i64 %k.next, %count
  br i1 %others, label %column, label %done
done:
  ret void
}}
"""
"""Add rows, a multiple of the lanes, of so many columns to their sums."""


@cache
def code() -> tuple[Any, Code]:
    """The function, and what must live as long as it does."""
    found = compiled(TEXT, ENTRY, {})
    return SIGNATURE(found.address), found


def summing() -> Any:
    """The function, which one thread at a time may compile."""
    with COMPILING:
        return code()[0]


class Totals:
    """The sums of some columns, whose memory is given once, and written anew before each addition."""

    def __init__(self, columns: Sequence[np.ndarray]) -> None:
        self.columns = columns
        self.places = array("Q", map(address, columns))
        self.state = np.zeros((len(columns), 2, LANES))
        self.function = summing()

    def add(self, rows: int, *, anyway: bool = False) -> bool:
        """Add the first few rows of each column; not if a sum would be too large, unless ``anyway``.

        All additions but the last are of a multiple of eight rows.  Returns whether they were added.
        """
        whole = -(-rows // LANES) * LANES
        for column in self.columns if whole > rows else ():
            column[rows:whole] = 0.0
        before = self.state.copy()
        given, count = self.places.buffer_info()
        self.function(given, address(self.state), count, whole)
        if anyway or (np.abs(self.state) < BOUND).all():
            return True
        self.state = before
        return False

    def sums(self) -> tuple[np.ndarray, np.ndarray]:
        """Each column's eight sums, and what they lost."""
        return self.state[:, 0], self.state[:, 1]
