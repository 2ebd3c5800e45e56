"""Grids of ranges: every row is what commands print at its point, and what there is to tell is counted."""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import exprgrad
from amounts import many
from exprgrad.data import grids
from exprgrad.data.grids import Grid, GridTally, grid_rows, grid_warnings, make_grid
from shell import command
from strategies import programs

FORMULAS = [
    ("x^y*log(x + y)", {"x": "0.5:3:4", "y": "1:2:3"}),
    ("tanh(x)*exp(-y/3) + sin(x*y)", {"x": "-2:2:5", "y": "0.1:10:log:3"}),
    ("abs(x - 0.3)*max(x, y)", {"x": "0:1:11", "y": "0:1:3"}),
    ("(1 - cos(x))/x^2", {"x": "1e-9:1:log:7"}),
    ("log(x)/y", {"x": "-1:1:5", "y": "-1:1:3"}),
    ("relu(x) - relu(-x)", {"x": "-1:1:5"}),
    ("exp(x)/exp(x - 1)", {"x": "600:800:5"}),
    ("sin(x)", {"x": "0:2*pi:9"}),
    ("floor(x)*x + sqrt(x)", {"x": "0:4:9"}),
    ("n = 3; sum(x^k/k for k in 1..n)", {"x": "-1:1:5"}),
    ("atan2(y, x) + hypot(x, y) + erf(x)*lgamma(2 + y)", {"x": "-1:2:4", "y": "-1:2:4"}),
]


def grid_of(text: str, ranges: dict[str, str], order: int, **fixed: Any) -> Grid:
    """A grid over texts of ranges."""
    return make_grid(exprgrad.parse(text).graph, text, {**ranges, **fixed}, None, order)


def bits(numbers: Sequence[float]) -> list[bytes]:
    """Doubles as they are, but for the sign of 0 and what is no number."""
    return [struct.pack("d", math.nan if math.isnan(x) else x + 0.0) for x in numbers]


