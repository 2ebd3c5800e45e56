"""The picture for the page: what ``dot -o x.svg`` draws, written briefly and marked for the script.

Graphviz lays out and measures; its SVG is read as plain shapes and written again with classes instead
of colours, one outline for a box, and texts tied to places that do not depend on the font.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape
from math import ceil
from typing import NamedTuple
from xml.etree import ElementTree

from exprgrad.explain.diagnostics import DiagnosedRun
from exprgrad.graph.graph import CONST, INPUT
from exprgrad.show.page.model import places_by_node
from exprgrad.show.picture.cards import DrawingOptions, TextPiece, make_card, tensor_map_size
from exprgrad.show.picture.dot import dot_source, graphviz_command, run_graphviz

__all__ = ["FEWEST_FOLDED", "WORDS", "network_layers", "page_picture"]

FEWEST_FOLDED = 60
"""The fewest nodes of a graph whose layers are folded; a smaller one is seen at once."""
FEWEST_IN_NEURON = 3
"""The fewest nodes of a neuron."""
INDEX = re.compile(r"(.*?)[_\[,]?\d+\]?")
"""A name that ends in an index, with the part before it."""


def network_layers(run: DiagnosedRun) -> dict[int, tuple[str, ...]]:
    """The layer and the neuron of each node, from the outside in; empty if there are none.

    A neuron whose name has no index, or of which there is only one, is in no layer; nor are those that
    read each other, as in a chain.
    """
    graph = run.graph
    if len(run.shown) < FEWEST_FOLDED or graph.calls:
        return {}
    users: dict[int, set[int]] = {node: set() for node in run.shown}
    for user in run.shown:
        for operand in run.operands(user):
            users[operand].add(user)
    named = {
        binding.node: binding.name for binding in graph.bindings if graph.operands[binding.node]
    }
    owner: dict[int, int | None] = {}
    for node in reversed(run.shown):
        theirs = {owner[user] for user in users[node]}
        owner[node] = node if node in named else theirs.pop() if len(theirs) == 1 else None
    counts: dict[int, int] = {}
    for neuron in owner.values():
        if neuron is not None:
            counts[neuron] = counts.get(neuron, 0) + 1
    found = {n: named[n] for n, count in counts.items() if count >= FEWEST_IN_NEURON}
    stems = {name: match[1] for name in found.values() if (match := INDEX.fullmatch(name))}
    layer_of = {neuron: stems.get(name) for neuron, name in found.items()}
    chained = {
        layer_of[neuron]
        for node, neuron in owner.items()
        if neuron in layer_of
        for other in {owner[operand] for operand in run.operands(node)} - {neuron}
        if other in layer_of and layer_of[other] == layer_of[neuron]
    }
    several = {stem for stem, count in Counter(stems.values()).items() if count > 1} - chained
    return {
        node: (stems[name], name) if stems.get(name) in several else (name,)
        for node, neuron in owner.items()
        if (name := found.get(neuron, "") if neuron is not None else "")
    }


ROOM = 9
"""The number of digits that each card and chip has room for: the page's numbers change."""
MIDDLE = 3.5
"""The height of a number's middle above its baseline, in points."""
INSET = 3
"""A number's distance from the end of its hairline: its cell's padding."""
WORDS = (
    '<defs><g id="words"><text class="word">data</text>'
    '<text class="word" y="18">grad</text></g></defs>'
)
"""The words before the two numbers of each card, as far apart as Graphviz sets them."""
WORDS_BEGIN = TextPiece("word", "data")
"""The piece of a card at whose place the words stand."""
HEADING, READINGS = ("name", "plain", "const"), ("data", "grad")
"""The roles of the pieces in a card's heading, and of its numbers."""
GRAPHVIZ_NEEDED = "the page needs Graphviz, which lays its graph out"

SVG = "{http://www.w3.org/2000/svg}"
NODE = re.compile(r"n(\d+)")
CHIP = re.compile(r"n(\d+)_(\d+)")
WIRE = re.compile(r"w(\d+)_(\d+)")
FRAME = re.compile(r"cluster_(\d+)")
GROUP = "cluster_in_"
KINDS = {INPUT: "input", CONST: "const"}

Point = tuple[float, float]
Box = tuple[float, float, float, float]
"""Left, top, right, bottom."""


class PlacedText(NamedTuple):
    """A piece of text as Graphviz placed it."""

    x: float
    y: float
    content: str


