"""The op table as people read it: an overview, one operation in full, and a JSON document.

How a cotangent goes back through a structural row is read off the row: its ``pull`` is built for operands
of a few shapes, and written.  At a row's critical points its answers stand beside what PyTorch and JAX were
recorded to return; ``python -m benchmarks.conventions``, which needs both, writes that record,
``conventions.json``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import product
from pathlib import Path
from textwrap import wrap
from typing import Any, NamedTuple

from exprgrad.derive.rules import Rule, computed, shown, template
from exprgrad.derive.sweeps.edges import GRAD, edge_program
from exprgrad.errors import RequestError
from exprgrad.explain.critical import Critical, critical_points
from exprgrad.graph.graph import INPUT, Graph, Settings, Shape
from exprgrad.graph.ops import BY_INFIX, BY_NAME, FAMILIES, OPS, Op, member
from exprgrad.graph.structural import Mismatch, Parameter, Structural, shape_text
from exprgrad.graph.tensors import STRUCTURAL, WORDS
from exprgrad.language.write.infix import ATOM, expression, operation_text, setting_text
from exprgrad.show.documents.document import envelope, finite
from exprgrad.show.text.table import Column, Table
from exprgrad.show.text.views import decimal
from exprgrad.source import depths

__all__ = [
    "LIBRARIES", "Case", "cases", "convention_fields", "convention_lines", "details", "find",
    "operations_document", "overview", "overview_parts", "record", "structural_overview",
    "structural_usage", "usage",
]  # fmt: skip

WIDTH = 90
"""Where the lines of an operation in full are broken, in columns."""
BREAK = re.compile(r"(?<=,) | (?=[+-] )")
"""Where a formula may be broken: behind a comma, or before a sum's sign."""


Row = Op | Structural
"""A row of the op table: elementwise, number by number, or structural, which sees shapes."""
SYMBOLS = {"**": "pow", ".T": "transpose", "T": "transpose", "[]": "index", "x[]": "index"}
"""What people also call an operation that is written with symbols."""
ELEMENTWISE, STRUCTURED = (
    "Elementwise: number by number",
    "Structural: of vectors, matrices and tensors",
)


def find(name: str | None) -> Sequence[Row]:
    """All rows, or those of that name or symbol; an error with a suggestion where there is none.

    ``max`` and its like are names of two: of several numbers, and of all in a tensor.
    """
    if name is None:
        return (*OPS, *STRUCTURAL.values())
    known = SYMBOLS.get(name, name)
    structural = [
        row for row in STRUCTURAL.values() if known and known in (row.word, row.name, row.infix)
    ]
    op = BY_NAME.get(known) or BY_INFIX.get(known)
    if known in FAMILIES:
        op = member(FAMILIES[known], FAMILIES[known].least)
    found: list[Row] = [op, *structural] if op else [*structural]
    if found:
        return found
    from exprgrad.language.mistakes.foreign import NAMES_HERE, spelled_here
    from exprgrad.language.mistakes.hints import operation_meant

    word = NAMES_HERE.get(name, name)
    help = operation_meant(word, [*BY_NAME, *WORDS], "'exprgrad ops' lists the operations")
    if spelled_here(name):
        help = f"that is written {spelled_here(name)}"
    message = f"there is no operation '{name}'"
    raise RequestError("unknown-operation", message, help=help).about(name)


def overview_parts(rows: Sequence[Row]) -> Iterator[str | Table]:
    """The rows a line each, in a table for each of the two sorts, under its title."""
    ops = [row for row in rows if isinstance(row, Op)]
    structural = [row for row in rows if isinstance(row, Structural)]
    yield from (f"{ELEMENTWISE}\n", overview(ops), f"\n{STRUCTURED}\n")
    yield structural_overview(structural)


def usage(op: Row) -> str:
    """How the operation is written."""
    if isinstance(op, Structural):
        return structural_usage(op)
    names = ("x", "y", "…") if op.variadic else op.names
    return operation_text(op.name, [(name, ATOM) for name in names], spaced=True)


