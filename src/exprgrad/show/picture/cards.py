"""Labels of nodes and edges: cards of operations, pills of inputs, boxes of constants, chips on edges.

A card is plain data, pieces of text and what each of them is: Graphviz's label is made of it, and so the
page knows which of the texts that Graphviz placed is which.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import copy
from functools import partial
from html import escape
from itertools import chain
from math import ceil
from typing import TYPE_CHECKING, Any, NamedTuple

from exprgrad.graph.graph import CONST, INPUT, Shape, shape_size
from exprgrad.graph.op import GATES
from exprgrad.graph.ops import BY_NAME
from exprgrad.graph.structural import shape_text
from exprgrad.language.write.infix import ATOM, operand_label, operation_text
from exprgrad.run.evaluation import Diagnostic, SweptRun
from exprgrad.show.documents.runs import jacobian_bytes
from exprgrad.show.picture import theme as look
from exprgrad.show.text.lines import PICTURED, left_to_right, signed_number, true_minus, value_text
from exprgrad.show.text.nodes import call_kind, gate_of_kind, is_zero_derivative, named_node_text
from exprgrad.source import bytes_text, cut_text, display_width, printable_text

if TYPE_CHECKING:
    from exprgrad.explain.diagnostics import DiagnosedRun as Explained
    from exprgrad.graph.calls import ClosedCall

__all__ = [
    "NAME", "Alarm", "Card", "Chip", "DrawingOptions", "TextPiece", "Wire", "call_size_text",
    "card_operation_text", "card_text", "card_width", "chip_table", "label_table", "label_text",
    "make_card", "node_alarms", "node_label", "node_tooltip", "operand_wires", "quote_attribute",
    "table_cell", "table_row", "tensor_map_size", "typeset_text", "wire_tag",
]  # fmt: skip

NAME = 40
"""The most characters of a name on one line."""

RULER = "<HR/>"
"""A hairline between two rows, in the colour of the table."""


WORD_JOINER = "\u2060"


def card_text(text: str, limit: int) -> str:
    """A user's text on one line, cut to ``limit`` characters, with true minus signs.

    A mark keeps Graphviz from reading a backslash and a letter as one of its abbreviations.
    """
    return left_to_right(
        true_minus(cut_text(printable_text(text), limit).replace("\\", "\\" + WORD_JOINER))
    )


def abridge_name(name: str, limit: int) -> str:
    """A name with its beginning and its end, where long names differ."""
    end = limit // 3
    return name if len(name) <= limit else f"{name[: limit - end - 1]}…{name[len(name) - end :]}"


def quote_attribute(text: str) -> str:
    """A text as an attribute's value, safe from DOT's backslashes and character entities."""
    return escape(text, quote=False).replace("\\", "\\\\")


def label_text(content: str, *, colour: str = "", size: str = "", bold: bool = False) -> str:
    """A piece of text in a label."""
    inner = escape(content).replace("\\", "&#92;").replace("  ", " &#160;")
    attributes = tag_attribute("COLOR", colour) + tag_attribute("POINT-SIZE", size)
    inner = f"<B>{inner}</B>" if bold else inner
    return f"<FONT{attributes}>{inner}</FONT>" if attributes else inner


def tag_attribute(name: str, value: str) -> str:
    """An attribute of a tag, or nothing."""
    return f' {name}="{value}"' if value else ""


def table_cell(content: str, **attributes: str) -> str:
    """A table's cell; an attribute's keyword is its name in lower case."""
    return (
        f"<TD{''.join(tag_attribute(k.upper(), v) for k, v in attributes.items())}>{content}</TD>"
    )


def table_row(*cells: str) -> str:
    """A table's row."""
    return f"<TR>{''.join(cells)}</TR>"


def label_table(*rows: str, **attributes: str) -> str:
    """A table without borders or gaps of its own, unless the attributes say otherwise."""
    settings = {
        "border": "0",
        "cellborder": "0",
        "cellspacing": "0",
        "cellpadding": "0",
    } | attributes
    given = "".join(tag_attribute(name.upper(), value) for name, value in settings.items())
    return f"<TABLE{given}>{''.join(rows)}</TABLE>"


