"""Tables: one content, drawn by Rich on a terminal, as columns in a pipe, and as HTML."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from operator import attrgetter, itemgetter
from typing import Any, Literal, NamedTuple

from exprgrad.show.documents.document import csv_rows
from exprgrad.show.text.lines import (
    EDGE_ROWS,
    FULL,
    VIEWS,
    WHOLE_VIEW,
    View,
    align_columns,
    cell_width,
    decimal_text,
    first_and_last,
    first_that_fits,
    fit_line,
    gap_line,
    value_text,
    value_texts_by_room,
)
from exprgrad.source import printable_text

__all__ = [
    "WIDEST", "Column", "Screen", "Table", "column_widths", "csv_column", "least_width", "make_table",
    "plain_table", "render_html", "rich_table",
]  # fmt: skip

LEAST = 18
"""The fewest cells that a flexible column is left with before others are dropped."""
BETWEEN = 3
"""The cells between two columns on a terminal."""
WIDEST = 10_000
"""The cells of a table in colour that goes to no terminal."""
STYLE = """
.X table {border-collapse: collapse; table-layout: auto; margin: 0.4em 0}
.X table {font-variant-numeric: tabular-nums}
.X th, .X td {padding: 0.15em 0.7em; text-align: left; vertical-align: top; white-space: pre}
.X th, .X td, .X tr, .X pre {border: 0; background: none; color: inherit}
.X thead tr {border-bottom: 1px solid currentColor}
.X .number {text-align: right}
.X .dim {opacity: 0.7}
.X .marked td {font-weight: 700}
.X pre {font-family: monospace}
.X pre {margin: 0.4em 0; padding: 0; line-height: 1.4; white-space: pre; overflow-x: auto}
""".replace(".X", ".exprgrad.exprgrad")
"""A notebook's own colours and font, in light and in dark; twice the name, to outdo its own tables."""
FOLDED = (160, 120, 80, 60, 40, 30, 20, 12)
"""The line widths, in cells, that are tried for a tensor shown whole on a terminal."""


class Screen(NamedTuple):
    """A place where people read: its ``width`` in cells, None in a pipe, and whether it has colour.

    ``digits`` are the significant digits of numbers; ``whole`` leaves nothing out.
    """

    width: int | None = None
    color: bool = False
    digits: int = 6
    whole: bool = False


class Column(NamedTuple):
    """A column of an answer: what people read in it, and what CSV has.

    ``heading``     the heading
    ``cell``        reads an item's cell; None for what CSV has, or where an item is itself its cells
    ``is_number``   whether it is numeric
    ``style``       its Rich style
    ``flexible``    whether it is truncated on a narrow terminal
    ``expendable``  where that isn't enough, columns are dropped, the highest number first; 0 never is
    ``key``         its name in CSV; empty for a column that only people have
    ``value``       reads what CSV has; None for the item's attribute of that name
    ``is_shown``    whether people have it
    """

    heading: str
    cell: Callable[[Any], Any] | None = None
    is_number: bool = False
    style: str = ""
    flexible: bool = False
    expendable: int = 0
    key: str = ""
    value: Callable[[Any], Any] | None = None
    is_shown: bool = True


csv_column = partial(Column, "", is_shown=False)
"""A column that CSV has and people don't."""


class Table(NamedTuple):
    """Rows of text; ``left_out`` rows are missing after the first ``EDGE_ROWS``; ``foot`` is below.

    ``what`` names the rows where some are left out.  ``narrower`` make tables to draw instead, the widest
    first, where a terminal has no room for all columns but one.  ``csv`` are the lines of CSV,
    headings first, of a table whose columns have keys.
    """

    columns: Sequence[Column]
    rows: Sequence[Sequence[str]]
    left_out: int = 0
    foot: str = ""
    marked: int = -1
    what: str = "nodes"
    narrower: Sequence[Callable[[], Table]] = ()
    csv: Iterable[Sequence[Any]] | None = None


def make_table(
    columns: Sequence[Column],
    items: Sequence[Any],
    digits: int = 6,
    *,
    whole: bool = False,
    how: View = FULL,
    marked: Any = None,
    foot: str = "",
    what: str = "rows",
) -> Table:
    """A table of items, of many the first and the last unless ``whole``; the columns say what one holds.

    A cell is a text, a number, None for nothing, or a tensor, shown in as much detail as there is room
    for, at most ``how``; ``whole`` leaves out none of its numbers.  The ways to show a tensor may be given
    as a list, the fullest first.
    """
    shown, left_out = first_and_last(items, whole=whole)

    def said(value: Any) -> Any:
        """A cell as text; a tensor as the ways to show it, or whole, as it is."""
        if value is None or isinstance(value, float):
            return decimal_text(value, digits)
        if isinstance(value, str | int):
            return printable_text(str(value))
        if isinstance(value, list):
            return value[0] if whole else value
        return value if whole else value_texts_by_room(value, digits, how)

    values = {one.key: one.value or attrgetter(one.key) for one in columns if one.key}
    csv = csv_rows(values, items) if values else None
    columns = [column for column in columns if column.is_shown]
    getters = [one.cell or values.get(one.key) or itemgetter(at) for at, one in enumerate(columns)]
    rows = [[said(cell(item)) for cell in getters] for item in shown]
    at = next((at for at, item in enumerate(shown) if item == marked), -1)

    def table(tensor: Callable[[Any], str]) -> Table:
        """The table with its tensors shown so."""
        texts = [[cell if isinstance(cell, str) else tensor(cell) for cell in row] for row in rows]
        return Table(columns, texts, left_out, foot, at, what, csv=csv)

    manners = [partial(first_that_fits, room=how.room) for how in VIEWS]
    if whole:
        manners = [partial(value_text, digits=digits, how=WHOLE_VIEW)]
        folds = [WHOLE_VIEW._replace(room=room) for room in FOLDED]
        manners += [partial(value_text, digits=digits, how=view) for view in folds]
    first, *narrower = [partial(table, manner) for manner in manners]
    has_tensors = any(not isinstance(cell, str) for row in rows for cell in row)
    return first()._replace(narrower=narrower if has_tensors else ())


