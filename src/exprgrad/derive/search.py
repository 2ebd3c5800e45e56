"""The search for a root, as a program that is repeated.

It is Newton's method, safeguarded: a step is taken only if it makes the residual smaller; once the residual
changes its sign between two points it stays between these, and halves where Newton's method leaves them or
is slow (W. H. Press et al., Numerical Recipes, 3rd ed. (2007), section 9.4).  It ends where no double lies
between the two points, or where the residual is 0.  Every evaluator and target repeats the same text,
``TURN``, in its own arithmetic.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from exprgrad.derive.build import GraphBuilder
from exprgrad.derive.rules import template
from exprgrad.graph.graph import LoopProgram, Program
from exprgrad.graph.op import Equation, Op
from exprgrad.graph.ops import BY_NAME

__all__ = ["OUT", "apply_text", "root_search"]

OUT = "out"
"""A row's result in its texts: here, the unknown."""
PATIENT, MOST_ALONE, MOST_TURNS = 60, 200, 1200
"""Without a change of sign, Newton's steps grow longer once the first number of turns on end came nearer,
and the search is given up after the second; with one, after the third: bisection alone takes 1,100."""

# What is known between two turns.
STATE = ("x", "g", "s", "y", "h", "t", "e", "k", "m", "n", "top")
"""
``x``    the point of the smallest residual so far, or one end; ``g`` is the residual there
``s``    the last slope
``y``    the other end, where the residual ``h`` has the other sign; nan if there is none yet
``t``    the next point to evaluate
``e``    the length of the last step
``k``    the next step in ulps, where Newton's is shorter
``m``    the number of successive turns that came nearer, ``n`` the number of all turns
``top``  the residual at the start
"""
OPEN = (
    "x = nan; g = nan; s = nan; y = nan; h = nan; t = start; e = inf; k = 1; m = 0; n = 0; "
    "top = nan; top"
)
BRACKETED = (
    "x = low; g = r; s = nan; y = nan; h = nan; t = where(r == 0, low, high); e = inf; k = 1; "
    "m = 0; n = 0; top = abs(r); top"
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
stride = where(between, 1, max(m - PATIENT, 1))
newton = t - stride*max(min(r/d, reach), -reach)
tiny = max(abs(x1)*2.220446049250313e-16, 5e-324)
step = abs(newton - x1)
is_short = step <= 4*tiny
way = where(between, where(y1 > x1, 1, -1), where((r > 0) == (d > 0), -1, 1))
aim = where(is_short, x1 + way*k*tiny, newton)
middle = x1/2 + y1/2
inside = (min(x1, y1) < aim)*(aim < max(x1, y1))
closer = where(inside*max(is_short, step <= e/2), aim, middle)
shorter = where((r != r)*(sign(t)*sign(x) < 0), x/16, x + (t - x)/4)
t1 = where(taken, where(between, closer, aim), shorter)
e1 = where(taken, abs(t1 - x1), e)
k1 = where(taken*is_short, 4*k, k)
m1 = taken*(m + 1)
n1 = n + 1
top1 = where(top == top, top, abs(r))
room = where(between, (middle != x1)*(middle != y1), (abs(t1) < inf)*(t1 != x1)*(k1 < 1e12))
go = (g1 != 0)*room*(n1 < where(between, MOST, ALONE))
go
"""
"""One turn; ``r`` is the residual at ``t``, and ``d`` its slope there.  It goes on while ``go`` is 1."""
FOUND = """
tiny = max(abs(x)*2.220446049250313e-16, 5e-324)
least = min(abs(g), where(h == h, abs(h), inf))
rises = (h > g) == (y > x)
is_pole = where(y == y, where(s > 0, rises == 0, where(s < 0, rises, 0)), 0)
touches = abs(g) <= abs(s*x)*1e-6
is_small = max(least <= abs(s)*4096*tiny, least <= top*where(y == y, 1e-6, where(touches, FLAT, 0)))
where(max(g == 0, is_small*(is_pole == 0)), where(abs(h) < abs(g), y, x), nan)
"""
"""The root, or nan.  Where the residual jumps over 0, or has a pole, its sign changes too."""
FLAT = 1e-13
"""The factor by which the residual must shrink where it only touches 0."""


@cache
def root_search(kind: str) -> LoopProgram:
    """Return the search of a root's row; its last state gives the root, or nan."""
    op = BY_NAME[kind]
    return LoopProgram(
        tuple(STATE_NAMES.values()),
        first_state_program(op),
        next_state_program(op),
        final_root_program(op),
    )


STATE_NAMES = {state: f"{state} of the search" for state in STATE}
"""The state's names in programs; no input's name has a blank."""


def first_state_program(op: Op) -> Program:
    """Build the program that makes the first state."""
    builder, equation = GraphBuilder(), row_equation(op)
    operands = {name: builder.input(name) for name in op.names}
    if not equation.is_bracketed:
        given = {"start": operands[op.names[-1]]}
        return builder.program(apply_statements(builder, OPEN, given, STATE))
    low, high = (operands[name] for name in op.names[-2:])
    residual = apply_text(builder, equation.residual, {**operands, OUT: low})
    given = {"low": low, "high": high, "r": residual}
    return builder.program(apply_statements(builder, BRACKETED, given, STATE))


def next_state_program(op: Op) -> Program:
    """Build the program that makes the next state, and tells whether it is the last."""
    builder, equation = GraphBuilder(), row_equation(op)
    operands = {name: builder.input(name) for name in op.names}
    states = {state: builder.input(name) for state, name in STATE_NAMES.items()}
    at = {**operands, OUT: states["t"]}
    residual, slope = (
        apply_text(builder, text, at) for text in (equation.residual, equation.slope)
    )
    text = TURN.replace("PATIENT", str(PATIENT)).replace("ALONE", str(MOST_ALONE))
    text = text.replace("MOST", str(MOST_TURNS))
    if equation.is_bracketed:
        text = text.replace("room*", "between*room*")
    after = [f"{state}1" if f"{state}1 =" in text else state for state in STATE]
    given = {**states, "r": residual, "d": slope}
    return builder.program(apply_statements(builder, text, given, (*after, "go")))


def final_root_program(op: Op) -> Program:
    """Build the program that makes the root from the last state."""
    builder = GraphBuilder()
    states = {state: builder.input(name) for state, name in STATE_NAMES.items()}
    flat = "0" if row_equation(op).is_bracketed else repr(FLAT)
    return builder.program([apply_text(builder, FOUND.replace("FLAT", flat), states)])


def row_equation(op: Op) -> Equation:
    """Return the equation of a root's row."""
    assert op.equation is not None
    return op.equation


def apply_text(builder: GraphBuilder, text: str, given: dict[str, int]) -> int:
    """Apply a row's text to nodes."""
    graph = template(text.strip())
    return builder.include(graph, given)[graph.output]


def apply_statements(
    builder: GraphBuilder, text: str, given: dict[str, int], wanted: Sequence[str]
) -> list[int]:
    """Apply some statements of a text; names that it does not state keep their nodes."""
    graph = template(text.strip())
    images = builder.include(graph, given)
    stated = {name: images[node] for name, node, _ in graph.bindings}
    return [stated[name] if name in stated else given[name] for name in wanted]