NO_BREAK = "\u00a0"
"""A blank that browsers keep at the beginning of a text."""
PADDING = 3
"""The padding around data and grad."""
BOLD = 1.1
"""The width of bold letters over that of others."""
TOOLTIP, TAGGED = 200, 24
"""The most characters of a tooltip, and of what a wire comes from."""
ON_LINE, WHOLE_NAME = 40, 120
"""The most characters on a line of a heading, and of a name in several lines."""
OPERATION, OPERAND = 34, 10
"""The most characters shown of an operation, and of an operand that has no name in a
long operation."""
MAP_SIDE, MAP_WIDTH, MAP_HEIGHT = 16.0, 112.0, 96.0
"""The most points of a number's side in a tensor's map, and of the map's width and height."""


class DrawingOptions(NamedTuple):
    """Options of a drawing.

    ``digits``         the significant digits shown
    ``room``           the least number of digits that there is room for, where numbers will be replaced
    ``direction``      the way it runs, a key of ``DIRECTIONS``
    ``gates``          whether a card says what its operation does with its grad
    ``contributions``  whether a chip says what its edge added to a grad
    """

    digits: int = 6
    room: int = 0
    direction: str = "LR"
    gates: bool = False
    contributions: bool = False

    @property
    def sides(self) -> look.Direction:
        """The sides where wires leave and arrive."""
        return look.DIRECTIONS[self.direction]

    @property
    def is_across(self) -> bool:
        """Whether the picture runs from side to side."""
        return self.direction in ("LR", "RL")


class TextPiece(NamedTuple):
    """A piece of text and its role, a key of ``STYLES``."""

    role: str
    text: str


class Card(NamedTuple):
    """The text on a node, from top to bottom.

    ``mark``      the pieces above all else, if any, each on a line of its own
    ``heading``   its name, what it does, or both, by lines
    ``note``      a tensor's shape, if it has to be said
    ``readings``  data and grad, each a word and a number
    """

    mark: tuple[TextPiece, ...]
    heading: tuple[tuple[TextPiece, ...], ...]
    note: tuple[TextPiece, ...]
    readings: tuple[tuple[TextPiece, TextPiece], ...]

    @property
    def pieces(self) -> list[TextPiece]:
        """All of them, in the order in which they are drawn."""
        return [*self.mark, *chain(*self.heading), *self.note, *chain(*self.readings)]


STYLES: dict[str, dict[str, Any]] = {
    "mark": {"size": "8.5", "bold": True},
    "alarm": {"size": "8.5", "bold": True, "colour": look.WRONG},
    "name": {"bold": True},
    "plain": {},
    "const": {"colour": look.MUTED},
    "note": {"size": "8.5", "colour": look.MUTED},
    "word": {"size": "9", "colour": look.MUTED},
    "data": {"colour": look.DATA},
    "grad": {"colour": look.GRAD},
}
"""The looks of a piece of text, by its role."""


def make_card(run: SweptRun, node: int, manner: DrawingOptions, alarms: Sequence[str] = ()) -> Card:
    """A node's card, as far as the run has got; or that of the closed call whose result it is.

    ``alarms`` are lines that say what is wrong there.
    """
    graph, kind = run.graph, run.graph.kinds[node]
    mark = tuple(TextPiece("alarm", true_minus(line)) for line in alarms)
    if node == graph.output:
        mark = (TextPiece("mark", "output"), *mark)
    if node in graph.implicit:  # low and quiet: it was not typed
        operand = card_text(run.label(graph.operands[node][0]), OPERAND)
        words = f"{operand} as {shape_text(graph.shape(node))}"
        if not manner.room:
            return Card(mark, (), (TextPiece("note", words),), ())
        # On the page it is stepped through, like any other.
        return Card(mark, ((TextPiece("plain", words),),), (), node_readings(run, node, manner))
    shape = graph.shape(node)
    seen = kind == CONST and len(run.texts[node]) <= OPERATION  # its numbers can be read
    notes = [shape_text(shape)] if shape and not seen else []
    if node in run.closed:
        notes.insert(0, call_size_text(run, run.closed[node]))
    elif manner.gates and graph.operands[node]:
        notes.insert(0, gate_of_kind(kind))
    note = (TextPiece("note", ", ".join(notes)),) if notes else ()
    readings = node_readings(run, node, manner) if run.values and kind != CONST else ()
    return Card(mark, card_heading(run, node, manner), note, readings)


