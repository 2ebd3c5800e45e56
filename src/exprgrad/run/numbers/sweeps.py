"""Numbers: the operations on doubles, and the two sweeps, forward for data, in reverse for grads.

The operations are IEEE's throughout: a domain error is nan or an infinity, never an exception.  Most rows
are Python's ``math`` functions by the same name.  ``NATIVE`` holds those that Python spells otherwise; rows
that state a formula are compiled from it.

Both sweeps are plain loops, and neither recurses: forward over the nodes in index order, which is
topological, in reverse over a tape of edges.  What does not depend on the numbers is prepared once for a
graph: a plan says what a forward sweep has to do, a tape which edges are active, in which order they are
met, and where each finds its local derivative.
"""

# Without ``from __future__ import annotations``: typing would compile each field's text at every start.

import math
import operator
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, cached_property
from itertools import repeat
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from exprgrad.derive.rules import join_balanced, rule_slots, template
from exprgrad.graph.graph import CONST, INPUT, Algebra, Graph, Program, dependent_flags, interpret
from exprgrad.graph.op import NonsmoothPoint
from exprgrad.graph.ops import ARITHMETIC_OPERATORS, BY_NAME, Op, by_row_name

if TYPE_CHECKING:
    from exprgrad.derive.switches import Suspects

__all__ = [
    "ROOT_HALF", "ROOT_HALF_HIGH", "ROOT_HALF_LOW", "SPLIT", "TIES", "Adjoints", "Function", "LocalRule",
    "Plan", "Tape", "Template", "TemplatePart", "Visits", "at_pole", "companion_values",
    "compile_template", "condition_holds", "follow_plan", "forward_numbers", "functions",
    "is_from_formula", "is_gated_edge", "plan_forward", "play_tape", "record_tape",
    "refuse_uncomputable", "reverse_sweep", "row_rules", "special_tests", "template_number",
    "template_part", "template_reader",
]  # fmt: skip


# The operations on doubles.

Function = Callable[..., float]
Template = Callable[[Sequence[float]], float]
TemplatePart = Template | int | float
"""A part of a template: a slot by its position, a number, or a function that finds it."""

inf, nan, copysign = math.inf, math.nan, math.copysign


def ieee_divide(x: float, y: float) -> float:
    """Divide as in IEEE: x/0 is an infinity with the sign of both zeros respected, 0/0 is nan."""
    try:
        return x / y
    except ZeroDivisionError:
        return nan if x == 0 or x != x else copysign(inf, x) * copysign(1.0, y)


def real_power(x: float, y: float) -> float:
    """IEEE pow; nan for a negative base with a fractional exponent.  A square is rounded only once."""
    if y == 2:
        return x * x
    try:
        return math.pow(x, y)
    except OverflowError:
        return -inf if x < 0 and y % 2 == 1 else inf
    except ValueError:
        if x != 0:
            return nan
        return copysign(inf, x) if y % 2 == 1 else inf


def keep_special_values(fn: Callable[[float], int]) -> Function:
    """Make a rounding function keep nan, infinities and the sign of zero."""
    return lambda x: copysign(float(fn(x)), x) if math.isfinite(x) else x


def accurate_cbrt(x: float) -> float:
    """Return the cube root: the C library's, 3.1 ulp off at worst, corrected by one Newton step."""
    root = math.cbrt(x)
    if root == 0 or not math.isfinite(root):
        return root
    return root - (root - x / (root * root)) / 3


ROOT_HALF, ROOT_HALF_HIGH, ROOT_HALF_LOW = (
    0.7071067811865476,
    0.7071067839860916,
    -2.799544089368687e-09,
)
"""The square root of 1/2: a double, its first 26 bits, and what they lack."""
SPLIT = 2.0**27 + 1
"""x*SPLIT - (x*SPLIT - x) has 26 of a number's bits (T. J. Dekker, Numer. Math. 18, 1971)."""


