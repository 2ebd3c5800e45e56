"""Steps within a trust region: where a quadratic model is least, not farther off than a radius.

Sources: J. J. Moré and D. C. Sorensen, Computing a trust region step (1983), by eigenvalues here; T.
Steihaug, The conjugate gradient method and trust regions in large scale optimization (1983), where there
are many inputs.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from exprgrad.solvers.minima.objective import Vector

__all__ = ["Proposal", "Spectrum", "conjugate_step", "dense_step", "lanczos", "norm", "spectrum"]

TIGHT = 1e-3
"""How near to the radius, as a part of it, the length of a step has to come."""
TURNS = 60
"""The most turns of the search for a shift: it halves an interval where Newton's step leaves it."""


class Spectrum(NamedTuple):
    """The eigenvalues of a symmetric matrix, ascending, and its eigenvectors as columns."""

    values: Vector
    vectors: Vector


class Proposal(NamedTuple):
    """A step, and whether it is a whole Newton step: to where the model has its least point."""

    step: Vector
    is_newton: bool


def norm(vector: Vector) -> float:
    """The root of the sum of squares, which neither overflows nor underflows on the way."""
    largest = float(np.max(np.abs(vector), initial=0.0))
    if largest == 0 or not math.isfinite(largest):
        return largest
    return largest * float(np.sqrt(np.sum((vector / largest) ** 2)))


def spectrum(matrix: Vector) -> Spectrum:
    """The eigenvalues and eigenvectors of a symmetric matrix of finite numbers, at any scale."""
    largest = float(np.max(np.abs(matrix), initial=0.0))
    if largest == 0:
        return Spectrum(np.zeros(len(matrix)), np.eye(len(matrix)))
    values, vectors = np.linalg.eigh(matrix / largest)
    return Spectrum(values * largest, vectors)


def dense_step(known: Spectrum, slope: Vector, radius: float) -> Proposal:
    """Where ``slope·p + p·H·p/2`` is least for steps ``p`` within the radius, given H's spectrum."""
    values, vectors = known
    along = vectors.T @ slope
    least = float(values[0])
    if least > 0:
        step = along / values
        if np.all(np.isfinite(step)) and norm(step) <= radius:
            return Proposal(-(vectors @ step), True)
    if radius == math.inf:
        return Proposal(np.zeros_like(slope), False)
    shift = shift_for(values, along, radius)
    with np.errstate(all="ignore"):
        parts = np.where((along == 0) | (values + shift <= 0), 0.0, along / (values + shift))
    short = 1 - min(norm(parts) / radius, 1.0) ** 2
    if least <= 0 and short > 2 * TIGHT:  # along what bends down, to the radius
        parts[0] += math.copysign(radius * math.sqrt(short), along[0] if along[0] else 1.0)
    return Proposal(-(vectors @ parts), False)


def shift_for(values: Vector, along: Vector, radius: float) -> float:
    """What added to the eigenvalues makes the step ``along/(values + shift)`` as long as the radius."""
    low = max(0.0, -float(values[0]))
    high = shift = low + norm(along) / radius
    with np.errstate(all="ignore"):
        for _ in range(TURNS):
            parts = np.where(along == 0, 0.0, along / (values + shift))
            size = norm(parts)
            if abs(size - radius) <= TIGHT * radius or not low < high:
                break
            low, high = (shift, high) if size > radius else (low, shift)
            weights = np.where(parts == 0, 0.0, (parts / size) ** 2 / (values + shift))
            shift += np.float64(size / radius - 1) / np.sum(weights)
            if not low < shift < high:
                shift = low + (high - low) / 2
    return float(shift)


def conjugate_step(
    product: Callable[[Vector], Vector], slope: Vector, radius: float, part: float, most: int
) -> Proposal:
    """The same by conjugate gradients, from products with H alone, until that part of the slope is left."""
    step = np.zeros_like(slope)
    rest = slope.copy()
    enough = part * norm(rest)
    way = -rest
    for _ in range(most if np.any(rest) else 0):
        bent = product(way)
        curvature = float(way @ bent)
        square = float(rest @ rest)
        further = step + (square / curvature) * way if curvature > 0 else None
        if further is None or not norm(further) <= radius:
            ahead = 0.0 if radius == math.inf else to_radius(step, way, radius)
            return Proposal(step + ahead * way, False)
        step, rest = further, rest + (square / curvature) * bent
        if norm(rest) <= enough:
            break
        way = -rest + (float(rest @ rest) / square) * way
    return Proposal(step, True)


def lanczos(product: Callable[[Vector], Vector], start: Vector, most: int) -> Spectrum:
    """Some eigenvalues of a symmetric matrix, the outermost nearly, and vectors, from products with it.

    Every vector is made orthogonal to all before it: C. C. Paige, Computational variants of the Lanczos
    method for the eigenproblem (1972).
    """
    basis = np.zeros((min(most, len(start)), len(start)))
    basis[0] = start / norm(start)
    main: list[float] = []
    beside: list[float] = []
    for k in range(len(basis)):
        image = product(basis[k])
        main.append(float(basis[k] @ image))
        for _ in range(2):  # once leaves what is rounded
            image = image - (basis[: k + 1] @ image) @ basis[: k + 1]
        size = norm(image)
        if k + 1 == len(basis) or not size > 1e-12 * max(map(abs, main)):
            break
        beside.append(size)
        basis[k + 1] = image / size
    values, vectors = np.linalg.eigh(np.diag(main) + np.diag(beside, 1) + np.diag(beside, -1))
    return Spectrum(values, basis[: len(main)].T @ vectors)


def to_radius(step: Vector, way: Vector, radius: float) -> float:
    """How far to go along a way from a step until the length is the radius."""
    size = norm(way)
    step, way = step / radius, way / size
    b, c = float(step @ way), float(step @ step) - 1
    root = math.sqrt(max(b * b - c, 0.0))
    return (radius / size) * (root - b if b < 0 else -c / (b + root))