def node_readings(
    run: SweptRun, node: int, manner: DrawingOptions
) -> tuple[tuple[TextPiece, TextPiece], ...]:
    """Data and grad, as far as the run has them."""
    found = [("data", run.values[node])]
    if run.adjoints is not None:
        found.append(("grad", run.grad(node)))
    return tuple(
        [
            (
                TextPiece("word", name),
                TextPiece(name, true_minus(value_text(value, manner.digits, PICTURED)) or "–"),
            )
            for name, value in found
        ]
    )


def tensor_map_size(shape: Shape) -> tuple[int, int, float]:
    """The rows and columns in which a tensor's numbers are drawn, and the side of each, in points."""
    rows, columns = shape_size(shape[:-1]), shape[-1]
    return rows, columns, min(MAP_SIDE, MAP_WIDTH / max(columns, 1), MAP_HEIGHT / max(rows, 1))


def call_size_text(run: SweptRun, closed: ClosedCall) -> str:
    """Describes the inside of a closed card in a few words."""
    graph = run.graph
    count = sum(bool(graph.operands[n]) and n not in graph.implicit for n in closed.inside)
    kind = call_kind(closed.call)
    return f"{kind} of {count:,} operations" if count > 1 else kind


def card_heading(
    run: SweptRun, node: int, manner: DrawingOptions
) -> tuple[tuple[TextPiece, ...], ...]:
    """A node's heading: its name, and its operation or the closed call that it is.

    A long one takes several lines, but on the page one.
    """
    kind, name = run.graph.kinds[node], run.names.get(node)
    limit = NAME if manner.room else WHOLE_NAME
    if kind == INPUT:
        pieces = [TextPiece("name", card_text(abridge_name(run.label(node), limit), limit))]
    else:
        does = card_text(card_operation_text(run, node), OPERATION)
        if node in run.closed:
            does = card_text(run.closed[node].call.label, limit)
        pieces = [TextPiece("const" if kind == CONST else "name", does)]
        if name is not None and (called := card_text(abridge_name(name, limit), limit)) != does:
            pieces = [TextPiece("name", called), TextPiece("plain", f"{NO_BREAK}= {does}")]
    if manner.room or sum(display_width(piece.text) for piece in pieces) <= ON_LINE:
        return (tuple(pieces),)
    return tuple(
        [(piece._replace(text=line),) for piece in pieces for line in break_name(piece.text)]
    )


def break_name(name: str) -> list[str]:
    """A long name in lines, broken after signs if it has any."""
    lines = [""]
    for part in re.findall(rf"[^\W_]{{1,{ON_LINE - 1}}}_?|_|\W", name):
        if display_width(lines[-1] + part) > ON_LINE:
            lines.append("")
        lines[-1] += part
    return [line.strip() for line in lines]


def reading_size(shape: Shape | None, manner: DrawingOptions) -> tuple[str, str]:
    """Return the width and the height that a page keeps for a number or a tensor; "" where DOT decides."""
    if not manner.room:
        return "", ""
    if not shape:
        return look.digits_width(manner.room, look.NODE, PADDING), ""
    down, across, length = tensor_map_size(shape)
    return str(ceil(across * length) + 2 * PADDING), str(ceil(down * length) + 2 * PADDING)


