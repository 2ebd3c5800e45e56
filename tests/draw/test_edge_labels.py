"""The label on an edge: a formula, a number, both, or the size of what is never formed."""

from __future__ import annotations

import math

import numpy as np
import pytest

from exprgrad import parse
from exprgrad.draw.picture.edge_labels import plain, valued, vanishes


@pytest.mark.parametrize(
    ("rule", "local", "text", "formula"),
    [
        ("1", 1.0, "1", None),
        ("1", None, "1", None),
        ("1", 2.0, "1 = 2", "1 = "),
        ("2*x", 6.0, "2*x = 6", "2*x = "),
        ("2*x", None, "2*x = –", "2*x = "),
        ("1/x", math.inf, "1/x = inf", "1/x = "),
    ],
)
def test_a_number_stands_alone_where_the_rule_is_that_number(
    rule: str, local: float | None, text: str, formula: str | None
) -> None:
    chip = valued(rule, local, 6)
    assert (chip.text, chip.formula) == (text, formula)


@pytest.mark.parametrize(
    ("local", "zero"),
    [
        (None, False), (0.0, True), (-0.0, True), (5e-324, False), (math.nan, False),
        (np.zeros((2, 2)), True), (np.array([0.0, 1.0]), False), (np.array([0.0, math.nan]), False),
    ],
)  # fmt: skip
def test_what_passes_nothing_on(local: object, zero: bool) -> None:
    assert vanishes(local) == zero


def test_a_jacobian_s_size_is_told() -> None:
    """A number has none; a large one of tensors is noted if no diagonal stands for it."""
    run = parse("sin(x)").gradient(x=1)
    assert plain(run, 1, 0, "cos(x)", is_whole=True)[1:3] == ("", " ")
    run = parse("X @ W").evaluate(X=np.ones((40, 30)), W=np.ones((30, 20)))
    chip = plain(run, 2, 0, "· @ W.T", is_whole=True)
    assert "800 by 1,200, is never formed: it would be 7.68 MB" in " ".join(map(str, chip))
    assert "never formed: 7.68 MB" in chip.note
    assert not plain(run, 2, 0, "· @ W.T", is_whole=False).note
