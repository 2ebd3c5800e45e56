"""The picture as DOT, and what Graphviz makes of it: a card for each operation, a pill for each input, a
chip on each edge.

A graph wider than a page is drawn in rows.  DOT becomes SVG, PNG and PDF by whichever Graphviz there
is.  ``dot`` on the PATH comes first; else the Graphviz inside pygraphviz's wheel, in a process of its own:
the library is not safe to use from two threads, and it lets fontconfig write to its process's standard
error.

An SVG gets a name, colours for dark pages, and texts that stay in place in any font: Graphviz measures
texts in the fonts of the machine that it runs on, and the picture is looked at on another.  So a number is
tied to the right end of its card's hairline, a chip's lines to its middle.  Coordinates are read from
Graphviz's output, in which all user text is escaped.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, NamedTuple

from exprgrad.errors import MissingExtraError, RequestError, command_or_python, install_command
from exprgrad.graph.graph import CONST, OUTSIDE, Graph
from exprgrad.language.write.infix import program_text
from exprgrad.run.evaluation import SweptRun
from exprgrad.show.picture import theme as look
from exprgrad.show.picture.cards import (
    Alarm,
    Card,
    DrawingOptions,
    Wire,
    card_operation_text,
    card_text,
    card_width,
    chip_table,
    make_card,
    node_label,
    node_tooltip,
    operand_wires,
    quote_attribute,
    wire_tag,
)

if TYPE_CHECKING:
    from graphviz import Digraph

__all__ = [
    "LARGEST", "MOST_FRAMES", "PAGE", "PictureRows", "Sheet", "dot_source", "draw_sheet", "finish_svg",
    "graphviz_command", "render_dot", "run_graphviz", "single_row", "split_into_rows", "width_warning",
]  # fmt: skip

LARGEST = 500
"""The most nodes that are drawn without being asked twice."""

MOST_FRAMES = 12
"""The most frames around a node."""
TITLE, FRAME = 200, 60
"""The most characters shown of a whole expression, and above a frame."""


class Sheet(NamedTuple):
    """The DOT source of a picture, and a remark if it is wider than a page."""

    source: str
    remark: str


class PicturePlan(NamedTuple):
    """The picture of a run, before it is written.

    ``cards``, ``wires``  by node: its own, and those to it
    ``alarms``            what is wrong at some of them
    ``frames``            by call, how many frames there are around it and the innermost
    ``rows``              where each node stands
    ``tags``              by node that a later row uses: the number that leads there
    """

    run: SweptRun
    manner: DrawingOptions
    cards: Mapping[int, Card]
    wires: Mapping[int, list[Wire]]
    alarms: Mapping[int, Alarm]
    frames: Mapping[int, tuple[int, int]]
    rows: PictureRows
    tags: Mapping[int, int]


def dot_source(graph: Graph, run: SweptRun | None = None, **options: Any) -> str:
    """The DOT source of a graph; the options are those of ``draw_sheet``."""
    return draw_sheet(graph, run, **options).source


def draw_sheet(
    graph: Graph,
    run: SweptRun | None = None,
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
    from the outside in; ``alarms`` say what is wrong at nodes.  ``DrawingOptions`` holds the other choices;
    with ``room`` wires have an id, ``w5_0`` for position 0 of node 5.  Raises ``RequestError`` above
    ``LARGEST`` nodes unless ``all`` is true, and for what cannot be drawn.
    """
    found = SweptRun("", graph, {}, []) if run is None else run
    how = DrawingOptions(digits, room, direction, gates, contributions)
    require_drawable(found, how, all=all)
    from graphviz import Digraph

    plan = plan_picture(found, how, alarms or {}, wrap=wrap)
    name = (text or found.text) if graph.calls else program_text(graph)
    count = plan.rows.total
    settings = {**look.GRAPH, "rankdir": how.direction}
    if count > 1:  # inside frames Graphviz turns an order round; the ports keep it
        del settings["ordering"]
    fonts = {"graph_attr": settings, "node_attr": look.NODE, "edge_attr": look.EDGE}
    picture = Digraph(quote_attribute(card_text(name, TITLE)), **fonts)
    rows: list[list[int]] = [[] for _ in range(count)]
    for node in found.shown:
        rows[plan.rows.row.get(node, 0)].append(node)
    if count == 1:
        draw_row(plan, 0, rows.pop(), picture, within or {})
    for row in reversed(range(len(rows))):  # Graphviz stacks them from the bottom
        strip = graphviz_frame(f"cluster_row{row}", f"row {row + 1} of {count}")
        draw_row(plan, row, rows[row], strip, {})
        picture.subgraph(strip)
    return Sheet(str(picture.source), width_warning(plan.rows, across=how.is_across, wrap=wrap))


