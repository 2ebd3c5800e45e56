"""The op table as people read it: an overview, one operation in full, and a JSON document.

A structural row's ``vjp`` is shown as text: it is built for operands of a few shapes, and written.  At a
row's critical points our answers are shown beside those of PyTorch and JAX, from ``conventions.json``;
``python -m benchmarks.conventions``, which needs both libraries, writes that file.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from itertools import product
from operator import attrgetter
from pathlib import Path
from textwrap import wrap
from typing import Any, NamedTuple

from exprgrad.derive.rules import Rule, computed, rule_slots, shown, template
from exprgrad.derive.sweeps.gradient import GRAD, edge_program
from exprgrad.errors import RequestError
from exprgrad.graph.graph import INPUT, Graph, Settings, Shape
from exprgrad.graph.op import Family
from exprgrad.graph.ops import (
    BY_INFIX,
    BY_NAME,
    FAMILIES,
    FUNCTIONS,
    IN_OTHER_WORDS,
    OPS,
    Op,
    family_member,
)
from exprgrad.graph.structural import ShapeMismatch, Structural, shape_text
from exprgrad.graph.tensors import STRUCTURAL, WORDS
from exprgrad.language.write.infix import ATOM, expression_text, operation_text, setting_text
from exprgrad.run.numbers.sweeps import (
    at_pole,
    companion_values,
    compile_template,
    condition_holds,
    functions,
)
from exprgrad.show.documents.document import encode_nonfinite
from exprgrad.show.text.lines import INDENT, align_columns, decimal_text
from exprgrad.show.text.table import Column, Table
from exprgrad.source import bracket_depths

__all__ = [
    "CSV_COLUMNS", "LIBRARIES", "MOST_POINTS", "STANDING_FOR", "Case", "convention_fields",
    "convention_lines", "convention_record", "critical_points_of_row", "example_cases",
    "example_operands", "find_rows", "operation_details", "operation_usage", "operations_fields",
    "operations_table", "overview_parts", "parse_operation_name", "structural_overview",
]  # fmt: skip

SOURCE = "source"
"""The label of prose, which is broken between words."""
WIDTH = 90
"""The width of an operation in full, in columns."""
BREAK = re.compile(r"(?<=,) | (?=[+-] )")
"""The places to break a formula: after a comma, or before a sum's sign."""


Row = Op | Structural
"""A row of the op table: elementwise, number by number, or structural, which sees shapes."""
SYMBOLS = {"**": "pow", ".T": "transpose", "T": "transpose", "[]": "index", "x[]": "index"}
"""Other names of operations that are written with symbols."""
ELEMENTWISE, STRUCTURED, IN_SHORT = (
    "Elementwise: number by number",
    "Structural: of vectors, matrices and tensors",
    "In short: several of them at once",
)


FORMS = (
    ("sum(x^k for k in 1..10)", "a sum over an index; so are prod, mean, max and min"),
    ("[x^k for k in 0..4]", "a list over an index"),
    (
        "x[0] = a; x[k] = x[k - 1]/2 for k in 1..10; x[10]",
        "a recurrence, and the term that is meant",
    ),
    ("f(x, y) = x*exp(-y); f(2, a)", "a function of one's own, and a call of it"),
    ("d(x^3, x)", "a derivative inside of a formula; the second one is d(x^3, x, 2)"),
    (
        "root(x^2 - 2, x, 1)",
        "a root, searched for from 1; between two ends it is root(x^2 - 2, x, 0, 2)",
    ),
)
"""Short spellings that are not operations of their own."""
STANDING_FOR = {
    word: (f"{word}({', '.join(names.split())})", formula)
    for word, (names, formula) in IN_OTHER_WORDS.items()
}
"""The calls that are read as formulas: each call's notation, and its formula."""
CALL = re.compile(r"\s*([^\W\d]\w*)\s*\((?:\s*([0-9]{1,4})\s*[,)])?.*", re.DOTALL)
"""A call, and the whole number that it begins with."""
MODULE = re.compile(r"^(?:[a-z]+\.)+(?=\w)|^[A-Z]\w*\.(?=[a-z])")
"""The prefix of a function in a library: ``np.``, ``torch.nn.``, ``F.``."""


