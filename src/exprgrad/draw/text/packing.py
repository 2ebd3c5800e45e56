"""Lines that fit a terminal: cells in columns, or pieces one after the other."""

from __future__ import annotations

from collections.abc import Sequence

from exprgrad.source import display_width

__all__ = ["INDENT", "columned", "narrowed", "packed"]

INDENT = "    "


def columned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Rows of cells with their columns under each other."""
    widths = [max(map(display_width, column)) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        cells = zip(row, widths, strict=True)
        padded = [cell + " " * (width - display_width(cell)) for cell, width in cells if width]
        lines.append(INDENT + "   ".join(padded).rstrip())
    return lines


def packed(pieces: Sequence[str], width: int | None, indent: str) -> list[str]:
    """Pieces on as few lines as they fit; a piece that is longer than a line is broken at blanks."""
    from textwrap import wrap

    lines: list[str] = []
    for piece in filter(None, pieces):
        longer = f"{lines[-1]}  {piece}" if lines else f"{indent}{piece}"
        if width is None or display_width(longer) <= width:
            lines[-1:] = [longer]
            continue
        first = (indent or INDENT) if lines else indent
        lines += wrap(
            piece,
            max(width, 20),
            initial_indent=first,
            subsequent_indent=f"{first}  ",
            break_long_words=False,
            break_on_hyphens=False,
        )
    return lines


def narrowed(texts: Sequence[str], room: int | None) -> str:
    """The first of some texts that fits, or the last."""
    return next((text for text in texts if room is None or display_width(text) <= room), texts[-1])
