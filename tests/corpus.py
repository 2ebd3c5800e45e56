"""The files of cases whose lines are cells between bars."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from golden import CASES


def table(name: str) -> Iterator[list[str]]:
    """The lines of ``tests/cases/<name>`` that say something, split at their bars."""
    for line in (CASES / name).read_text("utf-8").splitlines():
        if line.strip() and not line.startswith("#"):
            yield [cell.strip() for cell in line.split(" | ")]


class Formula(NamedTuple):
    """A formula of a trade, and where it is looked at: each value as it is typed."""

    trade: str
    title: str
    text: str
    values: dict[str, str]


def trades() -> Iterator[Formula]:
    """The formulas of ``tests/cases/trades.txt``: blocks of a title, some lines and the values."""
    trade = ""
    for block in (CASES / "trades.txt").read_text("utf-8").split("\n\n"):
        title, *lines = block.strip().splitlines()
        if title.startswith("# "):
            trade = title[2:]
            continue
        *text, values = lines
        pairs = [value.partition("=") for value in values.split()]
        yield Formula(trade, title, "\n".join(text), {name: value for name, _, value in pairs})