def require_drawable(run: SweptRun, manner: DrawingOptions, *, all: bool) -> None:
    """Raise ``RequestError`` for a picture that cannot be drawn, or, unless ``all``, not be read."""
    if len(run.shown) > LARGEST and not all:
        raise RequestError(
            "too-large",
            f"a picture of {len(run.shown):,} nodes is too large to read: the limit is {LARGEST}",
            help=command_or_python("--all", "all=True") + " draws it anyway",
        )
    if manner.direction not in look.DIRECTIONS:
        raise RequestError(
            "usage",
            f"'{manner.direction}' is not a direction",
            help=f"it is one of {', '.join(look.DIRECTIONS)}",
        )
    if manner.contributions and run.adjoints is None:
        raise RequestError(
            "no-gradient",
            "without a gradient there are no contributions to draw",
            help="give all inputs values; the output has to be a number",
        )


def plan_picture(
    run: SweptRun, manner: DrawingOptions, alarms: Mapping[int, Alarm], *, wrap: bool
) -> PicturePlan:
    """The cards, the chips, and the rows in which they stand."""
    cards = {
        node: make_card(run, node, manner, alarms[node].lines if node in alarms else ())
        for node in run.shown
    }
    waiting = {*run.order} if manner.room else ()
    drawn = {user: [*operand_wires(run, user, manner, all=user in waiting)] for user in run.shown}
    frames = frames_by_call(run.graph) if run.opened else {OUTSIDE: (0, OUTSIDE)}
    plan = PicturePlan(run, manner, cards, drawn, alarms, frames, PictureRows({}, 1, 0.0), {})
    if manner.room:  # on the page one moves about in the graph
        return plan
    widths = {node: card_width(run, node, card) for node, card in cards.items()}
    chips = {
        user: [chip.width for chip, _ in theirs if chip is not None]
        for user, theirs in drawn.items()
    }
    if not manner.is_across:
        return plan._replace(rows=single_row(run, widths, chips))
    rows = split_into_rows(run, widths, chips, wrap=wrap)
    tags: dict[int, int] = {}
    for user in run.shown:
        for operand in run.operands(user):
            if rows.row[operand] != rows.row[user] and run.graph.kinds[operand] != CONST:
                tags.setdefault(operand, len(tags) + 1)
    return plan._replace(rows=rows, tags=tags)


def draw_row(
    plan: PicturePlan,
    row: int,
    nodes: Sequence[int],
    picture: Digraph,
    within: Mapping[int, tuple[str, ...]],
) -> None:
    """The nodes of a row and the wires to them, and tags where wires come from another or go on."""
    run, sides, frames = plan.run, plan.manner.sides, plan.frames
    clusters = clusters_by_call(
        run, nodes, frames, picture, f"_{row}" if plan.rows.total > 1 else ""
    )
    groups = {(): picture} | {
        names: graphviz_frame("cluster_in_" + "/".join(names), card_text(names[-1], TITLE))
        for names in sorted({way[:at] for way in within.values() for at in range(1, len(way) + 1)})
    }

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
            is_named = operand in run.names or not run.operands(operand)
            called = run.label(operand) if is_named else card_operation_text(run, operand)
            draw_tag(plan, operand, starts[operand], picture, called)
        else:
            draw_node(plan, operand, starts[operand], picture)
    for user in nodes:
        draw_wires(plan, user, starts, picture, place(user))
    for at in sorted(clusters.keys() - {OUTSIDE}, key=lambda at: (-frames[at][0], at)):
        clusters[frames[run.graph.calls[at].parent][1]].subgraph(clusters[at])
    for names in sorted(groups.keys() - {()}, key=len, reverse=True):
        groups[names[:-1]].subgraph(groups[names])


