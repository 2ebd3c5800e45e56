"""Roots: the row that an equation makes, and the search for its solution as a program that is repeated.

A root is an operation of what its equation reads, and of where the search starts.  So it has a row of the
op table, made when the equation is met, and everything follows from that as from any other row: its local
derivatives are the implicit function theorem's, -g_p/g_E for a residual g that is 0 at E, in terms of the
operands and of ``out``, so that derivatives of any order are right.

The search is Newton's method, safeguarded: a step is taken only if it makes the residual smaller; once the
residual changes its sign between two points it stays between these, and halves where Newton's method leaves
them or is slow (W. H. Press et al., Numerical Recipes, 3rd ed. (2007), section 9.4).  It ends where no
double lies between the two points, or where the residual is 0.  Every evaluator and target repeats the same
text, ``TURN``, in its own arithmetic.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from itertools import count
from zlib import crc32

from exprgrad.derive.build import Builder
from exprgrad.derive.rules import Rule, computed, shown, slots, template
from exprgrad.derive.simplify.simplify import simplify
from exprgrad.derive.sweeps.gradient import gradient
from exprgrad.graph.graph import Graph, Loop, Program, dependents
from exprgrad.graph.op import Equation, Op, Special
from exprgrad.graph.ops import BY_NAME, EQUATIONS
from exprgrad.language.write.infix import COMPARISON, Piece, pieces
from exprgrad.language.write.infix import program as infix
from exprgrad.language.write.naming import name_shared

__all__ = ["OUT", "depth", "root_row", "search"]

OUT = "out"
"""What the texts of a row call its result: here, the unknown."""
MOST_TURNS = 1200
"""After so many turns the search is given up; bisection alone, over all doubles, takes 1,100."""
LONGEST_SIMPLIFIED = 100
"""Of how many operations the derivatives are written as a person would write them."""

# What is known between two turns.
STATE = ("x", "g", "s", "y", "h", "t", "e", "k", "n", "top")
"""
``x``    where the residual is smallest so far, or one end; ``g`` is the residual there
``s``    the slope where it was last asked
``y``    the other end, where the residual has the other sign, ``h``; nan: there is none yet
``t``    where the residual is asked next
``e``    how long the last step was
``k``    how many ulps the next step is, where Newton's are shorter
``n``    how many turns there were
``top``  the residual at the start
"""
OPEN = (
    "x = nan; g = nan; s = nan; y = nan; h = nan; t = start; e = inf; k = 1; n = 0; top = nan; top"
)
BRACKETED = (
    "x = low; g = r; s = nan; y = nan; h = nan; t = where(r == 0, low, high); e = inf; k = 1; n = 0; "
    "top = abs(r); top"
)
"""Before the first turn; ``r`` is the residual at ``low``."""
TURN = """
crosses = where(g < 0, r > 0, where(g > 0, r < 0, 0))
taken = (r == r)*max(g != g, crosses, y == y, abs(r) < abs(g))
leaves = taken*crosses
x1 = where(taken, t, x)
g1 = where(taken, r, g)
s1 = where(taken, d, s)
y1 = where(leaves, x, y)
h1 = where(leaves, g, h)
between = y1 == y1
reach = 10000*max(abs(t), 1)
newton = t - max(min(r/d, reach), -reach)
tiny = max(abs(x1)*2.220446049250313e-16, 5e-324)
step = abs(newton - x1)
is_short = step <= 4*tiny
way = where(between, where(y1 > x1, 1, -1), where((r > 0) == (d > 0), -1, 1))
aim = where(is_short, x1 + way*k*tiny, newton)
middle = x1/2 + y1/2
inside = (min(x1, y1) < aim)*(aim < max(x1, y1))
closer = where(inside*max(is_short, step <= e/2), aim, middle)
t1 = where(taken, where(between, closer, aim), x + (t - x)/4)
e1 = where(taken, abs(t1 - x1), e)
k1 = where(taken*is_short, 4*k, k)
n1 = n + 1
top1 = where(top == top, top, abs(r))
room = where(between, (middle != x1)*(middle != y1), (abs(t1) < inf)*(t1 != x1)*(k1 < 1e12))
go = (g1 != 0)*room*(n1 < MOST)
go
"""
"""One turn; ``r`` is the residual at ``t``, and ``d`` its slope there.  It goes on while ``go`` is 1."""
FOUND = """
tiny = max(abs(x)*2.220446049250313e-16, 5e-324)
least = min(abs(g), where(h == h, abs(h), inf))
rises = (h > g) == (y > x)
is_pole = where(y == y, where(s > 0, rises == 0, where(s < 0, rises, 0)), 0)
touches = abs(t - x) <= 1e-6*abs(x)
is_small = max(least <= abs(s)*4096*tiny, least <= top*where(y == y, 1e-6, where(touches, FLAT, 0)))
where(max(g == 0, is_small*(is_pole == 0)), where(abs(h) < abs(g), y, x), nan)
"""
"""The root, or nan.  Where the residual leaps over 0, or has a pole, its sign changes too."""
FLAT = 1e-13
"""By how much the residual must shrink where it only touches 0."""


@cache
def search(kind: str) -> Loop:
    """The search that a root's row asks for: the root, or nan, comes of its last state."""
    op = BY_NAME[kind]
    return Loop(tuple(NAMES.values()), begun(op), turned(op), ended(op))


