"""Programs in the operations that a target has.

A row that a target cannot spell is replaced by its formula where that is short; a longer formula becomes
a function of its own (``row_programs``), so that the program stays readable.  That formula is the row's
``value``, else its ``formula``, else its ``definition``; of a structural row its ``formula``.  Lowering
comes after differentiation: the derivatives are those of the rows, not of the formulas.
"""

from __future__ import annotations

from collections.abc import Collection, Container, Iterator, Sequence
from functools import lru_cache, reduce
from math import copysign, isnan

from exprgrad.derive.build import NEGATIVES, GraphBuilder
from exprgrad.derive.rules import operation_count, template
from exprgrad.derive.search import root_search
from exprgrad.errors import RequestError
from exprgrad.graph.graph import CONST, INPUT, Binding, Graph, LoopProgram, Program
from exprgrad.graph.ops import BY_NAME, is_root
from exprgrad.graph.tensors import STRUCTURAL
from exprgrad.language.code.target import Routine, Variant, variant_of_node, variant_operands

__all__ = [
    "IN_PLACE", "defining_formula", "lower_program", "lower_sum", "missing_rows", "row_programs",
]  # fmt: skip

IN_PLACE = 2
"""The most operations of a formula written in place."""
DEPTH = 4
"""The depth searched for what makes a node positive."""


def defining_formula(kind: str) -> str:
    """Return a row's formula in other operations, the most accurate in the table."""
    op = BY_NAME[kind]
    return op.value or op.fallback or op.definition


def lower_program(
    program: Program,
    spelled: Container[str],
    written: Graph | None = None,
    longest: float = IN_PLACE,
) -> Program:
    """Replace each operation that is not ``spelled`` by its formula, unless that is too long.

    Formulas may round differently, and ``x^2`` becomes ``x*x``, which is correctly rounded; all other
    numbers stay the same.  ``longest`` is the most operations of a formula that replaces an operation.
    ``written`` is the formula that the program came from: its names are kept in the program.
    """
    builder = GraphBuilder(program.graph.empty())
    graph = builder.graph
    if written is not None:
        images = rebuild_lowered(builder, written, spelled, longest)
        graph.bindings = [Binding(b.name, images[b.node], b.span) for b in written.bindings]
        graph.output_name = written.output_name
    images = rebuild_lowered(builder, program.graph, spelled, longest)
    outputs = tuple([images[output] for output in program.outputs])
    graph.output = outputs[0]
    return Program(graph, outputs)


def row_programs(
    program: Program, spelled: Collection[str]
) -> dict[Routine, Program | LoopProgram]:
    """Return the rows that a lowered program needs as functions, each before those that call it."""
    found: dict[Routine, Program | LoopProgram] = {}
    words = frozenset(spelled)
    todo = missing_rows(program.graph, spelled)
    while todo:
        row = todo[-1]
        if row in found:
            todo.pop()
            continue
        lowered = routine_program(row, words)
        inside = lowered[1:] if isinstance(lowered, LoopProgram) else (lowered,)
        needed = [other for graph, _ in inside for other in missing_rows(graph, spelled)]
        first = [other for other in dict.fromkeys(needed) if other not in found]
        if first:
            todo += first
        else:
            found[todo.pop()] = lowered
    return found


@lru_cache(maxsize=1024)
def routine_program(row: Routine, spelled: frozenset[str]) -> Program | LoopProgram:
    """Return a row as a lowered program of its own; a root's is a loop."""
    if isinstance(row, Variant):
        return lower_program(structural_formula(row), spelled)
    if is_root(row):
        state, *programs = root_search(row)
        return LoopProgram(state, *[lower_program(program, spelled) for program in programs])
    text = template(defining_formula(row))
    return lower_program(Program(text, (text.output,)), spelled, text)


def structural_formula(variant: Variant) -> Program:
    """Return a structural operation in others; raises ``RequestError`` if its row has no fallback."""
    row, builder = STRUCTURAL[variant.kind], GraphBuilder(Graph([]))
    if row.fallback is None:
        raise RequestError(
            "no-spelling",
            f"'{row.word}' is not spelled in this language, nor made of what is",
            help="its row in the table needs a fallback",
        )
    operands = [
        builder.input(name, shape)
        for name, shape in zip(variant_operands(variant), variant.operands, strict=True)
    ]
    return builder.program([row.fallback(builder, operands, variant.settings)])