def draw_node(plan: PicturePlan, node: int, name: str, place: Digraph) -> None:
    """A node's card."""
    label = node_label(plan.run, node, plan.cards[node], plan.manner)
    told = plan.alarms[node].tooltip if node in plan.alarms else ""
    tooltip = quote_attribute(node_tooltip(plan.run, node, told, plan.manner))
    place.node(name, f"<{label}>", tooltip=tooltip)


def draw_tag(plan: PicturePlan, node: int, name: str, picture: Digraph, called: str) -> None:
    """A tag where a wire goes on in another row, or comes from one; there it says from what."""
    tooltip = quote_attribute(node_tooltip(plan.run, node, "", plan.manner))
    picture.node(name, f"<{wire_tag(plan.tags[node], called)}>", **look.CHIP_NODE, tooltip=tooltip)


def draw_wires(
    plan: PicturePlan, user: int, starts: Mapping[int, str], picture: Digraph, place: Digraph
) -> None:
    """The wires to a node from where they start, and their chips in its ``place``."""
    operands, sides, room = plan.run.operands(user), plan.manner.sides, plan.manner.room
    for position, (chip, flows) in enumerate(plan.wires[user]):
        start = f"{starts[operands[position]]}:{sides.leave}"
        port = f"s{position}:" * (len(operands) > 1)
        end = f"n{user}:{port}{sides.arrive}"
        manner = {} if flows else {**look.QUIET}
        if room:
            manner["id"] = f"w{user}_{position}"
        if chip is None:
            picture.edge(start, end, minlen="2", **manner)
        else:
            # A node, not an edge's label: Graphviz puts labels beside the wire, nodes on it.
            middle = f"n{user}_{position}"
            font = {} if room else look.CHIP_NODE  # no text on the page is small
            place.node(
                middle, f"<{chip_table(chip, room)}>", **font, tooltip=quote_attribute(chip.tooltip)
            )
            picture.edge(start, f"{middle}:{sides.arrive}", arrowhead="none", **manner)
            picture.edge(f"{middle}:{sides.leave}", end, **manner)


def graphviz_frame(name: str, text: str) -> Digraph:
    """A frame around nodes, and the text above it."""
    from graphviz import Digraph

    return Digraph(
        quote_attribute(name), graph_attr={**look.CLUSTER, "label": quote_attribute(text)}
    )


def clusters_by_call(
    run: SweptRun,
    nodes: Iterable[int],
    frames: Mapping[int, tuple[int, int]],
    picture: Digraph,
    suffix: str,
) -> dict[int, Digraph]:
    """The frames that some nodes need, by call, and the picture around them."""
    found = {OUTSIDE: picture}
    for at in dict.fromkeys(run.opened[node] for node in nodes if node in run.opened):
        while (at := frames[at][1]) not in found:
            text = card_text(run.graph.calls[at].label, FRAME)
            found[at] = graphviz_frame(f"cluster_{at}{suffix}", text)
            at = run.graph.calls[at].parent
    return found


def frames_by_call(graph: Graph) -> dict[int, tuple[int, int]]:
    """Map each call to the number of frames around its nodes, and the innermost frame."""
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


# Rows: where a picture that is wider than a page is cut.


