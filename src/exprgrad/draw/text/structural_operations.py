"""The structural rows of the op table as people read them.

How a cotangent goes back is read off the row: its ``pull`` is built for operands of a few shapes, and
written.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from itertools import product
from typing import Any, NamedTuple

from exprgrad.derive.rules import Rule, computed, shown
from exprgrad.derive.sweeps.edges import GRAD, edge_program
from exprgrad.draw.text.table import Column, Table
from exprgrad.graph.graph import INPUT, Graph
from exprgrad.graph.literal import Settings, Shape
from exprgrad.graph.structural import Mismatch, Parameter, Structural, shape_text
from exprgrad.language.write.infix import ATOM, expression, operation_text, setting_text

__all__ = ["Case", "cases", "pairs", "row_fields", "structural_overview", "structural_usage"]

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
    from exprgrad.graph.tensors import STRUCTURAL

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


def told(row: Structural) -> str:
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
    lines = [[structural_usage(row), told(row), row.about, row.gate] for row in rows]
    foot = "'exprgrad ops NAME' shows one in full, with examples of shapes and settings"
    return Table(columns, lines, foot=foot)


def pairs(row: Structural) -> Iterator[tuple[str, str]]:
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


def row_fields(row: Structural) -> dict[str, Any]:
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
