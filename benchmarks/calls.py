"""One point a call, against SymPy and CasADi, and small batches, against C."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

import exprgrad
from benchmarks.batch import measured
from benchmarks.contestants import MAKERS, NATIVE, C, contestants, installed
from benchmarks.measure import Call, Ratio, Report, left_out, peer, ratio, table, times, turns
from benchmarks.problems import PROBLEMS
from benchmarks.regimes import CALLS, summary

__all__ = ["report"]


class Case(NamedTuple):
    """A formula, a point, and the same formula for a peer, given its functions and its symbols."""

    name: str
    shown: str
    text: str
    point: tuple[float, ...]
    formula: Callable[..., Any]


def neuron(m: Any, x1: Any, w1: Any, x2: Any, w2: Any, b: Any) -> Any:
    """One neuron with two weights."""
    return m.tanh(x1 * w1 + x2 * w2 + b)


def rosenbrock(_: Any, x: Any, y: Any) -> Any:
    """Rosenbrock's valley."""
    return (1 - x) ** 2 + 100 * (y - x**2) ** 2


def black_scholes(m: Any, S: Any, K: Any, r: Any, s: Any, T: Any) -> Any:  # noqa: N803
    """A European call."""
    d1 = (m.log(S / K) + (r + s**2 / 2) * T) / (s * m.sqrt(T))
    d2 = d1 - s * m.sqrt(T)
    below = [(1 + m.erf(d / m.sqrt(2))) / 2 for d in (d1, d2)]
    return S * below[0] - K * m.exp(-r * T) * below[1]


CALL = (
    "d1 = (log(S/K) + (r + s^2/2)*T)/(s*sqrt(T)); d2 = d1 - s*sqrt(T); "
    "S*normcdf(d1) - K*exp(-r*T)*normcdf(d2)"
)
CASES = (
    Case("neuron", "neuron", "tanh(x1*w1 + x2*w2 + b)", (0.5, -0.3, 0.2, 1.0, 0.68), neuron),
    Case("rosenbrock", "Rosenbrock", "(1 - x)^2 + 100*(y - x^2)^2", (0.5, 0.3), rosenbrock),
    Case("black_scholes", "Black–Scholes", CALL, (100.0, 105.0, 0.03, 0.2, 0.5), black_scholes),
)
SYMPY, CASADI = "SymPy", "CasADi"
PAIRS = {"function": SYMPY, "gradient": SYMPY, "grad": SYMPY, "vector": CASADI}
"""What is called, and against whom."""


def report(*, quick: bool) -> Report:
    """The tables: each call in times of its peer's, each small batch in times of C's."""
    sympy, casadi = peer("sympy"), peer("casadi")
    head = ["formula", "`f.function()`", "`f.gradient`", "`exprgrad.grad(text)`", "`.vector`"]
    figures: dict[str, Ratio] = {}
    rows = []
    for case in CASES:
        found = ratios(case, sympy, casadi, quick=quick)
        rows.append([case.shown, *[times(found[n].median) if n in found else "—" for n in PAIRS]])
        figures |= {f"{name} {case.name}": one for name, one in found.items()}
    there = [name for name in (NATIVE, C) if installed(MAKERS[name][0])]
    if len(there) == 2:
        figures |= small_batches(quick=quick)
    peers = ((SYMPY, sympy), (CASADI, casadi), (C, there[1:] or None))
    missing = [name for name, module in peers if module is None]
    return Report(f"{table(head, rows)}\n{summary(figures, CALLS)}{left_out(missing)}", figures)


def small_batches(*, quick: bool) -> Iterator[tuple[str, Ratio]]:
    """Few rows in machine code, again and again with the same arrays, in times of C's."""
    with contestants([NATIVE, C]) as started:
        for problem in PROBLEMS:
            for rows, calls in ((8192, 50), (100, 2000)):
                taken = measured(problem, started, rows, 5 if quick else 31, calls)
                yield f"{rows} {problem.name}", ratio(taken, NATIVE, C)


def ratios(case: Case, sympy: Any, casadi: Any, *, quick: bool) -> dict[str, Ratio]:
    """One formula's ratios, as far as its peers are installed."""
    f = exprgrad.parse(case.text)
    h, array, values = (
        f.function(),
        np.array(case.point),
        dict(zip(f.inputs, case.point, strict=True)),
    )
    calls: dict[str, Call] = {
        "function": lambda: h(*case.point),
        "gradient": lambda: f.gradient(values).gradient,
        "grad": lambda: exprgrad.grad(case.text, values),
        "vector": lambda: h.vector(array),
    }
    if sympy is not None:
        calls[SYMPY] = by_lambdify(case, sympy, f.inputs)
    if casadi is not None:
        calls[CASADI] = by_casadi(case, casadi, array)
    taken = turns(calls, 5 if quick else 31, 200 if quick else 1000)
    return {name: ratio(taken, name, other) for name, other in PAIRS.items() if other in calls}


def by_lambdify(case: Case, sympy: Any, inputs: tuple[str, ...]) -> Call:
    """Value and gradient by SymPy, in bare ``math``."""
    symbols = sympy.symbols(list(inputs))
    formula = case.formula(sympy, *symbols)
    both = [formula, *(sympy.diff(formula, symbol) for symbol in symbols)]
    function = sympy.lambdify(symbols, both, "math", cse=True)
    return lambda: function(*case.point)


def by_casadi(case: Case, casadi: Any, array: Any) -> Call:
    """Value and gradient by CasADi's virtual machine."""
    x = casadi.SX.sym("x", len(array))
    formula = case.formula(casadi, *casadi.vertsplit(x))
    function = casadi.Function("f", [x], [formula, casadi.gradient(formula, x)])
    return lambda: function(array)