class Shape(NamedTuple):
    """The drawing of a node or an edge by Graphviz.

    ``name``   what it is called in DOT: a node's name, a wire's id
    ``box``    the outline of a card or chip
    ``lines``  hairlines, as boxes
    ``curve``  the way of a wire, as an SVG path, and ``head`` its arrow's head
    """

    name: str
    texts: list[PlacedText]
    box: Box
    lines: list[Box]
    curve: str
    head: str


def page_picture(run: DiagnosedRun, digits: int) -> str:
    """The SVG of a run's graph.

    A node is a ``<g id="n3">``, a chip ``<g id="c5_0">`` for position 0 of node 5, a wire ``<g
    class="wire" data-edge="5_0">``; numbers have the classes ``data`` and ``grad``.  A node goes by its
    place among those that are seen; opened calls are frames.  Raises ``MissingExtraError`` without
    Graphviz.
    """
    within = network_layers(run)
    dot = dot_source(run.graph, run, digits=digits, all=True, room=ROOM, within=within)
    root = ElementTree.fromstring(run_graphviz(graphviz_command("svg", GRAPHVIZ_NEEDED), dot))
    width, height = (float(size) for size in root.attrib["viewBox"].split()[2:])
    nodes: dict[int, Shape] = {}
    chips: dict[tuple[int, int], Shape] = {}
    wires: dict[tuple[int, int], list[Shape]] = {}
    frames: dict[int, Shape] = {}
    groups: list[Shape] = []
    places = places_by_node(run)
    for shape in translate_shapes(root[0]):
        if place := WIRE.fullmatch(shape.name):
            wires.setdefault((int(place[1]), int(place[2])), []).append(shape)
        elif place := CHIP.fullmatch(shape.name):
            chips[int(place[1]), int(place[2])] = shape
        elif place := FRAME.fullmatch(shape.name):
            frames[int(place[1])] = shape
        elif shape.name.startswith(GROUP):
            groups.append(shape)
        elif place := NODE.fullmatch(shape.name):
            nodes[int(place[1])] = shape
    parts = [
        *(frame_svg(one, knobbed=not run.graph.shapes) for one in largest_first(frames.values())),
        *(frame_svg(one, knobbed=False) for one in largest_first(groups)),
        *(wire_svg((places[at[0]], at[1]), pieces) for at, pieces in sorted(wires.items())),
    ]
    look = DrawingOptions(digits, ROOM)
    for node, shape in sorted(nodes.items()):
        # In the order of reading: a node's chips after its operands and before the node.
        edges = [(node, position) for position in range(len(run.operands(node)))]
        parts += [chip_svg((places[node], edge[1]), chips[edge]) for edge in edges if edge in chips]
        pieces = make_card(run, node, look).pieces
        parts.append(card_svg(run, node, places[node], pieces, shape))
    parts += layer_cover_svgs(run, groups, within, places)
    head = (
        f'<svg id="graph" viewBox="0 0 {format_to_tenth(width)} {format_to_tenth(height)}" role="group" '
        f'aria-label="The graph" style="--w:{format_to_tenth(width)}px;--h:{format_to_tenth(height)}px">'
    )
    return "\n".join([head, WORDS, *parts, "</svg>"])


# Reading.


def translate_shapes(canvas: ElementTree.Element) -> Iterator[Shape]:
    """The nodes and edges, moved to where they are seen."""
    shift = re.search(r"translate\(([\d.-]+)[ ,]([\d.-]+)\)", canvas.attrib["transform"])
    # By whole points: most places are whole already, and stay short.
    right, down = map(round, map(float, shift.groups())) if shift else (0, 0)

    def places(coordinates: str) -> list[Point]:
        pairs = re.findall(r"(-?[\d.]+),(-?[\d.]+)", coordinates)
        return [(float(x) + right, float(y) + down) for x, y in pairs]

    for group in canvas.iterfind(f"{SVG}g"):
        texts = [
            PlacedText(
                float(text.attrib["x"]) + right,
                float(text.attrib["y"]) + down,
                text.text or "",
            )
            for text in group.iter(f"{SVG}text")
        ]
        paths = [places(path.attrib["d"]) for path in group.iter(f"{SVG}path")]
        polygons = [places(polygon.attrib["points"]) for polygon in group.iter(f"{SVG}polygon")]
        yield Shape(
            group.attrib["id"]
            if group.attrib["class"] == "edge"
            else group.findtext(f"{SVG}title", ""),
            texts,
            bounding_box(point for path in paths for point in path),
            [bounding_box(polygon) for polygon in polygons],
            "".join(path_steps("c", path) for path in paths),
            "".join(f"{path_steps('l', polygon[:-1])}z" for polygon in polygons),
        )


