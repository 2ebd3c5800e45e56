"""Critical points: every kink, jump, pole and edge that a row states has one among them."""

from __future__ import annotations

import math

from exprgrad.graph.ops import BY_NAME, OPS, Op
from exprgrad.show.text.operations import MOST_POINTS, critical_points_of_row
from oracles import computed, holds, is_special
from together import together

each_row = together(OPS)


@each_row
def test_what_a_row_states_is_met(op: Op) -> None:
    points = critical_points_of_row(op)
    assert len(points) <= MOST_POINTS
    kinds = {point.what for point in points}
    assert {f"a {special.code}" for special in op.special} <= kinds
    assert not op.poles or "a pole" in kinds
    assert not op.domain or kinds & {"outside the domain", "a pole"}


@each_row
def test_a_point_is_what_it_is_said_to_be(op: Op) -> None:
    for point in critical_points_of_row(op):
        inside = holds(op.domain, op.names, point.operands)
        at_pole = any(holds(where, op.names, point.operands) for where, _ in op.poles)
        assert (point.what == "a pole") == (at_pole and not is_special(op, point.operands))
        assert (point.what == "outside the domain") == (not inside and not at_pole)
        assert (point.what in ("a kink", "a jump")) == is_special(op, point.operands)


@each_row
def test_the_answers_are_those_of_the_sweep(op: Op) -> None:
    for point in critical_points_of_row(op):
        value, partials = computed(op, point.operands)
        for found, own in zip((value, *partials), (point.value, *point.partials), strict=True):
            assert found == own or (math.isnan(found) and math.isnan(own))


def test_points_of_rows_by_hand() -> None:
    found = {name: [p.operands for p in critical_points_of_row(BY_NAME[name])] for name in POINTS}
    assert found == POINTS
    assert {p.what for p in critical_points_of_row(BY_NAME["pow"])} == {
        "a jump",
        "a pole",
        "outside the domain",
        "an infinite slope",
        "no slope",
        "nan by the textbook rule",
    }


POINTS: dict[str, list[tuple[float, ...]]] = {
    "add": [],
    "exp": [],
    "abs": [(0.0,)],
    "round": [(0.5,)],
    "sqrt": [(0.0,), (-1.0,)],
    "log": [(0.0,), (-0.0,), (-1.0,)],
    "atanh": [(1.0,), (-1.0,), (2.0,)],
    "sin": [(math.inf,)],
    "hypot": [(0.0, 0.0)],
    "max": [(0.0, 0.0)],
}
