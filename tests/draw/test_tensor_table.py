"""Tables of tensors: their shapes, small ones whole, others by norm and extremes, at every width."""

from __future__ import annotations

import numpy as np
import pytest

import golden
from exprgrad import parse
from exprgrad.draw.table import node_table, plain, rich
from exprgrad.draw.tensors import VIEWS, view
from exprgrad.source import display_width
from shell import command
from tensor_runs import RUNS


@pytest.mark.parametrize("name", RUNS)
def test_tables(name: str) -> None:
    table = node_table(RUNS[name])
    pieces = ["in a pipe", "", plain(table)]
    for width in (160, 100, 80, 40):
        pieces += ["", f"on {width} columns", "", rich(table, width, color=False)]
    golden.agree(f"tables/tensors-{name}.txt", "\n".join(pieces) + "\n")


@pytest.mark.parametrize("name", RUNS)
@pytest.mark.parametrize("width", [40, 60, 80, 100, 160])
def test_lines_fit_and_no_number_is_cropped(name: str, width: int) -> None:
    """Data and grad are never cut; what there is no room for is said in fewer words."""
    table = node_table(RUNS[name])
    lines = rich(table, width, color=False).splitlines()
    assert max(map(display_width, lines[: len(table.rows) + 2])) <= width
    choices = [table, *table.narrower]
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
        (range(9), "norm 14.2829, min 0, max 8"),
        ([3e200, 4e200] * 5, "norm 1.11803e+201, min 3e+200, max 4e+200"),
        ([1e-200] * 16, "norm 4e-200, min 1e-200, max 1e-200"),
        ([*range(8), float("nan")], "1 nan, min 0, max 7"),
        ([*range(8), -float("inf")], "norm inf, min -inf, max 7"),
        ([float("nan")] * 1000, "1,000 nan"),
        ([0.123456789] * 3, "[0.123457, 0.123457, 0.123457]"),
        ([0.123456789] * 5, "norm 0.276058, min 0.123457, max 0.123457"),
    ],
)
def test_view(value: object, text: str) -> None:
    given = value if isinstance(value, float) else np.array(value, dtype=float)
    assert view(given, 6) == text
    assert view(None, 6) == ""


def test_narrower_views_are_narrower() -> None:
    for value in (np.arange(12.0) / 7, np.array([1 / 3, 2 / 3]), np.full((2, 2), -1 / 7)):
        widths = [len(view(value, 6, how)) for how in VIEWS]
        assert widths == sorted(widths, reverse=True)
        assert widths[-1] <= 12


def test_what_broadcasting_put_in_says_of_what() -> None:
    out = command("grad", "sum(X + b)", "X=[[1,2],[3,4]]", "b=[1,2]").out
    assert "  broadcast(b)  " in out
