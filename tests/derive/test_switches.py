"""Which nodes may meet a kink: known beforehand, by the numbers that would have to be equal."""

from __future__ import annotations

import pytest

from exprgrad import parse
from exprgrad.derive.switches import Needed, equal_numbers, movable, suspects
from exprgrad.graph.ops import BY_NAME


@pytest.mark.parametrize(
    ("text", "needed"),
    [
        ("relu(x)", [(0, 0.0)]),
        ("max(x, y)", [(0, 1)]),
        ("max(x, y, z)", [(0, 1), (0, 2), (1, 2)]),
        ("max(a, b, c, d, e)", None),
        ("x^2", []),
        ("where(x > 0, 1, 2)", []),
        ("x == y", [(0, 1)]),
        *[(f"x {sign} x", []) for sign in ("==", "!=", "<", "<=", ">", ">=")],
    ],
)
def test_what_a_node_needs_for_a_kink(text: str, needed: Needed | None) -> None:
    graph = parse(text).graph
    op = BY_NAME[graph.kinds[graph.output]]
    assert equal_numbers(graph, graph.output, op, movable(graph)) == needed


def test_what_no_small_step_moves() -> None:
    graph = parse("(x > y) + floor(x) + 2").graph
    assert [graph.kinds[node] for node, moves in enumerate(movable(graph)) if moves] == [
        "input"
    ] * 2


def test_only_nodes_with_what_it_takes_are_tested() -> None:
    graph = parse("relu(x) + abs(y) + max(x, y)").graph
    screen = suspects(graph, [1, 3, 4, 5, 6], [1] * len(graph))
    assert screen is not None
    smooth, kinked, tied = [1.0, 1.0, 2.0, 2.0, 3.0, 2.0, 5.0], [0.0, 0.0], [3.0, 3.0]
    assert screen.quiet(smooth) and not screen.candidates(smooth)
    kinked += [5.0, 5.0, 5.0, 5.0, 10.0]
    assert not screen.quiet(kinked) and screen.candidates(kinked) == [1]
    tied += [3.0, 3.0, 6.0, 3.0, 9.0]
    assert not screen.quiet(tied) and screen.candidates(tied) == [5]
    assert suspects(parse("x*y").graph, [2], [1, 1, 1]) is None