def bounding_box(points: Iterable[Point]) -> Box:
    """The box around some points."""
    across, down = zip(*points, strict=True)
    return min(across), min(down), max(across), max(down)


def path_steps(command: str, points: Sequence[Point]) -> str:
    """A path through points, written as steps: of lines for ``l``, of a spline's curves for ``c``.

    A level curve is one line.
    """
    if command == "c" and {y for _, y in points} == {points[0][1]}:
        return f"M{point_svg(points[0])}h{format_to_tenth(points[-1][0] - points[0][0])}"
    every = {"l": 1, "c": 3}[command]
    scaled = [(round(10 * x), round(10 * y)) for x, y in points]
    steps = []
    for at, (x, y) in enumerate(scaled[1:]):
        left, top = scaled[at - at % every]
        steps.append(point_svg(((x - left) / 10, (y - top) / 10)))
    return (
        f"M{point_svg(points[0])}{command}{' '.join(steps).replace(' -', '-').replace(',-', '-')}"
    )


# Writing.


def wire_svg(edge: tuple[int, int], pieces: Sequence[Shape]) -> str:
    """A wire: its way to the chip and on, and its head; without a chip it passes nothing."""
    way = "".join(piece.curve for piece in pieces)
    head = "".join(piece.head for piece in pieces)
    name = "wire still" if len(pieces) == 1 else "wire"
    paths = f'<path d="{way}"/><path d="{head}"/>'
    return f'<g class="{name}" data-edge="{edge[0]}_{edge[1]}">{paths}</g>'


def largest_first(shapes: Iterable[Shape]) -> list[Shape]:
    """Shapes by the area of their outlines: what is within others comes after them."""
    return sorted(shapes, key=lambda shape: -outline_area(shape.box))


def outline_area(box: Box) -> float:
    """The area of an outline: a frame's is larger than that of any in it."""
    left, top, right, bottom = box
    return (right - left) * (bottom - top)


def frame_svg(shape: Shape, *, knobbed: bool = True) -> str:
    """A frame: of an opened call, with its text behind a knob that closes it, or of a layer or neuron."""
    (text,) = shape.texts
    left, top, *_ = shape.box
    closing, start = (knob_svg(left + 13, top + 12, "−"), left + 24) if knobbed else ("", left + 8)
    said = f'<text x="{format_to_tenth(start)}" y="{round(text.y)}">{escape(text.content)}</text>'
    return f'<g class="frame">{rectangle_path(shape.box)}{closing}{said}</g>'


def layer_cover_svgs(
    run: DiagnosedRun,
    groups: Iterable[Shape],
    within: Mapping[int, tuple[str, ...]],
    places: Mapping[int, int],
) -> Iterator[str]:
    """Layers and neurons as seen from afar: cards over them, layers above neurons.

    A neuron's has the place of its node, whose numbers the script writes onto it.
    """
    results = {within[b.node][-1]: b.node for b in run.graph.bindings if b.node in within}
    for shape in sorted(groups, key=lambda shape: outline_area(shape.box)):
        *_, name = names = shape.name.removeprefix(GROUP).split("/")
        own = [way for way in within.values() if way[: len(names)] == tuple(names)]
        inner = {way[len(names)] for way in own if len(way) > len(names)}
        kind, parts = ("layer", inner) if inner else ("neuron", own)
        count = f"{len(parts)} {'neuron' if inner else 'node'}{'s' * (len(parts) != 1)}"
        place = "" if inner else f' data-result="{places[results[name]]}"'
        said = f"<text>{escape(name)}</text><text>{count}</text><text></text><text></text>"
        yield f'<g class="cover {kind}"{place}>{rectangle_path(shape.box)}{said}</g>'


def knob_svg(x: float, y: float, sign: str) -> str:
    """A knob that opens or closes a call by a click."""
    place = f'cx="{format_to_tenth(x)}" cy="{format_to_tenth(y)}"'
    sign = f'<text x="{format_to_tenth(x)}" y="{format_to_tenth(y + 3.5)}">{sign}</text>'
    return f'<g class="knob"><circle {place} r="7"/>{sign}</g>'


