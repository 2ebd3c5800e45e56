"""Real formulas from textbooks: value and gradient against mpmath, within the derived rounding bound.

Each formula stands twice: in our language, and as a Python function over mpmath's numbers written
from the book.  Its gradient is mpmath's central difference at 40 digits.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from exprgrad.language.read.parse import parse_text
from exprgrad.run.numbers.sweeps import forward_numbers, reverse_sweep
from invariants import check
from oracles import Real, mp, mpf
from rounding import bounds
from together import together

NIST = json.loads((Path(__file__).parent / "data" / "nist_rows.json").read_text("utf-8"))["rows"]


class Formula(NamedTuple):
    """A formula, where it is from, where it is evaluated, and the same in mpmath."""

    name: str
    text: str
    inputs: dict[str, float]
    truth: Callable[..., Real]


def planck(nu: Real, T: Real, h: Real, c: Real, k: Real) -> Real:  # noqa: N803
    return 2 * h * nu**3 / c**2 / mp.expm1(h * nu / (k * T))


def black_scholes(S: Real, K: Real, r: Real, sigma: Real, t: Real) -> Real:  # noqa: N803
    d1 = (mp.log(S / K) + (r + sigma**2 / 2) * t) / (sigma * mp.sqrt(t))
    return S * mp.ncdf(d1) - K * mp.exp(-r * t) * mp.ncdf(d1 - sigma * mp.sqrt(t))


def haversine(lat1: Real, lon1: Real, lat2: Real, lon2: Real, R: Real) -> Real:  # noqa: N803
    north = mp.sin((lat2 - lat1) / 2) ** 2
    east = mp.cos(lat1) * mp.cos(lat2) * mp.sin((lon2 - lon1) / 2) ** 2
    return 2 * R * mp.asin(mp.sqrt(north + east))


FORMULAS = [
    # Relativistic Doppler shift of light from a receding source: Rindler, Relativity (2006), 4.3.
    Formula(
        "Doppler shift",
        "beta = v/c; f*sqrt((1 - beta)/(1 + beta))",
        {"f": 4.568e14, "v": 2.1e7, "c": 299792458.0},
        lambda f, v, c: f * mp.sqrt((c - v) / (c + v)),
    ),
    # Lorentz factor and kinetic energy: Taylor and Wheeler, Spacetime Physics (1992), ch. 7.
    Formula(
        "relativistic kinetic energy",
        "gamma = 1/sqrt(1 - (v/c)^2); (gamma - 1)*m*c^2",
        {"v": 2.4e8, "m": 9.1093837015e-31, "c": 299792458.0},
        lambda v, m, c: m * c**2 * (c / mp.sqrt(c**2 - v**2) - 1),
    ),
    # Planck's law, spectral radiance of a black body: Rybicki and Lightman (1979), eq. 1.51.
    Formula(
        "Planck's law",
        "2*h*nu^3/c^2/expm1(h*nu/(k*T))",
        {"nu": 5.2e14, "T": 5772.0, "h": 6.62607015e-34, "c": 299792458.0, "k": 1.380649e-23},
        planck,
    ),
    # Price of a European call: Black and Scholes (1973); Hull, Options (2018), eq. 15.20.
    Formula(
        "Black-Scholes call",
        "s = sigma*sqrt(t); d1 = (log(S/K) + (r + sigma^2/2)*t)/s; d2 = d1 - s\n"
        "S*erfc(-d1/sqrt(2))/2 - K*exp(-r*t)*erfc(-d2/sqrt(2))/2",
        {"S": 42.0, "K": 40.0, "r": 0.1, "sigma": 0.2, "t": 0.5},
        black_scholes,
    ),
    # Period of a pendulum, series in the amplitude to fourth order: Landau and Lifshitz, Mechanics, 11.
    Formula(
        "pendulum, series",
        "2*pi*sqrt(L/g)*(1 + a^2/16 + 11*a^4/3072)",
        {"L": 0.9938, "g": 9.80665, "a": 0.7},
        lambda L, g, a: 2 * mp.pi * mp.sqrt(L / g) * (1 + a**2 / 16 + 11 * a**4 / 3072),  # noqa: N803
    ),
    # The same, exact: Gauss's arithmetic-geometric mean of 1 and cos(a/2), four steps and a mean;
    # mpmath's elliptic integral is the truth.
    Formula(
        "pendulum, arithmetic-geometric mean",
        "b0 = cos(a/2); a1 = (1 + b0)/2; b1 = sqrt(b0); a2 = (a1 + b1)/2; b2 = sqrt(a1*b1)\n"
        "a3 = (a2 + b2)/2; b3 = sqrt(a2*b2); a4 = (a3 + b3)/2; b4 = sqrt(a3*b3)\n"
        "2*pi*sqrt(L/g)/((a4 + b4)/2)",
        {"L": 0.9938, "g": 9.80665, "a": 1.2},
        lambda L, g, a: 4 * mp.sqrt(L / g) * mp.ellipk(mp.sin(a / 2) ** 2),  # noqa: N803
    ),
    # Pressure of a van der Waals gas: Atkins, Physical Chemistry (2014), eq. 1C.5a (CO2, in SI units).
    Formula(
        "van der Waals",
        "n*R*T/(V - n*b) - a*(n/V)^2",
        {"n": 1.0, "R": 8.314462618, "T": 310.0, "V": 0.0012, "a": 0.3640, "b": 4.267e-5},
        lambda n, R, T, V, a, b: n * R * T / (V - n * b) - a * n**2 / V**2,  # noqa: N803
    ),
    # Nernst equation for potassium across a membrane: Hille, Ion Channels (2001), eq. 1.11.
    Formula(
        "Nernst",
        "R*T/(z*F)*log(outside/inside)",
        {
            "R": 8.314462618,
            "T": 310.15,
            "z": 1.0,
            "F": 96485.33212,
            "outside": 5.0,
            "inside": 140.0,
        },
        lambda R, T, z, F, outside, inside: R * T / z / F * (mp.log(outside) - mp.log(inside)),  # noqa: N803
    ),
    # Arrhenius rate: Atkins (2014), eq. 20D.4.
    Formula(
        "Arrhenius",
        "A*exp(-E/(R*T))",
        {"A": 1.7e13, "E": 1.03e5, "R": 8.314462618, "T": 650.0},
        lambda A, E, R, T: A * mp.exp(-E / R / T),  # noqa: N803
    ),
    # Butler-Volmer current density: Bard and Faulkner, Electrochemical Methods (2001), eq. 3.4.11.
    Formula(
        "Butler-Volmer",
        "f = F/(R*T); j0*(exp((1 - alpha)*f*eta) - exp(-alpha*f*eta))",
        {"F": 96485.33212, "R": 8.314462618, "T": 298.15, "j0": 1e-3, "alpha": 0.4, "eta": 0.05},
        lambda F, R, T, j0, alpha, eta: (  # noqa: N803
            j0 * (mp.exp(F * eta / (R * T)) - 1) * mp.exp(-alpha * F * eta / (R * T))
        ),
    ),
    # Extended Debye-Hueckel activity coefficient: Atkins (2014), eq. 5F.30.
    Formula(
        "Debye-Hueckel",
        "10^(-A*z^2*sqrt(I)/(1 + B*a*sqrt(I)))",
        {"A": 0.509, "z": 2.0, "I": 0.02, "B": 3.29, "a": 0.6},
        lambda A, z, I, B, a: mp.exp(  # noqa: N803, E741
            -mp.log(10) * A * z**2 * mp.sqrt(I) / (1 + B * a * mp.sqrt(I))
        ),
    ),
    # Morse potential of H2, eV and angstrom: Morse, Phys. Rev. 34, 57 (1929).
    Formula(
        "Morse",
        "D*(1 - exp(-a*(r - r0)))^2",
        {"D": 4.7446, "a": 1.9426, "r": 1.1, "r0": 0.7416},
        lambda D, a, r, r0: D * (1 - 2 * mp.exp(a * (r0 - r)) + mp.exp(2 * a * (r0 - r))),  # noqa: N803
    ),
    # Lennard-Jones potential of argon, kelvin and angstrom: Frenkel and Smit (2002), ch. 3.
    Formula(
        "Lennard-Jones",
        "q = (sigma/r)^6; 4*eps*(q^2 - q)",
        {"sigma": 3.405, "r": 4.1, "eps": 119.8},
        lambda sigma, r, eps: 4 * eps * (sigma**12 / r**12 - sigma**6 / r**6),
    ),
    # Michaelis-Menten with a competitive inhibitor: Cornish-Bowden (2012), eq. 5.2.
    Formula(
        "Michaelis-Menten",
        "V*s/(Km*(1 + i/Ki) + s)",
        {"V": 12.5, "s": 0.8, "Km": 0.25, "i": 1.1, "Ki": 0.6},
        lambda V, s, Km, i, Ki: V / (1 + Km / s + Km * i / (Ki * s)),  # noqa: N803
    ),
    # Annuity payment of a loan: Brealey, Myers and Allen, Corporate Finance (2020), ch. 2.
    Formula(
        "annuity",
        "P*r/(1 - (1 + r)^-n)",
        {"P": 250000.0, "r": 0.0325 / 12, "n": 360.0},
        lambda P, r, n: P * r * (1 + r) ** n / ((1 + r) ** n - 1),  # noqa: N803
    ),
    # Price of a bond with yearly coupons, the geometric sum closed: Fabozzi, Bond Markets (2015), ch. 2.
    Formula(
        "bond price",
        "d = (1 + y)^-n; coupon*(1 - d)/y + face*d",
        {"coupon": 4.5, "face": 100.0, "y": 0.0375, "n": 10.0},
        lambda coupon, face, y, n: coupon * (1 - (1 + y) ** -n) / y + face * (1 + y) ** -n,
    ),
    # Residual of Kepler's equation (Mars): Danby, Fundamentals of Celestial Mechanics (1992), 6.2.
    Formula(
        "Kepler's equation",
        "E - ecc*sin(E) - M",
        {"E": 0.9, "ecc": 0.0934, "M": 0.75},
        lambda E, ecc, M: E - M - ecc * mp.sin(E),  # noqa: N803
    ),
    # Great-circle distance Berlin to Tokyo in km: Sinnott, Sky and Telescope 68, 159 (1984).
    Formula(
        "haversine",
        "h = sin((lat2 - lat1)/2)^2 + cos(lat1)*cos(lat2)*sin((lon2 - lon1)/2)^2; 2*R*asin(sqrt(h))",
        {"lat1": 0.9163, "lon1": 0.2340, "lat2": 0.6227, "lon2": 2.4383, "R": 6371.0088},
        haversine,
    ),
    # Drag-limited fall: v(t) = vt tanh(g t / vt), Taylor, Classical Mechanics (2005), eq. 2.57.
    Formula(
        "fall with drag",
        "vt = sqrt(m*g/c); vt*tanh(g*t/vt)",
        {"m": 70.0, "g": 9.80665, "c": 0.25, "t": 4.0},
        lambda m, g, c, t: mp.sqrt(m * g / c) * (1 - 2 / (mp.exp(2 * t * mp.sqrt(g * c / m)) + 1)),
    ),
]

each = pytest.mark.parametrize("formula", FORMULAS, ids=lambda formula: formula.name)


def derivative(formula: Formula, name: str) -> Real:
    """A central difference of the book's formula, good to about 60 digits."""
    with mp.workdps(180):
        exact = {key: mpf(value) for key, value in formula.inputs.items()}
        step = abs(exact[name]) * mpf(10) ** -60
        right = formula.truth(**{**exact, name: exact[name] + step})
        left = formula.truth(**{**exact, name: exact[name] - step})
        return (right - left) / (2 * step)


