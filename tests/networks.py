"""Networks of neurons as formulas, and the one of the lesson, trained by hand in NumPy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

__all__ = ["Trained", "names_of_weights", "network", "room", "trained"]

ROUNDING = 2.0**-53
"""How far a number is rounded, at most, relative to itself."""
TANH, SLOPE = 4 * ROUNDING, 11 * ROUNDING
"""How far tanh is off, 2 ulp, and ``(1/cosh(s))^2``: the cosine 2 ulp, its inverse half of one, twice that
in the square, and half of one."""


def network(*widths: int) -> tuple[str, dict[str, float]]:
    """A network of neurons, and numbers for its inputs."""
    values = {f"x{at}": at / 4 for at in range(1, widths[0] + 1)}
    lines, before = [], [*values]
    for layer, width in enumerate(widths[1:], 1):
        names = [f"a{layer}_{at}" for at in range(1, width + 1)] if width > 1 else ["out"]
        for at, name in enumerate(names, 1):
            weights = [f"w{layer}_{at}_{place}" for place in range(1, len(before) + 1)]
            values |= {w: ((at + 2 * place) % 5 - 2) / 4 for place, w in enumerate(weights)}
            terms = [f"{w}*{x}" for w, x in zip(weights, before, strict=True)]
            lines.append(f"{name} = tanh({' + '.join(terms)})")
        before = names
    return "; ".join(lines), values


class Trained(NamedTuple):
    """The weights after each step, and the first that is at rest with all points."""

    weights: list[Any]
    reached: int | None


def names_of_weights(neurons: int) -> list[str]:
    """The weights' names, in the order of the array."""
    return [*(f"{kind}{n}" for kind in "uvbw" for n in range(1, neurons + 1)), "c"]


def trained(
    values: Mapping[str, float], points: Sequence[Sequence[float]], rate: float, steps: int
) -> Trained:
    """Descent of the mean of ``(tanh(Σ w·tanh(u·x + v·y + b) + c) - t)^2`` over points, by hand."""
    neurons = sum(name.startswith("u") for name in values)
    every, reached = [np.array([values[name] for name in names_of_weights(neurons)])], None
    for at in range(steps):
        total, _, outputs = gradient(every[-1], points)
        if reached is None and np.all((outputs > 0) == (np.array(points[2]) > 0)):
            reached = at
        every.append(every[-1] + -rate * (total / len(points[0])))
    return Trained(every, reached)


def room(every: Sequence[Any], points: Sequence[Sequence[float]], rate: float) -> Any:
    """How far two programs are apart at most that train alike, in whatever order they multiply and add.

    Both compute every operation as well as it is promised; ``every`` holds the weights after each step.
    """
    apart = np.zeros((len(every[0]), 0))
    for weights, after in pairwise(every):
        total, off, _ = gradient(weights, points)
        # A step carries what the weights are off on to the next, to first order by its Jacobian.
        carried = np.eye(len(weights)) - rate * hessian(weights, points)
        own = rate * off + 3 * ROUNDING * rate * abs(total / len(points[0])) + ROUNDING * abs(after)
        apart = np.hstack([carried @ apart, np.diag(2 * own)])
    return abs(apart).sum(axis=1)


def gradient(weights: Any, points: Sequence[Sequence[float]]) -> tuple[Any, Any, Any]:
    """The sum of the points' gradients, how far its mean is off at most, and the network's outputs.

    Each bound is that of its operands, passed on by the derivative, and what the operation itself rounds.
    """
    x, y, t = (np.array(column)[:, None] for column in points)
    u, v, b, w = weights[:-1].reshape(4, -1)
    s = u * x + v * y + b
    s_off = 3 * ROUNDING * (abs(u * x) + abs(v * y) + abs(b))
    h, slope = np.tanh(s), (1 / np.cosh(s)) ** 2
    h_off, slope_off = slope * s_off + TANH * abs(h), slope * (2 * abs(h) * s_off + SLOPE)
    z = (w * h).sum(axis=1, keepdims=True) + weights[-1]
    sizes = (abs(w * h)).sum(axis=1, keepdims=True) + abs(weights[-1])
    z_off = (abs(w) * h_off).sum(axis=1, keepdims=True) + (len(w) + 2) * ROUNDING * sizes
    o, steep = np.tanh(z), (1 / np.cosh(z)) ** 2
    o_off, steep_off = steep * z_off + TANH * abs(o), steep * (2 * abs(o) * z_off + SLOPE)
    e = o - t
    e_off = o_off + ROUNDING * abs(e)
    back = 2 * e * steep
    back_off = 2 * e_off * steep + 2 * abs(e) * steep_off + ROUNDING * abs(back)
    inner = back * w * slope
    inner_off = (back_off * slope + abs(back) * slope_off) * abs(w) + 2 * ROUNDING * abs(inner)
    columns = [inner * x, inner * y, inner, back * h, back]
    offs = [
        inner_off * abs(x) + ROUNDING * abs(columns[0]),
        inner_off * abs(y) + ROUNDING * abs(columns[1]),
        inner_off,
        back_off * abs(h) + abs(back) * h_off + ROUNDING * abs(columns[3]),
        back_off,
    ]
    grads, off = np.hstack(columns), np.hstack(offs)
    total = grads.sum(axis=0)
    # However they are added up.
    summed = off.sum(axis=0) + len(x) * ROUNDING * abs(grads).sum(axis=0)
    return total, summed / len(x), o[:, 0]


def hessian(weights: Any, points: Sequence[Sequence[float]], far: float = 2.0**-17) -> Any:
    """The Hessian of the mean, by differences of the gradient: good to some nine digits."""
    moves = far * np.eye(len(weights))
    both = [[gradient(weights + way * move, points)[0] for way in (1, -1)] for move in moves]
    return np.array([(up - down) / (2 * far * len(points[0])) for up, down in both]).T