@pytest.mark.parametrize("few", [0, 1000])
@pytest.mark.parametrize(("text", "ranges"), FORMULAS)
def test_rows_are_what_grad_prints(
    text: str, ranges: dict[str, str], few: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """To the bit, corrected where the command corrects, by whatever engine."""
    monkeypatch.setattr(grids, "LEAST_COMPILED", few)
    f = exprgrad.parse(text)
    for x in grid_rows(grid_of(text, ranges, 1), GridTally()):
        found = f.gradient({name: repr(one) for name, one in zip(ranges, x, strict=False)}).true
        assert bits(x[len(ranges) :]) == bits([found.value, *found.gradient.values()])


@pytest.mark.parametrize(("text", "ranges"), FORMULAS[:9:2])
def test_rows_are_what_hess_prints(text: str, ranges: dict[str, str]) -> None:
    """Value, gradient and the second derivatives on and above the diagonal."""
    names = exprgrad.parse(text).inputs
    for x in grid_rows(grid_of(text, ranges, 2), GridTally()):
        point = [f"{name}={one!r}" for name, one in zip(ranges, x, strict=False)]
        found = json.loads(command("hess", text, *point, "--json")[1])
        numbers = [found["value"], *found["gradient"].values()]
        numbers += [found["hessian"][a][b] for at, a in enumerate(names) for b in names[at:]]
        assert bits(x[len(ranges) :]) == bits([*map(float, numbers)])


RANGES = ("-2:2:5", "1e-8:1:log:3", "-1e3:1e3:3", "1:10:log:4")


@pytest.mark.slow
@settings(max_examples=many(25))
@given(programs(), st.permutations(RANGES), st.sampled_from([0, 1, 2]), st.sampled_from([0, 1000]))
def test_rows_of_any_formula(text: str, texts: list[str], order: int, few: int) -> None:
    """A row of a block is what is found at its point by itself, to the bit."""
    f = exprgrad.parse(text)
    assume(0 < len(f.inputs) <= 3 and len(f.graph) < 30)
    values = dict(zip(f.inputs, [*texts[:2], 0.7], strict=False))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(grids, "LEAST_COMPILED", few)
        grid = make_grid(f.graph, text, values, None, order)
        found = list(grid_rows(grid, GridTally()))
    for row, numbers in enumerate(found):
        alone, _ = grids.examine_row(grid, grids.grid_point(grid, row))
        assert bits(numbers[len(grid.ranges) :]) == bits(alone)


def test_the_last_range_varies_fastest() -> None:
    """However many blocks there are."""
    found = list(grid_rows(grid_of("x + 10*y", {"y": "0:9:10", "x": "0:999:1000"}, 0), GridTally()))
    assert found == [(y, x, x + 10 * y) for y in range(10) for x in range(1000)]


def test_what_is_told() -> None:
    """By reason: how many rows, the first few points, and where in the formula."""
    grid, tally = grid_of("log(x) + abs(x - 1)", {"x": "-3:1:5"}, 1), GridTally()
    assert len(list(grid_rows(grid, tally))) == 5
    assert tally.counts == {"domain": 3, "infinite": 1, "kink": 1}
    first, second, third = grid_warnings(grid, tally)
    assert first.message == "3 rows outside the domain: x = -3; x = -2; x = -1"
    assert (first.code, first.span, first.help) == (
        "nan",
        (0, 6),
        "log(x) is defined where x > 0",
    )
    assert second.message == "1 row with a result that is not finite: x = 0"
    assert third.message.startswith("1 row at a kink or a jump")
    assert "left 0, right 2" in (third.help or "")


def test_rows_beyond_those_looked_at_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each reason has so many looks of its own."""
    monkeypatch.setattr(grids, "MOST_LOOKED", {"infinite": 2, "kink": 2, "digits": 2})
    grid, tally = (
        grid_of("floor(x)*(1 - cos(y))/y^2", {"x": "0:4:9", "y": "1e-9:1:2"}, 1),
        GridTally(),
    )
    found = list(grid_rows(grid, tally))
    assert tally.unseen == {"kink": 8, "digits": 1}
    messages = [one.message for one in grid_warnings(grid, tally)]
    assert messages[-2:] == [
        "at 8 more rows the two sides were not compared, past the first 2",
        "at 1 more row digits may be lost and are not corrected, past the first 2",
    ]
    assert found[-1][:2] == (4.0, 1.0)


def test_tensors_are_looked_at_row_by_row() -> None:
    """A range beside a tensor."""
    found = list(grid_rows(grid_of("sum(x*w)^2", {"x": "0:2:3"}, 1, w=[1, 2]), GridTally()))
    assert [row[:3] for row in found] == [(0.0, 0.0, 0.0), (1.0, 9.0, 18.0), (2.0, 36.0, 36.0)]
    assert [row[3].tolist() for row in found] == [[0, 0], [6, 6], [24, 24]]


def test_a_tensor_apart_from_the_range() -> None:
    """What is done to it alone needs no broadcasting, and is one of tensors all the same."""
    found = list(grid_rows(grid_of("a = 2*x; y^2", {"x": "0:1:2"}, 0, y=[1, 2]), GridTally()))
    assert [(x, value.tolist()) for x, value in found] == [(0.0, [1, 4]), (1.0, [1, 4])]


def test_tables_in_python() -> None:
    """The same as columns: by input, and by two for second derivatives."""
    f = exprgrad.parse("x^2*y")
    found = f.table(x="0:2:3", y="1:2:2", order=2)
    assert found.inputs["x"].tolist() == [0, 0, 1, 1, 2, 2]
    assert found.value.tolist() == [0, 0, 1, 2, 4, 8]
    assert found.gradient["x"].tolist() == [0, 0, 2, 4, 4, 8]
    assert (
        found.hessian["x"]["y"].tolist() == found.hessian["y"]["x"].tolist() == [0, 0, 2, 2, 4, 4]
    )
    assert (found.counts, found.diagnostics) == ({}, [])
    assert [*found.columns] == ["x", "y", "value", "d_x", "d_y", "d_x_x", "d_x_y", "d_y_y"]
    assert repr(found).splitlines()[-1] == "6 points; y varies fastest"
    assert "<td" in found._repr_html_()
    only = f.table({"y": 3, "x": "1:100:log:3"}, order=0)
    assert (only.value.tolist(), only.gradient, only.hessian) == ([3, 300, 30000], {}, {})
    assert f.table(x="-1:1:3", y=0, wrt=["y"]).gradient["y"].tolist() == [1, 0, 1]
    found = f.table(x="0:4:3", y=3, elastic=True)
    np.testing.assert_array_equal(found.elasticity["x"], [math.nan, 2, 2])
    assert found.elasticity["y"].tolist()[1:] == [1, 1]
    assert found.counts == {"elasticity": 1}
    with pytest.raises(exprgrad.RequestError, match="those of a gradient"):
        f.table(x="0:1:2", y=1, order=2, elastic=True)
    with pytest.raises(exprgrad.RequestError, match="order 3"):
        f.table(x="0:1:2", y=1, order=3)
    with pytest.raises(exprgrad.ExprgradError, match="has no value"):
        f.table(x="0:1:2")
    with pytest.raises(exprgrad.InputError, match="no input has a range"):
        f.table(x=1, y=2)


def test_a_table_that_fills_the_memory_is_refused() -> None:
    with pytest.raises(exprgrad.RequestError, match=r"300,000,000,000 numbers, or 2\.4 TB"):
        exprgrad.parse("x^2").table(x="0:1:1e11")
