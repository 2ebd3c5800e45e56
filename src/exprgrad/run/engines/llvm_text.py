"""A program of numbers as a loop in LLVM's language, several rows at a time.

The loop has no branch but its own.  Its last turn takes the last rows, some of them for the second time
where the number of rows is no multiple of the width.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from exprgrad.derive.constant_folding import is_flag
from exprgrad.graph.graph import Graph, Program, dependencies
from exprgrad.graph.ops import COMPARISONS
from exprgrad.run.engines.llvm_writer import STORED, Dialect, Writer, literal
from exprgrad.run.engines.memory import PAGE

__all__ = ["ENTRY", "module", "streamed"]

ENTRY = "kernel"
"""The name of the function: (columns, outputs, start, stop), both arrays of pointers."""
LOGIC = {"mul": "and x y", "max": "or x y", "where": "choose x y z"}
"""Rows on truth values."""
FEW = 12
"""Addresses of so many columns stay in registers; of more they are fetched in each turn of the loop."""


def module(program: Program, inputs: Sequence[str], dialect: Dialect) -> tuple[str, list[str]]:
    """The text of a module with one function, ``ENTRY``, and the functions that it calls.

    The rows from ``start`` to before ``stop`` must be as many as a vector has, or more.
    """
    few = len(program.graph.inputs) + len(program.outputs) <= FEW
    writer = Writer(dialect, few)
    written(writer, program, {name: place for place, name in enumerate(inputs)})
    text = LOOP.format(
        name=ENTRY,
        width=dialect.width,
        bits=64 * dialect.width,
        page=PAGE,
        entry="\n".join(writer.entry),
        body=writer.body(),
        declared="\n".join([*writer.declared.values(), *table(writer.numbers)]),
    )
    return text, list(writer.declared)


def table(numbers: Sequence[str]) -> list[str]:
    """The definition of the numbers that are fetched, if there are any."""
    if not numbers:
        return []
    listed = ", ".join([f"double {number}" for number in numbers])
    return [f"@numbers = internal global [{len(numbers)} x double] [{listed}]"]


def streamed(text: str, width: int) -> str:
    """The module with stores that pass the caches by, for outputs at multiples of a vector's size.

    They are seen by other threads after a fence.
    """
    text = text.replace(STORED, f"align {8 * width}, !nontemporal !1")
    return text.replace("  ret void", "  fence seq_cst\n  ret void") + "!1 = !{i32 1}\n"


def written(writer: Writer, program: Program, columns: Mapping[str, int]) -> None:
    """Write the instructions for a program; ``columns`` are the places of the inputs' columns.

    Inputs are fetched where they are needed first, and outputs are written where they are known: the less
    waits for something, the less the compiler has to look at, whose time grows with the square of it.
    """
    graph, outputs = program
    truths = conditions(graph)
    needed = dependencies(graph, *outputs)
    wanted: dict[int, list[int]] = {}
    for place, output in enumerate(outputs):
        wanted.setdefault(output, []).append(place)
    numbers: dict[int, str] = {}
    masks: dict[int, str] = {}

    def number(node: int) -> str:
        """A node as numbers: a condition is 1 or 0."""
        if node not in numbers:
            payload = graph.payloads[node]
            if isinstance(payload, float):
                numbers[node] = literal(repr(payload), False)
            elif isinstance(payload, str):
                numbers[node] = writer.load(columns[payload])
            else:
                numbers[node] = writer.steps("select x 1 0", [masks[node]])
        return numbers[node]

    def mask(node: int) -> str:
        """A node as truth values: where it is not 0."""
        if node not in masks:
            payload = graph.payloads[node]
            if isinstance(payload, float):
                masks[node] = f"splat (i1 {'true' if payload else 'false'})"
            else:
                masks[node] = writer.steps("ne x 0", [number(node)])
        return masks[node]

    for node, kind in enumerate(graph.kinds):
        operands = graph.operands[node]
        if not needed[node]:
            continue
        if not operands:
            pass
        elif truths[node] and kind in COMPARISONS:
            masks[node] = writer.operation(kind, [number(operand) for operand in operands])
        elif truths[node]:
            masks[node] = writer.steps(LOGIC[kind], [mask(operand) for operand in operands])
        elif kind == "where":
            c, x, y = operands
            numbers[node] = writer.operation(kind, [mask(c), number(x), number(y)])
        else:
            numbers[node] = writer.operation(kind, [number(operand) for operand in operands])
        for place in wanted.get(node, ()):
            writer.store(place, number(node))


def conditions(graph: Graph) -> bytearray:
    """A flag for each node: whether it is 1 or 0 everywhere, and so kept as truth values."""
    found = bytearray(len(graph))
    for node, kind in enumerate(graph.kinds):
        operands = graph.operands[node]
        payload = graph.payloads[node]
        if kind in COMPARISONS or (isinstance(payload, float) and is_flag(payload)):
            found[node] = 1
        elif kind in LOGIC:
            given = operands[1:] if kind == "where" else operands
            found[node] = len(given) == 2 and all(found[operand] for operand in given)
    return found


LOOP = """\
{declared}
define void @{name}(ptr %columns, ptr %outputs, i64 %start, i64 %stop) #0 {{
entry:
  %page = alloca [{page} x i8], align {page}
{entry}
  %last = sub i64 %stop, {width}
  br label %loop
loop:
  %row = phi i64 [%start, %entry], [%next, %loop]
{body}
  %following = add i64 %row, {width}
  %beyond = icmp sgt i64 %following, %last
  %next = select i1 %beyond, i64 %last, i64 %following
  %done = icmp eq i64 %row, %last
  br i1 %done, label %exit, label %loop
exit:
  ret void
}}
attributes #0 = {{ nounwind "min-legal-vector-width"="{bits}" "prefer-vector-width"="{bits}" }}
!0 = !{{}}
"""
"""``page`` is there for its alignment alone: what does not fit into registers is kept below it, at the end
of a page, and literals are at the beginning of one.  Where both have the same place in their pages, a
processor takes a literal for what it has just put away, until it finds that it is not: the loop then takes
up to 1.4 × as long, at one call in five.
"""
