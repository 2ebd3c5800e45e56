"""Maps: where the gradient is 0, and what a picture shows."""

from __future__ import annotations

import math

import pytest

from exprgrad import ExprgradError, parse
from exprgrad.run.values.ranges import Interval
from exprgrad.show.picture.curves import contour_levels, contour_pieces
from exprgrad.solvers.curves.sampling import Plane, sample_plane


def over(text: str, x: tuple[float, float], y: tuple[float, float]) -> Plane:
    return sample_plane(text, parse(text).graph, {"x": Interval(*x), "y": Interval(*y)}, {})


CRITICAL = [
    ("(1 - x)^2 + 100*(y - x^2)^2", 2.5, {"minimum": [(1, 1)]}),
    ("x^2 - y^2", 1, {"saddle": [(0, 0)]}),
    ("x*exp(-x^2 - y^2)", 2, {"minimum": [(-math.sqrt(0.5), 0)], "maximum": [(math.sqrt(0.5), 0)]}),
    ("x^2 + 0*y", 1, {}),
    ("log(x*y)", 1, {}),
]


@pytest.mark.parametrize(("text", "end", "wanted"), CRITICAL, ids=lambda x: str(x)[:12])
def test_critical_points_and_what_they_are(
    text: str, end: float, wanted: dict[str, list[tuple[float, float]]]
) -> None:
    found: dict[str, list[tuple[float, float]]] = {}
    for one in over(text, (-end, end), (-end, end)).critical:
        found.setdefault(one.kind, []).append((one.x, one.y))
    assert found.keys() == wanted.keys()
    for kind, points in wanted.items():
        assert [x for point in found[kind] for x in point] == pytest.approx(
            [x for point in points for x in point], abs=1e-15
        )


def test_himmelblau_s_nine_points() -> None:
    found = over("(x^2 + y - 11)^2 + (x + y^2 - 7)^2", (-5, 5), (-5, 5)).critical
    kinds = [one.kind for one in found]
    assert [kinds.count(kind) for kind in ("minimum", "saddle", "maximum")] == [4, 4, 1]
    assert [one.value for one in found if one.kind == "minimum"] == [0, 0, 0, 0]


def test_the_contours_of_a_circle_are_circles() -> None:
    found = over("x^2 + y^2", (-2, 2), (-2, 2))
    pieces = [*contour_pieces(found, 1.0)]
    assert len(pieces) > 100
    longest = max(math.dist(*piece) for piece in pieces)
    assert longest < 0.06
    for start, _ in pieces:  # a point on a chord is off by at most its length squared over 8
        assert 1 - longest**2 / 8 <= math.hypot(*start) <= 1


def test_levels_are_round_and_show_a_valley() -> None:
    assert contour_levels(over("x + y", (0, 1), (0, 1))) == [
        0.2,
        0.4,
        0.6,
        0.8,
        1,
        1.2,
        1.4,
        1.6,
        1.8,
    ]
    valley = contour_levels(over("(1 - x)^2 + 100*(y - x^2)^2", (-2, 2), (-1, 3)))
    assert valley[0] < 2 < valley[1] < 10 < 500 < valley[-1]


def test_the_field_is_the_gradient() -> None:
    for one in over("x^2*y", (-1, 1), (0, 1)).field:
        assert [one.dx, one.dy] == pytest.approx([2 * one.x * one.y, one.x**2])


def test_a_descent_on_the_map() -> None:
    f = parse("x^2 + a*y^2")
    plot = f.plot(x=(-1, 1), y=(-1, 1), a=2, descend={"x": 1, "y": 1}, rate=0.1, steps=3)
    steps = f.descend(x=1, y=1, a=2, rate=0.1, steps=3, wrt=["x", "y"]).steps
    fields = dict(plot.fields())
    assert [*fields["path"].value] == [step.inputs for step in steps]
    assert fields["message"] == "not converged after 3 steps"


@pytest.mark.parametrize(
    ("inputs", "options", "message"),
    [
        ({"x": (0, 1)}, {"descend": {"x": 1}}, "a descent is drawn over the ranges of two inputs"),
        ({"x": (0, 1), "y": (0, 1)}, {"tangent": 1}, "a tangent is for a curve"),
        ({"x": (0, 1), "y": (0, 1)}, {"order": 3}, "there is no plot of order 3"),
        ({"x": (0, 1), "y": (0, 1), "z": (0, 1)}, {}, "does not read 'z'"),
        ({"x": (0, 1), "y": "0..1"}, {}, "a range can only follow"),
        ({"x": (0, 0), "y": (0, 1)}, {}, "the ends of the interval of 'x'"),
        ({"x": [1, 2, 3], "y": (0, 1)}, {}, "not a number but a tensor"),
        ({}, {}, "no input has a range"),
    ],
)
def test_what_cannot_be_drawn(
    inputs: dict[str, object], options: dict[str, object], message: str
) -> None:
    text = "x^2*y" if "y" in inputs or not inputs else "x^2"
    with pytest.raises(ExprgradError) as caught:
        parse(text).plot(inputs, **options)  # type: ignore[arg-type]
    assert message in caught.value.message