PAGE = 1850
"""The greatest width in points: printed across a sheet of A4, its letters are 5 points high."""
BRANCH = 3
"""The most operations after each other that are never cut apart."""
TAG = 120.0
"""The width of a tag that says what comes from another row."""
CLOSER = 0.96
"""The factor tried next where rows are too long."""
GAP = 22
"""Between a card and a chip, and between two cards above each other."""


class PictureRows(NamedTuple):
    """The rows of a graph.

    ``row``    by node, which of them it stands in
    ``total``  how many there are
    ``width``  how wide the graph would be in one, in points
    """

    row: Mapping[int, int]
    total: int
    width: float


class Spot(NamedTuple):
    """A node's place in a graph that runs across: a column, and the steps before it."""

    column: int
    before: int


def split_into_rows(
    run: SweptRun, cards: Mapping[int, float], chips: Mapping[int, Sequence[float]], *, wrap: bool
) -> PictureRows:
    """The rows in which a graph that runs across fits a page, or the one row that it has without ``wrap``.

    ``cards`` are the widths of its nodes, ``chips`` of the chips on the wires to each.
    """
    spots = assign_spots(run)
    columns: list[dict[float, float]] = [
        {} for _ in range(1 + max((spot.column for spot in spots.values()), default=0))
    ]
    for node, (column, before) in spots.items():
        for at, width in ((-before, cards[node]), (-before - 0.5, max(chips[node], default=0.0))):
            columns[column][at] = max(columns[column].get(at, 0.0), width)
    starts = [0]
    whole = width = rows_width(columns, starts)
    room = float(PAGE)
    while wrap and width > PAGE and len(starts) < len(columns):
        starts = row_starts(columns, room)
        width = rows_width(columns, starts)
        room *= CLOSER
    while 1 < len(starts) < len(columns) and len(even := row_starts(columns, room)) == len(starts):
        starts = even  # as many rows, and the last is not much shorter than the others
        room *= CLOSER
    rows = {node: bisect_right(starts, spot.column) - 1 for node, spot in spots.items()}
    return PictureRows(rows, len(starts), whole)


def row_starts(columns: Sequence[Mapping[float, float]], room: float) -> list[int]:
    """The first column of each row, if a row takes as many columns as fit."""
    starts = [0]
    widest: dict[float, float] = {}
    for column, widths in enumerate(columns):
        added = dict(widest)
        extend_row(added, widths, column)
        if widest and sum(added.values()) + GAP * len(added) > room:
            starts.append(column)
            added = {column - 1: TAG}
            extend_row(added, widths, column)
        widest = added
    return starts


def extend_row(widest: dict[float, float], widths: Mapping[float, float], column: int) -> None:
    """Make room for the cards and chips of another column."""
    for at, width in widths.items():
        if width:
            widest[column + at] = max(widest.get(column + at, 0.0), width)


def rows_width(columns: Sequence[Mapping[float, float]], starts: Sequence[int]) -> float:
    """The width of a graph in points, in rows that begin with these columns; Graphviz aligns them."""
    total: dict[float, float] = {}
    for start, end in zip(starts, [*starts[1:], len(columns)], strict=True):
        widest: dict[float, float] = {start - 1: TAG} if start else {}
        for column in range(start, end):
            extend_row(widest, columns[column], column)
        left = min(widest)
        for at, width in widest.items():
            total[at - left] = max(total.get(at - left, 0.0), width)
    return sum(total.values()) + GAP * len(total)


def single_row(
    run: SweptRun, cards: Mapping[int, float], chips: Mapping[int, Sequence[float]]
) -> PictureRows:
    """The one row of a graph that runs down: as wide as cards, or chips, beside each other.

    ``chips`` are the widths of those on the wires to a node.
    """
    beside: dict[float, float] = {}
    for node, spot in assign_spots(run).items():
        level: float = spot.column - spot.before
        beside[level] = beside.get(level, 0.0) + cards[node] + GAP
        beside[level - 0.5] = beside.get(level - 0.5, 0.0) + sum(w + GAP for w in chips[node])
    return PictureRows(dict.fromkeys(cards, 0), 1, max(beside.values(), default=0.0))