def derivatives(op: Op) -> list[tuple[str, str]]:
    """Each operand with its local derivative as people read it."""
    return [(name, op.shown_partial(position)) for position, name in enumerate(op.names)]


def overview(rows: Sequence[Op]) -> Table:
    """The elementwise operations, a line each."""
    columns = [
        Column("operation", style="bold"),
        Column("local derivatives", flexible=True, style="yellow"),
        Column("domain", style="dim", expendable=1),
        Column("gate", expendable=2),
    ]
    lines = [
        [
            usage(op),
            ",  ".join(rule for _, rule in derivatives(op)),
            "see ops " + op.name if op.domain_words else op.domain,
            op.gate,
        ]
        for op in rows
    ]
    foot = "'exprgrad ops NAME' shows one in full; 'out' is the operation's own result"
    return Table(columns, lines, foot=foot)


def details(op: Row) -> str:
    """One operation in full."""
    pairs = list(structural_pairs(op) if isinstance(op, Structural) else elementwise_pairs(op))
    width = max(len(label) for label, _ in pairs)
    lines = [
        f"  {label if first else '':<{width}}  {line}\n"
        for label, text in pairs
        for first, line in marked(fitted(label, text, WIDTH - width - 4))
    ]
    head = wrap(f"{usage(op)}: {op.about}", WIDTH, subsequent_indent="    ")
    return "\n".join(head) + "\n" + "".join(lines) + at_critical_points(op)


def at_critical_points(op: Row) -> str:
    """What a row answers where that is a convention, below an empty line; or nothing."""
    lines = [] if isinstance(op, Structural) else [*convention_lines(op)]
    return "".join(f"{line}\n" for line in ["", *lines]) if lines else ""


def elementwise_pairs(op: Op) -> Iterator[tuple[str, str]]:
    """An elementwise row in full, as labels and texts."""
    yield from rules(op)
    yield from companions(op)
    if op.definition:
        yield "the same as", op.definition
    if op.domain:
        yield "domain", op.domain_words or op.domain
    for where, value in op.poles:
        yield "pole", f"{value} where {where}"
    for s in op.special:
        yield s.code, f"where {s.where}: {s.why}"
    yield "gate", op.gate
    yield "accuracy", accuracy(op)
    if op.caveat:
        yield "but", op.caveat


def rules(op: Op) -> Iterator[tuple[str, str]]:
    """The local derivatives, as people read them and as they are computed, a statement a line.

    What several begin with is told once.
    """
    programs = [partial.split("; ") for partial in op.partials]
    shared = programs[0][:-1]
    if len(programs) == 1 or any(program[:-1] != shared for program in programs):
        shared = []
    for (name, rule), program in zip(derivatives(op), programs, strict=True):
        yield f"for {name}", rule
        own = program[len(shared) :]
        for position, statement in enumerate(own if own != [rule] else []):
            yield "" if position else "  computed", statement
    for position, statement in enumerate(shared):
        yield "" if position else "with", statement


def companions(op: Op) -> Iterator[tuple[str, str]]:
    """What the names mean that stand in a row's rules beside its operands and ``out``."""
    if op.variadic:
        yield "ties", f"{op.ties_words}:"
        yield "", f"the sum over all operands of {op.ties}"
    texts = [*op.partials, *(s.where for s in op.special), *([op.ties] if op.ties else [])]
    used = {name for text in texts for name in template(text).inputs}
    if "varies" in used:
        yield "varies", "1 if the operand depends on an input, else 0"
    for name in op.names:
        if f"varies_{name}" in used:
            yield f"varies_{name}", f"1 if {name} depends on an input, else 0"


def accuracy(op: Op) -> str:
    """How near value and local derivatives are to the truth."""
    value, partial = (
        {0.0: "exact", 0.5: "correctly rounded"}.get(ulps, f"within {ulps:g} ulp")
        + (f" or {least:.2g}" if least else "")
        for ulps, least in ((op.value_ulp, op.value_abs), (op.partial_ulp, op.partial_abs))
    )
    if value == partial:
        return f"value and local derivatives {value}"
    return f"value {value}, local derivatives {partial}"


