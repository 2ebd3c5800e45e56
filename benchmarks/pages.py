"""Pages of the docs in which a benchmark writes its tables, between markers."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

__all__ = ["fill"]


def fill(page: Path, parts: Mapping[str, str]) -> None:
    """Write each part between its markers.  Raises ``ValueError`` where the page has none of that name."""
    text = page.read_text("utf-8")
    for name, part in parts.items():
        start, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->\n"
        before, found, rest = text.partition(start)
        _, ended, after = rest.partition(end)
        if not found or not ended:
            raise ValueError(f"{page.name} has no place for {name}")
        text = f"{before}{start}\n{part}\n{end}{after}"
    page.write_text(text, "utf-8")
