"""Bounds on rounding in the sweeps over numbers: what each rule of theirs comes to."""

from __future__ import annotations

import math

import pytest

from exprgrad import parse
from exprgrad.derive.error_rules import TINY, UNIT, equal_at_special
from exprgrad.graph.op import Op
from exprgrad.graph.ops import OPS
from exprgrad.run.numbers.bounds import number_data_errors, number_grad_errors
from exprgrad.run.numbers.sweeps import Adjoints


def errors(formula: str, **inputs: float) -> tuple[float, dict[str, float]]:
    """What the value and the gradient of a formula may be off by."""
    run = parse(formula).gradient(inputs)
    data = number_data_errors(run.graph, run.values)
    assert isinstance(run.adjoints, Adjoints)
    grads = number_grad_errors(run.adjoints, data)
    return data[run.graph.output], {name: grads[node] for name, node in run.graph.inputs.items()}


def test_a_kink_out_of_reach_changes_nothing() -> None:
    plain, slopes = errors("x*y", x=0.3, y=0.7)
    for bent in ("abs(x*y)", "relu(x*y)"):
        value, bent_slopes = errors(bent, x=0.3, y=0.7)
        assert value == plain
        assert bent_slopes["x"] <= 2.01 * slopes["x"]  # one product more
    assert errors("where(x, x*y, 2)", x=0.3, y=0.7)[0] == plain


def test_a_kink_within_reach_may_take_all_of_a_slope() -> None:
    value, slopes = errors("relu(x*y - 0.21)", x=0.3, y=0.7)
    assert 0 < value < 4 * UNIT
    assert slopes["x"] > 0.5


def test_a_condition_that_may_be_the_other_way() -> None:
    assert errors("where(x*y > 0.21, 2, 3)", x=0.3, y=0.7)[0] >= 1
    assert errors("where(x*y > 0.22, 2, 3)", x=0.3, y=0.7)[0] == 0


def test_a_power_far_from_its_jump_counts_its_error_once() -> None:
    """Four half ulps of its own, and twice what the base is off by."""
    value, _ = errors("(x*y)^2", x=0.3, y=0.7)
    square = (0.3 * 0.7) ** 2
    assert value == pytest.approx((4 + 2) * UNIT * square, rel=0.01)


def test_what_underflows_is_off_and_what_is_multiplied_by_0_is_not() -> None:
    """A grad of 0 that is not made of zeros is all that is left of a number."""
    value, slopes = errors("x*y*z", x=1e-200, y=1e-200, z=3.7)
    assert value > 0 and slopes["z"] >= TINY
    _, slopes = errors("relu(-(x*x))*y", x=0.3, y=0.7)
    assert slopes["x"] == 0


def test_what_is_not_finite_may_be_off_by_anything() -> None:
    assert math.isinf(errors("exp(x*y)*z", x=1e3, y=1.1, z=0.1)[0])


def test_rows_that_say_where_their_kinks_are() -> None:
    told = {op.name for op in OPS if op.special and equal_at_special(op.name) is not None}
    assert {"abs", "relu", "clamp", "where", "pow", "lt", "sign"} <= told
    assert not told & {"floor", "round", "mod", "max"}


def test_a_root_that_is_rounded_to_a_whole_number() -> None:
    """``sqrt(9e7^2 + 1)`` is 9e7 in doubles, and all numbers of the formula are whole."""
    assert errors("sqrt(x*x + 1) - x", x=9e7)[0] > 1e-9
    assert errors("sqrt(x*x) - x", x=9e3)[0] == 0


def test_a_term_of_logsumexp_that_may_be_the_greatest() -> None:
    """``x + 1e18`` is off by 60, so that the term that weighs nothing weighs all in truth."""
    run = parse("logsumexp(x + 1e18 - 1e18, 50)").evaluate(x=60)
    assert run.value == 50
    assert number_data_errors(run.graph, run.values)[-1] > 10


@pytest.mark.parametrize(
    "formula", ["normpdf({})", "sech({})", "tanh({})", "atan2(1, {})", "relu6({})"]
)
def test_a_hump_between_two_ends_that_are_flat(formula: str) -> None:
    """``x + 1e20`` is off by 8,000: the row is flat where the sweep finds it, and may be anywhere."""
    _, slopes = errors(formula.format("(x + 1e20 - 1e20 - 6400)"), x=6401)
    assert slopes["x"] > 0.1


def test_no_hump_is_missed_where_a_remainder_may_be_any() -> None:
    value, slopes = errors("normpdf((x - y)%(-1))", x=1e200, y=1)
    assert value > 0.1 and slopes["x"] > 0.2


AROUND = [(100.0, 300.0), (-100.0, 300.0), (40.0, 60.0), (-40.0, 60.0), (-0.4, 9.0), (1e9, 3e9)]
"""Numbers that may be off by much."""


@pytest.mark.parametrize("op", [op for op in OPS if not op.variadic], ids=lambda op: op.name)
def test_rows_of_numbers_that_may_be_off_by_much(op: Op) -> None:
    """Where a row, or a local derivative, may be another number, the bound leaves one digit at most."""
    names = op.names
    text = f"x{op.infix}y" if op.infix else f"{op.prefix or op.name}({', '.join(names)})"
    expression = parse(text)
    for moved in names:
        for x, d in AROUND:
            given = dict.fromkeys(names, 0.7) | {moved: x}
            run = expression.gradient(given)
            data = number_data_errors(run.graph, run.values, {run.graph.inputs[moved]: d})
            assert isinstance(run.adjoints, Adjoints)
            slopes = number_grad_errors(run.adjoints, data)
            bounds = [data[run.graph.output], *[slopes[run.graph.inputs[name]] for name in names]]
            here = [run.value, *run.gradient.values()]
            for step in range(-10, 11):
                place = expression.gradient(given | {moved: x + step / 10 * d})
                there = [place.value, *place.gradient.values()]
                for bound, one, another in zip(bounds, here, there, strict=True):
                    apart = min(abs(one - another), abs(one) or 1.0)
                    assert not apart > 4 * bound + 1e-4 * abs(one), (given, place.inputs)


def test_nothing_arrives_of_a_branch_that_is_not_taken() -> None:
    """Were it off by anything: log(x) has no value here, and x is exact."""
    assert errors("where(x > 0, log(x), x)", x=-1.0)[0] == 0.0


def test_what_adding_up_rounds_away_is_counted() -> None:
    """The contributions 1, 2^-54 and 2^-54 are exact; their sum in doubles is 1, and 2^-53 is lost."""
    run = parse("x*a + x*b + x*c").gradient(x=1, a=1, b=2.0**-54, c=2.0**-54)
    assert run.gradient["x"] == 1
    assert errors("x*a + x*b + x*c", x=1, a=1, b=2.0**-54, c=2.0**-54)[1]["x"] >= 2.0**-53