def marked(lines: Sequence[str]) -> Iterator[tuple[bool, str]]:
    """Each line, and whether it is the first."""
    return ((position == 0, line) for position, line in enumerate(lines))


def fitted(label: str, text: str, width: int) -> list[str]:
    """A text on lines of so many columns: prose between its words, a formula where it may be broken."""
    if label == "source":
        return wrap(text, width, subsequent_indent="  ")
    return formula_lines(text, width)


def formula_lines(text: str, width: int, indent: str = "") -> list[str]:
    """A text on lines of at most ``width`` columns, as far as it may be broken.

    It is broken at its outermost commas, or else at its outermost sums; what is still too long is
    broken again, further in.
    """
    if len(indent + text) <= width:
        return [indent + text]
    deep = depths(text)
    found = [(deep[m.start()], text[m.start() - 1] != ",", m) for m in BREAK.finditer(text)]
    if not found:
        return [indent + text]
    outermost = min((depth, is_sum) for depth, is_sum, _ in found)
    cuts = [m.start() for depth, is_sum, m in found if (depth, is_sum) == outermost]
    starts = [0, *(position + 1 for position in cuts)]
    pieces = [text[i:j] for i, j in zip(starts, [*cuts, len(text)], strict=True)]
    lines, further = [indent + pieces[0]], indent + "  "
    for piece in pieces[1:]:
        if len(lines[-1]) + 1 + len(piece) <= width:
            lines[-1] += f" {piece}"
        else:
            lines.append(further + piece)
    return [
        part
        for line in lines
        for part in formula_lines(line.lstrip(), width, line[: len(line) - len(line.lstrip())])
    ]


def operations_document(rows: Sequence[Row]) -> str:
    """The rows as a JSON document: elementwise and structural ones apart."""
    operations = [elementwise_fields(row) for row in rows if isinstance(row, Op)]
    structural = [structural_fields(row) for row in rows if isinstance(row, Structural)]
    return envelope("ops", operations=operations, structural=structural) + "\n"


def elementwise_fields(op: Op) -> dict[str, Any]:
    """One row as JSON has it."""
    return {
        "name": op.name,
        "usage": usage(op),
        "operands": list(op.names),
        "variadic": op.variadic,
        "about": op.about,
        "partials": list(op.partials),
        "shown": list(op.shown or op.partials),
        "definition": op.definition or None,
        "domain": op.domain or None,
        "poles": [{"where": where, "value": value} for where, value in op.poles],
        "special": [{"where": s.where, "code": s.code, "why": s.why} for s in op.special],
        "gate": op.gate,
        "infix": op.infix or op.prefix or None,
        "latex": op.latex,
        "value_ulp": op.value_ulp,
        "value_abs": op.value_abs,
        "partial_ulp": op.partial_ulp,
        "partial_abs": op.partial_abs,
        "caveat": op.caveat or None,
        "conventions": convention_fields(op),
    }


# Structural rows.

SHAPES: tuple[Shape, ...] = ((3, 4), (4, 2), (3,), (4,), (3, 3))
"""What operands may be in an example; the sizes differ, so that each can be told by its number."""
EXAMPLES: dict[str, tuple[Any, ...]] = {
    "axis": (1,),
    "axes": (0,),
    "flag": (),
    "order": ((1, 0),),
    "size": (5,),
    "shape": ((4, 3), (2, 3, 4)),
    "places": ((0,), (0, (1, 3))),
}
"""By kind of a setting: what it may be in an example, beside its default."""
KINDS = {
    "axis": "an axis",
    "axes": "an axis, or a list of them",
    "flag": "True or False",
    "order": "a list of all axes",
    "size": "a positive whole number",
    "shape": "a list of sizes",
    "places": "an index or a slice for each axis, the first ones at least",
}
COTANGENT = "g"
"""What the result's cotangent is called."""


LONGEST_COMPUTED = 100
"""The longest text of what is computed in place of what people read."""