def node_label(run: SweptRun, node: int, card: Card, manner: DrawingOptions) -> str:
    """The label of a node: its card in the colours of what it is, with places for wires to arrive."""
    kind, is_output = run.graph.kinds[node], node == run.graph.output
    size = reading_size(run.graph.shape(node), manner)
    readings = RULER.join(number_row(*pair, *size) for pair in card.readings)
    name, note = "<BR/>".join(map(styled_label, card.heading)), styled_label(card.note)
    is_number = kind == CONST or not name
    line, fill = (look.CONSTANT, look.CONSTANT) if is_number else (look.LINE, look.CARD)
    if kind == INPUT and not is_number:
        line, fill = look.PILL_LINE, look.PILL
    if kind == INPUT:  # a pill is low: the name stands left of data and grad
        if manner.room:  # the page writes a note as large as the rest
            note = styled_label(tuple(piece._replace(role="const") for piece in card.note))
        left = (
            label_table(table_row(table_cell(name)), table_row(table_cell(note))) if note else name
        )
        side = [table_cell(label_table(readings, color=line))] if readings else []
        inside = [table_row(table_cell(left, cellpadding="4"), *side)]
    elif not name:
        inside = [table_row(table_cell(note, cellpadding="2"))]
    else:
        inside = [table_row(table_cell(name, colspan="2", cellpadding="3"))]
        inside += [table_row(table_cell(note, colspan="2", cellpadding="1"))] if note else []
        inside += [readings] if readings else []
    inside = [
        *(table_row(table_cell(styled_label((piece,)), colspan="2")) for piece in card.mark),
        *inside,
    ]
    rim = look.INK if is_output else line
    if any(piece.role == "alarm" for piece in card.mark):
        rim = look.WRONG
    drawn = label_table(
        *card_with_ports(
            table_cell(label_table(*inside, color=line), cellpadding="6"),
            len(run.operands(node)),
            manner,
        ),
        border="2.5" if is_output else "1",
        style="rounded",
        bgcolor=fill,
        color=rim,
    )
    if node not in run.closed:
        return drawn
    outline = {"border": "1", "cellpadding": "2", "style": "rounded", "color": line}
    return label_table(table_row(table_cell(drawn)), bgcolor=look.CHIP, **outline)


def node_tooltip(run: SweptRun, node: int, alarm: str, manner: DrawingOptions) -> str:
    """A node's tooltip: what it is, its alarm, and its gate, in one line."""
    kind = run.graph.kinds[node]
    called = run.label(node) if kind == INPUT else named_node_text(run, node)
    parts = [alarm or called + shape_text(run.graph.shape(node), ", of shape {}", "")]
    if manner.gates and node not in run.closed and kind in BY_NAME:
        parts.append(f"{BY_NAME[kind].gate}: {GATES[BY_NAME[kind].gate]}")
    whole = "; ".join(parts)
    return card_text(whole, len(whole) if kind == INPUT else TOOLTIP)


def card_width(run: SweptRun, node: int, card: Card) -> float:
    """About how wide a card is drawn, in points."""
    names = max(
        [text_width(line) for line in [*card.heading, card.note, *zip(card.mark)]], default=0.0
    )
    numbers = max([text_width(pair) for pair in card.readings], default=0.0) + 4 * PADDING
    inside = names + numbers if run.graph.kinds[node] == INPUT else max(names, numbers)
    return inside + 20


def text_width(pieces: Iterable[TextPiece]) -> float:
    """About how wide some pieces of text are side by side, in points."""
    width = 0.0
    for piece in pieces:
        style = STYLES[piece.role]
        letter = look.DIGIT * (BOLD if style.get("bold") else 1)
        width += (
            letter * float(style.get("size", look.NODE["fontsize"])) * display_width(piece.text)
        )
    return width


def wire_tag(number: int, called: str) -> str:
    """The label where a wire goes on in another row: a number, and what it comes from."""
    inside = label_text(f"{number}", bold=True)
    if called:
        inside += label_text(f"{NO_BREAK}{NO_BREAK}{card_text(called, TAGGED)}", colour=look.MUTED)
    return label_table(
        table_row(table_cell(inside)),
        border="1",
        cellpadding="4",
        style="rounded",
        bgcolor=look.CONSTANT,
        color=look.LINE,
    )


def styled_label(pieces: tuple[TextPiece, ...]) -> str:
    """Pieces of text side by side."""
    return "".join(label_text(piece.text, **STYLES[piece.role]) for piece in pieces)


def number_row(word: TextPiece, number: TextPiece, width: str, height: str = "") -> str:
    """A row: a quiet word on the left, on the right a number in a cell of at least this size."""
    return table_row(
        table_cell(styled_label((word,)), align="left", cellpadding=f"{PADDING}"),
        table_cell(
            styled_label((number,)),
            align="right",
            cellpadding=f"{PADDING}",
            width=width,
            height=height,
        ),
    )


