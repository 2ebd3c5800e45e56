"""The rows of roots, each made of its equation.

A root is an operation of what its equation reads, and of where the search starts.  So it has a row of the
op table, made when the equation is met, and everything follows from that as from any other row: its local
derivatives are the implicit function theorem's, -g_p/g_E for a residual g that is 0 at E, in terms of the
operands and of ``out``, so that derivatives of any order are right.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import count
from zlib import crc32

from exprgrad.derive.build import Builder
from exprgrad.derive.rules import Rule, computed, shown, slots, template
from exprgrad.derive.search import OUT, on
from exprgrad.derive.simplify.simplify import simplify
from exprgrad.derive.sweeps.gradient import gradient
from exprgrad.graph.graph import Graph, dependents
from exprgrad.graph.op import Equation, Op, Special
from exprgrad.graph.ops import BY_NAME, EQUATIONS
from exprgrad.language.write.infix import COMPARISON, Piece, pieces
from exprgrad.language.write.infix import program as infix
from exprgrad.language.write.naming import name_shared

__all__ = ["conditions", "depth", "root_row"]

LONGEST_SIMPLIFIED = 100
"""Of how many operations the derivatives are written as a person would write them."""


def root_row(unknown: str, residual: Graph, params: Sequence[str], *, is_bracketed: bool) -> Op:
    """The row of a root: where a residual, a graph of ``out`` and of ``params``, is 0.

    Its operands are the parameters, then the ends or the start.  The row is in ``BY_NAME`` from now on.
    """
    operands = " ".join([*params, *(("low", "high") if is_bracketed else ("start",))])
    text = table_text(residual)
    key = f"{unknown} {operands}: {text}"
    for number in count(crc32(key.encode())):
        name = f"root_{number:08x}"
        op = BY_NAME.get(name)
        if op is None:
            break
        if (op.equation and f"{op.equation.unknown} {op.operands}: {op.equation.residual}") == key:
            return op
    wrt = [*params, OUT]
    (slope, *partials), (real, *people) = (
        slopes(residual, wrt, rule) for rule in (computed, shown)
    )
    none = ["0"] * (1 + is_bracketed)
    names = {node: unknown if name == OUT else name for name, node in residual.inputs.items()}
    said = body(residual, names, {})
    BY_NAME[name] = op = Op(
        name,
        operands,
        (*partials, *none),
        f"the {unknown} at which {''.join(map(str, said))} is 0",
        shown=(*people, *none),
        latex=r"\operatorname{root}",
        special=specials(residual),
        value_ulp=UNKNOWN,
        partial_ulp=UNKNOWN,
        equation=Equation(
            unknown, text, slope, real, is_bracketed, pattern(unknown, residual, operands.split())
        ),
    )
    return op


UNKNOWN = 2.0**52
"""To how many ulps a root is right depends on its equation: no bound is stated for all."""


MOST_PIECES = 5_000
"""The longest pattern: where its equation uses long parts more than once, a root is written in short."""


def pattern(unknown: str, residual: Graph, operands: Sequence[str]) -> tuple[Piece, ...]:
    """How a root is written: ``root(E - e*sin(E) - M, E, 1)``."""
    ends = [at for at, name in enumerate(operands) if name not in residual.inputs]
    given = {node: operands.index(name) for name, node in residual.inputs.items() if name != OUT}
    searched = [piece for end in ends for piece in (", ", (end, COMPARISON))]
    equation = body(residual, {residual.inputs[OUT]: unknown}, given)
    return ("root(", *equation, f", {unknown}", *searched, ")")


def body(residual: Graph, names: Mapping[int, str], given: Mapping[int, int]) -> list[Piece]:
    """An equation in pieces."""
    sizes: list[int] = []
    for operands in residual.operands:
        sizes.append(1 + sum(sizes[operand] for operand in operands))
    if sizes[residual.output] > MOST_PIECES:
        return ["…"]
    return pieces(residual, residual.output, names, None, given)


def depth(residual: Graph) -> int:
    """How deep roots stand in an equation."""
    rows = [BY_NAME[kind].equation for kind in {*residual.kinds} if kind in BY_NAME]
    return max((1 + depth(template(row.residual)) for row in rows if row is not None), default=0)


def slopes(residual: Graph, wrt: Sequence[str], rule: Rule) -> list[str]:
    """The residual's derivative with respect to the unknown, and the root's to each parameter, as texts.

    By the implicit function theorem the latter is -g_p/g_E.
    """
    graph = Graph()
    found = gradient(residual, [name for name in wrt if name in residual.inputs], rule)
    builder = Builder(graph, typed=rule is shown)
    images = builder.include(found.graph)
    by = dict(zip((n for n in wrt if n in residual.inputs), found.outputs[1:], strict=True))
    zero = builder.constant(0.0)
    derivatives = {name: images[by[name]] if name in by else zero for name in wrt}
    slope = derivatives.pop(OUT)
    outputs = [slope]
    for node in derivatives.values():
        if builder.value(node) == 0:
            outputs.append(zero)
        else:
            outputs.append(builder.apply("div", builder.apply("neg", node), slope))
    program = builder.program(outputs)
    if rule is shown and len(program.graph) <= LONGEST_SIMPLIFIED:
        program = simplify(program, residual)
    return [table_text(program.graph, output) for output in program.outputs]


def specials(residual: Graph) -> tuple[Special, ...]:
    """Where an equation has a kink or jumps, of its operations' rows; what is beside is not told."""
    builder, varying = Builder(), dependents(residual, residual.inputs.values())
    images = builder.include(residual)
    met: dict[str, list[int]] = {"kink": [], "jump": []}
    for node, kind in enumerate(residual.kinds):
        op, operands = BY_NAME.get(kind), residual.operands[node]
        if op is None or not varying[node]:
            continue
        flags = [float(varying[operand]) for operand in operands]
        seen = [images[operand] for operand in operands]
        for special in op.special:
            met[special.code] += conditions(builder, op, special, seen, images[node], flags)
    found = []
    for code, why in (
        ("kink", "its equation has one"),
        ("jump", "its equation jumps"),
    ):
        if met[code]:
            where = table_text(builder.graph, builder.total(met[code]))
            found.append(Special(where, code, why, slope="nan", undecided="1"))
    return tuple(found)