class Case(NamedTuple):
    """A row on operands of some shapes: how it is written, the shapes, and each operand's cotangent.

    ``computed`` are the cotangents as they are computed, where people read another form.
    """

    written: str
    shapes: tuple[Shape, ...]
    result: Shape
    cotangents: tuple[str, ...]
    computed: tuple[str, ...] = ()


def names_of(row: Structural) -> tuple[str, ...]:
    """What the operands are called in an example."""
    return ("x", "y") if row.variadic else row.names


def structural_usage(row: Structural) -> str:
    """How the operation is written: its operands, and its settings with their defaults."""
    if row.infix:
        return f" {row.infix} ".join(row.names)
    if row.name == "index":
        return f"{row.names[0]}[{row.parameters[0].name}]"
    operands = (*names_of(row), "…") if row.variadic else row.names
    settings = [
        p.name if p.default is ... else f"{p.name}={setting_text(p.default)}"
        for p in row.parameters
    ]
    return f"{row.word}({', '.join((*operands, *settings))})"


@cache
def cases(name: str) -> tuple[Case, ...]:
    """Examples of a row: with operands of various ranks, or else with various settings."""
    row = STRUCTURAL[name]
    found: dict[object, Case] = {}
    for shapes in product(SHAPES, repeat=len(names_of(row))):
        for settings in all_settings(row.parameters):
            if row.parameters and found and shapes not in {case.shapes for case in found.values()}:
                continue
            try:
                result = row.shape(shapes, settings)
            except Mismatch:
                continue
            told = (tuple(map(len, shapes)), settings)
            if told not in found:
                found[told] = case_of(row, shapes, settings, result)
    return tuple(found.values())


def all_settings(parameters: Sequence[Parameter]) -> Iterator[Settings]:
    """The defaults, then what differs from them in one setting; all combinations of what must be given."""
    choices = [
        EXAMPLES[p.kind] if p.default is ... else (p.default, *EXAMPLES[p.kind]) for p in parameters
    ]
    optional = [p.default is not ... for p in parameters]
    for settings in product(*choices):
        changed = [
            value is not choice[0]
            for value, choice, free in zip(settings, choices, optional, strict=True)
            if free
        ]
        if sum(changed) <= 1:
            yield settings


def case_of(row: Structural, shapes: tuple[Shape, ...], settings: Settings, result: Shape) -> Case:
    """An example, with the row's own rules written for it."""
    written = operation_text(row.name, [(name, ATOM) for name in names_of(row)], settings=settings)
    texts = cotangents(row, shapes, settings, result, shown)
    others = cotangents(row, shapes, settings, result, computed) if row.shown_pull else texts
    return Case(written, shapes, result, texts, others if others != texts else ())


def cotangents(
    row: Structural, shapes: tuple[Shape, ...], settings: Settings, result: Shape, rule: Rule
) -> tuple[str, ...]:
    """Each operand's cotangent, as people read it or as it is computed."""
    names = names_of(row)
    graph = Graph()
    graph.shapes = [*shapes, result]
    for name in names:
        graph.inputs[name] = graph.append(INPUT, (), name, (0, 0))
    operands = tuple(range(len(names)))
    user = graph.append(row.name, operands, settings, (0, 0), ((0, 0),) * len(names))
    program, positions, _ = edge_program(graph, user, operands, [1] * len(graph), rule)
    called = {**{str(at): name for at, name in enumerate((*names, "out"))}, GRAD: COTANGENT}
    for name, node in program.graph.inputs.items():
        program.graph.payloads[node] = called[name]
    texts = dict.fromkeys(operands, "nothing")
    for at, position in enumerate(positions):
        texts[position] = expression(program.graph, program.outputs[2 * at], {}, None)
    for name, shape in zip(names, shapes, strict=True):
        sizes = f"shape={setting_text(shape)}"
        texts = {p: text.replace(sizes, f"shape={name}.shape") for p, text in texts.items()}
    return tuple(texts.values())


