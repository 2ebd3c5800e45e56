"""Tables of nodes: one content, drawn by Rich on a terminal and as plain columns in a pipe."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from exprgrad.graph.graph import CONST
from exprgrad.run.result import Run
from exprgrad.source import display_width, printable

__all__ = [
    "BETWEEN", "EDGE_ROWS", "LEAST", "LONGEST_WHOLE", "Column", "Table", "corrections", "decimal",
    "left_out_of", "minus", "node_table", "plain", "rich", "title",
]  # fmt: skip

LEAST = 18
"""The fewest cells that a flexible column is left with before others are dropped."""
BETWEEN = 3
"""The cells between two columns on a terminal."""
EDGE_ROWS = 20
"""How many rows a long table shows at each end."""
LONGEST_WHOLE = 60
"""The most nodes that are shown whole."""


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


def node_table(run: Run, digits: int = 6, *, all_nodes: bool = False) -> Table:
    """Every node, its operation and data, and its grad where there was a reverse sweep."""
    if run.shapes is not None:
        from exprgrad.draw.text.tensors import tensor_table

        return tensor_table(run, digits, whole=all_nodes)
    graph = run.graph
    with_grad = run.adjoints is not None
    columns = [
        Column("#", is_number=True, style="dim"),
        Column("node", flexible=True),
        Column("operation", style="dim", expendable=1),
        Column("data", is_number=True, style="green"),
    ]
    if with_grad:
        columns.append(Column("grad", is_number=True, style="yellow"))
    nodes, left_out = left_out_of(len(graph), all_nodes=all_nodes)
    rows: list[list[str]] = []
    marked = -1
    for node in nodes:
        if node == graph.output:
            marked = len(rows)
        kind = graph.kinds[node]
        row = [
            str(node),
            title(run, node),
            "constant" if kind == CONST else kind,
            decimal(run.values[node], digits),
        ]
        if with_grad:
            row.append(decimal(run.grad(node), digits))
        rows.append([printable(cell) for cell in row])
    called = graph.output_name or run.texts[graph.output]
    foot = f"output  {printable(called)} = {decimal(run.value, digits)}"
    foot = "\n".join([foot, *corrections(run, digits)])
    return Table(columns, rows, left_out, foot, marked)


def corrections(run: Run, digits: int) -> list[str]:
    """The line that says where the gradient is not what the sweep's numbers above it say."""
    told = [
        f"{printable(name)} = {decimal(value, digits)}, where the sweep has {decimal(sweep, digits)}"
        for name, (sweep, value) in run.corrected.items()
    ]
    return [f"gradient corrected: {'; '.join(told)}"] if told else []


def left_out_of(count: int, *, all_nodes: bool) -> tuple[Sequence[int], int]:
    """The nodes that a table shows, and how many it leaves out."""
    if all_nodes or count <= LONGEST_WHOLE:
        return range(count), 0
    return [*range(EDGE_ROWS), *range(count - EDGE_ROWS, count)], count - 2 * EDGE_ROWS


def title(run: Run, node: int) -> str:
    """A node's text, after its name where a statement gave it one."""
    name, text = run.names.get(node), run.texts[node]
    return text if name is None or name == text else f"{name} = {text}"


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


def foot_lines(foot: str, width: int) -> Iterator[str]:
    """The lines below a table, long ones broken at blanks."""
    from textwrap import wrap

    for line in foot.split("\n"):
        indent = " " * (len(line) - len(line.lstrip()) + 2)
        yield from wrap(
            line, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
        )


def rich(table: Table, width: int, *, color: bool) -> str:
    """The table as Rich draws it for a terminal so many cells wide."""
    from io import StringIO

    from rich import box
    from rich.console import Console
    from rich.table import Table as RichTable
    from rich.text import Text

    narrower = iter(table.narrower)
    while True:
        widths = column_widths(table)
        shown, left = fitting(table.columns, widths, width)
        fits = left >= needed(table.columns, widths, shown) and len(shown) >= len(widths) - 1
        make = None if fits else next(narrower, None)
        if make is None:
            break
        table = make()
    flexible = [i for i in shown if table.columns[i].flexible]
    room = max(left, 4 * len(flexible), 4)
    share = dict(zip(flexible, shares([widths[i] for i in flexible], room), strict=True))
    drawn = RichTable(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for i in shown:
        column = table.columns[i]
        drawn.add_column(
            Text(column.heading),
            justify="right" if column.is_number else "left",
            style=column.style,
            no_wrap=True,
            overflow="ellipsis",
            max_width=share.get(i),
        )
    for position, row in enumerate(table.rows):
        if table.left_out and position == EDGE_ROWS:
            drawn.add_row(*["…" if table.columns[i].is_number else "" for i in shown], style="dim")
        drawn.add_row(
            *[Text(row[i]) for i in shown], style="bold" if position == table.marked else ""
        )
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
    console.print(drawn)
    if table.left_out:
        console.print(Text(gap_text(table)))
    if table.foot:
        console.print()
        for text in foot_lines(table.foot, width):
            console.print(Text(text, style="bold"))
    lines = buffer.getvalue().splitlines()
    return "\n".join(text.rstrip() for text in lines)
