"""Higher derivatives against mpmath at 40 digits, and how large and how fast derived programs are."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from itertools import product
from statistics import median

import pytest

import exprgrad
from corpus import table
from exprgrad.derive.simplify.formula import simplified_derivatives, simplify_program
from exprgrad.derive.simplify.orders import derivatives_of_order
from exprgrad.derive.sweeps.gradient import gradient, hessian_entries
from exprgrad.graph.graph import CONST, INPUT, STAGES, STEPS, Graph, Program
from exprgrad.language.read.parse import parse_text
from exprgrad.language.write.infix import count_tokens, program_text
from exprgrad.run.numbers.sweeps import forward_numbers
from invariants import check
from oracles import Real, decimal, evaluate, mp, mpf
from rounding import bounds
from slopes import shortest_rule
from together import together

WAVE = "exp(sin(x*y))/(1+x^2)"
CALL = (
    "d1 = (log(S/K) + (r + sigma^2/2)*T)/(sigma*sqrt(T)); d2 = d1 - sigma*sqrt(T); "
    "S*(1 + erf(d1/sqrt(2)))/2 - K*exp(-r*T)*(1 + erf(d2/sqrt(2)))/2"
)
"""The Black–Scholes price of a call (Black and Scholes 1973, equation 13)."""
MARKETS = [
    {"S": 100.0, "K": 100.0, "r": 0.05, "sigma": 0.2, "T": 1.0},
    {"S": 42.0, "K": 55.0, "r": 0.01, "sigma": 0.35, "T": 0.25},
    {"S": 120.0, "K": 80.0, "r": -0.02, "sigma": 0.6, "T": 3.0},
]


def close(found: Real, true: Real, digits: int = 40) -> bool:
    return bool(abs(found - true) <= abs(true) * mpf(10) ** -digits)


@cache
def formulas(text: str, names: tuple[str, ...], order: int) -> dict[tuple[str, ...], Graph]:
    """All derivatives of an order, by the inputs, worked out once for all points."""
    return dict(derivatives_of_order(parse_text(text), names, order))


@pytest.mark.parametrize(("x", "y"), [(0.5, 1.25), (-2.0, 0.75), (1.5, -3.0)])
def test_third_derivatives_of_a_wave(x: float, y: float) -> None:
    """All four, against mpmath's own numerical differentiation."""
    found = formulas(WAVE, ("x", "y"), 3)
    assert len(found) == 4
    with mp.workdps(80):
        for inputs, formula in found.items():
            orders = inputs.count("x"), inputs.count("y")
            true = mp.diff(lambda u, v: mp.exp(mp.sin(u * v)) / (1 + u * u), (x, y), orders)
            assert close(evaluate(formula, {"x": x, "y": y})[formula.output], true), inputs


def greeks(S: Real, K: Real, r: Real, sigma: Real, T: Real) -> dict[str, Real]:  # noqa: N803
    """The textbook's (Hull, Options, Futures and Other Derivatives, chapter 19; no dividends)."""
    root = mp.sqrt(T)
    d1 = (mp.log(S / K) + (r + sigma**2 / 2) * T) / (sigma * root)
    d2 = d1 - sigma * root
    density = mp.npdf(d1)
    discounted = K * mp.exp(-r * T)
    return {
        "delta": mp.ncdf(d1),
        "gamma": density / (S * sigma * root),
        "vega": S * density * root,
        "theta": -S * density * sigma / (2 * root) - r * discounted * mp.ncdf(d2),
        "rho": discounted * T * mp.ncdf(d2),
        "vanna": -density * d2 / sigma,
        "volga": S * density * root * d1 * d2 / sigma,
    }


GREEKS = {
    "delta": (("S",), 1),
    "vega": (("sigma",), 1),
    "theta": (("T",), -1),
    "rho": (("r",), 1),
    "gamma": (("S", "S"), 1),
    "vanna": (("S", "sigma"), 1),
    "volga": (("sigma", "sigma"), 1),
}
"""Each Greek's inputs, and its sign: theta is the derivative by the time that passed."""


