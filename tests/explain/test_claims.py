"""Derivatives found by hand: right ones, wrong ones and what is wrong with them, and bad requests."""

from __future__ import annotations

import sys
from dataclasses import replace

import pytest

import golden
from exprgrad import Check, InputError, LanguageError, MissingExtraError, RequestError, parse
from exprgrad.derive import local
from exprgrad.graph.ops import BY_NAME
from exprgrad.run import balls, tape
from shell import command, spelled

RIGHT = [
    ("a*b*c", "a=b*c"),
    ("x^2*y + sin(x)", "x=2*x*y + cos(x)"),
    ("x^2*y + sin(x)", "y=x*x"),
    ("sin(x)^2", "x=sin(2*x)"),
    ("o = tanh(x*w + b); o", "x=(1 - o^2)*w"),
    ("o = tanh(x*w + b); o", "b=1/cosh(x*w + b)^2"),
    ("x^y", "y=x^y*log(x)"),
    ("log(x - 3)", "x=1/(x - 3)"),
    ("relu(x)", "x=x > 0"),
    ("abs(x)", "x=sign(x)"),
    ("sqrt(1 - x^2)", "x=-x/sqrt(1 - x^2)"),
    ("floor(x) + y", "x=0"),
    ("asin(x)", "x=1/sqrt(1 - x^2)"),
    ("x^2", "x=s = x + x; s"),
]
WRONG = [
    ("a*b*c", "a=-b*c"),
    ("x^2*y", "y=2*x^2"),
    ("sqrt(x)", "x=1/sqrt(x)"),
    ("2^x", "x=2^x"),
    ("x^2*y + sin(x)", "x=2*x*y - cos(x)"),
    ("x^2*y + sin(x)", "x=2*y + cos(x)"),
    ("x^2*y + sin(x)", "x=2*x*y"),
    ("x^2*y + sin(x)", "x=2*x*y + cos(y)"),
    ("x^3", "x=3*x^2 + 1"),
    ("x/y", "y=-x/y"),
    ("exp(-x^2)", "x=-2*exp(-x^2)"),
    ("o = tanh(x*w + b); o", "w=(1 - o)*x"),
    ("x*y", "x=0"),
    ("3*x + y*0", "y=x"),
    ("relu(x)*y", "x=y"),
    ("log(abs(x))", "x=1/exp(log(x))"),
    ("sin(x)*cos(x)", "x=cos(x)^2 + sin(x)^2"),
]


def claimed(formula: str, claim: str) -> Check:
    """The check of one claim, ``NAME=FORMULA``."""
    name, _, text = claim.partition("=")
    (found,) = parse(formula).check(claims={name: text})
    return found


@pytest.mark.parametrize(("formula", "claim"), RIGHT)
def test_right_claims_agree(formula: str, claim: str) -> None:
    found = claimed(formula, claim)
    assert found.verdict == "agrees", found
    assert found.message.endswith("at 32 sampled points")
    assert found.analytic is not None and found.numeric is not None and found.point
    assert abs(found.analytic - found.numeric) <= 2**-52 * abs(found.analytic)


@pytest.mark.parametrize(("formula", "claim"), WRONG)
def test_wrong_claims_do_not(formula: str, claim: str) -> None:
    found = claimed(formula, claim)
    assert found.verdict == "disagrees"
    assert found.point is not None
    gradient = parse(formula).gradient(found.point).gradient[found.input]
    assert found.analytic == pytest.approx(gradient, rel=2**-48)  # that of a few rounded operations
    assert found.numeric != pytest.approx(gradient, rel=2**-20)


def test_what_is_said_of_them() -> None:
    pieces = []
    for formula, claim in [*RIGHT, *WRONG]:
        argv = ["check", formula, "--claim", claim]
        status, out, err = command(*argv)
        assert status == int((formula, claim) in WRONG)
        pieces.append(f"{spelled(argv)}\n{out}{err}")
    golden.agree("check/claims.txt", "\n".join(pieces))


