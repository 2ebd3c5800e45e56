"""A program with roots as kernels that know none: what roots read, the search turn by turn, and the rest.

A root's rows leave the search as they are found, so that each turn is for those that are still looked for.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from exprgrad.derive.build import Builder
from exprgrad.derive.search import search
from exprgrad.graph.graph import Program
from exprgrad.graph.ops import BY_NAME
from exprgrad.run.engines.compiled import Kernel
from exprgrad.run.numbers.primitives import functions

__all__ = ["StagedKernel", "roots_of", "staged"]

BLOCK = 2**13
"""The rows of a block: what is known of a search stays in a cache."""


Build = Callable[[Program, Sequence[str]], Kernel | str]


class Stage(NamedTuple):
    """One root: what finds its operands of the columns and the roots before, and its search."""

    operands: Kernel
    first: Kernel
    turn: Kernel
    last: Kernel
    counts: tuple[int, int]


def roots_of(program: Program) -> list[int]:
    """The nodes of a program that are roots."""
    kinds = program.graph.kinds
    return [
        n for n, kind in enumerate(kinds) if kind in BY_NAME and BY_NAME[kind].equation is not None
    ]


def staged(program: Program, inputs: Sequence[str], build: Build) -> StagedKernel | str:
    """A kernel for a program with roots, of kernels that are built without; or why there is none."""
    graph, outputs = program
    builder = Builder()
    known: list[str] = [*inputs]
    parts: list[tuple[Program, tuple[str, ...], str]] = []

    def rule(node: int, images: Sequence[int]) -> int | None:
        """A root is an input of what comes after it."""
        kind = graph.kinds[node]
        if kind not in BY_NAME or BY_NAME[kind].equation is None:
            return None
        operands = [images[operand] for operand in graph.operands[node]]
        values = [builder.value(operand) for operand in operands]
        if None not in values:
            return builder.constant(functions[kind](*values))
        parts.append((builder.program(operands), tuple(known), kind))
        name = f"root {len(parts)}"
        known.append(name)
        return builder.input(name)

    images = builder.include(graph, rule=rule)
    rest = build(builder.program([images[output] for output in outputs]), known)
    stages = []
    for wanted, before, kind in parts:
        state, *programs = search(kind)
        names = BY_NAME[kind].names
        kernels: list[Kernel] = []
        for one, read in ((wanted, before), *[(each, (*names, *state)) for each in programs]):
            kernel = build(one, read)
            if isinstance(kernel, str):
                return kernel
            kernels.append(kernel)
        operands, first, turn, last = kernels
        stages.append(Stage(operands, first, turn, last, (len(names), len(state))))
    return rest if isinstance(rest, str) else StagedKernel(stages, rest)


class StagedKernel:
    """Kernels one after the other, block by block: each root becomes a column that the next ones read."""

    def __init__(self, stages: Sequence[Stage], rest: Kernel) -> None:
        self.stages = stages
        self.rest = rest
        self.threads, self.chunk, self.work = rest.threads, rest.chunk, rest.work

    def __call__(
        self, columns: Sequence[np.ndarray], outputs: Sequence[np.ndarray], start: int, stop: int
    ) -> None:
        """Compute the rows from ``start`` to before ``stop``."""
        for low in range(start, stop, BLOCK):
            high = min(low + BLOCK, stop)
            given = [np.ascontiguousarray(column[low:high]) for column in columns]
            for stage in self.stages:
                given.append(found(stage, given, high - low))
            answers = played(self.rest, given, len(outputs), high - low)
            for output, answer in zip(outputs, answers, strict=True):
                output[low:high] = answer


def played(
    kernel: Kernel, columns: Sequence[np.ndarray], count: int, rows: int
) -> list[np.ndarray]:
    """A kernel's outputs, so many, for all rows of some columns."""
    outputs = [*np.empty((count, rows))]
    kernel(columns, outputs, 0, rows)
    return outputs


def found(stage: Stage, columns: Sequence[np.ndarray], rows: int) -> np.ndarray:
    """A root in every row."""
    count, states = stage.counts
    operands = np.array(played(stage.operands, columns, count, rows))
    now = np.array(played(stage.first, [*operands, *np.empty((states, rows))], states, rows))
    whole, left = now, np.arange(rows)
    given = operands
    while left.size:
        *after, going = played(stage.turn, [*given, *now], states + 1, left.size)
        done = going == 0
        now = np.array(after)
        if done.any():
            whole[:, left[done]] = now[:, done]
            left, now, given = left[~done], now[:, ~done].copy(), given[:, ~done].copy()
    return played(stage.last, [*operands, *whole], 1, rows)[0]
