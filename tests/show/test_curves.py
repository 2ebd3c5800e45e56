"""Plots on a terminal: what they look like, as golden files, and how they fit."""

from __future__ import annotations

import math
import re

import pytest

import golden
from exprgrad import parse
from exprgrad.show.picture import curves, plots
from exprgrad.show.picture.plots import round_ticks
from exprgrad.source import display_width
from shell import command

PLOTS = {
    "tan": ["tan(x)", "x=-5:5"],
    "kinks": ["max(sin(x), cos(x))", "x=0:2*pi", "--order", "2"],
    "steps": ["floor(x)*x", "x=-2.5:2.5"],
    "domain": ["sqrt(x^2 - 1)", "x=-3:3", "--order", "0"],
    "steep": ["tanh(1e4*x)", "x=-1:1"],
    "dense": ["sin(1/x)", "x=-1:1", "--order", "0"],
    "tangent": ["log(x)", "x=0:4", "--order", "0", "--tangent-at", "1"],
    "empty": ["sqrt(-1 - x^2)", "x=-1:1"],
    "several": ["f = x^2; g = x^3", "x=-1.5:1.5"],
    "large": ["1e300*x + 1e299", "x=-1:1"],
    "map": [
        "(1 - x)^2 + 100*(y - x^2)^2",
        "x=-2:2",
        "y=-1:3",
        "--descend-from",
        "x=-1,y=1",
        "--rate",
        "2e-3",
    ],
}


