"""How structural operations and literals are written: ``X @ W``, ``x.T``, ``x[0, 1:3]``, ``sum(x, 1)``."""

from __future__ import annotations

from typing import Any, cast

from exprgrad.graph.literal import Literal, Settings, size
from exprgrad.graph.tensors import STRUCTURAL
from exprgrad.language.write.infix import ATOM, COMPARISON, MATMUL, SIGN, Part, number

__all__ = ["literal_text", "pattern", "place_text", "setting_text"]


def pattern(kind: str, count: int, payload: object) -> tuple[Part, ...]:
    """How an operation of so many operands is written, with its settings."""
    row, settings = STRUCTURAL[kind], cast(Settings, payload)
    if kind == "matmul":
        return (0, MATMUL), " @ ", (1, SIGN)
    if kind == "transpose" and settings[0] is None:
        return (0, ATOM), ".T"
    if kind == "index":
        return (0, ATOM), f"[{', '.join(map(place_text, settings[0]))}]"
    opening, closing = f"{row.word}(", ")"
    if kind == "stack" and settings[0] == 0:
        opening, closing = "[", "]"
    parts: list[Part] = [opening]
    for position in range(count):
        parts += [", ", (position, COMPARISON)] if position else [(position, COMPARISON)]
    if opening != "[":
        for parameter, value in zip(row.parameters, settings, strict=True):
            if value != parameter.default:
                parts.append(f", {parameter.name}={setting_text(value)}")
    return *parts, closing


def place_text(place: Any) -> str:
    """An index or a slice."""
    if isinstance(place, int):
        return str(place)
    return ":".join("" if end is None else str(end) for end in place)


def setting_text(value: Any) -> str:
    """A setting."""
    if isinstance(value, tuple):
        return f"[{', '.join(map(setting_text, value))}]"
    return str(value)


def literal_text(literal: Literal, room: int | None = None) -> str:
    """A tensor that is written out, or its first ``room`` characters."""
    shape = literal.shape
    sizes = [size(shape[at:]) for at in range(len(shape) - 1, 0, -1)]
    pieces = ["[" * len(shape)]
    for at, value in enumerate(literal.numbers[:room]):
        if at:
            ended = next((depth for depth, count in enumerate(sizes) if at % count), len(sizes))
            pieces.append(f"{']' * ended}, {'[' * ended}")
        pieces.append(number(value))
    return "".join([*pieces, "]" * len(shape)])[:room]