def normal_density(x: float) -> float:
    """Return exp(-x^2/2)/sqrt(2*pi), from a number whose square is exact and what x is beyond it."""
    if not -39.0 < x < 39.0:
        return x * 0.0 if x != x else 0.0
    high = SPLIT * x
    high -= high - x
    rest = 0.5 * (high - x) * (high + x)
    bell = math.exp(-0.5 * high * high)
    return 0.3989422804014327 * (
        bell + bell * (rest * (1.0 + rest * (0.5 + rest * 0.16666666666666666)))
    )


def normal_distribution(x: float) -> float:
    """Return erfc(-x/sqrt(2))/2, on the left corrected for the rounding of the operand of erfc."""
    t = -ROOT_HALF * x
    if not -39.0 < x < 0.0:
        return 0.5 * math.erfc(t)
    high = SPLIT * x
    high -= high - x
    gap = (high * ROOT_HALF_HIGH + t) + (high * ROOT_HALF_LOW + (x - high) * ROOT_HALF)
    return math.erfc(t) * (0.5 + t * gap)


def nan_maximum(*operands: float) -> float:
    return nan if any(map(math.isnan, operands)) else max(operands)


def stable_logsumexp(*operands: float) -> float:
    """Return the greatest operand plus the logarithm of the sum of exponentials relative to it."""
    top = nan_maximum(*operands)
    if not math.isfinite(top):
        return top
    rest = list(operands)
    rest.remove(top)
    return top + math.log1p(math.fsum(math.exp(x - top) for x in rest))


NATIVE: dict[str, Function] = {
    **ARITHMETIC_OPERATORS,
    **by_row_name(
        {
            "/": ieee_divide,
            "%": lambda x, y: x % y if y else nan,
            "^": real_power,
            "<": lambda x, y: 1.0 if x < y else 0.0,
            "<=": lambda x, y: 1.0 if x <= y else 0.0,
            ">": lambda x, y: 1.0 if x > y else 0.0,
            ">=": lambda x, y: 1.0 if x >= y else 0.0,
            "==": lambda x, y: 1.0 if x == y else 0.0,
            "!=": lambda x, y: 1.0 if x != y else 0.0,
        }
    ),
    "where": lambda c, x, y: x if c else y,
    "min": lambda *operands: nan if any(map(math.isnan, operands)) else min(operands),
    "max": nan_maximum,
    "logsumexp": stable_logsumexp,
    "abs": abs,
    "sign": lambda x: x if x == 0 or x != x else copysign(1.0, x),
    "floor": keep_special_values(math.floor),
    "ceil": keep_special_values(math.ceil),
    "round": keep_special_values(round),
    "cbrt": accurate_cbrt,
    "normpdf": normal_density,
    "normcdf": normal_distribution,
}


def guard_math_function(op: Op, fn: Function) -> Function:
    """Make a ``math`` function give IEEE's answers where Python raises.

    Overflow is an infinity with the function's sign on that side of 0; a domain error is the row's
    value at a pole, elsewhere nan.
    """

    def ieee(*operands: float) -> float:
        try:
            return fn(*operands)
        except OverflowError:
            return copysign(inf, fn(*(copysign(1.0, x) for x in operands)))
        except ValueError:
            for where, value in op.poles:
                if compile_template(template(where), op.names)(operands):
                    return compile_template(template(value), op.names)(operands)
            return nan

    return ieee


@cache
def number_function(op: Op) -> Function:
    """Return an operation as a function of its operands."""
    if op.name in NATIVE:
        return NATIVE[op.name]
    if op.equation is not None:
        return number_root(op)
    refuse_uncomputable(op)
    if not op.value and hasattr(math, op.name):
        return guard_math_function(op, getattr(math, op.name))
    formula = compile_template(template(op.value or op.fallback), op.names)
    return lambda *operands: formula(operands)


