"""Gradients at a point: ours and four libraries', each given a formula as its users would write it."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

from benchmarks.libraries import installed, jax_library, torch_library
from benchmarks.measure import peer
from benchmarks.symbols import casadi_read, sympy_read
from exprgrad.api import Expression

__all__ = ["Gradient", "contestants", "missing"]

Gradient = Callable[[Expression, Mapping[str, float]], list[float]]
"""The derivative of a formula with respect to each input, which the point has in the graph's order.

Raises ``KeyError`` for an operation that the contestant does not know.
"""


def contestants() -> dict[str, Gradient]:
    """exprgrad and the libraries that are installed, by name and version."""
    return installed(ours, LIBRARIES)


def missing() -> list[str]:
    """The libraries that are not installed."""
    return [name for name, (module, _) in LIBRARIES.items() if peer(module) is None]


def ours(expression: Expression, point: Mapping[str, float]) -> list[float]:
    """What ``exprgrad grad`` answers."""
    gradient = expression.gradient(point).gradient
    return [gradient[name] for name in point]


def of_torch(torch: Any) -> Gradient:
    """PyTorch's ``backward``."""
    library = torch_library(torch)
    return lambda expression, point: library.run(expression.graph, point)


def of_jax(jax: Any) -> Gradient:
    """JAX's ``grad``."""
    library = jax_library(jax)
    return lambda expression, point: library.run(expression.graph, point)


def of_casadi(casadi: Any) -> Gradient:
    """CasADi's ``gradient`` of an SX expression."""
    words: dict[str, Callable[..., Any]] = {
        "mod": lambda x, y: x - y * casadi.floor(x / y),
        "logsumexp": lambda *operands: casadi.logsumexp(casadi.vertcat(*operands)),
        "logaddexp": lambda *operands: casadi.logsumexp(casadi.vertcat(*operands)),
        "silu": lambda x: x / (1 + casadi.exp(-x)),
        "logsigmoid": lambda x: -casadi.log1p(casadi.exp(-x)),
        "gelu": lambda x: x * (1 + casadi.erf(x / math.sqrt(2))) / 2,
        "xlogy": lambda x, y: casadi.if_else(x == 0, 0, x * casadi.log(y)),
        "sinc": lambda x: casadi.if_else(x == 0, 1, casadi.sin(x) / x),
        "exp2": lambda x: 2**x,
        "elu": lambda x: casadi.if_else(x > 0, x, casadi.expm1(x)),
    }

    def gradient(expression: Expression, point: Mapping[str, float]) -> list[float]:
        output, inputs = casadi_read(casadi, expression.graph, words)
        column = casadi.vertcat(*inputs)
        slopes = casadi.Function("f", [column], [casadi.gradient(output, column)])
        return [float(x) for x in slopes(casadi.DM([*point.values()])).full().ravel()]

    return gradient


def of_sympy(sympy: Any) -> Gradient:
    """SymPy's ``diff``, evaluated as ``lambdify`` does: with NumPy, and SciPy where that is installed."""
    own = import_module("sympy.codegen.cfunctions")
    numpy = import_module("numpy")
    words: dict[str, Callable[..., Any]] = {
        **{
            name: getattr(own, name)
            for name in ("expm1", "exp2", "log1p", "log2", "log10", "hypot")
        },
        "mod": sympy.Mod,
        "logsumexp": lambda *operands: sympy.log(sum(map(sympy.exp, operands))),
        "logaddexp": lambda *operands: sympy.log(sum(map(sympy.exp, operands))),
        "silu": lambda x: x / (1 + sympy.exp(-x)),
        "logsigmoid": lambda x: -sympy.log(1 + sympy.exp(-x)),
        "gelu": lambda x: x * (1 + sympy.erf(x / sympy.sqrt(2))) / 2,
        "xlogy": lambda x, y: x * sympy.log(y),
        "sinc": sympy.sinc,
        "elu": lambda x: sympy.Piecewise((x, x > 0), (own.expm1(x), True)),
    }

    def gradient(expression: Expression, point: Mapping[str, float]) -> list[float]:
        output, inputs = sympy_read(sympy, expression.graph, more=words)
        slopes = sympy.lambdify(inputs, [output.diff(x) for x in inputs])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = [complex(x) for x in slopes(*map(numpy.float64, point.values()))]
        return [x.real if x.imag == 0 else math.nan for x in found]

    return gradient


LIBRARIES: dict[str, tuple[str, Callable[[Any], Gradient]]] = {
    "JAX": ("jax", of_jax),
    "PyTorch": ("torch", of_torch),
    "CasADi": ("casadi", of_casadi),
    "SymPy": ("sympy", of_sympy),
}
