"""The picture as DOT: a card for each operation, a pill for each input, a chip on each edge.

Nothing is rendered here; ``draw.render`` does that.
"""

from __future__ import annotations

from exprgrad.errors import RequestError, advice
from exprgrad.graph.graph import Graph
from exprgrad.graph.structural import shape_text
from exprgrad.language.write.infix import program
from exprgrad.run.evaluation import Run
from exprgrad.show.picture import theme as look
from exprgrad.show.picture.cards import node_label, slot
from exprgrad.show.picture.edge_labels import boxed, wires
from exprgrad.show.picture.markup import quoted, shown
from exprgrad.show.text.nodes import title

__all__ = ["LARGEST", "source"]

LARGEST = 500
"""The most nodes that are drawn without being asked twice."""

TITLE = 200
"""The most characters shown of a whole expression."""


def source(
    graph: Graph, run: Run | None = None, *, digits: int = 6, all: bool = False, room: int = 0
) -> str:
    """The DOT source of a graph: of the formula alone, or with what a run found.

    ``digits`` is the number of significant digits shown; ``room`` the least number of digits that there
    is room for, where the numbers will be replaced by others; wires then have an id, ``w5_0`` for position
    0 of node 5.  Raises ``RequestError`` above ``LARGEST`` nodes unless ``all`` is true.
    """
    if len(graph) > LARGEST and not all:
        raise RequestError(
            "too-large",
            f"a picture of {len(graph):,} nodes is too large to read: the limit is {LARGEST}",
            help=advice("--all", "all=True") + " draws it anyway",
        )
    from graphviz import Digraph

    found = Run("", graph, {}, []) if run is None else run
    picture = Digraph(
        quoted(shown(program(graph), TITLE)),
        graph_attr=look.GRAPH,
        node_attr=look.NODE,
        edge_attr=look.EDGE,
    )
    for node in range(len(graph)):
        tooltip = quoted(shown(in_full(found, node), TITLE))
        picture.node(f"n{node}", f"<{node_label(found, node, digits, room)}>", tooltip=tooltip)
    waiting = {*found.order} if room else ()
    for user, operands in enumerate(graph.operands):
        for position, (chip, flows) in enumerate(wires(found, user, digits, all=user in waiting)):
            start, end = f"n{operands[position]}:e", f"n{user}:{slot(len(operands), position)}"
            manner = {} if flows else {**look.QUIET}
            if room:
                manner["id"] = f"w{user}_{position}"
            if chip is None:
                picture.edge(start, end, minlen="2", **manner)
            else:
                # A node, not an edge's label: Graphviz puts labels beside the wire, nodes on it.
                middle = f"n{user}_{position}"
                picture.node(
                    middle, f"<{boxed(chip, room)}>", **look.CHIP_NODE, tooltip=quoted(chip.tooltip)
                )
                picture.edge(start, f"{middle}:w", arrowhead="none", **manner)
                picture.edge(f"{middle}:e", end, **manner)
    return str(picture.source)


def in_full(run: Run, node: int) -> str:
    """What a node is, in one line."""
    return title(run, node) + shape_text(run.graph.shape(node), ", of shape {}", "")