def first_cotangents(row: Structural) -> str:
    """The cotangents of the first example; and which it is, if those of others look different."""
    case = cases(row.name)[0]
    text, shapes = ",  ".join(case.cotangents), operand_shapes(row, case)
    if any(parameter.default is ... for parameter in row.parameters):
        return f"{text}  for {case.written}, {shapes}" if any(map(str.isdigit, text)) else text
    return (
        text if twice_as_long(row, case).cotangents == case.cotangents else f"{text}  for {shapes}"
    )


def twice_as_long(row: Structural, case: Case) -> Case:
    """An example with every axis twice as long, and the default settings."""
    shapes = tuple([tuple([2 * length for length in shape]) for shape in case.shapes])
    settings = tuple([parameter.default for parameter in row.parameters])
    return case_of(row, shapes, settings, row.shape(shapes, settings))


def operand_shapes(row: Structural, case: Case) -> str:
    """The operands of an example with their shapes."""
    named = zip(names_of(row), case.shapes, strict=True)
    return ", ".join(f"{name} {shape_text(shape)}" for name, shape in named)


def taken(row: Structural, case: Case) -> str:
    """The shapes of an example, in words."""
    return f"{operand_shapes(row, case)} gives {shape_text(case.result)}"


def structural_overview(rows: Sequence[Structural]) -> Table:
    """All structural operations, a line each."""
    columns = [
        Column("operation", style="bold"),
        Column(f"cotangents, given the result's, {COTANGENT}", flexible=True, style="yellow"),
        Column("what it is", flexible=True, style="dim", expendable=1),
        Column("gate", expendable=2),
    ]
    lines = [[structural_usage(row), first_cotangents(row), row.about, row.gate] for row in rows]
    foot = "'exprgrad ops NAME' shows one in full, with examples of shapes and settings"
    return Table(columns, lines, foot=foot)


def structural_pairs(row: Structural) -> Iterator[tuple[str, str]]:
    """A row in full, as labels and texts."""
    for parameter in row.parameters:
        by_default = (
            "" if parameter.default is ... else f"; {setting_text(parameter.default)} by default"
        )
        yield f"setting {parameter.name}", KINDS[parameter.kind] + by_default
    for case in cases(row.name):
        yield case.written, taken(row, case)
        for at, (name, cotangent) in enumerate(zip(names_of(row), case.cotangents, strict=True)):
            yield f"  for {name}", cotangent
            if case.computed:
                text = case.computed[at]
                yield (
                    "    computed",
                    text if len(text) <= LONGEST_COMPUTED else "as the source says",
                )
    yield COTANGENT, "the result's cotangent; out is the result"
    yield "source", source_of(row)
    if row.kink_words:
        yield "kink", f"where {row.kink_words}: the derivative is a convention"
    yield "gate", row.gate
    yield "LaTeX", row.latex


def source_of(row: Structural) -> str:
    """What a row's rule says of itself."""
    return " ".join((row.pull.__doc__ or "").split())


def structural_fields(row: Structural) -> dict[str, Any]:
    """One row as JSON has it."""
    return {
        "name": row.name,
        "word": row.word,
        "usage": structural_usage(row),
        "operands": list(row.names),
        "variadic": row.variadic,
        "about": row.about,
        "settings": [
            {
                "name": p.name,
                "kind": p.kind,
                "required": p.default is ...,
                "default": None if p.default is ... else p.default,
            }
            for p in row.parameters
        ],
        "cases": [
            {
                "usage": case.written,
                "shapes": [list(shape) for shape in case.shapes],
                "result": list(case.result),
                "cotangents": list(case.cotangents),
            }
            for case in cases(row.name)
        ],
        "source": source_of(row),
        "kink": row.kink_words or None,
        "gate": row.gate,
        "infix": row.infix or None,
        "latex": row.latex,
    }


# Conventions.

LIBRARIES = {"torch": "PyTorch", "jax": "JAX"}
"""The libraries in the record, and what they are called."""
Recorded = tuple[float, Sequence[float | None]]
"""A value and the local derivatives; None where a library says nothing."""
BETWEEN_ANSWERS = 2
"""The cells between two columns."""
NARROW = 8
"""The cells of a column of numbers, at least."""