def parse_operation_name(name: str) -> tuple[str, str | None]:
    """A requested name without its module or operands, and the number of a family's member."""
    name = MODULE.sub("", name.strip())
    call = CALL.fullmatch(name)
    word, number = call.groups() if call else (name, None)
    family, _, order = word.rpartition("_")
    is_member = family in FAMILIES and order.isdecimal() and len(order) < 5
    return (family, order) if is_member else (word, number)


def member_of_family(family: Family, number: str | None) -> Op:
    """A family's member of the requested number, or the first one."""
    wanted = int(number or family.least)
    if family.least <= wanted <= family.greatest:
        return family_member(family, wanted)
    raise RequestError(
        "unknown-operation",
        f"there is no {family.name} of {wanted}",
        help=f"its whole number is from {family.least} to {family.greatest}",
    ).about(str(number))


OVER_INDEX = f"{FORMS[0][0]} is {FORMS[0][1]}, and a list: {FORMS[1][0]}"


def find_rows(name: str | None) -> Sequence[Row]:
    """All rows, or those of that name or symbol; an error with a suggestion where there is none.

    ``max`` and its like name two rows: of several numbers, and of all in a tensor.  Any other word
    is searched for in the rows' descriptions, and among their names in other libraries.
    """
    if name is None:
        return (*OPS, *STRUCTURAL.values())
    name, number = parse_operation_name(name)
    known = SYMBOLS.get(name, name)
    structural = [
        row for row in STRUCTURAL.values() if known and known in (row.word, row.name, row.infix)
    ]
    op = BY_NAME.get(known) or BY_INFIX.get(known) or FUNCTIONS.get(known)
    if known in FAMILIES:
        op = member_of_family(FAMILIES[known], number)
    found: list[Row] = [op, *structural] if op else [*structural]
    if found:
        return found
    from exprgrad.language.mistakes.foreign import DERIVATIVES, ROOTS
    from exprgrad.language.mistakes.hints import (
        NAMES_HERE,
        operation_meant,
        suggest_function_spelling,
    )

    ours, message = suggest_function_spelling(name), f"there is no operation '{name}'"
    other_forms = {word: f"{call} stands for {text}" for word, (call, text) in STANDING_FOR.items()}
    other_forms |= {"d": DERIVATIVES, "root": ROOTS, "for": OVER_INDEX}
    help = other_forms.get(name) or (ours and f"that is written {ours}")
    if help is None and len(name) > 2:
        begins = re.compile(rf"(?<![a-z]){re.escape(name.casefold())}")
        matching = [
            row
            for row in find_rows(None)
            if begins.search(f"{row.name} {row.foreign_names} {row.about}".casefold())
        ]
        if matching:
            return matching
    words = [*BY_NAME, *WORDS, *IN_OTHER_WORDS]
    help = help or operation_meant(NAMES_HERE.get(name, name), words, "operations")
    raise RequestError("unknown-operation", message, help=help).about(name)


def overview_parts(rows: Sequence[Row]) -> Iterator[str | Table]:
    """The rows a line each, in a table for each of the two sorts, under its title."""
    ops = [row for row in rows if isinstance(row, Op)]
    structural = [row for row in rows if isinstance(row, Structural)]
    yield from (f"{ELEMENTWISE}\n", operations_table(ops), f"\n{STRUCTURED}\n")
    columns = [Column("form", style="bold"), Column("what it is", flexible=True)]
    forms = Table(columns, [*FORMS, *STANDING_FOR.values()])
    yield from (structural_overview(structural), f"\n{IN_SHORT}\n", forms)


def operation_usage(row: Row) -> str:
    """An operation's notation: its operands, and a structural one's settings with their defaults."""
    operands = (*example_operands(row), "…") if row.variadic else row.names
    if isinstance(row, Op):
        return operation_text(row.name, [(name, ATOM) for name in operands], spaced=True)
    if row.infix:
        return f" {row.infix} ".join(row.names)
    if row.name == "index":
        return f"{row.names[0]}[{row.parameters[0].name}]"
    settings = [
        p.name if p.default is ... else f"{p.name}={setting_text(p.default)}"
        for p in row.parameters
    ]
    return f"{row.word}({', '.join((*operands, *settings))})"