def assign_spots(run: SweptRun) -> dict[int, Spot]:
    """By node, where it stands: operations in columns, as close to their users as they can be.

    What takes few operations, such as an input or the term ``tanh(x*w)`` of a sum, stands right before its
    first user, in its row.
    """
    depth: dict[int, int] = {}
    for node in run.shown:
        depth[node] = 1 + max((depth[operand] for operand in run.operands(node)), default=-1)
    found: dict[int, Spot] = {}
    for user in reversed(run.shown):
        spot = found.setdefault(user, Spot(max(depth[user] - BRANCH - 1, 0), 0))
        for operand in run.operands(user):
            is_branch = depth[operand] <= BRANCH
            near = Spot(spot.column - (not is_branch), spot.before + 1 if is_branch else 0)
            found[operand] = min(found.get(operand, near), near)
    return found


def width_warning(rows: PictureRows, *, across: bool, wrap: bool) -> str:
    """The warning about a graph that is wider than a page; empty for others."""
    if rows.width <= PAGE or (across and not wrap):
        return ""
    if across:
        down, one = (
            command_or_python("--direction TB", "direction='TB'"),
            command_or_python("--no-wrap", "wrap=False"),
        )
        if rows.total == 1:
            return f"the picture is wider than a page\n  help: {down} draws it from top to bottom"
        return (
            f"the picture would be wider than a page, so it is drawn in {rows.total} rows, linked by "
            f"numbered tags\n  help: {down} draws it from top to bottom, {one} in one row"
        )
    help = (
        command_or_python("--direction LR", "direction='LR'")
        + " draws it in rows as wide as a page"
    )
    return f"the picture is wider than a page\n  help: {help}"


# By Graphviz.


WINDOWS_CRASH = 0xC0000000
"""The least exit status on Windows that stands for a crash."""
DPI = "160"
"""Pixels per inch of a PNG: crisp on dense screens, and not huge."""

SHRUNK = re.compile(rb"too large for cairo-renderer bitmaps\. Scaling by ([\d.]+)")
"""The warning of Graphviz before it shrinks a PNG."""
PYGRAPHVIZ = """
import sys, pygraphviz
graph = pygraphviz.AGraph(string=sys.stdin.buffer.read().decode())
if sys.argv[1] == "png":
    graph.graph_attr["dpi"] = sys.argv[2]
graph.layout("dot")
sys.stdout.buffer.write(graph.draw(format=sys.argv[1]))
"""


def render_dot(source: str, format: str) -> bytes:
    """The picture of a DOT source as the bytes of an ``svg``, ``png`` or ``pdf`` file.

    Raises ``RequestError`` when Graphviz fails, and ``MissingExtraError`` when there is none.
    """
    made = run_graphviz(graphviz_command(format), source)
    return finish_svg(made.decode().replace("\r\n", "\n")).encode() if format == "svg" else made


def graphviz_command(format: str, what: str = "") -> list[str]:
    """The command that reads DOT and writes a picture; ``what`` says what needs it, if not the picture."""
    dot = shutil.which("dot")
    # Windows looks in the current folder first, and -P leaves it out: no file there may pass for Graphviz.
    if dot is not None and os.path.isabs(dot):  # noqa: PTH117
        return [dot, f"-T{format}", *([f"-Gdpi={DPI}"] if format == "png" else [])]
    if sys.executable and find_spec("pygraphviz") is not None:
        return [sys.executable, "-P", "-c", PYGRAPHVIZ, format, DPI]
    raise MissingExtraError(
        "missing-graphviz",
        what or f"a picture as {format} needs Graphviz",
        help=f"{install_command('pygraphviz')}, or install Graphviz so that 'dot' is on the PATH",
    )


