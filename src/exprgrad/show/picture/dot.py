"""The picture as DOT: a card for each operation, a pill for each input, a chip on each edge.

Nothing is rendered here; ``draw.render`` does that.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from exprgrad.errors import RequestError, advice
from exprgrad.graph.graph import OUTSIDE, Graph
from exprgrad.graph.structural import shape_text
from exprgrad.language.write.infix import program
from exprgrad.run.evaluation import Run
from exprgrad.show.picture import theme as look
from exprgrad.show.picture.cards import node_label, slot
from exprgrad.show.picture.edge_labels import Wire, boxed, wires
from exprgrad.show.picture.markup import quoted, shown
from exprgrad.show.text.nodes import title

if TYPE_CHECKING:
    from graphviz import Digraph

__all__ = ["DEEPEST", "LARGEST", "source"]

LARGEST = 500
"""The most nodes that are drawn without being asked twice."""

DEEPEST = 12
"""The most frames around a node."""
TITLE = 200
"""The most characters shown of a whole expression."""


def source(
    graph: Graph,
    run: Run | None = None,
    *,
    digits: int = 6,
    all: bool = False,
    room: int = 0,
    text: str = "",
    within: Mapping[int, tuple[str, ...]] | None = None,
) -> str:
    """The DOT source of a graph: of the formula alone, or with what a run found.

    ``digits`` is the number of significant digits shown; ``room`` the least number of digits that there
    is room for, where the numbers will be replaced by others; wires then have an id, ``w5_0`` for position
    0 of node 5.  ``text`` is what was typed, which names the picture where there are calls.  ``within`` are
    names of frames around nodes, from the outside in.  Raises ``RequestError`` above ``LARGEST`` nodes
    unless ``all`` is true.
    """
    found = Run("", graph, {}, []) if run is None else run
    if not all:
        require_readable(len(found.shown))
    from graphviz import Digraph

    name = (text or found.text) if graph.calls else program(graph)
    manner = {"graph_attr": look.GRAPH, "node_attr": look.NODE, "edge_attr": look.EDGE}
    picture = Digraph(quoted(shown(name, TITLE)), **manner)
    frames = frames_of(graph) if found.opened else {OUTSIDE: (0, OUTSIDE)}
    clusters = clusters_of(found, frames, picture)
    groups = {(): picture} | {names: group(names) for names in nested(within or {})}

    def place(node: int) -> Digraph:
        if within:
            return groups[within.get(node, ())]
        return clusters[frames[found.opened.get(node, OUTSIDE)][1]]

    for node in found.shown:
        tooltip = quoted(shown(in_full(found, node), TITLE))
        label = node_label(found, node, digits, room)
        place(node).node(f"n{node}", f"<{label}>", tooltip=tooltip)
    waiting = {*found.order} if room else ()
    for user in found.shown:
        drawn = wires(found, user, digits, all=user in waiting)
        draw_wires(found, user, drawn, room, picture, place(user))
    for at in sorted(clusters.keys() - {OUTSIDE}, key=lambda at: (-frames[at][0], at)):
        clusters[frames[graph.calls[at].parent][1]].subgraph(clusters[at])
    for names in sorted(groups.keys() - {()}, key=len, reverse=True):
        groups[names[:-1]].subgraph(groups[names])
    return str(picture.source)


def require_readable(nodes: int) -> None:
    """Raise ``RequestError`` for a picture of more nodes than can be read."""
    if nodes > LARGEST:
        raise RequestError(
            "too-large",
            f"a picture of {nodes:,} nodes is too large to read: the limit is {LARGEST}",
            help=advice("--all", "all=True") + " draws it anyway",
        )


def draw_wires(
    run: Run, user: int, drawn: Iterable[Wire], room: int, picture: Digraph, place: Digraph
) -> None:
    """The wires to a node, and their chips in its ``place``."""
    operands = run.operands(user)
    for position, (chip, flows) in enumerate(drawn):
        start, end = f"n{operands[position]}:e", f"n{user}:{slot(len(operands), position)}"
        manner = {} if flows else {**look.QUIET}
        if room:
            manner["id"] = f"w{user}_{position}"
        if chip is None:
            picture.edge(start, end, minlen="2", **manner)
        else:
            # A node, not an edge's label: Graphviz puts labels beside the wire, nodes on it.
            middle = f"n{user}_{position}"
            place.node(
                middle, f"<{boxed(chip, room)}>", **look.CHIP_NODE, tooltip=quoted(chip.tooltip)
            )
            picture.edge(start, f"{middle}:w", arrowhead="none", **manner)
            picture.edge(f"{middle}:e", end, **manner)


def nested(within: Mapping[int, tuple[str, ...]]) -> list[tuple[str, ...]]:
    """All frames around nodes, each by the names from the outside in."""
    ways = {*within.values()}
    return sorted({names[:depth] for names in ways for depth in range(1, len(names) + 1)})


def group(names: tuple[str, ...]) -> Digraph:
    """The frame of a layer or a neuron."""
    from graphviz import Digraph

    text = quoted(shown(names[-1], TITLE))
    return Digraph(
        quoted("cluster_in_" + "/".join(names)), graph_attr={**look.CLUSTER, "label": text}
    )


def cluster(graph: Graph, at: int) -> Digraph:
    """The frame of an opened call, and its text."""
    from graphviz import Digraph

    text = shown(graph.calls[at].label, TITLE)
    return Digraph(f"cluster_{at}", graph_attr={**look.CLUSTER, "label": quoted(text)})


def clusters_of(
    run: Run, frames: Mapping[int, tuple[int, int]], picture: Digraph
) -> dict[int, Digraph]:
    """The frames that are needed, by call, and the picture around them."""
    found = {OUTSIDE: picture}
    for at in dict.fromkeys(run.opened.values()):
        while (at := frames[at][1]) not in found:
            found[at] = cluster(run.graph, at)
            at = run.graph.calls[at].parent
    return found


def frames_of(graph: Graph) -> dict[int, tuple[int, int]]:
    """By call, how many frames are around what is in it, and the innermost of them."""
    found = {OUTSIDE: (0, OUTSIDE)}
    for start in range(len(graph.calls)):
        way = []
        at = start
        while at not in found:
            way.append(at)
            at = graph.calls[at].parent
        for each in reversed(way):
            count, frame = found[graph.calls[each].parent]
            is_frame = graph.calls[each].opened and count < DEEPEST
            found[each] = (count + 1, each) if is_frame else (count, frame)
    return found


def in_full(run: Run, node: int) -> str:
    """What a node is, in one line."""
    return title(run, node) + shape_text(run.graph.shape(node), ", of shape {}", "")
