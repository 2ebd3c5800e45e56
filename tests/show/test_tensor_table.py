"""What tables say of tensors: shapes, small ones whole, others by norm and extremes, at every width."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from exprgrad import parse
from exprgrad.show.text.lines import VIEWS, value_text
from exprgrad.show.text.nodes import node_table
from exprgrad.show.text.table import plain_table, rich_table
from exprgrad.source import display_width
from shell import command
from tensor_runs import RUNS
from together import together


@together(product(RUNS, (40, 60, 80, 100, 160)))
def test_lines_fit_and_no_number_is_cropped(name: str, width: int) -> None:
    """Data and grad are never cut; what there is no room for is said in fewer words."""
    table = node_table(RUNS[name])
    lines = rich_table(table, width, color=False).splitlines()
    assert max(map(display_width, lines[: len(table.rows) + 2])) <= width
    choices = [table, *(make() for make in table.narrower)]
    at = next(i for i, column in enumerate(table.columns) if column.heading == "data")
    for position, line in enumerate(lines[2 : len(table.rows) + 2]):
        written = [[*choice.rows[position][at:]] for choice in choices]
        assert any(all(cell in line for cell in cells) for cells in written), line


def test_a_number_has_the_shape_of_a_number() -> None:
    table = node_table(parse("sum(x)*c").gradient(x=[1, 2], c=3))
    shapes = {row[1]: row[3] for row in table.rows}
    assert shapes == {"x": "(2,)", "sum(x)": "()", "c": "()", "sum(x)*c": "()"}
    assert [column.heading for column in node_table(parse("a").gradient(a=1)).columns] == [
        "#", "node", "operation", "data", "grad",
    ]  # fmt: skip


def test_digits_are_those_of_every_number() -> None:
    argv = ("eval", "x/3", "x=[1,2]", "--digits")
    assert "[0.333, 0.667]" in command(*argv, "3").out
    assert "[0.33333333333333331, " in command(*argv, "17").out


def test_a_long_table_says_what_it_left_out() -> None:
    formula = "+".join(["x"] * 61)
    assert (
        "… 81 nodes left out; --all shows them"
        not in command("grad", f"sum({formula})", "x=[1,2]").out
    )
    short = command("grad", f"sum({formula})", "x=[1,2]").out
    whole = command("grad", f"sum({formula})", "x=[1,2]", "--all").out
    assert "nodes left out; --all shows them" in short and "left out" not in whole
    assert len(whole.splitlines()) == len(parse(f"sum({formula})").graph) + 3


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (2.5, "2.5"),
        ([1, 2, 3], "[1, 2, 3]"),
        ([[1, 2], [3, -0.0]], "[[1, 2], [3, 0]]"),
        ([[[1]]], "[[[1]]]"),
        ([float("nan"), 1], "[nan, 1]"),
        (range(64), f"[{', '.join(map(str, range(64)))}]"),
        (range(65), "norm 299.065, min 0, max 64"),
        ([3e200, 4e200] * 50, "norm 3.53553e+201, min 3e+200, max 4e+200"),
        ([1e-200] * 100, "norm 1e-199, min 1e-200, max 1e-200"),
        ([*range(70), float("nan")], "1 nan, min 0, max 69"),
        ([*range(70), -float("inf")], "norm inf, min -inf, max 69"),
        ([float("nan")] * 1000, "1,000 nan"),
        ([0.123456789] * 3, "[0.123457, 0.123457, 0.123457]"),
    ],
)
def test_view(value: object, text: str) -> None:
    given = value if isinstance(value, float) else np.array(value, dtype=float)
    assert value_text(given, 6) == text
    assert value_text(None, 6) == ""


def test_narrower_views_are_narrower() -> None:
    for value in (np.arange(12.0) / 7, np.array([1 / 3, 2 / 3]), np.full((2, 2), -1 / 7)):
        widths = [len(value_text(value, 6, how)) for how in VIEWS]
        assert widths == sorted(widths, reverse=True)
        assert widths[-1] <= 12


NINTHS = np.arange(1, 5).reshape(2, 2) / 9


@together(product(range(1, 18), (40, 80, 100, 160)))
def test_digits_are_never_fewer_than_asked(digits: int, columns: int) -> None:
    """Where there is no room for all numbers, there is for their norm; the answer is always whole."""
    run = parse("Y = X*w; sum(Y)").gradient(X=NINTHS, w=1)
    text = rich_table(node_table(run, digits), columns, color=False)
    norm = format(np.linalg.norm(NINTHS), f".{digits}g")
    assert any(part in text for part in (value_text(NINTHS, digits), f"norm {norm}", f"‖{norm}‖"))
    answer = rich_table(node_table(parse("X*1").evaluate(X=NINTHS), digits), columns, color=False)
    foot = answer.partition("output")[2]
    for number in NINTHS.ravel():
        assert format(number, f".{digits}g") in foot


def test_more_digits_never_show_less() -> None:
    value = np.arange(64.0).reshape(8, 8) / 7
    for digits in range(1, 18):
        assert value_text(value, digits).count(",") == 63
        cells, _, foot = plain_table(node_table(parse("X/1").evaluate(X=value), digits)).rpartition(
            "output"
        )
        assert foot.count(",") == 63 and cells.count("norm") == 2
        cells = plain_table(node_table(parse("X/1").evaluate(X=value[:4, :4]), digits))
        assert cells.count(",") > 3 * 15 and "norm" not in cells


def test_an_answer_stands_row_by_row() -> None:
    foot = node_table(parse("X/7").evaluate(X=np.arange(24.0).reshape(2, 3, 4))).foot
    assert foot.splitlines() == [
        "output  X/7 =",
        "    [[[0, 0.142857, 0.285714, 0.428571],",
        "      [0.571429, 0.714286, 0.857143, 1],",
        "      [1.14286, 1.28571, 1.42857, 1.57143]],",
        "     [[1.71429, 1.85714, 2, 2.14286],",
        "      [2.28571, 2.42857, 2.57143, 2.71429],",
        "      [2.85714, 3, 3.14286, 3.28571]]]",
    ]
    assert (
        node_table(parse("X*1").evaluate(X=[[1, 2], [3, 4]])).foot
        == "output  X*1 = [[1, 2], [3, 4]]"
    )
    large = node_table(parse("X*1").evaluate(X=np.ones(65))).foot
    assert large == "output  X*1 = norm 8.06226, min 1, max 1"


@pytest.mark.parametrize("columns", [None, 160, 80, 60])
def test_all_shows_tensors_whole(columns: int | None) -> None:
    """On a terminal on lines of their own, in a pipe on one."""
    value = np.arange(1000.0, 1100.0).reshape(20, 5)
    table = node_table(parse("X*2").evaluate(X=value), all_nodes=True)
    text = plain_table(table) if columns is None else rich_table(table, columns, color=False)
    lines = text.splitlines()
    assert columns is None or max(map(display_width, lines)) <= columns
    for number in value.ravel():
        assert f"{number:g}" in text and text.count(f"{2 * number:g}") == 2
    assert len(lines) == 4 + 2 + 20 if columns is None else len(lines) > 40


def test_what_broadcasting_put_in_says_of_what() -> None:
    out = command("grad", "sum(X + b)", "X=[[1,2],[3,4]]", "b=[1,2]").out
    assert "  broadcast(b)  " in out
