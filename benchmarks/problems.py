"""The three formulas whose gradients are taken row by row, and columns for them."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

import exprgrad

__all__ = ["PROBLEMS", "Answer", "Columns", "Problem", "agree", "columns", "pitch", "staggered"]

Columns = dict[str, Any]
"""A column of doubles for each input, in their order."""
Answer = Callable[[], Any]
"""A call that gives the value's column, then those of the derivatives in the inputs' order."""

WITHIN = 1e-9
"""By how much of a row's largest number the peers' answers may differ: far beyond rounding, and far below
what a wrong derivative would be off."""
PAGE, LINE, DOUBLE = 4096, 64, 8


class Problem(NamedTuple):
    """A formula, and from where to where each input goes."""

    name: str
    shown: str
    text: str
    ranges: dict[str, tuple[float, float]]
    formula: Callable[..., Any]
    """The same for a peer, given its module of functions and a column for each input."""


def neuron(m: Any, x1: Any, w1: Any, x2: Any, w2: Any, b: Any) -> Any:
    """One neuron with two weights."""
    return m.tanh(x1 * w1 + x2 * w2 + b)


def rosenbrock(m: Any, *x: Any) -> Any:
    """Rosenbrock's valley in ten dimensions."""
    pairs = pairwise(x)
    return sum(100 * (after - here**2) ** 2 + (1 - here) ** 2 for here, after in pairs)


def black_scholes(m: Any, S: Any, K: Any, T: Any, r: Any, v: Any) -> Any:  # noqa: N803
    """A European call."""
    spread = v * m.sqrt(T)
    d1 = (m.log(S / K) + (r + v**2 / 2) * T) / spread
    d2 = d1 - spread
    return S * m.erfc(-d1 / 2**0.5) / 2 - K * m.exp(-r * T) * m.erfc(-d2 / 2**0.5) / 2


VALLEY = " + ".join(f"100*(x{k + 1} - x{k}^2)^2 + (1 - x{k})^2" for k in range(9))
CALL = (
    "spread = v*sqrt(T); d1 = (log(S/K) + (r + v^2/2)*T)/spread; d2 = d1 - spread; "
    "S*erfc(-d1/sqrt(2))/2 - K*exp(-r*T)*erfc(-d2/sqrt(2))/2"
)
PRICES = {"S": (80, 120), "K": (80, 120), "T": (0.2, 2), "r": (0, 0.1), "v": (0.1, 0.5)}
PROBLEMS = (
    Problem(
        "neuron",
        "neuron",
        "tanh(x1*w1 + x2*w2 + b)",
        dict.fromkeys(("x1", "w1", "x2", "w2", "b"), (-1.5, 1.5)),
        neuron,
    ),
    Problem(
        "rosenbrock",
        "Rosenbrock, 10 inputs",
        VALLEY,
        {f"x{k}": (-2, 2) for k in range(10)},
        rosenbrock,
    ),
    Problem("black_scholes", "Black–Scholes", CALL, PRICES, black_scholes),
)


def columns(problem: Problem, rows: int) -> Columns:
    """The inputs' columns, drawn evenly, the same at every run."""
    rng = np.random.default_rng(rows)
    found = dict(zip(problem.ranges, staggered(len(problem.ranges), rows), strict=True))
    for name, column in found.items():
        column[:] = rng.uniform(*problem.ranges[name], rows)
    return found


def pitch(rows: int) -> int:
    """How many doubles apart columns begin that are not at one place of their pages: nine lines more."""
    return (-(-rows * DOUBLE // PAGE) * PAGE + 9 * LINE) // DOUBLE


def staggered(count: int, rows: int) -> list[Any]:
    """Columns written once, so that their pages are there, none at the same place of a page as another.

    More than eight streams at one place of their pages push each other out of the first cache.
    """
    step = pitch(rows)
    whole = np.ones(step * count + PAGE // DOUBLE)
    first = -whole.ctypes.data % PAGE // DOUBLE
    return [whole[first + step * at : first + step * at + rows] for at in range(count)]


def agree(problem: Problem, given: Columns, name: str, answer: Answer) -> None:
    """Raise ``ValueError`` where an answer is not that of the engine for single points, at some rows."""
    found = [np.asarray(column) for column in answer()]
    rows = len(next(iter(given.values())))
    expression = exprgrad.parse(problem.text)
    for row in sorted({0, 1, rows // 3, rows // 2, rows - 1}):
        run = expression.gradient({name: float(column[row]) for name, column in given.items()})
        expected = [run.value, *[run.gradient[name] for name in given]]
        scale = max(map(abs, expected))
        for one, column in zip(expected, found, strict=True):
            if not abs(one - column[row]) <= WITHIN * scale:
                raise ValueError(f"{name} finds {column[row]} in row {row}, exprgrad {one}")
