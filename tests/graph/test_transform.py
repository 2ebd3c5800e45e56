"""A graph rebuilt: what goes along, and what a rule changes."""

from __future__ import annotations

from collections.abc import Sequence

from exprgrad import parse
from exprgrad.graph.graph import Graph, same_graph, transform_graph


def test_a_copy_is_the_same_to_the_last_span() -> None:
    graph = parse("a = x*pi; sum(X + a) - a").gradient(x=2, X=[[1, 2], [3, 4]]).graph
    assert graph.implicit  # broadcasting a
    copy, images = transform_graph(graph)
    assert same_graph(copy, graph) and images == [*range(len(graph))]
    for column in ("shapes", "implicit", "inputs", "starts", "ends", "edge_starts", "edge_ends"):
        assert getattr(copy, column) == getattr(graph, column), column


def test_what_is_not_wanted_is_left_out() -> None:
    graph = parse("unused = x*y; x + 1").graph
    copy, images = transform_graph(graph, wanted=[1, 0, 0, 1, 1])
    assert copy.kinds == ["input", "const", "add"] and images == [0, -1, -1, 1, 2]
    assert copy.inputs == {"x": 0} and copy.bindings == [] and copy.output == 2
    assert copy.occurrence(2, 1) == graph.occurrence(4, 1)


def test_a_rule_says_what_else_becomes_of_a_node() -> None:
    def without_negatives(made: Graph, node: int, images: Sequence[int]) -> int | None:
        return images[graph.operands[node][0]] if graph.kinds[node] == "neg" else None

    graph = parse("-(-x + y)").graph
    copy, _ = transform_graph(graph, without_negatives)
    assert copy.kinds == ["input", "input", "add"] and copy.output == 2