def number_root(op: Op) -> Function:
    """Return a root as a function of its operands: nan where none is found."""
    from exprgrad.derive.search import root_search

    state, *programs = root_search(op.name)
    inputs = (*op.names, *state)
    first, turn, last = [compile_forward(program, inputs) for program in programs]

    def found(*operands: float) -> float:
        now = first(operands)
        going = 1.0
        while going:
            *now, going = turn((*operands, *now))
        return last((*operands, *now))[0]

    return found


def compile_forward(
    program: Program, inputs: Sequence[str]
) -> Callable[[Sequence[float]], list[float]]:
    """Compile a program into a function of its inputs' numbers, in order, that gives its outputs'."""
    graph, outputs = program
    start = [
        x if kind == CONST else nan for kind, x in zip(graph.kinds, graph.payloads, strict=True)
    ]
    given = [(at, graph.inputs[name]) for at, name in enumerate(inputs) if name in graph.inputs]
    steps = [
        (node, functions[graph.kinds[node]], operands[0], operands[-1], len(operands), operands)
        for node, operands in enumerate(graph.operands)
        if operands
    ]

    def play(numbers: Sequence[float]) -> list[float]:
        values = cast("list[float]", start.copy())
        for place, node in given:
            values[node] = numbers[place]
        for node, function, first, last, count, operands in steps:
            if count == 2:
                values[node] = function(values[first], values[last])
            elif count == 1:
                values[node] = function(values[first])
            else:
                values[node] = function(*[values[operand] for operand in operands])
        return [values[output] for output in outputs]

    return play


def refuse_uncomputable(op: Op) -> None:
    """Raise ``ValueError`` for a row that cannot be computed."""
    if not (op.value or op.fallback or op.name in NATIVE or hasattr(math, op.name)):
        raise ValueError(
            f"the row '{op.name}' needs a value or a formula: Python's math has no function '{op.name}'"
        )


def is_from_formula(op: Op) -> bool:
    """Whether an operation on doubles is computed by the formula that its row states."""
    return bool(op.value) and op.name not in NATIVE


class Functions(dict[str, Function]):
    """Row name → function, made on first use."""

    def __missing__(self, name: str) -> Function:
        self[name] = made = number_function(BY_NAME[name])
        return made


functions = Functions()


# Formulas as functions.  A template becomes a tree of closures over a tuple of slot values; the branch that
# a ``where`` does not take is not evaluated.


def template_number(graph: Graph, node: int) -> float:
    """A constant of a template."""
    return cast(float, graph.payloads[node])


LONGEST_CLOSURE = 300
"""The most nodes of a template that becomes a closure; longer ones are evaluated node by node."""


@cache
def compile_template(graph: Graph, slots: tuple[str, ...]) -> Template:
    """Compile a template into a function of its slots' values, in the order of ``slots``."""
    return template_reader(template_part(graph, slots))


def template_part(graph: Graph, slots: tuple[str, ...]) -> TemplatePart:
    """Return a template as the slot that it names, a number, or a function of the slots' values.

    A node used twice is evaluated once, ahead of the rest.  A root's template is as long as its
    equation, and closures would be as deep: it is evaluated node by node.
    """
    if len(graph) > LONGEST_CLOSURE:
        play = compile_forward(Program(graph, (graph.output,)), slots)
        return lambda values: play(values)[0]
    uses = Counter(operand for operands in graph.operands for operand in operands)
    shared: list[Template] = []

    def operation(graph: Graph, node: int, operands: Sequence[TemplatePart]) -> TemplatePart:
        kind = graph.kinds[node]
        if all(isinstance(operand, float) for operand in operands):
            return functions[kind](*operands)
        made = close_over_parts(kind, operands)
        if uses[node] < 2:
            return made
        shared.append(made)
        return len(slots) + len(shared) - 1

    inputs: dict[str, TemplatePart] = {name: slots.index(name) for name in graph.inputs}
    part = interpret(graph, Algebra(template_number, operation), inputs)[graph.output]
    if not shared:
        return part
    answer = template_reader(part)

    def with_shared(values: Sequence[float]) -> float:
        extended = list(values)
        for function in shared:
            extended.append(function(extended))
        return answer(extended)

    return with_shared