@pytest.mark.parametrize("market", MARKETS, ids=str)
def test_the_greeks_as_formulas(market: dict[str, float]) -> None:
    names = ("S", "sigma", "T", "r")
    found = formulas(CALL, names, 1) | formulas(CALL, names, 2)
    with mp.workdps(60):
        true = greeks(**{name: mpf(value) for name, value in market.items()})
        for greek, (inputs, sign) in GREEKS.items():
            formula = found[inputs]
            assert close(sign * evaluate(formula, market)[formula.output], true[greek]), greek


@pytest.mark.parametrize("market", MARKETS, ids=str)
def test_all_second_derivatives_of_a_call(market: dict[str, float]) -> None:
    """In doubles, within the first-order rounding bound; against mpmath's differentiation."""
    graph = parse_text(CALL)
    names = list(graph.inputs)
    program, entries = hessian_entries(graph, names)
    numbers = forward_numbers(program.graph, market)
    found = bounds(program.graph, market)
    assert len(entries) == len(names) ** 2
    with mp.workdps(50):

        def price(*point: Real) -> Real:
            return evaluate(graph, dict(zip(names, point, strict=True)))[graph.output]

        for (row, column), place in entries.items():
            orders = tuple((i == row) + (i == column) for i in range(len(names)))
            true = mp.diff(price, tuple(mpf(market[name]) for name in names), orders)
            node = program.outputs[place]
            assert abs(found.values[node] - true) <= max(abs(true), 1) * mpf(10) ** -15
            assert abs(mpf(numbers[node]) - found.values[node]) <= found.errors[node]


def rosenbrock(count: int) -> str:
    terms = (f"100*(x{i + 1} - x{i}^2)^2 + (1 - x{i})^2" for i in range(1, count))
    return " + ".join(terms)


def test_rosenbrock_is_tridiagonal() -> None:
    graph = parse_text(rosenbrock(100))
    names = list(graph.inputs)
    number = {name: int(name[1:]) for name in names}
    program, entries = hessian_entries(graph, names)
    check(program.graph)
    point = {name: (-1.2, 1.0, 0.3)[number[name] % 3] for name in names}
    values = forward_numbers(program.graph, point)
    x = {number[name]: mpf(value) for name, value in point.items()}
    expected: dict[tuple[int, int], Real] = {}
    for i in range(1, 101):
        own = mpf(0)
        if i < 100:
            own += 1200 * x[i] ** 2 - 400 * x[i + 1] + 2
            expected[i, i + 1] = expected[i + 1, i] = -400 * x[i]
        expected[i, i] = own + (200 if i > 1 else 0)
    found = {
        (number[names[row]], number[names[column]]): values[program.outputs[place]]
        for (row, column), place in entries.items()
    }
    assert found.keys() == expected.keys()
    scale = 1200 * 1.44 + 400 + 202
    for entry, value in found.items():  # each is a sum of four terms, rounded a dozen times
        assert abs(mpf(value) - expected[entry]) <= 12 * mp.ldexp(scale, -53)


MASKS = ("lt", "le", "gt", "ge", "eq", "ne")


def operations(graph: Graph, leave_out: tuple[str, ...] = ()) -> int:
    """How many operations a graph takes."""
    return sum(kind not in (INPUT, CONST, *leave_out) for kind in graph.kinds)


SMALL_AND_STEEP = {
    "CES utility": 4.2,
    "tower of powers": 6.0,
}
"""Formulas above 4: few operations, each with local derivatives that take several."""


def test_the_gradient_is_cheap() -> None:
    """Griewank and Walther, Evaluating Derivatives (2008), section 4.6: a small multiple, at any size."""
    ratios = {}
    for name, text in table("corpus.txt"):
        graph = parse_text(text)
        lean = simplify_program(gradient(graph, list(graph.inputs), shortest_rule), graph)
        ratios[name] = operations(lean.graph, MASKS) / operations(graph)
    assert len(ratios) == 200
    assert median(ratios.values()) <= 2.5
    above = {name: ratio for name, ratio in ratios.items() if ratio > 4}
    assert above.keys() <= SMALL_AND_STEEP.keys(), above
    assert all(ratio <= SMALL_AND_STEEP[name] for name, ratio in above.items()), above


