"""Where the tests look: doubles over the whole range, and hypothesis strategies for expressions."""

from __future__ import annotations

import math
import struct
from collections.abc import Iterator
from random import Random

from hypothesis import strategies as st

from exprgrad.graph.ops import BY_NAME, OPS, Op

TINY, SMALL, LARGE = 5e-324, 2.2250738585072014e-308, 1.7976931348623157e308
CRITICAL = (
    0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 10.0, math.e, math.log(2), math.pi / 4, math.pi / 2, math.pi,
    3 * math.pi / 2, 2 * math.pi, 100 * math.pi, 19.0, 20.0, 22.0, 26.5, 28.0, 36.7, 37.5,
    354.0, 372.5, 709.78, 710.4,
    744.4, 745.1, 746.0, TINY, SMALL, LARGE, 1e-154, 1e154, 2.0**52, 2.0**53, 1e22,
)  # fmt: skip


def order(x: float) -> int:
    """The place of a double among all, 0 being at 0: doubles of one sign are ordered as their bits are."""
    (bits,) = struct.unpack("<q", struct.pack("<d", abs(x)))
    return int(bits) if x > 0 else -int(bits)


def nth(place: int) -> float:
    """The double at a place, or the last one."""
    (size,) = struct.unpack("<d", struct.pack("<q", min(abs(place), 0x7FEF_FFFF_FFFF_FFFF)))
    return float(size) if place >= 0 else -float(size)


def shifted(x: float, steps: int) -> float:
    """The double so many ulps away; where that is a zero it keeps the sign."""
    found = nth(order(x) + steps)
    return found or math.copysign(0.0, x)


def log_uniform(random: Random, low: float, high: float) -> float:
    """Either sign, a magnitude between two powers of ten."""
    exponent = random.uniform(low, high)
    size = 10.0 ** (exponent / 2) * 10.0 ** (exponent - exponent / 2)
    return float(random.choice((-1, 1)) * min(max(size, TINY), LARGE))


def double(random: Random) -> float:
    """One double: all magnitudes, the everyday ones, and the neighbours of critical points."""
    kind = random.randrange(7)
    if kind == 0:
        return log_uniform(random, -323.3, 308.25)
    if kind == 1:
        return log_uniform(random, -20, 20)
    if kind == 2:
        return log_uniform(random, 0, 3)
    if kind == 3:
        return random.uniform(-1, 1)
    if kind == 4:
        return random.uniform(-10, 10)
    sign, steps = random.choice((-1, 1)), random.choice((0, 0, 1, -1, 2, -2, 3, -5, 17, -1000))
    if kind == 5:
        return shifted(sign * random.choice(CRITICAL), steps)
    return shifted(sign * random.randrange(0, 1500) / 2, steps)


def partner(random: Random, x: float) -> float:
    """A second operand: unrelated, near the first, or such that a product or power is moderate."""
    kind = random.randrange(6)
    if kind == 0 and math.isfinite(x):
        return shifted(random.choice((-1, 1)) * x, random.randrange(-3, 4))
    if kind == 1:
        return clipped(x * 10 ** random.uniform(-4, 4))
    if kind == 2 and x:
        return clipped(random.uniform(-10, 10) / x)
    if kind == 3 and x and abs(x) != 1:
        return random.uniform(-760, 760) / math.log(abs(x))
    if kind == 4 and x and abs(x) != 1:
        return float(round(random.uniform(-760, 760) / math.log(abs(x))))
    return double(random)


def clipped(x: float) -> float:
    return float(max(min(x, LARGE), -LARGE))


def points(random: Random, arity: int, count: int) -> Iterator[tuple[float, ...]]:
    """Tuples of finite operands; a zero has no sign, for the truth has none to go by."""
    for _ in range(count):
        operands = [double(random)]
        while len(operands) < arity:
            operands.append(partner(random, operands[0]))
        random.shuffle(operands) if random.random() < 0.3 else None
        yield tuple([x + 0.0 for x in operands])


# Expressions, as text in which every operation stands in parentheses of its own.

INPUTS = (
    "x",
    "y",
    "w1",
    "a_b",
    "lambda",
    "e",
    "E3",
    "ψ",
    "Δx",
    "naïve",
    "变量",
    "_",
    "sin",
    "class",
)
NUMBERS = (
    "0",
    "1",
    "2",
    "3",
    "0.5",
    ".5",
    "2.",
    "1e-3",
    "6.02E23",
    "1e999",
    "0.1",
    "12345678901234567890",
)


def called(name: str, operands: list[str]) -> str:
    return f"{name}({', '.join(operands)})"


def apply(op: Op, operands: list[str]) -> str:
    if op.prefix:
        return f"({op.prefix}{operands[0]})"
    return f"({op.infix.join(operands)})" if op.infix else called(op.name, operands)


def tree(random: Random, leaves: tuple[str, ...], ops: tuple[Op, ...], size: int) -> str:
    """An expression of so many operations; shared out at random, for drawing each is less diverse."""
    if size <= 0:
        return random.choice(leaves)
    op = random.choice(ops)
    count = random.randint(2, 4) if op.variadic else len(op.names)
    rest, operands = size - 1, []
    for left in range(count, 0, -1):
        share = rest if left == 1 else random.randint(0, rest)
        operands.append(tree(random, leaves, ops, share))
        rest -= share
    return apply(op, operands)


seeds = st.integers(0, 2**32).map(Random)
SPECIAL = (
    0.0,
    0.5,
    -0.5,
    1.0,
    -1.0,
    1.5,
    2.5,
    -2.5,
    3.0,
    -2.0,
    800.0,
    -800.0,
    1e200,
    math.inf,
    -math.inf,
    math.nan,
)
"""Numbers at which rows answer by a convention, overflow or end."""
FREQUENT = (*OPS, *(op for op in OPS if op.infix or op.prefix for _ in range(3)))


@st.composite
def expressions(draw: st.DrawFn, leaves: tuple[str, ...], size: int = 8) -> str:
    """Expressions over some leaves and the whole table, the operators more often."""
    return tree(draw(seeds), leaves, FREQUENT, draw(st.integers(0, size)))


@st.composite
def programs(draw: st.DrawFn) -> str:
    """Named statements and an output, over the whole scalar language; the names are ``t0``, ``t1``…"""
    leaves = (*INPUTS, *NUMBERS, "pi", "inf", "nan")
    statements = []
    names: tuple[str, ...] = ()
    for number in range(draw(st.integers(0, 3))):
        statements.append(f"t{number} = {draw(expressions(leaves + names * 6, 4))}")
        names += (f"t{number}",)
    if not names or draw(st.booleans()):
        statements.append(draw(expressions(leaves + names * 6)))
    return draw(st.sampled_from(("; ", "\n"))).join(statements)


SMOOTH = "add sub mul div sin cos exp tanh atan sqrt log sigmoid hypot asinh log1p erf pow"


@st.composite
def smooth(draw: st.DrawFn, names: str = SMOOTH) -> str:
    """Differentiable expressions in x, y and z: one to ten operations."""
    chosen = [BY_NAME[name] for name in names.split()]
    ops = (*chosen, *(op for op in chosen if op.infix for _ in range(2)))
    return tree(draw(seeds), ("x", "y", "z", "x", "y", "2", "0.3"), ops, draw(st.integers(1, 10)))


everyday = st.floats(0.01, 4).flatmap(lambda x: st.sampled_from((x, -x)))
"""Doubles at which little overflows, either sign."""
