"""Curves whose points take searches for roots are looked at in few places, and say so."""

from __future__ import annotations

import pytest

import exprgrad
from exprgrad.solvers.curves.curve import Curve, curve_or_plane
from exprgrad.solvers.curves.sampling import FEWEST_POINTS, FIRST_POINTS, Jets

NESTED = "root(E^3-root(F^3+F-E*x,F,1),E,1)"
SINGLE = "root(E^3+E-x,E,1)"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "is_sparse"), [(NESTED, True), (SINGLE, False), ("sin(x)", False)]
)
def test_points_count_their_searches(
    text: str, is_sparse: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []
    plain = Jets.__call__

    def counted(self: Jets, *places: object) -> object:
        asked.append(len(places[0]))  # type: ignore[arg-type]
        return plain(self, *places)

    monkeypatch.setattr(Jets, "__call__", counted)
    found = curve_or_plane(exprgrad.parse(text).graph, text, {"x": (1.0, 2.0)})
    assert isinstance(found, Curve)
    assert found.is_sparse == is_sparse
    assert (max(asked) < FIRST_POINTS) == is_sparse
    assert max(asked) >= FEWEST_POINTS // 2


@pytest.mark.slow
def test_few_points_are_said() -> None:
    words = "few were tried"
    assert words in str(exprgrad.parse(NESTED).plot(x=(1, 2)))
    assert words not in str(exprgrad.parse(SINGLE).plot(x=(1, 2)))