def factors(count: int) -> str:
    return "*".join(f"x{i}" for i in range(count))


def composition(depth: int) -> str:
    text = "x"
    for layer in range(depth):
        text = ("sin({})", "exp(-{})", "tanh({})", "1/(1 + {})", "sqrt(1 + {}^2)")[
            layer % 5
        ].format(text)
    return text


Derive = Callable[[Graph], Program]


@pytest.mark.parametrize(
    ("make", "size"), [(factors, 100), (composition, 25)], ids=["factors", "composition"]
)
def test_programs_grow_in_proportion(make: Callable[[int], str], size: int) -> None:
    """Of a product of 400 factors, of a composition 100 deep; raw and simplified, and one formula."""

    def count(times: int) -> tuple[float, float, float]:
        graph = parse_text(make(times * size))
        names = list(graph.inputs)
        raw = gradient(graph, names)
        lean = simplify_program(gradient(graph, names, shortest_rule), graph)
        (((_), alone),) = derivatives_of_order(graph, names[:1], 1)
        of = operations(graph)
        return operations(raw.graph) / of, operations(lean.graph) / of, operations(alone) / of

    once, four_times = count(1), count(4)
    for small, large in zip(once, four_times, strict=True):
        assert large <= small * 1.05
    assert four_times[1] <= 4


def test_order_does_not_matter() -> None:
    found = dict(derivatives_of_order(parse_text("x^2*y^3*z"), ["x", "y", "z"], 3))
    assert len(found) == 10
    assert {tuple(sorted(inputs)) for inputs in found} == {
        tuple(sorted(inputs)) for inputs in product("xyz", repeat=3)
    }


# High orders.

HIGH = (
    "tanh(x)", "1/(1+x^2)", "x^x", "exp(sin(x))", "sin(x)*exp(x)", "log(1+x^2)", "sqrt(1+x^2)",
    "sigmoid(x)", "softplus(x)", "x^n*exp(-x)", "1/(x*(1-x))", "atan(x)", "asin(x)", "x/(exp(x)-1)",
    "exp(-x^2)", "erf(x)", "gelu(x)", "tan(x)", "cosh(x)^3", "x*y/(x+y)",
)  # fmt: skip
MIXED = (
    "sin(x)^3*cos(x)", "cos(x)^20", "sinh(x)^6*cosh(x)", "sqrt(2)*sqrt(x)*2^x", "exp(x)*exp(-2*x)",
    "(2*x)^(3*x)", "where(x > 0.4, sin(x)^3, x*exp(x))*tanh(x)", "relu(tanh(x))", "exp(-abs(x))",
    "abs(x)^3.5", "max(x^2, sin(x))*x", "logsumexp(2*x, 3*x, 1)", "x^(n-1)*(1-x)^(y-1)",
    "sqrt(x+sqrt(1+x^2))", "(x+1)^20*(x+2)^30", "1.5*x^2.5*exp(-0.3*x)", "(x-1)/(1-x)^3",
    "u = 1 + x^2 + x^4; v = sin(u); v/u^2",
)  # fmt: skip
"""Rows of every kind, sums with signs turned, and names."""


def nth(text: str, order: int) -> Graph:
    """The derivative in x of an order."""
    ((_, formula),) = derivatives_of_order(parse_text(text), ["x"], order)
    return formula


@together([(text, order) for order in (20, 6, 14) for text in HIGH], every=3)
def test_high_orders_are_true(text: str, order: int) -> None:
    hold_true(text, order)


@together([(text, order) for order in (4, 2, 3) for text in (*MIXED, *HIGH)], every=3)
def test_orders_are_true(text: str, order: int) -> None:
    hold_true(text, order)