@pytest.mark.parametrize("name", PLOTS)
def test_plots_on_a_terminal(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("LINES", "24")
    status, out, err = command("plot", *PLOTS[name])
    assert (status, err) == (0, "")
    golden.agree(f"plots/{name}.txt", out)


@pytest.mark.parametrize("columns", [20, 40, 132])
def test_a_plot_fits_its_columns(columns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    for argv in (["x^3 - 2*x", "x=-2:2"], ["x^2 - y^2", "x=-1:1", "y=-1:1"]):
        panels = command("plot", *argv).out.split("\n\n")[0]
        widths = [display_width(line) for line in panels.splitlines()]
        assert max(widths) <= max(columns, 26)


def test_colour_is_for_terminals_and_for_who_asks() -> None:
    argv = ["plot", "x^2 - 1", "x=-2:2"]
    plain, colored = command(*argv).out, command(*argv, "--color", "always").out
    assert "\x1b" not in plain
    assert {"\x1b[36m", "\x1b[33m"} <= {*re.findall("\x1b\\[[0-9]+m", colored)}


def test_a_descent_that_runs_away_is_drawn_as_far_as_it_is_near() -> None:
    argv = ["plot", "(1 - x)^2 + 100*(y - x^2)^2", "x=-2:2", "y=-1:3", "--descend-from", "x=-1,y=2"]
    assert "● descent: 5 steps" in command(*argv).out
    assert "● descent: 1 step to" in command(*argv, "--max-steps", "1").out


@pytest.mark.parametrize(
    ("y", "start", "even"),
    [((-1, 3), {"x": 1}, True), ((-30, 30), {"x": 1}, False), ((-1, 3), None, False)],
)
def test_a_descent_is_drawn_with_equal_scales_where_inputs_are_alike(
    y: tuple[float, float], start: dict[str, float] | None, even: bool
) -> None:
    descend = None if start is None else {**start, "y": 1}
    (frame,) = parse("x^2 + y^2").plot(x=(-2, 2), y=y, descend=descend).frames()
    assert frame.even == even
    assert frame.y_range == y and frame.share <= curves.MAP_SHARE


@pytest.mark.parametrize("ranges", [["x=-1:1", "y=2"], ["x=-1:1", "y=1:2"]], ids=["curve", "map"])
def test_why_there_is_nothing_to_draw(ranges: list[str]) -> None:
    argv = ["plot", "log(-x^2 - y^2)", *ranges]
    reason = "there is nothing to draw: the formula has no value in this range"
    assert command(*argv).out.endswith(f"{reason}\n")
    assert command(*argv, "-q") == (0, "", f"warning: {reason}\n")
    assert command(*argv, "--csv", "--strict")[::2] == (1, f"warning: {reason}\n")


def test_many_points_are_counted_and_not_listed() -> None:
    few, every = (command("plot", "tan(x)", "x=-20:20", *more).out for more in ([], ["--all"]))
    assert re.search("… [0-9]+ more; (--all|all=True)", few)
    assert few.count("pole") < 10 < every.count("pole")


@pytest.mark.parametrize(
    ("low", "high", "texts"),
    [
        (0, 1, ["0", "0.2", "0.4", "0.6", "0.8", "1.0"]),
        (-2, 2, ["-2", "-1", "0", "1", "2"]),
        (999998, 1000002, ["999998", "999999", "1000000", "1000001", "1000002"]),
        (0, 5e-300, ["0", "1.00e-300", "2.00e-300", "3.00e-300", "4.00e-300", "5.00e-300"]),
        (-1.7e308, 1.7e308, ["-1.00e308", "0", "1.00e308"]),
        (0, 1.5e-5, ["0", "5e-6", "1.0e-5", "1.5e-5"]),
    ],
)
def test_ticks_are_round_numbers(low: float, high: float, texts: list[str]) -> None:
    found = round_ticks(low, high, 6)
    assert [text for _, text in found] == texts
    assert [value for value, _ in found] == [pytest.approx(float(text)) for text in texts]


@pytest.mark.parametrize(("low", "high"), [(1, 1), (math.nan, 1), (0, math.inf)])
def test_no_ticks_where_there_is_no_axis(low: float, high: float) -> None:
    assert round_ticks(low, high, 5) == ()


@pytest.mark.parametrize("order", [0, 1, 2])
def test_what_is_next_to_nothing_is_enlarged(order: int) -> None:
    """The value, or one derivative, by a power of ten; the others are left as they are."""
    curve = parse("1e-300*x^3").plot(x=(-1, 2)).curve
    enlarged = curves.enlarge_curve(curve, order, -300)
    for before, after in zip(curve.arcs, enlarged.arcs, strict=True):
        cubes = [x**3 for x in before.x], [3 * x**2 for x in before.x], [6 * x for x in before.x]
        columns = after.value, after.slope, after.second
        assert columns[order] == pytest.approx(cubes[order], rel=1e-12)
        others = [at for at in range(4) if at != order + 1]
        assert [after[at] for at in others] == [before[at] for at in others]


@pytest.mark.parametrize(("largest", "power"), [(1.5e-250, ""), (0.9e-250, "1e−251")])
def test_how_little_is_enlarged(largest: float, power: str) -> None:
    """What is less than 1e-250 throughout, and nothing else; the title says by how much."""
    plot = parse("x").plot(x=(-1, 1))
    plot.curve = plot.curve._replace(windows=[(-largest, largest), *plot.curve.windows[1:]])
    title = plot.frames()[0].title
    assert title == "f = x" + (f"   (times {power})" if power else "")


def test_the_dot_on_a_tangent_is_smaller_than_those_of_features() -> None:
    plot = parse("x^2").plot(x=(-1, 2), tangent=1.0)
    layers = [layer for layer in plot.frames()[0].layers if isinstance(layer, plots.Layer)]
    sizes = {tuple(layer.x): layer.size for layer in layers if layer.size}
    assert sizes.keys() == {(1.0,), (0.0,)} and sizes[1.0,] < sizes[0.0,]


def test_each_binding_that_no_other_statement_reads_is_drawn() -> None:
    """In the pictures, with a legend; the numbers are those of the output."""
    plot = parse("h = x + 1; f = h^2; k = 3; n = 4*x - 1; x^3").plot(x=(-1, 2))
    assert [*plot.curves] == ["f", "n", "x^3"]
    frames = plot.frames()
    assert frames[0].title == "h = x + 1; f = h^2; k = 3; n = 4*x − 1; x^3"
    layers = [layer for layer in frames[0].layers if isinstance(layer, plots.Layer)]
    assert [layer.label for layer in layers if layer.label] == ["f", "n", "x^3"]
    assert frames[0].y_range is not None and frames[0].y_range[0] < -5  # of n at -1
    alone = parse("x^3").plot(x=(-1, 2))
    assert [*plot.rows()] == [*alone.rows()]
    assert [*plot.lines()] == [*alone.lines()]


def test_an_output_alone_is_drawn_as_it_was() -> None:
    for text in ("h = x + 1; h^2", "v[0] = x; v[k] = v[k-1]/2 for k in 1..3; v[2]", "k = 3; x^2"):
        assert not parse(text).plot(x=(-1, 2)).others


def test_a_plot_in_python_is_the_command_s() -> None:
    plot = parse("x^3 - 2*x").plot(x="-2:2")
    assert "○ root" in str(plot)
    assert plot.at("minimum", "maximum") == [-0.816496580927726, 0.816496580927726]
    assert parse("a*x").plot({"x": (-1, 1), "a": 2}).curve.given == {"a": 2}