def template_reader(part: TemplatePart) -> Template:
    """Return a part of a template as a function."""
    if isinstance(part, float):
        return lambda values: part
    return itemgetter(part) if isinstance(part, int) else part


def close_over_parts(kind: str, operands: Sequence[TemplatePart]) -> Template:
    """Return an operation on parts of a template; slots and numbers take no call of their own."""
    if kind == "where":
        return lazy_choice(*operands)
    function = functions[kind]
    if len(operands) > 2:
        parts = [template_reader(operand) for operand in operands]
        return lambda values: function(*(part(values) for part in parts))
    x, y = operands[0], operands[-1]
    if len(operands) == 1:
        if isinstance(x, int):
            return lambda values: function(values[x])
        inner = template_reader(x)
        return lambda values: function(inner(values))
    if isinstance(x, int) and isinstance(y, int):
        return lambda values: function(values[x], values[y])
    if isinstance(x, int) and isinstance(y, float):
        return lambda values: function(values[x], y)
    first, second = template_reader(x), template_reader(y)
    if isinstance(y, int):
        return lambda values: function(first(values), values[y])
    if isinstance(y, float):
        return lambda values: function(first(values), y)
    if isinstance(x, int):
        return lambda values: function(values[x], second(values))
    return lambda values: function(first(values), second(values))


def lazy_choice(c: TemplatePart, x: TemplatePart, y: TemplatePart) -> Template:
    """Return a ``where`` that does not evaluate the branch not taken."""
    condition, first, second = template_reader(c), template_reader(x), template_reader(y)
    if isinstance(x, float) and isinstance(y, float):
        return lambda values: x if condition(values) else y
    return lambda values: first(values) if condition(values) else second(values)


def companion_values(
    op: Op,
    arguments: Sequence[Any],
    varies: Sequence[float],
    tie: Callable[[Sequence[Any]], Any] | None = None,
) -> list[list[Any]]:
    """Return, for each operand, the values that a rule with companions sees, as ``derive.rules`` says.

    ``tie`` is the rule of ties as a function of such values, where they are not floats.
    """
    if not op.variadic:
        return [[*arguments, *varies]] * len(varies)
    tie = tie or compile_template(template(op.ties), rule_slots(op))
    *operands, out = arguments
    found = [[x, out, v, 0.0] for x, v in zip(operands, varies, strict=True)]
    tied = join_balanced(operator.add, [*map(tie, found)])
    return [[*side[:3], tied] for side in found]


def condition_holds(condition: str, names: Sequence[str], values: Sequence[float]) -> bool:
    """Whether a condition of the op table holds for the values of its names."""
    return bool(compile_template(template(condition), tuple(names))(values))


def at_pole(op: Op, operands: Sequence[float]) -> bool:
    """Whether a row's operands are at one of its poles."""
    return any(condition_holds(where, op.names, operands) for where, _ in op.poles)


# Forward.


def forward_numbers(graph: Graph, inputs: Mapping[str, float]) -> list[float]:
    """Compute every node's data from the inputs', for a graph that is evaluated once."""
    table = {kind: functions[kind] for kind in {*graph.kinds} - {INPUT, CONST}}
    values: list[float] = []
    push = values.append
    for kind, operands, payload in zip(graph.kinds, graph.operands, graph.payloads, strict=True):
        if len(operands) == 2:
            first, second = operands
            push(table[kind](values[first], values[second]))
        elif operands:
            push(table[kind](*[values[operand] for operand in operands]))
        elif kind == INPUT:
            push(inputs[payload])  # type: ignore[index]
        else:
            push(payload)  # type: ignore[arg-type]
    return values


ALONE = -1
"""In place of a second operand: the function takes one."""
MANY = -2
"""In place of a second operand: the function takes more than two, as in the graph."""