def example_operands(row: Row) -> tuple[str, ...]:
    """The names of the operands in an example."""
    return ("x", "y") if row.variadic else row.names


def local_derivatives_text(row: Row) -> str:
    """The local derivatives on one line, or the cotangents of a structural row's first example.

    Says which example it is, if the cotangents of others look different.
    """
    if isinstance(row, Op):
        return ",  ".join(map(row.display_partial, range(len(row.names))))
    case = example_cases(row.name)[0]
    text, shapes = ",  ".join(case.cotangents), operand_shapes(row, case)
    if any(parameter.default is ... for parameter in row.parameters):
        return f"{text}  for {case.written}, {shapes}" if any(map(str.isdigit, text)) else text
    doubled = tuple([tuple([2 * length for length in shape]) for shape in case.shapes])
    other = make_case(row, doubled, case.settings, row.shape(doubled, case.settings))
    return text if other.cotangents == case.cotangents else f"{text}  for {shapes}"


def operations_table(rows: Sequence[Op]) -> Table:
    """The elementwise operations, a line each."""
    columns = [
        Column("operation", style="bold"),
        Column("local derivatives", flexible=True, style="yellow"),
        Column("domain", style="dim", expendable=2),
        Column("gate", expendable=1),
    ]
    lines = [
        [
            operation_usage(op),
            local_derivatives_text(op),
            "see ops " + op.name if op.domain_words else op.domain,
            op.gate,
        ]
        for op in rows
    ]
    foot = "'exprgrad ops NAME' shows one in full; 'out' is the operation's own result"
    return Table(columns, lines, foot=foot)


def operation_details(op: Row) -> str:
    """One operation in full, with its answers at critical points below it."""
    facts = elementwise_pairs(op) if isinstance(op, Op) else structural_pairs(op)
    pairs = [(label, text) for label, text in facts if text]
    conventions = [*convention_lines(op)] if isinstance(op, Op) else []
    room = WIDTH - max(len(label) for label, _ in pairs) - 4
    rows = [
        [f"  {label}" if place == 0 else "", line]
        for label, text in pairs
        for place, line in enumerate(
            wrap(text, room, subsequent_indent="  ")
            if label == SOURCE
            else break_formula(text, room)
        )
    ]
    lines = [
        *wrap(f"{operation_usage(op)}: {op.about}", WIDTH, subsequent_indent=INDENT),
        *align_columns(rows),
    ]
    lines += ["", *conventions] if conventions else []
    return "".join(f"{line}\n" for line in lines)


def elementwise_pairs(op: Op) -> Iterator[tuple[str, str]]:
    """An elementwise row in full, as labels and texts; a text is empty where there is nothing to say."""
    yield from rule_lines(op)
    if op.variadic:
        yield "ties", f"{op.ties_words}:"
        yield "", f"the sum over all operands of {op.ties}"
    texts = [*op.partials, *(s.where for s in op.special), *([op.ties] if op.ties else [])]
    used = {name for text in texts for name in template(text).inputs}
    flags = {"varies": "the operand"} | {f"varies_{name}": name for name in op.names}
    for flag in filter(used.__contains__, flags):
        yield flag, f"1 if {flags[flag]} depends on an input, else 0"
    yield from (
        ("the same as", op.definition),
        ("domain", op.domain and (op.domain_words or op.domain)),
        *(("pole", f"{value} where {where}") for where, value in op.poles),
        *((special.code, f"where {special.where}: {special.why}") for special in op.special),
        ("gate", op.gate),
        ("accuracy", accuracy_text(op)),
        ("but", op.caveat),
    )


def rule_lines(op: Op) -> Iterator[tuple[str, str]]:
    """The local derivatives, as people read them and as they are computed, a statement a line.

    Steps that several share are shown once.
    """
    programs = [partial.split("; ") for partial in op.partials]
    shared = programs[0][:-1]
    if len(programs) == 1 or any(program[:-1] != shared for program in programs):
        shared = []
    for at, (name, program) in enumerate(zip(op.names, programs, strict=True)):
        rule = op.display_partial(at)
        yield f"for {name}", rule
        own = program[len(shared) :]
        for position, statement in enumerate(own if own != [rule] else []):
            yield "" if position else "  computed", statement
    for position, statement in enumerate(shared):
        yield "" if position else "with", statement


