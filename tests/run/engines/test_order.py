"""The order of a program's operations: every operand before its users, and few results alive at a time."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from exprgrad.derive.sweeps.gradient import gradient
from exprgrad.graph.graph import Program, dependency_flags
from exprgrad.language.read.parse import parse_text
from exprgrad.run.engines.numpy_engine import order_operations, plan_steps
from strategies import programs

SINES = " + ".join(f"sin(x{n}*a{n})" for n in range(50))
WEIGHTED = " + ".join(f"w{n}*tanh(x)" for n in range(50))
LAYER = "; ".join(
    [f"h{k} = tanh({' + '.join(f'w{k}_{n}*x{n}' for n in range(9))})" for k in range(9)]
    + [" + ".join(f"v{k}*h{k}" for k in range(9))]
)


def derived(text: str) -> Program:
    """A formula's value and gradient."""
    graph = parse_text(text)
    return gradient(graph, list(graph.inputs))


def most_alive(program: Program, order: list[int]) -> int:
    """The most results that are alive at a time, by what is still to be read after each operation."""
    graph, outputs = program
    found = 0
    for at in range(len(order)):
        read = {operand for node in order[at + 1 :] for operand in graph.operands[node]}
        kept = [node for node in order[: at + 1] if node in read and node not in outputs]
        fresh = order[at] not in outputs and order[at] not in kept
        found = max(found, len(kept) + fresh)
    return found


@settings(max_examples=60)
@given(programs())
def test_operands_come_before_users_and_no_more_is_alive(text: str) -> None:
    program = derived(text)
    graph, outputs = program
    needed = dependency_flags(graph, *outputs)
    order = order_operations(graph, outputs, needed)
    given = [node for node in range(len(graph)) if needed[node] and graph.operands[node]]
    assert sorted(order) == given
    place = {node: at for at, node in enumerate(order)}
    for node in order:
        assert all(place.get(operand, -1) < place[node] for operand in graph.operands[node])
    assert most_alive(program, order) <= most_alive(program, given)


@pytest.mark.parametrize(("text", "most"), [(SINES, 3), (WEIGHTED, 4), (LAYER, 24)])
def test_what_stands_alone_is_done_with_before_the_next(text: str, most: int) -> None:
    """In the order of two sweeps, 50 to 80 results are alive at the end of the first."""
    program = derived(text)
    graph, outputs = program
    order = order_operations(graph, outputs, dependency_flags(graph, *outputs))
    assert most_alive(program, order) <= most
    assert most_alive(program, sorted(order)) > 2 * most
    assert plan_steps(program, list(graph.inputs)).registers <= most


def test_a_chain_keeps_its_order() -> None:
    """The numbers of a chain all wait for the reverse sweep, whatever the order."""
    text = "x"
    for _ in range(30):
        text = f"sin({text})"
    graph, outputs = program = derived(text)
    order = order_operations(graph, outputs, dependency_flags(graph, *outputs))
    assert 28 <= most_alive(program, order) <= most_alive(program, sorted(order))