def card_operation_text(run: SweptRun, node: int) -> str:
    """A node's operation on its operands; a long text has ``…`` for long operands, and cuts long names."""
    graph = run.graph
    operands = graph.operands[node]
    if not operands:
        return run.texts[node]
    settings = graph.payloads[node]
    called = [operand_label(graph, operand, run.names, run.texts) for operand in operands]
    whole = operation_text(graph.kinds[node], called, spaced=True, settings=settings)
    if len(whole) <= OPERATION:
        return whole
    brief = [
        ("…", ATOM) if operand not in run.names and len(words) > OPERAND else (words, binds)
        for operand, (words, binds) in zip(operands, called, strict=True)
    ]
    for room in range(OPERATION, 0, -1):
        parts = [
            ((abridge_name if len(words) > NAME else cut_text)(words, room), binds)
            for words, binds in brief
        ]
        text = operation_text(graph.kinds[node], parts, spaced=True, settings=settings)
        if len(text) <= OPERATION:
            break
    return text


def card_with_ports(card: str, count: int, manner: DrawingOptions) -> list[str]:
    """The rows of a table around a card, with an invisible port for each operand.

    They stand on the side that wires arrive at, so that these do it in order.
    """
    if count < 2:
        return [table_row(card)]
    ports = [table_cell("", port=f"s{position}") for position in range(count)]
    side = manner.sides.arrive
    if side in "ns":
        rows = [table_row(table_cell(label_table(table_row(*ports)))), table_row(card)]
        return rows if side == "n" else rows[::-1]
    column = table_cell(label_table(*map(table_row, ports)))
    return [table_row(column, card) if side == "w" else table_row(card, column)]


# Formulas with the signs of mathematics.


RAISED_CHARACTERS = str.maketrans(
    "0123456789+-−abcdefghijklmnoprstuvwxyz", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐⁿᵒᵖʳˢᵗᵘᵛʷˣʸᶻ", " ()"
)
EXPONENT = re.compile(r"\^([a-pr-z]|[-−]?\d+|\((?:[a-pr-z\d−-]| [+−-] )+\))(?![\w.^(])")
"""A power whose exponent can be raised: a letter, a whole number, or a sum of them in parentheses."""
SIGNS = {"*": "·", "<=": "≤", ">=": "≥", "!=": "≠", "==": "="}
SIGN = re.compile(r" ?\* ?|[<>!=]=")
ABSOLUTE = re.compile(r"\babs\(([^()|]*)\)")
ROOT = re.compile(r"\bsqrt\((?:(\w+)\))?", re.ASCII)
PI = re.compile(r"\bpi\b")


def typeset_text(text: str) -> str:
    """A formula's text as mathematics is written, in one line."""
    text = EXPONENT.sub(lambda power: power[1].translate(RAISED_CHARACTERS), text)
    text = ABSOLUTE.sub(r"|\1|", text)
    text = PI.sub("π", ROOT.sub(lambda root: "√" + (root[1] or "("), text))
    return SIGN.sub(lambda sign: SIGNS[sign[0].strip()], text)


# Alarms: what is wrong at a node, in a few words.


SHORT_DIAGNOSTICS = {
    "kink": "kink",
    "jump": "jump",
    "undecided": "undecided",
    "corrected": "corrected",
    "nan": "not a number",
    "infinity": "infinite",
    "nan-gradient": "gradient not a number",
    "infinite-gradient": "infinite slope",
}
"""The words on a card, by the code of a diagnostic."""
LONGEST_ALARM = 36
"""The most characters of a line."""


class Alarm(NamedTuple):
    """Short lines on a card, and the whole story where one points at it."""

    lines: tuple[str, ...]
    tooltip: str


def node_alarms(run: Explained, digits: int) -> Mapping[int, Alarm]:
    """The alarms of a run by node; a closed call's node has those of the nodes inside it."""
    found: dict[int, Alarm] = {}
    card = {node: call for call, closed in run.closed.items() for node in closed.inside}
    for one in run.remarks:
        if one.code in SHORT_DIAGNOSTICS:
            node = card.get(one.node, one.node)
            lines, tooltip = found.get(node, ((), ""))
            lines = tuple(dict.fromkeys([*lines, *diagnostic_card_lines(run, one, digits)]))
            found[node] = Alarm(lines, "; ".join(filter(None, [tooltip, one.message])))
    return found


