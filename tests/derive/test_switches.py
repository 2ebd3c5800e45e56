"""Which nodes may meet a kink, by the numbers that would have to be equal; and what switches compare."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import pytest

from exprgrad import parse
from exprgrad.derive.build import GraphBuilder
from exprgrad.derive.switches import (
    Needed,
    SwitchFunction,
    condition_switch_functions,
    find_suspects,
    movable_nodes,
    row_requirements,
    switch_functions,
)
from exprgrad.graph.op import Op
from exprgrad.graph.ops import BY_NAME
from exprgrad.language.write.infix import node_texts


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
    assert row_requirements(graph, graph.output, op, movable_nodes(graph)) == needed


def test_what_no_small_step_moves() -> None:
    graph = parse("(x > y) + floor(x) + 2").graph
    assert [graph.kinds[node] for node, moves in enumerate(movable_nodes(graph)) if moves] == [
        "input"
    ] * 2


def test_only_nodes_with_what_it_takes_are_tested() -> None:
    graph = parse("relu(x) + abs(y) + max(x, y)").graph
    screen = find_suspects(graph, [1, 3, 4, 5, 6], [1] * len(graph))
    assert screen is not None
    smooth, kinked, tied = [1.0, 1.0, 2.0, 2.0, 3.0, 2.0, 5.0], [0.0, 0.0], [3.0, 3.0]
    assert screen.quiet(smooth) and not screen.candidates(smooth)
    kinked += [5.0, 5.0, 5.0, 5.0, 10.0]
    assert not screen.quiet(kinked) and screen.candidates(kinked) == [1]
    tied += [3.0, 3.0, 6.0, 3.0, 9.0]
    assert not screen.quiet(tied) and screen.candidates(tied) == [5]
    assert find_suspects(parse("x*y").graph, [2], [1, 1, 1]) is None


@pytest.mark.parametrize(
    ("text", "gaps"),
    [
        ("relu(x - 1)", ["x - 1 - 0"]),
        ("abs(x)", ["x - 0"]),
        ("x > y", ["x - y"]),
        ("x > x", []),
        ("max(x, y, 3)", ["x - y", "x - 3", "y - 3"]),
        ("clamp(x, 0, y)", ["x - 0", "x - y", "0 - y"]),
        ("where(x, 1, 2)", ["x - 0"]),
        ("where(x > 0, 1, 2)", []),
        ("hardtanh(x)", ["x - -1", "max(x, -1) - 1"]),
        ("elu(x)", ["x - 0"]),
        ("floor(x + y)", ["x + y steps floor(x + y)"]),
        ("x % y", ["x/y steps floor(x/y)"]),
        ("trunc(x)", ["x steps trunc(x)"]),
        ("x^y", []),
        ("xlogy(x, y)", ["x - 0"]),
        ("sin(x)", []),
    ],
)
def test_what_an_operation_compares(text: str, gaps: list[str]) -> None:
    assert sorted(written_gaps(text, switch_functions)) == sorted(gaps)


@pytest.mark.parametrize(
    ("text", "gaps"),
    [
        ("log(x)", ["x - 0"]),
        ("1/y", ["y - 0"]),
        ("asin(x)", ["abs(x) - 1"]),
        ("logit(x)", ["x - 0", "x - 1"]),
        ("x^1.5", ["x - 0"]),
    ],
)
def test_what_the_domain_of_an_operation_compares(text: str, gaps: list[str]) -> None:
    def rule(
        builder: GraphBuilder, row: Op, operands: list[int], out: int
    ) -> Iterable[SwitchFunction]:
        return condition_switch_functions(builder, row.domain, row, operands, out)

    assert sorted(set(written_gaps(text, rule))) == sorted(gaps)


def test_a_maximum_compares_all_with_its_winner() -> None:
    builder = GraphBuilder()
    operands = [builder.input(name) for name in "abcdefghij"]
    out = builder.apply("max", *operands)
    winner = operands[3]
    found = [gap for gap, _ in switch_functions(builder, BY_NAME["max"], operands, out, winner)]
    assert len(found) == 9 and all(winner in builder.graph.operands[node] for node in found)


def written_gaps(
    text: str, rule: Callable[[GraphBuilder, Op, list[int], int], Iterable[SwitchFunction]]
) -> list[str]:
    """The gaps of a formula's last operation as people read them, beside the steps of stairs."""
    graph, builder = parse(text).graph, GraphBuilder()
    image = builder.include(graph)
    operands = [image[operand] for operand in graph.operands[graph.output]]
    row = BY_NAME[graph.kinds[graph.output]]
    found = [*rule(builder, row, operands, image[graph.output])]
    written = node_texts(builder.graph, {})
    return [
        written[node] if step is None else f"{written[node]} steps {written[step]}"
        for node, step in found
    ]
