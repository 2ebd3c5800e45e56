"""Points that rounding spoils are left out of curves and maps, and counted: mpmath knows which."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
from jsonschema import validate

from exprgrad import parse
from exprgrad.language.read.parse import parse_text as graph_of
from exprgrad.show.picture.curves import PlaneMap
from exprgrad.solvers.curves.curve import Curve
from exprgrad.solvers.curves.sampling import Plane
from oracles import evaluate, gradient, mp, mpf
from shell import command

SCHEMA = json.loads(Path("docs/reference/schema.json").read_text(encoding="utf-8"))
SPOILT = [
    ("(1 - cos(x))/x^2", "-1e-7:1e-7"),
    ("(1 - cos(x))/x^2", "-1e-4:1e-4"),
    ("(1 - cos(x))/x^2", "-3e-3:3e-3"),
    ("(x - sin(x))/x^3", "-1e-4:2e-4"),
    ("(exp(x) - 1)/x", "-1e-12:1e-12"),
    ("log(1 + x)/x", "1e-14:1e-12"),
    ("sqrt(x + 1) - sqrt(x)", "1e14:1e16"),
    ("x^7 - 7*x^6 + 21*x^5 - 35*x^4 + 35*x^3 - 21*x^2 + 7*x - 1", "0.99:1.01"),
    ("cos(1e16 + x - 1e16)", "0:9"),
    ("(tan(x) - sin(x))/x^3", "-1e-3:1e-3"),
]
ORDINARY = [
    ("x^3 - 2*x", "-2:2"),
    ("tanh(x)", "-1000:1000"),
    ("tanh(1e20*(x^2 - 2))", "0:2"),
    ("exp(-x^2)", "-40:40"),
    ("1/(1 + exp(-x))", "-30:30"),
    ("sin(x)^2 + cos(x)^2", "-5:5"),
    ("max(sin(x), cos(x))", "0:7"),
    ("1/(x^2 - 1e-8)", "-1:1"),
    ("tan(x)", "-10:10"),
    ("floor(x*10)/10", "0:1"),
    ("sin(1/x)", "-1:1"),
    ("log(x)", "-1:3"),
    ("x^20 - 1", "-1.2:1.2"),
    ("sqrt(abs(x))", "-1:1"),
    ("x - 0.3", "0.299999:0.300001"),
    ("(1 - cos(x))/x^2", "-1:1"),
    ("x^7 - 7*x^6 + 21*x^5 - 35*x^4 + 35*x^3 - 21*x^2 + 7*x - 1", "0.8:1.2"),
    ("sin(x)", "1e17:1.0000001e17"),
]


def curve_of(formula: str, span: str) -> Curve:
    return parse(formula).plot(x=span).curve


@pytest.mark.parametrize(("formula", "span"), SPOILT)
def test_no_point_is_where_the_formula_is_not(formula: str, span: str) -> None:
    """Within the picture neither the value nor the slope is off by more than a 20th of its height."""
    found, graph = curve_of(formula, span), graph_of(formula)
    assert sum(found.lost) and found.points
    for arc in found.arcs:
        points = zip(arc.x, arc.value, arc.slope, strict=True)
        for x, *numbers in [*points][:: max(1, len(arc.x) // 9)]:
            with mp.workdps(100):
                true = [evaluate(graph, {"x": mpf(x)}, mpf)[graph.output]]
            true += [gradient(graph, {"x": x}, 100)["x"]] if x else [math.nan]
            for number, exact, (low, high) in zip(numbers, true, found.windows, strict=False):
                if low <= number <= high and not math.isnan(exact):
                    assert abs(number - exact) <= (high - low) / 20, x


def test_nothing_is_drawn_of_what_is_rounding_alone() -> None:
    found = curve_of("(1 - cos(x))/x^2", "-1e-7:1e-7")
    assert not found.arcs and not found.features and not found.dense
    low, high = found.windows[0]
    assert low < 0.4 and high > 0.6  # and not where rounding happens to lead


def test_what_is_level_within_its_digits_is_level() -> None:
    """And not the more jagged the closer one looks."""
    found = curve_of("(1 - cos(x))/x^2", "1e-5:1e-4")
    assert found.lost[0] == 0 and found.windows[0] == pytest.approx((0.25, 0.75), abs=1e-4)
    assert not found.dense and not found.features


def test_a_part_without_digits_breaks_the_curve() -> None:
    found = curve_of("(1 - cos(x))/x^2", "-3e-3:3e-3")
    kept = np.concatenate([arc.x for arc in found.arcs])
    assert len(found.arcs) > 1 and 0 < np.abs(kept).min() > 1e-4
    assert not any(arc.x[0] < 0 < arc.x[-1] for arc in found.arcs)


@pytest.mark.parametrize(("formula", "span"), ORDINARY)
def test_ordinary_curves_are_whole(formula: str, span: str) -> None:
    found = curve_of(formula, span)
    assert found.lost[:2] == (0, 0) and found.arcs
    assert not parse(formula).plot(x=span).missing


def test_what_the_command_says() -> None:
    argv = ["plot", "(1 - cos(x))/x^2", "x=-1e-7:1e-7"]
    status, out, err = command(*argv, "--json", "--strict")
    answer = json.loads(out)
    validate(answer, SCHEMA)
    assert status == 1 and answer["lost"] == {"value": 514, "derivative": 514}
    assert answer["samples"] == [] and answer["shown"][0] < 0.4 and answer["shown"][1] > 0.6
    told = (
        "of 514 points 514 of f and 514 of df/dx are left out: rounding leaves them too few digits"
    )
    assert told in command(*argv)[1]
    status, out, err = command(*argv, "--csv", "--strict")
    assert status == 1 and told in err and out.splitlines() == ["x,f,df,piece"]
    assert command(*argv, "--order", "0")[1].count("514") == 2
    assert command("plot", "x^2", "x=0:1", "--strict") == (0, *command("plot", "x^2", "x=0:1")[1:])


def test_a_picture_is_written_with_a_warning(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    path = tmp_path / "curve.svg"
    status, out, err = command("plot", "(1 - cos(x))/x^2", "x=-1e-7:1e-7", "-o", str(path))
    assert (status, out) == (0, "") and err.startswith("warning: of 514 points")
    assert "digits are lost" in path.read_text(encoding="utf-8")


def plane_of(formula: str, **spans: tuple[float, float]) -> Plane:
    plot = parse(formula).plot(spans)
    assert isinstance(plot, PlaneMap)
    return plot.plane


def test_maps() -> None:
    spoilt = plane_of("(1 - cos(x))/x^2 + y", x=(-1e-7, 1e-7), y=(-1, 1))
    assert spoilt.lost > 5000 and not spoilt.critical
    x, y = np.meshgrid(spoilt.x, spoilt.y)
    kept = np.isfinite(spoilt.values)
    off = np.abs(np.array(spoilt.values) - (0.5 - x**2 / 24 + y))[kept]
    assert off.max() < (spoilt.window[1] - spoilt.window[0]) / 20
    assert np.count_nonzero(~kept) == spoilt.lost + 121  # where x is 0 there is no value
    whole = plane_of("(1 - x)^2 + 100*(y - x^2)^2", x=(-2, 2), y=(-1, 3))
    assert whole.lost == 0 and [one.kind for one in whole.critical] == ["minimum"]
    level = plane_of("sin(x)^2 + cos(x)^2 + 0*y", x=(-2, 2), y=(-1, 3))
    assert level.lost == 0 and level.window == pytest.approx((0, 2))


def test_a_map_says_how_many_points_are_left_out() -> None:
    argv = ["plot", "(1 - cos(x))/x^2 + y", "x=-1e-7:1e-7", "y=-1:1"]
    status, out, _ = command(*argv, "--json", "--strict")
    answer = json.loads(out)
    validate(answer, SCHEMA)
    assert status == 1 and answer["lost"]["value"] > 5000
    assert f"of 14,641 points {answer['lost']['value']:,} are left out" in command(*argv)[1]