def accuracy_text(op: Op) -> str:
    """The accuracy of value and local derivatives, in words."""
    value, partial = (
        {0.0: "exact", 0.5: "correctly rounded"}.get(ulps, f"within {ulps:g} ulp")
        + (f" or {least:.2g}" if least else "")
        for ulps, least in ((op.value_ulp, op.value_abs), (op.partial_ulp, op.partial_abs))
    )
    if value == partial:
        return f"value and local derivatives {value}"
    return f"value {value}, local derivatives {partial}"


def break_formula(text: str, width: int, indent: str = "") -> list[str]:
    """A text on lines of at most ``width`` columns, as far as it may be broken.

    It is broken at its outermost commas, or else at its outermost sums; what is still too long is
    broken again, further in.
    """
    if len(indent + text) <= width:
        return [indent + text]
    deep = bracket_depths(text)
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
        for part in break_formula(line.lstrip(), width, line[: len(line) - len(line.lstrip())])
    ]


# Structural rows.

SHAPES: tuple[Shape, ...] = ((3, 4), (4, 2), (3,), (4,), (3, 3), ())
"""Operands' shapes in examples; axes differ in size, so that a number shows which one it is."""
EXAMPLES: dict[str, tuple[Any, ...]] = {
    "axis": (1,),
    "axes": (0,),
    "flag": (),
    "order": ((1, 0),),
    "size": (5,),
    "shape": ((4, 3), (2, 3, 4)),
    "places": ((0,), (0, (1, 3))),
}
"""The values in examples, beside the default, by the kind of a setting."""
SETTING_WORDS = {
    "axis": "an axis",
    "axes": "an axis, or a list of them",
    "flag": "True or False",
    "order": "a list of all axes",
    "size": "a positive whole number",
    "shape": "a list of sizes",
    "places": "an index or a slice for each of the first axes",
}
COTANGENT = "g"
"""The name of the result's cotangent."""


LONGEST_COMPUTED = 100
"""The longest text of what is computed in place of what people read."""


class Case(NamedTuple):
    """A row on operands of some shapes: how it is written, the shapes, and each operand's cotangent.

    ``settings`` are the row's; ``computed`` are the cotangents as they are computed, where people read
    another form.
    """

    written: str
    shapes: tuple[Shape, ...]
    result: Shape
    cotangents: tuple[str, ...]
    settings: Settings = ()
    computed: tuple[str, ...] = ()


@cache
def example_cases(name: str) -> tuple[Case, ...]:
    """Examples of a row: with operands of various ranks, or else with various settings."""
    row = STRUCTURAL[name]
    found: dict[object, Case] = {}
    choices = [
        EXAMPLES[p.kind] if p.default is ... else (p.default, *EXAMPLES[p.kind])
        for p in row.parameters
    ]
    for shapes in product(SHAPES, repeat=len(example_operands(row))):
        for settings in product(*choices):
            if row.parameters and found and shapes not in {case.shapes for case in found.values()}:
                continue
            try:
                result = row.shape(shapes, settings)
            except ShapeMismatch:
                continue
            told = (tuple(map(len, shapes)), settings)
            if told not in found:
                found[told] = make_case(row, shapes, settings, result)
    return tuple(found.values())


def make_case(
    row: Structural, shapes: tuple[Shape, ...], settings: Settings, result: Shape
) -> Case:
    """An example, with the row's own rules written for it."""
    written = operation_text(
        row.name, [(name, ATOM) for name in example_operands(row)], settings=settings
    )
    texts = cotangent_texts(row, shapes, settings, result, shown)
    others = cotangent_texts(row, shapes, settings, result, computed) if row.display_vjp else texts
    return Case(written, shapes, result, texts, settings, others if others != texts else ())


def cotangent_texts(
    row: Structural, shapes: tuple[Shape, ...], settings: Settings, result: Shape, rule: Rule
) -> tuple[str, ...]:
    """Each operand's cotangent, as people read it or as it is computed."""
    names = example_operands(row)
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
        texts[position] = expression_text(program.graph, program.outputs[2 * at], {}, None)
    for name, shape in zip(names, shapes, strict=True):
        sizes = f"shape={setting_text(shape)}"
        texts = {p: text.replace(sizes, f"shape={name}.shape") for p, text in texts.items()}
    return tuple(texts.values())