NAMES = {state: f"{state} of the search" for state in STATE}
"""What programs call the state: no input can bear a name with a blank."""


def begun(op: Op) -> Program:
    """The program that makes the first state."""
    builder, equation = Builder(), equation_of(op)
    operands = {name: builder.input(name) for name in op.names}
    if not equation.is_bracketed:
        given = {"start": operands[op.names[-1]]}
        return builder.program(outcomes(builder, OPEN, given, STATE))
    low, high = (operands[name] for name in op.names[-2:])
    residual = on(builder, equation.residual, {**operands, OUT: low})
    given = {"low": low, "high": high, "r": residual}
    return builder.program(outcomes(builder, BRACKETED, given, STATE))


def turned(op: Op) -> Program:
    """The program that makes the next state, and says whether it is the last."""
    builder, equation = Builder(), equation_of(op)
    operands = {name: builder.input(name) for name in op.names}
    states = {state: builder.input(name) for state, name in NAMES.items()}
    at = {**operands, OUT: states["t"]}
    residual, slope = (on(builder, text, at) for text in (equation.residual, equation.slope))
    text = TURN.replace("MOST", str(MOST_TURNS))
    if equation.is_bracketed:
        text = text.replace("room*", "between*room*")
    after = [f"{state}1" if f"{state}1 =" in text else state for state in STATE]
    given = {**states, "r": residual, "d": slope}
    return builder.program(outcomes(builder, text, given, (*after, "go")))


def ended(op: Op) -> Program:
    """The program that makes the root of the last state."""
    builder = Builder()
    states = {state: builder.input(name) for state, name in NAMES.items()}
    flat = "0" if equation_of(op).is_bracketed else repr(FLAT)
    return builder.program([on(builder, FOUND.replace("FLAT", flat), states)])


def equation_of(op: Op) -> Equation:
    """What a root's row solves."""
    assert op.equation is not None
    return op.equation


def on(builder: Builder, text: str, given: dict[str, int]) -> int:
    """A text of a row on nodes."""
    graph = template(text.strip())
    return builder.include(graph, given)[graph.output]


def outcomes(
    builder: Builder, text: str, given: dict[str, int], wanted: Sequence[str]
) -> list[int]:
    """What some statements of a text come to; what it does not state is as given."""
    graph = template(text.strip())
    images = builder.include(graph, given)
    stated = {name: images[node] for name, node, _ in graph.bindings}
    return [stated[name] if name in stated else given[name] for name in wanted]


# The row.


def root_row(unknown: str, residual: Graph, params: Sequence[str], *, is_bracketed: bool) -> Op:
    """The row of a root: where a residual, a graph of ``out`` and of ``params``, is 0.

    Its operands are the parameters, then the ends or the start.  The row is in ``BY_NAME`` from now on.
    """
    operands = " ".join([*params, *(("low", "high") if is_bracketed else ("start",))])
    text = written(residual)
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
    return [written(program.graph, output) for output in program.outputs]


def specials(residual: Graph) -> tuple[Special, ...]:
    """Where an equation has a kink or jumps, of its operations' rows; what is beside is not told."""
    builder, varying = Builder(), dependents(residual, residual.inputs.values())
    images = builder.include(residual)
    met: dict[str, list[int]] = {"kink": [], "jump": []}
    for node, kind in enumerate(residual.kinds):
        op, operands = BY_NAME.get(kind), residual.operands[node]
        if op is None or not varying[node]:
            continue
        for special in op.special:
            met[special.code] += conditions(builder, op, special, node, operands, images, varying)
    found = []
    for code, why in (
        ("kink", "its equation has one"),
        ("jump", "its equation jumps"),
    ):
        if met[code]:
            where = written(builder.graph, builder.total(met[code]))
            found.append(Special(where, code, why, slope="nan", undecided="1"))
    return tuple(found)


def conditions(
    builder: Builder,
    op: Op,
    special: Special,
    node: int,
    operands: Sequence[int],
    images: Sequence[int],
    varying: Sequence[int],
) -> list[int]:
    """Whether a node of an equation is at a kink or a jump, as nodes; nothing where it never is."""
    flags = [builder.constant(float(varying[operand])) for operand in operands]
    seen = [images[operand] for operand in operands]
    if op.variadic:  # at two operands that are the greatest, or the least
        equal = [builder.apply("eq", x, images[node]) for x in seen]
        ties = builder.total(equal)
        return [builder.apply("gt", ties, builder.constant(1.0))]
    given = dict(zip(slots(op), [*seen, images[node], *flags], strict=True))
    found = on(builder, special.where, given)
    return [] if builder.value(found) == 0 else [found]


def written(graph: Graph, output: int | None = None) -> str:
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