class Plan(NamedTuple):
    """The part of a forward sweep that does not depend on the numbers, in flat lists.

    ``operands``  those of the graph
    ``start``   by node: a constant's number, or room for an operation's result
    ``inputs``  node and name of each
    ``nodes``, ``functions``, ``firsts``, ``seconds``  by operation: where the result goes, its function,
                and its operands; a negative second one says that there are not two
    """

    operands: list[tuple[int, ...]]
    start: list[Any]
    inputs: list[tuple[int, str]]
    nodes: list[int]
    functions: list[Callable[..., float]]
    firsts: list[int]
    seconds: list[int]


def plan_forward(graph: Graph) -> Plan:
    """Plan the forward sweep of a graph of numbers.

    Planning takes about as long as two sweeps, and so pays from the third point on.
    """
    kinds, operands = graph.kinds, graph.operands
    table = {kind: functions[kind] for kind in {*kinds} - {INPUT, CONST}}
    nodes = [node for node, mine in enumerate(operands) if mine]
    inputs = [(node, name) for name, node in graph.inputs.items()]
    counts = (ALONE, MANY)
    seconds = [mine[1] if len(mine) == 2 else counts[len(mine) > 2] for mine in operands if mine]
    return Plan(
        operands,
        graph.payloads.copy(),
        inputs,
        pack_closely(nodes),
        [table[kinds[node]] for node in nodes],
        pack_closely([mine[0] for mine in operands if mine]),
        pack_closely(seconds),
    )


def follow_plan(plan: Plan, inputs: Mapping[str, float]) -> list[float]:
    """Compute every node's data from the inputs, as ``forward_numbers`` does, but faster."""
    values = plan.start.copy()
    for node, name in plan.inputs:
        values[node] = inputs[name]
    operations = zip(plan.nodes, plan.functions, plan.firsts, plan.seconds, strict=True)
    for node, function, first, second in operations:
        if second >= 0:
            values[node] = function(values[first], values[second])
        elif second == ALONE:
            values[node] = function(values[first])
        else:
            values[node] = function(*[values[operand] for operand in plan.operands[node]])
    return values


def pack_closely(numbers: Iterable[int]) -> list[int]:
    """Return the numbers as objects side by side in memory, which makes a sweep up to a third faster."""
    return list(array("q", numbers))


# In reverse: the tape.

LocalRule = tuple[TemplatePart, bool]
"""A local derivative: a slot, a constant, or a function of the slots; and whether it is gated."""
RowRules = tuple[tuple[LocalRule, ...], bool]
"""The rules of a row of the op table, by operand, and whether they see companions besides values."""
LocalStep = tuple[Template, Callable[[Sequence[float]], Any]]
"""A local derivative to compute: the function, and a picker of its arguments from the cells."""
Slope = tuple[str, int]
"""The source of a local derivative: a row's name and an operand's position, ``TIES`` for ties."""
TIES = -1


class Edges(NamedTuple):
    """Active edges in the order of the visits: the user, the operand, and the local derivative's cell."""

    users: Sequence[int]
    operands: Sequence[int]
    sources: Sequence[int]


class Visits(NamedTuple):
    """Active edges in the order of the visits, one or two from a grad at a time.

    Where there is no second edge, its operand is a cell that nothing reads.
    """

    users: list[int]
    firsts: list[int]
    first_sources: list[int]
    seconds: list[int]
    second_sources: list[int]


class Tape(NamedTuple):
    """A graph's active edges in the order of the visits, and the cells of their local derivatives.

    A sweep's numbers stand in one list of cells: every node's data, then ``constants``, then the results of
    the ``steps``, which are the local derivatives called ``slopes``.

    ``active``    by node: whether it depends on a differentiated input
    ``start``     by node: the grad before the sweep; None where none is certain to arrive.  One more
                  follows them, which nothing reads
    ``edges``     the edges, one by one; where ``visits`` are played instead, packed, for few read them
    ``gated``     by edge: whether it passes nothing when the local derivative is 0; None: none is
    ``visits``    the edges, two by two, where there are no gates; without those of ``passed``
    ``passed``    nodes whose grad equals another's, and those others: a sum's operands that are
                  used nowhere else
    ``suspects``  the nodes that may meet a kink or a jump, if any
    """

    graph: Graph
    active: bytearray
    start: list[float | None]
    edges: Edges
    gated: bytearray | None
    visits: Visits
    passed: tuple[list[int], list[int]]
    constants: list[float]
    steps: list[LocalStep]
    slopes: list[Slope]
    suspects: "Suspects | None" = None


