"""Formulas of tensors as text, well shaped, over every structural operation; and their inputs' shapes.

They are for the spelling and the shapes of everything: what they compute may be nan.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import NamedTuple

from hypothesis import strategies as st

from exprgrad.graph.graph import Shape, shape_size
from strategies import seeds

__all__ = ["Formula", "formulas"]

UNARY = ("tanh", "exp", "sin", "abs", "relu", "sigmoid", "-", "+")
INFIX = ("+", "-", "*", "/", "^", "**", "%", "<", "==", "+", "*", "-")
CALLS = ("max", "min", "hypot", "atan2")
REDUCTIONS = ("sum", "mean", "prod", "max", "min", "norm", "logsumexp")
NUMBERS = ("2", "0.5", "-3", "1e-3", "0", "-0.25", "7", "12.5")


class Formula(NamedTuple):
    """A text and the shapes of the inputs it reads."""

    text: str
    shapes: dict[str, Shape]


class Writer:
    """One formula under construction: ``write`` gives the text of an expression of a shape."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.shapes: dict[str, Shape] = {}

    def leaf(self, shape: Shape) -> str:
        """An input, or a number or list that is written out."""
        if self.random.random() < 0.65:
            name = f"{self.random.choice('xyz')}{''.join(map(str, shape))}"
            self.shapes[name] = shape
            return name
        return self.literal(shape)

    def literal(self, shape: Shape) -> str:
        if not shape:
            return f"({self.random.choice(NUMBERS)})"
        elements = [self.literal(shape[1:]) for _ in range(shape[0])]
        return f"[{', '.join(e.strip('()') if len(shape) == 1 else e for e in elements)}]"

    def write(self, shape: Shape, count: int) -> str:
        """An expression of so many operations at most."""
        if count <= 0 or shape_size(shape) > 60:
            return self.leaf(shape)
        makers: list[Callable[[Shape, int], str | None]] = [
            self.elementwise, self.elementwise, self.product, self.moved, self.reduced, self.taken,
            self.joined, self.other,
        ]  # fmt: skip
        found = self.random.choice(makers)(shape, count - 1)
        return self.elementwise(shape, count - 1) if found is None else found

    def narrower(self, shape: Shape) -> Shape:
        """A shape that stretches to this one."""
        keep = shape[self.random.randint(0, len(shape)) :]
        return tuple([1 if self.random.random() < 0.2 else length for length in keep])

    def elementwise(self, shape: Shape, count: int) -> str:
        kind = self.random.randrange(5)
        if kind == 0:
            word = self.random.choice(UNARY)
            inner = self.write(shape, count)
            return f"({word}{inner})" if word in "+-" else f"{word}({inner})"
        one, other = self.write(shape, count // 2), self.write(self.narrower(shape), count // 2)
        if self.random.random() < 0.5:
            one, other = other, one
        if kind == 1:
            return f"{self.random.choice(CALLS)}({one}, {other})"
        if kind == 2:
            return f"where({self.write(self.narrower(shape), 0)} > 0, {one}, {other})"
        return f"({one}{self.random.choice(INFIX)}{other})"

    def product(self, shape: Shape, count: int) -> str | None:
        inner, half = self.random.randint(1, 3), count // 2
        if len(shape) > 2:
            return None
        if len(shape) == 2 and self.random.random() < 0.3:
            return f"outer({self.write(shape[:1], half)}, {self.write(shape[1:], half)})"
        left: Shape = (*shape[:1], inner)
        right: Shape = (inner, *shape[1:])
        if len(shape) == 1 and self.random.random() < 0.5:
            left, right = (inner,), (inner, *shape)
        if not shape:
            left, right = (inner,), (inner,)
            if self.random.random() < 0.3:
                return f"dot({self.write(left, half)}, {self.write(right, half)})"
        return f"({self.write(left, half)} @ {self.write(right, half)})"

    def moved(self, shape: Shape, count: int) -> str | None:
        random = self.random
        kind = random.randrange(4)
        if kind == 0:
            inner = self.write(shape[::-1], count)
            return random.choice(("({}).T", "transpose({})")).format(inner)
        if kind == 1 and shape:
            order = random.sample(range(len(shape)), len(shape))
            before = [0] * len(shape)
            for at, axis in enumerate(order):
                before[axis] = shape[at]
            signed = [axis - len(shape) if random.random() < 0.3 else axis for axis in order]
            return f"transpose({self.write(tuple(before), count)}, axes={signed})"
        if kind == 2 and shape:
            wanted = list(shape)
            if random.random() < 0.3:
                wanted[random.randrange(len(wanted))] = -1
            key = random.choice(("", "shape="))
            return f"reshape({self.write((shape_size(shape),), count)}, {key}{wanted})"
        if shape:
            return f"broadcast({self.write(self.narrower(shape), count)}, {list(shape)})"
        return None

    def reduced(self, shape: Shape, count: int) -> str:
        random = self.random
        word = random.choice(REDUCTIONS)
        at = random.randint(0, len(shape))
        longer = (*shape[:at], random.randint(1, 3), *shape[at:])
        axis = at - len(longer) if random.random() < 0.4 else at
        if shape and 1 in shape and random.random() < 0.4:
            at = shape.index(1)
            longer = (*shape[:at], random.randint(1, 3), *shape[at + 1 :])
            return f"{word}({self.write(longer, count)}, axis={at}, keepdims=True)"
        if not shape and random.random() < 0.6:
            return f"{word}({self.write(random.choice(((), (2,), (2, 3), (3, 1, 2))), count)})"
        several = word in ("max", "min", "logsumexp")  # of two operands they go element by element
        key = "axis=" if several else random.choice(("", "axis="))
        wrap = f"[{axis}]" if random.random() < 0.2 else str(axis)
        return f"{word}({self.write(longer, count)}, {key}{wrap})"

    def taken(self, shape: Shape, count: int) -> str:
        random = self.random
        places: list[str] = []
        longer: list[int] = []
        for length in shape:
            while random.random() < 0.3 and len(longer) < 4:
                longer.append(random.randint(1, 3))
                places.append(str(random.randrange(-longer[-1], longer[-1])))
            start, rest = random.randrange(2), random.randrange(2)
            longer.append(start + length + rest)
            begin = str(start) if start else random.choice(("", "0"))
            end = str(start + length) if random.random() < 0.5 else f"-{rest}" if rest else ""
            places.append(f"{begin}:{end}")
        if not shape:
            longer, places = [3], ["1"]
        return f"({self.write(tuple(longer), count)})[{', '.join(places)}]"

    def joined(self, shape: Shape, count: int) -> str | None:
        random = self.random
        if not shape:
            return None
        at = random.randrange(len(shape))
        length, share = shape[at], count // shape[at]
        kind = random.randrange(3)
        if kind == 0:
            return (
                f"[{', '.join(self.write(shape[1:], count // shape[0]) for _ in range(shape[0]))}]"
            )
        if kind == 1 or length < 2:
            parts = [self.write((*shape[:at], *shape[at + 1 :]), share) for _ in range(length)]
            word = "stack"
            parts[0] = f"tanh({parts[0]})"  # not a list: stack([x]) is refused
        else:
            sizes = (1, length - 1)
            parts = [self.write((*shape[:at], n, *shape[at + 1 :]), count // 2) for n in sizes]
            word = "concat"
        axis = at - len(shape) if random.random() < 0.3 else at
        return f"{word}({', '.join(parts)}, axis={axis})"

    def other(self, shape: Shape, count: int) -> str | None:
        random = self.random
        if not shape:
            if random.random() < 0.5:
                return f"trace({self.write((2, 2), count)})"
            scores: Shape = random.choice(((3,), (2, 3)))
            targets = random.choice((scores, scores[:-1]))
            return f"cross_entropy({self.write(scores, count)}, {self.write(targets, 0)})"
        if len(shape) == 2 and shape[0] == shape[1]:
            return f"diag({self.write(shape[:1], count)})"
        if len(shape) == 1 and random.random() < 0.4:
            return f"diag({self.write(shape * 2, count)})"
        if random.random() < 0.2:
            return f"onehot({self.write(shape[:-1], 0)}, classes={shape[-1]})"
        if random.random() < 0.3:
            at = random.randrange(shape[0])
            return f"place({self.write(shape[1:], count)}, shape={list(shape)}, at=[{at}])"
        key = random.choice(("", f", axis={random.randrange(len(shape))}"))
        return f"softmax({self.write(shape, count)}{key})"


@st.composite
def formulas(draw: st.DrawFn, operations: int = 8, number: bool = False) -> Formula:
    """A statement, sometimes, and an output; a number where ``number``."""
    writer = Writer(draw(seeds))
    shape: Shape = tuple(draw(st.lists(st.integers(1, 3), max_size=3)))
    count = draw(st.integers(0, operations))
    named = draw(st.booleans())
    start = f"t = {writer.write(shape, count // 2)}; " if named else ""
    text = writer.write(shape, count)
    if named:
        text = f"t*{text} + t"
    if not writer.shapes:  # every formula reads an input
        text, writer.shapes["x"] = f"{text} + x", ()
    if number:
        text = f"sum({text})"
    return Formula(start + text, writer.shapes)
