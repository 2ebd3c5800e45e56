"""How many numbers something holds for, in words."""

from __future__ import annotations

import numpy as np
import pytest

from exprgrad.explain.places import first_place


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (True, ("x is", "", "")),
        ([True], ("the only number of x is", "", " for its only number")),
        ([[True]], ("the only number of x is", "", " for its only number")),
        ([True, True],
         ("all 2 numbers of x are", ", the first at [0]", " for all 2 numbers, the first at [0]")),
        ([False, True], ("1 of 2 numbers of x is", ", at [1]", " for 1 of 2 numbers, at [1]")),
    ],
)  # fmt: skip
def test_how_many_are_said_to_be_so(flags: object, words: tuple[str, str, str]) -> None:
    found = first_place(np.array(flags))
    assert found is not None
    assert (found.numbers("x"), found.first(), found.counted()) == words