def is_gated_edge(op: Op, position: int) -> bool:
    """Whether an edge passes nothing, not even 0 times infinity, when its local derivative is 0.

    That is so for a rule that is the constant 0, and for a branch that a ``where`` did not take.
    """
    return op.partial(position) == "0" or position in op.branches


@cache
def row_rules(op: Op) -> RowRules:
    """Return the rules of one row in their plainest forms."""
    graphs = [template(op.partial(position)) for position in range(len(op.names))]
    names: tuple[str, ...] = (*op.names, "out")
    companions = not {name for graph in graphs for name in graph.inputs} <= {*names}
    if companions:
        names = rule_slots(op)
    rules = [
        (template_part(graph, names), is_gated_edge(op, at)) for at, graph in enumerate(graphs)
    ]
    return tuple(rules), companions


def record_tape(graph: Graph, wrt: Iterable[int]) -> Tape:
    """Record the tape of a graph for the inputs to differentiate.

    No local derivative is computed for an operand that depends on none of them.
    """
    active = dependent_flags(graph, wrt)
    rows = {kind: row_rules(BY_NAME[kind]) for kind in {*graph.kinds} - {INPUT, CONST}}
    stated = [part for rules, _ in rows.values() for part, _ in rules]
    constants = sorted({0.0, 1.0, *[part for part in stated if isinstance(part, float)]})
    cell = {constant: len(graph) + index for index, constant in enumerate(constants)}
    edges, gates, steps = walk_edges(graph, active, rows, cell)
    certain = not any(gates)
    # Adding a double to -0.0 gives that double, even where it is a zero.
    start: list[float | None] = [None] * len(graph)
    if certain:
        for operand in edges.operands:
            start[operand] = -0.0
    start[graph.output] = 1.0
    suspects = None
    if any(BY_NAME[kind].special for kind in rows):
        from exprgrad.derive.switches import find_suspects as screened

        suspects = screened(graph, list(dict.fromkeys(edges.users)), active)
    passed: dict[int, int] = {}
    visits = Visits([], [], [], [], [])
    if certain:
        rest, passed = shorten_edges(edges, len(graph), cell[1.0])
        visits = Visits(*map(pack_closely, pair_visits(rest, len(graph), cell[0.0])))
    return Tape(
        graph,
        active,
        [*start, 0.0],
        Edges(*[array("q", numbers) if certain else pack_closely(numbers) for numbers in edges]),
        None if certain else gates,
        visits,
        (pack_closely(passed), pack_closely(passed.values())),
        constants,
        [step for step, _ in steps],
        [slope for _, slope in steps],
        suspects,
    )


def walk_edges(
    graph: Graph, active: Sequence[int], rows: Mapping[str, RowRules], cell: Mapping[float, int]
) -> tuple[Edges, bytearray, list[tuple[LocalStep, Slope]]]:
    """Return the active edges in the order of the visits, flags of gated ones, and the steps to compute.

    ``cell`` says where the constants stand; the steps' results come after them.
    """
    users: list[int] = []
    operands: list[int] = []
    sources: list[int] = []
    gates = bytearray()
    steps: list[tuple[LocalStep, Slope]] = []
    first_step = len(graph) + len(cell)
    varying: Sequence[int] = ()
    reached = bytearray(len(graph))
    reached[graph.output] = 1
    for node in range(graph.output, -1, -1):
        mine = graph.operands[node]
        if not (mine and reached[node] and active[node]):
            continue
        rules, companions = rows[graph.kinds[node]]
        views: Iterable[tuple[int, ...]] = repeat((*mine, node))
        if companions:
            varying = varying or dependent_flags(graph, graph.inputs.values())
            varies = [cell[float(varying[operand])] for operand in mine]
            rules, views = companion_rules(graph, node, rules, varies, steps, first_step)
        edges = zip(mine, views, rules, strict=False)
        for position, (operand, view, (part, gate)) in enumerate(edges):
            if not active[operand]:
                continue
            if isinstance(part, int):
                source = view[part]
            elif isinstance(part, float):
                source = cell[part]
            else:
                source = first_step + len(steps)
                steps.append(((part, itemgetter(*view)), (graph.kinds[node], position)))
            users.append(node)
            operands.append(operand)
            sources.append(source)
            gates.append(gate)
            reached[operand] = 1
    return Edges(users, operands, sources), gates, steps