@cache
def record() -> Mapping[str, Any]:
    """The libraries' ``versions``, and their answers by row, under ``operations``."""
    path = Path(__file__).with_name("conventions.json")
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


def answers(op: Op, library: str) -> dict[str, Recorded]:
    """What a library was recorded to return, by point as JSON writes it; empty without such a function."""
    row = record()["operations"].get(op.name, {})
    if library not in row:
        return {}
    return {
        json.dumps(point): (float(value), [None if p is None else float(p) for p in partials])
        for point, (value, partials) in zip(row["points"], row[library]["answers"], strict=True)
    }


def recorded(known: Mapping[str, Recorded], point: Critical) -> Recorded | None:
    """A library's answer at a point."""
    return known.get(json.dumps([finite(x) for x in point.operands]))


def convention_lines(op: Op) -> Iterator[str]:
    """The points as text; nothing for a row that has none.

    The libraries are columns, so that a line is short whatever the number of operands.
    """
    points = critical_points(op)
    if not points:
        return
    known = {library: found for library in LIBRARIES if (found := answers(op, library))}
    heads = ["exprgrad", *[LIBRARIES[library] for library in known]]
    labels = ["value", *[f"for {name}" for name in op.formula_names]]
    blocks = []
    for point in points:
        columns: list[Recorded | None] = [(point.value, point.partials)]
        columns += [recorded(found, point) for found in known.values()]
        blocks.append(
            [[answer_cell(column, place) for column in columns] for place in range(len(labels))]
        )
    texts = [heads, *[line for block in blocks for line in block]]
    widths = [max(NARROW, *map(len, column)) for column in zip(*texts, strict=True)]
    indent = max(map(len, labels)) + 4
    yield flush_right("", heads, widths, indent)
    for point, block in zip(points, blocks, strict=True):
        yield f"  at {where(op, point)}, {point.what}"
        for label, line in zip(labels, block, strict=True):
            yield flush_right(f"    {label}", line, widths, indent)
    yield from sources(op)


def flush_right(label: str, cells: Sequence[str], widths: Sequence[int], indent: int) -> str:
    """A label and cells, flush right."""
    padded = [
        f"{text:>{width + BETWEEN_ANSWERS}}" for text, width in zip(cells, widths, strict=True)
    ]
    return f"{label:<{indent}}{''.join(padded)}"


def answer_cell(answer: Recorded | None, place: int) -> str:
    """A value, or the derivative for an operand, as people read it."""
    if answer is None:
        return "?"
    number = answer[0] if place == 0 else answer[1][place - 1]
    return "none" if number is None else decimal(number, 6)


def where(op: Op, point: Critical) -> str:
    """The operands of a point by name; a zero's sign is shown, for it may count."""
    pairs = zip(op.formula_names, point.operands, strict=True)
    return ", ".join(f"{name} = {x:g}" for name, x in pairs)


def sources(op: Op) -> Iterator[str]:
    """Which function of which version each library's answers are of."""
    row = record()["operations"].get(op.name)
    for library, name in LIBRARIES.items():
        if row is None:
            yield f"  {name}: not recorded"
            continue
        function = row[library]["function"] if library in row else "has none"
        yield f"  {name} {record()['versions'][library]}: {function}"


def convention_fields(op: Op) -> list[dict[str, Any]]:
    """The points as JSON has them; a library is null that has no such function."""
    known = {library: answers(op, library) for library in LIBRARIES}
    return [
        {
            "at": dict(zip(op.formula_names, map(finite, point.operands), strict=True)),
            "what": point.what,
            "exprgrad": said((point.value, point.partials)),
            **{library: said(recorded(found, point)) for library, found in known.items()},
        }
        for point in critical_points(op)
    ]


def said(answer: Recorded | None) -> dict[str, Any] | None:
    """An answer as JSON has it."""
    if answer is None:
        return None
    return {"value": finite(answer[0]), "partials": [finite(partial) for partial in answer[1]]}