def chip_svg(edge: tuple[int, int], shape: Shape) -> str:
    """A chip, its text in the middle; the notes below it come first."""
    left, _, right, _ = shape.box
    text, *notes = shape.texts
    x = format_to_tenth((left + right) / 2)
    said = "".join(
        [f'<text class="word" x="{x}" y="{round(n.y)}">{escape(n.content)}</text>' for n in notes]
        + [f'<text x="{x}" y="{round(text.y)}">{escape(text.content)}</text>']
    )
    return f'<g id="c{edge[0]}_{edge[1]}" class="chip">{rectangle_path(shape.box)}{said}</g>'


def card_svg(
    run: DiagnosedRun, node: int, place: int, pieces: Sequence[TextPiece], shape: Shape
) -> str:
    """A card or pill: its hairline, its heading, and numbers that end where the hairline does."""
    kind = "call" if node in run.closed else KINDS.get(run.graph.kinds[node], "")
    tensor, middle = run.graph.shape(node), (shape.box[0] + shape.box[2]) / 2
    parts, end = [rectangle_path(shape.box)], 0.0
    if kind == "call":
        left, top, right, bottom = shape.box
        parts.append(rectangle_path((left + 3, top + 3, right - 3, bottom - 3)))
        parts.append(knob_svg(right - 4, top + 4, "+"))
    texts = list(zip(pieces, shape.texts, strict=True))  # Graphviz keeps the order of a label
    heading = [(piece.role, text) for piece, text in texts if piece.role in HEADING]
    if heading:
        # One text, so that what a name is comes right after it, whatever the font.
        said = "".join(
            f"<tspan>{escape(text.content)}</tspan>" if role == "name" else escape(text.content)
            for role, text in heading
        )
        first = heading[0][1]
        place_x, mid = (first.x, "") if kind == "input" else (middle, 'class="mid" ')
        at = f'{mid}x="{format_to_tenth(place_x)}" y="{round(first.y)}"'
        parts.append(f"<text {at}>{said}</text>")
    if shape.lines:
        lefts, tops, rights, _ = zip(*shape.lines, strict=True)
        end = max(rights)
        parts.append(f'<path d="M{point_svg((min(lefts), tops[0]))}H{format_to_tenth(end)}"/>')
    for piece, text in texts:
        content, x = escape(text.content), format_to_tenth(text.x)
        low = ceil(text.y)  # on the line of the number beside a word
        if piece.role in ("mark", "note"):
            is_beside = kind == "input" and piece.role == "note"  # below the name
            role = f"word{' mid' * (not is_beside)}{' note' * (piece.role == 'note')}"
            at = x if is_beside else format_to_tenth(middle)
            parts.append(f'<text class="{role}" x="{at}" y="{low}">{content}</text>')
        elif piece.role == "word" and tensor:
            parts.append(f'<text class="word" x="{x}" y="{low}">{content}</text>')
        elif piece == WORDS_BEGIN:
            parts.append(f'<use href="#words" x="{x}" y="{low}"/>')
        elif piece.role in READINGS:
            at = f'x="{format_to_tenth(end - INSET)}" y="{round(text.y)}"'
            parts.append(f'<text class="{piece.role}" {at}>{content}</text>')
            if tensor:
                rows, columns, side = tensor_map_size(tensor)  # the script draws the numbers
                corner = end - INSET - columns * side, text.y - MIDDLE - rows * side / 2
                at = f"translate({point_svg(corner)})"
                parts.append(f'<g class="map" transform="{at}" data-side="{side:.3g}"/>')
    classes = " ".join(filter(None, ["node", kind, "output" if node == run.graph.output else ""]))
    return f'<g id="n{place}" class="{classes}">{"".join(parts)}</g>'


def rectangle_path(box: Box) -> str:
    """An outline."""
    left, top, right, bottom = box
    size = f'width="{format_to_tenth(right - left)}" height="{format_to_tenth(bottom - top)}"'
    return f'<rect x="{format_to_tenth(left)}" y="{format_to_tenth(top)}" {size}/>'


def point_svg(point: Point) -> str:
    """A point, as short as it can be."""
    return f"{format_to_tenth(point[0])},{format_to_tenth(point[1])}"


def format_to_tenth(length: float) -> str:
    """A length to a tenth of a point."""
    return f"{length:.1f}".removesuffix(".0")