def companion_rules(
    graph: Graph,
    node: int,
    rules: tuple[LocalRule, ...],
    varies: Sequence[int],
    steps: list[tuple[LocalStep, Slope]],
    first_step: int,
) -> tuple[tuple[LocalRule, ...], Iterable[tuple[int, ...]]]:
    """Return the rules of a node that see companions, and the cells that each of them sees.

    ``varies`` are the cells that say which operands vary; a variadic row's ties are a step of their own.
    """
    op, operands = BY_NAME[graph.kinds[node]], graph.operands[node]
    view = (*operands, node, *varies)
    if not op.variadic:
        return rules, repeat(view)
    tied = first_step + len(steps)
    count = len(operands)

    def tie_shares(values: Sequence[float]) -> Any:
        """Count the ties, from the operands, ``out``, and which of them vary."""
        return companion_values(op, values[: count + 1], values[count + 1 :])[0][-1]

    steps.append(((tie_shares, itemgetter(*view)), (op.name, TIES)))
    seen = [(operand, node, v, tied) for operand, v in zip(operands, varies, strict=True)]
    return rules * len(operands), seen


def shorten_edges(edges: Edges, size: int, one: int) -> tuple[Edges, dict[int, int]]:
    """Return the edges that need a product or a sum, and the nodes whose grad equals another's.

    Where the local derivative is ``one`` and nothing else arrives, the grad is the user's.
    """
    arrivals = [0] * size
    for operand in edges.operands:
        arrivals[operand] += 1
    passed: dict[int, int] = {}
    users: list[int] = []
    operands: list[int] = []
    sources: list[int] = []
    for user, operand, source in zip(*edges, strict=True):
        user = passed.get(user, user)
        if source == one and arrivals[operand] == 1:
            passed[operand] = user
        else:
            users.append(user)
            operands.append(operand)
            sources.append(source)
    return Edges(users, operands, sources), passed


def pair_visits(edges: Edges, no_node: int, zero: int) -> Visits:
    """Pair edges that lead to the same grad; the others are paired with no edge."""
    users, firsts, first_sources, seconds, second_sources = found = Visits([], [], [], [], [])
    alone = -1
    for user, operand, source in zip(*edges, strict=True):
        if user == alone:
            seconds[-1], second_sources[-1] = operand, source
            alone = -1
        else:
            users.append(user)
            firsts.append(operand)
            first_sources.append(source)
            seconds.append(no_node)
            second_sources.append(zero)
            alone = user
    return found


# In reverse: the sweep.


