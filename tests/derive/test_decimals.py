"""In what people read, a number is the decimal that was typed: 2.2 - 1 is 1.2."""

from __future__ import annotations

from decimal import Decimal, localcontext
from fractions import Fraction
from random import Random

import pytest

from exprgrad import parse
from exprgrad.derive.build import (
    GraphBuilder,
    exact_from_shortest,
    fold_doubles_exactly,
    shortest_double,
)
from exprgrad.derive.rules import shown
from exprgrad.derive.sweeps.gradient import gradient
from together import together

CASES = [
    ("x^2.2", 1, "2.2*x^1.2"),
    ("x^2.2", 2, "2.64*x^0.2"),
    ("x^2.2", 3, "0.528*x^-0.8"),
    ("x^0.1", 1, "0.1*x^-0.9"),
    ("x^0.1", 2, "-0.09*x^-1.9"),
    ("x^-1.9", 1, "-1.9*x^-2.9"),
    ("(1 + x)^0.1", 1, "0.1*(1 + x)^-0.9"),
    ("0.1*x*0.3", 1, "0.03"),
    ("0.1*x + 0.2*x", 1, "0.3"),
    ("0.1*x + 0.2*x - 0.3*x", 1, "0"),
    ("x*(0.1 + 0.2)", 1, "0.3"),
    ("x*(1.1 - 1)", 1, "0.1"),
    ("x*1.1*1.1", 1, "1.21"),
    ("x*0.3/0.1", 1, "3"),
    ("(0.1*x)^2.2", 1, "0.22*(0.1*x)^1.2"),
    ("x^(1.1 + 2.2)", 1, "3.3*x^2.3"),
    ("log(0.7*x)/0.7", 1, "1/(0.7*x)"),
    ("exp(-0.3*x)", 2, "0.09*exp(-0.3*x)"),
    ("sin(1.1*x)", 2, "-1.21*sin(1.1*x)"),
    ("x^0.3*x^0.4", 1, "0.7*x^-0.3"),
    ("x^0.5", 1, "0.5/sqrt(x)"),
    ("x^-2", 1, "-2/x^3"),
    ("x^-1.5", 1, "-1.5/x^2.5"),
    ("x^(1/3)", 1, "1/(3*x^(2/3))"),
    ("x/10", 1, "1/10"),
    ("2.5*x/10", 1, "0.25"),
    ("1/(2 + 0.5*x)^2", 1, "-1/(2 + 0.5*x)^3"),
    ("2.5*x^1.5/(1 + 0.2*x)", 1, "sqrt(x)*(3.75 + 0.25*x)/(1 + 0.2*x)^2"),
    ("x^3.141592653589793", 2, "3.141592653589793*2.141592653589793*x^1.141592653589793"),
]


@together(CASES)
def test_derivatives_in_decimals(formula: str, order: int, derivative: str) -> None:
    assert str(parse(formula).derivative("x", order)) == derivative


@pytest.mark.parametrize(
    ("formula", "derivative"),
    [
        ("x^1e17", "1e+17*x^(1e+17 - 1)"),
        ("x^(1e17 - 1)", "x^(1e+17 - 2)*(1e+17 - 1)"),
        ("(1e17 + 1)*x", "1e+17 + 1"),
        ("x^1e3", "1000*x^999"),
    ],
)
def test_no_whole_number_is_rounded(formula: str, derivative: str) -> None:
    assert str(parse(formula).derivative("x")) == derivative


def test_the_power_rule_in_decimals() -> None:
    """The factor and the exponent are what decimal arithmetic says, to the last digit."""
    random = Random(0)
    with localcontext() as context:
        context.prec = 60
        for _ in range(100):
            power = Decimal(random.randint(10**5, 10**6) * 10 + 1).scaleb(-random.randint(4, 6))
            if power < Decimal("2.5"):
                continue
            first = parse(f"x^{power:f}").derivative("x")
            assert str(first) == f"{power:f}*x^{power - 1:f}"
            second = f"{(power * (power - 1)).normalize():f}*x^{power - 2:f}"
            assert str(parse(f"x^{power:f}").derivative("x", 2)) == second


def test_evaluation_keeps_doubles() -> None:
    """Only formulas for people have decimals; what is computed has the doubles nearest to these."""
    graph = parse("x^2.2").graph
    exponents = {
        rule is shown: {
            value
            for value in gradient(graph, ["x"], rule).graph.payloads
            if isinstance(value, float)
        }
        for rule in (shown, lambda op, position: op.partial(position))
    }
    assert 1.2 in exponents[True] and 1.2 not in exponents[False]
    assert 2.2 - 1 in exponents[False] and 2.2 - 1 not in exponents[True]


@pytest.mark.parametrize(
    ("kind", "values", "in_doubles", "in_decimals"),
    [
        ("sub", (2.2, 1.0), 2.2 - 1, 1.2),
        ("add", (0.1, 0.2), None, 0.3),
        ("mul", (0.1, 3.0), None, 0.3),
        ("div", (1.0, 10.0), None, 0.1),
        ("div", (1.0, 4.0), 0.25, 0.25),
        ("div", (1.0, 3.0), None, None),
        ("pow", (2.0, 60.0), 2.0**60, None),
        ("pow", (10.0, 22.0), 1e22, 1e22),
        ("pow", (10.0, 23.0), None, 1e23),
        ("mul", (1e300, 1e300), None, None),
        ("mul", (1.23456789012345, 1.23456789012345), None, None),
        ("sub", (0.3, 0.3), None, None),
        ("lt", (0.1, 0.2), 1.0, 1.0),
    ],
)
def test_folding(
    kind: str, values: tuple[float, ...], in_doubles: float | None, in_decimals: float | None
) -> None:
    assert fold_doubles_exactly(kind, values) == in_doubles
    assert fold_doubles_exactly(kind, values, typed=True) == in_decimals


def test_a_decimal_reads_back() -> None:
    for value in (0.1, 1e-320, 5e-324, 1.7976931348623157e308, 2.0**60, -0.3, 123456789.125, 3.0):
        assert shortest_double(exact_from_shortest(value)) == value
        assert exact_from_shortest(value) == Fraction(repr(value))
    assert shortest_double(Fraction(1, 3)) is None
    assert shortest_double(Fraction(2**60)) is None
    assert shortest_double(Fraction(10**400)) is None


def test_a_builder_of_doubles_is_one_of_doubles() -> None:
    for typed, expected in ((False, 2.2 - 1), (True, 1.2)):
        builder = GraphBuilder(typed=typed)
        node = builder.apply("sub", builder.constant(2.2), builder.constant(1.0))
        assert builder.value(node) == expected


def test_a_derived_graph_of_decimals_keeps_the_digits_that_were_typed() -> None:
    long = "2.00000000000000000000001"  # its double is 2
    graph = parse(f"x^{long}").graph
    assert long in gradient(graph, ["x"], shown).graph.spelled.values()
    assert not gradient(graph, ["x"]).graph.spelled  # which is one of doubles
    builder = GraphBuilder(typed=True)
    node = builder.constant(2.0, text=long)
    assert builder.value(node) is None and GraphBuilder(typed=True).constant(2.0) == node == 0
    assert builder.value(builder.apply("mul", node, builder.constant(2.0))) is None
