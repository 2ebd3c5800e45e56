"""Formulas of a wanted size, the same at every run, made of what every peer has as one operation."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from random import Random

__all__ = ["CASES", "VALUES", "chain", "composition", "product", "table_of", "tree"]

CASES = Path(__file__).parents[1] / "tests" / "cases"

VALUES = dict(zip("abcdefgh", (0.9, -0.8, 0.7, 0.95, -0.6, 0.85, 0.5, -0.75), strict=True))


def tree(nodes: int) -> str:
    """A balanced tree of sums, products and a ``relu`` now and then, of about so many nodes.

    A leaf is one of eight inputs, one in ten with a coefficient.  Products stay near the leaves, so
    that no value grows out of bounds.
    """
    random = Random(nodes)
    names = list(VALUES)
    layer = []
    for _ in range(round((nodes - len(names)) / 1.25) + 1):
        name = random.choice(names)
        layer.append(f"{random.random():.3f}*{name}" if random.random() < 0.1 else name)
    depth = 0
    while len(layer) > 1:
        above = []
        for left, right in zip(layer[::2], layer[1::2], strict=False):
            operation = random.choice("+*") if depth < 4 else "+"
            call = "relu" if random.random() < 0.05 else ""
            above.append(f"{call}({left} {operation} {right})")
        if len(layer) % 2:
            above.append(layer[-1])
        layer = above
        depth += 1
    return layer[0]


def chain(nodes: int) -> str:
    """A polynomial in Horner's form, as deep as it is long: ``((a*b + c)*d + e)*f + …``."""
    random = Random(nodes)
    names = list(VALUES)
    steps = (nodes - len(names)) // 2
    tail = [f"*{random.choice(names)} + {random.choice(names)})" for _ in range(steps)]
    return "(" * steps + names[0] + "".join(tail)


def product(factors: int) -> str:
    """``x0*x1*x2*…``: as many derivatives as factors, each the product of the others."""
    return "*".join(f"x{number}" for number in range(factors))


def composition(depth: int) -> str:
    """``1/(1 + tanh(exp(-sin(x))))`` and so on: four functions of one another, over and over.

    There is no root among them: SymPy asks a root's operand whether it is positive, and takes minutes
    to read a composition of 100 with one.
    """
    text = "x"
    for layer in range(depth):
        text = ("sin({})", "exp(-{})", "tanh({})", "1/(1 + {})")[layer % 4].format(text)
    return text


def table_of(name: str) -> Iterator[list[str]]:
    """The lines of ``tests/cases/<name>`` that say something, split at their bars."""
    for line in (CASES / name).read_text("utf-8").splitlines():
        if line.strip() and not line.startswith("#"):
            yield [cell.strip() for cell in line.split(" | ")]