def operand_shapes(row: Structural, case: Case) -> str:
    """The operands of an example with their shapes."""
    named = zip(example_operands(row), case.shapes, strict=True)
    return ", ".join(f"{name} {shape_text(shape)}" for name, shape in named)


def structural_overview(rows: Sequence[Structural], *, brief: bool = False) -> Table:
    """All structural operations, a line each; ``brief`` leaves out their settings."""
    columns = [
        Column("operation", style="bold"),
        Column(f"cotangents, given the result's, {COTANGENT}", flexible=True, style="yellow"),
        Column("what it is", flexible=True, style="dim", expendable=2),
        Column("gate", expendable=1),
    ]
    usages = [*map(operation_usage, rows)]
    if brief:
        usages = [re.sub(r"(?:, …)?(?:, \w+=[^,)]*)+", ", …", text) for text in usages]
    lines = [
        [text, local_derivatives_text(row), row.about, row.gate]
        for text, row in zip(usages, rows, strict=True)
    ]
    foot = "'exprgrad ops NAME' shows one in full, with examples of shapes and settings"
    narrower = () if brief else (lambda: structural_overview(rows, brief=True),)
    return Table(columns, lines, foot=foot, narrower=narrower)


def structural_pairs(row: Structural) -> Iterator[tuple[str, str]]:
    """A row in full, as labels and texts."""
    from exprgrad.language.read.expansion import FOLDS

    for parameter in row.parameters:
        by_default = (
            "" if parameter.default is ... else f"; {setting_text(parameter.default)} by default"
        )
        yield f"setting {parameter.name}", SETTING_WORDS[parameter.kind] + by_default
    for case in example_cases(row.name):
        yield case.written, f"{operand_shapes(row, case)} gives {shape_text(case.result)}"
        for at, (name, cotangent) in enumerate(
            zip(example_operands(row), case.cotangents, strict=True)
        ):
            yield f"  for {name}", cotangent
            if case.computed:
                text = case.computed[at]
                yield (
                    "    computed",
                    text if len(text) <= LONGEST_COMPUTED else "as the source says",
                )
    if row.word in FOLDS:
        yield "over an index", f"{row.word}(x^k for k in 1..10)"
    yield COTANGENT, "the result's cotangent; out is the result"
    yield SOURCE, vjp_docstring(row)
    if row.kink_words:
        yield "kink", f"where {row.kink_words}: the derivative is a convention"
    yield "gate", row.gate
    yield "LaTeX", row.latex


def vjp_docstring(row: Structural) -> str:
    """The docstring of a structural row's rule, on one line."""
    return " ".join((row.vjp.__doc__ or "").split())


# Critical points: where a row's answer is a convention, or no number.  They are found from the row alone:
# a few simple points are tried.  Critical are those at a kink or a jump, at a pole, outside of the domain,
# where a local derivative is infinite, and where what people read has no answer but what is computed has.

MOST_POINTS = 6
"""The most points that are shown of one row."""
CANDIDATES = (0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.0, -2.0)
"""The values tried for each operand, the simplest first."""


class CriticalPoint(NamedTuple):
    """A critical point: the operands, what it is, and the row's value and local derivatives there."""

    operands: tuple[float, ...]
    what: str
    value: float
    partials: tuple[float, ...]


def critical_points_of_row(op: Op) -> list[CriticalPoint]:
    """One critical point of each kind, at most ``MOST_POINTS``; a variadic row is taken over two."""
    found: dict[object, CriticalPoint] = {}
    arity = len(op.fallback_names)
    simplest = sorted(product(range(len(CANDIDATES)), repeat=arity), key=sum)
    candidates = [tuple([CANDIDATES[place] for place in point]) for point in simplest]
    for operands in [*candidates, *([(math.inf,), (-math.inf,)] if arity == 1 else [])]:
        what = point_kind(op, operands)
        if what:
            point = CriticalPoint(operands, what, *answer_and_partials_at(op, operands, computed))
            found.setdefault(equivalence_key(point), point)
    points = [*found.values()]
    firsts = {point.what: place for place, point in reversed([*enumerate(points)])}.values()
    rest = [place for place in range(len(points)) if place not in firsts]
    kept = [*firsts, *rest[: max(MOST_POINTS - len(firsts), 0)]]
    return [points[place] for place in sorted(kept)]


