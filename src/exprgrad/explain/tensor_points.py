"""Kinks and jumps of a run over tensors: at how many numbers, and where the first is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from exprgrad.derive.rules import slots
from exprgrad.explain.diagnostic import Diagnostic, special_words
from exprgrad.explain.places import Found, held, where
from exprgrad.graph.graph import INPUT, Graph
from exprgrad.graph.ops import BY_NAME, Op
from exprgrad.graph.tensors import STRUCTURAL
from exprgrad.run.arrays import measure
from exprgrad.run.result import Run

__all__ = ["special_points"]


def special_points(run: Run, used: bytearray) -> Iterator[Diagnostic]:
    """Every kink and jump on the active path, in the order of the visits."""
    graph, adjoints = run.graph, run.adjoints
    assert adjoints is not None
    moving = movable(graph)
    for node in range(len(graph) - 1, -1, -1):
        if not (used[node] and adjoints.active[node] and graph.operands[node]):
            continue
        op = BY_NAME.get(graph.kinds[node])
        if op is None:
            yield from structural_kink(run, node, moving)
        elif op.special:
            yield from special_at(run, node, op, moving)


def movable(graph: Graph) -> bytearray:
    """The nodes that a small step of an input can move: not comparisons, steps and labels."""
    flags = bytearray(len(graph))
    for node, operands in enumerate(graph.operands):
        kind = graph.kinds[node]
        op = BY_NAME.get(kind)
        if kind == INPUT:
            flags[node] = 1
        for position, operand in enumerate(operands):
            passes = op.partial(position) != "0" if op else STRUCTURAL[kind].gate != "blocker"
            if flags[operand] and passes:
                flags[node] = 1
    return flags


def special_at(run: Run, node: int, op: Op, moving: Sequence[int]) -> Iterator[Diagnostic]:
    """The kinks and jumps that one elementwise node meets."""
    assert run.adjoints is not None
    operands = run.graph.operands[node]
    seen = sides(run, node, op, moving)
    mine = [s for s, o in zip(seen, operands, strict=True) if run.adjoints.active[o]]
    for special in op.special:
        tests = [measure.is_true(held(special.where, slots(op), side)) for side in mine]
        found = where(measure.is_any(*tests))
        if found is not None:
            yield special_diagnostic(run, node, found, special.code, special.why)


def sides(run: Run, node: int, op: Op, moving: Sequence[int]) -> list[list[Any]]:
    """For each operand, the values that a rule sees, as ``derive.rules.slots`` says."""
    operands, out = run.graph.operands[node], run.values[node]
    values = [run.values[operand] for operand in operands]
    varies = [float(moving[operand]) for operand in operands]
    if not op.variadic:
        return [[*values, out, *varies]] * len(operands)
    found = [[x, out, v, 0.0] for x, v in zip(values, varies, strict=True)]
    ties = sum(held(op.ties, slots(op), side) for side in found)
    return [[*side[:3], ties] for side in found]


def structural_kink(run: Run, node: int, moving: Sequence[int]) -> Iterator[Diagnostic]:
    """The kink of a structural node, if it meets one."""
    graph = run.graph
    if not any(moving[operand] for operand in graph.operands[node]):
        return
    values = [run.values[operand] for operand in graph.operands[node]]
    flags = measure.kinks(graph, node, values, run.values[node])
    found = None if flags is None else where(flags)
    if found is not None:
        words = STRUCTURAL[graph.kinds[node]].kink_words
        yield special_diagnostic(run, node, found, "kink", words)


def special_diagnostic(run: Run, node: int, found: Found, code: str, why: str) -> Diagnostic:
    """A kink or a jump, in words."""
    place = "here"
    if found.place:
        place = f"at{found.counted().removeprefix(' for')}"
    verb, help = special_words(code)
    message = f"{run.label(node)} {verb} {place}: {why}"
    return Diagnostic(code, "warning", message, node, run.graph.span(node), help)
