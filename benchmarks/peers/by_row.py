"""A loop over rows, compiled: numba, and CasADi's virtual machine."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.measure import peer
from benchmarks.problems import Answer, Columns, Problem, pitch, staggered
from benchmarks.symbols import casadi_read
from exprgrad.language.read.parse import parse_text

__all__ = ["casadi", "numba", "numba_compiled"]

DENSITY = 1 / math.sqrt(2 * math.pi)
HALF_ROOT = math.sqrt(0.5)


def neuron(x: Any, out: Any, rows: int) -> None:
    """Row by row, as in C."""
    for i in range(rows):
        t = math.tanh(x[0, i] * x[1, i] + x[2, i] * x[3, i] + x[4, i])
        g = 1 - t * t
        out[0, i] = t
        out[1, i] = g * x[1, i]
        out[2, i] = g * x[0, i]
        out[3, i] = g * x[3, i]
        out[4, i] = g * x[2, i]
        out[5, i] = g


def rosenbrock(x: Any, out: Any, rows: int) -> None:
    """Row by row, as in C."""
    last = x.shape[0] - 1
    for i in range(rows):
        value = 0.0
        back = 0.0
        for k in range(last):
            here = x[k, i]
            e = x[k + 1, i] - here * here
            f = 1 - here
            value += 100 * e * e + f * f
            out[k + 1, i] = back - 400 * here * e - 2 * f
            back = 200 * e
        out[last + 1, i] = back
        out[0, i] = value


def black_scholes(x: Any, out: Any, rows: int) -> None:
    """Row by row, as in C."""
    for i in range(rows):
        S, K, T, r, v = x[0, i], x[1, i], x[2, i], x[3, i], x[4, i]  # noqa: N806
        root = math.sqrt(T)
        spread = v * root
        drift = r + 0.5 * v * v
        d1 = (math.log(S / K) + drift * T) / spread
        d2 = d1 - spread
        n1 = 0.5 * math.erfc(-HALF_ROOT * d1)
        n2 = 0.5 * math.erfc(-HALF_ROOT * d2)
        discount = math.exp(-r * T)
        now = K * discount
        g2 = -now * (DENSITY * math.exp(-0.5 * d2 * d2))
        g1 = S * (DENSITY * math.exp(-0.5 * d1 * d1)) + g2
        g_top = g1 / spread
        g_spread = -g2 - g_top * d1
        g_power = -n2 * now
        out[0, i] = S * n1 - now * n2
        out[1, i] = n1 + g_top / S
        out[2, i] = -n2 * discount - g_top / K
        out[3, i] = g_top * drift - g_power * r + 0.5 * g_spread * v / root
        out[4, i] = g_top * T - g_power * T
        out[5, i] = g_top * T * v + g_spread * root


LOOPS: dict[str, Callable[[Any, Any, int], None]] = {
    "neuron": neuron,
    "rosenbrock": rosenbrock,
    "black_scholes": black_scholes,
}


def numba_compiled(problem: Problem) -> Any:
    """The loop, compiled anew for two matrices and a number of rows."""
    module = peer("numba")
    compiled = module.njit(fastmath=True, error_model="numpy")(LOOPS[problem.name])
    matrix = module.float64[:, ::1]
    compiled.compile((matrix, matrix, module.int64))
    return compiled


def numba(problem: Problem, given: Columns) -> Answer:
    """The loop over a matrix with a line for each input: staggered, as the columns are."""
    compiled = numba_compiled(problem)
    rows = len(next(iter(given.values())))
    x, out = np.ones((len(given), pitch(rows))), np.ones((len(given) + 1, pitch(rows)))
    for line, column in zip(x, given.values(), strict=True):
        line[:rows] = column

    def call() -> Any:
        compiled(x, out, rows)
        return out

    return call


def casadi(problem: Problem, given: Columns) -> Answer:
    """CasADi's own gradient, ``cse`` and ``map``, called by its buffers, which copy nothing."""
    module = peer("casadi")
    graph = parse_text(problem.text)
    output, inputs = casadi_read(module, graph)
    gradient = module.gradient(output, module.vertcat(*inputs))
    parts = module.cse(module.vertcat(output, gradient))
    rows = len(next(iter(given.values())))
    function = module.Function("f", inputs, module.vertsplit(parts)).map(rows, "serial")
    buffer, evaluate = function.buffer()
    out = staggered(len(inputs) + 1, rows)
    for at, name in enumerate(graph.inputs):
        buffer.set_arg(at, memoryview(given[name]))
    for at, column in enumerate(out):
        buffer.set_res(at, memoryview(column))
    places = [0, *[1 + list(graph.inputs).index(name) for name in given]]
    ordered = [out[place] for place in places]

    def call(_kept: object = (function, buffer)) -> Any:
        evaluate()
        return ordered

    return call