def hold_true(text: str, order: int) -> None:
    """The text of a derivative, read again, against mpmath's differentiation of the formula."""
    graph, found = parse_text(text), parse_text(program_text(nth(text, order)))

    def value(graph: Graph, x: Real) -> Real:
        return evaluate(graph, {"x": x, "y": mpf(1.375), "n": mpf(2.25)}, decimal)[graph.output]

    with mp.workdps(60):
        for x in (mpf(0.3125), mpf(0.84375)):
            true = mp.diff(lambda x: value(graph, x), x, order)
            assert close(value(found, x), true, 30), (text, order, x)


@together(HIGH, every=3)
def test_high_orders_grow_as_polynomials(text: str) -> None:
    """To an order three times as high, by no more than 3^3; if they doubled, it would be 2^12."""
    lengths = {order: len(program_text(nth(text, order))) for order in (6, 18)}
    assert lengths[18] <= 27 * lengths[6]
    assert lengths[18] < 4000


@together(
    [*HIGH, *MIXED, *(text for text, name, _ in table("derivatives.txt") if name == "x")], every=4
)
def test_a_derivative_is_no_longer_than_what_simplifying_makes(text: str) -> None:
    (once,) = simplified_derivatives(parse_text(text), ["x"], steps=False)
    (twice,) = simplified_derivatives(once, ["x"])
    assert count_tokens(program_text(nth(text, 2))) <= count_tokens(program_text(twice))


def test_what_gets_too_large_is_simplified_instead(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(STAGES, "terms", (STEPS // 4, "more than {} terms"))
    hold_true("x^x*sin(x)", 5)
    assert count_tokens(program_text(nth("x^x*sin(x)", 4))) > 200


@pytest.mark.parametrize("text", ["x^x", "exp(sin(x))", "x/(exp(x)-1)"])
def test_a_derivative_of_derivatives_stays_short(text: str) -> None:
    """One after the other, as in a notebook, where each is read from its own text."""
    formula = exprgrad.parse(text)
    for _ in range(8):
        formula = formula.derivative("x")
    assert count_tokens(str(formula)) <= 1.2 * count_tokens(program_text(nth(text, 8)))


def test_numbers_of_many_digits_are_written_in_full() -> None:
    found = nth("x^1000000", 4)
    with mp.workdps(40):
        value = evaluate(found, {"x": mpf(1)}, decimal)[found.output]
    assert value == 10**6 * (10**6 - 1) * (10**6 - 2) * (10**6 - 3)
    assert program_text(found) == "999994000010999994000000*x^999996"
    assert program_text(parse_text(program_text(found))) == program_text(found)
    assert program_text(nth("1/(1 - x)", 24)) == "620448401733239439360000/(1 - x)^25"


@pytest.mark.parametrize(
    ("text", "order", "expected"),
    [
        ("tanh(x)", 3, "2*(1 - tanh(x)^2)*(3*tanh(x)^2 - 1)"),
        ("x^x", 3, "x^(x - 2)*(x^2*(log(x) + 1)^3 + 3*x*(log(x) + 1) - 1)"),
        ("cosh(x)^3", 2, "3*cosh(x)*(3*cosh(x)^2 - 2)"),
        ("exp(sin(x))", 3, "-sin(x)*cos(x)*exp(sin(x))*(sin(x) + 3)"),
        ("1/(x*(1-x))", 4, "24*(5*x^4 - 10*x^3 + 10*x^2 - 5*x + 1)/(x^5*(1 - x)^5)"),
        ("exp(x)*exp(-x^2)", 4, "exp(x - x^2)*(16*x^4 - 32*x^3 - 24*x^2 + 40*x + 1)"),
        (
            "x/(exp(x)-1)",
            4,
            "exp(x)*(exp(x)^3*(x - 4) + exp(x)^2*(11*x - 12) + exp(x)*(11*x + 12) + x + 4)/(exp(x) - 1)^5",
        ),
        ("1/(1+exp(-x))", 2, "sigmoid(x)*(1 - sigmoid(x))*(1 - 2*sigmoid(x))"),
    ],
)
def test_high_orders_are_written_as_by_hand(text: str, order: int, expected: str) -> None:
    assert program_text(nth(text, order)) == expected
