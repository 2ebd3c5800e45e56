"""Claims about formulas with decimals, and about formulas in pieces: a right and a wrong one of each."""

from __future__ import annotations

import pytest

from amounts import LONG
from exprgrad import Check, parse
from together import together

DECIMALS = [
    ("x^2.2", "2.2*x^1.2", "2.2*x^1.3"),
    ("x^0.1", "0.1*x^-0.9", "0.1*x^0.9"),
    ("x^0.1", "0.1/x^0.9", "0.1/x^1.1"),
    ("0.1*x", "1/10", "1/9"),
    ("0.1*x", "0.1", "0.1000000000000001"),
    ("0.1*x + 0.2*x", "0.3", "0.30000000000000004"),
    ("0.3*x - 0.1*x - 0.2*x", "0", "-2.8e-17"),
    ("x/3", "1/3", "0.3333333333333333"),
    ("x*0.7/0.1", "7", "6.999999999999999"),
    ("x*1.1*1.1", "1.21", "1.2100000000000002"),
    ("x*1.1^3", "1.331", "1.3310000000000004"),
    ("x*(1 - 0.9)", "0.1", "0.09999999999999998"),
    ("(x - 0.1)^2", "2*x - 0.2", "2*x - 0.1"),
    ("(0.1*x)^2", "0.02*x", "0.2*x"),
    ("(0.1*x)^2", "x/50", "x/5"),
    ("x^1.5", "1.5*sqrt(x)", "1.5*x"),
    ("x^2.5", "2.5*x*sqrt(x)", "2.5*sqrt(x)"),
    ("x^-1.2", "-1.2*x^-2.2", "-1.2*x^-0.2"),
    ("2^(0.5*x)", "log(2)/2*2^(x/2)", "log(2)*2^(x/2)"),
    ("exp(-0.5*x^2)", "-x*exp(-x^2/2)", "-0.5*x*exp(-x^2/2)"),
    ("exp(0.01*x)", "exp(x/100)/100", "exp(x/100)/10"),
    ("log(0.3*x)", "1/x", "0.3/x"),
    ("log(1 + 0.2*x)", "1/(5 + x)", "0.2/(5 + x)"),
    ("sin(0.1*x)", "cos(x/10)/10", "cos(x/10)"),
    ("sin(6.28*x)", "6.28*cos(6.28*x)", "2*pi*cos(6.28*x)"),
    ("cos(0.25*x)", "-sin(x/4)/4", "sin(x/4)/4"),
    ("sqrt(0.04*x)", "0.1/sqrt(x)", "0.2/sqrt(x)"),
    ("sqrt(0.09 + x^2)", "x/sqrt(x^2 + 9/100)", "x/sqrt(x^2 + 0.3)"),
    ("1/(1 + 0.5*x)", "-2/(2 + x)^2", "-1/(2 + x)^2"),
    ("x/(0.1 + x)", "0.1/(0.1 + x)^2", "1/(0.1 + x)^2"),
    ("x/(0.1 + x)", "10/(1 + 10*x)^2", "10/(1 + 10*x)"),
    ("tanh(0.7*x)", "7/10*(1 - tanh(7/10*x)^2)", "0.7*(1 + tanh(0.7*x)^2)"),
    ("atan(x/0.2)", "5/(1 + 25*x^2)", "5/(1 + 5*x^2)"),
    ("0.5*x^2 + 0.25*x^4", "x + x^3", "x + 0.25*x^3"),
    ("x^0.3*x^0.4", "0.7*x^-0.3", "0.7*x^-0.2"),
    ("x^0.3/x^0.1", "0.2*x^-0.8", "0.2*x^-0.6"),
    ("(x^0.2)^0.5", "0.1*x^-0.9", "0.1*x^-0.1"),
    ("3.7*x^2 - 1.2*x", "7.4*x - 1.2", "7.4*x - 1.20000000000000001e1"),
    ("1e-3*x^3", "3e-3*x^2", "3.0000000000000005e-3*x^2"),
    ("1e22*x", "10^22", "10^22 + 1"),
    ("9.81*x^2/2", "9.81*x", "9.8100000001*x"),
    ("0.1*x*y", "y/10", "y/11"),
    ("x^2.2*y", "11/5*x^(6/5)*y", "11/5*x^(5/6)*y"),
    ("0.1*(x + y)^2", "(x + y)/5", "(x + y)/10"),
    ("k = 0.1*x; k^2", "0.2*k", "2*k"),
    ("x*exp(-0.1*x)", "(1 - x/10)*exp(-x/10)", "(1 - x)*exp(-x/10)"),
    ("0.6*x^0.5", "0.3/sqrt(x)", "0.30000000000000004/sqrt(x)"),
    ("log10(0.1*x)", "1/(x*log(10))", "0.1/(x*log(10))"),
    ("x^3.3 - x^2.3", "3.3*x^2.3 - 2.3*x^1.3", "3.3*x^2.3 - 2.3*x^1.2999999999999998"),
    ("(1 + 0.05/12)^x", "(1 + 1/240)^x*log(1 + 1/240)", "(1 + 1/24)^x*log(1 + 1/24)"),
]
PIECES = [
    ("relu(x - 100)", "x > 100", "0"),
    ("max(x, 50)", "x > 50", "0"),
    ("clamp(x, -10, 10)", "abs(x) < 10", "1"),
    ("where(abs(x - 0.3) < 0.01, x^2, x)", "where(abs(x - 0.3) < 0.01, 2*x, 1)", "1"),
    ("where(x > 40, x^2, x)", "where(x > 40, 2*x, 1)", "1"),
    ("min(x, -2000)", "x < -2000", "0"),
    ("abs(x - 5000)", "sign(x - 5000)", "-1"),
    ("abs(x + 1e7)", "sign(x + 1e7)", "1"),
    ("relu(1e6*x - 1e9)", "1e6*(x > 1000)", "0"),
    ("where(x < 1e-6, 0, x)*(x > 0)", "x > 1e-6", "x > 0"),
    ("where((x - 7.77)^2 < 1e-6, 5*x, x)", "where(abs(x - 7.77) < 0.001, 5, 1)", "1"),
    ("where(x == 12.5, 0, x) + relu(x - 12.5)", "1 + (x > 12.5)", "1 + (x > 12)"),
    ("clamp(x, 99, 101)", "(x > 99)*(x < 101)", "0"),
    ("clamp(1000*x, 0, 1)", "1000*(x > 0)*(x < 0.001)", "0"),
    ("leaky_relu(x + 3000)", "where(x > -3000, 1, 0.01)", "1"),
    ("elu(x - 2000)", "where(x > 2000, 1, exp(x - 2000))", "exp(x - 2000)"),
    ("relu(x)^2", "2*relu(x)", "2*x"),
    ("relu(-x - 250)", "-(x < -250)", "0"),
    ("sign(x - 300)*x", "sign(x - 300)", "-1"),
    ("heaviside(x - 300)*x", "x > 300", "0"),
    ("floor(x/5000)*x", "floor(x/5000)", "where(x < 0, -1, 0)"),
    ("x % 3000", "1", "x > 0"),
    ("max(floor(x/1e6), 0)*x", "max(floor(x/1e6), 0)", "0"),
    ("where(x^2 > 1e10, 1/x, x)", "where(abs(x) > 1e5, -1/x^2, 1)", "1"),
    ("where(exp(x) > 1e100, 3*x, x)", "1 + 2*(x > 100*log(10))", "1"),
    ("where(log(x) > 20, 0, x)", "log(x) < 20", "1"),
    ("where(sin(x) > 0.999, 0, x)", "sin(x) < 0.999", "1"),
    ("where(sqrt(x) > 100, 2*x, x)", "where(x > 1e4, 2, 1)", "1"),
    ("where(1/x > 1e4, 2*x, x)", "where((x > 0)*(x < 1e-4), 2, 1)", "1"),
    ("where(x > 40, where(x > 41, 0, x), 2*x)", "where(x > 40, x < 41, 2)", "where(x > 40, 0, 2)"),
    ("min(max(x, 60), 61)", "(x > 60)*(x < 61)", "0"),
    ("max(x, 60, 61, 62)", "x > 62", "0"),
    ("abs(abs(x) - 800)", "sign(abs(x) - 800)*sign(x)", "-sign(x)"),
    ("abs(x^2 - 1e8)", "2*x*sign(x^2 - 1e8)", "-2*x"),
    ("max(x, x^2/1000)", "where((x < 0) + (x > 1000), x/500, 1)", "where(x < 0, x/500, 1)"),
    ("relu(x - 100)*relu(y - 30)", "(x > 100)*relu(y - 30)", "0"),
    ("max(x, y, 1000)", "(x > y)*(x > 1000)", "x > 1000"),
    ("max(x, y)", "x > y", "1"),
    ("where(x > 40*y, x^2, x)", "where(x > 40*y, 2*x, 1)", "where(x > 39.9*y, 2*x, 1)"),
    ("where(y > 5000, x^2, x)", "where(y > 5000, 2*x, 1)", "1"),
    ("abs(x - y - 700)", "sign(x - y - 700)", "-1"),
    ("clamp(x, y, y + 0.01)", "(x > y)*(x < y + 0.01)", "0"),
    ("where(x*y > 1e5, 0, x)", "x*y <= 1e5", "1"),
    ("u = x - 90; relu(u)*y", "where(u > 0, y, 0)", "0"),
    ("x^2", "2*x", "where(x > 5e5, 0, 2*x)"),
    ("x^3", "3*x^2", "where(abs(x - 0.123) < 1e-4, 0, 3*x^2)"),
    ("sin(x)", "cos(x)", "where(x > -2500, cos(x), 1)"),
    ("x*y", "y", "y + relu(x - 1e5)"),
    ("min(1/x, -4e5)*x", "where((x < 0)*(x > -2.5e-6), 0, -4e5)", "-4e5"),
    ("max(x*y, y, 0.659)", "y*(x*y > max(y, 0.659))", "y*(x*y > y)"),
    ("round(x/1e4)*x", "round(x/1e4)", "0"),
    ("where(x > 1e3, x^1.5, 0)", "where(x > 1000, 1.5*sqrt(x), 0)", "0"),
]
TWO_INPUTS = [
    ("where(hypot(x - 1, y - 2) < 0.01, x*y, x)", "where(hypot(y - 2, x - 1) < 0.01, y, 1)", "1"),
    (
        "where((x - 1)^2 + (y - 2)^2 + (z - 30)^2 < 1e-6, x*y, x)",
        "1 + (y - 1)*((x - 1)^2 + (y - 2)^2 + (z - 30)^2 < 1e-6)",
        "1",
    ),
    (
        "where(max(abs(x - 1), abs(y - 2)) < 0.01, x*y, x)",
        "where((abs(x - 1) < 0.01)*(abs(y - 2) < 0.01), y, 1)",
        "where(abs(x - 1) + abs(y - 2) < 0.01, y, 1)",
    ),
    (
        "where(abs(x - y) + abs(y - 3) < 0.001, x*y, x)",
        "where(abs(x - y) < 0.001 - abs(y - 3), y, 1)",
        "1",
    ),
    (
        "where((x + y - 3)^2 + 100*(x - y - 1)^2 < 1e-4, x*y, x)",
        "where(((x + y - 3)/10)^2 + (x - y - 1)^2 < 1e-6, y, 1)",
        "1",
    ),
    (
        "where(hypot((x - 1e6)/1e3, (y - 1e-3)*1e6) < 0.01, x*y, x)",
        "where(hypot(x - 1e6, (y - 1e-3)*1e9) < 10, y, 1)",
        "1",
    ),
    ("where(sin(x)*sin(y) > 0.9999, x*y, x)", "1 + (y - 1)*(sin(x)*sin(y) > 0.9999)", "1"),
    (
        "where((x^2 + y - 11)^2 + (x + y^2 - 7)^2 < 1e-6, x*y, x)",
        "where(hypot(x^2 + y - 11, x + y^2 - 7) < 1e-3, y, 1)",
        "1",
    ),
    (
        "where(exp(-(x - 5)^2 - (y - 3)^2) > 0.99, 0, x)",
        "(x - 5)^2 + (y - 3)^2 >= -log(0.99)",
        "1",
    ),
    ("relu(1e-4 - (x - 8)^2 - (y + 4)^2)", "(16 - 2*x)*((x - 8)^2 + (y + 4)^2 < 1e-4)", "0"),
    ("x*y", "y", "where(hypot(x - 1, y - 2) < 0.01, 0, y)"),
    (
        "where(hypot(x - 1, y - 2) < 0.01, x*y, x)*relu(z - 1000)",
        "where(hypot(x - 1, y - 2) < 0.01, y, 1)*relu(z - 1000)",
        "relu(z - 1000)",
    ),
]
"""Pieces that are small in two inputs or three, which no line through a sampled point goes through."""
FEW = 5
"""Every so many of them are checked with each run of the suite."""


def claimed(formula: str, claim: str) -> Check:
    """The check of one claim about the derivative with respect to x."""
    (found,) = parse(formula).check(claims={"x": claim})
    return found


def decided(formula: str, right: str, wrong: str) -> None:
    """The right claim is accepted, the wrong one is rejected."""
    accepted, rejected = claimed(formula, right), claimed(formula, wrong)
    assert accepted.verdict == "agrees", accepted
    assert rejected.verdict == "disagrees", rejected


@together(DECIMALS[::FEW])
def test_a_few_claims_with_decimals(formula: str, right: str, wrong: str) -> None:
    decided(formula, right, wrong)


@together(PIECES[::FEW])
def test_a_few_claims_in_pieces(formula: str, right: str, wrong: str) -> None:
    decided(formula, right, wrong)


@together(TWO_INPUTS[::FEW])
def test_a_few_claims_with_pieces_in_two_inputs(formula: str, right: str, wrong: str) -> None:
    decided(formula, right, wrong)


@pytest.mark.slow
@together([*DECIMALS, *PIECES, *TWO_INPUTS][:: 3 if LONG == 1 else 1])
def test_more_claims(formula: str, right: str, wrong: str) -> None:
    decided(formula, right, wrong)
