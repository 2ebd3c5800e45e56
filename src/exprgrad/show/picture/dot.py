"""The picture as DOT: a card for each operation, a pill for each input, a chip on each edge.

Nothing is rendered here; ``draw.render`` does that.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from exprgrad.errors import RequestError, advice
from exprgrad.graph.graph import CONST, OUTSIDE, Graph
from exprgrad.language.write.infix import program
from exprgrad.run.evaluation import Run
from exprgrad.show.picture import theme as look
from exprgrad.show.picture.alarms import Alarm
from exprgrad.show.picture.cards import (
    Card,
    Manner,
    card_of,
    card_width,
    node_label,
    node_tooltip,
    operation,
    slot,
    tag,
)
from exprgrad.show.picture.edge_labels import Wire, boxed, chip_width, wires
from exprgrad.show.picture.markup import quoted, shown
from exprgrad.show.picture.rows import Rows, breadth, remark, rows_of

if TYPE_CHECKING:
    from graphviz import Digraph

__all__ = ["LARGEST", "MOST_FRAMES", "Sheet", "sheet", "source"]

LARGEST = 500
"""The most nodes that are drawn without being asked twice."""

MOST_FRAMES = 12
"""The most frames around a node."""
TITLE, FRAME = 200, 60
"""The most characters shown of a whole expression, and above a frame."""


class Sheet(NamedTuple):
    """The DOT source of a picture, and what to say of one that is wider than a page."""

    source: str
    remark: str


class Plan(NamedTuple):
    """What is drawn of a run, before it is written.

    ``cards``, ``wires``  by node: its own, and those to it
    ``alarms``            what is wrong at some of them
    ``frames``            by call, how many frames there are around it and the innermost
    ``rows``              where each node stands
    ``tags``              by node that a later row uses: the number that leads there
    """

    run: Run
    manner: Manner
    cards: Mapping[int, Card]
    wires: Mapping[int, list[Wire]]
    alarms: Mapping[int, Alarm]
    frames: Mapping[int, tuple[int, int]]
    rows: Rows
    tags: Mapping[int, int]


def source(graph: Graph, run: Run | None = None, **options: Any) -> str:
    """The DOT source of a graph; the options are those of ``sheet``."""
    return sheet(graph, run, **options).source


def sheet(
    graph: Graph,
    run: Run | None = None,
    *,
    all: bool = False,
    wrap: bool = True,
    text: str = "",
    within: Mapping[int, tuple[str, ...]] | None = None,
    alarms: Mapping[int, Alarm] | None = None,
    digits: int = 6,
    room: int = 0,
    direction: str = "LR",
    gates: bool = False,
    contributions: bool = False,
) -> Sheet:
    """The picture of a graph: of the formula alone, or with what a run found.

    A graph that would be wider than a page is cut into rows, unless ``wrap`` is false.  ``text`` is what
    was typed, which names the picture where there are calls.  ``within`` are names of frames around nodes,
    from the outside in; ``alarms`` say of nodes what is wrong there.  The rest is told with ``Manner``;
    with ``room`` wires have an id, ``w5_0`` for position 0 of node 5.  Raises ``RequestError`` above
    ``LARGEST`` nodes unless ``all`` is true, and for what cannot be drawn.
    """
    found = Run("", graph, {}, []) if run is None else run
    if not all:
        require_readable(len(found.shown))
    how = Manner(digits, room, direction, gates, contributions)
    require_drawable(found, how)
    from graphviz import Digraph

    plan = planned(found, how, alarms or {}, wrap=wrap)
    name = (text or found.text) if graph.calls else program(graph)
    count = plan.rows.total
    settings = {**look.GRAPH, "rankdir": how.direction}
    if count > 1:  # inside frames Graphviz turns an order round; the ports keep it
        del settings["ordering"]
    fonts = {"graph_attr": settings, "node_attr": look.NODE, "edge_attr": look.EDGE}
    picture = Digraph(quoted(shown(name, TITLE)), **fonts)
    rows: list[list[int]] = [[] for _ in range(count)]
    for node in found.shown:
        rows[plan.rows.row.get(node, 0)].append(node)
    if count == 1:
        draw_row(plan, 0, rows.pop(), picture, within or {})
    for row in reversed(range(len(rows))):  # Graphviz stacks them from the bottom
        frame = {**look.CLUSTER, "label": f"row {row + 1} of {count}"}
        strip = Digraph(f"cluster_row{row}", graph_attr=frame)
        draw_row(plan, row, rows[row], strip, {})
        picture.subgraph(strip)
    return Sheet(str(picture.source), remark(plan.rows, across=how.is_across, wrap=wrap))


def require_drawable(run: Run, manner: Manner) -> None:
    """Raise ``RequestError`` for a picture that cannot be drawn."""
    if manner.direction not in look.DIRECTIONS:
        message = f"'{manner.direction}' is no direction"
        raise RequestError("usage", message, help=f"it is one of {', '.join(look.DIRECTIONS)}")
    if manner.contributions and run.adjoints is None:
        message = "without a gradient there are no contributions to draw"
        help = "give all inputs values; the output has to be a number"
        raise RequestError("no-gradient", message, help=help)


def planned(run: Run, manner: Manner, alarms: Mapping[int, Alarm], *, wrap: bool) -> Plan:
    """The cards, the chips, and the rows in which they stand."""
    cards = {
        node: card_of(run, node, manner, alarms[node].lines if node in alarms else ())
        for node in run.shown
    }
    waiting = {*run.order} if manner.room else ()
    drawn = {user: [*wires(run, user, manner, all=user in waiting)] for user in run.shown}
    frames = frames_of(run.graph) if run.opened else {OUTSIDE: (0, OUTSIDE)}
    plan = Plan(run, manner, cards, drawn, alarms, frames, Rows({}, 1, 0.0), {})
    if manner.room:  # on the page one moves about in the graph
        return plan
    widths = {node: card_width(run, node, card) for node, card in cards.items()}
    chips = {
        user: [chip_width(chip) for chip, _ in theirs if chip is not None]
        for user, theirs in drawn.items()
    }
    if not manner.is_across:
        return plan._replace(rows=breadth(run, widths, chips))
    rows = rows_of(run, widths, chips, wrap=wrap)
    tags: dict[int, int] = {}
    for user in run.shown:
        for operand in run.operands(user):
            if rows.row[operand] != rows.row[user] and run.graph.kinds[operand] != CONST:
                tags.setdefault(operand, len(tags) + 1)
    return plan._replace(rows=rows, tags=tags)


def draw_row(
    plan: Plan,
    row: int,
    nodes: Sequence[int],
    picture: Digraph,
    within: Mapping[int, tuple[str, ...]],
) -> None:
    """The nodes of a row and the wires to them, and tags where wires come from another or go on."""
    run, sides, frames = plan.run, plan.manner.sides, plan.frames
    clusters = clusters_of(run, nodes, frames, picture, f"_{row}" if plan.rows.total > 1 else "")
    groups = {(): picture} | {names: group(names) for names in nested(within)}

    def place(node: int) -> Digraph:
        if within:
            return groups[within.get(node, ())]
        return clusters[frames[run.opened.get(node, OUTSIDE)][1]]

    for node in nodes:
        draw_node(plan, node, f"n{node}", place(node))
        if node in plan.tags:
            draw_tag(plan, node, f"o{node}", picture, "")
            picture.edge(f"n{node}:{sides.leave}", f"o{node}:{sides.arrive}", arrowhead="none")
    starts = {node: f"n{node}" for node in nodes}
    for operand in sorted({o for n in nodes for o in run.operands(n)} - starts.keys()):
        starts[operand] = f"i{row}_{operand}"
        if operand in plan.tags:
            draw_tag(plan, operand, starts[operand], picture, tag_text(run, operand))
        else:
            draw_node(plan, operand, starts[operand], picture)
    for user in nodes:
        draw_wires(plan, user, starts, picture, place(user))
    for at in sorted(clusters.keys() - {OUTSIDE}, key=lambda at: (-frames[at][0], at)):
        clusters[frames[run.graph.calls[at].parent][1]].subgraph(clusters[at])
    for names in sorted(groups.keys() - {()}, key=len, reverse=True):
        groups[names[:-1]].subgraph(groups[names])


def draw_node(plan: Plan, node: int, name: str, place: Digraph) -> None:
    """A node's card."""
    label = node_label(plan.run, node, plan.cards[node], plan.manner)
    told = plan.alarms[node].tooltip if node in plan.alarms else ""
    tooltip = quoted(node_tooltip(plan.run, node, told, plan.manner))
    place.node(name, f"<{label}>", tooltip=tooltip)


