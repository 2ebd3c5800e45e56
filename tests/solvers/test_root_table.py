"""A hundred equations, a third of them without a root: nothing that solve says of them is wrong."""

from __future__ import annotations

import pytest

import exprgrad
from equations import Equation, equations, verdict
from exprgrad.language.read.relations import read_relations
from oracles import decimal, evaluate, mp, mpf
from together import together

EQUATIONS = equations()


@together([[one] for one in EQUATIONS[::10]])
def test_nothing_is_wrong(true: Equation) -> None:
    assert verdict(exprgrad.solve(true.text, true.values), true) in ("right", "unproved")


@pytest.mark.slow
def test_nothing_at_all_is_wrong_and_most_is_proved() -> None:
    said = {one.text: verdict(exprgrad.solve(one.text, one.values), one) for one in EQUATIONS}
    assert len(said) == 100 and sum(not one.roots for one in EQUATIONS) > 33
    wrong = {text: why for text, why in said.items() if why not in ("right", "unproved")}
    assert not wrong
    assert [*said.values()].count("right") >= 81


@together([[one] for one in EQUATIONS if one.roots])
def test_the_listed_roots_are_roots_by_mpmath(true: Equation) -> None:
    graph, relations = read_relations(true.text, unknowns=true.values)
    with mp.workdps(40):
        for place in true.roots:
            numbers = [mpf(x.numerator) / x.denominator for x in place]
            beside = [x + mpf("1e-6") * (x or 1) for x in numbers]
            here, there = (
                evaluate(graph, dict(zip(true.values, each, strict=True)), decimal)
                for each in (numbers, beside)
            )
            for one in relations:
                assert abs(here[one.node]) <= mpf("1e-9") * abs(there[one.node])
