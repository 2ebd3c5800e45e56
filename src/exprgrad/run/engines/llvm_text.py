"""A program of numbers as a loop in LLVM's language, several rows at a time.

Each operation is a few steps (``vector_math.py``), each step an instruction on vectors: of doubles, of
their bits, or of truth values.  What is computed already is not computed again.  The loop has no branch but
its own.  Its last turn takes the last rows, some of them for the second time
where the number of rows is no multiple of the width.
"""

from __future__ import annotations

import re
import struct
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache, reduce
from itertools import chain
from typing import NamedTuple

from exprgrad.graph.graph import Program
from exprgrad.graph.ops import BY_NAME
from exprgrad.run.engines.memory import PAGE
from exprgrad.run.engines.truths import with_truths

__all__ = ["ENTRY", "SELDOM", "Dialect", "module", "streamed"]

ENTRY = "kernel"
"""The name of the function: (columns, outputs, start, stop), both arrays of pointers."""
FEW = 12
"""Addresses of so many columns stay in registers; of more they are fetched in each turn of the loop."""
INSTRUCTIONS = {
    **{name: f"f{name} $V {{0}}, {{1}}" for name in ("add", "sub", "mul", "div")},
    "fmod": "frem $V {0}, {1}",
    "neg": "fneg $V {0}",
    **{name: f"fcmp o{name} $V {{0}}, {{1}}" for name in ("lt", "le", "gt", "ge", "eq")},
    "ne": "fcmp une $V {0}, {1}",
    "nan": "fcmp uno $V {0}, {1}",
    "abs": "call $V @llvm.fabs.$S($V {0})",
    **{name: f"call $V @llvm.{name}.$S($V {{0}})" for name in ("sqrt", "floor", "ceil", "trunc")},
    "round": "call $V @llvm.rint.$S($V {0})",
    "copysign": "call $V @llvm.copysign.$S($V {0}, $V {1})",
    "fma": "call $V @llvm.fma.$S($V {0}, $V {1}, $V {2})",
    "scalef": (
        "call $V @llvm.x86.avx512.mask.scalef.pd.512($V {0}, $V {1}, $V zeroinitializer, i8 -1, i32 4)"
    ),
    "select": "select $M {0}, $V {1}, $V {2}",
    **{name: f"{name} $M {{0}}, {{1}}" for name in ("and", "or", "xor")},
    "not": "xor $M {0}, splat (i1 true)",
    "bits": "bitcast $V {0} to $I",
    "double": "bitcast $I {0} to $V",
    **{f"i{name}": f"{name} $I {{0}}, {{1}}" for name in ("add", "sub", "and", "or")},
    **{name: f"{name} $I {{0}}, {{1}}" for name in ("shl", "lshr")},
}
"""The opcodes of ``vector_math.py``; ``fmod`` is the C library's, row by row."""
ON_INTEGERS = frozenset(("iadd", "isub", "iand", "ior", "shl", "lshr"))
"""Opcodes on the bits of doubles: numbers among their operands are whole."""
OPERANDS = ("x", "y", "z")
LIBRARY = "library."
"""What an opcode that is a library's function begins with."""
KEPT = "!invariant.load !0"
"""Said of what no output shares memory with: it may be loaded whenever it is needed."""
STORED = "align 8 ; of an output"
"""How a store of an output ends."""
AHEAD = 400
"""How many instructions are sorted at a time."""
SELDOM = 3
"""Numbers that so many instructions need, or fewer, are fetched in each turn of the loop."""
NUMBER = re.compile(r"splat \(double (0x[0-9A-F]+)\)")
"""A number as a vector of it."""
ARITHMETIC = re.compile(r"= f(?:add|sub|mul|div) |@llvm\.fma\.")
"""Instructions that may read a number for all rows from memory."""
WIDE = 5
"""Where there are so many instructions for each one of the longest chain, few wait in any order."""
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


class Dialect(NamedTuple):
    """What a machine's loop is written in.

    ``width``    the rows of a vector
    ``texts``    row → its steps
    ``scalar``   row → the function that computes one row; each is called for each row of a vector
    ``vector``   row → the function that computes a vector
    ``fetches``  whether an operand in memory may be one number for all rows of a vector
    """

    width: int
    texts: Mapping[str, str]
    scalar: Mapping[str, str]
    vector: Mapping[str, str]
    fetches: bool = False


