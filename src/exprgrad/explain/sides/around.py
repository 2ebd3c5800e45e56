"""What the nodes of a run are like around its point, for every input and both sides alike."""

from __future__ import annotations

import math
from itertools import product
from typing import NamedTuple

from exprgrad.derive.rules import template
from exprgrad.explain.sides.running_error import Measured
from exprgrad.graph.graph import Graph
from exprgrad.graph.ops import BY_NAME, Op
from exprgrad.run.numbers.sweeps import Adjoints
from exprgrad.run.numbers.templates import holds
from exprgrad.run.result import Run

__all__ = ["Around", "around", "error_of"]


class Around(NamedTuple):
    """What is the same for every input and both sides.

    ``alike``   by node: the first that is the same formula of the same inputs
    ``smooth``  for nodes that meet no kink, jump or edge of their domain: each operand through which
                movement passes, with the local derivative, which is neither 0 nor infinite
    """

    alike: list[int]
    smooth: dict[int, list[tuple[int, Measured]]]


def around(run: Run) -> Around:
    """What a run's nodes are like around the point."""
    assert isinstance(run.adjoints, Adjoints)
    graph, special = run.graph, set(run.adjoints.special)
    smooth: dict[int, list[tuple[int, Measured]]] = {}
    for node, (kind, operands) in enumerate(zip(graph.kinds, graph.operands, strict=True)):
        locals_ = run.adjoints.locals[node] if operands else None
        if locals_ is None or node in special or not math.isfinite(run.values[node]):
            continue
        op = BY_NAME[kind]
        terms = [
            (operand, Measured(local, error_of(op, position, local)))
            for position, (operand, local) in enumerate(zip(operands, locals_, strict=True))
            if local is not None and op.partial(position) != "0"
            if local or position not in op.branches
        ]
        usual = all(local.value and math.isfinite(local.value) for _, local in terms)
        if usual and is_inside(run, node, op):
            smooth[node] = terms
    return Around(twins(graph), smooth)


def is_inside(run: Run, node: int, op: Op) -> bool:
    """Whether a node stays in its row's domain however its active operands move."""
    if not op.domain:
        return True
    assert run.adjoints is not None
    places = [
        (math.nextafter(x, -math.inf), math.nextafter(x, math.inf))
        if run.adjoints.active[operand]
        else (x,)
        for operand in run.graph.operands[node]
        for x in [run.values[operand]]
    ]
    return all(holds(op.domain, op.names, place) for place in product(*places))


def twins(graph: Graph) -> list[int]:
    """By node: the first that is the same formula of the same inputs."""
    first: dict[object, int] = {}
    found: list[int] = []
    for node, (kind, operands, payload) in enumerate(
        zip(graph.kinds, graph.operands, graph.payloads, strict=True)
    ):
        key = (kind, tuple([found[operand] for operand in operands]), repr(payload))
        found.append(first.setdefault(key, node))
    return found


def error_of(op: Op, position: int, local: float) -> float:
    """What a local derivative may be off by; an operand, or a constant, is off by nothing.

    The row's bound is in ulps of the truth, which may be twice those of what was computed; beside a zero
    it is absolute.
    """
    if len(template(op.partial(position))) == 1 or not math.isfinite(local):
        return 0.0
    return max(2 * op.partial_ulp * math.ulp(local), op.partial_abs)
