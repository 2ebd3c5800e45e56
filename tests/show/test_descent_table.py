"""A descent as people and programs read it."""

from __future__ import annotations

import csv
import io
import math

import pytest

from exprgrad import parse
from exprgrad.show.documents.document import csv_line
from exprgrad.show.text.searches import BARS, CELLS, descent_table, sparkline_text
from exprgrad.show.text.table import plain_table


def test_sparklines() -> None:
    assert sparkline_text([0, 1, 2, 3, 4, 5, 6, 7]) == BARS
    assert (
        sparkline_text([7, 0]) == "█▁"
        and sparkline_text([5, 5, 5]) == "▁▁▁"
        and sparkline_text([2]) == "▁"
    )
    assert (
        sparkline_text([1, math.nan, 2, -math.inf]) == "▁×█×" and sparkline_text([math.inf]) == "×"
    )
    assert sparkline_text([-1.7e308, 1.7e308, 0]) == "▁█▅"  # whose difference overflows
    assert sparkline_text([5e-324, 0]) in ("▁▁", "█▁")
    long = sparkline_text([float(-n) for n in range(1001)])
    assert len(long) == CELLS and long[0] == "█" and long[-1] == "▁"
    assert sorted(long, reverse=True) == [*long]


@pytest.mark.parametrize(
    ("count", "headings"),
    [
        (1, ["step", "loss", "x0", "x0.grad", "x0.update"]),
        (4, 2 + 3 * 4),
        (5, ["step", "loss", "‖grad‖", "‖update‖"]),
    ],
)
def test_columns(count: int, headings: list[str] | int) -> None:
    text = "loss = " + " + ".join(f"(x{n} - {n})^2" for n in range(count))
    found = parse(text).descend({f"x{n}": n + 3 for n in range(count)}, rate=0.25, steps=1)
    table = descent_table(found, 6)
    columns = [column.heading for column in table.columns]
    assert columns == headings or len(columns) == headings
    whole = descent_table(found, 6, whole=True)
    assert len(whole.columns) == 2 + 3 * count and not whole.left_out
    norm = math.sqrt(count) * 6
    if count == 5:
        assert table.rows[0][2:] == [f"{norm:.6g}", f"{norm / 4:.6g}"]
        assert table.rows[1][3] == ""


def test_long_runs_show_both_ends() -> None:
    found = parse("x^2").descend(x=1, rate=1e-3, steps=200)
    table = descent_table(found, 6)
    assert [row[0] for row in table.rows] == [*map(str, [*range(20), *range(181, 201)])]
    assert "… 161 steps left out; all=True shows them" in plain_table(table)
    assert len(descent_table(found, 6, whole=True).rows) == 201


def test_csv_holds_every_digit() -> None:
    found = parse("sum(x^2)*y/3").descend(x=[1, 2], y=7, rate=0.1, steps=2)
    rows = list(csv.reader(io.StringIO("".join(map(csv_line, descent_table(found, 6).csv or ())))))
    assert rows[0] == [
        "step", "value", "x.data", "x.grad", "x.update", "y.data", "y.grad", "y.update",
    ]  # fmt: skip
    for row, step in zip(rows[1:], found.steps, strict=True):
        assert (int(row[0]), float(row[1])) == (step.step, step.value)
        assert row[2] == str(step.inputs["x"].tolist())
        assert float(row[5]) == step.inputs["y"]
    assert rows[-1][4] == rows[-1][7] == ""
