"""The files of cases whose lines are cells between bars."""

from __future__ import annotations

from collections.abc import Iterator

from golden import CASES


def table(name: str) -> Iterator[list[str]]:
    """The lines of ``tests/cases/<name>`` that say something, split at their bars."""
    for line in (CASES / name).read_text("utf-8").splitlines():
        if line.strip() and not line.startswith("#"):
            yield [cell.strip() for cell in line.split(" | ")]