class Instruction(NamedTuple):
    """An instruction: what its result is called, the opcode, and the operands."""

    result: str
    opcode: str
    operands: tuple[str, ...]


@cache
def instructions(text: str) -> tuple[Instruction, ...]:
    """The steps of a text."""
    found = []
    for number, line in enumerate(part.strip() for part in re.split("[;\n]", text)):
        if line:
            before, equals, after = line.rpartition(" = ")
            opcode, *operands = after.split()
            found.append(
                Instruction(before if equals else f"result{number}", opcode, tuple(operands))
            )
    return tuple(found)


@cache
def literal(text: str, whole: bool) -> str:
    """A number as a vector of it; a double by its bits, for LLVM reads no decimals that are inexact."""
    if whole:
        return f"splat (i64 {int(text)})"
    (bits,) = struct.unpack("<Q", struct.pack("<d", float(text)))
    return f"splat (double 0x{bits:016X})"


def module(program: Program, inputs: Sequence[str], dialect: Dialect) -> tuple[str, list[str]]:
    """The text of a module with one function, ``ENTRY``, and the functions that it calls.

    The rows from ``start`` to before ``stop`` must be as many as a vector has, or more.
    """
    few = len(program.graph.inputs) + len(program.outputs) <= FEW
    writer = Writer(dialect, few)
    write_program(writer, program, {name: place for place, name in enumerate(inputs)})
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


def write_program(writer: Writer, program: Program, columns: Mapping[str, int]) -> None:
    """Write the instructions for a program; ``columns`` are the places of the inputs' columns.

    Inputs are fetched where they are needed first, and outputs are written where they are known: the less
    waits for something, the less the compiler has to look at, whose time grows with the square of it.
    """
    graph, outputs = with_truths(program)
    wanted: dict[int, list[int]] = {}
    for place, output in enumerate(outputs):
        wanted.setdefault(output, []).append(place)
    values: dict[int, str] = {}

    def value(node: int) -> str:
        """A node's name in LLVM's language."""
        if node not in values:
            payload = graph.payloads[node]
            if isinstance(payload, str):
                values[node] = writer.load(columns[payload])
            else:
                values[node] = literal(repr(payload), False)
        return values[node]

    for node, operands in enumerate(graph.operands):
        if operands:
            values[node] = writer.operation(graph.kinds[node], [*map(value, operands)])
        for place in wanted.get(node, ()):
            writer.store(place, value(node))


