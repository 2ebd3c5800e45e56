"""Gradients of tensors, number by number."""

from __future__ import annotations

import pytest

from exprgrad import RequestError, parse
from exprgrad.explain.checking.check import check_run, numbers_to_check
from exprgrad.explain.checking.differences import difference_table, measure_rounding
from shell import command

X = [[1.0, 2.0], [3.0, 4.0], [0.5, -1.0]]
W = [0.3, -0.7]
FORMULAS = [
    "sum((X @ w)^2)",
    "mean(tanh(X @ w + c))",
    "cross_entropy(X, [0, 1, 0])*c",
    "norm(w) + prod(w)*sum(X[0, :])",
    "sum(softmax(X)*X) + c^2",
]


@pytest.mark.parametrize("formula", FORMULAS)
def test_every_number_agrees(formula: str) -> None:
    f = parse(formula)
    values = {name: {"X": X, "w": W, "c": 0.25}[name] for name in f.inputs}
    found = f.check(values)
    count = {"X": 6, "w": 2, "c": 1}
    assert len(found) == sum(count[name] for name in f.inputs)
    assert {check.verdict for check in found} == {"agrees"}, found


def test_names_of_numbers() -> None:
    found = parse("sum(X @ w)*c").check(X=X, w=W, c=2.0)
    assert [check.input for check in found] == [
        *[f"X[{row}, {column}]" for row in range(3) for column in range(2)],
        "w[0]",
        "w[1]",
        "c",
    ]


def test_a_large_tensor_is_sampled_evenly() -> None:
    run = parse("sum(a*b)*c").gradient(a=[1.0] * 100, b=[2.0] * 100, c=1.0)
    places = numbers_to_check(run)
    assert len(places) == 64 == len(set(places))
    assert [sum(input == name for input, _ in places) for name in "abc"] == [32, 32, 0]
    assert places[0] == ("a", (0,)) and places[1][1][0] in (2, 3, 4)


def test_a_wrong_gradient_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    f = parse("sum(X @ w)")
    run = f.gradient(X=X, w=W)
    assert run.adjoints is not None
    run.adjoints.grads[run.graph.inputs["w"]][1] *= 1.01
    found = {check.input: check for check in check_run(run)}
    assert found["w[0]"].verdict == "agrees"
    assert found["w[1]"].verdict == "disagrees"
    assert found["w[1]"].message == "disagrees: the gradient for w[1] says 5.05, differences say 5"


def test_kinks_and_overflow() -> None:
    found = parse("sum(relu(x))").check(x=[1.0, 0.0, -1.0])
    assert [check.verdict for check in found] == ["agrees", "kink", "agrees"]
    assert (found[1].left, found[1].right) == pytest.approx((0.0, 1.0))
    assert [c.verdict for c in parse("sum(exp(x))").check(x=[1000.0, 0.0])] == ["overflow"] * 2
    assert [c.verdict for c in parse("sum(log(x))").check(x=[-1.0])] == ["undecided"]


def test_what_is_not_for_tensors_is_refused() -> None:
    f = parse("sum(x^2)")
    with pytest.raises(RequestError, match="at its inputs alone"):
        f.check(x=[1.0, 2.0], nodes=["x"])
    with pytest.raises(RequestError, match="at its inputs alone"):
        f.check(x=[1.0, 2.0], h=0.1)


def test_noise_is_measured() -> None:
    """Of a polynomial of degree 3 all higher differences are rounding alone."""
    assert list(difference_table([0.0, 1.0, 8.0, 27.0, 64.0]))[3] == [0.0]
    assert measure_rounding(lambda x: x**3, 1.0, 1) <= 2.0**-52
    assert (
        1e-9 < measure_rounding(lambda x: (x + 1e8) - 1e8, 1.0, 1) < 1e-7
    )  # an ulp of 1e8 is 1.5e-8


def test_waves_that_no_step_in_doubles_follows_are_followed_in_balls() -> None:
    found = parse("sum(sin(x))").check(x=[1e15, 1.0])
    assert [check.verdict for check in found] == ["agrees", "agrees"]


def test_tensors_too_large_for_balls_are_checked_in_doubles() -> None:
    x = [1e15, *[1.0] * 2100]
    found = parse("sum(sin(x))").check(x=x)
    assert found[0].verdict == "undecided" and found[-1].verdict == "agrees"


def test_the_output_is_said() -> None:
    assert "\noutput  sum(x) = 3\n2 of 2 agree\n" in command("check", "sum(x)", "x=[1,2]").out


def test_the_command() -> None:
    status, out, _ = command("check", "sum((X @ w)^2)", "X=[[1,2],[3,4]]", "w=[1,-1]", "-q")
    assert status == 0
    assert out.splitlines()[:2] == ["X[0, 0]=agrees", "X[0, 1]=agrees"]
