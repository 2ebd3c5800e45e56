"""Higher derivatives against mpmath at 40 digits, and how large and how fast derived programs are."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from statistics import median

import pytest

from corpus import table
from exprgrad.derive.rules import fewest
from exprgrad.derive.simplify.orders import every
from exprgrad.derive.simplify.simplify import simplify
from exprgrad.derive.sweeps.gradient import gradient, hessian
from exprgrad.graph.graph import CONST, INPUT, Graph, Program
from exprgrad.graph.invariants import check
from exprgrad.language.read.parse import parse
from exprgrad.run.numbers.sweeps import forward
from oracles import Real, evaluate, mp, mpf
from rounding import bounds

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


@pytest.mark.parametrize(("x", "y"), [(0.5, 1.25), (-2.0, 0.75), (1.5, -3.0)])
def test_third_derivatives_of_a_wave(x: float, y: float) -> None:
    """All four, against mpmath's own numerical differentiation."""
    found = dict(every(parse(WAVE), ["x", "y"], 3))
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
    names = ["S", "sigma", "T", "r"]
    found = {**dict(every(parse(CALL), names, 1)), **dict(every(parse(CALL), names, 2))}
    with mp.workdps(60):
        true = greeks(**{name: mpf(value) for name, value in market.items()})
        for greek, (inputs, sign) in GREEKS.items():
            formula = found[inputs]
            assert close(sign * evaluate(formula, market)[formula.output], true[greek]), greek


@pytest.mark.parametrize("market", MARKETS, ids=str)
def test_all_second_derivatives_of_a_call(market: dict[str, float]) -> None:
    """In doubles, within the first-order rounding bound; against mpmath's differentiation."""
    graph = parse(CALL)
    names = list(graph.inputs)
    program, entries = hessian(graph, names)
    numbers = forward(program.graph, market)
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
    graph = parse(rosenbrock(100))
    names = list(graph.inputs)
    number = {name: int(name[1:]) for name in names}
    program, entries = hessian(graph, names)
    check(program.graph)
    point = {name: (-1.2, 1.0, 0.3)[number[name] % 3] for name in names}
    values = forward(program.graph, point)
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
        graph = parse(text)
        lean = simplify(gradient(graph, list(graph.inputs), fewest), graph)
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
        graph = parse(make(times * size))
        names = list(graph.inputs)
        raw = gradient(graph, names)
        lean = simplify(gradient(graph, names, fewest), graph)
        (((_), alone),) = every(graph, names[:1], 1)
        of = operations(graph)
        return operations(raw.graph) / of, operations(lean.graph) / of, operations(alone) / of

    once, four_times = count(1), count(4)
    for small, large in zip(once, four_times, strict=True):
        assert large <= small * 1.05
    assert four_times[1] <= 4


def test_order_does_not_matter() -> None:
    found = dict(every(parse("x^2*y^3*z"), ["x", "y", "z"], 3))
    assert len(found) == 10
    assert {tuple(sorted(inputs)) for inputs in found} == {
        tuple(sorted(inputs)) for inputs in product("xyz", repeat=3)
    }