class Writer:
    """The instructions of one turn of the loop, and those before it.

    With ``few`` columns their addresses are fetched before it.
    """

    def __init__(self, dialect: Dialect, few: bool) -> None:
        self.dialect = dialect
        self.few = few
        self.entry: list[str] = []
        self.lines: list[str] = []
        self.depths: list[int] = []
        self.known: dict[str, str] = {}
        self.numbers: list[str] = []
        self.declared: dict[str, str] = {}
        self.vector = vector = f"<{dialect.width} x double>"
        types = {"$V": vector, "$I": f"<{dialect.width} x i64>", "$M": f"<{dialect.width} x i1>"}
        types["$S"] = f"v{dialect.width}f64"
        self.instructions = {
            opcode: re.sub(r"\$.", lambda found: types[found[0]], text)
            for opcode, text in INSTRUCTIONS.items()
        }

    def step(self, instruction: str) -> str:
        """Add an instruction, unless it is there already; returns its result."""
        name = self.known.get(instruction)
        if name is None:
            name = self.known[instruction] = f"%v{len(self.lines)}"
            self.line(f"{name} = {instruction}", instruction)
        return name

    def line(self, line: str, instruction: str) -> None:
        """Add a line, which needs the results in its instruction."""
        self.lines.append(f"  {line}")
        before = [self.depths[int(number)] for number in re.findall(r"%v(\d+)", instruction)]
        self.depths.append(1 + max(before, default=0))

    def place(self, columns: str, at: int) -> str:
        """The address of this turn's first row of a column."""
        address = f"getelementptr ptr, ptr %{columns}, i64 {at}"
        if not self.few:
            whole = self.step(f"load ptr, ptr {self.step(address)}, {KEPT}")
        else:
            whole = f"%{columns}{at}"
            self.entry += [f"  {whole}.at = {address}", f"  {whole} = load ptr, ptr {whole}.at"]
        return self.step(f"getelementptr double, ptr {whole}, i64 %row")

    def load(self, at: int) -> str:
        """The rows of a column."""
        return self.step(f"load {self.vector}, ptr {self.place('columns', at)}, align 8, {KEPT}")

    def store(self, at: int, value: str) -> None:
        """Write the rows of an output."""
        line = f"store {self.vector} {value}, ptr {self.place('outputs', at)}, {STORED}"
        self.line(line, line)

    def body(self) -> str:
        """The instructions in an order in which few wait for the one before.

        A processor looks some hundred instructions ahead for what does not wait, and so many are sorted by
        how long a chain leads to them: where chains are long, and no call has to save all that is pending.
        """
        order = list(range(len(self.lines)))
        if len(order) < WIDE * max(self.depths, default=0) and not self.declared:
            order.sort(key=lambda at: (at // AHEAD, self.depths[at]))
        lines = [self.lines[at] for at in order]
        return "\n".join(self.fetched(lines) if self.dialect.fetches else lines)

    def fetched(self, lines: Sequence[str]) -> list[str]:
        """The lines with numbers that few of them need fetched where they are needed.

        The compiler would fetch each once, before the loop, and put it away as a whole vector, where there
        are more numbers than registers.  It cannot do so with what an output might overwrite.
        """
        uses = Counter(chain.from_iterable(map(NUMBER.findall, filter(ARITHMETIC.search, lines))))
        found: list[str] = []

        def fetch(match: re.Match[str]) -> str:
            """Fetch a number, if it is needed seldom enough; returns the vector of it."""
            if uses[match[1]] > SELDOM:
                return match[0]
            name = f"%n{len(self.numbers)}"
            place = f"getelementptr (double, ptr @numbers, i64 {len(self.numbers)})"
            self.numbers.append(match[1])
            found.append(f"  {name}.one = load <1 x double>, ptr {place}, align 8")
            one = f"<1 x double> {name}.one, <1 x double> poison"
            found.append(
                f"  {name} = shufflevector {one}, <{self.dialect.width} x i32> zeroinitializer"
            )
            return name

        for line in lines:
            found.append(NUMBER.sub(fetch, line) if ARITHMETIC.search(line) else line)
        return found

    def operation(self, kind: str, operands: Sequence[str]) -> str:
        """A row's result for its operands."""
        text = self.dialect.texts.get(kind)
        if text is None:
            return self.library(kind, operands)
        if kind in BY_NAME and BY_NAME[kind].variadic:
            return reduce(lambda one, other: self.steps(text, (one, other)), operands)
        return self.steps(text, operands)

    def library(self, row: str, operands: Sequence[str]) -> str:
        """A row's result, from a library's function."""
        if row in self.dialect.vector:
            return self.step(self.call(self.dialect.vector[row], self.vector, operands))
        return self.by_rows(self.dialect.scalar[row], operands)

    def steps(self, text: str, operands: Sequence[str]) -> str:
        """A text's result for its operands."""
        known = dict(zip(OPERANDS, operands, strict=False))
        found = ""
        for result, opcode, names in instructions(text):
            whole = opcode in ON_INTEGERS
            given = [known[name] if name in known else literal(name, whole) for name in names]
            instruction = self.instructions.get(opcode)
            if instruction is not None:
                found = self.step(instruction.format(*given))
            elif opcode.startswith(LIBRARY):
                found = self.library(opcode.removeprefix(LIBRARY), given)
            else:
                found = self.operation(opcode, given)
            known[result] = found
        return found

    def call(self, function: str, type: str, operands: Sequence[str]) -> str:
        """A call of a function of the library."""
        self.declared[function] = f"declare {type} @{function}({', '.join([type] * len(operands))})"
        return f"call {type} @{function}({', '.join(f'{type} {operand}' for operand in operands)})"

    def by_rows(self, function: str, operands: Sequence[str]) -> str:
        """A function of single numbers, called for each of a vector."""
        result = "poison"
        for lane in range(self.dialect.width):
            given = [
                self.step(f"extractelement {self.vector} {operand}, i64 {lane}")
                for operand in operands
            ]
            found = self.step(self.call(function, "double", given))
            result = self.step(f"insertelement {self.vector} {result}, double {found}, i64 {lane}")
        return result
