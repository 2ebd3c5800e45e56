"""Curves: broken where they break, joined where they don't, and marked in the right places."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import mpmath
import numpy as np
import pytest

from exprgrad import parse
from exprgrad.errors import InputError, RequestError
from exprgrad.solvers.curves.curve import SAME, Curve, Feature, at_ends, curve_or_plane, trace_curve
from exprgrad.solvers.curves.sampling import Samples, value_window

BREAKS = {"pole", "jump", "edge", "hole", "kink", "cusp"}


def over(text: str, low: float, high: float) -> Curve:
    return trace_curve(text, parse(text).graph, "x", low, high, {})


def places(found: Curve, *kinds: str) -> list[float]:
    return [one.x for one in found.features if one.kind in kinds]


POLES = [
    ("1/x", -5, 5, [0.0]),
    ("1/x + 1e6", -5, 5, [0.0]),
    ("1/(x - 0.3)^2", -5, 5, [0.3]),
    ("1/(x^2 - 2)", -5, 5, [-math.sqrt(2), math.sqrt(2)]),
    ("1/(x^2 - 1e-8)", -1, 1, [-1e-4, 1e-4]),
    ("tan(x)", -5, 5, [-1.5 * math.pi, -0.5 * math.pi, 0.5 * math.pi, 1.5 * math.pi]),
    ("1/sin(x)^2", -5, 5, [-math.pi, 0, math.pi]),
    ("log(abs(x))", -5, 5, [0.0]),
    ("log(x)", -5, 5, [0.0]),
    ("log(x^2 - 2)", 0, 5, [math.sqrt(2)]),
    ("exp(1/x)", -2, 2, [0.0]),
    ("gamma(x)", -1, 5, [0.0]),
    ("lgamma(x)", -1, 5, [0.0]),
]


@pytest.mark.parametrize(("text", "low", "high", "wanted"), POLES, ids=lambda x: str(x)[:12])
def test_poles_are_found_and_break_the_curve(
    text: str, low: float, high: float, wanted: list[float]
) -> None:
    found = over(text, low, high)
    assert places(found, "pole") == pytest.approx(wanted, rel=1e-15, abs=1e-300)
    for x in wanted:
        assert not any(arc.x[0] < x < arc.x[-1] for arc in found.arcs)
    for one in found.features:
        if one.kind == "pole":
            assert math.inf in (abs(one.left), abs(one.right))


JUMPS = [
    ("floor(x)", -2.5, 2.5, [(-2, -3, -2), (-1, -2, -1), (0, -1, 0), (1, 0, 1), (2, 1, 2)]),
    ("abs(x)/x", -5, 5, [(0, -1, 1)]),
    ("x % 1", -0.5, 1.5, [(0, 1, 0), (1, 1, 0)]),
    ("atan(1/x)", -5, 5, [(0, -math.pi / 2, math.pi / 2)]),
    ("x + 1e-4*sign(x - 1/3)", -5, 5, [(1 / 3, 1 / 3 - 1e-4, 1 / 3 + 1e-4)]),
    ("floor(x)*x", 0.5, 2.5, [(1, 0, 1), (2, 2, 4)]),
]


@pytest.mark.parametrize(("text", "low", "high", "wanted"), JUMPS, ids=lambda x: str(x)[:12])
def test_jumps_have_their_limits(
    text: str, low: float, high: float, wanted: list[tuple[float, float, float]]
) -> None:
    found = over(text, low, high)
    jumps = [(one.x, one.left, one.right) for one in found.features if one.kind == "jump"]
    assert [pytest.approx(one, abs=1e-12) for one in wanted] == jumps
    assert len(found.arcs) == len(wanted) + 1


JOINED = [
    "tanh(1e4*x)",
    "tanh(1e20*(x^2 - 2))",
    "tanh(1e20*(x - 1))",
    "atan(1e6*x)",
    "exp(-1e6*(x - 0.3)^2)",
    "x^3 - 2*x",
    "erf(x)",
    "1e-300*x",
    "1e300*x",
    "3 + 0*x",
    "sin(x)^2 + cos(x)^2",
    "exp(x)",
]


@pytest.mark.parametrize("text", JOINED)
def test_what_is_continuous_is_joined(text: str) -> None:
    found = over(text, -5, 5)
    assert not places(found, *BREAKS)
    assert (len(found.arcs), found.dense) == (1, [])
    assert (found.arcs[0].x[0], found.arcs[0].x[-1]) == (-5, 5)


KINKS = [
    ("abs(x)", -5, 5, [(0, -1, 1)]),
    ("abs(x^2 - 2)", 0, 5, [(math.sqrt(2), -2 * math.sqrt(2), 2 * math.sqrt(2))]),
    ("max(sin(x), cos(x))", 0, 3, [(math.pi / 4, -math.sqrt(0.5), math.sqrt(0.5))]),
    ("max(x, 1.01*x)", -5, 5, [(0, 1, 1.01)]),
    ("sqrt(abs(x))", -5, 5, [(0, -math.inf, math.inf)]),
    ("relu(x - 1)", -5, 5, [(1, 0, 1)]),
]


@pytest.mark.parametrize(("text", "low", "high", "wanted"), KINKS, ids=lambda x: str(x)[:12])
def test_kinks_have_the_slopes_of_both_sides(
    text: str, low: float, high: float, wanted: list[tuple[float, float, float]]
) -> None:
    kinks = [one for one in over(text, low, high).features if one.kind in ("kink", "cusp")]
    assert [pytest.approx(one, rel=1e-10) for one in wanted] == [
        (one.x, one.left, one.right) for one in kinks
    ]


def test_a_smooth_bend_that_doubles_do_not_resolve_is_no_kink() -> None:
    assert not places(over("sqrt((x - 1)^2 + 1e-40)", -5, 5), "kink")


def test_edges_and_holes() -> None:
    found = over("sqrt(x^2 - 1)", -5, 5)
    edges = [(one.x, one.value, one.left, one.right) for one in found.features]
    assert edges == [
        (-1, 0, -math.inf, pytest.approx(math.nan, nan_ok=True)),
        (1, 0, pytest.approx(math.nan, nan_ok=True), math.inf),
    ]
    assert [(arc.x[0], arc.x[-1]) for arc in found.arcs] == [(-5, -1), (1, 5)]
    (hole,) = [one for one in over("(1 - cos(x))/x^2", -5, 5).features if one.kind == "hole"]
    assert (hole.x, hole.left, hole.right) == (0, 0.5, 0.5)


Function = Callable[[mpmath.mpf], mpmath.mpf]
SMOOTH: list[tuple[str, Function, Sequence[float], Sequence[float], Sequence[float]]] = [
    # formula, the same in mpmath, and about where: roots, extrema, inflections
    ("x^3 - 2*x", lambda x: x**3 - 2 * x, (-1.4, 0, 1.4), (-0.8, 0.8), (0,)),
    ("x*exp(-x)", lambda x: x * mpmath.exp(-x), (0,), (1,), (2,)),
    ("sin(x)/x", mpmath.sinc, (-3, 3), (-4.5, 0, 4.5), (-2, 2)),
    ("cos(x) - x", lambda x: mpmath.cos(x) - x, (0.7,), (), (-4.7, -1.57, 1.57, 4.7)),
    ("1/(1 + x^2)", lambda x: 1 / (1 + x * x), (), (0,), (-0.6, 0.6)),
    ("x^2 - 2*x + 1", lambda x: (x - 1) ** 2, (1,), (1,), ()),
]


@pytest.mark.parametrize(
    ("text", "function", "roots", "extrema", "bends"), SMOOTH, ids=lambda x: str(x)[:12]
)
def test_roots_extrema_and_inflections_are_mpmath_s(
    text: str,
    function: Function,
    roots: Sequence[float],
    extrema: Sequence[float],
    bends: Sequence[float],
) -> None:
    found = over(text, -5, 5)
    with mpmath.workdps(60):
        for order, (kinds, starts) in enumerate(
            [(("root",), roots), (("minimum", "maximum"), extrema), (("inflection",), bends)]
        ):
            got = places(found, *kinds)
            starts = [start for start in starts if abs(start) < 5]
            if text == "sin(x)/x" and order == 1:
                got = sorted([*got, 0.0])  # a hole of the formula
            assert len(got) == len(starts), (kinds, got)
            for x, start in zip(got, starts, strict=True):
                assert x == pytest.approx(start, abs=0.4)
                if text != "x^2 - 2*x + 1" and x:

                    def derived(t: mpmath.mpf, order: int = order) -> mpmath.mpf:
                        return mpmath.diff(function, t, order) if order else function(t)

                    true = mpmath.findroot(derived, x, tol=1e-30, verify=False)
                    assert abs(x - true) <= 2 * math.ulp(x), (kinds, x, true)


def test_what_cancels_is_asked_of_balls() -> None:
    text = "x^7-7*x^6+21*x^5-35*x^4+35*x^3-21*x^2+7*x-1"  # (x - 1)^7
    assert [(one.kind, one.x) for one in over(text, 0, 2).features] == [
        ("inflection", 1.0),
        ("root", 1.0),
    ]


@pytest.mark.parametrize(
    ("text", "roots"), [("x^2", [0.0]), ("x^2 + 1e-20", []), ("abs(x)", [0.0])]
)
def test_a_root_that_is_touched(text: str, roots: list[float]) -> None:
    assert places(over(text, -5, 5), "root") == roots


@pytest.mark.parametrize(
    ("text", "roots", "turns"),
    [
        ("x^2 - 1e-10", [-1e-5, 1e-5], [0.0]),
        ("x^3 - 1e-10*x", [-1e-5, 0.0, 1e-5], [-1e-5 / math.sqrt(3), 1e-5 / math.sqrt(3)]),
        ("1 + 1e-13 - cos(x)", [], [0.0]),
    ],
)
def test_roots_and_extrema_that_are_close_together(
    text: str, roots: list[float], turns: list[float]
) -> None:
    found = over(text, -3, 3)
    assert places(found, "root") == pytest.approx(roots, rel=1e-15)
    assert places(found, "minimum", "maximum") == pytest.approx(turns, rel=1e-15)


def test_a_root_where_doubles_only_see_a_step() -> None:
    assert places(over("tanh(1e20*(x^2 - 2))", 0, 5), "root") == [pytest.approx(math.sqrt(2))]


def test_roots_at_the_ends_of_the_range() -> None:
    assert places(over("sin(x)", 0, 2 * math.pi), "root") == [0, math.pi, 2 * math.pi]


@pytest.mark.parametrize(("apart", "found"), [(0, 1), (SAME, 1), (SAME + 1, 2)])
def test_a_root_is_not_found_again_at_the_end_beside_it(apart: int, found: int) -> None:
    """What is ``SAME`` ulp apart is still one place, here as among other features."""
    samples = Samples(np.array([1.25, 1.5]), np.array([[-0.25, 0.0], [1.0, 1.0], [0.0, 0.0]]))
    root = Feature("root", 1.5 - apart * math.ulp(1.5), 0.0, 1.0, 1.0)
    assert len({root, *at_ends(samples, [root])} - {root}) == found - 1


def test_what_is_too_dense_is_said_to_be() -> None:
    ((low, high),) = over("sin(1/x)", -1, 1).dense
    assert -0.1 < low < 0 < high < 0.1
    assert over("sin(1000*x)", -5, 5).dense == [(-5, 5)]
    found = over("floor(100*x)", -5, 5)
    assert found.dense
    assert not found.features


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(("low", "high"), [(-1.7e308, 1.7e308), (0, 1e-320)])
def test_ranges_as_wide_as_doubles_go_and_as_narrow(low: float, high: float) -> None:
    found = over("x", low, high)
    assert places(found, "root") == [0.0] and len(found.arcs) == 1


def test_what_has_no_value_is_not_drawn() -> None:
    found = over("sqrt(-1 - x^2)", -5, 5)
    assert (found.arcs, found.features) == ([], [])


def test_doubles_that_end_are_no_pole() -> None:
    assert not places(over("exp(exp(exp(x)))", -5, 5), "pole")


WINDOWS = [
    ("1/x", -5, 5, 10),
    ("tan(x)", -5, 5, 20),
    ("1/sin(x)^2", -5, 5, 40),
    ("exp(exp(x))", -3, 3, 5000),
    ("1/(x^2 - 1e-8)", -1, 1, 200),
]


@pytest.mark.parametrize(("text", "low", "high", "most"), WINDOWS)
def test_a_pole_does_not_squash_the_rest(text: str, low: float, high: float, most: float) -> None:
    least, greatest = over(text, low, high).windows[0]
    assert 0 < greatest - least < most


def test_what_has_no_pole_is_shown_whole() -> None:
    assert over("exp(x)", -5, 5).windows[0] == (math.exp(-5), math.exp(5))
    assert over("exp(-1e6*(x - 0.3)^2)", -5, 5).windows[0][1] == pytest.approx(1)
    assert value_window(np.array([math.nan, math.inf])) == (-1, 1)


def test_the_curve_is_as_close_as_can_be_seen() -> None:
    for text in ("sin(3*x)", "exp(x)", "1/(1 + 100*x^2)", "x^5 - x"):
        found = over(text, -2, 2)
        low, high = found.windows[0]
        (arc,) = found.arcs
        middle = [(a + b) / 2 for a, b in zip(arc.x, arc.x[1:], strict=False)]
        value, _ = parse(text).compile(engine="numpy")({"x": middle})
        chord = [(a + b) / 2 for a, b in zip(arc.value, arc.value[1:], strict=False)]
        assert max(abs(value - chord)) < (high - low) / 1000


@pytest.mark.parametrize(
    ("text", "x", "message"),
    [
        ("log(x)", 0, "there is no tangent at x = 0: the value is -inf, the derivative inf"),
        ("log(x)", -1, "there is no tangent at x = -1: the value is nan, the derivative nan"),
        (
            "abs(x)",
            0,
            "there is no tangent at x = 0: the slopes are -1 on the left and 1 on the right",
        ),
        ("sum([x, 1])", None, "a formula with tensors has no curve to draw"),
    ],
)
def test_no_tangent_and_no_curve(text: str, x: float | None, message: str) -> None:
    with pytest.raises(RequestError) as caught:
        parse(text).plot(x=(-2, 2), tangent=x)
    assert caught.value.message == message


def test_a_tangent_goes_through_its_point() -> None:
    line = curve_or_plane(parse("x^2").graph, "x^2", {"x": (0, 4)}, tangent_at=3)
    assert isinstance(line, Curve) and line.tangent is not None
    assert line.tangent == (3.0, 9.0, 6.0) and line.tangent.at(1.0) == -3.0


@pytest.mark.parametrize(
    ("text", "ranges"),
    [
        ("1e308%x", {"x": "-1:1"}),
        ("1e308*x*x", {"x": "-2:2"}),
        ("1e308*sin(x)", {"x": "0:9"}),
        ("1e308*x*y", {"x": "-2:2", "y": "-2:2"}),
        ("x*y", {"x": "-1e300:1e300", "y": "-1e300:1e300"}),
    ],
)
def test_pictures_of_what_is_huge_are_drawn(text: str, ranges: dict[str, str]) -> None:
    drawn = parse(text).plot(ranges)
    assert str(drawn) and drawn._repr_svg_()


@pytest.mark.parametrize("ends", ["-1e308:1e308", "0:5e-324"])
def test_ranges_that_overflow_in_a_picture_are_refused(ends: str) -> None:
    with pytest.raises(InputError, match="to draw"):
        parse("x^2").plot(x=ends)
