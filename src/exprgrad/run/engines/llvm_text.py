"""A program of numbers as a loop in LLVM's language, several rows at a time.

An operation's text is a few steps, each an instruction on vectors of doubles, of their bits, or of truth
values.  No instruction is written twice.  The loop has no other branch than its own.  Its last turn takes
the last rows, some of them for the second time where the number of rows is no multiple of the width.
"""

from __future__ import annotations

import re
import struct
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache, reduce
from itertools import chain
from typing import NamedTuple

from exprgrad.graph.graph import Program, collect_by_key
from exprgrad.graph.ops import BY_INFIX, BY_NAME, COMPARISONS, IN_MATH
from exprgrad.run.engines.columns import PAGE
from exprgrad.run.engines.programs import MASKS, with_truths
from exprgrad.run.numbers.sweeps import ROOT_HALF, ROOT_HALF_HIGH, ROOT_HALF_LOW, SPLIT

__all__ = [
    "ENTRY", "EXACT", "FAST", "LIBRARY", "SELDOM", "VECTOR_LIBRARY", "VECTOR_OR_WRITTEN", "WRITTEN",
    "Dialect", "llvm_module", "stream_stores",
]  # fmt: skip

ENTRY = "kernel"
"""The name of the function: (columns, outputs, start, stop), both arrays of pointers."""
FEW = 12
"""The most columns whose addresses stay in registers; others are fetched in each turn of the loop."""
INSTRUCTIONS = {
    **{BY_INFIX[sign].name: f"f{BY_INFIX[sign].name} $V {{0}}, {{1}}" for sign in "+-*/"},
    "fmod": "frem $V {0}, {1}",
    "neg": "fneg $V {0}",
    **{name: f"fcmp o{name} $V {{0}}, {{1}}" for name in COMPARISONS},
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
"""The opcodes of the texts below; ``fmod`` is the C library's, row by row."""
ON_INTEGERS = frozenset(("iadd", "isub", "iand", "ior", "shl", "lshr"))
"""Opcodes on the bits of doubles: numbers among their operands are whole."""
OPERANDS = ("x", "y", "z")
FUNCTION = "library."
"""What an opcode that is a library's function begins with."""
KEPT = "!invariant.load !0"
"""Marks memory that no output shares: it may be loaded at any time."""
STORED = "align 8 ; of an output"
"""How a store of an output ends."""
AHEAD = 400
"""How many instructions are sorted at a time."""
SELDOM = 3
"""Numbers that at most this many instructions need are fetched in each turn of the loop."""
NUMBER = re.compile(r"splat \(double (0x[0-9A-F]+)\)")
"""A number as a vector of it."""
READS_MEMORY = re.compile(r"= f(?:add|sub|mul|div) |@llvm\.fma\.")
"""Instructions that may read a number for all rows from memory."""
WIDE = 5
"""With this many instructions for each in the longest chain, few wait, whatever their order."""
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


Instruction = tuple[str, str, list[str]]
"""What its result is called, the opcode, and the operands."""


@cache
def steps_of(text: str) -> list[Instruction]:
    """The steps of a text."""
    found: list[Instruction] = []
    for number, line in enumerate(part.strip() for part in re.split("[;\n]", text)):
        if line:
            before, equals, after = line.rpartition(" = ")
            opcode, *operands = after.split()
            found.append((before if equals else f"result{number}", opcode, operands))
    return found


@cache
def llvm_literal(text: str, whole: bool) -> str:
    """A number as a vector of it; a double by its bits, for LLVM reads no decimals that are inexact."""
    if whole:
        return f"splat (i64 {int(text)})"
    (bits,) = struct.unpack("<Q", struct.pack("<d", float(text)))
    return f"splat (double 0x{bits:016X})"


def llvm_module(program: Program, inputs: Sequence[str], dialect: Dialect) -> tuple[str, list[str]]:
    """The text of a module with one function, ``ENTRY``, and the functions that it calls.

    The rows from ``start`` to before ``stop`` must be as many as a vector has, or more.
    """
    few = len(program.graph.inputs) + len(program.outputs) <= FEW
    writer = LlvmWriter(dialect, few)
    write_program(writer, program, {name: place for place, name in enumerate(inputs)})
    body = writer.body()  # which may fetch numbers
    numbers = ", ".join([f"double {number}" for number in writer.numbers])
    table = f"@numbers = internal global [{len(writer.numbers)} x double] [{numbers}]"
    declared = [*writer.declared.values(), *([table] if numbers else [])]
    text = LOOP.format(
        name=ENTRY,
        width=dialect.width,
        bits=64 * dialect.width,
        page=PAGE,
        entry="\n".join(writer.entry),
        body=body,
        declared="\n".join(declared),
    )
    return text, list(writer.declared)


def stream_stores(text: str, width: int) -> str:
    """The module with stores that pass the caches by, for outputs at multiples of a vector's size.

    They are seen by other threads after a fence.
    """
    text = text.replace(STORED, f"align {8 * width}, !nontemporal !1")
    return text.replace("  ret void", "  fence seq_cst\n  ret void") + "!1 = !{i32 1}\n"


def write_program(writer: LlvmWriter, program: Program, columns: Mapping[str, int]) -> None:
    """Write the instructions for a program; ``columns`` are the places of the inputs' columns.

    Inputs are fetched where they are needed first, and outputs are written once they are known: the fewer
    values wait for their use, the faster is the compiler, whose time grows with the square of their number.
    """
    graph, outputs = with_truths(program)
    wanted = collect_by_key((output, place) for place, output in enumerate(outputs))
    values: dict[int, str] = {}

    def value(node: int) -> str:
        """A node's name in LLVM's language."""
        if node not in values:
            payload = graph.payloads[node]
            if isinstance(payload, str):
                values[node] = writer.load(columns[payload])
            else:
                values[node] = llvm_literal(repr(payload), False)
        return values[node]

    for node, operands in enumerate(graph.operands):
        if operands:
            values[node] = writer.operation(graph.kinds[node], [*map(value, operands)])
        for place in wanted.get(node, ()):
            writer.store(place, value(node))


class LlvmWriter:
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

        A processor looks a few hundred instructions ahead for one that need not wait, so that many at a
        time are sorted by the length of the chain that leads to them; but not where chains are short, or
        where a call has to save all that is pending.
        """
        order = list(range(len(self.lines)))
        if len(order) < WIDE * max(self.depths, default=0) and not self.declared:
            order.sort(key=lambda at: (at // AHEAD, self.depths[at]))
        lines = [self.lines[at] for at in order]
        return "\n".join(self.fetched(lines) if self.dialect.fetches else lines)

    def fetched(self, lines: Sequence[str]) -> list[str]:
        """Fetch numbers that few lines need where they are needed.

        The compiler would fetch each once, before the loop, and keep it on the stack as a whole vector
        where there are more numbers than registers.  It cannot do so with memory that an output might
        overwrite.
        """
        uses = Counter(chain.from_iterable(map(NUMBER.findall, filter(READS_MEMORY.search, lines))))
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
            found.append(NUMBER.sub(fetch, line) if READS_MEMORY.search(line) else line)
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
        for result, opcode, names in steps_of(text):
            whole = opcode in ON_INTEGERS
            given = [known[name] if name in known else llvm_literal(name, whole) for name in names]
            instruction = self.instructions.get(opcode)
            if instruction is not None:
                found = self.step(instruction.format(*given))
            elif opcode.startswith(FUNCTION):
                found = self.library(opcode.removeprefix(FUNCTION), given)
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


# The op table's primitives for many rows at a time: a line of vector code each, or a few.

LIBRARY = (IN_MATH | {"erf", "erfc"}) - {"hypot", *INSTRUCTIONS}
"""Functions that Python's ``math`` takes from the C library as they are; its ``hypot`` is its own."""
VECTOR_LIBRARY = frozenset((
    "acos", "acosh", "asin", "asinh", "atan", "atan2", "cbrt", "cos", "exp2", "hypot", "log10", "log2",
    "pow", "sin",
))  # fmt: skip
"""Functions that are taken from the vector library, where there is one; its tan is off by 4 ulp."""
VECTOR_OR_WRITTEN = frozenset(("erfc",))
"""Functions of one operand that are the vector library's where it has them, and else written out."""


def horner_steps(coefficients: Sequence[float], name: str, result: str) -> str:
    """The steps of a polynomial, its coefficients from the lowest power up."""
    *rest, top = coefficients
    steps, last = [], repr(top)
    for coefficient in reversed(rest):
        steps.append(f"{result} = fma {last} {name} {coefficient!r}")
        last = result
    return "; ".join(steps)


SHIFT = 1.5 * 2.0**52
"""Added to a double that is not large, it leaves the nearest whole number in the last bits."""
ONE = 1023 << 52
"""The bits of 1.0: a whole number shifted by 52 is added to them for a power of 2."""
LN2, LN2_REST = 0.693147180559663, 2.8235290563031577e-13
"""The logarithm of 2 in two pieces; whole numbers up to 2^12 times the first are doubles."""

EXP_SERIES = (
    0.5000000000000013, 0.16666666666666696, 0.04166666666651531, 0.00833333333330913,
    0.0013888888947012287, 0.00019841269913407555, 2.480148996583031e-05, 2.7557219703200874e-06,
    2.7631267152391483e-07, 2.5116824547271418e-08,
)  # fmt: skip
LOG_SERIES = (
    0.6666666666666734, 0.39999999999414804, 0.28571428742329963, 0.22222198579833927, 0.1818356399856749,
    0.15314057745035803, 0.14795893415633726,
)  # fmt: skip

REDUCED = f"""
    high = gt x 710; below = select high 710 x; low = lt below -746; held = select low -746 below
    turned = fma held {1 / 0.6931471805599453!r} {SHIFT!r}; n = sub turned {SHIFT!r}
    more = fma n {-LN2!r} held; r = fma n {-LN2_REST!r} more; square = mul r r
    {horner_steps(EXP_SERIES[::2], "square", "even")}
    {horner_steps(EXP_SERIES[1::2], "square", "odd")}
    p = fma odd r even
    small = fma p square r
"""
"""``small`` is exp(r) - 1, where x = n*log(2) + r."""

EXP = f"{REDUCED}; value = add small 1; scale value n"
EXPM1 = f"""{REDUCED}
    minus = neg n; inverse = scale 1 minus; kept = sub 1 inverse
    scaled = add small kept; value = scale scaled n
    deep = lt n -60; least = select deep -1 value; copysign least x
"""
SCALE = f"""
    halved = fma y 0.5 {SHIFT!r}; half = sub halved {SHIFT!r}
    rest = sub y half; shifted = add rest {SHIFT!r}
    bits1 = bits halved; up1 = shl bits1 52; exponent1 = iadd up1 {ONE}; power1 = double exponent1
    bits2 = bits shifted; up2 = shl bits2 52; exponent2 = iadd up2 {ONE}; power2 = double exponent2
    most = mul x power1; mul most power2
"""
"""x*2^y for a whole number y up to 2000: in two steps, so that a subnormal result is rounded once."""

SQRT_HALF = 0x3FE6A09E667F3BCD
"""The bits of sqrt(1/2): the logarithm is that of a number from there to sqrt(2), and of a power of 2."""
LOG = f"""
    tiny = lt x {2.0**-1022!r}; larger = mul x {2.0**54!r}; normal = select tiny larger x
    all = bits normal; moved = iadd all {ONE - SQRT_HALF}; exponent = lshr moved 52
    whole = ior exponent {1075 << 52}; raised = double whole
    bias = select tiny {2.0**52 + 1077!r} {2.0**52 + 1023!r}; n = sub raised bias
    fraction = iand moved {(1 << 52) - 1}; bits = iadd fraction {SQRT_HALF}; m = double bits
    f = sub m 1; below = add m 1; s = div f below; z = mul s s
    {horner_steps(LOG_SERIES, "z", "p")}
    series = mul z p; gap = sub f series; lost = mul s gap; minus = neg lost
    rest = fma n {LN2_REST!r} minus; sum = add f rest; value = fma n {LN2!r} sum
    above = gt x 0; finite = lt x inf; inside = and above finite
    negative = lt x 0; other = select negative nan x; zero = eq x 0; outside = select zero -inf other
    select inside value outside
"""
LOG1P = """
    u = add x 1; whole = log u
    large = gt x 1; over = sub u x; kept = sub 1 over; under = sub u 1; lost = sub x under
    c = select large kept lost
    q = div c u; sum = add whole q; value = copysign sum x
    above = gt u 0; finite = lt u inf; inside = and above finite; select inside value whole
"""

ARITHMETIC = {
    **{
        opcode: " ".join([opcode, *OPERANDS[: text.count("{")]])
        for opcode, text in INSTRUCTIONS.items()
        if opcode in {*BY_NAME, *MASKS}
    },
    "where": "select x y z", "mask": "ne x 0", "number": "select x 1 0",
    "and-not": "no = not x; and no y", "or-not": "no = not x; or no y",
    "min": "less = lt y x; least = select less y x; bad = nan y y; select bad y least",
    "max": "more = gt y x; most = select more y x; bad = nan y y; select bad y most",
    "sign": "below = lt x 0; minus = select below -1 x; above = gt x 0; select above 1 minus",
    "mod": (
        "r = fmod x y; below = lt r 0; falling = lt y 0; apart = xor below falling; other = add r y; "
        "value = select apart other r; none = eq r 0; zero = copysign 0 y; select none zero value"
    ),
}  # fmt: skip
"""Rows whose answers are the scalar engine's to the bit, and the steps about masks (``programs.py``)."""
CBRT = (
    "root = library.cbrt x; square = mul root root; q = div x square; gap = sub root q; third = div gap 3; "
    "value = sub root third; size = abs root; some = gt size 0; finite = lt size inf; "
    "inside = and some finite; select inside value root"
)
"""The library's cube root, mended by one Newton step: see ``run/numbers/sweeps.py``."""
WRITTEN = {"exp": EXP, "expm1": EXPM1, "log": LOG, "log1p": LOG1P}
"""Rows that are written out where the machine multiplies and adds in one step."""
HIGH = f"scaled = mul x {SPLIT!r}; over = sub scaled x; high = sub scaled over"
NORMPDF = (
    f"{HIGH}; back = sub high x; half = mul 0.5 back; both = add high x; rest = mul half both; "
    "minus = mul -0.5 high; square = mul minus high; e = library.exp square; "
    "third = mul rest 0.16666666666666666; second = add 0.5 third; later = mul rest second; "
    "first = add 1 later; part = mul rest first; more = mul e part; bell = add e more; "
    "density = mul 0.3989422804014327 bell; "
    "above = lt -39 x; below = lt x 39; inside = and above below; "
    "bad = nan x x; outside = select bad x 0; select inside density outside"
)
"""The normal density, as ``run/numbers/sweeps.py`` has it."""
NORMCDF = (
    f"t = mul {-ROOT_HALF!r} x; tail = library.erfc t; plain = mul 0.5 tail; {HIGH}; "
    f"long = mul high {ROOT_HALF_HIGH!r}; one = add long t; short = mul high {ROOT_HALF_LOW!r}; "
    f"low = sub x high; last = mul low {ROOT_HALF!r}; two = add short last; gap = add one two; "
    "more = mul t gap; share = add 0.5 more; mended = mul tail share; "
    "above = lt -39 x; below = lt x 0; inside = and above below; select inside mended plain"
)
"""The normal distribution, as ``run/numbers/sweeps.py`` has it."""
EXACT = {**ARITHMETIC, "cbrt": CBRT, "normpdf": NORMPDF, "normcdf": NORMCDF}
"""With ``LIBRARY``, what the engine spells where it must match the scalar one to the bit."""
FAST = {**ARITHMETIC, "cbrt": CBRT, **WRITTEN, "scale": SCALE}
"""With ``VECTOR_LIBRARY``, what it spells where 5 ulp will do; the rest is written out by its formula."""