def tag_text(run: Run, node: int) -> str:
    """What a node is called on a tag, as on its card: by its name, or by what it does."""
    is_named = node in run.names or not run.operands(node)
    return run.label(node) if is_named else operation(run, node)


def draw_tag(plan: Plan, node: int, name: str, picture: Digraph, called: str) -> None:
    """A tag where a wire goes on in another row, or comes from one; there it says from what."""
    tooltip = quoted(node_tooltip(plan.run, node, "", plan.manner))
    picture.node(name, f"<{tag(plan.tags[node], called)}>", **look.CHIP_NODE, tooltip=tooltip)


def require_readable(nodes: int) -> None:
    """Raise ``RequestError`` for a picture of more nodes than can be read."""
    if nodes > LARGEST:
        raise RequestError(
            "too-large",
            f"a picture of {nodes:,} nodes is too large to read: the limit is {LARGEST}",
            help=advice("--all", "all=True") + " draws it anyway",
        )


def draw_wires(
    plan: Plan, user: int, starts: Mapping[int, str], picture: Digraph, place: Digraph
) -> None:
    """The wires to a node from where they start, and their chips in its ``place``."""
    operands, sides, room = plan.run.operands(user), plan.manner.sides, plan.manner.room
    for position, (chip, flows) in enumerate(plan.wires[user]):
        start = f"{starts[operands[position]]}:{sides.leave}"
        end = f"n{user}:{slot(len(operands), position, plan.manner)}"
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
            picture.edge(start, f"{middle}:{sides.arrive}", arrowhead="none", **manner)
            picture.edge(f"{middle}:{sides.leave}", end, **manner)


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


def cluster(graph: Graph, at: int, suffix: str) -> Digraph:
    """The frame of an opened call, and its text."""
    from graphviz import Digraph

    text = shown(graph.calls[at].label, FRAME)
    return Digraph(f"cluster_{at}{suffix}", graph_attr={**look.CLUSTER, "label": quoted(text)})


def clusters_of(
    run: Run,
    nodes: Iterable[int],
    frames: Mapping[int, tuple[int, int]],
    picture: Digraph,
    suffix: str,
) -> dict[int, Digraph]:
    """The frames that some nodes need, by call, and the picture around them."""
    found = {OUTSIDE: picture}
    for at in dict.fromkeys(run.opened[node] for node in nodes if node in run.opened):
        while (at := frames[at][1]) not in found:
            found[at] = cluster(run.graph, at, suffix)
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
            is_frame = graph.calls[each].opened and count < MOST_FRAMES
            found[each] = (count + 1, each) if is_frame else (count, frame)
    return found
