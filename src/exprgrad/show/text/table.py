"""Tables of nodes: one content, drawn by Rich on a terminal and as plain columns in a pipe."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple

from exprgrad.show.text.lines import EDGE_ROWS, fitted
from exprgrad.source import display_width

__all__ = [
    "BETWEEN",
    "LEAST",
    "Column",
    "Screen",
    "Table",
    "decimal",
    "drawn",
    "minus",
    "plain",
    "rich",
    "signed",
]

LEAST = 18
"""The fewest cells that a flexible column is left with before others are dropped."""
BETWEEN = 3
"""The cells between two columns on a terminal."""
WIDEST = 10_000
"""The cells of a table in colour that goes to no terminal."""


class Screen(NamedTuple):
    """Where people read: so many cells wide, or without a width in a pipe; in colour or not."""

    width: int | None = None
    color: bool = False


class Column(NamedTuple):
    """A column: its heading, whether its cells are numbers, and the style of its cells for Rich.

    A ``flexible`` column is cut where a terminal is narrow.  Where that isn't enough, the columns that
    are ``expendable`` are dropped, the most expendable first; 0 is for those that never are.
    """

    heading: str
    is_number: bool = False
    style: str = ""
    flexible: bool = False
    expendable: int = 0


class Table(NamedTuple):
    """Rows of text; ``left_out`` rows are missing after the first ``EDGE_ROWS``; ``foot`` is below.

    ``what`` the rows are is said where some are left out.  ``narrower`` make tables to draw instead,
    the widest first, where a terminal has no room for all columns but one.
    """

    columns: Sequence[Column]
    rows: Sequence[Sequence[str]]
    left_out: int = 0
    foot: str = ""
    marked: int = -1
    what: str = "nodes"
    narrower: Sequence[Callable[[], Table]] = ()


def decimal(value: float | None, digits: int) -> str:
    """A number with so many significant digits, or nothing."""
    return "" if value is None else format(value + 0.0, f".{digits}g")


def minus(text: str) -> str:
    """The text with true minus signs."""
    return text.replace("-", "−")


def signed(value: float, digits: int) -> str:
    """A number with a true minus sign."""
    return minus(decimal(value, digits))


def drawn(table: Table, screen: Screen) -> str:
    """The table by Rich on a terminal or where colour is asked for, else as plain columns."""
    if screen.width is None and not screen.color:
        return plain(table)
    return rich(table, screen.width or WIDEST, color=screen.color)


def gap_text(table: Table) -> str:
    """The line that stands for the rows left out."""
    return f"… {table.left_out:,} {table.what} left out; --all shows them"


def column_widths(table: Table) -> list[int]:
    """The width of every column's widest cell."""
    headings = [column.heading for column in table.columns]
    return [
        max(cell_width(row[i]) for row in [headings, *table.rows]) for i in range(len(headings))
    ]


def cell_width(cell: str) -> int:
    """The width of a cell's widest line."""
    return max(map(display_width, cell.split("\n")))


def plain(table: Table) -> str:
    """The table as aligned columns of plain text, nothing cropped."""
    widths = column_widths(table)

    def line(cells: Sequence[str]) -> str:
        padded = [
            " " * (width - display_width(cell)) + cell
            if column.is_number
            else cell + " " * (width - display_width(cell))
            for cell, width, column in zip(cells, widths, table.columns, strict=True)
        ]
        return "  ".join(padded).rstrip()

    lines = [line([column.heading for column in table.columns]), *map(line, table.rows)]
    if table.left_out:
        lines.insert(1 + EDGE_ROWS, gap_text(table))
    if table.foot:
        lines += ["", table.foot]
    return "\n".join(lines)


def fitting(columns: Sequence[Column], widths: Sequence[int], width: int) -> tuple[list[int], int]:
    """The positions of the columns that are shown in so many cells, and what flexible ones may take."""
    shown = list(range(len(columns)))
    least = needed(columns, widths, shown)
    while True:
        fixed = sum(widths[i] for i in shown if not columns[i].flexible)
        room = width - fixed - BETWEEN * (len(shown) - 1)
        dropped = max(shown, key=lambda i: columns[i].expendable)
        if room >= least or not columns[dropped].expendable:
            return shown, room
        shown.remove(dropped)


def needed(columns: Sequence[Column], widths: Sequence[int], shown: Sequence[int]) -> int:
    """The fewest cells that the flexible columns are to be left with."""
    return sum(min(widths[i], LEAST) for i in shown if columns[i].flexible)


def shares(widths: Sequence[int], room: int) -> list[int]:
    """What each flexible column may take of their room: what one does not need is left to others."""
    found = [0] * len(widths)
    for done, i in enumerate(sorted(range(len(widths)), key=lambda i: widths[i])):
        found[i] = min(widths[i], room // (len(widths) - done))
        room -= found[i]
    return found


def narrowest(table: Table, width: int) -> tuple[Table, list[int], int]:
    """The table, or the first of its narrower ones, that has room for all columns but one.

    With it come the positions of the columns that are shown, and the cells left for flexible ones.
    """
    narrower = iter(table.narrower)
    while True:
        widths = column_widths(table)
        shown, left = fitting(table.columns, widths, width)
        fits = left >= needed(table.columns, widths, shown) and len(shown) >= len(widths) - 1
        make = None if fits else next(narrower, None)
        if make is None:
            return table, shown, left
        table = make()


def foot_lines(table: Table, width: int) -> list[str]:
    """The lines below a table, long ones broken at blanks."""
    lines = filter(None, table.foot.split("\n"))
    return [text for line in lines for text in fitted(line, width)]


def rich(table: Table, width: int, *, color: bool) -> str:
    """The table as Rich draws it for a terminal so many cells wide."""
    from io import StringIO

    from rich import box
    from rich.console import Console
    from rich.table import Table as RichTable
    from rich.text import Text

    table, shown, left = narrowest(table, width)
    flexible = [i for i in shown if table.columns[i].flexible]
    room = max(left, 4 * len(flexible), 4)
    widths = column_widths(table)
    share = dict(zip(flexible, shares([widths[i] for i in flexible], room), strict=True))
    grid = RichTable(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for i in shown:
        heading, is_number, style, *_ = table.columns[i]
        side: Literal["left", "right"] = "right" if is_number else "left"
        grid.add_column(
            Text(heading),
            justify=side,
            style=style,
            no_wrap=True,
            overflow="ellipsis",
            max_width=share.get(i),
        )
    for position, row in enumerate(table.rows):
        if table.left_out and position == EDGE_ROWS:
            grid.add_row(*["…" if table.columns[i].is_number else "" for i in shown], style="dim")
        emphasis = "bold" if position == table.marked else ""
        grid.add_row(*[Text(row[i]) for i in shown], style=emphasis)
    buffer = StringIO()
    console = Console(
        file=buffer,
        width=max(width, width - left + room),
        force_terminal=True,
        color_system="standard" if color else None,
        no_color=not color,
        highlight=False,
        legacy_windows=False,
    )
    console.print(grid)
    if table.left_out:
        console.print(Text(gap_text(table)))
    if table.foot:
        console.print()
    for text in foot_lines(table, width):
        console.print(Text(text, style="bold"))
    return "\n".join(line.rstrip() for line in buffer.getvalue().splitlines())
