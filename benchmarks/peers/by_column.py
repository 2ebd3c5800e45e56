"""Whole columns at a time: NumPy on the derived formulas, NumPy by hand, and NumExpr."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from runpy import run_path
from types import SimpleNamespace
from typing import Any

import numpy as np

import exprgrad
from benchmarks.measure import peer
from benchmarks.problems import Answer, Columns, Problem, staggered

__all__ = ["by_hand", "derived", "numexpr"]


def functions() -> Any:
    """NumPy's functions, and the one that is SciPy's.  Raises ``NotImplementedError`` without SciPy."""
    special = peer("scipy.special")
    if special is None:
        raise NotImplementedError("NumPy has no erfc")
    return SimpleNamespace(exp=np.exp, log=np.log, sqrt=np.sqrt, erfc=special.erfc)


def neuron(x1: Any, w1: Any, x2: Any, w2: Any, b: Any) -> list[Any]:
    """The derivative of tanh from its value."""
    t = np.tanh(x1 * w1 + x2 * w2 + b)
    g = 1 - t**2
    return [t, g * w1, g * x1, g * w2, g * x2, g]


def rosenbrock(*x: Any) -> list[Any]:
    """Each derivative from the two terms that an input is in."""
    value = 0.0
    gradient: list[Any] = [0.0] * len(x)
    for k in range(len(x) - 1):
        e = x[k + 1] - x[k] ** 2
        value = value + 100 * e**2 + (1 - x[k]) ** 2
        gradient[k] = gradient[k] - 400 * x[k] * e - 2 * (1 - x[k])
        gradient[k + 1] = 200 * e
    return [value, *gradient]


def black_scholes(S: Any, K: Any, T: Any, r: Any, v: Any) -> list[Any]:  # noqa: N803
    """Derived step by step, backward from the price: with no identity known."""
    m = functions()
    root = m.sqrt(T)
    spread = v * root
    drift = r + v**2 / 2
    d1 = (m.log(S / K) + drift * T) / spread
    d2 = d1 - spread
    n1 = m.erfc(-d1 / 2**0.5) / 2
    n2 = m.erfc(-d2 / 2**0.5) / 2
    discount = m.exp(-r * T)
    g2 = -K * discount * m.exp(-(d2**2) / 2) / (2 * np.pi) ** 0.5
    g1 = S * m.exp(-(d1**2) / 2) / (2 * np.pi) ** 0.5 + g2
    g_top = g1 / spread
    g_spread = -g2 - g_top * d1
    g_power = -K * n2 * discount
    return [
        S * n1 - K * discount * n2,
        n1 + g_top / S,
        -n2 * discount - g_top / K,
        g_top * drift - g_power * r + g_spread * v / (2 * root),
        g_top * T - g_power * T,
        g_top * T * v + g_spread * root,
    ]


BY_HAND: dict[str, Callable[..., list[Any]]] = {
    "neuron": neuron,
    "rosenbrock": rosenbrock,
    "black_scholes": black_scholes,
}


def by_hand(problem: Problem, given: Columns) -> Answer:
    """The gradient as one works it out for oneself, each operation a new column."""
    if problem.name == "black_scholes":
        functions()
    return lambda: BY_HAND[problem.name](*given.values())


def derived(problem: Problem, given: Columns) -> Answer:
    """The derived formulas as ``exprgrad code --to numpy`` writes them, each operation a new column."""
    expression = exprgrad.parse(problem.text)
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "derived.py"
        program.write_text(expression.code("numpy"), encoding="utf-8")
        function = run_path(str(program))["f"]
    columns = [given[name] for name in expression.inputs]

    def call() -> Any:
        value, slopes = function(*columns)
        by_input = dict(zip(expression.inputs, slopes, strict=True))
        return [value, *[by_input[name] for name in given]]

    return call


NUMEXPR: dict[str, list[tuple[str, str]]] = {
    "neuron": [
        ("t", "tanh(x1*w1 + x2*w2 + b)"),
        ("dx1", "(1 - t*t)*w1"),
        ("dw1", "(1 - t*t)*x1"),
        ("dx2", "(1 - t*t)*w2"),
        ("dw2", "(1 - t*t)*x2"),
        ("db", "1 - t*t"),
    ],
    "rosenbrock": [
        ("value", " + ".join(f"100*(x{k + 1} - x{k}**2)**2 + (1 - x{k})**2" for k in range(9))),
        ("d0", "-400*x0*(x1 - x0**2) - 2*(1 - x0)"),
        *[
            (f"d{k}", f"200*(x{k} - x{k - 1}**2) - 400*x{k}*(x{k + 1} - x{k}**2) - 2*(1 - x{k})")
            for k in range(1, 9)
        ],
        ("d9", "200*(x9 - x8**2)"),
    ],
}
"""The columns of an answer, one after the other; each may use those before."""


def numexpr(problem: Problem, given: Columns) -> Answer:
    """An expression for each column, into columns that are there already.

    Raises ``NotImplementedError`` for Black–Scholes: NumExpr has no error function.
    """
    module = peer("numexpr")
    if problem.name not in NUMEXPR:
        raise NotImplementedError("NumExpr has no erfc")
    module.set_num_threads(1)
    steps = NUMEXPR[problem.name]
    rows = len(next(iter(given.values())))
    out = staggered(len(steps), rows)
    known = dict(given)
    known.update(zip((name for name, _ in steps), out, strict=True))

    def call() -> Any:
        for (_, text), column in zip(steps, out, strict=True):
            module.evaluate(text, local_dict=known, global_dict={}, out=column)
        return out

    return call
