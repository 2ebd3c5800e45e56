"""Formulas of tensors, drawn: of a wanted shape, with every structural row, over inputs of fixed shapes."""

from __future__ import annotations

from random import Random

from exprgrad.graph.graph import Shape

__all__ = ["SHAPES", "drawn"]

SHAPES: dict[str, Shape] = {
    "A": (2, 3), "B": (3, 2), "C": (2, 2), "x": (2,), "y": (3,), "c": (), "k": (),
}  # fmt: skip
LEAVES: dict[Shape, list[str]] = {
    (): ["c", "k", "2", "0.5", "3"],
    (2,): ["x", "[1, 2]", "A[:, 1]", "[c, k]"],
    (3,): ["y", "A[0]", "[1, 0.5, 2]"],
    (2, 2): ["C"],
    (2, 3): ["A"],
    (3, 2): ["B"],
    (3, 3): ["(B @ A)"],
}
UNARY = (
    "tanh({})", "exp(0.3*{})", "sin({})", "({})^2", "-({})", "log(2 + ({})^2)", "2*({})", "relu({})",
    "abs({})",
)  # fmt: skip
BINARY = (
    "({}) + {}", "({}) - ({})", "({})*({})", "({})/(1.5 + ({})^2)", "({})*({})", "max({}, {})",
)  # fmt: skip
WHOLE = ("sum", "mean", "norm", "logsumexp", "prod", "max", "min")

Choice = tuple[str, list[Shape]]
"""A text with a place for each operand, and the operands' shapes."""


def drawn(random: Random) -> str:
    """A formula that is a number."""
    return formula(random, (), random.randint(1, 5))


def formula(random: Random, shape: Shape, depth: int) -> str:
    """A formula of some shape."""
    if depth <= 0:
        return random.choice(LEAVES[shape])
    choices = (numbers, vectors, matrices)[len(shape)](random, shape)
    if random.random() < 0.4:
        choices = elementwise(random, shape)
    text, operands = random.choice(choices)
    return text.format(*[formula(random, operand, depth - 1) for operand in operands])


def elementwise(random: Random, shape: Shape) -> list[Choice]:
    """Operations number by number; an operand may be smaller."""
    pair = [shape, random.choice([shape, shape, (), shape[1:]])]
    random.shuffle(pair)
    return [
        (random.choice(UNARY), [shape]),
        *[(random.choice(BINARY), pair)] * 3,
        ("where({} > 0.4, {}, {})", [shape, *pair]),
    ]


def numbers(random: Random, shape: Shape) -> list[Choice]:
    """Numbers made of tensors."""
    vector = random.choice([(2,), (3,)])
    whole = random.choice([vector, (2, 3), (3, 2), (2, 2)])
    return [
        *[(f"{random.choice(WHOLE)}({{}})", [whole])] * 5,
        ("dot({}, {})", [vector, vector]),
        ("({}) @ ({})", [vector, vector]),
        (f"({{}})[{random.randint(0, 1)}, {random.randint(-1, 2)}]", [(2, 3)]),
        ("trace({})", [(2, 2)]),
        ("cross_entropy({}, [0, 2])", [(2, 3)]),
        ("cross_entropy({}, softmax({}))", [(2, 2), (2, 2)]),
    ]


def vectors(random: Random, shape: Shape) -> list[Choice]:
    """Vectors."""
    (n,) = shape
    m = 5 - n
    word = random.choice(WHOLE)
    return [
        (f"{word}({{}}, axis={random.choice([1, -1])})", [(n, m)]),
        (f"{word}({{}}, axis=0)", [(m, n)]),
        ("({}) @ ({})", [(n, m), (m,)]),
        ("({}) @ ({})", [(m,), (m, n)]),
        ("softmax({})", [shape]),
        ("diag({})", [(n, n)]),
        (f"({{}})[{m - 1}]", [(m, n)]),
        (f"({{}})[:, {m - 1}]", [(n, m)]),
        (f"({{}})[0, 0:{n}]", [(m, n)]),
        (f"reshape({{}}, [4])[1:{n + 1}]", [(2, 2)]),
        (f"concat({{}}, {{}})[{5 - n}:5]", [(2,), (3,)]),
        (f"[{', '.join(['{}'] * n)}]", [()] * n),
        (f"broadcast({{}}, [{n}])", [()]),
        (f"place({{}}, shape=[{n}], at=[[0, 2]])", [(2,)]),
    ]


def matrices(random: Random, shape: Shape) -> list[Choice]:
    """Matrices."""
    n, m = shape
    q = random.choice([2, 3])
    word, axis = random.choice(WHOLE), random.choice([0, 1])
    return [
        ("({}) @ ({})", [(n, q), (q, m)]),
        ("({}) @ ({}).T", [(n, q), (m, q)]),
        ("outer({}, {})", [(n,), (m,)]),
        ("({}).T", [(m, n)]),
        (f"broadcast({{}}, [{n}, {m}])", [(m,)]),
        (f"softmax({{}}, axis={axis})", [shape]),
        (f"stack({', '.join(['{}'] * m)}, axis=1)", [(n,)] * m),
        (f"[{', '.join(['{}'] * n)}]", [(m,)] * n),
        (f"({{}})*{word}({{}}, axis={axis}, keepdims=True)", [shape, shape]),
        ("({}) - mean({}, axis=0)", [shape, shape]),
        (f"reshape({{}}, [{n}, {m}])", [(m, n)]),
        (f"diag({{}})[0:{n}, 0:{m}]", [(max(n, m),)]),
    ]