def column_widths(table: Table) -> list[int]:
    """The width of every column's widest cell."""
    headings = [column.heading for column in table.columns]
    return [
        max(cell_width(line) for cell in column for line in cell.split("\n"))
        for column in zip(headings, *table.rows, strict=True)
    ]


def least_width(columns: Sequence[Column], widths: Sequence[int], shown: Sequence[int]) -> int:
    """The cells that some columns need on a terminal, the flexible ones cut."""
    cells = (min(widths[i], LEAST) if columns[i].flexible else widths[i] for i in shown)
    return sum(cells) + BETWEEN * (len(shown) - 1)


def plain_table(table: Table) -> str:
    """The table as aligned columns of plain text, nothing cropped."""
    headings = [column.heading for column in table.columns]
    numbers = [at for at, column in enumerate(table.columns) if column.is_number]
    lines = align_columns([headings, *table.rows], right=numbers)
    if table.left_out:
        lines.insert(1 + EDGE_ROWS, gap_line(table.left_out, table.what))
    return "\n".join([*lines, *(["", table.foot] if table.foot else [])])


def fitting_columns(
    columns: Sequence[Column], widths: Sequence[int], width: int
) -> tuple[list[int], int]:
    """The positions of the columns that fit into ``width`` cells, and the room of flexible ones."""
    shown = list(range(len(columns)))
    while least_width(columns, widths, shown) > width:
        dropped = max(shown, key=lambda i: columns[i].expendable)
        if not columns[dropped].expendable:
            break
        shown.remove(dropped)
    fixed = sum(widths[i] for i in shown if not columns[i].flexible)
    return shown, width - fixed - BETWEEN * (len(shown) - 1)


def share_room(widths: Sequence[int], room: int) -> list[int]:
    """Shares room out among flexible columns: what one doesn't need is left to the others."""
    found = [0] * len(widths)
    for done, i in enumerate(sorted(range(len(widths)), key=lambda i: widths[i])):
        found[i] = min(widths[i], room // (len(widths) - done))
        room -= found[i]
    return found


def narrow_table(table: Table, width: int) -> tuple[Table, list[int], int]:
    """The table, or the first of its narrower ones, that has room for all columns but one.

    With it come the positions of the columns that are shown, and the cells left for flexible ones.
    """
    narrower = iter(table.narrower)
    while True:
        widths = column_widths(table)
        shown, left = fitting_columns(table.columns, widths, width)
        fits = least_width(table.columns, widths, shown) <= width
        make = None if fits and len(shown) >= len(widths) - 1 else next(narrower, None)
        if make is None:
            return table, shown, left
        table = make()


def rich_table(table: Table, width: int, *, color: bool) -> str:
    """The table as Rich draws it for a terminal so many cells wide."""
    from io import StringIO

    from rich import box
    from rich.console import Console
    from rich.table import Table as RichTable
    from rich.text import Text

    table, shown, left = narrow_table(table, width)
    flexible = [i for i in shown if table.columns[i].flexible]
    room = max(left, 4 * len(flexible), 4)
    widths = column_widths(table)
    share = dict(zip(flexible, share_room([widths[i] for i in flexible], room), strict=True))
    grid = RichTable(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for i in shown:
        column = table.columns[i]
        side: Literal["left", "right"] = "right" if column.is_number else "left"
        grid.add_column(
            Text(column.heading),
            justify=side,
            style=column.style,
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
        console.print(Text(gap_line(table.left_out, table.what)))
    if table.foot:
        console.print()
    for line in filter(None, table.foot.split("\n")):
        console.print(Text("\n".join(fit_line(line, width)), style="bold"))
    return "\n".join(line.rstrip() for line in buffer.getvalue().splitlines())


def render_html(parts: Iterable[str | Table]) -> str:
    """Texts and tables as a notebook shows them."""
    from html import escape

    pieces = [
        f"<pre>{escape(part)}</pre>" if isinstance(part, str) else "".join(html_table_lines(part))
        for part in parts
        if part
    ]
    return f'<div class="exprgrad"><style>{STYLE}</style>{"".join(pieces)}</div>'


def html_table_lines(table: Table) -> Iterator[str]:
    """A table as HTML, with the lines below it."""
    from html import escape

    columns = table.columns
    classes = [f"{'number ' * c.is_number}{'dim' * (c.style == 'dim')}".strip() for c in columns]
    marks = [f' class="{name}"' if name else "" for name in classes]

    def line(tag: str, cells: Iterable[str]) -> str:
        pairs = zip(marks, cells, strict=True)
        return "".join(f"<{tag}{mark}>{escape(cell)}</{tag.split()[0]}>" for mark, cell in pairs)

    headings = line('th scope="col"', [column.heading for column in columns])
    yield f"<table><thead><tr>{headings}</tr></thead><tbody>"
    for at, row in enumerate(table.rows):
        if table.left_out and at == EDGE_ROWS:
            yield f'<tr><td colspan="{len(columns)}">{gap_line(table.left_out, table.what)}</td></tr>'
        mark = ' class="marked"' if at == table.marked else ""
        yield f"<tr{mark}>{line('td', row)}</tr>"
    yield "</tbody></table>"
    if table.foot:
        yield f"<pre>{escape(table.foot.strip())}</pre>"