def missing_rows(graph: Graph, spelled: Container[str]) -> list[Routine]:
    """Return the rows in a graph that a target does not spell."""
    rows: Iterator[Routine] = (
        kind if kind in BY_NAME else variant_of_node(graph, node)
        for node, kind in enumerate(graph.kinds)
        if kind not in (INPUT, CONST) and kind not in spelled
    )
    return [*dict.fromkeys(rows)]


def rebuild_lowered(
    builder: GraphBuilder, graph: Graph, spelled: Container[str], longest: float
) -> list[int]:
    """Build every node of a graph again, lowered.  Return the new nodes.

    Elementwise operations on broadcast operands alone are made first, then broadcast.
    """

    def lowered(node: int, images: Sequence[int]) -> int | None:
        kind = graph.kinds[node]
        if kind not in BY_NAME:
            return None
        made = builder.graph
        operands = [
            made.operands[image][0] if made.kinds[image] == "broadcast" else image
            for image in [images[operand] for operand in graph.operands[node]]
        ]
        image = lower_operation(builder, kind, operands, spelled, longest)
        if builder.shape(image) != graph.shape(node):
            image = builder.apply("broadcast", image, settings=(graph.shape(node),))
        return image

    return builder.include(graph, rule=lowered)


def lower_operation(
    builder: GraphBuilder,
    kind: str,
    operands: Sequence[int],
    spelled: Container[str],
    longest: float,
) -> int:
    """Lower one operation, to two operands at most where the row takes any number."""
    op = BY_NAME[kind]
    if op.variadic and len(operands) > 2:
        return reduce(
            lambda one, other: lower_operation(builder, kind, (one, other), spelled, longest),
            operands,
        )
    if kind == "pow" and builder.value(operands[1]) == 2:
        return builder.product((operands[0], operands[0]))
    if kind == "add":
        return lower_sum(builder, operands[0], operands[1])
    if kind == "abs" and is_surely_nonnegative(builder, operands[0]):
        return operands[0]
    if kind == "where" and is_always_first_branch(builder, *operands):
        return operands[1]
    branches = [builder.value(branch) for branch in operands[1:]]
    if kind == "where" and operands[0] in builder.flags and branches == [1, 0]:
        return operands[0]
    if kind in spelled or op.equation is not None:
        return builder.apply(kind, *operands)
    if operation_count(defining_formula(kind)) > longest:
        return builder.apply(kind, *operands)
    text = template(defining_formula(kind))
    lowered = lower_program(Program(text, (text.output,)), spelled, longest=longest)
    given = dict(zip(op.fallback_names, operands, strict=True))
    return builder.include(lowered.graph, given)[lowered.outputs[0]]


def is_always_first_branch(builder: GraphBuilder, condition: int, x: int, y: int) -> bool:
    """Whether a choice always takes its first branch: ``where(u >= 0, 1/u, nan)``, u being 1 + v^2.

    Where u is nan, so is 1/u.
    """
    graph, last = builder.graph, builder.graph.payloads[y]
    if graph.kinds[condition] != "ge" or not isinstance(last, float) or not isnan(last):
        return False
    inside, bound = graph.operands[condition]
    divides = graph.kinds[x] == "div" and inside in graph.operands[x]
    return divides and builder.value(bound) == 0 and is_surely_nonnegative(builder, inside)


def is_surely_nonnegative(builder: GraphBuilder, node: int, depth: int = DEPTH) -> bool:
    """Whether a node is visibly never below 0, nor -0."""
    graph, value = builder.graph, builder.value(node)
    kind, operands = graph.kinds[node], graph.operands[node]
    if value is not None:
        return copysign(1, value) > 0
    if kind not in BY_NAME or BY_NAME[kind].not_negative:
        return kind in BY_NAME
    if kind == "mul" and operands[0] == operands[1]:
        return True
    is_kept = kind == "sqrt" or BY_NAME[kind].powers or BY_NAME[kind].signs == (1, 1)
    return (
        bool(is_kept)
        and depth > 0
        and all(is_surely_nonnegative(builder, o, depth - 1) for o in operands)
    )


def lower_sum(builder: GraphBuilder, x: int, y: int) -> int:
    """Lower a sum; a negative term is subtracted, which is the same to the last bit."""
    value = builder.value(y)
    if value is not None and value < 0:
        return builder.apply("sub", x, builder.constant(-value))
    kinds, operands = builder.graph.kinds, builder.graph.operands
    if kinds[y] in NEGATIVES:
        return builder.apply("sub", x, operands[y][0])
    if kinds[x] in NEGATIVES:
        return builder.apply("sub", y, operands[x][0])
    return builder.apply("add", x, y)