def test_equal_as_formulas_is_said_where_it_is_so() -> None:
    assert "as formulas" in claimed("x^2*y", "x=y*x*2").message
    assert "as formulas" not in claimed("sin(x)^2", "x=sin(2*x)").message


def test_given_values_are_fixed() -> None:
    f = parse("x^2*y")
    (found,) = f.check(y=2, claims={"x": "4*x"})
    assert (found.verdict, found.point) == ("agrees", {"x": 2.0, "y": 2.0})
    (found,) = f.check(x=1, y=2, claims={"x": "x + 3"})
    assert found.message == "agrees: equal at the given point"
    (found,) = f.check(x=1, y=2, claims={"x": "x + 4"})
    assert found.message == "disagrees: at x = 1, y = 2 the derivative is 4, the claim is 5"
    (found,) = f.check(x=1, y=2, claims={"x": "-2*x*y"})
    assert found.message.endswith("the claim is −1 times the derivative: a sign")


def test_our_own_derivative_agrees() -> None:
    f = parse("x^2*y + sin(x)/y")
    found = f.check(claims={name: f.derivative(name) for name in f.inputs})
    assert [check.verdict for check in found] == ["agrees", "agrees"]


def test_several_claims() -> None:
    found = parse("a*b").check(claims={"a": "b", "b": "-a"})
    assert [check.verdict for check in found] == ["agrees", "disagrees"]
    out = command("check", "a*b", "--claim", "a=b", "--claim", "b=-a", "-q").out
    assert out == "a=agrees\nb=disagrees\n"


def test_no_point_of_the_domain() -> None:
    found = claimed("log(-1 - x^2)", "x=x")
    assert (found.verdict, found.point) == ("undecided", None)
    status, _, err = command("check", "log(-1 - x^2)", "--claim", "x=x")
    assert status == 0 and "no point of the domain was found" in err
    assert command("check", "log(-1 - x^2)", "--claim", "x=x", "--strict").status == 1


def test_a_wrong_rule_vouches_for_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    """A claim that copies a broken rule is not confirmed: differences deny it."""
    monkeypatch.setitem(BY_NAME, "sin", replace(BY_NAME["sin"], partials=("sin(x)",), shown=()))
    local.passing.cache_clear()
    tape.row.cache_clear()
    found = claimed("sin(x)", "x=sin(x)")
    assert found.verdict == "undecided"
    assert found.message.startswith("undecided: differences deny our own formula at x = ")
    monkeypatch.undo()
    local.passing.cache_clear()
    tape.row.cache_clear()


def test_claims_that_cannot_be_read() -> None:
    f = parse("y = a*b; y + c")
    with pytest.raises(InputError, match="is not an input"):
        f.check(claims={"z": "b"})
    with pytest.raises(InputError, match="is bound by the expression"):
        f.check(claims={"y": "1"})
    with pytest.raises(InputError, match="the claim reads 'bb'") as caught:
        f.check(claims={"a": "2*bb"})
    assert (caught.value.span, caught.value.help) == ((2, 4), "did you mean 'b'?")
    with pytest.raises(LanguageError) as wrong:
        f.check(claims={"a": "2*"})
    assert wrong.value.source is not None and wrong.value.source.text == "2*"
    with pytest.raises(RequestError, match="formula of numbers"):
        f.check(claims={"a": "[1, b]"})
    with pytest.raises(RequestError, match="formulas of numbers"):
        parse("sum(x)").check(claims={"x": "1"})
    with pytest.raises(InputError, match="does not read 'd'"):
        f.check(d=1, claims={"a": "b"})


def test_without_flint_the_install_line_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "flint", None)
    balls.flint.cache_clear()
    with pytest.raises(MissingExtraError) as caught:
        parse("a*b").check(claims={"a": "b"})
    balls.flint.cache_clear()
    assert caught.value.help == "pip install 'exprgrad[exact]'"
    assert "a claim" in caught.value.message