class Adjoints:
    """The result of a reverse sweep.

    ``active``  by node: whether it depends on a differentiated input
    ``grads``   by node; None for a node that no gradient reached
    """

    beside: tuple[str, ...] = ()

    def __init__(self, tape: Tape, grads: list[Any], cells: list[float]) -> None:
        self.tape = tape
        self.grads = grads
        self.cells = cells
        self.active: bytearray = tape.active

    @property
    def quiet(self) -> bool:
        """Whether no node meets a kink or a jump; quicker than ``met``."""
        suspects = self.tape.suspects
        if suspects is None:
            return True
        if not suspects.quiet(self.cells):
            return False
        others = suspects.others
        return not others or not any(special_of(suspects, node, self.cells) for node in others)

    @cached_property
    def met(self) -> dict[int, list[tuple[NonsmoothPoint, Any]]]:
        """The kinks and jumps met, by node in the order of the visits, each with True."""
        suspects = self.tape.suspects
        if suspects is None:
            return {}
        nodes = suspects.candidates(self.cells)
        found = {node: special_of(suspects, node, self.cells) for node in nodes}
        return {node: listed for node, listed in found.items() if listed}

    @cached_property
    def locals(self) -> list[Any]:
        """The local derivatives, by node; None for a node that passed nothing on."""
        tape, cells = self.tape, self.cells
        found: list[Any] = [None] * len(tape.graph)
        sources = iter(tape.edges.sources)
        for user in dict.fromkeys(tape.edges.users):
            operands = tape.graph.operands[user]
            local = [cells[next(sources)] if self.active[o] else None for o in operands]
            if self.grads[user] is not None:
                found[user] = tuple(local)
        return found

    def zero(self, node: int) -> float:
        """Return the grad of a node that no gradient reached."""
        return 0.0

    def ends(self, user: int, operand: int) -> None:
        """Return None: over numbers an edge's ends have no shapes."""

    def passed(self, user: int) -> Iterator[tuple[int, float, float]]:
        """Yield a node's active edges: position, local derivative and contribution."""
        locals_, grad = self.locals[user], self.grads[user]
        if locals_ is None or grad is None:
            return
        op = BY_NAME[self.tape.graph.kinds[user]]
        for position, local in enumerate(locals_):
            if local is not None:
                closed = local == 0 and is_gated_edge(op, position)
                yield position, local, 0.0 if closed else grad * local


def special_of(
    suspects: "Suspects", node: int, values: Sequence[float]
) -> list[tuple[NonsmoothPoint, Any]]:
    """Return the kinks and jumps that one node meets, each with True."""
    graph, operands = suspects.graph, suspects.graph.operands[node]
    op = BY_NAME[graph.kinds[node]]
    arguments = [*[values[operand] for operand in operands], values[node]]
    seen = companion_values(
        op, arguments, [float(suspects.moving[operand]) for operand in operands]
    )
    mine = [side for side, operand in zip(seen, operands, strict=True) if suspects.active[operand]]
    return [(special, True) for special, test in special_tests(op.name) if any(map(test, mine))]


@cache
def special_tests(name: str) -> tuple[tuple[NonsmoothPoint, Template], ...]:
    """Return a row's kinks and jumps, each with its condition as a function of the row's slots."""
    op = BY_NAME[name]
    return tuple(
        (special, compile_template(template(special.where), rule_slots(op)))
        for special in op.special
    )


def reverse_sweep(graph: Graph, values: Sequence[float], wrt: Iterable[int]) -> Adjoints:
    """Compute every node's grad, given every node's data; ``wrt`` are the inputs to differentiate."""
    return play_tape(record_tape(graph, wrt), values)


def play_tape(tape: Tape, values: Sequence[float]) -> Adjoints:
    """Pass each node's grad on to its operands, edge by edge in the order of the visits."""
    cells = [*values, *tape.constants]
    for function, pick in tape.steps:
        cells.append(function(pick(cells)))
    grads: list[Any] = tape.start.copy()
    if tape.gated is None:
        for user, first, source, second, second_source in zip(*tape.visits, strict=True):
            grad = grads[user]
            grads[first] += grad * cells[source]
            grads[second] += grad * cells[second_source]
        for node, other in zip(*tape.passed, strict=True):
            grads[node] = grads[other]
    else:
        for user, operand, source, gated in zip(*tape.edges, tape.gated, strict=True):
            grad, local = grads[user], cells[source]
            if grad is not None and not (gated and local == 0):
                before = grads[operand]
                grads[operand] = grad * local if before is None else before + grad * local
    grads.pop()
    return Adjoints(tape, grads, cells)
