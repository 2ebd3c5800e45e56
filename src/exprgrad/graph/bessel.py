"""Families of rows of the op table: Bessel functions of whole order."""

from __future__ import annotations

import math

from exprgrad.graph.op import Family, Op, horner

__all__ = ["FAMILIES"]

TERMS = 14
"""How many terms of a power series are taken, where each is less than half of the one before."""


def power_series(n: int, sign: int) -> str:
    """The series of (z/2)^-n*n! times a Bessel function, in q = (z/2)^2."""
    start = math.factorial(n)
    terms = [
        sign**k * start / (math.factorial(k) * math.factorial(n + k)) for k in range(TERMS, -1, -1)
    ]
    return horner(terms, "q")


def backward(n: int) -> str:
    """The Bessel function where z is at most n: J. C. P. Miller's algorithm, from far above n down to 0.

    There the recurrence is stable downwards; J0 + 2*J2 + 2*J4 … is 1.
    """
    top = n + 18 + math.ceil(7 * n ** (1 / 3))
    lines = [f"f{top} = 0; f{top - 1} = 1e-200"]
    for k in range(top - 1, 0, -1):
        lines.append(f"f{k - 1} = {2 * k}*i*f{k} - f{k + 1}")
    evens = " + ".join(f"f{k}" for k in range(top - top % 2, 0, -2))
    return f"i = 1/z; {'; '.join(lines)}; below = f{n}/(f0 + 2*({evens}))"


def forward(n: int, first: str, second: str, sign: str) -> str:
    """The function of order n from those of order 0 and 1, by the recurrence."""
    lines = [f"g0 = {first}; g1 = {second}"]
    for k in range(1, n):
        lines.append(f"g{k + 1} = {2 * k}/z*g{k} {sign} g{k - 1}")
    return "; ".join(lines)


def first_kind(n: int) -> Op:
    """F. W. J. Olver, Bessel functions of integer order, in Abramowitz and Stegun (1964), 9.1.10, 9.1.27 and 9.12."""
    least = math.sqrt(2 * (n + 1))
    value = (
        f"z = abs(x); q = z*z/4; near = z < {least!r}; small = (z/2)^{n}*({1 / math.factorial(n)!r}*{power_series(n, -1)}); "
        f"{forward(n, 'j0(z)', 'j1(z)', '-')}; {backward(n)}; "
        f"{'sign(x)*' if n % 2 else ''}where(near, small, where(z < {n}, below, g{n}))"
    )
    slope = f"(besselj({n - 1}, x) - besselj({n + 1}, x))/2" if n else "-besselj(1, x)"
    return Op(
        "", "x", (slope,), f"the Bessel function of the first kind of order {n}",
        value=value if n > 1 else f"j{n}(x)", latex=rf"J_{{{n}}}(x)",
        value_ulp=6.0 + n, value_abs=6e-16, partial_ulp=8.0 + n, partial_abs=6e-16,
    )  # fmt: skip


FAMILIES: tuple[Family, ...] = (
    Family("besselj", "the Bessel functions of the first kind", 0, first_kind),
)
