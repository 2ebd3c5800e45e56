"""What a wrong claim has wrong: terms and factors used more than once, and far too many of them."""

from __future__ import annotations

from exprgrad import Check, parse
from exprgrad.explain.checking.claims import MOST_PARTS


def claimed(formula: str, claim: str) -> Check:
    """The check of one claim, ``NAME=FORMULA``."""
    name, _, text = claim.partition("=")
    (found,) = parse(formula).check(claims={name: text})
    assert found.verdict == "disagrees"
    return found


def test_a_term_that_is_used_twice_counts_twice() -> None:
    found = claimed("x^2*y + sin(y)*x", "x=t = x*y; t + t - sin(y)")
    assert found.message.endswith("its term -sin(y) is -1 times sin(y): a sign")
    found = claimed("x^2*y + x", "x=s = x*y; s + s + s + 1")
    assert found.message.endswith("its term 3*x*y is 3/2 times 2*x*y: a factor")


def test_terms_that_cancel_are_none() -> None:
    found = claimed("x^2 + y^2*x", "x=t = sin(y); t + 2*x - t + y")
    assert found.message.endswith("its term y should be y^2")


def test_a_factor_that_is_used_twice_is_a_power() -> None:
    found = claimed("x^2*y^3*exp(x)", "y=3*x*x*cos(y)*exp(x)")
    assert found.message.endswith("its factor cos(y) should be y^2")
    found = claimed("x^3*sin(y)", "x=t = x*sin(y); s = t + t; s*x")
    assert found.message.endswith("the claim is 2/3 times the derivative: a factor")


def doubled(operation: str, count: int) -> str:
    """A node that is two of the one before, so many times."""
    lines = [f"s{at} = s{at - 1} {operation} s{at - 1}" for at in range(1, count)]
    return "; ".join([f"s0 = x {operation} y", *lines])


def test_what_doubles_at_each_node_ends() -> None:
    for operation in "+*":
        assert claimed("x^2*y", f"x={doubled(operation, 40)}").where is not None
    found = claimed("x^2*y + cos(x)", "x=" + doubled("+", 40) + "; s39 - sin(x)")
    assert found.where is not None


def test_terms_can_be_pasted() -> None:
    found = claimed("x^2*y", "x=2*x*y - x%y")
    assert found.message.endswith("its term -(x%y) is not in the derivative")
    found = claimed("x*y", "x=y - (x > 1)")
    assert found.message.endswith("its term -(x > 1) is not in the derivative")


def test_too_many_terms_are_one() -> None:
    many = " + ".join(f"sin({at}*x)" for at in range(MOST_PARTS + 1))
    found = claimed("x^2 + y*x", f"x={many} - 2*x")
    assert found.where is not None and "; " not in found.message


def test_a_factor_near_1_is_not_called_1() -> None:
    for claim, factor in (("2.0000001", "1 + 5e-08"), ("1.9999999", "1 - 5e-08")):
        found = claimed("x^2", f"x={claim}*x")
        assert found.message.endswith(
            f"the claim is {factor} times the derivative everywhere: a factor"
        )