def point_kind(op: Op, operands: Sequence[float]) -> str:
    """The kind of a critical point, in words; empty for an ordinary one."""
    value, partials = answer_and_partials_at(op, operands, computed)
    views = companion_values(op, [*operands, value], [1.0] * len(operands))
    finite = all(map(math.isfinite, operands))
    for special in op.special if finite else ():
        if any(condition_holds(special.where, rule_slots(op), view) for view in views):
            return f"a {special.code}"
    if at_pole(op, operands):
        return "a pole"
    if op.domain and not condition_holds(op.domain, op.names, operands):
        return "outside the domain"
    if not finite:
        return ""
    if any(map(math.isinf, partials)):
        return "an infinite slope"
    if any(map(math.isnan, partials)):
        return "no slope"
    read = answer_and_partials_at(op, operands, shown)[1]
    return "nan by the textbook rule" if any(map(math.isnan, read)) else ""


def answer_and_partials_at(
    op: Op, operands: Sequence[float], rule: Rule
) -> tuple[float, tuple[float, ...]]:
    """The row's value, and its local derivatives according to ``rule``; every operand varies."""
    value = functions[op.name](*operands)
    views = companion_values(op, [*operands, value], [1.0] * len(operands))
    partials = [
        compile_template(template(rule(op, position)), rule_slots(op))(view)
        for position, view in enumerate(views)
    ]
    return value, tuple(partials)


def equivalence_key(point: CriticalPoint) -> object:
    """The key that two points share if one of them is enough; a zero's sign counts at a pole."""
    signs = None
    if point.what == "a pole":
        signs = tuple(math.copysign(1.0, x) for x in point.operands if x == 0)
    finite_value = None if math.isfinite(point.value) else str(point.value)
    slopes = ["a number" if math.isfinite(x) and x else str(x + 0.0) for x in point.partials]
    return point.what, finite_value, tuple(slopes), signs


# Conventions.

LIBRARIES = {"torch": "PyTorch", "jax": "JAX"}
"""The libraries in the record, and what they are called."""
NARROW = 8
"""The cells of a column of numbers, at least."""


@cache
def convention_record() -> Mapping[str, Any]:
    """The libraries' ``versions``, and their answers by row, under ``operations``."""
    path = Path(__file__).with_name("conventions.json")
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


def convention_fields(op: Op) -> list[dict[str, Any]]:
    """The points as JSON has them; a library is null that has no such function."""
    return [
        {
            "at": dict(zip(op.fallback_names, map(encode_nonfinite, point.operands), strict=True)),
            "what": point.what,
            "exprgrad": answer_fields(point.value, point.partials),
            **{library: library_record(op, library, point) for library in LIBRARIES},
        }
        for point in critical_points_of_row(op)
    ]


def library_record(op: Op, library: str, point: CriticalPoint) -> dict[str, Any] | None:
    """A library's recorded answer at a point; None without such a function."""
    row = convention_record()["operations"].get(op.name, {})
    if library not in row:
        return None
    # By their texts, for a zero's sign counts.
    answers = dict(zip(map(json.dumps, row["points"]), row[library]["answers"], strict=True))
    answer = answers.get(json.dumps([encode_nonfinite(x) for x in point.operands]))
    return None if answer is None else answer_fields(*answer)


def answer_fields(value: Any, partials: Sequence[Any]) -> dict[str, Any]:
    """A value and the local derivatives as JSON has them; None where a library has no answer."""
    numbers = [
        None if number is None else encode_nonfinite(float(number)) for number in (value, *partials)
    ]
    return {"value": numbers[0], "partials": numbers[1:]}