@each
def test_value_and_gradient_are_the_books(formula: Formula) -> None:
    graph = parse_text(formula.text)
    check(graph)
    assert graph.inputs.keys() == formula.inputs.keys()
    found = bounds(graph, formula.inputs)
    values = forward_numbers(graph, formula.inputs)
    adjoints = reverse_sweep(graph, values, graph.inputs.values())
    with mp.workdps(40):
        true = formula.truth(**{name: mpf(value) for name, value in formula.inputs.items()})
        truncated = TRUNCATED.get(formula.name, mpf(10) ** -35) * abs(true)
        assert abs(values[graph.output] - true) <= found.errors[graph.output] + truncated
        for name, node in graph.inputs.items():
            grad, slope = adjoints.grads[node], derivative(formula, name)
            assert grad is not None
            truncated = TRUNCATED.get(formula.name, mpf(10) ** -35) * abs(slope)
            assert abs(grad - slope) <= found.gradient_errors[name] + truncated, name


TRUNCATED = {"pendulum, arithmetic-geometric mean": mpf(10) ** -25}
"""What a formula leaves out in real arithmetic: the means still differ after so many steps."""


@each
def test_the_bound_says_something(formula: Formula) -> None:
    """Every bound leaves at least ten digits, or agreement would mean nothing."""
    found = bounds(parse_text(formula.text), formula.inputs)
    output = found.values[parse_text(formula.text).output]
    assert parse_text(formula.text).output >= 0
    assert 0 < found.errors[-1] < abs(output) * mpf(10) ** -10
    for name, true in found.gradient.items():
        assert found.gradient_errors[name] < abs(true) * mpf(10) ** -10, name


@together(NIST)
def test_the_models_of_nist(row: dict[str, Any]) -> None:
    """Value and gradient against digits that were computed elsewhere."""
    graph = parse_text(row["model"])
    found = bounds(graph, row["inputs"])
    values = forward_numbers(graph, row["inputs"])
    grads = reverse_sweep(graph, values, graph.inputs.values()).grads
    with mp.workdps(40):
        assert abs(values[graph.output] - mpf(row["value"])) <= found.errors[graph.output]
        assert graph.inputs.keys() == row["gradient"].keys()
        for name, node in graph.inputs.items():
            true = mpf(row["gradient"][name])
            printed = abs(true) * mpf(10) ** -24  # 25 digits are given
            assert abs((grads[node] or 0.0) - true) <= found.gradient_errors[name] + printed, name


def test_there_are_enough() -> None:
    assert len({formula.name for formula in FORMULAS}) == len(FORMULAS) >= 10