def diagnostic_card_lines(run: Explained, one: Diagnostic, digits: int) -> list[str]:
    """A diagnostic in a few words; of an input, what its derivatives from the sides are."""
    if run.graph.kinds[one.node] != INPUT:
        return [SHORT_DIAGNOSTICS[one.code]]
    name = str(run.graph.payloads[one.node])
    if one.code == "corrected":
        truth = run.corrected[name][1]
        return [
            f"corrected: {signed_number(truth, digits)}"
            if isinstance(truth, float)
            else "corrected"
        ]
    met = (
        each for each in run.one_sided.values() if (each.input, each.verdict) == (name, one.code)
    )
    side = next(met, None)
    if side is None:
        return [one.message if len(one.message) <= LONGEST_ALARM else SHORT_DIAGNOSTICS[one.code]]
    from exprgrad.explain.sides.kinks import side_findings

    head, told = (
        f"{one.code} along {side.name}",
        side_findings(run, side, partial(signed_number, digits=digits)),
    )
    whole = ", ".join(told)
    first = head if len(head) <= LONGEST_ALARM else SHORT_DIAGNOSTICS[one.code]
    return [first, *([whole] if len(whole) <= LONGEST_ALARM else told)]


# Chips.


RULE, LONE_RULE = 24, 40
"""The most characters of a rule beside its number, and of one that stands alone."""
CHIP_PADDING = 2
"""The padding around a chip's text."""
LEAST_BYTES = 1000
"""The fewest bytes of a Jacobian whose size a chip reports."""


class Chip(NamedTuple):
    """A chip's text, a quiet line below it, and what a browser shows when it is pointed at.

    ``formula`` is the text without its number, where the number depends on the inputs; ``passed`` says
    what the edge added to a grad.
    """

    text: str
    note: str = ""
    tooltip: str = " "
    formula: str | None = None
    passed: str = ""

    @property
    def width(self) -> float:
        """About how wide it is drawn, in points."""
        size = float(look.CHIP_NODE["fontsize"])
        longest = max(map(display_width, (self.text, self.note, self.passed)))
        return look.DIGIT * size * longest + 4 * CHIP_PADDING


Wire = tuple[Chip | None, bool]
"""The chip on an edge, if any, and whether a gradient can flow along it."""


def operand_wires(
    run: SweptRun, user: int, manner: DrawingOptions, *, all: bool = False
) -> Iterator[Wire]:
    """The wires to a node or a closed call, one per operand: a chip, and whether a gradient can flow.

    With ``all`` an edge that passes nothing, but would at other numbers, has a chip too.  On the page
    chips say the operand's shape.
    """
    if user in run.closed:
        yield from call_wires(run, user, manner, all=all)
        return
    operands, op = run.graph.operands[user], BY_NAME.get(run.graph.kinds[user])
    if run.adjoints is None:
        moving = [run.varying[operand] for operand in operands]
        rules = run.rules(user) if any(moving) else None
        for position, moves in enumerate(moving):
            rule = rules(position) if rules and moves else None
            chip = rule_chip(run, user, position, rule, is_whole=op is None) if rule else None
            yield chip, rule is not None
        return
    branches = op.branches if op else ()
    edges = {edge.position: edge for edge in run.edges_of(user)}
    for position, operand in enumerate(operands):
        edge = edges.get(position)
        if edge is None and not (all and run.adjoints.active[operand]):
            yield None, False
            continue
        rule, local = (edge.rule, edge.local) if edge else (run.rule(user, position), None)
        if op is None or run.graph.shape(user) or run.graph.shape(operand):
            is_whole = edge is not None and local is None
            chip = rule_chip(
                run, user, position, rule, is_whole=is_whole, with_shape=manner.room > 0
            )
        else:
            chip = number_chip(shorten_rule(run, user, position, rule, RULE), local, manner.digits)
        if edge is None:
            yield chip, False
            continue
        flows = position not in branches or not is_zero_derivative(edge.local)
        if manner.contributions and flows and edge.contribution is not None:
            told = edge_flow_text(run.grad(user), edge.local, edge.contribution, manner.digits)
            chip = (chip or Chip(""))._replace(passed=told)
        yield chip, flows


