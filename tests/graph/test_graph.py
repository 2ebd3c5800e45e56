"""The graph's invariants: they hold on what is parsed, and ``check`` sees each one broken."""

from __future__ import annotations

from array import array
from collections.abc import Callable

import pytest
from hypothesis import given, settings

from exprgrad.graph.graph import (
    CONST,
    INPUT,
    Binding,
    Graph,
    dependency_flags,
    dependent_flags,
    same_graph,
)
from exprgrad.language.read.parse import parse_text
from invariants import check
from strategies import programs
from together import together

steady = settings(derandomize=True)
TEXT = "t = x*y + 2; max(t, x, pi)"


@settings(steady, max_examples=100)
@given(programs())
def test_every_parsed_graph_keeps_the_invariants(text: str) -> None:
    graph = parse_text(text)
    check(graph)
    assert all(operand < user for user, _, operand in graph.edges())
    assert len(list(graph.edges())) == len(graph.edge_starts)
    for user, position, operand in graph.edges():
        start, end = graph.occurrence(user, position)
        assert 0 <= start < end <= len(text)
        if graph.kinds[operand] == INPUT and text[start:end].isidentifier():
            assert operand == graph.inputs.get(text[start:end], operand)


def swap_operand(graph: Graph) -> None:
    graph.operands[2] = (0, 4)


def own_operand(graph: Graph) -> None:
    graph.operands[2] = (2, 1)


def negative_operand(graph: Graph) -> None:
    graph.operands[2] = (0, -1)


def shorter_column(graph: Graph) -> None:
    graph.payloads.pop()


def no_output(graph: Graph) -> None:
    graph.output = -1


def output_beyond(graph: Graph) -> None:
    graph.output = len(graph)


def lost_edge(graph: Graph) -> None:
    graph.edge_starts.pop()


def lost_edges(graph: Graph) -> None:
    graph.edge_starts.pop()
    graph.edge_ends.pop()


def misnumbered_edge(graph: Graph) -> None:
    graph.first_edge[4] += 1


def unlisted_input(graph: Graph) -> None:
    del graph.inputs["x"]


def wrong_input(graph: Graph) -> None:
    graph.inputs["x"] = 1


def constant_without_value(graph: Graph) -> None:
    graph.payloads[3] = None


def integer_constant(graph: Graph) -> None:
    graph.payloads[3] = 2


def unknown_operation(graph: Graph) -> None:
    graph.kinds[2] = "frobnicate"


def operation_with_payload(graph: Graph) -> None:
    graph.payloads[2] = 1.0


def wrong_arity(graph: Graph) -> None:
    graph.kinds[2] = "sin"


def lonely_maximum(graph: Graph) -> None:
    graph.operands[-1] = (4,)
    del graph.edge_starts[-2:], graph.edge_ends[-2:]


def leaf_with_operands(graph: Graph) -> None:
    graph.kinds[2], graph.payloads[2] = CONST, 1.0


def name_twice(graph: Graph) -> None:
    graph.bindings.append(Binding("t", 2, (0, 1)))


def name_of_an_input(graph: Graph) -> None:
    graph.bindings.append(Binding("x", 2, (0, 1)))


BREAKERS: list[Callable[[Graph], None]] = [
    swap_operand, own_operand, negative_operand, shorter_column, no_output, output_beyond, lost_edge,
    lost_edges, misnumbered_edge, unlisted_input, wrong_input, constant_without_value,
    integer_constant, unknown_operation, operation_with_payload, wrong_arity, lonely_maximum,
    leaf_with_operands, name_twice, name_of_an_input,
]  # fmt: skip


@together(BREAKERS)
def test_check_rejects_a_broken_graph(damage: Callable[[Graph], None]) -> None:
    graph = parse_text(TEXT)
    check(graph)
    damage(graph)
    with pytest.raises(ValueError, match="not a graph"):
        check(graph)


def test_an_empty_graph_is_no_graph() -> None:
    with pytest.raises(ValueError, match="output"):
        check(Graph())


def test_the_arrays_are_what_they_say() -> None:
    graph = parse_text(TEXT)
    assert graph.kinds == ["input", "input", "mul", "const", "add", "const", "max"]
    assert graph.operands == [(), (), (0, 1), (), (2, 3), (), (4, 0, 5)]
    assert graph.inputs == {"x": 0, "y": 1}
    assert graph.symbols == {5: "pi"}
    assert graph.names() == {0: "x", 1: "y", 4: "t"}
    assert (graph.output, graph.output_name, len(graph)) == (6, None, 7)
    assert [TEXT[slice(*graph.span(node))] for node in (0, 2, 4)] == ["x", "x*y", "x*y + 2"]
    assert [TEXT[slice(*graph.occurrence(6, position))] for position in range(3)] == [
        "t",
        "x",
        "pi",
    ]
    assert isinstance(graph.starts, array)


def test_a_graph_is_as_written() -> None:
    assert parse_text("x*x").operands[-1] == (0, 0)
    assert parse_text("2 + 2").kinds == ["const", "const", "add"]
    assert len(parse_text("sin(x) + sin(x)")) == 4


def test_dependencies_and_dependents() -> None:
    graph = parse_text("u = x*y; v = y + 1; u*2")
    flagged = dependency_flags(graph, graph.output)
    assert [graph.kinds[node] for node in range(len(graph)) if not flagged[node]] == [
        "const",
        "add",
    ]
    moved = dependent_flags(graph, [graph.inputs["x"]])
    assert [node for node in range(len(graph)) if moved[node]] == [0, 2, 6]
    assert sum(dependent_flags(graph, [])) == 0


@pytest.mark.parametrize(
    "other",
    ["t = x*y + 3; max(t, x, pi)", "t = y*x + 2; max(t, x, pi)", "u = x*y + 2; max(u, x, pi)",
     "t = x*y + 2; max(x, t, pi)", "t = x*y + 2; max(t, x, inf)", "max(x*y + 2, x, pi)",
     "t = x*y - 2; max(t, x, pi)", "t = x*y + 2; max(t, x, 3.141592653589793)"],
)  # fmt: skip
def test_same_tells_graphs_apart(other: str) -> None:
    assert same_graph(parse_text(TEXT), parse_text(TEXT.replace(" ", "")))
    assert not same_graph(parse_text(TEXT), parse_text(other))


def test_same_tells_the_signs_of_zero_and_nan() -> None:
    assert same_graph(parse_text("nan"), parse_text("nan"))
    assert not same_graph(parse_text("0"), parse_text("1"))
