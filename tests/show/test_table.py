"""Tables of nodes: in a pipe, and as Rich draws them on terminals, those of tensors in more widths."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product, takewhile

import pytest

import golden
import tensor_runs
from exprgrad import Run, parse
from exprgrad.show.text.lines import decimal_text
from exprgrad.show.text.nodes import node_table
from exprgrad.show.text.table import Column, Table, csv_column, make_table, plain_table, rich_table
from exprgrad.source import display_width
from together import together

NEURON = "n = x1*w1 + x2*w2 + b\no = tanh(n)"
RUNS: dict[str, Run] = {
    "product": parse("(a+b)*c").gradient(a=2, b=-3, c=10),
    "neuron": parse(NEURON).gradient(x1=2, w1=-3, x2=0, w2=1, b=6.8813735870195432),
    "forward": parse(NEURON).evaluate(x1=2, w1=-3, x2=0, w2=1, b=6.8813735870195432),
    "wrt": parse("unused = 2*c; a*b + 3").gradient(a=2, b=3, c=1, wrt=["b"]),
    "extreme": parse("x*y/0 + log(-x)*1e-300").gradient(x=-1.2345678e-205, y=9.87654321e107),
    "wide": parse("重み = 2; 重み*入力 + e\u0301 + 值").gradient(入力=3, é=1, 值=-1),
    "call": parse("max(a, b)*b").gradient(a=1, b=2),
    "long": parse("+".join(f"x{i}*{i}" for i in range(40))).gradient(
        {f"x{i}": i for i in range(40)}
    ),
    "constant": parse("2+2").gradient(),
}


OF_NUMBERS = [(name, run, (80, 40)) for name, run in RUNS.items()]
OF_TENSORS = [
    (f"tensors-{name}", run, (160, 100, 80, 40)) for name, run in tensor_runs.RUNS.items()
]


@together([*OF_NUMBERS, *OF_TENSORS])
def test_tables(name: str, run: Run, widths: Sequence[int]) -> None:
    table = node_table(run)
    pieces = ["in a pipe", "", plain_table(table)]
    for width in widths:
        pieces += ["", f"on {width} columns", "", rich_table(table, width, color=False)]
    golden.agree(f"tables/{name}.txt", "\n".join(pieces) + "\n")


@together(product(RUNS, (24, 40, 64, 80, 120)))
def test_no_number_is_cropped(name: str, width: int) -> None:
    """Every data and grad is on its line in full; lines fit wherever the numbers leave room."""
    table = node_table(RUNS[name])
    lines = rich_table(table, width, color=False).splitlines()
    body = {line.split()[0]: line.split() for line in takewhile(bool, lines[2:])}
    for row in table.rows:
        numbers = [
            c for c, column in zip(row, table.columns, strict=True) if column.is_number and c
        ]
        shown = body[numbers[0]]
        assert shown[len(shown) - len(numbers) + 1 :] == numbers[1:]
    numbers_alone = sum(
        max(display_width(row[i]) for row in [[c.heading for c in table.columns], *table.rows])
        for i, column in enumerate(table.columns)
        if column.is_number
    )
    if width >= numbers_alone + 4 + 9:
        assert max(map(display_width, lines[: len(table.rows) + 2])) <= width


def test_the_same_content_in_both() -> None:
    """Rich on a wide terminal shows the cells of the plain table."""
    for run in RUNS.values():
        table = node_table(run)
        one = [line.split() for line in plain_table(table).splitlines() if line]
        other = [
            line.split() for line in rich_table(table, 300, color=False).splitlines()[2:] if line
        ]
        assert one[1 : 1 + 20] == other[:20] or table.left_out


def test_markup_is_text() -> None:
    """User text never passes through Rich markup."""
    table = Table(
        [Column("[red]h[/red]")], [["[bold]x[/bold]"], ["[/]"], [":smile:"]], foot="[link=x]y"
    )
    shown = rich_table(table, 80, color=True)
    for text in ("[red]h[/red]", "[bold]x[/bold]", "[/]", ":smile:", "[link=x]y"):
        assert text in shown


def test_csv_follows_from_the_columns() -> None:
    """What people read, and what CSV has, are one list of columns; either may have some of its own."""
    columns = [
        Column("number", lambda one: f"{one.real:.1f}", key="real"),
        Column("twice", lambda one: 2 * one.real),
        csv_column(key="imag"),
        csv_column(key="size", value=abs),
    ]
    table = make_table(columns, [3 + 4j] * 100)
    assert [column.heading for column in table.columns] == ["number", "twice"]
    assert table.rows[0] == ["3.0", "6"] and table.left_out
    assert table.csv is not None
    assert [*table.csv] == [["real", "imag", "size"], *[[3.0, 4.0, 5.0]] * 100]
    assert make_table(columns[1:2], [1j]).csv is None


def test_colour_only_when_asked() -> None:
    table = node_table(RUNS["product"])
    assert "\x1b" not in plain_table(table)
    assert "\x1b[3" in rich_table(table, 80, color=True)
    assert "\x1b[3" not in rich_table(table, 80, color=False)


def test_a_long_table_says_what_it_left_out() -> None:
    run = RUNS["long"]
    lines = node_table(run)
    assert len(lines.rows) == 40 and lines.left_out == len(run.nodes) - 40
    assert f"… {lines.left_out} nodes left out; all=True shows them" in plain_table(lines)
    whole = node_table(run, all_nodes=True)
    assert len(whole.rows) == len(run.nodes) and "left out" not in plain_table(whole)


def test_60_nodes_are_shown_in_full() -> None:
    """A gap that saves a few lines would save nothing."""
    run = parse("+".join(["x"] * 60)).gradient(x=1)
    assert len(run.nodes) == 60
    assert node_table(run).left_out == 0
    assert node_table(parse("+".join(["x"] * 61)).gradient(x=1)).left_out == 21


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, ""),
        (2.0, "2"),
        (-0.0, "0"),
        (1 / 3, "0.333333"),
        (1e-7, "1e-07"),
        (1234567.0, "1.23457e+06"),
    ],
)
def test_decimal(value: float | None, text: str) -> None:
    assert decimal_text(value, 6) == text