def convention_lines(op: Op) -> Iterator[str]:
    """The points as text; nothing for a row that has none.

    The libraries are columns, so that a line is short whatever the number of operands.
    """
    points, row = convention_fields(op), convention_record()["operations"].get(op.name, {})
    if not points:
        return
    titles = {"exprgrad": "exprgrad"} | {key: LIBRARIES[key] for key in LIBRARIES if key in row}
    rows: list[Sequence[str] | str] = [["", *(f"{title:>{NARROW}}" for title in titles.values())]]
    for point in points:
        # A zero's sign is shown, for it may count.
        at = ", ".join(f"{name} = {float(x):g}" for name, x in point["at"].items())
        rows.append(f"  at {at}, {point['what']}")
        columns = [
            [*map(point_cell, [point[key]["value"], *point[key]["partials"]])]
            if point[key]
            else ["?"] * (1 + len(op.fallback_names))
            for key in titles
        ]
        labels = ["value", *(f"for {name}" for name in op.fallback_names)]
        rows += [[f"    {label}", *cells] for label, *cells in zip(labels, *columns, strict=True)]
    yield from align_columns(rows, right=range(1, 1 + len(titles)))
    for library, name in LIBRARIES.items():
        if row:
            function = row[library]["function"] if library in row else "has none"
            yield f"  {name} {convention_record()['versions'][library]}: {function}"
        else:
            yield f"  {name}: not recorded"


def point_cell(number: float | str | None) -> str:
    """A number in six digits, or in four with an exponent, so that three fit beside each other."""
    if number is None:
        return "none"
    text = decimal_text(float(number), 6)
    return decimal_text(float(number), 4) if "e" in text else text


# For programs.

ROW_FIELDS: Mapping[str, Callable[[Any], Any]] = {
    "name": lambda row: row.name,
    "word": lambda row: row.word,
    "usage": operation_usage,
    "operands": lambda row: list(row.names),
    "variadic": lambda row: row.variadic,
    "about": lambda row: row.about,
    "partials": lambda op: list(op.partials),
    "shown": lambda op: list(op.display_partials or op.partials),
    "derivatives": local_derivatives_text,
    "definition": lambda op: op.definition or None,
    "domain": lambda row: getattr(row, "domain", "") or None,
    "poles": lambda op: [{"where": where, "value": value} for where, value in op.poles],
    "special": lambda op: [
        {"where": one.where, "code": one.code, "why": one.why} for one in op.special
    ],
    "settings": lambda row: [
        {
            "name": p.name,
            "kind": p.kind,
            "required": p.default is ...,
            "default": None if p.default is ... else p.default,
        }
        for p in row.parameters
    ],
    "cases": lambda row: [
        {
            "usage": case.written,
            "shapes": [list(shape) for shape in case.shapes],
            "result": list(case.result),
            "cotangents": list(case.cotangents),
        }
        for case in example_cases(row.name)
    ],
    "source": vjp_docstring,
    "kink": lambda row: row.kink_words or None,
    "gate": lambda row: row.gate,
    "infix": lambda row: row.infix or getattr(row, "prefix", "") or None,
    "latex": lambda row: row.latex,
    **{name: attrgetter(name) for name in ("value_ulp", "value_abs", "partial_ulp", "partial_abs")},
    "caveat": lambda op: op.caveat or None,
    "conventions": convention_fields,
}
"""The fields of a row for programs; ``JSON_FIELDS`` and ``CSV_COLUMNS`` choose among them."""
JSON_FIELDS = {
    Op: (
        "name usage operands variadic about partials shown definition domain poles special gate infix "
        "latex value_ulp value_abs partial_ulp partial_abs caveat conventions"
    ),
    Structural: "name word usage operands variadic about settings cases source kink gate infix latex",
}
CSV_FIELDS = ("name", "usage", "derivatives", "domain", "gate", "about")
CSV_COLUMNS = {field: ROW_FIELDS[field] for field in CSV_FIELDS}
"""The columns of CSV; of a structural row the derivatives are cotangents."""


def operations_fields(rows: Sequence[Row]) -> dict[str, Any]:
    """The rows as JSON has them: elementwise and structural ones apart."""
    return {
        group: [
            {field: ROW_FIELDS[field](row) for field in JSON_FIELDS[sort].split()}
            for row in rows
            if isinstance(row, sort)
        ]
        for group, sort in (("operations", Op), ("structural", Structural))
    }
