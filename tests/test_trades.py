"""Formulas of many trades, as their people type them: read, and right.

``docs/reference/formulas.md`` shows them all.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from corpus import Formula, trades
from digits import is_right
from exprgrad import parse
from oracles import mp, mpf
from together import together
from trades import TRUTHS, slopes

FORMULAS = [*trades()]
OF_NUMBERS = [formula for formula in FORMULAS if "[" not in "".join(formula.values.values())]
FEWEST = 12
"""Every number has so many right digits, whatever bounds make of it."""


def exact(value: Any) -> Any:
    """A double, or lists of them, in mpmath."""
    return [exact(one) for one in value] if isinstance(value, list) else mpf(float(value))


@together(FORMULAS)
def test_value_and_gradient_are_mpmaths(formula: Formula) -> None:
    """As many digits are right as are said to be: the truth is of a formula written otherwise."""
    values = {name: json.loads(text) for name, text in formula.values.items()}
    run = parse(formula.text).gradient(formula.values)
    with mp.workdps(50):
        point = {name: exact(value) for name, value in values.items()}
        truth = TRUTHS[formula.title]
        wanted = {"value": truth(**point), **slopes(truth, point)}
        found = {"value": run.true.value, **run.true.gradient}
        digits = {"value": run.digits["value"], **run.digits["gradient"]}
        for name, true in wanted.items():
            places = min(max(digits[name], FEWEST), 15)
            for x, y in zip(np.ravel(found[name]), np.ravel(np.array(true, object)), strict=True):
                assert is_right(float(x), y, places), (name, x, y)


def test_nothing_needs_more_lines_than_on_paper() -> None:
    """A line for each equation: none is there for the sake of the language."""
    assert len({formula.title for formula in FORMULAS}) == len(FORMULAS) >= 60
    assert {formula.title for formula in FORMULAS} == TRUTHS.keys()
    assert max(formula.text.count("\\n") for formula in FORMULAS) <= 6


@pytest.mark.parametrize("trade", sorted({formula.trade for formula in FORMULAS}))
def test_every_trade_has_several(trade: str) -> None:
    assert sum(formula.trade == trade for formula in FORMULAS) >= 3


@pytest.mark.slow
@together(OF_NUMBERS)
def test_all_programs_formulas_and_second_derivatives_agree(formula: Formula) -> None:
    agree(formula)


@together(OF_NUMBERS[::6])
def test_programs_formulas_and_second_derivatives_agree(formula: Formula) -> None:
    agree(formula)


def agree(formula: Formula) -> None:
    """A program finds what the sweep does, a derivative is a formula again, and there is a Hessian."""
    f, at = parse(formula.text), {name: float(text) for name, text in formula.values.items()}
    run = f.gradient(at)
    names: dict[str, Any] = {}
    exec(f.code("python"), names)
    value, slopes_found = names["f"](**at)
    assert [value, *slopes_found] == pytest.approx([run.value, *run.gradient.values()], rel=1e-11)
    name = [*at][-1]
    true = run.true.gradient[name]
    assert f.derivative(name).evaluate(at).true.value == pytest.approx(true, rel=1e-10, abs=0)
    assert f.hessian(at).keys() == at.keys()