def conditions(
    builder: Builder,
    op: Op,
    special: Special,
    seen: Sequence[int],
    out: int,
    moves: Sequence[float],
) -> list[int]:
    """Whether an operation is at a kink or a jump, as nodes; nothing where it never is.

    ``seen`` are its operands, ``out`` its result, and ``moves`` are 1 for the operands that move, else 0.
    """
    if op.variadic:  # at two operands that are the greatest, or the least
        equal = [builder.apply("eq", x, out) for x in seen]
        ties = builder.total(equal)
        return [builder.apply("gt", ties, builder.constant(1.0))]
    flags = [builder.constant(flag) for flag in moves]
    given = dict(zip(slots(op), [*seen, out, *flags], strict=True))
    found = on(builder, special.where, given)
    return [] if builder.value(found) == 0 else [found]


def table_text(graph: Graph, output: int | None = None) -> str:
    """A graph as a text of the table, what is used twice as a statement.

    The language knows the rows of roots that stand in it from now on.
    """
    builder = Builder(plain=True)
    node = builder.include(graph)[graph.output if output is None else output]
    alone = builder.program([node]).graph
    alone.inputs = {name: at for name, at in alone.inputs.items() if name in graph.inputs}
    name_shared(alone)
    for kind in {*alone.kinds}:
        if kind in BY_NAME and BY_NAME[kind].equation is not None:
            EQUATIONS[kind] = BY_NAME[kind]
    return infix(alone, rows=True)