def edge_flow_text(grad: Any, local: Any, contribution: Any, digits: int) -> str:
    """The contribution along an edge: ``0.5 × −3 = −1.5``; for a tensor its numbers or their norm."""
    if all(isinstance(number, float) for number in (grad, local, contribution)):
        grad, local, contribution = (signed_number(x, digits) for x in (grad, local, contribution))
        return f"{grad} × {local} = {contribution}"
    return "+= " + true_minus(value_text(contribution, digits, PICTURED))


def call_wires(run: SweptRun, user: int, manner: DrawingOptions, *, all: bool) -> Iterator[Wire]:
    """The wires of a closed call: its local derivatives are numbers, once it has been swept."""
    closed = run.closed[user]
    slopes, grad = run.slopes(closed), run.grad(user)
    for operand in closed.operands:
        if run.adjoints is None:
            yield None, bool(run.varying[operand])
            continue
        local = slopes.get(operand)
        waits = all and run.adjoints.active[operand]
        text = "–" * waits if local is None else signed_number(local, manner.digits)
        is_told = manner.contributions and local is not None and isinstance(grad, float)
        added = edge_flow_text(grad, local, grad * local, manner.digits) if is_told else ""
        yield Chip(text, formula="", passed=added) if text else None, operand in slopes


def rule_chip(
    run: SweptRun, user: int, position: int, rule: str, *, is_whole: bool, with_shape: bool = False
) -> Chip | None:
    """A chip without a number; None if there is nothing to write on it.

    ``is_whole`` if no diagonal stands for the Jacobian, whose size it tells;
    ``with_shape`` if it tells that of what runs along the wire.
    """
    ends = run.graph.shape(user), run.graph.shape(run.graph.operands[user][position])
    rule = card_text(shorten_rule(run, user, position, rule, LONE_RULE), LONE_RULE)
    if ends == ((), ()):
        return Chip(rule) if rule else None
    count = jacobian_bytes(ends)
    rows, columns = map(shape_size, ends)
    sized = (
        f"the Jacobian, {rows:,} by {columns:,}, is never formed: it would be {bytes_text(count)}"
    )
    note = f"never formed: {bytes_text(count)}" if is_whole and count >= LEAST_BYTES else ""
    if with_shape and ends[1]:
        note = ", ".join(filter(None, [shape_text(ends[1]), note]))
    return Chip(rule, note, sized) if rule or note else None


def number_chip(rule: str, local: float | None, digits: int) -> Chip:
    """A local derivative as formula and number, once if they are equal; None is not known yet."""
    text, number = card_text(rule, RULE), "–" if local is None else signed_number(local, digits)
    try:
        is_same = local in (None, float(rule))
    except ValueError:
        is_same = False
    if is_same:
        return Chip(text if local is None else number)
    formula = f"{text} = " if text else ""
    return Chip(formula + number, formula=formula)


def shorten_rule(run: SweptRun, user: int, position: int, rule: str, limit: int) -> str:
    """A rule of at most ``limit`` characters; nothing if it is longer, as a rule cut short is another one.

    What is too long is written by the node's own result, ``out``.  A long name keeps both its ends.
    """
    if rule.isidentifier():
        return abridge_name(rule, limit)
    if len(printable_text(rule)) > limit and "out" not in {*run.graph.inputs, *run.names.values()}:
        renamed = copy(run)
        renamed.names = {**run.names, user: "out"}
        rule = renamed.rule(user, position)
    return rule if len(printable_text(rule)) <= limit else ""


def chip_table(chip: Chip, room: int = 0) -> str:
    """A label on an edge, on a ground of its own; ``room``: for so many digits of a changing number."""
    width = ""
    if room:
        chip = chip._replace(text=typeset_text(chip.text))
    if room and chip.formula is not None:
        width = look.digits_width(display_width(chip.formula) + room, look.CHIP_NODE, CHIP_PADDING)
    lines = [table_row(table_cell(label_text(chip.text), width=width))] if chip.text else []
    if chip.note:
        lines.append(
            table_row(
                table_cell(label_text(chip.note, colour=look.MUTED, size="" if room else "8"))
            )
        )
    if chip.passed:
        lines.append(table_row(table_cell(label_text(chip.passed, colour=look.GRAD))))
    padding = CHIP_PADDING + bool(chip.passed)
    return label_table(
        *lines,
        border="1",
        cellpadding=f"{padding}",
        style="rounded",
        bgcolor=look.CHIP,
        color=look.CHIP_LINE,
    )
