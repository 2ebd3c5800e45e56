"""Formulas of a wanted size, the same at every run, made of what every peer has as one operation."""

from __future__ import annotations

from random import Random

__all__ = ["VALUES", "chain", "tree"]

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