def run_graphviz(arguments: list[str], source: str) -> bytes:
    """Runs ``dot`` and returns its output; its warnings, mostly about fonts, are dropped.

    A picture that it has to shrink would be illegible, and is refused.
    """
    try:
        done = subprocess.run(arguments, input=source.encode(), capture_output=True, check=False)
    except OSError as error:
        raise RequestError("graphviz-failed", f"Graphviz did not start: {error}") from error
    if done.returncode < 0 or done.returncode >= WINDOWS_CRASH:
        # Such as one node with 500 users: its wires are longer than Graphviz's own recursion can go.
        raise RequestError(
            "graphviz-failed",
            "Graphviz crashed: the graph is too large for it",
            help="draw a part of the formula",
        )
    if done.returncode != 0 or not done.stdout:
        said = done.stderr.decode(errors="replace").strip().splitlines() or ["it wrote nothing"]
        raise RequestError("graphviz-failed", f"Graphviz failed: {said[-1]}")
    if shrunk := SHRUNK.search(done.stderr):
        part = f"{100 * float(shrunk[1]):.0f} %"
        raise RequestError(
            "too-large",
            f"the picture is too large for a PNG, which would be shrunk to {part}",
            help="write .svg or .pdf, or draw a part of the formula",
        )
    return done.stdout


# What Graphviz's SVG lacks.

NODE = re.compile(r'<g id="node\d+" class="node">.*?</g>\n</g>', re.DOTALL)
NUMBER = re.compile(rf'text-anchor="start" x="[^"]*"(?=[^<>]* fill="(?:{look.DATA}|{look.GRAD})")')
HAIRLINE = re.compile(r'<polygon [^<>]*points="([^"]*)"')
CHIP = re.compile(r'text-anchor="start" x="[^"]*"')
TEXT_LINE = re.compile(r'<text [^<>]* y="([^"]*)"')
OUTLINE = re.compile(r'<path [^<>]*d="([^"]*)"')
INSET = 3
"""A number's distance from the end of the hairline: its cell's padding."""


def finish_svg(svg: str) -> str:
    """Graphviz's SVG, named after the graph, with a style block and texts tied to their places.

    The prolog goes, so that the picture can also stand inside an HTML page, and so do the titles of
    nodes and edges, which browsers would show as ``n0``; the tooltips stay.
    """
    svg = re.sub(r"<!--.*?-->\n?", "", svg[svg.index("<svg") :], flags=re.DOTALL)
    title = re.search(r"<title>.*?</title>", svg, flags=re.DOTALL)
    name = title.group() if title else "<title>computation graph</title>"
    svg = re.sub(r"<title>.*?</title>\n?", "", svg, flags=re.DOTALL)
    head, body = svg.removeprefix("<svg").split(">", 1)
    body = NODE.sub(lambda node: tie_numbers(node.group()), body)
    return f'<svg class="exprgrad" role="img"{head}>\n{name}\n{look.style_block()}{body}'


def tie_numbers(node: str) -> str:
    """A node's SVG with its numbers tied to the hairline's end, or its lines to the middle."""
    ends = [x for points in HAIRLINE.findall(node) for x in point_abscissas(points)]
    if ends:
        return NUMBER.sub(f'text-anchor="end" x="{max(ends) - INSET:.2f}"', node)
    sides = [x for points in OUTLINE.findall(node) for x in point_abscissas(points)]
    lines = TEXT_LINE.findall(node)
    if sides and len(set(lines)) == len(lines):
        return CHIP.sub(f'text-anchor="middle" x="{(min(sides) + max(sides)) / 2:.2f}"', node)
    return node


def point_abscissas(points: str) -> list[float]:
    """The x of every point of a polygon or a path."""
    return [float(x) for x in re.findall(r"(-?[\d.]+),-?[\d.]+", points)]
